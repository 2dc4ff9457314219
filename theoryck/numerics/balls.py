"""Balls: the precision of python-flint as a context, exact conversions, and outward rounding into records.

python-flint keeps one precision for the whole process.  :func:`precision` sets it, holds a lock while it is set and restores it,
so that two threads never compute at each other's precision; every function that takes ``digits`` enters it first.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import Any

import flint
import sympy
from flint import arb, fmpq

from theoryck.numerics.errors import ExactError, NotIntegrable
from theoryck.numerics.functions.trees import constant_ball
from theoryck.records import Enclosure
from theoryck.records.arguments import integer

MAX_DIGITS = 10_000
BITS_PER_DIGIT = math.log2(10)

_lock = threading.RLock()


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Set python-flint's global precision to ``bits`` for the block, alone among threads, and restore it on every way out.

    >>> before = flint.ctx.prec
    >>> with precision(200):
    ...     third = arb(1) / 3
    >>> flint.ctx.prec == before, third.rel_accuracy_bits() > 190
    (True, True)
    """
    with _lock:
        before = flint.ctx.prec
        flint.ctx.prec = int(bits)
        try:
            yield
        finally:
            flint.ctx.prec = before


def check_digits(digits: Any) -> int:
    """Return ``digits`` as an int between 1 and 10000; anything else is an error that says so.

    >>> check_digits(0)
    Traceback (most recent call last):
        ...
    theoryck.numerics.errors.ExactError: digits must be an integer between 1 and 10000, got 0
    """
    return integer(digits, "digits", 1, MAX_DIGITS, ExactError)


def bits_for(digits: int, guard: int = 24) -> int:
    """Return the working precision for ``digits`` decimal digits with ``guard`` bits to lose."""
    return math.ceil(digits * BITS_PER_DIGIT) + guard


def to_ball(value: Any) -> arb:
    """Return the ball of a real number at the current precision: exact where the number is an integer or a short binary fraction.

    Accepts arb, int, Fraction, Decimal, float (its exact binary value), :class:`~theoryck.records.Enclosure` and sympy numbers.
    Raises :class:`ExactError` for anything else and for what is not finite.

    >>> with precision(64):
    ...     to_ball(Fraction(1, 4)) == arb("0.25")
    True
    """
    ball = _convert(value)
    if not ball.is_finite():
        raise ExactError(f"a finite real number is needed, got {value!r}")
    return ball


def _convert(value: Any) -> arb:
    if isinstance(value, arb):
        return value
    if isinstance(value, Enclosure):
        return _convert(value.midpoint) + arb(0, _convert(value.radius).abs_upper())
    if isinstance(value, Decimal) and value.is_finite():
        return _convert(Fraction(value))
    if isinstance(value, Rational):
        return arb(fmpq(int(value.numerator), int(value.denominator)))
    if isinstance(value, float) or (hasattr(value, "__float__") and type(value).__module__ == "numpy"):
        return arb(float(value))
    if isinstance(value, sympy.Expr) and not value.free_symbols:
        return constant_ball(value)
    raise ExactError(f"a real number is needed, got {value!r}")


def from_ball(ball: arb, digits: int, rigorous: bool = True) -> Enclosure:
    """Return the record that contains ``ball``, rounded outward to about ``digits`` + 3 significant digits.

    >>> with precision(100):
    ...     from_ball(arb(1) / 4, 10).to_json()
    {'value': '0.25', 'radius': '0', 'rigorous': True}
    """
    if not ball.is_finite():
        raise NotIntegrable(f"no finite enclosure was found, only {ball}: take a smaller variance, or draw instead")
    midpoint, radius, exponent = (int(part) for part in ball.mid_rad_10exp(digits + 3))
    if radius == 0:
        while midpoint and midpoint % 10 == 0:
            midpoint, exponent = midpoint // 10, exponent + 1
        if midpoint == 0 or exponent > 0:
            midpoint, exponent = midpoint * 10 ** max(exponent, 0), 0
    return Enclosure(_decimal(midpoint, exponent), _short(radius, exponent), rigorous)


def _decimal(integer: int, exponent: int) -> Decimal:
    return Decimal((int(integer < 0), tuple(map(int, str(abs(integer)))), exponent))


def _short(radius: int, exponent: int) -> Decimal:
    """Three digits of a radius, rounded up."""
    if radius == 0:
        return Decimal(0)
    excess = max(len(str(radius)) - 3, 0)
    return _decimal(-(-radius // 10**excess), exponent + excess)


def proved_digits(ball: arb) -> float:
    """Return how many significant digits ``ball`` proves, -log10(radius / size); 0 if it contains zero or is not finite.

    >>> with precision(100):
    ...     9 < proved_digits(arb(1, 1e-10)) <= 10
    True
    """
    if not ball.is_finite():
        return 0.0
    if ball.is_exact():
        return math.inf
    bits = ball.rel_accuracy_bits()
    return max(0.0, (bits - 1) / BITS_PER_DIGIT)


def maximum(*balls: arb) -> arb:
    """Return a ball that contains the largest of ``balls``."""
    largest = balls[0]
    for ball in balls[1:]:
        largest = largest.max(ball)
    return largest


def plus_minus(radius: arb) -> arb:
    """Return the ball of all numbers of absolute value at most the upper end of ``radius``."""
    return arb(0, radius.abs_upper())
