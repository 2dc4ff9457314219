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


@pytest.mark.parametrize("command", ["show", "plan"])
def test_a_file_in_the_place_of_a_claim_is_said_to_be_one(lemmas, command):
    result = CliRunner().invoke(main, [command, "lemmas.py"])
    assert result.exit_code == 2
    assert "name the claim before it, CLAIM lemmas.py" in result.output


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


CERTIFICATE = {
    "format": 1,
    "quantity": "norm-deviation",
    "activation": "tanh(x)",
    "depth": 0,
    "power": 2,
    "widths": "all widths >= d",
    "from": 1,
    "constant": "2",
    "method": "comparison",
    "proof": {"range": "1.001", "top": 2, "layers": [], "moments": [["2"]]},
}
STEERING = "\x1b[8m\x00\u202e\r\n"


def check(tmp_path, data):
    """Verify what is written to a file, in a terminal that takes colours."""
    (tmp_path / "it.json").write_text(data if isinstance(data, str) else json.dumps(data))
    return CliRunner().invoke(main, ["prove", "--check", str(tmp_path / "it.json")], color=True)


def test_no_text_of_a_file_of_certificates_writes_a_line_of_its_own_or_steers_the_terminal(tmp_path):
    forged = f"a/one: verified: E <= 0.0001{STEERING}1 of 1 certificates verified.{STEERING}"
    entries = [
        {"claim": forged, "certificate": {**CERTIFICATE, "constant": "1"}},
        {"claim": "a/two", "instance": {forged: forged}, "certificate": {**CERTIFICATE, "activation": forged}},
        {"claim": "a/three", "certificate": {**CERTIFICATE, "quantity": forged}},
        {"claim": "a/four", "certificate": {**CERTIFICATE, "method": forged}},
        {"claim": "a/five", "certificate": {**CERTIFICATE, forged: forged}},
        {"claim": "a/six", "certificate": {**CERTIFICATE, "constant": forged}},
        {"claim": "a/seven", "certificate": {**CERTIFICATE, "activation": f"tanh({STEERING}x)"}},
        {"claim": f"a/eight{STEERING}hidden", "certificate": CERTIFICATE},
    ]
    result = check(tmp_path, {"proofs": entries})
    lines = result.output.splitlines()
    assert len(lines) == len(entries) + 2
    assert all(line.isprintable() for line in lines)
    # Where a name holds what could be the program's word, it stands in quotes up to that word.
    assert lines[0].startswith("'a/one: verified: ")
    assert "': REFUSED: constant: " in lines[0]
    assert "REFUSED" in lines[5]
    assert result.exit_code == 1


def test_a_name_of_a_file_steers_no_terminal_where_it_is_said(tmp_path):
    result = CliRunner().invoke(main, ["prove", "--check", f"{tmp_path}/no\x1b[8m\u202e.json"], color=True)
    assert result.exit_code == 2
    assert r"no\x1b[8m\u202e.json cannot be read" in result.output


@pytest.mark.parametrize("key", ["constant", "activation", "proof"])
def test_a_key_that_stands_twice_is_refused_by_name(tmp_path, key):
    text = json.dumps(CERTIFICATE)
    again = json.dumps({key: CERTIFICATE[key]})[1:-1]
    result = check(tmp_path, f"{text[:-1]}, {again}}}")
    assert result.exit_code == 2
    assert f'field "{key}" stands twice in one object' in result.output
    twice = check(tmp_path, f'{{"proofs": [], "proofs": [{text}]}}')
    assert 'field "proofs" stands twice' in twice.output


def test_an_entry_that_is_no_object_is_named_and_the_others_are_verified(tmp_path):
    result = check(tmp_path, {"proofs": [CERTIFICATE, 5, {"claim": "a/b", "certificate": []}, CERTIFICATE]})
    assert result.exit_code == 1
    assert "certificate 2: REFUSED: certificate: it is no object, got 5" in result.output
    assert "a/b: REFUSED: certificate: it is no object, got a list of 0" in result.output
    assert "2 of 4 certificates verified." in result.output
    nothing = check(tmp_path, {"proofs": 5})
    assert nothing.exit_code == 2
    assert "--json FILE writes one" in nothing.output  # not: over the file that is read


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"constant": "0"}, 'constant: it is not positive, got "0"'),
        ({"proof": {**CERTIFICATE["proof"], "layers": [1]}}, "proof.layers: it is no list of 0 items, got a list of 1"),
        ({"more": True}, "more: unknown, got true"),
        ({"constant": "1"}, "constant: 1.000000000 is not seen to be at least 2.000000000\n"),
        ({"constant": "7" * 5000}, f'constant: "{"7" * 56}... is no decimal number'),
        ({"activation": "(" * 900}, f"activation: '{'(' * 56}... is no formula\n"),
        ({"quantity": "no such " * 700}, "is not known"),
        ({"from": 10**3999}, f"from: 1{'0' * 56}... is no integer"),
    ],
)
def test_a_refusal_says_the_value_and_cuts_a_long_one(tmp_path, changed, said):
    result = check(tmp_path, CERTIFICATE | changed)
    assert result.exit_code == 1
    assert said in result.output
    assert len(result.output.splitlines()[0]) < 250


def test_an_error_that_cannot_say_itself_ends_only_its_claim(lemmas):
    made = (
        "class Silent(Exception):\n    def __str__(self):\n        raise RuntimeError\n\n"
        '@tc.conjecture("lemmas/silent")\ndef silent():\n    raise Silent\n\n'
    )
    (lemmas / "lemmas.py").write_text(FILE.replace("@tc.conjecture", made + "@tc.conjecture", 1))
    result = run("lemmas.py")
    said = " ".join(result.stdout.split())
    assert result.exit_code == 1
    assert "ERROR: lemmas/silent: it cannot be built: " in said
    assert "Silent: (its text cannot be made: RuntimeError)" in said
    assert "PROVED: lemmas/holds" in said


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["missing.py"], "missing.py does not exist"),
        (["missing.json"], "missing.json does not exist"),
        (["kept.json"], "the certificates of a file are read by theoryck prove --check kept.json"),
        (["holds", "kept.json"], "theoryck prove --check kept.json"),
        (["holds", "lemmas.py", "--json", "folder/"], "there is no folder folder"),
        (["--check", "kept.json", "--profile", "quick"], "leave the claim and the other options out"),
        (["--check", "kept.json", "--seed", "0"], "leave the claim and the other options out"),
        (["--check", "kept.json", "--check", "other.json"], "--check takes one file, got 2: kept.json, other.json"),
    ],
)
def test_what_is_missing_or_not_used_is_refused(lemmas, arguments, words):
    (lemmas / "kept.json").write_text(json.dumps(CERTIFICATE))
    result = run(*arguments)
    assert result.exit_code == 2
    assert words in " ".join(result.output.split())
    assert not (lemmas / "folder").exists()
