"""Strip majorants: how large an expression can be on |Im z| <= v, read off its tree.

For each step e of a tree a :class:`Reach` says, for every z = t' + iy with |y| <= v and |t'| = t,

    |e(z)| <= (a_0 + a_1 t + ... + a_n t^n) exp(b t + q t^2),   low <= Re e(z) <= high,   |Im e(z)| <= im   (None: no bound),

and that e is analytic there; a rule that cannot promise this raises :class:`NoBound`.  With v = 0 the same rules bound e on the
real line (where kinks are allowed).  The rules run twice: in floats, to choose v, where a slip costs nothing, and in balls,
where every number is an upper bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import zip_longest
from typing import Any

import sympy
from flint import arb, fmpq
from sympy import Expr

from theoryck.numerics.functions.expression import x
from theoryck.numerics.functions.trees import Instruction, Tree, tree_of


class FloatNumbers:
    """Plain floats: for the search only."""

    pi = math.pi
    exp, log, tan, cosh, sinh, sin, cos, atan, atanh, asin, sqrt = (
        staticmethod(function)
        for function in (
            math.exp, math.log, math.tan, math.cosh, math.sinh, math.sin, math.cos, math.atan, math.atanh, math.asin, math.sqrt,
        )
    )  # fmt: skip

    def number(self, value: Any) -> float:
        """Return a float near an int, Fraction or ball."""
        return float(value)

    def maximum(self, *values: float) -> float:
        """Return the largest value."""
        return max(values)

    def power(self, base: float, exponent: Fraction) -> float:
        """Return base ** exponent for base >= 0."""
        return base ** (exponent.numerator if exponent.denominator == 1 else float(exponent))


class BallNumbers:
    """Balls at the current precision: a bound holds for the upper end of the ball."""

    @property
    def pi(self) -> arb:
        """The number pi."""
        return arb.pi()

    exp, log, tan, cosh, sinh, sin, cos, atan, atanh, asin, sqrt = (
        staticmethod(getattr(arb, name))
        for name in ("exp", "log", "tan", "cosh", "sinh", "sin", "cos", "atan", "atanh", "asin", "sqrt")
    )

    def number(self, value: Any) -> arb:
        """Return the ball of an int, Fraction or ball."""
        return arb(fmpq(value.numerator, value.denominator)) if isinstance(value, Fraction) else arb(value)

    def maximum(self, *values: Any) -> arb:
        """Return a ball around the largest value."""
        result = arb(values[0])
        for value in values[1:]:
            result = result.max(arb(value))
        return result

    def power(self, base: arb, exponent: Fraction) -> arb:
        """Return base ** exponent for base >= 0 (a base of exactly 0 gives 0)."""
        if exponent.denominator == 1:
            return base**exponent.numerator if exponent >= 0 else 1 / base ** (-exponent.numerator)
        return base**0 if exponent == 0 else base.root(exponent.denominator) ** exponent.numerator


FLOATS = FloatNumbers()
BALLS = BallNumbers()


@dataclass(frozen=True, slots=True)
class Majorant:
    """The majorant (sum_j coefficients[j] t^j) exp(rate t + square t^2) of t = |Re z|, all parts >= 0."""

    coefficients: tuple[Any, ...]
    rate: Any = 0
    square: Any = 0

    @property
    def bounded(self) -> bool:
        """Whether the majorant is a constant."""
        return len(self.coefficients) == 1 and self.rate == 0 and self.square == 0

    def __mul__(self, other: Majorant) -> Majorant:
        product: list[Any] = [0] * (len(self.coefficients) + len(other.coefficients) - 1)
        for i, left in enumerate(self.coefficients):
            for j, right in enumerate(other.coefficients):
                product[i + j] = product[i + j] + left * right
        return Majorant(tuple(product), self.rate + other.rate, self.square + other.square)

    def plus(self, other: Majorant, numbers: Any) -> Majorant:
        """Return a majorant of the sum: coefficients add, the larger exponential covers both."""
        total = tuple(a + b for a, b in zip_longest(self.coefficients, other.coefficients, fillvalue=0))
        return Majorant(total, *self._covering(other, numbers))

    def either(self, other: Majorant, numbers: Any) -> Majorant:
        """Return a majorant of both."""
        top = tuple(numbers.maximum(a, b) for a, b in zip_longest(self.coefficients, other.coefficients, fillvalue=0))
        return Majorant(top, *self._covering(other, numbers))

    def _covering(self, other: Majorant, numbers: Any) -> tuple[Any, Any]:
        pairs = ((self.rate, other.rate), (self.square, other.square))
        rate, square = (a if b == 0 else b if a == 0 else numbers.maximum(a, b) for a, b in pairs)
        return rate, square

    def power(self, exponent: int) -> Majorant:
        """Return the majorant to an integer power >= 0."""
        result = Majorant((1,))
        for _ in range(exponent):
            result = result * self
        return result


class NoBound(Exception):
    """No majorant can be read off the tree on this strip."""


@dataclass(frozen=True, slots=True)
class Reach:
    """What is known of one step on the strip (see the module's first lines)."""

    size: Majorant
    low: Any = None
    high: Any = None
    im: Any = None


def _inside(size: Any, low: Any = None, im: Any = None) -> Reach:
    """The reach of something of modulus at most the constant ``size``."""
    return Reach(Majorant((size,)), -size if low is None else low, size, size if im is None else im)


class Strip:
    """The rules on one strip |Im z| <= v, with real part in [left, right] when v = 0 (None: unbounded)."""

    def __init__(self, numbers: Any, v: Any, left: Any = None, right: Any = None) -> None:
        self.n = numbers
        self.v = numbers.number(v)
        self.real = v == 0
        self.left, self.right = left, right

    def reaches(self, tree: Tree) -> list[Reach]:
        """Return the reach of every step of ``tree``; raises :class:`NoBound`."""
        constants = tree.constants()
        found: list[Reach] = []
        zero = self.n.number(0)
        for instruction, constant in zip(tree.instructions, constants):
            if constant is not None:
                value = self.n.number(constant)
                found.append(Reach(Majorant((abs(value),)), value, value, self.n.number(0)))
                continue
            parts = [found[position] for position in instruction.args]
            rule: Callable[..., Reach] | None = getattr(self, "_" + instruction.kind, None)
            if rule is None:
                raise NoBound(f"no rule for {instruction.kind}")
            reach = rule(instruction, *parts)
            reach = self._sharpened(reach, instruction)
            found.append(replace(reach, im=zero) if self.real else reach)
        return found

    def _sharpened(self, reach: Reach, instruction: Instruction) -> Reach:
        """For a x^2 + b x + c: Re = c - b^2/4a + a (t' + b/2a)^2 - a y^2 exactly, and Im = b y when a = 0."""
        parts = quadratic(instruction.expression) if instruction.kind in ("add", "mul", "power") else None
        if parts is None:
            return reach
        a, b, c = (self.n.number(part) for part in parts)
        low, high, im = reach.low, reach.high, reach.im
        if parts[0] == 0:
            return Reach(reach.size, low, high, abs(b) * self.v)
        vertex = c - b * b / (4 * a) - a * self.v * self.v if parts[0] < 0 else c - b * b / (4 * a)
        if parts[0] > 0:
            low = self._larger(low, vertex - a * self.v * self.v)
        else:
            high = self._smaller(high, vertex)
        return Reach(reach.size, low, high, im)

    def _larger(self, low: Any, other: Any) -> Any:
        return other if low is None or low < other else low

    def _smaller(self, high: Any, other: Any) -> Any:
        return other if high is None or high > other else high

    # --- arithmetic -----------------------------------------------------------------------------------------------------

    def _x(self, _: Instruction) -> Reach:
        return Reach(Majorant((self.v, self.n.number(1))), self.left, self.right, self.v)

    def _add(self, _: Instruction, *parts: Reach) -> Reach:
        total = parts[0]
        for part in parts[1:]:
            ends = (
                None if a is None or b is None else a + b
                for a, b in ((total.low, part.low), (total.high, part.high), (total.im, part.im))
            )
            total = Reach(total.size.plus(part.size, self.n), *ends)
        return total

    def _mul(self, _: Instruction, *parts: Reach) -> Reach:
        total = parts[0]
        for part in parts[1:]:
            total = self._product(total, part)
        return total

    def _product(self, left: Reach, right: Reach) -> Reach:
        size = left.size * right.size
        if left.im == 0 and left.low is left.high and left.low is not None:
            c, low, high = left.low, right.low, right.high
            if not c > 0:
                low, high = high, low
            return Reach(
                size,
                None if low is None else c * low,
                None if high is None else c * high,
                None if right.im is None else abs(c) * right.im,
            )
        if left.im == 0 and right.im == 0 and self._sure(left.low) and self._sure(right.low):
            return Reach(size, left.low * right.low, size.coefficients[0] if size.bounded else None, left.im)
        boxes = self._box(left), self._box(right)
        if boxes[0] and boxes[1]:
            (a, b), (c, d) = boxes[0], boxes[1]
            return Reach(size, -(a * c + b * d), a * c + b * d, a * d + b * c)
        return _inside(size.coefficients[0]) if size.bounded else Reach(size)

    @staticmethod
    def _sure(low: Any) -> bool:
        """Whether a lower bound is certainly >= 0."""
        return low is not None and bool(low >= 0)

    def _box(self, part: Reach) -> tuple[Any, Any] | None:
        """Bounds of |Re| and |Im|, if both are finite."""
        if part.low is None or part.high is None or part.im is None:
            return None
        return self.n.maximum(abs(part.low), abs(part.high)), part.im

    def _power(self, instruction: Instruction, part: Reach) -> Reach:
        n: int = instruction.payload
        if n < 0:
            return self._negative_power(Fraction(n), part, integer=True)
        size = part.size.power(n)
        low = high = im = None
        box = self._box(part)
        if n % 2 == 0 and part.im is not None:
            if n == 2:
                nearest = part.low if self._sure(part.low) else self.n.number(0)
                low = nearest * nearest - part.im * part.im
            elif part.im == 0:
                low = self.n.number(0)
            else:
                # Re r^n e^{i n a} < 0 needs a >= pi/2n, and r sin a <= im, so that r <= im / sin(pi/2n).
                low = -((part.im / self.n.sin(self.n.pi / (2 * n))) ** n)
        elif part.im == 0 and self._sure(part.low):
            low = part.low**n
        if box is not None:
            modulus = self.n.sqrt(box[0] * box[0] + box[1] * box[1])
            high = box[0] * box[0] if n == 2 else modulus**n
            low = -high if low is None else low
            im = 2 * box[0] * box[1] if n == 2 else part.im if part.im == 0 else modulus**n
        elif part.im == 0:
            im = part.im
        return Reach(size, low, high, im)

    def _negative_power(self, exponent: Fraction, part: Reach, integer: bool) -> Reach:
        """|e|^-r <= m^-r where |Re e| >= m > 0; the argument is at most r atan(im/m)."""
        least = part.low
        if integer and part.high is not None and (least is None or not least > 0):
            least = -part.high
        if least is None or not least > 0:
            raise NoBound("a negative power of something that may vanish")
        top = self.n.power(least, exponent)
        if part.low is None or not part.low > 0:
            return _inside(top)
        im = top
        turn = self.n.number(-exponent) * (self.n.pi / 2 if part.im is None else self.n.atan(part.im / least))
        upright = bool(turn < self.n.pi / 2)
        if upright and part.im is not None:
            im = top * self.n.sin(turn)
        return _inside(top, low=self.n.number(0) if upright else None, im=im)

    def _root(self, instruction: Instruction, part: Reach) -> Reach:
        exponent: Fraction = instruction.payload
        if exponent < 0:
            return self._negative_power(exponent, part, integer=False)
        if part.low is None or not (part.low > 0 or (self.real and part.low >= 0)):
            raise NoBound("a fractional power of something that may be negative")
        whole = int(exponent)
        rest = exponent - whole
        size = part.size.power(whole) * self._fractional(part.size, rest)
        low = self.n.power(part.low, exponent) if exponent <= 1 or self.real else None
        im = part.im if part.im == 0 else None
        high = size.coefficients[0] if size.bounded else None
        return Reach(size, low, high, im if im is not None or high is None else high)

    def _fractional(self, size: Majorant, r: Fraction) -> Majorant:
        """(sum a_j t^j)^r <= sum a_j^r t^(j r) for 0 < r < 1, and t^p <= 1 + t^ceil(p)."""
        top = math.ceil((len(size.coefficients) - 1) * r)
        out = [self.n.number(0)] * (top + 1)
        for j, a in enumerate(size.coefficients):
            weight = self.n.power(self.n.number(a), r)
            degree = j * r
            out[math.ceil(degree)] += weight
            if degree.denominator != 1:
                out[0] += weight
        share = self.n.number(r)
        return Majorant(
            tuple(out), size.rate if size.rate == 0 else size.rate * share, size.square if size.square == 0 else size.square * share
        )

    def _general_power(self, instruction: Instruction, base: Reach, exponent: Reach) -> Reach:
        """e^p = exp(p log e): only a constant base > 0 or a constant exponent."""
        if base.im == 0 and base.low is base.high and base.low is not None and base.low > 0:
            scale = self.n.log(base.low)
            return self._exp(instruction, self._product(Reach(Majorant((abs(scale),)), scale, scale, self.n.number(0)), exponent))
        return self._exp(instruction, self._product(exponent, self._log(instruction, base)))

    # --- functions ------------------------------------------------------------------------------------------------------

    def _exp(self, _: Instruction, part: Reach) -> Reach:
        n = self.n
        size = Majorant((n.exp(part.high),)) if part.high is not None else self._exponential(part.size)
        low = im = None
        if part.im is not None and part.im < n.pi / 2:
            low = n.number(0) if part.low is None else n.exp(part.low) * n.cos(part.im)
            if size.bounded:
                im = size.coefficients[0] * n.sin(part.im)
        if part.im == 0:
            im = part.im
        top = size.coefficients[0] if size.bounded else None
        return Reach(size, -top if low is None and top is not None else low, top, top if im is None else im)

    def _exponential(self, size: Majorant) -> Majorant:
        """exp of a polynomial majorant of degree at most 2."""
        if size.rate != 0 or size.square != 0 or len(size.coefficients) > 3:
            raise NoBound("the exponential of something that grows faster than a square")
        a = (*size.coefficients, 0, 0)
        return Majorant((self.n.exp(self.n.number(a[0])),), a[1], a[2])

    def _sinh(self, _: Instruction, part: Reach) -> Reach:
        box = self._box(part)
        size = Majorant((self.n.cosh(box[0]),)) if box else self._exponential(part.size)
        if size.bounded:
            return _inside(size.coefficients[0], im=part.im if part.im == 0 else None)
        return Reach(size, im=part.im if part.im == 0 else None)

    def _cosh(self, instruction: Instruction, part: Reach) -> Reach:
        """Re cosh(a + ib) = cosh a cos b >= cos(im) when im < pi/2."""
        reach = self._sinh(instruction, part)
        if part.im is not None and part.im < self.n.pi / 2:
            return Reach(reach.size, self.n.cos(part.im), reach.high, reach.im)
        return reach

    def _sech(self, _: Instruction, part: Reach) -> Reach:
        """|cosh(a + ib)|^2 = sinh^2 a + cos^2 b >= cos^2 b."""
        return _inside(1 / self.n.cos(self._narrow(part)), im=part.im if part.im == 0 else None)

    def _tanh(self, _: Instruction, part: Reach) -> Reach:
        """|tanh|^2 = (sinh^2 a + sin^2 b)/(sinh^2 a + cos^2 b) <= max(1, tan^2 b), and |Im tanh| <= tan b."""
        slope = self.n.tan(self._narrow(part))
        return _inside(self.n.maximum(1, slope), im=slope)

    def _narrow(self, part: Reach) -> Any:
        if part.im is None or not part.im < self.n.pi / 2:
            raise NoBound("tanh or sech of something whose imaginary part may reach pi/2")
        return part.im

    def _erf(self, _: Instruction, part: Reach) -> Reach:
        """erf(a + ib) = erf a + (2/sqrt pi) i int_0^b exp((t - ia)^2) dt, hence |.| <= 1 + (2/sqrt pi) b exp(b^2)."""
        if part.im is None:
            raise NoBound("erf of something whose imaginary part is not bounded")
        extra = 2 / self.n.sqrt(self.n.pi) * part.im * self.n.exp(part.im * part.im)
        return _inside(1 + extra, im=extra)

    def _erfc(self, instruction: Instruction, part: Reach) -> Reach:
        reach = self._erf(instruction, part)
        return Reach(Majorant((1 + reach.high,)), 1 - reach.high, 1 + reach.high, reach.im)

    def _sin(self, _: Instruction, part: Reach) -> Reach:
        """|sin(a + ib)|, |cos(a + ib)| <= cosh b; their imaginary parts <= sinh b."""
        if part.im is None:
            raise NoBound("sin or cos of something whose imaginary part is not bounded")
        return _inside(self.n.cosh(part.im), im=self.n.sinh(part.im))

    _cos = _sin

    def _atan(self, _: Instruction, part: Reach) -> Reach:
        """|Re atan| <= pi/2; |Im atan(a + ib)| is largest at a = 0: atanh b, b < 1."""
        im = self.n.atanh(self._below_one(part))
        half = self.n.pi / 2
        return Reach(Majorant((half + im,)), -half, half, im)

    def _below_one(self, part: Reach) -> Any:
        if part.im is None or not part.im < 1:
            raise NoBound("atan or asinh of something whose imaginary part may reach 1")
        return part.im

    def _asinh(self, _: Instruction, part: Reach) -> Reach:
        """|Im asinh| <= asin b and |Re asinh w| = acosh((|w + i| + |w - i|)/2) <= log 2(1 + |w|) <= log 2 + |w|."""
        im = self.n.asin(self._below_one(part))
        size = part.size.plus(Majorant((self.n.log(self.n.number(2)) + im,)), self.n)
        top = size.coefficients[0] if size.bounded else None
        return Reach(size, None if top is None else -top, top, im)

    def _log(self, _: Instruction, part: Reach) -> Reach:
        """log |w| >= log m, log(P e^{bt+qt^2}) <= log P + bt + qt^2 with log P <= P - 1 when P is not constant; |arg w| < pi/2."""
        if part.low is None or not part.low > 0:
            raise NoBound("the logarithm of something that may vanish")
        n = self.n
        size = part.size
        rate, square = n.number(size.rate), n.number(size.square)
        coefficients = list(size.coefficients)
        if len(coefficients) == 1:
            coefficients = [n.maximum(0, n.log(n.number(coefficients[0])))]
        while len(coefficients) < (3 if size.square != 0 else 2 if size.rate != 0 else 1):
            coefficients.append(n.number(0))
        if size.rate != 0:
            coefficients[1] = coefficients[1] + rate
        if size.square != 0:
            coefficients[2] = coefficients[2] + square
        im = n.number(0) if self.real or part.im == 0 else n.pi / 2 if part.im is None else n.atan(part.im / part.low)
        coefficients[0] = coefficients[0] + n.maximum(0, -n.log(part.low)) + im
        total = Majorant(tuple(coefficients))
        high = total.coefficients[0] if total.bounded else None
        return Reach(total, n.log(part.low), high, im)

    # --- functions with kinks: real line only ---------------------------------------------------------------------------

    def _abs(self, _: Instruction, part: Reach) -> Reach:
        self._only_real()
        return Reach(part.size, self.n.number(0), part.size.coefficients[0] if part.size.bounded else None, self.n.number(0))

    def _max(self, _: Instruction, *parts: Reach) -> Reach:
        self._only_real()
        size = parts[0].size
        for part in parts[1:]:
            size = size.either(part.size, self.n)
        lows = [part.low for part in parts if part.low is not None]
        return Reach(size, self.n.maximum(*lows) if lows else None, None, self.n.number(0))

    def _min(self, _: Instruction, *parts: Reach) -> Reach:
        self._only_real()
        size = parts[0].size
        for part in parts[1:]:
            size = size.either(part.size, self.n)
        return Reach(size, None, None, self.n.number(0))

    def _sign(self, _: Instruction, __: Reach) -> Reach:
        self._only_real()
        return _inside(self.n.number(1), im=self.n.number(0))

    _heaviside = _sign

    def _only_real(self) -> None:
        if not self.real:
            raise NoBound("a kink inside the strip")


@lru_cache(maxsize=2048)
def quadratic(expression: Expr) -> tuple[Fraction, Fraction, Fraction] | None:
    """Return (a, b, c) if ``expression`` is a x^2 + b x + c with rational coefficients, else None.

    >>> quadratic(-(x**2) / 2 + 3)
    (Fraction(-1, 2), Fraction(0, 1), Fraction(3, 1))
    """
    if not expression.is_polynomial(x):
        return None
    polynomial = sympy.Poly(expression, x)
    if polynomial.degree() > 2 or not all(coefficient.is_Rational for coefficient in polynomial.all_coeffs()):
        return None
    a, b, c = ([sympy.S.Zero] * 3 + polynomial.all_coeffs())[-3:]
    return tuple(Fraction(int(part.p), int(part.q)) for part in (a, b, c))  # type: ignore[return-value]


def strip_size(expression: Expr, v: Any, numbers: Any = BALLS) -> Majorant:
    """Return a majorant of |expression| on |Im z| <= v where the expression is analytic; raises :class:`NoBound`.

    >>> strip_size(sympy.tanh(x), 1.25, FLOATS).coefficients[0] == math.tan(1.25)
    True
    """
    tree = tree_of((expression,))
    try:
        return Strip(numbers, v).reaches(tree)[tree.outputs[0]].size
    except (OverflowError, ZeroDivisionError) as error:
        raise NoBound(str(error)) from error


def line_size(expression: Expr, left: Any = None, right: Any = None) -> Majorant:
    """Return a majorant of |expression| on the real interval [left, right] (None: unbounded); raises :class:`NoBound`."""
    tree = tree_of((expression,))
    return Strip(BALLS, 0, left, right).reaches(tree)[tree.outputs[0]].size
