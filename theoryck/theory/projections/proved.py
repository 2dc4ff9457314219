"""Proved values of projections: averages over generators by Mehler's formula, and by the radius where weights are aligned.

Series. m = a . a' of two vectors of the sphere of R^D has E m^(2j) = (1/2)_j/(D/2)_j, inner products of disjoint or chained pairs
are independent, and of three vectors m_23 = m_12 m_13 + sqrt((1 - m_12^2)(1 - m_13^2)) t with t an inner product in one dimension
less.  Every function returns a value with a bound of its error: what the Hermite coefficients beyond the last leave out.

Radius. u_i = a_i . c/r is one coordinate of a uniform unit vector, with density ~ (1 - u^2)^((D-3)/2), and r^2 ~ chi^2_D.  With
aligned weights E(lambda | a) does not depend on a, so moments over (a, c) at once are averaged third cumulants; no joint law of
several coordinates enters.  All of it is Gauss-Legendre quadrature, on panels that resolve sigma, with 24 nodes and with 12.
"""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from theoryck.numerics.errors import NotConverged
from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.gaussian.means import NODES, TAIL, adaptive, nodes_of
from theoryck.quantities.pilots import Once
from theoryck.theory.projections.model import ERF, ORDERS, Coordinate, coordinate, panels

Array = NDArray[np.float64]

ROUNDING = 1e-12
"""Relative error of sums of fewer than 10^5 terms of one magnitude in double precision, with that of the coefficients."""

TRIPLE_ORDERS = 8
"""Powers of each of m_12, m_13, m_23 kept in the joint cumulant of three coordinates; the last two are the error."""

RADII = 8.0
"""The length of the other D - 1 coordinates lies within 8 of sqrt(D) but for 1e-27 of its weight, in every dimension."""

MOST_COSINES = 3e8
"""Cosines, a few seconds, after which a characteristic function is given up."""

RESOLVED = 1e-9
"""Error, relative to 1, to which the integrand of a characteristic function is resolved."""

FREQUENCIES = 14.0
"""The transform of 1 - erf(x/sqrt 2)^2 falls like exp(-t^2/4), to 5e-22 there."""

RANGE = 10.0
"""1 - erf(x/sqrt 2)^2 falls like exp(-x^2/2), to 2e-22 there."""


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


def triple_tensor(one: Coordinate, orders: int) -> Array:
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
    values = [_squared_sum(triple_tensor(one, orders), moments) for orders in (TRIPLE_ORDERS, TRIPLE_ORDERS - 2)]
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


# By the radius -----------------------------------------------------------------------------------------------------------------


class Radial(NamedTuple):
    """Weights of the radii, and moments given the radius of x = sigma(r u) - E sigma(Z) and of g = r u."""

    weights: Array
    excess: Array  # r^2/D - 1
    powers: Array  # (5, radii): E x^k
    mixed: Array  # (3, radii): E x^k g


def _radii(dimension: int, longest: float, reach: float) -> tuple[Array, Array]:
    """Lengths r and their weights, for integrands that see r u up to ``reach``: growth there makes longer r count."""
    root = math.sqrt(dimension)
    r, weights = panels([], max(root - RADII, 0.0), math.hypot(root + RADII, reach), longest)
    logs = (dimension - 1) * np.log(r / root) - (r * r - dimension) / 2
    weights = weights * np.exp(logs - logs.max())
    return r, weights / weights.sum()


def _fields(dimension: int, r: Array, edges: Array, count: int) -> tuple[Array, Array]:
    """g = r u at nodes of u and their weights, (radii, nodes), on panels that end where g is at the ``edges``."""
    # u = sin(theta) makes the density cos(theta)^(D-2) analytic at the ends.  Panels beyond r have no width.
    theta, weights = nodes_of(np.arcsin(np.minimum(np.maximum(edges / r[:, None], -1.0), 1.0)), count)
    weights = weights * np.cos(theta) ** (dimension - 2)
    weights /= weights.sum(axis=1, keepdims=True)
    return r[:, None] * np.sin(theta), weights


