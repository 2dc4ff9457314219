"""The page itself: its template filled, its policy made from the hashes of its style sheet and of its script."""

from __future__ import annotations

import base64
import hashlib
import os
from functools import cache
from importlib import resources

import jinja2
from markupsafe import Markup

from theoryck.records import Report
from theoryck.report.html.overview import overview
from theoryck.report.html.writing import FILTERS
from theoryck.report.json import write_text
from theoryck.report.svg.canvas import STYLE


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
