"""Teacher and student: what is read from the arguments, which sizes are asked for, and what is refused."""

import dataclasses
import json
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import theoryck as tc
from theoryck.numerics.functions.activation import Activation
from theoryck.theory.learning.model import TeacherStudent
from theoryck.theory.networks.model import DeepNetwork, size

NETWORK = DeepNetwork("tanh", depth=1, widths=("d", "2*m"))


def test_what_is_assumed_when_nothing_is_said() -> None:
    setting = TeacherStudent(NETWORK)
    assert (str(setting.samples), setting.noise, setting.readout.text) == ("n", Fraction(1, 2), "x")
    assert setting.linear_readout
    assert tc.TeacherStudent is TeacherStudent


def test_parameters_are_json_that_builds_the_setting_again() -> None:
    setting = TeacherStudent(NETWORK, samples="k*d", noise=0.3, readout="tanh(2*x)")
    data = json.loads(json.dumps(setting.parameters))
    assert data == {
        "activation": "tanh(x)",
        "depth": 1,
        "widths": ["d", "2*m"],
        "samples": "d*k",
        "noise": "3/10",
        "readout": "tanh(2*x)",
    }
    network = DeepNetwork(data["activation"], depth=data["depth"], widths=tuple(data["widths"]))
    assert TeacherStudent(network, data["samples"], data["noise"], data["readout"]) == setting


@pytest.mark.parametrize(
    ("written", "number"),
    [
        (0.3, Fraction(3, 10)),  # not 5404319552844595/18014398509481984
        (0.1 + 0.2, Fraction("0.30000000000000004")),
        (1e-3, Fraction(1, 1000)),
        (2, Fraction(2)),
        (0, Fraction(0)),
        ("0.3", Fraction(3, 10)),
        ("1/3", Fraction(1, 3)),
        (Fraction(1, 3), Fraction(1, 3)),
        (Decimal("0.3"), Fraction(3, 10)),
        (np.int64(2), Fraction(2)),
    ],
)
def test_the_noise_is_the_number_that_was_written(written, number) -> None:
    noise = TeacherStudent(NETWORK, noise=written).noise
    assert noise == number
    assert type(noise) is Fraction


@pytest.mark.parametrize(
    "wrong", [-1, -0.5, "-1/2", "abc", "", "1/0", None, True, [1], 1j, float("nan"), float("inf"), Decimal("NaN")]
)
def test_a_noise_that_is_no_variance_is_named_and_shown(wrong) -> None:
    with pytest.raises(ValueError, match=r"^noise .*must be a number >= 0") as caught:
        TeacherStudent(NETWORK, noise=wrong)
    assert repr(wrong) in str(caught.value)


@pytest.mark.parametrize(
    ("written", "sizes", "n"),
    [
        (7, {}, 7),
        (np.int64(7), {}, 7),
        ("n", {"n": 5}, 5),
        ("2*d", {"d": 5}, 10),
        ("d*m/2", {"d": 4, "m": 3}, 6),
        (3 * size("k"), {"k": 2}, 6),
    ],
)
def test_the_number_of_samples(written, sizes, n) -> None:
    found = TeacherStudent(NETWORK, samples=written).n_samples(sizes)
    assert found == n
    assert type(found) is int


@pytest.mark.parametrize("wrong", [0, -1, True, 2.5, None, [3]])
def test_samples_that_are_no_number_of_samples_are_named_and_shown(wrong) -> None:
    with pytest.raises(ValueError, match=r"^samples must be an integer >= 1, a text such as 'd'") as caught:
        TeacherStudent(NETWORK, samples=wrong)
    assert str(caught.value).endswith(f"got {wrong!r}")


@pytest.mark.parametrize("wrong", ["n+1", "", "0", "-n", "n*1.5", "sqrt(n)", "__import__('os')"])
def test_a_text_of_samples_that_is_no_size_is_shown(wrong) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 (what it says follows)
        TeacherStudent(NETWORK, samples=wrong)
    assert repr(wrong) in str(caught.value)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({}, "needs a size 'n': sizes given: none"),
        ({"d": 4}, "needs a size 'n': sizes given: d"),
        ({"n": 0}, "'n' must be an integer >= 1, got 0"),
        ({"n": 2.5}, "'n' must be an integer >= 1, got 2.5"),
        ({"n": True}, "'n' must be an integer >= 1, got True"),
    ],
)
def test_sizes_that_are_missing_or_wrong(sizes, message) -> None:
    with pytest.raises(ValueError, match=message):
        TeacherStudent(NETWORK).n_samples(sizes)


