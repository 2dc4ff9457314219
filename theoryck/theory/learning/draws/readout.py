"""Samplers of what a student learns through a readout f that is not linear: evidence and Bayes errors, from both sides.

Evidence.  log Z is bracketed by annealed paths (:mod:`theoryck.numerics.annealing.paths`), data set by data set.  Network and
generalised linear model of a difference share inputs, the normals of z and the noise, so that most of what fluctuates cancels.

Errors.  Let g(theta) be the prediction of a new output, P a reversible move that leaves the posterior invariant, Q a mean of even
powers of P, so that 0 <= Q <= 1.  Chains that start at the teacher, an exact sample of the posterior, stay distributed as the
posterior. With two of them, A and B, and their means g_A, g_B,
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

from theoryck.numerics.annealing.paths import Schedule, log_weights, move
from theoryck.theory.learning.draws.readout_data import (
    Normals,
    Posterior,
    Teacher,
    draw_normals,
    draw_teacher,
    gaussian_sites,
    linear_root,
    posterior,
    precision_of_outputs,
    quadratic_form,
    set_cost,
    sites_evidence,
)
from theoryck.theory.learning.draws.readout_target import LinearTarget, NetworkTarget, costs
from theoryck.theory.learning.problem import Problem

Array = NDArray[np.float64]

PER_NANOSECOND = 0.07
"""Random numbers that count as a nanosecond of one core (7e7 a second): the unit of ``cost``."""

GROUP = 8
"""Data sets of a draw of the variance."""

SETS = 32
"""Data sets that are treated together."""


PAIRS = 8
"""Further pairs of data sets in a draw of the gap, on which a function of the data is compared, at little cost."""

FORM = 0.43
"""Coefficient of Y^T S Y as a control variate of log Z: 1/2 if outputs were Gaussian, .40 to .43 fitted for tanh(2x), Delta = .2.

It is the same whatever is drawn: any constant leaves means as they are."""

NEW_INPUTS = 8
"""New inputs per data set."""

ERROR_SETS = 16
"""Data sets whose errors are treated together."""

ERROR_NODES = np.linspace(-6.0, 6.0, 37)
ERROR_WEIGHTS = np.exp(-0.5 * ERROR_NODES**2) / np.exp(-0.5 * ERROR_NODES**2).sum()
"""The trapezoidal rule for a Gaussian expectation: its error for the Gaussian alone is exp(-2 pi^2 / (1/3)^2) at this spacing."""


# Evidence -----------------------------------------------------------------------------------------------------------------------


def default_schedule(problem: Problem) -> Schedule:
    """Return paths that close the bracket to a few hundredths of a nat at n = d <= 16, by sizes alone."""
    if not problem.has_network:
        return Schedule(paths=16, temperatures=_uniform(4), leaps=4)
    return Schedule(paths=8, temperatures=_uniform(4 + problem.n // 4), leaps=4)


def _uniform(count: int) -> tuple[float, ...]:
    return tuple((k + 1) / count for k in range(count))


@dataclass
class Evidence:
    """log Z of data sets (sets,): a forward and an overall estimate with E low <= E log Z <= E high, and log weights of the
    backward paths alone."""

    low: Array
    high: Array
    backward: Array

    @property
    def middle(self) -> Array:
        """(low + high)/2: to first order in the variance of the weights the two biases cancel."""
        return 0.5 * (self.low + self.high)


def evidence(problem: Problem, teacher: Teacher, schedule: Schedule, rng: np.random.Generator) -> tuple[Evidence, Array]:
    """Return log Z of the data sets of ``teacher``, and a rough value that depends on the data alone."""
    data = posterior(problem, teacher, rng)
    weights = log_weights(data.target, data.teachers, schedule, rng)
    rough = sites_evidence(problem, problem.covariance(teacher.inputs), teacher.outputs, data.sites)
    return Evidence(weights.low, weights.high, weights.log[:, 0]), rough


def evidence_cost(problem: Problem, schedule: Schedule) -> float:
    """Return the cost of one data set with its evidence, in units of 1/7e7 seconds.

    Within 30% of the times measured at depths 0 to 3, n = 1 to 32, widths 4 to 24 with the default schedules.
    """
    value, gradient = costs(problem)
    paths = schedule.paths * (value if not schedule.moves else gradient * (1 + schedule.moves * schedule.leaps))
    form = 60e3 + 4e3 * problem.n + 100.0 * problem.n**2
    return PER_NANOSECOND * (set_cost(problem) + form + paths)


@dataclass(frozen=True, slots=True)
class FreeEntropy:
    """(1/n) E log Z(D), two-sided, at ``problem.time`` of the path from the network (0) to the linear model (1).

    >>> from theoryck.numerics.functions.activation import Activation
    >>> problem = Problem((4, 4), 2, 0.2, Activation("tanh"), Activation("sin(x)"), eta0=0.6, gamma0=0.03)
    >>> rng = np.random.Generator(np.random.SFC64(1))
    >>> [FreeEntropy(problem.at(t))(rng, 5).shape for t in (0.0, 0.5, 1.0)]
    [(5, 3), (5, 3), (5, 3)]
    """

    problem: Problem
    schedule: Schedule | None = None
    version: ClassVar[int] = 1

    @property
    def cost(self) -> float:
        """Time of a draw in units of 1/7e7 seconds."""
        return evidence_cost(self.problem, self.schedule or default_schedule(self.problem))

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` independent rows (low, high, estimate)."""
        return evidences(self.problem, self.schedule, rng, draws)[:, :3] / self.problem.n


