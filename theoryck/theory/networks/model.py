"""Deep random networks: which widths, in which sizes; no number is drawn here."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from theoryck.numerics.functions.activation import Activation

MAX_DEPTH = 100
_MAX_POWER = 8
_MAX_TEXT = 200


@dataclass(frozen=True, slots=True)
class SizeExpression:
    """A width as a monomial in named sizes: coefficient * prod name^power, coefficient > 0 rational, powers integers.

    Raises ValueError for a coefficient that is not positive.

    >>> d = size("d")
    >>> str(3 * d / 2), (2 * d).value({"d": 8})
    ('3*d/2', 16)
    >>> [str(width) for width in (1, 2, 1, 3) * d]
    ['d', '2*d', 'd', '3*d']
    """

    coefficient: Fraction
    powers: tuple[tuple[str, int], ...]

    def __post_init__(self) -> None:
        if self.coefficient <= 0:
            raise ValueError(f"a width must be positive, got the coefficient {self.coefficient}")

    def __mul__(self, other: object) -> SizeExpression:
        factor = _as_factor(other)
        return NotImplemented if factor is None else _combine(self, factor, 1)

    def __rmul__(self, other: object) -> object:
        if isinstance(other, list | tuple):
            return tuple(self * entry for entry in other)
        return self * other

    def __truediv__(self, other: object) -> SizeExpression:
        factor = _as_factor(other)
        return NotImplemented if factor is None else _combine(self, factor, -1)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the sizes it needs."""
        return tuple(name for name, _ in self.powers)

    def value(self, sizes: Mapping[str, int]) -> int:
        """Return the width at ``sizes``; a missing name, a size below 1 or a width that is not an integer raises ValueError."""
        total = self.coefficient
        for name, power in self.powers:
            total *= Fraction(_lookup(name, sizes, str(self))) ** power
        if total.denominator != 1 or total < 1:
            shown = ", ".join(f"{name}={sizes[name]}" for name in self.names)
            raise ValueError(f"the width {self} is {total} at {shown}: widths must be integers >= 1, choose other sizes")
        return int(total)

    def __str__(self) -> str:
        above = [_power_text(name, power) for name, power in self.powers if power > 0]
        below = [_power_text(name, -power) for name, power in self.powers if power < 0]
        if self.coefficient.numerator != 1 or not above:
            above.insert(0, str(self.coefficient.numerator))
        if self.coefficient.denominator != 1:
            below.insert(0, str(self.coefficient.denominator))
        return "/".join(["*".join(above), *below])


def _power_text(name: str, power: int) -> str:
    return name if power == 1 else f"{name}**{power}"


def _as_factor(value: object) -> SizeExpression | None:
    if isinstance(value, SizeExpression):
        return value
    if isinstance(value, int | Fraction) and not isinstance(value, bool):
        return SizeExpression(Fraction(value), ())
    return None


def _combine(left: SizeExpression, right: SizeExpression, sign: int) -> SizeExpression:
    powers = dict(left.powers)
    for name, power in right.powers:
        powers[name] = powers.get(name, 0) + sign * power
    kept = tuple(sorted((name, power) for name, power in powers.items() if power))
    return SizeExpression(left.coefficient * right.coefficient**sign, kept)


def _lookup(name: str, sizes: Mapping[str, int], where: str) -> int:
    if name not in sizes:
        close = difflib.get_close_matches(name, list(sizes), n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        given = ", ".join(sizes) or "none"
        raise ValueError(f"the width {where!r} needs a size {name!r}: {hint}sizes given: {given}; a path gives it as {name}=...")
    value = sizes[name]
    if isinstance(value, bool) or int(value) != value or value < 1:
        raise ValueError(f"the size {name!r} must be an integer >= 1, got {value!r}")
    return int(value)


def size(text: str) -> SizeExpression:
    """Return the width that ``text`` spells: a product or quotient of names and positive integers, such as "d" or "3*d/2".

    Raises ValueError for a text that is no such product.

    >>> (1, 2) * size("d")
    (SizeExpression(coefficient=Fraction(1, 1), powers=(('d', 1),)), SizeExpression(coefficient=Fraction(2, 1), powers=(('d', 1),)))
    """
    if not isinstance(text, str) or not 0 < len(text.strip()) <= _MAX_TEXT:
        raise ValueError(f"a width must be an integer or a text such as 'd' or '2*d', got {text!r}")
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError(f"cannot read the width {text!r}: write it like 'd', '2*d' or 'd/2'") from None
    return _read_size(tree.body, text)


def _read_size(node: ast.AST, text: str) -> SizeExpression:
    if isinstance(node, ast.Name):
        return SizeExpression(Fraction(1), ((node.id, 1),))
    if isinstance(node, ast.Constant) and type(node.value) is int and 0 < node.value < 10**9:
        return SizeExpression(Fraction(node.value), ())
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div):
        sign = 1 if isinstance(node.op, ast.Mult) else -1
        return _combine(_read_size(node.left, text), _read_size(node.right, text), sign)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and isinstance(node.right, ast.Constant):
        power = node.right.value
        if type(power) is int and 1 <= power <= _MAX_POWER:
            base = _read_size(node.left, text)
            return SizeExpression(base.coefficient**power, tuple((name, p * power) for name, p in base.powers))
    part = ast.get_source_segment(text.strip(), node) or type(node).__name__
    raise ValueError(f"{part[:60]!r} in the width {text!r} is not allowed: a width is a product of names and positive integers")


