"""What became of each claim: its instances together, the worst of them first; and how far each is from what was claimed.

Every renderer reads these summaries, so that no two of them can disagree about which claim fell.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from functools import lru_cache
from typing import Any

from theoryck.records import Enclosure, Interval, Kind, Point, Prediction, Report, Result, Status, Verdict
from theoryck.records.values import size_text as written

EXPONENT, CONSTANT, VALUE = "exponent", "constant", "value"
CONSTANT_TOLERANCE = 0.05  # relative: that of the judge, where a claim declares no other
EXACT_TOLERANCE = 1e-15  # likewise, of exact values


def deviations(result: Result) -> dict[str, float]:
    """Return what can be off and by how much, in units of what is tolerated; empty where no number was found.

    Of what is bounded on one side, a number below 0 is a distance to spare.

    >>> from theoryck.records import Contract, Judgement, Prediction, Status, Verdict
    >>> found = Judgement(Verdict.SUPPORTED, "", exponent=Interval(-0.97, -1.0, -0.94, 0.95), claimed_exponent=-1.0)
    >>> claimed = Prediction(Kind.SCALING, "q", base="d", exponent=-1.0)
    >>> result = Result("c", Status.THEOREM, {}, found, claimed, (), Contract(within=0.15), 1e-3, 0, 0.0, 0)
    >>> {name: round(value, 3) for name, value in deviations(result).items()}
    {'exponent': 0.2}
    """
    found = {EXPONENT: _exponent(result), CONSTANT: _constant(result), VALUE: _value(result)}
    return {name: value for name, value in found.items() if value is not None}


def decisive(result: Result) -> str:
    """Return which of its numbers a table shows: the one furthest from the claim where several are judged.

    A value or an exponent goes before a constant, unless the constant alone is off by more than is tolerated.
    """
    found = deviations(result)
    first = VALUE if result.prediction is not None and result.prediction.kind is Kind.LIMIT and VALUE in found else EXPONENT
    others = {name: value for name, value in found.items() if name != first}
    worst = max(others, key=others.__getitem__, default="")
    if first not in found:
        return worst
    return worst if worst and others[worst] > max(1.0, found[first]) else first


@lru_cache(maxsize=1024)
def declared(text: str | None) -> float | None:
    """Return a declared tolerance as a number, or None where there is none.

    >>> declared("1/2000"), declared("1e-11"), declared(None), declared("small")
    (0.0005, 1e-11, None, None)
    """
    above, _, below = (text or "").partition("/")
    try:
        return float(Decimal(above) / Decimal(below or 1))
    except ArithmeticError:
        return None


def tolerated(result: Result) -> float | None:
    """Return how far the value of an identity or of a limit may be off, by declaration or by default; None of other kinds."""
    prediction = result.prediction
    if prediction is None or prediction.kind not in (Kind.IDENTITY, Kind.LIMIT) or prediction.value is None:
        return None
    given = declared(prediction.tolerance)
    if given is not None:
        return given
    value = abs(float(prediction.value))
    first = next((abs(found[0]) for point in result.points if (found := at(point)) is not None), 0.0)
    if prediction.kind is Kind.LIMIT:
        return result.contract.within * (value or first)
    exact = any(point.exact is not None for point in result.points)
    return EXACT_TOLERANCE * (max(value, first) or 1.0) if exact else result.contract.within * max(value, first)


def at(point: Point) -> tuple[float, float] | None:
    """Return a value measured at a point with its error, by the most exact route that was taken."""
    if point.exact is not None:
        return float(point.exact), float(point.exact.radius)
    if point.estimate is not None:
        return point.estimate.value, point.estimate.stderr
    if point.bracket is not None:
        ends = point.bracket
        return 0.5 * ends.low + 0.5 * ends.high, 0.5 * ends.high - 0.5 * ends.low
    return None


def one_number(result: Result) -> bool:
    """Whether a bound compares one number with another, at no size."""
    prediction = result.prediction
    if prediction is None or prediction.kind is not Kind.BOUND or prediction.constant is None or len(result.points) != 1:
        return False
    return prediction.rate in (None, "1") and not result.points[0].sizes


def _exponent(result: Result) -> float | None:
    judgement, prediction = result.judgement, result.prediction
    if judgement.exponent is None or judgement.claimed_exponent is None:
        return None
    gap = (judgement.exponent.estimate - judgement.claimed_exponent) / result.contract.within
    return abs(gap) if prediction is not None and prediction.kind is Kind.SCALING else gap


def _constant(result: Result) -> float | None:
    """Only that of a scaling is compared with one that was claimed."""
    prediction, found = result.prediction, result.constant
    if prediction is None or prediction.kind is not Kind.SCALING or not prediction.constant or found is None:
        return None
    relative = declared(prediction.tolerance)
    return _over(found.estimate - prediction.constant, (CONSTANT_TOLERANCE if relative is None else relative) * prediction.constant)


def _value(result: Result) -> float | None:
    prediction = result.prediction
    if prediction is None or not result.points:
        return None
    if one_number(result):
        found, bound = at(result.points[0]), prediction.constant or 0.0
        return None if found is None else (found[0] - bound) / (abs(bound) or 1.0)
    if prediction.kind not in (Kind.IDENTITY, Kind.LIMIT) or prediction.value is None:
        return None
    limit: Interval | None = result.judgement.limit
    if limit is not None:
        gaps = [limit.estimate - float(prediction.value)]
    else:
        kept = result.points if prediction.kind is Kind.IDENTITY else result.points[-1:]
        gaps = [gap for point in kept if (gap := _gap(point, prediction.value)) is not None]
    most = tolerated(result)
    return max((_over(gap, most or 0.0) for gap in gaps), default=None)


def _gap(point: Point, claimed: Enclosure) -> float | None:
    """Exact values are subtracted before they are rounded."""
    if point.exact is not None:
        return float(point.exact.midpoint - claimed.midpoint)
    found = at(point)
    return None if found is None else found[0] - float(claimed)


def _over(gap: float, tolerance: float) -> float:
    if gap == 0 or tolerance == 0:
        return 0.0 if gap == 0 else float("inf")
    return abs(gap / tolerance)


MIXED = "mixed"  # tightness that is not the same at all instances


DECLARED = "as declared"
AS_DECLARED = f"refuted {DECLARED}"  # what a falsehood has to come to


_ONCE = re.compile(r"(?<![\w.*])1\*(?!\*)")


class Outcome(StrEnum):
    """What a reader has to do about a result: act, measure more, or nothing."""

    FAILED = "failed"
    UNDECIDED = "undecided"
    WELL = "well"


COLOR = {Outcome.FAILED: "bad", Outcome.UNDECIDED: "open", Outcome.WELL: "good"}  # by the names of layout.Style


def outcome(result: Result) -> Outcome:
    """Return whether a result is as its author declared; only an undecided statement is neither well nor failed."""
    if not result.ok:
        return Outcome.FAILED
    return Outcome.UNDECIDED if result.verdict is Verdict.INCONCLUSIVE else Outcome.WELL


def severity(result: Result) -> tuple[int, float]:
    """Return a sort key of the instances of a claim, worst first.

    What fell, what tested nothing, what should have fallen, what is open, what is supported, what is certified at its sizes,
    what is so at every size: a claim is no more than the least of its instances. Within a rank the one that is nearest to
    another: with the least slack or, where no slack is measured, off by the most of what is tolerated. A falsehood is to fall,
    so what is nearest to the claim is its worst.
    """
    false = result.status is Status.FALSEHOOD
    if not result.ok:
        rank = {Verdict.REFUTED: 0, Verdict.VACUOUS: 1}.get(result.verdict, 2)
    elif false:
        rank = 4
    else:
        rank = {Verdict.INCONCLUSIVE: 3, Verdict.SUPPORTED: 4}.get(result.verdict, 5 if result.scope is None else 6)
    off = _off(result)
    if off != off:
        return rank, float("-inf")  # what is NaN is the worst of its rank
    return rank, off if false else -off


def _off(result: Result) -> float:
    """How far a result is from what was claimed, in units of what is tolerated; below 0 where there is slack."""
    if result.slack is not None:
        return -result.slack.estimate / result.contract.within
    return max(deviations(result).values(), default=0.0)


@dataclass(frozen=True, slots=True)
class ClaimSummary:
    """All results of one claim, in the order measured, and the worst of them."""

    claim: str
    results: tuple[Result, ...]

    @property
    def worst(self) -> Result:
        """The result that decides how the claim is shown."""
        return min(self.results, key=severity)

    @property
    def outcome(self) -> Outcome:
        """The outcome of the worst result."""
        return outcome(self.worst)

    @property
    def draws(self) -> int:
        """Draws over all instances."""
        return sum(result.draws for result in self.results)

    @property
    def seconds(self) -> float:
        """Seconds over all instances."""
        return sum(result.seconds for result in self.results)

    @property
    def rivals(self) -> tuple[int, int]:
        """Rivals rejected and rivals in all, over all instances."""
        rivals = [rival for result in self.results for rival in result.rivals]
        return sum(rival.rejected for rival in rivals), len(rivals)

    @property
    def tightness(self) -> str:
        """Whether the bound is attained: "tight", "loose" or "undetermined" if it is so at all instances, else "mixed"; or ""."""
        if self.is_falsehood or not self.worst.ok or self.worst.verdict not in (Verdict.SUPPORTED, Verdict.CERTIFIED):
            return ""
        words = {result.tightness for result in self.results if result.tightness is not None}
        if len(words) > 1:
            return MIXED
        return next(iter(words)).value.lower() if words else ""

    @property
    def failed(self) -> tuple[Result, ...]:
        """The results that are not as declared, worst first."""
        return tuple(sorted((result for result in self.results if not result.ok), key=severity))

    @property
    def is_falsehood(self) -> bool:
        """Whether the claim was declared false."""
        return self.results[0].status is Status.FALSEHOOD


# What a claim comes to, the worst first: the order of counts, of the page's sort by verdict and of its filter.
FALSEHOOD_STANDS, RIVAL_STANDS = "falsehood not refuted", "rival stands"
AT_THESE_SIZES, AT_EVERY_SIZE = Verdict.CERTIFIED.value.lower(), f"{Verdict.CERTIFIED.value.lower()} for every size"
CLAIM_VERDICTS = (
    Verdict.REFUTED.value,
    Verdict.VACUOUS.value,
    FALSEHOOD_STANDS,
    RIVAL_STANDS,
    Verdict.INCONCLUSIVE.value,
    AS_DECLARED,
    Verdict.SUPPORTED.value.lower(),
    AT_THESE_SIZES,
    AT_EVERY_SIZE,
)


def claim_verdict(claim: ClaimSummary) -> str:
    """Return what a claim came to, by its worst instance: one of CLAIM_VERDICTS."""
    worst = claim.worst
    if claim.is_falsehood:
        return AS_DECLARED if worst.ok else FALSEHOOD_STANDS
    if worst.verdict in (Verdict.SUPPORTED, Verdict.CERTIFIED) and not worst.ok:
        return RIVAL_STANDS
    if worst.verdict is Verdict.CERTIFIED:
        return AT_EVERY_SIZE if worst.scope else AT_THESE_SIZES
    return worst.verdict.value.lower() if worst.verdict is Verdict.SUPPORTED else worst.verdict.value


def every_size(result: Result) -> str:
    """Return for which sizes a certified result is proved beyond those measured, as "d >= 16"; "" where for none."""
    scope = result.scope if result.verdict is Verdict.CERTIFIED else None
    return "" if scope is None else f"{clean(scope.base)} >= {written(scope.start)}"


def summarise(report: Report | Iterable[Result]) -> list[ClaimSummary]:
    """Group results by claim, in order of first appearance."""
    groups: dict[str, list[Result]] = {}
    for result in report.results if isinstance(report, Report) else report:
        groups.setdefault(result.claim, []).append(result)
    return [ClaimSummary(claim, tuple(results)) for claim, results in groups.items()]


def measured(prediction: Prediction) -> str:
    """Return the name of what was measured, with its statistic where that is not the mean.

    >>> measured(Prediction(Kind.SCALING, "hitting_time", statistic="median"))
    'median of hitting_time'
    """
    name = clean(prediction.quantity)
    return name if prediction.statistic == "mean" else f"{clean(prediction.statistic)} of {name}"


def clean(text: object) -> str:
    """Return one printable line: white space collapsed, control characters (a name may hold any) spelt out.

    >>> clean("two\\n  lines \\x1b[31m")
    'two lines \\\\x1b[31m'
    """
    return printable(" ".join(str(text).split()))


def printable(text: str) -> str:
    """Return text as it is but for characters that are not printed, which are spelt out.

    >>> printable("two  words\\n\\u202e")
    'two  words\\\\n\\\\u202e'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def clean_lines(text: str) -> str:
    """Return printable lines: like :func:`clean`, but lines (those of a traceback, say) and their indents are kept.

    >>> print(clean_lines("said:\\n  line 2\\n\\nend"))
    said:
      line 2
    end
    """
    lines = [line for line in text.splitlines() if line.strip()]
    return "\n".join(" " * (len(line) - len(line.lstrip())) + clean(line) for line in lines)


