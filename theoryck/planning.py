"""planning: error rates shared over a session, looks that are paid for, draws put where they count, and what a budget can see.

Everything here is pure arithmetic done before a single draw:

* :func:`share`, :func:`share_over` and :func:`holm` divide the session's false-refute rate over claims and instances; power is not
  divided;
* :func:`looks` splits the error rates of a contract over a fixed schedule of looks (alpha spending with a union bound, so that the
  sum over looks never exceeds what was declared, whatever the dependence between looks);
* :func:`allocate` puts blocks of draws on the sizes so that the exponent is known best per second;
* :func:`violation_seen` and :func:`draws_needed` are inverse to each other: budget to smallest violation that will be refuted with
  probability ``power``, and back; :func:`plan` says all of it in a sentence.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from theoryck.rates.design import exponent_stderr
from theoryck.records import Contract

DEFAULT_FRACTIONS = (1 / 16, 1 / 4, 1.0)
_MAX_DRAWS = 2.0**70


def share(rate: float, among: int) -> float:
    """Return ``rate / among``: by the union bound the whole errs with probability at most ``rate``, whatever the dependence.

    >>> share(0.01, 4)
    0.0025
    """
    _probability("rate", rate)
    if among < 1:
        raise ValueError(f"among must be at least 1, got {among!r}: there is nothing to share the error rate over")
    return rate / among


def share_over(rate: float, instances: Mapping[str, int]) -> dict[str, float]:
    """Return for each claim the error rate of one of its instances: ``rate / claims / instances of the claim``.

    >>> share_over(0.01, {"a": 1, "b": 5})
    {'a': 0.005, 'b': 0.001}
    """
    each = share(rate, len(instances))
    return {claim: share(each, count) for claim, count in instances.items()}


def holm(p_values: Sequence[float], rate: float) -> tuple[bool, ...]:
    """Return which hypotheses are rejected at family-wise error ``rate`` (Holm 1979: the i-th smallest p against rate/(m-i+1)).

    >>> holm([0.001, 0.02, 0.04, 0.5], 0.05)
    (True, False, False, False)
    """
    _probability("rate", rate)
    for index, p in enumerate(p_values):
        if not 0 <= p <= 1:
            raise ValueError(f"p_values[{index}] = {p!r} must lie between 0 and 1")
    rejected = [False] * len(p_values)
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        if p_values[index] > rate / (len(p_values) - rank):
            break
        rejected[index] = True
    return tuple(rejected)


@dataclass(frozen=True, slots=True)
class Look:
    """One look at the evidence, after ``fraction`` of the budget, with the error rates it may spend."""

    fraction: float
    contract: Contract


def looks(contract: Contract, fractions: Sequence[float] = DEFAULT_FRACTIONS, *, power: float = 0.5) -> tuple[Look, ...]:
    """Return the schedule of looks: after a fraction t of the budget, ``rate * t**power`` of each error rate may have been spent.

    ``fractions`` must increase to 1.  Each look gets the increment, so the rates sum to those of ``contract``.

    >>> [round(look.contract.false_refute_rate, 6) for look in looks(Contract(false_refute_rate=0.001))]
    [0.00025, 0.00025, 0.0005]
    """
    steps = [0.0, *fractions]
    if len(steps) < 2 or any(later <= earlier for earlier, later in itertools.pairwise(steps)) or steps[-1] != 1:
        raise ValueError(f"fractions must increase and end at 1, got {list(fractions)}")
    if not power > 0:
        raise ValueError(f"power must be positive, got {power!r}")
    schedule = []
    for earlier, later in itertools.pairwise(steps):
        spent = later**power - earlier**power
        rates = {"false_refute_rate": contract.false_refute_rate * spent, "false_support_rate": contract.false_support_rate * spent}
        schedule.append(Look(later, replace(contract, **rates)))
    return tuple(schedule)


def allocate(
    costs: Sequence[float],
    budget: float,
    *,
    sizes: Sequence[int] | None = None,
    floor: Sequence[float] | float = 1.0,
    noise: Sequence[float] | float = 1.0,
    correction: float | None = None,
    amplitude: float | None = None,
) -> list[int]:
    """Return how many units (draws or blocks) to take at each size, powers of two, to know the exponent best for ``budget``.

    ``costs[i]`` is what one unit costs, ``noise[i]`` the relative error after one unit, ``floor`` the fewest units of a size.
    Without ``sizes``: ``n_i`` proportional to ``noise_i / sqrt(cost_i)``.  With ``sizes``: the variance of the exponent is ``sum_i
    g_i^2 noise_i^2 / n_i`` plus what corrections leave open; at given total cost it is least for ``n_i`` proportional to
    ``|g_i| noise_i / sqrt(cost_i)`` (Lagrange), and g, which depends on n, is found by iteration.  Such designs starve some
    sizes, which would leave the fit untested there, so half of the budget still goes the first way.  The result costs at most
    ``budget``, unless the floors do.

    >>> allocate([1, 4, 16], 1000.0)
    [128, 64, 32]
    >>> allocate([1, 2, 4, 8], 1000.0, sizes=[16, 32, 64, 128])
    [64, 128, 32, 64]
    """
    named = (("costs", costs), ("noise", noise), ("floor", floor))
    cost, unit_noise, least = (_column(name, data, len(costs)) for name, data in named)
    if not (math.isfinite(budget) and budget > 0):
        raise ValueError(f"budget must be a positive number, got {budget!r}")
    least, even = 2.0 ** np.ceil(np.log2(np.maximum(least, 1.0))), unit_noise / np.sqrt(cost)
    units = _spend(even, cost, budget, least)
    if sizes is not None:
        _column("sizes", sizes, len(cost))
        for _ in range(20):
            _, g = exponent_stderr(list(sizes), list(unit_noise / np.sqrt(units)), correction=correction, amplitude=amplitude)
            if not g.any():  # fewer than three sizes: nothing to optimise
                break
            wanted = np.abs(g) * even
            wanted = wanted / float(wanted @ cost) + even / float(even @ cost)
            units = np.sqrt(units * _spend(wanted, cost, budget, least))  # geometric damping
    return _powers_of_two(units, cost, budget, least)


def _spend(wanted: np.ndarray, cost: np.ndarray, budget: float, least: np.ndarray) -> np.ndarray:
    """Scale ``wanted`` so that it costs ``budget`` once the floors are granted."""
    units = least.copy()
    if float(cost @ least) >= budget:
        return units
    free = np.ones(len(cost), dtype=bool)
    while free.any():
        left = budget - float((cost * least)[~free].sum())  # positive: it is more than the floors of the free sizes cost
        scaled = wanted * (left / float((wanted * cost)[free].sum()))
        units = np.where(free, scaled, least)
        short = free & (units < least)
        if not short.any():
            break
        free &= ~short
    return np.maximum(units, least)


def _powers_of_two(units: np.ndarray, cost: np.ndarray, budget: float, least: np.ndarray) -> list[int]:
    """Round down to powers of two (never below the floor), then double where most is missing, while money lasts."""
    rounded = [max(2 ** math.floor(math.log2(count)), int(low)) for count, low in zip(units, least)]
    left = budget - float(np.dot(rounded, cost))
    for index in sorted(range(len(rounded)), key=lambda i: (rounded[i] / units[i], i)):
        if rounded[index] < units[index] and rounded[index] * cost[index] <= left:
            left -= rounded[index] * float(cost[index])
            rounded[index] *= 2
    return rounded


def stderr_of_exponent(
    sizes: Sequence[int],
    draws: Sequence[float] | float,
    *,
    noise: Sequence[float] | float = 1.0,
    correction: float | None = None,
    amplitude: float | None = None,
) -> float:
    """Return the stderr of the exponent for ``draws`` per size, each of relative standard deviation ``noise``."""
    count, spread = _column("draws", draws, len(sizes)), _column("noise", noise, len(sizes))
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
    _probability("power", power)
    normal = NormalDist()
    return normal.inv_cdf(1 - error_rate) + normal.inv_cdf(power)


def _probability(name: str, value: float) -> None:
    if not 0 < value < 1:
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {value!r}")


def _column(name: str, data: Sequence[float] | float, length: int) -> np.ndarray:
    column = np.broadcast_to(np.asarray(data, dtype=float), (length,)) if np.ndim(data) == 0 else np.asarray(data, dtype=float)
    if column.shape != (length,):
        raise ValueError(f"{name} must be one number or one per size ({length}), got shape {column.shape}")
    if not (np.isfinite(column) & (column > 0)).all():
        raise ValueError(f"{name} must be positive and finite, got {list(column)}")
    return column
