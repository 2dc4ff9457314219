"""The numbers of one layer of a certificate of method "comparison": searched in floats, proved in balls.

With sigma the centre, f(s) = E phi(sqrt(s) Z)^2 and nu(s)^2 = Var phi(sqrt(s) Z)^2, for every s >= 0 and x = s - sigma:

    |f(s) - f(sigma)| <= chord |x|,   |f(s) - f(sigma) - f'(sigma) x| <= curvature x^2,   nu(s) <= nu(sigma) + growth |x|,

and |f'(sigma)| <= slope, nu(sigma) <= deviation.  On each cell the three are polynomial inequalities in t = s/c - 1; what is left
is s near 0, where phi^2 is near phi(0)^2, and s far away, where 0 <= f <= a + b s and the like of nu are enough.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from flint import arb, arb_poly, fmpq
from numpy.typing import NDArray
from sympy import Expr

from theoryck.numerics.balls import plus_minus
from theoryck.numerics.functions.trees import REAL, tree_of
from theoryck.quantities.base import NoCertificate
from theoryck.theory.networks.certificates.cells import EDGE, TERMS, Cell, cell, nonnegative
from theoryck.theory.networks.certificates.decimals import LEAST, ball, plain_text, rounded_up
from theoryck.theory.networks.certificates.envelopes import Envelope

_MARGIN = 1.001
_CLEAR = 1 + 2.0**-30
"""What a number that is known in full keeps clear of: a reader's balls may be wider than the last digit that it is rounded to."""
_RAISES = 6
_RAISE = 1.0005
_LOWEST, _HIGHEST = -60, 9
_POINTS = 241
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
        return {"centre": f"{self.centre:f}", **rest, "cells": list(self.cells)}


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

    def at(self, index: int) -> Cell:
        """Return the cell around centre 2^index."""
        if index not in self._cells:
            self._cells[index] = cell(self.expression, self.centre * arb(2) ** index)
        return self._cells[index]

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
        part, sigma, scale = self.at(0), self.centre, self.envelope.scale(self.centre)
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
        scale = self.envelope.scale(part.centre)
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

    def proved_near_zero(self, lowest: int, bounds: _Bounds) -> bool:
        """Whether all three hold below the cell ``lowest`` < 0: sqrt(s)|Z| <= 12 sqrt(s_0) but for a probability below 1e-32."""
        edge = self.centre * arb(2) ** (lowest + 1) / 3
        box = tree_of((self.expression**2,)).at(REAL, plus_minus(12 * edge.sqrt()))
        if not box.is_finite():
            return False
        beyond, further = self.envelope.near_zero(edge)
        f = arb(box) + plus_minus(beyond)
        # Var Y <= E (Y - middle)^2 <= radius^2 + what lies beyond.
        nu = arb(box.rad()) + further
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


def layer_bounds(layer: Layer) -> LayerBounds:
    """Return proved numbers for a layer, within half a percent of the least; NoCertificate, which names the inequality, else."""
    highest, found = _far_enough(layer)
    lowest = -6
    found = np.max([found, layer.suprema(range(lowest, 0)), layer.at_zero()], axis=0)
    bounds = [rounded_up(_MARGIN * value) for value in found]
    for _ in range(_RAISES):
        balls = _Bounds(*(ball(number) for number in bounds))
        # Downwards until the neighbourhood of 0 is done.
        while not layer.proved_near_zero(lowest, balls) and lowest > _LOWEST:
            lowest -= 1
        proved = [True, True, True]
        for index in range(lowest, highest + 1):
            proved = [a and b for a, b in zip(proved, layer.proved(index, balls))]
        if all(proved) and layer.proved_near_zero(lowest, balls) and all(layer.proved_far(highest, balls)):
            return _written(layer, bounds, (lowest, highest))
        bounds = [number if done else rounded_up(_RAISE * float(number)) for number, done in zip(bounds, proved)]
        if all(proved):
            bounds = [rounded_up(_RAISE * float(number)) for number in bounds]
    failing = next((name for name, done in zip(("curvature", "chord", "growth"), proved) if not done), "s near 0")
    raise NoCertificate(f"the inequality of {failing} of the layer after sigma = {float(layer.centre):.6g} could not be proved")


def _far_enough(layer: Layer) -> tuple[int, NDArray[np.float64]]:
    """Return the last cell and (curvature, chord, growth) up to it such that all three hold beyond."""
    found = layer.suprema(range(-1, 1))
    nu, sigma = float(layer.deviation.mid()), float(layer.centre.mid())
    spread, growth, start, slope = (float(part.upper()) for part in (*layer.envelope.spread, *layer.envelope.mean))
    image, steep = float(layer.image.mid()), abs(float(layer.slope.mid()))
    for highest in range(1, _HIGHEST + 1):
        found = np.maximum(found, layer.suprema(range(highest, highest + 1)))
        x = sigma * (2.0 ** (highest + 2) / 3 - 1)
        # What proved_far asks for: a larger growth costs little, the others are made larger only where no cell is left.
        furthest = max(image, max(start + slope * sigma - image, 0) + slope * x)
        least = 1.0001 * np.array(
            [(furthest + steep * x) / x**2, furthest / x, max((spread + growth * (sigma + x) - nu) / x, growth)]
        )
        enough = max(float(found[2]), _SMALL_GROWTH * nu / sigma) >= least[2] and all(found[:2] >= least[:2])
        if enough or highest == _HIGHEST:
            break
    return highest, np.maximum(found, least)


def _written(layer: Layer, bounds: list[Decimal], cells: tuple[int, int]) -> LayerBounds:
    centre = Decimal(f"{float(layer.centre.mid()):#.12g}")
    curvature, chord, growth = bounds
    slope, deviation = (rounded_up(_CLEAR * value, 9) for value in (abs(layer.slope), layer.deviation))
    return LayerBounds(centre, slope, max(curvature, LEAST), max(chord, LEAST), deviation, max(growth, LEAST), cells)
