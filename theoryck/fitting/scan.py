"""Every approach to a limit at once: cells of exponents, sizes of corrections, and chi2 as a quadratic in limit and amplitude.

The size of the corrections of an approach ``A r(d) (1 + corrections)`` is that of A, so that the problem is not linear: for
corrections of a given size it is, and these sizes are gone through in steps, each with the amplitudes that belong to it.  So is the
exponent of an approach that is not declared, in cells; within a cell it is one more correction, of the spread of ``d**-w`` over the
cell.

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
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.special

from theoryck.fitting.corrections import DEFAULT_AMPLITUDE, CorrectionFamily
from theoryck.fitting.data import Array

SLOWEST, FASTEST, STEP = 0.1, 9.0, 2**0.25  # exponents of approaches: the middle of the first cell, the last, their ratio
LEAST_FASTER = 0.2  # a declared rate is a bound: what falls faster, by this exponent or more, is within it
ALLOWANCE, LOG_ALLOWANCE = 3.0, 7.0
SLOW, SLOW_ALLOWANCE = 0.35, 16.0  # where nothing faster than d**-SLOW is within the limits, that of 1/log d
AMPLITUDE_STEP = 1.25
RESOLVED = 1e-12  # of the values: what the arithmetic of a scan can tell apart
STANDS_OUT = 4.0  # standard errors, for a difference whose sign is seen
GROWN = ((-0.05, 0.05), (-0.15, 0.0), (-0.3, -0.1), (-0.6, -0.2), (-1.2, -0.5))  # powers of d about a logarithm, and that grow
LOG_POWERS = ((0.5, 1.0), (0.25, 0.75), (0.0, 0.5), (-0.25, 0.25), (-0.5, 0.0), (-1.0, -0.4), (-2.0, -0.8))
DEFAULT_LOG = math.log(2)  # the least logarithm of a size that a power of it is counted from
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(7)


@dataclass(frozen=True)
class Cell:
    """Approaches ``r(d) d**-w`` with w between ``low`` and ``high``; ``log`` is one by ``1/log d``.

    Corrections relative to the approach have the ``share`` of the deviations that are allowed for.

    What is ``slow`` is of one of two families that go over into growth without limit: ``d**-w`` for "d", ``(log d)**-w`` for
    "log d", as ``1 + (d**-w - 1)/w``, which at w = 0 is a logarithm.
    """

    low: float
    high: float
    log: bool = False
    slow: str = ""
    share: float = 1.0

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
class Setting:
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
        return mean, np.concatenate([cell.share * mean[:, None] * np.stack(relative, axis=1), spread], axis=1)


@dataclass(frozen=True)
class Axes:
    """Values, limit and shape of every cell in the axes of its corrections, in units of the errors, of shape (cells, measurements).

    Errors that are all larger by one factor leave the axes as they are, so that a scan of them needs nothing else.
    """

    setting: Setting
    cells: tuple[Cell, ...]
    spectrum: Array  # the variances of the corrections along the axes
    target: Array
    one: Array
    shape: Array

    @classmethod
    def of(cls, setting: Setting, cells: Sequence[Cell]) -> Axes:
        """Turn every cell into the axes of its corrections."""
        means, corrections = zip(*(setting.columns(cell, setting.x) for cell in cells))
        rows, errors = len(setting.x), setting.errors
        # At least as many columns as rows, so that the thin factor U is a whole basis: the full ones cost 100 times as much.
        columns = np.zeros((len(cells), rows, max(rows, *(each.shape[1] for each in corrections))))
        for index, each in enumerate(corrections):
            columns[index, :, : each.shape[1]] = each
        u, s, _ = np.linalg.svd(columns / errors[:, None], full_matrices=False)
        y = (setting.values - setting.values[-1]) / errors
        target, one, shape = y @ u, (1 / errors) @ u, ((np.stack(means) / errors)[:, None, :] @ u)[:, 0]
        return cls(setting, tuple(cells), s**2, target, one, shape)

    def scan(self, factor: float = 1.0) -> Scan:
        """Go through the cells, the sizes of the corrections and both signs of A, where errors are ``factor`` times as large."""
        values, errors = self.setting.values, factor * self.setting.errors
        y = values - values[-1]
        seen = max(float((np.abs(y) - STANDS_OUT * (errors + errors[-1])).max()), 0.0)
        smallest = max(float(errors.min()) / 3, seen / 100)
        largest = 100 * max(float(np.ptp(values)), float(errors.max()))
        sizes = np.exp(np.arange(math.log(smallest), math.log(largest), math.log(AMPLITUDE_STEP)))
        edges = math.sqrt(AMPLITUDE_STEP)
        below, above = sizes / edges, sizes * edges
        below[0] = 0.0
        target, one, shape = ((each / factor)[:, None, :] for each in (self.target, self.one, self.shape))
        weights = 1 / (1 + sizes[:, None] ** 2 * (self.spectrum / factor**2)[:, None, :])  # (cells, sizes, measurements)
        charge = -np.log(weights).sum(axis=2)
        products = np.stack([one * one, one * shape, shape * shape, one * target, shape * target], axis=3)[:, 0]
        a, b, c, p, q = np.moveaxis(weights @ products, 2, 0)
        determinant = np.maximum(a * c - b * b, 1e-13 * a * c)
        l, m = (c * p - b * q) / determinant, (a * q - b * p) / determinant  # noqa: E741
        floor = (weights * (target - l[:, :, None] * one - m[:, :, None] * shape) ** 2).sum(axis=2)
        count = len(self.cells)

        def rows(each: Array) -> Array:
            """Repeat what is the same for both signs of A."""
            return np.repeat(each, 2, axis=0).reshape(-1)

        return Scan(
            cells=self.cells,
            cell=np.repeat(np.arange(count), 2 * len(sizes)),
            size=np.tile(sizes, 2 * count),
            least=np.tile(np.concatenate([below, -above]), count),
            most=np.tile(np.concatenate([above, -below]), count),
            a=rows(a),
            b=rows(b),
            c=rows(c),
            l=rows(l),
            m=rows(m),
            floor=rows(floor),
            charge=rows(charge),
            origin=float(values[-1]),
            logs=self.setting.logs,
        )


@dataclass(frozen=True)
class Scan:
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
        log = np.array([cell.log or (self.logs and cell.high == 0) for cell in self.cells])[self.cell]
        more = self.charge - self.charge[self.best]
        room = z * z + self.chi2[self.best] - (more - np.clip(more, 0.0, ALLOWANCE))
        fastest = max((self.cells[index].high for index in np.unique(self.cell[self.chi2 <= room])), default=0.0)
        allowance = SLOW_ALLOWANCE if fastest <= SLOW else LOG_ALLOWANCE
        return np.where(log, z * z + self.chi2[self.best] - (more - np.clip(more, 0.0, allowance)), room)

    def room_of(self, others: Scan, z: float) -> Array:
        """Return the chi2 that each row of another scan may have to be within the limits at z of the best fit of this one."""
        more = others.charge - self.charge[self.best]
        allowance = np.where(np.array([cell.log for cell in others.cells])[others.cell], LOG_ALLOWANCE, ALLOWANCE)
        return np.asarray(z * z + self.chi2[self.best] - (more - np.clip(more, 0.0, allowance)))

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


def cells_of(first: float, declared: bool) -> list[Cell]:
    """Return the declared rate and what is faster, or every approach from ``d**-SLOWEST`` and ``1/log d`` on."""
    centre, cells = (LEAST_FASTER, [Cell(0.0, 0.0)]) if declared else (SLOWEST, [])
    while centre < FASTEST:
        cells.append(Cell(centre / STEP, centre * STEP))
        centre *= STEP  # half of the next cell is in this one: an exponent at the edge of one is well inside another
    return [*cells, Cell(0.0, 0.0, log=True)] if not declared and first >= 2 else cells


def slow_cells() -> list[Cell]:
    """Approaches slower than ``d**-SLOWEST`` and than ``1/log d``, down to growth."""
    powers = [Cell(SLOWEST / STEP ** (k + 1), SLOWEST / STEP ** (k - 1)) for k in range(1, 13)]
    return [*powers, *(Cell(*pair, slow="d") for pair in GROWN), *(Cell(*pair, slow="log d") for pair in LOG_POWERS)]
