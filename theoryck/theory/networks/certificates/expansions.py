"""Norm deviations to the second order: |E X_L^k - (k-1)!! v^(k/2) d^(-k/2)| <= U d^(-(k+1)/2) + K d^(-k/2-1), k even.

The lemmas are those of :mod:`theoryck.records.certificates`, section 9.  Beside the numbers of a layer that the bound needs, with
mu = nu^2 and x = s - sigma, for every s >= 0

    |f(s) - f(sigma) - f'(sigma) x - f''(sigma) x^2/2| <= third |x|^3,   |mu(s) - mu(sigma) - mu'(sigma) x| <= sway x^2,

and |f''(sigma)| <= bend, |mu'(sigma)| <= tilt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from math import comb
from typing import Any

import numpy as np
from flint import arb, arb_poly
from numpy.typing import NDArray

from theoryck.numerics.balls import plus_minus, precision
from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.functions.trees import REAL, tree_of
from theoryck.quantities.base import NoCertificate
from theoryck.records import Certificate
from theoryck.theory.networks.certificates.cells import BITS, EDGE, TERMS, nonnegative
from theoryck.theory.networks.certificates.decimals import ball, certificate, plain_text, rounded_down, rounded_up, rows
from theoryck.theory.networks.certificates.envelopes import Bounded, Envelope
from theoryck.theory.networks.certificates.layers import HIGHEST, Layer, LayerBounds, layer_bounds, layer_of, times
from theoryck.theory.networks.certificates.moments import (
    Moments,
    absolute,
    central_lines,
    input_cumulants,
    input_moments,
    next_moments,
    partition_count,
)
from theoryck.theory.networks.certificates.ranges import envelope
from theoryck.theory.networks.certificates.refusals import NothingBelow

_MARGIN, _RAISE, _RAISES = 1.001, 1.0005, 6
_CLEAR, _CANCELLED = 1 + 2.0**-30, 2.0**-40
_LOWEST = -60
_READER = 10
"""How much wider errors of a reader's series of f may be, squared where phi grows: third orders of a nearly linear f are small."""
_FAR = 1.05
"""What the last cell may ask of a number, as a multiple of the largest value seen, before another cell is worth its time."""
_TOPS, _LARGEST_TOP = (3, 4, 6), 40
"""The largest moments tried, as multiples of the power, and the largest that certificates have; the least constant is taken, so
that it falls with the start."""


@dataclass(frozen=True, slots=True)
class CurvedBounds:
    """The numbers of a layer, as they are written."""

    layer: LayerBounds
    bend: Decimal
    third: Decimal
    tilt: Decimal
    sway: Decimal

    def to_json(self) -> dict[str, Any]:
        """Return the layer as JSON data."""
        return self.layer.to_json() | {name: plain_text(getattr(self, name)) for name in ("bend", "third", "tilt", "sway")}

    def times(self, exponent: int) -> CurvedBounds:
        """Return the numbers of a layer of which phi^2 is 10^``exponent`` times as large: mu is of the order of phi^4."""
        scaled = times(self, exponent)
        return replace(scaled, tilt=scaled.tilt.scaleb(exponent), sway=scaled.sway.scaleb(exponent))


