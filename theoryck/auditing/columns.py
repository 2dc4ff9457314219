"""Columns given from Python (arrays, lists, a DataFrame) as checked measurements; errors name the column and the row."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from theoryck.auditing.cells import CENSORED, Array, TableError, significant
from theoryck.auditing.selecting import check_replicates
from theoryck.auditing.tables import (
    Measurements,
    check_digits,
    check_sizes,
    check_stderr,
    check_values,
    choose_columns,
    errors_of,
    in_full,
)


def measurements(
    sizes: Any,
    values: Any = None,
    stderr: Any = None,
    *,
    size: Sequence[str] = (),
    needed: Sequence[str] = (),
    digits: int | str | None = None,
    replicate: Sequence[str] = (),
) -> Measurements:
    """Return the columns of ``{"d": [...]}`` with ``values``, or those that are chosen from a DataFrame or a mapping of columns.

    In a DataFrame ``values`` and ``stderr`` are names of columns; the rules for what is not named are those of
    :func:`theoryck.auditing.tables.choose_columns`.  ``stderr`` may be one number for all rows.  ``digits`` says to how many
    significant digits the values were rounded, and ``replicate`` which columns number repetitions.  Raises TableError.
    """
    check_digits(digits)
    found, header, used = _measurements(sizes, values, stderr, size, needed)
    if digits is not None and digits != "exact":
        found = replace(found, rounding=significant(found.values, int(digits)))
    missing = [name for name in replicate if name not in header]
    if missing:
        raise TableError(f"replicate names the column {missing[0]!r}, which is not there: the columns are {', '.join(header)}")
    others = {name: np.unique(np.asarray(sizes[name]).astype(str), return_inverse=True)[1] for name in header if name not in used}
    check_replicates(found.sizes, others, replicate, source="the data", command=False)
    return found


def over(measured: Measurements, other: Measurements) -> Measurements:
    """Return the values of ``measured`` over those of ``other`` in the same rows, with the errors of both: a rate against a rate.

    Relative errors add in quadrature, half units of last digits add.  Raises TableError for a value of 0 in ``other``.
    """
    zero = np.flatnonzero(other.values == 0)
    if len(zero):
        raise TableError(f"column {other.value_name!r}, entry {zero[0]}: a value that others are compared with must not be 0")
    below = np.abs(other.values)
    ratio = measured.values / other.values
    stderr, rounding = measured.stderr, measured.rounding
    if stderr is not None:
        stderr = np.hypot(stderr, ratio * (0.0 if other.stderr is None else other.stderr)) / below
    if rounding is not None or other.rounding is not None:
        own, theirs = (0.0 if each is None else each for each in (rounding, other.rounding))
        rounding = (own + np.abs(ratio) * theirs) / below
    name = f"{measured.value_name}/{other.value_name if other.value_name != measured.value_name else 'against'}"
    return replace(measured, values=ratio, stderr=stderr, rounding=rounding, value_name=name)


def _measurements(
    sizes: Any, values: Any, stderr: Any, size: Sequence[str], needed: Sequence[str]
) -> tuple[Measurements, list[str], set[str]]:
    """Return the measurements, the names of all columns, and of those that were used."""
    if not (isinstance(sizes, Mapping) or (hasattr(sizes, "columns") and hasattr(sizes, "__getitem__"))):
        raise TableError(
            f'sizes must be a mapping such as {{"d": [16, 32, 64]}}, or a DataFrame with a column for each size, '
            f"got {type(sizes).__name__}"
        )
    header = [str(name) for name in (sizes if isinstance(sizes, Mapping) else sizes.columns)]
    if not header:
        raise TableError('sizes has no column: give each size by name, such as {"d": [16, 32, 64]}')
    if values is None or isinstance(values, str):
        chosen, used = _chosen(sizes, header, values, stderr, size, needed)
        return chosen, header, used
    if isinstance(size, str):
        raise TableError(f"size must be a sequence of names, got the text {size!r}: write [{size!r}]")
    names = list(dict.fromkeys(size)) or (header if isinstance(sizes, Mapping) or not needed else list(needed))
    missing = [name for name in [*names, *needed] if name not in header]
    if missing:
        raise TableError(f"sizes has no {missing[0]!r}, only {', '.join(map(repr, header))}: add it, or name it as the rate does")
    where = "sizes[{0!r}]" if isinstance(sizes, Mapping) else "column {0!r}"
    columns = {name: in_full(column(where.format(name), sizes[name]), sizes[name]) for name in names}
    found = _checked(columns, where, column("values", values), _errors("stderr", stderr), "value", "values", "stderr")
    return found, header, set(names)


def _chosen(
    frame: Any, header: Sequence[str], value: str | None, stderr: Any, size: Sequence[str], needed: Sequence[str]
) -> tuple[Measurements, set[str]]:
    if stderr is not None and not isinstance(stderr, str | float | int):
        raise TableError(f"stderr must be the name of a column or a number, as values is a column too, got {type(stderr).__name__}")
    roles = choose_columns(header, size=size, value=value, stderr=stderr, needed=needed, source="the data")
    read = {name: column(f"column {name!r}", frame[name]) for name in roles.columns}
    columns = {name: in_full(read[given], frame[given]) for name, given in roles.sizes.items()}
    found_errors, dof, said = errors_of(roles, read.__getitem__, "the data")
    errors: Any = roles.stderr if isinstance(roles.stderr, float | int) else found_errors
    label = f"column {roles.stderr!r}" if isinstance(roles.stderr, str) else "stderr"
    notes, where = (*said, *roles.notes), f"column {roles.value!r}"
    found = _checked(columns, "column {0!r}", read[roles.value], errors, roles.value, where, label, notes)
    return replace(found, dof=dof), set(roles.columns)


def _errors(name: str, stderr: Any) -> Any:
    return stderr if stderr is None or isinstance(stderr, float | int) else column(name, stderr)


def _checked(
    sizes: dict[str, Array],
    where: str,
    values: Array,
    stderr: Any,
    value_name: str,
    value_label: str,
    stderr_label: str,
    notes: tuple[str, ...] = (),
) -> Measurements:
    if not len(values):
        raise TableError(f"{value_label} is empty: there is nothing to audit")
    errors = stderr
    if isinstance(stderr, float | int):
        if isinstance(stderr, bool) or not (math.isfinite(stderr) and stderr >= 0):
            raise TableError(f"stderr must be >= 0 (0 means exact), got {stderr!r}")
        errors = np.full(len(values), float(stderr))
    for name, found in (*((where.format(name), found) for name, found in sizes.items()), (stderr_label, errors)):
        if found is not None and len(found) != len(values):
            raise TableError(f"{name} has {len(found)} entries and {value_label} {len(values)}: give one of each for every row")
    for name, found in sizes.items():
        check_sizes(found, range(len(found)), f"{where.format(name)}, entry")
    check_values(values, range(len(values)), f"{value_label}, entry")
    if errors is not None:
        check_stderr(errors, range(len(errors)), f"{stderr_label}, entry")
    return Measurements(sizes, values, errors, value_name, notes)


def column(name: str, data: Any) -> Array:
    """Return one column (rows,) as finite floats; TableError names the entry that is none.

    >>> column("values", [1, 2])
    array([1., 2.])
    >>> column("values", [1, float("nan")])
    Traceback (most recent call last):
    theoryck.auditing.cells.TableError: values, entry 1: nan is not finite: correct or remove the row
    """
    if np.ma.isMaskedArray(data) and np.ma.getmaskarray(data).any():
        index = int(np.flatnonzero(np.ma.getmaskarray(data))[0])
        raise TableError(f"{name}, entry {index}: masked: fill it in or remove the row")
    try:
        given = np.asarray(data)
    except ValueError:  # rows of different lengths
        raise TableError(f"{name} must be a column of numbers, got {type(data).__name__} of entries of different lengths") from None
    if given.ndim != 1:
        raise TableError(f"{name} must be one-dimensional (a number for each row), got shape {given.shape}")
    if isinstance(data, list | tuple):  # an array of text, or of ones and zeros, no longer says which entry was none
        for i, item in enumerate(data):
            if isinstance(item, str | bytes | bool | np.bool_) and given.dtype.kind != "b":
                raise TableError(f"{name}, entry {i}: {item!r} is not a number: correct or remove the row")
    if given.dtype.kind not in "iufO":
        raise TableError(f"{name} must be numbers, got {given.dtype.name} such as {given[:1].tolist()}: convert it first")
    numbers = _converted(name, given) if given.dtype.kind == "O" or given.dtype.itemsize > 8 else given.astype(np.float64)
    bad = np.flatnonzero(~np.isfinite(numbers))
    if len(bad):
        hint = CENSORED if np.isinf(numbers[bad[0]]) else ""
        raise TableError(f"{name}, entry {bad[0]}: {numbers[bad[0]]} is not finite: correct or remove the row{hint}")
    return numbers


def _converted(name: str, given: Any) -> Array:
    """Convert Python objects and numbers longer than floats one by one, so that what no float holds is seen."""
    numbers = np.empty(len(given))
    for i, item in enumerate(given.tolist() if given.dtype.kind == "O" else given):
        try:
            numbers[i] = float(item) if not isinstance(item, str | bytes | bool | np.bool_) else _refuse(item)
        except OverflowError:
            numbers[i] = math.inf
        except (TypeError, ValueError):
            raise TableError(f"{name}, entry {i}: {item!r} is not a number: correct or remove the row") from None
        if (numbers[i] == 0 and item != 0) or (math.isinf(numbers[i]) and item - item == 0):
            raise TableError(f"{name}, entry {i}: {item!s:.60} fits no float: rescale the column")
    return numbers


def _refuse(item: Any) -> float:
    raise TypeError(f"{item!r} is not a number")
