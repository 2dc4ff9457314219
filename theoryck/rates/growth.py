"""The growth of a quantity relative to a rate on the same grid, and the tests a verdict is made of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Protocol

from theoryck.rates.evidence import Series
from theoryck.rates.fit import RateFit, fit_rate
from theoryck.records import Interval

MAX_FACTOR = 2.0**40


@dataclass(frozen=True, slots=True)
class Growth:
    """The fit of ``quantity / rate ~ C d**e``; values of the ratio are those of the fit times ``exp(-scale)``."""

    fit: RateFit
    scale: float
    largest: int

    @property
    def excess(self) -> float:
        """The estimate of e."""
        return self.fit.exponent.estimate

    def constant(self, level: float) -> Interval:
        """Return quantity/rate at the largest size of the window, from the fitted curve."""
        return _rescaled(self.fit.value_at(self.largest, level), -self.scale)

    def prefactor(self, level: float) -> Interval:
        """Return the prefactor C of the fit (only narrow if the exponent was fixed)."""
        low, high = (self.fit.constant.low, self.fit.constant.high)
        interval = Interval(self.fit.constant.estimate, low, high, level)
        return _rescaled(interval, -self.scale)


def _rescaled(interval: Interval, log_factor: float) -> Interval:
    factor = math.exp(min(max(log_factor, -745.0), 709.0))
    return Interval(interval.estimate * factor, interval.low * factor, interval.high * factor, interval.level)


def fit_growth(
    series: Series,
    base: str,
    log_rates: Sequence[float],
    *,
    correction: float | None,
    amplitude: float | None,
    level: float,
    exponent: float | None = None,
) -> Growth:
    """Fit the ratio of the series to the rate, size by size (DESIGN 4.2): the rate's own curvature cancels."""
    values, errors, scale = series.over(log_rates)
    sizes = series.base(base)
    fit = fit_rate(
        sizes,
        values,
        errors,
        correction=correction,
        amplitude=amplitude,
        level=level,
        exponent=exponent,
        trusted=series.trusted,
    )
    return Growth(fit, scale, max(sizes))


def quantile(error_rate: float) -> float:
    """Return z with P(Z > z) = error_rate."""
    return NormalDist().inv_cdf(1 - error_rate)


class Fitted(Protocol):
    """What the search for a budget needs of a fit."""

    @property
    def stderr(self) -> float:
        """The stderr, corrections included."""

    @property
    def reason(self) -> str:
        """Why nothing could be fitted, or empty."""

    def stderr_with(self, factor: float) -> float:
        """The stderr with ``factor`` times the draws."""


def factor_to_decide(fit: Fitted, gap: float, error_rate: float) -> float:
    """Return the power of two by which the draws must grow for ``gap`` to exceed z stderr, if nothing else moves; inf if none does.

    The stderr is recomputed for each factor with the corrections left as uncertain as they are.
    """
    z = quantile(error_rate)
    if fit.reason or z * fit.stderr_with(math.inf) >= abs(gap):
        return math.inf
    factor = 1.0
    while z * fit.stderr_with(factor) > abs(gap) and factor < MAX_FACTOR:
        factor *= 2.0
    return factor if factor < MAX_FACTOR else math.inf


def draws_can_help(fit: Fitted) -> bool:
    """Whether the interval is not already as narrow as the corrections allow (to 10%)."""
    return not fit.reason and fit.stderr_with(math.inf) < 0.9 * fit.stderr
