"""The prediction error of students of erf units on generated data, and its distance from the formula of Gaussian fields.

Inputs x_i = sigma(a_i . c) - E sigma(Z), a_i uniform on the unit sphere of R^D; students sum_k erf(lambda^k/sqrt 2) with
lambda^k = w^k . x/sqrt(N), teachers sum_m erf(nu^m/sqrt 2) with nu^m = w~^m . c/sqrt(D), as many units, w~^m orthogonal.

Students: "signs" (w^k independent signs, without regard to the teacher), "informed" (w^k_i = sign(a_i . w~^k), as a student that
has learned its teacher's directions), "localised" (w^k = sqrt(N) e_k).
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theoryck.montecarlo import block_generator
from theoryck.numerics.functions.activation import Activation
from theoryck.quantities.base import Quantity, QuantityError, Sizes, need_sizes
from theoryck.theory.projections.draws import WORKING, named, unit_rows
from theoryck.theory.projections.limits.prediction_errors import ERF, erf_prediction_error
from theoryck.theory.projections.limits.projections import coordinate, covariance_kernel, read_activation

Array = NDArray[np.float64]

STUDENTS = ("signs", "informed", "localised")
LATENTS = 128
PILOT = 512
"""Generators, of a random stream of their own, to which the coefficients of the control variates are fitted."""


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
        """Time of a draw in units of 1/7e7 seconds."""
        n = self.units if self.student == "localised" else self.n
        rows = (n + LATENTS) * self.dimension
        products = 0.012 * n * self.dimension * (LATENTS + n)
        return 0.8 * rows + LATENTS * (0.9 * n + 5.0 * self.units**2) + products + 0.5 * n * n

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` independent values."""
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


@functools.lru_cache(maxsize=256)
def _with_controls(draws: ErrorDraws) -> ErrorDraws:
    rng = block_generator(0, "error pilot", {"text": repr(draws)}, {}, 0)
    values, controls = draws.values(rng, PILOT)
    fitted = np.linalg.lstsq(controls, values - values.mean(), rcond=None)[0]
    return ErrorDraws(
        draws.activation, draws.student, draws.units, draws.n, draws.dimension, draws.gap, tuple(float(b) for b in fitted)
    )


class StudentError(Quantity):
    """What :func:`student_error` and :func:`student_error_gap` return; Monte Carlo only."""

    can_draw = True

    def __init__(self, activation: Activation | str, student: str, units: int, gap: bool) -> None:
        try:
            self.activation = read_activation(activation)
        except (TypeError, ValueError) as error:
            raise QuantityError(f"activation: {error}") from None
        if student not in STUDENTS:
            raise QuantityError(f"student must be one of {', '.join(map(repr, STUDENTS))}, got {student!r}")
        if isinstance(units, bool) or not isinstance(units, int) or not 1 <= units <= 8:
            raise QuantityError(f"units must be an integer between 1 and 8, the hidden units of student and teacher, got {units!r}")
        self.student, self.units, self.gap = student, units, gap

    @property
    def name(self) -> str:
        """What people read."""
        kind = "student_error_gap" if self.gap else "student_error"
        return f"{kind}({self.activation.text}, {self.student}, units={self.units})"

    @property
    def parameters(self) -> dict[str, Any]:
        """The instance as JSON-able data."""
        kind = "student_error_gap" if self.gap else "student_error"
        return {"quantity": kind, "activation": self.activation.text, "student": self.student, "units": self.units}

    @property
    def size_names(self) -> tuple[str, ...]:
        """N coordinates made from D latent variables."""
        return ("N", "D")

    def sampler(self, sizes: Sizes) -> ErrorDraws:
        """Return the sampler at ``sizes``, with the coefficients of its control variates."""
        need_sizes(self.name, self.size_names, sizes)
        n, dimension = int(sizes["N"]), int(sizes["D"])
        if min(n, dimension) < max(8, self.units):
            raise QuantityError(f"the sizes 'N' and 'D' of {self.name} must be at least 8, got N={n} and D={dimension}")
        with named(self.name):
            return _with_controls(ErrorDraws(self.activation, self.student, self.units, n, dimension, self.gap))

    def cost(self, sizes: Sizes) -> float:
        """Return the time of a draw, in random numbers."""
        return ErrorDraws(self.activation, self.student, self.units, int(sizes["N"]), int(sizes["D"]), self.gap).cost

    def draws_to_compare(self, sizes: Sizes) -> float:
        """Return 64: a draw averages bounded errors over 128 latent vectors."""
        return 64


def student_error(activation: Activation | str, student: str = "informed", units: int = 1) -> StudentError:
    """Return E (sum_k erf(lambda^k/sqrt 2) - sum_m erf(nu^m/sqrt 2))^2 over generators and data, a quantity at sizes N and D.

    Monte Carlo with control variates.  Raises QuantityError.

    >>> error = student_error("tanh", "signs")
    >>> draws = error.draw(np.random.default_rng(0), 64, {"N": 16, "D": 16})
    >>> bool(0.4 < draws.mean() < 0.6)
    True
    """
    return StudentError(activation, student, units, gap=False)


def student_error_gap(activation: Activation | str, student: str = "informed", units: int = 1) -> StudentError:
    """Return E [pmse(a) - formula(Q(a), R(a), T)] over generators a: what the Gaussian equivalence misses at sizes N and D.

    Q(a) = w Omega(a) w^T/N with Omega_ij = Cov(sigma(a_i . c), sigma(a_j . c)) by Mehler's formula, R(a) = E sigma(Z) Z w A w~^T/
    sqrt(N D), T = I.  Monte Carlo with control variates.  Raises QuantityError for bad arguments and at N or D < 8.
    Source: Goldt, Loureiro, Reeves, Krzakala, Mezard, Zdeborova (2021), for the setting.

    >>> gap = student_error_gap("x")  # a linear generator has Gaussian fields
    >>> draws = gap.draw(np.random.default_rng(0), 256, {"N": 8, "D": 8})
    >>> bool(abs(draws.mean()) < 5 * draws.std() / 16)
    True
    """
    return StudentError(activation, student, units, gap=True)
