"""Growth along a path: BOUND, LAW, SCALING, and the logarithms that fit as well or better."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from theoryck.fitting.data import MIN_SIZES
from theoryck.fitting.fit import NOT_ASYMPTOTIC, POOR_FIT, SURE, RateFit
from theoryck.judging.case import CONSTANT_TOLERANCE, Case
from theoryck.judging.decisions import (
    INSIDE,
    Decision,
    Fitted,
    Outcome,
    equivalence,
    excess_established,
    least_excess,
    one_sided,
    tightness,
    two_sided,
    worst_of,
)
from theoryck.judging.evidence import Series, between, log_rates, with_error
from theoryck.judging.logarithms import log_resolution, without_logs
from theoryck.judging.ratios import (
    Growth,
    closing,
    draws_can_help,
    error_if,
    refuting,
    seen_to_rise,
    supporting,
    tail_quantile,
)
from theoryck.records import Interval, Kind, Tightness, Verdict

EXCESS = "excess established"
EXTRAPOLATED = "growth is extrapolated, not seen"
ENLARGED = 1.5  # of errors that hold, those of 7 sizes are taken 1.1 times as large, those of 5 sizes 1.4 times
STAYS = 0.75  # of a local slope that does not tend to 0
OSCILLATING = "the values change sign from size to size by more than their errors: the bound is one on their size"
TURNS = 3  # of the sign: a smooth curve that crosses 0 does so once or twice on a window, and near it |value| is no power law
SEEN = 5.0  # errors: the absolute value of what is nearer to 0 is larger on average than that of its mean
POORLY = (
    "the values scatter about the fit more than their errors allow, so that the interval is one of larger errors, or of larger "
    "corrections: give errors that hold, more sizes, or declare correction and amplitude"
)


def grown(case: Case, series: Series) -> Outcome:
    """Judge the growth of a quantity relative to its rate on one route."""
    prediction, level = case.prediction, case.contract.level
    if series.zero and prediction.kind in (Kind.BOUND, Kind.LIMIT):
        return _zero(case, series)
    by_size = prediction.constant is not None and prediction.kind is not Kind.SCALING
    turning = prediction.kind is Kind.BOUND and not by_size and _oscillates(series, case.base)
    if turning:
        series = replace(series, values=tuple(abs(value) for value in series.values))
    rates = case.log_rates(series)
    growth = case.fit(series, rates)
    fit = growth.fit
    constant, excess, extrapolated = growth.constant(level), False, False
    if by_size and case.rate is not None:
        if series.stated:
            series = series.enlarged(fit.enlargement(min(case.rates)))
        decisions = [case.pointwise(series, case.rate)]
    else:
        excess = _excess_established(case, growth)
        extrapolated = _only_extrapolated(case, series, growth)
        decisions = [_growth_decision(case, series, growth, excess, extrapolated)]
        if decisions[0].verdict in INSIDE and (otherwise := _seen_otherwise(case, growth)):
            decisions, extrapolated = [Decision(Verdict.INCONCLUSIVE, otherwise)], True
    if prediction.constant is not None and prediction.kind is Kind.SCALING:
        constant, decision, apart = _scaling_constant(case, series)
        decisions.append(decision)
        excess = excess or apart
    if case.computed(series) and (unseen := _unseen(case, growth, decisions[0].verdict)):
        decisions, extrapolated = [Decision(Verdict.INCONCLUSIVE, unseen)], True
    if case.computed(series) and (bare := _without_log(case, series, growth)):
        decisions, extrapolated = [Decision(Verdict.REFUTED, bare)], False
    decision = worst_of(decisions)
    faced = [_faced(case, series, growth, rival, decision.verdict in INSIDE) for rival in prediction.rivals]
    claimed = case.claimed_exponent
    interval = fit.interval(level)
    finite = fit.identifiable and not (case.computed(series) and math.isinf(interval.high - interval.low))
    slack = Interval(-interval.estimate, -interval.high, -interval.low, level)
    return Outcome(
        name=series.route,
        verdict=decision.verdict,
        reason=case.sentence(series, decision.clause) + _enlarged(fit),
        clause=decision.clause,
        rejected=tuple(each.rejected for each in faced),
        left_open=tuple(each.left_open for each in faced),
        exponent=case.exponent(interval) if finite and claimed is not None else None,
        slack=slack if finite and prediction.kind is Kind.BOUND else None,
        constant=constant if finite else None,
        tightness=tightness(slack, case.within) if prediction.kind is Kind.BOUND else None,
        rigorous=decision.rigorous,
        complete=len(series) == len(case.points),
        improvable=series.route != "exact"
        and (draws_can_help(fit) or (not finite and len(set(series.base(case.base))) >= MIN_SIZES)),
        correction=None if by_size else fit.family,
        window=case.ends(series),
        flags=(
            *([OSCILLATING] if turning else []),
            *fit.flags,
            *([EXTRAPOLATED] if extrapolated else [EXCESS] if excess and decision.verdict is Verdict.INCONCLUSIVE else []),
            functools.partial(_log_flags, case, series, decision, growth, by_size),
        ),
        offsets=_offsets(case, series, growth),
        contradicts=excess,
        growths=(Fitted(series, growth, rates),),
    )


def _oscillates(series: Series, base: str) -> bool:
    """Whether values change sign from size to size, each beyond its error: a bound is then one on their size."""
    values = [value for _, value in sorted(zip(series.base(base), series.values))]
    turns = sum(a * b < 0 for a, b in itertools.pairwise(values))
    far = all(value and abs(value) >= Decimal(SEEN) * error for value, error in zip(series.values, series.errors))
    return turns >= TURNS and far


def _enlarged(fit: RateFit) -> str:
    """Say that stated errors were enlarged, where that is more than one would expect of errors that hold."""
    if fit.factor < ENLARGED or not fit.identifiable:
        return ""
    return f"; the errors are taken {fit.factor:.2g} times as large as stated, as far as the scatter about the fit allows"


def _offsets(case: Case, series: Series, growth: Growth) -> tuple[float, ...]:
    """The exponent measured minus the one claimed, and minus each rival; for bounds the sign of the values."""
    if case.prediction.kind is not Kind.SCALING:
        return (float(growth.fit.sign),) * (1 + len(case.prediction.rivals))
    if case.claimed.by_rate:
        return (growth.excess, *(_against(case, series, rival).excess for rival in case.prediction.rivals))
    claimed = float(case.prediction.exponent or 0)
    others = (growth.excess + case.axis.sign * (claimed - case.claimed.rival_exponents[rival]) for rival in case.prediction.rivals)
    return (growth.excess, *others)


def _zero(case: Case, series: Series) -> Outcome:
    """Zero is within every bound, of whatever rate; draws that all vanished do not prove that the mean does."""
    proved = series.route == "exact" and series.rigorous
    verdict = Verdict.CERTIFIED if proved else Verdict.SUPPORTED
    clause = "the quantity is exactly 0 at every size, which satisfies any bound"
    return Outcome(
        name=series.route,
        verdict=verdict,
        reason=case.sentence(series, clause),
        clause=clause,
        rejected=(False,) * len(case.prediction.rivals),
        tightness=None if case.prediction.kind is not Kind.BOUND else Tightness.LOOSE if proved else Tightness.UNDETERMINED,
        rigorous=proved,
        complete=len(series) == len(case.points),
        window=case.ends(series),
        growths=(Fitted(series, case.fit(series, [0.0] * len(series))),),
    )


def _log_flags(case: Case, series: Series, decision: Decision, growth: Growth, by_size: bool) -> tuple[str, ...]:
    """Say that a logarithm of the rate cannot be told from none or, where a rate without is supported, that one could hide.

    On a window log(d)**r looks like a power r / log(d), which corrections imitate.  Nothing is said of a bound with a constant,
    which is no statement about growth.
    """
    if by_size:
        return ()
    if case.rate is not None:
        options = {"correction": case.prediction.correction, "amplitude": case.prediction.amplitude}
        resolution = log_resolution(series, case.base, case.rate, level=case.contract.level, **options)
        if resolution is not None:
            return (resolution.text,) if resolution.text else ()
    claims_growth = case.rate is not None or case.prediction.kind is Kind.SCALING
    if decision.verdict not in INSIDE or not claims_growth or min(series.base(case.base)) < 2:
        return ()
    return (*_hidden_log(case, series, growth), *_likelier_log(case, series, growth))


LOG_POWERS = ((1.0, ""), (0.5, "^(1/2)"), (-1.0, "^(-1)"), (-0.5, "^(-1/2)"))


def _with_log(case: Case, series: Series, power: float) -> Growth:
    """Fit the ratio to what is claimed times a power of the logarithm of the base."""
    rates = case.log_rates(series)
    return case.fit(series, [rate + power * math.log(math.log(size)) for rate, size in zip(rates, series.base(case.base))])


def _hidden_log(case: Case, series: Series, growth: Growth) -> tuple[str, ...]:
    """Say that the claim with a logarithm fits as well: with its exponent, and no larger corrections or errors than without."""
    both_ways = case.prediction.kind is Kind.SCALING  # a bound holds all the more with a factor that falls
    for power, shown in LOG_POWERS[: 4 if both_ways else 2]:
        other = _with_log(case, series, power)
        if other.fit.interval(case.contract.level).contains(0.0) and not _needs_more(series, growth, other):
            return (f"a factor {_log(case)}{shown} would fit as well",)
    return ()


def _needs_more(series: Series, growth: Growth, other: Growth) -> bool:
    """Whether the other fit needs larger corrections or errors: then its interval is wide, and holds 0 for explaining badly."""
    if _largest(other.fit) > WIDENED * _largest(growth.fit) or other.fit.p_value < POOR_FIT <= growth.fit.p_value:
        return True
    return series.stated and other.fit.factor >= ENLARGED and _gain(series, growth, other) < -TOLD


def _largest(fit: RateFit) -> float:
    """Return how large the corrections of a fit may be, in units of the leading term at the first size."""
    return max(each.family.size for each in fit.explanations or (fit,))


def _likelier_log(case: Case, series: Series, growth: Growth) -> tuple[str, ...]:
    """Say where another power beside a logarithm explains the values better than the power that a scaling claims, or as well.

    Better by 1 (:func:`_gain`): d^0.9 and d/log(d) differ by 1.1 on d = 16..2048 at errors of 1%, by 2.8 at 0.1%.  Which of the two
    it is the values do not say then, unless the difference is that of :func:`_log_instead`.  Where stated errors are enlarged the
    scatter that enlarges them is all that tells one from the other: at a tenth of the true errors, 8 sizes, a difference of 1 is
    found of 21 of 50 true powers and of 12 of 50 laws d/log(d), one of :data:`TOLD` of 1 and of none.  What differs by less fits as
    well then, and that is said.
    """
    found = _best_log(case, series, growth) if case.prediction.kind is Kind.SCALING else None
    if found is None:
        return ()
    shown, other, gain = found
    enlarged = series.stated and growth.fit.factor >= ENLARGED
    if gain < (-TOLD if enlarged else BETTER):
        return ()
    power = case.exponent(other.fit.interval(case.contract.level))
    what = f"the exponent {with_error(power.estimate, power.half_width)} and a factor {_log(case)}{shown}"
    return (f"{what} would fit as well" if enlarged and gain < TOLD else f"{what} would fit better",)


def _best_log(case: Case, series: Series, growth: Growth) -> tuple[str, Growth, float] | None:
    """Return the fit with a logarithm that explains the values best, if it has another exponent, and its gain."""
    if not growth.fit.identifiable or growth.fit.chi2 < 1 or min(series.base(case.base)) < 2:
        return None
    if case.computed(series) and growth.fit.wider is not None:
        return None  # each fit has a noise of its own
    fits = [(shown, _with_log(case, series, power)) for power, shown in LOG_POWERS]
    shown, other = min(fits, key=lambda entry: entry[1].fit.chi2)
    if not other.fit.identifiable or other.fit.interval(case.contract.level).contains(0.0):
        return None
    return shown, other, _gain(series, growth, other)


def _gain(series: Series, growth: Growth, other: Growth) -> float:
    """Return twice the logarithm of how much likelier the other fit makes the values: by how much it lowers chi2.

    Errors that somebody stated may all be too small by one factor, and each fit takes the likeliest, chi2 / dof if that is above 1:
    of values that scatter ten times as much as stated, chi2 differs by hundreds between fits of which neither explains them.
    """
    if not series.stated:
        return growth.fit.chi2 - other.fit.chi2

    def surprise(fit: RateFit) -> float:
        square = max(fit.chi2 / fit.dof, 1.0) if fit.dof else 1.0
        return fit.chi2 / square + fit.dof * math.log(square)

    return surprise(growth.fit) - surprise(other.fit)


def _log(case: Case) -> str:
    return f"log({case.axis.text.strip('()')})"


BETTER, TOLD, LIKELIER = 1.0, 2 * math.log(10.0), 2 * math.log(100.0)  # of the gain of an explanation
TOO_LARGE = 4.0  # times the size of corrections: a first term twice as large, and a second four times
WIDENED = 1.2  # families are widened by steps of 1.41, and differ by rounded noise otherwise


def _log_instead(case: Case, series: Series, growth: Growth) -> str:
    """Say that the values support another power with a logarithm instead of the one claimed, which differs by more than ``within``.

    It explains them with the corrections that are allowed for, where the claimed one needs larger ones or does not explain them at
    all; or it is 100 times likelier, to which a true power falls in fewer than 1 run in 100 for each logarithm (by Markov's
    inequality).  Beside errors that somebody stated only the likelihood counts, as they may be too small: there 10 times are
    enough, which leave 1 in 50 true powers open, and of laws d/log(d) on 11 sizes 10 in 25.
    """
    found = _best_log(case, series, growth)
    if found is None or abs(found[1].excess) <= case.within or found[2] < BETTER:
        return ""
    shown, other, gain = found
    larger = growth.fit.family.size > WIDENED * other.fit.family.size or growth.fit.p_value < POOR_FIT
    explained = larger and other.fit.p_value >= POOR_FIT and not series.stated
    if not explained and gain < (TOLD if series.stated else LIKELIER):
        return ""
    power = case.exponent(other.fit.interval(case.contract.level))
    return (
        f"the exponent {with_error(power.estimate, power.half_width)} with a factor {_log(case)}{shown} explains the values, and "
        f"the claimed exponent {case.claimed_exponent:g} alone does not, with the corrections that are allowed for: claim a bound "
        "by the rate with its logarithm, or declare the correction"
    )


def _without_log(case: Case, series: Series, growth: Growth) -> str:
    """Say that values follow the rate without its logarithm to so many digits that they cannot follow it with that.

    The bare rate explains them with the corrections that are allowed for, and the claimed one takes ones :data:`TOO_LARGE`, to
    which no rounding of a true law leads.  The exponent of the bare one is known to :func:`least_excess`, 0.01: a factor
    ``log(1/h) + c`` would move it by ``1/(log(1/h) + c)``, which is more for every c below 90.
    """
    if case.rate is None or not case.claimed.by_rate:
        return ""
    bare = without_logs(case.rate, case.rate.varying(series.sizes))
    if bare == case.rate:
        return ""
    other, least = case.fit(series, log_rates(bare, series)), least_excess(case.within)
    interval = other.fit.interval(case.contract.level)
    if not (other.fit.identifiable and -least <= interval.low and interval.high <= least and interval.contains(0.0)):
        return ""
    if other.fit.p_value < POOR_FIT or other.fit.reach or _largest(growth.fit) < TOO_LARGE * _largest(other.fit):
        return ""
    return (
        f"the values follow {bare}, to {interval.half_width:.1g} in the exponent and with the corrections that are allowed for; "
        f"the claimed {case.rate} would take larger ones, which undo its logarithm"
    )


def _scaling_constant(case: Case, series: Series) -> tuple[Interval, Decision, bool]:
    """Fit the prefactor at the claimed exponent, compare it with the one claimed, and say whether it excludes that one.

    A tolerance that is declared belongs to what is claimed, so that nothing within it counts as excluded.
    """
    claimed = float(case.prediction.constant or 0)
    growth = case.fit(series, case.log_rates(series), exponent=0.0)
    shown_interval = growth.prefactor(case.contract.level)
    stderr = shown_interval.half_width / tail_quantile(0.5 - case.contract.level / 2)
    if not growth.fit.identifiable:
        return shown_interval, Decision(Verdict.INCONCLUSIVE, growth.fit.reason), False
    relative = case.tolerance(CONSTANT_TOLERANCE)
    tolerance = relative * abs(claimed)
    verdict = equivalence(shown_interval.estimate - claimed, stderr, 0.0, tolerance, *case.rates)
    text = with_error(shown_interval.estimate, shown_interval.half_width)
    clause = f"its constant is {text}, claimed {claimed:g} with tolerance {tolerance:.2g} ({relative:g} relative)"
    apart = case.prediction.tolerance is None and _constant_excluded(case, growth, shown_interval, claimed)
    if apart and verdict is Verdict.SUPPORTED:
        clause = (
            f"a difference of its constant, {text}, from the claimed {claimed:g} is established, smaller than the default "
            f"tolerance {tolerance:.2g} ({relative:g} relative): another constant would look like this (as would corrections "
            f"larger than assumed): {case.axis.further} sizes tell them apart; if a constant near that value is claimed, declare "
            "tolerance="
        )
        return shown_interval, Decision(Verdict.INCONCLUSIVE, clause), True
    if verdict is Verdict.INCONCLUSIVE and case.final and growth.fit.system is not None:
        system, size = growth.fit.system, abs(shown_interval.estimate)
        gap = abs(shown_interval.estimate - claimed)
        rate = case.rates[1] if gap <= tolerance and not apart else case.rates[0] / 2
        reach = closing(lambda factor: size * system.log_stderr_with(factor) * system.inflation, rate)
        clause += f": {case.advice(series, [reach], gap - tolerance if apart else tolerance)}"
    return shown_interval, Decision(verdict, clause), apart


def _constant_excluded(case: Case, growth: Growth, found: Interval, claimed: float) -> bool:
    """Whether the evidence excludes the claimed constant itself, at the rate at which it would be refuted without a tolerance.

    At the level of :func:`excess_established` too many true constants would fall: at a fixed exponent the error is mostly noise, of
    which 2.5% lie beyond each limit, where the exponent's own limits leave 0.1%.
    """
    if found.contains(claimed) or found.estimate * claimed <= 0:
        return False  # one of the wrong sign is no near miss
    fits = growth.fit.explanations or (growth.fit,)
    reach = max(fit.system.constant_error().decision_reach(case.rates[0] / 2) if fit.system else math.inf for fit in fits)
    return abs(math.log(found.estimate / claimed)) > max(reach, least_excess(case.within))


@dataclass(frozen=True, slots=True)
class Facing:
    """What the evidence says of a rival: whether it is rejected and, if that is open, what would decide."""

    rejected: bool
    left_open: str = ""


def _faced(case: Case, series: Series, growth: Growth, rival: str, supported: bool) -> Facing:
    """Put the same test to a rival: it is rejected if that refutes it, and holds as well if that supports it.

    Corrections as large as the ratio to a logarithm takes have no end on values without noise, and nothing would refute it.  Where
    the claim is supported, to at most half of what tells the two apart on these sizes, the rival holds no oftener than claims are
    supported falsely: it is rejected if it needs larger corrections than the claim does.
    """
    if case.prediction.kind is Kind.LIMIT or case.coincides(rival):
        return Facing(False)  # the rivals of a limit are values, not rates: they are put to the limit itself
    if case.prediction.kind is Kind.SCALING:
        if case.claimed.by_rate:
            other = _against(case, series, rival)
            told = supported and case.computed(series) and _needs_more(series, growth, other)
            if told or two_sided(other.fit, case.within, *case.rates) is Verdict.REFUTED:
                return Facing(True)
            rates = log_rates(case.claimed.rival_rates[rival], series)
            return Facing(False, _rival_budget(case, series, rates, other.excess, abs(other.excess) - case.within))
        offset = case.axis.sign * (case.claimed.rival_exponents[rival] - float(case.prediction.exponent or 0))
        if two_sided(growth.fit, case.within, *case.rates, offset=offset) is Verdict.REFUTED:
            return Facing(True)
        gap = abs(growth.excess - offset) - case.within
        return Facing(False, _rival_budget(case, series, case.log_rates(series), growth.excess, gap))
    faster = case.claimed.rival_rates[rival]
    if case.prediction.constant is not None and case.pointwise(series, faster).verdict is Verdict.REFUTED:
        return Facing(True)
    rates = log_rates(faster, series)
    fit = case.fit(series, rates).fit
    verdict = one_sided(fit, case.within, *case.rates)
    if verdict is Verdict.REFUTED and seen_to_rise(series, case.base, rates, fit.sign):
        return Facing(True)
    if verdict is Verdict.SUPPORTED:
        return Facing(False)
    excess = fit.exponent.estimate
    return Facing(False, _rival_budget(case, series, rates, excess, excess - case.within))


def _rival_budget(case: Case, series: Series, rates: Sequence[float], excess: float, gap: float) -> str:
    """Say what would reject a rival, from which the ratio to ``rates`` is told by ``gap`` more than is tolerated."""
    if not case.final:
        return "more draws follow"
    if not math.isfinite(excess):
        return "no exponent was found"
    options = {"correction": case.prediction.correction, "amplitude": case.prediction.amplitude}
    rate = case.rates[0] / (2 if case.prediction.kind is Kind.SCALING else 1)
    return case.advice(series, [refuting(error_if(series, case.base, rates, excess, **options), rate)], gap)


def _against(case: Case, series: Series, rival: str) -> Growth:
    """Fit the ratio to the rate of a rival."""
    return case.fit(series, log_rates(case.claimed.rival_rates[rival], series))


def _threshold(case: Case) -> float:
    """The largest exponent of the ratio that counts as what is claimed; a law without a rate must decay."""
    return -case.within if case.prediction.kind is Kind.LAW and case.rate is None else case.within


def _excess_established(case: Case, growth: Growth) -> bool:
    """Whether the evidence excludes the claimed exponent itself, be it by less than ``within``.

    A law without a rate claims no exponent.
    """
    if case.prediction.kind is Kind.LAW and case.rate is None:
        return False
    return excess_established(growth.fit, case.contract.level, case.within, both_sides=case.prediction.kind is Kind.SCALING)


def _only_extrapolated(case: Case, series: Series, growth: Growth) -> bool:
    """Whether a bound would be refuted by values that fall relative to its rate at the larger half of the sizes.

    Then the growth is what the fit expects beyond the window, once corrections are taken off: values such as 1 + 256/d, whose
    corrections are larger than assumed, look like that.  A bound is not refuted by what was not seen.
    """
    if case.prediction.kind is Kind.SCALING or case.rate is None:
        return False
    refuted = one_sided(growth.fit, _threshold(case), *case.rates) is Verdict.REFUTED
    return refuted and not seen_to_rise(series, case.base, case.log_rates(series), growth.fit.sign)


def _growth_decision(case: Case, series: Series, growth: Growth, excess: bool, extrapolated: bool) -> Decision:
    threshold, fit = _threshold(case), growth.fit
    if extrapolated:
        shown = _shown(case, growth)
        return Decision(
            Verdict.INCONCLUSIVE,
            f"relative to the rate {case.rate} the fit grows like {shown}, but the values fall over the "
            f"{case.axis.further} half of the sizes: the growth is extrapolated from corrections that may be larger than assumed; "
            f"declare correction and amplitude, or take {case.axis.further} sizes",
        )
    if case.prediction.kind is Kind.SCALING:
        verdict = two_sided(fit, case.within, *case.rates)
    else:
        verdict = one_sided(fit, threshold, *case.rates)
    if excess and verdict in INSIDE:
        return Decision(Verdict.INCONCLUSIVE, _excess_clause(case, growth))
    if case.prediction.kind is Kind.SCALING and verdict in INSIDE and (instead := _log_instead(case, series, growth)):
        return Decision(Verdict.INCONCLUSIVE, instead)
    return Decision(verdict, _growth_clause(case, series, growth, verdict, excess))


def _seen_otherwise(case: Case, growth: Growth) -> str:
    """Say that what a fit would support is seen nowhere: every local slope over the larger half is beyond it, and stays there.

    A fit extrapolates: it takes off corrections.  Where they are all that keeps the values from what is claimed, the slopes tend to
    it: those of ``d**-1/2`` fall to half over two doublings of the size, and the line is drawn at three quarters.
    """
    threshold, slopes = _threshold(case), growth.fit.local_slopes
    seen = [each.slope for each in slopes[-max(MIN_SIZES - 1, len(slopes) // 2) :] if each.slope is not None]
    if not seen or abs(seen[-1]) < STAYS * abs(seen[0]):
        return ""
    if not (min(seen) > threshold or (case.prediction.kind is Kind.SCALING and max(seen) < -threshold)):
        return ""
    return (
        f"the fit would support what is claimed, yet relative to it the values grow like {case.axis.text}^({min(seen):.2g}) to "
        f"{case.axis.text}^({max(seen):.2g}) from size to size over the {case.axis.further} half of them: the rest is extrapolated "
        f"from corrections; take {case.axis.further} sizes, or declare the correction"
    )


def _unseen(case: Case, growth: Growth, verdict: Verdict) -> str:
    """Say that a verdict on values without noise rests on corrections that were not assumed, or on slopes that no size has shown.

    Those of the further half of the sizes count, where they are known to ``within``: what is refuted lies outside their range by
    more than that, and what is supported does not.
    """
    early, within = any(flag.startswith(NOT_ASYMPTOTIC) for flag in growth.fit.flags), case.within
    slopes = [each.slope for each in growth.fit.local_slopes if each.slope is not None and SURE * (each.stderr or 0.0) < within]
    if not growth.fit.identifiable or not slopes:
        return ""
    low, high = min(seen := slopes[len(slopes) // 2 :]), max(seen)
    outside = low > within or high < -within
    if not (early if verdict is not Verdict.REFUTED else not outside) and not (verdict in INSIDE and outside):
        return ""
    orders = [case.axis.sign * (slope + case.axis.sign * (case.claimed_exponent or 0.0)) for slope in (seen[0], seen[-1])]
    shown = f"from size to size the values follow {case.base}^({orders[0]:.3g}) to {case.base}^({orders[1]:.3g})"
    if early:
        shown = f"{NOT_ASYMPTOTIC}: {shown}, which takes corrections larger than assumed, and where that ends is not seen"
    else:
        shown = f"{shown} over the {case.axis.further} half of the sizes, and what the fit says beyond is extrapolated, not seen"
    return f"{shown}: take {case.axis.further} sizes, or declare correction and amplitude"


def _shown(case: Case, growth: Growth) -> str:
    """Return the growth of the ratio, as ``d^(0.02 +/- 0.01)``; where the fit is poor, as an interval that need not be centred."""
    interval = growth.fit.interval(case.contract.level)
    if not case.noisy and (math.isinf(interval.high) or math.isinf(interval.low)):
        end = f"at least {interval.low:.3g}" if math.isinf(interval.high) else f"at most {interval.high:.3g}"
        return f"{case.axis.text}^e with e {end if math.isfinite(max(interval.low, -interval.high)) else 'unknown'}"
    if growth.fit.explanations or growth.fit.reach:
        return f"{case.axis.text}^e with e in {between(interval, 3)}"
    return f"{case.axis.text}^({with_error(growth.excess, interval.half_width)})"


def _excess_clause(case: Case, growth: Growth) -> str:
    shown = with_error(growth.excess, growth.fit.interval(case.contract.level).half_width)
    if case.prediction.kind is Kind.SCALING:
        shown = with_error(case.axis.sign * growth.excess, growth.fit.interval(case.contract.level).half_width)
        found, what = f"a difference of {shown} from the claimed exponent {case.claimed_exponent:g}", "another exponent"
    else:
        found, what = f"an excess of {shown} over the rate {case.rate}", "a slower rate"
    return (
        f"{found} is established, smaller than within = {case.within:g}: {what}, or a factor of log({case.base}), "
        f"would look like this (as would corrections larger than assumed): {case.axis.further} sizes tell them apart"
    )


def _growth_clause(case: Case, series: Series, growth: Growth, verdict: Verdict, excess: bool) -> str:
    fit, threshold = growth.fit, _threshold(case)
    if not fit.identifiable:
        return _on_both_sides(case, series, fit) or fit.reason
    two_sides = case.prediction.kind is Kind.SCALING
    against = f"rate {case.rate}" if case.rate is not None else f"claimed {case.base}^({case.claimed_exponent:g})"
    what = f"relative to the {against} it grows like {_shown(case, growth)}"
    if case.prediction.kind is Kind.LAW and case.rate is None:
        what = f"the distance to the law grows like {_shown(case, growth)}"
    refute, support = case.rates
    if verdict is Verdict.SUPPORTED:
        upper, at = fit.decision_upper(support), f"at error rate {support:.2g}"
        if two_sides:
            lower = fit.decision_lower(support)
            return f"{what}; its limits {at}, {lower:.3g} and {upper:.3g}, lie within the tolerated +-{threshold:g}"
        return f"{what}; its upper limit {at}, {upper:.3g}, is at most the tolerated {threshold:g}"
    if verdict is Verdict.REFUTED:
        at = f"at error rate {refute:.2g}"
        if growth.excess > threshold:
            limit = fit.lower(refute / 2 if two_sides else refute)
            return f"{what}; even its lower limit {at}, {limit:.3g}, is above the tolerated {threshold:g}"
        return f"{what}; even its upper limit {at}, {fit.upper(refute / 2):.3g}, is below the tolerated {-threshold:g}"
    edge = f"the tolerated +-{threshold:g}" if two_sides else f"the tolerated {threshold:g}"
    relation = f"which is told from 0 but not from {edge}" if excess else f"which is not told from {edge}"
    return f"{what}, {relation}: {_budget(case, series, growth, excess)}"


def _on_both_sides(case: Case, series: Series, fit: RateFit) -> str:
    """Say that values lie on both sides of a claimed limit, each beyond its error, so that no rate of approach is seen."""
    if case.prediction.kind is not Kind.LIMIT or fit.sign:
        return ""
    beyond = [
        (value, size) for value, error, size in zip(series.values, series.errors, series.shown(case.base)) if abs(value) > error
    ]
    above, below = ([size for value, size in beyond if side * value > 0] for side in (1, -1))
    if not (above and below):
        return ""
    return (
        f"the values lie above the claimed limit at {case.base} = {above[0]} and below it at {case.base} = {below[0]}, so that "
        "what is left of it follows no power law: if they tend to another limit, claim that one; if they oscillate about this one, "
        "audit |value - limit| as a bound"
    )


def _budget(case: Case, series: Series, growth: Growth, excess: bool) -> str:
    """Say what would decide if the claim were exactly true, or wrong by twice ``within``: whichever the estimate is nearer.

    Where an ``excess`` is established it is neither: only what is measured can be told from what is tolerated.
    """
    if not case.final:
        return "more draws follow"
    if not case.drawn and growth.fit.p_value < POOR_FIT:
        return POORLY
    two_sides, threshold = case.prediction.kind is Kind.SCALING, _threshold(case)
    true = (abs(growth.excess) if two_sides else growth.excess) <= threshold
    side = -1.0 if two_sides and growth.excess < 0 else 1.0
    centre, rates = threshold - case.within, case.log_rates(series)
    options = {"correction": case.prediction.correction, "amplitude": case.prediction.amplitude}
    refute, support = case.rates
    if excess:
        measured = error_if(series, case.base, rates, growth.excess, **options)
        gap = (abs(growth.excess) if two_sides else growth.excess) - threshold
        return case.advice(series, [refuting(measured, refute / (1 + two_sides))], gap)
    reaches = [
        supporting(error_if(series, case.base, rates, centre, **options), support),
        refuting(error_if(series, case.base, rates, centre + side * 2 * case.within, **options), refute / (1 + two_sides)),
    ]
    # If the nearer one would stay open for ever, the other may still be decided.
    return case.advice(series, reaches if true else reaches[::-1], case.within)
