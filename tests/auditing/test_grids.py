"""Grids of several sizes: what their lines share."""

from __future__ import annotations

import re

import numpy as np
import pytest

import theoryck as tc
from tests.calibration import grids
from tests.calibration.grids import grid
from theoryck.records import Result, Verdict

H = np.repeat([2.0**-k for k in range(1, 6)], 6)
LEVELS = np.tile(np.arange(6), 5)
TOWARD = {"h": 0, "l": "inf"}


@pytest.mark.parametrize("constants", [(1.0, 1.0), (1.0, 3.0), (3.0, 1.0), (1.0, 10.0)])
@pytest.mark.parametrize("kind", ["bound", "scaling"])
def test_a_sum_of_terms_with_constants_of_their_own_is_not_refuted(constants, kind):
    """a h + b 2^-l is O(h + 2^-l), although its ratio to that moves from a to b as the terms change places."""
    values = constants[0] * H + constants[1] * 2.0**-LEVELS
    found = tc.audit({"h": H, "l": LEVELS}, values, 0.0, rate="h + 2**(-l)", kind=kind, toward=TOWARD)
    assert found.verdict in (Verdict.INCONCLUSIVE, Verdict.SUPPORTED)
    if constants != (1.0, 1.0) and "explains all values" in found.reason:
        shown = sorted(float(text) for text in re.findall(r"([\d.]+) \* ", found.reason))
        assert shown[:2] == pytest.approx(sorted(constants), rel=0.01)


@pytest.mark.parametrize("rate", ["h**2 + 2**(-l)", "h + 4**(-l)"])
def test_a_sum_with_a_term_that_is_too_fast_is_refuted(rate):
    values = H + 2.0**-LEVELS
    assert tc.audit({"h": H, "l": LEVELS}, values, 0.0, rate=rate, toward=TOWARD).verdict is Verdict.REFUTED


def test_levels_start_at_0_on_a_grid_without_errors():
    found = tc.audit({"h": H, "l": LEVELS}, H + 2.0**-LEVELS, rate="h + 2**(-l)", toward=TOWARD)
    assert found.verdict is Verdict.INCONCLUSIVE


def test_errors_of_a_grid_are_enlarged_by_one_factor():
    """The scatter about all lines says how large errors are: honest ones hold, those stated a third or a tenth do not."""
    rng, (d, n) = np.random.default_rng(0), grid(4)
    for times, low, high in ((1, 1.0, 2.0), (3, 1.5, 8.0), (10, 6.0, 20.0)):
        found = [_factors(tc.audit({"d": d, "n": n}, v, 0.01 * v, rate="d**(-1/2)/n")) for v in _noisy(rng, d, n, times)]
        assert all(len(each) == 1 for each in found)  # the lines of a grid agree on it
        assert all(low <= each[0] <= high for each in found)


def test_lines_that_meet_in_one_point_scatter_each_by_itself():
    """Three sizes along each of three axes: 7 points, of which a power law takes 4 numbers and leaves 3, one a line."""
    rng, moved = np.random.default_rng(0), [(16, 32, 32), (64, 32, 32), (32, 16, 32), (32, 64, 32), (32, 32, 16), (32, 32, 64)]
    d, n, m = np.array([(32, 32, 32), *moved], dtype=float).T
    factors = {}
    for times in (1, 10):
        values = [(1 + times * 0.01 * rng.standard_normal(7)) / (d * n * m) for _ in range(8)]
        factors[times] = [_factors(tc.audit({"d": d, "n": n, "m": m}, v, 0.01 * v, rate="1/(d*n*m)"))[0] for v in values]
    # Errors that hold are enlarged less than those stated a tenth: 3 numbers of scatter tell factors 10 apart in most tables.
    assert max(factors[1]) < np.median(factors[10])


def _noisy(rng: np.random.Generator, d: np.ndarray, n: np.ndarray, times: float) -> list[np.ndarray]:
    return [d**-0.5 / n * (1 + 2 * d**-0.5) * (1 + times * 0.01 * rng.standard_normal(len(d))) for _ in range(8)]


def _factors(found: Result) -> list[float]:
    said = [re.search(r"errors enlarged ([\d.]+) times", flag) for flag in found.judgement.flags]
    return [float(match[1]) for match in said if match] or [1.0]


def test_claims_about_grids_fall_as_often_as_declared():
    for factor in grids.FACTORS:
        found = grids.powers(4, factor, 6)
        assert found.share("true", Verdict.REFUTED).hits == 0
        assert found.share("wrong", Verdict.SUPPORTED).hits == 0
    for constants in grids.CONSTANTS:
        found = grids.sums(5, constants, 4)
        assert found.share("true", Verdict.REFUTED).hits == 0
        assert found.share("wrong", Verdict.SUPPORTED).hits == 0


def test_slopes_from_size_to_size_are_in_the_record():
    found = tc.audit({"n": [10, 20, 40, 80]}, [1.0, 0.26, 0.066, 0.0166], rate="2", kind="order")
    assert [(slope.start, slope.end) for slope in found.slopes] == [(10, 20), (20, 40), (40, 80)]
    assert found.slopes[-1].exponent == pytest.approx(np.log2(0.0166 / 0.066))
    assert Result.from_json(found.to_json()).slopes == found.slopes
    assert tc.audit({"d": grid(4)[0], "n": grid(4)[1]}, 1 / grid(4)[0], 1e-3, rate="1/d").slopes == ()
