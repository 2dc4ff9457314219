"""Enclosures of NNGP and NTK: they contain 30 digits from elsewhere, agree with float64 recursions, and are sharp."""

import csv
import math
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import sympy

from theoryck.numerics.balls import precision, to_ball
from theoryck.numerics.errors import ExactError
from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.functions.catalogue import catalogue
from theoryck.numerics.functions.expression import x
from theoryck.numerics.proved.kernel import gaussian_kernel
from theoryck.theory.wide.limits import wide_kernels
from theoryck.theory.wide.proved.kernels import closed_form, wide_pair

DATA = Path(__file__).parent.parent / "data" / "nngp_ntk.csv"
INPUTS = ((1, 2, -1, 0.5), (0.5, -1, 1.5, 2), (2, 0.25, -0.75, 1))


def test_enclosures_contain_the_reference_to_25_digits() -> None:
    for row in csv.DictReader(DATA.read_text().splitlines()):
        phi = {"linear": "x"}.get(row["activation"], row["activation"])
        inputs = tuple(INPUTS[int(row[index])] for index in "ij")
        pair = wide_pair(phi, inputs, int(row["hidden_layers"]), float(row["W_std"]), float(row["b_std"]), 25)
        for found, column in ((pair.nngp, "nngp_30digits"), (pair.ntk, "ntk_30digits")):
            value = Decimal(row[column])
            assert found.rigorous
            assert found.radius <= Decimal("1e-25") * abs(value)
            # The table itself is rounded at its 30th digit.
            assert abs(found.midpoint - value) <= found.radius + abs(value) * Decimal("1e-29")


def test_a_change_in_the_27th_digit_would_be_seen() -> None:
    row = next(csv.DictReader(DATA.read_text().splitlines()))
    found = wide_pair("relu", (INPUTS[0], INPUTS[0]), 1, digits=25).ntk
    assert abs(found.midpoint - Decimal(row["ntk_30digits"]) * (1 + Decimal("1e-27"))) > found.radius


# The quadrature of softsign takes 20 seconds a kernel; its one layer is in the float64 test.
@pytest.mark.parametrize("name", [*sorted({*catalogue} - {"softsign"}), "tanh(x) + x/3", "max(x/10, x)", "log(1 + exp(2*x))/3"])
def test_two_layers_agree_with_float64(name: str) -> None:
    pair = wide_pair(name, INPUTS[:2], 2, Fraction(4, 5), Fraction(3, 10), 18)
    points = np.array(INPUTS[:2], dtype=float)
    kernels = wide_kernels(name, points @ points.T / 4, 2, weight_std=0.8, bias_std=0.3)
    for found, floats in ((pair.nngp, kernels.nngp), (pair.ntk, kernels.ntk)):
        assert found.rigorous
        assert found.radius < Decimal("1e-15")
        # 1e-13 of the diagonal of a layer in float64; he3 multiplies an error of the first by up to 1e3.
        assert float(found) == pytest.approx(floats[0, 1], abs=1e-11 * floats.max())


@pytest.mark.parametrize("name", ["erf(x/2)", "3*sin(2*x)", "cos(x)", "abs(x)", "relu(x)", "exp(-x**2)", "sign(x)", "heaviside(x)"])
def test_closed_forms_equal_the_routes_without_them(name: str) -> None:
    phi = Activation(name)
    scale, b, form = closed_form(phi.expression)
    for s1, s2, c in [(1, 2, Fraction(1, 2)), (Fraction(1, 2), 3, Fraction(-1))]:
        exact = gaussian_kernel(phi, s1, s2, c, 25)
        with precision(128):
            value = to_ball(scale) ** 2 * form(to_ball(b), to_ball(s1), to_ball(s2), to_ball(c))
            assert value.overlaps(to_ball(exact))
            assert float(value.rad()) < 1e-30


def test_collinear_inputs_and_equal_ones() -> None:
    # relu is positively homogeneous: K(x, 2x) = 2 K(x, x), and both kernels are x^2 L/2^L times numbers; 1/2 and 1 here.
    pair = wide_pair("relu", ((1,), (2,)), 1, digits=20)
    assert abs(pair.nngp.midpoint - 1) <= pair.nngp.radius
    assert abs(pair.ntk.midpoint - 2) <= pair.ntk.radius < Decimal("1e-19")
    deep = wide_pair("relu", ((1,), (1,)), 5, weight_std=sympy.sqrt(2), digits=20)
    assert abs(deep.ntk.midpoint - 12) <= deep.ntk.radius < Decimal("1e-18")


def test_an_erf_network_by_hand() -> None:
    # s1 = s2 = 1, c = 0: K = 0 and T = W^2 E phi'(u) E phi'(v) * 0; with b_std = 1 the covariance is (2, 2, 1).
    pair = wide_pair("erf", ((math.sqrt(2), 0.0), (0.0, math.sqrt(2))), 1, 1, 1, 20)
    s = 1 + Fraction(math.sqrt(2)) ** 2 / 2
    nngp = 1 + 2 / math.pi * math.asin(2 / (1 + 2 * float(s)))
    slope = 4 / math.pi / math.sqrt((1 + 2 * float(s)) ** 2 - 4)
    assert float(pair.nngp) == pytest.approx(nngp, rel=1e-14)
    assert float(pair.ntk) == pytest.approx(nngp + slope, rel=1e-14)


def test_errors_show_what_was_given() -> None:
    with pytest.raises(ExactError, match="inputs must be two vectors of the same length"):
        wide_pair("erf", ((1, 2), (1,)), 1)
    with pytest.raises(ExactError, match="hidden_layers must be an integer between 0 and 100, got -1"):
        wide_pair("erf", INPUTS[:2], -1)
    with pytest.raises(ExactError, match="weight_std must be a finite real number, got nan"):
        wide_pair("erf", INPUTS[:2], 1, math.nan)
    with pytest.raises(ExactError, match="has a jump"):
        wide_pair("sign(x)", INPUTS[:2], 1)
    assert closed_form(sympy.tanh(x)) is None


def test_a_zero_input_stays_zero_where_phi_does() -> None:
    pair = wide_pair("tanh", ((0,), (1,)), 2)
    assert (pair.nngp.midpoint, pair.nngp.radius, pair.ntk.midpoint, pair.ntk.radius) == (0, 0, 0, 0)
    # softplus(0) = log 2: the second layer is an ordinary pair, K^2 = (log^2 2, E f^2, log 2 E f) for f = softplus(Z).
    second = wide_kernels("softplus", [[0.0, 0.0], [0.0, 1.0]], 2)
    pair = wide_pair("softplus", ((0,), (1,)), 2, digits=15)
    assert float(pair.nngp) == pytest.approx(second.nngp[0, 1], rel=1e-13)
    assert float(pair.ntk) == pytest.approx(second.ntk[0, 1], rel=1e-13)


def test_scales_are_read_and_bounded() -> None:
    assert wide_pair("erf", INPUTS[:2], 1, "3/2", "1/2") == wide_pair("erf", INPUTS[:2], 1, Fraction(3, 2), 0.5)
    for name, scales in (("weight_std", (-1, 0)), ("bias_std", (1, -1))):
        with pytest.raises(ExactError, match=f"{name} must be >= 0"):
            wide_pair("erf", INPUTS[:2], 1, *scales)
    with pytest.raises(ExactError, match="exceed 1e"):
        wide_pair("relu", ((1,), (1,)), 1, 1e200)
    with pytest.raises(ExactError, match="inputs must be two vectors"):
        wide_pair("relu", (1, 2), 1)  # type: ignore[arg-type]
