"""Expression trees as straight-line programs: one sympy expression (or several that share parts) evaluated over columns of numbers.

A :class:`Tree` is built once per expression.  Equal subexpressions are one instruction, so phi and phi' share what they have in
common; subexpressions without x are computed once per precision.  An *arithmetic* says what the numbers are: real balls, complex
balls that check analyticity (for rigorous integration), or mpmath numbers (for the fallback).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import flint
import mpmath
import sympy
from flint import acb, arb, fmpq
from sympy import Expr

from theoryck.numerics.errors import ExactError
from theoryck.numerics.functions.expression import KINKED, NAMES, x

ANALYTIC = [name for form, name in NAMES.items() if form not in KINKED]
ATOMS = {sympy.pi: arb.pi, sympy.E: arb.const_e, sympy.EulerGamma: arb.const_euler, sympy.Catalan: arb.const_catalan}


@dataclass(frozen=True, slots=True)
class Instruction:
    """One step: apply ``kind`` (with ``payload``) to the results at positions ``args``; ``expression`` is what it computes."""

    kind: str
    payload: Any
    args: tuple[int, ...]
    expression: Expr

    @property
    def constant(self) -> bool:
        """Whether the step does not involve x."""
        return not self.expression.free_symbols


class RealArithmetic:
    """Real balls at the current precision; functions with kinks are enclosed as they are."""

    name = "arb"
    functions: dict[str, Callable[..., Any]] = {  # noqa: RUF012
        **{name: getattr(arb, name) for name in ANALYTIC},
        "abs": abs,
        "max": lambda *items: _fold(arb.max, items),
        "min": lambda *items: _fold(arb.min, items),
        "sign": arb.sgn,
        "heaviside": lambda value: (1 + value.sgn()) / 2,
    }

    def number(self, atom: Expr) -> arb:
        """Return the ball of a sympy number that has no parts."""
        if atom.is_Rational:
            return arb(fmpq(int(atom.p), int(atom.q)))
        if atom.is_Float:
            return self.number(sympy.Rational(atom))
        if atom in ATOMS:
            return ATOMS[atom]()
        raise ExactError(f"the constant {atom} is not one of the numbers that can be enclosed (rationals, pi, e)")

    def root(self, base: arb, exponent: Fraction) -> arb:
        """Return ``base ** exponent`` for a non-negative base."""
        if exponent.denominator == 2:
            return base.rsqrt() if exponent == Fraction(-1, 2) else _integer_power(base.sqrt(), exponent.numerator)
        return _integer_power(base.root(exponent.denominator), exponent.numerator)

    def power(self, base: arb, exponent: arb) -> arb:
        """Return ``base ** exponent`` for a positive base."""
        return base**exponent


class ComplexArithmetic(RealArithmetic):
    """Complex balls; with ``analytic`` a function returns a non-finite ball wherever it may not be analytic."""

    name = "acb"

    def __init__(self, analytic: bool) -> None:
        self.analytic = analytic
        self.functions = _analytic_functions if analytic else _plain_functions

    def root(self, base: acb, exponent: Fraction) -> acb:
        """Return the principal power; branch cut on the negative half-line."""
        if exponent.denominator == 2:
            return _integer_power(acb(base).sqrt(analytic=self.analytic), exponent.numerator)
        return acb(base).pow(acb(arb(fmpq(exponent.numerator, exponent.denominator))), analytic=self.analytic)

    def power(self, base: acb, exponent: acb) -> acb:
        """Return ``exp(exponent log base)``; branch cut on the negative half-line."""
        return (exponent * acb(base).log(analytic=self.analytic)).exp()


def _off_cuts_of_atan(value: acb) -> bool:
    """Whether ``value`` certainly avoids the cuts i[1, oo) and -i[1, oo) of atan and asinh."""
    return bool(abs(value.imag) < 1) or not value.real.contains(0)


def _guarded(function: Callable[[acb], acb]) -> Callable[[acb], acb]:
    def guarded(value: acb) -> acb:
        return function(value) if _off_cuts_of_atan(value) else acb(arb.nan(), arb.nan())

    return guarded


def _asinh(value: acb) -> acb:
    """log(z + sqrt(1 + z^2)) on the half-plane away from cancellation, extended as an odd function."""
    if value.real < 0:
        return -_asinh(-value)
    return (value + (1 + value * value).sqrt()).log() if value.real > 0 else value.asinh()


_plain_functions: dict[str, Callable[..., Any]] = {**{name: getattr(acb, name) for name in ANALYTIC}, "asinh": _asinh}
_analytic_functions: dict[str, Callable[..., Any]] = {
    **_plain_functions,
    "log": lambda value: value.log(analytic=True),
    "atan": _guarded(acb.atan),
    "asinh": _guarded(_asinh),
}


class DecimalArithmetic:
    """mpmath numbers at mpmath's current precision: no error bounds, used only where nothing can be proved."""

    name = "mpf"
    functions: dict[str, Callable[..., Any]] = {  # noqa: RUF012
        **{name: getattr(mpmath, name) for name in ANALYTIC},
        "abs": mpmath.fabs,
        "max": max,
        "min": min,
        "sign": mpmath.sign,
        "heaviside": lambda value: (1 + mpmath.sign(value)) / 2,
    }

    def number(self, atom: Expr) -> Any:
        """Return the mpmath value of a sympy number."""
        return mpmath.mpf(atom.p) / atom.q if atom.is_Rational else atom._to_mpmath(mpmath.mp.prec)

    def root(self, base: Any, exponent: Fraction) -> Any:
        """Return ``base ** exponent``."""
        return mpmath.power(base, mpmath.mpf(exponent.numerator) / exponent.denominator)

    def power(self, base: Any, exponent: Any) -> Any:
        """Return ``base ** exponent``."""
        return mpmath.power(base, exponent)


