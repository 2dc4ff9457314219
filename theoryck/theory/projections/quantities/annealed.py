"""The error gap of a student with random signs, nearly without noise: the generator's average of its error is an integral.

w -> -w takes the overlap with the teacher away from both sides, so that of E [pmse(a) - formula(Q(a), R(a), T)] the term
E g(lambda)^2 - E I(Q(a)) is left, g = erf(x/sqrt 2), I(Q) = (2/pi) asin(Q/(1 + Q)).  Given |c| = r, lambda is a sum of N
independent terms: its characteristic function is E_r phi_r(t)^N, phi_r(t) = E cos(t x/sqrt(N)), and 1 - g^2 has a Fourier
transform.  Only I(Q(a)) is drawn, less its expansion to second order around Var sigma, whose mean is known.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theoryck.numerics.functions.activation import Activation
from theoryck.quantities.base import Quantity, QuantityError, Sizes, need_sizes
from theoryck.theory.projections.draws import WORKING, named, unit_rows
from theoryck.theory.projections.limits.prediction_errors import ERF, erf_kernel
from theoryck.theory.projections.limits.projections import coordinate, covariance_kernel, panels, read_activation
from theoryck.theory.projections.proved.radial import characteristic
from theoryck.theory.projections.proved.series import covariance_mean_square

Array = NDArray[np.float64]

FREQUENCIES = 14.0
"""The transform of 1 - erf(x/sqrt 2)^2 falls like exp(-t^2/4), to 5e-22 there."""

RANGE = 10.0
"""1 - erf(x/sqrt 2)^2 falls like exp(-x^2/2), to 2e-22 there."""


@functools.lru_cache(maxsize=1)
def _transform() -> tuple[Array, Array]:
    """Frequencies and weights: E (1 - g(lambda)^2) = sum_j weights_j E cos(t_j lambda)."""
    t, steps = panels([], 0.0, FREQUENCIES, 2.0)
    x, weights = panels([], 0.0, RANGE, 0.5)
    values = np.cos(t[:, None] * x) @ (weights * (1 - ERF(x) ** 2))
    return t, 2 * steps * values / math.pi


@functools.lru_cache(maxsize=256)
def mean_square_output(phi: Activation, n: int, dimension: int) -> float:
    """Return E erf(lambda/sqrt 2)^2 over generators, signs and latent vectors, to about 1e-13.

    >>> phi = Activation("x")  # lambda is N(0, Q(a)) with Q(a) near 1, and erf(Z/sqrt 2) is uniform: near 1/3
    >>> abs(mean_square_output(phi, 512, 512) - 1 / 3) < 1e-3
    True
    """
    t, weights = _transform()
    return 1.0 - float(weights @ characteristic(phi, n, dimension, t))


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
        """Time of a draw in units of 1/7e7 seconds."""
        return 0.8 * self.n * self.dimension + (0.012 * self.dimension + 6.0) * self.n**2

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` independent values."""
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


class SignsErrorGap(Quantity):
    """What :func:`signs_error_gap` returns."""

    can_draw = True

    def __init__(self, activation: Activation | str) -> None:
        try:
            self.activation = read_activation(activation)
        except (TypeError, ValueError) as error:
            raise QuantityError(f"activation: {error}") from None

    @property
    def name(self) -> str:
        """What people read."""
        return f"signs_error_gap({self.activation.text})"

    @property
    def parameters(self) -> dict[str, Any]:
        """The instance as JSON-able data."""
        return {"quantity": "signs_error_gap", "activation": self.activation.text}

    @property
    def size_names(self) -> tuple[str, ...]:
        """N coordinates made from D latent variables."""
        return ("N", "D")

    def sampler(self, sizes: Sizes) -> AnnealedDraws:
        """Return the sampler at ``sizes``, with the integral done."""
        return self._at(sizes, with_output=True)

    def _at(self, sizes: Sizes, with_output: bool) -> AnnealedDraws:
        need_sizes(self.name, self.size_names, sizes)
        n, dimension = int(sizes["N"]), int(sizes["D"])
        if min(n, dimension) < 8:
            raise QuantityError(f"the sizes 'N' and 'D' of {self.name} must be at least 8, got N={n} and D={dimension}")
        with named(self.name):
            spread = 2 * (n - 1) / n * covariance_mean_square(coordinate(self.activation, 2), dimension).value
            output = mean_square_output(self.activation, n, dimension) if with_output else 0.0
        return AnnealedDraws(self.activation, n, dimension, output, spread)

    def cost(self, sizes: Sizes) -> float:
        """Return the time of a draw, in random numbers."""
        return self._at(sizes, with_output=False).cost

    def draws_to_compare(self, sizes: Sizes) -> float:
        """Return 64: what is left of Q(a) is bounded, and its square has the skewness of a chi-squared at most."""
        return 64


def signs_error_gap(activation: Activation | str) -> SignsErrorGap:
    """Return E [pmse(a) - formula(Q(a), R(a), T)] for random signs and one erf unit, at sizes N and D >= 8, with little noise.

    The same number as ``student_error_gap(activation, "signs")`` by another way: its first term is an integral, its second is drawn
    with control variates.  Raises QuantityError for a bad activation, N or D < 8, or E sigma(Z)^2 infinite.

    >>> gap = signs_error_gap("2*erf(x)")
    >>> draws = gap.draw(np.random.default_rng(0), 1000, {"N": 64, "D": 64})
    >>> bool(0.17 < 64 * draws.mean() < 0.19)  # in the limit .1806
    True
    """
    return SignsErrorGap(activation)
