"""Bayes errors E (Y_new - E[Y_new | D, x_new])^2 for any readout, from below and from above, by posterior chains.

Let g(theta) be the prediction of a new output, P a reversible move that leaves the posterior invariant, Q a mean of even powers of
P, so that 0 <= Q <= 1.  Chains that start at the teacher, an exact sample of the posterior, stay distributed as the posterior.
With two of them, A and B, and their means g_A, g_B,
    E[mean g^2 - g_A g_B | D] = Var(g | D) - |Q (g - E g)|^2 <= Var(g | D).
With means g_C, g_D of chains that start anywhere else, independently of each other and of A and B given D,
    E[mean (g - g_C)(g - g_D) | D] = Var(g | D) + (E g_C - E[g | D])^2 >= Var(g | D),       the outer mean over A and B.
So one error is too small and the other too large by what the chains have not forgotten, and neither by their noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from theoryck.numerics.annealing.paths import Schedule, move
from theoryck.theory.learning.draws.readout_data import Normals, Posterior, draw_normals, draw_teacher, linear_root, posterior
from theoryck.theory.learning.draws.readout_model import ReadoutModel
from theoryck.theory.learning.draws.readout_target import LinearTarget, NetworkTarget

Array = NDArray[np.float64]

PER_NANOSECOND = 0.07
NEW_INPUTS = 8
"""New inputs per data set."""

SETS = 16
"""Data sets that are treated together."""

NODES = np.linspace(-6.0, 6.0, 37)
WEIGHTS = np.exp(-0.5 * NODES**2) / np.exp(-0.5 * NODES**2).sum()
"""The trapezoidal rule for a Gaussian expectation: its error for the Gaussian alone is exp(-2 pi^2 / (1/3)^2) at this spacing."""


@dataclass(frozen=True)
class Chains:
    """``starts`` chains in each half that starts away from the teacher, ``warm`` temperatures up to 1, then ``records`` values of g
    that lie two moves of ``leaps`` steps of ``angle`` apart."""

    starts: int = 2
    warm: int = 8
    records: int = 16
    angle: float = 0.3
    leaps: int = 4

    def __post_init__(self) -> None:
        if self.starts < 1 or self.warm < 2 or self.warm % 2 or self.records < 1:
            raise ValueError(f"starts and records must be at least 1 and warm an even number of moves >= 2, got {self!r}")


class LinearPredictor:
    """E[f(z_new) | s] of the linear model, and the mean over s of what f(z_new) varies then."""

    def __init__(self, model: ReadoutModel, target: LinearTarget, inputs: Array, new: Array) -> None:
        eta, gamma = model.slope_and_rest
        self.readout = model.readout
        if gamma == 0 and model.n >= model.widths[0]:
            slope = eta * np.swapaxes(new, -1, -2)
        else:
            # z = B s, Cov(z_new, z) = c: E[z_new | z] = c^T C^(-1) B s = c^T B^(-T) s.
            cross = eta**2 * (np.swapaxes(inputs, -1, -2) @ new)
            slope = np.swapaxes(np.linalg.solve(linear_root(model, inputs), cross), -1, -2)
        total = eta**2 * np.einsum("sij,sij->sj", new, new) + gamma
        # Differences of equal numbers may come out below 0 by rounding.
        self.deviation = np.sqrt(np.maximum(total - np.einsum("sjm,sjm->sj", slope, slope), 0.0))
        # s = mean + H^(-T) s'.
        self.shift = np.einsum("sjm,sm->sj", slope, target.mean)
        self.slope = np.matmul(target.inverse_factor, np.swapaxes(slope, -1, -2))

    def __call__(self, states: Array) -> Array:
        """Return E[f(z_new) | s] (sets, chains, new)."""
        return np.asarray(self._values(states) @ WEIGHTS)

    def rest(self, states: Array) -> Array:
        """Return Var(f(z_new) | s) (sets, chains, new)."""
        values = self._values(states)
        mean = values @ WEIGHTS
        return np.asarray(np.square(values - mean[..., None]) @ WEIGHTS)

    def _values(self, states: Array) -> Array:
        z = np.matmul(states, self.slope) + self.shift[:, None]
        return np.asarray(self.readout(z[..., None] + self.deviation[:, None, :, None] * NODES))


class NetworkPredictor:
    """f(a . x_L(x_new)) of a network; nothing of it varies given the state."""

    def __init__(self, model: ReadoutModel, target: NetworkTarget, new: Array) -> None:
        self.readout, self.target = model.readout, target
        self.new = new if target.proposal is None else np.swapaxes(target.proposal.factor, -1, -2) @ new

    def __call__(self, states: Array) -> Array:
        """Return f(z_new) (sets, chains, new)."""
        return np.asarray(self.readout(self.target.new_preactivations(states, self.new)))

    def rest(self, states: Array) -> Array:
        """Return 0."""
        return np.zeros((*states.shape[:2], self.new.shape[-1]))


@dataclass(frozen=True, slots=True)
class GeneralisationError:
    """E (Y_new - E[Y_new | D, x_new])^2, Delta included, two-sided: of a network (time 0) or a linear model (time 1, depth 0).

    >>> from theoryck.numerics.functions.activation import Activation
    >>> model = ReadoutModel((4,), 4, 0.2, Activation("x"), Activation("tanh(2*x)"))
    >>> values = GeneralisationError(model)(np.random.Generator(np.random.SFC64(1)), 10)
    >>> values.shape, bool(0.2 < values[:, 2].mean() < 0.8)
    ((10, 3), True)
    """

    model: ReadoutModel
    chains: Chains = Chains()
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        _check_time(self.model)

    @property
    def cost(self) -> float:
        """Time of a draw in units of 1/7e7 seconds."""
        return error_cost(self.model, self.chains)

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` independent rows (low, high, estimate)."""
        values = np.empty((draws, 3))
        for start in range(0, draws, SETS):
            part = slice(start, min(start + SETS, draws))
            normals, new = _inputs(self.model, rng, part.stop - part.start)
            values[part] = errors(self.model, normals, new, self.chains, rng)
        return values


