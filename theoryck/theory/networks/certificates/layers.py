"""The numbers of one layer of a certificate of method "comparison": searched in floats, proved in balls.

With sigma the centre, f(s) = E phi(sqrt(s) Z)^2 and nu(s)^2 = Var phi(sqrt(s) Z)^2, for every s >= 0 and x = s - sigma:

    |f(s) - f(sigma)| <= chord |x|,   |f(s) - f(sigma) - f'(sigma) x| <= curvature x^2,   nu(s) <= nu(sigma) + growth |x|,

and |f'(sigma)| <= slope, nu(sigma) <= deviation.  On each cell the three are polynomial inequalities in t = s/c - 1; what is left
is s near 0, where phi^2 is near phi(0)^2, and s far away, where 0 <= f <= a + b s and the like of nu are enough.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from functools import lru_cache
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
import sympy
from flint import arb, arb_poly, fmpq
from numpy.typing import NDArray
from sympy import Expr

from theoryck.numerics.balls import plus_minus, precision
from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.functions.trees import REAL, tree_of
from theoryck.numerics.proved.hermite import hermite_table
from theoryck.numerics.proved.strips import FLOATS, NoBound, strip_size
from theoryck.quantities.base import NoCertificate
from theoryck.theory.networks.certificates.cells import BITS, EDGE, TERMS, Cell, cell, nonnegative
from theoryck.theory.networks.certificates.decimals import as_written, ball, plain_text, rounded_up
from theoryck.theory.networks.certificates.envelopes import Envelope
from theoryck.theory.networks.certificates.ranges import envelope

_MARGIN = 1.001
_CLEAR = 1 + 2.0**-30
"""What a number that is known in full keeps clear of: a reader's balls may be wider than the last digit that it is rounded to."""
_RAISES = 6
_RAISE = 1.0005
_LOWEST, HIGHEST = -60, 9
_POINTS = 241
_LOOSE = 30
"""Errors of series are bounded by moments of order 8 where bounds of phi^2 are so many times larger than typical values."""
_STRIP, _STEEP = 2.0**-8, 3
"""Half the width of the strip of z, x = sqrt(sigma) z, in which phi must not grow by this factor: else grids are too fine."""
_SHARE = 1e-9
"""The least ratio of f to the bound of phi^2 at which what lies beyond |z| = 12 is small beside phi^8."""
_CONSTANT, _NEARLY = 1e-9, 1e-6
"""Standard deviations of phi^2 over its mean that are not told from 0, and that are too small where an inequality fails."""
_SMALL_GROWTH = 0.03
"""Share of nu(sigma)/sigma below which a larger ``growth`` costs too little to be worth another cell far away."""


@dataclass(frozen=True, slots=True)
class LayerBounds:
    """The numbers of a layer, as they are written."""

    centre: Decimal
    slope: Decimal
    curvature: Decimal
    chord: Decimal
    deviation: Decimal
    growth: Decimal
    cells: tuple[int, int]

    def to_json(self) -> dict[str, Any]:
        """Return the layer as JSON data."""
        numbers = ("slope", "curvature", "chord", "deviation", "growth")
        rest = {name: plain_text(getattr(self, name)) for name in numbers}
        return {"centre": as_written(self.centre), **rest, "cells": list(self.cells)}


@dataclass(frozen=True, slots=True)
class _Bounds:
    """The three numbers that hold for every s, as balls of what is written."""

    curvature: arb
    chord: arb
    growth: arb


