"""The linear algebra of the fits: designs of very different column sizes, rows of very different weights."""

from __future__ import annotations

import math

import numpy as np
import scipy.linalg

from theoryck.rates.corrections import CorrectionFamily
from theoryck.rates.data import Array


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
    unknowns = design.shape[1]
    prior = np.eye(unknowns)[flat:]
    order = np.argsort(-weights, kind="stable")
    matrix = np.vstack([(design * weights[:, None])[order], prior])
    right = np.concatenate([(target * weights)[order], np.zeros(len(prior))])
    q, r, pivot = scipy.linalg.qr(matrix, mode="economic", pivoting=True, check_finite=False)
    # A column that the data cannot tell from the others has a diagonal of 0 up to rounding: at eps times the largest its unknown
    # gets an immense variance, which is what it has.
    diagonal = np.abs(np.diag(r))
    blind = diagonal < np.finfo(float).eps * diagonal.max()
    r[np.diag_indices(unknowns)] = np.where(blind, np.finfo(float).eps * max(diagonal.max(), 1.0), np.diag(r))
    projected = q.T @ right
    inverse = scipy.linalg.solve_triangular(r, np.eye(unknowns), check_finite=False)
    theta = np.empty(unknowns)
    theta[pivot] = inverse @ projected
    covariance = np.empty((unknowns, unknowns))
    covariance[np.ix_(pivot, pivot)] = inverse @ inverse.T
    with np.errstate(over="ignore"):  # a minimum beyond the range of floats is infinite
        residual = right - matrix @ theta
        return theta, covariance, float(residual @ residual)
