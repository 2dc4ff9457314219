"""Numbers: LIMIT, IDENTITY, and a bound of one number by another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from statistics import NormalDist
from typing import Any

from theoryck.fitting.approach import ApproachFit, fit_approach
from theoryck.fitting.limit import LimitFit, fit_limit
from theoryck.fitting.scan import SLOWEST, STANDS_OUT, STEP
from theoryck.fitting.slower import Slower, slower_approaches, slower_than
from theoryck.judging.case import CONSTANT_TOLERANCE, Case
from theoryck.judging.decisions import (
    Decision,
    Fitted,
    Outcome,
    equal_within,
    pointwise,
    same_number,
    shifted,
    side_of,
    worst_of,
)
from theoryck.judging.evidence import Series, with_error
from theoryck.judging.growth import EXCESS, grown
from theoryck.judging.ratios import closing, draws_can_help, factor_to_decide, more_draws
from theoryck.rates import Rate
from theoryck.records import Interval, Verdict

ONE = Rate.parse("1")
LEAST_DIFFERENCE = 1e-3  # by which 2 log(d)/d, on d = 16..1024, moves a limit fitted to exact values with corrections in powers


def number(case: Case, series: Series) -> Outcome:
    """Is the number at most the one claimed?"""

    def decide(bound: float) -> Decision:
        tolerance, level = case.tolerance(CONSTANT_TOLERANCE, abs(constant)), case.contract.level
        return pointwise(series, ONE, bound, tolerance, *case.rates, level=level, what=what)

    constant = float(case.prediction.constant or 0)
    # A number that bounds another is subtracted from it before anything is measured.
    what = "the quantity" if constant else "the quantity minus the number that bounds it"
    decision, others = decide(constant), [decide(float(rival)) for rival in _numbers(case)]
    return Outcome(
        name=series.route,
        verdict=decision.verdict,
        reason=case.sentence(series, decision.clause),
        rejected=tuple(other.verdict is Verdict.REFUTED for other in others),
        left_open=tuple(other.clause if other.verdict is Verdict.INCONCLUSIVE else "" for other in others),
        rigorous=decision.rigorous,
        improvable=series.route != "exact",
    )


def limiting(case: Case, series: Series) -> Outcome:
    """Does the series tend to the value and, with a rate, as fast as that?"""
    prediction = case.prediction
    if prediction.value is None:
        return _measured_limit(case, series)
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
    elif not case.drawn and isinstance(fit, ApproachFit) and not fit.reason:  # a table is asked for what it shows of the approach
        level = case.contract.level
        outcome = replace(outcome, exponent=_of_base(case, fit.exponents(level)[0]), constant=fit.coefficient(level, fit))
    # Beside a limit that is known the gap is seen to decay; a slower approach must explain a table better to speak against it.
    judged = case.rate is not None and not case.drawn
    slower = _slower(case, series, gaps, better=True) if judged else Slower()
    beyond = _beyond(case, series, fit) if judged else ()
    if slower:
        clause = f"the values do not show this limit and this rate: {_said(case, slower)} explains them better"
        decisions.append(Decision(Verdict.INCONCLUSIVE, clause))
    elif any(beyond):
        other = _slower(case, series, gaps, better=False)
        value = float(prediction.value.midpoint)
        reached = (bool(other) and other.low <= float(number) - value <= other.high for number in _numbers(case))
        beyond = tuple(far and near for far, near in zip(beyond, reached))
        if any(beyond):
            clause = f"{_said(case, other)} explains the values as well as the rate {case.rate}, towards"
            decisions.append(Decision(Verdict.INCONCLUSIVE, f"{clause} the rival {case.prediction.rivals[beyond.index(True)]}"))
    decision = worst_of(decisions)
    excluded = _excluded(case, fit, prediction.value.midpoint, side)
    if slower:  # what the rate implies of the limit is not seen in the values
        excluded = (False,) * len(excluded)
    elif any(beyond):
        excluded = tuple(out and not far for out, far in zip(excluded, beyond))
    return replace(
        outcome,
        verdict=decision.verdict,
        reason=case.sentence(series, decision.clause),
        rejected=excluded,
        left_open=_left_open(case, series, fit, prediction.value.midpoint, excluded),
        improvable=series.route != "exact" and draws_can_help(fit),
        limit=None if fit.reason or slower else shifted(fit.interval(case.contract.level), float(prediction.value)),
        correction=fit.family,
        approach=_approaches(case, fit),
        window=case.ends(series),
        flags=tuple(
            dict.fromkeys((*fit.flags, *([EXCESS] if excess and decision.verdict is Verdict.INCONCLUSIVE else []), *outcome.flags))
        ),
        contradicts=excess or (outcome.contradicts and not side),
        limits=(Fitted(series, fit),),
    )


def _excluded(case: Case, fit: LimitFit | ApproachFit, origin: Decimal, side: int) -> tuple[bool, ...]:
    """Whether each rival lies outside the limits that refute; an end of a bracket excludes from its own side only."""
    low, high = fit.lower(case.rates[0] / 2), fit.upper(case.rates[0] / 2)
    found = []
    for rival, number in zip(case.prediction.rivals, _numbers(case)):
        gap = float(number - origin)
        outside = gap < low if side > 0 else gap > high if side < 0 else not low <= gap <= high
        found.append(outside and not case.coincides(rival))
    return tuple(found)


def _left_open(
    case: Case, series: Series, fit: LimitFit | ApproachFit, origin: Decimal, excluded: Sequence[bool]
) -> tuple[str, ...]:
    """Say of each rival that is not excluded what would exclude it."""
    reaches, found = [closing(fit.stderr_with, case.rates[0] / 2)], []
    for number, done in zip(_numbers(case), excluded):
        gap = abs(float(number - origin) - fit.estimate)
        found.append("" if done else case.advice(series, reaches, gap) if case.final and gap > 0 else "more draws follow")
    return tuple(found)


def _limit_decision(case: Case, series: Series, fit: LimitFit | ApproachFit, apart: bool) -> Decision:
    """Is the limit of the gaps within the tolerance of 0 and, unless the tolerance was declared, not told from 0?"""
    if fit.reason:
        return Decision(Verdict.INCONCLUSIVE, fit.reason)
    tolerance, declared = limit_tolerance(case, series), case.prediction.tolerance is not None
    refute, support = case.rates
    verdict, side = Verdict.INCONCLUSIVE, side_of(series.route)
    # An end of a bracket does not contradict a value that lies beyond the other.
    if (fit.lower(refute / 2) > tolerance and side >= 0) or (fit.upper(refute / 2) < -tolerance and side <= 0):
        verdict = Verdict.REFUTED
    elif fit.decision_lower(support) >= -tolerance and fit.decision_upper(support) <= tolerance:
        verdict = Verdict.SUPPORTED
    claimed = f"the claimed value {float(case.prediction.value or 0):.6g}"
    found = with_error(fit.estimate, fit.interval(case.contract.level).half_width)
    if verdict is Verdict.SUPPORTED and apart and not declared:
        return Decision(
            Verdict.INCONCLUSIVE,
            f"a difference of {found} from {claimed} is established, smaller than the default tolerance {tolerance:.2g}: another "
            f"limit would look like this (as would corrections larger than assumed): {case.axis.further} sizes tell them apart; if "
            f"a limit near that value is claimed, {'declare tolerance=' if case.drawn else 'claim it with more digits'}",
        )
    relation = {Verdict.SUPPORTED: "within", Verdict.REFUTED: "outside"}.get(verdict, "not told from")
    if apart and verdict is not Verdict.REFUTED:
        relation = "not 0 but within" if verdict is Verdict.SUPPORTED else "told from 0 but not from"
    stated = "declared tolerance" if apart and declared and verdict is Verdict.SUPPORTED else "tolerance"
    clause = f"the limit minus {claimed} is {found}, {relation} the {stated} {tolerance:.2g}"
    if verdict is Verdict.INCONCLUSIVE and case.final:
        error_rate = case.rates[1] if abs(fit.estimate) <= tolerance else case.rates[0] / 2
        clause += f": {_undeclared(case, fit)}{case.advice(series, [closing(fit.stderr_with, error_rate)], tolerance)}"
    return Decision(verdict, clause)


def _undeclared(case: Case, fit: LimitFit | ApproachFit) -> str:
    """Say which approaches leave a limit open that is claimed without a rate, and what to declare; empty with one."""
    if isinstance(fit, LimitFit) or fit.declared:
        return ""
    powers, log = fit.exponents(case.contract.level)
    fast, slow = (_power(case, f"{power:.2g}") for power in (powers.high, powers.low or SLOWEST / STEP))
    if not math.isfinite(powers.half_width):
        slowest = f"1/log({case.axis.text.strip('()')})"
        return f"only approaches as slow as {slowest} are compatible with the values: declare the one that is claimed; or "
    if log and powers.low > SLOWEST:
        slow = f"1/log({case.axis.text.strip('()')})"
    seen = "the values still move" if fit.moving > STANDS_OUT else "the values move no more than their errors"
    shown = f"{powers.estimate:.2g}" if math.isfinite(powers.estimate) else "1/2"
    rate = f"{case.base}**({'-' if case.axis.sign > 0 else ''}{shown})"
    return (
        f"{seen}, and approaches from {slow} to {fast} are compatible with them: declare the one that is claimed, such as "
        f'rate="{rate}"; or '
    )


def _power(case: Case, exponent: str) -> str:
    return f"{case.base}^{'-' if case.axis.sign > 0 else ''}{exponent}"


def _approaches(case: Case, fit: LimitFit | ApproachFit) -> str:
    """What is assumed of the approach where no rate and no correction is declared."""
    if isinstance(fit, LimitFit) or fit.declared:
        return ""
    return f"an approach no slower than {_power(case, f'{SLOWEST:g}')} or 1/log({case.axis.text.strip('()')})"


def _measured_limit(case: Case, series: Series) -> Outcome:
    """The limit of the series where none is claimed: what is judged is the rate, and that rivals are not the limit.

    The exponent of the approach is measured without the rate, the limit with it.  SUPPORTED if the values approach their limit as
    fast as that, up to ``within``, and the limit is known to the tolerance and excludes every rival.
    """
    told: dict[str, Any] = {"correction": case.prediction.correction, "amplitude": case.prediction.amplitude}
    free = fit_approach(*_columns(case, series), **told)
    fit = free if case.rate is None else fit_gaps(case, series, series)
    refute, support = case.rates
    excluded = _excluded(case, fit, Decimal(0), side_of(series.route))
    reason = fit.reason or free.reason
    if reason or isinstance(fit, LimitFit):
        return Outcome(
            series.route,
            Verdict.INCONCLUSIVE,
            reason=case.sentence(series, reason),
            rejected=excluded,
            window=case.ends(series),
            correction=fit.family,
            approach=_approaches(case, fit),
            limits=(Fitted(series, fit),),
        )
    level = case.contract.level
    # What is measured and not judged rests on the approaches that are said, unless slower ones explain the values better.
    judged = case.rate is not None or bool(case.prediction.rivals)
    moves = free.moving > STANDS_OUT
    slower = _slower(case, series, series, better=not judged) if moves or case.rate is not None else Slower()
    wide = fit_approach(*_columns(case, series), **told, slow=True)
    powers = wide.exponents(level)[0]
    verdict, clause = Verdict.SUPPORTED, ""
    if case.rate is not None and case.claimed_exponent is not None and math.isfinite(powers.half_width):
        claimed = -case.axis.sign * case.claimed_exponent
        slowest, fastest = wide.exponents(1 - 2 * support)[0].low, wide.exponents(1 - 2 * refute)[0].high
        relation = "as claimed"
        if fastest < claimed - case.within and not slower.log and not slower.grows:
            verdict, relation = Verdict.REFUTED, "slower than"
        elif slowest < slower_than(claimed, case.within):
            verdict, relation = Verdict.INCONCLUSIVE, "which is not told from slower ones than"
        clause = f", approached like {_power(case, f'({with_error(powers.estimate, powers.half_width)})')}, {relation} {case.rate}"
    if slower and verdict is not Verdict.REFUTED:
        verdict = Verdict.INCONCLUSIVE
    # A rate that the values do not show says nothing of their limit.
    seen = fit if verdict is Verdict.SUPPORTED else free
    if seen is not fit:
        excluded = _excluded(case, seen, Decimal(0), side_of(series.route))
    hidden = moves and (slower.grows or slower.log or slower.power < SLOWEST)
    found = None if hidden else seen.interval(level)
    if slower and verdict is Verdict.INCONCLUSIVE and moves:
        compared = ("as well" if judged else "better") + (f" as the rate {case.rate}" if case.rate is not None else "")
        excluded = (False,) * len(excluded)
        clause = f"the values still move and no limit is seen: {_said(case, slower)} explains them {compared}"
        if case.final:
            clause += f"; {case.axis.further} sizes may tell them apart"
    else:
        shown = seen.interval(level)
        if slower and not clause and case.rate is not None:
            clause = f", and its approach is not told from slower ones than {case.rate}"
        clause = f"the limit is {with_error(shown.estimate, shown.half_width)}{clause}"
        tolerance = case.tolerance(case.within * max(abs(shown.estimate), 1e-6 * abs(float(series.values[0]))))
        kept = [rival for rival, out in zip(case.prediction.rivals, excluded) if not out]
        narrow = seen.decision_upper(support) - seen.decision_lower(support) <= 2 * tolerance
        if kept and verdict is not Verdict.REFUTED:
            verdict, clause = Verdict.INCONCLUSIVE, f"{clause}; it is not told from the rival {kept[0]}"
        elif not narrow and verdict is not Verdict.REFUTED:
            verdict, clause = Verdict.INCONCLUSIVE, f"{clause}; it is not known to the tolerance {tolerance:.2g}"
        if verdict is Verdict.INCONCLUSIVE and case.final:
            advice = case.advice(series, [closing(seen.stderr_with, support)], tolerance)
            clause = f"{clause}: {_undeclared(case, seen)}{advice}"
    constant = None if hidden or (seen is free and case.rate is not None) else seen.coefficient(level, free)
    return Outcome(
        series.route,
        verdict,
        reason=case.sentence(series, clause),
        rejected=excluded,
        exponent=None if slower.grows or slower.log else _of_base(case, powers),
        constant=None if constant is None or not math.isfinite(constant.half_width) else constant,
        limit=found,
        improvable=series.route != "exact" and draws_can_help(seen),
        correction=seen.family,
        approach=_approaches(case, seen),
        window=case.ends(series),
        flags=seen.flags,
        limits=(Fitted(series, seen),),
    )


def _beyond(case: Case, series: Series, fit: LimitFit | ApproachFit) -> tuple[bool, ...]:
    """Say which rivals lie beyond the claimed limit as seen from the last value, where slower approaches lead."""
    if fit.reason or isinstance(fit, LimitFit) or fit.moving <= STANDS_OUT or case.prediction.value is None:
        return (False,) * len(case.prediction.rivals)
    value = float(case.prediction.value.midpoint)
    ahead = value - float(series.values[-1])
    return tuple((float(number) - value) * ahead > 0 for number in _numbers(case))


def _slower(case: Case, series: Series, gaps: Series, better: bool) -> Slower:
    """Return what is slower than the declared rate, or than every approach that is assumed without one, and explains the values."""
    return slower_approaches(
        *_columns(case, gaps),
        NormalDist().inv_cdf(1 - case.rates[1]),
        within=case.within,
        **_declared(case, series),
        correction=case.prediction.correction,
        amplitude=case.prediction.amplitude,
        better=better,
    )


def _said(case: Case, slower: Slower) -> str:
    """Name the slowest of what explains the values."""
    log = f"log({case.axis.text.strip('()')})"
    if slower.grows:
        return f"growth without limit, like {log},"
    return (
        f"a slower approach, like a power of 1/{log},"
        if slower.log
        else f"a slower approach, like {_power(case, f'{slower.power:.2g}')},"
    )


def _of_base(case: Case, powers: Interval) -> Interval | None:
    """Return the exponent of the base for the powers by which what is left falls; None where only a logarithm is left."""
    if not math.isfinite(powers.half_width):
        return None
    return case.axis.written(Interval(-powers.estimate, -powers.high, -powers.low, powers.level))


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
    prediction, columns = case.prediction, _columns(case, gaps)
    correction, amplitude = prediction.correction, prediction.amplitude
    if case.rate is not None:
        return fit_approach(*columns, **_declared(case, series), correction=correction, amplitude=amplitude)
    if correction is None or prediction.value is None:
        return fit_approach(*columns, correction=correction, amplitude=amplitude)
    value, first = abs(float(prediction.value)), abs(float(series.values[0]))
    scale = max(value, first, abs(float(gaps.values[0]))) or 1.0
    return fit_limit(*columns, scale=scale, correction=correction, amplitude=amplitude)


def _declared(case: Case, series: Series) -> dict[str, Any]:
    """What is declared of the approach: the logarithms of its rate, and whether a logarithm in it moves along the series."""
    if case.rate is None:
        return {}
    return {"log_rates": case.log_rates(series), "logs": case.rate.logs_along(series.sizes)}


def gaps_of(case: Case, series: Series) -> Series:
    """Return the series minus the value claimed; the series itself where none is."""
    return series if case.prediction.value is None else series.minus(case.prediction.value)


def _columns(case: Case, series: Series) -> tuple[list[float], list[float], list[float]]:
    sizes = [float(size) for size in series.base(case.base)]
    return sizes, [float(value) for value in series.values], [float(error) for error in series.errors]


def limit_tolerance(case: Case, series: Series) -> float:
    """Return how far from the value the limit may lie: by default ``within`` relative to it, or to the first value if it is 0."""
    return case.tolerance(case.within * limit_scale(case, series), 1.0)


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
    faced = [_rival(case, series, rival, other) for rival, other in zip(case.prediction.rivals, _numbers(case))]
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
