"""Spectral laws as distributions: density, distribution function and quantiles of a level of a conjugate kernel.

Edges (Silverstein, Choi 1995): off the support z(v) increases, and on every gap of the population law the derivative
z'(v) = 1 - c int t^2/(v - t)^2 dH is concave, since each 1/(v - t)^2 is convex.  So {z' > 0} is one interval on each gap, and its
ends are found by bisection; all gaps are carried as intervals of the one variable at the bottom, on which every layer's z
increases.

On an interval [a, b] of the support x = (a+b)/2 - (b-a)/2 cos(theta); the density times dx/dtheta is an even analytic function of
theta at square-root edges of either sign, so its cosine series converges geometrically and is integrated term by term.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.fft
from numpy.typing import ArrayLike, NDArray

from theoryck.asymptotics.conjugate_map import Chain, solve
from theoryck.asymptotics.numbers import NotConverged

Array = NDArray[np.float64]
Gap = tuple[float, float]

LARGEST_SERIES = 2**15
NEGLIGIBLE = 1e-11
"""Where the last coefficients are below this times the largest, what is cut is of that size.  Rounding leaves 1e-16 |x|/(b - a)
times the slope of the transform: up to 1e-12 on intervals that are narrow or near a pole."""

MASS_ERROR = 1e-9
"""The masses add up to 1 to about 1e-12 where the root is right and all intervals were found; a wrong one moves them by more."""

REACH = 25.0
"""exp(-25) = 1e-11: nearer to the ends of a gap dz/dv is a quotient of rounding errors."""


def edges(chain: Chain) -> list[Gap]:
    """Return the intervals of positive length that the absolutely continuous part lives on, in increasing order."""
    gaps: list[Gap] = [(-math.inf, chain.bottom), (chain.bottom, math.inf)]
    for level in range(len(chain.ratios)):
        gaps = [part for gap in gaps for part in _open_part(chain, level, gap)]
    ends = [(_z(chain, low), _z(chain, high)) for low, high in gaps]
    top = ends[-1][0]
    found = [(one[1], other[0]) for one, other in pairwise(ends)]
    if found and abs(found[0][0]) < 1e-24 * top:
        # A hard edge (a ratio 1): v = 0 was found to 1e-16, and z is stationary there, so its own error is the square.
        found[0] = (0.0, found[0][1])
    # Adjacent gaps that meet at the point mass at 0 leave an interval of rounding.
    return [(low, high) for low, high in found if high - low > 1e-12 * top]


def _z(chain: Chain, v: float) -> float:
    return v if math.isinf(v) else float(chain.levels(np.array([v]))[-1].z[0])


def _place(gap: Gap, scale: float, w: Array) -> Array:
    """A monotone map of the line onto a gap that resolves its finite ends."""
    low, high = gap
    if math.isinf(low):
        return high - scale * np.exp(-w)
    if math.isinf(high):
        return low + scale * np.exp(w)
    return np.where(w < 0, low + (high - low) * np.exp(w) / (1 + np.exp(w)), high - (high - low) / (1 + np.exp(w)))


def _open_part(chain: Chain, level: int, gap: Gap) -> list[Gap]:
    """Return where dz/dv > 0 at ``level`` on a gap of the layer below, split where z passes a point mass at 0."""
    scale = chain.bottom + max((abs(end) for end in gap if math.isfinite(end)), default=0.0)

    def at(w: Array) -> Array:
        return _place(gap, scale, np.asarray(w, dtype=np.float64))

    def slope(w: Array) -> Array:
        found = chain.levels(at(w))[level]
        return np.asarray(found.dz / found.dv)

    grid = np.linspace(-REACH, REACH, 101)
    with np.errstate(all="ignore"):
        best = _highest(slope, grid)
        if not slope(np.array([best]))[0] > 0:
            return []
        low = gap[0] if math.isinf(gap[0]) else _change(slope, best, -REACH, at, gap[0])
        high = gap[1] if math.isinf(gap[1]) else _change(slope, best, REACH, at, gap[1])
        if chain.ratios[level] <= 1 or not math.isinf(gap[0]):
            return [(low, high)]

        def factor(w: Array) -> Array:
            return np.asarray(chain.levels(at(w))[level].q)

        # c > 1: the factor 1 - c int t/(t - v) dH falls from 1 through 0, where z = 0 has mass 1 - 1/c.
        zero = _change(factor, -REACH, REACH, at, gap[1])
    return [(low, zero), (zero, high)] if zero < high else [(low, high)]


def _highest(slope: Any, grid: Array) -> float:
    """The highest point of a unimodal function: a grid, then golden section."""
    values = slope(grid)
    peak = int(np.nanargmax(values))
    low, high = grid[max(peak - 1, 0)], grid[min(peak + 1, len(grid) - 1)]
    for _ in range(60):
        inner = np.array([low + 0.381966 * (high - low), low + 0.618034 * (high - low)])
        left, right = slope(inner)
        low, high = (low, inner[1]) if left > right else (inner[0], high)
    return float((low + high) / 2) if slope(np.array([(low + high) / 2]))[0] > values[peak] else float(grid[peak])


def _change(function: Any, good: float, bad: float, at: Any, end: float) -> float:
    """Return the point where ``function`` stops being positive on the way from ``good`` to ``bad``, ``end`` if it never does."""
    if function(np.array([bad]))[0] > 0:
        return end
    for _ in range(80):
        middle = (good + bad) / 2
        good, bad = (middle, bad) if function(np.array([middle]))[0] > 0 else (good, middle)
    return float(at(np.array([good]))[0])


@dataclass(frozen=True)
class Piece:
    """An interval of the support and the cosine coefficients of density times dx/dtheta on it."""

    low: float
    high: float
    series: Array

    @property
    def mass(self) -> float:
        """The integral over theta from 0 to pi: only the constant term is left."""
        return float(self.series[0] * math.pi)

    def angle(self, x: Array) -> Array:
        """Return theta, outside the interval that of its end."""
        inside = np.minimum(np.maximum(x, self.low), self.high)
        return 2 * np.arctan2(np.sqrt(inside - self.low), np.sqrt(self.high - inside))

    def place(self, theta: Array) -> Array:
        """Return x = a + (b - a) sin^2(theta/2)."""
        return self.low + (self.high - self.low) * np.sin(theta / 2) ** 2

    def below(self, theta: Array) -> Array:
        """Return the mass between 0 and theta."""
        k = np.arange(1, len(self.series))
        return self.series[0] * theta + np.sin(theta[..., None] * k) @ (self.series[1:] / k)

    def weight(self, theta: Array) -> Array:
        """Return the series itself, density times dx/dtheta."""
        return np.cos(theta[..., None] * np.arange(len(self.series))) @ self.series


def piece(chain: Chain, low: float, high: float) -> Piece:
    """Return the density on one interval; NotConverged where its edges are not square roots and the series is too slow."""
    size, half = 32, (high - low) / 2
    while size <= LARGEST_SERIES:
        theta = math.pi * (np.arange(size) + 0.5) / size
        x = low + (high - low) * np.sin(theta / 2) ** 2
        values = solve(chain, x).m.imag / math.pi * half * np.sin(theta)
        series = scipy.fft.dct(values) / size
        series[0] /= 2
        if np.max(np.abs(series[-8:])) <= NEGLIGIBLE * np.max(np.abs(series)):
            kept = int(np.flatnonzero(np.abs(series) > NEGLIGIBLE / 100 * np.max(np.abs(series)))[-1]) + 1
            return Piece(low, high, series[:kept])
        size *= 2
    raise NotConverged(
        f"the density on [{low:.6g}, {high:.6g}] needs more than {LARGEST_SERIES} terms: an edge that is no square root, or a gap "
        "about to open; change a ratio a little"
    )


@dataclass(frozen=True)
class SpectralLaw:
    """A law on [0, oo): a point mass ``atom`` at 0 and a density on ``pieces``; ``cdf``, ``ppf`` and ``pdf`` as in scipy.stats.

    >>> law = spectral_law(Chain((1.0,), (), ()))
    >>> law.support, round(float(law.cdf(1.0)), 12) == round(math.sqrt(3) / (2 * math.pi) + 1 / 3, 12)
    (((0.0, 4.0),), True)
    """

    atom: float
    pieces: tuple[Piece, ...]

    @property
    def support(self) -> tuple[Gap, ...]:
        """The intervals on which there is a density."""
        return tuple((part.low, part.high) for part in self.pieces)

    def nonzero(self) -> SpectralLaw:
        """Return the law of an eigenvalue given that it is not 0: continuous."""
        share = 1 - self.atom
        return SpectralLaw(0.0, tuple(Piece(part.low, part.high, part.series / share) for part in self.pieces))

    def cdf(self, x: ArrayLike) -> Any:
        """Return P(eigenvalue <= x), any shape."""
        values = np.asarray(x, dtype=np.float64)
        total = np.where(values >= 0, self.atom, 0.0)
        for part in self.pieces:
            total = total + part.below(part.angle(values))
        return total[()]

    def pdf(self, x: ArrayLike) -> Any:
        """Return the density of the absolutely continuous part, any shape; 0 at edges, where it may be infinite."""
        values = np.asarray(x, dtype=np.float64)
        total = np.zeros(values.shape)
        for part in self.pieces:
            theta = part.angle(values)
            speed = (part.high - part.low) / 2 * np.sin(theta)
            inside = (values > part.low) & (values < part.high)
            total = total + np.divide(part.weight(theta), speed, out=np.zeros(values.shape), where=inside & (speed > 0))
        return total[()]

    def ppf(self, probability: ArrayLike) -> Any:
        """Return the smallest x with P(eigenvalue <= x) >= probability in [0, 1], by bisection on theta; ValueError outside."""
        wanted = np.asarray(probability, dtype=np.float64)
        if np.any(~((wanted >= 0) & (wanted <= 1))):
            raise ValueError(f"probability must lie between 0 and 1, got {probability!r}")
        result, start = np.zeros(wanted.shape), self.atom
        for part in self.pieces:
            here = wanted > start
            result[here] = part.place(_bisect(part, wanted[here] - start))
            start += part.mass
        return result[()]


def _bisect(part: Piece, mass: Array) -> Array:
    low, high = np.zeros(mass.shape), np.full(mass.shape, math.pi)
    for _ in range(54):  # pi 2^-54 is the rounding of theta
        middle = (low + high) / 2
        short = part.below(middle) < mass
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    return np.asarray((low + high) / 2)


def point_mass(chain: Chain) -> float:
    """Return the mass at 0: max(1 - 1/c, the mass of the population law at 0), layer by layer; eps > 0 moves all of it away."""
    mass = 0.0
    for index, c in enumerate(chain.ratios):
        below = mass if index and chain.epsilon[index - 1] == 0 else 0.0
        mass = max(below, 1 - 1 / c, 0.0)
    return mass


def spectral_law(chain: Chain) -> SpectralLaw:
    """Return the law of the top layer; NotConverged where the masses do not add up to 1."""
    law = SpectralLaw(point_mass(chain), tuple(piece(chain, low, high) for low, high in edges(chain)))
    total = law.atom + sum(part.mass for part in law.pieces)
    if not abs(total - 1) <= MASS_ERROR:
        raise NotConverged(f"the masses of the law add up to {total!r} on {law.support}: an interval was missed")
    return law
