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
    # The rank is at most n, and eigenvalues are not negative: the rest is rounding, which a small penalty would take for signal.
    values[:, : max(p - n, 0)] = 0.0
    values = np.maximum(values, 0.0)
    lost = penalty / (values + penalty)
    if what == "test_error":
        return _test(values, basis, lost, omega, spread, residual, penalty)
    powers = basis**2
    # lambda Q has the eigenvalues ``lost`` of the min(n, p) largest values, and 1 for samples beyond p.
    seen = lost[:, max(p - n, 0) :]
    trace2, trace4 = (seen**2).sum(axis=1) + max(n - p, 0), (seen**4).sum(axis=1) + max(n - p, 0)
    mean = (powers @ (values * lost**2)[:, :, None])[:, :, 0] @ spread + residual * trace2
    signal = (basis * (values * lost**2)[:, None, :]) @ basis.transpose(0, 2, 1)
    variance = np.einsum("i,bij,bij,j->b", spread, signal, signal, spread)
    cross = (powers @ (values * lost**4)[:, :, None])[:, :, 0] @ spread
    variance += 2 * residual * cross + residual**2 * trace4
    return np.stack([mean / n, 2 * variance / n**2], axis=1)


def _test(values: Array, basis: Array, lost: Array, omega: Array, spread: Array, residual: float, penalty: float) -> Array:
    p = basis.shape[1]
    shrunk = (basis * lost[:, None, :]) @ basis.transpose(0, 2, 1)
    covariance = (shrunk * spread) @ shrunk
    covariance += residual * (basis * (lost * (values / (values + penalty)) / penalty)[:, None, :]) @ basis.transpose(0, 2, 1)
    weighted = covariance * np.sqrt(omega)[:, None] * np.sqrt(omega)
    mean = residual + np.einsum("bii->b", weighted) / p
    return np.stack([mean, 2 * np.einsum("bij,bij->b", weighted, weighted) / p**2], axis=1)
