"""What is known of an activation: parity, smoothness, bounded derivatives, Gaussian mean; proved or only seen.

A ``Property`` is ``symbolic`` when its value was proved: from the structure of the tree, by exact algebra, by the growth rules of
``growth``, or by an enclosure that excludes the other answer.  Everything else is sampled on a grid and says so.

Gaussian means E f(sqrt(s) Z) are exact where they have a closed form, and by quadrature in float64 elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import sympy

from theoryck.numerics.errors import ExactError
from theoryck.numerics.functions.calculus import derivative, parity, parity_of_parts
from theoryck.numerics.functions.compiled import values_of
from theoryck.numerics.functions.domain import check_total, grid
from theoryck.numerics.functions.expression import ExpressionError, canonical, x
from theoryck.numerics.functions.growth import growth
from theoryck.numerics.functions.pieces import Kinks, Unsplit, branch_points, find_kinks, jump_order, pieces
from theoryck.numerics.functions.ranges import enclose, is_positive


def exact_mean(expression: Any, variance: Any) -> Any:
    """Return E f(sqrt(s) Z), Z ~ N(0, 1), as a sympy number, or None where no rule applies.

    Rules: odd f (0), polynomials (Gaussian moments), exp, sin, cos and erf of a linear argument, x erf(b x) by Stein's
    identity, polynomials times exp(a x^2), relu and |x|, and linear combinations of these.

    >>> exact_mean(x**4, sympy.Integer(2)), exact_mean(sympy.Max(0, x), sympy.Integer(1)), exact_mean(sympy.cos(2*x), sympy.S.Half)
    (12, sqrt(2)/(2*sqrt(pi)), exp(-1))
    """
    total = sympy.S.Zero
    for term in sympy.Add.make_args(sympy.expand_mul(expression)):
        number, factor = term.as_independent(x, as_Add=False)
        mean = _term(factor, variance)
        if mean is None:
            return None
        total += number * mean
    return total


def _term(f: Any, s: Any) -> Any:
    if f == 1:
        return sympy.S.One
    if parity(f) == -1:
        return sympy.S.Zero
    if f.is_polynomial(x):
        return sum((c * _moment(k, s) for (k,), c in sympy.Poly(f, x).terms()), sympy.S.Zero)
    if isinstance(f, sympy.Mul):
        return _product(f, s)
    if isinstance(f, sympy.Max | sympy.Min) and len(f.args) == 2 and 0 in f.args:
        slope = _linear(next(argument for argument in f.args if argument != 0))
        if slope is not None and slope[1] == 0:
            return (1 if isinstance(f, sympy.Max) else -1) * abs(slope[0]) * sympy.sqrt(s / (2 * sympy.pi))
        return None
    if len(f.args) != 1 and not isinstance(f, sympy.Heaviside):
        return None
    if isinstance(f, sympy.exp) and _linear(f.args[0]) is None:
        return _gaussian(sympy.S.One, f.args[0], s)
    line = _linear(f.args[0])
    return None if line is None else _of_line(f, *line, s)


def _moment(k: int, s: Any) -> Any:
    return sympy.S.Zero if k % 2 else sympy.factorial2(k - 1) * s ** sympy.Rational(k, 2)


def _linear(inner: Any) -> tuple[Any, Any] | None:
    """Return (b, c) when inner = b x + c."""
    if not inner.is_polynomial(x):
        return None
    polynomial = sympy.Poly(inner, x)
    return (polynomial.coeff_monomial(x), polynomial.coeff_monomial(1)) if polynomial.degree() <= 1 else None


def _of_line(f: Any, b: Any, c: Any, s: Any) -> Any:
    if isinstance(f, sympy.exp):
        return sympy.exp(c + b**2 * s / 2)
    if isinstance(f, sympy.cosh) and c == 0:
        return sympy.exp(b**2 * s / 2)
    if isinstance(f, sympy.sin | sympy.cos):
        return f.func(c) * sympy.exp(-(b**2) * s / 2)
    if isinstance(f, sympy.erf | sympy.erfc):
        return f.func(c / sympy.sqrt(1 + 2 * b**2 * s))
    if isinstance(f, sympy.Abs) and c == 0:
        return abs(b) * sympy.sqrt(2 * s / sympy.pi)
    if isinstance(f, sympy.Heaviside) and c == 0:
        return sympy.S.Half
    return None


def _product(f: Any, s: Any) -> Any:
    bells = [factor for factor in f.args if isinstance(factor, sympy.exp)]
    if len(bells) == 1 and (f / bells[0]).is_polynomial(x):
        return _gaussian(f / bells[0], bells[0].args[0], s)
    if len(f.args) == 2 and x in f.args:
        other = f / x
        line = _linear(other.args[0]) if isinstance(other, sympy.erf) else None
        if line is not None and line[1] == 0:
            # Stein: E X erf(bX) = s E (2b/sqrt(pi)) exp(-b^2 X^2).
            return s * 2 * line[0] / sympy.sqrt(sympy.pi) / sympy.sqrt(1 + 2 * line[0] ** 2 * s)
    return None


def _gaussian(factor: Any, inner: Any, s: Any) -> Any:
    """E q(X) exp(-a X^2 + c) = e^c (1 + 2 a s)^{-1/2} E q(X'), X' ~ N(0, s/(1 + 2 a s)), when 1 + 2 a s > 0."""
    if not inner.is_polynomial(x) or sympy.Poly(inner, x).degree() > 2:
        return None
    polynomial = sympy.Poly(inner, x)
    a = -polynomial.coeff_monomial(x**2)
    scale = 1 + 2 * a * s
    if polynomial.coeff_monomial(x) != 0 or not scale.is_positive:
        return None
    terms = sympy.Poly(factor, x).terms()
    return sympy.exp(polynomial.coeff_monomial(1)) / sympy.sqrt(scale) * sum(c * _moment(k, s / scale) for (k,), c in terms)


def quadrature_mean(expression: Any, variance: float, kinks: tuple[Any, ...] = ()) -> tuple[float, float]:
    """Return (E f, sqrt(E f^2)) for f(sqrt(s) Z), by Gauss-Legendre panels within 12 sqrt(s), cut at kinks.

    >>> mean, rms = quadrature_mean(sympy.cosh(x), 1.0)
    >>> abs(mean - 1.6487212707001282) < 1e-13
    True
    """
    scale = float(np.sqrt(variance))
    edges = np.unique([*np.linspace(-12, 12, 97), *(float(point) / scale for point in kinks if abs(float(point)) < 12 * scale)])
    nodes, weights = np.polynomial.legendre.leggauss(20)
    half = np.diff(edges)[:, None] / 2
    z = (edges[:-1] + edges[1:])[:, None] / 2 + half * nodes
    density = half * weights * np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    values = values_of(expression, scale * z)
    return float(np.sum(density * values)), float(np.sqrt(np.sum(density * values**2)))


_PROBES = (sympy.Rational(1, 2), sympy.Integer(1), sympy.Rational(5, 3), sympy.Integer(3))


@dataclass(frozen=True, slots=True)
class Property:
    """An answer: ``value`` (None: undecided), whether it is proved (``symbolic``) and why.

    >>> bool(Property(True, True, "the tree is odd")), bool(Property(None, False, "no rule"))
    (True, False)
    """

    value: bool | None
    symbolic: bool
    detail: str

    def __bool__(self) -> bool:
        return self.value is True

    def __str__(self) -> str:
        answer = {True: "yes", False: "no", None: "unknown"}[self.value]
        return f"{answer} ({'proved' if self.symbolic else 'numerical'}): {self.detail}"


class ActivationProperties:
    """The properties of phi, each worked out on first use.

    >>> from theoryck.numerics.functions import Activation
    >>> tanh = Activation("tanh").properties
    >>> tanh.odd.value, tanh.smooth.symbolic, Activation("relu").properties.smooth.value
    (True, True, False)
    """

    def __init__(self, expression: Any) -> None:
        self.expression = expression

    @cached_property
    def odd(self) -> Property:
        """phi(-x) = -phi(x)."""
        return self._parity(-1, "odd")

    @cached_property
    def even(self) -> Property:
        """phi(-x) = phi(x)."""
        return self._parity(1, "even")

    def _parity(self, sign: int, word: str) -> Property:
        e = self.expression
        if e == 0 or parity_of_parts(e) == sign:
            return Property(True, True, f"every part of the formula is such that the whole is {word}")
        mirror = e.subs(x, -x)
        difference = mirror - sign * e
        for point in _PROBES:
            low, high = enclose(difference, (float(point), float(point))) if _representable(point) else (-1.0, 1.0)
            if low > 0 or high < 0:
                return Property(False, True, f"phi(-x) {'-' if sign == 1 else '+'} phi(x) is not 0 at x = {point}")
        if _vanishes(difference):
            return Property(True, True, f"phi(-x) {'-' if sign == 1 else '+'} phi(x) is 0 by algebra")
        values = values_of(difference, grid())
        size = np.abs(values_of(e, grid())) + 1
        same = bool(np.nanmax(np.abs(values) / size) < 1e-12)
        return Property(same, False, f"phi(-x) {'-' if sign == 1 else '+'} phi(x) was compared with 0 on a grid")

    @cached_property
    def linear(self) -> Property:
        """phi(x) = a x for some a."""
        e = self.expression
        if e.is_polynomial(x):
            terms = sympy.Poly(e, x).as_dict()
            found = all(power == (1,) for power, coefficient in terms.items() if coefficient != 0)
            return Property(found, True, "the formula is a polynomial" + ("" if found else " with another power of x"))
        for low_point, high_point in ((1, 2), (2, 4), (-1, 1), (-2, 1)):
            # phi(q)/q = phi(p)/p for a linear function.
            gap = e.subs(x, high_point) * low_point - e.subs(x, low_point) * high_point
            low, high = enclose(gap)
            if low > 0 or high < 0:
                return Property(False, True, f"phi({high_point})/{high_point} differs from phi({low_point})/{low_point}")
        slope = values_of(e, grid()) - grid() * float(e.subs(x, 1))
        return Property(bool(np.nanmax(np.abs(slope) / (1 + np.abs(grid()))) < 1e-12), False, "compared with a line on a grid")

    @cached_property
    def kinks(self) -> Kinks:
        """Candidate points where phi may fail to be analytic."""
        return find_kinks(self.expression)

    @cached_property
    def total(self) -> bool:
        """Whether phi is proved to be real and finite on the whole line."""
        return check_total(self.expression)

    @cached_property
    def _jump(self) -> Property | tuple[int, Any]:
        """Lowest derivative (order, point) that jumps, or the property "no jump up to order 2" with how it is known."""
        kinks = self.kinks
        if not kinks.points and kinks.exact:
            how = "" if self.total else "; that the formula has no singularity was checked on a grid only"
            return Property(True, self.total, "the formula is composed of analytic functions" + how)
        try:
            # The two sides can be compared exactly only at an exact point, and only where each side is smooth at that point.
            if not kinks.exact or branch_points(self.expression):
                return self._jump_numerically()
            found = jump_order(self.expression)
        except (ArithmeticError, ExactError, ExpressionError):
            return self._jump_numerically()
        if found is not None:
            return found
        where = ", ".join(str(point) for point in kinks.points[:4])
        return Property(True, kinks.exact and self.total, f"phi, phi', phi'' agree on both sides of x = {where}")

    @property
    def jump_order(self) -> int | None:
        """Order, 0 to 2, of the lowest derivative that is proved to jump somewhere; None where none is."""
        return None if isinstance(self._jump, Property) else self._jump[0]

    def _jump_numerically(self) -> Property:
        step = 1e-3
        points = np.array([float(point) for point in self.kinks.points])
        stencil = values_of(self.expression, points[:, None] + step * np.array([-2.0, -1.0, 0.0, 1.0, 2.0]))
        second = np.abs(stencil[:, 0] + stencil[:, 4] - 2 * stencil[:, 2]) / (2 * step) ** 2
        finer = np.abs(stencil[:, 1] + stencil[:, 3] - 2 * stencil[:, 2]) / step**2
        # A bounded second difference quotient does not double when the step is halved; that of |x| does.
        smooth = bool(np.all(finer <= 1.5 * second + 1e-6))
        return Property(smooth, False, "second differences at the candidate kinks, at two steps")

    @cached_property
    def smooth(self) -> Property:
        """phi is twice continuously differentiable (C^2)."""
        jump = self._jump
        if isinstance(jump, Property):
            return jump
        order, point = jump
        name = ("phi", "phi'", "phi''")[order]
        return Property(False, True, f"{name} jumps at x = {point}")

    @cached_property
    def bounded_first_derivative(self) -> Property:
        """phi' is bounded (phi is Lipschitz)."""
        return self._bounded(1)

    @cached_property
    def bounded_second_derivative(self) -> Property:
        """phi'' exists almost everywhere and is bounded, and phi' has no jump."""
        return self._bounded(2)

    def _bounded(self, order: int) -> Property:
        name = "phi" + "'" * order
        jump = self._jump
        if not isinstance(jump, Property) and jump[0] < order:
            return Property(False, True, f"{'phi' + chr(39) * jump[0]} jumps at x = {jump[1]}, so {name} is not a function")
        e = self.expression
        try:
            for _ in range(order):
                e = canonical(derivative(e))[0]
            total = check_total(e)
        except ExpressionError as error:
            return Property(False, False, f"{name} is not finite everywhere: {error}")
        sides = [growth(e, side) for side in (1, -1)]
        answers = [None if side is None else side.bounded for side in sides]
        proved = total and self.total and self.kinks.exact and (not isinstance(jump, Property) or jump.symbolic)
        if False in answers:
            which = "+oo" if answers[0] is False else "-oo"
            return Property(False, True, f"{name} is unbounded as x -> {which}")
        if answers == [True, True] and proved:
            return Property(True, True, f"{name} is continuous up to jumps and bounded as x -> +-oo")
        low, high = enclose(e)
        if np.isfinite(low) and np.isfinite(high):
            return Property(True, proved, f"{name} lies in [{low:.4g}, {high:.4g}]")
        return _bounded_on_grid(e, name)

    def zero_mean_at(self, variance: Any) -> Property:
        """E phi(sqrt(s) Z) = 0 at s = ``variance``."""
        s = _variance(variance)
        if parity(self.expression) == -1 or (self.odd.value and self.odd.symbolic):
            return Property(True, True, "phi is odd")
        mean = exact_mean(self.expression, s)
        if mean is not None:
            return _is_zero_mean(sympy.simplify(mean) if len(str(mean)) < 200 else mean, s)
        if is_positive(self.expression, strict=False) or is_positive(-self.expression, strict=False):
            probe = enclose(self.expression, (1.0, 1.0))
            if probe[0] > 0 or probe[1] < 0:
                return Property(False, True, "phi never changes sign and is not 0")
        value, scale = quadrature_mean(self.expression, float(s), self.kinks.points)
        # The quadrature error is far below 1e-9 of the root mean square for the functions of this room.
        return Property(abs(value) <= 1e-9 * scale, False, f"quadrature gives the mean {value:.6g} (root mean square {scale:.6g})")


def _is_zero_mean(mean: Any, s: Any) -> Property:
    if mean == 0:
        return Property(True, True, f"the exact Gaussian mean at variance {s} is 0")
    low, high = enclose(mean)
    if low > 0 or high < 0:
        return Property(False, True, f"the exact Gaussian mean at variance {s} is {mean}")
    return Property(abs(low + high) < 1e-9, False, f"the Gaussian mean {mean} at variance {s} could not be compared with 0 exactly")


def _variance(variance: Any) -> Any:
    try:
        exact = variance if isinstance(variance, sympy.Expr) else sympy.Rational(*Fraction(variance).as_integer_ratio())
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        raise ValueError(f"variance must be a positive number, got {variance!r}") from None
    if not exact.is_positive:
        raise ValueError(f"variance must be a positive number, got {variance!r}")
    return exact


def _representable(point: Any) -> bool:
    return Fraction(float(point)) == Fraction(int(point.p), int(point.q))


def _vanishes(e: Any) -> bool:
    """Whether e = 0 everywhere is shown by expansion, on each of its pieces when it has kinks."""
    if sympy.expand(e) == 0:
        return True
    try:
        return all(sympy.expand(piece.expression) == 0 for piece in pieces(e))
    except Unsplit:
        return False


def _bounded_on_grid(e: Any, name: str) -> Property:
    values = np.abs(values_of(e, grid()))
    inner = float(np.nanmax(values[np.abs(grid()) <= 100]))
    outer = float(np.nanmax(values))
    grows = not np.isfinite(outer) or outer > 2 * inner + 1e-9
    return Property(not grows, False, f"|{name}| reaches {inner:.4g} on |x| <= 100 and {outer:.4g} on |x| <= 1e4 on a grid")
