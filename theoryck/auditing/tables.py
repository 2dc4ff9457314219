"""Tables of measurements: CSV, TSV, JSON lines, from a file or standard input, into columns of numbers.

A cell that is not a finite number ends the reading with a :class:`TableError` that names the file, the line, the column and the
value, and says what to do: no row is ever left out, no cell guessed.  Rows are converted in chunks, so a million of them take a
few seconds and little memory.
"""

from __future__ import annotations

import io
import math
import operator
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theoryck.auditing.cells import Array, ColumnReader, TableError, significant
from theoryck.auditing.rows import Lines, chunks, json_rows, separated_rows, separator_of
from theoryck.auditing.selecting import REPLICATE_NAMES, Coder, Codes, Selection, check_replicates, groups, listed
from theoryck.rates.directions import shrinks
from theoryck.records import Size
from theoryck.records.arguments import LARGEST, LEAST

Check = Callable[[NDArray[Any], Sequence[int], str], None]

FORMATS = ("csv", "tsv", "jsonl")
MOST_DIGITS = 17  # of a float
SIZE_NAMES = {"n", "d", "dof", "dofs", "ndof", "ndofs", "steps", "cells", "elements", "points", "mesh", "grid", "resolution", "nx"}
SIZE_NAMES |= {"size", "width", "samples", "tokens"}  # besides those that go to 0
ASYMMETRY = 0.02  # of an interval, beyond the rounding of its ends
MOST_EXACT = 2**53  # above it a float no longer holds every whole number

_SUFFIXES = {".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl"}
_ERROR_NAMES = {"se", "sem", "std_err", "std_error", "stderror", "standard_error", "err", "error", "std", "sd", "sigma", "ci"}


