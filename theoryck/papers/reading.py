r"""One file of LaTeX: what TeX does not read is taken out, letter by letter, and arguments of commands are read.

Nothing is compiled.  Comments and verbatim text become fillers of the same length, so that every place keeps its line; a
comment takes the end of its line with it, as in TeX, so that a line of nothing but a comment ends no paragraph.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

FILLER = "\x01"
VERBATIM = ("verbatim", "Verbatim", "BVerbatim", "LVerbatim", "SaveVerbatim", "lstlisting", "minted", "comment", "filecontents")
_OWN_VERBATIM = re.compile(
    r"\\(?:DefineVerbatimEnvironment|RecustomVerbatimEnvironment|lstnewenvironment|excludecomment|newverbatim)\s*\{([^{}]*)\}"
    r"|\\newminted\s*(?:\[([^]]*)\])?\s*\{([^{}]*)\}"
    r"|\\newtcblisting\s*(?:\[[^]]*\])?\s*\{([^{}]*)\}"
)
_CONDITIONALS = (  # those of TeX itself
    r"if(?:cat|num|dim|odd|vmode|hmode|mmode|inner|void|hbox|vbox|x|eof|true|false|case|defined|csname|fontchar|incsname)?"
)


class Unreadable(Exception):
    """What keeps a file, or the rest of it, from being read; ``place`` is a place in its text."""

    def __init__(self, place: int, reason: str) -> None:
        super().__init__(reason)
        self.place, self.reason = place, reason


@dataclass(frozen=True)
class Text:
    """A file of LaTeX: its path, and its text with fillers for what TeX does not read."""

    path: Path
    body: str
    ends: tuple[int, ...]

    def line(self, place: int) -> int:
        """The number of the line of a place."""
        return bisect_right(self.ends, place) + 1


def decoded(path: Path) -> str:
    """Return the text of a file, of UTF-8 or else of Latin 1; raises ValueError for what is no text, OSError as the system does."""
    data = path.read_bytes()
    if b"\0" in data:
        raise ValueError("it is no text: it has null characters")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def own_verbatim(text: str) -> set[str]:
    r"""Return the environments of verbatim text that a file defines.

    >>> sorted(own_verbatim(r"\lstnewenvironment{code}{}{} \newminted{python}{} \newminted[py]{python}{}"))
    ['code', 'py', 'pythoncode']
    """
    found = set()
    for name, shown, language, listing in _OWN_VERBATIM.findall(text):
        found.add(name or listing or shown or f"{language}code")
    return found


def readable(path: Path, text: str, verbatim: Iterable[str] = ()) -> Text:
    r"""Return a file without comments, verbatim text and what stands between ``\iffalse`` and ``\fi``.

    >>> readable(Path("a.tex"), "a % b\n\\verb|%| c").body.replace(FILLER, ".")
    'a ...\n........ c'
    """
    names = "|".join(map(re.escape, [*VERBATIM, *verbatim]))
    unread = re.compile(
        r"\\verb\*?(?![A-Za-z@])([^\s*])[^\n]*?\1"
        r"|\\lstinline(?![A-Za-z@])(?:\[[^]\n]*\])?([^\sA-Za-z{\[])[^\n]*?\2"
        r"|\\mintinline(?![A-Za-z@])(?:\[[^]\n]*\])?\{[^{}]*\}([^\sA-Za-z{\[])[^\n]*?\3"
        r"|\\(?:url|path|nolinkurl|href|lstinline)(?![A-Za-z@])\s*\{[^{}\n]*\}"
        rf"|\\begin\{{((?:{names})\*?)\}}.*?\\end\{{\4\}}"
        r"|%[^\n]*"
        r"|(\\(?:[A-Za-z@]+|.))",
        re.DOTALL,
    )

    body = unread.sub(lambda match: match[5] or _fill(match[0]), text)
    return Text(path, _without_false(body), tuple(found.end() for found in re.finditer("\n", text)))


def _fill(text: str) -> str:
    return re.sub(r"[^\n]", FILLER, text)


def _without_false(body: str) -> str:
    r"""Fill what stands between ``\iffalse`` and its ``\fi`` or ``\else``; any other condition is taken to hold and to fail."""
    own = re.findall(r"\\newif\s*\\(if[A-Za-z@]+)", body)
    words = re.compile(rf"\\({'|'.join([_CONDITIONALS, *own, 'else', 'fi'])})(?![A-Za-z@])")
    start, depth = -1, 0
    fills = []
    for match in words.finditer(body):
        if start < 0:
            start, depth = (match.start(), 0) if match[1] == "iffalse" else (-1, 0)
        elif match[1] == "fi" and depth:
            depth -= 1
        elif match[1] == "fi" or (match[1] == "else" and not depth):
            fills.append((start, match.end()))
            start = -1
        elif match[1] != "else":
            depth += 1
    for low, high in fills:
        body = body[:low] + _fill(body[low:high]) + body[high:]
    return body


_FILLED = rf"(?:[ \t]|{FILLER}+(?:\n[ \t]*)?)*"
_BLANK = re.compile(rf"{_FILLED}(?:\n{_FILLED})?")


def skip(body: str, place: int) -> int:
    """Return the place after blanks, what is filled and at most one end of line, as TeX does before an argument."""
    match = _BLANK.match(body, place)
    return match.end() if match else place


def closed(body: str, place: int, pair: str) -> int:
    """Return the place of what closes the brace or bracket at ``place``; raises Unreadable where nothing does."""
    depth, at = 0, place
    while at < len(body):
        character = body[at]
        if character == "\\":
            at += 1
        elif character == pair[1] and depth == 0 and at > place:
            return at
        elif character == "{" and at > place:
            depth += 1
        elif character == "}" and at > place:
            depth -= 1
            if depth < 0:
                break
        at += 1
    what = "brace" if pair == "{}" else "bracket"
    raise Unreadable(place, f"the {what} that opens here is never closed")


def argument(body: str, place: int) -> tuple[str, int]:
    """Return the argument of a command, in braces or one letter or command, and the place after it; "" at the end of the text."""
    place = skip(body, place)
    if place >= len(body):
        return "", place
    if body[place] == "{":
        end = closed(body, place, "{}")
        return body[place + 1 : end].replace(FILLER, ""), end + 1
    match = re.compile(r"\\(?:[A-Za-z@]+|.)|[^}]", re.DOTALL).match(body, place)
    return (match[0], match.end()) if match else ("", place)


def option(body: str, place: int) -> tuple[str | None, int]:
    """Return an argument in brackets, or None where there is none, and the place after it."""
    start = skip(body, place)
    if body[start : start + 1] != "[":
        return None, place
    end = closed(body, start, "[]")
    return body[start + 1 : end].replace(FILLER, ""), end + 1
