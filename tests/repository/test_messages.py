"""Every text of a raised error, read from the source: each shows the value or says what to do, in printable ASCII."""

import ast
import re
from pathlib import Path

import theoryck

PACKAGE = Path(theoryck.__file__).parent
REQUIRES = re.compile(r" must (be|have|contain|lie|not|vanish)\b")
REMEDY = re.compile(r"[:;] |\b(needs?|give|leave out|allowed|only|got)\b")
# What no user meets alone: why one method declined where another goes on, what cannot happen, and the errors of reading an
# expression or a rate and of a look at what is installed, to which the text or the line is added where they are caught.
INTERNAL = {"NoBound", "AssertionError", "ArithmeticError", "LookupError", "RateError"}


def raised(tree):
    """Pairs (name of the exception, text) of the raises of a module; ``{...}`` stands for what is filled in."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            call = node.exc
            name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
            for argument in [*call.args, *(keyword.value for keyword in call.keywords)]:
                if text := shown(argument):
                    yield name, text


def shown(node):
    """A text expression as its reader meets it; empty for what is no text."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(shown(part) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        return "{...}"
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        parts = shown(node.left), shown(node.right)
        return "".join(part or "{...}" for part in parts) if any(parts) else ""
    if isinstance(node, ast.IfExp):
        return f"{shown(node.body)} | {shown(node.orelse)}" if shown(node.body) + shown(node.orelse) else ""
    return ""


def problem(name, text):
    """What is wrong with a text of an error, or an empty text."""
    value = "{" in text or ", got " in text
    if not (text.isascii() and text.replace("\n", " ").isprintable()):
        return "it is not printable ASCII"
    if REQUIRES.search(text) and not value:
        return "it says what must be, and not what was: add ', got {value}'"
    alone = name[:1].isupper() and name not in INTERNAL  # not a function of the module, which adds the value
    if alone and len(text.split()) > 2 and not value and not REMEDY.search(text):
        return "it neither shows a value nor says what to do"
    return ""


def test_every_error_shows_the_value_or_says_what_to_do():
    found = [
        (path.relative_to(PACKAGE).as_posix(), name, text)
        for path in sorted(PACKAGE.rglob("*.py"))
        for name, text in raised(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert len(found) > 500
    assert [(*each, problem(*each[1:])) for each in found if problem(*each[1:])] == []


SOURCE = """
raise ValueError(f"{name} must be 0, got {value!r}") from error
raise fail("cannot" + (" really" if value > 2 else "") + f" do it: {', '.join(value)}", at=3)
raise NoBound("a kink inside the strip")
raise OSError
"""


def test_every_raise_is_found():
    assert sorted(raised(ast.parse(SOURCE))) == [
        ("NoBound", "a kink inside the strip"),
        ("ValueError", "{...} must be 0, got {...}"),
        ("fail", "cannot really |  do it: {...}"),
    ]


def test_what_is_wrong_with_a_text_would_be_seen():
    assert problem("ValueError", "depth must be >= 0") == "it says what must be, and not what was: add ', got {value}'"
    assert problem("ValueError", "this is quite wrong") == "it neither shows a value nor says what to do"
    assert problem("ValueError", "{...} \u2265 0 is needed") == "it is not printable ASCII"
    assert problem("NoBound", "a kink inside the strip") == problem("ValueError", "{...} is wrong") == ""
