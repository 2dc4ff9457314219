"""Hermite coefficients of the powers of an activation: E[phi(sqrt(s) Z)^j He_m(Z)] for all j and m from shared nodes.

He_m are the probabilists' Hermite polynomials, not normalised: E He_m(Z)^2 = m!.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from flint import arb, arb_mat
from sympy import Expr

from theoryck.numerics.balls import plus_minus, precision
from theoryck.numerics.errors import ExactError, NotConverged
from theoryck.numerics.functions.calculus import parity
from theoryck.numerics.functions.pieces import pieces, polynomial_pieces
from theoryck.numerics.functions.trees import REAL, tree_of
from theoryck.numerics.proved.gaussian import expression_of, is_one_piece, variance_ball
from theoryck.numerics.proved.integral import hermite_factor, integral_mean, value_at_zero
from theoryck.numerics.proved.polynomials import Parts, polynomial_table
from theoryck.numerics.proved.strips import Majorant, NoBound, strip_size
from theoryck.numerics.proved.trapezoid import (
    BOUND_BITS,
    Grid,
    choose_grid,
    cut_for,
    grid_error,
    line_majorant,
    mean_bound,
    nodes,
    tail_bound,
)


def hermite_table(activation: Any, variance: Any, powers: int, orders: int, prec: int, *, proved: bool = True) -> list[list[arb]]:
    """Return ``table[j][m]`` = E[phi(sqrt(variance) Z)^j He_m(Z)] for 0 <= j <= powers and 0 <= m <= orders.

    ``activation`` is an Activation or an expression in x, ``variance`` a ball (or number) >= 0, ``prec`` the bits wanted: the
    radius of entry (j, m) is about 2^-prec sqrt(m!) times the size of phi^j (or what an inexact variance allows).  Every entry is
    proved: by closed form for piecewise polynomials, by shared trapezoidal nodes where phi has a strip bound, else by rigorous
    integration entry by entry.  With ``proved=False`` that last, slow route is replaced, where phi has no kink, by shared nodes at
    two steps and a radius of ten times their disagreement.  Raises :class:`~theoryck.numerics.errors.ExactError` where
    nothing can be proved.

    >>> import sympy
    >>> table = hermite_table(sympy.tanh(sympy.Symbol("x", real=True)), 1, 2, 3, 100)
    >>> table[0][0] == 1, bool(table[1][0].contains(0)), bool(table[1][1] > table[2][2] / 2)
    (True, True, True)
    """
    if powers < 0 or orders < 0 or prec < 1:
        raise ExactError(f"powers and orders must be >= 0 and prec >= 1, got {powers}, {orders} and {prec}")
    expression = expression_of(activation)
    with precision(prec + 64):
        s = variance_ball(variance)
        if s.is_zero():
            value = value_at_zero(expression)
            return [[value**j * int(m == 0) for m in range(orders + 1)] for j in range(powers + 1)]
    if not s > 0:
        raise ExactError(f"variance must be 0 or certainly positive, got {variance}")
    parts = polynomial_pieces(expression)
    if parts is not None:
        return _polynomial(parts, variance, powers, orders, prec)
    if is_one_piece(expression):
        try:
            return _smooth_table(pieces(expression)[0].expression, s, powers, orders, prec)
        except NoBound:
            table = None if proved else _agreed_table(pieces(expression)[0].expression, s, powers, orders, prec)
            if table is not None:
                return table
    if not proved and (powers + 1) * (orders + 1) > MOST_INTEGRALS:
        raise NotConverged(
            f"the moments of phi(x) = {expression}, which has kinks or no bound and is no piecewise polynomial, need "
            f"{powers * (orders + 1)} integrals: no exact value in reasonable time, draw instead"
        )
    return _integrated_table(expression, variance, powers, orders, prec)


MOST_INTEGRALS = 64  # of about a tenth of a second each


def _polynomial(parts: Parts, variance: Any, powers: int, orders: int, prec: int) -> list[list[arb]]:
    """Closed form, at a precision raised until the recurrences have lost nothing that was asked for (an inexact variance may)."""
    guard, last = 32 + orders, None
    while True:
        with precision(prec + guard):
            table = polynomial_table(parts, variance_ball(variance), powers, orders)
            worst = max(
                float(entry.rad() / (max(1, abs(float(row[0].mid()))) * arb(math.factorial(m)).sqrt()))
                for row in table
                for m, entry in enumerate(row)
            )
        if worst <= 2.0**-prec or (last is not None and worst > last / 2):
            return table
        guard, last = 2 * guard + 32, worst


def _table(mark: int, powers: int, orders: int, entry: Callable[[int, int], arb]) -> list[list[arb]]:
    """Return the table of ``entry(j, m)``: row 0 is E He_m, and what is the mean of an odd function is 0."""

    def at(j: int, m: int) -> arb:
        if j == 0:
            return arb(int(m == 0))
        return arb(0) if _vanishes(mark, j, m) else entry(j, m)

    return [[at(j, m) for m in range(orders + 1)] for j in range(powers + 1)]


def _integrated_table(expression: Expr, variance: Any, powers: int, orders: int, prec: int) -> list[list[arb]]:
    with precision(prec + 48):
        s = variance_ball(variance)

        def entry(j: int, m: int) -> arb:
            try:
                return integral_mean(expression**j, s, prec, hermite_factor(m), m)
            except NoBound as error:
                raise ExactError(f"E[phi^{j} He_{m}] cannot be proved for {expression}: {error}") from error

        return _table(parity(expression), powers, orders, entry)


def _agreed_table(expression: Expr, s: arb, powers: int, orders: int, prec: int) -> list[list[arb]] | None:
    """Return the table from trapezoidal sums at steps h and 3h/4 that agree to ``prec`` bits, or None if none do.

    The trapezoidal rule converges geometrically for an analytic integrand, whether or not its strip has a known bound: once two
    steps agree, the finer one is far better than their difference, so that ten times the difference is generous.
    """
    with precision(prec + 64 + orders):
        try:
            cut = cut_for(line_majorant(expression, max(powers, 1)), float(s.mid()), (prec + 8) * math.log(2), orders)
        except NoBound:
            return None
        mark = parity(expression)
        wanted = [(j, m) for j in range(1, powers + 1) for m in range(orders + 1) if not _vanishes(mark, j, m)]
        for halvings in range(5, 5 + AGREEMENT_HALVINGS):
            steps = [arb(share) * arb(2) ** -halvings for share in (4, 3)]
            grids = [Grid(arb(0), step, math.ceil(cut / float(step)) + 1) for step in steps]
            coarse, fine = (_sums(expression, s, grid, powers, orders) for grid in grids)
            gaps = {(j, m): abs(arb(fine[j, m].mid()) - arb(coarse[j, m].mid())) for j, m in wanted}
            sizes = {(j, m): (1 + abs(arb(fine[j, 0].mid()))) * arb(math.factorial(m)).sqrt() for j, m in wanted}
            if all(gaps[entry] <= sizes[entry] * arb(2) ** -prec for entry in wanted):
                break
        else:
            return None
        return _table(mark, powers, orders, lambda j, m: fine[j, m] + plus_minus(10 * gaps[j, m]))


AGREEMENT_HALVINGS = 5


def _vanishes(mark: int, j: int, m: int) -> bool:
    """Whether phi^j He_m is odd."""
    return (mark == -1 and (j + m) % 2 == 1) or (mark == 1 and m % 2 == 1)


def _smooth_table(expression: Expr, s: arb, powers: int, orders: int, prec: int) -> list[list[arb]]:
    grid = choose_grid(expression, s, prec + 4, degree=max(orders, 1), power=max(powers, 1))
    with precision(prec + 24 + guard_bits(grid, orders)):
        sums = _sums(expression, s, grid, powers, orders)
    with precision(BOUND_BITS):
        errors = _errors(expression, s, grid, powers, orders)
    with precision(prec + 24):
        return _table(parity(expression), powers, orders, lambda j, m: sums[j, m] + plus_minus(errors[j][m]))


def guard_bits(grid: Grid, orders: int) -> int:
    """Bits lost to the recurrence: radii grow like E(x + Z)^m <~ sqrt(m!) exp(x sqrt m), and the weight gives back x^2/2."""
    root = math.sqrt(orders)
    far = min(root, grid.count * float(grid.step))
    return 16 + math.ceil((far * root - far * far / 2) / math.log(2)) + 2 * grid.count.bit_length()


def _sums(expression: Expr, s: arb, grid: Grid, powers: int, orders: int) -> arb_mat:
    """The trapezoidal sums as one matrix product (powers+1, nodes) x (nodes, orders+1)."""
    points, weights = nodes(grid)
    root = s.sqrt()
    mark = parity(expression)
    ahead = [root * z for z in points]
    values = tree_of((expression,)).columns(REAL, ahead)[0]
    mirrored = None if mark else tree_of((expression,)).columns(REAL, [-u for u in ahead])[0]
    if mark:
        # phi^j He_m is even wherever it is needed, so that both halves are equal and 0 counts once.
        doubled = [weights[0], *(2 * w for w in weights[1:])]
        return _rows(doubled, values, powers) * _hermite_columns(points, orders)
    right = _rows(weights, values, powers) * _hermite_columns(points, orders)
    left = _rows(weights[1:], mirrored[1:] if mirrored else [], powers) * _hermite_columns([-z for z in points[1:]], orders)
    return right + left


def _rows(weights: list[arb], values: list[arb], powers: int) -> arb_mat:
    rows = [weights]
    for _ in range(powers):
        rows.append([a * b for a, b in zip(rows[-1], values)])
    return arb_mat(rows)


def _hermite_columns(points: list[arb], orders: int) -> arb_mat:
    """He_m at the nodes: He_{m+1} = x He_m - m He_{m-1}."""
    columns = [[arb(1)] * len(points), list(points)]
    for m in range(1, orders):
        columns.append([z * a - m * b for z, a, b in zip(points, columns[m], columns[m - 1])])
    return arb_mat(columns[: orders + 1]).transpose()


def _errors(expression: Expr, s: arb, grid: Grid, powers: int, orders: int) -> list[list[arb]]:
    """Proved errors of every entry: discretisation by Cauchy-Schwarz, and the two tails."""
    top = arb(s.upper())
    y = grid.v / top.sqrt()
    strip = strip_size(expression, grid.v)
    means = [mean_bound(strip.power(2 * j), top).sqrt() for j in range(powers + 1)]
    norms = shifted_norms(y, orders)
    cut = grid.step * grid.count
    line = line_majorant(expression)
    table = []
    for j in range(powers + 1):
        majorant = line.power(j)
        tails = [_tail(majorant, top, cut, m) for m in range(orders + 1)]
        table.append([grid_error(grid, means[j] * norms[m], y) + tails[m] for m in range(orders + 1)])
    return table


def shifted_norms(y: arb, orders: int) -> list[arb]:
    """Return sqrt(E |He_m(Z + iy)|^2) for m <= orders, which is sqrt(m! L_m(-y^2)) with the Laguerre polynomial L_m.

    He_m(Z + iy) = sum_i C(m, i) He_i(Z) (iy)^(m-i) has orthogonal terms, and C(m, i)^2 i! = m! C(m, i)/(m-i)!.  Increasing in
    y, hence a bound on every line of the strip |Im z| <= y.
    """
    square = y * y
    laguerre, partial, norms = arb(1), arb(1), [arb(1)]
    for m in range(1, orders + 1):
        # L_m(-t) = L_{m-1}(-t) + (t/m) sum_{i<m} L_i(-t): only positive terms, so that nothing is lost.
        laguerre = laguerre + square / m * partial
        partial = partial + laguerre
        norms.append((arb(math.factorial(m)) * laguerre).sqrt())
    return norms


def _tail(majorant: Majorant, s: arb, cut: arb, m: int) -> arb:
    """Both tails of majorant(sqrt(s)|z|) |He_m(z)|, where |He_m(z)| <= z^m exp(m^2/(2 cut^2)) for z >= cut.

    Indeed sum_k m!/(k! (m-2k)! 2^k) z^(m-2k) <= z^m sum_k (m^2/2z^2)^k/k!.
    """
    return 2 * (m * m / (2 * cut * cut)).exp() * tail_bound(majorant, s, cut, m)
