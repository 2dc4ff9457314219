"""Errors of values that approach a limit, from their scatter about the approach: of values without any, and of stated ones."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import scipy.special

from theoryck.fitting.approach import ANY, Approach, fit_approach
from theoryck.fitting.scan import RESOLVED, Axes
from theoryck.fitting.scatter import Enlargement, factors_of_errors

FACTOR_STEP = 0.2  # of the logarithm of a factor in the errors
LEAST_SWINGS = 4  # differences that alternate and shrink, all of them


def scatter_about_approach(
    sizes: Sequence[float],
    values: Sequence[float],
    approach: Approach = ANY,
    *,
    slow: bool = False,
) -> float:
    """Return the standard error of each value, one for all, that makes chi2 of :func:`fit_approach` its degrees of freedom.

    It is 0 where an approach explains the values to the arithmetic, and where they have no fit.  Arguments and errors are those of
    :func:`fit_approach`.

    >>> values = [1.502, 1.199, 1.108, 1.051, 1.023, 1.016, 1.004]  # 1 + 1/n, at errors of about 0.005
    >>> 0.001 < scatter_about_approach([2, 5, 10, 20, 40, 80, 160], values, Approach(correction=1)) < 0.01
    True
    """

    def misfit(error: float) -> float:
        """Return chi2 over its degrees of freedom if all errors were this: infinite where values turn by more than that."""
        fit = fit_approach(sizes, values, [error] * len(values), approach, slow=slow)
        return math.inf if fit.reason else fit.chi2 / fit.dof

    steps = np.diff(np.asarray(values, dtype=float)[np.argsort(np.asarray(sizes, dtype=float), kind="stable")])
    # Values that overshoot less and less are no scatter: noise looks like that in fewer than 1 table of 1e3.
    if len(steps) >= LEAST_SWINGS and (np.sign(steps[1:]) == -np.sign(steps[:-1])).all() and (np.diff(np.abs(steps)) < 0).all():
        return 0.0
    high = float(np.ptp(values))
    least = RESOLVED * max(high, *(abs(value) for value in values))
    if high <= least or misfit(high) > 1:
        return 0.0
    low = high
    while misfit(low) <= 1:
        high, low = low, low / 3
        if low < least:
            return 0.0
    while high > 1.05 * low:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if misfit(middle) > 1 else (low, middle)
    return high


def enlargement_about_approach(
    sizes: Sequence[float],
    values: Sequence[float],
    stderrs: Sequence[float],
    approach: Approach = ANY,
    *,
    slow: bool = False,
) -> Enlargement:
    """Return how many times larger than stated errors may be, by their scatter about the approach, and how likely that makes it.

    The factors and their prior are those of :class:`theoryck.fitting.scatter.Enlargement`; given one, the limit has the interval
    of :func:`fit_approach`, and the data the density of its best fit.  With ``slow`` there need be no limit: what is in question
    then is known to the errors of the values.  Arguments and errors are those of :func:`fit_approach`.

    >>> sizes, scatter = [16, 32, 64, 128, 256, 512, 1024], [0.02, 0.01, -0.02, 0.03, -0.01, -0.02, 0.02]
    >>> noisy = [2 + 1 / d + error for d, error in zip(sizes, scatter)]
    >>> right, small = (enlargement_about_approach(sizes, noisy, [stderr] * 7).at(0.025) for stderr in (0.02, 0.008))
    >>> right < 2 < small
    True
    """
    fit = fit_approach(sizes, values, stderrs, approach, slow=slow)
    if fit.setting_as_stated is None or fit.scan_as_stated is None:
        one = np.ones(1)
        return Enlargement(one, one, one, one)
    errors = fit.setting_as_stated.errors
    scale = float(np.abs(fit.setting_as_stated.values).max())
    factors, prior = factors_of_errors(max(10 * scale / float(errors.min()), 20.0), FACTOR_STEP)
    found, axes = [], Axes.of(fit.setting_as_stated, fit.scan_as_stated.cells)
    for factor in factors:
        scan = axes.scan(factor)
        low, high = (-factor, factor) if slow else scan.ends(1.0)
        # The charge is log det of what corrections add to the noise; L and A are free, and the noise is that of the other values.
        likelihood = -0.5 * float((scan.chi2 + scan.charge).min()) - fit.dof * math.log(factor)
        found.append((0.5 * (low + high), 0.5 * (high - low), likelihood))
    centres, reaches, likelihoods = np.array(found).T
    weights, evidence = prior * np.exp(likelihoods - likelihoods.max()), float(scipy.special.logsumexp(likelihoods, b=prior))
    return Enlargement(factors, centres, reaches, weights / weights.sum(), evidence)
