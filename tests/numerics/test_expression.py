"""The whitelist parser: what it reads, what it refuses, and that texts and expressions are inverse to each other."""

from __future__ import annotations

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.functions.domain import parse_expression
from theoryck.numerics.functions.expression import FUNCTIONS, ExpressionError, canonical, read_text, x

MALICIOUS = [
    "__import__('os').system('x')",
    "x.__class__",
    "().__class__.__bases__[0]",
    "lambda: 0",
    "(y for y in x)",
    "[x, x]",
    "{x}",
    "x if x else 1",
    "x and 1",
    "not x",
    "x < 1",
    "(y := x)",
    "f'{x}'",
    "'x'",
    "b'x'",
    "True",
    "None",
    "...",
    "1j*x",
    "open('f')",
    "eval('x')",
    "exec('x')",
    "getattr(x, 'name')",
    "sin.__call__(x)",
    "sin(x)(x)",
    "sin(*x)",
    "sin(x=x)",
    "await x",
    "x[0]",
    "x; x",
    "x = 1",
    "import os",
    "print(x)",
    "x\x00",
    "",
    "   ",
    "x//2",
    "x % 2",
    "x @ x",
    "x ^ 2",
    "~x",
    "x | 1",
]


@pytest.mark.parametrize("text", MALICIOUS)
def test_refuses_everything_that_is_not_arithmetic(text: str) -> None:
    with pytest.raises(ExpressionError):
        parse_expression(text)


EXPENSIVE = [
    "9**9**9",
    "x**9**9",
    "x**65",
    "(x**64)**64",
    "x**64*x**64",
    "9**-9**9",
    "1e400",
    "1e-400*x",
    "1e999999999*x",
    "9" * 900,
    "exp(exp(exp(exp(100))))",
    "max(exp(exp(exp(100))), x)",
    "((((9**64)**64)**64)**64)*x",
    "x**(1/97)",
    "(" * 400 + "x" + ")" * 400,
    "-" * 900 + "x",
    "sin(" * 180 + "x" + ")" * 180,
    "x" + "+x" * 600,
    "x**x**x",
]


@pytest.mark.parametrize("text", EXPENSIVE, ids=range(len(EXPENSIVE)))
def test_refuses_expensive_text(text: str) -> None:
    with pytest.raises(ExpressionError):
        parse_expression(text)
    # A parser that multiplied out 9**9**9 would never come here.


def test_error_names_the_thing_shows_the_text_and_suggests() -> None:
    with pytest.raises(ExpressionError, match=r"unknown function 'tahn'.*'tanh'.*in the expression '1 \+ tahn\(x\)'"):
        parse_expression("1 + tahn(x)")
    with pytest.raises(ExpressionError, match="unknown name 'y': the variable is x"):
        parse_expression("tanh(y)")
    with pytest.raises(ExpressionError, match=r"'tanh' is a function: write tanh\(x\)"):
        parse_expression("tanh*x")
    with pytest.raises(ExpressionError, match="write \\*\\* for a power"):
        parse_expression("x^2")
    with pytest.raises(ExpressionError, match="tanh takes 1 argument, got 2"):
        parse_expression("tanh(x, x)")
    with pytest.raises(ExpressionError, match="must be a rational number"):
        parse_expression("2**x")
    assert issubclass(ExpressionError, ValueError)
    with pytest.raises(TypeError, match="text must be a str"):
        parse_expression(3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "point", "complaint"),
    [
        ("log(x)", "x = ", "log"),
        ("sqrt(x)", "x = -", "sqrt"),
        ("1/x", "x = 0", "1/x"),
        ("x/(x**2 - 2)", "x = ", "x/"),
        ("sin(x)/x", "x = 0", "1/x"),
        ("x**(1/3)", "x = -", "x"),
        ("tan(x)", "x = ", "tan"),
        ("1/(1 - tanh(x)*2)", "x = 0.549306", "tanh"),
        ("log(abs(x))", "x = 0", "log"),
        ("sqrt(cos(x))", "x = ", "cos"),
        ("x + 1/(exp(x) - 3)", "x = 1.09861", "exp"),
    ],
)
def test_functions_that_are_not_total_are_refused_at_a_named_point(text: str, point: str, complaint: str) -> None:
    with pytest.raises(ExpressionError, match="real and finite on the whole line") as caught:
        parse_expression(text)
    assert point in str(caught.value)
    assert complaint in str(caught.value)
    with pytest.raises(ExpressionError):
        Activation(text)


