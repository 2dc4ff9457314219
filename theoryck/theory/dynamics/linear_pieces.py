"""Gaussian means of networks of piecewise linear activations: relu, |x|, leaky ones, hard tanh.

On the pieces of g every one of g', g, g g', g^2 ... is a polynomial, so that with jumps Delta_i at the kinks c_i
    p(x) = p_0(x) + sum_i Delta_i(x) 1{x > c_i},
and the mean of a product over distinct fields is a sum of moments of degree <= 2 on orthants of at most four of them
(:mod:`theoryck.numerics.gaussian.orthants`): of g'(lambda^k) g'(lambda^l) Delta^2 too.  g'' is a sum of point masses, so that
    E g''(lambda^k) f = sum_i (jump of g' at c_i) p(lambda^k = c_i) E[f given lambda^k = c_i].
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import sympy
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.special import ndtr

from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.functions.expression import x
from theoryck.numerics.functions.pieces import Unsplit, pieces
from theoryck.numerics.gaussian.orthants import LEAST, orthant_moments

Array = NDArray[np.float64]
Polynomial = tuple[float, ...]


@dataclass(frozen=True)
class PiecewiseLinear:
    """A continuous function that is ``lines`` (intercept, slope) between ``kinks``, from left to right."""

    kinks: tuple[float, ...]
    lines: tuple[tuple[float, float], ...]

    @property
    def jumps(self) -> Array:
        """Of the slope, at the kinks."""
        return np.diff([slope for _, slope in self.lines])

    def product(self, slopes: int, values: int) -> list[tuple[float | None, Polynomial]]:
        """Return g'^slopes g^values as what is added to the right of a kink, None for what holds everywhere: polynomials."""
        found: list[Polynomial] = []
        for intercept, slope in self.lines:
            own = np.array([slope**slopes])
            for _ in range(values):
                own = np.convolve(own, [intercept, slope])
            found.append(tuple(own))
        parts = [(None, found[0]), *zip(self.kinks, (tuple(np.subtract(b, a)) for a, b in itertools.pairwise(found)))]
        return [(where, polynomial) for where, polynomial in parts if any(polynomial)]

    def mean(self, middle: Array, deviation: Array) -> Array:
        """Return E g(u) of u ~ N(middle, deviation^2)."""
        intercept, slope = self.lines[0]
        total = intercept + slope * middle
        for kink, jump in zip(self.kinks, self.jumps):
            z = np.clip((middle - kink) / np.maximum(deviation, LEAST), -40.0, 40.0)  # erf(40) is 1
            total = total + jump * ((middle - kink) * ndtr(z) + deviation * np.exp(-z * z / 2) / math.sqrt(2 * math.pi))
        return np.asarray(total)


@functools.lru_cache(maxsize=64)
def linear_pieces(phi: Activation) -> PiecewiseLinear | None:
    """Return the kinks and lines of ``phi``; None unless it is piecewise linear.

    >>> linear_pieces(Activation("max(-1, min(1, x))"))
    PiecewiseLinear(kinks=(-1.0, 1.0), lines=((-1.0, 0.0), (0.0, 1.0), (1.0, 0.0)))
    >>> linear_pieces(Activation("max(x, tanh(x))"))
    """
    try:
        parts = pieces(phi.expression)
    except Unsplit:
        return None
    if not all(part.expression.is_polynomial(x) and sympy.degree(part.expression, x) <= 1 for part in parts):
        return None
    lines = tuple((float(part.expression.subs(x, 0)), float(part.expression.diff(x))) for part in parts)
    return PiecewiseLinear(tuple(float(part.left) for part in parts[1:] if part.left is not None), lines)


Target = tuple[int, ...]


@dataclass(frozen=True)
class _Group:
    """Moments of ``fields`` (B, n) where the first m are above ``thresholds`` (B, m), and what they add to every target."""

    fields: NDArray[np.int64]
    thresholds: Array
    shares: csr_matrix

    def sums(self, covariance: Array) -> Array:
        own = covariance[self.fields[:, :, None], self.fields[:, None, :]]
        moments = [part.reshape(len(own), -1) for part in orthant_moments(self.thresholds, own)]
        result: Array = self.shares @ np.concatenate(moments, axis=1).ravel()
        return result


