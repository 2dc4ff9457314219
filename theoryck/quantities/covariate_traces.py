"""Ridge regression given the features: everything else is Gaussian, so means over teacher and noise, and variances, are traces.

With M = Z^T Z = U diag(d) U^T, R = (M + lambda)^-1, b ~ N(0, diag(s)), residual r: the test error is r plus (1/p) g.Omega.g with
g = R Z^T e - lambda R b ~ N(0, C), C = lambda^2 R S R + r R M R; the training error is (lambda^2/n) y.Q^2.y with
Q = (Z Z^T + lambda)^-1, y ~ N(0, Z S Z^T + r).  A quadratic form x.A.x of x ~ N(0, C) has mean tr A C and variance 2 tr (A C)^2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def conditional_moments(what: str, inputs: Array, omega: Array, spread: Array, residual: float, penalty: float) -> Array:
    """Return mean and variance given the features of "test_error" or "train_loss", (B, 2), for inputs Z (B, n, p).

    >>> z = np.array([[[1.0], [1.0]]])
    >>> print(conditional_moments("train_loss", z, np.ones(1), np.zeros(1), 3.0, 1.0))  # r tr Q^2/n, 2 r^2 tr Q^4/n^2
    [[1.66666667 4.55555556]]
    """
    n, p = inputs.shape[1:]
    values, basis = np.linalg.eigh(inputs.transpose(0, 2, 1) @ inputs)
    weights = 1 / (values + penalty)
    if what == "test_error":
        return _test(values, basis, weights, omega, spread, residual, penalty)
    powers = basis**2
    # Z^T Q^k Z = M R^k; of the n eigenvalues of Q those beyond p are 1/lambda, or there are p - n of R too many.
    trace2 = (weights**2).sum(axis=1) + (n - p) / penalty**2
    trace4 = (weights**4).sum(axis=1) + (n - p) / penalty**4
    mean = (powers @ (values * weights**2)[:, :, None])[:, :, 0] @ spread + residual * trace2
    signal = (basis * (values * weights**2)[:, None, :]) @ basis.transpose(0, 2, 1)
    variance = np.einsum("i,bij,bij,j->b", spread, signal, signal, spread)
    cross = (powers @ (values * weights**4)[:, :, None])[:, :, 0] @ spread
    variance += 2 * residual * cross + residual**2 * trace4
    scale = penalty**2 / n
    return np.stack([scale * mean, 2 * scale**2 * variance], axis=1)


def _test(values: Array, basis: Array, weights: Array, omega: Array, spread: Array, residual: float, penalty: float) -> Array:
    p = basis.shape[1]
    resolvent = (basis * weights[:, None, :]) @ basis.transpose(0, 2, 1)
    covariance = penalty**2 * (resolvent * spread) @ resolvent
    covariance += residual * (basis * (values * weights**2)[:, None, :]) @ basis.transpose(0, 2, 1)
    weighted = covariance * np.sqrt(omega)[:, None] * np.sqrt(omega)
    mean = residual + np.einsum("bii->b", weighted) / p
    return np.stack([mean, 2 * np.einsum("bij,bij->b", weighted, weighted) / p**2], axis=1)
