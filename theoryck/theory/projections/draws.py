"""Monte Carlo route for projections: generators and latent vectors are drawn as they are, nothing about their law is used.

One draw is one generator a_1..a_N with weights w, and several latent vectors c for it; its value is an estimate, unbiased given the
generator, of a cumulant of lambda = w . x/sqrt(N), x standardised by constants, and of a latent field nu.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from theoryck.numerics.functions.activation import Activation
from theoryck.quantities.base import QuantityError

Array = NDArray[np.float64]

WORKING = 2**19
"""Numbers in the arrays of a chunk of draws: they stay in the cache."""


@contextmanager
def named(name: str) -> Iterator[None]:
    """Let what a quantity cannot give be said in its name: a ValueError of the rooms below becomes a QuantityError."""
    try:
        yield
    except QuantityError:
        raise
    except ValueError as error:
        raise QuantityError(f"{name}: {error}") from None


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
        """Return ``draws`` independent values."""
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
