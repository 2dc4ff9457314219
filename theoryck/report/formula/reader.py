"""Reads the one line in which a claim is stated: prose and mathematics mixed, in the ASCII that docstrings use.

Nothing is refused: what cannot be read as a formula stays as it was written.  Prose and formulas come out in turn, so that a
page can break lines in the prose between them.
"""

from __future__ import annotations

from theoryck.report.formula.parser import (
    Group,
    Item,
    Token,
    is_differential,
    nested,
    parse,
    powers_closed,
    shape,
    symbols_named,
    tokens,
    words_joined,
)
from theoryck.report.formula.symbols import AMBIGUOUS, BIG, FUNCTIONS, OPERATORS, RELATIONS, is_letter
from theoryck.report.formula.tree import AnyNode

_ARITHMETIC = ("+", "-", "+-", "-+", "*", "/", "\u00b7")
_CONNECTIVES = ("and", "or", "for", "at", "with", "where", "as", "in", "is", "on", "of", "to", "from", "by")
_PUNCTUATION = (",", ";", ":")


def mathematical(items: list[Item]) -> list[bool]:
    """Tell for each item of a statement whether it belongs to a formula."""
    found = [_alone(items, at) for at in range(len(items))]
    for at in reversed(range(len(items))):  # a function acts on what follows it, which is known by then
        if found[at] is None:
            found[at] = _named(items, at, found)
    return [bool(known) if known is not None else _joined(items, at, found) for at, known in enumerate(found)]


def is_prose(items: list[Item]) -> bool:
    """Whether some word of prose stands among items."""
    return any(not known and item.kind == "name" for item, known in zip(items, mathematical(items), strict=True))


def _alone(items: list[Item], at: int) -> bool | None:
    """What can be said of one item from its immediate neighbours; None where it depends on more."""
    item = items[at]
    before, after = _neighbours(items, at)
    if isinstance(item, Group):
        return _group(item, before, after)
    if item.kind == "name":
        if _article(item, before, after):
            return False
        if _scripted(after) or (before is not None and before.text in ("_", "^") and not item.space):
            return True
        if isinstance(after, Group) and not after.space and after.left in "([":
            return True
        if item.text == "sqrt" and after is not None and (after.kind == "number" or (after.text != "a" and is_letter(after.text))):
            return True
        return None
    if item.kind == "op" and item.text in ("^", "_"):
        return True
    return None


def _neighbours(items: list[Item], at: int) -> tuple[Item | None, Item | None]:
    return (items[at - 1] if at else None), (items[at + 1] if at + 1 < len(items) else None)


def _scripted(after: Item | None) -> bool:
    return after is not None and after.kind == "op" and after.text in ("_", "^") and not after.space


def _article(item: Token, before: Item | None, after: Item | None) -> bool:
    """Whether ``a`` or ``A`` is the article: a word follows, or another letter after white space."""
    if item.text not in ("a", "A") or not isinstance(after, Token) or after.kind != "name" or not after.space:
        return False
    if before is not None and before.text in ("=", "^", "_", *_ARITHMETIC, *(FUNCTIONS if item.text == "A" else ())):
        return False
    return item.text == "a" or not is_letter(after.text)


def _group(item: Group, before: Item | None, after: Item | None) -> bool:
    if item.left != "(":
        return True
    if after is not None and after.kind == "op" and after.text in ("^", "_", "/") and not after.space:
        return True
    if _follows_array(item, before) and shape(item.items) is not None:
        return False
    if (
        before is not None
        and not item.space
        and (before.kind in ("name", "number", "group") or before.text in ("^", "_", "/", "'"))
    ):
        return True
    if len(item.items) == 1 and item.items[0].kind == "number":
        return before is not None and (before.kind != "name" or is_letter(before.text))
    return bool(item.items) and not is_prose(item.items)


def _follows_array(item: Group, before: Item | None) -> bool:
    """Whether parentheses stand behind what may be an array, and a space: ``Q (K, K)`` is neither a value nor a product."""
    if before is None or not item.space:
        return False
    points = {"E", "N", *_CONNECTIVES} - {"is", "or"}  # N (0, 1) is a law, at (n, d) a point; a kernel is (n, n)
    array = before.kind == "name" and before.text not in points
    return array or before.kind == "group" or before.text in ("~", "'", "*")


