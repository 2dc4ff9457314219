"""A small compiler from expression trees to numpy: in-place ufunc calls over cache-sized blocks.

The tree becomes a list of elementwise operations on registers; register 0 is the caller's buffer, a block of it at a time, so that
temporaries stay in cache whatever the size of the array.  A one-operation program (tanh, sin, erf, arctan) is one ufunc call.
Programs whose intermediate values may overflow although the function is finite keep the input of a block and evaluate the few
affected entries again in high precision.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.special
import sympy
from numpy.typing import NDArray

from theoryck.numerics.functions.expression import x
from theoryck.numerics.functions.trees import high_precision

BLOCK_BYTES = 262144
"""Size of a block: it and its few temporaries stay in a second-level cache."""

FLOATS: tuple[np.dtype[Any], ...] = (np.dtype(np.float32), np.dtype(np.float64))
"""The types of array that are evaluated without conversion."""

UFUNCS: dict[Any, Any] = {
    sympy.sin: np.sin,
    sympy.cos: np.cos,
    sympy.tan: np.tan,
    sympy.sinh: np.sinh,
    sympy.cosh: np.cosh,
    sympy.tanh: np.tanh,
    sympy.exp: np.exp,
    sympy.atan: np.arctan,
    sympy.asinh: np.arcsinh,
    sympy.erf: scipy.special.erf,
    sympy.erfc: scipy.special.erfc,
    sympy.Abs: np.abs,
    sympy.sign: np.sign,
}
"""Functions of one argument as numpy evaluates them."""

Value = int | float
"""Inside the compiler an int is the number of a computed array, a float is a constant."""


def constant(expression: Any) -> float:
    """Return the float nearest to a constant expression."""
    return float(sympy.N(expression, 25))


class _Emitter:
    """Writes operations in single-assignment form; equal operations are written once."""

    def __init__(self) -> None:
        self.code: list[tuple[Any, tuple[Value, ...]]] = []
        self.known: dict[tuple[Any, ...], int] = {}

    def emit(self, ufunc: Any, *arguments: Value) -> Value:
        if not any(type(argument) is int for argument in arguments):
            return float(ufunc(*arguments))
        key = (ufunc, tuple((type(argument).__name__, argument) for argument in arguments))
        if key not in self.known:
            self.code.append((ufunc, arguments))
            self.known[key] = len(self.code)
        return self.known[key]

    def compile(self, e: Any) -> Value:
        if not e.has(x):
            return constant(e)
        if e == x:
            return 0
        if isinstance(e, sympy.Add):
            return self.add(e)
        if isinstance(e, sympy.Mul):
            return self.multiply(e)
        if isinstance(e, sympy.Pow):
            value = self.power(self.compile(e.base), abs(e.exp))
            return value if e.exp > 0 else self.emit(np.divide, 1.0, value)
        if isinstance(e, sympy.log):
            return self.logarithm(e.args[0])
        if isinstance(e, sympy.sech):
            return self.emit(np.divide, 1.0, self.emit(np.cosh, self.compile(e.args[0])))
        if isinstance(e, sympy.Heaviside):
            return self.emit(np.heaviside, self.compile(e.args[0]), 0.5)
        if isinstance(e, sympy.Max | sympy.Min):
            return self.extremum(e)
        return self.emit(UFUNCS[type(e)], self.compile(e.args[0]))

    def extremum(self, e: Any) -> Value:
        ufunc = np.maximum if isinstance(e, sympy.Max) else np.minimum
        first, *rest = sorted((self.compile(argument) for argument in e.args), key=lambda value: type(value) is float)
        for value in rest:
            first = self.emit(ufunc, first, value)
        return first

    def add(self, e: Any) -> Value:
        polynomial = _polynomial(e)
        if polynomial is not None:
            return self.horner(polynomial)
        number, rest = e.as_independent(x, as_Add=True)
        shift = constant(number)
        terms = sorted((_split(term) for term in sympy.Add.make_args(rest)), key=lambda term: term[0] < 0)
        total: Value | None = None
        for coefficient, factor in terms:
            value = self.compile(factor)
            if total is None and coefficient == -1 and shift:
                total, shift = self.emit(np.subtract, shift, value), 0.0
            elif total is None:
                total = self.scale(value, coefficient)
            elif coefficient == -1:
                total = self.emit(np.subtract, total, value)
            else:
                total = self.emit(np.add, total, self.scale(value, coefficient))
        assert total is not None
        return self.emit(np.add, total, shift) if shift else total

    def horner(self, coefficients: dict[int, float]) -> Value:
        step = 2 if len({k % 2 for k in coefficients}) == 1 else 1
        low, high = min(coefficients), max(coefficients)
        low = low if step == 1 else low % 2
        variable = self.power(0, sympy.Integer(step))
        value: Value = coefficients[high]
        for k in range(high - step, low - 1, -step):
            value = variable if value == 1.0 and type(value) is float else self.emit(np.multiply, variable, value)
            if coefficients.get(k):
                value = self.emit(np.add, value, coefficients[k])
        return self.emit(np.multiply, 0, value) if low == 1 else value

    def scale(self, value: Value, coefficient: float) -> Value:
        if coefficient == 1:
            return value
        return self.emit(np.negative, value) if coefficient == -1 else self.emit(np.multiply, value, coefficient)

    def multiply(self, e: Any) -> Value:
        coefficient, factors = _split(e, keep=True)
        above: Value | None = None
        below: Value | None = None
        for factor in factors:
            power = factor.exp if isinstance(factor, sympy.Pow) else sympy.S.One
            if power < 0:
                value = self.power(self.compile(factor.base), -power)
                below = value if below is None else self.emit(np.multiply, below, value)
            else:
                value = self.compile(factor)
                above = value if above is None else self.emit(np.multiply, above, value)
        if below is not None and above is None:
            return self.emit(np.divide, coefficient, below)
        if below is not None and above is not None:
            above = self.emit(np.divide, above, below)
        assert above is not None
        return self.scale(above, coefficient)

    def power(self, value: Value, exponent: Any) -> Value:
        if exponent.q > 2:
            return self.emit(np.power, value, float(exponent))
        if exponent.q == 2:
            root = self.emit(np.sqrt, value)
            whole = exponent.p // 2
            return root if whole == 0 else self.emit(np.multiply, self.power(value, sympy.Integer(whole)), root)
        n = int(exponent)
        if n == 1:
            return value
        if n % 2:
            return self.emit(np.multiply, self.power(value, sympy.Integer(n - 1)), value)
        return self.emit(np.square, self.power(value, sympy.Integer(n // 2)))

    def logarithm(self, inner: Any) -> Value:
        if isinstance(inner, sympy.cosh):
            # log cosh u = log(e^u + e^-u) - log 2 does not overflow.
            u = self.compile(inner.args[0])
            return self.emit(np.subtract, self.emit(np.logaddexp, u, self.emit(np.negative, u)), float(np.log(2.0)))
        if isinstance(inner, sympy.Add) and sympy.S.One in inner.args:
            rest = inner - 1
            if isinstance(rest, sympy.exp):
                return self.emit(np.logaddexp, self.compile(rest.args[0]), 0.0)
            return self.emit(np.log1p, self.compile(rest))
        return self.emit(np.log, self.compile(inner))


def _split(e: Any, *, keep: bool = False) -> Any:
    """Split into (float coefficient, rest), or (coefficient, list of factors) with ``keep``."""
    number, rest = e.as_independent(x, as_Add=False)
    return constant(number), (list(sympy.Mul.make_args(rest)) if keep else rest)


def _polynomial(e: Any) -> dict[int, float] | None:
    """Return {power: coefficient} when ``e`` is a sum of at least two monomials in x of degree 2 or more, else None."""
    found: dict[int, float] = {}
    for term in e.args:
        number, rest = term.as_independent(x, as_Add=False)
        base, exponent = rest.as_base_exp()
        if rest == 1:
            exponent = sympy.S.Zero
        elif base != x or not exponent.is_Integer or exponent < 0:
            return None
        found[int(exponent)] = found.get(int(exponent), 0.0) + constant(number)
    return found if max(found) >= 2 else None


class Program:
    """The compiled form of one expression; ``run`` overwrites an array with its values."""

    def __init__(self, expression: Any) -> None:
        self.expression = expression
        emitter = _Emitter()
        result = emitter.compile(expression)
        self.constant: float | None = result if type(result) is float else None
        self.registers = 1
        self.code = [] if self.constant is not None else self._allocate(emitter.code, int(result))
        # Operands are the constants followed by the registers, so that a step is a ufunc and indices (second -1: one argument).
        self.constants = sorted({a for _, arguments, _ in self.code for a in arguments if type(a) is float})
        self.steps = [self._step(*line) for line in self.code]
        self.fragile: dict[np.dtype[Any], bool] = {}
        for dtype in FLOATS:
            self.fragile[dtype] = self._probe(dtype)

    def _allocate(self, code: list[tuple[Any, tuple[Value, ...]]], result: int) -> list[tuple[Any, tuple[Value, ...], int]]:
        """Give values registers, reusing a register after its value's last use; the result lands in register 0."""
        code = code[:result]
        last = {0: 0}
        for index, (_, arguments) in enumerate(code, start=1):
            for argument in arguments:
                if type(argument) is int:
                    last[argument] = index
        place, free = {0: 0}, []
        done: list[tuple[Any, tuple[Value, ...], int]] = []
        for index, (ufunc, arguments) in enumerate(code, start=1):
            if index != result and index not in last:
                continue
            registers = tuple(place[argument] if type(argument) is int else argument for argument in arguments)
            free += sorted({place[a] for a in arguments if type(a) is int and last[a] == index}, reverse=True)
            if index == result:
                out = 0
            elif free:
                out = free.pop()
            else:
                out, self.registers = self.registers, self.registers + 1
            place[index] = out
            done.append((ufunc, registers, out))
        return done

    def _step(self, ufunc: Any, arguments: tuple[Value, ...], out: int) -> tuple[Any, int, int, int]:
        shift = len(self.constants)
        places = [shift + a if isinstance(a, int) else self.constants.index(a) for a in arguments]
        return ufunc, places[0], places[1] if len(places) == 2 else -1, shift + out

    def _probe(self, dtype: np.dtype[Any]) -> bool:
        """Whether some |x| <= 1e4 gives a value that is not finite although the function is."""
        if self.constant is not None or len(self.code) <= 1:
            return False
        grid = np.concatenate([[0.0], np.logspace(-6, 4, 101)])
        points = np.concatenate([-grid[::-1], grid]).astype(dtype)
        values = points.copy()
        with np.errstate(all="ignore"):
            self._execute(values)
        broken = points[~np.isfinite(values)]
        limit = float(np.finfo(dtype).max)
        return any(abs(high_precision(self.expression, float(point))) < limit for point in broken[:: max(1, len(broken) // 8)])

    def _execute(self, block: NDArray[Any], spare: Sequence[NDArray[Any]] | None = None) -> None:
        if spare is None:
            spare = [np.empty_like(block) for _ in range(self.registers - 1)]
        operands: list[Any] = [*self.constants, block, *spare]
        for ufunc, first, second, out in self.steps:
            if second < 0:
                ufunc(operands[first], out=operands[out])
            else:
                ufunc(operands[first], operands[second], out=operands[out])

    def run(self, buffer: NDArray[Any]) -> None:
        """Overwrite ``buffer`` (float32 or float64) with the values of the expression at its entries."""
        if self.constant is not None:
            buffer[...] = self.constant
        elif self.code:
            with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
                self._run(buffer)

    def _run(self, buffer: NDArray[Any]) -> None:
        if len(self.code) == 1 and self.registers == 1:
            self._execute(buffer)
            return
        if buffer.flags.f_contiguous:
            buffer = buffer.T
        if not buffer.flags.c_contiguous:
            packed = np.ascontiguousarray(buffer)
            self._blocks(packed.reshape(-1))
            buffer[...] = packed
            return
        self._blocks(buffer.reshape(-1))

    def _blocks(self, flat: NDArray[Any]) -> None:
        length = BLOCK_BYTES // flat.itemsize
        spare = [np.empty(min(length, flat.size), flat.dtype) for _ in range(self.registers - 1)]
        fragile = self.fragile[flat.dtype]
        for start in range(0, flat.size, length):
            block = flat[start : start + length]
            if block.size < length:
                spare = [array[: block.size] for array in spare]
            before = block.copy() if fragile else block
            self._execute(block, spare)
            if fragile:
                self._repair(block, before)

    def _repair(self, block: NDArray[Any], before: NDArray[Any]) -> None:
        for index in np.flatnonzero(~np.isfinite(block) & np.isfinite(before)):
            block[index] = float(high_precision(self.expression, float(before[index])))


@functools.lru_cache(maxsize=256)
def program_of(expression: Any) -> Program:
    """Return the (cached) program of an expression."""
    return Program(expression)


def values_of(expression: Any, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the values of ``expression`` at float64 ``points``; what overflows or has no value is inf or nan, without a warning.

    >>> values_of(sympy.sqrt(x), np.array([4.0, -1.0]))
    array([ 2., nan])
    """
    values = np.array(points, dtype=np.float64)
    program_of(expression).run(values)
    return values
