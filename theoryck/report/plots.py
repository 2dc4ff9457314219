"""Pictures by matplotlib: values with error bars, fitted curve, band and claimed rate or limit; histograms of laws.

Growth has logarithmic axes, that of a geometric rate a linear axis of the sizes, along which it is a straight line.  Values that
approach a limit have a linear axis, on which the limit is a level; where limit and rate are claimed, the differences are growth.

A histogram has left the density in bins that are equally probable under the claim, right what the two distribution functions
differ by at every size.  The bins at both ends are open and have no density: their share is in the distribution functions.

Matplotlib is imported only where a picture is drawn, on its Agg canvas: no window, no display, no global state.
"""

from __future__ import annotations

import itertools
import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from theoryck.records import Counts, Estimate, Interval, Kind, Point, Report, Result, Size
from theoryck.records.values import size_text
from theoryck.report import numbers
from theoryck.report.claims import clean, measured
from theoryck.report.layout import shorten
from theoryck.report.paragraphs import outcome_and_why
from theoryck.report.svg import laws
from theoryck.report.svg.marks import Along, approaches, growths

SUFFIXES = (".png", ".svg", ".pdf")
MOST_BANDS = 6  # lines of a grid; with more of them the bands would hide each other
MOST_LABELS = 8
# Okabe and Ito (2008): told apart by colour-blind readers too.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
CLAIM = COLORS[1]
TITLE = 10  # points
MOST_TITLE = 240  # characters of either line of a title, which is broken to fit


class PlotError(ValueError):
    """A picture that cannot be drawn; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Trace:
    """What is drawn along one direction: points (size, estimate), the fitted curve with its band, the claimed rate.

    ``sizes``, ``centre``, ``low``, ``high`` and ``claimed`` have one entry per point of the curve; empty where there is none.
    ``geometric`` sizes lie on a linear axis.  ``subtracted`` is the claimed limit whose differences are drawn.  Values that
    ``settle`` approach a limit: the ``target`` that is claimed, or the ``limit`` that was measured.
    """

    label: str
    points: tuple[tuple[Size, Estimate], ...]
    base: str
    sizes: tuple[float, ...] = ()
    centre: tuple[float, ...] = ()
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    claimed: tuple[float, ...] = ()
    geometric: bool = False
    subtracted: Decimal | None = None
    settle: bool = False
    target: float | None = None
    limit: Interval | None = None


def traces(result: Result) -> list[Trace]:
    """Return what is drawn of a result, from its record; of a grid, the lines along the size of the verdict.

    >>> import theoryck as tc
    >>> sizes = [16, 32, 64, 128]
    >>> (trace,) = traces(tc.audit({"d": sizes}, [3 / d for d in sizes], 1e-4, rate="1/d"))
    >>> len(trace.sizes) == len(trace.centre), trace.low[0] < trace.centre[0] < trace.high[0]
    (True, True)
    >>> round(trace.claimed[0] * trace.sizes[0], 1)
    3.0
    """
    base = None if result.prediction is None else result.prediction.base
    grown = [line for line in growths(result) if not line.fixed or base in (None, line.base)]
    settling = [_settling(line) for line in ([] if any(line.fitted for line in grown) else approaches(result))]
    if len(settling) > MOST_LABELS:  # of a scattered table: no colour tells so many lines apart
        points = tuple(point for trace in settling for point in trace.points)
        return [Trace("", points, settling[0].base, settle=True, target=settling[0].target, limit=settling[0].limit)]
    return settling or [_along(line) for line in grown]


def _settling(line: Along) -> Trace:
    """Return the values themselves as they approach a limit: what was subtracted is added."""
    claimed = line.subtracted
    if claimed is not None:
        line = replace(line, traces=tuple(trace.minus(-claimed) for trace in line.traces), subtracted=None)
    shift, limit = float(claimed or 0), line.fitted[0].limit if line.fitted else None
    ends = None if limit is None else Interval(limit.estimate + shift, limit.low + shift, limit.high + shift, limit.level)
    centre, low, high = (
        tuple(zip(*(tuple(height + shift for height in line.fitted[0].heights(size)) for size in line.grid)))
        if line.fitted
        else ((),) * 3
    )
    target = None if claimed is None else shift
    return replace(_along(line), centre=centre, low=low, high=high, settle=True, target=target, limit=ends)


def _along(line: Along) -> Trace:
    marks = [mark for trace in line.traces for mark in trace.marks if trace.route == "montecarlo"]
    points = ((mark.size, Estimate(float(mark.value), math.inf if mark.error is None else float(mark.error), 1)) for mark in marks)
    curve: list[list[float]] = [line.values(column) for column in line.columns(line.fitted[0])] if line.fitted else [[], [], []]
    return Trace(
        label=", ".join(f"{name} = {size_text(size)}" for name, size in (line.fixed or {}).items()),
        points=tuple(points),
        base=line.base,
        sizes=line.grid if line.fitted else (),
        centre=tuple(curve[0]),
        low=tuple(map(min, curve[1], curve[2])),
        high=tuple(map(max, curve[1], curve[2])),
        claimed=tuple(line.values(line.claimed)) if line.claimed and line.fitted else (),
        geometric=line.linear,
        subtracted=line.subtracted,
    )


def check_plot(path: str | os.PathLike[str]) -> None:
    """Raise PlotError if no picture could be written to ``path``."""
    target = Path(path)
    if target.suffix.lower() not in SUFFIXES:
        raise PlotError(f"the picture {target} must end in one of {', '.join(SUFFIXES)}: the ending says what is drawn")
    if target.is_dir():
        raise PlotError(f"the picture cannot be written to {target}: it is a folder")
    if not target.parent.is_dir():
        raise PlotError(f"the picture cannot be written to {target}: there is no folder {target.parent}; make it first")
    matplotlib_canvas()


def matplotlib_canvas() -> tuple[Any, Any]:
    """Return the classes of a figure and of its canvas; PlotError where matplotlib cannot be imported."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise PlotError(
            f"a picture needs matplotlib, which cannot be imported ({error}): python -m pip install matplotlib"
        ) from None
    return Figure, FigureCanvasAgg


