"""Reads the text of a rate or of a size expression into a sum of monomials, with a whitelist over ``ast``.

No text is ever handed to ``eval`` or to sympy: the tree that ``ast`` returns is walked here, every node that is not listed is
refused, and every power is bounded before it is computed, so that text from a file can cost neither time nor safety.
"""

from __future__ import annotations

import ast
import operator
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, SupportsIndex

from theoryck.rates.monomials import (
    MAX_POWER,
    Factor,
    Monomial,
    RateError,
    Sum,
    bounded,
    close_match,
    collected,
    product,
    raised,
    shift_of,
    shown,
)

MAX_CHARACTERS = 500
MAX_DEPTH = 40
FUNCTIONS = ("sqrt", "log", "ln", "log2", "log10", "exp", "min", "max")


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
    return bounded(number)


def _small_power_of_ten(text: str) -> Fraction:
    if abs(int(text.lower().split("e")[1])) > 100:
        raise ValueError(text)
    return Fraction(text)


def parse_sum(text: str, parameters: Mapping[str, Any], *, what: str = "rate", allow_extremum: bool = False) -> Sum | Extremum:
    """Parse ``text`` into monomials, with ``parameters`` put in exactly; raises RateError that quotes the text.

    >>> [str(term) for term in parse_sum("(1 + n/d)/sqrt(d)", {})]
    ['d**(-1/2)', 'd**(-3/2)*n']
    """
    tree = read_tree(text, what)
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


