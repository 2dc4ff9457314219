"""Evidence of nonlinear networks with linear readout, from both sides: free entropy, mutual information, and the gap to the GLM.

With r = P(Y | X) / N(Y; 0, C_B), C_B the covariance of an infinitely wide network
(:mod:`theoryck.theory.learning.draws.evidence_model`),
    gap  I^(L) - I^(0) = E T(X) - KL,     I^(L) = E T'(X) - KL,     KL = E log r,
where T and T' need inputs only.  Since E[1/r] = 1 over data of the network, KL = E[log r + 1/r - 1]: an integrand >= 0 and of
second order in r - 1.  The paths of :mod:`theoryck.numerics.annealing.paths` give log R >= log r in the mean and E[1/R] = 1/r
exactly, WITH THE SAME R, so that the noise of R, too, enters to second order only.  Rare data with large |Y| make most of it, so
these are chosen more often and count less (:mod:`theoryck.theory.learning.draws.evidence_selection`).  T is averaged over more
inputs, minus control variates.

Samplers are called as ``sampler(rng, draws)``; a draw is one data set, and the columns are low, high and the best value, which is
their middle: log mean exp is below by half its relative variance per path and above by the same amount, to first order.
Source of the setting: Camilli, Tieplova, Bergamin, Barbier (2025), arXiv:2505.03577.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from theoryck.montecarlo.seeds import block_generator
from theoryck.numerics.annealing.paths import Schedule, log_mean_exp, log_weights
from theoryck.numerics.annealing.tuning import PLAIN_PATHS, Tuned, tune
from theoryck.numerics.functions.activation import Activation
from theoryck.theory.learning.draws.evidence_model import (
    InputTerm,
    Posterior,
    Setting,
    as_target,
    fit_controls,
    input_nanoseconds,
    pilot_key,
    posterior,
)
from theoryck.theory.learning.draws.evidence_selection import candidate_nanoseconds, candidates, select
from theoryck.theory.learning.draws.evidence_target import NetworkTarget, piece_of

Array = NDArray[np.float64]

LIMIT = 5e9
"""Nanoseconds that one data set may take."""

NANOSECONDS_PER_NUMBER = 1e9 / 7e7

LARGEST_CONTROLLED = 0.5
"""1/r - 1 is used as a control variate up to this KL (nats): far beyond, E[1/r] = 1 is made by data that are never drawn."""

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


def _make(setting: Setting, tilted: bool, rng: np.random.Generator, sets: int) -> tuple[NetworkTarget, Array]:
    drawn = posterior(setting, rng, sets, tilted)
    return drawn.target, drawn.teachers


def _generator(setting: Setting, purpose: str) -> np.random.Generator:
    return block_generator(0, f"annealing pilot: {purpose}", pilot_key(setting), {}, 0)


@functools.lru_cache(maxsize=256)
def plan(setting: Setting, target_gap: float) -> Plan:
    """Return the fixed schedule for ``setting``: a pilot with its own generator, so that equal settings have equal draws."""
    rng = _generator(setting, "schedule")
    tilted = _spread(setting, True, rng) < _spread(setting, False, rng)
    tuned = tune(functools.partial(_make, setting, tilted), target_gap, LIMIT, rng)
    count = candidates(setting, tuned.cost)
    return Plan(tuned.schedule, tilted, count, *_control(setting, tuned, tilted, count, rng), tuned.cost)


def _spread(setting: Setting, tilted: bool, rng: np.random.Generator) -> float:
    """Return the mean variance of the log weights of prior draws: steadier over few data sets than the excess, which has a tail."""
    total = 0.0
    for _ in range(TILT_SETS):
        target, teachers = _make(setting, tilted, rng, 1)
        total += float(log_weights(target, teachers, Schedule(PLAIN_PATHS), rng).log[:, 1:].var())
    return total / TILT_SETS


def _control(setting: Setting, tuned: Tuned, tilted: bool, count: int, rng: np.random.Generator) -> tuple[Control, float]:
    """Return which control variates serve best, and the standard deviation of the KL of one data set with them."""
    sets = int(min(max(PILOT_NANOSECONDS / tuned.cost, 8), 64))
    weights, high, energy = np.empty(sets), np.empty(sets), np.empty(sets)
    for index in range(sets):
        data, weight = select(setting, rng, 1, count)
        drawn = as_target(setting, data, tilted)
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
        slope = float(around @ along) / float(along @ along) if setting.depth == 1 and sets > 8 else 0.0
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


@functools.lru_cache(maxsize=256)
def input_plan(term: InputTerm, target_gap: float) -> InputPlan:
    """Return over how many X to average T, and the coefficients of its control variates, fitted to inputs of the pilot's own."""
    chosen = plan(term.setting, target_gap)
    rng = _generator(term.setting, "inputs")
    values, controls = term.values(rng, PILOT_INPUTS)
    coefficients, residual = fit_controls(values, controls)
    each = input_nanoseconds(term.setting)
    # Least variance for the time: minimise (residual/m + spread^2) (m each + set).
    data_set = chosen.nanoseconds + _chosen_cost(term.setting, chosen.candidates)
    best = math.sqrt(residual * data_set / (each * max(chosen.spread**2, 1e-12)))
    count = int(min(max(round(best), 1), 256))
    return InputPlan(count, coefficients, count * each)


