"""Kinks: an expression with Abs, Max, Heaviside, sign or Piecewise as analytic expressions on intervals.

On an interval between two kinks every switch has one position, so that the expression equals one without switches; that one is
analytic near the interval's interior and is what gets integrated.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, pairwise
from typing import Any

import sympy
from flint import arb, fmpq
from sympy import Expr

from theoryck.numerics.balls import precision
from theoryck.numerics.errors import ExactError
from theoryck.numerics.functions.trees import REAL, constant_ball, holds, tree_of, x

SWITCHES = (sympy.Abs, sympy.sign, sympy.Heaviside, sympy.Max, sympy.Min, sympy.Piecewise)
_MONOTONE_THROUGH_ZERO = (sympy.tanh, sympy.sinh, sympy.atan, sympy.asinh, sympy.erf)
_POSITIVE = (sympy.exp, sympy.cosh, sympy.sech, sympy.erfc)
_SORTING_BITS = 400


@dataclass(frozen=True, slots=True)
class Piece:
    """``expression`` on (left, right); None means no end on that side."""

    left: Expr | None
    right: Expr | None
    expression: Expr


class Unsplit(ExactError):
    """The kinks cannot be found exactly."""


@lru_cache(maxsize=512)
def pieces(expression: Expr) -> tuple[Piece, ...]:
    """Return the analytic pieces of ``expression`` from left to right; raises :class:`Unsplit` if a kink cannot be located.

    >>> [piece.expression for piece in pieces(sympy.Max(x, 0))]
    [0, x]
    """
    return tuple(_merged(list(_split(expression, None, None))))


def _split(expression: Expr, left: Expr | None, right: Expr | None) -> Iterator[Piece]:
    switch = _innermost(expression)
    if switch is None:
        yield Piece(left, right, expression)
        return
    inner = [zero for gate in _gates(switch) for zero in zeros(gate) if _between(left, zero, right)]
    edges = [left, *_sorted_distinct(inner), right]
    for low, high in pairwise(edges):
        branch = _branch(switch, _inside(low, high))
        yield from _split(expression.xreplace({switch: branch}), low, high)


def _innermost(expression: Expr) -> Expr | None:
    for node in sympy.postorder_traversal(expression):
        if isinstance(node, SWITCHES) and node.has(x):
            return node
    return None


def _gates(switch: Expr) -> list[Expr]:
    """The expressions whose zeros are where ``switch`` turns."""
    if isinstance(switch, sympy.Max | sympy.Min):
        return [a - b for a, b in combinations(switch.args, 2)]
    if isinstance(switch, sympy.Piecewise):
        return [part.lhs - part.rhs for branch in switch.args for part in branch.cond.atoms(sympy.core.relational.Relational)]
    return [switch.args[0]]


def _branch(switch: Expr, point: sympy.Rational) -> Expr:
    """What ``switch`` equals near ``point``."""
    if isinstance(switch, sympy.Abs):
        return switch.args[0] * _sign_at(switch.args[0], point)
    if isinstance(switch, sympy.sign):
        return sympy.Integer(_sign_at(switch.args[0], point))
    if isinstance(switch, sympy.Heaviside):
        return sympy.Integer(max(_sign_at(switch.args[0], point), 0))
    if isinstance(switch, sympy.Piecewise):
        for branch in switch.args:
            if holds(branch.cond, lambda difference: _sign_at(difference, point)):
                return branch.expr
        raise ExactError(f"{switch} has no value at x = {point}")
    best = switch.args[0]
    for other in switch.args[1:]:
        larger = _sign_at(other - best, point) > 0
        if larger == isinstance(switch, sympy.Max):
            best = other
    return best


def _sign_at(gate: Expr, point: sympy.Rational) -> int:
    with precision(_SORTING_BITS):
        value = tree_of((gate,)).at(REAL, arb(fmpq(int(point.p), int(point.q))))
        if value > 0:
            return 1
        if value < 0:
            return -1
        if value.is_zero():
            return 0
    raise Unsplit(f"the sign of {gate} at x = {point} cannot be decided")


def number_ball(number: Expr) -> arb:
    """Return the ball of a kink (roots of polynomials included) at the current precision."""
    if isinstance(number, sympy.CRootOf):
        reach = sympy.Rational(1, 2) ** (_SORTING_BITS + 200)
        middle = number.eval_rational(reach)
        return constant_ball(sympy.Rational(middle)) + arb(0, 1) * constant_ball(reach)
    return constant_ball(number)


def _between(left: Expr | None, zero: Expr, right: Expr | None) -> bool:
    with precision(_SORTING_BITS):
        ball = number_ball(zero)
        above = left is None or bool(number_ball(left) < ball)
        return above and (right is None or bool(ball < number_ball(right)))


def _sorted_distinct(numbers: list[Expr]) -> list[Expr]:
    with precision(_SORTING_BITS):
        balls = sorted({number: number_ball(number) for number in numbers}.items(), key=lambda item: float(item[1].mid()))
        for (first, low), (second, high) in pairwise(balls):
            if not low < high:
                raise Unsplit(f"the kinks {first} and {second} cannot be told apart")
    return [number for number, _ in balls]


def _inside(low: Expr | None, high: Expr | None) -> sympy.Rational:
    """A rational number between two kinks."""
    with precision(_SORTING_BITS):
        a = None if low is None else number_ball(low).mid()
        b = None if high is None else number_ball(high).mid()
        near = a if a is not None else b if b is not None else arb(0)
        middle = near + (b is None) - (a is None) if a is None or b is None else (a + b) / 2
        mantissa, exponent = middle.mid().man_exp()
    return sympy.Integer(int(mantissa)) * sympy.Integer(2) ** int(exponent)


def _merged(parts: list[Piece]) -> list[Piece]:
    """Join neighbours with the same expression (a switch that does not matter)."""
    joined = parts[:1]
    for part in parts[1:]:
        if part.expression == joined[-1].expression:
            joined[-1] = Piece(joined[-1].left, part.right, part.expression)
        else:
            joined.append(part)
    return joined


def zeros(gate: Expr) -> list[Expr]:
    """Return every real zero of ``gate`` as an exact number (more may be listed); raises :class:`Unsplit` if that cannot be done.

    >>> zeros(x**2 - 2), zeros(sympy.tanh(2 * x - 1) * sympy.exp(x))
    ([-sqrt(2), sqrt(2)], [1/2])
    """
    if not gate.has(x):
        return []
    if gate.is_polynomial(x):
        return _polynomial_zeros(sympy.Poly(gate, x))
    if gate.is_Mul:
        return [zero for part in gate.args for zero in zeros(part)]
    if isinstance(gate, _POSITIVE):
        return []
    if isinstance(gate, sympy.Pow) and gate.exp.is_number and gate.base != sympy.E:
        return zeros(gate.base)
    if isinstance(gate, _MONOTONE_THROUGH_ZERO):
        return zeros(gate.args[0])
    if isinstance(gate, sympy.log):
        return zeros(gate.args[0] - 1)
    if gate.is_Add:
        return _shifted_zeros(gate)
    raise Unsplit(f"the zeros of {gate} cannot be found")


def _shifted_zeros(gate: Expr) -> list[Expr]:
    """Zeros of c + a f(u) with f increasing: u = f^-1(-c/a)."""
    constant, rest = gate.as_independent(x, as_Add=True)
    factor, function = rest.as_independent(x, as_Add=False)
    if not isinstance(function, (*_MONOTONE_THROUGH_ZERO, sympy.exp, sympy.log)):
        raise Unsplit(f"the zeros of {gate} cannot be found")
    level = -constant / factor
    inverses: dict[Any, Any] = {sympy.exp: sympy.log, sympy.log: sympy.exp, sympy.asinh: sympy.sinh, sympy.sinh: sympy.asinh}
    if isinstance(function, sympy.exp) and level.is_positive is False:
        return []
    if function.func not in inverses:
        raise Unsplit(f"the zeros of {gate} cannot be found")
    return zeros(function.args[0] - inverses[function.func](level))


def _polynomial_zeros(polynomial: sympy.Poly) -> list[Expr]:
    if polynomial.domain.is_QQ or polynomial.domain.is_ZZ:
        return list(dict.fromkeys(polynomial.real_roots()))
    coefficients = polynomial.all_coeffs()
    if len(coefficients) == 2:
        return [-coefficients[1] / coefficients[0]]
    if len(coefficients) == 3:
        a, b, c = coefficients
        discriminant = b * b - 4 * a * c
        with precision(_SORTING_BITS):
            ball = constant_ball(discriminant)
        if ball < 0:
            return []
        if ball > 0:
            return [(-b - sympy.sqrt(discriminant)) / (2 * a), (-b + sympy.sqrt(discriminant)) / (2 * a)]
    raise Unsplit(f"the zeros of {polynomial.as_expr()} cannot be found")


def as_polynomial(expression: Expr) -> tuple[Expr, ...] | None:
    """Return the coefficients (constant first) of a polynomial in x, else None.

    >>> as_polynomial(2 * x + 1)
    (1, 2)
    """
    if not expression.is_polynomial(x):
        return None
    coefficients = sympy.Poly(expression, x).all_coeffs()
    if any(coefficient.free_symbols for coefficient in coefficients):
        return None
    return tuple(reversed(coefficients))


@lru_cache(maxsize=512)
def polynomial_pieces(expression: Expr) -> tuple[tuple[Expr | None, Expr | None, tuple[Expr, ...]], ...] | None:
    """Return (left, right, coefficients) for a piecewise polynomial, else None."""
    try:
        parts = pieces(expression)
    except ExactError:
        return None
    found = []
    for part in parts:
        coefficients = as_polynomial(part.expression)
        if coefficients is None:
            return None
        found.append((part.left, part.right, coefficients))
    return tuple(found)
