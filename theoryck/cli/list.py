"""``theoryck list``: what is claimed, and where."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import click

from theoryck.claims.collecting import CollectionError, build_once
from theoryck.cli.common import Usage, find_claims, stdout_style
from theoryck.report.claims import clean
from theoryck.report.layout import Style, cells, pad, wrap

if TYPE_CHECKING:
    from theoryck.claims.claim import Claim


@click.command("list")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--only", multiple=True, metavar="GLOB", help="List only the claims whose id matches; may be repeated.")
@click.option("--strict", is_flag=True, help="Exit with 1 where a claim cannot be built.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")
def command(paths: tuple[str, ...], only: tuple[str, ...], strict: bool, as_json: bool) -> None:
    """List the claims made in files and folders (default: ./proofs), without measuring anything.

    Folder by folder with its reference, file by file in the order of the folder's contents.  Each claim has its status, its
    statement in one line, and the file and the line where it is made; one that cannot be built is listed with the reason.  A
    theorem is proved, in the reference or beyond doubt; a conjecture is what was measured or derived without proof; a
    falsehood is a theorem with something changed, and must be REFUTED.

    \b
    Examples:
      theoryck list
      theoryck list proofs/camilli2025 --only '*moment*'
      theoryck list --json | python -m json.tool

    Exit status: 0 listed; 1 with --strict, a claim that cannot be built; 2 wrong usage, or a file that cannot be imported (the
    claims of the others are listed).
    """
    problems: list[str] = []
    claims = _in_order(find_claims(paths, only, problems))
    errors = {claim.id: _error(claim) for claim in claims}
    if as_json:
        click.echo(json.dumps([_entry(claim, errors[claim.id]) for claim in claims], indent=1, ensure_ascii=False))
    else:
        click.echo("\n".join(_lines(claims, errors, stdout_style())))
    if problems:
        sys.exit(Usage.exit_code)
    if strict and any(errors.values()):
        sys.exit(1)


def _error(claim: Claim) -> str:
    """Say why a claim cannot be built, or nothing."""
    try:
        build_once(claim)
    except CollectionError as error:
        return str(error).partition("\n")[2]
    return ""


def _entry(claim: Claim, error: str) -> dict[str, object]:
    return {
        "claim": claim.id,
        "status": claim.status.value,
        "statement": claim.statement,
        "reference": str(claim.reference or ""),
        "file": str(claim.file),
        "line": claim.line,
        "arguments": sorted(claim.strategies),
        "error": error or None,
    }


def _in_order(claims: list[Claim]) -> list[Claim]:
    """Return the claims folder by folder, its files as the contents in the folder's docstring name them, the others after these."""
    folders = list(dict.fromkeys(claim.file.parent for claim in claims))
    return sorted(claims, key=lambda claim: (folders.index(claim.file.parent), _position(claim)))


def _position(claim: Claim) -> int:
    text = claim.folder_setting
    found = re.search(rf"^\s*{re.escape(claim.file.stem)}\s", text, re.MULTILINE)
    return found.start() if found else len(text)


def _lines(claims: list[Claim], errors: Mapping[str, str], style: Style) -> list[str]:
    reach = max(cells(claim.status.value) for claim in claims)
    indent = " " * (reach + 2)
    lines: list[str] = []
    for folder, in_folder in groupby(claims, key=lambda claim: claim.file.parent):
        entries = list(in_folder)
        main = clean(entries[0].reference or "")
        lines += ["", *wrap(main or f"without reference, in {folder.name}", style.width)]
        for _, in_file in groupby(entries, key=lambda claim: claim.file):
            of_file = list(in_file)
            heading = clean(of_file[0].setting.partition("\n")[0])
            lines += ["", *wrap(f"{of_file[0].file.stem}: {heading}" if heading else of_file[0].file.stem, style.width)]
            for claim in of_file:
                lines.append(f"{pad(claim.status.value, reach)}  {style.paint(clean(claim.id), 'head')}")
                lines += wrap(clean(claim.statement) or "(no docstring)", style.width, first=indent)
                if clean(claim.reference or "") != main:
                    lines += wrap(clean(claim.reference or "without reference"), style.width, first=indent)
                lines.append(style.paint(f"{indent}{clean(Path(claim.place))}", "dim"))
                if errors[claim.id]:
                    lines += wrap(f"cannot be built: {clean(errors[claim.id])}", style.width, first=indent)
    counts = {status: sum(claim.status.value == status for claim in claims) for status in ("theorem", "conjecture", "falsehood")}
    total = ", ".join(f"{number} {status}{'s' * (number != 1)}" for status, number in counts.items() if number)
    return [*lines[1:], "", total]
