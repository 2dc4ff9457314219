"""Pictures of a law: how the draws of a statistic are spread, beside the law that was claimed.

Left the density in bins that are equally probable under the claim, right what the two distribution functions differ by at
every size.  The bins at both ends are open and have no density: their share is in the distribution functions.  A law that spans
decades has a logarithmic axis, and very long tails are cut and said so (:mod:`theoryck.report.laws`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from theoryck.records import Counts, Point, Report, Result
from theoryck.report import laws, plots
from theoryck.report.plots import COLORS, PlotError, check_plot, save, title

CLAIM = COLORS[1]
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
    figure_class, canvas = plots.matplotlib_canvas()
    figure = figure_class(figsize=(9.0, 4.0), dpi=150, layout="constrained")
    canvas(figure)
    density, difference = figure.subplots(1, 2)
    _densities(density, found)
    _differences(difference, found)
    for axes in (density, difference):
        axes.set_xlabel(plots.plain(result.prediction.quantity if result.prediction else "statistic"))
        axes.grid(True, color="0.9", linewidth=0.6)
        axes.set_axisbelow(True)
        axes.legend(frameon=False, fontsize=8)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    heading = f"{result.claim}: {result.judgement.verdict.value}\n{title(result)}"
    figure.suptitle(plots.plain(heading), fontsize=10, x=0.01, ha="left")
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
    return plots.plain(", ".join(f"{name} = {size}" for name, size in point.sizes.items()))
