"""Kernel ridge regression on the sphere, drawn: n inputs, everything else integrated.

Inputs are uniform on the sphere of radius sqrt(d), T = (<x_i, x_j>/d), the kernel matrix is h(T) and A = h(T) + n lambda.  A target
of power F_k in degree k, in a uniformly random direction of that eigenspace, has the covariance C = sum_k F_k P_k(T) at the inputs;
as the law of the inputs is invariant under rotations, a fixed direction has the same mean error.  With eigenvalues lambda_k and
multiplicities B_k, the error in degree k integrated over target, noise and a new input is
    F_k - 2 F_k lambda_k tr A^{-1} P_k(T) + lambda_k^2 B_k tr A^{-1} P_k(T) A^{-1} (C + s^2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve

from theoryck.quantities.base import Quantity, QuantityError, Sizes, need_sizes
from theoryck.theory.ridge.draws.design import factorised
from theoryck.theory.ridge.limits.kernel_ridge import kernel_ridge_equivalent
from theoryck.theory.ridge.limits.sphere import gegenbauer, multiplicity, sphere_eigenvalues, sphere_spectrum
from theoryck.theory.ridge.model import nonnegative, nonnegative_array

Array = NDArray[np.float64]

PER_SECOND = 7e7
"""Random numbers a second: the unit in which costs are counted."""

FLOPS = 5e9


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
    version: int = 1

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` independent values (draws,), one set of inputs each."""
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
        """Time of a draw in units of 1/7e7 seconds."""
        n = self.n
        return n * self.d + PER_SECOND * (6.4 * n**3 + 20.0 * len(self.eigenvalues) * n * n) / FLOPS + 20000.0


class SphereRidgeRisk(Quantity):
    """What :func:`drawn_sphere_risk` returns."""

    can_draw = True

    def __init__(
        self,
        coefficients: Sequence[float],
        target: Sequence[float],
        ridge: float,
        noise: float,
        degree: int | None,
        relative: bool,
    ) -> None:
        self._coefficients, self._target = nonnegative_array(coefficients, "coefficients"), nonnegative_array(target, "target")
        self._ridge, self._noise = nonnegative(ridge, "ridge"), nonnegative(noise, "noise")
        known = isinstance(degree, int | np.integer) and not isinstance(degree, bool)
        if degree is not None and not (known and 0 <= degree < len(self._target)):
            raise QuantityError(f"degree must be None or one of the target's, 0 to {len(self._target) - 1}, got {degree!r}")
        if degree is not None and (relative or self._noise):
            raise QuantityError("degree cannot be combined with relative or noise: leave it out for the error of all degrees")
        self._degree, self._relative = None if degree is None else int(degree), relative

    @property
    def name(self) -> str:
        """What people read."""
        return f"drawn_sphere_risk{'[relative]' if self._relative else ''}"

    @property
    def parameters(self) -> dict[str, Any]:
        """The instance as JSON-able data."""
        return {
            "quantity": self.name,
            "coefficients": self._coefficients.tolist(),
            "target": self._target.tolist(),
            "ridge": self._ridge,
            "noise": self._noise,
            "degree": self._degree,
        }

    @property
    def size_names(self) -> tuple[str, ...]:
        """The sizes it needs."""
        return ("d", "n")

    def sampler(self, sizes: Sizes) -> SphereDesign:
        """Return the sampler at ``sizes``."""
        need_sizes(self.name, ("d", "n"), sizes)
        d, n = int(sizes["d"]), int(sizes["n"])
        unit = 1.0
        if self._relative:
            spectrum = sphere_spectrum(self._coefficients, d, self._target)
            unit = kernel_ridge_equivalent(spectrum, n, self._ridge, self._noise).excess_risk
        values = sphere_eigenvalues(self._coefficients, d)
        return SphereDesign(values, self._target, d, n, self._ridge, self._noise, self._degree, unit)

    def cost(self, sizes: Sizes) -> float:
        """Return the time of a draw in units of 1/7e7 seconds."""
        return self.sampler(sizes).cost

    def relative_noise(self, sizes: Sizes) -> float:
        """Return roughly the standard deviation of a draw over its mean: seen between 0.2 and 2 over n."""
        return 1.0 / int(sizes["n"])


def drawn_sphere_risk(
    coefficients: Sequence[float],
    target: Sequence[float],
    ridge: float,
    noise: float = 0.0,
    *,
    degree: int | None = None,
    relative: bool = False,
) -> SphereRidgeRisk:
    """Return the excess risk of ridge regression with the kernel sum_m a_m <x, x'/d>^m on the sphere, drawn; sizes ``d`` and ``n``.

    ``target[k]`` is the power of the target in degree k, ``ridge`` lambda of (1/n) sum (y - f)^2 + lambda |f|^2.  With ``degree``
    it is the error in that degree only, with ``relative`` divided by the deterministic equivalent, so that it tends to 1.  Raises
    ValueError for bad arguments.

    Source: Mei, Misiakiewicz, Montanari (2022), arXiv:2101.10588, for what it tends to.

    >>> from theoryck.theory.ridge import EXPONENTIAL
    >>> risk = drawn_sphere_risk(EXPONENTIAL, [0, 1, 1, 1], ridge=1e-6)
    >>> bool(abs(risk.draw(np.random.default_rng(0), 20, {"d": 16, "n": 40}).mean() - 2.61) < 0.05)
    True
    """
    return SphereRidgeRisk(coefficients, target, ridge, noise, degree, relative)
