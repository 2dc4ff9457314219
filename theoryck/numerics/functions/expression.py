"""From text to a sympy expression in ``x`` and back, by a whitelist over ``ast``: no text is ever executed.

``read_text`` accepts rational numbers (a decimal becomes the exact rational it spells), ``x``, ``pi``, ``e``, the four
operations, ``**`` with a rational exponent, and the functions in ``FUNCTIONS``.  Everything else is an ``ExpressionError`` naming
the thing.  Sizes are limited (length, nesting, exponents, digits), and every constant is evaluated in floating point before sympy
sees it, so that no text can make the parser run long or build a number that does not fit a computer.
"""

from __future__ import annotations

import ast
import difflib
import math
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

import sympy
from sympy.printing.str import StrPrinter

x = sympy.Symbol("x", real=True)

MAX_LENGTH = 1000
MAX_DEPTH = 60
MAX_EXPONENT = 64
MAX_BITS = 256
MAX_CONSTANT = 1e100
_INTERNAL_LENGTH = 100_000


class ExpressionError(ValueError):
    """A text (or sympy expression) that is not an activation; the message names the thing and shows the text.

    >>> from theoryck.numerics.functions import Activation
    >>> Activation("tanhh(x)")
    Traceback (most recent call last):
        ...
    theoryck.numerics.functions.expression.ExpressionError: unknown function 'tanhh': did you mean 'tanh' or 'tan'? (in the
    expression 'tanhh(x)')
    """


_Function = tuple[int | None, Callable[..., Any], Callable[..., float]]
"""Number of arguments (None: two or more), sympy form, float form for constants."""


def _heaviside(value: float) -> float:
    return 0.5 if value == 0 else float(value > 0)


FUNCTIONS: dict[str, _Function] = {
    "sin": (1, sympy.sin, math.sin),
    "cos": (1, sympy.cos, math.cos),
    "tan": (1, sympy.tan, math.tan),
    "sinh": (1, sympy.sinh, math.sinh),
    "cosh": (1, sympy.cosh, math.cosh),
    "tanh": (1, sympy.tanh, math.tanh),
    "sech": (1, sympy.sech, lambda value: 1 / math.cosh(value)),
    "exp": (1, sympy.exp, math.exp),
    "log": (1, sympy.log, math.log),
    "sqrt": (1, sympy.sqrt, math.sqrt),
    "atan": (1, sympy.atan, math.atan),
    "arctan": (1, sympy.atan, math.atan),
    "asinh": (1, sympy.asinh, math.asinh),
    "arcsinh": (1, sympy.asinh, math.asinh),
    "erf": (1, sympy.erf, math.erf),
    "erfc": (1, sympy.erfc, math.erfc),
    "abs": (1, sympy.Abs, abs),
    "sign": (1, sympy.sign, lambda value: math.copysign(float(value != 0), value)),
    "heaviside": (1, sympy.Heaviside, _heaviside),
    "relu": (1, lambda value: sympy.Max(0, value), lambda value: max(0.0, value)),
    "max": (None, sympy.Max, max),
    "min": (None, sympy.Min, min),
}
CONSTANTS: dict[str, tuple[Any, float]] = {"pi": (sympy.pi, math.pi), "e": (sympy.E, math.e)}

NAMES: dict[Any, str] = {form: name for name, (_, form, _) in reversed(FUNCTIONS.items()) if isinstance(form, type)}
"""Node type and the name by which texts, flint and mpmath know it."""

KINKED: tuple[Any, ...] = (sympy.Abs, sympy.sign, sympy.Heaviside, sympy.Max, sympy.Min)
"""Node types that are not differentiable where their argument (or a difference of arguments) vanishes."""

NODE_TYPES: tuple[Any, ...] = (
    sympy.Symbol,
    sympy.Rational,
    type(sympy.pi),
    type(sympy.E),
    sympy.Add,
    sympy.Mul,
    sympy.Pow,
    *NAMES,
)
"""The only node types an activation's tree may contain."""


def _suggest(name: str, known: list[str]) -> str:
    close = difflib.get_close_matches(name.lower(), known, n=2, cutoff=0.6)
    if close:
        return "did you mean " + " or ".join(repr(match) for match in close) + "?"
    return f"known: {', '.join(sorted(known))}"


