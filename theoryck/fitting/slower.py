"""slower_approaches: what is slower than a declared rate, growth without limit included, and explains the values as well."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from theoryck.fitting.approach import ANY, Approach, fit_approach
from theoryck.fitting.scan import ALLOWANCE, RESOLVED, SLOWEST

SLOWER = 0.75  # times a declared exponent: what is called slower where the tolerance of the exponent is no less


@dataclass(frozen=True)
class Slower:
    """What explains the values besides a declared rate: powers of the size, those of its logarithm, growth without limit.

    ``power`` is the largest of the slower powers, nan if there is none; limits from ``low`` to ``high`` belong to what is slower.
    """

    power: float = math.nan
    log: bool = False
    grows: bool = False
    low: float = -math.inf
    high: float = math.inf

    def __bool__(self) -> bool:
        return self.log or self.grows or math.isfinite(self.power)


def slower_than(exponent: float, within: float) -> float:
    """Return the exponent below which an approach is called slower than one of the declared exponent."""
    return max(exponent - within, SLOWER * exponent)


def slower_approaches(
    sizes: Sequence[float],
    values: Sequence[float],
    stderrs: Sequence[float],
    z: float,
    approach: Approach = ANY,
    *,
    within: float,
    better: bool = False,
    beyond: float = 0.0,
) -> Slower:
    """Return what is slower than a rate, by more than ``within`` or a quarter of its exponent, and explains the values as well.

    Without a rate: what is slower than ``d**-SLOWEST`` and ``1/log d``.  As well is within the limits at z of the best approach of
    all; ``better`` is beyond those of the declared rate (or of every approach that is no slower) with all its corrections.  With
    ``beyond`` only approaches to limits further than that from 0 count, and as well is within the limits of the declared rate,
    :data:`theoryck.fitting.scan.ALLOWANCE` included.  Misfit is never taken for noise here.  Arguments and errors are those of
    :func:`fit_approach`.

    >>> sizes = [2.0**j for j in range(2, 14)]
    >>> slower_approaches(sizes, [math.log(n) + 1 / n for n in sizes], [1e-6] * 12, 2.0, within=0.05).grows
    True
    >>> bool(slower_approaches(sizes, [1 + 1 / n for n in sizes], [1e-6] * 12, 2.0, within=0.05))
    False
    """
    free = fit_approach(sizes, values, stderrs, approach.of_any_rate, slow=True)
    if free.setting is None or free.scan_as_stated is None:
        return Slower()
    scan = free.scan_as_stated
    than, log_power = SLOWEST, 1.0
    if approach.log_rates is not None:
        rates = np.asarray(approach.log_rates, dtype=float)[np.argsort(np.asarray(sizes, dtype=float), kind="stable")]
        x = free.setting.x
        exponent = -float((rates[-1] - rates[-2]) / (x[-1] - x[-2])) if x[-1] > x[-2] else SLOWEST
        than = slower_than(exponent, within)
        log_power = exponent * float(x[-1]) if approach.logs else math.inf
    rooms = scan.room(z)
    if better or beyond:
        other = fit_approach(sizes, values, stderrs, approach).scan_as_stated
        if other is None:
            return Slower()
        rooms = float((other.chi2 + other.charge).min()) + (-z * z if better else z * z + ALLOWANCE) - scan.charge
    kept = scan.chi2 <= rooms
    if beyond:
        powerlike = np.array([not cell.slow for cell in scan.cells])[scan.cell]
        kept &= powerlike & (np.abs(scan.given(scan.amplitude)[0] + scan.origin) > beyond)
    found = {int(index): scan.cells[int(index)] for index in scan.cell[kept]}
    powers = {i: c for i, c in found.items() if not c.log and not c.slow and c.high <= than * (1 + RESOLVED)}
    by_log = {i for i, c in found.items() if c.log and log_power > 1.5}
    grows = any(c.slow and c.low + c.high <= 0 for c in found.values())
    slow = any(c.slow == "log d" and 0 < c.low + c.high < 2 * SLOWER * log_power for c in found.values())
    power = max((math.sqrt(c.low * c.high) for c in powers.values()), default=math.nan)
    if grows or slow or better or beyond or not (powers or by_log):
        return Slower(power, bool(by_log) or slow, grows)
    return Slower(power, bool(by_log), False, *scan.ends(z, np.isin(scan.cell, [*powers, *by_log])))
