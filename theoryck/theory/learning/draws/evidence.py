"""Evidence of nonlinear networks with linear readout, from both sides: free entropy, mutual information, and the gap to the GLM.

With r = P(Y | X) / N(Y; 0, C_B), C_B the covariance of an infinitely wide network
(:mod:`theoryck.theory.learning.draws.network_data`),
    gap  I^(L) - I^(0) = E T(X) - KL,     I^(L) = E T'(X) - KL,     KL = E log r,
where T and T' need inputs only.  Since E[1/r] = 1 over data of the network, KL = E[log r + 1/r - 1]: an integrand >= 0 and of
second order in r - 1.  The paths of :mod:`theoryck.numerics.annealing.paths` give log R >= log r in the mean and E[1/R] = 1/r
exactly, WITH THE SAME R, so that the noise of R, too, enters to second order only.  Rare data with large |Y| make most of it, so
these are chosen more often and count less.  T is averaged over more inputs, minus control variates.

Samplers are called as ``sampler(rng, draws)``; a draw is one data set, and the columns are low, high and the best value, which is
their middle: log mean exp is below by half its relative variance per path and above by the same amount, to first order.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from theoryck.montecarlo.seeds import block_generator
from theoryck.numerics.annealing.paths import Schedule, log_mean_exp, log_weights
from theoryck.numerics.annealing.tuning import PLAIN_PATHS, Tuned, tune
from theoryck.quantities.base import NANOSECONDS_PER_NUMBER
from theoryck.quantities.pilots import Once, Pilot
from theoryck.theory.learning.draws.network_data import (
    InputTerm,
    Posterior,
    as_target,
    candidate_nanoseconds,
    candidates,
    fit_controls,
    input_nanoseconds,
    pilot_key,
    posterior,
    select,
)
from theoryck.theory.learning.draws.network_target import NetworkTarget, piece_of
from theoryck.theory.learning.problem import Problem

Array = NDArray[np.float64]

LIMIT = 5e9
"""Nanoseconds that one data set may take."""

WIDTH, VARIANCE_WIDTH = 0.01, 0.05
"""Nats: the width at which brackets aim, and that at which a variance does."""

LARGEST_CONTROLLED = 0.5
"""1/r - 1 is used as a control variate up to this KL (nats): far beyond, E[1/r] = 1 is made by data that are never drawn."""

COVARIANCE_PILOT = 64
"""Inputs X, with a generator of their own, to which the coefficients of the control variates are fitted."""

WORKING = 2**17
"""Entries of a stack of n x n matrices."""

PILOT_NANOSECONDS = 3e8
PILOT_INPUTS = 256
TILT_SETS = 16
GROUP = 8
MOST_AT_ONCE = 32


@dataclass(frozen=True)
class Control:
    """How log r is weighted down to less variance: whether 1/r - 1 is added, the coefficient of the energy, a constant near KL."""

    inverse: bool
    energy: float
    centre: float


@dataclass(frozen=True)
class Plan:
    """What the pilot fixed.

    The schedule, whether the proposal is tilted, candidates per data set, control variates of the KL, the standard deviation of the
    KL of one data set with them, and nanoseconds that its paths take by formula.
    """

    schedule: Schedule
    tilted: bool
    candidates: int
    control: Control
    spread: float
    nanoseconds: float


@dataclass(frozen=True)
class InputPlan:
    """Inputs X per draw over which T is averaged, and the coefficients of its control variates."""

    count: int
    coefficients: tuple[float, ...]
    nanoseconds: float


def _make(problem: Problem, tilted: bool, rng: np.random.Generator, sets: int) -> tuple[NetworkTarget, Array]:
    drawn = posterior(problem, rng, sets, tilted)
    return drawn.target, drawn.teachers


def _generator(problem: Problem, purpose: str) -> np.random.Generator:
    return block_generator(0, f"annealing pilot: {purpose}", pilot_key(problem), {}, 0)


@Once
def plan(problem: Problem, target_width: float) -> Plan:
    """Return the fixed schedule for ``problem``: a pilot with its own generator, so that equal settings have equal draws."""
    rng = _generator(problem, "schedule")
    tilted = _spread(problem, True, rng) < _spread(problem, False, rng)
    tuned = tune(functools.partial(_make, problem, tilted), target_width, LIMIT, rng)
    count = candidates(problem, tuned.cost)
    return Plan(tuned.schedule, tilted, count, *_control(problem, tuned, tilted, count, rng), tuned.cost)


@Once
def input_plan(term: InputTerm, chosen: Plan) -> InputPlan:
    """Return over how many X to average T, and the coefficients of its control variates, fitted to inputs of the pilot's own."""
    rng = _generator(term.problem, "inputs")
    values, controls = term.values(rng, PILOT_INPUTS)
    coefficients, residual = fit_controls(values, controls)
    each = input_nanoseconds(term.problem)
    # Least variance for the time: minimise (residual/m + spread^2) (m each + set).
    data_set = chosen.nanoseconds + _chosen_cost(term.problem, chosen.candidates)
    best = math.sqrt(residual * data_set / (each * max(chosen.spread**2, 1e-12)))
    count = int(min(max(round(best), 1), 256))
    return InputPlan(count, coefficients, count * each)


