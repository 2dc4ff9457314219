"""Probabilities and second moments of normal vectors on orthants, many side by side, in float64.

    P_m(h; C) = P(x_1 > h_1, ..., x_m > h_m),  x ~ N(0, C),  m <= 4.

P_2 is Owen's function.  For m = 3, 4 the correlations are switched on together, r_ij(t) = t r_ij (Plackett 1954):
    dP_m/dt = sum_{i<j} r_ij phi_2(h_i, h_j; t r_ij) P_{m-2}(the others given x_i = h_i, x_j = h_j),
from the product of one-dimensional probabilities at t = 0.  The singularities of the right-hand side lie at t = 1/(1 - lambda),
lambda an eigenvalue in (0, m) of a matrix of correlations: at t > 1, however near, or below -1/3, so that a rule of Gauss whose
nodes crowd at t = 1 as (1 - u)^8 converges for correlations that are almost 1 too.  With thresholds 0 P_2 and P_3 are arcsines.

Moments follow by Gaussian integration by parts: the derivative of an indicator is a point mass at its threshold.
"""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, owens_t

Array = NDArray[np.float64]

NODES, CROWDING = 48, 8
"""Of the rule along t: errors of 1e-13 for correlations of 1/2, of 1e-9 for those within 1e-12 of 1 and thresholds of 1."""

LEAST = 1e-280


@functools.cache
def _rule() -> tuple[Array, Array]:
    """1 - t = (1 - u)^8 at the nodes, t in (0, 1), and the weights."""
    u, weights = np.polynomial.legendre.leggauss(NODES)
    left, weights = (1 - u) / 2, weights / 2
    return left**CROWDING, CROWDING * left ** (CROWDING - 1) * weights


def _pair(h: Array, k: Array, r: Array) -> Array:
    """P(x > h, y > k) of standard normals of correlation r; Owen (1956)."""
    if not (h.any() or k.any()):
        return 0.25 + np.arcsin(r) / (2 * math.pi)
    # 0 as the smallest positive number: the formula is continuous from there.
    below, left = np.where(h == 0, LEAST, -h), np.where(k == 0, LEAST, -k)
    rest = np.sqrt((1 - r) * (1 + r))
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        first, second = (left - r * below) / (below * rest), (below - r * left) / (left * rest)
    # 0/0 where both are multiples of each other: the point mass of one variable, at its edge.
    first, second = (np.where(np.isnan(slope), 0.0, slope) for slope in (first, second))
    apart = np.where(np.signbit(below) != np.signbit(left), 0.5, 0.0)
    found: Array = (ndtr(below) + ndtr(left)) / 2 - apart - owens_t(below, first) - owens_t(left, second)
    return np.maximum(found, 0.0)


def _correlated(h: Array, r: Array) -> Array:
    """P_m, m <= 4, of thresholds (B, m) in standard deviations and correlations (B, m, m)."""
    m = h.shape[1]
    if m == 0:
        return np.ones(len(h))
    if m == 1:
        return np.asarray(ndtr(-h[:, 0]))
    if m == 2:
        return _pair(h[:, 0], h[:, 1], r[:, 0, 1])
    if m == 3 and not h.any():
        return 1 / 8 + (np.arcsin(r[:, 0, 1]) + np.arcsin(r[:, 0, 2]) + np.arcsin(r[:, 1, 2])) / (4 * math.pi)
    left, weights = _rule()
    t = 1 - left
    total = np.zeros((len(h), len(t)))
    for i, j in itertools.combinations(range(m), 2):
        r_ij = r[:, i, j, None]
        # 1 -+ t r_ij to all digits for r_ij near +-1, and sums and differences of the pair, so that nothing cancels there.
        below, above = 1 - r_ij + r_ij * left, 1 + r_ij - r_ij * left
        both, apart = (h[:, i] + h[:, j])[:, None], (h[:, i] - h[:, j])[:, None]
        density = np.exp(-(both**2 / above + apart**2 / below) / 4) / (2 * math.pi * np.sqrt(below * above))
        edges, deviations, sums, differences = [], [], [], []
        others = [k for k in range(m) if k not in (i, j)]
        for k in others:
            plus, minus = t * (r[:, i, k] + r[:, j, k])[:, None], t * (r[:, i, k] - r[:, j, k])[:, None]
            # A variance given others is at least the least eigenvalue, 1 - t or more.
            deviation = np.sqrt(np.maximum(1 - (plus**2 / above + minus**2 / below) / 2, left))
            edges.append((h[:, k, None] - (plus * both / above + minus * apart / below) / 2) / deviation)
            deviations.append(deviation)
            sums.append(plus)
            differences.append(minus)
        if m == 3:
            inner = ndtr(-edges[0])
        else:
            cross = t * r[:, others[0], others[1], None] - (sums[0] * sums[1] / above + differences[0] * differences[1] / below) / 2
            inner = _pair(edges[0], edges[1], np.clip(cross / (deviations[0] * deviations[1]), -1.0, 1.0))
        total += r_ij * density * inner
    found: Array = ndtr(-h).prod(axis=1) + total @ weights
    return found


