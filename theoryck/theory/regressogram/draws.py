"""Draws of data sets in bins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

POINTS_AT_ONCE = 2**18


@dataclass(frozen=True, slots=True)
class RegressogramSampler:
    """Draws data sets; the integral over x of (f^ - f)^2 is V + (f^ - M)^2 in each bin."""

    alpha: float
    samples: int
    bins: int

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        step = max(POINTS_AT_ONCE // self.samples, 1)
        return np.concatenate([self._several(rng, min(step, draws - start)) for start in range(0, draws, step)])

    def _several(self, rng: np.random.Generator, draws: int) -> Array:
        x = rng.random((draws, self.samples)) * self.bins
        y = (np.abs(x / 2 - np.rint(x / 2)) * (2 / self.bins)) ** self.alpha + rng.standard_normal(x.shape)
        place = (x.astype(np.int64) + self.bins * np.arange(draws)[:, None]).ravel()
        cells = draws * self.bins
        counts = np.bincount(place, minlength=cells)
        sums = np.bincount(place, weights=y.ravel(), minlength=cells)
        fitted = sums / np.maximum(counts, 1)
        reach = self.bins**-self.alpha
        mean, square = reach / (self.alpha + 1), reach**2 / (2 * self.alpha + 1)
        return ((fitted - mean) ** 2).reshape(draws, self.bins).mean(axis=1) + square - mean**2


@dataclass(frozen=True, slots=True)
class BumpSampler:
    """Draws the data of one bin and returns bins * int psi^2 * (1 - tanh(J + sqrt(J) Z))."""

    alpha: float
    samples: int
    bins: int

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        step = max(POINTS_AT_ONCE * self.bins // self.samples, 1)
        return np.concatenate([self._several(rng, min(step, draws - start)) for start in range(0, draws, step)])

    def _several(self, rng: np.random.Generator, draws: int) -> Array:
        counts = rng.binomial(self.samples, 1 / self.bins, size=draws)
        # The distance to the ends of a bin of a uniform point is uniform on (0, h/2).
        scale = 4.0 ** (self.alpha - 1) * (0.5 / self.bins) ** (2 * self.alpha)
        squares = rng.random((draws, int(counts.max(initial=0)))) ** (2 * self.alpha)
        squares[np.arange(squares.shape[1]) >= counts[:, None]] = 0.0
        signal = scale * squares.sum(axis=1)
        error = 1 - np.tanh(signal + np.sqrt(signal) * rng.standard_normal(draws))
        return error * scale / (2 * self.alpha + 1)
