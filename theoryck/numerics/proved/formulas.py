"""Closed formulas evaluated in interval arithmetic: a float that is right to the last digits, or a proved Enclosure.

A formula is a function ``formula(iv, *arguments)`` of an mpmath interval context and intervals; it may use +, -, *, /, ``iv.sqrt``
and ``iv.log``.  Interval arithmetic contains the exact value whatever cancels, so the working precision is raised until the digits
are there; no formula needs a second form for small arguments.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from mpmath.ctx_iv import MPIntervalContext
from numpy.typing import ArrayLike, NDArray

from theoryck.numerics.errors import NotConverged
from theoryck.records import Enclosure
from theoryck.records.arguments import integer

FLOAT_DIGITS = 17
MAX_DIGITS = 1000
ATTEMPTS = 7
_PLACES = 3 * MAX_DIGITS
_WIDE = Context(prec=_PLACES)  # operators on Decimal would round to 28 digits

Number = int | float | Fraction | Decimal | str | Enclosure
"""What a formula takes: exact numbers, a float (the decimal that it prints as), a text such as "1/3", or an Enclosure."""


def evaluate(formula: Callable[..., Any], arguments: tuple[Fraction | Enclosure, ...], digits: int | None = None) -> Any:
    """Return formula(arguments) as a float (``digits`` None) or as a proved Enclosure with ``digits`` significant digits.

    Arguments that are not exact limit what can be proved: the Enclosure is then as wide as they make it; a float is refused with
    :class:`NotConverged` where fewer than 12 digits are left.

    >>> evaluate(lambda iv, x: iv.log(1 + x) - x, (Fraction(1, 10**12),))
    -4.9999999999966...e-25
    """
    wanted = FLOAT_DIGITS if digits is None else integer(digits, "digits", 1, MAX_DIGITS)
    bits, found = math.ceil(3.33 * wanted) + 30, None
    for _ in range(ATTEMPTS):
        context = MPIntervalContext()
        context.prec = bits
        value = formula(context, *(_interval(context, argument) for argument in arguments))
        found = _ends(value)
        width, size = _WIDE.subtract(found[1], found[0]), max(found[0].copy_abs(), found[1].copy_abs())
        if width <= size * Decimal(10) ** -wanted:
            break
        bits *= 2
    inexact = any(isinstance(argument, Enclosure) and argument.radius for argument in arguments)
    assert found is not None
    if width > size * Decimal(10) ** -min(12, wanted) and not (inexact and digits is not None) and size > Decimal(10) ** -300:
        raise NotConverged(
            f"the value lies in [{found[0]:.6g}, {found[1]:.6g}], which was not narrowed at {bits} bits: give more digits"
        )
    if digits is None:
        return float(_WIDE.divide(_WIDE.add(*found), Decimal(2)))
    rigorous = all(argument.rigorous for argument in arguments if isinstance(argument, Enclosure))
    return _enclosure(*found, digits, rigorous)


def _interval(context: Any, value: Fraction | Enclosure) -> Any:
    if isinstance(value, Enclosure):
        low, high = Fraction(value.low), Fraction(value.high)
        left, right = (context.mpf(end.numerator) / context.mpf(end.denominator) for end in (low, high))
        return context.make_mpf((left._mpi_[0], right._mpi_[1]))
    return context.mpf(value.numerator) / context.mpf(value.denominator)


def _ends(interval: Any) -> tuple[Decimal, Decimal]:
    """The exact decimal expansions of the two ends (binary fractions end)."""
    # The raw ends: converting them to mpmath numbers would round them to the precision of another context.
    low, high = (_decimal(end, rounding) for end, rounding in zip(interval._mpi_, (ROUND_FLOOR, ROUND_CEILING)))
    if low is None or high is None:
        raise NotConverged(f"the value lies in {interval}: the arguments are too uncertain")
    return low, high


def _decimal(raw: Any, rounding: str) -> Decimal | None:
    sign, mantissa, exponent, _ = raw
    if not mantissa:
        return None if exponent else Decimal(0)
    # The sign is put back last, so a negative number is rounded the other way.
    away = {ROUND_FLOOR: ROUND_CEILING, ROUND_CEILING: ROUND_FLOOR}[rounding] if sign else rounding
    power = Decimal(1 << abs(exponent))
    context = Context(prec=_PLACES, rounding=away)
    scaled = (context.multiply if exponent >= 0 else context.divide)(Decimal(int(mantissa)), power)
    return scaled.copy_negate() if sign else scaled


def _enclosure(low: Decimal, high: Decimal, digits: int, rigorous: bool) -> Enclosure:
    context = Context(prec=digits + 8)
    midpoint = context.divide(context.add(low, high), Decimal(2))
    up = Context(prec=_PLACES, rounding=ROUND_CEILING)
    radius = max(up.subtract(high, midpoint), up.subtract(midpoint, low))
    return Enclosure(midpoint, Context(prec=3, rounding=ROUND_CEILING).plus(radius), rigorous)


def real_array(value: ArrayLike, name: str) -> NDArray[np.float64]:
    """Return ``value``, of any shape, as a float64 array; ValueError that names it for anything but real numbers.

    >>> real_array([[1, 0], [0, Fraction(1, 2)]], "gram").tolist()
    [[1.0, 0.0], [0.0, 0.5]]
    """
    try:
        array = np.asarray(value)
        if array.dtype.kind == "O":  # such as fractions; numpy would make NaN of None
            return np.array([float(entry) for entry in array.flat], dtype=np.float64).reshape(array.shape)
        if array.dtype.kind not in "iuf":
            raise TypeError
        return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must hold real numbers, got {value!r}") from None
