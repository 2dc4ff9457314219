"""The text of an audit: verdict, what was measured and why, and the table of what was given."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from theoryck.records import Estimate, Kind, Result, Size, Tightness, Verdict
from theoryck.records.values import size_text
from theoryck.report import numbers
from theoryck.report.claims import COLOR, clean, measured, outcome
from theoryck.report.layout import Style, cells, fields, pad, wrap
from theoryck.report.paragraphs import facts, headline

MOST_ROWS = 24  # a longer table is shown by its two ends


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: ratio to the rate (None without a rate) and slope from the line before, each with its error."""

    sizes: Mapping[str, Size]
    estimate: Estimate
    ratio: tuple[float, float] | None = None
    slope: tuple[float, float] | None = None


def render(
    result: Result, rows: Sequence[Row], notes: Sequence[str] = (), style: Style | None = None, *, ordered: bool = False
) -> str:
    """Return the whole text of an audit; ``ordered`` says that slopes are observed orders."""
    style = style or Style()
    lines = [style.paint(line, COLOR[outcome(result)]) for line in wrap(_title(result), style.width, rest="  ")]
    known = dict(facts(result))
    shown = [
        *((label, known[label]) for label in ("statement", "claimed", "measured", "jointly") if known.get(label)),
        ("tightness", _tightness(result)),
        *((label, known[label]) for label in ("reason", "valid", "rivals")),
        ("flags", "; ".join(clean(flag) for flag in result.judgement.flags)),
        ("notes", "; ".join(clean(note) for note in notes)),
        ("given", _given(result)),
        ("repeat", known.get("repeat", "")),
    ]
    lines += fields(shown, style, whole=("repeat",))
    return "\n".join([*lines, "", *_table(result, rows, style, "order" if ordered else "local slope")])


def _title(result: Result) -> str:
    which = ", ".join(f"{clean(name)} = {clean(str(value))}" for name, value in result.instance.items())
    claim = clean(result.claim) + (f" ({which})" if which else "")
    limit = result.judgement.limit
    if result.prediction is not None and result.prediction.kind is Kind.LIMIT:
        if result.prediction.value is None and result.prediction.rate is None and not result.rivals:
            return f"MEASURED: {claim}: {f'limit {numbers.written_out(limit)}' if limit is not None else 'no limit'}"
    elif result.prediction is None or (result.prediction.rate is None and result.prediction.exponent is None):
        exponent = f": exponent {numbers.written_out(result.exponent)}" if result.exponent is not None else ": no exponent"
        return f"MEASURED: {claim}{exponent}"
    tight = f", {result.tightness.value}" if result.ok and result.tightness in (Tightness.TIGHT, Tightness.LOOSE) else ""
    return f"{headline(result)}{tight}: {claim}"


def _tightness(result: Result) -> str:
    if result.verdict not in (Verdict.SUPPORTED, Verdict.CERTIFIED) or result.tightness is None:
        return ""
    return {
        Tightness.TIGHT: "TIGHT: the values follow the rate",
        Tightness.LOOSE: "LOOSE: the values decay faster than the rate, by the slack",
        Tightness.UNDETERMINED: "UNDETERMINED: the values may follow the rate or decay faster",
    }[result.tightness]


def _given(result: Result) -> str:
    rows, points = result.draws, len(result.points)
    sizes = " and ".join(clean(name) for name in (result.points[0].sizes if result.points else ()))
    contract = result.contract
    return (
        f"{rows} {'row' if rows == 1 else 'rows'}, {points} {'value' if points == 1 else 'values'} of {sizes}; declared: false "
        f"refutation {result.false_refute_rate:g}, false support {contract.false_support_rate:g}, within {contract.within:g}"
    )


def summary(results: Sequence[Result], style: Style | None = None) -> str:
    """Return one line for each of several audits of one table: what they are of, the verdict and the exponent."""
    style = style or Style()
    names = list(dict.fromkeys(name for result in results for name in result.instance))
    head = [*(clean(name) for name in names), "verdict", "exponent"]
    body = [
        [
            *(clean(str(result.instance.get(name, "-"))) for name in names),
            result.verdict.value if result.prediction is not None and result.judgement.claimed_exponent is not None else "MEASURED",
            numbers.written_out(result.exponent) if result.exponent is not None else "-",
        ]
        for result in results
    ]
    widths = [max(cells(line[i]) for line in (head, *body)) for i in range(len(head))]
    text = ["  " + "  ".join(pad(cell, width) for cell, width in zip(line, widths)).rstrip() for line in (head, *body)]
    return "\n".join([style.paint(text[0], "dim"), *text[1:]])


def _table(result: Result, rows: Sequence[Row], style: Style, slope: str) -> list[str]:
    names = [clean(name) for name in (rows[0].sizes if rows else ())]
    value = measured(result.prediction) if result.prediction else "value"
    rated, sloped = any(row.ratio for row in rows), any(row.slope for row in rows)
    averaged = any(row.estimate.draws > 1 for row in rows)
    head = [
        *names,
        value,
        *(["rows"] if averaged else []),
        *(["ratio to rate"] if rated else []),
        *([slope] if sloped else []),
    ]
    body = []
    for row in rows:
        line = [*(size_text(size) for size in row.sizes.values()), _uncertain(row.estimate.value, row.estimate.stderr)]
        line += [numbers.count(row.estimate.draws)] if averaged else []
        line += [_uncertain(*row.ratio) if row.ratio else "-"] if rated else []
        line += [_uncertain(*row.slope) if row.slope else "-"] if sloped else []
        body.append(line)
    if len(body) > MOST_ROWS:
        left = len(body) - MOST_ROWS
        body = [*body[: MOST_ROWS // 2], [f"({left} more)", *[""] * (len(head) - 1)], *body[-MOST_ROWS // 2 :]]
    widths = [max(cells(line[i]) for line in (head, *body)) for i in range(len(head))]
    text = ["  " + "  ".join(pad(cell, width, right=True) for cell, width in zip(line, widths)).rstrip() for line in (head, *body)]
    return [style.paint(text[0], "dim"), *text[1:], "  (in parentheses: one standard error, in units of the last digits)"]


def _uncertain(value: float, stderr: float) -> str:
    if not math.isfinite(stderr):
        return f"{value:.6g} (no error bar)"
    return numbers.uncertain(value, stderr, most=15)
