"""Gaussian expectations by rigorous adaptive integration (acb.integral), piece by piece between kinks, with proved tails."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

from flint import acb, arb
from sympy import Expr

from theoryck.numerics.balls import plus_minus, precision
from theoryck.numerics.functions.pieces import Piece, number_ball, pieces
from theoryck.numerics.functions.trees import COMPLEX, REAL, Tree, tree_of
from theoryck.numerics.proved.strips import Majorant, NoBound, line_size
from theoryck.numerics.proved.trapezoid import BOUND_BITS, cut_for, tail_bound

Factor = Callable[[acb], acb]


def integral_mean(expression: Expr, s: arb, bits: float, factor: Factor | None = None, degree: int = 0) -> arb:
    """Return a ball around E e(sqrt(s) Z) p(Z) with an absolute error near 2^-bits sqrt(degree!); raises :class:`NoBound`.

    ``factor`` is a polynomial p with |p(z)| <= |z|^degree exp(degree^2/2z^2) on the real line (He_degree, or None for 1).  The
    line is cut at +-T, where the majorants of the outer pieces prove the tails; between kinks the integrand is analytic, and
    where a branch cut may be met it declares itself not finite, which makes the integrator subdivide.
    """
    parts = pieces(expression)
    cut = _cut(parts, s, bits + 2, degree)
    with precision(BOUND_BITS):
        tails = _tails(parts, s, cut, degree)
    total = _pieces_integral(parts, s, cut, bits - math.lgamma(degree + 1) / math.log(4), factor) + plus_minus(tails)
    if not total.is_finite():
        raise NoBound(f"the integrator found no finite enclosure of E of {expression}")
    return total


def _outer_majorant(part: Piece, s: arb, cut: float, sign: int) -> Majorant:
    """A majorant of the last piece beyond the cut; the cut must lie beyond the last kink."""
    edge = arb(cut) * arb(s.lower()).sqrt() * (1 - arb(2) ** -20)
    return line_size(part.expression, edge, None) if sign > 0 else line_size(part.expression, None, -edge)


def _cut(parts: tuple[Piece, ...], s: arb, bits: float, degree: int) -> float:
    root = math.sqrt(float(s.mid()))
    cut = 1.0
    with precision(BOUND_BITS):
        for part in parts[1:]:
            kink = abs(float(number_ball(part.left).mid())) / root if part.left is not None else 0.0
            cut = max(cut, kink * 1.0001 + 1.0)
        for part, sign in ((parts[0], -1), (parts[-1], 1)):
            majorant = _outer_majorant(part, s, cut, sign)
            cut = max(cut, cut_for(majorant, float(s.mid()), bits * math.log(2), degree))
    return math.ldexp(math.ceil(math.ldexp(cut, 6)), -6)


def _tails(parts: tuple[Piece, ...], s: arb, cut: float, degree: int) -> arb:
    top = arb(s.upper())
    total = arb(0)
    for part, sign in ((parts[0], -1), (parts[-1], 1)):
        majorant = _outer_majorant(part, s, cut, sign)
        total += tail_bound(majorant, top, arb(cut), degree)
    return total * (arb(degree * degree) / (2 * arb(cut) ** 2)).exp()


def _pieces_integral(parts: tuple[Piece, ...], s: arb, cut: float, bits: float, factor: Factor | None) -> arb:
    root = s.sqrt()
    kinks = [number_ball(part.left) / root for part in parts[1:] if part.left is not None]
    edges = [arb(-cut), *(arb(kink.mid()) for kink in kinks), arb(cut)]
    total = arb(0)
    tolerance = arb(2) ** (-math.ceil(bits))
    for part, (low, high) in zip(parts, pairwise(edges)):
        integrand = _integrand(tree_of((part.expression,)), root, factor)
        total += integrate(integrand, acb(low), acb(high), tolerance, tolerance).real
    # A kink is integrated up to its midpoint: what lies between that and the kink is at most its radius times both sides.
    for kink, left, right in zip(kinks, parts, parts[1:]):
        if not kink.is_exact():
            for side in (left, right):
                value = _integrand(tree_of((side.expression,)), root, factor)(acb(kink), False)
                total += plus_minus(arb(kink.rad()) * abs(value))
    return total


def integrate(integrand: Callable[[acb, bool], acb], low: acb, high: acb, tolerance: arb, relative: arb) -> acb:
    """Return a ball around the integral of an analytic function along a segment; what ``integrand`` raises is raised here.

    An exception may not cross the compiled integrator, which would make a Ctrl-C inside the integrand a SystemError: it is kept,
    every further value is "not finite", so that the integrator gives up soon, and the exception is raised again.
    """
    raised: list[BaseException] = []

    def guarded(z: acb, analytic: bool) -> acb:
        if not raised:
            try:
                return integrand(z, analytic)
            except BaseException as error:
                raised.append(error)
        return acb(arb.nan(), arb.nan())

    value = acb.integral(guarded, low, high, abs_tol=tolerance, rel_tol=relative)
    if raised:
        raise raised[0]
    return value


def _integrand(tree: Tree, root: arb, factor: Factor | None) -> Callable[[acb, bool], acb]:
    scale = 1 / (2 * arb.pi()).sqrt()

    def integrand(z: acb, analytic: bool) -> acb:
        value = tree.columns(COMPLEX[bool(analytic)], [acb(z) * root])[0][0]
        if factor is not None:
            value = value * factor(acb(z))
        return acb(value) * (-z * z / 2).exp() * scale

    return integrand


def hermite_factor(order: int) -> Factor:
    """Return z -> He_order(z)."""

    def factor(z: acb) -> acb:
        last, here = acb(1), z
        if order == 0:
            return last
        for m in range(1, order):
            last, here = here, z * here - m * last
        return here

    return factor


def value_at_zero(expression: Expr) -> arb:
    """Return e(0): the expectation when the variance is 0."""
    return tree_of((expression,)).at(REAL, arb(0))
