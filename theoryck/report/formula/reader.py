"""Reads the one line in which a claim is stated: prose and mathematics mixed, in the ASCII that docstrings use.

Nothing is refused: what cannot be read as a formula stays as it was written.  Prose and formulas come out in turn, so that a
page can break lines in the prose between them.
"""

from __future__ import annotations

from theoryck.report.formula.parser import parse
from theoryck.report.formula.symbols import OPERATORS, RELATIONS
from theoryck.report.formula.tokens import Group, Item, Token, nested, powers_closed, tokens, words_joined
from theoryck.report.formula.tree import AnyNode
from theoryck.report.formula.words import mathematical

Piece = str | AnyNode
SHORT = 5  # tokens of what need not stand on a line of its own
LONG = 24  # tokens of a formula that fits the line of a telephone


def read(text: str) -> list[Piece]:
    """Return prose (as text, with its spaces) and formulas (as trees) in turn.

    >>> [piece if isinstance(piece, str) else "<formula>" for piece in read("E phi(X)^2 = s, in words")]
    ['<formula>', ' ', '<formula>', ', in words']
    """
    return _pieces(nested(words_joined(powers_closed(tokens(text)))))


def _pieces(items: list[Item]) -> list[Piece]:
    pieces: list[Piece] = []
    run: list[Item] = []
    for item, known in zip(items, mathematical(items), strict=True):
        if known:
            if _breaks(item, run):
                _finish(pieces, run)
            run.append(item)
            continue
        _finish(pieces, run)
        _prose(pieces, item)
    _finish(pieces, run)
    return pieces


def _breaks(item: Item, run: list[Item]) -> bool:
    """Whether a line may be broken before an item: at a relation that has enough before it; ``n = d`` stays together."""
    relation = item.kind == "op" and item.text in RELATIONS and item.text != "in" and item.space
    return relation and sum(map(_size, run)) >= SHORT


def _finish(pieces: list[Piece], run: list[Item]) -> None:
    if not run:
        return
    if run[0].space and pieces:
        _add(pieces, " ")
    if len(run) == 1 and run[0].kind in ("op", "other"):  # an operator between words is a sign of punctuation
        _add(pieces, OPERATORS.get(run[0].text, (run[0].text, ""))[0])
    else:
        for at, part in enumerate(_parts(run)):
            if at:
                _add(pieces, " ")
            pieces.append(parse(part, goes_on=at > 0))
    run.clear()


def _parts(run: list[Item]) -> list[list[Item]]:
    """A long formula in parts between which a line may be broken: before a plus or a minus sign."""
    if sum(map(_size, run)) <= LONG:
        return [run]
    parts: list[list[Item]] = [[]]
    for at, item in enumerate(run):
        binary = item.kind == "op" and item.text in ("+", "-") and item.space and 0 < at < len(run) - 1
        if binary and run[at - 1].kind != "op" and run[at + 1].space:
            parts.append([])
        parts[-1].append(item)
    return parts


def _size(item: Item) -> int:
    return 1 + sum(map(_size, item.items)) if isinstance(item, Group) else 1


def _prose(pieces: list[Piece], item: Item) -> None:
    space = " " if item.space and pieces else ""
    if isinstance(item, Group):
        _add(pieces, space + item.left)
        for piece in _pieces(item.items):
            if isinstance(piece, str):
                _add(pieces, piece)
            else:
                pieces.append(piece)
        _add(pieces, item.right)
        return
    _add(pieces, space + _spelt(item))


def _spelt(item: Token) -> str:
    return OPERATORS[item.text][0] if item.kind == "op" and item.text in RELATIONS else item.text


def _add(pieces: list[Piece], text: str) -> None:
    if pieces and isinstance(pieces[-1], str):
        pieces[-1] += text
    elif text:
        pieces.append(text)
