"""Certificates of overlaps of two inputs: E|x_L . x'_L|^k <= C d^(-k/2) for every d >= N and all widths >= d; phi is odd.

The lemmas are those of :mod:`theoryck.records.certificates`, section 4.  Beside the numbers of a layer that norms need there are

    sigma_(l+1) <= image,   r(sigma)^2 <= squared,   r(s)^2 <= r(sigma)^2 + tilt |s - sigma|,   f(s) <= ratio s,
    f(s) - s r(s)^2 <= rest s

with r(s) = E phi'(sqrt(s) Z).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import comb, prod
from operator import itemgetter
from typing import Any

import numpy as np
from flint import arb, arb_poly, fmpq
from numpy.typing import NDArray

from theoryck.numerics.balls import plus_minus, precision
from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.functions.calculus import derivative, parity
from theoryck.numerics.functions.trees import REAL, tree_of
from theoryck.quantities.base import NoCertificate
from theoryck.records import Certificate
from theoryck.theory.networks.certificates.cells import BITS, EDGE, nonnegative, small_error, squared_mean_error
from theoryck.theory.networks.certificates.decimals import ball, certificate, plain_text, rounded_up, rows
from theoryck.theory.networks.certificates.envelopes import Bounded
from theoryck.theory.networks.certificates.layers import HIGHEST, Layer, LayerBounds, layer_bounds, layer_of, times
from theoryck.theory.networks.certificates.moments import (
    Moments,
    absolute,
    bound_of_power,
    input_moments,
    next_moments,
    partition_count,
    written,
)
from theoryck.theory.networks.certificates.ranges import largest_square
from theoryck.theory.networks.certificates.refusals import answer, outside, unproved

_TOPS = (1, 2, 3, 6, 8, 16)
_LARGEST_TOP = 32
_MARGIN, _RAISE, _RAISES = 1.001, 1.0005, 6
_LOWEST, _HIGHEST = -60, 12
_SMALL_REST = 0.01
"""Share of ``ratio`` below which a larger ``rest`` costs less than another cell far away."""


@dataclass(frozen=True, slots=True)
class OverlapBounds:
    """The numbers of a layer, as they are written."""

    layer: LayerBounds
    image: Decimal
    squared: Decimal
    tilt: Decimal
    ratio: Decimal
    rest: Decimal

    def to_json(self) -> dict[str, Any]:
        """Return the layer as JSON data."""
        names = ("image", "squared", "tilt", "ratio", "rest")
        return self.layer.to_json() | {name: plain_text(getattr(self, name)) for name in names}


_NAMES = (
    "r(s)^2 <= r(sigma)^2 + tilt |s - sigma|",
    "f(s) <= ratio s",
    "f(s) - s r(s)^2 <= rest s",
)


class _Search:
    """The search for ``tilt``, ``ratio`` and ``rest`` on the cells of a layer."""

    def __init__(self, layer: Layer) -> None:
        self.layer = layer
        self.slope_tree = tree_of((derivative(layer.expression),))

    def at_zero(self) -> NDArray[np.float64]:
        """Return (tilt, ratio, rest) at s = 0, in floats."""
        start = float(self.slope_tree.at(REAL, arb(0)).mid()) ** 2
        return np.array([(start - float(self.layer.mean.mid()) ** 2) / float(self.layer.centre.mid()), start, 0.0])

    def seen(self, index: int) -> NDArray[np.float64]:
        """Return the largest (tilt, ratio, rest) on a cell, in floats."""
        part = self.layer.at(index)
        f, mean = (np.array([float(a.mid()) for a in p.coeffs()][::-1]) for p in (part.f, part.mean))
        t = np.linspace(-1 / 3, 1 / 3, 241)
        c, sigma, here = float(part.centre.mid()), float(self.layer.centre.mid()), float(self.layer.mean.mid())
        ratio, square = np.polyval(f, t) / (c * (1 + t)), np.polyval(mean, t) ** 2
        if index == 0:
            tilt = np.append(np.polyval(mean[:-1], t) * (np.polyval(mean, t) + here) * np.sign(t), 2 * abs(here * mean[-2])) / c
        else:
            tilt = (square - here**2) / np.abs(c * (1 + t) - sigma)
        return np.array([tilt.max(), ratio.max(), (ratio - square).max()])

    def edge(self, lowest: int) -> arb:
        """Return s_0, the left end of a cell."""
        return self.layer.centre * arb(2) ** (lowest + 1) / 3

    def proved(self, index: int, tilt: arb, ratio: arb, rest: arb) -> tuple[bool, ...]:
        """Return which of the three are proved on a cell."""
        part, layer = self.layer.at(index), self.layer
        line = arb_poly([part.centre, part.centre])
        below, squared = plus_minus(small_error(part)), plus_minus(squared_mean_error(part))
        square = part.mean * part.mean
        under = nonnegative(ratio * line - part.f + below, -EDGE, EDGE)
        left = nonnegative((rest + square + squared) * line - part.f + below, -EDGE, EDGE)
        if index == 0:
            rise = arb_poly(square.coeffs()[1:]) + plus_minus(squared_mean_error(part, 1))
            steep = tilt * layer.centre
            return nonnegative(steep - rise, fmpq(0), EDGE) and nonnegative(steep + rise, -EDGE, fmpq(0)), under, left
        x = line - layer.centre
        room = tilt * (x if index > 0 else -x) + layer.mean**2
        return nonnegative(room - square + squared, -EDGE, EDGE), under, left

    def proved_near_zero(self, lowest: int, tilt: arb, ratio: arb, rest: arb) -> tuple[bool, ...]:
        """Return which hold below the cell ``lowest`` (the lemma "near 0" of the format)."""
        edge, layer = self.edge(lowest), self.layer
        share = layer.envelope.mean[0] / edge
        box = arb(self.slope_tree.at(REAL, plus_minus(12 * edge.sqrt())))
        mean = abs(box * (1 - plus_minus(arb("1e-31"))) + plus_minus(arb("1e-31") * share.sqrt()))
        f = abs(box) ** 2 + arb("1e-31") * share
        return (
            bool(mean**2 <= layer.mean**2 + tilt * (layer.centre - edge)),
            bool(f <= ratio),
            bool(arb(f.upper()) - arb(mean.lower()) ** 2 <= rest),
        )

    def proved_far(self, highest: int, tilt: arb, ratio: arb, rest: arb) -> tuple[bool, ...]:
        """Return which hold beyond the cell ``highest``, since f <= R and r^2 <= f/s."""
        end, layer = self.layer.centre * arb(2) ** (highest + 2) / 3, self.layer
        share = layer.envelope.mean[0] / end
        return bool(share <= layer.mean**2 + tilt * (end - layer.centre)), bool(share <= ratio), bool(share <= rest)


def overlap_bounds(layer: Layer, norms: LayerBounds) -> OverlapBounds:
    """Return proved numbers for a layer, those of norms among them; NoCertificate, which names the inequality, else."""
    search = _Search(layer)
    lowest, highest = norms.cells
    # Numbers of norms that were made as large as their last cell asks for would be too large with further cells.
    last = _HIGHEST if highest < HIGHEST else HIGHEST
    sigma = float(layer.centre.mid())
    found = np.max([search.at_zero(), *(search.seen(index) for index in range(lowest, highest + 1))], axis=0)
    while True:
        # ``rest`` may be so small that a further cell costs more than a larger number.
        least = float(layer.envelope.mean[0].mid()) / (sigma * 2.0 ** (highest + 2) / 3) * 1.0001
        enough = least <= max(found[2], _SMALL_REST * found[1]) or highest == last
        if enough and all(search.proved_far(highest, *(arb(value) for value in (found[0], found[1], max(found[2], least))))):
            break
        if highest == last:
            raise NoCertificate(
                f"f(s) <= ratio s of the layer after sigma = {sigma:.6g} could not be proved for large s: take a less flat phi"
            )
        highest += 1
        found = np.maximum(found, search.seen(highest))
    sizes = (layer.size / layer.centre, layer.size, layer.size)
    numbers = [rounded_up(_MARGIN * value, size=size) for value, size in zip((found[0], found[1], max(found[2], least)), sizes)]
    for _ in range(_RAISES):
        balls = [ball(number) for number in numbers]
        while lowest > _LOWEST and not all(search.proved_near_zero(lowest, *balls)):
            lowest -= 1
            here = search.seen(lowest)
            numbers = [max(number, rounded_up(_MARGIN * value)) for number, value in zip(numbers, here)]
            balls = [ball(number) for number in numbers]
        done = [search.proved(index, *balls) for index in range(lowest, highest + 1)]
        proved = [all(column) for column in zip(*done, search.proved_near_zero(lowest, *balls))]
        if all(proved):
            break
        numbers = [number if good else rounded_up(_RAISE * float(number)) for number, good in zip(numbers, proved)]
    else:
        failing = _NAMES[proved.index(False)]
        raise NoCertificate(
            f"the inequality {failing} of the layer after sigma = {sigma:.6g} could not be proved: take a phi less steep or flat"
        )
    if not layer.holds(norms, lowest, highest):
        raise NoCertificate(f"the inequalities of the layer after sigma = {sigma:.6g} could not be proved on more cells")
    image, squared = rounded_up(layer.image, 9), rounded_up(layer.mean**2, 9, layer.size)
    return OverlapBounds(replace(norms, cells=(lowest, highest)), image, squared, *numbers)


@lru_cache(maxsize=256)
def _bounds_of(activation: Activation, index: int) -> OverlapBounds:
    layer, exponent = layer_of(activation, index)
    with precision(BITS):
        return times(overlap_bounds(layer, layer_bounds(layer)), exponent)


def layers(activation: Activation, depth: int) -> tuple[OverlapBounds, ...]:
    """Return the proved numbers of the layers after sigma_0, ..., sigma_(depth-1); NoCertificate where one has none."""
    largest_square(activation.expression)  # phi is bounded
    return tuple(_bounds_of(activation, index) for index in range(depth))


def input_overlaps(start: int, top: int) -> Moments:
    """Return H'_(0,j), j = 2, 4, ..., top: (j-1)!! prod_(u < j/2) (1 + 2u/start).

    >>> input_overlaps(4, 4)
    [Decimal('1'), Decimal('4.5')]
    """
    return [
        written(ball(prod(range(1, j, 2)) * prod((1 + Fraction(2 * u, start) for u in range(j // 2)), start=Fraction(1))))
        for j in range(2, top + 1, 2)
    ]


class Step:
    """One layer: bounds of C_(l+1) from those of X_l and C_l."""

    def __init__(self, bounds: OverlapBounds, norms: Moments, overlaps: Moments, start: int, largest: Decimal) -> None:
        self.x, self.c, self.top = absolute(norms), absolute(overlaps), 2 * len(overlaps)
        self.start, self.largest = start, ball(largest)
        self.small = 1 / arb(start).sqrt()
        self.image, self.squared, self.tilt = ball(bounds.image), ball(bounds.squared), ball(bounds.tilt)
        self.ratio, self.rest, self.chord = ball(bounds.ratio), ball(bounds.rest), ball(bounds.layer.chord)
        centre = bounds.layer.centre
        self.tau = 1 / ball(centre - Decimal(1).scaleb(int(centre.as_tuple().exponent)))
        self.gamma = [arb(1), *(self._mapped(r) for r in range(1, self.top + 1))]

    def _mapped(self, r: int) -> arb:
        x, c = self.x, self.c
        bound = self.ratio**r * c[r]
        if 2 * r > self.top:
            return bound
        mixed = (x[2 * r] * c[2 * r]).root(2 * r)
        higher = 2 * self.rest * self.tau * (c[2 * r].root(r) + 2 * mixed) * self.small
        if 3 * r <= self.top:
            cubes = c[3 * r].root(r) + 2 * x[3 * r].root(3 * r) ** 2 * c[3 * r].root(3 * r)
            higher = higher.min(4 * self.rest * self.tau**2 * cubes * self.small**2)
        return bound.min((self.squared * c[r].root(r) + self.tilt * mixed * self.small + higher) ** r)

    def _excess(self, t: int) -> arb:
        """b_t, of which the variance of a term exceeds image^2 at most."""
        x, c = self.x, self.c
        further = self.chord**2 * x[2 * t].root(t) + self.largest**2 * self.tau**2 * (c[2 * t].root(t) + 2 * x[2 * t].root(t))
        return 2 * self.chord * self.image * x[t].root(t) + further * self.small

    def _mixed(self, p: int, m: int) -> arb:
        """w'_(p,m)."""
        bound = self.largest ** (2 * m) * self.gamma[p]
        if 2 * (p + m) > self.top:
            return bound
        near = self.image ** (2 * m) * self.gamma[p]
        for u in range(1, m + 1):
            whole = p + u
            weight = comb(m, u) * self.image ** (2 * (m - u)) * self.small**u
            near += weight * (self.gamma[whole].root(whole) ** p) * self._excess(whole) ** u
        return bound.min(near)

    def moment(self, j: int) -> Decimal:
        """Return H'_(l+1,j)."""
        total = self.gamma[j]
        for i in range(2, j + 1):
            for m in range(1, i // 2 + 1):
                weight = comb(j, i) * partition_count(i, m) * arb(self.start) ** m * self.small**i
                total += weight * (2 * self.largest) ** (i - 2 * m) * self._mixed(j - i, m)
        return written(total)


def _moments(
    bounds: Sequence[OverlapBounds], even: int, start: int, largest: Decimal, top: int
) -> tuple[list[Moments], list[Moments]]:
    norms, overlaps = [input_moments(start, top)], [input_overlaps(start, top)]
    for index, bound in enumerate(bounds):
        last = index == len(bounds) - 1
        step = Step(bound, norms[-1], overlaps[-1], start, largest)
        overlaps.append([step.moment(j) for j in range(2, (even if last else top) + 1, 2)])
        if not last:
            norms.append(next_moments(bound.layer, norms[-1], start, Bounded(largest), top))
    return norms, overlaps


def overlap_certificate(activation: Activation, depth: int, power: int, start: int = 1) -> Certificate:
    """Return the certificate of method "comparison" with the least constant that it finds, for an odd bounded phi, depth >= 1.

    >>> overlap_certificate(Activation("erf"), depth=1, power=2, start=4096).constant  # the limit of d E C^2 is 0.3959
    '0.436...'
    """
    largest, bounds = largest_square(activation.expression), layers(activation, depth)
    even = power + power % 2
    with precision(BITS):
        tops = (factor * even for factor in _TOPS if factor * even <= _LARGEST_TOP)
        made = (_moments(bounds, even, start, largest, top) for top in tops)
        found = ((rounded_up(bound_of_power(each[1][-1], power), 7), each) for each in made)
        constant, (norms, overlaps) = min(found, key=itemgetter(0))
    proof = {
        "range": plain_text(largest),
        "top": 2 * len(norms[0]),
        "layers": [bound.to_json() for bound in bounds],
        "moments": rows(norms),
        "overlaps": rows(overlaps),
    }
    return certificate("overlap", "comparison", activation, (depth, power, start), constant, proof)


def why_not(quantity: Any) -> str | None:
    """Return why the quantity is outside what this method proves, None where it is inside."""
    if parity(quantity.network.activation.expression) != -1:
        return f"phi(x) = {quantity.network.activation.text} is not odd, and overlaps then need not decay"
    if quantity.network.depth == 0:
        return "at depth 0 there is no layer"
    return outside(quantity) or unproved(quantity.network.activation)


def overlap_bound(quantity: Any, rate: Fraction | None, constant: Decimal | None, start: int) -> Certificate:
    """Return the certificate of ``quantity <= constant d**rate`` for every d >= ``start``; NoCertificate, with the reason, else."""
    network = quantity.network

    def find(size: int) -> Certificate:
        return overlap_certificate(network.activation, network.depth, quantity.power, size)

    return answer(quantity, why_not(quantity), find, rate, constant, start)
