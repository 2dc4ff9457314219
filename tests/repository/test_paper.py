"""From an empty folder to a checked paper: every command and workflow step as it is written, and what fails after a change."""

import importlib.metadata
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import yaml

from tests.waiting import HANG, NO_BYTECODE

WORKFLOWS = {".github/workflows/claims.yml": "vendor.github-workflows", ".gitlab-ci.yml": "vendor.gitlab-ci"}


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """Where ``python`` and ``theoryck`` are those that are tested, and no package index can be asked."""
    folder = tmp_path_factory.mktemp("bin")
    for name, words in {"python": "", "python3": "", "theoryck": "-m theoryck"}.items():
        (folder / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
        (folder / name).chmod(stat.S_IRWXU)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    return os.environ | NO_BYTECODE | {"PATH": path, "PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "COLUMNS": "100"}


@pytest.fixture(scope="module")
def run(environment):
    def shell(line, folder):
        command = ["bash", "-e", "-o", "pipefail", "-c", line]  # as the runners of both services start a step
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=HANG, check=False)

    return shell


@pytest.fixture(scope="module")
def begun(run, tmp_path_factory):
    """A new repository in which the two commands of its README have been run."""
    folder = tmp_path_factory.mktemp("papers")
    assert [*folder.iterdir()] == []
    done = run("theoryck new --paper my_paper", folder)
    assert done.returncode == 0, done.stderr
    root = folder / "my_paper"
    readme = (root / "README.md").read_text(encoding="utf-8")
    lines = [line for block in re.findall(r"```sh\n(.*?)```", readme, re.DOTALL) for line in block.splitlines()]
    assert len(lines) == 2
    for line in lines:
        done = run(line, root)
        assert done.returncode == 0, f"$ {line}\n{done.stdout}{done.stderr}"
    assert "6 marks, 0 stale" in " ".join(done.stdout.split())
    return root


@pytest.fixture
def paper(begun, tmp_path):
    return Path(shutil.copytree(begun, tmp_path / "paper"))


def steps(path):
    """The shell steps of a workflow, as they are written."""
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    if "jobs" in data:
        return [step["run"] for job in data["jobs"].values() for step in job["steps"] if "run" in step]
    return [line for job in data.values() for line in job["script"]]


def refute(root):
    """Claim more than is true, as an author would by mistake."""
    file = root / "proofs" / "my_paper" / "norms.py"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace('rate="d**(-1/2)"', 'rate="d**(-3/4)"'), encoding="utf-8")


def change_one_number(root):
    """Move an exponent of the record by more than the last digit that is shown."""
    file = root / "results.json"
    data = json.loads(file.read_text(encoding="utf-8"))
    [norm] = [result for result in data["results"] if result["claim"] == "my_paper/norm"]
    norm["exponent"]["estimate"] -= 0.01
    file.write_text(json.dumps(data), encoding="utf-8")


def test_an_empty_folder_becomes_two_pages_with_marks_and_a_green_check(paper, run, pdflatex):
    first = pdflatex(paper / "paper.tex")
    assert first.content, first.errors
    assert run("bibtex paper", paper).returncode == 0
    done = [pdflatex(paper / "paper.tex") for _ in range(2)][-1]
    assert (done.content, done.errors, done.pages) == (True, [], 2)
    assert "undefined" not in done.log
    assert "theoryck Error" not in done.log
    assert "Overfull" not in done.log
    assert (
        run("theoryck audit-paper paper.tex --strict", paper).returncode == 0
    )  # every theorem has its claim, every claim its theorem


def test_one_number_changed_in_the_record_makes_the_paper_stale(paper, run):
    change_one_number(paper)
    done = run("theoryck audit-paper paper.tex", paper)
    assert done.returncode == 1
    assert r"\theoryckexponent{my_paper/norm}: exponent -0.5" in " ".join(done.stdout.split())
    command = re.search(r"To bring them up to date: (theoryck .*)", done.stdout)[1]
    assert run(f"{command} && theoryck audit-paper paper.tex", paper).returncode == 0


