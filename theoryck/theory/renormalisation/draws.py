"""Draws of Bayesian networks: densities of the labels given the weights of the hidden layers, over that of the Gaussian process.

Given the hidden layers f = (lambda_L N_L)^(-1/2) a.x_L is Gaussian, so that p(y | W) = N(y; 0, T + K_W) with K_W the Gram matrix of
x_L/(lambda_L N_L)^(1/2): the readout is never drawn.  Linear layers act through t = prod chi^2/N alone.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from theoryck.numerics.annealing.paths import log_mean_exp
from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.gaussian.kernels import LayerKernel
from theoryck.theory.renormalisation.cumulant import contraction, gaussian_contraction
from theoryck.theory.renormalisation.model import NetworkTask

Array = NDArray[np.float64]

AT_ONCE = 2**20
"""Numbers held at once."""


def log_densities(kernels: Array, labels: Array, temperature: float) -> Array:
    """Return log N(y; 0, T + K) for kernels (..., P, P), by Cholesky factors.

    >>> log_densities(np.zeros((1, 1)), np.array([0.0]), 1 / (2 * np.pi)).tolist()
    0.0
    """
    count = labels.shape[-1]
    root = np.linalg.cholesky(kernels + temperature * np.eye(count))
    solved = np.linalg.solve(root, np.broadcast_to(labels, root.shape[:-1])[..., None])[..., 0]
    diagonal = np.diagonal(root, axis1=-2, axis2=-1)
    return np.asarray(-(solved**2).sum(axis=-1) / 2 - np.log(diagonal).sum(axis=-1) - count / 2 * math.log(2 * math.pi))


def kernels_of(task: NetworkTask, width: int, rng: np.random.Generator, count: int) -> Array:
    """Return K_W (count, P, P) of networks with all hidden layers of ``width`` units, weights from the prior."""
    gram = task.gram
    if task.activation.properties.linear.value and task.activation(np.zeros(1))[0] == 0:
        slope = float(task.activation(np.ones(1))[0]) ** 2
        scale = np.prod(rng.chisquare(width, (task.depth, count)) / width, axis=0)
        return np.asarray(scale[:, None, None] * gram * math.prod(slope / each for each in task.strengths[1:]))
    # The preactivations of a layer given the one below are Gaussian with its Gram matrix: no weight is drawn.
    root = np.broadcast_to(root_of(gram), (count, *gram.shape))
    for precision in task.strengths[1:]:
        # A product of thin matrices is faster flat.
        normal = rng.standard_normal((count, width, gram.shape[0]))
        features = task.activation(normal @ np.swapaxes(root, -1, -2))
        kernels = np.swapaxes(features, -1, -2) @ features / (precision * width)
        if precision is not task.strengths[-1] or task.depth > 1:
            root = root_of(kernels)
    return np.asarray(kernels)


def root_of(gram: Array) -> Array:
    """Return R with R R^T = ``gram`` (..., n, n), also where it is singular."""
    values, vectors = np.linalg.eigh(gram)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0))[..., None, :])


@dataclass(frozen=True)
class RatioSampler:
    """Draws N(y; 0, T + K_W)/N(y; 0, T + K), of mean Z/Z_GP, or N times its difference from 1."""

    task: NetworkTask
    width: int
    times_width: bool = False

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        task = self.task
        labels = np.array(task.labels)
        base = float(log_densities(task.kernel, labels, task.temperature))
        once = max(AT_ONCE // (len(labels) * (self.width + len(labels))), 1)
        found = []
        for start in range(0, draws, once):
            kernels = kernels_of(task, self.width, rng, min(once, draws - start))
            found.append(np.exp(log_densities(kernels, labels, task.temperature) - base))
        ratio = np.concatenate(found)
        return self.width * (ratio - 1) if self.times_width else ratio


@dataclass(frozen=True)
class DivergenceSampler:
    """Draws, for labels of the network itself, log p(y) - log E_Q N(y; 0, T + Q K): two ends and their middle (draws, 3).

    The network that made the labels is an exact sample of the posterior: the mean of p(y | W) over it and ``others`` networks of
    the prior is too large on average, without it too small, in the logarithm; a term of mean 0 takes most of the variance.
    """

    task: NetworkTask
    width: int
    others: int

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        task, count = self.task, len(self.task.labels)
        t, weights = scales(self.width)
        values, vectors = np.linalg.eigh(task.kernel)
        whole = task.temperature + t[:, None] * values
        result = np.empty((draws, 3))
        for row in range(draws):
            kernels = kernels_of(task, self.width, rng, self.others + 1)
            noise = math.sqrt(task.temperature) * rng.standard_normal(count)
            labels = root_of(kernels[0]) @ rng.standard_normal(count) + noise
            level = log_densities(kernels, labels, task.temperature)
            power = (vectors.T @ labels) ** 2
            action = log_sum(weights - (power / whole + np.log(2 * math.pi * whole)).sum(axis=1) / 2)
            low, high = log_mean_exp(level[1:]) - action, log_mean_exp(level) - action
            # E exp(-high) = 1: given y it is p_action/p in the mean, by the exact posterior sample, and p_action is a density.
            control = math.expm1(-high)
            result[row] = low + control, high + control, (low + high) / 2 + control
        return result


def log_sum(values: Array) -> float:
    """Return log sum exp."""
    top = float(values.max())
    return top + math.log(float(np.exp(values - top).sum()))


def scales(width: int) -> tuple[Array, Array]:
    """Return nodes of t = chi^2_N/N and the logarithms of their weights, by the trapezoidal rule in log t.

    >>> t, weights = scales(8)
    >>> bool(abs(np.exp(weights) @ t - 1) < 1e-10)
    True
    """
    a = width / 2
    step = 0.35 / math.sqrt(a + 1)
    u = step * np.arange(-400, 401)
    level = a * (u - np.expm1(u))
    keep = level > -60
    u, level = u[keep], level[keep]
    return np.exp(u), level - log_sum(level)


@dataclass(frozen=True)
class OrthogonalSampler:
    """Draws Z/E_Q N(y; 0, T + Q sigma) on P = alpha N orthogonal inputs, labels of one magnitude, phi odd: a given its square.

    Given the readout a the outputs are independent, of characteristic function prod_i chi(a_i w/N^(1/2)) with chi(s) = E cos(s
    phi(z)).  Q is drawn from the law that the action has, the direction of a is uniform.
    """

    activation: Activation
    count: int
    width: int
    temperature: float
    label: float

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        sigma, _, _ = transform(self.activation, 1)
        heat, y = self.temperature, self.label
        t, weights = scales(self.width)
        v = heat + t * sigma
        level = weights - self.count / 2 * (y * y / v + np.log(v))
        share = np.exp(level - log_sum(level))
        # Nodes of a rule that is exact to rounding stand for the law of Q.
        orders = t[rng.choice(len(t), size=draws, p=share)]
        # A step of 0.3 folds back what lies 20 standard deviations away; Gaussian outputs have nothing beyond 10.
        top = min(9.0 / math.sqrt(heat), 18.0 / math.sqrt(heat + sigma * float(orders.min())))
        count = max(math.ceil(top * math.sqrt(heat + sigma * float(orders.max())) / 0.3), 60)
        w = (np.arange(count) + 0.5) * top / count
        _, chi, step = transform(self.activation, math.ceil(top * math.sqrt(orders.max())) + 1)
        result = np.empty(draws)
        once = max(AT_ONCE // (self.width * len(w)), 1)
        for start in range(0, draws, once):
            q = orders[start : start + once]
            a = rng.standard_normal((len(q), self.width))
            a *= np.sqrt(q / (a**2).sum(axis=1))[:, None]
            product = np.prod(cubic(chi, np.abs(a)[:, :, None] * w, step), axis=1)
            p = product @ (np.cos(w * y) * np.exp(-heat * w * w / 2)) * (top / count) / math.pi
            v = heat + q * sigma
            gauss = np.exp(-y * y / (2 * v)) / np.sqrt(2 * math.pi * v)
            result[start : start + once] = (p / gauss) ** self.count
        return result


@functools.lru_cache(maxsize=64)
def transform(activation: Activation, reach: int) -> tuple[float, Array, float]:
    """Return E phi(z)^2, chi(s) = E cos(s phi(z)) at s = 0, step, ... to ``reach``, and the step, z ~ N(0, 1).

    An even number of nodes in z has none at 0, where odd functions may jump.
    """
    z = np.linspace(-8.5, 8.5, 1200)
    density = np.exp(-z * z / 2)
    density /= density.sum()
    values, step = activation(z), 0.01
    grid = step * np.arange(math.ceil(reach / step) + 3)
    chi = np.concatenate([np.cos(np.outer(part, values)) @ density for part in np.array_split(grid, len(grid) // 256 + 1)])
    return float(density @ values**2), chi, step


def cubic(table: Array, points: Array, step: float) -> Array:
    """Return an even function from its ``table`` at 0, step, 2 step, ... by cubic interpolation."""
    place = points / step
    k = np.minimum(place.astype(np.int64), len(table) - 3)
    x = place - k
    before, here, after, last = table[np.abs(k - 1)], table[k], table[k + 1], table[k + 2]
    left = (after - before) / 2
    right = (last - here) / 2
    rise = after - here
    return np.asarray(here + x * (left + x * (3 * rise - 2 * left - right + x * (left + right - 2 * rise))))


@dataclass(frozen=True)
class MissingSampler:
    """Draws (E H - 3 W)/8, the part of N log Z that the action misses: inputs N(0, 1), labels +-y, ``inner`` units a draw.

    Two parts of known mean take most of the noise of units: E q = tr A K and E z^2 = y^T A K A y, times the slopes that H has for
    Gaussian features, and H itself for the linear part rho u of the features, u the Gaussian preactivations.
    """

    activation: Activation
    count: int
    dim: int
    temperature: float
    label: float
    inner: int

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        layer, result = LayerKernel(self.activation), np.empty(draws)
        for row in range(draws):
            x = rng.standard_normal((self.count, self.dim)) / math.sqrt(self.dim)
            y = self.label * rng.choice([-1.0, 1.0], self.count)
            gram = x @ x.T
            # The preactivations of a unit are N(0, gram): as many normal variables as the smaller of P and N_0.
            root = x if self.dim <= self.count else root_of(gram)
            fields = rng.standard_normal((self.inner, root.shape[1])) @ root.T
            kernel, heat = layer(gram), self.temperature
            rho = self._slopes(np.diagonal(gram))
            line = rho[:, None] * gram * rho
            units = contraction(kernel, y, heat, self.activation(fields), kernel) - contraction(kernel, y, heat, rho * fields, line)
            mean = units.mean() + 3 * gaussian_contraction(kernel, y, heat, line)
            result[row] = (mean - 3 * gaussian_contraction(kernel, y, heat)) / 8
        return result

    def _slopes(self, variances: Array) -> Array:
        """Return about E phi'(u): any number keeps the mean."""
        nodes, weights = np.polynomial.hermite_e.hermegauss(24)
        roots = np.sqrt(np.maximum(variances, 1e-300))[:, None]
        return np.asarray(self.activation(roots * nodes) @ (weights * nodes) / (roots[:, 0] * weights.sum()))
