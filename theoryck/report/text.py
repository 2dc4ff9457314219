"""The terminal table: one line per claim with its worst instance, what fell told in full, what is open never overlooked.

The words, not the colours, carry the meaning.  ``!`` marks what is not as its author declared, ``?`` what is undecided.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from theoryck.records import Kind, Report, Result, Status, Tightness, Verdict
from theoryck.report import numbers
from theoryck.report.claims import ClaimSummary, Outcome, clean, instance_text, outcome, summarise
from theoryck.report.layout import WIDTH, Style, cells, pad, shorten, wrap
from theoryck.report.paragraphs import paragraph

_MARK = {Outcome.FAILED: "!", Outcome.UNDECIDED: "?", Outcome.WELL: " "}
_COLOR = {Outcome.FAILED: "bad", Outcome.UNDECIDED: "open", Outcome.WELL: "good"}
_HEAD = ("  verdict", "claim", "instance", "claimed", "measured", "tightness", "rivals", "draws", "sec")
_RIGHT = (False, False, False, True, False, False, True, True, True)
_CLAIM, _INSTANCE = 1, 2
_SHORTEST_CLAIM, _SHORTEST_INSTANCE = 16, 10

Row = tuple[str, ...]


def render(report: Report, style: Style | None = None, *, verbose: bool = False, paragraphs: bool = True) -> str:
    """Return the whole text of a report: table, a paragraph for each failing result, what is open, and one line in sum.

    ``verbose`` lists every instance.  ``paragraphs=False`` leaves out the failing ones (pytest has shown them already).
    """
    style = style or Style()
    claims = summarise(report)
    blocks = [table(claims, style, verbose=verbose)] if claims else []
    if paragraphs:
        blocks.extend(failures(claims, style))
    blocks.extend(_open_claims(claims, style))
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


def table(claims: Sequence[ClaimSummary], style: Style | None = None, *, verbose: bool = False) -> str:
    """Return the table; below 100 columns each claim takes two lines that say the same without columns."""
    style = style or Style()
    entries = [entry for claim in claims for entry in (_instance_rows(claim) if verbose else [_claim_row(claim)])]
    rows = [row for row, _ in entries]
    if style.width < WIDTH:
        entries = [(_spelt_out(row), what) for row, what in entries]
        return "\n".join(line for row, what in entries for line in _stacked(row, what, style))
    return "\n".join(_columns(rows, [what for _, what in entries], style, verbose=verbose)) + _legend(claims)


def _claim_row(claim: ClaimSummary) -> tuple[Row, Outcome]:
    worst = claim.worst
    instance = instance_text(worst.instance)
    if len(claim.results) > 1:
        instance = f"{len(claim.results)}: {instance}" if instance else str(len(claim.results))
    rejected, rivals = claim.rivals
    return _row(worst, instance, rejected, rivals, claim.draws, claim.seconds), claim.outcome


def _instance_rows(claim: ClaimSummary) -> list[tuple[Row, Outcome]]:
    rows = []
    for result in claim.results:
        rejected = sum(rival.rejected for rival in result.rivals)
        row = _row(result, instance_text(result.instance), rejected, len(result.rivals), result.draws, result.seconds)
        rows.append((row, outcome(result)))
    return rows


def _row(result: Result, instance: str, rejected: int, rivals: int, draws: int, seconds: float) -> Row:
    claimed, measured = _claimed_and_measured(result)
    what = outcome(result)
    due = result.status is Status.FALSEHOOD and result.ok
    return (
        f"{_MARK[what]} {result.verdict.value.lower() if due else result.verdict.value}",
        clean(result.claim),
        instance,
        claimed,
        measured,
        _tightness(result),
        f"{rejected}/{rivals}" if rivals else "-",
        numbers.count(draws),
        numbers.seconds(seconds),
    )


def _claimed_and_measured(result: Result) -> tuple[str, str]:
    """Exponents where there are any; else the values of an identity or a limit, marked by an equals sign."""
    judgement, prediction = result.judgement, result.prediction
    if judgement.exponent is not None or judgement.claimed_exponent is not None:
        tends = prediction is not None and prediction.kind is Kind.LAW and prediction.rate is None
        return "<0" if tends else numbers.plain(judgement.claimed_exponent), numbers.measured(judgement.exponent)
    if prediction is None or prediction.kind not in (Kind.IDENTITY, Kind.LIMIT) or prediction.value is None:
        return "-", "-"
    claimed = f"={float(prediction.value):.4g}"
    if not result.points:
        return claimed, "-"
    last = result.points[-1]
    if last.exact is not None:
        return claimed, "=" + numbers.uncertain(last.exact.midpoint, last.exact.radius)
    if last.estimate is not None:
        return claimed, "=" + numbers.uncertain(last.estimate.value, last.estimate.stderr)
    return claimed, "-"


def _tightness(result: Result) -> str:
    if result.status is Status.FALSEHOOD:
        return "as it should" if result.ok else "must fall"
    if result.verdict in (Verdict.SUPPORTED, Verdict.CERTIFIED) and not result.ok:
        return "rival stands"
    if result.tightness is Tightness.LOOSE and result.slack is not None:
        return f"loose {result.slack.estimate:.2g}"
    return result.tightness.value.lower() if result.tightness else "-"


def _columns(rows: Sequence[Row], outcomes: Sequence[Outcome], style: Style, *, verbose: bool) -> list[str]:
    """Lay rows out in columns; the claim and the instance share what the numbers leave over."""
    widths = [max(cells(row[i]) for row in (_HEAD, *rows)) for i in range(len(_HEAD))]
    room = style.width - sum(w for i, w in enumerate(widths) if i not in (_CLAIM, _INSTANCE)) - (len(_HEAD) - 1)
    papers = _papers(rows)
    names = [row[_CLAIM].removeprefix(f"{paper}/") if paper else row[_CLAIM] for row, paper in zip(rows, papers, strict=True)]
    indent = 2 if any(papers) else 0
    longest = max([cells(name) + indent * bool(paper) for name, paper in zip(names, papers, strict=True)] + [5])
    if not verbose and room - longest < min(widths[_INSTANCE], _SHORTEST_INSTANCE):
        # Names are worth more than the beginning of a worst instance: only the number of instances is said.
        rows = [(*row[:_INSTANCE], _number_only(row[_INSTANCE]), *row[_INSTANCE + 1 :]) for row in rows]
        widths[_INSTANCE] = max(cells(row[_INSTANCE]) for row in (_HEAD, *rows))
    widths[_CLAIM] = min(longest, max(room - min(widths[_INSTANCE], _SHORTEST_INSTANCE), _SHORTEST_CLAIM))
    widths[_INSTANCE] = max(min(widths[_INSTANCE], room - widths[_CLAIM]), cells(_HEAD[_INSTANCE]))
    lines = [style.paint(_line(_HEAD, widths), "head")]
    last_paper, last_name = "", ""
    for row, name, paper, what in zip(rows, names, papers, outcomes, strict=True):
        if paper and paper != last_paper:
            lines.append(style.paint(" " * (widths[0] + 1) + paper, "dim"))
        shown = " " * (indent * bool(paper)) + name
        if verbose and (paper, name) == (last_paper, last_name):
            shown = ""
        last_paper, last_name = paper, name
        lines.append(_paint_row(_line((row[0], shown, *row[2:]), widths), widths[0], what, style))
        if verbose:
            lines.extend(_whole(row, shown, widths, style))
    return lines


def _number_only(instance: str) -> str:
    number, colon, _ = instance.partition(": ")
    return number if colon and number.isdecimal() else instance


def _papers(rows: Sequence[Row]) -> list[str]:
    """The part of each claim's name before its last slash: said once, above the claims that share it."""
    return [row[_CLAIM].rpartition("/")[0] for row in rows]


