"""Exact moments at finite widths: closed forms against independent derivations, brackets, and bad arguments."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest
import sympy
from scipy.special import erf

from theoryck.numerics.balls import precision
from theoryck.numerics.errors import ExactError
from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.functions.expression import x
from theoryck.records import Bracket, Enclosure
from theoryck.theory.networks.proved.closed_forms import linear_norm_moment, linear_overlap_moment, linear_slope, sine_frequency
from theoryck.theory.networks.proved.moments import (
    conditional_moments,
    log_nodes,
    lyapunov_bracket,
    norm_moment,
    overlap_moment,
    shallow_norm_moment,
)

IDENTITY, ERF, SIN = Activation("x"), Activation("erf"), Activation("sin")


def contains(enclosure: Enclosure, value: Fraction) -> bool:
    return Fraction(enclosure.low) <= value <= Fraction(enclosure.high)


# -- norms at the input ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [1, 8, 100, 2**40, 2**60])
def test_input_norms_are_the_moments_of_a_chi_square(d):
    # Cumulants of chi2_d/d: kappa_j = 2^(j-1) (j-1)! d^(1-j).
    kappa = {j: Fraction(2 ** (j - 1) * math.factorial(j - 1), d ** (j - 1)) for j in range(2, 7)}
    expected = {
        2: kappa[2],
        4: kappa[4] + 3 * kappa[2] ** 2,
        6: kappa[6] + 15 * kappa[4] * kappa[2] + 10 * kappa[3] ** 2 + 15 * kappa[2] ** 3,
    }
    for k, value in expected.items():
        moment = norm_moment(ERF, (d,), k)
        assert moment.rigorous
        assert contains(moment, value)
        assert Fraction(moment.radius) <= value / 10**20


@pytest.mark.parametrize(("d", "k"), [(1, 3), (3, 1), (8, 2.5), (8, 7), (65, 3), (300, 0.5)])
def test_input_norms_of_real_power_against_direct_integration(d, k):
    with mpmath.workdps(30):
        a = mpmath.mpf(d) / 2

        def integrand(w):
            return abs(w * w - 1) ** k * w ** (d - 1) * mpmath.exp(a * mpmath.log(a) - a * w * w - mpmath.loggamma(a)) * 2

        points = [0, 0.5, 0.8, 0.95, 1, 1.05, 1.2, 1.5, 2, 3, 6, 12]
        expected = mpmath.quad(integrand, points)
        moment = norm_moment(ERF, (d,), k)
        # The quadrature of the reference resolves the kink to about 12 digits; the enclosure itself is proved to 20.
        assert abs(mpmath.mpf(str(moment.midpoint)) / expected - 1) < 1e-11
    assert moment.rigorous
    assert moment.radius < moment.midpoint * Decimal("1e-20")


def test_first_absolute_moment_of_a_wide_input_is_gaussian():
    # 2 a^(a-1) e^(-a)/Gamma(a) = (2/sqrt(pi d)) (1 - 1/(6d) + O(d^-2)); at d = 2^60 the correction is below 1e-18.
    d = 2**60
    moment = norm_moment(ERF, (d,), 1)
    assert abs(float(moment) / (2 / math.sqrt(math.pi * d)) - 1) < 1e-15
    # E|S-1|^3 -> E|Z|^3 (2/d)^(3/2) with corrections O(1/d).
    cube = norm_moment(ERF, (2**40,), 3)
    assert abs(float(cube) / (2 * math.sqrt(2 / math.pi) * (2 / 2**40) ** 1.5) - 1) < 1e-11


# -- overlaps at the input ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [1, 8, 2**40])
def test_input_overlaps(d):
    for k, value in {2: Fraction(1, d), 4: Fraction(3 * (d + 2), d**3), 6: Fraction(15 * (d + 2) * (d + 4), d**5)}.items():
        assert contains(overlap_moment(ERF, (d,), k), value)
    first = overlap_moment(ERF, (d,), 1)
    with mpmath.workdps(60):
        expected = mpmath.exp(mpmath.loggamma(mpmath.mpf(d + 1) / 2) - mpmath.loggamma(mpmath.mpf(d) / 2))
        expected *= mpmath.sqrt(2) * mpmath.sqrt(2 / mpmath.pi) / d
        assert abs(mpmath.mpf(str(first.midpoint)) - expected) <= mpmath.mpf(str(first.radius)) + expected * mpmath.mpf("1e-24")


# -- linear networks ---------------------------------------------------------------------------------------------------------------


def test_linear_overlap_variance_obeys_its_two_term_recursion():
    # A = E S S', B = E Q^2: A' = A + 2B/d, B' = B (1 + 1/d) + A/d; an independent derivation of the power 2.
    for widths in [(8, 8), (8, 16, 8), (3, 5, 7, 2, 11)]:
        a, b = Fraction(1), Fraction(1, widths[0])
        for d in widths[1:]:
            a, b = a + 2 * b / d, b * (1 + Fraction(1, d)) + a / d
        assert linear_overlap_moment(widths, 2) == b
    assert float(overlap_moment(IDENTITY, (8, 8), 2)) == 0.265625
    assert float(overlap_moment(IDENTITY, (8, 16, 8), 2)) == 0.3466796875


def test_linear_overlap_fourth_moment_of_one_row_layer_by_enumeration():
    # One output row: Q_1 = u v with (u, v) centred Gaussian of Gram G, so E Q_1^4 = E[u^4 v^4 | G] by Wick:
    # 9 S^2 S'^2 + 72 S S' Q^2 + 24 Q^4; the input moments follow from E S^m and the direction.
    d = 5

    def chi(m):
        return math.prod((Fraction(d + 2 * i, d) for i in range(m)), start=Fraction(1))

    def even_cosine(m):
        return math.prod((Fraction(1 + 2 * i, d + 2 * i) for i in range(m)), start=Fraction(1))

    expected = (9 + 72 * even_cosine(1) + 24 * even_cosine(2)) * chi(2) ** 2
    assert linear_overlap_moment((d, 1), 4) == expected


def test_linear_norms_by_products_of_chi_squares():
    # (2, 2): E S^m = (m!)^2 for products of two exponentials.
    for k in (2, 4, 6):
        expected = sum(math.comb(k, m) * (-1) ** (k - m) * math.factorial(m) ** 2 for m in range(k + 1))
        assert linear_norm_moment((2, 2), k) == expected
    scaled = norm_moment(Activation("2*x"), (2, 2), 2)
    assert contains(scaled, Fraction(4**2) * linear_norm_moment((2, 2), 2))
    assert contains(overlap_moment(Activation("2*x"), (8, 8), 2), Fraction(16 * 17, 64))
    assert scaled.rigorous


def test_only_linear_functions_count_as_linear():
    assert linear_slope(Activation("3*x")) == 3
    for text in ("x*exp(-x**2/2)", "x + 1", "sin(x)", "relu", "x**3 + x"):
        assert linear_slope(Activation(text)) is None
    assert sine_frequency(Activation("sin(2*x)")) == 2
    assert sine_frequency(Activation("sin(x + 1)")) is None
    assert sine_frequency(Activation("2*sin(x)")) is None


# -- one layer ---------------------------------------------------------------------------------------------------------------------


def test_one_sine_layer_in_closed_form_and_by_quadrature():
    closed = norm_moment(SIN, (8, 8), 2)
    assert closed.rigorous
    with precision(140):
        other = shallow_norm_moment(SIN, (8, 8), 2)
        # Two routes without common code beyond the ball arithmetic; the quadrature's own radius is about 1e-16.
        assert abs(float(other.mid()) - float(closed)) < 1e-15
    overlap = overlap_moment(SIN, (8, 8), 2)
    assert overlap.rigorous
    assert str(overlap.midpoint).startswith("0.033876879074074")


def test_one_erf_layer_against_plain_quadrature():
    # Trapezoidal sums in float64 over t = log S_0 and z, explicit central moments given s; both rules converge geometrically.
    t, step_t = np.linspace(-13.0, 2.8, 800, retstep=True)
    z, step_z = np.linspace(0.0, 11.0, 600, retstep=True)
    s = np.exp(t)
    density = step_t * np.exp(4 * np.log(4.0) - np.log(6.0) + 4 * t - 4 * s)
    weight = np.exp(-z * z / 2) * np.sqrt(2 / np.pi) * step_z
    weight[0] /= 2
    square = erf(np.sqrt(s)[:, None] * z) ** 2
    g = square @ weight
    second, third, fourth = (((square - g[:, None]) ** j) @ weight for j in (2, 3, 4))
    a = g - 2 / np.pi * np.arcsin(2 / 3)
    two = second / 8 + a**2
    four = (fourth - 3 * second**2) / 8**3 + 3 * second**2 / 8**2 + 4 * a * third / 8**2 + 6 * a**2 * second / 8 + a**4
    # Rounding: 800 terms of size 1; the cut at t = -13 leaves 1e-22.
    assert math.isclose(float(norm_moment(ERF, (8, 8), 2)), float(density @ two), rel_tol=1e-12)
    assert math.isclose(float(norm_moment(ERF, (8, 8), 4)), float(density @ four), rel_tol=1e-12)
    # The wrong centre E phi^2 at the random s instead of sigma_1 is another number.
    assert abs(float(density @ (two - a**2)) / float(norm_moment(ERF, (8, 8), 2)) - 1) > 0.1


def test_shallow_route_reproduces_rational_moments_of_a_linear_layer():
    with precision(140):
        value = shallow_norm_moment(IDENTITY, (16, 8), 4)
        assert abs(float(value.mid()) - float(linear_norm_moment((16, 8), 4))) < 1e-12
        total = sum(float(weight) for _, weight in log_nodes(16, 60, refine=2))
        assert abs(total - 1) < 1e-14


def test_conditional_moments_by_enumerating_coins():
    # Y = +-1: the mean of 3 coins takes values -1, -1/3, 1/3, 1; a check with no generating function in it.
    raw = [(1 + (-1) ** n) / 2 for n in range(7)]
    with precision(100):
        from flint import arb

        moments = conditional_moments([arb(r) for r in raw], arb(0), 3)
    for n in range(7):
        exact = sum((sum(signs) / 3) ** n for signs in product((-1, 1), repeat=3)) / 8
        assert abs(float(moments[n]) - exact) < 1e-15


# -- brackets ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [Fraction(1, 2), Fraction(1), Fraction(3), Fraction(9, 2), Fraction(7)])
def test_brackets_contain_the_input_moments_that_are_known(k):
    # At depth 0 both the bracket (from rational even moments) and the proved value exist.
    for d in (3, 64):
        bracket = lyapunov_bracket(k, lambda power, d=d: norm_moment(ERF, (d,), power))
        value = norm_moment(ERF, (d,), k)
        assert bracket.low < float(value) < bracket.high
    assert bracket.high / bracket.low < 2.5


def test_a_bracket_is_equality_for_constant_absolute_value():
    bracket = lyapunov_bracket(Fraction(3), lambda k: Enclosure(Decimal(2) ** k, Decimal(0)))
    assert bracket.low <= 8 <= bracket.high
    assert bracket.high - bracket.low < 1e-13


def test_a_wrong_even_moment_is_seen_by_convexity():
    # Lyapunov: m_4 >= m_2^2.  Moments that break it give an empty bracket instead of a plausible one.
    wrong = {2: 1, 4: Decimal("0.5"), 6: Decimal("0.1")}
    bracket = lyapunov_bracket(Fraction(3), lambda k: Enclosure(Decimal(wrong[k]), Decimal(0)))
    assert bracket.low > bracket.high


def test_odd_powers_above_the_input_are_brackets():
    bracket = norm_moment(ERF, (64, 64), 1)
    assert isinstance(bracket, Bracket)
    assert bracket.high <= math.sqrt(float(norm_moment(ERF, (64, 64), 2))) * (1 + 1e-12)
    # For a nearly Gaussian variable E|X| = sqrt(2/pi) sd, which lies inside (1/sqrt 3, 1) sd.
    middle = math.sqrt(2 / math.pi) * math.sqrt(float(norm_moment(ERF, (64, 64), 2)))
    assert bracket.low < middle < bracket.high


# -- arguments ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("power", [0, -2, math.nan, math.inf, True, "2", None])
def test_bad_powers_are_refused_by_name(power):
    with pytest.raises(ExactError, match="power must be a finite real number > 0"):
        norm_moment(ERF, (8, 8), power)


@pytest.mark.parametrize(
    ("widths", "message"),
    [
        ((), "non-empty"),
        ("88", "non-empty"),
        (8, "non-empty"),
        ((8, 0), r"widths\[1\]"),
        ((8.0, 8), r"widths\[0\]"),
        ((True,), r"widths\[0\]"),
    ],
)
def test_bad_widths_are_refused_by_name(widths, message):
    with pytest.raises(ExactError, match=message):
        overlap_moment(ERF, widths, 2)


def test_expressions_serve_as_activations():
    assert norm_moment(sympy.erf(x), (16, 16), 2) == norm_moment(ERF, (16, 16), 2)
    with pytest.raises(ExactError, match="power must be at most"):
        overlap_moment(ERF, (8, 8), 18)
