"""What a committed notebook may contain, and a command that makes it so: ``python tests/notebooks/tidy.py notebooks/*.ipynb``.

Outputs, execution counts and whatever an editor notes about a machine would change with every run; what is left is source.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
KEPT = {
    "markdown": ("cell_type", "id", "metadata", "source"),
    "code": ("cell_type", "execution_count", "id", "metadata", "outputs", "source"),
}


def tidied(text: str) -> str:
    """Return a notebook's text with its sources and nothing else, in the one way of writing it that git sees."""
    book = json.loads(text)
    cells = [_cell(number, cell) for number, cell in enumerate(book["cells"])]
    clean = {"cells": cells, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(clean, indent=1, ensure_ascii=False) + "\n"


def _cell(number: int, cell: dict[str, Any]) -> dict[str, Any]:
    source = "".join(cell["source"]).strip("\n")
    fresh = {"id": f"cell-{number:02d}", "metadata": {}, "source": source.splitlines(keepends=True)}
    if cell["cell_type"] == "code":
        fresh |= {"execution_count": None, "outputs": []}
    return {name: fresh.get(name, cell["cell_type"]) for name in KEPT[cell["cell_type"]]}


def untidy(text: str) -> list[str]:
    """Return what a notebook holds beside its source, in words; an empty list for a tidy one."""
    book, found = json.loads(text), []
    if book["metadata"] != METADATA:
        found.append(f"metadata {book['metadata']}")
    for number, cell in enumerate(book["cells"]):
        found += [f"cell {number}: {what}" for what in ("outputs", "execution_count", "metadata", "attachments") if cell.get(what)]
    if not found and text != tidied(text):
        found.append("written in another way")
    return found


if __name__ == "__main__":
    for name in sys.argv[1:]:
        path = Path(name)
        path.write_text(tidied(path.read_text(encoding="utf-8")), encoding="utf-8")
