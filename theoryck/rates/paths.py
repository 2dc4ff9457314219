"""ScalingPath: how the sizes go to infinity together, and the exponents of each size in the base."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from fractions import Fraction
from typing import Any

from theoryck.rates.parsing import FUNCTIONS, Extremum, Monomial, RateError, Sum, close_match, parse_sum, shown

MAX_SIZE = 2**62
MAX_POINTS = 1000

Expression = Sum | Extremum


class PathError(ValueError):
    """A path of sizes that cannot be used.

    >>> ScalingPath(n="2*d", d=(16, 32))
    Traceback (most recent call last):
        ...
    theoryck.rates.paths.PathError: size n = '2*d': 'd' is not an earlier size; define it before n
    """


def doubling(start: int, stop: int) -> tuple[int, ...]:
    """Return ``(start, 2 start, 4 start, ...)`` up to and including ``stop`` where it is reached.

    Raises PathError for what is no integer >= 1 and where no second size fits.

    >>> doubling(16, 128)
    (16, 32, 64, 128)
    """
    first, last = _size("start", start), _size("stop", stop)
    if last < first:
        raise PathError(f"stop must be at least start, got doubling({first}, {last})")
    if first < last < 2 * first:
        raise PathError(f"stop must be at least {2 * first} for a second size, got doubling({first}, {last})")
    return tuple(first << step for step in range((last // first).bit_length()))


class ScalingPath:
    """The sizes at which a statement is tested: one base sequence, and other sizes fixed or given as expressions in earlier names.

    A second sequence is allowed if it has the same length; it has an exponent if it is a power of the base to rounding.
    Expressions (``"d"``, ``"2*d"``, ``"d**(3/2)"``, ``"min(d, n)"``) are rounded to the nearest integer.  Raises PathError on sizes
    that are not positive integers, on fewer than two base sizes, on duplicates and on unknown names.

    >>> path = ScalingPath(d=doubling(16, 64), n="d**(3/2)", input_dim=8)
    >>> path.base, path.points[0], path.exponent_of("n"), path.exponent_of("input_dim")
    ('d', {'d': 16, 'n': 64, 'input_dim': 8}, Fraction(3, 2), Fraction(0, 1))
    >>> path.describe()
    {'d': '16, 32, 64', 'n': 'd**(3/2)', 'input_dim': '8'}
    """

    def __init__(self, **sizes: int | str | Sequence[int]) -> None:
        self._sequences: dict[str, tuple[int, ...]] = {}
        self._rules: dict[str, int | Expression] = {}
        self._texts: dict[str, str] = {}
        for name, value in sizes.items():
            self._add(name, value)
        if not self._sequences:
            raise PathError("a path needs one size that is a sequence, such as d=doubling(16, 4096)")
        self.base = next(iter(self._sequences))
        length = len(self._sequences[self.base])
        for name, values in self._sequences.items():
            if len(values) != length:
                raise PathError(
                    f"sequences must have the same length: {self.base} has {length} sizes, {name} has {len(values)}; "
                    f"or write {name} as an expression in {self.base}"
                )
        self.points: tuple[dict[str, int], ...] = tuple(self._point(index) for index in range(length))

    @classmethod
    def from_description(cls, description: Mapping[str, str]) -> ScalingPath:
        """Inverse of :meth:`describe`.

        >>> ScalingPath.from_description({"d": "4, 8", "n": "2*d"}).points
        ({'d': 4, 'n': 8}, {'d': 8, 'n': 16})
        """
        sizes: dict[str, int | str | Sequence[int]] = {}
        for name, text in description.items():
            parts = [part.strip() for part in text.split(",")]
            if all(part.isdigit() for part in parts):
                sizes[name] = int(parts[0]) if len(parts) == 1 else tuple(int(part) for part in parts)
            else:
                sizes[name] = text
        return cls(**sizes)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The base sizes in the order given.

        >>> ScalingPath(n=5, d=(16, 32)).sizes
        (16, 32)
        """
        return self._sequences[self.base]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all sizes, in the order given.

        >>> ScalingPath(n=5, d=(16, 32), width="n*d").names
        ('n', 'd', 'width')
        """
        return tuple(self._texts)

    def describe(self) -> dict[str, str]:
        """Return the path as text: sequences written out, expressions as they were given."""
        return dict(self._texts)

    def exponent_of(self, name: str) -> Fraction:
        """Return gamma such that the size ``name`` grows like ``base**gamma``; PathError if it does not follow a power."""
        if name not in self._texts:
            raise PathError(f"{name!r} is not a size of this path{close_match(name, self.names)}")
        if name == self.base:
            return Fraction(1)
        if name in self._sequences:
            return _observed_exponent(self.base, self._sequences[self.base], name, self._sequences[name])
        rule = self._rules[name]
        return Fraction(0) if isinstance(rule, int) else self._growth(rule)

    def _growth(self, rule: Expression) -> Fraction:
        if isinstance(rule, Extremum):
            growths = [self._growth(choice) for choice in rule.choices]
            return max(growths) if rule.largest else min(growths)
        return max(sum((q * self.exponent_of(name) for name, q in term.powers), Fraction(0)) for term in rule)

    def _add(self, name: str, value: int | str | Sequence[int]) -> None:
        if name in FUNCTIONS:
            raise PathError(f"a size cannot be called {name!r}: that is a function in rates")
        if isinstance(value, str):
            try:
                rule = parse_sum(value, {}, what="size", allow_extremum=True)
            except RateError as error:
                raise PathError(f"size {name}: {error}") from None
            for used in _names(rule):
                if used not in self._texts:
                    hint = close_match(used, self._texts)
                    raise PathError(f"size {name} = {shown(value)}: {used!r} is not an earlier size{hint}; define it before {name}")
            self._rules[name], self._texts[name] = rule, value
        elif isinstance(value, Iterable):
            self._sequences[name] = _sequence(name, value, distinct=not self._sequences)
            self._texts[name] = ", ".join(str(size) for size in self._sequences[name])
        else:
            self._rules[name] = _size(name, value)
            self._texts[name] = str(self._rules[name])

    def _point(self, index: int) -> dict[str, int]:
        point: dict[str, int] = {}
        for name in self._texts:
            if name in self._sequences:
                point[name] = self._sequences[name][index]
            else:
                rule = self._rules[name]
                point[name] = rule if isinstance(rule, int) else _evaluate(name, self._texts[name], rule, point)
        return point

    def __len__(self) -> int:
        return len(self.points)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ScalingPath) and self._texts == other._texts

    def __hash__(self) -> int:
        return hash(tuple(self._texts.items()))

    def __repr__(self) -> str:
        return f"ScalingPath({', '.join(f'{name}={text!r}' for name, text in self._texts.items())})"


def _size(name: str, value: Any) -> int:
    try:
        if isinstance(value, bool):
            raise TypeError
        size = operator.index(value)
    except TypeError:
        raise PathError(f"size {name} must be an integer, a sequence of integers or an expression, got {value!r}") from None
    if not 1 <= size <= MAX_SIZE:
        raise PathError(f"size {name} must lie between 1 and 2**62, got {size}")
    return size


def _sequence(name: str, value: Iterable[Any], *, distinct: bool) -> tuple[int, ...]:
    sizes = tuple(_size(name, item) for item in value)
    if len(sizes) > MAX_POINTS:
        raise PathError(f"size {name} has {len(sizes)} values: at most {MAX_POINTS} are allowed")
    if len(set(sizes)) < 2 and distinct:
        raise PathError(f"size {name} needs at least two different values to show a trend, got {list(sizes)}")
    if distinct and any(later <= earlier for earlier, later in itertools.pairwise(sizes)):
        raise PathError(
            f"size {name} must increase from value to value, got {shown(str(list(sizes)))}: sort it and drop duplicates"
        )
    return sizes


def _names(rule: Expression) -> set[str]:
    if isinstance(rule, Extremum):
        return set().union(*(_names(choice) for choice in rule.choices))
    return {name for term in rule for name, _ in (*term.powers, *term.logs)}


def _evaluate(name: str, text: str, rule: Expression, point: Mapping[str, int]) -> int:
    # 60 digits: a size below 2**62 is decided correctly unless the expression lies within 1e-40 of a half-integer.
    with localcontext() as context:
        context.prec = 60
        if isinstance(rule, Extremum):
            values = [sum((_term(term, point) for term in choice), Decimal(0)) for choice in rule.choices]
            value = max(values) if rule.largest else min(values)
        else:
            value = sum((_term(term, point) for term in rule), Decimal(0))
        size = int(value.to_integral_value(ROUND_HALF_EVEN)) if value < 2 * MAX_SIZE else 2 * MAX_SIZE
    if not 1 <= size <= MAX_SIZE:
        raise PathError(f"size {name} = {shown(text)} is {value:.6g} at {dict(point)}: it must lie between 1 and 2**62")
    return size


def _term(term: Monomial, point: Mapping[str, int]) -> Decimal:
    value = Decimal(term.coefficient.numerator) / Decimal(term.coefficient.denominator)
    for base, power in term.roots:
        value *= (Decimal(base.numerator) / Decimal(base.denominator)) ** (Decimal(power.numerator) / Decimal(power.denominator))
    for name, power in term.powers:
        value *= Decimal(point[name]) ** (Decimal(power.numerator) / Decimal(power.denominator))
    for name, power in term.logs:
        inner = Decimal(point[name]).ln()
        if inner == 0:
            return Decimal(0) if power > 0 else Decimal("Infinity")
        value *= inner ** (Decimal(power.numerator) / Decimal(power.denominator))
    return value


def _observed_exponent(base: str, bases: Sequence[int], name: str, sizes: Sequence[int]) -> Fraction:
    """Return the power with denominator at most 12 that reproduces ``sizes`` to rounding (half a unit at both ends)."""
    slope = math.log(sizes[-1] / sizes[0]) / math.log(bases[-1] / bases[0])
    power = Fraction(slope).limit_denominator(12)
    for here, size in zip(bases, sizes):
        expected = sizes[0] * (here / bases[0]) ** float(power)
        if abs(size - expected) > 0.5 + 0.5 * expected / sizes[0] + 1e-9 * expected:
            listed = shown(str(list(sizes)))
            raise PathError(
                f"sizes {name} = {listed} follow no power of {base}: write {name} as an expression like '{base}**(3/2)'"
            )
    return power
