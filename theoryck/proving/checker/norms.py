"""Norm deviations by comparison with a linear map (section 2 of the format)."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from flint import arb, arb_poly

from theoryck.proving.checker.envelopes import Growth, Range, read_growth
from theoryck.proving.checker.expectations import REACH, Activation, nonnegative
from theoryck.proving.checker.fields import (
    DERIVED,
    TIGHT,
    Reader,
    as_it_is,
    bounds,
    even_number,
    exact,
    fields,
    hull,
    integer,
    items,
    need,
    number,
    show,
    unit,
)

NUMBERS = dict.fromkeys(("slope", "curvature", "chord", "deviation", "growth"), number)


@functools.cache
def ways(i: int, m: int) -> int:
    """The sum of c(pi) over the partitions pi of i into m parts, all >= 2: how often a set of i elements splits so.

    The last element joins one of the m parts of a smaller set, or makes a part with one of the others.
    """
    if i < 2 * m or m == 0:
        return int(i == m == 0)
    return m * ways(i - 1, m) + (i - 1) * ways(i - 2, m - 1)


def mean_moments(kappa: list[arb], root: arb) -> list[arb]:
    """The sums over pi of c(pi) N^(m - j/2) prod |kappa_a|, j = 0, 1, ..., K; root is 1/√N; parts are >= 2.

    By the part of the last element, of which C(j-1, a-1) have a elements; each part brings N^(1 - a/2) |kappa_a|.
    """
    found = [arb(1)]
    for j in range(1, len(kappa)):
        terms = (math.comb(j - 1, a - 1) * abs(kappa[a]) * root ** (a - 2) * found[j - a] for a in range(2, j + 1))
        found.append(sum(terms, arb(0)))
    return found


def chi_square_cumulants(order: int) -> list[arb]:
    """2^(a-1) (a-1)! for a = 2, ..., order, those of Z^2; 0 in the places of 0 and 1."""
    return [arb(0), arb(0), *(arb(2 ** (a - 1) * math.factorial(a - 1)) for a in range(2, order + 1))]


# An interval of t, and two curves on it of which the first is to be at most a stated number times the second.
Piece = tuple[arb, arb, arb_poly, arb_poly]


def holds(stated: arb, pieces: list[Piece], ends: list[arb], signs: tuple[int, ...], field: str, size: arb) -> None:
    """Refuse a number of a layer unless signs * over <= stated * under on all pieces, it is as large as the ends, and tight."""
    seen = functools.reduce(arb.max, [end.lower() for end in ends])
    fits = all(stated >= end.upper() for end in ends)
    for low, high, over, under in pieces:
        fits = fits and all(nonnegative(stated * under - sign * over, low, high) for sign in signs)
        for t in (low + (high - low) * j / 24 for j in range(25)):
            seen = seen.max(functools.reduce(arb.max, [sign * over(t) for sign in signs]).lower() / under(t))
    need(fits, field, f"{show(stated)} is not seen to be large enough")
    bounds(stated, seen, field, TIGHT, size)


def divided(curve: arb_poly, n: int) -> arb_poly:
    """(curve(t) less its terms of degree < n)/t^n."""
    return arb_poly(curve.coeffs()[n:])


def cells_of(sigma: arb, cells: list[int], field: str) -> Iterator[tuple[arb, arb, arb, int, int]]:
    """The pieces of s = c(1 + t): c, the interval of t, the sign of s - sigma, and 1 where c = sigma (then t is cut at 0)."""
    (first, last), reach = cells, exact(REACH)
    need(first <= 0 <= last, field, "0 does not lie between them")
    for i in range(first, last + 1):
        if i:
            yield sigma * arb(2) ** i, -reach, reach, -1 if i < 0 else 1, 0
        else:
            yield from ((sigma, -reach, arb(0), -1, 1), (sigma, arb(0), reach, 1, 1))


def reach_of(sigma: arb, cells: list[int]) -> tuple[arb, arb]:
    """s0 where the first cell begins, and x_1: the last one ends at sigma + x_1."""
    reach = exact(REACH)
    return sigma * arb(2) ** cells[0] * (1 - reach), sigma * (arb(2) ** cells[1] * (1 + reach) - 1)


def near(phi: Activation, size: Range | Growth, s0: arb) -> tuple[arb, arb, arb]:
    """For s <= s0: a ball with f(s), phi(0)^2, and at least E (phi^2 - phi(0)^2)^2 >= mu_2(s), of phi where k <= |Z| < k + 1."""
    chance = [((k + 1) / arb(2).sqrt()).erf() - (k / arb(2).sqrt()).erf() for k in range(11)]
    squares, start = [v * v for v in (phi(arb(0, (k * s0.sqrt()).upper())) for k in range(1, 12))], phi(arb(0)) ** 2
    rest, spread = size.outside(s0, start)
    spread = sum((p * (w - start) * (w - start) for p, w in zip(chance, squares)), spread)
    return sum(map(operator.mul, chance, squares), rest), start, spread


def check_layer(phi: Activation, sigma: arb, size: Range | Growth, layer: list[Any], field: str) -> tuple[arb, list[arb]]:
    """The next sigma, and alpha, B, Lambda, n, delta after a proof of their inequalities (2.2)."""
    centre, alpha, bend, chord, deviation, growth, cells = layer[:7]
    error = abs(sigma - number(centre, f"{field}.centre"))
    close = error <= exact(unit(centre)) and error <= sigma / 1000
    need(close, f"{field}.centre", f"{centre} is not {show(sigma)}, or has too few digits")
    f, fourth, _ = phi.expand(sigma)
    after, slope, noise = f[0], f[1] / sigma, (fourth[0] - f[0] ** 2).sqrt()
    natural = after / sigma  # the size of alpha, Lambda, delta
    bounds(alpha, abs(slope), f"{field}.slope", TIGHT, natural)
    bounds(deviation, noise, f"{field}.deviation", TIGHT, after)
    # Over and under, for chord, curvature, growth; where c = sigma they are divided by |t|, t², |t|, which cancel.
    found: list[list[Piece]] = [[], [], []]
    for c, low, high, sign, central in cells_of(sigma, cells, f"{field}.cells"):
        f, fourth, _ = phi.expand(c)
        x, excess = arb_poly([c - sigma, c]), fourth - f * f - noise**2
        over = [f - after, f - after - slope * x, excess]
        under = [sign * x, x * x, 2 * noise * sign * x + growth * x * x]
        if central:
            over = [divided(f, 1), divided(f, 2), sign * divided(excess, 1)]
            under = [arb_poly([c]), arb_poly([c * c]), arb_poly([2 * noise * c, sign * growth * c * c])]
        for pieces, one, other in zip(found, over, under):
            pieces.append((low, high, one, other))
    s0, x = reach_of(sigma, cells)
    (f, start, spread), y = near(phi, size, s0), sigma - s0
    over = (size.mean(sigma) - after).max(arb(0))
    chords = [size.steep, after / x, over / x + size.steep]
    bends = [(after.max(over + size.steep * x) + abs(slope) * x) / x**2]
    growths = [size.lean, (size.deviation(sigma + x) - noise) / x, (spread - noise**2) / (2 * noise * y + growth * y**2)]
    # The inequalities at s = 0 itself, where f is phi(0)^2, are among those of s <= s0: what is tight there is seen there.
    chords += [abs(f - after) / y, abs(start - after) / sigma]
    bends += [abs(f - after + slope * hull(y, sigma)) / y**2, abs(start - after + slope * sigma) / sigma**2]
    holds(chord, found[0], chords, (1, -1), f"{field}.chord", natural)
    holds(bend, found[1], bends, (1, -1), f"{field}.curvature", natural / sigma)
    holds(growth, found[2], growths, (1,), f"{field}.growth", natural)
    return after, [alpha, bend, chord, deviation, growth]


def moment_roots(even: list[arb], order: int) -> list[arb]:
    """h_0, ..., h_K of 1, H_2, H_4, ... (2.3)."""
    return [even[r // 2] if r % 2 == 0 else (even[r // 2] * even[r // 2 + 1]).sqrt() for r in range(order + 1)]


def next_moments(count: int, root: arb, width: arb, gamma: list[arb], mixed: Callable[[int, int], arb]) -> list[arb]:
    """H_(l+1,j), j = 2, 4, ..., 2 count, of gamma_r and w_(p,m): the step of 2.3, terms lying in an interval of this width."""
    found = []
    for j in range(2, 2 * count + 1, 2):
        pairs = ((i, m) for i in range(2, j + 1) for m in range(1, i // 2 + 1))
        terms = (math.comb(j, i) * ways(i, m) * (root * width) ** (i - 2 * m) * mixed(j - i, m) for i, m in pairs)
        found.append(sum(terms, gamma[j]))
    return found


def norm_moments(
    order: int, count: int, root: arb, size: Range | Growth, centre: str, even: list[arb], layer: list[arb]
) -> list[arb]:
    """The numbers H_(l+1,j), j = 2, 4, ..., 2 count, from those of layer l and its alpha, B, Lambda, n, delta (2.3, 7)."""
    (alpha, bend, chord, noise, growth), h = layer, moment_roots(even, order)
    gamma = [chord**r * h[r] for r in range(order + 1)]
    for r in range(1, order // 2 + 1):
        gamma[r] = gamma[r].min((alpha * h[r].root(r) + bend * h[2 * r].root(r) * root) ** r)
    if isinstance(size, Growth):
        return size.next_moments(count, root, number(centre, "centre") + exact(unit(centre)), layer, gamma, h)
    top = size.top

    @functools.cache
    def mixed(p: int, m: int) -> arb:
        """w_(p,m)."""
        total = noise ** (2 * m) * gamma[p]
        for u in range(1, 2 * m + 1):
            term = (gamma[p + u] ** p * h[p + u] ** u).root(p + u)
            total += math.comb(2 * m, u) * noise ** (2 * m - u) * (growth * root) ** u * term
        return total.min((top / 2) ** (2 * m) * gamma[p])

    return next_moments(count, root, top, gamma, mixed)


def compare(text: Any, depth: int, start: int, proof: dict[str, Any], counts: list[int], more: Mapping[str, Reader]) -> Any:
    """R, K, the layers, and for l = 0, 1, ... sigma_l with 1, H_(l,2), H_(l,4), ... of all lists of moments, verified.

    ``counts`` are the lengths of these lists, and ``more`` further numbers of layers.
    """
    phi, sigma, root, order = Activation(text), arb(1), exact(Fraction(start)).rsqrt(), proof["top"]
    layer = fields(centre=as_it_is, **NUMBERS, cells=items(2, integer(-60, 60)), **more)
    layers = items(depth, layer)(proof["layers"], "proof.layers")
    lists = items(len(counts), as_it_is)(proof["moments"], "proof.moments")
    lists = [items(count, number)(each, f"proof.moments[{i}]") for i, (count, each) in enumerate(zip(counts, lists))]
    size: Range | Growth
    if "growth" in proof:
        size = read_growth(phi, proof["growth"], "proof.growth")
    else:
        top = number(proof["range"], "proof.range")
        size = Range(bounds(top, phi.largest_square(top, "proof.range"), "proof.range", TIGHT))
    found: list[tuple[arb, list[arb]]] = []
    numbers: list[arb] = []
    for i in range(depth + 1):
        true = []
        if i and i < len(counts):
            true = norm_moments(order, counts[i], root, size, layers[i - 1][0], found[-1][1], numbers)
        if i == 0 and counts:
            true = mean_moments(chi_square_cumulants(2 * counts[0]), root)[2::2]
        stated = [bounds(*pair, f"proof.moments[{i}][{j}]", DERIVED) for j, pair in enumerate(zip(lists[i] if true else [], true))]
        found.append((sigma, [arb(1), *stated]))
        if i < depth:
            sigma, numbers = check_layer(phi, sigma, size, layers[i], f"proof.layers[{i}]")
    return phi, size, layers, found


def size_of(proof: Any) -> str:
    """The key that says how large the activation is."""
    return "growth" if isinstance(proof, dict) and "growth" in proof else "range"


def check_norms(statement: list[Any]) -> str:
    """Norm deviations by comparison with a linear map (section 2)."""
    text, depth, k, start, constant, proof = statement
    fields(**{size_of(proof): as_it_is}, top=even_number(k), layers=as_it_is, moments=as_it_is)(proof, "proof")
    *_, found = compare(text, depth, start, proof, [proof["top"] // 2] * depth + [(k + 1) // 2], {})
    bounds(constant, moment_roots(found[-1][1], k)[k], "constant", DERIVED)
    return f"E| |x_{depth}|^2 - sigma_{depth} |^{k} <= {{constant}} d^(-{k}/2) for every d >= {start} and all widths >= d"
