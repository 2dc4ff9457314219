"""Reports: all results of a session, with what is written about their claims."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from theoryck._renderers import show
from theoryck.records.plain import Record, read_fields
from theoryck.records.results import Result
from theoryck.records.values import Verdict

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class About(Record):
    """What its author wrote about a claim: kept with the results, so that a page about them needs no source.

    ``setting`` is the docstring of the file, ``folder`` the name of the folder whose own docstring is in ``Report.folders``,
    ``details`` what the claim's docstring says after its first line, ``assumptions`` says of each argument where it is drawn from,
    ``place`` is a file and a line, ``citation`` has authors, year, title, arxiv and note as far as they are known.

    >>> about = About("example", setting="x ~ N(0, 1).", assumptions={"k": "integers(1, 8)"})
    >>> About.from_json(about.to_json()) == about
    True
    """

    claim: str
    setting: str = ""
    details: str = ""
    folder: str = ""
    assumptions: Mapping[str, str] = field(default_factory=dict)
    place: str = ""
    citation: Mapping[str, str] = field(default_factory=dict)


def gathered(pairs: Iterable[tuple[About, str]]) -> tuple[tuple[About, ...], dict[str, str]]:
    """Return what is written about claims, and the docstring of each of their folders once, from pairs of both.

    Two folders of one name that say different things are kept apart by a number.

    >>> about, folders = gathered([(About("a", folder="p"), "One."), (About("b", folder="p"), "Two."), (About("c"), "")])
    >>> [each.folder for each in about], folders
    (['p', 'p (2)', ''], {'p': 'One.', 'p (2)': 'Two.'})
    """
    found: list[About] = []
    folders: dict[str, str] = {}
    for about, text in pairs:
        if about.folder:
            names = itertools.chain([about.folder], (f"{about.folder} ({number})" for number in itertools.count(2)))
            name = next(name for name in names if folders.get(name, text) == text)
            folders[name] = text
            about = replace(about, folder=name)
        found.append(about)
    return tuple(found), folders


@dataclass(frozen=True, slots=True)
class Report:
    """Everything one session found: what ``--json`` writes and every renderer reads.

    ``results`` has one :class:`Result` an instance, ``profile`` and ``seed`` say how they were drawn, ``interrupted`` whether
    Ctrl-C ended the session before its end, ``strict`` whether what is undecided was to fail it.  ``about`` has one entry per
    claim and ``folders`` the docstring of each folder that they name; older files have neither.  ``theoryck.report.json`` reads
    and writes files, :meth:`to_json` and :meth:`from_json` make and take their data.

    >>> import sympy, theoryck as tc
    >>> @tc.theorem("example/sigma-of-erf")
    ... def sigma_of_erf():
    ...     "sigma_1 = (2/pi) asin(2/3) for erf"
    ...     exact = tc.quantities.closed_form(2 * sympy.atan(2 / sympy.sqrt(5)) / sympy.pi)
    ...     return tc.Identity(tc.networks.sigma("erf", 1), exact, rivals=[0.46])
    >>> report = tc.check_claims(sigma_of_erf)
    >>> report.exit_code, report.about_of("example/sigma-of-erf").details
    (0, '')
    >>> report.results[0].verdict.value, report.results[0].rivals[0].rejected
    ('SUPPORTED', True)
    >>> Report.from_json(report.to_json()) == report
    True
    """

    profile: str
    seed: int
    results: tuple[Result, ...]
    version: str = field(default="", metadata={"key": "theoryck"})
    interrupted: bool = False
    about: tuple[About, ...] = ()
    folders: Mapping[str, str] = field(default_factory=dict)
    strict: bool = False

    def about_of(self, claim: str) -> About | None:
        """Return what was written about a claim, or None."""
        return next((about for about in self.about if about.claim == claim), None)

    def __str__(self) -> str:
        return show("text", self)

    def _repr_html_(self) -> str:
        return show("html", self)

    @property
    def exit_code(self) -> int:
        """0 all well, 1 a statement fell (or a falsehood stood), 3 undecided under thorough, 130 interrupted.

        A strict run also ends with 1 where anything is undecided, under thorough too.
        """
        if self.interrupted:
            return 130
        if any(not result.ok or (self.strict and not result.decided) for result in self.results):
            return 1
        undecided = any(result.verdict is Verdict.INCONCLUSIVE for result in self.results)
        return 3 if undecided and self.profile == "thorough" else 0

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready dict that follows the published schema."""
        counts = {verdict.value: 0 for verdict in Verdict}
        for result in self.results:
            counts[result.verdict.value] += 1
        return {
            "theoryck": self.version,
            "schema": SCHEMA_VERSION,
            "profile": self.profile,
            "seed": self.seed,
            "results": [result.to_json() for result in self.results],
            "summary": {
                "claims": len({result.claim for result in self.results}),
                "instances": len(self.results),
                "verdicts": counts,
                "failed": sum(not result.ok for result in self.results),
                "interrupted": self.interrupted,
                **({"strict": True} if self.strict else {}),
                "exit_code": self.exit_code,
            },
            **({"about": [about.to_json() for about in self.about]} if self.about else {}),
            **({"folders": dict(self.folders)} if self.folders else {}),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Report:
        """Inverse of :meth:`to_json`; anything else raises ValueError.

        >>> Report.from_json({"schema": 0})
        Traceback (most recent call last):
            ...
        ValueError: schema must be 1, got 0: this file was written by another version of theoryck
        """
        if not isinstance(data, Mapping):
            raise ValueError(f"a report is a JSON object, got {type(data).__name__}: use theoryck.report.json.read_json for a file")
        if data.get("schema") != SCHEMA_VERSION:
            raise ValueError(
                f"schema must be {SCHEMA_VERSION}, got {data.get('schema')!r}: this file was written by another version of theoryck"
            )
        summary = data.get("summary", {})
        ended = {name: summary.get(name, False) for name in ("interrupted", "strict")}
        report: Report = read_fields(cls, {**data, **ended})
        return report
