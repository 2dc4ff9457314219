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
from dataclasses import dataclass, field, replace

import numpy as np
import scipy.special

from theoryck.fitting.corrections import CorrectionFamily
from theoryck.fitting.data import MIN_SIZES, Array, Data
from theoryck.fitting.optimise import System, maximise, residuals
from theoryck.fitting.result import LocalSlope, Profile, RateFit, quantile, signed
from theoryck.fitting.scatter import LARGEST_RELATIVE, Enlargement, Roughness
from theoryck.records import Interval

__all__ = ["GOOD_FIT", "POOR_FIT", "LocalSlope", "RateFit", "fit_rate"]

POOR_FIT = 0.01  # below this p-value larger corrections and larger errors are allowed for: chance alone falls there once in 100
GOOD_FIT = 0.25  # as far as the corrections are then enlarged
EXACT = 1e-9  # relative errors below which values were computed, not measured
CALM = 0.005  # the largest error rate at which errors are taken: few values look calmer than they are, and those are decided
POOR = "poor-fit"
ENLARGED = "stated errors enlarged"
NOT_ASYMPTOTIC = "not yet asymptotic"
SCATTERED = "the values scatter by"
SURE = 3.0  # standard errors beyond which a change of slopes is none of digits
SHRINKING = (
    0.75  # from one change of slopes to the next, of corrections that a window sees die out: d**-1/2 gives 0.71 at doubled sizes
)
TELLING = 100.0  # how many times as likely as the other an explanation must be to stand alone
WORTH_SAYING = 1.1  # of a factor in the errors
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
    stated: bool = False,
    computed: bool = False,
) -> RateFit:
    """Fit ``Q = A d**s (1 + corrections)`` to values with standard errors and return s with an honest interval.

    ``sizes``, ``values`` and ``stderrs`` have one entry per measurement, in any order; a stderr of 0 means exact.
    ``correction`` declares the relative power of the next term, ``amplitude`` its size (see
    :mod:`theoryck.fitting.corrections`), ``exponent`` fixes s and leaves the constant to be fitted.  With ``log_values`` the
    values are log Q (for Q beyond the range of floats) and the stderrs relative ones.  ``trusted`` says that the stderrs cannot
    be too small, so that misfit means larger corrections; ``stated`` that somebody stated them, so that all may be too small by
    one factor, as far as the scatter about the fit allows (:class:`theoryck.fitting.scatter.Enlargement`); ``computed`` that they
    are printed digits alone, so that misfit means larger corrections or a scatter from mesh to mesh; ``shown`` are the sizes as
    messages write them.  With fewer than three sizes, a change of sign or nothing above the noise the interval is
    infinite and ``reason`` says why.  Raises ValueError, naming the entry, on sizes that are not positive, NaN, infinite values,
    and negative stderrs.

    >>> sizes = [16, 32, 64, 128, 256]
    >>> fit = fit_rate(sizes, [3 * d**-0.5 for d in sizes], [0.0] * 5, correction=1)
    >>> round(fit.exponent.estimate, 4), fit.flags
    (-0.5, ())
    """
    if not 0 < level < 1:
        raise ValueError(f"level must lie strictly between 0 and 1, got {level!r}")
    data = Data.read(sizes, values, stderrs, log_values, shown)
    stated = stated and bool((data.log_stderr > data.log_size + math.log(EXACT)).any())
    options = _Options(correction, amplitude, exponent, level, trusted and not stated)
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
        computed = computed and not stated and exponent is None
        if computed:
            fit = _computed(data, sign, options, fit)
        elif fit.p_value < POOR_FIT:
            fit = _reconcile(data, sign, options, fit, stated)
        elif stated:
            fit = _Wider.of(data, sign, options, 1.0, fit).shown(fit)
        else:
            fit = _with_profile(fit, data, options)
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


def enlarged_flag(factor: float) -> str:
    """Say that stated errors were taken ``factor`` times as large."""
    return f"{ENLARGED} {factor:.2g} times"


