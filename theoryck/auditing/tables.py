"""Tables of measurements: CSV, TSV, JSON lines, from a file or standard input, into columns of numbers.

A cell that is not a finite number ends the reading with a :class:`TableError` that names the file, the line, the column and the
value, and says what to do: no row is ever left out, no cell guessed.  Rows are converted in chunks, so a million of them take a
few seconds and little memory.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
import operator
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from theoryck.records import Size
from theoryck.records.arguments import LARGEST, LEAST

Array = NDArray[np.float64]

FORMATS = ("csv", "tsv", "jsonl")
CHUNK = 65_536  # rows held as text at a time
MOST_EXACT = 2**53  # above it a float no longer holds every whole number

_SUFFIXES = {".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl"}
_MISSING = {"", "na", "n/a", "null", "none", "-", "--"}
_ERROR_NAMES = {"se", "sem", "std_err", "std_error", "stderror", "standard_error", "err", "error", "std", "sd", "sigma", "ci"}


class TableError(ValueError):
    """A table that cannot be used; the message names the place, shows the value and says what to do."""


@dataclass(frozen=True, slots=True)
class Roles:
    """Which columns are sizes (by the name a rate gives them), the value, the standard error (or one number), and notes."""

    sizes: Mapping[str, str]
    value: str
    stderr: str | float | None = None
    notes: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns to be read."""
        return (*self.sizes.values(), self.value, *((self.stderr,) if isinstance(self.stderr, str) else ()))


@dataclass(frozen=True, slots=True)
class Measurements:
    """Columns (rows,) of finite numbers: ``sizes`` by name (positive), values, and standard errors if there are any.

    Sizes beyond 2**53 that were written as whole numbers are a column of such numbers.
    """

    sizes: Mapping[str, NDArray[Any]]
    values: Array
    stderr: Array | None
    value_name: str = "value"
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.values)


def choose_columns(
    header: Sequence[str],
    *,
    size: Sequence[str] = (),
    value: str | None = None,
    stderr: str | float | None = None,
    needed: Sequence[str] = (),
    source: str = "the table",
) -> Roles:
    """Return what each column is for, as named or else by these rules; a choice that is not forced is an error, never a guess.

    Sizes: ``size`` (a column, or ``name=column`` where the rate calls it otherwise) and the ``needed`` names (those of the rate),
    else the one column that is left.  Value: ``value``, else the column called "value", else the one column that is left.
    Standard error: ``stderr`` (a column, or one number for every row), else the column called "stderr", else none.

    >>> choose_columns(["d", "loss", "stderr", "seed"], value="loss", needed=["d"])
    Roles(sizes={'d': 'd'}, value='loss', stderr='stderr', notes=("column 'seed' is not used",))
    """
    number = stderr if isinstance(stderr, float | int) else _constant(stderr, header)
    error = number if number is not None else stderr if stderr is not None else "stderr" if "stderr" in header else None
    if isinstance(size, str):
        raise TableError(f"size must be a sequence of names, got the text {size!r}: write [{size!r}]")
    sizes: dict[str, str] = {}
    for item in size:
        name, chosen_column = _size_column(item, header)
        if sizes.setdefault(name, chosen_column) != chosen_column:
            raise TableError(
                f"{source}: the size {name!r} cannot be two columns, {sizes[name]!r} and {chosen_column!r}: name it once"
            )
    named = [("a size", column) for column in sizes.values()]
    named += [("the value", value)] if value is not None else []
    named += [("the standard error", error)] if isinstance(error, str) else []
    for role, name in named:
        _require_column(name, header, source, f"{role} is to be the column {name!r}")
    for name in needed:
        if name not in sizes:
            _require_column(name, header, source, f"the rate needs a column {name!r} (or say which it is: --size {name}=COLUMN)")
            sizes[name] = name
    taken = {name for _, name in named} | set(sizes.values())
    left = [name for name in header if name not in taken]
    if value is None:
        value = "value" if "value" in left else _only(left, source, "the value", "--value", bool(sizes))
        left.remove(value)
    if not sizes:
        only = _only(left, source, "the size", "--size", True)
        sizes[only] = only
    chosen = [*sizes.values(), value, *([error] if isinstance(error, str) else [])]
    for name in chosen:
        if chosen.count(name) > 1:
            raise TableError(
                f"{source}: column {name!r} cannot be two things at once: "
                f"the sizes are {', '.join(sizes.values())}, the value {value}"
            )
    return Roles(sizes, value, error, tuple(_unused([name for name in header if name not in chosen], error is None)))


