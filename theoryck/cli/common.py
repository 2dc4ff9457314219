"""What several commands share: arguments, how claims are found, how usage errors end the program."""

from __future__ import annotations

import difflib
import importlib
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from theoryck.checking.profiles import PROFILES
from theoryck.claims.collecting import CollectionError, collect, no_claim_called
from theoryck.report.layout import Style, style_for

if TYPE_CHECKING:
    from theoryck.claims.claim import Claim
    from theoryck.records import Report

DEFAULT_PATH = "proofs"
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


class Usage(click.ClickException):
    """A mistake in the call or in a file of claims: exit status 2."""

    exit_code = 2


class Choice(click.Choice[str]):
    """One of several words; another one is answered with those that look like it."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """Say which words there are, and which may have been meant."""
        return not_among(str(value), [str(choice) for choice in self.choices])


def not_among(value: str, words: Sequence[str]) -> str:
    """Return the message for a word that is not among those allowed.

    >>> not_among("quik", ["quick", "standard"])
    "'quik' is not one of quick, standard (did you mean 'quick'?)"
    """
    close = difflib.get_close_matches(value.lower(), words, n=1)
    hint = f" (did you mean {close[0]!r}?)" if close else ""
    return f"{value!r} is not one of {', '.join(words)}{hint}"


def profile_option() -> Decorator:
    """Return the option ``--profile``."""
    return click.option(
        "--profile",
        type=Choice(list(PROFILES)),
        default="quick",
        show_default=True,
        help="Budgets and error rates: about 10 seconds, 2 minutes or 20 minutes a claim.",
    )


class DrawsType(click.ParamType[int | tuple[int, ...]]):
    """One number of draws for every size, or one for each: ``1000`` or ``4000,2000,1000``."""

    name = "N[,N...]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | tuple[int, ...]:
        """Return the number, or the tuple of numbers; anything below 2 is an error."""
        if not isinstance(value, str):
            return value
        parts = [_written_out(part.strip()) for part in value.split(",")]
        if not all(part.isdecimal() and int(part) >= 2 for part in parts):
            self.fail(f"{value!r} must be an integer >= 2, or one for each size separated by commas", param, ctx)
        numbers = tuple(int(part) for part in parts)
        return numbers[0] if len(numbers) == 1 else numbers


def _written_out(text: str) -> str:
    """Write 1e5 as 100000."""
    number, exponential, zeros = text.partition("e")
    return number + "0" * int(zeros) if exponential and number.isdecimal() and zeros.isdecimal() and len(zeros) < 3 else text


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


def find_claims(paths: Sequence[str], only: Sequence[str] = (), problems: list[str] | None = None) -> list[Claim]:
    """Collect claims; what cannot be found or imported ends the program with status 2 and says why.

    With a list of ``problems`` a file that cannot be imported is said on standard error and added there, and the others go on.
    """
    try:
        claims = collect(_or_default(paths), only, problems)
    except CollectionError as error:
        raise Usage("\n".join([*(problems or ()), str(error)])) from error
    for problem in problems or ():
        click.echo(f"theoryck: {problem}", err=True)
    return claims


def _or_default(paths: Sequence[str]) -> list[str]:
    if not paths and not Path(DEFAULT_PATH).is_dir():
        raise Usage(f"there is no folder {DEFAULT_PATH!r} here: name the files or folders in which claims are made")
    return list(paths) or [DEFAULT_PATH]


def find_claim(name: str, paths: Sequence[str]) -> Claim:
    """Return the claim of that id, or the only one whose id ends in ``/name``."""
    claims = find_claims(paths)
    exact = [claim for claim in claims if claim.id == name]
    ending = exact or [claim for claim in claims if claim.id.endswith(f"/{name}")]
    if len(ending) > 1:
        raise Usage(f"{name!r} may be any of {', '.join(claim.id for claim in ending)}; give the whole id")
    if not ending:
        raise Usage(no_claim_called(name, claims))
    return ending[0]


def stdout_style() -> Style:
    """Return how to write on standard output."""
    return style_for(sys.stdout)
