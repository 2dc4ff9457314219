"""What an experiment will know before it is run: the stderr of the exponent for given sizes and relative errors."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from theoryck.rates.corrections import CorrectionFamily
from theoryck.rates.data import MIN_SIZES, Array, require, vector
from theoryck.rates.linear import design_matrix, solve


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
    sensitivity = covariance[1] @ (design / relative[:, None] ** 2).T
    return math.sqrt(covariance[1, 1]), np.asarray(sensitivity, dtype=float)
