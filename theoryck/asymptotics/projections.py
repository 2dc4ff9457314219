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
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from theoryck.models import Activation

Array = NDArray[np.float64]

ORDERS = 64
"""Hermite coefficients kept: what they leave out is known by Parseval, and is counted as error."""

REACH = 14.0
"""Half the range of the quadrature: exp(-14^2/2) = 3e-43 of the Gaussian weight, with room for He_64 and any polynomial."""

PANEL = 0.7
"""Longest panel of 24 Gauss-Legendre nodes: He_64 has a period of 2 pi/8 = 0.8 where the weight is not small."""


def panels(breaks: Sequence[float], low: float, high: float, longest: float) -> tuple[Array, Array]:
    """Return nodes and weights of composite Gauss-Legendre quadrature on [low, high], with panels that end at the ``breaks``.

    >>> nodes, weights = panels([0.0], -1.0, 1.0, 0.5)
    >>> round(float(weights @ abs(nodes)), 12)
    1.0
    """
    ends = [low, *sorted(point for point in breaks if low < point < high), high]
    edges = np.concatenate(
        [np.linspace(a, b, max(math.ceil((b - a) / longest), 1), endpoint=False) for a, b in pairwise(ends)] + [[high]]
    )
    nodes, weights = np.polynomial.legendre.leggauss(24)
    half = np.diff(edges)[:, None] / 2
    return (edges[:-1, None] + half * (1 + nodes)).ravel(), (half * weights).ravel()


@dataclass(frozen=True)
class Coordinate:
    """The law of x = sigma(Z), centred: moments and normalised Hermite coefficients.

    ``mean`` = E sigma(Z), ``variance``, ``third`` and ``fourth`` cumulant; ``linear[k]`` = c_k and ``square[k]`` = d_k for
    k < 64; ``left`` and ``left_square`` are the parts of Var sigma(Z) and Var (sigma(Z) - mean)^2 in higher orders.
    """

    mean: float
    variance: float
    third: float
    fourth: float
    linear: Array
    square: Array
    left: float
    left_square: float


def read_activation(activation: object, name: str = "activation") -> Activation:
    """Return an Activation, made from a text where one is given; ValueError for a constant."""
    phi = activation if isinstance(activation, Activation) else Activation(activation)
    if not phi.expression.free_symbols:
        raise ValueError(f"{name} must depend on x, got the constant {phi.text!r}: its projections do not vary")
    return phi


def kinks_of(phi: Activation) -> list[float]:
    """Return the points where phi may fail to be analytic, as floats."""
    return [float(point) for point in phi.kinks]


@functools.lru_cache(maxsize=64)
def coordinate(phi: Activation) -> Coordinate:
    """Return moments and Hermite coefficients of sigma(Z) - E sigma(Z) by composite Gauss-Legendre quadrature, 1e-13 relative.

    >>> he2 = coordinate(Activation("he2"))
    >>> [round(float(value), 12) for value in (he2.variance, he2.third, he2.fourth, he2.linear[2])]
    [1.0, 2.828427124746, 12.0, 1.0]
    """
    z, weights = panels(kinks_of(phi), -REACH, REACH, PANEL)
    weights = weights * np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    values = phi(z)
    mean = float(weights @ values)
    x = values - mean
    variance, third, raw4 = (float(weights @ x**power) for power in (2, 3, 4))
    c, d = np.empty(ORDERS), np.empty(ORDERS)
    before, now = np.zeros_like(z), np.ones_like(z)
    for k in range(ORDERS):
        c[k], d[k] = weights @ (x * now), weights @ (x * x * now)
        before, now = now, (z * now - math.sqrt(k) * before) / math.sqrt(k + 1)
    c[0] = 0.0
    # Parseval; a difference below rounding is no part left.
    left = max(variance - float(c @ c), 0.0)
    left_square = max(raw4 - float(d @ d), 0.0)
    return Coordinate(mean, variance, third, raw4 - 3 * variance**2, c, d, left, left_square)


def covariance_kernel(one: Coordinate, m: Array) -> Array:
    """Return Cov(x_i, x_j) = sum_k c_k^2 m^k at every m = a_i . a_j; orders that are zero to rounding are left out.

    >>> covariance_kernel(coordinate(Activation("he2")), np.array([0.5, -1.0])).round(12)
    array([0.25, 1.  ])
    """
    squares = one.linear**2
    kept = np.flatnonzero(np.cumsum(squares[::-1])[::-1] > 1e-14 * one.variance)
    return np.asarray(np.polynomial.polynomial.polyval(m, squares[: kept[-1] + 1]), dtype=np.float64)


