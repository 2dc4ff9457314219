"""One claim in one row: the words and numbers that every table of claims shows, so that no two tables can disagree."""

from __future__ import annotations

from dataclasses import dataclass

from theoryck.records import Kind, Prediction, Result, Status, Verdict
from theoryck.report import numbers
from theoryck.report.claims import AS_DECLARED, ClaimSummary, Outcome, clean, instance_text

NOTHING = "-"


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """What a table shows of a claim, as plain text; numbers are those of its worst instance, draws and rivals of all."""

    outcome: Outcome
    verdict: str
    claim: str
    statement: str
    prediction: Prediction | None
    instance: str
    instances: int
    claimed: str
    measured: str
    tightness: str
    slack: str
    rivals: str
    draws: str


def claim_row(claim: ClaimSummary) -> ClaimRow:
    """Return the row of a claim."""
    worst = claim.worst
    claimed, measured = claimed_and_measured(worst)
    rejected, rivals = claim.rivals
    return ClaimRow(
        outcome=claim.outcome,
        verdict=standing(worst),
        claim=clean(claim.claim),
        statement=clean(worst.statement),
        prediction=worst.prediction,
        instance=instance_text(worst.instance),
        instances=len(claim.results),
        claimed=claimed,
        measured=measured,
        tightness=tightness(worst),
        slack=numbers.brief(worst.slack) if worst.ok and worst.status is not Status.FALSEHOOD else NOTHING,
        rivals=f"{rejected}/{rivals}" if rivals else NOTHING,
        draws=numbers.count(claim.draws),
    )


def standing(result: Result) -> str:
    """Return the verdict in words: capitals where somebody has to act or to measure more, and what a falsehood came to.

    >>> from theoryck.records import Contract, Judgement
    >>> found = Judgement(Verdict.REFUTED, "the whole interval lies above")
    >>> standing(Result("c", Status.FALSEHOOD, {}, found, None, (), Contract(), 1e-3, 0, 0.0, 0))
    'refuted as declared'
    """
    verdict = result.verdict
    if result.status is Status.FALSEHOOD:
        return AS_DECLARED if result.ok else f"{verdict.value}, must be refuted"
    if verdict in (Verdict.SUPPORTED, Verdict.CERTIFIED):
        return verdict.value.lower() if result.ok else f"{verdict.value}, but a rival stands"
    return verdict.value


def claimed_and_measured(result: Result) -> tuple[str, str]:
    """Return exponents where there are any; else the values of an identity or a limit, marked by an equals sign."""
    judgement, prediction = result.judgement, result.prediction
    if judgement.exponent is not None or judgement.claimed_exponent is not None:
        tends = prediction is not None and prediction.kind is Kind.LAW and prediction.rate is None
        return "<0" if tends else numbers.plain(judgement.claimed_exponent), numbers.brief(judgement.exponent)
    if prediction is None or prediction.kind not in (Kind.IDENTITY, Kind.LIMIT) or prediction.value is None:
        return NOTHING, NOTHING
    claimed = f"={numbers.plain(float(prediction.value))}"
    last = result.points[-1] if result.points else None
    if last is not None and last.exact is not None:
        return claimed, "=" + numbers.uncertain(last.exact.midpoint, last.exact.radius)
    if last is not None and last.estimate is not None:
        return claimed, "=" + numbers.uncertain(last.estimate.value, last.estimate.stderr)
    return claimed, NOTHING


def tightness(result: Result) -> str:
    """Return whether a supported bound is attained; nothing where that is not asked."""
    if result.status is Status.FALSEHOOD or not result.ok or result.tightness is None:
        return NOTHING
    return result.tightness.value.lower()
