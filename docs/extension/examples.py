"""Commands that are run while the site is built: a page shows what they print, and a change of either stops the build."""

from __future__ import annotations

import os
import shlex
from contextlib import chdir
from pathlib import Path
from typing import Any, ClassVar

from click.testing import CliRunner
from docutils import nodes
from docutils.parsers.rst import Directive, directives

from theoryck.cli import main


def ran(line: str, folder: Path) -> tuple[int, str]:
    """Run a command in a folder; its exit status and what it printed."""
    program, *words = shlex.split(line)
    if program != "theoryck":
        raise ValueError(f"only theoryck is run here, not {program!r}")
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = "84"
    try:
        with chdir(folder):
            outcome = CliRunner().invoke(main, words, prog_name="theoryck")
    finally:
        os.environ.pop("COLUMNS") if before is None else os.environ.update(COLUMNS=before)
    return outcome.exit_code, outcome.output


class Run(Directive):
    """``{run}``: a command line, run beside the page's tables; ``:status:`` is the exit status that it must have, 0 by default.

    ``:says:`` is a text that must be in the output; ``:lines:`` shows so many of its lines; ``:plot:`` also shows its picture, for
    an audit.
    """

    has_content = True
    option_spec: ClassVar = {
        "status": directives.nonnegative_int,
        "says": directives.unchanged,
        "lines": directives.positive_int,
        "plot": directives.unchanged,
    }

    def run(self) -> list[nodes.Node]:
        """Return the command with its output, and its picture."""
        environment = self.state.document.settings.env
        folder = Path(environment.srcdir) / "tables"
        line = " ".join(self.content)
        picture = (
            Path(environment.srcdir) / "reference" / "pictures" / f"{environment.docname}-{environment.new_serialno('run')}.svg"
        )
        plot = self.options.get("plot")
        if plot:
            picture.parent.mkdir(parents=True, exist_ok=True)
            picture.unlink(missing_ok=True)  # of an earlier build
        status, output = ran(line, folder)
        wanted, says = self.options.get("status", 0), self.options.get("says", "")
        if status != wanted or says not in " ".join(output.split()):
            raise self.error(f"{line!r} ended with {status} (wanted: {wanted}), and should say {says!r}:\n{output}")
        shown = output.rstrip().splitlines()
        if (most := self.options.get("lines", len(shown))) < len(shown):
            shown = [*shown[:most], "..."]
        block = nodes.literal_block(line, "\n".join([f"$ {line}", *shown]), language="console" if not shown else "text")
        found: list[nodes.Node] = [block]
        if plot:
            status, output = ran(f"{line} --plot {shlex.quote(str(picture))}", folder)
            if status != wanted or not picture.is_file():
                raise self.error(f"{line!r} ended with {status} and drew no picture, or one beside an error:\n{output}")
            found.append(nodes.image(uri="/" + picture.relative_to(environment.srcdir).as_posix(), alt=plot))
        environment.note_dependency(str(folder))
        return found


def setup(app: Any) -> None:
    """Register the directive."""
    app.add_directive("run", Run)
