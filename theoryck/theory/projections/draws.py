"""Draws of generators and latent vectors as they are: cumulants of projections, errors of students.

One draw is one generator a_1..a_N with weights w, and several latent vectors c for it; its value is an estimate, unbiased given the
generator, of a cumulant of lambda = w . x/sqrt(N), x standardised by constants, and of a latent field nu.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from theoryck.montecarlo import block_generator
from theoryck.numerics.functions.activation import Activation
from theoryck.quantities.pilots import Once
from theoryck.theory.projections.model import ERF, coordinate, covariance_kernel, erf_kernel, erf_prediction_error

Array = NDArray[np.float64]

WORKING = 2**19
"""Numbers in the arrays of a chunk of draws: they stay in the cache."""

LATENTS = 128
PILOT = 512
"""Generators, of a random stream of their own, to which the coefficients of the control variates are fitted."""


def third_cumulant(values: Array, latent: Array) -> Array:
    """Fisher's k_3 of every row."""
    n = values.shape[1]
    centred = values - values.mean(axis=1, keepdims=True)
    result: Array = (centred**3).sum(axis=1) * n / ((n - 1) * (n - 2))
    return result


def fourth_cumulant(values: Array, latent: Array) -> Array:
    """Fisher's k_4 of every row."""
    n = values.shape[1]
    squares = (values - values.mean(axis=1, keepdims=True)) ** 2
    m2, m4 = squares.mean(axis=1), (squares * squares).mean(axis=1)
    result: Array = n * n * ((n + 1) * m4 - 3 * (n - 1) * m2**2) / ((n - 1) * (n - 2) * (n - 3))
    return result


def squared_mean(values: Array) -> Array:
    """The square of the mean of every row's law, unbiased: the mean of products of different entries."""
    n = values.shape[1]
    result: Array = (values.sum(axis=1) ** 2 - (values * values).sum(axis=1)) / (n * (n - 1))
    return result


def squared_third_cumulant(values: Array, latent: Array) -> Array:
    """kappa_3^2 of laws of mean 0, as the squared mean of lambda^3 - 3 lambda: the second term only takes noise away."""
    return squared_mean(values * (values * values - 3))


def latent_kurtosis(values: Array, latent: Array) -> Array:
    """kappa(lambda, lambda, nu, nu) = E lambda^2 (nu^2 - 1) - 2 (E lambda nu)^2 of laws of mean 0 with E nu^2 = 1."""
    result: Array = (values**2 * (latent**2 - 1)).mean(axis=1) - 2 * squared_mean(values * latent)
    return result


def latent_skewness(values: Array, latent: Array) -> Array:
    """kappa(lambda, lambda, nu) = E (lambda^2 - 1) nu of laws of mean 0."""
    result: Array = ((values**2 - 1) * latent).mean(axis=1)
    return result


def squared_latent_skewness(values: Array, latent: Array) -> Array:
    """kappa(lambda, lambda, nu)^2 of laws of mean 0."""
    return squared_mean((values**2 - 1) * latent)


STATISTICS: Mapping[str, tuple[Callable[[Array, Array], Array], int]] = {
    "third_cumulant": (third_cumulant, 3),
    "fourth_cumulant": (fourth_cumulant, 4),
    "squared_third_cumulant": (squared_third_cumulant, 6),
    "latent_kurtosis": (latent_kurtosis, 2),
    "latent_skewness": (latent_skewness, 2),
    "squared_latent_skewness": (squared_latent_skewness, 4),
}
"""Every statistic and its degree in lambda."""


