"""The text of audits made by hand, compared to files that a person has read; ``THEORYCK_REGENERATE=1`` writes them anew."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from theoryck.records import (
    Contract,
    Estimate,
    Interval,
    Judgement,
    Kind,
    Point,
    Prediction,
    Result,
    Rival,
    Status,
    Tightness,
    Verdict,
)
from theoryck.report.audits import Row, render
from theoryck.report.layout import Style

HERE = Path(__file__).parent
SIZES = (16, 32, 64, 128, 256, 512, 1024)
RESULT = Result(
    claim="audit/runs",
    given=True,
    status=Status.CONJECTURE,
    instance={},
    judgement=Judgement(
        Verdict.SUPPORTED,
        "on d = 16..1024: relative to the rate d**(-1/2) it grows like d^(0.003 +/- 0.011); the limit at error rate 0.025 is "
        "0.0139, within 0.05",
        tightness=Tightness.TIGHT,
        exponent=Interval(-0.497, -0.508, -0.486, 0.95),
        claimed_exponent=-0.5,
        slack=Interval(-0.003, -0.014, 0.008, 0.95),
        constant=Interval(2.004, 1.991, 2.017, 0.95),
        window=(16, 1024),
        rivals=(Rival("1/d", True),),
        assuming="on d = 16..1024, assuming corrections O(d^-1)",
    ),
    prediction=Prediction(Kind.BOUND, "loss", base="d", rate="d**(-1/2)", rivals=("1/d",), correction=1.0),
    points=tuple(Point({"d": d}, Estimate(2 * d**-0.5, 2e-3 * d**-0.5, 5)) for d in SIZES),
    contract=Contract(1e-2, 0.025, 0.05),
    false_refute_rate=1e-2,
    draws=35,
    seconds=0.1,
    seed=0,
    statement="loss = O(d**(-1/2))",
    repeat="theoryck audit runs.csv --rate 'd**(-1/2)' --value loss --correction 1 --rival 1/d",
)


def rows(result=RESULT):
    made = [Row(p.sizes, p.estimate, (2.0, 2e-3), (-0.5, 2e-3)) for p in result.points]
    return [replace(made[0], slope=None), *made[1:]] if made else []


def but(**changes):
    return replace(RESULT, judgement=replace(RESULT.judgement, **changes))


REFUTED = but(
    verdict=Verdict.REFUTED,
    tightness=None,
    reason="on d = 16..1024: relative to the rate 1/d it grows like d^(0.503 +/- 0.011); even the limit at error rate 0.01, 0.49, "
    "is outside 0.05",
    slack=Interval(-0.503, -0.514, -0.492, 0.95),
    flags=("noise floor at 512, 1024", "poor-fit"),
)
MEASURED = replace(
    but(
        verdict=Verdict.INCONCLUSIVE,
        tightness=None,
        slack=None,
        constant=None,
        claimed_exponent=None,
        rivals=(),
        reason="no rate was given: the exponent is measured and nothing is judged",
    ),
    prediction=replace(RESULT.prediction, kind=Kind.SCALING, rate=None, rivals=()),
    statement="",
)
NOTHING = replace(
    but(
        verdict=Verdict.INCONCLUSIVE,
        tightness=None,
        exponent=None,
        slack=None,
        constant=None,
        reason="2 sizes cannot show an exponent together with its corrections: measure at least 3, better 6",
    ),
    points=(
        Point({"d": 16, "\x1b[31mn": 3}, Estimate(1e300, float("inf"), 1)),
        Point({"d": 32, "\x1b[31mn": 6}, Estimate(-5e-324, 0.0, 1)),
    ),
)
LONG = replace(RESULT, points=tuple(Point({"d": d}, Estimate(1 / d, 1e-3 / d, 1)) for d in range(1, 41)))
AUDITS = {
    "supported": (RESULT, rows(), ("column 'seed' is not used", "column 'std' is not used")),
    "loose": (but(tightness=Tightness.LOOSE, slack=Interval(0.5, 0.49, 0.51, 0.95)), rows(), ()),
    "rival-stands": (but(rivals=(Rival("1/d", False),)), rows(), ()),
    "refuted": (REFUTED, rows(), ()),
    "measured": (MEASURED, [replace(row, ratio=None) for row in rows()], ()),
    "nothing": (NOTHING, [Row(p.sizes, p.estimate) for p in NOTHING.points], ()),
    "long": (LONG, rows(LONG), ()),
}
STYLES = {"100": Style(100), "60": Style(60), "color": Style(100, color=True)}


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("name", AUDITS)
def test_text_is_what_was_read(name, style):
    result, table, notes = AUDITS[name]
    text = render(result, table, notes, STYLES[style]) + "\n"
    golden = HERE / "text" / f"audit-{name}.{style}.txt"
    if os.environ.get("THEORYCK_REGENERATE"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", AUDITS)
def test_text_is_printable_and_keeps_to_its_width(name):
    result, table, notes = AUDITS[name]
    for line in render(result, table, notes, Style(60)).splitlines():
        assert all(c.isprintable() for c in line)
        assert (
            len(line) <= 60 or line.startswith(("  repeat", "  (in parentheses")) or line.split()[0].isdecimal() or "ratio" in line
        )
