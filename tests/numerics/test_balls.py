"""Precision is global in python-flint: it must come back; records must contain the balls they are made from."""

from __future__ import annotations

import threading
from decimal import Decimal
from fractions import Fraction

import flint
import numpy as np
import pytest
import sympy
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st

from theoryck.numerics.balls import check_digits, from_ball, maximum, plus_minus, precision, proved_digits, to_ball
from theoryck.numerics.errors import ExactError, NotIntegrable
from theoryck.records import Enclosure


def test_precision_is_restored_after_an_error_and_when_nested():
    before = flint.ctx.prec
    seen = []

    def fails() -> None:
        with precision(300):
            with precision(77):
                seen.append(flint.ctx.prec)
            seen.append(flint.ctx.prec)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fails()
    assert seen == [77, 300]
    assert flint.ctx.prec == before


def test_threads_do_not_see_each_others_precision():
    wrong: list[tuple[int, int]] = []

    def work(bits: int) -> None:
        for _ in range(200):
            with precision(bits):
                third = arb(1) / 3
                if flint.ctx.prec != bits or not bits - 5 <= third.rel_accuracy_bits() <= bits + 5:
                    wrong.append((bits, flint.ctx.prec))

    threads = [threading.Thread(target=work, args=(bits,)) for bits in (64, 128, 500)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize("digits", [0, -3, 2.5, True, "10", None, 10**6])
def test_absurd_digits_are_refused(digits):
    with pytest.raises(ExactError, match=r"digits must be an integer between 1 and 10000, got"):
        check_digits(digits)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (3, Fraction(3)),
        (Fraction(2, 7), Fraction(2, 7)),
        (Decimal("0.1"), Fraction(1, 10)),
        (0.1, Fraction(0.1)),
        (np.float64(0.1), Fraction(0.1)),
        (np.int64(4), Fraction(4)),
        (sympy.Rational(-5, 3), Fraction(-5, 3)),
        (sympy.Float("0.25"), Fraction(1, 4)),
    ],
)
def test_conversion_is_exact(value, expected):
    with precision(200):
        ball = to_ball(value)
        assert ball.contains(arb(fmpq(expected.numerator, expected.denominator)))
        assert ball.is_exact() or ball.rel_accuracy_bits() > 190


def test_conversion_of_symbolic_constants_and_enclosures():
    with precision(200):
        assert (to_ball(sympy.sqrt(2) / sympy.pi) - arb(2).sqrt() / arb.pi()).contains(0)
        ball = to_ball(Enclosure(Decimal("0.5"), Decimal("0.1")))
        assert ball.contains(arb("0.4001"))
        assert ball.contains(arb("0.5999"))
        assert not ball.contains(arb("0.61"))


@pytest.mark.parametrize("value", ["1", None, float("inf"), float("nan"), sympy.Symbol("y"), sympy.oo, 1 + 2j, Decimal("NaN")])
def test_what_is_no_real_number_is_refused(value):
    with pytest.raises(ExactError, match=r"real number is needed|is not one of the numbers"):
        to_ball(value)


@given(
    numerator=st.integers(-(10**40), 10**40),
    denominator=st.integers(1, 10**30),
    radius=st.sampled_from(["0", "1e-5", "3e-20", "1e-60", "7e10"]),
    digits=st.integers(1, 60),
)
def test_records_contain_their_ball(numerator, denominator, radius, digits):
    """Exact rational arithmetic decides: both ends of the ball lie between the ends of the record."""
    with precision(200):
        ball = arb(fmpq(numerator, denominator)) + arb(0, arb(radius))
        record = from_ball(ball, digits)
        middle, reach = (_fraction(part) for part in (ball.mid(), ball.rad()))
    assert Fraction(record.midpoint) - Fraction(record.radius) <= middle - reach
    assert middle + reach <= Fraction(record.midpoint) + Fraction(record.radius)


def _fraction(exact: arb) -> Fraction:
    mantissa, exponent = exact.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def test_exact_values_stay_exact_and_short():
    with precision(100):
        assert from_ball(arb(0), 20).to_json() == {"value": "0", "radius": "0", "rigorous": True}
        assert from_ball(arb("-2.5"), 20).to_json() == {"value": "-2.5", "radius": "0", "rigorous": True}
        assert from_ball(arb(12000), 5).midpoint == 12000


def test_infinite_balls_are_no_records():
    for ball in (arb.pos_inf(), arb.nan(), arb(0, arb.pos_inf())):
        with pytest.raises(NotIntegrable):
            from_ball(ball, 10)


def test_proved_digits():
    with precision(200):
        assert proved_digits(arb(7)) == float("inf")
        assert proved_digits(arb(0, "1e-30")) == 0
        assert proved_digits(arb(1, arb.pos_inf())) == proved_digits(arb.nan()) == proved_digits(arb.pos_inf()) == 0
        # one bit is given away for safety: between 11 and 12 for a relative radius of 1e-12
        assert 11 <= proved_digits(arb(100, "1e-10")) <= 12


def test_helpers_enclose():
    with precision(64):
        assert maximum(arb(1), arb(3), arb(2)) == 3
        assert plus_minus(arb(-2, 1)).contains(arb(-3))
        assert not plus_minus(arb(-2, 1)).contains(arb("3.01"))
