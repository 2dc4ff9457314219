"""Where a function may fail to be analytic, and how smooth it is there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from theoryck.numerics.functions.calculus import KINKED, derivative
from theoryck.numerics.functions.compiled import Program, high_precision
from theoryck.numerics.functions.domain import conditions, grid
from theoryck.numerics.functions.expression import x
from theoryck.numerics.functions.ranges import enclose, never_zero

_ZERO_AT_ZERO = (sympy.tanh, sympy.sinh, sympy.atan, sympy.asinh, sympy.erf)


@dataclass(frozen=True, slots=True)
class Kinks:
    """Candidate points in increasing order; ``exact`` when these are proved to be all of them."""

    points: tuple[Any, ...]
    exact: bool


def find_kinks(expression: Any) -> Kinks:
    """Return where arguments of abs, max, min, heaviside, sign, or bases of fractional powers, vanish.

    >>> find_kinks(sympy.Max(-1, sympy.Min(1, x))).points, find_kinks(sympy.tanh(x)).points
    ((-1, 1), ())
    """
    points: set[Any] = set()
    exact = True
    for gap in _gaps(expression):
        zeros = _zeros(gap)
        if zeros is None:
            exact, zeros = False, _numerical_zeros(gap)
        points |= zeros
    return Kinks(tuple(sorted(points, key=lambda point: float(point))), exact)


def _gaps(expression: Any) -> Iterator[Any]:
    for node in sympy.preorder_traversal(expression):
        if isinstance(node, sympy.Max | sympy.Min):
            arguments = node.args
            yield from (a - b for i, a in enumerate(arguments) for b in arguments[:i])
        elif isinstance(node, KINKED) and node.has(x):
            yield node.args[0]
    for condition in conditions(expression):
        if condition.kind == "nonnegative":
            yield condition.subject


def _zeros(e: Any, depth: int = 0) -> set[Any] | None:
    """Return a finite set with all real zeros of ``e``, exactly, or None where the rules do not reach."""
    if not e.has(x):
        return None if e == 0 else set()
    kinked = next((node for node in sympy.preorder_traversal(e) if isinstance(node, KINKED)), None)
    if kinked is not None and depth < 6:
        # Near any point e is one of its branches, so its zeros are among those of the branches.
        return _union([_zeros(e.xreplace({kinked: value}), depth + 1) for value in _values(kinked)])
    if e.is_polynomial(x):
        polynomial = sympy.Poly(e, x)
        if polynomial.degree() == 1:
            return {-polynomial.coeff_monomial(1) / polynomial.coeff_monomial(x)}
        if polynomial.degree() <= 8 and all(c.is_Rational for c in polynomial.coeffs()):
            return set(polynomial.real_roots(multiple=True, radicals=polynomial.degree() <= 2))
    if never_zero(e):
        return set()
    if isinstance(e, _ZERO_AT_ZERO):
        return _zeros(e.args[0])
    if isinstance(e, sympy.Pow):
        return _zeros(e.base)
    if isinstance(e, sympy.Mul):
        return _union([_zeros(factor) for factor in e.args])
    return None


def _values(kinked: Any) -> tuple[Any, ...]:
    if isinstance(kinked, sympy.Max | sympy.Min):
        return tuple(kinked.args)
    if isinstance(kinked, sympy.Abs):
        return kinked.args[0], -kinked.args[0]
    if isinstance(kinked, sympy.sign):
        return sympy.Integer(-1), sympy.S.Zero, sympy.S.One
    return sympy.S.Zero, sympy.S.Half, sympy.S.One


def _union(found: list[set[Any] | None]) -> set[Any] | None:
    points: set[Any] = set()
    for zeros in found:
        if zeros is None:
            return None
        points |= zeros
    return points


def _numerical_zeros(e: Any) -> set[Any]:
    points = grid()[np.abs(grid()) <= 60]
    values = points.copy()
    Program(e).run(values)
    zeros = {sympy.Float(point, 15) for point in points[values == 0]}
    for i in np.flatnonzero(values[1:] * values[:-1] < 0):
        low, high = float(points[i]), float(points[i + 1])
        rising = values[i] < 0
        for _ in range(60):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if (high_precision(e, middle) < 0) == rising else (low, middle)
        zeros.add(sympy.Float(0.5 * (low + high), 15))
    return zeros


def branch(e: Any, point: Any) -> Any:
    """Return the smooth expression that equals ``e`` near ``point`` (not a kink): each kinked node is replaced by its branch."""
    if not e.args or not e.has(x):
        return e
    if isinstance(e, KINKED):
        values = [high_precision(argument, point) for argument in e.args]
        if isinstance(e, sympy.Max | sympy.Min):
            best = (max if isinstance(e, sympy.Max) else min)(values)
            return branch(e.args[values.index(best)], point)
        positive = values[0] > 0
        if isinstance(e, sympy.Abs):
            return branch(e.args[0], point) * (1 if positive else -1)
        return sympy.Integer(1 if positive else 0 if isinstance(e, sympy.Heaviside) else -1)
    return e.func(*(branch(argument, point) for argument in e.args))


def jump_order(expression: Any, kinks: Kinks, highest: int = 2) -> tuple[int, Any] | None:
    """Return (order, point) of the lowest derivative, up to ``highest``, that jumps at a kink, or None when none does.

    Both sides are smooth expressions (see ``branch``); a jump is declared when an enclosure of the difference excludes 0 and
    absence of a jump when the difference simplifies to 0.  Raises ArithmeticError where neither can be shown.
    """
    orders = []
    for index, point in enumerate(kinks.points):
        left_end = kinks.points[index - 1] if index else point - 1
        right_end = kinks.points[index + 1] if index + 1 < len(kinks.points) else point + 1
        left = branch(expression, float(point + left_end) / 2)
        right = branch(expression, float(point + right_end) / 2)
        order = _first_jump(left, right, point, highest)
        if order is not None:
            orders.append((order, point))
    return min(orders, key=lambda found: found[0]) if orders else None


def _first_jump(left: Any, right: Any, point: Any, highest: int) -> int | None:
    for order in range(highest + 1):
        gap = (right - left).subs(x, point)
        if gap != 0:
            low, high = enclose(gap)
            if low > 0 or high < 0:
                return order
            if not gap.is_number or sympy.simplify(gap) != 0:
                raise ArithmeticError(f"the two sides of the derivative of order {order} at {point} cannot be compared")
        left, right = derivative(left), derivative(right)
    return None
