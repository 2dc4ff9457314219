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
    bits = math.ceil(3.33 * wanted) + 30
    for _ in range(ATTEMPTS):
        context = MPIntervalContext()
        context.prec = bits
        low, high = _ends(formula(context, *(_interval(context, argument) for argument in arguments)))
        width, size = high - low, max(abs(low), abs(high))
        if width * 10**wanted <= size:
            break
        bits *= 2
    inexact = digits is not None and any(isinstance(argument, Enclosure) and argument.radius for argument in arguments)
    # What is that small is 0, which no number of bits tells from its neighbours.
    if not inexact and width * 10 ** min(12, wanted) > size > Fraction(1, 10**300):
        raise NotConverged(
            f"the value lies in [{float(low):.6g}, {float(high):.6g}], which was not narrowed at {bits} bits: give more digits"
        )
    if digits is None:
        return float((low + high) / 2)
    context, up = Context(prec=digits + 8), Context(prec=_PLACES, rounding=ROUND_CEILING)
    # Binary fractions end in decimals too.
    ends = [_quotient(Context(prec=_PLACES, rounding=way), end) for way, end in ((ROUND_FLOOR, low), (ROUND_CEILING, high))]
    midpoint = context.divide(context.add(*ends), Decimal(2))
    radius = max(up.subtract(ends[1], midpoint), up.subtract(midpoint, ends[0]))
    rigorous = all(argument.rigorous for argument in arguments if isinstance(argument, Enclosure))
    return Enclosure(midpoint, Context(prec=3, rounding=ROUND_CEILING).plus(radius), rigorous)


def _quotient(context: Context, value: Fraction) -> Decimal:
    return context.divide(Decimal(value.numerator), Decimal(value.denominator))


def _interval(context: Any, value: Fraction | Enclosure) -> Any:
    if isinstance(value, Enclosure):
        low, high = Fraction(value.low), Fraction(value.high)
        left, right = (context.mpf(end.numerator) / context.mpf(end.denominator) for end in (low, high))
        return context.make_mpf((left._mpi_[0], right._mpi_[1]))
    return context.mpf(value.numerator) / context.mpf(value.denominator)


def _ends(interval: Any) -> list[Fraction]:
    """The two ends: raw, since as mpmath numbers they would be rounded to the precision of another context."""
    if any(exponent and not mantissa for _, mantissa, exponent, _ in interval._mpi_):  # infinite, or no number
        raise NotConverged(f"the value lies in {interval}: the arguments are too uncertain")
    return [(-1) ** sign * int(mantissa) * Fraction(2) ** exponent for sign, mantissa, exponent, _ in interval._mpi_]


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
