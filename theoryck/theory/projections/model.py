"""One coordinate of a generator, and the kernel of students of erf units.

x_i = sigma(a_i . c) with unit vectors a_i: every x_i has the law of sigma(Z), Z ~ N(0, 1), and two of them depend on each other
through m_ij = a_i . a_j alone.  In normalised Hermite coefficients
    c_k = E (sigma(Z) - E sigma(Z)) He_k(Z)/sqrt(k!),    d_k = E (sigma(Z) - E sigma(Z))^2 He_k(Z)/sqrt(k!)
Mehler's formula says Cov(x_i, x_j) = sum_k c_k^2 m^k, and the same with d_k for the squares.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theoryck.numerics.errors import NotConverged
from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.gaussian.means import (
    TAIL,
    adaptive,
    enclosure,
    float_of,
    kinks_of,
    log_size,
    nodes_of,
    panel_edges,
    window,
)
from theoryck.quantities.arguments import LARGEST, LEAST

Array = NDArray[np.float64]

ERF = Activation("erf_scaled")
"""erf(x/sqrt(2)), whose kernel is an arcsine."""

ORDERS = 64
"""Hermite coefficients kept: what they leave out is known by Parseval, and is counted as error."""

PANEL = 0.7
"""Longest panel to begin with: He_64 has a period of 2 pi/8 = 0.8 where the weight is not small."""


def panels(breaks: Sequence[float], low: float, high: float, longest: float) -> tuple[Array, Array]:
    """Return nodes and weights of composite Gauss-Legendre quadrature on [low, high], with panels that end at the ``breaks``.

    >>> nodes, weights = panels([0.0], -1.0, 1.0, 0.5)
    >>> round(float(weights @ abs(nodes)), 12)
    1.0
    """
    return nodes_of(panel_edges(breaks, low, high, longest))


@dataclass(frozen=True)
class Coordinate:
    """The law of x = sigma(Z), centred: moments and normalised Hermite coefficients.

    ``mean`` = E sigma(Z), ``variance``, ``third`` and ``fourth`` cumulant; ``linear[k]`` = c_k and ``square[k]`` = d_k for
    k < 64; ``left`` and ``left_square`` are the parts of Var sigma(Z) and Var (sigma(Z) - mean)^2 in higher orders.  ``square`` and
    ``third`` are nan where E |sigma|^3 is infinite or out of reach, ``fourth`` and ``left_square`` where E sigma^4 is.
    Panels that resolve sigma end at the ``edges``.
    """

    mean: float
    variance: float
    third: float
    fourth: float
    linear: Array
    square: Array
    left: float
    left_square: float
    edges: Array


def read_activation(activation: object, name: str = "activation") -> Activation:
    """Return an Activation, made from a text where one is given; ValueError for a constant."""
    phi = activation if isinstance(activation, Activation) else Activation(activation)
    if not phi.expression.free_symbols:
        raise ValueError(f"{name} must depend on x, got the constant {phi.text!r}: its projections do not vary")
    return phi


def coordinate(phi: Activation, degree: int = 4) -> Coordinate:
    """Return moments and Hermite coefficients of sigma(Z) - E sigma(Z) by adaptive Gauss-Legendre quadrature, 1e-13 relative.

    ``degree``, 2 to 4, is the moment that the caller needs.  Raises ValueError where it is infinite, NotConverged where the
    quadrature does not resolve sigma or differs from an enclosure.

    >>> he2 = coordinate(Activation("he2"))
    >>> [round(float(value), 12) for value in (he2.variance, he2.third, he2.fourth, he2.linear[2])]
    [1.0, 2.828427124746, 12.0, 1.0]
    """
    finite = _finite_degree(phi)
    if finite < degree:
        # Says what is infinite, and raises.
        _raw_moment(phi, finite + 1)
    for reached in range(finite, degree, -1):
        try:
            return _coordinate(phi, reached)
        except NotConverged:
            continue  # with what the caller needs, and no higher moment
    return _coordinate(phi, degree)


def _raw_moment(phi: Activation, degree: int) -> tuple[float, float]:
    what = f"sigma(Z)^{degree}, sigma = {phi.text},"
    value, radius = enclosure(phi.expression**degree, 1, what, 18)
    return float_of(value, f"E {what}"), float_of(radius, f"E {what}")


@functools.lru_cache(maxsize=64)
def _finite_degree(phi: Activation) -> int:
    """The largest of 1..4 whose moment is finite."""
    for degree in (2, 3, 4):
        try:
            _raw_moment(phi, degree)
        except NotConverged:
            if degree == 2:
                raise
        except ValueError:
            return degree - 1
    return 4


@functools.lru_cache(maxsize=64)
def _coordinate(phi: Activation, degree: int) -> Coordinate:
    what, kinks = f"quadrature of sigma(Z)^{degree}, sigma = {phi.text},", kinks_of(phi)
    # Normalised Hermite polynomials grow like exp(z^2/4) up to z = 2 sqrt(64), and like powers beyond.
    orders = ORDERS - 1
    power = min(degree - 1, 2)

    def size(z: Array) -> Array:
        logs = log_size(phi, z)
        hermite = np.minimum(z * z / 4, orders * np.log(np.maximum(np.abs(z), 1.0)) - math.lgamma(orders + 1) / 2)
        result: Array = np.maximum(degree * np.maximum(logs, 0.0), power * logs + hermite) - z * z / 2
        return result

    low, high = window(size, what, kinks)
    low, high = min(low, -TAIL), max(high, TAIL)
    edges = panel_edges(kinks, low, high, PANEL)
    scale = math.sqrt(2 * math.pi)
    first = adaptive(lambda z: phi(z) * np.exp(-z * z / 2) / scale, edges, what)
    # A symmetry makes exact zeros, which nothing large can multiply into a number.
    symmetry = -1 if phi.properties.odd.value else 1 if phi.properties.even.value else 0
    mean = 0.0 if symmetry == -1 else float(first.values[0])

    def integrands(z: Array) -> Array:
        part = np.exp(-z * z / 8)
        y = (phi(z) - mean) * part  # to powers that stay in range where exp(-z^2/2) has gone
        rows = [y**2 * part**2, y**3 * part, y**4][: degree - 1]
        before, now = np.zeros_like(z), part**2 / scale
        for k in range(ORDERS):
            rows.append(y * part * now)
            if degree > 2:
                rows.append(y * y * now)
            before, now = now, (z * now - math.sqrt(k) * before) / math.sqrt(k + 1)
        return np.stack([row / scale for row in rows[: degree - 1]] + rows[degree - 1 :])

    found = adaptive(integrands, first.edges, what)
    moments, rest = found.values[: degree - 1], found.values[degree - 1 :]
    variance, third, raw4 = (float(moments[k]) if k < degree - 1 else math.nan for k in range(3))
    c = rest.copy() if degree == 2 else rest[::2].copy()
    d = np.full(ORDERS, math.nan) if degree == 2 else rest[1::2].copy()
    c[0] = 0.0
    if symmetry:
        c[(1 if symmetry == 1 else 0) :: 2] = 0.0
        d[1::2] = 0.0
        third = 0.0 if symmetry == -1 and degree > 2 else third
    _confirm(phi, mean, (variance, third, raw4)[: degree - 1])
    # Parseval; a difference below rounding is no part left.
    left = max(variance - float(c @ c), 0.0)
    left_square = max(raw4 - float(d @ d), 0.0) if degree == 4 else math.nan
    return Coordinate(mean, variance, third, raw4 - 3 * variance**2, c, d, left, left_square, found.edges)


def _confirm(phi: Activation, mean: float, central: Sequence[float]) -> None:
    """Compare with enclosures, which no narrow feature escapes; refuse a variance whose powers leave the range of doubles."""
    variance, *higher = central
    if not LEAST <= variance <= LARGEST:
        raise ValueError(
            f"Var sigma(Z) must lie between {LEAST:g} and {LARGEST:g}, got {variance:.6g} for sigma = {phi.text}: rescale sigma"
        )
    third, raw4 = [*higher, math.nan, math.nan][:2]
    sums = [variance + mean**2]
    sums.append(third + 3 * mean * variance + mean**3)
    sums.append(raw4 + 4 * mean * third + 6 * mean**2 * variance + mean**4)
    for degree, value in zip((2, 3, 4), sums[: len(central)]):
        try:
            exact, radius = _raw_moment(phi, degree)
        except NotConverged:
            continue  # finite, but not enclosed: that of degree 2, without which there is nothing, has shown all of sigma
        scale = abs(exact) if degree != 3 else abs(third) + 3 * abs(mean) * variance + abs(mean) ** 3 + variance**1.5
        if not abs(value - exact) <= 1e-10 * scale + min(radius, 1e-4 * scale):
            raise NotConverged(
                f"E sigma(Z)^{degree}, sigma = {phi.text}, is {exact:.10g}, but {value:.10g} by quadrature: sigma varies "
                "on a scale that it did not see"
            )


def covariance_kernel(one: Coordinate, m: Array) -> Array:
    """Return Cov(x_i, x_j) = sum_k c_k^2 m^k at every m = a_i . a_j; orders that are zero to rounding are left out.

    >>> covariance_kernel(coordinate(Activation("he2")), np.array([0.5, -1.0])).round(12)
    array([0.25, 1.  ])
    """
    squares = one.linear**2
    kept = np.flatnonzero(np.cumsum(squares[::-1])[::-1] > 1e-14 * one.variance)
    return np.asarray(np.polynomial.polynomial.polyval(m, squares[: kept[-1] + 1]), dtype=np.float64)


def erf_kernel(a: ArrayLike, c: ArrayLike, b: ArrayLike) -> Array:
    """Return E erf(u/sqrt 2) erf(w/sqrt 2) = (2/pi) asin(c/sqrt((1+a)(1+b))) for variances a, b and covariance c; any shapes.

    >>> round(float(erf_kernel(1, 1, 1)), 12) == round(1 / 3, 12)  # erf(Z/sqrt 2) is uniform on (-1, 1)
    True
    """
    a, c, b = np.asarray(a, dtype=float), np.asarray(c, dtype=float), np.asarray(b, dtype=float)
    ratio = c / np.sqrt(1 + a) / np.sqrt(1 + b)
    # Variances beyond 1e15 are 1 more than themselves, and roots of them are rounded.
    result: Array = 2 / math.pi * np.arcsin(np.where(np.abs(ratio) <= 1 + 1e-15, np.sign(ratio) * np.fmin(np.abs(ratio), 1), ratio))
    return result


def erf_prediction_error(q: Array, r: Array, t: Array, v: Array, v_teacher: Array) -> Array:
    """The arcsine formula for g = g~ = erf(x/sqrt 2), unchecked, over leading axes of (..., K, K), (..., K, M), (..., M, M)."""
    own, other = np.einsum("...kk->...k", q), np.einsum("...mm->...m", t)
    students = erf_kernel(own[..., :, None], q, own[..., None, :])
    teachers = erf_kernel(other[..., :, None], t, other[..., None, :])
    both = erf_kernel(own[..., :, None], r, other[..., None, :])
    result: Array = (students @ v) @ v + (teachers @ v_teacher) @ v_teacher - 2 * (both @ v_teacher) @ v
    return result
