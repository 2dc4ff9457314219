"""BibTeX: an entry for each paper whose claims are in a report, and one for theoryck."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, replace

from theoryck.records import Report
from theoryck.report.claims import clean
from theoryck.report.formula.tex import escape

SOFTWARE_KEY = "theoryck"
_SOFTWARE_YEAR = "2026"  # of date-released in CITATION.cff, which is no part of the package; a test keeps them equal
_SOFTWARE_TITLE = "theoryck: a symbolic-numeric verifier for high-dimensional learning theory"


@dataclass(frozen=True, slots=True)
class Entry:
    """One source: its key, and its fields as plain text; ``note`` is all there is of a source of which only a line is known."""

    key: str
    authors: tuple[str, ...] = ()
    year: str = ""
    title: str = ""
    arxiv: str = ""
    note: str = ""

    def bibtex(self) -> str:
        """Return the entry as BibTeX."""
        fields = {
            "author": " and ".join(f"{{{_field(_bare(a))}}}" if _one_name(a) else _field(a) for a in self.authors),
            "title": f"{{{_field(self.title)}}}" if self.title else "",
            "year": _field(self.year),
            "eprint": _field(self.arxiv),
            "archivePrefix": "arXiv" if self.arxiv else "",
            "note": _field(self.note),
        }
        lines = [f"  {name} = {{{text}}}," for name, text in fields.items() if text]
        return "\n".join([f"@misc{{{self.key},", *lines, "}"])

    def item(self) -> str:
        r"""Return the entry as a LaTeX ``\bibitem``."""
        parts = [
            _enumerated(self.authors),
            rf"\emph{{{escape(self.title)}}}" if self.title else "",
            escape(self.year),
            f"arXiv:{escape(self.arxiv)}" if self.arxiv else "",
            escape(self.note),
        ]
        return rf"\bibitem{{{self.key}}} " + ", ".join(part for part in parts if part) + "."


@dataclass(frozen=True, slots=True)
class Bibliography:
    """The sources of a report; for each claim the key of its own and, where claims differ in it, the place in that source."""

    entries: tuple[Entry, ...]
    keys: Mapping[str, str]
    places: Mapping[str, str]

    def cite(self, claim: str) -> str:
        r"""Return the ``\cite`` of a claim's source, or nothing."""
        place = f"[{{{escape(self.places[claim])}}}]" if self.places.get(claim) else ""
        return rf"\cite{place}{{{self.keys[claim]}}}" if claim in self.keys else ""


def render(report: Report) -> str:
    """Return a BibTeX file: the sources of a report's claims in order of first appearance, and theoryck."""
    return "\n\n".join(entry.bibtex() for entry in bibliography(report).entries) + "\n"


def bibliography(report: Report) -> Bibliography:
    """Return the sources of a report, each once; keys such as ``camilli2025`` get a letter where two sources would share one.

    A file written by an older theoryck knows only one line of each reference: it becomes the note of an entry.
    """
    sources: dict[Entry, dict[str, str]] = {}  # without its note: the notes of the claims that cite it
    for claim, reference in {result.claim: result.reference for result in report.results}.items():
        about = report.about_of(claim)
        entry = _entry(about.citation if about is not None else {}, reference)
        if entry is not None:
            source = replace(entry, note="") if entry.title or entry.authors else entry
            sources.setdefault(source, {})[claim] = entry.note
    entries: list[Entry] = []
    keys: dict[str, str] = {}
    places: dict[str, str] = {}
    taken = {SOFTWARE_KEY}
    for source, notes in sources.items():
        key = _free(_base_key(source), taken)
        taken.add(key)
        shared = len(set(notes.values())) == 1  # one note for all is the source's own, a journal for instance
        entries.append(replace(source, key=key, note=next(iter(notes.values())) if shared else ""))
        keys |= dict.fromkeys(notes, key)
        places |= {} if shared else notes
    return Bibliography((*entries, software(report)), keys, places)


def software(report: Report) -> Entry:
    """Return the entry of theoryck itself, in the version that measured."""
    version = f"Version {clean(report.version)}" if report.version else "Computer program"
    return Entry(SOFTWARE_KEY, ("{The theoryck developers}",), _SOFTWARE_YEAR, _SOFTWARE_TITLE, note=version)


def _entry(citation: Mapping[str, str], reference: str) -> Entry | None:
    """The source without its key; None where nothing is cited."""
    known = {name: clean(citation.get(name, "")) for name in ("authors", "year", "title", "arxiv", "note")}
    if known["authors"] or known["title"]:
        authors = tuple(part.strip() for part in known["authors"].split(",") if part.strip())
        return Entry("", authors, known["year"], known["title"], known["arxiv"], known["note"])
    return Entry("", note=clean(reference)) if clean(reference) else None


def _base_key(entry: Entry) -> str:
    """Family name of the first author and the year, in ASCII letters."""
    first = entry.authors[0] if entry.authors else entry.note
    plain = unicodedata.normalize("NFKD", first).encode("ascii", "ignore").decode("ascii")
    words = re.findall(r"[A-Za-z]+(?:-[A-Za-z]+)*", plain)
    family = (words[-1] if entry.authors else words[0]) if words else "source"
    years = re.findall(r"\b(?:1[6-9]|2[01])\d\d\b", entry.year or entry.note)
    return family.replace("-", "").lower() + (years[0] if years else "")


def _free(base: str, taken: set[str]) -> str:
    key, number = base, 0
    while key in taken:
        number += 1
        key = f"{base}{chr(ord('a') + number)}" if number < 26 else f"{base}-{number}"
    return key


def _one_name(author: str) -> bool:
    """Whether a name is that of a group, which is in braces, or would be taken for several."""
    return _bare(author) != author or " and " in author


def _bare(author: str) -> str:
    """A name without the braces that keep it together."""
    return author[1:-1] if author.startswith("{") and author.endswith("}") else author


def _field(text: str) -> str:
    """A text in a field: BibTeX counts braces even where LaTeX takes them as characters, so these get names."""
    return escape(text).replace(r"\{", r"\textbraceleft{}").replace(r"\}", r"\textbraceright{}")


def _enumerated(authors: tuple[str, ...]) -> str:
    names = [escape(_bare(author)) for author in authors]
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)
