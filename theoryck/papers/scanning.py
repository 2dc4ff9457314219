r"""LaTeX as theorems and marks are read from it: the files of a paper in the order in which TeX reads them, as events.

What is understood: ``\input``, ``\include``, ``\subfile``, ``\import``, packages and classes that lie beside the paper;
``\newtheorem`` and its relatives of other packages, ``\declaretheorem``, ``restatable``; macros and environments of the paper that
stand for these or for marks, with arguments.  What is not: conditions (both branches are read), names computed in other ways.

The parsers of LaTeX that there are read one file, know neither where its lines came from nor what ``\newtheorem`` means, and stop
at ``\newcommand{\bthm}{\begin{theorem}}``, which many papers have; what is needed here is less syntax and more of these.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from theoryck.papers.reading import FILLER, Text, Unreadable, argument, closed, decoded, option, own_verbatim, readable, skip
from theoryck.report.macros import NUMBERS, STYLE, MarksFile
from theoryck.report.macros import read as read_marks

MARKS = ("theoryck", "theoryckclaim", *(f"theoryck{name}" for name in NUMBERS))
DEEPEST = 40  # files and macros within each other
MOST_LETTERS = 2_000_000  # of what macros stand for: as many are read in seconds
DISTRIBUTED = {"glyphtounicode", "glyphtounicode-cmr", "epsf", "xy", "amssym", "amssym.def", "t1enc.def"}  # \input of TeX's own
THEOREMS = {  # commands that define a theorem: where its title stands among what follows the name
    "newtheorem": "name [shared] title [within]",
    "newtheoremrep": "name [shared] title [within]",
    "newmdtheoremenv": "[] name [shared] title [within]",
    "newframedtheorem": "name [shared] title [within]",
    "newshadedtheorem": "name [shared] title [within]",
    "newtcbtheorem": "[] name title options prefix",
    "NewTcbTheorem": "[] name title options prefix",
    "spnewtheorem": "name [shared] title [within] style style",
    "newsiamthm": "name title",
    "newsiamremark": "name title",
    "newdefinition": "name [shared] title [within]",
    "declaretheorem": "[keys] names [keys]",
    "newkeytheorem": "names [keys]",
}
_LIKELY = re.compile(
    r"(theo(rem)?|thm|lem(ma)?|prop(osition)?|coro?(llary)?|conj(ecture)?|claim|fact|obs(ervation)?|satz|th[eé]or[eè]me?)s?\*?",
    re.IGNORECASE,
)
_SAYS_NOTHING = re.compile(  # titles and names of what states nothing that could be measured
    r"d[eé]f|rem(ark|arque)?s?\b|rk|rmk|ex[ae]mpl|exercise|ex[am]?\b|beispiel|bsp|bemerkung|bem\b|not(e|ation)|assum|as[ms]\b|hypothes|"
    r"conditions?\b|cond\b|convention|setting|setup|problem|prob\b|question|algo|construction|case\b|step\b|proof|pf\b|beweis|ack|model",
    re.IGNORECASE,
)
_TOKEN = re.compile(rf"\\([A-Za-z@]+)\*?|(\\.|\n[ \t]*\n|[^\\\s{{}}{FILLER}~]+)|[^\S\n{FILLER}]+|[\n{{}}{FILLER}~\\]", re.DOTALL)
_MARKED = re.compile(r"\\theoryck[a-z]*\s*(\[[^]]*\])?\s*\{[^{}]*\}")
_NEUTRAL = {
    "noindent",
    "leavevmode",
    "ignorespaces",
    "unskip",
    "relax",
    "smallskip",
    "medskip",
    "bigskip",
    "hfill",
    "quad",
    "qquad",
}


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file of the paper."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Begin:
    """A theorem begins: its environment, its title as it is defined, note and label where there are any."""

    place: Place
    environment: str
    title: str
    note: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class End:
    """A theorem ends."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark: its command without the backslash, the claim, and the instance without blanks."""

    place: Place
    command: str
    claim: str
    instance: str

    def __str__(self) -> str:
        chosen = f"[{{{self.instance}}}]" if "]" in self.instance else f"[{self.instance}]" if self.instance else ""
        return f"\\{self.command}{chosen}{{{self.claim}}}"


@dataclass(frozen=True, slots=True)
class Label:
    """A label."""

    name: str


@dataclass(frozen=True, slots=True)
class Between:
    """Something else: text, or the end of a paragraph."""


Event = Begin | End | Mark | Label | Between


@dataclass(frozen=True, slots=True)
class Unread:
    """What could not be read, where and why."""

    place: Place
    reason: str

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}"


@dataclass(frozen=True, slots=True)
class _Macro:
    arguments: int
    default: str | None
    body: str
    end: str = ""  # of an environment


