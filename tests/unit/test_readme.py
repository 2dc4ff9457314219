"""What README.md promises: its example is a claim that comes out as it says, and its commands exist."""

import re
from pathlib import Path

import pytest

import theoryck as tc
from theoryck.cli import main

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_the_conjecture_in_ten_lines(tmp_path):
    [code] = blocks("python")
    assert len([line for line in code.splitlines() if line.strip()]) <= 10
    folder = tmp_path / "proofs"
    folder.mkdir()
    (folder / "median.py").write_text(code, encoding="utf-8")
    from theoryck.collecting import collect

    [result] = tc.check_claims(collect([str(folder)], ()), workers=1).results
    assert (result.verdict, result.tightness) == ("SUPPORTED", "TIGHT")
    assert result.ok


def test_the_two_commands_come_first():
    assert blocks("sh")[:2] == [
        "python -m pip install -e . && pytest proofs\n",
        "python -m pip install -e '.[test]' && pytest\n",
    ]


@pytest.mark.parametrize("line", [line for block in blocks("console") for line in block.splitlines() if line.startswith("$ ")])
def test_commands_run(line):
    import shlex

    from click.testing import CliRunner

    program, *words = shlex.split(line.removeprefix("$ "))
    assert program == "theoryck"
    outcome = CliRunner().invoke(main, words)
    assert outcome.exit_code == 0, outcome.output
