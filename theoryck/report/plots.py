"""Log-log pictures: points with error bars, the fitted curve with its band, the claimed rate, window and verdict in the title.

Matplotlib is imported only where a picture is drawn, on its Agg canvas: no window, no display, no global state.
"""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from theoryck.records import Estimate, Result
from theoryck.report import numbers
from theoryck.report.claims import clean
from theoryck.report.layout import shorten
from theoryck.report.paragraphs import headline

SUFFIXES = (".png", ".svg", ".pdf")
MOST_BANDS = 6  # lines of a grid; with more of them the bands would hide each other
MOST_LABELS = 8
# Okabe and Ito (2008): told apart by colour-blind readers too.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")


class PlotError(ValueError):
    """A picture that cannot be drawn; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Trace:
    """What is drawn along one direction: points (size, estimate), the fitted curve with its band, the claimed rate.

    ``sizes``, ``centre``, ``low``, ``high`` and ``claimed`` have one entry per point of the curve; empty where there is none.
    """

    label: str
    points: tuple[tuple[int, Estimate], ...]
    base: str
    sizes: tuple[float, ...] = ()
    centre: tuple[float, ...] = ()
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    claimed: tuple[float, ...] = ()


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
    around zero) if signs differ or a value is zero.  Raises PlotError where the file cannot be written.
    """
    check_plot(path)
    figure_class, canvas = matplotlib_canvas()
    figure = figure_class(figsize=(7.0, 5.0), dpi=150, layout="constrained")
    canvas(figure)
    axes = figure.add_subplot()
    axes.set_xscale("log")
    sign = _value_axis(axes, traces)
    several = len(traces) > 1
    for i, trace in enumerate(traces):
        _trace(axes, trace, COLORS[i % len(COLORS)], sign, several, len(traces) <= MOST_BANDS)
    _labels(axes, result, traces, sign)
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
            axes.fill_between(
                x, low, high, color=color, alpha=0.2, linewidth=0, zorder=2, label=None if several else "fit, with band"
            )
            axes.plot(x, centre, color=color, linewidth=1.2, zorder=3)
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
    value = plain(prediction.quantity if prediction else "value")
    axes.set_ylabel(value if sign > 0 else f"-{value}")
    axes.grid(True, which="major", color="0.88", linewidth=0.7)
    axes.grid(True, which="minor", color="0.94", linewidth=0.4)
    axes.set_axisbelow(True)
    _ticks(axes, sorted({size for trace in traces for size, _ in trace.points}))
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    if len(traces) <= MOST_LABELS and traces:
        axes.legend(frameon=False, fontsize=9)
    axes.set_title(plain(title(result)), fontsize=10, loc="left")


def _ticks(axes: Any, sizes: Sequence[int]) -> None:
    """Label the sizes themselves where they are few, as ticks at powers of ten seldom are sizes."""
    if 1 <= len(sizes) <= 9 and all(later >= 1.5 * earlier for earlier, later in itertools.pairwise(sizes)):
        axes.set_xticks(list(sizes), labels=[str(size) for size in sizes])
        axes.set_xticks([], minor=True)


def title(result: Result) -> str:
    """Return the two lines above a picture: what was claimed and found, and on which window.

    A result that was only measured has no verdict.
    """
    prediction, judgement = result.prediction, result.judgement
    rate = prediction.rate if prediction else None
    found = numbers.written_out(judgement.exponent) if judgement.exponent is not None else "not found"
    if rate is None:
        first = f"exponent {found}"
    else:
        relations = {"bound": "at most C *", "law": "squared distance at most C *"}
        relation = relations.get(prediction.kind, "~ C *") if prediction is not None else "~ C *"
        if prediction is not None and prediction.constant is not None:
            relation = relation.replace("C", f"{prediction.constant:g}")
        tight = f", {judgement.tightness.value}" if judgement.tightness and result.ok else ""
        first = f"{headline(result).split(':')[0]}{tight}: {relation} {rate}, exponent {found}"
    window = judgement.assuming or _window(judgement.window)
    return f"{shorten(clean(first), 95)}\n{shorten(clean(window), 95)}"


def _window(window: tuple[int, int] | None) -> str:
    if window is None:
        return ""
    return f"on {window[0]}..{window[1]}" if window[0] != window[1] else f"on {window[0]}"


def plain(text: str) -> str:
    """Keep names from being read as formulas."""
    return text.replace("\\", "\\\\").replace("$", r"\$")
