"""The paragraph that says in a paper how claims were tested: only what the records of the report say."""

from __future__ import annotations

import re
from collections.abc import Iterable
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
    proved = sum(any(route.name == "exact" and route.rigorous for route in r.judgement.routes) for r in results)
    exact = sum(any(route.name == "exact" and not route.rigorous for route in r.judgement.routes) for r in results)
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
    rates = [r.false_refute_rate for r in results]
    within = sorted({r.contract.within for r in results})
    tolerated = f"{within[0]:g} to {within[-1]:g}" if len(within) > 1 else f"{within[0]:g}"
    said = ["Error rates were declared in advance:" if audited else "Error rates were declared before anything was drawn:"]
    if len(rates) == 1:
        said.append(f"a true claim is refuted with probability at most {_scientific(rates[0])};")
    else:
        said.append(f"the probability that any true claim is refuted is at most {_scientific(sum(rates))} over all instances,")
        said.append(
            f"shared between them ({_span(rates)} each, Bonferroni) and passed on from what is refuted to what is not (Holm);"
        )
    support = _scientific(max(r.contract.false_support_rate for r in results))
    said.append(f"a claim whose exponent is wrong by more than its declared tolerance ({tolerated}) is supported")
    said.append(f"{'' if audited else 'by the look that decides '}with probability at most {support}.")
    return said


def _intervals(results: tuple[Result, ...]) -> list[str]:
    levels = sorted({r.exponent.level for r in results if r.exponent is not None})
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
    rivals = [rival for r in results for rival in r.rivals]
    if not rivals:
        return []
    rejected = sum(rival.rejected for rival in rivals)
    return [f"The same evidence rejected {rejected} of {_number(len(rivals), 'rival prediction')}."]


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
