"""``theoryck measure``: how it is called, what it prints, how the two routes are compared."""

import json
import math
from decimal import Decimal
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from theoryck.cli import common, main, measure
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
    assert "exact        0.265625 (exact)" in result.output
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
        (("zzz", "--activation", "x", "--widths", "3"), "there are: norm-deviation, overlap-moment, free-entropy"),
        (("norm-deviation", "--activation", "sinn(x)", "--widths", "3", "3"), "Invalid value for --activation"),
        (("norm-deviation", "--activation", "x", "--widths", "3.5"), "is not a list of integers"),
        (("norm-deviation", "--activation", "x", "--widths", "0", "3"), "a width must be at least 1, got 0"),
        (("norm-deviation", "--activation", "x", "--widths"), "requires an argument"),
        (("norm-deviation", "--activation", "x", "--widths", "3", "-3"), "No such option"),
        (("norm-deviation", "--activation", "x", "--widths", "3", "oops"), "unexpected extra argument"),
        (("norm-deviation", "--widths", "3"), "--activation"),
        (("norm-deviation", "--activation", "x"), "--widths"),
        (("norm-deviation", "--activation", "x", "--widths", "3", "--power", "0"), "the power must be a number > 0, got 0"),
        (("norm-deviation", "--activation", "x", "--widths", "3", "--power", "two"), "write it like 4, 0.5 or 1/2"),
        (("norm-deviation", "--activation", "x", "--widths", "3", "--draws", "-1"), "must be an integer >= 0, got '-1'"),
        (("norm-deviation", "--activation", "x", "--widths", "3", "--draws", "1.5"), "must be an integer >= 0, got '1.5'"),
        (("norm-deviation", "--activation", "x", "--widths", "3", "--draws", "1e"), "must be an integer >= 0, got '1e'"),
        (("norm-deviation", "--activation", "x", "--widths", "3", "--digits", "abc"), "integer between 1 and 1000, got 'abc'"),
        (("norm-deviation", "--activation", "x", "--widths", "3", "--power", "200"), "the power must be at most 64, got 200"),
        (("norm-deviation", "--activation", "x", "--widths", "3", "--power", "1e999999999"), "its exponent must lie between"),
        (("norm-deviation", "--activation", "x", "--widths", "3", "--power", "1e-999"), "the power must be at least 0.001"),
        (("norm-deviation", "--activation", "x", "--widths", "3", "--power", "nan"), "write it like 4, 0.5 or 1/2"),
        (("norm-deviation", "--activation", "x", "--widths", "3", "--power", "1/0"), "write it like 4, 0.5 or 1/2"),
        (("norm-deviation", "--activation", "exp(x**2/2)", "--widths", "8", "8", "--draws", "100"), "does not converge"),
        (
            ("norm-deviation", "--activation", "x", "--widths", "3", "--json", "/no/such/folder/a.json"),
            "there is no folder /no/such/folder",
        ),
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
    from theoryck.theory.networks.quantities import overlap_moment

    wrong = Enclosure(Decimal("0.30"), Decimal("1e-20"))
    monkeypatch.setattr(overlap_moment, "exact", lambda self, sizes, digits: wrong)
    result = run(*LINEAR, "--widths", "8", "8")
    assert result.exit_code == 1
    assert "THE TWO ROUTES DISAGREE" in result.output


def test_a_bracket_is_shown(monkeypatch) -> None:
    from theoryck.theory.networks.quantities import overlap_moment

    monkeypatch.setattr(overlap_moment, "exact", lambda self, sizes, digits: Bracket(0.2, 0.3))
    result = run(*LINEAR, "--widths", "8", "8")
    assert result.exit_code == 0
    assert "bracket      [0.2, 0.3]" in result.output
    assert "the estimate lies in the bracket" in result.output
    data = json.loads(run(*LINEAR, "--widths", "8", "8", "--json", "-").stdout)
    assert data["exact"] is None
    assert (data["bracket"]["low"], data["bracket"]["high"]) == (0.2, 0.3)


