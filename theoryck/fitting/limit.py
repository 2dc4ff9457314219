"""fit_limit: the limit of a sequence whose corrections are declared, with an interval that covers them and the noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import NormalDist

import numpy as np
import scipy.special

from theoryck.fitting.corrections import CorrectionFamily
from theoryck.fitting.data import MIN_SIZES, ROUNDING, Array, require, vector, whole
from theoryck.fitting.fit import POOR_FIT
from theoryck.fitting.linear import response, solve
from theoryck.records import Interval, Size


@dataclass(frozen=True)
class LimitFit:
    """The limit of ``Q_i = L + scale * sum_j b_j d_i**-w_j + noise``; ``reason`` is empty if it is identifiable."""

    estimate: float
    stderr: float
    chi2: float
    dof: int
    p_value: float
    window: tuple[Size, Size]
    family: CorrectionFamily
    flags: tuple[str, ...] = ()
    reason: str = ""
    system: tuple[Array, Array, float] | None = field(default=None, repr=False, compare=False)
    noise: float = math.inf
    bias: float = math.inf
    solution: tuple[Array, Array, float] | None = field(default=None, repr=False, compare=False)

    def decision_reach(self, error_rate: float) -> float:
        """Return how far beyond the estimate a one-sided limit lies that no truth of the family exceeds more often than this.

        As for exponents: ``max(z stderr, z noise + bias)``.  It adds at most 8% to the first on windows of 5 sizes or more.
        """
        z = NormalDist().inv_cdf(1 - error_rate)
        return max(z * self.stderr, z * self.noise + self.bias)

    def lower(self, error_rate: float) -> float:
        """Return the one-sided lower limit."""
        return self.estimate - NormalDist().inv_cdf(1 - error_rate) * self.stderr if not self.reason else -math.inf

    def upper(self, error_rate: float) -> float:
        """Return the one-sided upper limit."""
        return self.estimate + NormalDist().inv_cdf(1 - error_rate) * self.stderr if not self.reason else math.inf

    def decision_lower(self, error_rate: float) -> float:
        """Return the lower limit that no truth of the correction family falls below more often than ``error_rate``."""
        return self.estimate - self.decision_reach(error_rate) if not self.reason else -math.inf

    def decision_upper(self, error_rate: float) -> float:
        """Return the upper limit that no truth of the correction family exceeds more often than ``error_rate``."""
        return self.estimate + self.decision_reach(error_rate) if not self.reason else math.inf

    @property
    def resolution(self) -> float:
        """The error below which a value says nothing: that of the arithmetic."""
        return ROUNDING * 1e-3 * self.solution[2] if self.solution is not None else 0.0

    def stderr_with(self, factor: float) -> float:
        """Return the stderr of the limit if every size had ``factor`` times the draws; ``math.inf`` leaves corrections alone."""
        if self.system is None:
            return math.inf
        design, weights, unit = self.system
        more = weights * math.sqrt(factor) if math.isfinite(factor) else np.full_like(weights, 1e14)
        return math.sqrt(solve(design, np.zeros(len(design)), more, 1)[1][0, 0]) * unit

    def value_at(self, size: float, level: float = 0.95) -> Interval:
        """Return the fitted curve at ``size``, with its interval."""
        if self.system is None or self.solution is None:
            return Interval(math.nan, -math.inf, math.inf, level)
        theta, covariance, scale = self.solution
        first, unit = self.window[0], self.system[2]
        row = np.array([1.0, *(dev * (size / first) ** -power for power, dev in zip(self.family.powers, self.family.deviations))])
        reach = NormalDist().inv_cdf(0.5 + level / 2) * math.sqrt(max(float(row @ covariance @ row), 0.0)) * unit
        centre = float(row @ theta) * scale
        return Interval(centre, centre - reach, centre + reach, level)

    def interval(self, level: float = 0.95) -> Interval:
        """Return the two-sided interval of the limit at confidence ``level``."""
        if self.reason:
            return Interval(math.nan, -math.inf, math.inf, level)
        reach = NormalDist().inv_cdf(0.5 + level / 2) * self.stderr
        return Interval(self.estimate, self.estimate - reach, self.estimate + reach, level)


def fit_limit(
    sizes: Sequence[float],
    values: Sequence[float],
    stderrs: Sequence[float],
    *,
    scale: float,
    correction: float | None = None,
    amplitude: float | None = None,
) -> LimitFit:
    """Fit the limit of values that approach it by corrections of relative size ``scale`` (an absolute amount, positive).

    The priors are those of :mod:`theoryck.fitting.corrections` times ``scale``: take the larger of the limit and the first value.
    The problem is linear, so values of any sign are allowed.  Raises ValueError as :func:`theoryck.fitting.fit.fit_rate` does.

    >>> fit = fit_limit([16, 32, 64, 128], [2 + 1 / d for d in (16, 32, 64, 128)], [0.0] * 4, scale=2.0, correction=1)
    >>> abs(fit.estimate - 2) < fit.stderr < 0.5
    True
    """
    if not (math.isfinite(scale) and scale > 0):
        raise ValueError(f"scale must be a positive number, got {scale!r}")
    d, v, e = (vector(name, data) for name, data in (("sizes", sizes), ("values", values), ("stderrs", stderrs)))
    if not len(d) == len(v) == len(e) > 0:
        raise ValueError(f"sizes, values and stderrs must have the same positive length, got {len(d)}, {len(v)} and {len(e)}")
    require(d > 0, "sizes", d, "must be positive")
    require(e >= 0, "stderrs", e, "must not be negative")
    errors = np.maximum(e / scale, 4 * np.finfo(float).eps * np.maximum(np.abs(v) / scale, 1e-3))
    family = CorrectionFamily.choose(float(d.min()), correction, amplitude, float(errors.min()))
    window = (whole(float(d.min())), whole(float(d.max())))
    distinct = len(np.unique(d))
    if distinct < MIN_SIZES:
        counted = f"{distinct} size{'s' * (distinct != 1)}"
        reason = f"{counted} cannot show a limit together with its corrections: measure at least {MIN_SIZES}, better 6"
        return LimitFit(math.nan, math.inf, math.nan, 0, math.nan, window, family, (), reason)
    columns = [np.ones_like(d)] + [dev * (d / d.min()) ** -power for power, dev in zip(family.powers, family.deviations)]
    design = np.stack(columns, axis=1)
    theta, covariance, chi2 = solve(design, v / scale, 1 / errors, 1)
    dof = len(d) - 1
    p_value = float(scipy.special.chdtrc(dof, chi2))
    poor = p_value < POOR_FIT
    unit = scale * (math.sqrt(chi2 / dof) if poor else 1.0)
    stderr, flags = math.sqrt(covariance[0, 0]) * unit, ("poor-fit",) if poor else ()
    system = (design, 1 / errors, unit)
    sensitivity = response(design, 1 / errors, 1, 0)
    noise = float(np.linalg.norm(sensitivity * errors)) * unit
    bias = float(np.abs(np.expm1(family.truths(d)) @ sensitivity).max()) * scale
    return LimitFit(
        estimate=float(theta[0]) * scale,
        stderr=stderr,
        chi2=chi2,
        dof=dof,
        p_value=p_value,
        window=window,
        family=family,
        flags=flags,
        system=system,
        noise=noise,
        bias=bias,
        solution=(theta, covariance, scale),
    )