Width = int | SizeExpression
"""A concrete width, or one that depends on the sizes of a path."""


@dataclass(frozen=True, init=False)
class DeepNetwork:
    """The random network x_0 ~ N(0, I/d_0), x_l = phi(W_l x_{l-1})/sqrt(d_l), l = 1..L, entries of W_l iid N(0, 1).

    ``activation`` is an :class:`Activation` or anything that makes one, ``depth`` is L >= 0, ``widths`` has the L + 1 entries
    d_0, ..., d_L: integers, texts ("2*d") or size expressions; without ``widths`` they are the path's ``input_dim`` and
    ``width``.  Raises ValueError for a depth or widths that are not such.

    >>> network = DeepNetwork("tanh", depth=3, widths=(1, 2, 1, 3) * size("d"))
    >>> network.layer_widths({"d": 16}), network.names
    ((16, 32, 16, 48), ('d',))
    >>> DeepNetwork("erf", depth=2).layer_widths({"input_dim": 10, "width": 7})
    (10, 7, 7)
    >>> DeepNetwork("erf", depth=1).parameters
    {'activation': 'erf(x)', 'depth': 1, 'widths': ['input_dim', 'width']}
    """

    activation: Activation
    depth: int
    widths: tuple[Width, ...]

    def __init__(self, activation: Activation | str, depth: int, widths: Iterable[object] | None = None) -> None:
        if isinstance(depth, bool) or not isinstance(depth, int) or not 0 <= depth <= MAX_DEPTH:
            raise ValueError(f"depth must be an integer from 0 to {MAX_DEPTH}, got {depth!r}")
        phi = activation if isinstance(activation, Activation) else Activation(activation)
        object.__setattr__(self, "activation", phi)
        object.__setattr__(self, "depth", depth)
        object.__setattr__(self, "widths", _widths(depth, widths))

    @property
    def input_dim(self) -> Width:
        """The entry d_0.

        >>> str(DeepNetwork("tanh", depth=1).input_dim), DeepNetwork("tanh", depth=1, widths=(8, "d")).input_dim
        ('input_dim', 8)
        """
        return self.widths[0]

    @property
    def names(self) -> tuple[str, ...]:
        """The sizes a path has to provide, in order of first use."""
        return tuple(dict.fromkeys(name for width in self.widths if isinstance(width, SizeExpression) for name in width.names))

    @property
    def pattern(self) -> tuple[str, ...]:
        """The widths as texts, input first: "d", "2*d".

        >>> DeepNetwork("tanh", depth=2, widths=(8, "d", "2*d")).pattern
        ('8', 'd', '2*d')
        """
        return tuple(str(width) for width in self.widths)

    def layer_widths(self, sizes: Mapping[str, int]) -> tuple[int, ...]:
        """Return (d_0, ..., d_L) at ``sizes``; a missing size or a width that is not an integer >= 1 raises ValueError."""
        return tuple(width if isinstance(width, int) else width.value(sizes) for width in self.widths)

    @property
    def name(self) -> str:
        """What names it in tables, seeds and files."""
        return str(self)

    @property
    def parameters(self) -> dict[str, Any]:
        """The network as JSON-able data."""
        return {"activation": self.activation.text, "depth": self.depth, "widths": list(self.pattern)}

    def __str__(self) -> str:
        return f"DeepNetwork({self.activation.text}, depth={self.depth}, widths=({', '.join(self.pattern)}))"


def _widths(depth: int, widths: Iterable[object] | None) -> tuple[Width, ...]:
    if widths is None:
        return (size("input_dim"), *(size("width") for _ in range(depth)))
    if isinstance(widths, str) or not isinstance(widths, Sequence):
        raise ValueError(f"widths must be a tuple of depth + 1 = {depth + 1} entries, input first, got {widths!r}")
    if len(widths) != depth + 1:
        shown = tuple(str(width) for width in widths)
        raise ValueError(f"widths must have depth + 1 = {depth + 1} entries (input first), got {len(widths)}: {shown}")
    return tuple(as_width(width, f"widths[{index}]") for index, width in enumerate(widths))


def as_width(width: object, name: str) -> Width:
    """Return a width that is an integer >= 1, a text or a size expression; ValueError, which names it, for anything else."""
    if isinstance(width, SizeExpression):
        return width
    if isinstance(width, str):
        return size(width)
    if isinstance(width, bool) or not hasattr(width, "__index__") or width.__index__() < 1:
        raise ValueError(f"{name} must be an integer >= 1, a text such as 'd' or '2*d' or a size expression, got {width!r}")
    return int(width.__index__())


def width_at(width: Width, sizes: Mapping[str, int]) -> int:
    """Return a width at ``sizes``; ValueError for a size that is missing or a width that is no integer >= 1."""
    return width if isinstance(width, int) else width.value(sizes)