@pytest.mark.parametrize("name", WORKFLOWS)
def test_the_steps_of_a_workflow_run_as_they_are_written(paper, run, name):
    try:
        importlib.metadata.version("theoryck")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("theoryck is not installed, which the first step of a workflow asks pip for: python -m pip install -e .")
    first, check, audit = steps(paper / name)
    for step in (first, check, audit):
        done = run(step, paper)
        assert done.returncode == 0, f"$ {step}\n{done.stdout}{done.stderr}"
    refute(paper)
    assert run(check, paper).returncode == 1
    stale = run(audit, paper)
    assert stale.returncode == 1
    assert r"\textbf{refuted}" in stale.stdout


def test_a_workflow_installs_the_theoryck_that_was_asked_for(begun, run, tmp_path):
    """Where no index has theoryck: a wheel in the repository, which pip is asked for and would install."""
    done = run("theoryck new --paper my_paper --theoryck ./theoryck-9.9-py3-none-any.whl", tmp_path)
    assert done.returncode == 0, done.stderr
    paper = tmp_path / "my_paper"
    about = "theoryck-9.9.dist-info"
    metadata = "Metadata-Version: 2.1\nName: theoryck\nVersion: 9.9\n"
    with zipfile.ZipFile(paper / "theoryck-9.9-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{about}/METADATA", metadata)
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", f"{about}/METADATA,,\n{about}/WHEEL,,\n{about}/RECORD,,\n")
    for name in WORKFLOWS:
        assert steps(paper / name) == steps(begun / name)  # of which those behind the first run in the test above
        done = run(f"export PIP_DRY_RUN=1; {steps(paper / name)[0]}", paper)
        assert done.returncode == 0, done.stderr
        assert "Would install theoryck-9.9" in done.stdout


def test_the_ledger_is_what_the_workflows_keep_and_the_page_what_they_give(paper):
    data = {name: yaml.safe_load((paper / name).read_text(encoding="utf-8")) for name in WORKFLOWS}
    used = {
        step["uses"].partition("@")[0]: step.get("with", {})
        for step in data[".github/workflows/claims.yml"]["jobs"]["claims"]["steps"]
        if "uses" in step
    }
    gitlab = data[".gitlab-ci.yml"]["claims"]
    assert used["actions/cache"]["path"] == gitlab["cache"]["paths"][0] == "draws.ledger"
    assert used["actions/upload-artifact"]["path"].split() == gitlab["artifacts"]["paths"] == ["report.html", "results.json"]
    assert (paper / "draws.ledger").stat().st_size > 0
    assert (paper / "report.html").stat().st_size > 0


def validated(path, schema):
    pytest.importorskip("check_jsonschema", reason="no check-jsonschema: python -m pip install 'theoryck[test]'")
    transform = ["--data-transform", "gitlab-ci"] if "gitlab" in schema else []
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, *transform, str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", WORKFLOWS)
def test_workflows_follow_their_schema(begun, name):
    done = validated(begun / name, WORKFLOWS[name])
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(("name", "good"), [(".github/workflows/claims.yml", "runs-on"), (".gitlab-ci.yml", "when: always")])
def test_a_workflow_with_a_slip_would_be_seen(paper, name, good):
    text = (paper / name).read_text(encoding="utf-8")
    assert good in text
    (paper / name).write_text(text.replace(good, good[:-1]), encoding="utf-8")
    assert validated(paper / name, WORKFLOWS[name]).returncode == 1


def test_a_commit_is_stopped_by_a_claim_that_cannot_be_built_and_by_a_stale_mark(paper, run):
    pytest.importorskip("pre_commit", reason="no pre-commit: python -m pip install 'theoryck[test]'")
    if shutil.which("git") is None:
        pytest.skip("no git: apt-get install git")
    hooks = "git add -A && PRE_COMMIT_HOME=$PWD/.git/pre-commit python -m pre_commit run"
    done = run(f"git init -q . && python -m pre_commit validate-config && {hooks}", paper)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("Passed") == 2
    file = paper / "proofs" / "my_paper" / "norms.py"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace('rate="d**(-1/2)"', 'rate="n**(-1/2)"'), encoding="utf-8")
    done = run(hooks, paper)
    assert done.returncode == 1
    assert "cannot be built" in done.stdout
    file.write_text(text, encoding="utf-8")
    change_one_number(paper)
    done = run(hooks, paper)
    assert done.returncode == 1
    assert "Stale marks" in done.stdout