def size_text(text: object) -> str:
    """Write a size along a path on one line; once a size is that size.

    >>> size_text("1*d"), size_text("1*d**2"), size_text("11*d")
    ('d', 'd**2', '11*d')
    """
    return clean(_ONCE.sub("", str(text)))


def instance_text(instance: Mapping[str, Any]) -> str:
    """Write the parameters of an instance on one line.

    >>> instance_text({"phi": "tanh(x)", "depth": 2, "widths": [1, 2]})
    'phi=tanh(x), depth=2, widths=[1, 2]'
    """

    def value(item: Any) -> str:
        return item if isinstance(item, str) else json.dumps(item, ensure_ascii=False, default=str)

    return clean(", ".join(f"{name}={value(item)}" for name, item in instance.items()))


def counted(number: int, noun: str) -> str:
    """Write a number with its noun: ``1 claim``, ``2 claims``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def listed(parts: Sequence[str], word: str = "and") -> str:
    """Write a list with a word before its last part."""
    return f"{', '.join(parts[:-1])} {word} {parts[-1]}" if len(parts) > 1 else parts[0]


@dataclass(frozen=True, slots=True)
class Sureness:
    """How sure a session is: the error rates that were declared, what is tolerated, the levels, and the rivals."""

    instances: int
    refute: float
    each: tuple[float, float]
    support: float
    within: tuple[float, float]
    levels: tuple[float, ...]
    rejected: int
    rivals: int
    without: int

    @property
    def tolerance(self) -> str:
        """What an exponent may be off by."""
        least, most = self.within
        return f"{least:g}" if least == most else f"{least:g} to {most:g}"

    @property
    def level(self) -> str:
        """The levels of the intervals, in words, or "" where there are none."""
        return listed([f"{100 * level:g}%" for level in self.levels], "or") if self.levels else ""


def sureness(results: Iterable[Result]) -> Sureness:
    """Return how sure a session is of what it says; raises ValueError where there are no results.

    >>> from theoryck.records import Contract, Judgement
    >>> found = Judgement(Verdict.SUPPORTED, "")
    >>> known = sureness([Result("c", Status.THEOREM, {}, found, None, (), Contract(within=0.15), 1e-3, 0, 0.0, 0)])
    >>> known.refute, known.tolerance, known.rivals, known.without
    (0.001, '0.15', 0, 1)
    """
    kept = list(results)
    if not kept:
        raise ValueError("nothing is sure where there are no results; give at least one")
    rates = [result.false_refute_rate for result in kept]
    within = [result.contract.within for result in kept]
    rivals = [rival for result in kept for rival in result.rivals]
    return Sureness(
        instances=len(kept),
        refute=sum(rates),
        each=(min(rates), max(rates)),
        support=max(result.contract.false_support_rate for result in kept),
        within=(min(within), max(within)),
        levels=tuple(sorted({r.exponent.level for r in kept if r.exponent is not None})),
        rejected=sum(rival.rejected for rival in rivals),
        rivals=len(rivals),
        without=len({r.claim for r in kept if _supported(r)} - {r.claim for r in kept if r.rivals}),
    )


def _supported(result: Result) -> bool:
    return result.status is not Status.FALSEHOOD and result.verdict in (Verdict.SUPPORTED, Verdict.CERTIFIED)


@dataclass(frozen=True, slots=True)
class Remark:
    """One thing that is said of how sure a session is: what it is about, and the words, the first of which may stand apart."""

    topic: str
    head: str
    text: str

    def __str__(self) -> str:
        return f"{self.head}: {self.text}" if self.head else self.text


def how_sure(results: Iterable[Result]) -> list[Remark]:
    """Return, in plain text, what every renderer says of how sure it all is: tolerated, error rates, rivals; nothing of nothing."""
    kept = list(results)
    if not kept:
        return []
    known = sureness(kept)
    of = "a true claim is refuted" if known.instances == 1 else "any true claim is refuted"
    remarks = [
        Remark("tolerated", "tolerated", f"{known.tolerance} in exponents, in values what their claims declare"),
        Remark(
            "error rates",
            "error rates",
            f"{of} with probability at most {known.refute:.2g}, a claim that is off by more than is tolerated is supported with at "
            f"most {known.support:.2g} by the look that decides",
        ),
    ]
    if known.rivals:
        rejected = known.rejected if known.rejected < known.rivals else "all" if known.rivals > 1 else "it"
        of = counted(known.rivals, "wrong prediction")
        text = f"of {of} the same evidence rejected {rejected}"
        remarks.append(Remark("rivals", f"rivals {known.rejected}/{known.rivals}", text))
    if known.without:
        held = "claim that holds has" if known.without == 1 else "claims that hold have"
        remarks.append(
            Remark("without rivals", "", f"{known.without} {held} no rival: nothing shows that the check could have failed")
        )
    return remarks