@dataclass(frozen=True, slots=True)
class GeneralisationGap:
    """E^(L) - E^(0), two-sided; both models share the inputs and the normals of a data set."""

    model: ReadoutModel
    chains: Chains = Chains()
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        _check_time(self.model)

    @property
    def cost(self) -> float:
        """Time of a draw in units of 1/7e7 seconds."""
        return error_cost(self.model, self.chains) + error_cost(self.model.linear, self.chains)

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` independent rows (low, high, estimate)."""
        values = np.empty((draws, 3))
        for start in range(0, draws, SETS):
            part = slice(start, min(start + SETS, draws))
            normals, new = _inputs(self.model, rng, part.stop - part.start)
            network = errors(self.model, normals, new, self.chains, rng)
            linear = errors(self.model.linear, normals, new, self.chains, rng)
            values[part] = network - linear[:, [1, 0, 2]]
        return values


def _check_time(model: ReadoutModel) -> None:
    if model.has_network and model.has_gaussian:
        raise ValueError(f"time must be 0 (the network) or 1 (the linear model) for an error, got {model.time!r}")


def _inputs(model: ReadoutModel, rng: np.random.Generator, sets: int) -> tuple[Normals, Array]:
    normals = draw_normals(model, rng, sets)
    return normals, rng.standard_normal((sets, model.widths[0], NEW_INPUTS)) / math.sqrt(model.widths[0])


def error_cost(model: ReadoutModel, chains: Chains) -> float:
    """Return the cost of one data set with its error, in units of 1/7e7 seconds."""
    moves = chains.warm + 2 * chains.records
    per_record = NEW_INPUTS * (900.0 if not model.has_network else 20.0 * sum(model.widths[1:]))
    work = moves * chains.leaps * model.costs[1] + chains.records * per_record
    return PER_NANOSECOND * (model.set_cost + (2 + 2 * chains.starts) * work)


def errors(model: ReadoutModel, normals: Normals, new: Array, chains: Chains, rng: np.random.Generator) -> Array:
    """Return rows (low, high, estimate) (sets, 3), each a mean over the new inputs ``new`` (sets, d_0, new)."""
    data = posterior(model, draw_teacher(model, normals, rng), rng)
    predict: LinearPredictor | NetworkPredictor
    if isinstance(data.target, NetworkTarget):
        predict = NetworkPredictor(model, data.target, new)
    else:
        predict = LinearPredictor(model, data.target, normals.inputs, new)
    means, square, rest = predictions(data, predict, chains, rng)
    half = 2 + chains.starts
    a, b, c, d = means[:, 0], means[:, 1], means[:, 2:half].mean(axis=1), means[:, half:].mean(axis=1)
    low = model.noise + rest + (square - a * b).mean(axis=-1)
    high = model.noise + rest + (square - 0.5 * (a + b) * (c + d) + c * d).mean(axis=-1)
    return np.stack([low, high, 0.5 * (low + high)], axis=1)


def predictions(
    data: Posterior, predict: LinearPredictor | NetworkPredictor, chains: Chains, rng: np.random.Generator
) -> tuple[Array, Array, Array]:
    """Return the mean prediction (sets, chains, new) of every chain, two that start at the teacher, then both halves; and over the
    first two the mean of g^2 (sets, new) and of what f(z_new) varies given the state (sets,)."""
    target = data.target
    count = 2 + 2 * chains.starts
    schedule = Schedule(2, (1.0,), chains.angle, chains.leaps)
    states = rng.standard_normal((target.sets, count, target.dim))
    states[:, :2] = data.teachers[:, None]
    values, gradients = target.log_ratio_and_gradient(states)
    b = np.ones((count, 1))
    for k in range(chains.warm):
        b[2:] = (k + 1.0) / chains.warm
        states, values, gradients, _ = move(target, states, values, gradients, b, schedule, rng)
    total, square, rest = np.zeros(1), np.zeros(1), np.zeros(1)
    for record in range(chains.records):
        if record:
            for _ in range(2):
                states, values, gradients, _ = move(target, states, values, gradients, b, schedule, rng)
        found = predict(states)
        total = total + found
        square = square + np.square(found[:, :2]).mean(axis=1)
        rest = rest + predict.rest(states[:, :2]).mean(axis=(1, 2))
    return total / chains.records, square / chains.records, rest / chains.records