REAL = RealArithmetic()
COMPLEX = {flag: ComplexArithmetic(flag) for flag in (False, True)}
DECIMAL = DecimalArithmetic()


def _fold(function: Callable[[Any, Any], Any], items: Sequence[Any]) -> Any:
    result = items[0]
    for item in items[1:]:
        result = function(result, item)
    return result


def _integer_power(base: Any, exponent: int) -> Any:
    if exponent == 2:
        return base * base
    if exponent < 0:
        return 1 / _integer_power(base, -exponent)
    if isinstance(base, arb | acb) and base.contains(0):  # where their ** is nan
        return math.prod([base] * exponent)
    return base**exponent


def _zip(function: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    """Apply ``function`` entry by entry; a lone number stands for a constant column."""
    if type(left) is list:
        return list(map(function, left, right)) if type(right) is list else [function(item, right) for item in left]
    return [function(left, item) for item in right] if type(right) is list else function(left, right)


class Tree:
    """A straight-line program for ``expressions`` in the symbol x.

    >>> square, = Tree((sympy.tanh(x) ** 2,)).columns(DECIMAL, [mpmath.mpf(0)])
    >>> square
    [mpf('0.0')]
    """

    def __init__(self, expressions: Sequence[Expr]) -> None:
        self.instructions: list[Instruction] = []
        self._places: dict[Expr, int] = {}
        self.outputs = tuple(self._place(expression) for expression in expressions)
        self._constants: dict[tuple[str, int], list[Any]] = {}

    def _place(self, expression: Expr) -> int:
        if expression not in self._places:
            instruction = self._instruction(expression)
            self.instructions.append(instruction)
            self._places[expression] = len(self.instructions) - 1
        return self._places[expression]

    def _instruction(self, expression: Expr) -> Instruction:
        def step(kind: str, *parts: Expr, payload: Any = None) -> Instruction:
            return Instruction(kind, payload, tuple(self._place(part) for part in parts), expression)

        if expression == x:
            return step("x")
        if expression.is_Symbol:
            raise ExactError(f"unknown symbol {expression} in an activation: the only variable is x = Symbol('x', real=True)")
        if expression.is_Add or expression.is_Mul:
            return step("add" if expression.is_Add else "mul", *_balanced(expression))
        if isinstance(expression, sympy.Pow) and expression.base != sympy.E:
            base, exponent = expression.args
            if exponent.is_Integer:
                return step("power", base, payload=int(exponent))
            if exponent.is_Rational:
                return step("root", base, payload=Fraction(int(exponent.p), int(exponent.q)))
            return step("general_power", base, exponent)
        if isinstance(expression, sympy.exp):
            return step("exp", expression.exp)
        if not expression.args and expression.is_number:
            return step("number", payload=expression)
        name = NAMES.get(expression.func)
        if name is None:
            raise ExactError(f"{expression.func.__name__} is not a function of the activation language: {expression}")
        parts = expression.args[:1] if name == "heaviside" else expression.args
        return step(name, *parts)

    def _constant_values(self, arithmetic: Any) -> list[Any]:
        bits = mpmath.mp.prec if arithmetic is DECIMAL else flint.ctx.prec
        kind = DECIMAL if arithmetic is DECIMAL else REAL
        key = (kind.name, bits)
        if key not in self._constants:
            values: list[Any] = []
            for instruction in self.instructions:
                values.append(self._apply(instruction, values, kind, None) if instruction.constant else None)
            if len(self._constants) > 64:
                self._constants.clear()
            self._constants[key] = values
        return self._constants[key]

    def columns(self, arithmetic: Any, points: list[Any]) -> list[Any]:
        """Return one column per expression: its values at ``points``.  A constant expression gives a constant column."""
        values = list(self._constant_values(arithmetic))
        for position, instruction in enumerate(self.instructions):
            if values[position] is None:
                values[position] = self._apply(instruction, values, arithmetic, points)
        columns = [values[position] for position in self.outputs]
        return [column if type(column) is list else [column] * len(points) for column in columns]

    def at(self, arithmetic: Any, point: Any) -> Any:
        """Return the value of the first expression at one point."""
        return self.columns(arithmetic, [point])[0][0]

    def constants(self) -> list[Any]:
        """Return the balls of all steps without x at the current precision (None for the others)."""
        return self._constant_values(REAL)

    @staticmethod
    def _apply(instruction: Instruction, values: list[Any], arithmetic: Any, points: list[Any] | None) -> Any:
        kind, payload = instruction.kind, instruction.payload
        args = [values[position] for position in instruction.args]
        if kind == "x":
            return points
        if kind == "number":
            return arithmetic.number(payload)
        if kind in ("add", "mul"):
            return _fold(lambda left, right: _zip(operator.add if kind == "add" else operator.mul, left, right), args)
        if kind == "general_power":
            return _zip(arithmetic.power, *args)
        if kind == "power":
            return _each(lambda value: _integer_power(value, payload), args[0])
        if kind == "root":
            return _each(lambda value: arithmetic.root(value, payload), args[0])
        function = arithmetic.functions.get(kind)
        if function is None:
            raise ExactError(f"{kind} is not analytic: split {instruction.expression} at its kinks first")
        if len(args) == 1:
            return _each(function, args[0])
        return _fold(lambda left, right: _zip(function, left, right), args)


def _each(function: Callable[[Any], Any], column: Any) -> Any:
    return list(map(function, column)) if type(column) is list else function(column)


def _balanced(expression: Expr) -> tuple[Expr, ...]:
    """The parts of a sum or product, constants first and together, so that each constant acts once on a column."""
    fixed = [part for part in expression.args if not part.free_symbols]
    moving = [part for part in expression.args if part.free_symbols]
    if len(fixed) > 1 and moving:
        return (expression.func(*fixed, evaluate=False), *moving)
    return (*fixed, *moving)


@lru_cache(maxsize=512)
def tree_of(expressions: tuple[Expr, ...]) -> Tree:
    """Return the (cached) tree of several expressions."""
    return Tree(expressions)


def constant_ball(expression: Expr) -> arb:
    """Return the ball of an expression without x at the current precision.

    >>> constant_ball(sympy.sqrt(2)).contains(arb(2).sqrt().mid())
    True
    """
    return tree_of((sympy.sympify(expression, strict=True),)).at(REAL, arb(0))


def high_precision(expression: Expr, point: Any, digits: int = 30) -> Any:
    """Return the value of ``expression`` at ``point`` as an mpmath number, computed with ``digits`` digits; nothing is proved.

    >>> mpmath.nstr(high_precision(sympy.tanh(x), 1, 20), 20)
    '0.76159415595576488812'
    """
    with mpmath.workdps(digits):
        return tree_of((expression,)).at(DECIMAL, mpmath.mpf(point))
