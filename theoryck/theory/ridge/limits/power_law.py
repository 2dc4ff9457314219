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
from scipy.optimize import minimize_scalar

from theoryck.numerics.errors import NotConverged
from theoryck.numerics.proved.formulas import exact_number
from theoryck.theory.ridge.limits.kernel_ridge import KernelRidge, kernel_ridge_equivalent
from theoryck.theory.ridge.model import in_range, nonnegative, positive

RELATIVE_ERROR = 1e-11
"""What a sum, and a risk made of such sums, is known to: the next term of Euler and Maclaurin's formula is below 1e-12 of it."""

TERMS = 1024
"""Terms that are added one by one; the formula's next term is of relative order (a TERMS)^-4 7/5760 with a <= 20."""

SMALL, ORDERS = 0.01, 9
"""The binomial series begins where k^(-alpha) < 0.01 kappa; nine terms leave 1e-17."""

FARTHEST = 700.0
"""The logarithm of the largest k that sums go to."""

SMALLEST = -690.0
"""The logarithm of the least ridge that is tried."""

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

    def __repr__(self) -> str:
        return f"PowerLaw({str(self.capacity)!r}, {str(self.source)!r})"

    @property
    def rank(self) -> float:
        """Without end."""
        return math.inf

    def kernel_sum(self, shift: float, power: float, order: float) -> float:
        """Return sum_k eta_k^power/(eta_k + shift)^order, power >= 1.

        Raises ValueError for a power below 1, whose sum diverges.
        """
        shift, power, order = positive(shift, "shift"), nonnegative(power, "power"), nonnegative(order, "order")
        if power < 1:
            raise ValueError(f"power must be a number >= 1: the sum over infinitely many eigenvalues diverges, got {power:g}")
        return self._sum(self.capacity * Fraction(power), shift, order)

    def signal_sum(self, shift: float, power: float, order: float) -> float:
        """Return sum_k f_k^2 eta_k^power/(eta_k + shift)^order."""
        shift, power, order = positive(shift, "shift"), nonnegative(power, "power"), nonnegative(order, "order")
        return self._sum(self.capacity * (Fraction(power) + 2 * self.source) + 1, shift, order)

    def kernel_share(self, shift: float, a: int, b: int) -> float:
        """Return sum_k eta_k^a shift^b/(eta_k + shift)^(a + b), a >= 1."""
        return self._sum(self.capacity * a, shift, a + b, b)

    def signal_share(self, shift: float, a: int, b: int) -> float:
        """Return sum_k f_k^2 eta_k^a shift^b/(eta_k + shift)^(a + b)."""
        return self._sum(self.capacity * (a + 2 * self.source) + 1, shift, a + b, b)

    def _sum(self, decay: Fraction, shift: float, order: float, scale: float = 0) -> float:
        # decay - 1, of which 1/(decay - 1) is made, has all its digits only before decay is rounded.
        return shifted_sum(float(decay), self._alpha, shift, order, scale, excess=float(decay - 1))


def shifted_sum(decay: float, alpha: float, shift: float, order: float, scale: float = 0, *, excess: float | None = None) -> float:
    """Return sum_{k >= 1} shift^scale k^(-decay)/(k^(-alpha) + shift)^order to a relative 1e-11, for decay > 1 and shift > 0.

    ``excess`` is decay - 1 for a decay so close to 1 that the difference has lost its digits.

    >>> round(shifted_sum(2.0, 2.0, 1.0, 0), 12) == round(math.pi**2 / 6, 12)
    True
    """
    excess = decay - 1 if excess is None else excess
    if not (excess > 0 and alpha > 0 and shift > 0 and order >= scale >= 0):
        raise ValueError(
            f"the sum needs decay > 1, alpha > 0, shift > 0 and order >= 0, got {decay!r}, {alpha!r}, {shift!r} and {order!r}"
        )
    log_edge = -(math.log(SMALL) + math.log(shift)) / alpha if order else 0.0
    if log_edge > FARTHEST:
        raise ValueError(f"shift = {shift:g} is too small for sums at capacity {alpha:g}: eigenvalues reach it beyond k = 1e304")
    # A quotient or a power beyond the range of floats is that of a share below 1e-308; the sum itself is looked at below.
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        total = _shifted_sum((decay, excess), alpha, shift, order, scale, math.exp(log_edge))
    return in_range(total, f"the sum at shift = {shift:g}, decay = {decay:g}, order = {order:g}")


