"""Samplers of information and errors of deep linear networks with linear readout, and of their equivalent linear model.

Information.  With C_0 = eta2 X^T X + noise, r = P(Y|X)/N(Y; 0, C_0) and Y drawn from P, E[Y Y^T|X] = C_0 and E[1/r] = 1 give
    E log Z = -1/2 E log det(2 pi e C_0) + E KL,    KL = log r + 1/r - 1 >= 0 (in the mean over Y),
so depth acts through KL alone.  The determinant needs no eigenvalues and, having the larger variance, is averaged over many cheap
independent X; KL needs the spectrum of X^T X, which is used for as many data sets as it has eigenvalues, because they cost together
what the spectrum costs and KL hardly depends on it.

Errors.  In the basis of singular vectors of X a sample of size n is y_i = sqrt(e_i) theta_i + sqrt(noise) z_i for the min(n, d_0)
nonzero eigenvalues e_i of X^T X.  Given the scale s the Bayes predictor is x . m_s, m_{s,i} = eta2 s sqrt(e_i) y_i/(eta2 s e_i +
noise), zero in all other directions, to be averaged over the posterior of s.  A new input x ~ N(0, I/d_0) turns a difference v of
parameters into the squared error |v|^2/d_0: it is integrated, never drawn.

A sampler is called as ``sampler(rng, draws)`` and returns independent float64 values (draws,) whose mean is the quantity.  ``cost``
is the processor time of a draw in units of 1/7e7 seconds, ``version`` counts changes of the values drawn from the same generator.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from theoryck.theory.learning.draws.deep_linear_model import (
    PER_NANOSECOND,
    LinearModel,
    batch_cost,
    batches,
    explained,
    in_pieces,
    log_likelihoods,
    logdet,
    posterior,
    second_order,
)

Array = NDArray[np.float64]

GROUP = 8
"""Data sets per draw of a variance."""

DETERMINANT_COST = 44.0 * PER_NANOSECOND
"""Cost of a pivot: two chi-squares and a few operations."""


# Information ----------------------------------------------------------------------------------------------------------------------


def repeats(model: LinearModel) -> int:
    """Return the data sets drawn from one X: as many as cost what the spectrum costs, and at least 32."""
    return max(32, model.modes)


def divergence_cost(model: LinearModel) -> float:
    """Return the cost of :func:`divergences` per draw, in units of 1/7e7 seconds."""
    return 1.0 if model.is_linear else batch_cost(model, repeats(model))


def divergences(model: LinearModel, rng: np.random.Generator, draws: int) -> Array:
    """Return KL(P(Y|X) || N(0, C_0)) estimated from ``repeats`` data sets for each of ``draws`` independent X, shape (draws,)."""
    result = np.zeros(draws)
    if model.is_linear:
        return result
    grid, count = model.grid(), repeats(model)
    for batch in batches(model, rng, draws, count, len(grid.nodes)):
        result[batch.index] += second_order(posterior(model, grid, batch).log_ratio).sum(axis=1)
    result /= count
    return result


def determinants_per_draw(model: LinearModel) -> int:
    """Return the number of independent log-determinants that are averaged: a third of the cost of a draw; 1 for depth 0."""
    return 1 if model.is_linear else max(1, int(0.5 * divergence_cost(model) / (DETERMINANT_COST * model.modes)))


def determinant_cost(model: LinearModel) -> float:
    """Return the cost of :func:`determinants` per draw, in units of 1/7e7 seconds."""
    return DETERMINANT_COST * model.modes * determinants_per_draw(model)


def determinants(model: LinearModel, rng: np.random.Generator, draws: int) -> Array:
    """Return log det(1 + eta2 X^T X/noise), averaged over ``determinants_per_draw`` independent X, shape (draws,)."""
    small, large = model.aspect
    count = determinants_per_draw(model)
    piece = max(2**17 // (small * count), 1)
    scale = model.unit / model.noise
    return in_pieces(lambda k: logdet(rng, small, large, scale, k * count).reshape(k, count).mean(axis=1), draws, piece)


@dataclass(frozen=True, slots=True)
class InformationGap:
    """I^(L) - I^(0) = -E KL(P(Y|X) || N(0, C_0)) <= 0 in nats, for all n samples together; 0 for depth 0.

    The two mutual informations differ by the divergence only because the two laws of Y have the same covariance given X.

    >>> rng = np.random.Generator(np.random.SFC64(1))
    >>> values = InformationGap(LinearModel((64, 64), n=64, noise=0.5))(rng, 64)
    >>> values.shape, bool(abs(values.mean() + 0.0227) < 0.004)
    ((64,), True)
    """

    model: LinearModel
    version: ClassVar[int] = 1

    @property
    def cost(self) -> float:
        """Time of a draw in units of 1/7e7 seconds."""
        return divergence_cost(self.model)

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` independent values, all <= 0."""
        return -divergences(self.model, rng, draws)


