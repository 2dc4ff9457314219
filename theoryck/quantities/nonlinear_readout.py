"""Samplers of what a student learns through a readout f that is not linear: evidence from both sides, and differences of it.

log Z is bracketed by annealed paths (:mod:`theoryck.montecarlo.annealing`), data set by data set.  Network and generalised linear
model of a difference share inputs, the normals of z and the noise, so that most of what fluctuates cancels.
All samplers are called as ``sampler(rng, draws)``; the two-sided ones return (draws, 3): low, high, estimate.

Source: Camilli, Tieplova, Bergamin, Barbier (2025), arXiv:2505.03577.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from theoryck.montecarlo.annealing import Schedule, log_weights
from theoryck.quantities.nonlinear_readout_data import Normals, Posterior, draw_normals, draw_posterior
from theoryck.quantities.nonlinear_readout_model import ReadoutModel

Array = NDArray[np.float64]

PER_NANOSECOND = 0.07
"""Random numbers that count as a nanosecond of one core (7e7 a second): the unit of ``cost``."""

GROUP = 8
"""Data sets of a draw of the variance."""

SETS = 32
"""Data sets that are treated together."""


def default_schedule(model: ReadoutModel) -> Schedule:
    """Return paths that close the bracket to a few hundredths of a nat at n = d <= 16, by sizes alone."""
    if not model.has_network:
        return Schedule(paths=256)
    if model.n <= 4:
        return Schedule(paths=64)
    return Schedule(paths=4, temperatures=_uniform(2 * model.n), leaps=3)


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


def evidence(model: ReadoutModel, normals: Normals, schedule: Schedule, rng: np.random.Generator) -> tuple[Evidence, Posterior]:
    """Return log Z of fresh data sets of ``model`` with the given normals, and the data sets."""
    data = draw_posterior(model, normals, rng)
    weights = log_weights(data.target, data.teachers, schedule, rng)
    return Evidence(weights.low, weights.high, weights.log[:, 0]), data


def evidence_cost(model: ReadoutModel, schedule: Schedule) -> float:
    """Return the cost of one data set with its evidence, in units of 1/7e7 seconds."""
    value, gradient = model.costs
    paths = schedule.paths * (value if not schedule.moves else gradient * (1 + schedule.moves * schedule.leaps))
    # Inputs, singular values, sites.
    data = 6000.0 + 4000.0 * model.n + 40.0 * model.n**2 + 3.0 * model.n**3
    return PER_NANOSECOND * (data + paths)


@dataclass(frozen=True, slots=True)
class FreeEntropy:
    """(1/n) E log Z(D), two-sided, at ``model.time`` of the path from the network (0) to the linear model (1)."""

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

    ``model`` is the network, ``schedule`` its paths and ``linear_schedule`` those of the linear model.
    """

    model: ReadoutModel
    schedule: Schedule | None = None
    linear_schedule: Schedule | None = None
    version: ClassVar[int] = 1

    @property
    def cost(self) -> float:
        """Time of a draw in units of 1/7e7 seconds."""
        first, second = self._schedules()
        return evidence_cost(self.model, first) + evidence_cost(self.model.linear, second)

    def _schedules(self) -> tuple[Schedule, Schedule]:
        return self.schedule or default_schedule(self.model), self.linear_schedule or default_schedule(self.model.linear)

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` independent rows (low, high, estimate)."""
        first, second = self._schedules()
        values = np.empty((draws, 3))
        for part in _parts(draws):
            normals = draw_normals(self.model, rng, part.stop - part.start)
            network, _ = evidence(self.model, normals, first, rng)
            linear, _ = evidence(self.model.linear, normals, second, rng)
            values[part, 0] = linear.low - network.high
            values[part, 1] = linear.high - network.low
            values[part, 2] = linear.middle - network.middle
        return values


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
        values = evidences(self.model, self.schedule, rng, GROUP * draws).reshape(draws, GROUP, 4)
        values -= values.mean(axis=1, keepdims=True)
        return np.einsum("dg,dg->d", values[..., 0], values[..., 3]) / ((GROUP - 1.0) * self.model.n**2)


def evidences(model: ReadoutModel, schedule: Schedule | None, rng: np.random.Generator, draws: int) -> Array:
    """Return low, high, estimate of log Z and the log weight of the backward path, (draws, 4), of independent data sets."""
    schedule = schedule or default_schedule(model)
    values = np.empty((draws, 4))
    for part in _parts(draws):
        found, _ = evidence(model, draw_normals(model, rng, part.stop - part.start), schedule, rng)
        values[part] = np.stack([found.low, found.high, found.middle, found.backward], axis=1)
    return values


def _parts(draws: int) -> list[slice]:
    return [slice(start, min(start + SETS, draws)) for start in range(0, draws, SETS)]
