"""A certificate as it is written: decimal numbers, rounded up to few digits, so that what was proved of a ball holds of them."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

from flint import arb, fmpq

from theoryck.numerics.functions.activation import Activation
from theoryck.records import Certificate

LEAST = Decimal("1e-9")
"""No bound is written below this: a smaller one says nothing that is used."""


def rounded_up(value: arb | float, digits: int = 6) -> Decimal:
    """Return a decimal number of ``digits`` digits that is at least ``value`` and at least 1e-9.

    >>> rounded_up(2 / 3, 4), rounded_up(arb(0))
    (Decimal('0.6667'), Decimal('1E-9'))
    """
    end = arb(value).upper()
    mantissa, exponent = (int(part) for part in end.man_exp())
    exact = Fraction(mantissa) * Fraction(2) ** exponent
    context = Context(prec=digits, rounding=ROUND_CEILING)
    return max(context.divide(Decimal(exact.numerator), Decimal(exact.denominator)), LEAST)


def rounded_down(value: arb, digits: int = 9) -> Decimal:
    """Return a decimal number of ``digits`` digits that is at most ``value``, 0 where that is below 1e-9.

    >>> rounded_down(arb(2) / 3, 4)
    Decimal('0.6666')
    """
    mantissa, exponent = (int(part) for part in value.lower().man_exp())
    exact = Fraction(mantissa) * Fraction(2) ** exponent
    found = Context(prec=digits, rounding=ROUND_FLOOR).divide(Decimal(exact.numerator), Decimal(exact.denominator))
    return found if found >= LEAST else Decimal(0)


def ball(number: Decimal | Fraction | int) -> arb:
    """Return the ball of an exact number at the current precision.

    >>> ball(Decimal("0.5")) == arb(1) / 2
    True
    """
    exact = Fraction(number)
    return arb(fmpq(exact.numerator, exact.denominator))


def above(centre: Decimal) -> Decimal:
    """Return a rounded number and one unit of its last digit: what is rounded is below.

    >>> above(Decimal("0.39"))
    Decimal('0.40')
    """
    return centre + Decimal(1).scaleb(int(centre.as_tuple().exponent))


def plain_text(number: Decimal) -> str:
    """Return a decimal number as digits without exponent.

    >>> plain_text(Decimal("0.50")), plain_text(Decimal("2E+1")), plain_text(Decimal("1E-9"))
    ('0.5', '20', '0.000000001')
    """
    return f"{number.normalize():f}"


def rows(numbers: Sequence[Sequence[Decimal]]) -> list[list[str]]:
    """Return lists of numbers as they are written."""
    return [[plain_text(number) for number in row] for row in numbers]


def certificate(
    quantity: str,
    method: str,
    activation: Activation,
    sizes: tuple[int, int, int],
    constant: Decimal,
    proof: dict[str, Any],
    least: Decimal | None = None,
) -> Certificate:
    """Return a certificate of "all widths >= d"; ``sizes`` are the depth, the power and the start."""
    depth, power, start = sizes
    text = None if least is None or least == 0 else plain_text(least)
    return Certificate(quantity, activation.text, depth, power, start, plain_text(constant), method, proof, least=text)
