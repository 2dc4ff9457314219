"""Overlaps of two inputs by comparison with a linear map (section 4 of the format)."""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from typing import Any

from flint import arb, arb_poly

from theoryck.proving.checker.expectations import REACH, Activation, derivative, tail
from theoryck.proving.checker.fields import (
    DERIVED,
    TIGHT,
    as_it_is,
    bounds,
    even_number,
    exact,
    fields,
    items,
    need,
    number,
    unit,
)
from theoryck.proving.checker.norms import cells_of, compare, divided, holds, moment_roots, next_moments

NUMBERS = dict.fromkeys(("image", "squared", "tilt", "ratio", "rest"), number)


def check_layer(phi: Activation, sigma: arb, after: arb, top: arb, layer: list[Any], field: str) -> None:
    """Refuse iota, alpha', delta', kappa, kappa' of a layer unless their inequalities are seen (section 4)."""
    cells, image, squared, tilt, ratio, rest = layer[6:]
    slope = phi.expand(sigma)[2][0] ** 2
    size = after / sigma
    bounds(image, after, f"{field}.image", TIGHT, after)
    bounds(squared, slope, f"{field}.squared", TIGHT, size)
    tilts, ratios, rests = [], [], []
    for c, low, high, sign, central in cells_of(sigma, cells, f"{field}.cells"):
        f, _, r = phi.expand(c)
        over, under = r * r - slope, sign * arb_poly([c - sigma, c])
        tilts.append((low, high, *((sign * divided(over, 1), arb_poly([c])) if central else (over, under))))
        ratios.append((low, high, f, arb_poly([c, c])))
        rests.append((low, high, f - arb_poly([c, c]) * r * r, arb_poly([c, c])))
    # s <= s0: with |phi(x)| <= m |x| where |x| <= 12 √s0, |phi| <= √R and v = √(s0/s) >= 1
    # f(s)/s <= m² + (R/s0) v² P(|Z| > 12 v) and |r(s)| <= m + √(R/s0) v E[|Z|, |Z| > 12 v], and v <= |Z|/12 there.
    s0, s1 = sigma * arb(2) ** cells[0] * (1 - exact(REACH)), sigma * arb(2) ** cells[1] * (1 + exact(REACH))
    # By parts E phi'(√s Z) = v P(|Z| <= 12) + e, v a value of phi' there, |e| <= 4 √R p(12)/√s0 with the normal density p.
    slopes = derivative(phi.tree, arb(0, (12 * s0.sqrt()).upper()))
    m, error = slopes.abs_upper(), 4 * (top / s0).sqrt() * arb(-72).exp() / (2 * arb.pi()).sqrt()
    least = (slopes.abs_lower() * (1 - tail(0)) - error).max(arb(0))
    near_f, near_r = m**2 + top / s0 * tail(2) / 144, m + (top / s0).sqrt() * tail(2) / 12
    holds(tilt, tilts, [(near_r**2 - slope) / (sigma - s0), (top / s1 - slope) / (s1 - sigma)], (1,), f"{field}.tilt", size / sigma)
    holds(ratio, ratios, [near_f, top / s1], (1,), f"{field}.ratio", size)
    holds(rest, rests, [near_f - least**2, top / s1], (1,), f"{field}.rest", size)


def overlap_moments(order: int, count: int, root: arb, top: arb, norms: list[arb], even: list[arb], layer: list[Any]) -> list[arb]:
    """The numbers H'_(l+1,j), j = 2, 4, ..., 2 count, from H_(l,j), H'_(l,j) and the layer."""
    chord, (image, squared, tilt, ratio, rest) = layer[3], layer[7:]
    h, g = moment_roots(norms, order), moment_roots(even, order)
    tau = 1 / (number(layer[0], "centre") - exact(unit(layer[0])))
    gamma = [ratio**r * g[r] for r in range(order + 1)]
    for r in range(1, order // 2 + 1):
        both = (h[2 * r] * g[2 * r]).root(2 * r)
        far = 2 * rest * tau * (g[2 * r].root(r) + 2 * both) * root
        if 3 * r <= order:
            far = far.min(4 * rest * tau**2 * (g[3 * r].root(r) + 2 * (h[3 * r] ** 2 * g[3 * r]).root(3 * r)) * root**2)
        gamma[r] = gamma[r].min((squared * g[r].root(r) + tilt * both * root + far) ** r)

    @functools.cache
    def spread(t: int) -> arb:
        """b_t."""
        far = chord**2 * h[2 * t].root(t) + top**2 * tau**2 * (g[2 * t].root(t) + 2 * h[2 * t].root(t))
        return 2 * chord * image * h[t].root(t) + far * root

    @functools.cache
    def mixed(p: int, m: int) -> arb:
        """w'_(p,m)."""
        crude, total = top ** (2 * m) * gamma[p], image ** (2 * m) * gamma[p]
        if 2 * (p + m) > order:
            return crude
        for u in range(1, m + 1):
            term = (gamma[p + u] ** p).root(p + u) * (spread(p + u) * root) ** u
            total += math.comb(m, u) * image ** (2 * (m - u)) * term
        return total.min(crude)

    return next_moments(count, root, 2 * top, gamma, mixed)


def check_overlaps(statement: list[Any]) -> str:
    """Overlaps of two inputs (section 4)."""
    text, depth, k, start, constant, proof = statement
    fields(range=as_it_is, top=even_number(k), layers=as_it_is, moments=as_it_is, overlaps=as_it_is)(proof, "proof")
    order, root, counts = proof["top"], exact(Fraction(start)).rsqrt(), [proof["top"] // 2] * depth + [(k + 1) // 2]
    phi, size, layers, found = compare(text, depth, start, proof, counts[:-1], NUMBERS)
    top = size.top
    need(phi.parity == -1, "activation", f"{text} is not seen to be odd")
    lists = items(depth + 1, as_it_is)(proof["overlaps"], "proof.overlaps")
    even: list[arb] = []
    for i, count in enumerate(counts):
        if i:
            check_layer(phi, found[i - 1][0], found[i][0], top, layers[i - 1], f"proof.layers[{i - 1}]")
            true = overlap_moments(order, count, root, top, found[i - 1][1], even, layers[i - 1])
        else:
            products = [math.prod((1 + Fraction(2 * u, start)) * (2 * u + 1) for u in range(j)) for j in range(1, count + 1)]
            true = [exact(Fraction(each)) for each in products]
        stated = items(count, number)(lists[i], f"proof.overlaps[{i}]")
        even = [arb(1)] + [bounds(*pair, f"proof.overlaps[{i}][{j}]", DERIVED) for j, pair in enumerate(zip(stated, true))]
    bounds(constant, moment_roots(even, k)[k], "constant", DERIVED)
    return f"E|x_{depth} . x'_{depth}|^{k} <= {{constant}} d^(-{k}/2) for every d >= {start} and all widths >= d"
