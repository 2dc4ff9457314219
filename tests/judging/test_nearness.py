"""Numbers that are near what is claimed: a difference that is established is no support, a slack that is not 0 is not tight."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from statistics import NormalDist

import numpy as np
import pytest

from theoryck.fitting.fit import fit_rate
from theoryck.fitting.limit import fit_limit
from theoryck.fitting.linear import ExponentError, exponent_error, response
from theoryck.judging import judge
from theoryck.judging.decisions import tightness
from theoryck.records import Bracket, Contract, Enclosure, Estimate, Interval, Kind, Point, Prediction, Result, Tightness, Verdict

SIZES = (16, 32, 64, 128, 256, 512, 1024)
QUICK = Contract(within=0.15)
TRUE = math.sqrt(2 / math.pi)  # E |x|_1 / d at standard normal x
CORNERS = list(itertools.product((-2, 0, 2), (-2, 0, 2)))


def along(curve: Callable[[float], float], relative: float = 1e-3, rng: np.random.Generator | None = None) -> list[Point]:
    noise = np.zeros(len(SIZES)) if rng is None else rng.standard_normal(len(SIZES))
    values = [(d, curve(d), relative * abs(curve(d)), float(z)) for d, z in zip(SIZES, noise)]
    return [Point({"d": d}, Estimate(value + z * error, error, 10**5)) for d, value, error, z in values]


def limit(value: str, **fields: object) -> Prediction:
    return Prediction(Kind.LIMIT, "Q", base="d", value=Enclosure(Decimal(value), Decimal(0)), **fields)  # type: ignore[arg-type]


def scaling(constant: float, **fields: object) -> Prediction:
    return Prediction(Kind.SCALING, "Q", base="d", exponent=-1.0, constant=constant, correction=1.0, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", ["0.75", "0.85", "0.72"])
def test_a_wrong_limit_is_not_supported_for_being_near(value: str) -> None:
    found = judge(limit(value, rivals=("1.1",)), along(lambda d: TRUE), QUICK)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert f"from the claimed value {value} is established, smaller than the default tolerance 0.1" in found.reason
    assert found.reason.endswith("if a limit near that value is claimed, declare tolerance=")
    assert "excess established" in found.flags
    assert found.rivals[0].rejected
    assert found.limit is not None
    assert found.limit.contains(TRUE)


def test_a_tolerance_that_is_declared_belongs_to_the_claim() -> None:
    found = judge(limit("0.75", tolerance="0.11"), along(lambda d: TRUE), QUICK)
    assert (found.verdict, "excess established" in found.flags) == (Verdict.SUPPORTED, False)
    assert "not 0 but within the declared tolerance 0.11" in found.reason
    assert "within the tolerance 0.11" in judge(limit("0.798", tolerance="0.11"), along(lambda d: TRUE), QUICK).reason
    vague = judge(limit("0.75", tolerance="0.05"), along(lambda d: TRUE), QUICK)
    assert vague.verdict is Verdict.INCONCLUSIVE
    assert "told from 0 but not from the tolerance 0.05" in vague.reason


def test_no_true_limit_falls_more_often_than_a_true_exponent_may() -> None:
    """The estimates are linear in the values, so the chance is closed: at the worst corner it is at most the exponent's."""
    sizes = np.array(SIZES, dtype=float)

    def chance(centre: float, noise: float, reach: float) -> float:
        return 1 - NormalDist(centre, noise).cdf(reach) + NormalDist(centre, noise).cdf(-reach)

    for correction, relative in itertools.product((None, 0.5, 1.0), (0.03, 0.01, 0.003, 0.001)):
        errors = [relative] * len(SIZES)
        fit = fit_limit(sizes, [1.0] * len(SIZES), errors, scale=1.0, correction=correction)
        assert fit.system is not None
        values, exponent = response(*fit.system[:2], 1, 0), exponent_error(sizes, errors, correction=correction)
        fallen, allowed = [], []
        for (b, b2), power in itertools.product(CORNERS, (0.5, 1.0) if correction is None else (correction,)):
            bracket = 1 + b * sizes**-power + b2 * sizes ** (-2 * power)
            if bracket.min() < 0.2:
                continue
            reach = max(fit.decision_reach(0.0125), 0.01)
            fallen.append(chance(float(values @ (bracket - 1)), fit.noise, reach))
            centre = float(exponent.sensitivity @ np.log(bracket))
            allowed.append(chance(centre, exponent.noise, max(exponent.decision_reach(0.025), 0.01)))
        assert max(fallen) <= 0.025
        assert max(fallen) <= max(*allowed, 0.025)


def test_true_limits_with_noise_are_supported() -> None:
    """100 samples at each of two error sizes: at most 2.5% fall, so that more than 9 have a chance of 1 in 1e4."""
    rng = np.random.default_rng(11)
    for relative in (1e-2, 1e-3):
        samples = [along(lambda d: 0.8 * (1 + 1 / d), relative, rng) for _ in range(100)]
        found = [judge(limit("0.8", correction=1.0), points, QUICK, final=False) for points in samples]
        assert sum("excess established" in judgement.flags for judgement in found) <= 9


def test_exact_values_are_not_held_to_a_family_that_is_complete_to_the_last_digit() -> None:
    """A correction log(d)/d is in no corner of the family: it moves the limit that is fitted by 10 times its error."""
    exact = [Point({"d": d}, exact=Enclosure(Decimal(0.8 * (1 + math.log(d) / d)), Decimal("1e-18"))) for d in SIZES]
    found = judge(limit("0.8", correction=0.5), exact, QUICK)
    assert found.limit is not None
    assert not found.limit.contains(0.8)
    assert found.verdict is Verdict.SUPPORTED


