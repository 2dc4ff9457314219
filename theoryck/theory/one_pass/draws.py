"""The Markov chain of the overlaps under one-pass SGD: O(1) a step whatever d, and exact at every d.

With Z ~ N(0, I_r) the indices of a sample, e ~ N(0, 1) its component along the part of w beyond them and R ~ chi^2_{d - r - 1} the
square of what is left, z = m.Z + sqrt(1 - |m|^2) e and G = step y s'(z):   m <- (m + G (Z - m z))/sqrt(1 + G^2 (|Z|^2 + e^2 + R -
z^2)).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theoryck.theory.one_pass.model import OnePass
from theoryck.theory.weak_recovery.model import Link

Array = NDArray[np.float64]

BLOCK = 256
"""Steps whose random numbers are drawn together."""

ENOUGH, GUARD = 0.75, 4.0
"""A block ends when 1/2 + GUARD/sqrt(runs) of its runs have arrived, or ENOUGH: the times of the others are given as inf.

The first is 2 GUARD = 8 standard deviations of its ranks beyond its median, of which errors of a median look at 5
(montecarlo.ranks); of k blocks together they look 5/sqrt(k) beyond, and the end of one block lies before that with the probability
of 8 - 5/sqrt(k) >= 4.4 standard deviations, 5e-6.
"""


@dataclass(frozen=True, slots=True)
class HittingSampler:
    """Draws of the number of samples until min_k |m_k| >= level, over ``unit``; inf beyond ``horizon`` steps."""

    sgd: OnePass
    dimension: int
    unit: float
    horizon: int

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        sgd, d, r = self.sgd, self.dimension, self.sgd.link.indices
        step, radius, level = sgd.step_at(d), sgd.radius_at(d), sgd.level
        times = np.full(draws, np.inf)
        active = np.arange(draws)
        m = rng.standard_normal((r, draws))
        m /= np.sqrt((m**2).sum(axis=0) + 2 * rng.standard_gamma((d - r) / 2, draws))
        if sgd.start == "positive":
            m = np.abs(m)
        # A stop is seen at most one part in 64 too late: of at least d/64 steps between two looks.
        every = max(min(8, d // 64), 1)
        enough = min(0.5 + GUARD / math.sqrt(draws), ENOUGH)
        done = 0
        while done < self.horizon:
            count = len(active)
            normals = rng.standard_normal((BLOCK, r + 1, count))
            squares = np.einsum("bij,bij->bj", normals, normals)
            squares += 2 * rng.standard_gamma((d - r - 1) / 2, (BLOCK, count))
            y = sgd.link.labels(rng, np.moveaxis(normals[:, :r], 1, -1))
            y *= step
            path = np.empty((BLOCK, r, count))
            z, rest, moved = np.empty(count), np.empty(count), np.empty((r, count))
            for t in range(BLOCK):
                along = normals[t, :r]
                np.einsum("ij,ij->j", m, along, out=z)
                np.einsum("ij,ij->j", m, m, out=rest)
                np.subtract(1.0, rest, out=rest)
                np.maximum(rest, 0.0, out=rest)
                np.sqrt(rest, out=rest)
                rest *= normals[t, r]
                z += rest
                gain = smoothed_slope(z, squares[t], radius, d) if radius else sgd.slopes(z)
                gain *= y[t]
                np.multiply(m, z, out=moved)
                np.subtract(along, moved, out=moved)
                moved *= gain
                moved += m
                gain *= gain
                z *= z
                np.subtract(squares[t], z, out=z)
                gain *= z
                gain += 1.0
                np.sqrt(gain, out=gain)
                m = np.divide(moved, gain, out=path[t])
            done += BLOCK
            reached = np.abs(path[every - 1 :: every]).min(axis=1) >= level
            arrived = reached.any(axis=0)
            if arrived.any():
                first = done - BLOCK + every * (1 + reached[:, arrived].argmax(axis=0))
                times[active[arrived]] = first / self.unit
                active, m = active[~arrived], m[:, ~arrived]
            if len(active) <= (1 - enough) * draws:
                break
        return times


def smoothed_slope(z: Array, square: Array, radius: float, d: int) -> Array:
    """Return s'_lambda(z) for s = h_3: the slope of the loss averaged over (w + lambda u)/sqrt(1 + lambda^2), u uniform on the
    unit sphere orthogonal to w; ``square`` is |x|^2.

    >>> smoothed_slope(np.array([2.0]), np.array([9.0]), 0.0, 10).round(6).tolist()  # h_3' = (3 z^2 - 3)/sqrt 6
    [3.674235]
    """
    growth = 1 + radius**2
    found: Array = (3 * z**2 + 3 * radius**2 * (square - 3 * z**2) / (d - 1)) * growth**-1.5 - 3 * growth**-0.5
    return found / 6**0.5


@dataclass(frozen=True, slots=True)
class GradientSampler:
    """Draws of y s'(z) (Z_k - m_k z) (on the sphere) or y s'(z) Z_k (Euclidean): a component of the step, over the step."""

    link: Link
    sgd: OnePass
    overlaps: tuple[float, ...]
    component: int
    spherical: bool

    def __call__(self, rng: np.random.Generator, draws: int) -> Any:
        m = np.array(self.overlaps)
        normals = rng.standard_normal((draws, len(m) + 1))
        along = normals[:, :-1]
        z = along @ m + np.sqrt(max(1 - m @ m, 0.0)) * normals[:, -1]
        direction = along[:, self.component] - (m[self.component] * z if self.spherical else 0.0)
        return self.link.labels(rng, along) * self.sgd.slopes(z) * direction
