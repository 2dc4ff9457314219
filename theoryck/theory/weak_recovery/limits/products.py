"""Monomials of Gaussians: what |z_1|^p_1 ... |z_r|^p_r and its sign tell, by Mellin transforms.

T = sum_j p_j log|z_j| has the density p(t) = (1/2 pi) int e^(-(c + i w) t) M(c + i w) dw, M(s) = prod_j E |z_j|^(p_j s), for every
c in the strip of M.  As the score of a sum is the conditional mean of the score of a summand, and that of p_j log|z_j| is
(1 - z_j^2)/p_j, E[z_j^2 - 1 | t] = -p_j p'(t)/p(t).  Given |z_1|, ..., |z_r| the signs are uniform over those that y allows, so
that E[z_a z_b | y] != 0 only where a and b are the two indices whose sign enters, and E[z_a | y] != 0 only where there is one:
these are sign(y) E[|z_a| |z_b| | t] and sign(y) E[|z_a| | t], with M(s) E|z|^(1 + p s)/E|z|^(p s) in the place of M(s).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, loggamma, polygamma

from theoryck.theory.weak_recovery.limits.posterior import Posterior
from theoryck.theory.weak_recovery.model import Monomial

Array = NDArray[np.float64]


def _log_moment(s: Array, shift: float = 0.0) -> Array:
    """log E |z|^(s + shift)."""
    found: Array = (s + shift) / 2 * np.log(2) + loggamma((1 + shift + s) / 2) - np.log(np.pi) / 2
    return found


def monomial_posterior(of: Monomial, flips: float = 0.0) -> Posterior:
    """Return the law of what y = prod sign(z_j)^s_j |z_j|^p_j tells, y -> -y with probability ``flips``.

    >>> posterior = monomial_posterior(Monomial((1.0, 1.0), (False, False)))
    >>> round(1 / float(posterior.linear_map()[0][0]), 12)  # |z1 z2|
    1.461545115874
    """
    p, r, odd = np.array(of.powers), len(of.powers), of.odd
    kept = 1 - 2 * flips
    if not np.any(p):
        density, slopes, means = np.ones(1), np.zeros(1), np.full(1, np.sqrt(2 / np.pi) ** len(odd))
        step = 1.0
    else:
        t, step = _grid(p)
        density, slopes, means = _densities(p, t, odd if len(odd) in (1, 2) else ())
    weights, curvature = density * step, np.zeros((len(density), r, r))
    curvature[:, range(r), range(r)] = -p * slopes[:, None]
    mean = np.zeros((len(density), r))
    if len(odd) == 1:
        mean[:, odd[0]] = kept * means
    if len(odd) == 2:
        curvature[:, odd[0], odd[1]] = curvature[:, odd[1], odd[0]] = kept * means
    if not odd:
        return Posterior(weights, mean, curvature, 1e-12, 0.0, "Mellin transform")
    other = curvature.copy()
    if len(odd) == 2:
        other[:, odd[0], odd[1]] = other[:, odd[1], odd[0]] = -kept * means
    both = np.concatenate([weights, weights]) / 2
    return Posterior(both, np.concatenate([mean, -mean]), np.concatenate([curvature, other]), 1e-12, 0.0, "Mellin transform")


def _grid(p: Array) -> tuple[Array, float]:
    """Return the trapezoid's nodes.  E |z|^(p i w) decays like exp(-pi |p w|/4), so that p(t) is analytic in |Im t| < pi sum |p|/4;
    1/p keeps at least the strip of one factor, pi max |p|/4, and a step of max |p|/12 leaves exp(-2 pi^2 * 12/4) = 1e-26."""
    largest = np.abs(p).max()
    step = largest / 12
    left, right = ((2 * 42 * -p[p < 0].min() if sign > 0 else 0.0) if np.any(p < 0) else 0.0 for sign in (-1, 1))
    # p(t) falls like exp(-|t|/max p) times a power of |t| on the side of small factors, faster than any power on the other.
    if np.any(p > 0):
        left = 42 * p.max() + 5 * len(p)
    if np.any(p < 0):
        right = 42 * -p.min() + 5 * len(p)
    left = left or 5.0 * np.abs(p).sum()
    right = right or 3.0 * np.abs(p).sum()
    return np.arange(-np.ceil(left / step), np.ceil(right / step) + 1) * step, step


def _densities(p: Array, t: Array, tilted: tuple[int, ...]) -> tuple[Array, Array, Array]:
    """Return p(t), p'(t)/p(t) and E[prod_{j in tilted} |z_j| | t].

    The line of integration goes through the saddle point, K'(c) = t, K = log M, so that p keeps its digits where it is small; on
    the side of small factors it stays half-way to the pole, where p is known to exp(-|t|/2) 1e-16 of itself, of weight exp(-|t|).
    """
    low = -0.5 / p.max() if np.any(p > 0) else -np.inf
    high = -0.5 / p.min() if np.any(p < 0) else np.inf

    def slope(c: Array) -> Array:
        return (p / 2 * (np.log(2) + digamma((1 + p * c[:, None]) / 2))).sum(axis=1)

    left, right = np.full(len(t), max(low, -1e6)), np.full(len(t), min(high, 1e6))
    for _ in range(60):
        far = np.sqrt(np.maximum((left + 2) * (right + 2), 0.0)) - 2  # of a wide interval the middle is a geometric one
        middle = np.where((left > -1) & (right > 1e3), far, (left + right) / 2)
        below = slope(middle) < t
        left, right = np.where(below, middle, left), np.where(below, right, middle)
    c = (left + right) / 2
    density, first, mean = (np.empty(len(t)) for _ in range(3))
    for place in range(len(t)):
        if place and c[place] == c[place - 1]:
            pass
        else:
            at = c[place]
            curvature = float((p**2 / 4 * polygamma(1, (1 + p * at) / 2)).sum())
            rate = min([at + 1 / q for q in p[p > 0]] + [1 / -q - at for q in p[p < 0]])
            spacing = 2 * np.pi / (45 / min(rate, 1 / np.sqrt(curvature)) + 10 * np.sqrt(curvature))
            reach = 60 / np.abs(p).sum() + 10 / np.sqrt(curvature)
            s = at + 1j * np.arange(0.0, reach, spacing)
            parts = [_log_moment(q * s) for q in p]
            log = np.sum(parts, axis=0)
            scale = log[0].real
            values = np.exp(log - scale) * spacing / np.pi
            values[0] /= 2
            tilts = np.exp(sum((_log_moment(p[j] * s, 1.0) - parts[j] for j in tilted), np.zeros(len(s), complex)))
        phase = np.exp(-1j * s.imag * t[place]) * values
        total = phase.sum().real
        density[place] = np.exp(scale - c[place] * t[place]) * total
        first[place] = -(s * phase).sum().real / total
        mean[place] = (tilts * phase).sum().real / total
    return density, first, mean
