"""How large the square of an activation is: a bound for every real x.

On [-X, X] by subdivision; beyond, each step e of the tree of phi has, for x = +t or x = -t, t >= X, bounds by monomials,

    least(t) <= |e| <= most(t),   both of the form c t^p exp(b t + q t^2),

read off the tree: a sum is bounded by its largest monomial times what the others add at X, a negative power by ``least``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

import numpy as np
import sympy
from flint import arb, fmpq
from sympy import Expr

from theoryck.numerics.balls import maximum, plus_minus, precision
from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.functions.calculus import derivative
from theoryck.numerics.functions.expression import x
from theoryck.numerics.functions.ranges import enclose
from theoryck.numerics.functions.trees import REAL, Instruction, constant_ball, tree_of
from theoryck.quantities.base import NoCertificate
from theoryck.theory.networks.certificates.decimals import ball, rounded_up
from theoryck.theory.networks.certificates.envelopes import Bounded, Envelope, Growing

_BITS = 64
_EDGES = (4, 8, 16, 64, 1024, 2**20)
_MARGIN = 1.001
_HALVINGS = 40
_MOST_PIECES = 20_000
_RISING = ("tanh", "erf", "atan", "asinh")


@dataclass(frozen=True, slots=True)
class _Monomial:
    """c t^p exp(b t + q t^2), c >= 0."""

    c: arb
    p: Fraction = Fraction(0)
    b: arb = field(default_factory=arb)
    q: arb = field(default_factory=arb)

    def __mul__(self, other: _Monomial) -> _Monomial:
        return _Monomial(self.c * other.c, self.p + other.p, self.b + other.b, self.q + other.q)

    def power(self, r: Fraction) -> _Monomial:
        """Return the power, r of either sign."""
        exponent = arb(fmpq(r.numerator, r.denominator))
        return _Monomial((exponent * self.c.log()).exp(), self.p * r, self.b * exponent, self.q * exponent)

    def falls(self, edge: arb) -> bool:
        """Whether it does not increase beyond ``edge``: p/t + b + 2 q t is <= 0 there, and falls or has no term > 0."""
        p = arb(fmpq(self.p.numerator, self.p.denominator))
        slope = p / edge + self.b + 2 * self.q * edge
        return bool(self.q <= 0 and (slope <= 0 and (self.p >= 0 or self.b <= 0)))

    @property
    def grows(self) -> bool:
        """Whether it tends to infinity."""
        return bool(self.q > 0 or (self.q == 0 and (self.b > 0 or (self.b == 0 and self.p > 0))))

    def at(self, edge: arb) -> arb:
        """Return the value at ``edge``."""
        p = arb(fmpq(self.p.numerator, self.p.denominator))
        return self.c * (p * edge.log() + self.b * edge + self.q * edge * edge).exp()


@dataclass(frozen=True, slots=True)
class _Size:
    """|e| between two monomials; ``sign`` is that of e where it is certain, else 0 (then ``least`` is None)."""

    most: _Monomial | None
    least: _Monomial | None = None
    sign: int = 0


class _Beyond:
    """Sizes for x = side t, t >= edge."""

    def __init__(self, edge: int, side: int) -> None:
        self.edge, self.side = arb(edge), side
        self.domain = (float(edge), math.inf) if side > 0 else (-math.inf, -float(edge))

    def bound(self, expression: Expr) -> arb:
        """Return a bound of |expression|, infinite where none is found."""
        return self._top(self.size(expression))

    def size(self, expression: Expr) -> _Size:
        """Return the size of an expression."""
        tree = tree_of((expression,))
        found: list[_Size] = []
        for instruction, constant in zip(tree.instructions, tree.constants()):
            if constant is not None:
                sign = 1 if constant > 0 else -1 if constant < 0 else 0
                size = abs(constant)
                found.append(_Size(_Monomial(arb(size.upper())), _Monomial(arb(size.lower())) if sign else None, sign))
            else:
                parts = [found[place] for place in instruction.args]
                found.append(self._sharpened(self._size(instruction, parts), instruction, parts))
        return found[tree.outputs[0]]

    def _top(self, size: _Size) -> arb:
        return arb("inf") if size.most is None or not size.most.falls(self.edge) else size.most.at(self.edge)

    def _ends(self, size: _Size) -> tuple[arb, arb]:
        """Return bounds of the step itself, with its sign."""
        top = self._top(size)
        rises = size.least is not None and size.least.power(Fraction(-1)).falls(self.edge)
        low = size.least.at(self.edge) if rises and size.least is not None else arb(0)
        return (-top, top) if not size.sign else (low, top) if size.sign > 0 else (-top, -low)

    def _sharpened(self, size: _Size, instruction: Instruction, parts: Sequence[_Size]) -> _Size:
        """Constant bounds from the ranges of the step and of its parts, where they are better than those of the rules."""
        low, high = (arb(end) for end in enclose(instruction.expression, self.domain))
        ends = [self._ends(part) for part in parts]
        if instruction.kind == "add":
            low, high = low.max(sum((end[0] for end in ends), arb(0))), high.min(sum((end[1] for end in ends), arb(0)))
        if instruction.kind in _RISING:
            low, high = (
                getattr(arb, instruction.kind)(end) if end.is_finite() else other for end, other in zip(ends[0], (low, high))
            )
        most, least, sign = size.most, size.least, size.sign
        far = abs(low).max(abs(high))
        if far.is_finite() and not far >= self._top(size) and (most is None or not most.power(Fraction(-1)).grows):
            most = _Monomial(arb(far.upper()))
        if low > 0 or high < 0:
            near, sign = (low, 1) if low > 0 else (-high, -1)
            if least is None or (not least.grows and near > least.c):
                least = _Monomial(arb(near.lower()))
        return _Size(most, least, sign)

    def _size(self, instruction: Instruction, parts: Sequence[_Size]) -> _Size:
        kind = instruction.kind
        if kind == "x":
            line = _Monomial(arb(1), Fraction(1))
            return _Size(line, line, self.side)
        if kind == "mul":
            most: _Monomial | None = _Monomial(arb(1))
            least = most
            sign = math.prod(part.sign for part in parts)
            for part in parts:
                most = None if most is None or part.most is None else most * part.most
                least = None if least is None or part.least is None else least * part.least
            return _Size(most, least if sign else None, sign)
        if kind == "add":
            return self._sum(parts)
        if kind in ("power", "root"):
            return self._power(Fraction(instruction.payload), parts[0])
        if kind == "exp":
            return self._exponential(instruction.expression.exp)
        if kind == "log":
            return self._logarithm(parts[0])
        if kind == "asinh":
            return self._asinh(parts[0])
        if kind == "sech":
            return self._sech(instruction.expression.args[0])
        return _Size(None)

    def _sum(self, parts: Sequence[_Size]) -> _Size:
        sizes = [part.most for part in parts if part.most is not None]
        if len(sizes) < len(parts):
            return _Size(None)
        leading = max(sizes, key=lambda m: (float(m.q), float(m.b), m.p))
        total = sum((self._ratio(size, leading) for size in sizes), arb(0))
        if not total.is_finite():
            return _Size(None)
        most = _Monomial(leading.c * total, leading.p, leading.b, leading.q)
        place = sizes.index(leading)
        first = parts[place]
        if first.least is None:
            return _Size(most)
        # |e| >= least of the leading part minus what the parts of the other sign have at most.
        against = [size for part, size in zip(parts, sizes) if part is not first and part.sign != first.sign]
        share = 1 - sum((self._ratio(size, first.least) for size in against), arb(0))
        if not share > 0:
            return _Size(most)
        return _Size(most, _Monomial(first.least.c * share.lower(), first.least.p, first.least.b, first.least.q), first.sign)

    def _ratio(self, upper: _Monomial, lower: _Monomial) -> arb:
        """The largest ratio beyond the edge, infinite where it does not fall."""
        ratio = upper * lower.power(Fraction(-1))
        if upper is lower:
            return arb(1)
        return ratio.at(self.edge) if ratio.falls(self.edge) else arb("inf")

    def _power(self, r: Fraction, part: _Size) -> _Size:
        sign = part.sign if r.denominator != 1 or r.numerator % 2 else abs(part.sign)
        big, small = (part.most, part.least) if r >= 0 else (part.least, part.most)
        return _Size(
            None if big is None else big.power(r),
            None if small is None or not part.sign else small.power(r),
            sign if part.least else 0,
        )

    def _exponential(self, inner: Expr) -> _Size:
        """exp(a x^2 + b x + c) is a monomial."""
        if not inner.is_polynomial(x) or sympy.Poly(inner, x).degree() > 2:
            return _Size(None)
        c, b, a = (constant_ball(inner.coeff(x, n)) for n in range(3))
        size = _Monomial(c.exp(), Fraction(0), self.side * b, a)
        return _Size(size, size, 1)

    def _logarithm(self, part: _Size) -> _Size:
        """0 <= log e <= log c + p log t + b t + q t^2 <= (log c/t_0 + p log(t_0)/t_0 + b) t for e >= 1, t >= t_0 >= e, q = 0."""
        most, least, edge = part.most, part.least, self.edge
        if most is None or least is None or part.sign <= 0:
            return _Size(None)
        rises = least.power(Fraction(-1)).falls(edge) and least.at(edge) >= 1
        if not (rises and most.c >= 1 and most.p >= 0 and most.q == 0):
            return _Size(None)
        p = arb(fmpq(most.p.numerator, most.p.denominator))
        slope = (most.c.log() + p * edge.log()) / edge + most.b
        return _Size(_Monomial(arb(slope.upper()), Fraction(1)) if slope > 0 else None)

    def _asinh(self, part: _Size) -> _Size:
        """|asinh u| <= u asinh(u_0)/u_0 for u >= u_0, as asinh is concave there: with u = c t^p, p >= 0."""
        most = part.most
        if most is None or not (most.p >= 0 and most.b >= 0 and most.q >= 0):
            return _Size(None)
        start = arb(most.at(self.edge).lower())
        return _Size(_Monomial(most.c * start.asinh() / start, most.p, most.b, most.q)) if start > 0 else _Size(None)

    def _sech(self, inner: Expr) -> _Size:
        """sech u <= 2 exp(-|u|), for u = b x + c."""
        if not inner.is_polynomial(x) or sympy.Poly(inner, x).degree() != 1:
            return _Size(None)
        c, b = (constant_ball(inner.coeff(x, n)) for n in range(2))
        return _Size(_Monomial(2 * abs(c).exp(), Fraction(0), -abs(b)))


@lru_cache(maxsize=256)
def largest_square(expression: Expr) -> Decimal:
    """Return R with phi(x)^2 <= R for every real x, near the least; NoCertificate where phi has no bound that is found.

    >>> largest_square(sympy.tanh(x)), largest_square(x * sympy.exp(-(x**2) / 2))  # 1 and 1/e
    (Decimal('1.00100'), Decimal('0.368248'))
    """
    square, seen = expression**2, _seen(expression)
    with precision(_BITS):
        tail, edge = arb("inf"), _EDGES[0]
        for further in _EDGES:
            found = maximum(*(_Beyond(further, side).bound(expression) for side in (1, -1))) ** 2
            if not tail.is_finite() or found < arb(0.999) * tail:
                tail, edge = found, further
            if tail <= _MARGIN * seen:
                break
        if not tail.is_finite():
            raise NoCertificate(f"phi(x) = {expression} is not proved to be bounded")
        # Bounds at infinity are met only to the digits of a ball's radius: the margin covers them too.
        largest = rounded_up(_MARGIN * maximum(tail, arb(seen)))
        if not _below(square, ball(largest), -edge, edge):
            raise NoCertificate(f"phi(x)^2 <= {largest} could not be proved on [-{edge}, {edge}] for phi(x) = {expression}")
        return largest


@lru_cache(maxsize=256)
def envelope(expression: Expr) -> Envelope:
    """Return a bound of phi(x)^2 by a constant or, where it has none, by A + B x^2 on each side; NoCertificate where there is none.

    >>> envelope(sympy.tanh(x)), envelope(x / (1 + sympy.exp(-x))).right
    (Bounded(largest=Decimal('1.00100')), (Decimal('1.00010E-9'), Decimal('1.00100')))
    """
    try:
        return Bounded(largest_square(expression))
    except NoCertificate as reason:
        with precision(_BITS):
            right, left = (_side(expression, side) for side in (1, -1))
        if right is None or left is None:
            raise NoCertificate(f"phi(x)^2 <= A + B x^2 is not proved of phi(x) = {expression} for any A and B") from reason
        return Growing(right, left)


_PRICE = 10
"""What B costs against A: B multiplies larger moments of Z, and the slopes of f and nu are at least proportional to it."""
_LINEAR_EDGES = (4, 8, 16, 64)


def _side(expression: Expr, side: int) -> tuple[Decimal, Decimal] | None:
    """(A, B) with phi(x)^2 <= A + B x^2 for side x >= 0: beyond an edge since |phi| <= c |x|, up to it by subdivision."""
    found = []
    reflected = expression.xreplace({x: side * x})
    for edge in _LINEAR_EDGES:
        beyond = _Beyond(edge, side)
        flat = beyond.bound(expression)
        slope = Decimal(0) if flat.is_finite() else _linear(beyond, expression)
        if slope is not None:
            points = np.linspace(0, edge, 4001)
            seen = float((np.square(Activation(reflected)(points)) - float(slope) * points**2).max())
            constant = rounded_up(maximum(_MARGIN * arb(max(seen, 0.0)), flat**2 if slope == 0 else arb(0)), size=1)
            found.append((constant + _PRICE * slope, constant, slope, edge))
    for _, constant, slope, edge in sorted(found):
        if _below(reflected**2 - sympy.Rational(str(slope)) * x**2, ball(constant), 0, edge):
            return constant, slope
    return None


def _linear(beyond: _Beyond, expression: Expr) -> Decimal | None:
    """Return B with phi(x)^2 <= B x^2 beyond the edge, or None; with room, for B may be the limit of phi(x)^2/x^2."""
    most = beyond.size(expression).most
    if most is None:
        return None
    ratio = most * _Monomial(arb(1), Fraction(-1))
    return rounded_up(_MARGIN * ratio.at(beyond.edge) ** 2) if ratio.falls(beyond.edge) else None


def _seen(expression: Expr) -> float:
    """The largest square on a grid: where the search begins."""
    points = np.concatenate([np.linspace(-16, 16, 6401), *(side * np.geomspace(16, _EDGES[-1], 200) for side in (-1.0, 1.0))])
    with np.errstate(over="ignore"):
        return float(np.square(Activation(expression)(points)).max())


def _below(square: Expr, limit: arb, start: int, end: int) -> bool:
    """Whether square <= limit on [start, end]: values over intervals, and mean values, which are halved where neither will do."""
    slope = derivative(square)
    pieces = [(arb(start), arb(end), _HALVINGS)]
    for _ in range(_MOST_PIECES):
        if not pieces:
            return True
        low, high, halvings = pieces.pop()
        middle, radius = (low + high) / 2, (high - low) / 2
        box = middle + plus_minus(radius)
        if tree_of((square,)).at(REAL, box) <= limit:
            continue
        if tree_of((square,)).at(REAL, middle) + tree_of((slope,)).at(REAL, box) * plus_minus(radius) <= limit:
            continue
        if halvings == 0:
            return False
        pieces += [(low, middle, halvings - 1), (middle, high, halvings - 1)]
    return False
