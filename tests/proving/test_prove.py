"""Proofs along the path of a claim: what is proved there, what is refused and why, and what a derivation shows."""

import json
import re
from decimal import Decimal
from fractions import Fraction

import pytest

import theoryck as tc
from theoryck.proving import checker
from theoryck.proving.along import Along, from_which
from theoryck.proving.prove import CertificateRefused
from theoryck.rates.rate import Rate
from theoryck.records import Certificate, Proof, Scope
from theoryck.report.proofs import derivation, render_latex

from .mutations import SAMPLES, is_number, leaves

MOMENT = tc.norm_deviation(tc.DeepNetwork("tanh", depth=1), power=2)


def path(**sizes):
    return tc.ScalingPath(d=tc.doubling(16, 256), **sizes)


PLAIN = path(width="d", input_dim="d")


def bound(quantity=MOMENT, rate="1/d", along=PLAIN, **options):
    return tc.Bound(quantity, rate=rate, along=along, **options)


# -- along a path -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("start", [6, 8, 12, 32, 48, 80, 512])
@pytest.mark.parametrize("phi", ["tanh(x)", "max(x, 0)", "x**2"])
def test_what_is_a_short_decimal_at_the_first_size_is_proved(phi, start):
    """12 + 48/N is 13.5 at N = 32: the ball of a reader who takes 1/sqrt(N) first reaches beyond it."""
    proof = tc.prove(tc.norm_deviation(tc.DeepNetwork(phi, depth=1), power=2), start=start)
    assert proof.certificate.start == start


def test_the_first_base_size_uses_what_rounding_leaves_there():
    """sqrt(d) rounded to a whole number is at least sqrt(d) (1 - 1/(2 17)) where sqrt(d) >= 17: 17 from d = 306.3 on, not 378."""

    def at(start):
        return Along.of(("n",), Rate.parse("1/n"), path(n="d**(1/2)"), start)

    assert from_which(at, 18, 17) == 307
    assert (at(306).first, at(307).first) == (16, 17)


@pytest.mark.parametrize(
    ("certified", "rate", "sizes", "start", "smallest", "exponent"),
    [
        (("width", "input_dim"), "1/d", {"width": "2*d", "input_dim": "d"}, 16, 16, -1),
        (("width",), "1/d", {"width": "3*d"}, 16, 48, -1),
        (("width", "input_dim"), "d**(-1)", {"width": "d**2", "input_dim": "4*d"}, 16, 64, -1),
        (("n",), "1/n + 1/d", {"n": "d**(1/2)"}, 16, 3, -1),  # n is rounded: it may be sqrt(d) - 1/2
        (("n", "d"), "1/n + 1/d", {"n": "d**2"}, 16, 16, -1),
        (("d",), "(1 + sqrt(n/d) + n/d)/sqrt(d)", {"n": "d"}, 16, 16, Fraction(-1, 2)),
    ],
)
def test_sizes_and_rates_are_powers_of_the_base(certified, rate, sizes, start, smallest, exponent):
    found = Along.of(certified, Rate.parse(rate), path(**sizes), start)
    assert (found.first, found.exponent) == (smallest, exponent)


@pytest.mark.parametrize("sizes", [{"n": "d**(3/2)"}, {"n": "3*d/2"}, {"n": "d**(4/3)"}, {"n": "d"}])
@pytest.mark.parametrize("rate", ["1/n", "1/n + 1/d", "sqrt(n/d)/n", "n**(-1/2)"])
def test_a_bound_along_a_path_holds_at_every_size_where_the_certificate_does(sizes, rate):
    """value = m^-1 exactly, m the smallest size: its ratio to the rate never exceeds the constant, but for rounding in floats."""
    found = Certificate("q", "x", 1, 2, 1, "1", "none", {})
    along = path(**sizes)
    read = Along.of(("n",), Rate.parse(rate), along, 16)
    scope = read.scope(found, None)
    ratios = []
    for d in (16, 17, 18, 19, 31, 100, 101, 12345):
        point = tc.ScalingPath(d=(d, d + 1), **sizes).points[0]
        ratios.append(1 / point["n"] / Rate.parse(rate)(point))
    assert max(ratios) <= float(scope.constant) * (1 + 1e-12)


def test_a_faster_rate_than_what_is_proved_is_refused():
    found = Certificate("q", "x", 1, 2, 1, "1", "none", {})
    with pytest.raises(tc.NoCertificate, match=r"decays like d\*\*\(-1\), more slowly than the claimed rate"):
        Along.of(("d",), Rate.parse("d**(-3/2)"), path(), 16).scope(found, None)


