"""Exact route for aligned weights: given the length r = |c| the coordinates sigma(r u_i) are independent.

u_i = a_i . c/r is one coordinate of a uniform unit vector, with density ~ (1 - u^2)^((D-3)/2), and r^2 ~ chi^2_D.  With aligned
weights E(lambda | a) does not depend on a, so moments over (a, c) at once are averaged third cumulants; no joint law of several
coordinates enters.  All of it is Gauss-Legendre quadrature, once with the panels of ``panels`` and once with shorter ones.
"""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from theoryck.asymptotics.projections import coordinate, kinks_of, panels
from theoryck.models import Activation

Array = NDArray[np.float64]

RADII = 8.0
"""r lies within 8 of sqrt(D) but for 1e-27 of its weight: it has standard deviation near 1/sqrt(2) in every dimension."""


class Radial(NamedTuple):
    """Weights of the radii, and moments given the radius of x = sigma(r u) - E sigma(Z) and of g = r u."""

    weights: Array
    excess: Array  # r^2/D - 1
    powers: Array  # (5, radii): E x^k
    mixed: Array  # (3, radii): E x^k g


def _radii(dimension: int, longest: float) -> tuple[Array, Array]:
    root = math.sqrt(dimension)
    r, weights = panels([], max(root - RADII, 0.0), root + RADII, longest)
    logs = (dimension - 1) * np.log(r / root) - (r * r - dimension) / 2
    weights = weights * np.exp(logs - logs.max())
    return r, weights / weights.sum()


def _fields(phi: Activation, dimension: int, r: Array, longest: float) -> tuple[Array, Array]:
    """g = r u at nodes of u and their weights, at radii whose panels may be the same: one, or any number with no kink off 0."""
    # u = sin(theta) makes the density cos(theta)^(D-2) analytic at the ends.
    end = min(math.pi / 2, 14 / math.sqrt(dimension))
    kinks = [math.asin(kink / r[0]) for kink in kinks_of(phi) if abs(kink) < r[0]]
    theta, weights = panels(kinks, -end, end, longest / math.sqrt(dimension))
    weights = weights * np.cos(theta) ** (dimension - 2)
    weights /= weights.sum()
    return r[:, None] * np.sin(theta), weights


def _groups(phi: Activation, r: Array) -> list[Array]:
    """Radii that may share panels: all of them when no kink is away from 0."""
    return [np.array([value]) for value in r] if any(kinks_of(phi)) else [r]


def _given(phi: Activation, mean: float, dimension: int, r: Array, longest: float) -> tuple[Array, Array]:
    """E x^k and E x^k g at the radii."""
    g, weights = _fields(phi, dimension, r, longest)
    x = phi(g) - mean
    powers = np.stack([x**k @ weights for k in range(5)])
    return powers, np.stack([(x**k * g) @ weights for k in range(3)])


@functools.lru_cache(maxsize=256)
def radial(phi: Activation, dimension: int, longest: float = 1.4) -> Radial:
    """Return moments given the radius at the nodes of a quadrature over radii; ``longest`` is a panel in standard deviations."""
    r, weights = _radii(dimension, 2 * longest)
    keep = weights > 1e-25 * weights.max()
    mean = coordinate(phi).mean
    found = [_given(phi, mean, dimension, group, longest) for group in _groups(phi, r[keep])]
    excess = (r[keep] / math.sqrt(dimension) - 1) * (r[keep] / math.sqrt(dimension) + 1)
    return Radial(weights[keep], excess, np.hstack([p for p, _ in found]), np.hstack([m for _, m in found]))


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


def fixed_teacher(table: Radial, slope: float, n: int, dimension: int) -> float:
    """E kappa(lambda, lambda, nu, nu | a) for aligned weights, nu = w~ . c/sqrt(D): E_r [E(lambda^2 | r) (r^2/D - 1)] - 2 c_1^2/D.

    The law of lambda given c depends on |c| only, and E nu^2 given |c| is r^2/D; ``slope`` is c_1.
    """
    squares = table.powers[2] + (n - 1) * table.powers[1] ** 2
    return float(table.weights @ (squares * table.excess)) - 2 * slope**2 / dimension


def characteristic(phi: Activation, n: int, dimension: int, t: Array, longest: float = 1.4) -> Array:
    """E cos(t lambda) for random signs and every frequency ``t``: E_r [(E cos(t x/sqrt(N)) given r)^N]."""
    r, weights = _radii(dimension, 2 * longest)
    keep = weights > 1e-20 * weights.max()
    mean, powers = coordinate(phi).mean, []
    for group in _groups(phi, r[keep]):
        g, inner = _fields(phi, dimension, group, longest)
        x = (phi(g) - mean) / math.sqrt(n)
        powers.append(np.stack([np.cos(frequency * x) @ inner for frequency in t], axis=1) ** n)
    result: Array = weights[keep] @ np.vstack(powers)
    return result