def draw(result: Result, traces: Sequence[Trace], path: str | os.PathLike[str]) -> None:
    """Draw the points of a result, its fitted curves and the claimed rate into a file (.png, .svg or .pdf).

    Values are drawn on a logarithmic axis: all of them if they have one sign, which the axis then names; on a symmetric one (linear
    around zero) if signs differ or a value is zero; on a linear one if they approach a limit.  Raises PlotError where the file
    cannot be written.
    """
    check_plot(path)
    figure_class, canvas = matplotlib_canvas()
    figure = figure_class(figsize=(7.0, 5.0), dpi=150, layout="constrained")
    canvas(figure)
    axes = figure.add_subplot()
    axes.set_xscale("linear" if any(trace.geometric for trace in traces) else "log")
    sign = _value_axis(axes, traces)
    several = len(traces) > 1
    for i, trace in enumerate(traces):
        _trace(axes, trace, COLORS[i % len(COLORS)], sign, several, len(traces) <= MOST_BANDS)
    _levels(axes, traces)
    _labels(axes, result, traces, sign)
    _title(figure, axes, title(result))
    save(figure, path)


def save(figure: Any, path: str | os.PathLike[str]) -> None:
    """Write a figure to a file, an SVG without its date; PlotError where it cannot be written."""
    try:
        figure.savefig(Path(path), metadata={"Date": None} if Path(path).suffix.lower() == ".svg" else None)
    except OSError as error:
        raise PlotError(f"the picture could not be written to {path}: {error.strerror or error}") from None


def _value_axis(axes: Any, traces: Sequence[Trace]) -> int:
    """Choose the vertical axis and return the sign by which values are multiplied."""
    values = [estimate.value for trace in traces for _, estimate in trace.points]
    if any(trace.settle for trace in traces):
        return 1
    if values and all(value > 0 for value in values):
        axes.set_yscale("log", nonpositive="mask")
        return 1
    if values and all(value < 0 for value in values):
        axes.set_yscale("log", nonpositive="mask")
        return -1
    # What is smaller than its error is no size worth a decade of the axis.
    reach = [max(abs(e.value), e.stderr if math.isfinite(e.stderr) else 0.0) for trace in traces for _, e in trace.points]
    axes.set_yscale("symlog", linthresh=min((size for size in reach if size > 0), default=1.0))
    axes.axhline(0, color="0.6", linewidth=0.8)
    return 1


