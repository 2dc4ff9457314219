"""Whether an expression is real and finite on the whole line: proved, seen on a grid, or refuted at a named point."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
import sympy
from numpy.typing import NDArray

from theoryck.numerics.functions.compiled import values_of
from theoryck.numerics.functions.expression import ExpressionError, read_text
from theoryck.numerics.functions.ranges import is_positive, never_zero
from theoryck.numerics.functions.trees import high_precision


@dataclass(frozen=True, slots=True)
class Condition:
    """What a node asks of ``subject``: "positive", "nonnegative" or "nonzero"; ``node`` is where it comes from."""

    kind: str
    subject: Any
    node: Any

    def proved(self) -> bool:
        """Whether it holds for every real x by proof."""
        if self.kind == "nonzero":
            return never_zero(self.subject)
        return is_positive(self.subject, strict=self.kind == "positive")

    def broken(self, value: Any) -> bool:
        """Whether ``value`` of the subject violates it."""
        return bool({"nonzero": value == 0, "positive": value <= 0, "nonnegative": value < 0}[self.kind])


@functools.lru_cache(maxsize=512)
def conditions(expression: Any) -> tuple[Condition, ...]:
    """Return the conditions of the whole tree, inner ones first; of any variables.

    >>> from theoryck.numerics.functions.expression import x
    >>> [(c.kind, c.subject) for c in conditions(sympy.log(x) + 1/(1 + x))]
    [('positive', x), ('nonzero', x + 1)]
    """
    found: dict[tuple[str, Any], Condition] = {}
    for node in sympy.postorder_traversal(expression):
        condition = _condition(node)
        if condition is not None and condition.subject.free_symbols:
            found.setdefault((condition.kind, condition.subject), condition)
    order = sorted(found.values(), key=lambda c: (sympy.count_ops(c.subject), str(c.subject)))
    return tuple(order)


def _condition(node: Any) -> Condition | None:
    if isinstance(node, sympy.log):
        return Condition("positive", node.args[0], node)
    if isinstance(node, sympy.tan):
        return Condition("nonzero", sympy.cos(node.args[0]), node)
    if isinstance(node, sympy.Pow):
        if node.exp.is_Integer:
            return Condition("nonzero", node.base, node) if node.exp < 0 else None
        return Condition("positive" if node.exp < 0 else "nonnegative", node.base, node)
    return None


@functools.lru_cache(maxsize=512)
def check_total(expression: Any) -> bool:
    """Return True when totality is proved, False when it was only seen on a grid; raise ExpressionError naming a bad point.

    >>> from theoryck.numerics.functions.expression import x
    >>> check_total(x/sympy.sqrt(1 + x**2))
    True
    >>> check_total(1/x)
    Traceback (most recent call last):
    theoryck.numerics.functions.expression.ExpressionError: 1/x is not defined at x = 0: an activation must be real and finite on
    the whole line
    """
    open_conditions = [condition for condition in conditions(expression) if not condition.proved()]
    for condition in open_conditions:
        point = _violation(condition)
        if point is not None:
            inside = "" if condition.node == expression else f" (inside {expression})"
            raise ExpressionError(
                f"{condition.node} is not defined at x = {point:.6g}{inside}: "
                "an activation must be real and finite on the whole line"
            )
    return not open_conditions


def parse_expression(text: str) -> Any:
    """Return the sympy expression in ``x`` that ``text`` spells: a function that is real and finite on the whole line.

    Raises ``ExpressionError`` for any other text (see the module), and for log(x), sqrt(x), 1/x and the like, naming a bad point.

    >>> parse_expression("x*exp(-x**2/2)"), parse_expression("0.25*relu(x)")
    (x*exp(-x**2/2), Max(0, x)/4)
    >>> parse_expression("tahn(x)")
    Traceback (most recent call last):
    theoryck.numerics.functions.expression.ExpressionError: unknown function 'tahn': did you mean 'tan' or 'tanh'? (in the
    expression 'tahn(x)')
    """
    expression = read_text(text)
    check_total(expression)
    return expression


@functools.cache
def grid() -> NDArray[np.float64]:
    """Return the points where undecided conditions are tried: simple fractions, multiples of pi/4, and |x| up to 1e4."""
    simple = np.arange(0, 401) / 8
    turns = np.arange(0, 65) * np.pi / 4
    half = np.unique(np.concatenate([simple, turns, np.logspace(-6, 4, 1501), np.linspace(0, 60, 3001)]))
    return np.concatenate([-half[:0:-1], half])


def _violation(condition: Condition) -> float | None:
    points = grid()
    values = values_of(condition.subject, points)
    usable = ~np.isnan(values)
    suspects = points[usable & np.array([condition.broken(value) for value in values])]
    for point in suspects[np.argsort(np.abs(suspects))][:50]:
        exact = high_precision(condition.subject, float(point), 60)
        # A value that rounds to 0 far out (1 - tanh 40) is not a zero; one at a moderate point is.
        if condition.broken(exact) and (exact != 0 or abs(point) <= 20):
            return float(point)
    return _sign_change(condition.subject, points[usable], values[usable]) if condition.kind == "nonzero" else None


def _sign_change(subject: Any, points: NDArray[np.float64], values: NDArray[np.float64]) -> float | None:
    """Return a zero of ``subject``, which is continuous, between two grid points where its sign differs."""
    flips = np.flatnonzero(np.signbit(values[1:]) != np.signbit(values[:-1]))
    if flips.size == 0:
        return None
    index = flips[np.argmin(np.abs(points[flips]))]
    with mpmath.workdps(30):
        ends = (mpmath.mpf(float(point)) for point in points[index : index + 2])
        return float(bisected(lambda point: high_precision(subject, point), *ends))


def bisected(value: Callable[[mpmath.mpf], mpmath.mpf], low: mpmath.mpf, high: mpmath.mpf) -> mpmath.mpf:
    """Return where ``value`` changes sign between two ends of different signs, to mpmath's working precision."""
    positive = value(low) > 0
    for _ in range(mpmath.mp.prec + 8):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if (value(middle) > 0) == positive:
            low = middle
        else:
            high = middle
    return (low + high) / 2