@dataclass(frozen=True)
class Plan:
    """Which moments give E g'(k) g'(a) (``slopes``), E g(k) g(a) (``values``) and E g'(k) g'(l) g(a) g(b) (``noise``) of K
    students and M teachers: places among the sums of all ``groups``."""

    students: PiecewiseLinear
    groups: tuple[_Group, ...]
    slopes: NDArray[np.int64]
    values: NDArray[np.int64]
    noise: NDArray[np.int64]
    activations: tuple[PiecewiseLinear, ...]

    @property
    def rows(self) -> int:
        """Orthants of four and of three fields, which take the time: one of four as 16 of three."""
        return sum(len(group.fields) * {4: 16, 3: 1}.get(group.thresholds.shape[1], 0) for group in self.groups)

    def sums(self, covariance: Array) -> tuple[Array, Array, Array]:
        """Return E g'(k) g'(a) (K, P), E g(k) g(a) (P, P) and E g'(k) g'(l) g(a) g(b) (K, K, P, P) of P = K + M fields."""
        total = sum((group.sums(covariance) for group in self.groups), np.zeros(1))
        return total[self.slopes], total[self.values], total[self.noise]

    def curved(self, covariance: Array, count: int) -> Array:
        """Return E g''(k) g(a) (K, P), K = ``count``."""
        found = np.zeros((count, len(covariance)))
        if not self.students.kinks:  # where fields may have no width
            return found
        own, cross = np.diagonal(covariance), covariance[:count]
        variance = own[:count, None]
        deviation = np.sqrt(np.maximum(own - cross * cross / variance, 0.0))
        for kink, jump in zip(self.students.kinks, self.students.jumps):
            density = jump * np.exp(-kink * kink / (2 * variance)) / np.sqrt(2 * math.pi * variance)
            middle = cross / variance * kink
            given = [phi.mean(middle[:, a], deviation[:, a]) for a, phi in enumerate(self.activations)]
            found += density * np.stack(given, axis=1)
        return found


def _spread(parts: list[list[tuple[float | None, Polynomial]]]) -> Iterator[tuple[tuple[float | None, ...], list[Polynomial]]]:
    for choice in itertools.product(*parts):
        yield tuple(where for where, _ in choice), [polynomial for _, polynomial in choice]


@functools.lru_cache(maxsize=32)
def plan(student: PiecewiseLinear, teacher: PiecewiseLinear, count: int, units: int) -> Plan:
    """Return which moments the means of ``count`` students and ``units`` teachers are made of."""
    size = count + units
    kinds = (student,) * count + (teacher,) * units
    targets: dict[tuple[tuple[int, int, int], ...], int] = {}

    def place(slopes: Target, values: Target) -> int:
        key = tuple((a, slopes.count(a), values.count(a)) for a in sorted({*slopes, *values}))
        return targets.setdefault(key, len(targets))

    pairs = np.array([[place((k, a), ()) for a in range(size)] for k in range(count)])
    values = np.array([[place((), (a, b)) for b in range(size)] for a in range(size)])
    noise = np.array(
        [[[[place((k, l), (a, b)) for b in range(size)] for a in range(size)] for l in range(count)] for k in range(count)]  # noqa: E741
    )
    rows: dict[tuple[int, int], dict[tuple[tuple[int, ...], tuple[float, ...]], int]] = {}
    shares: dict[tuple[int, int], list[tuple[int, int, float]]] = {}
    for key, target in targets.items():
        n = len(key)
        for where, polynomials in _spread([kinds[a].product(slopes, powers) for a, slopes, powers in key]):
            order = sorted(range(n), key=lambda q: where[q] is None)  # those above a threshold first
            above = tuple(level for level in where if level is not None)
            names = tuple(key[q][0] for q in order)
            group = (len(above), n)
            # A row and its entries: 1, then x_i, then x_i x_j.
            row = rows.setdefault(group, {}).setdefault((names, above), len(rows[group]))
            start = row * (1 + n + n * n)
            for powers in itertools.product(*(range(len(polynomials[q])) for q in order)):
                factor = math.prod(polynomials[q][power] for q, power in zip(order, powers))
                used = [i for i, power in enumerate(powers) for _ in range(power)]
                entry = 0 if not used else 1 + used[0] if len(used) == 1 else 1 + n + n * used[0] + used[1]
                if factor:
                    shares.setdefault(group, []).append((target, start + entry, factor))
    groups = []
    for (m, n), found in rows.items():
        to, source, factors = zip(*shares[m, n])
        fields = np.array([names for names, _ in found], dtype=np.int64).reshape(len(found), n)
        thresholds = np.array([above for _, above in found], dtype=float).reshape(len(found), m)
        matrix = csr_matrix((factors, (to, source)), shape=(len(targets), len(found) * (1 + n + n * n)))
        groups.append(_Group(fields, thresholds, matrix))
    return Plan(student, tuple(groups), pairs, values, noise, kinds)
