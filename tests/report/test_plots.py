"""Pictures: what is drawn where, on awkward values, and what is said when nothing can be drawn."""

import builtins
import itertools
import math
from dataclasses import replace

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from theoryck.auditing import audit
from theoryck.records import Contract, Estimate, Interval, Judgement, Kind, Point, Prediction, Result, Status, Tightness, Verdict
from theoryck.report import plots
from theoryck.report.plots import PlotError, Trace, draw, title, traces

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


FALLING = [0.35 + 2.5 * n**-0.5 for n in (64, 128, 256, 512, 1024, 2048, 4096, 8192)]
SETTLING = {"n": [64, 128, 256, 512, 1024, 2048, 4096, 8192]}
LEVELS = {"l": list(range(10))}
HALVED = [3 * 2.0**-level for level in LEVELS["l"]]


def audited(monkeypatch, tmp_path, sizes, values, stderr=None, **options):
    """Draw an audit, and return the axes, the points on them, and the labels of the legend."""
    result = audit(sizes, values, stderr, **options)
    axes = drawn(monkeypatch, result, traces(result), tmp_path / "a.png")
    spots = [spot for container in axes.containers for spot in zip(*container.lines[0].get_data())]
    return axes, sorted(spots), [text.get_text() for text in axes.get_legend().get_texts()]


@pytest.mark.parametrize("rate", [None, "n**(-1/2)"])
def test_a_limit_that_is_measured_is_a_level_below_values_and_curve(monkeypatch, tmp_path, rate):
    axes, spots, labels = audited(monkeypatch, tmp_path, SETTLING, FALLING, 1e-3, limit="unknown", rate=rate)
    assert (axes.get_xscale(), axes.get_yscale(), axes.get_ylabel()) == ("log", "linear", "value")
    assert spots == sorted(zip(SETTLING["n"], FALLING))
    assert labels[0] == "fit, with band"
    assert labels[1].startswith("limit 0.3")
    curve, level = axes.lines[-2:]
    assert curve.get_ydata()[0] == pytest.approx(FALLING[0], abs=3e-3)
    assert level.get_ydata() == pytest.approx([0.35, 0.35], abs=0.01)
    assert ("value -> L like C * n**(-1/2), limit 0.3" if rate else "value -> L, limit 0.3") in axes.get_title(loc="left")


def test_a_claimed_limit_without_a_rate_is_a_level_beside_the_one_that_is_measured(monkeypatch, tmp_path):
    axes, spots, labels = audited(monkeypatch, tmp_path, SETTLING, FALLING, 1e-3, limit=0.35)
    assert spots == [(n, pytest.approx(value)) for n, value in zip(SETTLING["n"], FALLING)]
    assert labels[2] == "claimed limit 0.35"
    assert axes.get_ylabel() == "value"


def test_the_axis_says_which_limit_was_subtracted(monkeypatch, tmp_path):
    axes, spots, labels = audited(monkeypatch, tmp_path, SETTLING, FALLING, 1e-3, limit=0.35, rate="n**(-1/2)")
    assert (axes.get_xscale(), axes.get_yscale(), axes.get_ylabel()) == ("log", "log", "value \N{MINUS SIGN} 0.35")
    assert spots == [(n, pytest.approx(2.5 * n**-0.5)) for n in SETTLING["n"]]
    assert labels == ["fit, with band", "claimed rate", "measured, one standard error"]


def test_a_loss_law_of_one_size_is_drawn_with_its_limit(monkeypatch, tmp_path):
    axes, spots, labels = audited(monkeypatch, tmp_path, SETTLING, FALLING, 1e-3, kind="loss-law")
    assert spots == sorted(zip(SETTLING["n"], FALLING))
    assert (labels[0], labels[1].split()[:2]) == ("fit", ["limit", "0.350"])
    assert "in n\nassuming the law E + A n^-a" in axes.get_title(loc="left")


