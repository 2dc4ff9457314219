"""``theoryck new --paper``: which files it writes, under which names, and what it refuses to overwrite."""

import ast
import re

import pytest
from click.testing import CliRunner

import theoryck
from theoryck.claims.collecting import collect
from theoryck.cli import main
from theoryck.cli.new_paper import files, key_of
from theoryck.report.macros import style


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(*arguments):
    return CliRunner().invoke(main, ["new", *arguments], prog_name="theoryck")


def test_the_files_are_written_and_the_next_commands_printed(here):
    done = call("--paper", "My paper")
    assert done.exit_code == 0
    written = {path.relative_to(here / "My paper").as_posix() for path in (here / "My paper").rglob("*") if path.is_file()}
    assert written == {*files("my_paper", 2026)}
    assert {"README.md", "pyproject.toml", ".pre-commit-config.yaml", "paper.tex", "proofs/my_paper/norms.py"} <= written
    assert "  cd 'My paper'\n  theoryck check proofs " in done.output
    assert (here / "My paper" / "theoryck.sty").read_text() == style()


def test_there_is_one_claim_of_each_status_and_each_can_be_built(here):
    assert call("--paper", "collected-paper").exit_code == 0
    claims = collect([str(here / "collected-paper")])  # its package stays imported: no other test has this name
    assert sorted(claim.status.value for claim in claims) == ["conjecture", "falsehood", "theorem"]
    assert all(claim.instances(1) for claim in claims)
    assert {claim.id.partition("/")[0] for claim in claims} == {"collected_paper"}


def test_nothing_is_left_to_fill_in_but_what_is_marked():
    for path, text in files("gap", 2026).items():
        assert not re.search(r"@[A-Z]+@|\bKEY\b", text + path), path
        assert text.isascii(), path
        assert max(map(len, text.splitlines())) <= 146, path
        if path.endswith(".py"):
            ast.parse(text)
    assert files("gap", 2026)["requirements.txt"] == f"theoryck=={theoryck.__version__}\n"


def test_another_requirement_is_written_as_it_is_given(here):
    address = "theoryck @ git+https://host.example/theoryck.git@main"
    assert call("--paper", "gap", "--theoryck", address).exit_code == 0
    assert (here / "gap" / "requirements.txt").read_text() == f"{address}\n"


@pytest.mark.parametrize(("name", "key"), [("gap", "gap"), ("numpy", "numpy_paper"), ("2026", "paper_2026"), ("\u00e9", "paper")])
def test_the_folder_of_claims_can_be_imported(name, key):
    assert key_of(name) == key
    assert key.isidentifier()


def test_nothing_is_overwritten_and_nothing_else_is_written_then(here):
    (here / "gap").mkdir()
    (here / "gap" / "paper.tex").write_text("mine")
    done = call("--paper", "gap")
    assert done.exit_code == 2
    assert "gap/paper.tex exists and is not overwritten: name another folder" in done.output
    assert [path.name for path in (here / "gap").iterdir()] == ["paper.tex"]


def test_a_folder_with_something_else_in_it_is_taken(here):
    (here / "gap").mkdir()
    (here / "gap" / "notes.txt").write_text("mine")
    assert call("--paper", "gap").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--paper", ""], "--paper needs the name of a folder"),
        (["gap", "--paper", "x"], "leave out NAME"),
        (["--paper", "x", "--kind", "law"], "leave out NAME, --kind"),
        (["--paper", "file/x"], "cannot write file/x: not a directory"),
        (["--paper", "x", "--theoryck", " "], "--theoryck needs one line as pip reads it"),
        (["--paper", "x", "--theoryck", "theoryck\nnumpy"], "--theoryck needs one line as pip reads it"),
        (["--paper", "x", "--theoryck", "--pre"], "--theoryck needs one line as pip reads it"),
        (["gap", "--theoryck", "theoryck"], "belongs to --paper FOLDER"),
    ],
)
def test_what_cannot_be_written_is_refused(here, arguments, message):
    (here / "file").write_text("")
    done = call(*arguments)
    assert done.exit_code == 2
    assert message in done.output
    assert not (here / "x").exists()
