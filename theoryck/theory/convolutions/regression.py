"""Gaussian regression with the kernel sum_a theta_a S_a: likelihood, predictor and losses, at one theta or at many.

A = T + sum_a theta_a S_a, alpha = A^(-1) y.  log N(y; 0, A) = -(y.alpha + log det A + P log 2 pi)/2; predictor k^T alpha with the
variance k_** - k^T A^(-1) k; training loss (1/P) E sum (y - f)^2 = (T^2 |alpha|^2 + T (P - T tr A^(-1)))/P.
What no S_a reaches is taken out once: with U an orthonormal basis of the range of all of them, y - U U^T y is noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from theoryck.theory.convolutions.model import PatchRegression

Array = NDArray[np.float64]

ROUNDING = 4 * np.finfo(np.float64).eps
"""Of an eigenvalue of a P x P matrix, in units of P times the largest one."""

AT_ONCE = 2**22
"""Entries of a stack of matrices."""


class Values(NamedTuple):
    """log N(y; 0, A) (B,), predictor mean and variance (B, M) and training loss (B,) at B values of theta."""

    log_likelihood: Array
    mean: Array
    variance: Array
    train_loss: Array


class Slopes(NamedTuple):
    """F = y.A^(-1) y + log det A at one theta: value, gradient (n,), and the two parts of its Hessian (n, n): convex - concave."""

    value: float
    gradient: Array
    convex: Array
    concave: Array


@dataclass(frozen=True, eq=False)
class KernelRegression:
    """The S_a (n, r, r), targets, cross kernels (n, r, M) and own (n, M) in a basis of their range, and what is left of y."""

    train: Array
    targets: Array
    cross: Array
    test: Array
    temperature: float
    inputs: int
    rest: float

    @classmethod
    def of(cls, problem: PatchRegression) -> KernelRegression:
        """Return the regression in the range of its kernels."""
        (train, cross, test), targets = problem.kernels, problem.targets
        # K_ij lives in the ranges of K_ii and K_jj: that of the kernel at infinite width holds all of them.
        values, vectors = np.linalg.eigh(problem.infinite_kernel)
        kept = vectors[:, values > ROUNDING * len(targets) * max(values[-1], 0.0)]
        if kept.shape[1] == len(targets):
            return cls(train, targets, cross, test, problem.temperature, len(targets), 0.0)
        inside = kept.T @ targets
        rest = float(np.sum((targets - kept @ inside) ** 2))
        return cls(kept.T @ train @ kept, inside, kept.T @ cross, test, problem.temperature, len(targets), rest)

    def values(self, thetas: Array) -> Values:
        """Return what is known at each of ``thetas`` (B, n)."""
        size = len(self.targets)
        step = max(AT_ONCE // max(size * (size + self.cross.shape[2]), 1), 1)
        parts = [self._values(thetas[start : start + step]) for start in range(0, len(thetas), step)]
        return Values(*(np.concatenate(each) for each in zip(*parts)))

    def _values(self, thetas: Array) -> Values:
        noise, size, missing = self.temperature, len(self.targets), self.inputs - len(self.targets)
        a = np.tensordot(thetas, self.train, 1)
        a[:, np.arange(size), np.arange(size)] += noise
        inverse, (_, logdet) = np.linalg.inv(a), np.linalg.slogdet(a)
        alpha = inverse @ self.targets
        fit = alpha @ self.targets + self.rest / noise
        constant = self.inputs * math.log(2 * math.pi) + missing * math.log(noise)
        k = np.tensordot(thetas, self.cross, 1)
        solved = inverse @ k
        variance = thetas @ self.test - np.einsum("brm,brm->bm", k, solved)
        lost = noise**2 * np.einsum("br,br->b", alpha, alpha) + self.rest
        trace = np.trace(inverse, axis1=1, axis2=2) + missing / noise
        train_loss = (lost + noise * (self.inputs - noise * trace)) / self.inputs
        return Values(-(fit + logdet + constant) / 2, np.einsum("brm,br->bm", k, alpha), variance, train_loss)

    def matrix(self, theta: Array) -> Array:
        """Return A (r, r)."""
        return np.tensordot(theta, self.train, 1) + self.temperature * np.eye(len(self.targets))

    def value(self, theta: Array) -> float:
        """Return F in the range of the kernels; LinAlgError where A is not positive definite."""
        factor = scipy.linalg.cholesky(self.matrix(theta), lower=True)
        half = scipy.linalg.solve_triangular(factor, self.targets, lower=True)
        return float(half @ half + 2 * np.sum(np.log(np.diag(factor))))

    def slopes(self, theta: Array, curved: bool = True) -> Slopes:
        """Return F and its derivatives: dF = tr A^(-1) S_a - alpha.S_a alpha, d2F = 2 s_a.A^(-1) s_b - tr A^(-1) S_a A^(-1) S_b.

        The second take r times the time of the first: without ``curved`` they are left out.
        """
        size, n = len(self.targets), len(self.train)
        factor = scipy.linalg.cho_factor(self.matrix(theta), lower=True)
        inverse = scipy.linalg.cho_solve(factor, np.eye(size))
        alpha = inverse @ self.targets
        value = float(self.targets @ alpha) + 2 * float(np.sum(np.log(np.diag(factor[0]))))
        flat = self.train.reshape(n, size * size)
        gradient = flat @ (inverse - np.outer(alpha, alpha)).ravel()
        if not curved:
            return Slopes(value, gradient, np.zeros((0, 0)), np.zeros((0, 0)))
        products = (self.train.reshape(n * size, size) @ inverse).reshape(n, size, size)
        seen = (self.train.reshape(n * size, size) @ alpha).reshape(n, size)
        concave = products.reshape(n, -1) @ products.transpose(0, 2, 1).reshape(n, -1).T
        return Slopes(value, gradient, 2 * seen @ inverse @ seen.T, (concave + concave.T) / 2)

    def constant(self) -> float:
        """Return what -2 log N(y; 0, A) has beside F."""
        missing = self.inputs - len(self.targets)
        return self.rest / self.temperature + missing * math.log(self.temperature) + self.inputs * math.log(2 * math.pi)