def _whole(row: Row, shown: str, widths: Sequence[int], style: Style) -> list[str]:
    """The lines that give, under a verbose row, a name or an instance that its column had to cut."""
    lines: list[str] = []
    first = " " * (widths[0] + 3)
    if cells(shown) > widths[_CLAIM]:
        lines.extend(wrap(row[_CLAIM], style.width, first=first))
    if cells(row[_INSTANCE]) > widths[_INSTANCE]:
        lines.extend(wrap(row[_INSTANCE], style.width, first=first))
    return [style.paint(line, "dim") for line in lines]


def _line(row: Row, widths: Sequence[int]) -> str:
    parts = []
    for i, (text, width) in enumerate(zip(row, widths, strict=True)):
        parts.append(pad(shorten(text, width, middle=i == _CLAIM), width, right=_RIGHT[i]))
    return " ".join(parts).rstrip()


def _paint_row(line: str, reach: int, what: Outcome, style: Style) -> str:
    """Colour the verdict, and the whole line where it is not well."""
    if what is Outcome.WELL:
        return style.paint(line[:reach].rstrip(), "good") + line[len(line[:reach].rstrip()) :]
    return style.paint(line, _COLOR[what])


def _spelt_out(row: Row) -> Row:
    number, colon, worst = row[_INSTANCE].partition(": ")
    return (*row[:_INSTANCE], f"worst of {number}: {worst}", *row[_INSTANCE + 1 :]) if colon and number.isdecimal() else row


