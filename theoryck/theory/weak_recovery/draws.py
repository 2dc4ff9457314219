"""Draws of the algorithms of weak recovery in d dimensions, and of what labels tell, by closed forms.

By rotation invariance w_1, ..., w_r are the first r axes.  What a label tells along a direction v, G(y) = E[z_v^2 - 1 | y] (or
E[z_v | y] where v is trivial), is written down here for links where it has a closed form, and shares no code with the limits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.special import k0e, k1e, log_ndtr

from theoryck.theory.weak_recovery.model import Link

Array = NDArray[np.float64]


def _bessel(u: Array) -> Array:
    """u K_1(u)/K_0(u) - 1: what |z1 z2| = u tells of z1^2 - 1."""
    u = np.maximum(u, 1e-300)
    return np.asarray(u * k1e(u) / k0e(u) - 1)


def _chebyshev(y: Array) -> Array:
    """E[z | z^3 - 3 z = y]: of three roots 2 cos(a + 2 pi k/3) where |y| <= 2, weighted by phi(z)/|f'(z)|, else of the one."""
    inside = np.abs(y) < 2
    angle = np.arccos(np.clip(y / 2, -1, 1)) / 3
    roots = 2 * np.cos(angle + 2 * np.pi * np.arange(3)[:, None] / 3)
    with np.errstate(divide="ignore"):
        weights = np.exp(-(roots**2) / 2) / np.abs(3 * roots**2 - 3)
    with np.errstate(invalid="ignore"):
        three = (weights * roots).sum(axis=0) / weights.sum(axis=0)
    one = np.sign(y) * 2 * np.cosh(np.arccosh(np.maximum(np.abs(y) / 2, 1.0)) / 3)
    return np.where(inside, three, one)


def _truncated(y: Array) -> Array:
    """E[z1 + z2 | max(z1, z2) = y]/sqrt 2."""
    return np.asarray((y - np.exp(-(y**2) / 2 - log_ndtr(y)) / np.sqrt(2 * np.pi)) / np.sqrt(2))


_DIAGONAL = (0.5**0.5, 0.5**0.5)

TOLD: dict[str, tuple[bool, tuple[float, ...], Callable[[Array], Array]]] = {
    "z": (True, (1.0,), lambda y: y),
    "z**2": (False, (1.0,), lambda y: y - 1),
    "abs(z)": (False, (1.0,), lambda y: y**2 - 1),
    "z**3 - 3*z": (True, (1.0,), _chebyshev),
    "z1*z2": (False, _DIAGONAL, lambda y: _bessel(np.abs(y)) + y),
    "abs(z1*z2)": (False, (1.0, 0.0), _bessel),
    "sign(z1*z2)": (False, _DIAGONAL, lambda y: 2 / np.pi * y),
    "z1**2 + z2**2 + z3**2": (False, (1.0, 0.0, 0.0), lambda y: y / 3 - 1),
    "max(z1, z2)": (True, _DIAGONAL, _truncated),
}
"""Whether v is trivial, v, and what a label tells of z_v (if so) or of z_v^2 - 1."""


@dataclass(frozen=True, slots=True)
class ToldSampler:
    """Draws of (z_v^2 - 1) G(f(z)) (of z_v E[z_v | f(z)] for a trivial v), whose mean is E G^2: the eigenvalue of the threshold."""

    link: Link

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        trivial, direction, told = TOLD[self.link.text]
        z = rng.standard_normal((draws, self.link.indices))
        along = z @ np.array(direction)
        y = self.link.values(z)
        if not trivial:
            return np.asarray((along**2 - 1) * told(y))
        return np.asarray(along * told(y))


@dataclass(frozen=True, slots=True)
class FirstStepSampler:
    """Draws of cos^2 between v, a trivial direction, and X^T T, T_i = E[z_v | y_i]: O(n) random numbers whatever d.

    The components of X^T T along the w_k are sums over the samples, what is left is sqrt(sum_i T_i^2) times N(0, I_(d - r)).
    """

    link: Link
    dimension: int
    samples: int

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        _, direction, told = TOLD[self.link.text]
        v, r = np.array(direction), self.link.indices
        found = np.empty(draws)
        for place in range(draws):
            z = rng.standard_normal((self.samples, r))
            t = told(self.link.values(z))
            along = t @ z
            rest = (t @ t) * 2 * rng.standard_gamma((self.dimension - r) / 2)
            found[place] = (along @ v) ** 2 / (along @ along + rest)
        return found