class Layer:
    """What is known of the map of one layer around ``centre``: its cells, made when they are needed."""

    def __init__(self, expression: Expr, centre: arb, envelope: Envelope) -> None:
        self.expression, self.centre, self.envelope = expression, centre, envelope
        self._cells: dict[int, Cell] = {}
        here = self.at(0)
        self.image: arb = here.f[0]
        self.slope: arb = here.f[1] / centre
        self.mean: arb = here.mean[0]
        self.deviation: arb = arb(here.variance[0]).max(arb(0)).sqrt()
        self.size: arb = self.image / centre
        """The natural size of slope, chord and growth; that of curvature is it over the centre, of deviation the image."""
        self._scales: dict[int, arb] = {}

    def at(self, index: int) -> Cell:
        """Return the cell around centre 2^index."""
        if index not in self._cells:
            self._cells[index] = cell(self.expression, self.centre * arb(2) ** index)
        return self._cells[index]

    def scale(self, index: int) -> arb:
        """Return r such that series on a cell err by at most r |t|^m of f and 3 r^2 |t|^m of G - f^2, |t| <= 1/3.

        By Cauchy-Schwarz |f_n| <= p = (E phi^4)^(1/2), |G_n| <= q^2 = (E phi^8)^(1/2), p <= q: the tails are at most (3/2) p |t|^m
        of f, (3/2) q^2 |t|^m of G and, as f <= f_0 + p/2 <= (3/2) p, at most (27/4) p^2 |t|^m of f^2; (3/2 + 27/4)/3 <= 1.66^2.
        """
        if index not in self._scales:
            part = self.at(index)
            found = self.envelope.scale(part.centre)
            fourth = abs(part.variance[0] + part.f[0] ** 2)
            if found > _LOOSE * fourth.sqrt():  # where phi is far below its bound
                eighth = arb(abs(hermite_table(self.expression, part.centre, 8, 0, BITS)[8][0]).upper())
                found = found.min(arb("1.66") * eighth.root(4))
            self._scales[index] = arb(found.upper())
        return self._scales[index]

    # -- search ----------------------------------------------------------------------------------------------------------------

    def suprema(self, indices: Iterator[int] | range) -> NDArray[np.float64]:
        """Return (curvature, chord, growth) as the largest ratios seen on cells, in floats: nothing is proved."""
        return np.max([self._seen(index) for index in indices], axis=0)

    def at_zero(self) -> NDArray[np.float64]:
        """Return (curvature, chord, growth) at s = 0, in floats."""
        sigma, change = float(self.centre.mid()), float(tree_of((self.expression**2,)).at(REAL, arb(0)).mid() - self.image.mid())
        return np.array([abs(change / sigma + float(self.slope.mid())) / sigma, abs(change) / sigma, 0.0])

    def _seen(self, index: int) -> NDArray[np.float64]:
        part = self.at(index)
        f, variance = (np.array([float(a.mid()) for a in p.coeffs()][::-1]) for p in (part.f, part.variance))
        t = np.linspace(-1 / 3, 1 / 3, _POINTS)
        sigma, slope, nu = float(self.centre.mid()), float(self.slope.mid()), float(self.deviation.mid())
        c = float(part.centre.mid())
        if index == 0:
            quotient, curve = np.polyval(f[:-1], t) / c, np.polyval(f[:-2], t) / c**2
            spread = np.sqrt(np.maximum(np.polyval(variance, t), 0))
            rise = np.polyval(variance[:-1], t) / (c * np.maximum(spread + nu, 1e-300)) * np.sign(t)
            ends = np.array([1, -1]) * variance[-2] / (c * max(2 * nu, 1e-300))
            return np.array([np.abs(curve).max(), np.abs(quotient).max(), max(rise.max(), ends.max())])
        x = c * (1 + t) - sigma
        change = np.polyval(f, t) - float(self.image.mid())
        rise = (np.sqrt(np.maximum(np.polyval(variance, t), 0)) - nu) / np.abs(x)
        return np.array([np.abs((change - slope * x) / x**2).max(), np.abs(change / x).max(), rise.max()])

    # -- proof -----------------------------------------------------------------------------------------------------------------

    def proved(self, index: int, bounds: _Bounds) -> tuple[bool, bool, bool]:
        """Return which of curvature, chord and growth are proved on a cell."""
        return self._around(bounds) if index == 0 else self._aside(index, bounds)

    def _around(self, bounds: _Bounds) -> tuple[bool, bool, bool]:
        part, sigma, scale = self.at(0), self.centre, self.scale(0)
        # The tails (see cells) divided by t or t^2; |t|^m <= |t|^(m-2)/9.
        quotient, curve = (arb_poly(part.f.coeffs()[n:]) + plus_minus(scale * arb(3) ** (n - TERMS)) for n in (1, 2))
        rise = arb_poly(part.variance.coeffs()[1:]) + plus_minus(3 * scale**2 * arb(3) ** (1 - TERMS))
        chord = all(nonnegative(bounds.chord * sigma + sign * quotient, -EDGE, EDGE) for sign in (1, -1))
        bend = all(nonnegative(bounds.curvature * sigma**2 + sign * curve, -EDGE, EDGE) for sign in (1, -1))
        # (nu + growth sigma |t|)^2 - nu(s)^2 = |t| (2 nu growth sigma + (growth sigma)^2 |t| -+ rise(t)).
        scaled = bounds.growth * sigma
        right = arb_poly([2 * self.deviation * scaled, scaled**2]) - rise
        left = arb_poly([2 * self.deviation * scaled, -(scaled**2)]) + rise
        return bend, chord, nonnegative(right, fmpq(0), EDGE) and nonnegative(left, -EDGE, fmpq(0))

    def _aside(self, index: int, bounds: _Bounds) -> tuple[bool, bool, bool]:
        part = self.at(index)
        scale = self.scale(index)
        error = plus_minus(scale * arb(3) ** -TERMS)
        x = arb_poly([part.centre - self.centre, part.centre])
        change = part.f - self.image + error
        distance = x if index > 0 else -x
        chord = all(nonnegative(bounds.chord * distance + sign * change, -EDGE, EDGE) for sign in (1, -1))
        bent = change - self.slope * x
        bend = all(nonnegative(bounds.curvature * x * x + sign * bent, -EDGE, EDGE) for sign in (1, -1))
        reach = bounds.growth * distance + self.deviation
        spread = reach * reach - part.variance + 3 * scale * error
        return bend, chord, nonnegative(spread, -EDGE, EDGE)

    def near_zero(self, lowest: int) -> tuple[arb, arb, arb] | None:
        """Return s_0, where the cell ``lowest`` < 0 begins, an enclosure of f and a bound of nu up to it; None where there is none.

        sqrt(s)|Z| <= 12 sqrt(s_0) but for a probability below 1e-32.
        """
        edge = self.centre * arb(2) ** (lowest + 1) / 3
        box = tree_of((self.expression**2,)).at(REAL, plus_minus(12 * edge.sqrt()))
        if not box.is_finite():
            return None
        beyond, further = self.envelope.near_zero(edge)
        # Var Y <= E (Y - middle)^2 <= radius^2 + what lies beyond.
        return edge, arb(box) + plus_minus(beyond), arb(box.rad()) + further

    def proved_near_zero(self, lowest: int, bounds: _Bounds) -> bool:
        """Whether all three hold below the cell ``lowest`` < 0."""
        near = self.near_zero(lowest)
        if near is None:
            return False
        edge, f, nu = near
        x = arb(0).union(arb(edge.upper())) - self.centre
        distance = self.centre - edge
        return bool(
            abs(f - self.image) <= bounds.chord * distance
            and abs(f - self.image - self.slope * x) <= bounds.curvature * distance**2
            and nu <= self.deviation + bounds.growth * distance
        )

    def proved_far(self, highest: int, bounds: _Bounds) -> tuple[bool, bool, bool]:
        """Return which of curvature, chord and growth hold beyond the cell ``highest`` since 0 <= f <= a + b s and nu does."""
        x = self.centre * (arb(2) ** (highest + 2) / 3 - 1)
        (a, b), (c, d) = self.envelope.mean, self.envelope.spread
        furthest = self.image.max((a + b * self.centre - self.image).max(arb(0)) + b * x)
        return (
            bool(bounds.curvature * x**2 >= furthest + abs(self.slope) * x),
            bool(bounds.chord * x >= furthest and bounds.chord >= b),
            bool(self.deviation + bounds.growth * x >= c + d * (self.centre + x) and bounds.growth >= d),
        )

    def holds(self, bounds: LayerBounds, lowest: int, highest: int) -> bool:
        """Whether the three inequalities are proved with the cells ``lowest`` to ``highest``."""
        balls = _Bounds(*(ball(number) for number in (bounds.curvature, bounds.chord, bounds.growth)))
        cells = (self.proved(index, balls) for index in range(lowest, highest + 1))
        return self.proved_near_zero(lowest, balls) and all(self.proved_far(highest, balls)) and all(map(all, cells))