class _Curved:
    """The search for ``third`` and ``sway`` on the cells of a layer."""

    def __init__(self, layer: Layer) -> None:
        self.layer = layer
        here = layer.at(0)
        self.bend: arb = 2 * here.f[2] / layer.centre**2
        self.variance: arb = here.variance[0]
        self.tilt: arb = here.variance[1] / layer.centre

    def seen(self, index: int) -> NDArray[np.float64]:
        """Return the largest (third, sway) on a cell, in floats: nothing is proved."""
        part = self.layer.at(index)
        f, variance = (np.array([float(a.mid()) for a in p.coeffs()][::-1]) for p in (part.f, part.variance))
        t = np.linspace(-1 / 3, 1 / 3, 241)
        c, sigma = float(part.centre.mid()), float(self.layer.centre.mid())
        if index == 0:
            return np.array([np.abs(np.polyval(f[:-3], t)).max() / c**3, np.abs(np.polyval(variance[:-2], t)).max() / c**2])
        return self._ratios(c * (1 + t) - sigma, np.polyval(f, t), np.polyval(variance, t))

    def at_zero(self) -> NDArray[np.float64]:
        """Return (third, sway) at s = 0, in floats."""
        start = float(tree_of((self.layer.expression**2,)).at(REAL, arb(0)).mid())
        return self._ratios(np.array([-float(self.layer.centre.mid())]), np.array([start]), np.array([0.0]))

    def _ratios(self, x: NDArray[np.float64], f: NDArray[np.float64], variance: NDArray[np.float64]) -> NDArray[np.float64]:
        image, slope, bend, mu, tilt = (
            float(a.mid()) for a in (self.layer.image, self.layer.slope, self.bend, self.variance, self.tilt)
        )
        bent, drift = np.abs(f - image - slope * x - bend / 2 * x**2), np.abs(variance - mu - tilt * x)
        return np.array([(bent / np.abs(x) ** 3).max(), (drift / x**2).max()])

    def far(self, highest: int) -> tuple[arb, arb]:
        """Return the least (third, sway) that hold beyond the cell ``highest`` since 0 <= f <= a + b s and nu <= c + d s there."""
        layer = self.layer
        x = layer.centre * (arb(2) ** (highest + 2) / 3 - 1)
        (a, b), (c, d) = layer.envelope.mean, layer.envelope.spread
        furthest = layer.image.max((a + b * layer.centre - layer.image).max(arb(0)) + b * x)
        third = (furthest + abs(layer.slope) * x + abs(self.bend) / 2 * x**2) / x**3
        return third, ((c + d * (layer.centre + x)) ** 2 + abs(self.tilt) * x) / x**2

    def proved(self, index: int, third: arb, sway: arb) -> tuple[bool, bool]:
        """Return which of the two are proved on a cell."""
        part, layer = self.layer.at(index), self.layer
        scale = layer.scale(index)
        wider = (_READER if isinstance(layer.envelope, Bounded) else _READER**2) * layer.envelope.scale(part.centre)
        if index == 0:  # the tails divided by |t|^3 and t^2
            bent = arb_poly(part.f.coeffs()[3:]) + plus_minus(wider * arb(3) ** (3 - TERMS))
            drift = arb_poly(part.variance.coeffs()[2:]) + plus_minus(3 * scale**2 * arb(3) ** (2 - TERMS))
            room, space = arb_poly([third * layer.centre**3]), arb_poly([sway * layer.centre**2])
        else:
            x = arb_poly([part.centre - layer.centre, part.centre])
            error = plus_minus(arb(3) ** -TERMS)
            bent = part.f - layer.image + wider * error - layer.slope * x - self.bend / 2 * x * x
            drift = part.variance - self.variance + 3 * scale**2 * error - self.tilt * x
            room, space = third * x * x * (x if index > 0 else -x), sway * x * x
        within = (
            all(nonnegative(most + sign * what, -EDGE, EDGE) for sign in (1, -1)) for most, what in ((room, bent), (space, drift))
        )
        return next(within), next(within)

    def proved_near_zero(self, lowest: int, third: arb, sway: arb) -> bool:
        """Whether both hold below the cell ``lowest``: the enclosures of f and nu near 0."""
        layer = self.layer
        near = layer.near_zero(lowest)
        if near is None:
            return False
        edge, f, nu = near
        x = arb(0).union(arb(edge.upper())) - layer.centre
        bent = f - layer.image - layer.slope * x - self.bend / 2 * x**2
        drift = arb(0).union(arb((nu**2).upper())) - self.variance - self.tilt * x
        distance = layer.centre - edge
        return bool(abs(bent) <= third * distance**3 and abs(drift) <= sway * distance**2)


