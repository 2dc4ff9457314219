"""The nodes of a formula: what two writers (MathML, LaTeX) and two readers (statements, rates) share."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Number:
    """A number as written, such as ``0.05`` or ``1e-6``."""

    text: str


@dataclass(frozen=True, slots=True)
class Symbol:
    """A name: a letter, a Greek letter by its name, a function, an abbreviation."""

    name: str


@dataclass(frozen=True, slots=True)
class Words:
    """Words inside a formula, upright."""

    text: str


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator, a relation or a separator, by its ASCII spelling; ``prefix`` for a sign."""

    name: str
    prefix: bool = False


@dataclass(frozen=True, slots=True)
class Script:
    """A base with a subscript, a superscript or both."""

    base: AnyNode
    sub: AnyNode | None = None
    sup: AnyNode | None = None


@dataclass(frozen=True, slots=True)
class Fraction:
    """A quotient; stacked where that saves parentheses (or ``forced``), else written with a slash."""

    top: AnyNode
    bottom: AnyNode
    forced: bool = False

    @property
    def stacked(self) -> bool:
        """Whether a bar says more plainly than a slash what belongs to what."""
        return self.forced or in_parentheses(self.top) or in_parentheses(self.bottom)


@dataclass(frozen=True, slots=True)
class Root:
    """A square root."""

    body: AnyNode


@dataclass(frozen=True, slots=True)
class Fence:
    """A formula between delimiters."""

    left: str
    right: str
    body: AnyNode


@dataclass(frozen=True, slots=True)
class Accent:
    """A letter under a ``tilde``, a ``hat`` or a ``bar``."""

    base: AnyNode
    name: str


@dataclass(frozen=True, slots=True)
class Row:
    """Nodes side by side."""

    items: tuple[AnyNode, ...]


AnyNode = Number | Symbol | Words | Operator | Script | Fraction | Root | Fence | Accent | Row


def row(items: list[AnyNode]) -> AnyNode:
    """Return nodes side by side: one alone as it is, rows in rows dissolved."""
    flat: list[AnyNode] = []
    for item in items:
        flat.extend(item.items if isinstance(item, Row) else (item,))
    return flat[0] if len(flat) == 1 else Row(tuple(flat))


def in_parentheses(node: AnyNode) -> bool:
    """Whether a node is a pair of round parentheses and nothing else."""
    return isinstance(node, Fence) and node.left == "("


def stripped(node: AnyNode) -> AnyNode:
    """Return what stands inside round parentheses, any other node as it is."""
    return node.body if isinstance(node, Fence) and node.left == "(" else node


def is_tall(node: AnyNode, *, script: bool) -> bool:
    """Whether delimiters around a node have to grow: a stacked fraction or a root stands inside (``script``: in a power)."""
    match node:
        case Fraction():
            return node.stacked and not script
        case Root():
            return True
        case Row(items):
            return any(is_tall(item, script=script) for item in items)
        case Fence(_, _, body):
            return is_tall(body, script=script)
        case Script(base, _, _):
            return is_tall(base, script=script)
        case _:
            return False
