"""Reports as JSON files: schema version 1, published in the package as ``theoryck/report/schema-v1.json``.

The records' own ``to_json`` is the source of truth; here it meets files.  A file is written whole or not at all.
"""

from __future__ import annotations

import json
import math
import os
import re
import sys
import tempfile
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from theoryck.records import SCHEMA_VERSION, Report
from theoryck.report.validation import problem, shown

MOST_DIGITS = 4000  # of a whole number: what Python reads and writes without being asked to


_HALVES = re.compile("[\ud800-\udfff]")  # halves of characters, as in names of files that are no text: UTF-8 has none


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
    return json_text(report.to_json(), indent=1)


def json_text(data: Any, indent: int | None = 2) -> str:
    """Return any data as JSON text; infinities and NaN as in :func:`dumps`.

    >>> json_text({"noise": float("nan")}, indent=None)
    '{"noise": "nan"}\\n'
    """
    text = json.dumps(_speakable(data), indent=indent, ensure_ascii=False, allow_nan=False)
    return _HALVES.sub(lambda half: f"\\u{ord(half.group()):04x}", text) + "\n"


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
    if not str(path):
        raise ReportFileError("a report needs the name of a file, such as report.json; got an empty text")
    try:
        text = source.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise ReportFileError(f"{source} does not exist; write it with: theoryck check PATH --json {source}") from error
    except IsADirectoryError as error:
        raise ReportFileError(f"{source} is a folder; name a file in it, such as {source / 'report.json'}") from error
    except UnicodeDecodeError as error:
        raise ReportFileError(f"{source} is not a report of theoryck: it is no text ({error})") from error
    except (OSError, ValueError) as error:  # ValueError: a name with a null character
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ReportFileError(f"{source} cannot be read: {reason.lower()}") from error
    return loads(text, str(source))


def loads(text: str, name: str = "<text>") -> Report:
    """Read a report from JSON text; ``name`` says in messages where the text came from.

    Raises ReportFileError for anything but a report, and for one that does not follow the schema, with the place of the damage.

    >>> loads('{"theoryck": "1.0", "schema": 1, "profile": "quick", "results": []}', "r.json")
    Traceback (most recent call last):
        ...
    theoryck.report.json.ReportFileError: r.json is a damaged report: 'seed' is missing; measure again, or undo what changed it
    """
    data = _parsed(text, name)
    if not isinstance(data, dict) or "theoryck" not in data or "results" not in data:
        raise ReportFileError(f"{name} is not a report of theoryck: it has no fields 'theoryck' and 'results'")
    version = data.get("schema")
    if isinstance(version, bool) or version != SCHEMA_VERSION:
        raise ReportFileError(
            f"{name} has schema version {shown(version)}, this theoryck reads version {SCHEMA_VERSION}: "
            f"it was written by theoryck {shown(data['theoryck'])}; read it with that version or measure again"
        )
    found = problem(data, schema())
    if found is not None:
        raise _damaged(name, str(found))
    return Report.from_json(data)


def _damaged(name: str, what: str) -> ReportFileError:
    return ReportFileError(f"{name} is a damaged report: {what}; measure again, or undo what changed it")


def _parsed(text: str, name: str) -> Any:
    """Return JSON data; what dumps never writes (a field twice, NaN, endless numbers or nesting) is refused with the rest."""
    try:
        return json.loads(text.removeprefix("\ufeff"), object_pairs_hook=_fields, parse_constant=_no_number, parse_int=_whole)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}: {error.msg}"
        if '"theoryck"' not in text:
            what = "it is empty" if not text.strip() else f"it is not JSON ({where})"
            raise ReportFileError(f"{name} is not a report of theoryck: {what}") from error
        raise _damaged(name, f"it is not whole JSON ({where})") from error
    except ValueError as error:
        raise _damaged(name, str(error)) from error
    except RecursionError as error:
        raise _damaged(name, "its lists and objects are nested too deeply") from error


def _fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"field {shown(twice)} stands twice in one object")
    return fields


def _no_number(word: str) -> Any:
    raise ValueError(f'{word} is no JSON: it would be written as the text "{word.lower().removesuffix("inity")}"')


def _whole(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"a whole number has {len(digits)} digits, more than {MOST_DIGITS}")
    return int(digits)
