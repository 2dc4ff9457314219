"""Kinks that cannot be written down, found in floating point; and dense sums that see what quadratures with few nodes may miss.

Nothing here is proved: a kink is a sign change of the argument of a switch on a dense grid, or one between grid points at an
extremum of it, refined by bisection.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import mpmath
import numpy as np
import sympy
from numpy.typing import NDArray
from sympy import Expr

from theoryck.numerics.functions.compiled import Program
from theoryck.numerics.functions.pieces import SWITCHES
from theoryck.numerics.functions.trees import DECIMAL, tree_of, x

GRID = 200_001  # points; odd, so that 0 is one: kinks at 0 are common
MAX_KINKS = 400
MAX_EXTREMA = 400
REACH = 12.0  # in standard deviations: beyond it the Gaussian weight is below 1e-31
DENSE = 150_000  # nodes of the smaller dense sum

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Kinks:
    """Kinks in z, sorted, and whether all arguments of switches could be searched."""

    points: tuple[mpmath.mpf, ...]
    resolved: bool


def gates_of(expression: Expr) -> list[Expr]:
    """Return what changes sign where a switch of ``expression`` turns, inner switches included.

    >>> gates_of(sympy.Max(sympy.sin(x), 0))
    [sin(x)]
    """
    found: dict[Expr, None] = {}
    for node in sympy.postorder_traversal(expression):
        if isinstance(node, SWITCHES) and node.has(x):
            for gate in _turning(node):
                if gate.has(x) and -gate not in found:
                    found[gate] = None
    return list(found)


def _turning(switch: Expr) -> list[Expr]:
    if isinstance(switch, sympy.Max | sympy.Min):
        return [b if a == 0 else a - b for a, b in combinations(switch.args, 2)]
    if isinstance(switch, sympy.Piecewise):
        relations = {part for branch in switch.args for part in branch.cond.atoms(sympy.core.relational.Relational)}
        return [part.lhs - part.rhs for part in sorted(relations, key=str)]
    return [switch.args[0]]


def float_function(expression: Expr) -> Callable[[Floats], Floats]:
    """Return the expression as a numpy function; what overflows or has no value is inf or nan there, without a warning."""
    program = Program(expression) if expression.has(x) else None

    def values(points: Floats) -> Floats:
        out = np.array(points, dtype=np.float64)
        if program is None:
            return np.full(out.shape, float(expression))
        with np.errstate(all="ignore"):
            program.run(out)
        return out

    return values


def located_kinks(expression: Expr, root: mpmath.mpf, cut: mpmath.mpf) -> Kinks:
    """Return the z in (-cut, cut) where a switch of e(root z) turns, to mpmath's working precision.

    >>> kinks = located_kinks(sympy.Max(sympy.tanh(x), sympy.Rational(1, 3)), mpmath.mpf(1), mpmath.mpf(9))
    >>> [mpmath.nstr(z, 8) for z in kinks.points]
    ['0.34657359']
    """
    grid = np.linspace(-float(cut), float(cut), GRID)
    points: set[mpmath.mpf] = set()
    resolved = True
    for gate in gates_of(expression):
        found, complete = _zeros(gate, root, grid)
        points.update(found)
        resolved &= complete
    # Kinks of different gates that coincide up to rounding are one kink.
    apart = mpmath.mpf(10) ** (5 - mpmath.mp.dps)
    merged: list[mpmath.mpf] = []
    for point in sorted(points):
        if not merged or point - merged[-1] > apart * (1 + abs(point)):
            merged.append(point)
    return Kinks(tuple(merged), resolved) if len(merged) <= MAX_KINKS else Kinks((), False)


def _zeros(gate: Expr, root: mpmath.mpf, grid: Floats) -> tuple[list[mpmath.mpf], bool]:
    values = float_function(gate)(float(root) * grid)
    if not np.isfinite(values).all():
        return [], False
    tree = tree_of((gate,))

    def value(z: mpmath.mpf) -> mpmath.mpf:
        return mpmath.re(tree.at(DECIMAL, root * z))

    signs = np.sign(values)
    crossings = [(float(grid[i]), float(grid[i + 1])) for i in np.flatnonzero(signs[:-1] * signs[1:] < 0)]
    zeros = [mpmath.mpf(float(grid[i])) for i in np.flatnonzero(signs == 0)]
    sizes = np.abs(values)
    # A dip of |gate| between points of one sign may hide two sign changes.  A parabola or a cusp that reaches 0 between grid points
    # has a second difference above its least value; a dip of rounding noise on a plateau has not.
    left, middle_size, right = sizes[:-2], sizes[1:-1], sizes[2:]
    same = (signs[:-2] == signs[1:-1]) & (signs[1:-1] == signs[2:])
    deep = left + right - 2 * middle_size > 0.1 * middle_size
    dips = np.flatnonzero((middle_size <= left) & (middle_size <= right) & same & deep)
    if len(crossings) + len(zeros) > MAX_KINKS or len(dips) > MAX_EXTREMA:
        return [], False
    for i in dips + 1:
        middle = _bottom(float_function(gate), float(root), float(grid[i - 1]), float(grid[i + 1]))
        if np.sign(float(value(mpmath.mpf(middle)))) == -signs[i]:
            crossings += [(float(grid[i - 1]), middle), (middle, float(grid[i + 1]))]
    return [*zeros, *(_bisected(value, mpmath.mpf(a), mpmath.mpf(b)) for a, b in crossings)], True


def _bottom(function: Callable[[Floats], Floats], root: float, low: float, high: float) -> float:
    """Return where |function| is least on [low, high], by grids of 33 points that shrink sixteenfold each time."""
    points = np.linspace(low, high, 33)
    for _ in range(10):
        values = function(root * points)
        crossed = np.flatnonzero(np.sign(values) == -np.sign(values[0]))
        best = int(crossed[0]) if len(crossed) else int(np.argmin(np.abs(values)))
        if len(crossed):
            return float(points[best])
        points = np.linspace(points[max(best - 1, 0)], points[min(best + 1, 32)], 33)
    return float(points[16])


def _bisected(value: Callable[[mpmath.mpf], mpmath.mpf], low: mpmath.mpf, high: mpmath.mpf) -> mpmath.mpf:
    """Return a sign change between two ends of different signs, to working precision."""
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


@dataclass(frozen=True)
class Dense:
    """A sum over many nodes: its value, what its own error may be, and the same sum of absolute values."""

    value: float
    error: float
    size: float


def dense_mean(expression: Expr, root: float) -> Dense:
    """Return E e(root Z) by shifted midpoint sums with 150000 and 232000 nodes on 12 standard deviations, in float64.

    Its error is that of a kink or a jump between two nodes, so that it checks and does not sharpen: a spike wider than a node
    spacing (1e-4) that a quadrature with few nodes misses shows here.  Nodes without a finite value count as 0.
    """
    function = float_function(expression)
    found = []
    for count, shift in ((DENSE, 0.5), (232_001, 0.3819660112501051)):
        step = 2 * REACH / count
        z: Floats = -REACH + step * (np.arange(count, dtype=np.float64) + shift)
        with np.errstate(all="ignore"):
            terms = function(np.multiply(root, z)) * np.exp(-z * z / 2) * (step / np.sqrt(2 * np.pi))
        terms = np.where(np.isfinite(terms), terms, 0.0)
        found.append((float(terms.sum()), float(np.abs(terms).sum()), float(np.abs(terms).max())))
    (first, size, largest), (second, _, _) = found
    # One term is what a jump between two nodes may cost; pairwise additions lose a few 1e-16 of the absolute sum.
    return Dense(second, abs(first - second) + min(largest, size) * 0.1 + 1e-14 * size, size)