@dataclass(frozen=True, slots=True)
class Roles:
    """Which columns are sizes (by the name a rate gives them), the value, the standard error (or one number), and notes.

    ``interval`` are the columns of the two ends of intervals at ``level``, ``std`` those of a standard deviation and the number of
    replicates it was taken over; at most one of the three gives the errors.
    """

    sizes: Mapping[str, str]
    value: str
    stderr: str | float | None = None
    notes: tuple[str, ...] = ()
    interval: tuple[str, str] | None = None
    level: float = 0.95
    std: tuple[str, str] | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns to be read."""
        return tuple(self.checks)

    @property
    def checks(self) -> dict[str, Check]:
        """The columns to be read, with what refuses the numbers that they cannot hold."""
        return {
            **dict.fromkeys(self.sizes.values(), check_sizes),
            self.value: check_values,
            **({self.stderr: check_stderr} if isinstance(self.stderr, str) else {}),
            **dict.fromkeys(self.interval or (), check_values),
            **({self.std[0]: check_stderr, self.std[1]: check_values} if self.std is not None else {}),
        }


@dataclass(frozen=True, slots=True)
class Measurements:
    """Columns (rows,) of finite numbers: ``sizes`` by name (positive), values, and standard errors if there are any.

    ``rounding`` is the most by which a written number may differ from the one it stands for, half a unit of its last digit; None is
    that of a float.  ``dof`` are the degrees of freedom of standard errors that were estimated from replicates, None is many.

    Sizes beyond 2**53 that were written as whole numbers are a column of such numbers.
    """

    sizes: Mapping[str, NDArray[Any]]
    values: Array
    stderr: Array | None
    value_name: str = "value"
    notes: tuple[str, ...] = ()
    rounding: Array | None = None
    dof: Array | None = None

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
    interval: Sequence[str] | None = None,
    level: float = 0.95,
    std: Sequence[str] | None = None,
    besides: Sequence[str] = (),
) -> Roles:
    """Return what each column is for, as named or else by these rules; a choice that is not forced is an error, never a guess.

    Sizes: ``size`` (a column, or ``name=column`` where the rate calls it otherwise) and the ``needed`` names (those of the rate),
    else the one column that is left or is called as sizes are (n, h, dx, ...), which is said.  Value: ``value``, else the column
    called "value", else the one column that is left.
    Standard error: ``stderr`` (a column, or one number for every row), ``interval`` (two columns, at ``level``), ``std`` (standard
    deviation and count), else the columns called "stderr", "ci_low" and "ci_high", "std" and "count", else none.  ``besides`` are
    columns that select or group rows.

    >>> choose_columns(["d", "loss", "stderr", "seed"], value="loss", needed=["d"])  # doctest: +ELLIPSIS
    Roles(sizes={'d': 'd'}, value='loss', stderr='stderr', notes=("column 'seed' is not used",), ...)
    """
    if sum(given is not None for given in (stderr, interval, std)) > 1:
        raise TableError("errors are given once: as standard errors, as intervals, or as standard deviations with counts")
    number = stderr if isinstance(stderr, float | int) else _constant(stderr, header)
    error = number if number is not None else stderr
    if error is None and interval is None and std is None:
        error = "stderr" if "stderr" in header else None
        interval = ("ci_low", "ci_high") if error is None and {"ci_low", "ci_high"} <= set(header) else None
        std = ("std", "count") if error is interval is None and {"std", "count"} <= set(header) else None
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
    named += [("an end of an interval", end) for end in interval or ()]
    named += list(zip(("the standard deviation", "the count of replicates"), std or ()))
    for role, name in named:
        _require_column(name, header, source, f"{role} is to be the column {name!r}")
    for name in needed:
        if name not in sizes:
            _require_column(name, header, source, f"the rate needs a column {name!r} (or say which it is: --size {name}=COLUMN)")
            sizes[name] = name
    taken = {name for _, name in named} | set(sizes.values()) | set(besides)
    left = [name for name in header if name and name not in taken]
    said: list[str] = []
    usual = [name for name in left if name.lower() in SIZE_NAMES or (shrinks(name) and not re.search(r"\d", name))]
    forced = len(left) == (1 if value is not None else 2 if "value" in left else 0)
    if not sizes and not forced and len(usual) == 1:
        sizes[usual[0]] = usual[0]
        said.append(f"column {usual[0]!r} is taken for the size")
        left.remove(usual[0])
    if value is None:
        measured = [name for name in left if name.lower() not in REPLICATE_NAMES]  # that number repetitions and measure nothing
        if "value" in left:
            value = "value"
        else:
            value = measured[0] if sizes and len(measured) == 1 else _only(left, source, "the value", "--value", bool(sizes))
        left.remove(value)
    if not sizes:
        only = _only(left, source, "the size", "--size", True)
        sizes[only] = only
    chosen = [*sizes.values(), value, *([error] if isinstance(error, str) else []), *(interval or ()), *(std or ())]
    for name in chosen:
        if chosen.count(name) > 1:
            raise TableError(
                f"{source}: column {name!r} cannot be two things at once: "
                f"the sizes are {', '.join(sizes.values())}, the value {value}"
            )
    unused = [name for name in header if name and name not in chosen and name not in besides]
    notes = (*said, *_unused(unused, error is interval is std is None))
    ends = None if interval is None else (interval[0], interval[1])
    spread = None if std is None else (std[0], std[1])
    return Roles(sizes, value, error, notes, ends, level, spread)


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
        raise TableError(f"{source}: {what}, which is not there: the columns are {listed(header)}{hint}")


def _only(left: Sequence[str], source: str, role: str, option: str, sizes_known: bool) -> str:
    if len(left) == 1 and sizes_known:
        return left[0]
    if len(left) < (1 if sizes_known else 2):
        raise TableError(f"{source}: no column is left for {role}: a table needs at least a size and a value")
    raise TableError(f"{source}: {role} may be any of the columns {listed(left)}: say which with {option}")


def _unused(names: Sequence[str], no_error: bool) -> Iterator[str]:
    for name in names:
        yield f"column {name!r} is not used"
        if no_error and name.lower().replace(" ", "_") in _ERROR_NAMES:
            yield f"column {name!r} is not taken for a standard error: say so with --stderr {name} if it is one"


# -- reading -------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Part:
    """One of the measurements that a table holds: ``labels`` say which, by column (and by "value" where several are judged)."""

    labels: Mapping[str, str]
    measured: Measurements


def read_measurements(
    path: str | Path,
    choose: Callable[[Sequence[str]], Roles],
    *,
    format: str | None = None,
    selection: Selection | None = None,
    digits: int | str | None = None,
) -> Measurements:
    """Return the only one of :func:`read_parts`, which has the arguments and the errors."""
    [part] = read_parts(path, lambda header: [choose(header)], format=format, selection=selection, digits=digits)
    return part.measured


def read_parts(
    path: str | Path,
    choose: Callable[[Sequence[str]], Sequence[Roles]],
    *,
    format: str | None = None,
    selection: Selection | None = None,
    digits: int | str | None = None,
    names: Sequence[str] = (),
) -> list[Part]:
    """Read the columns that ``choose`` picks from the header of a table; ``path`` is a file, or "-" for standard input.

    ``choose`` gives the roles of columns for each value that is to be judged.  ``format`` is "csv", "tsv" or "jsonl", by default
    that of the file's ending, else seen from the first line.  CSV may be separated by commas, semicolons, tabs, blanks or the bars
    of Markdown.  Lines that start with ``#`` and empty lines are skipped.  ``selection`` says which rows are meant, and what has a
    part of its own; ``digits`` how many significant digits of a value count, or that all are "exact", by default those written;
    ``names`` those of the columns, where the table has no header.  Raises TableError for anything that is not a table of finite
    numbers.
    """
    if format is not None and format not in FORMATS:
        raise TableError(f"format must be one of {', '.join(FORMATS)}, got {format!r}")
    check_digits(digits)
    name = "standard input" if str(path) == "-" else str(path)
    reading = _Reading(name, choose, format or _SUFFIXES.get(Path(path).suffix.lower()), selection or Selection(), digits, names)
    try:
        with io.BytesIO(sys.stdin.buffer.read()) if str(path) == "-" else Path(path).open("rb") as file:
            encoding, note = _encoding(file.read(4))
            file.seek(0)
            with io.TextIOWrapper(file, encoding=encoding, newline="") as stream:
                return reading.parts(Lines(stream, note))
    except FileNotFoundError:
        raise TableError(f"{name} does not exist") from None
    except UnicodeError as error:
        where = f" ({error.reason} at byte {error.start})" if isinstance(error, UnicodeDecodeError) else ""
        raise TableError(f"{name} is not UTF-8 text{where}: save it as CSV in UTF-8") from None
    except OSError as error:
        raise TableError(f"{name} cannot be read: {error.strerror or error}") from None


def check_digits(digits: int | str | None) -> None:
    """Raise TableError for a number of significant digits that none can be."""
    if digits is not None and digits != "exact" and (isinstance(digits, bool | str) or not 1 <= digits <= MOST_DIGITS):
        raise TableError(f"digits must be a number from 1 to {MOST_DIGITS}, or 'exact', got {digits!r}")


def _encoding(head: bytes) -> tuple[str, str]:
    """Return the encoding that the first four bytes of a file show, and what to say of it; ASCII starts a table."""
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16", "read as UTF-16"
    if len(head) == 4 and head[1] == head[3] == 0 != head[0]:
        return "utf-16-le", "read as UTF-16"
    if len(head) == 4 and head[0] == head[2] == 0 != head[1]:
        return "utf-16-be", "read as UTF-16"
    return "utf-8-sig", ""


@dataclass(frozen=True)
class _Reading:
    """One reading of a table: what was asked for."""

    name: str
    choose: Callable[[Sequence[str]], Sequence[Roles]]
    format: str | None
    selection: Selection
    digits: int | str | None
    names: Sequence[str]

    def parts(self, lines: Lines) -> list[Part]:
        rows: Iterator[tuple[int, Sequence[Any]]]
        first = lines.peek()
        if first is None:
            raise TableError(f"{self.name} is empty: the first line must name the columns, such as d,value,stderr")
        if self.format == "jsonl" or (self.format is None and first.lstrip().startswith(("{", "["))):
            header, rows = json_rows(lines, self.name)
        else:
            separator = "\t" if self.format == "tsv" else separator_of(lines)
            header, rows = separated_rows(lines, self.name, separator, self.names)
        roles = self.choose(header)
        columns, coders = self._columns(header, rows, roles, lines)
        named = [*dict.fromkeys(self.selection.by)]
        count = len(next(iter(columns.values())).numbers)
        found = []
        for labels, kept in groups({column: coders[column] for column in named}) if named else [({}, np.arange(count))]:
            others = {column: coder.codes[kept] for column, coder in coders.items() if column not in named}
            for one in roles:
                label = {**labels, "value": one.value} if len(roles) > 1 else labels
                found.append(Part(label, self._measured(one, columns, kept, others, lines.notes)))
        return found

    def _columns(
        self, header: Sequence[str], rows: Iterator[tuple[int, Sequence[Any]]], roles: Sequence[Roles], lines: Lines
    ) -> tuple[dict[str, _Column], dict[str, Coder]]:
        """Read the rows that are meant: the columns that hold numbers, and codes for what the others hold."""
        place = f"{self.name}, {lines.word}"
        conditions = self.selection.conditions(header, roles[0].sizes)
        tested = [(condition, header.index(condition.column)) for condition in conditions]
        values = {one.value for one in roles}
        columns = {
            column: _Column(check, ColumnReader(place, column, column in values))
            for one in roles
            for column, check in one.checks.items()
        }
        coders = {column: Coder() for column in header if column not in columns or column in self.selection.by}
        total, kept = 0, 0
        for chunk in chunks(rows):
            total += len(chunk)
            if tested:
                chunk = [(line, row) for line, row in chunk if all(condition.holds(row[j]) for condition, j in tested)]
            kept += len(chunk)
            numbers = [line for line, _ in chunk]
            for column, read in columns.items() if chunk else ():
                j = header.index(column)
                read.add([row[j] for _, row in chunk], numbers, f"{self.name}, column {column!r}, {lines.word}")
            for column, coder in coders.items():
                j = header.index(column)
                coder.add(row[j] for _, row in chunk)
        if any(read.commas for read in columns.values()):
            for column, read in columns.items():
                if read.doubtful:
                    raise TableError(
                        f"{self.name}, column {column!r}: {read.doubtful!r} may be {read.doubtful.replace('.', '')} or "
                        f"{float(read.doubtful):g}, as decimals follow commas elsewhere: write all numbers with decimal points"
                    )
        asked = " and ".join(map(str, conditions))
        if not total:
            raise TableError(f"{self.name} has a header and no row: add a line for each measurement")
        if not kept:
            raise TableError(f"{self.name}: none of {total} rows meets {asked}: see which values the columns hold")
        if conditions:
            lines.notes.append(f"{kept} of {total} rows: {asked}")
        return columns, coders

    def _measured(
        self,
        roles: Roles,
        columns: Mapping[str, _Column],
        kept: NDArray[np.intp],
        others: Mapping[str, Codes],
        notes: Sequence[str],
    ) -> Measurements:
        def column(name: str) -> Array:
            return columns[name].numbers[kept]

        value = columns[roles.value]
        sizes = {name: column(given) for name, given in roles.sizes.items()}
        given = [found for found in (roles.stderr, roles.interval, roles.std) if found is not None]
        if value.errors is not None and given:
            raise TableError(
                f"{self.name}: column {roles.value!r} has its errors in its cells, and another column is to hold them: drop one"
            )
        stderr, dof, said = errors_of(roles, column, self.name)
        if value.errors is not None:
            stderr = value.errors[kept]
        rounding = None
        if self.digits is None:
            rounding = value.rounding[kept]
        elif self.digits != "exact":
            rounding = significant(column(roles.value), int(self.digits))
        numbering = check_replicates(sizes, others, self.selection.replicate, source=self.name)
        replicated = [f"rows of equal sizes are replicates, numbered by {name!r}" for name in numbering]
        read = [note for name in roles.columns for note in columns[name].notes]
        unused = [note for note in roles.notes if not any(note == f"column {name!r} is not used" for name in numbering)]
        return Measurements(
            sizes, column(roles.value), stderr, roles.value, (*notes, *read, *said, *replicated, *unused), rounding, dof
        )


class _Column:
    """The numbers of one column, read chunk by chunk; ``check`` refuses those that it cannot hold."""

    def __init__(self, check: Check, reader: ColumnReader) -> None:
        self._check, self._reader = check, reader
        self._numbers: list[NDArray[Any]] = []
        self._errors: list[Array] = []

    def add(self, cells: Sequence[Any], lines: Sequence[int], place: str) -> None:
        """Read a chunk of cells."""
        numbers, errors = self._reader.read(cells, lines)
        kept: NDArray[Any] = in_full(numbers, cells) if self._check is check_sizes else numbers
        self._check(kept, lines, place)
        self._numbers.append(kept)
        if errors is not None:
            check_stderr(errors, lines, place)
            self._errors.append(errors)

    @cached_property
    def numbers(self) -> NDArray[Any]:
        return np.concatenate(self._numbers)

    @cached_property
    def errors(self) -> Array | None:
        return np.concatenate(self._errors) if self._errors else None

    @cached_property
    def rounding(self) -> Array:
        return self._reader.rounding(self.numbers)

    @property
    def notes(self) -> tuple[str, ...]:
        return self._reader.notes

    @property
    def commas(self) -> bool:
        return self._reader.commas

    @property
    def doubtful(self) -> str:
        return self._reader.doubtful


def errors_of(roles: Roles, column: Callable[[str], Array], source: str) -> tuple[Array | None, Array | None, tuple[str, ...]]:
    """Return standard errors by the roles of columns, their degrees of freedom, and what is to be said of them.

    Of an interval at a level the wider side counts; of a standard deviation over k replicates std/sqrt(k), of k - 1 degrees.

    >>> columns = {"v": np.array([1.0]), "ci_low": np.array([0.804]), "ci_high": np.array([1.392])}
    >>> roles = choose_columns(["d", *columns], value="v", needed=["d"])
    >>> errors_of(roles, columns.__getitem__, "t.csv")[0].round(3).tolist()
    [0.2]
    """
    if isinstance(roles.stderr, str):
        return column(roles.stderr), None, ()
    if roles.stderr is not None:
        return np.full(len(column(roles.value)), float(roles.stderr)), None, ()
    if roles.interval is not None:
        values, low, high = column(roles.value), column(roles.interval[0]), column(roles.interval[1])
        below, above = values - low, high - values
        bad = np.flatnonzero((below < 0) | (above < 0))
        if len(bad):
            i = int(bad[0])
            raise TableError(f"{source}: the value {values[i]:g} does not lie in its interval, {low[i]:g} to {high[i]:g}")
        said = f"standard errors are those of the intervals {roles.interval[0]} to {roles.interval[1]} at level {roles.level:g}"
        if (np.abs(above - below) > ASYMMETRY * (above + below)).any():
            said += ", whose wider side counts where the two differ"
        return np.maximum(below, above) / NormalDist().inv_cdf(0.5 + roles.level / 2), None, (said,)
    if roles.std is not None:
        std, count = column(roles.std[0]), column(roles.std[1])
        bad = np.flatnonzero((count < 2) | (count != np.floor(count)))
        if len(bad):
            raise TableError(f"{source}: a count of replicates must be a whole number from 2 on, got {count[bad[0]]:g}")
        return std / np.sqrt(count), count - 1, (f"standard errors are {roles.std[0]}/sqrt({roles.std[1]})",)
    return None, None, ()


# -- numbers -------------------------------------------------------------------------------------------------------------------


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
    """Raise TableError at the first size that is no number of the numeric domain; it lies at ``place`` and its line.

    Only a geometric rate has the size 0 (:func:`theoryck.auditing.directions.check_levels`).
    """
    bad = np.flatnonzero(~((numbers >= LEAST) & (numbers <= LARGEST)) & (numbers != 0))
    if len(bad):
        where, number = f"{place} {lines[int(bad[0])]}", float(numbers[bad[0]])
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
