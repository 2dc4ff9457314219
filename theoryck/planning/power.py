"""What a budget can see, and what it takes to see something."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from theoryck.planning.arguments import column, probability
from theoryck.rates.design import exponent_stderr
from theoryck.records import Contract

_MAX_DRAWS = 2.0**70


def stderr_of_exponent(
    sizes: Sequence[int],
    draws: Sequence[float] | float,
    *,
    noise: Sequence[float] | float = 1.0,
    correction: float | None = None,
    amplitude: float | None = None,
) -> float:
    """Return the stderr of the exponent for ``draws`` per size, each of relative standard deviation ``noise``."""
    count, spread = column("draws", draws, len(sizes)), column("noise", noise, len(sizes))
    return exponent_stderr(list(sizes), list(spread / np.sqrt(count)), correction=correction, amplitude=amplitude)[0]


def violation_seen(
    contract: Contract,
    sizes: Sequence[int],
    draws: Sequence[float] | float,
    *,
    noise: Sequence[float] | float = 1.0,
    power: float = 0.9,
    correction: float | None = None,
    amplitude: float | None = None,
) -> float:
    """Return the smallest excess of the true exponent over the claimed one that is REFUTED with probability ``power``.

    ``within + (z(false_refute_rate) + z(1 - power)) * stderr``; inf with fewer than three sizes.

    >>> round(violation_seen(Contract(), [16, 32, 64, 128, 256, 512, 1024], 1e4), 3)
    0.199
    """
    stderr = stderr_of_exponent(sizes, draws, noise=noise, correction=correction, amplitude=amplitude)
    return contract.within + _reach(contract.false_refute_rate, power) * stderr


def draws_needed(
    contract: Contract,
    sizes: Sequence[int],
    violation: float,
    *,
    noise: Sequence[float] | float = 1.0,
    power: float = 0.9,
    correction: float | None = None,
    amplitude: float | None = None,
) -> float:
    """Return the draws per size at which ``violation`` is what :func:`violation_seen` returns; inf if no number suffices.

    >>> sizes = [16, 32, 64, 128, 256, 512, 1024]
    >>> seen = violation_seen(Contract(), sizes, 12345.0)
    >>> abs(draws_needed(Contract(), sizes, seen) / 12345.0 - 1) < 1e-6
    True
    """
    allowed = (violation - contract.within) / _reach(contract.false_refute_rate, power)
    return _draws_for(allowed, sizes, noise, correction, amplitude)


def draws_to_support(
    contract: Contract,
    sizes: Sequence[int],
    *,
    noise: Sequence[float] | float = 1.0,
    power: float = 0.9,
    correction: float | None = None,
    amplitude: float | None = None,
) -> float:
    """Return the draws per size at which a true, tight bound is SUPPORTED with probability ``power``; inf if no number suffices."""
    allowed = contract.within / _reach(contract.false_support_rate, power)
    return _draws_for(allowed, sizes, noise, correction, amplitude)


def _draws_for(
    allowed: float, sizes: Sequence[int], noise: Sequence[float] | float, correction: float | None, amplitude: float | None
) -> float:
    """Return the draws at which the stderr falls to ``allowed``, by bisection on its logarithm (it decreases with the draws)."""

    def stderr(log_draws: float) -> float:
        return stderr_of_exponent(sizes, math.exp(log_draws), noise=noise, correction=correction, amplitude=amplitude)

    low, high = 0.0, math.log(_MAX_DRAWS)
    if not allowed > 0 or stderr(high) > allowed:
        return math.inf
    if stderr(low) <= allowed:
        return 1.0
    while high - low > 1e-10:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if stderr(middle) <= allowed else (middle, high)
    return math.exp(high)


@dataclass(frozen=True, slots=True)
class Plan:
    """What ``draws`` per size can do under a contract; ``hopeful`` is False if not even a true and tight bound can be supported."""

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
    sizes: Sequence[int],
    draws: float,
    *,
    noise: Sequence[float] | float = 1.0,
    power: float = 0.9,
    correction: float | None = None,
    amplitude: float | None = None,
) -> Plan:
    """Say what ``draws`` per size can see, and what it would take.

    >>> plan(Contract(), [16, 32, 64, 128, 256, 512, 1024], 100).hopeful
    False
    """
    stderr = stderr_of_exponent(sizes, draws, noise=noise, correction=correction, amplitude=amplitude)
    seen = contract.within + _reach(contract.false_refute_rate, power) * stderr
    needed = draws_to_support(contract, sizes, noise=noise, power=power, correction=correction, amplitude=amplitude)
    if math.isinf(needed):
        text = "no number of draws on these sizes supports even a true bound: take larger sizes or declare the correction"
    elif draws < needed:
        text = f"{draws:.2g} draws per size are too few to support even a true bound: about {needed:.2g} would"
    else:
        text = f"{draws:.2g} draws per size support a true bound and refute one that is off by {seen:.2g} or more"
    return Plan(draws, stderr, seen, needed, f"{text} (probability {power:g})")


def _reach(error_rate: float, power: float) -> float:
    probability("power", power)
    normal = NormalDist()
    return normal.inv_cdf(1 - error_rate) + normal.inv_cdf(power)
