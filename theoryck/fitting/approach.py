"""fit_approach: a limit whose approach is a declared rate, or any from ``d**-1/10`` and ``1/log d`` on.

The model is ``Q_i = L + A r(d_i) (1 + sum_j B_j d_i**-w_j) + noise_i``: L and A are free, the B_j have the priors of
:mod:`theoryck.fitting.corrections`, and so have the corrections of a rate with a logarithm in powers of ``1/log d``.  The size of
the corrections is that of A, so that the problem is not linear: for corrections of a given size it is, and these sizes are gone
through in steps, each with the amplitudes that belong to it.  So is the exponent of an approach that is not declared, in cells;
within a cell it is one more correction, of the spread of ``d**-w`` over the cell.

What is within ``z**2`` of the best fit in ``chi2 + log det covariance`` is within the limits at z.  A slow approach has larger
corrections than a fast one and is charged more determinant for them, although a truth that has none is as true: up to
``ALLOWANCE`` of that charge is forgiven; ``1/log d``, which has more corrections, ``LOG_ALLOWANCE``, and where only slow powers are
left ``SLOW_ALLOWANCE``: exact values of a function of log d look like ``d**-1/5`` on any window.  Measured (tests/calibration):
without ALLOWANCE the interval at 95% of ``1 + A d**-1/10`` on five sizes covers 60 to 70% of the time, with it 90 to 100%, and
every faster approach at least 95%.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import NormalDist
from typing import Any

import numpy as np
import scipy.special

from theoryck.fitting.corrections import DEFAULT_AMPLITUDE, CorrectionFamily
from theoryck.fitting.data import MIN_SIZES, Array, require, vector, whole
from theoryck.fitting.fit import POOR_FIT
from theoryck.fitting.linear import solve
from theoryck.fitting.scatter import Enlargement, factors_of_errors
from theoryck.records import Interval, Size

SLOWEST, FASTEST, STEP = 0.1, 9.0, 2**0.25  # exponents of approaches: the middle of the first cell, the last, their ratio
LEAST_FASTER = 0.2  # a declared rate is a bound: what falls faster, by this exponent or more, is within it
ALLOWANCE, LOG_ALLOWANCE = 3.0, 7.0
SLOW, SLOW_ALLOWANCE = 0.35, 16.0  # where nothing faster than d**-SLOW is within the limits, that of 1/log d
AMPLITUDE_STEP = 1.25
RESOLVED = 1e-12  # of the values: what the arithmetic of a scan can tell apart
FACTOR_STEP = 0.2  # of the logarithm of a factor in the errors
STANDS_OUT = 4.0  # standard errors, for a difference whose sign is seen
LEAST_SWING = 0.01  # of the range of the values
LEAST_SWINGS = 4  # differences that alternate and shrink, all of them
SLOWER = 0.75  # times a declared exponent: what is called slower where the tolerance of the exponent is no less
GROWN = ((-0.05, 0.05), (-0.15, 0.0), (-0.3, -0.1), (-0.6, -0.2), (-1.2, -0.5))  # powers of d about a logarithm, and that grow
LOG_POWERS = ((0.5, 1.0), (0.25, 0.75), (0.0, 0.5), (-0.25, 0.25), (-0.5, 0.0), (-1.0, -0.4), (-2.0, -0.8))
DEFAULT_LOG = math.log(2)  # the least logarithm of a size that a power of it is counted from
LEAST_DECAY = 0.05  # of the logarithm of a rate over the window
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(7)


@dataclass(frozen=True)
class Cell:
    """Approaches ``r(d) d**-w`` with w between ``low`` and ``high``; ``log`` is one by ``1/log d``.

    What is ``slow`` is of one of two families that go over into growth without limit: ``d**-w`` for "d", ``(log d)**-w`` for
    "log d", as ``1 + (d**-w - 1)/w``, which at w = 0 is a logarithm.
    """

    low: float
    high: float
    log: bool = False
    slow: str = ""

    def shape(self, x: Array, first: float, log_rates: Array) -> tuple[Array, Array]:
        """Return the mean over the cell at log sizes x, 1 at the first one, and the deviations from it as columns."""
        if self.slow:
            scale = max(first, DEFAULT_LOG)
            steps = x - first if self.slow == "d" else np.log1p((x - first) / scale)
            powers = -0.5 * (self.low + self.high) - 0.5 * (self.high - self.low) * _NODES
            columns = 1 + steps[:, None] * scipy.special.exprel(powers * steps[:, None])
            mean = columns @ _WEIGHTS / 2
            return mean, (columns - mean[:, None]) * np.sqrt(_WEIGHTS / 2)
        base = np.exp(log_rates) * (first / x if self.log else 1.0)
        if self.high == self.low:
            mean = base * np.exp(-self.low * (x - first))
            return mean, np.empty((len(x), 0))
        exponents = 0.5 * (self.low + self.high) + 0.5 * (self.high - self.low) * _NODES
        columns = base[:, None] * np.exp(-exponents * (x - first)[:, None])
        mean = columns @ _WEIGHTS / 2
        return mean, (columns - mean[:, None]) * np.sqrt(_WEIGHTS / 2)


@dataclass(frozen=True)
class _Setting:
    """The measurements by increasing size, and what is declared of the approach."""

    x: Array
    values: Array
    errors: Array
    log_rates: Array  # of the declared rate, 0 at the first size; 0 throughout if none is declared
    logs: bool
    family: CorrectionFamily

    def columns(self, cell: Cell, x: Array) -> tuple[Array, Array]:
        """Return the shape of a cell and its corrections, in units of their prior deviations, at log sizes x."""
        first = float(self.x[0])
        mean, spread = cell.shape(x, first, np.interp(x, self.x, self.log_rates))
        relative = [dev * np.exp(-power * (x - first)) for power, dev in zip(self.family.powers, self.family.deviations)]
        if cell.log or self.logs:
            size = min(1.0, DEFAULT_AMPLITUDE / first)
            relative += [(size * first / x) ** power for power in (1, 2, 3, 4)]
            relative.append(np.log(x / first))  # log log d, which extreme values have beside 1/log d
        return mean, np.concatenate([mean[:, None] * np.stack(relative, axis=1), spread], axis=1)


@dataclass(frozen=True)
class _Scan:
    """For every cell, size of the corrections and sign of A: the quadratic ``chi2(L, A)``, its charge, and the amplitudes it is of.

    L is counted from the value at the largest size, which ``origin`` is.
    """

    cells: tuple[Cell, ...]
    cell: Array
    size: Array
    least: Array
    most: Array
    a: Array  # chi2 = floor + a (L - l)^2 + 2 b (L - l)(A - m) + c (A - m)^2
    b: Array
    c: Array
    l: Array  # noqa: E741
    m: Array
    floor: Array
    charge: Array
    origin: float
    logs: bool  # whether the declared rate has a logarithm

    @classmethod
    def of(cls, setting: _Setting, cells: Sequence[Cell]) -> _Scan:
        values, errors = setting.values, setting.errors
        y = values - values[-1]
        seen = max(float((np.abs(y) - STANDS_OUT * (errors + errors[-1])).max()), 0.0)
        smallest = max(float(errors.min()) / 3, seen / 100)
        largest = 100 * max(float(np.ptp(values)), float(errors.max()))
        sizes = np.exp(np.arange(math.log(smallest), math.log(largest), math.log(AMPLITUDE_STEP)))
        edges = math.sqrt(AMPLITUDE_STEP)
        below, above = sizes / edges, sizes * edges
        below[0] = 0.0
        found = []
        for index, cell in enumerate(cells):
            mean, columns = setting.columns(cell, setting.x)
            # At least as many columns as rows, so that the thin factor U is a whole basis: the full ones cost 100 times as much.
            padded = np.pad(columns, ((0, 0), (0, max(len(y) - columns.shape[1], 0))))
            u, s, _ = np.linalg.svd(padded / errors[:, None], full_matrices=False)
            spectrum = s**2
            target, one, shape = u.T @ (y / errors), u.T @ (1 / errors), u.T @ (mean / errors)
            weights = 1 / (1 + sizes[:, None] ** 2 * spectrum)
            charge = -np.log(weights).sum(axis=1)
            a, b, c = weights @ (one * one), weights @ (one * shape), weights @ (shape * shape)
            p, q = weights @ (one * target), weights @ (shape * target)
            determinant = np.maximum(a * c - b * b, 1e-13 * a * c)
            l, m = (c * p - b * q) / determinant, (a * q - b * p) / determinant  # noqa: E741
            floor = (weights * (target - l[:, None] * one - m[:, None] * shape) ** 2).sum(axis=1)
            for least, most in ((below, above), (-above, -below)):
                found.append((np.full(len(sizes), index), sizes, least, most, a, b, c, l, m, floor, charge))
        cell_, size, least, most, a, b, c, l, m, floor, charge = (np.concatenate(column) for column in zip(*found))  # noqa: E741
        return cls(tuple(cells), cell_, size, least, most, a, b, c, l, m, floor, charge, float(values[-1]), setting.logs)

    def given(self, amplitude: Array) -> tuple[Array, Array]:
        """Return the best L for amplitudes A, and chi2 there."""
        gap = amplitude - self.m
        return self.l - self.b / self.a * gap, self.floor + (self.c - self.b**2 / self.a) * gap**2

    @cached_property
    def amplitude(self) -> Array:
        """The best amplitude of each row among those that belong to it."""
        return np.clip(self.m, self.least, self.most)

    @cached_property
    def chi2(self) -> Array:
        """The chi2 of each row at its best amplitude."""
        return self.given(self.amplitude)[1]

    @cached_property
    def best(self) -> int:
        """The row of the best fit."""
        return int(np.argmin(self.chi2 + self.charge))

    def room(self, z: float) -> Array:
        """Return the chi2 that each row may have to be within the limits at z."""
        log = np.array([self.cells[int(index)].log or (self.logs and self.cells[int(index)].high == 0) for index in self.cell])
        more = self.charge - self.charge[self.best]
        room = z * z + self.chi2[self.best] - (more - np.clip(more, 0.0, ALLOWANCE))
        fastest = max((self.cells[int(index)].high for index in self.cell[self.chi2 <= room]), default=0.0)
        allowance = SLOW_ALLOWANCE if fastest <= SLOW else LOG_ALLOWANCE
        return np.where(log, z * z + self.chi2[self.best] - (more - np.clip(more, 0.0, allowance)), room)

    def ends(self, z: float, rows: Any = True) -> tuple[float, float]:
        """Return the smallest and the largest L within the limits at z: of the ellipses of the rows, cut to their amplitudes."""
        room = np.where(rows, self.room(z), -math.inf)
        rest = np.maximum(room - self.floor, 0.0)
        determinant = np.maximum(self.a * self.c - self.b**2, 1e-13 * self.a * self.c)
        reach = np.sqrt(rest * self.c / determinant)
        tilt = -self.b / self.c  # of A with L along the extreme points of the ellipse
        ends = []
        for side in (-1.0, 1.0):
            at = self.m + side * tilt * reach
            inside = (room >= self.floor) & (at >= self.least) & (at <= self.most)
            candidates = [np.where(inside, self.l + side * reach, math.nan)]
            for edge in (self.least, self.most):
                centre, chi2 = self.given(edge)
                kept = room >= chi2
                candidates.append(np.where(kept, centre + side * np.sqrt(np.maximum(room - chi2, 0.0) / self.a), math.nan))
            ends.append(float((np.nanmin if side < 0 else np.nanmax)(np.concatenate(candidates))))
        return ends[0] + self.origin, ends[1] + self.origin

    def kept(self, z: float) -> Array:
        """Return which rows are within the limits at z."""
        return np.asarray(self.chi2 <= self.room(z))


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
    setting: _Setting | None = field(default=None, repr=False, compare=False)
    scan: _Scan | None = field(default=None, repr=False, compare=False)

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
        setting = _Setting(self.setting.x, fitted, errors, self.setting.log_rates, self.setting.logs, self.setting.family)
        low, high = _Scan.of(setting, self.scan.cells).ends(NormalDist().inv_cdf(0.975))
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
            scan = _Scan.of(self.setting, [Cell(*pair) for pair in zip(cut[:-2].tolist(), cut[2:].tolist())])
        best = scan.cells[int(scan.cell[scan.best])]
        # An interval that reaches the slowest approach of the family is open there.
        centre = min(max(0.5 * (best.low + best.high), low), high)  # what fits best may be a logarithm
        return Interval(centre, 0.0 if edge is not None and low <= edge else low, high, level), log


def fit_approach(
    sizes: Sequence[float],
    values: Sequence[float],
    stderrs: Sequence[float],
    *,
    log_rates: Sequence[float] | None = None,
    logs: bool = False,
    correction: float | None = None,
    amplitude: float | None = None,
    slow: bool = False,
) -> ApproachFit:
    """Fit the limit of values that approach it at a rate given by its logarithms, or as slowly as ``d**-1/10`` without one.

    ``slow`` adds slower approaches and growth without limit, of which the curve has a meaning and the limit has none.

    ``logs`` says that the rate has a logarithm of a size, whose corrections are powers of ``1/log d``; ``correction`` and
    ``amplitude`` are of the corrections relative to the approach.  Values of any sign are allowed.  Values that alternate beyond
    their errors, and a rate that does not fall, have no fit and a ``reason``.  Raises ValueError as
    :func:`theoryck.fitting.fit.fit_rate` does.

    >>> sizes = [16, 32, 64, 128, 256, 512, 1024, 2048]
    >>> values = [2 - 1.7 * n ** (-1 / 6) for n in sizes]
    >>> told = fit_approach(sizes, values, [0.0] * 8, log_rates=[-math.log(n) / 6 for n in sizes])
    >>> abs(told.estimate - 2) < told.stderr < 1e-3
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
    rates = np.zeros_like(d) if log_rates is None else vector("log_rates", log_rates)
    order = np.argsort(d, kind="stable")
    rate_first = float(rates[order[0]])
    d, v, e, rates = d[order], v[order], e[order], rates[order] - rate_first
    scale = max(float(np.abs(v).max()), float(np.ptp(v))) or 1.0
    e = np.maximum(e, RESOLVED * scale)
    noise = min(float(e.min() / max(np.ptp(v), e.min())), 1.0)
    first = float(d[0])
    family = CorrectionFamily.choose(first, correction, amplitude, noise)
    window = (whole(first), whole(float(d[-1])))
    nothing = ApproachFit(math.nan, math.nan, 0, math.nan, window, family, log_rates is not None)
    reason = _unfit(d, v, e, rates, log_rates is not None)
    if reason:
        return replace(nothing, reason=reason)
    cells = [*_cells(first, log_rates is not None), *(_slow_cells() if slow else [])]
    setting = _Setting(np.log(d), v, e, rates, logs and first >= 2, family)
    dof = max(len(d) - 2, 1)
    scan = first_scan = _Scan.of(setting, cells)
    while scipy.special.chdtrc(dof, scan.chi2[scan.best]) < POOR_FIT:  # what no approach explains is taken for noise
        more = max(float(scan.chi2[scan.best]) / dof, 1.5)
        setting = _Setting(setting.x, v, setting.errors * math.sqrt(more), rates, setting.logs, family)
        scan = _Scan.of(setting, cells)
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
        declared=log_rates is not None,
        flags=() if scan is first_scan else ("poor-fit",),
        rate_first=rate_first,
        moving=abs(float(v[-1] - v[half - 1])) / gap,
        setting=setting,
        scan=scan,
    )