_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(64)


@lru_cache(maxsize=256)
def layer_of(activation: Activation, index: int) -> tuple[Layer, int]:
    """Return :func:`unit_layer` of the layer after sigma_index: it is kept, for several methods prove inequalities on its cells."""
    with precision(BITS):
        centre = arb(1)
        if index > 0:
            before, exponent = layer_of(activation, index - 1)
            centre = before.image * arb(10) ** exponent
        return unit_layer(activation.expression, centre, envelope(activation.expression))


def unit_layer(expression: Expr, centre: arb, envelope: Envelope) -> tuple[Layer, int]:
    """Return the layer of 10^(-e/2) phi, whose values at ``centre`` have a size near 1, and the even e; NoCertificate out of reach.

    f, nu and r^2 are quadratic in phi, and so are all of their inequalities: the numbers of phi are 10^e times those found.
    """
    _need_reach(expression, centre, envelope)
    values = Activation(expression)(float(centre.sqrt().mid()) * _NODES)
    size = float(np.square(values) @ _WEIGHTS / _WEIGHTS.sum())
    exponent = 2 * round(math.log10(size) / 2) if 0 < size < math.inf else 0
    scaled = expression if exponent == 0 else expression / sympy.Integer(10) ** (exponent // 2)
    layer = Layer(scaled, centre, envelope.times(-exponent))
    _need_size(layer)
    if not layer.deviation > _CONSTANT * layer.image:
        raise NoCertificate(_constant(layer))
    return layer, exponent


def _steep(expression: Expr, centre: arb, envelope: Envelope) -> bool:
    """Whether phi grows so fast off the real line that means at ``centre`` take minutes; with kinks there is no grid."""
    if Activation(expression).kinks:
        return False
    try:
        strip = strip_size(expression, float(centre.sqrt().mid()) * _STRIP, FLOATS)
    except NoBound:
        return True
    return bool(strip.bounded and strip.coefficients[0] > _STEEP * float(envelope.mean[0].mid()) ** 0.5)


def _need_reach(expression: Expr, centre: arb, envelope: Envelope) -> None:
    """Raise NoCertificate, with what would do, where phi is too steep at ``centre``."""
    if _steep(expression, centre, envelope):
        width = float(centre.sqrt().mid()) * _STRIP
        raise NoCertificate(
            f"phi is too steep for {_after(centre)}: |phi| is not bounded by {_STEEP} times its largest real value in the strip "
            f"|Im x| <= {width:.3g}, and its means would take minutes; take a smaller multiple of x in phi"
        )


def _need_size(layer: Layer) -> None:
    """Raise NoCertificate, with what would do, where phi is far below its bound around the centre."""
    start, slope = layer.envelope.mean
    share = float((layer.image / (start + slope * layer.centre)).mid())
    if not share > _SHARE:
        raise NoCertificate(
            f"phi is too small for {_after(layer.centre)}: its mean square is {share:.1e} times the bound of phi^2, and proofs "
            f"reach down to {_SHARE}; take a larger multiple of phi or of x in it, or fewer layers"
        )


class _Numbers(Protocol):
    __dataclass_fields__: ClassVar[dict[str, Any]]


Numbers = TypeVar("Numbers", bound=_Numbers)


def times(bounds: Numbers, exponent: int) -> Numbers:
    """Return the numbers of a layer of which phi^2 is 10^``exponent`` times as large; the centre is that of its input."""
    values = {field.name: getattr(bounds, field.name) for field in fields(bounds)}
    changed: dict[str, Any] = {name: value.scaleb(exponent) for name, value in values.items() if isinstance(value, Decimal)}
    changed |= {name: times(value, exponent) for name, value in values.items() if isinstance(value, LayerBounds)}
    changed.pop("centre", None)
    return replace(bounds, **changed)


@lru_cache(maxsize=256)
def bounds_of(activation: Activation, index: int, furthest: int = 1) -> LayerBounds:
    """Return :func:`layer_bounds` of the layer after sigma_index of phi."""
    layer, exponent = layer_of(activation, index)
    with precision(BITS):
        return times(layer_bounds(layer, furthest), exponent)


def layer_bounds(layer: Layer, furthest: int = 1) -> LayerBounds:
    """Return proved numbers for a layer, within half a percent of the least; NoCertificate, which names the inequality, else.

    The last cell is ``furthest`` at least.
    """
    lowest = -6
    highest, found = _far_enough(layer, np.maximum(layer.suprema(range(lowest, 0)), layer.at_zero()), furthest)
    sizes = (layer.size / layer.centre, layer.size, layer.size)
    bounds = [rounded_up(_MARGIN * value, size=size) for value, size in zip(found, sizes)]
    for _ in range(_RAISES):
        balls = _Bounds(*(ball(number) for number in bounds))
        # Downwards until the neighbourhood of 0 is done; a steep phi has its largest ratios there.
        while not layer.proved_near_zero(lowest, balls) and lowest > _LOWEST:
            lowest -= 1
            here = layer.suprema(range(lowest, lowest + 1))
            bounds = [max(number, rounded_up(_MARGIN * value)) for number, value in zip(bounds, here)]
            balls = _Bounds(*(ball(number) for number in bounds))
        proved = [True, True, True]
        for index in range(lowest, highest + 1):
            proved = [a and b for a, b in zip(proved, layer.proved(index, balls))]
        if all(proved) and layer.proved_near_zero(lowest, balls) and all(layer.proved_far(highest, balls)):
            return _written(layer, bounds, (lowest, highest))
        bounds = [number if done else rounded_up(_RAISE * float(number)) for number, done in zip(bounds, proved)]
        if all(proved):
            bounds = [rounded_up(_RAISE * float(number)) for number in bounds]
    failing = next((name for name, done in zip(("curvature", "chord", "growth"), proved) if not done), "s near 0")
    if layer.deviation < _NEARLY * layer.image:
        raise NoCertificate(_constant(layer))
    raise NoCertificate(
        f"the inequality of {failing} of {_after(layer.centre)} could not be proved: take a less steep or less flat phi"
    )


def _constant(layer: Layer) -> str:
    share = float((layer.deviation / layer.image).upper())
    digits = f" to {-math.log10(share):.0f} digits" if share > _CONSTANT else f" to more than {-math.log10(_CONSTANT):.0f} digits"
    return f"phi(x)^2 is constant{digits} in {_after(layer.centre)}, and what varies of it too little: take a phi that varies more"


def _after(centre: arb) -> str:
    return f"the layer after sigma = {float(centre.mid()):.6g}"


def _far_enough(layer: Layer, below: NDArray[np.float64], first: int) -> tuple[int, NDArray[np.float64]]:
    """Return the last cell and (curvature, chord, growth) up to it, ``below`` among them, such that all three hold beyond."""
    found = np.maximum(below, layer.suprema(range(first)))
    nu, sigma = float(layer.deviation.mid()), float(layer.centre.mid())
    spread, growth, start, slope = (float(part.upper()) for part in (*layer.envelope.spread, *layer.envelope.mean))
    image, steep = float(layer.image.mid()), abs(float(layer.slope.mid()))
    for highest in range(first, HIGHEST + 1):
        found = np.maximum(found, layer.suprema(range(highest, highest + 1)))
        x = sigma * (2.0 ** (highest + 2) / 3 - 1)
        # What proved_far asks for: a larger growth costs little, the others are made larger only where no cell is left.
        furthest = max(image, max(start + slope * sigma - image, 0) + slope * x)
        least = 1.0001 * np.array(
            [(furthest + steep * x) / x**2, furthest / x, max((spread + growth * (sigma + x) - nu) / x, growth)]
        )
        enough = max(float(found[2]), _SMALL_GROWTH * nu / sigma) >= least[2] and all(found[:2] >= least[:2])
        if enough or highest == HIGHEST or _steep(layer.expression, layer.centre * arb(2) ** (highest + 1), layer.envelope):
            break
    return highest, np.maximum(found, least)


def _written(layer: Layer, bounds: Sequence[Decimal], cells: tuple[int, int]) -> LayerBounds:
    centre = Decimal(f"{float(layer.centre.mid()):#.12g}")
    curvature, chord, growth = bounds
    pairs = ((abs(layer.slope), layer.size), (layer.deviation, layer.image))
    slope, deviation = (rounded_up(_CLEAR * value, 9, size) for value, size in pairs)
    return LayerBounds(centre, slope, curvature, chord, deviation, growth, cells)
