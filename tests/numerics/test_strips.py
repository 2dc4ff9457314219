"""Strip majorants against the functions themselves, evaluated in mpmath on the strip."""

from __future__ import annotations

import mpmath
import pytest
import sympy
from sympy import Abs, Heaviside, Max, Min, Rational, asinh, atan, cos, cosh, erf, erfc, exp, log, sech, sign, sin, sinh, sqrt, tanh

from theoryck.numerics.balls import precision
from theoryck.numerics.functions.trees import tree_of
from theoryck.numerics.proved.strips import BALLS, FLOATS, Majorant, NoBound, Strip, line_size, quadratic, strip_size

x = sympy.Symbol("x", real=True)

SMOOTH = [
    x,
    x**3 - 3 * x + 1,
    tanh(x),
    tanh(2 * x - 1) ** 3,
    erf(x / sqrt(2)),
    erfc(x) * x,
    sin(3 * x) * cos(x),
    sinh(x),
    cosh(x) - 2,
    sech(x),
    1 / cosh(x) ** 2,
    exp(x / 2) + exp(-x),
    x * exp(-(x**2) / 2),
    exp(-(x**4)),
    exp(-(x**2) + x),
    exp(x**2 / 8),
    atan(x) ** 2,
    asinh(x) * x,
    log(1 + x**2),
    log(1 + exp(x)),
    log(3 + sin(x)),
    sqrt(1 + x**2),
    x / sqrt(1 + x**2),
    (1 + x**2) ** Rational(-2, 3),
    (2 + x**2) ** Rational(5, 3),
    (1 + x**4) ** Rational(1, 4),
    1 / (1 + exp(-x)),
    1 / (-3 - x**2),
    1 / (2 + sin(x)),
    tanh(sin(x)),
    tanh(tanh(x) + x / 2),
    erf(tanh(x)),
    atan(sin(x) / 2),
    sin(atan(x)) * exp(sin(x)),
    2 ** sin(x),
    (2 + cos(x)) ** sympy.pi,
    sqrt(2 + tanh(x)),
    tanh(1 / (1 + exp(x))),
    asinh(erf(x)),
]


def _on_strip(expression: sympy.Expr, z: mpmath.mpc) -> mpmath.mpc:
    """Evaluate by sympy's own route to mpmath: no code shared with the trees."""
    value = expression.subs(sympy.Symbol("x", real=True), sympy.Symbol("z"))
    point = sympy.Float(str(z.real), 25) + sympy.I * sympy.Float(str(z.imag), 25)
    return mpmath.mpmathify(value.subs(sympy.Symbol("z"), point).evalf(15))


def _majorant(majorant: Majorant, t: float) -> float:
    total = sum(float(a) * t**j for j, a in enumerate(majorant.coefficients))
    return total * float(mpmath.exp(float(majorant.rate) * t + float(majorant.square) * t * t))


@pytest.mark.parametrize("expression", SMOOTH, ids=str)
def test_the_majorant_and_the_box_hold_on_the_strip(expression):
    for v in (0.2, 0.65):
        with precision(64):
            try:
                tree = tree_of((expression,))
                reach = Strip(BALLS, v).reaches(tree)[tree.outputs[0]]
            except NoBound:
                assert v > 0.5, "every expression of the list is analytic on the narrow strip"
                continue
        for real in (-6.3, -1.4, 0.0, 0.3, 0.9, 5.0):
            for part in (-1.0, 0.0, 0.8, 1.0):
                value = _on_strip(expression, mpmath.mpc(real, part * v))
                # 1e-9 allows for the 15 digits of evalf where a bound is attained
                assert abs(value) <= _majorant(reach.size, abs(real)) * (1 + 1e-9)
                assert reach.low is None or value.real >= float(reach.low) - 1e-9
                assert reach.high is None or value.real <= float(reach.high) + 1e-9
                assert reach.im is None or abs(value.imag) <= float(reach.im) + 1e-9


@pytest.mark.parametrize("expression", SMOOTH, ids=str)
def test_floats_and_balls_agree(expression):
    with precision(64):
        balls = strip_size(expression, 0.2)
    floats = strip_size(expression, 0.2, FLOATS)
    assert len(balls.coefficients) == len(floats.coefficients)
    for exact, near in zip(balls.coefficients, floats.coefficients):
        assert float(exact) == pytest.approx(float(near), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(
    ("expression", "v"),
    [
        (tanh(x), 1.58),
        (tanh(2 * x), 0.79),
        (sech(x), 1.6),
        (atan(x), 1.0),
        (asinh(x), 1.01),
        (sqrt(1 + x**2), 1.0),
        (1 / (1 + x**2), 1.0),
        (log(1 + x**2), 1.1),
        (1 / (1 + exp(x)), 3.2),
        (log(1 + exp(x)), 3.2),
        (1 / x, 0.1),
        (sqrt(x), 0.1),
        (log(x), 0.1),
        (Abs(x), 0.1),
        (Max(x, 0), 0.1),
        (tanh(x**3), 0.1),
        (erf(x**2 * sin(x)), 0.1),
        (exp(x**3), 0.1),
        (1 / sin(x), 0.1),
        (x ** Rational(1, 3), 0.1),
    ],
    ids=str,
)
def test_no_bound_across_a_singularity(expression, v):
    """A pole, a branch point or unbounded growth inside the strip must be noticed."""
    with precision(64), pytest.raises(NoBound):
        strip_size(expression, v)


@pytest.mark.parametrize(
    "expression",
    [
        Abs(x),
        Max(x, 0, x / 2 - 1),
        Min(x, x**2),
        Heaviside(x) * x**2 + sign(x),
        Abs(sin(x)) * log(1 + Abs(x)),
        sqrt(Abs(x)) * x,
        tanh(x**3),
        exp(-Abs(x)),
        exp(Min(x, 0)),
    ],
    ids=str,
)
def test_majorants_on_the_line_allow_kinks(expression):
    with precision(64):
        majorant = line_size(expression)
    for real in (-7.5, -1.0, -0.1, 0.0, 0.4, 1.3, 6.0):
        assert abs(float(expression.subs(x, real))) <= _majorant(majorant, abs(real)) * (1 + 1e-12)


def test_half_lines():
    with precision(64):
        majorant = line_size(log(x), BALLS.number(1), None)
        assert _majorant(majorant, 5.0) >= 1.609
        with pytest.raises(NoBound):
            line_size(log(x))
        assert line_size(exp(x), None, BALLS.number(-3)).bounded


def test_quadratics_are_sharp():
    """x^2 on |Im z| <= v has real part >= -v^2, and 1 + x^2 stays away from 0 up to v = 1 exactly."""
    assert quadratic(x**2 / 2 - x) is not None
    assert quadratic(x**3) is None
    with precision(64):
        tree = tree_of((1 + x**2,))
        low = Strip(BALLS, 0.75).reaches(tree)[tree.outputs[0]].low
    assert float(low) == pytest.approx(1 - 0.75**2, abs=1e-12)


def test_growth_arithmetic():
    left, right = Majorant((1, 2), 1, 0), Majorant((3,), 0, 2)
    assert (left * right) == Majorant((3, 6), 1, 2)
    assert left.plus(right, FLOATS) == Majorant((4, 2), 1, 2)
    assert left.either(right, FLOATS) == Majorant((3, 2), 1, 2)
    assert left.power(2) == Majorant((1, 4, 4), 2, 0)
    assert Majorant((5,)).bounded
    assert not right.bounded
