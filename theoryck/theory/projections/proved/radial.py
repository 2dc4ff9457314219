"""Exact route for aligned weights: given the length r = |c| the coordinates sigma(r u_i) are independent.

u_i = a_i . c/r is one coordinate of a uniform unit vector, with density ~ (1 - u^2)^((D-3)/2), and r^2 ~ chi^2_D.  With aligned
weights E(lambda | a) does not depend on a, so moments over (a, c) at once are averaged third cumulants; no joint law of several
coordinates enters.  All of it is Gauss-Legendre quadrature, on panels that
resolve sigma, with 24 nodes and with 12.
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
from theoryck.theory.projections.limits.projections import coordinate, panels

Array = NDArray[np.float64]

RADII = 8.0
"""The length of the other D - 1 coordinates lies within 8 of sqrt(D) but for 1e-27 of its weight, in every dimension."""

MOST_COSINES = 3e8
"""Cosines, a few seconds, after which a characteristic function is given up."""

RESOLVED = 1e-9
"""Error, relative to 1, to which the integrand of a characteristic function is resolved."""


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
