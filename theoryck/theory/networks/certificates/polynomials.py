"""Norm deviations of polynomial activations: E|X_L|^k is a polynomial in the reciprocals of the widths.

The lemmas are those of :mod:`theoryck.records.certificates`, section 8.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import comb, prod

import sympy
from flint import fmpq, fmpq_mpoly, fmpq_mpoly_ctx, fmpq_poly
from sympy import Expr

from theoryck.numerics.balls import precision
from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.functions.expression import x
from theoryck.quantities.base import NoCertificate
from theoryck.records import Certificate
from theoryck.theory.networks.certificates.cells import BITS
from theoryck.theory.networks.certificates.decimals import ball, certificate, rounded_down, rounded_up

LARGEST_WORK = 60
"""Of half the degree of phi^(2 k) in the input: beyond it the moments take minutes."""

Terms = dict[tuple[int, ...], Fraction]
"""A polynomial in t_0, ..., t_L: exponents and coefficients."""


@lru_cache(maxsize=256)
def coefficients(expression: Expr) -> tuple[Fraction, ...] | None:
    """Return the coefficients c_0, c_1, ... of phi^2 for a polynomial with rational coefficients, None for another function.

    >>> coefficients(Activation("x**2/2 - 1").expression), coefficients(Activation("tanh").expression)
    ((Fraction(1, 1), Fraction(0, 1), Fraction(-1, 1), Fraction(0, 1), Fraction(1, 4)), None)
    """
    if not expression.is_polynomial(x):
        return None
    if not all(c.is_Rational for c in sympy.Poly(expression, x).all_coeffs()):
        return None
    found = sympy.Poly(expression**2, x).all_coeffs()[::-1]
    return tuple(Fraction(int(c.p), int(c.q)) for c in found)


def layer_moments(squared: Sequence[Fraction], top: int) -> list[fmpq_poly]:
    """Return M_0(s), ..., M_top(s), M_a(s) = E phi(sqrt(s) Z)^(2a), from the coefficients of phi^2.

    >>> layer_moments([Fraction(0), Fraction(0), Fraction(4)], 2)[2]  # 48 s^2
    48*x^2
    """
    square = fmpq_poly([fmpq(c.numerator, c.denominator) for c in squared])
    return [
        fmpq_poly([power[2 * n] * prod(range(1, 2 * n, 2)) for n in range(power.degree() // 2 + 1)])
        for power in (square**a for a in range(top + 1))
    ]


@lru_cache(maxsize=64)
def moments(squared: tuple[Fraction, ...], depth: int, top: int) -> list[Terms]:
    """Return E X_L^j, j = 0, ..., top, as polynomials in t_l = 1/d_l.

    >>> moments((Fraction(0), Fraction(0), Fraction(1)), 1, 2)[2] == {(1, 0): 2, (0, 1): 2, (1, 1): 4}  # (1 + 2t)(1 + 2t') - 1
    True
    """
    names = tuple(f"t{layer}" for layer in range(depth + 1))
    ring = fmpq_mpoly_ctx.get(names, "degrevlex")
    t = ring.gens()
    single = layer_moments(squared, top)
    # E S_L^i = sum_n of polynomials in t_(l+1..L) times s^n, s = S_l: from the last layer to the input.
    found: list[dict[int, fmpq_mpoly]] = [{i: ring.constant(1)} for i in range(top + 1)]
    highest = top
    for layer in range(depth, 0, -1):
        single = layer_moments(squared, highest)
        steps = [_step(i, single, ring, t[layer]) for i in range(highest + 1)]
        found = [_composed(row, steps) for row in found]
        highest = max(max(row) for row in found)
    ends = [prod((1 + 2 * u * t[0] for u in range(n)), start=ring.constant(1)) for n in range(highest + 1)]
    raw = [sum((value * ends[n] for n, value in row.items()), ring.constant(0)) for row in found]
    sigma = fmpq(1)
    for _ in range(depth):
        sigma = layer_moments(squared, 1)[1](sigma)
    centred = [sum((comb(j, i) * (-sigma) ** (j - i) * raw[i] for i in range(j + 1)), ring.constant(0)) for j in range(top + 1)]
    return [{tuple(map(int, e)): Fraction(int(c.p), int(c.q)) for e, c in value.to_dict().items()} for value in centred]


def _composed(row: dict[int, fmpq_mpoly], steps: Sequence[dict[int, fmpq_mpoly]]) -> dict[int, fmpq_mpoly]:
    """Return a polynomial in S_(l+1) in its mean given S_l."""
    total: dict[int, fmpq_mpoly] = {}
    for power, factor in row.items():
        for n, value in steps[power].items():
            total[n] = total[n] + factor * value if n in total else factor * value
    return total


def _step(i: int, single: Sequence[fmpq_poly], ring: fmpq_mpoly_ctx, t: fmpq_mpoly) -> dict[int, fmpq_mpoly]:
    """Return E[S_(l+1)^i | S_l = s] as powers of s, with coefficients in t = 1/d_(l+1).

    The partitions into m parts together weigh B_(i,m), the partial Bell polynomial of M_1, M_2, ...
    """
    total: dict[int, fmpq_mpoly] = {}
    for m, bell in enumerate(_bell(i, single)):
        weight = t ** (i - m) * prod((1 - u * t for u in range(m)), start=ring.constant(1))
        for n, value in enumerate(bell.coeffs()):
            if value:
                total[n] = total[n] + value * weight if n in total else value * weight
    return total


def _bell(i: int, single: Sequence[fmpq_poly]) -> list[fmpq_poly]:
    """Return B_(i,0), ..., B_(i,i): B_(i,m) = i!/m! times the coefficient of y^i in (sum_a M_a y^a/a!)^m."""
    rows = [[fmpq_poly([1 if i == m == 0 else 0]) for m in range(i + 1)] for i in range(i + 1)]
    for size in range(1, i + 1):
        for m in range(1, size + 1):
            rows[size][m] = sum(
                (comb(size - 1, a - 1) * single[a] * rows[size - a][m - 1] for a in range(1, size - m + 2)), fmpq_poly([0])
            )
    return rows[i]


def too_long(squared: Sequence[Fraction], depth: int, power: int) -> str | None:
    """Return why the moments take too long, None where they do not."""
    work = (power + power % 2) * ((len(squared) - 1) // 2) ** depth
    if work <= LARGEST_WORK:
        return None
    return (
        f"the moments of a polynomial phi of degree {(len(squared) - 1) // 2} at depth {depth} are those of degree {2 * work} of "
        f"the input, above {2 * LARGEST_WORK}: take a smaller depth or power"
    )


def polynomial_certificate(activation: Activation, depth: int, power: int, start: int = 1) -> Certificate:
    """Return the certificate of method "polynomial"; NoCertificate for another phi, or where its moments take too long.

    >>> found = polynomial_certificate(Activation("x**2"), depth=1, power=2, start=10**6)  # 2 (f')^2 + Var Z^4, f = 3 s^2
    >>> found.constant, found.least
    ('168.0...', '168')
    """
    squared = coefficients(activation.expression)
    if squared is None:
        raise NoCertificate(f"phi(x) = {activation.text} is no polynomial with rational coefficients")
    reason = too_long(squared, depth, power)
    if reason is not None:
        raise NoCertificate(reason)
    top = power + power % 2
    found = moments(squared, depth, top)

    def bound(j: int) -> Fraction:
        terms = found[j].items()
        return sum((c / Fraction(start) ** (sum(e) - j // 2) for e, c in terms if c > 0), Fraction(0)) if j else Fraction(1)

    least = None
    if power % 2 == 0:
        orders: dict[int, Fraction] = {}
        for e, c in found[power].items():
            orders[sum(e)] = orders.get(sum(e), Fraction(0)) + c
        least = sum((c / Fraction(start) ** (m - power // 2) for m, c in orders.items() if c < 0 or 2 * m == power), Fraction(0))
    with precision(BITS):
        value = ball(bound(power)) if power % 2 == 0 else (ball(bound(power - 1)) * ball(bound(power + 1))).sqrt()
        constant = rounded_up(value, 7)
        low = rounded_down(ball(least), 7) if least is not None and least > 0 else Decimal(0)
    return certificate("norm-deviation", "polynomial", activation, (depth, power, start), constant, {}, low)