def read_tree(text: str, what: str) -> ast.expr:
    """Return the tree of a text that may be one of a rate; RateError for one that is too long or cannot be read."""
    if not isinstance(text, str):
        raise RateError(f"a {what} must be text such as 'd**(-1/2)', got {type(text).__name__} {shown(str(text))}")
    if len(text) > MAX_CHARACTERS:
        raise RateError(f"a {what} may have at most {MAX_CHARACTERS} characters, got {len(text)}: {shown(text)}")
    if "^" in text:
        raise RateError(f"{what} {shown(text)}: write ** for a power: {text.strip().replace('^', '**')}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the tokenizer warns about text such as "1or 2", which is refused below
            return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise RateError(f"cannot read the {what} {shown(text)}: write it like 'd**(-1/2)' or '(1 + n/d)/sqrt(d)'") from None


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
        raise RateError(f"{_describe(node)} is not allowed: use sizes, numbers, + * / **, sqrt(), log() and exp()")

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
            return self._power(node, depth)
        if isinstance(node.op, ast.Sub):
            return self._difference(node, depth)
        if not isinstance(node.op, (ast.Add, ast.Mult, ast.Div)):
            raise RateError(f"the operator {type(node.op).__name__} is not allowed: use + * / and ** for a power")
        left = self.sum(node.left, depth)
        if isinstance(node.op, ast.Div):
            return product(left, self._inverse(node.right, depth))
        right = self.sum(node.right, depth)
        return collected(left + right) if isinstance(node.op, ast.Add) else product(left, right)

    def _inverse(self, node: ast.expr, depth: int) -> Sum:
        """Return one over a monomial, or over a power of ``x + c``."""
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            power = self.number(node.right, depth)
            if power is not None and shift_of(inner := self.sum(node.left, depth)) is not None:
                return raised(inner, -power)
        terms = self.sum(node, depth)
        if len(terms) != 1 and shift_of(terms) is None:
            raise RateError("division is by a single monomial only, such as /sqrt(d) or /(d*n)")
        return raised(terms, Fraction(-1))

    def _power(self, node: ast.BinOp, depth: int) -> Sum:
        power = self.number(node.right, depth)
        if power is not None:
            return raised(self.sum(node.left, depth), power)
        base, linear = self.number(node.left, depth), self._linear(node.right, depth)
        if base is None or linear is None:
            unknown = [each.id for each in ast.walk(node.right) if isinstance(each, ast.Name) and each.id not in self.parameters]
            hint = close_match(unknown[0], self.parameters) if unknown else ""
            problem = f"a power must be a number or made of parameters, got {shown(ast.unparse(node.right))}"
            raise RateError(f"{problem}: a size cannot stand in an exponent, but of a number as in 2**(-n){hint}")
        if base <= 0:
            raise RateError(f"the base {base} of {shown(ast.unparse(node))} must be positive")
        slopes, constant = linear
        return product(raised((Monomial(base),), constant), _exponential(str(max(base, 1 / base)), slopes, -1 if base < 1 else 1))

    def _linear(self, node: ast.expr, depth: int) -> tuple[dict[str, Fraction], Fraction] | None:
        """Return the coefficients of sizes in a sum of multiples of them, and its constant; None for anything else."""
        number = self.number(node, depth)
        if number is not None:
            return {}, number
        if isinstance(node, ast.Name):
            return {node.id: Fraction(1)}, Fraction(0)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.UAdd, ast.USub)):
            return _times(self._linear(node.operand, depth + 1), Fraction(1 if isinstance(node.op, ast.UAdd) else -1))
        if not isinstance(node, ast.BinOp):
            return None
        left, right = self.number(node.left, depth + 1), self.number(node.right, depth + 1)
        if isinstance(node.op, ast.Mult) and (left is not None or right is not None):
            inner, factor = (node.right, left) if left is not None else (node.left, right)
            return _times(self._linear(inner, depth + 1), factor)
        if isinstance(node.op, ast.Div) and right:
            return _times(self._linear(node.left, depth + 1), 1 / right)
        if not isinstance(node.op, (ast.Add, ast.Sub)):
            return None
        first, second = self._linear(node.left, depth + 1), self._linear(node.right, depth + 1)
        second = _times(second, Fraction(1 if isinstance(node.op, ast.Add) else -1))
        if first is None or second is None:
            return None
        names = {**first[0], **second[0]}
        return {name: first[0].get(name, Fraction(0)) + second[0].get(name, Fraction(0)) for name in names}, first[1] + second[1]

    def _difference(self, node: ast.BinOp, depth: int) -> Sum:
        """Return ``x - c``: positive where a rate is asked for, as x goes to infinity."""
        number = self.number(node.right, depth)
        factor = None if number is None else shift_of(self.sum(node.left, depth))
        if number is None or factor is None:
            raise RateError("subtraction is not allowed, but of a number from a size: a rate is a sum of positive terms")
        shift = factor.shift - number
        size = Monomial(Fraction(1), powers=((factor.name, Fraction(1)),))
        if shift < 0:
            return (Monomial(Fraction(1), others=((Factor(factor.name, shift), Fraction(1)),)),)
        return collected((size, Monomial(shift))) if shift else (size,)

    def _call(self, node: ast.Call, depth: int) -> Sum:
        if not isinstance(node.func, ast.Name):
            raise RateError(f"{_describe(node.func)} cannot be called: only sqrt(), log() and exp()")
        name = node.func.id
        if name not in _CALLED:
            raise RateError(f"unknown function {name!r}{close_match(name, _CALLED)}")
        if len(node.args) != 1 or node.keywords:
            raise RateError(f"{name}() takes one argument")
        argument = node.args[0]
        if name == "sqrt":
            return raised(self.sum(argument, depth), Fraction(1, 2))
        if name == "exp":
            linear = self._linear(argument, depth)
            if linear is None or linear[1]:
                raise RateError(
                    "exp() takes a multiple of a size, as in exp(-n/2): write other factors before it; an unknown geometric "
                    "rate is not measured"
                )
            return _exponential("e", linear[0], 1)
        logarithm = self._log(argument, depth)
        if name in ("log2", "log10"):  # in units of the logarithm of its base
            unit = Factor("", Fraction(name.removeprefix("log")), 1)
            return product(logarithm, (Monomial(Fraction(1), others=((unit, Fraction(-1)),)),))
        return logarithm

    def _log(self, node: ast.expr, depth: int) -> Sum:
        """Return the logarithm of a monomial, or of x + c, as a sum of positive logarithms."""
        terms = self.sum(node, depth)
        shifted = shift_of(terms)
        if shifted is not None and shifted.shift:
            return (Monomial(Fraction(1), others=((Factor(shifted.name, shifted.shift, 1), Fraction(1)),)),)
        if len(terms) != 1:
            raise RateError(f"log() takes a product of powers of sizes, or a size plus a number, got {shown(ast.unparse(node))}")
        (term,) = terms
        inner = _iterated(term)
        if inner is not None:
            return (Monomial(Fraction(1), others=((inner, Fraction(1)),)),)
        signs = {power > 0 for _, power in term.powers}
        if term.roots or term.logs or term.others or term.coefficient < 1 or len(signs) > 1:
            raise RateError(f"log({ast.unparse(node)}) may be negative or is no sum of logarithms of sizes: expand it by hand")
        found = [] if term.coefficient == 1 else [Monomial(Fraction(1), others=((Factor("", term.coefficient, 1), Fraction(1)),))]
        for name, power in term.powers:
            if power > 0:
                found.append(Monomial(power, logs=((name, Fraction(1)),)))
            else:
                found.append(Monomial(-power, others=((Factor(name, logs=1, inverse=True), Fraction(1)),)))
        if not found:
            raise RateError("log(1) is 0: a rate is a sum of positive terms")
        return collected(tuple(found))


