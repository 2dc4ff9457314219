"""judge: the evidence of all routes, and the verdict."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from theoryck.judging.case import Case, rival_problem
from theoryck.judging.curves import curves
from theoryck.judging.decisions import INSIDE, Outcome, between, both, deciding, narrowest, slack_seen, tightness
from theoryck.judging.evidence import Series, compare_routes, infinite, read_routes, with_error
from theoryck.judging.growth import EXCESS, grown
from theoryck.judging.limits import limiting
from theoryck.judging.numbers import identity, number
from theoryck.records import Contract, Judgement, Kind, Point, Prediction, Rival, Tightness, Verdict
from theoryck.records.values import Size, size_text


def judge(
    prediction: Prediction,
    points: Sequence[Point],
    contract: Contract,
    *,
    final: bool = True,
    drawn: bool = True,
    noisy: bool = True,
    stated: bool = False,
) -> Judgement:
    """Return the verdict on ``prediction`` given the measured ``points``, at the error rates of ``contract``.

    ``final=False`` marks an interim look (whose contract carries the share of the error rates spent on it): the same tests, without
    the search for the budget that would decide.  ``drawn=False`` says that the estimates are somebody's own, not Monte Carlo means,
    ``noisy=False`` that no draws would make their errors smaller, and ``stated`` that these are somebody's word, which the scatter
    about the fit bears out or enlarges.
    Raises RateError on a rate that names no size of the points, ValueError on values that are not finite and on a prediction that
    lacks what its kind needs.

    >>> from theoryck.records import Estimate, Kind
    >>> points = [Point({"d": d}, Estimate(2 / d, 1e-4 / d, 10**8)) for d in (16, 32, 64, 128, 256, 512, 1024)]
    >>> claim = Prediction(Kind.BOUND, "E S^2", base="d", rate="1/d", rivals=("d**(-3/2)",), correction=1)
    >>> found = judge(claim, points, Contract())
    >>> found.verdict.value, found.tightness.value, found.rivals[0].rejected
    ('SUPPORTED', 'TIGHT', True)
    """
    problem = rival_problem(prediction, points)
    if problem:
        rivals = tuple(Rival(text, False) for text in prediction.rivals)
        return Judgement(
            Verdict.VACUOUS,
            problem,
            rivals=rivals,
            flags=("rival-cannot-be-rejected",),
        )
    if not points:
        return Judgement(Verdict.VACUOUS, "nothing was measured: no point is given")
    routes, flags = read_routes(points, prediction.statistic)
    unreached = [point.sizes for point in points if infinite(point.estimate)]
    if unreached and set(routes) <= {"montecarlo"}:
        reason = (
            f"the {prediction.statistic} of the draws is infinite at {_places(prediction.base, unreached)}: so many of them are; "
            "let what is waited for go on longer, or take smaller sizes"
        )
        return Judgement(Verdict.INCONCLUSIVE, reason, flags=flags, settled=False)
    if not routes:
        return Judgement(Verdict.VACUOUS, "nothing was measured: no point has a value with an error bar", flags=flags)
    if stated:
        routes = {name: tuple(replace(series, stated=name == "montecarlo") for series in parts) for name, parts in routes.items()}
    case = Case.read(prediction, points, contract, routes=len(routes), final=final, drawn=drawn, noisy=noisy)
    outcomes = [_outcome(case, name, tuple(replace(each, axis=case.axis) for each in parts)) for name, parts in routes.items()]
    disagreement = compare_routes(points, case.contract.false_refute_rate)
    if disagreement is not None and disagreement.found:
        best = narrowest(outcomes)
        return replace(
            _assemble(case, outcomes, best, flags, disagreement=True),
            verdict=Verdict.REFUTED,
            routes=tuple(outcome.route for outcome in outcomes),
            tightness=None,
            reason=(
                f"the two routes disagree by {disagreement.pull:.1f} standard errors at {disagreement.text} "
                f"(limit {disagreement.limit:.1f} over {disagreement.compared} sizes): one of them has a bug"
            ),
            flags=(*flags, "routes-disagree"),
            settled=True,
        )
    return _assemble(case, outcomes, deciding(outcomes), flags)


def _left_open(case: Case, outcomes: Sequence[Outcome], rejected: Sequence[bool]) -> str:
    """Say which rival is neither rejected nor shown to hold: it belongs to what is claimed, which is then not decided."""
    for index, (rival, done) in enumerate(zip(case.prediction.rivals, rejected)):
        found = [outcome.left_open[index] for outcome in outcomes if len(outcome.left_open) > index]
        if not done and found and all(found):  # a route that supports the rival leaves nothing open
            return f"; but the rival {rival} is not rejected: {found[-1]}"
    return ""


def _out_of_reach(case: Case) -> str:
    """Name the sizes of which the budget paid for too few draws: without them the other advice is beside the point."""
    bare = [point for point in case.points if point.estimate is not None and not math.isfinite(point.estimate.stderr)]
    if not bare:
        return ""
    shown = _places(case.base, [point.sizes for point in bare])
    most = max(point.estimate.draws for point in bare if point.estimate is not None)
    paid = f"one draw at {shown}, which has" if most == 1 else f"at most {most} draws at {shown}, which have"
    return f"; the budget paid for {paid} no error bar: take a larger profile, or give the number of draws"


def _places(base: str | None, where: Sequence[Mapping[str, Size]]) -> str:
    return f"{base} = {', '.join(size_text(sizes[base]) for sizes in where)}" if base else "this instance"


def _assemble(
    case: Case, outcomes: Sequence[Outcome], best: Outcome, flags: tuple[str, ...], *, disagreement: bool = False
) -> Judgement:
    verdict = best.verdict
    if verdict is Verdict.CERTIFIED and not best.complete:
        verdict = Verdict.SUPPORTED  # proved at some of the sizes only
    rejected = tuple(any(outcome.rejected[i] for outcome in outcomes) for i in range(len(case.prediction.rivals)))
    left_open = _left_open(case, outcomes, rejected) if verdict is Verdict.SUPPORTED else ""
    verdict = Verdict.INCONCLUSIVE if left_open else verdict
    bare = _out_of_reach(case) if verdict is Verdict.INCONCLUSIVE and best.name == "montecarlo" else ""
    open_questions = verdict is Verdict.INCONCLUSIVE or best.tightness is Tightness.UNDETERMINED or not all(rejected)
    settled = verdict is Verdict.REFUTED or not (open_questions and any(outcome.improvable for outcome in outcomes))
    shown = case.final or settled or disagreement  # no record is made of a look that others follow
    return Judgement(
        verdict=verdict,
        reason=best.reason + left_open + bare,
        tightness=best.tightness if verdict in INSIDE else None,
        exponent=best.exponent,
        claimed_exponent=case.claimed_exponent,
        slack=best.slack,
        constant=best.constant,
        window=best.window,
        routes=tuple(replace(outcome.route, decided=outcome.name == best.name) for outcome in outcomes),
        rivals=tuple(Rival(text, done) for text, done in zip(case.prediction.rivals, rejected)),
        assuming=case.assuming(best),
        correction=best.correction.powers[0] if best.correction and best.window else None,
        flags=tuple(dict.fromkeys((*flags, *(flag for outcome in outcomes for flag in outcome.shown_flags())))) if shown else flags,
        settled=settled,
        limit=best.limit,
        power_of=f"exp({case.base})" if case.axis.unit else "",
        curves=curves(case, outcomes, best) if case.final or settled else (),
    )


# -- one route ------------------------------------------------------------------------------------------------------------------


def _outcome(case: Case, name: str, parts: tuple[Series, ...]) -> Outcome:
    """Judge one route; a bracket has two series, and a verdict needs both."""
    judges = {Kind.IDENTITY: identity, Kind.LIMIT: limiting}
    if case.one_number:
        judges = {Kind.BOUND: number}
    if len(parts) > 1:  # the errors of brackets allow for skewness
        parts = tuple(series.widened(min(case.rates)) for series in parts)
    outcomes = [judges.get(case.prediction.kind, grown)(case, series) for series in parts]
    combine = between if case.prediction.kind in (Kind.IDENTITY, Kind.LIMIT) else both
    found = _with_tightness(case, replace(outcomes[0] if len(outcomes) == 1 else combine(outcomes), name=name))
    doubtful = next((series for series in parts if series.carried), None)
    return found if doubtful is None else _untrusted(case, doubtful, found)


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
        reason=case.sentence(series, series.carried),
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
