"""Exact rational moments; series that say nothing are refused.

The numbers of he2 come from exact rational arithmetic written without this package (moments of S_l given S_(l-1) by repeated
squaring of generating polynomials), one of them confirmed by importance sampling.
"""

from __future__ import annotations

import json
import math
from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import comb, factorial

import pytest
from click.testing import CliRunner

from theoryck.cli.measure import command
from theoryck.numerics.balls import precision
from theoryck.numerics.errors import ExactError, NotConverged
from theoryck.numerics.functions.activation import Activation
from theoryck.records import Enclosure
from theoryck.theory.networks.model import DeepNetwork
from theoryck.theory.networks.proved.closed_forms import (
    linear_norm_moment,
    linear_overlap_moment,
    rational_norm_moment,
    rational_overlap_moment,
    square_sides,
)
from theoryck.theory.networks.proved.moments import lyapunov_bracket, norm_moment, overlap_moment, shallow_norm_moment
from theoryck.theory.networks.proved.series import evaluate, grows_at_the_end, norm_expansion
from theoryck.theory.networks.quantities import norm_deviation
from theoryck.theory.networks.quantities import overlap_moment as overlap_quantity

HE2, RELU = Activation("he2"), Activation("relu")


@pytest.mark.parametrize(
    ("widths", "power", "value"),
    [
        ((64, 64, 64), 8, 7.690053986671998e20),
        ((32, 32, 32), 6, 1.609147886195159e18),
        ((16, 16, 16), 6, 6.646936809846494e25),
        ((8, 8, 8), 4, 7.732718310241285e17),
        ((12, 4, 12, 5), 4, 9.223165718175115e56),
        ((32, 32, 32, 32), 4, 6.082320609487988e31),
    ],
)
def test_norms_of_he2_at_small_widths(widths, power, value):
    moment = norm_moment(HE2, widths, power)
    assert moment.rigorous
    assert math.isclose(float(moment), value, rel_tol=1e-14)


@pytest.mark.parametrize(
    ("widths", "value"), [((6, 6), 16714096.656149624), ((4, 4), 2377568037.8534384), ((3, 2), 717484804346.3704)]
)
def test_overlaps_of_he2_at_small_widths(widths, value):
    moment = overlap_moment(HE2, widths, 6)
    assert moment.rigorous
    assert math.isclose(float(moment), value, rel_tol=1e-14)


def test_he2_keeps_its_values_at_larger_widths():
    for function, widths in product((norm_moment, overlap_moment), ((128,) * 2, (4096,) * 2, (128,) * 3, (4096,) * 3)):
        assert function(HE2, widths, 2).rigorous
        bracket = function(HE2, widths, 1)
        assert 0 < bracket.low < bracket.high


def test_homogeneous_activations_against_linear_networks():
    for widths, k in product(((8, 3), (2, 5, 4), (8, 8, 8, 8)), (2, 4, 6)):
        assert rational_norm_moment(Activation("abs(x)"), widths, k) == linear_norm_moment(widths, k)
        assert rational_norm_moment(Activation("2*x"), widths, k) == 4 ** (k * (len(widths) - 1)) * linear_norm_moment(widths, k)
        assert rational_overlap_moment(Activation("3*x"), widths, k) == 9 ** (k * (len(widths) - 1)) * linear_overlap_moment(
            widths, k
        )


def gaussian(n):
    return 0 if n % 2 else factorial(n) // (2 ** (n // 2) * factorial(n // 2))


def chi(d, n):
    return math.prod((Fraction(d + 2 * i, d) for i in range(n)), start=Fraction(1))


def test_relu_by_expanding_the_sum_over_neurons():
    """d_1 = 3 neurons: every product of factors max(Z, 0)^2 one by one, E max(Z, 0)^(2m) = E Z^(2m)/2."""
    d0, d1, k = 5, 3, 4
    total = Fraction(0)
    for n in range(k + 1):
        raw = Fraction(0)
        for chosen in product(range(d1), repeat=n):
            counts = [chosen.count(i) for i in range(d1)]
            raw += math.prod((Fraction(gaussian(2 * m), 2) for m in counts if m), start=Fraction(1))
        total += comb(k, n) * raw * chi(d0, n) / d1**n * Fraction(-1, 2) ** (k - n)
    assert rational_norm_moment(RELU, (d0, d1), k) == total
    assert norm_moment(RELU, (d0, d1), k).rigorous


