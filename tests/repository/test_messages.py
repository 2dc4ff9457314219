"""Every message a user can meet, in one text that a person has read: each names the thing, shows the value, says what to do.

After an intended change: ``THEORYCK_REGENERATE=1 pytest tests/repository/test_messages.py``, then read the difference.
"""

import difflib
import importlib.util
import os
import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
GOLDEN = HERE.parent / "golden" / "text" / "messages.txt"
REQUIRES = re.compile(r" must (be|have|contain|lie|not|vanish)\b")


def _tool():
    spec = importlib.util.spec_from_file_location("theoryck_messages", HERE / "messages.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TOOL = _tool()


@pytest.fixture(scope="module")
def text():
    return TOOL.rendered()


def test_messages_are_those_that_were_read(text):
    if os.environ.get("THEORYCK_REGENERATE"):
        GOLDEN.write_text(text, encoding="utf-8")
    expected = GOLDEN.read_text(encoding="utf-8") if GOLDEN.exists() else ""
    changed = difflib.unified_diff(expected.splitlines(), text.splitlines(), "read", "now", lineterm="", n=0)
    assert text == expected, "read the new messages, then THEORYCK_REGENERATE=1 pytest " + f"{__file__}:\n" + "\n".join(changed)


def requirements_without_a_value(text):
    """Messages that say what something must be and do not show what it was."""
    lines = [line for line in text.splitlines() if line.startswith("  ") and not line.startswith("  text: ")]
    return [line for line in lines if REQUIRES.search(line) and "{" not in line and ", got " not in line]


def test_what_must_be_is_said_with_what_was(text):
    assert requirements_without_a_value(text) == []
    assert requirements_without_a_value("  ValueError: depth must be >= 0\n  ValueError: n must be odd, got {n}") == [
        "  ValueError: depth must be >= 0"
    ]


def test_all_is_printable_ascii(text):
    assert text.isascii()


SOURCE = '''
"""A docstring of many words is no message."""

def f(name, value, error):
    """Neither is this one, of many words."""
    if value:
        raise ValueError(f"{name} must be 0, got {value!r}") from error
    if name:
        raise fail("cannot" + (" really" if value > 2 else "") + f" do it: {', '.join(value)}")
    warnings.warn("this is slow", stacklevel=2)
    click.echo(f"note: {value:.3g}", err=True)
    click.echo("to standard output")
    reason = "more draws would decide" if value else f"{len(f'{value}')} draws are few"
    option("--json", help="where to write the report")
    db.execute("SELECT a FROM b")
    return reason, "two words"
'''
WANTED = [
    ("ValueError", "{name} must be 0, got {value!r}"),
    ("fail", "cannot[ really | ] do it: {', '.join(value)}"),
    ("warning", "this is slow"),
    ("stderr", "note: {value}"),
    ("text", "to standard output"),
    ("text", "[more draws would decide | {len('{value}')} draws are few]"),
]


def test_every_kind_of_message_is_found():
    assert TOOL.messages(SOURCE) == WANTED
    assert TOOL.messages(SOURCE, showing=True) == [each for each in WANTED if each[0] != "text"]


def test_a_new_message_would_be_seen():
    assert TOOL.messages(SOURCE + "\nraise OSError('new')\n") != WANTED
