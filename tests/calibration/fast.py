"""Many fits at once: what :func:`theoryck.fitting.fit_rate` does to data that fit its model, for a whole array of data sets.

The corrections are eliminated: with ``C`` their covariance a fit is generalised least squares on ``(1, log d)`` with covariance
``diag(stderr^2/model^2) + C``, iterated as Gauss and Newton do.  Data that fit poorly, or with points near the noise floor, go to
``fit_rate`` itself, and :func:`largest_difference` says how far the two are apart on a subset, each time a table is made.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
import scipy.special
from numpy.typing import NDArray

from theoryck.fitting import fit_rate
from theoryck.fitting.corrections import CorrectionFamily
from theoryck.fitting.data import NOISE_FLOOR
from theoryck.fitting.fit import POOR_FIT

Array = NDArray[np.float64]
Z95 = 1.959963984540054
_STEPS = 6
_GRID = 200  # families are looked up at noises rounded to half a percent: they differ in terms far below the noise


@dataclass(frozen=True)
class Fits:
    """Estimates and 95% limits, one a data set, and which of them ``fit_rate`` itself made."""

    estimate: Array
    low: Array
    high: Array
    slow: NDArray[np.bool_]

    def covers(self, exponent: float) -> NDArray[np.bool_]:
        return (self.low <= exponent) & (exponent <= self.high)


@functools.lru_cache(maxsize=4096)
def _covariance(sizes: tuple[float, ...], correction: float | None, amplitude: float | None, step: int) -> Array:
    family = CorrectionFamily.choose(min(sizes), correction, amplitude, math.exp(step / _GRID))
    d = np.array(sizes) / min(sizes)
    terms = np.stack([s * d**-w for w, s in zip(family.powers, family.deviations)], axis=1)
    return terms @ terms.T


def estimates(
    sizes: Array, values: Array, stderrs: Array, *, correction: float | None = None, amplitude: float | None = None
) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Return estimates and stderrs of the exponents, and for which rows they are those of ``fit_rate`` (else NaN or too narrow)."""
    key = tuple(float(size) for size in sizes)
    with np.errstate(invalid="ignore", divide="ignore"):
        easy: NDArray[np.bool_] = np.all(values > NOISE_FLOOR * stderrs, axis=1)
    estimate, spread = np.full(len(values), np.nan), np.full(len(values), np.nan)
    if easy.any():
        steps = np.round(_GRID * np.log((stderrs[easy] / values[easy]).min(axis=1))).astype(int)
        used, which = np.unique(steps, return_inverse=True)
        corrections = np.stack([_covariance(key, correction, amplitude, int(step)) for step in used])[which]
        estimate[easy], spread[easy], p_value = _solve(sizes, values[easy], stderrs[easy], corrections)
        easy[easy] = p_value >= POOR_FIT
    return estimate, spread, easy


def fit_many(
    sizes: Array, values: Array, stderrs: Array, *, correction: float | None = None, amplitude: float | None = None
) -> Fits:
    """Fit each row of ``values`` (data sets, sizes); they must be positive for the vectorised part."""
    estimate, spread, easy = estimates(sizes, values, stderrs, correction=correction, amplitude=amplitude)
    low, high = estimate - Z95 * spread, estimate + Z95 * spread
    for index in np.flatnonzero(~easy):
        found = fit_rate(
            list(sizes), list(values[index]), list(stderrs[index]), correction=correction, amplitude=amplitude
        ).exponent
        estimate[index], low[index], high[index] = found.estimate, found.low, found.high
    return Fits(estimate, low, high, ~easy)


def _solve(sizes: Array, values: Array, stderrs: Array, corrections: Array) -> tuple[Array, Array, Array]:
    x = np.log(sizes / sizes[-1])
    design = np.broadcast_to(np.stack([np.ones_like(x), x], axis=1), (*values.shape, 2))
    relative = stderrs / values
    target, error = np.log(values) + 0.5 * relative**2, np.sqrt(np.log1p(relative**2)) + relative**2
    for _ in range(_STEPS):
        covariance = corrections + np.einsum("ri,ij->rij", error**2, np.eye(len(x)))
        solved = np.linalg.solve(covariance, np.concatenate([design, target[..., None]], axis=2))
        normal = np.einsum("rik,ril->rkl", design, solved)
        inverse = np.linalg.inv(normal[:, :, :2])
        theta = np.einsum("rkl,rl->rk", inverse, normal[:, :, 2])
        dual = solved[:, :, 2] - np.einsum("rik,rk->ri", solved[:, :, :2], theta)  # covariance^-1 (target - design theta)
        eta = target - error**2 * dual
        model = np.exp(eta)
        target, error = eta + (values - model) / model, stderrs / model
    pulls = ((values - model) / stderrs) ** 2
    chi2 = pulls.sum(axis=1) + np.einsum("ri,rij,rj->r", dual, corrections, dual)
    return theta[:, 1], np.sqrt(inverse[:, 1, 1]), scipy.special.chdtrc(len(x) - 2, chi2)


def largest_difference(sizes: Array, values: Array, stderrs: Array, *, correction: float | None = None) -> float:
    """Return the largest distance of an end or an estimate from that of ``fit_rate``, in widths of its interval."""
    fits, worst = fit_many(sizes, values, stderrs, correction=correction), 0.0
    for index, (value, stderr) in enumerate(zip(values, stderrs)):
        found = fit_rate(list(sizes), list(value), list(stderr), correction=correction).exponent
        gaps = (fits.estimate[index] - found.estimate, fits.low[index] - found.low, fits.high[index] - found.high)
        worst = max(worst, max(abs(gap) for gap in gaps) / (found.high - found.low))
    return worst
