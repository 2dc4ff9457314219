"""Chains against full networks with weight matrices, against closed forms and against values computed elsewhere.

Numbers marked MATH were computed independently with quadrature or closed forms, as noted beside each.  A Monte Carlo mean and its
value differ by more than five standard errors with probability 6e-7; with the twenty comparisons here that is 1e-5 in all.
"""

import itertools
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import ks_2samp

from theoryck.montecarlo import Key, ProcessExecutor, block_generator, sample
from theoryck.numerics.functions.activation import Activation
from theoryck.quantities import QuantityError
from theoryck.theory.networks.draws import NARROW, PIECE, Layers, norm_chain, overlap_chain, slope
from theoryck.theory.networks.model import DeepNetwork, size
from theoryck.theory.networks.quantities import norm_deviation, overlap_moment

SIGMA_1_ERF = 0.464559054397540  # (2/pi) asin(2/3)


def estimate(quantity, sizes=None, draws=400_000):
    sizes = sizes or {}
    key = Key(0, "test", quantity.parameters, sizes)
    return sample(quantity.sampler(sizes), key, draws=draws, block_draws=quantity.block_draws(sizes)).estimate()


def close(found, value) -> bool:
    return abs(found.value - value) < 5 * found.stderr


def full_network(phi, widths, rng, draws):
    """Draw weight matrices: returns |x|^2, |y|^2 and x.y of the last layer."""
    x = rng.standard_normal((draws, widths[0], 2)) / math.sqrt(widths[0])
    for below, above in itertools.pairwise(widths):
        x = phi(rng.standard_normal((draws, above, below)) @ x) / math.sqrt(above)
    gram = np.einsum("nik,nil->nkl", x, x)
    return gram[:, 0, 0], gram[:, 1, 1], gram[:, 0, 1]


@pytest.mark.parametrize("text", ["tanh(x)", "relu(x)", "(x**2-1)/sqrt(2)", "2*x", "erf(x)+x/3"])
@pytest.mark.parametrize("widths", [(3,), (1, 1), (2, 3, 2), (5, 70, 4)])
def test_chains_have_the_law_of_networks_with_weight_matrices(text, widths) -> None:
    phi = Activation(text)
    layers = Layers(phi, slope(phi), widths)
    rng = block_generator(0, "law", {"phi": text}, {}, len(widths))
    norm, _, overlap = full_network(phi, widths, rng, 4000)
    # Two-sample Kolmogorov-Smirnov: 40 tests, each wrong with probability 1e-6.
    assert ks_2samp(norm_chain(layers, rng, 4000), norm).pvalue > 1e-6
    assert ks_2samp(overlap_chain(layers, rng, 4000), overlap).pvalue > 1e-6


def test_wrong_widths_are_seen_by_the_same_test() -> None:
    phi = Activation("tanh(x)")
    rng = block_generator(0, "power", {}, {}, 0)
    norm, _, overlap = full_network(phi, (2, 3, 2), rng, 4000)
    wrong = Layers(phi, None, (20, 3, 2))
    assert ks_2samp(norm_chain(wrong, rng, 4000), norm).pvalue < 1e-6
    assert ks_2samp(overlap_chain(wrong, rng, 4000), overlap).pvalue < 1e-6


@pytest.mark.parametrize(
    ("power", "value"),
    [(2, 0.0239545919850537), (4, 1.49207809139e-3), (6, 1.36241488815e-4)],  # MATH B2: conditional cumulants and quadrature
)
def test_norm_of_one_erf_layer(power, value) -> None:
    assert close(estimate(norm_deviation(DeepNetwork("erf(x)", 1, (8, 8)), power, centre=SIGMA_1_ERF)), value)


def test_norm_of_one_sine_layer() -> None:
    def e(t):  # E exp(-t S_0), S_0 ~ chi^2_{d0}/d0
        return (1 + 2 * t / 8) ** -4

    sigma = (1 - math.exp(-2)) / 2  # MATH B3
    inner = (3 / 8 - e(2) / 2 + e(8) / 8) - (1 - 2 * e(2) + e(4)) / 4
    value = inner / 8 + (1 - 2 * e(2) + e(4)) / 4 - sigma * (1 - e(2)) + sigma**2
    found = estimate(norm_deviation(DeepNetwork("sin(x)", 1, (8, 8)), 2, centre=sigma))
    assert close(found, value)
    assert not close(found, value * 1.02)


def test_input_layer() -> None:
    quantity = norm_deviation(DeepNetwork("tanh", 0), power=4)
    for d in (1, 8, 300):
        assert close(estimate(quantity, {"input_dim": d}), 12 / d**2 + 48 / d**3)  # MATH B1
    half = estimate(norm_deviation(DeepNetwork("tanh", 0), power=1), {"input_dim": 8})
    assert close(half, 2 * 4**3 * math.exp(-4) / math.gamma(4))
    overlap = overlap_moment(DeepNetwork("tanh", 0), power=4)
    for d in (1, 8, 300):
        assert close(estimate(overlap, {"input_dim": d}), 3 * (d + 2) / d**3)  # MATH C1


