"""Limits of the spectra of conjugate kernels: Marchenko-Pastur inputs, then one layer after the other, and their laws.

X has d_0 x n independent N(0, 1/d_0) entries, x_l = phi(W_l x_(l-1))/sqrt(d_l) column by column with N(0, 1) weights, and
K_l = x_l^T x_l (n x n).  For n/d_l -> c_l the spectrum of K_l tends to the Marchenko-Pastur map with ratio c_l of the law of
rho_l^2 lambda + eps_l, lambda from layer l - 1.
:mod:`theoryck.theory.spectra.limits.conjugate_map` solves it.

Laws.  Edges (Silverstein, Choi 1995): off the support z(v) increases, and on every gap of the population law the derivative
z'(v) = 1 - c int t^2/(v - t)^2 dH is concave, since each 1/(v - t)^2 is convex.  So {z' > 0} is one interval on each gap, and its
ends are found by bisection; all gaps are carried as intervals of the one variable at the bottom, on which every layer's z
increases.

On an interval [a, b] of the support x = a + (b - a) sin(theta/2)^p; the density times dx/dtheta is an analytic function of theta
on [0, pi], with p = 2 at square-root edges of either sign and p = k + 1 where the density is x^(-k/(k+1)) at 0, which k layers of
ratio 1 in a row without noise make of it.  It is kept as Chebyshev series on panels that are halved until they are short: a
singularity that is near (a gap about to open or to close) costs a few panels more.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.fft
from numpy.typing import ArrayLike, NDArray

from theoryck.numerics.errors import NotConverged
from theoryck.numerics.proved.formulas import Number, real_array
from theoryck.quantities.arguments import positive, real
from theoryck.theory.spectra.limits.conjugate_map import Chain, continued, transform
from theoryck.theory.spectra.limits.marchenko_pastur import complex_array

if TYPE_CHECKING:
    from theoryck.numerics.functions.activation import Activation

Array = NDArray[np.float64]
Gap = tuple[float, float]

LARGEST_DEPTH = 20

NODES = 24
"""Chebyshev nodes of a panel."""

LARGEST_PANELS = 4000

NEGLIGIBLE = 1e-11
"""A panel is kept where its last coefficients are below this times the largest, or its error below NEGLIGIBLE_MASS of mass.

