"""Verdicts keep the error rates they declare: a subset of ``python -m tests.calibration.table`` that takes a minute.

Every assertion that a share is at most (at least) what was declared allows the quantile of the binomial law that chance exceeds
once in 1e6; the companions show a rival that fails the same check by far.
"""

from __future__ import annotations

import dataclasses
import math
from statistics import NormalDist

import numpy as np
import pytest

from tests.calibration.claims import (
    ALL_LOOKS,
    HARD,
    LOOKS,
    NEAR_MISSES,
    ONE_LOOK,
    Claim,
    count,
    random_claims,
    refutations,
    session,
    wrong_claims,
)
from tests.calibration.draws import NOISES, STD, bank
from tests.calibration.simulator import SIZES, Truth, naive_fitter
from tests.calibration.tallies import at_least, at_most
from theoryck import planning
from theoryck.records import Contract, Kind, Verdict

BLOCKS = 10_000  # of 1000 draws each, in the bank that all means are made of
DECLARED = Contract(false_refute_rate=1e-2, false_support_rate=0.025, within=0.05)


def test_true_claims_are_not_refuted() -> None:
    """Bounds and scalings, of any truth, noise and budget, at every look; the first verdict, before any confirmation."""
    number = 120
    found = count(random_claims(number, 41), DECLARED, 41, fractions=LOOKS, blocks=BLOCKS)
    assert found.tally(Verdict.REFUTED, confirmed=False).hits <= at_most(number, DECLARED.false_refute_rate)
    assert found.tally(Verdict.REFUTED).hits <= found.tally(Verdict.REFUTED, confirmed=False).hits
    # The check is about something: half of the claims at least are decided.
    assert found.tally(Verdict.SUPPORTED).hits > number // 4


def test_refutations_by_the_thousand_are_those_of_the_judge() -> None:
    """Many fits at once only leave out looks at which the judge refutes nothing: the same claims fall, wrong ones all of them."""
    wrong = random_claims(30, 52, excess=0.3)
    first, confirmed = refutations(wrong, DECLARED, 52, blocks=BLOCKS)
    assert first.hits == count(wrong, DECLARED, 52, blocks=BLOCKS).tally(Verdict.REFUTED, confirmed=False).hits
    assert first.hits >= confirmed.hits > 20
    number = 1000
    first, confirmed = refutations(random_claims(number, 53), DECLARED, 53, blocks=BLOCKS)
    assert first.hits <= at_most(number, DECLARED.false_refute_rate)


@pytest.mark.parametrize("kind", [Kind.BOUND, Kind.SCALING])
def test_claims_at_the_edge_of_the_tolerance_are_neither_refuted_nor_supported(kind: Kind) -> None:
    """Wrong by exactly ``within``: both error rates are exhausted there, if anywhere."""
    number = 150
    found = count(random_claims(number, 42, excess=0.05, kinds=(kind,)), DECLARED, 42, fractions=LOOKS, blocks=BLOCKS)
    assert found.tally(Verdict.REFUTED).hits <= at_most(number, DECLARED.false_refute_rate)
    assert found.tally(Verdict.SUPPORTED).hits <= at_most(number, DECLARED.false_support_rate)


def test_a_judge_that_tolerates_nothing_refutes_what_is_wrong_by_the_tolerance() -> None:
    """The rival: the same claims wrong by 0.05, judged with a tolerance of 1e-6, are refuted far more often than 1e-2."""
    claims = [Claim(Truth(-0.45, 0.0, 0.0, 0.5), -0.5, "gaussian", 1_000_000)] * 30
    strict = dataclasses.replace(DECLARED, within=1e-6)
    assert count(claims, strict, 43, fractions=ONE_LOOK, blocks=BLOCKS).tally(Verdict.REFUTED).hits > at_most(30, 0.1)
    assert count(claims, DECLARED, 43, fractions=ONE_LOOK, blocks=BLOCKS).tally(Verdict.REFUTED).hits <= at_most(30, 1e-2)


@pytest.mark.parametrize("times", [1, 2])
def test_bounds_that_are_wrong_are_not_supported(times: int) -> None:
    """Wrong by ``within`` and by twice that, at the truths that are hardest on a fit, with draws that would support a true one."""
    claims = [
        claim
        for noise in NOISES
        for draws in (100_000, 1_000_000)
        for claim in wrong_claims(times * DECLARED.within, draws, noise, 8, HARD)
    ]
    found = count(claims, DECLARED, 44, fractions=ONE_LOOK, blocks=BLOCKS)
    assert found.tally(Verdict.SUPPORTED).hits <= at_most(len(claims), DECLARED.false_support_rate)


def test_a_fit_without_corrections_supports_bounds_that_are_wrong() -> None:
    """The rival: a straight line through d^-0.35 (1 - 2 d^-1/2 + ...) or its like is sure of a wrong exponent.

    (1 + 2 u + 2 u^2) falls with d, so that its slope is steeper than its exponent: d^(-0.45) times it looks faster than d^(-1/2).
    """
    truth, supported = Truth(-0.5 + DECLARED.within, 2.0, 2.0, 0.5), 0
    rng = np.random.default_rng(45)
    for _ in range(50):
        found = bank("gaussian", BLOCKS).means(rng, (len(SIZES),), 1_000_000)
        curve = truth(SIZES)
        supported += naive_fitter(SIZES, curve * found.values, curve * found.stderrs)[1] <= -0.5 + DECLARED.within
    assert supported == 50  # its textbook 97.5% limit lies below the truth every time; at most 2.5% is what it declares


