"""ScalingPath: how the sizes go to their limit together, and the exponents of each size in the base."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from fractions import Fraction
from numbers import Integral, Real
from typing import Any

from theoryck.rates.directions import Axis, read_toward, shrinks
from theoryck.rates.monomials import Monomial, RateError, Sum, close_match, shown
from theoryck.rates.parsing import FUNCTIONS, Extremum, parse_sum
from theoryck.records import Size, Toward
from theoryck.records.arguments import LARGEST, LEAST, integer

MAX_SIZE = 2**62  # of what is rounded to whole numbers, which samplers take for dimensions
MAX_POINTS = 1000
WHOLE = 1e-12  # relative: what is nearer to a whole number is one, such as 1/h for h = 1/3
SAME_POWER = 5e-3  # relative: half a unit in the third digit of sizes that were written down

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
    first, last = (integer(value, name, 1, MAX_SIZE, PathError) for name, value in (("start", start), ("stop", stop)))
    if last < first:
        raise PathError(f"stop must be at least start, got doubling({first}, {last})")
    if first < last < 2 * first:
        raise PathError(f"stop must be at least {2 * first} for a second size, got doubling({first}, {last})")
    return tuple(first << step for step in range((last // first).bit_length()))


def halving(start: float, stop: float) -> tuple[float, ...]:
    """Return ``(start, start/2, start/4, ...)`` down to and including ``stop`` where it is reached, for a size that goes to 0.

    Raises PathError for what is no positive number and where no second size fits.

    >>> halving(1, 1/8)
    (1.0, 0.5, 0.25, 0.125)
    """
    first, last = float(_size("start", start)), float(_size("stop", stop))
    if not (first == last or 2 * last <= first):
        raise PathError(f"stop must be at most {first / 2:g} for a second size, got halving({first:g}, {last:g})")
    # Halving is exact, but a stop such as 1e-3/8 may have been rounded.
    return tuple(first / 2**step for step in range(math.floor(math.log2(first / last) + 1e-9) + 1))


class ScalingPath:
    """The sizes at which a statement is tested: one base sequence, and other sizes fixed or given as expressions in earlier names.

    The base goes to infinity, or with ``toward=0`` to 0: sizes such as ``h=halving(1, 1/64)`` are positive numbers, and a sequence
    of them that falls needs no ``toward``.  A second sequence is allowed if it has the same length; it has an exponent if it is a
    power of the base to rounding.  Expressions (``"d"``, ``"2*d"``, ``"d**(3/2)"``, ``"min(d, n)"``) are rounded to the nearest
    integer where the base is whole and goes to infinity, and else are whole only where they are so to 1e-12 (``n="1/h"``).  Raises
    PathError on sizes that are not positive numbers, on fewer than two base sizes, on duplicates and on unknown names.

    >>> path = ScalingPath(d=doubling(16, 64), n="d**(3/2)", input_dim=8)
    >>> path.base, path.points[0], path.exponent_of("n"), path.exponent_of("input_dim")
    ('d', {'d': 16, 'n': 64, 'input_dim': 8}, Fraction(3, 2), Fraction(0, 1))
    >>> path.describe()
    {'d': '16, 32, 64', 'n': 'd**(3/2)', 'input_dim': '8'}
    >>> path
    ScalingPath(d=[16, 32, 64], n='d**(3/2)', input_dim=8)
    >>> ScalingPath(h=halving(1/2, 1/8), steps="1/h").points
    ({'h': 0.5, 'steps': 2}, {'h': 0.25, 'steps': 4}, {'h': 0.125, 'steps': 8})
    >>> shrinking = ScalingPath(h=(8, 4, 2), toward=0)
    >>> shrinking.whole, shrinking.axis.text
    (False, '(1/h)')
    """

    def __init__(self, *, toward: Any = None, **sizes: Size | str | Sequence[Size]) -> None:
        self._sequences: dict[str, tuple[Size, ...]] = {}
        self._rules: dict[str, Size | Expression] = {}
        self._texts: dict[str, str] = {}
        declared = None if toward is None else read_toward(toward, PathError)
        for name, value in sizes.items():
            self._add(name, value)
        if not self._sequences:
            raise PathError("a path needs one size that is a sequence, such as d=doubling(16, 4096)")
        self.base = next(iter(self._sequences))
        self.toward = _direction(self.base, self._sequences[self.base], declared)
        length = len(self._sequences[self.base])
        for name, values in self._sequences.items():
            if len(values) != length:
                raise PathError(
                    f"sequences must have the same length: {self.base} has {length} sizes, {name} has {len(values)}; "
                    f"or write {name} as an expression in {self.base}"
                )
        self.points: tuple[dict[str, Size], ...] = tuple(self._point(index) for index in range(length))

    @classmethod
    def from_description(cls, description: Mapping[str, str], toward: Toward | None = None) -> ScalingPath:
        """Inverse of :meth:`describe`, for a path of the same direction.

        >>> ScalingPath.from_description({"d": "4, 8", "n": "2*d"}).points
        ({'d': 4, 'n': 8}, {'d': 8, 'n': 16})
        """
        sizes: dict[str, Size | str | Sequence[Size]] = {}
        for name, text in description.items():
            try:
                numbers = [_written(part.strip()) for part in text.split(",")]
            except ValueError:
                sizes[name] = text
            else:
                sizes[name] = numbers[0] if len(numbers) == 1 else numbers
        return cls(toward=toward, **sizes)

    @property
    def whole(self) -> bool:
        """Whether it goes to infinity over whole numbers, as a dimension does: then expressions are rounded to such numbers."""
        return self.toward is Toward.INFINITY and all(isinstance(size, int) for size in self.sizes)

    @property
    def axis(self) -> Axis:
        """How the fits see the base."""
        return Axis.of(self.base, self.toward, self.sizes, drawn=True)

    @property
    def sizes(self) -> tuple[Size, ...]:
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
        return Fraction(0) if isinstance(rule, int | float) else self._growth(rule)

    def _growth(self, rule: Expression) -> Fraction:
        # The largest of several is that of the largest power where the base grows, of the smallest where it goes to 0.
        most, least = (max, min) if self.toward is Toward.INFINITY else (min, max)
        if isinstance(rule, Extremum):
            growths = [self._growth(choice) for choice in rule.choices]
            return most(growths) if rule.largest else least(growths)
        for name in {name for term in rule for name, _ in term.exponentials}:
            if name == self.base or name in self._sequences:
                raise PathError(f"an exponential of {name} follows no power of {self.base}")
        return most(sum((q * self.exponent_of(name) for name, q in term.leading_powers), Fraction(0)) for term in rule)

    def _add(self, name: str, value: Size | str | Sequence[Size]) -> None:
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
            self._texts[name] = ", ".join(repr(size) for size in self._sequences[name])
        else:
            self._rules[name] = _size(name, value)
            self._texts[name] = repr(self._rules[name])

    def _point(self, index: int) -> dict[str, Size]:
        point: dict[str, Size] = {}
        for name in self._texts:
            if name in self._sequences:
                point[name] = self._sequences[name][index]
            else:
                rule = self._rules[name]
                if not isinstance(rule, int | float):
                    rule = _evaluate(name, self._texts[name], rule, point, rounded=self.whole)
                point[name] = rule
        return point

    def __len__(self) -> int:
        return len(self.points)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ScalingPath) and (self._texts, self.toward) == (other._texts, other.toward)

    def __hash__(self) -> int:
        return hash(tuple(self._texts.items()))

    def __repr__(self) -> str:
        sizes = [f"{name}={self._written(name)}" for name in self._texts]
        return f"ScalingPath({', '.join([*sizes, *(['toward=0'] if self.toward is Toward.ZERO else [])])})"

    def _written(self, name: str) -> str:
        text = self._texts[name]
        if name in self._sequences:
            return f"[{text}]"
        return text if isinstance(self._rules[name], int | float) else repr(text)


def _size(name: str, value: Any, least: float = LEAST) -> Size:
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise PathError(f"size {name} must be a positive number, a sequence of them or an expression, got {value!r}")
    size: Size = int(value) if isinstance(value, Integral) else float(value)
    if not least <= size <= LARGEST:
        raise PathError(f"size {name} must be positive, between {LEAST:g} and {LARGEST:g}, got {size}")
    return size


def _written(text: str) -> Size:
    """Return the number that was written out by ``repr``; ValueError for anything else."""
    return int(text) if text.isdigit() else float(text)


def _sequence(name: str, value: Iterable[Any], *, distinct: bool) -> tuple[Size, ...]:
    # Levels of a geometric rate such as 2**(-l) begin at 0; any other rate refuses that size.
    sizes = tuple(_size(name, item, LEAST if index else 0) for index, item in enumerate(value))
    if len(sizes) > MAX_POINTS:
        raise PathError(f"size {name} has {len(sizes)} values: at most {MAX_POINTS} are allowed")
    if distinct and len(set(sizes)) < 2:
        raise PathError(f"size {name} needs at least two different values to show a trend, got {list(sizes)}")
    if sizes and sizes[-1] > sizes[0] and all(float(size).is_integer() for size in sizes):
        return tuple(int(size) for size in sizes)  # dimensions, of which samplers make arrays
    return sizes


def _direction(name: str, sizes: Sequence[Size], declared: Toward | None) -> Toward:
    """Return where the base goes: as declared, else as its values or its name show beyond doubt."""
    steps = [later - earlier for earlier, later in itertools.pairwise(sizes)]
    grows, falls = all(step > 0 for step in steps), all(step < 0 for step in steps)
    whole, listed = all(float(size).is_integer() for size in sizes), shown(str(list(sizes)))
    if not (grows or falls) or (falls and declared is None and whole and not shrinks(name)):
        hint = "; or give toward=0 if its limit is at 0" if falls else ""
        raise PathError(f"size {name} must increase from value to value, got {listed}: sort it and drop duplicates{hint}")
    if grows and declared is None and not whole and shrinks(name):
        raise PathError(
            f"size {name} = {listed} grows, while its name suggests a limit at 0: sort it the other way round, or give toward='inf'"
        )
    found = Toward.INFINITY if grows else Toward.ZERO
    if declared is not None and declared is not found:
        must, end = ("decrease", "0") if declared is Toward.ZERO else ("increase", "infinity")
        raise PathError(f"size {name} must {must} from value to value, as it goes to {end}, got {listed}: sort it")
    return found


def _names(rule: Expression) -> set[str]:
    if isinstance(rule, Extremum):
        return set().union(*(_names(choice) for choice in rule.choices))
    return set().union(*(term.names for term in rule))


def _evaluate(name: str, text: str, rule: Expression, point: Mapping[str, Size], *, rounded: bool) -> Size:
    # 60 digits: a size below 2**62 is decided correctly unless the expression lies within 1e-40 of a half-integer.
    with localcontext() as context:
        context.prec = 60
        if isinstance(rule, Extremum):
            values = [sum((_term(term, point) for term in choice), Decimal(0)) for choice in rule.choices]
            value = max(values) if rule.largest else min(values)
        else:
            value = sum((_term(term, point) for term in rule), Decimal(0))
        size = int(value.to_integral_value(ROUND_HALF_EVEN)) if value < 2 * MAX_SIZE else 2 * MAX_SIZE
        if not rounded and LEAST <= value <= LARGEST:
            return size if 0 < size <= MAX_SIZE and abs(value - size) <= Decimal(WHOLE) * size else float(value)
    if not 1 <= size <= MAX_SIZE:
        raise PathError(f"size {name} = {shown(text)} is {value:.6g} at {dict(point)}: it must lie between 1 and 2**62")
    return size


def _term(term: Monomial, point: Mapping[str, Size]) -> Decimal:
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
    for factor, power in term.others:
        logarithm = factor.log_value(float(point[factor.name]) if factor.name else 0.0)
        value *= (Decimal(power.numerator) / Decimal(power.denominator) * Decimal(logarithm)).exp()
    return value


def _observed_exponent(base: str, bases: Sequence[Size], name: str, sizes: Sequence[Size]) -> Fraction:
    """Return the power with denominator at most 12 that reproduces ``sizes`` to rounding.

    That is half a unit at both ends of whole numbers, and SAME_POWER of others.
    """
    if len(set(sizes)) == 1:
        return Fraction(0)
    if min(bases) == 0 or min(sizes) == 0:  # a level, such as l of 2**(-l)
        raise PathError(f"sizes {name} follow no power of {base}: one of them is 0")
    whole = all(isinstance(size, int) for size in (*bases, *sizes))
    slope = math.log(sizes[-1] / sizes[0]) / math.log(bases[-1] / bases[0])
    power = Fraction(slope).limit_denominator(12)
    for here, size in zip(bases, sizes):
        expected = sizes[0] * (here / bases[0]) ** float(power)
        rounding = 0.5 + 0.5 * expected / sizes[0] + 1e-9 * expected if whole else SAME_POWER * expected
        if abs(size - expected) > rounding:
            listed = shown(str(list(sizes)))
            raise PathError(
                f"sizes {name} = {listed} follow no power of {base}: write {name} as an expression like '{base}**(3/2)'"
            )
    return power