def unit_rows(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Return uniform unit vectors along the last axis."""
    rows = rng.standard_normal(shape)
    rows /= np.sqrt(np.einsum("...d,...d->...", rows, rows))[..., None]
    return rows


@dataclass(frozen=True)
class ProjectionDraws:
    """Draws an unbiased estimate of the named statistic given the generator, over ``scale``.

    ``signs`` are random or all +1; ``teacher`` is "fixed" (nu = w~ . c/sqrt(D): its law with the a_i is that of c_1, they
    being uniform) or "mean" (nu = sum_i w_i a_i . c/sqrt(N)).  A localised student sees one coordinate: n = 1.

    The same statistic of the linear student w . A c/sqrt(N), whose fields are Gaussian given the generator and have no such
    cumulant, is a control variate of mean zero; its coefficient is the power of the ``correlation`` of sigma(Z) and Z that Hermite
    polynomials have.
    """

    statistic: str
    activation: Activation
    n: int
    dimension: int
    latents: int
    signs: bool
    teacher: str
    mean: float
    deviation: float
    correlation: float
    scale: float

    @property
    def cost(self) -> float:
        """Time of a draw in units of 1/7e7 seconds: normals, sigma and the statistic, products of matrices."""
        rows = self.n * self.dimension + self.latents * self.dimension
        return 0.8 * rows + self.latents * (0.9 * self.n + 3.0) + 0.012 * self.n * self.dimension * self.latents

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        held = self.n * self.dimension + self.latents * (self.dimension + self.n)
        step = max(WORKING // held, 1)
        return np.concatenate([self._chunk(rng, min(step, draws - start)) for start in range(0, draws, step)])

    def _chunk(self, rng: np.random.Generator, draws: int) -> Array:
        vectors = unit_rows(rng, (draws, self.n, self.dimension))
        latent = rng.standard_normal((draws, self.dimension, self.latents))
        fields = vectors @ latent
        weights = rng.integers(0, 2, (draws, 1, self.n)) * 2.0 - 1.0 if self.signs else np.ones((draws, 1, self.n))
        weights /= math.sqrt(self.n)
        nu = (weights @ fields)[:, 0] if self.teacher == "mean" else latent[:, 0]
        linear = (weights @ fields)[:, 0]
        self.activation.into(fields)
        fields -= self.mean
        values = (weights @ fields)[:, 0]
        values /= self.deviation
        statistic, degree = STATISTICS[self.statistic]
        result: Array = statistic(values, nu)
        if self.correlation:
            result -= self.correlation**degree * statistic(linear, nu)
        return result / self.scale


@dataclass(frozen=True)
class ErrorDraws:
    """Draws, for one generator each, the error over latent vectors; with ``gap`` less the formula at that generator's Q, R and T.

    Control variates of mean zero at any generator: products of two fields less their second moments, which are known, and the error
    of the same student on the Gaussian inputs sqrt(Var sigma) a_i . c less the formula, which is exact for it.  Their
    ``coefficients`` depend on nothing drawn here, and without them there are none.
    """

    activation: Activation
    student: str
    units: int
    n: int
    dimension: int
    gap: bool
    coefficients: tuple[float, ...] = ()

    @property
    def cost(self) -> float:
        n = self.units if self.student == "localised" else self.n
        rows = (n + LATENTS) * self.dimension
        products = 0.012 * n * self.dimension * (LATENTS + n)
        return 0.8 * rows + LATENTS * (0.9 * n + 5.0 * self.units**2) + products + 0.5 * n * n

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        held = self.n * self.dimension + LATENTS * (self.dimension + self.n) + self.n**2
        step = max(WORKING // held, 1)
        pieces = []
        for start in range(0, draws, step):
            values, controls = self.values(rng, min(step, draws - start))
            pieces.append(values - controls @ np.array(self.coefficients) if self.coefficients else values)
        return np.concatenate(pieces)

    def values(self, rng: np.random.Generator, draws: int) -> tuple[Array, Array]:
        """Return the values without control variates, and the control variates (draws, pairs of fields)."""
        n, k = self.units if self.student == "localised" else self.n, self.units
        vectors = unit_rows(rng, (draws, n, self.dimension))
        latent = rng.standard_normal((draws, self.dimension, LATENTS))
        weights = self._weights(rng, vectors)
        one = coordinate(self.activation, 2)
        # By the rotation invariance of the a_i: teachers read the first coordinates of c.
        known = np.zeros((draws, 2 * k, 2 * k))
        grams = covariance_kernel(one, vectors @ np.swapaxes(vectors, 1, 2))
        grams[:, np.arange(n), np.arange(n)] = one.variance
        known[:, :k, :k] = weights @ grams @ np.swapaxes(weights, 1, 2)
        known[:, :k, k:] = one.linear[1] * (weights @ vectors[:, :, :k])
        known[:, k:, :k] = np.swapaxes(known[:, :k, k:], 1, 2)
        known[:, k:, k:] = np.eye(k)
        inputs = vectors @ latent
        shadow = math.sqrt(one.variance) * (weights @ inputs)
        self.activation.into(inputs)
        inputs -= one.mean
        fields = np.concatenate([weights @ inputs, latent[:, :k]], axis=1)
        errors, linear = _squared_errors(fields, k), _squared_errors(np.concatenate([shadow, latent[:, :k]], axis=1), k)
        rows, columns = np.triu_indices(2 * k)
        moments = fields @ np.swapaxes(fields, 1, 2) / LATENTS
        reading = math.sqrt(one.variance) * (weights @ vectors)
        linear -= _formula(reading @ np.swapaxes(reading, 1, 2), reading[:, :, :k], known[:, k:, k:])
        controls = np.column_stack([(moments - known)[:, rows, columns], linear])
        if self.gap:
            errors -= _formula(known[:, :k, :k], known[:, :k, k:], known[:, k:, k:])
        return errors, controls

    def _weights(self, rng: np.random.Generator, vectors: Array) -> Array:
        """w/sqrt(N), (draws, units, n)."""
        draws, n, _ = vectors.shape
        if self.student == "localised":
            return np.broadcast_to(np.eye(self.units), (draws, self.units, n)).copy()
        if self.student == "informed":
            signs = np.sign(np.swapaxes(vectors[:, :, : self.units], 1, 2))
        else:
            signs = rng.integers(0, 2, (draws, self.units, n)) * 2.0 - 1.0
        weights: Array = signs / math.sqrt(n)
        return weights


def _squared_errors(fields: Array, units: int) -> Array:
    outputs = ERF(fields)
    errors: Array = ((outputs[:, :units].sum(axis=1) - outputs[:, units:].sum(axis=1)) ** 2).mean(axis=1)
    return errors


def _formula(q: Array, r: Array, t: Array) -> Array:
    ones = np.ones(q.shape[-1])
    return erf_prediction_error(q, r, t, ones, ones)


@Once
def with_controls(draws: ErrorDraws) -> ErrorDraws:
    """Return the draws with coefficients fitted on a pilot."""
    rng = block_generator(0, "error pilot", {"text": repr(draws)}, {}, 0)
    values, controls = draws.values(rng, PILOT)
    fitted = np.linalg.lstsq(controls, values - values.mean(), rcond=None)[0]
    return ErrorDraws(
        draws.activation, draws.student, draws.units, draws.n, draws.dimension, draws.gap, tuple(float(b) for b in fitted)
    )


@dataclass(frozen=True)
class AnnealedDraws:
    """Draws E g(lambda)^2 - I(Q(a)) less control variates: the first a number, Q(a) = w^T Omega(a) w/N of a drawn generator."""

    activation: Activation
    n: int
    dimension: int
    output: float
    spread: float

    @property
    def cost(self) -> float:
        return 0.8 * self.n * self.dimension + (0.012 * self.dimension + 6.0) * self.n**2

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        step = max(WORKING // (self.n * (self.n + self.dimension)), 1)
        return np.concatenate([self._chunk(rng, min(step, draws - start)) for start in range(0, draws, step)])

    def _chunk(self, rng: np.random.Generator, draws: int) -> Array:
        one = coordinate(self.activation, 2)
        vectors = unit_rows(rng, (draws, self.n, self.dimension))
        signs = rng.integers(0, 2, (draws, 1, self.n)) * 2.0 - 1.0
        grams = covariance_kernel(one, vectors @ np.swapaxes(vectors, 1, 2))
        diagonal = np.arange(self.n)
        grams[:, diagonal, diagonal] = 0.0
        off = ((signs @ grams) @ np.swapaxes(signs, 1, 2))[:, 0, 0] / self.n
        # I(Q) = (2/pi) asin(Q/(1+Q)): I' = (2/pi)/((1+Q) sqrt(1+2Q)), I''/I' = -1/(1+Q) - 1/(1+2Q).
        q = one.variance
        slope = 2 / math.pi / ((1 + q) * math.sqrt(1 + 2 * q))
        bend = -slope * (1 / (1 + q) + 1 / (1 + 2 * q)) / 2
        result: Array = self.output - erf_kernel(q + off, q + off, q + off)
        result += slope * off + bend * (off * off - self.spread)
        return result
