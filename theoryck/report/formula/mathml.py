"""Writes formulas as MathML (presentation): elements of a short list, every character escaped, no script and no style."""

from __future__ import annotations

from html import escape

from theoryck.report.formula.reader import Piece
from theoryck.report.formula.symbols import (
    ACCENTS,
    ARITHMETIC,
    BIG,
    DOUBLE_STRUCK,
    FENCES,
    GREEK,
    LIMITS,
    OPERATORS,
    RELATIONS,
    RENAMED,
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

_THIN = '<mspace width="0.17em"/>'
_SCRIPTS = {"star": "*", "transpose": "\u22a4"}


def pieces(found: list[Piece], *, display: bool = False) -> str:
    """Return HTML: prose escaped, each formula a ``<math>`` element between the words."""
    return "".join(escape(piece) if isinstance(piece, str) else formula(piece, display=display) for piece in found)


def formula(node: AnyNode, *, display: bool = False) -> str:
    """Return one formula as a ``<math>`` element."""
    start = '<math displaystyle="true">' if display else "<math>"
    return start + _inside(node, script=False, first=True) + "</math>"


def _inside(node: AnyNode, *, script: bool, first: bool = False) -> str:
    """The children of an element that makes a row of them by itself."""
    return _items(node.items, script=script, first=first) if isinstance(node, Row) else _write(node, script=script, first=first)


def _one(node: AnyNode, *, script: bool) -> str:
    """Exactly one element, as bases, scripts and parts of fractions have to be."""
    linear = isinstance(node, Fraction) and (script or not node.stacked)
    if isinstance(node, Row | Fence) or linear or (isinstance(node, Number) and "e" in node.text):
        return f"<mrow>{_inside(node, script=script)}</mrow>"
    return _write(node, script=script)


def _items(items: tuple[AnyNode, ...], *, script: bool, first: bool) -> str:
    written: list[str] = []
    for at, item in enumerate(items):
        if at and _wants_space(items[at - 1], item):
            written.append(_THIN)
        written.append(_write(item, script=script, first=first and at == 0, last=at == len(items) - 1))
    return "".join(written)


def _wants_space(left: AnyNode, right: AnyNode) -> bool:
    """Whether two neighbours would run into each other: a name of several letters beside anything but its parentheses."""
    if isinstance(left, Operator) or isinstance(right, Operator):
        return False
    return (_is_word(left) and not isinstance(_base(right), Fence)) or _is_word(right)


def _base(node: AnyNode) -> AnyNode:
    return node.base if isinstance(node, Script | Accent) else node


def _is_word(node: AnyNode) -> bool:
    base = _base(node)
    return isinstance(base, Words) or (
        isinstance(base, Symbol) and len(base.name) > 1 and base.name not in (*GREEK, "normal", "ones", "reals")
    )


def _write(node: AnyNode, *, script: bool, first: bool = False, last: bool = False) -> str:
    match node:
        case Number(text):
            return _number(text)
        case Symbol(name):
            return _symbol(name)
        case Words(text):
            return f"<mtext>{escape(text)}</mtext>" if text.strip() else _THIN
        case Operator():
            return _operator(node, first=first, last=last)
        case Root(body):
            return f"<msqrt>{_inside(body, script=script)}</msqrt>"
        case Accent(base, name):
            return f'<mover accent="true">{_one(base, script=script)}<mo stretchy="false">{ACCENTS[name][0]}</mo></mover>'
        case Fence(left, right, body):
            tall = is_tall(body, script=script)
            return _delimiter(left, "prefix", tall) + _inside(body, script=script) + _delimiter(right, "postfix", tall)
        case Fraction():
            return _fraction(node, script=script)
        case Script():
            return _script(node, script=script)
        case Row(items):
            return f"<mrow>{_items(items, script=script, first=first)}</mrow>"


def _number(text: str) -> str:
    mantissa, marked, power = text.partition("e")
    if not marked:
        return f"<mn>{escape(text)}</mn>"
    sign = "<mo>\u2212</mo>" if power.startswith("-") else ""
    ten = f"<msup><mn>10</mn><mrow>{sign}<mn>{escape(power.lstrip('+-').lstrip('0') or '0')}</mn></mrow></msup>"
    return ten if mantissa == "1" else f"<mn>{escape(mantissa)}</mn><mo>\u00d7</mo>{ten}"


def _symbol(name: str) -> str:
    if name in BIG:
        return f"<mo>{BIG[name]}</mo>"
    if name in DOUBLE_STRUCK:
        return f"<mi>{DOUBLE_STRUCK[name][0]}</mi>"
    return f"<mi>{escape(RENAMED.get(name, GREEK.get(name, name)))}</mi>"


def _operator(node: Operator, *, first: bool, last: bool) -> str:
    name = node.name
    if name in _SCRIPTS:
        return f"<mo>{_SCRIPTS[name]}</mo>"
    if name in ("'", "''"):
        return f"<mo>{OPERATORS[name][0]}</mo>"
    if name in ("!", "!!"):
        return f'<mo lspace="0" rspace="0">{name}</mo>'
    if name in (",", ";", ":") and not first:
        return f'<mo separator="true" lspace="0" rspace="0.22em">{name}</mo>'
    character = escape(OPERATORS[name][0] if name in OPERATORS else name)
    if node.prefix:
        return f'<mo form="prefix" stretchy="false" lspace="0" rspace="0">{character}</mo>'
    wide = "0.28em" if name in RELATIONS else "0.22em" if name in ARITHMETIC and name not in ("/", ".", "*") else "0.1em"
    wide = "0.28em" if name == "|" else wide
    return f'<mo form="infix" stretchy="false" lspace="{0 if first else wide}" rspace="{0 if last else wide}">{character}</mo>'


def _delimiter(name: str, form: str, tall: bool) -> str:
    stretchy = "true" if tall else "false"
    return f'<mo form="{form}" fence="true" stretchy="{stretchy}" lspace="0" rspace="0">{escape(FENCES[name][0])}</mo>'


def _fraction(node: Fraction, *, script: bool) -> str:
    if node.stacked and not script:
        top, bottom = (_one(stripped(part), script=True) for part in (node.top, node.bottom))
        return f"<mfrac>{top}{bottom}</mfrac>"
    slash = '<mo form="infix" stretchy="false" lspace="0.05em" rspace="0.05em">/</mo>'
    quotient = f"{_one(node.top, script=script)}{slash}{_one(node.bottom, script=script)}"
    return f"<mo>(</mo>{quotient}<mo>)</mo>" if node.forced else quotient


def _script(node: Script, *, script: bool) -> str:
    base = _one(node.base, script=script)
    big = isinstance(node.base, Symbol) and node.base.name in {*BIG, *LIMITS} - {"int"}
    parts = "".join(_one(part, script=True) for part in (node.sub, node.sup) if part is not None)
    if node.sub is not None and node.sup is not None:
        name = "munderover" if big else "msubsup"
    elif node.sub is not None:
        name = "munder" if big else "msub"
    else:
        name = "msup"
    return f"<{name}>{base}{parts}</{name}>"
