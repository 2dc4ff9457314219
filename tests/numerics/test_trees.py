"""Trees against plain mpmath, branch cuts, parity, and kinks."""

from __future__ import annotations

import mpmath
import pytest
import sympy
from flint import acb, arb
from sympy import (
    Abs,
    Heaviside,
    Max,
    Min,
    Rational,
    asinh,
    atan,
    cos,
    cosh,
    erf,
    erfc,
    exp,
    log,
    sech,
    sign,
    sin,
    sinh,
    sqrt,
    tanh,
)

from theoryck.numerics.balls import precision
from theoryck.numerics.errors import ExactError
from theoryck.numerics.functions.calculus import parity
from theoryck.numerics.functions.expression import x
from theoryck.numerics.functions.pieces import Unsplit, as_polynomial, pieces, polynomial_pieces, zeros
from theoryck.numerics.functions.trees import COMPLEX, DECIMAL, REAL, Tree, constant_ball, tree_of

CASES = [
    (sin(x) * cos(2 * x) + tanh(x) ** 3, lambda u: mpmath.sin(u) * mpmath.cos(2 * u) + mpmath.tanh(u) ** 3),
    (sinh(x) / cosh(x) - sech(x) ** 2, lambda u: mpmath.tanh(u) - mpmath.sech(u) ** 2),
    (exp(-(x**2) / 2) * log(1 + x**2), lambda u: mpmath.exp(-(u**2) / 2) * mpmath.log(1 + u**2)),
    (asinh(x) * atan(x) + erf(x) * erfc(x), lambda u: mpmath.asinh(u) * mpmath.atan(u) + mpmath.erf(u) * mpmath.erfc(u)),
    ((1 + x**2) ** Rational(-3, 2), lambda u: (1 + u**2) ** mpmath.mpf("-1.5")),
    ((2 + x**4) ** Rational(2, 3), lambda u: (2 + u**4) ** (mpmath.mpf(2) / 3)),
    (2**x, lambda u: mpmath.mpf(2) ** u),
    ((3 + x**2) ** sympy.pi, lambda u: (3 + u**2) ** mpmath.pi),
    (Max(x, 0) - Min(x, 1, x / 2) + Abs(x - 1), lambda u: max(u, 0) - min(u, 1, u / 2) + abs(u - 1)),
    (Heaviside(x) + sign(x - 2), lambda u: (1 if u > 0 else 0) + (1 if u > 2 else -1)),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "function"), CASES, ids=lambda item: str(item) if isinstance(item, sympy.Expr) else "")
def test_real_columns_contain_mpmath(expression, function):
    points = ["-1.3", "0.7", "2.6"]
    with precision(160), mpmath.workdps(60):
        column = Tree((expression,)).columns(REAL, [arb(point) for point in points])[0]
        for point, ball in zip(points, column):
            reference = function(mpmath.mpf(point))
            # 160 bits are 48 digits; the reference has 60
            assert abs(ball - arb(mpmath.nstr(reference, 58))) < arb("1e-44") * (1 + abs(ball))
            assert ball.rel_accuracy_bits() > 130


@pytest.mark.parametrize(("expression", "function"), CASES, ids=lambda item: str(item) if isinstance(item, sympy.Expr) else "")
def test_mpmath_columns(expression, function):
    with mpmath.workdps(30):
        for point in (mpmath.mpf("-1.3"), mpmath.mpf("0.7")):
            assert mpmath.almosteq(Tree((expression,)).at(DECIMAL, point), function(point), rel_eps=mpmath.mpf("1e-27"))


def test_shared_subexpressions_are_one_instruction():
    alone = len(Tree((tanh(x),)).instructions)
    both = Tree((tanh(x), 1 - tanh(x) ** 2))
    assert sum(step.kind == "tanh" for step in both.instructions) == 1
    assert len(both.instructions) < 2 * alone + 5


def test_constants_follow_the_precision():
    tree = tree_of((erf(x / sqrt(2)),))
    with precision(60):
        low = tree.at(REAL, arb(1)).rel_accuracy_bits()
    with precision(300):
        high = tree.at(REAL, arb(1)).rel_accuracy_bits()
    assert low < 70 < 280 < high


