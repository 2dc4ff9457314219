"""Exact route for projections: cumulants averaged over the sphere by Mehler's formula and closed moments of inner products.

m = a . a' of two vectors of the sphere of R^D has E m^(2j) = (1/2)_j/(D/2)_j, inner products of disjoint or chained pairs are
independent, and of three vectors m_23 = m_12 m_13 + sqrt((1 - m_12^2)(1 - m_13^2)) t with t an inner product in one dimension
less.  Every function returns a value with a bound of its error: what the Hermite coefficients beyond the last leave out.
"""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from theoryck.numerics.functions.activation import Activation
from theoryck.theory.projections.limits.projections import ORDERS, Coordinate, coordinate

Array = NDArray[np.float64]

ROUNDING = 1e-12
"""Relative error of sums of fewer than 10^5 terms of one magnitude in double precision, with that of the coefficients."""

TRIPLE_ORDERS = 8
"""Powers of each of m_12, m_13, m_23 kept in the joint cumulant of three coordinates; the last two are the error."""


class Known(NamedTuple):
    """A value and a bound of its error."""

    value: float
    error: float


@functools.lru_cache(maxsize=256)
def overlap_moments(dimension: int, count: int = 2 * ORDERS) -> Array:
    """Return E m^k for k < count, m the inner product of two unit vectors of R^dimension, one of them uniform.

    >>> overlap_moments(4, 5)
    array([1.   , 0.   , 0.25 , 0.   , 0.125])
    """
    moments = np.zeros(count)
    moments[0] = 1.0
    for k in range(2, count, 2):
        moments[k] = moments[k - 2] * (k - 1) / (dimension + k - 2)
    return moments


def pair_mean(coefficients: Array, left: float, dimension: int) -> Known:
    """E sum_{k>=1} coefficients[k] m^k; ``left`` bounds the sum of the absolute coefficients that are missing."""
    moments = overlap_moments(dimension)
    value = float(coefficients[1:] @ moments[1:ORDERS])
    return Known(value, left * moments[ORDERS] + ROUNDING * abs(value))


def pair_mean_square(coefficients: Array, left: float, dimension: int) -> Known:
    """E (sum_{k>=1} coefficients[k] m^k)^2."""
    moments = overlap_moments(dimension)
    squared = np.convolve(coefficients[1:], coefficients[1:])  # of m^2, m^3, ...
    value = float(squared @ moments[2 : 2 + len(squared)])
    whole = float(np.abs(coefficients[1:]).sum()) + left
    # A missing term has m^ORDERS at least, which its partner's m^1 only makes smaller.
    return Known(value, 2 * whole * left * moments[ORDERS] + ROUNDING * abs(value))


def covariance_mean(one: Coordinate, dimension: int) -> Known:
    """E Cov(x_i, x_j | a), i != j: zero for odd sigma, c_2^2/D to leading order otherwise."""
    return pair_mean(one.linear**2, one.left, dimension)


def covariance_mean_square(one: Coordinate, dimension: int) -> Known:
    """E Cov(x_i, x_j | a)^2, i != j: c_1^4/D to leading order."""
    return pair_mean_square(one.linear**2, one.left, dimension)


def signs_kurtosis(phi: Activation, n: int, dimension: int) -> Known:
    """E kappa_4(lambda | a, w)/Var(sigma)^2 for random signs w.

    N^-1 [kappa_4 + 3 (N-1) (E x_i^2 x_j^2 - Var^2 - 2 E Cov^2)]: of sum w_i w_j w_k w_l E(x_i x_j x_k x_l) and of (E lambda^2)^2
    the mean over signs keeps what is paired.
    """
    one = coordinate(phi)
    squares = pair_mean(one.square**2, one.left_square, dimension)
    covariances = covariance_mean_square(one, dimension)
    scale = n * one.variance**2
    value = (one.fourth + 3 * (n - 1) * (squares.value - 2 * covariances.value)) / scale
    error = 3 * (n - 1) * (squares.error + 2 * covariances.error) / scale
    return Known(value, error + ROUNDING * abs(one.fourth) / scale)


def squared_skewness(phi: Activation, n: int, dimension: int) -> Known:
    """E kappa_3(lambda | a, w)^2/Var(sigma)^3 for random signs w.

    N^-3 [N (k3 + 3 (N-1) E k_ijj)^2 + 9 N (N-1) Var k_ijj + 6 N (N-1)(N-2) E k_ijk^2]: the sign of i stays with all (i, j, j).
    """
    one = coordinate(phi)
    chained = one.linear * one.square  # k_ijj = Cov(x_i, x_j^2) = sum_k c_k d_k m^k
    left = math.sqrt(one.left * one.left_square)
    mean, second = pair_mean(chained, left, dimension), pair_mean_square(chained, left, dimension)
    triples = triple_mean_square(phi, dimension)
    first = one.third + 3 * (n - 1) * mean.value
    scale = n**2 * one.variance**3
    terms = (first**2, 9 * (n - 1) * (second.value - mean.value**2), 6 * (n - 1) * (n - 2) * triples.value)
    error = 6 * (n - 1) * abs(first) * mean.error + 9 * (n - 1) * (second.error + 2 * abs(mean.value) * mean.error)
    error += 6 * (n - 1) * (n - 2) * triples.error
    return Known(sum(terms) / scale, error / scale + ROUNDING * sum(map(abs, terms)) / scale)


