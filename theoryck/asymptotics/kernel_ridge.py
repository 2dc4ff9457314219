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
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from theoryck.asymptotics.numbers import NotConverged

Array = NDArray[np.float64]
Values = Sequence[float] | Array

STEPS = 200
"""Newton steps and bisections: 60 bisections of a bracket of any width in log kappa that floats can hold reach its rounding."""

ROUNDING = 4e-16


class Spectrum(Protocol):
    """What the equations need of a kernel and a target: sums over eigenspaces, and how many eigenvalues are positive."""

    @property
    def rank(self) -> float:
        """Return the number of positive eigenvalues, ``math.inf`` if there is no end of them."""

    def kernel_sum(self, shift: float, power: int, order: int) -> float:
        """Return sum_k eta_k^power/(eta_k + shift)^order over all eigenvalues, with their multiplicities."""

    def signal_sum(self, shift: float, power: int, order: int) -> float:
        """Return sum_k f_k^2 eta_k^power/(eta_k + shift)^order."""


class FiniteSpectrum:
    """Finitely many eigenspaces: ``eigenvalues`` eta_k >= 0, ``signal`` the power f_k^2 of the target in each (its sum over the
    eigenspace), ``multiplicities`` their dimensions (1 if not given), all of shape (m,).

    The eigenvalues need no order.  Raises ValueError, which names the argument, for anything else.

    >>> spectrum = FiniteSpectrum([1.0, 0.25], [1.0, 0.0], [1, 2])
    >>> spectrum.rank, spectrum.kernel_sum(0.25, 1, 1)
    (3.0, 1.8)
    """

    def __init__(self, eigenvalues: Values, signal: Values, multiplicities: Values | None = None) -> None:
        self.eigenvalues = nonnegative_array(eigenvalues, "eigenvalues")
        self.signal = nonnegative_array(signal, "signal", len(self.eigenvalues))
        if multiplicities is None:
            self.multiplicities = np.ones_like(self.eigenvalues)
        else:
            self.multiplicities = nonnegative_array(multiplicities, "multiplicities", len(self.eigenvalues))
        if not (self.eigenvalues * self.multiplicities).any():
            raise ValueError("eigenvalues must contain a positive one: the kernel is zero")

    @property
    def rank(self) -> float:
        """The number of positive eigenvalues."""
        return float(self.multiplicities[self.eigenvalues > 0].sum())

    def kernel_sum(self, shift: float, power: int, order: int) -> float:
        """Return sum_k eta_k^power/(eta_k + shift)^order, with multiplicities, over the positive eigenvalues."""
        keep = self.eigenvalues > 0
        eta = self.eigenvalues[keep]
        return float(self.multiplicities[keep] @ (eta**power / (eta + shift) ** order))

    def signal_sum(self, shift: float, power: int, order: int) -> float:
        """Return sum_k f_k^2 eta_k^power/(eta_k + shift)^order; needs shift > 0 where an eigenvalue is 0."""
        keep = self.signal > 0
        eta = self.eigenvalues[keep]
        return float(self.signal[keep] @ (eta**power / (eta + shift) ** order))


@dataclass(frozen=True, slots=True)
class KernelRidge:
    """The deterministic equivalent: ``kappa`` the effective ridge, ``gamma`` the share of the samples that noise is fitted with,
    ``bias`` and ``variance`` the two parts of the ``excess_risk``, ``test_error`` with the noise of a new label, ``train_error``
    on the samples.
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

    ``ridge`` >= 0 is lambda of (1/n) sum (y - f)^2 + lambda |f|_H^2.  Ridge 0 is minimum-norm interpolation where the rank exceeds
    n and least squares where it is below; a rank equal to n has no finite equivalent.  Raises ValueError for bad arguments and
    :class:`~theoryck.asymptotics.numbers.NotConverged` where kappa was not found.

    Source: Cui, Loureiro, Krzakala, Zdeborova (2021), arXiv:2105.15004.

    >>> limit = kernel_ridge_equivalent(FiniteSpectrum([1.0], [1.0], [100]), n=200, ridge=0.0, noise=1.0)
    >>> limit.kappa, round(limit.excess_risk, 12)  # least squares of 100 unknowns with 200 samples: 100/(200 - 100)
    (0.0, 1.0)
    """
    n, ridge, noise = positive(n, "n"), nonnegative(ridge, "ridge"), nonnegative(noise, "noise")
    if ridge == 0 and spectrum.rank == n:
        raise ValueError(f"ridge must be > 0 where the rank of the kernel is n = {n:g}: the error diverges there, got 0")
    if ridge == 0 and spectrum.rank < n:
        gamma = spectrum.rank / n
        return _errors(0.0, gamma, 1 - gamma, _unreachable(spectrum), noise, ridge_ratio=1 - gamma)
    kappa = effective_ridge(spectrum, n, ridge)
    ratio = ridge / kappa
    # 1 - gamma = lambda/kappa + (kappa/n) sum eta/(eta + kappa)^2 by the equation of kappa: no digits cancel.
    complement = ratio + kappa * spectrum.kernel_sum(kappa, 1, 2) / n
    gamma = spectrum.kernel_sum(kappa, 2, 2) / n
    return _errors(kappa, gamma, complement, kappa**2 * spectrum.signal_sum(kappa, 0, 2), noise, ratio)


