"""Numbers: LIMIT, IDENTITY, and a bound of one number by another."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from theoryck.fitting.limit import LimitFit, fit_limit
from theoryck.judging.case import CONSTANT_TOLERANCE, Case
from theoryck.judging.decisions import (
    Decision,
    Fitted,
    Outcome,
    equal_within,
    equivalence,
    least_excess,
    pointwise,
    same_number,
    shifted,
    side_of,
    worst_of,
)
from theoryck.judging.evidence import Series, with_error
from theoryck.judging.growth import EXCESS, grown
from theoryck.judging.ratios import closing, draws_can_help, tail_quantile
from theoryck.rates import Rate
from theoryck.records import Verdict

ONE = Rate.parse("1")


def number(case: Case, series: Series) -> Outcome:
    """Is the number at most the one claimed?"""

    def decide(bound: float) -> Decision:
        tolerance, level = case.tolerance(CONSTANT_TOLERANCE), case.contract.level
        return pointwise(series, ONE, bound, tolerance, *case.rates, level=level, what=what)

    constant = float(case.prediction.constant or 0)
    # A number that bounds another is subtracted from it before anything is measured.
    what = "the quantity" if constant else "the quantity minus the number that bounds it"
    decision = decide(constant)
    return Outcome(
        name=series.route,
        verdict=decision.verdict,
        reason=case.sentence(series, decision.clause),
        rejected=tuple(decide(float(rival)).verdict is Verdict.REFUTED for rival in _numbers(case)),
        rigorous=decision.rigorous,
        improvable=series.route != "exact",
    )


def limiting(case: Case, series: Series) -> Outcome:
    """Does the series tend to the value and, with a rate, as fast as that?"""
    prediction = case.prediction
    assert prediction.value is not None
    gaps, side = series.minus(prediction.value), side_of(series.route)
    fit = fit_gaps(case, series, gaps)
    apart = difference_established(case, series, fit)
    decisions = [_limit_decision(case, series, fit, apart)]
    excess = apart and case.prediction.tolerance is None  # a tolerance that is declared belongs to what is claimed
    outcome = Outcome(series.route, Verdict.INCONCLUSIVE)
    if case.rate is not None:
        outcome = grown(case, replace(gaps, route=series.route))
        # One end of a bracket that decays too slowly says that it does not close, not that the value is wrong.
        verdict = Verdict.INCONCLUSIVE if side and outcome.verdict is Verdict.REFUTED else outcome.verdict
        decisions.append(Decision(verdict, outcome.clause))
    decision = worst_of(decisions)
    reach = tail_quantile(case.rates[0] / 2) * fit.stderr
    beyond = [fit.estimate - float(rival - prediction.value.midpoint) for rival in _numbers(case)]
    excluded = [not case.coincides(rival) and abs(gap) > reach and gap * side >= 0 for rival, gap in zip(prediction.rivals, beyond)]
    return replace(
        outcome,
        verdict=decision.verdict,
        reason=case.sentence(series, decision.clause),
        rejected=tuple(excluded),
        improvable=series.route != "exact" and draws_can_help(fit),
        limit=None if fit.reason else shifted(fit.interval(case.contract.level), float(prediction.value)),
        correction=fit.family,
        window=case.ends(series),
        flags=tuple(
            dict.fromkeys((*fit.flags, *([EXCESS] if excess and decision.verdict is Verdict.INCONCLUSIVE else []), *outcome.flags))
        ),
        contradicts=excess or (outcome.contradicts and not side),
        limits=(Fitted(series, fit),),
    )


def _limit_decision(case: Case, series: Series, fit: LimitFit, apart: bool) -> Decision:
    """Is the limit of the gaps within the tolerance of 0 and, unless the tolerance was declared, not told from 0?"""
    if fit.reason:
        return Decision(Verdict.INCONCLUSIVE, fit.reason)
    tolerance, declared = limit_tolerance(case, series), case.prediction.tolerance is not None
    verdict = equivalence(fit.estimate, fit.stderr, 0.0, tolerance, *case.rates)
    if verdict is Verdict.SUPPORTED and abs(fit.estimate) + fit.decision_reach(case.rates[1]) > tolerance:
        verdict = Verdict.INCONCLUSIVE
    if verdict is Verdict.REFUTED and fit.estimate * side_of(series.route) < 0:
        verdict = Verdict.INCONCLUSIVE  # this end does not contradict a value that lies beyond the other
    claimed = f"the claimed value {float(case.prediction.value or 0):.6g}"
    found = with_error(fit.estimate, fit.interval(case.contract.level).half_width)
    if verdict is Verdict.SUPPORTED and apart and not declared:
        return Decision(
            Verdict.INCONCLUSIVE,
            f"a difference of {found} from {claimed} is established, smaller than the default tolerance {tolerance:.2g}: another "
            f"limit would look like this (as would corrections larger than assumed): {case.axis.further} sizes tell them apart; if "
            "a limit near that value is claimed, declare tolerance=",
        )
    relation = {Verdict.SUPPORTED: "within", Verdict.REFUTED: "outside"}.get(verdict, "not told from")
    if apart and verdict is not Verdict.REFUTED:
        relation = "not 0 but within" if verdict is Verdict.SUPPORTED else "told from 0 but not from"
    stated = "declared tolerance" if apart and declared and verdict is Verdict.SUPPORTED else "tolerance"
    clause = f"the limit minus {claimed} is {found}, {relation} the {stated} {tolerance:.2g}"
    if verdict is Verdict.INCONCLUSIVE and case.final:
        error_rate = case.rates[1] if abs(fit.estimate) <= tolerance else case.rates[0] / 2
        clause += f": {case.advice(series, [closing(fit.stderr_with, error_rate)], tolerance)}"
    return Decision(verdict, clause)


def difference_established(case: Case, series: Series, fit: LimitFit) -> bool:
    """Whether the evidence excludes the claimed limit itself, be it by less than the tolerance; an end only from its own side.

    As for exponents: the interval at the level shown, made to hold at every truth of the correction family, misses the value, by
    more than :func:`theoryck.judging.decisions.least_excess` relative to it.  Noise is a larger part of the error of a limit than
    of an exponent, so that both of its ends share the tail that an end of the exponent has: a true claim falls at most as often.
    """
    if fit.reason or fit.estimate * side_of(series.route) < 0:
        return False
    reach = fit.decision_reach((0.5 - case.contract.level / 2) / 2)
    return abs(fit.estimate) > max(reach, least_excess(case.within) * limit_scale(case, series))


def fit_gaps(case: Case, series: Series, gaps: Series) -> LimitFit:
    """Fit the limit of ``gaps``, which are the series minus the value claimed."""
    value, first = abs(float(case.prediction.value or 0)), abs(float(series.values[0]))
    return fit_limit(
        series.base(case.base),
        [float(gap) for gap in gaps.values],
        [float(error) for error in gaps.errors],
        scale=max(value, first, abs(float(gaps.values[0]))) or 1.0,
        correction=case.prediction.correction,
        amplitude=case.prediction.amplitude,
    )


def limit_tolerance(case: Case, series: Series) -> float:
    """Return how far from the value the limit may lie: by default ``within`` relative to it, or to the first value if it is 0."""
    return case.tolerance(case.within * limit_scale(case, series))


def limit_scale(case: Case, series: Series) -> float:
    """Return what differences from the claimed limit are relative to: it or, if it is 0, the first value."""
    return abs(float(case.prediction.value or 0)) or abs(float(series.values[0]))


def _numbers(case: Case) -> list[Decimal]:
    """Return the rivals, one number each."""
    return [case.claimed.rival_numbers[rival] for rival in case.prediction.rivals]


def identity(case: Case, series: Series) -> Outcome:
    """Is the value of the series the one claimed, at each of its points?"""
    value = case.prediction.value
    assert value is not None
    decisions = [_same(case, series.at(i), value.midpoint, value.radius, value.rigorous) for i in range(len(series))]
    decision = worst_of(decisions)
    rejected = []
    for rival, other in zip(case.prediction.rivals, _numbers(case)):
        tests = [_same(case, series.at(i), other, Decimal(0), True).verdict for i in range(len(series))]
        rejected.append(Verdict.REFUTED in tests and not case.coincides(rival))
    return Outcome(
        name=series.route,
        verdict=decision.verdict,
        reason=case.sentence(series, decision.clause),
        rejected=tuple(rejected),
        rigorous=decision.rigorous,
        complete=len(series) == len(case.points),
        improvable=series.route != "exact" and decision.verdict is Verdict.INCONCLUSIVE,
    )


def _same(case: Case, series: Series, right: Decimal, radius: Decimal, rigorous: bool) -> Decision:
    if series.route == "exact":
        declared = None if case.prediction.tolerance is None else case.tolerance(0.0)
        return same_number(series, right, radius, rigorous, declared)
    scale = max(abs(float(right)), abs(float(series.values[0])))
    return equal_within(series, right, radius, case.tolerance(case.within * scale), *case.rates, side_of(series.route))
