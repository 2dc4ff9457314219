"""Dot-product kernels on the sphere: eigenvalues by degree, their multiplicities, and what n samples learn of each degree.

x is uniform on the sphere of radius sqrt(d) in R^d and the kernel is h(t) = sum_m a_m t^m at t = <x, x'>/d, with a_m >= 0: these
are the functions that are a kernel in every dimension (Schoenberg).  Its eigenspaces are the spherical harmonics of degree k, of
dimension B(d, k) = C(d+k-1, k) - C(d+k-3, k-2).  P_k, the Gegenbauer polynomial with P_k(1) = 1, has E P_k(t)^2 = 1/B(d, k), and
    lambda_k = E_t h(t) P_k(t) = sum_j a_{k+2j} (k+2j)! / (2^j j! d (d+2) ... (d+2(k+j-1)))
by Rodrigues' formula: a sum of positive terms.  h(t) = sum_k lambda_k B(d, k) P_k(t), so sum_k lambda_k B(d, k) = h(1).

Source: Mei, Misiakiewicz, Montanari (2022), arXiv:2101.10588, for kernels and random features on the sphere.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from theoryck.theory.ridge.limits.kernel_ridge import kernel_ridge_equivalent
from theoryck.theory.ridge.model import Array, FiniteSpectrum, Values, in_range, nonnegative, nonnegative_array, positive

EXPONENTIAL = tuple(1 / math.factorial(m) for m in range(20))
"""The coefficients of exp(t), to 5e-19."""

MOST = 5000
"""Coefficients of a kernel: the time grows with their square, to two seconds here."""

MOST_BITS = 4_000_000
"""About what the factors of a multiplicity may have together: half a second."""


def multiplicity(d: int, degree: int) -> int:
    """Return B(d, k), the dimension of the spherical harmonics of degree k in d variables, d >= 2, exactly.

    Raises ValueError for bad arguments, or for both so large that the integer would take seconds.

    >>> [multiplicity(16, k) for k in range(4)]
    [1, 16, 135, 800]
    """
    d, degree = whole(d, "d", 2), whole(degree, "degree", 0)
    if min(d, degree) * (d + degree).bit_length() > MOST_BITS:
        raise ValueError(f"degree must be smaller in so many dimensions: B(d, k) would be made of {MOST_BITS} bits or more")
    lower = math.comb(d + degree - 3, degree - 2) if degree >= 2 else 0
    return math.comb(d + degree - 1, degree) - lower


def gegenbauer(d: int, degrees: int, t: Array) -> Iterator[Array]:
    """Yield P_0(t), ..., P_degrees(t), P_k(1) = 1, orthogonal for the density (1 - t^2)^((d-3)/2) of t = <x, x'>/d.

    >>> [float(values) for values in gegenbauer(3, 3, np.array(0.5))]  # Legendre's polynomials
    [1.0, 0.5, -0.125, -0.4375]
    """
    d, degrees = whole(d, "d", 2), whole(degrees, "degrees", 0)
    before, now = np.ones_like(t), t
    yield before
    for k in range(1, degrees + 1):
        yield now
        # (k + d - 2) P_{k+1} = (2k + d - 2) t P_k - k P_{k-1}: the recurrence with P_k(1) = 1 throughout.
        before, now = now, ((2 * k + d - 2) * t * now - k * before) / (k + d - 2)


def sphere_eigenvalues(coefficients: Values, d: int) -> Array:
    """Return lambda_0, ..., lambda_M of the kernel h(t) = sum_{m <= M} a_m t^m in 2 <= d <= 10^300 dimensions, to rounding.

    Raises ValueError for a coefficient that is negative or no number, or none that is positive, or more than 5000 of them.

    >>> values = sphere_eigenvalues([1, 2, 1], 4)  # (1 + t)^2 and t^2 = 1/4 + (3/4) P_2
    >>> [float(value) * multiplicity(4, k) for k, value in enumerate(values)]
    [1.25, 2.0, 0.75]
    """
    a, size = _coefficients(coefficients), np.longdouble(_dimension(d))
    found, first = np.zeros(len(a)), np.longdouble(1)
    for k in range(len(a)):
        # first = E t^k P_k = k!/(d (d + 2) ... (d + 2k - 2)); the moments of t^(k + 2j) follow by their quotients.
        later = a[k::2].astype(np.longdouble)
        j = np.arange(len(later) - 1, dtype=np.longdouble)
        quotients = (k + 2 * j + 1) * (k + 2 * j + 2) / (2 * (j + 1) * (size + 2 * (k + j)))
        found[k] = in_range(float(later[0] * first + later[1:] @ (first * np.cumprod(quotients))), "an eigenvalue")
        first *= (k + 1) / (size + 2 * k)
    return found


def _coefficients(coefficients: Values) -> Array:
    a = nonnegative_array(coefficients, "coefficients")
    if not a.any():
        raise ValueError(f"coefficients must contain a positive one, got {a.tolist()[:8]}: the kernel is zero")
    if len(a) > MOST:
        raise ValueError(f"coefficients must be at most {MOST} numbers, got {len(a)}: leave out the highest degrees")
    return a


def _dimension(d: Any) -> int:
    if (size := whole(d, "d", 2)) > 10**300:
        raise ValueError(f"d must be an integer between 2 and 1e300, got one of {len(str(size // 10**300)) + 300} digits")
    return size


def sphere_spectrum(coefficients: Values, d: int, target: Values) -> FiniteSpectrum:
    """Return the spectrum of the kernel h(t) = sum a_m t^m with a target of power ``target[k]`` in degree k = 0, 1, ...

    Raises ValueError for bad arguments.

    >>> spectrum = sphere_spectrum(EXPONENTIAL, 16, [0, 1, 1, 1])
    >>> round(spectrum.kernel_sum(1.0, 1, 0), 12) == round(math.e, 12)  # the trace is h(1)
    True
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


