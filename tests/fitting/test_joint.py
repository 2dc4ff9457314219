"""fit_rate_jointly: exact grids, agreement with the fit of one size, and reasons where there is no answer."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from theoryck.fitting.fit import fit_rate
from theoryck.fitting.joint import fit_rate_jointly

PAIRS = np.array(list(itertools.product([16, 32, 64, 128], [16, 64, 256, 1024])), dtype=float)
D, N = PAIRS.T


def test_exact_grids() -> None:
    values = 3 * D**-0.5 * N**1.5 * (1 + 1 / D - 0.5 / N)
    fit = fit_rate_jointly({"d": D, "n": N}, values, [0.0] * 16, correction=1)
    assert fit.exponents["d"].contains(-0.5)
    assert fit.exponents["n"].contains(1.5)
    assert max(interval.half_width for interval in fit.exponents.values()) < 0.02
    assert fit.constant.contains(3.0)
    assert fit.windows == {"d": (16, 128), "n": (16, 1024)}
    assert fit.identifiable
    assert fit.flags == ()


def test_one_variable_is_the_fit_of_one_size() -> None:
    sizes = 2.0 ** np.arange(4, 11)
    rng = np.random.default_rng(4)
    values = sizes**-0.5 * (1 + 0.02 * rng.standard_normal(7))
    joint = fit_rate_jointly({"d": sizes}, values, 0.02 * values)
    single = fit_rate(sizes, values, 0.02 * values)
    assert joint.exponents["d"].estimate == pytest.approx(single.exponent.estimate, abs=1e-9)
    assert joint.stderrs["d"] == pytest.approx(single.stderr, rel=1e-9)
    assert joint.constant.low == pytest.approx(single.constant.low)
    for rate in (0.025, 1e-3):
        assert joint.upper("d", rate) == pytest.approx(single.upper(rate))
        assert joint.lower("d", rate) == pytest.approx(single.lower(rate))


@pytest.mark.parametrize("unit", [-1.0, 1e-30, 1e30])
def test_units_signs_and_order(unit: float) -> None:
    rng = np.random.default_rng(5)
    values = N / D * (1 + 0.03 * rng.standard_normal(16))
    order = rng.permutation(16)
    fit = fit_rate_jointly({"d": D, "n": N}, values, 0.03 * np.abs(values))
    other = fit_rate_jointly({"n": N[order], "d": D[order]}, unit * values[order], abs(unit) * 0.03 * np.abs(values[order]))
    for name in ("d", "n"):
        assert other.exponents[name].estimate == pytest.approx(fit.exponents[name].estimate, abs=1e-3 * fit.stderrs[name])
        assert other.stderrs[name] == pytest.approx(fit.stderrs[name], rel=1e-3)
    assert other.sign == math.copysign(1, unit)


def test_poor_fit_and_noise_floor_are_flagged() -> None:
    wiggle = np.where(np.arange(16) % 3 == 0, 1.2, 1.0)
    rough = fit_rate_jointly({"d": D, "n": N}, wiggle / D, 1e-3 / D)
    smooth = fit_rate_jointly({"d": D, "n": N}, 1 / D, 1e-3 / D)
    assert rough.flags == ("poor-fit",)
    assert smooth.flags == ()
    assert rough.exponents["d"].contains(-1.0)
    assert rough.stderrs["d"] > 3 * smooth.stderrs["d"]
    noisy = fit_rate_jointly({"d": D, "n": N}, 1 / D, [0.003] * 16)
    assert noisy.flags == ("noise floor in 4 of 16 rows",)


LINE = np.array([16.0, 32.0, 64.0, 128.0])


@pytest.mark.parametrize(
    ("sizes", "values", "stderrs", "reason"),
    [
        ({"d": LINE, "n": 2 * LINE}, LINE, 0.01 * LINE, "all rows lie on one path of d, n"),
        ({"d": LINE, "n": LINE**2}, LINE, 0.01 * LINE, "all rows lie on one path of d, n"),
        ({"d": D, "n": np.full(16, 7.0)}, D, 0.01 * D, "n takes 1 size:"),
        ({"d": D, "n": np.where(N > 20, 64.0, 16.0)}, D, 0.01 * D, "n takes 2 sizes:"),
        ({"d": D, "n": N}, D - 40, [0.01] * 16, "the values change sign: values"),
        ({"d": D, "n": N}, 1 / D, [10.0] * 16, "fewer than 3 values stand 3 stderr above zero"),
        ({"d": D, "n": N}, 0 * D, [0.0] * 16, r"values[0] is exactly 0"),
    ],
)
def test_reasons(sizes: dict[str, np.ndarray], values: np.ndarray, stderrs: np.ndarray, reason: str) -> None:
    fit = fit_rate_jointly(sizes, values, stderrs)
    assert reason in fit.reason
    assert not fit.identifiable
    assert fit.upper("d", 0.01) == math.inf
    assert fit.exponents["n"].low == -math.inf


def test_an_l_shaped_set_of_rows_is_enough() -> None:
    d, n = np.array([16, 32, 64, 128, 16, 16, 16.0]), np.array([16, 16, 16, 16, 32, 64, 128.0])
    fit = fit_rate_jointly({"d": d, "n": n}, n / d, 0.001 * n / d, correction=1)
    assert fit.exponents["d"].contains(-1.0)
    assert fit.exponents["n"].contains(1.0)
    assert fit.exponents["n"].half_width < 0.1


def test_bad_arguments_are_named() -> None:
    good = ({"d": D, "n": N}, D, [0.1] * 16)
    with pytest.raises(ValueError, match=r"sizes\['n'\] and values must have the same length, got 3 and 16"):
        fit_rate_jointly({"d": D, "n": N[:3]}, *good[1:])
    with pytest.raises(ValueError, match=r"sizes\['d'\]\[0\] = -16.0 must be positive"):
        fit_rate_jointly({"d": -D}, *good[1:])
    with pytest.raises(ValueError, match="no column"):
        fit_rate_jointly({}, [1.0], [0.1])
    with pytest.raises(ValueError, match="level must lie strictly"):
        fit_rate_jointly(*good, level=1)
    with pytest.raises(ValueError, match="correction must be a positive number, got 0"):
        fit_rate_jointly(*good, correction=0)
    with pytest.raises(KeyError, match="'m' is not a variable of the fit: d, n"):
        fit_rate_jointly(*good).upper("m", 0.1)
