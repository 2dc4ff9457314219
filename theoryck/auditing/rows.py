"""The rows of a table: what a stream of text holds, as a header and rows of cells that have not been read as numbers yet.

CSV separated by commas, semicolons, tabs or blanks, tables in Markdown, and JSON, one object a line or all in one array.
"""

from __future__ import annotations

import csv
import itertools
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TextIO

from theoryck.auditing.cells import TableError, is_number
from theoryck.auditing.selecting import listed

CHUNK = 65_536  # rows held as text at a time
_RULE = re.compile(r"[\s|+:=\-─━═│┃║┼╪╬╋┬┴├┤┌┐└┘╔╗╚╝╟╢]+")  # a line of a frame, under a header or around a table
_BARS = re.compile(r"[│┃║]")
_BETWEEN = re.compile(r"\s*(±|\+/-|\+-|\\pm)\s*")


class Lines:
    """The lines of a stream without comments, and the number of the last one given, as an editor counts them."""

    def __init__(self, stream: TextIO, note: str = "") -> None:
        self._stream = iter(stream)
        self._ahead: str | None = None
        self.number = 0
        self.comment = ""
        self.word = "line"
        self.notes = [note] if note else []

    def peek(self) -> str | None:
        """Return the first line that is neither empty nor a comment, without consuming it; None at the end."""
        while self._ahead is None:
            line = next(self._stream, None)
            if line is None:
                return None
            self.number += 1
            if "0" <= line[:1] <= "9":  # most lines are rows of numbers
                self._ahead = line
            elif line.lstrip().startswith(("#", "%")):
                self.comment = line.strip()
            elif line.strip() and not (_RULE.match(line) and _is_rule(line)):
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


def _is_rule(line: str) -> bool:
    return bool(_RULE.fullmatch(line.strip())) and bool(re.search("--|──|━━|══|==|\\|:?-:?\\|", line))


def separator_of(lines: Lines) -> str:
    """Return what separates the cells of the first line; spreadsheets may say it in a line of its own."""
    line = lines.peek() or ""
    said = re.fullmatch(r'"?sep=(.)"?', line.strip())
    if said:
        next(lines)
        return said.group(1)
    if line.strip().startswith("|"):
        return "|"
    if "&" in line and line.rstrip().endswith("\\"):
        return "&"
    counts = {separator: line.count(separator) for separator in "\t;,|"}
    best = max(counts, key=lambda separator: counts[separator])
    return best if counts[best] else " " if len(line.split()) > 1 else ","


def _cells(lines: Lines, separator: str) -> Iterable[list[str]]:
    if separator == " ":  # a value and its error are one cell
        return (_BETWEEN.sub(r"\1", _BARS.sub(" ", line)).split() for line in lines)
    if separator == "|":
        return _between_bars(lines)
    if separator == "&":  # a row of LaTeX ends with two backslashes; lines without cells are its frame
        return (line.rsplit("\\\\", 1)[0].split("&") for line in lines if "&" in line)
    return csv.reader(lines, delimiter=separator, strict=True)


def _between_bars(lines: Lines) -> Iterator[list[str]]:
    """Split lines at bars, which may stand at their ends too: a row has the cells of the header, of which the last may be empty."""
    width = 0
    for line in lines:
        text = line.strip()
        cells = text.removeprefix("|").split("|")
        if text.endswith("|") and (not width or len(cells) > width):
            cells.pop()
        width = width or len(cells)
        yield cells


