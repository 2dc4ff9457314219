"""Values of a claim's arguments as Python code: the ``@tc.example(...)`` line that a reader pastes."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any


@dataclass(frozen=True)
class Line:
    """A decorator as code, the imports it needs, and the arguments that could not be written."""

    text: str
    imports: tuple[str, ...] = ()
    unwritten: tuple[str, ...] = ()


def example_line(parameters: Mapping[str, Any]) -> Line:
    """Return ``@tc.example(...)`` for the arguments of a claim.

    >>> example_line({"k": 4, "noise": Fraction(1, 2)})
    Line(text='@tc.example(k=4, noise=Fraction(1, 2))', imports=('from fractions import Fraction',), unwritten=())
    >>> example_line({"law": object}).unwritten
    ('law',)
    """
    imports: set[str] = set()
    parts, unwritten = [], []
    for name, value in parameters.items():
        code = _code(value, imports)
        if code is None:
            unwritten.append(name)
        parts.append(f"{name}={'...' if code is None else code}")
    return Line(f"@tc.example({', '.join(parts)})", tuple(sorted(imports)), tuple(unwritten))


def _code(value: Any, imports: set[str]) -> str | None:
    """Return an expression whose value it is, or None; what it needs besides ``tc`` is added to ``imports``."""
    from theoryck.numerics.functions.activation import Activation
    from theoryck.theory.networks.model import DeepNetwork

    if isinstance(value, Activation):
        return f'tc.Activation("{value.text}")'
    if isinstance(value, DeepNetwork):
        widths = _code(value.widths, imports)
        return (
            None
            if widths is None
            else f'tc.DeepNetwork(tc.Activation("{value.activation.text}"), depth={value.depth}, widths={widths})'
        )
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)
    if isinstance(value, Fraction | Decimal):
        imports.add(f"from {type(value).__module__} import {type(value).__name__}")
        return repr(value)
    if isinstance(value, list | tuple):
        codes = [_code(item, imports) for item in value]
        if any(code is None for code in codes):
            return None
        inside = ", ".join(str(code) for code in codes)
        return f"[{inside}]" if isinstance(value, list) else f"({inside}{',' if len(codes) == 1 else ''})"
    return _size_code(value)


def _size_code(value: Any) -> str | None:
    """A width such as ``2*d`` is a product of a size and a number."""
    from theoryck.theory.networks.model import SizeExpression

    if not isinstance(value, SizeExpression):
        return None
    try:
        tree = ast.parse(str(value), mode="eval")
    except SyntaxError:
        return None
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    whole = all(isinstance(node.value, int) for node in ast.walk(tree) if isinstance(node, ast.Constant))
    plain = isinstance(tree.body, ast.Name) or (isinstance(tree.body, ast.BinOp) and isinstance(tree.body.op, ast.Mult))
    if len(names) != 1 or not whole or not plain:
        return None
    (name,) = names
    return str(value).replace(name, f'tc.size("{name}")') if str(value).count(name) == 1 else None
