"""The machinery of the table: banks of draws, many fits at once, tallies, audits of every form; and a sample of its cells."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import scipy.stats

from tests.calibration import audits, cells
from tests.calibration.draws import NOISES, STD, Bank, bank, deviations, means, power_sums, widths
from tests.calibration.fast import fit_many, largest_difference
from tests.calibration.parts import Row
from tests.calibration.simulator import ALL, SIZES, TEN, Truth, baseline_fitter, naive_fitter
from tests.calibration.tallies import Tally, at_least, at_most
from theoryck.montecarlo import Moments

BLOCKS = 10_000


@pytest.mark.parametrize("noise", NOISES)
def test_means_are_those_of_moments(noise: str) -> None:
    """The same draws through ``Moments.estimate``: value, inflated stderr and skewness, to rounding."""
    draw = deviations(np.random.default_rng(1), noise, (3, 5000))
    found = means(power_sums(draw), 5000)
    for row, value, stderr, skewness in zip(1 + draw, found.values, found.stderrs, found.skewness):
        expected = Moments.of(row).estimate()
        assert value == pytest.approx(expected.value, rel=1e-12)
        assert stderr == pytest.approx(expected.stderr, rel=1e-10)
        assert skewness == pytest.approx(expected.skewness, rel=1e-8)


@pytest.mark.parametrize("draws", [1000, 12_345, 1_000_000])
@pytest.mark.parametrize("noise", NOISES)
def test_means_of_a_bank_scatter_as_they_should(noise: str, draws: int) -> None:
    """Their standard deviation is std/sqrt(draws), to five errors of a standard deviation of 4000 nearly Gaussian numbers."""
    found = bank(noise, BLOCKS).means(np.random.default_rng(2), (4000,), draws)
    scatter = float(found.values.std(ddof=1)) * math.sqrt(draws) / STD[noise]
    # A bank of 1e7 draws has its own variance: relative error sqrt((kurtosis - 1)/1e7), at most 0.0034 for the lognormal.
    assert abs(scatter - 1) < 5 / math.sqrt(2 * 4000) + 3 * 0.0034


def test_mean_and_error_bar_of_skewed_draws_are_correlated() -> None:
    """What independent numbers would miss: at 1e3 lognormal draws low means have small error bars."""
    found = bank("lognormal", BLOCKS).means(np.random.default_rng(3), (4000,), 1000)
    real = np.random.default_rng(4).lognormal(-0.5, 1.0, (2000, 1000))
    expected = float(np.corrcoef(real.mean(1), real.std(1))[0, 1])
    assert float(np.corrcoef(found.values, found.stderrs)[0, 1]) == pytest.approx(expected, abs=0.08)
    assert expected > 0.5


def test_an_unknown_noise_is_named() -> None:
    with pytest.raises(ValueError, match="noise must be one of gaussian"):
        deviations(np.random.default_rng(0), "cauchy", (2,))


@pytest.mark.parametrize("draws", [100, 1000, 100_000])
@pytest.mark.parametrize("correction", [None, 0.5, 1.0])
def test_many_fits_are_those_of_fit_rate(draws: int, correction: float | None) -> None:
    """A hundredth of a percent of the interval: far below what moves a coverage that is known to a percent."""
    for index, noise in enumerate(NOISES):
        found = Bank(noise, 200, seed=index).means(np.random.default_rng(5), (12, len(SIZES)), draws)
        curve = TEN[3 + index](SIZES)
        assert largest_difference(SIZES, curve * found.values, curve * found.stderrs, correction=correction) < 1e-3


def test_data_that_fit_poorly_go_to_fit_rate() -> None:
    values = SIZES**-0.5 * np.array([[1, 1, 1, 1.2, 1, 1, 1], [1, 1, 1, 1, 1, 1, 1]])
    fits = fit_many(SIZES, values, 1e-3 * values)
    assert fits.slow.tolist() == [True, False]
    assert fits.high[0] - fits.low[0] > 3 * (fits.high[1] - fits.low[1])


def test_widths_of_other_fits_are_those_of_their_formula() -> None:
    errors = np.full(len(SIZES), 0.01)
    low, high = baseline_fitter(SIZES, SIZES**-0.5, errors * SIZES**-0.5)
    assert widths(errors, SIZES, *cells.BASELINE) == pytest.approx(high - low, rel=1e-6)


def test_no_truth_of_the_family_is_near_a_change_of_sign() -> None:
    assert min(cells.smallest_bracket(truth) for truth in ALL) == pytest.approx(1 - 2 / 4 - 2 / 16)


SAMPLE = [Truth(a, b, c, w) for a, w, b, c in ((-0.5, 0.5, 2.0, -2.0), (-1.0, 0.5, -2.0, -2.0), (0.5, 1.0, -2.0, -2.0))]


@pytest.mark.parametrize("draws", cells.DRAWS)
@pytest.mark.parametrize("noise", NOISES)
def test_coverage_of_the_hardest_cells(noise: str, draws: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three truths that came out lowest in the full table: at least 93%, but for a chance of 1e-6 a cell."""
    monkeypatch.setattr(cells, "bank", lambda name: bank(name, BLOCKS))
    for truth in SAMPLE:
        found = cells.cell(truth, noise, draws, 1000, seed=3)
        assert found.covered.hits >= at_least(1000, cells.NOMINAL), str(found)


