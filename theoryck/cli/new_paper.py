"""``theoryck new --paper``: a repository for one paper, which runs as it is.

Its files are in ``templates/paper``: ``dot-`` stands for a dot at the beginning of a name and a second ending ``.txt`` for none, so
that no tool takes them for its own; ``@KEY@`` is the name of the folder of claims, ``@REQUIREMENT@`` what pip is asked for.
"""

from __future__ import annotations

import datetime
import re
import shlex
from pathlib import Path

import click

import theoryck
from theoryck.claims.collecting import is_module
from theoryck.cli.common import Usage

TEMPLATES = Path(__file__).parent / "templates" / "paper"
REQUIREMENTS = "such as theoryck==0.1.0, git+https://HOST/theoryck.git or the path of a wheel"
COMMANDS = (
    "theoryck check proofs --ledger draws.ledger --json results.json --html report.html",
    "theoryck report results.json --macros verdicts.tex --latex appendix.tex --bibtex claims.bib",
    "theoryck audit-paper paper.tex",
)


def files(key: str, year: int, requirement: str = f"theoryck=={theoryck.__version__}") -> dict[str, str]:
    """Return the text of each file of the repository, by its path in it, for claims in ``proofs/key``.

    ``requirement`` is the line by which pip installs theoryck.

    >>> [path for path in sorted(files("gap", 2026)) if path.startswith((".", "proofs/gap/n"))]
    ['.github/workflows/claims.yml', '.gitignore', '.gitlab-ci.yml', '.pre-commit-config.yaml', 'proofs/gap/norms.py']
    """
    from theoryck.report.macros import STYLE, style

    found = {STYLE: style()}
    for path in sorted(TEMPLATES.rglob("*")):
        if path.is_file():
            parts = [re.sub("^dot-", ".", part) for part in path.relative_to(TEMPLATES).parts]
            name = "/".join(parts).removesuffix(".txt" if len(path.suffixes) > 1 else "")
            text = path.read_text(encoding="utf-8")
            found[name.replace("KEY", key)] = (
                text.replace("@KEY@", key).replace("@YEAR@", str(year)).replace("@REQUIREMENT@", requirement)
            )
    return found


def key_of(name: str) -> str:
    """Return the name of the folder of claims of a paper: one that Python can import.

    >>> key_of("My paper (2026)"), key_of("2026-gap"), key_of("json"), key_of("---")
    ('my_paper_2026', 'paper_2026_gap', 'json_paper', 'paper')
    """
    key = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or "paper"
    key = f"paper_{key}" if key[0].isdigit() else key
    return f"{key}_paper" if is_module(key) else key


def write(folder: str, requirement: str | None = None) -> None:
    """Write the repository into a folder, and say what to do next; nothing that exists is overwritten."""
    if not folder.strip():
        raise Usage("--paper needs the name of a folder, such as my_paper; got an empty text")
    asked = [] if requirement is None else [requirement.strip()]
    if asked and (len(asked[0].splitlines()) != 1 or asked[0].startswith(("#", "-"))):
        raise Usage(f"--theoryck needs one line as pip reads it, {REQUIREMENTS}; got {requirement!r}")
    root = Path(folder)
    texts = files(key_of(root.resolve().name), datetime.date.today().year, *asked)
    there = [path for path in texts if (root / path).exists() or (root / path).is_symlink()]
    if there:
        raise Usage(f"{root / there[0]} exists and is not overwritten: name another folder for the paper")
    try:
        for path, text in texts.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
    except OSError as error:
        reason = f"{(error.strerror or str(error)).lower()}: {error.filename}"
        raise Usage(f"cannot write {root}: {reason}; name a folder that can be written") from error
    lines = [f"Wrote {root}: a repository for one paper, which runs as it is:", f"  cd {shlex.quote(str(root))}"]
    lines += [f"  {line}" for line in COMMANDS]
    click.echo("\n".join([*lines, "Then change the lines marked EDIT into your paper, and the claims in proofs into yours."]))
