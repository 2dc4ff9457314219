"""Spectra of kernels and targets: finitely many eigenspaces, power laws, dot-product kernels on the sphere.

The equations need sum_k eta_k^a kappa^b/(eta_k + kappa)^(a + b), of shares between 0 and 1 that neither overflow nor cancel
(``kernel_share``, ``signal_share``), and n - sum_k eta_k/(eta_k + kappa), which is small where the samples are interpolated
(``remainder``).

Power laws: every sum of the deterministic equivalents is sum_k k^(-a)/(k^(-alpha) + kappa)^i. The first terms are added; then,
while k^(-alpha) is not small beside kappa, Euler and Maclaurin's formula turns the sum into an integral over log k, which is
analytic in a strip of width pi/alpha and done by Gauss's rule on panels; beyond, (1 + k^(-alpha)/kappa)^(-i) is a binomial series
whose terms are sums of powers. The number of terms does not depend on kappa, so n = 2^40 costs as little as n = 100.

The sphere: x is uniform on the sphere of radius sqrt(d) in R^d and the kernel is h(t) = sum_m a_m t^m at t = <x, x'>/d, with a_m
>= 0: these are the functions that are a kernel in every dimension (Schoenberg). Its eigenspaces are the spherical harmonics of
degree k, of dimension B(d, k) = C(d+k-1, k) - C(d+k-3, k-2). P_k, the Gegenbauer polynomial with P_k(1) = 1, has E P_k(t)^2 =
1/B(d, k), and
    lambda_k = E_t h(t) P_k(t) = sum_j a_{k+2j} (k+2j)! / (2^j j! d (d+2) ... (d+2(k+j-1)))
by Rodrigues' formula: a sum of positive terms. h(t) = sum_k lambda_k B(d, k) P_k(t), so sum_k lambda_k B(d, k) = h(1).
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theoryck.quantities.arguments import nonnegative_array, rational
from theoryck.quantities.base import QuantityError
from theoryck.records.arguments import integer

Array = NDArray[np.float64]
Values = Sequence[float] | Array

TERMS = 1024
"""Terms that are added one by one; the formula's next term is of relative order (a TERMS)^-4 7/5760 with a <= 20."""

SMALL, ORDERS = 0.01, 9
"""The binomial series begins where k^(-alpha) < 0.01 kappa; nine terms leave 1e-17."""

EXPONENTIAL = tuple(1 / math.factorial(m) for m in range(20))
"""The coefficients of exp(t), to 5e-19."""

MOST = 5000
"""Coefficients of a kernel: the time grows with their square, to two seconds here."""

MOST_BITS = 4_000_000
"""About what the factors of a multiplicity may have together: half a second."""

_NODES, _WEIGHTS = (np.asarray(values) for values in np.polynomial.legendre.leggauss(20))


class FiniteSpectrum:
    """Finitely many eigenspaces: ``eigenvalues`` eta_k >= 0, ``signal`` the power f_k^2 of the target in each (its sum over the
    eigenspace), ``multiplicities`` their dimensions (1 if not given), all of shape (m,).

    The eigenvalues need no order.  Raises ValueError, which names the argument, for anything else.

    >>> spectrum = FiniteSpectrum([1.0, 0.25], [1.0, 0.0], [1, 2])
    >>> spectrum.rank, spectrum.kernel_share(0.25, 1, 0)
    (3.0, 1.8)
    """

    def __init__(self, eigenvalues: Values, signal: Values, multiplicities: Values | None = None) -> None:
        self.eigenvalues = nonnegative_array(eigenvalues, "eigenvalues")
        self.signal = nonnegative_array(signal, "signal", length=len(self.eigenvalues))
        if multiplicities is None:
            self.multiplicities = np.ones_like(self.eigenvalues)
        else:
            self.multiplicities = nonnegative_array(multiplicities, "multiplicities", length=len(self.eigenvalues))
        for array in (self.eigenvalues, self.signal, self.multiplicities):
            array.flags.writeable = False  # what sums are made of is taken from them once
        keep = (self.eigenvalues > 0) & (self.multiplicities > 0)
        if not keep.any():
            raise ValueError(
                f"eigenvalues must contain one > 0 of multiplicity > 0, got {reprlib.repr(eigenvalues)}: the kernel is zero"
            )
        self._eta, self._sizes, power = self.eigenvalues[keep], self.multiplicities[keep], self.signal > 0
        self._targets, self._powers = self.eigenvalues[power], self.signal[power]

    @property
    def rank(self) -> float:
        """The number of positive eigenvalues."""
        return float(self._sizes.sum())

    def kernel_share(self, shift: float, a: int, b: int) -> float:
        """Return sum_k eta_k^a shift^b/(eta_k + shift)^(a + b), with multiplicities, over the positive eigenvalues; shift > 0."""
        above, below = _shares(self._eta, shift)
        return float(self._sizes @ (above**a * below**b))

    def signal_share(self, shift: float, a: int, b: int) -> float:
        """Return sum_k f_k^2 eta_k^a shift^b/(eta_k + shift)^(a + b) for shift > 0."""
        above, below = _shares(self._targets, shift)
        return float(self._powers @ (above**a * below**b))

    def remainder(self, n: float, shift: float) -> float:
        """Return n - sum_k eta_k/(eta_k + shift) for shift > 0, with its digits where the two are close.

        >>> FiniteSpectrum([1.0], [1.0], [30]).remainder(30, 2.0**-100) == 30 * 2.0**-100
        True
        """
        above, below = _shares(self._eta, shift)
        large = self._eta >= shift
        # A share near 1 is written 1 - below: what is counted are integers, whose difference to n is exact.
        return float((n - self._sizes[large].sum()) + self._sizes[large] @ below[large] - self._sizes[~large] @ above[~large])

    @property
    def log_trace(self) -> float:
        """The logarithm of sum_k eta_k."""
        largest = float(self.eigenvalues.max())
        return math.log(largest) + math.log(float(self.multiplicities @ (self.eigenvalues / largest)))


