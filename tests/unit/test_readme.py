"""What README.md promises: its example is a claim that comes out as it says, and its commands exist."""

import re
from pathlib import Path

import numpy as np
import pytest

import theoryck as tc
from theoryck.cli import main

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_the_conjecture_in_ten_lines(tmp_path):
    code = blocks("python")[0]
    assert len([line for line in code.splitlines() if line.strip()]) <= 10
    folder = tmp_path / "proofs"
    folder.mkdir()
    (folder / "median.py").write_text(code, encoding="utf-8")
    from theoryck.collecting import collect

    [result] = tc.check_claims(collect([str(folder)], ()), workers=1).results
    assert (result.verdict, result.tightness) == ("SUPPORTED", "TIGHT")
    assert result.ok


def test_the_audit_of_a_table():
    names = {}
    exec(compile(blocks("python")[1], "README.md", "exec"), names)
    found = names["found"]
    assert (found.verdict, found.tightness) == ("SUPPORTED", "TIGHT")
    assert found.exponent.low < -0.5 < found.exponent.high


def test_the_table_is_what_the_readme_says_of_it(tmp_path, monkeypatch):
    import shlex

    from click.testing import CliRunner

    monkeypatch.chdir(tmp_path)
    Path("runs.csv").write_text(blocks("csv")[0], encoding="utf-8")
    [command] = [line for block in blocks("sh") for line in block.splitlines() if line.startswith("theoryck audit runs.csv")]
    outcome = CliRunner().invoke(main, shlex.split(command)[1:])
    assert outcome.exit_code == 0, outcome.output
    assert outcome.stdout.startswith("SUPPORTED, TIGHT")
    assert Path("runs.png").stat().st_size > 0


def test_the_learning_example_is_a_claim_that_can_be_measured():
    names = {}
    exec(compile(blocks("python")[2], "README.md", "exec"), names)
    claim = names["claim"]
    assert claim.measured().two_sided
    low, high, _ = claim.measured().draw(np.random.default_rng(0), 50, claim.sizes()[0]).mean(axis=0)
    assert -0.03 < low <= high < 0  # n = d = 4: about -0.05 nats in all, so -0.012 per sample


def test_the_predictions_are_numbers():
    names = {}
    exec(compile(blocks("python")[3], "README.md", "exec"), names)
    # 0.1838 and 0.2858: tests/unit/test_asymptotics_covariate.py holds the solver against independent references
    assert (names["logistic"].test_error, names["logistic"].train_loss) == pytest.approx((0.1838, 0.2858), abs=5e-5)
    assert names["nngp"].shape == names["ntk"].shape == (2, 2)


def test_every_folder_of_proofs_is_named():
    folders = [path.name for path in (Path(__file__).parents[2] / "proofs").iterdir() if (path / "__init__.py").is_file()]
    assert len(folders) >= 8
    assert [name for name in folders if f"`{name}`" not in README] == []


def test_the_two_commands_come_first():
    assert blocks("sh")[:2] == [
        "python -m pip install -e . && pytest proofs\n",
        "python -m pip install -e '.[test]' && pytest -n 2\n",
    ]


@pytest.mark.parametrize("line", [line for block in blocks("console") for line in block.splitlines() if line.startswith("$ ")])
def test_commands_run(line):
    import shlex

    from click.testing import CliRunner

    program, *words = shlex.split(line.removeprefix("$ "))
    assert program == "theoryck"
    outcome = CliRunner().invoke(main, words)
    assert outcome.exit_code == 0, outcome.output