def _shifted_sum(decays: tuple[float, float], alpha: float, shift: float, order: float, scale: float, edge: float) -> float:
    decay = decays[0]
    rest = decay - alpha * (order - scale)

    def large(k: Any) -> Any:
        return 1 / (1 + shift * np.power(k, alpha))  # k^-alpha/(k^-alpha + shift)

    def term(k: Any) -> Any:
        value = np.power(k, -rest) * large(k) ** (order - scale)
        return value * (1 / (1 + np.power(k, -alpha) / shift)) ** scale if scale else value

    first = term(np.arange(1.0, TERMS))
    last = max(float(TERMS), math.ceil(edge)) if edge < 2.0**52 else edge
    middle = _integral(term, TERMS - 0.5, last - 0.5, alpha) if last > TERMS else 0.0

    def slope(k: float) -> float:
        return float(term(k)) / k * (order * alpha * float(large(k)) - decay)

    # sum of g over k = A..B-1 is the integral from A - 1/2 to B - 1/2 minus [g'(B - 1/2) - g'(A - 1/2)]/24 + ...
    middle -= (slope(last - 0.5) - slope(TERMS - 0.5)) / 24 if last > TERMS else 0.0
    return float(first.sum()) + middle + _tail(decays, alpha, shift, order, scale, last)


def _integral(term: Any, low: float, high: float, alpha: float) -> float:
    """The integral of a function of k, over log k on panels half as wide as the distance pi/alpha of its poles from the axis."""
    panels = max(math.ceil(math.log(high / low) * max(1.0, 2 * alpha / math.pi)), 1)
    edges = np.linspace(math.log(low), math.log(high), panels + 1)
    half = np.diff(edges)[:, None] / 2
    k = np.exp(edges[:-1, None] + half * (1 + _NODES))
    return float(np.sum(term(k) * k * _WEIGHTS * half))


def _tail(decays: tuple[float, float], alpha: float, shift: float, order: float, scale: float, last: float) -> float:
    """sum_{k >= last}, where k^(-alpha) < 0.01 shift: a binomial series in k^(-alpha)/shift.

    Its sums of powers, in units of last^(-s), are q/(s-1) + 1/2 + s/(12 q) - ... by Euler and Maclaurin, q = last >= 1024.
    """
    decay, excess = decays
    ratio = math.exp(-alpha * math.log(last) - math.log(shift))
    total, factor = 0.0, 1.0
    for j in range(ORDERS):
        s = decay + j * alpha
        total += factor * (last / (excess + j * alpha) + 0.5 + s / (12 * last) - s * (s + 1) * (s + 2) / 720 / last / last / last)
        factor *= -(order + j) / (j + 1) * ratio
    return total * float(np.exp(-decay * math.log(last) - (order - scale) * math.log(shift)))


def _fraction(value: Any, name: str, low: float, high: float) -> Fraction:
    number = exact_number(value, name, low=low)
    if not isinstance(number, Fraction) or number > high:
        raise ValueError(f"{name} must be a number between {low:g} and {high:g}, got {value!r}")
    return number


def exact_exponent(value: Any, name: str) -> Fraction:
    """Return an exponent between 0 and 64 of a ridge n^(-l) or of p = n^q features, exactly; ValueError for anything else.

    >>> exact_exponent("1/3", "ridge")
    Fraction(1, 3)
    """
    return _fraction(value, name, 0, 64)


def optimal_ridge(spectrum: PowerLaw, n: float, noise: float) -> tuple[float, KernelRidge]:
    """Return the lambda that minimises the equivalent excess risk with n samples and noise > 0, and the equivalent there.

    The risk is searched between n^(-2 alpha) (at least 1e-299) and 1 on a grid of log lambda and polished; the minimiser is known
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
    logs = np.linspace(max(-2 * float(spectrum.capacity) * math.log(n), SMALLEST), 0.0, 21)

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
    return _fraction(capacity, "capacity", 1, 16), _fraction(source, "source", 0, 16), exact_exponent(ridge, "ridge")
