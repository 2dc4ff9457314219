"""The first order in 1/N of log Z: the fourth cumulant of the outputs, contracted with the labels.

With A = (T + K)^-1, phi the features of one unit at the training inputs (covariance K, readout's precision included), z = y^T A phi
and q = phi^T A phi, N (log Z - log Z_GP) -> (E H - W)/8, H = z^4 - 6 z^2 q + 3 q^2, and W = E H/3 if the features are Gaussian: the
effective action has W/4 = l'(1)^2 + l''(1), l(Q) = log N(y; 0, T + Q K), and misses (E H - 3 W)/8.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def contraction(kernel: Array, labels: Array, temperature: float, features: Array, covariance: Array | None = None) -> Array:
    """Return H for every row of ``features`` (M, P); with their ``covariance`` C, less a part of mean 0 that is linear in q - z^2.

    The part is 6 (m - m') (q - z^2 - m + m'), m = E q = tr A C and m' = E z^2 = y^T A C A y: the slopes that E H has in q and z^2.

    >>> contraction(np.eye(1), np.array([2.0]), 1.0, np.array([[1.0]])).tolist()  # z = 1, q = 1/2
    [-1.25]
    """
    solved = np.linalg.solve(temperature * np.eye(len(labels)) + kernel, features.T)
    z, q = labels @ solved, np.einsum("mi,im->m", features, solved)
    found = z**4 - 6 * z**2 * q + 3 * q**2
    if covariance is not None:
        inverse = np.linalg.inv(temperature * np.eye(len(labels)) + kernel)
        v = inverse @ labels
        mean = np.sum(inverse * covariance) - v @ covariance @ v
        found = found - 6 * mean * (q - z**2 - mean)
    return np.asarray(found)


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
