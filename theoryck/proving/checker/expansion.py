"""Norm deviations to the second order (section 9 of the format)."""

from __future__ import annotations

import itertools
import math
from typing import Any

from flint import arb, arb_poly

from theoryck.proving.checker.envelopes import Growth, Range
from theoryck.proving.checker.expectations import Activation
from theoryck.proving.checker.fields import (
    DERIVED,
    TIGHT,
    as_it_is,
    bounds,
    bounds_below,
    even_number,
    exact,
    fields,
    items,
    need,
    number,
    number_or_zero,
    show,
    unit,
)
from theoryck.proving.checker.norms import Piece, cells_of, compare, divided, holds, moment_roots, near, reach_of, size_of

NUMBERS = dict.fromkeys(("bend", "third", "tilt", "sway"), number)


def check_layer(phi: Activation, sigma: arb, size: Range | Growth, layer: list[Any], field: str) -> None:
    """Refuse beta, T, eta, P of a layer unless their inequalities are seen (section 9)."""
    cells, bend, third, tilt, sway = layer[6:]
    f, fourth, _ = phi.expand(sigma)
    mu = fourth - f * f
    after, slope, second, noise, lean = f[0], f[1] / sigma, 2 * f[2] / sigma**2, mu[0], mu[1] / sigma
    natural = after / sigma
    bounds(bend, abs(second), f"{field}.bend", TIGHT, natural / sigma)
    bounds(tilt, abs(lean), f"{field}.tilt", TIGHT, natural * after)
    thirds: list[Piece] = []
    sways: list[Piece] = []
    for c, low, high, sign, central in cells_of(sigma, cells, f"{field}.cells"):
        f, fourth, _ = phi.expand(c)
        x = arb_poly([c - sigma, c])
        over, under = [f - after - slope * x - second / 2 * x * x, fourth - f * f - noise - lean * x], [sign * x * x * x, x * x]
        if central:
            over, under = [sign * divided(over[0], 3), divided(over[1], 2)], [arb_poly([c**3]), arb_poly([c**2])]
        thirds.append((low, high, over[0], under[0]))
        sways.append((low, high, over[1], under[1]))
    # x = -y near to 0; at s = 0 itself, too, where f is phi(0)^2 and mu_2 is 0; far out at s = sigma + x.
    s0, x = reach_of(sigma, cells)
    (f, start, spread), y = near(phi, size, s0), (sigma - s0).union(sigma)
    most = after.max((size.mean(sigma) - after).max(arb(0)) + size.steep * x)
    ends = [
        abs(f - after + slope * y - second / 2 * y**2) / y.lower() ** 3,
        abs(start - after + slope * sigma - second / 2 * sigma**2),
    ]
    ends = [ends[0], ends[1] / sigma**3, (most + abs(slope) * x + abs(second) / 2 * x**2) / x**3]
    holds(third, thirds, ends, (1, -1), f"{field}.third", natural / sigma**2)
    ends = [(spread - noise + lean * y) / y.lower() ** 2, (noise - lean * y) / y.lower() ** 2, abs(noise - lean * sigma) / sigma**2]
    ends.append((size.deviation(sigma + x) ** 2 + abs(lean) * x) / x**2)
    holds(sway, sways, ends, (1, -1), f"{field}.sway", natural**2)