@dataclass(frozen=True)
class _Wider:
    """Fits with stated errors enlarged as limits at an error rate need it: the smaller the rate, the more."""

    data: Data
    sign: int
    options: _Options
    widening: float
    enlargement: Enlargement
    found: dict[float, RateFit] = field(default_factory=dict)
    factors: dict[float, float] = field(default_factory=dict)

    @classmethod
    def of(cls, data: Data, sign: int, options: _Options, widening: float, first: RateFit) -> _Wider:
        """Take from the first fit how large the errors may be."""
        system = first.system
        assert system is not None
        # At its solution the fit is linear in the logarithms: what is left of them are the relative residuals over 1/weights.
        target = system.design @ system.theta + residuals(data, sign, system.curve(np.exp(data.x))[0])
        seen = system.weights > 0
        rows = system.design[seen], 1 / system.weights[seen], target[seen]
        return cls(data, sign, options, widening, Enlargement.of(*rows, system.flat))

    def __call__(self, error_rate: float) -> RateFit:
        # Verdicts are given to tables that look calm: at 2.5% a tenth of the intervals beside one missed where errors were half of
        # what they should be (5 and 7 sizes), at CALM a twentieth, and honest errors hardly notice.
        rate = min(error_rate, 1 - error_rate, CALM)
        factor = self.factors[rate] = self.factors.get(rate) or self.enlargement.at(rate)
        if factor not in self.found:
            noise = replace(self.data, log_stderr=self.data.log_stderr + math.log(factor))
            fit = _with_profile(_attempt(noise, self.sign, self.options, self.widening), noise, self.options)
            self.found[factor] = replace(fit, factor=factor)
        return self.found[factor]

    def _clear(self, factor: float) -> int:
        """Return at how many sizes values stand well above errors that are so many times larger."""
        clear = self.data.log_stderr + math.log(factor) <= self.data.log_size + math.log(LARGEST_RELATIVE)
        return len(np.unique(self.data.x[clear]))

    def shown(self, first: RateFit) -> RateFit:
        """Return the fit at the level shown, whose limits at other error rates have errors of their own."""
        fit = self(0.5 - self.options.level / 2)
        if self._clear(fit.factor) < MIN_SIZES <= self._clear(1.0):
            reason = (
                f"the values scatter about the fit as errors {fit.factor:.2g} times those stated would make them: fewer than "
                f"{MIN_SIZES} sizes have values known to {LARGEST_RELATIVE:.0%}; measure more sizes, or give errors that hold"
            )
            nothing = Interval(math.nan, -math.inf, math.inf, self.options.level)
            return replace(
                first, exponent=nothing, constant=nothing, stderr=math.inf, system=None, reason=reason, factor=fit.factor
            )
        flags = (enlarged_flag(fit.factor),) if fit.factor >= WORTH_SAYING else ()
        fit = replace(fit, chi2=first.chi2, p_value=first.p_value, wider=self, flags=flags)
        return replace(fit, exponent=fit.interval(self.options.level))


def _reconcile(data: Data, sign: int, options: _Options, first: RateFit, stated: bool) -> RateFit:
    """Allow for both explanations of data that contradict the model: larger corrections, and larger errors than were given.

    The first is right for high moments at small sizes, the second for underestimated errors or an oscillation; as a rule the data
    cannot tell which, so the interval is the hull of the two, unless the errors are trusted and larger corrections do explain the
    data, or were stated and one explanation is :data:`TELLING` times as likely as the other.
    """
    for widening in WIDENINGS:
        larger = _attempt(data, sign, options, widening, birge=True)
        if larger.p_value >= GOOD_FIT:
            break
    flag = f"corrections {widening:.2g} times larger than assumed"
    if options.trusted and larger.p_value >= POOR_FIT:
        return replace(_with_profile(larger, data, options), flags=(flag,))
    if not stated:
        return _hull(first, (_with_profile(larger, data, options), _noisier(data, sign, options)), options)
    wider, curved = _Wider.of(data, sign, options, 1.0, first), _Wider.of(data, sign, options, widening, larger)
    gain = curved.enlargement.evidence_as_stated - wider.enlargement.evidence
    if gain > math.log(TELLING):
        fit = curved.shown(first)
        return replace(fit, flags=(flag, *fit.flags))
    if gain < -math.log(TELLING):
        fit = wider.shown(first)
        return replace(fit, flags=(POOR, *fit.flags))
    return _hull(first, (curved.shown(first), wider.shown(first)), options)


def _computed(data: Data, sign: int, options: _Options, first: RateFit) -> RateFit:
    """Allow for what values without noise may have beside the corrections assumed: larger ones, or scatter between meshes.

    One explanation that is :data:`TELLING` times as likely as the other stands alone; else the interval is the hull of the two.
    Slopes that move one way from size to size, by more than the corrections assumed, are corrections, of which the end is not seen.
    """
    poor = first.p_value < POOR_FIT
    if poor and _one_way(data):
        return _larger(data, sign, options)
    sizes = [2.0**-step for step in range(9)] if options.amplitude is not None else [1.0]
    families = [replace(options, amplitude=options.amplitude and share * options.amplitude).family(data) for share in sizes]
    families += [options.family(data, widening) for widening in WIDENINGS]
    rough = Roughness.of(data, families)
    scattered = _scattered(data, sign, options, rough.noise) if rough.evidence > 0 else first
    if rough.evidence > math.log(TELLING):
        return scattered
    smooth = _larger(data, sign, options) if poor else _with_profile(first, data, options)
    if rough.evidence <= 0:
        return smooth
    fit = _hull(first, (smooth, scattered), options)
    return fit if fit.reason else replace(fit, flags=(*smooth.flags, *scattered.flags))


