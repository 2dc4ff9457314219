"""Gaussian expectations against closed forms and independent mpmath quadratures, and what happens when a bound is wrong."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction
from typing import Any

import mpmath
import pytest
import sympy
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mpf
from sympy import Abs, Heaviside, Max, Min, Rational, asinh, atan, cosh, erf, exp, log, sech, sign, sin, sqrt, tanh

from theoryck.numerics.balls import from_ball, precision, to_ball
from theoryck.numerics.errors import ExactError, NotIntegrable
from theoryck.numerics.proved import gaussian, trapezoid
from theoryck.numerics.proved.gaussian import INTEGRAL, TRAPEZOID, gaussian_expectation, mean
from theoryck.numerics.proved.integral import integral_mean
from theoryck.numerics.proved.strips import NoBound
from theoryck.records import Enclosure

x = sympy.Symbol("x", real=True)


def error(enclosure: Enclosure, reference: mpmath.mpf) -> mpmath.mpf:
    return abs(mpf(str(enclosure.midpoint)) - reference)


def assert_contains(enclosure: Enclosure, reference: mpmath.mpf, reference_error: float = 0.0) -> None:
    assert error(enclosure, reference) <= mpf(str(enclosure.radius)) + reference_error


def assert_digits(enclosure: Enclosure, digits: int) -> None:
    assert enclosure.rigorous
    assert mpf(str(enclosure.radius)) <= abs(mpf(str(enclosure.midpoint))) * mpf(10) ** -digits


def _mpf(number: Any) -> mpmath.mpf:
    return mpf(number.numerator) / number.denominator if isinstance(number, Fraction) else mpf(number)


def quad(function: Callable[[mpmath.mpf], mpmath.mpf], variance: object, kinks: tuple[float, ...] = ()) -> mpmath.mpf:
    """E f(sqrt(s) Z) by mpmath at 55 digits; beyond |z| = 17 the weight is below 1e-63."""
    root = mpmath.sqrt(variance)
    edges = sorted({mpf(-17), mpf(-6), mpf(-2), mpf(0), mpf(2), mpf(6), mpf(17), *(_mpf(k) / root for k in kinks)})
    return mpmath.quad(lambda z: function(root * z) * mpmath.npdf(z), edges, maxdegree=9)


NAMES: Any = {"ids": lambda item: str(item) if isinstance(item, sympy.Expr) else ""}
SMOOTH = [
    (tanh(x) ** 2, lambda u: mpmath.tanh(u) ** 2, 1, TRAPEZOID),
    (sech(x) ** 2, lambda u: mpmath.sech(u) ** 2, Fraction(1, 3), TRAPEZOID),
    (tanh(2 * x - 1) ** 3, lambda u: mpmath.tanh(2 * u - 1) ** 3, Fraction(1, 2), TRAPEZOID),
    (erf(x) ** 2, lambda u: mpmath.erf(u) ** 2, 2, TRAPEZOID),
    (asinh(x) ** 2, lambda u: mpmath.asinh(u) ** 2, 1, TRAPEZOID),
    (atan(x) ** 2, lambda u: mpmath.atan(u) ** 2, Fraction(7, 5), TRAPEZOID),
    (log(1 + exp(x)), lambda u: mpmath.log1p(mpmath.exp(u)), 1, TRAPEZOID),
    (1 / (1 + exp(-x)) ** 2, lambda u: 1 / (1 + mpmath.exp(-u)) ** 2, Fraction(1, 2), TRAPEZOID),
    (tanh(sin(x)) * x, lambda u: mpmath.tanh(mpmath.sin(u)) * u, 1, TRAPEZOID),
    (tanh(tanh(x) + x / 2) ** 2, lambda u: mpmath.tanh(mpmath.tanh(u) + u / 2) ** 2, 1, TRAPEZOID),
    (x**2 / sqrt(1 + x**2), lambda u: u**2 / mpmath.sqrt(1 + u**2), 1, TRAPEZOID),
    (exp(sin(x)), lambda u: mpmath.exp(mpmath.sin(u)), 1, TRAPEZOID),
    ((tanh(x) + erf(x) / 3 + x / 7) ** 2, lambda u: (mpmath.tanh(u) + mpmath.erf(u) / 3 + u / 7) ** 2, 1, TRAPEZOID),
    (x * tanh(x**3), lambda u: u * mpmath.tanh(u**3), Fraction(1, 2), INTEGRAL),
    (tanh(x * erf(x)), lambda u: mpmath.tanh(u * mpmath.erf(u)), 1, INTEGRAL),
    (asinh(x**3 + x) ** 2, lambda u: mpmath.asinh(u**3 + u) ** 2, Fraction(1, 2), INTEGRAL),
]


@pytest.mark.parametrize(("expression", "function", "variance", "how"), SMOOTH, **NAMES)
def test_smooth_expressions_contain_mpmath(expression, function, variance, how):
    with precision(200):
        assert mean(expression, to_ball(variance), 130).how == how
    enclosure = gaussian_expectation(expression, variance, digits=40)
    assert_digits(enclosure, 40)
    with mpmath.workdps(55):
        s = mpf(variance.numerator) / variance.denominator
        # integrands with poles near the axis leave mpmath itself an error, far below the radius asked for here
        assert_contains(enclosure, quad(function, s), reference_error=1e-46)


KINKED = [
    (Abs(x - 1), lambda u: abs(u - 1), (1,)),
    (Abs(tanh(x)), lambda u: abs(mpmath.tanh(u)), (0,)),
    (Max(x, 0) * exp(-x), lambda u: max(u, 0) * mpmath.exp(-u), (0,)),
    (Max(sin(x), 2 * sin(x)) - Heaviside(x - Rational(1, 3)) * x, None, ()),
    (Heaviside(x - Rational(1, 3)) * erf(x), lambda u: mpmath.erf(u) * (u > mpf(1) / 3), (Fraction(1, 3),)),
    (Abs(x**2 - 2) * tanh(x) ** 2, lambda u: abs(u**2 - 2) * mpmath.tanh(u) ** 2, ("sqrt2",)),
    (x / (1 + Abs(x)) * x, lambda u: u * u / (1 + abs(u)), (0,)),
    (Max(0, exp(x) - 2), lambda u: max(0, mpmath.exp(u) - 2), ("log2",)),
]


@pytest.mark.parametrize(("expression", "function", "kinks"), KINKED, **NAMES)
def test_kinked_expressions_contain_mpmath(expression, function, kinks):
    if function is None:
        # sin has infinitely many zeros: nothing is proved, and it is said so
        assert not gaussian_expectation(expression, 1, digits=10).rigorous
        return
    enclosure = gaussian_expectation(expression, 1, digits=30)
    assert_digits(enclosure, 30)
    with mpmath.workdps(55):
        named = {"sqrt2": [-mpmath.sqrt(2), mpmath.sqrt(2)], "log2": [mpmath.log(2)]}
        places = [
            p for k in kinks for p in (named[k] if isinstance(k, str) else [mpf(Fraction(k).numerator) / Fraction(k).denominator])
        ]
        assert_contains(enclosure, quad(function, 1, tuple(places)), reference_error=1e-40)


def test_closed_forms():
    """MATH A: erf, sin, x exp(-x^2/2), relu and its relatives, at 60 digits."""
    with mpmath.workdps(80):
        s = mpf(3) / 7
        cases = [
            (erf(x) ** 2, 2 / mpmath.pi * mpmath.asin(2 * s / (1 + 2 * s))),
            (erf(x / sqrt(2)) ** 2, 2 / mpmath.pi * mpmath.asin(s / (1 + s))),
            (sin(x) ** 2, (1 - mpmath.exp(-2 * s)) / 2),
            (x**2 * exp(-(x**2)), s * (1 + 2 * s) ** mpf("-1.5")),
            (Max(x, 0), mpmath.sqrt(s / (2 * mpmath.pi))),
            (Max(x, 0) ** 2, s / 2),
            (Abs(x) ** 3, mpmath.sqrt(8 / mpmath.pi) * s ** mpf("1.5")),
            (cosh(x), mpmath.exp(s / 2)),
            (exp(x**2 / 4), 1 / mpmath.sqrt(1 - s / 2)),
            (sign(x) * x, mpmath.sqrt(2 * s / mpmath.pi)),
            (exp(x) * Heaviside(x), mpmath.exp(s / 2) * mpmath.ncdf(mpmath.sqrt(s))),
        ]
        for expression, reference in cases:
            enclosure = gaussian_expectation(expression, Fraction(3, 7), digits=60)
            assert_digits(enclosure, 60)
            assert_contains(enclosure, reference, reference_error=1e-75)


@pytest.mark.parametrize("variance", [Fraction(1, 10**6), Fraction(1, 100), 25, 10**4])
def test_tiny_and_huge_variances(variance):
    with mpmath.workdps(60):
        s = mpf(variance.numerator) / variance.denominator if isinstance(variance, Fraction) else mpf(variance)
        for b in (1, 2):
            enclosure = gaussian_expectation(erf(b * x) ** 2, variance, digits=50)
            assert_digits(enclosure, 50)
            assert_contains(enclosure, 2 / mpmath.pi * mpmath.asin(2 * b**2 * s / (1 + 2 * b**2 * s)), reference_error=1e-56)
    # tanh' = 1 - tanh^2: two independent sums must agree
    square = gaussian_expectation(tanh(x) ** 2, variance, digits=25)
    slope = gaussian_expectation(sech(x) ** 2, variance, digits=25)
    assert abs(square.midpoint + slope.midpoint - 1) <= square.radius + slope.radius


def test_stein():
    """E[x phi(x)] = s E phi'(x), with phi' integrated on its own, kinks included."""
    for phi in (tanh(x), atan(2 * x), Max(x, 0), Abs(x - 1), x / (1 + Abs(x)), Max(-1, Min(1, x))):
        left = gaussian_expectation(x * phi, Fraction(3, 2), digits=25)
        right = gaussian_expectation(sympy.diff(phi, x), Fraction(3, 2), digits=25)
        assert left.rigorous
        assert right.rigorous
        assert abs(left.midpoint - Decimal("1.5") * right.midpoint) <= left.radius + 2 * right.radius + Decimal("1e-27")


def test_exact_values_are_exact():
    assert gaussian_expectation(tanh(x), 2).exact
    assert gaussian_expectation(x**4, 2).to_json() == {"value": "12", "radius": "0", "rigorous": True}
    assert gaussian_expectation(Heaviside(x), 4).midpoint == Decimal("0.5")
    assert gaussian_expectation(erf(x) + 2, 0).midpoint == 2
    assert gaussian_expectation(sympy.Integer(3), 5).midpoint == 3


def test_a_value_that_is_zero_without_symmetry_is_known_absolutely():
    enclosure = gaussian_expectation(cosh(x) - sympy.exp(Rational(1, 2)), 1, digits=20)
    assert enclosure.rigorous
    assert abs(enclosure.midpoint) + enclosure.radius < Decimal("1e-20")


def test_the_variance_may_be_a_ball():
    """Every variance in the ball is covered, and the radius says that no more can be known."""
    wide = gaussian_expectation(erf(x) ** 2, Enclosure(Decimal("0.5"), Decimal("0.01")), digits=20)
    with mpmath.workdps(30):
        for s in (mpf("0.49"), mpf("0.5"), mpf("0.51")):
            assert_contains(wide, 2 / mpmath.pi * mpmath.asin(2 * s / (1 + 2 * s)))
    assert wide.radius > Decimal("0.003")
    assert wide.radius < Decimal("1")


def test_where_nothing_is_proved_it_says_so():
    """E log|Z| = -(gamma + log 2)/2; the majorant fails at 0, so two quadratures must do."""
    enclosure = gaussian_expectation(log(Abs(x)), 1, digits=8)
    assert not enclosure.rigorous
    assert error(enclosure, -(mpmath.euler + mpmath.log(2)) / 2) <= mpf(str(enclosure.radius)) * 2


@pytest.mark.parametrize(
    ("expression", "variance"), [(exp(x**2), 1), (exp(x**2), Rational(1, 2)), (exp(x**4), 1), (1 / x**2, 1), (sqrt(x), 1)]
)
def test_infinite_or_unreal_expectations_are_refused(expression, variance):
    with pytest.raises((NotIntegrable, ExactError)):
        gaussian_expectation(expression, variance, digits=10)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((tanh(x), -1), "variance must be >= 0"),
        ((tanh(x), float("nan")), "finite real number"),
        ((tanh(x), 1, 0), "digits must be"),
        ((sympy.Symbol("y"), 1), "unknown symbol y"),
        ((sympy.gamma(x), 1), "gamma is not a function"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ExactError, match=message):
        gaussian_expectation(*arguments)


def test_text_and_activations_are_accepted():
    from theoryck.numerics.functions.activation import Activation

    expected = gaussian_expectation(atan(x) ** 2, 1, digits=20)
    assert gaussian_expectation("atan(x)**2", 1, digits=20) == expected
    assert gaussian_expectation(Activation("atan(x)**2"), 1, digits=20) == expected


def test_threads_get_what_one_thread_gets():
    """Different digits at the same time: python-flint's and mpmath's precisions are global, and guarded."""
    jobs = [(tanh(x) ** 2, 20), (Abs(tanh(x)), 35), (erf(x) ** 2, 60), (Max(x, 0) * exp(-x), 15)]
    alone = [gaussian_expectation(expression, 1, digits) for expression, digits in jobs]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda job: gaussian_expectation(job[0], 1, job[1]), jobs * 5))
    assert together == alone * 5


SMALL = st.sampled_from([x, 2 * x, x - 1, x / 2 + Rational(1, 3)])
ONE_ARGUMENT = st.sampled_from(
    [
        sin,
        tanh,
        atan,
        asinh,
        erf,
        sech,
        lambda e: exp(-(e**2) / 2),
        lambda e: sqrt(1 + e**2),
        lambda e: log(2 + e**2),
        lambda e: 1 / (1 + exp(-e)),
        lambda e: (1 + e**2) ** Rational(-3, 4),
    ]
)
TREES = st.recursive(
    SMALL,
    lambda inner: st.one_of(
        st.builds(lambda f, e: f(e), ONE_ARGUMENT, inner),
        st.builds(lambda a, b: a * b, inner, inner),
        st.builds(lambda a, b: a - b / 2, inner, inner),
    ),
    max_leaves=4,
)


@settings(max_examples=40)
@given(expression=TREES, variance=st.sampled_from([Fraction(1, 100), Fraction(1, 2), Fraction(1)]))
def test_two_proved_routes_overlap_on_expressions_never_seen(expression, variance):
    """The trapezoidal rule and the adaptive integrator share no bound but the majorant on the real line."""
    with precision(120):
        s = to_ball(variance)
        try:
            rule = gaussian.trapezoid_means((expression,), s, 60)[0]
            other = integral_mean(expression, s, 60)
        except NoBound:
            return
        assert rule.overlaps(other)
        assert rule.rad() < arb(2) ** -50 * (1 + abs(other))


# --- teeth: the tests above would notice a wrong bound -----------------------------------------------------------------------


def _error_and_radius(expression: sympy.Expr, step: float, y: float) -> tuple[float, float]:
    """Actual error of the rule with a coarse step, and its proved radius."""
    with precision(120):
        s = arb(1)
        grid = trapezoid.Grid(v=arb(y), step=arb(step), count=math.ceil(14 / step))
        radius = gaussian.trapezoid_error(expression, s, grid)
        total = gaussian._sums((expression,), s, grid, 100)[0]
        reference = to_ball(gaussian_expectation(expression, 1, digits=30))
        return float(abs(total - reference).lower()), float(radius)


@pytest.mark.parametrize(
    "expression", [tanh(x) ** 2, erf(x) ** 2, sech(x), 1 / (1 + x**2), atan(x) ** 2, exp(sin(x)), sin(x) ** 2], ids=str
)
@pytest.mark.parametrize("step", [0.5, 0.75, 1.0])
def test_coarse_rules_err_within_their_radius(expression, step):
    """At these steps the error is far above rounding, so that a missing factor in the bound would show."""
    for y in (0.5, 0.9):
        found, radius = _error_and_radius(expression, step, y)
        assert found <= radius


def test_an_enclosure_does_not_depend_on_what_was_asked_before():
    """Workers are asked in an order that differs from run to run."""

    def last_of(*variances):
        trapezoid._best_strip.cache_clear()
        return [gaussian_expectation(tanh(x) ** 2, variance, digits=30) for variance in variances][-1]

    assert last_of(Fraction(104, 100)) == last_of(Fraction(97, 100), 1, Fraction(104, 100))


def test_a_wrong_strip_bound_is_caught(monkeypatch):
    """With a majorant that ignores the poles (M as on the real line, strip twice too wide) the truth leaves the ball."""
    reference = gaussian_expectation(tanh(x) ** 2, 1, digits=40)
    true_bound = gaussian.strip_size
    trapezoid._best_strip.cache_clear()
    monkeypatch.setattr(gaussian, "strip_size", lambda expression, v, numbers=None: true_bound(expression, arb(0)))
    monkeypatch.setattr(trapezoid, "strip_size", lambda expression, v, numbers=None: true_bound(expression, 0.0, trapezoid.FLOATS))
    with precision(160):
        wrong = from_ball(gaussian.trapezoid_means((tanh(x) ** 2,), arb(1), 100)[0], 30)
    trapezoid._best_strip.cache_clear()
    assert not wrong.overlaps(reference)


def test_a_forgotten_tail_is_caught():
    """Cutting the sum at 2 standard deviations: the error is real and the tail bound covers it."""
    with precision(120):
        grid = trapezoid.Grid(v=arb("1.2"), step=arb("0.125"), count=16)
        total = gaussian._sums((tanh(x) ** 2,), arb(1), grid, 100)[0]
        reference = to_ball(gaussian_expectation(tanh(x) ** 2, 1, digits=30))
        assert abs(total - reference) > arb("0.01")
        assert abs(total - reference) < gaussian.trapezoid_error(tanh(x) ** 2, arb(1), grid)


def test_a_forgotten_branch_cut_would_give_a_wrong_integral():
    """The integrator trusts the analytic flag: without it, sqrt(1 + z^2) beyond its cuts is wrong, with it the radius is right."""
    with precision(100):
        good = mean(sqrt(1 + x**2) * Abs(x), arb(1), 70)
    with mpmath.workdps(40):
        reference = quad(lambda u: mpmath.sqrt(1 + u**2) * abs(u), 1)
        assert good.how == INTEGRAL
        assert_contains(from_ball(good.ball, 20), reference, reference_error=1e-30)


def test_a_node_where_terms_are_too_wide_is_left_to_the_integrator() -> None:
    """E log(1 + e^(5 x))^3: no finite ball by the trapezoidal rule, which was taken for an infinite mean."""
    value = gaussian_expectation(log(1 + exp(5 * x)) ** 3, 1, 20)
    reference = quad(lambda u: mpmath.log1p(mpmath.exp(5 * u)) ** 3, 1)
    assert_contains(value, reference, 1e-25)
    assert_digits(value, 20)