@pytest.mark.parametrize("power", [0.5, 1, 3, 4.5])
def test_overlap_of_inputs_at_any_power(power) -> None:
    d = 8
    gaussian = 2 ** (power / 2) * math.gamma((power + 1) / 2) / math.sqrt(math.pi)
    value = gaussian * 2 ** (power / 2) * math.gamma((d + power) / 2) / (math.gamma(d / 2) * d**power)  # MATH C1
    assert close(estimate(overlap_moment(DeepNetwork("tanh", 0, (d,)), power)), value)


@pytest.mark.parametrize(("widths", "value"), [((8, 8), 0.265625), ((8, 16, 8), 0.3466796875)])  # MATH C2
def test_overlap_of_linear_networks(widths, value) -> None:
    found = estimate(overlap_moment(DeepNetwork("x", len(widths) - 1, widths), 2))
    assert close(found, value)
    assert not close(found, value * 0.95)


def test_norm_of_linear_networks_with_a_slope() -> None:
    # MATH B4: E S = slope^(2L), E S^2 = slope^(4L) prod (1 + 2/d_l).
    widths = (4, 6, 5)
    found = estimate(norm_deviation(DeepNetwork("-sqrt(2)*x", 2, widths), 2, centre=4))
    assert close(found, 16 * math.prod(1 + 2 / d for d in widths) - 16)


def test_overlap_of_one_sine_layer() -> None:
    found = estimate(overlap_moment(DeepNetwork("sin(x)", 1, (8, 8)), 2))
    assert close(found, 0.033876879074074)  # MATH C3
    assert not close(found, 0.0332)


def test_the_linear_shortcut_has_the_law_of_the_general_route() -> None:
    phi = Activation("x")
    widths = (4, 5, 3)
    rng = block_generator(0, "shortcut", {}, {}, 0)
    for chain in (norm_chain, overlap_chain):
        fast, general = (chain(Layers(phi, shortcut, widths), rng, 20_000) for shortcut in (1.0, None))
        assert ks_2samp(fast, general).pvalue > 1e-6


@pytest.mark.parametrize("width", [NARROW - 1, NARROW, PIECE, PIECE + 1, 2 * PIECE + 5])
def test_every_layout_has_the_right_mean_and_variance(width) -> None:
    # phi = x without the shortcut: S_1 = S_0 chi^2_width/width, Q_1 has variance (1/d0)(1 + 1/width) + 1/width.
    draws = 200 if width >= PIECE else 4000
    layers = Layers(Activation("x"), None, (5, width))
    rng = block_generator(0, "layout", {}, {"width": width}, 0)
    norms = norm_chain(layers, rng, draws)
    variance = (1 + 2 / 5) * (1 + 2 / width) - 1
    assert abs(norms.mean() - 1) < 5 * math.sqrt(variance / draws)
    overlaps = overlap_chain(layers, rng, draws)
    spread = (1 + 1 / width) / 5 + 1 / width
    assert abs(overlaps.mean()) < 5 * math.sqrt(spread / draws)
    # The square of an overlap has a relative standard deviation below 3 (kurtosis below 10 at d0 = 5).
    assert abs(np.square(overlaps).mean() / spread - 1) < 5 * 3 / math.sqrt(draws)


def test_a_dead_network_gives_zeros_not_nan() -> None:
    layers = Layers(Activation("relu(x)"), None, (1, 1, 1, 1))
    rng = block_generator(0, "dead", {}, {}, 0)
    for chain in (norm_chain, overlap_chain):
        values = chain(layers, rng, 2000)
        assert np.isfinite(values).all()
        assert (values == 0).any()


def test_bits_do_not_depend_on_the_number_of_workers() -> None:
    quantity = overlap_moment(DeepNetwork("tanh", depth=2), power=3)
    sizes = {"input_dim": 12, "width": 80}
    key = Key(0, "bits", quantity.parameters, sizes)
    alone = sample(quantity.sampler(sizes), key, draws=3000, block_draws=500)
    with ProcessExecutor(2) as executor:
        assert sample(quantity.sampler(sizes), key, draws=3000, block_draws=500, executor=executor) == alone


def test_samplers_travel_lightly_and_share_their_activation() -> None:
    quantity = norm_deviation(DeepNetwork("tanh", depth=2), power=3, centre=0.3)
    payloads = [pickle.dumps(quantity.sampler({"input_dim": d, "width": d})) for d in (4, 8)]
    assert max(map(len, payloads)) < 1000
    first, second = map(pickle.loads, payloads)
    assert first.layers.activation is second.layers.activation
    assert (
        pickle.loads(pickle.dumps(norm_deviation(DeepNetwork("tanh", depth=0)).sampler({"input_dim": 3}))).layers.activation is None
    )