def curved_bounds(layer: Layer) -> CurvedBounds:
    """Return proved numbers for a layer, those of the bound among them; NoCertificate, which names the inequality, else."""
    search, norms = _Curved(layer), layer_bounds(layer)
    lowest, highest = norms.cells
    found = np.max([search.at_zero(), *(search.seen(index) for index in range(lowest, highest + 1))], axis=0)
    least = np.array([float(part.upper()) for part in search.far(highest)])
    while highest < HIGHEST and any(least > _FAR * found):
        highest += 1
        found = np.maximum(found, search.seen(highest))
        least = np.array([float(part.upper()) for part in search.far(highest)])
    if highest > norms.cells[1]:
        norms = layer_bounds(layer, highest)
        lowest, highest = min(lowest, norms.cells[0]), norms.cells[1]
    size, centre, image = layer.size, layer.centre, layer.image
    sizes = (size / centre**2, size**2)
    numbers = [rounded_up(value, size=size) for value, size in zip(np.maximum(_MARGIN * found, 1.0001 * least), sizes)]
    for _ in range(_RAISES):
        balls = [ball(number) for number in numbers]
        # Two cells more than needed: a reader's box of phi^2 around 0 may be wider.
        while lowest > _LOWEST and not search.proved_near_zero(min(lowest + 2, -1), *balls):
            lowest -= 1
            numbers = [max(number, rounded_up(_MARGIN * value)) for number, value in zip(numbers, search.seen(lowest))]
            balls = [ball(number) for number in numbers]
        proved = [all(column) for column in zip(*(search.proved(index, *balls) for index in range(lowest, highest + 1)))]
        if all(proved) and search.proved_near_zero(lowest, *balls):
            break
        numbers = [number if done else rounded_up(_RAISE * float(number)) for number, done in zip(numbers, proved)]
        if all(proved):
            numbers = [rounded_up(_RAISE * float(number)) for number in numbers]
    else:
        failing = next((name for name, done in zip(("third", "sway"), proved) if not done), "s near 0")
        raise NoCertificate(
            f"the inequality of {failing} of the layer after sigma = {float(centre.mid()):.6g} could not be proved: "
            "take a less steep or less flat phi"
        )
    if not layer.holds(norms, lowest, highest):
        raise NoCertificate(f"the inequalities of the layer after sigma = {float(centre.mid()):.6g} fail on more cells")
    # Where the leading digits cancel a reader's ball may be wider: by far less than half a percent of 1e-9 of the size.
    pairs = ((abs(search.bend), size / centre), (abs(search.tilt), image * size))
    bend, tilt = (rounded_up(_CLEAR * value + _CANCELLED * natural, 9, natural) for value, natural in pairs)
    return CurvedBounds(replace(norms, cells=(lowest, highest)), bend, numbers[0], tilt, numbers[1])


@lru_cache(maxsize=256)
def bounds_of(activation: Activation, index: int) -> CurvedBounds:
    """Return :func:`curved_bounds` of the layer after sigma_index of phi."""
    layer, exponent = layer_of(activation, index)
    with precision(BITS):
        return curved_bounds(layer).times(exponent)


def variance(activation: Activation, depth: int) -> arb:
    """Return v_L: v_0 = 2, v_(l+1) = f'(sigma_l)^2 v_l + mu(sigma_l)."""
    found = arb(2)
    for layer, exponent in (layer_of(activation, index) for index in range(depth)):
        scale = arb(10) ** exponent
        found = (layer.slope * scale) ** 2 * found + (layer.deviation * scale) ** 2
    return found


@dataclass(frozen=True, slots=True)
class Rests:
    """K_(l,j) for odd j and [U_(l,j), K_(l,j)] for even j: by how much moments differ from those of a Gaussian of variance v/d."""

    odd: dict[int, Decimal]
    even: dict[int, tuple[Decimal, Decimal]]


def _written(value: arb) -> Decimal:
    # A reader's balls may be wider than the last digit; what is 0 is so exactly.
    return rounded_up(_CLEAR * value, 7)


