"""planning: shares, looks that are paid for, and Holm's step-down, whose family-wise error is measured over many sessions."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal

import numpy as np
import pytest
import scipy.special
from hypothesis import given
from hypothesis import strategies as st

from theoryck import planning
from theoryck.judging.evidence import Series
from theoryck.judging.ratios import error_if
from theoryck.records import Contract

CONTRACT = Contract()


def test_a_share_is_the_rate_over_the_number() -> None:
    assert planning.share(0.01, 4) == 0.0025
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


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0.1, 4)), min_size=1, max_size=5), st.floats(0.001, 0.2))
def test_weighted_step_down_is_the_closed_test_of_weighted_bonferroni(entries: list[tuple[float, float]], rate: float) -> None:
    p_values, weights = [entry[0] for entry in entries], [entry[1] for entry in entries]
    rejected = [False] * len(entries)
    while True:
        rates = planning.holm_rates(rate, weights, rejected)
        found = [p <= allowed for p, allowed in zip(p_values, rates)]
        if found == rejected:
            break
        rejected = found
    everything = range(len(entries))
    for index in everything:
        subsets = [subset for size in everything for subset in itertools.combinations(everything, size + 1) if index in subset]
        # 1e-9: sums of weights in another order
        least = [min(p_values[i] / (rate * weights[i] / sum(weights[j] for j in subset)) for i in subset) for subset in subsets]
        if rejected[index]:
            assert max(least) <= 1 + 1e-9
        else:
            assert max(least) > 1 - 1e-9


def test_holm_refuses_what_is_not_a_probability() -> None:
    with pytest.raises(ValueError, match=r"p_values\[1\] = 1.5"):
        planning.holm([0.1, 1.5], 0.05)
    with pytest.raises(ValueError, match=r"weights\[1\] = 0 must be positive"):
        planning.holm_rates(0.05, [1, 0], [False, False])
    with pytest.raises(ValueError, match="same length"):
        planning.holm_rates(0.05, [1], [False, False])


def test_hypotheses_that_are_not_listed_keep_their_share() -> None:
    assert planning.holm_rates(0.06, [1.0, 1.0], [True, False], others=2.0)[1] == pytest.approx(0.02)


SESSIONS = 20_000
RATE = 0.05


def paths(rng: np.random.Generator, hypotheses: int, fractions: np.ndarray, correlation: float) -> np.ndarray:
    """z-values (sessions, hypotheses, looks) of Brownian motions looked at after ``fractions``, correlated equally or in pairs."""
    steps = np.diff([0.0, *fractions])
    own = rng.standard_normal((SESSIONS, hypotheses, len(fractions)))
    if correlation < 0:  # neighbours move against each other
        own[:, 1::2] = -own[:, 0::2]
    else:
        shared = rng.standard_normal((SESSIONS, 1, len(fractions)))
        own = math.sqrt(correlation) * shared + math.sqrt(1 - correlation) * own
    return np.asarray(np.cumsum(own * np.sqrt(steps), axis=2) / np.sqrt(fractions))


def stepped_down(z: np.ndarray, spent: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """What check does, for all sessions: rejection at any look at the equal shares, then at the last look at larger ones."""
    tails = 0.5 * scipy.special.erfc(z / math.sqrt(2))
    rejected = (tails <= RATE * weights[:, None] / weights.sum() * spent).any(axis=2)
    while True:
        patterns, where = np.unique(rejected, axis=0, return_inverse=True)
        rates = np.array([planning.holm_rates(RATE, list(weights), list(pattern)) for pattern in patterns])[where.ravel()]
        found = rejected | (tails[:, :, -1] <= rates * spent[-1])
        if (found == rejected).all():
            return rejected
        rejected = found


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.95, -1.0])
@pytest.mark.parametrize("false", [0, 1, 3])
def test_false_refutations_over_sessions_stay_below_the_declared_rate(correlation: float, false: int) -> None:
    """Four statements, ``false`` of them wrong, four looks: P(any true one is refuted) <= 5%, to three binomial errors."""
    rng = np.random.default_rng(31)
    fractions = np.array([1 / 8, 1 / 4, 1 / 2, 1.0])
    contract = Contract(false_refute_rate=RATE)
    spent = np.array([look.contract.false_refute_rate / RATE for look in planning.looks(contract, list(fractions))])
    weights = np.array([1.0, 1.0, 0.5, 0.5])
    z = paths(rng, 4, fractions, correlation)
    z[:, :false] += 4.0 * np.sqrt(fractions)
    rejected = stepped_down(z, spent, weights)
    wrong = rejected[:, false:].any(axis=1).mean()
    assert wrong <= RATE + 3 * math.sqrt(RATE * (1 - RATE) / SESSIONS)
    if false:  # and more is refuted than at the equal shares
        tails = 0.5 * scipy.special.erfc(z / math.sqrt(2))
        bonferroni = (tails <= RATE * weights[:, None] / weights.sum() * spent).any(axis=2)
        assert (rejected >= bonferroni).all()
        assert rejected[:, :false].sum() > bonferroni[:, :false].sum() or false == 1


def test_shares_that_are_not_divided_fail_the_same_check() -> None:
    rng = np.random.default_rng(32)
    z = paths(rng, 4, np.array([0.25, 1.0]), 0.0)
    tails = 0.5 * scipy.special.erfc(z / math.sqrt(2))
    assert (tails[:, :, -1] <= RATE).any(axis=1).mean() > 0.15  # 1 - 0.95^4 = 0.185


@given(st.lists(st.floats(0.01, 0.99), max_size=5, unique=True), st.floats(0.2, 3))
def test_looks_spend_exactly_what_was_declared(fractions: list[float], power: float) -> None:
    steps = [0.0, *sorted(fractions), 1.0]
    if any(later**power <= earlier**power for earlier, later in itertools.pairwise(steps)):  # neighbours among floats
        with pytest.raises(ValueError, match="fractions must lie further apart"):
            planning.looks(CONTRACT, steps[1:], power=power)
        return
    schedule = planning.looks(CONTRACT, [*sorted(fractions), 1.0], power=power)
    assert sum(look.contract.false_refute_rate for look in schedule) == pytest.approx(CONTRACT.false_refute_rate, rel=1e-12)
    assert sum(look.contract.false_support_rate for look in schedule) == pytest.approx(CONTRACT.false_support_rate, rel=1e-12)
    assert [look.fraction for look in schedule] == [*sorted(fractions), 1.0]
    assert all(look.contract.within == CONTRACT.within for look in schedule)


def test_looks_that_touch_are_refused() -> None:
    with pytest.raises(ValueError, match=r"fractions must lie further apart, got 0.01 and 0.010000000000000002"):
        planning.looks(CONTRACT, [0.01, 0.010000000000000002, 1.0], power=0.5)


@pytest.mark.parametrize("fractions", [[], [0.5], [0.5, 0.25, 1.0], [0.0, 1.0], [0.5, 1.0, 2.0]])
def test_looks_refuse_a_schedule_that_does_not_increase_to_one(fractions: list[float]) -> None:
    with pytest.raises(ValueError, match="fractions must increase and end at 1"):
        planning.looks(CONTRACT, fractions)


def test_false_refutations_over_looks_stay_below_the_declared_rate() -> None:
    """A true null looked at four times: without paying, 5% becomes more than 10%; with the schedule it stays below 5%."""
    rng = np.random.default_rng(8)
    contract = Contract(false_refute_rate=0.05)
    fractions = (1 / 64, 1 / 16, 1 / 4, 1.0)
    z = paths(rng, 1, np.array(fractions), 0.0)[:, 0]
    levels = [look.contract.false_refute_rate for look in planning.looks(contract, fractions)]
    tails = 0.5 * scipy.special.erfc(z / math.sqrt(2))
    assert (tails <= levels).any(axis=1).mean() < 0.05 + 3 * math.sqrt(0.05 * 0.95 / SESSIONS)
    assert (tails <= 0.05).any(axis=1).mean() > 0.1


def test_errors_beyond_the_square_of_floats_overflow_nothing() -> None:
    sizes = (16, 32, 64, 128, 256)
    values = tuple(Decimal(1) / d for d in sizes)

    def error(relative):
        series = Series("montecarlo", tuple({"d": d} for d in sizes), values, tuple(Decimal(relative) * v for v in values), draws=9)
        return error_if(series, "d", [-math.log(d) for d in sizes], 0.5, correction=1.0, amplitude=None)(1.0).stderr

    # Errors under 1e-15 are counted as 1e-15, so that all of them say the same, bit for bit.
    assert error("1e-200") == error("1e-20")
    assert error("1e-2") != error("1e-20")
