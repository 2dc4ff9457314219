"""Files that are written: none may replace a file that is read, a Python file, or what another option writes.

Checked before any work, by the commands and by the pytest plugin alike.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from theoryck.report.json import ReportFileError, check_writable

Path_ = str | os.PathLike[str]
STANDARD = "-"  # standard output


def check_targets(outputs: Mapping[str, Path_ | None], read: Iterable[tuple[str, Path_ | None]] = ()) -> None:
    """Raise ReportFileError where an output (option -> path) cannot be written, or would overwrite what should stay.

    That is a file that is ``read`` (pairs of what it is and its path), a Python file that exists, or another output.  A path that
    is None is passed over.

    >>> check_targets({"--json": "-", "--html": None}, [("table that is read", "-")])
    >>> check_targets({"--json": "-", "--markdown": "-"})
    Traceback (most recent call last):
        ...
    theoryck.report.json.ReportFileError: --json and --markdown would both be written to standard output: name two files
    """
    taken: list[tuple[str, Path_]] = []
    sources = [(what, path) for what, path in read if path is not None]
    for option, path in outputs.items():
        if path is None:
            continue
        _check_one(option, path)
        for what, other in sources:
            if same_file(path, other):
                raise ReportFileError(f"{option} {path} is the {what}: it would be overwritten; name another file")
        for other_option, other in taken:
            if same_file(path, other) or str(path) == str(other):
                where = "standard output" if str(path) == STANDARD else path
                raise ReportFileError(f"{other_option} and {option} would both be written to {where}: name two files")
        taken.append((option, path))


def _check_one(option: str, path: Path_) -> None:
    """Raise ReportFileError where one output cannot be written, whatever else there is."""
    form = option.rpartition("-")[2]
    example = f"report.{_ENDINGS.get(form, form)}"
    if not str(path):
        raise ReportFileError(f"{option} needs the name of a file, such as {example}; got an empty text")
    if "\0" in str(path):
        raise ReportFileError(f"{option} {str(path)!r}: a name of a file has no null character; name a file such as {example}")
    if form == "html":
        _check_pages(option)
    try:
        check_writable(path, example)
        is_program = str(path) != STANDARD and Path(path).is_file() and Path(path).resolve().suffix in (".py", ".pyi", ".pyw")
    except ReportFileError as error:
        raise ReportFileError(f"{option}: {error}") from error
    except OSError as error:
        raise ReportFileError(f"{option} cannot be written: {reason(error)}; name a file such as {example}") from error
    if is_program:
        proposal = Path(path).with_suffix(f".{example.rpartition('.')[2]}")
        raise ReportFileError(
            f"{option} {path} is a Python file that exists: it would be overwritten; name another file, as {proposal}"
        )


def _check_pages(option: str) -> None:
    try:
        importlib.import_module("jinja2")
    except ImportError as error:
        what = f"{option} needs jinja2, which cannot be imported ({error})"
        raise ReportFileError(
            f"{what}: python -m pip install jinja2; or save --json FILE, of which a page can be made later"
        ) from error


_ENDINGS = {"markdown": "md", "latex": "tex", "bibtex": "bib", "macros": "tex", "plot": "svg", "ledger": "ledger"}


def reason(error: OSError) -> str:
    """Return what the system says of a file in one line: the reason and the name, cut where it is long.

    >>> reason(FileNotFoundError(2, "No such file or directory", "gap.csv"))
    'no such file or directory: gap.csv'
    """
    text = (error.strerror or str(error) or type(error).__name__).lower()
    if error.filename is None:
        return text
    name = os.fsdecode(error.filename) if isinstance(error.filename, bytes) else str(error.filename)
    return f"{text}: {name if len(name) <= 80 else name[:40] + '...' + name[-20:]}"


def same_file(one: Path_, other: Path_) -> bool:
    """Whether two paths are one file, also by links, or will be; ``-`` is none.

    >>> same_file("folder/../a.json", "a.json"), same_file("-", "-")
    (True, False)
    """
    if STANDARD in (str(one), str(other)):
        return False
    try:
        if Path(one).exists() and Path(other).exists():
            return Path(one).samefile(other)
        return Path(one).resolve() == Path(other).resolve()
    except (OSError, ValueError):  # a name that no file can have
        return str(one) == str(other)