def test_half_a_sample_is_refused() -> None:
    with pytest.raises(ValueError, match="d/2 is 5/2 at d=5"):
        TeacherStudent(NETWORK, samples="d/2").n_samples({"d": 5})


@pytest.mark.parametrize("wrong", ["tanh", Activation("tanh"), None, (8, 8)])
def test_a_network_is_needed(wrong) -> None:
    with pytest.raises(ValueError, match=r"^network must be a theoryck\.DeepNetwork") as caught:
        TeacherStudent(wrong)
    assert repr(wrong) in str(caught.value)


def test_names_are_those_of_the_network_first_and_each_once() -> None:
    def names(widths, samples):
        return TeacherStudent(DeepNetwork("tanh", len(widths) - 1, widths), samples).names

    assert names(("d", "2*m"), "n") == ("d", "m", "n")
    assert names(("d", "2*m"), "k*d") == ("d", "m", "k")
    assert names(("b", "a"), "a*b") == ("b", "a")
    assert names((4, 4), 7) == ()
    assert TeacherStudent(DeepNetwork("tanh", depth=2)).names == ("input_dim", "width", "n")


def test_the_widths_are_those_of_the_network() -> None:
    assert TeacherStudent(NETWORK).layer_widths({"d": 3, "m": 4}) == (3, 8)
    assert TeacherStudent(DeepNetwork("tanh", 0, ("d",))).layer_widths({"d": 3}) == (3,)


@pytest.mark.parametrize(
    ("phi", "depth", "linear"),
    [("x", 1, True), ("2*x", 3, True), ("0*x", 1, True), ("x + 1", 1, False), ("tanh", 1, False), ("tanh", 0, True)],
)
def test_which_networks_are_linear(phi, depth, linear) -> None:
    assert TeacherStudent(DeepNetwork(phi, depth=depth)).linear_activation is linear


@pytest.mark.parametrize(("readout", "linear"), [("x", True), ("identity", True), ("2*x", False), ("x**3", False), ("tanh", False)])
def test_which_readouts_are_linear(readout, linear) -> None:
    # f(x) = 2 x is linear too, but not the identity: the readout vector is not integrated out for it.
    for given in (readout, Activation(readout)):
        assert TeacherStudent(NETWORK, readout=given).linear_readout is linear


def test_a_readout_that_cannot_be_read_is_an_error() -> None:
    with pytest.raises(ValueError, match="unknown function 'sinn'"):
        TeacherStudent(NETWORK, readout="sinn(x)")


def test_it_is_frozen_hashable_and_picklable() -> None:
    setting = TeacherStudent(NETWORK, samples="2*d", noise="1/2", readout="sin(x)")
    same = TeacherStudent(DeepNetwork("tanh(x)", 1, ("d", "2*m")), samples=2 * size("d"), noise=0.5, readout=Activation("sin"))
    assert setting == same
    assert hash(setting) == hash(same)
    assert len({setting, same, TeacherStudent(NETWORK)}) == 2
    assert pickle.loads(pickle.dumps(setting)) == setting
    for field in ("network", "samples", "noise", "readout", "another"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(setting, field, 3)


@pytest.mark.parametrize(
    "other",
    [
        TeacherStudent(NETWORK, "2*d", "1/3"),
        TeacherStudent(NETWORK, "d", "1/2"),
        TeacherStudent(NETWORK, "2*d", "1/2", "tanh"),
        TeacherStudent(DeepNetwork("tanh", 1, ("d", "m")), "2*d", "1/2"),
    ],
)
def test_every_part_tells_settings_apart(other) -> None:
    assert other != TeacherStudent(NETWORK, "2*d", "1/2")
    assert str(other) != str(TeacherStudent(NETWORK, "2*d", "1/2"))


def test_the_text_for_people() -> None:
    assert str(TeacherStudent(NETWORK)) == "TeacherStudent(DeepNetwork(tanh(x), depth=1, widths=(d, 2*m)), samples=n, noise=1/2)"
    assert str(TeacherStudent(NETWORK, readout="sin")).endswith(", noise=1/2, readout=sin(x))")


def test_a_numpy_float_is_a_float() -> None:
    assert TeacherStudent(NETWORK, noise=np.float64(0.3)).noise == Fraction(3, 10)