class Quantity:
    """Stands for a quantity whose mean may be compared from 5000 draws on."""

    def draws_to_compare(self, sizes):
        return 5000.0


NOTHING = "the comparison decides nothing: the exact value carries no information at these widths"
ONE = Enclosure(Decimal(1), Decimal(0))
AGREE = "the two routes agree: "


@pytest.mark.parametrize(
    ("value", "estimate", "disagree", "text"),
    [
        (ONE, Estimate(1.2, 0.1, 10_000), False, AGREE + "2.0 sigma apart (limit 4.0)"),
        # z of a two-sided probability of 6e-5 is 4.01
        (ONE, Estimate(1.41, 0.1, 10_000), True, "THE TWO ROUTES DISAGREE: 4.1 sigma apart (limit 4.0)"),
        (Enclosure(Decimal(1), Decimal("0.2")), Estimate(1.41, 0.1, 10_000), False, AGREE + "2.1 sigma apart"),
        (ONE, Estimate(1.0, 0.0, 10_000), False, AGREE + "0.0 sigma apart"),
        (ONE, Estimate(1.5, 0.0, 10_000), True, "DISAGREE: inf sigma apart"),
        # an estimate that is low because the tail was not seen: skewness widens the limit on that side only
        (ONE, Estimate(0.59, 0.1, 10_000, skewness=20.0), False, AGREE),
        (ONE, Estimate(1.41, 0.1, 10_000, skewness=20.0), True, "DISAGREE"),
        (ONE, Estimate(9.0, 0.1, 4_999), False, "not compared: so few draws may not have seen the tail (about 5e+03 draws"),
        (ONE, Estimate(1.5, math.inf, 1), False, "not compared: one draw has no error bar"),
        (Enclosure(Decimal(1), Decimal("0.6")), Estimate(1.2, 0.1, 10_000), False, NOTHING),
        (Enclosure(Decimal(1), Decimal("0.6")), Estimate(2.5, 0.1, 10_000), True, "DISAGREE: 9.0 sigma"),
        (Enclosure(Decimal(0), Decimal(0)), Estimate(0.0, 0.0, 10_000), False, AGREE),
        (Bracket(1.0, 2.0), Estimate(1.5, 0.1, 10_000), False, AGREE + "the estimate lies in the bracket"),
        (Bracket(1.0, 2.0), Estimate(0.8, 0.1, 10_000), False, AGREE + "2.0 sigma outside the bracket"),
        (Bracket(1.0, 2.0), Estimate(0.5, 0.1, 10_000), True, "DISAGREE: 5.0 sigma outside the bracket"),
        (Bracket(1.0, 2.0, 0.0, 0.4), Estimate(3.0, 0.3, 10_000), False, AGREE + "2.0 sigma outside"),
        (None, Estimate(1.0, 0.1, 10_000), False, ""),
        (Bracket(1.0, 2.0), None, False, ""),
    ],
)
def test_how_two_routes_are_compared(value, estimate, disagree, text) -> None:
    exact, bracket = (value if isinstance(value, kind) else None for kind in (Enclosure, Bracket))
    found = SimpleNamespace(value=value, exact=exact, bracket=bracket, estimate=estimate, gap=None)
    apart, said = measure.compare(Quantity(), found, {})
    assert apart is disagree
    assert text in said
    assert bool(said) is bool(text)


