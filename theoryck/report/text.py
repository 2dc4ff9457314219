"""The terminal's text of a report: table, what fell in full, what is open, and at the very end what is not well once more.

The words, not the colours, carry the meaning.  ``!`` marks what is not as its author declared, ``?`` what is undecided.  A
terminal is read from its end: where a table is longer than a screen, its lines that are not well stand again above the sum.
The table has one line per claim with its worst instance, or every instance below its claim.

A name is never cut: one that is longer than its column stands on a line of its own, above its numbers, so that no two claims
look alike and every name can be copied.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from theoryck._renderers import renders
from theoryck.records import Report, Result, Status, Tightness, Verdict
from theoryck.report import numbers
from theoryck.report.claims import (
    CLAIM_VERDICTS,
    COLOR,
    CONSTANT,
    DECLARED,
    FALSEHOOD_STANDS,
    MIXED,
    RIVAL_STANDS,
    VALUE,
    ClaimSummary,
    Outcome,
    claim_verdict,
    clean,
    counted,
    every_size,
    how_sure,
    instance_text,
    outcome,
    summarise,
    sureness,
)
from theoryck.report.layout import WIDTH, Style, cells, pad, shorten, wrap
from theoryck.report.paragraphs import paragraph
from theoryck.report.rows import AT_LARGEST, compared, rate_has_logarithm

_MARK = {Outcome.FAILED: "!", Outcome.UNDECIDED: "?", Outcome.WELL: " "}
_NUMBERS = ("claimed", "measured", "tightness", "rivals", "draws", "sec")
_RIGHT = (True, False, False, True, True, True)
_SHORTEST_INSTANCE = 10  # the beginning of a worst instance says nothing below that
_COUNT = "inst"
_FEWEST_NUMBERS = 3  # claimed, measured and tightness
_ROOM_FOR_NAMES = 26


@dataclass(frozen=True, slots=True)
class Row:
    """What one line shows; ``instances`` counts those that stand behind it, 0 where it is one of many itself."""

    outcome: Outcome
    verdict: str
    claim: str
    instance: str
    instances: int
    numbers: tuple[str, ...]
    time: str

    @property
    def paper(self) -> str:
        """The part of the name before its last slash: written once, above the claims that share it."""
        return self.claim.rpartition("/")[0]

    @property
    def name(self) -> str:
        """The name within its paper."""
        return self.claim.removeprefix(f"{self.paper}/") if self.paper else self.claim

    @property
    def worst(self) -> str:
        """The worst instance, after the number of instances where there are several."""
        if self.instances < 2:
            return self.instance
        return f"{self.instances}: {self.instance}" if self.instance else str(self.instances)

    @property
    def count(self) -> str:
        """The number of instances where there are several."""
        return str(self.instances) if self.instances > 1 else ""


def table(claims: Sequence[ClaimSummary], style: Style | None = None, *, verbose: bool = False, legend: bool = True) -> str:
    """Return the table; below 100 columns without what matters least, and where that is too wide still, without columns."""
    style = style or Style()
    rows = [row for claim in claims for row in (_instance_rows(claim) if verbose else [_claim_row(claim)])]
    kept = _kept(rows, style.width)
    if not kept:
        return "\n".join(line for row in rows for line in _stacked(row, style))
    rows = [replace(row, numbers=row.numbers[:kept]) for row in rows]
    counted = False
    if verbose:
        lines = list(_every_instance(rows, style))
    else:
        columns = _Columns.fitting(rows, style.width)
        counted = columns.head == _COUNT
        lines = list(_one_line_each(rows, columns, style))
    notes = _legend(claims, verbose=verbose, head=_COUNT if counted else "instance", left_out=_NUMBERS[kept:]) if legend else ""
    return "\n".join([*lines, *(wrap(notes, style.width, first="  ", rest="   ") if notes else ())])


def _kept(rows: Sequence[Row], width: int) -> int:
    """How many of the columns of numbers are shown: all of them in 100 columns, fewer where names need the room, or none."""
    if width >= WIDTH:
        return len(_NUMBERS)
    for kept in range(len(_NUMBERS), _FEWEST_NUMBERS - 1, -1):
        if _fixed([replace(row, numbers=row.numbers[:kept]) for row in rows], width)[2] >= _ROOM_FOR_NAMES:
            return kept
    return 0


def _claim_row(claim: ClaimSummary) -> Row:
    rejected, rivals = claim.rivals
    row = _row(claim.worst, len(claim.results), rejected, rivals, claim.draws, claim.seconds)
    if claim.tightness not in (MIXED, Tightness.UNDETERMINED.value.lower()):
        return row
    return replace(row, numbers=(*row.numbers[:2], claim.tightness, *row.numbers[3:]))


def _instance_rows(claim: ClaimSummary) -> list[Row]:
    rows = []
    for result in claim.results:
        rejected = sum(rival.rejected for rival in result.rivals)
        instances = 1 if len(claim.results) == 1 else 0
        rows.append(_row(result, instances, rejected, len(result.rivals), result.draws, result.seconds))
    return rows


def _row(result: Result, instances: int, rejected: int, rivals: int, draws: int, seconds: float) -> Row:
    what = outcome(result)
    due = result.status is Status.FALSEHOOD and result.ok
    verdict = f"{result.verdict.value} {every_size(result).replace(' ', '')}".rstrip()
    found = compared(result)
    return Row(
        outcome=what,
        verdict=f"{_MARK[what]} {verdict.lower() if due else verdict}",
        claim=clean(result.claim),
        instance=instance_text(result.instance),
        instances=instances,
        numbers=(
            found.claimed,
            found.measured,
            _tightness(result),
            f"{rejected}/{rivals}" if rivals else "-",
            numbers.count(draws),
            numbers.seconds(seconds),
        ),
        time=numbers.duration(seconds),
    )


def _tightness(result: Result) -> str:
    if result.status is Status.FALSEHOOD:
        return DECLARED if result.ok else "must fall"
    if result.verdict in (Verdict.SUPPORTED, Verdict.CERTIFIED) and not result.ok:
        return "rival stands"
    if result.tightness is Tightness.LOOSE and result.slack is not None:
        return f"loose {result.slack.estimate:.2g}"
    return result.tightness.value.lower() if result.tightness else "-"


# Columns ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Columns:
    """Widths of the columns, and what heads the one of the instances ("" where there is none)."""

    verdict: int
    claim: int
    instance: int
    numbers: tuple[int, ...]
    head: str

    @classmethod
    def fitting(cls, rows: Sequence[Row], width: int) -> _Columns:
        """Share what the numbers leave over between names and worst instances; names are worth more."""
        verdict, of_numbers, room = _fixed(rows, width)
        longest = max([cells(row.name) + 2 * bool(row.paper) for row in rows] + [5])
        wanted = max(cells(row.worst) for row in rows)
        if room - 1 - longest >= min(wanted, _SHORTEST_INSTANCE) and wanted:
            return cls(verdict, longest, min(max(wanted, 8), room - 1 - longest), of_numbers, "instance")
        if not any(row.count for row in rows):
            return cls(verdict, max(min(longest, room), 5), 0, of_numbers, "")
        counts = max(cells(text) for text in (_COUNT, *(row.count for row in rows)))
        return cls(verdict, max(min(longest, room - 1 - counts), 5), counts, of_numbers, _COUNT)

    def line(self, verdict: str, claim: str, instance: str, values: Sequence[str]) -> str:
        """One line: texts to the left, numbers to the right."""
        parts = [pad(verdict, self.verdict), pad(claim, self.claim)]
        parts += [pad(shorten(instance, self.instance), self.instance)] if self.head else []
        parts += [pad(text, width, right=right) for text, width, right in zip(values, self.numbers, _RIGHT)]
        return " ".join(parts).rstrip()


def _fixed(rows: Sequence[Row], width: int) -> tuple[int, tuple[int, ...], int]:
    """Widths of the verdict and of the numbers, and the room that they leave for the rest."""
    verdict = max(cells(text) for text in ("  verdict", *(row.verdict for row in rows)))
    heads = _NUMBERS[: len(rows[0].numbers)]
    of_numbers = tuple(max(cells(text) for text in (head, *(row.numbers[i] for row in rows))) for i, head in enumerate(heads))
    return verdict, of_numbers, width - verdict - sum(of_numbers) - len(of_numbers) - 1


def _one_line_each(rows: Sequence[Row], columns: _Columns, style: Style) -> Iterator[str]:
    yield style.paint(columns.line("  verdict", "claim", columns.head, _NUMBERS), "head")
    paper = ""
    for row in rows:
        if row.paper and row.paper != paper:
            yield from _paper(row.paper, columns.verdict + 1, style)
        paper = row.paper
        shown = "  " * bool(paper) + row.name
        instance = row.count if columns.head == _COUNT else row.worst
        verdict = row.verdict
        if cells(shown) > columns.claim:
            yield _painted(f"{pad(verdict, columns.verdict)} {shown}", row, columns, style)
            verdict = shown = ""
        yield _painted(columns.line(verdict, shown, instance, row.numbers), row, columns, style)


def _every_instance(rows: Sequence[Row], style: Style) -> Iterator[str]:
    """A claim of several instances has its name on a line of its own, and they stand below it."""
    verdict, of_numbers, room = _fixed(rows, style.width)
    texts = [_instance_name(row) for row in rows]
    columns = _Columns(verdict, max(min(max(map(cells, texts)), room), 8), 0, of_numbers, "")
    title = "claim and its instances"
    yield style.paint(columns.line("  verdict", title if cells(title) <= columns.claim else "claim", "", _NUMBERS), "head")
    paper = claim = ""
    for row, text in zip(rows, texts, strict=True):
        if row.paper and row.paper != paper:
            yield from _paper(row.paper, verdict + 1, style)
        if row.instances == 0 and row.claim != claim:
            yield from wrap(row.name, style.width, first=" " * (verdict + 1 + 2 * bool(row.paper)))
        paper, claim = row.paper, row.claim
        first = row.verdict
        if cells(text) > columns.claim:
            margin = " " * (len(text) - len(text.lstrip()))
            for part in wrap(text.lstrip(), style.width - verdict - 1, first=margin, rest=margin + "  "):
                yield _painted(f"{pad(first, verdict)} {part}", row, columns, style)
                first = ""
            text = ""
        yield _painted(columns.line(first, text, "", row.numbers), row, columns, style)


def _instance_name(row: Row) -> str:
    """The text of a row among all instances: the name and its only instance, or one of several instances."""
    margin = "  " * bool(row.paper)
    if row.instances == 0:
        return f"{margin}  {row.instance}"
    return f"{margin}{row.name}  {row.instance}".rstrip()


def _paper(paper: str, margin: int, style: Style) -> list[str]:
    return [style.paint(line, "dim") for line in wrap(paper, style.width, first=" " * margin)]


def _painted(line: str, row: Row, columns: _Columns, style: Style) -> str:
    """Colour the verdict, and the whole line where it is not well."""
    line = line.rstrip()
    if row.outcome is not Outcome.WELL:
        return style.paint(line, COLOR[row.outcome])
    verdict = line[: columns.verdict].rstrip()
    return (style.paint(verdict, COLOR[row.outcome]) if verdict else "") + line[len(verdict) :]


# Without columns -------------------------------------------------------------------------------------------------------------


def _stacked(row: Row, style: Style) -> list[str]:
    claimed, measured, tightness, rivals, draws, _ = row.numbers
    instance = f"worst of {row.instances}: {row.instance}" if row.instances > 1 and row.instance else row.worst
    head = f"{row.verdict}  {row.claim}" + (f"  ({instance})" if instance else "")
    facts = []
    if claimed != "-" or measured != "-":
        facts.append(f"claimed {claimed}, measured {measured}")
    if tightness != "-":
        facts.append(tightness)
    if rivals != "-":
        facts.append(f"rivals rejected {rivals}")
    facts.append(f"{draws} draws, {row.time}")
    lines = [style.paint(line, COLOR[row.outcome]) for line in wrap(head, style.width, rest=" " * 6)]
    return lines + wrap(", ".join(facts), style.width, first=" " * 6)


def _legend(claims: Sequence[ClaimSummary], *, verbose: bool, head: str, left_out: Sequence[str]) -> str:
    """Say what the table's shorthand means, where it is used."""
    notes = []
    level = sureness(result for claim in claims for result in claim.results).level
    if level:
        notes.append(f"-0.502(8): -0.502 +/- 0.008 at level {level}")
    seen = [result for claim in claims for result in (claim.results if verbose else (claim.worst,))]
    every = next(filter(None, map(every_size, seen)), "")
    if every:
        notes.append(f"CERTIFIED {every.replace(' ', '')}: proved for every {every}; without, at the sizes measured")
    shown = list(map(compared, seen))
    if any(numbers.kind == VALUE and numbers.erring for numbers in shown):
        notes.append("=1.57(2): a value, with its standard error or error bound")
    if any(numbers.at_largest for numbers in shown):
        notes.append(f"{AT_LARGEST}: at the largest size, not the limit")
    if any(numbers.kind == CONSTANT for numbers in shown):
        notes.append("c=2: a constant, where it decided")
    if any(rate_has_logarithm(result) for claim in claims for result in claim.results):
        notes.append("the exponent of a rate with a logarithm is that of the power beside it")
    if any(len(claim.results) > 1 for claim in claims) and not verbose:
        notes.append(f"{head} 4: the worst of 4 is shown, -v lists all")
    if left_out:
        notes.append(f"a wider terminal shows {', '.join(left_out)}")
    return f"({'; '.join(notes)})" if notes else ""


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
    title = f"Not well, {len(again)} of {counted(len(claims), 'claim')}:"
    return [f"{style.paint(title, 'head')}\n{table(again, style, legend=False)}"]