def _ratio(ratio: float) -> float:
    if isinstance(ratio, bool) or not (isinstance(ratio, int | float) and 0 < ratio < math.inf):
        raise ValueError(f"ratio must be N/D, a positive number, got {ratio!r}")
    return float(ratio)


def projection_kurtosis_limit(activation: Activation | str, ratio: float = 1) -> float:
    """Return lim N E kappa_4(lambda | a)/(E kappa_2)^2 for random-sign weights, N = ratio D -> infinity.

    [kappa_4(sigma) + 3 (N/D) (d_2^2 - 2 c_1^4)]/Var(sigma)^2.  The same for aligned weights and odd sigma.  Raises ValueError.

    >>> round(projection_kurtosis_limit("he2"), 9)  # kappa_4 = 12, d_2^2 = 8, c_1 = 0
    36.0
    """
    one, delta = coordinate(read_activation(activation)), _ratio(ratio)
    pairs = float(one.square[2] ** 2 - 2 * one.linear[1] ** 4)
    return (one.fourth + 3 * delta * pairs) / one.variance**2


def localised_error_gap(activation: Activation | str, student: Activation | str) -> float:
    """Return E g(x)^2 - E g(sqrt(Q) Z)^2, x = sigma(Z) - E sigma(Z), Q = E x^2: what a localised student's error differs by.

    ``student`` is g.  No size enters: the field of w = sqrt(N) e_1 is one coordinate.

    >>> abs(localised_error_gap("x", "erf(x/sqrt(2))")) < 1e-14, localised_error_gap("tanh(5*x)", "erf(x/sqrt(2))") > 0.02
    (True, True)
    """
    phi, g = read_activation(activation), read_activation(student, "student")
    one = coordinate(phi)
    root = math.sqrt(one.variance)
    # Where g has kinks the first integrand has them at unknown points: short panels, for two integrals of one size.
    z, weights = panels([*kinks_of(phi), *(kink / root for kink in kinks_of(g))], -REACH, REACH, PANEL / 8)
    weights = weights * np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    return float(weights @ (g(phi(z) - one.mean) ** 2 - g(root * z) ** 2))


def projection_skewness_limit(activation: Activation | str, ratio: float = 1) -> float:
    """Return lim sqrt(N) E kappa_3(lambda | a)/(E kappa_2)^(3/2) for aligned weights w = (1, ..., 1), N = ratio D -> infinity.

    With r = N/D, s_2 = E sigma'' = sqrt(2) c_2 and s_4 = E sigma'''' = sqrt(24) c_4:
    [kappa_3(sigma) + 3 r c_2 d_2 + r^2 (s_2^3 + 3 s_2^2 s_4/4)]/(Var(sigma) + r c_2^2)^(3/2).  Zero for odd sigma.

    >>> round(projection_skewness_limit("he2"), 9)  # sqrt(8) m_3/m_2^(3/2), Marchenko-Pastur moments 5 and 2
    5.0
    """
    one, delta = coordinate(read_activation(activation)), _ratio(ratio)
    second, fourth = math.sqrt(2) * one.linear[2], math.sqrt(24) * one.linear[4]
    triples = second**3 + 0.75 * second**2 * fourth
    third = one.third + 3 * delta * one.linear[2] * one.square[2] + delta**2 * triples
    return float(third / (one.variance + delta * one.linear[2] ** 2) ** 1.5)


def error_gap_limit(activation: Activation | str, student: Activation | str, ratio: float = 1) -> float:
    """Return lim N (E g(lambda)^2 - E g(sqrt(Q) Z)^2), Q = Var sigma(Z), for random-sign weights: the first cumulant that is left.

    (1/24) lim N E kappa_4(lambda | a) times E (g^2)''''(sqrt(Q) Z) = E g(sqrt(Q) Z)^2 He_4(Z)/Q^2, by parts.  ``student`` is g.

    >>> round(error_gap_limit("sqrt(3)*erf(x/sqrt(2))", "x**2") - projection_kurtosis_limit("erf_scaled"), 9)  # Q = 1, g^2 = x^4
    0.0
    """
    phi, g = read_activation(activation), read_activation(student, "student")
    q = coordinate(phi).variance
    z, weights = panels([kink / math.sqrt(q) for kink in kinks_of(g)], -REACH, REACH, PANEL)
    weights = weights * np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    curvature = float(weights @ (g(math.sqrt(q) * z) ** 2 * (z**4 - 6 * z**2 + 3)))
    return projection_kurtosis_limit(phi, ratio) * curvature / 24