def test_two_sides_are_kept_where_all_sizes_are_equal():
    found = Certificate("q", "x", 1, 2, 1, "3", "none", {}, least="2")
    equal = Along.of(("d", "n"), Rate.parse("1/d"), path(n="d"), 16).scope(found, 2.5)
    assert (equal.constant, equal.least, equal.limit) == (3, 2, 2.5)
    other = Along.of(("d", "n"), Rate.parse("1/d"), path(n="2*d"), 16).scope(found, 2.5)
    assert (other.constant, other.least) == (3, None)


# -- claims, statements, quantities -----------------------------------------------------------------------------------------------


def test_a_statement_is_proved_from_its_first_size_or_from_a_later_one():
    first, later = tc.prove(bound()), tc.prove(bound(), start=4096)
    assert (first.scope.start, later.scope.start) == (16, 4096)
    assert later.scope.limit < later.scope.constant < first.scope.constant
    assert Proof.from_json(first.to_json()) == first
    assert checker.check(first.certificate.to_json())
    for d in (16, 64, 1024, 10**6):
        sizes = {"d": d, "width": d, "input_dim": d}
        assert MOMENT.exact(sizes).high <= first.scope.constant / d


def test_a_constant_is_proved_or_refused_with_the_size_that_breaks_it():
    """d E X^2 is 0.1105 at d = 16 and tends to 0.1636: 1% below its value at d = 10^6 fails there or before."""
    proof = tc.prove(bound(constant=0.5))
    assert proof.scope.constant <= Decimal("0.5")
    exact = MOMENT.exact({"d": 10**6, "width": 10**6, "input_dim": 10**6})
    low = float(exact.midpoint) * 10**6 * 0.99
    with pytest.raises(tc.NoCertificate, match="take a larger constant") as refused:
        tc.prove(bound(constant=low))
    size = refused.value.breaks
    assert MOMENT.exact({"d": size, "width": size, "input_dim": size}).low * size > Decimal(low)


@pytest.mark.parametrize(
    ("quantity", "constant", "size"),
    [  # d E C^2 of relu grows like d/(4 pi^2): above 1 from some 32 on; the polynomial is 4 times above its limit at d = 16
        (tc.overlap_moment(tc.DeepNetwork("relu", depth=1), power=2), 1, 32),
        (tc.norm_deviation(tc.DeepNetwork("x**3", depth=1), power=2), 15000, 16),
    ],
)
def test_a_bound_without_its_hypothesis_is_refused_with_the_size_that_breaks_it(quantity, constant, size):
    statement = bound(quantity, constant=constant)
    with pytest.raises(tc.NoCertificate) as refused:
        tc.prove(statement)
    assert refused.value.breaks == size
    value = quantity.exact({"d": size, "width": size, "input_dim": size})
    assert float(value.low) * size > constant
    with pytest.raises(tc.NoCertificate) as open_:  # nothing breaks it, and nothing proves it
        tc.prove(bound(tc.overlap_moment(tc.DeepNetwork("relu", depth=1), power=2), constant=1e6))
    assert open_.value.breaks is None


@pytest.mark.parametrize(
    ("sizes", "rate", "own"),
    [
        ({"width": "sqrt(d)", "input_dim": "d"}, "1/d", "-1/2"),
        ({"width": "d", "input_dim": "sqrt(d)"}, "1/d", "-1/2"),
        ({"width": "d/2", "input_dim": "d"}, "d**(-3/2)", "-1"),
    ],
)
def test_a_faster_rate_is_refused_in_the_size_of_the_path(sizes, rate, own):
    """The size that breaks it is one of the path, where exact values over the rate have doubled."""
    along = path(**sizes)
    with pytest.raises(
        tc.NoCertificate, match=rf"along the path decays like d\*\*\({own}\), .*take the rate d\*\*\({own}\)"
    ) as refused:
        tc.prove(bound(rate=rate, along=along))
    broken = next(point for point in along.points if point["d"] == refused.value.breaks)
    power = Fraction(rate[4:-1]) if "**" in rate else Fraction(-1)
    first, later = (float(MOMENT.exact(point).midpoint) / float(point["d"]) ** float(power) for point in (along.points[0], broken))
    assert later > 2 * first


