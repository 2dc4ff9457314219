"""The linear algebra of the fits: designs of very different column sizes, rows of very different weights.

With it, what an experiment will know before it is run: the stderr of the exponent for given sizes and relative errors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dgeqp3, dormqr, dtrtri

from theoryck.fitting.corrections import CorrectionFamily
from theoryck.fitting.data import MIN_SIZES, Array, require, vector

Order = NDArray[np.intp]
_WORK = 64  # floats of workspace: enough for one right side


def design_matrix(x: Array, first: float, last: float, family: CorrectionFamily, free: bool) -> Array:
    """Columns 1, log(d/d_last) if the exponent is free, and the corrections in units of their prior deviation."""
    columns = [np.ones_like(x)] + ([x - math.log(last)] if free else [])
    columns += [dev * np.exp(-power * (x - math.log(first))) for power, dev in zip(family.powers, family.deviations)]
    return np.stack(columns, axis=1)


def solve(design: Array, target: Array, weights: Array, flat: int) -> tuple[Array, Array, float]:
    """Return the minimiser of ``|W (target - X theta)|^2 + |theta[flat:]|^2``, its covariance, and the minimum.

    Rows of very different weight (1e12 for exact data, 1 for a prior) are safe in Householder QR if the heavy rows come first and
    columns are pivoted (Higham, Accuracy and Stability of Numerical Algorithms, section 20.3).
    """
    factors = _Factors.of(design, weights, flat)
    theta = factors.minimiser(target * weights)
    with np.errstate(over="ignore"):  # a minimum beyond the range of floats is infinite
        misfit = (target - design @ theta) * weights
        return theta, factors.covariance(), float(misfit @ misfit + theta[flat:] @ theta[flat:])


def minimiser(design: Array, target: Array, weights: Array, flat: int) -> Array:
    """Return the first result of :func:`solve` alone."""
    return _Factors.of(design, weights, flat).minimiser(target * weights)


def covariance(design: Array, weights: Array, flat: int) -> Array:
    """Return the second result of :func:`solve` alone, which does not depend on the target."""
    return _Factors.of(design, weights, flat).covariance()


def response(design: Array, weights: Array, flat: int, unknown: int) -> Array:
    """Return d theta[unknown] / d target, one entry a row.

    Taken from the factors: ``C X^T W^2`` would square the weights, and loses every digit where errors are below 1e-8.
    """
    return _Factors.of(design, weights, flat).row(unknown, len(design)) * weights


@dataclass(frozen=True)
class _Factors:
    """The pivoted QR factors of the weighted rows, heaviest first, with those of the priors below: Q as LAPACK keeps it, and R.

    The fits are small, a dozen rows and columns, and made by the thousand: LAPACK is called itself, since the wrappers of
    scipy.linalg take several times as long as what they wrap.
    """

    packed: Array
    tau: Array
    inverse: Array  # R^-1
    pivot: Order
    order: Order

    @classmethod
    def of(cls, design: Array, weights: Array, flat: int) -> _Factors:
        """Factor the weighted rows and the priors of all unknowns from ``flat`` on."""
        unknowns = design.shape[1]
        order = np.argsort(-weights, kind="stable")
        matrix = np.zeros((len(design) + unknowns - flat, unknowns), order="F")
        matrix[: len(design)] = (design * weights[:, None])[order]
        matrix[np.arange(len(design), len(matrix)), np.arange(flat, unknowns)] = 1.0
        packed, pivot, tau, _, _ = dgeqp3(matrix, overwrite_a=True)
        r = np.asfortranarray(packed[:unknowns])
        # A column that the data cannot tell from the others has a diagonal of 0 up to rounding: at eps times the largest its
        # unknown gets an immense variance, which is what it has.
        diagonal = np.abs(r.diagonal())
        blind = diagonal < np.finfo(float).eps * diagonal.max()
        if blind.any():
            r[np.flatnonzero(blind), np.flatnonzero(blind)] = np.finfo(float).eps * max(diagonal.max(), 1.0)
        inverse, _ = dtrtri(r)
        return cls(packed, tau, np.triu(inverse), pivot - 1, order)

    def minimiser(self, right: Array) -> Array:
        """Return theta for the weighted target ``right``."""
        column = np.zeros((len(self.packed), 1), order="F")
        column[: len(right), 0] = right[self.order]
        rotated = dormqr("L", "T", self.packed, self.tau, column, _WORK)[0]
        theta = np.empty(len(self.inverse))
        theta[self.pivot] = self.inverse @ rotated[: len(self.inverse), 0]
        return theta

    def covariance(self) -> Array:
        """Return the covariance of theta."""
        made = np.empty_like(self.inverse)
        made[np.ix_(self.pivot, self.pivot)] = self.inverse @ self.inverse.T
        return made

    def row(self, unknown: int, rows: int) -> Array:
        """Return d theta[unknown] / d (weighted target)."""
        column = np.zeros((len(self.packed), 1), order="F")
        column[: len(self.inverse), 0] = self.inverse[list(self.pivot).index(unknown)]
        rotated = dormqr("L", "N", self.packed, self.tau, column, _WORK)[0]
        moved = np.empty(rows)
        moved[self.order] = rotated[:rows, 0]
        return moved


@dataclass(frozen=True)
class ExponentError:
    """The error of an exponent in its parts: ``stderr**2 = noise**2 + corrections**2``.

    The estimate is linear in log Q, ``s = sum_i g_i log Q_i`` with g the ``sensitivity``: over repetitions it scatters by ``noise``
    around the truth plus a bias, which is at most ``bias`` for any truth of the correction family.
    """

    stderr: float
    noise: float
    bias: float
    sensitivity: Array

    @property
    def corrections(self) -> float:
        """What no number of draws removes from the stderr."""
        return math.sqrt(max(self.stderr**2 - self.noise**2, 0.0))  # below 0 by rounding only

    def decision_reach(self, error_rate: float) -> float:
        """Return how far beyond the estimate a one-sided limit lies that no truth of the family exceeds more often than this.

        ``max(z stderr, z noise + bias)``: for a truth of bias b the estimate is N(s + b, noise**2), so the second alone suffices;
        with the first it never lies inside the interval that is shown.
        """
        z = NormalDist().inv_cdf(1 - error_rate)
        return max(z * self.stderr, z * self.noise + self.bias)


def exponent_error(
    sizes: Sequence[float], relative_errors: Sequence[float], *, correction: float | None = None, amplitude: float | None = None
) -> ExponentError:
    """Return the error of the exponent, by its parts, for given sizes and relative errors.

    Everything is infinite, and the sensitivity 0, for fewer than three distinct sizes.  Raises ValueError as
    :func:`exponent_stderr` does.

    >>> error = exponent_error([16, 32, 64, 128, 256, 512, 1024], [0.01] * 7)
    >>> error.noise < error.stderr < error.decision_reach(0.025) / 1.96
    True
    """
    stderr, sensitivity = exponent_stderr(sizes, relative_errors, correction=correction, amplitude=amplitude)
    if math.isinf(stderr):
        return ExponentError(math.inf, math.inf, math.inf, sensitivity)
    d, relative = vector("sizes", sizes), vector("relative_errors", relative_errors)
    family = CorrectionFamily.choose(float(d.min()), correction, amplitude, float(relative.min()))
    noise = float(np.linalg.norm(sensitivity * relative))
    return ExponentError(stderr, min(noise, stderr), family.largest_bias(d, sensitivity), sensitivity)


def exponent_stderr(
    sizes: Sequence[float], relative_errors: Sequence[float], *, correction: float | None = None, amplitude: float | None = None
) -> tuple[float, Array]:
    """Return the stderr of the exponent, corrections included, and its sensitivity to the logarithm of each value.

    The estimate is linear in log Q, ``s = sum_i g_i log Q_i``: the second result is g.  The stderr is infinite for fewer than three
    distinct sizes.  Raises ValueError on sizes or errors that are not positive.

    >>> stderr, g = exponent_stderr([16, 64, 256], [0.01, 0.01, 0.01], correction=1)
    >>> 0.01 < stderr < 0.5, abs(float(g.sum())) < 1e-6
    (True, True)
    """
    d, relative = vector("sizes", sizes), vector("relative_errors", relative_errors)
    if len(d) != len(relative):
        raise ValueError(f"sizes and relative_errors must have the same length, got {len(d)} and {len(relative)}")
    require(d > 0, "sizes", d, "must be positive")
    require(relative > 0, "relative_errors", relative, "must be positive")
    if len(np.unique(d)) < MIN_SIZES:
        return math.inf, np.zeros_like(d)
    family = CorrectionFamily.choose(float(d.min()), correction, amplitude, float(relative.min()))
    design = design_matrix(np.log(d), float(d.min()), float(d.max()), family, True)
    _, covariance, _ = solve(design, np.zeros_like(d), 1 / relative, 2)
    return math.sqrt(covariance[1, 1]), response(design, 1 / relative, 2, 1)
