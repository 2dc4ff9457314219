"""From one line of text to tokens, and from tokens to nested groups: brackets, angles, bars."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from theoryck.report.formula.symbols import ABBREVIATIONS, BIG, FUNCTIONS, GREEK, LETTERS, LOWERED, RAISED, SPELLINGS, is_letter

_TOKEN = re.compile(
    r"""(?P<space>\s+)
      | (?P<number>(?:\d+\.\d+|\d+|(?<![\w)])\.\d+)(?:e[+-]\d+(?!\d|\.\d)|e\d+(?!\w|\.\d))?)
      | (?P<short>(?<![\w.])(?:ABBREVIATIONS)\b\.?)
      | (?P<name>[^\W\d_]+\d*)
      | (?P<op>\*\*|\|\||\+-|-\+|\.\.\.|<->|<=>|<=|>=|!=|->|<-|=>|~=|<<|>>|''|!!|[-+*/^_=<>~.,;:|()\[\]{}'!])
      | (?P<other>.)""".replace("ABBREVIATIONS", "|".join(map(re.escape, ABBREVIATIONS))),
    re.VERBOSE | re.DOTALL,
)
_SMALL = re.compile(f"([{''.join(LOWERED)}]+)|([{''.join(RAISED)}]+)")
_ACTING = ("E", "P", "Var", "Cov", "log", "exp", "max", "min", "sup", "inf", "sum", "prod", "lim", "sign")  # on what follows
_CLOSING = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of text: ``kind`` is name, number, op or other; ``space`` tells whether white space stood before it."""

    kind: str
    text: str
    space: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """Items between delimiters."""

    left: str
    right: str
    items: list[Item] = field(default_factory=list)
    space: bool = False
    kind: str = "group"
    text: str = ""


Item = Token | Group


def tokens(text: str) -> list[Token]:
    """Split a text into tokens; every character other than white space is in one of them."""
    found: list[Token] = []
    space = False
    for match in _TOKEN.finditer(_SMALL.sub(_full_size, text)):
        kind = match.lastgroup or "other"
        kind = "name" if kind == "short" else kind
        if kind == "space":
            space = True
            continue
        word = LETTERS.get(match.group(), match.group())
        if word in SPELLINGS:
            word = SPELLINGS[word]
            kind = "name" if word.isalpha() and word not in ("x", "in") else "op"
        found.append(Token(kind, "^" if word == "**" else word, space))
        space = False
    return found


def _full_size(match: re.Match[str]) -> str:
    """Indices and powers that have characters of their own as ``_12`` and ``^-1``."""
    letters = LOWERED if match.group(1) else RAISED
    written = [letters[character] for character in match.group()]
    plain = len(written) == 1 or all(part.isdecimal() for part in written[1:])
    return ("_" if match.group(1) else "^") + ("".join(written) if plain else f"{{{' '.join(written)}}}")


def powers_closed(found: list[Token]) -> list[Token]:
    """Return tokens without the spaces around a power: ``x ** 2`` and ``x^ 2``, but ``x^ y`` is x with a hat."""
    closed = list(found)
    for at in range(1, len(closed) - 1):
        before, mark, after = closed[at - 1 : at + 2]
        operand = before.kind in ("name", "number") or before.text in (*_CLOSING.values(), "|", "'")
        if mark.kind == "op" and mark.text == "^" and operand and after.space and (mark.space or after.kind == "number"):
            closed[at], closed[at + 1] = replace(mark, space=False), replace(after, space=False)
    return closed


def words_joined(found: list[Token]) -> list[Token]:
    """Join what belongs to one word of prose: ``two-layer``, ``Stein's``, ``k-th`` stays a letter with a suffix."""
    joined: list[Token] = []
    at = 0
    while at < len(found):
        token = found[at]
        if at and _is_suffix(found[at - 1 : at + 3]):
            token = Token("name", token.text + found[at + 1].text)
            at += 1
        while token.kind == "name" and _goes_on(token, found[at + 1 : at + 3]):
            token = Token("name", token.text + found[at + 1].text + found[at + 2].text, token.space)
            at += 2
        joined.append(token)
        at += 1
    return joined


def _is_suffix(around: list[Token]) -> bool:
    """Whether a hyphen goes on after a number, a bracket or a Greek letter, as in ``2-layer`` and ``(k+1)-th``."""
    before, mark, rest = around if len(around) == 3 else around[:3] if len(around) == 4 else (None, None, None)
    if before is None or mark is None or rest is None or mark.text != "-" or mark.space or rest.space:
        return False
    if len(around) == 4 and not around[3].space and around[3].text in ("(", "_", "^", "*", "/"):
        return False
    known = is_letter(rest.text) or rest.text in FUNCTIONS or rest.text in BIG or rest.text == "sqrt"
    left = before.kind == "number" or before.text in _CLOSING.values() or before.text in GREEK
    return left and rest.kind == "name" and not known


def _goes_on(token: Token, following: list[Token]) -> bool:
    if len(following) < 2 or any(item.space for item in following) or following[1].kind != "name":
        return False
    mark, rest = following[0].text, following[1].text
    if mark == "-":
        return not is_letter(token.text) or rest == "th" or (len(token.text) == 1 and not is_letter(rest))
    if mark == "_":  # the name of something in code, such as input_dim
        return not is_letter(token.text) and token.text not in {*FUNCTIONS, *BIG} and not is_letter(rest)
    return mark == "'" and not is_letter(token.text) and rest in ("s", "t", "re", "ll", "ve")


def nested(found: list[Token]) -> list[Item]:
    """Return tokens as nested groups; a bracket without a partner stays a token."""
    items, _ = _until(found, 0, "")
    return items


def _until(found: list[Token], at: int, closing: str) -> tuple[list[Item], int]:
    """Collect items up to ``closing``; the position after it, or the length where it does not come."""
    items: list[Item] = []
    while at < len(found):
        token = found[at]
        if token.kind == "op" and token.text == closing:
            return _paired(items), at + 1
        if token.kind == "op" and token.text in _CLOSING:
            end = _partner(found, at)
            if end is not None:
                inner, _ = _until(found[at + 1 : end], 0, "")
                items.append(Group(token.text, found[end].text, inner, token.space))
                at = end + 1
                continue
        items.append(token)
        at += 1
    return _paired(items), at


def _partner(found: list[Token], start: int) -> int | None:
    """The position of the bracket that closes the one at ``start``; None where brackets do not match up to it."""
    open_brackets: list[str] = []
    for at in range(start, len(found)):
        token = found[at]
        if token.kind != "op":
            continue
        if token.text in _CLOSING:
            open_brackets.append(_CLOSING[token.text])
        elif token.text in _CLOSING.values():
            if token.text != open_brackets.pop():
                return None
            if not open_brackets:
                return at
    return None


def _paired(items: list[Item]) -> list[Item]:
    return _bars(_split_norms(_bars(_angles(items), "||")), "|")


def _angles(items: list[Item]) -> list[Item]:
    """Pair ``<w, x>``: opened by a mark that leans to the right, closed by one that leans to the left."""
    done: list[Item] = []
    starts: list[int] = []
    for at, item in enumerate(items):
        following = items[at + 1] if at + 1 < len(items) else None
        if item.text == "<" and following is not None and not following.space and (item.space or not done or _opens(done[-1])):
            starts.append(len(done))
        elif item.text == ">" and not item.space and starts:
            start = starts.pop()
            inner = _paired(done[start + 1 :])
            done[start:] = [Group("<", ">", inner, done[start].space)]
            continue
        done.append(item)
    return done


def _opens(item: Item) -> bool:
    return item.kind == "op" and item.text not in ("'", "!", "!!", ">")


def _bars(items: list[Item], bar: str) -> list[Item]:
    """Pair the bars of absolute values and norms; one that has no partner stays a token, as in ``E[x | y]``."""
    done: list[Item] = []
    starts: list[int] = []
    left = sum(item.text == bar for item in items)
    for at, item in enumerate(items):
        if item.text == bar:
            left -= 1
            acts = done and done[-1].text in _ACTING and left > len(starts) and _touches(items[at + 1 : at + 2])
            if starts and not acts and not _bar_opens(done[-1], item, items[at + 1 : at + 2]):
                start = starts.pop()
                if bar == "||" and _crosses(done[start + 1 :]):
                    done.append(item)
                    continue
                done[start:] = [Group(bar, bar, done[start + 1 :], done[start].space)]
                continue
            if left:
                starts.append(len(done))
        done.append(item)
    return done


def _touches(after: list[Item]) -> bool:
    return bool(after) and not after[0].space and after[0].kind != "op"


def _crosses(inner: list[Item]) -> bool:
    """Whether the first bar within a norm would close one that begins before it, as in ``||x|-|y||``."""
    first = next((at for at, item in enumerate(inner) if item.text == "|"), 0)
    return first > 0 and not _bar_opens(inner[first - 1], inner[first], inner[first + 1 : first + 2])


def _bar_opens(before: Item, bar: Item, after: list[Item]) -> bool:
    accent = before.text in ("~", "^") and not before.space
    if before.kind == "op" and before.text not in ("'", "!", "!!", "*", ")") and not accent:
        return True
    return bar.space and bool(after) and not after[0].space and after[0].kind != "op"


def _split_norms(items: list[Item]) -> list[Item]:
    """Take a double bar that found no partner as two single ones, as in ``||x|^2 - s|``; not so in ``p || q``."""
    bars = [at for at, item in enumerate(items) if item.text in ("|", "||")]
    if len(bars) == 1 and 0 < bars[0] < len(items) - 1:
        return items
    done: list[Item] = []
    for item in items:
        done.extend([Token("op", "|", item.space), Token("op", "|")] if item.kind == "op" and item.text == "||" else [item])
    return done
