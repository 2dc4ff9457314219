"""The page of ``pytest proofs`` within the site, where the record of a run is given: no claim is ever measured by a build."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive

from theoryck.report.html import render
from theoryck.report.json import read_json

RECORD = "THEORYCK_RESULTS"  # in the environment of a build: the file that --theoryck-json or --json wrote


class Results(Directive):
    """``{results}``: the report of the record that is given, embedded; nothing where there is none."""

    def run(self) -> list[nodes.Node]:
        """Return the report in a frame, with a link to it alone, or a sentence that says how to give one."""
        environment = self.state.document.settings.env
        environment.note_reread()
        if not (record := os.environ.get(RECORD)):
            return [nodes.paragraph(text=f"This site was built without a record: {RECORD} names none.")]
        page = "_static/report.html"
        environment.theoryck_report = render(read_json(Path(record)))
        up = "../" * environment.docname.count("/")
        frame = f'<p><a href="{up}{page}">The report as a page of its own</a></p>\n'
        frame += f'<iframe class="report" src="{up}{page}" title="The report of pytest proofs"></iframe>'
        return [nodes.raw("", frame, format="html")]


def written(app: Any, problem: Exception | None) -> None:
    """Write the report beside the pages."""
    report = getattr(app.env, "theoryck_report", None)
    if report and problem is None:
        (Path(app.outdir) / "_static" / "report.html").write_text(report, encoding="utf-8")


def setup(app: Any) -> None:
    """Register the directive, and what writes its page."""
    app.add_directive("results", Results)
    app.connect("build-finished", written)
