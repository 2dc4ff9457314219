"""Brackets: an interval that contains the truth must never refute it, however wide; one that lies beyond a number must."""

from decimal import Decimal

import pytest

from theoryck.judging import judge
from theoryck.judging.evidence import TAIL_UNSEEN
from theoryck.records import Bracket, Contract, Enclosure, Kind, Point, Prediction, Verdict

SIZES = (8, 16, 32, 64)


def number(value):
    return Enclosure(Decimal(str(value)), Decimal(0))


def at_one_place(low, high, stderr=1e-5):
    return [Point({}, bracket=Bracket(low, high, stderr, stderr))]


def along(low, high, stderr=1e-3):
    return [Point({"d": d}, bracket=Bracket(low(d), high(d), stderr * abs(low(d)), stderr * abs(high(d)))) for d in SIZES]


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.4999, 0.5001, Verdict.SUPPORTED),  # contains the value, both ends many standard errors from it
        (0.3, 0.7, Verdict.INCONCLUSIVE),  # contains it and is wide
        (0.502, 0.503, Verdict.REFUTED),  # lies above
        (0.497, 0.498, Verdict.REFUTED),  # lies below
        (0.502, 0.9, Verdict.REFUTED),  # the lower end alone contradicts it
    ],
)
def test_identity(low, high, verdict):
    prediction = Prediction(Kind.IDENTITY, "q", value=number(0.5), tolerance="0.01", rivals=("0.6", "0.4"))
    found = judge(prediction, at_one_place(low, high), Contract())
    assert found.verdict is verdict, found.reason
    assert [rival.rejected for rival in found.rivals] == [high < 0.6, low > 0.4]


@pytest.mark.parametrize(
    ("below", "above", "verdict"),
    [
        (0.0005, 0.0005, Verdict.SUPPORTED),
        (0.05, 0.05, Verdict.INCONCLUSIVE),  # the limits of both ends exclude the value, on either side of it
        (-0.05, 0.06, Verdict.REFUTED),
        (0.06, -0.05, Verdict.REFUTED),
    ],
)
def test_limit(below, above, verdict):
    points = along(lambda d: 0.5 - below + 0.01 / d, lambda d: 0.5 + above + 0.01 / d, 1e-5)
    prediction = Prediction(
        Kind.LIMIT, "q", base="d", value=number(0.5), tolerance="0.005", rivals=("0.52", "0.8"), correction=1, amplitude=0.1
    )
    found = judge(prediction, points, Contract())
    assert found.verdict is verdict, found.reason
    inside = 0.5 - below < 0.52 < 0.5 + above
    assert [rival.rejected for rival in found.rivals] == [not inside, True]


@pytest.mark.parametrize("flags", [(), (TAIL_UNSEEN,)])
def test_an_exact_value_outside_means_a_bug_unless_so_few_draws_saw_no_tail(flags):
    point = Point({}, exact=number(0.5), bracket=Bracket(0.52, 0.53, 0.001, 0.001, flags))
    found = judge(Prediction(Kind.IDENTITY, "q", value=number(0.5), tolerance="0.1"), [point], Contract())
    assert ("routes-disagree" in found.flags) is (not flags)


def test_flags_of_a_bracket_travel():
    bracket = Bracket(0.1, 0.2, 0.01, 0.01, (TAIL_UNSEEN,))
    assert Bracket.from_json(bracket.to_json()) == bracket
    assert set(Bracket(0.1, 0.2).to_json()) == {"low", "high", "low_stderr", "high_stderr"}


def test_scaling_between_the_exponents_of_the_ends_is_not_refuted():
    points = along(lambda d: 0.5 / d**1.5, lambda d: 2 / d**0.5)
    prediction = Prediction(Kind.SCALING, "q", base="d", exponent=-1.0, rivals=("-1.1", "3"), correction=1, amplitude=0.1)
    found = judge(prediction, points, Contract(within=0.1))
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "either side" in found.reason
    assert [rival.rejected for rival in found.rivals] == [False, True]


def test_scaling_beyond_both_ends_is_refuted():
    points = along(lambda d: 0.5 / d**0.5, lambda d: 0.51 / d**0.5)
    prediction = Prediction(Kind.SCALING, "q", base="d", exponent=-1.0, correction=1, amplitude=0.1)
    assert judge(prediction, points, Contract(within=0.1)).verdict is Verdict.REFUTED


def test_a_bracket_around_zero_that_opens_refutes_no_bound():
    points = along(lambda d: -0.1 * d, lambda d: 0.1 * d)
    prediction = Prediction(Kind.BOUND, "q", base="d", rate="1/d", rivals=("d**(-2)",), correction=1, amplitude=0.1)
    found = judge(prediction, points, Contract())
    assert found.verdict is Verdict.INCONCLUSIVE, found.reason
    assert not found.rivals[0].rejected