@dataclass(frozen=True, slots=True)
class MutualInformation:
    """I_n = -E log Z - (n/2) log(2 pi e Delta) in nats, of all n samples together, two-sided."""

    problem: Problem
    schedule: Schedule | None = None
    version: ClassVar[int] = 1

    @property
    def cost(self) -> float:
        """Time of a draw in units of 1/7e7 seconds."""
        return evidence_cost(self.problem, self.schedule or default_schedule(self.problem))

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` independent rows (low, high, estimate)."""
        problem = self.problem
        values = evidences(problem, self.schedule, rng, draws)
        noise_entropy = 0.5 * problem.n * math.log(2.0 * math.pi * math.e * problem.noise)
        return -values[:, [1, 0, 2]] - noise_entropy


@dataclass(frozen=True, slots=True)
class InformationGap:
    """I_n^(L) - I_n^(0) = E log Z^(0) - E log Z^(L) in nats, of all n samples together, two-sided.

    ``problem`` is the network, ``schedule`` its paths and ``linear_schedule`` those of the linear model.  With any g(X, Y)
        gap = E[log Z^(0)(Y^(0)) - g(Y^(0))] - E[log Z^(L)(Y^(L)) - g(Y^(L))] + E[g(Y^(0)) - g(Y^(L))],
    Y^(0) and Y^(L) the outputs of the two teachers.  For g close to log Z^(0) the first two fluctuate little, and the third, which
    needs no paths, is averaged over ``PAIRS`` more pairs of data sets.  The bracket is that of the first two.

    >>> from theoryck.numerics.functions.activation import Activation
    >>> problem = Problem((8, 8), 4, 0.2, Activation("erf(x/sqrt(2))"), Activation("tanh(2*x)"), eta0=0.65147, gamma0=0.040146)
    >>> values = InformationGap(problem)(np.random.Generator(np.random.SFC64(1)), 20)
    >>> values.shape, bool(abs((values[:, 1] - values[:, 0]).mean()) < 0.2)
    ((20, 3), True)
    """

    problem: Problem
    schedule: Schedule | None = None
    linear_schedule: Schedule | None = None
    version: ClassVar[int] = 1

    @property
    def cost(self) -> float:
        """Time of a draw in units of 1/7e7 seconds."""
        first, second = self._schedules()
        pair = 20e3 + 25e3 * self.problem.n + 900.0 * self.problem.n**2
        return evidence_cost(self.problem, first) + evidence_cost(self.problem.linear, second) + PER_NANOSECOND * PAIRS * pair

    def _schedules(self) -> tuple[Schedule, Schedule]:
        return self.schedule or default_schedule(self.problem), self.linear_schedule or default_schedule(self.problem.linear)

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` independent rows (low, high, estimate)."""
        first, second = self._schedules()
        values = np.empty((draws, 3))
        for part in _parts(draws):
            normals = draw_normals(self.problem, rng, part.stop - part.start)
            network, near = evidence(self.problem, draw_teacher(self.problem, normals, rng), first, rng)
            linear, far = evidence(self.problem.linear, draw_teacher(self.problem.linear, normals, rng), second, rng)
            values[part, 0] = linear.low - network.high
            values[part, 1] = linear.high - network.low
            values[part, 2] = linear.middle - network.middle
            values[part] += (near - far + rough_gaps(self.problem, rng, part.stop - part.start, PAIRS))[:, None]
        return values


def rough_gaps(problem: Problem, rng: np.random.Generator, count: int, pairs: int) -> Array:
    """Return means (count,) of g(Y^(0)) - g(Y^(L)) over ``pairs`` independent pairs of data sets, without bias; g(Y) is the
    :func:`sites_evidence` of Y in the linear model.

    Quadratic forms of known mean are taken off both.
    """
    linear = problem.linear
    normals = draw_normals(problem, rng, count * pairs)
    covariance = linear.covariance(normals.inputs)
    precision = precision_of_outputs(linear, normals.inputs)
    values = np.zeros(count * pairs)
    for sign, which in ((1.0, linear), (-1.0, problem)):
        teacher = draw_teacher(which, normals, rng)
        sites = gaussian_sites(linear, covariance, teacher.outputs)
        values += sign * sites_evidence(linear, covariance, teacher.outputs, sites)
        values += sign * FORM * quadratic_form(which, teacher, precision)
    result: Array = values.reshape(count, pairs).mean(axis=1)
    return result


@dataclass(frozen=True, slots=True)
class FreeEntropyVariance:
    """Var((1/n) log Z(D)) over data sets, from groups of 8 with independent inputs.

    A draw is the sample covariance of two estimates of log Z that are independent given the data: that of the forward paths and
    the weight of the backward one.  Their noise does not add to it; what is left is the covariance of their biases.
    """

    problem: Problem
    schedule: Schedule | None = None
    version: ClassVar[int] = 1

    @property
    def cost(self) -> float:
        """Time of a draw in units of 1/7e7 seconds."""
        return GROUP * evidence_cost(self.problem, self.schedule or default_schedule(self.problem))

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` independent values; their mean is positive, single ones need not be."""
        values = evidences(self.problem, self.schedule, rng, GROUP * draws, controlled=False).reshape(draws, GROUP, 4)
        values -= values.mean(axis=1, keepdims=True)
        return np.einsum("dg,dg->d", values[..., 0], values[..., 3]) / ((GROUP - 1.0) * self.problem.n**2)


