"""One claim in one row: the words and numbers that every table of claims shows, so that no two tables can disagree."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal

from theoryck.records import Interval, Kind, Prediction, Result, Status, Verdict
from theoryck.report import numbers
from theoryck.report.claims import (
    AS_DECLARED,
    CONSTANT,
    EXPONENT,
    VALUE,
    ClaimSummary,
    Outcome,
    at,
    clean,
    decisive,
    every_size,
    instance_text,
    one_number,
)

NOTHING = "-"
AT_LARGEST = "*"  # behind a value at the largest size, where the limit itself was not written down


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """What a table shows of a claim, as plain text; numbers are those of its worst instance, draws and rivals of all.

    ``every`` says for which sizes it is certified beyond those measured, as "d >= 16".
    """

    outcome: Outcome
    verdict: str
    every: str
    claim: str
    statement: str
    prediction: Prediction | None
    instance: str
    instances: int
    compared: Compared
    tightness: str
    slack: str
    rivals: str
    draws: str

    @property
    def claimed(self) -> str:
        """The text in the column of what was claimed."""
        return self.compared.claimed

    @property
    def measured(self) -> str:
        """The text in the column of what was measured."""
        return self.compared.measured


def claim_row(claim: ClaimSummary) -> ClaimRow:
    """Return the row of a claim."""
    worst = claim.worst
    rejected, rivals = claim.rivals
    return ClaimRow(
        outcome=claim.outcome,
        verdict=result_verdict(worst),
        every=every_size(worst),
        claim=clean(claim.claim),
        statement=clean(worst.statement),
        prediction=worst.prediction,
        instance=instance_text(worst.instance),
        instances=len(claim.results),
        compared=compared(worst),
        tightness=claim.tightness or NOTHING,
        slack=numbers.brief(worst.slack) if worst.ok and worst.status is not Status.FALSEHOOD else NOTHING,
        rivals=f"{rejected}/{rivals}" if rivals else NOTHING,
        draws=numbers.count(claim.draws),
    )


def result_verdict(result: Result) -> str:
    """Return the verdict in words: capitals where somebody has to act or to measure more, and what a falsehood came to.

    >>> from theoryck.records import Contract, Judgement
    >>> found = Judgement(Verdict.REFUTED, "the whole interval lies above")
    >>> result_verdict(Result("c", Status.FALSEHOOD, {}, found, None, (), Contract(), 1e-3, 0, 0.0, 0))
    'refuted as declared'
    """
    verdict = result.verdict
    if result.status is Status.FALSEHOOD:
        return AS_DECLARED if result.ok else f"{verdict.value}, must be refuted"
    if verdict in (Verdict.SUPPORTED, Verdict.CERTIFIED):
        return verdict.value.lower() if result.ok else f"{verdict.value}, but a rival stands"
    return verdict.value


@dataclass(frozen=True, slots=True)
class Compared:
    """What stands in the columns of what was claimed and measured, with the numbers by which they are sorted.

    ``kind`` says what the numbers are (EXPONENT, CONSTANT, VALUE, or "" where there are none), ``relation`` how a value is claimed,
    ``erring`` whether the measured value has an error, and ``at_largest`` that it is the one at the largest size.
    """

    claimed: str = NOTHING
    measured: str = NOTHING
    claimed_key: float | None = None
    measured_key: float | None = None
    kind: str = ""
    relation: str = ""
    erring: bool = False
    at_largest: bool = False


def compared(result: Result) -> Compared:
    """Return exponents where there are any; else a value, marked by an equals sign, or the constant that decided, by ``c=``.

    The fitted limit is the value of a limit; a file without it has the value at the largest size, which has a mark.
    """
    judgement, prediction = result.judgement, result.prediction
    what = decisive(result)
    if what == CONSTANT and prediction is not None and prediction.constant is not None and judgement.constant is not None:
        return _constant(prediction.constant, judgement.constant)
    if what != VALUE and (judgement.exponent is not None or judgement.claimed_exponent is not None):
        tends = prediction is not None and prediction.kind is Kind.LAW and prediction.rate is None
        claimed = "<0" if tends else numbers.plain(judgement.claimed_exponent)
        estimate = None if judgement.exponent is None else judgement.exponent.estimate
        return Compared(claimed, numbers.brief(judgement.exponent), judgement.claimed_exponent, estimate, EXPONENT)
    if prediction is None:
        return Compared()
    if one_number(result) and prediction.constant is not None:
        return _values("<=", Decimal(str(prediction.constant)), 0.0, _last(result))
    if prediction.kind not in (Kind.IDENTITY, Kind.LIMIT) or prediction.value is None:
        return Compared()
    limit = judgement.limit if prediction.kind is Kind.LIMIT else None
    if limit is not None:
        return _values("=", prediction.value.midpoint, float(prediction.value.radius), (limit.estimate, _reach(limit), False))
    return _values("=", prediction.value.midpoint, float(prediction.value.radius), _last(result))


def rate_has_logarithm(result: Result) -> bool:
    """Whether the claimed rate is more than a power: its exponent is then that of the power beside the logarithms."""
    prediction = result.prediction
    return prediction is not None and "log(" in (prediction.rate or "")


def _reach(interval: Interval) -> float:
    return max(interval.high - interval.estimate, interval.estimate - interval.low)


Found = tuple[Decimal | float, Decimal | float, bool]  # a value, its error, and whether it stands for a limit


def _last(result: Result) -> Found | None:
    """The value at the last point with its error."""
    if not result.points:
        return None
    point, prediction = result.points[-1], result.prediction
    assert prediction is not None
    base = prediction.base if prediction.kind is Kind.LIMIT else None
    stands_for_limit = base is not None and base in point.sizes
    if point.exact is not None:
        return point.exact.midpoint, point.exact.radius, stands_for_limit
    found = at(point)
    return None if found is None or point.estimate is None else (*found, stands_for_limit)


def _values(sign: str, claimed: Decimal, radius: float, found: Found | None) -> Compared:
    key = float(claimed)
    if found is None or not claimed.is_finite():
        return Compared(f"{sign}{numbers.plain(key)}", NOTHING, key, None, VALUE, sign)
    value, half, at_largest = found
    coarser = 0 < float(half) <= radius  # the claimed value is known less well than the measured one
    shown = numbers.uncertain(claimed, radius) if coarser else numbers.beside(claimed, value, half)
    text = f"={numbers.uncertain(value, half)}{AT_LARGEST if at_largest else ''}"
    return Compared(f"{sign}{shown}", text, key, float(value), VALUE, sign, 0 < half < math.inf, at_largest)


def _constant(claimed: float, found: Interval) -> Compared:
    half = _reach(found)
    shown = numbers.beside(Decimal(str(claimed)), found.estimate, half) if math.isfinite(claimed) else numbers.plain(claimed)
    return Compared(f"c={shown}", f"c={numbers.uncertain(found.estimate, half)}", claimed, found.estimate, CONSTANT)
