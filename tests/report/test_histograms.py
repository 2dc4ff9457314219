"""Pictures of a law: what is counted, what is drawn, that records keep it, and that the command writes it."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.stats
from click.testing import CliRunner

import theoryck as tc
from theoryck.cli import main
from theoryck.montecarlo import Histogram
from theoryck.records import Counts, Estimate, Point, Report, Result
from theoryck.report import plots
from theoryck.report.plots import PlotError, draw_law, has_law
from theoryck.report.svg.laws import axis_of, densities, differences

CLAIM = '''
import numpy as np, scipy.stats, theoryck as tc


@tc.conjecture("sums/of<uniforms>")
def sums():
    """(U_1 + .. + U_d - d/2) sqrt(12/d) is normal"""

    @tc.quantity(cost=lambda sizes: sizes["d"])
    def total(rng, draws, *, d):
        return (rng.random((draws, d)).sum(axis=1) - d / 2) * np.sqrt(12 / d)

    return tc.Law(total, tc.ScalingPath(d=(2, 4, 8, 16)), scipy.stats.norm(), rate="d**(-2)")
'''


def report():
    """Judge a false law; made here, because a claim at the top of a test module would be collected as a test."""

    @tc.conjecture("uniforms")
    def uniforms():
        """The square of a uniform number is uniform at every d"""

        @tc.quantity(cost=lambda sizes: 1.0)
        def square(rng, draws, *, d):
            return rng.random(draws) ** 2

        return tc.Law(square, tc.ScalingPath(d=(2, 4, 8)), scipy.stats.uniform())

    return tc.check_claims([uniforms], draws=4000)


def test_the_counts_of_a_record_are_those_of_the_draws():
    (result,) = report().results
    for point in result.points:
        counts = point.counts
        assert sum(counts.counts) == point.estimate.draws == 4000
        assert len(counts.counts) == 64
        assert counts.claimed == pytest.approx(counts.edges)
        # P(U^2 <= e) = sqrt(e); a count of 4000 is off by 5 standard deviations of a binomial at most.
        below = np.cumsum(counts.counts[:-1]) / 4000
        assert np.all(np.abs(below - np.sqrt(counts.edges)) < 5 * 0.5 / math.sqrt(4000))


def test_counts_survive_a_file_and_records_without_them_are_as_before():
    made = report()
    again = Report.from_json(json.loads(json.dumps(made.to_json())))
    assert again.results[0].points == made.results[0].points
    assert "counts" not in Point({"d": 1}, Estimate(1.0, 0.1, 3)).to_json()


def test_counts_of_the_wrong_length_are_refused():
    with pytest.raises(ValueError, match="one count more"):
        Counts((0.0, 1.0), (1, 2), (0.1, 0.2))


def test_coarser_bins_keep_every_draw():
    fine = Histogram.of(np.linspace(0, 1, 1000), np.arange(1, 100) / 100)
    coarse = fine.coarser(7)
    assert coarse.total == 1000
    assert set(coarse.edges) <= set(fine.edges)
    assert fine.coarser(1000) == fine
    for edge, below in zip(coarse.edges, coarse.cdf()):
        assert below == fine.cdf()[fine.edges.index(edge)]


def test_density_and_difference_by_hand():
    counts = Counts((0.0, 1.0, 3.0), (1, 2, 1, 0), (0.25, 0.5, 1.0))
    assert densities(counts, axis_of(counts)) == ([0.5, 0.125], [0.25, 0.25])
    assert differences(counts) == pytest.approx([0.0, 0.25, 0.0])


def test_a_law_that_spans_decades_is_no_spike(monkeypatch, tmp_path):
    """On a linear axis half of this law would lie in the first 6% of it."""
    (result,) = report().results
    edges = tuple(0.002 * 10 ** (i / 20) for i in range(63))
    claimed = tuple((i + 1) / 64 for i in range(63))
    point = Point({"d": 2}, Estimate(0.1, 0.01, 6400), counts=Counts(edges, (100,) * 64, claimed))
    figures = []
    monkeypatch.setattr(plots, "save", lambda figure, path: figures.append(figure))
    draw_law(replace(result, points=(point,)), tmp_path / "a.svg")
    draw_law(result, tmp_path / "b.svg")
    assert [axes.get_xscale() for figure in figures for axes in figure.axes] == ["log", "log", "linear", "linear"]
    assert figures[0].axes[0].get_ylabel() == "density per decade"


def test_tails_that_leave_a_spike_are_cut_and_said_so():
    edges = (-1e6, -1e3, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 1e3, 1e6)
    claimed = (0.01, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95, 0.99)
    axis = axis_of(Counts(edges, (10,) * 12, claimed))
    assert (edges[axis.first], edges[axis.last]) == (-3.0, 3.0)
    assert axis.beyond == pytest.approx(0.2)


def test_a_picture_is_written_and_its_ending_is_checked(tmp_path):
    (result,) = report().results
    assert has_law(result)
    draw_law(result, tmp_path / "a.svg")
    picture = (tmp_path / "a.svg").read_text()
    assert picture.count("<path") > 20
    assert "dc:date" not in picture
    with pytest.raises(PlotError, match="ending"):
        draw_law(result, tmp_path / "a.txt")


def test_a_result_without_counts_has_no_picture(tmp_path):
    data = report().to_json()["results"][0]
    for point in data["points"]:
        del point["counts"]
    bare = Result.from_json(data)
    assert not has_law(bare)
    with pytest.raises(PlotError, match="no counts"):
        draw_law(bare, tmp_path / "a.svg")


def test_the_command_draws_every_law(tmp_path):
    file = tmp_path / "claims.py"
    file.write_text(CLAIM)
    found = CliRunner().invoke(
        main, ["check", str(file), "--draws", "2000", "--workers", "1", "--histograms", str(tmp_path / "a" / "b")]
    )
    assert "1 histogram in" in found.stderr, found.output
    (picture,) = (tmp_path / "a" / "b").iterdir()
    assert picture.name == "001-sums-of-uniforms.svg"
    assert picture.read_text().startswith("<?xml")


def test_a_folder_that_cannot_be_used_is_said_before_anything_is_measured(tmp_path):
    file = tmp_path / "claims.py"
    file.write_text(CLAIM)
    found = CliRunner().invoke(main, ["check", str(file), "--histograms", str(file)])
    assert found.exit_code == 2
    assert "--histograms" in found.stderr
    assert "Traceback" not in found.stderr
