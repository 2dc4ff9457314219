"""State evolution of the best algorithm for one overlap: q_t of approximate message passing, and its fixed points.

With V = 1 - q, omega ~ N(0, q), z = omega + sqrt V u and mmse(q) = E Var(z | y, omega): q^ = alpha (V - mmse)/V^2, q <- q^/(1 +
q^). So fixed points are a curve, alpha(q) = q (1 - q)/((1 - q) - mmse(q)): the algorithm that starts from nothing stops at the
first q with alpha(q) = alpha, and reaches q = 1 from max_q alpha(q) on.

Given y, z lies in the level set of y: points z_i with weights N(z_i; omega, V)/|f'(z_i)|, or intervals with the truncated normal
law. The means over y and omega are over z ~ N(0, 1) and omega = q z + sqrt(q V) e.  1 - q - mmse is E (E[z | y, omega] - omega)^2,
which is summed as it stands, so that it keeps its digits where it is small.

Products of indices that enter alike have one overlap too, Q = q I: mmse is that of one index, and alpha(q) as above.
"""

from __future__ import annotations

import functools
import math
import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize_scalar
from scipy.special import expit, logit, ndtr

from theoryck.quantities.arguments import positive, real
from theoryck.quantities.base import QuantityError
from theoryck.theory.weak_recovery.limits.level_sets import UNSEEN, LevelSets, Piece, level_sets
from theoryck.theory.weak_recovery.limits.noisy import information
from theoryck.theory.weak_recovery.limits.product_evolution import FOLLOWED, product_information
from theoryck.theory.weak_recovery.limits.thresholds import weak_recovery_threshold
from theoryck.theory.weak_recovery.model import Link, Monomial, as_link, check_steps, core, monomial

Array = NDArray[np.float64]

REACH = 9.2
NEAREST, NEAREST_NOISY = 1e-8, 1e-5
"""How near to 1 an overlap is followed, without noise and with it."""
MOST_ROOTS = 1_500_000
"""Roots of level sets that are bisected for one rule: about three seconds."""


