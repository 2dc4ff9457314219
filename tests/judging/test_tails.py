"""judge on evidence that is not what it seems: exact zeros, means carried by a few draws, and the budget it asks for."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import numpy as np
import pytest

from theoryck.judging import judge
from theoryck.judging.evidence import read_routes
from theoryck.montecarlo import Moments
from theoryck.rates import doubling
from theoryck.records import Contract, Enclosure, Estimate, Kind, Point, Prediction, Tightness, Verdict

SIZES = doubling(16, 4096)
CONTRACT = Contract()


def bound(rate: str = "d**(-1)", **fields: object) -> Prediction:
    return Prediction(Kind.BOUND, "Q", base="d", rate=rate, **fields)  # type: ignore[arg-type]


def test_a_quantity_that_is_zero_at_every_size_is_within_any_bound() -> None:
    zeros = [Point({"d": d}, exact=Enclosure(Decimal(0), Decimal(0))) for d in SIZES]
    found = judge(bound(), zeros, CONTRACT)
    assert (found.verdict, found.tightness) == (Verdict.CERTIFIED, Tightness.LOOSE)
    assert "exactly 0 at every size, which satisfies any bound" in found.reason
    drawn = judge(bound(), [Point({"d": d}, Estimate(0.0, 0.0, 100)) for d in SIZES], CONTRACT)
    assert (drawn.verdict, drawn.tightness) == (Verdict.SUPPORTED, Tightness.UNDETERMINED)
    # Nothing smaller can be excluded: the rival stays, and the result is not well.
    assert [rival.rejected for rival in judge(bound(rivals=("d**(-2)",)), zeros, CONTRACT).rivals] == [False]
    one = [zeros[0], *(Point({"d": d}, exact=Enclosure(1 / Decimal(d), Decimal("1e-20"))) for d in SIZES[1:])]
    assert judge(bound(), one, CONTRACT).verdict is Verdict.INCONCLUSIVE


def heavy(value: float, skewness: float, exact: bool = False) -> list[Point]:
    known = Enclosure(Decimal(1), Decimal("1e-20")) if exact else None
    return [Point({"d": d}, Estimate(value, 1e-3, 10_000, (), skewness), known) for d in SIZES]


def test_a_mean_carried_by_a_few_draws_decides_nothing() -> None:
    for value_of in (1.0, 100.0):
        found = judge(bound("1", rivals=("1/d",)), heavy(value_of, 90.0), CONTRACT)
        assert (found.verdict, found.tightness, found.settled) == (Verdict.INCONCLUSIVE, None, False)
        assert [rival.rejected for rival in found.rivals] == [False]
        assert "the mean is carried by a few draws at d = 16; d = 32; ...; d = 4096" in found.reason
        # 90^2/1e4 is 16.2 times the 0.05 that is allowed.
        assert "the error bar cannot be trusted; draw at least 17 times as much, or measure something with" in found.reason
    assert judge(bound("1/d"), heavy(1.0, 90.0), CONTRACT).verdict is Verdict.INCONCLUSIVE  # refuted if it were trusted
    assert judge(bound("1"), heavy(1.0, 20.0), CONTRACT).verdict is Verdict.SUPPORTED  # 1e4 draws are 25 times 20^2
    both_routes = judge(bound("1", rivals=("1/d",)), heavy(1.0, 90.0, exact=True), CONTRACT)
    assert (both_routes.verdict, both_routes.tightness) == (Verdict.SUPPORTED, Tightness.TIGHT)
    assert [route.verdict for route in both_routes.routes] == [Verdict.SUPPORTED, Verdict.INCONCLUSIVE]


LAWS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "cauchy": lambda rng, n: np.abs(rng.standard_cauchy(n)),
    "pareto 1": lambda rng, n: rng.pareto(1.0, n),
    "pareto 3/2": lambda rng, n: rng.pareto(1.5, n),
    "N^8": lambda rng, n: rng.standard_normal(n) ** 8,
    "N^6": lambda rng, n: rng.standard_normal(n) ** 6,
    "N^4": lambda rng, n: rng.standard_normal(n) ** 4,
    "N^2": lambda rng, n: rng.standard_normal(n) ** 2,
}


@pytest.mark.parametrize(
    ("law", "draws", "least", "most"),
    [  # the share of runs, on seven sizes, in which Monte Carlo is trusted
        ("cauchy", 1000, 0.0, 0.0),
        ("cauchy", 20_000, 0.0, 0.0),
        ("pareto 1", 1000, 0.0, 0.0),
        ("pareto 1", 20_000, 0.0, 0.0),
        ("pareto 3/2", 20_000, 0.0, 0.2),
        ("N^8", 1000, 0.0, 0.0),
        ("N^8", 100_000, 0.7, 1.0),
        ("N^6", 1000, 0.0, 0.1),
        ("N^6", 20_000, 0.8, 1.0),
        ("N^4", 4000, 0.9, 1.0),
        ("N^2", 1000, 1.0, 1.0),
    ],
)
def test_how_often_the_mean_of_a_law_is_trusted(law: str, draws: int, least: float, most: float) -> None:
    rng, runs, trusted = np.random.default_rng([1, draws]), 20, 0
    for _ in range(runs):
        points = [Point({"d": d}, Moments.of(LAWS[law](rng, draws)).estimate()) for d in doubling(4, 256)]
        trusted += not read_routes(points)[0]["montecarlo"][0].carried
    # Rates are within three binomial errors of those of 200 runs, except where no failure may happen at all.
    assert least <= trusted / runs <= most


def test_advice_does_not_depend_on_the_luck_of_the_estimate() -> None:
    """The budget named is for a claim exactly true, so over noisy runs it varies by little, and it decides five times in six."""
    rng = np.random.default_rng(7)
    factors, decided, runs = [], 0, 60
    for _ in range(runs):

        def noisy(draws: float) -> list[Point]:
            return [Point({"d": d}, Estimate((1 + rng.standard_normal() / draws**0.5) / d, draws**-0.5 / d, 100)) for d in SIZES]

        found = judge(bound(correction=1.0), noisy(40), CONTRACT)
        if found.verdict is Verdict.INCONCLUSIVE and found.exponent and found.exponent.estimate < -0.9:
            factors.append(int(found.reason.split("about ")[1].split(" times")[0]))
            decided += judge(bound(correction=1.0), noisy(40 * factors[-1]), CONTRACT).verdict is Verdict.SUPPORTED
    assert len(factors) > 10
    assert max(factors) <= 2 * min(factors)
    assert decided >= 0.6 * len(factors)  # five in six, less three binomial errors
