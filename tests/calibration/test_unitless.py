"""Sizes whose unit means nothing keep both error rates: a sample of the cells of ``--part unitless``, and the family's coverage."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest

from tests.calibration import unitless
from tests.calibration.tallies import at_least, at_most
from tests.calibration.unitless import WINDOWS
from theoryck.fitting.linear import exponent_stderr
from theoryck.rates.directions import SCALE_FREE_AMPLITUDE
from theoryck.records import Verdict

Z95 = 1.959963984540054


@pytest.mark.parametrize("window", WINDOWS, ids=lambda window: window.name)
def test_sizes_without_a_unit_refute_nothing_true_and_support_nothing_wrong(window: unitless.Window) -> None:
    found = unitless.judged(window, 0.01, 2, seed=5)
    assert found.share("true", Verdict.REFUTED).hits <= at_most(found.tables, 0.01)
    for name in ("edge", "wrong"):
        assert found.share(name, Verdict.SUPPORTED).hits <= at_most(found.tables, 0.025)
    assert found.covered.hits >= at_least(found.covered.trials, 0.93)
    if len(window.sizes) > 5:
        assert found.share("wrong", Verdict.REFUTED).share > 0.5


def coverage(sizes: np.ndarray, correction: tuple[float, float, float], relative: float, amplitude: float) -> float:
    """In closed form: the estimate is s + bias + noise N(0, 1), the interval +- Z95 stderr."""
    stderr, g = exponent_stderr(sizes.tolist(), [relative] * len(sizes), amplitude=amplitude)
    power, first, second = correction
    u = (sizes / sizes[0]) ** -power
    bias, noise = float(g @ np.log1p(first * u + second * u * u)), relative * float(np.linalg.norm(g))
    normal = NormalDist()
    return normal.cdf((Z95 * stderr - bias) / noise) - normal.cdf((-Z95 * stderr - bias) / noise)


@pytest.mark.parametrize("relative", [0.05, 0.01, 1e-3, 1e-5])
@pytest.mark.parametrize("count", [5, 6, 8, 11])
def test_coverage_of_every_corner_is_at_least_93_percent(count: int, relative: float) -> None:
    a, sizes = SCALE_FREE_AMPLITUDE, 2.0 ** np.arange(count)
    grid = (-1.0, -0.5, 0.0, 0.5, 1.0)
    corners = [(w, a * b, a * a * c) for w in (0.5, 1.0, 1.5, 2.0) for b in grid for c in grid]
    corners += [(w, b / 8**w, c / 64**w) for w in (0.5, 1.0, 2.0) for b in (-2, 2) for c in (-2, 0, 2)]
    kept = [each for each in corners if 1 + min(each[1] * u + each[2] * u * u for u in np.linspace(0, 1, 65)) >= 0.2]
    assert min(coverage(sizes, each, relative, a) for each in kept) >= 0.93


def test_corrections_that_count_units_fail_the_same_check() -> None:
    """The rival: operations as if they were dimensions, whose corrections are then of the order 1e-8."""
    sizes = 1e15 * 10.0 ** np.arange(10)
    stderr, g = exponent_stderr(sizes.tolist(), [0.001] * 10)
    bias = float(g @ np.log1p(0.3 * (sizes / sizes[0]) ** -0.5))
    assert abs(bias) > 3 * stderr


@pytest.mark.parametrize("unit", [1e-3, 1 / 3, 60.0])
@pytest.mark.parametrize("window", [WINDOWS[0], WINDOWS[4]], ids=lambda window: window.name)
def test_no_verdict_depends_on_the_unit(window: unitless.Window, unit: float) -> None:
    curve = window.curve(window.corrections[1])
    values = curve * (1 + 0.01 * np.random.default_rng(8).standard_normal(len(curve)))
    for excess in (0.0, 0.06, 0.25):
        first, second = (unitless.judgement(window, values, 0.01, excess, scale) for scale in (1.0, unit))
        assert first.verdict is second.verdict
        assert first.slack is not None
        assert second.slack is not None
        assert first.slack.estimate == pytest.approx(second.slack.estimate, abs=1e-6)
        assert first.slack.half_width == pytest.approx(second.slack.half_width, rel=1e-4)
