"""Verdicts become outcomes of tests: what passes, what fails, what is said, and with which exit status."""

import json
import xml.etree.ElementTree as ET

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
            "  refuted *fallen*as declared*",
            "! SUPPORTED *standing*must fall*",
            "[?] toy/inconclusive is undecided: *",
            "NOT AS DECLARED: toy/refuted, toy/vacuous, toy/standing.",
            "report written to report.json",
        ]
    )
    assert "Traceback" not in result.stdout.str()
    assert "\x1b" not in result.stdout.str() + result.stderr.str()  # no line of progress where there is no terminal
    report = json.loads((project.path / "report.json").read_text())
    assert [r["verdict"] for r in report["results"]] == ["SUPPORTED", "REFUTED", "INCONCLUSIVE", "VACUOUS", "REFUTED", "SUPPORTED"]
    assert report["summary"]["exit_code"] == 1


def test_all_well(project):
    project.claims("supported", "fallen")
    result = project.run("proofs")
    assert result.ret == 0
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*2 claims, 2 instances: 1 refuted as declared, 1 supported*"])


def test_undecided_passes_with_its_own_word_but_fails_under_thorough(project):
    project.claims("inconclusive")
    result = project.run("proofs", "-v")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*::inconclusive INCONCLUSIVE*", "*1 inconclusive*"])
    thorough = project.run("proofs", "--theoryck-profile", "thorough")
    assert thorough.ret == 1
    thorough.assert_outcomes(failed=1)
    thorough.stdout.fnmatch_lines(["INCONCLUSIVE: toy/inconclusive"])


def test_undecided_fails_in_a_strict_run(project):
    project.claims("inconclusive", "supported")
    result = project.run("proofs", "--theoryck-strict", "--theoryck-json", "report.json")
    assert result.ret == 1
    result.assert_outcomes(failed=1, passed=1)
    summary = json.loads((project.path / "report.json").read_text())["summary"]
    assert (summary["strict"], summary["exit_code"]) == (True, 1)


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


def junit(path):
    """The properties of each claim in a JUnit file, by the claim."""
    cases = ET.parse(path).getroot().iter("testcase")
    found = [{each.get("name"): each.get("value") for each in case.iter("property")} for case in cases]
    return {properties.get("claim"): properties for properties in found}


def test_junit_carries_verdict_and_exponent_as_properties(project):
    project.claims("supported", "refuted", "vacuous")
    project.run("proofs", "--junitxml", "junit.xml", "--theoryck-json", "report.json", "--theoryck-seed", "7")
    found = junit(project.path / "junit.xml")
    results = {result["claim"]: result for result in json.loads((project.path / "report.json").read_text())["results"]}
    assert found.keys() == results.keys()
    for claim, properties in found.items():
        result = results[claim]
        exponent = result["exponent"] or {}
        numbers = {
            "exponent": exponent.get("estimate"),
            "exponent_low": exponent.get("low"),
            "exponent_high": exponent.get("high"),
            "claimed_exponent": result["claimed_exponent"],
            "slack": result["slack"] and result["slack"]["estimate"],
        }
        texts = {name: result[name] for name in ("status", "verdict", "tightness", "draws", "seed")}
        expected = {name: repr(float(value)) for name, value in numbers.items() if value is not None}
        expected |= {name: str(value) for name, value in texts.items() if value is not None}
        assert properties == {"claim": claim, **expected}
    assert found["toy/supported"]["tightness"] == "TIGHT"
    assert found["toy/vacuous"].keys() == {"claim", "status", "verdict", "draws", "seed"}


def test_two_processes_print_one_table_and_write_the_same_report(project):
    project.write("proofs/toy/__init__.py", '"""Symbols of the toy."""')
    project.claims("supported", "refuted", "inconclusive")
    project.claims("fallen", file="proofs/toy/falsehoods.py")
    options = ["--theoryck-json", "{}.json", "--junitxml", "{}.xml", "--theoryck-html", "{}.html", "--ledger", "{}.ledger"]
    serial = project.run("proofs", *(option.format("serial") for option in options))
    parallel = project.run_apart("proofs", "-n", "2", *(option.format("parallel") for option in options))
    assert parallel.ret == serial.ret == 1
    for outcomes in (serial.parseoutcomes(), parallel.parseoutcomes()):
        assert (outcomes["passed"], outcomes["failed"], outcomes["inconclusive"]) == (2, 1, 1)
    assert parallel.stdout.str().count("NOT AS DECLARED: toy/refuted.") == 1
    one, two = (json.loads((project.path / name).read_text()) for name in ("serial.json", "parallel.json"))
    for report in (one, two):
        for found in report["results"]:
            del found["seconds"]
    assert one == two
    assert [about["folder"] for about in one["about"]] == ["toy"] * 4
    assert one["folders"] == {"toy": "Symbols of the toy."}
    # As in a book, not as in the alphabet: what is known to be false comes last.
    assert [about["place"].partition(":")[0] for about in one["about"]] == [
        *["proofs/toy/results.py"] * 3,
        "proofs/toy/falsehoods.py",
    ]
    assert junit(project.path / "serial.xml") == junit(project.path / "parallel.xml")
    assert "Symbols of the toy." in (project.path / "parallel.html").read_text()
    for run, name in ((serial, "serial"), (parallel, "parallel")):
        run.stdout.fnmatch_lines([f"ledger {name}.ledger: 0 draws reused, 112000 drawn and kept", f"page written to {name}.html"])