def test_names_costs_and_blocks() -> None:
    network = DeepNetwork("tanh", depth=2, widths=(1, 2, 3) * size("d"))
    norm, overlap = norm_deviation(network, 4), overlap_moment(network, 2.5)
    assert norm.name == "norm_deviation(tanh(x), depth=2, power=4)"
    assert overlap.parameters == {
        "quantity": "overlap_moment",
        "activation": "tanh(x)",
        "depth": 2,
        "widths": ["d", "2*d", "3*d"],
        "power": 2.5,
    }
    assert norm.size_names == ("d",)
    assert (norm.cost({"d": 10}), overlap.cost({"d": 10})) == (51, 102)
    assert norm_deviation(DeepNetwork("3*x", depth=5, widths=["d"] * 6)).cost({"d": 10**6}) == 6
    blocks = [norm.block_draws({"d": d}) for d in (1, 16, 1024, 10**7)]
    assert blocks == [65536, 8192, 128, 1]
    assert norm.can_draw
    assert norm.can_exact
    assert overlap.can_exact
    assert not norm_deviation(network, 4, centre=0.5).can_exact
    assert norm_deviation(network, 4, centre=0.5).exact({"d": 4}) is None


@pytest.mark.parametrize("power", [0, -1, math.nan, math.inf, "2", True, None])
def test_wrong_powers(power) -> None:
    with pytest.raises(QuantityError, match="power must be a"):
        norm_deviation(DeepNetwork("tanh", 1), power)


@pytest.mark.parametrize("centre", ["x", math.inf, True, object()])
def test_wrong_centres(centre) -> None:
    with pytest.raises(QuantityError, match="centre must be a"):
        norm_deviation(DeepNetwork("tanh", 1), 2, centre=centre)


def test_wrong_networks_and_sizes() -> None:
    with pytest.raises(QuantityError, match=r"network must be a theoryck\.DeepNetwork, got 'tanh'"):
        overlap_moment("tanh")
    with pytest.raises(ValueError, match="'width'"):
        overlap_moment(DeepNetwork("tanh", 1)).sampler({"input_dim": 3, "widht": 3})


@pytest.mark.parametrize("power", [65, 64.5, Fraction(200, 3), 10**9])
def test_powers_that_no_draw_can_settle_are_refused(power) -> None:
    for make in (norm_deviation, overlap_moment):
        with pytest.raises(QuantityError, match=r"power must be at most 64, got .*: no number of float64 draws"):
            make(DeepNetwork("tanh", 1), power)
    assert norm_deviation(DeepNetwork("tanh", 1), 64).power == 64


def test_a_power_that_vanishes_is_an_error() -> None:
    # |Q| is about 1/sqrt(d_0) = 1e-7, and (1e-7)^64 is far below 5e-324
    quantity = overlap_moment(DeepNetwork("tanh", 0, (10**14,)), 64)
    with pytest.raises(QuantityError, match="below the smallest double"):
        quantity.sampler({})(block_generator(0, "underflow", {}, {}, 0), 10)


@pytest.mark.parametrize(
    ("quantity", "value"),
    [
        (norm_deviation(DeepNetwork("tanh", 0, (8,)), 4), 12 / 8**2 + 48 / 8**3),  # MATH B1
        # Double quadrature with mpmath at 20 digits (MATH B2 has .0239545919850537, which is right to 1e-10).
        (norm_deviation(DeepNetwork("erf(x)", 1, (8, 8)), 2), 0.023954591987427751),
        (norm_deviation(DeepNetwork("x", 1, (8, 8)), 2), 1.25**2 - 1),  # MATH B4
        (overlap_moment(DeepNetwork("x", 2, (8, 16, 8)), 2), 0.3466796875),  # MATH C2
        (overlap_moment(DeepNetwork("sin(x)", 1, (8, 8)), 2), 0.033876879074074),  # MATH C3
    ],
)
def test_the_two_routes_agree_with_each_other_and_with_known_values(quantity, value) -> None:
    exact = quantity.exact({}, 20)
    assert float(exact) == pytest.approx(value, rel=1e-12)
    assert close(estimate(quantity, draws=100_000), float(exact))


def test_the_routes_agree_deep_in_a_network() -> None:
    for quantity in (norm_deviation(DeepNetwork("tanh", 3), 2), overlap_moment(DeepNetwork("tanh", 3), 2)):
        sizes = {"input_dim": 32, "width": 64}
        exact = quantity.exact(sizes, 20)
        found = estimate(quantity, sizes, draws=50_000)
        assert abs(found.value - float(exact)) < 5 * found.stderr + float(exact.radius)
