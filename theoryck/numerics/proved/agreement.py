"""Where nothing can be proved: quadratures that share no nodes, and the digits on which they agree."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import mpmath
import numpy as np
from flint import arb
from sympy import Expr

from theoryck.numerics.balls import bits_for, plus_minus, precision
from theoryck.numerics.errors import NotIntegrable
from theoryck.numerics.functions.compiled import values_of
from theoryck.numerics.functions.pieces import Floats, Unsplit, located_kinks, number_ball, pieces
from theoryck.numerics.functions.trees import DECIMAL, tree_of

SAFETY = 10
"""The radius is this many times the largest disagreement.  Against 60-digit values of max(tanh(x), 1/3), max(erf(x), cos(x)) and
max(0, sin(x) - 999/1000), two quadratures that agree by luck were off by up to 18 differences where a kink was not an edge of
both; at located kinks the differences overstate the error, and a factor 10 covers what is left of such luck."""

REACH = 12.0  # in standard deviations: beyond it the Gaussian weight is below 1e-31
DENSE = 150_000  # nodes of the smaller dense sum


def agreed_mean(expression: Expr, s: arb, digits: int) -> tuple[arb, float]:
    """Return E e(sqrt(s) Z) with ten times the disagreement of quadratures as radius, and the digits of agreement.

    Tanh-sinh on one subdivision of the line against Gauss-Legendre on another, both split at kinks that are located numerically,
    and against dense sums (:func:`dense_mean`).  Nothing is proved.  Raises
    :class:`~theoryck.numerics.errors.NotIntegrable` where the integrand does not decay, is not real or the two have nothing
    in common.
    """
    if expression == 0:
        return arb(0), float(digits)
    with mpmath.workdps(digits + 15):
        root = mpmath.sqrt(_to_mpmath(s))
        cut = mpmath.mpf(math.ceil(math.sqrt(2 * (digits + 10) * math.log(10)) + 2))
        tree = tree_of((expression,))

        def integrand(z: mpmath.mpf) -> mpmath.mpf:
            value = tree.at(DECIMAL, root * z) * mpmath.npdf(z)
            if isinstance(value, mpmath.mpc) and value.imag != 0:
                raise NotIntegrable(
                    f"{expression} is not real at x = {mpmath.nstr(root * z, 10)}: take an activation that is real everywhere"
                )
            return mpmath.re(value)

        try:
            _must_decay(expression, integrand, cut)
            edges, resolved = _edges(expression, root, cut)
            first = mpmath.quad(integrand, _subdivided(edges, 6.5), method="tanh-sinh", maxdegree=6)
            second = mpmath.quad(integrand, _subdivided(edges, 2.75), method="gauss-legendre", maxdegree=6)
            dense = dense_mean(expression, float(root))
        except (ZeroDivisionError, OverflowError, ValueError) as error:
            if isinstance(error, NotIntegrable):
                raise
            raise NotIntegrable(f"E of {expression} at variance {mpmath.nstr(root**2, 6)} cannot be computed: {error}") from error
        radius = _radius(expression, (first, second), dense, resolved, digits)
        agreed = float(-mpmath.log10(radius / abs(first))) if first else 0.0
    with precision(bits_for(digits + 15)):
        return arb(mpmath.nstr(first, digits + 12)) + plus_minus(arb(mpmath.nstr(radius, 5))), agreed


def _radius(expression: Expr, values: tuple[mpmath.mpf, mpmath.mpf], dense: Dense, resolved: bool, digits: int) -> mpmath.mpf:
    """Return the radius around the first value: SAFETY times the largest disagreement, never 0."""
    first, second = values
    if first == second == dense.size == 0:
        raise NotIntegrable(
            f"{expression} is 0 at every node of three quadratures, and nothing tells whether it is 0 in between: write it with "
            "piecewise polynomials, whose kinks are known"
        )
    gap = abs(first - second)
    aside = abs(first - dense.value)
    # The dense sums are the least accurate: within their own error they confirm, beyond it they have seen something.  Where a kink
    # may have been missed they are as good as the others.
    if not resolved or aside > SAFETY * dense.error:
        gap = max(gap, aside)
    if not (mpmath.isfinite(first) and gap <= mpmath.mpf("1e-3") * (1 + abs(first))):
        found = ", ".join(mpmath.nstr(value, 8) for value in (first, second, dense.value))
        raise NotIntegrable(
            f"three quadratures of E of {expression} disagree: {found}; it varies too fast to be trusted, rescale it"
        )
    return SAFETY * gap + max(abs(first), mpmath.mpf(dense.size)) * mpmath.mpf(10) ** (-digits - 5)


def _to_mpmath(ball: arb) -> mpmath.mpf:
    mantissa, exponent = ball.mid().man_exp()
    return mpmath.ldexp(mpmath.mpf(int(mantissa)), int(exponent))


def _must_decay(expression: Expr, integrand: object, cut: mpmath.mpf) -> None:
    """The weighted integrand must be small where the line is cut, and smaller further out."""
    for sign in (-1, 1):
        near, far = (abs(integrand(sign * cut * stretch)) for stretch in (1, mpmath.mpf(3) / 2))  # type: ignore[operator]
        if near > mpmath.mpf(10) ** -6 or far > near + mpmath.mpf(10) ** (-mpmath.mp.dps):
            raise NotIntegrable(
                f"E of {expression} does not converge: weighted, it is {mpmath.nstr(near, 5)} in the tail; "
                "take a smaller variance or one that grows more slowly"
            )


def _edges(expression: Expr, root: mpmath.mpf, cut: mpmath.mpf) -> tuple[list[mpmath.mpf], bool]:
    """Cut the line at the kinks, known or located; where there may be others, finely and blindly."""
    resolved = True
    try:
        inner = [_to_mpmath(number_ball(part.left)) / root for part in pieces(expression)[1:] if part.left is not None]
    except Unsplit:
        found, resolved = located_kinks(expression, root, cut)
        inner = list(found)
    if not resolved:
        inner += [mpmath.mpf(k) / 2 for k in range(-12, 13)]
    return sorted({-cut, cut, *(edge for edge in inner or [mpmath.mpf(0)] if -cut < edge < cut)}), resolved


def _subdivided(edges: list[mpmath.mpf], length: float) -> list[mpmath.mpf]:
    """Cut every interval into equal ones of at most ``length``."""
    counts = [math.ceil(float(b - a) / length) for a, b in pairwise(edges)]
    points = [a + (b - a) * k / count for (a, b), count in zip(pairwise(edges), counts) for k in range(count)]
    return [*points, edges[-1]]


def agreed_kernel(expression: Expr, s1: float, s2: float, c: float) -> arb:
    """Return E phi(u) phi(v) with ten times the disagreement of two product midpoint rules as radius; nothing is proved."""
    (first, size), (second, _) = (
        _product_rule(expression, s1, s2, c, step, shift) for step, shift in ((1 / 83, 0.5), (1 / 107, 0.25))
    )
    if size == 0:
        raise NotIntegrable(
            f"{expression} is 0 at every node of two rules, and nothing tells whether it is 0 in between: draw instead"
        )
    gap = abs(first - second) + 1e-14 * size
    if not math.isfinite(gap) or gap > 1e-2 * (1 + abs(first)):
        raise NotIntegrable(
            f"two rules for the kernel of {expression} disagree, {first!r} and {second!r}: it varies too fast, draw instead"
        )
    return arb(first, SAFETY * gap)


def _product_rule(expression: Expr, s1: float, s2: float, c: float, step: float, shift: float) -> tuple[float, float]:
    """Return the sum and that of the absolute values; v = c/sqrt(s1) z + sqrt(s2 - c^2/s1) t for u = sqrt(s1) z."""
    count = math.ceil(8.5 / step)
    points: Floats = (np.arange(-count, count, dtype=np.float64) + shift) * step
    weights = step * np.exp(-points * points / 2) / math.sqrt(2 * math.pi)
    slope, spread = c / math.sqrt(s1), math.sqrt(max(s2 - c * c / s1, 0.0))
    outer = values_of(expression, math.sqrt(s1) * points) * weights
    rows = (values_of(expression, slope * z + spread * points) for z in points)
    inner = np.array([(values @ weights, np.abs(values) @ weights) for values in rows])
    return float(outer @ inner[:, 0]), float(np.abs(outer) @ inner[:, 1])


@dataclass(frozen=True)
class Dense:
    """A sum over many nodes: its value, what its own error may be, and the same sum of absolute values."""

    value: float
    error: float
    size: float


def dense_mean(expression: Expr, root: float) -> Dense:
    """Return E e(root Z) by shifted midpoint sums with 150000 and 232000 nodes on 12 standard deviations, in float64.

    Its error is that of a kink or a jump between two nodes, so that it checks and does not sharpen: a spike wider than a node
    spacing (1e-4) that a quadrature with few nodes misses shows here.  Nodes without a finite value count as 0.
    """
    found = []
    for count, shift in ((DENSE, 0.5), (232_001, 0.3819660112501051)):
        step = 2 * REACH / count
        z: Floats = -REACH + step * (np.arange(count, dtype=np.float64) + shift)
        with np.errstate(all="ignore"):
            terms = values_of(expression, root * z) * np.exp(-z * z / 2) * (step / np.sqrt(2 * np.pi))
        terms = np.where(np.isfinite(terms), terms, 0.0)
        found.append((float(terms.sum()), float(np.abs(terms).sum()), float(np.abs(terms).max())))
    (first, size, largest), (second, _, _) = found
    # One term is what a jump between two nodes may cost; pairwise additions lose a few 1e-16 of the absolute sum.
    return Dense(second, abs(first - second) + min(largest, size) * 0.1 + 1e-14 * size, size)
