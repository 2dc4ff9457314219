"""``theoryck measure`` for what a student learns: routes, keys of the JSON, options that belong, disagreements."""

import json
import math
import shlex
from decimal import Decimal

import pytest
from click.testing import CliRunner

from theoryck.cli import measure
from theoryck.cli.measure import MEASURABLE
from theoryck.montecarlo import Key, sample, sample_two_sided
from theoryck.records import Enclosure

LEARNING = [name for name, entry in MEASURABLE.items() if entry.learns]
NETWORK = ("--activation", "atan(x)", "--widths", "4", "4", "--samples", "4")
LINEAR = ("--activation", "x", "--widths", "4", "4", "--samples", "4")
READOUT = (*NETWORK, "--readout", "tanh(2*x)")
MODEL = ("--activation", "tanh", "--widths", "4", "--samples", "4")
EXAMPLE = (
    'mutual-information-gap --activation "atan(x)" --widths 32 32 --samples 32 --noise 0.5 --data-sets 20 --json -'  # documented
)


def run(*arguments):
    return CliRunner().invoke(measure.command, list(arguments))


def measured(*arguments):
    result = run(*arguments, "--json", "-")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def two_sided(name):
    return name != "free-entropy-variance"


def test_these_are_the_quantities_of_learning():
    assert LEARNING == [
        "free-entropy",
        "free-entropy-variance",
        "mutual-information",
        "mutual-information-gap",
        "generalisation-error",
        "generalisation-gap",
        "interpolation",
    ]
    assert all(name in run("--help").output for name in LEARNING)


@pytest.mark.parametrize("name", LEARNING)
def test_a_network_has_a_bracket(name):
    data = measured(name, *NETWORK, "--data-sets", "16")
    assert set(data) == {"quantity", "instance", "exact", "estimate", "bracket", "seed"}
    assert (data["quantity"], data["seed"], data["exact"]) == (name, 0, None)
    instance = {"activation": "atan(x)", "widths": [4, 4], "readout": "x", "samples": 4, "noise": 0.5}
    assert data["instance"] == instance | ({"time": "1/2"} if name == "interpolation" else {})
    # Variances are measured from groups of eight data sets.
    assert data["estimate"]["draws"] == (16 if two_sided(name) else 2)
    if not two_sided(name):
        assert data["bracket"] is None
        return
    bracket = data["bracket"]
    assert set(bracket) == {"low", "high", "low_stderr", "high_stderr", "draws", "low_skewness", "high_skewness"}
    assert bracket["low_stderr"] > 0
    assert bracket["high_stderr"] > 0
    assert bracket["low"] < bracket["high"] + 4.5 * (bracket["low_stderr"] + bracket["high_stderr"])
    assert min(bracket["low"], bracket["high"]) <= data["estimate"]["value"] <= max(bracket["low"], bracket["high"])


@pytest.mark.parametrize("name", LEARNING)
@pytest.mark.parametrize("arguments", [LINEAR, MODEL])
def test_a_linear_network_has_none(name, arguments):
    data = measured(name, *arguments, "--data-sets", "16")
    assert data["bracket"] is None
    assert data["estimate"]["draws"] == (16 if two_sided(name) else 2)
    exact = arguments is MODEL and name in ("free-entropy", "mutual-information", "generalisation-error", "interpolation")
    assert (data["exact"] is not None) is exact


def test_the_documented_example():
    assert EXAMPLE.partition(" --noise")[0] in " ".join(run("--help").output.split())
    arguments = shlex.split(EXAMPLE)
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert data["instance"] == {"activation": "atan(x)", "widths": [32, 32], "readout": "x", "samples": 32, "noise": 0.5}
    assert data["estimate"]["draws"] == 20
    bracket = data["bracket"]
    assert bracket["low"] - 4.5 * bracket["low_stderr"] < bracket["high"] + 4.5 * bracket["high_stderr"] < 0
    assert run(*arguments).stdout == result.stdout
    assert json.loads(run(*arguments, "--seed", "1").stdout)["estimate"]["value"] != data["estimate"]["value"]


