"""Functions of one variable: the points and the intervals on which they take a value, and means over them.

f is cut where it is not smooth, where f' changes its sign, and at its poles.  A piece on which f is constant is an atom of the law
of y; on the others f is monotone and a value is taken once.  Sums over the law of y are integrals over z: E h(y) = int h(f(z)) w(z)
dz, where the other points of the level set of z are found by bisection.  The integrand is not smooth where f(z) passes the end of
another piece, there it is a series in the root of the distance: panels end at these points, with nodes that are quadratic there.
Where f has a pole, other poles of another order are as far away as a power of the distance: panels shrink towards it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sympy
from numpy.typing import NDArray

from theoryck.quantities.base import QuantityError
from theoryck.theory.weak_recovery.model import evaluate, kink_arguments, pole_arguments

Array = NDArray[np.float64]

GRID = 6001
MOST_PIECES = 200
BISECTIONS = 54
UNSEEN = "no route is accurate enough for it"
RUNGS = 14
"""Panels that shrink by 1/8 towards a pole: what is left is 8^-14 = 2e-13 of the first."""


@dataclass(frozen=True)
class Piece:
    """An interval on which f is monotone, or constant (``flat``), from ``first`` to ``last``, which are infinite at a pole."""

    low: float
    high: float
    first: float
    last: float
    flat: bool


@dataclass(frozen=True)
class LevelSets:
    """f on an interval, cut into pieces.

    >>> z = sympy.Symbol("z", real=True)
    >>> sets = level_sets(z**2, -9.0, 9.0)
    >>> [(piece.low, piece.high) for piece in sets.pieces], sets.roots(1, np.array([4.0])).round(12).tolist()
    ([(-9.0, 0.0), (0.0, 9.0)], [2.0])
    """

    expression: Any
    pieces: tuple[Piece, ...]

    @property
    def symbol(self) -> Any:
        """The variable."""
        return next(iter(self.expression.free_symbols))

    def values(self, z: Array) -> Array:
        """Return f."""
        with np.errstate(all="ignore"):  # next to a pole
            return np.asarray(evaluate(self.expression, {self.symbol: z}), dtype=float) + 0.0 * z

    def slopes(self, z: Array) -> Array:
        """Return |f'| within the pieces."""
        return np.abs(np.asarray(evaluate(_derivative(self.expression), {self.symbol: z}), dtype=float) + 0.0 * z)

    def roots(self, piece: int, y: Array) -> Array:
        """Return where the piece takes the values y, NaN where it does not."""
        at = self.pieces[piece]
        low, high = np.full(len(y), at.low), np.full(len(y), at.high)
        inside = (y - at.first) * (y - at.last) < 0
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            before = (self.values(middle) < y) == (at.last > at.first)
            low, high = np.where(before, middle, low), np.where(before, high, middle)
        return np.where(inside, (low + high) / 2, np.nan)

    def panels(self, points: int, width: float, least: float = np.inf) -> tuple[Array, Array, NDArray[np.int_]]:
        """Return nodes on the pieces that are not flat, their weights dz and the piece of each.

        Panels shrink to ``least`` towards the ends of pieces, where points of a level set meet.
        """
        node, weight = np.polynomial.legendre.leggauss(points)
        node, weight = (node + 1) / 2, weight / 2
        ends = sorted({value for piece in self.pieces for value in (piece.first, piece.last)})
        found: list[tuple[Array, Array, Array]] = []
        for number, piece in enumerate(self.pieces):
            if piece.flat:
                continue
            inner = [y for y in ends if (y - piece.first) * (y - piece.last) < 0]
            cuts = self.roots(number, np.array(inner)) if inner else np.zeros(0)
            special = [piece.low, *sorted(cuts[np.isfinite(cuts)]), piece.high]
            # A cut where f goes on in the same direction is no turning point, though others may turn at its value.
            passed = [self._goes_on(number, side) for side in (-1, 1)]
            for low, high in itertools.pairwise(special):
                number_of = max(int(np.ceil((high - low) / width)), 2)
                edges = np.linspace(low, high, number_of + 1)
                rungs = max(int(np.ceil(np.log(edges[1] - low) - np.log(least)) / np.log(4)), 0) if least < np.inf else 0
                ladders = [
                    (edges[1] - low) * (ratio ** -np.arange(1.0, number_of_rungs + 1))
                    for ratio, number_of_rungs in (
                        (8.0, RUNGS) if np.isinf(value) else (4.0, rungs) for value in (piece.first, piece.last)
                    )
                ]
                before = low + ladders[0][::-1] if low == piece.low else []
                after = high - ladders[1] if high == piece.high else []
                for a, b in itertools.pairwise([low, *before, *edges[1:-1], *after, high]):
                    left = a == low and (low != piece.low or passed[0])
                    right = b == high and (high != piece.high or passed[1])
                    # z - a ~ s^2 at an end where the level set of z changes, else linear.
                    s, ds = (
                        (node**2, 2 * node) if left else (1 - (1 - node) ** 2, 2 * (1 - node)) if right else (node, 1.0 + 0 * node)
                    )
                    found.append((a + (b - a) * s, (b - a) * weight * ds, np.full(points, number)))
        if not found:
            return np.zeros(0), np.zeros(0), np.zeros(0, dtype=int)
        z, dz, of = (np.concatenate(parts) for parts in zip(*found, strict=True))
        apart = ~np.isin(z, [end for piece in self.pieces for end in (piece.low, piece.high)])  # but for rounding next to a pole
        return z[apart], dz[apart], of[apart].astype(int)

    def _goes_on(self, number: int, side: int) -> bool:
        """Whether f is continuous and monotone across an end of the piece."""
        if not 0 <= number + side < len(self.pieces):
            return False
        one, two = (self.pieces[place] for place in sorted((number, number + side)))
        rising = (two.last - two.first) * (one.last - one.first) > 0
        return rising and one.last == two.first and math.isfinite(one.last)

    def others(self, z: Array, of: Any) -> tuple[Array, Array]:
        """Return the level set of each node: points (pieces, m), NaN where a piece has none, and |f'| there."""
        y = self.values(z)
        points, slopes = (np.full((len(self.pieces), len(z)), np.nan) for _ in range(2))
        for number, piece in enumerate(self.pieces):
            if piece.flat:
                continue
            points[number] = np.where(of == number, z, self.roots(number, y))
            there = np.isfinite(points[number])
            with np.errstate(all="ignore"):
                slopes[number, there] = self.slopes(points[number, there])
        return points, slopes

    def atoms(self) -> list[list[Piece]]:
        """Return the flat pieces, those of one value together."""
        groups: list[list[Piece]] = []
        for piece in self.pieces:
            if piece.flat:
                same = [group for group in groups if abs(group[0].first - piece.first) <= 1e-12 * max(1.0, abs(piece.first))]
                same[0].append(piece) if same else groups.append([piece])
        return groups


