"""Samplers of what a student learns through a readout f that is not linear: evidence from both sides, and differences of it.

log Z is bracketed by annealed paths (:mod:`theoryck.numerics.annealing.paths`), data set by data set.  Network and generalised
linear model of a difference share inputs, the normals of z and the noise, so that most of what fluctuates cancels.
All samplers are called as ``sampler(rng, draws)``; the two-sided ones return (draws, 3): low, high, estimate.

Source: Camilli, Tieplova, Bergamin, Barbier (2025), arXiv:2505.03577.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from theoryck.numerics.annealing.paths import Schedule, log_weights
from theoryck.theory.learning.draws.readout_data import (
    Teacher,
    draw_normals,
    draw_teacher,
    posterior,
    precision_of_outputs,
    quadratic_form,
)
from theoryck.theory.learning.draws.readout_model import ReadoutModel
from theoryck.theory.learning.draws.readout_sites import gaussian_sites, sites_evidence

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


def default_schedule(model: ReadoutModel) -> Schedule:
    """Return paths that close the bracket to a few hundredths of a nat at n = d <= 16, by sizes alone."""
    if not model.has_network:
        return Schedule(paths=16, temperatures=_uniform(4), leaps=4)
    return Schedule(paths=8, temperatures=_uniform(4 + model.n // 4), leaps=4)


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


def evidence(model: ReadoutModel, teacher: Teacher, schedule: Schedule, rng: np.random.Generator) -> tuple[Evidence, Array]:
    """Return log Z of the data sets of ``teacher``, and a rough value that depends on the data alone."""
    data = posterior(model, teacher, rng)
    weights = log_weights(data.target, data.teachers, schedule, rng)
    rough = sites_evidence(model, model.covariance(teacher.inputs), teacher.outputs, data.sites)
    return Evidence(weights.low, weights.high, weights.log[:, 0]), rough


def evidence_cost(model: ReadoutModel, schedule: Schedule) -> float:
    """Return the cost of one data set with its evidence, in units of 1/7e7 seconds.

    Within 30% of the times measured at depths 0 to 3, n = 1 to 32, widths 4 to 24 with the default schedules.
    """
    value, gradient = model.costs
    paths = schedule.paths * (value if not schedule.moves else gradient * (1 + schedule.moves * schedule.leaps))
    form = 60e3 + 4e3 * model.n + 100.0 * model.n**2
    return PER_NANOSECOND * (model.set_cost + form + paths)


@dataclass(frozen=True, slots=True)
class FreeEntropy:
    """(1/n) E log Z(D), two-sided, at ``model.time`` of the path from the network (0) to the linear model (1).

    >>> from theoryck.numerics.functions.activation import Activation
    >>> model = ReadoutModel((4, 4), 2, 0.2, Activation("tanh"), Activation("sin(x)"), eta0=0.6, gamma0=0.03)
    >>> rng = np.random.Generator(np.random.SFC64(1))
    >>> [FreeEntropy(model.at(t))(rng, 5).shape for t in (0.0, 0.5, 1.0)]
    [(5, 3), (5, 3), (5, 3)]
    """

    model: ReadoutModel
    schedule: Schedule | None = None
    version: ClassVar[int] = 1

    @property
    def cost(self) -> float:
        """Time of a draw in units of 1/7e7 seconds."""
        return evidence_cost(self.model, self.schedule or default_schedule(self.model))

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` independent rows (low, high, estimate)."""
        return evidences(self.model, self.schedule, rng, draws)[:, :3] / self.model.n


