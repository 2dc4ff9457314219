"""Enclosures of an expression's values over an interval of x, and what they prove about signs.

The arithmetic is that of flint's balls; only the ends are kept, which may be infinite, so that "positive and not bounded" can be
said.  An operation that is not defined on its whole argument gives (-inf, inf).
"""

from __future__ import annotations

import functools
import math
from typing import Any

import sympy
from flint import arb

from theoryck.numerics.balls import precision
from theoryck.numerics.functions.expression import x
from theoryck.numerics.functions.trees import Instruction, tree_of

Range = tuple[float, float]
LINE: Range = (-math.inf, math.inf)
BITS = 64

_Ends = tuple[arb, arb]
_INFINITY = arb("inf")
_ANYTHING = -_INFINITY, _INFINITY
_RISING = {"exp", "tanh", "sinh", "asinh", "atan", "erf", "sign"}


def enclose(expression: Any, domain: Range = LINE) -> Range:
    """Return (low, high) with low <= expression <= high for every x in ``domain``.

    >>> enclose(2 + sympy.sin(x)), enclose(x**2, (-1.0, 2.0))
    ((1.0, 3.0), (0.0, 4.0))
    """
    tree = tree_of((expression,))
    found: list[_Ends] = []
    with precision(BITS):
        for instruction, constant in zip(tree.instructions, tree.constants()):
            if constant is not None:
                low, high = constant, constant
            elif instruction.kind == "x":
                low, high = arb(domain[0]), arb(domain[1])
            else:
                low, high = _rule(instruction, [found[position] for position in instruction.args])
            found.append((-_INFINITY if low.is_nan() else low.lower(), _INFINITY if high.is_nan() else high.upper()))
        low, high = found[tree.outputs[0]]
        return _float(low, -math.inf), _float(high, math.inf)


def _float(end: arb, outward: float) -> float:
    value = float(end)
    inside = arb(value) > end if outward < 0 else arb(value) < end
    return math.nextafter(value, outward) if inside else value


def _rule(instruction: Instruction, parts: list[_Ends]) -> _Ends:
    kind, (low, high) = instruction.kind, parts[0]
    if kind == "add":
        return sum((part[0] for part in parts[1:]), low), sum((part[1] for part in parts[1:]), high)
    if kind == "mul":
        return functools.reduce(_product, parts)
    if kind in ("max", "min"):
        pick = arb.max if kind == "max" else arb.min
        return functools.reduce(pick, (part[0] for part in parts)), functools.reduce(pick, (part[1] for part in parts))
    if kind in ("power", "root"):
        return _power(low, high, sympy.Rational(instruction.payload))
    if kind in _RISING:
        return _at(kind, low), _at(kind, high)
    if kind == "erfc":
        return _at(kind, high), _at(kind, low)
    if kind == "heaviside":
        return (1 + low.sgn()) / 2, (1 + high.sgn()) / 2
    if kind == "log":
        return (low.log() if low > 0 else -_INFINITY, high.log()) if low >= 0 and high > 0 else _ANYTHING
    if kind == "tan":
        return (low.tan(), high.tan()) if low > -1.57 and high < 1.57 else _ANYTHING
    if kind in ("sin", "cos"):
        turn = arb.pi() / 2 if kind == "sin" else arb(0)
        return _cosine((low - turn).lower(), (high - turn).upper())
    least, most = _sizes(low, high)
    if kind == "abs":
        return least, most
    if kind == "cosh":
        return least.cosh(), most.cosh()
    return (most.sech(), least.sech()) if kind == "sech" else _ANYTHING


def _at(kind: str, end: arb) -> arb:
    """The value at an end; flint knows the limits of all but erf and erfc."""
    if kind in ("erf", "erfc") and not end.is_finite():
        return end.sgn() if kind == "erf" else 1 - end.sgn()
    return end.sgn() if kind == "sign" else getattr(arb, kind)(end)


def _sizes(low: arb, high: arb) -> _Ends:
    return arb(0) if low <= 0 and high >= 0 else abs(low).min(abs(high)), abs(low).max(abs(high))


def _cosine(low: arb, high: arb) -> _Ends:
    """Ends of cos over [low, high]; phases beyond 1e6 give [-1, 1]."""
    a, b = float(low), float(high)
    if not (b - a < 2 * math.pi and max(abs(a), abs(b)) < 1e6):
        return arb(-1), arb(1)
    ends = low.cos(), high.cos()
    bottom = arb(-1) if _contains(a, b, math.pi) else ends[0].min(ends[1])
    return bottom, arb(1) if _contains(a, b, 0.0) else ends[0].max(ends[1])


def _contains(low: float, high: float, phase: float, slack: float = 1e-9) -> bool:
    turn = 2 * math.pi
    return math.floor((high + slack - phase) / turn) >= math.ceil((low - slack - phase) / turn)


def _product(one: _Ends, two: _Ends) -> _Ends:
    # An end at infinity stands for arbitrarily large finite values, so 0 * inf is 0 here.
    corners = [arb(0) if p == 0 or q == 0 else p * q for p in one for q in two]
    return functools.reduce(arb.min, corners), functools.reduce(arb.max, corners)


def _power(low: arb, high: arb, exponent: sympy.Rational) -> _Ends:
    if exponent < 0:
        if (low < 0 and high > 0) or low == high == 0:
            return _ANYTHING
        ends = (1 / high if high != 0 else -_INFINITY), (1 / low if low != 0 else _INFINITY)
        return _power(ends[0].lower(), ends[1].upper(), -exponent)
    if not exponent.is_Integer:
        return (_root(low, exponent), _root(high, exponent)) if low >= 0 else _ANYTHING
    if exponent % 2 == 0:
        low, high = _sizes(low, high)
    return low ** int(exponent), high ** int(exponent)


def _root(base: arb, exponent: sympy.Rational) -> arb:
    return base.root(int(exponent.q)) ** int(exponent.p)


def is_positive(e: Any, *, strict: bool = True) -> bool:
    """Whether e > 0 (or e >= 0 with ``strict=False``) for every real x is proved."""
    if e.is_positive or (not strict and e.is_nonnegative):
        return True
    low = enclose(e)[0]
    return low > 0 or (not strict and low >= 0) or (_rootless(e) and bool(e.subs(x, 0) > 0))


def never_zero(e: Any) -> bool:
    """Whether e has no real zero is proved: by its sign, its range, or Sturm's theorem for a rational polynomial."""
    low, high = (1.0, 1.0) if e.is_nonzero else enclose(e)
    return low > 0 or high < 0 or _rootless(e)


def _rootless(e: Any) -> bool:
    if not e.is_polynomial(x):
        return False
    polynomial = sympy.Poly(e, x)
    if polynomial.degree() > 32 or not all(c.is_Rational for c in polynomial.coeffs()):
        return False
    return int(polynomial.count_roots()) == 0
