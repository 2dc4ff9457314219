"""Hermite tables against mpmath quadrature, closed forms and Parseval."""

from __future__ import annotations

import math
from fractions import Fraction

import flint
import mpmath
import pytest
import sympy
from flint import arb
from mpmath import mpf
from sympy import Abs, Max, atan, erf, exp, log, sin, sqrt, tanh

from theoryck.numerics.balls import precision, to_ball
from theoryck.numerics.errors import ExactError, NotConverged
from theoryck.numerics.proved.hermite import _agreed_table, expression_of, hermite_table, shifted_norms

x = sympy.Symbol("x", real=True)


def name(item: object) -> str:
    return str(item) if isinstance(item, sympy.Expr) else ""


def hermite(m: int, z: mpmath.mpf) -> mpmath.mpf:
    return mpmath.hermite(m, z / mpmath.sqrt(2)) / mpmath.sqrt(2) ** m


def quad(function, variance, j, m, kinks=()):
    root = mpmath.sqrt(mpf(variance.numerator) / variance.denominator)
    edges = sorted({mpf(-16), mpf(-5), mpf(0), mpf(5), mpf(16), *(mpf(k) / root for k in kinks)})
    return mpmath.quad(lambda z: function(root * z) ** j * hermite(m, z) * mpmath.npdf(z), edges, maxdegree=6)


CASES = [
    (tanh(x), mpmath.tanh, (), 5),
    (erf(x / sqrt(2)), lambda u: mpmath.erf(u / mpmath.sqrt(2)), (), 5),
    (log(1 + exp(x)), lambda u: mpmath.log1p(mpmath.exp(u)), (), 3),
    ((x**2 - 1) / sqrt(2), lambda u: (u**2 - 1) / mpmath.sqrt(2), (), 3),
    (Max(x, 0), lambda u: max(u, 0), (0,), 3),
    (Abs(x - 1), lambda u: abs(u - 1), (1,), 2),
    (Abs(tanh(x)), lambda u: abs(mpmath.tanh(u)), (0,), 2),
    (tanh(x**3), lambda u: mpmath.tanh(u**3), (), 1),
]


@pytest.mark.parametrize(
    ("expression", "function", "kinks", "powers"), CASES, ids=lambda item: str(item) if isinstance(item, sympy.Expr) else ""
)
def test_entries_contain_mpmath(expression, function, kinks, powers):
    variance = Fraction(3, 4)
    table = hermite_table(expression, variance, powers, 7, 100)
    assert len(table) == powers + 1
    assert all(len(row) == 8 for row in table)
    with mpmath.workdps(36), precision(140):
        for j, m in [(0, 3), (1, 4), (powers, 6)]:
            entry = table[j][m]
            reference = arb(mpmath.nstr(quad(function, variance, j, m, kinks), 34))
            # at its sixth level the reference is good to about 1e-28; the table promises 2^-100 sqrt(m!), about 1e-30 sqrt(m!)
            assert (entry + arb(0, "1e-27")).overlaps(reference)
            assert entry.rad() <= arb(2) ** -98 * (1 + abs(table[j][0])) * arb(math.factorial(m)).sqrt()


def test_zeroth_power_and_parity():
    table = hermite_table(atan(x), Fraction(1, 2), 2, 4, 80)
    assert [entry == int(m == 0) for m, entry in enumerate(table[0])] == [True] * 5
    assert [table[1][m].is_zero() for m in range(5)] == [True, False, True, False, True]
    assert [table[2][m].is_zero() for m in range(5)] == [False, True, False, True, False]


