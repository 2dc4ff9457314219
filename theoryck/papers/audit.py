"""A paper beside a record: its theorems and the claims that they name, and the marks whose numbers are those of an older record.

A theorem names a claim by a mark: inside it, in its title, or next to it with nothing but blanks, labels and other marks between.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from theoryck.papers.scanning import Begin, Between, End, Event, Label, Mark, Place, Scan, Unread
from theoryck.records import Report, Status
from theoryck.report.json import read_json
from theoryck.report.macros import NUMBERS, MarksFile, marks
from theoryck.report.macros import Mark as Shown

VERDICT = ("verdict", "measured", "anchor")  # what \theoryck shows, and where it leads
ENDS = {"theoryck": VERDICT, "theoryckclaim": (), **{f"theoryck{name}": (name,) for name in NUMBERS}}


class PaperError(ValueError):
    """A paper that cannot be audited; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Theorem:
    """A theorem-like environment that states something, and the claims that it names in the order of their marks."""

    place: Place
    environment: str
    title: str
    note: str
    label: str
    claims: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Stale:
    """A mark that shows something else than the record has: as (what, in the file of marks, in the record)."""

    mark: Mark
    changes: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class Audit:
    """What an audit found.

    ``unnamed`` are claims of the record that no theorem names (falsehoods need none), ``elsewhere`` those of them that a mark
    outside of theorems names; ``unknown`` are marks of no claim or instance of the record, ``empty`` marks of a number that there
    is none of, ``unread`` what could not be read of the paper.
    """

    paper: Path
    record: Path | None
    report: Report | None
    files: tuple[Path, ...]
    marks_files: tuple[Path, ...]
    theorems: tuple[Theorem, ...]
    marks: tuple[Mark, ...]
    unnamed: tuple[str, ...]
    elsewhere: tuple[str, ...]
    falsehoods: int
    stale: tuple[Stale, ...]
    unknown: tuple[Mark, ...]
    empty: tuple[Mark, ...]
    unread: tuple[Unread, ...]

    @property
    def bare(self) -> tuple[Theorem, ...]:
        """The theorems that name no claim."""
        return tuple(theorem for theorem in self.theorems if not theorem.claims)

    @property
    def current(self) -> bool:
        """Whether every mark shows what the record has."""
        return not (self.stale or self.unknown or self.empty)


def audit(paper: str | os.PathLike[str], record: str | os.PathLike[str] | None = None) -> Audit:
    """Return what a paper says of the claims of a record, and whether it is what the record says.

    Without ``record`` it is the one that the paper's file of marks names.  A paper with no mark needs neither.  Raises PaperError
    for a paper that is not there and for marks without a record, ReportFileError for a record that cannot be read.
    """
    path = Path(paper)
    if not path.is_file():
        raise PaperError(f"there is no file {path}: name the main file of a paper, such as paper.tex")
    scan = Scan(path)
    events = scan.events()
    theorems, unended = _theorems(events)
    used = tuple(event for event in events if isinstance(event, Mark))
    found = Path(record) if record is not None else _record_of(scan.marks_files)
    if found is None and used and not scan.unread:
        raise PaperError(_without_record(used[0], scan.marks_files))
    report = read_json(found) if found is not None else None
    now = {(mark.claim, mark.instance): mark for mark in marks(report)} if report is not None else {}
    then = {key: mark for _, file in scan.marks_files for key, mark in file.marks.items()}
    named = {claim for theorem in theorems for claim in theorem.claims}
    claims = {result.claim: result.status for result in (report.results if report is not None else ())}
    unnamed = tuple(claim for claim, status in claims.items() if claim not in named and status is not Status.FALSEHOOD)
    known = [mark for mark in used if (mark.claim, mark.instance) in now]
    stale = tuple(_stale(known, then, now))
    changed = {each.mark for each in stale}
    return Audit(
        paper=path,
        record=found,
        report=report,
        files=tuple(scan.files),
        marks_files=tuple(file for file, _ in scan.marks_files),
        theorems=theorems,
        marks=used,
        unnamed=unnamed,
        elsewhere=tuple(claim for claim in unnamed if claim in {mark.claim for mark in used}),
        falsehoods=sum(status is Status.FALSEHOOD for status in claims.values()),
        stale=stale,
        unknown=tuple(mark for mark in used if report is not None and mark not in known),
        empty=tuple(mark for mark in known if mark not in changed and _is_empty(mark, now[mark.claim, mark.instance])),
        unread=(*scan.unread, *unended),
    )


def _record_of(files: Iterable[tuple[Path, MarksFile]]) -> Path | None:
    """The record that the first file of marks names which names one."""
    return next((path.parent / file.record for path, file in files if file.record), None)


def _without_record(mark: Mark, files: list[tuple[Path, MarksFile]]) -> str:
    if files:
        return f"{files[0][0]} was made from standard input and names no record: say which, with --record results.json"
    return (
        f"{mark.place}: {mark} is a mark, but the paper reads no file of marks: write one by theoryck report results.json "
        "--macros verdicts.tex, and \\input{verdicts.tex} in the preamble"
    )


def _theorems(events: Iterable[Event]) -> tuple[tuple[Theorem, ...], list[Unread]]:
    """The theorems with what names their claims, and those that never end."""
    found: list[tuple[Begin, list[str], list[str]]] = []  # a theorem, its labels, its claims
    inside: list[int] = []
    near: int | None = None  # the theorem that ended just before
    before: list[str] = []  # marks since anything else, after which no theorem has ended
    for event in events:
        match event:
            case Begin():
                found.append((event, [event.label] if event.label else [], before))
                inside.append(len(found) - 1)
                near, before = None, []
            case End() if inside:
                near, before = inside.pop(), []
            case Mark():
                (found[inside[-1]][2] if inside else found[near][2] if near is not None else before).append(event.claim)
            case Label():
                if inside or near is not None:
                    found[inside[-1] if inside else near or 0][1].append(event.name)
            case Between():
                near, before = None, []
    theorems = tuple(
        Theorem(begin.place, begin.environment, begin.title, begin.note, next(iter(labels), ""), (*dict.fromkeys(claims),))
        for begin, labels, claims in found
    )
    return theorems, [Unread(found[at][0].place, f"\\begin{{{found[at][0].environment}}} is never ended") for at in inside]


def _is_empty(mark: Mark, shown: Shown) -> bool:
    """Whether a mark asks for a number that there is none of."""
    return bool(ENDS[mark.command]) and not any(getattr(shown, name) for name in ENDS[mark.command])


Table = Mapping[tuple[str, str], Shown]


def _stale(used: Iterable[Mark], then: Table, now: Table) -> Iterator[Stale]:
    """The marks that show something else than the record has, or nothing yet."""
    for mark in used:
        key = mark.claim, mark.instance
        old = then.get(key)
        changes = [(name, getattr(old, name, ""), getattr(now[key], name)) for name in ENDS[mark.command]]
        changed = tuple(each for each in changes if each[1] != each[2])
        if changed or (old is None and not changes):
            yield Stale(mark, changed)
