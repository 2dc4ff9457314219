"""``theoryck measure``: how it is called, what it prints, how the two routes are compared."""

import json
import math
from decimal import Decimal

import pytest
from click.testing import CliRunner

from theoryck.cli import measure
from theoryck.records import Bracket, Enclosure, Estimate


def run(*arguments: str):
    return CliRunner().invoke(measure.command, list(arguments))


LINEAR = ("overlap-moment", "--activation", "x", "--power", "2", "--draws", "20000")


def test_json_on_stdout_is_json_only() -> None:
    result = run(*LINEAR, "--widths", "8", "16", "8", "--json", "-")
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert data["quantity"] == "overlap-moment"
    assert data["instance"] == {"activation": "x", "widths": [8, 16, 8], "power": 2}
    assert data["bracket"] is None
    assert data["exact"]["rigorous"] is True
    assert Decimal(data["exact"]["value"]) == Decimal("0.3466796875")  # MATH C2
    assert isinstance(data["exact"]["radius"], str)
    estimate = data["estimate"]
    assert estimate["draws"] == 20000
    assert abs(estimate["value"] - 0.3466796875) < 5 * estimate["stderr"]
    assert data["seed"] == 0


def test_people_are_told_whether_the_routes_agree() -> None:
    result = run(*LINEAR, "--widths", "8,8")
    assert result.exit_code == 0, result.output
    assert "E | x_mu . x_nu |^k" in result.output
    assert "0.265625 +- 0 (rigorous)" in result.output
    assert "20000 draws, seed 0" in result.output
    assert "the two routes agree: " in result.output
    assert " sigma apart" in result.output


@pytest.mark.parametrize(
    "widths",
    [
        ("--widths", "8", "16", "8"),
        ("--widths", "8,16,8"),
        ("--widths=8", "16", "8"),
        ("--widths", "8,16", "8"),
        ("--widths", "8,", "16,", "8"),
    ],
)
def test_spellings_of_widths(widths) -> None:
    for arguments in ((*LINEAR, *widths), (LINEAR[0], *widths, *LINEAR[1:]), (*widths, *LINEAR)):
        result = run(*arguments, "--no-exact", "--json", "-")
        assert result.exit_code == 0, result.output
        assert json.loads(result.stdout)["instance"]["widths"] == [8, 16, 8]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("norm-deviatoin", "--activation", "x", "--widths", "3"), "did you mean norm-deviation?"),
        (("zzz", "--activation", "x", "--widths", "3"), "there are: norm-deviation, overlap-moment"),
        (("norm-deviation", "--activation", "sinn(x)", "--widths", "3", "3"), "Invalid value for --activation"),
        (("norm-deviation", "--activation", "x", "--widths", "3.5"), "is not a list of integers"),
        (("norm-deviation", "--activation", "x", "--widths", "0", "3"), "a width must be at least 1, got 0"),
        (("norm-deviation", "--activation", "x", "--widths"), "requires an argument"),
        (("norm-deviation", "--activation", "x", "--widths", "3", "-3"), "No such option"),
        (("norm-deviation", "--activation", "x", "--widths", "3", "oops"), "unexpected extra argument"),
        (("norm-deviation", "--widths", "3"), "--activation"),
        (("norm-deviation", "--activation", "x"), "--widths"),
        (("norm-deviation", "--activation", "x", "--widths", "3", "--power", "0"), "the power must be > 0"),
        (("norm-deviation", "--activation", "x", "--widths", "3", "--power", "two"), "write 4, 2.5 or 5/2"),
        (("norm-deviation", "--activation", "x", "--widths", "3", "--draws", "-1"), "--draws"),
        (("norm-deviation", "--activation", "x", "--widths", "3", "--json", "/no/such/folder/a.json"), "cannot write to"),
        ((), "QUANTITY"),
    ],
)
def test_mistakes_end_with_status_2_and_say_what_to_do(arguments, message) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.output


def test_seed_and_workers() -> None:
    common = (*LINEAR, "--widths", "8", "8", "--no-exact", "--json", "-")
    values = {
        name: json.loads(run(*common, *extra).stdout)["estimate"]["value"]
        for name, extra in {"plain": (), "two": ("--workers", "2"), "other": ("--seed", "1")}.items()
    }
    assert values["plain"] == values["two"] != values["other"]


