"""Reasons of verdicts: what was found on which window and, where nothing is decided, the budget that decides.

Noise here is deterministic (values on the curve), as in test_judge.py: the budget that is named must then decide, and a quarter of
it must not, because every limit falls like the inverse root of the draws.
"""

import math
import re
from decimal import Decimal

import pytest

from theoryck.judging import judge
from theoryck.records import Contract, Enclosure, Estimate, Kind, Point, Prediction, Verdict

CONTRACT = Contract()
SIZES = (16, 32, 64, 128, 256, 512, 1024)


def along(curve, draws):
    return [Point({"d": d}, Estimate(curve(d), curve(d) / math.sqrt(draws), int(draws))) for d in SIZES]


def one(value, draws):
    return [Point({}, Estimate(value, 1 / math.sqrt(draws), int(draws)))]


def number(text):
    return Enclosure(Decimal(text), Decimal(0))


UNDECIDED = {
    "constant of a scaling": (
        Prediction(Kind.SCALING, "Q", base="d", exponent=-1.0, constant=2.0, correction=1.0, tolerance="0.01"),
        lambda draws: along(lambda d: 2 / d, draws),
        3e3,
    ),
    "bound with a constant": (
        Prediction(Kind.BOUND, "Q", base="d", rate="1/d", constant=2.0, tolerance="0.001"),
        lambda draws: along(lambda d: 2 / d, draws),
        1e4,
    ),
    "bound that is passed by little": (
        Prediction(Kind.BOUND, "Q", base="d", rate="1/d", constant=2.0, tolerance="0.001"),
        lambda draws: along(lambda d: 2.01 / d, draws),
        1e4,
    ),
    "estimated identity": (
        Prediction(Kind.IDENTITY, "Q", value=number("0.5"), tolerance="0.01"),
        lambda draws: one(0.5, draws),
        1e4,
    ),
    "number that is bounded": (
        Prediction(Kind.BOUND, "Q", rate="1", constant=2.0, tolerance="0.001"),
        lambda draws: one(2.0, draws),
        1e4,
    ),
    "limit": (
        Prediction(Kind.LIMIT, "Q", base="d", value=number("1"), correction=1.0, tolerance="0.01"),
        lambda draws: along(lambda d: 1.0, draws),
        2e3,
    ),
}


@pytest.mark.parametrize("name", UNDECIDED)
def test_the_budget_that_is_named_decides(name):
    prediction, points, draws = UNDECIDED[name]
    open_ = judge(prediction, points(draws), CONTRACT)
    assert open_.verdict is Verdict.INCONCLUSIVE
    named = re.search(r"about (\d+) times the draws would decide$", open_.reason)
    assert named, open_.reason
    assert judge(prediction, points(draws * int(named[1])), CONTRACT).verdict is not Verdict.INCONCLUSIVE
    assert judge(prediction, points(draws * max(int(named[1]) / 8, 1)), CONTRACT).verdict is Verdict.INCONCLUSIVE


def test_where_no_number_of_draws_decides_something_else_is_named():
    tight = Prediction(Kind.IDENTITY, "Q", value=number("0.5"), tolerance="1e-9")
    assert judge(tight, one(0.5, 1e4), CONTRACT).reason.endswith("more draws will not do in practice: declare a larger tolerance")
    wide = Prediction(Kind.IDENTITY, "Q", value=Enclosure(Decimal("0.5"), Decimal("0.1"), False), tolerance="0.01")
    assert judge(wide, one(0.5, 1e4), CONTRACT).reason.endswith("declare a larger tolerance")
    on_it = Prediction(Kind.BOUND, "Q", rate="1", constant=0.5, tolerance="0")
    assert "will not do in practice" in judge(on_it, one(0.5, 1e4), CONTRACT).reason


def test_what_was_claimed_and_what_was_found_are_both_shown():
    limit, identity = UNDECIDED["limit"][0], UNDECIDED["estimated identity"][0]
    assert "the limit minus the claimed value 1 is " in judge(limit, along(lambda d: 1.5, 1e6), CONTRACT).reason
    assert "outside the tolerance 0.01" in judge(limit, along(lambda d: 1.5, 1e6), CONTRACT).reason
    exact = judge(identity, [Point({}, exact=number("0.25"))], CONTRACT)
    assert exact.reason == "exact values: both sides are exact, 0.25 and 0.5: they differ by 0.25"
    enclosed = judge(identity, [Point({}, exact=Enclosure(Decimal("0.25"), Decimal("1e-9")))], CONTRACT)
    assert enclosed.reason.endswith("around 0.25 and 0.5, they differ by 0.25 where their radii add up to 1e-9")


