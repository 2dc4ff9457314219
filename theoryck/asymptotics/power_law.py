"""Source and capacity: spectra eta_k = k^(-alpha) with targets f_k = k^(-alpha r - 1/2), their sums to infinity, their exponents.

Every sum of the deterministic equivalents is sum_k k^(-a)/(k^(-alpha) + kappa)^i.  The first terms are added; then, while
k^(-alpha) is not small beside kappa, Euler and Maclaurin's formula turns the sum into an integral over log k, which is analytic in
a strip of width pi/alpha and done by Gauss's rule on panels; beyond, (1 + k^(-alpha)/kappa)^(-i) is a binomial series whose
terms are sums of powers.  The number of terms does not depend on kappa, so n = 2^40 costs as little as n = 100.

Exponents are gamma of a risk ~ n^(-gamma), for lambda = n^(-l) in (1/n) sum (y - f)^2 + lambda |f|^2 and p = n^q features, as
exact fractions.  Sources: Caponnetto, De Vito (2007) for the optimum; Cui, Loureiro, Krzakala, Zdeborova (2021), arXiv:2105.15004,
for the four regimes of kernel ridge regression; Defilippis, Loureiro, Misiakiewicz (2024), arXiv:2405.15699, for random features.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import zeta

from theoryck.asymptotics.kernel_ridge import KernelRidge, kernel_ridge_equivalent, positive
from theoryck.asymptotics.numbers import NotConverged, exact_number

RELATIVE_ERROR = 1e-11
"""What a sum, and a risk made of such sums, is known to: the next term of Euler and Maclaurin's formula is below 1e-12 of it."""

TERMS = 1024
"""Terms that are added one by one; the formula's next term is of relative order (a TERMS)^-4 7/5760 with a <= 20."""

SMALL, ORDERS = 0.01, 9
"""The binomial series begins where k^(-alpha) < 0.01 kappa; nine terms leave 1e-17."""

_NODES, _WEIGHTS = (np.asarray(values) for values in np.polynomial.legendre.leggauss(20))


class PowerLaw:
    """The spectrum eta_k = k^(-capacity), capacity > 1, with the target f_k = k^(-capacity source - 1/2), source > 0; k = 1, 2, ...

    Numbers or texts such as "3/2"; the exponents are computed with them exactly.  Sums are right to a relative 1e-11.  Raises
    ValueError for a capacity <= 1 (the kernel has no trace) or above 16, or a source <= 0 (the target has no norm).

    >>> spectrum = PowerLaw(2, 1)
    >>> round(spectrum.kernel_sum(1.0, 1, 1), 11)  # sum 1/(1 + k^2) = (pi coth(pi) - 1)/2
    1.07667404747
    """

    def __init__(self, capacity: Any, source: Any) -> None:
        self.capacity, self.source = _fraction(capacity, "capacity", 1, 16), _fraction(source, "source", 0, 16)
        self._alpha = float(self.capacity)
        self._signal = float(2 * self.capacity * self.source + 1)

    def __repr__(self) -> str:
        return f"PowerLaw({str(self.capacity)!r}, {str(self.source)!r})"

    @property
    def rank(self) -> float:
        """Without end."""
        return math.inf

    def kernel_sum(self, shift: float, power: int, order: int) -> float:
        """Return sum_k eta_k^power/(eta_k + shift)^order, power >= 1."""
        return shifted_sum(power * self._alpha, self._alpha, shift, order)

    def signal_sum(self, shift: float, power: int, order: int) -> float:
        """Return sum_k f_k^2 eta_k^power/(eta_k + shift)^order."""
        return shifted_sum(power * self._alpha + self._signal, self._alpha, shift, order)


def shifted_sum(decay: float, alpha: float, shift: float, order: int) -> float:
    """Return sum_{k >= 1} k^(-decay)/(k^(-alpha) + shift)^order to a relative 1e-11, for decay > 1 and shift > 0.

    >>> round(shifted_sum(2.0, 2.0, 1.0, 0), 12) == round(math.pi**2 / 6, 12)
    True
    """
    if not (decay > 1 and alpha > 0 and shift > 0):
        raise ValueError(f"the sum needs decay > 1, alpha > 0 and shift > 0, got {decay!r}, {alpha!r} and {shift!r}")
    if order == 0:
        return float(zeta(decay))

    def term(k: NDArray[np.float64] | float) -> Any:
        return k**-decay / (k**-alpha + shift) ** order

    first = term(np.arange(1.0, TERMS))
    edge = (SMALL * shift) ** (-1 / alpha)
    last = max(float(TERMS), math.ceil(edge)) if edge < 2.0**52 else edge
    middle = _integral(term, TERMS - 0.5, last - 0.5, alpha) if last > TERMS else 0.0

    def slope(k: float) -> float:
        return float(term(k)) / k * (order * alpha * k**-alpha / (k**-alpha + shift) - decay)

    # sum of g over k = A..B-1 is the integral from A - 1/2 to B - 1/2 minus [g'(B - 1/2) - g'(A - 1/2)]/24 + ...
    middle -= (slope(last - 0.5) - slope(TERMS - 0.5)) / 24 if last > TERMS else 0.0
    return float(first.sum()) + middle + _tail(decay, alpha, shift, order, last)


