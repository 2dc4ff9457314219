"""What the page says: of the whole its counts, what fell and what is open; of each claim and instance its facts and pictures.

Every judgement is in the words of the text report.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from theoryck.records import About, Point, Report, Result, Status, Tightness
from theoryck.records.values import size_text
from theoryck.report import numbers
from theoryck.report.claims import (
    CLAIM_VERDICTS,
    MIXED,
    ClaimSummary,
    Outcome,
    Remark,
    claim_verdict,
    clean,
    how_sure,
    instance_text,
    outcome,
    severity,
    summarise,
)
from theoryck.report.paragraphs import facts, headline
from theoryck.report.rows import NOTHING, claim_row
from theoryck.report.svg import Picture, pictures

_ARXIV = re.compile(r"\d{4}\.\d{4,5}(v\d+)?|[a-z-]+(\.[A-Z]{2})?/\d{7}", re.ASCII)
_ELSEWHERE = ("statement", "reference", "quantity", "repeat")  # written once for the claim, in the formula, in a place of its own


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of the table of claims: its text, and the number it is sorted by (None sorts last)."""

    text: str
    key: float | None = None


@dataclass(frozen=True, slots=True)
class PointRow:
    """What was measured at one set of sizes, as texts in the order of the columns."""

    sizes: tuple[str, ...]
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PointTable:
    """The table of an instance: its columns and its rows."""

    sizes: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[PointRow, ...]


@dataclass(frozen=True, slots=True)
class InstanceView:
    """One judged instance: words, facts, its table, and what draws its pictures."""

    anchor: str
    text: str
    headline: str
    outcome: str
    result: Result
    facts: tuple[tuple[str, str], ...]
    table: PointTable | None
    repeat: str

    @property
    def pictures(self) -> list[Picture]:
        """The pictures of the instance, with ids of its own."""
        return pictures(self.result, f"{self.anchor}-")


@dataclass(frozen=True, slots=True)
class ClaimView:
    """One claim: its row in the table and its section."""

    anchor: str
    claim: str
    prefix: str
    name: str
    folder: str
    status: str
    verdict: str
    outcome: str
    statement: str
    reference: str
    about: About
    claimed: Cell
    measured: Cell
    tightness: Cell
    slack: Cell
    rivals: Cell
    number: int
    draws: int
    seconds: float
    instances: tuple[InstanceView, ...]

    @property
    def title(self) -> str:
        """The title of the paper, unless the reference says it already."""
        title = clean(self.about.citation.get("title", ""))
        return "" if title in self.reference else title

    @property
    def arxiv(self) -> str:
        """The number of the paper at arXiv, where it has the form of one: only then may it stand in an address."""
        number = self.about.citation.get("arxiv", "")
        return number if _ARXIV.fullmatch(number) else ""

    @property
    def searched(self) -> str:
        """The text in which the filter looks for words."""
        return " ".join((self.claim, self.statement, self.reference)).lower()


def claim_view(summary: ClaimSummary, number: int, anchor: str, about: About, verdict: str) -> ClaimView:
    """Return what is shown of a claim, the ``number``-th on its page; the instances come worst first."""
    worst = summary.worst
    folder, _, name = summary.claim.rpartition("/")
    row = claim_row(summary)
    rejected, _ = summary.rivals
    results = sorted(summary.results, key=severity)
    return ClaimView(
        anchor=anchor,
        claim=clean(summary.claim),
        prefix=clean(folder),
        name=clean(name),
        folder=clean(about.folder or folder),
        status=worst.status.value,
        verdict=verdict,
        outcome=summary.outcome.value,
        statement=clean(worst.statement),
        reference=clean(worst.reference),
        about=about,
        claimed=_cell(row.claimed, _finite(row.compared.claimed_key)),
        measured=_cell(row.measured, _finite(row.compared.measured_key)),
        tightness=Cell(row.tightness),
        slack=_cell(row.slack, _finite(worst.slack.estimate) if worst.slack else None),
        rivals=_cell(row.rivals, rejected),
        number=len(summary.results),
        draws=summary.draws,
        seconds=summary.seconds,
        instances=tuple(instance_view(result, f"p{number}-{i}") for i, result in enumerate(results, 1)),
    )


