"""Kinks: an expression with Abs, Max, Min, Heaviside or sign as analytic expressions on intervals.

On an interval between two kinks every switch has one position, so that the expression equals one without switches; that one is
analytic near the interval's interior and is what gets integrated.  Kinks that cannot be written down are located in floating
point, which proves nothing: a sign change of what turns a switch on a grid, or between grid points at an extremum, is bisected.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, pairwise
from typing import Any

import mpmath
import numpy as np
import sympy
from flint import arb, fmpq
from numpy.typing import NDArray
from sympy import Expr

from theoryck.numerics.balls import precision
from theoryck.numerics.errors import ExactError
from theoryck.numerics.functions.calculus import derivative
from theoryck.numerics.functions.compiled import values_of
from theoryck.numerics.functions.domain import bisected, grid
from theoryck.numerics.functions.expression import KINKED, x
from theoryck.numerics.functions.ranges import never_zero
from theoryck.numerics.functions.trees import DECIMAL, REAL, constant_ball, tree_of

Floats = NDArray[np.float64]

_MONOTONE_THROUGH_ZERO = (sympy.tanh, sympy.sinh, sympy.atan, sympy.asinh, sympy.erf)
_POSITIVE = (sympy.exp, sympy.cosh, sympy.sech, sympy.erfc)
_SORTING_BITS = 400
GRID = 200_001  # points; odd, so that 0 is one: kinks at 0 are common
MAX_KINKS = 400
MAX_DEGREE = 32  # of polynomials whose roots are isolated


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
        if isinstance(node, KINKED) and node.has(x):
            return node
    return None


def _gates(switch: Expr) -> list[Expr]:
    """Return the expressions whose zeros are where ``switch`` turns."""
    if isinstance(switch, sympy.Max | sympy.Min):
        return [b if a == 0 else a - b for a, b in combinations(switch.args, 2)]
    return [switch.args[0]]


def _branch(switch: Expr, point: sympy.Rational) -> Expr:
    """What ``switch`` equals near ``point``."""
    if isinstance(switch, sympy.Abs):
        return switch.args[0] * _sign_at(switch.args[0], point)
    if isinstance(switch, sympy.sign):
        return sympy.Integer(_sign_at(switch.args[0], point))
    if isinstance(switch, sympy.Heaviside):
        return sympy.Integer(max(_sign_at(switch.args[0], point), 0))
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
    try:
        return _zeros(gate)
    except Unsplit:
        if never_zero(gate):
            return []
        raise


def _zeros(gate: Expr) -> list[Expr]:
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
    if (polynomial.domain.is_QQ or polynomial.domain.is_ZZ) and polynomial.degree() <= MAX_DEGREE:
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


@dataclass(frozen=True, slots=True)
class Kinks:
    """Points where a function may fail to be analytic, in increasing order; ``exact`` when these are proved to be all of them."""

    points: tuple[Any, ...]
    exact: bool


@lru_cache(maxsize=512)
def find_kinks(expression: Expr) -> Kinks:
    """Return the ends of the pieces and where bases of fractional powers vanish; else what is located on -60 < x < 60.

    >>> find_kinks(sympy.Max(-1, sympy.Min(1, x))), find_kinks(sympy.tanh(x)).points
    (Kinks(points=(-1, 1), exact=True), ())
    """
    try:
        points, exact = {part.left for part in pieces(expression)[1:]} | branch_points(expression), True
    except Unsplit:
        points, exact = set(), False
        for gate in [*gates_of(expression), *(node.base for node in _fractional_powers(expression))]:
            try:
                points |= set(zeros(gate))
            except Unsplit:
                near = grid()[np.abs(grid()) <= 60]
                with mpmath.workdps(30):
                    points |= {sympy.Float(float(zero), 15) for zero in _crossings(gate, mpmath.mpf(1), near, len(near))[0]}
    return Kinks(tuple(sorted(points, key=lambda point: float(point))), exact)


def branch_points(expression: Expr) -> set[Expr]:
    """Return the exact zeros of bases of fractional powers; raises :class:`Unsplit`."""
    found: set[Expr] = set()
    for part in pieces(expression):
        zero_sets = (zeros(node.base) for node in _fractional_powers(part.expression))
        found |= {z for each in zero_sets for z in each if z in (part.left, part.right) or _between(part.left, z, part.right)}
    return found


def _fractional_powers(expression: Expr) -> list[Expr]:
    powers = (node for node in sympy.preorder_traversal(expression) if isinstance(node, sympy.Pow) and node.base.has(x))
    return [node for node in powers if not node.exp.is_Integer]


def jump_order(expression: Expr, highest: int = 2) -> tuple[int, Any] | None:
    """Return (order, point) of the lowest derivative, up to ``highest``, that jumps between pieces, or None when none does.

    A jump is declared when a ball around the difference excludes 0, and absence of a jump when the difference simplifies to 0.
    Raises ArithmeticError where neither can be shown.
    """
    orders = []
    for left, right in pairwise(pieces(expression)):
        order = _first_jump(left.expression, right.expression, right.left, highest)
        if order is not None:
            orders.append((order, right.left))
    return min(orders, key=lambda found: found[0]) if orders else None


def check_slope(phi: Any, name: str, error: type[ValueError] = ValueError) -> None:
    """Raise ``error``, naming the argument, where an activation jumps: its derivative is a distribution there, and has no mean.

    A jump at a kink that is not known exactly is seen in floating point: values 1e-9 to its two sides differ by more than half as
    much as those 1e-6 to them.

    >>> from theoryck.numerics.functions import Activation
    >>> check_slope(Activation("sign(x)"), "student")
    Traceback (most recent call last):
        ...
    ValueError: student must be continuous, got 'sign(x)', which jumps at 0: its derivative is infinite there, 0 elsewhere
    """
    try:
        jump = jump_order(phi.expression, 0) if phi.kinks else None
        where = [] if jump is None else [jump[1]]
    except (ArithmeticError, ExactError):
        near, far = (
            np.array([float(np.ptp(phi(float(point) + side * np.array([-1.0, 1.0])))) for point in phi.kinks])
            for side in (1e-9, 1e-6)
        )
        # What is continuous with a slope, or with that of a root, differs by 1e-3 as much at most, or by 3%.
        where = [f"{float(point):.6g}" for point, jumps in zip(phi.kinks, near > 0.5 * far) if jumps]
    if where:
        raise error(
            f"{name} must be continuous, got {phi.text!r}, which jumps at {where[0]}: its derivative is infinite there, 0 elsewhere"
        )


def _first_jump(left: Expr, right: Expr, point: Expr, highest: int) -> int | None:
    for order in range(highest + 1):
        gap = right - left
        with precision(_SORTING_BITS):
            ball = tree_of((gap,)).at(REAL, number_ball(point))
            if ball > 0 or ball < 0:
                return order
        if not _vanishes_at(gap, point):
            raise ArithmeticError(f"the two sides of the derivative of order {order} at {point} cannot be compared")
        left, right = derivative(left), derivative(right)
    return None


def _vanishes_at(gap: Expr, point: Expr) -> bool:
    if isinstance(point, sympy.CRootOf):  # what sympy would simplify for minutes
        return bool(gap.is_polynomial(x)) and sympy.rem(gap, point.poly.as_expr(x), x) == 0
    return bool(sympy.simplify(gap.subs(x, point)) == 0)


def gates_of(expression: Expr) -> list[Expr]:
    """Return what changes sign where a switch of ``expression`` turns, inner switches included.

    >>> gates_of(sympy.Max(sympy.sin(x), 0))
    [sin(x)]
    """
    found: dict[Expr, None] = {}
    for node in sympy.postorder_traversal(expression):
        if isinstance(node, KINKED) and node.has(x):
            for gate in _gates(node):
                if gate.has(x) and -gate not in found:
                    found[gate] = None
    return list(found)


def located_kinks(expression: Expr, root: mpmath.mpf, cut: mpmath.mpf) -> tuple[tuple[mpmath.mpf, ...], bool]:
    """Return the z in (-cut, cut) where a switch of e(root z) turns, to mpmath's working precision, and whether all were searched.

    >>> [mpmath.nstr(z, 8) for z in located_kinks(sympy.Max(sympy.tanh(x), sympy.Rational(1, 3)), mpmath.mpf(1), mpmath.mpf(9))[0]]
    ['0.34657359']
    """
    points: set[mpmath.mpf] = set()
    resolved = True
    for gate in gates_of(expression):
        found, complete = _crossings(gate, root, np.linspace(-float(cut), float(cut), GRID), MAX_KINKS)
        points.update(found)
        resolved &= complete
    # Kinks of different gates that coincide up to rounding are one kink.
    apart = mpmath.mpf(10) ** (5 - mpmath.mp.dps)
    merged: list[mpmath.mpf] = []
    for point in sorted(points):
        if not merged or point - merged[-1] > apart * (1 + abs(point)):
            merged.append(point)
    return (tuple(merged), resolved) if len(merged) <= MAX_KINKS else ((), False)


def _crossings(gate: Expr, root: mpmath.mpf, grid: Floats, most: int) -> tuple[list[mpmath.mpf], bool]:
    values = values_of(gate, float(root) * grid)
    tree = tree_of((gate,))

    def value(z: mpmath.mpf) -> mpmath.mpf:
        return mpmath.re(tree.at(DECIMAL, root * z))

    finite = np.isfinite(values)
    signs = np.where(finite, np.sign(values), np.nan)
    crossings = [(float(grid[i]), float(grid[i + 1])) for i in np.flatnonzero(signs[:-1] * signs[1:] < 0)]
    zeros = [mpmath.mpf(float(grid[i])) for i in np.flatnonzero(signs == 0)]
    sizes = np.abs(values)
    # A dip of |gate| between points of one sign may hide two sign changes.  A parabola or a cusp that reaches 0 between grid points
    # has a second difference above its least value; a dip of rounding noise on a plateau has not.
    left, middle_size, right = sizes[:-2], sizes[1:-1], sizes[2:]
    same = (signs[:-2] == signs[1:-1]) & (signs[1:-1] == signs[2:])
    with np.errstate(all="ignore"):
        deep = left + right - 2 * middle_size > 0.1 * middle_size
    dips = np.flatnonzero((middle_size <= left) & (middle_size <= right) & same & deep)
    if len(crossings) + len(zeros) > most or len(dips) > most:
        return [], False
    for i in dips + 1:
        middle = _bottom(gate, float(root), float(grid[i - 1]), float(grid[i + 1]))
        if np.sign(float(value(mpmath.mpf(middle)))) == -signs[i]:
            crossings += [(float(grid[i - 1]), middle), (middle, float(grid[i + 1]))]
    return [*zeros, *(bisected(value, mpmath.mpf(a), mpmath.mpf(b)) for a, b in crossings)], bool(finite.all())


def _bottom(gate: Expr, root: float, low: float, high: float) -> float:
    """Return where |gate| is least on [low, high], by grids of 33 points that shrink sixteenfold each time."""
    points = np.linspace(low, high, 33)
    for _ in range(10):
        values = values_of(gate, root * points)
        crossed = np.flatnonzero(np.sign(values) == -np.sign(values[0]))
        best = int(crossed[0]) if len(crossed) else int(np.argmin(np.abs(values)))
        if len(crossed):
            return float(points[best])
        points = np.linspace(points[max(best - 1, 0)], points[min(best + 1, 32)], 33)
    return float(points[16])