def _shares(eta: Array, shift: float) -> tuple[Array, Array]:
    """eta/(eta + shift) and shift/(eta + shift)."""
    # A quotient beyond the range of floats belongs to a share below 1e-308.
    with np.errstate(over="ignore", divide="ignore", under="ignore"):
        return 1 / (1 + shift / eta), 1 / (1 + eta / shift)


@dataclass(frozen=True, repr=False)
class PowerLaw:
    """The spectrum eta_k = k^(-capacity), capacity > 1, with the target f_k = k^(-capacity source - 1/2), source > 0; k = 1, 2, ...

    Numbers or texts such as "3/2"; the exponents are computed with them exactly.  Sums are right to a relative 1e-11.  Raises
    ValueError for a capacity <= 1 (the kernel has no trace) or above 16, or a source <= 0 (the target has no norm).

    >>> round(PowerLaw(2, 1).kernel_share(1.0, 1, 0), 11)  # sum 1/(1 + k^2) = (pi coth(pi) - 1)/2
    1.07667404747
    """

    capacity: Any
    source: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "capacity", bounded(self.capacity, "capacity", 1, 16))
        object.__setattr__(self, "source", bounded(self.source, "source", 0, 16))

    def __repr__(self) -> str:
        return f"PowerLaw({str(self.capacity)!r}, {str(self.source)!r})"

    @property
    def rank(self) -> float:
        """Without end."""
        return math.inf

    def kernel_share(self, shift: float, a: int, b: int) -> float:
        """Return sum_k eta_k^a shift^b/(eta_k + shift)^(a + b), a >= 1."""
        return self._sum(self.capacity * a, shift, a + b, b)

    def signal_share(self, shift: float, a: int, b: int) -> float:
        """Return sum_k f_k^2 eta_k^a shift^b/(eta_k + shift)^(a + b)."""
        return self._sum(self.capacity * (a + 2 * self.source) + 1, shift, a + b, b)

    def remainder(self, n: float, shift: float) -> float:
        """Return n - sum_k eta_k/(eta_k + shift)."""
        return n - self.kernel_share(shift, 1, 0)

    @property
    def log_trace(self) -> float:
        """The logarithm of sum_k eta_k."""
        return math.log(self._sum(self.capacity, 1.0, 0))

    def _sum(self, decay: Fraction, shift: float, order: float, scale: float = 0) -> float:
        # decay - 1, of which 1/(decay - 1) is made, has all its digits only before decay is rounded.
        return shifted_sum(float(decay), float(self.capacity), shift, order, scale, excess=float(decay - 1))


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
    return _shifted_sum((decay, excess), alpha, shift, order, scale, math.exp(log_edge))


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


def bounded(value: Any, name: str, low: float, high: float) -> Fraction:
    """Return a number above ``low`` and at most ``high`` exactly; QuantityError for anything else."""
    number = rational(value, name, low=low)
    if number > high:
        raise QuantityError(f"{name} must be a number between {low:g} and {high:g}, got {value!r}")
    return number