def partitions(order: int, part: list[Any]) -> list[list[Any]]:
    """The sums over the partitions pi of i into m parts >= 2 of c(pi) prod part[a], as [i][m]: by the part of the last element."""
    found = [[part[0] ** 0 * int(i == m == 0) for m in range(order + 1)] for i in range(order + 1)]
    for i, m in itertools.product(range(2, order + 1), range(1, order // 2 + 1)):
        found[i][m] += sum((math.comb(i - 1, a - 1) * part[a] * found[i - a][m - 1] for a in range(2, i + 1)), 0 * part[0])
    return found


def first_orders(order: int, root: arb) -> list[tuple[arb, arb]]:
    """U_(0,j), K_(0,j), j = 0, 1, ..., order."""
    sums = partitions(order, [arb(0), arb(0), *(arb(2 ** (a - 1) * math.factorial(a - 1)) for a in range(2, order + 1))])
    tops = [(j - 1) // 2 for j in range(order + 1)]
    return [(arb(0), sum((row[m] * root ** (2 * (top - m)) for m in range(1, top + 1)), arb(0))) for row, top in zip(sums, tops)]


def next_orders(
    order: int, root: arb, layer: list[Any], part: list[arb_poly], h: list[arb], last: list[tuple[arb, arb]]
) -> list[tuple[arb, arb]]:
    """U_(l+1,j), K_(l+1,j), j = 0, 1, ..., order, from those of layer l; part[a] is at least |mu_a|, of y = |X_l| (the step)."""
    alpha, curve, noise, (bend, third, tilt, sway) = layer[1], layer[2], layer[4], layer[7:]
    one, two, spread = arb_poly([0, alpha, curve]), arb_poly([0, alpha, bend / 2, third]), arb_poly([noise**2, tilt, sway])
    sums, found = partitions(order, part), [(arb(0), arb(0))]

    def bracket(curve: arb_poly, q: int) -> arb:
        """[F]_q."""
        return sum((e * h[r] * root ** (r - q) for r, e in enumerate(curve.coeffs()) if r >= q), arb(0))

    for j in range(1, order + 1):
        u, k = arb(0), arb(0)
        for i, p in ((i, j - i) for i in range(j + 1)):
            m, ways, even = i // 2, math.comb(j, i), j % 2 == 0
            if i % 2 == 0 and (even or p):
                pairs, leading = ways * math.prod(range(1, i, 2)), alpha**p * noise**i
                u += pairs * leading * last[p][0]
                if even:
                    whole = two**p * spread**m
                    k += pairs * (leading * last[p][1] + whole[p + 1] * last[p + 1][1] + bracket(whole, p + 2))
                    k += pairs * math.comb(m, 2) * bracket(one**p * spread**m, p)
                else:
                    k += pairs * (leading * last[p][1] + bracket(one**p * spread**m, p + 1))
            top = i - 2 if even else i - 1
            for n in range(1, top // 2 + 1):
                k += ways * root ** (top - 2 * n) * bracket(one**p * sums[i][n], p)
            if even and i % 2 and i > 2:
                u += ways * bracket(one**p * sums[i][m], p)
        found.append((u, k))
    return found


def check_expansion(statement: list[Any]) -> str:
    """Norm deviations to the second order (section 9)."""
    text, depth, k, start, constant, proof, least, limit, remainder = statement
    need(k % 2 == 0, "power", f"{k} is odd")
    known = dict.fromkeys((size_of(proof), "layers", "moments", "odd", "even"), as_it_is)
    fields(top=even_number(3 * k), **known)(proof, "proof")
    phi, size, layers, found = compare(text, depth, start, proof, [proof["top"] // 2] * depth, NUMBERS)
    odd, even = (items(depth + 1, as_it_is)(proof[name], f"proof.{name}") for name in ("odd", "even"))
    root, v, true = exact(start).rsqrt(), arb(2), first_orders(k + 1, exact(start).rsqrt())
    for i in range(depth + 1):
        odds, evens = ([*range(1, k + 2, 2)], [*range(2, k + 1, 2)]) if i < depth else ([], [k])
        stated = [(arb(0), arb(0))] * (k + 2)
        for n, (j, each) in enumerate(zip(odds, items(len(odds), number_or_zero)(odd[i], f"proof.odd[{i}]"))):
            stated[j] = arb(0), bounds(each, true[j][1], f"proof.odd[{i}][{n}]", DERIVED)
        for n, (j, pair) in enumerate(zip(evens, items(len(evens), items(2, number_or_zero))(even[i], f"proof.even[{i}]"))):
            stated[j] = tuple(bounds(*both, f"proof.even[{i}][{n}][{e}]", DERIVED) for e, both in enumerate(zip(pair, true[j])))
        if i < depth:
            (sigma, moments), layer = found[i], layers[i]
            check_layer(phi, sigma, size, layer, f"proof.layers[{i}]")
            f, fourth, _ = phi.expand(sigma)
            v = (f[1] / sigma) ** 2 * v + fourth[0] - f[0] ** 2
            most = number(layer[0], "centre") + exact(unit(layer[0]))
            two = arb_poly([layer[4] ** 2, *layer[9:11]]) if isinstance(size, Range) else arb_poly(layer[4:6]) ** 2
            part = [arb_poly([0])] * 2 + [size.part(a, most, two) for a in range(2, k + 2)]
            true = next_orders(k + 1 if i + 1 < depth else k, root, layer, part, moment_roots(moments, proof["top"]), stated)
    need(bool(limit[0] <= v) and bool(v <= limit[1]), "limit", f"{show(v)} is not seen to lie in it")
    need(limit[1] <= exact(DERIVED) * limit[0], "limit", "its ends are too far from each other")
    need([remainder] == even[depth], "remainder", "it is not the last pair of proof.even")
    normal = math.prod(range(1, k, 2))
    low, high = (normal * end ** (k // 2) for end in limit)
    rest = stated[k][0] * root + stated[k][1] * root**2
    bounds(constant, high + rest, "constant", DERIVED)
    bounds_below(least, low - rest, "least", DERIVED)
    value = f"E| |x_{depth}|^2 - sigma_{depth} |^{k}"
    both = f"{{least}} d^(-{k}/2) <= {value} <= {{constant}} d^(-{k}/2), and d^({k}/2) times it is "
    both += f"{normal} v^({k}/2) up to {{remainder[0]}} d^(-1/2) + {{remainder[1]}} d^(-1), {{limit[0]}} <= v <= {{limit[1]}}"
    return f"{both}, for every d >= {start}, from below where all widths are d, from above where they are >= d"