def scatter_about_approach(
    sizes: Sequence[float],
    values: Sequence[float],
    *,
    log_rates: Sequence[float] | None = None,
    logs: bool = False,
    correction: float | None = None,
    amplitude: float | None = None,
    slow: bool = False,
) -> float:
    """Return the standard error of each value, one for all, that makes chi2 of :func:`fit_approach` its degrees of freedom.

    It is 0 where an approach explains the values to the arithmetic, and where they have no fit.  Arguments and errors are those of
    :func:`fit_approach`.

    >>> values = [1.502, 1.199, 1.108, 1.051, 1.023, 1.016, 1.004]  # 1 + 1/n, at errors of about 0.005
    >>> 0.001 < scatter_about_approach([2, 5, 10, 20, 40, 80, 160], values, correction=1) < 0.01
    True
    """

    def misfit(error: float) -> float:
        """Return chi2 over its degrees of freedom if all errors were this: infinite where values turn by more than that."""
        errors = [error] * len(values)
        options = {"log_rates": log_rates, "logs": logs, "correction": correction, "amplitude": amplitude, "slow": slow}
        fit = fit_approach(sizes, values, errors, **options)  # type: ignore[arg-type]
        return math.inf if fit.reason else fit.chi2 / fit.dof

    steps = np.diff(np.asarray(values, dtype=float)[np.argsort(np.asarray(sizes, dtype=float), kind="stable")])
    # Values that overshoot less and less are no scatter: noise looks like that in fewer than 1 table of 1e3.
    if len(steps) >= LEAST_SWINGS and (np.sign(steps[1:]) == -np.sign(steps[:-1])).all() and (np.diff(np.abs(steps)) < 0).all():
        return 0.0
    high = float(np.ptp(values))
    least = RESOLVED * max(high, *(abs(value) for value in values))
    if high <= least or misfit(high) > 1:
        return 0.0
    low = high
    while misfit(low) <= 1:
        high, low = low, low / 3
        if low < least:
            return 0.0
    while high > 1.05 * low:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if misfit(middle) > 1 else (low, middle)
    return high


