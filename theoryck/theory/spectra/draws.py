"""Draws of conjugate kernels, with no more random numbers than their law needs.

Given the Gram matrix G of the layer below, the rows of the pre-activations are independent N(0, G): with G = A^T A they are those
of Z A, Z of independent N(0, 1), whatever A.  So A is the layer itself where it has fewer rows than columns, else a triangular
factor: a layer of d_l units costs d_l min(n, d_(l-1)) normals.  The inputs' G is a Wishart matrix, whose triangular factor has
independent entries, chi variables on the diagonal and N(0, 1) above (Bartlett); alone it has the spectrum of B B^T, B a bidiagonal
matrix of 2 min(n, d_0) chi variables (Dumitriu, Edelman 2002), so that at depth 0 a draw costs O(n).
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.gaussian.kernels import LayerKernel
from theoryck.theory.spectra.model import resolvent_equivalent, surrogate_covariance

Array = NDArray[np.float64]

WORKING = 2**18
"""Entries of a stack of matrices that is worked on at once: 2 MiB."""

BISECTIONS = 48
"""Halvings of an interval that holds the spectrum: 2^-48 of it, less than rounding leaves of an eigenvalue."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """K_L of a network with ``widths`` (d_0, ..., d_L) and n = ``samples`` inputs: what travels to the workers."""

    activation: Any
    widths: tuple[int, ...]
    samples: int

    @property
    def order(self) -> int:
        """The order min(n, d_L) of the smaller Gram matrix; the larger one has the same eigenvalues and zeros."""
        return min(self.samples, self.widths[-1])

    @property
    def nanoseconds(self) -> float:
        """Rough time of one draw of the smaller Gram matrix and its inverse, on a core of 2020."""
        n, order = self.samples, self.order
        if len(self.widths) == 1:
            return 60.0 * order + 20
        normals, products = float(n * min(n, self.widths[0])), 0.0
        for below, width in zip(self.widths[:-1], self.widths[1:], strict=True):
            inner = min(n, below)
            normals += width * inner
            products += width * inner * n + (n**3 if below > n else 0)
        units = n * sum(self.widths[1:])
        products += order * order * max(n, self.widths[-1]) + 3 * order**3
        return 2000 + 8 * normals + 12 * units + 0.4 * products

    def stacks(self, draws: int) -> Iterator[slice]:
        """Return pieces of ``draws`` that depend on the sizes only."""
        entries = self.order if len(self.widths) == 1 else self.samples * max(*self.widths, self.samples)
        step = max(WORKING // entries, 1)
        for start in range(0, draws, step):
            yield slice(start, min(start + step, draws))

    def factor(self, rng: np.random.Generator, count: int) -> Array:
        """Return x_(L-1) or a triangular factor of its Gram matrix, (count, rows, n), rows <= n; at least one layer above it."""
        factor = input_factor(rng, count, self.widths[0], self.samples)
        for width in self.widths[1:-1]:
            features = self._features(rng, factor, width)
            factor = features if width <= self.samples else _triangular(_gram(features))
        return factor

    def _features(self, rng: np.random.Generator, factor: Array, width: int) -> Array:
        features = rng.standard_normal((len(factor), width, factor.shape[1])) @ factor
        self.activation.into(features)
        features /= width**0.5
        return features

    def last_layer(self, rng: np.random.Generator, factor: Array) -> Array:
        """Return x_L (count, d_L, n) given what :meth:`factor` gave."""
        return self._features(rng, factor, self.widths[-1])

    def grams(self, rng: np.random.Generator, count: int) -> Array:
        """Return the smaller Gram matrix of x_L, (count, order, order); depth >= 1."""
        features = self.last_layer(rng, self.factor(rng, count))
        return _gram(features) if self.samples <= self.widths[-1] else features @ np.swapaxes(features, -1, -2)

    def tridiagonal(self, rng: np.random.Generator, draws: int) -> tuple[Array, Array]:
        """Return the diagonal (order, draws) and the squares beside it (order - 1, draws) of the tridiagonal form at depth 0."""
        order, larger = self.order, max(self.samples, self.widths[0])
        # B has chi_larger, chi_(larger-1), ... on the diagonal and chi_(order-1), ..., chi_1 below it; T = B B^T.
        diagonal = 2 * rng.standard_gamma(np.broadcast_to((larger - np.arange(order))[:, None] / 2, (order, draws)))
        below = 2 * rng.standard_gamma(np.broadcast_to((order - 1 - np.arange(order - 1))[:, None] / 2, (order - 1, draws)))
        squares = diagonal[:-1] * below / self.widths[0] ** 2
        diagonal[1:] += below
        diagonal /= self.widths[0]
        return diagonal, squares


def input_factor(rng: np.random.Generator, count: int, input_dim: int, samples: int) -> Array:
    """Return A (count, min(d_0, n), n) with A^T A of the law of X^T X, X of d_0 x n independent N(0, 1/d_0).

    >>> a = input_factor(np.random.default_rng(0), 2, 5, 3)
    >>> a.shape, bool((a[:, 2, :2] == 0).all())
    ((2, 3, 3), True)
    """
    if samples > input_dim:
        return rng.standard_normal((count, input_dim, samples)) / input_dim**0.5
    factor = np.zeros((count, samples, samples))
    above = np.triu_indices(samples, 1)
    factor[:, above[0], above[1]] = rng.standard_normal((count, len(above[0])))
    index = np.arange(samples)
    factor[:, index, index] = np.sqrt(2 * rng.standard_gamma((input_dim - index) / 2, size=(count, samples)))
    factor /= input_dim**0.5
    return factor


def _gram(features: Array) -> Array:
    return np.asarray(np.swapaxes(features, -1, -2) @ features)


def _triangular(gram: Array) -> Array:
    """A with A^T A = gram, for more units than samples: the matrix is then regular, unless phi is constant somewhere."""
    return np.asarray(np.swapaxes(np.linalg.cholesky(gram), -1, -2))


def trace_of_inverse(gram: Array, shift: float) -> Array:
    """Return tr (G + shift)^-1 for a stack of Gram matrices (..., p, p)."""
    index = np.arange(gram.shape[-1])
    shifted = gram.copy()
    shifted[..., index, index] += shift
    return np.asarray(np.trace(np.linalg.inv(shifted), axis1=-2, axis2=-1))


def tridiagonal_trace(diagonal: Array, squares: Array, shift: float) -> Array:
    """Return tr (T + shift)^-1 (draws,), the derivative of log det = sum log D_i, D_i = T_ii + shift - T_(i-1,i)^2/D_(i-1).

    >>> t = tridiagonal_trace(np.array([[1.0], [3.0]]), np.array([[1.0]]), 1.0)  # [[2, 1], [1, 4]]: trace 6, determinant 7
    >>> bool(np.isclose(t[0], 6 / 7))
    True
    """
    pivot = diagonal[0] + shift
    slope = np.ones_like(pivot)
    total = slope / pivot
    for row, square in zip(diagonal[1:], squares, strict=True):
        ratio = square / pivot
        slope = 1 + ratio * slope / pivot
        pivot = row + shift - ratio
        total += slope / pivot
    return np.asarray(total)


def tridiagonal_eigenvalue(diagonal: Array, squares: Array, index: NDArray[np.int64]) -> Array:
    """Return the eigenvalue number ``index`` (draws,), from 0, of every tridiagonal matrix >= 0: bisection by Sturm's count.

    >>> float(tridiagonal_eigenvalue(np.array([[2.0], [2.0]]), np.array([[1.0]]), np.array([1]))[0].round(12))
    3.0
    """
    # Gershgorin: sqrt(square) is a bound of the entry beside the diagonal on both of its rows.
    beside = np.sqrt(squares)
    reach = diagonal.copy()
    reach[:-1] += beside
    reach[1:] += beside
    low, high = np.zeros(diagonal.shape[1]), np.max(reach, axis=0)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        beyond = _count_below(diagonal, squares, middle) > index
        low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
    return np.asarray((low + high) / 2)


def _count_below(diagonal: Array, squares: Array, x: Array) -> NDArray[np.int64]:
    pivot = diagonal[0] - x
    count = (pivot < 0).astype(np.int64)
    ratio = np.empty_like(pivot)
    with np.errstate(divide="ignore"):  # a pivot 0 counts as +0: the next one is -oo, and the count is that of x + 0
        for row, square in zip(diagonal[1:], squares, strict=True):
            np.divide(square, pivot, out=ratio)
            np.subtract(row, x, out=pivot)
            pivot -= ratio
            count += pivot < 0
    return count


@dataclass(frozen=True)
class TraceSampler:
    """Draws (1/n) tr (K_L + shift)^-1 - against; with ``pairs`` half the squared difference of two such, which has mean Var."""

    kernel: Kernel
    shift: float
    against: float = 0.0
    pairs: bool = False

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        if not self.pairs:
            return self._traces(rng, draws) - self.against
        traces = self._traces(rng, 2 * draws)
        return np.asarray((traces[:draws] - traces[draws:]) ** 2 / 2)

    def _traces(self, rng: np.random.Generator, draws: int) -> Array:
        kernel, result = self.kernel, np.empty(draws)
        for part in kernel.stacks(draws):
            count = part.stop - part.start
            if len(kernel.widths) == 1:
                result[part] = tridiagonal_trace(*kernel.tridiagonal(rng, count), self.shift)
            else:
                result[part] = trace_of_inverse(kernel.grams(rng, count), self.shift)
        return (result + (kernel.samples - kernel.order) / self.shift) / kernel.samples


@dataclass(frozen=True)
class EigenvalueSampler:
    """Draws one eigenvalue of the smaller Gram matrix, each with the same probability: independent from draw to draw."""

    kernel: Kernel

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        kernel, result = self.kernel, np.empty(draws)
        for part in kernel.stacks(draws):
            count = part.stop - part.start
            index = rng.integers(kernel.order, size=count)
            if len(kernel.widths) == 1:
                result[part] = tridiagonal_eigenvalue(*kernel.tridiagonal(rng, count), index)
            else:
                result[part] = np.linalg.eigvalsh(kernel.grams(rng, count))[np.arange(count), index]
        return result


@dataclass(frozen=True)
class GapSampler:
    """Draws (1/n) tr (K + gamma)^-1 - (1/n) tr Qbar(Phi), Phi the exact kernel or the surrogate of (rho, epsilon).

    Given the layer below with Gram matrix G, K = (1/d) sum_i f_i f_i^T with independent rows of covariance Phi = h(G), so that
        E K = Phi,    E K_ij^2 = h_2(G)_ij/d + (1 - 1/d) Phi_ij^2,
    h and h_2 the kernels of phi and of phi^2.  The variance of a linear statistic sum_i f(lambda_i) tends to sum_k k a_k^2/2 with
    the Chebyshev coefficients a_k of f on the support (for Wishart matrices); taking the first two ``terms`` of the series of
    1/(x + gamma) off, less their mean given G, leaves the share r^4 (3 - 2 r^2) of the variance.
    """

    kernel: Kernel
    shift: float
    terms: tuple[float, float]
    surrogate: tuple[float, float] | None = None

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
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
        linear, quadratic = self.terms
        first = np.trace(gram - exact, axis1=-2, axis2=-1)
        mean = LayerKernel(_squared(kernel.activation))(below) / width + (1 - 1 / width) * exact**2
        second = np.sum(gram**2 - mean, axis=(-2, -1))
        covariance = exact if self.surrogate is None else surrogate_covariance(below, *self.surrogate)
        trace = (trace_of_inverse(gram, self.shift) - linear * first - quadratic * second) / n
        return np.asarray(trace - resolvent_equivalent(covariance, width, self.shift).trace)


@functools.lru_cache(maxsize=64)
def _squared(activation: Any) -> Any:
    return Activation(activation.expression**2)
