"""Nishimori identities of a network's posterior, tested along Markov chains that start at the teacher.

Given the data D, the teacher's weights W* are an exact sample of the posterior, so that a chain which leaves the posterior
invariant and starts at W* has, at every step k, the law of (W*, D): no step is lost to reaching equilibrium, and for every q
    E q(W_k, a_k; D) = E q(W*, a*; D),
with the readout a_k drawn from its Gaussian law given W_k and D (here: averaged over it).  The statistics q of a :class:`Statistic`
are those of the generalisation problem; a chain whose moves are not exact, or a student who believes in another noise, breaks them.
Moves are those of :mod:`theoryck.numerics.annealing.paths` at temperature 1: rotations that keep the Gaussian prior, kicks along
the gradient of the likelihood, and an accept step.
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from theoryck.numerics.annealing.paths import Schedule, move
from theoryck.theory.learning.draws.network_target import NetworkTarget, costs, last_layer
from theoryck.theory.learning.draws.regression import NUMBERS_PER_SECOND, base_predictor, draw_points
from theoryck.theory.learning.problem import Problem

Array = NDArray[np.float64]

MOVES = 16
ANGLE = 0.3
LEAPS = 3
PIECE_NUMBERS = 1 << 14
"""Entries of the largest array of a piece of data sets: 128 KiB."""


class Statistic(enum.Enum):
    """What is compared between the chain and the teacher; the expectation over the readout given W and D is taken exactly."""

    LIKELIHOOD = "likelihood"
    """log N(Y; 0, K_W + Delta): E <l> = E l(W*)."""
    RESIDUAL = "residual"
    """|Y - a . x_L(X)|^2 / n, the training error: E <|Y - a . x|^2> = n Delta."""
    ALIGNMENT = "alignment"
    """(a . x_L(x_new)) m_B(D): E <s> m = E s* m for every predictor m of the data; here m_B is the base linear one."""
    POWER = "power"
    """(a . x_L(x_new))^2, the power of the predicted signal: E <s^2> = E s*^2."""


@dataclass(frozen=True)
class _Drawn:
    """Data sets (sets) with their teachers: X, new inputs, Y, weights, signals at X and at the new inputs, m_B there."""

    inputs: Array
    new: Array
    outputs: Array
    weights: list[Array]
    residual: Array
    signal: Array
    base: Array


def _draw(problem: Problem, rng: np.random.Generator, sets: int, new: int) -> _Drawn:
    points = draw_points(problem, rng, sets, new)
    weights = [rng.standard_normal((sets, rows, below)) for rows, below in zip(problem.widths[1:], problem.widths[:-1])]
    readout = rng.standard_normal((sets, problem.widths[-1]))
    noise = math.sqrt(problem.noise) * rng.standard_normal((sets, problem.n))
    signal = np.einsum("sin,si->sn", last_layer(problem.activation, points.inputs, weights), readout)
    fresh = np.einsum("sim,si->sm", last_layer(problem.activation, points.new, weights), readout)
    outputs = signal + noise
    base = np.einsum("sim,si->sm", base_predictor(problem, points).weights, outputs)
    return _Drawn(points.inputs, points.new, outputs, weights, np.square(noise).sum(axis=1), fresh, base)


def _target(problem: Problem, found: _Drawn, student_noise: float) -> NetworkTarget:
    offset = np.zeros(len(found.inputs))
    return NetworkTarget(problem.activation, problem.widths, found.inputs, found.outputs, student_noise, offset)


@dataclass(frozen=True)
class _Readout:
    """The Gaussian law of the readout given W and D through what the statistics need: features, A^(-1) Y and A^(-1)."""

    x: Array
    fresh: Array
    solved: Array
    inverse: Array


def _readout(problem: Problem, found: _Drawn, weights: list[Array], student_noise: float) -> _Readout:
    x, fresh = (last_layer(problem.activation, points, weights) for points in (found.inputs, found.new))
    # A = x x^T + Delta; a given W and D is N(A^(-1) x Y, Delta A^(-1)).
    gram = x @ np.swapaxes(x, -1, -2) + student_noise * np.eye(x.shape[-2])
    inverse: Array = np.asarray(np.linalg.inv(gram), dtype=np.float64)
    return _Readout(x, fresh, np.einsum("sij,sjn,sn->si", inverse, x, found.outputs, optimize=True), inverse)


def _difference(statistic: Statistic, problem: Problem, found: _Drawn, weights: list[Array], student_noise: float) -> Array:
    """Return q(W, .; D) averaged over the readout, less its value at the teacher (sets,)."""
    law = _readout(problem, found, weights, student_noise)
    if statistic is Statistic.RESIDUAL:
        left = found.outputs - np.einsum("sin,si->sn", law.x, law.solved)
        spread = student_noise * np.einsum("sin,sij,sjn->s", law.x, law.inverse, law.x, optimize=True)
        value: Array = (np.square(left).sum(axis=1) + spread - found.residual) / problem.n
        return value
    mean = np.einsum("sim,si->sm", law.fresh, law.solved)
    if statistic is Statistic.ALIGNMENT:
        aligned: Array = ((mean - found.signal) * found.base).mean(axis=1)
        return aligned
    variance = student_noise * np.einsum("sim,sij,sjm->sm", law.fresh, law.inverse, law.fresh, optimize=True)
    power: Array = (mean**2 + variance - found.signal**2).mean(axis=1)
    return power


@dataclass(frozen=True)
class NishimoriDefect:
    """One-sided draws (draws,) of q(W_k, a_k; D) - q(W*, a*; D): mean 0 for every k when the student's noise is the true one.

    A draw is one data set with one chain of ``schedule`` moves, and n new inputs.
    """

    problem: Problem
    statistic: Statistic
    moves: int
    student_noise: float
    schedule: Schedule
    version: int = 1

    def __post_init__(self) -> None:
        if self.moves < 0:
            raise ValueError(f"moves must be at least 0, got {self.moves}")
        if self.moves == 0 and self.statistic is Statistic.LIKELIHOOD:
            raise ValueError(
                f"moves must be at least 1 for the likelihood, got {self.moves}: at the teacher it is compared with itself"
            )
        if not self.student_noise > 0:
            raise ValueError(f"student_noise is a variance: it must be > 0, got {self.student_noise!r}")

    @property
    def cost(self) -> float:
        """Random-number equivalents per draw: .07 per nanosecond, by the formula of the target for the gradients of all moves."""
        n, d = self.problem.n, self.problem.widths[0]
        _, gradient = costs(self.problem.widths, n)
        fixed = 20000.0 + 20.0 * d * n + 300.0 * n * n + 4.0 * self.problem.widths[-1] ** 3
        return ((1 + self.moves * self.schedule.leaps) * gradient + fixed) * NUMBERS_PER_SECOND / 1e9

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` independent values (draws,)."""
        widths, result = self.problem.widths, np.empty(draws)
        step = max(PIECE_NUMBERS // (max(widths) * max(*widths, self.problem.n)), 1)
        for start in range(0, draws, step):
            stop = min(start + step, draws)
            result[start:stop] = self._draw(rng, stop - start)
        return result

    def _draw(self, rng: np.random.Generator, sets: int) -> Array:
        found = _draw(self.problem, rng, sets, self.problem.n)
        target = _target(self.problem, found, self.student_noise)
        states = target.coordinates(found.weights)[:, None]
        first, gradients = target.log_ratio_and_gradient(states)
        values, now = first, np.ones((1, 1))
        for _ in range(self.moves):
            states, values, gradients, _ = move(target, states, values, gradients, now, self.schedule, rng)
        if self.statistic is Statistic.LIKELIHOOD:
            change: Array = (values - first)[:, 0]
            return change
        weights, start = [], 0
        for rows, below in target.shapes:
            weights.append(states[:, 0, start : start + rows * below].reshape(sets, rows, below))
            start += rows * below
        return _difference(self.statistic, self.problem, found, weights, self.student_noise)


def nishimori_defect(
    problem: Problem, statistic: str = "residual", moves: int = MOVES, student_noise: float | None = None
) -> NishimoriDefect:
    """Return the sampler of E q(W_k, a_k; D) - E q(W*, a*; D), 0 for the student who knows the noise.

    ``statistic`` is "likelihood", "residual", "alignment" or "power" (:class:`Statistic`), k = ``moves``; ``student_noise`` is what
    the student believes, the truth if not given.
    """
    believed = problem.noise if student_noise is None else student_noise
    return NishimoriDefect(problem, Statistic(statistic), moves, believed, Schedule(2, (1.0,), ANGLE, LEAPS))
