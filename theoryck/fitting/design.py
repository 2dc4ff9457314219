"""What an experiment will know before it is run: the stderr of the exponent for given sizes and relative errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from theoryck.fitting.corrections import CorrectionFamily
from theoryck.fitting.data import MIN_SIZES, Array, require, vector
from theoryck.fitting.linear import design_matrix, response, solve


@dataclass(frozen=True)
class ExponentError:
    """The error of an exponent in its parts: ``stderr**2 = noise**2 + corrections**2``.

    The estimate is linear in log Q, ``s = sum_i g_i log Q_i`` with g the ``sensitivity``: over repetitions it scatters by ``noise``
    around the truth plus a bias, which is at most ``bias`` for any truth of the correction family.
    """

    stderr: float
    noise: float
    bias: float
    sensitivity: Array

    @property
    def corrections(self) -> float:
        """What no number of draws removes from the stderr."""
        return math.sqrt(max(self.stderr**2 - self.noise**2, 0.0))  # below 0 by rounding only

    def decision_reach(self, error_rate: float) -> float:
        """Return how far beyond the estimate a one-sided limit lies that no truth of the family exceeds more often than this.

        ``max(z stderr, z noise + bias)``: for a truth of bias b the estimate is N(s + b, noise**2), so the second alone suffices;
        with the first it never lies inside the interval that is shown.
        """
        z = NormalDist().inv_cdf(1 - error_rate)
        return max(z * self.stderr, z * self.noise + self.bias)


def exponent_error(
    sizes: Sequence[float], relative_errors: Sequence[float], *, correction: float | None = None, amplitude: float | None = None
) -> ExponentError:
    """Return the error of the exponent, by its parts, for given sizes and relative errors.

    Everything is infinite, and the sensitivity 0, for fewer than three distinct sizes.  Raises ValueError as
    :func:`exponent_stderr` does.

    >>> error = exponent_error([16, 32, 64, 128, 256, 512, 1024], [0.01] * 7)
    >>> error.noise < error.stderr < error.decision_reach(0.025) / 1.96
    True
    """
    stderr, sensitivity = exponent_stderr(sizes, relative_errors, correction=correction, amplitude=amplitude)
    if math.isinf(stderr):
        return ExponentError(math.inf, math.inf, math.inf, sensitivity)
    d, relative = vector("sizes", sizes), vector("relative_errors", relative_errors)
    family = CorrectionFamily.choose(float(d.min()), correction, amplitude, float(relative.min()))
    noise = float(np.linalg.norm(sensitivity * relative))
    return ExponentError(stderr, min(noise, stderr), family.largest_bias(d, sensitivity), sensitivity)


def exponent_stderr(
    sizes: Sequence[float], relative_errors: Sequence[float], *, correction: float | None = None, amplitude: float | None = None
) -> tuple[float, Array]:
    """Return the stderr of the exponent, corrections included, and its sensitivity to the logarithm of each value.

    The estimate is linear in log Q, ``s = sum_i g_i log Q_i``: the second result is g.  The stderr is infinite for fewer than three
    distinct sizes.  Raises ValueError on sizes or errors that are not positive.

    >>> stderr, g = exponent_stderr([16, 64, 256], [0.01, 0.01, 0.01], correction=1)
    >>> 0.01 < stderr < 0.5, abs(float(g.sum())) < 1e-6
    (True, True)
    """
    d, relative = vector("sizes", sizes), vector("relative_errors", relative_errors)
    if len(d) != len(relative):
        raise ValueError(f"sizes and relative_errors must have the same length, got {len(d)} and {len(relative)}")
    require(d > 0, "sizes", d, "must be positive")
    require(relative > 0, "relative_errors", relative, "must be positive")
    if len(np.unique(d)) < MIN_SIZES:
        return math.inf, np.zeros_like(d)
    family = CorrectionFamily.choose(float(d.min()), correction, amplitude, float(relative.min()))
    design = design_matrix(np.log(d), float(d.min()), float(d.max()), family, True)
    _, covariance, _ = solve(design, np.zeros_like(d), 1 / relative, 2)
    return math.sqrt(covariance[1, 1]), response(design, 1 / relative, 2, 1)
