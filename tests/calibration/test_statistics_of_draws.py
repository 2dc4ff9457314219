"""Claims about medians, quantiles, variances and probabilities keep the declared error rates: a sample of ``--part statistics``."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tests.calibration.statistics_of_draws import SOURCES, Source, coverage, judged
from tests.calibration.tallies import Tally, at_least, at_most
from theoryck.records import Contract, Estimate, Verdict

CONTRACT = Contract(false_refute_rate=1e-2, false_support_rate=0.025, within=0.15)
NAMES = [f"{source.statistic}, {source.name}" for source in SOURCES]


@pytest.mark.parametrize("source", SOURCES, ids=NAMES)
def test_intervals_cover(source: Source) -> None:
    repeats = 300
    assert coverage(source, 2000, repeats, 0).every.hits >= at_least(repeats, 0.93)


@pytest.mark.parametrize("excess", [0.0, CONTRACT.within])
def test_scalings_are_refuted_and_supported_as_declared(excess: float) -> None:
    """True, and wrong by exactly what is tolerated: no more are refuted than declared, and of the wrong ones supported."""
    refuted, supported = Tally(0, 0), Tally(0, 0)
    for seed, source in enumerate(SOURCES):
        found = judged(source, excess, 4000, 15, CONTRACT, seed)
        refuted, supported = refuted + found[Verdict.REFUTED], supported + found[Verdict.SUPPORTED]
    assert refuted.hits <= at_most(refuted.trials, CONTRACT.false_refute_rate)
    if excess:
        assert supported.hits <= at_most(supported.trials, CONTRACT.false_support_rate)
    else:
        assert supported.hits > supported.trials // 2  # the check is about something


def test_what_is_far_off_falls() -> None:
    far = [judged(source, 1.0, 4000, 10, CONTRACT, 3)[Verdict.REFUTED] for source in SOURCES if source.name != "rare coin"]
    assert sum(tally.hits for tally in far) > 0.9 * sum(tally.trials for tally in far)


def test_the_error_of_a_mean_fails_the_same_check() -> None:
    """The rival takes the scale of the draws over the root of their number, as if the median were a mean."""

    @dataclasses.dataclass(frozen=True)
    class Naive(Source):
        def estimate(self, rng: np.random.Generator, draws: int, value: float) -> Estimate:
            return Estimate(super().estimate(rng, draws, value).value, 0.5 * value / draws**0.5, draws)

    # The median of n draws value (1 + C/2) has the error (pi/2) value/2/sqrt(n): without the factor pi/2 78% are covered.
    cauchy = next(source for source in SOURCES if source.name == "Cauchy")
    assert coverage(Naive(cauchy.name, cauchy.statistic, cauchy.draw), 2000, 300, 0).every.hits < at_least(300, 0.93)
