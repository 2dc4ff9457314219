"""Values without standard errors: what the scatter says, compared with brute force, with Student's law, and with the truth."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
import scipy.stats

from theoryck.fitting.corrections import CorrectionFamily
from theoryck.fitting.data import Data
from theoryck.fitting.fit import fit_rate
from theoryck.fitting.scatter import NO_STDERR, WIDENING, Enlargement, Mixture, _posterior, _read, residual_stderrs

SEVEN = 2.0 ** np.arange(4, 11)
TWELVE = np.round(np.geomspace(16, 1024, 12))


def law(sizes, values, correction=None, amplitude=None, log_values=False) -> Mixture:
    """What is known of the exponent where the noise is not."""
    data, reason = _read(sizes, values, log_values)
    assert not reason
    _, centres, errors, weights = _posterior(data, correction, amplitude)
    return Mixture(weights, centres, errors)


def half_width(found: Mixture, tail: float = 0.025) -> float:
    return 0.5 * (found.limit(tail, 1) - found.limit(tail, -1))


def contains(found: Mixture, exponent: float, tail: float = 0.025) -> bool:
    return found.limit(tail, -1) <= exponent <= found.limit(tail, 1)


CORNERS = ((0, 0, 0.5), (2, -2, 0.5), (-2, 2, 0.5), (2, 2, 1.0), (-2, -2, 1.0))


def test_posterior_given_the_noise_is_generalised_least_squares() -> None:
    rng = np.random.default_rng(5)
    logs = -np.log(SEVEN) + 0.01 * rng.standard_normal(7)
    data = Data.read(SEVEN, logs, np.zeros(7), True)
    noise, centres, errors, weights = _posterior(data, 1.0, None)
    family = CorrectionFamily.choose(16.0, 1.0, None, noise=1e-16, widening=WIDENING)
    terms = np.stack([dev * (SEVEN / 16) ** -w for w, dev in zip(family.powers, family.deviations)], axis=1)
    lines = np.stack([np.ones(7), np.log(SEVEN)], axis=1)
    likelihood = []
    for index in range(100, 360, 40):
        covariance = terms @ terms.T + noise[index] ** 2 * np.eye(7)
        inverse = np.linalg.inv(covariance)
        normal = lines.T @ inverse @ lines
        solution = np.linalg.solve(normal, lines.T @ inverse @ logs)
        assert centres[index] == pytest.approx(solution[1], abs=1e-6)
        assert errors[index] == pytest.approx(math.sqrt(np.linalg.inv(normal)[1, 1]), rel=1e-4)
        residual = logs - lines @ solution
        # Harville's restricted likelihood.
        likelihood.append(-0.5 * (residual @ inverse @ residual + np.linalg.slogdet(covariance)[1] + np.linalg.slogdet(normal)[1]))
    kept = [index for index in range(100, 360, 40) if weights[index] > 1e-200]
    ratios = np.log(weights[kept]) - np.array(likelihood)[[(index - 100) // 40 for index in kept]]
    assert len(kept) >= 2
    assert np.ptp(ratios) < 1e-5


def test_without_corrections_it_is_student_s_law() -> None:
    """An amplitude of 1e-9 leaves a straight line: the textbook interval with n - 2 degrees of freedom."""
    rng = np.random.default_rng(6)
    logs = -0.5 * np.log(TWELVE) + 0.02 * rng.standard_normal(12)
    found = law(TWELVE, logs, correction=1, amplitude=1e-9, log_values=True)
    line = scipy.stats.linregress(np.log(TWELVE), logs)
    for rate in (0.1, 0.025, 1e-3):
        reach = scipy.stats.t.ppf(1 - rate, 10) * line.stderr
        assert found.limit(rate, 1) == pytest.approx(line.slope + reach, abs=1e-3 * reach)
        assert found.limit(rate, -1) == pytest.approx(line.slope - reach, abs=1e-3 * reach)


@pytest.mark.parametrize("noise", [0.001, 0.01, 0.05])
@pytest.mark.parametrize("sizes", [SEVEN, TWELVE], ids=["7", "12"])
def test_coverage_at_corners_of_the_family(sizes: np.ndarray, noise: float) -> None:
    """At least 93% less three binomial errors, at each of five corners; measured with 4000: 94% at the worst."""
    rng = np.random.default_rng([7, len(sizes), int(1e4 * noise)])
    repeats = 150
    for b, c, w in CORNERS:
        truth = np.log1p(b * sizes**-w + c * sizes ** (-2 * w))
        hits = 0
        for _ in range(repeats):
            data = Data.read(sizes, truth + noise * rng.standard_normal(len(sizes)), np.zeros(len(sizes)), True)
            _, centres, errors, weights = _posterior(data, None, None)
            hits += 0.025 <= weights @ scipy.stats.norm.cdf(-centres / errors) <= 0.975
        assert hits >= repeats * 0.93 - 3 * math.sqrt(repeats * 0.93 * 0.07), (b, c, w)


def test_stderrs_for_the_judge_give_the_limits_of_the_mixture() -> None:
    rng = np.random.default_rng(8)
    values = 3 / SEVEN * (1 + 0.02 * rng.standard_normal(7))
    found = law(SEVEN, values, correction=1)
    for rate in (0.01, 0.001):
        scatter = residual_stderrs(SEVEN, values, correction=1, rate=rate)
        assert np.allclose(scatter.stderrs, scatter.relative * values)
        judged = fit_rate(SEVEN, values, scatter.stderrs, correction=1)
        width = found.limit(rate, 1) - found.limit(rate, -1)
        assert judged.upper(rate) >= found.limit(rate, 1) - 0.01 * width
        assert judged.lower(rate) <= found.limit(rate, -1) + 0.01 * width
        assert judged.upper(rate) - judged.lower(rate) <= 1.25 * width
        # Larger rates are on the safe side.
        assert judged.upper(0.025) >= found.limit(0.025, 1)
        assert judged.decision_upper(0.025) > judged.upper(0.025)


def test_a_fit_that_trusts_the_residual_error_fails_where_this_one_holds() -> None:
    """The rival takes the residual error of a straight line through 5 points for known: P(|t_3| < 1.96) = 86%."""
    rng = np.random.default_rng(9)
    sizes, ours, theirs = SEVEN[:5], 0, 0
    for _ in range(200):
        values = sizes**-0.5 * np.exp(0.02 * rng.standard_normal(5))
        line = scipy.stats.linregress(np.log(sizes), np.log(values))
        theirs += abs(line.slope + 0.5) <= 1.96 * line.stderr
        ours += contains(law(sizes, values, correction=1, amplitude=0.01), -0.5)
    assert theirs < 200 * 0.91
    assert ours >= 200 * 0.93 - 3 * math.sqrt(200 * 0.93 * 0.07)


def test_exact_data_are_believed_as_far_as_corrections_can_be_told() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        seven = law(SEVEN, 1 / SEVEN, correction=1)
        many = 2.0 ** np.arange(4, 30)
        long = law(many, 5 / many, correction=1)
        flat = law(SEVEN, np.full(7, 2), correction=1)
    assert contains(seven, -1.0)
    assert 0 < half_width(long) < half_width(seven) < 1e-3
    assert contains(long, -1.0)
    assert contains(flat, 0.0)
    assert residual_stderrs(SEVEN, 1 / SEVEN, correction=1).flag == NO_STDERR


def test_units_signs_replicates_and_extremes() -> None:
    rng = np.random.default_rng(10)
    sizes = np.repeat(SEVEN, 3)
    values = sizes**-0.5 * np.exp(0.03 * rng.standard_normal(21))
    found = law(sizes, values)
    for unit in (1e-30, 1e30):
        other = law(sizes[::-1], unit * values[::-1])
        assert other.limit(0.025, -1) == pytest.approx(found.limit(0.025, -1), rel=1e-6)
    assert law(sizes, -values).limit(0.025, 1) == pytest.approx(found.limit(0.025, 1))
    assert contains(found, -0.5)
    assert half_width(found) < half_width(law(SEVEN, values[::3]))


@pytest.mark.parametrize(
    ("sizes", "values", "reason"),
    [
        ([16, 32, 64], [1.0, 0.5, 0.25], "3 sizes without standard errors"),
        ([16, 32, 64, 64], [1.0, 0.5, 0.25, 0.2], "3 sizes without standard errors"),
        ([16, 32, 64, 128], [1.0, 0.5, -0.25, 0.1], "at size 64 is zero or has another sign"),
        ([16, 32, 64, 128], [1.0, 0.0, 0.25, 0.1], "at size 32 is zero"),
        ([16, 32, 64, 128], [0.0] * 4, "every value is zero"),
    ],
)
def test_reasons(sizes: list[int], values: list[float], reason: str) -> None:
    scatter = residual_stderrs(sizes, values)
    assert reason in scatter.reason
    assert all(math.isinf(stderr) for stderr in scatter.stderrs)


def test_bad_arguments() -> None:
    with pytest.raises(ValueError, match=r"rate must lie strictly between 0 and 1/2, got 0\.5"):
        residual_stderrs([16, 32, 64, 128], [1, 2, 3, 4], rate=0.5)
    with pytest.raises(ValueError, match=r"values\[1\] = nan must be finite"):
        residual_stderrs([16, 32, 64, 128], [1, math.nan, 3, 4])
    with pytest.raises(ValueError, match="same length"):
        residual_stderrs([16, 32, 64, 128], [1, 2, 3])


# -- errors that were stated -------------------------------------------------------------------------------------------------------


def noisy(scatter, seed=1, sizes=SEVEN):
    """d^-1/2 with relative scatter, and errors of 1%."""
    values = np.array(sizes) ** -0.5 * (1 + scatter * np.random.default_rng(seed).standard_normal(len(sizes)))
    return sizes, values, 0.01 * values


def test_errors_that_hold_are_hardly_enlarged():
    """On average over tables: half of the prior is on the stated errors, and what they scatter bears them out."""
    factors = [fit_rate(*noisy(0.01, seed), stated=True).factor for seed in range(30)]
    assert np.median(factors) < 1.3
    assert min(factors) >= 1


def test_errors_that_are_too_small_are_enlarged_to_the_scatter_and_it_is_said():
    """At ten times the stated scatter: the factor is that, to what five residuals tell, and the interval covers."""
    for seed in range(10):
        fit = fit_rate(*noisy(0.1, seed), stated=True)
        assert fit.factor > 3
        assert any("stated errors enlarged" in flag for flag in fit.flags) or "times those stated" in fit.reason
        assert fit.interval(0.999).contains(-0.5)
        assert fit_rate(*noisy(0.1, seed)).factor == 1


def test_limits_at_smaller_error_rates_have_larger_errors():
    fit = fit_rate(*noisy(0.03), stated=True)
    assert fit.enlargement(1e-4) > fit.enlargement(0.025) == fit.factor
    assert fit.lower(1e-4) < fit.lower(0.025) < fit.upper(0.025) < fit.upper(1e-4)
    assert fit.interval(0.95) == fit.exponent
    assert fit.decision_upper(0.025) >= fit.upper(0.025)


def test_errors_stated_too_large_are_left_as_they_are():
    """Values on the curve with errors of 1%: the interval is wide as stated, not narrower."""
    sizes, values, errors = noisy(0.0)
    fit, plain = fit_rate(sizes, values, errors, stated=True), fit_rate(sizes, values, errors)
    assert plain.exponent.half_width <= fit.exponent.half_width < 1.2 * plain.exponent.half_width


def test_exact_values_are_no_stated_errors():
    values = [d**-0.5 * (1 + 1 / d) for d in SEVEN]
    fit, plain = fit_rate(SEVEN, values, [0.0] * 7, stated=True), fit_rate(SEVEN, values, [0.0] * 7)
    assert fit.exponent == plain.exponent
    assert fit.flags == plain.flags == ()


def test_scatter_of_the_size_of_the_values_shows_nothing():
    values = np.array(SEVEN) ** -0.5 * np.array([1, 1.9, 0.3, 1.8, 0.4, 1.7, 0.3])
    fit = fit_rate(SEVEN, values, 0.01 * values, stated=True)
    assert not fit.identifiable
    assert "give errors that hold" in fit.reason
    assert fit.lower(0.01) == -np.inf


def test_smooth_misfit_is_larger_corrections_and_scatter_is_larger_errors():
    """Nine sizes tell the two apart: 1 + 60/d is smooth, a scatter of 10% is not."""
    sizes = [16 * 2**step for step in range(9)]
    smooth = [d**-0.5 * (1 + 60 / d) for d in sizes]
    fit = fit_rate(sizes, smooth, [0.001 * value for value in smooth], stated=True)
    assert any("corrections" in flag for flag in fit.flags)
    rough = fit_rate(*noisy(0.1, 2, sizes), stated=True)
    assert "poor-fit" in rough.flags
    assert not rough.explanations


def test_the_law_of_a_factor_is_that_of_its_formula():
    """Two flat unknowns, no corrections: the density of the residuals over the factors, by the formula of a Gaussian."""
    design = np.stack([np.ones(6), np.linspace(-1, 1, 6), np.zeros(6)], axis=1)
    target = np.array([0.1, -0.2, 0.15, 0.3, -0.25, 0.1])
    found = Enlargement.of(design, np.full(6, 0.05), target, 2)
    residual = target - np.polyval(np.polyfit(design[:, 1], target, 1), design[:, 1])
    chi2 = float((residual**2).sum()) / 0.05**2
    prior = np.where(found.factors <= 10, 1.0, (found.factors / 10) ** -2.0)
    prior *= 0.5 / prior.sum()
    prior[0] += 0.5
    weights = prior * found.factors**-4.0 * np.exp(-chi2 / found.factors**2 / 2)
    assert found.weights == pytest.approx(weights / weights.sum(), abs=1e-9)
    assert found.centres == pytest.approx(np.polyfit(design[:, 1], target, 1)[0])
    assert found.errors == pytest.approx(found.factors * 0.05 / np.sqrt((design[:, 1] ** 2).sum()))
