"""Lines, columns and colours of terminal text: no record is read here.

Only ASCII is added by theoryck itself, so that logs, pagers and old terminals show the same text.  Colour only repeats what
words say.
"""

from __future__ import annotations

import os
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TextIO
from unicodedata import category, east_asian_width

WIDTH = 100  # of tables, and of everything where the width of the terminal is unknown
NARROWEST = 40
_CODES = {"bad": "1;31", "open": "1;33", "good": "32", "head": "1", "dim": "2"}


@dataclass(frozen=True, slots=True)
class Style:
    """How to write: the columns that may be used and whether colour is wanted."""

    width: int = WIDTH
    color: bool = False

    def paint(self, text: str, name: str) -> str:
        """Return ``text`` in the colour called ``name``, or as it is where colour is not wanted.

        >>> Style(color=True).paint("fell", "bad"), Style().paint("fell", "bad")
        ('\\x1b[1;31mfell\\x1b[0m', 'fell')
        """
        return f"\x1b[{_CODES[name]}m{text}\x1b[0m" if self.color and name in _CODES else text


def style_for(stream: TextIO, *, width: int | None = None) -> Style:
    """Return the style for a stream: no colour with NO_COLOR, on a dumb terminal or into a file; at most 100 columns.

    ``COLUMNS`` is obeyed where the stream is no terminal, so that a log can be made as narrow as wanted.
    """
    terminal = stream.isatty()
    if width is None:
        columns = os.environ.get("COLUMNS", "")
        width = _terminal_width(stream) if terminal else int(columns) if columns.isdecimal() else WIDTH
    return Style(max(min(width, WIDTH), NARROWEST), terminal and not is_dumb() and not os.environ.get("NO_COLOR"))


def columns(stream: TextIO) -> int:
    """Return the columns of a terminal, at most 100 but however few: for a line that is taken back, which must not wrap."""
    return max(min(_terminal_width(stream), WIDTH), 2)


def is_dumb() -> bool:
    """Whether the terminal can only print: it knows neither colours nor how to take back a line."""
    return os.environ.get("TERM", "") in ("dumb", "unknown")


def _terminal_width(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or WIDTH
    except (OSError, ValueError):
        return WIDTH


def cells(text: str) -> int:
    """Return the columns that a text takes on a terminal: wide letters take two, marks on a letter none.

    >>> cells("width"), cells("\u5bbd"), cells("e\u0301")
    (5, 2, 1)
    """
    if text.isascii():
        return len(text)
    marks = ("Mn", "Me", "Cf")
    return sum(0 if category(c) in marks else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def pad(text: str, width: int, *, right: bool = False) -> str:
    """Fill a text with spaces to ``width`` columns, on its left where ``right`` aligned."""
    space = " " * max(width - cells(text), 0)
    return space + text if right else text + space


def shorten(text: str, width: int, *, middle: bool = False) -> str:
    """Cut a text to ``width`` columns, at its end or in its middle, leaving ``..`` as a sign.

    >>> shorten("phi=tanh(x), depth=2", 12), shorten("a-very-long-name/part-2", 12, middle=True)
    ('phi=tanh(x..', 'a-ver..art-2')
    """
    if cells(text) <= width:
        return text
    keep = max(width - 2, 0)
    tail = keep // 2 if middle else 0
    head = keep - tail
    start, end = text[:head], text[len(text) - tail :] if tail else ""
    while start and cells(start) > head:
        start = start[:-1]
    while end and cells(end) > tail:
        end = end[1:]
    return f"{start}..{end}"[: max(width, 0)]


def wrap(text: str, width: int, *, first: str = "", rest: str | None = None) -> list[str]:
    """Break a text into lines of at most ``width`` columns; words longer than a line stay whole, so that they can be copied."""
    rest = first if rest is None else rest
    lines = textwrap.wrap(text, width, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False)
    return lines or [first.rstrip()]


def fields(pairs: Sequence[tuple[str, str]], style: Style, *, indent: int = 2, whole: Sequence[str] = ()) -> list[str]:
    """Write labels and texts, the texts aligned and each of their lines wrapped; an empty text is left out.

    The texts of the labels in ``whole`` are not wrapped, so that they can be copied.
    """
    shown = [(label, text) for label, text in pairs if text]
    reach = max((len(label) for label, _ in shown), default=0)
    lines: list[str] = []
    for label, text in shown:
        start = " " * indent + style.paint(label.ljust(reach), "dim") + "  "
        margin = " " * (indent + reach + 2)
        for line in text.splitlines():
            inner = margin + " " * (len(line) - len(line.lstrip()))
            broken = [margin + line] if label in whole else wrap(line.lstrip(), style.width, first=inner)
            lines += [start + broken[0].removeprefix(margin), *broken[1:]]
            start = margin
    return lines