@functools.lru_cache(maxsize=256)
def radial(phi: Activation, dimension: int, count: int = NODES) -> Radial:
    """Return moments given the radius at the nodes of a quadrature over radii; ``count`` nodes on every panel of the inner one."""
    one = coordinate(phi)
    r, weights = _radii(dimension, 2 * 0.7 * NODES / count, float(np.abs(one.edges).max()))
    found = []
    for part in np.array_split(r, max(len(r) * len(one.edges) * count // 2**20, 1)):
        g, inner = _fields(dimension, part, one.edges, count)
        x = phi(g) - one.mean
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            rows = [(x**k * inner).sum(axis=1) for k in range(5)] + [(x**k * g * inner).sum(axis=1) for k in range(3)]
        found.append(np.stack(rows))
    moments = np.hstack(found)
    if not np.isfinite(moments).all():
        raise NotConverged(f"moments of sigma = {phi.text} given |c| leave the range of floating-point numbers at D = {dimension}")
    excess = (r / math.sqrt(dimension) - 1) * (r / math.sqrt(dimension) + 1)
    return Radial(weights, excess, moments[:5], moments[5:])


def sizes(table: Radial) -> Radial:
    """Moments whose terms do not cancel, for the rounding of sums: a mean is known to 1e-15 of the root of the mean square."""
    root = np.sqrt(np.abs(table.powers[2]))
    powers, mixed = np.abs(table.powers), np.abs(table.mixed)
    powers[1] += 1e-3 * root
    powers[3] += 1e-3 * root * np.sqrt(powers[4])
    mixed[1] += 1e-3 * root
    mixed[2] += 1e-3 * np.sqrt(powers[4])
    return Radial(table.weights, np.abs(table.excess), powers, mixed)


def second(table: Radial, n: int) -> float:
    """E kappa_2(lambda | a) for aligned weights: E_r [M_2 + (N-1) M_1^2]."""
    return float(table.weights @ (table.powers[2] + (n - 1) * table.powers[1] ** 2))


def third(table: Radial, n: int) -> float:
    """E kappa_3(lambda | a) for aligned weights: N^(-1/2) E_r [M_3 + 3 (N-1) M_2 M_1 + (N-1)(N-2) M_1^3]."""
    _, m1, m2, m3, _ = table.powers
    return float(table.weights @ (m3 + 3 * (n - 1) * m2 * m1 + (n - 1) * (n - 2) * m1**3)) / math.sqrt(n)


def fourth_moment(table: Radial, n: int) -> float:
    """E (lambda - E lambda)^4 for aligned weights."""
    _, m1, m2, m3, m4 = table.powers
    pairs = (n - 1) * (4 * m3 * m1 + 3 * m2**2)
    more = 6 * (n - 1) * (n - 2) * m2 * m1**2 + (n - 1) * (n - 2) * (n - 3) * m1**4
    return float(table.weights @ (m4 + pairs + more)) / n


def mean_teacher(table: Radial, n: int) -> float:
    """E kappa(lambda, lambda, nu | a), nu = sum_i a_i . c/sqrt(N): N^(-1/2) E_r [E x^2 g + 2 (N-1) E(x g) E x]."""
    return float(table.weights @ (table.mixed[2] + 2 * (n - 1) * table.mixed[1] * table.powers[1])) / math.sqrt(n)


def fixed_teacher(table: Radial, n: int) -> float:
    """E kappa(lambda, lambda, nu, nu | a) + 2 c_1^2/D for aligned weights, nu = w~ . c/sqrt(D): E_r [E(lambda^2 | r) (r^2/D - 1)].

    The law of lambda given c depends on |c| only, and E nu^2 given |c| is r^2/D.
    """
    return float(table.weights @ ((table.powers[2] + (n - 1) * table.powers[1] ** 2) * table.excess))


def characteristic(phi: Activation, n: int, dimension: int, t: Array) -> Array:
    """E cos(t lambda) for random signs and every frequency ``t``: E_r [(E cos(t x/sqrt(N)) given r)^N]; NotConverged if slow."""
    one = coordinate(phi, 2)
    r, weights = _radii(dimension, 2.8, 0.0)
    keep = weights > 1e-20 * weights.max()
    fastest = float(np.abs(t).max()) / math.sqrt(n)

    def integrand(g: Array) -> Array:
        phase = fastest * (phi(g) - one.mean)
        return np.stack([np.cos(phase), np.sin(phase)]) * np.exp(-g * g / 2)

    what = f"the characteristic function of {n} coordinates, sigma = {phi.text},"
    inside = one.edges[np.abs(one.edges) < TAIL]
    edges = adaptive(integrand, np.concatenate([[-TAIL], inside, [TAIL]]), what, RESOLVED).edges
    if keep.sum() * len(edges) * NODES * len(t) > MOST_COSINES:
        raise NotConverged(f"{what} takes too long: sigma grows so fast that it oscillates, take more coordinates or another sigma")
    g, inner = _fields(dimension, r[keep], edges, NODES)
    x = (phi(g) - one.mean) / math.sqrt(n)
    powers = np.stack([(np.cos(frequency * x) * inner).sum(axis=1) ** n for frequency in t], axis=1)
    result: Array = weights[keep] @ powers
    return result


@functools.lru_cache(maxsize=1)
def _transform() -> tuple[Array, Array]:
    """Frequencies and weights: E (1 - g(lambda)^2) = sum_j weights_j E cos(t_j lambda)."""
    t, steps = panels([], 0.0, FREQUENCIES, 2.0)
    x, weights = panels([], 0.0, RANGE, 0.5)
    values = np.cos(t[:, None] * x) @ (weights * (1 - ERF(x) ** 2))
    return t, 2 * steps * values / math.pi


@Once
def mean_square_output(phi: Activation, n: int, dimension: int) -> float:
    """Return E erf(lambda/sqrt 2)^2 over generators, signs and latent vectors, to about 1e-13.

    >>> phi = Activation("x")  # lambda is N(0, Q(a)) with Q(a) near 1, and erf(Z/sqrt 2) is uniform: near 1/3
    >>> abs(mean_square_output(phi, 512, 512) - 1 / 3) < 1e-3
    True
    """
    t, weights = _transform()
    return 1.0 - float(weights @ characteristic(phi, n, dimension, t))
