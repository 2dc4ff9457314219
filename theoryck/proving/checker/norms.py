"""Norm deviations by comparison with a linear map, from above (section 2 of the format), and from both sides (section 5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flint import arb, arb_poly

from theoryck.proving.checker.envelopes import read_growth, read_range
from theoryck.proving.checker.expectations import REACH, Activation, parse
from theoryck.proving.checker.fields import (
    DERIVED,
    TIGHT,
    Reader,
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
from theoryck.proving.checker.layers import Layer, cells_of
from theoryck.proving.checker.moments import chi_square_cumulants, mean_moments, moment_roots, next_moments, norms

NUMBERS = dict.fromkeys(("slope", "curvature", "chord", "deviation", "growth"), number)
BELOW = {"slope-least": number_or_zero, "deviation-least": number, "fall": number}


def check_layer(layer: Layer) -> None:
    """Refuse alpha, B, Lambda, n, delta unless their inequalities are seen (2.2)."""
    size, after, slope, noise, x, unit = layer.size, layer.after, layer.slope, layer.noise, layer.x, layer.natural
    steep, growth = size.steep, layer.stated["growth"]
    layer.bound("slope", abs(slope), unit)
    layer.bound("deviation", noise, after)
    layer.prove("chord", unit, 1, lambda f, mu, r, x: f - after, [steep, after / x, layer.over / x + steep])
    ends = [(layer.most + abs(slope) * x) / x**2]
    layer.prove("curvature", unit / layer.sigma, 2, lambda f, mu, r, x: f - after - slope * x, ends)
    # nu(s)^2 <= (nu(sigma) + delta |x|)^2
    ends, under = [size.lean, (size.deviation(layer.sigma + x) - noise) / x], lambda y, s: 2 * noise * y + growth * y * y
    layer.prove("growth", unit, 1, lambda f, mu, r, x: mu - layer.spread, ends, under, signs=(1,))


def check_from_below(layer: Layer) -> None:
    """Refuse alpha_-, n_-, delta_- of a layer unless their inequalities are seen (section 5)."""
    sigma, noise, fall, field = layer.sigma, layer.noise, layer.stated["fall"], layer.field
    bounds_below(layer.stated["slope-least"], abs(layer.slope), f"{field}.slope-least", TIGHT, layer.natural)
    bounds_below(layer.stated["deviation-least"], noise, f"{field}.deviation-least", TIGHT)
    # nu(0) = 0, so that delta_- >= nu(sigma)/sigma, and where |s - sigma| = |x| > nu(sigma)/delta_- nothing is to be shown.
    # Elsewhere nu(s)^2 >= (nu(sigma) - delta_- |x|)^2.
    reach = (noise / fall).upper()
    first = next((i for i in range(0, -61, -1) if sigma * arb(2) ** i * (1 - exact(REACH)) <= sigma - reach), None)
    need(first is not None, f"{field}.fall", f"{show(fall)} leaves something to be shown too near to 0")
    low, high = ((sigma + sign * reach) for sign in (-1, 1))
    cells = [(c, a.max(low / c - 1), b.min(high / c - 1), *rest) for c, a, b, *rest in cells_of(sigma, first or 0, 1)]
    cells, under = [each for each in cells if not each[1] >= each[2]], lambda y, s: 2 * noise * y - fall * y * y
    layer.prove("fall", layer.natural, 1, lambda f, mu, r, x: layer.spread - mu, [noise / sigma], under, (1,), False, cells)


class Chain:
    """The layers, and for l = 0, 1, ... the numbers 1, H_(l,2), H_(l,4), ... of all lists of moments, verified.

    ``counts`` are the lengths of these lists, ``more`` further numbers of layers.
    """

    def __init__(self, statement: dict[str, Any], counts: list[int], more: Mapping[str, Reader]) -> None:
        proof, depth, self.root = statement["proof"], statement["depth"], exact(statement["from"]).rsqrt()
        tree, self.order = parse(statement["activation"]), proof["top"]
        read = fields(centre=as_it_is, **NUMBERS, cells=items(2, integer(-60, 60)), **more)
        stated = items(depth, read)(proof["layers"], "proof.layers")
        lists = items(len(counts), as_it_is)(proof["moments"], "proof.moments")
        read_size = read_growth if "growth" in proof else read_range
        self.size = read_size(tree, proof[size_of(proof)], f"proof.{size_of(proof)}")
        self.phi = Activation(tree, self.size.flat, self.size.rise)
        self.layers: list[Layer] = []
        self.even: list[list[arb]] = []
        sigma = arb(1)
        for i in range(depth + 1):
            if i < len(counts):
                self.even.append([arb(1), *bounds_all(lists[i], self.moments(counts[i]), f"proof.moments[{i}]")])
            if i < depth:
                self.layers.append(Layer(self.phi, self.size, sigma, stated[i], f"proof.layers[{i}]"))
                check_layer(self.layers[i])
                sigma = self.layers[i].after

    def moments(self, count: int) -> list[arb]:
        """H_(l,2), H_(l,4), ... of the next list, from the last one and its layer (2.3, section 7)."""
        if not self.layers:
            return mean_moments(chi_square_cumulants(2 * count), self.root)[2::2]
        layer, root, y = self.layers[-1], self.root, norms(self.even[-1], self.order)
        alpha, bend, chord, noise, growth = (layer.stated[key] for key in NUMBERS)
        g = [chord * each for each in y]
        for r in range(1, self.order // 2 + 1):
            g[r] = g[r].min(alpha * y[r] + bend * y[2 * r] ** 2 * root)
        part = self.size.parts(2 * count, layer.plus, arb_poly([noise, growth]) ** 2)
        caps = [self.size.top**a / 4 for a in range(2 * count + 1)] if self.size.bounded else None
        return next_moments(count, root, g, y, part, caps)


def size_of(proof: Any) -> str:
    """The key that says how large the activation is."""
    return "growth" if isinstance(proof, dict) and "growth" in proof else "range"


def check_norms(statement: dict[str, Any]) -> None:
    """Norm deviations by comparison with a linear map (section 2), and from both sides where ``least`` is stated (section 5)."""
    depth, k, proof, both = statement["depth"], statement["power"], statement["proof"], "least" in statement
    more = ["squares"] if both else []
    known = dict.fromkeys((size_of(proof), "layers", "moments", *more), as_it_is)
    fields(top=integer(max(k, 4) if both else k, 40, step=2), **known)(proof, "proof")
    chain = Chain(statement, [proof["top"] // 2] * depth + [(k + 1) // 2], BELOW if both else {})
    bounds(statement["constant"], moment_roots(chain.even[-1], k)[k], "constant", DERIVED)
    if not both:
        return
    true = arb(2)
    squares = items(depth + 1, number)(proof["squares"], "proof.squares")
    for i, stated in enumerate(squares):
        bounds_below(stated, true, f"proof.squares[{i}]", DERIVED)
        if i < depth:
            check_from_below(chain.layers[i])
            at, y = chain.layers[i].stated, norms(chain.even[i], 4)
            image = at["slope-least"] * stated.sqrt() - at["curvature"] * y[4] ** 2 * chain.root
            noise = at["deviation-least"] - at["fall"] * y[1] * chain.root
            true = image.max(arb(0)) ** 2 + noise.max(arb(0)) ** 2
    bounds_below(statement["least"], squares[-1].sqrt() ** k, "least", DERIVED)
