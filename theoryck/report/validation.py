"""Checks data against the published schema before records are made of it, so that what renders records may rely on their types.

The schema is the one source of truth; this reads the part of JSON Schema (draft 2020-12) that it uses, and says what is wrong in a
sentence with the place.  What a schema cannot say (that lengths fit each other) is checked after it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from theoryck.records.values import Enclosure

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

Schema = Mapping[str, Any]
Place = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """The first thing that is wrong with data: where it is, and what, as in "'d' must be a whole number >= 1, got 0"."""

    place: Place
    what: str

    def __str__(self) -> str:
        where = ""
        for part in self.place:
            where += f"[{part}]" if isinstance(part, int) else f".{part}" if where else part
        return f"{where}: {self.what}" if where else self.what


def problem(data: Any, schema: Schema) -> Problem | None:
    """Return what is wrong with the data of a report, or None where nothing is.

    >>> from theoryck.report.json import schema
    >>> print(problem({"theoryck": "1.0", "schema": 1, "profile": 5, "seed": 0, "results": [], "summary": {}}, schema()))
    'profile' must be a text, got 5
    """
    found = _Reader(schema["$defs"]).first(data, schema, ())
    return found or next(_contradictions(data), None)


class _Reader:
    """Walks data and schema together and stops at the first problem."""

    def __init__(self, definitions: Mapping[str, Schema]) -> None:
        self.definitions = definitions

    def first(self, value: Any, rules: Schema, place: Place) -> Problem | None:
        rules = self.resolved(rules)
        if "anyOf" in rules:
            return self.first_of_any(value, rules, place)
        if not self.fits(value, rules):
            return Problem(place[:-1], f"{_name(place)} must be {self.expected(rules, value)}, got {shown(value)}")
        if isinstance(value, dict):
            return self.first_in_object(value, rules, place)
        if isinstance(value, list) and "items" in rules:
            return _first(self.first(item, rules["items"], (*place, at)) for at, item in enumerate(value))
        return None

    def resolved(self, rules: Schema) -> Schema:
        while "$ref" in rules:
            rules = self.definitions[rules["$ref"].rpartition("/")[2]]
        return rules

    def first_of_any(self, value: Any, rules: Schema, place: Place) -> Problem | None:
        """Nothing where one alternative fits; else what is wrong within the one that fits so far, or all that would have done."""
        if value is None and {"type": "null"} in rules["anyOf"]:
            return None
        found = [self.first(value, each, place) for each in rules["anyOf"]]
        if None in found:
            return None
        inner = [each for each in found if each is not None and each.what.partition(" must be ")[0] != _name(place)]
        wrong = Problem(place[:-1], f"{_name(place)} must be {self.expected(rules, value)}, got {shown(value)}")
        return inner[0] if inner else wrong

    def first_in_object(self, value: dict[str, Any], rules: Schema, place: Place) -> Problem | None:
        for name in rules.get("required", ()):
            if name not in value:
                return Problem(place, f"'{name}' is missing")
        known, others = rules.get("properties", {}), rules.get("additionalProperties", {})
        for name, item in value.items():
            if name not in known and others is False:
                return Problem(place, f"there is no field {shown(name)} in this version of reports")
            found = self.first(item, known.get(name, others), (*place, name))
            if found is not None:
                return found
        return None

    def fits(self, value: Any, rules: Schema) -> bool:
        """Whether a value is of the type, among the words and within the bounds that are asked for, apart from what it holds."""
        if "const" in rules or "enum" in rules:
            words = rules.get("enum", [rules.get("const")])
            return any(isinstance(value, bool) is isinstance(word, bool) and value == word for word in words)
        kind = rules.get("type")
        if kind is not None and not _is(value, kind):
            return False
        if kind in ("integer", "number"):
            return _within(value, rules)
        if kind == "string":
            return len(value) >= rules.get("minLength", 0) and (
                "pattern" not in rules or re.search(rules["pattern"], value) is not None
            )
        if kind == "array":
            return bool(rules.get("minItems", 0) <= len(value) <= rules.get("maxItems", math.inf))
        return True

    def expected(self, rules: Schema, value: Any) -> str:
        """What a schema asks for, in words."""
        words = self.alternatives(rules, value)
        return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"

    def alternatives(self, rules: Schema, value: Any) -> list[str]:
        """All that a schema takes, each in words; an upper bound is named where the value is above it."""
        rules = self.resolved(rules)
        if "anyOf" in rules:
            return [word for each in rules["anyOf"] for word in self.alternatives(each, value)]
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


def _first(found: Iterable[Problem | None]) -> Problem | None:
    return next((each for each in found if each is not None), None)


def _name(place: Place) -> str:
    """What is wrong, by the end of its place: a field, or an entry of a list."""
    return "the whole" if not place else f"entry {place[-1]}" if isinstance(place[-1], int) else f"'{place[-1]}'"


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    if isinstance(value, float) and kind == "integer":
        return value.is_integer()  # 16.0 is 16 in JSON
    classes: dict[str, type | tuple[type, ...]] = {
        "object": dict,
        "array": list,
        "string": str,
        "integer": int,
        "number": (int, float),
        "null": type(None),
    }
    return kind in classes and isinstance(value, classes[kind])


def _within(value: float, rules: Schema) -> bool:
    """Whether a number is one of floats, and within bounds."""
    try:
        if not math.isfinite(float(value)):
            return False
    except OverflowError:
        return False
    low, high = rules.get("minimum", -math.inf), rules.get("maximum", math.inf)
    return bool(low <= value <= high and rules.get("exclusiveMinimum", -math.inf) < value < rules.get("exclusiveMaximum", math.inf))


def shown(value: Any) -> str:
    """Write a wrong value, a long one by its beginning."""
    if isinstance(value, list | dict):
        return ("a list" if isinstance(value, list) else "an object") + f" of {len(value)}"
    text = json.dumps(value[: _SHOWN + 1] if isinstance(value, str) else value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


# -- what a schema cannot say --------------------------------------------------------------------------------------------------


def _contradictions(data: Mapping[str, Any]) -> Iterator[Problem]:
    for at, result in enumerate(data["results"]):
        place: Place = ("results", at)
        if _too_deep(result["instance"]):
            yield Problem(place, f"'instance' holds lists within each other, more than {DEEPEST} deep")
        yield from _of_values(result, place)
        yield from _of_sizes(result, place)


def _too_deep(value: Any) -> bool:
    level, depth = [value], 0
    while level and depth <= DEEPEST:
        held = [item for item in level if isinstance(item, list | dict)]
        level = [inner for item in held for inner in (item.values() if isinstance(item, dict) else item)]
        depth += 1
    return bool(level)


def _of_values(result: Mapping[str, Any], place: Place) -> Iterator[Problem]:
    """What the records of decimal numbers and of laws refuse."""
    known = [((*place, "points", at, "exact"), point["exact"]) for at, point in enumerate(result["points"])]
    if result["prediction"] is not None:
        known.append(((*place, "prediction", "value"), result["prediction"]["value"]))
    for where, value in known:
        if value is not None:
            try:
                Enclosure.from_json(value)
            except ValueError as error:
                yield Problem(where, str(error))
    for at, point in enumerate(result["points"]):
        counts = point.get("counts")
        if counts is None:
            continue
        where = (*place, "points", at, "counts")
        edges, claimed, bins = ([*map(float, counts[name])] for name in ("edges", "claimed", "counts"))
        if not (len(edges) == len(claimed) == len(bins) - 1):
            got = f"{len(claimed)} and {len(bins)}"
            yield Problem(where, f"{len(edges)} edges need as many claimed values and one count more, got {got}")
        elif any(not low <= high for low, high in pairwise(edges)):
            yield Problem(where, "'edges' must be in increasing order")


def _of_sizes(result: Mapping[str, Any], place: Place) -> Iterator[Problem]:
    """All points of a result have the same sizes, among them the base of its exponents."""
    points: Sequence[Mapping[str, Any]] = result["points"]
    base = result["prediction"]["base"] if result["prediction"] is not None else None
    for at, point in enumerate(points):
        for name in points[0]["sizes"]:
            if name not in point["sizes"]:
                yield Problem((*place, "points", at, "sizes"), f"'{name}' is missing, which other points have")
        for name in point["sizes"]:
            if name not in points[0]["sizes"]:
                yield Problem((*place, "points", 0, "sizes"), f"'{name}' is missing, which other points have")
        if base is not None and base not in point["sizes"]:
            yield Problem((*place, "points", at, "sizes"), f"{shown(base)} is missing, the base of the prediction")
