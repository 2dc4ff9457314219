"""Draws of ridge regression: everything but the design is integrated.

The eigenfunctions are replaced by independent normal variables: row i of Z (n, m) is (psi_1(x_i), ..., psi_m(x_i)), and the kernel
is K = Z H Z^T, H = diag(eta).  What is drawn is Z (and the features), the rest is integrated: the risk over a new x is a sum over
k, the noise of the labels enters through its variance, and as the law of Z is that of Z with columns reversed in sign, the target
may have random signs, which leaves the diagonal terms of f f^T.  With A = K + n lambda and F = diag(f^2)
    bias = sum f_k^2 - 2 tr A^{-1} Z F H Z^T + tr A^{-1} (Z H^2 Z^T) A^{-1} (Z F Z^T),
    variance = s^2 tr A^{-1} (Z H^2 Z^T) A^{-1}.

On the sphere. Inputs are uniform on the sphere of radius sqrt(d), T = (<x_i, x_j>/d), the kernel matrix is h(T) and A = h(T) + n
lambda.  A target of power F_k in degree k, in a uniformly random direction of that eigenspace, has the covariance C = sum_k F_k
P_k(T) at the inputs; as the law of the inputs is invariant under rotations, a fixed direction has the same mean error.  With
eigenvalues lambda_k and multiplicities B_k, the error in degree k integrated over target, noise and a new input is
    F_k - 2 F_k lambda_k tr A^{-1} P_k(T) + lambda_k^2 B_k tr A^{-1} P_k(T) A^{-1} (C + s^2).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from theoryck.quantities.base import NANOSECONDS_PER_NUMBER, QuantityError
from theoryck.theory.ridge.model import gegenbauer, multiplicity

Array = NDArray[np.float64]

PER_SECOND = 1e9 / NANOSECONDS_PER_NUMBER

FLOPS, SPHERE_FLOPS = 1.2e10, 5e9
"""What matrix products of these sizes reach on one core, with the calls between them."""

LEAST_PIVOT = 3e-7
"""The least over the largest pivot of a Cholesky factor: its square bounds 1/condition, and 1e-13 leaves three digits."""


def factorised(matrix: Array, ridge: float) -> tuple[Array, bool]:
    """Return the Cholesky factor of a regularised kernel matrix, which is overwritten; QuantityError where it has too few digits.

    >>> factorised(np.diag([4.0, 9.0]), 0.1)[0].tolist()
    [[2.0, 0.0], [0.0, 3.0]]
    """
    try:
        factor, lower = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        factor, lower = np.zeros((1, 1)), True
    pivots = np.diagonal(factor)
    if not pivots.min() > LEAST_PIVOT * pivots.max():
        raise QuantityError(
            f"ridge must be larger: with lambda = {ridge:.3g} the matrix that is drawn is singular to rounding, as where the "
            "kernel has fewer directions than there are samples"
        )
    return factor, lower


@dataclass(frozen=True)
class KernelDesign:
    """Draws the excess risk of kernel ridge regression on a Gaussian design, divided by ``unit``."""

    eigenvalues: Array
    signal: Array
    n: int
    ridge: float
    noise: float
    unit: float

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        return np.array([self._one(rng) for _ in range(draws)]) / self.unit

    def _one(self, rng: np.random.Generator) -> float:
        z = rng.standard_normal((self.n, len(self.eigenvalues)))
        scaled = z * self.eigenvalues
        regularised = scaled @ z.T
        regularised.flat[:: self.n + 1] += self.n * self.ridge
        factor = factorised(regularised, self.ridge)
        weighted = z * self.signal
        fitted = cho_solve(factor, scaled, check_finite=False)  # A^{-1} Z H
        squares = fitted @ fitted.T  # A^{-1} (Z H^2 Z^T) A^{-1}
        bias = self.signal.sum() - 2 * np.vdot(fitted, weighted) + np.vdot(squares, weighted @ z.T)
        return float(bias + self.noise * np.trace(squares))

    @property
    def cost(self) -> float:
        n, m = self.n, len(self.eigenvalues)
        return n * m + PER_SECOND * (8.0 * n * n * m + n**3 / 3) / FLOPS + 3000.0


@dataclass(frozen=True)
class FeaturesDesign:
    """Draws the excess risk of ridge regression with random features on a Gaussian design, divided by ``unit``.

    The features are p^(-1/2) Z H^(1/2) W^T with W (p, m) of independent normal variables; lambda = n ``ridge`` of their sum of
    squares.  With G = p^(-1/2) W H^(1/2), R = (G Z^T Z G^T + n lambda)^{-1} and U = G Z^T Z the bias is
    sum f_k^2 - 2 tr R U F G^T + tr R G G^T R U F U^T, the variance s^2 tr R G G^T R G Z^T Z G^T.
    """

    eigenvalues: Array
    signal: Array
    n: int
    p: int
    ridge: float
    noise: float
    unit: float

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        return np.array([self._one(rng) for _ in range(draws)]) / self.unit

    def _one(self, rng: np.random.Generator) -> float:
        m = len(self.eigenvalues)
        z = rng.standard_normal((self.n, m))
        g = rng.standard_normal((self.p, m)) * np.sqrt(self.eigenvalues / self.p)
        features = z @ g.T
        u = features.T @ z
        gram = features.T @ features
        regularised = gram.copy()
        regularised.flat[:: self.p + 1] += self.n * self.ridge
        factor = factorised(regularised, self.ridge)
        solved = cho_solve(factor, g, check_finite=False)  # R G
        squares = solved @ solved.T
        weighted = u * self.signal
        bias = self.signal.sum() - 2 * np.vdot(solved, weighted) + np.vdot(squares, weighted @ u.T)
        return float(bias + self.noise * np.vdot(squares, gram))

    @property
    def cost(self) -> float:
        n, p, m = self.n, self.p, len(self.eigenvalues)
        return (n + p) * m + PER_SECOND * (4.0 * n * p * m + 6.0 * p * p * m + 2.0 * n * p * p) / FLOPS + 3000.0


@dataclass(frozen=True)
class SphereDesign:
    """Draws the error in the degree ``degree`` (all degrees where it is None) of kernel ridge regression, divided by ``unit``."""

    eigenvalues: Array
    target: Array
    d: int
    n: int
    ridge: float
    noise: float
    degree: int | None
    unit: float

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        return np.array([self._one(rng) for _ in range(draws)]) / self.unit

    def _one(self, rng: np.random.Generator) -> float:
        x = rng.standard_normal((self.n, self.d))
        x /= np.sqrt(np.einsum("ij,ij->i", x, x))[:, None]
        kernel, predicted, labels, cross = (np.zeros((self.n, self.n)) for _ in range(4))
        degrees = max(len(self.eigenvalues), len(self.target))
        for k, values in enumerate(gegenbauer(self.d, degrees - 1, x @ x.T)):
            eigenvalue = float(self.eigenvalues[k]) if k < len(self.eigenvalues) else 0.0
            power, size = float(self.target[k]) if k < len(self.target) else 0.0, float(multiplicity(self.d, k))
            kernel += eigenvalue * size * values
            labels += power * values
            if self.degree is None or k == self.degree:
                predicted += eigenvalue**2 * size * values
                cross += power * eigenvalue * values
        kernel.flat[:: self.n + 1] += self.n * self.ridge
        labels.flat[:: self.n + 1] += self.noise
        factor = factorised(kernel, self.ridge)
        total = float(self.target.sum() if self.degree is None else self.target[self.degree])
        left = cho_solve(factor, np.concatenate([predicted, labels, cross], axis=1), check_finite=False)
        first, second, third = left[:, : self.n], left[:, self.n : 2 * self.n], left[:, 2 * self.n :]
        return total - 2 * float(np.trace(third)) + float(np.vdot(first, second.T))

    @property
    def cost(self) -> float:
        n = self.n
        return n * self.d + PER_SECOND * (6.4 * n**3 + 20.0 * len(self.eigenvalues) * n * n) / SPHERE_FLOPS + 20000.0
