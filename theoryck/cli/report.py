"""``theoryck report``: saved results as a table, a page, or a part of a paper, without measuring anything."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from theoryck.cli.common import Usage, check_outputs, stdout_style
from theoryck.cli.streams import ESCAPED, escaping

if TYPE_CHECKING:
    from theoryck.records import Report

STANDARD = "-"


@click.command("report")
@click.argument("file", metavar="FILE")
@click.option("--html", metavar="FILE|-", help="Write a page with formulas and pictures, one file that needs no other.")
@click.option("--markdown", metavar="FILE|-", help="Write GitHub-flavoured Markdown, for an issue or a README.")
@click.option("--latex", metavar="FILE|-", help="Write a methods paragraph and a table, to compile or to \\input into a paper.")
@click.option("--bibtex", metavar="FILE|-", help="Write BibTeX entries of the papers whose claims were tested, and of theoryck.")
@click.option("-v", "--verbose", is_flag=True, help="List every instance in the table, not only the worst of each claim.")
def command(file: str, html: str | None, markdown: str | None, latex: str | None, bibtex: str | None, verbose: bool) -> None:
    """Show the results that "theoryck check --json FILE" or "pytest --theoryck-json FILE" saved.

    Nothing is measured and nothing is judged again: the same file gives the same text, years later and without the claims'
    source.  Without an option the table is printed that the run itself printed; with options those files are written, and - is
    standard output.  FILE may be - too, for what another command prints.

    \b
    Examples:
      theoryck report results.json
      theoryck report results.json --html report.html
      theoryck report results.json --latex appendix.tex --bibtex claims.bib
      theoryck check proofs --json - | theoryck report - --markdown -

    Exit status: 0 where the report was shown, whatever it says (the status of the run is in the file, as summary.exit_code);
    2 for a file that is missing, damaged, of another version, or not to be written.
    """
    outputs = {"html": html, "markdown": markdown, "latex": latex, "bibtex": bibtex}
    wanted = {form: path for form, path in outputs.items() if path is not None}
    check_outputs({f"--{form}": path for form, path in wanted.items()}, [("file that is read", file)])
    report = _read(file)
    for form, path in wanted.items():
        _write(_rendered(report, form), path, form)
    if not wanted:
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


def _rendered(report: Report, form: str) -> str:
    """Return a report in one form; only the module that is needed is loaded."""
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