_CALLED = ("sqrt", "log", "ln", "log2", "log10", "exp")


def _exponential(base: str, slopes: Mapping[str, Fraction], sign: int) -> Sum:
    """Return ``base**(sign * sum of multiples of sizes)``."""
    if base == "1":
        return (Monomial(Fraction(1)),)
    largest = max(map(abs, slopes.values()), default=Fraction(0))
    if largest > 1000:
        raise RateError(f"the multiple {shown(str(largest))} of a size in an exponent is larger than 1000")
    others = tuple(sorted((Factor(name, base=base), sign * slope) for name, slope in slopes.items() if slope))
    return (Monomial(Fraction(1), others=others),)


def _times(
    linear: tuple[dict[str, Fraction], Fraction] | None, factor: Fraction | None
) -> tuple[dict[str, Fraction], Fraction] | None:
    if linear is None or factor is None:
        return None
    return {name: bounded(slope * factor) for name, slope in linear[0].items()}, bounded(linear[1] * factor)


def _iterated(term: Monomial) -> Factor | None:
    """Return the logarithm of the logarithm of one size; None for any other monomial."""
    if len(term.logs) == 1 and term == Monomial(Fraction(1), logs=((term.logs[0][0], Fraction(1)),)):
        return Factor(term.logs[0][0], logs=2)
    if len(term.others) == 1 and term == Monomial(Fraction(1), others=((term.others[0][0], Fraction(1)),)):
        factor = term.others[0][0]
        return Factor(factor.name, factor.shift, 2, factor.inverse) if factor.name and factor.logs == 1 else None
    return None


def _describe(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return f"the attribute .{node.attr}"
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return "a term with a minus sign"
    return type(node).__name__


def _arithmetic(operator: ast.operator, left: Fraction, right: Fraction) -> Fraction | None:
    if isinstance(operator, ast.Add):
        return bounded(left + right)
    if isinstance(operator, ast.Sub):
        return bounded(left - right)
    if isinstance(operator, ast.Mult):
        return bounded(left * right)
    if isinstance(operator, ast.Div):
        if right == 0:
            raise RateError("division by zero")
        return bounded(left / right)
    if isinstance(operator, ast.Pow):
        if right.denominator != 1:
            return None  # an irrational constant such as 2**(1/2): kept as a root by `sum`
        if abs(right) > MAX_POWER:
            raise RateError(f"the power {shown(str(right))} of a plain number is larger than {MAX_POWER}")
        if left == 0 and right < 0:
            raise RateError("division by zero")
        return bounded(left ** int(right))
    return None
