"""One number: an IDENTITY, and a bound of one number by another."""

from __future__ import annotations

import math
from decimal import Decimal

from theoryck.judging.case import CONSTANT_TOLERANCE, Case
from theoryck.judging.decisions import Decision, Outcome, equal_within, pointwise, same_number, side_of, worst_of
from theoryck.judging.evidence import Series
from theoryck.judging.ratios import closing, factor_to_decide, more_draws
from theoryck.rates import Rate
from theoryck.records import Verdict

ONE = Rate.parse("1")


def number(case: Case, series: Series) -> Outcome:
    """Is the number at most the one claimed?"""

    def decide(bound: float) -> Decision:
        tolerance, level = case.tolerance(CONSTANT_TOLERANCE, abs(constant)), case.contract.level
        return pointwise(series, ONE, bound, tolerance, *case.rates, level=level, what=what)

    constant = float(case.prediction.constant or 0)
    # A number that bounds another is subtracted from it before anything is measured.
    what = "the quantity" if constant else "the quantity minus the number that bounds it"
    decision, others = decide(constant), [decide(float(rival)) for rival in case.rival_numbers]
    return Outcome(
        name=series.route,
        verdict=decision.verdict,
        reason=case.sentence(series, decision.clause),
        rejected=tuple(other.verdict is Verdict.REFUTED for other in others),
        left_open=tuple(other.clause if other.verdict is Verdict.INCONCLUSIVE else "" for other in others),
        rigorous=decision.rigorous,
        improvable=series.route != "exact",
    )


def identity(case: Case, series: Series) -> Outcome:
    """Is the value of the series the one claimed, at each of its points?"""
    value = case.prediction.value
    assert value is not None
    decisions = [_same(case, series.at(i), value.midpoint, value.radius, value.rigorous) for i in range(len(series))]
    decision = worst_of(decisions)
    faced = [_rival(case, series, rival, other) for rival, other in zip(case.prediction.rivals, case.rival_numbers)]
    rejected = tuple(not left_open for left_open in faced)
    return Outcome(
        name=series.route,
        verdict=decision.verdict,
        reason=case.sentence(series, decision.clause),
        rejected=rejected,
        left_open=tuple(faced),
        rigorous=decision.rigorous,
        complete=len(series) == len(case.points),
        improvable=series.route != "exact" and (decision.verdict is Verdict.INCONCLUSIVE or not all(rejected)),
    )


def _rival(case: Case, series: Series, rival: str, other: Decimal) -> str:
    """Say what would tell the series from a rival at one of its points; nothing if it is told from it."""
    tests = [_same(case, series.at(i), other, Decimal(0), True).verdict for i in range(len(series))]
    if Verdict.REFUTED in tests and not case.coincides(rival):
        return ""
    if series.route == "exact":
        return "more digits would decide"
    gap, stderr = max((abs(float(value - other)), float(error)) for value, error in zip(series.values, series.errors))
    return more_draws(factor_to_decide(closing(lambda times: stderr / math.sqrt(times), case.rates[0] / 2), gap))


def _same(case: Case, series: Series, right: Decimal, radius: Decimal, rigorous: bool) -> Decision:
    if series.route == "exact":
        declared = None if case.prediction.tolerance is None else case.tolerance(0.0, 1.0)
        return same_number(series, right, radius, rigorous, declared)
    scale = max(abs(float(right)), abs(float(series.values[0])))
    return equal_within(series, right, radius, case.tolerance(case.within * scale, 1.0), *case.rates, side_of(series.route))
