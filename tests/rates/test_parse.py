"""Rate.parse: what it reads, what it refuses, and exponents against brute force and a limit that sympy gets wrong."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from theoryck.rates import Rate, RateError, ScalingPath, doubling

F = Fraction


@pytest.mark.parametrize(
    ("text", "parameters", "sizes", "value"),
    [
        ("d**(-k/2)", {"k": 4}, {"d": 8}, 1 / 64),
        ("d**(-(k+1)/2)", {"k": "3"}, {"d": 9}, 1 / 81),
        ("1/sqrt(d)", {}, {"d": 16}, 0.25),
        ("(1 + sqrt(n/d) + n/d)/sqrt(d)", {}, {"d": 4, "n": 16}, 3.5),
        ("sqrt(log(d)/d)", {}, {"d": 8}, math.sqrt(math.log(8) / 8)),
        ("2*d_min**a", {"a": "-0.5"}, {"d_min": 4}, 1.0),
        ("k*d**(-1)", {"k": Fraction(1, 2)}, {"d": 4}, 0.125),
        ("(1 + d)**2/d**2", {}, {"d": 3}, 16 / 9),
        ("3", {}, {}, 3.0),
        ("+d/(2*n)", {}, {"d": 6, "n": 3}, 1.0),
        ("sqrt(2)*sqrt(2)*d", {}, {"d": 5}, 10.0),
        ("d**0.1", {}, {"d": 1024}, 2.0),
        ("1e-3*d", {}, {"d": 1000}, 1.0),
        ("log2(d)/d", {}, {"d": 8}, 3 / 8),
        ("log10(d)**2", {}, {"d": 1000}, 9.0),
        ("ln(d) + log(2)", {}, {"d": 8}, math.log(16)),
        ("log(n*d**2)", {}, {"d": 4, "n": 2}, math.log(32)),
        ("log(3*n)", {}, {"n": 2}, math.log(6)),
        ("log(d + 1)/d", {}, {"d": 7}, math.log(8) / 7),
        ("log(d - 1)", {}, {"d": 8}, math.log(7)),
        ("1/(d - 1)", {}, {"d": 5}, 0.25),
        ("sqrt(d + 1)/(1 + d)", {}, {"d": 8}, 1 / 3),
        ("1/(d + 1)**2", {}, {"d": 3}, 1 / 16),
        ("d - 1 - 1/2", {}, {"d": 4}, 2.5),
        ("log(log(d))", {}, {"d": 16}, math.log(math.log(16))),
        ("h**2*log(1/h)", {}, {"h": 0.125}, math.log(8) / 64),
        ("log(1/h**2)", {}, {"h": 0.5}, 2 * math.log(2)),
        ("log(log(1/h))", {}, {"h": 0.1}, math.log(math.log(10))),
        ("3*2**(-l)", {}, {"l": 0}, 3.0),
        ("2**(1 - 2*l)", {}, {"l": 2}, 0.125),
        ("k**(-l)", {"k": 3}, {"l": 2}, 1 / 9),
        ("0.5**l*l", {}, {"l": 3}, 0.375),
        ("exp(-n/2)", {}, {"n": 4}, math.exp(-2)),
        ("(3/2)**n/2**n", {}, {"n": 2}, 9 / 16),
    ],
)
def test_values(text: str, parameters: dict[str, object], sizes: dict[str, int], value: float) -> None:
    rate = Rate.parse(text, **parameters)
    assert rate(sizes) == pytest.approx(value, rel=1e-14)
    assert Rate.parse(str(rate)) == rate


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("__import__('os')", "unknown function '__import__'"),
        ("__import__('os').system('true')", "cannot be called"),
        ("d.__class__", "attribute .__class__"),
        ("d**d", "a size cannot stand in an exponent"),
        ("d**(9**9**9)", "larger than 64"),
        ("d**(1e99)", "larger than 1000"),
        ("(2**60)**60", "more than 150 digits"),
        ("d" * 10_000, "at most 500 characters"),
        ("-" * 400 + "d", "nested more than"),
        ("sqrt(" * 60 + "d" + ")" * 60, "nested more than"),
        ("(" * 300 + "d", "cannot read"),
        ("d - n", "subtraction"),
        ("1 - d", "subtraction"),
        ("-d", "minus sign"),
        ("1 - 2", "negative"),
        ("0*d", "is zero"),
        ("0", "is zero"),
        ("", "cannot read"),
        ("d[0]", "Subscript"),
        ("lambda: d", "Lambda"),
        ("d if d else 1", "IfExp"),
        ("[d for d in d]", "ListComp"),
        ("(d := 1)", "NamedExpr"),
        ("f'{d}'", "JoinedStr"),
        ("'d'", "not a number"),
        ("True", "not a number"),
        ("1j*d", "not a number"),
        ("1e999*d", "not a number"),
        ("1/0", "division by zero"),
        ("d**(1/0)", "division by zero"),
        ("d/(d - d)", "subtraction"),
        ("d/(n + d)", "single monomial"),
        ("sqrt(n + d)", "a sum cannot be raised to the power 1/2"),
        ("log(n/d)", "expand"),
        ("log(n/2)", "may be negative"),
        ("log(n + d)", "a product of powers of sizes, or a size plus a number"),
        ("log(1)", "is 0: a rate is a sum of positive terms"),
        ("exp(d**2)", "a multiple of a size, as in exp"),
        ("exp(d + 1)", "write other factors before it"),
        ("2**(d*d)", "a size cannot stand in an exponent, but of a number"),
        ("(-2)**d", "must be positive"),
        ("0**d", "must be positive"),
        ("2**(10**6*d)", "larger than 1000"),
        ("2**(9**9**9*d)", "larger than 64"),
        ("exp(exp(d))", "a multiple of a size"),
        ("sqr(d)", "did you mean 'sqrt'"),
        ("tanh(d)", "unknown function 'tanh'"),
        ("d^2", r"write \*\* for a power: d\*\*2"),
        ("(1 + n/d)^(-1/2)", r"write \*\* for a power: \(1 \+ n/d\)\*\*\(-1/2\)"),
        ("sqrt(d, n)", "takes one argument"),
        ("sqrt(*d)", "Starred"),
        ("log(d, base=2)", "takes one argument"),
        ("\x00", "cannot read"),
        ("1or 2", "BoolOp"),
        ("d**-k", "a power must be a number"),
        ("(a+b+c+e)**8*(1+f)**8", "more than 64 terms"),
    ],
)
def test_refusals(text: str, complaint: str) -> None:
    with pytest.raises(RateError, match=complaint):
        Rate.parse(text)


def test_text_only_and_numeric_parameters_only() -> None:
    with pytest.raises(RateError, match="must be text"):
        Rate.parse(3)  # type: ignore[arg-type]
    with pytest.raises(RateError, match="k = 'four' is not a number"):
        Rate.parse("d**k", k="four")
    with pytest.raises(RateError, match="k = 'nan' is not a number"):
        Rate.parse("d**k", k=float("nan"))
    with pytest.raises(RateError, match="is not a number"):
        Rate.parse("d**k", k=True)
    assert Rate.parse("1/d", phi=object()) == Rate.parse("1/d")  # a parameter that does not occur need not be a number


def test_unknown_names_get_a_close_match() -> None:
    path = ScalingPath(d=doubling(16, 64), width="d")
    with pytest.raises(RateError, match="'widht' is neither a size of the path nor a parameter; did you mean 'width'"):
        Rate.parse("1/widht").exponent(path)
    with pytest.raises(RateError, match="neither a size"):
        Rate.parse("1/n")({"d": 3})


def test_logarithm_of_size_one() -> None:
    assert Rate.parse("1 + log(d)")({"d": 1}) == 1.0
    with pytest.raises(RateError, match="start the path at a larger size"):
        Rate.parse("log(d)")({"d": 1})
    with pytest.raises(RateError, match="not a positive number"):
        Rate.parse("1/log(d)")({"d": 1})
    with pytest.raises(RateError, match="must be positive"):
        Rate.parse("1/d")({"d": 0})


@pytest.mark.parametrize("gamma", [F(1, 4), F(1, 2), F(1), F(5, 4), F(3, 2), F(2)])
def test_exponent_is_the_maximum_of_linear_functions(gamma: Fraction) -> None:
    """At n = d**gamma the mutual-information rate has exponent max(-1/2, (gamma-1)/2 - 1/2, gamma - 3/2)."""
    rate = Rate.parse("(1 + sqrt(n/d) + n/d)/sqrt(d)")
    expected = max(F(-1, 2), gamma / 2 - 1, gamma - F(3, 2))
    assert rate.exponent({"d": F(1), "n": gamma}) == expected
    # Independently: the slope of log(rate) at astronomically large d.
    high, low = ({"d": 2**k, "n": 2 ** int(k * gamma)} for k in (8000, 4000))
    slope = (rate.log_value(high) - rate.log_value(low)) / (4000 * math.log(2))
    assert slope == pytest.approx(float(expected), abs=1e-3)


def test_exponent_where_a_symbolic_limit_goes_wrong() -> None:
    """(1 + d**g/d)/sqrt(d) diverges for g > 3/2; sympy's limit with symbolic g returns 0 (DESIGN section 3)."""
    rate = Rate.parse("(1 + n/d)/sqrt(d)")
    assert rate.exponent({"d": F(1), "n": F(2)}) == F(1, 2)
    assert rate.exponent({"d": F(1), "n": F(1)}) == F(-1, 2)