def test_cubic_overlap_of_one_neuron():
    """phi(x) = x^3, d_0 = d_1 = 1: Q = (w^2 x y)^3, so E Q^2 = E w^12 (E x^6)^2."""
    assert rational_overlap_moment(Activation("x**3"), (1, 1), 2) == gaussian(12) * gaussian(6) ** 2


def test_a_polynomial_against_the_quadrature_of_one_layer():
    phi = Activation("x**3/10 + x/2 + x**2/7")
    exact = float(rational_norm_moment(phi, (64, 64), 4))
    with precision(120):
        assert math.isclose(float(shallow_norm_moment(phi, (64, 64), 4).mid()), exact, rel_tol=1e-9)


def test_other_activations_have_no_such_route():
    assert all(square_sides(Activation(text).expression) is None for text in ("tanh", "max(x, 1)", "relu(x) + 1", "pi*x**2"))
    assert rational_norm_moment(Activation("he2"), (8,) * 9, 2) is None  # degree 512
    assert rational_overlap_moment(RELU, (8, 8), 2) is None


def test_series_that_pass_contain_the_exact_values():
    """Whatever the series claims at any width must contain the rational value; at small widths it must not claim anything."""
    refused = 0
    for (phi, depth), d, k in combinations_of_cases():
        widths = (d,) * (depth + 1)
        with precision(200):
            try:
                ball = evaluate(norm_expansion(phi, (Fraction(1),) * (depth + 1), k, 140), d)
            except NotConverged:
                refused += 1
                continue
        truth = float(rational_norm_moment(phi, widths, k))
        if float(ball.rad()) < abs(float(ball.mid())) / 2:
            assert abs(float(ball.mid()) - truth) <= float(ball.rad()) + 1e-12 * truth, (phi, widths, k)
        else:
            refused += 1
    assert refused >= 5


def combinations_of_cases():
    chains = [(HE2, 1), (HE2, 2), (RELU, 3), (Activation("he3_mix"), 1), (Activation("he3_mix"), 3)]
    return product(chains, (8, 64, 512, 4096), (2, 4))


def test_a_growing_end_is_seen():
    assert grows_at_the_end([1.0, 0.5, 0.4, 0.6])
    assert not grows_at_the_end([1.0, 1e-3, 1e-6, 2e-6])
    assert not grows_at_the_end([1.0, 0.1, 0.05])


SUPERLINEAR = Activation("x*sqrt(1 + x**2)")


def test_quantities_have_no_value_where_the_series_has_none():
    network = DeepNetwork(SUPERLINEAR, depth=2, widths=(8, 8, 8))
    with pytest.raises(NotConverged, match="take larger widths") as caught:
        norm_moment(SUPERLINEAR, (8, 8, 8), 6)
    assert isinstance(caught.value, ExactError)
    for power in (6, 5, 6.5):
        assert norm_deviation(network, power).exact({}) is None
        assert "does not converge" in norm_deviation(network, power).why_not_exact({})
    assert overlap_quantity(network, 6).exact({}) is None
    assert norm_deviation(DeepNetwork("tanh", depth=2, widths=(16, 16, 16)), 6).why_not_exact({}) is None


def test_measure_shows_null_and_the_reason():
    arguments = ["norm-deviation", "--activation", "x*sqrt(1+x**2)", "--widths", "8,8,8", "--power", "6", "--draws", "0"]
    result = CliRunner().invoke(command, [*arguments, "--json", "-"])
    assert json.loads(result.stdout)["exact"] is None
    assert "take larger widths" in CliRunner().invoke(command, arguments).stdout


def test_brackets_do_without_the_moment_beyond_but_not_without_neighbours():
    normal = {2: 1, 4: 3}

    def even(k):
        if k not in normal:
            raise NotConverged("no such moment")
        return Enclosure(Decimal(normal[k]), Decimal(0))

    bracket = lyapunov_bracket(Fraction(3), even)
    assert bracket.low < 2 * math.sqrt(2 / math.pi) < bracket.high
    with pytest.raises(NotConverged):
        lyapunov_bracket(Fraction(5), even)
