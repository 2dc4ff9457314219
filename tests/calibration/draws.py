"""Means of very many draws, simulated cheaply and without an approximation that the law of the noise would notice.

A draw has mean 1.  ``Bank`` draws a great many blocks of 1000 draws once and keeps their power sums; the mean of n draws, its
standard error, inflated as :class:`theoryck.montecarlo.Moments` does, and the skewness come from n/1000 blocks taken at random.
So mean and error bar have the correlation that they have in real draws: at 1e3 lognormal draws a mean that is too low comes with
an error bar that is too small, which no independent normal number with the true variance would show.

What is left of an approximation: a bank of N draws has its own mean, off by std/sqrt(N).  It is the same at every size, so that
exponents do not feel it, and its tail ends at the largest of N draws.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
NOISES = ("gaussian", "lognormal", "student")
STD = {"gaussian": 1.0, "lognormal": math.sqrt(math.e - 1), "student": math.sqrt(5 / 3)}
BLOCK = 1000
BLOCKS = 100_000
_CHUNK = 200  # blocks at a time: what fits a cache


def deviations(rng: np.random.Generator, noise: str, shape: tuple[int, ...]) -> Array:
    """Draw minus its mean 1: N(0, 1), lognormal of sigma 1, or Student's t with 5 degrees of freedom."""
    if noise == "gaussian":
        return rng.standard_normal(shape)
    if noise == "lognormal":
        draws = rng.standard_normal(shape)
        draws -= 0.5
        return np.expm1(draws, out=draws)
    if noise == "student":
        return rng.standard_t(5, shape)
    raise ValueError(f"noise must be one of {', '.join(NOISES)}, got {noise!r}")


def power_sums(deviation: Array) -> Array:
    """Return the sums of the first four powers over the last axis, as a new last axis of length 4."""
    square = deviation * deviation
    parts = (deviation.sum(-1), square.sum(-1), (square * deviation).sum(-1), np.einsum("...i,...i->...", square, square))
    return np.stack(parts, axis=-1)


@dataclass(frozen=True)
class Means:
    """Relative means, their standard errors and the skewness of the draws, each of one shape."""

    values: Array
    stderrs: Array
    skewness: Array
    draws: int


def means(sums: Array, draws: int) -> Means:
    """Return what ``Moments.estimate`` says of ``draws`` draws with these power sums (..., 4) of draw - 1."""
    first, second, third, fourth = (sums[..., k] / draws for k in range(4))
    m2 = second - first**2
    m3 = third - 3 * first * second + 2 * first**3
    m4 = fourth - 4 * first * third + 6 * first**2 * second - 3 * first**4
    inflation = np.sqrt(1 + np.sqrt(np.maximum(m4 / m2**2 - 1, 0.0) / draws))
    return Means(1 + first, np.sqrt(m2 / (draws - 1)) * inflation, m3 / m2**1.5, draws)


class Bank:
    """Power sums of blocks of 1000 draws, of 10, 100 and 1000 blocks: ``bank.sums(rng, shape, draws)``."""

    def __init__(self, noise: str, blocks: int = BLOCKS, seed: int = 0) -> None:
        rng = np.random.default_rng([seed, NOISES.index(noise)])
        parts = [power_sums(deviations(rng, noise, (_CHUNK, BLOCK))) for _ in range(-(-blocks // _CHUNK))]
        self.noise = noise
        self.levels = [np.concatenate(parts)]
        for _ in range(3):
            fine = self.levels[-1]
            self.levels.append(np.sum([fine[rng.integers(len(fine), size=len(fine))] for _ in range(10)], axis=0))

    def sums(self, rng: np.random.Generator, shape: tuple[int, ...], draws: int) -> Array:
        """Return the power sums (*shape, 4) of fresh groups of ``draws`` draws."""
        blocks, rest = divmod(int(draws), BLOCK)
        total = power_sums(deviations(rng, self.noise, (*shape, rest))) if rest else np.zeros((*shape, 4))
        for power, level in reversed(list(enumerate(self.levels))):
            count, blocks = divmod(blocks, 10**power)
            for _ in range(count):
                total += level[rng.integers(len(level), size=shape)]
        return total

    def means(self, rng: np.random.Generator, shape: tuple[int, ...], draws: int) -> Means:
        """Return relative means over ``draws`` draws with their standard errors."""
        return means(self.sums(rng, shape, draws), draws)


@functools.cache
def bank(noise: str, blocks: int = BLOCKS) -> Bank:
    """Return the bank of a noise, drawn once a process."""
    return Bank(noise, blocks)


def widths(relative: Sequence[float] | Array, sizes: Array, powers: Sequence[float], deviation: Sequence[float]) -> float:
    """Return the width of the 95% interval of a fit with corrections ``B_j d**-w_j``, B_j ~ N(0, deviation_j^2), by its formula."""
    design = np.stack([np.ones_like(sizes), np.log(sizes)], axis=1)
    terms = np.stack([s * sizes**-w for w, s in zip(powers, deviation)], axis=1)
    covariance = np.diag(np.asarray(relative) ** 2) + terms @ terms.T
    return 2 * 1.959963984540054 * math.sqrt(np.linalg.inv(design.T @ np.linalg.solve(covariance, design))[1, 1])
