"""Reads rates and expressions in sizes, the small language of ``rate=`` and of paths, into formulas.

The text is parsed by ``ast`` and walked here; nothing is run, and what is not of the language is shown as it was written.
"""

from __future__ import annotations

import ast
import warnings

from theoryck.report.formula.parser import named
from theoryck.report.formula.tree import AnyNode, Fence, Fraction, Number, Operator, Root, Row, Script, Symbol, Words, row

LONGEST = 500
DEEPEST = 40


def read_rate(text: str) -> AnyNode:
    """Return the tree of a rate such as ``(1+sqrt(n/d)+n/d)/sqrt(d)``, or its words where it is none."""
    tree = _parsed(text)
    found = _node(tree, 0) if tree is not None else None
    return Words(text) if found is None else found


def names_in(text: str) -> set[str]:
    """Return the names that occur in a rate; none where it cannot be parsed."""
    tree = _parsed(text)
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} if tree is not None else set()


def is_expression(text: str) -> bool:
    """Whether a text is of the language of rates."""
    tree = _parsed(text)
    return tree is not None and _node(tree, 0) is not None


def _parsed(text: str) -> ast.expr | None:
    if len(text) > LONGEST:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def _node(node: ast.expr, depth: int) -> AnyNode | None:
    if depth > DEEPEST:
        return None
    match node:
        case ast.Constant(value=bool()):
            return None
        case ast.Constant(value=int() | float()):
            return Number(f"{node.value:.15g}" if isinstance(node.value, float) else str(node.value))
        case ast.Name(id=name):
            return named(name)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = _grouped(operand, depth, ast.Add, ast.Sub)
            return None if inner is None else row([Operator("-", prefix=True), inner])
        case ast.BinOp(left=left, op=op, right=right):
            return _binary(left, op, right, depth)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if args:
            return _call(name, args, depth)
    return None


def _binary(left: ast.expr, op: ast.operator, right: ast.expr, depth: int) -> AnyNode | None:
    if isinstance(left, ast.UnaryOp) and isinstance(left.op, ast.USub) and isinstance(op, ast.Div | ast.Mult):
        rest = _binary(left.operand, op, right, depth)  # -a/b is -(a/b)
        return None if rest is None else row([Operator("-", prefix=True), rest])
    if isinstance(op, ast.Mult) and _is_one(left):
        return _node(right, depth + 1)
    if (isinstance(op, ast.Mult | ast.Div | ast.Pow)) and _is_one(right):
        return _node(left, depth + 1)
    if isinstance(op, ast.Pow):
        base, power = _base(left, depth), _node(right, depth + 1)
        return None if base is None or power is None else Script(base, sup=power)
    if isinstance(op, ast.Div):
        top, bottom = _grouped(left, depth, ast.Add, ast.Sub), _grouped(right, depth, ast.Add, ast.Sub, ast.Mult, ast.Div)
        return None if top is None or bottom is None else Fraction(_closed(top, quotient=False), bottom)
    if isinstance(op, ast.Mult):
        first, second = (_grouped(side, depth, ast.Add, ast.Sub) for side in (left, right))
        between = [Operator("*")] if _starts_with_number(right) else []
        return None if first is None or second is None else row([_closed(first, quotient=True), *between, second])
    if isinstance(op, ast.Add | ast.Sub):
        second = _grouped(right, depth, ast.Add, ast.Sub) if isinstance(op, ast.Sub) else _node(right, depth + 1)
        first = _node(left, depth + 1)
        return None if first is None or second is None else row([first, Operator("+" if isinstance(op, ast.Add) else "-"), second])
    return None


def _closed(node: AnyNode, *, quotient: bool) -> AnyNode:
    """A factor that another one follows: a quotient at its end gets a bar, and what a logarithm is of gets parentheses."""
    items = node.items if isinstance(node, Row) else (node,)
    last = items[-1]
    if quotient and isinstance(last, Fraction):
        return row([*items[:-1], Fraction(last.top, last.bottom, forced=True)])
    if len(items) > 1 and items[-2] == Symbol("log") and not isinstance(last, Fence):
        return row([*items[:-1], Fence("(", ")", last)])
    return node


def _is_one(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value == 1


def _starts_with_number(node: ast.expr) -> bool:
    while isinstance(node, ast.BinOp):
        node = node.left
    return isinstance(node, ast.Constant)


def _grouped(node: ast.expr, depth: int, *weaker: type[ast.operator]) -> AnyNode | None:
    """A part in parentheses where its operator binds less than the one around it."""
    inner = _node(node, depth + 1)
    needs = isinstance(node, ast.UnaryOp) or (isinstance(node, ast.BinOp) and isinstance(node.op, weaker))
    return Fence("(", ")", inner) if needs and inner is not None else inner


def _base(node: ast.expr, depth: int) -> AnyNode | None:
    """The base of a power: in parentheses unless it is a name, a number or a call in parentheses of its own."""
    inner = _node(node, depth + 1)
    if inner is None:
        return None
    bare = isinstance(node, ast.Name) or (isinstance(node, ast.Constant) and "e" not in str(node.value))
    return inner if bare and not isinstance(inner, Script) else Fence("(", ")", inner)


def _call(name: str, args: list[ast.expr], depth: int) -> AnyNode | None:
    listed: list[AnyNode] = []
    for arg in args:
        inner = _node(arg, depth + 1)
        if inner is None:
            return None
        listed += [Operator(","), inner] if listed else [inner]
    if name == "sqrt" and len(args) == 1:
        return Root(listed[0])
    if name == "log" and len(args) == 1 and isinstance(args[0], ast.Name):
        return Row((named(name), listed[0]))
    return Row((named(name), Fence("(", ")", row(listed))))
