"""The deep linear teacher as plain numbers, and batches of data sets drawn from it in the eigenbasis of X^T X."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from theoryck.theory.learning.draws.deep_linear_scale import ScaleGrid, scale_grid
from theoryck.theory.learning.draws.deep_linear_spectra import eigenvalues

Array = NDArray[np.float64]

PIECE = 2**18
"""Entries of the largest working array: 2 MiB."""

SMALLEST = 1e-25
"""The smallest variance that is accepted; 1/SMALLEST is the largest."""

LEAST_PART = 256
"""Data sets that are treated together at least: the tables of a spectrum are computed anew for every part."""

PER_NANOSECOND = 0.07
"""Random numbers that count as a nanosecond of one core (7e7 a second): the unit of ``cost``."""


@dataclass(frozen=True, slots=True)
class LinearModel:
    """n samples Y = X^T theta + sqrt(noise) Z, theta = sqrt(eta2 s) g, g ~ N(0, I_{d_0}), X with entries N(0, 1/d_0).

    s = (1 - tau) t + tau, t = prod_{l=1}^L chi^2_{d_l}/d_l for ``widths`` (d_0, ..., d_L).  With tau = 0 this is a network that is
    linear in its input, of slope eta_0 = sqrt(eta2), with linear readout.  With depth 0 (or tau = 1) it is the linear model, and
    so the equivalent generalised linear model of any network with linear readout, with eta2 = eta_0^2 and noise = gamma_0 + Delta.
    In between it is the interpolation path of the proof.  Raises ValueError for a number outside its range; the noise must be
    positive, because a density of the data is needed.

    Source: Camilli, Tieplova, Bergamin, Barbier (2025), arXiv:2505.03577.

    >>> LinearModel((6, 5, 4), n=3, noise=0.5).linear
    LinearModel(widths=(6,), n=3, noise=0.5, eta2=1.0, tau=0.0)
    """

    widths: tuple[int, ...]
    n: int
    noise: float
    eta2: float = 1.0
    tau: float = 0.0

    def __post_init__(self) -> None:
        if not self.widths or any(not _is_count(width) for width in self.widths):
            raise ValueError(f"widths must be a tuple of integers >= 1, the input dimension first, got {self.widths!r}")
        if not _is_count(self.n):
            raise ValueError(f"n must be an integer >= 1, the number of samples, got {self.n!r}")
        for name in ("noise", "eta2"):
            value = getattr(self, name)
            # Beyond these the products of eight pivots could overflow; NaN fails the comparison too.
            if not SMALLEST <= value <= 1.0 / SMALLEST:
                raise ValueError(f"{name} must be a positive number from {SMALLEST:g} to {1 / SMALLEST:g}, got {value!r}")
        if not 0 <= self.tau <= 1:
            raise ValueError(f"tau must lie between 0 (the network) and 1 (the linear model), got {self.tau!r}")

    @property
    def linear(self) -> LinearModel:
        """The linear model of the same eta2 and noise: depth 0."""
        return replace(self, widths=self.widths[:1], tau=0.0)

    @property
    def is_linear(self) -> bool:
        """Whether the scale s is 1."""
        return len(self.widths) == 1 or self.tau == 1

    @property
    def modes(self) -> int:
        """min(n, d_0): the nonzero eigenvalues of X^T X."""
        return min(self.n, self.widths[0])

    @property
    def aspect(self) -> tuple[int, int]:
        """(min(n, d_0), max(n, d_0))."""
        return self.modes, max(self.n, self.widths[0])

    @property
    def unit(self) -> float:
        """eta2/d_0: what a Wishart eigenvalue is multiplied by to be one of eta2 X^T X."""
        return self.eta2 / self.widths[0]

    def grid(self, refinement: int = 1) -> ScaleGrid:
        """Return nodes s_j and log-weights of the law of s."""
        base = scale_grid(() if self.is_linear else self.widths[1:], self.modes, refinement)
        return ScaleGrid((1.0 - self.tau) * base.nodes + self.tau, base.log_weights, base.defect) if self.tau else base

    def scales(self, rng: np.random.Generator, draws: int) -> Array:
        """Return independent s, shape (draws,)."""
        if self.is_linear:
            return np.ones(draws)
        scales = np.ones(draws)
        for width in self.widths[1:]:
            scales *= rng.standard_gamma(0.5 * width, size=draws)
            scales *= 2.0 / width
        return (1.0 - self.tau) * scales + self.tau if self.tau else scales

    def spectra(self, rng: np.random.Generator, draws: int) -> Array:
        """Return the nonzero eigenvalues of X^T X for independent X (without eta2), shape (draws, modes)."""
        values = eigenvalues(rng, *self.aspect, draws)
        values /= self.widths[0]
        return values


def _is_count(value: object) -> bool:
    return not isinstance(value, bool) and isinstance(value, int | np.integer) and int(value) >= 1


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Data sets of ``spectra`` inputs X with several (s*, Y) each: eigenvalues (spectra, modes) of X^T X, true scales s*
    (spectra, repeats), squared components y^2 (spectra, modes, repeats) of Y in the eigenbasis, and which spectra these are."""

    index: slice
    eigenvalues: Array
    scales: Array
    squares: Array


