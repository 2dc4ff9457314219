"""``theoryck report``: saved results as a table, a page, or a part of a paper, without measuring anything."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from theoryck.cli.common import Usage, check_outputs, stdout_style
from theoryck.cli.streams import ESCAPED, escaping

if TYPE_CHECKING:
    from theoryck.records import Report

STANDARD = "-"
STYLE = "theoryck.sty"
FORMS = ("html", "markdown", "latex", "bibtex", "macros")


@click.command("report")
@click.argument("file", metavar="[FILE]", required=False)
@click.option("--html", metavar="FILE|-", help="Write a page with formulas and pictures, one file that needs no other.")
@click.option("--markdown", metavar="FILE|-", help="Write GitHub-flavoured Markdown, for an issue or a README.")
@click.option("--latex", metavar="FILE|-", help="Write a methods paragraph and a table, to compile or to \\input into a paper.")
@click.option("--bibtex", metavar="FILE|-", help="Write BibTeX entries of the papers whose claims were tested, and of theoryck.")
@click.option("--macros", metavar="FILE|-", help="Write the marks of a paper: every claim's verdict and numbers for theoryck.sty.")
@click.option(
    "--sty",
    is_flag=False,
    flag_value=STYLE,
    metavar="[FILE|-]",
    help=f"Write the LaTeX package that typesets marks, without a file here as {STYLE}; FILE is not needed then.",
)
@click.option("-v", "--verbose", is_flag=True, help="List every instance in the table, not only the worst of each claim.")
@click.pass_context
def command(ctx: click.Context, file: str | None, sty: str | None, verbose: bool, **outputs: str | None) -> None:
    """Show the results that "theoryck check --json FILE" or "pytest --theoryck-json FILE" saved.

    Nothing is measured and nothing is judged again: the same file gives the same text, years later and without the claims'
    source.  Without an option the table is printed that the run itself printed; with options those files are written, and - is
    standard output.  FILE may be - too, for what another command prints.

    \b
    Examples:
      theoryck report results.json
      theoryck report results.json --html report.html
      theoryck report results.json --latex appendix.tex --bibtex claims.bib
      theoryck report results.json --macros verdicts.tex
      theoryck report --sty
      theoryck check proofs --json - | theoryck report - --markdown -

    Exit status: 0 where the report was shown, whatever it says (the status of the run is in the file, as summary.exit_code);
    2 for a file that is missing, damaged, of another version, or not to be written.
    """
    wanted = {form: path for form in FORMS if (path := outputs[form]) is not None}
    if sty is not None and sty != STANDARD and not sty.endswith(".sty"):
        raise Usage(f"--sty takes a file that ends in .sty, or none for {STYLE} here, got {sty!r}: put it after the other words")
    check_outputs({f"--{form}": path for form, path in {**wanted, "sty": sty}.items()}, [("file that is read", file)])
    if file is None and (sty is None or wanted):
        raise click.MissingParameter(ctx=ctx, param=ctx.command.params[0])
    if sty is not None:
        from theoryck.report.macros import style

        _write(style(), sty, "sty")
    if file is None:
        return
    report = _read(file)
    for form, path in wanted.items():
        _write(_rendered(report, form, file, path), path, form)
    if not wanted and sty is None:
        from theoryck.report.text import render

        click.echo(render(report, stdout_style(), verbose=verbose), color=True)


def _read(file: str) -> Report:
    from theoryck.report.json import ReportFileError, loads, read_json

    try:
        if file != STANDARD:
            return read_json(file)
        return loads(sys.stdin.buffer.read().decode("utf-8"), "standard input")
    except ReportFileError as error:
        raise Usage(str(error)) from error
    except UnicodeDecodeError as error:
        raise Usage(f"standard input is not a report of theoryck: it is no text ({error})") from error


def _rendered(report: Report, form: str, file: str, path: str) -> str:
    """Return a report in one form; only the module that is needed is loaded."""
    if form == "macros":
        from theoryck.report.macros import render as render_marks
        from theoryck.report.macros import seen_from

        return render_marks(report, seen_from(file, path), "verdicts.tex" if path == STANDARD else Path(path).name)
    render: Callable[[Report], str] = importlib.import_module(f"theoryck.report.{form}").render
    return render(report)


def _write(text: str, path: str, form: str) -> None:
    from theoryck.report.json import ReportFileError, write_text

    try:
        with escaping("xmlcharrefreplace" if form == "html" else ESCAPED):
            write_text(text, path)
    except ReportFileError as error:
        raise Usage(f"--{form}: {error}") from error
    if path != STANDARD:
        click.echo(f"written: {path}", file=sys.stderr)
