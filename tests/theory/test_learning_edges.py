"""The quantities of learning at their edges: numbers at the end of a range, data that say little, words of the command line."""

import numpy as np
import pytest
from click.testing import CliRunner

import theoryck as tc
from theoryck.cli import measure
from theoryck.numerics.errors import NotConverged
from theoryck.quantities import QuantityError
from theoryck.theory.learning.proved.one_sample import one_sample_information
from theoryck.theory.learning.quantities import generalisation_gap, interpolation, mutual_information, mutual_information_gap


def setting(phi="tanh", widths=(3, 3), samples=3, **options):
    return tc.TeacherStudent(tc.DeepNetwork(phi, depth=len(widths) - 1, widths=widths), samples=samples, **options)


def run(*arguments):
    return CliRunner().invoke(measure.command, list(arguments))


def words(activation, widths):
    return ("--activation", activation, "--widths", *widths.split(), "--samples", "1")


def test_numpy_numbers_are_numbers():
    assert setting(noise=np.float64(0.3)).noise == setting(noise=0.3).noise
    assert [interpolation(setting(), t).time for t in np.linspace(0, 1, 5)] == [0, 0.25, 0.5, 0.75, 1]


@pytest.mark.parametrize("noise", ["1e-30", "1e-10", "1e20"])
@pytest.mark.parametrize("readout", ["x", "tanh"])
def test_noise_at_which_evidence_has_no_digits_is_refused(noise, readout):
    with pytest.raises(QuantityError, match=r"noise must lie between 1e-06 and 1e\+06"):
        mutual_information(setting(noise=noise, readout=readout))


@pytest.mark.parametrize(("phi", "noise", "readout"), [("exp(x)", 1, "x"), ("tanh", 1e-20, "x"), ("tanh", 1, "exp(x)")])
def test_grids_that_would_not_fit_are_refused_by_name(phi, noise, readout):
    with pytest.raises(NotConverged):
        one_sample_information(phi, (4, 4), noise, readout)


def test_widths_of_one_sample_have_a_limit():
    with pytest.raises(ValueError, match="widths must be at most 1000000"):
        one_sample_information("tanh", (10**9, 10**9), 1)


def test_a_linear_model_that_does_not_see_its_input_says_so():
    with pytest.raises(QuantityError, match="eta_0 = 0"):
        mutual_information(setting("x**2 - 1"), equivalent=True).draw(np.random.default_rng(0), 2, {})


def test_exact_only_does_not_draw():
    gap = mutual_information_gap(setting(samples=1), exact_only=True)
    assert gap.exact({}) is not None
    with pytest.raises(QuantityError, match="leave out exact_only"):
        gap.draw(np.random.default_rng(0), 2, {})


def test_few_draws_of_a_heavy_tail_are_not_called_a_bug():
    result = run("mutual-information", *words("relu", "2 2"), "--noise", "0.1", "--data-sets", "30", "--seed", "3")
    assert result.exit_code == 0, result.output
    assert "not compared: so few draws may not have seen the tail" in result.output


def test_an_exact_value_out_of_reach_leaves_the_other_route_alone():
    result = run("mutual-information", *words("tanh", "4"), "--data-sets", "40", "--readout", "exp(x)")
    assert result.exit_code == 0, result.output
    assert "bracket" in result.output


def test_the_middle_of_a_bracket_says_how_wide_it_is():
    result = run(*["mutual-information-gap", "--activation", "tanh", "--widths", "4", "4", "--samples", "4", "--data-sets", "20"])
    assert "half of the bracket: " in result.output


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")
@pytest.mark.parametrize(("phi", "samples", "readout"), [("x**3", 128, "x**2"), ("x**3", 8, "x**3")])
def test_covariances_that_are_singular_in_floats_say_what_to_do(phi, samples, readout):
    """Above and below the size from which LAPACK is called matrix by matrix; both errors were numpy's or LAPACK's own words."""
    widths = (samples // 4,) * (2 if samples > 8 else 3)
    quantity = generalisation_gap(setting(phi, widths, samples, noise="1/1000", readout=readout))
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite in float64: take more noise, or an activation"):
        [quantity.draw(np.random.default_rng(seed), 4, {}) for seed in range(3)]