def _derivative(e: Any) -> Any:
    """Return f', where f is smooth."""
    symbol = next(iter(e.free_symbols))
    return sympy.diff(e, symbol).replace(sympy.DiracDelta, lambda *_: sympy.Integer(0)).doit()


def level_sets(e: Any, low: float, high: float) -> LevelSets:
    """Return f cut into pieces on [low, high]; QuantityError where it has too many of them or is not finite.

    >>> z = sympy.Symbol("z", real=True)
    >>> [piece.flat for piece in level_sets(sympy.sign(z), -9.0, 9.0).pieces]
    [True, True]
    """
    symbol = next(iter(e.free_symbols))
    grid = np.linspace(low, high, GRID) + (high - low) * 1e-7  # no node at a round number, where kinks like to be
    grid[0], grid[-1] = low, high
    function = _function(e, symbol)

    with np.errstate(all="ignore"):
        _check_oscillations(e, symbol, grid)
        values = function(grid[1:-1])
        if not np.all(np.isfinite(values)):
            place = grid[1:-1][~np.isfinite(values)][0]
            raise QuantityError(f"link {e} is not a finite number at z = {place:.4g}: labels must be real for every z")
        cuts = [low, high]
        for argument in [*kink_arguments(e), *pole_arguments(e)]:
            cuts += _sign_changes(_function(argument, symbol), grid)
        slope = _derivative(e)
        if slope.free_symbols:
            cuts += _sign_changes(_function(slope, symbol), grid)
    edges = np.unique(np.array(cuts))
    edges = edges[np.concatenate([[True], np.diff(edges) > 1e-11 * (high - low)])]
    if len(edges) > MOST_PIECES:
        raise QuantityError(f"link {e} has more than {MOST_PIECES} monotone pieces: {UNSEEN}")
    pieces = []
    with np.errstate(all="ignore"):
        for a, b in itertools.pairwise(edges):
            inside = a + (b - a) * np.linspace(0.03, 0.97, 9)
            flat = bool(np.ptp(function(inside)) <= 1e-13 * max(1.0, float(np.abs(function(inside)).max())))
            ends = function(np.array([a + 1e-15 * (b - a) + 1e-300, b - 1e-15 * (b - a)]))
            ends = function(inside[[0, -1]]) if flat else ends
            first, last = (_limit(function, float(value), *place) for value, place in zip(ends, ((a, b), (b, a)), strict=True))
            pieces.append(Piece(float(a), float(b), first, last, flat))
            # What is monotone is so at points that the grid does not meet: else f turns faster than the grid sees.
            between = function(a + (b - a) * ((np.arange(1, 130) + 0.5**0.5) / 131))
            slack = 1e-12 * np.abs(between[1:])
            if not flat and np.any(np.diff(between) * np.sign(last - first) < -slack):
                raise QuantityError(f"link {e} turns more often than {GRID} points of [{low:g}, {high:g}] see: {UNSEEN}")
    return LevelSets(e, _joined(pieces))


