"""fit_approach: a limit whose approach is a declared rate, or any from ``d**-1/10`` and ``1/log d`` on.

The model is ``Q_i = L + A r(d_i) (1 + sum_j B_j d_i**-w_j) + noise_i``: L and A are free, the B_j have the priors of
:mod:`theoryck.fitting.corrections`, and so have the corrections of a rate with a logarithm in powers of ``1/log d``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import NormalDist

import numpy as np
import scipy.special

from theoryck.fitting.corrections import CorrectionFamily
from theoryck.fitting.data import MIN_SIZES, Array, require, vector, whole
from theoryck.fitting.fit import POOR_FIT
from theoryck.fitting.linear import solve
from theoryck.fitting.scan import RESOLVED, STANDS_OUT, Axes, Cell, Scan, Setting, cells_of, slow_cells
from theoryck.records import Interval, Size

LEAST_SWING = 0.01  # of the range of the values
LEAST_DECAY = 0.05  # of the logarithm of a rate over the window


@dataclass(frozen=True)
class Approach:
    """What is declared of an approach: its rate by logarithms, one a size, or any if there are none, and its corrections.

    ``logs`` says that the rate has a logarithm of a size, whose corrections are powers of ``1/log d``; ``correction`` and
    ``amplitude`` are of the corrections relative to the approach.
    """

    log_rates: Sequence[float] | None = None
    logs: bool = False
    correction: float | None = None
    amplitude: float | None = None

    @property
    def of_any_rate(self) -> Approach:
        """The same corrections of any rate."""
        return replace(self, log_rates=None, logs=False)


@dataclass(frozen=True)
class ApproachFit:
    """The limit of ``Q_i = L + A r(d_i) (1 + corrections) + noise``; ``reason`` is empty if it is identifiable.

    ``declared`` says that r is a rate that was given, up to faster ones; else r is any approach that the values allow.
    """

    estimate: float
    chi2: float
    dof: int
    p_value: float
    window: tuple[Size, Size]
    family: CorrectionFamily
    declared: bool
    flags: tuple[str, ...] = ()
    reason: str = ""
    rate_first: float = 0.0  # the logarithm of the declared rate at the first size
    moving: float = 0.0  # how far the values still move over the larger half of the sizes, in standard errors
    setting: Setting | None = field(default=None, repr=False, compare=False)
    scan: Scan | None = field(default=None, repr=False, compare=False)
    setting_as_stated: Setting | None = field(default=None, repr=False, compare=False)  # with no misfit taken for noise
    scan_as_stated: Scan | None = field(default=None, repr=False, compare=False)

    @cached_property
    def stderr(self) -> float:
        """Half of the interval at 95% over 1.96; infinite where nothing was fitted."""
        return self.interval().half_width / NormalDist().inv_cdf(0.975)

    def interval(self, level: float = 0.95) -> Interval:
        """Return the two-sided interval of the limit at confidence ``level``."""
        if self.scan is None:
            return Interval(math.nan, -math.inf, math.inf, level)
        return Interval(self.estimate, *self.scan.ends(NormalDist().inv_cdf(0.5 + level / 2)), level)

    def lower(self, error_rate: float) -> float:
        """Return the one-sided lower limit."""
        return -math.inf if self.scan is None else self.scan.ends(NormalDist().inv_cdf(1 - error_rate))[0]

    def upper(self, error_rate: float) -> float:
        """Return the one-sided upper limit."""
        return math.inf if self.scan is None else self.scan.ends(NormalDist().inv_cdf(1 - error_rate))[1]

    decision_lower, decision_upper = lower, upper  # the hull allows for every truth of the family already

    def stderr_with(self, factor: float) -> float:
        """Return the stderr if every size had ``factor`` times the draws and the values were those fitted."""
        if self.setting is None or self.scan is None:
            return math.inf
        fitted = np.array([self.value_at(size).estimate for size in np.exp(self.setting.x)])
        least = RESOLVED * max(float(np.abs(fitted).max()), float(np.ptp(fitted))) or RESOLVED
        errors = np.maximum(self.setting.errors / math.sqrt(factor), least)
        setting = Setting(self.setting.x, fitted, errors, self.setting.log_rates, self.setting.logs, self.setting.family)
        low, high = Axes.of(setting, self.scan.cells).scan().ends(NormalDist().inv_cdf(0.975))
        return 0.5 * (high - low) / NormalDist().inv_cdf(0.975)

    @cached_property
    def _curve(self) -> tuple[Cell, float, Array, Array]:
        """The cell and the size of the corrections of the best fit, with its coefficients and their covariance."""
        assert self.setting is not None
        assert self.scan is not None
        cell, size = self.scan.cells[int(self.scan.cell[self.scan.best])], float(self.scan.size[self.scan.best])
        mean, columns = self.setting.columns(cell, self.setting.x)
        design = np.concatenate([np.ones((len(mean), 1)), mean[:, None], size * columns], axis=1)
        theta, covariance, _ = solve(design, self.setting.values - self.scan.origin, 1 / self.setting.errors, 2)
        return cell, size, theta, covariance

    def value_at(self, size: float, level: float = 0.95) -> Interval:
        """Return the curve of the best fit at ``size``, with its interval."""
        if self.setting is None or self.scan is None:
            return Interval(math.nan, -math.inf, math.inf, level)
        cell, scale, theta, covariance = self._curve
        mean, columns = self.setting.columns(cell, np.array([math.log(size)]))
        row = np.concatenate([[1.0], mean, scale * columns[0]])
        centre = float(row @ theta) + self.scan.origin
        reach = NormalDist().inv_cdf(0.5 + level / 2) * math.sqrt(max(float(row @ covariance @ row), 0.0))
        return Interval(centre, centre - reach, centre + reach, level)

    @property
    def resolution(self) -> float:
        """The error below which a value says nothing: that of the arithmetic."""
        return RESOLVED * max(float(np.abs(self.setting.values).max()), 1e-3) if self.setting is not None else 0.0

    def coefficient(self, level: float, free: ApproachFit) -> Interval:
        """Return the interval of A, in ``L + A * rate`` where a rate is declared, else in ``L + A d**-w`` for the w of ``free``."""
        if self.setting is None or self.scan is None:
            return Interval(math.nan, -math.inf, math.inf, level)
        scan, z, first = self.scan, NormalDist().inv_cdf(0.5 + level / 2), float(self.setting.x[0])
        room = scan.room(z)
        determinant = np.maximum(scan.a * scan.c - scan.b**2, 1e-13 * scan.a * scan.c)
        reach = np.sqrt(np.maximum(room - scan.floor, 0.0) * scan.a / determinant)
        low, high = np.maximum(scan.m - reach, scan.least), np.minimum(scan.m + reach, scan.most)
        if self.declared:
            kept = scan.kept(z) & np.array([scan.cells[int(index)].high == 0 for index in scan.cell])
            factors = (math.exp(-self.rate_first),) * 2
        else:
            powers = free.exponents(level)[0]
            kept = scan.kept(z) & np.array([not scan.cells[int(index)].log for index in scan.cell])
            if not math.isfinite(powers.half_width):
                return Interval(math.nan, -math.inf, math.inf, level)
            factors = (math.exp(powers.low * first), math.exp(powers.high * first))
        if not kept.any():
            return Interval(math.nan, -math.inf, math.inf, level)
        ends = [end * factor for end in (float(low[kept].min()), float(high[kept].max())) for factor in factors]
        centre = float(scan.amplitude[scan.best]) * math.sqrt(factors[0] * factors[1])
        return Interval(min(max(centre, min(ends)), max(ends)), min(ends), max(ends), level)

    def exponents(self, level: float = 0.95) -> tuple[Interval, bool]:
        """Return the interval of w of the approach, in the units of cells, and whether ``1/log d`` is within the limits too.

        The exponent is counted from that of a declared rate.
        """
        if self.setting is None or self.scan is None:
            return Interval(math.nan, -math.inf, math.inf, level), False
        z, scan = NormalDist().inv_cdf(0.5 + level / 2), self.scan
        log, edge = any(scan.cells[int(index)].log for index in scan.cell[scan.kept(z)]), None
        for _ in range(12):
            powers = [scan.cells[int(index)] for index in scan.cell[scan.kept(z)]]
            powers = [cell for cell in powers if not cell.log and not cell.slow]
            if not powers:
                return Interval(math.nan, -math.inf, math.inf, level), log
            low, high = min(cell.low for cell in powers), max(cell.high for cell in powers)
            edge = edge if edge is not None else min((c.low for c in scan.cells if not c.log and not c.slow), default=low)
            cut = np.linspace(low, high, 13)
            if max(cell.high - cell.low for cell in powers) <= 0.2 * (high - low):
                break
            scan = Axes.of(self.setting, [Cell(*pair) for pair in zip(cut[:-2].tolist(), cut[2:].tolist())]).scan()
        best = scan.cells[int(scan.cell[scan.best])]
        # An interval that reaches the slowest approach of the family is open there.
        centre = min(max(0.5 * (best.low + best.high), low), high)  # what fits best may be a logarithm
        return Interval(centre, 0.0 if edge is not None and low <= edge else low, high, level), log


ANY = Approach()


def fit_approach(
    sizes: Sequence[float],
    values: Sequence[float],
    stderrs: Sequence[float],
    approach: Approach = ANY,
    *,
    slow: bool = False,
) -> ApproachFit:
    """Fit the limit of values that approach it at the rate declared, or as slowly as ``d**-1/10`` without one.

    ``slow`` adds slower approaches and growth without limit, of which the curve has a meaning and the limit has none.

    Values of any sign are allowed.  Values that alternate beyond their errors, and a rate that does not fall, have no fit and a
    ``reason``.  Raises ValueError as :func:`theoryck.fitting.fit.fit_rate` does.

    >>> sizes = [16, 32, 64, 128, 256, 512, 1024, 2048]
    >>> values = [2 - 1.7 * n ** (-1 / 6) for n in sizes]
    >>> declared = fit_approach(sizes, values, [0.0] * 8, Approach([-math.log(n) / 6 for n in sizes]))
    >>> abs(declared.estimate - 2) < declared.stderr < 1e-3
    True
    >>> open_minded = fit_approach(sizes, values, [0.0] * 8)
    >>> open_minded.interval().contains(2.0), 1e-3 < open_minded.stderr < 0.1
    (True, True)
    """
    d, v, e = (vector(name, data) for name, data in (("sizes", sizes), ("values", values), ("stderrs", stderrs)))
    if not len(d) == len(v) == len(e) > 0:
        raise ValueError(f"sizes, values and stderrs must have the same positive length, got {len(d)}, {len(v)} and {len(e)}")
    require(d > 0, "sizes", d, "must be positive")
    require(e >= 0, "stderrs", e, "must not be negative")
    declared = approach.log_rates is not None
    rates = np.zeros_like(d) if approach.log_rates is None else vector("log_rates", approach.log_rates)
    order = np.argsort(d, kind="stable")
    rate_first = float(rates[order[0]])
    d, v, e, rates = d[order], v[order], e[order], rates[order] - rate_first
    scale = max(float(np.abs(v).max()), float(np.ptp(v))) or 1.0
    e = np.maximum(e, RESOLVED * scale)
    noise = min(float(e.min() / max(np.ptp(v), e.min())), 1.0)
    first = float(d[0])
    family = CorrectionFamily.choose(first, approach.correction, approach.amplitude, noise)
    window = (whole(first), whole(float(d[-1])))
    nothing = ApproachFit(math.nan, math.nan, 0, math.nan, window, family, declared)
    reason = _unfit(d, v, e, rates, declared)
    if reason:
        return replace(nothing, reason=reason)
    cells = [*cells_of(first, declared), *(slow_cells() if slow else [])]
    setting = first_setting = Setting(np.log(d), v, e, rates, approach.logs and first >= 2, family)
    dof = max(len(d) - 2, 1)
    scan = first_scan = Axes.of(setting, cells).scan()
    while scipy.special.chdtrc(dof, scan.chi2[scan.best]) < POOR_FIT:  # what no approach explains is taken for noise
        more = max(float(scan.chi2[scan.best]) / dof, 1.5)
        setting = Setting(setting.x, v, setting.errors * math.sqrt(more), rates, setting.logs, family)
        scan = Axes.of(setting, cells).scan()
    chi2 = float(first_scan.chi2[first_scan.best])
    half = len(d) // 2
    gap = math.hypot(setting.errors[-1], setting.errors[half - 1])
    return ApproachFit(
        estimate=float(scan.given(scan.amplitude)[0][scan.best]) + scan.origin,
        chi2=chi2,
        dof=dof,
        p_value=float(scipy.special.chdtrc(dof, chi2)),
        window=window,
        family=family,
        declared=declared,
        flags=() if scan is first_scan else ("poor-fit",),
        rate_first=rate_first,
        moving=abs(float(v[-1] - v[half - 1])) / gap,
        setting=setting,
        scan=scan,
        setting_as_stated=first_setting,
        scan_as_stated=first_scan,
    )


def _unfit(d: Array, v: Array, e: Array, rates: Array, declared: bool) -> str:
    """Say why these values have no fit, or nothing."""
    distinct = len(np.unique(d))
    if distinct < MIN_SIZES:
        counted = f"{distinct} size{'s' * (distinct != 1)}"
        return f"{counted} cannot show a limit together with its corrections: measure at least {MIN_SIZES}, better 6"
    if declared and float(rates[-1]) > -LEAST_DECAY:
        return "the declared rate does not fall over these sizes, so that it says nothing of an approach"
    steps = np.diff(v)
    seen = np.abs(steps) > np.maximum(STANDS_OUT * np.hypot(e[1:], e[:-1]), LEAST_SWING * float(np.ptp(v)))
    signs = np.sign(steps[seen])
    turns = int((signs[1:] != signs[:-1]).sum())
    if turns > 1:
        return (
            f"the values go up and down: their differences change sign {turns} times by more than their errors, which no approach "
            "A d^-p describes; take the sizes of one phase, or means over a period"
        )
    return ""
