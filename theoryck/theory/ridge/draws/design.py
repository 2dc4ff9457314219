"""Ridge regression drawn: a kernel of finitely many eigenvalues, or random features of it, on a Gaussian design.

The eigenfunctions are replaced by independent normal variables: row i of Z (n, m) is (psi_1(x_i), ..., psi_m(x_i)), and the kernel
is K = Z H Z^T, H = diag(eta).  What is drawn is Z (and the features), the rest is integrated: the risk over a new x is a sum over
k, the noise of the labels enters through its variance, and as the law of Z is that of Z with columns reversed in sign, the target
may have random signs, which leaves the diagonal terms of f f^T.  With A = K + n lambda and F = diag(f^2)
    bias = sum f_k^2 - 2 tr A^{-1} Z F H Z^T + tr A^{-1} (Z H^2 Z^T) A^{-1} (Z F Z^T),
    variance = s^2 tr A^{-1} (Z H^2 Z^T) A^{-1}.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from theoryck.quantities.base import Quantity, QuantityError, Sizes, need_sizes
from theoryck.theory.ridge.limits.kernel_ridge import kernel_ridge_equivalent
from theoryck.theory.ridge.limits.power_law import PowerLaw, exact_exponent
from theoryck.theory.ridge.limits.random_features import random_features_equivalent
from theoryck.theory.ridge.model import FiniteSpectrum, nonnegative

Array = NDArray[np.float64]

PER_SECOND = 7e7
"""Random numbers a second: the unit in which costs are counted."""

FLOPS = 1.2e10
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
    version: int = 1

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` independent values (draws,), one Gaussian design each."""
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
        """Time of a draw in units of 1/7e7 seconds."""
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
    version: int = 1

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` independent values (draws,), one design and one set of features each."""
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
        """Time of a draw in units of 1/7e7 seconds."""
        n, p, m = self.n, self.p, len(self.eigenvalues)
        return (n + p) * m + PER_SECOND * (4.0 * n * p * m + 6.0 * p * p * m + 2.0 * n * p * p) / FLOPS + 3000.0


Sampler = KernelDesign | FeaturesDesign


class DesignRisk(Quantity):
    """What :func:`drawn_ridge_risk` and :func:`drawn_features_risk` return."""

    can_draw = True

    def __init__(self, spectrum: PowerLaw, ell: Any, noise: float, relative: bool, features: bool) -> None:
        self._spectrum, self._ell, self._noise, self._relative = spectrum, ell, noise, relative
        self._sizes = ("n", "p", "modes") if features else ("n", "modes")
        self._features = features

    @property
    def name(self) -> str:
        """What people read."""
        return f"drawn_{'features' if self._features else 'ridge'}_risk{'[relative]' if self._relative else ''}"

    @property
    def parameters(self) -> dict[str, Any]:
        """The instance as JSON-able data."""
        return {
            "quantity": self.name,
            "capacity": str(self._spectrum.capacity),
            "source": str(self._spectrum.source),
            "ridge": str(self._ell),
            "noise": self._noise,
        }

    @property
    def size_names(self) -> tuple[str, ...]:
        """The sizes it needs."""
        return self._sizes

    def sampler(self, sizes: Sizes) -> Sampler:
        """Return the sampler at ``sizes``."""
        need_sizes(self.name, self._sizes, sizes)
        n = int(sizes["n"])
        k = np.arange(1, int(sizes["modes"]) + 1, dtype=float)
        alpha, r = float(self._spectrum.capacity), float(self._spectrum.source)
        eta, signal, ridge = k**-alpha, k ** (-2 * alpha * r - 1), float(n) ** -float(self._ell)
        spectrum = FiniteSpectrum(eta, signal)
        if self._features:
            p = int(sizes["p"])
            unit = random_features_equivalent(spectrum, n, p, n * ridge, self._noise).excess_risk if self._relative else 1.0
            return FeaturesDesign(eta, signal, n, p, ridge, self._noise, unit)
        unit = kernel_ridge_equivalent(spectrum, n, ridge, self._noise).excess_risk if self._relative else 1.0
        return KernelDesign(eta, signal, n, ridge, self._noise, unit)

    def cost(self, sizes: Sizes) -> float:
        """Return the time of a draw in units of 1/7e7 seconds."""
        return self.sampler(sizes).cost

    def relative_noise(self, sizes: Sizes) -> float:
        """Return roughly the standard deviation of a draw over its mean: seen between 2 and 5 over n (twice that with features)."""
        return (8.0 if self._features else 4.0) / int(sizes["n"])


def drawn_ridge_risk(capacity: Any, source: Any, ridge: Any, noise: float = 0.0, *, relative: bool = False) -> DesignRisk:
    """Return the excess risk of kernel ridge regression on a Gaussian design with eta_k = k^(-alpha), f_k = k^(-alpha r - 1/2) for
    k = 1..modes and lambda = n^(-l), drawn; sizes ``n`` and ``modes``.

    With ``relative`` it is divided by its deterministic equivalent for the same spectrum, so that it tends to 1.  Raises
    ValueError.

    >>> ratio = drawn_ridge_risk("3/2", "1/2", 1, relative=True)
    >>> values = ratio.draw(np.random.default_rng(0), 50, {"n": 40, "modes": 200})
    >>> bool(abs(values.mean() - 1) < 0.1)
    True
    """
    return DesignRisk(PowerLaw(capacity, source), *_options(ridge, noise), relative, features=False)


def drawn_features_risk(capacity: Any, source: Any, ridge: Any, noise: float = 0.0, *, relative: bool = False) -> DesignRisk:
    """Return the same as :func:`drawn_ridge_risk` with p Gaussian random features of the kernel; sizes ``n``, ``p``, ``modes``.

    >>> ratio = drawn_features_risk("3/2", "1/2", 1, relative=True)
    >>> values = ratio.draw(np.random.default_rng(0), 50, {"n": 40, "p": 30, "modes": 200})
    >>> bool(abs(values.mean() - 1) < 0.15)
    True
    """
    return DesignRisk(PowerLaw(capacity, source), *_options(ridge, noise), relative, features=True)


def _options(ridge: Any, noise: Any) -> tuple[Any, float]:
    return exact_exponent(ridge, "ridge"), nonnegative(noise, "noise")
