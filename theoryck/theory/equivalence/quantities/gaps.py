"""How far random features are from their Gaussian equivalent: second moments of the features, and test errors of ridge regression.

    phi(W x)   against   mu_0 + mu_1 W x + mu_* xi,       x ~ N(0, I_d), W of shape (p, d), xi ~ N(0, I_p) fresh for every x.
Second moments: E_x phi(W x) phi(W x)^T is a kernel of the Gram matrix W W^T, so that no x is drawn, and the distance is the
operator norm.  Ridge: a = argmin sum_i (y_i - a . phi_i/sqrt(p))^2 + lambda |a|^2 from n samples, no noise, for a target
y = theta . t(x) of one degree: t(x) = x/sqrt(d) (degree 1) or the normalised Hermite products of degree 2.  theta ~ N(0, I) is
averaged analytically,
    E (y - a . phi/sqrt(p))^2 = 1 - 2 tr(C^T B) + tr(B^T Sigma B),   B = (Phi^T Phi/p + lambda)^(-1) Phi^T T/p,
with Sigma = E phi phi^T from the kernel and C = E phi t^T = c_k times Hermite products of the rows, so that no test input is drawn.
Both problems share W and X; what is left of the noise is reduced by control variates of mean zero.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from theoryck.montecarlo import block_generator
from theoryck.numerics.gaussian.kernels import LayerKernel
from theoryck.numerics.proved.formulas import exact_number
from theoryck.quantities.base import Quantity, QuantityError, Sizes
from theoryck.theory.equivalence.model import GaussianFeatures, RandomFeatures, draw_rows
from theoryck.theory.hermite.quantities.expansions import feature_mean, feature_noise, feature_slope, hermite_coefficient

if TYPE_CHECKING:
    from theoryck.numerics.functions.activation import Activation

Array = NDArray[np.float64]

NANOSECONDS_PER_NUMBER = 1e9 / 7e7

DENSE = 96
"""Largest number of features where all eigenvalues of a stack cost less than a Lanczos run for each."""

WORKING = 2**17
"""Entries of a stack of p x p matrices."""

PILOT = 512
"""Draws, with a generator of their own, to which the coefficients of the control variates are fitted."""


def gaussian_equivalent(activation: Activation | str) -> GaussianFeatures:
    """Return the Gaussian features mu_0 + mu_1 W x + mu_* xi of an activation, with its constants to double precision.

    >>> features = gaussian_equivalent("erf")
    >>> round(features.mean, 12), round(features.slope, 12), round(features.noise, 10)
    (0.0, 0.651470015871, 0.0401458728)
    """
    values = [float(quantity(activation).exact({}, 20)) for quantity in (feature_mean, feature_slope, feature_noise)]
    return GaussianFeatures(*values)


def positive(value: Any, name: str) -> float:
    """Return ``value`` > 0 as a float64; QuantityError otherwise."""
    try:
        number = float(exact_number(value, name, low=0))
        if 0 < number < math.inf:
            return number
    except (ValueError, OverflowError):
        pass
    raise QuantityError(f"{name} must be a number > 0, got {value!r}")


class FeatureQuantity(Quantity):
    """What compares random features with Gaussian features, by Monte Carlo."""

    can_draw = True
    kind = ""

    def __init__(self, features: RandomFeatures, gaussian: GaussianFeatures | None) -> None:
        if not isinstance(features, RandomFeatures):
            raise QuantityError(f"features must be a theoryck.theory.equivalence.RandomFeatures, got {features!r}")
        if gaussian is not None and not isinstance(gaussian, GaussianFeatures):
            raise QuantityError(f"gaussian must be a theoryck.theory.equivalence.GaussianFeatures or None, got {gaussian!r}")
        self.features, self.given = features, gaussian

    @property
    def gaussian(self) -> GaussianFeatures:
        """The Gaussian features that were given, or the equivalent ones."""
        return self.given if self.given is not None else gaussian_equivalent(self.features.activation)

    @property
    def name(self) -> str:
        """What people read."""
        options = "".join(f", {name}={value}" for name, value in self._options().items())
        return f"{self.kind}({self.features}{options})"

    @property
    def parameters(self) -> dict[str, Any]:
        """The instance as JSON-able data."""
        return {"quantity": self.kind, **self.features.parameters, **self._options()}

    def _options(self) -> dict[str, Any]:
        if self.given is None:
            return {}
        return {"gaussian": [self.given.mean, self.given.slope, self.given.noise]}

    @property
    def size_names(self) -> tuple[str, ...]:
        """The sizes in which the shape is given."""
        return self.features.names


# Second moments --------------------------------------------------------------------------------------------------------------


class FeatureCovarianceGap(FeatureQuantity):
    """What :func:`feature_covariance_gap` returns."""

    kind = "feature_covariance_gap"

    def sampler(self, sizes: Sizes) -> CovarianceGapSampler:
        """Return the sampler, which draws W."""
        return CovarianceGapSampler(LayerKernel(self.features.activation), self.gaussian, self.features.rows, self._shape(sizes))

    def _shape(self, sizes: Sizes) -> tuple[int, int]:
        return self.features.shape(sizes)

    def cost(self, sizes: Sizes) -> float:
        """Return the time of one draw in units of 1/7e7 seconds."""
        p, d = self._shape(sizes)
        eigen = 0.5 * p**3 + 4e3 if p <= DENSE else 10.0 * p**2 + 4e5
        return (14 * p * d + 0.06 * p * p * d + 30 * p * p + eigen) / NANOSECONDS_PER_NUMBER

    def relative_noise(self, sizes: Sizes) -> float:
        """Return the standard deviation of a draw over its mean, about 1 to 1.5 over sqrt(p) for erf and tanh up to p = 128."""
        return 1.5 / math.sqrt(self._shape(sizes)[0])


def feature_covariance_gap(features: RandomFeatures, gaussian: GaussianFeatures | None = None) -> FeatureCovarianceGap:
    """Return E_W of the operator norm of E_x phi(W x) phi(W x)^T - (mu_0^2 1 1^T + mu_1^2 W W^T + mu_*^2 I), by Monte Carlo over W.

    The first matrix is the exact kernel of the Gram matrix W W^T: no input is drawn.  ``gaussian`` replaces the constants.  For odd
    phi and p of the order of d it is of order 1/d with rows on the sphere, and sqrt(log d / d) with Gaussian rows, whose lengths
    fluctuate.

    >>> q = feature_covariance_gap(RandomFeatures("erf"))
    >>> bool(q.draw(np.random.default_rng(0), 20, {"d": 32}).mean() < q.draw(np.random.default_rng(0), 20, {"d": 16}).mean())
    True
    """
    return FeatureCovarianceGap(features, gaussian)


@dataclass(frozen=True)
class CovarianceGapSampler:
    """Draws W and returns the operator norm."""

    kernel: LayerKernel
    gaussian: GaussianFeatures
    rows: str
    shape: tuple[int, int]

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` independent values (draws,)."""
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


