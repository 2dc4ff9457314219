"""The resolvent trace of a random feature Gram matrix against its deterministic equivalent, at the same inputs.

Given the layer below with Gram matrix G, K = (1/d) sum_i f_i f_i^T with independent rows of covariance Phi = h(G), so that exactly
    E K = Phi,    E K_ij^2 = h_2(G)_ij/d + (1 - 1/d) Phi_ij^2,
h and h_2 the kernels of phi and of phi^2.  The variance of a linear statistic sum_i f(lambda_i) tends to sum_k k a_k^2/2 with the
Chebyshev coefficients a_k of f on the support (for Wishart matrices); taking the first two terms of the series of 1/(x + gamma)
off, less their mean given G, leaves the share r^4 (3 - 2 r^2) of the variance, r as below.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theoryck.numerics.gaussian.kernels import LayerKernel
from theoryck.quantities.base import QuantityError
from theoryck.theory.spectra.draws import Kernel, trace_of_inverse
from theoryck.theory.spectra.limits.conjugate import conjugate_kernel
from theoryck.theory.spectra.limits.conjugate_law import edges
from theoryck.theory.spectra.limits.equivalents import resolvent_equivalent, surrogate_covariance

Array = NDArray[np.float64]


@dataclass(frozen=True)
class GapSampler:
    """Draws (1/n) tr (K + gamma)^-1 - (1/n) tr Qbar(Phi), Phi the exact kernel or the surrogate of (rho, epsilon)."""

    kernel: Kernel
    shift: float
    surrogate: tuple[float, float] | None = None

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` independent values (draws,)."""
        result = np.empty(draws)
        for part in self.kernel.stacks(draws):
            result[part] = self._stack(rng, part.stop - part.start)
        return result

    def _stack(self, rng: np.random.Generator, count: int) -> Array:
        kernel, n, width = self.kernel, self.kernel.samples, self.kernel.widths[-1]
        factor = kernel.factor(rng, count)
        below = np.swapaxes(factor, -1, -2) @ factor
        features = kernel.last_layer(rng, factor)
        gram = np.swapaxes(features, -1, -2) @ features
        exact = LayerKernel(kernel.activation)(below)
        linear, quadratic = chebyshev_terms(kernel, self.shift)
        first = np.trace(gram - exact, axis1=-2, axis2=-1)
        mean = LayerKernel(_squared(kernel.activation))(below) / width + (1 - 1 / width) * exact**2
        second = np.sum(gram**2 - mean, axis=(-2, -1))
        covariance = exact if self.surrogate is None else surrogate_covariance(below, *self.surrogate)
        trace = (trace_of_inverse(gram, self.shift) - linear * first - quadratic * second) / n
        return np.asarray(trace - resolvent_equivalent(covariance, width, self.shift).trace)


@functools.lru_cache(maxsize=64)
def chebyshev_terms(kernel: Kernel, shift: float) -> tuple[float, float]:
    """Return b_1 and b_2 of the quadratic b_0 + b_1 x + b_2 x^2 that has the first terms of the Chebyshev series of 1/(x + gamma).

    At x = a + h + h cos t the series is (1/s)(1 + 2 sum_k (-r)^k cos k t), M = a + h + gamma, s = sqrt(M^2 - h^2), r = (M - s)/h.
    """
    ratios = tuple(kernel.samples / width for width in kernel.widths)
    try:
        support = edges(conjugate_kernel(kernel.activation, ratios).chain)
    except ValueError as error:
        raise QuantityError(f"the deterministic equivalent needs the limit of the spectrum: {error}") from None
    low, high = support[0][0], support[-1][1]
    centre, half = (low + high) / 2, (high - low) / 2
    far = centre + shift
    root = ((far - half) * (far + half)) ** 0.5
    r = (far - root) / half
    # a_1 T_1(u) + a_2 (2 u^2 - 1) at u = (x - centre)/half.
    one, two = -2 * r / root, 2 * r**2 / root
    return one / half - 4 * two * centre / half**2, 2 * two / half**2


@functools.lru_cache(maxsize=64)
def _squared(activation: Any) -> Any:
    from theoryck.numerics.functions.activation import Activation

    return Activation(activation.expression**2)