def _errors(kappa: float, gamma: float, complement: float, missed: float, noise: float, ridge_ratio: float) -> KernelRidge:
    bias, variance = missed / complement, noise * gamma / complement
    test = bias + variance + noise
    return KernelRidge(kappa, gamma, bias, variance, bias + variance, test, ridge_ratio**2 * test)


def _unreachable(spectrum: Spectrum) -> float:
    """The part of the target in directions the kernel has not: kappa^2 f^2/(0 + kappa)^2 as kappa -> 0."""
    if isinstance(spectrum, FiniteSpectrum):
        return float(spectrum.signal[spectrum.eigenvalues == 0].sum())
    return 0.0


def effective_ridge(spectrum: Spectrum, n: float, ridge: float) -> float:
    """Return kappa > 0 of kappa = ridge + (kappa/n) sum_k eta_k/(eta_k + kappa), for ridge > 0 or a rank above n.

    Raises NotConverged where no kappa solves it to rounding.

    >>> round(effective_ridge(FiniteSpectrum([1.0], [0.0], [10]), 10, 0.5), 12)
    1.0
    """

    def missing(log_kappa: float) -> tuple[float, float]:
        # 1 - lambda/kappa - (1/n) sum eta/(eta + kappa) increases with kappa: its only zero is the effective ridge.
        kappa = math.exp(log_kappa)
        value = 1 - ridge / kappa - spectrum.kernel_sum(kappa, 1, 1) / n
        return value, ridge / kappa + kappa * spectrum.kernel_sum(kappa, 1, 2) / n

    # eta/(eta + kappa) < eta/kappa bounds kappa from above by lambda + trace/n.
    top = math.log(ridge + spectrum.kernel_sum(1.0, 1, 0) / n)
    return math.exp(increasing_zero(missing, top, "kappa"))


def increasing_zero(function: Callable[[float], tuple[float, float]], high: float, name: str) -> float:
    """Return the zero below ``high`` of an increasing function, given as (value, slope): Newton, bisection where it would leave the
    bracket.  A value of -inf is allowed below the zero.  Raises NotConverged, saying where it stopped.

    >>> increasing_zero(lambda x: (x**3 - 8, 3 * x**2), 5.0, "x")
    2.0
    """
    low, width = high - 1.0, 1.0
    while function(low)[0] > 0:
        width *= 2
        low -= width
        if width > 1e4:
            raise NotConverged(f"no {name} was found above exp({low:.3g}): the equation keeps its sign")
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


def positive(value: Any, name: str) -> float:
    """Return a finite number > 0 as a float; ValueError for anything else."""
    number = nonnegative(value, name)
    if number == 0:
        raise ValueError(f"{name} must be a finite number > 0, got {value!r}")
    return number


def nonnegative(value: Any, name: str) -> float:
    """Return a finite number >= 0 as a float; ValueError for anything else."""
    try:
        if isinstance(value, bool | str):
            raise TypeError
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be a finite number >= 0, got {value!r}") from None
    if not (math.isfinite(number) and number >= 0):
        raise ValueError(f"{name} must be a finite number >= 0, got {value!r}")
    return number


def nonnegative_array(values: Any, name: str, length: int | None = None) -> Array:
    """Return a sequence of finite numbers >= 0 as an array (m,), m >= 1, of the given length; ValueError for anything else."""
    try:
        array = np.array(values, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a sequence of numbers >= 0, got {values!r}") from None
    if array.ndim != 1 or not len(array) or not np.isfinite(array).all() or (array < 0).any():
        raise ValueError(f"{name} must be a sequence of finite numbers >= 0, got {values!r}")
    if length is not None and len(array) != length:
        raise ValueError(f"{name} must have one entry an eigenvalue, {length} in all, got {len(array)}")
    return array