def test_a_bound_is_refuted_by_values_along_its_path_only():
    """Widths 2 d: d E X^2 is 0.115 at d = 16, below 0.13, and where both sizes are d it is 0.162."""
    along = path(width="2*d", input_dim="d")
    assert all(MOMENT.exact(point).high * point["d"] < Decimal("0.13") for point in along.points)
    with pytest.raises(tc.NoCertificate, match="where all sizes are d") as refused:
        tc.prove(bound(along=along, constant=0.13))
    assert refused.value.breaks is None
    with pytest.raises(
        tc.NoCertificate, match=r"exceeds 0\.1 \* d\*\*\(-1\) at d = 16, where it is 0\.007183, above 0\.00625"
    ) as refused:
        tc.prove(bound(along=along, constant=0.1))
    assert refused.value.breaks == 16


@pytest.mark.parametrize("rate", ["d**(-3/2)", "d**(-2)"])
def test_a_faster_rate_is_refused_with_a_size(rate):
    with pytest.raises(tc.NoCertificate, match="no faster") as refused:
        tc.prove(bound(rate=rate))
    assert refused.value.breaks > 16


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (lambda: bound(tc.norm_deviation(tc.DeepNetwork("exp(x)", depth=1), power=2)), r"A \+ B x\^2 is not proved of phi"),
        (
            lambda: bound(tc.norm_deviation(tc.DeepNetwork("sign(x) + x/1000", depth=1), power=2)),
            "phi has a kink at 0, and proofs for every size need an analytic phi",
        ),
        (lambda: bound(along=path(width="d", input_dim=8)), "size input_dim does not grow"),
        (
            lambda: tc.Scaling(MOMENT, PLAIN, exponent=-1, constant=1),
            "a Scaling without a constant, along a path, not a scal",
        ),
        (lambda: tc.Scaling(MOMENT, PLAIN, rate="1/d", constant=5), "not a scaling with a constant"),  # it tends to 0.1636/d
        (lambda: tc.Scaling(MOMENT, path(width="2*d", input_dim="d"), exponent="-2/3"), r"not d\*\*\(-2/3\) along"),
        (  # nor has it an exact value that the bound could be held against
            lambda: bound(tc.norm_deviation(tc.DeepNetwork("exp(x**2)", depth=1), power=2), constant=1),
            r"^norm_deviation\(exp\(x\*\*2\), depth=1, power=2\) has no proof for every size: phi\(x\)\^2 <= A",
        ),
        (lambda: tc.Scaling(MOMENT, path(width="2*d", input_dim="d"), exponent=-1), "where all of its sizes are equal"),
        (lambda: tc.Scaling(MOMENT, PLAIN, exponent="-1/2"), "bounded from below at its own rate"),
        (lambda: tc.Scaling(tc.overlap_moment(MOMENT.network), PLAIN, exponent=-1), "has proofs from above only"),
        (lambda: bound(tc.quantity(lambda rng, draws, *, d: rng.random(draws)), along=path()), "no proof for every size"),
    ],
)
def test_what_cannot_be_proved_says_why(statement, words):
    made = statement()
    with pytest.raises(tc.NoCertificate, match=words):
        tc.prove(made)


