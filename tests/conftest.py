"""What holds for every test: the clock of a busy machine fails none, and what was imported is no garbage."""

import gc
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# What stands beside the claims of proofs/ is tested too.  At the end: an installed theoryck is found before this checkout.
sys.path.append(str(Path(__file__).parents[1]))

# What a terminal tells of itself, and how somebody likes it, is told neither to tests nor to programs that they start.
for name in ("TERM", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "PY_COLORS", "CLICOLOR", "CLICOLOR_FORCE", "PYTEST_ADDOPTS"):
    os.environ.pop(name, None)

# The examples are the same everywhere, and none is remembered; `pytest --hypothesis-profile=search` looks for others.
settings.register_profile("search", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.register_profile("tests", settings.get_profile("search"), derandomize=True, database=None)
settings.load_profile("tests")


def pytest_collection_finish():
    """Leave what is loaded by now out of every garbage collection to come, and collect less often than for small programs."""
    gc.freeze()
    gc.set_threshold(20_000, 50, 50)


NO_LATEX = "no pdflatex: apt-get install texlive-latex-recommended (or put pdflatex of any TeX Live on PATH)"


@dataclass(frozen=True)
class Compiled:
    """What pdflatex did: its log, without the breaks that it makes in long lines, and whether it was content."""

    log: str
    content: bool

    @property
    def pages(self):
        return int(found[1]) if (found := re.search(r"Output written on .*? \((\d+) pages?", self.log)) else 0

    @property
    def errors(self):
        return re.findall(r"^! (.*)$", self.log, re.MULTILINE)

    def boxes(self):
        """The letters of each box that was shown by \\showbox."""
        shown = re.findall(r"> \\box0=\n(.*?)\n\n", self.log, re.DOTALL)
        letter = re.compile(r"^\.*\\(?:([A-Z]\w*)/\S+ (?:\S+ \(ligature (\w+)\)|(\S+))|glue .* (?:plus|minus))", re.MULTILINE)
        return [
            "".join(MATHEMATICS.get(font, {}).get(one, ligature or one or " ") for font, ligature, one in letter.findall(box))
            for box in shown
        ]


MATHEMATICS = {"OML": {":": "."}, "OMS": {"^^@": "-", "^^A": "\xb7"}}  # letters of these fonts as they look


@pytest.fixture(scope="session")
def pdflatex():
    """A function that compiles a file in its folder; without pdflatex a skip, or where it is required (in .ci/run) a failure."""
    if shutil.which("pdflatex") is None:
        (pytest.fail if os.environ.get("THEORYCK_LATEX") == "required" else pytest.skip)(NO_LATEX)

    from tests.waiting import HANG

    def compiled(path):
        command = ["pdflatex", "-interaction=nonstopmode", "-no-shell-escape", path.name]
        environment = os.environ | {"max_print_line": "10000"}
        done = subprocess.run(command, cwd=path.parent, env=environment, capture_output=True, timeout=HANG, check=False)
        return Compiled(path.with_suffix(".log").read_text(encoding="latin-1"), done.returncode == 0)

    return compiled
