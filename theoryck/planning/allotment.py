"""Draws put where they count: how many to take at each size so that the exponent is known best for what they cost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from theoryck.fitting.corrections import CorrectionFamily
from theoryck.fitting.data import MIN_SIZES
from theoryck.fitting.linear import design_matrix
from theoryck.planning.errors import column, probability

TESTED = 0.03
"""Share of a budget spread over all sizes, so that the fit is tested at each of them and not only where the exponent is made."""

_STEPS = 100
_CONVERGED = 1e-2


def allocate(
    costs: Sequence[float],
    budget: float,
    *,
    sizes: Sequence[float] | None = None,
    floor: Sequence[float] | float = 1.0,
    noise: Sequence[float] | float = 1.0,
    correction: float | None = None,
    amplitude: float | None = None,
    error_rate: float = 0.025,
) -> list[int]:
    """Return how many units (draws or blocks) to take at each size to know the exponent best for ``budget``.

    ``costs[i]`` is what one unit costs, ``noise[i]`` the relative error after one unit, ``floor`` the fewest units of a size, for
    example what was taken before.  Without ``sizes``: ``n_i`` proportional to ``noise_i / sqrt(cost_i)``.  With ``sizes`` the
    reach of the limit that supports at ``error_rate`` is made small, ``max(z stderr, z noise + bias)`` as in
    :meth:`~theoryck.fitting.linear.ExponentError.decision_reach`: at given total cost it is least where one more unit of cost at
    any size takes off the same (Lagrange), which is found by iteration.  Such designs starve most sizes, which would leave the fit
    untested there, so a share ``TESTED`` of the budget goes the first way.  The result costs at most ``budget``, unless the floors
    do.

    >>> allocate([1, 4, 16], 1000.0)
    [143, 72, 35]
    >>> allocate([1, 2, 4, 8], 1000.0, sizes=[16, 32, 64, 128])
    [17, 169, 3, 79]
    """
    named = (("costs", costs), ("noise", noise), ("floor", floor))
    cost, unit_noise, least = (column(name, data, len(costs)) for name, data in named)
    if not (math.isfinite(budget) and budget > 0):
        raise ValueError(f"budget must be a positive number, got {budget!r}")
    probability("error_rate", error_rate)
    least, even = np.ceil(np.maximum(least, 1.0)), unit_noise / np.sqrt(cost)
    even = even / float(even @ cost)
    units = _spend(even, cost, budget, least)
    if sizes is not None and float(cost @ least) < budget:
        column("sizes", sizes, len(cost))
        if len(set(sizes)) >= MIN_SIZES:  # with fewer there is nothing to optimise
            finest = float((unit_noise / np.sqrt(units)).min())
            design = _Design.of(sizes, finest, correction, amplitude, -NormalDist().inv_cdf(error_rate))
            units = _informed(units, even, cost, budget, least, unit_noise, design)
    return _whole(units, cost, budget, least)


@dataclass(frozen=True)
class _Design:
    """What the exponent's error depends on besides the noise: the two flat unknowns, and how corrections make values covary.

    With the corrections integrated out, log Q has covariance ``V = diag(noise^2/n) + K``, and generalised least squares on
    (1, log d) gives the exponent ``sum_i g_i log Q_i``.  To allot draws, rounding in V^-1 does not matter.
    """

    flat: np.ndarray  # (sizes, 2)
    corrections: np.ndarray  # K, (sizes, sizes)
    truths: np.ndarray  # (truths, sizes)
    z: float

    @classmethod
    def of(cls, sizes: Sequence[float], finest: float, correction: float | None, amplitude: float | None, z: float) -> _Design:
        """Build the design, with the terms that matter at the relative error ``finest``."""
        family = CorrectionFamily.choose(float(min(sizes)), correction, amplitude, finest)
        d = np.asarray(sizes, dtype=float)
        columns = design_matrix(np.log(d), float(min(sizes)), float(max(sizes)), family, True)
        return cls(columns[:, :2], columns[:, 2:] @ columns[:, 2:].T, family.truths(d), z)

    def solve(self, variances: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the reach and its derivative by the variance of each log Q.

        ``d stderr^2 / dv_i = g_i^2``, g being the best weights for the stderr; ``dg / dv_i = -g_i P_i`` with P_i a row of
        ``P = W - W F (F'WF)^-1 F'W``, W = V^-1 and F the flat columns.
        """
        inverse = np.linalg.inv(np.diag(variances) + self.corrections)
        weighted = inverse @ self.flat
        covariance = np.linalg.inv(self.flat.T @ weighted)
        g = weighted @ covariance[1]
        stderr, noise = math.sqrt(covariance[1, 1]), math.sqrt(float(variances @ g**2))
        shifts = self.truths @ g
        worst = int(np.argmax(np.abs(shifts)))
        bias = float(shifts[worst])
        if self.z * stderr >= self.z * noise + abs(bias):
            return self.z * stderr, self.z * g**2 / (2 * stderr)
        projected = inverse - weighted @ covariance @ weighted.T
        of_noise = (g**2 - 2 * g * (projected @ (variances * g))) / (2 * noise)
        of_bias = -math.copysign(1.0, bias) * g * (projected @ self.truths[worst])
        return self.z * noise + abs(bias), self.z * of_noise + of_bias


def _informed(
    units: np.ndarray, even: np.ndarray, cost: np.ndarray, budget: float, least: np.ndarray, noise: np.ndarray, design: _Design
) -> np.ndarray:
    """Go on from the even start to where a unit of cost takes off the same at every size, and keep the best on the way.

    A unit more at size i lowers v_i = noise_i^2/n_i by v_i/n_i.  For ``reach = stderr`` the step is n_i ~ |g_i| noise_i /
    sqrt(cost_i).  A size at which more draws would add bias gets none but its share of what is TESTED.
    """
    best, smallest = units, math.inf
    for _ in range(_STEPS):
        variances = noise**2 / units
        reach, slope = design.solve(variances)
        if reach < smallest:
            best, smallest = units, reach
        wanted = np.sqrt(variances * np.where(slope > 0, slope, 0.0) * units / cost)
        if not wanted.any():  # only corrections are left, and draws do not help
            break
        wanted = (1 - TESTED) * wanted / float(wanted @ cost) + TESTED * even
        following = np.sqrt(units * _spend(wanted, cost, budget, least))  # geometric damping
        if np.abs(np.log(following / units)).max() < _CONVERGED:
            break
        units = following
    return best


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


def _whole(units: np.ndarray, cost: np.ndarray, budget: float, least: np.ndarray) -> list[int]:
    """Round down (never below the floor), then add one where the largest share is missing, while money lasts.

    A hair is added first, so that the last bit of a logarithm does not decide whether 7.9999999 is 7.
    """
    rounded = [max(math.floor(count * (1 + 1e-9)), int(low)) for count, low in zip(units, least)]
    left = budget - float(np.dot(rounded, cost))
    for index in sorted(range(len(rounded)), key=lambda i: (rounded[i] / units[i], i)):
        if rounded[index] < units[index] and cost[index] <= left:
            left -= float(cost[index])
            rounded[index] += 1
    return rounded
