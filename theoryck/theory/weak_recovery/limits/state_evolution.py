"""State evolution of the best algorithm for one index: overlaps q_t of approximate message passing, and its fixed points.

With V = 1 - q, omega ~ N(0, q), z = omega + sqrt V u and mmse(q) = E Var(z | y, omega): q^ = alpha (V - mmse)/V^2, q <- q^/(1 +
q^). So fixed points are a curve, alpha(q) = q (1 - q)/((1 - q) - mmse(q)): the algorithm that starts from nothing stops at the
first q with alpha(q) = alpha, and reaches q = 1 from max_q alpha(q) on.

Given y, z lies in the level set of y: points z_i with weights N(z_i; omega, V)/|f'(z_i)|, or intervals with the truncated normal
law. The means over y and omega are over z ~ N(0, 1) and omega = q z + sqrt(q V) e.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize_scalar
from scipy.special import ndtr

from theoryck.quantities.arguments import positive, real
from theoryck.quantities.base import QuantityError
from theoryck.theory.weak_recovery.limits.level_sets import LevelSets, Piece, level_sets
from theoryck.theory.weak_recovery.limits.thresholds import weak_recovery_threshold
from theoryck.theory.weak_recovery.model import Link, as_link, check_steps, core

Array = NDArray[np.float64]

REACH = 9.2


@dataclass(frozen=True)
class StateEvolution:
    """State evolution of one link with one index; ``posterior_variance`` is mmse(q).

    Raises QuantityError for several indices, for flips, and for noise that is too small beside the labels.

    >>> evolution = StateEvolution(Link("z**2"))
    >>> round(evolution.fixed_point(0.8), 10), round(evolution.full_recovery(), 9)
    (0.2162274903, 1.128471407)
    """

    link: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "link", as_link(self.link))
        if self.link.indices != 1 or self.link.flips:
            raise QuantityError(f"state evolution is followed for one index without flips, got {self.link}: write the link in z")

    def posterior_variance(self, q: float) -> float:
        """Return mmse(q) = E Var(z | y, omega) for 0 <= q < 1; QuantityError for another q."""
        if not 0 <= q < 1:
            raise QuantityError(f"q must be an overlap, at least 0 and below 1, got {q!r}")
        return _noisy_variance(self.link, q) if self.link.noise else _variance(self.link, q)

    def step(self, q: float, alpha: float) -> float:
        """Return the overlap after one step from ``q``."""
        v = 1 - q
        gain = alpha * (v - self.posterior_variance(q)) / v**2
        return gain / (1 + gain)

    def curve(self, q: float) -> float:
        """Return alpha(q), at which q > 0 is a fixed point."""
        return q * (1 - q) / ((1 - q) - self.posterior_variance(q))

    def fixed_point(self, alpha: float) -> float:
        """Return the first fixed point, at which the algorithm stops that starts from nothing; 1 if there is none below 0.9999."""
        if alpha <= _threshold(self.link):
            return 0.0
        low, high = 0.0, 0.0
        for high in (*np.geomspace(1e-4, 0.05, 12), *np.linspace(0.07, 0.97, 46), 0.98, 0.99, 0.995, 0.999, 0.9999):
            if self.curve(high) >= alpha:
                break
            low = float(high)
        else:
            return 1.0
        if low == 0.0:
            low = 1e-7
        return float(brentq(lambda q: self.curve(q) - alpha, low, float(high), xtol=1e-15, rtol=1e-14))

    def full_recovery(self) -> float:
        """Return max_q alpha(q), from which on the algorithm that starts from nothing reaches q = 1."""
        grid = np.linspace(0.02, 0.999, 50)
        best = int(np.argmax([self.curve(q) for q in grid]))
        low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
        found = minimize_scalar(lambda q: -self.curve(q), bounds=(low, high), method="bounded", options={"xatol": 1e-9})
        return float(-found.fun)


def state_evolution(link: Link | str, alpha: float, *, noise: float = 0.0, start: float = 0.0, steps: int = 100) -> Array:
    """Return the overlaps q_0, ..., q_steps of the best algorithm at n = alpha d from ``start``, for a link of one index z.

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
def _threshold(link: Link) -> float:
    return float(weak_recovery_threshold(link))


@functools.lru_cache(maxsize=32)
def _sets(link: Link) -> tuple[LevelSets, Array, Array, Array, Array]:
    sets = level_sets(core(link.expression), -REACH, REACH)
    z, dz, of = sets.panels(20, 0.4)
    place, slope = sets.others(z, of)
    return sets, z, np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi) * dz, place, slope


