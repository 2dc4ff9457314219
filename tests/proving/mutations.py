"""Records of certificates with one field changed: numbers made better and worse, retyped, swapped, missing, unknown.

``python -m tests.proving.mutations [FILE ...]`` tries every change of every sample and prints those that are not refused.
"""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Iterator
from decimal import Decimal, localcontext
from pathlib import Path
from typing import Any

import pytest

from theoryck.proving.checker import Refused, check, norms
from theoryck.proving.checker.expectations import Activation

SAMPLES = Path(__file__).parents[1] / "data" / "certificates"
NO_BOUNDS = {"cells"}  # say where inequalities were proved: another choice is as true
STRANGE = (None, True, [], {}, "", "nan", "inf", "-1", "1e", "0", "0x1", "1_0", " 1", "１", float("nan"), float("inf"), 10**400)


def leaves(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every place of a record that is no object and no list, with its value."""
    inside = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, each in inside:
        yield from leaves(each, (*path, key))
    if not isinstance(data, dict | list):
        yield path, data


def changed(record: Any, path: tuple[Any, ...], change: Any) -> Any:
    """A copy of the record in which ``change`` was done to what lies at a place: a function of what holds it, and the key."""
    found = copy.deepcopy(record)
    holder = found
    for key in path[:-1]:
        holder = holder[key]
    change(holder, path[-1])
    return found


def put(new: Any) -> Any:
    """Write another value."""
    return lambda holder, key: holder.__setitem__(key, new)


def is_number(value: Any) -> bool:
    """Whether it is a number as decimal digits."""
    return isinstance(value, str) and value[:1].isdigit() and value.replace(".", "").replace("e", "").replace("-", "").isdigit()


def scaled(record: Any) -> Iterator[tuple[str, Any]]:
    """Every number, one at a time, 1% smaller and 1% larger; counts one smaller and one larger."""
    for path, old in leaves(record):
        if NO_BOUNDS & {*path}:
            continue
        name = ".".join(map(str, path))
        if is_number(old):
            if Decimal(old) == 0:  # 1% of which is nothing
                yield f"{name} = 0.001", changed(record, path, put("0.001"))
                continue
            with localcontext(prec=50):
                for factor in ("0.99", "1.01"):
                    yield f"{name} * {factor}", changed(record, path, put(format(Decimal(old) * Decimal(factor), "f")))
        elif type(old) is int:
            for new in {old - 1, old + 1, old - old // 100, old + old // 100} - {old}:
                yield f"{name} = {new}", changed(record, path, put(new))


def spoiled(record: Any) -> Iterator[tuple[str, Any]]:
    """Every field retyped, removed, or beside one that is not known; neighbours in lists swapped, lists cut and prolonged."""
    for path, old in leaves(record):
        name = ".".join(map(str, path))
        retyped = [float(old)] if isinstance(old, int) else [old + "~", [old], *([float(old)] if is_number(old) else [])]
        for new in (*retyped, str(old) if isinstance(old, int) else int(float(old)) if is_number(old) else 0, *STRANGE):
            if type(new) is not type(old) or new != old:
                yield f"{name} = {new!r:.40}", changed(record, path, put(new))
        yield f"{name} removed", changed(record, path, lambda holder, key: holder.pop(key))
        if isinstance(path[-1], str):
            yield f"unknown beside {name}", changed(record, path, lambda holder, key: holder.__setitem__(key + "s", holder[key]))
        elif path[-1] > 0:
            if changed(record, path, swap) != record:
                yield f"{name} swapped with the one before", changed(record, path, swap)
            yield f"{name} repeated", changed(record, path, lambda holder, key: holder.append(holder[key]))


def swap(holder: Any, key: int) -> None:
    """Exchange an item with the one before."""
    holder[key - 1 : key + 1] = holder[key], holder[key - 1]


def accepted(changes: Iterator[tuple[str, Any]]) -> tuple[int, list[str]]:
    """How many changed records there are, and the names of those that the checker does not refuse.

    What the checker works out of an activation alone, most of its time, is the same for all records that have it.
    """
    count, names = 0, []
    known: list[tuple[Any, list[Any], Activation]] = []

    def once(tree: Any, *bounds: Any) -> Activation:
        ends = [end for bound in bounds for end in (bound.mid(), bound.rad())]  # which are exact: other balls equal nothing
        for other, others, found in known:
            if other == tree and others == ends:
                return found
        known.append((tree, ends, Activation(tree, *bounds)))
        return known[-1][2]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(norms, "Activation", once)
        for name, record in changes:
            count += 1
            try:
                check(record)
            except Refused:
                continue
            names.append(name)
    return count, names


if __name__ == "__main__":
    for path in map(Path, sys.argv[1:]) if sys.argv[1:] else sorted(SAMPLES.glob("*.json")):
        sample = json.loads(path.read_text(encoding="utf-8"))
        print(path.name, check(sample), *(accepted(each(sample)) for each in (scaled, spoiled)), flush=True)
