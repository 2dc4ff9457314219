"""Hermite expansions of features: coefficients, correlations of directions, gradients of one step."""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.integrate
import sympy

from theoryck.numerics.functions.expression import x
from theoryck.quantities import QuantityError
from theoryck.theory.hermite.proved import sphere_moment
from theoryck.theory.hermite.quantities import (
    correlation_derivative,
    correlation_series,
    feature_mean,
    feature_noise,
    feature_slope,
    gradient_at_start,
    gradient_series,
    hermite_coefficient,
    hermite_entry,
    hermite_overlap,
    hermite_polynomial,
    hermite_rms,
    pair_mean,
    spherical_gradient,
)


def exact(quantity, **sizes):
    return float(quantity.exact(sizes, 25))


def pull(quantity, draws, seed=0, **sizes):
    """The distance of the mean of draws from the exact value in standard errors."""
    values = quantity.draw(np.random.default_rng(seed), draws, sizes)
    return abs(values.mean() - exact(quantity, **sizes)) / (values.std(ddof=1) / math.sqrt(draws))


def test_the_polynomials_are_those_of_numpy():
    for k in range(8):
        coefficients = sympy.Poly(hermite_polynomial(k), x).all_coeffs()[::-1]
        expected = np.polynomial.hermite_e.herme2poly([0] * k + [1]) / math.sqrt(math.factorial(k))
        assert np.allclose([float(entry) for entry in coefficients], expected, rtol=1e-14)


def test_coefficients_of_exp_and_erf():
    # E exp(Z/2) h_k(Z) = exp(1/8) 2^-k / sqrt(k!).
    for k in range(6):
        assert exact(hermite_coefficient("exp(x/2)", k)) == pytest.approx(math.exp(1 / 8) / 2**k / math.sqrt(math.factorial(k)))
    # MATH D: c_3 = -.1773 for erf; MATH A: rho = .651470015870560, epsilon = .0401458728192.
    assert exact(hermite_coefficient("erf", 3)) == pytest.approx(-0.1773, abs=5e-5)
    assert exact(feature_slope("erf")) == pytest.approx(0.651470015870560, rel=1e-14)
    assert exact(feature_noise("erf")) == pytest.approx(0.0401458728192, rel=1e-11)
    assert exact(feature_mean("relu")) == pytest.approx(1 / math.sqrt(2 * math.pi), rel=1e-14)


@pytest.mark.parametrize("dimension", [1, 2, 3, 8, 9])
@pytest.mark.parametrize("power", [1, 2, 3, 4, 5, 7])
def test_moments_of_an_inner_product_on_the_sphere(dimension, power):
    gammas = math.lgamma(dimension / 2) + math.lgamma((power + 1) / 2) - math.lgamma((dimension + power) / 2)
    assert exact(sphere_moment(dimension, power)) == pytest.approx(math.exp(gammas) / math.sqrt(math.pi), rel=1e-13)


def test_the_moment_in_three_dimensions_is_that_of_a_uniform_variable():
    # Archimedes: one coordinate of a point of the sphere in R^3 is uniform on (-1, 1).
    assert [exact(hermite_overlap(k), d=3) for k in (1, 2, 3)] == pytest.approx([1 / 2, 1 / 3, 1 / 4], rel=1e-15)


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_the_routes_of_the_overlap_agree(degree):
    assert pull(hermite_overlap(degree), 40_000, d=12) < 4.5
    assert pull(hermite_overlap(degree, power=2), 40_000, d=5) < 4.5
    assert pull(hermite_entry(degree), 40_000, d=4) < 4.5
    # The draws do see a wrong power: E |m|^k is far from E |m|^(k+1).
    values = hermite_overlap(degree).draw(np.random.default_rng(0), 40_000, {"d": 12})
    assert abs(values.mean() - exact(hermite_overlap(degree + 1), d=12)) > 50 * values.std() / 200


def test_the_root_mean_square_is_the_formula():
    for degree, d in ((1, 10), (3, 7), (5, 64)):
        product = math.prod((2 * j + 1) / (d + 2 * j) for j in range(degree))
        assert exact(hermite_rms(degree), d=d) == pytest.approx(math.sqrt(product), rel=1e-15)
    assert exact(hermite_rms(4), d=10**6) * 10**12 == pytest.approx(math.sqrt(105), rel=1e-5)