def _trace(axes: Any, trace: Trace, color: str, sign: int, several: bool, banded: bool) -> None:
    sizes = [size for size, _ in trace.points]
    values = [sign * estimate.value for _, estimate in trace.points]
    errors = [estimate.stderr if math.isfinite(estimate.stderr) else 0.0 for _, estimate in trace.points]
    # A bar that reaches zero would have no end on a logarithmic axis: it is drawn down to a hundredth of its value.
    log = axes.get_yscale() == "log"
    below = [min(error, 0.99 * value) if log else error for value, error in zip(values, errors)]
    axes.errorbar(
        sizes,
        values,
        yerr=[below, errors],
        fmt="o",
        color=color,
        markersize=4.5,
        capsize=2.5,
        linewidth=1.2,
        zorder=4,
        label=clean(trace.label) if several else "measured, one standard error",
    )
    if trace.sizes and banded:
        ends = (trace.low, trace.high) if sign > 0 else ([-v for v in trace.high], [-v for v in trace.low])
        drawn = [(x, c, a, b) for x, c, a, b in zip(trace.sizes, (sign * v for v in trace.centre), *ends) if _drawable(c, a, b)]
        if drawn:
            x, centre, low, high = zip(*drawn)
            band = low != high  # a law that was fitted to a whole table has no band along one line of it
            if band:
                axes.fill_between(
                    x, low, high, color=color, alpha=0.2, linewidth=0, zorder=2, label=None if several else "fit, with band"
                )
            axes.plot(x, centre, color=color, linewidth=1.2, zorder=3, label=None if several or band else "fit")
    if trace.sizes and trace.claimed:
        claimed = [sign * v for v in trace.claimed]
        style = {"color": color if several else COLORS[1], "linewidth": 1.5, "linestyle": (0, (5, 3)), "zorder": 3}
        axes.plot(trace.sizes, claimed, label=None if several else "claimed rate", **style)


def _drawable(*values: float) -> bool:
    return all(math.isfinite(value) for value in values)


def _labels(axes: Any, result: Result, traces: Sequence[Trace], sign: int) -> None:
    prediction = result.prediction
    bases = list(dict.fromkeys(trace.base for trace in traces))
    axes.set_xlabel(plain(", ".join(bases)))
    subtracted = traces[0].subtracted if traces else None
    value = plain(measured(prediction) if prediction else "value") + (f" \u2212 {subtracted:.6g}" if subtracted else "")
    axes.set_ylabel(value if sign > 0 else f"-({value})" if subtracted else f"-{value}")
    axes.grid(True, which="major", color="0.88", linewidth=0.7)
    axes.grid(True, which="minor", color="0.94", linewidth=0.4)
    axes.set_axisbelow(True)
    _ticks(axes, sorted({size for trace in traces for size, _ in trace.points}))
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    if len(traces) <= MOST_LABELS and traces:
        axes.legend(frameon=False, fontsize=9)


def _levels(axes: Any, traces: Sequence[Trace]) -> None:
    """Draw the limit that is claimed, and the interval of the one that was measured, from edge to edge."""
    target = next((trace.target for trace in traces if trace.target is not None), None)
    limit = next((trace.limit for trace in traces if trace.limit is not None), None)
    if limit is not None and math.isfinite(limit.half_width):
        axes.axhspan(limit.low, limit.high, color=COLORS[2], alpha=0.2, linewidth=0, zorder=1)
        axes.axhline(limit.estimate, color=COLORS[2], linewidth=1.2, zorder=1, label=f"limit {numbers.written_out(limit)}")
    if target is not None:
        axes.axhline(target, color=CLAIM, linewidth=1.5, linestyle=(0, (5, 3)), zorder=3, label=f"claimed limit {target:.6g}")


def _title(figure: Any, axes: Any, text: str) -> None:
    """Write the title above the axes, in as many lines as the width of the picture asks for."""
    figure.draw_without_rendering()  # only then is it known where the axes begin
    room = (0.99 - axes.get_position().x0) * figure.bbox.width
    axes.set_title(_wrapped(figure, text, room), fontsize=TITLE, loc="left")


