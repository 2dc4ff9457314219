"""The growth of a quantity relative to a rate on the same grid, and the tests a verdict is made of."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Protocol

from theoryck.fitting.data import MIN_SIZES
from theoryck.fitting.fit import RateFit, fit_rate
from theoryck.fitting.linear import ExponentError, exponent_error
from theoryck.judging.evidence import Series
from theoryck.rates.directions import Axis
from theoryck.records import Interval, Size
from theoryck.records.values import size_text

MAX_FACTOR = 1e4  # beyond this many times the draws, advice to draw more is no advice
ENDLESS = 1e12  # a factor in the draws that leaves nothing but corrections
EXACT = 1e-9  # relative errors below which draws are not what is missing
MIN_SPAN = 4  # a window narrower than this factor shows next to nothing of an exponent


@dataclass(frozen=True, slots=True)
class Growth:
    """The fit of ``quantity / rate ~ C d**e``; values of the ratio are those of the fit times ``exp(-scale)``."""

    fit: RateFit
    scale: float
    largest: Size

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
    computed: bool = False,
) -> Growth:
    """Fit the ratio of the series to the rate, size by size: the rate's own curvature cancels."""
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
        shown=series.shown(base),
        stated=series.stated,
        computed=computed,
    )
    return Growth(fit, scale, max(sizes))


def tail_quantile(error_rate: float) -> float:
    """Return z with P(Z > z) = ``error_rate``."""
    return NormalDist().inv_cdf(1 - error_rate)


class Fitted(Protocol):
    """What the question whether draws can help needs of a fit."""

    @property
    def stderr(self) -> float:
        """The stderr, corrections included."""

    @property
    def reason(self) -> str:
        """Why nothing could be fitted, or empty."""

    def stderr_with(self, factor: float) -> float:
        """The stderr with ``factor`` times the draws."""


Reach = Callable[[float], float]
"""How far from the truth the limit that decides lies in five runs of six, as a function of the factor in the draws."""


def closing(stderr_with: Callable[[float], float], error_rate: float) -> Reach:
    """Return ``z stderr + scatter``; the scatter between runs is what of the stderr vanishes with infinitely many draws."""
    z, floor = tail_quantile(error_rate), stderr_with(ENDLESS)

    def reach(factor: float) -> float:
        stderr = stderr_with(factor)
        if not 0 < stderr < math.inf:
            return z * stderr
        share = 1 - (floor / stderr) ** 2  # below 0 by rounding only; squares of the errors themselves leave the range of floats
        return stderr * (z + math.sqrt(max(share, 0.0)))

    return reach


def refuting(error_with: Callable[[float], ExponentError], error_rate: float) -> Reach:
    """Return the reach of a limit that refutes: ``z stderr + noise``."""
    z = tail_quantile(error_rate)

    def reach(factor: float) -> float:
        error = error_with(factor)
        return z * error.stderr + error.noise

    return reach


def supporting(error_with: Callable[[float], ExponentError], error_rate: float) -> Reach:
    """Return the reach of a limit that supports, which allows for the worst bias, plus the noise."""

    def reach(factor: float) -> float:
        error = error_with(factor)
        return error.decision_reach(error_rate) + error.noise

    return reach


def factor_to_decide(reach: Reach, gap: float) -> float:
    """Return the factor in the draws at which ``reach`` is no more than ``gap``; inf above MAX_FACTOR."""
    low, high = 1.0, 1.0
    while reach(high) > gap:
        if high >= MAX_FACTOR:
            return math.inf
        low, high = high, min(4.0 * high, MAX_FACTOR)
    while high > 1.1 * low:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if reach(middle) > gap else (low, middle)
    return high


def error_if(
    series: Series, base: str, log_rates: Sequence[float], exponent: float, *, correction: float | None, amplitude: float | None
) -> Callable[[float], ExponentError]:
    """Return the error of e as a function of the factor in the draws, if the ratio to the rate were ``A base**exponent``.

    Only A is taken from the values: where they drown in noise their own curve would say that no number of draws suffices.
    """
    values, errors, _ = series.over(log_rates)
    sizes = series.base(base)
    shape = [(size / max(sizes)) ** exponent for size in sizes]
    kept = [(v, e, m) for v, e, m in zip(values, errors, shape) if e > 0]
    # Weights relative to the largest one: the square of a size in errors may be beyond the range of floats.
    top = max((m / e for _, e, m in kept), default=0.0)
    weights = [m / e / top for _, e, m in kept]
    information = sum(w * w for w in weights)
    fitted = abs(sum(v / m * w * w for (v, _, m), w in zip(kept, weights))) / information if kept else 0.0
    scale = max(fitted, 1 / (top * math.sqrt(information))) if kept else 1.0
    relative = [max(e / (scale * m), 1e-15) for e, m in zip(errors, shape)]

    def error_with(factor: float) -> ExponentError:
        smaller = [error / math.sqrt(factor) for error in relative]
        return exponent_error(sizes, smaller, correction=correction, amplitude=amplitude)

    return error_with


def seen_to_rise(series: Series, base: str, log_rates: Sequence[float], sign: int) -> bool:
    """Whether the ratio to the rate rises over the larger half of the sizes (at least three), with the sign of the fit.

    Weighted least squares on the values themselves, no corrections: not an estimate of the exponent, which a correction can hide at
    small sizes, but what a growth that is not extrapolated must show where corrections are smallest.
    """
    values, errors, _ = series.over(log_rates)
    points = sorted(zip(series.base(base), values, errors))
    points = points[-max(MIN_SIZES, math.ceil(len(points) / 2)) :]
    largest = max(abs(value) for _, value, _ in points)
    weights = [max(error, EXACT * largest) ** -2.0 if largest else 1.0 for _, _, error in points]
    x = [math.log(size) for size, _, _ in points]
    centre = sum(w * a for w, a in zip(weights, x)) / sum(weights)
    return sign * sum(w * (a - centre) * value for w, a, (_, value, _) in zip(weights, x, points)) > 0


def advice(factor: float | None, axis: Axis, sizes: Sequence[Size], declared: bool) -> str:
    """Say what would decide: a wider window if it is narrow, ``factor`` times the draws if that is feasible, else larger sizes.

    ``factor`` is None where nothing is drawn.
    """
    (first, last), count = axis.ends(sizes), len(set(sizes))
    if count <= MIN_SIZES or axis.large(last) < MIN_SPAN * axis.large(first):
        ends = f"{size_text(first)} to {size_text(last)}"
        return f"widen the window: {count} sizes from {ends} hardly tell an exponent from corrections"
    other = f"take {axis.further} sizes" + ("" if declared else " or declare the correction")
    return other if factor is None else more_draws(factor, other)


def more_draws(factor: float, other: str = "take larger sizes") -> str:
    """Say that ``factor`` times the draws would decide or, where that is not feasible, what else to do.

    >>> more_draws(36.7)
    'about 37 times the draws would decide'
    >>> more_draws(math.inf, "declare a larger tolerance")
    'more draws will not do in practice: declare a larger tolerance'
    """
    if factor > MAX_FACTOR:
        return f"more draws will not do in practice: {other}"
    digits = max(factor, 2.0)  # less than twice: the draws at hand sufficed on average, and this run was not average
    rounded = float(f"{digits:.1e}")
    return f"about {math.ceil(rounded):d} times the draws would decide"


def draws_can_help(fit: Fitted) -> bool:
    """Whether the interval is not already as narrow as the corrections allow (to 10%)."""
    return not fit.reason and fit.stderr_with(math.inf) < 0.9 * fit.stderr
