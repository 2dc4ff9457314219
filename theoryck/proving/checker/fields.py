"""The fields of a record: each is read by a function of its value and its name; a refusal is a sentence that names it."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from flint import arb, fmpq

DECIMAL = re.compile(r"[0-9]{1,200}(\.[0-9]{1,200})?([eE][+-]?[0-9]{1,3})?")
TIGHT, DERIVED = Fraction(1005, 1000), Fraction(1000001, 1000000)  # how far a stated number may lie above what it bounds
LEAST = Fraction(1, 10**9)  # of its natural size: a number of a layer that would be smaller is that

Reader = Callable[[Any, str], Any]


class Refused(ValueError):
    """A certificate, or one of its fields, that does not prove what it states.

    >>> integer(1, 8)(9, "depth")
    Traceback (most recent call last):
        ...
    theoryck.proving.checker.fields.Refused: depth: 9 is no integer between 1 and 8
    """


def need(condition: bool, field: str, why: str) -> None:
    """Refuse unless the condition holds; a comparison of balls holds where it is certain."""
    if not condition:
        raise Refused(f"{field}: {why}")


def show(ball: arb) -> str:
    """The digits of a number, for a message."""
    return str(ball.str(10, radius=False))


def exact(value: Fraction | int) -> arb:
    """The ball of a rational number."""
    return arb(fmpq(value.numerator, value.denominator))


def hull(low: Any, high: Any) -> arb:
    """The smallest ball that contains both."""
    return arb(low).union(arb(high))


def number(value: Any, field: str) -> arb:
    """A positive number from its decimal digits."""
    need(isinstance(value, str) and DECIMAL.fullmatch(value) is not None, field, f"{value!r} is no decimal number")
    need(Fraction(value) > 0, field, "it is not positive")
    return exact(Fraction(value))


def number_or_zero(value: Any, field: str) -> arb:
    """A number that may be 0."""
    return arb(0) if value == "0" else number(value, field)


def integer(low: int, high: int, step: int = 1) -> Reader:
    """Read an integer between two ends, perhaps a multiple of a step."""

    def read(value: Any, field: str) -> int:
        need(type(value) is int and low <= value <= high, field, f"{value!r} is no integer between {low} and {high}")
        need(value % step == 0, field, f"{value} is no multiple of {step}")
        return int(value)

    return read


def items(count: int, reader: Reader) -> Reader:
    """Read a list of so many items."""

    def read(value: Any, field: str) -> list[Any]:
        need(type(value) is list and len(value) == count, field, f"it is no list of {count} items")
        return [reader(each, f"{field}[{i}]") for i, each in enumerate(value)]

    return read


def fields(**readers: Reader) -> Reader:
    """Read an object with these keys and no other, to what is read of it in this order."""

    def read(value: Any, field: str) -> dict[str, Any]:
        need(isinstance(value, dict), field or "certificate", "it is no object")
        for key in {*value} ^ {*readers}:
            raise Refused(f"{field}.{key}: {'unknown' if key in value else 'missing'}".lstrip("."))
        return {key: reader(value[key], f"{field}.{key}".lstrip(".")) for key, reader in readers.items()}

    return read


def unit(text: str) -> Fraction:
    """One unit of the last digit of a decimal number."""
    digits, _, exponent = text.lower().partition("e")
    return Fraction(10) ** (int(exponent or 0) - len(digits.partition(".")[2]))


def as_it_is(value: Any, field: str) -> Any:
    """Leave it to be read later."""
    return value


def bounds(stated: arb, true: arb, field: str, slack: Fraction, size: arb | None = None) -> arb:
    """Refuse a stated number that is not seen to be at least the true one, or that lies further above it than it may.

    A true one below LEAST times the natural ``size`` counts as that.
    """
    true = true if size is None else true.max(exact(LEAST) * size)
    need(stated >= true, field, f"{show(stated)} is not seen to be at least {show(true)}")
    need(stated <= exact(slack) * true, field, f"{show(stated)} is too far above {show(true)}")
    return stated


def bounds_all(value: Any, true: list[arb], field: str, reader: Reader = number) -> list[arb]:
    """Read a list of numbers that follow from others."""
    stated = items(len(true), reader)(value, field)
    return [bounds(*both, f"{field}[{i}]", DERIVED) for i, both in enumerate(zip(stated, true))]


def bounds_below(stated: arb, true: arb, field: str, slack: Fraction, size: arb | None = None) -> arb:
    """Refuse a stated number that is not seen to be at most the true one, or that lies further below it than it may.

    With a natural ``size`` it is 0 or at least LEAST times that.
    """
    least = exact(LEAST) * (arb(0) if size is None else size)
    need(stated <= true, field, f"{show(stated)} is not seen to be at most {show(true)}")
    need(stated.is_zero() or stated >= least, field, f"{show(stated)} is less than {show(least)}, and not 0")
    need(exact(slack) * stated.max(least) >= true, field, f"{show(stated)} is too far below {show(true)}")
    return stated
