r"""A report for a paper's appendix: a methods paragraph, a table of the claims, and their BibTeX.

The file compiles as it is, and can be read by ``\input`` into a paper that loads the packages named at its top: where a class
has been loaded already (``\thepage`` is defined by every class) the preamble and the end are passed over.  Everything that came
from a file of claims is escaped; the text is ASCII.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from theoryck.records import Report, Result, Status, Verdict
from theoryck.report import numbers
from theoryck.report.bibtex import SOFTWARE_KEY, Bibliography, bibliography
from theoryck.report.claims import AS_DECLARED, CONSTANT, ClaimSummary, Outcome, clean, counted, listed, summarise, sureness
from theoryck.report.formula import latex as statement_latex
from theoryck.report.formula import prediction_latex
from theoryck.report.formula.tex import code, escape
from theoryck.report.rows import NOTHING, ClaimRow, claim_row
from theoryck.report.text import sum_line

PACKAGES = (r"\usepackage[T1]{fontenc}", r"\usepackage{amsmath,amssymb}", r"\usepackage{array,booktabs,longtable}")
AUDIT = "audit"  # the profile of a report on values that somebody else measured
HEAD = ("Claim", "claimed", "measured", "verdict", "tightness", "slack", "rivals", "draws")
COLUMNS = r">{\raggedright\arraybackslash}p{\theoryckwidth}ll>{\raggedright\arraybackslash}p{7em}llrr"

_TOP = rf"""% Claims measured with theoryck: a methods paragraph and a table.
% Compiles as it is (pdflatex twice).  In a paper: \input this file; the preamble needs
%   {chr(10).join(PACKAGES).replace(chr(10), chr(10) + "%   ")}
% and the BibTeX entries at the end of this file (also written by: theoryck report FILE --bibtex claims.bib).  The table breaks
% over pages but not over two columns: there, put the file under \onecolumn.
"""
STANDALONE = rf"""\ifdefined\thepage\else
  \documentclass[a4paper]{{article}}
  \usepackage[margin=2cm]{{geometry}}
  {chr(10).join(PACKAGES).replace(chr(10), chr(10) + "  ")}
  \def\theoryckstandalone{{\end{{document}}}}
  \begin{{document}}
