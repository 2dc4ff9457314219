"""The picture of a law: the histogram of the draws beside the claimed density, and the difference of the distribution functions.

The axis is logarithmic where a positive law spans decades; of very long tails it shows less, and says so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from theoryck.records import Counts, Point, Result
from theoryck.records.values import size_text
from theoryck.report import numbers
from theoryck.report.svg import frame, scales, words
from theoryck.report.svg.canvas import Canvas, path, polyline, staircase
from theoryck.report.svg.frame import Frame
from theoryck.report.svg.scales import Scale

DECADES = 1.5  # from here on a positive law has a logarithmic axis
SPIKE = 0.08  # of the axis: a middle half that is narrower is a spike


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis for a law: the edges numbered ``first``..``last`` are shown; ``beyond`` is the share of the claim outside them."""

    log: bool
    first: int
    last: int
    beyond: float

    def bins(self, counts: Counts) -> list[tuple[float, float]]:
        """Return the ends of the bins that are shown."""
        return list(pairwise(counts.edges[self.first : self.last + 1]))

    def width(self, low: float, high: float) -> float:
        """Return the width of a bin in units of the axis: decades where it is logarithmic."""
        return math.log10(high / low) if self.log else high - low


def axis_of(counts: Counts) -> Axis:
    """Choose the axis on which the claimed law is no spike.

    >>> axis_of(Counts((0.01, 0.1, 1.0, 10.0), (1, 1, 1, 1, 1), (0.2, 0.4, 0.6, 0.8))).log
    True
    >>> axis_of(Counts((-2.0, 0.0, 2.0), (1, 1, 1, 1), (0.25, 0.5, 0.75)))
    Axis(log=False, first=0, last=2, beyond=0.5)
    """
    edges = counts.edges
    first, last = 0, len(edges) - 1
    if last < 1:
        return Axis(False, 0, max(last, 0), 1.0)
    log = edges[0] > 0 and math.log10(edges[-1]) - math.log10(edges[0]) >= DECADES and _spike(counts, first, last) < 3 * SPIKE
    while not log and last - first > 4 and _spike(counts, first, last) < SPIKE:
        left = edges[first + 1] - edges[first]
        right = edges[last] - edges[last - 1]
        first, last = (first + 1, last) if left > right else (first, last - 1)
    return Axis(log, first, last, 1 - (counts.claimed[last] - counts.claimed[first]))


def _spike(counts: Counts, first: int, last: int) -> float:
    """Return the share of the axis that the narrowest half of the claimed law takes."""
    edges, claimed = counts.edges, counts.claimed
    whole = edges[last] - edges[first]
    if not (whole > 0 and math.isfinite(whole)):
        return 1.0
    narrowest, end = whole, first
    for start in range(first, last + 1):
        while end < last and claimed[end] - claimed[start] < 0.5 * (claimed[last] - claimed[first]):
            end += 1
        if claimed[end] - claimed[start] >= 0.5 * (claimed[last] - claimed[first]):
            narrowest = min(narrowest, edges[end] - edges[start])
    return narrowest / whole


def densities(counts: Counts, axis: Axis) -> tuple[list[float], list[float]]:
    """Return the measured and the claimed density in the bins shown, per unit of the axis; a bin without width has none (0).

    >>> law = Counts((0.0, 1.0, 3.0), (1, 2, 1, 0), (0.25, 0.5, 1.0))
    >>> densities(law, axis_of(law))
    ([0.5, 0.125], [0.25, 0.25])
    """
    total = sum(counts.counts)
    widths = [axis.width(low, high) for low, high in axis.bins(counts)]
    inner = counts.counts[1:-1][axis.first : axis.last]
    claimed = [high - low for low, high in pairwise(counts.claimed[axis.first : axis.last + 1])]
    measured = [_over(count / total if total else 0.0, width) for count, width in zip(inner, widths)]
    return measured, [_over(share, width) for share, width in zip(claimed, widths)]


def _over(share: float, width: float) -> float:
    density = share / width if width > 0 else 0.0
    return density if math.isfinite(density) else 0.0


def differences(counts: Counts) -> list[float]:
    """Return the measured distribution function minus the claimed one, at each edge.

    >>> differences(Counts((0.0, 1.0), (1, 2, 1), (0.5, 0.5)))
    [-0.25, 0.25]
    """
    total = sum(counts.counts)
    return [below / total - claimed for below, claimed in zip(accumulate(counts.counts[:-1]), counts.claimed)]


def largest(differences: Sequence[float], edges: Sequence[float]) -> tuple[float, float]:
    """Return the difference that is largest in magnitude, and where.

    >>> largest([-0.25, 0.1], [0.0, 1.0])
    (-0.25, 0.0)
    """
    index = max(range(len(differences)), key=lambda i: abs(differences[i]))
    return differences[index], edges[index]


PANEL = 130.0
DASHES = ("tk-d", "tk-d tk-2", "tk-d tk-3")  # the largest size, the smallest, one between
SAMPLE = {style: path(style, "M0 0H22") for style in DASHES}
FILLED = path("tk-h", "M0-5H22V5H0z")
CLAIM = path("tk-c tk-u", "M0 0H22")


