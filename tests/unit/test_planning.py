"""planning: shares, Holm, looks, allotment, and the round trip between budget and violation."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theoryck import planning
from theoryck.judge import judge
from theoryck.rates import doubling
from theoryck.records import Contract, Estimate, Kind, Point, Prediction, Verdict

SIZES = doubling(16, 1024)
CONTRACT = Contract()


def test_shares_sum_to_the_rate() -> None:
    shares = planning.share_over(0.01, {"a": 1, "b": 5, "c": 30})
    assert math.isclose(shares["a"] + 5 * shares["b"] + 30 * shares["c"], 0.01)
    assert planning.share(0.01, 1) == 0.01
    for rate, among in ((0.0, 1), (1.0, 1), (0.1, 0)):
        with pytest.raises(ValueError, match=r"must (lie strictly between|be at least 1)"):
            planning.share(rate, among)


@given(st.lists(st.floats(0, 1), max_size=6), st.floats(0.001, 0.2))
def test_holm_is_the_closed_test_of_bonferroni(p_values: list[float], rate: float) -> None:
    """A hypothesis is rejected if and only if Bonferroni rejects every intersection that contains it: brute force over subsets."""
    found = planning.holm(p_values, rate)
    everything = range(len(p_values))
    for index in everything:
        subsets = (subset for size in everything for subset in itertools.combinations(everything, size + 1) if index in subset)
        assert found[index] == all(min(p_values[i] for i in subset) <= rate / len(subset) for subset in subsets)


def test_holm_refuses_what_is_not_a_probability() -> None:
    with pytest.raises(ValueError, match=r"p_values\[1\] = 1.5"):
        planning.holm([0.1, 1.5], 0.05)


@given(st.lists(st.floats(0.01, 0.99), max_size=5, unique=True), st.floats(0.2, 3))
def test_looks_spend_exactly_what_was_declared(fractions: list[float], power: float) -> None:
    schedule = planning.looks(CONTRACT, [*sorted(fractions), 1.0], power=power)
    assert sum(look.contract.false_refute_rate for look in schedule) == pytest.approx(CONTRACT.false_refute_rate, rel=1e-12)
    assert sum(look.contract.false_support_rate for look in schedule) == pytest.approx(CONTRACT.false_support_rate, rel=1e-12)
    assert [look.fraction for look in schedule] == [*sorted(fractions), 1.0]
    assert all(look.contract.within == CONTRACT.within for look in schedule)


@pytest.mark.parametrize("fractions", [[], [0.5], [0.5, 0.25, 1.0], [0.0, 1.0], [0.5, 1.0, 2.0]])
def test_looks_refuse_a_schedule_that_does_not_increase_to_one(fractions: list[float]) -> None:
    with pytest.raises(ValueError, match="fractions must increase and end at 1"):
        planning.looks(CONTRACT, fractions)


def test_false_refutations_over_looks_stay_below_the_declared_rate() -> None:
    """A true null looked at four times: without paying, 5% becomes more than 10%; with the schedule it stays below 5%."""
    rng = np.random.default_rng(8)
    contract = Contract(false_refute_rate=0.05)
    fractions = (1 / 64, 1 / 16, 1 / 4, 1.0)
    steps = np.diff([0.0, *fractions])
    paths = np.cumsum(rng.standard_normal((20_000, 4)) * np.sqrt(steps), axis=1) / np.sqrt(fractions)
    levels = [look.contract.false_refute_rate for look in planning.looks(contract, fractions)]
    thresholds = [float(np.sqrt(2) * _erfcinv(2 * level)) for level in levels]
    paid = (paths > thresholds).any(axis=1).mean()
    unpaid = (paths > float(np.sqrt(2) * _erfcinv(0.1))).any(axis=1).mean()
    assert paid < 0.05 + 3 * math.sqrt(0.05 * 0.95 / 20_000)
    assert unpaid > 0.1


def _erfcinv(value: float) -> float:
    import scipy.special

    return float(scipy.special.erfcinv(value))


@given(
    st.lists(st.floats(0.01, 1e4), min_size=1, max_size=9),
    st.floats(1, 1e9),
    st.booleans(),
    st.floats(1, 50),
)
@settings(max_examples=40, deadline=None)
def test_allotment_respects_budget_floor_and_powers_of_two(costs: list[float], budget: float, informed: bool, floor: float) -> None:
    sizes = [16 << index for index in range(len(costs))] if informed else None
    units = planning.allocate(costs, budget, sizes=sizes, floor=floor, noise=0.1)
    assert all(count & (count - 1) == 0 and count >= floor for count in units)
    floors = sum(2 ** math.ceil(math.log2(floor)) * cost for cost in costs)
    assert sum(count * cost for count, cost in zip(units, costs)) <= max(budget, floors) * (1 + 1e-9)
    assert units == planning.allocate(costs, budget, sizes=sizes, floor=floor, noise=0.1)


@pytest.mark.parametrize("growth", [0, 1, 2])
def test_allotment_beats_equal_draws(growth: int) -> None:
    costs = [(size / 16) ** growth for size in SIZES]
    budget = 1e6
    units = planning.allocate(costs, budget, sizes=SIZES)
    assert sum(units[index] * cost for index, cost in enumerate(costs)) > 0.5 * budget  # rounding to powers of two
    equal = planning.stderr_of_exponent(SIZES, budget / sum(costs))
    assert planning.stderr_of_exponent(SIZES, units) < equal * (1.1 if growth == 0 else 1.0)


def test_allotment_refuses_nonsense() -> None:
    for costs, budget in (([1.0, 0.0], 10.0), ([1.0, math.inf], 10.0), ([1.0], 0.0), ([1.0], math.nan)):
        with pytest.raises(ValueError, match="must be"):
            planning.allocate(costs, budget)
    with pytest.raises(ValueError, match="one per size"):
        planning.allocate([1.0, 2.0], 10.0, floor=[1.0])


@given(st.floats(2, 8), st.floats(0.5, 0.99), st.sampled_from([None, 0.5, 1.0]), st.floats(0.5, 5))
@settings(max_examples=30, deadline=None)
def test_budget_and_violation_are_inverse(log_draws: float, power: float, correction: float | None, noise: float) -> None:
    draws = 10**log_draws
    options = {"noise": noise, "power": power, "correction": correction}
    seen = planning.violation_seen(CONTRACT, SIZES, draws, **options)  # type: ignore[arg-type]
    assert seen > CONTRACT.within
    assert planning.draws_needed(CONTRACT, SIZES, seen, **options) == pytest.approx(draws, rel=1e-4)  # type: ignore[arg-type]
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


def test_plans_come_true() -> None:
    """At the draws that planning names, a violation is refuted and a true bound supported as often as it says."""
    rng = np.random.default_rng(12)
    contract = Contract(within=0.1)
    claim = Prediction(Kind.BOUND, "Q", base="d", rate="1/d", correction=1.0, amplitude=0.1)
    options = {"correction": 1.0, "amplitude": 0.1, "power": 0.9}
    needed = planning.draws_needed(contract, SIZES, 0.2, **options)  # type: ignore[arg-type]
    repeats = 150
    slack = 3 * math.sqrt(0.9 * 0.1 / repeats)

    def verdicts(exponent: float, draws: float) -> list[Verdict]:
        found = []
        for _ in range(repeats):
            relative = draws**-0.5
            values = [(d, float(d) ** exponent * (1 + relative * rng.standard_normal())) for d in SIZES]
            points = [Point({"d": d}, Estimate(value, relative * float(d) ** exponent, int(draws))) for d, value in values]
            found.append(judge(claim, points, contract, final=False).verdict)
        return found

    assert verdicts(-0.8, needed).count(Verdict.REFUTED) > (0.9 - slack) * repeats
    supporting = planning.draws_to_support(contract, SIZES, **options)  # type: ignore[arg-type]
    true = verdicts(-1.0, supporting)
    assert true.count(Verdict.SUPPORTED) > (0.9 - slack) * repeats
    assert true.count(Verdict.REFUTED) == 0