def test_the_limit_that_is_meant_is_named():
    scaling = Prediction(Kind.SCALING, "Q", base="d", exponent=-1.0, correction=1.0)
    assert re.search(
        r"its limits at error rate 0\.025, -[\d.e-]+ and [\d.e-]+, lie within the tolerated \+-0\.1$", judged(scaling, -1.0)
    )
    assert re.search(r"even its lower limit at error rate 0\.001, [\d.]+, is above the tolerated 0\.1$", judged(scaling, -0.5))
    assert re.search(r"even its upper limit at error rate 0\.001, -[\d.]+, is below the tolerated -0\.1$", judged(scaling, -1.5))
    assert "relative to the claimed d^(-1) it grows like d^(" in judged(scaling, -1.0)
    bound = Prediction(Kind.BOUND, "Q", base="d", rate="1/d", correction=1.0)
    assert re.search(r"its upper limit at error rate 0\.025, -[\d.]+, is at most the tolerated 0\.1$", judged(bound, -1.5))


def judged(prediction, exponent):
    return judge(prediction, along(lambda d: d**exponent, 1e6), CONTRACT).reason


NUMBER = Prediction(Kind.BOUND, "a - b", rate="1", constant=0.0, rivals=("-0.5",))


@pytest.mark.parametrize(
    ("points", "said"),
    [
        ([Point({}, exact=Enclosure(Decimal("-0.4"), Decimal("1e-9")))], "it is -0.4, at most the bound 0"),
        ([Point({}, exact=Enclosure(Decimal(0), Decimal(0)))], "it is 0, at most the bound 0"),
        ([Point({}, exact=Enclosure(Decimal("0.4"), Decimal("1e-9")))], "it is 0.4, above the bound 0"),
        ([Point({}, Estimate(-0.1, 0.01, 100))], "it is -0.100 +/- 0.020, at most the bound 0"),
        ([Point({}, Estimate(0.01, 0.01, 100))], "it is 0.010 +/- 0.020, not told from the bound 0; their errors do not"),
    ],
)
def test_a_difference_of_numbers_is_compared_with_0_itself(points, said):
    reason = judge(NUMBER, points, CONTRACT).reason
    assert said.replace("it is", "the quantity minus the number that bounds it is") in reason
    assert "inf" not in reason
    assert "relative" not in reason


def test_a_violation_is_told_with_its_size_and_error():
    claim = Prediction(Kind.BOUND, "Q", base="d", rate="1/d", constant=2.0, tolerance="0.2")
    reason = judge(claim, along(lambda d: (2 + 40 / d) / d, 1e4), CONTRACT).reason
    assert "the quantity exceeds the bound 2 * (d**(-1)) at d = 16: it is 2.250 +/- 0.044 times the bound" in reason
    assert "the most of the 6 sizes (of 7) where it does" in reason
    assert "at most" not in reason
    near = judge(claim, along(lambda d: 2.2 / d, 1e6), CONTRACT).reason
    assert "1.1000 +/- 0.0022 times the bound" in near
    assert "a relative tolerance of 0.2 lets estimates support a bound, and excuses none that are above it" in near
    kept = judge(claim, along(lambda d: 1.9 / d, 1e4), CONTRACT).reason
    assert "the quantity is at most 0.950 +/- 0.019 times the bound 2 * (d**(-1)), reached at d = 16" in kept
    tiny = [Point({"d": d}, exact=Enclosure(Decimal(2) / d * (1 + Decimal("1e-12")), Decimal("1e-40"))) for d in SIZES]
    assert "it is (1 + 1e-12) times the bound" in judge(claim, tiny, CONTRACT).reason


@pytest.mark.parametrize("part", [0.99, 1.0])
def test_no_draws_are_promised_to_what_lies_at_the_edge(part):
    """What is claimed is excluded, what is measured is not told from the edge of what is tolerated: twice the draws do nothing."""
    claims = {
        "exponent": (
            0.1,
            Prediction(Kind.SCALING, "Q", base="d", exponent=-1.0, correction=1.0),
            lambda d, off: 2 * d ** (off - 1),
        ),
        "constant": (
            0.05,
            Prediction(Kind.SCALING, "Q", base="d", exponent=-1.0, constant=2.0, correction=1.0),
            lambda d, off: 2 * (1 + off) / d,
        ),
        "limit": (
            0.1,
            Prediction(Kind.LIMIT, "Q", base="d", value=number("1"), correction=1.0),
            lambda d, off: 1 + off + 1 / d,
        ),
    }
    for edge, prediction, curve in claims.values():
        found = judge(prediction, along(lambda d, curve=curve, off=part * edge: curve(d, off), 1e6), CONTRACT)
        assert found.verdict is Verdict.INCONCLUSIVE
        assert found.reason.endswith("more draws will not do in practice: take larger sizes")
