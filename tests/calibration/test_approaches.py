"""Limits approached slowly and fast: coverage, false refutation and false support in a sample of the cells of the table."""

from __future__ import annotations

import pytest

from tests.calibration.approaches import NOISE, POWERS, REFUTE, SUPPORT, count
from tests.calibration.tallies import at_least, at_most
from theoryck.fitting.limit import fit_limit

REPEATS = 12


@pytest.mark.parametrize("declared", [False, True])
@pytest.mark.parametrize("noise", NOISE)
def test_limits_are_covered_and_neither_refuted_nor_mistaken(noise: float, declared: bool) -> None:
    """All approaches together; a wrong count has a chance of 1 in 1e6."""
    found = [count(power, noise, declared, REPEATS, 11) for power in POWERS]
    trials = REPEATS * len(POWERS)
    assert sum(each.covered.hits for each in found) >= at_least(trials, 0.93)
    assert sum(each.refuted.hits for each in found) <= at_most(trials, REFUTE)
    assert sum(each.supported.hits for each in found) <= at_most(4 * trials, SUPPORT)


def test_a_fit_that_takes_a_slow_approach_for_a_fast_one_is_seen() -> None:
    """The check can fail: corrections of d^(-1/2) alone, as a limit without a rate had, miss 1 + n^(-1/6)."""
    sizes = [16, 32, 64, 128, 256, 512, 1024]
    fit = fit_limit(sizes, [1 + n ** (-1 / 6) for n in sizes], [1e-3] * 7, scale=1.0)
    assert not fit.interval(0.9999).contains(1.0)