def _larger(data: Data, sign: int, options: _Options) -> RateFit:
    """Allow for larger corrections, and for slopes that go on to move as they do."""
    for widening in WIDENINGS:
        larger = _attempt(data, sign, options, widening, birge=True)
        if larger.p_value >= GOOD_FIT:
            break
    flag, reach = f"corrections {widening:.2g} times larger than assumed", _reach(data, *_changes(data))
    flag = flag if math.isfinite(reach[1] - reach[0]) else f"{NOT_ASYMPTOTIC}: {flag}"
    larger = replace(_with_profile(larger, data, options), flags=(flag,), reach=reach)
    return replace(larger, exponent=larger.interval(options.level))


def _one_way(data: Data) -> bool:
    """Whether slopes move one way from size to size, as far as their changes exceed their errors."""
    changes, errors = _changes(data)
    return len(set(np.sign(changes[np.abs(changes) > SURE * errors]))) <= 1


def _changes(data: Data) -> tuple[Array, Array]:
    """Return by how much the slopes of the logarithm change at every size between two others, and the standard errors of that."""
    _, first = np.unique(data.x, return_index=True)
    x, y, relative = data.x[first], data.log_size[first], np.exp(data.log_stderr[first] - data.log_size[first])
    gaps = np.diff(x)
    slopes = np.diff(y) / gaps
    middle = relative[1:-1] * (1 / gaps[1:] + 1 / gaps[:-1])
    return np.diff(slopes), np.hypot(middle, np.hypot(relative[2:] / gaps[1:], relative[:-2] / gaps[:-1]))


def _reach(data: Data, changes: Array, errors: Array) -> tuple[float, float]:
    """Return between which exponents the slopes may go on to move: without end, unless their changes are seen to die out.

    Changes that shrink by a factor r go on to add up to r/(1 - r) of the last one, which is doubled here; a last one within its
    error may be as large as that on either side.
    """
    last = [each for each in _local_slopes(data) if each.slope is not None and each.stderr is not None][-1]
    assert last.slope is not None
    assert last.stderr is not None
    end, error = last.slope, SURE * last.stderr
    sizes = np.abs(changes)
    largest = float(sizes[-1] + SURE * errors[-1])
    if sizes[-1] <= SURE * errors[-1]:
        return end - error - 2 * largest, end + error + 2 * largest
    ratio = max(largest / float(sizes[-2]), float(sizes[-2] / sizes[-3])) if len(sizes) > 2 else math.inf
    rest = 2 * largest * ratio / (1 - ratio) if ratio <= SHRINKING else math.inf
    return (end - error, end + error + rest) if changes[-1] > 0 else (end - error - rest, end + error)


def _scattered(data: Data, sign: int, options: _Options, relative: float) -> RateFit:
    """Fit with one relative noise in all values, as large as their scatter: the law of larger ones starts at the likeliest."""
    noise = replace(data, log_stderr=np.logaddexp(2 * data.log_stderr, 2 * (data.log_size + math.log(relative))) / 2)
    fit = _attempt(noise, sign, options)
    fit = _Wider.of(noise, sign, options, 1.0, fit).shown(fit)
    if fit.reason:
        reason = (
            "the values scatter about every smooth curve, from size to size by up to more than "
            f"{LARGEST_RELATIVE:.0%}: no order is seen"
        )
        return replace(fit, reason=reason, factor=1.0)
    return replace(fit, factor=1.0, flags=(f"{SCATTERED} {relative * fit.factor:.1%} from size to size",))


def _hull(first: RateFit, both: tuple[RateFit, RateFit], options: _Options) -> RateFit:
    """Return a fit whose intervals are the hull of those of larger corrections and of larger errors."""
    for fit in both:
        if fit.reason:
            return fit
    best = min(both, key=lambda fit: fit.stderr)
    low, high = (min(fit.constant.low for fit in both), max(fit.constant.high for fit in both))
    fit = replace(
        best,
        constant=Interval(best.constant.estimate, low, high, options.level),
        stderr=max(fit.stderr for fit in both),
        chi2=first.chi2,
        p_value=first.p_value,
        flags=(POOR, *both[1].flags),
        explanations=both,
        factor=both[1].factor,
        wider=None,
    )
    return replace(fit, exponent=fit.interval(options.level))


def _noisier(data: Data, sign: int, options: _Options) -> RateFit:
    """Enlarge the errors until the fit is no longer poor."""
    noisier = _attempt(data, sign, options)
    while noisier.p_value < POOR_FIT:
        factor = max(noisier.chi2 / noisier.dof, 1.5)
        data = replace(data, log_stderr=data.log_stderr + 0.5 * math.log(factor))
        noisier = _attempt(data, sign, options)
    return _with_profile(noisier, data, options)


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
