"""fit_rate: the exponent of ``Q ~ A d**s`` with an interval that covers statistical error and corrections to scaling.

The model is ``Q_i = +-exp(a + s log d_i + sum_j B_j d_i**-w_j) + noise_i`` with the standard errors given, flat priors on a and s
and the priors of :mod:`theoryck.fitting.corrections` on B.  On the logarithm it is linear and solved in closed form; a few
Gauss-Newton steps on the value itself then remove the bias of a logarithm of noisy data (of order (stderr/value)**2), and give
points under the noise floor, and points with the wrong sign, exactly the weight they deserve.  Nothing is clipped or dropped.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.special

from theoryck.fitting.corrections import CorrectionFamily
from theoryck.fitting.data import MIN_SIZES, Data
from theoryck.fitting.optimise import System, maximise
from theoryck.fitting.result import LocalSlope, Profile, RateFit, quantile, signed
from theoryck.records import Interval

__all__ = ["GOOD_FIT", "POOR_FIT", "LocalSlope", "RateFit", "fit_rate"]

POOR_FIT = 0.01  # below this p-value larger corrections and larger errors are allowed for: chance alone falls there once in 100
GOOD_FIT = 0.25  # as far as the corrections are then enlarged
WIDENINGS = tuple(2 ** (step / 2) for step in range(1, 7))


def fit_rate(
    sizes: Sequence[float],
    values: Sequence[float],
    stderrs: Sequence[float],
    *,
    correction: float | None = None,
    amplitude: float | None = None,
    level: float = 0.95,
    exponent: float | None = None,
    log_values: bool = False,
    trusted: bool = False,
    shown: Sequence[str] = (),
) -> RateFit:
    """Fit ``Q = A d**s (1 + corrections)`` to values with standard errors and return s with an honest interval.

    ``sizes``, ``values`` and ``stderrs`` have one entry per measurement, in any order; a stderr of 0 means exact.
    ``correction`` declares the relative power of the next term, ``amplitude`` its size (see
    :mod:`theoryck.fitting.corrections`), ``exponent`` fixes s and leaves the constant to be fitted.  With ``log_values`` the
    values are log Q (for Q beyond the range of floats) and the stderrs relative ones.  ``trusted`` says that the stderrs cannot
    be too small, so that misfit means larger corrections; ``shown`` are the sizes as messages write them.  With fewer than three
    sizes, a change of sign or nothing above the noise the interval is infinite and ``reason`` says why.  Raises ValueError, naming
    the entry, on sizes that are not positive, NaN, infinite values, and negative stderrs.

    >>> sizes = [16, 32, 64, 128, 256]
    >>> fit = fit_rate(sizes, [3 * d**-0.5 for d in sizes], [0.0] * 5, correction=1)
    >>> round(fit.exponent.estimate, 4), fit.flags
    (-0.5, ())
    """
    if not 0 < level < 1:
        raise ValueError(f"level must lie strictly between 0 and 1, got {level!r}")
    data = Data.read(sizes, values, stderrs, log_values, shown)
    options = _Options(correction, amplitude, exponent, level, trusted)
    sign, reason = data.sign()
    distinct = len(np.unique(data.x))
    if distinct < MIN_SIZES:
        counted = f"{distinct} size{'s' * (distinct != 1)}"
        reason = f"{counted} cannot show an exponent together with its corrections: measure at least {MIN_SIZES}, better 6"
    if reason:
        nothing, family = Interval(math.nan, -math.inf, math.inf, level), options.family(data)
        fit = RateFit(nothing, nothing, math.inf, math.nan, 0, math.nan, data.window, sign, family, reason=reason)
    else:
        fit = _attempt(data, sign, options)
        fit = _with_profile(fit, data, options) if fit.p_value >= POOR_FIT else _reconcile(data, sign, options, fit)
    return replace(fit, local_slopes=_local_slopes(data), flags=(*data.flags(), *fit.flags))


@dataclass(frozen=True)
class _Options:
    """What the caller declared."""

    correction: float | None
    amplitude: float | None
    exponent: float | None
    level: float
    trusted: bool

    def family(self, data: Data, widening: float = 1.0) -> CorrectionFamily:
        return CorrectionFamily.choose(math.exp(data.x.min()), self.correction, self.amplitude, data.noise, widening)


def _attempt(data: Data, sign: int, options: _Options, widening: float = 1.0, birge: bool = False) -> RateFit:
    """Fit with the family widened; with ``birge`` what misfit is left multiplies the error by sqrt(chi2/dof)."""
    family = options.family(data, widening)
    data = data.no_more_exact_than(family.size)
    system, chi2 = maximise(data, sign, family, options.exponent)
    dof = len(data.x) - system.flat
    if birge and chi2 > dof:
        system = replace(system, inflation=math.sqrt(chi2 / dof))
    exponent, constant, stderr = _estimates(system, sign, options)
    p_value = float(scipy.special.chdtrc(dof, chi2))
    return RateFit(exponent, constant, stderr, chi2, dof, p_value, data.window, sign, family, system=system)


def _with_profile(fit: RateFit, data: Data, options: _Options) -> RateFit:
    """Return the fit with limits by the profile of chi2 where points lie in the noise: it costs dozens of fits."""
    if options.exponent is not None or not data.below.any() or fit.system is None:
        return fit
    seen = data.no_more_exact_than(fit.family.size)
    fit = replace(fit, skewed=Profile(seen, fit.sign, fit.family, fit.chi2, fit.system.inflation))
    return replace(fit, exponent=fit.interval(options.level))


def _reconcile(data: Data, sign: int, options: _Options, first: RateFit) -> RateFit:
    """Allow for both explanations of data that contradict the model: larger corrections, and larger errors than were given.

    The first is right for high moments at small sizes, the second for underestimated errors or an oscillation; the data cannot
    tell which, so the interval is the hull of the two, unless the errors are trusted and larger corrections do explain the data.
    """
    for widening in WIDENINGS:
        larger = _attempt(data, sign, options, widening, birge=True)
        if larger.p_value >= GOOD_FIT:
            break
    if options.trusted and larger.p_value >= POOR_FIT:
        larger = _with_profile(larger, data, options)
        return replace(larger, flags=(f"corrections {widening:.2g} times larger than assumed",))
    noisier, noise = first, data
    while noisier.p_value < POOR_FIT:
        factor = max(noisier.chi2 / noisier.dof, 1.5)
        noise = replace(noise, log_stderr=noise.log_stderr + 0.5 * math.log(factor))
        noisier = _attempt(noise, sign, options)
    both = (_with_profile(larger, data, options), _with_profile(noisier, noise, options))
    best = min(both, key=lambda fit: fit.stderr)
    low, high = (min(fit.constant.low for fit in both), max(fit.constant.high for fit in both))
    fit = replace(
        best,
        constant=Interval(best.constant.estimate, low, high, options.level),
        stderr=max(fit.stderr for fit in both),
        chi2=first.chi2,
        p_value=first.p_value,
        flags=("poor-fit",),
        explanations=both,
    )
    return replace(fit, exponent=fit.interval(options.level))


def _estimates(system: System, sign: int, options: _Options) -> tuple[Interval, Interval, float]:
    """Return the intervals of exponent and constant, and the stderr of the exponent."""
    level, reach = options.level, quantile(0.5 + options.level / 2)
    shift = -math.log(system.last)  # the design is centred at the largest size: log A = a - s log d_last
    if options.exponent is None:
        estimate, offset = float(system.theta[1]), 0.0
        stderr = math.sqrt(system.covariance[1, 1]) * system.inflation
        row = np.array([1.0, shift])
    else:
        estimate, offset, stderr = options.exponent, options.exponent * shift, 0.0
        row = np.array([1.0])
    spread = math.sqrt(max(float(row @ system.covariance[: len(row), : len(row)] @ row), 0.0)) * system.inflation
    centre = float(row @ system.theta[: len(row)]) + offset
    exponent = Interval(estimate, estimate - reach * stderr, estimate + reach * stderr, level)
    return exponent, signed(sign, centre, reach * spread, level), stderr


def _local_slopes(data: Data) -> tuple[LocalSlope, ...]:
    slopes = []
    for i, j in itertools.pairwise(range(len(data.x))):
        gap = data.x[j] - data.x[i]
        if gap == 0:
            continue
        low, high = (int(size) if float(size).is_integer() else float(size) for size in np.round(np.exp(data.x[[i, j]]), 6))
        if data.signs[i] * data.signs[j] <= 0:
            slopes.append(LocalSlope(low, high, None, None))
            continue
        relative = np.exp(data.log_stderr[[i, j]] - data.log_size[[i, j]])
        slopes.append(LocalSlope(low, high, float((data.log_size[j] - data.log_size[i]) / gap), float(math.hypot(*relative) / gap)))
    return tuple(slopes)
