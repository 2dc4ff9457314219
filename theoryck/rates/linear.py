"""The linear algebra of the fits: designs of very different column sizes, rows of very different weights."""

from __future__ import annotations

import math

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from theoryck.rates.corrections import CorrectionFamily
from theoryck.rates.data import Array

Order = NDArray[np.intp]


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
    inverse, q, pivot, order = _factor(design, weights, flat)
    unknowns = design.shape[1]
    right = np.concatenate([(target * weights)[order], np.zeros(unknowns - flat)])
    theta = np.empty(unknowns)
    theta[pivot] = inverse @ (q.T @ right)
    covariance = np.empty((unknowns, unknowns))
    covariance[np.ix_(pivot, pivot)] = inverse @ inverse.T
    with np.errstate(over="ignore"):  # a minimum beyond the range of floats is infinite
        misfit = (target - design @ theta) * weights
        return theta, covariance, float(misfit @ misfit + theta[flat:] @ theta[flat:])


def response(design: Array, weights: Array, flat: int, unknown: int) -> Array:
    """Return d theta[unknown] / d target, one entry a row.

    Taken from the factors: ``C X^T W^2`` would square the weights, and loses every digit where errors are below 1e-8.
    """
    inverse, q, pivot, order = _factor(design, weights, flat)
    row = inverse[list(pivot).index(unknown)] @ q.T
    moved = np.empty(len(design))
    moved[order] = row[: len(design)]
    return np.asarray(moved * weights)


def _factor(design: Array, weights: Array, flat: int) -> tuple[Array, Array, Order, Order]:
    """Return R^-1, Q, the order of the unknowns and the order of the rows."""
    unknowns = design.shape[1]
    order = np.argsort(-weights, kind="stable")
    matrix = np.vstack([(design * weights[:, None])[order], np.eye(unknowns)[flat:]])
    q, r, pivot = scipy.linalg.qr(matrix, mode="economic", pivoting=True, check_finite=False)
    # A column that the data cannot tell from the others has a diagonal of 0 up to rounding: at eps times the largest its unknown
    # gets an immense variance, which is what it has.
    diagonal = np.abs(np.diag(r))
    blind = diagonal < np.finfo(float).eps * diagonal.max()
    r[np.diag_indices(unknowns)] = np.where(blind, np.finfo(float).eps * max(diagonal.max(), 1.0), np.diag(r))
    return scipy.linalg.solve_triangular(r, np.eye(unknowns), check_finite=False), q, pivot, order
