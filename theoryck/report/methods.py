"""The paragraph that says in a paper how claims were tested: only what the records of the report say."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from theoryck.records import Report, Result, Status, Verdict
from theoryck.report import numbers
from theoryck.report.bibtex import SOFTWARE_KEY
from theoryck.report.claims import clean, summarise
from theoryck.report.formula.tex import escape

_CORRECTIONS = re.compile(r"corrections O\([^()^]*\^-?([0-9./]+)\)")

AUDIT = "audit"  # the profile of a report on values that somebody else measured


def methods(report: Report) -> str:
    """Return the paragraph as LaTeX."""
    version = f" (version {escape(clean(report.version))})" if report.version else ""
    program = rf"theoryck{version}~\cite{{{SOFTWARE_KEY}}}"
    if not report.results:
        return f"No claim was tested with {program}."
    audited = report.profile == AUDIT
    said = [
        f"{_tested(report, audited=audited)} with {program}.",
        *([] if audited else _session(report)),
        *_errors(report.results, audited=audited),
        *_intervals(report.results),
        *_rivals(report.results),
        *_outcome(report),
    ]
    return "\n".join(said)


def _tested(report: Report, *, audited: bool) -> str:
    claims, instances = len(summarise(report)), len(report.results)
    if audited:
        rows = sum(result.draws for result in report.results)
        return f"{_number(rows, 'given value')} {'was' if rows == 1 else 'were'} audited"
    false = len({result.claim for result in report.results if result.status is Status.FALSEHOOD})
    text = f"{_number(claims, 'claim')} ({_number(instances, 'instance')}"
    text += f"; {false} of the claims declared false, to be refuted)" if false else ")"
    return f"{text} {'was' if claims == 1 else 'were'} tested"


def _session(report: Report) -> list[str]:
    return [f"The profile was {escape(clean(report.profile))}, the seed {report.seed}.", *_routes(report.results)]


def _routes(results: tuple[Result, ...]) -> list[str]:
    """How many instances were measured by which route, and what was drawn."""
    exacts = [[point.exact for point in r.points if point.exact is not None] for r in results]
    proved = sum(bool(values) and all(value.rigorous for value in values) for values in exacts)
    exact = sum(any(not value.rigorous for value in values) for values in exacts)
    drawn = sum(r.draws > 0 for r in results)
    bracketed = sum(any(route.name == "bracket" for route in r.judgement.routes) for r in results)
    parts = []
    if drawn:
        draws = numbers.count(sum(r.draws for r in results))
        parts.append(f"by Monte Carlo in {_number(drawn, 'instance')} ({draws} draws in all)")
    if proved:
        parts.append(f"by rigorous enclosures in {proved}")
    if exact:
        parts.append(f"by values on whose digits two methods agreed in {exact}")
    if bracketed:
        parts.append(f"by bounds from both sides in {bracketed}")
    return [f"Quantities were measured {_listed(parts)}."] if parts else []


def _errors(results: tuple[Result, ...], *, audited: bool) -> list[str]:
    """The error rates that were declared, and how they were shared."""
    known = sureness(results)
    said = ["Error rates were declared in advance:" if audited else "Error rates were declared before anything was drawn:"]
    if known.instances == 1:
        said.append(f"a true claim is refuted with probability at most {_scientific(known.refute)};")
    else:
        said.append(f"the probability that any true claim is refuted is at most {_scientific(known.refute)} over all instances,")
        said.append(
            f"shared between them ({_span(known.each)} each, Bonferroni) and passed on from what is refuted to what is not (Holm);"
        )
    support = _scientific(known.support)
    said.append(f"a claim whose exponent is wrong by more than its declared tolerance ({known.tolerance}) is supported")
    said.append(f"{'' if audited else 'by the look that decides '}with probability at most {support}.")
    return said


@dataclass(frozen=True, slots=True)
class Sureness:
    """How sure a session is: the error rates that were declared, what is tolerated, the levels, and the rivals."""

    instances: int
    refute: float
    each: tuple[float, float]
    support: float
    within: tuple[float, float]
    levels: tuple[float, ...]
    rejected: int
    rivals: int
    without: int

    @property
    def tolerance(self) -> str:
        """What an exponent may be off by."""
        least, most = self.within
        return f"{least:g}" if least == most else f"{least:g} to {most:g}"

    @property
    def level(self) -> str:
        """The levels of the intervals, in words, or "" where there are none."""
        return _listed([f"{100 * level:g}%" for level in self.levels], "or") if self.levels else ""


def sureness(results: Iterable[Result]) -> Sureness:
    """Return how sure a session is of what it says; raises ValueError where there are no results.

    >>> from theoryck.records import Contract, Judgement
    >>> found = Judgement(Verdict.SUPPORTED, "")
    >>> known = sureness([Result("c", Status.THEOREM, {}, found, None, (), Contract(within=0.15), 1e-3, 0, 0.0, 0)])
    >>> known.refute, known.tolerance, known.rivals, known.without
    (0.001, '0.15', 0, 1)
    """
    kept = list(results)
    if not kept:
        raise ValueError("nothing is sure where there are no results; give at least one")
    rates = [result.false_refute_rate for result in kept]
    within = [result.contract.within for result in kept]
    rivals = [rival for result in kept for rival in result.rivals]
    return Sureness(
        instances=len(kept),
        refute=sum(rates),
        each=(min(rates), max(rates)),
        support=max(result.contract.false_support_rate for result in kept),
        within=(min(within), max(within)),
        levels=tuple(sorted({r.exponent.level for r in kept if r.exponent is not None})),
        rejected=sum(rival.rejected for rival in rivals),
        rivals=len(rivals),
        without=len({r.claim for r in kept if _supported(r)} - {r.claim for r in kept if r.rivals}),
    )


def _supported(result: Result) -> bool:
    return result.status is not Status.FALSEHOOD and result.verdict in (Verdict.SUPPORTED, Verdict.CERTIFIED)


def how_sure(results: Iterable[Result]) -> list[str]:
    """Return, in plain text, what every renderer says of how sure it all is: tolerated, error rates, rivals; nothing of nothing."""
    kept = list(results)
    if not kept:
        return []
    known = sureness(kept)
    of = "a true claim is refuted" if known.instances == 1 else "any true claim is refuted"
    said = [
        f"tolerated: {known.tolerance} in exponents, in values what their claims declare",
        f"error rates: {of} with probability at most {known.refute:.2g}, a claim that is off by more than is tolerated is "
        f"supported with at most {known.support:.2g} by the look that decides",
    ]
    if known.rivals:
        said.append(
            f"rivals {known.rejected}/{known.rivals}: of {_number(known.rivals, 'wrong prediction')} the same evidence "
            f"rejected {known.rejected if known.rejected < known.rivals else 'all' if known.rivals > 1 else 'it'}"
        )
    if known.without:
        held = "claim that holds has" if known.without == 1 else "claims that hold have"
        said.append(f"{known.without} {held} no rival: nothing shows that the check could have failed")
    return said


def _intervals(results: tuple[Result, ...]) -> list[str]:
    levels = sureness(results).levels
    if not levels:
        return []
    level = _listed([rf"{100 * level:g}\%" for level in levels], "or")
    powers = sorted({_power(found.group(1)) for r in results if (found := _CORRECTIONS.search(r.judgement.assuming))})
    said = [f"Intervals of exponents have level {level} and hold on the window of sizes that was measured"]
    if powers:
        shown = _listed([f"$O(d^{{-{power}}})$" for power in powers], "or")
        assumed = f"assumed to be {shown}, $d$ the size that grows"
        return [f"{said[0]};", f"they contain the uncertainty of corrections to scaling, {assumed}."]
    return [f"{said[0]}."]


def _power(text: str) -> str:
    """A power as a fraction of small numbers where it is one to the digits that were written."""
    try:
        value = Fraction(text)
    except (ValueError, ZeroDivisionError):
        return text
    near = value.limit_denominator(12)
    return str(near) if abs(near - value) < Fraction(1, 10**6) else text


def _rivals(results: tuple[Result, ...]) -> list[str]:
    known = sureness(results)
    if not known.rivals:
        return []
    return [f"The same evidence rejected {known.rejected} of {_number(known.rivals, 'rival prediction')}."]


def _outcome(report: Report) -> list[str]:
    """What is not well: said here too, so that nobody copies the paragraph without it."""
    said = []
    if report.interrupted:
        said.append("The session was interrupted: the remaining claims were not tested.")
    fell = len({r.claim for r in report.results if not r.ok})
    undecided = len({r.claim for r in report.results if r.ok and r.verdict is Verdict.INCONCLUSIVE})
    if fell:
        said.append(rf"\textbf{{{_number(fell, 'claim')} did not come out as declared}} (Table~\ref{{tab:theoryck}}).")
    if undecided:
        said.append(f"{_number(undecided, 'claim')} {'is' if undecided == 1 else 'are'} undecided.")
    return said


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _span(values: Iterable[float]) -> str:
    low, high = min(values := list(values)), max(values)
    same = _scientific(low) == _scientific(high)
    return _scientific(low) if same else f"{_scientific(low)} to {_scientific(high)}"


def _scientific(value: float) -> str:
    """A probability in two digits."""
    text = f"{value:.2g}"
    mantissa, mark, power = text.partition("e")
    if not mark:
        return text
    return f"$10^{{{int(power)}}}$" if mantissa == "1" else rf"${mantissa}\cdot 10^{{{int(power)}}}$"


def _listed(parts: list[str], word: str = "and") -> str:
    return f"{', '.join(parts[:-1])} {word} {parts[-1]}" if len(parts) > 1 else parts[0]
