"""``theoryck constants``: JSON and nothing else, neat text, and exit status 2 with a message that helps."""

from __future__ import annotations

import json
from decimal import Decimal, localcontext

import pytest
from click.testing import CliRunner

from theoryck.cli import main
from theoryck.cli.constants import command, shown, shown_radius
from theoryck.records import Enclosure


def run(*arguments: str):
    return CliRunner().invoke(command, list(arguments))


def test_json_on_standard_output_is_all_there_is():
    result = run("atan(x)", "--depth", "4", "--digits", "50", "--json", "-")
    assert result.exit_code == 0
    data = json.loads(result.stdout)
    assert result.stderr == ""
    assert set(data) >= {"activation", "depth", "digits", "sigma", "rho", "epsilon", "eta0", "gamma0"}
    assert [len(data[key]) for key in ("sigma", "rho", "epsilon")] == [5, 4, 4]
    # by mpmath.quad at 70 digits, two methods
    assert data["sigma"][1]["value"].startswith("0.449700916434902157259151094349029435878272347065416")
    for value in (*data["sigma"], *data["rho"], *data["epsilon"], data["eta0"], data["gamma0"]):
        assert value["rigorous"] is True
        assert Decimal(value["radius"]) <= abs(Decimal(value["value"])) * Decimal("1e-50")


def test_json_in_a_file(tmp_path):
    path = tmp_path / "constants.json"
    result = run("tanh", "--depth", "1", "--json", str(path))
    assert result.exit_code == 0
    assert "sigma_1" in result.stdout
    assert json.loads(path.read_text(encoding="utf-8"))["activation"] == "tanh(x)"


def test_text_shows_proved_digits_on_one_line_each():
    result = run("tanh", "--depth", "2", "--digits", "120")
    assert result.exit_code == 0
    line = next(line for line in result.stdout.splitlines() if line.startswith("rho_2"))
    assert len(line.split()[1]) == 122
    assert "< 1e-1" in line
    assert "layers 1, 2: trapezoidal rule with a proved strip bound" in result.stdout


def test_what_is_not_proved_is_marked():
    result = run("sin(x) + abs(sin(x))/10", "--depth", "1", "--digits", "6")
    assert result.exit_code == 0
    assert "not proved" in result.stdout
    assert "NOT proved" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tanh", "--depth", "-1"], "must be an integer between 0 and 200, got '-1'"),
        (["tanh", "--depth", "1000"], "between 0 and 200, got '1000': every layer costs digits"),
        (["tanh", "--digits", "0"], "must be an integer between 1 and 1000, got '0'"),
        (["tanh", "--digits", "1000000"], "must be an integer between 1 and 1000, got '1000000'"),
        (["tanh", "--digits", "many"], "must be an integer between 1 and 1000, got 'many'"),
        (["atan(y)"], "unknown name 'y'"),
        (["tnh"], "did you mean 'tanh'"),
        (["__import__('os')"], "Invalid value for 'ACTIVATION'"),
        (["exp(x**2)"], "does not converge"),
        (["tanh", "--json", "/no/such/folder/file.json"], "there is no folder /no/such/folder"),
        ([], "Missing argument"),
    ],
)
def test_bad_input_ends_with_status_two(arguments, message):
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert message in result.stderr


def cells(output: str, label: str) -> list[str]:
    return next(line for line in output.splitlines() if line.startswith(label)).split(maxsplit=3)


def test_constants_of_zero_are_zero():
    result = run("0*x", "--depth", "3", "--json", "-")
    assert result.exit_code == 0
    data = json.loads(result.stdout)
    zero = {"value": "0", "radius": "0", "rigorous": True}
    assert [*data["sigma"][1:], *data["rho"], *data["epsilon"], data["eta0"], data["gamma0"]] == [zero] * 11
    assert cells(run("0*x", "--depth", "3").stdout, "sigma_3") == ["sigma_3", "0", "exact"]


def test_what_is_not_separated_from_zero_says_so():
    result = run("sin(1000*x)", "--depth", "1", "--digits", "15")
    # rho_1 = 1000 exp(-500000): not 0, and far below any radius
    assert cells(result.stdout, "rho_1")[1] == "0"
    assert cells(result.stdout, "rho_1")[3].endswith("not separated from 0")
    assert "separated" not in next(line for line in result.stdout.splitlines() if line.startswith("sigma_1"))
    rho = json.loads(run("sin(1000*x)", "--depth", "1", "--digits", "15", "--json", "-").stdout)["rho"][0]
    assert 0 < Decimal(rho["radius"]) < Decimal("1e-30")


def test_digits_shown_are_right_and_no_more_than_asked_for():
    result = run("x**9", "--depth", "2", "--digits", "15")
    # sigma_1 = E Z^18 = 17!! = 34459425, sigma_2 = E (sqrt(sigma_1) Z)^18 = sigma_1^9 17!!
    true = 34459425**10
    assert cells(result.stdout, "sigma_2")[1] == f"{Decimal(true):.14e}"
    sigma = json.loads(run("x**9", "--depth", "2", "--digits", "15", "--json", "-").stdout)["sigma"][2]
    with localcontext(prec=120):
        assert abs(Decimal(sigma["value"]) - true) <= Decimal(sigma["radius"]) <= Decimal("1e-15") * true


@pytest.mark.parametrize("digits", ["20", "2e1", "2.0E+1"])
def test_spellings_of_integers(digits):
    assert json.loads(run("x", "--depth", "1", "--digits", digits, "--json", "-").stdout)["digits"] == 20


def test_ctrl_c_ends_with_status_130(monkeypatch):
    import theoryck.theory.networks.proved.constants

    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(theoryck.theory.networks.proved.constants, "network_constants", interrupted)
    result = CliRunner().invoke(main, ["constants", "tanh"])
    assert (result.exit_code, result.stdout) == (130, "")
    assert "interrupted" in result.stderr


def test_digits_follow_the_radius():
    def enclosure(value: str, radius: str) -> Enclosure:
        return Enclosure(Decimal(value), Decimal(radius))

    assert shown(enclosure("0.12345678", "2e-6"), 30) == "0.1235"
    assert shown(enclosure("123456.78", "1e-40"), 4) == "1.235e+5"
    assert shown(enclosure("5", "4"), 30) == "?"
    assert shown(enclosure("0.5", "0"), 30) == "0.5"
    assert shown_radius(enclosure("1", "9.9e-20")) == "< 1e-19"
    assert shown_radius(enclosure("1", "0")) == "exact"
