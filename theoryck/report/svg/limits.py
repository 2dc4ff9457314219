"""The picture of a limit: values against sizes, the claimed value as a line, the fitted limit at infinity."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from theoryck.records import Result
from theoryck.report import numbers
from theoryck.report.svg import frame, scales, words
from theoryck.report.svg.canvas import Canvas, path, short, with_tail
from theoryck.report.svg.frame import SAMPLES, Frame
from theoryck.report.svg.marks import Along, Mark, minus, rival_gaps

SMALL = Decimal("0.02")  # of the value claimed: differences that vary less are drawn as differences
TOLERANCE = path("tk-t", "M0-5H22V5H0z") + path("tk-c", "M0 0H22")
FITTED = path("tk-f", "M7-6h8m-4 0V6m-4 0h8")


def limit(result: Result, found: Along) -> tuple[Canvas, str]:
    """Draw the values with their errors and the fitted curve as they approach the claimed limit."""
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
    target, tolerance = placed(0.0), found.curves[0].tolerance if found.curves else None
    band = [] if tolerance is None else [placed(tolerance), placed(-tolerance)]
    ends = [placed(end) for mark in marks for end in mark.ends]
    soft = [value for column in drawn_curve for value in column]
    scale = scales.choose([*(placed(mark.value) for mark in marks), target], ends, [*soft, *rivals, *band], kind="linear")
    name, claim = words.quantity(result), f"{claimed:.6g}"
    caption = name if shift or claimed == 0 else with_tail(name, f" \u2212 claimed limit {claim}")
    canvas = Canvas(0.0)
    drawn = frame.framed(canvas, found.sizes, scale, caption, words.below(found, result), infinity=True)
    _claim(drawn, target, band, claim)
    for index, (value, (text, _, rejected)) in enumerate(zip(rivals, known), 1):
        _rival(drawn, value, f"r{index}" if len(rivals) > 1 else "", words.plain(text), rejected)
    if drawn_curve:
        centre, low, high = drawn_curve
        if found.trusted:
            frame.draw_band(drawn, found.grid, low, high)
        frame.draw_curve(drawn, "tk-f", found.grid, centre)
    for trace in found.traces:
        shown = [(mark, placed(mark.value), placed(mark.ends[0]), placed(mark.ends[1])) for mark in trace.marks]
        frame.draw_marks(drawn, trace, shown, noise=False)
    if drawn_curve:
        canvas.entry(SAMPLES["fit" if found.trusted else "bare"], f"fit, {words.band(found, result)}")
    if curve is not None and curve.limit is not None:
        _fitted(drawn, [placed(end) for end in (curve.limit.estimate, curve.limit.low, curve.limit.high)])
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
    """Draw the interval of the limit at infinity."""
    x = drawn.infinity
    middle, low, high = (min(max(drawn.height(end), drawn.top), drawn.bottom) for end in limit)
    left, bar = short(x - 4), f"M{short(x)},{short(low)}V{short(high)}"
    drawn.canvas.path("tk-f", f"M{left},{short(middle)}h8{bar}m-4 0h8M{left},{short(low)}h8")
    drawn.canvas.entry(FITTED, "fitted limit")


def _alt(result: Result, found: Along, claim: str) -> str:
    claimed = found.subtracted or Decimal(0)
    tail = f"No limit is fitted: {found.reason}." if found.reason else ""
    curve = found.fitted[0] if found.fitted else None
    if curve is not None and curve.limit is not None:
        gap, most = words.interval(curve.limit), numbers.plain(curve.tolerance)
        tail = f"The fitted limit minus the claimed one is {gap}; the tolerance is {most}."
    rivals = [words.rival(words.plain(text), rejected) for text, _, rejected in rival_gaps(result, claimed)]
    shown = words.traces([trace.minus(-claimed) for trace in found.traces], found.base)
    first = f"{words.quantity(result)} against {found.base}, claimed limit {claim} (dashed): {shown}."
    return words.sentence(first, tail, *rivals, words.missing(found.missing))
