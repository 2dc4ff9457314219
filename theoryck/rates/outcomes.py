"""What one route says on its own, and how routes are combined: a refutation first, then support, then whatever is narrowest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from theoryck.records import Interval, Tightness, Verdict

INSIDE = (Verdict.SUPPORTED, Verdict.CERTIFIED)


@dataclass(frozen=True)
class Outcome:
    """What one route says: ``complete`` if it covers every point, ``improvable`` if more draws could sharpen it."""

    name: str
    verdict: Verdict
    reason: str
    rejected: tuple[bool, ...]
    exponent: Interval | None = None
    slack: Interval | None = None
    constant: Interval | None = None
    tightness: Tightness | None = None
    rigorous: bool = False
    complete: bool = True
    improvable: bool = False
    correction: str = ""
    window: tuple[int, int] | None = None
    flags: tuple[str, ...] = ()


def deciding(outcomes: Sequence[Outcome]) -> Outcome:
    """Return the outcome that decides: a refutation (a rigorous one first), else support, else what is narrowest."""
    for wanted in ((Verdict.REFUTED,), INSIDE):
        found = [outcome for outcome in outcomes if outcome.verdict in wanted]
        if found:
            rigorous = [outcome for outcome in found if outcome.rigorous]
            return narrowest(rigorous or found)
    return narrowest(outcomes)


def narrowest(outcomes: Sequence[Outcome]) -> Outcome:
    """Return the outcome with the narrowest interval of the exponent."""
    return min(outcomes, key=lambda outcome: outcome.exponent.half_width if outcome.exponent else math.inf)


def both(outcomes: Sequence[Outcome]) -> Outcome:
    """Combine the two ends of brackets: a verdict needs both, the interval is the hull."""
    first, second = outcomes
    same = first.verdict is second.verdict
    return replace(
        first,
        verdict=first.verdict if same else Verdict.INCONCLUSIVE,
        reason=first.reason if first.reason == second.reason else f"{first.reason}; {second.reason}",
        rejected=tuple(a and b for a, b in zip(first.rejected, second.rejected)),
        exponent=hull(first.exponent, second.exponent),
        slack=hull(first.slack, second.slack),
        constant=hull(first.constant, second.constant),
        tightness=first.tightness if first.tightness is second.tightness else Tightness.UNDETERMINED,
        rigorous=first.rigorous and second.rigorous,
        complete=first.complete and second.complete,
        improvable=first.improvable or second.improvable,
        flags=tuple(dict.fromkeys((*first.flags, *second.flags))),
    )


def hull(first: Interval | None, second: Interval | None) -> Interval | None:
    """Return the smallest interval that contains both."""
    if first is None or second is None:
        return None
    low, high = min(first.low, second.low), max(first.high, second.high)
    return Interval(0.5 * (first.estimate + second.estimate), low, high, first.level)


def shifted(interval: Interval, by: float) -> Interval:
    """Return the interval moved by ``by``."""
    return Interval(interval.estimate + by, interval.low + by, interval.high + by, interval.level)