def evidences(problem: Problem, schedule: Schedule | None, rng: np.random.Generator, draws: int, controlled: bool = True) -> Array:
    """Return low, high, estimate of log Z and the log weight of the backward path, (draws, 4), of independent data sets.

    ``controlled`` takes off a quadratic form in Y of mean zero: means are the same, log Z of single data sets is not.
    """
    schedule = schedule or default_schedule(problem)
    values = np.empty((draws, 4))
    for part in _parts(draws):
        teacher = draw_teacher(problem, draw_normals(problem, rng, part.stop - part.start), rng)
        found, _ = evidence(problem, teacher, schedule, rng)
        values[part] = np.stack([found.low, found.high, found.middle, found.backward], axis=1)
        if controlled:
            precision = precision_of_outputs(problem, teacher.inputs)
            values[part] += FORM * quadratic_form(problem, teacher, precision)[:, None]
    return values


def _parts(draws: int) -> list[slice]:
    return [slice(start, min(start + SETS, draws)) for start in range(0, draws, SETS)]


# Errors -------------------------------------------------------------------------------------------------------------------------


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

    def __init__(self, problem: Problem, target: LinearTarget, inputs: Array, new: Array) -> None:
        eta, gamma = problem.slope_and_rest
        self.readout = problem.readout
        if gamma == 0 and problem.n >= problem.widths[0]:
            slope = eta * np.swapaxes(new, -1, -2)
        else:
            # z = B s, Cov(z_new, z) = c: E[z_new | z] = c^T C^(-1) B s = c^T B^(-T) s.
            cross = eta**2 * (np.swapaxes(inputs, -1, -2) @ new)
            slope = np.swapaxes(np.linalg.solve(linear_root(problem, inputs), cross), -1, -2)
        total = eta**2 * np.einsum("sij,sij->sj", new, new) + gamma
        # Differences of equal numbers may come out below 0 by rounding.
        self.deviation = np.sqrt(np.maximum(total - np.einsum("sjm,sjm->sj", slope, slope), 0.0))
        # s = mean + H^(-T) s'.
        self.shift = np.einsum("sjm,sm->sj", slope, target.mean)
        self.slope = np.matmul(target.inverse_factor, np.swapaxes(slope, -1, -2))

    def __call__(self, states: Array) -> Array:
        """Return E[f(z_new) | s] (sets, chains, new)."""
        return np.asarray(self._values(states) @ ERROR_WEIGHTS)

    def rest(self, states: Array) -> Array:
        """Return Var(f(z_new) | s) (sets, chains, new)."""
        values = self._values(states)
        mean = values @ ERROR_WEIGHTS
        return np.asarray(np.square(values - mean[..., None]) @ ERROR_WEIGHTS)

    def _values(self, states: Array) -> Array:
        z = np.matmul(states, self.slope) + self.shift[:, None]
        return np.asarray(self.readout(z[..., None] + self.deviation[:, None, :, None] * ERROR_NODES))


