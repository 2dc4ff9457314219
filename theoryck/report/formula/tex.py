"""Writes formulas as LaTeX, and text from anywhere as LaTeX that shows that text and does nothing else."""

from __future__ import annotations

import re
import unicodedata

from theoryck.report.formula.reader import Piece
from theoryck.report.formula.symbols import (
    ACCENTS,
    BIG,
    DOUBLE_STRUCK,
    FENCES,
    GREEK,
    LETTERS,
    OPERATORS,
    RELATIONS,
    RENAMED,
    SPELLINGS,
    TEX_FUNCTIONS,
    TEX_GREEK,
)
from theoryck.report.formula.tree import (
    Accent,
    AnyNode,
    Fence,
    Fraction,
    Number,
    Operator,
    Root,
    Row,
    Script,
    Symbol,
    Words,
    is_tall,
    stripped,
)

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}",
    "\u2013": r"\textendash{}",
    "\u2014": r"\textemdash{}",
    "\u2018": r"\textquoteleft{}",
    "\u2019": r"\textquoteright{}",
    "\u201c": r"\textquotedblleft{}",
    "\u201d": r"\textquotedblright{}",
    "\u00df": r"\ss{}",
    "\u00e6": r"\ae{}",
    "\u00c6": r"\AE{}",
    "\u0153": r"\oe{}",
    "\u00f8": r"\o{}",
    "\u00d8": r"\O{}",
    "\u0142": r"\l{}",
    "\u0141": r"\L{}",
    "\u0131": r"\i{}",
    "\u00a0": "~",
    "\u00b0": r"\textdegree{}",
    "\u00b1": r"\ensuremath{\pm}",
    "\u221a": r"\ensuremath{\surd}",
    "\u221e": r"\ensuremath{\infty}",
}
_MARKS = {
    "\u0300": "`",
    "\u0301": "'",
    "\u0302": "^",
    "\u0303": "~",
    "\u0304": "=",
    "\u0306": "u",
    "\u0307": ".",
    "\u0308": '"',
    "\u030a": "r",
    "\u030b": "H",
    "\u030c": "v",
    "\u0327": "c",
    "\u0328": "k",
}
_SCRIPTS = {"star": "*", "transpose": r"\top", "'": r"\prime", "''": r"\prime\prime"}


def escape(text: str) -> str:
    r"""Return LaTeX, in ASCII, that shows a text as it is; a letter that LaTeX lacks is shown by its number.

    >>> print(escape("100% of a_b & {c}, Erd\u0151s \u03c3 \u6771"))
    100\% of a\_b \& \{c\}, Erd\H{o}s \ensuremath{\sigma} \texttt{[U+6771]}
    """
    shown = "".join(_character(character) for character in text)
    for pair in ("--", ",,", "''", "!`", "?`"):  # ligatures of text fonts
        while pair in shown:
            shown = shown.replace(pair, f"{pair[0]}{{}}{pair[1]}")
    return shown


def code(text: str) -> str:
    r"""Return a text in typewriter type that may be broken after punctuation, as long names must be.

    >>> print(code("paper/a-claim_2"))
    \texttt{paper/\allowbreak{}a-\allowbreak{}claim\_\allowbreak{}2}
    """
    shown = ""
    for character in text:
        shown += r"\textquotesingle{}" if character == "'" else _character(character)
        shown += r"\allowbreak{}" if character in "/-_.,=([*" else ""
    return rf"\texttt{{{shown}}}"


def _character(character: str) -> str:
    if character in _SPECIAL:
        return _SPECIAL[character]
    if character.isascii():
        return character if character.isprintable() else " " if character.isspace() else rf"\texttt{{[U+{ord(character):04X}]}}"
    if character in LETTERS:
        return rf"\ensuremath{{{_greek(LETTERS[character])}}}"
    if character in SPELLINGS and SPELLINGS[character] in OPERATORS:
        return rf"\ensuremath{{{OPERATORS[SPELLINGS[character]][1]}}}"
    parts = unicodedata.normalize("NFD", character)
    if len(parts) == 2 and parts[0].isascii() and parts[1] in _MARKS:
        return rf"\{_MARKS[parts[1]]}{{{parts[0]}}}"
    return rf"\texttt{{[U+{ord(character):04X}]}}"