def pilots(problem: Problem, against_noise: bool, target_width: float = WIDTH) -> list[Pilot]:
    """Return what is still to be found out before an EvidenceSampler can be made: its schedule first, then its inputs."""
    return plan.missing(problem, target_width) or input_plan.missing(InputTerm(problem, against_noise), plan(problem, target_width))


def variance_pilots(problem: Problem, target_width: float = VARIANCE_WIDTH) -> list[Pilot]:
    """Return what is still to be found out before a VarianceSampler can be made."""
    return plan.missing(problem, target_width)


def _spread(problem: Problem, tilted: bool, rng: np.random.Generator) -> float:
    """Return the mean variance of the log weights of prior draws: steadier over few data sets than the excess, which has a tail."""
    total = 0.0
    for _ in range(TILT_SETS):
        target, teachers = _make(problem, tilted, rng, 1)
        total += float(log_weights(target, teachers, Schedule(PLAIN_PATHS), rng).log[:, 1:].var())
    return total / TILT_SETS


def _control(problem: Problem, tuned: Tuned, tilted: bool, count: int, rng: np.random.Generator) -> tuple[Control, float]:
    """Return which control variates serve best, and the standard deviation of the KL of one data set with them."""
    sets = int(min(max(PILOT_NANOSECONDS / tuned.cost, 8), 64))
    weights, high, energy = np.empty(sets), np.empty(sets), np.empty(sets)
    for index in range(sets):
        data, weight = select(problem, rng, 1, count)
        drawn = as_target(problem, data, tilted)
        high[index] = log_weights(drawn.target, drawn.teachers, tuned.schedule, rng).high[0]
        weights[index], energy[index] = weight[0], drawn.energy[0]
    choices = {False: high}
    # Far from r = 1 the mean of 1/r is made by data that a pilot never sees: its spread would then say little.
    if float((weights * high).mean()) <= LARGEST_CONTROLLED:
        choices[True] = high + np.expm1(-high)
    best = None
    for inverse, values in choices.items():
        centre = float((weights * values).sum() / weights.sum())
        around, along = weights * (values - centre), weights * energy
        along -= along.mean()
        # Only at depth 1 is C_B the covariance of Y, so that the energy has mean 0.
        slope = float(around @ along) / float(along @ along) if problem.depth == 1 and sets > 8 else 0.0
        found = Control(inverse, slope, centre), float((around - slope * along).std(ddof=1))
        if best is None or found[1] < best[1]:
            best = found
    assert best is not None
    return best


def controlled(values: Array, drawn: Posterior, high: Array, control: Control, weights: Array) -> Array:
    """Return numbers (sets,) whose mean is that of log r over data sets and paths; ``high`` is log R, ``values`` it or log r's low.

    With the weights w of the selection: centre + w (values + 1/R - 1 - slope * (Y^T C_B^(-1) Y - n)/2 - centre).
    E[1/R | Y] = 1/r exactly and E_P[1/r] = 1, the energy has mean 0, and E w = 1: the mean is as without all of them.
    """
    result = values - control.energy * drawn.energy - control.centre
    if control.inverse:
        result = result + np.expm1(-high)
    return control.centre + weights * result