def enlargement_about_approach(
    sizes: Sequence[float],
    values: Sequence[float],
    stderrs: Sequence[float],
    error_rate: float,
    *,
    log_rates: Sequence[float] | None = None,
    logs: bool = False,
    correction: float | None = None,
    amplitude: float | None = None,
) -> float:
    """Return how many times larger than stated errors must be for limits at ``error_rate``, by their scatter about the approach.

    The factors and their prior are those of :class:`theoryck.fitting.scatter.Enlargement`; given one, the limit has the interval
    of :func:`fit_approach`, and the data the density of its best fit.  Arguments and errors are those of :func:`fit_approach`.

    >>> sizes, scatter = [16, 32, 64, 128, 256, 512, 1024], [0.02, 0.01, -0.02, 0.03, -0.01, -0.02, 0.02]
    >>> noisy = [2 + 1 / d + error for d, error in zip(sizes, scatter)]
    >>> right, small = (enlargement_about_approach(sizes, noisy, [stderr] * 7, 0.025) for stderr in (0.02, 0.008))
    >>> right < 2 < small
    True
    """
    options = {"log_rates": log_rates, "logs": logs, "correction": correction, "amplitude": amplitude}
    fit = fit_approach(sizes, values, stderrs, **options)  # type: ignore[arg-type]
    if fit.setting is None or fit.scan is None:
        return 1.0
    order = np.argsort(np.asarray(sizes, dtype=float), kind="stable")
    scale = float(np.abs(fit.setting.values).max())
    errors = np.maximum(np.asarray(stderrs, dtype=float)[order], RESOLVED * scale)
    factors, prior = factors_of_errors(max(10 * scale / float(errors.min()), 20.0), FACTOR_STEP)
    found = []
    for factor in factors:
        scan = _Scan.of(replace(fit.setting, errors=factor * errors), fit.scan.cells)
        low, high = scan.ends(1.0)
        # The charge is log det of what corrections add to the noise; L and A are free, and the noise is that of the other values.
        likelihood = -0.5 * float((scan.chi2 + scan.charge).min()) - fit.dof * math.log(factor)
        found.append((0.5 * (low + high), 0.5 * (high - low), likelihood))
    centres, reaches, likelihoods = np.array(found).T
    weights = prior * np.exp(likelihoods - likelihoods.max())
    return Enlargement(factors, centres, reaches, weights / weights.sum()).at(error_rate)


