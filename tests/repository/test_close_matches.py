"""Whatever is misspelt is answered with what was meant: names, activations, quantities, sizes, options of every command."""

import click
import pytest
from click.testing import CliRunner

import theoryck as tc
from theoryck.claims.statements import ClaimError
from theoryck.cli import COMMANDS, main


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        (lambda: tc.Scalng, "did you mean Scaling"),
        (lambda: tc.conjectur, "did you mean conjecture"),
        (lambda: tc.networks.norm_deviaton, "did you mean norm_deviation"),
        (lambda: tc.activations.tahn, "did you mean tanh"),
        (lambda: tc.strategies.smooth_odd_activation, "did you mean smooth_odd_activations"),
        (lambda: tc.strategies.activations_missing("odds"), "did you mean 'odd'"),
        (lambda: tc.Activation("tahn"), "did you mean 'tan' or 'tanh'"),
        (lambda: tc.Activation("ReLU"), "did you mean 'relu'"),
        (lambda: tc.activations.ERF, "did you mean erf"),
        (lambda: tc.networks.relu, "public names: "),
        (lambda: tc.quantities.sigma, "it is theoryck.networks.sigma"),
        (lambda: tc.mutual_information_gap, "it is theoryck.learning.mutual_information_gap"),
        (lambda: tc.networks.doubling, "it is theoryck.doubling"),
        (lambda: tc.Activation("tahn(x)"), "did you mean 'tan' or 'tanh'"),
        (lambda: tc.Rate.parse("dd**2").exponent(tc.ScalingPath(d=[2, 4])), "did you mean 'd'"),
        (lambda: tc.ScalingPath(d=[2, 4], n="2*dd"), "did you mean 'd'"),
        (lambda: tc.check_claims([], profile="quik"), "did you mean 'quick'"),
    ],
)
def test_a_misspelt_name_is_answered(wrong, meant):
    with pytest.raises((AttributeError, ValueError), match=meant):
        wrong()


@pytest.mark.parametrize("module", [tc, tc.networks, tc.activations, tc.strategies])
def test_a_name_like_no_other_is_answered_with_what_there_is(module):
    with pytest.raises(AttributeError, match=r"(public names|activations): \w+, "):
        module.zzzzzz  # noqa: B018


def test_a_rate_with_a_misspelt_parameter_is_answered():
    @tc.quantity(cost=lambda sizes: 1)
    def value(rng, draws, *, d):
        return rng.random(draws)

    bound = tc.Bound(value, rate="d**(-powr/2)", along=tc.ScalingPath(d=[2, 4]))
    with pytest.raises(ValueError, match=r"a power must be .* got '-powr / 2'.*did you mean 'power'"):
        bound.prediction({"power": 2})


@pytest.mark.parametrize("name", COMMANDS)
def test_a_misspelt_option_is_answered_by_every_command(name):
    command = main.get_command(click.Context(main), name)
    if isinstance(command, click.Group):
        assert "Did you mean 'show'?" in CliRunner().invoke(main, [name, "shw"]).output
        return
    option = next(option for parameter in command.params if isinstance(parameter, click.Option) for option in parameter.opts)
    misspelt = f"{option[:-2]}{option[-1]}{option[-2]}"
    result = CliRunner().invoke(main, [name, misspelt, "1"])
    assert result.exit_code == 2
    assert option in result.output


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["chekc"], "did you mean check?"),
        (["constants", "tahn"], "did you mean 'tan' or 'tanh'?"),
        (["measure", "norm-deviaton", "--activation", "tanh", "--widths", "3"], "did you mean norm-deviation?"),
        (["measure", "norm-deviation", "--activation", "tahn", "--widths", "3"], "did you mean 'tan' or 'tanh'?"),
        (["audit", "x.csv", "--kind", "bond"], "did you mean 'bound'?"),
        (["check", "x", "--profile", "quik"], "did you mean 'quick'?"),
        (["new", "x", "--kind", "lw"], "did you mean 'law'?"),
    ],
)
def test_a_misspelt_word_on_the_command_line_is_answered(arguments, meant):
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 2
    assert meant in " ".join(result.output.split())


def test_a_misspelt_argument_of_a_claim_is_answered():
    from hypothesis.strategies import integers

    with pytest.raises(ClaimError, match="dpeth is not an argument of claim"):

        @tc.for_all(dpeth=integers(1, 2))
        def claim(depth): ...