def degree_residual(coefficients: Values, d: int, n: float, degree: int, ridge: float = 0.0) -> float:
    """Return (kappa/(lambda_k + kappa))^2/(1 - gamma): what n samples leave of a target of unit power in the degree k.

    Without noise; ``ridge`` is lambda of (1/n) sum (y - f)^2 + lambda |f|^2.  The errors of several degrees add up.  It
    may exceed 1 where the degree is not learnt.  Raises ValueError for bad arguments, NotConverged where kappa was not found.

    >>> [round(degree_residual(EXPONENTIAL, 64, n, 1), 3) for n in (16, 64, 1024)]
    [0.859, 0.398, 0.002]
    """
    a, degree = _coefficients(coefficients), whole(degree, "degree", 0)
    # All degrees that the kernel has not are alike.
    return kernel_ridge_equivalent(sphere_spectrum(a, d, [0.0] * min(degree, len(a)) + [1.0]), n, ridge).excess_risk


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
    a, k = nonnegative_array(coefficients, "coefficients"), whole(degree, "degree", 0)
    c, ridge = positive(samples, "samples"), nonnegative(ridge, "ridge")
    zeta = (ridge + sum(a[k + 1 :].tolist())) / float(a[k]) if k < len(a) and a[k] > 0 else 0.0
    if zeta == 0:
        raise ValueError(f"degree {k} needs a coefficient > 0 and higher ones or a ridge > 0, got {list(coefficients)!r}")
    in_range(zeta, "zeta = (ridge + sum of the higher coefficients)/a_k")
    # u = c s is the positive root of u^2 - (1 - c + zeta) u - c zeta = 0, and 1 - gamma = zeta/u + u/(c + u)^2: no digits cancel.
    b = (1 - c) + zeta
    root = math.hypot(b, 2 * math.sqrt(c) * math.sqrt(zeta))
    u, over_u = ((b + root) / 2, 2 * zeta / (b + root)) if b >= 0 else (zeta * (2 * c / (root - b)), (root - b) / 2 / c)
    share = u / (c + u)
    complement = over_u + share / (c + u)
    return ThresholdLimit(in_range(share * (share / complement), "the residual"), in_range(1 / complement, "the inflation"))


def whole(value: Any, name: str, low: int) -> int:
    """Return an integer >= low; ValueError for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < low:
        raise ValueError(f"{name} must be an integer >= {low}, got {value!r}")
    return int(value)
