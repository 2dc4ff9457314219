"""How a record shows itself: renderers register here by form, and records ask here, so that no record knows what renders it.

print() asks a record for ``__str__`` and a notebook for ``_repr_html_``, so these methods sit on the record.  What they show is
made by whoever renders: the package's front announces the modules that do, and one is imported when a record is first shown.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

Renderer = TypeVar("Renderer", bound=Callable[[Any], str])

_announced: dict[str, str] = {}
_registered: dict[str, Callable[[Any], str]] = {}


def announce(homes: Mapping[str, str]) -> None:
    """Name, for each form ("text", "html"), the module that registers a renderer for it when it is imported."""
    _announced.update(homes)


def renders(form: str) -> Callable[[Renderer], Renderer]:
    """Register the decorated function as what renders records in this form."""

    def register(renderer: Renderer) -> Renderer:
        _registered[form] = renderer
        return renderer

    return register


def show(form: str, record: object) -> str:
    """Return a record in a form; its ``repr`` where nothing that renders this form was announced.

    >>> from theoryck.records import Report
    >>> print(show("text", Report(profile="quick", seed=0, results=())))
    No claim was checked.
    >>> "No claim was checked" in show("html", Report(profile="quick", seed=0, results=()))
    True
    """
    if form not in _registered and form in _announced:
        importlib.import_module(_announced[form])
    return _registered[form](record) if form in _registered else repr(record)
