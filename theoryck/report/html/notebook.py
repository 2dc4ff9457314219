"""Records in a notebook: the table of a report, a result with its picture, a known value, a fit; each with its own small style."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cache
from typing import Protocol, runtime_checkable

from markupsafe import Markup

from theoryck._renderers import renders
from theoryck.records import Enclosure, Interval, Proof, Report, Result
from theoryck.report import numbers
from theoryck.report.claims import clean
from theoryck.report.html.page import asset, environment
from theoryck.report.html.views import instance_view, overview
from theoryck.report.proofs import lines_of, title

MOST_DIGITS = 50  # of an end of an enclosure: a value may be known to a thousand
_numbers = itertools.count(1)  # two outputs of one notebook share a page, on which every id must be unique


@runtime_checkable
class Fit(Protocol):
    """What is read of a fit of an exponent: a ``theoryck.fitting.RateFit`` is one."""

    exponent: Interval
    constant: Interval
    window: tuple[int, int]
    chi2: float
    dof: int
    p_value: float
    flags: tuple[str, ...]
    reason: str


@renders("html")
def html(record: object) -> str:
    """Return a record as a piece of HTML; raises TypeError for anything that is no Report, Result, Proof, Enclosure or fit.

    >>> from decimal import Decimal
    >>> "0.500000(10)" in html(Enclosure(Decimal("0.5"), Decimal("1e-5")))
    True
    """
    if isinstance(record, Report):
        return _filled("notebook-report.html", view=overview(record))
    if isinstance(record, Result):
        return _filled("notebook-result.html", result=record, instance=instance_view(record, f"tk-{next(_numbers)}"))
    if isinstance(record, Proof):
        lines = [(f"({line.step})" if line.step else "", line.text) for line in lines_of(record)]
        return _filled("notebook-facts.html", title=title(record), facts=lines)
    if isinstance(record, Enclosure):
        return _filled("notebook-facts.html", title="Enclosure", facts=enclosure_facts(record))
    if isinstance(record, Fit):
        return _filled("notebook-facts.html", title="Fit of an exponent", facts=fit_facts(record))
    raise TypeError(f"a notebook shows a Report, a Result, a Proof, an Enclosure or a fit, got {type(record).__name__}")


def enclosure_facts(value: Enclosure) -> Sequence[tuple[str, str]]:
    """Return what is known of a value: itself, its ends, and whether they are proved."""
    proved = "proved" if value.rigorous else "not proved: the digits on which two methods agree"
    facts = [
        ("value", numbers.enclosed(value, MOST_DIGITS)),
        ("radius", "0 (exact)" if value.exact else f"{value.radius:.2e}"),
        ("error", proved),
    ]
    if value.radius:
        # Three digits more than the midpoint has before its error, so that the two ends are seen to differ.
        digits = min(max(value.midpoint.adjusted() - value.radius.adjusted() + 3, 3), MOST_DIGITS)
        facts.insert(1, ("lies in", f"[{value.low:.{digits}g}, {value.high:.{digits}g}]"))
    return facts


def fit_facts(fit: Fit) -> Sequence[tuple[str, str]]:
    """Return what a fit found, or why it found nothing."""
    level = f"at level {100 * fit.exponent.level:g}%, corrections included"
    facts = [("exponent", f"{numbers.written_out(fit.exponent)} {level}"), ("constant", numbers.written_out(fit.constant))]
    if fit.reason:
        facts = [("no exponent", clean(fit.reason))]
    return [
        *facts,
        ("window", f"{fit.window[0]}..{fit.window[1]}"),
        ("misfit", f"chi2 {fit.chi2:.3g} with {fit.dof} degrees of freedom, p-value {fit.p_value:.2g}"),
        *([("flags", clean(", ".join(fit.flags)))] if fit.flags else []),
    ]


def _filled(template: str, **names: object) -> str:
    return environment().get_template(template).render(style=_style(), **names)


@cache
def _style() -> Markup:
    return Markup(asset("notebook.css"))  # written here, not in a record
