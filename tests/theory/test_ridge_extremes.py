"""Equivalents where small numbers decide (n or p at the rank, n = p, ridges of any size): against the formulas in many digits."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from theoryck.theory.ridge.limits import (
    kernel_ridge_equivalent,
    optimal_ridge,
    random_features_equivalent,
    risk_exponent,
    threshold_limit,
)
from theoryck.theory.ridge.model import FiniteSpectrum, PowerLaw, sphere_eigenvalues, sphere_spectrum

ETA, SIGNAL, SIZES = (1.0, 0.1, 0.01), (1.0, 0.5, 0.1), (10, 10, 10)
SPECTRUM = FiniteSpectrum(ETA, SIGNAL, SIZES)


def digits(ridge):
    """What cancels in the formulas is of the order of lambda: 40 digits are left."""
    return 40 + math.ceil(-math.log10(ridge))


def bisected(increasing):
    """exp(u) at the zero of an increasing function of exp(u), |u| < 800, by halving."""
    low, high = mpmath.mpf(-800), mpmath.mpf(800)
    for _ in range(int(3.4 * mpmath.mp.dps) + 12):
        middle = (low + high) / 2
        low, high = (low, middle) if increasing(mpmath.exp(middle)) > 0 else (middle, high)
    return mpmath.exp(low)


def kernel_in_many_digits(n, ridge, noise):
    """The formulas as they are printed, with more digits than cancel."""
    with mpmath.workdps(digits(ridge)):
        levels, lam, n = (
            list(zip(map(mpmath.mpf, ETA), map(mpmath.mpf, SIGNAL), SIZES, strict=True)),
            mpmath.mpf(ridge),
            mpmath.mpf(n),
        )
        kappa = bisected(lambda k: n - n * lam / k - sum(m * e / (e + k) for e, _, m in levels))
        gamma = sum(m * (e / (e + kappa)) ** 2 for e, _, m in levels) / n
        return float((sum(kappa**2 * f / (e + kappa) ** 2 for e, f, _ in levels) + mpmath.mpf(noise) * gamma) / (1 - gamma))


def features_in_many_digits(n, p, ridge, noise):
    with mpmath.workdps(digits(ridge)):
        levels, lam = list(zip(map(mpmath.mpf, ETA), map(mpmath.mpf, SIGNAL), SIZES, strict=True)), mpmath.mpf(ridge)
        n, p = mpmath.mpf(n), mpmath.mpf(p)
        t1 = lambda v: sum(m * e / (e + v) for e, _, m in levels)  # noqa: E731
        nu2 = bisected(lambda v: -1 if t1(v) >= n else p - p * lam / (n - t1(v)) / v - t1(v))
        nu1, t2 = lam / (n - t1(nu2)), sum(m * (e / (e + nu2)) ** 2 for e, _, m in levels)
        upsilon = p / n * ((1 - nu1 / nu2) ** 2 + (nu1 / nu2) ** 2 * t2 / (p - t2))
        chi = sum(m * e / (e + nu2) ** 2 for e, _, m in levels) / (p - t2)
        missed = nu2**2 * sum(f * (1 + chi * e) / (e + nu2) ** 2 for e, f, _ in levels)
        return float((missed + mpmath.mpf(noise) * upsilon) / (1 - upsilon)), float(nu1)


@pytest.mark.parametrize("n", [29, 29.999, 30, 31])
@pytest.mark.parametrize("ridge", [1e-12, 1e-30, 1e-60])
def test_kernel_at_the_rank(n, ridge):
    found = kernel_ridge_equivalent(SPECTRUM, n, ridge, 0.1).excess_risk
    assert found == pytest.approx(kernel_in_many_digits(n, ridge, 0.1), rel=1e-12)


@pytest.mark.parametrize(("n", "p"), [(7, 7), (1, 1), (7.001, 7), (30, 100), (100, 30), (30, 30)])
@pytest.mark.parametrize("ridge", [1e-15, 1e-30, 1e-60])
def test_features_at_the_peak(n, p, ridge):
    found = random_features_equivalent(SPECTRUM, n, p, ridge, 0.1)
    risk, nu1 = features_in_many_digits(n, p, ridge, 0.1)
    assert found.excess_risk == pytest.approx(risk, rel=1e-12)
    assert found.nu1 == pytest.approx(nu1, rel=1e-12)


def test_one_level_has_a_closed_form():
    """n = rank, eta = 1: kappa^2/(1 + kappa) = lambda, so the risk is near s^2/(2 sqrt(lambda)): 5e13 at 1e-30, s^2 = 0.1."""
    assert kernel_ridge_equivalent(FiniteSpectrum([1.0], [1.0], [30]), 30, 1e-30, 0.1).excess_risk == pytest.approx(5e13, rel=1e-12)
    # The first of three levels fills the samples: kappa is the geometric mean of the two about the gap.
    gap = kernel_ridge_equivalent(FiniteSpectrum([1.0, 1e-10, 1e-20], [1.0, 1.0, 1.0], [10, 10, 10]), 20, 0.0)
    assert gap.kappa == pytest.approx(1e-15, rel=1e-9)


@pytest.mark.parametrize("scale", [1e-25, 1e25])
def test_units_of_the_kernel_do_not_matter(scale):
    scaled = FiniteSpectrum([scale * e for e in ETA], SIGNAL, SIZES)
    one, other = (kernel_ridge_equivalent(s, 5, 0.1 * c, 0.1) for s, c in ((SPECTRUM, 1.0), (scaled, scale)))
    assert other.excess_risk == pytest.approx(one.excess_risk, rel=1e-11)
    one, other = (random_features_equivalent(s, 5, 7, 0.1 * c, 0.1) for s, c in ((SPECTRUM, 1.0), (scaled, scale)))
    assert other.excess_risk == pytest.approx(one.excess_risk, rel=1e-11)


def test_nothing_is_learnt_from_a_huge_ridge_or_a_tiny_sample():
    for found in (
        kernel_ridge_equivalent(SPECTRUM, 5, 1e30, 0.1),
        kernel_ridge_equivalent(SPECTRUM, 1e-30, 0.1, 0.1),
        random_features_equivalent(SPECTRUM, 5, 7, 1e30, 0.1),
        random_features_equivalent(SPECTRUM, 1e-30, 7, 0.1, 0.1),
        random_features_equivalent(SPECTRUM, 7, 1e-30, 0.1, 0.1),
        random_features_equivalent(PowerLaw(16, 1), 1e-30, 1, 0.1, 0.1),
    ):
        assert found.excess_risk == pytest.approx(sum(SIGNAL), rel=1e-11) or found.excess_risk == pytest.approx(1.0, rel=1e-8)


def test_sums_of_finite_spectra():
    spectrum = FiniteSpectrum([2.0, 0.0, 1e20], [0.5, 1.0, 3.0], [4, 5, 6])
    assert spectrum.kernel_share(0.5, 1, 1) == pytest.approx(4 * 2 * 0.5 / 2.5**2 + 3e-20, rel=1e-15)
    assert spectrum.signal_share(0.5, 0, 1) == pytest.approx(0.5 * 0.5 / 2.5 + 1, rel=1e-15)
    assert spectrum.signal_share(0.5, 3, 0) == pytest.approx(0.5 * 0.8**3 + 3, rel=1e-15)
    assert spectrum.rank == 10
    with pytest.raises(ValueError, match="read-only"):
        spectrum.eigenvalues[0] = 3.0
    assert FiniteSpectrum([np.float32(0.5)], [np.int64(2)]).signal_share(0.5, 1, 0) == 1.0


def test_sums_of_power_laws():
    """sum 1/(1 + s k^2) = pi/(2 sqrt(s)) - 1/2 for small s, zeta(1 + x) = 1/x + 0.5772... for small x."""
    assert PowerLaw(2, 1).kernel_share(1e-60, 1, 0) == pytest.approx(math.pi / 2 * 1e30, rel=1e-11)
    assert math.exp(PowerLaw("1.000000000001", 1).log_trace) == pytest.approx(1e12 + 0.5772156649, rel=1e-13)
    with mpmath.workdps(30):
        expected = mpmath.zeta(1 + 4 * mpmath.mpf(10) ** -12)
    assert PowerLaw(2, "1e-12").signal_share(1.0, 0, 0) == pytest.approx(float(expected), rel=1e-12)
    assert PowerLaw(np.float32(1.5), 1).kernel_share(1.0, 1, 0) == PowerLaw("3/2", 1).kernel_share(1, 1, 0)
    # The best risk follows its power law to the end of the domain.
    spectrum = PowerLaw(2, "1/2")
    risks = [optimal_ridge(spectrum, n, 1)[1].excess_risk for n in (1e20, 1e30)]
    assert math.log10(risks[0] / risks[1]) / 10 == pytest.approx(2 / 3, abs=0.001)


@pytest.mark.parametrize("d", [2, 16, 10**6])
def test_many_coefficients_of_a_kernel_on_the_sphere(d):
    """E t^m P_k(t) = m!/(2^j j! d (d + 2) ...), m = k + 2j, as a quotient of integers; 600 coefficients take under 0.1 s."""
    a = [0.0, 1.0] * 60 + [0.25]
    found = sphere_eigenvalues(a, d)
    for k in (0, 1, 2, 7, 40, 119, 120):
        exact = sum(
            Fraction(a[k + 2 * j])
            * Fraction(math.factorial(k + 2 * j), 2**j * math.factorial(j) * math.prod(d + 2 * i for i in range(k + j)))
            for j in range((len(a) - k + 1) // 2)
        )
        assert found[k] == pytest.approx(float(exact), rel=1e-15, abs=1e-307)
    assert len(sphere_eigenvalues([0, 1] * 300, 16)) == 600


@pytest.mark.parametrize(("samples", "ridge"), [(1.0, 1e-30), (0.5, 1e-30), (2.0, 1e-30), (1e-30, 0.5), (1e30, 0.5)])
def test_the_threshold_without_higher_degrees(samples, ridge):
    found = threshold_limit([0, 1], 1, samples, ridge)
    with mpmath.workdps(200):
        c, zeta = mpmath.mpf(samples), mpmath.mpf(ridge)
        b = 1 - c + zeta
        s = (b + mpmath.sqrt(b * b + 4 * c * zeta)) / (2 * c)
        gamma = 1 / (c * (1 + s) ** 2)
        residual, inflation = (s / (1 + s)) ** 2 / (1 - gamma), 1 / (1 - gamma)
    assert found.residual == pytest.approx(float(residual), rel=1e-13)
    assert found.inflation == pytest.approx(float(inflation), rel=1e-13)


def test_texts_and_numbers_are_one():
    one = kernel_ridge_equivalent(FiniteSpectrum(["1/2", 1], ["0.5", "2"]), "5", "1/10", "1/4")
    other = kernel_ridge_equivalent(FiniteSpectrum([0.5, 1.0], [0.5, 2.0]), np.int64(5), 0.1, np.float32(0.25))
    assert one == other
    assert threshold_limit([0, "1/2", 1], 1, "1/2") == threshold_limit([0, 0.5, 1], 1, 0.5)


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: kernel_ridge_equivalent([1, 2], 5, 0.1), r"spectrum must be a FiniteSpectrum\(.*, got \[1, 2\]"),
        (lambda: random_features_equivalent("x", 5, 5, 0.1), "spectrum must be a FiniteSpectrum"),
        (lambda: kernel_ridge_equivalent(FiniteSpectrum, 5, 0.1), "spectrum must be a FiniteSpectrum"),
        (lambda: optimal_ridge(SPECTRUM, 5, 0.1), r"spectrum must be a PowerLaw\(capacity, source\)"),
        (lambda: optimal_ridge(PowerLaw(2, 1), 0.5, 0.1), "n must be a number > 1"),
        (lambda: optimal_ridge(PowerLaw(2, 1), 100, 1e-30), "give more samples or more noise, got n = 100, noise = 1e-30"),
        (lambda: kernel_ridge_equivalent(SPECTRUM, -1, 0.1), "n must be a number > 0, got -1"),
        (
            lambda: kernel_ridge_equivalent(SPECTRUM, 10**5000, 0.1),
            "n must lie between .*, got one that fits no float",
        ),
        (
            lambda: kernel_ridge_equivalent(SPECTRUM, "1e-40", 0.1),
            r"n must lie between 1e-30 and 1e\+30, got 1e-40: change",
        ),
        (lambda: kernel_ridge_equivalent(SPECTRUM, 5, 1e-120), r"ridge must lie between 1e-100 and 1e\+30, got 1e-120"),
        (lambda: FiniteSpectrum([1.0, "x"], [1.0, 1.0]), "eigenvalues must be a sequence of numbers >= 0, got 'x' at 1"),
        (lambda: FiniteSpectrum(np.array(1.0), [1.0]), "eigenvalues must be a sequence of numbers >= 0, got array"),
        (lambda: FiniteSpectrum("12", [1.0, 1.0]), "eigenvalues must be a sequence of numbers >= 0, got '12'"),
        (lambda: risk_exponent(2, 1, 1, "no"), "noisy must be True or False, got 'no'"),
        (lambda: sphere_eigenvalues([1.0] * 5001, 16), "coefficients must be at most 5000 numbers, got 5001"),
        (lambda: sphere_spectrum([1.0] * 300, 5000, [1.0]), "degree 161 has more directions in d = 5e"),
    ],
)
def test_bad_arguments_are_named(call, word):
    with pytest.raises(ValueError, match=word):
        call()
