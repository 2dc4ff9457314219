"""The text of every awkward report, compared to a file that a person has read.

After an intended change: ``THEORYCK_REGENERATE=1 pytest tests/golden``, then read the difference before committing it.
"""

import importlib.util
import os
import sys
from pathlib import Path

import pytest

from theoryck.report.layout import Style, cells
from theoryck.report.text import render

HERE = Path(__file__).parent


def _reports():
    name = "theoryck_golden_reports"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, HERE / "reports.py")
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


MODULE = _reports()
REPORTS = MODULE.REPORTS | MODULE.LARGE
STYLES = {
    "100": (Style(100), False),
    "80": (Style(80), False),
    "verbose": (Style(100), True),
    "color": (Style(100, color=True), False),
}


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("name", REPORTS)
def test_text_is_what_was_read(name, style):
    how, verbose = STYLES[style]
    text = render(REPORTS[name], how, verbose=verbose) + "\n"
    golden = HERE / "text" / f"{name}.{style}.txt"
    if os.environ.get("THEORYCK_REGENERATE"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [100, 80, 60])
@pytest.mark.parametrize("name", REPORTS)
def test_no_line_is_wider_than_the_terminal(name, width):
    for line in render(REPORTS[name], Style(width)).splitlines():
        # What is there to be copied stays whole: the command that repeats, and a word longer than the terminal.
        assert cells(line) <= width or line.startswith("  repeat  ") or max(map(len, line.split())) > width - 20, line


@pytest.mark.parametrize("name", ["refuted", "vacuous", "falsehood-stands", "rival-stands", "nan"])
def test_what_fell_is_said_in_words_first_in_the_line_and_last_in_the_text(name):
    text = render(REPORTS[name], Style(100))
    assert any(line.startswith("! ") for line in text.splitlines())
    assert "NOT AS DECLARED" in text.split("\n\n")[-1]
    assert "\x1b" not in text


def test_untrusted_names_cannot_send_control_characters():
    text = render(REPORTS["hostile-names"], Style(100))
    assert all(c == "\n" or c.isprintable() for c in text)