def _size_column(item: str, header: Sequence[str]) -> tuple[str, str]:
    name, equals, column = item.partition("=")
    return (name.strip(), column.strip()) if equals and item not in header else (item, item)


def _constant(stderr: str | None, header: Sequence[str]) -> float | None:
    """A standard error given as a number: the same for every row, unless a column has that name."""
    if stderr is None or stderr in header:
        return None
    try:
        number = float(stderr)
    except ValueError:
        return None
    if not (math.isfinite(number) and number >= 0):
        raise TableError(f"stderr must be a column or a number >= 0, got {stderr!r}")
    return number


def _require_column(name: str, header: Sequence[str], source: str, what: str) -> None:
    if name not in header:
        close = get_close_matches(name.lower(), [column.lower() for column in header], n=1, cutoff=0.5)
        meant = [column for column in header if column.lower() in close]
        hint = f"; did you mean {meant[0]!r}?" if meant else ""
        raise TableError(f"{source}: {what}, which is not there: the columns are {_listed(header)}{hint}")


def _only(left: Sequence[str], source: str, role: str, option: str, sizes_known: bool) -> str:
    if len(left) == 1 and sizes_known:
        return left[0]
    if len(left) < (1 if sizes_known else 2):
        raise TableError(f"{source}: no column is left for {role}: a table needs at least a size and a value")
    raise TableError(f"{source}: {role} may be any of the columns {_listed(left)}: say which with {option}")


def _unused(names: Sequence[str], no_error: bool) -> Iterator[str]:
    for name in names:
        yield f"column {name!r} is not used"
        if no_error and name.lower().replace(" ", "_") in _ERROR_NAMES:
            yield f"column {name!r} is not taken for a standard error: say so with --stderr {name} if it is one"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names[:12]) + (", ..." if len(names) > 12 else "")


# -- reading -------------------------------------------------------------------------------------------------------------------


def read_measurements(path: str | Path, choose: Callable[[Sequence[str]], Roles], *, format: str | None = None) -> Measurements:
    """Read the columns that ``choose`` picks from the header of a table; ``path`` is a file, or "-" for standard input.

    ``format`` is "csv", "tsv" or "jsonl", by default that of the file's ending, else seen from the first line.  CSV may be
    separated by commas, semicolons, tabs or blanks.  Lines that start with ``#`` and empty lines are skipped.
    Raises TableError for anything that is not a table of finite numbers.
    """
    if format is not None and format not in FORMATS:
        raise TableError(f"format must be one of {', '.join(FORMATS)}, got {format!r}")
    name = "standard input" if str(path) == "-" else str(path)
    wanted = format or _SUFFIXES.get(Path(path).suffix.lower())
    try:
        if str(path) == "-":
            stream = io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8-sig", newline="")
            try:
                return _read(stream, name, wanted, choose)
            finally:
                stream.detach()
        with Path(path).open(encoding="utf-8-sig", newline="") as file:
            return _read(file, name, wanted, choose)
    except FileNotFoundError:
        raise TableError(f"{name} does not exist") from None
    except UnicodeDecodeError as error:
        raise TableError(f"{name} is not UTF-8 text ({error.reason} at byte {error.start}): save it as CSV in UTF-8") from None
    except OSError as error:
        raise TableError(f"{name} cannot be read: {error.strerror or error}") from None


