"""Draws of rows: distances of second moments, differences of test errors, what readouts explain."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from theoryck.montecarlo import block_generator
from theoryck.numerics.gaussian.kernels import LayerKernel
from theoryck.quantities.base import QuantityError
from theoryck.quantities.pilots import Once
from theoryck.theory.equivalence.model import GaussianFeatures

if TYPE_CHECKING:
    from theoryck.numerics.functions.activation import Activation

Array = NDArray[np.float64]

DENSE = 96
"""Largest number of features where all eigenvalues of a stack cost less than a Lanczos run for each."""

WORKING = 2**17
"""Entries of a stack of p x p matrices."""

PILOT = 512
"""Draws, with a generator of their own, to which the coefficients of the control variates are fitted."""

ROUNDING = 2e-15
"""Error of a kernel entry relative to the diagonal."""

LARGEST_LOSS = 1e-3
"""Share of a draw that rounding may change."""


def draw_rows(rows: str, rng: np.random.Generator, draws: int, shape: tuple[int, int]) -> Array:
    """Return ``draws`` independent matrices W (draws, p, d) with the rows' law, given its name.

    >>> w = draw_rows("sphere", np.random.default_rng(0), 2, (3, 5))
    >>> w.shape, bool(np.allclose((w**2).sum(axis=2), 1))
    ((2, 3, 5), True)
    """
    w = rng.standard_normal((draws, *shape))
    if rows == "sphere":
        # A Gaussian vector divided by its length is uniform on the sphere.
        w /= np.linalg.norm(w, axis=2, keepdims=True)
    else:
        w /= math.sqrt(shape[1])
    return w


@dataclass(frozen=True)
class CovarianceGapSampler:
    """Draws W and returns the operator norm."""

    kernel: LayerKernel
    gaussian: GaussianFeatures
    rows: str
    shape: tuple[int, int]

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        step = max(WORKING // self.shape[0] ** 2, 1)
        return np.concatenate([self._several(rng, min(step, draws - start)) for start in range(0, draws, step)])

    def _several(self, rng: np.random.Generator, draws: int) -> Array:
        w = draw_rows(self.rows, rng, draws, self.shape)
        gram = w @ np.swapaxes(w, 1, 2)
        return operator_norms(self.kernel(gram) - self.gaussian.covariance(gram))


def operator_norms(matrices: Array) -> Array:
    """Return the largest absolute eigenvalue (draws,) of symmetric matrices (draws, p, p).

    >>> operator_norms(np.array([[[0.0, 2.0], [2.0, 0.0]], [[1.0, 0.0], [0.0, -3.0]]])).tolist()
    [2.0, 3.0]
    """
    size = matrices.shape[-1]
    if size <= DENSE:
        values = np.linalg.eigvalsh(matrices)
        return np.maximum(values[:, -1], -values[:, 0])
    # Lanczos from a fixed vector, so that a draw is a function of the generator; W is random, and its law knows no fixed vector.
    from scipy.sparse.linalg import eigsh

    start = np.cos(np.arange(size))
    found = [eigsh(m, k=1, which="LM", v0=start, tol=1e-6, return_eigenvectors=False)[0] for m in matrices]
    return np.abs(np.array(found))


@dataclass(frozen=True)
class RidgeProblem:
    """Both regression problems: shape (n, p, d), the target's degree and its coefficients in both features, third = c_3 of phi."""

    activation: Activation
    gaussian: GaussianFeatures
    equivalent: GaussianFeatures
    shape: tuple[int, int, int]
    penalty: float
    degree: int
    slopes: tuple[float, float]
    third: float

    def values(self, rng: np.random.Generator, draws: int) -> tuple[Array, Array]:
        """Return the difference of the test errors (draws,) and the control variates (draws, 6), of mean zero."""
        n, p, d = self.shape
        w = draw_rows("sphere", rng, draws, (p, d))
        x = rng.standard_normal((draws, n, d))
        projections = x @ np.swapaxes(w, 1, 2)
        phi = self.activation(projections)
        gram = w @ np.swapaxes(w, 1, 2)
        target, cross = self._target(x), self._target(w, coefficients=True)
        random = self._error(phi, LayerKernel(self.activation)(gram), target, self.slopes[0] * cross)
        noise = rng.standard_normal(projections.shape) * math.sqrt(self.gaussian.noise)
        centre, spread = self.gaussian.mean + self.gaussian.slope * projections, self.gaussian.covariance(gram)
        # xi and -xi have the same law: the mean of the two errors keeps only what is even in the noise.
        both = [self._error(centre + sign * noise, spread, target, self.slopes[1] * cross) for sign in (1, -1)]
        return random - (both[0] + both[1]) / 2, self._controls(x, w, projections, phi)

    def _controls(self, x: Array, w: Array, u: Array, phi: Array) -> Array:
        """Return functions of the residuals r = phi - mu_0 - mu_1 u, u = w . x ~ N(0, 1), less their exact means (draws, 6).

        E r = E u r = 0, E r^2 = mu_*^2 and E u^3 r = sqrt(6) c_3 with (draws, n, p) entries; rows of X are independent, and two
        rows w have E m^2 = 1/d.  With the matrices U and R of the entries:
            <X^T U, X^T R>    terms of one sample: |x|^2 = u^2 + the rest, which is independent of u: n p E u^3 r; others E u r = 0
            <U W, R W>        sum of m_jl E u_j r_l = 0, since E r_l u_j = m_jl E r u
            <U R^T, U U^T>    terms of one sample: E u_j r_j u_l^2 = m_jl^2 E u^3 r, hence n (p + p (p - 1)/d) E u^3 r; others 0
        """
        n, p, d = self.shape
        r = phi - self.equivalent.mean - self.equivalent.slope * u
        turned_x, turned_u = np.swapaxes(x, 1, 2), np.swapaxes(u, 1, 2)
        third = math.sqrt(6) * self.third
        pairs: list[tuple[Array, Array, float]] = [
            (u, u, n * p),
            (u, r, 0.0),
            (r, r, n * p * self.equivalent.noise),
            (turned_x @ u, turned_x @ r, n * p * third),
            (u @ w, r @ w, 0.0),
            (u @ np.swapaxes(r, 1, 2), u @ turned_u, n * (p + p * (p - 1) / d) * third),
        ]
        return np.stack([np.einsum("bij,bij->b", one, two) - mean for one, two, mean in pairs], axis=1)

    def _target(self, v: Array, coefficients: bool = False) -> Array:
        """Return t(v)/sqrt(q) (draws, rows, q); with ``coefficients`` those of h_k(w . x) in the basis t, for the rows w of v."""
        d = v.shape[-1]
        if self.degree == 1:
            return v / math.sqrt(d)
        i, j = np.triu_indices(d)
        products, same = v[..., i] * v[..., j], i == j
        if coefficients:
            # h_2(w . x) = sum_i w_i^2 h_2(x_i) + sqrt(2) sum_{i<j} w_i w_j x_i x_j for |w| = 1.
            products[..., ~same] *= math.sqrt(2)
        else:
            products[..., same] = (products[..., same] - 1) / math.sqrt(2)
        return products / math.sqrt(len(i))

    def _error(self, phi: Array, second: Array, target: Array, cross: Array) -> Array:
        p = self.shape[1]
        root = math.sqrt(p)
        transposed = np.swapaxes(phi, 1, 2)
        matrix = transposed @ phi / p
        index = np.arange(p)
        matrix[:, index, index] += self.penalty
        readout = np.linalg.solve(matrix, transposed @ target / root)
        explained = np.einsum("bpq,bpq->b", cross, readout) / root
        return 1 - 2 * explained + np.einsum("bpq,bpq->b", readout, second @ readout) / p


