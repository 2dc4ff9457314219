"""Pictures of a number that is claimed: what every route found beside it, and values that approach it as a limit.

In both the rivals that are numbers are drawn; differences are drawn where they are small beside the number itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from theoryck.records import Kind, Result
from theoryck.report import numbers
from theoryck.report.svg import frame, scales, words
from theoryck.report.svg.canvas import CHARACTER, WIDTH, Canvas, path, short, with_tail
from theoryck.report.svg.frame import SAMPLES, Frame
from theoryck.report.svg.marks import Along, Mark, Trace, minus, place, read, rival_gaps, within
from theoryck.report.svg.scales import Scale

ROW = 25.0
MOST_ROWS = 12
SMALL = Decimal("0.02")  # of the value claimed: numbers that differ less are drawn as differences
FAR = 12  # ranges of what was measured, beyond which a rival is only pointed to
NAMES = {"exact": "exact", "montecarlo": "Monte Carlo", "bracket-low": "lower end", "bracket-high": "upper end"}


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the picture: a value minus the claimed one, its ends, the place of its point; ``route`` is "" for a rival."""

    label: str
    route: str
    gap: Decimal
    low: Decimal
    high: Decimal
    text: str
    place: int = 0


def compares(result: Result) -> bool:
    """Whether a result compares numbers with a number: an identity, or a bound at no size."""
    prediction = result.prediction
    if prediction is None or not result.points:
        return False
    if prediction.kind is Kind.IDENTITY:
        return prediction.value is not None and within(prediction.value.midpoint)
    bounded = prediction.kind is Kind.BOUND and prediction.constant is not None and within(prediction.constant)
    return bounded and not result.points[0].sizes


def values(result: Result) -> tuple[Canvas, str] | None:
    """Draw the values found by every route beside the one claimed; None where no number was found."""
    prediction = result.prediction
    assert prediction is not None
    claimed = prediction.value.midpoint if prediction.value is not None else Decimal(prediction.constant or 0)
    radius = prediction.value.radius if prediction.value is not None else Decimal(0)
    several = len(result.points) > 1
    measured, missing = [], []
    for row, point in enumerate(result.points):
        traces, lost = read({row: point})
        missing += lost
        measured += [_row(trace, claimed, f"{place(point.sizes)}, " if several else "") for trace in traces]
    if not measured:
        return None
    left_out = max(len(measured) - MOST_ROWS, 0)
    rivals = _rivals(result, claimed)
    shown = [*measured[:MOST_ROWS], *rivals[:MOST_ROWS]]
    bound = prediction.kind is Kind.BOUND
    canvas = Canvas(0.0)
    _draw(canvas, result, shown, claimed, radius, bound)
    relation = "is at most" if bound else "is"
    parts = [f"{row.label} {row.text}" for row in shown]
    alt = words.sentence(
        f"{words.quantity(result)}, claimed that it {relation} {_plain(claimed)} (dashed): {'; '.join(parts)}.",
        f"{left_out} more values are not drawn." if left_out else "",
        words.missing(missing),
    )
    return canvas, alt


def _row(trace: Trace, claimed: Decimal, where: str) -> Row:
    mark = trace.minus(claimed).marks[0]
    low, high = mark.ends
    text = words.value(trace.marks[0])
    if mark.value != 0:
        text += f" ({mark.value:+.2g} from the claim)"
    return Row(f"{where}{NAMES[trace.route]}", trace.route, mark.value, low, high, text, mark.row)


def _rivals(result: Result, claimed: Decimal) -> list[Row]:
    found = []
    for index, (text, gap, rejected) in enumerate(rival_gaps(result, claimed), 1):
        label = f"rival {index}" if len(result.rivals) > 1 else "rival"
        found.append(Row(label, "", gap, gap, gap, f"{words.plain(text)}, {'rejected' if rejected else 'NOT rejected'}"))
    return found


def _plain(value: Decimal) -> str:
    return f"{value:.10g}"


# -- drawing -------------------------------------------------------------------------------------------------------------------


def _draw(canvas: Canvas, result: Result, rows: Sequence[Row], claimed: Decimal, radius: Decimal, bound: bool) -> None:
    measured = [row for row in rows if row.route]
    gaps = [end for row in measured for end in (row.low, row.high)]
    drawn_rivals = _near(gaps, [row.gap for row in rows if not row.route])
    reach = max(map(abs, [*gaps, *drawn_rivals]), default=Decimal(0))
    shift = claimed if reach > SMALL * abs(claimed) else Decimal(0)
    inside = [float(minus(gap, -shift)) for gap in [Decimal(0), *gaps, *drawn_rivals]]
    scale = scales.choose(inside, kind="linear")
    name = words.quantity(result)
    relation = "bound" if bound else "value"
    caption = name if shift or claimed == 0 else with_tail(name, f" \u2212 claimed {relation} {_plain(claimed)}")
    drawn = _axes(canvas, scale, caption, [row.label for row in rows])
    zero = drawn.x.place(float(shift))
    canvas.path("tk-c", f"M{short(zero)},{short(drawn.top)}V{short(drawn.bottom)}")
    for index, row in enumerate(rows):
        _row_marks(drawn, row, shift, drawn.top + ROW * (index + 0.5))
    for row in measured:
        canvas.entry(SAMPLES[row.route], frame.ROUTES[row.route])
    known = f" \u00b1 {float(radius):.1g}" if radius else ""
    canvas.entry(SAMPLES["claim-up"], f"claimed {'at most ' if bound else ''}{_plain(claimed)}{known}")
    for row in rows:
        if not row.route:
            canvas.entry(SAMPLES["cross"], f"{row.label}: {row.text}{'' if row.gap in drawn_rivals else ' (beyond the axis)'}")


