"""Which of the routes finds what a label tells of the indices."""

from __future__ import annotations

import functools

import numpy as np
import sympy
from numpy.typing import NDArray
from scipy.special import gammaln

from theoryck.theory.weak_recovery.limits.level_sets import level_means, level_sets
from theoryck.theory.weak_recovery.limits.posterior import Posterior
from theoryck.theory.weak_recovery.limits.products import monomial_posterior
from theoryck.theory.weak_recovery.limits.several import binned_posterior, homogeneous_posterior, noisy_posterior
from theoryck.theory.weak_recovery.model import Link, degree, monomial, radius

Array = NDArray[np.float64]

REACH = 9.6
"""Beyond which z^4 times the normal density is below 1e-16 in all."""


@functools.lru_cache(maxsize=64)
def posterior(link: Link) -> Posterior:
    """Return what a label tells, by the first route that fits: noise, monomials, one index, the length, angles, bins.

    >>> posterior(Link("z1*z2")).method, posterior(Link("abs(z) + z**2")).method
    ('Mellin transform', 'level sets')
    """
    if link.noise:
        return noisy_posterior(link)
    found = monomial(link)
    if found is not None:
        return monomial_posterior(found, link.flips)
    if link.flips:
        return _flipped(link)
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
    statistics = (lambda z: z, lambda z: z**2 - 1)
    sets = level_sets(link.expression, -REACH, REACH)
    (coarse, rough), (weights, rows) = (level_means(sets, _gaussian, statistics, points) for points in (16, 24))
    return _compared(weights, rows[:, :1], rows[:, 1].reshape(-1, 1, 1), coarse @ rough**2, weights @ rows**2)


def _radial(length: object, r: int) -> Posterior:
    def density(rho: Array) -> Array:
        return np.exp((r - 1) * np.log(np.maximum(rho, 1e-300)) - rho**2 / 2 - (r / 2 - 1) * np.log(2) - gammaln(r / 2))

    statistics = (lambda rho: rho**2 / r - 1,)
    sets = level_sets(length, 0.0, REACH + r**0.5)
    (coarse, rough), (weights, rows) = (level_means(sets, density, statistics, points) for points in (16, 24))
    curvatures = rows[:, :, None] * np.eye(r)
    return _compared(weights, np.zeros((len(weights), r)), curvatures, coarse @ rough**2, weights @ rows**2)


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
    (coarse, rough), (weights, rows) = (level_means(sets, uniform, statistics, points, 0.3) for points in (16, 24))
    curvatures = rows[:, [2, 3, 3, 4]].reshape(-1, 2, 2)
    return _compared(weights, rows[:, :2], curvatures, coarse @ rough**2, weights @ rows**2)


def _compared(weights: Array, means: Array, curvatures: Array, coarse: Array, fine: Array) -> Posterior:
    error = float(np.max(np.abs(coarse - fine)) / max(float(np.max(fine)), 1e-12))
    return Posterior(weights, means, curvatures, max(2 * error, 1e-12), "level sets")
