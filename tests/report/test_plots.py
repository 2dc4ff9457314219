"""Pictures: what is drawn where, on awkward values, and what is said when nothing can be drawn."""

import builtins
import math
from dataclasses import replace

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from theoryck.records import Contract, Estimate, Interval, Judgement, Kind, Point, Prediction, Result, Status, Tightness, Verdict
from theoryck.report import plots
from theoryck.report.plots import PlotError, Trace, draw, title

SIZES = (16, 32, 64, 128)
RESULT = Result(
    "audit/runs",
    Status.CONJECTURE,
    {},
    Judgement(
        Verdict.SUPPORTED,
        "",
        Tightness.TIGHT,
        Interval(-0.5, -0.52, -0.48, 0.95),
        window=(16, 128),
        assuming="on d = 16..128, assuming corrections O(d^-1/2)",
    ),
    Prediction(Kind.BOUND, "value", base="d", rate="d**(-1/2)"),
    tuple(Point({"d": d}, Estimate(d**-0.5, 0.01, 1)) for d in SIZES),
    Contract(),
    1e-2,
    4,
    0.0,
    0,
)


def trace(values, errors=None, **options):
    errors = errors or [0.1 * abs(value) for value in values]
    return Trace("", tuple((d, Estimate(v, e, 1)) for d, v, e in zip(SIZES, values, errors)), "d", **options)


def drawn(monkeypatch, result, traces, path):
    """Draw, and return the axes that were drawn on."""
    made = []

    class Recorded(Figure):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            made.append(self)

    monkeypatch.setattr(plots, "matplotlib_canvas", lambda: (Recorded, FigureCanvasAgg))
    draw(result, traces, path)
    assert path.stat().st_size > 1000
    return made[0].axes[0]


def test_points_curve_band_and_claim(monkeypatch, tmp_path):
    values = [d**-0.5 for d in SIZES]
    curve = {
        "sizes": SIZES,
        "centre": values,
        "low": [0.9 * v for v in values],
        "high": [1.1 * v for v in values],
        "claimed": values,
    }
    axes = drawn(monkeypatch, RESULT, [trace(values, **curve)], tmp_path / "a.png")
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("d", "value")
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert sorted(labels) == ["claimed rate", "fit, with band", "measured, one standard error"]
    assert list(axes.containers[0].lines[0].get_ydata()) == values
    assert [tick.get_text() for tick in axes.get_xticklabels()] == [str(d) for d in SIZES]
    assert axes.get_title(loc="left").startswith(
        "SUPPORTED, TIGHT: at most C * d**(-1/2), exponent -0.500 [-0.520, -0.480]\non d = 16..128"
    )


def test_values_of_one_sign_are_drawn_on_a_logarithmic_axis_that_names_it(monkeypatch, tmp_path):
    values = [-(d**-0.5) for d in SIZES]
    curve = {"sizes": SIZES, "centre": values, "low": [1.1 * v for v in values], "high": [0.9 * v for v in values]}
    axes = drawn(monkeypatch, RESULT, [trace(values, **curve)], tmp_path / "a.svg")
    assert axes.get_yscale() == "log"
    assert axes.get_ylabel() == "-value"
    assert min(axes.containers[0].lines[0].get_ydata()) > 0


@pytest.mark.parametrize("values", [[1, -1, 1, -1], [1, 0, 0.5, 0.25], [0, 0, 0, 0]])
def test_mixed_signs_and_zeros_are_drawn_where_they_are(monkeypatch, tmp_path, values):
    axes = drawn(monkeypatch, RESULT, [trace(values)], tmp_path / "a.png")
    assert axes.get_yscale() == "symlog"
    assert list(axes.containers[0].lines[0].get_ydata()) == values


@pytest.mark.parametrize("scale", [1e-300, 1e300, 1e-310])
def test_extremes_are_drawn(monkeypatch, tmp_path, scale):
    drawn(monkeypatch, RESULT, [trace([scale * d**-0.5 for d in SIZES])], tmp_path / "a.png")


def test_error_bars_that_reach_zero_or_are_unknown(monkeypatch, tmp_path):
    values = [d**-0.5 for d in SIZES]
    axes = drawn(monkeypatch, RESULT, [trace(values, [2 * values[0], math.inf, 0.0, 0.01])], tmp_path / "a.png")
    segments = axes.containers[0].lines[2][0].get_segments()
    assert segments[0][0][1] == pytest.approx(0.01 * values[0])
    assert segments[0][1][1] == pytest.approx(3 * values[0])
    assert segments[1][0][1] == segments[1][1][1] == values[1]


def test_lines_of_a_grid_have_their_own_names(monkeypatch, tmp_path):
    lines = [replace(trace([n * d**-0.5 for d in SIZES]), label=f"n = {n}") for n in (1, 10, 100)]
    axes = drawn(monkeypatch, RESULT, lines, tmp_path / "a.pdf")
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["n = 1", "n = 10", "n = 100"]


def test_a_picture_without_points_or_with_names_that_look_like_formulas(monkeypatch, tmp_path):
    result = replace(RESULT, prediction=replace(RESULT.prediction, quantity="$\\frac{value"), points=())
    drawn(monkeypatch, result, [], tmp_path / "a.png")
    drawn(monkeypatch, result, [trace([1, 2, 3, 4])], tmp_path / "a.png")


def test_a_picture_of_a_measurement_has_no_verdict():
    measured = replace(RESULT, prediction=replace(RESULT.prediction, rate=None, kind=Kind.SCALING))
    assert title(measured).startswith("exponent -0.500 [-0.520, -0.480]\n")
    assert "SUPPORTED" not in title(measured)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("a.jpg", "must end in one of .png, .svg, .pdf"),
        ("a", "must end in"),
        ("no/a.png", "there is no folder"),
        (".", "must end in"),
    ],
)
def test_what_cannot_be_drawn_says_so(tmp_path, name, message):
    with pytest.raises(PlotError) as error:
        draw(RESULT, [], tmp_path / name)
    assert message in str(error.value)


def test_without_matplotlib_the_error_says_how_to_install_it(monkeypatch, tmp_path):
    real = builtins.__import__

    def hidden(name, *arguments, **options):
        if name.startswith("matplotlib"):
            raise ImportError("No module named 'matplotlib'")
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", hidden)
    with pytest.raises(PlotError, match="python -m pip install matplotlib"):
        draw(RESULT, [], tmp_path / "a.png")
