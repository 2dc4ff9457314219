"""Where nothing can be proved: two quadratures that share no nodes, and the digits on which they agree."""

from __future__ import annotations

import math
from itertools import pairwise

import mpmath
from flint import arb
from sympy import Expr

from theoryck.exact.balls import NotIntegrable, bits_for, plus_minus, precision
from theoryck.exact.pieces import Unsplit, number_ball, pieces
from theoryck.exact.trees import DECIMAL, tree_of


def agreed_mean(expression: Expr, s: arb, digits: int) -> tuple[arb, float]:
    """Return E e(sqrt(s) Z) with the disagreement of two mpmath quadratures as radius, and the digits of agreement.

    Tanh-sinh on one subdivision of the line against Gauss-Legendre on another.  Nothing is proved.  Raises
    :class:`~theoryck.exact.balls.NotIntegrable` where the integrand does not decay, is not real or the two have nothing in common.
    """
    with mpmath.workdps(digits + 15):
        root = mpmath.sqrt(_to_mpmath(s))
        cut = mpmath.mpf(math.ceil(math.sqrt(2 * (digits + 10) * math.log(10)) + 2))
        tree = tree_of((expression,))

        def integrand(z: mpmath.mpf) -> mpmath.mpf:
            value = tree.at(DECIMAL, root * z) * mpmath.npdf(z)
            if isinstance(value, mpmath.mpc) and value.imag != 0:
                raise NotIntegrable(f"{expression} is not real at x = {mpmath.nstr(root * z, 10)}")
            return mpmath.re(value)

        try:
            _must_decay(expression, integrand, cut)
            edges, fine = _edges(expression, root, cut)
            first = mpmath.quad(integrand, _subdivided(edges, 1 if fine else 3), method="tanh-sinh", maxdegree=6)
            second = mpmath.quad(integrand, _subdivided(edges, 2 if fine else 7), method="gauss-legendre", maxdegree=6)
        except (ZeroDivisionError, OverflowError, ValueError) as error:
            if isinstance(error, NotIntegrable):
                raise
            raise NotIntegrable(f"E of {expression} at variance {mpmath.nstr(root**2, 6)} cannot be computed: {error}") from error
        gap = abs(first - second) + abs(first) * mpmath.mpf(10) ** (-digits - 5)
        if not (mpmath.isfinite(first) and gap <= mpmath.mpf("1e-3") * (1 + abs(first))):
            raise NotIntegrable(f"two quadratures of E of {expression} disagree: {mpmath.nstr(first, 8)}, {mpmath.nstr(second, 8)}")
        agreed = float(-mpmath.log10(gap / abs(first))) if first else 0.0
    with precision(bits_for(digits + 15)):
        return arb(mpmath.nstr(first, digits + 12)) + plus_minus(arb(mpmath.nstr(gap, 5))), agreed


def _to_mpmath(ball: arb) -> mpmath.mpf:
    mantissa, exponent = ball.mid().man_exp()
    return mpmath.ldexp(mpmath.mpf(int(mantissa)), int(exponent))


def _must_decay(expression: Expr, integrand: object, cut: mpmath.mpf) -> None:
    """The weighted integrand must be small where the line is cut, and smaller further out."""
    for sign in (-1, 1):
        near, far = (abs(integrand(sign * cut * stretch)) for stretch in (1, mpmath.mpf(3) / 2))  # type: ignore[operator]
        if near > mpmath.mpf(10) ** -6 or far > near + mpmath.mpf(10) ** (-mpmath.mp.dps):
            raise NotIntegrable(f"E of {expression} does not converge: weighted, it is {mpmath.nstr(near, 5)} in the tail")


def _edges(expression: Expr, root: mpmath.mpf, cut: mpmath.mpf) -> tuple[list[mpmath.mpf], bool]:
    """Cut the line at the kinks; where they are not known, finely and blindly."""
    inner: list[mpmath.mpf] = [mpmath.mpf(0)]
    fine = False
    try:
        inner = [_to_mpmath(number_ball(part.left)) / root for part in pieces(expression)[1:] if part.left is not None] or inner
    except Unsplit:
        inner, fine = [mpmath.mpf(k) / 2 for k in range(-12, 13)], True
    return sorted({-cut, cut, *(edge for edge in inner if -cut < edge < cut)}), fine


def _subdivided(edges: list[mpmath.mpf], count: int) -> list[mpmath.mpf]:
    """Cut every interval into ``count`` equal ones."""
    points = [a + (b - a) * k / count for a, b in pairwise(edges) for k in range(count)]
    return [*points, edges[-1]]


def agreed_kernel(expression: Expr, s1: float, s2: float, c: float) -> arb:
    """Return E phi(u) phi(v) with the disagreement of two product trapezoidal rules as radius; nothing is proved."""
    values = [_product_rule(expression, s1, s2, c, step, shift) for step, shift in ((1 / 13, 0.5), (1 / 17, 0.25))]
    gap = abs(values[0] - values[1]) + 1e-14 * abs(values[0])
    if not math.isfinite(gap) or gap > 1e-2 * (1 + abs(values[0])):
        raise NotIntegrable(f"two rules for the kernel of {expression} disagree: {values[0]!r}, {values[1]!r}")
    return arb(values[0], gap)


def _product_rule(expression: Expr, s1: float, s2: float, c: float, step: float, shift: float) -> float:
    tree = tree_of((expression,))
    count = math.ceil(8.5 / step)
    points = [(k + shift) * step for k in range(-count, count)]
    weights = [step * math.exp(-z * z / 2) / math.sqrt(2 * math.pi) for z in points]
    slope, spread = c / math.sqrt(s1), math.sqrt(max(s2 - c * c / s1, 0.0))
    total = 0.0
    outer = tree.columns(DECIMAL, [mpmath.mpf(math.sqrt(s1) * z) for z in points])[0]
    for z, weight, value in zip(points, weights, outer):
        inner = tree.columns(DECIMAL, [mpmath.mpf(slope * z + spread * t) for t in points])[0]
        total += weight * float(value) * math.fsum(w * float(mpmath.re(part)) for w, part in zip(weights, inner))
    return total
