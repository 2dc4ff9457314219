"""A certificate as it is written: decimal numbers, rounded up to few digits, so that what was proved of a ball holds of them."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

from flint import arb, fmpq

from theoryck.numerics.balls import maximum
from theoryck.numerics.functions.activation import Activation
from theoryck.quantities.base import NoCertificate
from theoryck.records import Certificate

LEAST = Decimal("1e-9")
"""No bound of a layer is written below this share of its natural size: a smaller one says nothing that is used."""
_CLEAR = 1.0001
"""A reader's ball of the size may be wider than one's own."""
LARGEST_EXPONENT = 900
_PLAIN = 40
"""Numbers of so many characters are written without an exponent."""


def rounded_up(value: arb | float, digits: int = 6, size: arb | float = 0) -> Decimal:
    """Return a decimal number of ``digits`` digits that is at least ``value`` and at least 1e-9 times ``size``.

    >>> rounded_up(2 / 3, 4), rounded_up(arb(0), size=arb(2))
    (Decimal('0.6667'), Decimal('2.00021E-9'))
    """
    end = maximum(arb(value), _CLEAR * ball(LEAST) * arb(size)).upper()
    if not end.is_finite():
        raise NoCertificate(f"a bound of a layer is not finite ({end}): take a flatter phi")
    mantissa, exponent = (int(part) for part in end.man_exp())
    exact = Fraction(mantissa) * Fraction(2) ** exponent
    context = Context(prec=digits, rounding=ROUND_CEILING)
    return context.divide(Decimal(exact.numerator), Decimal(exact.denominator))


def rounded_down(value: arb, digits: int = 9, size: arb | float = 0) -> Decimal:
    """Return a decimal number of ``digits`` digits that is at most ``value``, 0 where that is not above 1e-9 times ``size``.

    >>> rounded_down(arb(2) / 3, 4), rounded_down(arb("1e-12"), size=arb(1))
    (Decimal('0.6666'), Decimal('0'))
    """
    if not value > 0:
        return Decimal(0)
    mantissa, exponent = (int(part) for part in value.lower().man_exp())
    exact = Fraction(mantissa) * Fraction(2) ** exponent
    found = Context(prec=digits, rounding=ROUND_FLOOR).divide(Decimal(exact.numerator), Decimal(exact.denominator))
    return found if ball(found) > _CLEAR * ball(LEAST) * arb(size) else Decimal(0)


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
    """Return a decimal number as digits, with an exponent where there would be many; NoCertificate where that is too long.

    >>> plain_text(Decimal("0.50")), plain_text(Decimal("2E+1")), plain_text(Decimal("1E-9")), plain_text(Decimal("1.2E-50"))
    ('0.5', '20', '0.000000001', '1.2e-50')
    """
    if abs(number.adjusted()) > LARGEST_EXPONENT:
        raise NoCertificate(
            f"a number of the proof is {number:.1e}, beyond 1e{LARGEST_EXPONENT}: take a multiple of phi nearer to 1"
        )
    plain = f"{number.normalize():f}"
    return plain if len(plain) <= _PLAIN else as_written(number.normalize())


def as_written(number: Decimal) -> str:
    """Return all the digits of a decimal number, trailing zeros too, by which a reader knows the unit of the last one.

    >>> as_written(Decimal("0.50")), as_written(Decimal("3.940E+6"))
    ('0.50', '3.940e6')
    """
    plain = f"{number:f}"
    return plain if len(plain) <= _PLAIN and int(number.as_tuple().exponent) <= 0 else f"{number:e}".replace("e+", "e")


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
