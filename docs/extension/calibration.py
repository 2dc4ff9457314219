"""The measured error rates: what ``python -m tests.calibration.table`` printed, summed for each promise."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from scipy.stats import beta

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
    "statistics": "medians, quantiles, variances, probabilities",
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
    rows: int = 0
    hits: int = 0
    trials: int = 0
    outside: int = 0
    worst: tuple[int, int] | None = None

    def add(self, hits: int, trials: int) -> None:
        """Count a row; one whose interval excludes what was declared is outside."""
        low, high = interval(hits, trials)
        self.rows, self.hits, self.trials = self.rows + 1, self.hits + hits, self.trials + trials
        least = self.sign == ">="
        self.outside += high < self.rate if least else low > self.rate
        before = self.worst and self.worst[0] / self.worst[1]
        if before is None or (hits / trials < before if least else hits / trials > before):
            self.worst = (hits, trials)


def interval(hits: int, trials: int) -> tuple[float, float]:
    """Return the 95% interval of Clopper and Pearson for a share."""
    low = float(beta.ppf(0.025, hits, trials - hits + 1)) if hits else 0.0
    high = float(beta.ppf(0.975, hits + 1, trials - hits)) if hits < trials else 1.0
    return low, high


def promises(lines: Iterable[str]) -> list[Promise]:
    """Return every promise of a text with its counts, as the text has them; a worst cell is one of the others again."""
    found: dict[tuple[str, str, str], Promise] = {}
    for line in lines:
        match = _ROW.match(line)
        if match and match["sign"] and int(match["trials"]) and "the worst" not in match["text"]:
            key = (match["part"], match["sign"], match["rate"])
            promise = found.setdefault(key, Promise(match["part"], match["sign"], float(match["rate"])))
            promise.add(int(match["hits"]), int(match["trials"]))
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
            assert each.worst is not None
            low, high = interval(*each.worst)
            worst = f"{each.worst[0]}/{each.worst[1]}: {low:.3f} to {high:.3f}"
            share = f"{each.hits}/{each.trials} = {each.hits / each.trials:.4f}"
            declared = f"at {'least' if each.sign == '>=' else 'most'} {each.rate:g}"
            rows.append((WHAT[each.part], declared, share, str(each.rows), worst, str(each.outside)))
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