@dataclass(frozen=True, slots=True)
class SpectralSampler:
    """Draws of cos^2 between v and the top eigenvector of (1/n) sum_i T(y_i) x_i x_i^T, T = G/(1 + G), n = round(alpha d)."""

    link: Link
    dimension: int
    samples: int

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        _, direction, told = TOLD[self.link.text]
        v, d = np.array(direction), self.dimension
        found = np.empty(draws)
        for place in range(draws):
            x = rng.standard_normal((self.samples, d))
            g = told(self.link.values(x[:, : len(v)]))
            # T is unbounded below, where a label is all but 0: beyond -1e12 the vector is orthogonal to x_i all the same.
            weight = np.maximum(g / np.maximum(1 + g, 1e-300), -1e12)
            matrix = (x.T * weight) @ x
            vector = eigh(matrix, subset_by_index=(d - 1, d - 1), overwrite_a=True, check_finite=False)[1][:, 0]
            found[place] = (vector[: len(v)] @ v) ** 2
        return found


@dataclass(frozen=True, slots=True)
class GampSampler:
    """Draws of the overlap m_t of approximate message passing for y = z^2 in d dimensions, from an estimate of overlap ``start``.

    X ~ N(0, 1/d), |w|^2 = d, s = sqrt y.  omega = X w^ - V g, th = tanh(omega s/V), g = (s th - omega)/V, g' = (s^2 (1 - th^2)/V -
    1)/V, L = -alpha mean g', w^ <- (L w^ + X^T g)/(1 + L), V <- 1/(1 + L).  At the first step there is no Onsager term: w^ is
    independent of X.
    """

    dimension: int
    samples: int
    start: float
    steps: int

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        found = np.empty(draws)
        d, n = self.dimension, self.samples
        for place in range(draws):
            truth = rng.standard_normal(d)
            truth *= d**0.5 / np.linalg.norm(truth)
            x = rng.standard_normal((n, d)) / d**0.5
            s = np.abs(x @ truth)
            w = self.start * truth + (self.start * (1 - self.start)) ** 0.5 * rng.standard_normal(d)
            v, g = 1 - self.start, np.zeros(n)
            for _ in range(self.steps):
                omega = x @ w - v * g
                th = np.tanh(omega * s / v)
                g = (s * th - omega) / v
                gain = -n / d * float(np.mean((s**2 * (1 - th**2) / v - 1) / v))
                w = (gain * w + x.T @ g) / (1 + gain)
                v = 1 / (1 + gain)
            found[place] = w @ truth / d
        return found


@dataclass(frozen=True, slots=True)
class UnfoldingSampler:
    """Draws of the mean squared overlap of the unfolded third Hermite tensor with the r = 3 directions of y = sign(z1 z2 z3).

    U = X^T (K o y y^T) X/n^2, K_ij = (x_i . x_j)^2 - |x_i|^2 - |x_j|^2 + d + 4 off the diagonal, 0 on it: sum over the other two
    indices of products of two samples' third Hermite tensors, all but their traces.  The overlap is that of the top r eigenvectors.
    """

    link: Link
    dimension: int
    samples: int

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        found = np.empty(draws)
        d, r = self.dimension, self.link.indices
        for place in range(draws):
            x = rng.standard_normal((self.samples, d))
            y = self.link.labels(rng, x[:, :r])
            norms = (x**2).sum(axis=1)
            matrix = np.zeros((d, d))
            for start in range(0, self.samples, 2048):
                part = slice(start, start + 2048)
                kernel = (x[part] @ x.T) ** 2
                kernel -= norms[part, None] + norms - (d + 4)
                kernel[np.arange(len(kernel)), np.arange(start, start + len(kernel))] = 0.0
                kernel *= y[part, None] * y
                matrix += x[part].T @ (kernel @ x)
            vectors = eigh(matrix, subset_by_index=(d - r, d - 1), check_finite=False)[1]
            found[place] = (vectors[:r] ** 2).sum() / r
        return found
