"""Reads one formula, given as nested tokens, into a tree; a tolerant one: every token finds a place."""

from __future__ import annotations

from dataclasses import replace

from theoryck.report.formula.symbols import BIG, DOUBLE_STRUCK, FENCES, FUNCTIONS, GREEK, OPERATORS, is_letter
from theoryck.report.formula.tokens import Group, Item
from theoryck.report.formula.tree import Accent, AnyNode, Fence, Fraction, Number, Operator, Root, Row, Script, Symbol, Words, row

_SIGNS = ("+", "-", "+-", "-+")
_SIZES = "dnmpqkrhlwsDNMPQKRHLWSTCB"  # letters of what counts: a matrix is d x n, and E x y is a product
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
            elif text == "~" and (self.peek(1) is None or self.peek(1).space or self.peek(1).kind == "op"):  # type: ignore[union-attr]
                self.next()
                base = Accent(base, "tilde")
            elif text in ("'", "''"):
                self.next()
                sup = Operator(text) if sup is None else row([sup, Operator(text)])
            elif text == "*" and self.is_star():
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
            alone = following.text in ("+", "-") and (second is None or second.space)
            return signed or alone or following.text == "*"
        return True

    def is_star(self) -> bool:
        following = self.peek(1)
        return following is None or following.space or following.kind == "op"

    def script(self, base: AnyNode, *, above: bool) -> AnyNode:
        item = self.next()
        if item.kind == "op":
            if item.text == "*":
                return Operator("star")
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
        if above and item.text == "T":
            return Operator("transpose")
        if item.text == "inf":
            return Operator("infinity")
        return named(item.text)


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
    letter = items[0].kind == "number" or (items[0].kind == "name" and items[0].text[0] in _SIZES and is_letter(items[0].text))
    return letter and (len(items) == 1 or (len(items) == 3 and items[1].text == "_"))


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
    if name.startswith("d") and len(name) == 2 and name[1].isupper():
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
