"""The Markdown of every awkward report, compared to a file that a person has read.

After an intended change: ``THEORYCK_REGENERATE=1 pytest tests/golden``, then read the difference before committing it.
"""

import importlib.util
import os
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis.strategies import lists, sampled_from
from markdown_it import MarkdownIt

from theoryck.report.markdown import code, escape, render

HERE = Path(__file__).parent


def _reports():
    name = "theoryck_golden_reports"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, HERE / "reports.py")
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


REPORTS = _reports().REPORTS
ALL = REPORTS | _reports().LARGE


def columns(row):
    """How many cells GitHub sees in a row: a bar parts cells unless a backslash stands before it, in code, too."""
    return len(re.findall(r"(?<!\\)\|", row)) - 1


def outside_code(markdown):
    """What is left of Markdown without its code, and without the tags that are written here."""
    return re.sub(r"(`+).*?\1", "", markdown).replace("<sub>", "").replace("</sub>", "").replace("<br>", "").replace("<!-- -->", "")


@pytest.mark.parametrize("name", REPORTS)
def test_markdown_is_what_was_read(name):
    markdown = render(REPORTS[name])
    golden = HERE / "markdown" / f"{name}.md"
    if os.environ.get("THEORYCK_REGENERATE"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(markdown, encoding="utf-8")
    assert markdown == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ALL)
def test_every_row_has_the_columns_of_the_head(name):
    rows = [line for line in render(ALL[name]).splitlines() if line.startswith("| ")]
    assert {columns(row) for row in rows} <= {9}


def test_a_bar_too_many_would_be_seen():
    assert columns("| a | b |") == 2
    assert columns(r"| a \| b |") == 1
    assert columns(f"| {code('a|b', cell=True)} | {escape('c|d')} |") == 2


@pytest.mark.parametrize("name", ALL)
def test_no_html_comes_from_a_report(name):
    assert "<" not in outside_code(render(ALL[name]))


@pytest.mark.parametrize("name", ["refuted", "vacuous", "falsehood-stands", "rival-stands", "nan"])
def test_what_fell_is_said_before_the_table_marked_in_it_and_told_below(name):
    before, table, below = re.split(r"(\| verdict .*?\n\n)", render(REPORTS[name]), maxsplit=1, flags=re.DOTALL)
    assert "NOT AS DECLARED" in before
    assert "| **!** **" in table
    assert "\n### " in below
    assert "- **repeat** `theoryck check" in below or not REPORTS[name].results[0].repeat


TAGS = {"table", "thead", "tbody", "tr", "th", "td", "p", "strong", "code", "h2", "h3", "li", "ul", "blockquote", "br", "sub"}
PIECES = [
    "a",
    " ",
    "|",
    "`",
    "``",
    "\\",
    "*",
    "_",
    "[x](y)",
    "<b>",
    "<!--",
    "-->",
    "&lt;",
    "~~",
    "$x$",
    "@who",
    "#1",
    "\n",
    "# ",
    "- ",
    "> ",
]


def shown(markdown):
    """The tags that a Markdown parser makes of a report, and the numbers of cells in its rows."""
    html = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(markdown)
    rows = re.findall("<tr>(.*?)</tr>", html, re.DOTALL)
    return set(re.findall(r"<(\w+)", html)), {len(re.findall("<t[dh]", row)) for row in rows}


@given(lists(sampled_from(PIECES), max_size=12).map("".join))
def test_names_make_no_markup_whatever_they_are(name):
    like = REPORTS["refuted"].results[1]
    judgement = replace(like.judgement, reason=name, flags=(name,), assuming=name)
    awkward = replace(
        like, claim=name or "c", statement=name, reference=name, repeat=name, instance={name: name}, judgement=judgement
    )
    tags, widths = shown(render(replace(REPORTS["refuted"], results=(awkward,), profile=name or "p")))
    assert tags <= TAGS
    assert widths == {9}


def test_markup_would_be_seen():
    assert shown("| a | b |\n| - | - |\n| ~~c~~ | d |\n") == ({"table", "thead", "tbody", "tr", "th", "td", "s"}, {2})


def test_a_code_span_holds_any_text():
    assert code("a`b") == "``a`b``"
    assert code("`") == "`` ` ``"
    assert code("a|b") == "`a|b`"
