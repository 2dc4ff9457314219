"""Choose a schedule for the annealing engine from a pilot on data sets of its own.

The schedule is fixed before the data sets that count are drawn, and bounds and identities of
:mod:`theoryck.numerics.annealing.paths` hold for every schedule: tuning changes the width of the bracket and the time, never the
sides.  Time is counted by the target's ``costs``, not by a clock, so that the same model gets the same schedule everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from theoryck.numerics.annealing.paths import Schedule, Target, log_weights

Array = NDArray[np.float64]
Make = Callable[[np.random.Generator, int], tuple[Target, Array]]
"""(rng, sets) -> a target of that many fresh data sets and an exact posterior sample (sets, dim) of each."""

PLAIN_SETS, PLAIN_PATHS = 32, 256
SETS, PATHS = 12, 16
SAFETY = 2.0
"""The excess of a pilot comes from few data sets with a right tail: ask for this much more."""

RELIABLE = 0.5
"""Above this many nats a bracket does not shrink like 1/paths yet, and cannot be extrapolated."""

FREE = 1e5
"""Nanoseconds that paths may take in any case: more paths make 1/R less noisy, and drawing a data set takes as long."""

CHEAP = 5e7
"""Nanoseconds per data set below which importance sampling is not worth comparing with anything."""

PILOT = 5e8
"""Nanoseconds that one pilot of an annealed candidate may take."""

FACTOR = 4
CLEARLY = 2.0
ACCEPTANCE = 0.8


@dataclass(frozen=True)
class Tuned:
    """A schedule, the nanoseconds it takes per data set, and the excess high - low (nats) that the pilot makes one expect."""

    schedule: Schedule
    cost: float
    gap: float


def excess(make: Make, schedule: Schedule, rng: np.random.Generator, sets: int) -> tuple[float, float]:
    """Return the mean of high - low over ``sets`` data sets, or its floor, and the share of accepted moves.

    The mean has a right tail that few data sets miss.  Log weights of variance v have e^v - 1 as relative variance of the weights
    if they are normal, and less if they are skewed to the left, as usual: (e^(v/2) - 1)/paths serves as a floor.
    """
    total, spread, accepted, done, step = 0.0, 0.0, 0.0, 0, 1
    while done < sets:
        count = min(step, sets - done)
        target, posterior = make(rng, count)
        weights = log_weights(target, posterior, schedule, rng)
        total += float((weights.high - weights.low).sum())
        spread += float(weights.log[:, 1:].var(axis=1).sum())
        accepted += count * weights.acceptance
        done, step = done + count, max(target.piece // schedule.paths, 1)
    floor = math.expm1(min(0.5 * spread / sets, 50.0)) / schedule.paths
    return max(total / sets, floor), accepted / sets


def tune(make: Make, gap: float, limit: float, rng: np.random.Generator) -> Tuned:
    """Return the cheapest schedule found whose bracket should be ``gap`` nats wide, within ``limit`` nanoseconds a data set.

    Importance sampling (K = 1) is tried first, then ladders of 16, 64, 256, ... temperatures until one is dearer than the last.
    Where nothing reaches ``gap`` within ``limit``, the narrowest candidate is returned with as many paths as the limit allows.
    """
    if not gap > 0:
        raise ValueError(f"gap must be a width in nats > 0, got {gap!r}")
    plain, gradient = make(rng, 1)[0].costs
    best = _tried(make, Schedule(PLAIN_PATHS), gap, plain, limit, rng, PLAIN_SETS)
    if best.gap <= gap and best.cost <= CHEAP:
        return best
    angle = _angle(make, rng)
    count, last = 16, math.inf
    while SETS * PATHS * count * gradient <= PILOT:
        now = _tried(make, Schedule(PATHS, ladder(count), angle), gap, gradient, limit, rng, SETS)
        # The least of several noisy estimates is too low: to be preferred, a ladder has to be much cheaper.
        best = min(best, now, key=lambda tuned: (tuned.gap, tuned.cost * (CLEARLY if tuned is now else 1.0)))
        if now.gap <= gap and now.cost > last:
            break
        last = now.cost if now.gap <= gap else math.inf
        count *= FACTOR
    return best


def _tried(make: Make, schedule: Schedule, gap: float, cost: float, limit: float, rng: np.random.Generator, sets: int) -> Tuned:
    """Measure the excess, with more paths while the bracket is too open to be extrapolated and time is left; then plan."""
    each = cost * len(schedule.temperatures)
    while True:
        wide, _ = excess(make, schedule, rng, sets)
        if wide <= RELIABLE or FACTOR * sets * schedule.paths * each > PILOT:
            return _planned(schedule, wide, gap, each, limit)
        schedule = replace(schedule, paths=FACTOR * schedule.paths)


def ladder(count: int) -> tuple[float, ...]:
    """Return ``count`` equal steps of the inverse temperature, ending at exactly 1."""
    return tuple(k / count for k in range(1, count + 1))


def _planned(schedule: Schedule, wide: float, gap: float, each: float, limit: float) -> Tuned:
    """Scale the paths so that the excess, measured with ``schedule.paths``, becomes ``gap``; it falls like 1/paths or slower."""
    affordable = max(int(limit / each), 2)
    least = max(int(FREE / each), PATHS)
    # Where a bracket is far open, e^wide is about how many times too few paths there are.
    missing = SAFETY * wide if wide <= RELIABLE else RELIABLE * math.exp(min(wide, 50.0))
    wanted = schedule.paths * missing / gap
    if max(wanted, least) <= affordable:
        paths, expected = max(math.ceil(wanted), least), gap
    else:
        paths = affordable
        expected = max(wide - max(math.log(paths / schedule.paths), 0.0), gap * wanted / paths if wide <= RELIABLE else gap, gap)
    return Tuned(replace(schedule, paths=paths), paths * each, expected)


def _angle(make: Make, rng: np.random.Generator) -> float:
    """Return an angle at which about ACCEPTANCE of the moves are accepted, by bisection in the logarithm."""
    low, high = math.log(0.02), math.log(0.5 * math.pi)
    for _ in range(6):
        middle = 0.5 * (low + high)
        _, accepted = excess(make, Schedule(8, ladder(8), math.exp(middle)), rng, 4)
        low, high = (middle, high) if accepted > ACCEPTANCE else (low, middle)
    return math.exp(0.5 * (low + high))
