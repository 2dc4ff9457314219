"""Monomials: what rates are sums of, and the algebra of such sums in exact rationals.

A factor of a monomial is a power of a size, of its logarithm, or of one of the functions that :class:`Factor` lists.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

MAX_TERMS = 64
MAX_POWER = 64  # of a plain number, and of a sum that has to be expanded
MAX_BITS = 512  # of a numerator or denominator: far above any constant a theorem mentions


class RateError(ValueError):
    """A rate (or an expression in sizes) that cannot be read, or that names something unknown.

    >>> from theoryck.rates import Rate
    >>> Rate.parse("d**(-1/2) - 1/n")
    Traceback (most recent call last):
        ...
    theoryck.rates.monomials.RateError: rate 'd**(-1/2) - 1/n': subtraction is not allowed, but of a number from a
    size: a rate is a sum of positive terms
    """


def close_match(name: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for the nearest known name, or the list of known names.

    >>> close_match("widht", ["width", "d"])
    "; did you mean 'width'?"
    """
    names = sorted(set(known))
    near = difflib.get_close_matches(name, names, n=1)
    if near:
        return f"; did you mean {near[0]!r}?"
    return f"; known names: {', '.join(names)}" if names else ""


def shown(text: str) -> str:
    """Return ``text`` quoted and cut to a length that fits an error message."""
    return repr(text if len(text) <= 80 else text[:77] + "...")


@dataclass(frozen=True, slots=True, order=True)
class Factor:
    """A positive function of one size x: ``x + shift``, its logarithm or iterated logarithm, or ``base**x``.

    ``logs`` counts the logarithms; with ``inverse`` they are of ``1/x``, as of a size that goes to 0.  Without a ``name`` it is a
    constant, such as ``log(2)``.  ``base`` is the text of a rational above 1, or "e", and empty for the others.
    """

    name: str
    shift: Fraction = Fraction(0)
    logs: int = 0
    inverse: bool = False
    base: str = ""

    @property
    def log_base(self) -> float:
        """The logarithm of the base of an exponential, else 0."""
        return 0.0 if not self.base else 1.0 if self.base == "e" else math.log(Fraction(self.base))

    def log_value(self, x: float) -> float:
        """Return the logarithm of the factor at x, -inf where it is 0; RateError where it is not positive."""
        if self.base:
            return x * self.log_base
        inner = x + float(self.shift)
        for step in range(self.logs + 1):
            if inner < 0 or (inner == 0 and step < self.logs):
                raise RateError(f"{self} is not a positive number at {self.name} = {x:.6g}: start at {self._elsewhere(step)}")
            if step < self.logs:
                inner = math.log(inner) if not (self.inverse and step == 0) else -math.log(inner)
        return math.log(inner) if inner else -math.inf

    def _elsewhere(self, step: int) -> str:
        return "a smaller size" if self.inverse and step else "a larger size"

    def __str__(self) -> str:
        if self.base:
            return f"exp({self.name})" if self.base == "e" else f"({self.base})**{self.name}"
        shift = _number_text(abs(self.shift))
        text = self.name or _number_text(self.shift)
        if self.name and self.shift:
            text = f"{self.name} {'+' if self.shift > 0 else '-'} {shift}"
        if not self.logs:
            return f"({text})"
        text = f"1/{text}" if self.inverse else text
        for _ in range(self.logs):
            text = f"log({text})"
        return text


