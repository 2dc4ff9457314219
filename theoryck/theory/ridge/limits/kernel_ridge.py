"""Kernel ridge regression of any spectrum: the deterministic equivalent of its errors.

The estimator is argmin_f (1/n) sum_i (y_i - f(x_i))^2 + lambda |f|_H^2, the kernel has eigenvalues eta_k in L2(x), the target
coefficients f_k in its eigenbasis and the labels noise of variance s^2.  With
    kappa = lambda + (kappa/n) sum_k eta_k/(eta_k + kappa),     gamma = (1/n) sum_k (eta_k/(eta_k + kappa))^2
the excess risk E|f - f^|^2 is equivalent to [sum_k kappa^2 f_k^2/(eta_k + kappa)^2 + s^2 gamma]/(1 - gamma), and the error on the
samples to (lambda/kappa)^2 times the test error.  Sums are asked of a :class:`Spectrum`, finite or not.

Source: Cui, Loureiro, Krzakala, Zdeborova (2021), arXiv:2105.15004; the objective as in Loureiro's talk (10 April 2025).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from theoryck.numerics.errors import NotConverged
from theoryck.theory.ridge.model import (
    FiniteSpectrum,
    Spectrum,
    check_digits,
    check_spectrum,
    in_range,
    kernel_share,
    log_trace,
    nonnegative,
    positive,
    remainder,
    signal_share,
)

STEPS = 200
"""Newton steps and bisections: 60 bisections of a bracket of any width in log kappa that floats can hold reach its rounding."""

ROUNDING = 4e-16

LEAST, LARGEST = -708.0, 709.0
"""The logarithms of the ends of the range of floats with all their digits."""


@dataclass(frozen=True, slots=True)
class KernelRidge:
    """What :func:`kernel_ridge_equivalent` returns, in floats.

    ``kappa`` is the effective ridge, ``gamma`` the share of the samples that noise is fitted with, ``bias`` and ``variance``
    the
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
    rank equal to n has no finite equivalent.  Numbers may be texts such as "1/10".  Raises ValueError for bad arguments or a risk
    beyond the range of floats, and :class:`~theoryck.numerics.errors.NotConverged` where kappa was not found.

    Source: Cui, Loureiro, Krzakala, Zdeborova (2021), arXiv:2105.15004.

    >>> limit = kernel_ridge_equivalent(FiniteSpectrum([1.0], [1.0], [100]), n=200, ridge=0.0, noise=1.0)
    >>> limit.kappa, round(limit.excess_risk, 12)  # least squares of 100 unknowns with 200 samples: 100/(200 - 100)
    (0.0, 1.0)
    """
    check_spectrum(spectrum)
    n, ridge, noise = positive(n, "n"), nonnegative(ridge, "ridge"), nonnegative(noise, "noise")
    if ridge == 0 and spectrum.rank == n:
        raise ValueError(f"ridge must be > 0 where the rank of the kernel is n = {n:g}: the error diverges there, got 0")
    if ridge == 0 and spectrum.rank < n:
        complement = (n - spectrum.rank) / n
        return _errors(0.0, spectrum.rank / n, complement, _unreachable(spectrum), noise, complement)
    kappa = effective_ridge(spectrum, n, ridge)
    ratio = ridge / kappa
    # 1 - gamma = lambda/kappa + (kappa/n) sum eta/(eta + kappa)^2 by the equation of kappa: no digits cancel.
    complement = ratio + kernel_share(spectrum, kappa, 1, 1) / n
    gamma = kernel_share(spectrum, kappa, 2, 0) / n
    return _errors(kappa, gamma, complement, signal_share(spectrum, kappa, 0, 2), noise, ratio)


def _errors(kappa: float, gamma: float, complement: float, missed: float, noise: float, ridge_ratio: float) -> KernelRidge:
    bias, variance = missed / complement, noise * gamma / complement
    test = in_range(bias + variance + noise, "the risk")
    return KernelRidge(kappa, gamma, bias, variance, bias + variance, test, ridge_ratio**2 * test)


def _unreachable(spectrum: Spectrum) -> float:
    """The part of the target in directions the kernel has not: kappa^2 f^2/(0 + kappa)^2 as kappa -> 0."""
    if not isinstance(spectrum, FiniteSpectrum):
        raise ValueError(
            f"ridge must be > 0 where the rank is below n for a spectrum that is no FiniteSpectrum, got 0 with {spectrum!r}"
        )
    return float(spectrum.signal[spectrum.eigenvalues == 0].sum())


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
        return remainder(spectrum, n, kappa) - left, kernel_share(spectrum, kappa, 1, 1) + left

    # eta/(eta + kappa) < eta/kappa bounds kappa from above by lambda + trace/n.
    top = log_sum(math.log(ridge) if ridge else -math.inf, log_trace(spectrum) - math.log(n))
    found = increasing_zero(excess, top, "kappa")
    check_digits(spectrum, n, excess(found)[1])
    return math.exp(found)


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
    if not LEAST < high < LARGEST:
        raise NotConverged(f"{name} < exp({high:.4g}) leaves the range of floats: scale the arguments")
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