def test_the_fit_without_corrections_fails_the_same_check() -> None:
    truth, hits = SAMPLE[0], 0
    found = bank("gaussian", BLOCKS).means(np.random.default_rng(6), (400, len(SIZES)), 10_000)
    for value, stderr in zip(truth(SIZES) * found.values, truth(SIZES) * found.stderrs):
        low, high = naive_fitter(SIZES, value, stderr)
        hits += low <= truth.exponent <= high
    assert hits < at_least(400, cells.NOMINAL)


@pytest.mark.parametrize("table", audits.TABLES, ids=str)
def test_intervals_of_audits_cover(table: audits.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables of every form, Gaussian noise of 1% of a mean, three truths: at least 93%, but for a chance of 1e-6."""
    monkeypatch.setattr(audits, "bank", lambda name: bank(name, BLOCKS))
    found = [audits.coverage(table, truth, "gaussian", 0.01 * math.sqrt(table.replicates), 25, seed=7) for truth in SAMPLE]
    total = sum((one.covered for one in found), Tally(0, 0))
    assert total.trials >= 70  # an audit of such data has an interval
    assert total.hits >= at_least(total.trials, cells.NOMINAL)


def test_tallies() -> None:
    """Clopper-Pearson limits against the binomial law they invert, and the quantiles of the tests."""
    low, high = Tally(3, 50).limits()
    assert scipy.stats.binom.sf(2, 50, low) == pytest.approx(0.025)
    assert scipy.stats.binom.cdf(3, 50, high) == pytest.approx(0.025)
    assert Tally(0, 20).limits()[0] == 0
    assert Tally(20, 20).limits()[1] == 1
    assert scipy.stats.binom.sf(at_most(300, 0.01), 300, 0.01) <= 1e-6
    assert scipy.stats.binom.cdf(at_least(300, 0.9) - 1, 300, 0.9) <= 1e-6
    assert Tally(80, 100).below(0.93)
    assert not Tally(90, 100).below(0.93)


def test_a_row_says_when_a_promise_is_broken() -> None:
    broken, kept = Row("x", "claims", Tally(30, 100), 0.01), Row("x", "claims", Tally(1, 100), 0.01)
    assert "BROKEN" in str(broken)
    assert "BROKEN" not in str(kept)
    assert json.loads(json.dumps(broken.to_json()))["kept"] is False
    assert "BROKEN" in str(Row("x", "power", Tally(50, 100), 0.9, least=True))
    empty = Row("x", "intervals", Tally(0, 0), 0.93, least=True)  # none was given: skewed replicates, say
    assert empty.kept
    assert str(empty).endswith("none: nothing was promised")
