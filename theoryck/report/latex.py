r"""A report for a paper's appendix: a methods paragraph, a table of the claims, and their BibTeX.

The file compiles as it is, and can be read by ``\input`` into a paper that loads the packages named at its top: where a class
has been loaded already (``\thepage`` is defined by every class) the preamble and the end are passed over.  Everything that came
from a file of claims is escaped; the text is ASCII.
"""

from __future__ import annotations

from theoryck.records import Report, Verdict
from theoryck.report.bibtex import Bibliography, bibliography
from theoryck.report.claims import AS_DECLARED, ClaimSummary, Outcome, clean, summarise
from theoryck.report.formula import latex as statement_latex
from theoryck.report.formula import prediction_latex
from theoryck.report.formula.tex import code, escape
from theoryck.report.methods import methods
from theoryck.report.rows import AT_LARGEST, NOTHING, ClaimRow, claim_row
from theoryck.report.text import sum_line

PACKAGES = (r"\usepackage[T1]{fontenc}", r"\usepackage{amsmath,amssymb}", r"\usepackage{array,booktabs,longtable}")
HEAD = ("Claim", "claimed", "measured", "verdict", "tightness", "slack", "rivals", "draws")
COLUMNS = r">{\raggedright\arraybackslash}p{\theoryckwidth}ll>{\raggedright\arraybackslash}p{7em}llrr"

_TOP = rf"""% Claims measured with theoryck: a methods paragraph and a table.
% Compiles as it is (pdflatex twice).  In a paper: \input this file; the preamble needs
%   {chr(10).join(PACKAGES).replace(chr(10), chr(10) + "%   ")}
% and the BibTeX entries at the end of this file (also written by: theoryck report FILE --bibtex claims.bib).  The table breaks
% over pages but not over two columns: there, put the file under \onecolumn.
\ifdefined\thepage\else
  \documentclass[a4paper]{{article}}
  \usepackage[margin=2cm]{{geometry}}
  {chr(10).join(PACKAGES).replace(chr(10), chr(10) + "  ")}
  \def\theoryckstandalone{{\end{{document}}}}
  \begin{{document}}
\fi
"""
_BOTTOM = r"\ifdefined\theoryckstandalone\expandafter\theoryckstandalone\fi"


def render(report: Report) -> str:
    """Return a report as a LaTeX file."""
    sources = bibliography(report)
    claims = summarise(report)
    blocks = [_TOP, rf"\paragraph{{Claims tested by measurement.}} {methods(report)}", ""]
    if claims:
        blocks += [_table(report, claims, sources), ""]
    blocks += [_sources(sources), _BOTTOM, "", "% BibTeX:"]
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
        _number(row.claimed),
        _number(row.measured),
        _verdict(row),
        escape(row.tightness),
        _number(row.slack),
        row.rivals,
        row.draws,
    )
    shown = [r"\textendash{}" if text == NOTHING else text for text in cells]
    line = " & ".join([f"{name} {source}".rstrip(), *shown]) + r" \\"
    said = statement_latex(row.statement) if row.statement else prediction_latex(row.prediction) if row.prediction else ""
    if not said:
        return line
    cell = rf"{{@{{\quad}}p{{0.93\linewidth}}@{{}}}}{{\raggedright {said}}}"
    statement = rf"\multicolumn{{{len(HEAD)}}}{cell} \\[2pt]"
    return f"{line}*\n{statement}"


def _verdict(row: ClaimRow) -> str:
    """The verdict, in bold where it is not well; a star stands for what was declared false."""
    if row.outcome is not Outcome.WELL:
        return rf"\textbf{{{escape(row.verdict.lower())}}}"
    if row.verdict == AS_DECLARED:
        return escape(Verdict.REFUTED.lower()) + r"\,$^{*}$"
    return escape(row.verdict)


def _number(text: str) -> str:
    r"""A number of the table as a formula: its sign and its power of ten as mathematicians write them.

    >>> print(_number("-0.502(8)"), _number("=3.00(4)e+300"), _number("1e-300 +/- inf"))
    $-0.502(8)$ $=3.00(4)\cdot 10^{300}$ $10^{-300} \pm \infty$
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
    said = [escape(clean(sum_line(report)))]
    levels = sorted({r.exponent.level for claim in claims for r in claim.results if r.exponent is not None})
    if levels:
        level = " or ".join(rf"{100 * level:g}\%" for level in levels)
        said.append(rf"Numbers are exponents: $-0.502(8)$ is $-0.502 \pm 0.008$ at level {level}.")
    rows = [claim_row(claim) for claim in claims]
    if any(row.claimed.startswith("=") for row in rows):
        said.append("Values of an identity or a limit are marked by an equals sign.")
    if any(row.measured.endswith(AT_LARGEST) for row in rows):
        said.append("A star at a value: at the largest size, not the limit.")
    if any(row.measured.startswith("c=") for row in rows):
        said.append("$c$: a constant, where it decided.")
    if any(row.instances > 1 for row in rows):
        said.append("A claim with several instances (their number in parentheses) is shown by the worst;")
        said.append("draws and rivals are those of all.")
    if any(row.slack != NOTHING for row in rows):
        said.append("Slack: how much faster than claimed the quantity decays.")
    if any(row.rivals != NOTHING for row in rows):
        said.append("Rivals: wrong predictions that the same evidence rejected, of all.")
    if any(row.verdict == AS_DECLARED for row in rows):
        said.append("$^{*}$ a statement declared false, which had to be refuted.")
    return " ".join(said)


def _sources(sources: Bibliography) -> str:
    """The list of sources of the file on its own; in a paper they come from its BibTeX files."""
    items = [f"  {entry.item()}" for entry in sources.entries]
    return "\n".join([r"\ifdefined\theoryckstandalone", r"\begin{thebibliography}{99}", *items, r"\end{thebibliography}", r"\fi"])
