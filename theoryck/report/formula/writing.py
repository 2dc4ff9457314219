"""The public functions: text in, MathML or LaTeX out.

Rates and expressions in sizes are parsed by ``ast`` and walked; nothing is run, and what is not of the language is shown as it
was written.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Mapping
from html import escape

from theoryck.records import Kind, Prediction
from theoryck.report import numbers
from theoryck.report.claims import clean, measured
from theoryck.report.formula import tex
from theoryck.report.formula.mathml import pieces as elements
from theoryck.report.formula.parser import named
from theoryck.report.formula.reader import Piece, read
from theoryck.report.formula.tree import AnyNode, Fence, Fraction, Number, Operator, Root, Row, Script, Symbol, Words, row

_LONGEST = 500  # characters that are parsed as a rate
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
    if len(text) > _LONGEST:
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


LONGEST = 2000  # characters of a statement that are read as mathematics; a longer text is shown as it is

_CODE = re.compile(r"``([^`]+)``|:\w+:`([^`]+)`")
SIZES = 6  # of a path that are written out


def mathml(text: str, *, display: bool = False) -> str:
    """Return a statement as HTML: prose, escaped, with its formulas as ``<math>`` elements between the words.

    ``display`` sets sums and fractions large.  Lines break between the formulas, at relations and at words.

    >>> mathml("at n = d")
    'at <math><mi>n</mi><mo ...>=</mo><mi>d</mi></math>'
    """
    return _joined(text, lambda found: elements(found, display=display), lambda part: f"<code>{escape(part)}</code>")


def latex(text: str) -> str:
    r"""Return a statement as LaTeX for running text: prose, escaped, with its formulas between dollar signs.

    >>> print(latex("E phi(X)^2 <= C d^(-k/2), 5% of all"))
    $\operatorname{\mathbb{E}}\varphi (X)^{2} \le Cd^{-k/2}$, 5\% of all
    """
    return _joined(text, tex.pieces, tex.code)


def rate_mathml(rate: str, parameters: Mapping[str, str] | None = None) -> str:
    """Return a rate as HTML; the parameters that occur in it are given after it.

    >>> rate_mathml("d**(-k/2)", {"k": "2"}).count("<math>")
    2
    """
    return elements(_rate(rate, parameters or {}))


def rate_latex(rate: str, parameters: Mapping[str, str] | None = None) -> str:
    r"""Return a rate as LaTeX; the parameters that occur in it are given after it.

    >>> print(rate_latex("(1+sqrt(n/d))/sqrt(d)"))
    $\frac{1 + \sqrt{n/d}}{\sqrt{d}}$
    """
    return tex.pieces(_rate(rate, parameters or {}))


def prediction_mathml(prediction: Prediction) -> str:
    """Return what a claim expects, as HTML: ``quantity <= C rate``, and the path along which it is measured.

    >>> prediction_mathml(Prediction(Kind.SCALING, "gap()", "d", {"d": "8, 16"}, exponent=-1.0))
    '<code>gap()</code> <math>...</math>, along <math><mi>d</mi>...</math> 8, 16'
    """
    quantity = f"<code>{escape(measured(prediction))}</code>"
    return quantity + " " + elements(_expected(prediction))


def prediction_latex(prediction: Prediction) -> str:
    r"""Return what a claim expects, as LaTeX: ``quantity <= C rate``, and the path along which it is measured.

    >>> print(prediction_latex(Prediction(Kind.BOUND, "gap", "d", {"d": "8, 16", "n": "d**2"}, rate="1/sqrt(d)")))
    \texttt{gap} $\le C/\sqrt{d}$, along $d =$ 8, 16, $n = d^{2}$
    """
    return f"{tex.code(measured(prediction))} {tex.pieces(_expected(prediction))}"


def _joined(text: str, formulas: Callable[[list[Piece]], str], code: Callable[[str], str]) -> str:
    """Write a line: prose and mathematics, and code, which docstrings put between double backticks or into roles."""
    written, end = "", 0
    line = clean(text)
    for match in _CODE.finditer(line):
        written += _spaced(line[end : match.start()], formulas) + code(match.group(1) or match.group(2))
        end = match.end()
    return written + _spaced(line[end:], formulas)


def _spaced(part: str, formulas: Callable[[list[Piece]], str]) -> str:
    before, after = part[:1].isspace(), part[1:][-1:].isspace()  # the reader leaves out spaces at the ends
    return " " * before + formulas(_read(part.strip())) + " " * after


def _read(line: str) -> list[Piece]:
    if len(line) > LONGEST:
        return [line]
    try:
        return read(line)
    except RecursionError:  # hundreds of nested brackets: nobody reads them as a formula
        return [line]


def _rate(rate: str, parameters: Mapping[str, str]) -> list[Piece]:
    pieces: list[Piece] = [_shown(rate)]
    used = [name for name in parameters if name in names_in(rate)]
    for at, name in enumerate(used):
        pieces += [" at " if at == 0 else ", ", row([named(name), Operator("="), _shown(parameters[name])])]
    return pieces


def _shown(text: str) -> AnyNode:
    return read_rate(clean(text))


def _expected(prediction: Prediction) -> list[Piece]:
    relation, what = _relation(prediction)
    pieces: list[Piece] = [*relation, row(what)] if what else [*relation]
    if prediction.kind is Kind.LIMIT and prediction.rate is not None:
        pieces += [" with a difference ", row([Symbol("O"), Fence("(", ")", _shown(prediction.rate))])]
    used = [name for name in prediction.parameters if prediction.rate is not None and name in names_in(prediction.rate)]
    for name in used:
        pieces += [", ", row([named(name), Operator("="), _shown(prediction.parameters[name])])]
    return pieces + _path(prediction)


def _relation(prediction: Prediction) -> tuple[list[Piece], list[AnyNode]]:
    """What is expected of the quantity: words, and a formula that begins with a relation."""
    rate = _shown(prediction.rate) if prediction.rate is not None else None
    constant = _number(numbers.plain(prediction.constant)) if prediction.constant is not None else Symbol("C")
    value = _number(numbers.enclosed(prediction.value, 15)) if prediction.value is not None else Symbol("L")
    match prediction.kind:
        case Kind.BOUND:
            return [], [Operator("<="), *_times(constant, rate)]
        case Kind.SCALING:
            exponent = Symbol("s") if prediction.exponent is None else _number(numbers.plain(prediction.exponent))
            power = Script(named(prediction.base or "d"), sup=exponent)
            return [], [Operator("~"), *_times(constant, rate or power)]
        case Kind.LIMIT:
            return [], [Operator("->"), value]
        case Kind.IDENTITY:
            return [], [Operator("="), value]
        case Kind.LAW:
            expected: list[AnyNode] = (
                [Operator("->"), Number("0")] if rate is None else [Operator("<="), *_times(Symbol("C"), rate)]
            )
            return ["(distance from the claimed law) "], expected


def _times(constant: AnyNode, rate: AnyNode | None) -> list[AnyNode]:
    """A constant times a rate: ``C/n`` for ``1/n``, a sum in parentheses, a point between two numbers."""
    if rate is None or rate == Number("1"):
        return [constant]
    if isinstance(rate, Fraction) and _leftmost(rate) == Number("1"):
        return [_instead_of_one(rate, constant)]
    if isinstance(rate, Row) and any(isinstance(item, Operator) and item.name in "+-" for item in rate.items):
        return [constant, Fence("(", ")", rate)]
    numeric = isinstance(_leftmost(rate), Number)
    return [constant, Operator("*"), rate] if numeric else [constant, rate]


def _leftmost(node: AnyNode) -> AnyNode:
    """What a formula begins with: the base of a power, the numerator of numerators."""
    while isinstance(node, Row | Fraction | Script):
        node = node.items[0] if isinstance(node, Row) else node.top if isinstance(node, Fraction) else node.base
    return node


def _instead_of_one(node: AnyNode, constant: AnyNode) -> AnyNode:
    """A quotient of 1 as one of a constant; where the 1 is a factor of more, with the constant before it."""
    if isinstance(node, Fraction):
        return Fraction(_instead_of_one(node.top, constant), node.bottom, node.forced)
    return constant if node == Number("1") else row([constant, Operator("*"), node])


def _number(text: str) -> AnyNode:
    """A number as written by :mod:`theoryck.report.numbers`, its sign and its power of ten as mathematicians write them."""
    if text.startswith("-"):
        return row([Operator("-", prefix=True), _number(text[1:])])
    match = re.fullmatch(r"([0-9.]+(?:\([0-9]+\))?)e([+-]?[0-9]+)", text)
    return Number(text) if re.fullmatch(r"[0-9.]+(\([0-9]+\))?", text) or match else Words(text)


def _path(prediction: Prediction) -> list[Piece]:
    pieces: list[Piece] = []
    for name, text in prediction.path.items():
        size = clean(text)
        pieces.append(", along " if not pieces else ", ")
        if is_expression(size):
            pieces.append(row([named(name), Operator("="), _shown(size)]))
        else:
            pieces += [row([named(name), Operator("=")]), " " + _listed(size)]
    return pieces


def _listed(sizes: str) -> str:
    """A list of sizes, a long one by its first three and its last."""
    listed = sizes.replace("...", "\u2026").split(", ")
    return ", ".join([*listed[:3], "\u2026", listed[-1]] if len(listed) > SIZES else listed)
