"""Constants given as text: what is read, how exactly, and what is said of the rest."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import mpmath
import pytest

import theoryck as tc
from theoryck.claims.arguments import ClaimError, constant

NORM = tc.norm_deviation(tc.DeepNetwork("tanh", depth=1), power=2)
PATH = tc.ScalingPath(d=tc.doubling(16, 64), width="d", input_dim="d")


@pytest.mark.parametrize("text", ["sqrt(2/pi)", "pi**2/6", "2**(1/2) - e", "exp(1) - e + 1e-50", "exp(-30)", "1/3", "0.1", "-7"])
@pytest.mark.parametrize("digits", [10, 40])
def test_constants_are_enclosed_to_the_digits_that_are_asked_for(text: str, digits: int) -> None:
    with mpmath.workdps(140):
        known = {"pi": +mpmath.pi, "e": +mpmath.e, "sqrt": mpmath.sqrt, "exp": mpmath.exp}
        truths: dict[str, Any] = {
            "sqrt(2/pi)": known["sqrt"](2 / known["pi"]),
            "pi**2/6": known["pi"] ** 2 / 6,
            "2**(1/2) - e": known["sqrt"](2) - known["e"],
            "exp(1) - e + 1e-50": mpmath.mpf(10) ** -50,
            "exp(-30)": known["exp"](-30),
            "1/3": mpmath.mpf(1) / 3,
            "0.1": mpmath.mpf(1) / 10,
            "-7": mpmath.mpf(-7),
        }
        found = constant(text, digits)
        error = abs(mpmath.mpf(str(found.midpoint)) - truths[text])
        assert error <= mpmath.mpf(str(found.radius)) + mpmath.mpf(10) ** -130
        assert found.rigorous
        assert mpmath.mpf(str(found.radius)) <= abs(truths[text]) * mpmath.mpf(10) ** -digits


def test_statements_take_constants_as_text() -> None:
    limit = tc.Limit(NORM, along=PATH, value="sqrt(2/pi)", rivals=["3/4"]).prediction({})
    assert limit.value is not None
    assert abs(float(limit.value) - (2 / 3.141592653589793) ** 0.5) < 1e-15
    assert limit.rivals == ("0.75",)
    assert tc.Scaling(NORM, along=PATH, exponent=-1, constant="sqrt(4)").prediction({}).constant == 2.0
    assert tc.Bound(NORM, rate="1/d", along=PATH, constant="3/4").prediction({}).constant == 0.75
    sigma = tc.networks.sigma("erf", 1)
    assert tc.Identity(sigma, "2/pi*0.5").prediction({}).value == constant("1/pi")
    assert float(tc.Bound(sigma, at_most="1/2").measured().exact({}, 20)) == pytest.approx(float(sigma.exact({}, 20)) - 0.5)  # type: ignore[arg-type]
    assert tc.Identity(sigma, Fraction(1, 4)).prediction({}).value == constant("0.25")
    assert constant("0.25").midpoint == Decimal("0.25")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("2*k", "'k' in '2*k' is not a number: what depends on an argument of the claim is computed outside the quotes"),
        ("squrt(2)", "did you mean 'sqrt'?"),
        ("2^3", "write ** for a power"),
        ("sqrt(2", "cannot read 'sqrt(2': write it like 'sqrt(2/pi)' or '3/4'"),
        ("", "the text is empty: write a constant like 'sqrt(2/pi)'"),
        ("1/0", "division by zero"),
        ("sqrt(-1)", "not a finite real number"),
        ("__import__('os')", "is not a number"),
        ("(" * 500, "cannot read"),
        ("9" * 2000, "at most 1000 are read"),
    ],
)
def test_texts_that_are_no_constants_are_refused_when_the_statement_is_made(text: str, said: str) -> None:
    made = {
        "value": lambda: tc.Limit(NORM, along=PATH, value=text),
        "rivals": lambda: tc.Limit(NORM, along=PATH, value=1, rivals=[text]),
        "constant": lambda: tc.Scaling(NORM, along=PATH, exponent=-1, constant=text),
        "rhs": lambda: tc.Identity(tc.networks.sigma("erf", 1), text),
    }
    for argument, make in made.items():
        with pytest.raises(ClaimError) as caught:
            make()
        assert said in str(caught.value)
        assert str(caught.value).startswith(f"{argument}: ")
    with pytest.raises(ClaimError):
        tc.Bound(NORM, rate="1/d", along=PATH, constant=text)


def test_a_bound_needs_a_positive_constant_in_text_too() -> None:
    with pytest.raises(ClaimError, match="constant must be a positive number, got -1"):
        tc.Bound(NORM, rate="1/d", along=PATH, constant="-1")
