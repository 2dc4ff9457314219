"""Reports as JSON files: schema version 1, published in the package as ``theoryck/report/schema-v1.json``.

The records' own ``to_json`` is the source of truth; here it meets files.  A file is written whole or not at all.
"""

from __future__ import annotations

import json
import math
import os
import sys
import tempfile
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from theoryck.records import SCHEMA_VERSION, Report


class ReportFileError(ValueError):
    """A report that cannot be read or written; the message names the file, what is wrong with it and what to do."""


def schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) that every report follows.

    >>> schema()["properties"]["schema"]
    {'const': 1, 'description': ...}
    """
    text = resources.files("theoryck.report").joinpath(f"schema-v{SCHEMA_VERSION}.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def dumps(report: Report) -> str:
    """Return a report as JSON text; infinities and NaN, which JSON lacks, become the strings "inf", "-inf" and "nan"."""
    return json.dumps(_speakable(report.to_json()), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _speakable(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    if isinstance(value, Mapping):
        return {str(key): _speakable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_speakable(item) for item in value]
    return value


def write_json(report: Report, path: str | os.PathLike[str]) -> None:
    """Write a report to a file, or to standard output for ``-``; a failure leaves an existing file as it was.

    Raises ReportFileError where the folder is missing or cannot be written.
    """
    write_text(dumps(report), path)


def write_text(text: str, path: str | os.PathLike[str]) -> None:
    """Write text as :func:`write_json` writes a report: whole or not at all, or to standard output for ``-``."""
    if str(path) == "-":
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    target = Path(path)
    check_writable(target)
    try:
        _write_whole(target, text)
    except OSError as error:
        raise ReportFileError(f"the report could not be written to {target}: {error.strerror or error}") from error


def check_writable(path: str | os.PathLike[str], example: str = "report.json") -> None:
    """Raise ReportFileError where a report could not be written: better before an hour of measuring than after it.

    ``example`` is the name of a file that is proposed where the path is a folder.
    """
    target = Path(path)
    if str(path) == "-":
        return
    folder = target.parent
    if target.is_dir():
        raise ReportFileError(
            f"the report cannot be written to {target}: it is a folder; name a file in it, such as {target / example}"
        )
    if not folder.is_dir():
        raise ReportFileError(f"the report cannot be written to {target}: there is no folder {folder}; make it first")
    try:
        if target.exists() and not target.is_file():
            target.open("ab").close()
        else:  # it is replaced as a whole, so what counts is whether its folder takes files
            tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise ReportFileError(
            f"the report cannot be written to {target}: {(error.strerror or str(error)).lower()}; name a file in another folder"
        ) from error


def _write_whole(target: Path, text: str) -> None:
    if target.exists() and not target.is_file():  # a pipe or a device, such as /dev/stdout, has no whole to protect
        target.write_text(text, encoding="utf-8")
        return
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=target.parent, prefix=f".{target.name}.", delete=False) as file:
        name = Path(file.name)
        try:
            file.write(text)
            file.flush()
            mask = os.umask(0)  # a temporary file is private; the report gets the permissions of an ordinary new file
            os.umask(mask)
            name.chmod(0o666 & ~mask)
            name.replace(target)
        except BaseException:
            name.unlink(missing_ok=True)
            raise


def read_json(path: str | os.PathLike[str]) -> Report:
    """Read a report that theoryck wrote; raises ReportFileError for a damaged file, another schema or anything else."""
    source = Path(path)
    try:
        text = source.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise ReportFileError(f"{source} does not exist; write it with: theoryck check PATH --json {source}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise ReportFileError(f"{source} cannot be read as text: {error}") from error
    return loads(text, str(source))


def loads(text: str, name: str = "<text>") -> Report:
    """Read a report from JSON text; ``name`` says in messages where the text came from."""
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise ReportFileError(
            f"{name} is not whole JSON (line {error.lineno}, column {error.colno}: {error.msg}): write it again"
        ) from error
    if not isinstance(data, dict) or "theoryck" not in data or "results" not in data:
        raise ReportFileError(f"{name} is not a report of theoryck: it has no fields 'theoryck' and 'results'")
    if data.get("schema") != SCHEMA_VERSION:
        raise ReportFileError(
            f"{name} has schema version {data.get('schema')!r}, this theoryck reads version {SCHEMA_VERSION}: "
            f"it was written by theoryck {data['theoryck']!r}; read it with that version or measure again"
        )
    try:
        return Report.from_json(data)
    except (KeyError, TypeError, ValueError, IndexError, ArithmeticError, AttributeError) as error:
        what = f"field {error} is missing" if isinstance(error, KeyError) else str(error)
        raise ReportFileError(f"{name} is a damaged report: {what}; write it again") from error
