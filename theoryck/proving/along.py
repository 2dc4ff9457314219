"""What a certificate in the smallest size says along a path: sizes and rates as powers of the base, with their rounding.

A certificate speaks of the smallest size m of a quantity: ``c m^e <= value <= C m^e`` for every m >= N (the lower side where all
sizes are equal).  Along a path m is at least b d^q, d the base, and the claimed rate at least a d^p, so that where b d^q >= N

    value <= C (b d^q)^e <= K (a d^p),    K = (C b^e / a) d^(q e - p),

which is bounded exactly where p >= q e, by its value at the first d.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction

from flint import fmpz

from theoryck.quantities import NoCertificate
from theoryck.rates.monomials import Monomial, RateError
from theoryck.rates.parsing import Extremum, parse_sum
from theoryck.rates.paths import ScalingPath
from theoryck.rates.rate import Rate
from theoryck.records import Certificate, Scope

SHOWN_DIGITS = 6  # of a constant along a path, rounded away from the value
WORKING_DIGITS = 40
ROUNDING = Decimal("1e-35")  # relative: far above that of WORKING_DIGITS, far below a digit that is shown


@dataclass(frozen=True, slots=True)
class Power:
    """What lies between ``low d^power`` and ``high d^power`` for every d >= a first one, and tends to ``limit d^power``."""

    low: Fraction
    high: Fraction
    limit: float
    power: Fraction

    @property
    def exact(self) -> bool:
        """Whether it is a power times a rational number."""
        return self.low == self.high

    def times(self, other: Power) -> Power:
        """Return the product."""
        return Power(self.low * other.low, self.high * other.high, self.limit * other.limit, self.power + other.power)

    def plus(self, other: Power) -> Power:
        """Return the sum of two of the same power."""
        return Power(self.low + other.low, self.high + other.high, self.limit + other.limit, self.power)

    def raised(self, exponent: Fraction) -> Power:
        """Return a rational power of it; the ends are bounded by whole powers where roots would be irrational."""
        ends = (_least(self.low, exponent), _most(self.high, exponent))
        if exponent < 0:
            ends = (_least(self.high, exponent), _most(self.low, exponent))
        return Power(*ends, self.limit ** float(exponent), self.power * exponent)


def _least(base: Fraction, exponent: Fraction) -> Fraction:
    """Return a lower bound of base^exponent, exact where that is rational for every base."""
    if exponent.denominator == 1 or base == 1:
        return base ** int(exponent)
    inner, size = (base, exponent) if exponent > 0 else (1 / base, -exponent)
    whole = int(size)
    return inner ** (whole + 1) if inner < 1 else inner**whole


def _most(base: Fraction, exponent: Fraction) -> Fraction:
    return 1 / _least(1 / base, exponent) if exponent.denominator != 1 else base ** int(exponent)


class NoPower(Exception):
    """A size that follows no power of the base; its text is the argument."""


def whole_part(factor: Fraction, power: Fraction, d: int) -> int:
    """Return the whole part of ``factor d^power``.

    >>> whole_part(Fraction(3, 2), Fraction(1, 2), 50)  # 10.6
    10
    """
    inside = factor**power.denominator * Fraction(d) ** power.numerator
    return int(fmpz(math.floor(inside)).root(power.denominator))


def size_along(text: str, path: ScalingPath, start: int) -> Power:
    """Return a size, a text in the names of the path, as a power of its base; NoPower where it is none.

    >>> from theoryck.rates import doubling
    >>> path = ScalingPath(d=doubling(16, 64), n="d**(3/2)", width="2*d")
    >>> size_along("width", path, 16).low, size_along("n", path, 16).low  # n is rounded to a whole number
    (Fraction(2, 1), Fraction(127, 128))
    """
    if text == path.base:
        return Power(Fraction(1), Fraction(1), 1.0, Fraction(1))
    described = path.describe()
    rule = parse_sum(described.get(text, text), {}, what="size", allow_extremum=True)
    if isinstance(rule, Extremum) or len(rule) != 1:
        raise NoPower(described.get(text, text))
    found = term_along(rule[0], path, start)
    if text not in described or (found.exact and found.low.denominator == 1 and found.power.denominator == 1):
        return found
    # A path rounds its sizes to whole numbers, by at most 1/2, which is less of larger sizes.
    half = Fraction(1, 2 * max(whole_part(Fraction(1), found.power, start), 1))
    return Power(max(found.low - half, Fraction(0)), found.high + half, found.limit, found.power)


def term_along(term: Monomial, path: ScalingPath, start: int) -> Power:
    """Return a monomial in the sizes of a path as a power of its base; NoPower where it has logarithms or irrational factors."""
    if term.roots or term.logs or term.others:
        raise NoPower(str(term))
    found = Power(term.coefficient, term.coefficient, float(term.coefficient), Fraction(0))
    for name, exponent in term.powers:
        if name != path.base and "," in path.describe().get(name, ","):
            raise NoPower(f"{name} = {path.describe().get(name, 'nothing')}")
        found = found.times(size_along(name, path, start).raised(exponent))
    return found


@dataclass(frozen=True, slots=True)
class Along:
    """The sizes of a certificate and the terms of a claimed rate along a path, from a first size of its base on.

    ``rates`` are those terms that are powers, one of each power: their sum is at most the rate, and is the rate where there are
    ``all`` of them.
    """

    base: str
    start: int
    sizes: tuple[Power, ...]
    rates: tuple[Power, ...]
    all: bool

    @classmethod
    def of(cls, certified: Sequence[str], rate: Rate, path: ScalingPath, start: int) -> Along:
        """Read sizes and a rate along a path; NoCertificate where a size is no power, or does not grow."""
        try:
            sizes = tuple(size_along(text, path, start) for text in certified)
        except (NoPower, RateError) as error:
            raise NoCertificate(f"the sizes of a certificate must be powers of {path.base} along the path, got {error}") from None
        for text, size in zip(certified, sizes, strict=True):
            if size.power <= 0:
                raise NoCertificate(
                    f"the size {text} does not grow along the path, and a certificate bounds the value by a power of the smallest "
                    "size alone: let all of them grow"
                )
        rates: dict[Fraction, Power] = {}
        every = True
        for term in rate.terms:
            try:
                found = term_along(term, path, start)
            except NoPower:
                every = False
                continue
            rates[found.power] = rates[found.power].plus(found) if found.power in rates else found
        if not rates:
            raise NoCertificate(
                f"the rate {rate} has no term that is a power of {path.base} along the path: claim a power that is at most as large"
            )
        return cls(path.base, start, sizes, tuple(rates.values()), every)

    @property
    def plain(self) -> bool:
        """Whether every size is the base and the rate a power of it: what is said of the smallest size is said of the base."""
        exact = {Power(Fraction(1), Fraction(1), 1.0, rate.power) for rate in self.rates}
        return self.all and set(self.sizes) == {Power(Fraction(1), Fraction(1), 1.0, Fraction(1))} and exact == set(self.rates)

    @property
    def smallest(self) -> Power:
        """A lower bound of all sizes; of those that grow faster the ratio to it is least at the start."""
        slowest = min(size.power for size in self.sizes)
        low = min(size.low * whole_part(Fraction(1), size.power - slowest, self.start) for size in self.sizes)
        limit = min(size.limit for size in self.sizes if size.power == slowest)
        return Power(low, low, limit, slowest)

    @property
    def first(self) -> int:
        """The smallest size at the start, rounded down."""
        return whole_part(self.smallest.low, self.smallest.power, self.start)

    @property
    def exponent(self) -> Fraction:
        """The exponent of the claimed rate in the smallest size."""
        return max(rate.power for rate in self.rates) / self.smallest.power

    @property
    def ratios(self) -> list[Fraction] | None:
        """The sizes over the smallest one, in the limit; None where they do not grow alike."""
        if any(size.power != self.smallest.power for size in self.sizes):
            return None
        return [Fraction(size.limit / self.smallest.limit).limit_denominator(10**6) for size in self.sizes]

    def allowed(self, constant: float | None) -> Decimal | None:
        """Return the constant of a certificate at the claimed rate that covers the claimed constant, None where none is claimed."""
        if constant is None:
            return None
        rate = max(self.rates, key=lambda each: each.power)
        with localcontext() as context:
            context.prec = WORKING_DIGITS
            claimed = Decimal(str(constant))  # a number is read as the decimal that it shows
            if self.smallest.low == rate.low == 1:
                return claimed
            return claimed * _decimal(rate.low) / raised(self.smallest.low, self.exponent) * (1 - ROUNDING)

    def scope(self, found: Certificate, limit: float | None) -> Scope:
        """Return what a certificate says along the path; NoCertificate where the claimed rate is faster than what it proves.

        ``limit`` is that of the value over its power of the smallest size.
        """
        e = Fraction(-found.power, 2)
        size, shown = self.smallest, []
        with localcontext() as context:
            context.prec = WORKING_DIGITS
            for rate in self.rates:
                if rate.power >= size.power * e:
                    factor = raised(size.low, e) * raised(Fraction(self.start), size.power * e - rate.power) / _decimal(rate.low)
                    exact = size.low == rate.low == 1 and rate.power == size.power * e
                    shown.append(Decimal(found.constant) * factor * (1 if exact else 1 + ROUNDING))
        if not shown:
            raise NoCertificate(f"what is proved decays like {self.base}**({size.power * e}), more slowly than the claimed rate")
        tends, least, leading = None, None, max(self.rates, key=lambda rate: rate.power)
        if self.all and self.exponent == e:
            tends = None if limit is None else limit * size.limit ** float(e) / leading.limit
            least = self._least(found, e)
        return Scope(self.base, self.start, away(min(shown), up=True), least, found.method, tends)

    def _least(self, found: Certificate, e: Fraction) -> Decimal | None:
        """Return the constant from below, where the certificate has one and all sizes are equal."""
        size = self.sizes[0]
        if found.least is None or not size.exact or any(other != size for other in self.sizes):
            return None
        with localcontext() as context:
            context.prec = WORKING_DIGITS
            parts = (_decimal(rate.high) * raised(Fraction(self.start), rate.power - size.power * e) for rate in self.rates)
            value = Decimal(found.least) * raised(size.low, e) / sum(parts, Decimal(0))
            exact = size.low == 1 and [rate.high for rate in self.rates] == [1]
            return away(value if exact else value * (1 - ROUNDING), up=False)


def from_which(along: Callable[[int], Along], start: int, smallest: int) -> int:
    """Return the first base size, from ``start`` on, at which ``along`` has a first size of at least ``smallest``."""
    low, high = start, start
    while along(high).first < smallest:
        low, high = high, 2 * high
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if along(middle).first < smallest else (low, middle)
    return high


def raised(base: Fraction, power: Fraction) -> Decimal:
    """Return base^power in WORKING_DIGITS, wrong by less than ROUNDING."""
    if base == 1 or power == 0:
        return Decimal(1)
    with localcontext() as context:
        context.prec = WORKING_DIGITS
        return +(_decimal(base) ** int(power) if power.denominator == 1 else (_decimal(base).ln() * _decimal(power)).exp())


def away(value: Decimal, *, up: bool) -> Decimal:
    """Return a value rounded up or down to SHOWN_DIGITS, unless it is as short already.

    >>> away(Decimal("0.123456789"), up=True), away(Decimal("2"), up=False)
    (Decimal('0.123457'), Decimal('2'))
    """
    with localcontext() as context:
        context.prec, context.rounding = SHOWN_DIGITS, ROUND_CEILING if up else ROUND_FLOOR
        return +value


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)
