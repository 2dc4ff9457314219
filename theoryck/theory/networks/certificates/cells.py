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
    """f and the variance G - f^2 on [2c/3, 4c/3] as polynomials in t = s/c - 1, up to R |t|^m and 3 R^2 |t|^m, m = TERMS."""

    centre: arb
    f: arb_poly
    variance: arb_poly


def cell(expression: Expr, centre: arb) -> Cell:
    """Return the cell of phi around ``centre``."""
    table = hermite_table(expression, centre, 4, 2 * TERMS - 2, BITS)
    f, fourth = (arb_poly([table[power][2 * n] / (2**n * math.factorial(n)) for n in range(TERMS)]) for power in (2, 4))
    # With phi^2 <= R the tails are at most (R/2)|t|^m/(1-|t|) of f and (R^2/2)|t|^m/(1-|t|) of G.  Of f^2, with f = P + tail, it is
    # tail (f + P), |f + P| <= 2R + R/2: in all (3/4) R |t|^m of f and (3/4 + 15/8) R^2 |t|^m of G - f^2 where |t| <= 1/3.
    return Cell(centre, f, fourth - f * f)


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
