"""fit_rate: the exponent of ``Q ~ A d**s`` with an interval that covers statistical error and corrections to scaling.

The model is ``Q_i = +-exp(a + s log d_i + sum_j B_j d_i**-w_j) + noise_i`` with the standard errors given, flat priors on a and s
and the priors of :mod:`theoryck.rates.corrections` on B.  On the logarithm it is linear and solved in closed form; a few
Gauss-Newton steps on the value itself then remove the bias of a logarithm of noisy data (of order (stderr/value)**2), and give
points under the noise floor, and points with the wrong sign, exactly the weight they deserve.  Nothing is clipped or dropped.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist

import numpy as np
import scipy.linalg
import scipy.special

from theoryck.rates.corrections import CorrectionFamily
from theoryck.rates.data import MIN_SIZES, Array, Data
from theoryck.rates.linear import design_matrix, solve
from theoryck.records import Interval

POOR_FIT = 0.01  # below this p-value larger corrections and larger errors are allowed for: chance alone falls there once in 100
GOOD_FIT = 0.25  # as far as the corrections are then enlarged
_STEPS = 40
_WIDENINGS = tuple(2 ** (step / 2) for step in range(1, 7))


@dataclass(frozen=True, slots=True)
class LocalSlope:
    """The slope of log Q between two neighbouring sizes, with its statistical error; None where a value has the wrong sign."""

    low: int | float
    high: int | float
    slope: float | None
    stderr: float | None


@dataclass(frozen=True)
class RateFit:
    """What :func:`fit_rate` found; ``reason`` is empty if the exponent is identifiable, else says why it is not.

    ``stderr`` is that of the exponent and contains corrections; ``constant`` is the prefactor A of ``A d**s`` (the fitted curve
    inside the window is :meth:`value_at`); ``sign`` is +1 or -1.
    """

    exponent: Interval
    constant: Interval
    stderr: float
    chi2: float
    dof: int
    p_value: float
    window: tuple[int, int]
    sign: int
    family: CorrectionFamily
    local_slopes: tuple[LocalSlope, ...] = ()
    flags: tuple[str, ...] = ()
    reason: str = ""
    system: _System | None = field(default=None, repr=False, compare=False)
    skewed: _Profile | None = field(default=None, repr=False, compare=False)
    explanations: tuple[RateFit, ...] = field(default=(), repr=False, compare=False)

    @property
    def identifiable(self) -> bool:
        """Whether the exponent has a finite interval."""
        return not self.reason

    def interval(self, level: float = 0.95) -> Interval:
        """Return the two-sided interval of the exponent at confidence ``level``."""
        tail = 0.5 - level / 2
        return Interval(self.exponent.estimate, self.lower(tail), self.upper(tail), level)

    def upper(self, error_rate: float) -> float:
        """Return the upper limit of the exponent that is too low with probability ``error_rate``."""
        return self._limit(error_rate, 1)

    def lower(self, error_rate: float) -> float:
        """Return the lower limit of the exponent that is too high with probability ``error_rate``."""
        return self._limit(error_rate, -1)

    def _limit(self, error_rate: float, side: int) -> float:
        if not self.identifiable:
            return side * math.inf
        if self.explanations:
            limits = [fit._limit(error_rate, side) for fit in self.explanations]
            return max(limits) if side > 0 else min(limits)
        z = _quantile(1 - error_rate)
        if self.skewed is None:
            return self.exponent.estimate + side * z * self.stderr
        return self.skewed.limit(self.exponent.estimate, self.stderr, z, side)

    def stderr_with(self, factor: float) -> float:
        """Return the stderr of the exponent if every size had ``factor`` times the draws; ``math.inf`` leaves corrections alone."""
        if self.system is None or not self.identifiable:
            return math.inf
        if self.explanations:
            return max(fit.stderr_with(factor) for fit in self.explanations)
        return self.system.stderr_with(factor) * self.system.inflation

    def value_at(self, size: float, level: float = 0.95) -> Interval:
        """Return the fitted curve at ``size``, with its interval."""
        if self.system is None or not self.identifiable:
            return Interval(math.nan, -math.inf, math.inf, level)
        centre, spread = self.system.predict(size)
        return _signed(self.sign, centre, _quantile(0.5 + level / 2) * spread, level)


@dataclass(frozen=True)
class _System:
    """The weighted linear system at the solution: unknowns (a, s, b_1, ...), b_j with prior N(0, 1)."""

    design: Array  # (points, unknowns)
    weights: Array  # 1 / relative error
    theta: Array
    covariance: Array
    flat: int  # number of unknowns without a prior
    last: float
    first: float
    family: CorrectionFamily
    fixed: float  # the exponent, if it is not an unknown, else 0
    inflation: float = 1.0

    def row(self, size: float) -> Array:
        return design_matrix(np.array([math.log(size)]), self.first, self.last, self.family, self.flat == 2)[0]

    def predict(self, size: float) -> tuple[float, float]:
        row = self.row(size)
        centre = float(row @ self.theta) + self.fixed * math.log(size / self.last)
        return centre, math.sqrt(max(float(row @ self.covariance @ row), 0.0)) * self.inflation

    def stderr_with(self, factor: float) -> float:
        if self.flat < 2:
            return 0.0
        weights = self.weights * math.sqrt(factor) if math.isfinite(factor) else np.full_like(self.weights, 1e14)
        _, covariance, _ = solve(self.design, np.zeros(len(self.design)), weights, self.flat)
        return math.sqrt(covariance[1, 1])


@dataclass(frozen=True)
class _Profile:
    """Limits by the profile of chi2, for data with points in the noise, where the posterior of the exponent is skewed."""

    data: Data
    sign: int
    family: CorrectionFamily
    chi2: float
    inflation: float

    def limit(self, estimate: float, stderr: float, z: float, side: int) -> float:
        """Return where chi2, minimised over everything else, has risen by ``z**2``; infinite if it never does."""
        if z < 0:
            return self.limit(estimate, stderr, -z, -side)
        inner, below, outer, step = 0.0, -z, z * stderr, z * stderr
        while (above := self._root_rise(estimate + side * outer) - z) < 0:
            inner, below, outer = outer, above, 2 * outer
            if outer > 64 * step:
                return side * math.inf
        # The root of the rise is nearly linear in the exponent, so false position (Illinois) needs two or three steps.
        for _ in range(20):
            secant = (inner * above - outer * below) / (above - below) if math.isfinite(above) else math.nan
            middle = secant if inner < secant < outer else 0.5 * (inner + outer)
            value = self._root_rise(estimate + side * middle) - z
            if abs(value) < 1e-3 * z:
                return estimate + side * middle
            if value > 0:
                outer, above, below = middle, value, 0.5 * below
            else:
                inner, below, above = middle, value, 0.5 * above
        return estimate + side * outer

    def _root_rise(self, exponent: float) -> float:
        rise = _maximise(self.data, self.sign, self.family, exponent)[1] - self.chi2
        return math.sqrt(max(rise, 0.0)) / self.inflation  # below 0 by rounding only


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
) -> RateFit:
    """Fit ``Q = A d**s (1 + corrections)`` to values with standard errors and return s with an honest interval.

    ``sizes``, ``values`` and ``stderrs`` have one entry per measurement, in any order; a stderr of 0 means exact.  ``correction``
    declares the relative power of the next term, ``amplitude`` its size (see :mod:`theoryck.rates.corrections`), ``exponent``
    fixes s and leaves the constant to be fitted.  With ``log_values`` the values are log Q (for Q beyond the range of floats) and
    the stderrs relative ones.  ``trusted`` says that the stderrs cannot be too small, so that misfit means larger corrections.
    With fewer than three sizes, a change of sign or nothing above the noise the interval is infinite
    and ``reason`` says why.  Raises ValueError, naming the entry, on sizes that are not positive, NaN, infinite values, and
    negative stderrs.

    >>> sizes = [16, 32, 64, 128, 256]
    >>> fit = fit_rate(sizes, [3 * d**-0.5 for d in sizes], [0.0] * 5, correction=1)
    >>> round(fit.exponent.estimate, 4), fit.flags
    (-0.5, ())
    """
    if not 0 < level < 1:
        raise ValueError(f"level must lie strictly between 0 and 1, got {level!r}")
    data = Data.read(sizes, values, stderrs, log_values)
    options = _Options(correction, amplitude, exponent, level, trusted)
    sign, reason = data.sign()
    distinct = len(np.unique(data.x))
    if distinct < MIN_SIZES:
        reason = f"{distinct} sizes cannot show an exponent together with its corrections: measure at least {MIN_SIZES}, better 6"
    if reason:
        nothing, family = Interval(math.nan, -math.inf, math.inf, level), options.family(data)
        fit = RateFit(nothing, nothing, math.inf, math.nan, 0, math.nan, data.window, sign, family, reason=reason)
    else:
        fit = _attempt(data, sign, options)
        if fit.p_value < POOR_FIT:
            fit = _reconcile(data, sign, options, fit)
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
    system, chi2 = _maximise(data, sign, family, options.exponent)
    dof = len(data.x) - system.flat
    if birge and chi2 > dof:
        system = replace(system, inflation=math.sqrt(chi2 / dof))
    exponent, constant, stderr = _estimates(system, sign, options)
    p_value = float(scipy.special.chdtrc(dof, chi2))
    fit = RateFit(exponent, constant, stderr, chi2, dof, p_value, data.window, sign, family, system=system)
    if options.exponent is None and data.below.any():
        fit = replace(fit, skewed=_Profile(data, sign, family, chi2, system.inflation))
        fit = replace(fit, exponent=fit.interval(options.level))
    return fit


def _reconcile(data: Data, sign: int, options: _Options, first: RateFit) -> RateFit:
    """Allow for both explanations of data that contradict the model: larger corrections, and larger errors than were given.

    The first is right for high moments at small sizes, the second for underestimated errors or an oscillation; the data cannot
    tell which, so the interval is the hull of the two, unless the errors are trusted and larger corrections do explain the data.
    """
    for widening in _WIDENINGS:
        larger = _attempt(data, sign, options, widening, birge=True)
        if larger.p_value >= GOOD_FIT:
            break
    if options.trusted and larger.p_value >= POOR_FIT:
        return replace(larger, flags=(f"corrections {widening:.2g} times larger than assumed",))
    noisier, noise = first, data
    while noisier.p_value < POOR_FIT:
        factor = max(noisier.chi2 / noisier.dof, 1.5)
        noise = replace(noise, log_stderr=noise.log_stderr + 0.5 * math.log(factor))
        noisier = _attempt(noise, sign, options)
    both = (larger, noisier)
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


def _estimates(system: _System, sign: int, options: _Options) -> tuple[Interval, Interval, float]:
    """Return the intervals of exponent and constant, and the stderr of the exponent."""
    level, reach = options.level, _quantile(0.5 + options.level / 2)
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
    return exponent, _signed(sign, centre, reach * spread, level), stderr


def _maximise(data: Data, sign: int, family: CorrectionFamily, fixed: float | None) -> tuple[_System, float]:
    """Return the posterior mode with its curvature: the log-linear solution refined by Gauss-Newton on the values."""
    flat = 2 if fixed is None else 1
    first, last = math.exp(data.x.min()), math.exp(data.x.max())
    design = design_matrix(data.x, first, last, family, fixed is None)
    offset = np.zeros_like(data.x) if fixed is None else fixed * (data.x - math.log(last))
    theta = _starting_point(data, sign, design, offset, flat)
    objective = _objective(data, sign, design @ theta + offset, theta[flat:])
    covariance = np.zeros((design.shape[1], design.shape[1]))
    for _ in range(_STEPS):
        eta = design @ theta + offset
        weights = np.exp(np.minimum(eta - data.log_stderr, 600.0))
        residual = _relative_residual(data, sign, eta)
        proposal, covariance, _ = solve(design, eta - offset + residual, weights, flat)
        step = proposal - theta
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
    weights = np.exp(np.minimum(eta - data.log_stderr, 600.0))
    _, covariance, _ = solve(design, eta, weights, flat)
    return _System(design, weights, theta, covariance, flat, last, first, family, fixed or 0.0), objective


def _starting_point(data: Data, sign: int, design: Array, offset: Array, flat: int) -> Array:
    usable = data.signs == sign
    relative = np.exp(data.log_stderr - np.where(usable, data.log_size, 0.0))
    # E log(Q + noise) = log Q - relative^2/2 to second order, hence the shift; points deep in noise start with little weight.
    spread = np.sqrt(np.log1p(relative**2)) + relative**2
    target = np.where(usable, data.log_size, 0.0) + 0.5 * np.minimum(relative, 1.0) ** 2 - offset
    theta, _, _ = solve(design[usable], target[usable], 1 / spread[usable], flat)
    return theta


def _relative_residual(data: Data, sign: int, eta: Array) -> Array:
    """(value - model) / model, accurate where it is tiny."""
    same = data.signs == sign
    with np.errstate(over="ignore"):
        ahead = np.expm1(np.minimum(np.where(same, data.log_size, -np.inf) - eta, 300.0))
        behind = -1.0 - np.exp(np.minimum(data.log_size - eta, 300.0))
    return np.where(same, ahead, np.where(data.signs == 0, -1.0, behind))


def _objective(data: Data, sign: int, eta: Array, corrections: Array) -> float:
    with np.errstate(over="ignore"):
        pulls = _relative_residual(data, sign, eta) * np.exp(np.minimum(eta - data.log_stderr, 300.0))
        return float(pulls @ pulls + corrections @ corrections)


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


def _signed(sign: int, centre: float, reach: float, level: float) -> Interval:
    values = [_exp(centre + shift) for shift in (0.0, -reach, reach)]
    if sign < 0:
        return Interval(-values[0], -values[2], -values[1], level)
    return Interval(values[0], values[1], values[2], level)


def _exp(value: float) -> float:
    return math.exp(value) if value < 709.0 else math.inf


def _quantile(probability: float) -> float:
    return NormalDist().inv_cdf(probability)
