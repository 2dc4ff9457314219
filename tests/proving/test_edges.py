"""Units at the edge of what is proved: constant, tiny, huge, flat, steep; large starts; finder and checker agree on them."""

from __future__ import annotations

import json
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from flint import arb

import theoryck as tc
from theoryck.numerics.functions.trees import REAL, tree_of
from theoryck.proving import checker
from theoryck.proving.along import whole_part
from theoryck.quantities import NoCertificate

from .instances import better
from .mutations import accepted


def deviation(phi: str, depth: int = 1, power: int = 2):
    return tc.norm_deviation(tc.DeepNetwork(phi, depth=depth), power=power)


@pytest.mark.parametrize("phi", ["1", "0*x", "7/3"])
def test_of_a_constant_it_is_said_that_the_value_is_0(phi):
    with pytest.raises(
        NoCertificate, match="is constant, and at depth 1 the value is 0 at every size, so that there is nothing to prove"
    ):
        tc.prove(deviation(phi))
    assert deviation(phi).exact({"input_dim": 7, "width": 5}).midpoint == 0  # so it is: the layers of a constant are constant


# Two or three of a kind: phi^2 is largest at 0 or between the dyadic numbers; products that never settle; f'(1) = 0 exactly, for
# f = s/(1+2s)^(3/2), or nearly, for f = (1 -+ exp(-2 a^2 s))/2; ratios that are largest at s = 0, or close to it.
SHAPES = ["exp(-x**2)", "1/(1+x**2)", "sech(x)", "3*exp(-(x-3)**2)", "sin(x)*cos(x)", "x*exp(-x**2/2)", "sin(5*x)", "cos(3*x)"]
STEEP = ["tanh(30*x)", "erf(x)**3", "sin(50*x)"]
FLAT = ["tanh(x/100)", "tanh(x)/1000", "tanh(x)/10**5", "10**9*tanh(x)", "relu(x)/10**6"]


@pytest.mark.parametrize("phi", SHAPES + STEEP + FLAT)
def test_finder_and_checker_agree_and_no_number_can_be_made_better(phi):
    proof = tc.prove(deviation(phi), start=64)  # raises where the checker refuses
    record = json.loads(json.dumps(proof.certificate.to_json()))
    assert checker.check(record).endswith(proof.certificate.activation)
    if phi != "sin(50*x)":  # a minute for one that is like sin(5*x)
        assert accepted(better(record))[1] == []
    assert Decimal(record.get("least", 0)) < Decimal(proof.scope.limit) < Decimal(record["constant"])
    value = deviation(phi).exact({"input_dim": 4096, "width": 4096})
    assert value.low * 4096 <= Decimal(record["constant"])


@pytest.mark.parametrize("phi", ["exp(-x**2)", "x*exp(-x**2/2)", "tanh(x/100)"])
def test_so_they_do_for_two_layers(phi):
    record = tc.prove(deviation(phi, depth=2), start=256).certificate.to_json()
    assert accepted(better(record))[1] == []


def test_so_they_do_for_overlaps_of_small_units():
    one, other = (
        tc.prove(tc.overlap_moment(tc.DeepNetwork(phi, depth=1), power=2), start=64).certificate
        for phi in ("erf(x)", "erf(x)/1000")
    )
    assert abs(Decimal(other.constant) / Decimal(one.constant) * 10**12 - 1) < Decimal("1e-6")
    assert accepted(better(other.to_json()))[1] == []


@pytest.mark.parametrize("power", [2, 3, 8])
@pytest.mark.parametrize("scale", [-9, -3, 2, 9])
def test_a_unit_and_its_multiples_have_the_same_proof(scale, power):
    """|x_1|^2 of c phi is c^2 times that of phi, its k-th moment c^(2k) times: numbers differ by powers of ten, to rounding."""
    factor = f"*10**{scale}" if scale > 0 else f"/10**{-scale}"
    one, other = (tc.prove(deviation(phi, power=power), start=64).certificate for phi in ("tanh(x)", f"tanh(x){factor}"))
    with localcontext(prec=30):
        for name in ("constant", "least"):
            ratio = Decimal(getattr(other, name)) / Decimal(getattr(one, name)) / Decimal(10) ** (2 * scale * power)
            assert abs(ratio - 1) < Decimal("1e-6")  # of seven digits, rounded up
        for name in ("slope", "curvature", "chord", "growth"):
            ratio = Decimal(other.proof["layers"][0][name]) / Decimal(one.proof["layers"][0][name]) / Decimal(10) ** (2 * scale)
            assert ratio == 1


