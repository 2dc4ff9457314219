"""Samplers of generalisation errors of deep linear networks with linear readout, and of students who assume another model.

In the basis of singular vectors of X a sample of size n is y_i = sqrt(e_i) theta_i + sqrt(noise) z_i for the min(n, d_0) nonzero
eigenvalues e_i of X^T X.  Given the scale s a student predicts x . m_s, m_{s,i} = eta2 s sqrt(e_i) y_i/(eta2 s e_i + noise), with
zero in all other directions; averaging over the posterior of s gives the Bayes predictor.  A new input x ~ N(0, I/d_0) turns
a difference v of parameters into the squared error |v|^2/d_0: it is integrated, never drawn.

Source: Camilli, Tieplova, Bergamin, Barbier (2025), arXiv:2505.03577, generalisation error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from theoryck.theory.learning.draws.deep_linear import repeats
from theoryck.theory.learning.draws.deep_linear_model import (
    PER_NANOSECOND,
    Batch,
    LinearModel,
    Posterior,
    batch_cost,
    batches,
    posterior,
)
from theoryck.theory.learning.draws.deep_linear_scale import ScaleGrid
from theoryck.theory.learning.draws.deep_linear_spectra import explained, in_pieces

Array = NDArray[np.float64]


def corrections(model: LinearModel, rng: np.random.Generator, draws: int) -> Array:
    """Return |m_L - m_0|^2/d_0, the distance of the Bayes predictor from that of the linear model, averaged over the data sets of
    each of ``draws`` independent X, shape (draws,).

    Per direction the two differ by noise eta2 sqrt(e) y sum_j w_j (s_j - 1)/((s_j k + noise)(k + noise)), k = eta2 e.
    """
    result = np.zeros(draws)
    if model.is_linear:
        return result
    grid, count = model.grid(), repeats(model)
    for batch in batches(model, rng, draws, count, len(grid.nodes)):
        weights = posterior(model, grid, batch).weights
        kernel = model.eta2 * batch.eigenvalues
        table = (grid.nodes - 1.0) / (grid.nodes * kernel[:, :, None] + model.noise)
        shifts = np.matmul(table, weights)
        shifts *= shifts
        shifts *= batch.squares
        factor = model.eta2 * model.noise**2 * kernel / (kernel + model.noise) ** 2
        result[batch.index] += np.einsum("si,sik->s", factor, shifts)
    result /= count * model.widths[0]
    return result


def linear_errors(model: LinearModel, rng: np.random.Generator, draws: int, count: int) -> Array:
    """Return the error of the Bayes predictor of the linear model, noise + (eta2/d_0) tr(1 + eta2 X X^T/noise)^{-1}, for data of
    any model with the same eta2 and noise, averaged over ``count`` independent X per draw, shape (draws,).

    That predictor is linear in Y, so its error depends on the covariance of theta only, which is that of depth 0 as E s = 1.
    """
    small, large = model.aspect

    def piece(k: int) -> Array:
        traces = explained(rng, small, large, model.unit / model.noise, k * count).reshape(k, count).mean(axis=1)
        return model.noise + model.eta2 * (1.0 - traces / model.widths[0])

    return in_pieces(piece, draws, max(2**17 // (small * count), 1))


def correction_cost(model: LinearModel) -> float:
    """Return the cost of :func:`corrections` per draw, in units of 1/7e7 seconds."""
    return 1.0 if model.is_linear else batch_cost(model, repeats(model), normal=17.0, exponential=8.0)


def trace_cost(model: LinearModel) -> float:
    """Return the cost of one trace of :func:`linear_errors`: 2 min(n, d_0) chi-squares, 25 ns each."""
    return PER_NANOSECOND * 50.0 * model.modes


@dataclass(frozen=True, slots=True)
class GeneralisationError:
    """E (Y_new - E[Y_new|D, x_new])^2, which contains the noise, for the student who knows the model.

    theta - m_L is orthogonal to every function of the data, so the error is that of the best linear predictor, known in closed form
    given X, minus |m_L - m_0|^2/d_0.

    >>> rng = np.random.Generator(np.random.SFC64(1))
    >>> values = GeneralisationError(LinearModel((32,), n=32, noise=0.5))(rng, 4096)
    >>> bool(abs(values.mean() - 1.0) < 0.01)  # noise + tau, tau = 1/2 at n = d_0, noise 1/2, up to O(1/d_0)
    True
    """

    model: LinearModel
    version: ClassVar[int] = 1

    @property
    def traces(self) -> int:
        """Independent traces averaged per draw: a third of the cost of a draw; 1 for depth 0."""
        return 1 if self.model.is_linear else max(1, int(0.5 * correction_cost(self.model) / trace_cost(self.model)))

    @property
    def cost(self) -> float:
        """Time of a draw in units of 1/7e7 seconds."""
        return self.traces * trace_cost(self.model) + correction_cost(self.model)

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` independent values."""
        return linear_errors(self.model, rng, draws, self.traces) - corrections(self.model, rng, draws)


