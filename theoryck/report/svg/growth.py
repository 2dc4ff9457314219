"""Pictures of growth: values against sizes on logarithmic axes, their ratio to the claimed rate, and the residuals of the fit."""

from __future__ import annotations

import math
from collections.abc import Sequence

from theoryck.records import Kind, Result
from theoryck.report import numbers
from theoryck.report.svg import frame, scales, words
from theoryck.report.svg.canvas import Canvas, clipped, with_tail
from theoryck.report.svg.frame import SAMPLES, Frame
from theoryck.report.svg.marks import Along, Line, Mark, Trace
from theoryck.report.svg.scales import Scale, decades

Ends = tuple[Mark, float, float, float]
LINEAR_DECADES = 1.0  # a ratio that varies less is drawn on a linear axis


def scaling(result: Result, found: Along) -> tuple[Canvas, str]:
    """Draw values against sizes, both logarithmic, with fit, claim and rivals; return the picture and what it shows."""
    marks = _marks(found, ratio=False)
    flip = _flip(marks)
    canvas = Canvas(0.0)
    name = words.measured(found, result)
    caption = with_tail(words.quantity(result), name.removeprefix(words.quantity(result)))
    drawn = _growth(canvas, result, found, marks, flip, caption, ratio=False)
    axis = frame.AXES_IN_WORDS[drawn.y.kind]
    alt = words.sentence(
        f"{name} against {found.base}{axis}: {words.traces(found.traces, found.base)}.",
        words.line(found),
        words.fit(found),
        words.claimed(found, result, lambda line: _place(drawn, found, line, ratio=False)),
        words.missing(found.missing),
    )
    return canvas, alt


def ratio(result: Result, found: Along) -> tuple[Canvas, str]:
    """Draw values over the claimed rate, on which a bound is judged: a flat curve is a rate that is right."""
    marks = _marks(found, ratio=True)
    flip = _flip(marks)
    canvas = Canvas(0.0)
    label = words.rate(found.claimed.label, result.prediction) if found.claimed is not None else ""
    caption = f"measured / claimed rate {label}".rstrip()
    drawn = _growth(canvas, result, found, marks, flip, caption, ratio=True)
    listed = [ends for _, kept in marks for ends in kept]
    extremes = sorted((value, mark.size) for mark, value, _, _ in listed)
    (least, where), (most, there) = extremes[0], extremes[-1]
    span = f"between {numbers.plain(least)} at {found.base} = {where} and {numbers.plain(most)} at {found.base} = {there}"
    constant = result.judgement.constant
    # The constant of a scaling is extrapolated where one is claimed: it is no point of the curve.
    own = result.prediction is not None and result.prediction.constant is not None and result.prediction.kind is Kind.SCALING
    which = "The fitted constant is" if own else f"At {found.far} the fitted ratio is"
    tail = f"{which} {words.interval(constant)}." if constant is not None and found.fitted else ""
    axis = frame.AXES_IN_WORDS[drawn.y.kind]
    alt = words.sentence(
        f"{words.measured(found, result)} divided by the claimed rate, against {found.base}{axis}: {span}.",
        words.fit(found),
        tail,
        words.claimed(found, result, lambda line: _place(drawn, found, line, ratio=True)),
    )
    return canvas, alt


def residuals(found: Along) -> tuple[Canvas, str] | None:
    """Draw (value - fit)/error against sizes; None where nothing was fitted."""
    kept = [Trace(trace.route, tuple(m for m in trace.marks if m.residual is not None)) for trace in found.traces]
    shown = [trace for trace in kept if trace.marks]
    if all(trace.route == "exact" for trace in shown):  # without noise they say nothing that the fit does not say
        return None
    values = [(mark.residual or 0.0, mark.size) for trace in shown for mark in trace.marks]
    largest = max(abs(value) for value, _ in values)
    canvas = Canvas(0.0)
    reach = max(1.08 * largest, 2.6)
    scale = scales.choose([-reach, reach], kind="linear")
    sizes = sorted({size for _, size in values})
    drawn = frame.framed(canvas, sizes, scale, "(measured \u2212 fit) / standard error", found.base, linear=found.linear)
    drawn.level("tk-a", 0.0)
    for trace in shown:
        spots = [(mark, value, value, value) for mark in trace.marks for value in (mark.residual or 0.0,)]
        frame.draw_marks(drawn, trace, spots, noise=found.subtracted is None)
    _, place = max((abs(value), size) for value, size in values)
    alt = words.sentence(
        f"Residuals of {len(values)} values from the fitted curve, in standard errors (of exact values: in units of what the fit "
        f"can resolve): the largest is {numbers.plain(largest)} at {found.base} = {place}."
    )
    return canvas, alt


# -- parts ---------------------------------------------------------------------------------------------------------------------