def test_the_draws_are_those_of_the_library():
    from theoryck.theory.learning.model import TeacherStudent
    from theoryck.theory.learning.quantities import generalisation_error, mutual_information_gap
    from theoryck.theory.networks.model import DeepNetwork

    for name, function, arguments, phi in (
        ("mutual-information-gap", mutual_information_gap, NETWORK, "atan(x)"),
        ("generalisation-error", generalisation_error, LINEAR, "x"),
    ):
        quantity = function(TeacherStudent(DeepNetwork(phi, 1, (4, 4)), 4))
        draw = sample_two_sided if quantity.two_sided else sample
        key = Key(7, f"measure/{name}", quantity.parameters, {})
        moments = draw(quantity.sampler({}), key, draws=20, block_draws=quantity.block_draws({}))
        data = measured(name, *arguments, "--data-sets", "20", "--seed", "7")
        assert data["estimate"] == moments.estimate().to_json()
        assert data["bracket"] == (moments.bracket().to_json() if quantity.two_sided else None)


def test_people_see_both_ends_and_how_far_apart_they_are():
    result = run("mutual-information-gap", *NETWORK, "--data-sets", "20")
    assert result.exit_code == 0, result.output
    assert "mutual-information-gap: I_n^(L) - I_n^(0) in nats" in result.output
    assert "activation atan(x), widths 4 4, readout x, samples 4, noise 0.5" in result.output
    bracket = next(line for line in result.output.splitlines() if line.startswith("  bracket"))
    assert bracket.count("+-") == 3
    assert bracket.endswith(" wide")
    assert "(20 draws, seed 0, few-draws; half of the bracket: " in result.output


@pytest.mark.parametrize(("data_sets", "draws"), [("0", None), ("1", 1), ("20", 20), ("2e1", 20)])
def test_numbers_of_data_sets(data_sets, draws):
    data = measured("mutual-information-gap", *NETWORK, "--data-sets", data_sets)
    if draws is None:
        assert data["estimate"] is None
        assert data["bracket"] is None
        assert "none: no draws asked for" in run("mutual-information-gap", *NETWORK, "--data-sets", data_sets).output
        return
    assert data["estimate"]["draws"] == draws
    # One data set has no error bar: JSON has no number for it, and says "inf".
    for error in (data["estimate"]["stderr"], data["bracket"]["low_stderr"], data["bracket"]["high_stderr"]):
        assert (error == "inf") is (draws == 1)
    shown = run("mutual-information-gap", *NETWORK, "--data-sets", data_sets).output
    assert ("one draw has no error bar" in shown) is (draws == 1)


def test_a_variance_takes_whole_groups_of_data_sets():
    for data_sets, draws in (("1", 1), ("8", 1), ("9", 2), ("20", 3)):
        assert measured("free-entropy-variance", *LINEAR, "--data-sets", data_sets)["estimate"]["draws"] == draws


def test_the_path():
    start, middle, end = (measured("interpolation", *NETWORK, "--time", time, "--data-sets", "64") for time in ("0", "0.25", "1"))
    assert [data["instance"]["time"] for data in (start, middle, end)] == ["0", "1/4", "1"]
    assert start["bracket"] is not None
    assert end["bracket"] is None
    exact = float(Decimal(end["exact"]["value"]))
    # f_t falls from the network to the linear model: n (f_0 - f_1) is the gap, .042 here.
    assert start["estimate"]["value"] > middle["estimate"]["value"] > exact
    assert 4 * (start["estimate"]["value"] - exact) == pytest.approx(0.042, abs=4 * 4.5 * start["estimate"]["stderr"] + 1e-3)
    assert measured("interpolation", *NETWORK, "--data-sets", "2")["instance"]["time"] == "1/2"


def test_readout_and_noise_reach_the_quantity():
    plain, readout, quiet = (
        measured("mutual-information", *arguments, "--data-sets", "100")
        for arguments in (NETWORK, READOUT, (*NETWORK, "--noise", "1/10"))
    )
    assert readout["instance"]["readout"] == "tanh(2*x)"
    assert quiet["instance"]["noise"] == 0.1
    # Less noise, more information: an order above the error bars.
    assert quiet["bracket"]["low"] > plain["bracket"]["high"] + 1
    assert readout["estimate"]["value"] != plain["estimate"]["value"]


