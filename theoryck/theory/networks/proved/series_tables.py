"""Conditional cumulants of one neuron pair as power series in the Gram matrix of the layer below.

For u, v centred Gaussian with Gram (S, S', Q), M_pq(S, S', Q) = E[phi(u)^p phi(v)^q] obeys
dM/dQ = E[f'(u) g'(v)], dM/dS = E[f''(u) g(v)] / 2 with f = phi^p, g = phi^q, so its Taylor coefficients at (sigma, sigma, 0) are
products of the one-dimensional numbers F[p][m] = E f^(m)(sqrt(sigma) Z) = sigma^(-m/2) E[f(sqrt(sigma) Z) He_m(Z)] (integration by
parts: no derivative of phi is taken, kinks are allowed).  At (sigma, sigma, q) they are Mehler sums of such products.
"""

from __future__ import annotations

from collections.abc import Callable
from math import factorial
from typing import Any

import numpy as np
from flint import arb, arb_mat

from theoryck.numerics.balls import plus_minus
from theoryck.theory.networks.proved.series import (
    Grading,
    Index,
    Vector,
    cumulant_degrees,
    cumulants_from_moments,
    multi_indices,
    zeros,
)

HermiteTable = list[list[arb]]


def derivative_table(table: HermiteTable, variance: arb) -> HermiteTable:
    """Return F[p][m] = E (phi^p)^(m)(sqrt(s) Z) from E[phi(sqrt(s) Z)^p He_m(Z)]."""
    root = 1 / variance.sqrt()
    powers = [arb(1)]
    for _ in range(len(table[0]) - 1):
        powers.append(powers[-1] * root)
    return [[value * scale for value, scale in zip(row, powers)] for row in table]


def orders_needed(weight: int) -> tuple[int, int]:
    """Return the largest power of phi and the largest Hermite order that a weight asks for."""
    return weight + 2, 2 * weight


def norm_cumulants(space: Grading, table: HermiteTable) -> dict[Index, Vector]:
    """Return the cumulants of phi(sqrt(S) Z)^2 as series in S - sigma, the limit subtracted from the mean; one variable."""
    degrees = cumulant_degrees(space.weight)
    moments: dict[Index, Vector] = {}
    for order, degree in degrees.items():
        moments[(order,)] = _series([table[2 * order][2 * i] / (factorial(i) * 2**i) for i in range(degree + 1)])
    return _centred(cumulants_from_moments(space, moments, degrees))


def gram_cumulants(space: Grading, table: HermiteTable, variance: arb, overlap: arb | None = None) -> dict[Index, Vector]:
    """Return the joint cumulants of (phi(u)^2, phi(v)^2, phi(u) phi(v)) as series about (sigma, sigma, q); three variables."""
    degrees = cumulant_degrees(space.weight)
    kernel = _kernel(table, overlap, variance, 2 * space.weight)
    moments: dict[Index, Vector] = {}
    for order, degree in degrees.items():
        exponents = space.free_exponents[: space.free_count[degree]]
        for beta in multi_indices(3, order):
            p, q = 2 * beta[0] + beta[2], 2 * beta[1] + beta[2]
            values = [
                kernel(p, q, m + 2 * i, m + 2 * j) / (factorial(i) * factorial(j) * factorial(m) * 2 ** (i + j))
                for i, j, m in exponents.tolist()
            ]
            moments[beta] = _series(values)
    return _centred(cumulants_from_moments(space, moments, degrees))


def _kernel(table: HermiteTable, overlap: arb | None, variance: arb, orders: int) -> Callable[[int, int, int, int], arb]:
    """Return (p, q, n, n') -> E[f^(n)(u) g^(n')(v)], f = phi^p, g = phi^q, at the overlap (None: independent u and v)."""
    if overlap is None:
        return lambda p, q, n, n2: table[p][n] * table[q][n2]
    length = len(table[0])
    scales = [arb(1)]
    for r in range(1, length):
        scales.append(scales[-1] * overlap / r)
    blocks: dict[tuple[int, int], arb_mat] = {}
    decay = 1 / (1 - abs(overlap) / variance)

    def kernel(p: int, q: int, n: int, n2: int) -> arb:
        if (p, q) not in blocks:
            left = arb_mat([[table[p][i + r] * scales[r] for r in range(length - orders)] for i in range(orders + 1)])
            right = arb_mat([[table[q][j + r] for j in range(orders + 1)] for r in range(length - orders)])
            blocks[p, q] = left * right
        # The omitted terms decay like powers of the correlation: the last two kept, times 1/(1 - c), estimate them.
        kept = (length - orders - 2, length - orders - 1)
        last = sum((abs(table[p][n + r] * scales[r] * table[q][n2 + r]) for r in kept), arb(0))
        return blocks[p, q][n, n2] + plus_minus(last * decay)

    return kernel


def _series(values: list[Any]) -> Vector:
    out = zeros(len(values), dtype=object if isinstance(values[0], arb) else np.float64)
    out[:] = values
    return out


def _centred(cumulants: dict[Index, Vector]) -> dict[Index, Vector]:
    """Subtract the deterministic limit from the means: their constant term becomes exactly zero."""
    for beta, values in cumulants.items():
        if sum(beta) == 1:
            values[0] = values[0] * 0
    return cumulants


def input_cumulants(space: Grading) -> dict[Index, Vector]:
    """Return the cumulants of (u^2, v^2, u v), or of u^2, for independent standard u, v: the input layer, exact constants."""
    degrees = dict.fromkeys(cumulant_degrees(space.weight), 0)
    moments: dict[Index, Any] = {}
    for order in degrees:
        for beta in multi_indices(space.variables, order):
            if space.variables == 1:
                moments[beta] = _series([arb(_gaussian_moment(2 * order))])
            else:
                moments[beta] = _series([arb(_gaussian_moment(2 * beta[0] + beta[2]) * _gaussian_moment(2 * beta[1] + beta[2]))])
    return _centred(cumulants_from_moments(space, moments, degrees))


def _gaussian_moment(power: int) -> int:
    """Return E Z^power = (power - 1)!! for even powers, 0 for odd ones."""
    return 0 if power % 2 else factorial(power) // (2 ** (power // 2) * factorial(power // 2))
