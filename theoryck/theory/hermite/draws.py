"""Draws of inner products on the sphere, and of Gaussian pairs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from theoryck.numerics.functions.activation import Activation

Array = NDArray[np.float64]

NUMBERS_AT_ONCE = 2**17
"""Gaussian numbers held at once by a sampler that draws whole vectors."""


@dataclass(frozen=True, slots=True)
class OverlapSampler:
    """Draws |w . w'|^power for independent w, w' on the unit sphere of R^d."""

    dimension: int
    power: int

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        return np.abs(inner_products(rng, draws, self.dimension, normalise=True)) ** self.power


@dataclass(frozen=True, slots=True)
class EntrySampler:
    """Draws h_degree(w . x)^2 for w on the unit sphere and x ~ N(0, I)."""

    dimension: int
    degree: int

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        return normalised_hermite(inner_products(rng, draws, self.dimension, normalise=False), self.degree) ** 2


def inner_products(rng: np.random.Generator, draws: int, dimension: int, normalise: bool) -> Array:
    """Return w . v (draws,) for w uniform on the unit sphere and v ~ N(0, I), divided by its length if ``normalise``."""
    step = max(NUMBERS_AT_ONCE // (2 * dimension), 1)
    pieces = []
    for start in range(0, draws, step):
        w, v = rng.standard_normal((2, min(step, draws - start), dimension))
        scale = np.linalg.norm(w, axis=1) * (np.linalg.norm(v, axis=1) if normalise else 1.0)
        pieces.append(np.einsum("bi,bi->b", w, v) / scale)
    return np.concatenate(pieces)


def normalised_hermite(z: Array, degree: int) -> Array:
    """Return h_degree at every entry by the recurrence sqrt(k + 1) h_{k+1} = z h_k - sqrt(k) h_{k-1}."""
    before, current = np.zeros_like(z), np.ones_like(z)
    for k in range(degree):
        before, current = current, (z * current - math.sqrt(k) * before) / math.sqrt(k + 1)
    return current


@dataclass(frozen=True, slots=True)
class PairSampler:
    """Draws sum f(u) g(v) for a Gaussian pair."""

    terms: tuple[tuple[Activation, Activation], ...]
    correlation: float

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        u, v = rng.standard_normal((2, draws))
        v = self.correlation * u + math.sqrt((1 - self.correlation) * (1 + self.correlation)) * v
        total = np.zeros(draws)
        for f, g in self.terms:
            total += f(u) * g(v)
        return total