@pytest.mark.parametrize("scattered", [False, True])
def test_a_loss_law_of_two_sizes_is_drawn_line_by_line_or_as_points(monkeypatch, tmp_path, scattered):
    pairs = [
        (n * (1 + scattered * i / 9), d * (1 + scattered * n / 99)) for i, d in enumerate((1, 4, 16, 64)) for n in (1, 2, 4, 8)
    ]
    sizes = {"N": [n for n, _ in pairs], "D": [d for _, d in pairs]}
    values = [1.7 + n**-0.5 + 2 * d**-0.4 for n, d in pairs]
    axes, spots, labels = audited(monkeypatch, tmp_path, sizes, values, 1e-3, kind="loss-law")
    base = axes.get_xlabel()
    assert spots == sorted(zip(sizes[base], values))
    assert labels[0].startswith("limit 1.70")
    other = "D" if base == "N" else "N"
    assert labels[1:] == (
        ["measured, one standard error"] if scattered else [f"{other} = {size:g}" for size in dict.fromkeys(sizes[other])]
    )
    curves = [line for line in axes.lines if line.get_linestyle() != "None" and len(line.get_xdata()) > 4]
    assert len(curves) == (0 if scattered else 4)
    for curve in curves:  # each through its points
        on = {*zip(curve.get_xdata(), (round(y, 2) for y in curve.get_ydata()))}
        assert sum((x, round(y, 2)) in on for x, y in spots) >= 4


@pytest.mark.parametrize("first", [0, 1])
def test_a_geometric_rate_is_a_straight_line_in_the_levels(monkeypatch, tmp_path, first):
    sizes, values = {"l": LEVELS["l"][first:]}, HALVED[first:]
    errors = [0.01 * value for value in values]
    axes, spots, labels = audited(monkeypatch, tmp_path, sizes, values, errors, rate="2**(-l)", rivals=["4**(-l)"])
    assert (axes.get_xscale(), axes.get_yscale()) == ("linear", "log")
    assert spots == sorted(zip(sizes["l"], values))
    assert labels == ["fit, with band", "claimed rate", "measured, one standard error"]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == [str(level) for level in sizes["l"]]
    fit, claim = axes.lines[-2:]
    for line in (fit, claim):
        slopes = [math.log(b / a) / (y - x) for (x, a), (y, b) in itertools.pairwise(zip(*line.get_data()))]
        assert slopes == pytest.approx([-math.log(2)] * len(slopes), rel=0.02)  # the values are 1% known


@pytest.mark.parametrize("limit", [None, 0.35])
def test_what_cannot_be_fitted_has_its_points(monkeypatch, tmp_path, limit):
    for options in ({"limit": limit or "unknown"}, {"limit": limit, "kind": "loss-law"}):
        axes, spots, _ = audited(monkeypatch, tmp_path, {"n": [64, 128, 256]}, FALLING[:3], **options)
        assert spots == [(n, pytest.approx(value)) for n, value in zip((64, 128, 256), FALLING)]
        assert "limit not found" in axes.get_title(loc="left")


@pytest.mark.parametrize("name", ["m", "W", "$x$ "])
def test_titles_are_broken_and_not_cut(monkeypatch, tmp_path, name):
    assuming = "on h = 0.25..0.00195312, toward 0, assuming corrections O(h^1/2) of at most 0.6 at h = 0.25"
    prediction = replace(RESULT.prediction, rate=20 * name + " * " + 60 * name)
    result = replace(RESULT, prediction=prediction, judgement=replace(RESULT.judgement, assuming=assuming))
    axes = drawn(monkeypatch, result, [trace([1, 2, 3, 4])], tmp_path / "a.png")
    shown = axes.get_title(loc="left")
    assert "".join(shown.split()).replace("\\$", "$").endswith("".join(assuming.split()))
    extent = axes._left_title.get_window_extent()
    assert (extent.x1, extent.y1) <= (axes.figure.bbox.width, axes.figure.bbox.height)