# Ridge regression ------------------------------------------------------------------------------------------------------------


class RidgeGap(FeatureQuantity):
    """What :func:`ridge_gap` returns."""

    kind = "ridge_gap"

    def __init__(
        self, features: RandomFeatures, samples: Any, penalty: Any, degree: int, gaussian: GaussianFeatures | None
    ) -> None:
        super().__init__(features, gaussian)
        if features.rows != "sphere":
            raise QuantityError(f"rows must be 'sphere' for exact test errors, got {features.rows!r}")
        if isinstance(degree, bool) or degree not in (1, 2):
            raise QuantityError(f"degree must be 1 or 2, got {degree!r}")
        self.samples = RandomFeatures(features.activation, features=samples).features
        self.penalty, self.degree = positive(penalty, "penalty"), degree

    def _options(self) -> dict[str, Any]:
        return {"samples": str(self.samples), "penalty": self.penalty, "degree": self.degree} | super()._options()

    @property
    def size_names(self) -> tuple[str, ...]:
        """The sizes in which p, d and n are given."""
        own = () if isinstance(self.samples, int) else self.samples.names
        return tuple(dict.fromkeys((*super().size_names, *own)))

    def problem(self, sizes: Sizes) -> RidgeProblem:
        """Return the two problems at ``sizes``."""
        p, d = self.features.shape(sizes)
        n = self.samples if isinstance(self.samples, int) else self.samples.value(sizes)
        phi = self.features.activation
        coefficient, third = (float(hermite_coefficient(phi, k).exact({}, 20)) for k in (self.degree, 3))
        slopes = (coefficient, self.gaussian.slope if self.degree == 1 else 0.0)
        return RidgeProblem(phi, self.gaussian, gaussian_equivalent(phi), (n, p, d), self.penalty, self.degree, slopes, third)

    def sampler(self, sizes: Sizes) -> RidgeGapSampler:
        """Return the sampler, whose coefficients come from a pilot of its own."""
        problem = self.problem(sizes)
        return RidgeGapSampler(problem, _coefficients(problem))

    def cost(self, sizes: Sizes) -> float:
        """Return the time of one draw in units of 1/7e7 seconds."""
        n, p, d = self.problem(sizes).shape
        q = d if self.degree == 1 else d * (d + 1) // 2
        flops = 2 * p * p * n + p**3 + 4 * p * p * q + 2 * n * p * q + n * p * d
        return (2e4 + 0.35 * flops + 60 * n * p + 40 * p * p) / NANOSECONDS_PER_NUMBER

    def relative_noise(self, sizes: Sizes) -> float:
        """Return the standard deviation of a draw over its mean: for erf at n = p = d 2.7 at penalty 0.1, 0.8 at 2, at any size."""
        return 2.0 if self.penalty < 1 else 1.0


def ridge_gap(
    features: RandomFeatures,
    samples: Any = "d",
    penalty: Any = 0.1,
    degree: int = 1,
    gaussian: GaussianFeatures | None = None,
) -> RidgeGap:
    """Return the test error of ridge regression on random features minus that on their Gaussian equivalent, by Monte Carlo.

    a = argmin sum_i (y_i - a . phi_i/sqrt(p))^2 + penalty |a|^2 over ``samples`` (n) samples of a random target of the given
    ``degree`` (1 or 2) and unit variance; rows on the sphere.  ``gaussian`` replaces the constants of the equivalent.  The
    expectation is over W, X, xi, the target and the test input.  At n = p = d and erf it is near -0.145/d for penalty 0.1 and near
    -0.032/d for penalty 2, where the control variates take away more of the noise.

    >>> q = ridge_gap(RandomFeatures("erf"))
    >>> draws = q.draw(np.random.default_rng(0), 4000, {"d": 8})
    >>> bool(abs(8 * draws.mean() + 0.125) < 8 * 5 * draws.std() / 4000**0.5)
    True
    """
    return RidgeGap(features, samples, penalty, degree, gaussian)


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


@functools.lru_cache(maxsize=256)
def _coefficients(problem: RidgeProblem) -> tuple[float, ...]:
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
        """Return ``draws`` independent values (draws,)."""
        step = max(WORKING // max(self.problem.shape[:2]) ** 2, 1)
        pieces = []
        for start in range(0, draws, step):
            values, controls = self.problem.values(rng, min(step, draws - start))
            pieces.append(values - controls @ np.array(self.coefficients))
        return np.concatenate(pieces)
