"""Norm deviations from both sides (section 5 of the format)."""

from __future__ import annotations

from typing import Any

from flint import arb, arb_poly

from theoryck.proving.checker.expectations import REACH, Activation
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
)
from theoryck.proving.checker.norms import Piece, cells_of, compare, divided, holds, moment_roots, size_of

NUMBERS = {"slope-least": number_or_zero, "deviation-least": number, "fall": number}


def check_layer(phi: Activation, sigma: arb, layer: list[Any], field: str) -> None:
    """Refuse alpha_-, n_-, delta_- of a layer unless their inequalities are seen (section 5)."""
    slope_least, deviation_least, fall = layer[7:]
    f, fourth, _ = phi.expand(sigma)
    after = f[0]
    slope, noise = arb((f[1] / sigma).abs_lower()), (fourth[0] - f[0] ** 2).sqrt()
    bounds_below(slope_least, slope, f"{field}.slope-least", TIGHT, after / sigma)
    bounds_below(deviation_least, noise, f"{field}.deviation-least", TIGHT)
    # nu(0) = 0, so that delta_- >= nu(sigma)/sigma, and where |s - sigma| = |x| > nu(sigma)/delta_- nothing is to be shown.
    # Elsewhere nu(s)^2 >= (nu(sigma) - delta_- |x|)^2 is -excess + delta_-^2 x^2 <= delta_- 2 nu(sigma) |x|.
    reach = (noise / fall).upper()
    need(sigma >= reach, f"{field}.fall", f"{show(fall)} is not seen to be at least {show(noise / sigma)}")
    last = next((i for i in range(0, -61, -1) if sigma * arb(2) ** i * (1 - exact(REACH)) <= sigma - reach), None)
    need(last is not None, f"{field}.fall", "it leaves something to be shown too near to 0")
    pieces: list[Piece] = []
    for c, low, high, sign, central in cells_of(sigma, [last or 0, 1], f"{field}.fall"):
        low, high = low.max((sigma - reach) / c - 1), high.min((sigma + reach) / c - 1)
        if low >= high:
            continue
        f, fourth, _ = phi.expand(c)
        x, excess = arb_poly([c - sigma, c]), fourth - f * f - noise**2
        over, under = fall**2 * x * x - excess, 2 * noise * sign * x
        if central:
            over, under = sign * divided(over, 1), arb_poly([2 * noise * c])
        pieces.append((low, high, over, under))
    holds(fall, pieces, [noise / sigma], (1,), f"{field}.fall", after / sigma)


def check_two_sided(statement: list[Any]) -> str:
    """Norm deviations from both sides (section 5)."""
    text, depth, k, start, constant, proof, least = statement
    fields(**{size_of(proof): as_it_is}, top=even_number(max(k, 4)), layers=as_it_is, moments=as_it_is, squares=as_it_is)(
        proof, "proof"
    )
    counts = [proof["top"] // 2] * depth + [(k + 1) // 2]
    phi, _, layers, found = compare(text, depth, start, proof, counts, NUMBERS)
    bounds(constant, moment_roots(found[-1][1], k)[k], "constant", DERIVED)
    root, squares = exact(start).rsqrt(), items(depth + 1, number)(proof["squares"], "proof.squares")
    true = arb(2)
    for i, stated in enumerate(squares):
        bounds_below(stated, true, f"proof.squares[{i}]", DERIVED)
        if i < depth:
            check_layer(phi, found[i][0], layers[i], f"proof.layers[{i}]")
            bend, (slope_least, deviation_least, fall) = layers[i][2], layers[i][7:]
            h = moment_roots(found[i][1], proof["top"])
            image = slope_least * stated.sqrt() - bend * h[4].sqrt() * root
            noise = deviation_least - fall * h[1] * root
            true = image.max(arb(0)) ** 2 + noise.max(arb(0)) ** 2
    bounds_below(least, squares[-1].sqrt() ** k, "least", DERIVED)
    both = f"{{least}} d^(-{k}/2) <= E| |x_{depth}|^2 - sigma_{depth} |^{k} <= {{constant}} d^(-{k}/2)"
    return f"{both} for every d >= {start}, from below where all widths are d, from above where they are >= d"
