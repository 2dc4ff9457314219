"""Properties against a table derived by hand, and that nothing sampled is called proved."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
import sympy

from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.functions.catalogue import catalogue
from theoryck.numerics.functions.expression import x
from theoryck.numerics.functions.growth import growth
from theoryck.numerics.functions.properties import exact_mean, quadrature_mean
from theoryck.numerics.functions.ranges import enclose

# odd, even, C^2, phi' bounded, phi'' bounded, linear, kinks.
TABLE: dict[str, tuple[int, int, int, int, int, int, tuple[float, ...]]] = {
    "identity": (1, 0, 1, 1, 1, 1, ()),
    "tanh": (1, 0, 1, 1, 1, 0, ()),
    "tanh2": (1, 0, 1, 1, 1, 0, ()),
    "erf": (1, 0, 1, 1, 1, 0, ()),
    "erf_scaled": (1, 0, 1, 1, 1, 0, ()),
    "sin": (1, 0, 1, 1, 1, 0, ()),
    "sin2": (1, 0, 1, 1, 1, 0, ()),
    "arctan": (1, 0, 1, 1, 1, 0, ()),
    "asinh": (1, 0, 1, 1, 1, 0, ()),
    "x_gauss": (1, 0, 1, 1, 1, 0, ()),
    "x_over_sqrt": (1, 0, 1, 1, 1, 0, ()),
    "relu": (0, 0, 0, 1, 0, 0, (0,)),
    "abs": (0, 1, 0, 1, 0, 0, (0,)),
    "softsign": (1, 0, 0, 1, 1, 0, (0,)),
    "hardtanh": (1, 0, 0, 1, 0, 0, (-1, 1)),
    "he2": (0, 1, 1, 0, 1, 0, ()),
    "he3": (1, 0, 1, 0, 0, 0, ()),
    "he3_mix": (1, 0, 1, 0, 0, 0, ()),
    "gelu": (0, 0, 1, 1, 1, 0, ()),
    "softplus": (0, 0, 1, 1, 1, 0, ()),
    "cos": (0, 1, 1, 1, 1, 0, ()),
    "erf_shifted": (0, 0, 1, 1, 1, 0, ()),
    "relu_centred": (0, 0, 0, 1, 0, 0, (0,)),
}
FIELDS = ("odd", "even", "smooth", "bounded_first_derivative", "bounded_second_derivative", "linear")


@pytest.mark.parametrize("name", catalogue)
def test_catalogue_properties_are_proved_and_right(name: str) -> None:
    phi = catalogue[name]
    *expected, kinks = TABLE[name]
    for field, value in zip(FIELDS, expected, strict=True):
        found = getattr(phi.properties, field)
        assert (found.value, found.symbolic) == (bool(value), True), f"{field}: {found}"
    assert tuple(float(point) for point in phi.kinks) == kinks


@pytest.mark.parametrize(("text", "field", "value"), [
    ("abs(x)**3", "smooth", True),  # |x|^3 is C^2: second derivative 6|x|
    ("x*abs(x)", "smooth", False),  # second derivative 2 sign(x)
    ("abs(tanh(x))", "smooth", False),
    ("abs(cosh(x))", "smooth", True),
    ("max(x, tanh(x))", "odd", False),
    ("sqrt(x**4 + 1)", "bounded_first_derivative", False),  # phi' ~ 2x
    ("sqrt(x**4 + 1)", "bounded_second_derivative", True),
    ("log(1 + x**2)", "bounded_second_derivative", True),
    ("log(cosh(x))", "bounded_first_derivative", True),
    ("sinh(x)", "bounded_first_derivative", False),
    ("exp(x)", "bounded_second_derivative", False),
    ("sin(x)*exp(-x**2)*x**5", "bounded_second_derivative", True),
    ("heaviside(x)", "bounded_first_derivative", False),
    ("sin(x)**2 + cos(x)**2 - 1 + x", "odd", True),
    ("(x + 1)**3 - 3*x**2 - 1", "odd", True),  # x^3 + 3x after expansion
    ("(x + 1)**2 - x**2 - 1", "linear", True),
    ("relu(x) - relu(-x)", "odd", True),
    ("relu(x) + relu(-x)", "even", True),
])  # fmt: skip
def test_harder_cases(text: str, field: str, value: bool) -> None:
    found = getattr(Activation(text).properties, field)
    assert found.value is value, str(found)


@pytest.mark.parametrize(("text", "order"), [
    ("abs(x**3 - x - 1)", 1),  # at a root that has no radicals
    ("max(x, x**2, 1 - x)", 1),
    ("relu(exp(x) - 3)", 1),
    ("sqrt(1 + relu(x))", 1),
    ("x*abs(x)", 2),
    ("sign(tanh(x))*x + heaviside(x - pi)", 0),
    ("abs(x)**3", None),
    ("abs(cosh(x))", None),
    ("relu(x) - relu(-x)", None),
])  # fmt: skip
def test_the_lowest_derivative_that_jumps(text: str, order: int | None) -> None:
    properties = Activation(text).properties
    assert properties.jump_order == order
    assert (properties.smooth.value, properties.smooth.symbolic) == (order is None, True)


@pytest.mark.parametrize(("text", "field", "value"), [
    ("sin(x)**2 + cos(x)**2 - 1 + x", "odd", True),
    ("sin(x)**2 + cos(x)**2 - 1 + x", "linear", True),
    ("x*cos(x)", "bounded_first_derivative", False),  # cos x - x sin x oscillates: no growth rule
    ("abs(sin(x))", "smooth", False),  # infinitely many kinks
])  # fmt: skip
def test_what_is_only_sampled_says_so(text: str, field: str, value: bool) -> None:
    found = getattr(Activation(text).properties, field)
    assert (found.value, found.symbolic) == (value, False), str(found)
    assert "numerical" in str(found)


def test_kinks_found_numerically_are_the_zeros() -> None:
    kinks = [float(point) for point in Activation("abs(sin(x))").kinks]
    near = [point for point in kinks if abs(point) < 10]
    np.testing.assert_allclose(near, np.pi * np.arange(-3, 4), atol=1e-12)
    assert Activation("relu(x**2 - 2)").kinks == (-sympy.sqrt(2), sympy.sqrt(2))


@pytest.mark.parametrize(("name", "variance", "value"), [
    ("tanh", 1, True), ("tanh", 0.37, True), ("hardtanh", 2, True), ("he3_mix", 3, True),
    ("he2", 1, True), ("he2", "1/2", False), ("he2", 1.0000001, False), ("he2", Fraction(1, 3), False),
    ("relu", 1, False), ("relu_centred", 1, True), ("relu_centred", 2, False), ("abs", 1, False),
    ("gelu", 1, False), ("softplus", 1, False), ("cos", 5, False), ("erf_shifted", 1, False),
])  # fmt: skip
def test_zero_mean(name: str, variance: object, value: bool) -> None:
    found = catalogue[name].zero_mean_at(variance)
    assert (found.value, found.symbolic) == (value, True), str(found)


def test_zero_mean_by_quadrature_says_so() -> None:
    found = Activation("tanh(x + 1)").zero_mean_at(1)
    assert (found.value, found.symbolic) == (False, False)
    assert "quadrature" in found.detail
    for bad in (0, -1, "x", None, float("nan")):
        with pytest.raises(ValueError, match="variance must be a positive number"):
            catalogue["tanh"].zero_mean_at(bad)


@pytest.mark.parametrize("text", [
    "relu(2*x)", "abs(x)/3", "cos(2*x)", "sin(x + 1)", "exp(x/2)", "cosh(x)", "erf(x + 1/2)", "erfc(x)", "x**4 - x + 2",
    "x*(1 + erf(x/sqrt(2)))/2", "x**2*exp(-x**2/2)", "exp(1 - x**2)", "min(0, x)", "heaviside(x)", "3 + tanh(x)",
])  # fmt: skip
@pytest.mark.parametrize("variance", [Fraction(1), Fraction(2, 5)])
def test_exact_means_agree_with_mpmath_quadrature(text: str, variance: Fraction) -> None:
    phi = Activation(text)
    mean = exact_mean(phi.expression, sympy.Rational(variance.numerator, variance.denominator))
    scale = math.sqrt(variance)

    def integrand(z: mp.mpf) -> mp.mpf:
        return mp.mpf(float(phi(float(scale * z)))) * mp.npdf(z)

    reference = mp.quad(integrand, [-12, -6, -3, 0, 3, 6, 12])
    # phi is evaluated in double precision under the integral, so the reference carries about 1e-14.
    assert float(mean) == pytest.approx(float(reference), abs=1e-12)
    assert quadrature_mean(phi.expression, float(variance), phi.kinks)[0] == pytest.approx(float(mean), abs=1e-13 * 10)


def test_enclosures_contain_samples() -> None:
    points = np.linspace(-3, 5, 401)
    for text in (
        "sin(x)*x",
        "sech(x) - x**3",
        "exp(-x**2)",
        "atan(x)/(2 + cos(x))",
        "relu(x - 1)",
        "log(1 + x**2)",
        "erfc(x)",
        "1/cosh(x)",
    ):
        phi = Activation(text)
        low, high = enclose(phi.expression, (-3.0, 5.0))
        values = phi(points)
        assert low <= values.min()
        assert values.max() <= high
        for left, right in zip(points[:-1:40], points[40::40], strict=True):
            low, high = enclose(phi.expression, (float(left), float(right)))
            inside = values[(points >= left) & (points <= right)]
            rounding = 32 * 2**-53 * np.abs(inside).max()  # of the samples, scipy's erfc among them
            assert low <= inside.min() + rounding
            assert inside.max() <= high + rounding


@pytest.mark.parametrize("text", [
    "x**2*exp(-x**2/2)", "sqrt(1 + x**2)", "log(1 + exp(x))", "x*tanh(x)", "asinh(x)*x", "exp(x)/(1 + exp(2*x))", "relu(x)*exp(-x)",
    "erfc(x)*x**3", "x**3/(1 + x**2)", "atan(x)*sech(x)", "sinh(x)*exp(-x**2)",
])  # fmt: skip
@pytest.mark.parametrize("side", [1, -1])
def test_growth_agrees_with_values_far_out(text: str, side: int) -> None:
    phi = Activation(text)
    found = growth(phi.expression, side)
    assert found is not None
    near, far = (abs(float(phi(side * t))) for t in (100.0, 10000.0))
    # Each of these is eventually monotone: it grows by at least log(1e4)/log(1e2) = 2 between the points, or does not grow at all.
    assert found.bounded is (far <= 1.5 * near)


def test_growth_admits_ignorance_when_leading_terms_cancel() -> None:
    difference = sympy.sqrt(1 + x**2) - x
    assert growth(difference, 1).bounded is None
    assert growth(difference, -1).bounded is False


def test_properties_are_cached() -> None:
    phi = Activation("tanh(3*x)")
    assert phi.properties is phi.properties
    assert phi.properties.odd is phi.properties.odd
