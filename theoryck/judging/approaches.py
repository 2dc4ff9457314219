"""Approaches to a limit, claimed or not: their fit, what else explains the values, and which limits they exclude."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from statistics import NormalDist

from theoryck.fitting.approach import Approach, ApproachFit, fit_approach
from theoryck.fitting.limit import LimitFit, fit_limit
from theoryck.fitting.scan import STANDS_OUT
from theoryck.fitting.slower import Explanations, Slower
from theoryck.judging.case import Case
from theoryck.judging.decisions import side_of
from theoryck.judging.evidence import Series

LEAST_DIFFERENCE = 1e-3  # by which 2 log(d)/d, on d = 16..1024, moves a limit fitted to exact values with corrections in powers
NOTHING = Slower()


def difference_established(case: Case, series: Series, fit: LimitFit | ApproachFit) -> bool:
    """Whether the evidence excludes the claimed limit itself, be it by less than the tolerance; an end only from its own side.

    As for exponents: the interval at the level shown, made to hold at every truth of the correction family, misses the value, by
    more than :data:`LEAST_DIFFERENCE` relative to it.  Noise is a larger part of the error of a limit than
    of an exponent, so that both of its ends share the tail that an end of the exponent has: a true claim falls at most as often.
    """
    if fit.reason or fit.estimate * side_of(series.route) < 0:
        return False
    tail = (0.5 - case.contract.level / 2) / 2
    missed = fit.decision_lower(tail) > 0 or fit.decision_upper(tail) < 0
    return missed and abs(fit.estimate) > LEAST_DIFFERENCE * limit_scale(case, series)


def fit_gaps(case: Case, series: Series, gaps: Series) -> LimitFit | ApproachFit:
    """Fit the limit of ``gaps``, which are the series minus the value claimed.

    With a rate the approach is that; with a declared correction alone it is the correction; else it is any.
    """
    prediction, columns = case.prediction, columns_of(case, gaps)
    correction, amplitude = prediction.correction, prediction.amplitude
    if case.rate is not None or correction is None or prediction.value is None:
        return fit_approach(*columns, declared(case, series))
    value, first = abs(float(prediction.value)), abs(float(series.values[0]))
    scale = max(value, first, abs(float(gaps.values[0]))) or 1.0
    return fit_limit(*columns, scale=scale, correction=correction, amplitude=amplitude)


def declared(case: Case, series: Series) -> Approach:
    """Return what is declared of the approach along the series."""
    corrections = Approach(correction=case.prediction.correction, amplitude=case.prediction.amplitude)
    if case.rate is None:
        return corrections
    return replace(corrections, log_rates=case.log_rates(series), logs=case.rate.logs_along(series.sizes))


def gaps_of(case: Case, series: Series) -> Series:
    """Return the series minus the value claimed; the series itself where none is."""
    return series if case.prediction.value is None else series.minus(case.prediction.value)


def columns_of(case: Case, series: Series) -> tuple[list[float], list[float], list[float]]:
    """Return sizes, values and errors as the fits take them."""
    sizes = [float(size) for size in series.base(case.base)]
    return sizes, [float(value) for value in series.values], [float(error) for error in series.errors]


def limit_tolerance(case: Case, series: Series) -> float:
    """Return how far from the value the limit may lie: by default ``within`` relative to it, or to the first value if it is 0."""
    return case.tolerance(case.within * limit_scale(case, series), 1.0)


def limit_scale(case: Case, series: Series) -> float:
    """Return what differences from the claimed limit are relative to: it or, if it is 0, the first value."""
    return abs(float(case.prediction.value or 0)) or abs(float(series.values[0]))


def excluded_rivals(case: Case, fit: LimitFit | ApproachFit, origin: Decimal, side: int) -> tuple[bool, ...]:
    """Whether each rival lies outside the limits that refute; an end of a bracket excludes from its own side only."""
    low, high = fit.lower(case.rates[0] / 2), fit.upper(case.rates[0] / 2)
    found = []
    for rival, number in zip(case.prediction.rivals, case.rival_numbers):
        gap = float(number - origin)
        outside = gap < low if side > 0 else gap > high if side < 0 else not low <= gap <= high
        found.append(outside and not case.coincides(rival))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Others:
    """What explains the values besides the approach that is declared.

    ``better`` than it; or ``as_well``, towards the rivals marked ``beyond`` the claimed limit or, where none are, another limit.
    """

    better: Slower = NOTHING
    as_well: Slower = NOTHING
    beyond: tuple[bool, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.better) or bool(self.as_well)

    def left(self, excluded: tuple[bool, ...]) -> tuple[bool, ...]:
        """Return which rivals are excluded all the same: what a rate implies of the limit must be seen in the values."""
        if self.better:
            return (False,) * len(excluded)
        return tuple(out and not far for out, far in zip(excluded, self.beyond)) if any(self.beyond) else excluded


def other_explanations(case: Case, series: Series, gaps: Series, fit: LimitFit | ApproachFit, supported: bool) -> Others:
    """Return what speaks against the declared approach of a table to a claimed limit.

    Beside a limit that is known the gap is seen to decay: a slower approach must explain the values better.  If it explains them as
    well it leaves open the rivals it leads to, as seen from the last value, and what else would be ``supported``.
    """
    if case.rate is None or case.drawn or case.prediction.value is None:
        return Others()
    explanations, z = explained(case, series, gaps)
    better = explanations.slower(z, better=True)
    if better:
        return Others(better)
    if fit.reason or isinstance(fit, LimitFit) or fit.moving <= STANDS_OUT:
        return Others()
    value = float(case.prediction.value.midpoint)
    ahead = value - float(series.values[-1])
    beyond = tuple((float(number) - value) * ahead > 0 for number in case.rival_numbers)
    if any(beyond):
        as_well = explanations.slower(z)
        reached = (bool(as_well) and as_well.low <= float(number) - value <= as_well.high for number in case.rival_numbers)
        beyond = tuple(far and near for far, near in zip(beyond, reached))
        if any(beyond):
            return Others(as_well=as_well, beyond=beyond)
    return Others(as_well=explanations.slower(z, beyond=limit_tolerance(case, series))) if supported else Others()


def explained(case: Case, series: Series, gaps: Series) -> tuple[Explanations, float]:
    """Return what may explain the gaps besides the declared rate, or every approach assumed without one, and z of its limits."""
    found = Explanations(*columns_of(case, gaps), declared(case, series), case.within)
    return found, NormalDist().inv_cdf(1 - case.rates[1])
