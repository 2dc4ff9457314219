"""Moments of polynomial and of one-kink homogeneous activations in exact rational arithmetic, at any widths.

Given S_(l-1) = q the terms of d S_l are independent copies of phi(sqrt(q) Z)^2, whose moments are polynomials in q: those of a sum
of d copies are coefficients of the d-th power of their generating function.  So E S_l^n is a finite combination of E S_(l-1)^m,
m <= n deg(phi), and E S_0^m is a chi-square moment.  Overlaps are the same in three variables, the entries of the Gram matrix.
Nothing is expanded in 1/d: small widths, where rare large values dominate a moment, cost as much as large ones.
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
from flint import Ordering, fmpq, fmpq_mpoly_ctx, fmpq_poly

from theoryck.numerics.functions.expression import x
from theoryck.numerics.functions.pieces import as_polynomial, polynomial_pieces
from theoryck.numerics.proved.hermite import expression_of

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
