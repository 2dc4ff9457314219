"""The variance map of a layer as power series on cells that cover the half-line, and inequalities proved on all of them.

f(s) = E phi(sqrt(s) Z)^2 and G(s) = E phi(sqrt(s) Z)^4.  Lemma (series): for c > 0 and |t| < 1

    E F(sqrt(c(1+t)) Z) = sum_n f_n t^n,  f_n = E[F(sqrt(c) Z) He_(2n)(Z)]/(2^n n!),  |f_n| <= M/2 for n >= 1 where 0 <= F <= M.

The density p_s of N(0, s) has d/ds p_s = p_s''/2 and p_c^(2n)(x) = c^-n He_(2n)(x/sqrt c) p_c(x): these are the coefficients of
Taylor.  In the half-plane Re s > 0 the density is analytic in s with an integrable modulus, locally uniformly, so that E F is
analytic in the disc |s - c| < c.  As E He_(2n) = 0, F may be replaced by F - M/2, and E|He_(2n)| <= sqrt((2n)!) <= 2^n n!.  The
cells [2c/3, 4c/3], c = centre 2^i, tile the half-line; there |t| <= 1/3 and the terms from n = m on sum to at most
(M/2) |t|^m/(1-|t|).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from flint import arb, arb_poly, fmpq
from sympy import Expr

from theoryck.numerics.balls import plus_minus
from theoryck.numerics.proved.hermite import hermite_table

TERMS = 20
BITS = 80
_HALVINGS = 14
EDGE = fmpq(1, 3)


@dataclass(frozen=True, slots=True)
class Cell:
    """f, G - f^2 and r on [2c/3, 4c/3] as polynomials in t = s/c - 1, m = TERMS terms.

    What is left is at most R |t|^m of f, 3 R^2 |t|^m of G - f^2, and of r^2 what :func:`squared_mean_error` says.

    r(s) = E phi'(sqrt(s) Z) = sum_n r_n t^n, r_n = E[phi(sqrt(c) Z) He_(2n+1)(Z)]/(sqrt(c) 2^n n!), for E phi' He_(2n) is
    E phi He_(2n+1)/sqrt(c), by parts.
    """

    centre: arb
    f: arb_poly
    variance: arb_poly
    mean: arb_poly


def cell(expression: Expr, centre: arb) -> Cell:
    """Return the cell of phi around ``centre``."""
    table = hermite_table(expression, centre, 4, 2 * TERMS - 1, BITS)
    weights = [2**n * math.factorial(n) for n in range(TERMS)]
    f, fourth = (arb_poly([table[power][2 * n] / weight for n, weight in enumerate(weights)]) for power in (2, 4))
    mean = arb_poly([table[1][2 * n + 1] / weight for n, weight in enumerate(weights)]) * centre.rsqrt()
    # With phi^2 <= R the tails are at most (R/2)|t|^m/(1-|t|) of f and (R^2/2)|t|^m/(1-|t|) of G.  Of f^2, with f = P + tail, it is
    # tail (f + P), |f + P| <= 2R + R/2: in all (3/4) R |t|^m of f and (3/4 + 15/8) R^2 |t|^m of G - f^2 where |t| <= 1/3.
    return Cell(centre, f, fourth - f * f, mean)


def squared_mean_error(part: Cell, divided: int = 0) -> arb:
    """Return a bound of |r^2 - P^2| / |t|^divided for the polynomial P of r, |t| <= 1/3.

    By Cauchy-Schwarz |r_n| <= sqrt(f(c)/c) sqrt((2n+1)!)/(2^n n!) <= sqrt((2n+1) f(c)/c): the tail of r is at most
    2 sqrt((2m+1) f(c)/c) |t|^m, |r| and |P| at most 2 sqrt(f(c)/c), and so that of r^2 at most 8 sqrt(2m+1) (f(c)/c) |t|^m.
    """
    return 8 * arb(2 * TERMS + 1).sqrt() * abs(part.f[0]) / part.centre * arb(3) ** (divided - TERMS)


def small_error(part: Cell) -> arb:
    """Return a bound of f - P for |t| <= 1/3 that is small with s: |f_n| <= sqrt(E phi(sqrt(c) Z)^4), by Cauchy-Schwarz."""
    fourth = part.variance[0] + part.f[0] ** 2
    return 2 * abs(fourth).sqrt() * arb(3) ** -TERMS


def interval(low: Any, high: Any) -> arb:
    """Return a ball that contains [low, high]."""
    return arb(low).union(arb(high))


def nonnegative(polynomial: arb_poly, low: fmpq, high: fmpq, halvings: int = _HALVINGS) -> bool:
    """Whether polynomial >= 0 on [low, high] is proved: mean values over ever smaller parts."""
    return _nonnegative(polynomial, polynomial.derivative(), low, high, halvings)


def _nonnegative(p: arb_poly, slope: arb_poly, low: fmpq, high: fmpq, halvings: int) -> bool:
    middle = (low + high) / 2
    here = p(arb(middle))
    if here < 0:
        return False
    if here + slope(interval(low, high)) * plus_minus(arb((high - low) / 2)) >= 0:
        return True
    return halvings > 0 and all(_nonnegative(p, slope, *ends, halvings - 1) for ends in ((low, middle), (middle, high)))
