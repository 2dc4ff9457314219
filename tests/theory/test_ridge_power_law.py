"""Power laws: sums to infinity against closed forms, direct sums and mpmath; exponents against local slopes of the equivalents."""

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from theoryck.numerics.errors import NotConverged
from theoryck.theory.ridge.limits import (
    bias_exponent,
    feature_exponents,
    kernel_ridge_equivalent,
    optimal_ridge,
    optimal_ridge_exponent,
    random_features_equivalent,
    risk_exponent,
    variance_exponent,
)
from theoryck.theory.ridge.model import FiniteSpectrum, PowerLaw, shifted_sum

WITHIN = 0.01

RELATIVE_ERROR = 1e-11


@pytest.mark.parametrize("shift", [1e-30, 1e-12, 1e-6, 1e-3, 0.3, 7.0])
def test_a_closed_form(shift):
    """sum 1/(1 + s k^2) = (pi/sqrt(s)) coth(pi/sqrt(s))/2 - 1/2, and its derivative in s for the square."""
    with mpmath.workdps(50):
        s = mpmath.mpf(shift)
        total = lambda s: mpmath.pi / mpmath.sqrt(s) * mpmath.coth(mpmath.pi / mpmath.sqrt(s)) / 2 - mpmath.mpf(1) / 2  # noqa: E731
        first, second = total(s), -mpmath.diff(total, s, h=s * mpmath.mpf("1e-15"))
    assert shifted_sum(2.0, 2.0, shift, 1) == pytest.approx(float(first), rel=RELATIVE_ERROR)
    # d/ds of k^-2/(k^-2 + s) is -k^-2/(k^-2 + s)^2.
    assert shifted_sum(2.0, 2.0, shift, 2) == pytest.approx(float(second), rel=RELATIVE_ERROR)


@pytest.mark.parametrize(
    ("decay", "alpha", "shift", "order"),
    [
        (1.5, 1.5, 1e-3, 1),
        (3.0, 1.5, 1e-4, 2),
        (1.2, 1.2, 1e-6, 1),
        (8.0, 4.0, 1e-30, 2),
        (2.5, 1.5, 1e-9, 2),
        (20, 16, 1e-5, 2),
    ],
)
def test_against_direct_sums(decay, alpha, shift, order):
    """400,000 terms, and the integral of the rest by mpmath; the formula of Euler and Maclaurin leaves 1e-13 there."""
    last = 4 * 10**5
    k = np.arange(1.0, last + 1)
    head = math.fsum(k**-decay / (k**-alpha + shift) ** order)
    with mpmath.workdps(20):
        term = lambda u: mpmath.e ** (u * (1 - mpmath.mpf(decay))) / (mpmath.e ** (-u * mpmath.mpf(alpha)) + shift) ** order  # noqa: E731
        start = mpmath.log(last + mpmath.mpf(1) / 2)
        rest = mpmath.quad(term, [start + step for step in range(0, 240, 4)])
    assert shifted_sum(decay, alpha, shift, order) == pytest.approx(head + float(rest), rel=RELATIVE_ERROR)


def test_against_mpmath_nsum():
    with mpmath.workdps(25):
        total = mpmath.nsum(lambda k: k ** mpmath.mpf(-3) / (k ** mpmath.mpf(-2) + mpmath.mpf("0.5")) ** 2, [1, mpmath.inf])
    assert shifted_sum(3.0, 2.0, 0.5, 2) == pytest.approx(float(total), rel=RELATIVE_ERROR)
    assert shifted_sum(1.5, 2.0, 0.5, 0) == pytest.approx(float(mpmath.zeta(1.5)), rel=RELATIVE_ERROR)


def test_the_spectrum_is_the_limit_of_its_beginning():

    k = np.arange(1.0, 2e5)
    beginning, whole = FiniteSpectrum(k**-2.0, k ** -(2 * 2 * 0.75 + 1)), PowerLaw(2, "3/4")
    for n, ridge in ((30, 1e-3), (300, 1e-5)):
        one, other = (kernel_ridge_equivalent(spectrum, n, ridge, 0.1) for spectrum in (beginning, whole))
        # The trace of what is left out is 5e-6, a part of the ridge n kappa = 0.05 or more.
        assert one.excess_risk == pytest.approx(other.excess_risk, rel=1e-3)


def slope(function, low=30, high=40):
    """The local exponent gamma between n = 2^30 and 2^40."""
    return -math.log2(function(2.0**high) / function(2.0**low)) / (high - low)


KERNEL_CASES = list(itertools.product(("3/2", "5/2"), ("1/4", "3/4", "3/2"), ("1/2", "1", "3")))