def sure_lines(report: Report, style: Style | None = None) -> str:
    """Return how sure the session is of what it says: what it tolerates, its error rates, and the rivals that fell."""
    style = style or Style()
    lines = [line for remark in how_sure(report.results) for line in wrap(str(remark), style.width, rest="  ")]
    return "\n".join(style.paint(line, "dim") for line in lines)


def sum_line(report: Report, style: Style | None = None) -> str:
    """Return the sentence that says what the whole session found, and names every claim that fell."""
    style = style or Style()
    claims = summarise(report)
    text, fell = sum_and_fallen(report)
    lines = wrap(text, style.width) + (wrap(fell, style.width, rest="  ") if fell else [])
    undecided = not claims or report.interrupted or any(claim.outcome is Outcome.UNDECIDED for claim in claims)
    what = Outcome.FAILED if fell else Outcome.UNDECIDED if undecided else Outcome.WELL
    return "\n".join(style.paint(line, COLOR[what]) for line in lines)


def sum_and_fallen(report: Report) -> tuple[str, str]:
    """Return the sentence of :func:`sum_line`, and apart from it the one that names the claims that fell ("" where none did)."""
    claims = summarise(report)
    if not claims:
        return "Interrupted before any claim was judged." if report.interrupted else "No claim was checked.", ""
    counts = f"{counted(len(claims), 'claim')}, {counted(len(report.results), 'instance')}: {', '.join(_counts(claims))}"
    text = f"{counts} (profile {clean(report.profile)}, seed {report.seed})."
    if report.interrupted:
        text = f"Interrupted: the rest was not judged. {text}"
    failing = [clean(claim.claim) for claim in claims if claim.outcome is Outcome.FAILED]
    return text, f"NOT AS DECLARED: {', '.join(failing)}." if failing else ""


def _counts(claims: Sequence[ClaimSummary]) -> list[str]:
    """Count claims, the worst first: what fell, what stood that should not, what is open, what is well."""
    found = [claim_verdict(claim) for claim in claims]
    return [f"{found.count(name)} {_COUNTED.get(name, name)}" for name in CLAIM_VERDICTS if name in found]
