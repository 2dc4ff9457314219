"""Kernels and outputs of networks of finite width as quantities: draws against exact values and against whole networks."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

from theoryck.numerics.functions.activation import Activation
from theoryck.quantities import QuantityError
from theoryck.theory.networks.model import DeepNetwork
from theoryck.theory.wide.proved.kernels import wide_pair
from theoryck.theory.wide.quantities import (
    kernel_deviation,
    nngp,
    ntk,
    output,
    output_bias,
    output_cumulant,
    output_distance,
    output_kurtosis,
)

INPUTS = ((1, 2), (2, Fraction(1, 2)))
SIZES = {"input_dim": 16, "width": 16}
SIGMAS = 5  # a false alarm in 1.7e6 comparisons


def close(values: np.ndarray, wanted: float) -> bool:
    return abs(values.mean() - wanted) < SIGMAS * values.std() / math.sqrt(len(values))


def test_kernels_are_those_of_the_exact_room() -> None:
    pair = wide_pair("erf", INPUTS, 2, Fraction(5, 4), Fraction(1, 2), 20)
    options = {"weight_std": Fraction(5, 4), "bias_std": Fraction(1, 2)}
    assert nngp("erf", INPUTS, 2, **options).exact({}, 20) == pair.nngp
    assert ntk("erf", INPUTS, 2, **options).exact({}, 20) == pair.ntk
    assert ntk("erf", INPUTS, 2, **options).name == "ntk(erf(x), hidden_layers=2, W_std=5/4, b_std=1/2)"


def whole_network(name: str, layers: int, width: int, draws: int, w: float, b: float) -> tuple[np.ndarray, np.ndarray]:
    """(k, t) by drawing every weight and adding up the squared gradients parameter by parameter."""
    rng, phi = np.random.default_rng(11), Activation(name)
    slope = phi.derivative()
    x = np.array([[float(entry) for entry in vector] for vector in INPUTS]).T
    nngp_values, ntk_values = np.empty(draws), np.empty(draws)
    for draw in range(draws):
        below, outputs, weights, ahead = x, [x], [], []
        for _ in range(layers):
            matrix = rng.standard_normal((width, len(below)))
            z = w / math.sqrt(len(below)) * matrix @ below + b * rng.standard_normal((width, 1))
            weights.append(matrix)
            ahead.append(z)
            below = phi(z)
            outputs.append(below)
        nngp_values[draw] = b * b + w * w / width * below[:, 0] @ below[:, 1]
        total, back = 0.0, np.ones((1, 2))
        weights.append(rng.standard_normal((1, width)))
        for layer in range(layers, -1, -1):
            y = outputs[layer]
            by_weights = w * w / len(y) * (back[:, 0] @ back[:, 1]) * (y[:, 0] @ y[:, 1])
            total += by_weights + b * b * (back[:, 0] @ back[:, 1])
            if layer:
                back = w / math.sqrt(len(y)) * (weights[layer].T @ back) * slope(ahead[layer - 1])
        ntk_values[draw] = total
    return nngp_values, ntk_values


@pytest.mark.parametrize(("name", "layers"), [("tanh", 1), ("erf", 2), ("relu", 3)])
def test_drawn_kernels_have_the_law_of_whole_networks(name: str, layers: int) -> None:
    options = {"weight_std": Fraction(5, 4), "bias_std": Fraction(1, 2)}
    brute = whole_network(name, layers, 4, 4000, 1.25, 0.5)
    for kind, values in zip(("nngp", "ntk"), brute, strict=True):
        deviation = kernel_deviation(name, INPUTS, layers, kind=kind, width=4, **options)
        centre = float(deviation.limit.exact({}, 20))
        drawn = deviation.draw(np.random.default_rng(5), 40_000, {})
        wanted = (values - centre) ** 2
        error = math.hypot(drawn.std() / 200, wanted.std() / math.sqrt(len(wanted)))
        assert abs(drawn.mean() - wanted.mean()) < SIGMAS * error
        bias = kernel_deviation(name, INPUTS, layers, kind=kind, width=4, power=1, **options)
        drawn = bias.draw(np.random.default_rng(6), 40_000, {})
        error = math.hypot(drawn.std() / 200, values.std() / math.sqrt(len(values)))
        assert abs(drawn.mean() - (values.mean() - centre)) < SIGMAS * error


@pytest.mark.parametrize("name", ["erf", "relu", "x"])
@pytest.mark.parametrize("kind", ["nngp", "ntk"])
def test_one_hidden_layer_by_both_routes(name: str, kind: str) -> None:
    for power in (1, 2):
        deviation = kernel_deviation(name, INPUTS, 1, kind=kind, power=power, bias_std=Fraction(1, 2))
        exact = float(deviation.exact({"width": 8}))
        assert close(deviation.draw(np.random.default_rng(1), 50_000, {"width": 8}), exact)
        assert power == 2 or exact == 0
    assert kernel_deviation(name, INPUTS, 2, kind=kind).exact({"width": 8}) is None


def test_less_noise_and_the_same_bias() -> None:
    for inputs in (INPUTS, (INPUTS[0], INPUTS[0])):
        deviation = kernel_deviation("erf", inputs, 2, power=1)
        smooth = deviation.draw(np.random.default_rng(2), 20_000, {"width": 4})
        plain = deviation.sampler({"width": 4}).plain(np.random.default_rng(3), 200_000)
        assert abs(smooth.mean() - plain.mean()) < SIGMAS * math.hypot(smooth.std() / 20_000**0.5, plain.std() / 200_000**0.5)
        assert smooth.std() < plain.std() / 5


@pytest.mark.parametrize(("name", "depth", "equivalent"), [("erf", 1, False), ("x", 2, False), ("sin", 1, False), ("erf", 2, True)])
def test_statistics_of_the_output_by_both_routes(name: str, depth: int, equivalent: bool) -> None:
    network = DeepNetwork(name, depth=depth)
    for make in (output_bias, output_cumulant, output_distance):
        quantity = make(network, equivalent)
        exact = quantity.exact(SIZES) if (make, name) != (output_distance, "x") else None
        draws = 2_000 if make is output_distance else 50_000
        values = pickle.loads(pickle.dumps(quantity.sampler(SIZES)))(np.random.default_rng(4), draws)
        assert exact is None or close(values, float(exact))


def test_the_output_of_whole_networks() -> None:
    rng, d, draws = np.random.default_rng(7), 6, 40_000
    x = rng.standard_normal((draws, d, 1)) / math.sqrt(d)
    hidden = np.tanh(rng.standard_normal((draws, d, d)) @ x)[:, :, 0] / math.sqrt(d)
    f = np.sum(hidden * rng.standard_normal((draws, d)), axis=1)
    drawn = output(DeepNetwork("tanh", depth=1)).draw(rng, draws, {"input_dim": d, "width": d})
    for power in (2, 4):
        error = math.hypot((f**power).std(), (drawn**power).std()) / math.sqrt(draws)
        assert abs((f**power).mean() - (drawn**power).mean()) < SIGMAS * error


def test_the_linear_model_has_another_kurtosis() -> None:
    network, sizes = DeepNetwork("erf", depth=1), {"input_dim": 512, "width": 512}
    constants = [512 * float(output_kurtosis(network, model).exact(sizes)) for model in (False, True)]
    assert constants == pytest.approx([2.68, 5.01], abs=0.02)
    assert output_bias(network, equivalent=True).exact(sizes).exact


def test_errors_say_what_to_do() -> None:
    with pytest.raises(QuantityError, match="ratio of moments"):
        output_kurtosis(DeepNetwork("erf", depth=1)).sampler(SIZES)
    with pytest.raises(QuantityError, match="network must be a theoryck"):
        output("erf")  # type: ignore[arg-type]
    with pytest.raises(QuantityError, match="kind must be"):
        kernel_deviation("erf", INPUTS, kind="gp")
    with pytest.raises(QuantityError, match="power must be 1"):
        kernel_deviation("erf", INPUTS, power=3)
    with pytest.raises(QuantityError, match="inputs must be two vectors"):
        nngp("erf", ((1, 2), (1,)))
    with pytest.raises(QuantityError, match="an entry of inputs must be a rational number"):
        ntk("erf", ((0.1, math.nan), (1, 2)))
    assert output(DeepNetwork("erf", depth=1)).exact(SIZES) is None
