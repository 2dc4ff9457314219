"""Equivalents of ridge regression: against multiple precision, closed forms of isotropic data, and simulated regressions."""

import math

import mpmath
import numpy as np
import pytest

from theoryck.numerics.errors import NotConverged
from theoryck.theory.learning.limits.linear import ridge_error
from theoryck.theory.ridge.limits import effective_ridge, increasing_zero, kernel_ridge_equivalent, random_features_equivalent
from theoryck.theory.ridge.model import FiniteSpectrum, PowerLaw

ETA = [2.0, 1.0, 0.3, 0.01, 0.0]
SIGNAL = [1.0, 0.5, 0.0, 2.0, 0.25]
SIZES = [1, 3, 20, 400, 5]


def in_multiple_precision(n, ridge, noise):
    """kappa by mpmath's own root finder, and the risk by the sums as they are written."""
    with mpmath.workdps(40):
        lam, groups = mpmath.mpf(ridge), list(zip(map(mpmath.mpf, ETA), map(mpmath.mpf, SIGNAL), SIZES, strict=True))
        equation = lambda u: mpmath.e**u - lam - mpmath.e**u / n * sum(m * e / (e + mpmath.e**u) for e, _, m in groups)  # noqa: E731
        kappa = mpmath.e ** mpmath.findroot(equation, (mpmath.log(lam + mpmath.mpf(10) / n), mpmath.log(lam + mpmath.mpf(9) / n)))
        gamma = sum(m * (e / (e + kappa)) ** 2 for e, _, m in groups) / n
        missed = sum(kappa**2 * f / (e + kappa) ** 2 for e, f, _ in groups)
        return kappa, missed / (1 - gamma), mpmath.mpf(noise) * gamma / (1 - gamma)


@pytest.mark.parametrize("n", [5, 50, 5000])
@pytest.mark.parametrize("ridge", [1e-6, 0.01, 10.0])
def test_against_multiple_precision(n, ridge):
    kappa, bias, variance = in_multiple_precision(n, ridge, 0.5)
    found = kernel_ridge_equivalent(FiniteSpectrum(ETA, SIGNAL, SIZES), n, ridge, 0.5)
    assert found.kappa == pytest.approx(float(kappa), rel=1e-12)
    assert found.bias == pytest.approx(float(bias), rel=1e-12)
    assert found.variance == pytest.approx(float(variance), rel=1e-12)
    assert found.excess_risk == found.bias + found.variance
    assert found.test_error == found.excess_risk + 0.5


@pytest.mark.parametrize("alpha", [0.5, 1, 3])
@pytest.mark.parametrize("penalty", [0.01, 1])
def test_isotropic_data_has_a_closed_form(alpha, penalty):
    """x ~ N(0, I/d): d eigenvalues 1/d, and sum (y - w.x)^2 + c |w|^2 has the ridge c/n here."""
    d = 1000
    found = kernel_ridge_equivalent(FiniteSpectrum([1 / d], [1.0], [d]), alpha * d, penalty / (alpha * d), 0.3)
    assert found.test_error == pytest.approx(ridge_error(alpha, penalty, 0.3), rel=1e-12)


def test_without_a_ridge():
    """Least squares: s^2 p/(n - p) and |f_perp|^2/(1 - p/n); interpolation: kappa = 1/2 solves 30/(1 + kappa) = 20."""
    few = kernel_ridge_equivalent(FiniteSpectrum([3.0, 0.0], [1.0, 2.0], [30, 7]), 90, 0.0, 0.6)
    assert (few.kappa, few.train_error) == (0.0, pytest.approx((2.0 + 0.6) * (1 - 30 / 90), rel=1e-14))
    assert few.bias == pytest.approx(2.0 / (1 - 30 / 90), rel=1e-14)
    assert few.variance == pytest.approx(0.6 * 30 / 60, rel=1e-14)
    many = kernel_ridge_equivalent(FiniteSpectrum([1.0], [1.0], [30]), 20, 0.0)
    assert many.kappa == pytest.approx(0.5, rel=1e-14)
    assert many.train_error == 0.0
    assert many.excess_risk == pytest.approx((1 / 3) ** 2 / (1 - 20 / 30), rel=1e-13)
    with pytest.raises(ValueError, match="ridge must be > 0 where the rank of the kernel is n = 30"):
        kernel_ridge_equivalent(FiniteSpectrum([1.0], [1.0], [30]), 30, 0.0)


def test_against_simulated_ridge_regression():
    """Two groups of Gaussian features, explicit labels and a fixed target.  The equivalent misses O(1/n): 3/n of the value here."""
    rng = np.random.default_rng(3)
    n, ridge, noise = 150, 0.02, 0.1
    eta = np.repeat([1.0, 0.05], [20, 200])
    target = np.repeat([math.sqrt(1 / 20), math.sqrt(0.5 / 200)], [20, 200])
    errors = []
    for _ in range(250):
        z = rng.standard_normal((n, len(eta)))
        y = z @ target + math.sqrt(noise) * rng.standard_normal(n)
        dual = np.linalg.solve(z * eta @ z.T + n * ridge * np.eye(n), y)
        fitted = eta * (z.T @ dual)
        errors.append((np.sum((fitted - target) ** 2), np.mean((y - z @ fitted) ** 2)))
    mean, stderr = np.mean(errors, axis=0), np.std(errors, axis=0) / math.sqrt(250)
    found = kernel_ridge_equivalent(FiniteSpectrum([1.0, 0.05], [1.0, 0.5], [20, 200]), n, ridge, noise)
    assert abs(mean[0] - found.excess_risk) < 4 * stderr[0] + 3 / n * found.excess_risk
    assert abs(mean[1] - found.train_error) < 4 * stderr[1] + 3 / n * found.train_error
    # The same check refutes a ridge of four times the size and a forgotten 1/(1 - gamma).
    other = kernel_ridge_equivalent(FiniteSpectrum([1.0, 0.05], [1.0, 0.5], [20, 200]), n, 4 * ridge, noise)
    assert abs(mean[0] - other.excess_risk) > 4 * stderr[0] + 3 / n * found.excess_risk
    assert abs(mean[0] - found.excess_risk * (1 - found.gamma)) > 4 * stderr[0] + 3 / n * found.excess_risk


