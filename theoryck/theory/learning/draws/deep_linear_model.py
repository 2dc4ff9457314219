"""The deep linear teacher: its spectrum without X, its common scale without weights, and data sets in the eigenbasis of X^T X.

Scale.  Given W_1, ..., W_L the readout direction of a linear network is sqrt(t) g, g ~ N(0, I_{d_0}), with t = prod_l
chi^2_{d_l}/d_l independent of g.  All that depth does is this one number, so a posterior is a one-dimensional integral over t.  In
u = log t the integrands are analytic in a strip and decay on both sides: the trapezoidal rule converges geometrically, with as many
nodes as the narrowest posterior needs.  The density of u comes from the Mellin transform E t^s = prod_l Gamma(d_l/2 + s) /
(Gamma(d_l/2) (d_l/2)^s), inverted along the vertical line through the saddle point of each node, so that it is accurate relative to
itself also in the tails.

Spectrum.  X is d_0 x n with entries N(0, 1/d_0).  With p = min(n, d_0) and q = max(n, d_0), Householder reflections turn sqrt(d_0)
X (or its transpose) into a lower bidiagonal p x p matrix B (padded with zeros) of independent entries, the diagonal chi_q,
chi_{q-1}, ..., chi_{q-p+1} and below it chi_{p-1}, ..., chi_1 (Dumitriu and Edelman, Matrix models for beta ensembles, 2002).  The
nonzero eigenvalues of X^T X are those of B B^T/d_0.  Nothing of size n x n or n x d_0 exists.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dsterf
from scipy.special import digamma, loggamma, polygamma

from theoryck.quantities.base import QuantityError
from theoryck.theory.learning.problem import Problem

Array = NDArray[np.float64]

# The law of the scale -----------------------------------------------------------------------------------------------------------

LOG_TAIL = 37.0
"""-log of the probability that t is beyond either end of the grid: 1e-16 (Chernoff)."""

STEPS_PER_DEVIATION = 0.7
"""Step in standard deviations of the narrowest posterior: a Gaussian has the trapezoidal error 2 exp(-2 pi^2/0.49) = 6e-18."""

LARGEST_STEP = 0.2
"""A log chi-square continues to |Im u| < pi/2 only, which leaves exp(-2 pi (pi/2) / 0.2) = 4e-22 before its growth there."""

STIRLING = 128.0
"""Above this, log Gamma by Stirling's series with three terms (the next is 1/(1680 z^7) < 1e-18), because of cancellation below."""


@dataclass(frozen=True, eq=False)
class ScaleGrid:
    """Nodes and weights for integrals over t: E F(t) = sum_j exp(log_weights_j) F(nodes_j), each of shape (nodes,).

    ``defect`` is by how much the weights missed 1 before they were normalised.
    """

    nodes: Array
    log_weights: Array
    defect: float


@functools.lru_cache(maxsize=256)
def scale_grid(widths: tuple[int, ...], modes: int, refinement: int = 1) -> ScaleGrid:
    """Return the grid for t = prod_l chi^2_{d_l}/d_l with widths (d_1, ..., d_L) when min(n, d_0) = ``modes``; t = 1 if L = 0.

    A data set tells log t at best with ``modes``/2 units of Fisher information (each of its ``modes`` directions is one normal
    whose variance is at most proportional to t), which with the prior gives the narrowest posterior and so the step.  The
    expected share of a posterior beyond the ends is the prior's, 1e-16, because the true scale is a sample of the posterior.
    ``refinement`` divides the step.

    >>> grid = scale_grid((6, 4), modes=3)
    >>> abs(float(np.exp(grid.log_weights) @ grid.nodes) - 1) < 1e-12  # E t = 1
    True
    """
    if not widths:
        return ScaleGrid(np.ones(1), np.zeros(1), 0.0)
    shapes = 0.5 * np.array(widths, dtype=np.float64)
    variance = float(np.sum(polygamma(1, shapes)))
    step = min(STEPS_PER_DEVIATION / math.sqrt(1.0 / variance + 0.5 * modes), LARGEST_STEP) / refinement
    low, high = (_saddle(shapes, _tail(shapes, side)) for side in (-1, 1))
    nodes = step * np.arange(math.floor(low / step), math.ceil(high / step) + 1, dtype=np.float64)
    log_weights = log_density(shapes, nodes) + math.log(step)
    total = float(np.sum(np.exp(log_weights)))
    if not abs(total - 1.0) < 1e-10:
        raise ArithmeticError(f"the density of the scale for the widths {widths} sums to {total!r} instead of 1")
    return ScaleGrid(np.exp(nodes), log_weights - math.log(total), total - 1.0)


