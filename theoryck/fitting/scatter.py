"""Measurements without standard errors, or with errors that may be too small: what no smooth curve explains is noise.

Without errors one unknown relative noise is that of all:

``log Q_i = a + s log d_i + sum_j b_j u_i**w_j + sigma N(0, 1)`` with the correction family of the fit and a prior ``1/sigma``: with
the straight line projected out and the corrections integrated, contrast ``z_j`` of the data is Gaussian with variance
``lambda_j + sigma**2``, so the posterior of sigma is one-dimensional, and that of s is a mixture of Gaussians over it.  Few
contrasts are free of corrections, so the mixture has long tails, as Student's law has for few degrees of freedom: 7 sizes without
error bars say far less than 7 with them.  Noise smaller than the smallest contrast that corrections make, ``min lambda_j**(1/2)``
(or than the rounding of logarithms), cannot be told from corrections: the range of sigma starts there, so that data which look
exact are believed no more than that.

Errors that somebody stated are known but for one factor, sigma in units of them, which is at least 1: see :class:`Enlargement`.
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
_STEP = 0.04  # of the logarithm of a factor
RIGHT = 0.5  # the prior probability that errors are what they are stated to be
OFTEN_WRONG = 10.0  # the factor up to which they are likely to be wrong, if they are
SMALLEST_SHARE = 1e-6
LEAST_ROUGHNESS, _ROUGH = 1e-9, 60  # of meshes, and how many noises up to LARGEST_RELATIVE are tried


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
    contrasts = _Contrasts.of(design_matrix(data.x, first, last, family, True), data.log_size, 2)
    noise = np.geomspace(max(floor, math.sqrt(contrasts.variance.min())), LARGEST_NOISE, _NODES)
    return noise, *contrasts.law(noise, np.zeros(_NODES))  # the nodes are even in log sigma, which is the prior


@dataclass(frozen=True)
class _Contrasts:
    """A linear system as what is free of its flat unknowns, one Gaussian number each, and what that says of the last of these."""

    values: Array  # z_j, of variance lambda_j + noise**2
    variance: Array  # lambda_j
    sources: Array  # what the corrections do to the unknown, in the directions of the contrasts and in those of no contrast
    row: Array  # from the lines to the unknown
    line: float  # the unknown, were there no corrections

    @classmethod
    def of(cls, design: Array, target: Array, flat: int) -> _Contrasts:
        """Change coordinates orthogonally: the first ``flat`` span the columns without a prior, the rest are free of them."""
        lines, upper = scipy.linalg.qr(design[:, :flat])
        shapes, turned = lines.T @ design[:, flat:], lines.T @ target
        left, sizes, right = scipy.linalg.svd(shapes[flat:], full_matrices=True)
        variance = np.zeros(len(target) - flat)
        variance[: len(sizes)] = sizes**2
        row = scipy.linalg.solve_triangular(upper[:flat], np.eye(flat))[-1]
        return cls(left.T @ turned[flat:], variance, right @ (row @ shapes[:flat]), row, float(row @ turned[:flat]))

    def log_likelihood(self, noise: Array) -> Array:
        """Return the logarithm of the density of the contrasts at each noise."""
        total = self.variance + noise[:, None] ** 2  # (nodes, contrasts)
        return np.asarray(-0.5 * (np.log(total) + self.values**2 / total).sum(axis=1))

    def law(self, noise: Array, log_prior: Array) -> tuple[Array, Array, Array]:
        """Return the unknown and its stderr given each noise, and the posterior weights of the nodes."""
        total = self.variance + noise[:, None] ** 2
        log_weight = log_prior + self.log_likelihood(noise)
        weights = np.exp(log_weight - log_weight.max())
        # Given the noise, the contrasts say what the corrections do to the unknown, as far as the two have the same sources.
        seen = min(len(self.variance), len(self.sources))
        known, unseen = total[:, :seen], self.sources[seen:]
        centres = self.line - (self.values[:seen] / known) @ (self.sources[:seen] * np.sqrt(self.variance[:seen]))
        left_open = noise**2 * (self.sources[:seen] ** 2 / known).sum(axis=1) + float(unseen @ unseen)
        return centres, np.sqrt(left_open + noise**2 * float(self.row @ self.row)), weights / weights.sum()


@dataclass(frozen=True)
class Enlargement:
    """By which factor errors that somebody stated must be enlarged, as far as their scatter about the fit says.

    All of them may be too small by one factor.  As likely as not they are right; if not, the logarithm of the factor is even up to
    :data:`OFTEN_WRONG`, and falls like the inverse square beyond.  Given the factor the unknown is Gaussian, so that its law is a
    mixture; :meth:`at` returns the smallest factor whose Gaussian limits at an error rate enclose those of the mixture.  With
    errors that hold on 7 sizes it is about 1.1, with 5 sizes 1.4; errors stated too large are left as they are, as nothing would
    be gained but a narrower interval.
    """

    factors: Array
    centres: Array
    errors: Array
    weights: Array
    evidence: float = math.nan
    """The logarithm of the density of the data, up to what depends on them and on the flat unknowns alone."""
    evidence_as_stated: float = math.nan

    @classmethod
    def of(cls, design: Array, relative: Array, target: Array, flat: int) -> Enlargement:
        """Take the law of the last of ``flat`` unknowns of ``target = design theta + relative noise``, rows being logarithms."""
        if len(target) < flat:  # the other values have the sign that the fit does not have: none are left to scatter about it
            one = np.ones(1)
            return cls(one, one, one, one)
        # Beside errors a million times as large, those of exact rows need not be known, and QR keeps its digits.
        relative = np.maximum(relative, SMALLEST_SHARE * relative.max())
        largest = max(LARGEST_NOISE / float(relative.min()), 2 * OFTEN_WRONG)
        factors, prior = factors_of_errors(largest, _STEP)
        contrasts = _Contrasts.of(design / relative[:, None], target / relative, flat)
        likelihood = contrasts.log_likelihood(factors)
        evidence = float(scipy.special.logsumexp(likelihood, b=prior))
        return cls(factors, *contrasts.law(factors, np.log(prior)), evidence, float(likelihood[0]))

    def at(self, error_rate: float) -> float:
        """Return the factor for one-sided limits at ``error_rate``."""
        if len(self.factors) == 1:
            return 1.0
        return _matching(self.factors, self.centres, self.errors, self.weights, min(error_rate, 1 - error_rate))


@dataclass(frozen=True)
class Line:
    """Values along one size: sizes, logarithms of what is fitted, and relative errors as stated."""

    sizes: Array
    logs: Array
    relative: Array
    amplitude: float | None = None  # of the corrections at the first size, where the unit of the size means nothing


def common_factor(lines: Sequence[Line], free: int, error_rate: float, *, correction: float | None = None) -> float:
    """Return the factor in the errors of all lines for one-sided limits at ``error_rate``.

    The prior is that of :class:`Enlargement`, the likelihood the product of those of the lines, each with an exponent and
    corrections of its own.  Lines that cross say the same more than once: together they have ``free`` independent numbers of
    scatter, and each of theirs counts for its share.  Limits at that factor enclose those of the mixture over it.  It is 1 where
    there is no line.

    >>> sizes, wiggles = np.array([16.0, 32, 64, 128]), np.array([1.0, -1.0, 1.0, -1.0])
    >>> lines = [Line(sizes, sign * 0.005 * wiggles, np.full(4, 0.01)) for sign in (1, -1, 1, -1)]
    >>> [round(common_factor(found, 2 * len(found), 0.001), 1) for found in (lines, lines[:1])]
    [1.4, 5.3]
    """
    lines = [line for line in lines if len(line.sizes) > 2]
    if not lines:
        return 1.0
    relative = min(float(line.relative.min()) for line in lines)
    factors, prior = factors_of_errors(max(LARGEST_NOISE / relative, 2 * OFTEN_WRONG), _STEP)
    total, share = np.log(prior), min(free / sum(len(line.sizes) - 2 for line in lines), 1.0)
    for line in lines:
        first, last = float(line.sizes.min()), float(line.sizes.max())
        family = CorrectionFamily.choose(first, correction, line.amplitude, relative)
        design = design_matrix(np.log(line.sizes), first, last, family, True)
        contrasts = _Contrasts.of(design / line.relative[:, None], line.logs / line.relative, 2)
        total = total + share * contrasts.log_likelihood(factors)
    weights = np.exp(total - total.max())
    return _matching(factors, np.zeros(len(factors)), factors, weights / weights.sum(), error_rate)


@dataclass(frozen=True)
class Roughness:
    """Whether values that were computed scatter from mesh to mesh, as those of unstructured meshes do.

    Corrections of a declared family die out from mesh to mesh, whatever their size; scatter does not.  ``evidence`` is the
    logarithm of how much likelier a relative noise of the likeliest size, ``noise``, makes the values than corrections alone, each
    with the corrections that suit it best among families of several sizes.  It is hardly above 2 for smooth values, and below 0
    for 1 of 20 tables of 5 meshes that scatter by 0.5% to 10%, as good as none of 6 (tests/calibration).
    """

    evidence: float
    noise: float

    @classmethod
    def of(cls, data: Data, families: Sequence[CorrectionFamily]) -> Roughness:
        """Compare noises on logarithms ``log Q = a + s x + corrections`` with a and s free."""
        first, last = math.exp(data.x.min()), math.exp(data.x.max())
        relative = np.exp(data.log_stderr - data.log_size)
        noise = np.concatenate([[0.0], np.geomspace(max(3 * float(relative.min()), LEAST_ROUGHNESS), LARGEST_RELATIVE, _ROUGH)])
        rows = np.hypot(relative, noise[:, None])  # (noises, sizes)
        best = np.full(len(noise), -math.inf)
        for family in families:
            design = design_matrix(data.x, first, last, family, True)
            basis, upper = np.linalg.qr(design[:, :2] / rows[..., None], mode="complete")
            free = np.swapaxes(basis[..., 2:], 1, 2)
            left, sizes, _ = np.linalg.svd(free @ (design[:, 2:] / rows[..., None]))
            contrasts = (np.swapaxes(left, 1, 2) @ free @ (data.log_size / rows)[..., None])[..., 0]
            variance = np.ones_like(contrasts)
            variance[:, : sizes.shape[1]] += sizes**2
            scale = np.log(rows).sum(axis=1) + np.log(np.abs(np.diagonal(upper[:, :2], axis1=1, axis2=2))).sum(axis=1)
            best = np.maximum(best, -scale - 0.5 * (np.log(variance) + contrasts**2 / variance).sum(axis=1))
        likeliest = 1 + int(np.argmax(best[1:]))
        return cls(float(best[likeliest] - best[0]), float(noise[likeliest]))


def factors_of_errors(largest: float, step: float) -> tuple[Array, Array]:
    """Return factors from 1 to ``largest``, their logarithms a ``step`` apart, and the prior of each (:class:`Enlargement`)."""
    steps = np.linspace(0.0, math.log(largest), 1 + math.ceil(math.log(largest) / step))
    share = np.exp(-2 * np.maximum(steps - math.log(OFTEN_WRONG), 0.0))
    prior = (1 - RIGHT) * share / share.sum()
    prior[0] += RIGHT
    return np.exp(steps), prior


def _matching(noise: Array, centres: Array, errors: Array, weights: Array, rate: float) -> float:
    """Return the smallest noise whose Gaussian limits at ``rate`` enclose those of the mixture."""
    mixture = Mixture(weights, centres, errors)
    low, high = mixture.limit(rate, -1), mixture.limit(rate, 1)
    z = quantile(1 - rate)
    enclosing = (centres + z * errors >= high) & (centres - z * errors <= low)
    # Beyond the posterior's own width the error grows with the noise without bound, so the last nodes always enclose.
    return float(noise[int(np.argmax(enclosing))]) if enclosing.any() else math.inf
