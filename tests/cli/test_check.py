"""``theoryck check``, ``list`` and ``show`` on a small folder of claims."""

import json
import signal
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

import theoryck.checking.check
from theoryck.claims.collecting import collect
from theoryck.cli import main
from theoryck.records import Report, Verdict
from theoryck.report.json import read_json, schema

CLAIMS = '''
"""A toy setting:
   Q(d) = 1/d."""
import theoryck as tc
from hypothesis.strategies import integers

PATH = tc.ScalingPath(d=tc.doubling(8, 512))


@tc.quantity
def precise(rng, draws, *, d):
    return (1 + 0.1 * rng.standard_normal(draws)) / d


@tc.quantity
def noisy(rng, draws, *, d):
    return (1 + 500 * rng.standard_normal(draws)) / d


@tc.theorem("toy/holds", tc.Reference("Someone", 2025, "A paper"))
@tc.for_all(k=integers(1, 2))
def holds(k):
    """Q = O(1/d)

    More about it.
    """
    return tc.Bound(precise, rate="1/d", along=PATH, rivals=["d**-2"])


@tc.conjecture("toy/falls")
def falls():
    """Q = O(d^-2)"""
    return tc.Bound(precise, rate="d**-2", along=PATH)


@tc.conjecture("toy/open")
def open_question():
    """Q = O(1/d)"""
    return tc.Bound(noisy, rate="1/d", along=PATH)


@tc.falsehood("toy/twin")
def twin():
    """Q = O(d^-2)"""
    return tc.Bound(precise, rate="d**-2", along=PATH)


@tc.theorem("toy/unknown-name")
def unknown_name():
    """Q = O(1/n)"""
    return tc.Bound(precise, rate="1/n", along=PATH)
'''
QUICKLY = ("--draws", "2000", "--workers", "1")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "proofs").mkdir()
    (tmp_path / "proofs" / "toy_claims.py").write_text(CLAIMS.lstrip())
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(__import__("sys").modules, "toy_claims", raising=False)
    return tmp_path


def call(*arguments):
    return CliRunner().invoke(main, list(arguments), prog_name="theoryck")


def check(*arguments):
    return call("check", "proofs", *QUICKLY, *arguments)


def test_all_well(folder):
    result = check("--only", "toy/holds", "--only", "toy/twin")
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    assert "1 refuted as declared, 1 supported" in result.stdout


def test_a_statement_that_falls_is_told_in_full_and_ends_with_1(folder):
    result = check("--only", "toy/[hf]*", "--seed", "3")
    assert result.exit_code == 1
    assert "! REFUTED" in result.stdout
    for words in ("REFUTED: toy/falls", "d = 8..512", "seed 3", "repeat     theoryck check", "NOT AS DECLARED: toy/falls."):
        assert words in result.stdout


def test_undecided_is_well_but_not_under_thorough(folder):
    assert check("--only", "toy/open").exit_code == 0
    thorough = check("--only", "toy/open", "--profile", "thorough")
    assert thorough.exit_code == 3
    assert "? toy/open is undecided: " in thorough.stdout


@pytest.mark.parametrize("profile", ["quick", "thorough"])
def test_a_strict_run_ends_with_1_where_anything_is_undecided(folder, profile):
    result = check("--only", "toy/open", "--profile", profile, "--strict", "--json", "-")
    assert result.exit_code == 1
    data = json.loads(result.stdout)
    jsonschema.Draft202012Validator(schema()).validate(data)
    assert (data["summary"]["strict"], data["summary"]["exit_code"]) == (True, 1)
    assert Report.from_json(data).exit_code == 1
    assert check("--only", "toy/twin", "--strict").exit_code == 0


def test_verbose_lists_every_instance(folder):
    brief, whole = check("--only", "toy/holds"), check("--only", "toy/holds", "-v")
    assert "2: k=" in brief.stdout
    assert "k=1" in whole.stdout
    assert "k=2" in whole.stdout


def test_json_on_standard_output_is_json_and_nothing_else(folder):
    result = check("--only", "toy/f*", "--json", "-")
    assert result.exit_code == 1
    assert result.stderr == ""
    data = json.loads(result.stdout)
    jsonschema.Draft202012Validator(schema()).validate(data)
    assert data["results"][0]["verdict"] == "REFUTED"


def test_json_in_a_file_beside_the_table(folder):
    result = check("--only", "toy/holds", "--json", "report.json")
    assert "SUPPORTED" in result.stdout
    assert {r.verdict for r in read_json("report.json").results} == {Verdict.SUPPORTED}


