"""What SUPPORTED means: the evidence agrees with the claim, and does not merely lie near it.

The estimate of the exponent is linear in log Q (``exponent_error``), so the chance of a verdict at a given truth is a Gaussian
integral: the closed form here is independent of the judge, which is compared with it on noiseless curves and on draws.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from statistics import NormalDist

import numpy as np
import pytest

from theoryck.fitting.limit import fit_limit
from theoryck.fitting.linear import exponent_error
from theoryck.judging import judge
from theoryck.records import Contract, Enclosure, Estimate, Kind, Point, Prediction, Verdict

SIZES = [16, 32, 64, 128, 256, 512, 1024]
DRAWS = [10**3, 10**4, 10**5, 10**6]
Curve = Callable[[float], float]


def logarithmic(d: float) -> float:
    return math.sqrt(math.log(d) / d)


def masked(d: float) -> float:
    """Decays like d^-0.45; the correction makes it look like d^-1/2 on this window."""
    return d**-0.45 * (1 + 2 * d**-0.5)


def corner(b: float, b2: float, w: float) -> Curve:
    return lambda d: d**-0.5 * (1 + b * d**-w + b2 * d ** (-2 * w))


CORNERS = [(b, b2, w) for b, b2, w in itertools.product((-2, 0, 2), (-2, 0, 2), (0.5, 1)) if corner(b, b2, w)(16) > 0.2 * 16**-0.5]


def chances(curve: Curve, draws: int, within: float, rate: float = 0.025) -> tuple[float, float]:
    """Return P(SUPPORTED) and P(excess established), at Gaussian noise of relative size 1/sqrt(draws)."""
    error = exponent_error(SIZES, [draws**-0.5] * len(SIZES))
    centre = float(error.sensitivity @ np.log([curve(d) * d**0.5 for d in SIZES]))
    reach = error.decision_reach(rate)
    scatter = NormalDist(centre, error.noise)
    return scatter.cdf(min(within - reach, reach)), 1 - scatter.cdf(reach)


def points(curve: Curve, draws: int, rng: np.random.Generator | None = None) -> list[Point]:
    noise = np.zeros(len(SIZES)) if rng is None else rng.standard_normal(len(SIZES)) / math.sqrt(draws)
    return [Point({"d": d}, Estimate(curve(d) * (1 + float(e)), curve(d) / math.sqrt(draws), draws)) for d, e in zip(SIZES, noise)]


def bound(**fields: object) -> Prediction:
    return Prediction(Kind.BOUND, "Q", base="d", rate="d**(-1/2)", **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize("curve", [logarithmic, masked])
@pytest.mark.parametrize("draws", DRAWS)
def test_wrong_rates_are_supported_no_more_often_than_declared(curve: Curve, draws: int) -> None:
    """Both are wrong by at least ``within`` = 0.05; the limit of the log is 1/2 log(log 1024/log 16)/log(64) or more."""
    assert chances(curve, draws, 0.05)[0] <= 0.025


@pytest.mark.parametrize("draws", DRAWS)
def test_a_true_claim_is_hardly_ever_said_to_have_an_excess(draws: int) -> None:
    for b, b2, w in CORNERS:
        assert chances(corner(b, b2, w), draws, 0.1)[1] <= 0.025
    assert chances(corner(0, 0, 0.5), draws, 0.1)[1] <= 0.003


@pytest.mark.parametrize("curve", [logarithmic, masked])
def test_the_judge_agrees_with_the_closed_form(curve: Curve) -> None:
    """60 samples: the share of SUPPORTED lies within 4 binomial standard errors of the closed form."""
    rng, draws, samples = np.random.default_rng(4), 10**4, 60
    for within in (0.05, 0.1):
        expected = chances(curve, draws, within)[0]
        seen = [judge(bound(), points(curve, draws, rng), Contract(within=within), final=False).verdict for _ in range(samples)]
        share = seen.count(Verdict.SUPPORTED) / samples
        assert abs(share - expected) <= 4 * math.sqrt(max(expected * (1 - expected), 0.01) / samples)


@pytest.mark.parametrize("curve", [logarithmic, masked])
@pytest.mark.parametrize("within", [0.1, 0.15])
def test_an_excess_that_is_established_is_not_supported(curve: Curve, within: float) -> None:
    found = judge(bound(), points(curve, 10**6), Contract(within=within))
    assert (found.verdict, found.tightness) == (Verdict.INCONCLUSIVE, None)
    assert "over the rate d**(-1/2) is established, smaller than within = " in found.reason
    assert "a slower rate, or a factor of log(d), would look like this" in found.reason
    assert "excess established" in found.flags


@pytest.mark.parametrize("true", [-0.45, -0.55])
def test_a_scaling_is_excluded_from_both_sides(true: float) -> None:
    claim = Prediction(Kind.SCALING, "Q", base="d", exponent=-0.5)
    found = judge(claim, points(lambda d: d**true, 10**6), Contract())
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "a difference of" in found.reason
    assert "another exponent, or a factor of log(d)" in found.reason
    assert judge(claim, points(lambda d: d**-0.5, 10**6), Contract()).verdict is Verdict.SUPPORTED


def test_a_loose_bound_is_supported() -> None:
    assert judge(bound(), points(lambda d: d**-0.55, 10**6), Contract()).verdict is Verdict.SUPPORTED


def test_an_excess_that_is_not_told_from_the_tolerance_is_said_to_be_there() -> None:
    found = judge(bound(), points(lambda d: d**-0.41, 10**5), Contract())
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "which is told from 0 but not from the tolerated 0.1" in found.reason


def test_an_interim_look_goes_on_while_draws_can_help() -> None:
    found = judge(bound(), points(logarithmic, 10**6), Contract(), final=False)
    assert (found.verdict, found.settled) == (Verdict.INCONCLUSIVE, False)


def test_an_early_look_does_not_support_what_a_later_one_excludes() -> None:
    """A look's share of the error rates may be minute; the excess is looked for at the level of the intervals."""
    early = Contract(1e-9, 1e-9, 0.3)
    assert judge(bound(), points(logarithmic, 10**5), early, final=False).verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize(("b", "b2", "w"), CORNERS)
