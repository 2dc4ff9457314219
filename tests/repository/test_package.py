"""What is said of the package in several places is said alike, and what it needs at run time is in it."""

import importlib.metadata
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import theoryck
from tests.waiting import HANG
from theoryck.cli import COMMANDS
from theoryck.cli.new_paper import TEMPLATES

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
INSTALLED = ".".join(map(str, sys.version_info[:2]))


def test_the_version_is_written_in_one_place_of_the_package():
    assert "version" in PROJECT["project"]["dynamic"]
    assert PROJECT["tool"]["hatch"]["version"]["path"] == "theoryck/__init__.py"
    package = Path(theoryck.__file__).parent
    texts = {path: path.read_text(encoding="utf-8") for path in package.rglob("*.py")}
    assert [path for path, text in texts.items() if re.search("^__version__ *=", text, re.MULTILINE)] == [package / "__init__.py"]


def test_the_pythons_that_are_named_are_those_that_are_tried():
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["project"]["classifiers"]))
    assert PROJECT["project"]["requires-python"] == f">={named[0]}"
    assert named == [f"3.{minor}" for minor in range(11, 11 + len(named))]
    assert INSTALLED in named, "a Python that the tests run on is named"


def test_what_is_installed_runs():
    try:
        installed = importlib.metadata.distribution("theoryck")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("theoryck is not installed: python -m pip install -e .")
    assert installed.version == theoryck.__version__
    assert {(entry.group, entry.value) for entry in installed.entry_points} == {
        ("console_scripts", "theoryck.cli:run"),
        ("pytest11", "theoryck.pytest_plugin"),
    }


def test_what_is_no_python_is_in_the_package():
    package = Path(theoryck.__file__).parent
    for name in ("py.typed", "report/schema-v1.json", "report/theoryck.sty", "report/html/templates/page.html"):
        assert (package / name).is_file(), name
    assert len([path for path in TEMPLATES.rglob("*") if path.is_file()]) == 12


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_commands(shell):
    words = {
        "COMP_WORDS": "theoryck audi",
        "COMP_CWORD": "1" if shell != "fish" else "audi",
        "_THEORYCK_COMPLETE": f"{shell}_complete",
    }
    done = subprocess.run(
        [sys.executable, "-m", "theoryck"], env=os.environ | words, capture_output=True, text=True, timeout=HANG, check=False
    )
    found = [name for name in COMMANDS if re.search(rf"(^|,|\t){name}($|\t)", done.stdout, re.MULTILINE)]
    assert found == ["audit", "audit-paper"], done.stdout + done.stderr
