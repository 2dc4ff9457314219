"""Arithmetic of enclosures, rounded outward.

Each operation works on the ends [low, high] of its operands in decimal floating point with directed rounding: ``decimal`` rounds
+, -, * and / correctly, so with ROUND_FLOOR a computed lower end is at most the exact one and with ROUND_CEILING an upper end is at
least the exact one (monotonicity of the operation in each end does the rest).  The result is rigorous when both operands are.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from theoryck.numerics.errors import ExactError
from theoryck.records import Enclosure

GUARD = 8
"""Digits beyond those asked for in intermediate ends."""


def _contexts(digits: int) -> tuple[Context, Context]:
    shared = {"prec": digits + GUARD, "Emin": MIN_EMIN, "Emax": MAX_EMAX}
    return Context(rounding=ROUND_FLOOR, **shared), Context(rounding=ROUND_CEILING, **shared)  # type: ignore[arg-type]


def _ends(value: Enclosure, digits: int) -> tuple[Decimal, Decimal]:
    down, up = _contexts(digits)
    return down.subtract(value.midpoint, value.radius), up.add(value.midpoint, value.radius)


def _from_ends(low: Decimal, high: Decimal, digits: int, rigorous: bool) -> Enclosure:
    """Return an enclosure of [low, high]: any midpoint will do as long as the radius reaches both ends, rounded up."""
    if low == high:
        return Enclosure(low, Decimal(0), rigorous)
    down, up = _contexts(digits)
    midpoint = down.divide(down.add(low, high), Decimal(2))
    radius = max(up.subtract(high, midpoint), up.subtract(midpoint, low))
    return Enclosure(midpoint, Context(prec=3, rounding=ROUND_CEILING, Emin=MIN_EMIN, Emax=MAX_EMAX).plus(radius), rigorous)


def enclose(number: int | Fraction | Decimal, digits: int = 30) -> Enclosure:
    """Return the enclosure of an exact number: radius 0 where its decimal expansion ends within ``digits``, else outward.

    >>> enclose(Fraction(1, 4)).to_json(), float(enclose(Fraction(1, 3), 10).radius) < 1e-10
    ({'value': '0.25', 'radius': '0', 'rigorous': True}, True)
    """
    exact = Fraction(number)
    if isinstance(number, int):
        return Enclosure(Decimal(number), Decimal(0))
    down, up = _contexts(digits)
    numerator, denominator = Decimal(exact.numerator), Decimal(exact.denominator)
    return _from_ends(down.divide(numerator, denominator), up.divide(numerator, denominator), digits, True)


def add(left: Enclosure, right: Enclosure, digits: int = 30) -> Enclosure:
    """Return an enclosure of the sum.

    >>> str(add(enclose(1), enclose(Fraction(1, 2))).midpoint)
    '1.5'
    """
    down, up = _contexts(digits)
    (a, b), (c, d) = _ends(left, digits), _ends(right, digits)
    return _from_ends(down.add(a, c), up.add(b, d), digits, left.rigorous and right.rigorous)


def negate(value: Enclosure) -> Enclosure:
    """Return the enclosure of minus the value: the midpoint changes sign, without rounding."""
    return Enclosure(value.midpoint.copy_negate() if value.midpoint else value.midpoint, value.radius, value.rigorous)


def subtract(left: Enclosure, right: Enclosure, digits: int = 30) -> Enclosure:
    """Return an enclosure of the difference."""
    return add(left, negate(right), digits)


def multiply(left: Enclosure, right: Enclosure, digits: int = 30) -> Enclosure:
    """Return an enclosure of the product: a bilinear function on a rectangle has its extremes at corners."""
    down, up = _contexts(digits)
    corners = [(x, y) for x in _ends(left, digits) for y in _ends(right, digits)]
    low = min(down.multiply(x, y) for x, y in corners)
    high = max(up.multiply(x, y) for x, y in corners)
    return _from_ends(low, high, digits, left.rigorous and right.rigorous)


def divide(left: Enclosure, right: Enclosure, digits: int = 30) -> Enclosure:
    """Return an enclosure of the quotient; ExactError when the divisor's enclosure contains zero.

    x/y is monotone in x and, for x fixed, in y on an interval without zero: extremes are at corners.
    """
    down, up = _contexts(digits)
    ends = _ends(right, digits)
    if ends[0] <= 0 <= ends[1]:
        raise ExactError(f"cannot divide by a number known only to lie in [{ends[0]:.6g}, {ends[1]:.6g}]: it may be zero")
    corners = [(x, y) for x in _ends(left, digits) for y in ends]
    low = min(down.divide(x, y) for x, y in corners)
    high = max(up.divide(x, y) for x, y in corners)
    return _from_ends(low, high, digits, left.rigorous and right.rigorous)


def power(base: Enclosure, exponent: int, digits: int = 30) -> Enclosure:
    """Return an enclosure of base**exponent for an integer exponent (1 for exponent 0, as for polynomials).

    An odd power is increasing; an even one grows with |x|, so its least value is 0 when the base may be 0.  Ends are raised by
    repeated multiplication of non-negative numbers, where rounding each step down (up) rounds the whole down (up).
    """
    if exponent < 0:
        return divide(enclose(1), power(base, -exponent, digits), digits)
    low, high = _ends(base, digits)
    if exponent % 2:
        ends = _signed_power(low, exponent, digits, 0), _signed_power(high, exponent, digits, 1)
    else:
        magnitudes = sorted((low.copy_abs(), high.copy_abs()))
        least = Decimal(0) if low <= 0 <= high and exponent else magnitudes[0]
        ends = _signed_power(least, exponent, digits, 0), _signed_power(magnitudes[1], exponent, digits, 1)
    return _from_ends(*ends, digits, base.rigorous)


def _signed_power(number: Decimal, exponent: int, digits: int, direction: int) -> Decimal:
    """Return number**exponent rounded down (direction 0) or up (1); a negative number only with an odd exponent."""
    if number < 0:
        return _signed_power(number.copy_negate(), exponent, digits, 1 - direction).copy_negate()
    context = _contexts(digits)[direction]
    result = Decimal(1)
    for _ in range(exponent):
        result = context.multiply(result, number)
    return result


def total(values: Iterable[Enclosure], digits: int = 30) -> Enclosure:
    """Return an enclosure of the sum of any number of values (0 for none)."""
    result = enclose(0)
    for value in values:
        result = add(result, value, digits)
    return result