def test_ends_of_brackets_contradict_from_their_own_side_only() -> None:
    around = [Point({"d": d}, bracket=Bracket(0.75 - 1 / d, 0.85 + 1 / d, 1e-4, 1e-4)) for d in SIZES]
    assert judge(limit("0.8"), around, QUICK).verdict is Verdict.SUPPORTED
    above = [Point({"d": d}, bracket=Bracket(0.83 - 1 / d, 0.83 + 1 / d, 1e-4, 1e-4)) for d in SIZES]
    found = judge(limit("0.8"), above, QUICK)
    assert (found.verdict, "excess established" in found.flags) == (Verdict.INCONCLUSIVE, True)


def test_a_wide_route_does_not_outweigh_a_narrow_one() -> None:
    drawn = along(lambda d: 0.83, 0.04)
    both = [replace(point, exact=Enclosure(Decimal("0.83"), Decimal(0))) for point in drawn]
    claim = limit("0.8", correction=1.0)
    assert judge(claim, drawn, QUICK).verdict is Verdict.SUPPORTED
    found = judge(claim, both, QUICK)
    assert {route.name: route.verdict for route in found.routes}["montecarlo"] is Verdict.SUPPORTED
    assert found.verdict is Verdict.INCONCLUSIVE


def test_the_limit_that_was_fitted_is_recorded() -> None:
    import theoryck as tc

    found = judge(limit("0.8"), along(lambda d: 0.8 + 1 / d), QUICK)
    assert found.limit is not None
    assert found.limit.contains(0.8)
    assert found.limit.level == 0.95
    few = judge(limit("0.8"), along(lambda d: 0.8)[:2], QUICK)
    assert few.limit is None
    plain = tc.audit({"d": SIZES}, [1 / d for d in SIZES], [1e-3 / d for d in SIZES], rate="1/d", rivals=["d**(-2)"])
    assert "limit" not in plain.to_json()
    result = replace(plain, judgement=found)
    assert result.to_json()["limit"] == found.limit.to_json()
    assert Result.from_json(result.to_json()).judgement.limit == found.limit


def test_a_constant_that_is_near_is_not_supported_where_it_is_excluded() -> None:
    points = along(lambda d: 2.06 / d)
    found = judge(scaling(2.0), points, QUICK)
    assert (found.verdict, "excess established" in found.flags) == (Verdict.INCONCLUSIVE, True)
    assert "from the claimed 2 is established, smaller than the default tolerance 0.1 (0.05 relative)" in found.reason
    assert judge(scaling(2.0, tolerance="0.05"), points, QUICK).verdict is Verdict.SUPPORTED
    assert judge(scaling(2.0), along(lambda d: 2.01 / d), QUICK).verdict is Verdict.SUPPORTED  # by less than 1%
    negative = judge(scaling(-2.0), along(lambda d: -2.06 / d), QUICK)
    assert (negative.verdict, judge(scaling(-2.0), along(lambda d: -2 / d), QUICK).verdict) == (
        Verdict.INCONCLUSIVE,
        Verdict.SUPPORTED,
    )


def test_the_error_of_a_constant_holds_at_every_truth() -> None:
    sizes = np.array(SIZES, dtype=float)
    system = fit_rate(SIZES, [1.0] * 7, [1e-3] * 7, correction=1.0, exponent=0.0).system
    assert system is not None
    error: ExponentError = system.constant_error()
    moved = [float(error.sensitivity @ np.log(1 + b / sizes + b2 / sizes**2)) for b, b2 in CORNERS]
    assert max(1 - NormalDist(abs(bias), error.noise).cdf(error.decision_reach(0.025)) for bias in moved) <= 0.025 + 1e-9


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (-0.01, 0.02, Tightness.TIGHT),
        (0.001, 0.009, Tightness.TIGHT),  # numerically zero
        (-0.058, -0.040, Tightness.UNDETERMINED),
        (0.02, 0.1, Tightness.UNDETERMINED),
        (-0.1, 0.2, Tightness.UNDETERMINED),
        (0.1, 0.2, Tightness.UNDETERMINED),
        (0.16, 0.2, Tightness.LOOSE),
    ],
)
def test_tight_means_a_slack_of_0(low: float, high: float, expected: Tightness) -> None:
    assert tightness(Interval((low + high) / 2, low, high, 0.95), 0.15) is expected


def test_a_slack_that_is_small_but_not_0_is_said() -> None:
    """Bounded by log(n), E max of n normals grows like sqrt(log n): neither tight nor, on this window, shown to be loose."""
    claim = Prediction(Kind.BOUND, "Q", base="d", rate="log(d)", correction=1.0)
    found = judge(claim, along(lambda d: math.log(d) * d**-0.06, 1e-3), QUICK)
    assert (found.verdict, found.tightness) == (Verdict.SUPPORTED, Tightness.UNDETERMINED)
    assert "is not 0, yet within the tolerated 0.15: neither tight nor shown to be loose" in found.reason
    tight = judge(claim, along(math.log, 1e-3), QUICK)
    assert (tight.tightness, "neither tight" in tight.reason) == (Tightness.TIGHT, False)


def test_the_slack_of_brackets_is_that_of_both_ends() -> None:
    ends = [Point({"d": d}, bracket=Bracket(d**-1.04, d**-0.96, 1e-4 / d, 1e-4 / d)) for d in SIZES]
    found = judge(Prediction(Kind.BOUND, "Q", base="d", rate="1/d", correction=1.0), ends, QUICK)
    assert found.slack is not None
    assert found.slack.contains(0.0)
    assert found.tightness is (Tightness.TIGHT if found.verdict is Verdict.SUPPORTED else None)
