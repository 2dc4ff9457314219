"""Measurements without standard errors: one unknown relative noise for all of them, taken from what no smooth curve explains.

``log Q_i = a + s log d_i + sum_j b_j u_i**w_j + sigma N(0, 1)`` with the correction family of the fit and a prior ``1/sigma``: with
the straight line projected out and the corrections integrated, contrast ``z_j`` of the data is Gaussian with variance
``lambda_j + sigma**2``, so the posterior of sigma is one-dimensional, and that of s is a mixture of Gaussians over it.  Few
contrasts are free of corrections, so the mixture has long tails, as Student's law has for few degrees of freedom: 7 sizes without
error bars say far less than 7 with them.  Noise smaller than the smallest contrast that corrections make, ``min lambda_j**(1/2)``
(or than the rounding of logarithms), cannot be told from corrections: the range of sigma starts there, so that data which look
exact are believed no more than that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.special

from theoryck.fitting.corrections import CorrectionFamily
from theoryck.fitting.data import Array, Data
from theoryck.fitting.linear import design_matrix
from theoryck.fitting.result import quantile

NO_STDERR = "no stderr: residual scatter"
MIN_SCATTER_SIZES = 4
LARGEST_RELATIVE = 0.25  # a fit needs values that stand above their errors
SMALLEST_NOISE, LARGEST_NOISE = 1e-13, 10.0  # of sigma: from the rounding of logarithms to ten times the values
WIDENING = 1.1  # of the corrections: an unknown noise may be taken for one, and at corners of the family it would be too often
_NODES = 360  # of log sigma, 9% apart: the densities in it are never narrower than 1/sqrt(2 n), and n is at most some hundreds


@dataclass(frozen=True)
class Mixture:
    """A law of the exponent that is a mixture of Gaussians: what is known of it where the noise itself is not known."""

    weights: Array
    centres: Array
    stderrs: Array

    def limit(self, error_rate: float, side: int) -> float:
        """Return the quantile that leaves ``error_rate`` beyond it, on the upper side for ``side`` = 1."""
        kept = self.weights > 0
        weights, centres, stderrs = self.weights[kept], self.centres[kept], self.stderrs[kept]

        def beyond(limit: float) -> float:
            return float(weights @ scipy.special.ndtr(side * (centres - limit) / stderrs)) - error_rate

        reach = 40 * float(stderrs.max())  # a Gaussian leaves nothing that a float could hold beyond 40 deviations
        from scipy.optimize import brentq  # half of what it takes to start an audit, which seldom comes here

        return float(brentq(beyond, centres.min() - reach, centres.max() + reach, xtol=1e-15, rtol=1e-12))


@dataclass(frozen=True)
class Scatter:
    """Standard errors taken from residual scatter; ``reason`` says why there are none (they are then infinite).

    ``relative`` is the relative error that all of them have: with it a fit's limits at the error rate asked for are those of the
    mixture over the unknown noise, and limits at larger rates are further out than need be.
    """

    stderrs: tuple[float, ...]
    relative: float
    flag: str = NO_STDERR
    reason: str = ""


def residual_stderrs(
    sizes: Sequence[float],
    values: Sequence[float],
    *,
    correction: float | None = None,
    amplitude: float | None = None,
    rate: float = 0.01,
    log_values: bool = False,
) -> Scatter:
    """Return standard errors for values without any, such that one-sided limits at error rate ``rate`` (or larger) are honest.

    The noise is assumed to have the same relative size everywhere.  Raises ValueError as :func:`theoryck.fitting.fit.fit_rate`
    does, and for a rate outside (0, 1/2).

    >>> wiggles = [1.01, 0.99, 1.0, 1.01, 0.99, 1.0, 1.0]
    >>> scatter = residual_stderrs([16, 32, 64, 128, 256, 512, 1024], wiggles, correction=1)
    >>> 0.01 < scatter.relative < 0.05, scatter.flag
    (True, 'no stderr: residual scatter')
    """
    if not 0 < rate < 0.5:
        raise ValueError(f"rate must lie strictly between 0 and 1/2, got {rate!r}")
    data, reason = _read(sizes, values, log_values)
    count = len(data.x)
    if reason:
        return Scatter((math.inf,) * count, math.inf, NO_STDERR, reason)
    relative = _matching(*_posterior(data, correction, amplitude), rate)
    if relative > LARGEST_RELATIVE:
        reason = (
            f"without standard errors the scatter of {count} values allows for errors above {LARGEST_RELATIVE:.0%} of them: "
            "measure more sizes, or give standard errors or replicates"
        )
        return Scatter((math.inf,) * count, math.inf, NO_STDERR, reason)
    stderrs = np.full(count, relative) if log_values else relative * np.abs(np.asarray(values, dtype=float))
    return Scatter(tuple(float(stderr) for stderr in stderrs), relative)


def _read(sizes: Sequence[float], values: Sequence[float], log_values: bool) -> tuple[Data, str]:
    """Return the data, sorted, with errors of 1 in the logarithm, and why no noise can be told from them."""
    data = Data.read(sizes, values, np.zeros(len(np.atleast_1d(np.asarray(values, dtype=object)))), log_values)
    distinct = len(np.unique(data.x))
    if distinct < MIN_SCATTER_SIZES:
        return data, (
            f"{distinct} size{'s' * (distinct != 1)} without standard errors cannot show noise, an exponent and its corrections: "
            f"give standard errors or replicates, or measure at least {MIN_SCATTER_SIZES} sizes, better 7"
        )
    if not data.signs.any():
        return data, "every value is zero: no power of the size is"
    odd = np.flatnonzero(data.signs != data.signs[np.argmax(data.log_size)])
    if len(odd):
        return data, (
            f"the value at size {data.shown[odd[0]]} is zero or has another sign: "
            "without standard errors nothing says whether that is noise"
        )
    return data, ""


def _posterior(data: Data, correction: float | None, amplitude: float | None) -> tuple[Array, Array, Array, Array]:
    """Return nodes of sigma, the exponent and its stderr given each, and the posterior weights of the nodes."""
    first, last = math.exp(data.x.min()), math.exp(data.x.max())
    # The logarithm of a float is known to a few units of its last place, and no family is needed below that.
    floor = max(SMALLEST_NOISE, 8 * np.finfo(float).eps * float(np.abs(data.log_size).max()))
    family = CorrectionFamily.choose(first, correction, amplitude, noise=1e-3 * floor, widening=WIDENING)
    design = design_matrix(data.x, first, last, family, True)
    # An orthogonal change of coordinates: the first two span the straight lines, the rest are contrasts free of them.
    lines, upper = scipy.linalg.qr(design[:, :2])
    shapes, target = lines.T @ design[:, 2:], lines.T @ data.log_size
    left, sizes, right = scipy.linalg.svd(shapes[2:], full_matrices=True)
    contrasts, variance = left.T @ target[2:], np.zeros(len(target) - 2)
    variance[: len(sizes)] = sizes**2
    noise = np.geomspace(max(floor, math.sqrt(variance.min())), LARGEST_NOISE, _NODES)
    total = variance + noise[:, None] ** 2  # (nodes, contrasts)
    log_weight = -0.5 * (np.log(total) + contrasts**2 / total).sum(axis=1)  # the nodes are even in log sigma, which is the prior
    weights = np.exp(log_weight - log_weight.max())
    slope = scipy.linalg.solve_triangular(upper[:2], np.eye(2))[1]  # from the lines to s
    # Given sigma, the contrasts say what the corrections do to the slope, as far as the two have the same sources.
    sources = right @ (slope @ shapes[:2])
    seen, unseen = sources[: len(sizes)], sources[len(sizes) :]
    known = total[:, : len(sizes)]
    centres = slope @ target[:2] - (contrasts[: len(sizes)] / known) @ (seen * sizes)
    left_open = noise**2 * (seen**2 / known).sum(axis=1) + float(unseen @ unseen)
    errors = np.sqrt(left_open + noise**2 * float(slope @ slope))
    return noise, centres, errors, weights / weights.sum()


def _matching(noise: Array, centres: Array, errors: Array, weights: Array, rate: float) -> float:
    """Return the smallest noise whose Gaussian limits at ``rate`` enclose those of the mixture."""
    mixture = Mixture(weights, centres, errors)
    low, high = mixture.limit(rate, -1), mixture.limit(rate, 1)
    z = quantile(1 - rate)
    enclosing = (centres + z * errors >= high) & (centres - z * errors <= low)
    # Beyond the posterior's own width the error grows with the noise without bound, so the last nodes always enclose.
    return float(noise[int(np.argmax(enclosing))]) if enclosing.any() else math.inf
