"""The tests that verdicts are made of: each takes numbers and declared error rates, and says which side they fall on.

Outcomes are what one route says on its own; combined, a refutation comes first, then support, then whatever is narrowest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction
from typing import Generic, TypeVar

from theoryck.fitting.approach import ApproachFit
from theoryck.fitting.corrections import CorrectionFamily
from theoryck.fitting.fit import RateFit
from theoryck.fitting.limit import LimitFit
from theoryck.judging.evidence import DIGITS, Series, telling_names, with_error
from theoryck.judging.ratios import Growth, closing, factor_to_decide, more_draws, tail_quantile
from theoryck.rates.rate import Rate
from theoryck.records import Interval, Route, Size, Tightness, Verdict
from theoryck.records.values import size_text

MANY_RADII = 10  # separation at which two values of which only digits agree (not proved enclosures) are taken for different
IDENTITY_TOLERANCE = 1e-15
LEAST_EXCESS = 0.01  # a factor log(d)^(1/4) makes an excess of 1/(4 log d), which is more for every size below 7e10


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict, the clause that explains it, and whether it rests on proved enclosures only."""

    verdict: Verdict
    clause: str
    rigorous: bool = False


def one_sided(fit: RateFit, within: float, false_refute_rate: float, false_support_rate: float) -> Verdict:
    """Is the exponent at most ``within``?  SUPPORTED, REFUTED or INCONCLUSIVE.

    Support rests on a limit that no truth of the correction family misses more often than ``false_support_rate``; a refutation of
    a true claim would need an error larger than the limit's by ``within``.
    """
    if not fit.identifiable:
        return Verdict.INCONCLUSIVE
    if fit.lower(false_refute_rate) > within:
        return Verdict.REFUTED
    return Verdict.SUPPORTED if fit.decision_upper(false_support_rate) <= within else Verdict.INCONCLUSIVE


def two_sided(fit: RateFit, within: float, false_refute_rate: float, false_support_rate: float, offset: float = 0.0) -> Verdict:
    """Does the exponent lie within ``within`` of ``offset``?  Two one-sided tests for support, a two-sided one to refute."""
    if not fit.identifiable:
        return Verdict.INCONCLUSIVE
    if fit.lower(false_refute_rate / 2) > offset + within or fit.upper(false_refute_rate / 2) < offset - within:
        return Verdict.REFUTED
    upper, lower = fit.decision_upper(false_support_rate), fit.decision_lower(false_support_rate)
    inside = upper <= offset + within and lower >= offset - within
    return Verdict.SUPPORTED if inside else Verdict.INCONCLUSIVE


def excess_established(fit: RateFit, level: float, within: float, both_sides: bool = False) -> bool:
    """Whether the interval at ``level``, made to hold at every truth of the correction family, lies above 0 (or misses it).

    A true claim loses no more than that tail of its power: for 2.5% on d = 16..1024 it loses 0.05% to 0.2% without corrections, and
    2.5% at the worst corner, from 1e3 to 1e7 draws.  The level is that of the intervals, not a look's share of the error rates:
    with that an early look would support what a later one excludes.  Estimates below LEAST_EXCESS, and far below ``within``, are
    left alone: exact values have errors of 1e-7, and no family of corrections is complete to that.
    """
    if not fit.identifiable or abs(fit.exponent.estimate) < least_excess(within):
        return False
    tail = 0.5 - level / 2
    return fit.decision_lower(tail) > 0 or (both_sides and fit.decision_upper(tail) < 0)


def least_excess(within: float) -> float:
    """Return below which an exponent, or a relative difference between numbers, is left alone: no correction family is complete.

    Exact values have errors of 1e-7, and a correction ``2 log(d)/d``, which is in no family, moves a constant on d = 16..1024 by
    0.1% for exact values, by 0.8% at errors of 0.1% and by 1.4%, less than its error, at 0.5%.
    """
    return min(LEAST_EXCESS, within / 5)


def equivalence(
    estimate: float, stderr: float, radius: float, tolerance: float, false_refute_rate: float, false_support_rate: float
) -> Verdict:
    """Is a number, known to ``radius`` plus Gaussian ``stderr``, within ``tolerance`` of 0?"""
    gap = abs(estimate)
    if gap - radius - tail_quantile(false_refute_rate / 2) * stderr > tolerance:
        return Verdict.REFUTED
    supported = gap + radius + tail_quantile(false_support_rate) * stderr <= tolerance
    return Verdict.SUPPORTED if supported else Verdict.INCONCLUSIVE