def test_a_bound_is_refuted_where_both_ends_grow_on_one_side():
    points = along(lambda d: 0.1 * d, lambda d: 0.11 * d)
    prediction = Prediction(Kind.BOUND, "q", base="d", rate="1/d", correction=1, amplitude=0.1)
    assert judge(prediction, points, Contract()).verdict is Verdict.REFUTED


def skewed(skewness, draws=10_000):
    ends = {"draws": draws, "low_skewness": skewness, "high_skewness": skewness}
    return [Point({"d": d}, bracket=Bracket(0.99 / d, 1.01 / d, 1e-3 / d, 1e-3 / d, **ends)) for d in SIZES]


def test_brackets_whose_ends_a_few_draws_carry_decide_nothing():
    """The squared skewness over draws is 0.04 and 0.81; 0.125 is the most that is trusted."""
    prediction = Prediction(Kind.BOUND, "q", base="d", rate="1", rivals=("d**(-2)",), correction=1, amplitude=0.1)
    assert judge(prediction, skewed(20.0), Contract()).verdict is Verdict.SUPPORTED
    found = judge(prediction, skewed(90.0), Contract())
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "the mean is carried by a few draws" in found.reason
    assert not found.rivals[0].rejected
    growing = Prediction(Kind.BOUND, "q", base="d", rate="d**(-2)", correction=1, amplitude=0.1)
    assert judge(growing, skewed(20.0), Contract()).verdict is Verdict.REFUTED
    assert judge(growing, skewed(90.0), Contract()).verdict is Verdict.INCONCLUSIVE


def test_skewness_of_an_end_widens_its_error():
    """At error rate 1e-3, z = 3.09: the limit is z + 2 (2 z^2 + 1) 20 / (6 * 100), z * 1.43, and no verdict is nearer."""
    prediction = Prediction(Kind.IDENTITY, "q", value=number(0.5), tolerance="0.1")
    for skewness, distance, verdict in ((0.0, 3.5, Verdict.REFUTED), (20.0, 4.5, Verdict.SUPPORTED), (20.0, 5.2, Verdict.REFUTED)):
        end = 0.5 + distance * 1e-3
        point = Point({}, bracket=Bracket(end, end, 1e-3, 1e-3, (), 10_000, skewness, skewness))
        assert judge(prediction, [point], Contract()).verdict is verdict, (skewness, distance)


@pytest.mark.parametrize(("skewness", "disagree"), [(0.0, True), (20.0, False), (-20.0, True)])
def test_an_end_that_may_have_missed_its_tail_is_given_more_room(skewness, disagree):
    """5 standard errors above the upper end: with 400 draws of skewness 20 the limit is z + 2 (2 z^2 + 1) 20 / (6 * 20) > 8."""
    bracket = Bracket(0.5, 0.5, 0.001, 0.001, (), 400, skewness, skewness)
    point = Point({}, exact=number(0.505), bracket=bracket)
    found = judge(Prediction(Kind.IDENTITY, "q", value=number(0.505), tolerance="0.1"), [point], Contract())
    assert ("routes-disagree" in found.flags) is disagree


def test_the_skewness_of_a_bracket_survives_a_round_trip():
    bracket = Bracket(0.1, 0.2, 0.01, 0.02, (TAIL_UNSEEN,), 64, 3.5, -2.0)
    assert Bracket.from_json(bracket.to_json()) == bracket
    assert Bracket.from_json({"low": 0.1, "high": 0.2, "low_stderr": 0.01, "high_stderr": 0.02}).draws == 0  # an older file


@pytest.mark.parametrize("bracket", [Bracket(float("-inf"), 1.0), Bracket(0.0, float("inf")), Bracket(0.0, 1.0, float("nan"))])
def test_an_end_that_is_not_finite_is_an_error_of_the_sampler(bracket):
    points = [Point({"d": d}, bracket=bracket) for d in (16, 32, 64)]
    with pytest.raises(ValueError, match=r"the bracket at \{'d': 16\} is .*: both ends must be finite; mend the sampler"):
        judge(Prediction(Kind.BOUND, "q", base="d", rate="1/d"), points, Contract())


def test_proved_ends_that_are_exchanged_are_an_error_and_drawn_ones_may_cross():
    bound = Prediction(Kind.BOUND, "q", base="d", rate="1/d")
    points = [Point({"d": d}, bracket=Bracket(2 / d, 1 / d)) for d in (16, 32, 64)]
    with pytest.raises(ValueError, match=r"at \{'d': 16\} is 0\.125 to 0\.0625: its lower end lies above its upper one"):
        judge(bound, points, Contract())
    crossing = [Point({"d": d}, bracket=Bracket(1.01 / d, 1 / d, 0.02 / d, 0.02 / d, (), 100)) for d in (16, 32, 64, 128)]
    assert judge(bound, crossing, Contract()).verdict is not Verdict.REFUTED
