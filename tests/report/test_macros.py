r"""The marks of a paper: what is written of each claim, what theoryck.sty makes of it, and what it says of what is not there."""

from dataclasses import replace
from decimal import Decimal

import pytest

from theoryck.records import (
    Contract,
    Enclosure,
    Interval,
    Judgement,
    Kind,
    Point,
    Prediction,
    Report,
    Result,
    Rival,
    Status,
    Verdict,
)
from theoryck.report import macros
from theoryck.report.html.views import anchors

JUDGEMENT = Judgement(
    Verdict.SUPPORTED,
    "",
    exponent=Interval(-0.502, -0.51, -0.494, 0.95),
    claimed_exponent=-0.5,
    slack=Interval(0.002, -0.006, 0.01, 0.95),
    constant=Interval(2.5e-7, 2.4e-7, 2.6e-7, 0.95),
    rivals=(Rival("1/d", True),),
)
HOLDS = Result(
    claim="paper/holds_well-1",
    status=Status.THEOREM,
    instance={"phi": "tanh(x)", "widths": [1, 2]},
    judgement=JUDGEMENT,
    prediction=Prediction(Kind.BOUND, "q", base="d", rate="d**(-1/2)"),
    points=(),
    contract=Contract(within=0.15),
    false_refute_rate=0.005,
    draws=12_000,
    seconds=1.0,
    seed=0,
)
# The worst instance of the same claim: half of what is claimed.
FELL = replace(
    HOLDS,
    instance={"phi": "relu(x)", "widths": [3]},
    judgement=replace(JUDGEMENT, verdict=Verdict.REFUTED, exponent=Interval(-0.25, -0.27, -0.23, 0.95)),
)
FALSE = replace(FELL, claim="paper/false", status=Status.FALSEHOOD, instance={})
NUMBER = replace(
    HOLDS,
    claim="number",
    instance={},
    judgement=Judgement(Verdict.CERTIFIED, ""),
    prediction=Prediction(Kind.IDENTITY, "q", value=Enclosure(Decimal("0.25"), Decimal("1e-9"))),
    points=(Point({}, exact=Enclosure(Decimal("0.25"), Decimal("1e-9"))),),
)
REPORT = Report("quick", 0, (HOLDS, FELL, FALSE, NUMBER), "0.1.0")
TABLE = {(mark.claim, mark.instance): mark for mark in macros.marks(REPORT)}


def test_a_claim_has_the_numbers_of_its_worst_instance_and_each_instance_its_own():
    assert [*TABLE] == [
        ("paper/holds_well-1", ""),
        ("paper/holds_well-1", "phi=tanh(x),widths=[1,2]"),
        ("paper/holds_well-1", "phi=relu(x),widths=[3]"),
        ("paper/false", ""),
        ("number", ""),
    ]
    worst, best, bad = (TABLE["paper/holds_well-1", name] for name in ("", "phi=tanh(x),widths=[1,2]", "phi=relu(x),widths=[3]"))
    assert replace(worst, instance=bad.instance) == bad
    assert (bad.verdict, bad.exponent, bad.slack) == (r"\textbf{refuted}", "-0.250(20)", "")
    assert (best.verdict, best.measured, best.exponent, best.slack) == ("supported", "-0.502(8)", "-0.502(8)", "0.002(8)")
    assert best.constant == r"2.50(10)\cdot 10^{-7}"
    assert TABLE["paper/false", ""].verdict == "refuted as declared"
    assert (TABLE["number", ""].measured, TABLE["number", ""].value) == ("=0.250000(1)", "0.250000(1)")
    assert TABLE["number", ""].exponent == TABLE["number", ""].constant == TABLE["number", ""].slack == ""


def test_the_links_are_those_of_the_page():
    assert [*dict.fromkeys(mark.anchor for mark in TABLE.values())] == anchors(["paper/holds_well-1", "paper/false", "number"])


def test_what_is_written_is_read_back():
    text = macros.render(REPORT, "../results.json")
    assert macros.read(text) == macros.MarksFile("../results.json", TABLE)
    assert macros.read(text.replace(r"\theoryckfile{1}", r"\theoryckfile{2}")) is None
    assert macros.read("") is None


@pytest.mark.parametrize("name", ["a%b", "a{b", "a#1", "a^^M", r"a\input"])
def test_a_name_that_no_argument_can_hold_is_left_out_and_said(name):
    text = macros.render(Report("quick", 0, (replace(NUMBER, claim=name),)))
    assert macros.read(text).marks == {}
    assert f"% left out, for one of \\ {{ }} % # is in its name: {name}\n" in text


