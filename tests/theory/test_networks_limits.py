"""Limits of scaled moments: two routes that share no formula, published values, closed forms, wrong recursions that must fall."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import erf

from theoryck.numerics.balls import precision, to_ball
from theoryck.numerics.errors import ExactError
from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.functions.expression import x
from theoryck.theory.networks.limits import norm_moment_limit, overlap_moment_limit
from theoryck.theory.networks.proved.moments import norm_moment, overlap_moment
from theoryck.theory.networks.proved.series import norm_expansion, overlap_expansion

ERF, SIN, TANH = Activation("erf"), Activation("sin"), Activation("tanh")
PATTERNS = [(1, 1), (1, 1, 1, 1), (1, 2, 1, 3), (3, 1, 2)]


@pytest.mark.parametrize(
    ("phi", "shape"),
    [
        *((phi, (3, 1, 2)) for phi in (ERF, SIN, Activation("x*exp(-x**2/2)"), Activation("he2"))),
        *((SIN, shape) for shape in PATTERNS[:3]),
    ],
    ids=str,
)
def test_leading_coefficients_of_the_series_are_the_limits(phi, shape):
    # Series: Hermite moments, cumulants, backward recursion.  Limits: E phi', E X phi phi', forward recursion.
    ratios = tuple(Fraction(r) for r in shape)
    pairs = [(norm_expansion(phi, ratios, k, 160), norm_moment_limit(phi, shape, k, digits=25)) for k in (2, 4, 6)]
    pairs += [(overlap_expansion(phi, ratios, k, 160), overlap_moment_limit(phi, shape, k, digits=25)) for k in (2, 4)]
    with precision(200):
        for series, limit in pairs:
            gap = abs(series.coefficients[0] - to_ball(limit))
            assert gap < 1e-20 * float(limit)
            assert limit.rigorous


@pytest.mark.parametrize("phi", [ERF, TANH, Activation("relu")], ids=str)
def test_scaled_moments_reach_their_limits(phi):
    # Corrections are O(1/d) = 1e-12 times a constant at d = 2^40.
    for shape in (PATTERNS[0], PATTERNS[2])[: 2 if phi == ERF else 1]:
        widths = tuple(r * 2**40 for r in shape)
        for k in (2, 4, 6):
            scaled = float(norm_moment(phi, widths, k)) * 2.0 ** (20 * k)
            assert math.isclose(scaled, float(norm_moment_limit(phi, shape, k)), rel_tol=1e-9)
            if phi != Activation("relu") and k < 6:
                scaled = float(overlap_moment(phi, widths, k)) * 2.0 ** (20 * k)
                assert math.isclose(scaled, float(overlap_moment_limit(phi, shape, k)), rel_tol=1e-9)


def test_published_constants_of_erf():
    # From an independent float64 evaluation of the same limits, good to seven digits.
    assert math.isclose(float(norm_moment_limit(ERF, (1, 1, 1, 1), 2)), 0.0941659789, rel_tol=1e-7)
    assert math.isclose(float(norm_moment_limit(ERF, (1, 2, 1, 3), 2)), 0.0490915500, rel_tol=1e-7)
    assert math.isclose(float(overlap_moment_limit(ERF, (1, 1, 1, 1), 2)), 0.2308, abs_tol=5e-5)


def erf_variances(shape):
    """v_L and w_L with closed forms for erf: g(s) = (2/pi) asin(2s/(1+2s)), rho = (2/sqrt pi)(1+2s)^(-1/2)."""
    v, w, s = 2 / shape[0], 1 / shape[0], 1.0
    z, step = np.linspace(-12, 12, 2401, retstep=True)
    weight = np.exp(-z * z / 2) / math.sqrt(2 * math.pi) * step
    for ratio in shape[1:]:
        g = 2 / math.pi * math.asin(2 * s / (1 + 2 * s))
        slope = 4 / math.pi / ((1 + 2 * s) * math.sqrt(1 + 4 * s))
        fourth = float(weight @ erf(math.sqrt(s) * z) ** 4)
        v = (fourth - g * g) / ratio + slope**2 * v
        w = (4 / math.pi / (1 + 2 * s)) ** 2 * w + g * g / ratio
        s = g
    return v, w


@pytest.mark.parametrize("shape", PATTERNS, ids=str)
def test_erf_limits_against_closed_forms(shape):
    v, w = erf_variances(shape)
    assert math.isclose(float(norm_moment_limit(ERF, shape, 2)), v, rel_tol=1e-12)
    assert math.isclose(float(overlap_moment_limit(ERF, shape, 2)), w, rel_tol=1e-12)
    for k, factor in ((4, 3), (6, 15), (1, math.sqrt(2 / math.pi)), (3, 2 * math.sqrt(2 / math.pi))):
        assert math.isclose(float(norm_moment_limit(ERF, shape, k)), factor * v ** (k / 2), rel_tol=1e-12)
        assert math.isclose(float(overlap_moment_limit(ERF, shape, k)), factor * w ** (k / 2), rel_tol=1e-12)


def test_linear_limits():
    # v = 2 sum d_min/d_l and w = sum d_min/d_l.
    for shape in PATTERNS:
        total = sum(Fraction(1, r) for r in shape)
        for limit, value in ((norm_moment_limit(x, shape, 2), 2 * total), (overlap_moment_limit(x, shape, 2), total)):
            assert abs(Fraction(limit.midpoint) - value) <= Fraction(limit.radius)
            assert limit.radius <= Decimal("1e-20")


def test_sine_bias_and_variance_from_the_exact_one_layer_moment():
    # One layer of sin: d E(S_1 - sigma_1)^2 at d = 2^30 from the closed form, against the limit; corrections O(1/d) = 1e-9.
    exact = float(norm_moment(SIN, (2**30, 2**30), 2)) * 2**30
    assert math.isclose(exact, float(norm_moment_limit(SIN, (1, 1), 2)), rel_tol=1e-8)


# -- twins: recursions that are wrong must give other numbers --------------------------------------------------------------------


def test_wrong_recursions_are_told_apart():
    shape = (1, 2, 1, 3)
    true = float(norm_moment_limit(ERF, shape, 2))
    wrong_scale = float(norm_moment_limit(ERF, (1, 1, 1, 1), 2))  # d_min in every layer
    assert abs(wrong_scale / true - 1) > 0.5
    # sigma_l built with E phi(Z)^2 at each layer (variance 1 everywhere) instead of sigma_(l-1).
    frozen, _ = erf_variances((1, 1))
    v, g = 2.0, 2 / math.pi * math.asin(2 / 3)
    slope = 4 / math.pi / (3 * math.sqrt(5))
    u = frozen - slope**2 * 2
    for _ in range(3):
        v = u + slope**2 * v
    assert abs(v / float(norm_moment_limit(ERF, (1, 1, 1, 1), 2)) - 1) > 0.1
    assert g > 0
    # rho^2 instead of rho^4 in the overlaps.
    rho2 = 4 / math.pi / 3
    assert abs((rho2 + g * g) / float(overlap_moment_limit(ERF, (1, 1), 2)) - 1) > 0.1


@pytest.mark.parametrize("text", ["relu", "erf(x + 1/2)", "x**2"])
def test_overlap_limits_need_zero_means(text):
    with pytest.raises(ExactError, match=r"the limit is infinite: E phi = .* at layer 1"):
        overlap_moment_limit(Activation(text), (1, 1), 2)


def test_a_mean_that_vanishes_only_at_variance_one_fails_later():
    # (x^2-1)/2: zero mean at variance 1, but sigma_1 = 1/2, so that the mean of layer 2 is not zero.
    phi = Activation("(x**2-1)/2")
    assert float(overlap_moment_limit(phi, (1, 1), 2)) == 0.25
    with pytest.raises(ExactError, match="at layer 2"):
        overlap_moment_limit(phi, (1, 1, 1), 2)


@pytest.mark.parametrize(
    ("ratios", "power", "message"),
    [
        ((), 2, "non-empty"),
        ((1, 0), 2, r"ratios\[1\]"),
        ((1, math.inf), 2, r"ratios\[1\]"),
        ((1, 1), 0, "power"),
        (1, 2, "non-empty"),
    ],
)
def test_bad_arguments_are_refused_by_name(ratios, power, message):
    with pytest.raises(ExactError, match=message):
        norm_moment_limit(ERF, ratios, power)


def test_only_proportions_matter():
    assert norm_moment_limit(ERF, (2, 4, 2), 3) == norm_moment_limit(ERF, (0.5, 1, 0.5), 3)