def tightness(slack: Interval, within: float) -> Tightness:
    """TIGHT if the interval of the slack lies in +-within and contains 0, LOOSE if above ``within``, else UNDETERMINED.

    An interval within :func:`least_excess` of 0 counts as one that contains it.
    """
    if slack.low > within:
        return Tightness.LOOSE
    return Tightness.TIGHT if _small(slack, within) and not slack_seen(slack, within) else Tightness.UNDETERMINED


def slack_seen(slack: Interval, within: float) -> bool:
    """Whether the interval of the slack excludes 0 though it lies in +-within: the bound is neither tight nor shown to be loose."""
    return _small(slack, within) and not slack.contains(0.0) and not _small(slack, least_excess(within))


def _small(interval: Interval, most: float) -> bool:
    return -most <= interval.low and interval.high <= most


@dataclass(frozen=True, slots=True)
class _Compared:
    """A value and its bound at one size: ``error`` is the half-width at the level shown, ``factor`` the draws that would decide."""

    verdict: Verdict
    value: Decimal
    bound: Decimal
    error: Decimal
    factor: float
    place: str

    @property
    def excess(self) -> float:
        """By how much the value exceeds the bound: relative to it, or absolute where it is 0."""
        with localcontext() as context:
            context.prec = 2 * DIGITS
            return float((self.value - self.bound) / (abs(self.bound) or 1))

    @property
    def times(self) -> str:
        """The value in units of the bound, with as many digits as tell it from 1."""
        half = float(self.error / abs(self.bound))
        if half > 1e-6:
            return with_error(1 + self.excess, half)
        if 0 < abs(self.excess) < 1e-4:
            return f"(1 {'-' if self.excess < 0 else '+'} {abs(self.excess):.3g})"
        return f"{1 + self.excess:.6g}"


def pointwise(
    series: Series,
    rate: Rate,
    constant: float,
    tolerance: float,
    false_refute_rate: float,
    false_support_rate: float,
    *,
    level: float = 0.95,
    what: str = "the quantity",
) -> Decision:
    """Is every value at most ``constant * rate`` at its own size?  Enclosures decide by their ends, estimates by z-tests."""
    z_refute, z_support = Decimal(tail_quantile(false_refute_rate / len(series))), Decimal(tail_quantile(false_support_rate))
    names, found = telling_names(series.sizes), []
    with localcontext() as context:
        context.prec = 2 * DIGITS  # sums of a midpoint and a radius are exact
        for sizes, value, error in zip(series.sizes, series.values, series.errors):
            low, high = bound_at(rate, constant, sizes)
            if series.route == "exact":
                shown = reach = error * (1 if series.rigorous else MANY_RADII)
                verdict, factor = _side(value + reach <= low, value - reach > high), math.inf
            else:
                # An equality can only be supported with a margin, which `tolerance` declares relative to the bound.
                margin = abs(high) * Decimal(tolerance)
                below, above = high + margin - value, value - high
                verdict = _side(z_support * error <= below, z_refute * error < above)
                factor = min(_factor((z_support + 1) * error, below), _factor((z_refute + 1) * error, above))
                shown = error * Decimal(tail_quantile(0.5 - level / 2))
            place = ", ".join(f"{name} = {size_text(sizes[name])}" for name in names)
            found.append(_Compared(verdict, value, high, shown, factor, place))
    return _over_sizes(series, found, f"{constant:g} * ({rate})", tolerance, what)


def _over_sizes(series: Series, found: Sequence[_Compared], bound: str, tolerance: float, what: str) -> Decision:
    """Conclude from the sizes: one above the bound refutes, one that is not told from it leaves all open."""
    refuted = [each for each in found if each.verdict is Verdict.REFUTED]
    undecided = [each for each in found if each.verdict is Verdict.INCONCLUSIVE]
    # The larger, the nearer to a violation, whatever the sign of the bound.
    clause = _against(max(refuted or found, key=lambda each: each.excess), bound, what)
    if refuted:
        clause += f", the most of the {len(refuted)} sizes (of {len(found)}) where it does" if len(refuted) > 1 else ""
        if series.route != "exact" and 0 < max(each.excess for each in refuted) <= tolerance:
            clause += f" (a relative tolerance of {tolerance:g} lets estimates support a bound, and excuses none that are above it)"
        return Decision(Verdict.REFUTED, clause, series.rigorous)
    if series.route != "exact" and tolerance > 0 and found[0].bound:
        clause += f" (estimates count as below it up to a relative tolerance of {tolerance:g})"
    if undecided:
        exact = series.route == "exact"
        advice = "more digits would decide" if exact else more_draws(max(each.factor for each in undecided))
        left = f"their errors do not separate the two at {len(undecided)} of {len(found)} sizes"
        return Decision(Verdict.INCONCLUSIVE, f"{clause}; {left}: {advice}")
    certified = series.route == "exact" and series.rigorous
    return Decision(Verdict.CERTIFIED if certified else Verdict.SUPPORTED, clause, series.rigorous)