@dataclass(frozen=True, slots=True)
class Monomial:
    """``coefficient * prod(base**power for roots) * prod(x**q for powers) * prod(log(x)**r for logs) * others``, coefficient > 0.

    ``roots`` holds what is irrational of the constant, such as (2, 1/2) for sqrt(2); ``others`` are powers of :class:`Factor`.
    """

    coefficient: Fraction
    roots: tuple[tuple[Fraction, Fraction], ...] = ()
    powers: tuple[tuple[str, Fraction], ...] = ()
    logs: tuple[tuple[str, Fraction], ...] = ()
    others: tuple[tuple[Factor, Fraction], ...] = ()

    @property
    def names(self) -> set[str]:
        """The sizes that occur."""
        return {name for name, _ in (*self.powers, *self.logs)} | {factor.name for factor, _ in self.others if factor.name}

    @property
    def order(self) -> tuple[Any, ...]:
        """What terms are sorted by."""
        return (self.powers, self.logs, self.others, self.roots)

    @property
    def leading_powers(self) -> tuple[tuple[str, Fraction], ...]:
        """The powers of sizes, that of x + c counted as one of x: what it grows like, but for logarithms."""
        shifted = [(factor.name, power) for factor, power in self.others if factor.name and not (factor.logs or factor.base)]
        return merged([*self.powers, *shifted])

    @property
    def leading_logs(self) -> tuple[tuple[str, Fraction], ...]:
        """The powers of logarithms of sizes, that of log(x + c) or log(1/x) counted as one of log(x)."""
        return merged([*self.logs, *((factor.name, power) for factor, power in self.others if factor.name and factor.logs == 1)])

    @property
    def leading_loglogs(self) -> tuple[tuple[str, Fraction], ...]:
        """The powers of iterated logarithms."""
        return merged([(factor.name, power) for factor, power in self.others if factor.name and factor.logs == 2])

    @property
    def exponentials(self) -> tuple[tuple[str, float], ...]:
        """What the logarithm gains with each unit of a size, by names."""
        return tuple((factor.name, float(power) * factor.log_base) for factor, power in self.others if factor.base)

    @property
    def constant(self) -> bool:
        """Whether no size occurs."""
        return not self.names

    @property
    def key(self) -> tuple[Any, ...]:
        """What two monomials share when they may be added."""
        return (self.roots, self.powers, self.logs, self.others)

    @property
    def log_constant(self) -> float:
        """The logarithm of everything that does not depend on the sizes."""
        value = math.log(self.coefficient.numerator) - math.log(self.coefficient.denominator)
        for base, power in self.roots:
            value += float(power) * (math.log(base.numerator) - math.log(base.denominator))
        return value + sum(float(power) * factor.log_value(0.0) for factor, power in self.others if not factor.name)

    def __str__(self) -> str:
        factors = [_power_text(_number_text(base), power) for base, power in self.roots]
        factors += [_power_text(name, power) for name, power in self.powers]
        factors += [_power_text(f"log({name})", power) for name, power in self.logs]
        factors += [self._other_text(factor, power) for factor, power in self.others]
        if self.coefficient != 1 or not factors:
            factors.insert(0, _number_text(self.coefficient))
        return "*".join(factors)

    @staticmethod
    def _other_text(factor: Factor, power: Fraction) -> str:
        if not factor.base:
            return _power_text(str(factor), power)
        exponent = factor.name if abs(power.numerator) == 1 else f"{abs(power.numerator)}*{factor.name}"
        exponent = f"{'-' if power < 0 else ''}{exponent}" + (f"/{power.denominator}" if power.denominator > 1 else "")
        if factor.base == "e":
            return f"exp({exponent})"
        return f"{_number_text(Fraction(factor.base))}**{exponent if power == 1 else f'({exponent})'}"


def _number_text(number: Fraction) -> str:
    return str(number) if number.denominator == 1 else f"({number})"


def _power_text(base: str, power: Fraction) -> str:
    if power == 1:
        return base
    return f"{base}**{power}" if power.denominator == 1 and power > 0 else f"{base}**({power})"


Sum = tuple[Monomial, ...]


def bounded(number: Fraction) -> Fraction:
    """Return a number; RateError for one of too many digits."""
    if max(number.numerator.bit_length(), number.denominator.bit_length()) > MAX_BITS:
        raise RateError("a number in this expression has more than 150 digits: write it as a power of a size")
    return number


def raised(terms: Sum, power: Fraction) -> Sum:
    """Return a sum to a power: any of a monomial or of x + c, a small whole one of other sums; else RateError."""
    if abs(power) > 1000:
        raise RateError(f"the power {shown(str(power))} is larger than 1000")
    if power == 0:
        return (Monomial(Fraction(1)),)
    if len(terms) == 1:
        return (_monomial_raised(terms[0], power),)
    if not terms:
        if power < 0:
            raise RateError("division by zero")
        return ()
    shifted = _shifted(terms)
    if shifted is not None and (power.denominator != 1 or power < 0 or power > 8):
        return (Monomial(Fraction(1), others=((shifted, power),)),)
    if power.denominator != 1 or power < 0 or power > 8:
        raise RateError(f"a sum cannot be raised to the power {power}: only to 1, 2, ..., 8 (take the root of each term)")
    result: Sum = (Monomial(Fraction(1)),)
    for _ in range(int(power)):
        result = product(result, terms)
    return result