def batches(model: LinearModel, rng: np.random.Generator, draws: int, repeats: int, nodes: int) -> Iterator[Batch]:
    """Yield ``draws`` spectra with ``repeats`` data sets each, in pieces that stay in cache.

    The n - modes directions in which X^T X vanishes carry noise only: they say nothing of s or theta and cancel in all ratios.
    A spectrum whose data sets do not fit into a piece comes in several batches with the same ``index``.
    """
    per_spectrum = repeats * max(model.modes, nodes)
    together, part = max(PIECE // per_spectrum, 1), min(repeats, max(PIECE // max(model.modes, nodes), LEAST_PART))
    for start in range(0, draws, together):
        index = slice(start, min(start + together, draws))
        values = model.spectra(rng, index.stop - index.start)
        for offset in range(0, repeats, part):
            shape = (len(values), min(part, repeats - offset))
            scales = model.scales(rng, shape[0] * shape[1]).reshape(shape)
            squares = rng.standard_normal((len(values), model.modes, shape[1]))
            squares *= squares
            squares *= model.eta2 * values[:, :, None] * scales[:, None, :] + model.noise
            yield Batch(index, values, scales, squares)


@dataclass(frozen=True, slots=True, eq=False)
class Posterior:
    """What a student makes of a batch: log r = log P(Y)/N(Y; 0, eta2 X^T X + noise), shape (spectra, repeats), and the posterior
    weights of the scales s_j given Y, shape (spectra, nodes, repeats)."""

    log_ratio: Array
    weights: Array


def batch_cost(model: LinearModel, repeats: int, normal: float = 13.0, exponential: float = 7.0, table: float = 13.0) -> float:
    """Return the cost of one spectrum with ``repeats`` data sets and one posterior each, in units of 1/7e7 seconds.

    Nanoseconds: 11 p^2 for the eigenvalues, ``normal`` for each of the p components of a data set (normal, square, its share of
    the matrix product), ``exponential`` per data set and node, ``table`` per eigenvalue and node.  Within 20% of the times measured
    at p = 1..1024, depths 1 and 3, 26 to 440 nodes; p = min(n, d_0).
    """
    p, nodes = model.modes, len(model.grid().nodes)
    data = repeats * (normal * p + exponential * nodes + 13.0 * len(model.widths))
    return PER_NANOSECOND * (11.0 * p * p + 60.0 * p + table * p * nodes + data + 240.0)


def posterior(model: LinearModel, grid: ScaleGrid, batch: Batch) -> Posterior:
    """Return the posterior of the scale and the evidence ratio of every data set of a batch, by quadrature over the grid.

    With h_i = (s - 1) k_i/(k_i + v),
        log N(Y; 0, s K + v)/N(Y; 0, K + v) = -1/2 sum_i log(1 + h_i) + 1/2 sum_i y_i^2 h_i/(s k_i + v):
    the differences are taken by hand, so that a ratio close to 1 keeps its digits.
    """
    kernel = model.eta2 * batch.eigenvalues
    share = kernel / (kernel + model.noise)
    shift = grid.nodes - 1.0
    logs = np.log1p(shift[None, :, None] * share[:, None, :]).sum(axis=2)
    forms = shift[None, :, None] * share[:, None, :] / (grid.nodes[None, :, None] * kernel[:, None, :] + model.noise)
    weights = np.matmul(forms, batch.squares)
    weights -= logs[:, :, None]
    weights *= 0.5
    weights += grid.log_weights[None, :, None]
    top = weights.max(axis=1)
    weights -= top[:, None, :]
    np.exp(weights, out=weights)
    total = weights.sum(axis=1)
    weights /= total[:, None, :]
    return Posterior(top + np.log(total), weights)


def second_order(log_ratio: Array) -> Array:
    """Return log r + 1/r - 1 >= 0 from x = log r: as E[1/r] = 1 under P its mean is E log r, without terms of first order in r - 1.

    Where |x| < 1e-4, x + expm1(-x) would lose digits and x^2/2 - x^3/6 + x^4/24 is exact to 1e-13.
    """
    x = log_ratio
    return np.where(np.abs(x) < 1e-4, x * x * (0.5 - x * (1.0 / 6 - x / 24)), x + np.expm1(-x))