@dataclass(frozen=True, slots=True)
class MutualInformation:
    """I_n = -E log Z - (n/2) log(2 pi e Delta) in nats, of all n samples together, two-sided."""

    model: ReadoutModel
    schedule: Schedule | None = None
    version: ClassVar[int] = 1

    @property
    def cost(self) -> float:
        """Time of a draw in units of 1/7e7 seconds."""
        return evidence_cost(self.model, self.schedule or default_schedule(self.model))

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` independent rows (low, high, estimate)."""
        model = self.model
        values = evidences(model, self.schedule, rng, draws)
        noise_entropy = 0.5 * model.n * math.log(2.0 * math.pi * math.e * model.noise)
        return -values[:, [1, 0, 2]] - noise_entropy


@dataclass(frozen=True, slots=True)
class InformationGap:
    """I_n^(L) - I_n^(0) = E log Z^(0) - E log Z^(L) in nats, of all n samples together, two-sided.

    ``model`` is the network, ``schedule`` its paths and ``linear_schedule`` those of the linear model.  With any g(X, Y)
        gap = E[log Z^(0)(Y^(0)) - g(Y^(0))] - E[log Z^(L)(Y^(L)) - g(Y^(L))] + E[g(Y^(0)) - g(Y^(L))],
    Y^(0) and Y^(L) the outputs of the two teachers.  For g close to log Z^(0) the first two fluctuate little, and the third, which
    needs no paths, is averaged over ``PAIRS`` more pairs of data sets.  The bracket is that of the first two.

    >>> from theoryck.numerics.functions.activation import Activation
    >>> model = ReadoutModel((8, 8), 4, 0.2, Activation("erf(x/sqrt(2))"), Activation("tanh(2*x)"), eta0=0.65147, gamma0=0.040146)
    >>> values = InformationGap(model)(np.random.Generator(np.random.SFC64(1)), 20)
    >>> values.shape, bool(abs((values[:, 1] - values[:, 0]).mean()) < 0.2)
    ((20, 3), True)
    """

    model: ReadoutModel
    schedule: Schedule | None = None
    linear_schedule: Schedule | None = None
    version: ClassVar[int] = 1

    @property
    def cost(self) -> float:
        """Time of a draw in units of 1/7e7 seconds."""
        first, second = self._schedules()
        pair = 20e3 + 25e3 * self.model.n + 900.0 * self.model.n**2
        return evidence_cost(self.model, first) + evidence_cost(self.model.linear, second) + PER_NANOSECOND * PAIRS * pair

    def _schedules(self) -> tuple[Schedule, Schedule]:
        return self.schedule or default_schedule(self.model), self.linear_schedule or default_schedule(self.model.linear)

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` independent rows (low, high, estimate)."""
        first, second = self._schedules()
        values = np.empty((draws, 3))
        for part in _parts(draws):
            normals = draw_normals(self.model, rng, part.stop - part.start)
            network, near = evidence(self.model, draw_teacher(self.model, normals, rng), first, rng)
            linear, far = evidence(self.model.linear, draw_teacher(self.model.linear, normals, rng), second, rng)
            values[part, 0] = linear.low - network.high
            values[part, 1] = linear.high - network.low
            values[part, 2] = linear.middle - network.middle
            values[part] += (near - far + rough_gaps(self.model, rng, part.stop - part.start, PAIRS))[:, None]
        return values


def rough_gaps(model: ReadoutModel, rng: np.random.Generator, count: int, pairs: int) -> Array:
    """Return means (count,) of g(Y^(0)) - g(Y^(L)) over ``pairs`` independent pairs of data sets, without bias; g(Y) is the
    :func:`sites_evidence` of Y in the linear model.

    Quadratic forms of known mean are taken off both.
    """
    linear = model.linear
    normals = draw_normals(model, rng, count * pairs)
    covariance = linear.covariance(normals.inputs)
    precision = precision_of_outputs(linear, normals.inputs)
    values = np.zeros(count * pairs)
    for sign, which in ((1.0, linear), (-1.0, model)):
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

    model: ReadoutModel
    schedule: Schedule | None = None
    version: ClassVar[int] = 1

    @property
    def cost(self) -> float:
        """Time of a draw in units of 1/7e7 seconds."""
        return GROUP * evidence_cost(self.model, self.schedule or default_schedule(self.model))

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` independent values; their mean is positive, single ones need not be."""
        values = evidences(self.model, self.schedule, rng, GROUP * draws, controlled=False).reshape(draws, GROUP, 4)
        values -= values.mean(axis=1, keepdims=True)
        return np.einsum("dg,dg->d", values[..., 0], values[..., 3]) / ((GROUP - 1.0) * self.model.n**2)


def evidences(
    model: ReadoutModel, schedule: Schedule | None, rng: np.random.Generator, draws: int, controlled: bool = True
) -> Array:
    """Return low, high, estimate of log Z and the log weight of the backward path, (draws, 4), of independent data sets.

    ``controlled`` takes off a quadratic form in Y of mean zero: means are the same, log Z of single data sets is not.
    """
    schedule = schedule or default_schedule(model)
    values = np.empty((draws, 4))
    for part in _parts(draws):
        teacher = draw_teacher(model, draw_normals(model, rng, part.stop - part.start), rng)
        found, _ = evidence(model, teacher, schedule, rng)
        values[part] = np.stack([found.low, found.high, found.middle, found.backward], axis=1)
        if controlled:
            precision = precision_of_outputs(model, teacher.inputs)
            values[part] += FORM * quadratic_form(model, teacher, precision)[:, None]
    return values


def _parts(draws: int) -> list[slice]:
    return [slice(start, min(start + SETS, draws)) for start in range(0, draws, SETS)]