def _set_cost(setting: Setting) -> float:
    """Return about how many nanoseconds a data set takes apart from paths and T: kernel, tilt, scalar mode, Python."""
    n, d = setting.samples, setting.widths[0]
    return 2.0 * input_nanoseconds(setting) + 2.0e4 + 2500.0 * n + 10.0 * n**3 + 60.0 * d**3 + 1.5e6 / _at_once(setting)


def _chosen_cost(setting: Setting, count: int) -> float:
    """Return about how many nanoseconds it takes to choose a data set among ``count`` candidates, and to make a target of it."""
    return _set_cost(setting) + count * candidate_nanoseconds(setting)


@dataclass(frozen=True)
class EvidenceSampler:
    """Two-sided draws (draws, 3) of scale (T - KL) + shift, or of the KL alone when ``term`` is None; see the functions below."""

    setting: Setting
    term: InputTerm | None
    plan: Plan
    input_plan: InputPlan | None
    scale: float = 1.0
    shift: float = 0.0
    version: int = 2

    @property
    def cost(self) -> float:
        """Random-number equivalents per draw: nanoseconds by the formulas of costs() over 1e9 / 7e7."""
        inputs = 0.0 if self.input_plan is None else self.input_plan.nanoseconds
        return (self.plan.nanoseconds + inputs + _chosen_cost(self.setting, self.plan.candidates)) / NANOSECONDS_PER_NUMBER

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` rows low, high, value; the mean of low is at most the quantity, that of high at least."""
        result = np.empty((draws, 3))
        done = 0
        while done < draws:
            sets = min(_at_once(self.setting), draws - done)
            result[done : done + sets] = self._piece(rng, sets)
            done += sets
        return result

    def _piece(self, rng: np.random.Generator, sets: int) -> Array:
        data, chosen = select(self.setting, rng, sets, self.plan.candidates)
        drawn = as_target(self.setting, data, self.plan.tilted)
        paths = log_weights(drawn.target, drawn.teachers, self.plan.schedule, rng)
        low, high = (controlled(end, drawn, paths.high, self.plan.control, chosen) for end in (paths.low, paths.high))
        if self.term is None:
            return np.column_stack([low, high, 0.5 * (low + high)])
        assert self.input_plan is not None
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

    setting: Setting
    plan: Plan
    version: int = 1

    @property
    def cost(self) -> float:
        """Random-number equivalents per draw."""
        return GROUP * (2 * self.plan.nanoseconds + _set_cost(self.setting)) / NANOSECONDS_PER_NUMBER

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return (draws,); the forward and the backward estimate of log Z share data but no noise, which thus adds no variance."""
        result = np.empty(draws)
        paths = self.plan.schedule.paths
        double = Schedule(2 * paths, self.plan.schedule.temperatures, self.plan.schedule.angle, self.plan.schedule.leaps)
        for draw in range(draws):
            ends = np.empty((2, GROUP))
            step = _at_once(self.setting)
            for start in range(0, GROUP, step):
                sets = min(step, GROUP - start)
                drawn: Posterior = posterior(self.setting, rng, sets, self.plan.tilted)
                log = log_weights(drawn.target, drawn.teachers, double, rng).log
                ends[0, start : start + sets] = drawn.log_base + log_mean_exp(log[:, :paths])
                ends[1, start : start + sets] = drawn.log_base + log_mean_exp(log[:, paths:])
            ends -= ends.mean(axis=1, keepdims=True)
            result[draw] = float(ends[0] @ ends[1]) / (GROUP - 1) / self.setting.samples**2
        return result


def _at_once(setting: Setting) -> int:
    """Data sets treated side by side, so that small problems are not all Python."""
    piece = piece_of(setting.widths, setting.samples)
    return min(max(piece // 4, 1), MOST_AT_ONCE)


def _setting(
    activation: Activation | str,
    widths: Sequence[int],
    samples: int,
    noise: float,
    eta0: float,
    gamma0: float,
    tau: float = 0.0,
) -> Setting:
    phi = activation if isinstance(activation, Activation) else Activation(activation)
    return Setting(phi, tuple(int(w) for w in widths), int(samples), float(noise), float(eta0), float(gamma0), float(tau))


def _sampler(setting: Setting, against_noise: bool, target_gap: float, scale: float, shift: float) -> EvidenceSampler:
    term = InputTerm(setting, against_noise)
    return EvidenceSampler(setting, term, plan(setting, target_gap), input_plan(term, target_gap), scale, shift)


def gap(
    activation: Activation | str,
    widths: Sequence[int],
    samples: int,
    noise: float,
    eta0: float,
    gamma0: float,
    target_gap: float = 0.01,
) -> EvidenceSampler:
    """Return a sampler of I^(L) - I^(0), TOTAL nats; ``target_gap`` is the mean width high - low it aims at.

    >>> sampler = gap("erf(x/sqrt(2))", (4, 4), 4, 0.5, 0.651470015870560, 0.0401458728192)
    >>> sampler(np.random.default_rng(0), 3).shape
    (3, 3)
    """
    return _sampler(_setting(activation, widths, samples, noise, eta0, gamma0), False, target_gap, 1.0, 0.0)


def mutual_information(
    activation: Activation | str,
    widths: Sequence[int],
    samples: int,
    noise: float,
    eta0: float,
    gamma0: float,
    target_gap: float = 0.01,
) -> EvidenceSampler:
    """Return a sampler of I_n = -E log Z - (n/2) log(2 pi e Delta), total nats; eta_0 and gamma_0 only shape the proposal.

    >>> low, high, value = mutual_information("sin(x)", (4, 4), 3, 0.5, 0.6065, 0.0645)(np.random.default_rng(0), 200).mean(axis=0)
    >>> bool(low < value < high)
    True
    """
    return _sampler(_setting(activation, widths, samples, noise, eta0, gamma0), True, target_gap, 1.0, 0.0)


def free_entropy(
    activation: Activation | str,
    widths: Sequence[int],
    samples: int,
    noise: float,
    eta0: float,
    gamma0: float,
    target_gap: float = 0.01,
) -> EvidenceSampler:
    """Return a sampler of (1/n) E log Z = -I_n / n - (1/2) log(2 pi e Delta); ``target_gap`` still counts total nats.

    >>> free_entropy("sin(x)", (4, 4), 3, 0.5, 0.6065, 0.0645)(np.random.default_rng(0), 5).shape
    (5, 3)
    """
    return interpolation(activation, widths, samples, noise, eta0, gamma0, 0.0, target_gap)


def interpolation(
    activation: Activation | str,
    widths: Sequence[int],
    samples: int,
    noise: float,
    eta0: float,
    gamma0: float,
    tau: float,
    target_gap: float = 0.01,
) -> EvidenceSampler:
    """Return a sampler of the free entropy (1/n) E log Z_tau on the path from the network, tau = 0, to the GLM^(0), tau = 1.

    Given W, Y ~ N(0, (1 - tau) K_W + tau (eta_0^2 X^T X + gamma_0) + Delta).

    >>> interpolation("sin(x)", (4, 4), 3, 0.5, 0.6065, 0.0645, 0.5)(np.random.default_rng(0), 5).shape
    (5, 3)
    """
    setting = _setting(activation, widths, samples, noise, eta0, gamma0, tau)
    shift = -0.5 * math.log(2.0 * math.pi * math.e * setting.noise)
    return _sampler(setting, True, target_gap, -1.0 / setting.samples, shift)


def interpolation_gap(
    activation: Activation | str,
    widths: Sequence[int],
    samples: int,
    noise: float,
    eta0: float,
    gamma0: float,
    tau: float,
    target_gap: float = 0.01,
) -> EvidenceSampler:
    """Return a sampler of n (f_tau - f_1), total nats: the free entropy of the path above its end, the GLM^(0).

    >>> end = interpolation_gap("sin(x)", (4, 4), 3, 0.5, 0.6065, 0.0645, 1.0)(np.random.default_rng(0), 5)
    >>> bool(np.abs(end).max() < 1e-9)
    True
    """
    return _sampler(_setting(activation, widths, samples, noise, eta0, gamma0, tau), False, target_gap, -1.0, 0.0)


def relative_entropy(
    activation: Activation | str,
    widths: Sequence[int],
    samples: int,
    noise: float,
    eta0: float,
    gamma0: float,
    target_gap: float = 0.01,
) -> EvidenceSampler:
    """Return a sampler of E log (P(Y | X) / N(Y; 0, C_B)), at depth 1 the relative entropy of the network to its Gaussian twin.

    >>> relative_entropy("sin(x)", (4, 4), 3, 0.5, 0.6065, 0.0645)(np.random.default_rng(0), 5).shape
    (5, 3)
    """
    setting = _setting(activation, widths, samples, noise, eta0, gamma0)
    return EvidenceSampler(setting, None, plan(setting, target_gap), None)


def free_entropy_variance(
    activation: Activation | str,
    widths: Sequence[int],
    samples: int,
    noise: float,
    eta0: float,
    gamma0: float,
    target_gap: float = 0.05,
) -> VarianceSampler:
    """Return a one-sided sampler of Var (1/n) log Z over data sets; a draw is a group of 8 of them.

    log Z is replaced by its two ends, which are off by less than ``target_gap`` on average; their noises are independent.

    >>> free_entropy_variance("sin(x)", (4, 4), 3, 0.5, 0.6065, 0.0645)(np.random.default_rng(0), 5).shape
    (5,)
    """
    setting = _setting(activation, widths, samples, noise, eta0, gamma0)
    return VarianceSampler(setting, plan(setting, target_gap))
