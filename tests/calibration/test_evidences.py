"""Identities of Bayesian evidences keep the declared error rates: a sample of ``--part evidence``."""

from __future__ import annotations

import numpy as np
import pytest

from tests.calibration.evidences import Evidence, ends, judged, weights
from tests.calibration.tallies import Tally, at_least, at_most
from theoryck.records import Contract, Estimate, Point, Verdict

CONTRACT = Contract(false_refute_rate=1e-2, false_support_rate=0.025, within=0.05)
CASES = [(source, 1000, 150) for source in weights()] + [(source, 100, 40) for source in ends()]


def together(excess: float) -> tuple[Tally, Tally]:
    """Refutations that were confirmed, and supports, of all sources."""
    refuted, supported = Tally(0, 0), Tally(0, 0)
    for seed, (source, draws, repeats) in enumerate(CASES):
        found = judged(source, excess, draws, repeats, CONTRACT, seed)
        refuted, supported = refuted + found.refuted, supported + found.first[Verdict.SUPPORTED]
    return refuted, supported


def test_true_identities_are_not_refuted_and_most_are_supported() -> None:
    refuted, supported = together(0.0)
    assert refuted.hits <= at_most(refuted.trials, CONTRACT.false_refute_rate)
    # Nothing is supported by samples of skewness 9 and more, a quarter of all trials; the others tolerate five standard errors.
    assert supported.hits > supported.trials // 2


@pytest.mark.parametrize("excess", [1.0, -1.0])
def test_identities_that_are_off_by_what_is_tolerated_are_not_supported(excess: float) -> None:
    """Either way: means of skewed weights are too small more often than too large."""
    _, supported = together(excess)
    assert supported.hits <= at_most(supported.trials, CONTRACT.false_support_rate)


def test_off_by_what_is_tolerated_is_refuted_with_moderate_weights() -> None:
    found = judged(weights()[0], 1.0, 1000, 100, CONTRACT, 3).refuted
    assert found.hits >= at_least(100, 0.9)


def test_weights_whose_skewness_is_not_looked_at_refute_what_is_true() -> None:
    """The rival: most samples of 1000 weights miss the few that carry the mean, and take their scatter for its error."""

    class Naive(Evidence):
        def point(self, rng: np.random.Generator, draws: int) -> Point:
            made = self.draw(rng, draws)
            return Point({}, Estimate(float(made.mean()), float(made.std(ddof=1)) / draws**0.5, draws))

    last = weights()[-1]
    naive = Naive(last.name, last.quantity, last.width, last.value)
    # Eight in a hundred: five of the errors of 800 trials above what is declared.
    assert judged(naive, 0.0, 1000, 800, CONTRACT, 3).first[Verdict.REFUTED].hits > at_most(800, CONTRACT.false_refute_rate)