@pytest.mark.parametrize("text", ["relu", "abs", "tanh", "x + x**3/10", "asinh", tc.activations.gelu])
@pytest.mark.parametrize("power", [2, 4])
def test_a_scaling_is_proved_from_both_sides(text, power):
    moment = tc.norm_deviation(tc.DeepNetwork(text, depth=2), power=power)
    proof = tc.prove(tc.Scaling(moment, PLAIN, exponent=-power / 2))
    assert proof.scope.least < proof.scope.constant
    for d in (1000, 10**6):
        value = moment.exact({"d": d, "width": d, "input_dim": d})
        assert proof.scope.least <= value.low * d ** (power // 2)
        assert value.high * d ** (power // 2) <= proof.scope.constant


def test_a_bound_is_proved_from_below_too_where_that_is_found():
    """relu, depth 1: E X^2 = (7 d + 10)/(4 d^2)."""
    proof = tc.prove(bound(tc.norm_deviation(tc.DeepNetwork("relu", depth=1), power=2)))
    assert (proof.scope.constant, proof.scope.least) == (Decimal("1.90625"), Decimal("1.75"))
    assert tc.prove(bound(tc.norm_deviation(tc.DeepNetwork("relu", depth=1), power=1), rate="d**(-1/2)")).scope.least is None


def test_a_claim_has_a_proof_for_each_instance():
    @tc.conjecture("proving/two")
    @tc.example(depth=1)
    @tc.example(depth=2)
    def two(depth):
        "E (|x_l|^2 - sigma_l)^2 = O(1/d)"
        return bound(tc.norm_deviation(tc.DeepNetwork("erf", depth=depth), power=2))

    proofs = tc.prove(two)
    assert sorted(proof.instance["depth"] for proof in proofs) == [1, 2]
    assert {proof.claim for proof in proofs} == {"proving/two"}
    with pytest.raises(TypeError, match="takes a claim, a statement or a quantity, got 3"):
        tc.prove(3)


def test_what_the_checker_refuses_is_no_proof(monkeypatch):
    def refuse(record):
        raise checker.Refused("constant: it does not follow")

    monkeypatch.setattr(checker, "check", refuse)
    with pytest.raises(CertificateRefused, match="refused by the checker, constant: it does not follow; one of the two has a bug"):
        tc.prove(bound())


# -- derivations ------------------------------------------------------------------------------------------------------------------


def test_a_derivation_has_every_number_of_its_certificate():
    proof = tc.prove(bound(along=path(width="2*d", input_dim="d")), start=1024)
    text = " ".join(derivation(proof).split())
    layer = proof.certificate.proof["layers"][0]
    numbers = [*(layer[name] for name in ("centre", "slope", "curvature", "chord", "deviation", "growth"))]
    numbers += [proof.certificate.constant, proof.certificate.proof["range"]]
    numbers += [number for row in proof.certificate.proof["moments"] for number in row]
    assert [number for number in numbers if number not in text] == []
    assert str(proof) == derivation(proof)
    assert "(1) phi(x)^2 <= R" in text


def test_a_derivation_is_latex_for_an_appendix():
    setting = tc.TeacherStudent(tc.DeepNetwork("x", depth=1, widths=("d", "d")), samples="n")
    gap = tc.learning.mutual_information_gap(setting, per_sample=True)
    variance = tc.learning.free_entropy_variance(setting)
    proofs = [tc.prove(bound()), tc.prove(gap, start=16), tc.prove(variance, start=64)]
    text = render_latex(proofs)
    assert text.count(r"\begin{itemize}") == text.count(r"\end{itemize}") == 3
    assert text.isascii()
    assert r"\le" in text


def test_a_derivation_along_a_path_ends_in_both_sides_of_its_title():
    proof = tc.prove(tc.Scaling(MOMENT, path(width="2*d", input_dim="2*d"), exponent=-1))
    assert Decimal(proof.certificate.least) / 2 >= proof.scope.least
    least = f" and at least {proof.scope.least} * (d**(-1))"
    said = f"at most {proof.scope.constant} * (d**(-1)){least} for every d >= 16"
    text = " ".join(derivation(proof).split())
    assert least in text.partition(" x_0 ~ ")[0]
    assert said in text
    assert f"is at most ${proof.scope.constant}$ and at least ${proof.scope.least}$ times" in render_latex([proof])


def of_certificate(name):
    """A proof around a certificate of the samples."""
    record = json.loads((SAMPLES / f"{name}.json").read_text(encoding="utf-8"))
    found = Certificate.from_json(record)
    least = None if found.least is None else Decimal(found.least)
    return Proof("q", "d**(-1)", Scope("d", found.start, Decimal(found.constant), least, found.method, None), found)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("overlap-tanh-depth2-power3-from1024", ["(11) f(s) - s r(s)^2 <= kappa_1 s", "E |x_2 . x'_2|^3 <= ", "phi is odd"]),
        ("overlap-erf-depth1-power2-from1", ["r(s)^2 <= r(sigma_0)^2 + delta_1 |s - sigma_0|", "E C_1^2 <= G_{1,2} d^(-1)"]),
        (
            "two-sided-cos-depth3-power4-from16384",
            ["|f'(sigma_2)| >= alpha_0 = ", "E X_3^2 >= q_3 d^(-1)", "(E X^2)^(2) by Jensen"],
        ),
        ("two-sided-tanh-depth1-power2-from64", ["nu(s) >= nu(sigma_0) - delta_0 |s - sigma_0|", "where all widths are d"]),
        (
            "expansion-tanh-depth2-power2-from1024",
            ["|E X_2^2 - v_2 d^(-1)| <= K_{2,2} d^(-2)", "|mu'(sigma_1)| <= eta", "<= v_+ d^(-1) + "],
        ),
        (
            "expansion-cos-depth3-power4-from16384",
            ["U_{3,4} d^(-5/2) + K_{3,4} d^(-3)", "Q = R^(i-2m) V^m", ">= 3 v_-^2 d^(-2) - "],
        ),
        (
            "expansion-asinh-depth1-power4-from16384",
            ["m_a = z_a |B|_a", "M the mean of d_{l+1} independent copies", "|E X_0| <= K_{0,1}"],
        ),
        ("growth-asinh-depth2-power2-from1024", ["phi(x)^2 <= A_1 + B_1 x^2 for every x <= 0", "m_a = z_a |B|_a"]),
        ("polynomial-cube-depth1-power2-from64", ["p_k d^(-1) <= ", "M_a(s) = E phi(sqrt(s) Z)^(2a)"]),
        ("product-relu-depth2-power3-from64", ["sqrt(p_{2,2} p_{2,4})", "q^6 p'_{2,2}^(3/2)", "W = phi(Z)^2/q"]),
    ],
)
def test_every_number_of_every_kind_is_in_its_derivation(name, words):
    proof = of_certificate(name)
    text = " ".join(derivation(proof).split())
    record = proof.certificate.to_json()
    numbers = [value for path, value in leaves(record) if is_number(value)]
    assert [number for number in numbers if number not in text] == []
    assert [each for each in words if each not in text] == []
    assert "the format says" not in text
    tex = render_latex([proof])
    assert tex.isascii()
    assert [number for number in numbers if number not in tex] == []


