"""``theoryck prove``: proofs in text, JSON and LaTeX, files verified again, refusals, exit codes."""

import json

import pytest
from click.testing import CliRunner

from theoryck.cli import main

FILE = """
import theoryck as tc

PATH = tc.ScalingPath(d=tc.doubling(16, 256), width="d", input_dim="d")
MOMENT = tc.norm_deviation(tc.DeepNetwork("tanh", depth=1), power=2)

@tc.conjecture("lemmas/holds")
def holds():
    "E (|x_1|^2 - sigma_1)^2 = O(1/d)"
    return tc.Bound(MOMENT, rate="1/d", along=PATH)

@tc.conjecture("lemmas/limit")
def limit():
    return tc.Limit(MOMENT, along=PATH, value=0)

@tc.falsehood("lemmas/too-fast")
def too_fast():
    return tc.Bound(MOMENT, rate="d**(-2)", along=PATH)
"""


@pytest.fixture
def lemmas(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lemmas.py").write_text(FILE)
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(main, ["prove", *arguments])


def test_a_proof_is_printed_written_and_verified_again(lemmas):
    result = run("holds", "lemmas.py", "--from", "1024", "--json", "proofs.json", "--latex", "proofs.tex")
    assert result.exit_code == 0, result.output
    assert (
        "PROVED: lemmas/holds: norm_deviation(tanh(x), depth=1, power=2) <= 0.164644 * (1/d) and at least 0.162605 * (1/d)"
        in " ".join(result.output.split())
    )
    assert "1 of 1 instance proved for every size." in result.output
    assert r"\item[(1)]" in (lemmas / "proofs.tex").read_text()
    again = run("--check", "proofs.json")
    assert again.exit_code == 0
    assert "lemmas/holds: verified: " in again.output
    assert "; 0.1626055 d^(-2/2) <= E| |x_1|^2 - sigma_1 |^2 <= 0.1646435 d^(-2/2)" in again.output
    assert "1 of 1 certificates verified." in again.output


def test_what_a_file_says_of_a_certificate_is_not_taken_for_what_it_proves(lemmas):
    """The claim, its instance, constant and rate stand beside the certificate; what is verified is printed from the certificate."""
    run("holds", "lemmas.py", "--json", "proofs.json")
    data = json.loads((lemmas / "proofs.json").read_text())
    proof = data["proofs"][0]
    proof["instance"], proof["rate"], proof["scope"]["constant"] = {"power": "9"}, "d**(-50)", "-1"
    (lemmas / "proofs.json").write_text(json.dumps(data))
    said = run("--check", "proofs.json").output
    assert "(power=9): verified: " in said
    assert "; 0.05216934 d^(-2/2) <= E| |x_1|^2 - sigma_1 |^2 <= 0.2750798 d^(-2/2)" in said
    assert "Which claim it proves, and what follows along a path, theoryck prove says." in said
    assert "d**(-50)" not in said


def test_a_scaling_of_a_file_is_proved_and_a_falsehood_that_is_proved_is_named(lemmas):
    text = FILE.replace('tc.Bound(MOMENT, rate="1/d"', "tc.Scaling(MOMENT, exponent=-1").replace(
        'rate="d**(-2)"', 'rate="d**(-1/2)"'
    )
    (lemmas / "lemmas.py").write_text(text)
    result = run("lemmas.py")
    said = " ".join(result.stdout.split())
    assert result.exit_code == 1
    assert "PROVED: lemmas/holds: " in said
    assert "PROVED, though declared a falsehood: lemmas/too-fast: " in said
    assert "2 of 2 instances proved for every size, 1 of them declared to be a falsehood." in said


def test_a_constant_is_read_as_the_decimal_that_it_shows(lemmas):
    (lemmas / "lemmas.py").write_text(FILE.replace('rate="1/d"', 'rate="1/d", constant=0.2'))
    said = " ".join(run("holds", "lemmas.py").output.split())
    assert "0.2000000" not in said
    assert " 0.2 " in said


def test_no_size_beyond_the_format(lemmas):
    assert "must be an integer between 1 and 1" in run("holds", "lemmas.py", "--from", "1e100").output


@pytest.mark.parametrize("kept", ["proofs", "list", "certificate"])
def test_a_file_that_was_changed_is_refused(lemmas, kept):
    run("holds", "lemmas.py", "--json", "proofs.json")
    data = json.loads((lemmas / "proofs.json").read_text())
    certificate = data["proofs"][0]["certificate"]
    certificate["constant"] = str(float(certificate["constant"]) * 0.99)
    shown = {"proofs": data, "list": [certificate], "certificate": certificate}[kept]
    (lemmas / "changed.json").write_text(json.dumps(shown))
    result = run("--check", "changed.json")
    assert result.exit_code == 1
    assert "REFUSED: constant" in result.output


def test_a_file_of_claims_is_proved_where_it_offers_proofs(lemmas):
    result = run("lemmas.py")
    assert result.exit_code == 0, result.output  # the falsehood is not proved, as it must be
    assert "1 claim left out, of which no proof is known: lemmas/limit" in result.stderr
    assert "lemmas/limit" not in result.stdout
    assert "REFUTED: lemmas/too-fast" in result.output
    assert "1 of 2 instances proved for every size, 1 refuted at a size as declared." in result.output


def test_json_to_standard_output_is_nothing_else(lemmas):
    data = json.loads(run("lemmas.py", "--json", "-").stdout)
    assert [proof["claim"] for proof in data["proofs"]] == ["lemmas/holds"]
    assert data["refused"][0]["breaks"] > 16


@pytest.mark.parametrize(
    ("arguments", "words", "code"),
    [
        ([], "give one, such as theoryck prove moment-control", 2),
        (["holds", "lemmas.py", "--check", "x.json"], "verifies a file and proves nothing", 2),
        (["--check", "missing.json"], "missing.json cannot be read: no such file", 2),
        (["--check", "lemmas.py"], "is no file of certificates: it is not JSON", 2),
        (["hold", "lemmas.py"], "holds", 2),
        (["limit", "lemmas.py"], "proves a Bound, or a Scaling without a constant, along a path, not a limit", 3),
        (["holds", "lemmas.py", "--from", "0"], "--from", 2),
    ],
)
def test_a_wrong_call_says_what_would_do(lemmas, arguments, words, code):
    result = run(*arguments)
    assert result.exit_code == code
    assert words in " ".join(result.output.split())


def test_ctrl_c_keeps_what_was_proved(lemmas, monkeypatch):
    from theoryck.proving import prove

    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(prove, "proved", interrupted)
    result = run("holds", "lemmas.py", "--json", "proofs.json")
    assert result.exit_code == 130
    assert json.loads((lemmas / "proofs.json").read_text())["proofs"] == []


def test_an_error_in_one_claim_is_said_for_it_and_the_others_go_on(lemmas, monkeypatch):
    from theoryck.proving import prove

    proved = prove.proved

    def with_a_slip(statement, parameters, **options):
        if options["claim"].id == "lemmas/a-slip":
            raise ZeroDivisionError("of ours")
        return proved(statement, parameters, **options)

    monkeypatch.setattr(prove, "proved", with_a_slip)
    slips = '@tc.conjecture("lemmas/{}")\ndef {}():\n    return {}\n\n'
    made = slips.format("a-slip", "slip", 'tc.Bound(MOMENT, rate="1/d", along=PATH)') + slips.format("unbuilt", "unbuilt", "1 / 0")
    (lemmas / "lemmas.py").write_text(FILE.replace("@tc.conjecture", made + "@tc.conjecture", 1))
    result = run("lemmas.py", "--json", "proofs.json")
    said = " ".join(result.stdout.split())
    assert result.exit_code == 1
    assert "ERROR: lemmas/a-slip: " in said
    assert "ZeroDivisionError: of ours" in said
    assert "ERROR: lemmas/unbuilt: it cannot be built: " in said
    assert "lemmas.py:13: ZeroDivisionError: division by zero" in said
    assert "PROVED: lemmas/holds" in said
    assert "1 of 4 instances proved for every size, 1 refuted at a size as declared, 2 ended by an error." in said
    data = json.loads((lemmas / "proofs.json").read_text())
    assert [each["failed"] for each in data["refused"]] == [True, True, False]
