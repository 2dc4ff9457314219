"""The posterior of one hidden layer on labels of the network itself: log Z and the predictor's loss from below and from above.

States are the preactivations of the N units in an orthonormal basis of the inputs' span, N(0, 1) under the prior; readouts are
integrated out, l(U) = log N(y; 0, T + K_U) - log p_action(y).  The layer that made the labels is an exact sample of the posterior:
annealed paths walked backwards from it bound log Z from above, paths from the prior from below
(:mod:`theoryck.numerics.annealing`).

Predictor.  Given U and y, f at a new input is N(mu, v).  With m = E (mu | y) the best loss is E (f - m)^2 = E v + E Var(mu | y),
and
    E (mu(U*) - mu(U_t))^2/2  <=  E Var(mu | y)  <=  E (mu(U*) - g(y))^2
for any g, and U_t any even number of reversible moves from U*: covariances along a reversible chain at even lags are not negative.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from theoryck.numerics.annealing.paths import Schedule, log_weights, move
from theoryck.numerics.annealing.tuning import ladder
from theoryck.theory.renormalisation.draws import log_densities, log_sum, root_of, scales
from theoryck.theory.renormalisation.model import NetworkTask

Array = NDArray[np.float64]

ANGLE = 0.25
"""Of a Hamiltonian step: between 80% and 95% are accepted at P = N = 4 to 16."""

AT_ONCE = 32
"""Data sets walked side by side."""


class Units:
    """l(U) of data sets with labels (sets, P) for a layer of ``width`` units; ``root`` (P, r) of the inputs' Gram matrix."""

    def __init__(self, task: NetworkTask, width: int, root: Array, labels: Array, offset: Array) -> None:
        self.task, self.width, self.root, self.labels, self.offset = task, width, root, labels, offset
        self.slope, self.scale = task.activation.derivative(), 1 / math.sqrt(task.strengths[1] * width)
        self.sets, self.dim, numbers = len(labels), width * root.shape[1], width * root.shape[0]
        self.piece = max(2**16 // numbers, 1)
        self.costs = 300.0 + 15.0 * numbers, 1500.0 + 40.0 * numbers

    def fields(self, states: Array) -> Array:
        """Return the preactivations (..., N, P)."""
        return np.asarray(states.reshape(*states.shape[:-1], self.width, -1) @ self.root.T)

    def log_ratio(self, states: Array) -> Array:
        """Return l (sets, chains) at ``states`` (sets, chains, dim)."""
        features = self.scale * self.task.activation(self.fields(states))
        kernels = np.swapaxes(features, -1, -2) @ features
        return log_densities(kernels, self.labels[:, None], self.task.temperature) - self.offset[:, None]

    def log_ratio_and_gradient(self, states: Array) -> tuple[Array, Array]:
        """Return l and dl/dU: dl = tr (alpha alpha^T - A^-1) dK/2, K = F^T F."""
        fields, count = self.fields(states), self.labels.shape[1]
        features = self.scale * self.task.activation(fields)
        whole = np.swapaxes(features, -1, -2) @ features + self.task.temperature * np.eye(count)
        inverse = np.linalg.inv(whole)
        alpha = inverse @ self.labels[:, None, :, None]
        fit = np.einsum("sp,scp->sc", self.labels, alpha[..., 0])
        level = -(fit + np.linalg.slogdet(whole)[1] + count * math.log(2 * math.pi)) / 2 - self.offset[:, None]
        back = features @ (alpha @ np.swapaxes(alpha, -1, -2) - inverse) * self.slope(fields) * self.scale
        return level, (back @ self.root).reshape(states.shape)


@dataclass(frozen=True)
class Setting:
    """A task, its width, and how far paths are walked: ``moves`` of each of ``paths``; new inputs (m, N_0) or none.

    ``process``: the Gaussian process is what the network is compared with, in place of the action.
    """

    task: NetworkTask
    width: int
    paths: int
    moves: int
    new: tuple[tuple[float, ...], ...] = ()
    process: bool = False

    @property
    def everywhere(self) -> NetworkTask:
        """The task at the new inputs too, with labels 0."""
        task, rows = self.task, [*self.task.inputs, *self.new]
        return NetworkTask(task.activation, [0.0] * len(rows), rows, temperature=task.temperature, precisions=task.strengths)

    @property
    def law(self) -> tuple[Array, Array]:
        """Nodes of t = chi^2_N/N and logarithms of their weights, or 1 alone."""
        return (np.ones(1), np.zeros(1)) if self.process else scales(self.width)

    def draw(self, rng: np.random.Generator, sets: int) -> tuple[Units, Array, Array]:
        """Return data sets of the network as a target, the states (sets, dim) that made them and the root at all inputs."""
        task, count = self.task, len(self.task.labels)
        root = root_of(self.everywhere.gram)
        root = root[:, np.abs(root).max(axis=0) > 1e-9 * np.abs(root).max()]
        states = rng.standard_normal((sets, self.width * root.shape[1]))
        features = task.activation(states.reshape(sets, self.width, -1) @ root[:count].T)
        readouts = rng.standard_normal((sets, 1, self.width)) / math.sqrt(task.strengths[1] * self.width)
        noise = math.sqrt(task.temperature) * rng.standard_normal((sets, count))
        labels = (readouts @ features)[:, 0] + noise
        return Units(task, self.width, root[:count], labels, self.compared(labels)), states, root

    def compared(self, labels: Array) -> Array:
        """Return log E_Q N(y; 0, T + Q K) of labels (sets, P), or log N(y; 0, T + K)."""
        t, weights = self.law
        values, vectors = np.linalg.eigh(self.task.kernel)
        whole = self.task.temperature + t[:, None] * values
        constant = weights - np.log(2 * math.pi * whole).sum(axis=1) / 2
        return np.array([log_sum(constant - ((vectors.T @ y) ** 2 / whole).sum(axis=1) / 2) for y in labels])


@dataclass(frozen=True)
class AnnealedSampler:
    """Draws log p(y) - log p_action(y): two ends and their middle (draws, 3), with p_action/p - 1, of mean 0, added."""

    setting: Setting

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        setting, found = self.setting, []
        schedule = Schedule(setting.paths, ladder(setting.moves + 1), ANGLE)
        for start in range(0, draws, AT_ONCE):
            target, states, _ = setting.draw(rng, min(AT_ONCE, draws - start))
            weights = log_weights(target, states, schedule, rng)
            control = np.expm1(-weights.high)
            ends = np.stack([weights.low, weights.high], axis=1) + control[:, None]
            found.append(np.column_stack([ends, ends.mean(axis=1)]))
        return np.concatenate(found)


@dataclass(frozen=True)
class LossSampler:
    """Draws of two ends and their middle (draws, 3): the best loss E (f - m)^2 at the new inputs, or with ``excess`` E (m - g)^2 of
    the predictor g of what the network is compared with, whose loss is larger by that.

    Chains from the layer that made the labels have a variance s^2 with E s^2 <= E Var(mu | y); an annealed mean takes the place
    of g in the upper end.  Their mean is mu, and (mean - g)^2 - s^2/chains and (mean - g)^2 - (mean - annealed)^2 are the ends of
    E (m - g)^2 with most of their noise in common.
    """

    setting: Setting
    excess: bool = False

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        return np.concatenate([self._some(rng, min(AT_ONCE, draws - start)) for start in range(0, draws, AT_ONCE)])

    def _some(self, rng: np.random.Generator, sets: int) -> Array:
        setting = self.setting
        target, states, root = setting.draw(rng, sets)
        count = len(setting.task.labels)
        at_all = Units(setting.task, setting.width, root, target.labels, target.offset)
        chains = np.repeat(states[:, None], setting.paths, axis=1)
        forward = rng.standard_normal(chains.shape)
        both = np.concatenate([chains, forward], axis=1)
        level, gradient = target.log_ratio_and_gradient(both)
        schedule = Schedule(2, ladder(setting.moves), ANGLE)
        b = np.ones((2 * setting.paths, 1))
        log, last = np.zeros((sets, setting.paths)), 0.0
        for now in schedule.temperatures:
            log += (now - last) * level[:, setting.paths :]
            b[setting.paths :], last = now, now
            both, level, gradient, _ = move(target, both, level, gradient, b, schedule, rng)
        mean, variance = predictor(at_all, both, count)
        exact, spread, other = mean[:, : setting.paths], variance[:, : setting.paths], mean[:, setting.paths :]
        weights = np.exp(log - log.max(axis=1, keepdims=True))
        annealed = np.einsum("sc,scm->sm", weights / weights.sum(axis=1, keepdims=True), other)
        middle, square = exact.mean(axis=1), exact.var(axis=1, ddof=1)
        if self.excess:
            away = (middle - self._guess(target.labels)) ** 2
            ends = away - (middle - annealed) ** 2, away - square / setting.paths
        else:
            whole = spread.mean(axis=1)
            ends = whole + square, whole + ((exact - annealed[:, None]) ** 2).mean(axis=1)
        low, high = (end.mean(axis=1) for end in ends)
        return np.column_stack([low, high, (low + high) / 2])

    def _guess(self, labels: Array) -> Array:
        """Return the predictor (sets, m) of the action's integral, or of the Gaussian process."""
        kernel, count = self.setting.everywhere.kernel, labels.shape[1]
        values, vectors = np.linalg.eigh(kernel[:count, :count])
        turned, cross = labels @ vectors, vectors.T @ kernel[:count, count:]
        t, logs = self.setting.law
        whole = self.setting.task.temperature + t[:, None] * values
        level = logs - np.log(whole).sum(axis=1) / 2 - (turned[:, None] ** 2 / whole).sum(axis=2) / 2
        share = np.exp(level - level.max(axis=1, keepdims=True))
        share /= share.sum(axis=1, keepdims=True)
        return np.asarray((share[:, None] @ ((turned[:, None] * t[:, None] / whole) @ cross))[:, 0])


def predictor(at_all: Units, states: Array, count: int) -> tuple[Array, Array]:
    """Return mean and variance (sets, chains, m) of f at the inputs after the first ``count`` given U and the labels."""
    features = at_all.scale * at_all.task.activation(at_all.fields(states))
    kernels = np.swapaxes(features, -1, -2) @ features
    whole = kernels[..., :count, :count] + at_all.task.temperature * np.eye(count)
    solved = np.linalg.solve(whole, kernels[..., :count, count:])
    mean = np.einsum("sp,scpm->scm", at_all.labels, solved)
    own = np.diagonal(kernels, axis1=-2, axis2=-1)[..., count:]
    return mean, own - np.einsum("scpm,scpm->scm", kernels[..., :count, count:], solved)
