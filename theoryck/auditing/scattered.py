"""Error bars for rows that have none: the scatter about the fit, line by line (see :mod:`theoryck.fitting.scatter`)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from theoryck.auditing.directions import Direction
from theoryck.fitting.scatter import MIN_SCATTER_SIZES, residual_stderrs
from theoryck.rates import Rate
from theoryck.records import Point, Prediction


def with_scatter(
    points: Sequence[Point], lines: Sequence[Direction], template: Prediction, tail: float
) -> tuple[tuple[Point, ...], str]:
    """Return the points with errors such that limits at error rates from ``tail`` upwards are honest, and why there are none.

    The scatter is that of the ratio to the rate, whose own curvature is no scatter.  A point on several lines of a grid gets the
    largest of their errors, a point on none keeps none (infinite).
    """
    rate = None if template.rate is None else Rate.parse(template.rate)
    relative = [0.0] * len(points)
    place = {id(point): i for i, point in enumerate(points)}
    # A line too short to show scatter gets the errors that its points have on the lines that cross it.
    long = [line for line in lines if len({point.sizes[line.base] for point in line.points}) >= MIN_SCATTER_SIZES]
    for line in long or lines:
        found, reason = _relative(line, rate, template, tail)
        if reason:
            return tuple(points), reason
        for point in line.points:
            relative[place[id(point)]] = max(relative[place[id(point)]], found)
    return tuple(_with_error(point, share) for point, share in zip(points, relative)), ""


def _with_error(point: Point, relative: float) -> Point:
    assert point.estimate is not None
    stderr = relative * abs(point.estimate.value) if relative > 0 else math.inf
    return replace(point, estimate=replace(point.estimate, stderr=stderr))


def _relative(line: Direction, rate: Rate | None, template: Prediction, tail: float) -> tuple[float, str]:
    sizes = [point.sizes[line.base] for point in line.points]
    values = [point.estimate.value if point.estimate is not None else math.nan for point in line.points]
    same_sign = all(value > 0 for value in values) or all(value < 0 for value in values)
    if same_sign:  # logarithms, so that no ratio to the rate is beyond the range of floats
        values = [math.log(abs(value)) for value in values]
        if rate is not None:
            values = [value - rate.log_value(point.sizes) for value, point in zip(values, line.points)]
    scatter = residual_stderrs(
        sizes, values, correction=template.correction, amplitude=template.amplitude, rate=tail, log_values=same_sign
    )
    return scatter.relative, scatter.reason