# Two routes ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ("mutual-information", *MODEL, "--data-sets", "5000"),
        ("generalisation-error", *MODEL, "--data-sets", "5000"),
        ("mutual-information", "--activation", "atan(x)", "--widths", "4", "4", "--samples", "1", "--data-sets", "4096"),
    ],
)
def test_routes_that_agree_say_so(arguments):
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    assert "the two routes agree: " in result.output


@pytest.mark.parametrize("shift", [Decimal("0.2"), Decimal("-0.2")])
@pytest.mark.parametrize(
    "arguments",
    [
        ("mutual-information", *MODEL, "--data-sets", "5000"),
        ("mutual-information", "--activation", "atan(x)", "--widths", "4", "4", "--samples", "1", "--data-sets", "4096"),
    ],
)
def test_a_disagreement_is_shouted_and_ends_with_status_1(monkeypatch, arguments, shift):
    from theoryck.theory.learning.quantities import LearningQuantity

    genuine = LearningQuantity.exact

    def wrong(self, sizes, digits=20):
        value = genuine(self, sizes, digits)
        return Enclosure(value.midpoint + shift, value.radius, value.rigorous)

    monkeypatch.setattr(LearningQuantity, "exact", wrong)
    result = run(*arguments)
    assert result.exit_code == 1
    assert "THE TWO ROUTES DISAGREE" in result.output
    assert "this means a bug, please report it" in result.output


def test_a_disagreement_is_told_by_the_status_where_only_json_is_printed(monkeypatch):
    from theoryck.theory.learning.quantities import LearningQuantity

    arguments = ("mutual-information", *MODEL, "--data-sets", "5000", "--json", "-")
    wrong = Enclosure(Decimal("0.9"), Decimal("1e-9"))
    monkeypatch.setattr(LearningQuantity, "exact", lambda self, sizes, digits: wrong)
    result = run(*arguments)
    assert result.exit_code == 1
    assert json.loads(result.stdout)["exact"] == wrong.to_json()
    # Without the exact route there is nothing to compare.
    assert run(*arguments, "--no-exact").exit_code == 0


def test_few_data_sets_are_not_compared(monkeypatch):
    from theoryck.theory.learning.quantities import LearningQuantity

    wrong = Enclosure(Decimal("0.9"), Decimal("1e-9"))
    monkeypatch.setattr(LearningQuantity, "exact", lambda self, sizes, digits: wrong)
    result = run("mutual-information", *NETWORK[:-1], "1", "--data-sets", "64")
    assert result.exit_code == 0
    assert "not compared: so few draws may not have seen the tail" in result.output


# What is refused -----------------------------------------------------------------------------------------------------------------