def _integral(term: Any, low: float, high: float, alpha: float) -> float:
    """The integral of a function of k, over log k on panels half as wide as the distance pi/alpha of its poles from the axis."""
    panels = max(math.ceil(math.log(high / low) * max(1.0, 2 * alpha / math.pi)), 1)
    edges = np.linspace(math.log(low), math.log(high), panels + 1)
    half = np.diff(edges)[:, None] / 2
    k = np.exp(edges[:-1, None] + half * (1 + _NODES))
    return float(np.sum(term(k) * k * _WEIGHTS * half))


def _tail(decay: float, alpha: float, shift: float, order: int, last: float) -> float:
    """sum_{k >= last}, where k^(-alpha) < 0.01 shift: a binomial series in k^(-alpha)/shift.

    Its sums of powers, in units of last^(-s), are q/(s-1) + 1/2 + s/(12 q) - ... by Euler and Maclaurin, q = last >= 1024.
    """
    ratio = math.exp(-alpha * math.log(last) - math.log(shift))
    total, factor = 0.0, 1.0
    for j in range(ORDERS):
        s = decay + j * alpha
        total += factor * (last / (s - 1) + 0.5 + s / (12 * last) - s * (s + 1) * (s + 2) / (720 * last**3))
        factor *= -(order + j) / (j + 1) * ratio
    return total * math.exp(-decay * math.log(last) - order * math.log(shift))


def _fraction(value: Any, name: str, low: float, high: float) -> Fraction:
    number = exact_number(value, name, low=low)
    if not isinstance(number, Fraction) or number > high:
        raise ValueError(f"{name} must be a number between {low:g} and {high:g}, got {value!r}")
    return number


def optimal_ridge(spectrum: PowerLaw, n: float, noise: float) -> tuple[float, KernelRidge]:
    """Return the lambda that minimises the equivalent excess risk with n samples and noise > 0, and the equivalent there.

    The risk is searched between n^(-2 alpha) and 1 on a grid of log lambda and polished; the minimiser is known to about 1e-7
    (a minimum is flat), the risk to rounding.  Raises NotConverged where the least value lies at an end.

    >>> ridge, limit = optimal_ridge(PowerLaw(2, "1/2"), 2**30, 1.0)
    >>> other = optimal_ridge(PowerLaw(2, "1/2"), 2**32, 1.0)[1]
    >>> round(math.log2(limit.excess_risk / other.excess_risk) / 2, 3)  # 2 alpha r/(1 + 2 alpha r) = 2/3
    0.667
    """
    n, noise = positive(n, "n"), positive(noise, "noise")
    logs = np.linspace(-2 * float(spectrum.capacity) * math.log(n), 0.0, 21)

    def risk(log_ridge: float) -> float:
        return math.log(kernel_ridge_equivalent(spectrum, n, math.exp(log_ridge), noise).excess_risk)

    best = int(np.argmin([risk(value) for value in logs]))
    if best in (0, len(logs) - 1):
        raise NotConverged(f"the risk is least at the end exp({logs[best]:.3g}) of the search: give more samples, got n = {n:g}")
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

    >>> [str(risk_exponent(2, "1/2", ell, True)) for ell in ("1/2", "2/3", 1, 3)]
    ['1/2', '2/3', '1/2', '0']
    """
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
    q = _fraction(features, "features", 0, 64)
    m = min(ell / alpha, q, Fraction(1))
    kernel, noise_of_features = 2 * alpha * m * min(r, Fraction(1)), (2 * alpha * min(r, Fraction(1, 2)) - 1) * m + q
    return min(kernel, noise_of_features), 1 - m


def _regime(capacity: Any, source: Any, ridge: Any) -> tuple[Fraction, Fraction, Fraction]:
    return _fraction(capacity, "capacity", 1, 16), _fraction(source, "source", 0, 16), _fraction(ridge, "ridge", 0, 64)
