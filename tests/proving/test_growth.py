"""Activations that grow at most linearly: certificates against exact values at every scale, envelopes, numbers made better."""

import json
from fractions import Fraction

import mpmath
import pytest
from flint import acb, arb, arb_poly, ctx

import theoryck as tc
from theoryck.proving.checker import Refused, check
from theoryck.proving.checker.envelopes import Envelope, read_growth
from theoryck.proving.checker.expectations import hull, parse, value
from theoryck.proving.checker.moments import partition_sums
from theoryck.theory.networks.certificates.norms import norm_certificate
from theoryck.theory.networks.certificates.two_sided import two_sided_certificate

from .mutations import accepted, scaled


@pytest.fixture(autouse=True)
def _digits():
    with ctx.workprec(80):
        yield


def record(text="asinh(x)", depth=1, power=2, start=64, find=norm_certificate):
    return json.loads(json.dumps(find(tc.Activation(text), depth, power, start).to_json()))


@pytest.mark.parametrize(
    ("text", "depth", "power", "start"), [("asinh(x)", 1, 2, 64), ("x + tanh(x)/2", 1, 2, 256), ("2*asinh(x/2)/3", 2, 4, 1024)]
)
def test_no_exact_value_exceeds_what_is_proved(text, depth, power, start):
    made = record(text, depth, power, start)
    assert "growth" in made["proof"]
    assert made["constant"] in check(made)
    quantity = tc.norm_deviation(tc.DeepNetwork(text, depth=depth), power=power)
    for d in (start, 16 * start, 10**6, 10**9):
        value = quantity.exact({"d": d, "width": d, "input_dim": d})
        assert Fraction(str(value.low)) * Fraction(d) ** (power // 2) <= Fraction(made["constant"])


def test_both_sides_of_an_activation_that_grows():
    made = record("asinh(x)", 1, 2, 256, two_sided_certificate)
    check(made)
    value = tc.norm_deviation(tc.DeepNetwork("asinh(x)", depth=1), power=2).exact({"d": 256, "width": 256, "input_dim": 256})
    assert Fraction(made["least"]) <= Fraction(str(value.high)) * 256 <= Fraction(made["constant"])


def test_no_number_can_be_made_better_or_worse():
    count, names = accepted(scaled(record()))
    assert count >= 30
    assert names == []


@pytest.mark.parametrize(
    ("text", "pairs", "sentence"),
    [
        ("asinh(x)", [["2.44", "0.12045"], ["2.4669", "0.12045"]], r"growth\[0\]: phi² is not seen"),
        ("asinh(x)", [["2.4669", "0.12045"], ["2.4669", "0.119"]], r"growth\[1\]: phi² is not seen"),
        ("asinh(x)", [["2.5", "0.12045"], ["2.4669", "0.12045"]], r"growth\[0\]\[0\]: .* too far above"),
        ("x + sin(x)", [["3.6026", "0.99"], ["3.6026", "1.26563"]], r"growth\[0\]: phi² is not seen to be below it far out"),
        ("asinh(x)", [["2.4669", "0"], ["2.4669", "0.12045"]], "far out"),
        ("asinh(x)", [["2.4669", "-1"], ["2.4669", "0.12045"]], r"growth\[0\]\[1\]"),
        ("asinh(x)", [["2.4669", "0.12045"]], "growth: it is no list of 2 items"),
    ],
)
def test_envelopes_that_do_not_hold_are_refused(text, pairs, sentence):
    with pytest.raises(Refused, match=sentence):
        read_growth(parse(text), pairs, "growth")


def test_what_is_outside_of_a_band_holds_gaussian_integrals():
    # phi^2 = 2 + 3 x^2 at s = 4, over |Z| >= 11, start 1/2: both bounds are above the integrals, the first is twice it.
    size = Envelope([(arb(2), arb(3)), (arb(2), arb(3))])
    mean, square = size.outside(arb(4), arb("0.5"))
    with mpmath.workdps(30):
        tail = [2 * mpmath.quad(lambda z: (2 + 12 * z**2) * mpmath.npdf(z), [11, 13, 20])]
        tail.append(2 * mpmath.quad(lambda z: (1.5 + 12 * z**2) ** 2 * mpmath.npdf(z), [11, 13, 20]))
    assert mean.contains(arb(mpmath.nstr(tail[0], 20)))
    assert square >= arb(mpmath.nstr(tail[1], 20))
    assert square <= 100 * arb(mpmath.nstr(tail[1], 20))


def test_moments_of_terms_are_sums_over_partitions():
    # i = 4: one part of 4, or three ways of 2 + 2.
    size = Envelope([(arb(1), arb(2)), (arb(3), arb("0.5"))])
    plus, noise, growth = arb(2), arb("1.5"), arb("0.75")
    found = partition_sums(4, size.parts(4, plus, arb_poly([noise, growth]) ** 2))[4]
    y = arb("0.3")
    steep = arb(105).root(4) * (arb(2) ** 4 + arb("0.5") ** 4).root(4)
    one, two = ((arb(1) + 81).root(4) + (plus + y) * steep) ** 4, 3 * (noise + growth * y) ** 4
    assert abs(found[1](y) - one) < 1e-15 * one
    assert abs(found[2](y) - two) < 1e-15 * two
    assert [each(y) for each in (found[0], found[3], found[4])] == [0, 0, 0]


@pytest.mark.parametrize(
    "z", [("2.2", "0.1", "0", "0.35"), ("-3", "0.2", "0.5", "0.1"), ("0", "0.3", "0.1", "0.2"), ("40", "2", "0", "0.9")]
)
def test_asinh_of_wide_balls_holds_its_values(z):
    real, wide, imag, high = map(arb, z)
    ball = value(("asinh", ("x",)), acb(hull(real - wide, real + wide), hull(imag - high, imag + high)))
    assert ball.is_finite()
    for a in (real - wide, real, real + wide):
        for b in (imag - high, imag, imag + high):
            inside = acb(a, b).asinh()
            assert ball.real.overlaps(inside.real)
            assert ball.imag.overlaps(inside.imag)