def separated_rows(
    lines: Lines, name: str, separator: str, names: Sequence[str] = ()
) -> tuple[list[str], Iterator[tuple[int, Sequence[Any]]]]:
    """Return the header, and the rows with their lines; TableError at the first row of another length.

    ``names`` are those of the columns of a table without a header.
    """
    found = _guarded(iter(_cells(lines, separator)), lines, name)
    number, cells = next(found)
    header = [cell.strip().strip("*`$") for cell in cells]
    if names and not all(is_number(cell) for cell in header):
        raise TableError(f"{name}, line {number}: the table names its columns itself ({listed(header)}): leave out --columns")
    commented = list(names) or _commented_header(header, separator, lines)
    if commented:
        found, header = itertools.chain([(number, cells)], found), commented
    _check_header(header, name, number, lines.comment)
    if not header[0]:
        lines.notes.append("the first column has no name and is not used")

    def rows() -> Iterator[tuple[int, Sequence[Any]]]:
        units = not commented
        for line, row in found:
            if units and not any(re.match(r"[+-]?\.?\d", cell.strip()) for cell in row):
                lines.notes.append(f"line {line} holds units or types, not numbers: {listed([cell.strip() for cell in row])}")
                units = False
                continue
            units = False
            if len(row) != len(header):
                cells = "1 cell" if len(row) == 1 else f"{len(row)} cells"
                raise TableError(
                    f"{name}, line {line}: {cells} under a header of {len(header)} ({listed(header)}): "
                    f"{listed(row)}{_ragged_hint(row, header, separator)}"
                )
            yield line, row

    return header, rows()


def _commented_header(first: Sequence[str], separator: str, lines: Lines) -> list[str]:
    """Return the names of columns from the comment above a table of numbers; empty if it holds no such."""
    text = lines.comment.lstrip("#%").strip()
    if not text or not all(is_number(cell) for cell in first):
        return []
    names = [name.strip() for name in (text.split() if separator == " " else text.split(separator))]
    if len(names) != len(first) or len(set(names)) < len(names) or any(not name or is_number(name) for name in names):
        return []
    lines.notes.append(f"the columns are named by the comment {lines.comment!r}")
    return names


def _ragged_hint(row: Sequence[str], header: Sequence[str], separator: str) -> str:
    if separator == "," and len(row) > len(header):
        return "; write numbers without thousands separators or decimal commas, or separate cells by semicolons"
    if separator == " " and len(row) > len(header):
        return "; give every column a name, without blanks in it"
    return "; fill in the missing cell" if len(row) < len(header) else ""


def _guarded(rows: Iterator[list[str]], lines: Lines, name: str) -> Iterator[tuple[int, list[str]]]:
    while True:
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            raise TableError(f"{name}, line {lines.number}: {error}; check the quotation marks on this line") from None
        yield lines.number, row


def _check_header(header: Sequence[str], name: str, line: int, comment: str) -> None:
    if all(is_number(cell) for cell in header):
        hint = f"; if {comment!r} names them, remove its #" if comment else ""
        raise TableError(
            f"{name}, line {line}: the first row holds numbers ({listed(header)}): put a line above it that names the columns, "
            f"such as d,value,stderr, or name them with --columns{hint}"
        )
    for index, column in enumerate(header):
        if not column and index:  # the first is the index that some programs write
            raise TableError(f"{name}, line {line}: a column of the header has no name ({listed(header)}): give every column one")
        if list(header).count(column) > 1:
            raise TableError(f"{name}, line {line}: two columns are called {column!r}: rename one of them")


def json_rows(lines: Lines, name: str) -> tuple[list[str], Iterator[tuple[int, Sequence[Any]]]]:
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
                    f"{name}, {lines.word} {line}: the key {new[0]!r} is not in the first object ({listed(header)}): "
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


def _json_lines(lines: Lines, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
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


def _json_array(lines: Lines, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
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


def chunks(rows: Iterator[tuple[int, Sequence[Any]]]) -> Iterator[list[tuple[int, Sequence[Any]]]]:
    """Return the rows by thousands, so that no more of them are held as text."""
    chunk: list[tuple[int, Sequence[Any]]] = []
    for row in rows:
        chunk.append(row)
        if len(chunk) == CHUNK:
            yield chunk
            chunk = []
    if chunk:
        yield chunk