def test_exact_values_at_the_corners_of_the_family_are_supported(b: float, b2: float, w: float) -> None:
    """Without noise nothing hides the bias: it must be allowed for in full."""
    curve = corner(b, b2, w)
    exact = [Point({"d": d}, exact=Enclosure(Decimal(curve(d)), Decimal(curve(d)) * Decimal("1e-15"))) for d in SIZES]
    assert judge(bound(), exact, Contract()).verdict is Verdict.SUPPORTED


def test_exact_values_are_not_held_to_a_family_that_is_complete_to_the_last_digit() -> None:
    """A third term, 5 d^(-3/2), is in no corner of the family; the excess it seems to make is far below any log factor's."""
    exact = [Point({"d": d}, exact=Enclosure(Decimal(d**-0.5 * (1 + 5 * d**-1.5)), Decimal("1e-18"))) for d in SIZES]
    assert judge(bound(), exact, Contract()).verdict is Verdict.SUPPORTED


def test_a_wide_route_does_not_outweigh_a_narrow_one() -> None:
    """Exact values exclude the rate by less than ``within``; draws, which cannot tell, would support it."""
    drawn = points(logarithmic, 10**3)
    both = [replace(p, exact=Enclosure(Decimal(p.estimate.value), Decimal("1e-18"))) for p in drawn if p.estimate is not None]
    contract = Contract(within=0.2)
    assert judge(bound(), drawn, contract).verdict is Verdict.SUPPORTED
    found = judge(bound(), both, contract)
    assert {route.name: route.verdict for route in found.routes}["montecarlo"] is Verdict.SUPPORTED
    assert found.verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize(("draws", "said"), [(10**3, True), (10**8, False)])
def test_a_logarithm_that_cannot_be_resolved_is_flagged(draws: int, said: bool) -> None:
    claim = Prediction(Kind.BOUND, "Q", base="d", rate="sqrt(log(d)/d)")
    found = judge(claim, points(logarithmic, draws), Contract(within=0.2))
    assert found.verdict is Verdict.SUPPORTED
    assert ("the factor log(d)^(1/2) cannot be resolved on this window" in found.flags) is said


@pytest.mark.parametrize(
    ("exponent", "draws", "flag"),
    [
        (-0.5, 40, "a factor log(d) would fit as well"),  # it moves the exponent by less than 0.19, the half-width
        (-0.5, 10**3, "a factor log(d)^(1/2) would fit as well"),  # 0.07 and 0.08
        (-0.5, 10**4, ""),  # 0.06 and 0.04
        (-1.0, 10**4, ""),  # a loose bound has room for more than a logarithm
    ],
)
def test_a_logarithm_that_could_hide_is_flagged(exponent: float, draws: int, flag: str) -> None:
    found = judge(bound(), points(lambda d: d**exponent, draws), Contract(within=0.25))
    assert found.verdict is Verdict.SUPPORTED
    assert [said for said in found.flags if "factor" in said] == ([flag] if flag else [])


def test_a_scaling_may_hide_a_logarithm_below_the_line_too() -> None:
    claim = Prediction(Kind.SCALING, "Q", base="d", exponent=-0.5)
    found = judge(claim, points(lambda d: d**-0.5 / math.log(d) ** 0.5, 10**3), Contract(within=0.25))
    assert found.verdict is Verdict.SUPPORTED
    assert "a factor log(d)^(-1) would fit as well" in found.flags


@pytest.mark.parametrize(("correction", "amplitude"), [(None, None), (1.0, None), (1.0, 0.5)])
def test_the_limit_of_a_limit_holds_at_every_truth(correction: float | None, amplitude: float | None) -> None:
    """The estimate is linear in the values, so the chance to miss is closed: the interval misses up to 3.7%, the decision never."""
    values = np.array([1.0 + 0.3 / d for d in SIZES])
    for noise in (1e-2, 1e-3, 1e-4):
        fit = fit_limit(SIZES, list(values), [noise] * 7, scale=1.0, correction=correction, amplitude=amplitude)
        shifts = np.expm1(fit.family.truths(np.array(SIZES, dtype=float)))
        moved = [
            fit_limit(SIZES, list(1.0 + shift), [noise] * 7, scale=1.0, correction=correction, amplitude=amplitude).estimate - 1.0
            for shift in shifts
        ]
        worst = max(1 - NormalDist(abs(bias), fit.noise).cdf(fit.decision_reach(0.025)) for bias in moved)
        assert worst <= 0.025 + 1e-9