@dataclass(frozen=True)
class StateEvolution:
    """State evolution of one link with one index, or a product of indices that enter alike; ``posterior_variance`` is mmse(q).

    Raises QuantityError for other links of several indices (see :func:`~theoryck.theory.weak_recovery.matrix_state_evolution`), for
    flips of what is no product, and for noise that is too small beside the labels.

    >>> evolution = StateEvolution(Link("z**2"))
    >>> round(evolution.fixed_point(0.8), 10), round(evolution.full_recovery(), 9)
    (0.2162274903, 1.128471407)
    >>> round(StateEvolution("z1*z2").fixed_point(1.0), 7)  # in both directions, above alpha_c = .59375
    0.2157088
    """

    link: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "link", as_link(self.link))
        if (self.link.indices != 1 or self.link.flips) and _alike(self.link) is None:
            raise QuantityError(
                f"state evolution of one overlap is followed for one index without flips and for products of indices that enter "
                f"alike, without noise, got {self.link}: write the link in z, or see matrix_state_evolution"
            )

    def information(self, q: float) -> tuple[float, float]:
        """Return E (E[z | y, omega] - omega)^2 and mmse(q), whose sum is 1 - q; QuantityError for q outside [0, 1)."""
        if isinstance(q, bool) or not isinstance(q, numbers.Real) or not 0 <= q < 1:
            raise QuantityError(f"q must be an overlap, at least 0 and below 1, got {q!r}")
        return _told(self.link, float(q))

    def posterior_variance(self, q: float) -> float:
        """Return mmse(q) = E Var(z | y, omega) for 0 <= q < 1; QuantityError for another q."""
        return self.information(q)[1]

    def step(self, q: float, alpha: float) -> float:
        """Return the overlap after one step from ``q``."""
        gain = positive(alpha, "alpha") * self.information(q)[0] / (1 - q) ** 2
        return gain / (1 + gain)

    def curve(self, q: float) -> float:
        """Return alpha(q), at which q > 0 is a fixed point."""
        gain = self.information(q)[0]
        return q * (1 - q) / gain if gain > 0 else math.inf

    def fixed_point(self, alpha: float) -> float:
        """Return the first fixed point, at which the algorithm stops that starts from nothing; 1 if it recovers everything.

        QuantityError where alpha is too near to alpha_c, or q to 1, for q to be told from it.
        """
        alpha, threshold = positive(alpha, "alpha"), _threshold(self.link)
        if alpha <= threshold:
            return 0.0
        low = 0.0
        if threshold:
            low = 1e-10
            if self.curve(low) >= alpha:
                raise QuantityError(f"alpha = {alpha!r} is not told from alpha_c = {threshold!r} of {self.link}, where q leaves 0")
        ends = np.geomspace(0.005, NEAREST_NOISY if self.link.noise else NEAREST, 16)
        grid = [float(q) for q in (*np.geomspace(1e-4, 0.05, 12), *np.linspace(0.07, 0.97, 46), 0.98, 0.99, *(1 - ends))]
        grid = [q for q in grid if q <= self.last]
        stride = 3 if self.link.noise or self.product else 1  # noise smooths the curve, and so do several indices
        looked = (*range(stride - 1, len(grid) - 1, stride), len(grid) - 1)
        first = next((place for place in looked if self.curve(grid[place]) >= alpha), None)
        if first is not None:
            place = next(place for place in range(first - stride + 1, first + 1) if self.curve(grid[place]) >= alpha)
            low = grid[place - 1] if place else low
            return float(brentq(lambda q: self.curve(q) - alpha, low, grid[place], xtol=1e-22, rtol=1e-14))
        if alpha < self.end():
            raise QuantityError(f"q is within {1 - grid[-1]:.0e} of 1 at alpha = {alpha:g} for {self.link}: not told from 1")
        return 1.0

    @property
    def product(self) -> bool:
        """Whether the labels are products that go by transforms along log |y|."""
        return _alike(self.link) is not None

    @property
    def last(self) -> float:
        """The largest overlap that is followed."""
        if self.product:
            return FOLLOWED[self.link.indices]
        return 1 - (NEAREST_NOISY if self.link.noise else NEAREST)

    def end(self) -> float:
        """Return alpha(1): 1/(1 - p) for labels that are at rest with probability p, inf with noise or if f is a step function; r
        for a product.

        As q -> 1 the posterior is one point of the level set, or the prior on an interval on which f is constant, mmse = p (1 - q);
        the level set of a product of r indices is flat then, and leaves r - 1 of the r directions as they are.
        """
        if self.link.noise:
            return math.inf
        shape = _alike(self.link)
        if shape is not None:
            return float(self.link.indices) if shape.powers[0] else math.inf
        rest = [piece for piece in _sets(self.link).pieces if piece.flat]
        if len(rest) == len(_sets(self.link).pieces):
            return math.inf
        return float(1 / (1 - sum(_mass(piece) for piece in rest)))

    def full_recovery(self) -> float:
        """Return sup_q alpha(q), from which on the algorithm that starts from nothing reaches q = 1; inf where none does."""
        if math.isinf(self.end()):
            return math.inf
        # In logarithms of q and 1 - q, as a fraction: alpha(q) tends to alpha_c and to alpha(1) at the ends.
        grid = np.concatenate([np.geomspace(1e-6, 0.01, 4), np.linspace(0.04, 0.96, 24), 1 - np.geomspace(0.02, NEAREST, 8)])
        if self.product:
            grid = np.linspace(0.05, self.last, 8)
        values = [self.curve(float(q)) for q in grid]
        best = int(np.argmax(values))
        if self.product and best == len(grid) - 1:  # it rises to its end
            return max(self.end(), _threshold(self.link))
        ends = sorted(float(logit(grid[min(max(best + side, 0), len(grid) - 1)])) for side in (-1, 1))
        found = minimize_scalar(lambda t: -self.curve(float(expit(t))), bounds=ends, method="bounded", options={"xatol": 1e-6})
        return max(float(-found.fun), values[best], self.end(), _threshold(self.link))


