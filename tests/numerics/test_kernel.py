"""Two-point kernels against the closed forms of MATH A and two-dimensional quadrature."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy
from flint import arb
from mpmath import mpf
from sympy import Abs, Heaviside, Max, Min, erf, exp, log, sign, sin, sqrt, tanh

from theoryck.numerics.balls import precision, to_ball
from theoryck.numerics.errors import ExactError
from theoryck.numerics.proved import kernel
from theoryck.numerics.proved.gaussian import gaussian_expectation
from theoryck.numerics.proved.kernel import gaussian_kernel, mehler, plane_mean
from theoryck.numerics.proved.strips import NoBound
from theoryck.numerics.proved.trapezoid import Grid, choose_grid
from theoryck.records import Enclosure

x = sympy.Symbol("x", real=True)


def name(item: object) -> str:
    return str(item) if isinstance(item, sympy.Expr) else ""


def relu_kernel(s1, s2, c):
    u = c / mpmath.sqrt(s1 * s2)
    return mpmath.sqrt(s1 * s2) * (u * (mpmath.pi - mpmath.acos(u)) + mpmath.sqrt(1 - u * u)) / (2 * mpmath.pi)


CLOSED = [
    (erf(2 * x), lambda s1, s2, c: 2 / mpmath.pi * mpmath.asin(8 * c / mpmath.sqrt((1 + 8 * s1) * (1 + 8 * s2)))),
    (erf(x / sqrt(2)), lambda s1, s2, c: 2 / mpmath.pi * mpmath.asin(c / mpmath.sqrt((1 + s1) * (1 + s2)))),
    (sin(x), lambda s1, s2, c: mpmath.exp(-(s1 + s2) / 2) * mpmath.sinh(c)),
    (x, lambda s1, s2, c: c),
    (x * exp(-(x**2) / 2), lambda s1, s2, c: c * ((1 + s1) * (1 + s2) - c * c) ** mpf("-1.5")),
    (Max(x, 0), relu_kernel),
    (sign(x), lambda s1, s2, c: 2 / mpmath.pi * mpmath.asin(c / mpmath.sqrt(s1 * s2))),
    ((x**2 - 1) / sqrt(2), lambda s1, s2, c: (2 * c * c + (s1 - 1) * (s2 - 1)) / 2),
]

TRIPLES = [
    (1, 1, Fraction(1, 2)),
    (Fraction(1, 3), 2, Fraction(-2, 5)),
    (1, 1, Fraction(9, 10)),
    (2, Fraction(1, 2), 0),
    (1, 1, 1),
    (3, 3, -3),
]


@pytest.mark.parametrize(("expression", "closed"), CLOSED, ids=name)
def test_closed_forms(expression, closed):
    for triple in TRIPLES:
        enclosure = gaussian_kernel(expression, *triple, digits=25)
        with mpmath.workdps(50):
            s1, s2, c = (mpf(n.numerator) / n.denominator for n in map(Fraction, triple))
            reference = closed(s1, s2, c)
            distance = abs(mpf(str(enclosure.midpoint)) - reference)
            assert enclosure.rigorous
            assert distance <= mpf(str(enclosure.radius)) + mpf("1e-45")
            # 25 digits relative to the value, or 10^-50 where it is zero
            assert mpf(str(enclosure.radius)) <= max(abs(reference) * mpf("1e-25"), mpf("1e-50"))


@pytest.mark.parametrize("expression", [tanh(x), log(1 + exp(x)), Max(-1, Min(1, x)), Abs(x - 1), Heaviside(x) * x**2 - x], ids=str)
def test_two_dimensional_quadrature(expression):
    """A product Riemann sum in numpy: smooth integrands to 1e-12, kinks to about step^2."""
    s1, s2, c = 0.8, 1.3, 0.45
    step = 1 / 64
    z = (np.arange(-8 * 64, 8 * 64) + 0.5) * step
    weight = step * np.exp(-z * z / 2) / np.sqrt(2 * np.pi)
    phi = {
        tanh(x): np.tanh,
        log(1 + exp(x)): lambda u: np.logaddexp(0, u),
        Max(-1, Min(1, x)): lambda u: np.clip(u, -1, 1),
        Abs(x - 1): lambda u: np.abs(u - 1),
        Heaviside(x) * x**2 - x: lambda u: (u > 0) * u**2 - u,
    }[expression]
    u = np.sqrt(s1) * z
    v = c / np.sqrt(s1) * z[:, None] + np.sqrt(s2 - c * c / s1) * z[None, :]
    reference = float(weight @ (phi(u)[:, None] * phi(v)) @ weight)
    enclosure = gaussian_kernel(expression, s1, s2, c, digits=14)
    assert enclosure.rigorous
    assert float(enclosure) == pytest.approx(
        reference, abs=1e-12 if expression.is_Function and not expression.has(Max, Abs) else 3e-4
    )


def test_kernel_on_the_diagonal_is_the_second_moment():
    for phi in (tanh(x), Max(x, 0) - 1, Abs(tanh(x))):
        diagonal = gaussian_kernel(phi, Fraction(7, 5), Fraction(7, 5), Fraction(7, 5), digits=20)
        assert diagonal.overlaps(gaussian_expectation(phi**2, Fraction(7, 5), digits=20))


@pytest.mark.parametrize("c", [Fraction(-9, 10), Fraction(99, 100), Fraction(99999, 100000)])
def test_near_the_diagonal(c):
    """The series converges slowly there, the product rule takes over, and the arcsine law is inside at 30 digits."""
    enclosure = gaussian_kernel(erf(x), 1, 1, c, digits=30)
    with mpmath.workdps(50):
        reference = 2 / mpmath.pi * mpmath.asin(mpf(2 * c.numerator) / (3 * c.denominator))
        assert abs(mpf(str(enclosure.midpoint)) - reference) <= mpf(str(enclosure.radius))
    assert enclosure.rigorous
    assert enclosure.radius < Decimal("1e-30")


@pytest.mark.parametrize("c", [Fraction(1, 2), Fraction(-999, 1000)])
@pytest.mark.parametrize("scale", [1, Fraction(1, 3), 3])
def test_product_rule(scale, c):
    """The arcsine law again, by two dimensions of trapezoidal rule: inside the proved radius, and the radius small."""
    f = sympy.Rational(scale.numerator, scale.denominator) if isinstance(scale, Fraction) else scale
    with precision(130), mpmath.workdps(40):
        ball = plane_mean(erf(f * x), arb(1), arb("1.25"), to_ball(c), 80)
        square = mpf(Fraction(scale).numerator ** 2) / Fraction(scale).denominator ** 2
        correlated = 2 * square * mpf(c.numerator) / c.denominator
        reference = 2 / mpmath.pi * mpmath.asin(correlated / mpmath.sqrt((1 + 2 * square) * (1 + mpf("2.5") * square)))
        assert (ball - arb(mpmath.nstr(reference, 38))).contains(0)
        assert ball.rad() < arb(2) ** -76


def test_product_rule_without_parity_and_with_growth():
    """softplus has no parity and grows: product rule and Mehler's series, two routes, must overlap tightly."""
    phi = log(1 + exp(x))
    with precision(110):
        ball = plane_mean(phi, arb("0.75"), arb("1.5"), arb("0.5"), 70)
        total, rest = mehler(phi, Fraction(3, 4), Fraction(3, 2), Fraction(1, 2), 60, 80)
        assert abs(ball - total) <= rest + arb(2) ** -60
        assert ball.rad() < arb(2) ** -66


