"""``theoryck audit-paper``: the theorems of a paper and their claims, and the marks that are older than the record."""

from __future__ import annotations

import difflib
import json
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from theoryck.cli.common import Usage, stdout_style
from theoryck.report.claims import clean, counted
from theoryck.report.layout import Style, cells, pad, wrap

if TYPE_CHECKING:
    from theoryck.papers.audit import Audit, Theorem


@click.command("audit-paper")
@click.argument("paper", metavar="PAPER")
@click.option("--record", metavar="FILE", help="The results that the paper is about, instead of those that its marks name.")
@click.option("--strict", is_flag=True, help="Exit with 1 where a theorem names no claim, or no theorem names a claim, too.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")
def command(paper: str, record: str | None, strict: bool, as_json: bool) -> None:
    """Say which theorems of a paper name a claim, and whether its marks are what the record says.

    PAPER is the main file of a paper in LaTeX; what it reads by \\input, \\include, \\subfile and \\import is read, too.  A theorem
    names a claim by a mark of theoryck.sty inside it, in its title, or next to it; \\theoryckclaim{ID} names one and prints
    nothing.  Marks are compared with the record: the results from which "theoryck report FILE --macros verdicts.tex" wrote
    the file of marks that the paper reads.  Nothing is measured, and TeX is not needed.

    \b
    Examples:
      theoryck audit-paper paper.tex
      theoryck audit-paper paper.tex --record results.json --strict
      theoryck audit-paper paper.tex --json | python -m json.tool

    Exit status: 0 every mark shows what the record has; 1 marks are stale, or name a claim or a number that is not there, or with
    --strict theorems and claims do not match; 2 wrong usage, or a file that could not be read (the rest of the paper is audited).
    """
    from theoryck.papers.audit import PaperError, audit
    from theoryck.report.json import ReportFileError

    try:
        found = audit(paper, record)
    except (PaperError, ReportFileError) as error:
        raise Usage(str(error)) from error
    click.echo(_json(found) if as_json else "\n".join(_lines(found, stdout_style())))
    if found.unread:
        sys.exit(Usage.exit_code)
    sys.exit(1 if not found.current or (strict and (found.bare or found.unnamed)) else 0)


def _json(found: Audit) -> str:
    data = {
        "paper": str(found.paper),
        "record": None if found.record is None else str(found.record),
        "files": [str(path) for path in found.files],
        "marks": [str(path) for path in found.marks_files],
        "theorems": [
            {
                "file": each.place.file,
                "line": each.place.line,
                "environment": each.environment,
                "title": each.title,
                "note": each.note,
                "label": each.label,
                "claims": each.claims,
            }
            for each in found.theorems
        ],
        "unnamed": found.unnamed,
        "stale": [
            {
                "file": each.mark.place.file,
                "line": each.mark.place.line,
                "mark": str(each.mark),
                "changes": [{"of": what, "paper": old, "record": new} for what, old, new in each.changes],
            }
            for each in found.stale
        ],
        "unknown": [_place(each) for each in found.unknown],
        "empty": [_place(each) for each in found.empty],
        "unread": [{"file": each.place.file, "line": each.place.line, "reason": each.reason} for each in found.unread],
        "current": found.current,
    }
    return json.dumps(data, indent=1, ensure_ascii=False)


def _place(mark: object) -> dict[str, object]:
    place = mark.place  # type: ignore[attr-defined]
    return {"file": place.file, "line": place.line, "mark": str(mark)}


def _lines(found: Audit, style: Style) -> list[str]:
    sections = [
        ("Theorems and their claims", _theorems(found)),
        ("Claims that no theorem names", _unnamed(found)),
        ("Stale marks", _stale(found)),
        ("Marks of what is not in the record", _unknown(found)),
        ("Not read", [clean(each) for each in found.unread]),
    ]
    lines = []
    for heading, entries in sections:
        if listed := [*entries]:
            lines += [style.paint(heading, "head")]
            lines += [line for entry in listed for line in wrap(entry, style.width, first="  ", rest="      ")]
            lines += [""]
    return lines + wrap(_sum(found), style.width)


def _theorems(found: Audit) -> list[str]:
    places = [clean(each.place) for each in found.theorems]
    reach = max(map(cells, places), default=0)
    return [f"{pad(place, reach)}  {_named(each)}" for place, each in zip(places, found.theorems, strict=True)]


def _named(theorem: Theorem) -> str:
    words = [theorem.title or theorem.environment]
    words += [f"({clean(theorem.note)})"] if theorem.note else []
    words += [theorem.label] if theorem.label else []
    return f"{clean(' '.join(words))}: {clean(', '.join(theorem.claims)) or 'NO CLAIM'}"


def _unnamed(found: Audit) -> Iterator[str]:
    for claim in found.unnamed:
        yield f"{clean(claim)}{' (a mark in the text has it)' if claim in found.elsewhere else ''}"


def _stale(found: Audit) -> Iterator[str]:
    record = "the record" if found.record is None else found.record.name
    marks = "the paper" if len(found.marks_files) != 1 else found.marks_files[0].name
    for each in found.stale:
        changes = [f"{what} {old or 'nothing'} in {marks}, {new or 'nothing'} in {record}" for what, old, new in each.changes]
        yield clean(f"{each.mark.place}: {each.mark}: {'; '.join(changes) or f'it is not in {marks}'}")
    if found.stale and found.record is not None and found.marks_files:
        words = ["theoryck", "report", str(found.record), "--macros", str(found.marks_files[0])]
        yield clean(f"To bring them up to date: {shlex.join(words)}")


def _unknown(found: Audit) -> Iterator[str]:
    known = {result.claim: None for result in found.report.results} if found.report is not None else {}
    where = found.marks_files
    for mark in found.unknown:
        if mark.claim in known:
            why = f"the claim has no such instance; write one as in the file of marks{f' {where[0]}' if where else ''}"
        else:
            close = difflib.get_close_matches(mark.claim, known, n=1)
            why = f"no such claim{f'; did you mean {close[0]}?' if close else ''}"
        yield clean(f"{mark.place}: {mark}: {why}")
    for mark in found.empty:
        yield clean(f"{mark.place}: {mark}: the claim has no {mark.command.removeprefix('theoryck')}")


def _sum(found: Audit) -> str:
    named = len(found.theorems) - len(found.bare)
    parts = [f"{counted(len(found.theorems), 'theorem')}, {named} with a claim"]
    if found.record is not None:
        parts.append(f"{counted(len(found.unnamed), 'claim')} that no theorem names")
    if found.falsehoods:
        parts.append(f"{counted(found.falsehoods, 'falsehood')}, which need{'s' * (found.falsehoods == 1)} none")
    state = "no marks"
    if found.marks:
        wrong = len(found.unknown) + len(found.empty)
        state = f"{counted(len(found.marks), 'mark')}, {len(found.stale)} stale"
        state += f", {wrong} of what is not there" if wrong else ""
    parts.append(state)
    where = f" beside {Path(found.record)}" if found.record is not None else ""
    return clean(f"{found.paper}{where}: {'; '.join(parts)}.")
