"""Types of options and manners that ``measure`` and ``constants`` share."""

from __future__ import annotations

import re
import sys
from decimal import Decimal
from typing import Any

import click

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


def tell(text: str) -> None:
    """Say on standard error what is being computed, if somebody is looking."""
    if sys.stderr.isatty():
        click.echo(text, err=True)