def _function(e: Any, symbol: Any) -> Callable[[Array], Array]:
    return lambda z: np.asarray(evaluate(e, {symbol: z}), dtype=float) + 0.0 * z


def _limit(function: Callable[[Array], Array], value: float, at: float, far: float) -> float:
    """Return an infinity where f has a pole at ``at``, seen from ``far``: there |f| grows as z comes nearer; else ``value``."""
    near = function(at + (far - at) * np.array([1e-6, 1e-9, 1e-12]))
    size = np.abs(near)
    return math.copysign(math.inf, near[1]) if np.all(size[1:] > 1.2 * size[:-1]) else value


def _joined(pieces: list[Piece]) -> tuple[Piece, ...]:
    """Return the pieces with one value for ends that differ by rounding: no level set changes between them."""
    ends = sorted({value for piece in pieces for value in (piece.first, piece.last)})
    same: dict[float, float] = {}
    for value in ends:
        last = next(reversed(same.values())) if same else -math.inf
        same[value] = last if value - last <= 1e-13 * max(1.0, abs(value)) and math.isfinite(value) else value
    return tuple(replace(piece, first=same[piece.first], last=same[piece.last]) for piece in pieces)


def _check_oscillations(e: Any, symbol: Any, grid: Array) -> None:
    """Raise QuantityError where sin, cos or tan is taken of what has a pole: no number of pieces suffices there."""
    for node in sympy.preorder_traversal(e):
        if isinstance(node, sympy.sin | sympy.cos | sympy.tan):
            for subject in pole_arguments(node.args[0]):
                zeros = _sign_changes(_function(subject, symbol), grid)
                if zeros:
                    place = f"{symbol} = {zeros[0]:.4g}, a pole of {node.args[0]}"
                    raise QuantityError(f"link {e} turns without end at {place}: {UNSEEN}")


def _sign_changes(function: Callable[[Array], Array], grid: Array) -> list[float]:
    """Return where a function changes its sign on the grid, by bisection; a run of zeros is cut at its ends."""
    signs = np.sign(function(grid))
    signs[~np.isfinite(signs)] = 0
    places = np.flatnonzero(signs[1:] != signs[:-1])
    if not len(places):
        return []
    low, high, left = grid[places], grid[places + 1], signs[places]
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        same = np.sign(function(middle)) == left
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    found = (low + high) / 2
    # Of bisections around 0 only 0 itself is exact.
    return [0.0 if abs(value) < 1e-12 else float(value) for value in found]


def level_means(
    sets: LevelSets,
    density: Callable[[Array], Array],
    statistics: Sequence[Callable[[Array], Array]],
    points: int = 24,
    width: float = 0.75,
) -> tuple[Array, Array]:
    """Return weights (m,) and conditional means (m, k) of the ``statistics`` given y, for a density w(z).

    >>> z = sympy.Symbol("z", real=True)
    >>> gaussian = lambda z: np.exp(-z**2 / 2) / np.sqrt(2 * np.pi)
    >>> weights, means = level_means(level_sets(z**2, -9.0, 9.0), gaussian, [lambda z: z, lambda z: z**2 - 1])
    >>> np.round(weights @ means**2, 12).tolist()  # E[z | y] = 0, E (z^2 - 1)^2
    [0.0, 2.0]
    """
    z, dz, of = sets.panels(points, width)
    place, slope = sets.others(z, of)
    there = np.isfinite(place)
    with np.errstate(all="ignore"):
        # w/|f'| relative to that of the node itself: where f' vanishes the point weighs as much as its mirror image.
        own = slope[of, np.arange(len(z))] if len(z) else np.zeros(0)
        ratio = np.where(there, density(np.where(there, place, 0.0)) * own / slope, 0.0)
        ratio[there & ~np.isfinite(ratio)] = 0.0
    total = ratio.sum(axis=0)
    if not np.all(total > 0):
        blind = float(z[~(total > 0)][0])
        raise QuantityError(f"link {sets.expression} has no slope at {sets.symbol} = {blind:.6g}: {UNSEEN}")
    means = [np.where(there, ratio * statistic(np.where(there, place, 0.0)), 0.0).sum(axis=0) / total for statistic in statistics]
    weights, rows = density(z) * dz, np.stack(means, axis=1) if len(z) else np.zeros((0, len(statistics)))
    node, weight = np.polynomial.legendre.leggauss(40)
    for group in sets.atoms():
        mass, sums = 0.0, np.zeros(len(statistics))
        for piece in group:
            parts = max(int(np.ceil(piece.high - piece.low)), 1)
            edges = np.linspace(piece.low, piece.high, parts + 1)
            middle, half = (edges[1:] + edges[:-1])[:, None] / 2, (piece.high - piece.low) / parts / 2
            at = middle + half * node
            share = density(at) * weight * half
            mass += share.sum()
            sums += [(share * statistic(at)).sum() for statistic in statistics]
        weights, rows = np.append(weights, mass), np.vstack([rows, sums / mass])
    return weights, rows