def _marks(found: Along, ratio: bool) -> list[tuple[Trace, list[Ends]]]:
    """Return the marks of every route with the numbers that a picture shows: themselves, or divided by the rate."""

    def ends(mark: Mark) -> Ends:
        rate = math.exp(found.log_rate(mark.size)) if ratio else 1.0
        low, high = mark.ends
        return mark, float(mark.value) / rate, float(low) / rate, float(high) / rate

    return [(trace, [ends(mark) for mark in trace.marks]) for trace in found.traces]


def _growth(
    canvas: Canvas,
    result: Result,
    found: Along,
    marks: Sequence[tuple[Trace, Sequence[Ends]]],
    flip: int,
    caption: str,
    ratio: bool,
) -> Frame:
    curves = [[found.values(column, ratio=ratio) for column in found.columns(curve)] for curve in found.fitted]
    claimed = [(line, found.values(line, ratio=ratio)) for line in ([found.claimed] if found.claimed else [])]
    rivals = [(line, found.values(line, ratio=ratio)) for line in found.rivals]
    soft = [values for _, values in (*claimed, *rivals)] + [column for columns in curves for column in columns]
    scale = _scale(marks, [value for column in soft for value in column], flip, ratio)
    caption = caption if flip > 0 else f"{scales.MINUS} {caption}"
    drawn = frame.framed(canvas, found.sizes, scale, caption, words.below(found, result), flip, linear=found.linear)
    if scale.kind == "symlog" or (scale.kind == "linear" and scale.low < 0 < scale.high):
        drawn.level("tk-a", 0.0)
    for _, low, high in curves if found.trusted else ():
        frame.draw_band(drawn, found.grid, low, high)
    for centre, _, _ in curves:
        frame.draw_curve(drawn, "tk-f", found.grid, centre)
    for index, (_, values) in enumerate(rivals, 1):
        where = frame.draw_curve(drawn, "tk-r", found.grid, values)
        if where is not None and len(rivals) > 1:  # the name of a rival stands where its line enters the picture
            canvas.name(where[0] + 4, min(max(where[1] + 4, drawn.top + 11), drawn.bottom - 4), f"r{index}", drawn.bottom)
    for _, values in claimed:
        frame.draw_curve(drawn, "tk-c", found.grid, values)
    for trace, kept in marks:
        frame.draw_marks(drawn, trace, kept)
    if curves:
        of = " of exact" if len(found.traces) > 1 and found.fitted[0].route == "exact" else ""
        canvas.entry(SAMPLES["fit" if found.trusted else "bare"], f"fit{of}, {words.band(found, result)}")
    for line, values in claimed:
        text = f"claimed {words.rate(line.label, result.prediction)}"
        canvas.entry(SAMPLES["claim"], text + ("" if _is_seen(drawn, found, values) else " (beyond the axis)"))
    for index, (line, values) in enumerate(rivals, 1):
        text = f"r{index}: " if len(rivals) > 1 else "rival "
        text += f"{words.rate(line.label, result.prediction)}, {'rejected' if line.rejected else 'NOT rejected'}"
        canvas.entry(SAMPLES["rival"], text + ("" if _is_seen(drawn, found, values) else " (beyond the axis)"))
    return drawn


def _flip(marks: Sequence[tuple[Trace, Sequence[Ends]]]) -> int:
    """Return -1 where all values are negative: their magnitudes have a logarithmic axis."""
    values = [value for _, kept in marks for _, value, _, _ in kept]
    return -1 if max(values) < 0 else 1


def _scale(marks: Sequence[tuple[Trace, Sequence[Ends]]], soft: Sequence[float], flip: int, ratio: bool) -> Scale:
    listed = [(mark, flip * value, flip * low, flip * high) for _, kept in marks for mark, value, low, high in kept]
    values = [value for _, value, _, _ in listed]
    # A value smaller than its error is no size worth a decade of a logarithmic axis: its error is.
    reach = [_reach(mark.in_noise, value, max(low, high)) for mark, value, low, high in listed]
    ends = [end for _, _, low, high in listed for end in (low, high)]
    soft = [flip * value for value in soft]
    logs = [decades(value) for value in reach if value]
    if ratio and (not logs or max(logs) - min(logs) < LINEAR_DECADES):
        return scales.choose(values, ends, soft, kind="linear", flat=scales.FLAT)
    if min(values) <= 0:
        return scales.choose(values, ends, soft, kind="symlog")
    least = min(reach) / math.sqrt(10)
    return scales.choose(reach, [end for end in ends if end > least], soft, kind="log", flat=scales.FLAT)


def _reach(in_noise: bool, value: float, high: float) -> float:
    return high if in_noise and high > 0 else value


def _place(drawn: Frame, found: Along, line: Line, *, ratio: bool) -> str:
    """Say of a line that lies beyond the axis that it does."""
    return "" if _is_seen(drawn, found, found.values(line, ratio=ratio)) else ", beyond the axis"


def _is_seen(drawn: Frame, found: Along, values: Sequence[float]) -> bool:
    spots = [(drawn.across(size), drawn.height(value)) for size, value in zip(found.grid, values)]
    return bool(clipped(spots, drawn.top, drawn.bottom))
