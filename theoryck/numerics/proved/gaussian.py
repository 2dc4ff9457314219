"""Gaussian expectations E f(sqrt(s) Z), Z ~ N(0, 1), of any expression of the activation language.

Routes, tried in this order: closed form (piecewise polynomials), symmetry (odd functions), the trapezoidal rule with a strip
bound, rigorous adaptive integration between kinks, and, where no majorant can be read off the tree, two quadratures that agree
(not rigorous).  Only the last may be wrong by more than its radius.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import flint
import sympy
from flint import arb, fmpq
from sympy import Expr

from theoryck.numerics.balls import BITS_PER_DIGIT, bits_for, check_digits, from_ball, plus_minus, precision, proved_digits, to_ball
from theoryck.numerics.errors import ExactError
from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.functions.calculus import parity
from theoryck.numerics.functions.pieces import Unsplit, pieces, polynomial_pieces
from theoryck.numerics.functions.trees import REAL, tree_of
from theoryck.numerics.proved.agreement import agreed_mean
from theoryck.numerics.proved.integral import integral_mean
from theoryck.numerics.proved.polynomials import polynomial_mean
from theoryck.numerics.proved.strips import NoBound, strip_size
from theoryck.numerics.proved.trapezoid import (
    BOUND_BITS,
    Grid,
    choose_grid,
    grid_error,
    line_majorant,
    mean_bound,
    nodes,
    tail_bound,
)
from theoryck.records import Enclosure

CLOSED, SYMMETRY, TRAPEZOID, INTEGRAL, AGREEMENT = "closed form", "symmetry", "trapezoid", "integral", "agreement"
ATTEMPTS = 6


@dataclass(frozen=True, slots=True)
class Value:
    """A ball and how it was found; only the route "agreement" is not rigorous."""

    ball: arb
    how: str

    @property
    def rigorous(self) -> bool:
        """Whether the ball is proved to contain the value."""
        return self.how != AGREEMENT


def expression_of(activation: Any) -> Expr:
    """Return the sympy expression of an Activation, or the expression itself (numbers become constants)."""
    expression = getattr(activation, "expression", activation)
    if isinstance(expression, str):
        expression = Activation(expression).expression
    expression = sympy.sympify(expression, strict=True)
    if not isinstance(expression, Expr):
        raise ExactError(f"an expression in x is needed, got {activation!r}")
    return expression


def gaussian_expectation(expression: Any, variance: Any = 1, digits: int = 30) -> Enclosure:
    """Return an enclosure of E f(sqrt(variance) Z), Z ~ N(0,1), with ``digits`` significant digits.

    ``expression`` is a sympy expression in ``theoryck.numerics.functions.x``, an Activation or text; ``variance`` a number >= 0 or
    an Enclosure.  Digits are relative to the value; where it cannot be told from zero, the radius is at most 10^-digits
    (absolute).  An inexact variance limits what can be proved, and the radius then says so.  Raises
    :class:`~theoryck.numerics.errors.NotIntegrable` if the expectation is infinite or has no two agreeing values.

    >>> x = sympy.Symbol("x", real=True)
    >>> str(gaussian_expectation(sympy.Abs(x - 1), 1, digits=10).midpoint)
    '1.16663094...'
    """
    digits = check_digits(digits)
    f = expression_of(expression)
    value = sharpened(lambda s, bits: mean(f, s, bits), variance, digits, lambda s: rough_bits((f,), s)[0])
    return from_ball(value.ball, digits, value.rigorous)


def sharpened(evaluate: Callable[[arb, float], Value], variance: Any, digits: int, size: Callable[[arb], float]) -> Value:
    """Raise the working precision until ``digits`` significant digits are proved (10^-digits where the value may be zero).

    ``evaluate`` takes the variance and the absolute error wanted (as bits), ``size`` gives a rough log2 of the value.
    """
    with precision(BOUND_BITS):
        s = variance_ball(variance)
        scale = size(s)
    extra, radius = 8, None
    for _ in range(ATTEMPTS):
        wanted = bits_for(digits, extra)
        with precision(wanted + 24):
            s = variance_ball(variance)
            value = evaluate(s, wanted - scale)
            proved = proved_digits(value.ball)
            if proved >= digits or not value.rigorous:
                return value
            small = bool(abs(value.ball) < arb(10) ** (-2 * digits)) and bool(value.ball.contains(0))
            stuck = radius is not None and bool(value.ball.rad() * 2 > radius) and not s.is_exact()
            if small or stuck:
                return value
            radius = value.ball.rad()
        extra += 16 + math.ceil((digits - proved) * BITS_PER_DIGIT)
    return value


def variance_ball(variance: Any) -> arb:
    """Return the ball of a variance; anything that may be negative is an error."""
    s = to_ball(variance)
    if not s >= 0:
        raise ExactError(f"variance must be >= 0, got {variance}")
    return s


def mean(expression: Expr, s: arb, bits: float) -> Value:
    """Return E e(sqrt(s) Z) as a ball with an absolute error near 2^-bits, at the current precision, and the route."""
    return means((expression,), s, bits)[0]


def means(expressions: tuple[Expr, ...], s: arb, bits: float) -> list[Value]:
    """Return the expectations of several expressions, on shared nodes where the trapezoidal rule applies.

    Raises :class:`~theoryck.numerics.errors.NotIntegrable` (see :func:`gaussian_expectation`).
    """
    if s.is_zero():
        return [Value(tree_of((expression,)).at(REAL, arb(0)), CLOSED) for expression in expressions]
    easy = [_easy(expression, s) for expression in expressions]
    hard = tuple(expression for expression, value in zip(expressions, easy) if value is None)
    found = iter(_hard(hard, s, bits) if hard else [])
    return [value if value is not None else next(found) for value in easy]


def _easy(expression: Expr, s: arb) -> Value | None:
    """Closed form or symmetry, whatever the precision."""
    parts = polynomial_pieces(expression)
    if parts is not None:
        return Value(polynomial_mean(parts, s), CLOSED)
    if parity(expression) == -1:
        try:
            with precision(BOUND_BITS):
                mean_bound(line_majorant(expression), arb(s.upper()))
            return Value(arb(0), SYMMETRY)
        except NoBound:
            return None
    return None


def _hard(expressions: tuple[Expr, ...], s: arb, bits: float) -> list[Value]:
    if all(is_one_piece(expression) for expression in expressions):
        try:
            balls = trapezoid_means(expressions, s, bits)
            if all(ball.is_finite() for ball in balls):  # else a node lies where the balls of the terms are too wide
                return [Value(ball, TRAPEZOID) for ball in balls]
        except NoBound:
            pass
    return [_integrated(expression, s, bits) for expression in expressions]


def is_one_piece(expression: Expr) -> bool:
    """Whether the expression has no kink."""
    try:
        return len(pieces(expression)) == 1
    except Unsplit:
        return False


def _integrated(expression: Expr, s: arb, bits: float) -> Value:
    try:
        return Value(integral_mean(expression, s, bits), INTEGRAL)
    except (NoBound, Unsplit):
        digits = max(10, math.ceil(bits / BITS_PER_DIGIT))
        return Value(agreed_mean(expression, s, min(digits, 60))[0], AGREEMENT)


def trapezoid_means(expressions: tuple[Expr, ...], s: arb, bits: float) -> list[arb]:
    """Return balls around E e(sqrt(s) Z) for several analytic expressions from the same nodes; raises :class:`NoBound`."""
    simple = tuple(pieces(expression)[0].expression for expression in expressions)
    grid = choose_grid(simple[0], s, bits + 2, also=simple[1:])
    with precision(BOUND_BITS):
        errors = [trapezoid_error(expression, s, grid) for expression in simple]
    sums = _sums(simple, s, grid, bits)
    return [total + plus_minus(error) for total, error in zip(sums, errors)]


def _sums(expressions: tuple[Expr, ...], s: arb, grid: Grid, bits: float) -> list[arb]:
    """The trapezoidal sums.  A node of small weight needs few bits: blocks of nodes are evaluated at falling precision."""
    points, weights = nodes(grid)
    marks = [parity(expression) for expression in expressions]
    tree = tree_of(expressions)
    totals = [arb(0)] * len(expressions)
    size = max(16, grid.count // 8 + 1)
    for start in range(0, grid.count + 1, size):
        block = slice(start, start + size)
        with precision(_bits_at(expressions, s, grid, start, bits)):
            root = s.sqrt()
            ahead = [root * z for z in points[block]]
            right = tree.columns(REAL, ahead)
            left = right if all(marks) else tree.columns(REAL, [-u for u in ahead])
            parts = [_block_sum(*sides, weights[block], start) for sides in zip(marks, right, left)]
        totals = [total + part for total, part in zip(totals, parts)]
    return totals


def _block_sum(mark: int, right: list[arb], left: list[arb], weights: list[arb], start: int) -> arb:
    """Sum over k and -k for a block of k >= 0 (0 counts once); an even function is the same on both sides, an odd one cancels."""
    if mark == -1:
        return arb(0)
    total = _dot(weights, right)
    total = 2 * total if mark == 1 else total + _dot(weights, left)
    return total - weights[0] * right[0] if start == 0 else total


def _dot(weights: list[arb], values: list[arb]) -> arb:
    total = weights[0] * values[0]
    for weight, value in zip(weights[1:], values[1:]):
        total += weight * value
    return total


def _bits_at(expressions: tuple[Expr, ...], s: arb, grid: Grid, start: int, bits: float) -> int:
    """Bits for nodes from ``start`` on: relative accuracy 2^-p of a term of at most w_k majorant(sqrt(s) z) below 2^-bits.

    Too few bits can only widen the balls, which the caller notices.
    """
    full = flint.ctx.prec
    z = start * float(grid.step)
    if z < 2:
        return full
    t = z * math.sqrt(float(s.mid()))
    worst = 0.0
    for majorant in map(line_majorant, expressions):
        level = sum(float(a) * t**j for j, a in enumerate(majorant.coefficients))
        log_level = math.log(max(level, 1e-300)) + float(majorant.rate) * t + float(majorant.square) * t * t - z * z / 2
        worst = max(worst, 2.0 ** min(log_level / math.log(2), 900.0))
    return max(24, min(full, math.ceil(bits + math.log2(max(worst, 1e-300))) + 16))


def trapezoid_error(expression: Expr, s: arb, grid: Grid) -> arb:
    """Return the proved error of the cut trapezoidal sum for every variance in the ball ``s``; raises :class:`NoBound`."""
    top = arb(s.upper())
    v = grid.v
    # |Im sqrt(s) z| <= v for every s in the ball as long as |Im z| <= v / sqrt(top).
    discretisation = grid_error(grid, mean_bound(strip_size(expression, v), top), v / top.sqrt())
    return discretisation + 2 * tail_bound(line_majorant(expression), top, grid.step * grid.count)


@lru_cache(maxsize=1)
def _rough_rule() -> tuple[list[arb], list[arb]]:
    points = [arb(fmpq(k, 2)) for k in range(-14, 15)]
    return points, [arb(math.exp(-(float(z) ** 2) / 2) / math.sqrt(8 * math.pi)) for z in points]


def rough_bits(expressions: tuple[Expr, ...], s: arb) -> list[float]:
    """Return a rough log2 |E e(sqrt(s) Z)| for each expression (0 where there is none): it only sets how many bits to ask for."""
    points, weights = _rough_rule()
    with precision(53):
        try:
            root = s.sqrt()
            columns = tree_of(expressions).columns(REAL, [root * z for z in points])
        except ExactError:
            return [0.0] * len(expressions)
        return [_log2(_dot(weights, [arb(value.mid()) if value.is_finite() else arb(0) for value in column])) for column in columns]


def _log2(size: arb) -> float:
    """Through balls, whose exponents do not overflow."""
    middle = abs(arb(size.mid()))
    return float(middle.log().mid()) / math.log(2) if middle > 0 else 0.0
