"""``theoryck audit-paper``: what it prints of a paper and with which status it ends."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from theoryck.cli import main
from theoryck.report.json import write_json

GOLDEN = Path(__file__).parents[1] / "golden" / "reports.py"
PAPER = r"""\documentclass{article}
\usepackage{theoryck}
\newtheorem{thm}{Theorem}
\input{verdicts.tex}
\begin{document}
\begin{thm}[Moments]\label{thm:moments}
  a \theoryckexponent{camilli2025/moment-control}
\end{thm}
\begin{thm}
  b
\end{thm}
\end{document}
"""


def _reports():
    name = "theoryck_golden_reports"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, GOLDEN)
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name].REPORTS


def call(*arguments):
    return CliRunner(env={"COLUMNS": "100"}).invoke(main, [*arguments], prog_name="theoryck")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_json(_reports()["refuted"], "results.json")
    assert call("report", "results.json", "--macros", "verdicts.tex").exit_code == 0
    Path("paper.tex").write_text(PAPER)
    return tmp_path


def changed():
    """Change one number in the record: an exponent of the worst instance, by more than its last digit."""
    file = Path("results.json")
    data = json.loads(file.read_text())
    data["results"][1]["exponent"]["estimate"] -= 0.002
    file.write_text(json.dumps(data))


SAID = """\
Theorems and their claims
  paper.tex:6  Theorem (Moments) thm:moments: camilli2025/moment-control
  paper.tex:9  Theorem: NO CLAIM

Claims that no theorem names
  camilli2025/telescoping

paper.tex beside results.json: 2 theorems, 1 with a claim; 1 claim that no theorem names; 1 mark, 0
stale.
"""


def test_a_current_paper_is_listed(here):
    done = call("audit-paper", "paper.tex")
    assert (done.exit_code, done.output) == (0, SAID)


def test_strict_asks_for_a_claim_of_every_theorem_and_a_theorem_of_every_claim():
    assert call("audit-paper", "paper.tex", "--strict").exit_code == 1
    text = PAPER.replace("  b\n", r"\theoryckclaim{camilli2025/telescoping}" + "\n")
    Path("paper.tex").write_text(text)
    assert call("audit-paper", "paper.tex", "--strict").exit_code == 0


def test_one_number_changed_in_the_record_is_stale_until_the_marks_are_made_anew():
    changed()
    done = call("audit-paper", "paper.tex")
    assert done.exit_code == 1
    stale = " ".join(done.output.split())
    assert r"paper.tex:7: \theoryckexponent{camilli2025/moment-control}: exponent -0.412(9) in verdicts.tex, -0.414(10)" in stale
    command = "theoryck report results.json --macros verdicts.tex"
    assert f"To bring them up to date: {command}" in done.output
    assert call(*command.split()[1:]).exit_code == 0
    assert call("audit-paper", "paper.tex").exit_code == 0


def test_what_is_not_there_is_named_with_what_was_meant():
    Path("paper.tex").write_text(PAPER.replace("moment-control", "moment-controll"))
    done = call("audit-paper", "paper.tex")
    assert done.exit_code == 1
    assert "did you mean camilli2025/moment-control?" in " ".join(done.output.split())


def test_what_is_not_read_is_listed_with_its_line_and_the_rest_is_audited():
    Path("paper.tex").write_text(PAPER.replace("  b\n", "  \\input{proofs/b}\n"))
    changed()
    done = call("audit-paper", "paper.tex")
    assert done.exit_code == 2
    assert "Not read\n  paper.tex:10: there is no file proofs/b.tex\n" in done.output
    assert "Stale marks\n" in done.output


def test_json_is_all_there_is(here):
    changed()
    done = call("audit-paper", "paper.tex", "--json")
    data = json.loads(done.output)
    assert (done.exit_code, data["current"], data["unnamed"]) == (1, False, ["camilli2025/telescoping"])
    assert data["theorems"][0] == {
        "file": "paper.tex",
        "line": 6,
        "environment": "thm",
        "title": "Theorem",
        "note": "Moments",
        "label": "thm:moments",
        "claims": ["camilli2025/moment-control"],
    }
    assert data["stale"][0]["changes"] == [{"of": "exponent", "paper": "-0.412(9)", "record": "-0.414(10)"}]


def test_a_paper_elsewhere_finds_its_record_from_its_marks(here, monkeypatch):
    (here / "elsewhere").mkdir()
    monkeypatch.chdir(here / "elsewhere")
    assert call("audit-paper", "../paper.tex").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.tex"], "there is no file none.tex: name the main file of a paper"),
        (["paper.tex", "--record", "none.json"], "none.json does not exist"),
        (["paper.tex", "--record", "paper.tex"], "paper.tex is not a report of theoryck"),
        ([], "Missing argument 'PAPER'"),
    ],
)
def test_wrong_usage(arguments, message):
    done = call("audit-paper", *arguments)
    assert done.exit_code == 2
    assert message in done.output
