"""LIMIT: the limit of a series on one route, claimed or measured, and the rate at which it is approached."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from theoryck.fitting.approach import ApproachFit, fit_approach
from theoryck.fitting.limit import LimitFit
from theoryck.fitting.scan import SLOWEST, STANDS_OUT
from theoryck.fitting.slower import Slower, slower_than
from theoryck.judging.approaches import (
    NOTHING,
    columns_of,
    declared,
    difference_established,
    excluded_rivals,
    explained,
    fit_gaps,
    limit_tolerance,
    other_explanations,
)
from theoryck.judging.case import Case
from theoryck.judging.decisions import Decision, Fitted, Outcome, shifted, side_of, worst_of
from theoryck.judging.evidence import Series, with_error
from theoryck.judging.growth import EXCESS, grown
from theoryck.judging.limit_words import another, assumed, compared, established, measured, tolerated_lag, undeclared, unseen
from theoryck.judging.ratios import closing, draws_can_help
from theoryck.records import Interval, Verdict


def limiting(case: Case, series: Series) -> Outcome:
    """Does the series tend to the value and, with a rate, as fast as that?  Without a value the limit is measured."""
    return _measured(case, series) if case.prediction.value is None else _claimed(case, series)


# -- a limit that is claimed ---------------------------------------------------------------------------------------------------


def _claimed(case: Case, series: Series) -> Outcome:
    value = case.prediction.value
    assert value is not None
    gaps, side = series.minus(value), side_of(series.route)
    fit = fit_gaps(case, series, gaps)
    apart = difference_established(case, series, fit)
    excess = apart and case.prediction.tolerance is None  # a tolerance that is declared belongs to what is claimed
    outcome = _approached(case, series, gaps, fit)
    decisions = [_limit_decision(case, series, fit, apart)]
    if case.rate is not None:
        # One end of a bracket that decays too slowly says that it does not close, not that the value is wrong.
        verdict = Verdict.INCONCLUSIVE if side and outcome.verdict is Verdict.REFUTED else outcome.verdict
        decisions.append(Decision(verdict, outcome.clause))
    others = other_explanations(case, series, gaps, fit, worst_of(decisions).verdict is Verdict.SUPPORTED)
    if others:
        decisions.append(Decision(Verdict.INCONCLUSIVE, another(case, others)))
    decision = worst_of(decisions)
    excluded = others.left(excluded_rivals(case, fit, value.midpoint, side))
    flags = (*fit.flags, *([EXCESS] if excess and decision.verdict is Verdict.INCONCLUSIVE else []), *outcome.flags)
    return replace(
        outcome,
        verdict=decision.verdict,
        reason=case.sentence(series, decision.clause),
        rejected=excluded,
        left_open=_left_open(case, series, fit, value.midpoint, excluded),
        improvable=series.route != "exact" and draws_can_help(fit),
        limit=None if fit.reason or others.better else shifted(fit.interval(case.contract.level), float(value)),
        correction=fit.family,
        approach=assumed(case, fit),
        window=case.ends(series),
        flags=tuple(dict.fromkeys(flags)),
        contradicts=excess or (outcome.contradicts and not side),
        limits=(Fitted(series, fit),),
    )


def _approached(case: Case, series: Series, gaps: Series, fit: LimitFit | ApproachFit) -> Outcome:
    """Judge the decay of the gaps where a rate is claimed; else show what a table says of it."""
    if case.rate is not None:
        return grown(case, replace(gaps, route=series.route))
    outcome, level = Outcome(series.route, Verdict.INCONCLUSIVE), case.contract.level
    if case.drawn or isinstance(fit, LimitFit) or fit.reason:
        return outcome
    return replace(outcome, exponent=_of_base(case, fit.exponents(level)[0]), constant=fit.coefficient(level, fit))


def _left_open(
    case: Case, series: Series, fit: LimitFit | ApproachFit, origin: Decimal, excluded: Sequence[bool]
) -> tuple[str, ...]:
    """Say of each rival that is not excluded what would exclude it."""
    reaches, found = [closing(fit.stderr_with, case.rates[0] / 2)], []
    for number, done in zip(case.rival_numbers, excluded):
        gap = abs(float(number - origin) - fit.estimate)
        found.append("" if done else case.advice(series, reaches, gap) if case.final and gap > 0 else "more draws follow")
    return tuple(found)


def _limit_decision(case: Case, series: Series, fit: LimitFit | ApproachFit, apart: bool) -> Decision:
    """Is the limit of the gaps within the tolerance of 0 and, unless the tolerance was declared, not told from 0?"""
    if fit.reason:
        return Decision(Verdict.INCONCLUSIVE, fit.reason)
    tolerance = limit_tolerance(case, series)
    refute, support = case.rates
    verdict, side = Verdict.INCONCLUSIVE, side_of(series.route)
    # An end of a bracket does not contradict a value that lies beyond the other.
    if (fit.lower(refute / 2) > tolerance and side >= 0) or (fit.upper(refute / 2) < -tolerance and side <= 0):
        verdict = Verdict.REFUTED
    elif fit.decision_lower(support) >= -tolerance and fit.decision_upper(support) <= tolerance:
        verdict = Verdict.SUPPORTED
    found = with_error(fit.estimate, fit.interval(case.contract.level).half_width)
    if verdict is Verdict.SUPPORTED and apart and case.prediction.tolerance is None:
        return Decision(Verdict.INCONCLUSIVE, established(case, found, tolerance))
    clause = compared(case, found, tolerance, verdict, apart)
    if verdict is Verdict.INCONCLUSIVE and case.final:
        gap = abs(fit.estimate)
        error_rate = support if gap <= tolerance and not apart else refute / 2
        # What is told from the value itself will not come to support it: it can be told from what is tolerated.
        advice = case.advice(series, [closing(fit.stderr_with, error_rate)], gap - tolerance if apart else tolerance)
        clause += f": {undeclared(case, fit)}{advice}"
    return Decision(verdict, clause)


# -- a limit that is measured --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Speed:
    """How the measured approach compares with the rate: a verdict on that, with its words, and the powers it is like."""

    verdict: Verdict
    relation: str
    powers: Interval


def _measured(case: Case, series: Series) -> Outcome:
    """The limit of the series where none is claimed: what is judged is the rate, and that rivals are not the limit.

    The exponent of the approach is measured without the rate, the limit with it.  SUPPORTED if the values approach their limit as
    fast as that, up to ``within``, and the limit is known to the tolerance and excludes every rival.
    """
    free = fit_approach(*columns_of(case, series), declared(case, series).of_any_rate)
    fit = free if case.rate is None else fit_gaps(case, series, series)
    outcome = Outcome(
        series.route,
        Verdict.INCONCLUSIVE,
        rejected=excluded_rivals(case, fit, Decimal(0), side_of(series.route)),
        window=case.ends(series),
    )
    reason = fit.reason or free.reason
    if reason or isinstance(fit, LimitFit):
        reason, fitted = case.sentence(series, reason), (Fitted(series, fit),)
        return replace(outcome, reason=reason, correction=fit.family, approach=assumed(case, fit), limits=fitted)
    level = case.contract.level
    # What is measured and not judged rests on the approaches that are said, unless slower ones explain the values better.
    judged = case.rate is not None or bool(case.prediction.rivals)
    moves = free.moving > STANDS_OUT
    explanations, z = explained(case, series, series)
    others = explanations.slower(z, better=not judged) if moves or case.rate is not None else NOTHING
    speed = _speed(case, series, others)
    verdict = Verdict.INCONCLUSIVE if others and speed.verdict is not Verdict.REFUTED else speed.verdict
    # A rate that the values do not show says nothing of their limit.
    seen = fit if verdict is Verdict.SUPPORTED else free
    excluded = outcome.rejected if seen is fit else excluded_rivals(case, seen, Decimal(0), side_of(series.route))
    hidden = moves and (others.grows or others.log or others.power < SLOWEST)
    if others and verdict is Verdict.INCONCLUSIVE and moves:
        excluded, clause = (False,) * len(excluded), unseen(case, others, judged)
    else:
        clause = measured(case, seen.interval(level), speed.powers, speed.relation)
        if others and not speed.relation and case.rate is not None:
            clause += f", and its approach is not told from slower ones than {case.rate}"
        verdict, clause = _known(case, series, seen, excluded, verdict, clause)
    constant = None if hidden or (seen is free and case.rate is not None) else seen.coefficient(level, free)
    return replace(
        outcome,
        verdict=verdict,
        reason=case.sentence(series, clause),
        rejected=excluded,
        exponent=None if others.grows or others.log else _of_base(case, speed.powers),
        constant=None if constant is None or not math.isfinite(constant.half_width) else constant,
        limit=None if hidden else seen.interval(level),
        improvable=series.route != "exact" and draws_can_help(seen),
        correction=seen.family,
        approach=assumed(case, seen),
        flags=seen.flags,
        limits=(Fitted(series, seen),),
    )


def _speed(case: Case, series: Series, others: Slower) -> _Speed:
    """Compare the exponent of the approach with that of the rate, if it has one."""
    wide = fit_approach(*columns_of(case, series), declared(case, series).of_any_rate, slow=True)
    powers = wide.exponents(case.contract.level)[0]
    if case.rate is None or case.claimed_exponent is None or not math.isfinite(powers.half_width):
        return _Speed(Verdict.SUPPORTED, "", powers)
    refute, support = case.rates
    claimed = -case.axis.sign * case.claimed_exponent
    slowest, fastest = wide.exponents(1 - 2 * support)[0].low, wide.exponents(1 - 2 * refute)[0].high
    if fastest < claimed - case.within and not others.log and not others.grows:
        return _Speed(Verdict.REFUTED, f"slower than {case.rate}", powers)
    if slowest < slower_than(claimed, case.within):
        slower = f"which is not told from what is slower than {case.rate} {tolerated_lag(case, claimed)}"
        return _Speed(Verdict.INCONCLUSIVE, slower, powers)
    return _Speed(Verdict.SUPPORTED, f"as claimed {case.rate}", powers)


def _known(
    case: Case, series: Series, seen: ApproachFit, excluded: Sequence[bool], verdict: Verdict, clause: str
) -> tuple[Verdict, str]:
    """Ask that the limit be known to the tolerance and exclude every rival; nothing undoes a refutation."""
    support = case.rates[1]
    size = max(abs(seen.interval(case.contract.level).estimate), 1e-6 * abs(float(series.values[0])))
    tolerance = case.tolerance(case.within * size)
    if verdict is not Verdict.REFUTED:
        kept = [rival for rival, out in zip(case.prediction.rivals, excluded) if not out]
        if kept:
            verdict, clause = Verdict.INCONCLUSIVE, f"{clause}; it is not told from the rival {kept[0]}"
        elif seen.decision_upper(support) - seen.decision_lower(support) > 2 * tolerance:
            verdict, clause = Verdict.INCONCLUSIVE, f"{clause}; it is not known to the tolerance {tolerance:.2g}"
    if verdict is Verdict.INCONCLUSIVE and case.final:
        advice = case.advice(series, [closing(seen.stderr_with, support)], tolerance)
        clause = f"{clause}: {undeclared(case, seen) if case.rate is None else ''}{advice}"
    return verdict, clause


def _of_base(case: Case, powers: Interval) -> Interval | None:
    """Return the exponent of the base for the powers by which what is left falls; None where only a logarithm is left."""
    if not math.isfinite(powers.half_width):
        return None
    return case.axis.written(Interval(-powers.estimate, -powers.high, -powers.low, powers.level))
