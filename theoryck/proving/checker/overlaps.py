"""Overlaps of two inputs by comparison with a linear map (section 4 of the format)."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from flint import arb, arb_poly

from theoryck.proving.checker.expectations import derivative, tail
from theoryck.proving.checker.fields import DERIVED, as_it_is, bounds, bounds_all, exact, fields, integer, items, need, number
from theoryck.proving.checker.layers import Layer
from theoryck.proving.checker.moments import moment_roots, next_moments, norms
from theoryck.proving.checker.norms import Chain

NUMBERS = dict.fromkeys(("image", "squared", "tilt", "ratio", "rest"), number)


def check_layer(layer: Layer) -> None:
    """Refuse iota, alpha', delta', kappa, kappa' of a layer unless their inequalities are seen (section 4)."""
    sigma, s0, size, slope, top = layer.sigma, layer.s0, layer.natural, layer.factor, layer.size.top
    layer.bound("image", layer.after, layer.after)
    layer.bound("squared", slope, size)
    # s <= s0: with |phi(x)| <= m |x| where |x| <= 12 √s0, |phi| <= √R and v = √(s0/s) >= 1
    # f(s)/s <= m² + (R/s0) v² P(|Z| > 12 v) and |r(s)| <= m + √(R/s0) v E[|Z|, |Z| > 12 v], and v <= |Z|/12 there.
    # By parts E phi'(√s Z) = v P(|Z| <= 12) + e, v a value of phi' there, |e| <= 4 √R p(12)/√s0 with the normal density p.
    slopes = derivative(layer.phi.tree, arb(0, (12 * s0.sqrt()).upper()))
    m, error = slopes.abs_upper(), 4 * (top / s0).sqrt() * arb(-72).exp() / (2 * arb.pi()).sqrt()
    least = (slopes.abs_lower() * (1 - tail(0)) - error).max(arb(0))
    near_f, near_r = m**2 + top / s0 * tail(2) / 144, m + (top / s0).sqrt() * tail(2) / 12
    far = top / (sigma + layer.x)
    ends = [(near_r**2 - slope) / (sigma - s0), (far - slope) / layer.x]
    layer.prove("tilt", size / sigma, 1, lambda f, mu, r, x: r * r - slope, ends, signs=(1,), near=False)
    layer.prove("ratio", size, 0, lambda f, mu, r, x: f, [near_f, far], lambda y, s: s, signs=(1,), near=False)
    ends = [near_f - least**2, far]
    layer.prove("rest", size, 0, lambda f, mu, r, x: f - (x + sigma) * r * r, ends, lambda y, s: s, signs=(1,), near=False)


def next_overlaps(chain: Chain, layer: Layer, x: list[arb], c: list[arb], count: int) -> list[arb]:
    """H'_(l+1,2), H'_(l+1,4), ... from norms of X_l and C_l."""
    chord, image, squared, tilt, ratio, rest = (layer.stated[key] for key in ("chord", *NUMBERS))
    top, root, order, tau = chain.size.top, chain.root, chain.order, 1 / layer.minus
    g = [ratio * each for each in c]
    for r in range(1, order // 2 + 1):
        far = 2 * rest * tau * (c[2 * r] ** 2 + 2 * x[2 * r] * c[2 * r]) * root
        if 3 * r <= order:
            far = far.min(4 * rest * tau**2 * (c[3 * r] ** 3 + 2 * x[3 * r] ** 2 * c[3 * r]) * root**2)
        g[r] = g[r].min(squared * c[r] + tilt * x[2 * r] * c[2 * r] * root + far)
    pairs = [
        (x[t], chord**2 * x[2 * t] ** 2 + top**2 * tau**2 * (c[2 * t] ** 2 + 2 * x[2 * t] ** 2)) for t in range(order // 2 + 1)
    ]
    b = [2 * chord * image * first + second * root for first, second in pairs]
    part, cap = ([scale * (2 * top) ** max(a - 2, 0) for a in range(2 * count + 1)] for scale in (arb_poly([image**2, 1]), top**2))
    return next_moments(count, root, g, b, part, cap)


def check_overlaps(statement: dict[str, Any]) -> None:
    """Overlaps of two inputs (section 4)."""
    depth, k, start, proof = statement["depth"], statement["power"], statement["from"], statement["proof"]
    fields(range=as_it_is, top=integer(k, 40, step=2), layers=as_it_is, moments=as_it_is, overlaps=as_it_is)(proof, "proof")
    counts = [proof["top"] // 2] * depth + [(k + 1) // 2]
    chain = Chain(statement, counts[:-1], NUMBERS)
    need(chain.phi.parity == -1, "activation", f"{statement['activation']} is not seen to be odd")
    lists = items(depth + 1, as_it_is)(proof["overlaps"], "proof.overlaps")
    products = [math.prod((1 + Fraction(2 * u, start)) * (2 * u + 1) for u in range(j)) for j in range(1, counts[0] + 1)]
    true = [exact(Fraction(each)) for each in products]
    for i in range(depth + 1):
        even = [arb(1), *bounds_all(lists[i], true, f"proof.overlaps[{i}]")]
        if i < depth:
            check_layer(chain.layers[i])
            x, c = (norms(each, chain.order) for each in (chain.even[i], even))
            true = next_overlaps(chain, chain.layers[i], x, c, counts[i + 1])
    bounds(statement["constant"], moment_roots(even, k)[k], "constant", DERIVED)
