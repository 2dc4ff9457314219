"""Norm deviations of activations with two slopes, by moments of a product of independent factors (section 6 of the format)."""

from __future__ import annotations

import itertools
import math
from typing import Any

from flint import arb

from theoryck.proving.checker.expectations import parse, value
from theoryck.proving.checker.fields import DERIVED, bounds, bounds_below, exact, fields, items, need, number
from theoryck.proving.checker.norms import chi_square_cumulants, mean_moments, moment_roots


def ends(tree: Any) -> tuple[bool, arb, arb]:
    """The values at 1 and -1 of a function with phi(c x) = c phi(x) for c > 0, after False; of a constant, after True."""
    if not isinstance(tree, tuple) or tree == ("x",):
        return (False, arb(1), arb(-1)) if tree == ("x",) else (True, value(tree, arb(0)), value(tree, arb(0)))
    parts = [ends(part) for part in tree[1:] if not isinstance(part, int)]
    if tree[0] not in ("relu", "abs", "max", "min", "+", "*"):
        need(parts[0][0], "activation", f"{tree[0]} is taken of a function of x")
        same = value((tree[0], parts[0][1], *tree[2:]), arb(0))
        return True, same, same
    kinds = [fixed and not (left.is_zero() and right.is_zero()) for fixed, left, right in parts]  # 0 is homogeneous too
    if tree[0] == "*":
        need(any(fixed for fixed, *_ in parts), "activation", "functions of x are multiplied")
        return all(fixed for fixed, *_ in parts), parts[0][1] * parts[1][1], parts[0][2] * parts[1][2]
    need(len({*kinds}) == 1, "activation", "a number is added to a function of x, or compared with one")
    both: tuple[list[arb], ...] = ([part[1] for part in parts], [part[2] for part in parts])
    match tree[0]:
        case "+":
            found = [left + right for left, right in both]
        case "relu":
            found = [each.max(arb(0)) for (each,) in both]
        case "abs":
            found = [abs(each) for (each,) in both]
        case "max":
            found = [left.max(right) for left, right in both]
        case _:
            found = [left.min(right) for left, right in both]
    return all(fixed for fixed, *_ in parts), found[0], found[1]


def cumulants(moments: list[arb]) -> list[arb]:
    """Those of orders 0 (as 0), 1, 2, ... of a variable with the moments 1, E W, E W^2, ..."""
    found = [arb(0)]
    for n in range(1, len(moments)):
        lower = (math.comb(n - 1, i - 1) * found[i] * moments[n - i] for i in range(1, n))
        found.append(moments[n] - sum(lower, arb(0)))
    return found


def product_moments(p: list[arb], y: list[arb], root: arb) -> list[arb]:
    """p_(l+1,0), ..., p_(l+1,K) from those of layer l and y_j."""
    found = []
    for j in range(len(p)):
        terms = ((i, u) for i in range(j + 1) for u in range(i + 1))
        found.append(sum((math.comb(j, i) * math.comb(i, u) * p[i] * root**u * y[j - i + u] for i, u in terms), arb(0)))
    return found


def check_products(statement: list[Any]) -> str:
    """Norm deviations of activations with two slopes, from above, and from below where ``least`` is stated (section 6)."""
    text, depth, k, start, constant, proof, *least = statement
    fixed, right, left = ends(parse(text, kinks=True))
    q = (right**2 + left**2) / 2
    need(not fixed and q > 0 and q.is_finite(), "activation", f"{text} is not seen to have two slopes, not both 0")
    order, root = k + k % 2, exact(start).rsqrt()
    odd = itertools.accumulate((2 * i - 1 for i in range(1, order + 1)), lambda a, b: a * b, initial=1)
    layer = cumulants([m * (right ** (2 * i) + left ** (2 * i)) / (2 * q**i) for i, m in enumerate(odd)])
    lists = items(depth + 1, items(order - 1, number))(fields(moments=lambda each, _: each)(proof, "proof")[0], "proof.moments")
    true = mean_moments(chi_square_cumulants(order), root)
    for i, stated in enumerate(lists):
        stated = [bounds(*pair, f"proof.moments[{i}][{j}]", DERIVED) for j, pair in enumerate(zip(stated, true[2:]))]
        p = [arb(1), arb(0), *stated]
        true = product_moments(p, mean_moments(layer, root), root)
    scale = q ** (depth * k)
    bounds(constant, scale * moment_roots([*p[::2]], k)[k], "constant", DERIVED)
    said = f"E| |x_{depth}|^2 - sigma_{depth} |^{k} <= {{constant}} d^(-{k}/2)"
    if not least:
        return f"{said} for every d >= {start} and all widths >= d"
    need(all(kappa >= 0 for kappa in layer[2:]), "least", "a cumulant of the terms of a layer is not seen to be positive")
    p = mean_moments(chi_square_cumulants(order), arb(0))
    for _ in range(depth):
        p = product_moments(p, mean_moments(layer, arb(0)), arb(0))
    bounds_below(least[0], scale * (p[2].sqrt() ** k if k % 2 else p[k]), "least", DERIVED)
    both = f"{{least}} d^(-{k}/2) <= {said}"
    return f"{both} for every d >= {start}, from below where all widths are d, from above where they are >= d"