def log_density(shapes: Array, points: Array) -> Array:
    """Return the log-density of u = log prod_l (Gamma(a_l)/a_l) at ``points`` for shape parameters a_l = d_l/2, as an array.

    p(u) = exp(Lambda(s) - s u) (1/pi) int_0^inf Re exp(Lambda(s + i w) - Lambda(s) - i w u) dw, where Lambda = log E e^{su} and
    s solves Lambda'(s) = u, so that the integrand starts at its largest value and hardly oscillates.
    """
    tilt = _solve(shapes, points)
    # Any line right of the pole gives the same integral; close to the pole it needs many frequencies: keep a distance.
    tilt = np.maximum(tilt, -0.75 * shapes.min())
    bases = shapes[None, :] + tilt[:, None]
    variance = np.sum(polygamma(1, bases), axis=1)
    # Aliasing copies the tilted density at the distance 2 pi / step: beyond 20 deviations and 45 decay lengths of its left tail.
    step = 2.0 * math.pi / (20.0 * np.sqrt(variance) + 45.0 / bases.min(axis=1))
    frequencies = np.arange(1, 1 + math.ceil(float(np.max(_cutoff(bases) / step))))
    total = np.full(len(points), 0.5)
    for start in range(0, len(frequencies), 64):
        omega = step[:, None] * frequencies[None, start : start + 64]
        real, imaginary = np.zeros_like(omega), -omega * points[:, None]
        for index, shape in enumerate(shapes):
            modulus, phase = _vertical(bases[:, index, None], omega)
            real += modulus
            imaginary += phase + omega * np.log(bases[:, index, None] / shape)
        total += np.sum(np.exp(real) * np.cos(imaginary), axis=1)
    return _cumulant(shapes, tilt) - tilt * points + np.log(total * step / math.pi)


def _cumulant(shapes: Array, tilt: Array) -> Array:
    """Return Lambda(s) = sum_l log Gamma(a_l + s) - log Gamma(a_l) - s log a_l."""
    total = np.zeros_like(tilt)
    for shape in shapes:
        if shape < STIRLING:
            total += loggamma(shape + tilt) - loggamma(shape) - tilt * math.log(shape)
        else:
            total += (shape + tilt - 0.5) * np.log1p(tilt / shape) - tilt + _stirling(shape + tilt) - _stirling(shape)
    return total


def _vertical(base: Array, omega: Array) -> tuple[Array, Array]:
    """Return the real and imaginary part of log Gamma(b + i w) - log Gamma(b) - i w log b."""
    if float(base.min()) < STIRLING / 4:
        value = loggamma(base + 1j * omega) - loggamma(base) - 1j * omega * np.log(base)
        return value.real, value.imag
    ratio = omega / base
    modulus, angle = 0.5 * np.log1p(ratio * ratio), np.arctan(ratio)
    rest = _stirling(base + 1j * omega) - _stirling(base)
    return (base - 0.5) * modulus - omega * angle + rest.real, (base - 0.5) * angle + omega * (modulus - 1.0) + rest.imag


def _stirling(z: NDArray[np.inexact]) -> NDArray[np.inexact]:
    inverse = 1.0 / z
    square = inverse * inverse
    return inverse * (1.0 / 12 - square * (1.0 / 360 - square * (1.0 / 1260 - square / 1680)))


def _slope(shapes: Array, tilt: Array) -> Array:
    return np.sum(digamma(shapes[None, :] + tilt[:, None]) - np.log(shapes), axis=1)


def _saddle(shapes: Array, tilt: float) -> float:
    return float(_slope(shapes, np.array([tilt]))[0])