def _cells(first: float, declared: bool) -> list[Cell]:
    centre, cells = (LEAST_FASTER, [Cell(0.0, 0.0)]) if declared else (SLOWEST, [])
    while centre < FASTEST:
        cells.append(Cell(centre / STEP, centre * STEP))
        centre *= STEP  # half of the next cell is in this one: an exponent at the edge of one is well inside another
    return [*cells, Cell(0.0, 0.0, log=True)] if not declared and first >= 2 else cells


def _slow_cells() -> list[Cell]:
    """Approaches slower than ``d**-SLOWEST`` and than ``1/log d``, down to growth."""
    powers = [Cell(SLOWEST / STEP ** (k + 1), SLOWEST / STEP ** (k - 1)) for k in range(1, 13)]
    return [*powers, *(Cell(*pair, slow="d") for pair in GROWN), *(Cell(*pair, slow="log d") for pair in LOG_POWERS)]


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
    *,
    within: float,
    log_rates: Sequence[float] | None = None,
    logs: bool = False,
    correction: float | None = None,
    amplitude: float | None = None,
    better: bool = False,
) -> Slower:
    """Return what is slower than a rate, by more than ``within`` or a quarter of its exponent, and explains the values as well.

    Without a rate: what is slower than ``d**-SLOWEST`` and ``1/log d``.  As well is within the limits at z of the best approach of
    all; ``better`` is beyond those of the declared rate (or of every approach that is no slower) with all its corrections.  Misfit
    is never taken for noise here.  Arguments and errors are those of :func:`fit_approach`.

    >>> sizes = [2.0**j for j in range(2, 14)]
    >>> slower_approaches(sizes, [math.log(n) + 1 / n for n in sizes], [1e-6] * 12, 2.0, within=0.05).grows
    True
    >>> bool(slower_approaches(sizes, [1 + 1 / n for n in sizes], [1e-6] * 12, 2.0, within=0.05))
    False
    """
    told: dict[str, Any] = {"correction": correction, "amplitude": amplitude}
    free = fit_approach(sizes, values, stderrs, slow=True, **told)
    declared = fit_approach(sizes, values, stderrs, log_rates=log_rates, logs=logs, **told)
    if free.setting is None or free.scan is None:
        return Slower()
    order = np.argsort(np.asarray(sizes, dtype=float), kind="stable")
    scale = max(float(np.abs(free.setting.values).max()), float(np.ptp(free.setting.values))) or 1.0
    errors = np.maximum(np.asarray(stderrs, dtype=float)[order], RESOLVED * scale)
    scan = _Scan.of(replace(free.setting, errors=errors), free.scan.cells)
    than, log_power = SLOWEST, 1.0
    if log_rates is not None:
        rates = np.asarray(log_rates, dtype=float)[order]
        x = free.setting.x
        exponent = -float((rates[-1] - rates[-2]) / (x[-1] - x[-2])) if x[-1] > x[-2] else SLOWEST
        than = slower_than(exponent, within)
        log_power = exponent * float(x[-1]) if logs else math.inf
    rooms = scan.room(z)
    if better:
        if declared.setting is None or declared.scan is None:
            return Slower()
        other = _Scan.of(replace(declared.setting, errors=errors), declared.scan.cells)
        rooms = float((other.chi2 + other.charge).min()) - z * z - scan.charge
    kept = scan.chi2 <= rooms
    found = {int(index): scan.cells[int(index)] for index in scan.cell[kept]}
    powers = {i: c for i, c in found.items() if not c.log and not c.slow and c.high <= than * (1 + RESOLVED)}
    by_log = {i for i, c in found.items() if c.log and log_power > 1.5}
    grows = any(c.slow and c.low + c.high <= 0 for c in found.values())
    slow = any(c.slow == "log d" and 0 < c.low + c.high < 2 * SLOWER * log_power for c in found.values())
    power = max((math.sqrt(c.low * c.high) for c in powers.values()), default=math.nan)
    if grows or slow or better or not (powers or by_log):
        return Slower(power, bool(by_log) or slow, grows)
    return Slower(power, bool(by_log), False, *scan.ends(z, np.isin(scan.cell, [*powers, *by_log])))


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