def state_evolution(link: Link | str, alpha: float, *, noise: float = 0.0, start: float = 0.0, steps: int = 100) -> Array:
    """Return the overlaps q_0, ..., q_steps of the best algorithm at n = alpha d from ``start``, for a link of one index z, or a
    product of indices that enter alike.

    They are overlaps of the estimate with the truth and with itself, which are equal.  From 0 nothing moves unless E[z | y] != 0:
    :meth:`StateEvolution.fixed_point` is where an algorithm ends that starts from very little.  Raises QuantityError.

    >>> state_evolution("z**2", 0.9, start=0.1, steps=12)[[1, 3, 6, 12]].round(4).tolist()
    [0.13, 0.1875, 0.2513, 0.3083]
    >>> state_evolution("z**2", 0.4, start=0.3, steps=3).round(3).tolist()  # below 1/2 it is lost
    [0.3, 0.164, 0.095, 0.06]
    """
    alpha, q = positive(alpha, "alpha"), real(start, "start", low=0.0, strict=False)
    if q >= 1:
        raise QuantityError(f"start must be an overlap below 1, got {start!r}")
    evolution = StateEvolution(as_link(link, noise=noise))
    path = [q]
    for _ in range(check_steps(steps)):
        q = min(evolution.step(q, alpha), 1 - 1e-9)
        path.append(q)
    return np.array(path)


@functools.lru_cache(maxsize=64)
def _alike(link: Link) -> Monomial | None:
    """The product of several indices, or of one with flips, that all enter alike; None for another link."""
    if link.noise or (link.indices == 1 and not link.flips) or link.indices > 3:
        return None
    shape = monomial(link)
    return shape if shape is not None and len({*zip(shape.powers, shape.signs)}) == 1 else None


@functools.lru_cache(maxsize=64)
def _threshold(link: Link) -> float:
    return float(weak_recovery_threshold(link))


@functools.lru_cache(maxsize=64)
def _sets(link: Link) -> LevelSets:
    return level_sets(core(link.expression), -REACH, REACH)


def _mass(piece: Piece) -> float:
    """The probability of a piece; those at the ends reach on."""
    low = -math.inf if piece.low <= -REACH else piece.low
    high = math.inf if piece.high >= REACH else piece.high
    return float(ndtr(high) - ndtr(low) if low < 0 else ndtr(-low) - ndtr(-high))


@functools.lru_cache(maxsize=8)
def _nodes(link: Link, least: float) -> tuple[Array, Array, Array, Array]:
    """Return nodes z by their pieces, their weights, and the points and slopes of their level sets; panels shrink to ``least``."""
    sets = _sets(link)
    z, dz, of = sets.panels(20, 0.4, least)
    if len(z) * len(sets.pieces) > MOST_ROOTS:
        raise QuantityError(
            f"link {link} has {len(sets.pieces)} monotone pieces, too many for panels of {min(least, 0.4):.1g}: {UNSEEN}"
        )
    weights = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi) * dz
    z, of, weights = (each[weights > 1e-18] for each in (z, of, weights))
    return z, weights, *sets.others(z, of)


@functools.lru_cache(maxsize=8192)
def _told(link: Link, q: float) -> tuple[float, float]:
    """E (E[z | y, omega] - omega)^2 and E Var(z | y, omega); the rule in omega is halved until nothing changes."""
    if link.noise:
        return information(link, q)
    v = 1 - q
    shape = _alike(link)
    if shape is not None:
        gain = float(product_information(shape, link.flips, (q,) * link.indices)[0])
        return gain, v - gain
    # Points of a level set that meet, at the end of a piece, are told apart where they are sqrt V from each other.
    least = float(4.0 ** np.floor(np.log2(v**0.5 / 2) / 2)) if v < 0.1 else math.inf
    nodes = _nodes(link, least)
    atoms = np.sum([_atom(group, q) for group in _sets(link).atoms()], axis=0) if _sets(link).atoms() else np.zeros(2)
    if q == 0:
        return _pair(_means(nodes, q, np.zeros(1)) + atoms)
    sums, found = _means(nodes, q, np.linspace(-8.8, 8.8, 23)), np.full(2, np.inf)
    for halvings in range(1, 5):
        number, step = 11 * 2**halvings, 0.8 / 2**halvings
        sums = sums + _means(nodes, q, np.linspace(step - 8.8, 8.8 - step, number))
        before, found = found, sums * step
        if np.all(np.abs(found - before) <= 1e-13 * np.array([found[0], v])):
            break
    return _pair(found + atoms)