def test_every_line_is_one_line_and_says_how_it_is_made_anew():
    text = macros.render(REPORT, "../results.json", "marks.tex")
    assert "theoryck report ../results.json --macros marks.tex\n" in text
    assert all(line.startswith("%") or line.endswith("}%") for line in text.splitlines())


# -- what LaTeX makes of it ----------------------------------------------------------------------------------------------------

PAPER = r"""\documentclass{article}
%s
\usepackage{theoryck}
\input{verdicts.tex}
\showboxdepth=100 \showboxbreadth=1000 \tracingonline=0
\begin{document}
%s
\end{document}
"""


@pytest.fixture
def typeset(pdflatex, tmp_path):
    """Compile a body with the marks; returns what pdflatex did."""

    def compiled(body, preamble=""):
        (tmp_path / "theoryck.sty").write_text(macros.style(), encoding="ascii")
        (tmp_path / "verdicts.tex").write_text(macros.render(REPORT, "results.json"), encoding="utf-8")
        (tmp_path / "paper.tex").write_text(PAPER % (preamble, body), encoding="utf-8")
        return pdflatex(tmp_path / "paper.tex")

    return compiled


SHOWN = {
    r"\theoryck{paper/false}": "[refuted as declared, -0.250(20)]",
    r"\theoryck[{phi=tanh(x), widths=[1, 2]}]{paper/holds_well-1}": "[supported, -0.502(8)]",
    r"\theoryck{number}": "[certified, =0.250000(1)]",
    r"\theoryckexponent[{phi=tanh(x),widths=[1,2]}]{paper/holds_well-1}": "-0.502(8)",
    r"$d^{\theoryckexponent{paper/holds_well-1}}$": "d-0.250(20)",
    r"\theoryckconstant{paper/false}": "2.50(10)\xb710-7",
    r"\theoryckslack[{phi=tanh(x),widths=[1,2]}]{paper/holds_well-1}": "0.002(8)",
    r"\theoryckvalue{number}": "0.250000(1)",
    r"a \theoryckclaim{number} b": "a b",
    r"\theoryck{paper/hold}": "??paper/hold??",
    r"\theoryckexponent{number}": "??number??",
}


def test_marks_show_what_was_measured_and_are_seen_where_nothing_was(typeset):
    done = typeset("\n".join(rf"\setbox0\hbox{{{body}}}\showbox0" for body in SHOWN))
    assert done.boxes() == [*SHOWN.values()]
    assert [error for error in done.errors if error.startswith("Package")] == [
        "Package theoryck Error: No claim paper/hold is in the file of marks.",
        "Package theoryck Error: Claim number has no exponent.",
    ]


@pytest.mark.parametrize(
    "preamble",
    [
        "",
        r"\usepackage{hyperref}",
        r"\usepackage{hyperref}\AtBeginDocument{\theoryckpage{}}",
        r"\catcode`\_=13 \protected\def_{\_}",
    ],
    ids=["bare", "links", "no links", "active underscore"],
)
def test_marks_stand_anywhere(typeset, preamble):
    body = (
        r"\tableofcontents\section{A \theoryck{paper/false}} text\footnote{\theoryckexponent{paper/holds_well-1}}"
        r"\begin{figure}\caption[{short \theoryckslack[{phi=tanh(x), widths=[1, 2]}]{paper/holds_well-1}}]{long \theoryck{number}}"
        r"\end{figure}\listoffigures"
        r"\[ \theoryckvalue{number} \]"
    )
    for _ in range(2):
        done = typeset(body, preamble)
        assert done.content, done.errors
    assert "theoryck Error" not in done.log


def test_a_link_leads_to_the_claim_on_the_page(typeset, tmp_path):
    plain = r"\pdfcompresslevel=0 \pdfobjcompresslevel=0 \usepackage{hyperref}"
    assert typeset(r"\theoryckpage{https://example.org/a_b/report.html}\theoryck{paper/false}", plain).content
    assert b"/URI(https://example.org/a_b/report.html#claim-paper-false)" in (tmp_path / "paper.pdf").read_bytes()


def test_marks_of_another_format_are_an_error(typeset):
    done = typeset(r"\theoryckfile{2}{results.json}")
    assert not done.content
    assert "Package theoryck Error: The file of marks was written for another theoryck.sty." in done.errors
