"""Pictures of growth: values against sizes on logarithmic axes, their ratio to the claimed rate, and the residuals of the fit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from theoryck.curves import Approach, Curve, Fitted, Line, Mark, Signed, Trace
from theoryck.records import Kind, Result
from theoryck.report import numbers
from theoryck.report.svg import frame, scales, words
from theoryck.report.svg.canvas import Canvas, clipped, with_tail
from theoryck.report.svg.frame import SAMPLES, Frame
from theoryck.report.svg.scales import LN10, Scale

Ends = tuple[Mark, Signed, Signed, Signed]
LINEAR_DECADES = 1.0  # a ratio that varies less is drawn on a linear axis


def scaling(result: Result, found: Fitted) -> tuple[Canvas, str]:
    """Draw values against sizes, both logarithmic, with fit, claim and rivals; return the picture and what it shows."""
    marks = _marks(found, ratio=False)
    flip = _flip(marks)
    canvas = Canvas(0.0)
    name = _minus(found, words.quantity(result))
    caption = with_tail(words.quantity(result), name.removeprefix(words.quantity(result)))
    drawn = _growth(canvas, result, found, marks, flip, caption, ratio=False)
    axis = frame.AXES_IN_WORDS[drawn.y.kind]
    alt = words.sentence(
        f"{name} against {found.base}{axis}: {words.traces(found.traces, found.base)}.",
        words.line(found),
        words.fit(found),
        words.claimed(found, result, partial(_place, drawn, ratio=False)),
        words.missing(found.missing),
    )
    return canvas, alt


def ratio(result: Result, found: Fitted) -> tuple[Canvas, str]:
    """Draw values over the claimed rate, on which a bound is judged: a flat curve is a rate that is right."""
    marks = _marks(found, ratio=True)
    flip = _flip(marks)
    canvas = Canvas(0.0)
    label = words.rate(found.claimed.label, result.prediction) if found.claimed is not None else ""
    caption = f"measured / claimed rate {label}".rstrip()
    drawn = _growth(canvas, result, found, marks, flip, caption, ratio=True)
    listed = [ends for _, kept in marks for ends in kept]
    extremes = sorted((float(value), mark.size) for mark, value, _, _ in listed)
    (least, where), (most, there) = extremes[0], extremes[-1]
    span = f"between {numbers.plain(least)} at {found.base} = {where} and {numbers.plain(most)} at {found.base} = {there}"
    constant = result.judgement.constant
    # The constant of a scaling is extrapolated where one is claimed: it is no point of the curve.
    own = result.prediction is not None and result.prediction.constant is not None and found.kind is Kind.SCALING
    which = "The fitted constant is" if own else "At the largest size the fitted ratio is"
    tail = f"{which} {words.interval(constant)}." if constant is not None and found.curves else ""
    axis = frame.AXES_IN_WORDS[drawn.y.kind]
    alt = words.sentence(
        f"{_minus(found, words.quantity(result))} divided by the claimed rate, against {found.base}{axis}: {span}.",
        words.fit(found),
        tail,
        words.claimed(found, result, partial(_place, drawn, ratio=True)),
    )
    return canvas, alt


def residuals(found: Fitted | Approach) -> tuple[Canvas, str] | None:
    """Draw (value - fit)/error against sizes; None where nothing was fitted."""
    kept = [Trace(trace.route, tuple(m for m in trace.marks if m.residual is not None)) for trace in found.traces]
    shown = [trace for trace in kept if trace.marks]
    if all(trace.route == "exact" for trace in shown):  # without noise they say nothing that the fit does not say
        return None
    values = [mark.residual or 0.0 for trace in shown for mark in trace.marks]
    largest = max(map(abs, values))
    canvas = Canvas(0.0)
    reach = Signed.of(max(1.08 * largest, 2.6))
    scale = scales.choose([Signed(-1, reach.log), reach], kind="linear")
    drawn = frame.framed(canvas, _sizes(shown), scale, "(measured \u2212 fit) / standard error", found.base)
    drawn.level("tk-a", Signed.of(0.0))
    for trace in shown:
        spots = []
        for mark in trace.marks:
            value = Signed.of(mark.residual or 0.0)
            spots.append((mark, value, value, value))
        frame.draw_marks(drawn, trace, spots, noise=isinstance(found, Fitted) and found.kind is not Kind.LIMIT)
    place = max((abs(mark.residual or 0.0), mark.size) for trace in shown for mark in trace.marks)
    alt = words.sentence(
        f"Residuals of {len(values)} values from the fitted curve, in standard errors (of exact values: in units of what the fit "
        f"can resolve): the largest is {numbers.plain(place[0])} at {found.base} = {place[1]}."
    )
    return canvas, alt


# -- parts ---------------------------------------------------------------------------------------------------------------------


def _minus(found: Fitted, name: str) -> str:
    return name if found.kind is not Kind.LIMIT else f"{name} \u2212 {found.limit:.6g}"


def _sizes(traces: Sequence[Trace]) -> list[int]:
    return sorted({mark.size for trace in traces for mark in trace.marks})


def _marks(found: Fitted, ratio: bool) -> list[tuple[Trace, list[Ends]]]:
    """Return the marks of every route with the numbers that a picture shows: themselves, or divided by the rate."""
    made = []
    for trace in found.traces:
        kept = []
        for mark in trace.marks:
            factor = -mark.log_rate if ratio else 0.0
            low, high = (Signed.of(end).times(factor) for end in mark.ends)
            kept.append((mark, mark.signed.times(factor), low, high))
        made.append((trace, kept))
    return made


def _flip(marks: Sequence[tuple[Trace, Sequence[Ends]]]) -> int:
    """Return -1 where all values are negative: their magnitudes have a logarithmic axis."""
    signs = {value.sign for _, kept in marks for _, value, _, _ in kept}
    return -1 if signs == {-1} else 1


def _growth(
    canvas: Canvas,
    result: Result,
    found: Fitted,
    marks: Sequence[tuple[Trace, Sequence[Ends]]],
    flip: int,
    caption: str,
    ratio: bool,
) -> Frame:
    def shown(sign: int, logs: Sequence[float], rates: Sequence[float]) -> list[Signed]:
        return [Signed(sign, log - rate if ratio else log) for log, rate in zip(logs, rates)]

    curves = [
        (curve, [shown(curve.sign, logs, curve.log_rates) for logs in (curve.centre, curve.low, curve.high)])
        for curve in found.curves
    ]
    lines = [(line, shown(line.sign, line.logs, line.log_rates)) for line in ([found.claimed] if found.claimed else [])]
    rivals = [(line, shown(line.sign, line.logs, line.log_rates)) for line in found.rivals]
    scale = _scale(marks, curves, lines, rivals, flip, ratio)
    caption = caption if flip > 0 else f"{scales.MINUS} {caption}"
    drawn = frame.framed(canvas, found.sizes, scale, caption, words.below(found, result), flip)
    if scale.kind == "symlog" or (scale.kind == "linear" and scale.low < 0 < scale.high):
        drawn.level("tk-a", Signed.of(0.0))
    sure = all(words.trusted(result, curve.route) for curve, _ in curves)
    for curve, (_, low, high) in curves if sure else ():
        frame.draw_band(drawn, curve.sizes, low, high)
    for curve, (centre, _, _) in curves:
        frame.draw_curve(drawn, "tk-f", curve.sizes, centre)
    for index, (line, values) in enumerate(rivals):
        _rival(drawn, line, values, f"r{index + 1}" if len(rivals) > 1 else "", result)
    _claims(drawn, lines, result)
    for trace, kept in marks:
        frame.draw_marks(drawn, trace, kept)
    if curves:
        of = " of exact" if len(found.traces) > 1 and curves[0][0].route == "exact" else ""
        banded = f"{words.level(found.level)} band" if sure else "no band: its error bars cannot be trusted"
        canvas.entry(SAMPLES["fit" if sure else "bare"], f"fit{of}, {banded}")
    _legend_lines(canvas, drawn, lines, rivals, result)
    return drawn


def _scale(
    marks: Sequence[tuple[Trace, Sequence[Ends]]],
    curves: Sequence[tuple[Curve, Sequence[Sequence[Signed]]]],
    lines: Sequence[tuple[Line, Sequence[Signed]]],
    rivals: Sequence[tuple[Line, Sequence[Signed]]],
    flip: int,
    ratio: bool,
) -> Scale:
    def turned(values: Sequence[Signed]) -> list[Signed]:
        return [Signed(value.sign * flip, value.log) for value in values]

    listed = [ends for _, kept in marks for ends in kept]
    values = turned([value for _, value, _, _ in listed])
    # A value smaller than its error is no size worth a decade of a logarithmic axis: its error is.
    reach = [_reach(mark, value, turned([low, high])) for (mark, _, low, high), value in zip(listed, values)]
    ends = [end for _, _, low, high in listed for end in turned([low, high])]
    positive = all(value.sign > 0 for value in values)
    logs = [value.log / LN10 for value in reach if value.sign]
    narrow = ratio and (not logs or max(logs) - min(logs) < LINEAR_DECADES)
    soft = [value for line in (*lines, *rivals) for value in turned(line[1])]
    soft += [value for _, columns in curves for column in columns for value in turned(column)]
    if narrow:
        return scales.choose(values, ends, soft, kind="linear", flat=scales.FLAT)
    if not positive:
        return scales.choose(values, ends, soft, kind="symlog")
    least = min(value.log for value in reach) - LN10 / 2
    return scales.choose(reach, [end for end in ends if end.sign > 0 and end.log > least], soft, kind="log", flat=scales.FLAT)


def _reach(mark: Mark, value: Signed, ends: Sequence[Signed]) -> Signed:
    if not mark.in_noise:
        return value
    high = max(ends, key=lambda end: end.sign * math.exp(min(end.log, 700.0)) if end.sign else 0.0)
    return high if high.sign > 0 else value


def _rival(drawn: Frame, line: Line, values: Sequence[Signed], name: str, result: Result) -> None:
    """Draw a rival and, where there are several, write its name where the curve enters the picture."""
    where = frame.draw_curve(drawn, "tk-r", line.sizes, values)
    if where is not None and name:
        drawn.canvas.name(where[0] + 4, min(max(where[1] + 4, drawn.top + 11), drawn.bottom - 4), name, drawn.bottom)


def _claims(drawn: Frame, lines: Sequence[tuple[Line, Sequence[Signed]]], result: Result) -> None:
    for line, values in lines:
        frame.draw_curve(drawn, "tk-c", line.sizes, values)


def _place(drawn: Frame, line: Line, *, ratio: bool) -> str:
    """Say of a line that lies beyond the axis that it does."""
    values = [Signed(line.sign, log - rate if ratio else log) for log, rate in zip(line.logs, line.log_rates)]
    return "" if _is_seen(drawn, line, values) else ", beyond the axis"


def _is_seen(drawn: Frame, line: Line, values: Sequence[Signed]) -> bool:
    spots = [(drawn.across(size), drawn.height(value)) for size, value in zip(line.sizes, values)]
    return bool(clipped(spots, drawn.top, drawn.bottom))


def _legend_lines(
    canvas: Canvas,
    drawn: Frame,
    lines: Sequence[tuple[Line, Sequence[Signed]]],
    rivals: Sequence[tuple[Line, Sequence[Signed]]],
    result: Result,
) -> None:
    def seen(line: tuple[Line, Sequence[Signed]]) -> str:
        return "" if _is_seen(drawn, *line) else " (beyond the axis)"

    for line in lines:
        canvas.entry(SAMPLES["claim"], f"claimed {words.rate(line[0].label, result.prediction)}{seen(line)}")
    for index, line in enumerate(rivals):
        name = f"r{index + 1}: " if len(rivals) > 1 else "rival "
        told = "rejected" if line[0].rejected else "NOT rejected"
        canvas.entry(SAMPLES["rival"], f"{name}{words.rate(line[0].label, result.prediction)}, {told}{seen(line)}")