def test_fractional_powers_and_runs_without_draws() -> None:
    result = run("norm-deviation", "--activation", "tanh", "--widths", "4", "--power", "5/2", "--draws", "1000")
    assert result.exit_code == 0, result.output
    assert "exact  " in result.output
    assert "power 2.5" in result.output
    result = run("overlap-moment", "--activation", "x", "--widths", "4", "4", "--draws", "0", "--json", "-")
    data = json.loads(result.stdout)
    assert data["estimate"] is None
    assert data["exact"] is not None


def test_a_file_is_written_beside_the_text(tmp_path) -> None:
    path = tmp_path / "result.json"
    result = run(*LINEAR, "--widths", "8", "8", "--json", str(path))
    assert "routes agree" in result.output
    assert json.loads(path.read_text())["instance"]["widths"] == [8, 8]


def test_a_disagreement_is_shouted_and_ends_with_status_1(monkeypatch) -> None:
    from theoryck.quantities import OverlapMoment

    wrong = Enclosure(Decimal("0.30"), Decimal("1e-20"))
    monkeypatch.setattr(OverlapMoment, "exact", lambda self, sizes, digits: wrong)
    result = run(*LINEAR, "--widths", "8", "8")
    assert result.exit_code == 1
    assert "THE TWO ROUTES DISAGREE" in result.output


def test_a_bracket_is_shown(monkeypatch) -> None:
    from theoryck.quantities import OverlapMoment

    monkeypatch.setattr(OverlapMoment, "exact", lambda self, sizes, digits: Bracket(0.2, 0.3))
    result = run(*LINEAR, "--widths", "8", "8")
    assert result.exit_code == 0
    assert "bracket      [0.2, 0.3]" in result.output
    assert "the estimate lies in the bracket" in result.output
    data = json.loads(run(*LINEAR, "--widths", "8", "8", "--json", "-").stdout)
    assert data["exact"] is None
    assert (data["bracket"]["low"], data["bracket"]["high"]) == (0.2, 0.3)


@pytest.mark.parametrize(
    ("value", "estimate", "distance"),
    [
        (Enclosure(Decimal(1), Decimal(0)), Estimate(1.2, 0.1, 100), 2.0),
        (Enclosure(Decimal(1), Decimal("0.1")), Estimate(1.2, 0.1, 100), 1.0),
        (Enclosure(Decimal(1), Decimal("0.3")), Estimate(1.2, 0.1, 100), 0.0),
        (Enclosure(Decimal(1), Decimal(0)), Estimate(1.0, 0.0, 100), 0.0),
        (Enclosure(Decimal(1), Decimal(0)), Estimate(1.5, 0.0, 100), math.inf),
        (Enclosure(Decimal(1), Decimal(0)), Estimate(1.5, math.inf, 1), None),
        (Bracket(1.0, 2.0), Estimate(1.5, 0.1, 100), 0.0),
        (Bracket(1.0, 2.0), Estimate(0.8, 0.1, 100), 2.0),
        (Bracket(1.0, 2.0, 0.0, 0.4), Estimate(3.0, 0.3, 100), 2.0),
        (None, Estimate(1.0, 0.1, 100), None),
        (Bracket(1.0, 2.0), None, None),
    ],
)
def test_distance_in_standard_errors(value, estimate, distance) -> None:
    found = measure._distance(value, estimate)
    assert found == (None if distance is None else pytest.approx(distance))


@pytest.mark.parametrize("finished", [3, 0])
def test_ctrl_c_shows_what_was_drawn(monkeypatch, finished) -> None:
    import theoryck.montecarlo

    genuine = theoryck.montecarlo.sample

    def interrupted(*arguments, **more):
        def progress(done, wanted):
            if done == 128 * finished:
                raise KeyboardInterrupt

        if finished == 0:
            raise KeyboardInterrupt
        return genuine(*arguments, **(more | {"block_draws": 128, "progress": progress}))

    monkeypatch.setattr(theoryck.montecarlo, "sample", interrupted)
    result = run(*LINEAR, "--widths", "8", "8", "--json", "-")
    assert result.exit_code == 130
    assert result.stderr == f"interrupted after {128 * finished} of 20000 draws\n"
    estimate = json.loads(result.stdout)["estimate"]
    assert estimate is None if finished == 0 else estimate["draws"] == 384
