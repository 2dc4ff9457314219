"""Deterministic equivalents of ridge regression with kernels and with random features, and the exponents of power laws.

Kernels. The estimator is argmin_f (1/n) sum_i (y_i - f(x_i))^2 + lambda |f|_H^2, the kernel has eigenvalues eta_k in L2(x), the
target coefficients f_k in its eigenbasis and the labels noise of variance s^2.  With
    kappa = lambda + (kappa/n) sum_k eta_k/(eta_k + kappa),     gamma = (1/n) sum_k (eta_k/(eta_k + kappa))^2
the excess risk E|f - f^|^2 is equivalent to [sum_k kappa^2 f_k^2/(eta_k + kappa)^2 + s^2 gamma]/(1 - gamma), and the error on the
samples to (lambda/kappa)^2 times the test error.

Random features. The estimator is f^(x) = p^(-1/2) sum_j a_j phi(x, w_j) with a = argmin_a sum_i (y_i - f^(x_i))^2 + lambda |a|^2
(no 1/n here). Sigma is the operator of the kernel E_w phi(x, w) phi(x', w), with eigenvalues eta_k, and beta the target in its
eigenbasis.  With T1 = Tr Sigma (Sigma + nu_2)^{-1}, T2 = Tr Sigma^2 (Sigma + nu_2)^{-2},
    n - lambda/nu_1 = T1,      p - p nu_1/nu_2 = T1,
    Upsilon = (p/n) [(1 - nu_1/nu_2)^2 + (nu_1/nu_2)^2 T2/(p - T2)],      chi = Tr Sigma (Sigma + nu_2)^{-2} / (p - T2),
    bias = nu_2^2/(1 - Upsilon) [<beta, (Sigma + nu_2)^{-2} beta> + chi <beta, Sigma (Sigma + nu_2)^{-2} beta>],
    variance = s^2 Upsilon/(1 - Upsilon).
For p -> infinity nu_1 = nu_2 = kappa of kernel ridge regression with ridge lambda/n.

No small number is computed as a difference, as for n = p and a small lambda most of them are small.  Of n - T1 and p - T1 the
smaller one is the root d > 0 of d (d + |p - n|) = lambda p/nu_2, the other d + |p - n|.  With A = nu_2 Tr Sigma (Sigma + nu_2)^{-2}
= T1 - T2 one has p - T2 = (p - T1) + A and n (1 - Upsilon) = (n - T1) + (p - T1) A/(p - T2).

Exponents are gamma of a risk ~ n^(-gamma), for lambda = n^(-l) in (1/n) sum (y - f)^2 + lambda |f|^2 and p = n^q features, as
exact fractions.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from theoryck.numerics.errors import NotConverged
from theoryck.quantities.arguments import nonnegative_array, positive
from theoryck.records.arguments import integer
from theoryck.theory.ridge.model import (
    FiniteSpectrum,
    PowerLaw,
    Values,
    bounded,
)

Spectrum = FiniteSpectrum | PowerLaw

LEAST_RIDGE = 1e-100
"""A ridge n^(-l) may be far below what anyone writes down."""

STEPS = 200
"""Newton steps and bisections: 60 bisections of a bracket of any width in log kappa that floats can hold reach its rounding."""

ROUNDING = 4e-16

LEAST = -708.0
"""The logarithm of the least float with all its digits."""


@dataclass(frozen=True, slots=True)
class KernelRidge:
    """What :func:`kernel_ridge_equivalent` returns, in floats.

    ``kappa`` is the effective ridge, ``gamma`` the share of the samples that noise is fitted with, ``bias`` and ``variance`` the
    two parts of the ``excess_risk``, ``test_error`` includes the noise of a new label, ``train_error`` is that on the samples.

    >>> from theoryck.theory.ridge import PowerLaw
    >>> found = kernel_ridge_equivalent(PowerLaw(2, 0.5), n=100, ridge=0.01, noise=0.1)
    >>> round(found.excess_risk, 4), abs(found.bias + found.variance - found.excess_risk) < 1e-12
    (0.0135, True)
    """

    kappa: float
    gamma: float
    bias: float
    variance: float
    excess_risk: float
    test_error: float
    train_error: float


def kernel_ridge_equivalent(spectrum: Spectrum, n: float, ridge: float, noise: float = 0.0) -> KernelRidge:
    """Return the equivalent of kernel ridge regression with n samples, lambda = ``ridge`` and labels of noise variance ``noise``.

    ``ridge`` >= 0 is lambda of (1/n) sum (y - f)^2 + lambda |f|_H^2, n times less than that of :func:`random_features_equivalent`,
    which belongs to the sum.  Ridge 0 is minimum-norm interpolation where the rank exceeds n and least squares where it is below; a
    rank equal to n has no finite equivalent.  Numbers may be texts such as "1/10".  Raises ValueError for bad arguments and
    :class:`~theoryck.numerics.errors.NotConverged` where kappa was not found.

    >>> limit = kernel_ridge_equivalent(FiniteSpectrum([1.0], [1.0], [100]), n=200, ridge=0.0, noise=1.0)
    >>> limit.kappa, round(limit.excess_risk, 12)  # least squares of 100 unknowns with 200 samples: 100/(200 - 100)
    (0.0, 1.0)
    """
    _check_spectrum(spectrum)
    n, ridge, noise = positive(n, "n"), positive(ridge, "ridge", zero=True, least=LEAST_RIDGE), positive(noise, "noise", zero=True)
    if ridge == 0 and spectrum.rank == n:
        raise ValueError(f"ridge must be > 0 where the rank of the kernel is n = {n:g}: the error diverges there, got 0")
    if ridge == 0 and spectrum.rank < n:
        complement = (n - spectrum.rank) / n
        # What lies in directions that the kernel has not: kappa^2 f^2/(0 + kappa)^2 as kappa -> 0; a power law has rank infinity.
        missed = float(spectrum.signal[spectrum.eigenvalues == 0].sum()) if isinstance(spectrum, FiniteSpectrum) else 0.0
        return _errors(0.0, spectrum.rank / n, complement, missed, noise, complement)
    kappa = effective_ridge(spectrum, n, ridge)
    ratio = ridge / kappa
    # 1 - gamma = lambda/kappa + (kappa/n) sum eta/(eta + kappa)^2 by the equation of kappa: no digits cancel.
    complement = ratio + spectrum.kernel_share(kappa, 1, 1) / n
    gamma = spectrum.kernel_share(kappa, 2, 0) / n
    return _errors(kappa, gamma, complement, spectrum.signal_share(kappa, 0, 2), noise, ratio)


def _errors(kappa: float, gamma: float, complement: float, missed: float, noise: float, ridge_ratio: float) -> KernelRidge:
    bias, variance = missed / complement, noise * gamma / complement
    test = bias + variance + noise
    return KernelRidge(kappa, gamma, bias, variance, bias + variance, test, ridge_ratio**2 * test)


def effective_ridge(spectrum: Spectrum, n: float, ridge: float) -> float:
    """Return kappa > 0 of kappa = ridge + (kappa/n) sum_k eta_k/(eta_k + kappa), for ridge > 0 or a rank above n.

    Raises NotConverged where no kappa solves it to rounding.

    >>> round(effective_ridge(FiniteSpectrum([1.0], [0.0], [10]), 10, 0.5), 12)
    1.0
    """

    def excess(log_kappa: float) -> tuple[float, float]:
        # n - sum eta/(eta + kappa) - n lambda/kappa increases with kappa: its only zero is the effective ridge.
        kappa = math.exp(log_kappa)
        left = n * (ridge / kappa)
        return spectrum.remainder(n, kappa) - left, spectrum.kernel_share(kappa, 1, 1) + left

    # eta/(eta + kappa) < eta/kappa bounds kappa from above by lambda + trace/n.
    top = log_sum(math.log(ridge) if ridge else -math.inf, spectrum.log_trace - math.log(n))
    return math.exp(increasing_zero(excess, top, "kappa"))


def log_sum(a: float, b: float) -> float:
    """Return log(e^a + e^b).

    >>> log_sum(-math.inf, 2.0), log_sum(1000.0, 0.0)
    (2.0, 1000.0)
    """
    return max(a, b) + math.log1p(math.exp(min(a, b) - max(a, b)))


def increasing_zero(function: Callable[[float], tuple[float, float]], high: float, name: str) -> float:
    """Return the zero below ``high`` of an increasing function, given as (value, slope): Newton, bisection where it would leave the
    bracket.  A value of -inf is allowed below the zero.  Raises NotConverged, saying where it stopped.

    >>> increasing_zero(lambda x: (x**3 - 8, 3 * x**2), 5.0, "x")
    2.0
    """
    low, width = max(high - 1.0, LEAST), 1.0
    while function(low)[0] > 0:
        if low == LEAST:
            raise NotConverged(f"no {name} was found above exp({low:.3g}): the equation keeps its sign")
        width *= 2
        low = max(low - width, LEAST)
    value, slope = function(high)
    # At the upper end itself, where the bound is attained, the value may be negative by rounding.
    if value < -1e-11 * slope:
        raise NotConverged(f"no {name} was found below exp({high:.3g}): the equation keeps its sign")
    x, moved = high, math.inf
    for _ in range(STEPS):
        value, slope = function(x)
        if math.isnan(value):
            raise NotConverged(f"the equation of {name} has no value at exp({x!r}): the numbers leave the range of floats")
        low, high = (x, high) if value <= 0 else (low, x)
        step = -value / slope if math.isfinite(value) and slope > 0 else math.nan
        tiny, slow = ROUNDING * max(1.0, abs(x)), abs(step) >= moved / 2
        # A small step that does not halve what is left is at the rounding of the function, a large one is far from the zero.
        if abs(step) <= tiny or high - low <= tiny or (abs(step) < 1e-11 and slow):
            return x + step if abs(step) < 1e-11 else x
        newton = math.isfinite(step) and not slow and low < x + step < high
        following = x + step if newton else (low + high) / 2
        x, moved = following, abs(following - x)
    raise NotConverged(f"{name} was not reached in {STEPS} steps: exp({low!r}) < {name} < exp({high!r})")


@dataclass(frozen=True, slots=True)
class RandomFeaturesRidge:
    """What :func:`random_features_equivalent` returns, in floats.

    ``nu1`` and ``nu2`` are the effective ridges, ``upsilon`` is the share of the samples that fits noise, ``chi`` the weight of the
    noise of the features, ``bias`` and ``variance`` are the two parts of the ``excess_risk``, ``test_error`` includes the noise of
    a new label.

    >>> from theoryck.theory.ridge import PowerLaw
    >>> found = random_features_equivalent(PowerLaw(2, 0.5), n=100, p=50, ridge=1.0, noise=0.1)
    >>> round(found.excess_risk, 4), round(found.test_error - found.excess_risk, 12)
    (0.0205, 0.1)
    """

    nu1: float
    nu2: float
    upsilon: float
    chi: float
    bias: float
    variance: float
    excess_risk: float
    test_error: float


def random_features_equivalent(spectrum: Spectrum, n: float, p: float, ridge: float, noise: float = 0.0) -> RandomFeaturesRidge:
    """Return the equivalent of random-features ridge regression with n samples, p features, lambda = ``ridge`` > 0 and labels of
    noise variance ``noise``.

    Here lambda belongs to the sum, sum_i (y_i - f)^2 + lambda |a|^2, as in the source; :func:`kernel_ridge_equivalent` and the
    quantities ``features_risk`` and ``sphere_features_risk`` divide the sum by n: their lambda is this ``ridge`` divided by n.
    Raises ValueError for bad arguments and :class:`~theoryck.numerics.errors.NotConverged` where nu_2 was not found.

    >>> from theoryck.theory.ridge import FiniteSpectrum, kernel_ridge_equivalent
    >>> spectrum = FiniteSpectrum([1.0, 0.1], [1.0, 0.5], [3, 40])
    >>> wide = random_features_equivalent(spectrum, n=30, p=1e12, ridge=3.0, noise=0.1)  # infinitely many features: the kernel
    >>> abs(wide.excess_risk / kernel_ridge_equivalent(spectrum, n=30, ridge=0.1, noise=0.1).excess_risk - 1) < 1e-9
    True
    """
    _check_spectrum(spectrum)
    n, p, noise = positive(n, "n"), positive(p, "p"), positive(noise, "noise", zero=True)
    ridge = positive(ridge, "ridge", least=LEAST_RIDGE)
    nu2 = _outer_ridge(spectrum, n, p, ridge)
    least, apart = _least_left(n, p, ridge, nu2), abs(p - n)
    left_n, left_p = (least, least + apart) if p >= n else (least + apart, least)  # n - T1 and p - T1
    t1, t2, between = (spectrum.kernel_share(nu2, a, b) for a, b in ((1, 0), (2, 0), (1, 1)))
    free, ratio = left_p + between, left_p / p  # p - T2 and nu1/nu2
    upsilon = (t1 * (t1 / p) + ratio * (left_p / free) * t2) / n
    complement = (left_n + left_p * (between / free)) / n
    missed = spectrum.signal_share(nu2, 0, 2) + between / free * spectrum.signal_share(nu2, 1, 1)
    bias, variance = missed / complement, noise * (upsilon / complement)
    test, chi = bias + variance + noise, between / free / nu2
    return RandomFeaturesRidge(nu2 * ratio, nu2, upsilon, chi, bias, variance, bias + variance, test)


def _least_left(n: float, p: float, ridge: float, nu2: float) -> float:
    """min(n, p) - T1 by the equations: d > 0 of d (d + |p - n|) = lambda p/nu_2."""
    root, apart = 2 * math.sqrt(ridge) * math.sqrt(p) / math.sqrt(nu2), abs(p - n)
    return root / 2 * (root / (apart + math.hypot(apart, root)))


def _outer_ridge(spectrum: Spectrum, n: float, p: float, ridge: float) -> float:
    """nu_2, from min(n, p) - T1 = d(nu_2): the left side increases with nu_2, the right one decreases."""
    smaller, apart = min(n, p), abs(p - n)

    def excess(log_nu: float) -> tuple[float, float]:
        nu = math.exp(log_nu)
        least = _least_left(n, p, ridge, nu)
        slope = least * ((least + apart) / (2 * least + apart))
        return spectrum.remainder(smaller, nu) - least, spectrum.kernel_share(nu, 1, 1) + slope

    # T1 < trace/nu: at nu = 2 trace/min(n, p) + 4 lambda/n T1 and d are both at most half of min(n, p).
    top = log_sum(math.log(2) + spectrum.log_trace - math.log(smaller), math.log(4) + math.log(ridge) - math.log(n))
    return math.exp(increasing_zero(excess, top, "nu_2"))


def _check_spectrum(spectrum: Any) -> None:
    if not isinstance(spectrum, FiniteSpectrum | PowerLaw):
        got = reprlib.repr(spectrum)
        raise ValueError(f"spectrum must be a FiniteSpectrum(eigenvalues, signal) or a PowerLaw(capacity, source), got {got}")


def exact_exponent(value: Any, name: str) -> Fraction:
    """Return an exponent between 0 and 64 of a ridge n^(-l) or of p = n^q features, exactly; ValueError for anything else.

    >>> exact_exponent("1/3", "ridge")
    Fraction(1, 3)
    """
    return bounded(value, name, 0, 64)


def optimal_ridge(spectrum: PowerLaw, n: float, noise: float) -> tuple[float, KernelRidge]:
    """Return the lambda that minimises the equivalent excess risk with n samples and noise > 0, and the equivalent there.

    The risk is searched between n^(-2 alpha) (at least 1e-100) and 1 on a grid of log lambda and polished; the minimiser is known
    to about 1e-7 (a minimum is flat), the risk to rounding.  Raises NotConverged where the least value lies at an end.

    >>> ridge, limit = optimal_ridge(PowerLaw(2, "1/2"), 2**30, 1.0)
    >>> other = optimal_ridge(PowerLaw(2, "1/2"), 2**32, 1.0)[1]
    >>> round(math.log2(limit.excess_risk / other.excess_risk) / 2, 3)  # 2 alpha r/(1 + 2 alpha r) = 2/3
    0.667
    """
    if not isinstance(spectrum, PowerLaw):
        raise ValueError(f"spectrum must be a PowerLaw(capacity, source), got {spectrum!r}")
    n, noise = positive(n, "n"), positive(noise, "noise")
    if n <= 1:
        raise ValueError(f"n must be a number > 1 for a search along powers of n, got {n:g}")
    logs = np.linspace(max(-2 * float(spectrum.capacity) * math.log(n), -230.0), 0.0, 21)  # e^-230 = 1e-99.9

    def risk(log_ridge: float) -> float:
        return math.log(kernel_ridge_equivalent(spectrum, n, math.exp(log_ridge), noise).excess_risk)

    best = int(np.argmin([risk(value) for value in logs]))
    if best in (0, len(logs) - 1):
        raise NotConverged(
            f"the risk is least at the end exp({logs[best]:.3g}) of the search: give more samples or {'less' if best else 'more'} "
            f"noise, got n = {n:g}, noise = {noise:g}"
        )
    found = minimize_scalar(risk, bounds=(logs[best - 1], logs[best + 1]), method="bounded", options={"xatol": 1e-9})
    ridge = math.exp(float(found.x))
    return ridge, kernel_ridge_equivalent(spectrum, n, ridge, noise)


def bias_exponent(capacity: Any, source: Any, ridge: Any) -> Fraction:
    """Return gamma of the bias of kernel ridge regression, 2 min(l, alpha) min(r, 1), at lambda = n^(-l).

    >>> bias_exponent(2, "1/2", 1), bias_exponent(2, 3, 5)
    (Fraction(1, 1), Fraction(4, 1))
    """
    alpha, r, ell = _regime(capacity, source, ridge)
    return 2 * min(ell, alpha) * min(r, Fraction(1))


def variance_exponent(capacity: Any, ridge: Any) -> Fraction:
    """Return gamma of the variance of kernel ridge regression, max(1 - l/alpha, 0), at lambda = n^(-l).

    >>> variance_exponent(2, 1), variance_exponent(2, 3)
    (Fraction(1, 2), Fraction(0, 1))
    """
    alpha, _, ell = _regime(capacity, 1, ridge)
    return max(1 - ell / alpha, Fraction(0))


def risk_exponent(capacity: Any, source: Any, ridge: Any, noisy: bool) -> Fraction:
    """Return gamma of the excess risk of kernel ridge regression: that of the bias without noise, else the smaller of the two.

    Raises ValueError unless ``noisy`` is True or False.

    >>> [str(risk_exponent(2, "1/2", ell, True)) for ell in ("1/2", "2/3", 1, 3)]
    ['1/2', '2/3', '1/2', '0']
    """
    if not isinstance(noisy, bool | np.bool_):
        raise ValueError(f"noisy must be True or False, got {noisy!r}")
    bias = bias_exponent(capacity, source, ridge)
    return min(bias, variance_exponent(capacity, ridge)) if noisy else bias


def optimal_ridge_exponent(capacity: Any, source: Any) -> Fraction:
    """Return l* = alpha/(1 + 2 alpha min(r, 1)), where bias and variance have one exponent.

    >>> optimal_ridge_exponent(2, "1/2"), risk_exponent(2, "1/2", "2/3", noisy=True)
    (Fraction(2, 3), Fraction(2, 3))
    """
    alpha, r, _ = _regime(capacity, source, 1)
    return alpha / (1 + 2 * alpha * min(r, Fraction(1)))


def feature_exponents(capacity: Any, source: Any, ridge: Any, features: Any) -> tuple[Fraction, Fraction]:
    """Return gamma of the bias and of the variance of random features, p = n^q, lambda = n^(-l).

    With m = min(l/alpha, q, 1): min{2 alpha m min(r, 1), (2 alpha min(r, 1/2) - 1) m + q} and 1 - m.

    >>> feature_exponents(2, "1/4", "3/2", "1/2")
    (Fraction(1, 2), Fraction(1, 2))
    """
    alpha, r, ell = _regime(capacity, source, ridge)
    q = exact_exponent(features, "features")
    m = min(ell / alpha, q, Fraction(1))
    kernel, noise_of_features = 2 * alpha * m * min(r, Fraction(1)), (2 * alpha * min(r, Fraction(1, 2)) - 1) * m + q
    return min(kernel, noise_of_features), 1 - m


def _regime(capacity: Any, source: Any, ridge: Any) -> tuple[Fraction, Fraction, Fraction]:
    return bounded(capacity, "capacity", 1, 16), bounded(source, "source", 0, 16), exact_exponent(ridge, "ridge")


@dataclass(frozen=True, slots=True)
class ThresholdLimit:
    """At n = c B(d, k): what is left of degree k (``residual``), and by what the powers of higher degrees are multiplied
    (``inflation``).
    """

    residual: float
    inflation: float


def threshold_limit(coefficients: Values, degree: int, samples: float, ridge: float = 0.0) -> ThresholdLimit:
    """Return the limit d -> infinity of degree k at n = ``samples`` * B(d, k), lambda = ``ridge``/n.

    Lower degrees are learnt by then, higher ones act as a ridge: with zeta = (ridge + sum_{m > k} a_m)/a_k, c = samples, the degree
    is ridge regression on B(d, k) equal directions, s = zeta/c + s/(c (1 + s)); the residual is (s/(1+s))^2/(1 - gamma), the powers
    of higher degrees count 1/(1 - gamma), gamma = 1/(c (1 + s)^2).  Raises ValueError for bad arguments or where a_k = 0 or
    zeta = 0.

    >>> limit = threshold_limit([0, 1, 1], degree=1, samples=1.0)
    >>> round(limit.residual, 4), round(limit.inflation, 4)  # zeta = 1: s = (1 + sqrt(5))/2
    (0.4472, 1.1708)
    """
    a, k = nonnegative_array(coefficients, "coefficients"), integer(degree, "degree", 0)
    c, ridge = positive(samples, "samples"), positive(ridge, "ridge", zero=True, least=LEAST_RIDGE)
    zeta = (ridge + sum(a[k + 1 :].tolist())) / float(a[k]) if k < len(a) and a[k] > 0 else 0.0
    if zeta == 0:
        raise ValueError(f"degree {k} needs a coefficient > 0 and higher ones or a ridge > 0, got {list(coefficients)!r}")
    # u = c s is the positive root of u^2 - (1 - c + zeta) u - c zeta = 0, and 1 - gamma = zeta/u + u/(c + u)^2: no digits cancel.
    b = (1 - c) + zeta
    root = math.hypot(b, 2 * math.sqrt(c) * math.sqrt(zeta))
    u, over_u = ((b + root) / 2, 2 * zeta / (b + root)) if b >= 0 else (zeta * (2 * c / (root - b)), (root - b) / 2 / c)
    share = u / (c + u)
    complement = over_u + share / (c + u)
    return ThresholdLimit(share * (share / complement), 1 / complement)