@pytest.mark.parametrize(("activation", "power"), [("x", "6"), ("relu", "4")])
def test_means_that_cannot_have_seen_their_tail_are_no_alarm(activation, power) -> None:
    # The exact value of the linear one is 146740, and 1e5 draws give 95000 +- 59000, or far less with most seeds.
    result = run("norm-deviation", "--activation", activation, "--widths", "12", "4", "12", "5", "--power", power, "--draws", "1e5")
    assert result.exit_code == 0, result.output
    assert "not compared: so few draws may not have seen the tail" in result.output
    assert "agree" not in result.output.replace("two methods agree", "")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (ONE, "1 (exact)"),
        (Enclosure(Decimal(0), Decimal(0)), "0 (exact)"),
        (Enclosure(Decimal("0.00000921774435198123"), Decimal("1.8E-19")), "9.21774435198123e-6 +- 1.8e-19 (rigorous)"),
        (Enclosure(Decimal("9.21774435198123E-7"), Decimal("1.8E-19")), "9.2177443519812e-7 +- 1.9e-19 (rigorous)"),
        (Enclosure(Decimal("0.123456"), Decimal("0.00099"), False), "0.12346 +- 1.0e-3 (two methods agree, no proof)"),
        (Enclosure(Decimal("0.30"), Decimal("1e-20")), "0.300000000000000000000 +- 1.0e-20 (rigorous)"),
        (Enclosure(Decimal("5.75173783E+39"), Decimal("2E+33")), "5.7517378e+39 +- 2.1e+33 (rigorous)"),
        (Enclosure(Decimal("-12345.6"), Decimal("0.7")), "-12345.60 +- 7.0e-1 (rigorous)"),
        (
            Enclosure(Decimal("7.3E-5"), Decimal("0.00039"), False),
            "no information at these widths (radius 0.00039, midpoint 0.000073)",
        ),
    ],
)
def test_digits_of_the_exact_value_follow_its_radius(value, shown) -> None:
    assert measure.exact_text(value) == shown
    if "+-" in shown:
        rounded, radius = (Decimal(part) for part in shown.partition(" (")[0].split(" +- "))
        # what is shown must still enclose what was proved
        assert abs(rounded - value.midpoint) + value.radius <= radius


def test_an_exact_value_without_information_is_not_said_to_agree(monkeypatch) -> None:
    from theoryck.theory.networks.quantities import overlap_moment

    vague = Enclosure(Decimal("0.26"), Decimal("0.2"))
    monkeypatch.setattr(overlap_moment, "exact", lambda self, sizes, digits: vague)
    result = run(*LINEAR, "--widths", "8", "8")
    assert result.exit_code == 0
    assert "exact        no information at these widths (radius 0.2, midpoint 0.26)" in result.output
    assert result.output.endswith(NOTHING + "\n")
    assert json.loads(run(*LINEAR, "--widths", "8", "8", "--json", "-").stdout)["exact"] == vague.to_json()


def test_one_draw_has_no_error_bar() -> None:
    result = run("overlap-moment", "--activation", "x", "--widths", "4", "4", "--draws", "1")
    assert result.exit_code == 0
    assert "(1 draw, seed 0: one draw has no error bar)" in result.output
    assert "inf" not in result.output


def test_the_network_that_is_zero_is_exact() -> None:
    result = run("norm-deviation", "--activation", "0*x", "--widths", "8", "8", "--draws", "5000")
    assert result.exit_code == 0, result.output
    assert "exact        0 (exact)" in result.output


@pytest.mark.parametrize(("written", "draws"), [("1e3", 1000), ("1.5E+3", 1500), ("1000", 1000)])
def test_spellings_of_draws(written, draws) -> None:
    result = run("overlap-moment", "--activation", "x", "--widths", "4", "--draws", written, "--no-exact", "--json", "-")
    assert json.loads(result.stdout)["estimate"]["draws"] == draws


def test_draws_that_overflow_are_a_mistake_and_no_traceback(monkeypatch) -> None:
    from theoryck.theory.networks.quantities import overlap_moment

    monkeypatch.setattr(overlap_moment, "sampler", lambda self, sizes: lambda rng, draws: rng.random(draws) + math.inf)
    result = run(*LINEAR, "--widths", "8", "8", "--no-exact")
    assert result.exit_code == 2
    assert "the draws failed: the sampler returned 20000 of 20000 draws that are not finite" in " ".join(result.output.split())


