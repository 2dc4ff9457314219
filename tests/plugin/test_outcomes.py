"""Verdicts become outcomes of tests: what passes, what fails, what is said, and with which exit status."""

import json

import pytest


def test_every_outcome(project):
    project.claims("supported", "refuted", "inconclusive", "vacuous", "fallen", "standing")
    result = project.run("proofs", "--theoryck-json", "report.json")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    outcomes = result.parseoutcomes()
    assert (outcomes["passed"], outcomes["failed"], outcomes["inconclusive"]) == (2, 3, 1)
    result.stdout.fnmatch_lines(
        [
            "proofs/toy/results.py .FiF.F*",
            "REFUTED: toy/refuted",
            "*claimed*d[*][*]-2*",
            "*window*8..512*",
            "*valid*assuming corrections*",
            "*seed 0",
            "*theoryck check *results.py --only toy/refuted*--seed 0*",
            "VACUOUS: nothing was tested: toy/vacuous",
            "SUPPORTED, but this is a falsehood: it must be refuted: toy/standing",
            "=* theoryck =*",
            "  SUPPORTED *supported*",
            "! REFUTED *refuted*",
            "[?] INCONCLUSIVE *inconclusive*",
            "! VACUOUS *vacuous*",
            "  refuted *fallen*as it should*",
            "! SUPPORTED *standing*must fall*",
            "[?] toy/inconclusive is undecided: *",
            "NOT AS DECLARED: toy/refuted, toy/vacuous, toy/standing.",
            "report written to report.json",
        ]
    )
    assert "Traceback" not in result.stdout.str()
    report = json.loads((project.path / "report.json").read_text())
    assert [r["verdict"] for r in report["results"]] == ["SUPPORTED", "REFUTED", "INCONCLUSIVE", "VACUOUS", "REFUTED", "SUPPORTED"]
    assert report["summary"]["exit_code"] == 1


def test_all_well(project):
    project.claims("supported", "fallen")
    result = project.run("proofs")
    assert result.ret == 0
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*2 claims, 2 instances: 1 refuted as it should, 1 supported*"])


def test_undecided_passes_with_its_own_word_but_fails_under_thorough(project):
    project.claims("inconclusive")
    result = project.run("proofs", "-v")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*::inconclusive INCONCLUSIVE*", "*1 inconclusive*"])
    thorough = project.run("proofs", "--theoryck-profile", "thorough")
    assert thorough.ret == 1
    thorough.assert_outcomes(failed=1)
    thorough.stdout.fnmatch_lines(["INCONCLUSIVE: toy/inconclusive"])


def test_a_claim_that_raises_shows_the_users_line_and_is_not_lost(project):
    project.claims("raising", "supported")
    result = project.run("proofs", "--theoryck-json", "report.json")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["proofs/toy/results.py:*: in broken", "*raise ZeroDivisionError*", "*in the user's sampler*"])
    assert "pytest_plugin.py" not in result.stdout.str()
    report = json.loads((project.path / "report.json").read_text())
    assert [r["verdict"] for r in report["results"]] == ["VACUOUS", "SUPPORTED"]
    assert "ZeroDivisionError" in report["results"][0]["reason"]


@pytest.mark.parametrize("interrupting", ["interrupting", "interrupting_compiled_code"])
def test_ctrl_c_prints_what_was_judged_and_writes_it(project, interrupting):
    project.claims("supported", interrupting, "refuted")
    result = project.run("proofs", "--theoryck-json", "report.json", no_reraise_ctrlc=True)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["  SUPPORTED *supported*", "Interrupted: the rest was not judged.*1 supported*"])
    report = json.loads((project.path / "report.json").read_text())
    assert report["summary"]["interrupted"] is True
    assert [r["claim"] for r in report["results"]] == ["toy/supported"]


def test_junit_carries_the_verdict_as_a_property(project):
    project.claims("supported")
    project.run("proofs", "--junitxml", "junit.xml")
    text = (project.path / "junit.xml").read_text()
    for name, value in (("claim", "toy/supported"), ("verdict", "SUPPORTED")):
        assert f'<property name="{name}" value="{value}" />' in text
    assert 'name="exponent"' in text
    assert "false_refute_rate" not in text  # the whole record is in --theoryck-json


def test_two_processes_print_one_table_and_write_the_same_report(project):
    project.claims("supported", "refuted", "inconclusive")
    project.claims("fallen", file="proofs/toy/falsehoods.py")
    serial = project.run("proofs", "--theoryck-json", "serial.json")
    parallel = project.run_apart("proofs", "-n", "2", "--theoryck-json", "parallel.json")
    assert parallel.ret == serial.ret == 1
    for outcomes in (serial.parseoutcomes(), parallel.parseoutcomes()):
        assert (outcomes["passed"], outcomes["failed"], outcomes["inconclusive"]) == (2, 1, 1)
    assert parallel.stdout.str().count("NOT AS DECLARED: toy/refuted.") == 1
    one, two = (json.loads((project.path / name).read_text()) for name in ("serial.json", "parallel.json"))
    for report in (one, two):
        for found in report["results"]:
            del found["seconds"]
    assert one == two


def test_stop_at_the_first_failure(project):
    project.claims("refuted", "supported")
    result = project.run("proofs", "-x", "--theoryck-json", "report.json")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["Interrupted: the rest was not judged.*1 REFUTED*"])
    assert json.loads((project.path / "report.json").read_text())["summary"]["interrupted"] is True


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--theoryck-profile", "quik"],
            "*--theoryck-profile: profile must be one of quick, *, got 'quik' (did you mean 'quick'[?])",
        ),
        (["--theoryck-seed", "-1"], "*--theoryck-seed must be at least 0, got -1*"),
        (["--theoryck-workers", "0"], "*--theoryck-workers must be at least 1, got 0*"),
        (["--theoryck-json", "-"], "*theoryck check PATH --json -*"),
        (["--theoryck-json", "nowhere/report.json"], "*--theoryck-json: *there is no folder nowhere*"),
        (["--theoryck-html", "nowhere/report.html"], "*--theoryck-html: *there is no folder nowhere*"),
        (["--theoryck-html", "-"], "*theoryck report FILE --html -*"),
        (
            ["--theoryck-histograms", "pytest.ini/pictures"],
            "*--theoryck-histograms: *pytest.ini/pictures cannot be made*",
        ),
    ],
)
def test_bad_options_are_refused_before_anything_is_measured(project, arguments, message):
    project.claims("supported")
    project.write("pytest.ini", "[pytest]\n")
    result = project.pytester.runpytest_inprocess("proofs", *arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([message])