@pytest.mark.parametrize(
    ("phi", "depth", "words"),
    [
        (
            "tanh(x)/10**9",
            2,
            r"phi is too small for the layer after sigma = 3\.94294e-19: its mean square is 3\.9e-19 times the bound",
        ),
        ("10**9*tanh(x)", 2, r"phi is too steep for the layer after sigma = 3\.94294e\+17: .*take a smaller multiple of x in phi"),
        ("sin(5000*x)", 1, r"phi is too steep for the layer after sigma = 1: .*would take minutes; take a smaller multiple of x"),
    ],
)
def test_what_is_out_of_reach_names_the_quantity_and_says_what_would_do(phi, depth, words):
    with pytest.raises(NoCertificate, match=r"norm_deviation\(.*\) has no proof for every size: " + words):
        tc.prove(deviation(phi, depth))


def test_starts_up_to_1e30_are_proved_and_larger_ones_refused():
    path = tc.ScalingPath(d=tc.doubling(16, 256), width="d", input_dim="d")
    bound = tc.Bound(deviation("tanh"), rate="1/d", along=path)
    assert tc.prove(bound, start=10**30).certificate.start == 10**30
    with pytest.raises(NoCertificate, match=r"proofs are verified for first sizes up to 1e30, got 1\.000e\+100"):
        tc.prove(bound, start=10**100)


@pytest.mark.parametrize("phi", ["tanh", "relu"])
def test_starts_that_no_float_holds_are_refused_in_words(phi):
    with pytest.raises(NoCertificate, match=r"first sizes up to 1e30, got 1\.000e\+400"):
        tc.prove(deviation(phi), start=10**400)


@pytest.mark.parametrize(
    ("phi", "digits"),
    [("sin(x)**2 + cos(x)**2", "more than 9"), ("tanh(x)**2 + sech(x)**2", "more than 9"), ("1 + tanh(x)/10**7", "7")],
)
def test_of_what_hardly_varies_it_is_said_that_it_is_constant(phi, digits):
    with pytest.raises(NoCertificate, match=rf"phi\(x\)\^2 is constant to {digits} digits .*take a phi that varies more"):
        tc.prove(deviation(phi))


@pytest.mark.parametrize(("phi", "exponent"), [("x**17", 17), ("tanh(x)**20 + tanh(x)", 20), ("(1 + x**2)**(-17)", 17)])
def test_exponents_that_certificates_have_not_are_named(phi, exponent):
    with pytest.raises(NoCertificate, match=f"phi has the exponent {exponent}, and .* up to 16 in phi"):
        tc.prove(deviation(phi))
    assert tc.prove(deviation("x**16")).scope.constant > 0


@pytest.mark.parametrize("d", [1, 10**25, 10**100 + 1])
@pytest.mark.parametrize("power", [Fraction(1), Fraction(3, 2), Fraction(1, 3)])
def test_whole_parts_of_powers_are_exact_however_large(d, power):
    found, inside = whole_part(Fraction(7, 5), power, d), Fraction(7, 5) ** power.denominator * Fraction(d) ** power.numerator
    assert found**power.denominator <= inside < (found + 1) ** power.denominator


def test_powers_of_balls_around_0_are_finite():
    x = tc.Activation("x").expression
    for n in (3, 5, 6):
        found = tree_of((x**n,)).at(REAL, arb(0, 0.5))
        assert found.contains(arb(0.5) ** n)
        assert found.abs_upper() <= 1.001 * arb(0.5) ** n


def test_the_checker_looks_for_the_largest_square_wherever_it_is():
    """A range 1% above sup phi^2 is too large, and one 1% below is none: also where phi is largest at 0, or at 3."""
    for phi, largest in (("exp(-x**2)", 1), ("3*exp(-(x-3)**2)", 9)):
        record = tc.prove(deviation(phi, depth=0)).certificate.to_json()
        for factor in ("0.99", "1.01"):
            changed = record | {"proof": record["proof"] | {"range": str(largest * Decimal(factor))}}
            with pytest.raises(checker.Refused, match=r"proof\.range"):
                checker.check(changed)