@pytest.mark.parametrize(("alpha", "r", "ell"), KERNEL_CASES)
def test_exponents_of_kernel_ridge_regression(alpha, r, ell):
    spectrum, power = PowerLaw(alpha, r), float(Fraction(ell))
    bias = slope(lambda n: kernel_ridge_equivalent(spectrum, n, n**-power).excess_risk)
    variance = slope(lambda n: kernel_ridge_equivalent(spectrum, n, n**-power, 1.0).variance)
    assert abs(bias - bias_exponent(alpha, r, ell)) < WITHIN
    assert abs(variance - variance_exponent(alpha, ell)) < WITHIN
    assert risk_exponent(alpha, r, ell, noisy=False) == bias_exponent(alpha, r, ell)
    assert risk_exponent(alpha, r, ell, noisy=True) == min(bias_exponent(alpha, r, ell), variance_exponent(alpha, ell))
    # Twins: the factor 2 missing, saturation dropped.
    assert abs(bias - bias_exponent(alpha, r, ell) / 2) > WITHIN
    unsaturated = 2 * min(Fraction(ell), Fraction(alpha)) * Fraction(r)
    assert abs(bias - unsaturated) < WITHIN or Fraction(r) > 1


@pytest.mark.parametrize("alpha", ["5/4", "3/2", "2", "4"])
def test_the_plateau(alpha):
    """s^2 gamma/(1 - gamma) with gamma = 1 - 1/alpha."""
    found = kernel_ridge_equivalent(PowerLaw(alpha, 1), 1e9, 0.0, 2.0)
    assert found.variance == pytest.approx(2.0 * (float(Fraction(alpha)) - 1), rel=1e-6)


FEATURE_CASES = [
    case
    for case in itertools.product(("3/2", "5/2"), ("1/4", "3/4", "3/2"), ("1/2", "6/5", "3"), ("3/10", "7/10", "13/10"))
    # Where two terms of the bias have exponents closer than 0.15 the slopes between 2^30 and 2^40 are still on their way.
    if case not in {("3/2", "3/4", "1/2", "7/10"), *(("5/2", r, "1/2", "3/10") for r in ("1/4", "3/4", "3/2"))}
]


@pytest.mark.parametrize("case", FEATURE_CASES, ids="-".join)
def test_exponents_of_random_features(case):
    alpha, r, ell, q = case
    spectrum, power, features = PowerLaw(alpha, r), float(Fraction(ell)), float(Fraction(q))
    solve = lambda n: random_features_equivalent(spectrum, n, n**features, n ** (1 - power), 1.0)  # noqa: E731
    bias, variance = feature_exponents(alpha, r, ell, q)
    assert abs(slope(lambda n: solve(n).bias) - bias) < WITHIN
    assert abs(slope(lambda n: solve(n).variance) - variance) < WITHIN
    # Twin: q ignored, where it is what decides.
    if min(Fraction(ell) / Fraction(alpha), 1) > Fraction(q):
        assert abs(slope(lambda n: solve(n).bias) - bias_exponent(alpha, r, ell)) > WITHIN
        assert abs(slope(lambda n: solve(n).variance) - variance_exponent(alpha, ell)) > WITHIN


def test_the_excluded_crossovers_are_reached_later():
    """alpha = 3/2, r = 3/4, l = 1/2, q = 7/10: exponents 3/4 and 0.78 meet; the slope still moves towards 3/4."""
    spectrum = PowerLaw("3/2", "3/4")
    solve = lambda n: random_features_equivalent(spectrum, n, n**0.7, n**0.5).bias  # noqa: E731
    slopes = [slope(solve, low, low + 20) for low in (20, 50, 79)]
    assert slopes[0] > slopes[1] > slopes[2] > 0.75
    assert slopes[2] < 0.76


@pytest.mark.parametrize(("alpha", "r"), [("3/2", "1/2"), ("2", "1/4"), ("2", "2")])
def test_the_best_ridge(alpha, r):
    spectrum = PowerLaw(alpha, r)
    best = {n: optimal_ridge(spectrum, n, 1.0) for n in (2.0**30, 2.0**40)}
    for n, (ridge, found) in best.items():
        others = [kernel_ridge_equivalent(spectrum, n, ridge * factor, 1.0).excess_risk for factor in (0.5, 0.99, 1.01, 2)]
        assert min(others) > found.excess_risk
    ell = optimal_ridge_exponent(alpha, r)
    assert abs(slope(lambda n: best[n][0]) - ell) < WITHIN
    assert abs(slope(lambda n: best[n][1].excess_risk) - risk_exponent(alpha, r, ell, noisy=True)) < WITHIN
    assert bias_exponent(alpha, r, ell) == variance_exponent(alpha, ell)
    with pytest.raises(NotConverged, match="give more samples"):
        optimal_ridge(spectrum, 1.5, 1e6)


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: PowerLaw(1, 1), "capacity must be a number > 1, got 1"),
        (lambda: PowerLaw(20, 1), "capacity must be a number between 1 and 16"),
        (lambda: PowerLaw(2, 0), "source must be a number > 0, got 0"),
        (lambda: PowerLaw("two", 1), "capacity must be a number"),
        (lambda: shifted_sum(1.0, 2.0, 1.0, 1), "needs decay > 1"),
        (lambda: shifted_sum(2.0, 2.0, 0.0, 1), "shift > 0"),
        (lambda: bias_exponent(2, 1, 0), "ridge must be a number > 0, got 0"),
        (lambda: feature_exponents(2, 1, 1, -1), "features must be a number > 0, got -1"),
        (lambda: optimal_ridge(PowerLaw(2, 1), 100, 0.0), "noise must be a number > 0"),
    ],
)
def test_bad_arguments_are_named(call, word):
    with pytest.raises(ValueError, match=word):
        call()
