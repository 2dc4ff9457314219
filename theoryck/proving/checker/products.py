"""Norm deviations of activations with two slopes, by moments of a product of independent factors (section 6 of the format)."""

from __future__ import annotations

import itertools
import math
from typing import Any

from flint import arb

from theoryck.proving.checker.expectations import KINKS, parse, value
from theoryck.proving.checker.fields import DERIVED, as_it_is, bounds, bounds_all, bounds_below, exact, fields, items, need
from theoryck.proving.checker.moments import chi_square_cumulants, mean_moments, moment_roots


def degree(tree: Any) -> int:
    """1 where phi(c x) = c phi(x) is seen for c > 0, 0 of a constant; anything else is refused."""
    if not isinstance(tree, tuple) or tree == ("x",):
        return int(isinstance(tree, tuple))
    parts = [part for part in tree[1:] if not isinstance(part, int)]
    degrees = [degree(part) for part in parts]
    if tree[0] == "*":
        need(sum(degrees) <= 1, "activation", "functions of x are multiplied")
    elif tree[0] == "+" or tree[0] in KINKS:
        kinds = {n for n, part in zip(degrees, parts) if n or not value(part, arb(0)).is_zero()}  # 0 is homogeneous too
        need(len(kinds) <= 1, "activation", "a number is added to a function of x, or compared with one")
    else:
        need(not any(degrees), "activation", f"{tree[0]} is taken of a function of x")
    return max(degrees)


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


def check_products(statement: dict[str, Any]) -> None:
    """Norm deviations of activations with two slopes, from above, and from below where ``least`` is stated (section 6)."""
    depth, k, tree = statement["depth"], statement["power"], parse(statement["activation"], kinks=True)
    homogeneous, right, left = degree(tree), value(tree, arb(1)), value(tree, arb(-1))
    q = (right**2 + left**2) / 2
    need(homogeneous == 1 and q > 0 and q.is_finite(), "activation", "it is not seen to have two slopes, not both 0")
    order, root = k + k % 2, exact(statement["from"]).rsqrt()
    odd = itertools.accumulate((2 * i - 1 for i in range(1, order + 1)), lambda a, b: a * b, initial=1)
    first = chi_square_cumulants(order)
    layer = cumulants([m * (right ** (2 * i) + left ** (2 * i)) / (2 * q**i) for i, m in enumerate(odd)])
    (lists,) = fields(moments=items(depth + 1, as_it_is))(statement["proof"], "proof").values()
    scale, true, limit = q ** (depth * k), mean_moments(first, root), mean_moments(first, arb(0))  # limit: N = oo
    for i, stated in enumerate(lists):
        p = [arb(1), arb(0), *bounds_all(stated, true[2:], f"proof.moments[{i}]")]
        if i < depth:
            true = product_moments(p, mean_moments(layer, root), root)
            limit = product_moments(limit, mean_moments(layer, arb(0)), arb(0))
    bounds(statement["constant"], scale * moment_roots(p[::2], k)[k], "constant", DERIVED)
    if "least" in statement:
        need(all(kappa >= 0 for kappa in layer[2:]), "least", "a cumulant of the terms of a layer is not seen to be positive")
        bounds_below(statement["least"], scale * (limit[2].sqrt() ** k if k % 2 else limit[k]), "least", DERIVED)
