"""Which rows of a table are meant, and which of them belong together: conditions, groups, and what counts as a replicate.

Rows of equal sizes are replicates only if nothing else in the table tells them apart.  A column that is not used, takes few values
and differs between such rows is a factor of the design (a method, a degree): averaging over it would be a guess, so it is refused
with what to do.  Columns that number repetitions (seed, trial, fold, ...) or are declared to do so are none.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from theoryck.auditing.cells import Array, TableError

Codes = NDArray[np.int64]

REPLICATE_NAMES = {"seed", "rep", "reps", "repeat", "replicate", "replica", "trial", "run", "run_id", "fold", "draw"}
MOST_SHOWN = 6

_CONDITION = re.compile(r"(.+?)(<=|>=|!=|==|=|<|>)(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Condition:
    """``column relation text``; numbers are compared as numbers, whatever their writing, and all else as text.

    >>> Condition.parse("k=1", ["d", "k"]).holds("1.0"), Condition.parse("method != heun", ["method"]).holds("euler")
    (True, True)
    """

    column: str
    relation: str
    text: str

    @classmethod
    def parse(cls, text: str, header: Sequence[str]) -> Condition:
        """Return a condition such as ``k=1``, ``k!=1``, ``k<3``, ``k>=2``; TableError says what is wrong with it."""
        found = _CONDITION.fullmatch(text.strip())
        if found is None or not found.group(3).strip():
            raise TableError(f"where must be a condition such as k=1, k!=1, k<3 or k>=2, got {text!r}")
        column, relation, value = (part.strip() for part in found.groups())
        if column not in header:
            raise TableError(f"where {text!r}: there is no column {column!r}: the columns are {listed(header)}")
        relation = "=" if relation == "==" else relation
        if relation in ("<", ">", "<=", ">=") and _number(value) is None:
            raise TableError(f"where {text!r}: {value!r} is not a number, and text has no order: use = or !=")
        return cls(column, relation, value.strip("\"'"))

    def holds(self, cell: object) -> bool:
        """Whether a cell meets it; a cell without a number lies on no side of one."""
        shown = "" if cell is None else str(cell).strip()
        left, right = _number(shown), _number(self.text)
        if left is None or right is None:
            return (shown == self.text) == (self.relation == "=") if self.relation in ("=", "!=") else False
        sides = {"=": left == right, "!=": left != right, "<": left < right, ">": left > right}
        return {**sides, "<=": left <= right, ">=": left >= right}[self.relation]

    def __str__(self) -> str:
        return f"{self.column} {self.relation} {self.text}"


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class Selection:
    """What was asked for: rows that meet all conditions of ``where``, sizes ``first..last``, a verdict for each value of ``by``."""

    where: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    replicate: tuple[str, ...] = ()

    def conditions(self, header: Sequence[str], sizes: Mapping[str, str]) -> list[Condition]:
        """Return all conditions on rows; those on a size name its column."""
        found = [Condition.parse(text, header) for text in self.where]
        for option, relation, texts in (("from", ">=", self.first), ("to", "<=", self.last)):
            for text in texts:
                name, equals, number = text.rpartition("=")
                if not equals and len(sizes) > 1:
                    raise TableError(
                        f"--{option} {text}: there are several sizes ({', '.join(sizes)}): write --{option} NAME={text}"
                    )
                name = name or next(iter(sizes))
                if name not in sizes or _number(number) is None:
                    raise TableError(f"--{option} must be a number, or NAME=number of a size ({', '.join(sizes)}), got {text!r}")
                found.append(Condition(sizes[name], relation, number))
        for option, names in (("by", self.by), ("replicate", self.replicate)):
            for column in names:
                if column not in header:
                    raise TableError(f"--{option} {column}: there is no such column: the columns are {listed(header)}")
        return found

    def columns(self, header: Sequence[str]) -> list[str]:
        """Return the columns that select, group or number rows."""
        return [*(Condition.parse(text, header).column for text in self.where), *self.by, *self.replicate]


class Coder:
    """Codes for the cells of one column: equal text has equal codes."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self._parts: list[Codes] = []

    def add(self, cells: Iterable[object]) -> None:
        """Add the cells of a chunk."""
        codes = self._codes
        self._parts.append(np.array([codes.setdefault(_text(cell), len(codes)) for cell in cells], dtype=np.int64))

    @property
    def texts(self) -> list[str]:
        """The text of every code."""
        return list(self._codes)

    @property
    def codes(self) -> Codes:
        """One code a row."""
        return np.concatenate(self._parts) if self._parts else np.empty(0, dtype=np.int64)


def _text(cell: object) -> str:
    return cell.strip() if type(cell) is str else str(cell)


def groups(coders: Mapping[str, Coder]) -> list[tuple[dict[str, str], NDArray[np.intp]]]:
    """Return the rows of every combination of values that occurs, in the order of the table."""
    if not coders:
        return [({}, np.arange(0))]
    table = np.stack([coder.codes for coder in coders.values()])
    kinds, first, inverse = np.unique(table, axis=1, return_index=True, return_inverse=True)
    inverse = inverse.reshape(-1)
    texts = [coder.texts for coder in coders.values()]
    return [
        ({name: text[code] for name, text, code in zip(coders, texts, kinds[:, j])}, np.flatnonzero(inverse == j))
        for j in np.argsort(first)
    ]


def check_replicates(
    sizes: Mapping[str, Array], others: Mapping[str, Codes], declared: Sequence[str] = (), *, source: str, command: bool = True
) -> tuple[str, ...]:
    """Raise TableError where rows of equal sizes differ in a factor of the design; return the columns that number replicates.

    ``others`` are the columns that are not used; the remedy is said as options of the command, or as arguments.

    >>> check_replicates({"d": np.array([16.0, 16.0])}, {"seed": np.array([0, 1])}, source="t.csv")
    ('seed',)
    """
    columns = [np.unique(column, return_inverse=True)[1] for column in sizes.values()]
    if not columns or not len(columns[0]):
        return ()
    place = functools.reduce(_joined, columns)
    count, rows = int(place.max()) + 1, len(place)
    if count == rows:
        return ()
    differing = {name: codes for name, codes in others.items() if int(_joined(place, codes).max()) + 1 > count}
    repeated = [name for name in differing if name in declared or name.lower() in REPLICATE_NAMES]
    key = place
    for name in repeated:
        key = _joined(key, differing[name])
    if int(key.max()) + 1 == rows:  # every row is one repetition of one size, and what else it says is said of that
        return tuple(repeated)
    for name, codes in differing.items():
        # A factor takes few values, each at many sizes; what was measured besides takes about as many as there are rows.
        if name not in repeated and len(np.unique(codes)) * count <= 2 * rows:
            remedy = f"choose rows of one {name}, or say that it numbers repetitions: replicate=[{name!r}]"
            if command:
                remedy = (
                    f"choose some (--where {name}=...), judge each (--by {name}), or say that it numbers repetitions "
                    f"(--replicate {name})"
                )
            raise TableError(
                f"{source}: rows of equal sizes differ in the column {name!r}, which is not used: they are no replicates; {remedy}"
            )
    return tuple(repeated)


def _joined(first: Codes, second: Codes) -> Codes:
    """Return codes of the pairs that occur, from 0 upwards without gaps."""
    return np.unique(first * (int(second.max()) + 1) + second, return_inverse=True)[1]


def listed(names: Sequence[str]) -> str:
    """Write names in quotation marks, the first of many."""
    shown = [repr(name) for name in names[: 2 * MOST_SHOWN]]
    return ", ".join([*shown, "..."] if len(names) > 2 * MOST_SHOWN else shown)
