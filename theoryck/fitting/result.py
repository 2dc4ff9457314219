"""RateFit: what a fit of ``Q ~ A d**s`` found, and the limits that can be asked of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from statistics import NormalDist

import numpy as np

from theoryck._renderers import show
from theoryck.fitting.corrections import CorrectionFamily
from theoryck.fitting.data import Data
from theoryck.fitting.linear import ExponentError
from theoryck.fitting.optimise import System, maximise
from theoryck.records import Interval, Size


@dataclass(frozen=True, slots=True)
class LocalSlope:
    """The slope of log Q between two neighbouring sizes, with its statistical error; None where a value has the wrong sign.

    >>> from theoryck.fitting.fit import fit_rate
    >>> slope = fit_rate([10, 100, 1000], [3.0, 0.3, 0.03], [0.001, 0.001, 0.001]).local_slopes[0]
    >>> slope.low, slope.high, round(slope.slope, 6), round(slope.stderr, 4)
    (10, 100, -1.0, 0.0015)
    """

    low: int | float
    high: int | float
    slope: float | None
    stderr: float | None


@dataclass(frozen=True, slots=True)
class LeadingCorrection:
    """The first term of the correction family in the logarithm: ``coefficient * size**-power``."""

    text: str
    power: float
    coefficient: Interval


@dataclass(frozen=True)
class RateFit:
    """What :func:`fit_rate` found; ``reason`` is empty if the exponent is identifiable, else says why it is not.

    ``stderr`` is that of the exponent and contains corrections; ``constant`` is the prefactor A of ``A d**s`` (the fitted curve
    inside the window is :meth:`value_at`); ``sign`` is +1 or -1.  ``factor`` says how many times larger than stated the errors were
    taken, at the level shown; ``wider`` are the fits for limits at other error rates, ``explanations`` those of data that fit
    poorly, of which the limits are the hull, and ``reach`` is what no limit lies inside, whatever its error rate.

    >>> from theoryck.fitting.fit import fit_rate
    >>> sizes = [16, 32, 64, 128, 256]
    >>> fit = fit_rate(sizes, [3 / d * (1 + 1 / d) for d in sizes], [0.003 / d for d in sizes], correction=1)
    >>> fit.identifiable, fit.interval(0.95).contains(-1), fit.correction.text
    (True, True, 'O(d^-1)')
    >>> fit.lower(0.025) < -1 < fit.upper(0.025) <= fit.decision_upper(0.025)
    True
    >>> bool(fit.stderr_with(100) < fit.stderr), round(fit.value_at(64).estimate, 2)
    (True, 0.05)
    >>> fit_rate([16, 32], [1.0, 0.5], [0.0, 0.0]).reason
    '2 sizes cannot show an exponent together with its corrections: measure at least 3, better 6'
    """

    exponent: Interval
    constant: Interval
    stderr: float
    chi2: float
    dof: int
    p_value: float
    window: tuple[Size, Size]
    sign: int
    family: CorrectionFamily
    local_slopes: tuple[LocalSlope, ...] = ()
    flags: tuple[str, ...] = ()
    reason: str = ""
    system: System | None = field(default=None, repr=False, compare=False)
    skewed: Profile | None = field(default=None, repr=False, compare=False)
    explanations: tuple[RateFit, ...] = field(default=(), repr=False, compare=False)
    factor: float = 1.0
    reach: tuple[float, float] | None = field(default=None, repr=False, compare=False)
    wider: Callable[[float], RateFit] | None = field(default=None, repr=False, compare=False)

    @property
    def identifiable(self) -> bool:
        """Whether the exponent has a finite interval."""
        return not self.reason

    def _repr_html_(self) -> str:
        return show("html", self)

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

    def decision_upper(self, error_rate: float) -> float:
        """Return an upper limit that is too low with probability at most ``error_rate`` for EVERY truth of the correction family.

        :meth:`upper` keeps its rate on average over the family; at the worst corner a 2.5% limit fails 7% of the time.  This one is
        for decisions: ``estimate + max(z stderr, z noise + bias)``, bias the largest that a truth of the family causes, so that it
        never lies inside the interval shown.
        """
        return self._decision(error_rate, 1)

    def decision_lower(self, error_rate: float) -> float:
        """Return a lower limit that is too high with probability at most ``error_rate`` for every truth of the family.

        >>> from theoryck.fitting.fit import fit_rate
        >>> fit = fit_rate([16, 32, 64, 128], [1.0, 0.5, 0.25, 0.125], [1e-3] * 4)
        >>> fit.decision_lower(0.01) <= fit.lower(0.01) < -1
        True
        """
        return self._decision(error_rate, -1)

    def _decision(self, error_rate: float, side: int) -> float:
        if not self.identifiable:
            return side * math.inf
        if self.explanations:
            limits = [fit._decision(error_rate, side) for fit in self.explanations]
            return max(limits) if side > 0 else min(limits)
        if self.wider is not None:
            return self.wider(error_rate)._decision(error_rate, side)
        limit = self._limit(error_rate, side)
        if self.system is None:
            return limit
        # What the worst bias adds to a symmetric limit is added to a skewed one, and to one that allows for unknown noise, too.
        return limit + side * (self.error.decision_reach(error_rate) - quantile(1 - error_rate) * self.error.stderr)

    @cached_property
    def error(self) -> ExponentError:
        """The error of the exponent by its parts: noise, corrections, and the largest bias at a truth of the family.

        >>> from theoryck.fitting.fit import fit_rate
        >>> fit = fit_rate([16, 32, 64, 128], [1.0, 0.5, 0.25, 0.125], [1e-3] * 4)
        >>> 0 < fit.error.noise < fit.error.stderr  # the rest of the stderr are corrections
        True
        """
        if self.system is None or not self.identifiable:
            return ExponentError(math.inf, math.inf, math.inf, np.zeros(0))
        return self.system.error()

    @property
    def correction(self) -> LeadingCorrection:
        """The leading correction: its text, its power, and its coefficient B in ``1 + B d**-w`` with an interval."""
        power, level = self.family.powers[0], self.exponent.level
        if self.system is None or not self.identifiable:
            return LeadingCorrection(self.family.text(), power, Interval(math.nan, -math.inf, math.inf, level))
        index = self.system.flat
        unit = self.family.deviations[0] * self.system.first**power
        reach = quantile(0.5 + level / 2) * math.sqrt(self.system.covariance[index, index]) * self.system.inflation
        centre = float(self.system.theta[index])
        interval = Interval(unit * centre, unit * (centre - reach), unit * (centre + reach), level)
        return LeadingCorrection(self.family.text(), power, interval)

    def _limit(self, error_rate: float, side: int) -> float:
        if not self.identifiable:
            return side * math.inf
        if self.explanations:
            limits = [fit._limit(error_rate, side) for fit in self.explanations]
            return max(limits) if side > 0 else min(limits)
        if self.wider is not None:
            return self.wider(error_rate)._limit(error_rate, side)
        z = quantile(1 - error_rate)
        if self.skewed is None:
            limit = self.exponent.estimate + side * z * self.stderr
        else:
            limit = self.skewed.limit(self.exponent.estimate, self.stderr, z, side)
        return limit if self.reach is None else max(limit, self.reach[1]) if side > 0 else min(limit, self.reach[0])

    def enlargement(self, error_rate: float) -> float:
        """Return how many times larger than stated the errors are taken for limits at ``error_rate``."""
        if self.explanations:
            return max(fit.enlargement(error_rate) for fit in self.explanations)
        return self.factor if self.wider is None else self.wider(error_rate).factor

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
        return signed(self.sign, centre, quantile(0.5 + level / 2) * spread, level)


@dataclass(frozen=True)
class Profile:
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
        asked = (estimate, stderr, z, side)
        if asked not in self._known:  # a verdict asks for the same limits again and again, and each costs half a dozen fits
            self._known[asked] = self._search(*asked)
        return self._known[asked]

    @cached_property
    def _known(self) -> dict[tuple[float, float, float, int], float]:
        return {}

    def _search(self, estimate: float, stderr: float, z: float, side: int) -> float:
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
        rise = maximise(self.data, self.sign, self.family, exponent)[1] - self.chi2
        return math.sqrt(max(rise, 0.0)) / self.inflation  # below 0 by rounding only


def signed(sign: int, centre: float, reach: float, level: float) -> Interval:
    """Return the interval of ``sign * exp(centre +- reach)``."""
    values = [_exp(centre + shift) for shift in (0.0, -reach, reach)]
    if sign < 0:
        return Interval(-values[0], -values[2], -values[1], level)
    return Interval(values[0], values[1], values[2], level)


def _exp(value: float) -> float:
    return math.exp(value) if value < 709.0 else math.inf


def quantile(probability: float) -> float:
    """Return z with P(Z < z) = ``probability``."""
    return NormalDist().inv_cdf(probability)