class _Reader:
    """Walks the syntax tree; every visit returns (sympy expression, float value or None when it contains x)."""

    def __init__(self, text: str, symbols: dict[str, Any]) -> None:
        self.text, self.symbols, self.first = text, symbols, next(iter(symbols))

    def error(self, problem: str) -> ExpressionError:
        shown = self.text if len(self.text) <= 120 else self.text[:117] + "..."
        return ExpressionError(f"{problem} (in the expression {shown!r})")

    def read(self, node: ast.AST, depth: int = 0) -> tuple[Any, float | None]:
        if depth > MAX_DEPTH:
            raise self.error(f"nesting is deeper than {MAX_DEPTH} levels: write a simpler expression")
        if isinstance(node, ast.Constant):
            return self.number(node)
        if isinstance(node, ast.Name):
            return self.name(node.id)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.UAdd | ast.USub):
            return self.signed(node, depth)
        if isinstance(node, ast.BinOp):
            return self.operation(node, depth)
        if isinstance(node, ast.Call):
            return self.call(node, depth)
        part = ast.get_source_segment(self.text, node) or type(node).__name__
        raise self.error(
            f"{part[:60]!r} ({type(node).__name__}) is not allowed: use numbers, {self.first}, + - * / ** and functions"
        )

    def number(self, node: ast.Constant) -> tuple[Any, float]:
        source = ast.get_source_segment(self.text, node) or repr(node.value)
        if type(node.value) not in (int, float):
            raise self.error(f"{source[:60]!r} is not a real number")
        try:
            decimal = Decimal(node.value) if type(node.value) is int else Decimal(source)
        except InvalidOperation:
            raise self.error(f"cannot read the number {source[:60]!r}: write it like 3, 0.25, 1e-3 or 1/3") from None
        if decimal and (abs(decimal.adjusted()) > 60 or len(decimal.as_tuple().digits) > 60):
            raise self.error(f"the number {source[:60]!r} is out of range: at most 60 digits, between 1e-60 and 1e60")
        fraction = Fraction(decimal)
        return sympy.Rational(fraction.numerator, fraction.denominator), float(fraction)

    def name(self, name: str) -> tuple[Any, float | None]:
        if name in self.symbols:
            return self.symbols[name], None
        if name in CONSTANTS:
            return CONSTANTS[name]
        if name in FUNCTIONS:
            raise self.error(f"{name!r} is a function: write {name}({self.first})")
        known = f"the variable is {self.first}" if len(self.symbols) == 1 else f"the variables are {', '.join(self.symbols)}"
        raise self.error(f"unknown name {name!r}: {known}; {_suggest(name, [*self.symbols, *CONSTANTS, *FUNCTIONS])}")

    def signed(self, node: ast.UnaryOp, depth: int) -> tuple[Any, float | None]:
        value, number = self.read(node.operand, depth + 1)
        if isinstance(node.op, ast.UAdd):
            return value, number
        return -value, None if number is None else -number

    def operation(self, node: ast.BinOp, depth: int) -> tuple[Any, float | None]:
        left, a = self.read(node.left, depth + 1)
        right, b = self.read(node.right, depth + 1)
        match node.op:
            case ast.Add():
                return self.checked(lambda: left + right, lambda p, q: p + q, a, b)
            case ast.Sub():
                return self.checked(lambda: left - right, lambda p, q: p - q, a, b)
            case ast.Mult():
                return self.checked(lambda: left * right, lambda p, q: p * q, a, b)
            case ast.Div():
                if right.is_zero or b == 0:
                    raise self.error("division by zero")
                return self.checked(lambda: left / right, lambda p, q: p / q, a, b)
            case ast.Pow():
                return self.power(left, right, a, b)
        symbol = (ast.get_source_segment(self.text, node) or "")[:60]
        hint = ": write ** for a power" if isinstance(node.op, ast.BitXor) else ""
        raise self.error(f"the operation in {symbol!r} ({type(node.op).__name__}) is not allowed{hint}")

    def power(self, base: Any, exponent: Any, a: float | None, b: float | None) -> tuple[Any, float | None]:
        if base == sympy.E:
            return self.checked(lambda: sympy.exp(exponent), lambda q: math.exp(q), b)
        if not exponent.is_Rational:
            raise self.error(f"the exponent {exponent} must be a rational number: write a**b as exp(b*log(a))")
        if abs(exponent) > MAX_EXPONENT or exponent.q > MAX_EXPONENT:
            raise self.error(f"the exponent {exponent} is too large: numerator and denominator at most {MAX_EXPONENT}")
        if base.is_zero and exponent <= 0:
            raise self.error(f"0**({exponent}) is not defined")
        return self.checked(lambda: base**exponent, lambda p, q: p**q, a, b)

    def call(self, node: ast.Call, depth: int) -> tuple[Any, float | None]:
        if not isinstance(node.func, ast.Name):
            part = ast.get_source_segment(self.text, node.func) or "?"
            raise self.error(f"only named functions can be called, not {part[:60]!r}")
        name = node.func.id
        if name not in FUNCTIONS:
            raise self.error(f"unknown function {name!r}: {_suggest(name, list(FUNCTIONS))}")
        count, form, number = FUNCTIONS[name]
        if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
            raise self.error(f"{name} takes plain arguments only")
        if len(node.args) != count and not (count is None and 2 <= len(node.args) <= 8):
            wanted = "1 argument" if count == 1 else "2 to 8 arguments"
            raise self.error(f"{name} takes {wanted}, got {len(node.args)}")
        read = [self.read(argument, depth + 1) for argument in node.args]
        return self.checked(lambda: form(*(value for value, _ in read)), number, *(value for _, value in read))

    def checked(self, build: Callable[[], Any], number: Callable[..., Any], *values: float | None) -> tuple[Any, float | None]:
        """Build a node after its constant value, if it has one, was seen to be an ordinary real number."""
        constants = [value for value in values if value is not None]
        result: float | None = None
        if len(constants) == len(values):
            try:
                result = number(*constants)
            except (ArithmeticError, ValueError):
                raise self.error("a constant is not a finite real number") from None
            if isinstance(result, complex) or not math.isfinite(result) or abs(result) > MAX_CONSTANT:
                raise self.error("a constant is not a real number of size below 1e100")
        value = build()
        problem = problem_of(value, tuple(self.symbols.values()))
        if problem:
            raise self.error(problem)
        return value, result


