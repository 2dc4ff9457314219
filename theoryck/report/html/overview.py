"""What the front page says: counts, what fell and what is open with its reasons, the claims by folder."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from theoryck.records import About, Report, Status, Tightness
from theoryck.report.claims import MIXED, STANDINGS, ClaimSummary, Outcome, clean, standing, summarise
from theoryck.report.html.claims import ClaimView, claim_view
from theoryck.report.methods import how_sure
from theoryck.report.paragraphs import headline


@dataclass(frozen=True, slots=True)
class Alarm:
    """A claim that is not as declared, or not decided: what became of it and why."""

    claim: ClaimView
    said: str
    reason: str
    instances: str


@dataclass(frozen=True, slots=True)
class Count:
    """How many claims came to one standing."""

    standing: str
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
    sure: tuple[str, ...] = ()

    def order(self, standing: str) -> int:
        """The place of a standing among all, worst first."""
        return STANDINGS.index(standing)

    @property
    def standings(self) -> list[str]:
        """The standings that occur, worst first."""
        return [count.standing for count in self.counts]


def overview(report: Report) -> Overview:
    """Return what the page says about a report."""
    about = {known.claim: known for known in report.about}
    summaries = summarise(report)
    names = anchors(summary.claim for summary in summaries)
    views = [
        claim_view(summary, number, anchor, about.get(summary.claim) or About(summary.claim), standing(summary))
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
        sure=tuple(map(clean, how_sure(report.results))),
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
    for name in STANDINGS:
        here = [view for view in views if view.standing == name]
        if here:
            found.append(Count(name, len(here), here[0].outcome))
    return tuple(found)


def _tightness(summaries: Sequence[ClaimSummary]) -> tuple[tuple[str, int], ...]:
    """Count the words on tightness among the bounds that stand."""
    said = [each.tightness for each in summaries]
    return tuple((word, said.count(word)) for word in (*(known.value.lower() for known in Tightness), MIXED) if word in said)


def _alarms(views: Sequence[ClaimView], summaries: Sequence[ClaimSummary], what: Outcome) -> tuple[Alarm, ...]:
    found = []
    for view, summary in zip(views, summaries, strict=True):
        if summary.outcome is not what:
            continue
        alike = sum(instance.outcome == what.value for instance in view.instances)
        instances = f"{alike} of {len(view.instances)} instances" if len(view.instances) > 1 else ""
        found.append(Alarm(view, headline(summary.worst), clean(summary.worst.reason), instances))
    return tuple(sorted(found, key=lambda alarm: STANDINGS.index(alarm.claim.standing)))


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
