"""The minimax rate of Hoelder functions of one variable: exact occupancy, both routes, bounds from both sides."""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.integrate
import scipy.stats

from theoryck.quantities import QuantityError
from theoryck.theory.regressogram.proved import inverse_count
from theoryck.theory.regressogram.quantities import (
    bump_bayes_risk,
    regressogram_guarantee,
    regressogram_precision,
    regressogram_risk,
)


def exact(quantity, n, bins):
    return float(quantity.exact({"n": n, "bins": bins}, 25))


@pytest.mark.parametrize(("samples", "bins"), [(1, 2), (5, 3), (64, 4), (1000, 32), (4000, 1)])
def test_the_mean_of_one_over_a_binomial(samples, bins):
    k = np.arange(1, samples + 1)
    expected = float(np.sum(scipy.stats.binom.pmf(k, samples, 1 / bins) / k))
    value = inverse_count(samples, bins).exact({}, 20)
    assert float(value) == pytest.approx(expected, rel=1e-11)
    assert value.rigorous


def test_the_mean_of_one_over_a_binomial_holds_the_rational_value():
    for samples, bins in ((3, 2), (6, 4), (9, 5)):
        share = Fraction(1, bins)
        terms = (Fraction(math.comb(samples, k), k) * share**k * (1 - share) ** (samples - k) for k in range(1, samples + 1))
        value, total = inverse_count(samples, bins).exact({}, 20), sum(terms, Fraction(0))
        assert abs(Fraction(value.midpoint) - total) <= Fraction(value.radius)
        assert value.radius < 1e-50


@pytest.mark.parametrize("alpha", [1, Fraction(1, 2), Fraction(1, 4)])
def test_the_routes_of_the_risk_agree(alpha):
    quantity = regressogram_risk(alpha)
    values = quantity.draw(np.random.default_rng(1), 4000, {"n": 128, "bins": 8})
    error = values.std(ddof=1) / math.sqrt(4000)
    assert abs(values.mean() - exact(quantity, 128, 8)) < 4.5 * error
    # The occupancy is seen: bins/n in the place of E(1/N; N >= 1) is rejected.
    naive = exact(quantity, 128, 8) - float(inverse_count(128, 8).exact({}, 20)) + 8 / 128
    assert abs(values.mean() - naive) > 4.5 * error


def test_the_risk_against_a_slow_simulation():
    """Data by hand: bins by comparison, the integral of the squared error by quadrature on a fine grid."""
    rng, n, bins, risks = np.random.default_rng(2), 32, 4, []
    grid = (np.arange(4000) + 0.5) / 4000
    wave = np.abs(grid * 2 - np.rint(grid * 2)) / 2
    for _ in range(2000):
        x = rng.random(n)
        y = np.abs(x * 2 - np.rint(x * 2)) / 2 + rng.standard_normal(n)
        fitted = [y[(x >= b / bins) & (x < (b + 1) / bins)] for b in range(bins)]
        means = np.array([values.mean() if len(values) else 0.0 for values in fitted])
        risks.append(np.mean((means[(grid * bins).astype(int)] - wave) ** 2))
    assert abs(np.mean(risks) - exact(regressogram_risk(1), n, bins)) < 4.5 * np.std(risks) / math.sqrt(2000)


@pytest.mark.parametrize("alpha", [1, Fraction(1, 2), Fraction(1, 4)])
def test_the_guarantee_covers_members_of_the_class(alpha):
    """Functions of F_alpha: their variance within a bin by quadrature is below h^(2 alpha)/((2 alpha + 1)(2 alpha + 2))."""
    power, h = float(alpha), 1 / 8
    bound = h ** (2 * power) / ((2 * power + 1) * (2 * power + 2))
    members = [lambda t: t**power, lambda t: abs(t - h / 3) ** power, lambda t: min(t, h - t) ** power]
    for f in members:
        mean = scipy.integrate.quad(f, 0, h, points=[h / 3, h / 2])[0] / h
        square = scipy.integrate.quad(lambda t, f=f: f(t) ** 2, 0, h, points=[h / 3, h / 2])[0] / h
        assert square - mean**2 <= bound * (1 + 1e-9)
    assert exact(regressogram_guarantee(alpha), 512, 8) >= exact(regressogram_risk(alpha), 512, 8)
    assert exact(regressogram_precision(alpha), 512, 8) * exact(regressogram_guarantee(alpha), 512, 8) == pytest.approx(1)


@pytest.mark.parametrize(("alpha", "step", "exponent"), [(1, 3, -2 / 3), (Fraction(1, 2), 2, -1 / 2)])
def test_both_sides_have_the_minimax_exponent_and_not_that_of_the_slide(alpha, step, exponent):
    """MATH I10: slope -.667 at alpha = 1; the slide has -1/3."""
    upper = [exact(regressogram_guarantee(alpha), 2 ** (step * j), 2**j) for j in (5, 6)]
    slope = math.log(upper[1] / upper[0]) / (step * math.log(2))
    assert slope == pytest.approx(exponent, abs=0.015)
    assert slope < exponent / 2 - 0.2
    lower = [bump_bayes_risk(alpha).draw(np.random.default_rng(3), 20_000, {"n": 2 ** (step * j), "bins": 2**j}) for j in (3, 4)]
    assert math.log(lower[1].mean() / lower[0].mean()) / (step * math.log(2)) == pytest.approx(exponent, abs=0.02)
    assert all(low.mean() < exact(regressogram_risk(alpha), 2 ** (step * j), 2**j) for low, j in zip(lower, (3, 4)))


def test_the_bayes_risk_of_a_sign_against_its_posterior_mean():
    """Signs and data by hand: the mean squared error of tanh(sum psi y)."""
    rng, n, bins, errors = np.random.default_rng(4), 64, 2, []
    for _ in range(4000):
        x, sign = rng.random(n), rng.choice([-1.0, 1.0])
        x = x[x < 1 / bins]
        psi = np.minimum(x, 1 / bins - x)
        y = sign * psi + rng.standard_normal(len(x))
        errors.append((sign - math.tanh(float(psi @ y))) ** 2)
    variance = (0.5 / bins) ** 2 / 3
    values = bump_bayes_risk(1).draw(np.random.default_rng(5), 4000, {"n": n, "bins": bins})
    spread = math.hypot(variance * np.std(errors), values.std()) / math.sqrt(4000)
    assert abs(variance * np.mean(errors) - values.mean()) < 4.5 * spread


def test_errors_name_the_argument():
    with pytest.raises(QuantityError, match="alpha must be a rational number with 0 < alpha <= 1, got 2"):
        regressogram_risk(2)
    with pytest.raises(QuantityError, match="bins must be a power of two >= 2, got 3"):
        regressogram_risk(1).exact({"n": 27, "bins": 3})
    with pytest.raises(QuantityError, match="needs the size 'bins'"):
        bump_bayes_risk(1).sampler({"n": 64})
    for samples, bins, name in ((0, 2, "samples"), (10**8, 2, "samples"), (4, 0, "bins")):
        with pytest.raises(QuantityError, match=f"{name} must be an integer"):
            inverse_count(samples, bins)
