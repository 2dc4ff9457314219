"""Empirical risk minimisers on a stack of data sets: w minimises sum_mu loss(y_mu, z_mu.w) + (penalty/2) |w|^2."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from theoryck.quantities.base import QuantityError

Array = NDArray[np.float64]

MAX_STEPS = 60
TOLERANCE = 1e-10
"""Of the last Newton step, relative to the weights: the error after it is its square."""


def fit_square(inputs: Array, labels: Array, penalty: float) -> Array:
    """Return w = (Z^T Z + penalty)^-1 Z^T y = Z^T (Z Z^T + penalty)^-1 y for Z (B, n, p), y (B, n): the smaller matrix is solved.

    >>> w = fit_square(np.array([[[1.0], [2.0]]]), np.array([[1.0, 0.0]]), 1.0)
    >>> print(w)
    [[0.16666667]]
    """
    n, p = inputs.shape[1:]
    transposed = inputs.transpose(0, 2, 1)
    ridge = penalty * np.eye(min(n, p), dtype=float)
    solved: Any
    if n < p:
        solved = transposed @ np.linalg.solve(inputs @ transposed + ridge, labels[:, :, None])
    else:
        solved = np.linalg.solve(transposed @ inputs + ridge, transposed @ labels[:, :, None])
    weights: Array = solved[:, :, 0]
    return weights


def fit_logistic(inputs: Array, labels: Array, penalty: float) -> Array:
    """Return the minimiser for log(1 + exp(-y z.w)), labels +-1, by Newton's method with halved steps where the loss would rise.

    Raises QuantityError where it has not arrived after 60 steps (penalty > 0 makes the loss strongly convex: too small a penalty).

    >>> w = fit_logistic(np.array([[[1.0], [2.0]]]), np.array([[1.0, 1.0]]), 1.0)
    >>> bool(abs(w[0, 0] - expit(-w[0, 0]) - 2 * expit(-2 * w[0, 0])) < 1e-12)
    True
    """
    n, p = inputs.shape[1:]
    if n < p:
        # w lies in the span of the samples: in an orthonormal basis of it, Z = L V^T, the problem has n unknowns and inputs L.
        lower: Any = np.linalg.cholesky(inputs @ inputs.transpose(0, 2, 1))
        small = fit_logistic(lower, labels, penalty)
        solved: Array = inputs.transpose(0, 2, 1) @ np.linalg.solve(lower.transpose(0, 2, 1), small[:, :, None])
        return solved[:, :, 0]
    signed = inputs * labels[:, :, None]
    transposed = signed.transpose(0, 2, 1)
    ridge = penalty * np.eye(p)
    weights = np.zeros((len(inputs), p, 1))
    margins = signed @ weights
    loss = _objective(margins, weights, penalty)
    for _ in range(MAX_STEPS):
        wrong = expit(-margins)
        gradient = penalty * weights - transposed @ wrong
        step = np.linalg.solve(transposed @ (signed * (wrong * (1 - wrong))) + ridge, gradient)
        moved = abs(step).max(axis=1) <= TOLERANCE * abs(weights).max(axis=1)
        weights, margins, loss = _descend(signed, weights, step, loss, penalty)
        if moved.all():
            return weights[:, :, 0]
    raise QuantityError(
        f"logistic regression was not solved in {MAX_STEPS} Newton steps at penalty = {penalty:g}: take a larger one"
    )


def _objective(margins: Array, weights: Array, penalty: float) -> Array:
    values: Array = np.logaddexp(0.0, -margins).sum(axis=(1, 2)) + penalty / 2 * (weights**2).sum(axis=(1, 2))
    return values


def _descend(signed: Array, weights: Array, step: Array, loss: Array, penalty: float) -> tuple[Array, Array, Array]:
    """Go along the Newton steps, each halved until its loss does not rise by more than rounding."""
    factor = np.ones((len(weights), 1, 1))
    for _ in range(30):
        trial = weights - factor * step
        margins = signed @ trial
        reached = _objective(margins, trial, penalty)
        risen = reached > loss + 1e-12 * abs(loss)
        if not risen.any():
            break
        factor[risen] /= 2
    return trial, margins, reached
