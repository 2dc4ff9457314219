"""The linear algebra of the fits: designs of very different column sizes, rows of very different weights."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dgeqp3, dormqr, dtrtri

from theoryck.fitting.corrections import CorrectionFamily
from theoryck.fitting.data import Array

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
