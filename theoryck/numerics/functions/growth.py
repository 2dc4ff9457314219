"""How fast an expression grows as x -> +oo or -oo, read off its tree.

With t = |x|, a ``Growth`` says f ~ c t^p (log t)^l exp(sum q_r t^r) when ``exact``, and f = O(t^p (log t)^l exp(...)) when not.
Rules that would need more than that (sums whose leading terms cancel, oscillating factors) fall back to the O form, and what
cannot be bounded at all is None; nothing is sampled.  Coefficients are floats used only for comparisons with a margin.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import sympy

from theoryck.numerics.functions.compiled import constant
from theoryck.numerics.functions.expression import FUNCTIONS, x

_MARGIN = 1e-9


@dataclass(frozen=True, slots=True)
class Growth:
    """See the module; ``exponential`` maps r > 0 to q != 0 as a sorted tuple, largest r first."""

    c: float
    p: Fraction = Fraction(0)
    log: Fraction = Fraction(0)
    exponential: tuple[tuple[Fraction, float], ...] = ()
    exact: bool = True

    @property
    def order(self) -> int:
        """1 when the scale tends to infinity, -1 when it tends to 0, 0 when it is constant."""
        leading = [q for _, q in self.exponential[:1]] + [float(self.p), float(self.log)]
        for value in leading:
            if value:
                return 1 if value > 0 else -1
        return 0

    @property
    def bounded(self) -> bool | None:
        """Whether f stays bounded on this side; None where only an upper bound that grows is known."""
        if self.order <= 0:
            return True
        return False if self.exact else None

    def loose(self) -> Growth:
        """Return the O form."""
        return replace(self, c=1.0, exact=False)


ZERO = Growth(0.0)


def growth(expression: Any, side: int) -> Growth | None:
    """Return the growth of ``expression`` as x -> side * oo, or None where the rules do not reach.

    >>> growth(x**2 * sympy.exp(-x**2/2), +1).bounded, growth(sympy.Max(0, x), +1).bounded, growth(x*sympy.sin(x), 1).bounded
    (True, False, None)
    """
    return _growth(expression, side, {})


def _growth(e: Any, side: int, known: dict[Any, Growth | None]) -> Growth | None:
    if e not in known:
        known[e] = _rule(e, side, known)
    return known[e]


def _rule(e: Any, side: int, known: dict[Any, Growth | None]) -> Growth | None:
    if not e.has(x):
        return Growth(constant(e))
    if e == x:
        return Growth(float(side), Fraction(1))
    if isinstance(e, sympy.exp | sympy.sinh | sympy.cosh | sympy.sech):
        return _exponential(e, side, known)
    parts = [_growth(argument, side, known) for argument in e.args]
    if isinstance(e, sympy.Add):
        return _sum(parts)
    if isinstance(e, sympy.Mul):
        return _product(parts)
    if isinstance(e, sympy.Pow):
        return None if parts[0] is None else _power(parts[0], Fraction(int(e.exp.p), int(e.exp.q)))
    if isinstance(e, sympy.Max | sympy.Min):
        return _extremum(parts, isinstance(e, sympy.Max))
    return _function(e, parts[0])


def _scale(g: Growth) -> tuple[Any, ...]:
    return g.exponential, g.p, g.log


def _larger(a: Growth, b: Growth) -> int:
    """Compare scales: 1, 0 or -1."""
    ratio = _product([a.loose(), _power(b.loose(), Fraction(-1), force=True)])
    return 0 if ratio is None else ratio.order


def _sum(parts: list[Growth | None]) -> Growth | None:
    total: Growth | None = ZERO
    for part in parts:
        if part is None or total is None:
            return None
        total = _add(total, part)
    return total


def _add(a: Growth, b: Growth) -> Growth:
    if a == ZERO or b == ZERO:
        return b if a == ZERO else a
    order = _larger(a, b)
    if order:
        return a if order > 0 else b
    if not (a.exact and b.exact):
        return a.loose()
    c = a.c + b.c
    if abs(c) <= _MARGIN * max(abs(a.c), abs(b.c)):
        return a.loose()
    return replace(a, c=c)


def _product(parts: list[Growth | None]) -> Growth | None:
    c, p, log, exact = 1.0, Fraction(0), Fraction(0), True
    rates: dict[Fraction, list[float]] = {}
    for part in parts:
        if part is None:
            return None
        if part == ZERO:
            return ZERO
        c, p, log, exact = c * part.c, p + part.p, log + part.log, exact and part.exact
        for r, q in part.exponential:
            rates.setdefault(r, []).append(q)
    kept = []
    for r in sorted(rates, reverse=True):
        q = sum(rates[r])
        if abs(q) > _MARGIN * max(abs(value) for value in rates[r]):
            kept.append((r, q))
        elif q != 0:
            return None
    if not (math.isfinite(c) and c):
        return None
    return Growth(c, p, log, tuple(kept), True) if exact else Growth(1.0, p, log, tuple(kept), False)


def _power(g: Growth, exponent: Fraction, *, force: bool = False) -> Growth | None:
    if g == ZERO:
        return ZERO if exponent > 0 else None
    if exponent < 0 and not (g.exact or force):
        return None
    try:
        c = abs(g.c) ** float(exponent)
    except OverflowError:
        return None
    if g.c < 0 and exponent.denominator == 1 and exponent.numerator % 2:
        c = -c
    rates = tuple((r, q * float(exponent)) for r, q in g.exponential)
    return Growth(c, g.p * exponent, g.log * exponent, rates, g.exact) if c and math.isfinite(c) else None


def _extremum(parts: list[Growth | None], largest: bool) -> Growth | None:
    total = parts[0]
    for part in parts[1:]:
        if total is None or part is None:
            return None
        total = _pick(total, part, largest)
    return total


def _pick(a: Growth, b: Growth, largest: bool) -> Growth:
    if a == ZERO or b == ZERO:
        other = b if a == ZERO else a
        if not other.exact:
            return other
        return other if other == ZERO or (other.c > 0) == largest else ZERO
    order = _larger(a, b)
    if not (a.exact and b.exact):
        return a.loose() if order >= 0 else b.loose()
    if order == 0:
        return a if (a.c >= b.c) == largest else b
    big, small = (a, b) if order > 0 else (b, a)
    return big if (big.c > 0) == largest else small


def _monomials(e: Any, side: int) -> tuple[tuple[tuple[Fraction, float], ...], float] | None:
    """Write a polynomial as its terms of positive power in t and its constant, else None."""
    if not e.is_polynomial(x):
        return None
    rates, shift = [], 0.0
    for (power,), coefficient in sympy.Poly(e, x).terms():
        value = constant(coefficient) * side**power
        if power:
            rates.append((Fraction(int(power)), value))
        else:
            shift = value
    return tuple(sorted(rates, reverse=True)), shift


def _exponential(e: Any, side: int, known: dict[Any, Growth | None]) -> Growth | None:
    inner = e.args[0]
    terms = _monomials(inner, side)
    if terms is not None and terms[0] and abs(terms[1]) < 600:
        rates, shift = terms
        if isinstance(e, sympy.exp):
            return Growth(math.exp(shift), exponential=rates)
        sign = 1 if rates[0][1] > 0 else -1
        up = Growth(math.exp(sign * shift), exponential=tuple((r, sign * q) for r, q in rates))
        if isinstance(e, sympy.sech):
            return _power(replace(up, c=up.c / 2), Fraction(-1))
        return replace(up, c=up.c / 2 * (sign if isinstance(e, sympy.sinh) else 1))
    g = _growth(inner, side, known)
    if g is None:
        return None
    if g.order <= 0:
        return _near_constant(e, g)
    if not g.exact or g.exponential or (g.p and g.log):
        return None
    return _exponential_of_scale(e, g)


def _exponential_of_scale(e: Any, g: Growth) -> Growth | None:
    """e^{u} for u ~ c t^p or c log t: t^p(c + o(1)) is at most t^p c/2 when c < 0 and at most 2 c t^p when c > 0."""
    if isinstance(e, sympy.sech):
        rate = -abs(g.c) / 2
    elif isinstance(e, sympy.exp) and g.c < 0:
        rate = g.c / 2
    else:
        rate = 2 * abs(g.c)
    if g.p:
        return Growth(1.0, exponential=((g.p, rate),), exact=False)
    return Growth(1.0, Fraction(rate).limit_denominator(1000), exact=False) if g.log == 1 and abs(rate) > 0.01 else None


_AT = {form: number for _, form, number in FUNCTIONS.values()}
_SLOPE_AT_ZERO = {sympy.sin: 1.0, sympy.tan: 1.0, sympy.tanh: 1.0, sympy.sinh: 1.0, sympy.atan: 1.0, sympy.asinh: 1.0}
_SLOPE_AT_ZERO[sympy.erf] = 2 / math.sqrt(math.pi)
_LIMITS = {sympy.tanh: 1.0, sympy.erf: 1.0, sympy.atan: math.pi / 2}


def _near_constant(e: Any, g: Growth) -> Growth | None:
    """f(u) where u tends to a constant or 0, or is merely bounded."""
    kind = type(e)
    if g == ZERO or g.order < 0:
        if kind in _SLOPE_AT_ZERO:
            return ZERO if g == ZERO else (replace(g, c=g.c * _SLOPE_AT_ZERO[kind]) if g.exact else g)
        if kind is sympy.log:
            return None
        return Growth(float(_AT[kind](0.0)))
    if kind in (sympy.log, sympy.tan) and not g.exact:
        return None
    if not g.exact:
        return Growth(1.0, exact=False)
    if abs(g.c) > 600:
        return None
    value = _AT[kind](g.c)
    # A value of 0 at the limit (log u, u -> 1) leaves an unknown rate of decay: O(1).
    return Growth(value) if abs(value) > _MARGIN else Growth(1.0, exact=False)


def _function(e: Any, g: Growth | None) -> Growth | None:
    kind = type(e)
    if kind in (sympy.sin, sympy.cos) and (g is None or g.order > 0):
        return Growth(1.0, exact=False)
    if kind in (sympy.sign, sympy.Heaviside):
        if g is None or not g.exact:
            return Growth(1.0, exact=False)
        if g == ZERO:
            return ZERO if kind is sympy.sign else Growth(0.5)
        if kind is sympy.sign:
            return Growth(math.copysign(1.0, g.c))
        return Growth(1.0) if g.c > 0 else ZERO
    if kind in (*_LIMITS, sympy.erfc) and (g is None or (g.order > 0 and not g.exact)):
        return Growth(1.0, exact=False)
    if g is None:
        return None
    if kind is sympy.Abs:
        return replace(g, c=abs(g.c))
    if kind is sympy.log and g.order != 0 and g.exact:
        return _log(g)
    if g.order <= 0:
        return _near_constant(e, g)
    if kind in _LIMITS:
        return Growth(math.copysign(_LIMITS[kind], g.c))
    if kind is sympy.erfc:
        if g.c < 0:
            return Growth(2.0)
        # erfc(u) <= exp(-u^2), and u^2 >= c^2 t^(2p)/2 eventually.
        return Growth(1.0, exponential=((2 * g.p, -(g.c**2) / 2),), exact=False) if g.p > 0 and not g.exponential else ZERO.loose()
    if kind is sympy.asinh:
        rate = _log(g if g.exact else replace(g, exact=True))
        return None if rate is None else (replace(rate, c=math.copysign(rate.c, g.c)) if g.exact else rate.loose())
    return None


def _log(g: Growth) -> Growth | None:
    """log|u|: q t^r for an exponential scale, p log t for a power, O(log t) for a power of a logarithm."""
    if g.exponential:
        r, q = g.exponential[0]
        return Growth(q, r)
    if g.p:
        return Growth(float(g.p), log=Fraction(1))
    return Growth(1.0, log=Fraction(1), exact=False)