Rounding leaves 1e-16 |x|/(b - a) times the slope of the transform: up to 1e-12 on intervals that are narrow or near a pole.
"""

NEGLIGIBLE_MASS = 1e-14

NOISIEST = 1e-8
"""Where rounding leaves more than this the density is not known."""

NARROW = 1e-13
"""An interval that is narrower than this times its place is rounding."""

MASS_ERROR = 1e-9
"""The masses add up to 1 to about 1e-12 where the root is right and all intervals were found; a wrong one moves them by more."""

REACH = 25.0
"""exp(-25) = 1e-11: nearer to the ends of a gap dz/dv is a quotient of rounding errors."""


@dataclass(frozen=True)
class ConjugateKernel:
    """The limit of K_L: ``ratios`` = (c_0, ..., c_L) with c_l = lim n/d_l, and rho_l, eps_l of the layers 1..L as numbers.

    :func:`conjugate_kernel` takes the constants from an activation.  Raises ValueError for a wrong number of constants, ratios
    that are not > 0 and eps < 0.

    >>> kernel = ConjugateKernel((1.0, 0.8), (0.651470015870560,), (0.0401458728192,))
    >>> round(float(kernel.stieltjes(-0.1)), 4), kernel.depth
    (4.2044, 1)
    """

    ratios: tuple[float, ...]
    rho: tuple[float, ...] = ()
    epsilon: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        for name, low in (("ratios", 0.0), ("rho", None), ("epsilon", 0.0)):
            given = getattr(self, name)
            if isinstance(given, str) or not isinstance(given, Sequence):
                raise ValueError(f"{name} must be a tuple of numbers, got {given!r}")
            strict = name == "ratios"
            values = tuple(real(entry, f"{name}[{index}]", low=low, strict=strict) for index, entry in enumerate(given))
            object.__setattr__(self, name, values)
        if not 1 <= len(self.ratios) <= LARGEST_DEPTH + 1:
            raise ValueError(f"ratios must hold c_0, ..., c_L with L <= {LARGEST_DEPTH}, got {self.ratios!r}")
        for name in ("rho", "epsilon"):
            if len(getattr(self, name)) != self.depth:
                raise ValueError(
                    f"{name} must hold {self.depth} numbers for the layers 1..{self.depth}, got {getattr(self, name)!r}"
                )
        for layer, (slope, rest) in enumerate(zip(self.rho, self.epsilon, strict=True), start=1):
            if slope == 0 and rest == 0:
                raise ValueError(f"rho and epsilon of layer {layer} are both 0: phi is 0 there and so is the kernel")
        self.chain.scaled()

    @property
    def depth(self) -> int:
        """L."""
        return len(self.ratios) - 1

    @property
    def chain(self) -> Chain:
        """The map of :mod:`theoryck.theory.spectra.limits.conjugate_map`; a layer with rho = 0 forgets all below it."""
        start = max((layer for layer, slope in enumerate(self.rho, start=1) if slope == 0), default=0)
        squares = tuple(slope * slope for slope in self.rho[start:])
        return Chain(self.ratios[start:], squares, self.epsilon[start:], self.epsilon[start - 1] if start else 1.0)

    def stieltjes(self, z: ArrayLike) -> Any:
        """Return m_L(z) = lim (1/n) tr (K_L - z)^-1 at complex z off the real axis or real z < 0; any shape.

        Raises ValueError for other z and sizes beyond the numeric domain, :class:`~theoryck.numerics.errors.NotConverged` where
        the root could not be followed.
        """
        values = complex_array(z)
        bad = (values.imag == 0) & (values.real >= 0)
        if np.any(bad):
            raise ValueError(f"z must not lie on [0, oo), got {values[bad][0]}: give it an imaginary part, or use law()")
        upper = np.where(values.imag < 0, values.conj(), values).ravel()
        found = transform(self.chain, upper).reshape(values.shape)
        found = np.where(values.imag < 0, found.conj(), found)
        return (found if np.iscomplexobj(np.asarray(z)) else found.real)[()]

    def resolvent(self, shift: Number) -> float:
        """Return lim (1/n) tr (K_L + shift)^-1 for shift > 0."""
        return float(self.stieltjes(-positive(shift, "shift")))

    def law(self) -> SpectralLaw:
        """Return the limit law of an eigenvalue of K_L, with ``cdf``, ``ppf``, ``pdf``, ``atom``, ``support``, ``nonzero()``."""
        return spectral_law(self.chain)


def conjugate_kernel(activation: Activation | str, ratios: Sequence[Number]) -> ConjugateKernel:
    """Return the limit of the conjugate kernel of a network of L = len(ratios) - 1 layers, n/d_l -> c_l = ratios[l].

    rho_l = E phi'(sqrt(sigma_(l-1)) Z), eps_l = sigma_l - sigma_(l-1) rho_l^2 from
    :func:`theoryck.theory.networks.network_constants`; the mean of phi must be 0 at every layer's variance (phi odd, say), else
    K_l has one eigenvalue of order n and eps_l is not that. Raises ValueError for a mean that is not 0 and for the arguments of
    :class:`ConjugateKernel`.

    >>> kernel = conjugate_kernel("tanh(x)", (1, 1, "1/2"))
    >>> kernel.depth, kernel.law().atom
    (2, 0.0)
    """
    from theoryck.numerics.functions.activation import Activation
    from theoryck.theory.networks.proved.constants import network_constants

    phi = activation if isinstance(activation, Activation) else Activation(activation)
    if isinstance(ratios, str) or not isinstance(ratios, Sequence) or not ratios:
        raise ValueError(f"ratios must be a tuple (c_0, ..., c_L) of numbers > 0, got {ratios!r}")
    constants = network_constants(phi, len(ratios) - 1, digits=20)
    for layer, variance in enumerate(constants.sigma[:-1]):
        mean = phi.zero_mean_at(float(variance))
        if mean.value is False:
            raise ValueError(f"activation must have mean 0 at the variance {float(variance):.6g} of layer {layer}: {mean.detail}")
    rho, epsilon = (tuple(float(value) for value in row) for row in (constants.rho, constants.epsilon))
    # A rho or eps that is 0 is enclosed by a ball around 0: its middle is rounding.
    exact = [tuple(0.0 if abs(v) < 1e-15 * float(s) else v for v, s in zip(row, constants.sigma[1:])) for row in (rho, epsilon)]
    return ConjugateKernel(tuple(positive(c, f"ratios[{i}]") for i, c in enumerate(ratios)), exact[0], exact[1])


# Laws --------------------------------------------------------------------------------------------------------------------------


def edges(chain: Chain) -> list[Gap]:
    """Return the intervals of positive length that the absolutely continuous part lives on, in increasing order."""
    unit, scale = chain.scaled()
    return [(low * scale, high * scale) for low, high in _edges(unit)]


def _edges(chain: Chain) -> list[Gap]:
    gaps: list[Gap] = [(-math.inf, chain.bottom), (chain.bottom, math.inf)]
    for level in range(len(chain.ratios)):
        gaps = [part for gap in gaps for part in _open_part(chain, level, gap)]
    # Gaps that meet in one v meet at the point mass at 0.
    found = [(_z(chain, one[1]), _z(chain, other[0])) for one, other in pairwise(gaps) if one[1] != other[0]]
    if hard_layers(chain) and found:
        found = [(low, high) for low, high in found if high > NARROW * found[-1][1]]
        found[0] = (0.0, found[0][1])
    return [(low, high) for low, high in found if high - low > NARROW * high]


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
    # Towards infinity v_l of order 1 + c_l is v/(slopes up to l): as far out the grid has to go.
    outside = REACH + sum(math.log1p(c) for c in chain.ratios) - sum(map(math.log, chain.slopes))
    left, right = (-outside if math.isinf(gap[0]) else -REACH), (outside if math.isinf(gap[1]) else REACH)

    def at(w: Array) -> Array:
        return _place(gap, scale, np.asarray(w, dtype=np.float64))

    def slope(w: Array) -> Array:
        found = chain.levels(at(w))[level]
        return np.asarray(found.dz / found.dv)

    grid = np.linspace(left, right, 2 * math.ceil(right - left) + 1)
    with np.errstate(all="ignore"):
        best = _highest(slope, grid)
        if not slope(np.array([best]))[0] > 0:
            return []
        low = gap[0] if math.isinf(gap[0]) else _change(slope, best, left, at, gap[0])
        high = gap[1] if math.isinf(gap[1]) else _change(slope, best, right, at, gap[1])
        if chain.ratios[level] <= 1 or not math.isinf(gap[0]):
            return [(low, high)]

        def factor(w: Array) -> Array:
            return np.asarray(chain.levels(at(w))[level].q)

        # c > 1: the factor 1 - c int t/(t - v) dH falls from 1 through 0, where z = 0 has mass 1 - 1/c.
        zero = _change(factor, left, right, at, gap[1])
    return [(low, zero), (zero, high)] if zero < high else [(low, high)]


def _highest(slope: Any, grid: Array) -> float:
    """The highest point of a unimodal function: a grid, then golden section."""
    values = slope(grid)
    if np.isnan(values).all():
        return float(grid[0])
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
    """An interval of the support; density times dx/dtheta is sum_k series[k, i] T_k on [cuts[i], cuts[i+1]]."""

    low: float
    high: float
    power: int
    cuts: Array = field(repr=False)
    series: Array = field(repr=False)

    @property
    def mass(self) -> float:
        """The integral over theta from 0 to pi."""
        return float(self.starts[-1])

    @functools.cached_property
    def starts(self) -> Array:
        """The mass below every cut."""
        return np.concatenate([[0.0], np.cumsum(np.sum(self.sums, axis=0))])

    @functools.cached_property
    def sums(self) -> Array:
        """The coefficients of the integral from the left end of every panel."""
        whole = np.polynomial.chebyshev.chebint(self.series, lbnd=-1, axis=0)
        return np.asarray(whole * np.diff(self.cuts) / 2)

    def angle(self, x: Array) -> Array:
        """Return theta, outside the interval that of its end."""
        inside = np.minimum(np.maximum(x, self.low), self.high)
        left, right = (inside - self.low) / (self.high - self.low), (self.high - inside) / (self.high - self.low)
        if self.power == 2:
            return 2 * np.arctan2(np.sqrt(left), np.sqrt(right))
        with np.errstate(divide="ignore"):
            log = np.where(left < 0.5, np.log(left), np.log1p(-right)) / self.power
        return 2 * np.arctan2(np.exp(log), np.sqrt(-np.expm1(2 * log)))

    def place(self, theta: Array) -> Array:
        """Return x = a + (b - a) sin(theta/2)^p."""
        return self.low + (self.high - self.low) * np.sin(theta / 2) ** self.power

    def speed(self, theta: Array) -> Array:
        """Return dx/dtheta."""
        return (self.high - self.low) * self.power / 2 * np.sin(theta / 2) ** (self.power - 1) * np.cos(theta / 2)

    def below(self, theta: Array) -> Array:
        """Return the mass between 0 and theta."""
        index, t = self._panel(theta)
        return self.starts[index] + _clenshaw(self.sums, index, t)

    def weight(self, theta: Array) -> Array:
        """Return density times dx/dtheta."""
        return _clenshaw(self.series, *self._panel(theta))

    def _panel(self, theta: Array) -> tuple[NDArray[np.intp], Array]:
        index = np.searchsorted(self.cuts[1:-1], theta, side="right")
        left, right = self.cuts[index], self.cuts[index + 1]
        return index, (2 * theta - left - right) / (right - left)

    def quantile(self, mass: Array) -> Array:
        """Return the theta that has a mass below it, by bisection on its panel."""
        index = np.searchsorted(self.starts[1:-1], mass, side="left")
        low, high = self.cuts[index], self.cuts[index + 1]
        for _ in range(54):  # pi 2^-54 is the rounding of theta
            middle = (low + high) / 2
            short = self.below(middle) < mass
            low, high = np.where(short, middle, low), np.where(short, high, middle)
        return np.asarray((low + high) / 2)


def _clenshaw(series: Array, index: NDArray[np.intp], t: Array) -> Array:
    one, two = np.zeros(np.shape(t)), np.zeros(np.shape(t))
    for row in series[:0:-1]:
        one, two = row[index] + 2 * t * one - two, one
    return np.asarray(series[0][index] + t * one - two)


def piece(chain: Chain, low: float, high: float) -> Piece:
    """Return the density on one interval; NotConverged where its panels do not become short enough."""
    empty = Piece(low, high, max(2, hard_layers(chain) + 1) if low == 0 else 2, np.zeros(2), np.zeros((NODES, 1)))
    # float64 can tell (b - a)/(1e-16 b) places apart on the interval.
    floor = max(NEGLIGIBLE, 4e-15 * high / (high - low))
    nodes = np.cos(math.pi * (np.arange(NODES) + 0.5) / NODES)
    panels, done, count = [(math.pi * i / 4, math.pi * (i + 1) / 4) for i in range(4)], [], 4
    while panels:
        left, right = np.array(panels).T
        theta = ((left + right) + (right - left) * nodes[:, None]) / 2
        x = empty.place(theta)
        levels = chain.levels(continued(chain, x.ravel()))
        noise = 1e-15 * np.max(chain.lost(levels).reshape(theta.shape), axis=0)
        series = scipy.fft.dct(levels[-1].g.imag.reshape(x.shape) / (math.pi * x) * empty.speed(theta), axis=0) / NODES
        series[0] /= 2
        last, largest = np.max(np.abs(series[-3:]), axis=0), np.max(np.abs(series), axis=0)
        good = (last <= np.minimum(np.maximum(floor, noise), NOISIEST) * largest) | (last * (right - left) <= NEGLIGIBLE_MASS)
        done += [(panels[i], series[:, i]) for i in np.flatnonzero(good)]
        panels = [half for i in np.flatnonzero(~good) for half in _halves(panels[i])]
        count += len(panels)
        if count > LARGEST_PANELS:
            raise NotConverged(
                f"the density on [{low:.6g}, {high:.6g}] of the mean eigenvalue needs more than {LARGEST_PANELS} panels, "
                f"at {float(empty.place(np.array(panels[0][0]))):.6g} say"
            )
    done.sort(key=lambda entry: entry[0])
    cuts = np.array([panel[0] for panel, _ in done] + [math.pi])
    return Piece(low, high, empty.power, cuts, np.stack([row for _, row in done], axis=1))


def _halves(panel: tuple[float, float]) -> list[tuple[float, float]]:
    middle = (panel[0] + panel[1]) / 2
    return [(panel[0], middle), (middle, panel[1])]


def hard_layers(chain: Chain) -> int:
    """Return k where the density of the top layer is x^(-k/(k+1)) at 0, 0 where the first interval does not start at 0.

    Of the layers that no noise parts from the top: those of ratio 1 while none is above, else all but one of the largest ratio,
    whose product has n - d zeros and is of order d otherwise.
    """
    start = max((layer for layer, rest in enumerate(chain.epsilon, start=1) if rest), default=0)
    ratios = chain.ratios[start:]
    return 0 if max(ratios) < 1 else ratios.count(max(ratios)) - (max(ratios) > 1)


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
        return SpectralLaw(0.0, tuple(replace(part, series=part.series / share) for part in self.pieces))

    def scaled(self, scale: float) -> SpectralLaw:
        """Return the law of ``scale`` times an eigenvalue."""
        return SpectralLaw(self.atom, tuple(replace(part, low=part.low * scale, high=part.high * scale) for part in self.pieces))

    def cdf(self, x: ArrayLike) -> Any:
        """Return P(eigenvalue <= x), any shape, nan for nan."""
        values = real_array(x, "x")
        total = np.where(values >= 0, self.atom, 0.0) + np.where(np.isnan(values), np.nan, 0.0)
        for part in self.pieces:
            total = total + part.below(part.angle(values))
        return total[()]

    def pdf(self, x: ArrayLike) -> Any:
        """Return the density of the absolutely continuous part, any shape, nan for nan; 0 at edges, where it may be infinite."""
        values = real_array(x, "x")
        total = np.where(np.isnan(values), np.nan, np.zeros(values.shape))
        for part in self.pieces:
            theta = part.angle(values)
            speed, inside = part.speed(theta), (values > part.low) & (values < part.high)
            total = total + np.divide(part.weight(theta), speed, out=np.zeros(values.shape), where=inside & (speed > 0))
        return total[()]

    def ppf(self, probability: ArrayLike) -> Any:
        """Return the smallest x with P(eigenvalue <= x) >= probability in [0, 1] (any shape), by bisection; ValueError outside."""
        wanted = real_array(probability, "probability")
        if np.any(~((wanted >= 0) & (wanted <= 1))):
            raise ValueError(f"probability must lie between 0 and 1, got {probability!r}")
        result, start = np.zeros(wanted.shape), self.atom
        for part in self.pieces:
            here = wanted > start
            result[here] = part.place(part.quantile(wanted[here] - start))
            start += part.mass
        return result[()]


def point_mass(chain: Chain) -> float:
    """Return the mass at 0: max(1 - 1/c, the mass of the population law at 0), layer by layer; eps > 0 moves all of it away."""
    mass = 0.0
    for index, c in enumerate(chain.ratios):
        below = mass if index and chain.epsilon[index - 1] == 0 else 0.0
        mass = max(below, 1 - 1 / c, 0.0)
    return mass


@functools.lru_cache(maxsize=64)
def spectral_law(chain: Chain) -> SpectralLaw:
    """Return the law of the top layer; NotConverged where the masses do not add up to 1."""
    unit, scale = chain.scaled()
    try:
        law = SpectralLaw(point_mass(unit), tuple(piece(unit, low, high) for low, high in _edges(unit)))
    except NotConverged as error:
        raise NotConverged(f"the law could not be told from rounding: {error}; take ratios and constants less extreme") from None
    total = law.atom + sum(part.mass for part in law.pieces)
    if not abs(total - 1) <= MASS_ERROR:
        raise NotConverged(
            f"the masses of the law add up to {total!r} on {law.support} of the mean eigenvalue: an interval was missed or "
            "is too narrow for float64; take ratios and constants that are less extreme"
        )
    return law.scaled(scale)