def _against(worst: _Compared, bound: str, what: str) -> str:
    """Say how a value compares with its bound, at which size, with the error of the value."""
    above = worst.verdict is Verdict.REFUTED
    if worst.bound <= 0:
        sure = worst.error <= abs(worst.value) / 10**6
        value = f"{worst.value:.6g}" if sure else with_error(float(worst.value), float(worst.error))
        at = f" at {worst.place}" if worst.place else ""
        limit = f"{worst.bound:.6g}" if worst.bound else "0"
        relation = {Verdict.REFUTED: "above", Verdict.INCONCLUSIVE: "not told from"}.get(worst.verdict, "at most")
        return f"{what} is {value}{at}, {relation} the bound {limit}"
    if above:
        return f"{what} exceeds the bound {bound} at {worst.place or 'the one instance'}: it is {worst.times} times the bound"
    return f"{what} is at most {worst.times} times the bound {bound}, reached at {worst.place or 'the one instance'}"


def _factor(error: Decimal, room: Decimal) -> float:
    """Return how many times the draws bring an error, which leaves room for the scatter of a run, down to ``room``."""
    return float((error / room) ** 2) if room > 0 else math.inf


def _side(below: bool, above: bool) -> Verdict:
    if above:
        return Verdict.REFUTED
    return Verdict.SUPPORTED if below else Verdict.INCONCLUSIVE


def bound_at(rate: Rate, constant: float | Decimal, sizes: Mapping[str, Size]) -> tuple[Decimal, Decimal]:
    """Return a lower and an upper end for ``constant * rate``: equal where the rate is rational."""
    exact = rate.exact(sizes)
    if exact is not None:
        product = exact * Fraction(constant)
        ends = []
        for rounding in (ROUND_FLOOR, ROUND_CEILING):
            with localcontext() as context:
                context.prec, context.rounding = DIGITS, rounding
                ends.append(Decimal(product.numerator) / Decimal(product.denominator))
        return ends[0], ends[1]
    with localcontext() as context:
        context.prec = DIGITS
        value = Decimal(constant) * Decimal(rate.log_value(sizes)).exp()
        # log_value sums a few rounded terms, each below 1000 in size: its error is far below the margin of 1e-12.
        margin = abs(value) * Decimal("1e-12")
        return value - margin, value + margin


def same_number(series: Series, right: Decimal, radius: Decimal, right_rigorous: bool, tolerance: float | None) -> Decision:
    """Are two enclosures of one number?  Exactly equal: CERTIFIED; disjoint: REFUTED; overlapping and narrow: SUPPORTED."""
    rigorous = series.rigorous and right_rigorous
    left, combined = series.values[0], series.errors[0] + radius
    with localcontext() as context:
        context.prec = max(DIGITS, len(left.as_tuple().digits) + 5, len(right.as_tuple().digits) + 5)
        gap = abs(left - right)
    if rigorous and combined == 0:
        if gap == 0:
            return Decision(Verdict.CERTIFIED, "both sides are exact and equal", True)
        return Decision(Verdict.REFUTED, f"both sides are exact, {left:.6g} and {right:.6g}: they differ by {gap:.3g}", True)
    if gap > combined and rigorous:
        text = f"the two proved enclosures are disjoint: around {left:.6g} and {right:.6g}, they differ by {gap:.3g}"
        return Decision(Verdict.REFUTED, f"{text} where their radii add up to {combined:.1g}", True)
    if gap > MANY_RADII * combined:
        text = f"the values {left:.6g} and {right:.6g} differ by {gap:.3g}, over {MANY_RADII} times their combined radius"
        text += f" {combined:.1g} (agreed, not proved)"
        return Decision(Verdict.REFUTED, text)
    if gap > combined:
        text = f"the two values differ by {gap:.3g}, more than their combined radius {combined:.1g}, but these radii are not "
        text += "proved: more digits would decide"
        return Decision(Verdict.INCONCLUSIVE, text)
    scale = max(abs(float(left)), abs(float(right)))
    scale = scale if scale > float(combined) else 1.0  # both sides are 0: absolute
    limit = IDENTITY_TOLERANCE * scale if tolerance is None else tolerance
    text = f"the two sides overlap: they differ by {gap:.1g} with combined radius {combined:.1g}, tolerance {limit:.1g}"
    narrow = float(gap) + float(combined) <= limit
    return (
        Decision(Verdict.SUPPORTED, text)
        if narrow
        else Decision(Verdict.INCONCLUSIVE, f"{text}: narrower ones would decide, with more digits")
    )