def _wrapped(figure: Any, text: str, room: float) -> str:
    """Break lines between words, and words that are longer than a line, where they would be wider than ``room`` (in dots)."""
    from matplotlib.font_manager import FontProperties

    font, renderer = FontProperties(size=TITLE), figure.canvas.get_renderer()

    def fits(line: str) -> bool:
        return bool(renderer.get_text_width_height_descent(line, font, False)[0] <= room)

    lines = []
    for paragraph in text.split("\n"):
        line = ""
        for word in paragraph.split(" "):
            if not line or fits(f"{line} {word}"):
                line = f"{line} {word}" if line else word
            else:
                lines.append(line)
                line = word
            while len(line) > 1 and not fits(line):
                end = next(end for end in range(len(line) - 1, 0, -1) if end == 1 or fits(line[:end]))
                lines.append(line[:end])
                line = line[end:]
        lines.append(line)
    return "\n".join(map(plain, lines))


def _ticks(axes: Any, sizes: Sequence[Size]) -> None:
    """Label the sizes themselves where they are few, as ticks at powers of ten seldom are sizes."""
    linear = axes.get_xscale() == "linear"
    near = (sizes[-1] - sizes[0]) / 10 if linear and sizes else 0.0  # sizes that are nearer would have labels that touch
    if 1 <= len(sizes) <= (11 if linear else 9) and all(
        later - earlier >= near if linear else later >= 1.5 * earlier for earlier, later in itertools.pairwise(sizes)
    ):
        axes.set_xticks(list(sizes), labels=[str(size) if isinstance(size, int) else f"{size:.3g}" for size in sizes])
        axes.set_xticks([], minor=True)


def title(result: Result) -> str:
    """Return the two lines above a picture: what was claimed and found, and on which window, if on any.

    A result that was only measured has no verdict; of a limit the first line says what it is.
    """
    prediction, judgement = result.prediction, result.judgement
    rate = prediction.rate if prediction else None
    found = numbers.written_out(judgement.exponent) if judgement.exponent is not None else "not found"
    if judgement.power_of:  # of a geometric rate
        found += f" in {judgement.power_of}"
    if prediction is not None and prediction.kind is Kind.LIMIT:
        first = _limit_title(result, found)
    elif rate is None:
        first = f"exponent {found}"
    else:
        relations = {"bound": "at most C *", "law": "squared distance at most C *"}
        relation = relations.get(prediction.kind, "~ C *") if prediction is not None else "~ C *"
        if prediction is not None and prediction.constant is not None:
            relation = relation.replace("C", f"{prediction.constant:g}")
        tight = f", {judgement.tightness.value}" if judgement.tightness and result.ok else ""
        first = f"{outcome_and_why(result)[0]}{tight}: {relation} {rate}, exponent {found}"
    window = judgement.assuming or _window(judgement.window)
    return "\n".join(shorten(clean(line), MOST_TITLE) for line in (first, window) if line)


def _limit_title(result: Result, found: str) -> str:
    prediction, judgement = result.prediction, result.judgement
    assert prediction is not None
    value = "L" if prediction.value is None else f"{prediction.value.midpoint:.6g}"
    claim = f"{measured(prediction)} -> {value}" + (f" like C * {prediction.rate}" if prediction.rate else "")
    judged = prediction.value is not None or prediction.rate is not None or prediction.rivals
    limit = "limit not found" if judgement.limit is None else f"limit {numbers.written_out(judgement.limit)}"
    powers = [f"exponent {found}"] if judgement.exponent is not None else []
    powers += [f"exponent {numbers.written_out(power)} in {name}" for name, power in judgement.exponents.items()]
    return ", ".join([f"{outcome_and_why(result)[0]}: {claim}" if judged else claim, limit, *powers])


def _window(window: tuple[Size, Size] | None) -> str:
    if window is None:
        return ""
    first, last = map(size_text, window)
    return f"on {first}..{last}" if first != last else f"on {first}"


def plain(text: str) -> str:
    """Keep names from being read as formulas."""
    return text.replace("\\", "\\\\").replace("$", r"\$")


OPEN = 0.05  # of the claim: the open bins at both ends hold about 1/32 of it, more than this was cut


def has_law(result: Result) -> bool:
    """Whether there is a law to be drawn: counts of draws at one size or more."""
    return any(point.counts is not None for point in result.points)


