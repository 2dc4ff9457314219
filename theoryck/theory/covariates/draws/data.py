"""Data of the Gaussian covariate model at finite size, drawn in stacks, and of the random features it stands for.

A stack of B data sets: features v/sqrt(p) as ``inputs`` (B, n, p), the teacher's field nu = theta.x'/sqrt(k) with its noise as
``field`` (B, n), and what errors are computed from: cov(v) and cov(v, nu), and the variance of nu.  A teacher theta ~ N(0, I)
enters through b = sqrt(p/k) Omega^-1 Phi^T theta, nu = b.v/sqrt(p) + residual, whose entries in the eigenbasis of Omega are
independent N(0, t_i/(gamma omega_i^2)).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf

from theoryck.quantities.base import QuantityError
from theoryck.theory.covariates.model import CovariateModel

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Stack:
    """B data sets; ``covariance`` is (p,) where it is diagonal and else (B, p, p), ``cross`` (B, p) is cov(v, nu)."""

    inputs: Array
    field: Array
    covariance: Array
    cross: Array
    variance: Array

    def orders(self, weights: Array) -> tuple[Array, Array]:
        """Return q = w.Omega.w/p and m = w.cov(v, nu)/sqrt(p) of estimates w (B, p), each (B,)."""
        p = weights.shape[1]
        if self.covariance.ndim == 1:
            q = (weights**2) @ self.covariance / p
        else:
            q = np.einsum("bi,bij,bj->b", weights, self.covariance, weights) / p
        return q, (weights * self.cross).sum(axis=1) / math.sqrt(p)


@dataclass(frozen=True)
class GaussianSource:
    """Draws v = Omega^(1/2) z in the eigenbasis of Omega, and the teacher; ``noise`` is added to nu."""

    model: CovariateModel
    noise: float
    n: int
    p: int

    @property
    def numbers(self) -> float:
        """Random numbers of a data set."""
        return self.n * (self.p + 1) + self.p

    def spectrum(self) -> tuple[Array, Array, float]:
        """Return the p eigenvalues, the p variances t/(gamma omega^2) of b, and the variance of the residual with its noise."""
        counts = np.array(self.model.weights) * self.p
        whole = np.rint(counts)
        if abs(counts - whole).max() > 1e-9 * self.p or whole.sum() != self.p:
            raise QuantityError(
                f"p = {self.p} features cannot have the model's spectrum of {len(counts)} eigenvalues: take p such that p times "
                "each weight is an integer (a multiple of their number where all weights are equal)"
            )
        omega = np.repeat(np.array(self.model.omega), whole.astype(int))
        diagonal = np.repeat(np.array(self.model.diagonal), whole.astype(int))
        spread = np.divide(diagonal, self.model.gamma * omega**2, out=np.zeros_like(omega), where=omega > 0)
        return omega, spread, self.model.residual + self.noise

    def inputs(self, rng: np.random.Generator, count: int, omega: Array) -> Array:
        """Draw features (count, n, p), divided by sqrt(p)."""
        inputs = rng.standard_normal((count, self.n, self.p))
        inputs *= np.sqrt(omega / self.p)
        return inputs

    def __call__(self, rng: np.random.Generator, count: int) -> Stack:
        """Draw ``count`` data sets."""
        omega, spread, residual = self.spectrum()
        teacher = rng.standard_normal((count, self.p)) * np.sqrt(spread)
        inputs = self.inputs(rng, count, omega)
        field = (inputs @ teacher[:, :, None])[:, :, 0]
        if residual:
            field += math.sqrt(residual) * rng.standard_normal(field.shape)
        return Stack(inputs, field, omega, omega * teacher / math.sqrt(self.p), teacher**2 @ omega / self.p + residual)


@dataclass(frozen=True)
class ErfFeatures:
    """Draws v = erf(F x), x ~ N(0, I_d), F (p, d) with entries N(0, 1/d) drawn afresh, and nu = theta.x/sqrt(d), theta ~ N(0, I).

    Errors are exact given F and the estimate: cov(v) = (2/pi) asin(2 f.f'/sqrt((1 + 2 f.f)(1 + 2 f'.f'))),
    cov(v, x) = (2/sqrt(pi)) F/sqrt(1 + 2 f.f).
    """

    noise: float
    n: int
    p: int
    d: int

    @property
    def numbers(self) -> float:
        """Random numbers of a data set; an error function takes about as long as one."""
        return self.n * (self.d + 2 * self.p + 1) + self.p * (self.d + self.p) + self.d

    def __call__(self, rng: np.random.Generator, count: int) -> Stack:
        """Draw ``count`` data sets."""
        weights = rng.standard_normal((count, self.p, self.d)) / math.sqrt(self.d)
        teacher = rng.standard_normal((count, self.d)) / math.sqrt(self.d)
        x = rng.standard_normal((count, self.n, self.d))
        inputs = erf(x @ weights.transpose(0, 2, 1)) / math.sqrt(self.p)
        field = (x @ teacher[:, :, None])[:, :, 0]
        if self.noise:
            field += math.sqrt(self.noise) * rng.standard_normal(field.shape)
        gram = 2 * weights @ weights.transpose(0, 2, 1)
        scale = 1 / np.sqrt(1 + np.einsum("bii->bi", gram))
        covariance = 2 / math.pi * np.arcsin(gram * scale[:, :, None] * scale[:, None, :])
        cross = 2 / math.sqrt(math.pi) * scale * (weights @ teacher[:, :, None])[:, :, 0]
        return Stack(inputs, field, covariance, cross, (teacher**2).sum(axis=1) + self.noise)


Source = GaussianSource | ErfFeatures
