"""Reads the text of a rate or of a size expression into a sum of monomials, with a whitelist over ``ast``.

No text is ever handed to ``eval`` or to sympy: the tree that ``ast`` returns is walked here, every node that is not listed is
refused, and every power is bounded before it is computed, so that text from a file can cost neither time nor safety.
"""

from __future__ import annotations

import ast
import difflib
import math
import operator
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, SupportsIndex

MAX_CHARACTERS = 500
MAX_DEPTH = 40
MAX_TERMS = 64
MAX_POWER = 64  # of a plain number, and of a sum that has to be expanded
MAX_BITS = 512  # of a numerator or denominator: far above any constant a theorem mentions
FUNCTIONS = ("sqrt", "log", "min", "max")


class RateError(ValueError):
    """A rate (or an expression in sizes) that cannot be read, or that names something unknown.

    >>> from theoryck.rates import Rate
    >>> Rate.parse("d**(-1/2) - 1/n")
    Traceback (most recent call last):
        ...
    theoryck.rates.parsing.RateError: rate 'd**(-1/2) - 1/n': subtraction is not allowed: a rate is a sum of positive
    terms
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


@dataclass(frozen=True, slots=True)
class Monomial:
    """``coefficient * prod(base**power for roots) * prod(x**q for powers) * prod(log(x)**r for logs)``, coefficient > 0.

    ``roots`` holds what is irrational of the constant, such as (2, 1/2) for sqrt(2).
    """

    coefficient: Fraction
    roots: tuple[tuple[Fraction, Fraction], ...] = ()
    powers: tuple[tuple[str, Fraction], ...] = ()
    logs: tuple[tuple[str, Fraction], ...] = ()

    @property
    def constant(self) -> bool:
        """Whether no size occurs."""
        return not self.powers and not self.logs

    @property
    def key(self) -> tuple[Any, ...]:
        """What two monomials share when they may be added."""
        return (self.roots, self.powers, self.logs)

    @property
    def log_constant(self) -> float:
        """The logarithm of everything that does not depend on the sizes."""
        value = math.log(self.coefficient.numerator) - math.log(self.coefficient.denominator)
        for base, power in self.roots:
            value += float(power) * (math.log(base.numerator) - math.log(base.denominator))
        return value

    def __str__(self) -> str:
        factors = [_power_text(_number_text(base), power) for base, power in self.roots]
        factors += [_power_text(name, power) for name, power in self.powers]
        factors += [_power_text(f"log({name})", power) for name, power in self.logs]
        if self.coefficient != 1 or not factors:
            factors.insert(0, _number_text(self.coefficient))
        return "*".join(factors)


def _number_text(number: Fraction) -> str:
    return str(number) if number.denominator == 1 else f"({number})"


def _power_text(base: str, power: Fraction) -> str:
    if power == 1:
        return base
    return f"{base}**{power}" if power.denominator == 1 and power > 0 else f"{base}**({power})"


Sum = tuple[Monomial, ...]


@dataclass(frozen=True, slots=True)
class Extremum:
    """The smallest or the largest of several sums: only in expressions for sizes, as in ``min(d, n)``."""

    largest: bool
    choices: tuple[Sum, ...]


def to_fraction(value: Any, argument: str) -> Fraction:
    """Return the exact rational that ``value`` (int, Fraction, finite float or decimal text) stands for; else RateError.

    A float stands for its shortest decimal text, so 0.1 becomes 1/10.

    >>> to_fraction("0.25", "k"), to_fraction(3, "k"), to_fraction(0.1, "k")
    (Fraction(1, 4), Fraction(3, 1), Fraction(1, 10))
    """
    number: Fraction | None = None
    if isinstance(value, (int, Fraction)) and not isinstance(value, bool):
        number = Fraction(value)
    elif isinstance(value, (float, str)) and len(str(value)) <= 64:
        try:
            number = Fraction(str(value)) if "e" not in str(value).lower() else _small_power_of_ten(str(value))
        except (ValueError, ZeroDivisionError, OverflowError):
            number = None
    elif isinstance(value, SupportsIndex) and not isinstance(value, bool) and not hasattr(value, "__len__"):  # numpy integers
        number = Fraction(operator.index(value))
    if number is None:
        raise RateError(f"{argument} = {shown(str(value))} is not a number: give an int, a Fraction or decimal text such as '0.5'")
    return _bounded(number)


def _small_power_of_ten(text: str) -> Fraction:
    if abs(int(text.lower().split("e")[1])) > 100:
        raise ValueError(text)
    return Fraction(text)


def _bounded(number: Fraction) -> Fraction:
    if max(number.numerator.bit_length(), number.denominator.bit_length()) > MAX_BITS:
        raise RateError("a number in this expression has more than 150 digits: write it as a power of a size")
    return number


def parse_sum(text: str, parameters: Mapping[str, Any], *, what: str = "rate", allow_extremum: bool = False) -> Sum | Extremum:
    """Parse ``text`` into monomials, with ``parameters`` put in exactly; raises RateError that quotes the text.

    >>> [str(term) for term in parse_sum("(1 + n/d)/sqrt(d)", {})]
    ['d**(-1/2)', 'd**(-3/2)*n']
    """
    if not isinstance(text, str):
        raise RateError(f"a {what} must be text such as 'd**(-1/2)', got {type(text).__name__} {shown(str(text))}")
    if len(text) > MAX_CHARACTERS:
        raise RateError(f"a {what} may have at most {MAX_CHARACTERS} characters, got {len(text)}: {shown(text)}")
    if "^" in text:
        raise RateError(f"{what} {shown(text)}: write ** for a power: {text.strip().replace('^', '**')}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the tokenizer warns about text such as "1or 2", which is refused below
            tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise RateError(f"cannot read the {what} {shown(text)}: write it like 'd**(-1/2)' or '(1 + n/d)/sqrt(d)'") from None
    walker = _Walker(parameters)
    try:
        if allow_extremum and isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id in ("min", "max"):
            choices = tuple(walker.sum(argument, 1) for argument in tree.args)
            if not choices or tree.keywords:
                raise RateError(f"{tree.func.id} takes one or more expressions")
            return Extremum(tree.func.id == "max", choices)
        return walker.sum(tree, 0)
    except RateError as error:
        raise RateError(f"{what} {shown(text)}: {error}") from None


class _Walker:
    """Turns an ``ast`` expression into a sum of monomials."""

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self.parameters = parameters

    def sum(self, node: ast.expr, depth: int) -> Sum:
        """Return the value of a node that must be positive."""
        if depth > MAX_DEPTH:
            raise RateError(f"nested more than {MAX_DEPTH} deep: simplify it")
        number = self.number(node, depth)
        if number is not None:
            if number < 0:
                raise RateError(f"the term {number} is negative: a rate is a sum of positive terms")
            return (Monomial(number),) if number else ()
        if isinstance(node, ast.Name):
            return (Monomial(Fraction(1), powers=((node.id, Fraction(1)),)),)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.UAdd):
            return self.sum(node.operand, depth + 1)
        if isinstance(node, ast.BinOp):
            return self._binary(node, depth + 1)
        if isinstance(node, ast.Call):
            return self._call(node, depth + 1)
        raise RateError(f"{_describe(node)} is not allowed: use sizes, numbers, + * / **, sqrt() and log()")

    def number(self, node: ast.expr, depth: int) -> Fraction | None:
        """Return the exact value of a node in which only numbers and parameters occur, else None."""
        if depth > MAX_DEPTH:
            raise RateError(f"nested more than {MAX_DEPTH} deep: simplify it")
        if isinstance(node, ast.Constant):
            if isinstance(node.value, bool) or not isinstance(node.value, (int, float)):
                raise RateError(f"{shown(str(node.value))} is not a number")
            return to_fraction(node.value, "a constant")
        if isinstance(node, ast.Name):
            return to_fraction(self.parameters[node.id], node.id) if node.id in self.parameters else None
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.UAdd, ast.USub)):
            inner = self.number(node.operand, depth + 1)
            return None if inner is None else (-inner if isinstance(node.op, ast.USub) else inner)
        if not isinstance(node, ast.BinOp):
            return None
        left, right = self.number(node.left, depth + 1), self.number(node.right, depth + 1)
        if left is None or right is None:
            return None
        return _arithmetic(node.op, left, right)

    def _binary(self, node: ast.BinOp, depth: int) -> Sum:
        if isinstance(node.op, ast.Pow):
            power = self.number(node.right, depth)
            if power is None:
                unknown = [
                    each.id for each in ast.walk(node.right) if isinstance(each, ast.Name) and each.id not in self.parameters
                ]
                hint = close_match(unknown[0], self.parameters) if unknown else ""
                problem = f"a power must be a number or made of parameters, got {shown(ast.unparse(node.right))}"
                raise RateError(f"{problem}: a size cannot stand in an exponent{hint}")
            return _raise(self.sum(node.left, depth), power)
        if isinstance(node.op, ast.Sub):
            raise RateError("subtraction is not allowed: a rate is a sum of positive terms")
        if not isinstance(node.op, (ast.Add, ast.Mult, ast.Div)):
            raise RateError(f"the operator {type(node.op).__name__} is not allowed: use + * / and ** for a power")
        left, right = self.sum(node.left, depth), self.sum(node.right, depth)
        if isinstance(node.op, ast.Add):
            return _collect(left + right)
        if isinstance(node.op, ast.Div):
            if len(right) != 1:
                raise RateError("division is by a single monomial only, such as /sqrt(d) or /(d*n)")
            right = _raise(right, Fraction(-1))
        return _product(left, right)

    def _call(self, node: ast.Call, depth: int) -> Sum:
        if not isinstance(node.func, ast.Name):
            raise RateError(f"{_describe(node.func)} cannot be called: only sqrt() and log()")
        name = node.func.id
        if name not in ("sqrt", "log"):
            raise RateError(f"unknown function {name!r}{close_match(name, ('sqrt', 'log'))}")
        if len(node.args) != 1 or node.keywords:
            raise RateError(f"{name}() takes one argument")
        if name == "sqrt":
            return _raise(self.sum(node.args[0], depth), Fraction(1, 2))
        argument = node.args[0]
        if not isinstance(argument, ast.Name) or argument.id in self.parameters:
            raise RateError("log() takes the name of one size, as in log(d); expand log(n*d) by hand")
        return (Monomial(Fraction(1), logs=((argument.id, Fraction(1)),)),)


def _describe(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return f"the attribute .{node.attr}"
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return "a term with a minus sign"
    return type(node).__name__


def _arithmetic(operator: ast.operator, left: Fraction, right: Fraction) -> Fraction | None:
    if isinstance(operator, ast.Add):
        return _bounded(left + right)
    if isinstance(operator, ast.Sub):
        return _bounded(left - right)
    if isinstance(operator, ast.Mult):
        return _bounded(left * right)
    if isinstance(operator, ast.Div):
        if right == 0:
            raise RateError("division by zero")
        return _bounded(left / right)
    if isinstance(operator, ast.Pow):
        if right.denominator != 1:
            return None  # an irrational constant such as 2**(1/2): kept as a root by `sum`
        if abs(right) > MAX_POWER:
            raise RateError(f"the power {shown(str(right))} of a plain number is larger than {MAX_POWER}")
        if left == 0 and right < 0:
            raise RateError("division by zero")
        return _bounded(left ** int(right))
    return None


def _raise(terms: Sum, power: Fraction) -> Sum:
    if abs(power) > 1000:
        raise RateError(f"the power {shown(str(power))} is larger than 1000")
    if power == 0:
        return (Monomial(Fraction(1)),)
    if len(terms) == 1:
        return (_raise_monomial(terms[0], power),)
    if not terms:
        if power < 0:
            raise RateError("division by zero")
        return ()
    if power.denominator != 1 or power < 0 or power > 8:
        raise RateError(f"a sum cannot be raised to the power {power}: only to 1, 2, ..., 8 (take the root of each term)")
    result: Sum = (Monomial(Fraction(1)),)
    for _ in range(int(power)):
        result = _product(result, terms)
    return result


def _raise_monomial(term: Monomial, power: Fraction) -> Monomial:
    whole = Fraction(math.floor(power))
    if abs(whole) > MAX_POWER and term.coefficient != 1:
        raise RateError(f"the power {power} of a plain number is larger than {MAX_POWER}")
    coefficient = Fraction(1) if term.coefficient == 1 else _bounded(term.coefficient ** int(whole))
    roots = [(base, exponent * power) for base, exponent in term.roots]
    if power != whole and term.coefficient != 1:
        exact = _exact_root(term.coefficient, power - whole)
        if exact is None:
            roots.append((term.coefficient, power - whole))
        else:
            coefficient *= exact
    return _monomial(coefficient, roots, [(n, q * power) for n, q in term.powers], [(n, r * power) for n, r in term.logs])


def _exact_root(number: Fraction, power: Fraction) -> Fraction | None:
    if power != Fraction(1, 2):
        return None
    top, bottom = math.isqrt(number.numerator), math.isqrt(number.denominator)
    return Fraction(top, bottom) if top**2 == number.numerator and bottom**2 == number.denominator else None


def _merge(pairs: Iterable[tuple[Any, Fraction]]) -> tuple[tuple[Any, Fraction], ...]:
    total: dict[Any, Fraction] = {}
    for base, power in pairs:
        total[base] = total.get(base, Fraction(0)) + power
    return tuple(sorted((base, power) for base, power in total.items() if power != 0))


def _monomial(coefficient: Fraction, roots: Iterable[Any], powers: Iterable[Any], logs: Iterable[Any]) -> Monomial:
    kept = []
    for base, power in _merge(roots):
        whole = math.floor(power)
        if abs(whole) > MAX_POWER:
            raise RateError(f"the power {power} of a plain number is larger than {MAX_POWER}")
        coefficient = _bounded(coefficient * base**whole)
        if power != whole:
            kept.append((base, power - whole))
    return Monomial(_bounded(coefficient), tuple(kept), _merge(powers), _merge(logs))


def _product(left: Sum, right: Sum) -> Sum:
    if len(left) * len(right) > MAX_TERMS**2:
        raise RateError(f"it expands to more than {MAX_TERMS} terms")
    return _collect(
        tuple(
            _monomial(a.coefficient * b.coefficient, a.roots + b.roots, a.powers + b.powers, a.logs + b.logs)
            for a in left
            for b in right
        )
    )


def _collect(terms: Sum) -> Sum:
    total: dict[tuple[Any, ...], Monomial] = {}
    for term in terms:
        known = total.get(term.key)
        coefficient = term.coefficient if known is None else _bounded(known.coefficient + term.coefficient)
        total[term.key] = Monomial(coefficient, term.roots, term.powers, term.logs)
    if len(total) > MAX_TERMS:
        raise RateError(f"it expands to more than {MAX_TERMS} terms")
    return tuple(total.values())
