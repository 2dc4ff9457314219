"""``theoryck doctor``: versions against what is asked for, every part tried, and it works where something is missing."""

import importlib.metadata
import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

import theoryck
from theoryck.cli import doctor, main
from theoryck.cli.doctor import Doctor, Package, Part, fulfils, report_lines
from theoryck.montecarlo import cluster
from theoryck.report.layout import Style


def call(*arguments):
    return CliRunner().invoke(main, ["doctor", *arguments], prog_name="theoryck")


@pytest.fixture(scope="module")
def here():
    return call("--json", "-")


def without(*modules, command=("doctor",)):
    """Run the program in a Python where some modules cannot be imported."""
    script = (
        f"import sys; sys.modules.update(dict.fromkeys({modules!r})); sys.argv = ['theoryck', *{list(command)!r}]\n"
        "from theoryck.cli import main; main(prog_name='theoryck')"
    )
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)


def test_all_is_well_here(here):
    data = json.loads(here.output)
    assert here.exit_code == 0, here.output
    assert data["ok"] is True
    assert {"theoryck", "python", "CPUs", "BLAS", "memory", "terminal"} <= set(data["facts"])
    assert {"numpy", "scipy", "sympy", "mpmath", "python-flint", "hypothesis", "pytest", "jsonschema"} <= {
        package["name"] for package in data["packages"]
    }
    assert all(part["works"] for part in data["parts"] if part["needed"])
    assert next(part for part in data["parts"] if part["name"] == "worker processes")["works"]


def test_a_cluster_is_tried(here, monkeypatch):
    """One process of a real one; one that is named and cannot be reached is not well."""
    part = next(part for part in json.loads(here.output)["parts"] if part["name"] == "cluster")
    assert (part["works"], part["text"]) == (True, "local:1, 1 thread, drew the same bits as this process")
    monkeypatch.setattr(cluster, "PATIENCE", 0.5)
    parts = {part.name: part for part in doctor.parts("tcp://127.0.0.1:1")}
    assert not parts["cluster"].ok
    assert "the cluster 'tcp://127.0.0.1:1' cannot be reached" in parts["cluster"].text


def test_what_is_asked_for_is_read_from_the_metadata(monkeypatch):
    monkeypatch.setattr(
        importlib.metadata,
        "requires",
        lambda name: [
            "numpy>=1.26",
            "click (>=99)",
            "absent-thing>=1",
            "distributed>=2024.1; extra == 'cluster'",
            'mypy>=1; extra == "test"',
        ],
    )
    found = {package.name: package for package in doctor.packages()}
    assert found["numpy"].ok
    assert (found["click"].fault, found["click"].ok) == ("too old", False)
    assert (found["absent-thing"].fault, found["absent-thing"].ok) == ("not installed", False)
    assert found["distributed"].ok
    assert "mypy" not in found


@pytest.mark.parametrize(
    ("version", "wanted", "good"),
    [
        ("1.26", ">=1.26", True),
        ("1.26.0", ">=1.26", True),
        ("1.25.9", ">=1.26", False),
        ("10", ">=9.9", True),
        ("1", "<2,>=1.0", True),
    ],
)
def test_versions_are_compared_as_numbers(version, wanted, good):
    assert fulfils(version, wanted) is good


def test_from_a_folder_that_is_not_installed(monkeypatch):
    def unknown(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "requires", unknown)
    assert doctor.packages() == ()
    assert "pip install -e FOLDER" in " ".join(report_lines(Doctor({}, (), (Part("draws", True, "fine"),)), Style()))


def test_a_missing_required_package_is_told_with_what_to_do():
    done = without("flint")
    assert done.returncode == 1, done.stderr
    assert "NOT WELL: python-flint" in done.stdout
    wanted = next(each for each in importlib.metadata.requires("theoryck") if each.startswith("python-flint"))
    assert f"-m pip install '{wanted}'" in done.stdout
    assert "!! rigorous values" in done.stdout


def test_without_numpy_and_all_that_builds_on_it():
    done = without("numpy", "scipy", "sympy", "threadpoolctl", "hypothesis")
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr + done.stdout
    assert "!! draws" in done.stdout
    assert "BLAS" in done.stdout


def test_without_what_is_optional_all_is_well():
    done = without("matplotlib", "matplotlib.figure", "matplotlib.backends.backend_agg", "distributed", "sqlite3", "jinja2")
    for missing in ("pictures", "ledger", "HTML pages", "jinja2", "matplotlib"):
        assert f"-- {missing}" in done.stdout
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_page_that_cannot_be_made_is_refused_before_measuring():
    done = without("jinja2", command=("check", "claims.py", "--html", "r.html"))
    assert done.returncode == 2
    assert "--html needs jinja2, which cannot be imported" in done.stderr
    assert "python -m pip install jinja2" in done.stderr


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ('[project]\nname = "theoryck"\ndependencies = ["jinja2>=3.1"]', {"numpy", "jinja2"}),
        ('[project]\nname = "another"\ndependencies = ["jinja2>=3.1"]', {"numpy"}),
        ("not TOML [", {"numpy"}),
        (None, {"numpy"}),
    ],
)
def test_an_old_installation_asks_for_what_its_source_asks_for(monkeypatch, tmp_path, source, names):
    monkeypatch.setattr(importlib.metadata, "requires", lambda name: ["numpy>=1.26"])
    monkeypatch.setattr(theoryck, "__file__", str(tmp_path / "theoryck" / "__init__.py"))
    if source is not None:
        (tmp_path / "pyproject.toml").write_text(source)
    assert {package.name for package in doctor.packages()} == names


def test_what_fails_comes_first_and_says_what_to_do():
    bad = Doctor(
        {"python": "3"},
        (Package("numpy", ">=2", "1.0", False, "too old"), Package("distributed", "", None, True, "not installed")),
        (Part("draws", False, "ImportError: no", advice="install it"), Part("ledger", False, "OSError", needed=False)),
    )
    assert not bad.ok
    lines = report_lines(bad, Style())
    assert lines[0] == "NOT WELL: numpy, draws."
    assert "pip install 'numpy>=2'" in lines[2]
    assert any("what to do: install it" in line for line in lines)


def test_lines_fit_and_json_goes_to_a_file(tmp_path, here):
    result = call("--json", str(tmp_path / "doctor.json"))
    assert max(map(len, result.output.splitlines())) <= 100
    assert json.loads((tmp_path / "doctor.json").read_text())["ok"] is True
    nowhere = call("--json", str(tmp_path / "no" / "x.json"))
    assert nowhere.exit_code == 2
    assert "there is no folder" in nowhere.output