@pytest.mark.parametrize(("phi", "depth", "power"), [("relu(x)", 2, 2), ("max(x, x/5)", 3, 4), ("x", 1, 6)])
def test_both_sides_of_a_product_say_the_second_order(phi, depth, power):
    """The printed K holds for exact values, and is what it is at the first size to the digits of both sides."""
    quantity = tc.norm_deviation(tc.DeepNetwork(phi, depth=depth), power=power)
    proof = tc.prove(quantity, start=64)
    text = " ".join(derivation(proof).split())
    (rest,) = re.findall(rf"d\^\({-power // 2 - 1}\), K = N \(C - [\d.]+\) = ([\d.]+), for every d >= 64 where", text)
    for size in (64, 65, 1000, 10**6):
        excess = (
            quantity.exact({"d": size, "width": size, "input_dim": size}, 40).high
            * size ** (power // 2)
            / Decimal(proof.scope.limit)
            - 1
        ) * size
        assert 0 < float(excess) * proof.scope.limit <= float(rest) * (1 + 1e-9)  # the limit is a float
        if size == 64:
            assert float(excess) * proof.scope.limit >= 0.99 * float(rest)


@pytest.mark.parametrize(("phi", "depth", "start"), [("tanh", 3, 16384), ("sin(2*x)", 2, 1024)])
def test_the_largest_moments_are_those_that_certificates_have(phi, depth, start):
    """Of power 8: moments of order 48 would give the same constant."""
    proof = tc.prove(tc.norm_deviation(tc.DeepNetwork(phi, depth=depth), power=8), start=start)
    assert (proof.certificate.method, proof.certificate.proof["top"]) == ("expansion", 40)


@pytest.mark.parametrize("phi", ["sqrt(1 + x**2)", "tanh(x/3)", "erf(x/5)", "asinh(x/10)", "1 + tanh(x)/1000"])
def test_maps_whose_third_order_is_within_the_errors_of_series_are_proved_to_the_first(phi):
    for depth in (1, 2):
        proof = tc.prove(tc.norm_deviation(tc.DeepNetwork(phi, depth=depth), power=2), start=4096)
        assert 0 < proof.scope.limit * (1 - 1e-9) < proof.scope.constant


MOMENT = tc.norm_deviation(tc.DeepNetwork("tanh", depth=1), power=2)


@pytest.mark.parametrize(("name", "value"), [("instances", "x"), ("seed", -1), ("parameters", 5)])
def test_a_quantity_takes_no_argument_of_claims_or_statements(name, value):
    with pytest.raises(TypeError, match=rf"takes no {name} for a quantity, got {name} = {re.escape(repr(value))}"):
        tc.prove(MOMENT, **{name: value})


def test_statements_and_claims_take_their_own_arguments_alone():
    bound = tc.Bound(MOMENT, rate="1/d", along=tc.ScalingPath(d=tc.doubling(16, 256), width="d", input_dim="d"))
    claim = tc.conjecture("lemmas/own")(lambda: bound)
    with pytest.raises(TypeError, match="takes no seed for a statement, got seed = 0"):
        tc.prove(bound, seed=0)
    with pytest.raises(TypeError, match="parameters must be a mapping"):
        tc.prove(bound, parameters=5)
    with pytest.raises(TypeError, match="takes no parameters for a claim"):
        tc.prove(claim, parameters={"k": 2})
    with pytest.raises(ValueError, match="instances must be an integer >= 1, got"):
        tc.prove(claim, instances="x")
    with pytest.raises(ValueError, match="seed must be an integer >= 0, got -1"):
        tc.prove(claim, seed=-1)
