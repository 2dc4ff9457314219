"""The page itself: texts as markup, the template filled, a policy made from the hashes of its style sheet and of its script."""

from __future__ import annotations

import base64
import hashlib
import inspect
import os
import re
from functools import cache
from importlib import resources

import jinja2
from markupsafe import Markup, escape

from theoryck.records import Prediction, Report
from theoryck.report import numbers
from theoryck.report.claims import clean
from theoryck.report.formula import mathml, prediction_mathml
from theoryck.report.html.views import overview
from theoryck.report.json import write_text
from theoryck.report.svg import Picture
from theoryck.report.svg.canvas import STYLE

_PUNCTUATED = re.compile(r"<math[^>]*>(?:(?!</math>).)*</math>[,.;:)]+", re.DOTALL)
_LABEL = re.compile(r"([A-Z][A-Za-z ]{2,30}\.)\s+(?=\S)")
_LABEL_BEGUN = re.compile(r"([A-Z][A-Za-z ]*[A-Za-z])\s{2,}(?=\S)")
_LABEL_ENDED = re.compile(r"([a-z][a-z ]*\.)\s+(?=\S)")
_ENTRY = re.compile(r"\s+(\S+)\s{2,}(\S.*)")


def formula(text: str) -> Markup:
    """Return a statement, in which prose and mathematics are mixed, as markup; the formulas escape what they are given.

    A formula and the punctuation behind it are kept on one line, which browsers would not do.
    """
    return Markup(_PUNCTUATED.sub(r'<span class="whole">\g<0></span>', mathml(clean(text))))


def expectation(prediction: Prediction) -> Markup:
    """Return what a claim expects of its quantity, as markup."""
    return Markup(prediction_mathml(prediction))


def prose(text: str) -> Markup:
    """Return a docstring as paragraphs: labels such as ``Setting.`` stand out, indented columns become a list of contents."""
    blocks = re.split(r"\n\s*\n", inspect.cleandoc(text))
    return Markup("\n").join(_block(block) for block in blocks if block.strip())


def _block(block: str) -> Markup:
    lines = block.splitlines()
    entries = [_ENTRY.fullmatch(line) for line in lines[1:]]
    if len(lines) > 1 and all(entries):
        rows = Markup("").join(
            Markup("<dt>{}</dt><dd>{}</dd>").format(clean(entry[1]), formula(entry[2])) for entry in entries if entry
        )
        return Markup("<p>{}</p><dl class='contents'>{}</dl>").format(formula(lines[0]), rows)
    paragraphs: list[str] = []
    for line in _whole_labels(lines):
        if _LABEL.match(line) or not paragraphs:
            paragraphs.append(line)
        else:
            paragraphs[-1] += " " + line.strip()
    return Markup("").join(_paragraph(paragraph) for paragraph in paragraphs)


def _whole_labels(lines: list[str]) -> list[str]:
    """Join labels that take two lines of their column: ``Fixed   a`` above ``point.  b`` is ``Fixed point.  a`` above ``b``."""
    found: list[str] = []
    left = iter(zip(lines, [*lines[1:], ""], strict=True))
    for line, below in left:
        first, second = _LABEL_BEGUN.match(line), _LABEL_ENDED.match(below)
        if first is not None and second is not None and first.end() == second.end():
            found += [f"{first[1]} {second[1]}  {line[first.end() :]}", " " * second.end() + below[second.end() :]]
            next(left, None)
        else:
            found.append(line)
    return found


def _paragraph(text: str) -> Markup:
    label = _LABEL.match(text)
    if label is None:
        return Markup("<p>{}</p>").format(formula(text))
    return Markup("<p><b>{}</b> {}</p>").format(label[1], formula(text[label.end() :]))


def drawn(picture: Picture) -> Markup:
    """Return a picture as markup (it escapes names itself), without its style, which the page has once and its policy allows."""
    return Markup(picture.svg.replace(f"<style>{STYLE}</style>", "", 1))


def with_style(picture: Picture) -> Markup:
    """Return a picture as markup, with the style it needs outside a page."""
    return Markup(picture.svg)


def cited(reference: str, arxiv: str) -> Markup:
    """Return a reference with its number at arXiv as a link: ``arxiv`` must have the form of one.

    >>> cited("A (2020), arXiv:2001.00001", "2001.00001")
    Markup('A (2020), <a href="https://arxiv.org/abs/2001.00001" rel="noreferrer">arXiv:2001.00001</a>')
    """
    before, mark, after = reference.partition(f"arXiv:{arxiv}")
    if not arxiv or not mark:
        return escape(reference)
    return Markup('{}<a href="https://arxiv.org/abs/{}" rel="noreferrer">{}</a>{}').format(before, arxiv, mark, after)


FILTERS = {
    "clean": clean,
    "formula": formula,
    "expectation": expectation,
    "drawn": drawn,
    "with_style": with_style,
    "prose": prose,
    "cited": cited,
    "count": numbers.count,
    "duration": lambda value: numbers.duration(value, " "),
    "seconds": numbers.seconds,
}


def render(report: Report) -> str:
    """Return one self-contained HTML page about a report: overview, table of claims, every claim with its evidence.

    >>> page = render(Report(profile="quick", seed=0, results=()))
    >>> page.splitlines()[0], "No claim was checked" in page
    ('<!DOCTYPE html>', True)
    """
    style, script = asset("page.css"), asset("page.js")
    return (
        environment()
        .get_template("page.html")
        .render(
            view=overview(report),
            policy=policy(style, script),
            style=Markup(style),  # written here, not in the report
            script=Markup(script),
        )
    )


def write_html(report: Report, path: str | os.PathLike[str]) -> None:
    """Write the page of a report to a file, whole or not at all, or to standard output for ``-``.

    Raises ReportFileError where the folder is missing or cannot be written.

    >>> write_html(Report(profile="quick", seed=0, results=()), "missing/report.html")
    Traceback (most recent call last):
    theoryck.report.json.ReportFileError: the report cannot be written to missing/report.html: there is no folder missing; ...
    """
    write_text(render(report), path)


def policy(style: str, script: str) -> str:
    """Return a Content-Security-Policy that allows this style sheet and this script and forbids everything else.

    >>> policy("", "").split("; ")[:2]
    ["default-src 'none'", "style-src 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"]
    """
    return "; ".join(
        [
            "default-src 'none'",
            f"style-src '{_hash(style)}'",
            f"script-src '{_hash(script)}'",
            "img-src data:",  # the empty icon, without which a browser asks its server for one
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def environment() -> jinja2.Environment:
    """Return the environment of the templates: everything is escaped unless it was built as markup."""
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("theoryck.report.html", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(FILTERS)
    return made


@cache
def asset(name: str) -> str:
    """Return a style sheet or the script, with the colours for ``{tokens}`` and the style of all pictures for ``{pictures}``."""
    text = resources.files("theoryck.report.html").joinpath("templates", name).read_text(encoding="utf-8")
    for mark, put in (("{tokens}", lambda: asset("tokens.css").strip()), ("{pictures}", lambda: STYLE)):
        text = text.replace(mark, put()) if mark in text else text
    return text