@dataclass
class Scan:
    """A paper as it is read: :meth:`events` fills ``unread``, ``files`` and ``marks_files`` on the way."""

    paper: Path
    unread: list[Unread] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)
    marks_files: list[tuple[Path, MarksFile]] = field(default_factory=list)
    _titles: dict[str, str] = field(default_factory=dict)
    _macros: dict[str, _Macro] = field(default_factory=dict)
    _environments: dict[str, _Macro] = field(default_factory=dict)
    _verbatim: set[str] = field(default_factory=set)
    _open: list[Path] = field(default_factory=list)
    _ended: bool = False
    _letters: int = 0
    _endless: bool = False

    def events(self) -> list[Event]:
        """Read the paper and everything that it reads."""
        return list(self._file(self.paper, None))

    # -- files -----------------------------------------------------------------------------------------------------------------

    def _file(self, path: Path, asked: Place | None) -> Iterator[Event]:
        place = asked or Place(self._shown(path), 1)
        if path in self._open or len(self._open) > DEEPEST:
            self.unread.append(Unread(place, f"{self._shown(path)} is read within itself"))
            return
        try:
            text = decoded(path)
        except OSError as error:
            self.unread.append(Unread(place, f"{self._shown(path)} cannot be read: {(error.strerror or str(error)).lower()}"))
            return
        except ValueError as error:
            self.unread.append(Unread(place, f"{self._shown(path)} cannot be read: {error}"))
            return
        self.files.append(path)
        if (found := read_marks(text)) is not None:
            self.marks_files.append((path, found))
            return
        if r"\theoryckfile{" in text:
            self.unread.append(Unread(place, f"{self._shown(path)} was written by another theoryck: write it anew, with {STYLE}"))
            return
        self._verbatim |= own_verbatim(text)
        read = readable(path, text, self._verbatim)
        self._open.append(path)
        yield from self._text(read, read.body, None)
        self._open.pop()
        self._ended = False  # a file that is read by \\subfile has an end of its own

    def _shown(self, path: Path) -> str:
        """A path as people name it: from the folder of the paper."""
        folder = self.paper.parent
        return str(path.relative_to(folder)) if path.is_relative_to(folder) else str(path)

    def _input(self, name: str, place: Place, folder: Path | None = None) -> Iterator[Event]:
        """Read a file as ``\\input`` does: beside the paper or, as ``\\subfile`` does, beside the file that names it."""
        name = self._expanded(name).strip().strip('"')
        if "\\" in name or "#" in name or not name:
            self.unread.append(Unread(place, f"the name of a file is computed: {name or 'it is empty'}"))
            return
        for base in (folder,) if folder else (self.paper.parent, self._open[-1].parent):
            for path in (base / f"{name}.tex", base / name):
                if path.is_file():
                    yield from self._file(path, place)
                    return
        if not (name in DISTRIBUTED or name.removesuffix(".tex") in DISTRIBUTED or _is_of_tex(name)):
            self.unread.append(Unread(place, f"there is no file {name if name.endswith('.tex') else name + '.tex'}"))

    def _beside(self, names: str, ending: str, place: Place) -> Iterator[Event]:
        """Read packages and classes that lie beside the paper; any other is TeX's own."""
        for name in names.split(","):
            path = self.paper.parent / f"{name.strip()}{ending}"
            if path.name != STYLE and path.is_file() and path not in self.files:
                yield from self._file(path, place)

    # -- text ------------------------------------------------------------------------------------------------------------------

    def _text(self, text: Text, body: str, used: Place | None, depth: int = 0) -> Iterator[Event]:
        """Read a text: that of a file, or what a macro stands for that is ``used`` at a place."""
        at = 0
        while at < len(body) and not self._ended:
            match = _TOKEN.match(body, at)
            assert match is not None, body[at : at + 20]
            start, at = at, match.end()
            if match[1] is None:
                if match[2]:
                    yield Between()
                continue
            if match[1] == "endinput":
                return
            place = used or Place(self._shown(text.path), text.line(start))
            try:
                at = yield from self._command(match[1], text, body, at, place, depth)
            except Unreadable as error:
                there = used or Place(self._shown(text.path), text.line(error.place))
                self.unread.append(Unread(there, error.reason))

    def _used(self, text: Text, body: str, place: Place, depth: int) -> Iterator[Event]:
        """Read what a macro stands for, unless it stands for itself, at once or in a circle."""
        within, self._letters = self._letters < MOST_LETTERS, self._letters + len(body) + 1
        if within and depth < DEEPEST:
            yield from self._text(text, body, place, depth + 1)
        elif not self._endless:
            self._endless = True
            raise Unreadable(0, f"macros stand for one another without end, got {body[:40]!r}")

    def _command(self, name: str, text: Text, body: str, at: int, place: Place, depth: int) -> Generator[Event, None, int]:
        """Read one command with its arguments; returns the place after what was read."""
        if name in MARKS:
            instance, at = option(body, at)
            claim, at = argument(body, at)
            if "#" not in claim:
                yield Mark(place, name, " ".join(self._expanded(claim).split()), "".join(_unbraced(instance or "").split()))
        elif name in ("begin", "end"):
            environment, at = argument(body, at)
            at = yield from self._environment(name, environment.strip(), text, body, at, place, depth)
        elif name in THEOREMS:
            at = self._defines_theorem(name, body, at)
        elif name in ("newcommand", "renewcommand", "providecommand", "DeclareRobustCommand"):
            at = self._defines(self._macros, body, at)
        elif name in ("newenvironment", "renewenvironment"):
            at = self._defines(self._environments, body, at, ends=True)
        elif name in ("NewDocumentCommand", "RenewDocumentCommand", "ProvideDocumentCommand", "DeclareDocumentCommand"):
            at = self._defines_document(self._macros, body, at)
        elif name in ("NewDocumentEnvironment", "RenewDocumentEnvironment", "DeclareDocumentEnvironment"):
            at = self._defines_document(self._environments, body, at, ends=True)
        elif name in ("def", "gdef", "edef", "xdef"):
            at = self._defines_plainly(body, at)
        elif name == "let":
            match = re.compile(r"\s*\\([A-Za-z@]+)\s*=?\s*\\([A-Za-z@]+)").match(body, at)
            if match:
                at = match.end()
                if match[2] in self._macros:
                    self._macros[match[1]] = self._macros[match[2]]
        elif name in ("input", "include", "subfile", "subfileinclude", "InputIfFileExists"):
            if name == "input" and body[skip(body, at) : skip(body, at) + 1] != "{":  # as in plain TeX
                match = re.compile(r"\s*((?:\\[A-Za-z@]+)?[^\s{}\\]*)").match(body, at)
                file, at = (match[1], match.end()) if match else ("", at)
            else:
                file, at = argument(body, at)
            yield from self._input(file, place)
        elif name in ("import", "subimport", "includefrom", "subincludefrom", "inputfrom", "subinputfrom"):
            folder, at = argument(body, at)
            file, at = argument(body, at)
            base = self._open[-1].parent if name.startswith("sub") else self.paper.parent
            yield from self._input(file, place, base / folder.strip())
        elif name in ("usepackage", "RequirePackage", "documentclass", "LoadClass", "LoadClassWithOptions"):
            _, at = option(body, at)
            names, at = argument(body, at)
            yield from self._beside(names, ".cls" if "lass" in name else ".sty", place)
        elif name == "label":
            _, at = option(body, at)
            label, at = argument(body, at)
            yield Label(label.strip())
        elif name == "par":
            yield Between()
        elif name in self._macros:
            macro = self._macros[name]
            given, at = _given(macro, body, at)
            yield from self._used(text, _filled_in(macro.body, given), place, depth)
        elif name not in _NEUTRAL:
            yield Between()
        return at

    def _environment(
        self, what: str, name: str, text: Text, body: str, at: int, place: Place, depth: int
    ) -> Generator[Event, None, int]:
        if what == "begin" and name.rstrip("*") in ("verbatim", *self._verbatim):
            raise Unreadable(at, f"\\begin{{{name}}} is never ended")
        if name == "document" and what == "end":
            self._ended = True
        elif name in self._environments:
            macro = self._environments[name]
            given, at = _given(macro, body, at) if what == "begin" else ([""] * macro.arguments, at)
            yield from self._used(text, _filled_in(macro.body if what == "begin" else macro.end, given), place, depth)
        elif name in ("restatable", "restatable*"):
            if what == "end":
                yield End()
                return at
            note, at = option(body, at)
            inner, at = argument(body, at)
            _, at = argument(body, at)
            yield from self._begun(place, inner.strip(), self._title(inner.strip()) or "", note, text, depth)
        elif (title := self._title(name)) is not None:
            if what == "end":
                yield End()
                return at
            note, at = option(body, at)
            yield from self._begun(place, name, title, note, text, depth)
        else:
            yield Between()
        return at

    def _begun(self, place: Place, name: str, title: str, note: str | None, text: Text, depth: int) -> Iterator[Event]:
        keys: dict[str, str] = dict(re.findall(r"(?:^|,)\s*(name|title|label)\s*=\s*(\{[^{}]*\}|[^,{}]*)", note or ""))
        label = keys.get("label", "").strip("{} ")
        shown: str = keys.get("name", keys.get("title", "" if keys else note or ""))
        shown = _MARKED.sub("", _unbraced(shown))
        yield Begin(place, name, title, " ".join(shown.split()), label)
        if any(mark in (note or "") for mark in (r"\theoryck", r"\label")):
            yield from self._text(text, note or "", place, depth + 1)

    def _title(self, name: str) -> str | None:
        """The title of a theorem-like environment that states something; None of any other environment."""
        if name in self._titles:
            title = re.sub(r"\\[A-Za-z@]+", " ", self._titles[name])
            words = " ".join(re.sub(r"\\.|[^\w\s-]", "", title).split()) or name  # accents are nothing, as in \'e
            return None if _SAYS_NOTHING.match(words) else words
        return name.rstrip("*").capitalize() if _LIKELY.fullmatch(name) else None

    # -- definitions -----------------------------------------------------------------------------------------------------------

    def _defines_theorem(self, command: str, body: str, at: int) -> int:
        found = {"name": "", "names": "", "title": "", "keys": ""}
        for part in THEOREMS[command].split():
            if part.startswith("["):
                value, at = option(body, at)
                found[part.strip("[]")] = value or found.get(part.strip("[]"), "")
                continue
            value, at = argument(body, at)
            found[part] = value
        title = re.search(r"(?:^|,)\s*(?:name|title|heading)\s*=\s*(\{[^{}]*\}|[^,{}]*)", found["keys"])
        for name in (found["names"] or found["name"]).split(","):
            self._titles[name.strip()] = title[1].strip("{} ") if title else found["title"] or name.strip().capitalize()
        return at

    def _defines(self, where: dict[str, _Macro], body: str, at: int, *, ends: bool = False) -> int:
        name, at = argument(body, at)
        number, at = option(body, at)
        default, at = option(body, at)
        start, at = argument(body, at)
        end, at = argument(body, at) if ends else ("", at)
        self._keep(where, name, _Macro(_count(number), default, start, end))
        return at

    def _defines_document(self, where: dict[str, _Macro], body: str, at: int, *, ends: bool = False) -> int:
        name, at = argument(body, at)
        kinds, at = argument(body, at)
        start, at = argument(body, at)
        end, at = argument(body, at) if ends else ("", at)
        letters = re.sub(r"\{[^{}]*\}|[\s+!>]", "", kinds)
        self._keep(where, name, _Macro(len(letters), "" if letters[:1] in ("o", "O") and letters else None, start, end))
        return at

    def _defines_plainly(self, body: str, at: int) -> int:
        match = re.compile(r"\s*\\([A-Za-z@]+|.)([^{}]*)").match(body, at)
        if match is None or body[match.end() : match.end() + 1] != "{":
            return at
        end = closed(body, match.end(), "{}")
        self._keep(self._macros, match[1], _Macro(match[2].count("#"), None, body[match.end() + 1 : end].replace(FILLER, "")))
        return end + 1

    def _keep(self, where: dict[str, _Macro], name: str, macro: _Macro) -> None:
        """Remember a macro that stands for a theorem, a mark or a name; a new meaning replaces an old one."""
        name = name.strip().lstrip("\\")
        used = re.findall(r"\\([A-Za-z@]+)", macro.body + macro.end)
        speaks = {"begin", "end", "input", "label", *MARKS, *self._macros} & {*used}
        may_name_a_file = not macro.arguments and len(macro.body) < 200
        where.pop(name, None)
        if name not in MARKS and (speaks or may_name_a_file or where is self._environments):
            where[name] = macro

    def _expanded(self, text: str) -> str:
        r"""A name with macros of the paper in it: ``\chapters/one``."""
        for _ in range(DEEPEST):
            found = next((each for each in re.finditer(r"\\([A-Za-z@]+)\s*", text) if each[1] in self._macros), None)
            if found is None or self._macros[found[1]].arguments:
                break
            text = text[: found.start()] + self._macros[found[1]].body + text[found.end() :]
        return text


def _given(macro: _Macro, body: str, at: int) -> tuple[list[str], int]:
    given = []
    if macro.arguments and macro.default is not None:
        first, at = option(body, at)
        given.append(macro.default if first is None else first)
    while len(given) < macro.arguments:
        each, at = argument(body, at)
        given.append(each)
    return given, at


def _filled_in(body: str, given: list[str]) -> str:
    """What a macro stands for, with what was given."""
    return re.sub(r"#(\d)", lambda match: given[int(match[1]) - 1] if int(match[1]) <= len(given) else match[0], body)


def _unbraced(text: str) -> str:
    text = text.strip()
    return text[1:-1] if text.startswith("{") and text.endswith("}") else text


def _count(text: str | None) -> int:
    return int(text) if text is not None and text.strip().isdecimal() else 0


def _is_of_tex(name: str) -> bool:
    """Whether TeX itself finds a file; no where there is no TeX to ask."""
    if shutil.which("kpsewhich") is None or not re.fullmatch(r"\w[\w./-]*", name):
        return False
    return bool(subprocess.run(["kpsewhich", name], capture_output=True, text=True, timeout=60, check=False).stdout.strip())