@dataclass(frozen=True, slots=True)
class GeneralisationGap:
    """E^(L) - E^(0) = -E|m_L - m_0|^2/d_0 <= 0: the network's student gains by learning the common scale; 0 for depth 0."""

    model: LinearModel
    version: ClassVar[int] = 1

    @property
    def cost(self) -> float:
        """Time of a draw in units of 1/7e7 seconds."""
        return correction_cost(self.model)

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` independent values, all <= 0."""
        return -corrections(self.model, rng, draws)


def _check_pair(teacher: LinearModel, student: LinearModel) -> None:
    if teacher.widths[0] != student.widths[0] or teacher.n != student.n:
        raise ValueError(
            f"the student must see the teacher's data: same input dimension and n, got d_0={student.widths[0]}, n={student.n} "
            f"for the student and d_0={teacher.widths[0]}, n={teacher.n} for the teacher"
        )


def student_cost(teacher: LinearModel, student: LinearModel) -> float:
    """Return the cost of a draw of a student's predictions: the teacher's data, then the student's grid twice over."""
    return batch_cost(_finer(teacher, student), repeats(teacher), normal=24.0, exponential=10.0, table=16.0)


def _finer(teacher: LinearModel, student: LinearModel) -> LinearModel:
    return max((teacher, student), key=lambda model: len(model.grid().nodes))


@dataclass(frozen=True, slots=True)
class StudentFreeEntropy:
    """(1/n) E log Z_student(D): the evidence that a student of one model gives to data of the teacher of another.

    log Z = log N(Y; 0, C_0) + log r with the student's C_0 and r.  The first term is integrated over Y given X; to the second
    1/r - 1 of the teacher is added, of mean 0, which makes it second order in r - 1 where the two models agree.
    """

    teacher: LinearModel
    student: LinearModel
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        _check_pair(self.teacher, self.student)

    @property
    def cost(self) -> float:
        """Time of a draw in units of 1/7e7 seconds."""
        # Two posteriors per data set.
        return batch_cost(_finer(self.teacher, self.student), repeats(self.teacher), normal=16.0, exponential=15.0, table=26.0)

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` independent values."""
        teacher, student = self.teacher, self.student
        own, grid, count = teacher.grid(), student.grid(), repeats(teacher)
        values = np.zeros(draws)
        rest = teacher.n - teacher.modes
        constant = rest * (math.log(student.noise) + teacher.noise / student.noise) + teacher.n * math.log(2.0 * math.pi)
        for batch in batches(teacher, rng, draws, count, max(len(own.nodes), len(grid.nodes))):
            ratio = posterior(student, grid, batch).log_ratio
            values[batch.index] += (ratio + np.expm1(-posterior(teacher, own, batch).log_ratio)).sum(axis=1)
            model = student.eta2 * batch.eigenvalues + student.noise
            truth = teacher.eta2 * batch.eigenvalues + teacher.noise
            gaussian = -0.5 * ((np.log(model) + truth / model).sum(axis=1) + constant)
            values[batch.index] += gaussian * ratio.shape[1]
        values /= count * float(teacher.n)
        return values


@dataclass(frozen=True, slots=True, eq=False)
class _Prediction:
    """A student's posterior on a batch: coefficients c (spectra, modes, repeats) of its mean, m_i = sqrt(e_i) y_i c_i; those of the
    teacher's posterior mean given the true scale; and e_i y_i^2."""

    mean: Array
    truth: Array
    energy: Array


