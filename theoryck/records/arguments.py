"""What functions of every room ask of their arguments: integers, positive numbers, exact numbers; refused by name and value."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Rational, Real
from typing import Any

from theoryck.records.values import Enclosure

LEAST, LARGEST = 1e-30, 1e30
"""The numeric domain: values and scales lie between these, or are 0 where 0 is allowed."""


_MOST_DIGITS = 10_000


def integer(value: Any, name: str, least: int = 0, most: int | None = None, error: type[ValueError] = ValueError) -> int:
    """Return an integer from ``least`` to ``most`` (numpy's too, but no bool) as an int; ``error`` for anything else.

    >>> integer(3, "depth")
    3
    >>> integer(0, "depth", 1, 16)
    Traceback (most recent call last):
        ...
    ValueError: depth must be an integer between 1 and 16, got 0
    """
    try:
        number = operator.index(value) if not isinstance(value, bool) else least - 1
    except TypeError:
        number = least - 1
    if number < least or (most is not None and number > most):
        wanted = f">= {least}" if most is None else f"between {least} and {most}"
        raise error(f"{name} must be an integer {wanted}, got {shown(value)}")
    return number


def positive(value: Any, name: str, most: float = math.inf, error: type[ValueError] = ValueError) -> float:
    """Return a finite number with 0 < value <= most as a float; ``error`` for anything else, texts too.

    >>> positive(2, "scale")
    2.0
    >>> positive(0, "scale")
    Traceback (most recent call last):
        ...
    ValueError: scale must be a positive number, got 0
    """
    good = isinstance(value, Real | Decimal) and not isinstance(value, bool) and math.isfinite(value)
    if not (good and 0 < value <= most):
        limit = f" of at most {most:g}" if most < math.inf else ""
        raise error(f"{name} must be a positive number{limit}, got {shown(value)}")
    return float(value)


def exact_number(value: Any, name: str, *, low: float | None = None, strict: bool = True) -> Fraction | Enclosure:
    """Return a number, or a text such as "1/3", as the Fraction that it shows (an Enclosure stays one).

    Raises ValueError unless it lies above ``low`` (or at it, if not strict).

    >>> exact_number(0.3, "noise"), exact_number("1/3", "alpha", low=0)
    (Fraction(3, 10), Fraction(1, 3))
    >>> exact_number(-1, "noise", low=0)
    Traceback (most recent call last):
        ...
    ValueError: noise must be a number > 0, got -1
    """
    sign = "" if low is None else f" {'>' if strict else '>='} {low:g}"
    try:
        number: Fraction | Enclosure = value if isinstance(value, Enclosure) else _fraction(value)
        least = Fraction(number.low) if isinstance(number, Enclosure) else number
    except (TypeError, ValueError, ArithmeticError) as problem:
        reason = f" ({problem})" if isinstance(problem, OverflowError) else ""
        raise ValueError(f"{name} must be a number{sign}, got {shown(value)}{reason}") from None
    if low is not None and (least < low or (strict and least <= low)):
        raise ValueError(f"{name} must be a number{sign}, got {shown(value, str)}")
    return number


def shown(value: Any, form: Callable[[Any], str] = repr) -> str:
    """Return a value as a message shows it: at most 200 characters."""
    try:
        text = form(value)
    except ValueError:  # Python writes no integer of more than 4300 digits
        return f"{type(value).__name__} of thousands of digits"
    return text if len(text) <= 200 else f"{text[:200]}..."


def text_of(error: BaseException) -> str:
    """Return the text of an error, also of a class of the user's own that cannot make it: which error it was must be said."""
    try:
        return str(error)
    except Exception as second:
        return f"(its text cannot be made: {type(second).__name__})"


def _fraction(value: Any) -> Fraction:
    if isinstance(value, bool):
        raise TypeError
    if isinstance(value, float):
        return Fraction(repr(float(value)))
    if isinstance(value, Integral):
        return Fraction(int(value))  # numpy's integers would overflow inside a Fraction
    if isinstance(value, Real) and not isinstance(value, Rational):
        return Fraction(str(value))  # a float of numpy's of another width
    if isinstance(value, str) and "/" not in value:
        value = Decimal(value)
    if isinstance(value, Decimal) and value.is_finite() and abs(value.adjusted()) > _MOST_DIGITS:
        raise OverflowError(f"its exponent must lie between -{_MOST_DIGITS} and {_MOST_DIGITS}")  # written out it fills the memory
    return Fraction(value)
