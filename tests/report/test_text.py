"""Which instance speaks for a claim, how results are counted, when colour is used."""

import io
from dataclasses import replace

import pytest

from theoryck.records import Contract, Interval, Judgement, Report, Result, Rival, Status, Verdict
from theoryck.report.claims import Outcome, outcome, summarise
from theoryck.report.layout import Style, shorten, style_for
from theoryck.report.text import claim_failure, render, sum_line


def result(claim, verdict, *, status=Status.THEOREM, slack=None, rejected=True, draws=10, **instance):
    interval = None if slack is None else Interval(slack, slack - 0.1, slack + 0.1, 0.95)
    judgement = Judgement(verdict, "because", slack=interval, rivals=(Rival("r", rejected),))
    return Result(
        claim, status, instance, judgement, None, (), Contract(), false_refute_rate=1e-3, draws=draws, seconds=1.0, seed=0
    )


HOLDS = result("a", Verdict.SUPPORTED, slack=0.0, k=1)


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (HOLDS, Outcome.WELL),
        (result("a", Verdict.CERTIFIED), Outcome.WELL),
        (result("a", Verdict.SUPPORTED, rejected=False), Outcome.FAILED),
        (result("a", Verdict.INCONCLUSIVE, rejected=False), Outcome.UNDECIDED),
        (result("a", Verdict.REFUTED), Outcome.FAILED),
        (result("a", Verdict.VACUOUS), Outcome.FAILED),
        (result("a", Verdict.REFUTED, status=Status.FALSEHOOD), Outcome.WELL),
        (result("a", Verdict.INCONCLUSIVE, status=Status.FALSEHOOD), Outcome.FAILED),
        (result("a", Verdict.SUPPORTED, status=Status.FALSEHOOD), Outcome.FAILED),
    ],
)
def test_outcomes(one, expected):
    assert outcome(one) is expected


def test_the_worst_instance_speaks_for_the_claim():
    order = [
        result("a", Verdict.REFUTED, slack=-0.1, k=1),
        result("a", Verdict.VACUOUS, k=2),
        result("a", Verdict.SUPPORTED, rejected=False, slack=0.3, k=3),
        result("a", Verdict.INCONCLUSIVE, k=4),
        result("a", Verdict.SUPPORTED, slack=-0.05, k=5),
        result("a", Verdict.SUPPORTED, slack=0.2, k=6),
        result("a", Verdict.CERTIFIED, k=7),
    ]
    for worst in range(len(order)):
        (claim,) = summarise(reversed(order[worst:]))
        assert claim.worst is order[worst]


def test_a_slack_that_is_nan_is_worse_than_any_number():
    (claim,) = summarise([result("a", Verdict.SUPPORTED, slack=-9.0), result("a", Verdict.SUPPORTED, slack=float("nan"), k=1)])
    assert claim.worst.instance == {"k": 1}


def test_sums_over_instances():
    (claim,) = summarise([HOLDS, result("a", Verdict.SUPPORTED, rejected=False, draws=5)])
    assert (claim.draws, claim.seconds, claim.rivals) == (15, 2.0, (1, 2))


def test_claims_keep_the_order_of_first_appearance():
    assert [claim.claim for claim in summarise([replace(HOLDS, claim=name) for name in "bacab"])] == ["b", "a", "c"]


def test_many_failing_instances_are_counted_not_listed():
    failing = [result("a", Verdict.REFUTED, k=k) for k in range(5)]
    texts = claim_failure(failing)
    assert len(texts) == 4
    assert texts[-1] == "... and 2 more failing instances of a (-v lists all)"


def test_the_lines_of_a_reason_keep_their_shape():
    failing = result("a", Verdict.VACUOUS)
    failing = replace(failing, judgement=replace(failing.judgement, reason="raised:\n  File 'x', line 2\n    1 / 0\n\nended"))
    text = claim_failure([failing], Style(60))[0]
    start = text.index("reason")
    assert text[start:].splitlines()[:4] == [
        "reason  raised:",
        "            File 'x', line 2",
        "              1 / 0",
        "          ended",
    ]


def test_every_claim_is_counted_once_in_the_sum():
    results = (
        HOLDS,
        result("b", Verdict.CERTIFIED),
        result("c", Verdict.REFUTED),
        result("d", Verdict.VACUOUS),
        result("e", Verdict.INCONCLUSIVE),
        result("f", Verdict.REFUTED, status=Status.FALSEHOOD),
        result("g", Verdict.VACUOUS, status=Status.FALSEHOOD),
        result("h", Verdict.SUPPORTED, rejected=False),
    )
    line = sum_line(Report("quick", 3, results), Style(1000))
    assert line.splitlines() == [
        "8 claims, 8 instances: 1 REFUTED, 1 VACUOUS, 1 not refuted though false, 1 with a rival that stands, 1 INCONCLUSIVE, "
        "1 refuted as declared, 1 supported, 1 certified (profile quick, seed 3).",
        "NOT AS DECLARED: c, d, g, h.",
    ]


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("stream", "variables", "colored"),
    [
        (Terminal(), {}, True),
        (Terminal(), {"NO_COLOR": "1"}, False),
        (Terminal(), {"TERM": "dumb"}, False),
        (io.StringIO(), {}, False),
    ],
)
def test_when_colour_is_used(stream, variables, colored, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    style = style_for(stream)
    assert style.color is colored
    assert ("\x1b[" in render(Report("quick", 0, (HOLDS,)), style)) is colored


@pytest.mark.parametrize(("columns", "width"), [("", 100), ("80", 80), ("7", 40), ("500", 100), ("wide", 100)])
def test_width_of_a_log_follows_columns(columns, width, monkeypatch):
    monkeypatch.setenv("COLUMNS", columns)
    assert style_for(io.StringIO()).width == width


def test_shorten_counts_wide_letters_twice():
    assert shorten("東京都庁舎", 6) == "東京.."
    assert shorten("abc", 3) == "abc"
    assert shorten("abcdef", 1) == "."
