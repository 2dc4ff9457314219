"""Norm deviations from both sides: least d^(-k/2) <= E|X_L|^k <= C d^(-k/2) where all widths are d, for every d >= N.

The lemmas are those of :mod:`theoryck.records.certificates`, section 5.  Beside the numbers of a layer that the bound needs:

    |f'(sigma)| >= slope,   nu(sigma) >= deviation,   nu(s) >= nu(sigma) - fall |s - sigma| for every s >= 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache

import numpy as np
from flint import arb, arb_poly, fmpq

from theoryck.numerics.balls import plus_minus, precision
from theoryck.numerics.functions.activation import Activation
from theoryck.quantities.base import NoCertificate
from theoryck.records import Certificate
from theoryck.theory.networks.certificates.cells import BITS, EDGE, TERMS, nonnegative
from theoryck.theory.networks.certificates.decimals import ball, plain_text, rounded_down, rounded_up
from theoryck.theory.networks.certificates.layers import Layer, LayerBounds, layer_of, times
from theoryck.theory.networks.certificates.moments import absolute
from theoryck.theory.networks.certificates.norms import layers, norm_certificate
from theoryck.theory.networks.certificates.refusals import NothingBelow

_MARGIN, _RAISE, _RAISES = 1.001, 1.0005, 6
_LOWEST = -40


@dataclass(frozen=True, slots=True)
class LowerBounds:
    """The numbers of a layer that bound from below, as they are written."""

    slope: Decimal
    deviation: Decimal
    fall: Decimal

    def to_json(self) -> dict[str, str]:
        """Return them as JSON data."""
        return {"slope-least": plain_text(self.slope), "deviation-least": plain_text(self.deviation), "fall": plain_text(self.fall)}


def lower_bounds(layer: Layer) -> LowerBounds:
    """Return proved numbers for a layer; NoCertificate where ``fall`` could not be proved."""
    sigma, nu = layer.centre, layer.deviation
    seen = max(_seen(layer, index) for index in range(-10, 2))
    fall = rounded_up(_MARGIN * max(seen, float((nu / sigma).upper())), size=layer.size)
    for _ in range(_RAISES):
        if _falls(layer, ball(fall)):
            return LowerBounds(rounded_down(abs(layer.slope), size=layer.size), rounded_down(nu), fall)
        fall = rounded_up(_RAISE * float(fall))
    raise NoCertificate(f"the inequality of fall of the layer after sigma = {float(sigma.mid()):.6g} could not be proved")


def _seen(layer: Layer, index: int) -> float:
    part = layer.at(index)
    variance = np.array([float(a.mid()) for a in part.variance.coeffs()][::-1])
    t = np.linspace(-1 / 3, 1 / 3, 241)
    c, sigma, nu = (float(a.mid()) for a in (part.centre, layer.centre, layer.deviation))
    spread = np.sqrt(np.maximum(np.polyval(variance, t), 0))
    if index == 0:
        drop = -np.polyval(variance[:-1], t) / (c * (spread + nu)) * np.sign(t)
        return float(max(drop.max(), abs(variance[-2]) / (2 * c * nu)))
    return float(((nu - spread) / np.abs(c * (1 + t) - sigma)).max())


def _falls(layer: Layer, fall: arb) -> bool:
    """Whether nu(s)^2 >= (nu - fall |x|)^2 is proved wherever nu >= fall |x|, which is within |x| <= sigma: nu(0) = 0."""
    sigma, nu = layer.centre, layer.deviation
    if not nu <= fall * sigma:
        return False
    part = layer.at(0)
    scale = layer.scale(0)
    rise = arb_poly(part.variance.coeffs()[1:]) + plus_minus(3 * scale**2 * arb(3) ** (1 - TERMS))
    scaled = fall * sigma
    right = arb_poly([2 * nu * scaled, -(scaled**2)]) + rise
    left = arb_poly([2 * nu * scaled, scaled**2]) - rise
    if not (nonnegative(right, fmpq(0), EDGE) and nonnegative(left, -EDGE, fmpq(0))):
        return False
    for index in (1, *range(-1, _LOWEST, -1)):
        part = layer.at(index)
        error = plus_minus(3 * layer.scale(index) ** 2 * arb(3) ** -TERMS)
        x = arb_poly([part.centre - sigma, part.centre])
        reach = nu - fall * (x if index > 0 else -x)
        # Where the line is below 0 nothing is claimed: t beyond the end of the part that matters is left out.
        end = (sigma + (nu / fall if index > 0 else -nu / fall)) / part.centre - 1
        low, high = (-EDGE, min(EDGE, _beyond(end, 1))) if index > 0 else (max(-EDGE, _beyond(end, -1)), EDGE)
        if low < high and not nonnegative(part.variance + error - reach * reach, low, high):
            return False
        if index < 0 and low > -EDGE:
            return True
    return False


def _beyond(end: arb, side: int) -> fmpq:
    """A rational just beyond a ball."""
    mantissa, exponent = (int(part) for part in (end.upper() if side > 0 else end.lower()).man_exp())
    return fmpq(mantissa) * fmpq(2) ** exponent + side * fmpq(1, 2**30)


@lru_cache(maxsize=256)
def _lower(activation: Activation, index: int) -> LowerBounds:
    layer, exponent = layer_of(activation, index)
    with precision(BITS):
        return times(lower_bounds(layer), exponent)


def squares(
    bounds: Sequence[LayerBounds], lower: Sequence[LowerBounds], moments: Sequence[Sequence[str]], start: int
) -> list[Decimal]:
    """Return q_0, ..., q_L, E X_l^2 >= q_l/d where all widths are d >= ``start``."""
    found, small = [Decimal(2)], 1 / arb(start).sqrt()
    for bound, least, row in zip(bounds, lower, moments):
        h = absolute([Decimal(number) for number in row])
        kept = ball(least.slope) * ball(found[-1]).sqrt() - ball(bound.curvature) * h[4].sqrt() * small
        noise = ball(least.deviation) - ball(least.fall) * h[1] * small
        total = kept.max(arb(0)) ** 2 + noise.max(arb(0)) ** 2
        found.append(rounded_down(total, 7))
    return found


def two_sided_certificate(activation: Activation, depth: int, power: int, start: int) -> Certificate:
    """Return the certificate of method "two-sided", power >= 2; NothingBelow where the lower bound would be 0.

    >>> found = two_sided_certificate(Activation("tanh"), depth=2, power=2, start=4096)
    >>> found.least, found.constant  # the limit of d E X^2 is 0.07748
    ('0.07...', '0.0800...')
    """
    if power < 2:
        raise NoCertificate(f"bounds from below are of powers from 2 on, got {power}")
    upper = norm_certificate(activation, depth, power, start, least_top=4)
    bounds, lower = layers(activation, depth), [_lower(activation, index) for index in range(depth)]
    with precision(BITS):
        found = squares(bounds, lower, upper.proof["moments"], start)
        least = rounded_down(ball(found[-1]).sqrt() ** power, 7)
    if least == 0 or 0 in found:  # a reader needs every layer to add something
        raise NothingBelow(f"from d = {start} on no bound from below is proved: take a larger start")
    entries = [entry | low.to_json() for entry, low in zip(upper.proof["layers"], lower)]
    proof = {**upper.proof, "layers": entries, "squares": [plain_text(number) for number in found]}
    return replace(upper, method="two-sided", proof=proof, least=plain_text(least))
