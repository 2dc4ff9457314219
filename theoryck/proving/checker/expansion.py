"""Norm deviations to the second order (section 9 of the format)."""

from __future__ import annotations

import math
from typing import Any

from flint import arb, arb_poly

from theoryck.proving.checker.fields import (
    DERIVED,
    as_it_is,
    bounds,
    bounds_all,
    bounds_below,
    exact,
    fields,
    integer,
    items,
    need,
    number,
    number_or_zero,
    show,
)
from theoryck.proving.checker.layers import Layer
from theoryck.proving.checker.moments import chi_square_cumulants, moment_roots, partition_sums
from theoryck.proving.checker.norms import Chain, size_of

NUMBERS = dict.fromkeys(("bend", "third", "tilt", "sway"), number)


def check_layer(layer: Layer) -> None:
    """Refuse beta, T, eta, P of a layer unless their inequalities are seen (section 9)."""
    after, slope, half, lean, x, size = layer.after, layer.slope, layer.second / 2, layer.lean, layer.x, layer.natural
    layer.bound("bend", abs(layer.second), size / layer.sigma)
    layer.bound("tilt", abs(lean), size * after)
    ends = [(layer.most + abs(slope) * x + abs(half) * x**2) / x**3]
    layer.prove("third", size / layer.sigma**2, 3, lambda f, mu, r, x: f - after - slope * x - half * x * x, ends)
    ends = [(layer.size.deviation(layer.sigma + x) ** 2 + abs(lean) * x) / x**2]
    layer.prove("sway", size**2, 2, lambda f, mu, r, x: mu - layer.spread - lean * x, ends)


def first_orders(order: int, root: arb) -> list[list[arb]]:
    """U_(0,j), K_(0,j), j = 0, 1, ..., order."""
    found = []
    for j, row in enumerate(partition_sums(order, chi_square_cumulants(order))):
        top = (j - 1) // 2
        found.append([arb(0), sum((row[m] * root ** (2 * (top - m)) for m in range(1, top + 1)), arb(0))])
    return found


def next_orders(chain: Chain, index: int, last: list[list[arb]]) -> list[list[arb]]:
    """U_(l+1,j), K_(l+1,j), j = 0, 1, ..., k+1, from those of layer l = index, and its numbers and moments (the step)."""
    layer, root, order = chain.layers[index], chain.root, len(last) - 1
    keys = ("slope", "curvature", "deviation", "growth", *NUMBERS)
    alpha, curve, noise, growth, bend, third, tilt, sway = (layer.stated[key] for key in keys)
    one, two, spread = arb_poly([0, alpha, curve]), arb_poly([0, alpha, bend / 2, third]), arb_poly([noise**2, tilt, sway])
    pair = spread if chain.size.bounded else arb_poly([noise, growth]) ** 2
    sums, h = partition_sums(order, chain.size.parts(order, layer.plus, pair)), moment_roots(chain.even[index], chain.order)

    def bracket(curve: arb_poly, q: int) -> arb:
        """[F]_q."""
        return sum((e * h[r] * root ** (r - q) for r, e in enumerate(curve.coeffs()) if r >= q), arb(0))

    found = [[arb(0), arb(0)]]
    for j in range(1, order + 1):
        u, k, odd = arb(0), arb(0), j % 2
        for i in range(j + 1):
            p, m, ways = j - i, i // 2, math.comb(j, i)
            if i == 2 * m and p >= odd:  # parts of 2
                pairs, leading, rough = ways * math.prod(range(1, i, 2)), alpha**p * noise**i, one**p * spread**m
                u += pairs * leading * last[p][0]
                k += pairs * leading * last[p][1]
                if odd:
                    k += pairs * bracket(rough, p + 1)
                else:
                    fine = two**p * spread**m
                    k += pairs * (fine[p + 1] * last[p + 1][1] + bracket(fine, p + 2) + math.comb(m, 2) * bracket(rough, p))
            top = i - 2 + odd
            for n in range(1, top // 2 + 1):
                k += ways * root ** (top - 2 * n) * bracket(one**p * sums[i][n], p)
            if not odd and 1 < i == 2 * m + 1:
                u += ways * bracket(one**p * sums[i][m], p)
        found.append([u, k])
    return found


def check_expansion(statement: dict[str, Any]) -> None:
    """Norm deviations to the second order (section 9)."""
    depth, k, proof, limit, remainder = (statement[key] for key in ("depth", "power", "proof", "limit", "remainder"))
    need(k % 2 == 0, "power", f"{k} is odd")
    known = dict.fromkeys((size_of(proof), "layers", "moments", "odd", "even"), as_it_is)
    fields(top=integer(3 * k, 40, step=2), **known)(proof, "proof")
    chain = Chain(statement, [proof["top"] // 2] * depth, NUMBERS)
    lists = [items(depth + 1, as_it_is)(proof[name], f"proof.{name}") for name in ("odd", "even")]
    v, true = arb(2), first_orders(k + 1, chain.root)
    for i in range(depth + 1):
        odds, evens = (range(1, k + 2, 2), range(2, k + 1, 2)) if i < depth else ((), (k,))
        stated = [[arb(0), arb(0)] for _ in true]
        for j, each in zip(odds, bounds_all(lists[0][i], [true[j][1] for j in odds], f"proof.odd[{i}]", number_or_zero)):
            stated[j][1] = each
        for j, pair in zip(evens, items(len(evens), as_it_is)(lists[1][i], f"proof.even[{i}]")):
            stated[j] = bounds_all(pair, true[j], f"proof.even[{i}][{evens.index(j)}]", number_or_zero)
        if i < depth:
            layer = chain.layers[i]
            check_layer(layer)
            v, true = layer.slope**2 * v + layer.spread, next_orders(chain, i, stated)
    need(bool(limit[0] <= v) and bool(v <= limit[1]), "limit", f"{show(v)} is not seen to lie in it")
    need(limit[1] <= exact(DERIVED) * limit[0], "limit", "its ends are too far from each other")
    need([remainder] == lists[1][depth], "remainder", "it is not the last pair of proof.even")
    rest = stated[k][0] * chain.root + stated[k][1] * chain.root**2
    low, high = (math.prod(range(1, k, 2)) * end ** (k // 2) for end in limit)
    bounds(statement["constant"], high + rest, "constant", DERIVED)
    bounds_below(statement["least"], low - rest, "least", DERIVED)