def _set_cost(problem: Problem) -> float:
    """Return about how many nanoseconds a data set takes apart from paths and T: kernel, tilt, scalar mode, Python."""
    n, d = problem.n, problem.widths[0]
    return 2.0 * input_nanoseconds(problem) + 2.0e4 + 2500.0 * n + 10.0 * n**3 + 60.0 * d**3 + 1.5e6 / _at_once(problem)


def _chosen_cost(problem: Problem, count: int) -> float:
    """Return about how many nanoseconds it takes to choose a data set among ``count`` candidates, and to make a target of it."""
    return _set_cost(problem) + count * candidate_nanoseconds(problem)


@dataclass(frozen=True)
class EvidenceSampler:
    """Two-sided draws (draws, 3) of scale (T - KL) + shift, see the functions below."""

    problem: Problem
    term: InputTerm
    plan: Plan
    input_plan: InputPlan
    scale: float = 1.0
    shift: float = 0.0
    version: int = 2

    @property
    def cost(self) -> float:
        """Random-number equivalents per draw: nanoseconds by the formulas of costs() over 1e9 / 7e7."""
        return (
            self.plan.nanoseconds + self.input_plan.nanoseconds + _chosen_cost(self.problem, self.plan.candidates)
        ) / NANOSECONDS_PER_NUMBER

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` rows low, high, value; the mean of low is at most the quantity, that of high at least."""
        result = np.empty((draws, 3))
        done = 0
        while done < draws:
            sets = min(_at_once(self.problem), draws - done)
            result[done : done + sets] = self._piece(rng, sets)
            done += sets
        return result

    def _piece(self, rng: np.random.Generator, sets: int) -> Array:
        data, chosen = select(self.problem, rng, sets, self.plan.candidates)
        drawn = as_target(self.problem, data, self.plan.tilted)
        paths = log_weights(drawn.target, drawn.teachers, self.plan.schedule, rng)
        low, high = (controlled(end, drawn, paths.high, self.plan.control, chosen) for end in (paths.low, paths.high))
        values, controls = self.term.values(rng, sets * self.input_plan.count)
        values -= controls @ np.array(self.input_plan.coefficients)
        term = values.reshape(sets, -1).mean(axis=1)
        ends = np.stack([term - high, term - low]) * self.scale + self.shift
        if self.scale < 0:
            ends = ends[::-1]
        return np.column_stack([ends[0], ends[1], 0.5 * (ends[0] + ends[1])])


@dataclass(frozen=True)
class VarianceSampler:
    """One-sided draws (draws,) of an unbiased-up-to-the-bracket variance of (1/n) log Z over data sets, from groups of 8."""

    problem: Problem
    plan: Plan
    version: int = 1

    @property
    def cost(self) -> float:
        """Random-number equivalents per draw."""
        return GROUP * (2 * self.plan.nanoseconds + _set_cost(self.problem)) / NANOSECONDS_PER_NUMBER

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return (draws,); the forward and the backward estimate of log Z share data but no noise, which thus adds no variance."""
        result = np.empty(draws)
        paths = self.plan.schedule.paths
        double = Schedule(2 * paths, self.plan.schedule.temperatures, self.plan.schedule.angle, self.plan.schedule.leaps)
        for draw in range(draws):
            ends = np.empty((2, GROUP))
            step = _at_once(self.problem)
            for start in range(0, GROUP, step):
                sets = min(step, GROUP - start)
                drawn: Posterior = posterior(self.problem, rng, sets, self.plan.tilted)
                log = log_weights(drawn.target, drawn.teachers, double, rng).log
                ends[0, start : start + sets] = drawn.log_base + log_mean_exp(log[:, :paths])
                ends[1, start : start + sets] = drawn.log_base + log_mean_exp(log[:, paths:])
            ends -= ends.mean(axis=1, keepdims=True)
            result[draw] = float(ends[0] @ ends[1]) / (GROUP - 1) / self.problem.n**2
        return result


def _at_once(problem: Problem) -> int:
    """Data sets treated side by side, so that small problems are not all Python."""
    piece = piece_of(problem.widths, problem.n)
    return min(max(piece // 4, 1), MOST_AT_ONCE)


def _sampler(problem: Problem, against_noise: bool, target_width: float, scale: float, shift: float) -> EvidenceSampler:
    term, chosen = InputTerm(problem, against_noise), plan(problem, target_width)
    return EvidenceSampler(problem, term, chosen, input_plan(term, chosen), scale, shift)


def information_gap(problem: Problem, target_width: float = WIDTH) -> EvidenceSampler:
    """Return a sampler of I^(L) - I^(0), TOTAL nats; ``target_width`` is the mean width high - low it aims at.

    >>> from theoryck.numerics.functions import Activation
    >>> problem = Problem((4, 4), 4, 0.5, Activation("erf(x/sqrt(2))"), Activation("x"), 0.651470015870560, 0.0401458728192)
    >>> information_gap(problem)(np.random.default_rng(0), 3).shape
    (3, 3)
    """
    return _sampler(problem, False, target_width, 1.0, 0.0)


def path_divergence(problem: Problem, target_width: float = WIDTH) -> EvidenceSampler:
    """Return a sampler of n (f_t - f_1), total nats: the free entropy at the time t of the path, above its end."""
    return _sampler(problem, False, target_width, -1.0, 0.0)


def mutual_information(problem: Problem, target_width: float = WIDTH) -> EvidenceSampler:
    """Return a sampler of I_n = -E log Z - (n/2) log(2 pi e Delta), total nats; eta_0 and gamma_0 only shape the proposal."""
    return _sampler(problem, True, target_width, 1.0, 0.0)


def free_entropy(problem: Problem, target_width: float = WIDTH) -> EvidenceSampler:
    """Return a sampler of (1/n) E log Z_t at the time t of the problem; ``target_width`` still counts total nats.

    Given W, Y ~ N(0, (1 - t) K_W + t (eta_0^2 X^T X + gamma_0) + Delta).
    """
    shift = -0.5 * math.log(2.0 * math.pi * math.e * problem.noise)
    return _sampler(problem, True, target_width, -1.0 / problem.n, shift)


def free_entropy_variance(problem: Problem, target_width: float = VARIANCE_WIDTH) -> VarianceSampler:
    """Return a one-sided sampler of Var (1/n) log Z over data sets; a draw is a group of 8 of them.

    log Z is replaced by its two ends, which are off by less than ``target_width`` on average; their noises are independent.
    """
    return VarianceSampler(problem, plan(problem, target_width))


# The covariances' part of the gap: an upper bound of it, at any size, from kernels of the inputs alone --------------------------


@functools.lru_cache(maxsize=256)
def _coefficients(problem: Problem) -> tuple[float, ...]:
    rng = block_generator(0, "covariance pilot", pilot_key(problem), {}, 0)
    return fit_controls(*InputTerm(problem, against_noise=False).values(rng, COVARIANCE_PILOT))[0]


@dataclass(frozen=True)
class CovarianceGap:
    """T_1 = E_X [log det (C_L C_0^{-1}) / 2], plus at depth >= 2 the trace of what the infinitely wide kernel misses, in nats.

    I^(L) - I^(0) = T_1 - KL with KL >= 0, so T_1 is an upper bound.  The control variates have mean zero by construction and
    coefficients that depend on nothing drawn here.
    """

    problem: Problem
    version: int = 1

    @property
    def cost(self) -> float:
        """Time of a draw in units of 1/7e7 seconds."""
        return input_nanoseconds(self.problem) / NANOSECONDS_PER_NUMBER

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` independent values."""
        term, coefficients = InputTerm(self.problem, against_noise=False), np.array(_coefficients(self.problem))
        step = max(WORKING // self.problem.n**2, 1)
        pieces = []
        for start in range(0, draws, step):
            values, controls = term.values(rng, min(step, draws - start))
            pieces.append(values - controls @ coefficients)
        return np.concatenate(pieces)
