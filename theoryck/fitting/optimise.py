"""The posterior mode of a power law with corrections: linear on the logarithm, refined by Gauss-Newton on the values."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from theoryck.fitting.corrections import CorrectionFamily
from theoryck.fitting.data import Array, Data
from theoryck.fitting.linear import ExponentError, covariance, design_matrix, minimiser, response

_STEPS = 40


@dataclass(frozen=True)
class System:
    """The weighted linear system at the solution: unknowns (a, s, b_1, ...), b_j with prior N(0, 1)."""

    design: Array  # (points, unknowns)
    weights: Array  # 1 / relative error
    theta: Array
    covariance: Array
    flat: int  # number of unknowns without a prior
    sizes: Array
    last: float
    first: float
    family: CorrectionFamily
    fixed: float  # the exponent, if it is not an unknown, else 0
    inflation: float = 1.0

    def predict(self, size: float) -> tuple[float, float]:
        """Return the logarithm of the fitted curve at ``size`` and its stderr."""
        centre, stderr = self.curve(np.array([size]))
        return float(centre[0]), float(stderr[0])

    def curve(self, sizes: Array) -> tuple[Array, Array]:
        """Return the logarithm of the fitted curve at all ``sizes``, and its stderr."""
        rows = design_matrix(np.log(sizes), self.first, self.last, self.family, self.flat == 2)
        centre = rows @ self.theta + self.fixed * np.log(sizes / self.last)
        variance = np.einsum("ij,jk,ik->i", rows, self.covariance, rows)
        return centre, np.sqrt(np.maximum(variance, 0.0)) * self.inflation

    def error(self) -> ExponentError:
        """Return the error of the exponent, by its parts, at the weights of the solution; misfit enlarges the noise."""
        if self.flat < 2:
            return ExponentError(0.0, 0.0, 0.0, np.zeros(len(self.design)))
        return self._error_of(1)

    def constant_error(self) -> ExponentError:
        """Return the error of the logarithm of the prefactor, by its parts, where the exponent is fixed."""
        return self._error_of(0)

    def _error_of(self, unknown: int) -> ExponentError:
        sensitivity = response(self.design, self.weights, self.flat, unknown)
        seen = self.weights > 0  # a point whose weight underflows moves nothing
        noise = float(np.linalg.norm(sensitivity[seen] / self.weights[seen])) * self.inflation
        stderr = math.sqrt(self.covariance[unknown, unknown]) * self.inflation
        bias = self.family.largest_bias(self.sizes, sensitivity)
        return ExponentError(stderr, min(noise, stderr), bias, sensitivity)

    def stderr_with(self, factor: float) -> float:
        """Return the stderr of the exponent with ``factor`` times the draws, or with infinitely many."""
        if self.flat < 2:
            return 0.0
        weights = self.weights * math.sqrt(factor) if math.isfinite(factor) else np.full_like(self.weights, 1e14)
        return math.sqrt(covariance(self.design, weights, self.flat)[1, 1])

    def log_stderr_with(self, factor: float) -> float:
        """Return the relative stderr of the curve at the largest size with ``factor`` times the draws, or with infinitely many."""
        weights = self.weights * math.sqrt(factor) if math.isfinite(factor) else np.full_like(self.weights, 1e14)
        return math.sqrt(covariance(self.design, weights, self.flat)[0, 0])


def maximise(data: Data, sign: int, family: CorrectionFamily, fixed: float | None) -> tuple[System, float]:
    """Return the posterior mode with its curvature: the log-linear solution refined by Gauss-Newton on the values."""
    flat = 2 if fixed is None else 1
    first, last = math.exp(data.x.min()), math.exp(data.x.max())
    design = design_matrix(data.x, first, last, family, fixed is None)
    offset = np.zeros_like(data.x) if fixed is None else fixed * (data.x - math.log(last))
    theta, weights, spread, objective = descend(data, sign, design, offset, flat)
    return System(design, weights, theta, spread, flat, np.exp(data.x), last, first, family, fixed or 0.0), objective


def descend(data: Data, sign: int, design: Array, offset: Array, flat: int) -> tuple[Array, Array, Array, float]:
    """Return the mode of ``sign * exp(offset + design theta)``, the weights and the covariance there, and the minimum of chi2."""
    theta = _starting_point(data, sign, design, offset, flat)
    objective = _objective(data, sign, design @ theta + offset, theta[flat:])
    for _ in range(_STEPS):
        eta = design @ theta + offset
        weights = np.exp(np.minimum(eta - data.log_stderr, 300.0))
        residual = residuals(data, sign, eta)
        step = minimiser(design, eta - offset + residual, weights, flat) - theta
        for _ in range(30):
            trial = theta + step
            better = _objective(data, sign, design @ trial + offset, trial[flat:])
            if better <= objective * (1 + 1e-12):
                break
            step = 0.5 * step
        theta, gain, objective = trial, objective - better, better
        if gain <= 1e-9 * (1 + objective):
            break
    eta = design @ theta + offset
    weights = np.exp(np.minimum(eta - data.log_stderr, 300.0))
    return theta, weights, covariance(design, weights, flat), objective


def _starting_point(data: Data, sign: int, design: Array, offset: Array, flat: int) -> Array:
    usable = data.signs == sign
    relative = np.exp(np.minimum(np.where(usable, data.log_stderr - np.where(usable, data.log_size, 0.0), 0.0), 300.0))
    # E log(Q + noise) = log Q - relative^2/2 to second order, hence the shift; points deep in noise start with little weight.
    spread = np.sqrt(np.log1p(relative**2)) + relative**2
    target = np.where(usable, data.log_size, 0.0) + 0.5 * np.minimum(relative, 1.0) ** 2 - offset
    return minimiser(design[usable], target[usable], 1 / spread[usable], flat)


def residuals(data: Data, sign: int, eta: Array) -> Array:
    """Return (value - model) / model, accurate where it is tiny, for ``model = sign * exp(eta)``."""
    same = data.signs == sign
    with np.errstate(over="ignore"):
        ahead = np.expm1(np.minimum(np.where(same, data.log_size, -np.inf) - eta, 300.0))
        behind = -1.0 - np.exp(np.minimum(data.log_size - eta, 300.0))
    return np.where(same, ahead, np.where(data.signs == 0, -1.0, behind))


def _objective(data: Data, sign: int, eta: Array, corrections: Array) -> float:
    with np.errstate(over="ignore"):
        pulls = residuals(data, sign, eta) * np.exp(np.minimum(eta - data.log_stderr, 300.0))
        return float(pulls @ pulls + corrections @ corrections)
