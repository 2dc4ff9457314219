"""Draws of finite networks on patches: their filters are drawn, what the readouts do is known given them.

Given the filters f is Gaussian with covariance F^T F/(N_c lambda_1), F (features, P): phi(w_c . x_i)/N_p^(1/2) for every channel
and patch where all have readouts of their own, and the sum over patches of that where they share one.  No Wishart matrix and no
kernel is used.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from theoryck.numerics.gaussian.kernels import LayerKernel
from theoryck.theory.convolutions.model import PatchNetwork

Array = NDArray[np.float64]

AT_ONCE = 2**19
"""Features held at once."""

ENTRIES = ((0, 0), (1, 1), (0, 1))
"""Of a pair of inputs."""


def features(network: PatchNetwork, patches: Array, rng: np.random.Generator, draws: int) -> Array:
    """Return the features (draws, k, P) of networks at ``patches`` (P, N_p, m): sums of their products are the covariance of f.

    >>> features(PatchNetwork("relu", 5), np.ones((4, 2, 3)), np.random.default_rng(0), 6).shape
    (6, 10, 4)
    """
    (inputs, number, entries), channels = patches.shape, int(network.channels)
    shared = network.architecture in ("cnn", "pooled")
    scale = 1 / math.sqrt(network.input_precision * entries)
    filters = scale * rng.standard_normal((draws, channels, 1 if shared else number, entries))
    fields = np.einsum("bcim,pim->bcip", np.broadcast_to(filters, (draws, channels, number, entries)), patches, optimize=True)
    found = network.activation(fields) / math.sqrt(channels * number * network.readout_precision)
    return found.sum(axis=2) if network.architecture in ("fc", "pooled") else found.reshape(draws, channels * number, inputs)


def _in_parts(draws: int, size: int) -> list[int]:
    once = max(AT_ONCE // size, 1)
    return [min(once, draws - done) for done in range(0, draws, once)]


@dataclass(frozen=True, eq=False)
class EvidenceSampler:
    """Draws factor (N(y; 0, F^T F + T) e^(-centre) - 1) less a part of mean 0: factor (Z e^(-centre) - 1) on the average.

    E F^T F = ``kernel`` at every N_c, so that any matrix may multiply the difference; with the slope of the logarithm there,
    (alpha alpha^T - A^(-1))/2, the noise falls as 1/N_c and not as its root.
    """

    network: PatchNetwork
    patches: Array
    targets: Array
    temperature: float
    kernel: Array
    centre: float
    factor: float

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        size = int(self.network.channels) * self.patches.shape[1] * len(self.targets)
        inverse = np.linalg.inv(self.kernel + self.temperature * np.eye(len(self.targets)))
        alpha = inverse @ self.targets
        slope = (np.outer(alpha, alpha) - inverse) / 2
        return np.concatenate([self._some(rng, count, slope) for count in _in_parts(draws, size)])

    def _some(self, rng: np.random.Generator, count: int, slope: Array) -> Array:
        found = features(self.network, self.patches, rng, count)
        given = found.transpose(0, 2, 1) @ found
        half = np.linalg.cholesky(given + self.temperature * np.eye(len(self.targets)))
        white = np.linalg.solve(half, np.broadcast_to(self.targets[:, None], (count, len(self.targets), 1)))[:, :, 0]
        logdet = np.log(np.diagonal(half, axis1=1, axis2=2)).sum(axis=1)
        logs = -np.sum(white**2, axis=1) / 2 - logdet - len(self.targets) * math.log(2 * math.pi) / 2
        return self.factor * (np.expm1(logs - self.centre) - np.tensordot(given - self.kernel, slope, 2))


@dataclass(frozen=True, eq=False)
class KernelSampler:
    """Draws (k(x, x') - centre)^power of the covariance k of f given the filters, for two inputs (2, N_p, m)."""

    network: PatchNetwork
    pair: Array
    centre: float
    power: int

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        size = 2 * int(self.network.channels) * self.pair.shape[1]
        parts = [features(self.network, self.pair, rng, count) for count in _in_parts(draws, size)]
        return np.concatenate([(np.einsum("bk,bk->b", part[:, :, 0], part[:, :, 1]) - self.centre) ** self.power for part in parts])


@dataclass(frozen=True, eq=False)
class SecondLayerSampler:
    """Draws k(x, x') - K(x, x') of two convolutional layers, infinitely many channels in the second, less a part of mean 0.

    Patches lie on a ring.  A filter of the second layer sees ``width`` neighbouring patches: given the first layer its fields at
    (x, i) and (x', i) have variances and covariance C_i, the mean over the neighbours j of sum_c phi(w_c.x_j) phi(w_c.x'_j)/N_c,
    and k is the mean over i of h(C_i) = E phi phi.  E C_i is known, so that the linear part of h at it has mean 0, and so have the
    products of two different channels in its quadratic part: any slopes and curvatures will do, and differences take most of the
    noise away, all but N_c^(-3/2).
    """

    network: PatchNetwork
    pair: Array
    width: int

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        size = 2 * int(self.network.channels) * self.pair.shape[1]
        return np.concatenate([self._some(rng, count) for count in _in_parts(draws, size)])

    def _some(self, rng: np.random.Generator, count: int) -> Array:
        number, channels = self.pair.shape[1], int(self.network.channels)
        found = features(self.network, self.pair, rng, count).reshape(count * channels, number, 2)
        scale = number * self.network.readout_precision * channels
        middle = self.first()
        away = self._window(scale * np.stack([found[..., a] * found[..., b] for a, b in ENTRIES], axis=-1)) - middle
        away = away.reshape(count, channels, number, 3)
        mean = away.mean(axis=1)
        slopes, curvatures = self._slopes(middle)
        both = (
            np.einsum("rie,ief,rif->r", mean, curvatures, mean)
            - np.einsum("rcie,ief,rcif->r", away, curvatures, away) / channels**2
        )
        linear = np.einsum("rie,ie->r", mean, slopes)
        return np.asarray((self._above(middle + mean) - self._above(middle)).mean(axis=1) - (linear + both / 2) / number)

    def _slopes(self, middle: Array) -> tuple[Array, Array]:
        """Return the first (N_p, 3) and second (N_p, 3, 3) derivatives of h at ``middle``, by differences."""
        moves = 1e-3 * middle[:, :2].min() * np.eye(3)
        step = moves[0, 0]

        def along(at: Array) -> Array:
            return np.stack([self._above(at + move) - self._above(at - move) for move in moves], axis=-1) / (2 * step)

        return along(middle), np.stack([along(middle + move) - along(middle - move) for move in moves], axis=-1) / (2 * step)

    def first(self) -> Array:
        """Return E C_i (N_p, 3): (x, x), (x', x'), (x, x')."""
        gram = np.einsum("aim,bim->iab", self.pair, self.pair) / (self.network.input_precision * self.pair.shape[2])
        kernel = LayerKernel(self.network.activation)(gram)
        return self._window(np.stack([kernel[:, a, b] for a, b in ENTRIES], axis=-1)[None])[0]

    def _window(self, values: Array) -> Array:
        """The mean over ``width`` neighbours of (draws, N_p, 3)."""
        return np.mean([np.roll(values, -shift, axis=1) for shift in range(self.width)], axis=0)

    def _above(self, entries: Array) -> Array:
        s, t, c = (entries[..., index, None] for index in range(3))
        return LayerKernel(self.network.activation).cross(s[..., None], c[..., None], t)[..., 0, 0]
