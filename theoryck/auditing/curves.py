"""The fitted curve of an audit, refitted from its record: the same record gives the same picture."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from theoryck.auditing.directions import Direction, as_path, slices
from theoryck.rates import Rate
from theoryck.rates.evidence import log_rates, read_routes
from theoryck.rates.growth import fit_growth
from theoryck.records import Kind, Result

Array = NDArray[np.float64]

STEPS = 100  # sizes at which a curve is given


@dataclass(frozen=True, slots=True)
class Curve:
    """A fitted curve along one direction: ``centre`` with the band ``low``..``high`` at the result's level; empty if nothing fits.

    ``claimed`` is the claimed rate times its constant, or times that of the fit at the largest size; empty without a rate.
    """

    direction: Direction
    sizes: tuple[float, ...] = ()
    centre: tuple[float, ...] = ()
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    claimed: tuple[float, ...] = ()


def curves(result: Result) -> list[Curve]:
    """Return the fitted curve of every path or line of the grid on which the audit rests."""
    path = as_path(result.points)
    return [_curve(result, line) for line in ([path] if path is not None else slices(result.points))]


def _curve(result: Result, line: Direction) -> Curve:
    prediction = result.prediction
    routes, _ = read_routes(line.points)
    if "montecarlo" not in routes:
        return Curve(line)
    series = routes["montecarlo"][0]
    rate = None if prediction is None or prediction.rate is None else Rate.parse(prediction.rate)
    growth = fit_growth(
        series,
        line.base,
        [0.0] * len(series) if rate is None else log_rates(rate, series),
        correction=None if prediction is None else prediction.correction,
        amplitude=None if prediction is None else prediction.amplitude,
        level=result.contract.level,
    )
    if not growth.fit.identifiable:
        return Curve(line)
    first, last = min(series.base(line.base)), max(series.base(line.base))
    sizes = np.exp(np.linspace(math.log(first), math.log(last), STEPS))
    along = _log_rates(rate, line, sizes)
    bands = [growth.fit.value_at(float(size), result.contract.level) for size in sizes]
    # The fit is one of the ratio times exp(scale).
    centre, low, high = (_scaled([getattr(b, end) for b in bands], along - growth.scale) for end in ("estimate", "low", "high"))
    claimed: Array = np.empty(0)
    if prediction is not None and rate is not None:
        claimed = _scaled([centre[-1]] * STEPS, along - along[-1])  # through the fitted curve at the largest size
        if prediction.constant is not None:
            power = prediction.kind is Kind.SCALING  # whose constant is in units of base**exponent
            logs = float(prediction.exponent or 0) * np.log(sizes) if power else along
            claimed = _scaled([prediction.constant] * STEPS, logs)
    return Curve(line, *(tuple(column.tolist()) for column in (sizes, centre, low, high, claimed)))


def _scaled(values: Sequence[float], logs: Array) -> Array:
    """Return values * exp(logs): infinite or 0 only where the product is beyond the range of floats."""
    with np.errstate(divide="ignore", over="ignore", under="ignore"):
        return np.asarray(np.sign(values) * np.exp(np.log(np.abs(values)) + logs), dtype=float)


def _log_rates(rate: Rate | None, line: Direction, sizes: Array) -> Array:
    """Return log(rate) between the sizes measured: the other sizes are interpolated on the logarithm."""
    if rate is None:
        return np.zeros_like(sizes)
    known = sorted({point.sizes[line.base]: point.sizes for point in line.points}.items())
    return np.interp(np.log(sizes), np.log([base for base, _ in known]), [rate.log_value(where) for _, where in known])


def ratios(result: Result) -> list[tuple[float, float] | None]:
    """Return value/rate with its standard error at each point; None without a rate or where it is beyond the range of floats."""
    if result.prediction is None or result.prediction.rate is None:
        return [None] * len(result.points)
    rate = Rate.parse(result.prediction.rate)
    found: list[tuple[float, float] | None] = []
    for point in result.points:
        assert point.estimate is not None
        factor = -rate.log_value(point.sizes)
        pair = (_times(point.estimate.value, factor), _times(point.estimate.stderr, factor))
        found.append(pair if math.isfinite(pair[0]) else None)
    return found


def _times(value: float, log_factor: float) -> float:
    """Return value * exp(log_factor), infinite where floats end."""
    if value == 0 or math.isinf(value):
        return value
    log = math.log(abs(value)) + log_factor
    return math.copysign(math.exp(log) if log < 709 else math.inf, value)


def local_slopes(result: Result) -> list[tuple[float, float] | None]:
    """Return the slope of log(value) from the point before, with its standard error; None on a grid or where signs differ."""
    path = as_path(result.points)
    found: list[tuple[float, float] | None] = [None] * len(result.points)
    if path is None:
        return found
    for i, (here, there) in enumerate(itertools.pairwise(result.points), 1):
        a, b = here.estimate, there.estimate
        assert a is not None
        assert b is not None
        gap = math.log(there.sizes[path.base] / here.sizes[path.base])
        if gap == 0 or a.value == 0 or b.value == 0 or (a.value > 0) != (b.value > 0):
            continue
        # Of 1e308 and 1e-308 the quotient is infinite, the difference of logarithms is not.
        slope = (math.log(abs(b.value)) - math.log(abs(a.value))) / gap
        found[i] = (slope, math.hypot(a.stderr / abs(a.value), b.stderr / abs(b.value)) / abs(gap))
    return found
