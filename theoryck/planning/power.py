"""What a budget can see, and what it takes to see something.

An estimate of an exponent is ``N(s + b, noise**2)``: what repetitions scatter by is the noise part of its standard error, and b
is a bias, the same in every repetition, that corrections to scaling leave (:func:`theoryck.fitting.linear.exponent_error`).
 Everything here holds for the worst b within the correction family:

* a claim wrong by v is refuted when ``estimate - z(false_refute_rate) stderr > within``, which has probability p at least if
  ``v >= within + z(false_refute_rate) stderr + bias + z(1 - p) noise``;
* a true and tight bound is supported when ``estimate + reach(false_support_rate) <= within``, where reach is the one of
  :meth:`~theoryck.fitting.linear.ExponentError.decision_reach`: probability p if ``within >= reach + bias + z(1 - p) noise``.

A refutation counts when a second run with other seeds and more draws confirms it.  Both together have probability ``power`` if
each misses at most ``(1 - power)/2`` of the time, by the union bound.  ``contract`` is that of the look at which the verdict is
expected, usually the last one (:func:`~theoryck.planning.looks`), with its share of the error rates.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import scipy.optimize

from theoryck.fitting.corrections import CorrectionFamily
from theoryck.fitting.data import MIN_SIZES
from theoryck.fitting.linear import ExponentError, design_matrix, exponent_stderr, solve
from theoryck.planning.errors import column, probability
from theoryck.records import Contract

MOST_DRAWS = 2.0**40  # per size: a trillion; what takes more is out of reach
_FINEST = 1e-6  # relative error down to which corrections are followed: the same ones whatever the draws, so that all is continuous


def z(error_rate: float) -> float:
    """Return z with P(Z > z) = error_rate."""
    probability("an error rate", error_rate)
    return -NormalDist().inv_cdf(error_rate)


@dataclass(frozen=True)
class Experiment:
    """Sizes, the noise of a draw, and the corrections declared: :meth:`error` says how well the exponent will be known.

    >>> Experiment.of([16, 32, 64, 128, 256], correction=1).error([1e4] * 5).stderr < 0.05
    True
    """

    noise: np.ndarray
    sizes: np.ndarray
    design: np.ndarray | None  # None with fewer than three sizes
    truths: np.ndarray

    @classmethod
    def of(
        cls,
        sizes: Sequence[float],
        *,
        noise: Sequence[float] | float = 1.0,
        correction: float | None = None,
        amplitude: float | None = None,
    ) -> Experiment:
        """Read the arguments; ValueError for what is not positive."""
        d, spread = column("sizes", list(sizes), len(sizes)), column("noise", noise, len(sizes))
        if len(set(sizes)) < MIN_SIZES:
            return cls(spread, d, None, np.zeros((1, len(d))))
        family = CorrectionFamily.choose(float(d.min()), correction, amplitude, _FINEST)
        design = design_matrix(np.log(d), float(d.min()), float(d.max()), family, True)
        return cls(spread, d, design, family.truths(d))

    def error(self, draws: Sequence[float] | float) -> ExponentError:
        """Return the error of the exponent after ``draws`` at each size; infinite with fewer than three sizes."""
        relative = self.noise / np.sqrt(column("draws", draws, len(self.noise)))
        if self.design is None:
            return ExponentError(math.inf, math.inf, math.inf, np.zeros_like(relative))
        _, covariance, _ = solve(self.design, np.zeros_like(relative), 1 / relative, 2)
        g = covariance[1] @ (self.design / relative[:, None] ** 2).T
        stderr = math.sqrt(covariance[1, 1])
        return ExponentError(stderr, min(float(np.linalg.norm(g * relative)), stderr), float(np.abs(self.truths @ g).max()), g)


def refuting_reach(error: ExponentError, contract: Contract, power: float = 0.9, *, two_sided: bool = False) -> float:
    """Return by how much more than ``within`` a claim must be wrong to be REFUTED, and confirmed, with probability ``power``.

    >>> error = Experiment.of([16, 32, 64, 128, 256], correction=1).error(1e4)
    >>> 0 < refuting_reach(error, Contract(), power=0.5) < refuting_reach(error, Contract(), power=0.99)
    True
    """
    probability("power", power)
    rate = contract.false_refute_rate / (1 + two_sided)
    return z(rate) * error.stderr + error.bias + z((1 - power) / 2) * error.noise


def rejecting_reach(error: ExponentError, contract: Contract, power: float = 0.9, *, two_sided: bool = False) -> float:
    """Return by how much more than ``within`` a rival must be off to be rejected with probability ``power``: no draws confirm it.

    >>> error = Experiment.of([16, 32, 64, 128, 256], correction=1).error(1e4)
    >>> rejecting_reach(error, Contract()) < refuting_reach(error, Contract())
    True
    """
    probability("power", power)
    return z(contract.false_refute_rate / (1 + two_sided)) * error.stderr + error.bias + z(1 - power) * error.noise


def supporting_reach(error: ExponentError, contract: Contract, power: float = 0.9, *, two_sided: bool = False) -> float:
    """Return the least ``within`` at which a true claim, a bound being tight, is SUPPORTED with probability ``power``.

    >>> error = Experiment.of([16, 32, 64, 128, 256], correction=1).error(1e4)
    >>> supporting_reach(error, Contract(false_support_rate=0.1)) < supporting_reach(error, Contract(false_support_rate=0.01))
    True
    """
    probability("power", power)
    return error.decision_reach(contract.false_support_rate) + error.bias + z((1 - power) / (1 + two_sided)) * error.noise


def stderr_of_exponent(
    sizes: Sequence[float],
    draws: Sequence[float] | float,
    *,
    noise: Sequence[float] | float = 1.0,
    correction: float | None = None,
    amplitude: float | None = None,
) -> float:
    """Return the stderr of the exponent for ``draws`` per size, each of relative standard deviation ``noise``.

    >>> sizes = [16, 32, 64, 128, 256]
    >>> one, four = (stderr_of_exponent(sizes, draws, correction=1) for draws in (1000, 4000))
    >>> 0.5 < four / one < 1  # corrections do not average away
    True
    """
    count, spread = column("draws", draws, len(sizes)), column("noise", noise, len(sizes))
    return exponent_stderr(list(sizes), list(spread / np.sqrt(count)), correction=correction, amplitude=amplitude)[0]


def violation_seen(
    contract: Contract,
    sizes: Sequence[float],
    draws: Sequence[float] | float,
    *,
    noise: Sequence[float] | float = 1.0,
    power: float = 0.9,
    correction: float | None = None,
    amplitude: float | None = None,
    two_sided: bool = False,
) -> float:
    """Return the smallest excess of the true exponent over the claimed one that is REFUTED with probability ``power``.

    ``within + z(false_refute_rate) stderr + bias + z((1 - power)/2) noise``, the confirmation included; inf with fewer than three
    sizes.

    >>> round(violation_seen(Contract(), [16, 32, 64, 128, 256, 512, 1024], 1e4, correction=1), 2)
    0.13
    """
    experiment = Experiment.of(sizes, noise=noise, correction=correction, amplitude=amplitude)
    return contract.within + refuting_reach(experiment.error(draws), contract, power, two_sided=two_sided)


def draws_needed(
    contract: Contract,
    sizes: Sequence[float],
    violation: float,
    *,
    noise: Sequence[float] | float = 1.0,
    power: float = 0.9,
    correction: float | None = None,
    amplitude: float | None = None,
    two_sided: bool = False,
) -> float:
    """Return the draws per size at which ``violation`` is what :func:`violation_seen` returns; inf if no number suffices.

    >>> sizes = [16, 32, 64, 128, 256, 512, 1024]
    >>> seen = violation_seen(Contract(), sizes, 12345.0)
    >>> abs(draws_needed(Contract(), sizes, seen) / 12345.0 - 1) < 1e-6
    True
    """
    experiment = Experiment.of(sizes, noise=noise, correction=correction, amplitude=amplitude)
    return _least(
        lambda draws: refuting_reach(experiment.error(draws), contract, power, two_sided=two_sided), violation - contract.within
    )


def draws_to_support(
    contract: Contract,
    sizes: Sequence[float],
    *,
    noise: Sequence[float] | float = 1.0,
    power: float = 0.9,
    correction: float | None = None,
    amplitude: float | None = None,
    two_sided: bool = False,
) -> float:
    """Return the draws per size at which a true, tight bound is SUPPORTED with probability ``power``; inf if no number suffices.

    >>> sizes = [16, 32, 64, 128, 256, 512, 1024]
    >>> declared, open_ended = (draws_to_support(Contract(within=0.15), sizes, correction=w) for w in (1, None))
    >>> declared < open_ended
    True
    >>> draws_to_support(Contract(), [16, 32])
    inf
    """
    experiment = Experiment.of(sizes, noise=noise, correction=correction, amplitude=amplitude)
    return _least(lambda draws: supporting_reach(experiment.error(draws), contract, power, two_sided=two_sided), contract.within)


def _least(reach: Callable[[float], float], allowed: float) -> float:
    """Return the draws at which ``reach``, which falls with the draws, is ``allowed``: 1 if one suffices, inf if none do."""

    def above(log_draws: float) -> float:
        return reach(math.exp(log_draws)) - allowed

    low, high = 0.0, math.log(MOST_DRAWS)
    if not allowed > 0 or not above(high) <= 0:
        return math.inf
    if above(low) <= 0:
        return 1.0
    return math.exp(scipy.optimize.brentq(above, low, high, xtol=1e-12, rtol=1e-14))


@dataclass(frozen=True, slots=True)
class Plan:
    """What ``draws`` per size can do under a contract; ``hopeful`` is False if not even a true and tight bound can be supported.

    >>> found = plan(Contract(), [16, 32, 64, 128, 256, 512, 1024], 20_000, correction=1)
    >>> found.hopeful, round(found.violation_seen, 2)
    (True, 0.12)
    >>> print(found.sentence)
    2e+04 draws per size support a true bound and refute one that is off by 0.12 or more (probability 0.9)
    """

    draws: float
    stderr: float
    violation_seen: float
    draws_to_support: float
    sentence: str

    @property
    def hopeful(self) -> bool:
        """Whether the budget reaches what is needed to support a true, tight bound."""
        return self.draws >= self.draws_to_support


def plan(
    contract: Contract,
    sizes: Sequence[float],
    draws: float,
    *,
    noise: Sequence[float] | float = 1.0,
    power: float = 0.9,
    correction: float | None = None,
    amplitude: float | None = None,
    two_sided: bool = False,
) -> Plan:
    """Say what ``draws`` per size can see, and what it would take.

    >>> plan(Contract(), [16, 32, 64, 128, 256, 512, 1024], 100).hopeful
    False
    """
    experiment = Experiment.of(sizes, noise=noise, correction=correction, amplitude=amplitude)
    error = experiment.error(draws)
    seen = contract.within + refuting_reach(error, contract, power, two_sided=two_sided)
    options = {"noise": noise, "power": power, "correction": correction, "amplitude": amplitude, "two_sided": two_sided}
    needed = draws_to_support(contract, sizes, **options)  # type: ignore[arg-type]
    if math.isinf(needed):
        text = f"no number of draws on these sizes supports even a true bound: {what_helps(correction)}"
    elif draws < needed:
        text = f"{draws:.2g} draws per size are too few to support even a true bound: about {needed:.2g} would"
    else:
        text = f"{draws:.2g} draws per size support a true bound and refute one that is off by {seen:.2g} or more"
    return Plan(draws, error.stderr, seen, needed, f"{text} (probability {power:g})")


def what_helps(correction: float | None) -> str:
    """Say what to do where no number of draws helps.

    >>> what_helps(correction=1)
    'take larger sizes, or allow a larger `within`'
    >>> what_helps(correction=None)
    'take larger sizes or declare the correction, or allow a larger `within`'
    """
    return "take larger sizes" + ("" if correction is not None else " or declare the correction") + ", or allow a larger `within`"