def _standard(h: Array, covariance: Array) -> tuple[Array, Array, Array]:
    """Thresholds and correlations of variables in units of their standard deviations, and these (B, n)."""
    deviation = np.sqrt(np.maximum(np.einsum("bii->bi", covariance), LEAST))
    r = np.clip(covariance / (deviation[:, :, None] * deviation[:, None, :]), -1.0, 1.0)
    r[:, range(r.shape[1]), range(r.shape[1])] = 1.0
    return h / deviation[:, : h.shape[1]], r, deviation


def orthants(h: Array, covariance: Array) -> Array:
    """Return P(x > h) (B,) of thresholds ``h`` (B, m) and ``covariance`` (B, m, m), m <= 4.

    Covariances may be singular, with variances > 0: then by continuity.

    >>> h, c = np.zeros((1, 4)), np.full((1, 4, 4), 0.5) + np.eye(4) / 2
    >>> round(float(orthants(h, c)[0]), 12)  # 1/5: the least of five independent variables is the first
    0.2
    """
    level, r, _ = _standard(h, covariance)
    return _correlated(level, r)


def _given(covariance: Array, j: int) -> Array:
    """The covariance given the j-th variable, whose own row and column stay."""
    column, variance = covariance[:, :, j], np.maximum(covariance[:, j, j], LEAST)
    left = covariance - column[:, :, None] * column[:, None, :] / variance[:, None, None]
    for k in range(covariance.shape[1]):
        own, load = np.sqrt(covariance[:, k, k]), column[:, k] / np.sqrt(variance)
        left[:, k, k] = (own - load) * (own + load)  # 1 - r^2 to all digits of 1 - r
    deviation = np.sqrt(np.maximum(np.einsum("bii->bi", left), 0.0))
    most = deviation[:, :, None] * deviation[:, None, :]
    return np.clip(left, -most, most)


def orthant_moments(h: Array, covariance: Array) -> tuple[Array, Array, Array]:
    """Return P(I), E x I (B, n) and E x x^T I (B, n, n), I that x_i > h_i for the first m variables: ``h`` (B, m), m <= 4.

    ``covariance`` is (B, n, n), n >= m.  Differences of moments that vanish with 1 - r do so here.

    >>> probability, first, second = orthant_moments(np.zeros((1, 1)), np.array([[[4.0, 1.0], [1.0, 1.0]]]))
    >>> [round(float(value[0] * (2 * math.pi) ** 0.5), 12) for value in first.T], second[0].round(12).tolist()
    ([2.0, 0.5], [[2.0, 0.5], [0.5, 0.5]])
    """
    m = h.shape[1]
    level, r, deviation = _standard(h, covariance)
    probability = _correlated(level, r[:, :m, :m])
    first = np.zeros(r.shape[:2])
    second = r * probability[:, None, None]
    for j in range(m):
        others = [k for k in range(m) if k != j]
        left = _given(r, j)
        mean = r[:, :, j] * level[:, j, None]
        density = np.exp(-(level[:, j] ** 2) / 2) / math.sqrt(2 * math.pi)
        edges = level[:, others] - mean[:, others]
        beyond = orthants(edges, left[:, others][:, :, others])
        inner = mean * beyond[:, None]
        for place, k in enumerate(others):
            own = np.maximum(left[:, k, k], LEAST)
            rest = [q for q in others if q != k]
            between = np.exp(-(edges[:, place] ** 2) / (2 * own)) / np.sqrt(2 * math.pi * own)
            shifted = level[:, rest] - mean[:, rest] - left[:, rest, k] * (edges[:, place] / own)[:, None]
            inner += left[:, :, k] * (between * orthants(shifted, _given(left, k)[:, rest][:, :, rest]))[:, None]
        weighted = r[:, :, j] * density[:, None]
        first += weighted * beyond[:, None]
        second += weighted[:, :, None] * inner[:, None, :]
    return probability, first * deviation, second * deviation[:, :, None] * deviation[:, None, :]