def _predict(teacher: LinearModel, student: LinearModel, grid: ScaleGrid, batch: Batch, found: Posterior) -> _Prediction:
    mean = np.matmul(_gains(student, grid, batch), found.weights)
    signal = teacher.eta2 * batch.scales[:, None, :]
    truth = signal / (signal * batch.eigenvalues[:, :, None] + teacher.noise)
    return _Prediction(mean, truth, batch.eigenvalues[:, :, None] * batch.squares)


def _gains(student: LinearModel, grid: ScaleGrid, batch: Batch) -> Array:
    """Return eta2 s_j/(eta2 s_j e_i + noise), shape (spectra, modes, nodes)."""
    signal = student.eta2 * grid.nodes
    return signal / (signal * batch.eigenvalues[:, :, None] + student.noise)


@dataclass(frozen=True, slots=True)
class NishimoriDefect:
    """E[<f>(f* - <f>)] at a new input, <f> the student's posterior mean and f* the teacher's output without noise.

    It is zero when the student's model is the teacher's: then E[f*|D] = <f>.  f* enters through its mean given the data and the
    teacher's true scale, not through the teacher's posterior, so the zero is found and not put in.
    """

    teacher: LinearModel
    student: LinearModel
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        _check_pair(self.teacher, self.student)

    @property
    def cost(self) -> float:
        """Time of a draw in units of 1/7e7 seconds."""
        return student_cost(self.teacher, self.student)

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` independent values."""
        teacher, student = self.teacher, self.student
        grid, count, values = student.grid(), repeats(teacher), np.zeros(draws)
        for batch in batches(teacher, rng, draws, count, len(grid.nodes)):
            found = _predict(teacher, student, grid, batch, posterior(student, grid, batch))
            values[batch.index] += np.einsum("sik,sik,sik->s", found.energy, found.mean, found.truth - found.mean)
        values /= count * teacher.widths[0]
        return values


@dataclass(frozen=True, slots=True)
class StudentError:
    """E (Y_new - prediction)^2, which contains the teacher's noise, for a student who assumes the model ``student``.

    ``predictor`` "mean" is the student's posterior mean, "sample" one parameter vector from its posterior (the Gibbs error).  When
    the two models agree "mean" is the Bayes error and the excess of "sample" over the noise is twice that of "mean".
    """

    teacher: LinearModel
    student: LinearModel
    predictor: Literal["mean", "sample"] = "mean"
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        _check_pair(self.teacher, self.student)
        if self.predictor not in ("mean", "sample"):
            raise ValueError(f"predictor must be 'mean' or 'sample', got {self.predictor!r}")

    @property
    def cost(self) -> float:
        """Time of a draw in units of 1/7e7 seconds."""
        return student_cost(self.teacher, self.student)

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` independent values."""
        teacher, student = self.teacher, self.student
        grid, count, values = student.grid(), repeats(teacher), np.zeros(draws)
        for batch in batches(teacher, rng, draws, count, len(grid.nodes)):
            posterior_ = posterior(student, grid, batch)
            found = _predict(teacher, student, grid, batch, posterior_)
            values[batch.index] += np.einsum("sik,sik->s", found.energy, (found.truth - found.mean) ** 2)
            # The teacher's variance in a direction given the data and its true scale is noise times the coefficient.
            values[batch.index] += teacher.noise * found.truth.sum(axis=(1, 2))
            if self.predictor == "sample":
                values[batch.index] += self._spread(grid, batch, posterior_, found)
        free = teacher.widths[0] - teacher.modes
        values /= count
        values += free * teacher.eta2
        values /= teacher.widths[0]
        values += teacher.noise
        return values

    def _spread(self, grid: ScaleGrid, batch: Batch, found: Posterior, prediction: _Prediction) -> Array:
        """Return the trace of the student's posterior covariance, summed over the repeats, shape (spectra,)."""
        student = self.student
        free = student.widths[0] - student.modes
        gains = _gains(student, grid, batch)
        # Within a scale: noise times the gain where there are data, eta2 s elsewhere; between scales: the variance of the mean.
        within = student.noise * gains.sum(axis=1) + free * student.eta2 * grid.nodes
        second = np.matmul((gains * gains).transpose(0, 2, 1), prediction.energy)
        second += within[:, :, None]
        return np.einsum("sjk,sjk->s", found.weights, second) - np.einsum("sik,sik->s", prediction.energy, prediction.mean**2)
