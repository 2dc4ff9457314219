"""What one route says on its own, and how routes are combined: a refutation first, then support, then whatever is narrowest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from theoryck.fitting.corrections import CorrectionFamily
from theoryck.fitting.limit import LimitFit
from theoryck.judging.evidence import Series
from theoryck.judging.ratios import Growth
from theoryck.records import Interval, Route, Tightness, Verdict

INSIDE = (Verdict.SUPPORTED, Verdict.CERTIFIED)
F = TypeVar("F", Growth, LimitFit)


@dataclass(frozen=True)
class Fitted(Generic[F]):
    """What was fitted to a series (for growth: to its ratio to a rate, given by its logarithms)."""

    series: Series
    fit: F
    log_rates: Sequence[float] = ()


@dataclass(frozen=True)
class Outcome(Route):
    """What one route says, with all that the judgement takes from it or weighs it by.

    ``clause`` is the reason without route and window; ``rejected`` has one entry a rival.
    """

    clause: str = ""
    rejected: tuple[bool, ...] = ()
    slack: Interval | None = None
    constant: Interval | None = None
    limit: Interval | None = None
    tightness: Tightness | None = None
    complete: bool = True  # whether it covers every point
    improvable: bool = False  # whether more draws could sharpen it
    correction: CorrectionFamily | None = None  # that the exponent or the limit allows for
    window: tuple[int, int] | None = None
    flags: tuple[str, ...] = ()
    offsets: tuple[float, ...] = ()  # measured minus claimed, then measured minus each rival, where both signs count
    contradicts: bool = False  # the claimed exponent, limit or constant itself is excluded, if only by less than is tolerated
    trusted: bool = True  # whether the error bars are, which a few draws may have made
    growths: tuple[Fitted[Growth], ...] = ()
    limits: tuple[Fitted[LimitFit], ...] = ()

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