@pytest.mark.parametrize(
    "text",
    [
        "1/(1 + x**2)",
        "log(cosh(x))",
        "sqrt(1 + sin(x))",
        "1/(x**2 + x + 1)",
        "tan(sin(x))",
        "log(2 + cos(x))",
        "1/cosh(x)",
        "sqrt(x**2)",
    ],
)
def test_total_functions_are_accepted(text: str) -> None:
    assert parse_expression(text).has(x)


@pytest.mark.parametrize(
    "text", ["sqrt(-1)*x", "log(-2)", "0**-1", "1/0", "1/(x - x)", "0/0", "log(0)", "1/(2 - 2)", "sqrt(-1)**2"]
)
def test_constants_that_are_not_real_numbers_are_refused(text: str) -> None:
    with pytest.raises(ExpressionError):
        parse_expression(text)


def test_decimals_are_the_rationals_they_spell() -> None:
    assert parse_expression("0.1*x") == x / 10
    assert parse_expression("1e-3*x + 2.50") == x / 1000 + sympy.Rational(5, 2)
    assert parse_expression("1_000*x") == 1000 * x


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x*exp(-x**2/2)", x * sympy.exp(-(x**2) / 2)),
        ("arctan(x)", sympy.atan(x)),
        ("relu(x)", sympy.Max(0, x)),
        ("max(x, -x, 1)", sympy.Max(x, -x, 1)),
        ("e**(-x)", sympy.exp(-x)),
        ("(x**2-1)/sqrt(2)", (x**2 - 1) / sympy.sqrt(2)),
        ("pi*sech(x)", sympy.pi * sympy.sech(x)),
        ("+x - -x", 2 * x),
    ],
)
def test_reads(text: str, expected: sympy.Expr) -> None:
    assert parse_expression(text) == expected


def test_sympy_expressions_in_another_symbol_are_refused_with_a_hint() -> None:
    with pytest.raises(ExpressionError, match=r"theoryck\.numerics\.functions\.x"):
        Activation(sympy.tanh(sympy.Symbol("x")))
    with pytest.raises(ExpressionError):
        Activation(sympy.gamma(x))
    with pytest.raises(TypeError):
        Activation(3)


def _texts() -> st.SearchStrategy[str]:
    number = st.sampled_from(["1", "2", "3", "1/2", "0.3", "pi", "e", "sqrt(2)", "7/3"])
    unary = sorted(name for name, (count, _, _) in FUNCTIONS.items() if count == 1 and name not in ("log", "sqrt", "tan"))

    def extend(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        return st.one_of(
            st.builds("{}({})".format, st.sampled_from(unary), inner),
            st.builds("({} {} {})".format, inner, st.sampled_from("+-*"), inner),
            st.builds("({})/{}".format, inner, number),
            st.builds("({})**{}".format, inner, st.sampled_from("23")),
            st.builds("sqrt(1 + ({})**2)".format, inner),
            st.builds("log(2 + sin({}))".format, inner),
            st.builds("1/(1 + ({})**2)".format, inner),
            st.builds("{}({}, {})".format, st.sampled_from(["max", "min"]), inner, inner),
        )

    return st.recursive(st.one_of(st.just("x"), st.just("x"), number), extend, max_leaves=4)


@settings(max_examples=80)
@given(_texts())
def test_text_and_expression_are_inverse(text: str) -> None:
    try:
        expression, printed = canonical(read_text(text))
    except ExpressionError as error:
        # Constants may be out of range (exp(exp(...)) and the like); nothing else may go wrong with these texts.
        assert "constant" in str(error) or "out of range" in str(error) or "too large" in str(error)  # noqa: PT017
        return
    assert read_text(printed, max_length=10**5) == expression
    assert canonical(expression) == (expression, printed)