def _near(gaps: Sequence[Decimal], rivals: Sequence[Decimal]) -> list[Decimal]:
    """Return the rivals that are drawn in place: all where only exact values were found, else those within FAR ranges."""
    span = max(*gaps, Decimal(0)) - min(*gaps, Decimal(0))
    if not rivals:
        return []
    closest = min(map(abs, rivals))
    if span <= closest / 1000:  # what was measured is a point beside every rival
        return [gap for gap in rivals if abs(gap) <= 20 * closest]
    return [gap for gap in rivals if abs(gap) <= FAR * span]


def _axes(canvas: Canvas, scale: Scale, caption: str, labels: Sequence[str]) -> Frame:
    """Draw the axis of the values, with the rows' labels at its left."""
    left = min(14 + CHARACTER * max(map(len, labels)), WIDTH / 2.6)
    top = canvas.height + frame.CAPTION + 6
    bottom = top + ROW * len(labels)
    drawn = Frame(canvas, scale.drawn(left, WIDTH - 12), Scale("linear", 0.0, 1.0, start=bottom, stop=top))
    canvas.text(8, canvas.height + frame.CAPTION - 3, caption, room=WIDTH - 16)
    ticks = scales.ticks(drawn.x, 5)
    canvas.path("tk-g", "".join(f"M{short(drawn.x.at(units))},{short(top)}V{short(bottom)}" for units, _ in ticks))
    canvas.path("tk-a", f"M{short(left)},{short(bottom)}H{short(WIDTH - 12)}")
    for index, label in enumerate(labels):
        canvas.text(8, top + ROW * (index + 0.5) + 4, label, room=left - 10)
    frame.number_labels(drawn)
    canvas.height = bottom + 22
    return drawn


def _row_marks(drawn: Frame, row: Row, shift: Decimal, y: float) -> None:
    low, x, high = (drawn.x.place(float(minus(gap, -shift))) for gap in (row.low, row.gap, row.high))
    start, stop = drawn.x.start, drawn.x.stop
    if row.route:
        drawn.canvas.spots.append((min(max(x, start), stop), y, row.place))
    if not start <= x <= stop:
        edge, turn = (start + 3, "6 4") if x < start else (stop - 3, "-6 4")
        style = "tk-r tk-u" if not row.route else _style(row.route)
        drawn.canvas.path(style, f"M{short(edge)},{short(y)}l{turn}v-8z")
        return
    if not row.route:
        drawn.canvas.path("tk-r tk-u", f"M{short(x - 4)},{short(y - 4)}l8 8m0-8l-8 8")
        return
    low, high = (min(max(end, start), stop) for end in (low, high))
    if high - low > 0.5 and math.isfinite(high - low):
        bar = f"M{short(low)},{short(y - 2.5)}v5m0-2.5H{short(high)}m0-2.5v5"
        drawn.canvas.path(_style(row.route), bar)
    style = frame.DOT if row.route == "montecarlo" else _style(row.route)
    drawn.canvas.path(style, frame.shape(row.route, x, y))


def _style(route: str) -> str:
    return "tk-d" if route == "montecarlo" else "tk-s"


TOLERANCE = path("tk-t", "M0-5H22V5H0z") + path("tk-c", "M0 0H22")
FITTED = path("tk-f", "M7-6h8m-4 0V6m-4 0h8")


