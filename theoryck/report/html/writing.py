"""Texts of a report as markup: one printable line, a formula, a docstring with its paragraphs and its list of contents."""

from __future__ import annotations

import inspect
import re

from markupsafe import Markup, escape

from theoryck.records import Prediction
from theoryck.report import numbers
from theoryck.report.claims import clean
from theoryck.report.formula import mathml, prediction_mathml
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


def standing_alone(picture: Picture) -> Markup:
    """Return a picture as markup, with the style it needs outside a page."""
    return Markup(picture.svg)


def duration(value: float) -> str:
    """Write a duration with its unit.

    >>> duration(1.26), duration(40_000)
    ('1.3 s', '11.1 h')
    """
    text = numbers.seconds(value)
    return f"{text[:-1]} h" if text.endswith("h") else f"{text} s"


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
    "standing_alone": standing_alone,
    "prose": prose,
    "cited": cited,
    "count": numbers.count,
    "duration": duration,
    "seconds": numbers.seconds,
}
