"""Piecewise polynomials in closed form: E[P(Z) He_m(Z) 1(a < Z < b)] by recurrences, with rounding as the only error.

E[He_m(Z) 1(Z > a)] = He_{m-1}(a) phi(a) for m >= 1, because (He_{m-1} phi)' = -He_m phi, and z He_m = He_{m+1} + m He_{m-1}.
"""

from __future__ import annotations

from flint import arb
from sympy import Expr

from theoryck.numerics.functions.pieces import number_ball
from theoryck.numerics.functions.trees import constant_ball

Parts = tuple[tuple[Expr | None, Expr | None, tuple[Expr, ...]], ...]


def tail_coefficients(edge: arb | None, count: int) -> list[arb]:
    """Return E[He_m(Z) 1(Z > edge)] for m < count (edge None: minus infinity)."""
    if edge is None:
        return [arb(int(m == 0)) for m in range(count)]
    density = (-edge * edge / 2).exp() / (2 * arb.pi()).sqrt()
    values = [(edge / arb(2).sqrt()).erfc() / 2]
    last, here = arb(0), arb(1)
    for m in range(1, count):
        values.append(here * density)
        last, here = here, edge * here - (m - 1) * last
    return values


def polynomial_table(parts: Parts, s: arb, powers: int, orders: int) -> list[list[arb]]:
    """Return ``table[j][m]`` = E[phi(sqrt(s) Z)^j He_m(Z)] for a piecewise polynomial phi, at the current precision."""
    table = [[arb(0)] * (orders + 1) for _ in range(powers + 1)]
    root = s.sqrt()
    for left, right, coefficients in parts:
        scaled = [constant_ball(c) * root**p for p, c in enumerate(coefficients)]
        count = orders + 1 + powers * (len(scaled) - 1)
        base = tail_coefficients(None if left is None else number_ball(left) / root, count)
        if right is not None:
            base = [a - b for a, b in zip(base, tail_coefficients(number_ball(right) / root, count))]
        product = base  # E[P^j He_m 1] for all m, one factor P at a time
        for j in range(powers + 1):
            if j:
                product = _times_polynomial(product, scaled)
            for m in range(orders + 1):
                table[j][m] += product[m]
    return table


def polynomial_mean(parts: Parts, s: arb) -> arb:
    """Return E P(X), X ~ N(0, s), for a piecewise polynomial P.

    T_n = E[X^n 1(X > e)] has T_0 = erfc(e/sqrt(2s))/2, T_1 = s density(e), T_n = s e^(n-1) density(e) + s (n-1) T_(n-2): no root
    of s enters where e is 0 or infinite and n is even, so that such moments are exact.
    """
    total = arb(0)
    for left, right, coefficients in parts:
        count = len(coefficients)
        moments = _truncated_moments(left, s, count)
        if right is not None:
            moments = [a - b for a, b in zip(moments, _truncated_moments(right, s, count))]
        for coefficient, moment in zip(coefficients, moments):
            if coefficient != 0:
                total += constant_ball(coefficient) * moment
    return total


def _truncated_moments(edge: Expr | None, s: arb, count: int) -> list[arb]:
    if edge is None:
        moments, edges = [arb(1), arb(0)], [arb(0)] * count
    else:
        e = number_ball(edge)
        density = (-e * e / (2 * s)).exp() / (2 * arb.pi() * s).sqrt()
        edges = [s * e**n * density for n in range(count)]
        moments = [(e / (2 * s).sqrt()).erfc() / 2, s * density]
    for n in range(2, count):
        moments.append(edges[n - 1] + s * (n - 1) * moments[n - 2])
    return moments[:count]


def _times_polynomial(values: list[arb], coefficients: list[arb]) -> list[arb]:
    """From E[F He_m] to E[F P He_m]; the list shortens by the degree of P."""
    length = len(values) - len(coefficients) + 1
    total = [coefficients[0] * value for value in values[:length]]
    power = values
    for coefficient in coefficients[1:]:
        power = [power[m + 1] + (m * power[m - 1] if m else 0) for m in range(len(power) - 1)]
        total = [a + coefficient * b for a, b in zip(total, power)]
    return total


def is_affine(parts: Parts) -> Expr | None:
    """Return the constant b if the function is a x + b on the whole line, else None."""
    if len(parts) == 1 and len(parts[0][2]) <= 2:
        return parts[0][2][0]
    return None
