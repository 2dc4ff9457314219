"""The series in 1/d_min: against limits, simulated chains, a Gauss-quadrature chain, and wrong predictions that must fall."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from scipy.linalg import eigh_tridiagonal

from theoryck.numerics.balls import precision
from theoryck.numerics.errors import NotConverged
from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.proved.gaussian import gaussian_expectation
from theoryck.numerics.proved.hermite import hermite_table
from theoryck.theory.networks.proved.closed_forms import linear_norm_moment, linear_overlap_moment
from theoryck.theory.networks.proved.moments import conditional_moments, norm_moment, overlap_moment, shallow_norm_moment
from theoryck.theory.networks.proved.series import (
    cumulants_from_moments,
    evaluate,
    grading,
    is_bounded,
    norm_expansion,
    overlap_expansion,
    recursion_coefficient,
)

ERF, SIN, TANH, GAUSS = Activation("erf"), Activation("sin"), Activation("tanh"), Activation("x*exp(-x**2/2)")
BITS = 120


def ones(depth):
    return (Fraction(1),) * (depth + 1)


# -- the algebra -----------------------------------------------------------------------------------------------------------------


def test_moments_and_cumulants_of_a_poisson_variable():
    # All cumulants of Poisson(1) are 1; its moments are the Bell numbers.
    space = grading(1, 8)
    moments = {(n,): np.array([arb(b)], dtype=object) for n, b in enumerate([1, 1, 2, 5, 15, 52])}
    cumulants = cumulants_from_moments(space, moments, dict.fromkeys(range(1, 6), 0))
    assert all(cumulants[(n,)][0] == 1 for n in range(1, 6))
    assert sum(recursion_coefficient((5,), (b,)) for b in range(1, 6)) == 2**4


def test_series_of_linear_networks_are_their_exact_polynomials():
    # For phi(x) = x every moment is a polynomial in 1/d: the truncated series must reproduce the rational recursion.
    identity = Activation("x")
    for d in (32, 2**20):
        with precision(BITS):
            norm = evaluate(norm_expansion(identity, (Fraction(1), Fraction(2), Fraction(1)), 4, BITS), d)
            overlap = evaluate(overlap_expansion(identity, (Fraction(2), Fraction(1), Fraction(3)), 4, BITS), d)
        exact = float(linear_norm_moment((d, 2 * d, d), 4))
        assert abs(float(norm.mid()) - exact) <= float(norm.rad()) + 1e-15 * exact
        exact = float(linear_overlap_moment((2 * d, d, 3 * d), 4))
        assert abs(float(overlap.mid()) - exact) <= float(overlap.rad()) + 1e-15 * exact
        assert float(overlap.rad()) < 1e-5 * exact


def test_float_and_ball_coefficients_agree():
    # The higher coefficients of overlaps are float64 with a declared error; a run in balls to the same order must lie inside.
    from theoryck.theory.networks.proved.series import _overlap_constants

    expansion = overlap_expansion(SIN, ones(2), 4, BITS)
    balls = _overlap_constants(SIN, ones(2), 4, BITS, 12, False)[2:]
    for mine, sharp in zip(expansion.coefficients, balls):
        assert mine.overlaps(sharp)
        assert mine.rad() <= abs(sharp.mid()) * 1e-9


def test_boundedness_is_told_apart():
    assert all(is_bounded(phi) for phi in (ERF, SIN, TANH, GAUSS, Activation("x/sqrt(1+x**2)"), Activation("atan(x)")))
    assert not any(is_bounded(Activation(text)) for text in ("relu", "he2", "asinh(x)", "log(1+x**2)"))


# -- one layer of sine has closed forms at every width ---------------------------------------------------------------------------


@pytest.mark.parametrize("widths", [(64, 64), (128, 64), (2**20, 2**21)])
def test_series_against_the_closed_form_of_a_sine_layer(widths):
    ratios = tuple(Fraction(d, min(widths)) for d in widths)
    with precision(BITS):
        norm = evaluate(norm_expansion(SIN, ratios, 2, BITS), min(widths))
        overlap = evaluate(overlap_expansion(SIN, ratios, 2, BITS), min(widths))
    for series, closed in ((norm, norm_moment(SIN, widths, 2)), (overlap, overlap_moment(SIN, widths, 2))):
        assert closed.rigorous
        assert abs(float(series.mid()) - float(closed)) <= float(series.rad()) + 1e-15 * float(closed)
        assert float(series.rad()) < 1e-6 * float(closed)


@pytest.mark.parametrize("widths", [(2, 2), (4, 12), (8, 8), (8, 32), (16, 16), (32, 32)])
def test_truncation_radii_are_honest_where_the_series_is_poor(widths):
    ratios = tuple(Fraction(d, min(widths)) for d in widths)
    with precision(BITS):
        norm = evaluate(norm_expansion(SIN, ratios, 2, BITS), min(widths))
        overlap = evaluate(overlap_expansion(SIN, ratios, 2, BITS), min(widths))
    for series, closed in ((norm, norm_moment(SIN, widths, 2)), (overlap, overlap_moment(SIN, widths, 2))):
        assert abs(float(series.mid()) - float(closed)) <= float(series.rad())


@pytest.mark.parametrize(("text", "widths", "k"), [("x*exp(-x**2/2)", (16, 16), 6), ("atan(x)", (8, 8), 8), ("relu", (16, 8), 4)])
def test_truncation_radii_are_honest_against_one_layer_quadrature(text, widths, k):
    phi = Activation(text)
    ratios = tuple(Fraction(d, min(widths)) for d in widths)
    with precision(BITS):
        series = evaluate(norm_expansion(phi, ratios, k, BITS), min(widths))
        other = shallow_norm_moment(phi, widths, k, 50)
    assert abs(float(series.mid()) - float(other.mid())) <= float(series.rad()) + float(other.rad())


# -- simulated Gram chains -------------------------------------------------------------------------------------------------------


def chain(phi, widths, draws, rng):
    """Draw (S_L, S'_L, Q_L): given the Gram below, neurons are iid pairs (phi(u), phi(v))."""
    x, y = (rng.standard_normal((2, draws, widths[0])) / math.sqrt(widths[0]))[:]
    for d in widths[1:]:
        s, t, q = (x * x).sum(1), (y * y).sum(1), (x * y).sum(1)
        u, w = rng.standard_normal((2, draws, d))
        s = np.maximum(s, 1e-300)  # relu may leave a zero vector, and then q = 0
        slope = (q / s)[:, None]
        rest = np.sqrt(np.maximum(t - q * q / s, 0))[:, None]
        x, y = phi(np.sqrt(s)[:, None] * u), phi(slope * np.sqrt(s)[:, None] * u + rest * w)
        x, y = x / math.sqrt(d), y / math.sqrt(d)
    return (x * x).sum(1), (y * y).sum(1), (x * y).sum(1)


CHAINS = [
    (ERF, (8, 16, 8, 24)),
    (SIN, (16, 16, 16)),
    (TANH, (8, 8)),
    (GAUSS, (16, 8, 16, 8)),
    (Activation("erf(x + 1/2)"), (16, 16)),
    (Activation("relu"), (32, 16, 32)),
]


@pytest.mark.parametrize(("phi", "widths"), CHAINS, ids=str)
def test_simulated_chains_agree(phi, widths):
    draws = 40_000
    s, t, q = chain(phi, widths, draws, np.random.default_rng(20250))
    sigma = 1.0
    for _ in widths[1:]:
        sigma = float(gaussian_expectation(phi.expression**2, sigma, 15))
    for k in (2, 4):
        samples = {"norm": (np.abs(s - sigma) ** k + np.abs(t - sigma) ** k) / 2, "overlap": np.abs(q) ** k}
        for name, values in samples.items():
            exact = (norm_moment if name == "norm" else overlap_moment)(phi, widths, k)
            # 24 comparisons at 5 standard errors: a false alarm in 70,000 runs for Gaussian means; skewness costs a factor 10.
            allowed = float(exact.radius) + 5 * values.std() / math.sqrt(draws)
            assert abs(values.mean() - float(exact)) <= allowed, (name, k)
            # A prediction that is wrong by a factor 1.3 (twice the tolerance at least) would be seen.
            assert abs(values.mean() - 1.3 * float(exact)) > allowed


# -- an independent deterministic route ------------------------------------------------------------------------------------------


def gauss_rule(alphas, betas):
    """Nodes and weights from the recurrence of the orthogonal polynomials (Golub and Welsch), float64."""
    nodes, vectors = eigh_tridiagonal(np.array(alphas), np.sqrt(np.array(betas[1:])))
    return nodes, vectors[0] ** 2


def recurrence(moments):
    """Chebyshev's algorithm in balls: recurrence coefficients from 2n moments."""
    n = len(moments) // 2
    previous, current = [arb(0)] * (2 * n), list(moments)
    alphas, betas = [moments[1] / moments[0]], [moments[0]]
    for k in range(1, n):
        following = [arb(0)] * (2 * n)
        for i in range(k, 2 * n - k):
            following[i] = current[i + 1] - alphas[-1] * current[i] - (betas[-1] * previous[i] if k > 1 else 0)
        alphas.append(following[k + 1] / following[k] - current[k] / current[k - 1])
        betas.append(following[k] / current[k - 1])
        previous, current = current, following
    return [float(a) for a in alphas], [float(b) for b in betas]


def quadrature_chain(phi, widths, power, count):
    """E(S_L - sigma_L)^power with the law of every layer replaced by its Gauss rule: no expansion in 1/d anywhere."""
    a = widths[0] / 2
    nodes, weights = gauss_rule([2 * j / a for j in range(count)], [1.0, *(j * (j + a - 1) / a**2 for j in range(1, count))])
    below = arb(1)
    with precision(320):
        for layer, d in enumerate(widths[1:], 1):
            order = power if layer == len(widths) - 1 else 2 * count - 1
            centre = hermite_table(phi, below, 2, 0, 200)[2][0]
            total = [arb(0)] * (order + 1)
            for node, weight in zip(nodes, weights):
                table = hermite_table(phi, below + arb(float(node)), 2 * order, 0, 280)
                moments = conditional_moments([table[2 * j][0].mid() for j in range(order + 1)], centre.mid(), d)
                total = [t + arb(float(weight)) * m for t, m in zip(total, moments)]
            if order > power:
                nodes, weights = gauss_rule(*recurrence([t.mid() for t in total]))
            below = centre
    return float(total[power])


@pytest.mark.parametrize(("phi", "widths"), [(TANH, (32, 16, 32)), (SIN, (24, 24, 24))], ids=str)
def test_a_quadrature_of_the_chain_agrees(phi, widths):
    for power in (2, 6):
        fine, coarse = (quadrature_chain(phi, widths, power, count) for count in (9, 7))
        exact = norm_moment(phi, widths, power)
        # Geometric convergence: the finer rule is better than its distance from the coarser one.
        allowed = float(exact.radius) + abs(fine - coarse) + 1e-11 * fine
        assert abs(fine - float(exact)) <= allowed
        assert allowed < 2e-3 * fine


# -- exponents -------------------------------------------------------------------------------------------------------------------


def slope(function, phi, depth, k, d=2**39):
    here, there = (function(phi, (n,) * (depth + 1), k) for n in (d, 2 * d))
    return math.log2(float(there) / float(here))


@pytest.mark.parametrize("depth", [0, 2])
def test_exponents_at_the_large_end(depth):
    for function in (norm_moment, overlap_moment):
        for k in (2, 4, 6):
            measured = slope(function, ERF, depth, k)
            assert abs(measured + k / 2) < 1e-6  # corrections are O(1/d) = 2e-12 times a constant
            assert abs(measured + (k + 1) / 2) > 0.4  # the rival rate d^(-(k+1)/2)


def test_radii_shrink_along_a_path():
    for depth, k in ((2, 2), (2, 6)):
        for function in (norm_moment, overlap_moment):
            for d, wanted in ((64, 1e-4), (1024, 1e-8), (2**40, 1e-15)):
                moment = function(TANH, (d,) * (depth + 1), k)
                assert float(moment.radius) < wanted * float(moment)
                assert not moment.rigorous


def test_twins_with_a_non_zero_mean_do_not_decay():
    relu = Activation("relu")
    scaled = [d * float(overlap_moment(relu, (d, d), 2)) for d in (32, 128)]
    assert abs(scaled[0] - 1.12) < 0.03  # simulated by others: 1.12 and 3.57
    assert abs(scaled[1] - 3.57) < 0.05
    assert abs(slope(overlap_moment, relu, 2, 2)) < 1e-6
    assert abs(slope(norm_moment, relu, 2, 2) + 1) < 1e-6  # norms still concentrate
    # E (x_mu . x_nu) -> 1/(2 pi): the limit of E Q^2 is its square.
    assert abs(float(overlap_moment(relu, (2**40,) * 2, 2)) - 1 / (4 * math.pi**2)) < 1e-11


def test_an_even_activation_with_zero_mean_still_decays():
    he2 = Activation("he2")
    assert abs(slope(overlap_moment, he2, 2, 2) + 1) < 1e-6
    assert abs(2**40 * float(overlap_moment(he2, (2**40,) * 2, 2)) - 1) < 1e-9


def test_d_max_is_not_the_rate():
    # d_0 = 16 fixed and the other layers growing: the moment tends to a positive limit.
    values = [float(norm_moment(ERF, (16, d, d), 2)) for d in (2**26, 2**30)]
    # The other layers add about 0.1/d to 8e-4: 2e-6 of it at d = 2^26.
    assert abs(values[1] / values[0] - 1) < 1e-5
    assert values[0] * 2**26 > 1e4  # d_max^(k/2) times the moment is not bounded


def test_heavy_tails_are_admitted():
    # he2 twice: rare huge neurons dominate the fourth moment at d = 16 and a truncated series cannot know it.
    with precision(200), pytest.raises(NotConverged, match="larger widths"):
        evaluate(norm_expansion(Activation("he2"), (Fraction(1),) * 3, 4, 140), 16)