def _read(stream: TextIO, name: str, format: str | None, choose: Callable[[Sequence[str]], Roles]) -> Measurements:
    lines = _Lines(stream)
    rows: Iterator[tuple[int, Sequence[Any]]]
    first = lines.peek()
    if first is None:
        raise TableError(f"{name} is empty: the first line must name the columns, such as d,value,stderr")
    if format == "jsonl" or (format is None and first.lstrip().startswith(("{", "["))):
        header, rows = _json_rows(lines, name)
    else:
        header, rows = _separated_rows(lines, name, "\t" if format == "tsv" else _separator(first))
    roles = choose(header)
    wanted = [header.index(column) for column in roles.columns]
    columns: list[list[NDArray[Any]]] = [[] for _ in wanted]
    for chunk in _chunks(rows):
        numbers = [row for row, _ in chunk]
        for role, j, parts in zip(roles.columns, wanted, columns):
            cells = [row[j] for _, row in chunk]
            parts.append(_numbers(cells, numbers, f"{name}, {lines.word}", role))
            if role in roles.sizes.values():
                parts[-1] = in_full(parts[-1], cells)
                check_sizes(parts[-1], numbers, f"{name}, column {role!r}, {lines.word}")
            elif role == roles.stderr:
                check_stderr(parts[-1], numbers, f"{name}, column {role!r}, {lines.word}")
            else:
                check_values(parts[-1], numbers, f"{name}, column {role!r}, {lines.word}")
    if not columns[0]:
        raise TableError(f"{name} has a header and no row: add a line for each measurement")
    whole = [np.concatenate(parts) for parts in columns]
    count = len(roles.sizes)
    stderr = whole[count + 1] if isinstance(roles.stderr, str) else None
    if stderr is None and roles.stderr is not None:
        stderr = np.full(len(whole[0]), float(roles.stderr))
    return Measurements(dict(zip(roles.sizes, whole)), whole[count], stderr, roles.value, roles.notes)


