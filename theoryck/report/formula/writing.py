"""The public functions: text in, MathML or LaTeX out."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from html import escape

from theoryck.records import Kind, Prediction
from theoryck.report import numbers
from theoryck.report.claims import clean
from theoryck.report.formula import elements, tex
from theoryck.report.formula.parser import named
from theoryck.report.formula.rates import is_expression, names_in, read_rate
from theoryck.report.formula.reader import Piece, read
from theoryck.report.formula.tree import AnyNode, Fence, Fraction, Number, Operator, Row, Script, Symbol, Words, row

LONGEST = 2000  # characters of a statement that are read as mathematics; a longer text is shown as it is

_CODE = re.compile(r"``([^`]+)``|:\w+:`([^`]+)`")
SIZES = 6  # of a path that are written out


def mathml(text: str, *, display: bool = False) -> str:
    """Return a statement as HTML: prose, escaped, with its formulas as ``<math>`` elements between the words.

    ``display`` sets sums and fractions large.  Lines break between the formulas, at relations and at words.

    >>> mathml("at n = d")
    'at <math><mi>n</mi><mo ...>=</mo><mi>d</mi></math>'
    """
    return _joined(text, lambda found: elements.pieces(found, display=display), lambda part: f"<code>{escape(part)}</code>")


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
    return elements.pieces(_rate(rate, parameters or {}))


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
    quantity = f"<code>{escape(clean(prediction.quantity))}</code>"
    return quantity + " " + elements.pieces(_expected(prediction))


def prediction_latex(prediction: Prediction) -> str:
    r"""Return what a claim expects, as LaTeX: ``quantity <= C rate``, and the path along which it is measured.

    >>> print(prediction_latex(Prediction(Kind.BOUND, "gap", "d", {"d": "8, 16", "n": "d**2"}, rate="1/sqrt(d)")))
    \texttt{gap} $\le C/\sqrt{d}$, along $d =$ 8, 16, $n = d^{2}$
    """
    return f"{tex.code(clean(prediction.quantity))} {tex.pieces(_expected(prediction))}"


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
    value = _number(numbers.enclosed(prediction.value, 15)) if prediction.value is not None else Words("?")
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