@Once
def control_coefficients(problem: RidgeProblem) -> tuple[float, ...]:
    """Least squares of the difference on the controls, from draws with a generator of their own: the mean is not touched."""
    key: Mapping[str, Any] = {"activation": problem.activation.text, "degree": problem.degree, "shape": list(problem.shape)}
    rng = block_generator(0, "ridge pilot", key, {}, 0)
    step = max(WORKING // max(problem.shape[:2]) ** 2, 1)
    parts = [problem.values(rng, min(step, PILOT - start)) for start in range(0, PILOT, step)]
    values, controls = (np.concatenate(part) for part in zip(*parts))
    found = np.linalg.lstsq(controls - controls.mean(axis=0), values - values.mean(), rcond=None)[0]
    return tuple(float(entry) for entry in found)


@dataclass(frozen=True)
class RidgeGapSampler:
    """Draws both problems on the same W and X and returns the difference, less control variates with fixed coefficients."""

    problem: RidgeProblem
    coefficients: tuple[float, ...]

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        step = max(WORKING // max(self.problem.shape[:2]) ** 2, 1)
        pieces = []
        for start in range(0, draws, step):
            values, controls = self.problem.values(rng, min(step, draws - start))
            pieces.append(values - controls @ np.array(self.coefficients))
        return np.concatenate(pieces)


@dataclass(frozen=True)
class SignSampler:
    """Draws the rows and returns 2 f a . C - f^2 a . Sigma a for a = sign(C), f the size of a readout with its normalisation."""

    kernel: LayerKernel
    shape: tuple[int, int]
    slope: float
    factor: float

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        return _in_stacks(self._several, rng, draws, self.shape[0])

    def _several(self, rng: np.random.Generator, draws: int) -> Array:
        w = draw_rows("sphere", rng, draws, self.shape)
        # Rows are isotropic: theta may be the first axis.
        overlap = w[:, :, 0]
        sign = np.sign(overlap)
        covariance = self.kernel(w @ np.swapaxes(w, 1, 2))
        gain = 2 * self.factor * self.slope * (sign * overlap).sum(axis=1)
        return gain - self.factor**2 * np.einsum("bi,bij,bj->b", sign, covariance, sign)


@dataclass(frozen=True)
class BestSampler:
    """Draws the rows and returns C . Sigma^(-1) C."""

    kernel: LayerKernel
    shape: tuple[int, int]
    degree: int
    coefficient: float
    learned: float | None

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        return _in_stacks(self._several, rng, draws, self.shape[0])

    def _several(self, rng: np.random.Generator, draws: int) -> Array:
        if self.learned is None:
            w = draw_rows("sphere", rng, draws, self.shape)
            correlation = self.coefficient * w[:, :, 0] ** self.degree
        else:
            # theta_1 is the first axis, the rest of a row uniform on the sphere orthogonal to it, theta_2 the second axis.
            rest = draw_rows("sphere", rng, draws, (self.shape[0], self.shape[1] - 1)) * math.sqrt(1 - self.learned)
            w = np.concatenate([np.full((draws, self.shape[0], 1), math.sqrt(self.learned)), rest], axis=2)
            correlation = math.sqrt(2) * self.coefficient * w[:, :, 0] * w[:, :, 1]
        covariance = self.kernel(w @ np.swapaxes(w, 1, 2))
        return explained(covariance, correlation, self.kernel.activation)


def explained(covariance: Array, correlation: Array, activation: Any) -> Array:
    """Return C . Sigma^(-1) C (draws,), on the span of the features where they are linearly dependent; C is in the range of Sigma.

    Raises QuantityError where rounding, which changes the value by a . E a, a the readout and |E| at least p ROUNDING, may do so
    by more than LARGEST_LOSS.
    """
    rounding = np.max(covariance, axis=(1, 2)) * covariance.shape[1] * ROUNDING
    try:
        readout = np.linalg.solve(covariance, correlation[:, :, None])[:, :, 0]
    except np.linalg.LinAlgError:
        readout = np.full_like(correlation, math.nan)
    gain = np.einsum("bi,bi->b", correlation, readout)
    lost = np.einsum("bi,bi->b", readout, readout) * rounding
    again = np.flatnonzero(~(lost <= LARGEST_LOSS * np.abs(gain)))
    if len(again):
        values, vectors = np.linalg.eigh(covariance[again])
        # Eigenvalues at the level of rounding are those of features that depend on the others.
        kept = values > 10 * rounding[again, None]
        components = np.einsum("bij,bi->bj", vectors, correlation[again])
        readout = np.divide(components, values, out=np.zeros_like(components), where=kept)
        gain[again] = (components * readout).sum(axis=1)
        if not np.all((readout**2).sum(axis=1) * rounding[again] <= LARGEST_LOSS * np.abs(gain[again])):
            raise QuantityError(
                f"the {covariance.shape[1]} features of {activation} are nearly linearly dependent, and the best readout is lost "
                f"to rounding: take fewer features or more dimensions"
            )
    return gain


def _in_stacks(several: Any, rng: np.random.Generator, draws: int, features: int) -> Array:
    step = max(WORKING // features**2, 1) if features > 1 else 4096
    return np.concatenate([several(rng, min(step, draws - start)) for start in range(0, draws, step)])