def equal_within(
    series: Series,
    right: Decimal,
    radius: Decimal,
    tolerance: float,
    false_refute_rate: float,
    false_support_rate: float,
    side: int = 0,
) -> Decision:
    """Is the mean of an estimate this number?  REFUTED if it differs at all, SUPPORTED if it cannot differ by ``tolerance``.

    An end of a bracket contradicts the number only from one ``side``: +1 from above, -1 from below.
    """
    gap, stderr = float(series.values[0] - right), float(series.errors[0])
    reach = float(radius) + tail_quantile(false_refute_rate / 2) * stderr
    text = f"the two sides differ by {with_error(gap, stderr)}, tolerance {tolerance:.2g}"
    if abs(gap) > reach and gap * side >= 0:
        return Decision(Verdict.REFUTED, text)
    narrow = abs(gap) + float(radius) + tail_quantile(false_support_rate) * stderr <= tolerance
    if narrow:
        return Decision(Verdict.SUPPORTED, text)
    # What would decide if the two were equal: the right side's radius stays.
    factor = factor_to_decide(closing(lambda times: stderr / math.sqrt(times), false_support_rate), tolerance - float(radius))
    return Decision(Verdict.INCONCLUSIVE, f"{text}: {more_draws(factor, 'declare a larger tolerance')}")


def worst_of(decisions: Sequence[Decision]) -> Decision:
    """Return what decides a conjunction: a refutation, else what is undecided, else the weakest support."""
    order = (Verdict.REFUTED, Verdict.INCONCLUSIVE, Verdict.SUPPORTED, Verdict.CERTIFIED)
    return min(decisions, key=lambda decision: order.index(decision.verdict))


INSIDE = (Verdict.SUPPORTED, Verdict.CERTIFIED)
F = TypeVar("F", Growth, LimitFit | ApproachFit)


@dataclass(frozen=True)
class Fitted(Generic[F]):
    """What was fitted to a series (for growth: to its ratio to a rate, given by its logarithms)."""

    series: Series
    fit: F
    log_rates: Sequence[float] = ()


Flag = str | Callable[[], tuple[str, ...]]
"""A flag, or a function that returns flags and is asked only where they are shown: those of logarithms cost several fits."""


@dataclass(frozen=True)
class Outcome(Route):
    """What one route says, with all that the judgement takes from it or weighs it by.

    ``clause`` is the reason without route and window.  ``rejected`` has one entry a rival, and ``left_open`` says of each what
    would decide about it: nothing where it is rejected, or holds as well.
    """

    clause: str = ""
    rejected: tuple[bool, ...] = ()
    left_open: tuple[str, ...] = ()
    slack: Interval | None = None
    constant: Interval | None = None
    limit: Interval | None = None
    tightness: Tightness | None = None
    complete: bool = True  # whether it covers every point
    improvable: bool = False  # whether more draws could sharpen it
    correction: CorrectionFamily | None = None  # that the exponent or the limit allows for
    window: tuple[Size, Size] | None = None
    approach: str = ""  # what is assumed of the approach to a limit that declares none
    flags: tuple[Flag, ...] = ()
    offsets: tuple[float, ...] = ()  # measured minus claimed, then measured minus each rival, where both signs count
    contradicts: bool = False  # the claimed exponent, limit or constant itself is excluded, if only by less than is tolerated
    trusted: bool = True  # whether the error bars are, which a few draws may have made
    growths: tuple[Fitted[Growth], ...] = ()
    limits: tuple[Fitted[LimitFit | ApproachFit], ...] = ()

    def shown_flags(self) -> tuple[str, ...]:
        """Return the flags, with those that are worked out for it."""
        return tuple(text for flag in self.flags for text in ((flag,) if isinstance(flag, str) else flag()))

    @property
    def route(self) -> Route:
        """What is shown of it."""
        return Route(self.name, self.verdict, self.exponent, self.rigorous, self.reason)


