"""The newcomer's path of README.md, word for word: a new conjecture, its verdict, one line edited, and the verdict again."""

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import HANG, NO_BYTECODE

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
SECTION = README[README.index("## A first verdict") : README.index("## A conjecture in ten lines")]
SECONDS = re.compile(r"(\d+k?) +\d+(?:\.\d+)?h?$", re.MULTILINE)  # the last column of a table: what the clock said


def steps():
    """What a reader does: a command with the output that is promised, or an edit as (removed, added)."""
    for language, block in re.findall(r"```(\w+)\n(.*?)```", SECTION, re.DOTALL):
        if language == "diff":
            removed, added = ([line[1:].strip() for line in block.splitlines() if line.startswith(sign)] for sign in "-+")
            yield removed, added
        else:
            for part in block.split("$ ")[1:]:
                yield part.partition("\n")[::2]


def agrees(promised, printed):
    """Whether the output is the promised one, but for what ``...`` stands for and for the seconds a run took."""
    want, got = (SECONDS.sub(r"\1 SECONDS", text) for text in (promised, printed))
    return doctest.OutputChecker().check_output(want, got, doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)


def run(line, folder):
    program, *words = shlex.split(line)
    assert program == "theoryck"
    command = [sys.executable, "-m", "theoryck", *words]
    environment = os.environ | NO_BYTECODE | {"COLUMNS": "100"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=HANG, check=False)


def edit(file, removed, added):
    text = file.read_text(encoding="utf-8")
    assert len(removed) == len(added) == 1
    assert text.count(removed[0]) == 1, f"{file.name} has not the line {removed[0]!r}"
    file.write_text(text.replace(removed[0], added[0]), encoding="utf-8")


def test_the_path_is_as_it_is_written(tmp_path):
    (tmp_path / "proofs").mkdir()  # as in the checkout, where a claim without a PATH would be written there
    codes = []
    for step in steps():
        if isinstance(step[0], list):
            edit(tmp_path / "my_norm.py", *step)
            continue
        command, promised = step
        done = run(command, tmp_path)
        assert agrees(promised, done.stdout), f"$ {command}\n{done.stdout}{done.stderr}"
        assert not done.stderr
        codes.append(done.returncode)
    assert codes == [0, 0, 1]  # written, supported, and refuted after one line was edited


@pytest.mark.parametrize("change", [("SUPPORTED", "REFUTED  "), ("-0.50(5)", "-0.52(5)"), ("tight", "loose")])
def test_another_verdict_would_be_seen(change):
    promised = next(promised for command, promised in steps() if command == "theoryck check my_norm.py")
    printed = promised.replace("0.31", "9.75").replace("...", "1 claim, 1 instance: 1 supported (profile quick, seed 0).")
    assert agrees(promised, printed)
    assert not agrees(promised, printed.replace(*change))


def test_the_first_step_names_its_file(tmp_path):
    first, promised = next(steps())
    for folder in (tmp_path / "checkout", tmp_path / "elsewhere"):
        folder.mkdir()
    (tmp_path / "checkout" / "proofs").mkdir()
    for folder in (tmp_path / "checkout", tmp_path / "elsewhere"):
        assert agrees(promised, run(first, folder).stdout)
        assert [path.name for path in folder.rglob("*.py")] == ["my_norm.py"]
