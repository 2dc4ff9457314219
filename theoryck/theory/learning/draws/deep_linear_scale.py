"""The law of the common scale t = prod_l chi^2_{d_l}/d_l of a deep linear network, on a grid of log t that integrates exactly.

Given W_1, ..., W_L the readout direction of a linear network is sqrt(t) g, g ~ N(0, I_{d_0}), with t independent of g.  All that
depth does is this one number, so a posterior is a one-dimensional integral over t.  In u = log t the integrands are analytic in a
strip and decay on both sides: the trapezoidal rule converges geometrically, with as many nodes as the narrowest posterior needs.
The density of u comes from the Mellin transform E t^s = prod_l Gamma(d_l/2 + s) / (Gamma(d_l/2) (d_l/2)^s), inverted along the
vertical line through the saddle point of each node, so that it is accurate relative to itself also in the tails.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, loggamma, polygamma

Array = NDArray[np.float64]

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
