"""Records as a notebook shows them: what is said, that it is escaped, and that a record alone loads no renderer."""

import re
import subprocess
import sys
from dataclasses import replace
from decimal import Decimal

import pytest

from theoryck._renderers import show
from theoryck.fitting import fit_rate
from theoryck.records import (
    Contract,
    Enclosure,
    Estimate,
    Interval,
    Judgement,
    Kind,
    Point,
    Prediction,
    Report,
    Result,
    Status,
    Tightness,
    Verdict,
)
from theoryck.report.html.notebook import enclosure_facts, html

SIZES = (16, 32, 64, 128)
RESULT = Result(
    claim="paper/<claim>",
    status=Status.THEOREM,
    instance={"phi": "tanh(x)"},
    judgement=Judgement(
        Verdict.SUPPORTED,
        "it stays bounded",
        tightness=Tightness.LOOSE,
        exponent=Interval(-1.0, -1.1, -0.9, 0.95),
        claimed_exponent=-0.5,
        slack=Interval(0.5, 0.4, 0.6, 0.95),
        window=(16, 128),
    ),
    prediction=Prediction(Kind.BOUND, "gap", base="d", path={"d": "16, 32, 64, 128"}, rate="1/sqrt(d)"),
    points=tuple(Point({"d": d}, Estimate(1 / d, 0.01 / d, 1000)) for d in SIZES),
    contract=Contract(),
    false_refute_rate=1e-3,
    draws=4000,
    seconds=1.0,
    seed=0,
    statement="gap = O(1/sqrt(d))",
)
REPORT = Report("quick", 0, (RESULT, replace(RESULT, claim="other", judgement=replace(RESULT.judgement, verdict=Verdict.REFUTED))))


def text(fragment):
    return re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", re.sub("<style>.*?</style>|<svg.*?</svg>", "", fragment, flags=re.DOTALL)))


def test_a_result_shows_verdict_facts_and_its_scaling():
    shown = RESULT._repr_html_()
    assert "SUPPORTED paper/&lt;claim&gt; phi=tanh(x)" in text(shown)
    assert "exponent -1.00 [-1.10, -0.90]" in text(shown)
    assert shown.count("<svg") == 1


def test_two_outputs_of_one_notebook_share_no_id():
    ids = re.findall(r' id="([^"]*)"', RESULT._repr_html_() + RESULT._repr_html_())
    assert len(ids) == len(set(ids)) > 0


def test_a_report_shows_its_table_and_what_fell_above_it():
    shown = REPORT._repr_html_()
    above, _, table = shown.partition("<table>")
    assert "REFUTED" in text(above)
    assert "other" in above
    assert table.count("<tr>") == 3
    assert "0.50(10)" in table
    assert "Interrupted" in replace(REPORT, interrupted=True)._repr_html_()
    assert "No claim was judged" in Report("quick", 0, (), interrupted=True)._repr_html_()


def test_an_enclosure_shows_its_value_ends_and_whether_they_are_proved():
    shown = text(Enclosure(Decimal("0.31830988618379"), Decimal("1e-14"))._repr_html_())
    assert "0.318309886183790(10)" in shown
    assert "error proved" in shown
    assert "two methods agree" in text(Enclosure(Decimal(1), Decimal("0.1"), rigorous=False)._repr_html_())
    assert "0 (exact)" in text(Enclosure(Decimal(1), Decimal(0))._repr_html_())


def test_a_fit_shows_its_exponent_or_why_there_is_none():
    fit = fit_rate(SIZES, [d**-0.5 for d in SIZES], [0.01 * d**-0.5 for d in SIZES], correction=1)
    assert "exponent -0.50 [" in text(fit._repr_html_())
    none = fit_rate(SIZES[:2], [1.0, 0.5], [0.1, 0.1])
    assert none.reason
    assert "no exponent" in text(none._repr_html_())
    assert "nan" not in text(none._repr_html_()).partition("misfit")[0]


@pytest.mark.parametrize("record", [RESULT, REPORT])
def test_names_are_escaped(record):
    assert "<claim>" not in record._repr_html_()


def test_what_is_no_record_is_refused():
    with pytest.raises(TypeError, match="got int"):
        html(3)


def test_a_record_loads_no_renderer_until_it_is_displayed():
    script = "import sys, theoryck.records; print([name for name in ('jinja2', 'theoryck.report') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
    assert RESULT._repr_html_().startswith('<div class="theoryck">')


def test_the_front_announces_who_renders_to_a_program_that_imports_an_engine_room_alone():
    script = "from theoryck.records import Report; r = Report('quick', 0, ()); print(r); print(r._repr_html_()[:22])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == 'No claim was checked.\n<div class="theoryck">\n'


def test_what_nothing_renders_shows_its_repr():
    assert show("sound", RESULT) == repr(RESULT)


def test_print_says_what_the_terminal_would_say():
    assert str(RESULT).startswith("SUPPORTED: paper/<claim> (phi=tanh(x))\n  statement  gap = O(1/sqrt(d))\n")
    lines = str(REPORT).splitlines()
    assert lines[0].split()[:2] == ["verdict", "claim"]
    assert any(line.startswith("REFUTED: other") for line in lines)
    assert lines[-1].endswith("NOT AS DECLARED: other.")
    assert repr(RESULT).startswith("Result(claim=")
    assert repr(REPORT).startswith("Report(profile=")


def test_an_enclosure_shows_the_digits_it_is_known_to():
    digits = "0.3183098861837906715377675267450287240689"
    assert dict(enclosure_facts(Enclosure(Decimal(digits), Decimal("1e-40"))))["value"] == f"{digits}0(10)"
