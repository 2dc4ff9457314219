"""Enclosures of an expression's values over an interval of x, and what they prove about signs.

Every operation rounds outward by a relative 1e-12, thousands of times the error of the elementary functions used, so that
"the range excludes zero" is a proof and not a sample.  An operation that is not defined on its whole argument gives (-inf, inf).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import sympy

from theoryck.numerics.functions.compiled import constant
from theoryck.numerics.functions.expression import x

Range = tuple[float, float]
LINE: Range = (-math.inf, math.inf)
_HUGE = 1.7e308


def _outward(low: float, high: float, floor: float = -math.inf, ceiling: float = math.inf) -> Range:
    if math.isnan(low) or math.isnan(high):
        return floor, ceiling
    low = min(low, _HUGE)
    high = max(high, -_HUGE)
    if math.isfinite(low):
        low -= abs(low) * 1e-12 + 1e-300
    if math.isfinite(high):
        high += abs(high) * 1e-12 + 1e-300
    return max(low, floor), min(high, ceiling)


def _call(function: Callable[[float], float], value: float) -> float:
    try:
        return function(value)
    except OverflowError:
        return math.inf


def _sinh(value: float) -> float:
    return math.copysign(_call(math.sinh, abs(value)), value)


_MONOTONE: dict[Any, tuple[Callable[[float], float], float, float]] = {
    sympy.tanh: (math.tanh, -1.0, 1.0),
    sympy.sinh: (_sinh, -math.inf, math.inf),
    sympy.exp: (lambda value: _call(math.exp, value), 0.0, math.inf),
    sympy.atan: (math.atan, -math.inf, math.inf),
    sympy.asinh: (math.asinh, -math.inf, math.inf),
    sympy.erf: (math.erf, -1.0, 1.0),
    sympy.sign: (lambda value: math.copysign(float(value != 0), value), -1.0, 1.0),
}


def enclose(expression: Any, domain: Range = LINE) -> Range:
    """Return (low, high) with low <= expression <= high for every x in ``domain``.

    >>> enclose(2 + sympy.sin(x)), enclose(x**2, (-1.0, 2.0))[1] > 4
    ((0.99..., 3.00...), True)
    """
    return _enclose(expression, domain, {})


def _enclose(e: Any, domain: Range, known: dict[Any, Range]) -> Range:
    if e not in known:
        known[e] = _rule(e, domain, known)
    return known[e]


def _rule(e: Any, domain: Range, known: dict[Any, Range]) -> Range:
    if e == x:
        return domain
    if e.is_Integer and abs(int(e)) < 2**50:
        return float(e), float(e)
    if not e.has(x):
        value = constant(e)
        return _outward(value, value)
    parts = [_enclose(argument, domain, known) for argument in e.args]
    if isinstance(e, sympy.log) and parts[0][0] > 0:
        # log(1 + u) >= 0 for u >= 0, which rounding the argument outward would lose.
        floor = 0.0 if _enclose(e.args[0] - 1, domain, known)[0] >= 0 else -math.inf
        return _outward(math.log(parts[0][0]), math.log(parts[0][1]), floor)
    if isinstance(e, sympy.Add):
        floor = 0.0 if all(low >= 0 for low, _ in parts) else -math.inf
        ceiling = 0.0 if all(high <= 0 for _, high in parts) else math.inf
        return _outward(sum(low for low, _ in parts), sum(high for _, high in parts), floor, ceiling)
    if isinstance(e, sympy.Mul):
        total = parts[0]
        for part in parts[1:]:
            total = _product(total, part)
        return total
    if isinstance(e, sympy.Pow):
        return _power(parts[0], e.exp)
    if isinstance(e, sympy.Max | sympy.Min):
        pick = max if isinstance(e, sympy.Max) else min
        return pick(low for low, _ in parts), pick(high for _, high in parts)
    return _function(e, *parts[0])


def _function(e: Any, low: float, high: float) -> Range:
    if type(e) in _MONOTONE:
        function, floor, ceiling = _MONOTONE[type(e)]
        return _outward(function(low), function(high), floor, ceiling)
    if isinstance(e, sympy.erfc):
        return _outward(math.erfc(high), math.erfc(low), 0.0, 2.0)
    if isinstance(e, sympy.Heaviside):
        return (0.0 if low < 0 else 0.5 if low == 0 else 1.0), (1.0 if high > 0 else 0.5 if high == 0 else 0.0)
    if isinstance(e, sympy.log):
        return _outward(math.log(low) if low > 0 else -math.inf, math.log(high)) if low >= 0 < high else LINE
    if isinstance(e, sympy.tan):
        return _outward(math.tan(low), math.tan(high)) if -1.57 < low <= high < 1.57 else LINE
    if isinstance(e, sympy.sin):
        return _cosine(low - math.pi / 2, high - math.pi / 2)
    if isinstance(e, sympy.cos):
        return _cosine(low, high)
    least = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
    most = max(abs(low), abs(high))
    if isinstance(e, sympy.Abs):
        return least, most
    if isinstance(e, sympy.cosh):
        return _outward(_call(math.cosh, least), _call(math.cosh, most), 1.0)
    if isinstance(e, sympy.sech):
        return _outward(1 / _call(math.cosh, most), 1 / _call(math.cosh, least), 0.0, 1.0)
    return LINE


def _cosine(low: float, high: float) -> Range:
    """Range of cos over [low, high]; phases beyond 1e6, where the phase itself is rounded, give [-1, 1]."""
    if not (high - low < 2 * math.pi and max(abs(low), abs(high)) < 1e6):
        return -1.0, 1.0
    slack = 1e-9
    ends = math.cos(low), math.cos(high)
    top = 1.0 if _contains(low, high, 0.0, slack) else max(ends) + slack
    bottom = -1.0 if _contains(low, high, math.pi, slack) else min(ends) - slack
    return max(bottom, -1.0), min(top, 1.0)


def _contains(low: float, high: float, phase: float, slack: float) -> bool:
    turn = 2 * math.pi
    return math.floor((high + slack - phase) / turn) >= math.ceil((low - slack - phase) / turn)


def _product(a: Range, b: Range) -> Range:
    # An end at infinity stands for arbitrarily large finite values, so 0 * inf is 0 here.
    corners = [0.0 if p == 0 or q == 0 else p * q for p in a for q in b]
    floor = 0.0 if min(corners) >= 0 else -math.inf
    ceiling = 0.0 if max(corners) <= 0 else math.inf
    return _outward(min(corners), max(corners), floor, ceiling)


def _power(base: Range, exponent: Any) -> Range:
    low, high = base
    if exponent < 0:
        if low < 0 < high or (low == 0 == high):
            return LINE
        if low >= 0:
            base = (1 / high if high else math.inf), (1 / low if low else math.inf)
        else:
            base = (1 / high if high else -math.inf), (1 / low if low else -math.inf)
        floor, ceiling = (0.0, math.inf) if low >= 0 else (-math.inf, 0.0)
        return _power(_outward(*base, floor, ceiling), -exponent)
    p = float(exponent)
    if not exponent.is_Integer:
        return _outward(_call(lambda v: v**p, low), _call(lambda v: v**p, high), 0.0) if low >= 0 else LINE
    if int(exponent) % 2:
        return _outward(*(math.copysign(_call(lambda v: v**p, abs(end)), end) for end in base), *((0.0,) if low >= 0 else ()))
    least = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
    return _outward(_call(lambda v: v**p, least), _call(lambda v: v**p, max(abs(low), abs(high))), 0.0)


def is_positive(e: Any, *, strict: bool = True) -> bool:
    """Whether e > 0 (or e >= 0 with ``strict=False``) for every real x is proved."""
    if e.is_positive or (not strict and e.is_nonnegative):
        return True
    low = enclose(e)[0]
    if low > 0 or (not strict and low >= 0):
        return True
    return _rootless(e) and constant(e.subs(x, 0)) > 0


def never_zero(e: Any) -> bool:
    """Whether e has no real zero is proved: by its sign, its range, or Sturm's theorem for a rational polynomial."""
    if e.is_nonzero:
        return True
    low, high = enclose(e)
    return low > 0 or high < 0 or _rootless(e)


def _rootless(e: Any) -> bool:
    if not e.is_polynomial(x):
        return False
    polynomial = sympy.Poly(e, x)
    if polynomial.degree() > 32 or not all(c.is_Rational for c in polynomial.coeffs()):
        return False
    return int(polynomial.count_roots()) == 0
