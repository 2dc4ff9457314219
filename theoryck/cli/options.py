"""Options of ``measure``: lists of widths, powers, variances."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation, Overflow
from fractions import Fraction
from typing import Any

import click

LEAST_POWER = Decimal("1e-3")

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


class Power(click.ParamType):
    """A rational number > 0."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | Fraction:
        """Return the power, an integer where it is one."""
        if isinstance(value, int | Fraction):
            return value
        from theoryck.theory.networks.quantities.moments import LARGEST_POWER

        above, _, below = value.partition("/")
        try:
            # Compared as decimals: a Fraction of 1e-999999999 would first be written out.
            parts = [Decimal(above), Decimal(below or 1)]
            size = parts[0] / parts[1]
        except (InvalidOperation, ZeroDivisionError):
            size = Decimal("NaN")
        except Overflow:
            size = Decimal("Infinity")
        if size.is_nan():
            self.fail(f"{value!r} is not a number: write 4, 2.5 or 5/2", param, ctx)
        if not size > 0:
            self.fail(f"the power must be > 0, got {value}", param, ctx)
        if size > LARGEST_POWER:
            self.fail(
                f"the power must be at most {LARGEST_POWER}, got {value}: no number of float64 draws sees the tail that rules a "
                "higher moment, and the cost of the exact value grows with the power",
                param,
                ctx,
            )
        if size < LEAST_POWER or any(abs(part.adjusted()) > 30 for part in parts):
            self.fail(f"the power must be at least {LEAST_POWER}, got {value}", param, ctx)
        power = Fraction(parts[0]) / Fraction(parts[1])
        return int(power) if power.denominator == 1 else power


class Variance(click.ParamType):
    """A rational number >= 0, at most ``most``."""

    name = "number"

    def __init__(self, what: str, most: int | None = None) -> None:
        self.what, self.most = what, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Fraction:
        """Return the number as it is written: 0.3 is 3/10."""
        if isinstance(value, Fraction):
            return value
        good = re.fullmatch(r"[0-9]{1,20}(\.[0-9]{0,20})?(e[+-]?[0-9]{1,3})?|\.[0-9]{1,20}|[0-9]{1,20}/0*[1-9][0-9]{0,20}", value)
        if not good:
            self.fail(f"{self.what} must be a number >= 0 such as 0.5 or 1/2, got {value!r}", param, ctx)
        number = Fraction(value)
        if self.most is not None and number > self.most:
            self.fail(f"{self.what} must be at most {self.most}, got {value}", param, ctx)
        return number