def pieces(found: list[Piece]) -> str:
    """Return LaTeX: prose escaped, each formula between dollar signs; what a page breaks at a relation is one formula here."""
    written = ""
    for at, piece in enumerate(found):
        if isinstance(piece, str):
            written += escape(piece)
        elif at > 1 and found[at - 1] == " " and _goes_on(piece) and not isinstance(found[at - 2], str):
            written = f"{written.removesuffix('$ ')} {formula(piece)}$"
        else:
            written += f"${formula(piece)}$"
    return written


def _goes_on(node: AnyNode) -> bool:
    """Whether a formula begins with what stands between two others."""
    first = node.items[0] if isinstance(node, Row) and node.items else node
    return isinstance(first, Operator) and not first.prefix and first.name in (*RELATIONS, "+", "-")


def formula(node: AnyNode) -> str:
    """Return one formula as LaTeX for mathematical mode."""
    return re.sub(" +", " ", _write(node, script=False)).strip()


def _greek(name: str) -> str:
    return TEX_GREEK.get(name, "\\" + name)


def _items(items: tuple[AnyNode, ...], *, script: bool) -> str:
    return "".join(_write(item, script=script) for item in items)


def _write(node: AnyNode, *, script: bool) -> str:
    match node:
        case Number(text):
            return _number(text)
        case Symbol(name):
            return _symbol(name)
        case Words(text):
            return rf"\text{{{escape(text)}}}" if text.strip() else r"\,"
        case Operator():
            return _operator(node)
        case Root(body):
            return rf"\sqrt{{{_write(body, script=script).strip()}}}"
        case Accent(base, name):
            return rf"{ACCENTS[name][1]}{{{_write(base, script=script).strip()}}}"
        case Fence(left, right, body):
            inner = _write(body, script=script).strip()
            size = (r"\left", r"\right") if is_tall(body, script=script) else ("", "")
            return f"{size[0]}{FENCES[left][1]}{inner}{size[1]}{FENCES[right][1]}"
        case Fraction():
            return _fraction(node, script=script)
        case Script():
            return _script(node, script=script)
        case Row(items):
            return _items(items, script=script)


def _number(text: str) -> str:
    mantissa, marked, power = text.partition("e")
    if not marked:
        return text
    ten = rf"10^{{{'-' if power.startswith('-') else ''}{power.lstrip('+-').lstrip('0') or '0'}}}"
    return ten if mantissa == "1" else rf"{mantissa}\times {ten}"


def _symbol(name: str) -> str:
    if name in DOUBLE_STRUCK:
        return DOUBLE_STRUCK[name][1]
    if name in GREEK:
        return _greek(name) + " "
    if name in BIG:
        return rf"\{name} "
    shown = RENAMED.get(name, name)
    if shown in TEX_FUNCTIONS or shown in ("arcsin", "arccos", "arctan"):
        return rf"\{shown} "
    if len(name) == 1:
        return name if name.isascii() and name.isalpha() else rf"\text{{{escape(name)}}}"
    return rf"\operatorname{{{escape(shown)}}}"


def _operator(node: Operator) -> str:
    name = node.name
    if name in _SCRIPTS:
        return _SCRIPTS[name] + (" " if name != "star" else "")
    written = OPERATORS[name][1] if name in OPERATORS else FENCES[name][1] if name in FENCES else escape(name)
    if name in (",", ";", ":"):
        return r"\colon " if name == ":" else f"{name} "
    if node.prefix:
        return written.strip() + (" " if written.strip()[-1:].isalpha() else "")
    return f" {written} " if name not in ("!", "!!", "/") else written


def _fraction(node: Fraction, *, script: bool) -> str:
    if node.stacked and not script:
        top, bottom = (_write(stripped(part), script=True).strip() for part in (node.top, node.bottom))
        return rf"\frac{{{top}}}{{{bottom}}}"
    quotient = f"{_write(node.top, script=script).strip()}/{_write(node.bottom, script=script).strip()}"
    return f"({quotient})" if node.forced else quotient + " "


def _script(node: Script, *, script: bool) -> str:
    base = _write(node.base, script=script).strip()
    if not isinstance(node.base, Symbol | Fence):
        base = f"{{{base}}}"
    sub = f"_{{{_write(node.sub, script=True).strip()}}}" if node.sub is not None else ""
    sup = f"^{{{_write(node.sup, script=True).strip()}}}" if node.sup is not None else ""
    return base + sub + sup
