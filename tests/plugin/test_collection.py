"""Where claims are found, how they can be chosen, and what a mistake in one looks like."""

import pytest

MENTIONING = '''
"""theoryck is mentioned here, but nothing is claimed."""
def test_statistic(x): ...
class TestAlternative: ...
'''


@pytest.mark.parametrize("mode", ["prepend", "importlib"])
@pytest.mark.parametrize("config", ["", "[pytest]\naddopts = --doctest-modules\nfilterwarnings = error\n"])
def test_proofs_are_found_with_and_without_a_configuration(project, mode, config):
    if config:
        project.write("pytest.ini", config)
    name = f"paper_{mode}_{bool(config)}".lower()  # a package stays imported: each run has its own
    project.write(f"proofs/{name}/__init__.py", '"""The paper."""\nFROM_PACKAGE = 1\n')
    file = project.claims("supported", file=f"proofs/{name}/results.py")
    file.write_text(file.read_text().replace("import theoryck as tc", "import theoryck as tc\nfrom . import FROM_PACKAGE\n"))
    for arguments in (["proofs"], [f"proofs/{name}/results.py"], [f"proofs/{name}/results.py::supported"], []):
        result = project.run(f"--import-mode={mode}", "--collect-only", "-q", *arguments)
        assert result.ret == 0, arguments
        assert result.stdout.str().count(f"proofs/{name}/results.py::supported") == 1
        assert "1 test collected" in result.stdout.str()


def test_run_from_inside_the_folder(project, monkeypatch):
    project.claims("supported", file="proofs/inside/results_inside.py")
    monkeypatch.chdir(project.path / "proofs" / "inside")
    project.run("--collect-only", "-q").stdout.fnmatch_lines(["results_inside.py::supported"])


def test_claims_in_test_modules_beside_tests(project):
    project.claims("supported", file="test_mixed.py")
    path = project.path / "test_mixed.py"
    path.write_text(path.read_text() + "\n\ndef test_ordinary():\n    pass\n")
    result = project.run("-v")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*::supported PASSED*", "*::test_ordinary PASSED*"])


def test_files_under_proofs_are_no_test_modules(project):
    project.write("proofs/helpers.py", MENTIONING)
    project.write("proofs/unrelated.py", "raise RuntimeError('imported though it never mentions the program')")
    project.write("proofs/conftest.py", "# theoryck\n")
    assert project.run("proofs").ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_files_elsewhere_are_left_alone(project):
    project.write("lib/claims.py", "raise RuntimeError('theoryck')")
    assert project.run().ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_an_imported_claim_is_checked_where_it_is_made(project):
    project.write("proofs/twice/__init__.py", "")
    project.claims("supported", file="proofs/twice/zeta.py")
    project.write("proofs/twice/alpha.py", "import theoryck\nfrom .zeta import supported\nanother_name = supported\n")
    result = project.run("proofs", "--collect-only", "-q")
    assert result.stdout.str().count("::") == 1
    result.stdout.fnmatch_lines(["proofs/twice/zeta.py::supported"])


def test_a_test_module_checks_what_it_imports_from_a_library(project, monkeypatch):
    monkeypatch.syspath_prepend(project.path / "lib")
    project.claims("supported", file="lib/my_library_of_claims.py")
    project.write("test_library.py", "from my_library_of_claims import supported\n")
    project.run("test_library.py", "--collect-only", "-q").stdout.fnmatch_lines(["test_library.py::supported"])


def test_choosing(project):
    project.claims("supported", "refuted", "fallen", file="proofs/chosen.py")
    for arguments in (["-k", "fallen"], ["--theoryck-only", "toy/fal*"]):
        result = project.run("proofs", *arguments)
        result.assert_outcomes(passed=1, deselected=2)


def test_choosing_what_is_not_there(project):
    project.claims("supported", file="proofs/not_there.py")
    result = project.run("proofs", "--theoryck-only", "toy/suported")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*no claim is called 'toy/suported'; did you mean toy/supported?"])


def test_collecting_only_measures_nothing(project):
    project.claims("interrupting", file="proofs/dry.py")
    result = project.run("proofs", "--collect-only", "--theoryck-json", "report.json")
    assert result.ret == 0
    assert not (project.path / "report.json").exists()


def test_an_unknown_name_in_a_rate_is_an_error_at_collection(project):
    project.claims("supported", "unknown_name", file="proofs/wrong.py")
    result = project.run("proofs")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["*proofs/wrong.py:*: claim 'toy/unknown-name' cannot be built", "*'n'*"])
    assert "Traceback" not in result.stdout.str()


def test_two_claims_of_one_name(project):
    project.claims("supported", file="proofs/first_of_two.py")
    project.claims("supported", file="proofs/second_of_two.py")
    result = project.run("proofs")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    message = "two claims are called 'toy/supported': at *proofs/first_of_two.py:* and at *proofs/second_of_two.py:*"
    result.stdout.fnmatch_lines([f"*{message}*"])


LIGHT = """
import sys

HEAVY = ("numpy", "scipy", "sympy", "flint", "mpmath", "hypothesis", "click", "jsonschema", "theoryck.claims",
         "theoryck.checking.check", "theoryck.records", "theoryck.claims.collecting")


def test_light():
    assert "theoryck.pytest_plugin" in sys.modules
    assert [name for name in HEAVY if name in sys.modules] == []
"""


def test_a_suite_without_claims_loads_and_prints_nothing(project):
    project.write("test_light.py", LIGHT)
    # Hypothesis has a plugin of its own, which is not ours to judge.
    result = project.run_apart("-p", "no:hypothesispytest")
    result.assert_outcomes(passed=1)
    assert "= theoryck =" not in result.stdout.str()
