"""Public names of a package that are loaded on first use."""

from __future__ import annotations

import difflib
import importlib
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any


def unknown(package: str, name: str, known: Iterable[str]) -> AttributeError:
    """Return the error for a name that ``package`` does not have, with the names that are close."""
    close = difflib.get_close_matches(name, list(known), n=3, cutoff=0.65)
    hint = f"did you mean {' or '.join(close)}?" if close else f"public names: {', '.join(known)}"
    return AttributeError(f"module {package!r} has no attribute {name!r}; {hint}")


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
