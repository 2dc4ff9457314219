"""fit_rate on data as they come: zeros, signs, integers, extremes of floats, duplicates, any order; warnings are errors here."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from theoryck.fitting.data import Data
from theoryck.fitting.fit import WIDENINGS, _attempt, _Options, fit_rate
from theoryck.fitting.joint import fit_rate_jointly
from theoryck.fitting.scatter import residual_stderrs

SIZES = 2.0 ** np.arange(4, 11)


def test_a_fit_says_everything() -> None:
    """Exponent, constant, leading correction, window, goodness of fit, local slopes."""
    values = 3 * SIZES**-0.5 * (1 + 1.5 / SIZES)
    fit = fit_rate(SIZES, values, 1e-5 * values, correction=1)
    assert fit.exponent.contains(-0.5)
    assert fit.constant.contains(3.0)
    assert fit.correction.text == "O(d^-1)"
    assert fit.correction.power == 1.0
    assert fit.correction.coefficient.contains(1.5)
    assert fit.correction.coefficient.half_width < 0.1
    assert fit.window == (16, 1024)
    assert 0.01 < fit.p_value <= 1
    assert fit.dof == 5
    assert len(fit.local_slopes) == 6
    assert fit.error.stderr == pytest.approx(fit.stderr)
    assert fit.error.noise < fit.stderr
    wrong = fit_rate(SIZES, [1.0, -1.0] * 3 + [1.0], [0.01] * 7)
    assert wrong.correction.coefficient.low == -math.inf
    assert math.isinf(wrong.error.noise)
    assert wrong.decision_upper(0.01) == math.inf


@pytest.mark.parametrize("unit", [1e30, 1e-30])
@pytest.mark.parametrize("relative", [0.0, 1e-12, 0.01])
def test_values_at_the_ends_of_the_numeric_domain(unit: float, relative: float) -> None:
    values = unit / SIZES
    fit = fit_rate(SIZES, values, relative * values, correction=1)
    assert fit.identifiable
    assert fit.exponent.contains(-1.0)
    assert fit.decision_lower(0.01) < -1 < fit.decision_upper(0.01)
    joint = fit_rate_jointly({"d": SIZES}, values, relative * values, correction=1)
    assert joint.exponents["d"].contains(-1.0)
    scatter = residual_stderrs(SIZES, values, correction=1)
    assert fit_rate(SIZES, values, scatter.stderrs, correction=1).exponent.contains(-1.0)


@pytest.mark.parametrize("kind", [int, np.int64, np.uint16, np.float32])
def test_number_types(kind: type) -> None:
    sizes, values = np.array([16, 32, 64, 128], dtype=kind), np.array([4096, 2048, 1024, 512], dtype=kind)
    fit = fit_rate(sizes, values, np.array([40, 20, 10, 5], dtype=kind), correction=1)
    assert fit.exponent.contains(-1.0)
    assert fit_rate([16, 32, 64, 128], [1, 1, 1, 1], [0, 0, 0, 0]).exponent.contains(0.0)


def test_duplicates_and_order() -> None:
    rng = np.random.default_rng(3)
    sizes = np.repeat(SIZES, 4)
    values = sizes**-1.0 * (1 + 0.02 * rng.standard_normal(28))
    fit = fit_rate(sizes, values, 0.02 / sizes)
    order = rng.permutation(28)
    other = fit_rate(sizes[order], values[order], 0.02 / sizes[order])
    assert other.exponent.low == pytest.approx(fit.exponent.low, abs=1e-9)
    means = values.reshape(7, 4).mean(axis=1)
    pooled = fit_rate(SIZES, means, 0.01 / SIZES)
    assert fit.stderr == pytest.approx(pooled.stderr, rel=0.02)
    assert fit.exponent.estimate == pytest.approx(pooled.exponent.estimate, abs=0.1 * fit.stderr)
    assert len(fit.local_slopes) == 6


def test_a_zero_among_exact_values_is_named() -> None:
    assert "the value at size 64 is exactly 0" in fit_rate([16, 32, 64, 128], [1.0, 1.0, 0.0, 1.0], [0.0] * 4).reason


@pytest.mark.parametrize("error", [1e-12, 1e-3])
def test_a_zero_that_contradicts_its_neighbours_widens_and_is_flagged(error: float) -> None:
    values = 1 / SIZES
    values[3] = 0.0
    fit = fit_rate(SIZES, values, error / SIZES, correction=1)
    assert "noise floor at 128" in fit.flags
    assert "poor-fit" in fit.flags
    assert fit.exponent.contains(-1.0)


@pytest.mark.parametrize("widening", [1.0, 8.0])
def test_exact_data_are_no_more_exact_than_the_arithmetic(widening: float) -> None:
    """Corrections a thousand times too large for the default family: p-values rise with the widening, as they must."""
    values = 1 + 60 * widening / SIZES + 900 * widening / SIZES**2
    data = Data.read(SIZES, values, np.zeros(7), False)
    options = _Options(None, None, None, 0.95, True)
    p_values = [_attempt(data, 1, options, each).p_value for each in (1.0, *WIDENINGS)]
    assert all(later >= earlier - 0.05 for earlier, later in itertools.pairwise(p_values))
    assert p_values[0] < 1e-3
