"""Norm deviations of activations with two slopes: phi(x) = a x for x >= 0, b x for x <= 0, for which |x_l|^2 is a product.

The lemmas are those of :mod:`theoryck.records.certificates`, section 6.  The bound is the exact value at d = N wherever all
cumulants are non-negative, and the bound from below the limit: the moments are polynomials in 1/sqrt(d) without negative
coefficients.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import comb, prod

import sympy
from flint import arb
from sympy import Expr

from theoryck.numerics.balls import precision
from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.functions.pieces import polynomial_pieces
from theoryck.numerics.functions.trees import constant_ball
from theoryck.quantities.base import NoCertificate
from theoryck.records import Certificate
from theoryck.theory.networks.certificates.cells import BITS
from theoryck.theory.networks.certificates.decimals import ball, certificate, rounded_down, rounded_up, rows
from theoryck.theory.networks.certificates.moments import Moments, central, input_cumulants, written


@lru_cache(maxsize=256)
def slopes(expression: Expr) -> tuple[Expr, Expr] | None:
    """Return (a, b) for a phi with two slopes, not both 0, None for another.

    >>> slopes(Activation("relu").expression), slopes(Activation("tanh").expression)
    ((1, 0), None)
    """
    parts = polynomial_pieces(expression)
    if parts is None or len(parts) > 2 or (len(parts) == 2 and parts[0][1] != 0):
        return None
    found = []
    for _, _, coefficients in parts:
        padded = (*coefficients, sympy.S.Zero, sympy.S.Zero)
        if padded[0] != 0 or any(value != 0 for value in padded[2:]):
            return None
        found.append(padded[1])
    left, right = found[0], found[-1]
    return None if left == right == 0 else (right, left)


def layer_cumulants(a: arb, b: arb, top: int) -> list[arb]:
    """Return 0, 0, kappa_2, ..., kappa_top of W = phi(Z)^2/E phi(Z)^2, from its moments."""
    mean = (a**2 + b**2) / 2
    moments = [arb(1), *(prod(range(1, 2 * i, 2)) * (a ** (2 * i) + b ** (2 * i)) / (2 * mean**i) for i in range(1, top + 1))]
    cumulants = [arb(0), arb(1)]
    for n in range(2, top + 1):
        lower = sum((comb(n - 1, i - 1) * cumulants[i] * moments[n - i] for i in range(1, n)), arb(0))
        cumulants.append(moments[n] - lower)
    return [arb(0), arb(0), *cumulants[2:]]


def next_products(before: Sequence[arb], y: Sequence[arb], small: arb) -> list[arb]:
    """Return p_(l+1,2), ..., p_(l+1,K) from p_(l,0), ..., p_(l,K)."""

    def moment(j: int) -> arb:
        total = arb(0)
        for i in range(j + 1):
            total += comb(j, i) * before[i] * sum((comb(i, u) * small**u * y[j - i + u] for u in range(i + 1)), arb(0))
        return total

    return [moment(j) for j in range(2, len(before))]


def _levels(a: arb, b: arb, depth: int, top: int, start: int) -> list[Moments]:
    small = 1 / arb(start).sqrt()
    found = [[written(value) for value in central(input_cumulants(top), small)[2:]]]
    y = central(layer_cumulants(a, b, top), small)
    for _ in range(depth):
        found.append([written(value) for value in next_products([arb(1), arb(0), *map(ball, found[-1])], y, small)])
    return found


def _limits(a: arb, b: arb, depth: int, top: int) -> list[arb] | None:
    """p' of the last layer from order 0 on, or None where a cumulant may be negative."""
    kinds = input_cumulants(top), layer_cumulants(a, b, top)
    if not all(kappa >= 0 for kind in kinds for kappa in kind):
        return None
    first, y = (central(kind, arb(0)) for kind in kinds)
    found = first
    for _ in range(depth):
        found = [arb(1), arb(0), *next_products(found, y, arb(0))]
    return found


def product_certificate(activation: Activation, depth: int, power: int, start: int = 1) -> Certificate:
    """Return the certificate of method "product"; NoCertificate for a phi that has not two slopes.

    >>> found = product_certificate(Activation("relu"), depth=1, power=2, start=1)  # E (S_1 - 1/2)^2 = (7/d + 10/d^2)/4
    >>> found.constant, found.least
    ('4.25', '1.75')
    """
    ends = slopes(activation.expression)
    if ends is None:
        raise NoCertificate(f"phi(x) = {activation.text} is not a x for x >= 0 and b x for x <= 0")
    top = power + power % 2
    with precision(BITS):
        a, b = (constant_ball(end) for end in ends)
        scale = ((a**2 + b**2) / 2) ** (depth * power)
        levels = _levels(a, b, depth, top, start)
        last = [arb(1), arb(0), *map(ball, levels[-1])]
        bound = last[power] if power % 2 == 0 else (last[power - 1] * last[power + 1]).sqrt()
        limits = _limits(a, b, depth, top) if power > 1 else None
        least = None
        if limits is not None:
            least = rounded_down(scale * (limits[power] if power % 2 == 0 else limits[2].sqrt() ** power), 7)
        constant = rounded_up(scale * bound, 7)
    found = {"moments": rows(levels)}
    return certificate("norm-deviation", "product", activation, (depth, power, start), constant, found, least)
