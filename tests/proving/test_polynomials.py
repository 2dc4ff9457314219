"""Polynomial activations: certificates against exact values at every scale, refusals, numbers made better."""

import math
from fractions import Fraction

import pytest

import theoryck as tc
from theoryck.proving.checker import Refused, check
from theoryck.theory.networks.certificates.polynomials import polynomial_certificate

from .mutations import accepted, scaled, spoiled


def record(text="x**3", depth=1, power=2, start=64):
    return polynomial_certificate(tc.Activation(text), depth, power, start).to_json()


@pytest.mark.parametrize(("text", "depth", "power"), [("x**3", 1, 2), ("x**2 - 1", 2, 4), ("x + x**3/2", 1, 4), ("x/2", 2, 2)])
@pytest.mark.parametrize("start", [1, 64])
def test_no_exact_value_exceeds_what_is_proved(text, depth, power, start):
    made = record(text, depth, power, start)
    check(made)
    quantity = tc.norm_deviation(tc.DeepNetwork(text, depth=depth), power=power)
    for d in (start, 16 * start, 10**5, 10**9):
        value = quantity.exact({"d": d, "width": d, "input_dim": d})
        low, high = (Fraction(str(end)) * Fraction(d) ** (power // 2) for end in (value.low, value.high))
        assert low <= Fraction(made["constant"])
        assert high >= Fraction(made.get("least", "0"))


def test_the_variance_of_a_cube_by_hand():
    # S_1 is the mean of d_1 copies of Y = s^3 Z^6 given S_0 = s: E S_1 = 15 E s^3, E S_1^2 = 225 E s^6 + 10170 E s^6/d_1.
    made = record("x**3", 1, 2, 4)
    third, sixth = (math.prod(1 + Fraction(2 * u, 4) for u in range(n)) for n in (3, 6))
    exact = 225 * sixth + Fraction(10170, 4) * sixth - 2 * 15 * 15 * third + 225
    assert 4 * exact <= Fraction(made["constant"]) <= 4 * exact * Fraction(11, 10)  # the terms that are negative are left out
    assert "d >= 4" in check(made)


@pytest.mark.parametrize(("text", "power"), [("x**3", 2), ("x**2 - 1", 3)])
def test_no_number_of_a_polynomial_can_be_made_better_or_worse(text, power):
    made = record(text, 1, power)
    assert accepted(scaled(made))[1] == []
    assert accepted(spoiled(made))[1] == (["least removed"] if "least" in made else [])  # states less


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"activation": "tanh(x)"}, "it is no rational polynomial"),
        ({"activation": "sqrt(2)*x"}, "it is no rational polynomial"),
        ({"activation": "1/x"}, "divided by what is no number"),
        ({"activation": "x/0"}, "divided by what is no number"),
        ({"activation": "((x**16)**16)**16"}, "degree is above 150"),
        ({"activation": "x*" + "(" * 9 + "2" + "**16)" * 9}, "powers in each other are above 4096"),  # a number of 2**36 bits
        ({"activation": "0*x"}, "is 0"),
        ({"activation": "x**3 + x"}, "constant"),
        ({"activation": "x**16", "depth": 8}, "moments .* above 150"),
        ({"proof": {"moments": []}}, "proof.moments: unknown"),
        ({"power": 1}, "power: 1 is no integer between 2"),
        ({"from": 32}, "constant"),
    ],
)
def test_what_is_refused_of_polynomials(changes, sentence):
    with pytest.raises(Refused, match=sentence):
        check(record() | changes)
