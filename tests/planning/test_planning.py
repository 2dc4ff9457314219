"""planning: allotment, the round trip between budget and violation, and whether plans come true, at the corners too."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st

from theoryck import planning
from theoryck.judging import judge
from theoryck.rates import doubling
from theoryck.records import Contract, Estimate, Kind, Point, Prediction, Verdict

SIZES = doubling(16, 1024)
CONTRACT = Contract()


@given(
    st.lists(st.floats(0.01, 1e4), min_size=1, max_size=9),
    st.floats(1, 1e9),
    st.booleans(),
    st.floats(1, 50),
)
@settings(max_examples=40)
def test_allotment_respects_budget_and_floor(costs: list[float], budget: float, informed: bool, floor: float) -> None:
    sizes = [16 << index for index in range(len(costs))] if informed else None
    units = planning.allocate(costs, budget, sizes=sizes, floor=floor, noise=0.1)
    assert all(isinstance(count, int) and count >= floor for count in units)
    floors = sum(math.ceil(floor) * cost for cost in costs)
    assert sum(count * cost for count, cost in zip(units, costs)) <= max(budget, floors) * (1 + 1e-9)
    assert units == planning.allocate(costs, budget, sizes=sizes, floor=floor, noise=0.1)


@pytest.mark.parametrize("growth", [0, 1, 2])
@pytest.mark.parametrize("correction", [None, 1.0])
def test_allotment_beats_equal_draws(growth: int, correction: float | None) -> None:
    costs = [(size / 16) ** growth for size in SIZES]
    budget = 1e6
    units = planning.allocate(costs, budget, sizes=SIZES, correction=correction)
    assert sum(count * cost for count, cost in zip(units, costs)) > 0.99 * budget
    equal = planning.stderr_of_exponent(SIZES, budget / sum(costs), correction=correction)
    assert planning.stderr_of_exponent(SIZES, units, correction=correction) < (0.85 if growth else 1.0) * equal


@pytest.mark.parametrize("amplitude", [0.1, 2.0])
def test_allotment_is_the_best_there_is_but_for_the_share_that_tests_the_fit(amplitude: float) -> None:
    """Against scipy's minimiser of the reach over all allotments of the same cost; the share is 3%."""
    costs = np.array([2.0 * size for size in SIZES])
    budget = 1e7
    experiment = planning.Experiment.of(SIZES, correction=1.0, amplitude=amplitude)

    def reach(units: Sequence[float]) -> float:
        return experiment.error(units).decision_reach(0.025)

    def scaled(logs: np.ndarray) -> float:
        units = np.exp(logs - logs.max())
        return reach(list(units * budget / float(units @ costs)))

    starts = [np.zeros(len(SIZES)), -0.5 * np.log(costs)]
    found = [scipy.optimize.minimize(scaled, start, method="Nelder-Mead", options={"maxfev": 1500}) for start in starts]
    units = planning.allocate(list(costs), budget, sizes=SIZES, correction=1.0, amplitude=amplitude)
    # The share costs at most 1.5% of the noise; as much is left for an iteration that stops at 1%.
    assert reach([float(count) for count in units]) < 1.03 * min(result.fun for result in found)
    even = planning.allocate(list(costs), budget)
    assert all(count >= 0.029 * other for count, other in zip(units, even))


def test_allotment_goes_on_from_what_was_drawn() -> None:
    """What is there stays, the money left goes where it counts, and noise counts."""
    costs, sizes = [1.0, 2.0, 4.0, 8.0, 16.0], [16, 32, 64, 128, 256]
    first = planning.allocate(costs, 1e4, sizes=sizes)
    more = planning.allocate(costs, 2e4, sizes=sizes, floor=first)
    assert all(later >= earlier for earlier, later in zip(first, more))
    assert 1.98e4 < sum(count * cost for count, cost in zip(more, costs)) <= 2e4
    # Without sizes n_i ~ noise_i/sqrt(cost_i): costs 1 and 4, noises 1 and 2, so equal draws, 2000 of each for 10000.
    assert planning.allocate([1.0, 4.0], 1e4, noise=[1.0, 2.0]) == [2000, 2000]
    assert planning.allocate([1.0, 4.0], 1e4, noise=[1.0, 2.0], floor=[6000, 1]) == [6000, 1000]


def test_allotment_refuses_nonsense() -> None:
    for costs, budget in (([1.0, 0.0], 10.0), ([1.0, math.inf], 10.0), ([1.0], 0.0), ([1.0], math.nan)):
        with pytest.raises(ValueError, match="must be"):
            planning.allocate(costs, budget)
    with pytest.raises(ValueError, match="one per size"):
        planning.allocate([1.0, 2.0], 10.0, floor=[1.0])