\fi
"""
BOTTOM = r"\ifdefined\theoryckstandalone\expandafter\theoryckstandalone\fi"


def render(report: Report) -> str:
    """Return a report as a LaTeX file."""
    sources = bibliography(report)
    claims = summarise(report)
    blocks = [_TOP + STANDALONE, rf"\paragraph{{Claims tested by measurement.}} {methods(report)}", ""]
    if claims:
        blocks += [_table(report, claims, sources), ""]
    blocks += [_sources(sources), BOTTOM, "", "% BibTeX:"]
    blocks += [f"% {line}".rstrip() for entry in sources.entries for line in (*entry.bibtex().splitlines(), "")]
    return "\n".join(blocks).rstrip("% \n") + "\n"


def _table(report: Report, claims: list[ClaimSummary], sources: Bibliography) -> str:
    """The table: a heading for each folder of claims with its source, a row for each claim."""
    head = " & ".join(HEAD) + r" \\"
    rows: list[str] = []
    paper: str | None = None
    cited = ""
    for claim in claims:
        name, source = _paper(report, claim), sources.cite(claim.claim)
        if name != paper:
            rows += [r"\addlinespace"] if rows else []
            rows.append(rf"\multicolumn{{{len(HEAD)}}}{{@{{}}l}}{{{_heading(name, source)}}} \\*")
            paper, cited = name, source
        rows.append(_row(claim_row(claim), name, source if source != cited else ""))
    return "\n".join(
        [
            r"\begingroup\setlength{\LTcapwidth}{\linewidth}",
            r"\setlength{\LTleft}{0pt plus 1fill minus 1fill}\setlength{\LTright}{\LTleft}",  # centred where it is too wide, too
            r"\ifdim\linewidth<420pt \scriptsize\setlength{\tabcolsep}{2pt}\def\theoryckwidth{0.24\linewidth}",
            r"\else\footnotesize\setlength{\tabcolsep}{3.5pt}\def\theoryckwidth{0.29\linewidth}\fi",
            rf"\begin{{longtable}}{{@{{}}{COLUMNS}@{{}}}}",
            rf"\caption{{{_caption(report, claims)}}}\label{{tab:theoryck}}\\",
            rf"\toprule {head} \midrule \endfirsthead",
            rf"\toprule {head} \midrule \endhead",
            r"\bottomrule \endlastfoot",
            *rows,
            r"\end{longtable}",
            r"\endgroup",
        ]
    )


def _paper(report: Report, claim: ClaimSummary) -> str:
    about = report.about_of(claim.claim)
    return clean(about.folder if about is not None and about.folder else claim.claim.rpartition("/")[0])


def _heading(paper: str, source: str) -> str:
    name = rf"\emph{{{escape(paper) or 'claims of no folder'}}}"
    return f"{name} {source}".rstrip()


def _row(row: ClaimRow, paper: str, source: str) -> str:
    name = code(row.claim.removeprefix(f"{paper}/") or row.claim) + (f" ({row.instances})" if row.instances > 1 else "")
    cells = (
        number(row.claimed),
        number(row.measured),
        _verdict(row),
        escape(row.tightness),
        number(row.slack),
        row.rivals,
        row.draws,
    )
    shown = [r"\textendash{}" if text == NOTHING else text for text in cells]
    line = " & ".join([f"{name} {source}".rstrip(), *shown]) + r" \\"
    text = statement_latex(row.statement) if row.statement else prediction_latex(row.prediction) if row.prediction else ""
    if not text:
        return line
    cell = rf"{{@{{\quad}}p{{0.93\linewidth}}@{{}}}}{{\raggedright {text}}}"
    statement = rf"\multicolumn{{{len(HEAD)}}}{cell} \\[2pt]"
    return f"{line}*\n{statement}"


def _verdict(row: ClaimRow) -> str:
    """The verdict, in bold where it is not well; a star stands for what was declared false."""
    if row.outcome is not Outcome.WELL:
        return rf"\textbf{{{escape(row.verdict.lower())}}}"
    if row.verdict == AS_DECLARED:
        return escape(Verdict.REFUTED.lower()) + r"\,$^{*}$"
    if row.every:
        return f"{escape(row.verdict)}, {statement_latex(row.every)}"
    return escape(row.verdict)


def number(text: str) -> str:
    r"""A number of the table as a formula: its sign and its power of ten as mathematicians write them.

    >>> print(number("-0.502(8)"), number("=3.00(4)e+30"), number("1e-30 +/- inf"))
    $-0.502(8)$ $=3.00(4)\cdot 10^{30}$ $10^{-30} \pm \infty$
    """
    if text == NOTHING:
        return NOTHING
    parts = []
    for part in text.split(" "):
        mantissa, power, tail = _power(part)
        if power:
            mantissa = f"{'' if mantissa in ('1', '-1', '=1', '=-1') else mantissa + chr(92) + 'cdot '}"
            sign = part[: len(part) - len(part.lstrip("=-"))] if not mantissa else ""
            part = f"{sign}{mantissa}10^{{{int(power)}}}{tail}"
        part = part.replace("<=", r"\le ")
        named = {"+/-": r"\pm", "inf": r"\infty", "-inf": r"-\infty", "nan": r"\text{nan}", "=nan": r"=\text{nan}"}
        parts.append(named.get(part, part))
    return f"${' '.join(parts)}$"


def _power(part: str) -> tuple[str, str, str]:
    """Mantissa, power of ten and what closes a number in floating-point notation; no power in any other."""
    number = part.rstrip("],")
    mantissa, mark, power = number.partition("e")
    known = mark and power.lstrip("+-").isdecimal()
    return (mantissa, power, part[len(number) :]) if known else (part, "", "")


def _caption(report: Report, claims: list[ClaimSummary]) -> str:
    sentences = [escape(clean(sum_line(report)))]
    level = sureness(report.results).level
    if level:
        sentences.append(rf"Numbers are exponents: $-0.502(8)$ is $-0.502 \pm 0.008$ at level {escape(level)}.")
    rows = [claim_row(claim) for claim in claims]
    if any(row.compared.relation == "=" for row in rows):
        sentences.append("Values of an identity or a limit are marked by an equals sign.")
    if any(row.compared.at_largest for row in rows):
        sentences.append("A star at a value: at the largest size, not the limit.")
    if any(row.compared.kind == CONSTANT for row in rows):
        sentences.append("$c$: a constant, where it decided.")
    if any(row.instances > 1 for row in rows):
        sentences.append("A claim with several instances (their number in parentheses) is shown by the worst;")
        sentences.append("draws and rivals are those of all.")
    if any(row.slack != NOTHING for row in rows):
        sentences.append("Slack: how much faster than claimed the quantity decays.")
    if any(row.rivals != NOTHING for row in rows):
        sentences.append("Rivals: wrong predictions that the same evidence rejected, of all.")
    if any(row.every for row in rows):
        sentences.append("Certified, with a size: proved for every size from that one on; without, at the sizes measured.")
    if any(row.verdict == AS_DECLARED for row in rows):
        sentences.append("$^{*}$ a statement declared false, which had to be refuted.")
    return " ".join(sentences)


def _sources(sources: Bibliography) -> str:
    """The list of sources of the file on its own; in a paper they come from its BibTeX files."""
    items = [f"  {entry.item()}" for entry in sources.entries]
    return "\n".join([r"\ifdefined\theoryckstandalone", r"\begin{thebibliography}{99}", *items, r"\end{thebibliography}", r"\fi"])


# -- the paragraph on methods: only what the records of the report say ----------------------------------------------------------


def methods(report: Report) -> str:
    """Return the paragraph as LaTeX."""
    version = f" (version {escape(clean(report.version))})" if report.version else ""
    program = rf"theoryck{version}~\cite{{{SOFTWARE_KEY}}}"
    if not report.results:
        return f"No claim was tested with {program}."
    audited = report.profile == AUDIT
    sentences = [
        f"{_tested(report, audited=audited)} with {program}.",
        *([] if audited else _session(report)),
        *_errors(report.results, audited=audited),
        *_intervals(report.results),
        *_rivals(report.results),
        *_outcome(report),
    ]
    return "\n".join(sentences)


def _tested(report: Report, *, audited: bool) -> str:
    claims, instances = len(summarise(report)), len(report.results)
    if audited:
        rows = sum(result.draws for result in report.results)
        return f"{counted(rows, 'given value')} {'was' if rows == 1 else 'were'} audited"
    false = len({result.claim for result in report.results if result.status is Status.FALSEHOOD})
    text = f"{counted(claims, 'claim')} ({counted(instances, 'instance')}"
    text += f"; {false} of the claims declared false, to be refuted)" if false else ")"
    return f"{text} {'was' if claims == 1 else 'were'} tested"


def _session(report: Report) -> list[str]:
    return [f"The profile was {escape(clean(report.profile))}, the seed {report.seed}.", *_measured_by(report.results)]


def _measured_by(results: tuple[Result, ...]) -> list[str]:
    """How many instances were measured by which route, and what was drawn."""
    exacts = [[point.exact for point in r.points if point.exact is not None] for r in results]
    proved = sum(bool(values) and all(value.rigorous for value in values) for values in exacts)
    exact = sum(any(not value.rigorous for value in values) for values in exacts)
    drawn = sum(r.draws > 0 for r in results)
    bracketed = sum(any(route.name == "bracket" for route in r.judgement.routes) for r in results)
    parts = []
    if drawn:
        draws = numbers.count(sum(r.draws for r in results))
        parts.append(f"by Monte Carlo in {counted(drawn, 'instance')} ({draws} draws in all)")
    if proved:
        parts.append(f"by rigorous enclosures in {proved}")
    if exact:
        parts.append(f"by values on whose digits two methods agreed in {exact}")
    if bracketed:
        parts.append(f"by bounds from both sides in {bracketed}")
    everywhere = sum(r.verdict is Verdict.CERTIFIED and r.scope is not None for r in results)
    of = counted(everywhere, "instance")
    proofs = f"For {of} the bound is proved for every size from one on, by a certificate that a separate program has verified."
    return [*([f"Quantities were measured {listed(parts)}."] if parts else []), *([proofs] if everywhere else [])]


def _errors(results: tuple[Result, ...], *, audited: bool) -> list[str]:
    """The error rates that were declared, and how they were shared."""
    known = sureness(results)
    sentences = ["Error rates were declared in advance:" if audited else "Error rates were declared before anything was drawn:"]
    if known.instances == 1:
        sentences.append(f"a true claim is refuted with probability at most {_scientific(known.refute)};")
    else:
        sentences.append(
            f"the probability that any true claim is refuted is at most {_scientific(known.refute)} over all instances,"
        )
        sentences.append(
            f"shared between them ({_span(known.each)} each, Bonferroni) and passed on from what is refuted to what is not (Holm);"
        )
    support = _scientific(known.support)
    sentences.append(f"a claim whose exponent is wrong by more than its declared tolerance ({known.tolerance}) is supported")
    sentences.append(f"{'' if audited else 'by the look that decides '}with probability at most {support}.")
    return sentences


def _intervals(results: tuple[Result, ...]) -> list[str]:
    levels = sureness(results).levels
    if not levels:
        return []
    level = listed([rf"{100 * level:g}\%" for level in levels], "or")
    powers = sorted({_small_fraction(r.judgement.correction) for r in results if r.judgement.correction is not None})
    sentences = [f"Intervals of exponents have level {level} and hold on the window of sizes that was measured"]
    if powers:
        shown = listed([f"$O(d^{{-{power}}})$" for power in powers], "or")
        assumed = f"assumed to be {shown}, $d$ the size that grows"
        return [f"{sentences[0]};", f"they contain the uncertainty of corrections to scaling, {assumed}."]
    return [f"{sentences[0]}."]


def _small_fraction(value: float) -> str:
    """A power as a fraction of small numbers where it is one to six digits."""
    near = Fraction(value).limit_denominator(12)
    return str(near) if abs(near - Fraction(value)) < Fraction(1, 10**6) else f"{value:g}"


def _rivals(results: tuple[Result, ...]) -> list[str]:
    known = sureness(results)
    if not known.rivals:
        return []
    return [f"The same evidence rejected {known.rejected} of {counted(known.rivals, 'rival prediction')}."]


def _outcome(report: Report) -> list[str]:
    """What is not well: it stands here too, so that nobody copies the paragraph without it."""
    sentences = []
    if report.interrupted:
        sentences.append("The session was interrupted: the remaining claims were not tested.")
    fell = len({r.claim for r in report.results if not r.ok})
    undecided = len({r.claim for r in report.results if r.ok and r.verdict is Verdict.INCONCLUSIVE})
    if fell:
        sentences.append(rf"\textbf{{{counted(fell, 'claim')} did not come out as declared}} (Table~\ref{{tab:theoryck}}).")
    if undecided:
        sentences.append(f"{counted(undecided, 'claim')} {'is' if undecided == 1 else 'are'} undecided.")
    return sentences


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