def test_closed_form_of_sine():
    """E[sin(sqrt(s) Z) He_m(Z)] = +-s^(m/2) exp(-s/2) for odd m: far up the table, where cancellation is worst."""
    s = Fraction(2)
    table = hermite_table(sin(x), s, 1, 61, 120)
    with mpmath.workdps(60), precision(300):
        for m in range(1, 62, 2):
            reference = (-1) ** (m // 2) * mpmath.mpf(2) ** (mpf(m) / 2) * mpmath.exp(-1)
            entry = table[1][m]
            assert (entry + arb(0, "1e-40")).overlaps(arb(mpmath.nstr(reference, 55)))
            assert entry.rad() <= arb(2) ** -118 * arb(math.factorial(m)).sqrt()


def test_closed_form_of_relu():
    """E[relu(Z) He_m(Z)] = He_{m-2}(0) / sqrt(2 pi) for even m >= 2, and 0 for odd m >= 3."""
    table = hermite_table(Max(x, 0), 1, 1, 40, 150)
    with precision(200):
        density = 1 / (2 * arb.pi()).sqrt()
        at_zero = [arb(1), arb(0)]
        for m in range(1, 40):
            at_zero.append(-m * at_zero[m - 1])
        for m in range(2, 41):
            assert (table[1][m] - at_zero[m - 2] * density).contains(0)
            assert table[1][m].rad() <= arb(2) ** -150 * arb(math.factorial(m)).sqrt()
        assert table[1][1].contains(arb("0.5"))


@pytest.mark.parametrize("expression", [tanh(x), erf(2 * x), x * exp(-(x**2) / 2), log(1 + exp(x)), Max(x, 0)], ids=str)
def test_bessel(expression):
    """sum a_m^2/m! increases to E phi^2: below it for every order, and close to it for smooth functions."""
    table = hermite_table(expression, 1, 2, 60, 120)
    with precision(160):
        partial = sum((a * a / math.factorial(m) for m, a in enumerate(table[1])), arb(0))
        rest = table[2][0] - partial
        assert rest > -(arb(2) ** -100)
        assert rest < arb("0.03")


def test_inexact_variance_is_covered():
    with precision(100):
        wide = arb("0.5", "0.001")
    table = hermite_table(tanh(x), wide, 2, 3, 80)
    for s in (Fraction(4991, 10000), Fraction(1, 2), Fraction(5009, 10000)):
        sharp = hermite_table(tanh(x), s, 2, 3, 80)
        for j in range(3):
            for m in range(4):
                assert table[j][m].overlaps(sharp[j][m])
    assert table[2][0].rad() < 0.01


def test_zero_variance_is_evaluation():
    table = hermite_table(x + 3, 0, 2, 2, 60)
    assert [float(entry.mid()) for entry in table[2]] == [9.0, 0.0, 0.0]


def test_the_precision_is_left_alone():
    before = flint.ctx.prec
    hermite_table(tanh(x), 1, 2, 2, 200)
    assert flint.ctx.prec == before


def test_shifted_norms_against_the_sum():
    """E |He_m(Z + iy)|^2 = sum_i C(m, i)^2 i! y^(2(m-i)), in exact integers."""
    with precision(80):
        for y in (1, 6):
            for m, norm in enumerate(shifted_norms(arb(y), 130)):
                direct = sum(math.comb(m, i) ** 2 * math.factorial(i) * y ** (2 * (m - i)) for i in range(m + 1))
                assert (norm * norm - direct).contains(0)
                assert norm.rel_accuracy_bits() > 60


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((tanh(x), -1, 1, 1, 50), "variance must be"),
        ((tanh(x), 1, -1, 1, 50), "powers and orders must be >= 0"),
        ((tanh(x), 1, 1, 1, 0), "prec >= 1"),
        ((log(Abs(x)), 1, 1, 1, 50), "cannot be proved"),
        ((Abs(sin(x)), 1, 1, 1, 50), "zeros of sin"),
    ],
)
def test_bad_input_and_what_cannot_be_proved(arguments, message):
    with pytest.raises(ExactError, match=message):
        hermite_table(*arguments)


def test_a_table_of_another_variance_is_disjoint():
    """The twin: coefficients at s = 1 instead of s must not overlap."""
    right = hermite_table(tanh(x), Fraction(2, 5), 2, 3, 60)
    wrong = hermite_table(tanh(x), 1, 2, 3, 60)
    with precision(60):
        assert not right[1][1].overlaps(wrong[1][1])
        assert not right[2][0].overlaps(to_ball(Fraction(2, 5)) * wrong[2][0])


@pytest.mark.parametrize("text", ["tanh(x)", "x/sqrt(1+x**2)", "erf(x + 1/2)"])
def test_two_steps_that_agree_overlap_the_proved_table(text: str) -> None:
    expression = expression_of(text)
    with precision(164):
        variance = arb(1) / 2
        proved, agreed = hermite_table(expression, variance, 4, 12, 100), _agreed_table(expression, variance, 4, 12, 100)
    assert agreed is not None
    assert all(a.overlaps(b) for left, right in zip(proved, agreed) for a, b in zip(left, right))
    assert max(float(entry.rad()) for entry in agreed[1]) < 1e-20


def test_what_would_take_minutes_is_refused_unless_a_proof_is_asked_for() -> None:
    composed = "erf(sqrt(2)*x/(3*sqrt(4*x**2/9 + 1)))"  # no strip bound: two steps agree instead
    assert len(hermite_table(expression_of(composed), 1, 4, 20, 80, proved=False)) == 5
    with pytest.raises(NotConverged, match="no exact value in reasonable time"):
        hermite_table(expression_of("x/(1+abs(x))"), 1, 4, 20, 80, proved=False)
