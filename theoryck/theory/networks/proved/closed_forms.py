"""Moments of the Gram chain in closed form: the input layer, linear networks (rational numbers), one sine layer.

The formulas are elementary consequences of chi-square and Wishart moments and hold at every width, so everything is rigorous.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import comb, factorial
from typing import Any

import sympy
from flint import acb, arb, ctx

from theoryck.numerics.balls import plus_minus, precision, to_ball
from theoryck.numerics.proved.hermite import expression_of
from theoryck.numerics.proved.integral import integrate

Polynomial = list[Fraction]  # coefficients of c^0, c^1, ...


def linear_slope(activation: Any) -> sympy.Expr | None:
    """Return a where phi(x) = a x, None for every other activation.

    >>> linear_slope(sympy.Symbol("x", real=True) * 3)
    3
    """
    return _coefficient(expression_of(activation))


def _coefficient(expression: sympy.Expr) -> sympy.Expr | None:
    symbols = expression.free_symbols
    if len(symbols) != 1:
        return None
    (x,) = symbols
    slope = expression.coeff(x, 1)
    linear = not slope.free_symbols and slope != 0 and sympy.expand(expression - slope * x) == 0
    return slope if linear else None


def sine_frequency(activation: Any) -> sympy.Expr | None:
    """Return b where phi(x) = sin(b x), None for every other activation."""
    expression = expression_of(activation)
    return _coefficient(expression.args[0]) if isinstance(expression, sympy.sin) else None


# -- norms -------------------------------------------------------------------------------------------------------------------------


def linear_norm_moment(widths: tuple[int, ...], power: int) -> Fraction:
    """Return E(|x_L|^2 - 1)^power for phi(x) = x: |x_L|^2 is a product of independent chi2_d/d over the widths, L >= 0.

    E S^m = prod_l prod_{j<m} (1 + 2j/d_l), expanded binomially in exact rationals.

    >>> linear_norm_moment((8,), 2)
    Fraction(1, 4)
    """
    moment, total = Fraction(1), Fraction(0)
    for m in range(power + 1):
        total += comb(power, m) * (-1) ** (power - m) * moment
        for d in widths:
            moment *= 1 + Fraction(2 * m, d)
    return total


def input_norm_moment(d: int, power: Any, bits: int) -> arb:
    """Return E|chi2_d/d - 1|^power for any real power > 0 with a relative accuracy of about 2^-bits.

    Power 1 is 2 a^(a-1) e^(-a)/Gamma(a), a = d/2.  Other powers integrate both sides of the kink on balls, after
    w = |x_0| = 1 -+ e^y: the density of w is 2 a^a w^(d-1) e^(-a w^2)/Gamma(a), and e^y makes the power of the distance analytic.

    >>> from theoryck.numerics.balls import precision
    >>> with precision(120):
    ...     exact = 2 * arb(-1).exp()
    ...     abs(input_norm_moment(2, 1, 60) - exact) < 1e-15
    True
    """
    k = to_ball(power)
    work = bits + 2 * d.bit_length() + int(float(k) * d.bit_length() / 2) + 40
    with precision(work):
        a = arb(d) / 2
        if power == 1:
            return 2 * ((a - 1) * a.log() - a - a.lgamma()).exp()
        density = 2 * (a * a.log() - a - a.lgamma()).exp()
        return density * (_side(d, k, -1, bits) + _side(d, k, 1, bits))


def _side(d: int, k: arb, sign: int, bits: int) -> arb:
    """Return int |w^2 - 1|^k w^(d-1) e^(-a(w^2-1)) dw over w < 1 (sign -1) or w > 1 (sign 1), every cut proved.

    With u = |w - 1|: the exponent (d-1) log w - d(w^2-1)/2 is at most u - (d - 1/2) u^2 below 1, and at most -d u^2/2 above.
    """
    a, size = arb(d) / 2, arb(d).sqrt()
    wanted = arb(bits + 20) * arb(2).log() + (k + 1) / 2 * arb(d).log()
    reach = ((wanted if sign < 0 else 2 * wanted).sqrt() + (4 * k / size if sign > 0 else 0) + 2) / size
    whole = sign < 0 and not reach < arb(0.9)

    def integrand(y: acb, analytic: bool) -> acb:
        u = y.exp()
        step = sign * u
        distance = (k + 1) * y + k * (2 + step).log(analytic)
        if whole:  # the power of w is entire and may vanish at w = 0, where a logarithm is not finite
            return (distance - a * step * (2 + step)).exp() * (1 + step) ** (d - 1)
        return (distance + (d - 1) * _log1p_minus(step, analytic) - step - a * step * step).exp()

    low = -(wanted + 2 * k + 10) / (k + 1) - size.log()
    near = arb(3) ** k * ((k + 1) * low + 1).exp() / (k + 1)
    if sign < 0:
        cut = arb(0) if whole else reach.log()
        far = arb(0) if whole else (1 - (arb(d) - 0.5) * reach**2).exp()
    else:
        # u (2 + u) <= e^(2u) and u^2 >= reach u.
        cut, slope = reach.log(), a * reach - 2 * k
        far = (-slope * reach).exp() / slope
    low, cut = low.mid(), cut.mid()
    tolerance = (-wanted).exp()
    middle = integrate(integrand, acb(low), acb(cut), tolerance, arb(2) ** (-bits)).real
    # Rounding the ends to their midpoints moves them by a few units of 2^-precision: covered by doubling both tails.
    return middle + plus_minus(2 * near + 2 * far)


def _log1p_minus(x: acb, analytic: bool) -> acb:
    """Return log(1 + x) - x without losing the cancellation: -x^2 sum_j (-x)^j/(j+2) with its geometric remainder near 0."""
    size = x.abs_upper()
    if not size < arb(0.25):
        return (1 + x).log(analytic) - x
    terms = ctx.prec // max(1, int(-float(size.log() / arb(2).log()))) + 2 if size > arb(2) ** -60 else 8
    total = acb(0)
    for j in reversed(range(terms)):
        total = arb(1) / (j + 2) - x * total
    remainder = size**terms / ((terms + 2) * (1 - size))
    return -x * x * (total + acb(plus_minus(remainder), plus_minus(remainder)))


# -- overlaps ----------------------------------------------------------------------------------------------------------------------


def input_overlap_moment(d: int, power: Any, bits: int) -> arb:
    """Return E|x_mu . x_nu|^power at the input, any real power > 0: E|Z|^k 2^(k/2) Gamma((d+k)/2)/(Gamma(d/2) d^k).

    >>> from theoryck.numerics.balls import precision
    >>> with precision(100):
    ...     abs(input_overlap_moment(8, 2, 60) * 8 - 1) < 1e-15
    True
    """
    k = to_ball(power)
    with precision(bits + 2 * d.bit_length() + 40):
        ratio = ((d + k) / 2).lgamma() - (arb(d) / 2).lgamma() + ((k + 1) / 2).lgamma()
        return (ratio + k * arb(2).log() - k * arb(d).log()).exp() / arb.pi().sqrt()


def linear_overlap_moment(widths: tuple[int, ...], power: int) -> Fraction:
    """Return E(x_mu . x_nu)^power for phi(x) = x and an even power, by an exact recursion over the layers.

    Given the Gram matrix below, E (S S')^r Q^(k-2r) is again a combination of (S S')^j Q^(k-2j), j = 0..k/2: a matrix of rationals
    in 1/d, applied from the top layer down; at the input Q has mean direction 0.

    >>> linear_overlap_moment((8, 8), 2), linear_overlap_moment((8, 16, 8), 2)
    (Fraction(17, 64), Fraction(355, 1024))
    """
    half = power // 2
    weights = [Fraction(int(r == 0)) for r in range(half + 1)]
    for d in reversed(widths[1:]):
        rows = [_wishart_row(d, r, power) for r in range(half + 1)]
        weights = [sum((w * row[j] for w, row in zip(weights, rows)), Fraction(0)) for j in range(half + 1)]
    # Orthonormal directions (c = 0): only c^0, that is Q^0, is left of each row.
    return sum((w * _wishart_row(widths[0], r, power)[half] for r, w in enumerate(weights)), Fraction(0))


@lru_cache(maxsize=4096)
def _wishart_row(d: int, r: int, power: int) -> tuple[Fraction, ...]:
    """Return the coefficients of E (S S')^r Q^(k-2r) over (S S')^j Q^(k-2j), for a d-row Gram of vectors at cosine c.

    v = c u + e w with e^2 = 1 - c^2 and u, w independent: S = A, Q = c A + e C, S' = c^2 A + 2 c e C + e^2 B.
    """
    n = power - 2 * r
    total: Polynomial = [Fraction(0)] * (power + 1)
    for i in range(n + 1):  # Q^n: i factors e C
        for j, m in product(range(r + 1), repeat=2):  # S'^r: j factors e^2 B, m factors 2 c e C
            if j + m > r or (i + m) % 2:
                continue
            ways = comb(n, i) * factorial(r) // (factorial(j) * factorial(m) * factorial(r - j - m)) * 2**m
            value = ways * _triple_moment(d, r + (n - i) + (r - j - m), j, i + m)
            shift, evens = (n - i) + 2 * (r - j - m) + m, (i + m) // 2 + j
            for t in range(evens + 1):
                total[shift + 2 * t] += value * comb(evens, t) * (-1) ** t
    return tuple(total[power - 2 * j] for j in range(power // 2 + 1))


def _triple_moment(d: int, a: int, b: int, m: int) -> Fraction:
    """Return E |u|^(2a) |w|^(2b) (u.w)^m for independent N(0, I/d) vectors, m even: rotate w so that u.w = |u| w_1."""
    odd = factorial(m) // (2 ** (m // 2) * factorial(m // 2))
    value = Fraction(odd, d ** (m // 2))
    for i in range(a + m // 2):
        value *= 1 + Fraction(2 * i, d)
    for i in range(b):
        value *= 1 + Fraction(m + 2 * i, d)
    return value


# -- one sine layer ----------------------------------------------------------------------------------------------------------------


def sine_norm_variance(d0: int, d1: int, frequency: Any) -> arb:
    """Return E(|x_1|^2 - sigma_1)^2 for phi(x) = sin(b x), at the current precision.

    Everything follows from e(t) = E exp(-b^2 t S_0) = (1 + 2 b^2 t/d0)^(-d0/2).

    >>> from theoryck.numerics.balls import precision
    >>> with precision(100):
    ...     bool(sine_norm_variance(8, 8, 1) < 0.04)
    True
    """
    square = to_ball(frequency) ** 2

    def e(t: int) -> arb:
        return (-(arb(d0) / 2) * (2 * square * t / d0).log1p()).exp()

    sigma = -(-2 * square).expm1() / 2
    second = (1 - 2 * e(2) + e(4)) / 4
    fourth = arb(3) / 8 - e(2) / 2 + e(8) / 8
    return (fourth - second) / d1 + second - sigma * (1 - e(2)) + sigma**2


def sine_overlap_variance(d0: int, d1: int, frequency: Any) -> arb:
    """Return E(x_mu . x_nu)^2 after one layer of phi(x) = sin(b x), at the current precision.

    lap(a, c) = E exp(-a (S + S') + c Q) = ((1 + 2a/d0)^2 - c^2/d0^2)^(-d0/2), with a and c scaled by b^2.
    """
    square = to_ball(frequency) ** 2

    def lap(a: int, c: int) -> arb:
        u, v = 2 * square * a / d0, square * c / d0
        return (-(arb(d0) / 2) * (2 * u + u * u - v * v).log1p()).exp()

    single = (-(arb(d0) / 2) * (4 * square / d0).log1p()).exp()  # E exp(-2 S)
    same = (1 - 2 * single + lap(2, 4)) / 4
    distinct = (lap(1, 2) - lap(1, 0)) / 2
    return same / d1 + (1 - arb(1) / d1) * distinct
