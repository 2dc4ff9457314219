"""Records as plain JSON data, field by field: the dataclass is the format."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from decimal import Decimal
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Self, Union, get_args, get_origin, get_type_hints

SPARE = {"spare": True}


class Record:
    """A frozen dataclass that is written as a JSON object, a key for each field, and read back.

    Floats that JSON lacks travel as the strings "inf", "-inf" and "nan", decimal numbers as strings.  The metadata of a field may
    have ``key``, its name in JSON; SPARE, left out where it has its default; ``beside``, the name of another field
    without which it is left out.  What is absent is read as the default.
    """

    __slots__ = ()

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready dict that follows the published schema."""
        return written(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Inverse of :meth:`to_json`."""
        found: Self = read_fields(cls, data)
        return found


def written(record: Any) -> dict[str, Any]:
    """Return the fields of a record as JSON data."""
    found = {}
    for each in fields(record):
        value = getattr(record, each.name)
        beside = each.metadata.get("beside")
        if (beside and not getattr(record, beside)) or (each.metadata.get("spare") and value == _default(each)):
            continue
        found[each.metadata.get("key", each.name)] = plain(value)
    return found


def plain(value: Any) -> Any:
    """Return a value of a record as JSON data.

    >>> plain((1.5, math.inf, None, Decimal("0.10")))
    [1.5, 'inf', None, '0.10']
    """
    match value:
        case float():
            return value if math.isfinite(value) else repr(float(value))
        case Record():
            return value.to_json()
        case Enum():
            return value.value
        case Decimal():
            return str(value)
        case tuple() | list():
            return [plain(item) for item in value]
        case Mapping():
            return {name: plain(item) for name, item in value.items()}
    return value


def read_fields(cls: type, data: Mapping[str, Any]) -> Any:
    """Return the record of a class that JSON data describe; keys that are no field are passed over."""
    hints = _hints(cls)
    keys = {each.name: each.metadata.get("key", each.name) for each in fields(cls)}
    return cls(**{name: _read(hints[name], data[key]) for name, key in keys.items() if key in data})


def _read(kind: Any, value: Any) -> Any:
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        if set(parts) == {int, float}:  # a size, which stays the number that it is
            return value
        return None if value is None else _read(next(part for part in parts if part is not NoneType), value)
    if origin is tuple:
        return tuple(_read(parts[0], item) for item in value)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {str(name): _read(parts[1], item) for name, item in value.items()}
    if kind is Any:
        return value
    return kind.from_json(value) if issubclass(kind, Record) else kind(value)


def _default(each: Field[Any]) -> Any:
    return each.default if each.default_factory is MISSING else each.default_factory()


@cache
def _hints(cls: type) -> dict[str, Any]:
    return get_type_hints(cls)