def deciding(outcomes: Sequence[Outcome]) -> Outcome:
    """Return the outcome that decides: a refutation (a rigorous one first), else one that contradicts, else support.

    What a wide interval supports does not outweigh what a narrow one excludes.  If nothing decides, the narrowest is returned.
    """
    refuted = [outcome for outcome in outcomes if outcome.verdict is Verdict.REFUTED]
    against = [outcome for outcome in outcomes if outcome.contradicts]
    inside = [outcome for outcome in outcomes if outcome.verdict in INSIDE]
    for found in (refuted, against, inside):
        if found:
            return narrowest([outcome for outcome in found if outcome.rigorous] or found)
    return narrowest(outcomes)


def narrowest(outcomes: Sequence[Outcome]) -> Outcome:
    """Return the outcome with the narrowest interval of the exponent."""
    return min(outcomes, key=lambda outcome: outcome.exponent.half_width if outcome.exponent else math.inf)


def both(outcomes: Sequence[Outcome]) -> Outcome:
    """Combine the two ends of brackets: a verdict needs both, the interval is the hull."""
    first, second = outcomes
    same = first.verdict is second.verdict
    reason = first.reason if first.reason == second.reason else f"{first.reason}; {second.reason}"
    # Where the two ends lie on either side of a number, so may the truth lie on it.
    sides = [a * b > 0 for a, b in zip(first.offsets, second.offsets)] or [True] * (1 + len(first.rejected))
    if same and first.verdict is Verdict.REFUTED and not sides[0]:
        same, reason = False, f"{reason}; the two ends lie on either side of what is claimed: the brackets are too wide"
    return replace(
        first,
        verdict=first.verdict if same else Verdict.INCONCLUSIVE,
        reason=reason,
        rejected=tuple(a and b and side for a, b, side in zip(first.rejected, second.rejected, sides[1:])),
        left_open=tuple(a or b for a, b in zip(first.left_open, second.left_open)),
        exponent=hull(first.exponent, second.exponent),
        slack=hull(first.slack, second.slack),
        constant=hull(first.constant, second.constant),
        limit=hull(first.limit, second.limit),
        tightness=first.tightness if first.tightness is second.tightness else Tightness.UNDETERMINED,
        rigorous=first.rigorous and second.rigorous,
        complete=first.complete and second.complete,
        improvable=first.improvable or second.improvable,
        flags=tuple(dict.fromkeys((*first.flags, *second.flags))),
        contradicts=first.contradicts and second.contradicts and sides[0],
        growths=first.growths + second.growths,
        limits=first.limits + second.limits,
    )


def between(outcomes: Sequence[Outcome]) -> Outcome:
    """Combine the two ends around one number: an end beyond it refutes alone, both must be near it to support.

    The lower end says only that the number is not below it, the upper end that it is not above: their outcomes must be made with
    :func:`side_of` in mind.
    """
    combined = both(outcomes)
    verdicts = [outcome.verdict for outcome in outcomes]
    refuting = [outcome for outcome in outcomes if outcome.verdict is Verdict.REFUTED]
    if refuting:
        combined = replace(combined, verdict=Verdict.REFUTED, reason=refuting[0].reason)
    elif not all(verdict in INSIDE for verdict in verdicts):
        combined = replace(combined, verdict=Verdict.INCONCLUSIVE)
    rejected = tuple(a or b for a, b in zip(*(outcome.rejected for outcome in outcomes)))
    # An end contradicts a number from its own side only: ends that do not close contradict none.
    return replace(combined, rejected=rejected, contradicts=any(outcome.contradicts for outcome in outcomes))


def side_of(route: str) -> int:
    """Return on which side of a number a route must lie to contradict it: +1 for lower ends, -1 for upper ends, 0 for both."""
    return {"bracket-low": 1, "bracket-high": -1}.get(route, 0)


def hull(first: Interval | None, second: Interval | None) -> Interval | None:
    """Return the smallest interval that contains both."""
    if first is None or second is None:
        return None
    low, high = min(first.low, second.low), max(first.high, second.high)
    return Interval(0.5 * (first.estimate + second.estimate), low, high, first.level)


def shifted(interval: Interval, by: float) -> Interval:
    """Return the interval moved by ``by``."""
    return Interval(interval.estimate + by, interval.low + by, interval.high + by, interval.level)
