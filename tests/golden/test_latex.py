r"""The LaTeX of every awkward report, compared to a file that a person has read and that pdflatex has compiled.

Nothing here needs TeX: what makes a file fail to compile (braces, environments, columns, bare special characters) is counted.
After an intended change: ``THEORYCK_REGENERATE=1 pytest tests/golden``, then read the difference before committing it.
"""

import importlib.util
import os
import re
import sys
from pathlib import Path

import pytest

from theoryck.report import bibtex
from theoryck.report.latex import HEAD, render

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


def faults(tex):
    """What would keep a file from compiling, or show something else than what was meant; nothing where all is well."""
    body = "\n".join(line for line in tex.splitlines() if not line.startswith("%"))
    found = [] if tex.isascii() else ["a character that is not ASCII"]
    bare = re.sub(r"\\[\\{}$&#%_^~\"'`=.]", "", body)
    depth = 0
    for character in bare:
        depth += {"{": 1, "}": -1}.get(character, 0)
        if depth < 0:
            found.append("a brace that closes nothing")
            break
    found += ["a brace that stays open"] if depth > 0 else []
    found += ["a dollar sign too many"] if bare.count("$") % 2 else []
    found += _nesting(body)
    widths = {row[:40]: row.count("\x01") + 1 for row in _rows(body)}
    found += [f"{width} columns: {row}" for row, width in widths.items() if width != len(HEAD)]
    outside = "".join(bare.split("$")[::2]).replace("&", "")
    found += [f"a bare {found}" for found in re.findall(r"[#%_^]", outside)]
    return found


def _nesting(body):
    """Environments that do not close in the order in which they open; the one of the document is closed by its macro."""
    open_ones = []
    for what, name in re.findall(r"\\(begin|end)\{(\w+)\}", body):
        if name == "document":
            continue
        if what == "begin":
            open_ones.append(name)
        elif not open_ones or open_ones.pop() != name:
            return [f"environment {name} is closed but not open"]
    return [f"environment {name} stays open" for name in open_ones]


def _rows(body):
    """The rows of the table, their columns parted by a character that cannot be in them."""
    inside = re.findall(r"\\endlastfoot\n(.*?)\\end\{longtable\}", body, re.DOTALL)
    lines = inside[0].splitlines() if inside else []
    return [re.sub(r"(?<!\\)&", "\x01", line) for line in lines if line.endswith((r"\\", r"\\*")) and "multicolumn" not in line]


@pytest.mark.parametrize("name", REPORTS)
def test_latex_is_what_was_read(name):
    tex = render(REPORTS[name])
    golden = HERE / "latex" / f"{name}.tex"
    if os.environ.get("THEORYCK_REGENERATE"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(tex, encoding="utf-8")
    assert tex == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ALL)
def test_it_would_compile(name):
    assert faults(render(ALL[name])) == []


BROKEN = {
    "{": "a brace that stays open",
    "}": "a brace that closes nothing",
    "$": "a dollar sign",
    "\u03c3": "not ASCII",
    "100% of all": "a bare %",
    "a_b": "a bare _",
    r"\begin{tabular}": "environment longtable is closed",
    r"\end{tabular}": "environment tabular is closed",
    "one & two \\\\": "columns",
}


@pytest.mark.parametrize("text", BROKEN)
def test_what_would_not_compile_is_seen(text):
    tex = render(REPORTS["refuted"]).replace("\\end{longtable}", f"{text}\n\\end{{longtable}}")
    assert any(BROKEN[text] in fault for fault in faults(tex))


@pytest.mark.parametrize("name", ["refuted", "vacuous", "falsehood-stands", "rival-stands", "nan"])
def test_what_fell_is_said_in_the_paragraph_and_in_bold_in_the_table(name):
    tex = render(REPORTS[name])
    assert "did not come out as declared" in tex
    assert any(r"\textbf{" in row for row in _rows(tex))
    assert "NOT AS DECLARED" in tex


def test_nothing_is_said_to_have_fallen_where_all_is_well():
    tex = render(REPORTS["all-well"])
    assert r"\textbf" not in tex
    assert "NOT AS DECLARED" not in tex


def test_commands_in_names_stay_text():
    tex = render(REPORTS["hostile-names"])
    assert r"\write18" not in tex
    assert r"\input{/" not in tex


@pytest.mark.parametrize("name", ALL)
def test_every_citation_has_an_entry(name):
    tex, entries = render(ALL[name]), bibtex.render(ALL[name])
    keys = re.findall(r"^@misc\{([a-z0-9-]+),$", entries, re.MULTILINE)
    assert len(keys) == len(set(keys))
    assert set(re.findall(r"\\cite(?:\[\{.*?\}\])?\{([^}]*)\}", tex)) <= set(keys)
    assert set(re.findall(r"\\bibitem\{([^}]*)\}", tex)) == set(keys)
    depth = 0
    for character in entries:
        depth += {"{": 1, "}": -1}.get(character, 0)  # BibTeX counts every brace
        assert depth >= 0
    assert depth == 0