def _pair(values: Array) -> tuple[float, float]:
    return float(values[0]), float(values[1])


def _means(nodes: tuple[Array, Array, Array, Array], q: float, e: Array) -> Array:
    """Return the two sums over the points ``e`` of omega = q z + sqrt(q V) e, without their step, and the mean over z."""
    z, weights, place, slope = nodes
    e = e[np.abs(e) < 8.2]
    v, total = 1 - q, np.zeros(2)
    mass = np.exp(-(e**2) / 2) / np.sqrt(2 * np.pi) if q else np.ones(1)
    reach = 19 * v**0.5 + 10 * v
    rows = max(int(1_000_000 / (len(e) * max(len(place), 1))), 16)
    for start in range(0, len(z), rows):
        part = slice(start, start + rows)
        # Of the level set only what is near weighs.
        away = np.where(np.isfinite(place[:, part]), place[:, part] - z[part], np.inf)
        near = np.flatnonzero(np.abs(away).min(axis=1) < reach)
        there = np.isfinite(away[near])
        away = np.where(there, away[near], 0.0)
        # (p - omega)^2 - (z - omega)^2 = (p - z)(p - z + 2 (z - omega)): points that meet are told apart by what they differ.
        own = v * z[part]
        with np.errstate(all="ignore"):
            cost = np.where(there, np.log(slope[near, part]) + away * (away + 2 * own) / (2 * v), np.inf)
        share = (away * (q / v) ** 0.5)[:, :, None] * e
        share -= cost[:, :, None]
        share -= share.max(axis=0)
        np.exp(share, out=share)
        zero = share.sum(axis=0)
        mean, square = (np.einsum("ine,in->ne", share, moment) / zero for moment in (away, away**2))
        gain = (mean + own[:, None] - (q * v) ** 0.5 * e) ** 2
        total += [weights[part] @ gain @ mass, weights[part] @ (square - mean**2) @ mass]
    return total


def _atom(group: list[Piece], q: float) -> Array:
    """E [P(z in A | omega) (E[z | z in A, omega] - omega)^2] and E [P Var] over omega ~ N(0, q), A the union of intervals."""
    v = 1 - q
    omega, mass = _around([end for piece in group for end in (piece.low, piece.high)], q)
    zero, one, two = np.zeros(len(omega)), np.zeros(len(omega)), np.zeros(len(omega))
    for piece in group:
        low = -np.inf if piece.low <= -REACH else piece.low
        high = np.inf if piece.high >= REACH else piece.high
        a, b = (low - omega) / v**0.5, (high - omega) / v**0.5
        flip = np.where(a > 0, -1.0, 1.0)  # of two tails the small ones are subtracted
        at_a, at_b = (np.exp(-(np.minimum(np.abs(end), 40.0) ** 2) / 2) / np.sqrt(2 * np.pi) for end in (a, b))
        share = np.abs(ndtr(flip * b) - ndtr(flip * a))
        zero += share
        one += at_a - at_b
        two += share + np.where(np.isfinite(a), a, 0.0) * at_a - np.where(np.isfinite(b), b, 0.0) * at_b
    kept = zero > 1e-14
    square = one[kept] ** 2 / zero[kept]
    return np.array([mass[kept] @ square, mass[kept] @ np.maximum(two[kept] - square, 0.0)]) * v


def _around(ends: list[float], q: float) -> tuple[Array, Array]:
    """Return nodes of omega ~ N(0, q) and their weights: panels as short as sqrt V next to the ends of intervals."""
    if q == 0:
        return np.zeros(1), np.ones(1)
    scale, reach = (1 - q) ** 0.5, REACH * q**0.5
    near = np.concatenate([end + scale * np.arange(-12, 13) for end in ends])
    wide = np.linspace(-reach, reach, 2 * int(np.ceil(2 * REACH)) + 1)
    edges = np.unique(np.concatenate([wide, near[np.abs(near) < reach]]))
    node, weight = np.polynomial.legendre.leggauss(20)
    half = np.diff(edges)[:, None] / 2
    omega = ((edges[1:] + edges[:-1])[:, None] / 2 + half * node).ravel()
    return omega, (half * weight).ravel() * np.exp(-(omega**2) / (2 * q)) / np.sqrt(2 * np.pi * q)
