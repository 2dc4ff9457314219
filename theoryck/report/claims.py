"""What became of each claim: its instances together, the worst of them first.

Every renderer reads these summaries, so that no two of them can disagree about which claim fell.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from theoryck.records import Report, Result, Status, Verdict


AS_DECLARED = "refuted as declared"  # what a falsehood has to come to


class Outcome(StrEnum):
    """What a reader has to do about a result: act, measure more, or nothing."""

    FAILED = "failed"
    UNDECIDED = "undecided"
    WELL = "well"


def outcome(result: Result) -> Outcome:
    """Return whether a result is as its author declared; only an undecided statement is neither well nor failed."""
    if not result.ok:
        return Outcome.FAILED
    return Outcome.UNDECIDED if result.verdict is Verdict.INCONCLUSIVE else Outcome.WELL


def severity(result: Result) -> tuple[int, float]:
    """Return a sort key, worst first: what fell, what tested nothing, what should have fallen, what is open, least slack."""
    what = outcome(result)
    if what is Outcome.FAILED:
        rank = {Verdict.REFUTED: 0, Verdict.VACUOUS: 1}.get(result.verdict, 2)
    else:
        rank = 3 if what is Outcome.UNDECIDED else 4
    slack = result.slack.estimate if result.slack else float("inf")
    return rank, slack if slack == slack else float("-inf")  # a slack that is NaN is the worst of its rank


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
    def failed(self) -> tuple[Result, ...]:
        """The results that are not as declared, worst first."""
        return tuple(sorted((result for result in self.results if not result.ok), key=severity))

    @property
    def is_falsehood(self) -> bool:
        """Whether the claim was declared false."""
        return self.results[0].status is Status.FALSEHOOD


def summarise(report: Report | Iterable[Result]) -> list[ClaimSummary]:
    """Group results by claim, in order of first appearance."""
    groups: dict[str, list[Result]] = {}
    for result in report.results if isinstance(report, Report) else report:
        groups.setdefault(result.claim, []).append(result)
    return [ClaimSummary(claim, tuple(results)) for claim, results in groups.items()]


def clean(text: object) -> str:
    """Return one printable line: white space collapsed, control characters (a name may hold any) spelt out.

    >>> clean("two\\n  lines \\x1b[31m")
    'two lines \\\\x1b[31m'
    """
    line = " ".join(str(text).split())
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in line)


def clean_lines(text: str) -> str:
    """Return printable lines: like :func:`clean`, but lines (those of a traceback, say) and their indents are kept.

    >>> print(clean_lines("said:\\n  line 2\\n\\nend"))
    said:
      line 2
    end
    """
    lines = [line for line in text.splitlines() if line.strip()]
    return "\n".join(" " * (len(line) - len(line.lstrip())) + clean(line) for line in lines)


def instance_text(instance: Mapping[str, Any]) -> str:
    """Write the parameters of an instance on one line.

    >>> instance_text({"phi": "tanh(x)", "depth": 2, "widths": [1, 2]})
    'phi=tanh(x), depth=2, widths=[1, 2]'
    """

    def value(item: Any) -> str:
        return item if isinstance(item, str) else json.dumps(item, ensure_ascii=False, default=str)

    return clean(", ".join(f"{name}={value(item)}" for name, item in instance.items()))
