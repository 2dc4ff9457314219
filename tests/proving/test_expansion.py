"""Certificates to the second order: made from the text of the format alone, against exact values, their numbers made better."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

import theoryck as tc
from theoryck.proving.checker import Refused, check

from .expansions import made
from .mutations import accepted, changed, put, scaled, spoiled

UNITS = {
    "tanh(x)": (np.tanh, "1.0001"),
    "sin(2*x)": (lambda x: np.sin(2 * x), "1.0001"),
    "cos(x)": (np.cos, "1.0001"),
    "asinh(x)": (np.arcsinh, [["2.4669", "0.12045"], ["2.4669", "0.12045"]]),
}


def record(text="tanh(x)", depth=1, power=2, start=1024, less=None):
    phi, size = UNITS[text]
    return made(text, phi, depth, power, start, size, less)


@pytest.mark.parametrize(
    ("text", "depth", "power", "start"),
    [
        *(("tanh(x)", 0, 2, 1), ("tanh(x)", 0, 4, 64), ("tanh(x)", 1, 2, 64), ("sin(2*x)", 2, 2, 4096)),
        *(("cos(x)", 3, 2, 10**5), ("sin(2*x)", 2, 4, 10**5), ("asinh(x)", 1, 2, 1024), ("asinh(x)", 2, 4, 10**7)),
    ],
)
def test_exact_values_lie_between_both_sides(text, depth, power, start):
    found = record(text, depth, power, start)
    assert found["constant"] in check(found)
    quantity = tc.norm_deviation(tc.DeepNetwork(text, depth=depth), power=power)
    low, high = (Fraction(each) for each in found["limit"])
    u, k = (Fraction(each) for each in found["remainder"])
    normal = int(np.prod(range(1, power, 2)))
    for d in (start, 4 * start, 64 * start, 10**9):
        exact = quantity.exact({"d": d, "width": d, "input_dim": d})
        ends = [Fraction(str(end)) * Fraction(d) ** (power // 2) for end in (exact.low, exact.high)]
        error = u / Fraction(int(1e12 * d**0.5), 10**12) + k / d
        assert normal * low ** (power // 2) - error <= ends[1]
        assert ends[0] <= normal * high ** (power // 2) + error
        assert Fraction(found["least"]) <= ends[1]
        assert ends[0] <= Fraction(found["constant"])


def test_the_bound_from_above_is_for_other_widths_too():
    found = record("tanh(x)", 1, 2, 64)
    high, k = Fraction(found["limit"][1]), Fraction(found["remainder"][1])
    quantity = tc.norm_deviation(tc.DeepNetwork("tanh(x)", depth=1), power=2)
    for sizes in ({"width": 64, "input_dim": 640}, {"width": 640, "input_dim": 64}):
        assert Fraction(str(quantity.exact(sizes).low)) <= high / 64 + k / 64**2


@pytest.mark.parametrize(
    ("text", "depth", "power", "start"), [("tanh(x)", 1, 2, 64), ("cos(x)", 1, 4, 4096), ("asinh(x)", 1, 2, 1024)]
)
def test_no_number_can_be_made_better_or_worse(text, depth, power, start):
    count, names = accepted(scaled(record(text, depth, power, start)))
    assert count >= 40
    assert names == []


def test_no_field_can_be_spoiled():
    count, names = accepted(itertools.islice(spoiled(record()), 0, None, 5))
    assert count >= 150
    assert names == []


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"limit": ["0.16362", "0.16363"]}, "limit: its ends are too far from each other"),
        ({"limit": ["0.1636245388", "0.1636245389"]}, r"limit: 0.1636245369 is not seen to lie in it"),
        ({"power": 3}, "power: 3 is odd"),
        ({"least": "0"}, "least"),
        ({"remainder": ["0", "1.2"]}, "remainder: it is not the last pair of proof.even"),
    ],
)
def test_a_refusal_names_the_field(changes, sentence):
    with pytest.raises(Refused, match=sentence):
        check(record() | changes)


LINES = ("slope", "curvature", "chord", "deviation", "growth", "bend", "third", "tilt", "sway")


@pytest.mark.parametrize("text", ["tanh(x)", "asinh(x)"])
@pytest.mark.parametrize("key", LINES)
def test_what_follows_from_a_number_that_is_too_small_is_refused_there(text, key):
    with pytest.raises(Refused, match=rf"proof.layers\[0\].{key}: .* is not seen to be"):
        check(record(text, start=10**5, less=key))


@pytest.mark.parametrize("key", ["bend", "third", "tilt", "sway"])
def test_a_number_of_a_layer_is_needed(key):
    found = record()
    with pytest.raises(Refused, match=rf"proof.layers\[0\].{key}: missing"):
        check(changed(found, ("proof", "layers", 0, key), lambda holder, name: holder.pop(name)))
    with pytest.raises(Refused, match=rf"proof.layers\[0\].{key}: 1\.0"):
        check(changed(found, ("proof", "layers", 0, key), put("1e-5")))


def test_lists_of_few_moments_are_refused():
    found = record()
    found["proof"]["top"] = 4
    with pytest.raises(Refused, match=r"proof\.top: 4 is no integer between 6 and 40"):
        check(found)