def _named(items: list[Item], at: int, found: list[bool | None]) -> bool | None:
    """Decide a name: letters are mathematics, functions where they act on something, other words beside an operator."""
    item = items[at]
    before, after = _neighbours(items, at)
    if item.kind != "name":
        return None
    name = item.text
    if is_letter(name):
        return True
    follows = at + 1 < len(items) and bool(found[at + 1] or (after is not None and after.kind == "number"))
    if name in BIG or name in FUNCTIONS:
        if follows or (name not in AMBIGUOUS and _beside(before, after, (*_ARITHMETIC, *RELATIONS))):
            return True
        return name in BIG and after is not None and after.text in _ARITHMETIC
    if is_differential(name):
        return True
    if name.endswith("bar") and is_letter(name.removesuffix("bar")):
        return True
    return _word_in_formula(items, at, found)


def _beside(before: Item | None, after: Item | None, marks: tuple[str, ...]) -> bool:
    return any(item is not None and item.kind == "op" and item.text in marks for item in (before, after))


def _word_in_formula(items: list[Item], at: int, found: list[bool | None]) -> bool:
    """Whether a word is a factor or a term, as ``ratio`` in ``n = ratio * d``; not so inside a phrase."""
    before, after = _neighbours(items, at)
    if after is not None and after.text == "*" and after.space and at + 2 < len(items) and not _is_word(items[at + 2]):
        return True
    if before is not None and before.text in ("E", "Var") and after is not None and after.text in RELATIONS:
        return True
    if before is not None and before.text == "*" and not before.space and items[at].space:  # w* is no product with what follows
        return False
    if items[at].text in _CONNECTIVES:  # 1 or -1
        return False
    if _is_word(before) or (_is_word(after) and after is not None and after.text not in _CONNECTIVES):
        return False
    for mark, step in ((before, -1), (after, 1)):
        if mark is not None and mark.kind == "op" and mark.text in _ARITHMETIC:
            other = items[at + 2 * step] if 0 <= at + 2 * step < len(items) else None
            if other is not None and not _is_word(other) and other.text not in ("^", "_"):  # x^+ ends in a sign
                return True
    return False


def _is_word(item: Item | None) -> bool:
    return (
        item is not None
        and item.kind == "name"
        and not is_letter(item.text)
        and item.text not in FUNCTIONS
        and item.text not in BIG
    ) or (item is not None and item.text == "a" and item.kind == "name")


def _joined(items: list[Item], at: int, found: list[bool | None]) -> bool:
    """Decide numbers and operators, which go with their neighbours."""
    item = items[at]
    if item.kind == "other" or (item.kind == "op" and item.text in (*_PUNCTUATION, "...", "'", *"()[]{}")):
        accented = at > 1 and items[at - 1].text == "~" and not items[at - 1].space  # of g~', which is decided after its letter
        primed = at > 0 and bool(found[at - 2] if accented else found[at - 1])
        return item.kind == "op" and item.text == "'" and primed and not item.space
    sides = [_reaches(items, at, step, found) for step in (-1, 1)]
    if item.kind == "op" and item.text == ".":
        tight = at + 1 < len(items) and items[at + 1].space == item.space
        return all(sides) and tight
    if item.kind == "op" and item.text in ("*", "~", "!", "!!") and not item.space:
        product = item.text == "*" and at > 0 and items[at - 1].kind == "number" and sides[1]
        return product or (at > 0 and (bool(found[at - 1]) or items[at - 1].kind == "op" or sides[0]))
    return any(sides)


def _reaches(items: list[Item], at: int, step: int, found: list[bool | None]) -> bool:
    """Whether, over operators and numbers, an item of a formula comes next on one side (or a number: then both are)."""
    numbers = 0
    at += step
    while 0 <= at < len(items):
        item = items[at]
        known = found[at]
        if known is not None:
            return known
        if item.kind not in ("number", "op") or item.text in (*_PUNCTUATION, "..."):
            return False
        numbers += item.kind == "number"
        if item.kind == "op" and item.text not in (*_ARITHMETIC, *RELATIONS, "!", "!!", "~", "*"):
            return False
        at += step
    return False


Piece = str | AnyNode
SHORT = 5  # tokens of what need not stand on a line of its own
LONG = 24  # tokens of a formula that fits the line of a telephone


def read(text: str) -> list[Piece]:
    """Return prose (as text, with its spaces) and formulas (as trees) in turn.

    >>> [piece if isinstance(piece, str) else "<formula>" for piece in read("E phi(X)^2 = s, in words")]
    ['<formula>', ' ', '<formula>', ', in words']
    """
    return _pieces(nested(words_joined(symbols_named(powers_closed(tokens(text))))))


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
        sizes = shape(item.items)
        for piece in _pieces(item.items) if sizes is None else [sizes]:
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