def test_a_pair_mean_against_quadrature():
    m, s = 0.3, math.sqrt(1 - 0.09)

    def integrand(b, a):
        v = m * a + s * b
        return a**3 * math.tanh(v + 0.5) * math.exp(-(a * a + b * b) / 2) / (2 * math.pi)

    expected = scipy.integrate.dblquad(integrand, -9, 9, -9, 9, epsabs=1e-9, epsrel=1e-9)[0]
    quantity = pair_mean([("x**3", "tanh(x + 1/2)")], Fraction(3, 10))
    assert exact(quantity) == pytest.approx(expected, abs=1e-8)
    assert pull(quantity, 100_000) < 4.5


@pytest.mark.parametrize("target", ["x", "x**2 - 1", "x**3 - 3*x", "1 + x + x**3"])
@pytest.mark.parametrize("feature", ["erf(x + 1/2)", "exp(x/2)"])
def test_the_spherical_gradient_and_what_the_slides_have_instead(target, feature):
    m = Fraction(2, 5)
    gradient = spherical_gradient(target, feature, m)
    true, literal = exact(gradient_series(target, feature, m)), exact(correlation_derivative(target, feature, m))
    assert exact(gradient) == pytest.approx(true, rel=1e-14)
    assert abs(true - literal) > 0.1 * abs(true)  # the factor 1 - m^2 = 0.84
    assert pull(gradient, 100_000) < 4.5


def test_the_gradient_by_a_closed_form():
    # E u exp(v/2) = m/2 exp(1/8), so phi(m) = m exp(1/8)/2 for g = x, s = exp(x/2).
    m = Fraction(1, 3)
    assert exact(correlation_series("x", "exp(x/2)", m)) == pytest.approx(math.exp(1 / 8) / 6, rel=1e-14)
    assert exact(correlation_derivative("x", "exp(x/2)", m)) == pytest.approx(math.exp(1 / 8) / 2, rel=1e-14)
    assert exact(correlation_series("1 + x", "exp(x/2)", m, least=1)) == pytest.approx(math.exp(1 / 8) / 6, rel=1e-14)


def test_the_gradient_at_a_random_start_has_the_exponent_of_the_information_exponent():
    for degree in (1, 2, 3):
        quantity = gradient_at_start(hermite_polynomial(degree) + 1, "exp(x/2)")
        ratio = exact(quantity, d=4**9) / exact(quantity, d=4**8)
        assert math.log(ratio, 4) == pytest.approx(-(degree - 1) / 2, abs=1e-4)


def test_errors_name_the_argument():
    with pytest.raises(QuantityError, match="degree must be an integer between 0 and 32, got 33"):
        hermite_polynomial(33)
    with pytest.raises(QuantityError, match="degree must be an integer between 1 and 32, got 0"):
        hermite_overlap(0)
    with pytest.raises(QuantityError, match="one of the factors must be a polynomial"):
        pair_mean([("tanh(x)", "exp(x)")], 0)
    with pytest.raises(QuantityError, match="correlation must be a rational number from -1 to 1"):
        pair_mean([("x", "x")], 1.5)
    with pytest.raises(QuantityError, match="d must be a square"):
        gradient_at_start("x", "x").exact({"d": 15})
    with pytest.raises(QuantityError, match="needs the size 'd'"):
        hermite_overlap(1).exact({"n": 4})


def test_overlaps_in_huge_dimensions():
    # m sqrt(d) is nearly Gaussian: E |m|^3 = sqrt(8/pi) d^(-3/2) (1 - 3/(2 d) ...) by the ratio of Gamma functions.
    for d in (10**6, 10**12):
        assert exact(hermite_overlap(3), d=d) == pytest.approx(math.sqrt(8 / math.pi) * d**-1.5 * (1 - 9 / (4 * d)), rel=1e-11)
    # The closed form below and the ball above the change agree with the same expansion.
    ratio = exact(hermite_overlap(3), d=1001) / exact(hermite_overlap(3), d=999)
    gammas = math.lgamma(500.5) - math.lgamma(502.0) - math.lgamma(499.5) + math.lgamma(501.0)
    assert ratio == pytest.approx(math.exp(gammas), rel=1e-11)
    assert hermite_overlap(32, 32).draws_to_compare({"d": 4}) == math.inf


def test_numbers_are_read_and_terms_checked():
    assert exact(pair_mean([("x", "x")], "1/2")) == exact(pair_mean([("x", "x")], np.float64(0.5))) == 0.5
    assert exact(hermite_overlap(np.int64(2), power=2), d=4) == 0.125
    for terms in ("x", [("x",)]):
        with pytest.raises(QuantityError, match="terms must be pairs"):
            pair_mean(terms, 0.5)
