"""The two-point kernel h(s1, s2, c) = E phi(u) phi(v) of Gaussian u, v with variances s1, s2 and covariance c.

Mehler's series: with a_k(s) = E[phi(sqrt(s) Z) He_k(Z)] and r = c/sqrt(s1 s2), h = sum_k a_k(s1) a_k(s2) r^k / k!.  What is cut
after order K is at most |r|^(K+1) sqrt((g(s1) - sum_{k<=K} a_k(s1)^2/k!)(g(s2) - ...)), g(s) = E phi(sqrt(s) Z)^2, by Bessel and
Cauchy-Schwarz.  For piecewise polynomials the inner Gaussian integral is elementary, and one dimension is left.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import Any

import sympy
from flint import arb
from sympy import Expr

from theoryck.numerics.balls import BITS_PER_DIGIT, bits_for, check_digits, from_ball, plus_minus, precision, proved_digits, to_ball
from theoryck.numerics.errors import ExactError
from theoryck.numerics.functions.calculus import parity
from theoryck.numerics.functions.expression import x
from theoryck.numerics.functions.pieces import polynomial_pieces
from theoryck.numerics.functions.trees import REAL, tree_of
from theoryck.numerics.proved.agreement import agreed_kernel
from theoryck.numerics.proved.gaussian import (
    AGREEMENT,
    TRAPEZOID,
    Value,
    expression_of,
    is_one_piece,
    mean,
    rough_bits,
    sharpened,
    variance_ball,
)
from theoryck.numerics.proved.hermite import hermite_table
from theoryck.numerics.proved.polynomials import Parts
from theoryck.numerics.proved.strips import Majorant, NoBound, strip_size
from theoryck.numerics.proved.trapezoid import (
    BOUND_BITS,
    Grid,
    absolute_moments,
    choose_grid,
    grid_error,
    line_majorant,
    mean_bound,
    nodes,
    tail_bound,
)
from theoryck.records import Enclosure

FIRST_ORDER, PLANE_ORDER, LAST_ORDER = 32, 128, 512
SERIES = "Mehler series"


def gaussian_kernel(activation: Any, s1: Any, s2: Any, c: Any, digits: int = 30) -> Enclosure:
    """Return an enclosure of E phi(u) phi(v), (u, v) Gaussian with Var u = s1, Var v = s2, Cov(u, v) = c, to ``digits`` digits.

    ``activation`` is an Activation, an expression in x or text; s1, s2 >= 0 and c are numbers or Enclosures.  Digits are relative
    to the value, absolute where it may be zero.  Close to |c| = sqrt(s1 s2), where the series converges slowly, a product of two
    trapezoidal rules takes over for smooth phi; where that does not apply either, the radius says what was proved.  Raises
    :class:`~theoryck.numerics.errors.ExactError` if |c| > sqrt(s1 s2) (no such Gaussian pair exists).

    >>> x = sympy.Symbol("x", real=True)
    >>> str(gaussian_kernel(sympy.sin(x), 1, 1, Fraction(1, 2), digits=20).midpoint)[:20]
    '0.191700249782101797'
    """
    digits = check_digits(digits)
    phi = expression_of(activation)
    given = f"s1 = {s1}, s2 = {s2}, c = {c}"
    s1, s2, c = (_exactly(number) for number in (s1, s2, c))
    sign = _extreme(s1, s2, c, given)
    if sign is not None:
        value = _one_dimensional(phi, s1, s2, sign, digits)
    elif (parts := polynomial_pieces(phi)) is not None and len(parts) > 1 and all(isinstance(n, Expr) for n in (s1, s2, c)):
        outer = phi * smoothed(parts, c / s1, s2 - c * c / s1)
        value = sharpened(lambda s, bits: mean(outer, s, bits), s1, digits, lambda s: rough_bits((outer,), s)[0])
    else:
        value = _series(phi, s1, s2, c, digits)
    return from_ball(value.ball, digits, value.rigorous)


def _exactly(number: Any) -> Any:
    """A sympy number for exact input, so that |c| = sqrt(s1 s2) can be recognised; an Enclosure stays what it is."""
    if isinstance(number, Enclosure | arb | Expr):
        return number
    if isinstance(number, Rational):
        return sympy.Rational(int(number.numerator), int(number.denominator))
    if isinstance(number, Decimal | float) and math.isfinite(number):
        fraction = Fraction(number)
        return sympy.Rational(fraction.numerator, fraction.denominator)
    raise ExactError(f"variances and covariance must be finite real numbers, got {number!r}")


def _extreme(s1: Any, s2: Any, c: Any, given: str) -> int | None:
    """1 or -1 if v is a multiple of u (0 if one variance is 0), None otherwise; an impossible covariance is an error."""
    with precision(256):
        a, b, cross = variance_ball(s1), variance_ball(s2), to_ball(c)
        room = a * b - cross * cross
        if room < 0:
            raise ExactError(f"|c| must be at most sqrt(s1 s2), got {given}")
        if room > 0:
            return None
    if not all(isinstance(number, Expr) for number in (s1, s2, c)):
        return None
    if sympy.simplify(s1 * s2 - c * c) != 0:
        raise ExactError(f"cannot tell |c| from sqrt(s1 s2): {given}; give exact numbers, or more digits")
    return 0 if s1 * s2 == 0 else 1 if cross > 0 else -1


def _one_dimensional(phi: Expr, s1: Expr, s2: Expr, sign: int, digits: int) -> Value:
    """u and v are multiples of one Gaussian."""
    if sign == 0:
        variance = s2 if s1 == 0 else s1
        product = phi * phi.xreplace({x: sympy.Integer(0)})
    else:
        variance, product = s1, phi * phi.subs(x, sign * sympy.sqrt(s2 / s1) * x)
    return sharpened(lambda s, bits: mean(product, s, bits), variance, digits, lambda s: rough_bits((product,), s)[0])


def smoothed(parts: Parts, slope: Expr, variance: Expr) -> Expr:
    """Return E phi(slope x + sqrt(variance) Z) as an expression in x, for a piecewise polynomial phi.

    With m = slope x, b = sqrt(variance) and t = (edge - m)/b, the truncated moments T_n = E[Z^n 1(Z > t)] are
    T_0 = erfc(t/sqrt 2)/2, T_1 = density(t), T_n = t^(n-1) density(t) + (n - 1) T_(n-2).
    """
    b = sympy.sqrt(variance)
    total = sympy.Integer(0)
    for left, right, coefficients in parts:
        degree = len(coefficients) - 1
        above = _truncated(left, slope, b, degree)
        if right is not None:
            above = [p - q for p, q in zip(above, _truncated(right, slope, b, degree))]
        for power, coefficient in enumerate(coefficients):
            for n in range(power + 1):
                total += coefficient * sympy.binomial(power, n) * (slope * x) ** (power - n) * b**n * above[n]
    return total


def _truncated(edge: Expr | None, slope: Expr, b: Expr, degree: int) -> list[Expr]:
    if edge is None:
        return [sympy.factorial2(n - 1) if n % 2 == 0 else sympy.Integer(0) for n in range(degree + 1)]
    t = (edge - slope * x) / b
    density = sympy.exp(sympy.expand(-(t**2) / 2)) / sympy.sqrt(2 * sympy.pi)
    moments = [sympy.erfc(t / sympy.sqrt(2)) / 2, density]
    for n in range(2, degree + 1):
        moments.append(t ** (n - 1) * density + (n - 1) * moments[n - 2])
    return moments[: degree + 1]


def _series(phi: Expr, s1: Any, s2: Any, c: Any, digits: int) -> Value:
    """Raise order and precision in turn, whichever limits the radius, until the digits are proved."""
    order, extra = FIRST_ORDER, 16
    value, limit = None, _order_limit(phi)
    for _ in range(16):
        try:
            total, tail = mehler(phi, s1, s2, c, order, bits_for(digits, extra))
        except ExactError:
            if value is not None:
                break
            return Value(agreed_kernel(phi, *(float_of(n) for n in (s1, s2, c))), AGREEMENT)
        with precision(bits_for(digits, extra + 32)):
            value = Value(total + plus_minus(tail), SERIES)
            proved = proved_digits(value.ball)
            if proved >= digits or bool(abs(value.ball) < arb(10) ** (-2 * digits)):
                return value
            rest = bool(tail > total.rad())
        if rest and order == PLANE_ORDER:
            other = _product_rule(phi, s1, s2, c, digits)
            if other is not None:
                return other
        if rest and order >= limit:
            return value
        if rest:
            order = min(2 * order, limit)
        else:
            extra += 16 + math.ceil((digits - proved) * BITS_PER_DIGIT)
    return value  # type: ignore[return-value]


def _product_rule(phi: Expr, s1: Any, s2: Any, c: Any, digits: int) -> Value | None:
    """Two dimensions of trapezoidal rule; None where phi has no strip or the digits are not reached."""
    if not is_one_piece(phi):
        return None
    for extra in (16, 64, 128):
        wanted = bits_for(digits, extra)
        with precision(wanted + 32):
            a, b, cross = variance_ball(s1), variance_ball(s2), to_ball(c)
            try:
                value = Value(plane_mean(phi, a, b, cross, wanted - rough_bits((phi**2,), a)[0]), TRAPEZOID)
            except NoBound:
                return None
            if proved_digits(value.ball) >= digits:
                return value
    return None


def plane_mean(phi: Expr, s1: arb, s2: arb, c: arb, bits: float) -> arb:
    """Return a ball around E phi(u) phi(v) with an error near 2^-bits at the current precision.

    With u = sqrt(s1) X and v = a X + b Y, a = c/sqrt(s1), b^2 = s2 - c^2/s1, the kernel is E F(X), F(x) = phi(sqrt(s1) x) G(x),
    G(x) = E phi(a x + b Y): both are analytic where phi is, and the trapezoidal rule serves twice, for correlations close to 1 too.
    ``phi`` must have no kink and a majorant that is a polynomial; otherwise, and where no strip is known, raises
    :class:`~theoryck.numerics.proved.strips.NoBound`.
    """
    a, b = c / s1.sqrt(), (s2 - c * c / s1).sqrt()
    if not b > 0:
        raise NoBound("u and v are proportional, or nearly so")
    outer = choose_grid(phi, s1 if float(s1.mid()) > float(s2.mid()) else s2, bits + 4, power=2)
    inner = choose_grid(phi, b * b, bits + 4)
    with precision(BOUND_BITS):
        error = _outer_error(phi, s1, s2, outer) + _tails_and_inner_errors(phi, s1.sqrt(), a, b, outer, inner)
    return _double_sum(phi, s1.sqrt(), a, b, outer, inner) + plus_minus(error)


def _double_sum(phi: Expr, root: arb, a: arb, b: arb, outer: Grid, inner: Grid) -> arb:
    points, weights = nodes(outer)
    steps, shares = nodes(inner)
    tree = tree_of((phi,))
    both = [*(-b * y for y in reversed(steps[1:])), *(b * y for y in steps)]
    measure = [*reversed(shares[1:]), *shares]
    # For even and odd phi, F is even: both change sign together.
    signs = (1,) if parity(phi) else (1, -1)
    total = arb(0)
    for sign in signs:
        heights = tree.columns(REAL, [sign * root * z for z in points])[0]
        for k, (z, weight, height) in enumerate(zip(points, weights, heights)):
            if k == 0 and sign == -1:
                continue
            centre = sign * a * z
            column = tree.columns(REAL, [centre + y for y in both])[0]
            part = arb(0)
            for share, value in zip(measure, column):
                part += share * value
            total += (2 if len(signs) == 1 and k else 1) * weight * height * part
    return total


def _outer_error(phi: Expr, s1: arb, s2: arb, grid: Grid) -> arb:
    """On |Im x| <= y: |F| <= A(u) E A(v) with strips sqrt(s1) y and |a| y <= sqrt(s2) y; then Cauchy-Schwarz."""
    tops = [arb(s.upper()) for s in (s1, s2)]
    y = grid.v / max(tops, key=float).sqrt()
    means = [mean_bound(strip_size(phi, top.sqrt() * y).power(2), top).sqrt() for top in tops]
    return grid_error(grid, means[0] * means[1], y)


def _tails_and_inner_errors(phi: Expr, root: arb, a: arb, b: arb, outer: Grid, inner: Grid) -> arb:
    """Errors of the inner rule summed over the outer nodes, and what both cuts leave out."""
    line = line_majorant(phi)
    y = inner.v / b
    strip = strip_size(phi, arb((b * y).upper()))
    for majorant in (line, strip):
        if majorant.rate != 0 or majorant.square != 0:
            raise NoBound("the majorant is not a polynomial")
    one = arb(1)
    slope = abs(a)
    total = arb(0)
    for k, (z, weight) in enumerate(zip(*nodes(outer))):
        height = sum((coefficient * (root * z) ** j for j, coefficient in enumerate(line.coefficients)), arb(0))
        discretised = grid_error(inner, _mean(_shifted(strip, slope * z, b)), y)
        cut = 2 * tail_bound(_shifted(line, slope * z, b), one, inner.step * inner.count)
        total += (2 if k else 1) * weight * height * (discretised + cut)
    # Beyond the outer cut: |F(x)| <= A(sqrt(s1) x) E A(|a| x + b |Y|), a polynomial in x.
    moments = absolute_moments(len(line.coefficients))
    around = [arb(0)] * len(line.coefficients)
    for j, coefficient in enumerate(line.coefficients):
        for i in range(j + 1):
            around[i] += coefficient * math.comb(j, i) * slope**i * b ** (j - i) * moments[j - i]
    near = Majorant(tuple(coefficient * root**j for j, coefficient in enumerate(line.coefficients)))
    return total + 2 * tail_bound(near * Majorant(tuple(around)), one, outer.step * outer.count)


def _shifted(majorant: Majorant, shift: arb, scale: arb) -> Majorant:
    """Return majorant(shift + scale t) as a polynomial in t."""
    out = [arb(0)] * len(majorant.coefficients)
    for j, coefficient in enumerate(majorant.coefficients):
        for i in range(j + 1):
            out[i] += coefficient * math.comb(j, i) * shift ** (j - i) * scale**i
    return Majorant(tuple(out))


def _mean(majorant: Majorant) -> arb:
    return mean_bound(majorant, arb(1))


def _order_limit(phi: Expr) -> int:
    parts = polynomial_pieces(phi)
    return max(LAST_ORDER, 2 * len(parts[0][2])) if parts is not None else LAST_ORDER


def mehler(phi: Expr, s1: Any, s2: Any, c: Any, order: int, bits: int) -> tuple[arb, arb]:
    """Return the series up to ``order`` and a bound on the rest."""
    with precision(bits + 64):
        a, b, cross = variance_ball(s1), variance_ball(s2), to_ball(c)
        size = max(rough_bits((phi**2,), variance_ball(s))[0] for s in (s1, s2))
    first = hermite_table(phi, s1, 2, order, max(bits - math.floor(min(size, 0)), 32))
    second = first if s1 == s2 else hermite_table(phi, s2, 2, order, max(bits - math.floor(min(size, 0)), 32))
    with precision(bits + 32):
        # |r| <= 1 holds for every Gaussian pair, whatever the rounding of an inexact covariance says.
        r = (cross / (a * b).sqrt()).intersection(arb(0, 1))
        total, left, right = arb(0), first[2][0], second[2][0]
        weight = arb(1)
        for k in range(order + 1):
            p, q = first[1][k], second[1][k]
            total += weight * p * q
            factorial = arb(math.factorial(k))
            left, right = left - p * p / factorial, right - q * q / factorial
            weight = weight * r / (k + 1)
        rests = [arb(rest.upper()).max(arb(0)) for rest in (left, right)]
        return total, (abs(r).upper() ** (order + 1) * (rests[0] * rests[1]).sqrt()).upper()


def float_of(number: Any) -> float:
    """Return the float nearest to a number or an enclosure's midpoint."""
    with precision(64):
        return float(to_ball(number).mid())