def input_rests(start: int, power: int) -> Rests:
    """Return those of chi^2_d/d - 1: the partitions of j into fewer parts than j/2, c(pi) N^(m - (j-1)/2) or N^(m - (j-2)/2).

    >>> input_rests(1, 2)  # E X^3 = 8/d^2, E X^2 = 2/d
    Rests(odd={1: Decimal('0'), 3: Decimal('8.000001')}, even={2: (Decimal('0'), Decimal('0'))})
    """
    cumulants = [arb_poly([kappa]) for kappa in input_cumulants(power + 1)]
    parts = _by_parts(cumulants)

    def rest(j: int) -> Decimal:
        most = (j - 1) // 2
        return _written(sum((parts[j][m][0] / arb(start) ** (most - m) for m in range(1, most + 1)), arb(0)))

    even = {j: (Decimal(0), rest(j)) for j in range(2, power + 1, 2)}
    return Rests({j: rest(j) for j in range(1, power + 2, 2)}, even)


def _by_parts(lines: Sequence[arb_poly]) -> list[list[arb_poly]]:
    """Return A[i][m], the sum over the partitions of i into m parts of c(pi) times the product of ``lines`` over the parts."""
    found = [[arb_poly([1])]]
    for i in range(1, len(lines)):
        row = [arb_poly([0])]
        for m in range(1, i // 2 + 1):
            terms = (comb(i - 1, a - 1) * lines[a] * found[i - a][m - 1] for a in range(2, i + 1) if m - 1 < len(found[i - a]))
            row.append(sum(terms, arb_poly([0])))
        found.append(row)
    return found


class Step:
    """One layer: the rests of X_(l+1) from those of X_l."""

    def __init__(self, bounds: CurvedBounds, before: Sequence[Decimal], rests: Rests, start: int, growth: Envelope) -> None:
        self.h, self.rests, self.small = absolute(before), rests, 1 / arb(start).sqrt()
        layer, top = bounds.layer, max(rests.odd)
        self.slope, self.noise = ball(layer.slope), ball(layer.deviation) ** 2
        # Polynomials of y = |X_l|: bounds of |g| to the first and to the second order, and of mu.
        self.first = arb_poly([0, self.slope, ball(layer.curvature)])
        self.second = arb_poly([0, self.slope, ball(bounds.bend) / 2, ball(bounds.third)])
        self.spread = arb_poly([self.noise, ball(bounds.tilt), ball(bounds.sway)])
        self.parts = _by_parts(central_lines(layer, growth, top, self.spread))

    def _mean(self, polynomial: arb_poly, order: int) -> arb:
        """[F]_q: E of the terms of degrees q and more is at most it times d^(-q/2)."""
        terms = enumerate(polynomial.coeffs())
        return sum((abs(weight) * self.h[r] * self.small ** (r - order) for r, weight in terms if r >= order), arb(0))

    def _fewer(self, j: int, i: int, m: int) -> arb:
        """The partitions of i into m parts, without their power of N."""
        return comb(j, i) * self._mean(self.first ** (j - i) * self.parts[i][m], j - i)

    def odd(self, j: int) -> Decimal:
        """Return K_(l+1,j), j odd."""
        total = arb(0)
        for m in range((j + 1) // 2):
            p = j - 2 * m
            rest = self.slope**p * self.noise**m * ball(self.rests.odd[p])
            rest += self._mean(self.first**p * self.spread**m, p + 1)
            total += comb(j, 2 * m) * partition_count(2 * m, m) * rest
        for i in range(3, j + 1):
            for m in range(1, (i - 1) // 2 + 1):
                total += self.small ** (i - 1 - 2 * m) * self._fewer(j, i, m)
        return _written(total)

    def even(self, j: int) -> tuple[Decimal, Decimal]:
        """Return U_(l+1,j) and K_(l+1,j), j even."""
        half, total = arb(0), arb(0)
        for m in range(j // 2 + 1):
            p = j - 2 * m
            weight, leading = comb(j, 2 * m) * partition_count(2 * m, m), self.slope**p * self.noise**m
            u, k = self.rests.even[p] if p else (Decimal(0), Decimal(0))
            product = self.second**p * self.spread**m
            rest = leading * ball(k) + product[p + 1] * ball(self.rests.odd[p + 1]) + self._mean(product, p + 2)
            rest += comb(m, 2) * self._mean(self.first**p * self.spread**m, p)
            total += weight * rest
            half += weight * leading * ball(u)
        for i in range(3, j + 1):
            for m in range(1, (i - 2) // 2 + 1):
                total += self.small ** (i - 2 - 2 * m) * self._fewer(j, i, m)
            if i % 2:
                half += self._fewer(j, i, (i - 1) // 2)
        return _written(half), _written(total)


@dataclass(frozen=True, slots=True)
class _Found:
    """What leads from the layers to the result."""

    moments: list[Moments]
    rests: list[Rests]
    constant: Decimal
    least: Decimal


def expansion_certificate(activation: Activation, depth: int, power: int, start: int) -> Certificate:
    """Return the certificate of method "expansion", power even; NothingBelow where the lower bound would be 0.

    >>> found = expansion_certificate(Activation("tanh"), depth=2, power=2, start=4096)
    >>> found.least, found.constant  # the limit of d E X^2 is 0.07748
    ('0.07...', '0.07...')
    """
    if power % 2:
        raise NoCertificate(f"the second order is that of even powers, got {power}")
    growth = envelope(activation.expression)
    bounds = [bounds_of(activation, index) for index in range(depth)]
    with precision(BITS):
        limit = variance(activation, depth)
        ends = rounded_down(limit / _CLEAR, 9), rounded_up(_CLEAR * limit, 9)
        tops = (min(factor * power, _LARGEST_TOP) for factor in (_TOPS if depth else _TOPS[:1]))
        tried = (_found(bounds, ends, power, start, growth, top) for top in tops)
        best = min(tried, key=lambda each: (each.constant, each.rests[-1].even[power][1]))
    if best.least == 0:
        raise NothingBelow(f"from d = {start} on no bound from below is proved: take a larger start")
    last = best.rests[-1].even[power]
    proof = {
        **growth.entry,
        "top": 2 * len(best.moments[0]) if depth else 3 * power,
        "layers": [bound.to_json() for bound in bounds],
        "moments": rows(best.moments),
        "odd": [[plain_text(number) for number in rest.odd.values()] for rest in best.rests[:-1]] + [[]],
        "even": [[[plain_text(number) for number in pair] for pair in rest.even.values()] for rest in best.rests[:-1]]
        + [[[plain_text(number) for number in last]]],
    }
    made = certificate("norm-deviation", "expansion", activation, (depth, power, start), best.constant, proof, best.least)
    return replace(made, limit=tuple(map(plain_text, ends)), remainder=tuple(map(plain_text, last)))


def _found(
    bounds: Sequence[CurvedBounds], ends: tuple[Decimal, Decimal], power: int, start: int, growth: Envelope, top: int
) -> _Found:
    moments: list[Moments] = []
    rests = [input_rests(start, power)]
    for index, bound in enumerate(bounds):
        moments.append(
            input_moments(start, top) if index == 0 else next_moments(bounds[index - 1].layer, moments[-1], start, growth, top)
        )
        step = Step(bound, moments[-1], rests[-1], start, growth)
        last = index == len(bounds) - 1
        odd = {} if last else {j: step.odd(j) for j in range(1, power + 2, 2)}
        rests.append(Rests(odd, {j: step.even(j) for j in ((power,) if last else range(2, power + 1, 2))}))
    small, leading = 1 / arb(start).sqrt(), partition_count(power, power // 2)
    half, whole = (ball(number) for number in rests[-1].even[power])
    rest = half * small + whole / start
    low, high = (leading * ball(end) ** (power // 2) for end in ends)
    return _Found(moments, rests, _written(high + rest), rounded_down((low - rest) / _CLEAR, 7))