def _monomial_raised(term: Monomial, power: Fraction) -> Monomial:
    whole = Fraction(math.floor(power))
    if abs(whole) > MAX_POWER and term.coefficient != 1:
        raise RateError(f"the power {power} of a plain number is larger than {MAX_POWER}")
    coefficient = Fraction(1) if term.coefficient == 1 else bounded(term.coefficient ** int(whole))
    roots = [(base, exponent * power) for base, exponent in term.roots]
    if power != whole and term.coefficient != 1:
        exact = _exact_root(term.coefficient, power - whole)
        if exact is None:
            roots.append((term.coefficient, power - whole))
        else:
            coefficient *= exact
    return made(
        coefficient,
        roots,
        [(n, q * power) for n, q in term.powers],
        [(n, r * power) for n, r in term.logs],
        [(f, r * power) for f, r in term.others],
    )


def _shifted(terms: Sum) -> Factor | None:
    """Return ``x + c`` as a factor; None for any other sum."""
    if len(terms) != 2:
        return None
    constant, size = sorted(terms, key=lambda term: not term.constant)
    name = _size(size)
    return Factor(name, constant.coefficient) if name and constant == Monomial(constant.coefficient) else None


def _size(term: Monomial) -> str:
    """Return the name of the size that a monomial is, "" for any other."""
    name = term.powers[0][0] if term.powers else ""
    return name if term == Monomial(Fraction(1), powers=((name, Fraction(1)),)) else ""


def shift_of(terms: Sum) -> Factor | None:
    """Return the factor x + c that a sum is, c a rational that may be 0 or, as in n - 1, negative; None if it is none."""
    if len(terms) == 1:
        (term,) = terms
        if name := _size(term):
            return Factor(name)
        if len(term.others) == 1 and term == Monomial(Fraction(1), others=((term.others[0][0], Fraction(1)),)):
            factor = term.others[0][0]
            return None if factor.base or factor.logs or not factor.name else factor
    return _shifted(terms)


def _exact_root(number: Fraction, power: Fraction) -> Fraction | None:
    if power != Fraction(1, 2):
        return None
    top, bottom = math.isqrt(number.numerator), math.isqrt(number.denominator)
    return Fraction(top, bottom) if top**2 == number.numerator and bottom**2 == number.denominator else None


def merged(pairs: Iterable[tuple[Any, Fraction]]) -> tuple[tuple[Any, Fraction], ...]:
    """Return pairs of bases and powers with equal bases multiplied, sorted."""
    total: dict[Any, Fraction] = {}
    for base, power in pairs:
        total[base] = total.get(base, Fraction(0)) + power
    return tuple(sorted((base, power) for base, power in total.items() if power != 0))


def made(
    coefficient: Fraction, roots: Iterable[Any], powers: Iterable[Any], logs: Iterable[Any], others: Iterable[Any]
) -> Monomial:
    """Return the monomial of these factors, its constant as rational as it is."""
    kept = []
    for base, power in merged(roots):
        whole = math.floor(power)
        if abs(whole) > MAX_POWER:
            raise RateError(f"the power {power} of a plain number is larger than {MAX_POWER}")
        coefficient = bounded(coefficient * base**whole)
        if power != whole:
            kept.append((base, power - whole))
    return Monomial(bounded(coefficient), tuple(kept), merged(powers), merged(logs), merged(others))


def product(left: Sum, right: Sum) -> Sum:
    """Return the product of two sums, expanded."""
    if len(left) * len(right) > MAX_TERMS**2:
        raise RateError(f"it expands to more than {MAX_TERMS} terms")
    return collected(
        tuple(
            made(a.coefficient * b.coefficient, a.roots + b.roots, a.powers + b.powers, a.logs + b.logs, a.others + b.others)
            for a in left
            for b in right
        )
    )


def collected(terms: Sum) -> Sum:
    """Return a sum with equal terms added; RateError for one of too many terms."""
    total: dict[tuple[Any, ...], Monomial] = {}
    for term in terms:
        known = total.get(term.key)
        coefficient = term.coefficient if known is None else bounded(known.coefficient + term.coefficient)
        total[term.key] = Monomial(coefficient, term.roots, term.powers, term.logs, term.others)
    if len(total) > MAX_TERMS:
        raise RateError(f"it expands to more than {MAX_TERMS} terms")
    return tuple(total.values())
