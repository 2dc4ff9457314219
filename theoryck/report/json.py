"""Reports as JSON files: schema version 1, published in the package as ``theoryck/report/schema-v1.json``.

The records' own ``to_json`` is the source of truth; here it meets files.  A file is written whole or not at all.  What is read is
checked against the schema before records are made of it, so that what renders records may rely on their types; what a schema
cannot say (that lengths fit each other) is checked after it.
"""

from __future__ import annotations

import json
import math
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from itertools import pairwise
from pathlib import Path
from typing import Any

from theoryck.records import SCHEMA_VERSION, Report
from theoryck.records.results import Curve
from theoryck.records.values import Enclosure

MOST_DIGITS = 4000  # of a whole number: what Python reads and writes without being asked to
DEEPEST = 100  # lists and objects within each other in the parameters of an instance
_SHOWN = 60  # characters of a wrong value
_NOUNS = {
    "object": "an object",
    "array": "a list",
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}
_BOUNDS = {"minimum": ">=", "maximum": "<=", "exclusiveMinimum": ">", "exclusiveMaximum": "<"}

Place = tuple[str | int, ...]


_HALVES = re.compile("[\ud800-\udfff]")  # halves of characters, as in names of files that are no text: UTF-8 has none


class ReportFileError(ValueError):
    """A report that cannot be read or written; the message names the file, what is wrong with it and what to do."""


@cache
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
    if str(path).endswith(("/", os.sep)) and not target.is_dir():
        raise ReportFileError(f"the report cannot be written to {path}: there is no folder {target}; make it first, or name a file")
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
    found = problem(data)
    if found is not None:
        raise _damaged(name, found)
    return Report.from_json(data)


def _damaged(name: str, what: str) -> ReportFileError:
    return ReportFileError(f"{name} is a damaged report: {what}; measure again, or undo what changed it")


def parse_strictly(text: str) -> Any:
    """Return the data of JSON text; raises ValueError also for what theoryck never writes: a field twice, NaN, endless numbers.

    >>> parse_strictly('{"constant": "0.1", "constant": "0.2"}')
    Traceback (most recent call last):
        ...
    ValueError: field "constant" stands twice in one object
    """
    return json.loads(text.removeprefix("\ufeff"), object_pairs_hook=_fields, parse_constant=_no_number, parse_int=_whole)


def _parsed(text: str, name: str) -> Any:
    try:
        return parse_strictly(text)
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


# -- what a schema says --------------------------------------------------------------------------------------------------------


