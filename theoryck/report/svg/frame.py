"""The frame of a picture against sizes: axes, ticks at the sizes measured, marks of every route, curves with bands."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from theoryck.records import Size, Toward
from theoryck.report.svg import scales
from theoryck.report.svg.canvas import WIDTH, Canvas, Spot, band, clipped, path, polyline, short, width_of, with_tail
from theoryck.report.svg.marks import Mark, Trace
from theoryck.report.svg.scales import Scale

CAPTION = 18.0
PLOT = 190.0
FEET = 36.0  # for the labels of the sizes and the name of the base
LABEL_GAP = 7.0

DOT = "tk-d tk-w"
SAMPLES = {
    "montecarlo": path("tk-d", "M10-6V6") + path(DOT, "M10,0h0"),
    "exact": path("tk-s", "M10-5l5 5-5 5-5-5z"),
    "bracket-low": path("tk-s", "M6 4h8l-4-8z"),
    "bracket-high": path("tk-s", "M6-4h8l-4 8z"),
    "noise": path("tk-d", "M6.8 0a3.2 3.2 0 1 0 6.4 0a3.2 3.2 0 1 0-6.4 0"),
    "fit": path("tk-b", "M0-5H22V5H0z") + path("tk-f", "M0 0H22"),
    "bare": path("tk-f", "M0 0H22"),
    "claim": path("tk-c", "M0 0H22"),
    "rival": path("tk-r", "M0 0H22"),
    "claim-up": path("tk-c", "M11-7V7"),
    "cross": path("tk-r tk-u", "M7-4l8 8m0-8l-8 8"),
    "zero": path("tk-a", "M0 0H22"),
    "off": path("tk-d", "M6-3h8l-4 7z"),
}
AXES = {"log": ", log axis", "linear": ", linear axis", "symlog": ", axis linear around 0"}
AXES_IN_WORDS = {"log": "", "linear": " on a linear axis", "symlog": " on an axis that is linear around 0"}
ROUTES = {
    "montecarlo": "Monte Carlo \u00b1 stderr",
    "exact": "exact route",
    "bracket-low": "lower end of bracket",
    "bracket-high": "upper end of bracket",
}


@dataclass(frozen=True)
class Frame:
    """A canvas with two axes; ``flip`` is -1 where the picture shows minus the values."""

    canvas: Canvas
    x: Scale
    y: Scale
    flip: int = 1
    limit: float = 0.0  # where the horizontal axis has the label of its end, if it has

    @property
    def top(self) -> float:
        """The upper edge."""
        return min(self.y.start, self.y.stop)

    @property
    def bottom(self) -> float:
        """The lower edge."""
        return max(self.y.start, self.y.stop)

    def across(self, size: float) -> float:
        """The horizontal coordinate of a size."""
        return self.x.place(size)

    def height(self, value: float) -> float:
        """The vertical coordinate of a value, kept within an inch of the picture: infinite ends are drawn to its edge."""
        units = self.y.units(value * self.flip)
        span = self.y.high - self.y.low
        return self.y.at(min(max(units, self.y.low - 50 * span), self.y.high + 50 * span))

    def level(self, style: str, value: float) -> None:
        """Draw a value from edge to edge."""
        self.canvas.path(style, f"M{short(self.x.start)},{short(self.height(value))}H{short(self.x.stop)}")

    def seen(self, value: float) -> bool:
        """Whether the axis reaches a value."""
        return self.y.holds(self.y.units(value * self.flip))


def framed(
    canvas: Canvas,
    sizes: Sequence[Size],
    y: Scale,
    caption: str,
    below: str,
    flip: int = 1,
    *,
    limit: Toward | None = None,
    linear: bool = False,
) -> Frame:
    """Draw caption, axes and ticks at the sizes measured and return the frame; with a ``limit`` the axis goes on to that.

    The axis of the sizes is logarithmic or ``linear``.
    """
    kind = "linear" if linear else "log"
    places = [float(size) if linear else math.log10(size) for size in sizes]
    first, last = min(places), max(places)
    pad = 0.05 * (last - first) or 0.3
    x = Scale(kind, first - (4 if limit is Toward.ZERO else 1) * pad, last + (4 if limit is Toward.INFINITY else 1) * pad)
    caption, below = (
        with_tail(text, AXES[kind], room) for text, kind, room in ((caption, y.kind, WIDTH - 16), (below, kind, 280.0))
    )
    frame = axes(canvas, x, y, caption, below, flip)
    where = [(frame.across(size), scales.size(size, max(sizes))) for size in sorted(set(sizes))]
    if limit is not None:
        frame = replace(frame, limit=frame.x.at(last + 3 * pad if limit is Toward.INFINITY else first - 3 * pad))
        end = (frame.limit, "\u221e" if limit is Toward.INFINITY else "0")
        where = [*where, end] if limit is Toward.INFINITY else [end, *where]
    _labels(frame, where, limit)
    return frame


def margin(y: Scale) -> float:
    """Return the room that the labels of a vertical axis take."""
    return 12 + max((width_of(label) for _, label in scales.ticks(y)), default=8.0)


def axes(
    canvas: Canvas, x: Scale, y: Scale, caption: str, below: str, flip: int = 1, *, height: float = PLOT, left: float = 0.0
) -> Frame:
    """Draw the caption and two axes below what the canvas has, with labels of the vertical one, and return the frame."""
    labels = scales.ticks(y)
    left = max(left, margin(y))
    top = canvas.height + CAPTION + 6
    bottom = top + height
    frame = Frame(canvas, x.drawn(left, WIDTH - 10), y.drawn(bottom, top), flip)
    canvas.text(8, canvas.height + CAPTION - 3, caption, room=WIDTH - 16)
    rows = [(frame.y.at(units), label) for units, label in labels]
    canvas.path("tk-g", "".join(f"M{short(left)},{short(row)}H{short(WIDTH - 10)}" for row, _ in rows))
    for row, label in rows:
        canvas.text(left - 5, row + 4, label, "end")
    canvas.path("tk-a", f"M{short(left)},{short(top)}V{short(bottom)}H{short(WIDTH - 10)}")
    canvas.text((left + WIDTH - 10) / 2, bottom + 31, below, "middle", room=WIDTH - left)
    canvas.height = bottom + FEET
    return frame


def number_labels(frame: Frame) -> None:
    """Label round numbers on the horizontal axis."""
    _labels(frame, [(frame.x.at(units), label) for units, label in scales.ticks(frame.x)], None)


def _labels(frame: Frame, where: Sequence[tuple[float, str]], limit: Toward | None) -> None:
    """Label the horizontal axis from the end of its limit, as far as the labels do not touch; everything has its tick."""
    frame.canvas.path("tk-a", "".join(f"M{short(x)},{short(frame.bottom)}v4" for x, _ in where))
    free, side = -math.inf, 1 if limit is Toward.ZERO else -1
    for x, label in where[::side]:
        half = width_of(label) / 2
        middle = min(x, WIDTH - half - 2)
        if side * middle - half > free:
            frame.canvas.text(middle, frame.bottom + 16, label, "middle")
            free = side * middle + half + LABEL_GAP


def draw_marks(frame: Frame, trace: Trace, values: Sequence[tuple[Mark, float, float, float]], *, noise: bool = True) -> None:
    """Draw the marks of one route: (mark, value, lower end, upper end), the last three as the picture shows them.

    With ``noise`` the values below 5 standard errors are hollow.
    """
    style = "tk-d" if trace.route == "montecarlo" else "tk-s"
    bars, shapes, hollow, off = [], [], [], []
    for mark, value, low, high in values:
        x, y = frame.across(mark.size), frame.height(value)
        frame.canvas.spots.append((x, min(max(y, frame.top), frame.bottom), mark.row))
        ends = sorted(min(max(frame.height(end), frame.top), frame.bottom) for end in (low, high))
        if ends[1] - ends[0] > 0.5:
            bars.append(_bar(x, *ends))
        if not frame.seen(value):
            below = y > frame.bottom
            edge = frame.bottom - 7 if below else frame.top + 7
            off.append(f"M{short(x - 4)},{short(edge)}h8l-4{' 7' if below else '-7'}z")
        elif noise and mark.in_noise and trace.route == "montecarlo":
            hollow.append(f"M{short(x - 3.2)},{short(y)}a3.2 3.2 0 1 0 6.4 0a3.2 3.2 0 1 0-6.4 0")
        else:
            shapes.append(shape(trace.route, x, y))
    frame.canvas.path(style, "".join(bars))
    frame.canvas.path(DOT if trace.route == "montecarlo" else style, "".join(shapes))
    frame.canvas.path(style, "".join((*hollow, *off)))
    frame.canvas.entry(SAMPLES[trace.route], ROUTES[trace.route])
    if hollow:
        frame.canvas.entry(SAMPLES["noise"], "below 5 stderr: noise")
    if off:
        frame.canvas.entry(SAMPLES["off"], "beyond the axis")


def _bar(x: float, top: float, bottom: float) -> str:
    return f"M{short(x)},{short(top)}V{short(bottom)}m-2.5 0h5M{short(x - 2.5)},{short(top)}h5"


def shape(route: str, x: float, y: float) -> str:
    """Return the data of a mark of a route."""
    if route == "montecarlo":
        return f"M{short(x)},{short(y)}h0"
    if route == "exact":
        return f"M{short(x)},{short(y - 5)}l5 5-5 5-5-5z"
    up = route == "bracket-low"
    return f"M{short(x - 4)},{short(y + 4 if up else y - 4)}h8l-4{'-8' if up else ' 8'}z"


def draw_band(frame: Frame, sizes: Sequence[float], low: Sequence[float], high: Sequence[float]) -> None:
    """Fill the area between two curves."""
    across = [frame.across(size) for size in sizes]
    upper, lower = (_thinned([(x, frame.height(value)) for x, value in zip(across, end)]) for end in (high, low))
    frame.canvas.path("tk-b", band(upper, lower, frame.top, frame.bottom))


def draw_curve(frame: Frame, style: str, sizes: Sequence[float], values: Sequence[float]) -> Spot | None:
    """Draw a curve as far as the picture reaches, and return where it enters, or None if no part of it is seen."""
    spots = [(frame.across(size), frame.height(value)) for size, value in zip(sizes, values)]
    parts = clipped(_thinned(spots), frame.top, frame.bottom)
    frame.canvas.path(style, "".join(polyline(part) for part in parts))
    return parts[0][0] if parts else None


def _thinned(spots: Sequence[Spot]) -> list[Spot]:
    """Leave out spots that lie on the line between their neighbours, to a twentieth of a unit: most curves are straight."""
    kept = list(spots[:1])
    for index in range(1, len(spots) - 1):
        (x0, y0), (x, y), (x1, y1) = kept[-1], spots[index], spots[index + 1]
        if not x1 > x0 or abs(y0 + (y1 - y0) * (x - x0) / (x1 - x0) - y) > 0.05:
            kept.append(spots[index])
    return [*kept, *spots[-1:]] if len(spots) > 1 else kept
