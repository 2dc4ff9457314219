"""Draws of wide networks: kernels at finite width, and statistics of the output.

Kernels.  k^(l+1) = b_std^2 + W_std^2 phi(z^l).phi(z'^l)/d is the covariance of z^(l+1) given the layers below, so that the pairs
(z, z') of a layer are iid N(0, k^l): a chain of Gram matrices.  The tangent kernel needs the weights between layers:
t = sum_l (delta^l.delta'^l) k^l with delta^(L+1) = 1, delta^L = W_std a phi'(z^L)/sqrt(d), and
delta^(l-1) = W_std phi'(z^(l-1)) (W^l)^T delta^l/sqrt(d).
Output.  Given S_L = |x_L|^2 the output a.x_L, a ~ N(0, I), of a network on one random input is N(0, S_L), and S_L is drawn by the
chain of :mod:`theoryck.theory.networks.draws`, without a weight matrix.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theoryck.numerics.gaussian.kernels import LayerKernel
from theoryck.theory.networks.draws import Layers, norm_chain
from theoryck.theory.wide.model import WideNetwork

Array = NDArray[np.float64]

PIECE = 2**17
"""Entries of a working array, so that it stays in a second-level cache."""

GROUP = 32
"""Networks a draw of the distance takes: the noise of a mean over all pairs falls with their number, the arcsines grow with it."""


@dataclass(frozen=True, slots=True)
class KernelSampler:
    """Draws (kernel - centre)^power of networks with hidden layers of ``width`` units."""

    network: WideNetwork
    slope: Any
    kind: str
    width: int
    centre: float
    power: int
    middle: tuple[float, ...]
    """K^2 at (x, x), (x', x'), (x, x') where the bias of two layers is drawn, else nothing."""

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` independent values (draws,)."""
        return self._smoothed(rng, draws) if self.middle else self.plain(rng, draws)

    def plain(self, rng: np.random.Generator, draws: int) -> Array:
        """Draw without taking any expectation by hand."""
        largest = self.width**2 if self.kind == "ntk" and self.network.layers > 1 else 2 * self.width
        step = max(PIECE // largest, 1)
        pieces = [self._piece(rng, min(step, draws - start)) for start in range(0, draws, step)]
        return (np.concatenate(pieces) - self.centre) ** self.power

    def _smoothed(self, rng: np.random.Generator, draws: int) -> Array:
        """Draw the bias of two layers as E[k^3 | k^2] - K^3 less its linear part at K^2, whose mean is 0 because E k^2 = K^2.

        Any coefficients leave the mean as it is: finite differences of the last layer's kernel take most of the noise away.
        """
        middle = np.array(self.middle)
        steps = middle[0] * 1e-3 * np.eye(3)
        # Equal inputs stay equal: their three entries move together, and the first stands for all.
        moves = [np.full(3, steps[0, 0])] if self._same else list(steps)
        ends = self._above(np.array([middle + sign * move for move in moves for sign in (1, -1)] + [middle]))
        pieces = []
        for start in range(0, draws, step := max(PIECE // (2 * self.width), 1)):
            entries = self._first(rng, min(step, draws - start))
            values = self._above(entries) - ends[-1]
            for index in range(len(moves)):
                slope = (ends[2 * index] - ends[2 * index + 1]) / (2 * steps[0, 0])
                values -= slope * (entries[:, index] - middle[index])
            pieces.append(values)
        return np.concatenate(pieces)

    @property
    def _same(self) -> bool:
        return self.network.inputs[0] == self.network.inputs[1]

    def _first(self, rng: np.random.Generator, draws: int) -> Array:
        """Return k^2 at (x, x), (x', x'), (x, x'), shape (draws, 3)."""
        w, b = float(self.network.weight_std) ** 2, float(self.network.bias_std) ** 2
        phi = self.network.activation(_pairs(rng, *self._start(draws), self.width))
        gram = np.swapaxes(phi, 1, 2) @ phi
        return b + w / self.width * np.stack([gram[:, 0, 0], gram[:, 1, 1], gram[:, 0, 1]], axis=1)

    def _above(self, entries: Array) -> Array:
        """Return the covariance of the next layer at infinite width, (n,), for that of this one (n, 3)."""
        w, b = float(self.network.weight_std) ** 2, float(self.network.bias_std) ** 2
        layer = LayerKernel(self.network.activation)
        if self._same:
            return b + w * layer.variance(entries[:, 0])
        s, t, c = (entries[:, index, None] for index in range(3))
        return b + w * layer.cross(s[:, :, None], c[:, :, None], t)[:, 0, 0]

    def _start(self, draws: int) -> tuple[Array, Array, Array]:
        s, t, c = (np.full(draws, float(value)) for value in self.network.covariance())
        return s, t, c

    def _piece(self, rng: np.random.Generator, draws: int) -> Array:
        w, b = float(self.network.weight_std) ** 2, float(self.network.bias_std) ** 2
        s, t, c = self._start(draws)
        layers, kernels, weights, phi = list[Array](), [c], list[Array](), np.empty(0)
        for layer in range(self.network.layers):
            if layer and self.kind == "ntk":
                matrix = rng.standard_normal((draws, self.width, self.width)) * math.sqrt(w / self.width)
                weights.append(matrix)
                z = matrix @ phi + math.sqrt(b) * rng.standard_normal((draws, self.width, 1))
            else:
                z = _pairs(rng, s, t, c, self.width)
            phi = self.network.activation(z)
            gram = np.swapaxes(phi, 1, 2) @ phi
            s, t, c = (b + w / self.width * gram[:, i, k] for i, k in ((0, 0), (1, 1), (0, 1)))
            layers.append(z)
            kernels.append(c)
        return c if self.kind == "nngp" else self._tangent(rng, layers, kernels, weights)

    def _tangent(self, rng: np.random.Generator, layers: list[Array], kernels: list[Array], weights: list[Array]) -> Array:
        total = kernels[-1].copy()
        draws, width, _ = layers[-1].shape if layers else (len(total), 0, 2)
        back = float(self.network.weight_std) / math.sqrt(max(width, 1)) * rng.standard_normal((draws, width, 1))
        for layer in range(len(layers) - 1, -1, -1):
            delta = self.slope(layers[layer]) * back
            total += np.einsum("di,di->d", delta[:, :, 0], delta[:, :, 1]) * kernels[layer]
            if layer:
                back = np.swapaxes(weights[layer - 1], 1, 2) @ delta
        return total


def _pairs(rng: np.random.Generator, s: Array, t: Array, c: Array, width: int) -> Array:
    """Return ``width`` pairs (draws, width, 2) of N(0, [[s, c], [c, t]]) per draw."""
    z = rng.standard_normal((len(s), width, 2))
    root = np.sqrt(s)
    # s = 0 forces c = 0; rounding may leave t - c^2/s below 0 by an ulp of t where the inputs are parallel.
    share = np.divide(c, root, out=np.zeros_like(c), where=root > 0)
    rest = np.sqrt(np.maximum(t - share**2, 0.0))
    z[:, :, 1] = share[:, None] * z[:, :, 0] + rest[:, None] * z[:, :, 1]
    z[:, :, 0] *= root[:, None]
    return z


# Output -------------------------------------------------------------------------------------------------------------------------


Statistic = Callable[["OutputSampler", np.random.Generator, int], Array]
"""(sampler, rng, draws) -> values (draws,)."""


@dataclass(frozen=True, slots=True)
class NormDraws:
    """Draws of S_L, or of eta_0^2 |x_0|^2 + gamma_0 where ``linear`` holds (eta_0^2, gamma_0)."""

    layers: Layers
    linear: tuple[float, float] | None

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` independent values (draws,)."""
        if self.linear is None:
            return norm_chain(self.layers, rng, draws)
        input_layer = Layers(None, 1.0, self.layers.widths[:1])
        return self.linear[0] * norm_chain(input_layer, rng, draws) + self.linear[1]


@dataclass(frozen=True, slots=True)
class OutputSampler:
    """Draws of a statistic of independent S_L; ``sigma`` is their limit."""

    norms: NormDraws
    sigma: float
    statistic: Statistic

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` independent values (draws,)."""
        return self.statistic(self, rng, draws)


def draw_values(sampler: OutputSampler, rng: np.random.Generator, draws: int) -> Array:
    """Return the output f itself."""
    return np.sqrt(sampler.norms(rng, draws)) * rng.standard_normal(draws)


def draw_bias(sampler: OutputSampler, rng: np.random.Generator, draws: int) -> Array:
    """Return S - sigma."""
    return sampler.norms(rng, draws) - sampler.sigma


def draw_cumulant(sampler: OutputSampler, rng: np.random.Generator, draws: int) -> Array:
    """Return 3 (S - S')^2/2 for two independent networks, with mean 3 Var S."""
    return 1.5 * np.square(sampler.norms(rng, draws) - sampler.norms(rng, draws))


def draw_distance(sampler: OutputSampler, rng: np.random.Generator, draws: int) -> Array:
    """Return averages of k(S, S') over the pairs of a group, Y ~ N(0, sigma).

    Here k(s, t) = E [Phi(Y/sqrt(s)) - F(Y)] [Phi(Y/sqrt(t)) - F(Y)].

    E Phi(Y/sqrt(s)) Phi(Y/sqrt(t)) = 1/4 + asin(p q)/(2 pi) with p = sqrt(sigma/(s + sigma)), q the same at t, so that each product
    of independent norms is an unbiased draw of int (G - F)^2 dF.
    """
    norms = sampler.norms(rng, GROUP * draws).reshape(draws, GROUP)
    p = np.sqrt(sampler.sigma / (norms + sampler.sigma))
    row, column = np.triu_indices(GROUP, 1)
    pairs = np.arcsin(p[:, row] * p[:, column]).mean(axis=1)
    return np.asarray((pairs - 2 * np.arcsin(p * math.sqrt(0.5)).mean(axis=1) + math.pi / 6) / (2 * math.pi))
