"""``theoryck check``: measure and judge claims."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from theoryck.checking.interrupts import finishing
from theoryck.cli import INTERRUPTED
from theoryck.cli.common import (
    Line,
    Usage,
    check_outputs,
    files_of_claims,
    find_claims,
    profile_option,
    seed_option,
    stdout_style,
    workforce,
    workforce_options,
    write_report,
)
from theoryck.cli.options import DrawsType
from theoryck.report.layout import style_for

if TYPE_CHECKING:
    from theoryck.checking.session import Session
    from theoryck.claims.claim import Claim
    from theoryck.claims.statements import Statement
    from theoryck.ledger import Ledger
    from theoryck.montecarlo import Executor
    from theoryck.records import Report


@click.command("check")
@click.argument("paths", nargs=-1, metavar="PATH...", required=True)
@click.option("--only", multiple=True, metavar="GLOB", help="Check only the claims whose id matches; may be repeated.")
@profile_option()
@seed_option()
@workforce_options("results")
@click.option("--draws", type=DrawsType(), help="Draws of every size, or of each (N,N,...), instead of the profile's budget.")
@click.option("--sharing", type=click.IntRange(1), help="Claims that share the error rate, when one of them is repeated alone.")
@click.option("--ledger", "ledger_path", metavar="FILE", help="Keep every block of draws in FILE, and reuse what it holds.")
@click.option("--json", "json_path", metavar="FILE|-", help="Write the report to FILE; - prints it and nothing else.")
@click.option("--html", "html_path", metavar="FILE", help="Write one page with everything about the claims to FILE.")
@click.option("--histograms", "folder", metavar="FOLDER", help="Draw every Law that was measured into FOLDER, as SVG.")
@click.option("--strict", is_flag=True, help="Exit with 1 where a claim is undecided, under every profile.")
@click.option("-v", "--verbose", is_flag=True, help="List every instance, not only the worst of each claim.")
def command(
    paths: tuple[str, ...],
    only: tuple[str, ...],
    profile: str,
    seed: int,
    workers: int | None,
    cluster: str | None,
    any_versions: bool,
    draws: int | tuple[int, ...] | None,
    sharing: int | None,
    ledger_path: str | None,
    json_path: str | None,
    html_path: str | None,
    folder: str | None,
    strict: bool,
    verbose: bool,
) -> None:
    """Measure and judge the claims made in files and folders.

    In a folder, claims are looked for in files under a folder named proofs and in test modules; any file can be named itself.
    A table has one line per claim with its worst instance; whatever is not as its author declared is told in full below it,
    with the seed and the command that repeats it, and named once more at the end.  On a terminal a line shows what is going on;
    Ctrl-C prints what was judged and the command that checks the rest.  With --ledger a run that was stopped, even killed, goes
    on where it was, a larger profile reuses what a smaller one drew, and the results are the same bits as without.  Changes in
    a sampler's code, in your files that it names and in the versions of the packages these import are seen; where data files,
    environment variables or modules of computed names change, declare version= in ``@tc.quantity``.

    \b
    Examples:
      theoryck check proofs
      theoryck check proofs --only 'camilli2025/*' --profile standard --workers 2
      theoryck check my_conjecture.py --draws 10000 --json - > report.json
      theoryck check proofs --profile thorough --ledger draws.ledger
      theoryck check proofs --profile thorough --cluster tcp://host:8786
      theoryck check proofs --html report.html
      theoryck check proofs --only 'fan2020/*' --histograms pictures

    Exit status: 0 all well; 1 a claim was REFUTED or VACUOUS, or a falsehood was not refuted, or with --strict a claim is
    undecided; 2 wrong usage, a file that cannot be imported (the claims of the others are checked) or an output that cannot be
    written; 3 undecided under thorough (without --strict); 130 interrupted.
    """
    from theoryck.report.text import render

    _check_files(paths, ledger_path, json_path, html_path)
    pictures = _folder(folder)
    problems: list[str] = []
    claims = find_claims(paths, only, problems)
    unread = len(problems)  # these were said when they were found
    with _ledger(ledger_path) as ledger:
        options = {"profile": profile, "seed": seed, "draws": draws, "sharing": sharing, "ledger": ledger}
        report = _measure(claims, lambda: workforce(workers, cluster, any_versions), **options)
    report = replace(report, strict=strict)
    with finishing(lambda text: click.echo(f"theoryck: {text}", err=True)):
        # Files first: whoever reads standard output may have left, and the table is never all there is.
        problems += write_report(report, json_path, html_path)
        if pictures is not None:
            problems += _draw_laws(report, pictures)
        if json_path != "-":
            click.echo(render(report, stdout_style(), verbose=verbose), color=True)
        for problem in problems[unread:]:
            click.echo(f"theoryck: {problem}", err=True)
        if report.interrupted:
            settings = {
                "--profile": profile,
                "--seed": seed,
                "--workers": workers,
                "--cluster": cluster,
                "--draws": ",".join(map(str, draws)) if isinstance(draws, tuple) else draws,
                "--sharing": sharing or len(claims),
                "--ledger": ledger_path,
                "--strict": strict or None,
            }
            click.echo(_advice(report, claims, paths, settings, bool(only)), err=True)
            sys.exit(INTERRUPTED)
        sys.exit(Usage.exit_code if problems else report.exit_code)


def _check_files(paths: Sequence[str], ledger: str | None, json_path: str | None, html_path: str | None) -> None:
    """End the program where a file that is to be written could not be, or would overwrite another one of the call."""
    if html_path == "-":
        raise Usage("--html needs a file, such as report.html; for a page on standard output: theoryck report FILE --html -")
    if ledger == "":
        raise Usage("--ledger needs the name of a file, such as draws.ledger; got an empty text")
    read = [("ledger that is read", ledger), *files_of_claims(paths)]
    check_outputs({"--json": json_path, "--html": html_path}, read)


def _measure(claims: Sequence[Claim], hire: Callable[[], Executor], **options: Any) -> Report:
    """Look ahead, measure and judge; Ctrl-C at any moment of it returns what was judged until then."""
    from theoryck import __version__
    from theoryck.checking.check import check_claims
    from theoryck.checking.profiles import profile_named
    from theoryck.checking.session import Session
    from theoryck.claims.claim import written_about
    from theoryck.records import Report

    try:
        buildable = _buildable(claims, options["draws"])
        with hire() as executor:
            if options["draws"] is None:
                settings = profile_named(options["profile"]), options["seed"], executor, options["sharing"] or len(claims)
                _warn_of_hopeless(buildable, Session(*settings))
            with _Line() as line:
                report = check_claims(claims, executor=executor, progress=line.following(len(claims)), **options)
            if lost := getattr(executor, "lost", ""):
                click.echo(f"theoryck: {lost}", err=True)
            return report
    except KeyboardInterrupt:
        return Report(options["profile"], options["seed"], (), __version__, True, *written_about(claims))


def _buildable(claims: Sequence[Claim], draws: int | tuple[int, ...] | None) -> list[Claim]:
    """Return the claims that can be built, and say what is wrong with the others: they will be VACUOUS, and stop nobody.

    Draws for each size that are not as many as the sizes end the program with status 2.
    """
    from theoryck.claims.collecting import CollectionError, build_once

    good = []
    for claim in claims:
        try:
            statements = build_once(claim)
        except CollectionError as error:
            click.echo(f"theoryck: {error}", err=True)
            continue
        good.append(claim)
        if isinstance(draws, tuple):
            _check_draws(claim, statements, len(draws))
    return good


def _check_draws(claim: Claim, statements: Sequence[Statement], given: int) -> None:
    for statement in statements:
        sizes = len(statement.sizes())
        if statement.measured().can_draw and sizes != given:
            raise Usage(
                f"--draws gives {given} numbers, but claim {claim.id!r} is measured at {sizes} sizes: give one number for all "
                f"sizes, or {sizes} separated by commas (and --only {claim.id})"
            )


def _folder(path: str | None) -> Path | None:
    """Return the folder for pictures; one that cannot be used ends the program before anything is measured."""
    if path is None:
        return None
    from theoryck.report.plots import PlotError, folder_for_laws

    try:
        return folder_for_laws(path)
    except PlotError as error:
        raise Usage(f"--histograms {path}: {error}") from error


def _draw_laws(report: Report, folder: Path) -> list[str]:
    """Draw each instance of a law into a file, and say on standard error how many; return what went wrong."""
    from theoryck.report.plots import PlotError, draw_laws

    try:
        click.echo(f"theoryck: {draw_laws(report, folder)}", err=True)
    except PlotError as error:
        return [f"--histograms {folder}: {error}"]
    return []


@contextmanager
def _ledger(path: str | None) -> Iterator[Ledger | None]:
    """Open a ledger, and say at the end what it gave and took; a ledger that cannot be used ends the program with status 2."""
    if path is None:
        yield None
        return
    from theoryck.ledger import Ledger, LedgerError

    try:
        with Ledger(path) as ledger:
            yield ledger
            click.echo(ledger.summary(), err=True)
    except LedgerError as error:
        raise Usage(str(error)) from error


def _warn_of_hopeless(claims: Sequence[Claim], session: Session) -> None:
    """Write a line for each claim that the budget cannot settle on standard error, before anything is drawn."""
    from theoryck.checking.prospects import hopeless
    from theoryck.report.progress import looked_ahead

    with _Line() as line:
        line.write(looked_ahead(1, len(claims)))
        for number, warnings in enumerate(hopeless(claims, session), 2):
            for warning in warnings:
                line.write("")
                click.echo(f"theoryck: {warning}", err=True)
            line.write(looked_ahead(min(number, len(claims)), len(claims)))


def _advice(report: Report, claims: Sequence[Claim], paths: Sequence[str], settings: Mapping[str, object], chosen: bool) -> str:
    """What would go on where the session stopped."""
    from theoryck.report.progress import advice

    judged = {result.claim for result in report.results}
    left = [claim.id for claim in claims if claim.id not in judged]
    return advice(left, [claim.id for claim in claims if claim.id in judged], paths, settings, style_for(sys.stderr), chosen=chosen)


class _Line(Line):
    def following(self, claims: int) -> Callable[[Mapping[str, Any]], None] | None:
        """Return what shows a session's progress, or None where there is nobody to see it."""
        from theoryck.report.progress import Progress

        state = Progress(claims, time.monotonic)

        def follow(look: Mapping[str, Any]) -> None:
            state.see(look)
            self.write(state.line(self.width))

        return follow if self.shown else None
