"""Norm deviations of polynomial activations, whose moments are polynomials in 1/d_0, ..., 1/d_L (section 8 of the format)."""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from typing import Any

from flint import arb, fmpq, fmpq_mpoly, fmpq_mpoly_ctx, fmpq_poly

from theoryck.proving.checker.expectations import parse
from theoryck.proving.checker.fields import DERIVED, bounds, bounds_below, exact, fields, need

LARGEST = 150  # moments of |x_0|^2 up to this order are taken: more would take minutes


def polynomial(tree: Any) -> fmpq_poly:
    """The activation as a polynomial in x with rational coefficients."""
    if isinstance(tree, Fraction):
        return fmpq_poly([fmpq(tree.numerator, tree.denominator)])
    need(isinstance(tree, tuple) and tree[0] in ("x", "+", "*", "power"), "activation", "it is no rational polynomial")
    if tree == ("x",):
        return fmpq_poly([0, 1])
    a = polynomial(tree[1])
    if tree[0] == "power":
        need(tree[2] > 0 or (a.degree() == 0 and a[0] != 0), "activation", "it is divided by what is no number")
        need(a.degree() * tree[2] <= LARGEST, "activation", f"its degree is above {LARGEST}")
        return a ** tree[2] if tree[2] > 0 else fmpq_poly([1 / a[0]])
    b = polynomial(tree[2])
    return a + b if tree[0] == "+" else a * b


def norm_moments(phi: fmpq_poly, depth: int, order: int) -> tuple[fmpq, list[fmpq_mpoly]]:
    """sigma_L and E X_L^j, j = 0, ..., order, as polynomials in t_0, ..., t_L, beside s."""
    ring = fmpq_mpoly_ctx.get(("s", *(f"t{i}" for i in range(depth + 1))))
    s, *t = ring.gens()
    one = 0 * s + 1

    @functools.cache
    def copy(a: int) -> fmpq_mpoly:
        """M_a(s)."""
        power = phi ** (2 * a)
        return sum((power[2 * b] * math.prod(range(1, 2 * b, 2)) * s**b for b in range(power.degree() // 2 + 1)), 0 * s)

    @functools.cache
    def parts(i: int, m: int) -> fmpq_mpoly:
        """The sum of c(pi) prod M_a over the partitions of i into m parts, by the part of the last element."""
        if i < m or m == 0:
            return one * int(i == m == 0)
        return sum((math.comb(i - 1, a - 1) * copy(a) * parts(i - a, m - 1) for a in range(1, i - m + 2)), 0 * s)

    @functools.cache
    def step(i: int, layer: int) -> fmpq_mpoly:
        """E[S_l^i | S_(l-1) = s] for l = layer."""
        x, found, falling = t[layer], one * int(i == 0), one
        for m in range(1, i + 1):
            falling = falling * (1 - (m - 1) * x)
            found = found + falling * x ** (i - m) * parts(i, m)
        return found

    def mean(i: int) -> fmpq_mpoly:
        """E S_L^i, from the last layer to the first."""
        found = s**i
        for layer in range(depth, -1, -1):
            by_power: dict[int, dict[tuple[int, ...], fmpq]] = {}
            for (power, *rest), c in found.to_dict().items():
                by_power.setdefault(int(power), {})[0, *rest] = c
            found = 0 * s
            for power, coefficients in by_power.items():
                start = math.prod((1 + 2 * u * t[0] for u in range(power)), start=one)
                found = found + ring.from_dict(coefficients) * (step(power, layer) if layer else start)
        return found

    sigma = fmpq(1)
    for _ in range(depth):
        sigma = sum((c * sigma ** int(powers[0]) for powers, c in copy(1).to_dict().items()), fmpq(0))
    means = [mean(i) for i in range(order + 1)]
    central = [sum((math.comb(j, i) * (-sigma) ** (j - i) * means[i] for i in range(j + 1)), 0 * s) for j in range(order + 1)]
    return sigma, central


def check_polynomials(statement: list[Any]) -> str:
    """Norm deviations of polynomial activations, from above, and from below where ``least`` is stated (section 8)."""
    text, depth, k, start, constant, proof, *least = statement
    fields()(proof, "proof")
    phi, order = polynomial(parse(text)), k + k % 2
    need(phi.degree() >= 0, "activation", f"{text} is 0")
    need(phi.degree() ** depth * order <= LARGEST, "power", f"moments of |x_0|^2 of order above {LARGEST} would be taken")
    _, central = norm_moments(phi, depth, order)
    terms = [[(int(sum(powers)), Fraction(int(c.p), int(c.q))) for powers, c in each.to_dict().items()] for each in central]
    need(all(2 * size >= j for j in range(2, order + 1, 2) for size, _ in terms[j]), "power", "a term decays too slowly")

    def largest(j: int) -> arb:
        """p_j."""
        return exact(sum((max(c, Fraction(0)) * Fraction(start) ** (j // 2 - size) for size, c in terms[j]), Fraction(0)))

    true = largest(k) if k % 2 == 0 else (largest(k - 1) * largest(k + 1)).sqrt()
    bounds(constant, true, "constant", DERIVED)
    said = f"E| |x_{depth}|^2 - sigma_{depth} |^{k} <= {{constant}} d^(-{k}/2)"
    if not least:
        return f"{said} for every d >= {start} and all widths >= d"
    need(k % 2 == 0, "least", "it is stated for even powers")
    sums: dict[int, Fraction] = {}
    for size, c in terms[k]:
        sums[size] = sums.get(size, Fraction(0)) + c
    later = (min(c, Fraction(0)) * Fraction(start) ** (k // 2 - size) for size, c in sums.items() if 2 * size > k)
    bounds_below(least[0], exact(sums.get(k // 2, Fraction(0)) + sum(later)), "least", DERIVED)
    both = f"{{least}} d^(-{k}/2) <= {said}"
    return f"{both} for every d >= {start}, from below where all widths are d, from above where they are >= d"
