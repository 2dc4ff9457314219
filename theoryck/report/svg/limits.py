"""The picture of a limit: values against sizes, the claimed value as a line, the fitted limit at infinity."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal

from theoryck.curves import Approach, Mark, Signed
from theoryck.curves.logarithms import around
from theoryck.records import Result
from theoryck.report import numbers
from theoryck.report.svg import frame, scales, words
from theoryck.report.svg.canvas import Canvas, path, short, with_tail
from theoryck.report.svg.frame import SAMPLES, Frame

SMALL = Decimal("0.02")  # of the value claimed: differences that vary less are drawn as differences
TOLERANCE = path("tk-t", "M0-5H22V5H0z") + path("tk-c", "M0 0H22")
FITTED = path("tk-f", "M7-6h8m-4 0V6m-4 0h8")


def limit(result: Result, found: Approach) -> tuple[Canvas, str]:
    """Draw the values with their errors and the fitted curve as they approach the claimed limit."""
    marks = [mark for trace in found.traces for mark in trace.marks]
    shift = _shift(found, marks)

    def placed(gap: Decimal | float) -> Signed:
        number = gap if isinstance(gap, Decimal) else Decimal(gap)  # which may be beyond the range of floats
        return Signed.of(around(number, -shift)[0]) if number.is_finite() else Signed(1 if number > 0 else -1, math.inf)

    values = [placed(mark.value) for mark in marks]
    ends = [placed(end) for mark in marks for end in mark.ends]
    curve = [placed(value) for value in (*found.centre, *found.low, *found.high)]
    rivals = [placed(gap) for _, gap, _ in found.rivals]
    target = placed(Decimal(0))
    band = [placed(found.tolerance), placed(-found.tolerance)]
    scale = scales.choose([*values, target], ends, [*curve, *rivals, *band], kind="linear")
    name, claim = words.quantity(result), f"{found.claimed:.6g}"
    caption = name if shift or found.claimed == 0 else with_tail(name, f" \u2212 claimed limit {claim}")
    canvas = Canvas(0.0)
    drawn = frame.framed(canvas, found.measured, scale, caption, words.below(found, result), infinity=True)
    _claim(drawn, target, band, claim)
    for index, (value, (text, _, rejected)) in enumerate(zip(rivals, found.rivals)):
        _rival(drawn, value, f"r{index + 1}" if len(rivals) > 1 else "", words.plain(text), rejected)
    third = len(found.sizes)
    sure = words.trusted(result, found.route)
    if third:
        if sure:
            frame.draw_band(drawn, found.sizes, curve[third : 2 * third], curve[2 * third :])
        frame.draw_curve(drawn, "tk-f", found.sizes, curve[:third])
    for trace in found.traces:
        shown = [(mark, placed(mark.value), placed(mark.ends[0]), placed(mark.ends[1])) for mark in trace.marks]
        frame.draw_marks(drawn, trace, shown, noise=False)
    if third:
        banded = f"{words.level(found.level)} band" if sure else "no band: its error bars cannot be trusted"
        canvas.entry(SAMPLES["fit" if sure else "bare"], f"fit, {banded}")
    if found.limit is not None:
        _fitted(drawn, [placed(end) for end in (found.limit.estimate, found.limit.low, found.limit.high)])
    return canvas, _alt(result, found, claim)


def _shift(found: Approach, marks: Sequence[Mark]) -> Decimal:
    """Return what is added to differences to draw them: the claimed value, unless they are small beside it."""
    gaps = [mark.value for mark in marks]
    reach = max([*map(abs, gaps), *(mark.error or Decimal(0) for mark in marks)])
    return found.claimed if reach > SMALL * abs(found.claimed) else Decimal(0)


def _across(drawn: Frame, value: Signed) -> float | None:
    return drawn.height(value) if drawn.seen(value) else None


def _claim(drawn: Frame, target: Signed, band: Sequence[Signed], claim: str) -> None:
    """Draw the claimed value from edge to edge, in the band within which the limit must lie."""
    left, right = drawn.x.start, drawn.x.stop
    top, bottom = sorted(min(max(drawn.height(end), drawn.top), drawn.bottom) for end in band)
    drawn.canvas.path("tk-t", f"M{short(left)},{short(top)}H{short(right)}V{short(bottom)}H{short(left)}z")
    drawn.level("tk-c", target)
    drawn.canvas.entry(TOLERANCE, f"claimed {claim}, tolerance")


def _rival(drawn: Frame, value: Signed, name: str, text: str, rejected: bool) -> None:
    height = _across(drawn, value)
    label = f"{name}: " if name else "rival "
    beyond = "" if height is not None else " (beyond the axis)"
    drawn.canvas.entry(SAMPLES["rival"], f"{label}{text}, {'rejected' if rejected else 'NOT rejected'}{beyond}")
    if height is not None:
        drawn.level("tk-r", value)
        if name:
            drawn.canvas.name(drawn.x.start + 4, max(height - 4, drawn.top + 10), name, drawn.bottom)


def _fitted(drawn: Frame, limit: Sequence[Signed]) -> None:
    """Draw the interval of the limit at infinity."""
    x = drawn.infinity
    middle, low, high = (min(max(drawn.height(end), drawn.top), drawn.bottom) for end in limit)
    left, bar = short(x - 4), f"M{short(x)},{short(low)}V{short(high)}"
    drawn.canvas.path("tk-f", f"M{left},{short(middle)}h8{bar}m-4 0h8M{left},{short(low)}h8")
    drawn.canvas.entry(FITTED, "fitted limit")


def _alt(result: Result, found: Approach, claim: str) -> str:
    tail = f"No limit is fitted: {found.reason}." if found.reason else ""
    if found.limit is not None:
        gap, most = words.interval(found.limit), numbers.plain(found.tolerance)
        tail = f"The fitted limit minus the claimed one is {gap}; the tolerance is {most}."
    rivals = [words.rival(words.plain(text), rejected) for text, _, rejected in found.rivals]
    shown = words.traces(words.plus(found.traces, found.claimed), found.base)
    first = f"{words.quantity(result)} against {found.base}, claimed limit {claim} (dashed): {shown}."
    return words.sentence(first, tail, *rivals, words.missing(found.missing))