def law(result: Result) -> tuple[Canvas, str] | None:
    """Draw the histograms of the smallest and the largest size, and differences from the claim; None without counts."""
    found = [(point, point.counts) for point in result.points if point.counts is not None and _drawable(point.counts)]
    if not found:
        return None
    canvas = Canvas(0.0)
    point, counts = found[-1]
    axis = axis_of(counts)
    x = _horizontal(counts, axis)
    shown = [found[-1], *found[:1], *found[len(found) // 2 : len(found) // 2 + 1]][: min(3, len(found))]
    density, difference = _density_scale(found, axis), _difference_scale(shown)
    left = max(frame.margin(density), frame.margin(difference))
    _density(canvas, found, axis, (x, density), left)
    _difference(canvas, result, shown, axis, (x, difference), left)
    gap, where = largest(differences(counts), counts.edges)
    cut = f" Tails with {100 * axis.beyond:.2g}% of the claimed law lie beyond the axis." if axis.last - axis.first else ""
    scale = "on a logarithmic axis, density per decade" if axis.log else "on a linear axis"
    alt = words.sentence(
        f"Law of {words.quantity(result)} {scale}: {sum(counts.counts)} draws at {_sizes(point)} against the claimed law.",
        f"The distribution functions differ most, by {numbers.plain(gap)}, at {numbers.plain(where)}.{cut}",
    )
    return canvas, alt


def _drawable(counts: Counts) -> bool:
    return sum(counts.counts) > 0 and len(counts.edges) >= 2 and all(map(math.isfinite, (*counts.edges, *counts.claimed)))


def _sizes(point: Point) -> str:
    return ", ".join(f"{name} = {size_text(size)}" for name, size in point.sizes.items())


def _horizontal(counts: Counts, axis: Axis) -> Scale:
    ends = [counts.edges[axis.first], counts.edges[axis.last]]
    return scales.choose(ends, kind="log" if axis.log else "linear")


def _density_scale(found: Sequence[tuple[Point, Counts]], axis: Axis) -> Scale:
    columns = [column for _, counts in (found[0], found[-1]) for column in densities(counts, _same(axis, counts))]
    tallest = max((value for column in columns for value in column), default=0.0) or 1.0
    y = scales.choose([0.0, tallest], kind="linear")
    return Scale("linear", 0.0, y.high, y.unit)


def _difference_scale(shown: Sequence[tuple[Point, Counts]]) -> Scale:
    reach = max((abs(value) for _, counts in shown for value in differences(counts)), default=0.0) or 1e-3
    return scales.choose([-reach, reach], kind="linear")


def _density(canvas: Canvas, found: Sequence[tuple[Point, Counts]], axis: Axis, axes: tuple[Scale, Scale], left: float) -> None:
    point, counts = found[-1]
    measured, claimed = densities(counts, axis)
    drawn = frame.axes(canvas, *axes, "density per decade" if axis.log else "density", "", height=PANEL, left=left)
    frame.number_labels(drawn)
    canvas.height -= 14
    canvas.path("tk-h", _steps(drawn, counts, axis, measured, closed=True))
    for _, other in found[:1] if len(found) > 1 else []:
        canvas.path(DASHES[1], _steps(drawn, other, _same(axis, other), densities(other, _same(axis, other))[0]))
    canvas.path("tk-c tk-u", _steps(drawn, counts, axis, claimed))
    canvas.entry(CLAIM, "claimed law")
    canvas.entry(FILLED, f"draws at {_first(point)}")


def _first(point: Point) -> str:
    """Name a point by its first size."""
    return ", ".join(f"{name} = {size_text(size)}" for name, size in [*point.sizes.items()][:1]) or "the one instance"


def _same(axis: Axis, counts: Counts) -> Axis:
    """Return the axis for counts at another size, whose edges may be others."""
    return axis if len(counts.edges) > axis.last and (not axis.log or counts.edges[0] > 0) else axis_of(counts)


def _steps(drawn: Frame, counts: Counts, axis: Axis, values: Sequence[float], closed: bool = False) -> str:
    """Return the data of a staircase over the bins, down to the axis at both ends if it is ``closed``."""
    if not values:
        return ""
    spots: list[tuple[float, float]] = []
    for (low, high), value in zip(axis.bins(counts), values):
        height = max(drawn.height(value), drawn.top)
        spots += [(_within(drawn, low), height), (_within(drawn, high), height)]
    if closed:
        spots = [(spots[0][0], drawn.bottom), *spots, (spots[-1][0], drawn.bottom)]
    return staircase(spots, closed)


def _within(drawn: Frame, edge: float) -> float:
    return min(max(drawn.x.place(edge), drawn.x.start), drawn.x.stop)


def _difference(
    canvas: Canvas, result: Result, shown: Sequence[tuple[Point, Counts]], axis: Axis, axes: tuple[Scale, Scale], left: float
) -> None:
    caption = "measured \u2212 claimed distribution function"
    drawn = frame.axes(canvas, *axes, caption, words.quantity(result), height=PANEL * 0.75, left=left)
    frame.number_labels(drawn)
    drawn.level("tk-a", 0.0)
    for style, (point, counts) in zip(DASHES, shown):
        same, values = _same(axis, counts), differences(counts)
        kept = zip(counts.edges[same.first : same.last + 1], values[same.first : same.last + 1])
        canvas.path(style, polyline([(_within(drawn, edge), drawn.height(value)) for edge, value in kept]))
        canvas.entry(SAMPLE[style], _first(point))