def _tail(shapes: Array, side: int) -> float:
    """Return the s at which P(u beyond Lambda'(s)) <= exp(Lambda(s) - s Lambda'(s)) = exp(-LOG_TAIL), by bisection in log."""
    pole = float(shapes.min())

    def rate(position: float) -> tuple[float, float]:
        tilt = math.exp(position) if side > 0 else pole * math.expm1(-math.exp(position))
        return tilt, tilt * _saddle(shapes, tilt) - float(_cumulant(shapes, np.array([tilt]))[0])

    low, high = -25.0, (40.0 if side > 0 else 3.5)
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if rate(middle)[1] < LOG_TAIL else (low, middle)
    return rate(high)[0]


def _solve(shapes: Array, points: Array) -> Array:
    """Return the s > -min a_l with Lambda'(s) = u for every u of ``points``: Lambda' is increasing, bisection in log(s + min a)."""
    pole = float(shapes.min())
    low, high = np.full(len(points), -60.0), np.full(len(points), 60.0)
    for _ in range(80):
        middle = 0.5 * (low + high)
        below = _slope(shapes, np.exp(middle) - pole) < points
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.exp(high) - pole


def _cutoff(bases: Array) -> Array:
    """Return frequencies beyond which the characteristic function of the tilted density is below exp(-40)."""
    omega = 8.0 / np.sqrt(np.sum(polygamma(1, bases), axis=1))
    for _ in range(200):
        decay = sum(_vertical(bases[:, index], omega)[0] for index in range(bases.shape[1]))
        if np.all(decay < -40.0):
            return omega
        omega = np.where(decay < -40.0, omega, 1.2 * omega)
    raise ArithmeticError("the characteristic function of the scale does not decay")


# Spectra ------------------------------------------------------------------------------------------------------------------------

LOG_EVERY = 8
"""Pivots multiplied before their logarithm is taken: eight of them overflow only where one exceeds 1e38."""


def bidiagonal(rng: np.random.Generator, small: int, large: int, draws: int) -> tuple[Array, Array]:
    """Return the squared entries of B: diagonals (small, draws) and subdiagonals (small - 1, draws), independent chi-squares."""
    steps = np.arange(small)[:, None]
    diagonals = rng.standard_gamma(0.5 * (large - steps), size=(small, draws))
    subdiagonals = rng.standard_gamma(0.5 * (small - 1 - steps[: small - 1]), size=(small - 1, draws))
    diagonals *= 2.0
    subdiagonals *= 2.0
    return diagonals, subdiagonals


def eigenvalues(rng: np.random.Generator, small: int, large: int, draws: int) -> Array:
    """Return the eigenvalues of B B^T for independent B, shape (draws, small), ascending.

    They are those of a real Wishart matrix: of G G^T, G ``small`` x ``large`` with entries N(0, 1).
    """
    diagonals, subdiagonals = bidiagonal(rng, small, large, draws)
    products = np.sqrt(diagonals[:-1] * subdiagonals).T.copy()
    diagonals[1:] += subdiagonals
    result = np.ascontiguousarray(diagonals.T)
    if small == 1:
        return result
    for index in range(draws):
        result[index], info = dsterf(result[index], products[index])
        if info:
            raise ArithmeticError(f"LAPACK dsterf found only some of the {small} eigenvalues (info={info})")
    return result


