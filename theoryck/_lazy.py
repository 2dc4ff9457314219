"""Public names of a package that are loaded on first use."""

from __future__ import annotations

import difflib
import importlib
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any


def unknown(package: str, name: str, known: Iterable[str]) -> AttributeError:
    """Return the error for a name that ``package`` does not have: where it stands, or the names that are close."""
    close = difflib.get_close_matches(name, list(known), n=3, cutoff=0.65)
    hint = f"did you mean {' or '.join(close)}?" if close else f"public names: {', '.join(known)}"
    elsewhere = [] if name.startswith("_") else _homes(name)
    if elsewhere:
        hint = f"it is {' or '.join(elsewhere)}"
    return AttributeError(f"module {package!r} has no attribute {name!r}; {hint}")


def _homes(name: str) -> list[str]:
    """Return the public names that end in ``name``, at the top and in the subjects, of which only tables of contents are loaded."""
    top = sys.modules["theoryck"]
    subjects = [each for each in dir(top) if not (each.startswith("_") or each in top.__all__)]
    tables = {f"theoryck.{each}": importlib.import_module(f"theoryck.theory.{each}").__all__ for each in subjects}
    return [f"{module}.{name}" for module, names in {"theoryck": top.__all__, **tables}.items() if name in names]


def lazily(package: str, homes: Mapping[str, Iterable[str]]) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__all__``, ``__getattr__`` and ``__dir__`` of a package whose public names stand in its modules ``homes``.

    >>> names, get, _ = lazily("theoryck.rates", {"paths": ["doubling"]})
    >>> names, get("doubling")(2, 8)
    (['doubling'], (2, 4, 8))
    """
    home = {name: module for module, names in homes.items() for name in names}
    public = sorted(home)

    def get(name: str) -> Any:
        if name not in home:
            raise unknown(package, name, public)
        value = getattr(importlib.import_module(f"{package}.{home[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return public, get, lambda: list(public)
