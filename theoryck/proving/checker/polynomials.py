"""Norm deviations of polynomial activations, whose moments are polynomials in 1/d_0, ..., 1/d_L (section 8 of the format)."""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from typing import Any

from flint import arb, fmpq, fmpq_mpoly, fmpq_mpoly_ctx, fmpq_poly

from theoryck.proving.checker.expectations import parse
from theoryck.proving.checker.fields import DERIVED, bounds, bounds_below, exact, fields, need
from theoryck.proving.checker.moments import partition_sums

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


def norm_moments(phi: fmpq_poly, depth: int, order: int) -> list[fmpq_mpoly]:
    """E X_L^j, j = 0, ..., order, as polynomials in t_0, ..., t_L, beside s."""
    ring = fmpq_mpoly_ctx.get(("s", *(f"t{i}" for i in range(depth + 1))))
    s, *t = ring.gens()
    one, largest = 0 * s + 1, order * max(1, int(phi.degree())) ** max(0, depth - 1)  # powers of S_1 that are met

    def copy(a: int) -> fmpq_mpoly:
        """M_a(s)."""
        power = phi ** (2 * a)
        return sum((power[2 * b] * math.prod(range(1, 2 * b, 2)) * s**b for b in range(power.degree() // 2 + 1)), 0 * s)

    copies = [copy(a) for a in range(largest + 1)]
    parts = partition_sums(largest, copies, least=1)

    @functools.cache
    def step(i: int, layer: int) -> fmpq_mpoly:
        """E[S_l^i | S_(l-1) = s] for l = layer."""
        x, found, falling = t[layer], one * int(i == 0), one
        for m in range(1, i + 1):
            falling = falling * (1 - (m - 1) * x)
            found = found + falling * x ** (i - m) * parts[i][m]
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
        sigma = sum((c * sigma ** int(powers[0]) for powers, c in copies[1].to_dict().items()), fmpq(0))
    means = [mean(i) for i in range(order + 1)]
    return [sum((math.comb(j, i) * (-sigma) ** (j - i) * means[i] for i in range(j + 1)), 0 * s) for j in range(order + 1)]


def check_polynomials(statement: dict[str, Any]) -> None:
    """Norm deviations of polynomial activations, from above, and from below where ``least`` is stated (section 8)."""
    text, depth, k, start = (statement[key] for key in ("activation", "depth", "power", "from"))
    fields()(statement["proof"], "proof")
    phi, order = polynomial(parse(text)), k + k % 2
    need(phi.degree() >= 0, "activation", f"{text} is 0")
    need(phi.degree() ** depth * order <= LARGEST, "power", f"moments of |x_0|^2 of order above {LARGEST} would be taken")
    terms = []
    for j, each in enumerate(norm_moments(phi, depth, order)):
        sums = [(int(sum(powers)) - j // 2, Fraction(int(c.p), int(c.q))) for powers, c in each.to_dict().items()]
        need(j % 2 == 1 or all(size >= 0 for size, _ in sums), "power", "a term decays too slowly")
        terms.append(sums)

    def largest(j: int) -> arb:
        """p_j."""
        return exact(sum((max(c, Fraction(0)) / Fraction(start) ** size for size, c in terms[j]), Fraction(0)))

    bounds(statement["constant"], largest(k) if k % 2 == 0 else (largest(k - 1) * largest(k + 1)).sqrt(), "constant", DERIVED)
    if "least" in statement:
        need(k % 2 == 0, "least", "it is stated for even powers")
        by_size = [sum((c for size, c in terms[k] if size == m), Fraction(0)) for m in range(1 + max(size for size, _ in terms[k]))]
        least = by_size[0] + sum(min(b, Fraction(0)) / Fraction(start) ** m for m, b in enumerate(by_size) if m)
        bounds_below(statement["least"], exact(least), "least", DERIVED)
