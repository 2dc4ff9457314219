"""Which of the routes finds what a label tells of the indices."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence

import numpy as np
import sympy
from numpy.typing import NDArray
from scipy.special import gammaln

from theoryck.theory.weak_recovery.limits.level_sets import LevelSets, level_means, level_sets
from theoryck.theory.weak_recovery.limits.posterior import UNTOLD, Posterior, left_of_zero
from theoryck.theory.weak_recovery.limits.products import monomial_posterior
from theoryck.theory.weak_recovery.limits.several import binned_posterior, homogeneous_posterior, noisy_posterior, sign_posterior
from theoryck.theory.weak_recovery.model import Link, degree, monomial, radius, signs_only

Array = NDArray[np.float64]

MOST_ROOTS = 400_000
"""Roots that are bisected for one rule: about a second."""

REACH = 9.6
"""Beyond which z^4 times the normal density is below 1e-16 in all."""


@functools.lru_cache(maxsize=64)
def posterior(link: Link) -> Posterior:
    """Return what a label tells, by the first route that fits: noise, monomials, one index, the length, angles, bins.

    >>> posterior(Link("z1*z2")).method, posterior(Link("abs(z) + z**2")).method
    ('Mellin transform', 'level sets')
    """
    if link.noise:
        return sign_posterior(link) if signs_only(link) and not link.flips else noisy_posterior(link)
    found = monomial(link)
    if found is not None:
        return monomial_posterior(found, link.flips)
    if link.flips:
        return _flipped(link)
    if signs_only(link):
        return sign_posterior(link)
    if link.indices == 1:
        return _single(link)
    length = radius(link)
    if length is not None:
        return _radial(length, link.indices)
    if link.indices == 2:
        power = degree(link)
        if power == 0:
            return _angular(link)
        if power is not None:
            return homogeneous_posterior(link, power)
    return binned_posterior(link)


def _flipped(link: Link) -> Posterior:
    from theoryck.quantities.base import QuantityError

    raise QuantityError(
        f"flips are treated for monomials such as sign(z1*z2) and for links with noise, got {link}: give noise=, or leave out flips"
    )


def _gaussian(z: Array) -> Array:
    return np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)


def _single(link: Link) -> Posterior:
    sets = level_sets(link.expression, -REACH, REACH)
    weights, rows, error, floor = _refined(sets, _gaussian, (lambda z: z, lambda z: z**2 - 1))
    if sets.expression == sets.expression.xreplace({sets.symbol: -sets.symbol}):
        rows[:, 0] = 0.0  # an even link tells no sign: what rounding left of it
    return Posterior(weights, rows[:, :1], rows[:, 1].reshape(-1, 1, 1), error, floor, "level sets")


def _radial(length: object, r: int) -> Posterior:
    def density(rho: Array) -> Array:
        return np.exp((r - 1) * np.log(np.maximum(rho, 1e-300)) - rho**2 / 2 - (r / 2 - 1) * np.log(2) - gammaln(r / 2))

    weights, rows, error, floor = _refined(level_sets(length, 0.0, REACH + r**0.5), density, (lambda rho: rho**2 / r - 1,))
    return Posterior(weights, np.zeros((len(weights), r)), rows[:, :, None] * np.eye(r), error, floor, "level sets")


def _angular(link: Link) -> Posterior:
    angle = sympy.Symbol("z", real=True)
    one, two = link.symbols
    on_circle = link.expression.subs({one: sympy.cos(angle), two: sympy.sin(angle)}, simultaneous=True)
    mean = np.sqrt(np.pi / 2)  # E rho, and E rho^2 = 2
    statistics = (
        lambda a: mean * np.cos(a),
        lambda a: mean * np.sin(a),
        lambda a: 2 * np.cos(a) ** 2 - 1,
        lambda a: 2 * np.sin(a) * np.cos(a),
        lambda a: 2 * np.sin(a) ** 2 - 1,
    )
    sets = level_sets(on_circle, 0.1234, 0.1234 + 2 * np.pi)  # begins where no kink is likely
    uniform = lambda a: np.full(np.shape(a), 1 / (2 * np.pi))  # noqa: E731
    weights, rows, error, floor = _refined(sets, uniform, statistics, 0.3)
    if link.expression == link.expression.xreplace({one: -one, two: -two}):
        rows[:, :2] = 0.0
    return Posterior(weights, rows[:, :2], rows[:, [2, 3, 3, 4]].reshape(-1, 2, 2), error, floor, "level sets")


def _refined(
    sets: LevelSets, density: Callable[[Array], Array], statistics: Sequence[Callable[[Array], Array]], width: float = 0.75
) -> tuple[Array, Array, float, float]:
    """Return weights, conditional means, the relative error of their squares and what it leaves of a square that is 0.

    Panels shrink until two orders agree.
    """
    best: tuple[Array, Array, float, float] | None = None
    # Roots closer to a pole than 1e-12 are not told from it in floating point.
    poles = any(math.isinf(end) for piece in sets.pieces for end in (piece.first, piece.last))
    least, untold = (1e-11, 1e-14) if poles else (1e-12, UNTOLD)
    for halvings in range(5):
        (coarse, rough), (weights, rows) = (level_means(sets, density, statistics, n, width / 2**halvings) for n in (16, 24))
        rough_squares, squares = coarse @ rough**2, weights @ rows**2
        # What vanishes by a symmetry is known to rounding: the error is one of the largest.
        error, largest = float(np.max(np.abs(rough_squares - squares))), max(float(np.max(squares)), 1e-300)
        if best is None or 2 * error / largest < best[2]:
            best = (
                weights,
                rows,
                max(2 * error / largest, least, untold / largest),
                max(left_of_zero(rough_squares, squares), untold),
            )
        if largest < untold or best[2] <= max(1e-11, 2 * untold / largest) or len(weights) * len(sets.pieces) > MOST_ROOTS:
            break
    assert best is not None
    return best
