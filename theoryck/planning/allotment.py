"""Draws put where they count: how many to take at each size so that the exponent is known best for what they cost."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from theoryck.planning.arguments import column
from theoryck.rates.design import exponent_stderr


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
    cost, unit_noise, least = (column(name, data, len(costs)) for name, data in named)
    if not (math.isfinite(budget) and budget > 0):
        raise ValueError(f"budget must be a positive number, got {budget!r}")
    least, even = 2.0 ** np.ceil(np.log2(np.maximum(least, 1.0))), unit_noise / np.sqrt(cost)
    units = _spend(even, cost, budget, least)
    if sizes is not None:
        column("sizes", sizes, len(cost))
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