def test_log_powers_break_ties() -> None:
    rate = Rate.parse("log(d)**2/d + 1/d + sqrt(log(n))/n")
    assert (rate.exponent({"d": F(1), "n": F(1)}), rate.log_power({"d": F(1), "n": F(1)})) == (F(-1), F(2))
    assert rate.log_power({"d": F(1), "n": F(1, 2)}) == F(1, 2)
    assert Rate.parse("log(n)/d").log_power({"d": F(1), "n": F(0)}) == 0  # n is fixed: its logarithm is a constant


exponents = st.fractions(min_value=-3, max_value=3, max_denominator=6)
monomials = st.tuples(st.integers(1, 9), exponents, exponents, st.integers(0, 2))


@given(st.lists(monomials, min_size=1, max_size=4), st.integers(2, 10**6), st.integers(2, 10**6), exponents)
def test_sums_against_direct_evaluation(terms: list[tuple[int, Fraction, Fraction, int]], d: int, n: int, gamma: Fraction) -> None:
    text = " + ".join(f"{c}*d**({p})*n**({q})*log(d)**{r}" for c, p, q, r in terms)
    rate = Rate.parse(text)
    direct = math.fsum(c * d ** float(p) * n ** float(q) * math.log(d) ** r for c, p, q, r in terms)
    assert rate({"d": d, "n": n}) == pytest.approx(direct, rel=1e-12)
    assert rate.exponent({"d": F(1), "n": gamma}) == max(p + q * gamma for _, p, q, _ in terms)
    assert Rate.parse(str(rate)) == rate


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        rate = Rate.parse(text)
    except RateError:
        return
    assert Rate.parse(str(rate)) == rate


def test_exact_values_and_extreme_ones() -> None:
    assert Rate.parse("2/d + 1/n**2").exact({"d": 3, "n": 2}) == F(11, 12)
    assert Rate.parse("1/sqrt(d)").exact({"d": 4}) is None
    assert Rate.parse("log(d)/d").exact({"d": 4}) is None
    assert Rate.parse("d**(-900)").log_value({"d": 10}) == pytest.approx(-900 * math.log(10), rel=1e-15)
    assert Rate.parse("d**(900) + 1").log_value({"d": 10}) == pytest.approx(900 * math.log(10), rel=1e-15)