@cache
def _validator() -> Any:
    import jsonschema  # where a file is read, and nowhere else

    draft = jsonschema.Draft202012Validator
    kinds = {"number": lambda _, value: _is_number(value), "integer": lambda _, value: _is_number(value) and value == value // 1}
    checker = draft.TYPE_CHECKER.redefine_many(kinds)
    return jsonschema.validators.extend(draft, type_checker=checker)(_resolved(schema()))


def _resolved(rules: Any) -> Any:
    """The schema with each definition in the place where it is used: a validator follows no reference, in half the time."""
    if isinstance(rules, list):
        return [_resolved(each) for each in rules]
    if not isinstance(rules, dict):
        return rules
    if "$ref" in rules:
        return _resolved(schema()["$defs"][rules["$ref"].rpartition("/")[2]])
    return {name: _resolved(each) for name, each in rules.items() if name != "$defs"}


def _is_number(value: object) -> bool:
    """Whether a value is one of floats: no endless one, no whole number that is larger than all of them."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def problem(data: Any) -> str | None:
    """Return the first of the outermost things that are wrong with the data of a report, with its place; None where nothing is.

    >>> problem({"theoryck": "1.0", "schema": 1, "profile": 5, "seed": 0, "results": [], "summary": {}})
    "'profile' must be a text, got 5"
    """
    error = min(_validator().iter_errors(data), key=lambda each: len(each.absolute_path), default=None)
    return _violated(error) if error is not None else next(_contradictions(data), None)


def _violated(error: Any) -> str:
    """What breaks the schema, in words: within the alternative that fits so far, or all that would have done."""
    while error.validator == "anyOf":
        firsts: dict[int, Any] = {}  # of each alternative the outermost thing that is wrong
        for each in sorted(error.context, key=lambda each: len(each.relative_path)):
            firsts.setdefault(each.relative_schema_path[0], each)
        inner = [each for each in firsts.values() if each.relative_path or each.validator in ("required", "additionalProperties")]
        if not inner:
            break
        error = inner[0]
    place, rules, value = (*error.absolute_path,), error.schema, error.instance
    if error.validator == "required":
        return _at(place, f"'{next(name for name in rules['required'] if name not in value)}' is missing")
    if error.validator == "additionalProperties":
        unknown = next(name for name in value if name not in rules["properties"])
        return _at(place, f"there is no field {shown(unknown)} in this version of reports")
    name = "the whole" if not place else f"entry {place[-1]}" if isinstance(place[-1], int) else f"'{place[-1]}'"
    words = _alternatives(rules, value)
    expected = words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
    return _at(place[:-1], f"{name} must be {expected}, got {shown(value)}")


def _at(place: Sequence[str | int], what: str) -> str:
    where = ""
    for part in place:
        where += f"[{part}]" if isinstance(part, int) else f".{part}" if where else part
    return f"{where}: {what}" if where else what


def _alternatives(rules: Mapping[str, Any], value: Any) -> list[str]:
    """All that a schema takes, each in words; an upper bound is named where the value is above it."""
    if "anyOf" in rules:
        return [word for each in rules["anyOf"] for word in _alternatives(each, value)]
    if "const" in rules or "enum" in rules:
        return [json.dumps(word) for word in rules.get("enum", [rules.get("const")])]
    noun = _NOUNS[rules["type"]]
    if "examples" in rules:
        return [f"{noun} such as {json.dumps(rules['examples'][0])}"]
    number = isinstance(value, int | float) and not isinstance(value, bool)
    named = [name for name in _BOUNDS if name in rules and (name != "maximum" or (number and value > rules[name]))]
    bounds = [f"{_BOUNDS[name]} {rules[name]:g}" for name in named]
    if rules.get("minItems"):
        bounds.append(f"of {rules['minItems']}")
    return [" ".join([noun + " that is not empty" * bool(rules.get("minLength")), " and ".join(bounds)]).strip()]


def shown(value: Any) -> str:
    """Write a wrong value, a long one by its beginning."""
    if isinstance(value, list | dict):
        return ("a list" if isinstance(value, list) else "an object") + f" of {len(value)}"
    text = json.dumps(value[: _SHOWN + 1] if isinstance(value, str) else value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


# -- what a schema cannot say --------------------------------------------------------------------------------------------------


def _contradictions(data: Mapping[str, Any]) -> Iterator[str]:
    for at, result in enumerate(data["results"]):
        place: Place = ("results", at)
        if _too_deep(result["instance"]):
            yield _at(place, f"'instance' holds lists within each other, more than {DEEPEST} deep")
        yield from _of_values(result, place)
        yield from _of_sizes(result, place)


def _too_deep(value: Any) -> bool:
    level, depth = [value], 0
    while level and depth <= DEEPEST:
        held = [item for item in level if isinstance(item, list | dict)]
        level = [inner for item in held for inner in (item.values() if isinstance(item, dict) else item)]
        depth += 1
    return bool(level)


def _of_values(result: Mapping[str, Any], place: Place) -> Iterator[str]:
    """What the records of decimal numbers and of laws refuse."""
    known = [((*place, "points", at, "exact"), point["exact"]) for at, point in enumerate(result["points"])]
    if result["prediction"] is not None:
        known.append(((*place, "prediction", "value"), result["prediction"]["value"]))
    for where, value in known:
        if value is not None:
            try:
                Enclosure.from_json(value)
            except ValueError as error:
                yield _at(where, str(error))
    for at, curve in enumerate(result.get("curves", ())):
        try:
            Curve.from_json(curve)
        except ValueError as error:
            yield _at((*place, "curves", at), str(error))
    for at, point in enumerate(result["points"]):
        counts = point.get("counts")
        if counts is None:
            continue
        where = (*place, "points", at, "counts")
        edges, claimed, bins = ([*map(float, counts[name])] for name in ("edges", "claimed", "counts"))
        if not (len(edges) == len(claimed) == len(bins) - 1):
            got = f"{len(claimed)} and {len(bins)}"
            yield _at(where, f"{len(edges)} edges need as many claimed values and one count more, got {got}")
        elif any(not low <= high for low, high in pairwise(edges)):
            yield _at(where, "'edges' must be in increasing order")


def _of_sizes(result: Mapping[str, Any], place: Place) -> Iterator[str]:
    """All points of a result have the same sizes, among them the base of its exponents."""
    points: Sequence[Mapping[str, Any]] = result["points"]
    base = result["prediction"]["base"] if result["prediction"] is not None else None
    for at, point in enumerate(points):
        for name in points[0]["sizes"]:
            if name not in point["sizes"]:
                yield _at((*place, "points", at, "sizes"), f"'{name}' is missing, which other points have")
        for name in point["sizes"]:
            if name not in points[0]["sizes"]:
                yield _at((*place, "points", 0, "sizes"), f"'{name}' is missing, which other points have")
        if base is not None and base not in point["sizes"]:
            yield _at((*place, "points", at, "sizes"), f"{shown(base)} is missing, the base of the prediction")
