"""One line of text as nested tokens (brackets, angles, bars), and one formula among them as a tree; every token finds a place."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from theoryck.report.formula.symbols import (
    ABBREVIATIONS,
    BIG,
    DOUBLE_STRUCK,
    FENCES,
    FUNCTIONS,
    GREEK,
    LETTERS,
    LOWERED,
    OPERATORS,
    RAISED,
    RELATIONS,
    SPELLINGS,
    is_letter,
)
from theoryck.report.formula.tree import Accent, AnyNode, Fence, Fraction, Number, Operator, Root, Row, Script, Symbol, Words, row

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
_RANGE = re.compile(r"(?<=[^\W_])\.\.(?=[^\W_])")
_SIGNS = ("+", "-", "+-", "-+")
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
    for match in _TOKEN.finditer(_RANGE.sub(", ..., ", _SMALL.sub(_full_size, text))):
        kind = match.lastgroup or "other"
        kind = "name" if kind == "short" else kind
        if kind == "space":
            space = True
            continue
        word = LETTERS.get(match.group(), match.group())
        if word in SPELLINGS:
            word = SPELLINGS[word]
            kind = "name" if word.isalpha() and word not in ("x", "in") else "op"
        kind = "name" if word == "oo" else kind
        power = word == "**" and not (found and found[-1].text in ("_", "^") and not space)  # K_** has two stars
        found.append(Token(kind, "^" if power else word, space))
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


def symbols_named(found: list[Token]) -> list[Token]:
    """Return tokens in which a word that stands for a symbol is one: ``N -> infinity`` and ``-> inf``, and R in ``x in R^d``."""
    done = list(found)
    for at, token in enumerate(found[1:], start=1):
        before, after = found[at - 1].text, found[at + 1 : at + 3]
        acts = bool(after) and (after[0].text in ("_", "(") or is_letter(after[0].text))  # an infimum, no infinity
        tends = before == "to" and at > 1 and is_letter(found[at - 2].text)  # as d to infinity
        limits = {"infinity": tends or (before != "in" and before in (*RELATIONS, *_SIGNS)), "inf": before == "->" and not acts}
        if limits.get(token.text):
            done[at] = replace(token, text="oo")
        elif token.text == "R" and [item.text for item in after[:1]] == ["^"] and len(after) > 1:
            space = before == "in" or (before == "of" and after[1].kind != "number")  # a sum of R^2 is one of numbers
            done[at] = replace(token, text="reals") if space else token
    return done


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
        return (
            not is_letter(token.text)
            and token.text not in {*FUNCTIONS, *BIG}
            and not is_letter(rest)
            and not is_differential(token.text)
        )
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
    opened: list[int] = []
    for at in range(start, len(found)):
        token = found[at]
        if token.kind != "op":
            continue
        if token.text in _CLOSING:
            opened.append(at)
        elif token.text in _CLOSING.values():
            first = opened.pop()
            if token.text != _CLOSING[found[first].text] and not _half_open(found[first : at + 1]):
                return None
            if not opened:
                return at
    return None


def _half_open(between: list[Token]) -> bool:
    """Whether brackets that differ are those of an interval, such as ``[0, oo)``: two ends, and no word of prose."""
    words = any(token.kind == "name" and not is_letter(token.text) and token.text not in FUNCTIONS for token in between)
    commas = sum(token.text == "," for token in between)
    return between[0].text + between[-1].text in ("[)", "(]") and commas == 1 and not words


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
            if starts and not acts and not _bar_opens(done[-1], item, items[at + 1 : at + 2], index=_is_index_sign(done)):
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


def _is_index_sign(items: list[Item]) -> bool:
    """Whether items end in a sign that is an index, as in ``z_-``, and no sum."""
    return len(items) > 1 and items[-1].text in _SIGNS and items[-2].text == "_" and not items[-1].space


def _bar_opens(before: Item, bar: Item, after: list[Item], *, index: bool = False) -> bool:
    accent = before.text in ("~", "^") and not before.space
    if before.kind == "op" and before.text not in ("'", "!", "!!", "*", ")") and not accent and not index:
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


_SIZES = "dnmpqkrhlwsDNMPQKRHLWSTCB"  # letters of what counts: a matrix is d x n, and E x y is a product
_FUNCTIONS = tuple(map(Symbol, "fgh"))  # letters that are applied, and no factors, where parentheses follow
_ACCENTS = {"tilde": "tilde", "hat": "hat", "bar": "bar"}


def parse(items: list[Item], *, goes_on: bool = False) -> AnyNode:
    """Return the tree of one formula; where it ``goes_on`` with another one, a sign at its beginning adds or subtracts."""
    return _Parser(items).everything(goes_on=goes_on)


class _Parser:
    def __init__(self, items: list[Item]) -> None:
        self.items = items
        self.at = 0
        self.cross = _cross(items)

    def peek(self, ahead: int = 0) -> Item | None:
        at = self.at + ahead
        return self.items[at] if at < len(self.items) else None

    def next(self) -> Item:
        self.at += 1
        return self.items[self.at - 1]

    def everything(self, *, goes_on: bool) -> AnyNode:
        found: list[AnyNode] = []
        while (item := self.peek()) is not None:
            if self.at == self.cross:
                found.append(_operator(self.next(), prefix=False))
            elif self.starts_operand(item):
                found.append(self.product())
            else:
                self.next()
                starts = not goes_on if not found else isinstance(found[-1], Operator)
                prefix = item.text in _SIGNS and starts
                found.append(_operator(item, prefix=prefix))
        return row(found) if found else Row(())

    @staticmethod
    def starts_operand(item: Item | None) -> bool:
        return item is not None and item.kind in ("name", "number", "group")

    def product(self) -> AnyNode:
        """Factors side by side, with the quotients among them: a slash divides all factors since the last sum or integral."""
        factors: list[AnyNode] = []
        start = 0
        while (item := self.peek()) is not None and self.at != self.cross:
            if self.starts_operand(item):
                factor = self.factor()
                apart = bool(factors) and not isinstance(factors[-1], Operator | Symbol) and not _is_big(factors[-1])
                if isinstance(factor, Number) and apart:
                    factors.append(Operator("*"))
                elif factors and isinstance(factors[-1], Fraction):  # 3/2 d: a bar says that d is not below it
                    factors[-1] = replace(factors[-1], forced=True)
                factors.append(factor)
                if _is_big(factor):
                    start = len(factors)
            elif item.text == "/" and len(factors) > start and self.starts_operand(self.peek(1)):
                self.next()
                quotient = Fraction(row(factors[start:]), self.divisor())
                factors[start:] = [quotient]
            elif item.text in ("*", ".", "\u00b7", "x") and item.kind == "op" and factors and self.starts_operand(self.peek(1)):
                self.next()
                factors.append(Operator("*" if item.text == "*" else item.text))
            else:
                break
        return row(factors)

    def divisor(self) -> AnyNode:
        """One factor, or a function or an expectation with what it acts on, as in ``1/log d`` and ``x/E y``."""
        divisor = self.factor()
        base = divisor.base if isinstance(divisor, Script) else divisor
        acts = isinstance(base, Symbol) and base.name in {*FUNCTIONS, *DOUBLE_STRUCK} and self.starts_operand(self.peek())
        return row([divisor, self.factor()]) if acts else divisor

    def factor(self) -> AnyNode:
        """One operand with its scripts; a name takes the parentheses that touch it, a number the name that touches it."""
        item = self.next()
        if item.kind == "number":
            number = self.scripts(Symbol("ones") if item.text == "1" and self.is_vector() else _number(item))
            following = self.peek()
            if following is not None and not following.space and following.kind in ("name",):
                return row([number, self.factor()])
            return number
        if isinstance(item, Group):
            return self.scripts(self.group(item))
        return self.named(item)

    def named(self, item: Item) -> AnyNode:
        following = self.peek()
        call = isinstance(following, Group) and not following.space and following.left in ("(", "[")
        if item.text in ("sqrt", "floor", "ceil") and isinstance(following, Group) and call:
            self.next()
            body = parse(following.items)
            fenced: AnyNode = Root(body) if item.text == "sqrt" else Fence(f"{item.text}(", f"{item.text})", body)
            return self.scripts(fenced)
        if item.text == "sqrt" and following is not None and following.kind in ("name", "number"):
            return Root(self.factor())
        name = self.scripts(named(item.text))
        following = self.peek()
        if item.text in ("E", "N", "P"):
            name = self.acting(item.text, name, following)
        if isinstance(following, Group) and not following.space and following.left in ("(", "["):
            self.next()
            argument = Fence(following.left, following.right, parse(following.items))
            return row([name, self.scripts(argument)])
        return name

    def is_vector(self) -> bool:
        """Whether a 1 is the vector of ones, as in ``1 1^T``: transposed, or followed by such a one."""
        start = 1 if (following := self.peek()) is not None and following.text == "1" and following.space else 0
        power = [found.text if found is not None else "" for found in (self.peek(start), self.peek(start + 1))]
        return power == ["^", "T"]

    def acting(self, letter: str, name: AnyNode, following: Item | None) -> AnyNode:
        """Tell an expectation, a probability and a normal law from variables of the same letter: they act on what follows."""
        if isinstance(name, Script) and (name.sup is not None or letter != "E"):
            return name
        meaning = "expectation" if letter == "E" and self.starts_operand(following) else ""
        if letter != "E" and isinstance(following, Group) and not following.space and following.left == "(":
            meaning = "normal" if letter == "N" else "probability"
        if not meaning:
            return name
        return Script(Symbol(meaning), name.sub) if isinstance(name, Script) else Symbol(meaning)

    def group(self, item: Group) -> AnyNode:
        body = parse(item.items)
        bare = self.peek() is None or self.peek().text not in ("^", "_") or self.peek().space  # type: ignore[union-attr]
        if item.left == "(" and isinstance(body, Fraction) and bare:
            following = self.peek()
            if following is None or following.text != "/":
                return Fraction(body.top, body.bottom, forced=True)
        return Fence(item.left, item.right, body)

    def scripts(self, base: AnyNode) -> AnyNode:
        """Take what is written close to a base: indices, powers, primes, accents, factorials."""
        sub: AnyNode | None = None
        sup: AnyNode | None = None
        suffix: list[AnyNode] = []
        while (item := self.peek()) is not None and item.kind == "op" and not item.space:
            text = item.text
            if text == "_" and self.has_script():
                self.next()
                index = self.script(base, above=False)
                sub = index if sub is None else row([sub, Operator(","), index])
                if isinstance(sub, Symbol) and sub.name in _ACCENTS:
                    base, sub = Accent(base, sub.name), None
            elif text == "^" and self.has_script():
                self.next()
                power = self.script(base, above=True)
                tower = sup is not None and not isinstance(sup, Operator)  # after a prime or a star a power stands beside it
                sup = power if sup is None else Script(sup, sup=power) if tower else row([sup, power])
            elif text == "^" and sup is None:
                self.next()
                base = Accent(base, "hat")
            elif text == "~" and self.is_tilde():
                self.next()
                base = Accent(base, "tilde")
            elif text in ("'", "''"):
                self.next()
                sup = Operator(text) if sup is None else row([sup, Operator(text)])
            elif text == "*" and self.is_star(base):
                self.next()
                sup = Operator("star") if sup is None else row([sup, Operator("star")])
            elif text in ("!", "!!"):
                self.next()
                suffix.append(Operator(text))
            else:
                break
        scripted = base if sub is None and sup is None else Script(base, sub, sup)
        return row([scripted, *suffix])

    def has_script(self) -> bool:
        following = self.peek(1)
        if following is None or following.space:
            return False
        if following.kind == "op":
            second = self.peek(2)
            signed = following.text in _SIGNS and second is not None and not second.space and second.kind != "op"
            alone = following.text in _SIGNS and (second is None or second.space or second.kind == "op")  # x_+^2
            return signed or alone or following.text in ("*", "**")
        return True

    def is_tilde(self) -> bool:
        following = self.peek(1)
        applied = isinstance(following, Group) and following.left == "("
        return following is None or following.space or following.kind == "op" or applied

    def is_star(self, base: AnyNode) -> bool:
        """Whether a star is no product: nothing follows, or f* is applied, as in ``f*(x)``."""
        following = self.peek(1)
        applied = isinstance(following, Group) and following.left == "(" and base in _FUNCTIONS
        return following is None or following.space or following.kind == "op" or applied

    def script(self, base: AnyNode, *, above: bool) -> AnyNode:
        item = self.next()
        if item.kind == "op":
            if item.text in ("*", "**"):
                return row([Operator("star")] * len(item.text))
            sign = Operator(item.text, prefix=True)
            following = self.peek()
            alone = following is None or following.space or following.kind == "op"
            return sign if alone else row([sign, self.script(base, above=above)])
        if isinstance(item, Group):
            body = parse(item.items)
            index = above and isinstance(base, Symbol) and base.name.isupper() and _is_index(item.items)
            keep = item.left not in ("(", "{") or (item.left == "(" and (index or not above))
            return Fence(item.left, item.right, body) if keep else body
        if item.kind == "number":
            return _number(item)
        if item.text == "star":
            return Operator("star")
        if above and item.text == "T":
            return Operator("transpose")
        return named("oo" if item.text == "inf" else item.text)


def _cross(items: list[Item]) -> int:
    """Where an x between spaces is the cross of a shape, -1 where none is: ``n x n`` alone, ``W d_0 x d_1`` anywhere."""
    for at in range(1, len(items) - 1):
        if items[at].text == "x" and items[at].space and items[at + 1].space:
            before, after = items[:at], items[at + 1 :]
            indexed = _is_size(before[-3:]) and _is_size(after[:3]) and len(before) > 2 and len(after) > 2
            if indexed or (_is_size(before) and _is_size(after)):
                return at
    return -1


def _is_size(items: list[Item]) -> bool:
    """Whether items are a number or a letter of sizes, with an index or without."""
    first = items[0]
    named = first.kind == "name" and first.text[0] in _SIZES and is_letter(first.text) and first.text not in GREEK
    return (named or first.kind == "number") and (len(items) == 1 or (len(items) == 3 and items[1].text == "_"))


def shape(items: list[Item]) -> AnyNode | None:
    """The sizes of an array with crosses between them: of ``(N, N)`` and ``(n x n)``, and the one of ``(4,)``; None of others."""
    if _cross(items) > 0:
        return parse(items)
    entries: list[list[Item]] = [[]]
    for item in items:
        entries = [*entries, []] if item.text == "," else [*entries[:-1], [*entries[-1], item]]
    single = len(entries) == 2 and not entries[-1]
    sizes = entries[: -1 if not entries[-1] else None]
    if len(entries) < 2 or not all(sizes):
        return None
    leading = [item.text for item in sizes[0]] == ["..."]  # axes of any number; elsewhere dots are of a sequence
    counted = {at: _is_size(_unshifted(entry)) for at, entry in enumerate(sizes) if at or not leading}
    lettered = any(size and sizes[at][0].kind == "name" for at, size in counted.items())  # (1, 0, 0) is a vector
    if not (single or lettered) or not all(size or _is_name(sizes[at]) for at, size in counted.items()):
        return None
    factors = [parse(entry) if entry is _unshifted(entry) else Fence("(", ")", parse(entry)) for entry in sizes]
    return row([part for factor in factors for part in (Operator("x"), factor)][1:])


def _unshifted(items: list[Item]) -> list[Item]:
    """What a number is added to or taken from."""
    return items[:-2] if len(items) > 2 and items[-2].text in ("+", "-") and items[-1].kind == "number" else items


def _is_name(items: list[Item]) -> bool:
    """Whether items are one word, which may name a size, such as ``draws``."""
    known = len(items) == 1 and items[0].kind == "name" and not is_letter(items[0].text)
    return known and items[0].text not in {*FUNCTIONS, *BIG, *GREEK, "oo"}


def _is_index(items: list[Item]) -> bool:
    """Whether a superscript in parentheses counts layers, as in ``K^(l+1)``, and is no power."""
    texts = [item.text for item in items]
    if not texts or items[0].kind not in ("name", "number"):
        return False
    return len(texts) == 1 or (len(texts) == 3 and texts[1] in ("+", "-") and items[2].kind == "number")


def _is_big(node: AnyNode) -> bool:
    base = node.base if isinstance(node, Script) else node
    return isinstance(base, Symbol) and base.name in BIG


def _number(item: Item) -> Number:
    return Number("0" + item.text if item.text.startswith(".") else item.text)


def is_differential(name: str) -> bool:
    """Whether a name is that of a differential, such as ``dF``."""
    return name.startswith("d") and len(name) == 2 and name[1].isupper()


def named(name: str) -> AnyNode:
    """A name as a symbol: digits at its end are an index, ``bar`` an accent, ``dF`` a differential, other words upright."""
    letter, underscore, index = name.partition("_")
    if underscore and index and is_letter(letter):
        return Script(Symbol(letter), sub=named(index))
    base = name.rstrip("0123456789")
    if base != name and is_letter(base):
        digits = Number(name[len(base) :])
        return Script(Symbol(base), sup=digits) if name == "L2" else Script(Symbol(base), sub=digits)
    if is_letter(name) or name in FUNCTIONS or name in BIG or name in GREEK:
        return Symbol(name)
    if is_differential(name):
        return Row((Words(" "), Symbol("d"), Symbol(name[1])))
    if name.endswith("bar") and is_letter(name.removesuffix("bar")):
        return Accent(Symbol(name.removesuffix("bar")), "bar")
    return Symbol(name)


def _operator(item: Item, *, prefix: bool) -> AnyNode:
    if item.text == "x" or (item.kind == "op" and item.text in OPERATORS):
        return Operator(item.text, prefix=prefix)
    if item.kind == "op" and item.text in FENCES:
        return Operator(item.text, prefix=True)
    return Words(item.text)