def limit(result: Result, found: Along) -> tuple[Canvas, str]:
    """Draw the values with their errors and the fitted curve as they approach the limit, claimed or only measured."""
    marks = [mark for trace in found.traces for mark in trace.marks]
    claimed = found.subtracted or Decimal(0)
    shift = _shift(claimed, marks)

    def placed(gap: Decimal | float) -> float:
        return float(minus(Decimal(gap), -shift))

    known = rival_gaps(result, claimed)
    curve = found.fitted[0] if found.fitted else None
    columns = zip(*(curve.heights(size) for size in found.grid)) if curve is not None else ()
    drawn_curve = [[placed(height) for height in column] for column in columns]  # centre, lower and upper end
    rivals = [placed(gap) for _, gap, _ in known]
    tolerance = found.curves[0].tolerance if found.curves and found.subtracted is not None else None
    band = [] if tolerance is None else [placed(tolerance), placed(-tolerance)]
    level = curve.limit if curve is not None else None
    target = [placed(0.0)] if found.subtracted is not None else [placed(level.estimate)] if level is not None else []
    ends = [placed(end) for mark in marks for end in mark.ends]
    soft = [value for column in drawn_curve for value in column]
    scale = scales.choose([*(placed(mark.value) for mark in marks), *target], ends, [*soft, *rivals, *band], kind="linear")
    name, claim = words.quantity(result), f"{claimed:.6g}"
    caption = name if shift or claimed == 0 else with_tail(name, f" \u2212 claimed limit {claim}")
    canvas = Canvas(0.0)
    drawn = frame.framed(canvas, found.sizes, scale, caption, words.below(found, result), limit=found.toward, linear=found.linear)
    if found.subtracted is not None:
        _claim(drawn, target[0], band, claim)
    for index, (value, (text, _, rejected)) in enumerate(zip(rivals, known), 1):
        _rival(drawn, value, f"r{index}" if len(rivals) > 1 else "", words.plain(text), rejected)
    if drawn_curve:
        centre, low, high = drawn_curve
        if found.banded:
            frame.draw_band(drawn, found.grid, low, high)
        frame.draw_curve(drawn, "tk-f", found.grid, centre)
    for trace in found.traces:
        shown = [(mark, placed(mark.value), placed(mark.ends[0]), placed(mark.ends[1])) for mark in trace.marks]
        frame.draw_marks(drawn, trace, shown, noise=False)
    if drawn_curve:
        canvas.entry(SAMPLES["fit" if found.banded else "bare"], f"fit, {words.band(found, result)}")
    if level is not None:
        if found.subtracted is None:
            drawn.level("tk-a", target[0])
        _fitted(drawn, [placed(end) for end in (level.estimate, level.low, level.high)])
    return canvas, _alt(result, found, claim)


def _shift(claimed: Decimal, marks: Sequence[Mark]) -> Decimal:
    """Return what is added to differences to draw them: the claimed value, unless they are small beside it."""
    gaps = [mark.value for mark in marks]
    reach = max([*map(abs, gaps), *(mark.error or Decimal(0) for mark in marks)])
    return claimed if reach > SMALL * abs(claimed) else Decimal(0)


def _across(drawn: Frame, value: float) -> float | None:
    return drawn.height(value) if drawn.seen(value) else None


def _claim(drawn: Frame, target: float, band: Sequence[float], claim: str) -> None:
    """Draw the claimed value from edge to edge, in the band within which the limit must lie, where that is known."""
    if band:
        left, right = drawn.x.start, drawn.x.stop
        top, bottom = sorted(min(max(drawn.height(end), drawn.top), drawn.bottom) for end in band)
        drawn.canvas.path("tk-t", f"M{short(left)},{short(top)}H{short(right)}V{short(bottom)}H{short(left)}z")
    drawn.level("tk-c", target)
    drawn.canvas.entry(TOLERANCE if band else SAMPLES["claim"], f"claimed {claim}{', tolerance' if band else ''}")


def _rival(drawn: Frame, value: float, name: str, text: str, rejected: bool) -> None:
    height = _across(drawn, value)
    label = f"{name}: " if name else "rival "
    beyond = "" if height is not None else " (beyond the axis)"
    drawn.canvas.entry(SAMPLES["rival"], f"{label}{text}, {'rejected' if rejected else 'NOT rejected'}{beyond}")
    if height is not None:
        drawn.level("tk-r", value)
        if name:
            drawn.canvas.name(drawn.x.start + 4, max(height - 4, drawn.top + 10), name, drawn.bottom)


def _fitted(drawn: Frame, limit: Sequence[float]) -> None:
    """Draw the interval of the limit at the end of the axis."""
    x = drawn.limit
    middle, low, high = (min(max(drawn.height(end), drawn.top), drawn.bottom) for end in limit)
    left, bar = short(x - 4), f"M{short(x)},{short(low)}V{short(high)}"
    drawn.canvas.path("tk-f", f"M{left},{short(middle)}h8{bar}m-4 0h8M{left},{short(low)}h8")
    drawn.canvas.entry(FITTED, "fitted limit")


def _alt(result: Result, found: Along, claim: str) -> str:
    claimed = found.subtracted or Decimal(0)
    tail = f"No limit is fitted: {found.reason}." if found.reason else ""
    curve = found.fitted[0] if found.fitted else None
    if curve is not None and curve.limit is not None:
        gap = words.interval(curve.limit)
        tail = f"The fitted limit is {gap}."
        if found.subtracted is not None:
            tail = f"The fitted limit minus the claimed one is {gap}; the tolerance is {numbers.plain(curve.tolerance)}."
    rivals = [words.rival(words.plain(text), rejected) for text, _, rejected in rival_gaps(result, claimed)]
    shown = words.traces([trace.minus(-claimed) for trace in found.traces], found.base)
    aim = "no limit claimed" if found.subtracted is None else f"claimed limit {claim} (dashed)"
    axis = frame.AXES_IN_WORDS["linear" if found.linear else "log"]
    first = f"{words.quantity(result)} against {found.base}{axis}, {aim}: {shown}."
    return words.sentence(first, words.line(found), tail, *rivals, words.missing(found.missing))
