"""Numbers and majorants for the strip rules: the same rules run in floats (to choose a strip) and in balls (to prove a bound)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import zip_longest
from typing import Any

from flint import arb, fmpq


class FloatNumbers:
    """Plain floats: for the search only."""

    pi = math.pi
    exp, log, tan, cosh, sinh, sin, cos, atan, atanh, asin, sqrt = (
        staticmethod(function)
        for function in (
            math.exp, math.log, math.tan, math.cosh, math.sinh, math.sin, math.cos, math.atan, math.atanh, math.asin, math.sqrt,
        )
    )  # fmt: skip

    def number(self, value: Any) -> float:
        """Return a float near an int, Fraction or ball."""
        return float(value)

    def maximum(self, *values: float) -> float:
        """Return the largest value."""
        return max(values)

    def power(self, base: float, exponent: Fraction) -> float:
        """Return base ** exponent for base >= 0."""
        return base ** (exponent.numerator if exponent.denominator == 1 else float(exponent))


class BallNumbers:
    """Balls at the current precision: a bound holds for the upper end of the ball."""

    @property
    def pi(self) -> arb:
        """The number pi."""
        return arb.pi()

    exp, log, tan, cosh, sinh, sin, cos, atan, atanh, asin, sqrt = (
        staticmethod(getattr(arb, name))
        for name in ("exp", "log", "tan", "cosh", "sinh", "sin", "cos", "atan", "atanh", "asin", "sqrt")
    )

    def number(self, value: Any) -> arb:
        """Return the ball of an int, Fraction or ball."""
        return arb(fmpq(value.numerator, value.denominator)) if isinstance(value, Fraction) else arb(value)

    def maximum(self, *values: Any) -> arb:
        """Return a ball around the largest value."""
        result = arb(values[0])
        for value in values[1:]:
            result = result.max(arb(value))
        return result

    def power(self, base: arb, exponent: Fraction) -> arb:
        """Return base ** exponent for base >= 0 (a base of exactly 0 gives 0)."""
        if exponent.denominator == 1:
            return base**exponent.numerator if exponent >= 0 else 1 / base ** (-exponent.numerator)
        return base**0 if exponent == 0 else base.root(exponent.denominator) ** exponent.numerator


FLOATS = FloatNumbers()
BALLS = BallNumbers()


@dataclass(frozen=True, slots=True)
class Growth:
    """The majorant (sum_j coefficients[j] t^j) exp(rate t + square t^2) of t = |Re z|, all parts >= 0."""

    coefficients: tuple[Any, ...]
    rate: Any = 0
    square: Any = 0

    @property
    def bounded(self) -> bool:
        """Whether the majorant is a constant."""
        return len(self.coefficients) == 1 and self.rate == 0 and self.square == 0

    def __mul__(self, other: Growth) -> Growth:
        product: list[Any] = [0] * (len(self.coefficients) + len(other.coefficients) - 1)
        for i, left in enumerate(self.coefficients):
            for j, right in enumerate(other.coefficients):
                product[i + j] = product[i + j] + left * right
        return Growth(tuple(product), self.rate + other.rate, self.square + other.square)

    def scaled(self, factor: Any) -> Growth:
        """Return ``factor`` times the majorant."""
        return Growth(tuple(factor * a for a in self.coefficients), self.rate, self.square)

    def plus(self, other: Growth, numbers: Any) -> Growth:
        """Return a majorant of the sum: coefficients add, the larger exponential covers both."""
        total = tuple(a + b for a, b in zip_longest(self.coefficients, other.coefficients, fillvalue=0))
        return Growth(total, *self._covering(other, numbers))

    def either(self, other: Growth, numbers: Any) -> Growth:
        """Return a majorant of both."""
        top = tuple(numbers.maximum(a, b) for a, b in zip_longest(self.coefficients, other.coefficients, fillvalue=0))
        return Growth(top, *self._covering(other, numbers))

    def _covering(self, other: Growth, numbers: Any) -> tuple[Any, Any]:
        pairs = ((self.rate, other.rate), (self.square, other.square))
        rate, square = (a if b == 0 else b if a == 0 else numbers.maximum(a, b) for a, b in pairs)
        return rate, square

    def power(self, exponent: int) -> Growth:
        """Return the majorant to an integer power >= 0."""
        result = Growth((1,))
        for _ in range(exponent):
            result = result * self
        return result