def test_ctrl_c_during_the_exact_value_ends_with_status_130(monkeypatch) -> None:
    from theoryck.theory.networks.quantities import overlap_moment

    def interrupted(self, sizes, digits):
        raise KeyboardInterrupt

    monkeypatch.setattr(overlap_moment, "exact", interrupted)
    result = CliRunner().invoke(main, ["measure", *LINEAR, "--widths", "8", "8"])
    assert (result.exit_code, result.stdout) == (130, "")
    assert "interrupted" in result.stderr


def test_who_waits_at_a_terminal_is_told_what_for(monkeypatch, capsys) -> None:
    common.tell("silent")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    common.tell("computing")
    assert capsys.readouterr() == ("", "computing\n")


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


def test_a_quantity_with_a_statistic_is_measured_by_it(monkeypatch):
    """The median of |x|^2 about 1 at width 8, of which the mean is exact: the class alone says what is made of draws."""
    from theoryck.theory.networks.quantities import NetworkMoment

    arguments = ["measure", "norm-deviation", "--activation", "x", "--widths", "8", "--draws", "20000", "--json", "-"]
    mean = json.loads(CliRunner().invoke(main, arguments).output)["estimate"]["value"]
    monkeypatch.setattr(NetworkMoment, "draw_statistic", "median")
    median = json.loads(CliRunner().invoke(main, arguments).output)["estimate"]["value"]
    assert 0 < median < 0.8 * mean  # a square is skewed: a chi2_1 variable has median 0.45 and mean 1


def test_a_cluster_draws_the_same_bits() -> None:
    pytest.importorskip("distributed")
    arguments = (*LINEAR, "--widths", "8", "8", "--json", "-")
    alone, there = run(*arguments), run(*arguments, "--cluster", "local:2")
    assert there.exit_code == 0, there.output
    assert json.loads(there.stdout) == json.loads(alone.stdout)
    refused = run(*arguments, "--cluster", "local:0")
    assert (refused.exit_code, "local:N needs a number of worker processes >= 1" in refused.output) == (2, True)


def test_weak_recovery_is_measured_by_both_routes() -> None:
    """1/alpha_c of sign(z1 z2) is 4/pi^2: E[z1 z2 | y] = 2 y/pi, and F(M) has that square as its eigenvalue."""
    result = run("recovery-eigenvalue", "--link", "sign(z1*z2)", "--draws", "20000", "--json", "-")
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert data["instance"] == {"link": "sign(z1*z2)"}
    assert float(data["exact"]["value"]) == pytest.approx(4 / math.pi**2, rel=1e-11)
    assert abs(data["estimate"]["value"] - 4 / math.pi**2) < 5 * data["estimate"]["stderr"]
    assert "the two routes agree: " in run("recovery-eigenvalue", "--link", "sign(z1*z2)", "--draws", "20000").output


def test_a_quantity_may_have_one_route_only_and_a_dimension() -> None:
    said = run("recovery-threshold", "--link", "z**2").output
    assert "exact        0.50000000000" in said  # E (z^2 - 1)^2 = 2 = 1/alpha_c
    assert "Monte Carlo  none: this quantity is not drawn" in said
    said = run("spectral-overlap", "--link", "z1*z2", "--alpha", "2", "--dimension", "60", "--draws", "20").output
    assert "link z1*z2, alpha 2.0, d 60" in said
    assert "exact        none: this quantity has no exact route" in said
    assert "(20 draws, seed 0" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("recovery-eigenvalue",), 'recovery-eigenvalue needs --link F, a formula such as "z1*z2"'),
        (("recovery-eigenvalue", "--link", "z**"), "link 'z**' is no function of z1, z2, ..."),
        (("spectral-overlap", "--link", "z**2", "--alpha", "2"), "spectral-overlap needs --dimension D"),
        (
            ("recovery-threshold", "--link", "z", "--widths", "3"),
            "--widths does not belong to recovery-threshold, which takes --link",
        ),
        (("norm-deviation", "--widths", "3", "3"), "norm-deviation needs --activation F"),
        (("norm-deviation", "--activation", "x"), "norm-deviation needs --widths N..., the width of every layer"),
    ],
)
def test_what_a_quantity_is_of_has_to_be_said(arguments, message) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())
