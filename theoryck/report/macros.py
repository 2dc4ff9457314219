r"""The marks of a paper: what ``theoryck.sty`` typesets of each claim, written from a record and read back.

A file of marks has one line ``\theoryckrecord`` for each claim (its numbers are those of its worst instance) and for each of
its instances, of nine arguments: the claim, the instance without blanks, the anchor of the claim on the page of the record, the
verdict, what a table of claims shows as measured, exponent, constant, slack and value, each as LaTeX and empty where there is none.
"""

from __future__ import annotations

import os
import re
from dataclasses import astuple, dataclass
from importlib import resources
from pathlib import Path

from theoryck.records import Interval, Report
from theoryck.report import numbers
from theoryck.report.claims import VALUE, ClaimSummary, Outcome, clean, instance_text, summarise
from theoryck.report.formula.tex import escape
from theoryck.report.html.views import anchors
from theoryck.report.latex import number
from theoryck.report.rows import AT_LARGEST, NOTHING, ClaimRow, claim_row

STYLE = "theoryck.sty"
FORMAT = "1"  # of the lines below: theoryck.sty refuses a file of another one
NUMBERS = ("exponent", "constant", "slack", "value")

_UNWRITABLE = re.compile(r"[\\{}%#]|\^\^")  # what no argument of a LaTeX command can hold as it is
_ARGUMENT = r"\{((?:[^{}]|\{[^{}]*\})*)\}"  # numbers have braces one deep, names none
_RECORD = re.compile(r"^\\theoryckrecord" + _ARGUMENT * 9 + "%$", re.MULTILINE)
_HEAD = re.compile(r"^\\theoryckfile\{([^{}]*)\}\{([^{}]*)\}%$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Mark:
    """What a paper can show of a claim, or of one of its instances (with an instance's name, without blanks), as LaTeX."""

    claim: str
    instance: str
    anchor: str
    verdict: str
    measured: str
    exponent: str
    constant: str
    slack: str
    value: str


def style() -> str:
    """Return the text of the LaTeX package ``theoryck.sty``."""
    return resources.files("theoryck.report").joinpath(STYLE).read_text(encoding="utf-8")


def marks(report: Report) -> list[Mark]:
    """Return the marks of a report: for each claim its own, then those of its instances that have a name."""
    claims = summarise(report)
    found = []
    for claim, anchor in zip(claims, anchors(each.claim for each in claims), strict=True):
        found.append(_mark(claim, "", anchor))
        for result in claim.results:
            if instance := instance_text(result.instance).replace(" ", ""):
                found.append(_mark(ClaimSummary(claim.claim, (result,)), instance, anchor))
    return found


def _mark(claim: ClaimSummary, instance: str, anchor: str) -> Mark:
    row, judgement = claim_row(claim), claim.worst.judgement
    value = row.measured.lstrip("=").rstrip(AT_LARGEST) if row.compared.kind == VALUE else NOTHING
    return Mark(
        clean(claim.claim),
        instance,
        anchor,
        _verdict(row),
        _mathematics(row.measured),
        _mathematics(numbers.brief(judgement.exponent)),
        _mathematics(_with_error(judgement.constant)),
        _mathematics(row.slack),
        _mathematics(value),
    )


def _verdict(row: ClaimRow) -> str:
    """The verdict in words, in bold where it is not well."""
    return escape(row.verdict) if row.outcome is Outcome.WELL else rf"\textbf{{{escape(row.verdict.lower())}}}"


def _with_error(found: Interval | None) -> str:
    """A number that is no exponent, so that a small one has a power of ten; with the larger of its two reaches."""
    if found is None:
        return NOTHING
    return numbers.uncertain(found.estimate, max(found.high - found.estimate, found.estimate - found.low))


def _mathematics(text: str) -> str:
    """A number of a table for mathematical mode; nothing where there is none."""
    return "" if text == NOTHING else number(text).strip("$").replace(r"\text{", r"\mathrm{")  # the former needs a package


def render(report: Report, record: str = "", name: str = "verdicts.tex") -> str:
    r"""Return the file of marks of a report.

    ``record`` is the file of the report as it is found from where the marks are, as the file ``name``: an audit of the paper
    reads it.  Claims and instances whose names have one of ``\ { } % #``, which no argument of a LaTeX command can hold, are left
    out and said.

    >>> print(render(Report("quick", 0, (), "0.1.0"), "results.json"))
    % What theoryck 0.1.0 measured, for theoryck.sty; read it by \input in the preamble, and do not edit it.  Made anew here by
    %   theoryck report results.json --macros verdicts.tex
    \theoryckfile{1}{results.json}%
    <BLANKLINE>
    """
    lines = [
        f"% What theoryck {clean(report.version)} measured, for {STYLE}; read it by \\input in the preamble, and do not edit it."
        "  Made anew here by",
        f"%   theoryck report {clean(record) or 'FILE'} --macros {clean(name)}",
        rf"\theoryckfile{{{FORMAT}}}{{{'' if _UNWRITABLE.search(record) else clean(record)}}}%",
    ]
    for mark in marks(report):
        if _UNWRITABLE.search(mark.claim + mark.instance):
            lines.append(rf"% left out, for one of \ {{ }} % # is in its name: {mark.claim} {mark.instance}".rstrip())
        else:
            lines.append(r"\theoryckrecord" + "".join(f"{{{text}}}" for text in astuple(mark)) + "%")
    return "\n".join(lines) + "\n"


@dataclass(frozen=True, slots=True)
class MarksFile:
    """A file of marks as it was read: the record that it names ("" for none), and a mark for each claim and instance."""

    record: str
    marks: dict[tuple[str, str], Mark]


def read(text: str) -> MarksFile | None:
    r"""Return what a file of marks holds; None where a text is no such file, or one of another format.

    >>> read(r"\theoryckfile{1}{results.json}%"), read(r"\newcommand\R{\mathbb R}")
    (MarksFile(record='results.json', marks={}), None)
    """
    head = _HEAD.search(text)
    if head is None or head[1] != FORMAT:
        return None
    found = [Mark(*match.groups()) for match in _RECORD.finditer(text)]
    return MarksFile(head[2], {(mark.claim, mark.instance): mark for mark in found})


def seen_from(record: str, path: str) -> str:
    """Return the path of a record from the folder of the file of marks, with slashes; "" where either is standard input or output.

    >>> seen_from("results.json", "verdicts.tex"), seen_from("paper/a.json", "paper/tex/verdicts.tex"), seen_from("-", "a.tex")
    ('results.json', '../a.json', '')
    """
    if "-" in (record, path):
        return ""
    return Path(os.path.relpath(record, Path(path).parent)).as_posix()
