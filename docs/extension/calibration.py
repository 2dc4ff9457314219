"""The measured error rates: what ``python -m tests.calibration.table`` printed, summed for each promise."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive

from tests.calibration.tallies import Tally

_ROW = re.compile(
    r"(?P<part>[a-z]+) +(?P<text>.+?) +(?P<hits>\d+)/(?P<trials>\d+) = \S+ \[\S+, \S+\](?:  declared (?P<sign>..) (?P<rate>\S+))?"
)
WHAT = {
    "refute": "true claims at the edge of what is tolerated",
    "session": "sessions of 20 claims",
    "support": "claims wrong by what is tolerated, or twice that",
    "power": "planned budgets: wrong claims are refuted",
    "logs": "logarithms, and laws next to the claimed one",
    "audit": "tables with and without error bars, replicates",
    "digits": "orders and scalings from printed digits",
    "limits": "limits that are approached slowly and fast",
    "stats": "medians, quantiles, variances, probabilities",
    "unitless": "step sizes, tokens, operations",
    "misjudged": "stated errors 2 to 10 times too small or too large",
    "grids": "grids of two sizes, rates of two terms",
    "meshes": "orders on unstructured meshes, and under rounding",
    "evidence": "evidences of Bayesian networks, by weights and from both sides",
}


@dataclass
class Promise:
    """All rows of a part for which the same share was declared."""

    part: str
    sign: str
    rate: float
    rows: list[Tally] = field(default_factory=list)

    @property
    def outside(self) -> int:
        """How many rows have an interval that excludes what was declared."""
        ends = [row.limits() for row in self.rows]
        return sum(high < self.rate if self.sign == ">=" else low > self.rate for low, high in ends)

    @property
    def worst(self) -> Tally:
        """The row farthest to the wrong side."""
        return (min if self.sign == ">=" else max)(self.rows, key=lambda row: row.share)


def promises(lines: Iterable[str]) -> list[Promise]:
    """Return every promise of a text with its counts, as the text has them; a worst cell is one of the others again."""
    found: dict[tuple[str, str, str], Promise] = {}
    for line in lines:
        match = _ROW.match(line)
        if match and match["sign"] and int(match["trials"]) and "the worst" not in match["text"]:
            key = (match["part"], match["sign"], match["rate"])
            promise = found.setdefault(key, Promise(match["part"], match["sign"], float(match["rate"])))
            promise.rows.append(Tally(int(match["hits"]), int(match["trials"])))
    return list(found.values())


class Calibration(Directive):
    """``{calibration}``: the table of promises."""

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        environment = self.state.document.settings.env
        file = Path(environment.srcdir) / "calibration.txt"
        environment.note_dependency(str(file))
        rows = [("what is simulated", "declared", "measured", "cells", "worst cell, 95% interval", "cells outside")]
        for each in promises(file.read_text(encoding="utf-8").splitlines()):
            total, worst = sum(each.rows, Tally(0, 0)), each.worst
            low, high = worst.limits()
            declared = f"at {'least' if each.sign == '>=' else 'most'} {each.rate:g}"
            share = f"{total.hits}/{total.trials} = {total.share:.4f}"
            seen = f"{worst.hits}/{worst.trials}: {low:.3f} to {high:.3f}"
            rows.append((WHAT[each.part], declared, share, str(len(each.rows)), seen, str(each.outside)))
        return [table(rows)]


def table(rows: list[tuple[str, ...]]) -> nodes.table:
    """Return a table, its first row being the head."""
    group = nodes.tgroup(cols=len(rows[0]))
    group += [nodes.colspec(colwidth=1) for _ in rows[0]]
    parts = [nodes.row("", *(nodes.entry("", nodes.paragraph(text=cell)) for cell in cells)) for cells in rows]
    group += [nodes.thead("", parts[0]), nodes.tbody("", *parts[1:])]
    return nodes.table("", group)


def setup(app: Any) -> None:
    """Register the directive."""
    app.add_directive("calibration", Calibration)
