"""judge on scalings, limits, identities and laws: every verdict, rivals, twins, tolerances."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal as D

import pytest

from theoryck.judging import judge
from theoryck.rates import doubling
from theoryck.records import Bracket, Contract, Enclosure, Estimate, Kind, Point, Prediction, Verdict

SIZES = doubling(16, 4096)
CONTRACT = Contract()


def estimates(curve: Callable[[int], float], stderr: Callable[[int], float]) -> list[Point]:
    return [Point({"d": d}, Estimate(curve(d), stderr(d), 10**6)) for d in SIZES]


def number(text: str, radius: str = "0", rigorous: bool = True) -> Enclosure:
    return Enclosure(D(text), D(radius), rigorous)


# -- scaling ----------------------------------------------------------------------------------------------------------------


def scaling(exponent: float, **fields: object) -> Prediction:
    return Prediction(Kind.SCALING, "Q", base="d", exponent=exponent, **fields)  # type: ignore[arg-type]


def power(exponent: float, constant: float = 2.0, relative: float = 1e-3) -> list[Point]:
    return estimates(lambda d: constant * d**exponent, lambda d: relative * constant * d**exponent)


@pytest.mark.parametrize(
    ("true", "verdict"),
    [
        (-1.0, Verdict.SUPPORTED),
        (-0.7, Verdict.REFUTED),
        (-1.5, Verdict.REFUTED),
        (-1.001, Verdict.SUPPORTED),
        (-1.09, Verdict.INCONCLUSIVE),  # within 0.1, but the claimed exponent itself is excluded
        (-1.1, Verdict.INCONCLUSIVE),
    ],
)
def test_scaling_is_two_sided(true: float, verdict: Verdict) -> None:
    found = judge(scaling(-1.0), power(true), CONTRACT)
    assert found.verdict is verdict
    assert found.exponent is not None
    assert found.exponent.contains(true)
    assert (found.claimed_exponent, found.tightness, found.slack) == (-1.0, None, None)


def test_scaling_rivals_are_exponents() -> None:
    found = judge(scaling(-1.0, rivals=("-3/2", "0", "-1.05")), power(-1.0), CONTRACT)
    assert found.verdict is Verdict.SUPPORTED
    # -1.05 lies within 0.1 of the truth, which this contract tolerates: for the sake of the rival it tolerates less.
    assert [rival.rejected for rival in found.rivals] == [True, True, True]
    noisy = judge(scaling(-1.0, correction=1.0, rivals=("-3/2", "-1.1")), power(-1.0, relative=0.3), CONTRACT)
    assert noisy.verdict is Verdict.INCONCLUSIVE
    assert judge(scaling(-1.0, rivals=("-1",)), power(-1.0), CONTRACT).verdict is Verdict.VACUOUS


@pytest.mark.parametrize(("constant", "verdict"), [(2.0, Verdict.SUPPORTED), (2.05, Verdict.SUPPORTED), (2.5, Verdict.REFUTED)])
def test_scaling_with_a_constant(constant: float, verdict: Verdict) -> None:
    found = judge(scaling(-1.0, constant=2.0, correction=1.0, tolerance="0.05"), power(-1.0, constant), CONTRACT)
    assert found.verdict is verdict
    assert found.constant is not None
    assert found.constant.contains(constant)


def test_scaling_constant_to_its_own_tolerance_and_undecided() -> None:
    strict = judge(scaling(-1.0, constant=2.0, correction=1.0, tolerance="0.01"), power(-1.0, 2.1), CONTRACT)
    assert strict.verdict is Verdict.REFUTED
    vague = judge(scaling(-1.0, constant=2.0, correction=1.0, tolerance="0.0001"), power(-1.0, 2.0), CONTRACT)
    assert vague.verdict is Verdict.INCONCLUSIVE
    assert "claimed 2 with tolerance 0.0002 (0.0001 relative)" in vague.reason


def test_scaling_wrong_exponent_outranks_a_right_constant() -> None:
    assert judge(scaling(-1.0, constant=2.0), power(-0.5), CONTRACT).verdict is Verdict.REFUTED


# -- limit ------------------------------------------------------------------------------------------------------------------


def limit(value: str, **fields: object) -> Prediction:
    return Prediction(Kind.LIMIT, "Q", base="d", value=number(value), **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize("rival", ["0", "-0.5", "0.25", "1.5"])
def test_a_limit_with_a_rate_takes_any_value_as_a_rival(rival: str) -> None:
    points = estimates(lambda d: 0.5 + 1 / d, lambda d: 1e-5)
    found = judge(limit("0.5", rate="1/d", rivals=(rival,), correction=1), points, CONTRACT)
    assert found.verdict is Verdict.SUPPORTED
    assert [entry.rejected for entry in found.rivals] == [True]


def converging(to: float, gap: float = 1.0, stderr: float = 1e-3) -> list[Point]:
    return estimates(lambda d: to + gap / math.sqrt(d), lambda d: stderr)


@pytest.mark.parametrize(("true", "verdict"), [(0.5, Verdict.SUPPORTED), (0.48, Verdict.INCONCLUSIVE), (0.7, Verdict.REFUTED)])
def test_limit(true: float, verdict: Verdict) -> None:
    found = judge(limit("0.5", rivals=("0.8", "1"), correction=0.5), converging(true), CONTRACT)
    assert found.verdict is verdict
    assert "tolerance 0.05" in found.reason  # within * |value|
    assert found.assuming == "on d = 16..4096, assuming corrections O(d^-1/2)"
    if verdict is Verdict.SUPPORTED:
        assert [rival.rejected for rival in found.rivals] == [True, True]


def test_a_value_passed_through_on_the_way_is_not_the_limit() -> None:
    """At d = 4096 the quantity is 0.516, nearer to the wrong value 0.52 than to its limit 0.5."""
    found = judge(limit("0.52", tolerance="0.005"), converging(0.5, stderr=1e-5), CONTRACT)
    assert found.verdict is Verdict.REFUTED


def test_limit_undecided_names_the_budget() -> None:
    found = judge(limit("0.5", tolerance="0.003", correction=0.5), converging(0.5, stderr=1e-2), CONTRACT)
    assert (found.verdict, found.settled) == (Verdict.INCONCLUSIVE, False)
    assert "times the draws would decide" in found.reason


def test_limit_zero_with_values_of_both_signs() -> None:
    points = estimates(lambda d: (-1) ** d.bit_length() * 0.1 / d, lambda d: 0.02)
    assert judge(limit("0", tolerance="0.2"), points, CONTRACT).verdict is Verdict.SUPPORTED
    assert judge(limit("0.5", tolerance="0.1"), points, CONTRACT).verdict is Verdict.REFUTED


def test_limit_with_a_rate_judges_signed_differences() -> None:
    below = estimates(lambda d: 2 - 3 / d, lambda d: 1e-3 / d)
    found = judge(limit("2", rate="1/d", correction=1.0, rivals=("2.5",)), below, CONTRACT)
    assert found.verdict is Verdict.SUPPORTED
    assert found.constant is not None
    assert found.constant.contains(-3)
    assert found.exponent is not None
    assert found.exponent.contains(-1.0)
    assert judge(limit("2", rate="1/d**2"), below, CONTRACT).verdict is Verdict.REFUTED
    drowned = estimates(lambda d: 2 - 3 / d, lambda d: 1.0)
    assert judge(limit("2", rate="1/d", tolerance="10"), drowned, CONTRACT).verdict is Verdict.INCONCLUSIVE


def test_limit_by_enclosures_and_brackets() -> None:
    exact = [Point({"d": d}, exact=Enclosure(D(2) + D(1) / d, D("1e-25"))) for d in SIZES]
    assert judge(limit("2", rivals=("2.1",)), exact, CONTRACT).verdict is Verdict.SUPPORTED
    wide = [Point({"d": d}, bracket=Bracket(2 - 1 / d, 2 + 1 / d)) for d in SIZES]
    assert judge(limit("2"), wide, CONTRACT).verdict is Verdict.SUPPORTED
    apart = [Point({"d": d}, bracket=Bracket(2 - 1 / d, 3 + 1 / d)) for d in SIZES]
    assert judge(limit("2"), apart, CONTRACT).verdict is Verdict.INCONCLUSIVE


def test_limit_rival_equal_to_the_value_is_vacuous() -> None:
    assert judge(limit("0.5", rivals=("1/2",)), converging(0.5), CONTRACT).verdict is Verdict.VACUOUS


# -- identity ---------------------------------------------------------------------------------------------------------------


def identity(right: Enclosure, **fields: object) -> Prediction:
    return Prediction(Kind.IDENTITY, "sigma", value=right, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("left", "right", "verdict"),
    [
        (number("0.5"), number("0.5"), Verdict.CERTIFIED),
        (number("0.5"), number("0.50000000000000000000000001"), Verdict.REFUTED),
        (number("0.5", "1e-30"), number("0.5", "1e-30"), Verdict.SUPPORTED),
        (number("0.5", "1e-30"), number("0.5", "1e-10"), Verdict.INCONCLUSIVE),
        (number("0.5", "1e-30"), number("0.5000000001", "1e-12"), Verdict.REFUTED),
        (number("0.5", "1e-12", False), number("0.500000000003", "0"), Verdict.INCONCLUSIVE),
        (number("0.5", "1e-12", False), number("0.5001", "0"), Verdict.REFUTED),
        (number("0", "1e-28"), number("0"), Verdict.SUPPORTED),
        (number("1e-20", "1e-50"), number("2e-20", "1e-50"), Verdict.REFUTED),
        (number("-3", "1e-30"), number("3", "1e-30"), Verdict.REFUTED),
    ],
)
def test_identity_between_enclosures(left: Enclosure, right: Enclosure, verdict: Verdict) -> None:
    found = judge(identity(right), [Point({}, exact=left)], CONTRACT)
    assert found.verdict is verdict
    assert found.routes[0].rigorous is (verdict in (Verdict.CERTIFIED, Verdict.REFUTED) and left.rigorous)
    if verdict in (Verdict.SUPPORTED, Verdict.INCONCLUSIVE) and left.overlaps(right):
        assert "tolerance" in found.reason


def test_identity_tolerance_is_absolute_when_declared() -> None:
    points = [Point({}, exact=number("0.5", "1e-10"))]
    assert judge(identity(number("0.5"), tolerance="1e-9"), points, CONTRACT).verdict is Verdict.SUPPORTED
    assert judge(identity(number("0.5"), tolerance="1e-11"), points, CONTRACT).verdict is Verdict.INCONCLUSIVE


def test_identity_rivals_and_long_digits() -> None:
    digits = "0.4645590543975399" + "3" * 60
    found = judge(
        identity(number(digits, "1e-70"), rivals=("0.5", "1/3", digits[:-40])), [Point({}, exact=number(digits, "1e-70"))], CONTRACT
    )
    assert found.verdict is Verdict.SUPPORTED
    assert [rival.rejected for rival in found.rivals] == [True, True, True]
    alone = judge(identity(number("0.5"), rivals=("0.50",)), [Point({}, exact=number("0.5"))], CONTRACT)
    assert alone.verdict is Verdict.VACUOUS


@pytest.mark.parametrize(
    ("value", "stderr", "verdict"),
    [(0.501, 1e-3, Verdict.SUPPORTED), (0.51, 1e-3, Verdict.REFUTED), (0.5, 0.1, Verdict.INCONCLUSIVE)],
)
def test_identity_by_estimate(value: float, stderr: float, verdict: Verdict) -> None:
    found = judge(identity(number("0.5"), rivals=("0.6",)), [Point({}, Estimate(value, stderr, 1000))], CONTRACT)
    assert found.verdict is verdict
    assert found.settled is (verdict is not Verdict.INCONCLUSIVE)


def test_identity_routes_that_disagree() -> None:
    found = judge(identity(number("0.5")), [Point({}, Estimate(0.51, 1e-3, 10_000), number("0.5"))], CONTRACT)
    assert found.verdict is Verdict.REFUTED
    assert "routes-disagree" in found.flags
    assert "its one instance" in found.reason


def test_identity_over_several_instances_is_a_conjunction() -> None:
    points = [Point({"l": 1}, exact=number("0.5")), Point({"l": 2}, exact=number("0.6"))]
    assert judge(identity(number("0.5")), points, CONTRACT).verdict is Verdict.REFUTED


# -- law --------------------------------------------------------------------------------------------------------------------


def law(**fields: object) -> Prediction:
    return Prediction(Kind.LAW, "distance", base="d", **fields)  # type: ignore[arg-type]


def test_law_without_a_rate_must_decay() -> None:
    assert judge(law(), power(-0.5), CONTRACT).verdict is Verdict.SUPPORTED
    assert judge(law(), power(0.0), CONTRACT).verdict is Verdict.REFUTED
    assert judge(law(), power(0.3), CONTRACT).verdict is Verdict.REFUTED
    assert judge(law(), power(-0.5, relative=1.0), CONTRACT).verdict is Verdict.INCONCLUSIVE
    found = judge(law(rivals=("1/d",)), power(-0.5), CONTRACT)
    assert [rival.rejected for rival in found.rivals] == [True]
    assert "the distance to the law grows like d^(-0.50" in found.reason


def test_law_with_a_rate_is_a_bound() -> None:
    assert judge(law(rate="1/sqrt(d)", rivals=("1/d",)), power(-0.5), CONTRACT).verdict is Verdict.SUPPORTED
    assert judge(law(rate="1/d"), power(-0.5), CONTRACT).verdict is Verdict.REFUTED
    assert judge(law(rate="1/d", rivals=("2/d",)), power(-1.0), CONTRACT).verdict is Verdict.VACUOUS


def test_law_at_exact_distance_zero_says_so() -> None:
    points = [Point({"d": d}, Estimate(0.0, 0.0, 100)) for d in SIZES]
    found = judge(law(), points, CONTRACT)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "exactly 0" in found.reason


# -- sizes out of reach --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("prediction", [limit("2", rate="1/d"), scaling(-1.0)])
def test_sizes_that_the_budget_did_not_pay_for_are_named(prediction: Prediction) -> None:
    drawn = [Point({"d": 16}, Estimate(0.1, 0.01, 2))]
    bare = [Point({"d": d}, Estimate(0.1, math.inf, 1)) for d in (32, 64)]
    found = judge(prediction, [*drawn, *bare], CONTRACT)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "one draw at d = 32, 64" in found.reason
    assert "larger profile" in found.reason
    assert "one draw" not in judge(prediction, [*drawn, *power(-1.0)[1:]], CONTRACT).reason