def draw_law(result: Result, path: str | os.PathLike[str]) -> None:
    """Draw the histograms of a result about a law into a file (.png, .svg or .pdf); PlotError if there is none, or no file."""
    found = [(point, point.counts) for point in result.points if point.counts is not None and sum(point.counts.counts) > 0]
    if not found:
        raise PlotError(f"{result.claim} has no counts to be drawn: only a Law that was measured by draws has a histogram")
    check_plot(path)
    figure_class, canvas = matplotlib_canvas()
    figure = figure_class(figsize=(9.0, 4.0), dpi=150, layout="constrained")
    canvas(figure)
    density, difference = figure.subplots(1, 2)
    _densities(density, found)
    _differences(difference, found)
    for axes in (density, difference):
        axes.set_xlabel(plain(measured(result.prediction) if result.prediction else "statistic"))
        axes.grid(True, color="0.9", linewidth=0.6)
        axes.set_axisbelow(True)
        axes.legend(frameon=False, fontsize=8)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    heading = f"{result.claim}: {result.judgement.verdict.value}\n{title(result)}"
    figure.suptitle(_wrapped(figure, heading, 0.98 * figure.bbox.width), fontsize=TITLE, x=0.01, ha="left")
    save(figure, path)


def folder_for_laws(path: str | os.PathLike[str]) -> Path:
    """Return the folder for the pictures of laws, made if need be; PlotError where it cannot be, before anything is measured."""
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise PlotError(f"the folder {folder} cannot be made: {error.strerror or error}; name another folder") from error
    check_plot(folder / "law.svg")
    return folder


def draw_laws(report: Report, folder: Path) -> str:
    """Draw each instance of a law into a file of ``folder`` that is named after the claim, and return how many there are."""
    laws = [result for result in report.results if has_law(result)]
    for number, result in enumerate(laws, 1):
        name = re.sub(r"[^\w.-]+", "-", result.claim).strip("-.")
        draw_law(result, folder / f"{number:03}-{name}.svg")
    if not laws:
        return f"0 histograms in {folder}: no Law was measured by draws, and nothing else has a histogram"
    return f"{len(laws)} {'histogram' if len(laws) == 1 else 'histograms'} in {folder}"


def _densities(axes: Any, found: Sequence[tuple[Point, Counts]]) -> None:
    """The smallest and the largest size, the claim above them, on an axis on which the claim is no spike."""
    shown = [found[-1]] if len(found) == 1 else [found[0], found[-1]]
    axis = laws.axis_of(found[-1][1])
    tallest = 0.0
    for position, (point, counts) in enumerate(shown):
        last = position == len(shown) - 1
        style = {"fill": True, "alpha": 0.35} if last else {"fill": False, "linewidth": 1.0}
        own = axis if len(counts.edges) == len(found[-1][1].edges) else laws.axis_of(counts)
        measured, claimed = laws.densities(counts, own)
        edges = counts.edges[own.first : own.last + 1]
        axes.stairs(measured, edges, color=COLORS[0] if last else "0.45", label=_sizes(point), **style)
        if last:
            axes.stairs(claimed, edges, baseline=None, color=CLAIM, linewidth=1.6, label="claimed law")
        tallest = max([tallest, *measured, *claimed])
    axes.set_xscale("log" if axis.log else "linear")
    axes.set_ylim(0, 1.25 * tallest or 1.0)  # room for the legend
    cut = f" ({100 * axis.beyond:.2g}% of the claim lies beyond the axis)" if axis.beyond > OPEN else ""
    axes.set_ylabel(f"density{' per decade' if axis.log else ''}{cut}")


def _differences(axes: Any, found: Sequence[tuple[Point, Counts]]) -> None:
    axis = laws.axis_of(found[-1][1])
    axes.axhline(0, color=CLAIM, linewidth=1.2)
    for position, (point, counts) in enumerate(found):
        shade = 0.25 + 0.75 * (position + 1) / len(found)
        axes.plot(counts.edges, laws.differences(counts), color=COLORS[0], alpha=shade, linewidth=1.2, label=_sizes(point))
    axes.set_xscale("log" if axis.log else "linear")
    if not axis.log:
        edges = found[-1][1].edges
        axes.set_xlim(edges[axis.first], edges[axis.last])
    axes.set_ylabel("measured - claimed distribution function")


def _sizes(point: Point) -> str:
    return plain(", ".join(f"{name} = {size_text(size)}" for name, size in point.sizes.items()))
