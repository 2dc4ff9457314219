"""Deep networks: widths, their names, and errors that name the argument."""

from __future__ import annotations

import pickle
from fractions import Fraction

import pytest

from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.functions.catalogue import tanh
from theoryck.theory.networks.model import DeepNetwork, SizeExpression, size


def test_default_widths_are_the_sizes_of_the_path() -> None:
    network = DeepNetwork(tanh, depth=3)
    assert network.names == ("input_dim", "width")
    assert network.layer_widths({"input_dim": 5, "width": 7, "d": 5}) == (5, 7, 7, 7)
    assert DeepNetwork(tanh, depth=0).layer_widths({"input_dim": 5}) == (5,)
    assert DeepNetwork("tanh", 3) == network
    assert hash(DeepNetwork("tanh", 3)) == hash(network)


@pytest.mark.parametrize("pattern", [(1, 2, 1, 3) * size("d"), ["d", "2*d", "d", "3*d"], ("d", "d*2", size("d"), "6*d/2")])
def test_patterns(pattern: object) -> None:
    network = DeepNetwork(tanh, 3, pattern)  # type: ignore[arg-type]
    assert network.layer_widths({"d": 16}) == (16, 32, 16, 48)
    assert network.pattern == ("d", "2*d", "d", "3*d")
    assert network.names == ("d",)
    assert str(network.input_dim) == "d"
    assert pickle.loads(pickle.dumps(network)) == network


def test_concrete_and_mixed_widths() -> None:
    network = DeepNetwork(Activation("erf(x)"), 2, (16, "n/2", "n**2/m"))
    assert network.layer_widths({"n": 8, "m": 4}) == (16, 4, 16)
    assert network.names == ("n", "m")
    assert str(network) == "DeepNetwork(erf(x), depth=2, widths=(16, n/2, n**2/m))"


def test_missing_size_is_named_with_a_close_match() -> None:
    with pytest.raises(ValueError, match=r"needs a size 'width': did you mean 'widths'\? sizes given: input_dim, widths"):
        DeepNetwork(tanh, 1).layer_widths({"input_dim": 3, "widths": 3})
    with pytest.raises(ValueError, match="sizes given: none"):
        DeepNetwork(tanh, 0).layer_widths({})


@pytest.mark.parametrize(
    "widths", [(4, 0), (4, -1), (4, 2.5), (4, True), (4, None), (4, "d-1"), (4, "0*d"), (4, "-d"), (4, ""), (4, "d()")]
)
def test_bad_widths(widths: tuple[object, ...]) -> None:
    with pytest.raises(ValueError, match="width"):
        DeepNetwork(tanh, 1, widths)


@pytest.mark.parametrize("widths", [(4,), (4, 4, 4), (), "dd", 4])
def test_wrong_number_of_widths(widths: object) -> None:
    with pytest.raises(ValueError, match=r"depth \+ 1 = 2 entries"):
        DeepNetwork(tanh, 1, widths)  # type: ignore[arg-type]


@pytest.mark.parametrize("depth", [-1, 1.0, True, "2", 10**6])
def test_bad_depth(depth: object) -> None:
    with pytest.raises(ValueError, match="depth must be an integer"):
        DeepNetwork(tanh, depth)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "sizes"), [("d/2", {"d": 7}), ("d/m", {"d": 2, "m": 4}), ("d", {"d": 0}), ("d", {"d": 2.5}), ("d", {"d": True})]
)
def test_sizes_that_give_no_integer_width(text: str, sizes: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="integer"):
        size(text).value(sizes)


@pytest.mark.parametrize(
    "text", ["__import__('os')", "d.real", "d**9**9", "d**-1", "1.5*d", "d if d else 1", "(" * 300 + "d" + ")" * 300, "9" * 199]
)
def test_size_text_is_never_run(text: str) -> None:
    with pytest.raises(ValueError, match="width"):
        size(text)


def test_size_arithmetic() -> None:
    d = size("d")
    assert d * d / d == d
    assert str(3 * d / 2) == "3*d/2"
    assert size(str(3 * d * size("n") / 2)) == 3 * d * size("n") / 2
    assert (d / 2).coefficient == Fraction(1, 2)
    assert isinstance((1, 2) * d, tuple)
    with pytest.raises(TypeError):
        d * 1.5  # type: ignore[operator]
    with pytest.raises(ValueError, match="positive"):
        0 * d  # type: ignore[operator]
    assert isinstance(d, SizeExpression)
