"""One coordinate of a generator and the limits of its projections.

x_i = sigma(a_i . c) with unit vectors a_i, uniform on the sphere of R^D, and c ~ N(0, I_D): every x_i has the law of sigma(Z),
Z ~ N(0, 1), and two of them depend on each other through m_ij = a_i . a_j alone.  In normalised Hermite coefficients
    c_k = E (sigma(Z) - E sigma(Z)) He_k(Z)/sqrt(k!),    d_k = E (sigma(Z) - E sigma(Z))^2 He_k(Z)/sqrt(k!)
Mehler's formula says Cov(x_i, x_j) = sum_k c_k^2 m^k, and the same with d_k for the squares.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sympy import Rational

from theoryck.numerics.errors import NotConverged
from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.functions.expression import x
from theoryck.numerics.gaussian.means import (
    TAIL,
    adaptive,
    enclosed,
    enclosure,
    float_of,
    image,
    kinks_of,
    log_size,
    nodes_of,
    panel_edges,
    window,
)
from theoryck.numerics.proved.formulas import Number, exact_number

Array = NDArray[np.float64]

ORDERS = 64
"""Hermite coefficients kept: what they leave out is known by Parseval, and is counted as error."""

PANEL = 0.7
"""Longest panel to begin with: He_64 has a period of 2 pi/8 = 0.8 where the weight is not small."""

MOST_RATIO = 10**12
"""N/D beyond this, or its inverse, would multiply the rounding of coefficients that are zero."""


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
    if not 1e-70 < variance < 1e70:
        raise ValueError(f"Var sigma(Z) must lie between 1e-70 and 1e70, got {variance:.6g} for sigma = {phi.text}: rescale sigma")
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


def _ratio(ratio: Any) -> Fraction:
    number = exact_number(ratio, "ratio", low=0)
    if not isinstance(number, Fraction):
        number = Fraction(number.midpoint)
    if not Fraction(1, MOST_RATIO) <= number <= MOST_RATIO:
        raise ValueError(f"ratio must be N/D, between 1e-12 and 1e12, got {ratio!r}")
    return number


HERMITE = {0: ((0, 1),), 1: ((1, 1),), 2: ((2, 1), (0, -1)), 4: ((4, 1), (2, -6), (0, 3))}
"""He_k as (power, coefficient)."""


@dataclass(frozen=True)
class _Raw:
    """E sigma(Z)^j He_k(Z) by enclosures, with ``lost`` more digits than doubles need: those that the mean takes away."""

    phi: Activation
    lost: int

    def __call__(self, power: int, order: int = 0) -> Fraction:
        # By powers of Z: He_k itself may make a mean that is nearly 0, of which relative digits are hard to get and of no use.
        return sum((factor * self._monomial(power, k) for k, factor in HERMITE[order]), Fraction(0))

    def _monomial(self, power: int, k: int) -> Fraction:
        product = self.phi.expression**power * x**k
        what = f"sigma(Z)^{power}" + (f" Z^{k}" if k else "") + f", sigma = {self.phi.text},"
        return enclosed(product.expand() if product.is_polynomial(x) else product, 1, what, lost=self.lost)

    @property
    def mean(self) -> Fraction:
        return self(1)

    @property
    def variance(self) -> Fraction:
        return self(2) - self(1) ** 2

    @property
    def third(self) -> Fraction:
        return self(3) - 3 * self(1) * self(2) + 2 * self(1) ** 3

    @property
    def fourth(self) -> Fraction:
        m = self(1)
        return self(4) - 4 * m * self(3) + 6 * m**2 * self(2) - 3 * m**4 - 3 * self.variance**2

    def square(self, order: int) -> Fraction:
        """E (sigma(Z) - mean)^2 He_k(Z), k > 0."""
        return self(2, order) - 2 * self(1) * self(1, order)


@functools.lru_cache(maxsize=64)
def _raw(phi: Activation) -> _Raw:
    for lost in (0, 8, 24, 60):
        raw = _Raw(phi, lost)
        variance = raw.variance
        # Fourth powers of the mean cancel: (mean/deviation)^4 of them.
        if variance > 0 and (raw(2) / variance) ** 2 <= 10**lost * 100:
            return raw
    raise NotConverged(f"sigma = {phi.text} hardly varies: its variance is lost beside its mean, subtract the mean from sigma")


def projection_kurtosis_limit(activation: Activation | str, ratio: Number = 1) -> float:
    """Return lim N E kappa_4(lambda | a)/(E kappa_2)^2 for random-sign weights, N = ratio D -> infinity.

    [kappa_4(sigma) + 3 (N/D) (d_2^2 - 2 c_1^4)]/Var(sigma)^2, from enclosures.  The same for aligned weights and odd sigma.
    ``ratio`` is an exact number or its text, "1/2".  Raises ValueError for a bad ratio and where E sigma(Z)^4 is infinite,
    NotConverged where it is not known.

    >>> projection_kurtosis_limit("he2")  # kappa_4 = 12, d_2^2 = 8, c_1 = 0
    36.0
    """
    phi, delta = read_activation(activation), _ratio(ratio)
    try:
        return float_of(_exact_kurtosis(_raw(phi), delta), "the limit")
    except NotConverged:
        one = coordinate(phi)  # by quadrature, where enclosures are wide
        pairs = float(one.square[2] ** 2 - 2 * one.linear[1] ** 4)
        return (one.fourth + 3 * float(delta) * pairs) / one.variance**2


def _exact_kurtosis(raw: _Raw, delta: Fraction) -> Fraction:
    pairs = raw.square(2) ** 2 / 2 - 2 * raw(1, 1) ** 4
    return (raw.fourth + 3 * delta * pairs) / raw.variance**2


def localised_error_gap(activation: Activation | str, student: Activation | str) -> float:
    """Return E g(x)^2 - E g(sqrt(Q) Z)^2, x = sigma(Z) - E sigma(Z), Q = E x^2: what a localised student's error differs by.

    ``student`` is g.  No size enters: the field of w = sqrt(N) e_1 is one coordinate.  Raises ValueError where a mean is infinite,
    NotConverged where it is not known.

    >>> localised_error_gap("x", "erf(x/sqrt(2))"), localised_error_gap("tanh(5*x)", "erf(x/sqrt(2))") > 0.02
    (0.0, True)
    """
    phi, g = read_activation(activation), read_activation(student, "student")
    mean = Rational(coordinate(phi, 2).mean)
    seen = Activation(g.expression.xreplace({x: phi.expression - mean if mean else phi.expression}))
    return image(seen, 1.0, "g(sigma - E sigma)").square - image(g, float(_variance(phi)), "g").square


def projection_skewness_limit(activation: Activation | str, ratio: Number = 1) -> float:
    """Return lim sqrt(N) E kappa_3(lambda | a)/(E kappa_2)^(3/2) for aligned weights w = (1, ..., 1), N = ratio D -> infinity.

    With r = N/D, s_2 = E sigma'' = sqrt(2) c_2 and s_4 = E sigma'''' = sqrt(24) c_4:
    [kappa_3(sigma) + 3 r c_2 d_2 + r^2 (s_2^3 + 3 s_2^2 s_4/4)]/(Var(sigma) + r c_2^2)^(3/2), from enclosures.  Zero for odd
    sigma.  ``ratio`` is an exact number or its text.  Raises ValueError for a bad ratio and where E sigma(Z)^3 is infinite,
    NotConverged where it is not known.

    >>> round(projection_skewness_limit("he2"), 12)  # sqrt(8) m_3/m_2^(3/2), Marchenko-Pastur moments 5 and 2
    5.0
    """
    phi, r = read_activation(activation), _ratio(ratio)
    try:
        top, scale = _skewness_parts(_raw(phi), r)
    except NotConverged:
        one = coordinate(phi, 3)  # by quadrature, where enclosures are wide
        second, fourth = math.sqrt(2) * one.linear[2], math.sqrt(24) * one.linear[4]
        triples = second**3 + 0.75 * second**2 * fourth
        top = Fraction(one.third) + 3 * r * Fraction(float(one.linear[2] * one.square[2])) + r**2 * Fraction(float(triples))
        scale = Fraction(one.variance) + r * Fraction(float(one.linear[2])) ** 2
    # Of squares, which are rational: powers of a very small or large sigma leave the range of doubles.
    return math.copysign(math.sqrt(float_of(top**2 / scale**3, "the squared limit")), top)


def _skewness_parts(raw: _Raw, r: Fraction) -> tuple[Fraction, Fraction]:
    second, fourth = raw(1, 2), raw(1, 4)
    triples = second**3 + 3 * second**2 * fourth / 4
    return raw.third + 3 * r * second * raw.square(2) / 2 + r**2 * triples, raw.variance + r * second**2 / 2


def _variance(phi: Activation) -> Fraction:
    try:
        return _raw(phi).variance
    except NotConverged:
        return Fraction(coordinate(phi, 2).variance)


def error_gap_limit(activation: Activation | str, student: Activation | str, ratio: Number = 1) -> float:
    """Return lim N (E g(lambda)^2 - E g(sqrt(Q) Z)^2), Q = Var sigma(Z), for random-sign weights: the first cumulant that is left.

    (1/24) lim N E kappa_4(lambda | a) times E (g^2)''''(sqrt(Q) Z) = E g(sqrt(Q) Z)^2 He_4(Z)/Q^2, by parts.  ``student`` is g.
    Raises as :func:`projection_kurtosis_limit` does, and ValueError where E g(sqrt(Q) Z)^2 is infinite.

    >>> round(error_gap_limit("sqrt(3)*erf(x/sqrt(2))", "x**2") - projection_kurtosis_limit("erf_scaled"), 9)  # Q = 1, g^2 = x^4
    0.0
    """
    phi, g = read_activation(activation), read_activation(student, "student")
    variance = _variance(phi)
    q = Rational(variance.numerator, variance.denominator)
    product = g.expression**2 * (x**4 / q**2 - 6 * x**2 / q + 3)
    product = product.expand() if product.is_polynomial(x) else product
    what = f"g(sqrt(Q) Z)^2 He_4(Z), g = {g.text} and Q = {float(variance):.6g},"
    return projection_kurtosis_limit(phi, ratio) * float_of(enclosed(product, variance, what), f"E {what}") / 24
