"""Types of options: integers written as 1e4, lists of widths, rational numbers, draws of each size, one of several words."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import click

from theoryck.records.arguments import exact_number

_WHOLE = re.compile(r"[+-]?[0-9]{1,30}(\.[0-9]{1,30})?(e\+?[0-9]{1,2})?", re.IGNORECASE)


class Whole(click.ParamType[int]):
    """An integer between two bounds, which may be written as 1e4; ``why`` explains the upper bound."""

    name = "integer"

    def __init__(self, least: int, most: int | None = None, why: str = "") -> None:
        self.least, self.most, self.why = least, most, why

    @property
    def wanted(self) -> str:
        """What is asked for, in words."""
        return f"an integer >= {self.least}" if self.most is None else f"an integer between {self.least} and {self.most}"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the integer; the error says what was given and what is wanted."""
        number = _whole(value)
        if number is None or number < self.least:
            self.fail(f"must be {self.wanted}, got {value!r}", param, ctx)
        if self.most is not None and number > self.most:
            self.fail(f"must be {self.wanted}, got {value!r}{self.why and ': '}{self.why}", param, ctx)
        return number


def _whole(value: Any) -> int | None:
    """Return the integer that a text stands for, or None.

    >>> _whole("1e4"), _whole("2.5e1"), _whole("2.5"), _whole("abc"), _whole(3)
    (10000, 25, None, None, 3)
    """
    if isinstance(value, int):
        return value
    if not _WHOLE.fullmatch(value):
        return None
    number = Decimal(value)
    return int(number) if number == number.to_integral_value() else None


_INTEGERS = re.compile(r"[0-9]+(,[0-9]+)*,?")


class SeveralIntegers(click.Command):
    """A command whose option ``--widths`` takes all the integers that follow it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Join the integers after ``--widths`` with commas before click parses."""
        joined: list[str] = []
        rest = list(args)
        while rest:
            word = rest.pop(0)
            joined.append(word)
            if word == "--":
                joined += rest
                break
            if word == "--widths" or word.startswith("--widths="):
                values = [word.partition("=")[2]] if "=" in word else []
                while rest and _INTEGERS.fullmatch(rest[0]):
                    values.append(rest.pop(0))
                if values:
                    joined[-1:] = ["--widths", ",".join(value.strip(",") for value in values)]
        return super().parse_args(ctx, joined)


class Widths(click.ParamType):
    """A list of integers >= 1."""

    name = "integers"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """Return the widths as a tuple."""
        if isinstance(value, tuple):
            return value
        if not _INTEGERS.fullmatch(value):
            self.fail(
                f"{value!r} is not a list of integers: write --widths 64 128 64 or --widths 64,128,64, input first", param, ctx
            )
        widths = tuple(int(part) for part in value.split(",") if part)
        if min(widths) < 1:
            self.fail(f"a width must be at least 1, got {min(widths)} in {value!r}", param, ctx)
        return widths


class Rational(click.ParamType):
    """A number >= 0 as it is written (0.3 is 3/10), from ``least`` (then 0 is none) to ``most``; ``why`` there is a bound."""

    name = "number"

    def __init__(self, what: str, *, least: str = "", most: int | None = None, why: str = "") -> None:
        self.what, self.least, self.most, self.why = what, least, most, why

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | Fraction:
        """Return the number, an integer where it is one."""
        if isinstance(value, int | Fraction):
            return value
        try:
            number = exact_number(value, self.what, low=0, strict=bool(self.least))
        except ValueError as error:
            self.fail(f"{error}: write it like 4, 0.5 or 1/2", param, ctx)
        assert isinstance(number, Fraction)
        if self.most is not None and number > self.most:
            self.fail(f"{self.what} must be at most {self.most}, got {value}{self.why and ': '}{self.why}", param, ctx)
        if self.least and number < Fraction(self.least):
            self.fail(f"{self.what} must be at least {self.least}, got {value}", param, ctx)
        return int(number) if number.denominator == 1 else number


class DrawsType(click.ParamType[int | tuple[int, ...]]):
    """One number of draws for every size, or one for each: ``1000`` or ``4000,2000,1000``."""

    name = "N[,N...]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | tuple[int, ...]:
        """Return the number, or the tuple of numbers; anything below 2 is an error."""
        if not isinstance(value, str):
            return value
        parts = [_written_out(part.strip()) for part in value.split(",")]
        if not all(part.isdecimal() and int(part) >= 2 for part in parts):
            self.fail(f"{value!r} must be an integer >= 2, or one for each size separated by commas", param, ctx)
        numbers = tuple(int(part) for part in parts)
        return numbers[0] if len(numbers) == 1 else numbers


def _written_out(text: str) -> str:
    """Write 1e5 as 100000."""
    number, exponential, zeros = text.partition("e")
    return number + "0" * int(zeros) if exponential and number.isdecimal() and zeros.isdecimal() and len(zeros) < 3 else text


class Choice(click.Choice[str]):
    """One of several words; another one is answered with those that look like it."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """Say which words there are, and which may have been meant."""
        return not_among(str(value), [str(choice) for choice in self.choices])


def not_among(value: str, words: Sequence[str]) -> str:
    """Return the message for a word that is not among those allowed.

    >>> not_among("quik", ["quick", "standard"])
    "'quik' is not one of quick, standard (did you mean 'quick'?)"
    """
    close = difflib.get_close_matches(value.lower(), words, n=1)
    hint = f" (did you mean {close[0]!r}?)" if close else ""
    return f"{value!r} is not one of {', '.join(words)}{hint}"