@pytest.mark.parametrize(
    ("expression", "cut", "clear"),
    [
        (sqrt(x), acb(-1), acb(2)),
        (log(x), acb(-1), acb(2)),
        (atan(x), acb(0, 2), acb(0, "0.5")),
        (asinh(x), acb(0, -2), acb(1, "0.5")),
        (x ** Rational(1, 3), acb(-1), acb(1)),
        ((1 + x**2) ** Rational(-3, 2), acb(0, 2), acb(0, "0.5")),
        (x**sympy.pi, acb(-1), acb(1)),
    ],
)
def test_branch_cuts_are_not_analytic(expression, cut, clear):
    """A disc across the cut must be declared not finite when analyticity is asked for, else the integrator would be wrong."""
    with precision(64):
        around = acb(arb(0, "0.1"), arb(0, "0.1"))
        tree = Tree((expression,))
        assert not acb(tree.at(COMPLEX[True], cut + around)).is_finite()
        assert acb(tree.at(COMPLEX[True], clear + around)).is_finite()
        assert acb(tree.at(COMPLEX[False], cut)).is_finite()


def test_strangers_are_refused():
    with pytest.raises(ExactError, match="gamma is not a function of the activation language"):
        Tree((sympy.gamma(x),))
    with pytest.raises(ExactError, match="unknown symbol y"):
        Tree((sympy.Symbol("y") + x,))
    with pytest.raises(ExactError, match="not analytic"), precision(64):
        Tree((Abs(x),)).at(COMPLEX[True], acb(1))
    with pytest.raises(ExactError, match="constant"), precision(64):
        constant_ball(sympy.GoldenRatio)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (x, -1),
        (x**2 + cos(x), 1),
        (x * tanh(x), 1),
        (tanh(x) * cos(x) ** 3, -1),
        (tanh(sin(x)), -1),
        (exp(x), 0),
        (exp(-(x**2)), 1),
        (exp(x) - exp(-x), -1),
        (Abs(x) + Heaviside(x) ** 2, 0),
        (Max(x, -x), 1),
        (erf(x + 1) + erf(x - 1), -1),
        (1 + tanh(x), 0),
        (sign(x) * Abs(x), -1),
    ],
)
def test_parity(expression, expected):
    found = parity(expression)
    assert found in (0, expected)
    if expected and expression not in (exp(x) - exp(-x), erf(x + 1) + erf(x - 1)):
        assert found == expected


@pytest.mark.parametrize(
    ("expression", "edges", "samples"),
    [
        (Abs(x - 1), [1], {0: 1, 3: 2}),
        (Max(x, 0) ** 2, [0], {-1: 0, 2: 4}),
        (Abs(Abs(x) - 1), [-1, 0, 1], {-3: 2, Rational(-1, 2): Rational(1, 2), 3: 2}),
        (Max(-1, Min(1, x)), [-1, 1], {-2: -1, Rational(1, 4): Rational(1, 4), 9: 1}),
        (Max(x, x**2, 1 - x), None, {-3: 9, Rational(1, 4): Rational(3, 4), Rational(9, 10): Rational(9, 10), 2: 4}),
        (sign(tanh(x)) * x, [0], {-2: 2, 2: 2}),
        (Heaviside(x - sqrt(2)), [sqrt(2)], {1: 0, 2: 1}),
        (Abs(x**3 - x - 1), None, {1: 1, 2: 5}),
        (Abs(x - sympy.pi) + Max(exp(x) - 3, 0), [log(3), sympy.pi], {}),
    ],
)
def test_pieces(expression, edges, samples):
    parts = pieces(expression)
    if edges is not None:
        assert [part.left for part in parts[1:]] == edges
    assert parts[0].left is None
    assert parts[-1].right is None
    assert all(first.right == second.left for first, second in zip(parts, parts[1:]))  # noqa: RUF007
    for point, value in samples.items():
        home = [p for p in parts if (p.left is None or p.left < point) and (p.right is None or point < p.right)]
        assert len(home) == 1
        assert home[0].expression.subs(x, point) == value


def test_smooth_expressions_are_one_piece():
    assert len(pieces(tanh(x**3) * x)) == 1


@pytest.mark.parametrize("expression", [Abs(sin(x)), Max(x, cos(x)), Abs(x + tanh(x) - 1)])
def test_kinks_that_cannot_be_found_are_not_guessed(expression):
    with pytest.raises(Unsplit):
        pieces(expression)
    assert polynomial_pieces(expression) is None


def test_zeros():
    assert zeros(x**2 + 1) == []
    assert zeros(x**2 - sqrt(2) * x) in ([0, sqrt(2)], [sqrt(2), 0])
    assert zeros(sinh(x) - 2) == [asinh(2)]
    assert zeros(exp(x) + 1) == []


def test_polynomials():
    assert as_polynomial(2 * x**2 - sqrt(3)) == (-sqrt(3), 0, 2)
    assert as_polynomial(exp(x)) is None
    assert polynomial_pieces(Max(x, 0) * x) == ((None, 0, (0,)), (0, None, (0, 0, 1)))
