"""Arithmetic of enclosures: every result holds every value the operands may have, checked in exact rationals."""

import itertools
import operator
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from theoryck.numerics.errors import ExactError
from theoryck.numerics.proved.arithmetic import add, divide, enclose, multiply, negate, power, subtract, total
from theoryck.records import Enclosure

decimals = st.decimals(min_value=-(10**6), max_value=10**6, places=6)
radii = st.decimals(min_value=0, max_value=10, places=6)
enclosures = st.builds(Enclosure, decimals, radii, st.booleans())
digits = st.integers(3, 40)


def members(value: Enclosure) -> list[Fraction]:
    middle, radius = Fraction(value.midpoint), Fraction(value.radius)
    return [middle + radius * share for share in (Fraction(-1), Fraction(-1, 3), Fraction(0), Fraction(1, 2), Fraction(1))]


def holds(value: Enclosure, number: Fraction) -> bool:
    return abs(Fraction(value.midpoint) - number) <= Fraction(value.radius)


@pytest.mark.parametrize(
    ("function", "exact"), [(add, operator.add), (subtract, operator.sub), (multiply, operator.mul), (divide, operator.truediv)]
)
@settings(max_examples=60)
@given(left=enclosures, right=enclosures, places=digits)
def test_results_hold_every_value(function, exact, left, right, places) -> None:
    if function is divide:
        assume(abs(right.midpoint) > right.radius)
    result = function(left, right, places)
    assert result.rigorous == (left.rigorous and right.rigorous)
    assert all(holds(result, exact(x, y)) for x, y in itertools.product(members(left), members(right)))


@settings(max_examples=60)
@given(base=enclosures, exponent=st.integers(-4, 7), places=digits)
def test_powers_hold_every_value(base, exponent, places) -> None:
    if exponent < 0:
        assume(abs(base.midpoint) > base.radius + Decimal("0.01"))
        # Rounded down to few digits the power of a small base may reach zero: that is an honest refusal.
        assume(places > 30)
    result = power(base, exponent, places)
    assert all(holds(result, x**exponent) for x in members(base))


def test_even_powers_do_not_lose_their_sign() -> None:
    assert power(Enclosure(Decimal(0), Decimal(1)), 2).low >= 0


@settings(max_examples=60)
@given(number=st.fractions(), places=digits)
def test_rationals_are_enclosed_tightly(number, places) -> None:
    result = enclose(number, places)
    assert holds(result, number)
    # One unit in the last of places + 8 digits at most, and the radius is rounded up to three.
    assert Fraction(result.radius) <= abs(number) * Fraction(1, 10**places)


def test_short_decimals_stay_exact() -> None:
    assert add(enclose(1), enclose(Fraction(1, 4))) == Enclosure(Decimal("1.25"), Decimal(0))
    assert multiply(enclose(3), enclose(Decimal("0.5"))).radius == 0
    assert total([enclose(1)] * 5) == enclose(5)
    assert negate(enclose(0)) == enclose(0)


def test_tight_radii_survive() -> None:
    tight = Enclosure(Decimal("0.3333333333"), Decimal("1e-50"))
    assert add(tight, tight, 60).radius < Decimal("3e-50")
    assert subtract(tight, tight, 60).radius < Decimal("3e-50")


def test_division_by_what_may_be_zero() -> None:
    with pytest.raises(ExactError, match="may be zero"):
        divide(enclose(1), Enclosure(Decimal("0.1"), Decimal("0.2")))
    with pytest.raises(ExactError, match="may be zero"):
        power(enclose(0), -1)