@given(st.floats(2, 8), st.floats(0.5, 0.99), st.sampled_from([None, 0.5, 1.0]), st.floats(0.5, 5))
@settings(max_examples=30)
def test_budget_and_violation_are_inverse(log_draws: float, power: float, correction: float | None, noise: float) -> None:
    draws = 10**log_draws
    options = {"noise": noise, "power": power, "correction": correction}
    seen = planning.violation_seen(CONTRACT, SIZES, draws, **options)  # type: ignore[arg-type]
    assert seen > CONTRACT.within
    assert planning.draws_needed(CONTRACT, SIZES, seen, **options) == pytest.approx(draws, rel=1e-6)  # type: ignore[arg-type]
    assert planning.violation_seen(CONTRACT, SIZES, 4 * draws, **options) < seen  # type: ignore[arg-type]


def test_what_no_budget_can_see() -> None:
    assert math.isinf(planning.draws_needed(CONTRACT, SIZES, 0.05))  # less than `within`
    assert math.isinf(planning.draws_needed(CONTRACT, (4, 8, 16), 0.11))
    assert math.isinf(planning.violation_seen(CONTRACT, (16, 32), 1e9))
    hopeless = planning.plan(CONTRACT, (4, 8, 16), 1e9)
    assert not hopeless.hopeful
    assert "no number of draws on these sizes" in hopeless.sentence
    few = planning.plan(CONTRACT, SIZES, 100)
    assert not few.hopeful
    assert "too few" in few.sentence
    assert planning.plan(CONTRACT, SIZES, 1.01 * few.draws_to_support).hopeful


CORNERS = [(0.0, 0.0, 1.0), *((b, c, w) for b in (-2.0, 2.0) for c in (-2.0, 0.0, 2.0) for w in (0.5, 1.0))]


def verdicts(exponent: float, corner: tuple[float, float, float], draws: float, contract: Contract, repeats: int) -> list[Verdict]:
    """Judge ``repeats`` samples of d**exponent (1 + B d**-w + B2 d**-2w), relative noise 1 per draw, against the bound 1/d."""
    b, c, w = corner
    rng = np.random.default_rng(12)
    relative, found = draws**-0.5, []
    claim = Prediction(Kind.BOUND, "Q", base="d", rate="1/d")
    truth = {d: float(d) ** exponent * (1 + b * d**-w + c * d ** (-2 * w)) for d in SIZES}
    for _ in range(repeats):
        values = [(d, truth[d] * (1 + relative * rng.standard_normal())) for d in SIZES]
        points = [Point({"d": d}, Estimate(value, relative * truth[d], int(draws))) for d, value in values]
        found.append(judge(claim, points, contract, final=False).verdict)
    return found


@pytest.mark.parametrize("corner", CORNERS)
def test_a_violation_that_planning_says_is_seen_is_refuted_at_every_corner(corner: tuple[float, float, float]) -> None:
    """90% with the confirmation, so 95% by itself; 60 repeats may miss 8 (P(Binomial(60, .05) > 8) = 0.4% at the worst corner)."""
    contract, violation = Contract(within=0.1), 0.25
    needed = planning.draws_needed(contract, SIZES, violation)
    assert verdicts(-1.0 + violation, corner, needed, contract, 60).count(Verdict.REFUTED) >= 52


@pytest.mark.parametrize("corner", CORNERS)
def test_a_true_bound_is_supported_at_every_corner(corner: tuple[float, float, float]) -> None:
    """60 repeats at 90% support 46 or more (P(Binomial(60, .9) < 46) = 0.2%)."""
    contract = Contract(within=0.1)
    found = verdicts(-1.0, corner, planning.draws_to_support(contract, SIZES), contract, 60)
    assert found.count(Verdict.SUPPORTED) >= 46
    assert found.count(Verdict.REFUTED) == 0


def test_far_fewer_draws_do_not_support() -> None:
    """The check above can fail: where the limit is beyond `within` for an unbiased estimate, half of them stay open."""
    contract = Contract(within=0.1)
    experiment = planning.Experiment.of(SIZES)
    draws = 100.0
    assert experiment.error(draws).decision_reach(contract.false_support_rate) > contract.within
    # At most half at B = 0: P(Binomial(60, 1/2) > 42) = 0.1%.
    assert verdicts(-1.0, CORNERS[0], draws, contract, 60).count(Verdict.SUPPORTED) <= 42