def test_a_file_that_cannot_be_written_is_refused_before_measuring(folder, monkeypatch):
    monkeypatch.setattr(theoryck.checking.check, "check_claims", None)
    result = check("--json", "nowhere/report.json")
    assert result.exit_code == 2
    assert "there is no folder nowhere" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--html", "nowhere/report.html"],
            "--html: the report cannot be written to nowhere/report.html: there is no folder",
        ),
        (
            ["--html", "proofs"],
            "--html: the report cannot be written to proofs: it is a folder; name a file in it, such as proofs/",
        ),
        (["--html", "-"], "--html needs a file, such as report.html; for a page on standard output: theoryck report FILE --html -"),
        (["--html", "r", "--json", "r"], "--json and --html would both be written to r: name two files"),
        (["--html", "d", "--ledger", "d"], "--html d is the ledger that is read: it would be overwritten; name another file"),
        (
            ["--histograms", "proofs/toy_claims.py"],
            "--histograms proofs/toy_claims.py: the folder proofs/toy_claims.py cannot be",
        ),
        (["--profile", "Quik"], "'Quik' is not one of quick, standard, thorough (did you mean 'quick'?)"),
    ],
)
def test_outputs_that_cannot_be_are_refused_before_measuring(folder, monkeypatch, arguments, message):
    monkeypatch.setattr(theoryck.checking.check, "check_claims", None)
    result = check(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_page_beside_the_table(folder):
    result = check("--only", "toy/holds", "--html", "report.html")
    assert result.exit_code == 0
    assert "SUPPORTED" in result.stdout
    page = (folder / "report.html").read_text()
    assert "toy/holds" in page
    assert "A toy setting" in page  # what is written about the claim came along


def test_what_cannot_be_written_after_all_is_said_and_the_rest_is_written(folder, monkeypatch):
    import theoryck.report.json

    genuine = theoryck.report.json._write_whole

    def full(target, text):
        if target.suffix == ".json":
            raise OSError(28, "No space left on device")
        genuine(target, text)

    monkeypatch.setattr(theoryck.report.json, "_write_whole", full)
    result = check("--only", "toy/holds", "--json", "report.json", "--html", "report.html")
    assert result.exit_code == 2
    assert "SUPPORTED" in result.stdout
    assert result.stderr == "theoryck: --json: the report could not be written to report.json: No space left on device\n"
    assert (folder / "report.html").exists()


def test_a_claim_that_cannot_be_built_is_vacuous_and_stops_nobody(folder):
    result = check("--only", "toy/unknown-name", "--only", "toy/holds", "--json", "report.json")
    assert result.exit_code == 1
    assert "toy_claims.py" in result.stderr
    assert "claim 'toy/unknown-name' cannot be built" in result.stderr
    verdicts = {entry.claim: entry.verdict for entry in read_json("report.json").results}
    assert verdicts == {"toy/unknown-name": Verdict.VACUOUS, "toy/holds": Verdict.SUPPORTED}
    assert "nothing was tested: RateError: " in result.stdout


def test_list_shows_a_claim_that_cannot_be_built_with_the_error(folder):
    result = call("list")
    assert result.exit_code == 0
    assert result.output.count("cannot be built:") == 1
    assert "RateError" in result.output
    entries = {entry["claim"]: entry["error"] for entry in json.loads(call("list", "--json").stdout)}
    assert entries["toy/holds"] is None
    assert "RateError" in entries["toy/unknown-name"]
    assert call("list", "--strict").exit_code == 1
    assert call("list", "--strict", "--only", "toy/holds").exit_code == 0


def test_a_file_that_cannot_be_imported_stops_nobody(folder):
    (folder / "proofs" / "broken.py").write_text("import theoryck as tc\n\nx = 1 / 0\n")
    for result in (check("--only", "toy/holds"), call("list", "--only", "toy/holds")):
        assert result.exit_code == 2
        assert "broken.py:3: ZeroDivisionError: division by zero" in result.stderr
        assert "toy/holds" in result.stdout or "holds" in result.stdout
    alone = call("check", "proofs/broken.py")
    assert alone.exit_code == 2
    assert alone.stderr.count("ZeroDivisionError") == 1


def test_draws_of_the_wrong_number_are_said_once(folder):
    result = check("--only", "toy/holds", "--draws", "100,200")
    assert result.exit_code == 2
    assert result.stderr.count("--draws gives 2 numbers, but claim 'toy/holds' is measured at 7 sizes") == 1
    assert result.stdout == ""


def test_ctrl_c_prints_what_is_known_and_how_to_go_on(folder, monkeypatch):
    original = theoryck.checking.check._examine

    def interrupted(claim, session, keep_going):
        if claim.id == "toy/twin":
            raise KeyboardInterrupt
        return original(claim, session, keep_going)

    monkeypatch.setattr(theoryck.checking.check, "_examine", interrupted)
    result = check("--only", "toy/holds", "--only", "toy/twin")
    assert result.exit_code == 130
    assert "Interrupted: the rest was not judged. 1 claim" in result.stdout
    assert "theoryck check proofs --only toy/twin --profile quick --seed 0" in result.stderr


def test_termination_is_an_interruption(folder, monkeypatch):
    original = theoryck.checking.check._examine

    def terminated(claim, session, keep_going):
        if claim.id == "toy/twin":
            signal.raise_signal(signal.SIGTERM)
        return original(claim, session, keep_going)

    monkeypatch.setattr(theoryck.checking.check, "_examine", terminated)
    before = signal.getsignal(signal.SIGTERM)
    result = check("--only", "toy/holds", "--only", "toy/twin", "--json", "report.json")
    assert result.exit_code == 130
    assert [r.claim for r in read_json("report.json").results][-1] == "toy/holds"
    assert signal.getsignal(signal.SIGTERM) is before


def test_list(folder):
    result = call("list")
    assert result.exit_code == 0
    counts = "2 theorems, 2 conjectures, 1 falsehood"
    for words in ("theorem", "toy/holds", "Q = O(1/d)", "Someone (2025), A paper", "proofs/toy_claims.py:19", counts):
        assert words in result.output


def test_list_as_json(folder):
    data = json.loads(call("list", "proofs", "--only", "toy/holds", "--json").stdout)
    (holds,) = data
    assert (holds["claim"], holds["status"], holds["arguments"]) == ("toy/holds", "theorem", ["k"])
    assert holds["file"].endswith("toy_claims.py")


def test_list_reads_like_the_contents_of_the_folder(folder):
    paper = folder / "proofs" / "another2021"
    paper.mkdir()
    (paper / "__init__.py").write_text('"""Symbols.\n\nContents\n    zeta     first\n    alpha    second\n"""\n')
    for name in ("alpha", "zeta", "beyond"):
        text = f'import theoryck as tc\n@tc.theorem("another2021/{name}")\ndef f():\n    """{name}"""\n'
        (paper / f"{name}.py").write_text(f'"""About {name}."""\n{text}    return tc.Identity(tc.networks.sigma("x", 0), 1)\n')
    output = call("list", "proofs/another2021").output
    headings = [line for line in output.splitlines() if ": About" in line]
    assert headings == ["zeta: About zeta.", "alpha: About alpha.", "beyond: About beyond."]
    entries = json.loads(call("list", "proofs/another2021", "--json").stdout)
    assert [entry["claim"] for entry in entries] == ["another2021/zeta", "another2021/alpha", "another2021/beyond"]


@pytest.mark.parametrize("name", ["toy/holds", "holds"])
def test_show(folder, name):
    result = call("show", name)
    assert result.exit_code == 0, result.output
    head = ("toy/holds (theorem)", "Q = O(1/d)", "More about it.", "Q(d) = 1/d.", "k from integers")
    for words in (*head, "rate 1/d", "d**-2", "k=1", "d = 8"):
        assert words in result.output
    assert "theoryck check proofs/toy_claims.py --only 'toy/holds'" in result.output


def test_show_gives_rates_at_their_arguments():
    output = call("show", "moment-control", str(Path(__file__).parents[2] / "proofs")).output
    assert "rate d**(-k/2) = d**(-1/2)\n     rivals    d**(-(k+1)/2) = d**(-1)" in output


def test_show_of_a_misspelt_claim(folder):
    result = call("show", "hodls")
    assert result.exit_code == 2
    assert "no claim is called 'hodls'; did you mean toy/holds?" in result.output


def test_show_of_a_claim_that_cannot_be_built(folder):
    result = call("show", "unknown-name")
    assert result.exit_code == 2
    assert "cannot be built" in result.output


def test_the_repeat_command_repeats(folder):
    report = json.loads(check("--only", "toy/falls", "--json", "-").stdout)
    words = report["results"][0]["repeat"].replace("'", "").split()
    assert words[:2] == ["theoryck", "check"]
    again = json.loads(call(*words[1:], *QUICKLY, "--json", "-").stdout)
    assert again["results"][0]["exponent"] == report["results"][0]["exponent"]
    assert collect([words[2]])


def test_an_error_that_cannot_say_itself_ends_only_its_claim(tmp_path):
    """Neither an error of a claim's function nor one of a sampler may hide which error it was, or lose the other claims."""
    (tmp_path / "silent.py").write_text(
        "import theoryck as tc\n\n"
        "class Silent(Exception):\n    def __str__(self):\n        raise RuntimeError\n\n"
        '@tc.conjecture("silent/built")\ndef built():\n    raise Silent\n\n'
        "@tc.quantity\ndef gap(rng, d):\n    raise Silent\n\n"
        '@tc.conjecture("silent/drawn")\ndef drawn():\n'
        '    return tc.Bound(gap, rate="1/d", along=tc.ScalingPath(d=tc.doubling(16, 64)))\n'
    )
    result = CliRunner().invoke(main, ["check", str(tmp_path / "silent.py"), "--workers", "1"])
    said = " ".join(result.output.split())
    assert isinstance(result.exception, SystemExit)
    assert result.exit_code == 1
    assert "nothing was tested: Silent: (its text cannot be made: RuntimeError)" in said
    assert "the sampler raised Silent in " in said