class LogSum:
    """Sum of logarithms of positive arrays, with one logarithm for several factors."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._product, self._total, self._pending = np.ones(shape), np.zeros(shape), 0

    def add(self, factor: Array) -> None:
        """Add log(factor)."""
        self._product *= factor
        self._pending += 1
        if self._pending == LOG_EVERY:
            self._flush()

    def value(self) -> Array:
        """Return the sum so far."""
        self._flush()
        return self._total

    def _flush(self) -> None:
        self._total += np.log(self._product)
        self._product[...] = 1.0
        self._pending = 0


def logdet(rng: np.random.Generator, small: int, large: int, scale: float, draws: int) -> Array:
    """Return log det(1 + scale B B^T) for independent B, shape (draws,), from its pivots: no eigenvalue is needed.

    With A_i = scale B_ii^2 and B_i = scale B_{i+1,i}^2 the pivots of Gaussian elimination are delta_i = 1 + c_i + A_i, c_1 = 0,
    c_{i+1} = B_i (1 + c_i) / delta_i: sums and quotients of positive numbers, so nothing cancels.
    """
    diagonals, subdiagonals = bidiagonal(rng, small, large, draws)
    diagonals *= scale
    subdiagonals *= scale
    total, carried = LogSum((draws,)), np.ones(draws)
    for index in range(small):
        pivot = carried + diagonals[index]
        total.add(pivot)
        if index < small - 1:
            carried *= subdiagonals[index]
            carried /= pivot
            carried += 1.0
    return total.value()


def explained(rng: np.random.Generator, small: int, large: int, scale: float, draws: int) -> Array:
    """Return tr M (1 + M)^{-1}, M = scale B B^T, for independent B, shape (draws,).

    This is the derivative of log det(1 + s M) in log s at s = 1.  Differentiating the pivots (with c'_i for that of c_i) gives
    sum_i (c'_i + A_i)/delta_i with c'_{i+1} = c_{i+1} [(1 + c_i)/delta_i + c'_i A_i / ((1 + c_i) delta_i)]: all terms positive.
    """
    diagonals, subdiagonals = bidiagonal(rng, small, large, draws)
    diagonals *= scale
    subdiagonals *= scale
    total, carried, change = np.zeros(draws), np.zeros(draws), np.zeros(draws)
    for index in range(small):
        above = carried + 1.0
        pivot = above + diagonals[index]
        total += (change + diagonals[index]) / pivot
        if index < small - 1:
            carried = subdiagonals[index] * above / pivot
            change = carried * (above + change * diagonals[index] / above) / pivot
    return total


def log_likelihoods(
    rng: np.random.Generator, small: int, large: int, true: tuple[Array, float], grid: tuple[Array, float]
) -> Array:
    """Return log N(y; 0, s M + v) at all scales s of a grid for data y ~ N(0, s* M + v*), a fresh M = B B^T per data set.

    ``true`` = (s*, v*) with s* of shape (draws,), ``grid`` = (scales (nodes,), v); the result has shape (draws, nodes) and counts
    the ``small`` directions in which M acts.  In the basis in which X^T X is B B^T the data are sqrt(s*) B g + sqrt(v*) z, and
    s B B^T + v is tridiagonal: one elimination for all nodes at once, O(small nodes) per data set.
    """
    scales_true, noise_true = true
    scales, noise = grid
    draws = len(scales_true)
    diagonals, subdiagonals = bidiagonal(rng, small, large, draws)
    signal = rng.standard_normal((small, draws))
    data = np.sqrt(diagonals) * signal
    data[1:] += np.sqrt(subdiagonals) * signal[:-1]
    data *= np.sqrt(scales_true)
    data += np.sqrt(noise_true) * rng.standard_normal((small, draws))
    cross = np.sqrt(diagonals[:-1] * subdiagonals)
    shape = (draws, len(scales))
    logs, quadratic = LogSum(shape), np.zeros(shape)
    carried, residual = np.full(shape, noise), np.repeat(data[0][:, None], len(scales), axis=1)
    for index in range(small):
        pivot = carried + scales * diagonals[index][:, None]
        logs.add(pivot)
        quadratic += residual * residual / pivot
        if index < small - 1:
            # The same pivots as in logdet, times v: delta = v + c + s a^2, c' = s b^2 (v + c)/delta.
            ratio = scales / pivot
            carried *= ratio
            carried *= subdiagonals[index][:, None]
            carried += noise
            ratio *= cross[index][:, None]
            residual = data[index + 1][:, None] - ratio * residual
    return -0.5 * (small * np.log(2.0 * np.pi) + logs.value() + quadratic)


def in_pieces(function: Callable[[int], Array], draws: int, piece: int) -> Array:
    """Return ``function(k)`` of shape (k,) for k adding up to ``draws``, at most ``piece`` at a time, joined."""
    parts = [function(min(piece, draws - start)) for start in range(0, draws, piece)]
    return np.concatenate(parts) if parts else np.empty(0)


# Data sets ----------------------------------------------------------------------------------------------------------------------

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


def model_of(problem: Problem) -> LinearModel:
    """Return a problem with linear readout as a linear model: its network is linear, or it is at t = 1."""
    if problem.eta0 == 0:
        raise QuantityError(
            f"eta_0 = 0 for {problem.activation.text}: its linear model does not see the input, and nothing is learned"
        )
    widths, time = (problem.widths[:1], 0.0) if problem.time == 1 else (problem.widths, problem.time)
    return LinearModel(widths, n=problem.n, noise=problem.noise + problem.gamma0, eta2=problem.eta0**2, tau=time)


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
