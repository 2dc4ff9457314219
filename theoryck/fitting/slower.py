"""What else than a declared rate explains values that approach a limit: slower approaches, and growth without limit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from theoryck.fitting.approach import ANY, Approach, ApproachFit, fit_approach
from theoryck.fitting.scan import RESOLVED, SLOWEST, Axes, Scan

SLOWER = 0.75  # times a declared exponent: what is called slower where the tolerance of the exponent is no less
SHARES = (1.0, 0.5, 0.25, 0.125, 0.0)  # of the corrections that are allowed for, which an explanation may take


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


@dataclass(frozen=True)
class Explanations:
    """Values that approach a limit, and the fits of what may explain them, each made once, when it is first asked for.

    Arguments and errors are those of :func:`theoryck.fitting.approach.fit_approach`; ``within`` is how much slower than declared
    is as declared.  Misfit is never taken for noise here.

    >>> sizes = [2.0**j for j in range(2, 14)]
    >>> Explanations(sizes, [math.log(n) + 1 / n for n in sizes], [1e-6] * 12, within=0.05).slower(2.0).grows
    True
    >>> bool(Explanations(sizes, [1 + 1 / n for n in sizes], [1e-6] * 12, within=0.05).slower(2.0))
    False
    """

    sizes: Sequence[float]
    values: Sequence[float]
    stderrs: Sequence[float]
    approach: Approach = ANY
    within: float = 0.0

    @cached_property
    def _any(self) -> ApproachFit:
        return fit_approach(self.sizes, self.values, self.stderrs, self.approach.of_any_rate, slow=True)

    @cached_property
    def _declared(self) -> ApproachFit:
        return fit_approach(self.sizes, self.values, self.stderrs, self.approach)

    def slower(self, z: float, *, better: bool = False, beyond: float = 0.0) -> Slower:
        """Return what is slower than the rate, by more than ``within`` or a quarter of its exponent, and explains values as well.

        Without a rate: what is slower than ``d**-SLOWEST`` and ``1/log d``.  As well is within the limits at z of the best approach
        of all; ``better`` is beyond those of the declared rate (or of every approach that is no slower) with all its corrections.
        With ``beyond`` only approaches to limits further than that from 0 count, and as well is within the limits of the declared
        rate (:meth:`theoryck.fitting.scan.Scan.room_of`), each with the share of its corrections that suits it best: with all of
        them an approach by ``1/log d`` is charged 16 more than one by a power, which hid ``1 + 2/log d`` behind ``d**-0.3``.
        """
        free = self._any
        if free.setting is None or free.scan_as_stated is None or free.setting_as_stated is None:
            return Slower()
        scan, other = free.scan_as_stated, self._declared.scan_as_stated if better or beyond else None
        if (better or beyond) and other is None:
            return Slower()
        if beyond:
            scan, other = _in_shares(free), _in_shares(self._declared)
        than, log_power = self._slowest(free.setting.x)
        if other is None:
            rooms = scan.room(z)
        elif beyond:
            rooms = other.room_of(scan, z)
        else:
            rooms = float((other.chi2 + other.charge).min()) - z * z - scan.charge
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

    def _slowest(self, x: np.ndarray) -> tuple[float, float]:
        """Return the exponents below which a power of d, and one of log d, is slower than the declared rate, from its last step."""
        if self.approach.log_rates is None:
            return SLOWEST, 1.0
        rates = np.asarray(self.approach.log_rates, dtype=float)[np.argsort(np.asarray(self.sizes, dtype=float), kind="stable")]
        exponent = -float((rates[-1] - rates[-2]) / (x[-1] - x[-2])) if x[-1] > x[-2] else SLOWEST
        return slower_than(exponent, self.within), exponent * float(x[-1]) if self.approach.logs else math.inf


def _in_shares(fit: ApproachFit) -> Scan:
    """Return the scan of a fit with every share of the corrections: values that need none are as likely as those that have all."""
    assert fit.setting_as_stated is not None
    assert fit.scan_as_stated is not None
    cells = [replace(cell, share=share) for share in SHARES for cell in fit.scan_as_stated.cells]
    return Axes.of(fit.setting_as_stated, cells).scan()
