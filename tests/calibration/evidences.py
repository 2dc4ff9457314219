"""Evidences of Bayesian networks: claims judged by importance weights, whose laws are skewed, and by log Z from both sides."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from proofs.pacelli2023.nonlinear import divergence
from tests.calibration.draws import Array
from tests.calibration.tallies import Tally
from theoryck.checking.measurement import CONFIRMATION_FACTOR
from theoryck.judging import judge
from theoryck.montecarlo import Moments, TwoSidedMoments
from theoryck.quantities import Quantity
from theoryck.records import Contract, Enclosure, Kind, Point, Prediction, Verdict
from theoryck.theory.renormalisation import NetworkTask, action_divergence, evidence_ratio

INPUTS = [[1.0, 0.5, -0.8, 0.3], [0.4, -1.1, 0.7, 0.9]]
PILOT = 20_000
TOLERATED = 5.0
"""Standard errors between a claim and a wrong one: at fewer nothing is supported, true or not."""


@dataclass(frozen=True)
class Evidence:
    """A measured evidence and its exact value, in draws of ``width``."""

    name: str
    quantity: Quantity
    width: int
    value: float

    @functools.cached_property
    def spread(self) -> float:
        """The standard deviation of a draw."""
        made = self.draw(np.random.default_rng(7), PILOT if not self.quantity.two_sided else 1_000)
        return float(made.std() if made.ndim == 1 else made[:, 2].std())

    def draw(self, rng: np.random.Generator, draws: int) -> Array:
        return np.asarray(self.quantity.draw(rng, draws, {"N": self.width} if self.quantity.needs else {}))

    def point(self, rng: np.random.Generator, draws: int) -> Point:
        made = self.draw(rng, draws)
        if self.quantity.two_sided:
            return Point({}, bracket=TwoSidedMoments.of(made).bracket())
        return Point({}, Moments.of(made).estimate())


def _ratio(name: str, activation: str, width: int, depth: int, scale: float) -> Evidence:
    """Z/Z_GP on two points with labels ``scale`` times 1.2 and -.7."""
    found = evidence_ratio(NetworkTask(activation, [1.2 * scale, -0.7 * scale], INPUTS, temperature=0.1, depth=depth))
    exact = found.exact({"N": width})
    assert exact is not None
    return Evidence(name, found, width, float(exact))


@functools.cache
def weights() -> tuple[Evidence, ...]:
    """Ratios of evidences: by chi-squares and by layers of the prior, the last with labels that few networks make.

    There the standard deviation of a draw is eight times its mean, and a sample is trusted where its skewness happens to be small.
    """
    return (
        _ratio("two linear layers", "x", 8, 2, 1.0),
        _ratio("three linear layers, narrow", "x", 3, 3, 1.0),
        _ratio("tanh", "tanh", 8, 1, 1.0),
        _ratio("tanh, labels of 3 deviations", "tanh", 8, 1, 3.0),
    )


@functools.cache
def ends() -> tuple[Evidence, ...]:
    """KL(network || action) at one input, from both sides, with its quadrature."""
    task = NetworkTask("relu", [0.0], [[1.0]], temperature=0.1)
    return (Evidence("KL, relu, one unit, both sides", action_divergence(task, 1, others=400), 1, divergence("relu", 1)),)


@dataclass(frozen=True)
class Found:
    """How often each verdict was found at first, and how often a refutation was reported: one that fresh draws confirm."""

    first: dict[Verdict, Tally]
    refuted: Tally


def judged(source: Evidence, excess: float, draws: int, repeats: int, contract: Contract, seed: int) -> Found:
    """Judge identities that claim the value plus ``excess`` times what they tolerate (one look)."""
    rng = np.random.default_rng([seed, draws])
    tolerated = TOLERATED * source.spread / draws**0.5
    claimed = Enclosure(Decimal(source.value + excess * tolerated), Decimal(0))
    prediction = Prediction(Kind.IDENTITY, source.name, value=claimed, tolerance=repr(tolerated))
    counts, reported = dict.fromkeys(Verdict, 0), 0
    for _ in range(repeats):
        verdict = judge(prediction, [source.point(rng, draws)], contract).verdict
        counts[verdict] += 1
        if verdict is Verdict.REFUTED:
            again = judge(prediction, [source.point(rng, CONFIRMATION_FACTOR * draws)], contract)
            reported += again.verdict is Verdict.REFUTED
    return Found({verdict: Tally(hits, repeats) for verdict, hits in counts.items()}, Tally(reported, repeats))
