"""The words of pictures: short labels, and sentences that say what is seen with its numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal

from theoryck.records import Interval, Prediction, Result
from theoryck.records.values import size_text as written
from theoryck.report import numbers
from theoryck.report.claims import clean, size_text
from theoryck.report.claims import measured as named
from theoryck.report.layout import shorten
from theoryck.report.svg.marks import Along, Line, Mark, Trace

NAMES = {
    "montecarlo": "Monte Carlo mean",
    "exact": "value of the exact route",
    "bracket-low": "lower end of a bracket",
    "bracket-high": "upper end of a bracket",
}
PLURALS = {
    "montecarlo": "Monte Carlo means",
    "exact": "values of the exact route",
    "bracket-low": "lower ends of brackets",
    "bracket-high": "upper ends of brackets",
}


def in_place(text: str, result: Result) -> str:
    """Return a text about Monte Carlo means in the words of a result, whose values may be given, or of another statistic."""
    if result.given:
        return as_given(text)
    mean = result.prediction is None or result.prediction.statistic == "mean"
    return text if mean else text.replace("Monte Carlo mean", "Monte Carlo estimate")


def as_given(text: str) -> str:
    """Call values given that the words of the routes call Monte Carlo means.

    >>> as_given("4 Monte Carlo means, from 1 at d = 8"), as_given("Monte Carlo \u00b1 stderr")
    ('4 given values, from 1 at d = 8', 'given ± error')
    """
    return text.replace("Monte Carlo mean", "given value").replace("Monte Carlo \u00b1 stderr", "given \u00b1 error")


def rate(text: str, prediction: Prediction | None = None) -> str:
    """Write a rate as a label: powers with ^, and the parameters that occur in it.

    >>> from theoryck.records import Kind
    >>> rate("d**(-k/2)", Prediction(Kind.BOUND, "q", parameters={"k": "2"}))
    'd^(-k/2), k = 2'
    """
    shown = plain(clean(text).replace("**", "^"))
    used = [] if prediction is None else [f"{k} = {v}" for k, v in prediction.parameters.items() if _names(text, k)]
    return ", ".join([shown, *map(clean, used)])


def plain(text: str) -> str:
    """Write a text that is a number to 8 digits; any other text stays as it is.

    >>> plain("0.00100000000000000"), plain("1/3")
    ('0.001', '1/3')
    """
    try:
        number = Decimal(text)
    except ArithmeticError:
        return text
    return f"{float(f'{number:.8g}'):.8g}" if number.is_finite() else text


def _names(text: str, name: str) -> bool:
    return name in "".join(c if c.isalnum() or c == "_" else " " for c in text).split()


def quantity(result: Result) -> str:
    """Return the name of what was measured."""
    return named(result.prediction) if result.prediction is not None else "value"


def measured(found: Along, result: Result) -> str:
    """Return what the marks are: the quantity, minus a value where one was subtracted."""
    return quantity(result) if found.subtracted is None else f"{quantity(result)} \u2212 {found.subtracted:.6g}"


def band(found: Along, result: Result) -> str:
    """Return what the band of a fit is, or that there is none."""
    if not found.trusted:
        return "no band: its error bars cannot be trusted"
    return f"{level(result.contract.level)} band" if found.banded else "of all sizes at once"


def below(found: Along, result: Result) -> str:
    """Return the text under the sizes: the base, and the other sizes."""
    path = {} if result.prediction is None else dict(result.prediction.path)
    fixed = {name: written(size) for name, size in (found.fixed or {}).items()}
    others = fixed or {name: text for name, text in path.items() if name != found.base}
    texts = [f"{name} = {size_text(text)}".replace("**", "^") for name, text in others.items() if len(str(text)) <= 24]
    return clean(found.base + (f"   ({', '.join(texts)})" if texts else ""))


def level(value: float) -> str:
    """Write a level, such as 95%."""
    return f"{100 * value:.4g}%"


def interval(found: Interval | None) -> str:
    """Write an interval with its level."""
    return "unknown" if found is None else f"{numbers.written_out(found)} at {level(found.level)}"


def value(mark: Mark) -> str:
    """Write the value of a mark with its error."""
    if mark.error is None or mark.error == 0:
        return f"{mark.value:.6g}" if mark.value else "0"
    return numbers.uncertain(mark.value, mark.error)


def traces(found: Sequence[Trace], base: str) -> str:
    """Say what the marks are: how many of each route, the first and the last of them with their values."""
    parts = []
    for trace in found:
        first, last = trace.marks[0], trace.marks[-1]
        if len(trace.marks) == 1:
            parts.append(f"1 {NAMES[trace.route]}, {value(first)} at {base} = {written(first.size)}")
            continue
        text = f"{len(trace.marks)} {PLURALS[trace.route]}, from {value(first)} at {base} = {written(first.size)}"
        text += f" to {value(last)} at {written(last.size)}"
        noisy = [written(mark.size) for mark in trace.marks if mark.in_noise] if trace.route == "montecarlo" else []
        parts.append(text + (f" (below 5 standard errors at {', '.join(noisy)})" if noisy else ""))
    return "; ".join(parts) or "no value"


def fit(found: Along) -> str:
    """Say what was fitted, or why nothing was."""
    if not found.fitted:
        return f"No curve is fitted: {clean(found.reason)}." if found.reason else "The record keeps no fitted curve."
    curve = found.fitted[0]
    flags = f" ({clean('; '.join(curve.flags))})" if curve.flags else ""
    return f"The fitted curve with its band, corrections included, has exponent {interval(found.exponent)}{flags}."


def line(found: Along) -> str:
    """Say which line of a grid is shown."""
    if found.of < 2:
        return ""
    fixed = ", ".join(f"{name} = {written(size)}" for name, size in (found.fixed or {}).items())
    return f"This is the line along {found.base} at {fixed}, one of {found.of} lines of the grid."


def claimed(found: Along, result: Result, place: Callable[[Line], str]) -> str:
    """Say what was claimed, and which rivals were rejected; ``place`` says of a line whether it is beyond the axis."""
    parts = []
    if found.claimed is not None:
        through = f"the fit at {found.far}" if found.fitted else "the last value"
        how = (
            f"with its constant {numbers.plain(result.prediction.constant)}"
            if result.prediction is not None and result.prediction.constant is not None
            else (f"drawn through {through}")
        )
        parts.append(f"Dashed: the claimed rate {rate(found.claimed.label, result.prediction)}, {how}{place(found.claimed)}.")
    parts += [rival(rate(line.label, result.prediction) + place(line), bool(line.rejected)) for line in found.rivals]
    return " ".join(parts)


def rival(text: str, rejected: bool) -> str:
    """Say what became of a rival."""
    return f"Dotted: the rival {text}, {'rejected' if rejected else 'NOT rejected'}."


def missing(texts: Sequence[str]) -> str:
    """Say what could not be drawn."""
    return f"Not drawn: {clean('; '.join(texts))}." if texts else ""


def sentence(*parts: str) -> str:
    """Join sentences, leaving out empty ones."""
    return shorten(" ".join(part for part in parts if part), 900)