def problem_of(node: Any, symbols: tuple[Any, ...] = (x,)) -> str | None:
    """What is wrong with one node that sympy built (its arguments were checked when they were built), or None."""
    stack, seen = [node], 0
    while stack:
        part = stack.pop()
        seen += 1
        if seen > 5000:
            return "the expression is too large"
        if part is sympy.S.ImaginaryUnit:
            return "the expression is not real"
        if part.is_Rational and max(abs(part.p).bit_length(), part.q.bit_length()) > MAX_BITS:
            return "a number is out of range"
        if not isinstance(part, NODE_TYPES) or (isinstance(part, sympy.Symbol) and part not in symbols):
            return f"{part} is not finite, not real or not supported"
        if isinstance(part, sympy.Pow) and not _good_exponent(part):
            return f"the power {part} is too large or its exponent is not rational"
        stack.extend(part.args)
    return None


def _good_exponent(power: Any) -> bool:
    exponent = power.exp
    return bool(exponent.is_Rational) and abs(exponent) <= MAX_EXPONENT


def read_text(text: str, *, max_length: int = MAX_LENGTH, variables: tuple[str, ...] = ("x",)) -> Any:
    """Return the sympy expression that ``text`` spells, without asking whether it is finite on the whole line.

    ``variables`` are the names that stand for real numbers, ``x`` unless said.
    """
    if not isinstance(text, str):
        raise TypeError(f"text must be a str such as 'tanh(x)', got {text!r}")
    if len(text) > max_length:
        raise ExpressionError(f"the expression has {len(text)} characters, at most {max_length} are read: {text[:60]!r}...")
    stripped = text.strip()
    if not stripped:
        raise ExpressionError(f"the expression is empty: {text!r}; write something like 'tanh(x)'")
    try:
        tree = ast.parse(stripped, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        shown = stripped if len(stripped) <= 120 else stripped[:117] + "..."
        raise ExpressionError(f"cannot read the expression {shown!r}: {type(error).__name__}: {error}") from None
    return _Reader(stripped, {name: sympy.Symbol(name, real=True) for name in variables}).read(tree.body)[0]


class _Printer(StrPrinter):
    """Prints with the names that ``read_text`` knows."""

    def _print_Abs(self, expr: Any) -> str:
        return f"abs({self._print(expr.args[0])})"

    def _print_Exp1(self, expr: Any) -> str:
        return "e"

    def _print_Heaviside(self, expr: Any) -> str:
        return f"heaviside({self._print(expr.args[0])})"

    def _print_Max(self, expr: Any) -> str:
        arguments = sorted((argument for argument in expr.args if argument != 0), key=sympy.default_sort_key)
        if len(arguments) == 1 and len(expr.args) == 2:
            return f"relu({self._print(arguments[0])})"
        return f"max({', '.join(self._print(argument) for argument in sorted(expr.args, key=sympy.default_sort_key))})"

    def _print_Min(self, expr: Any) -> str:
        return f"min({', '.join(self._print(argument) for argument in sorted(expr.args, key=sympy.default_sort_key))})"


def canonical(expression: Any) -> tuple[Any, str]:
    """Return (expression, text) such that ``read_text(text)`` is that very expression.

    sympy orders and merges factors as they arrive, so text and expression are iterated to a fixed point.
    """
    text = _Printer().doprint(expression)
    for _ in range(6):
        again = read_text(text, max_length=_INTERNAL_LENGTH)
        text_again = _Printer().doprint(again)
        if again == expression and text_again == text:
            return expression, text
        expression, text = again, text_again
    raise ExpressionError(f"no stable text was found for {text!r}: write the expression in another form")
