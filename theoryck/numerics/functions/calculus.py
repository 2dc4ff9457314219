"""What is read off the tree: derivatives almost everywhere, in forms that stay accurate where floating point overflows; parity."""

from __future__ import annotations

import functools
from typing import Any

import sympy

from theoryck.numerics.functions.expression import x


def derivative(expression: Any) -> Any:
    """Return d/dx of ``expression`` at every point that is not a kink; the value at a kink is a convention.

    At a jump of the derivative the conventions sign(0) = 0 and heaviside(0) = 1/2 give the mean of the two sides.

    >>> derivative(sympy.Max(0, x)), derivative(sympy.tanh(x))
    (Heaviside(x), 1 - tanh(x)**2)
    """
    return _derivative(expression, {})


def _derivative(e: Any, known: dict[Any, Any]) -> Any:
    if not e.has(x):
        return sympy.S.Zero
    if e not in known:
        known[e] = _rule(e, known)
    return known[e]


def _rule(e: Any, known: dict[Any, Any]) -> Any:
    if e == x:
        return sympy.S.One
    if isinstance(e, sympy.Add):
        return sympy.Add(*(_derivative(term, known) for term in e.args))
    if isinstance(e, sympy.Mul):
        factors = e.args
        return sympy.Add(
            *(sympy.Mul(*factors[:i], _derivative(factor, known), *factors[i + 1 :]) for i, factor in enumerate(factors))
        )
    if isinstance(e, sympy.Pow):
        return _power(e.base, e.exp, known)
    if isinstance(e, sympy.Max | sympy.Min):
        return _extremum(e, known)
    if isinstance(e, sympy.sign | sympy.Heaviside):
        return sympy.S.Zero
    inner = e.args[0]
    slope = _derivative(inner, known)
    if isinstance(e, sympy.Abs):
        return sympy.sign(inner) * slope
    if isinstance(e, sympy.log):
        return _logarithm(inner, slope)
    return e.fdiff(1) * slope


def _power(base: Any, exponent: Any, known: dict[Any, Any]) -> Any:
    slope = _derivative(base, known)
    if isinstance(base, sympy.cosh) and exponent < 0:
        # cosh^n = sech^-n, whose derivative n sech^-n tanh has no quotient of infinities for large arguments.
        return exponent * sympy.sech(base.args[0]) ** (-exponent) * sympy.tanh(base.args[0]) * _derivative(base.args[0], known)
    tail = _one_plus_exp(base)
    if tail is not None and exponent == -1:
        # d/dv 1/(1 + e^v) = -e^v/(1 + e^v)^2 = -sech(v/2)^2/4.
        return -(sympy.sech(tail / 2) ** 2) / 4 * _derivative(tail, known)
    return exponent * base ** (exponent - 1) * slope


def _logarithm(inner: Any, slope: Any) -> Any:
    if isinstance(inner, sympy.cosh):
        return sympy.tanh(inner.args[0]) * _derivative(inner.args[0], {})
    tail = _one_plus_exp(inner)
    if tail is not None:
        # e^v/(1 + e^v) = 1/(1 + e^-v).
        return _derivative(tail, {}) / (1 + sympy.exp(-tail))
    return slope / inner


def _one_plus_exp(e: Any) -> Any:
    """Return v when ``e`` is 1 + exp(v), else None."""
    if isinstance(e, sympy.Add) and len(e.args) == 2 and sympy.S.One in e.args:
        other = e - 1
        if isinstance(other, sympy.exp):
            return other.args[0]
    return None


def _extremum(e: Any, known: dict[Any, Any]) -> Any:
    """Max(a_1, ..., a_n)' = sum of a_i' where a_i exceeds all others (and likewise for Min)."""
    total = sympy.S.Zero
    for argument in e.args:
        others = [other for other in e.args if other is not argument]
        rest = others[0] if len(others) == 1 else e.func(*others)
        gap = argument - rest if isinstance(e, sympy.Max) else rest - argument
        total += _derivative(argument, known) * sympy.Heaviside(gap)
    return total


_ODD = (sympy.sin, sympy.tan, sympy.tanh, sympy.sinh, sympy.atan, sympy.asinh, sympy.erf, sympy.sign)
_EVEN = (sympy.cos, sympy.cosh, sympy.sech, sympy.Abs)


@functools.lru_cache(maxsize=512)
def parity(expression: Any) -> int:
    """Return 1 for an even function of x, -1 for an odd one, 0 where neither is certain; zero counts as even.

    >>> parity(x*sympy.exp(-x**2/2)), parity(sympy.cos(sympy.tanh(x))), parity(sympy.Max(0, x)), parity(sympy.Max(x, -x))
    (-1, 1, 0, 1)
    """
    found = parity_of_parts(expression)
    if found:
        return found
    mirrored = expression.xreplace({x: -x})
    return 1 if mirrored == expression else -1 if mirrored == -expression else 0


def parity_of_parts(e: Any) -> int:
    """Return the parity that follows from those of the parts, as :func:`parity` does."""
    if not e.has(x):
        return 1
    if e == x:
        return -1
    parts = [parity_of_parts(argument) for argument in e.args]
    if isinstance(e, sympy.Mul):
        return 0 if 0 in parts else (-1) ** parts.count(-1)
    if isinstance(e, sympy.Pow) and e.exp.is_Integer:
        return parts[0] ** (int(e.exp) % 2 or 2)
    if all(part == 1 for part in parts):
        return 1
    if isinstance(e, sympy.Add) and all(part == -1 for part in parts):
        return -1
    if isinstance(e, _ODD):
        return parts[0]
    return abs(parts[0]) if isinstance(e, _EVEN) else 0
