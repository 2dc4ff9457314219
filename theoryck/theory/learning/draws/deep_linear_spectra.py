"""The spectrum of X^T X without X: random bidiagonal matrices, pivots and eigenvalues, in O(min(n, d_0)) random numbers.

X is d_0 x n with entries N(0, 1/d_0).  With p = min(n, d_0) and q = max(n, d_0), Householder reflections turn sqrt(d_0) X (or its
transpose) into a lower bidiagonal p x p matrix B (padded with zeros) of independent entries, the diagonal chi_q, chi_{q-1}, ...,
chi_{q-p+1} and below it chi_{p-1}, ..., chi_1 (Dumitriu and Edelman, Matrix models for beta ensembles, 2002).  The nonzero
eigenvalues of X^T X are those of B B^T/d_0.  Nothing of size n x n or n x d_0 exists.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dsterf

Array = NDArray[np.float64]

LOG_EVERY = 8
"""Pivots multiplied before their logarithm is taken: eight of them overflow only where one exceeds 1e38."""


def bidiagonal(rng: np.random.Generator, small: int, large: int, draws: int) -> tuple[Array, Array]:
    """Return the squared entries of B: diagonals (small, draws) and subdiagonals (small - 1, draws), independent chi-squares."""
    steps = np.arange(small)[:, None]
    diagonals = rng.standard_gamma(0.5 * (large - steps), size=(small, draws))
    subdiagonals = rng.standard_gamma(0.5 * (small - 1 - steps[: small - 1]), size=(small - 1, draws))
    diagonals *= 2.0
    subdiagonals *= 2.0
    return diagonals, subdiagonals


def eigenvalues(rng: np.random.Generator, small: int, large: int, draws: int) -> Array:
    """Return the eigenvalues of B B^T for independent B, shape (draws, small), ascending.

    They are those of a real Wishart matrix: of G G^T, G ``small`` x ``large`` with entries N(0, 1).
    """
    diagonals, subdiagonals = bidiagonal(rng, small, large, draws)
    products = np.sqrt(diagonals[:-1] * subdiagonals).T.copy()
    diagonals[1:] += subdiagonals
    result = np.ascontiguousarray(diagonals.T)
    if small == 1:
        return result
    for index in range(draws):
        result[index], info = dsterf(result[index], products[index])
        if info:
            raise ArithmeticError(f"LAPACK dsterf found only some of the {small} eigenvalues (info={info})")
    return result


class LogSum:
    """Sum of logarithms of positive arrays, with one logarithm for several factors."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._product, self._total, self._pending = np.ones(shape), np.zeros(shape), 0

    def add(self, factor: Array) -> None:
        """Add log(factor)."""
        self._product *= factor
        self._pending += 1
        if self._pending == LOG_EVERY:
            self._flush()

    def value(self) -> Array:
        """Return the sum so far."""
        self._flush()
        return self._total

    def _flush(self) -> None:
        self._total += np.log(self._product)
        self._product[...] = 1.0
        self._pending = 0


def logdet(rng: np.random.Generator, small: int, large: int, scale: float, draws: int) -> Array:
    """Return log det(1 + scale B B^T) for independent B, shape (draws,), from its pivots: no eigenvalue is needed.

    With A_i = scale B_ii^2 and B_i = scale B_{i+1,i}^2 the pivots of Gaussian elimination are delta_i = 1 + c_i + A_i, c_1 = 0,
    c_{i+1} = B_i (1 + c_i) / delta_i: sums and quotients of positive numbers, so nothing cancels.
    """
    diagonals, subdiagonals = bidiagonal(rng, small, large, draws)
    diagonals *= scale
    subdiagonals *= scale
    total, carried = LogSum((draws,)), np.ones(draws)
    for index in range(small):
        pivot = carried + diagonals[index]
        total.add(pivot)
        if index < small - 1:
            carried *= subdiagonals[index]
            carried /= pivot
            carried += 1.0
    return total.value()


def explained(rng: np.random.Generator, small: int, large: int, scale: float, draws: int) -> Array:
    """Return tr M (1 + M)^{-1}, M = scale B B^T, for independent B, shape (draws,).

    This is the derivative of log det(1 + s M) in log s at s = 1.  Differentiating the pivots (with c'_i for that of c_i) gives
    sum_i (c'_i + A_i)/delta_i with c'_{i+1} = c_{i+1} [(1 + c_i)/delta_i + c'_i A_i / ((1 + c_i) delta_i)]: all terms positive.
    """
    diagonals, subdiagonals = bidiagonal(rng, small, large, draws)
    diagonals *= scale
    subdiagonals *= scale
    total, carried, change = np.zeros(draws), np.zeros(draws), np.zeros(draws)
    for index in range(small):
        above = carried + 1.0
        pivot = above + diagonals[index]
        total += (change + diagonals[index]) / pivot
        if index < small - 1:
            carried = subdiagonals[index] * above / pivot
            change = carried * (above + change * diagonals[index] / above) / pivot
    return total


def log_likelihoods(
    rng: np.random.Generator, small: int, large: int, true: tuple[Array, float], grid: tuple[Array, float]
) -> Array:
    """Return log N(y; 0, s M + v) at all scales s of a grid for data y ~ N(0, s* M + v*), a fresh M = B B^T per data set.

    ``true`` = (s*, v*) with s* of shape (draws,), ``grid`` = (scales (nodes,), v); the result has shape (draws, nodes) and counts
    the ``small`` directions in which M acts.  In the basis in which X^T X is B B^T the data are sqrt(s*) B g + sqrt(v*) z, and
    s B B^T + v is tridiagonal: one elimination for all nodes at once, O(small nodes) per data set.
    """
    scales_true, noise_true = true
    scales, noise = grid
    draws = len(scales_true)
    diagonals, subdiagonals = bidiagonal(rng, small, large, draws)
    signal = rng.standard_normal((small, draws))
    data = np.sqrt(diagonals) * signal
    data[1:] += np.sqrt(subdiagonals) * signal[:-1]
    data *= np.sqrt(scales_true)
    data += np.sqrt(noise_true) * rng.standard_normal((small, draws))
    cross = np.sqrt(diagonals[:-1] * subdiagonals)
    shape = (draws, len(scales))
    logs, quadratic = LogSum(shape), np.zeros(shape)
    carried, residual = np.full(shape, noise), np.repeat(data[0][:, None], len(scales), axis=1)
    for index in range(small):
        pivot = carried + scales * diagonals[index][:, None]
        logs.add(pivot)
        quadratic += residual * residual / pivot
        if index < small - 1:
            # The same pivots as in logdet, times v: delta = v + c + s a^2, c' = s b^2 (v + c)/delta.
            ratio = scales / pivot
            carried *= ratio
            carried *= subdiagonals[index][:, None]
            carried += noise
            ratio *= cross[index][:, None]
            residual = data[index + 1][:, None] - ratio * residual
    return -0.5 * (small * np.log(2.0 * np.pi) + logs.value() + quadratic)


def in_pieces(function: Callable[[int], Array], draws: int, piece: int) -> Array:
    """Return ``function(k)`` of shape (k,) for k adding up to ``draws``, at most ``piece`` at a time, joined."""
    parts = [function(min(piece, draws - start)) for start in range(0, draws, piece)]
    return np.concatenate(parts) if parts else np.empty(0)
