"""fit_rate_jointly: several sizes at once, one exponent for each, from measurements on a grid.

``log Q = log A + sum_v s_v log v + sum_v sum_j b_vj u_v**w_j + sum_{v<x} sum_jk b_vxjk u_v**w_j u_x**w_k``, ``u_v = v/v_first``,
with flat priors on A and s_v, the correction family of :mod:`theoryck.fitting.corrections` for each variable from its own smallest
size, and cross terms whose prior deviations are ``CROSS`` times the products of those of their factors: products are the size they
have in the logarithm of ``1 + B u_v + B' u_x``.  Solved as :func:`theoryck.fitting.fit.fit_rate` does.  Over the corners of
``A d**a n**b (1 + B d**-w + B' n**-w)``, ``|B|, |B'| <= 2``, a 95% interval covers at least 93% of the time on grids from 4 x 4 to
7 x 3 at noise of 0.1% to 3% (closed form in tests/calibration).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import scipy.special

from theoryck.fitting.corrections import CorrectionFamily
from theoryck.fitting.data import MIN_SIZES, STANDS_OUT, Array, Data, require, vector, whole
from theoryck.fitting.fit import GOOD_FIT, POOR_FIT, WIDENINGS
from theoryck.fitting.optimise import descend
from theoryck.fitting.result import quantile, signed
from theoryck.records import Interval, Size

MAX_CROSS_TERMS = 60
CROSS = 1.3
SAME_PATH = 1e-6  # relative: sizes are integers, and one unit in 1e6 is far more than rounding leaves of two sizes on one path


@dataclass(frozen=True)
class JointFit:
    """One exponent per variable; ``reason`` says why they cannot be told, and is empty if they can.

    ``constant`` is the prefactor A, ``stderrs`` contain corrections; ``p_value`` is that of the fit with the family as declared.
    """

    exponents: dict[str, Interval]
    constant: Interval
    stderrs: dict[str, float]
    chi2: float
    dof: int
    p_value: float
    windows: dict[str, tuple[Size, Size]]
    sign: int
    flags: tuple[str, ...] = ()
    reason: str = ""
    attempts: tuple[_Attempt, ...] = field(default=(), repr=False, compare=False)

    @property
    def identifiable(self) -> bool:
        """Whether the exponents have finite intervals."""
        return not self.reason

    def upper(self, name: str, error_rate: float) -> float:
        """Return the upper limit of the exponent of ``name`` that is too low with probability ``error_rate``."""
        return self._limit(name, error_rate, 1)

    def lower(self, name: str, error_rate: float) -> float:
        """Return the lower limit of the exponent of ``name`` that is too high with probability ``error_rate``."""
        return self._limit(name, error_rate, -1)

    def _limit(self, name: str, error_rate: float, side: int) -> float:
        if name not in self.exponents:
            raise KeyError(f"{name!r} is not a variable of the fit: {', '.join(self.exponents)}")
        if not self.identifiable:
            return side * math.inf
        index, z = 1 + list(self.exponents).index(name), quantile(1 - error_rate)
        return side * max(side * float(attempt.theta[index]) + z * attempt.stderr(index) for attempt in self.attempts)


@dataclass(frozen=True)
class _Attempt:
    """One solution: the data explained by larger corrections, or by larger errors."""

    theta: Array
    covariance: Array
    design: Array
    chi2: float
    inflation: float = 1.0

    def stderr(self, index: int) -> float:
        return math.sqrt(self.covariance[index, index]) * self.inflation


def fit_rate_jointly(
    sizes: Mapping[str, Sequence[float]],
    values: Sequence[float],
    stderrs: Sequence[float],
    *,
    correction: float | None = None,
    amplitude: float | None = None,
    level: float = 0.95,
    log_values: bool = False,
) -> JointFit:
    """Fit ``Q = A prod_v v**s_v (1 + corrections)`` to values on a grid of sizes and return every s_v with an honest interval.

    ``sizes`` has a column (rows,) for each variable, ``values`` and ``stderrs`` one entry per row; the options are those of
    :func:`theoryck.fitting.fit.fit_rate`, for each variable.  The exponents are not identifiable if a variable takes fewer than
    three sizes, if all rows lie on one path (n = 2 d), or if the values are in the noise or change sign: ``reason`` says so.
    Raises ValueError, naming the entry, on columns of different lengths, sizes that are not positive, and values that are not
    finite.

    >>> rows = [(d, n) for d in (16, 32, 64, 128) for n in (16, 64, 256)]
    >>> d, n = [row[0] for row in rows], [row[1] for row in rows]
    >>> fit = fit_rate_jointly({"d": d, "n": n}, [2 * a / b for a, b in rows], [0.0] * len(rows), correction=1)
    >>> {name: round(interval.estimate, 4) for name, interval in fit.exponents.items()}
    {'d': 1.0, 'n': -1.0}
    """
    if not 0 < level < 1:
        raise ValueError(f"level must lie strictly between 0 and 1, got {level!r}")
    columns = {name: vector(f"sizes[{name!r}]", column) for name, column in sizes.items()}
    for name, column in columns.items():
        require(column > 0, f"sizes[{name!r}]", column, "must be positive")
        if len(column) != len(values):
            raise ValueError(f"sizes[{name!r}] and values must have the same length, got {len(column)} and {len(values)}")
    data = Data.read(np.arange(1, len(values) + 1), values, stderrs, log_values)
    sign, noisy = _sign(data)
    reason = _problem(columns) or noisy
    windows = {name: (whole(float(column.min())), whole(float(column.max()))) for name, column in columns.items()}
    nothing = Interval(math.nan, -math.inf, math.inf, level)
    unknown, endless = dict.fromkeys(columns, nothing), dict.fromkeys(columns, math.inf)
    fit = JointFit(unknown, nothing, endless, math.nan, 0, math.nan, windows, sign, reason=reason)
    return fit if reason else _fitted(fit, _Grid(columns, data, sign, correction, amplitude), level)


def _fitted(fit: JointFit, grid: _Grid, level: float) -> JointFit:
    """Return the fit with what the grid says of it."""
    first = grid.attempt()
    dof = len(grid.data.x) - 1 - len(grid.columns)
    p_value = float(scipy.special.chdtrc(dof, first.chi2)) if dof > 0 else 1.0
    poor, below = p_value < POOR_FIT, grid.data.below
    attempts = grid.reconcile(first, dof) if poor else (first,)
    flags = ["poor-fit"] if poor else []
    if below.any():
        flags.append(f"noise floor in {int(below.sum())} of {len(below)} rows")
    fit = replace(fit, chi2=first.chi2, dof=dof, p_value=p_value, flags=tuple(flags), attempts=attempts)
    best, tail = min(attempts, key=lambda attempt: attempt.stderr(1)), 0.5 - level / 2
    exponents = {
        name: Interval(float(best.theta[index]), fit.lower(name, tail), fit.upper(name, tail), level)
        for index, name in enumerate(grid.columns, 1)
    }
    errors = {name: max(attempt.stderr(index) for attempt in attempts) for index, name in enumerate(grid.columns, 1)}
    return replace(fit, exponents=exponents, stderrs=errors, constant=grid.constant(attempts, level))


def _problem(columns: Mapping[str, Array]) -> str:
    """Say why the exponents of these sizes cannot be told from each other, or from corrections."""
    if not columns:
        raise ValueError("sizes has no column: name at least one variable")
    for name, column in columns.items():
        count = len(np.unique(column))
        if count < MIN_SIZES:
            return (
                f"{name} takes {count} size{'s' * (count > 1)}: an exponent and its corrections need at least {MIN_SIZES}, better 6"
            )
    for name in columns:
        others = [np.log(column) for other, column in columns.items() if other != name]
        x = np.log(columns[name])
        lines = np.stack([np.ones_like(x), *others], axis=1)
        left = x - lines @ np.linalg.lstsq(lines, x, rcond=None)[0]
        if float(left @ left) <= (SAME_PATH * float(np.ptp(x))) ** 2 * len(x):
            path = ", ".join(columns)
            return f"all rows lie on one path of {path}: no exponents can be told apart; measure a grid, or fit along the path"
    return ""


def _sign(data: Data) -> tuple[int, str]:
    z = data.z
    if np.isneginf(data.log_stderr).any():
        row = int(np.argmax(np.isneginf(data.log_stderr)))
        return 0, f"values[{row}] is exactly 0, which no product of powers is"
    up, down = z > STANDS_OUT + 1, z < -STANDS_OUT - 1
    if up.any() and down.any():
        return (
            0,
            f"the values change sign: values[{int(np.argmax(up))}] and values[{int(np.argmax(down))}] stand out on either side",
        )
    sign = 1 if z[np.argmax(np.abs(z))] >= 0 else -1
    if int((sign * z > STANDS_OUT).sum()) < MIN_SIZES:
        return sign, f"fewer than {MIN_SIZES} values stand {STANDS_OUT:g} stderr above zero (the largest is {np.abs(z).max():.2g})"
    return sign, ""


@dataclass(frozen=True)
class _Grid:
    """The columns of sizes with the data, and what was declared."""

    columns: Mapping[str, Array]
    data: Data
    sign: int
    correction: float | None
    amplitude: float | None

    def attempt(self, widening: float = 1.0, noise: Data | None = None, birge: bool = False) -> _Attempt:
        """Fit with the family widened; with ``birge`` what misfit is left multiplies the errors."""
        design, terms = self._design(widening)
        data = (noise or self.data).no_more_exact_than(terms)
        flat = 1 + len(self.columns)
        theta, _, covariance, chi2 = descend(data, self.sign, design, np.zeros(len(data.x)), flat)
        dof = len(data.x) - flat
        return _Attempt(theta, covariance, design, chi2, math.sqrt(max(chi2 / dof, 1.0)) if birge and dof else 1.0)

    def reconcile(self, first: _Attempt, dof: int) -> tuple[_Attempt, ...]:
        """Return larger corrections and larger errors, as the fit of one size does: the data cannot tell which."""
        for widening in WIDENINGS:
            larger = self.attempt(widening, birge=True)
            if scipy.special.chdtrc(dof, larger.chi2) >= GOOD_FIT:
                break
        noisier, noise = first, self.data
        while scipy.special.chdtrc(dof, noisier.chi2) < POOR_FIT:
            factor = max(noisier.chi2 / dof, 1.5)
            noise = replace(noise, log_stderr=noise.log_stderr + 0.5 * math.log(factor))
            noisier = self.attempt(noise=noise)
        return larger, noisier

    def constant(self, attempts: Sequence[_Attempt], level: float) -> Interval:
        """Return the prefactor A: the design is centred at the largest sizes."""
        row = np.array([1.0, *(-math.log(column.max()) for column in self.columns.values())])
        reach, found = quantile(0.5 + level / 2), []
        for attempt in attempts:
            spread = math.sqrt(max(float(row @ attempt.covariance[: len(row), : len(row)] @ row), 0.0)) * attempt.inflation
            found.append(signed(self.sign, float(row @ attempt.theta[: len(row)]), reach * spread, level))
        return Interval(found[0].estimate, min(each.low for each in found), max(each.high for each in found), level)

    def _design(self, widening: float) -> tuple[Array, float]:
        """Return the design, and the size of all corrections together."""
        families = {
            name: CorrectionFamily.choose(float(column.min()), self.correction, self.amplitude, self.data.noise, widening)
            for name, column in self.columns.items()
        }
        flat = [np.ones(len(self.data.x)), *(np.log(column / column.max()) for column in self.columns.values())]
        own = {
            name: [
                (dev, (self.columns[name] / self.columns[name].min()) ** -power) for power, dev in zip(each.powers, each.deviations)
            ]
            for name, each in families.items()
        }
        cross = [
            (CROSS * a[0] * b[0], a[1] * b[1])
            for one, other in itertools.combinations(own, 2)
            for a, b in itertools.product(own[one], own[other])
            if CROSS * a[0] * b[0] > 0.1 * self.data.noise
        ]
        cross = sorted(cross, key=lambda term: -term[0])[:MAX_CROSS_TERMS]
        terms = [*itertools.chain(*own.values()), *cross]
        return np.stack([*flat, *(dev * shape for dev, shape in terms)], axis=1), math.hypot(*(dev for dev, _ in terms))
