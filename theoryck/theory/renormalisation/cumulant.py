"""The first order in 1/N of log Z: the fourth cumulant of the outputs, contracted with the labels.

With A = (T + K)^-1, phi the features of one unit at the training inputs (covariance K, readout's precision included), z = y^T A phi
and q = phi^T A phi, N (log Z - log Z_GP) -> (E H - W)/8, H = z^4 - 6 z^2 q + 3 q^2, and W = E H/3 if the features are Gaussian: the
effective action has W/4 = l'(1)^2 + l''(1), l(Q) = log N(y; 0, T + Q K), and misses (E H - 3 W)/8.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def contraction(kernel: Array, labels: Array, temperature: float, features: Array) -> Array:
    """Return H for every row of ``features`` (M, P).

    >>> contraction(np.eye(1), np.array([2.0]), 1.0, np.array([[1.0]])).tolist()  # z = 1, q = 1/2
    [-1.25]
    """
    solved = np.linalg.solve(temperature * np.eye(len(labels)) + kernel, features.T)
    z, q = labels @ solved, np.einsum("mi,im->m", features, solved)
    return np.asarray(z**4 - 6 * z**2 * q + 3 * q**2)


def gaussian_contraction(kernel: Array, labels: Array, temperature: float, covariance: Array | None = None) -> float:
    """Return W, or E H/3 for Gaussian features of another ``covariance`` (P, P).

    >>> gaussian_contraction(np.eye(1), np.array([2.0]), 1.0)  # E (z^4 - 6 z^2 q + 3 q^2)/3 with z = phi, q = phi^2/2
    -1.25
    """
    inverse = np.linalg.inv(temperature * np.eye(len(labels)) + kernel)
    whole = kernel if covariance is None else covariance
    v, share = inverse @ labels, inverse @ whole
    one, bent, trace = v @ whole @ v, v @ whole @ share @ v, np.trace(share)
    return float(one**2 - 2 * one * trace - 4 * bent + trace**2 + 2 * np.sum(share * share.T))