class _Lines:
    """The lines of a stream without comments, and the number of the last one given, as an editor counts them."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = iter(stream)
        self._ahead: str | None = None
        self.number = 0
        self.comment = ""
        self.word = "line"

    def peek(self) -> str | None:
        """Return the first line that is neither empty nor a comment, without consuming it; None at the end."""
        while self._ahead is None:
            line = next(self._stream, None)
            if line is None:
                return None
            self.number += 1
            if line.lstrip().startswith("#"):
                self.comment = line.strip()
            elif line.strip():
                self._ahead = line
        return self._ahead

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self.peek()
        if line is None:
            raise StopIteration
        self._ahead = None
        return line


def _separator(line: str) -> str:
    counts = {separator: line.count(separator) for separator in "\t;,"}
    best = max(counts, key=lambda separator: counts[separator])
    return best if counts[best] else " " if len(line.split()) > 1 else ","


def _separated_rows(lines: _Lines, name: str, separator: str) -> tuple[list[str], Iterator[tuple[int, Sequence[Any]]]]:
    reader: Iterable[list[str]]
    reader = (line.split() for line in lines) if separator == " " else csv.reader(lines, delimiter=separator, strict=True)
    found = _guarded(iter(reader), lines, name)
    number, header = next(found)
    header = [cell.strip() for cell in header]
    _check_header(header, name, number, lines.comment)

    def rows() -> Iterator[tuple[int, Sequence[Any]]]:
        for line, row in found:
            if len(row) != len(header):
                cells = "1 cell" if len(row) == 1 else f"{len(row)} cells"
                raise TableError(
                    f"{name}, line {line}: {cells} under a header of {len(header)} ({_listed(header)}): "
                    f"{_listed(row)}{_ragged_hint(row, header, separator)}"
                )
            yield line, row

    return header, rows()


def _ragged_hint(row: Sequence[str], header: Sequence[str], separator: str) -> str:
    if separator == "," and len(row) > len(header):
        return "; write numbers without thousands separators or decimal commas"
    return "; fill in the missing cell" if len(row) < len(header) else ""


def _guarded(rows: Iterator[list[str]], lines: _Lines, name: str) -> Iterator[tuple[int, list[str]]]:
    while True:
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            raise TableError(f"{name}, line {lines.number}: {error}; check the quotation marks on this line") from None
        yield lines.number, row


def _check_header(header: Sequence[str], name: str, line: int, comment: str) -> None:
    if all(_is_number(cell) for cell in header):
        hint = f"; if {comment!r} names them, remove its #" if comment else ""
        raise TableError(
            f"{name}, line {line}: the first row holds numbers ({_listed(header)}): put a line above it that names the columns, "
            f"such as d,value,stderr{hint}"
        )
    for column in header:
        if not column:
            raise TableError(f"{name}, line {line}: a column of the header has no name ({_listed(header)}): give every column one")
        if list(header).count(column) > 1:
            raise TableError(f"{name}, line {line}: two columns are called {column!r}: rename one of them")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _json_rows(lines: _Lines, name: str) -> tuple[list[str], Iterator[tuple[int, Sequence[Any]]]]:
    """Objects, one a line or all in one array; numbers stay text, so that 1e-400 is seen before it becomes 0."""
    first = lines.peek()
    objects = _json_array(lines, name) if first and first.lstrip().startswith("[") else _json_lines(lines, name)
    start = next(objects, None)
    if start is None:
        raise TableError(f'{name} holds no object: write one a line, such as {{"d": 16, "value": 0.25}}')
    header = list(start[1])
    known = set(header)

    def rows() -> Iterator[tuple[int, Sequence[Any]]]:
        for line, item in itertools.chain([start], objects):
            if not item.keys() <= known:
                new = sorted(item.keys() - known)
                raise TableError(
                    f"{name}, {lines.word} {line}: the key {new[0]!r} is not in the first object ({_listed(header)}): "
                    "give all objects the same keys"
                )
            # A key that is missing is an empty cell; it matters only where its column is used.
            yield line, [item.get(key) for key in header]

    return header, rows()


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [key for key, _ in pairs]
        raise TableError(f"the key {next(key for key in names if names.count(key) > 1)!r} occurs twice in one object")
    return found


# Made once: json.loads with options makes a decoder at every call.
_DECODER = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str, object_pairs_hook=_object)


def _json_lines(lines: _Lines, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for line in lines:
        try:
            item = _DECODER.decode(line.strip())
        except json.JSONDecodeError as error:
            raise TableError(
                f"{name}, line {lines.number}: not JSON (column {error.colno}: {error.msg}): one object a line"
            ) from None
        except TableError as error:
            raise TableError(f"{name}, line {lines.number}: {error}") from None
        if not isinstance(item, dict):
            raise TableError(
                f'{name}, line {lines.number}: {line.strip()[:60]!r} is not an object such as {{"d": 16, "value": 0.25}}'
            )
        yield lines.number, item


def _json_array(lines: _Lines, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    lines.word = "row"
    try:
        items = _DECODER.decode("".join(lines).strip())
    except json.JSONDecodeError as error:
        raise TableError(f"{name}: not JSON (line {error.lineno}, column {error.colno}: {error.msg})") from None
    except TableError as error:
        raise TableError(f"{name}: {error}") from None
    for number, item in enumerate(items, 1):
        if not isinstance(item, dict):
            raise TableError(f'{name}, row {number}: {str(item)[:60]!r} is not an object such as {{"d": 16, "value": 0.25}}')
        yield number, item


def _chunks(rows: Iterator[tuple[int, Sequence[Any]]]) -> Iterator[list[tuple[int, Sequence[Any]]]]:
    chunk: list[tuple[int, Sequence[Any]]] = []
    for row in rows:
        chunk.append(row)
        if len(chunk) == CHUNK:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


# -- numbers -------------------------------------------------------------------------------------------------------------------


def _numbers(cells: Sequence[Any], lines: Sequence[int], place: str, column: str) -> Array:
    """Convert cells of text to finite floats; the first that is none raises TableError."""
    numbers: Array | None = None
    if all(type(cell) is str and "_" not in cell for cell in cells):
        try:
            numbers = np.array(cells, dtype=np.float64)
        except ValueError:
            numbers = None
    if numbers is None:
        numbers = np.array([_number(cell, place, line, column) for cell, line in zip(cells, lines)])
    # What may be infinite, NaN or rounded to zero is read again with care.
    for i in np.flatnonzero(~np.isfinite(numbers) | (numbers == 0)):
        _number(cells[int(i)], place, lines[int(i)], column)
    return numbers


def _number(cell: Any, place: str, line: int, column: str) -> float:
    text = cell.strip() if isinstance(cell, str) else "" if cell is None else json.dumps(cell)
    where = f"{place} {line}, column {column!r}"
    if text.lower() in _MISSING:
        shown = f" ({text!r})" if text else ""
        raise TableError(f"{where}: the cell is empty{shown}: fill it in or remove the row")
    try:
        if "_" in text:
            raise ValueError
        number = float(text)
    except ValueError:
        raise TableError(f"{where}: {text[:60]!r} is not a number{_number_hint(text)}") from None
    if not math.isfinite(number):
        written = re.fullmatch(r"[+-]?[0-9.]+(e\+?[0-9]+)?", text, re.IGNORECASE)
        what = f"outside {LEAST:g}..{LARGEST:g}: rescale the column" if written else "not finite: correct or remove the row"
        raise TableError(f"{where}: {text[:60]} is {what}")
    if number == 0 and re.search("[1-9]", re.split("e", text, flags=re.IGNORECASE)[0]):
        raise TableError(f"{where}: {text[:60]} is outside {LEAST:g}..{LARGEST:g}: rescale the column")
    return number


def _number_hint(text: str) -> str:
    if re.fullmatch(r"[+-]?[0-9]{1,3}([,' _][0-9]{3})+(\.[0-9]*)?", text):
        return f": write {re.sub('[^0-9.+-]', '', text)}, without thousands separators"
    if re.fullmatch(r"[+-]?[0-9]+,[0-9]+(e[+-]?[0-9]+)?", text, re.IGNORECASE):
        return f": write {text.replace(',', '.')}, with a decimal point"
    if re.fullmatch(r"[+-]?[0-9.]+d[+-]?[0-9]+", text, re.IGNORECASE):
        return f": write {re.sub('[dD]', 'e', text)}"
    return ""


def in_full(numbers: Array, given: Any) -> NDArray[Any]:
    """Return sizes as whole numbers of 64 bits where floats would round them and ``given`` (cells or an array) are such numbers."""
    if not len(numbers) or numbers.max() <= MOST_EXACT:
        return numbers
    try:
        whole = np.array([int(cell) if isinstance(cell, str) else operator.index(cell) for cell in given], dtype=np.int64)
    except (TypeError, ValueError, OverflowError):
        return numbers
    return whole


def size_of(number: Any) -> Size:
    """Return an entry of a column of sizes as the number that it shows: a whole one where a float is exact.

    >>> size_of(np.float64(16.0)), size_of(np.float64(0.5)), size_of(np.float64(1e21))
    (16, 0.5, 1e+21)
    """
    if isinstance(number, np.integer) or (number <= MOST_EXACT and float(number).is_integer()):
        return int(number)
    return float(number)


def check_sizes(numbers: NDArray[Any], lines: Sequence[int], place: str) -> None:
    """Raise TableError at the first size that is no positive number of the numeric domain; it lies at ``place`` and its line."""
    bad = np.flatnonzero(~((numbers >= LEAST) & (numbers <= LARGEST)) & (numbers != 0))
    zero = np.flatnonzero(numbers == 0)
    if len(bad) or len(zero):
        index = int(bad[0] if len(bad) else zero[0])
        where, number = f"{place} {lines[index]}", float(numbers[index])
        if number > 0:
            raise TableError(f"{where}: a size must lie between {LEAST:g} and {LARGEST:g}, got {number:g}: rescale the column")
        raise TableError(f"{where}: a size must be a positive number, got {number:g}")


def check_values(numbers: Array, lines: Sequence[int], place: str) -> None:
    """Raise TableError at the first value outside the numeric domain; it lies at ``place`` and its line."""
    sizes = np.abs(numbers)
    bad = np.flatnonzero((numbers != 0) & ~((sizes >= LEAST) & (sizes <= LARGEST)))
    if len(bad):
        where = f"{place} {lines[int(bad[0])]}"
        limits = f"0 or lie between {LEAST:g} and {LARGEST:g} in size"
        raise TableError(f"{where}: a value must be {limits}, got {numbers[bad[0]]:g}: rescale the column")


def check_stderr(numbers: Array, lines: Sequence[int], place: str) -> None:
    """Raise TableError at the first standard error below 0 or beyond the numeric domain; it lies at ``place`` and its line."""
    bad = np.flatnonzero(~((numbers >= 0) & (numbers <= LARGEST)))
    if len(bad):
        number, where = float(numbers[bad[0]]), f"{place} {lines[int(bad[0])]}"
        if number < 0:
            raise TableError(f"{where}: a standard error must be >= 0 (0 means exact), got {number:g}")
        raise TableError(f"{where}: a standard error must be at most {LARGEST:g}, got {number:g}: rescale values and errors")
