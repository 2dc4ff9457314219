"""The two-point kernel by a product of two trapezoidal rules, with a proved error: for correlations close to 1.

With u = sqrt(s1) X and v = a X + b Y, a = c/sqrt(s1), b^2 = s2 - c^2/s1, the kernel is E F(X) with F(x) = phi(sqrt(s1) x) G(x) and
G(x) = E phi(a x + b Y).  Both are analytic where phi is, so that the bound of :mod:`theoryck.numerics.proved.trapezoid` serves
twice.
"""

from __future__ import annotations

import math

from flint import arb
from sympy import Expr

from theoryck.numerics.balls import plus_minus, precision
from theoryck.numerics.functions.calculus import parity
from theoryck.numerics.functions.trees import REAL, tree_of
from theoryck.numerics.proved.majorants import Growth
from theoryck.numerics.proved.strips import NoBound, strip_size
from theoryck.numerics.proved.trapezoid import (
    BOUND_BITS,
    Grid,
    absolute_moments,
    choose_grid,
    grid_error,
    line_growth,
    mean_of_growth,
    nodes,
    tail_of_growth,
)


def plane_mean(phi: Expr, s1: arb, s2: arb, c: arb, bits: float) -> arb:
    """Return a ball around E phi(u) phi(v) with an error near 2^-bits at the current precision.

    ``phi`` must have no kink and a majorant that is a polynomial; otherwise, and where no strip is known, raises
    :class:`~theoryck.numerics.proved.strips.NoBound`.
    """
    a, b = c / s1.sqrt(), (s2 - c * c / s1).sqrt()
    if not b > 0:
        raise NoBound("u and v are proportional, or nearly so")
    outer = choose_grid(phi, s1 if float(s1.mid()) > float(s2.mid()) else s2, bits + 4, power=2)
    inner = choose_grid(phi, b * b, bits + 4)
    with precision(BOUND_BITS):
        error = _outer_error(phi, s1, s2, outer) + _tails_and_inner_errors(phi, s1.sqrt(), a, b, outer, inner)
    return _double_sum(phi, s1.sqrt(), a, b, outer, inner) + plus_minus(error)


def _double_sum(phi: Expr, root: arb, a: arb, b: arb, outer: Grid, inner: Grid) -> arb:
    points, weights = nodes(outer)
    steps, shares = nodes(inner)
    tree = tree_of((phi,))
    both = [*(-b * y for y in reversed(steps[1:])), *(b * y for y in steps)]
    measure = [*reversed(shares[1:]), *shares]
    # For even and odd phi, F is even: both change sign together.
    signs = (1,) if parity(phi) else (1, -1)
    total = arb(0)
    for sign in signs:
        heights = tree.columns(REAL, [sign * root * z for z in points])[0]
        for k, (z, weight, height) in enumerate(zip(points, weights, heights)):
            if k == 0 and sign == -1:
                continue
            centre = sign * a * z
            column = tree.columns(REAL, [centre + y for y in both])[0]
            part = arb(0)
            for share, value in zip(measure, column):
                part += share * value
            total += (2 if len(signs) == 1 and k else 1) * weight * height * part
    return total


def _outer_error(phi: Expr, s1: arb, s2: arb, grid: Grid) -> arb:
    """On |Im x| <= y: |F| <= A(u) E A(v) with strips sqrt(s1) y and |a| y <= sqrt(s2) y; then Cauchy-Schwarz."""
    tops = [arb(s.upper()) for s in (s1, s2)]
    y = grid.v / max(tops, key=float).sqrt()
    means = [mean_of_growth(strip_size(phi, top.sqrt() * y).power(2), top).sqrt() for top in tops]
    return grid_error(grid, means[0] * means[1], y)


def _tails_and_inner_errors(phi: Expr, root: arb, a: arb, b: arb, outer: Grid, inner: Grid) -> arb:
    """Errors of the inner rule summed over the outer nodes, and what both cuts leave out."""
    line = line_growth(phi)
    y = inner.v / b
    strip = strip_size(phi, arb((b * y).upper()))
    for growth in (line, strip):
        if growth.rate != 0 or growth.square != 0:
            raise NoBound("the majorant is not a polynomial")
    one = arb(1)
    slope = abs(a)
    total = arb(0)
    for k, (z, weight) in enumerate(zip(*nodes(outer))):
        height = sum((coefficient * (root * z) ** j for j, coefficient in enumerate(line.coefficients)), arb(0))
        discretised = grid_error(inner, _mean(_shifted(strip, slope * z, b)), y)
        cut = 2 * tail_of_growth(_shifted(line, slope * z, b), one, inner.step * inner.count)
        total += (2 if k else 1) * weight * height * (discretised + cut)
    # Beyond the outer cut: |F(x)| <= A(sqrt(s1) x) E A(|a| x + b |Y|), a polynomial in x.
    moments = absolute_moments(len(line.coefficients))
    around = [arb(0)] * len(line.coefficients)
    for j, coefficient in enumerate(line.coefficients):
        for i in range(j + 1):
            around[i] += coefficient * math.comb(j, i) * slope**i * b ** (j - i) * moments[j - i]
    near = Growth(tuple(coefficient * root**j for j, coefficient in enumerate(line.coefficients)))
    return total + 2 * tail_of_growth(near * Growth(tuple(around)), one, outer.step * outer.count)


def _shifted(growth: Growth, shift: arb, scale: arb) -> Growth:
    """Return growth(shift + scale t) as a polynomial in t."""
    out = [arb(0)] * len(growth.coefficients)
    for j, coefficient in enumerate(growth.coefficients):
        for i in range(j + 1):
            out[i] += coefficient * math.comb(j, i) * shift ** (j - i) * scale**i
    return Growth(tuple(out))


def _mean(growth: Growth) -> arb:
    return mean_of_growth(growth, arb(1))