@dataclass(frozen=True, slots=True)
class PathDivergence:
    """n (f_tau - f_1) = E KL >= 0 along the interpolation path s = (1 - tau) t + tau; ``model.tau`` says where.

    At tau = 0 it is n times the difference of the free entropies of network and linear model, at tau = 1 it is 0.
    """

    model: LinearModel
    version: ClassVar[int] = 1

    @property
    def cost(self) -> float:
        """Time of a draw in units of 1/7e7 seconds."""
        return divergence_cost(self.model)

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` independent values, all >= 0."""
        return divergences(self.model, rng, draws)


@dataclass(frozen=True, slots=True)
class FreeEntropy:
    """(1/n) E log Z, Z = P(Y|X) the density of the outputs, at ``model.tau`` of the interpolation path (0: the network)."""

    model: LinearModel
    version: ClassVar[int] = 1

    @property
    def cost(self) -> float:
        """Time of a draw in units of 1/7e7 seconds."""
        return determinant_cost(self.model) + divergence_cost(self.model)

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` independent values."""
        model = self.model
        values = determinants(model, rng, draws)
        values *= -0.5
        values += divergences(model, rng, draws)
        values /= model.n
        values -= 0.5 * math.log(2.0 * math.pi * math.e * model.noise)
        return values


@dataclass(frozen=True, slots=True)
class MutualInformation:
    """I_n = -E log Z - (n/2) log(2 pi e Delta) in nats, for all n samples together.

    Delta is ``channel_noise``, which is ``model.noise`` if not given.  For the equivalent linear model of a nonlinear network
    give Delta here and gamma_0 + Delta to the model: its unknowns include the effective noise of variance gamma_0.
    """

    model: LinearModel
    channel_noise: float | None = None
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if self.channel_noise is not None and not 0 < self.channel_noise <= self.model.noise:
            raise ValueError(
                f"channel_noise must be positive and at most the noise {self.model.noise} of the model, got {self.channel_noise!r}"
            )

    @property
    def cost(self) -> float:
        """Time of a draw in units of 1/7e7 seconds."""
        return determinant_cost(self.model) + divergence_cost(self.model)

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` independent values."""
        model = self.model
        values = determinants(model, rng, draws)
        values *= 0.5
        values -= divergences(model, rng, draws)
        if self.channel_noise is not None:
            values += 0.5 * model.n * math.log(model.noise / self.channel_noise)
        return values


def log_evidences(model: LinearModel, rng: np.random.Generator, draws: int) -> Array:
    """Return log Z of ``draws`` independent data sets, each with an X of its own, shape (draws,).

    Depth 0: Y^T C_0^{-1} Y is a chi-square of n degrees independent of X.  Otherwise the min(n, d_0) directions in which X^T X
    acts are eliminated for all nodes of the scale at once, and the others are a chi-square times the noise.
    """
    small, large = model.aspect
    if model.is_linear:
        form = 2.0 * rng.standard_gamma(0.5 * model.n, size=draws)
        determinant = determinants(model, rng, draws)
        return -0.5 * (determinant + form + model.n * math.log(2.0 * math.pi * model.noise))
    grid, rest = model.grid(), model.n - small

    def piece(count: int) -> Array:
        true = (model.unit * model.scales(rng, count), model.noise)
        terms = log_likelihoods(rng, small, large, true, (model.unit * grid.nodes, model.noise))
        terms += grid.log_weights
        top = terms.max(axis=1)
        values = top + np.log(np.exp(terms - top[:, None]).sum(axis=1))
        return values - 0.5 * (2.0 * rng.standard_gamma(0.5 * rest, size=count) + rest * math.log(2.0 * math.pi * model.noise))

    return in_pieces(piece, draws, max(2**13 // len(grid.nodes), 1))


def evidence_cost(model: LinearModel) -> float:
    """Return the cost of :func:`log_evidences` per data set: 120 ns per direction, 4 ns more per node; 9 ns per node to sum."""
    if model.is_linear:
        return determinant_cost(model) + PER_NANOSECOND * 50.0
    nodes = len(model.grid().nodes)
    return PER_NANOSECOND * (model.modes * (120.0 + 4.0 * nodes) + 9.0 * nodes)


@dataclass(frozen=True, slots=True)
class FreeEntropyVariance:
    """Var((1/n) log Z) over data sets: the unbiased sample variance of 8 independent ones, each with its own X, per draw."""

    model: LinearModel
    version: ClassVar[int] = 1

    @property
    def cost(self) -> float:
        """Time of a draw in units of 1/7e7 seconds."""
        return GROUP * evidence_cost(self.model)

    def __call__(self, rng: np.random.Generator, draws: int) -> Array:
        """Return ``draws`` independent values, all >= 0."""
        values = log_evidences(self.model, rng, GROUP * draws).reshape(draws, GROUP)
        return values.var(axis=1, ddof=1) / float(self.model.n) ** 2


# Errors -------------------------------------------------------------------------------------------------------------------------


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
