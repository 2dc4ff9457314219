"""``theoryck new``: a file with a conjecture of one's own, which runs as it is."""

from __future__ import annotations

import builtins
import importlib.util
import keyword
import re
import shlex
import sys
from pathlib import Path

import click

from theoryck.cli.common import DEFAULT_PATH, Choice, Usage
from theoryck.cli.templates import TEMPLATES, filled

MOST_LETTERS = 100
KINDS = tuple(kind for kind in TEMPLATES if kind != "network")


@click.command("new")
@click.argument("name")
@click.argument("path", required=False)
@click.option(
    "--kind", type=Choice(KINDS), default="bound", show_default=True,
    help="At most a rate; like a power; tends to a number; tends to a law; equals, exactly.",
)  # fmt: skip
@click.option("--network", is_flag=True, help="A bound on a quantity of a deep network, for all activations and depths.")
@click.pass_context
def command(ctx: click.Context, name: str, path: str | None, kind: str, network: bool) -> None:
    """Write a file with a conjecture of one's own, which runs as it is.

    The file measures an example with a sampler of ten lines and is SUPPORTED; comments marked EDIT say which lines to
    change into a conjecture of your own.  The claim is called NAME.  The file is PATH, or NAME.py in the folder PATH; without
    PATH it is proofs/NAME.py where there is a folder proofs, else NAME.py, a - in NAME becoming _.  A file that exists is never
    overwritten.

    \b
    Examples:
      theoryck new spectral-gap
      theoryck new edge-law --kind law my_conjectures/edge.py
      theoryck new norm-of-outputs --network

    Exit status: 0 the file is written; 2 wrong usage, or the file exists.
    """
    _check_name(name)
    if path == "":
        raise Usage("PATH must be a file that ends in .py, or a folder that exists, got an empty text")
    if network and ctx.get_parameter_source("kind") is not click.core.ParameterSource.DEFAULT:
        raise Usage("--network writes a bound on a quantity of a network: leave out --kind, or --network")
    file = _file(name, path)
    chosen = "network" if network else kind
    try:
        with file.open("x", encoding="utf-8") as stream:
            stream.write(filled(chosen, name, _function(name)))
    except FileExistsError as error:
        raise Usage(f"{file} exists and is not overwritten: choose another NAME, or name the file: {_elsewhere(name)}") from error
    except OSError as error:
        raise Usage(f"cannot write {file}: {error.strerror}; name a file in a folder that exists and can be written") from error
    what = "a bound about deep networks" if network else f"{'an' if kind == 'identity' else 'a'} {kind}"
    lines = [f"Wrote {file}: {what}, which runs as it is:", f"  theoryck check {shlex.quote(str(file))}"]
    lines += ["Then change the lines marked EDIT into your conjecture, and check it again."]
    if network:
        lines += ["To search all its networks for a counterexample:", f"  theoryck hunt {name} {shlex.quote(str(file))}"]
    click.echo("\n".join(lines))


def _check_name(name: str) -> None:
    """Refuse what cannot name a claim, a file and a function alike, and say what could."""
    if "/" in name or "\\" in name:
        tail = re.split(r"[/\\]", name.rstrip("/\\"))[-1].removesuffix(".py")
        raise Usage(
            f"NAME must be a name, not a path, got {name!r}: name the claim and then its file: "
            f"theoryck new {_proposal(tail)} {shlex.quote(name if name.endswith('.py') else name + '.py')}"
        )
    if len(name) > MOST_LETTERS:
        raise Usage(f"NAME must have at most {MOST_LETTERS} characters, to be the name of a file, got {len(name)}: {name[:20]}...")
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", name):
        raise Usage(
            f"NAME must consist of letters a-z, digits, - and _, and start with a letter or digit, got {name!r}: "
            f"write for example {_proposal(name)}"
        )


def _proposal(name: str) -> str:
    """Return the nearest good name.

    >>> _proposal("My gap!"), _proposal("---")
    ('My-gap', 'my-conjecture')
    """
    return re.sub(r"[^A-Za-z0-9_]+", "-", name.removesuffix(".py")).strip("-_") or "my-conjecture"


def _function(name: str) -> str:
    """Return the name of the function.

    >>> _function("spectral-gap"), _function("lambda"), _function("2026-gap"), _function("deviation")
    ('spectral_gap', 'lambda_', 'claim_2026_gap', 'deviation_')
    """
    identifier = name.replace("-", "_")
    if identifier[0].isdigit():
        return f"claim_{identifier}"
    names = {word for template in TEMPLATES.values() for word in re.findall(r"\w+", template)}
    taken = keyword.iskeyword(identifier) or identifier in names or hasattr(builtins, identifier)
    return f"{identifier}_" if taken else identifier


def _file(name: str, path: str | None) -> Path:
    """Return the file to be written; one that would hide a module that is installed, or has no folder, is refused."""
    stem = name.replace("-", "_")
    if path is None:
        file = (Path(DEFAULT_PATH) if Path(DEFAULT_PATH).is_dir() else Path()) / f"{stem}.py"
    else:
        file = Path(path) / f"{stem}.py" if Path(path).is_dir() else Path(path)
    if file.suffix != ".py":
        raise Usage(f"PATH must be a file that ends in .py, or a folder that exists, got {str(file)!r}: try {file}.py")
    if file.stem == "conftest":
        raise Usage(f"{file} would be read by pytest as its own: choose another name")
    if not file.exists() and _is_module(file.stem):
        raise Usage(
            f"{file} would be called like the Python module {file.stem!r} and could hide it: choose another NAME, or name the "
            f"file: {_elsewhere(name)}"
        )
    return file


def _is_module(stem: str) -> bool:
    try:
        return stem in sys.stdlib_module_names or importlib.util.find_spec(stem) is not None
    except (ImportError, ValueError):  # a name that cannot be one
        return False


def _elsewhere(name: str) -> str:
    return f"theoryck new {name} my_{name.replace('-', '_')}.py"
