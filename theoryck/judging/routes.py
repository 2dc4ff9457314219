"""One route: which judge it goes to, and when it is not trusted."""

from __future__ import annotations

from dataclasses import replace

from theoryck.judging.case import Case
from theoryck.judging.decisions import Decision, slack_seen, tightness
from theoryck.judging.evidence import Series, with_error
from theoryck.judging.growth import EXCESS, grown
from theoryck.judging.numbers import identity, limiting, number
from theoryck.judging.outcomes import INSIDE, Outcome, between, both
from theoryck.records import Kind, Verdict


def outcome(case: Case, name: str, parts: tuple[Series, ...]) -> Outcome:
    """Judge one route; a bracket has two series, and a verdict needs both."""
    judges = {Kind.IDENTITY: identity, Kind.LIMIT: limiting}
    if case.one_number:
        judges = {Kind.BOUND: number}
    parts = as_judged(case, parts)
    outcomes = [judges.get(case.prediction.kind, grown)(case, series) for series in parts]
    combine = between if case.prediction.kind in (Kind.IDENTITY, Kind.LIMIT) else both
    found = _with_tightness(case, replace(outcomes[0] if len(outcomes) == 1 else combine(outcomes), name=name))
    doubtful = next((series for series in parts if series.carried), None)
    return found if doubtful is None else _untrusted(case, doubtful, found)


def as_judged(case: Case, parts: tuple[Series, ...]) -> tuple[Series, ...]:
    """Return the series of a route with the errors it is judged with: those of brackets allow for skewness."""
    return parts if len(parts) == 1 else tuple(series.widened(min(case.rates)) for series in parts)


def _with_tightness(case: Case, found: Outcome) -> Outcome:
    """Judge the slack of the whole route, which is what is shown, and say where it is neither 0 nor shown to be more."""
    slack = found.slack
    if slack is None:
        return found
    found = replace(found, tightness=tightness(slack, case.within))
    if found.verdict not in INSIDE or not slack_seen(slack, case.within):
        return found
    shown = with_error(slack.estimate, slack.half_width)
    note = f"its slack, {shown}, is not 0, yet within the tolerated {case.within:g}: neither tight nor shown to be loose"
    return replace(found, reason=f"{found.reason}; {note}")


def _untrusted(case: Case, series: Series, found: Outcome) -> Outcome:
    """Take back all that rests on error bars that a few draws made."""
    return replace(
        found,
        verdict=Verdict.INCONCLUSIVE,
        reason=case.sentence(series, Decision(Verdict.INCONCLUSIVE, series.carried)),
        rejected=(False,) * len(found.rejected),
        exponent=None,
        slack=None,
        constant=None,
        limit=None,
        tightness=None,
        rigorous=False,
        improvable=True,
        contradicts=False,
        trusted=False,
        flags=tuple(flag for flag in found.flags if flag != EXCESS),
    )
