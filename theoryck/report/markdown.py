"""A report in GitHub-flavoured Markdown: what is not well first, a table, a paragraph for each claim that fell or is open."""

from __future__ import annotations

import re

from theoryck.records import Report, Result
from theoryck.report.claims import (
    CONSTANT,
    ClaimSummary,
    Outcome,
    clean,
    clean_lines,
    how_sure,
    instance_text,
    measured,
    summarise,
    sureness,
)
from theoryck.report.paragraphs import facts, headline
from theoryck.report.rows import AT_LARGEST, ClaimRow, claim_row
from theoryck.report.text import sum_and_fallen

_MARK = {Outcome.FAILED: "**!** ", Outcome.UNDECIDED: "**?** ", Outcome.WELL: ""}
_HEAD = ("verdict", "claim", "statement", "claimed", "measured", "tightness", "slack", "rivals rejected", "draws")
_ALIGNED = ("---", "---", "---", "--:", ":--", ":--", "--:", "--:", "--:")
_SPECIAL = re.compile(r"([\\`*_\[\]|~$])")  # what means something within a line; no text of a report begins a line
MOST = 3  # failing instances of one claim that are written in full


def render(report: Report) -> str:
    """Return a report as Markdown."""
    claims = summarise(report)
    blocks = ["## Claims measured with theoryck" + (f" {escape(clean(report.version))}" if report.version else "")]
    blocks.append("\n".join(f"> {escape(line)}" if i == 0 else f"> **{escape(line)}**" for i, line in enumerate(_sum(report))))
    if claims:
        blocks.append(table(claims))
        blocks.append(_legend(claims))
    for claim in claims:
        blocks.extend(_in_full(claim))
    return "\n\n".join(block for block in blocks if block) + "\n"


def table(claims: list[ClaimSummary]) -> str:
    """Return the table, a row for each claim with the numbers of its worst instance."""
    lines = ["| " + " | ".join(_HEAD) + " |", "| " + " | ".join(_ALIGNED) + " |"]
    lines += ["| " + " | ".join(_cells(claim_row(claim))) + " |" for claim in claims]
    return "\n".join(lines)


def escape(text: str) -> str:
    r"""Return Markdown that shows a text as it is: no emphasis, table cell, mention, formula or HTML can come of it.

    >>> print(escape("a|b *c* <img> & [d](e) @f"))
    a\|b \*c\* &lt;img> &amp; \[d\](e) @<!-- -->f
    """
    plain = _SPECIAL.sub(r"\\\1", text.replace("&", "&amp;").replace("<", "&lt;"))
    return plain.replace("@", "@<!-- -->")  # mentions are looked for in the finished page, where a backslash is gone


def code(text: str, *, cell: bool = False) -> str:
    """Return a text as code, in a fence longer than any row of backticks in it; in a ``cell`` no bar can end it."""
    longest = max((len(found) for found in re.findall(r"`+", text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    shown = f"{fence}{pad}{text}{pad}{fence}"
    return shown.replace("|", r"\|") if cell else shown


def _sum(report: Report) -> list[str]:
    """The sentence in sum, and the claims that fell, each on one line."""
    return [clean(part) for part in sum_and_fallen(report) if part]


def _cells(row: ClaimRow) -> tuple[str, ...]:
    verdict = escape(f"{row.verdict}, {row.every}" if row.every else row.verdict)
    text = row.statement or (measured(row.prediction) if row.prediction else "")
    return (
        _MARK[row.outcome] + (verdict if row.outcome is Outcome.WELL else f"**{verdict}**"),
        code(row.claim, cell=True) + (f" ({row.instances})" if row.instances > 1 else ""),
        code(text, cell=True) if text else "",
        *(escape(text) for text in (row.claimed, row.measured, row.tightness, row.slack, row.rivals, row.draws)),
    )


def _legend(claims: list[ClaimSummary]) -> str:
    notes = []
    results = [result for claim in claims for result in claim.results]
    level = sureness(results).level
    if level:
        notes.append(f"-0.502(8) is -0.502 +/- 0.008 at level {level}")
    if any(len(claim.results) > 1 for claim in claims):
        notes.append("claims with several instances (their number in parentheses) are shown by the worst")
    if any(claim_row(claim).slack != "-" for claim in claims):
        notes.append("slack: how much faster than claimed the quantity decays")
    rows = [claim_row(claim) for claim in claims]
    if any(row.every for row in rows):
        notes.append("certified, with a size: proved for every size from that one on; without, at the sizes measured")
    if any(row.compared.at_largest for row in rows):
        notes.append(f"{AT_LARGEST}: a value at the largest size, not the limit")
    if any(row.compared.kind == CONSTANT for row in rows):
        notes.append("c=: a constant, where it decided")
    notes.extend(map(str, how_sure(results)))
    return f"<sub>{escape('; '.join(notes))}.</sub>" if notes else ""


def _in_full(claim: ClaimSummary) -> list[str]:
    if claim.outcome is Outcome.WELL:
        return []
    shown = claim.failed[:MOST] if claim.outcome is Outcome.FAILED else (claim.worst,)
    parts = [_paragraph(result) for result in shown]
    left = len(claim.failed) - len(shown)
    if claim.outcome is Outcome.FAILED and left > 0:
        parts.append(f"... and {left} more failing instance{'s' if left > 1 else ''} of {code(clean(claim.claim))}.")
    return parts


def _paragraph(result: Result) -> str:
    instance = instance_text(result.instance)
    title = f"### {escape(headline(result))}: {code(clean(result.claim))}" + (f" ({escape(instance)})" if instance else "")
    lines = []
    for label, text in facts(result):
        if text:
            shown = code(clean(text)) if label in ("statement", "quantity", "repeat") else "<br>".join(map(escape, _lines(text)))
            lines.append(f"- **{label}** {shown}")
    return "\n".join([title, "", *lines])


def _lines(text: str) -> list[str]:
    return clean_lines(text).splitlines()