@pytest.mark.parametrize(
    ("correction", "noise", "corner"), [(None, "gaussian", (0.5, -2.0, -2.0)), (1.0, "lognormal", (1.0, 2.0, -2.0))]
)
def test_what_planning_says_a_budget_can_see_is_refuted(
    correction: float | None, noise: str, corner: tuple[float, float, float]
) -> None:
    """Wrong by 0.15, with the draws that planning asks for: refuted and confirmed nine times in ten, at the worst corner and noise.

    The corner is the one with the fewest refutations in ``python -m tests.calibration.table``; no other is pooled with it.
    """
    contract, number = Contract(1e-3, 0.025, 0.05), 400
    last = planning.looks(contract, ALL_LOOKS)[-1].contract
    draws = planning.draws_needed(last, [int(d) for d in SIZES], 0.15, noise=STD[noise], correction=correction)
    power, first, second = corner
    claim = Claim(Truth(-0.35, first, second, power), -0.5, noise, math.ceil(draws), correction=correction)
    found = count([claim] * number, contract, 46, fractions=ALL_LOOKS, blocks=BLOCKS).tally(Verdict.REFUTED)
    # Chance takes a share of 0.9 below this bound, 0.85, once in 1000; a power of 0.84 falls below it two times in three.
    assert found.hits >= at_least(number, 0.9, 1e-3)


def test_a_tenth_of_these_draws_sees_nothing() -> None:
    """The companion: power is not free, so that the test above could fail."""
    last = planning.looks(Contract(1e-3, 0.025, 0.05), ALL_LOOKS)[-1].contract
    draws = planning.draws_needed(last, [int(d) for d in SIZES], 0.15)
    claims = wrong_claims(0.15, math.ceil(draws / 10), "gaussian", 5, HARD)
    found = count(claims, Contract(1e-3, 0.025, 0.05), 47, fractions=ONE_LOOK, blocks=BLOCKS).tally(Verdict.REFUTED)
    assert found.hits < at_least(len(claims), 0.9)


@pytest.mark.parametrize("name", list(NEAR_MISSES))
def test_laws_next_to_the_claimed_one_are_not_taken_for_it(name: str) -> None:
    """sqrt(log d / d) and d^-0.45 (1 + 2 d^-1/2) against d^(-1/2), for every number of draws and at every look."""
    claims = [
        Claim(NEAR_MISSES[name], -0.5, noise, draws)
        for noise in NOISES
        for draws in (1_000, 10_000, 100_000, 1_000_000)
        for _ in range(6)
    ]
    found = count(claims, DECLARED, 48, fractions=LOOKS, blocks=BLOCKS).tally(Verdict.SUPPORTED)
    assert found.hits <= at_most(len(claims), DECLARED.false_support_rate)


def test_the_law_that_is_claimed_is_supported_on_the_same_draws() -> None:
    """The companion: d^(-1/2) itself is supported, so that the near misses above are not undecided for want of draws."""
    claims = [Claim(Truth(-0.5, 0.0, 0.0, 0.5), -0.5, noise, 1_000_000) for noise in NOISES for _ in range(6)]
    found = count(claims, DECLARED, 49, fractions=LOOKS, blocks=BLOCKS).tally(Verdict.SUPPORTED)
    assert found.hits >= at_least(len(claims), 0.9)


def test_looks_that_are_not_paid_for_break_what_was_declared() -> None:
    """The rival of alpha spending: N(0, 1) means looked at 9 times at 1e-2 each, not sharing it, refute too often."""
    rng, repeats, contract = np.random.default_rng(50), 20_000, Contract(1e-2)
    total, drawn, free, paid = np.zeros(repeats), 0.0, np.zeros(repeats, bool), np.zeros(repeats, bool)
    for look in planning.looks(contract, ALL_LOOKS):
        total += math.sqrt(look.fraction - drawn) * rng.standard_normal(repeats)
        drawn = look.fraction
        z = total / math.sqrt(drawn)
        free |= z > NormalDist().inv_cdf(1 - contract.false_refute_rate)
        paid |= z > NormalDist().inv_cdf(1 - look.contract.false_refute_rate)
    assert paid.sum() <= at_most(repeats, contract.false_refute_rate)
    assert free.sum() > at_most(repeats, 2 * contract.false_refute_rate)


def test_holm_keeps_the_rate_of_a_session_with_wrong_claims_in_it() -> None:
    """Four true, tight claims beside four wrong ones: these fall, and what they leave to the others refutes none of them."""
    sessions, fallen, refuted = 4, 0, 0
    for number in range(sessions):
        true = random_claims(4, 60 + number, excess=0.0)
        found = session([*true, *wrong_claims(0.5, 100_000, "gaussian", 1, HARD[:4])], DECLARED, 60 + number, blocks=BLOCKS)
        refuted += any(one.first is Verdict.REFUTED for one in found[:4])
        fallen += sum(one.reported is Verdict.REFUTED for one in found[4:])
    assert refuted <= at_most(sessions, DECLARED.false_refute_rate)
    assert fallen >= at_least(4 * sessions, 0.9)


def test_a_session_that_does_not_share_its_rate_breaks_it() -> None:
    """The rival of sharing: twenty true hypotheses, each tested at 1e-2; some one is rejected in 18% of sessions."""
    z = np.random.default_rng(51).standard_normal((5000, 20)).max(axis=1)
    limits = [NormalDist().inv_cdf(1 - rate) for rate in (planning.share(1e-2, 20), 1e-2)]
    assert (z > limits[0]).sum() <= at_most(5000, 1e-2)
    assert (z > limits[1]).sum() > at_most(5000, 1e-1)
