"""Activations with two slopes: certificates against moments in exact fractions, refusals, numbers made better."""

import math
from fractions import Fraction

import pytest
from flint import arb

import theoryck as tc
from theoryck.proving.checker import Refused, check
from theoryck.proving.checker.expectations import parse, value
from theoryck.proving.checker.products import degree
from theoryck.theory.networks.certificates.products import product_certificate

from .mutations import accepted, scaled, spoiled

SLOPES = {
    "relu(x)": (1, 0),
    "abs(x)": (1, -1),
    "max(x/10, x)": (1, Fraction(1, 10)),
    "2*x + min(0, x)": (2, 3),
    "-3*x/2": (-1.5, -1.5),
}


def record(text="relu(x)", depth=2, power=2, start=64):
    return product_certificate(tc.Activation(text), depth, power, start).to_json()


def without_least(made):
    return {key: value for key, value in made.items() if key != "least"}


def moments_of_a_mean(copy, n):
    """E M^j of the mean M of n copies with these moments: E(W_1 + ... + W_n)^j/j! are the coefficients of a power of a series."""
    series, power = [m / math.factorial(i) for i, m in enumerate(copy)], [Fraction(1)]
    for j in range(1, len(copy)):  # Miller's recursion
        power.append(sum((n * i - j + i) * series[i] * power[j - i] for i in range(1, j + 1)) / j)
    return [each * math.factorial(j) / Fraction(n) ** j for j, each in enumerate(power)]


def exact_deviation(a, b, widths, power):
    """E (|x_L|^2 - sigma_L)^power for even powers: |x_L|^2 is a product of independent means, its moments are products."""
    a, b = Fraction(a), Fraction(b)
    odd = [math.prod(range(1, 2 * i, 2)) for i in range(power + 1)]
    copies = [[Fraction(m) for m in odd]]
    copies += [[m * (a ** (2 * i) + b ** (2 * i)) / 2 for i, m in enumerate(odd)]] * (len(widths) - 1)
    whole = [math.prod(each) for each in zip(*map(moments_of_a_mean, copies, widths), strict=True)]
    return sum(math.comb(power, j) * whole[j] * (-whole[1]) ** (power - j) for j in range(power + 1))


@pytest.mark.parametrize("text", SLOPES)
@pytest.mark.parametrize(("depth", "power"), [(0, 2), (1, 4), (2, 2), (3, 6)])
@pytest.mark.parametrize("start", [1, 64])
def test_no_exact_value_exceeds_what_is_proved(text, depth, power, start):
    made = record(text, depth, power, start)
    check(made)
    for d in (start, start + 1, 100, 10**4, 10**9):
        value = exact_deviation(*SLOPES[text], [d] * (depth + 1), power) * Fraction(d) ** (power // 2)
        assert value <= Fraction(made["constant"])
        assert value >= Fraction(made.get("least", "0"))
        wider = exact_deviation(*SLOPES[text], [d, *([3 * d] * depth)], power) * Fraction(d) ** (power // 2)
        assert wider <= Fraction(made["constant"])
    # What is proved is the value at the first size up to what the signs of its parts lose: nothing at k = 2.
    first = exact_deviation(*SLOPES[text], [start] * (depth + 1), power) * Fraction(start) ** (power // 2)
    assert Fraction(made["constant"]) <= first * (1 + Fraction(1, 10**5) if power == 2 else 10)


def test_a_bound_below_the_exact_value_is_refused():
    made = record(power=2, start=1)
    exact = exact_deviation(1, 0, [1, 1, 1], 2)
    with pytest.raises(Refused, match=r"constant: .* is not seen to be at least"):
        check(made | {"constant": str(float(exact) * 0.999)})


@pytest.mark.parametrize(("text", "power"), [("relu(x)", 3), ("2*x + min(0, x)", 4)])
def test_no_number_of_a_product_can_be_made_better_or_worse(text, power):
    for made in (record(text, 2, power), without_least(record(text, 1, power))):
        assert accepted(scaled(made))[1] == []
        assert accepted(spoiled(made))[1] == (["least removed"] if "least" in made else [])  # states less


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("relu(x) + 1", "a number is added"),
        ("max(x, 1)", "a number is added to a function of x, or compared with one"),
        ("x*relu(x)", "functions of x are multiplied"),
        ("tanh(x)", "tanh is taken of a function of x"),
        ("x**2", "power is taken"),
        ("1/x", "power is taken"),
        ("sqrt(abs(x))", "sqrt is taken"),
        ("0*x", "not both 0"),
        ("relu(x) - max(x, 0)", "not both 0"),
        ("x/0", "not both 0"),
        ("2", "two slopes"),
        ("relu(x, x)", "no formula of x"),
        ("max(x)", "no formula of x"),
    ],
)
def test_what_has_not_two_slopes_is_refused(text, sentence):
    with pytest.raises(Refused, match=f"activation: .*{sentence}"):
        check(record() | {"activation": text})


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("max(x, 0*x)", (1, 0)),
        ("max(0, x, )", (1, 0)),
        ("min(x, x/2) - abs(2*x)/4", (0, -1.5)),
        ("sqrt(abs(2 - 6))*relu(-x)", (0, 2)),
        ("relu(x)**1", None),
        ("(3 - 1)**2*x/8", (0.5, -0.5)),
    ],
)
def test_slopes_of_formulas(text, values):
    tree = parse(text, kinks=True)
    if values is None:
        with pytest.raises(Refused):
            degree(tree)
        return
    assert degree(tree) == 1
    assert (float(value(tree, arb(1))), float(value(tree, arb(-1)))) == values


def test_from_below_is_stated_or_not():
    made = record("abs(x)", 1, 2, 16)
    assert check(without_least(made)).startswith("E| |x_1|^2")
    assert check(made).startswith("4 d^(-2/2) <= ")
    with pytest.raises(Refused, match=r"least: .* is not seen to be at most"):
        check(made | {"least": "4.0001"})
    with pytest.raises(Refused, match="power: 1 is no integer"):
        check(made | {"power": 1})


def test_what_is_said_is_what_is_stated_and_not_rounded_down():
    # d E X^2 at d = N = 3 is 31/12, the least constant that is true: 2.583333333 is less.
    made = {"format": 1, "quantity": "norm-deviation", "activation": "relu(x)", "depth": 1, "power": 2, "widths": "all widths >= d"}
    made |= {"from": 3, "method": "product", "constant": "2.58333333333334", "proof": {"moments": [["2"], ["10.33333333333334"]]}}
    assert exact_deviation(1, 0, [3, 3], 2) * 3 == Fraction(31, 12)
    assert Fraction(check(made).split("<= ")[1].split()[0]) >= Fraction(31, 12)
    with pytest.raises(Refused, match="constant"):
        check(made | {"constant": "2.583333333"})
