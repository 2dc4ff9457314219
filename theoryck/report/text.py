"""The terminal's text of a report: table, what fell told in full, what is open, and at the very end what is not well once more.

The words, not the colours, carry the meaning.  ``!`` marks what is not as its author declared, ``?`` what is undecided.  A
terminal is read from its end: where a table is longer than a screen, its lines that are not well stand again above the sum.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from theoryck._renderers import renders
from theoryck.records import Report, Result
from theoryck.report.claims import FALSEHOOD_STANDS, RIVAL_STANDS, STANDINGS, ClaimSummary, Outcome, clean, standing, summarise
from theoryck.report.layout import Style, wrap
from theoryck.report.methods import how_sure
from theoryck.report.paragraphs import paragraph
from theoryck.report.table import COLOR, table

_COUNTED = {FALSEHOOD_STANDS: "not refuted though false", RIVAL_STANDS: "with a rival that stands"}  # behind a number

SCREEN = 20  # lines of a table that are seen at once, with what follows it


@renders("text")
def shown(record: Report | Result) -> str:
    """Return what print() shows of a record: a report as the terminal does, or the paragraph of a result."""
    return render(record) if isinstance(record, Report) else paragraph(record)


def render(report: Report, style: Style | None = None, *, verbose: bool = False, paragraphs: bool = True) -> str:
    """Return the whole text of a report: table, a paragraph for each failing result, what is open, what is not well, the sum.

    ``verbose`` lists every instance.  ``paragraphs=False`` leaves out the failing ones (pytest has shown them already).
    """
    style = style or Style()
    claims = summarise(report)
    blocks = [table(claims, style, verbose=verbose)] if claims else []
    scrolled = bool(claims) and blocks[0].count("\n") >= SCREEN
    blocks.append(sure_lines(report, style))
    if paragraphs:
        blocks.extend(failures(claims, style))
    blocks.extend(_open_claims(claims, style))
    blocks.extend(_not_well(claims, style) if scrolled else ())
    blocks.append(sum_line(report, style))
    return "\n\n".join(block for block in blocks if block)


def failures(claims: Iterable[ClaimSummary], style: Style | None = None, *, most: int = 3) -> list[str]:
    """Return a paragraph for each failing result, at most ``most`` per claim, worst first; the rest are counted."""
    texts = []
    for claim in claims:
        texts.extend(claim_failure(claim.failed, style, most=most))
    return texts


def claim_failure(failed: Sequence[Result], style: Style | None = None, *, most: int = 3) -> list[str]:
    """Return the paragraphs of one claim's failing results (worst first), and a line that counts those left out."""
    texts = [paragraph(result, style) for result in failed[:most]]
    if len(failed) > most:
        left = len(failed) - most
        texts.append(
            f"... and {left} more failing {'instance' if left == 1 else 'instances'} of {clean(failed[0].claim)} (-v lists all)"
        )
    return texts


def _open_claims(claims: Sequence[ClaimSummary], style: Style) -> list[str]:
    lines: list[str] = []
    for claim in claims:
        if claim.outcome is Outcome.UNDECIDED:
            text = f"? {clean(claim.claim)} is undecided: {clean(claim.worst.reason)}"
            lines.extend(style.paint(line, "open") for line in wrap(text, style.width, rest="  "))
    return ["\n".join(lines)] if lines else []


def _not_well(claims: Sequence[ClaimSummary], style: Style) -> list[str]:
    """The lines of the table that are not well once more, those that fell last: nearest to where the eye is."""
    again = [claim for claim in claims if claim.outcome is not Outcome.WELL]
    again.sort(key=lambda claim: claim.outcome is Outcome.FAILED)
    if not again:
        return []
    title = f"Not well, {len(again)} of {_plural(len(claims), 'claim')}:"
    return [f"{style.paint(title, 'head')}\n{table(again, style, legend=False)}"]


def sure_lines(report: Report, style: Style | None = None) -> str:
    """Return how sure the session is of what it says: what it tolerates, its error rates, and the rivals that fell."""
    style = style or Style()
    lines = [line for said in how_sure(report.results) for line in wrap(said, style.width, rest="  ")]
    return "\n".join(style.paint(line, "dim") for line in lines)


def sum_line(report: Report, style: Style | None = None) -> str:
    """Return the sentence that says what the whole session found, and names every claim that fell."""
    style = style or Style()
    claims = summarise(report)
    if not claims:
        text = "Interrupted before any claim was judged." if report.interrupted else "No claim was checked."
        return style.paint(text, "open")
    counts = _counts(claims)
    instances = len(report.results)
    said = f"{_plural(len(claims), 'claim')}, {_plural(instances, 'instance')}: {', '.join(counts)}"
    text = f"{said} (profile {clean(report.profile)}, seed {report.seed})."
    if report.interrupted:
        text = f"Interrupted: the rest was not judged. {text}"
    failing = [clean(claim.claim) for claim in claims if claim.outcome is Outcome.FAILED]
    lines = wrap(text, style.width)
    if failing:
        lines += wrap(f"NOT AS DECLARED: {', '.join(failing)}.", style.width, rest="  ")
    undecided = report.interrupted or any(claim.outcome is Outcome.UNDECIDED for claim in claims)
    what = Outcome.FAILED if failing else Outcome.UNDECIDED if undecided else Outcome.WELL
    return "\n".join(style.paint(line, COLOR[what]) for line in lines)


def _counts(claims: Sequence[ClaimSummary]) -> list[str]:
    """Count claims, the worst first: what fell, what stood that should not, what is open, what is well."""
    found = [standing(claim) for claim in claims]
    return [f"{found.count(name)} {_COUNTED.get(name, name)}" for name in STANDINGS if name in found]


def _plural(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
