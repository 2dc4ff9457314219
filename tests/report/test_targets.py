"""No output replaces what is read, a Python file, or another output; every command and the plugin ask the same check."""

import os

import pytest
from click.testing import CliRunner

from theoryck.cli import main
from theoryck.report.json import ReportFileError
from theoryck.report.targets import check_targets, reason, same_file

CLAIM = '''
import theoryck as tc


@tc.conjecture("toy/one")
def one():
    """sigma_1 = 1 for phi(x) = x"""
    return tc.Identity(tc.networks.sigma(tc.Activation("x"), 1), 1, rivals=[2])
'''


@pytest.fixture
def claims(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "claims.py"
    file.write_text(CLAIM)
    return file


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


MEASURE = ("measure", "norm-deviation", "--activation", "x", "--widths", "3")


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "claims.py", "--json"),
        ("check", ".", "--json"),
        ("check", "claims.py", "--html"),
        ("hunt", "one", "claims.py", "--json"),
        ("plan", "one", "claims.py", "--json"),
        (*MEASURE, "--json"),
        ("constants", "tanh", "--json"),
        ("doctor", "--json"),
        ("audit", "runs.csv", "--json"),
        ("report", "report.json", "--markdown"),
        ("ledger", "show", "draws.ledger", "--json"),
        ("ledger", "prune", "draws.ledger", "--all", "--json"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("target", ["claims.py", "./claims.py", "link"])
def test_no_command_replaces_a_python_file(claims, arguments, target):
    (claims.parent / "link").symlink_to(claims)
    done = run(*arguments, target)
    assert done.exit_code == 2, done.output
    assert "is a Python file that exists: it would be overwritten; name another file, as" in done.output
    assert claims.read_text() == CLAIM
    assert (claims.parent / "link").is_symlink()


@pytest.mark.parametrize("option", ["--json", "--html"])
@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("", "needs the name of a file, such as report."),
        ("a" * 300, "cannot be written: file name too long: aaaa"),
        ("nowhere/x", "there is no folder nowhere; make it first"),
        (".", "it is a folder; name a file in it"),
        ("x\0y", "has no null character"),
    ],
)
def test_what_cannot_be_written_is_said_before_any_work(claims, option, target, message):
    done = run("check", "claims.py", option, target)
    assert done.exit_code == 2
    assert message in done.output
    assert "SUPPORTED" not in done.output


def test_what_is_read_stays(tmp_path):
    read, link = tmp_path / "runs.csv", tmp_path / "hard"
    read.write_text("d,value\n")
    os.link(read, link)
    for target in (read, tmp_path / "." / "runs.csv", link):
        with pytest.raises(ReportFileError, match=r"--json .* is the table that is read: it would be overwritten"):
            check_targets({"--json": target}, [("table that is read", read)])
    check_targets({"--json": tmp_path / "other.json", "--html": None}, [("table that is read", read), ("ledger", None)])


def test_two_outputs_are_two_files(tmp_path):
    there, same = tmp_path / "out", tmp_path / "." / "out"
    for _ in range(2):
        with pytest.raises(ReportFileError, match=r"--json and --html would both be written to .*out: name two files"):
            check_targets({"--json": there, "--html": same})
        there.touch()
    with pytest.raises(ReportFileError, match="both be written to standard output"):
        check_targets({"--json": "-", "--html": "-"})
    check_targets({"--json": "-", "--html": there})


def test_names_that_no_file_can_have_are_compared_as_texts():
    assert not same_file("a" * 300, "b" * 300)
    assert not same_file("a\0", "b")


def test_a_long_name_is_cut():
    said = reason(OSError(36, "File name too long", "a" * 300))
    assert said.startswith("file name too long: aaa")
    assert len(said) < 100
    assert reason(OSError(5, "Input/output error")) == "input/output error"
