"""Choose a schedule for the annealing engine from a pilot on data sets of its own.

The schedule is fixed before the data sets that count are drawn, and bounds and identities of :mod:`theoryck.montecarlo.annealing`
hold for every schedule: tuning changes the width of the bracket and the time, never the sides.  Time is counted by the target's
``costs``, not by a clock, so that the same model gets the same schedule everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from theoryck.montecarlo.annealing import Schedule, Target, log_weights

Array = NDArray[np.float64]
Make = Callable[[np.random.Generator, int], tuple[Target, Array]]
"""(rng, sets) -> a target of that many fresh data sets and an exact posterior sample (sets, dim) of each."""

PLAIN_SETS, PLAIN_PATHS = 32, 256
SETS, PATHS = 8, 16
SAFETY = 1.5
"""The excess of a pilot comes from few data sets with a right tail: ask for this much more."""

RELIABLE = 0.5
"""Above this many nats a bracket does not shrink like 1/paths yet, and cannot be extrapolated."""

CHEAP = 2e7
"""Nanoseconds per data set below which importance sampling is not worth comparing with anything."""

PILOT = 2e9
"""Nanoseconds that one pilot of an annealed candidate may take."""

FACTOR = 4
ACCEPTANCE = 0.8


@dataclass(frozen=True)
class Tuned:
    """A schedule, the nanoseconds it takes per data set, and the excess high - low (nats) that the pilot makes one expect."""

    schedule: Schedule
    cost: float
    gap: float


def excess(make: Make, schedule: Schedule, rng: np.random.Generator, sets: int) -> tuple[float, float]:
    """Return the mean of high - low over ``sets`` data sets and the share of accepted moves."""
    total, accepted = 0.0, 0.0
    for _ in range(sets):
        target, posterior = make(rng, 1)
        weights = log_weights(target, posterior, schedule, rng)
        total += float((weights.high - weights.low).sum())
        accepted += weights.acceptance
    return total / sets, accepted / sets


def tune(make: Make, gap: float, limit: float, rng: np.random.Generator) -> Tuned:
    """Return the cheapest schedule found whose bracket should be ``gap`` nats wide, within ``limit`` nanoseconds a data set.

    Importance sampling (K = 1) is tried first, then ladders of 16, 64, 256, ... temperatures until one is dearer than the last.
    Where nothing reaches ``gap`` within ``limit``, the best ladder is returned with as many paths as the limit allows.
    """
    if not gap > 0:
        raise ValueError(f"gap must be a width in nats > 0, got {gap!r}")
    plain, gradient = make(rng, 1)[0].costs
    wide, _ = excess(make, Schedule(PLAIN_PATHS), rng, PLAIN_SETS)
    best = _planned(Schedule(PLAIN_PATHS), wide, gap, plain, limit)
    if wide < RELIABLE and best.cost <= CHEAP:
        return best
    angle = _angle(make, rng)
    count, last = 16, math.inf
    while SETS * PATHS * count * gradient <= PILOT:
        schedule = Schedule(PATHS, ladder(count), angle)
        wide_now, _ = excess(make, schedule, rng, SETS)
        tried = _planned(schedule, wide_now, gap, gradient, limit)
        if (tried.gap, tried.cost) < (best.gap, best.cost) and not (best.gap <= gap and tried.cost >= best.cost):
            best = tried
        if tried.gap <= gap and tried.cost > last:
            break
        last = tried.cost if tried.gap <= gap else math.inf
        count *= FACTOR
    return best


def ladder(count: int) -> tuple[float, ...]:
    """Return ``count`` equal steps of the inverse temperature, ending at exactly 1."""
    return tuple(k / count for k in range(1, count + 1))


def _planned(schedule: Schedule, wide: float, gap: float, cost: float, limit: float) -> Tuned:
    """Scale the paths so that the excess, measured with ``schedule.paths``, becomes ``gap``; it falls like 1/paths or slower."""
    each = cost * len(schedule.temperatures)
    affordable = max(int(limit / each), 2)
    # Where a bracket is far open, e^wide is about how many times too few paths there are.
    missing = SAFETY * wide if wide <= RELIABLE else RELIABLE * math.exp(min(wide, 50.0))
    paths = max(math.ceil(min(schedule.paths * missing / gap, affordable)), 2)
    expected = wide * min(schedule.paths / paths, 1.0) if wide <= RELIABLE else max(wide - math.log(paths / schedule.paths), gap)
    return Tuned(replace(schedule, paths=paths), paths * each, max(expected, gap) if paths < affordable else expected)


def _angle(make: Make, rng: np.random.Generator) -> float:
    """Return an angle at which about ACCEPTANCE of the moves are accepted, by bisection in the logarithm."""
    low, high = math.log(0.02), math.log(0.5 * math.pi)
    for _ in range(6):
        middle = 0.5 * (low + high)
        _, accepted = excess(make, Schedule(8, ladder(8), math.exp(middle)), rng, 4)
        low, high = (middle, high) if accepted > ACCEPTANCE else (low, middle)
    return math.exp(0.5 * (low + high))
