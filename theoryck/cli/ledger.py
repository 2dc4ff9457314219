"""``theoryck ledger``: what a ledger holds, and how to make it smaller."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from theoryck.cli.common import Usage, check_outputs, stdout_style, write_json_data
from theoryck.report import numbers
from theoryck.report.claims import clean
from theoryck.report.layout import Style, pad, shorten

if TYPE_CHECKING:
    from theoryck.ledger import Entry, Ledger

_FILE = click.argument("path", metavar="FILE", type=click.Path(path_type=Path))
_JSON = click.option("--json", "json_path", metavar="FILE|-", help="Write it as JSON to FILE; - prints it and nothing else.")


@click.group("ledger")
def command() -> None:
    """Look into a ledger, the file in which ``theoryck check --ledger FILE`` keeps every block of draws.

    Draws are reused while theoryck, Python, numpy, scipy and the sampler are the same: its code, the values it names, your source
    files of all that it imports, however deep, and the versions of the packages that these import.  Modules whose names are
    computed, data files, environment variables and other programs are not seen: when they change, declare version=
    (``@tc.quantity(version=2)``).

    \b
    Examples:
      theoryck check proofs --ledger draws.ledger     stop it, start it again: it goes on
      theoryck ledger show draws.ledger
      theoryck ledger prune draws.ledger --stale

    Exit status: 0 done; 2 wrong usage, or a file that is no ledger, damaged or in use.
    """


@contextmanager
def _opened(path: Path, read_only: bool) -> Iterator[Ledger]:
    from theoryck.ledger import Ledger, LedgerError

    try:
        if not path.exists():
            raise Usage(f"the ledger {path} does not exist: theoryck check PATH --ledger {path} makes it")
        with Ledger(path, read_only=read_only) as ledger:
            yield ledger
    except LedgerError as error:
        raise Usage(str(error)) from error


@command.command("show", short_help="List what a ledger holds.")
@_FILE
@_JSON
def show(path: Path, json_path: str | None) -> None:
    """List what a ledger holds: claim, quantity, instance; blocks and draws; whether the code that drew them is still there.

    "current" is reused by the next run; "stale" was drawn by code that has changed since and is never reused; "unknown" means that
    the sampler's source file is not where it was.  Every row of the file is checked first.

    \b
    Examples:
      theoryck ledger show draws.ledger
      theoryck ledger show draws.ledger --json -
    """
    from theoryck.ledger.contents import size_of

    check_outputs({"--json": json_path}, [("ledger that is read", path)])
    with _opened(path, read_only=True) as ledger:
        entries, size = ledger.entries(), size_of(path)
    if json_path is not None:
        write_json_data({"ledger": str(path), "size": size, "entries": [entry.to_json() for entry in entries]}, json_path)
    if json_path != "-":
        click.echo("\n".join([*_table(entries, stdout_style()), _total(path, entries, size)]))


@command.command("prune", short_help="Delete draws from a ledger by their age, claim or code.")
@_FILE
@click.option("--stale", is_flag=True, help="What was drawn by code that has changed since.")
@click.option("--claim", metavar="GLOB", help="What was drawn for the claims whose id matches.")
@click.option("--older-than", type=click.FloatRange(0), metavar="DAYS", help="What nothing was added to for so many days.")
@click.option("--all", "everything", is_flag=True, help="Everything.")
@click.option("--dry-run", is_flag=True, help="Say what would be deleted, and delete nothing.")
@_JSON
def prune_command(
    path: Path,
    stale: bool,
    claim: str | None,
    older_than: float | None,
    everything: bool,
    dry_run: bool,
    json_path: str | None,
) -> None:
    """Delete from a ledger what meets every condition given, and shrink the file.

    \b
    Examples:
      theoryck ledger prune draws.ledger --stale --dry-run
      theoryck ledger prune draws.ledger --claim 'camilli2025/*' --older-than 30
    """
    if everything == (stale or claim is not None or older_than is not None):
        raise click.UsageError(
            "say what to delete: --stale, --claim GLOB, --older-than DAYS (all that are given must hold), or --all"
        )
    check_outputs({"--json": json_path}, [("ledger that is read", path)])
    with _opened(path, read_only=dry_run) as ledger:
        pruned = ledger.prune(stale=stale, claim=claim, older_than=older_than, dry_run=dry_run)
    if json_path is not None:
        entries = [entry.to_json() for entry in pruned.entries]
        sizes = {"before": pruned.before, "after": pruned.after}
        write_json_data({"ledger": str(path), "dry_run": dry_run, **sizes, "deleted": entries}, json_path)
    if json_path != "-":
        done = "would be deleted" if dry_run else "deleted"
        text = f"{done}: {_count(pruned.blocks, 'block')}, {numbers.count(pruned.draws)} draws"
        size = "" if dry_run else f"; the file had {_bytes(pruned.before)}, it has {_bytes(pruned.after)}"
        click.echo("\n".join([*_table(pruned.entries, stdout_style()), text + size]))


def _table(entries: Sequence[Entry], style: Style) -> list[str]:
    rows = [("claim", "quantity", "instance", "sizes", "blocks", "draws", "code", "last block")]
    rows += [
        (
            entry.claim,
            entry.quantity,
            ", ".join(f"{name}={value}" for name, value in entry.instance.items()),
            str(entry.sizes),
            str(entry.blocks),
            numbers.count(entry.draws),
            f"{entry.state} ({entry.why})" if entry.why else entry.state,
            time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.last)),
        )
        for entry in entries
    ]
    longest = (40, 34, 30, 5, 8, 5, 60, 16)
    cut = [[shorten(clean(cell), most, middle=True) for cell, most in zip(row, longest)] for row in rows]
    reach = [max(len(row[column]) for row in cut) for column in range(len(longest))]
    right = (False, False, False, True, True, True, False, False)
    return ["  ".join(pad(cell, width, right=where) for cell, width, where in zip(row, reach, right)).rstrip() for row in cut]


def _total(path: Path, entries: Sequence[Entry], size: int) -> str:
    blocks, draws = sum(entry.blocks for entry in entries), sum(entry.draws for entry in entries)
    stale = sum(entry.draws for entry in entries if entry.state == "stale")
    name = clean(path)
    outdated = f", {numbers.count(stale)} of them by code that has changed (theoryck ledger prune {name} --stale)" if stale else ""
    return f"{name}: {_bytes(size)}, {_count(blocks, 'block')}, {numbers.count(draws)} draws{outdated}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def _bytes(size: int) -> str:
    value = float(size)
    for unit in ("bytes", "kB", "MB"):
        if value < 1000:
            return f"{value:.3g} {unit}" if unit != "bytes" else f"{size} bytes"
        value /= 1000
    return f"{value:.3g} GB"
