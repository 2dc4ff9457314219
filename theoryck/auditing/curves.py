"""The fitted curve of an audit, refitted from its record: the same record gives the same picture."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from theoryck.curves import Direction, Fitted, Signed, directions, lines
from theoryck.curves.directions import as_path
from theoryck.rates import Rate
from theoryck.records import Result


@dataclass(frozen=True, slots=True)
class Curve:
    """A fitted curve along one direction: ``centre`` with the band ``low``..``high`` at the result's level; empty if nothing fits.

    ``claimed`` is the claimed rate times its constant, or times that of the fit at the largest size; empty without a rate.

    >>> import theoryck as tc
    >>> sizes = [16, 32, 64, 128]
    >>> curve = curves(tc.audit({"d": sizes}, [3 / d for d in sizes], 0.01, rate="1/d"))[0]
    >>> len(curve.sizes) == len(curve.centre), curve.low[0] < curve.centre[0] < curve.high[0]
    (True, True)
    >>> round(curve.claimed[0] * curve.sizes[0], 1)
    3.0
    """

    direction: Direction
    sizes: tuple[float, ...] = ()
    centre: tuple[float, ...] = ()
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    claimed: tuple[float, ...] = ()


def curves(result: Result) -> list[Curve]:
    """Return the fitted curve of every path or line of the grid on which the audit rests.

    >>> import theoryck as tc
    >>> grid = [(d, n) for d in (16, 32, 64) for n in (8, 16, 32)]
    >>> table = {"d": [d for d, _ in grid], "n": [n for _, n in grid]}
    >>> len(curves(tc.audit(table, [1 / (d * n) for d, n in grid], 0.0, rate="1/(d*n)")))  # three lines in each direction
    6
    """
    return [_curve(line, found) for line, found in zip(directions(result), lines(result), strict=True)]


def _curve(line: Direction, found: Fitted) -> Curve:
    if not found.curves:
        return Curve(line)
    curve = found.curves[0]
    ends = (_numbers(curve.sign, logs) for logs in (curve.centre, curve.low, curve.high))
    centre, low, high = ends if curve.sign > 0 else (next(ends), *reversed([*ends]))
    claimed = _numbers(found.claimed.sign, found.claimed.logs) if found.claimed is not None else ()
    return Curve(line, curve.sizes, centre, low, high, claimed)


def _numbers(sign: int, logs: Sequence[float]) -> tuple[float, ...]:
    return tuple(float(Signed(sign, log)) for log in logs)


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
