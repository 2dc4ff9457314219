"""What several commands share: arguments, how claims are found, how usage errors end the program."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import click

from theoryck.checking.profiles import PROFILES
from theoryck.claims.collecting import CollectionError, collect, explain, no_claim_called
from theoryck.cli.options import Choice
from theoryck.report.claims import printable
from theoryck.report.layout import Style, columns, is_dumb, shorten, style_for

if TYPE_CHECKING:
    from theoryck.claims.claim import Claim
    from theoryck.montecarlo import Executor
    from theoryck.records import Report

DEFAULT_PATH = "proofs"
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


class Usage(click.ClickException):
    """A mistake in the call or in a file of claims: exit status 2."""

    exit_code = 2

    def format_message(self) -> str:
        """Return the lines of the message, in which no name of a file and nothing that stands in one steers the terminal."""
        return "\n".join(printable(line) for line in self.message.split("\n"))


def profile_option() -> Decorator:
    """Return the option ``--profile``."""
    return click.option(
        "--profile",
        type=Choice(list(PROFILES)),
        default="quick",
        show_default=True,
        help="Budgets and error rates: about 10 seconds, 2 minutes or 20 minutes a claim.",
    )


def check_outputs(outputs: Mapping[str, str | None], read: Iterable[tuple[str, str | Path | None]] = ()) -> None:
    """End the program before any work where an output (option -> path) cannot be written, or would overwrite what should stay."""
    from theoryck.report.json import ReportFileError
    from theoryck.report.targets import check_targets

    try:
        check_targets(outputs, read)
    except ReportFileError as error:
        raise Usage(str(error)) from error


def files_of_claims(paths: Sequence[str]) -> list[tuple[str, str]]:
    """Return what must not be overwritten: the files in which claims are looked for (those in folders are Python files)."""
    return [("file of claims that is read", path) for path in paths]


def write_report(report: Report, json_path: str | None, html_path: str | None) -> list[str]:
    """Write a report to the files that were asked for; return what could not be written and why."""
    from theoryck.report.json import ReportFileError

    problems = []
    for option, module, path in (("json", "theoryck.report.json", json_path), ("html", "theoryck.report.html", html_path)):
        try:
            if path is not None:  # only then loaded: the page takes longer to import than a table to audit
                getattr(importlib.import_module(module), f"write_{option}")(report, path)
        except ReportFileError as error:
            problems.append(f"--{option}: {error}")
    return problems


def write_json_data(data: object, path: str) -> None:
    """Write JSON data to a file, whole or not at all, or to standard output for ``-``; infinities and NaN as in reports."""
    from theoryck.report.json import ReportFileError, json_text, write_text

    try:
        write_text(json_text(data), path)
    except ReportFileError as error:
        raise Usage(f"--json: {error}") from error


def seed_option() -> Decorator:
    """Return the option ``--seed``."""
    return click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of every draw and instance.")


def workforce_options(what: str) -> Decorator:
    """Return the options ``--workers``, ``--cluster`` and ``--any-versions``; ``what`` does not depend on them."""
    options = (
        click.option("--workers", type=click.IntRange(1), help=f"Worker processes; the {what} do not depend on it."),
        click.option(
            "--cluster",
            metavar="ADDRESS|FILE|local:N",
            help=f"Draw on a Dask cluster: its scheduler's address or file, or N processes here; the {what} do not depend on it.",
        ),
        click.option("--any-versions", is_flag=True, help="Accept workers of the cluster that have other versions."),
    )

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def workforce(workers: int | None, cluster: str | None, any_versions: bool) -> Executor:
    """Return the executor that was asked for; a cluster that cannot be used ends the program with status 2."""
    from theoryck.montecarlo import ClusterError, connect, make_executor

    if cluster is None:
        return make_executor(workers)
    if workers is not None:
        raise Usage("--workers and --cluster say both where to draw: leave one out (--cluster local:N has N processes)")
    try:
        return connect(cluster, any_versions)
    except ClusterError as error:
        raise Usage(f"--cluster: {error}") from error


def find_claims(paths: Sequence[str], only: Sequence[str] = (), problems: list[str] | None = None) -> list[Claim]:
    """Collect claims; what cannot be found or imported ends the program with status 2 and says why.

    With a list of ``problems`` a file that cannot be imported is said on standard error and added there, and the others go on.
    """
    try:
        claims = collect(_or_default(paths), only, problems)
    except CollectionError as error:
        raise Usage("\n".join([*(problems or ()), str(error)])) from error
    for problem in problems or ():
        click.echo(f"theoryck: {Usage(problem).format_message()}", err=True)
    return claims


def _or_default(paths: Sequence[str]) -> list[str]:
    if not paths and not Path(DEFAULT_PATH).is_dir():
        raise Usage(f"there is no folder {DEFAULT_PATH!r} here: name the files or folders in which claims are made")
    return list(paths) or [DEFAULT_PATH]


def find_claim(name: str, paths: Sequence[str]) -> Claim:
    """Return the claim of that id, or the only one whose id ends in ``/name``."""
    if name.endswith((".py", ".json")) and not Path(name).exists():
        raise Usage(f"{name} does not exist: name a file of claims that is there, or a claim")
    if name.endswith(".py") and not paths:
        raise Usage(f"{name} is a file of claims, not one of them: name the claim before it, CLAIM {name}")
    claims = find_claims(paths)
    exact = [claim for claim in claims if claim.id == name]
    ending = exact or [claim for claim in claims if claim.id.endswith(f"/{name}")]
    if len(ending) > 1:
        raise Usage(f"{name!r} may be any of {', '.join(claim.id for claim in ending)}; give the whole id")
    if not ending:
        raise Usage(no_claim_called(name, claims))
    return ending[0]


@contextmanager
def built_or_usage(claim: Claim) -> Iterator[None]:
    """End the program with status 2 where an instance of the claim cannot be built, and say where and why."""
    try:
        yield
    except CollectionError as error:
        raise Usage(str(error)) from error
    except (Exception, SystemExit) as error:
        raise Usage(f"{claim.place}: claim {claim.id!r} cannot be built\n{explain(error, claim.file)}") from error


def stdout_style() -> Style:
    """Return how to write on standard output."""
    return style_for(sys.stdout)


def tell(text: str) -> None:
    """Say on standard error what is being computed, if somebody is looking."""
    if sys.stderr.isatty():
        click.echo(text, err=True)


class Line:
    """One line on standard error while it is a terminal that can take it back; silent otherwise, and gone at the end."""

    def __init__(self) -> None:
        self.shown = sys.stderr.isatty() and not is_dumb()
        self.width = columns(sys.stderr) - 1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.write("")

    def write(self, text: str) -> None:
        """Replace what stands in the line."""
        if self.shown:
            sys.stderr.write(f"\r\x1b[K{shorten(text, self.width)}")
            sys.stderr.flush()