@functools.lru_cache(maxsize=4096)
def _variance(link: Link, q: float) -> float:
    sets, z, weights, place, slope = _sets(link)
    v = 1 - q
    e = np.linspace(-REACH, REACH, 93)
    mass = np.exp(-(e**2) / 2) / np.sqrt(2 * np.pi) * (e[1] - e[0])
    if q == 0:
        e, mass = np.zeros(1), np.ones(1)
    total = 0.0
    if len(z):
        # Points of a level set that are close to each other tell z apart by little: differences of them are what is summed.
        with np.errstate(all="ignore"):
            cost = np.where(np.isfinite(place), np.log(slope), np.inf)
        for start in range(0, len(z), 512):
            part = slice(start, start + 512)
            omega = q * z[part, None] + (q * v) ** 0.5 * e
            points = np.where(np.isfinite(place[:, part]), place[:, part], 0.0)
            log = -((points[:, :, None] - omega) ** 2) / (2 * v) - cost[:, part, None]
            log -= log.max(axis=0)
            share = np.exp(log)
            share /= share.sum(axis=0)
            mean = (share * points[:, :, None]).sum(axis=0)
            spread = (share * (points[:, :, None] - mean) ** 2).sum(axis=0)
            total += float(weights[part] @ spread @ mass)
    for group in sets.atoms():
        total += _atom(group, q)
    return total


def _atom(group: list[Piece], q: float) -> float:
    """E [P(z in A | omega) Var(z | z in A, omega)] over omega ~ N(0, q), A the union of intervals."""
    v = 1 - q
    step = min(1.0, (v / max(q, 1e-12)) ** 0.5) / 12
    omega = q**0.5 * np.arange(-REACH, REACH, step) if q else np.zeros(1)
    mass = np.exp(-(omega**2) / (2 * q)) / np.sqrt(2 * np.pi) * step if q else np.ones(1)
    zero, one, two = np.zeros(len(omega)), np.zeros(len(omega)), np.zeros(len(omega))
    for piece in group:
        low = -np.inf if piece.low <= -REACH else piece.low
        high = np.inf if piece.high >= REACH else piece.high
        a, b = (low - omega) / v**0.5, (high - omega) / v**0.5
        flip = np.where(a > 0, -1.0, 1.0)  # of two tails the small ones are subtracted
        share = np.abs(ndtr(flip * b) - ndtr(flip * a))
        at_a, at_b = (np.exp(-(np.minimum(np.abs(end), 40.0) ** 2) / 2) / np.sqrt(2 * np.pi) for end in (a, b))
        end_a, end_b = (np.where(np.isfinite(end), end, 0.0) for end in (a, b))
        zero += share
        one += share * omega + v**0.5 * (at_a - at_b)
        two += share * (omega**2 + v) + 2 * omega * v**0.5 * (at_a - at_b) + v * (end_a * at_a - end_b * at_b)
    kept = zero > 1e-12
    variance = np.maximum(two[kept] - one[kept] ** 2 / zero[kept], 0.0)
    return float(mass[kept] @ variance)


@functools.lru_cache(maxsize=1024)
def _noisy_variance(link: Link, q: float) -> float:
    v, spread = 1 - q, link.noise**0.5
    # The density of y given z is as narrow as the noise: nodes in z are close enough for labels of neighbours to overlap.
    steepest = np.abs(np.diff(link.values(np.linspace(-6, 6, 2001)[:, None]))).max() / 0.006
    number = 2 * math.ceil(max(120, 4 * 8.6 * steepest * v**0.5 / spread)) + 1
    if number > 6001:
        raise QuantityError(f"noise {link.noise:g} is too small beside the labels of {link}: leave it out, or take more")
    u = np.linspace(-8.6, 8.6, number)
    weight = np.exp(-(u**2) / 2) / np.sqrt(2 * np.pi) * (u[1] - u[0])
    e = np.linspace(-8.6, 8.6, 73) if q else np.zeros(1)
    mass = np.exp(-(e**2) / 2) / np.sqrt(2 * np.pi) * (e[1] - e[0]) if q else np.ones(1)
    total = 0.0
    for omega, share in zip(q**0.5 * e, mass, strict=True):
        z = omega + v**0.5 * u
        f = link.values(z[:, None])
        y = np.arange(f.min() - 8.6 * spread, f.max() + 8.6 * spread, spread / 4)
        kernel = np.exp(-((y[:, None] - f) ** 2) / (2 * link.noise)) * weight
        zero = kernel.sum(axis=1)
        kept = zero > 1e-20
        mean = (kernel[kept] @ u) / zero[kept]
        square = (kernel[kept] @ u**2) / zero[kept]
        total += share * v * float(((square - mean**2) * zero[kept]).sum()) / (4 * np.sqrt(2 * np.pi))
    return total