@pytest.mark.parametrize("coarse", ["outer", "inner"])
@pytest.mark.parametrize("phi", [erf(2 * x), tanh(x) + x, sin(3 * x)], ids=str)
def test_a_coarse_rule_in_one_direction_errs_within_its_radius(monkeypatch, phi, coarse):
    """One of the two grids is far too wide: the error is real, far above rounding, and its own bound must cover it."""
    with precision(100):
        fine = plane_mean(phi, arb(1), arb(1), arb("0.5"), 60)

        def grid(expression, variance, bits, power=1):
            chosen = choose_grid(expression, variance, bits, power=power)
            if (power == 2) != (coarse == "outer"):
                return chosen
            return Grid(chosen.v, 4 * chosen.step, chosen.count // 4 + 1)

        monkeypatch.setattr(kernel, "choose_grid", grid)
        wide = plane_mean(phi, arb(1), arb(1), arb("0.5"), 60)
        assert wide.overlaps(fine)
        assert abs(arb(wide.mid()) - fine) > arb(2) ** -50


def test_what_has_no_polynomial_majorant_is_refused_by_the_product_rule():
    for phi in (exp(x / 2), Abs(x), tanh(x**3)):
        with precision(100), pytest.raises(NoBound):
            plane_mean(phi, arb(1), arb(1), arb("0.5"), 60)


def test_the_rest_of_the_series_is_needed():
    """The bound on what is cut is not vacuous: at order 5 the cut part is far above rounding and below the bound."""
    total, rest = mehler(erf(2 * x), 1, 1, Fraction(4, 5), 5, 80)
    with mpmath.workdps(30):
        reference = float(2 / mpmath.pi * mpmath.asin(8 * mpf("0.8") / 9))
    found = abs(float(total) - reference)
    assert 1e-3 < found < float(rest) < 20 * found


def test_zero_variance_and_enclosures():
    assert gaussian_kernel(x + 2, 0, 3, 0, digits=10).midpoint == 4
    wide = Enclosure(Decimal("0.5"), Decimal("1e-6"))
    enclosure = gaussian_kernel(sin(x), 1, 1, wide, digits=20)
    with mpmath.workdps(30):
        for c in ("0.499999", "0.5", "0.500001"):
            assert abs(mpf(str(enclosure.midpoint)) - mpmath.exp(-1) * mpmath.sinh(mpf(c))) <= mpf(str(enclosure.radius))
    assert enclosure.radius > Decimal("1e-7")


def test_independence_and_symmetry():
    assert gaussian_kernel(tanh(x), 1, 2, 0).midpoint == 0
    forward = gaussian_kernel(tanh(x), 1, 2, Fraction(3, 5), digits=20)
    backward = gaussian_kernel(tanh(x), 2, 1, Fraction(3, 5), digits=20)
    assert forward.overlaps(backward)
    negative = gaussian_kernel(tanh(x), 1, 2, Fraction(-3, 5), digits=20)
    assert abs(forward.midpoint + negative.midpoint) <= forward.radius + negative.radius


@pytest.mark.parametrize(
    ("s1", "s2", "c", "message"),
    [
        (1, 1, Fraction(101, 100), r"\|c\| must be at most sqrt\(s1 s2\), got s1 = 1, s2 = 1, c = 101/100"),
        (1, 4, -2.5, r"\|c\| must be at most"),
        (0, 1, Fraction(1, 10), r"\|c\| must be at most"),
        (-1, 1, 0, "variance must be >= 0"),
        (1, 1, float("nan"), "finite real numbers"),
        ("1", 1, 0, "finite real numbers"),
        (Enclosure(Decimal("1e-9"), Decimal("1e-9")), 1, 0, "variance must be >= 0"),
    ],
)
def test_impossible_covariances(s1, s2, c, message):
    with pytest.raises(ExactError, match=message):
        gaussian_kernel(tanh(x), s1, s2, c)


def test_unproved_kernel_says_so():
    """E log|u| log|v| has an integrable singularity: no proof, but the two rules bracket the known value within their gap.

    For u = v at c = 1 it would be E log^2|Z|; at c = 1/2 the value is between (E log|Z|)^2 = 0.40345 and E log^2|Z| = 1.6372.
    """
    enclosure = gaussian_kernel(log(Abs(x)), 1, 1, Fraction(1, 2), digits=6)
    assert not enclosure.rigorous
    assert 0.40 < float(enclosure) < 1.64


def test_twin_kernels_are_disjoint():
    """arccos instead of arcsine, or c in place of the correlation, must be told apart."""
    enclosure = gaussian_kernel(erf(x / sqrt(2)), 2, 3, 1, digits=20)
    with mpmath.workdps(30):
        right = 2 / mpmath.pi * mpmath.asin(1 / mpmath.sqrt(12))
        wrong = 2 / mpmath.pi * mpmath.asin(1 / mpmath.sqrt(6))
        assert abs(mpf(str(enclosure.midpoint)) - right) <= mpf(str(enclosure.radius))
        assert abs(mpf(str(enclosure.midpoint)) - wrong) > 1e6 * mpf(str(enclosure.radius))