def instance_view(result: Result, anchor: str) -> InstanceView:
    """Return what is shown of one instance."""
    return InstanceView(
        anchor=anchor,
        text=instance_text(result.instance),
        headline=headline(result),
        outcome=outcome(result).value,
        result=result,
        facts=tuple((label, text) for label, text in facts(result) if text and label not in _ELSEWHERE),
        table=point_table(result),
        repeat=clean(result.repeat),
    )


def _cell(text: str, key: float | None) -> Cell:
    return Cell(text, None if text == NOTHING else key)


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def point_table(result: Result) -> PointTable | None:
    """Return the table of sizes, values, errors and draws of an instance; only columns that say something."""
    points = result.points
    if not points:
        return None
    sizes = tuple(dict.fromkeys(name for point in points for name in point.sizes))
    columns = [(name, values) for name, values in _columns(points) if any(values)]
    rows = [
        PointRow(
            tuple(size_text(point.sizes[name]) if name in point.sizes else "-" for name in sizes),
            tuple(values[i] or "-" for _, values in columns),
        )
        for i, point in enumerate(points)
    ]
    return PointTable(tuple(map(clean, sizes)), tuple(name for name, _ in columns), tuple(rows))


def _columns(points: tuple[Point, ...]) -> list[tuple[str, list[str]]]:
    exact = [point.exact for point in points]
    drawn = [point.estimate for point in points]
    ends = [point.bracket for point in points]
    return [
        ("exact", [numbers.enclosed(value, 15) if value else "" for value in exact]),
        ("radius", [f"{value.radius:.1e}" if value and value.radius else ("0" if value else "") for value in exact]),
        ("proved", [("yes" if value.rigorous else "no") if value else "" for value in exact]),
        ("Monte Carlo", [numbers.uncertain(e.value, e.stderr) if e else "" for e in drawn]),
        ("standard error", [f"{e.stderr:.2e}" if e else "" for e in drawn]),
        ("from below", [f"{b.low:.6g} +/- {b.low_stderr:.1e}" if b else "" for b in ends]),
        ("from above", [f"{b.high:.6g} +/- {b.high_stderr:.1e}" if b else "" for b in ends]),
        ("draws", [f"{_draws(point):,}" if _draws(point) else "" for point in points]),
        ("flags", [clean(", ".join(_flags(point))) for point in points]),
    ]


def _draws(point: Point) -> int:
    return point.estimate.draws if point.estimate else point.bracket.draws if point.bracket else 0


def _flags(point: Point) -> tuple[str, ...]:
    return (*(point.estimate.flags if point.estimate else ()), *(point.bracket.flags if point.bracket else ()))


@dataclass(frozen=True, slots=True)
class Alarm:
    """A claim that is not as declared, or not decided: what became of it and why."""

    claim: ClaimView
    headline: str
    reason: str
    instances: str


@dataclass(frozen=True, slots=True)
class Count:
    """How many claims came to one verdict."""

    verdict: str
    claims: int
    outcome: str


@dataclass(frozen=True, slots=True)
class Folder:
    """The claims of one folder (a paper), the first line of its own docstring and the rest of it."""

    name: str
    anchor: str
    title: str
    text: str
    claims: tuple[ClaimView, ...]