def multiplicity(d: int, degree: int) -> int:
    """Return B(d, k), the dimension of the spherical harmonics of degree k in d variables, d >= 2, exactly.

    Raises ValueError for bad arguments, or for both so large that the integer would take seconds.

    >>> [multiplicity(16, k) for k in range(4)]
    [1, 16, 135, 800]
    """
    d, degree = integer(d, "d", 2), integer(degree, "degree", 0)
    if min(d, degree) * (d + degree).bit_length() > MOST_BITS:
        raise ValueError(f"degree must be smaller in so many dimensions: B(d, k) would be made of {MOST_BITS} bits or more")
    lower = math.comb(d + degree - 3, degree - 2) if degree >= 2 else 0
    return math.comb(d + degree - 1, degree) - lower


def gegenbauer(d: int, degrees: int, t: Array) -> Iterator[Array]:
    """Yield P_0(t), ..., P_degrees(t), P_k(1) = 1, orthogonal for the density (1 - t^2)^((d-3)/2) of t = <x, x'>/d.

    >>> [float(values) for values in gegenbauer(3, 3, np.array(0.5))]  # Legendre's polynomials
    [1.0, 0.5, -0.125, -0.4375]
    """
    d, degrees = integer(d, "d", 2), integer(degrees, "degrees", 0)
    before, now = np.ones_like(t), t
    yield before
    for k in range(1, degrees + 1):
        yield now
        # (k + d - 2) P_{k+1} = (2k + d - 2) t P_k - k P_{k-1}: the recurrence with P_k(1) = 1 throughout.
        before, now = now, ((2 * k + d - 2) * t * now - k * before) / (k + d - 2)


def sphere_eigenvalues(coefficients: Values, d: int) -> Array:
    """Return lambda_0, ..., lambda_M of the kernel h(t) = sum_{m <= M} a_m t^m in d >= 2 dimensions, to rounding.

    Raises ValueError for a coefficient that is negative or no number, or none that is positive, or more than 5000 of them.

    >>> values = sphere_eigenvalues([1, 2, 1], 4)  # (1 + t)^2 and t^2 = 1/4 + (3/4) P_2
    >>> [float(value) * multiplicity(4, k) for k, value in enumerate(values)]
    [1.25, 2.0, 0.75]
    """
    a, size = kernel_coefficients(coefficients), np.longdouble(integer(d, "d", 2))
    found, first = np.zeros(len(a)), np.longdouble(1)
    for k in range(len(a)):
        # first = E t^k P_k = k!/(d (d + 2) ... (d + 2k - 2)); the moments of t^(k + 2j) follow by their quotients.
        later = a[k::2].astype(np.longdouble)
        j = np.arange(len(later) - 1, dtype=np.longdouble)
        quotients = (k + 2 * j + 1) * (k + 2 * j + 2) / (2 * (j + 1) * (size + 2 * (k + j)))
        found[k] = float(later[0] * first + later[1:] @ (first * np.cumprod(quotients)))
        first *= (k + 1) / (size + 2 * k)
    return found


def kernel_coefficients(coefficients: Values) -> Array:
    """Return a_0, ..., a_M as an array; ValueError unless one is positive and at most 5000 are given."""
    a = nonnegative_array(coefficients, "coefficients")
    if not a.any():
        raise ValueError(f"coefficients must contain a positive one, got {a.tolist()[:8]}: the kernel is zero")
    if len(a) > MOST:
        raise ValueError(f"coefficients must be at most {MOST} numbers, got {len(a)}: leave out the highest degrees")
    return a


def sphere_spectrum(coefficients: Values, d: int, target: Values) -> FiniteSpectrum:
    """Return the spectrum of the kernel h(t) = sum a_m t^m with a target of power ``target[k]`` in degree k = 0, 1, ...

    Raises ValueError for bad arguments.

    >>> spectrum = sphere_spectrum(EXPONENTIAL, 16, [0, 1, 1, 1])
    >>> round(spectrum.log_trace, 12)  # the trace is h(1) = e
    1.0
    """
    values, powers = sphere_eigenvalues(coefficients, d), nonnegative_array(target, "target")
    degrees = max(len(values), len(powers))
    eigenvalues, signal, sizes = np.zeros(degrees), np.zeros(degrees), np.ones(degrees)
    eigenvalues[: len(values)], signal[: len(powers)] = values, powers
    # Directions without an eigenvalue count for nothing, however many they are.
    for k in np.flatnonzero(eigenvalues):
        sizes[k] = _float_multiplicity(d, int(k))
    return FiniteSpectrum(eigenvalues, signal, sizes)


def _float_multiplicity(d: int, degree: int) -> float:
    try:
        return float(multiplicity(d, degree))
    except OverflowError:
        raise ValueError(
            f"degree {degree} has more directions in d = {d:.3g} than floats can count: take fewer coefficients"
        ) from None