@pytest.mark.parametrize(("arguments", "path"), [(["proofs", "-k", "toy"], "proofs"), ([], ".")])
def test_interrupted_before_anything_was_judged(project, arguments, path):
    project.claims("interrupting", "supported")
    result = project.run(*arguments, no_reraise_ctrlc=True)
    result.stdout.fnmatch_lines(
        [
            "Interrupted before any claim was judged.",
            "Interrupted with 2 of 2 claims to go. To check them:",
            f"  theoryck check {path} --profile quick --seed 0 --workers 1 --draws 2000 --sharing 2",
        ]
    )


def test_an_interrupted_choice_of_claims_goes_on_with_the_same_choice(project):
    project.claims("supported", "interrupting", "fallen", "refuted")
    result = project.run("proofs", "-k", "not refuted", "--ledger", "d.ledger", no_reraise_ctrlc=True)
    result.stdout.fnmatch_lines(
        [
            "Interrupted with 2 of 3 claims to go. To check them:",
            "  theoryck check proofs/toy/results.py --only toy/interrupting --only toy/fallen * --ledger d.ledger --sharing 3",
            "*in the ledger and will be reused*",
        ]
    )


def test_pictures_of_laws(project):
    project.claims("supported")
    result = project.run("proofs", "--theoryck-histograms", "pictures")
    result.stdout.fnmatch_lines(["0 histograms in pictures: no Law was measured by draws, and nothing else has a histogram"])
    assert (project.path / "pictures").is_dir()


def test_stop_at_the_first_failure(project):
    project.claims("refuted", "supported")
    result = project.run("proofs", "-x", "--theoryck-json", "report.json")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["Interrupted: the rest was not judged.*1 REFUTED*"])
    assert json.loads((project.path / "report.json").read_text())["summary"]["interrupted"] is True


WORKERS = ("--theoryck-workers", "2")


def test_with_workers_later_claims_are_in_work_and_outcomes_are_the_same(project):
    """Errors, failures and undecided ones come at their own items, and the report is that of one process."""
    project.claims("supported", "raising", "refuted", "inconclusive", "vacuous", "fallen", "standing")
    reports = []
    for arguments in ((), WORKERS):
        result = project.run("proofs", "--theoryck-json", "report.json", *arguments)
        result.stdout.fnmatch_lines(["proofs/toy/results.py .FFiF.F*", "*results.py*in broken*", "*ZeroDivisionError*"])
        reports.append(json.loads((project.path / "report.json").read_text()))
        for each in reports[-1]["results"]:
            del each["seconds"]
            each["reason"] = each["reason"].partition("repeat with")[0]  # a traceback from a worker has its own frames
    assert reports[0] == reports[1]


def test_with_workers_what_was_in_work_is_left_where_the_session_stops(project):
    project.claims("supported", "refuted", "fallen", "standing", "inconclusive")
    result = project.run("proofs", "-x", "--theoryck-json", "report.json", *WORKERS)
    result.assert_outcomes(passed=1, failed=1)
    report = json.loads((project.path / "report.json").read_text())
    assert [each["claim"] for each in report["results"]] == ["toy/supported", "toy/refuted"]
    result = project.run("proofs", "-k", "fallen or standing", *WORKERS)
    result.assert_outcomes(passed=1, failed=1)


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
        (["--theoryck-json", ""], "*--theoryck-json needs the name of a file, such as report.json*"),
        (["--theoryck-json", "proofs/toy/results.py"], "*--theoryck-json proofs/toy/results.py is a Python file that exists*"),
        (["--theoryck-html", "proofs/toy/results.py"], "*--theoryck-html proofs/toy/results.py is a Python file that exists*"),
        (["--theoryck-json", "x", "--theoryck-html", "x"], "*--theoryck-json and --theoryck-html would both be written to x*"),
        (["--theoryck-json", "x", "--junitxml", "x"], "*--theoryck-json x is the file of --junitxml: it would be overwritten*"),
        (["--theoryck-html", "x", "--ledger", "x"], "*--theoryck-html x is the ledger that is read: it would be overwritten*"),
        (["--ledger", ""], "*--ledger needs the name of a file*"),
        (["--ledger", "a" * 300], "*--ledger cannot be used: file name too long: aaa*name a file such as draws.ledger*"),
        (["--theoryck-json", "a" * 300], "*--theoryck-json cannot be written: file name too long: aaa*"),
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
