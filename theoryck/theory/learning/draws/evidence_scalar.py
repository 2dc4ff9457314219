"""The scalar mode of a network, a guess of its density relative to N(Y; 0, C_B) that costs no path.

Given the readout vector a the covariance of Y is t A + B with t = |a|^2 / d_L and C_B = A + B (depth 1), and for linear phi that
is all there is: P(Y | X) is then the mixture of N(0, t A + B) over a product t of independent chi^2_(d_l) / d_l.  So
    q(Y) = E_t N(Y; 0, t A + B) / N(Y; 0, A + B)
follows r = P(Y | X) / N(Y; 0, C_B) closely where the network has learned nothing but its scale.  Here the law of t is a Gamma law
with mean 1 and the variance of that product, by Gauss-Laguerre; q is a guess, and nothing rests on how good it is.
"""

from __future__ import annotations

import functools
import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

NODES = 11


@functools.lru_cache(maxsize=256)
def _gamma_nodes(shape: float) -> tuple[Array, Array]:
    """Return nodes and weights, of sum 1, for t with density ~ t^(shape - 1) e^(-shape t): eigenvalues of the Jacobi matrix."""
    i = np.arange(1, NODES)
    jacobi = np.diag(2.0 * np.arange(NODES) + shape)
    jacobi[i, i - 1] = jacobi[i - 1, i] = np.sqrt(i * (i + shape - 1.0))
    values, vectors = np.linalg.eigh(jacobi)
    return values / shape, np.square(vectors[0])


class ScalarMode:
    """q for data sets with C_t = t A + B: ``kernel`` A (sets, n, n), ``root`` R (sets, n, n), R R^T = B^(-1), and the widths."""

    def __init__(self, kernel: Array, root: Array, widths: tuple[int, ...]) -> None:
        transposed = np.swapaxes(root, -1, -2)
        values, vectors = np.linalg.eigh(transposed @ kernel @ root)
        self.root = root @ vectors
        variance = math.prod(1.0 + 2.0 / width for width in widths[1:]) - 1.0
        scales, weights = _gamma_nodes(1.0 / variance)
        self.log_weights = np.log(weights)
        # In the basis that makes B = 1 and A diagonal, coordinate i has variance t a_i + 1.
        variances = scales[:, None] * values[:, None, :] + 1.0
        self.ones = ones = values + 1.0
        self.log_ratios = -0.5 * np.log(variances / ones[:, None, :]).sum(axis=-1)
        self.forms = -0.5 * (1.0 / variances - 1.0 / ones[:, None, :])

    def log_ratio(self, outputs: Array) -> Array:
        """Return log q (sets,) at outputs Y (sets, n)."""
        coordinates = np.matmul(outputs[:, None, :], self.root)
        return self._log_ratio(np.square(coordinates))[:, 0]

    def energy(self, outputs: Array) -> Array:
        """Return (Y^T C_B^(-1) Y - n)/2 (sets,)."""
        squares = np.square(np.matmul(outputs[:, None, :], self.root))[:, 0]
        result: Array = 0.5 * ((squares / self.ones).sum(axis=-1) - outputs.shape[-1])
        return result

    def _log_ratio(self, squares: Array) -> Array:
        """Return log q (sets, m) for squared coordinates (sets, m, n)."""
        exponents = np.matmul(squares, np.swapaxes(self.forms, -1, -2)) + (self.log_ratios + self.log_weights)[:, None, :]
        top = exponents.max(axis=-1, keepdims=True)
        result: Array = top[..., 0] + np.log(np.exp(exponents - top).sum(axis=-1))
        return result