def _triple_tensor(one: Coordinate, orders: int) -> Array:
    """K[p, q, s] = C_{p+q} C_{p+s} C_{q+s}/(p! q! s!), C_k = E sigma He_k: E x_1 x_2 x_3 = sum K m_12^p m_13^q m_23^s."""
    factorials = np.array([math.factorial(k) for k in range(2 * orders)], dtype=float)
    raw = one.linear[: 2 * orders] * np.sqrt(factorials)
    p = np.arange(orders)
    first, second, third = raw[p[:, None, None] + p[:, None]], raw[p[:, None, None] + p], raw[p[:, None] + p]
    inverse = 1 / factorials[:orders]
    weights: Array = first * second * third * inverse[:, None, None] * inverse[:, None] * inverse
    return weights


def triangle_moments(dimension: int, count: int) -> Array:
    """Return E m_12^p m_13^q m_23^s for p, q, s < count, of three uniform unit vectors of R^dimension.

    With m = m_12: E m^k (1 - m^2)^j is the k-th moment in dimension + 2j times E (1 - m^2)^j.

    >>> round(float(triangle_moments(5, 2)[1, 1, 1]), 12)  # 1/D^2
    0.04
    """
    half = count // 2 + 1
    mixed = np.zeros((2 * count, half))
    shrink = 1.0
    for j in range(half):
        mixed[:, j] = overlap_moments(dimension + 2 * j, 2 * count) * shrink
        shrink *= (dimension - 1 + 2 * j) / (dimension + 2 * j)
    rest = overlap_moments(dimension - 1, 2 * half)
    result = np.zeros((count, count, count))
    for s in range(count):
        for j in range(s // 2 + 1):
            column = mixed[s - 2 * j : s - 2 * j + count, j]
            result[:, :, s] += math.comb(s, 2 * j) * rest[2 * j] * column[:, None] * column
    return result


def _squared_sum(tensor: Array, moments: Array) -> float:
    """sum over two index triples of K K' E m_12^(p+p') m_13^(q+q') m_23^(s+s')."""
    orders, total = len(tensor), 0.0
    for p in range(orders):
        for q in range(orders):
            for s in range(orders):
                if tensor[p, q, s]:
                    total += tensor[p, q, s] * float((tensor * moments[p : p + orders, q : q + orders, s : s + orders]).sum())
    return total


@functools.lru_cache(maxsize=512)
def triple_mean_square(phi: Activation, dimension: int) -> Known:
    """E (E_c x_1 x_2 x_3)^2 of three different coordinates, by the Hermite expansion in m_12, m_13, m_23."""
    one = coordinate(phi, 2)
    moments = triangle_moments(dimension, 2 * TRIPLE_ORDERS)
    values = [_squared_sum(_triple_tensor(one, orders), moments) for orders in (TRIPLE_ORDERS, TRIPLE_ORDERS - 2)]
    return Known(values[0], abs(values[0] - values[1]) + ROUNDING * abs(values[0]))


def triple_mean(phi: Activation, dimension: int) -> Known:
    """E E_c x_1 x_2 x_3 of three different coordinates, by the same expansion."""
    one = coordinate(phi, 2)
    moments = triangle_moments(dimension, TRIPLE_ORDERS)
    values = []
    for orders in (TRIPLE_ORDERS, TRIPLE_ORDERS - 2):
        values.append(float((_triple_tensor(one, orders) * moments[:orders, :orders, :orders]).sum()))
    return Known(values[0], abs(values[0] - values[1]) + ROUNDING * abs(values[0]))


def joint_kurtosis(phi: Activation, dimension: int) -> Known:
    """E kappa(lambda, lambda, nu, nu | a, w)/Var(sigma) for random signs: (sqrt(2) d_2 - 2 c_1^2)/(D Var(sigma)), by parts twice.

    Only i = j is left of w_i w_j E x_i x_j (nu^2 - 1), and E (a_i . w~)^2/D = 1/D.
    """
    one = coordinate(phi, 3)
    value = float(math.sqrt(2) * one.square[2] - 2 * one.linear[1] ** 2) / (dimension * one.variance)
    return Known(value, ROUNDING * (math.sqrt(2) * abs(one.square[2]) + 2 * one.linear[1] ** 2) / (dimension * one.variance))


def squared_joint_skewness(phi: Activation, n: int, dimension: int) -> Known:
    """E kappa(lambda, lambda, nu | a, w)^2/Var(sigma)^2 for random signs: 4 [F(1)^2 + (N-1) E (1+m) F(m)^2]/(N D Var^2).

    kappa = (2/N) sum_ij w_i w_j b_i F(m_ij) with b_i = a_i . w~/sqrt(D), F(m) = E sigma'(g_1) x_2
    = sum_k sqrt(k+1) c_{k+1} c_k m^k; E b_1^2 = 1/D and E b_1 b_2 = m/D given m.
    """
    one = coordinate(phi, 3)
    k = np.arange(ORDERS)
    slope = np.zeros(ORDERS)
    slope[:-1] = np.sqrt(k[1:]) * one.linear[1:] * one.linear[:-1]
    at_one = float(one.square[1]) / 2  # E sigma' x = E (x^2)'/2 = d_1/2
    moments = overlap_moments(dimension)
    tilted = moments + np.append(moments[1:], 0.0)  # E (1 + m) m^k
    sums = []
    for orders in (ORDERS, ORDERS // 2):  # no bound of what is left out of F: the last half of what is kept stands for it
        squared = np.convolve(slope[:orders], slope[:orders])
        sums.append(float(squared @ tilted[: len(squared)]))
    scale = n * dimension * one.variance**2 / 4
    value = (at_one**2 + (n - 1) * sums[0]) / scale
    return Known(value, (n - 1) * abs(sums[0] - sums[1]) / scale + ROUNDING * abs(value))
