"""Quadrature for Gaussian kernels: panels that follow phi at every scale, and the integrals over them.

A panel carries a Gauss-Legendre rule.  Panels start at the kinks and at powers of two around 0, so that what happens near x = 1 is
seen at every variance, are halved until phi is a polynomial on each up to rounding, and joined again where that was not needed.
They end where phi(x) exp(-x^2/(4 s)) has died out, which depends on how phi grows; where it does not die out within
LARGEST_REACH standard deviations, or E phi^2 is infinite, there is no number.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy.special
from numpy.typing import NDArray

from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.functions.growth import growth
from theoryck.numerics.functions.pieces import polynomial_pieces

Array = NDArray[np.float64]

REACH = 14.0
"""Integrals over Z go at least this far: exp(-14^2/4) = 5e-22 is left of the two factors exp(-z^2/4) of a bounded phi."""

LARGEST_REACH = 36.0
"""At half the variance this is 51: exp(-51^2/4) = 4e-283 is the smallest Hermite function that float64 holds with all digits."""

NEGLIGIBLE = 1e-17
"""phi(x) exp(-x^2/(4s)) is cut where it stays below this times its maximum: the square of what is left out is below rounding."""

POINTS = 24
"""Nodes of a panel: exact for phi of degree 23 times a polynomial of degree 24."""

RESOLVED = 2e-15
"""Size of the last Legendre coefficients of phi on a panel, weighted by its mass, where it counts as a polynomial."""

LARGEST_PANELS = 800
LADDER_START = -10

CONDITIONAL_REACH = 10.0
"""exp(-10^2/2) = 2e-22 of the density is left beyond, for a phi that needs no more than REACH."""


@dataclass(frozen=True)
class Mesh:
    """Edges in x of panels on which phi is a polynomial up to rounding; ``wide`` where phi needs more than REACH."""

    edges: Array
    wide: bool


def mesh(phi: Activation, kinks: tuple[float, ...], s: float) -> Mesh:
    """Return the panels of phi for all variances in [s/2, s]; raises ValueError where E phi^2 is infinite or out of reach."""
    low, high = window(phi, s)
    kinks = tuple(kink for kink in kinks if low < kink < high)
    ladder = 2.0 ** np.arange(LADDER_START, max(math.ceil(math.log2(max(high, -low))), LADDER_START))
    uniform = np.linspace(low, high, math.ceil((high - low) / (2 * math.sqrt(s))) + 1)
    edges = np.unique(np.concatenate([uniform, ladder, -ladder, [0.0, *kinks]]))
    edges = edges[(edges >= low) & (edges <= high)]
    _, mass = _resolved(phi, s, edges[:-1], edges[1:], math.inf)
    edges = _joined(phi, s, _halved(phi, s, edges, mass), kinks, mass)
    if len(edges) > LARGEST_PANELS:
        raise ValueError(f"{phi} varies too fast for a kernel near the variance {s:.3g}: {len(edges)} panels would be needed")
    return Mesh(edges, max(high, -low) > REACH * math.sqrt(s) * (1 + 1e-9))


def window(phi: Activation, s: float) -> tuple[float, float]:
    """Return where the integrand phi(x) exp(-x^2/(4s)) is not negligible, at least REACH standard deviations on both sides."""
    limit = largest_variance(phi)
    if not s < limit:
        raise ValueError(
            f"E phi(sqrt(s) Z)^2 of {phi} is infinite from s = {limit:.6g} on: take variances below the last power of two before it"
        )
    size = math.sqrt(s)
    z = np.linspace(0, LARGEST_REACH, 4 * int(LARGEST_REACH) + 1)
    with np.errstate(all="ignore"):
        levels = [np.abs(phi(side * size * z)) * np.exp(-(z**2) / 4) for side in (-1, 1)]
    peak = max(float(np.max(level[np.isfinite(level)], initial=0.0)) for level in levels)
    ends = []
    for level in levels:
        heavy = np.flatnonzero(~(level <= NEGLIGIBLE * peak))
        end = z[heavy[-1]] if len(heavy) else 0.0
        if end > LARGEST_REACH - 1:
            raise ValueError(
                f"E phi(sqrt(s) Z)^2 of {phi} near s = {s:.3g} is infinite or too large for float64: its integrand has not died "
                f"out at {LARGEST_REACH:g} standard deviations; take smaller variances"
            )
        ends.append(max(REACH, end + 1) * size)
    return -ends[0], ends[1]


@functools.lru_cache(maxsize=256)
def largest_variance(phi: Activation) -> float:
    """Return where E phi(sqrt(s) Z)^2 becomes infinite as far as the formula tells: phi ~ exp(q x^2) from 1/(4 q) on.

    >>> largest_variance(Activation("exp(x**2/8)*tanh(x)")), largest_variance(Activation("exp(x)"))
    (2.0, inf)
    """
    limit = math.inf
    for side in (1, -1):
        rate = growth(phi.expression, side)
        if rate is not None and rate.exact and rate.exponential and rate.c:
            power, q = rate.exponential[0]
            if q > 0 and power >= 2:
                limit = min(limit, 1 / (4 * q) if power == 2 else 0.0)
    return limit


def _resolved(phi: Activation, s: float, left: Array, right: Array, mass: float) -> tuple[NDArray[np.bool_], float]:
    """Return on which panels phi is a polynomial for its share of ``mass``, and the mass sum int |phi| exp(-x^2/4s) of all."""
    node, weight, transform = _legendre()
    middle, half = (left + right) / 2, (right - left) / 2
    values = phi(middle[:, None] + half[:, None] * node)
    nearest = np.where(left * right > 0, np.minimum(np.abs(left), np.abs(right)), 0.0)
    share = half * np.exp(-(nearest**2) / (4 * s))
    last = np.max(np.abs(values @ transform[:, -3:]), axis=1)
    return share * last <= RESOLVED * mass, float(np.sum(share * (np.abs(values) @ weight)))


def _halved(phi: Activation, s: float, edges: Array, mass: float) -> Array:
    while True:
        good, _ = _resolved(phi, s, edges[:-1], edges[1:], mass)
        middle = ((edges[:-1] + edges[1:]) / 2)[~good]
        # A panel that float64 cannot halve is as good as it gets.
        middle = middle[~np.isin(middle, edges)]
        if not len(middle):
            return edges
        edges = np.union1d(edges, middle)
        if len(edges) > 20 * LARGEST_PANELS:
            raise ValueError(f"{phi} varies too fast for a kernel near the variance {s:.3g}: it is no polynomial on any panel")


def _joined(phi: Activation, s: float, edges: Array, kinks: tuple[float, ...], mass: float) -> Array:
    """Remove edges, two neighbours never at once, while phi stays a polynomial on panels of at most two standard deviations.

    Only panels of like width are joined: the nodes of a panel that grows by more could step over what the smaller one saw.
    """
    fixed = np.isin(edges, (0.0, *kinks))
    while len(edges) > 2:
        left, right = edges[:-2], edges[2:]
        fine, _ = _resolved(phi, s, left, right, mass)
        widths = np.diff(edges)
        alike = np.maximum(widths[1:], widths[:-1]) <= 3 * np.minimum(widths[1:], widths[:-1])
        fine &= ~fixed[1:-1] & alike & (right - left <= 2.001 * math.sqrt(s))
        removed = np.flatnonzero(fine)
        if not len(removed):
            break
        keep = np.ones(len(edges), dtype=bool)
        last = -2
        for index in removed.tolist():
            if index > last + 1:
                keep[index + 1], last = False, index
        edges, fixed = edges[keep], fixed[keep]
    return edges


@functools.lru_cache(maxsize=1)
def _legendre() -> tuple[Array, Array, Array]:
    """Return the nodes, the weights and the matrix that turns values at the nodes into Legendre coefficients."""
    node, weight = scipy.special.roots_legendre(POINTS)
    vandermonde = np.polynomial.legendre.legvander(node, POINTS - 1)
    return node, weight, weight[:, None] * vandermonde * (np.arange(POINTS) + 0.5)


def panels(edges: Array) -> tuple[Array, Array]:
    """Return nodes and weights (..., POINTS * panels) of the panels between edges (..., panels + 1)."""
    node, weight, _ = _legendre()
    middle, half = (edges[..., 1:] + edges[..., :-1]) / 2, np.diff(edges) / 2
    shape = (*edges.shape[:-1], -1)
    return (middle[..., None] + half[..., None] * node).reshape(shape), (half[..., None] * weight).reshape(shape)


def split(edges: Array, width: float) -> Array:
    """Return the edges with every panel cut into equal parts of at most ``width``."""
    parts = np.maximum(np.ceil(np.diff(edges) / width - 1e-9), 1).astype(int)
    first = np.repeat(edges[:-1], parts)
    step = np.repeat(np.diff(edges) / parts, parts)
    index = np.arange(len(first)) - np.repeat(np.cumsum(parts) - parts, parts)
    return np.append(first + index * step, edges[-1])


def pair_mean(phi: Activation, kinks: tuple[float, ...], one: tuple[Mesh, float], two: tuple[Mesh, float], r: float) -> float:
    """Return E phi(u) phi(v) for correlation r != 0 and (mesh, variance) of u and v: an integral over u of phi(u) E[phi(v) | u]."""
    size1, size2, spread = math.sqrt(one[1]), math.sqrt(two[1]), math.sqrt((1 - r) * (1 + r))
    reach = LARGEST_REACH * math.sqrt(2) if one[0].wide or two[0].wide else CONDITIONAL_REACH
    own, other = one[0].edges / size1, np.sort(two[0].edges / (size2 * r))
    low, high = max(own[0], -reach), min(own[-1], reach)
    edges = np.concatenate(
        [own, _far_from(other, own) if spread else other, np.linspace(low, high, math.ceil(high - low) // 2 + 2)]
    )
    if spread:
        # E[phi(v) | u] bends over a distance `spread` around u/size1 = kink/(size2 r).
        ladder = spread * 2.0 ** np.arange(-1, max(math.ceil(math.log2(2 * reach / spread)), 0))
        bends = np.array(kinks) / (size2 * r)
        edges = np.concatenate([edges, bends, *(bends + sign * step for step in ladder for sign in (-1, 1))])
    edges = np.unique(edges[(edges >= low) & (edges <= high)])
    z, weight = panels(edges)
    weight = weight * np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
    mean = size2 * r * z
    if not spread:
        conditional = phi(mean)
    elif kinks and (parts := polynomial_branches(phi)) is not None:
        conditional = _piecewise_mean(parts, mean, size2 * spread)
    elif not kinks and reach == CONDITIONAL_REACH and (step := _step(two[0], size2 * spread)) > SMALLEST_STEP:
        y = step * np.arange(-math.ceil(reach / step), math.ceil(reach / step) + 1)
        conditional = phi(mean[:, None] + size2 * spread * y) @ (np.exp(-(y**2) / 2) * step / math.sqrt(2 * math.pi))
    else:
        conditional = _smoothed(phi, two[0].edges, mean, size2 * spread, reach)
    return float(np.sum(phi(size1 * z) * conditional * weight))


def _step(of: Mesh, spread: float) -> float:
    """Return the step at which the trapezoidal rule gives E phi(mean + spread Y) for an analytic phi.

    Coefficients that reach 1e-15 by order 23 are those of a function analytic in an ellipse of half-axis 1.07 w around a panel of
    width w; half of that is taken for the strip, a = w/(2 spread) in y.  With |exp(-y^2/2)| <= exp(a^2/2) in it the error of
    step h is exp(a^2/2 - 2 pi a/h), and a wider strip than sqrt(2 * 37) is of no use to reach exp(-37) = 1e-16.
    """
    a = min(float(np.min(np.diff(of.edges))) / (2 * spread), math.sqrt(74))
    return 2 * math.pi * a / (37 + a * a / 2)


SMALLEST_STEP = 1 / 48
"""With smaller ones the panels take fewer nodes."""


Branches = tuple[tuple[float, float, tuple[float, ...]], ...]


@functools.lru_cache(maxsize=64)
def polynomial_branches(phi: Activation) -> Branches | None:
    """Return (low, high, coefficients of 1, x, ...) of the pieces of a piecewise polynomial of degree <= 8, else None.

    >>> polynomial_branches(Activation("relu"))
    ((-inf, 0.0, (0.0,)), (0.0, inf, (0.0, 1.0)))
    """
    parts = polynomial_pieces(phi.expression)
    if parts is None or len(parts) == 1 or max(len(coefficients) for _, _, coefficients in parts) > 9:
        return None
    ends = [-math.inf, *(float(left) for left, _, _ in parts if left is not None), math.inf]
    return tuple((low, high, tuple(map(float, part[2]))) for (low, high), part in zip(pairwise(ends), parts))


def _piecewise_mean(parts: Branches, mean: Array, spread: float) -> Array:
    """Return E phi(mean + spread Y), with the moments I_n = (n - 1) I_(n-2) + a^(n-1) f(a) - b^(n-1) f(b) of Y on (a, b)."""
    result = np.zeros_like(mean)
    for low, high, coefficients in parts:
        # Beyond 40 the density is 0 in float64, and its product with a power would be inf * 0.
        a, b = (np.minimum(np.maximum((end - mean) / spread, -40.0), 40.0) for end in (low, high))
        at_a, at_b = (np.exp(-(end**2) / 2) / math.sqrt(2 * math.pi) for end in (a, b))
        # Of the two tails the small one is subtracted from.
        upper = np.where(a > 0, 1.0, -1.0)
        moments = [np.abs(scipy.special.ndtr(-upper * b) - scipy.special.ndtr(-upper * a)), at_a - at_b]
        for n in range(2, len(coefficients)):
            moments.append((n - 1) * moments[n - 2] + a ** (n - 1) * at_a - b ** (n - 1) * at_b)
        for k, coefficient in enumerate(coefficients):
            for n in range(k + 1 if coefficient else 0):
                result += coefficient * math.comb(k, n) * mean ** (k - n) * spread**n * moments[n]
    return result


def _far_from(edges: Array, kept: Array) -> Array:
    """Return the edges that are further than a tenth of a panel from those of ``kept``: others would only cut off slivers."""
    place = np.clip(np.searchsorted(kept, edges), 1, len(kept) - 1)
    distance = np.minimum(np.abs(edges - kept[place - 1]), np.abs(kept[place] - edges))
    width = np.diff(edges)
    local = np.minimum(np.append(width, math.inf), np.insert(width, 0, math.inf))
    return np.asarray(edges[distance > 0.1 * local])


def _smoothed(phi: Activation, edges: Array, mean: Array, spread: float, reach: float) -> Array:
    """Return E phi(mean + spread Y) for every mean, over panels that follow phi and the density of Y."""
    uniform = np.linspace(-reach, reach, 2 * math.ceil(reach / 2) + 1)
    # x = mean + spread y, so that the edges of phi move with the mean; those out of reach give panels of no width, and those out of
    # reach of a whole piece (the means are sorted) are left out.
    result, step = np.empty_like(mean), 4 * POINTS
    for start in range(0, len(mean), step):
        centre = mean[start : start + step, None]
        near = (edges > centre.min() - reach * spread) & (edges < centre.max() + reach * spread)
        moved = (edges[near] - centre) / spread
        moved = np.minimum(np.maximum(moved, -reach), reach)
        y, weight = panels(np.sort(np.concatenate([moved, np.broadcast_to(uniform, (len(centre), len(uniform)))], axis=1), axis=1))
        inside = centre + spread * y
        # Beyond the outermost edges phi is negligible against the density of its own variance, and may overflow.
        weight = np.where((inside >= edges[0]) & (inside <= edges[-1]), weight, 0.0)
        values = phi(np.minimum(np.maximum(inside, edges[0]), edges[-1]))
        result[start : start + step] = np.sum(values * np.exp(-(y**2) / 2) * weight, axis=1)
    return result / math.sqrt(2 * math.pi)