def test_random_features_solve_their_equations():
    spectrum = FiniteSpectrum(ETA[:4], SIGNAL[:4], SIZES[:4])
    for n, p, ridge in ((50, 20, 0.3), (20, 50, 0.3), (300, 300, 1e-4), (1000, 30, 1e-6)):
        found = random_features_equivalent(spectrum, n, p, ridge, 0.2)
        t1 = sum(m * e / (e + found.nu2) for e, m in zip(ETA, SIZES, strict=True))
        assert n - ridge / found.nu1 == pytest.approx(t1, rel=1e-8)
        assert p - p * found.nu1 / found.nu2 == pytest.approx(t1, rel=1e-8)
        assert 0 < found.upsilon < 1
        assert found.test_error == found.bias + found.variance + 0.2


def test_random_features_against_simulation():
    """Gaussian features of a Gaussian design with explicit labels.  The equivalent misses O(1/p): 3/p of the value here."""
    rng = np.random.default_rng(4)
    n, p, ridge, noise, m = 150, 80, 0.05, 0.01, 400
    k = np.arange(1, m + 1.0)
    eta, target = k**-1.5, k ** -(0.75 + 0.5)
    errors = []
    for _ in range(100):
        z, g = rng.standard_normal((n, m)), rng.standard_normal((p, m)) * np.sqrt(eta / p)
        phi, y = z @ g.T, z @ target + math.sqrt(noise) * rng.standard_normal(n)
        a = np.linalg.solve(phi.T @ phi + ridge * np.eye(p), phi.T @ y)
        errors.append(np.sum((g.T @ a - target) ** 2))
    mean, stderr = np.mean(errors), np.std(errors) / 10
    found = random_features_equivalent(FiniteSpectrum(eta, target**2), n, p, ridge, noise)
    assert abs(mean - found.excess_risk) < 4 * stderr + 3 / p * found.excess_risk
    kernel = kernel_ridge_equivalent(FiniteSpectrum(eta, target**2), n, ridge / n, noise)
    assert abs(mean - kernel.excess_risk) > 4 * stderr + 3 / p * found.excess_risk  # the number of features matters


def test_newton_finds_or_says_where_it_stopped():
    assert increasing_zero(lambda x: (math.expm1(30 * x), 30 * math.exp(30 * x)), 10.0, "x") == pytest.approx(0, abs=1e-15)
    with pytest.raises(NotConverged, match="no kappa was found above"):
        increasing_zero(lambda x: (1.0, 0.0), 0.0, "kappa")
    with pytest.raises(NotConverged, match="has no value"):
        increasing_zero(lambda x: (math.nan if x > -0.5 else -1.0, 1.0), 0.0, "kappa")
    with pytest.raises(NotConverged, match="no kappa was found below"):
        increasing_zero(lambda x: (-1.0, 1.0), 1.0, "kappa")
    # A jump has no zero, but a place: bisection finds it.
    assert increasing_zero(lambda x: (1.0 if x > 0.1 else -1.0, 1e-3), 1.0, "kappa") == pytest.approx(0.1, abs=1e-14)


def test_effective_ridge_of_huge_and_tiny_problems():
    spectrum = PowerLaw("3/2", "1/2")
    for n, ridge in ((1, 1e-3), (1e12, 1e-30), (1e6, 1e6)):
        kappa = effective_ridge(spectrum, n, ridge)
        assert ridge + kappa / n * spectrum.kernel_share(kappa, 1, 0) == pytest.approx(kappa, rel=1e-11)


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: FiniteSpectrum([], []), "eigenvalues must be a sequence of numbers >= 0"),
        (lambda: FiniteSpectrum([1, -1], [0, 0]), "eigenvalues must be"),
        (lambda: FiniteSpectrum([0.0], [1.0]), "the kernel is zero"),
        (lambda: FiniteSpectrum([1.0], [1.0, 2.0]), "signal must have 1 entries, as many as there are eigenvalues, got 2"),
        (lambda: FiniteSpectrum([1.0], ["one"]), "signal must be a sequence of numbers"),
        (lambda: kernel_ridge_equivalent(FiniteSpectrum([1.0], [1.0]), 0, 1.0), "n must be a number > 0, got 0"),
        (lambda: kernel_ridge_equivalent(FiniteSpectrum([1.0], [1.0]), 5, -1.0), "ridge must be a number >= 0, got -1.0"),
        (lambda: kernel_ridge_equivalent(FiniteSpectrum([1.0], [1.0]), 5, 1.0, math.nan), "noise must be"),
        (lambda: random_features_equivalent(FiniteSpectrum([1.0], [1.0]), 5, 5, 0.0), "ridge must be a number > 0, got 0.0"),
        (lambda: random_features_equivalent(FiniteSpectrum([1.0], [1.0]), 5, True, 1.0), "p must be a number"),
    ],
)
def test_bad_arguments_are_named(call, word):
    with pytest.raises(ValueError, match=word):
        call()
