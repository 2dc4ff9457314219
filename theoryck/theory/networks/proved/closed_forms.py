"""Moments of the Gram chain in closed form: the input layer, linear networks, one sine layer, polynomial and one-kink activations.

The formulas are elementary consequences of chi-square and Wishart moments and hold at every width, so everything is rigorous.

Polynomial and one-kink homogeneous activations, in exact rational arithmetic. Given S_(l-1) = q the terms of d S_l are
independent copies of phi(sqrt(q) Z)^2, whose moments are polynomials in q: those of a sum of d copies are coefficients of the
d-th power of their generating function. So E S_l^n is a finite combination of E S_(l-1)^m, m <= n deg(phi), and E S_0^m is a chi-
square moment. Overlaps are the same in three variables, the entries of the Gram matrix. Nothing is expanded in 1/d: small widths,
where rare large values dominate a moment, cost as much as large ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import comb, factorial
from typing import Any

import sympy
from flint import Ordering, acb, arb, ctx, fmpq, fmpq_mpoly_ctx, fmpq_poly

from theoryck.numerics.balls import plus_minus, precision, to_ball
from theoryck.numerics.functions.expression import x
from theoryck.numerics.functions.pieces import as_polynomial, polynomial_pieces
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


MAX_NORM_DEGREE = 200  # power * degree^depth, the highest moment of |x_0|^2 that enters; a few seconds at most
MAX_OVERLAP_STEPS = 15_000  # products of polynomials in three variables, a few seconds at most

Index = tuple[int, int, int]
Coefficients = tuple[Fraction, ...]


def double_factorial(n: int) -> int:
    """Return (n - 1)!! = E Z^n for even n."""
    return factorial(n) // (2 ** (n // 2) * factorial(n // 2))


# -- norms -------------------------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def square_sides(expression: sympy.Expr) -> tuple[Coefficients, Coefficients] | None:
    """Return phi(x)^2 and phi(-x)^2 on x > 0 as rational polynomials, where every E phi(sqrt(q) Z)^(2j) is a polynomial in q.

    So it is for a polynomial, and for two polynomials that meet at 0 and have even squares (relu, abs).  Else None.

    >>> square_sides(sympy.Max(x, 0))
    ((Fraction(0, 1), Fraction(0, 1), Fraction(1, 1)), (Fraction(0, 1),))
    """
    parts = polynomial_pieces(expression)
    if parts is None or len(parts) > 2 or (len(parts) == 2 and parts[1][0] != 0):
        return None
    squares = [_rational_square(coefficients) for _, _, coefficients in parts]
    if any(square is None for square in squares):
        return None
    left, right = squares[0] or (), squares[-1] or ()
    mirrored = tuple(-c if i % 2 else c for i, c in enumerate(left))
    # Odd powers of x > 0 have moments in sqrt(q); those of one polynomial cancel between the two sides.
    if len(parts) == 2 and any(left[1::2] + right[1::2]):
        return None
    return right, mirrored


def _rational_square(coefficients: tuple[sympy.Expr, ...]) -> Coefficients | None:
    polynomial = sum((c * x**i for i, c in enumerate(coefficients)), sympy.Integer(0))
    square = as_polynomial(sympy.expand(polynomial**2))
    if square is None or not all(c.is_Rational for c in square):
        return None
    return tuple(Fraction(int(c.p), int(c.q)) for c in square)


def _fmpq(value: Fraction) -> fmpq:
    return fmpq(value.numerator, value.denominator)


def _fraction(value: fmpq) -> Fraction:
    return Fraction(int(value.p), int(value.q))


@lru_cache(maxsize=64)
def _square_moments(sides: tuple[Coefficients, Coefficients], count: int) -> tuple[fmpq_poly, ...]:
    """Return E phi(sqrt(q) Z)^(2j) as polynomials in q, j = 0..count: half the moments of each side, x^(2e) -> (2e-1)!! q^e."""
    found = []
    first, second = (fmpq_poly([_fmpq(c) for c in side]) for side in sides)
    ahead, behind = fmpq_poly([1]), fmpq_poly([1])
    for _ in range(count + 1):
        evens = (ahead + behind).coeffs()[::2]
        found.append(fmpq_poly([c * double_factorial(2 * e) / 2 for e, c in enumerate(evens)]))
        ahead, behind = ahead * first, behind * second
    return tuple(found)


def rational_norm_moment(activation: Any, widths: tuple[int, ...], power: int) -> Fraction | None:
    """Return E(|x_L|^2 - sigma_L)^power exactly, power even; None where phi is of another kind or the degree too high.

    >>> he2 = (x**2 - 1) / sympy.sqrt(2)
    >>> f"{float(rational_norm_moment(he2, (64, 64, 64), 8)):.3e}"
    '7.690e+20'
    """
    sides = square_sides(expression_of(activation))
    if sides is None:
        return None
    # A constant phi has degree 0, and still every layer needs the moments 0..power.
    degree = max(1, (max(map(len, sides)) - 1) // 2)
    depth = len(widths) - 1
    if power * degree**depth > MAX_NORM_DEGREE:
        return None
    moments = _chi_square_moments(widths[0], power * degree**depth)
    centre = fmpq(1)
    for layer in range(1, depth + 1):
        single = _square_moments(sides, power * degree ** (depth - layer))
        centre = single[1](centre)
        moments = [_paired(poly, moments) for poly in _power_moments(single, widths[layer])]
    total = sum((comb(power, n) * moments[n] * (-centre) ** (power - n) for n in range(power + 1)), fmpq(0))
    return _fraction(total)


def _chi_square_moments(d: int, count: int) -> list[fmpq]:
    moments = [fmpq(1)]
    for n in range(count):
        moments.append(moments[-1] * fmpq(d + 2 * n, d))
    return moments


def _paired(poly: fmpq_poly, moments: list[fmpq]) -> fmpq:
    return sum((c * moments[e] for e, c in enumerate(poly.coeffs())), fmpq(0))


def _power_moments(single: tuple[fmpq_poly, ...], d: int) -> list[fmpq_poly]:
    """Return the moments of the mean of d independent copies.

    P = A^d for the generating functions, so that A P' = d A' P: n p_n = sum_i ((d + 1) i - n) a_i p_(n-i), a_0 = 1.
    """
    scaled = [moment * fmpq(1, factorial(n) * d**n) for n, moment in enumerate(single)]
    out = [fmpq_poly([1])]
    for n in range(1, len(single)):
        total = fmpq_poly([0])
        for i in range(1, n + 1):
            total += ((d + 1) * i - n) * (scaled[i] * out[n - i])
        out.append(total / n)
    return [poly * factorial(n) for n, poly in enumerate(out)]


# -- overlaps ----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Scaled:
    """phi = c r: c^2 and the coefficients of r are rational."""

    square: Fraction
    coefficients: Coefficients


@lru_cache(maxsize=256)
def _rational_polynomial(expression: sympy.Expr) -> _Scaled | None:
    """Return phi as a rational polynomial times its leading coefficient, whose square must be rational."""
    coefficients = as_polynomial(sympy.expand(expression))
    if coefficients is None or len(coefficients) < 2:
        return None
    square = sympy.expand(coefficients[-1] ** 2)
    ratios = [sympy.radsimp(c / coefficients[-1]) for c in coefficients]
    if not (square.is_Rational and all(r.is_Rational for r in ratios)):
        return None
    return _Scaled(Fraction(int(square.p), int(square.q)), tuple(Fraction(int(r.p), int(r.q)) for r in ratios))


def rational_overlap_moment(activation: Any, widths: tuple[int, ...], power: int) -> Fraction | None:
    """Return E(x_mu . x_nu)^power exactly for a polynomial phi, power even; None for other phi and where it is too dear.

    >>> he2 = (x**2 - 1) / sympy.sqrt(2)
    >>> f"{float(rational_overlap_moment(he2, (6, 6), 6)):.3e}"
    '1.671e+07'
    """
    phi = _rational_polynomial(expression_of(activation))
    if phi is None:
        return None
    needed = _closed_below([(0, 0, power)])
    wanted: dict[Index, fmpq] = {(0, 0, power): fmpq(1)}
    for d in reversed(widths[1:]):
        # A product of two polynomials for every index and every smaller one.
        if sum((i + 1) * (j + 1) * (t + 1) for i, j, t in needed) > MAX_OVERLAP_STEPS:
            return None
        wanted = _pulled_back(phi, wanted, needed, d)
        needed = _closed_below(wanted)
    return _fraction(sum((c * _input_gram(widths[0], index) for index, c in wanted.items()), fmpq(0)))


def _closed_below(indices: Iterable[Index]) -> list[Index]:
    found = {below for index in indices for below in _below(index)}
    return sorted(found, key=lambda index: (sum(index), index))


def _below(index: Index) -> Iterator[Index]:
    i, j, t = index
    return product(range(i + 1), range(j + 1), range(t + 1))


def _pulled_back(phi: _Scaled, wanted: dict[Index, fmpq], needed: list[Index], d: int) -> dict[Index, fmpq]:
    """Return sum_n wanted[n] E[S^i S'^j Q^t | Gram below] as a polynomial in the Gram below.

    As in :func:`_power_moments`, with the Euler operator for the derivative: |n| p_n = sum_m ((d + 1)|m| - |n|) a_m p_(n-m).
    """
    context = fmpq_mpoly_ctx.get(("a", "b", "c"), Ordering.lex)
    powers = _powers(phi, max(max(2 * i + t, 2 * j + t) for i, j, t in needed))
    single = {n: context.from_dict(_pair_moment(phi, powers, n, d)) for n in needed}
    sums = {(0, 0, 0): context.from_dict({(0, 0, 0): fmpq(1)})}
    for n in needed[1:]:
        total = context.from_dict({})
        for m in _below(n):
            if any(m):
                rest = (n[0] - m[0], n[1] - m[1], n[2] - m[2])
                total += ((d + 1) * sum(m) - sum(n)) * (single[m] * sums[rest])
        sums[n] = total * fmpq(1, sum(n))
    result = context.from_dict({})
    for n, coefficient in wanted.items():
        result += sums[n] * (coefficient * factorial(n[0]) * factorial(n[1]) * factorial(n[2]))
    return {(int(i), int(j), int(t)): c for (i, j, t), c in result.to_dict().items()}


def _powers(phi: _Scaled, count: int) -> list[list[fmpq]]:
    base, power, found = fmpq_poly([_fmpq(c) for c in phi.coefficients]), fmpq_poly([1]), []
    for _ in range(count + 1):
        found.append(power.coeffs())
        power = power * base
    return found


def _pair_moment(phi: _Scaled, powers: list[list[fmpq]], n: Index, d: int) -> dict[Index, fmpq]:
    """Return E phi(u)^(2i+t) phi(v)^(2j+t)/(i! j! t! d^|n|) as a polynomial in (a, b, c) = (E u^2, E v^2, E uv) (Isserlis)."""
    i, j, t = n
    scale = _fmpq(phi.square) ** sum(n) / (factorial(i) * factorial(j) * factorial(t) * d ** sum(n))
    found: dict[Index, fmpq] = {}
    for (p, left), (q, right) in product(enumerate(powers[2 * i + t]), enumerate(powers[2 * j + t])):
        if (p + q) % 2 or left == 0 or right == 0:
            continue
        for pairs in range(p % 2, min(p, q) + 1, 2):  # factors u paired with factors v; the rest among themselves
            ways = comb(p, pairs) * comb(q, pairs) * factorial(pairs) * double_factorial(p - pairs) * double_factorial(q - pairs)
            index = ((p - pairs) // 2, (q - pairs) // 2, pairs)
            found[index] = found.get(index, fmpq(0)) + scale * left * right * ways
    return found


def _input_gram(d: int, index: Index) -> fmpq:
    """Return E S^i S'^j Q^t at the input: Q = |x| |x'| cos with an independent direction, E cos^t = prod (1 + 2r)/(d + 2r)."""
    i, j, t = index
    if t % 2:
        return fmpq(0)
    cosine = fmpq(1)
    for r in range(t // 2):
        cosine *= fmpq(1 + 2 * r, d + 2 * r)
    return cosine * _chi_square_moments(d, i + t // 2)[-1] * _chi_square_moments(d, j + t // 2)[-1]