TAKES = "which takes --activation, --widths, --samples, --noise, --readout, --data-sets"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("mutual-information-gap", *NETWORK, "--power", "3"), f"--power does not belong to mutual-information-gap, {TAKES}"),
        (("mutual-information-gap", *NETWORK, "--draws", "30"), f"--draws does not belong to mutual-information-gap, {TAKES}"),
        (("mutual-information-gap", *NETWORK, "--time", "1/2"), f"--time does not belong to mutual-information-gap, {TAKES}"),
        (("interpolation", *NETWORK, "--draws", "30"), f"--draws does not belong to interpolation, {TAKES}, --time"),
        (
            ("norm-deviation", *NETWORK),
            "--samples does not belong to norm-deviation, which takes --activation, --widths, --power, --draws",
        ),
        (("norm-deviation", *NETWORK[:-2], "--noise", "0.5"), "--noise does not belong to norm-deviation"),
        (("overlap-moment", *NETWORK[:-2], "--readout", "x"), "--readout does not belong to overlap-moment"),
        (("overlap-moment", *NETWORK[:-2], "--data-sets", "200"), "--data-sets does not belong to overlap-moment"),
        (("overlap-moment", *NETWORK[:-2], "--time", "1/2"), "--time does not belong to overlap-moment"),
        *(((name, *NETWORK[:-2]), f"{name} needs --samples N, the number of training samples") for name in LEARNING),
        (("mutual-information", *NETWORK[:-1], "0"), "Invalid value for '--samples': must be an integer >= 1, got '0'"),
        (("mutual-information", *NETWORK, "--data-sets", "2.5"), "'--data-sets': must be an integer >= 0, got '2.5'"),
        (("mutual-information", *NETWORK, "--data-sets", "-1"), "'--data-sets': must be an integer >= 0, got '-1'"),
        (("mutual-information", *NETWORK, "--noise", "0"), "the noise must be > 0, got 0"),
        (("mutual-information", *NETWORK, "--noise", "-1"), "'--noise': the noise must be a number >= 0"),
        (("mutual-information", *NETWORK, "--noise", "loud"), "got 'loud': write it like 4, 0.5 or 1/2"),
        (("mutual-information", *NETWORK, "--noise", "1e-9"), "the noise must lie between"),
        (("mutual-information", *NETWORK, "--readout", "sinn(x)"), "Invalid value for --readout: unknown function 'sinn'"),
        (("mutual-information", "--activation", "sinn(x)", *NETWORK[2:]), "Invalid value for --activation: unknown function"),
        (("interpolation", *NETWORK, "--time", "1.5"), "'--time': the time must be at most 1, got 1.5"),
        (("interpolation", *NETWORK, "--time", "late"), "'--time': the time must be a number >= 0"),
        (("mutual-information-gap", "--activation", "x**2 - 1", *NETWORK[2:]), "does not see the input"),
        (("mutual-informatoin", *NETWORK), "did you mean mutual-information"),
        (("mutual-information-gap", *NETWORK, "--json", "/no/such/folder/a.json"), "there is no folder /no/such/folder"),
    ],
)
def test_mistakes_end_with_status_2_and_say_what_to_do(arguments, message):
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert message in " ".join(result.output.split())
    assert "Traceback" not in result.output


def test_an_option_at_its_default_is_refused_all_the_same():
    # Said is said: it would be ignored in silence.
    assert run("mutual-information", *NETWORK, "--time", "1/2").exit_code == 2
    assert run("mutual-information", *NETWORK, "--power", "2").exit_code == 2


def test_ctrl_c_shows_the_data_sets_that_were_drawn(monkeypatch):
    import theoryck.montecarlo

    genuine = theoryck.montecarlo.sample_two_sided

    def interrupted(*arguments, **more):
        def progress(done, wanted):
            if done == 16:
                raise KeyboardInterrupt

        return genuine(*arguments, **(more | {"block_draws": 8, "progress": progress}))

    monkeypatch.setattr(theoryck.montecarlo, "sample_two_sided", interrupted)
    result = run("mutual-information-gap", *NETWORK, "--data-sets", "64", "--json", "-")
    assert result.exit_code == 130
    assert result.stderr == "interrupted after 16 of 64 draws\n"
    assert json.loads(result.stdout)["estimate"]["draws"] == 16


def test_one_data_set_shows_no_infinite_error_bar():
    assert "inf" not in run("free-entropy", *NETWORK, "--data-sets", "1").output


@pytest.mark.parametrize("name", ["generalisation-error", "generalisation-gap"])
def test_errors_are_measured_for_a_readout_that_is_not_linear(name):
    data = json.loads(run(name, *READOUT, "--data-sets", "8", "--json", "-").stdout)
    bracket = data["bracket"]
    # Each end has noise of its own: low <= high holds for the means, once in 1e5 not within 4.5 standard errors.
    assert bracket["low"] - bracket["high"] < 4.5 * math.hypot(bracket["low_stderr"], bracket["high_stderr"])
    # |f| <= 1 for f = tanh(2x): an error lies between Delta and Delta + 1, a difference of two between -1 and 1.
    assert (0.4 if name == "generalisation-error" else -1) < data["estimate"]["value"] < 1.5