class NetworkPredictor:
    """f(a . x_L(x_new)) of a network; nothing of it varies given the state."""

    def __init__(self, problem: Problem, target: NetworkTarget, new: Array) -> None:
        self.readout, self.target = problem.readout, target
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
    >>> problem = Problem((4,), 4, 0.2, Activation("x"), Activation("tanh(2*x)"))
    >>> values = GeneralisationError(problem)(np.random.Generator(np.random.SFC64(1)), 10)
    >>> values.shape, bool(0.2 < values[:, 2].mean() < 0.8)
    ((10, 3), True)
    """

    problem: Problem
    chains: Chains = Chains()
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        _check_time(self.problem)

    @property
    def cost(self) -> float:
        """Time of a draw in units of 1/7e7 seconds."""
        return error_cost(self.problem, self.chains)

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` independent rows (low, high, estimate)."""
        values = np.empty((draws, 3))
        for start in range(0, draws, ERROR_SETS):
            part = slice(start, min(start + ERROR_SETS, draws))
            normals, new = _inputs(self.problem, rng, part.stop - part.start)
            values[part] = errors(self.problem, normals, new, self.chains, rng)
        return values


@dataclass(frozen=True, slots=True)
class GeneralisationGap:
    """E^(L) - E^(0), two-sided; both models share the inputs and the normals of a data set."""

    problem: Problem
    chains: Chains = Chains()
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        _check_time(self.problem)

    @property
    def cost(self) -> float:
        """Time of a draw in units of 1/7e7 seconds."""
        return error_cost(self.problem, self.chains) + error_cost(self.problem.linear, self.chains)

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` independent rows (low, high, estimate)."""
        values = np.empty((draws, 3))
        for start in range(0, draws, ERROR_SETS):
            part = slice(start, min(start + ERROR_SETS, draws))
            normals, new = _inputs(self.problem, rng, part.stop - part.start)
            network = errors(self.problem, normals, new, self.chains, rng)
            linear = errors(self.problem.linear, normals, new, self.chains, rng)
            values[part] = network - linear[:, [1, 0, 2]]
        return values


def _check_time(problem: Problem) -> None:
    if problem.has_network and problem.has_gaussian:
        raise ValueError(f"time must be 0 (the network) or 1 (the linear model) for an error, got {problem.time!r}")


def _inputs(problem: Problem, rng: np.random.Generator, sets: int) -> tuple[Normals, Array]:
    normals = draw_normals(problem, rng, sets)
    return normals, rng.standard_normal((sets, problem.widths[0], NEW_INPUTS)) / math.sqrt(problem.widths[0])


def error_cost(problem: Problem, chains: Chains) -> float:
    """Return the cost of one data set with its error, in units of 1/7e7 seconds."""
    moves = chains.warm + 2 * chains.records
    per_record = NEW_INPUTS * (900.0 if not problem.has_network else 20.0 * sum(problem.widths[1:]))
    work = moves * chains.leaps * costs(problem)[1] + chains.records * per_record
    return PER_NANOSECOND * (set_cost(problem) + (2 + 2 * chains.starts) * work)


def errors(problem: Problem, normals: Normals, new: Array, chains: Chains, rng: np.random.Generator) -> Array:
    """Return rows (low, high, estimate) (sets, 3), each a mean over the new inputs ``new`` (sets, d_0, new)."""
    data = posterior(problem, draw_teacher(problem, normals, rng), rng)
    predict: LinearPredictor | NetworkPredictor
    if isinstance(data.target, NetworkTarget):
        predict = NetworkPredictor(problem, data.target, new)
    else:
        predict = LinearPredictor(problem, data.target, normals.inputs, new)
    means, square, rest = predictions(data, predict, chains, rng)
    half = 2 + chains.starts
    a, b, c, d = means[:, 0], means[:, 1], means[:, 2:half].mean(axis=1), means[:, half:].mean(axis=1)
    low = problem.noise + rest + (square - a * b).mean(axis=-1)
    high = problem.noise + rest + (square - 0.5 * (a + b) * (c + d) + c * d).mean(axis=-1)
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