def _stacked(row: Row, what: Outcome, style: Style) -> list[str]:
    verdict, claim, instance, claimed, measured, tightness, rivals, draws, seconds = row
    head = f"{verdict}  {claim}" + (f"  ({instance})" if instance else "")
    facts = []
    if claimed != "-" or measured != "-":
        facts.append(f"claimed {claimed}, measured {measured}")
    if tightness != "-":
        facts.append(tightness)
    if rivals != "-":
        facts.append(f"rivals rejected {rivals}")
    facts.append(f"{draws} draws, {seconds}s")
    lines = [style.paint(line, _COLOR[what]) for line in wrap(head, style.width, rest=" " * 6)]
    return lines + wrap(", ".join(facts), style.width, first=" " * 6)


def _legend(claims: Sequence[ClaimSummary]) -> str:
    """Say what the table's shorthand means, where it is used."""
    said = []
    levels = {r.exponent.level for claim in claims for r in claim.results if r.exponent is not None}
    if levels:
        level = " or ".join(f"{100 * level:g}%" for level in sorted(levels))
        said.append(f"-0.502(8): -0.502 +/- 0.008 at level {level}")
    if any(len(claim.results) > 1 for claim in claims):
        said.append("instance 4: the worst of 4 is shown, -v lists all")
    return f"\n  ({'; '.join(said)})" if said else ""


def _open_claims(claims: Sequence[ClaimSummary], style: Style) -> list[str]:
    lines: list[str] = []
    for claim in claims:
        if claim.outcome is Outcome.UNDECIDED:
            text = f"? {clean(claim.claim)} is undecided: {clean(claim.worst.reason)}"
            lines.extend(style.paint(line, "open") for line in wrap(text, style.width, rest="  "))
    return ["\n".join(lines)] if lines else []


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
    what = Outcome.FAILED if failing else max((claim.outcome for claim in claims), key=lambda o: o is Outcome.UNDECIDED)
    return "\n".join(style.paint(line, _COLOR[what]) for line in lines)


def _counts(claims: Sequence[ClaimSummary]) -> list[str]:
    """Count claims, the worst first: what fell, what stood that should not, what is open, what is well."""
    tally: dict[str, int] = {}
    for claim in claims:
        tally[_said(claim)] = tally.get(_said(claim), 0) + 1
    order = ["REFUTED", "VACUOUS", "not refuted though false", "with a rival that stands", "INCONCLUSIVE"]
    order += ["refuted as it should", "supported", "certified"]
    return [f"{tally[name]} {name}" for name in order if name in tally]


def _said(claim: ClaimSummary) -> str:
    worst = claim.worst
    if claim.is_falsehood:
        return "refuted as it should" if worst.ok else "not refuted though false"
    if worst.verdict in (Verdict.SUPPORTED, Verdict.CERTIFIED):
        return worst.verdict.value.lower() if worst.ok else "with a rival that stands"
    return worst.verdict.value


def _plural(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