@dataclass(frozen=True, slots=True)
class Overview:
    """Everything the template of the page reads."""

    report: Report
    claims: tuple[ClaimView, ...]
    counts: tuple[Count, ...] = ()
    failed: tuple[Alarm, ...] = ()
    undecided: tuple[Alarm, ...] = ()
    folders: tuple[Folder, ...] = ()
    draws: int = 0
    seconds: float = 0.0
    statuses: tuple[str, ...] = ()
    tightness: tuple[tuple[str, int], ...] = ()
    sure: tuple[Remark, ...] = ()

    def order(self, verdict: str) -> int:
        """The place of a verdict among all, worst first."""
        return CLAIM_VERDICTS.index(verdict)

    @property
    def verdicts(self) -> list[str]:
        """The verdicts that occur, worst first."""
        return [count.verdict for count in self.counts]


def overview(report: Report) -> Overview:
    """Return what the page says about a report."""
    about = {known.claim: known for known in report.about}
    summaries = summarise(report)
    names = anchors(summary.claim for summary in summaries)
    views = [
        claim_view(summary, number, anchor, about.get(summary.claim) or About(summary.claim), claim_verdict(summary))
        for number, (summary, anchor) in enumerate(zip(summaries, names, strict=True), 1)
    ]
    return Overview(
        report=report,
        claims=tuple(views),
        counts=_counts(views),
        failed=_alarms(views, summaries, Outcome.FAILED),
        undecided=_alarms(views, summaries, Outcome.UNDECIDED),
        folders=_folders(report, views),
        draws=sum(summary.draws for summary in summaries),
        seconds=sum(summary.seconds for summary in summaries),
        tightness=_tightness(summaries),
        sure=tuple(how_sure(report.results)),
        statuses=tuple(status.value for status in Status if any(view.status == status.value for view in views)),
    )


def anchors(names: Iterable[str]) -> list[str]:
    """Return a name for each claim that can stand in an address, all different.

    >>> anchors(["paper/a claim", "paper/a-claim", "<script>"])
    ['claim-paper-a-claim', 'claim-paper-a-claim-2', 'claim-script']
    """
    taken: set[str] = set()
    made = []
    for name in names:
        base = "claim-" + (re.sub(r"[^A-Za-z0-9._]+", "-", name).strip("-.") or "unnamed")
        anchor, number = base, 1
        while anchor in taken:
            number += 1
            anchor = f"{base}-{number}"
        taken.add(anchor)
        made.append(anchor)
    return made


def _counts(views: Sequence[ClaimView]) -> tuple[Count, ...]:
    found = []
    for name in CLAIM_VERDICTS:
        here = [view for view in views if view.verdict == name]
        if here:
            found.append(Count(name, len(here), here[0].outcome))
    return tuple(found)


def _tightness(summaries: Sequence[ClaimSummary]) -> tuple[tuple[str, int], ...]:
    """Count the words on tightness among the bounds that stand."""
    words = [each.tightness for each in summaries]
    return tuple((word, words.count(word)) for word in (*(known.value.lower() for known in Tightness), MIXED) if word in words)


def _alarms(views: Sequence[ClaimView], summaries: Sequence[ClaimSummary], what: Outcome) -> tuple[Alarm, ...]:
    found = []
    for view, summary in zip(views, summaries, strict=True):
        if summary.outcome is not what:
            continue
        alike = sum(instance.outcome == what.value for instance in view.instances)
        instances = f"{alike} of {len(view.instances)} instances" if len(view.instances) > 1 else ""
        found.append(Alarm(view, headline(summary.worst), clean(summary.worst.reason), instances))
    return tuple(sorted(found, key=lambda alarm: CLAIM_VERDICTS.index(alarm.claim.verdict)))


def _folders(report: Report, views: Sequence[ClaimView]) -> tuple[Folder, ...]:
    groups: dict[str, list[ClaimView]] = {}
    for view in views:
        groups.setdefault(view.folder, []).append(view)
    names = [anchor.replace("claim-", "folder-", 1) for anchor in anchors(groups)]
    texts = [report.folders.get(name, "").strip().partition("\n") for name in groups]
    return tuple(
        Folder(name, anchor, title, text.strip("\n"), tuple(claims))
        for (name, claims), anchor, (title, _, text) in zip(groups.items(), names, texts, strict=True)
    )
