"""The body of the page of every awkward report, compared to a file that a person has read.

Style and script are left out (the browser tests look at what they do), and so are the insides of pictures and of formulas, which
have tests of their own: ``<svg/>`` stands for a picture, and of a formula only its letters are kept.
After an intended change: ``THEORYCK_REGENERATE=1 pytest tests/golden``, then read the difference before committing it.
"""

import importlib.util
import os
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from theoryck.report.html import render
from theoryck.report.layout import Style
from theoryck.report.text import sum_line

HERE = Path(__file__).parent
VOID = {"meta", "link", "br", "col", "input", "img", "path", "mspace"}


def _reports():
    name = "theoryck_golden_reports"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, HERE / "reports.py")
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name].REPORTS


REPORTS = _reports()


def fragment(page):
    """What lies between the body's tags, without script, insides of pictures and markup of formulas."""
    body = page.partition("<body>")[2].partition("<script>")[0]
    body = re.sub(r"<svg.*?</svg>", "<svg/>", body, flags=re.DOTALL)
    body = re.sub(
        r"(<math[^>]*>)(.*?)</math>", lambda math: f"<math>{re.sub('<[^>]*>', '', math[2])}</math>", body, flags=re.DOTALL
    )
    return "\n".join(line for line in body.splitlines() if line.strip()) + "\n"


@pytest.mark.parametrize("name", REPORTS)
def test_page_is_what_was_read(name):
    text = fragment(render(REPORTS[name]))
    golden = HERE / "html" / f"{name}.html"
    if os.environ.get("THEORYCK_REGENERATE"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


class Nesting(HTMLParser):
    """Faults of nesting: an end tag that closes another element, and elements that are never closed."""

    def __init__(self):
        super().__init__()
        self.open = []
        self.faults = []

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            self.faults.append(f"</{tag}> at {self.getpos()} closes {self.open[-1:]}")
        else:
            self.open.pop()


def nesting(page):
    reader = Nesting()
    reader.feed(page)
    return reader.faults + [f"<{tag}> is never closed" for tag in reader.open if tag not in ("p", "li")]


@pytest.mark.parametrize("name", REPORTS)
def test_every_element_is_closed_where_it_was_opened(name):
    assert nesting(render(REPORTS[name])) == []


def test_wrong_nesting_would_be_seen():
    assert nesting("<p><b>x</p></b>")
    assert nesting("<div>")
    assert not nesting("<p>a<br>b</p><path/>")


@pytest.mark.parametrize("name", ["refuted", "vacuous", "falsehood-stands", "rival-stands", "nan", "inconclusive"])
def test_what_fell_or_is_open_stands_above_the_table_with_its_reason(name):
    above = render(REPORTS[name]).partition("<main>")[2].partition("<table")[0]
    assert ('class="alarms failed"' in above) != (name == "inconclusive")
    assert 'class="reason"' in above
    assert "Every claim came out" not in above


def test_what_is_well_is_said_and_what_was_interrupted_is_said_too():
    assert "Every claim came out as its author declared" in render(REPORTS["all-well"])
    assert "alarms" not in fragment(render(REPORTS["all-well"]))
    assert "<strong>Interrupted.</strong>" in render(REPORTS["interrupted"])
    assert "No claim was checked" in render(REPORTS["zero-claims"])


@pytest.mark.parametrize("name", REPORTS)
def test_page_and_text_count_the_same(name):
    said = sum_line(REPORTS[name], Style(10_000)).partition(": ")[2].partition(" (profile")[0]
    counted = re.findall(r'<li class="\w+"><b>(\d+)</b>', render(REPORTS[name]))
    assert counted == re.findall(r"\d+", said.rpartition(": ")[2])


def test_untrusted_names_cannot_send_control_characters():
    text = render(REPORTS["hostile-names"])
    assert all(c == "\n" or c.isprintable() for c in text)
