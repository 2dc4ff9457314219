"""Draws of networks on patches against brute force, exact values against draws, refusals.

Statistical tests compare means at 5 standard errors: a right program fails one of them with probability 6e-7.
"""

import math

import numpy as np
import pytest

from theoryck.quantities import QuantityError
from theoryck.theory.convolutions import (
    PatchNetwork,
    PatchRegression,
    action_gap,
    alignment_growth,
    channel_gap,
    evidence_ratio,
    independent_kernels,
    infinite_width,
    patch_kernel,
    second_layer_bias,
)
from theoryck.theory.convolutions.draws import SecondLayerSampler, features

RUNS = 40_000
PAIR = (((1, 0.5), (-0.5, 1), (0.25, -1)), ((0.5, 1), (-1, 0.75), (0.5, -0.5)))


def problem(architecture="cnn", activation="x", channels=4, **more):
    rng = np.random.default_rng(3)
    x = rng.standard_normal((4, 2, 2))
    return PatchRegression(PatchNetwork(activation, channels, architecture, **more), x, [1.0, -0.5, 0.3, 0.8], 0.5, x[:1] + 0.1)


def close(values, expected):
    return abs(values.mean() - expected) < 5 * values.std() / math.sqrt(len(values))


def outputs(network, x, rng, runs):
    """f itself, weights and all, written as a loop over patches."""
    (inputs, patches, entries), channels = x.shape, network.channels
    f = np.zeros((runs, inputs))
    w = rng.standard_normal((runs, channels, entries)) / math.sqrt(network.input_precision)
    a = rng.standard_normal((runs, channels)) / math.sqrt(network.readout_precision)
    for i in range(patches):
        if i and network.architecture in ("lcn", "fc"):
            w = rng.standard_normal((runs, channels, entries)) / math.sqrt(network.input_precision)
        if i and network.architecture in ("cnn", "lcn"):
            a = rng.standard_normal((runs, channels)) / math.sqrt(network.readout_precision)
        f += np.einsum("rc,rcp->rp", a, network.activation(np.einsum("rcm,pm->rcp", w, x[:, i]) / math.sqrt(entries)))
    return f / math.sqrt(channels * patches)


@pytest.mark.parametrize("architecture", ["cnn", "lcn", "fc", "pooled"])
@pytest.mark.parametrize("activation", ["x", "erf(x)"])
def test_evidence_by_whole_networks(architecture, activation):
    """Z = E prod N(y; f, T) with every weight drawn, against the draws over filters, and against the average over Q if linear."""
    setting, rng = problem(architecture, activation, input_precision=1.5, readout_precision=0.7), np.random.default_rng(0)
    f = outputs(setting.network, setting.patches, rng, 4 * RUNS)
    z = np.exp(-np.sum((setting.targets - f) ** 2, axis=1) - 2 * math.log(math.pi))  # T = 1/2: 2 T = 1, (2 pi T)^(4/2)
    ratio = evidence_ratio(setting)
    found = ratio.draw(rng, RUNS, {"channels": 4})
    whole = z / math.exp(infinite_width(setting).log_evidence) - 1
    assert abs(found.mean() - whole.mean()) < 5 * math.sqrt(found.var() / RUNS + whole.var() / len(whole))
    if activation == "x":
        assert close(found, float(ratio.exact({"channels": 4})))
    else:
        assert ratio.exact({"channels": 4}) is None


def test_another_sharing_would_be_seen():
    base = problem()
    labels = np.sum(base.patches @ [1.0, -0.5], axis=1)
    settings = [PatchRegression(problem(each).network, base.patches, labels, 0.1) for each in ("cnn", "lcn", "fc", "pooled")]
    ratios = [float(evidence_ratio(each).exact({"channels": 4})) for each in settings]
    drawn = evidence_ratio(settings[0]).draw(np.random.default_rng(1), RUNS, {"channels": 4})
    assert [bool(close(drawn, value)) for value in ratios] == [True, False, False, False]


def test_what_is_taken_away_from_draws_has_mean_zero():
    """E F^T F is the kernel of infinite width at three channels, for every sharing and a unit that is not odd where it may be."""
    for architecture, activation in (("cnn", "relu"), ("lcn", "relu"), ("fc", "erf"), ("pooled", "relu")):
        setting = problem(architecture, activation, channels=3)
        found = features(setting.network, setting.patches, np.random.default_rng(2), RUNS)
        given = found.transpose(0, 2, 1) @ found
        gap = np.abs(given.mean(axis=0) - setting.infinite_kernel)
        assert np.all(gap < 5 * given.std(axis=0) / math.sqrt(RUNS)), architecture


@pytest.mark.parametrize("architecture", ["cnn", "lcn"])
def test_kernels_at_finite_width(architecture):
    rng = np.random.default_rng(4)
    for power in (1, 2):
        kernel = patch_kernel("2*x", PAIR, architecture, power)
        found = kernel.draw(rng, RUNS, {"channels": 5})
        assert close(found, float(kernel.exact({"channels": 5})))
    assert patch_kernel("erf", PAIR).exact({"channels": 5}) is None


@pytest.mark.parametrize("width", [1, 2, 3])
def test_the_bias_of_two_layers_by_plain_draws(width):
    """Without what is taken away: the mean over sites of h at empirical covariances, less h at their means."""
    x, channels, rng = np.array(PAIR, dtype=float), 3, np.random.default_rng(5)
    fields = np.einsum("rcm,pim->rcip", rng.standard_normal((8 * RUNS, channels, 2)), x) / math.sqrt(2)
    phi = patch_kernel("erf", PAIR).activation(fields)

    def above(s, t, c):
        s, t, c = (sum(np.roll(each, -shift, axis=-1) for shift in range(width)) / width for each in (s, t, c))
        return (2 / math.pi * np.arcsin(2 * c / np.sqrt((1 + 2 * s) * (1 + 2 * t)))).mean(axis=-1)

    def moment(a, b):
        return (phi[..., a] * phi[..., b]).mean(axis=1)

    plain = above(moment(0, 0), moment(1, 1), moment(0, 1))
    gram = np.einsum("aim,bim->iab", x, x) / 2
    norms = np.sqrt(1 + 2 * np.einsum("iaa->ia", gram))
    first = 2 / math.pi * np.arcsin(2 * gram / norms[:, :, None] / norms[:, None, :])
    plain = plain - above(first[:, 0, 0], first[:, 1, 1], first[:, 0, 1])
    smooth = second_layer_bias("erf", PAIR, width).draw(rng, RUNS, {"channels": channels})
    assert abs(plain.mean() - smooth.mean()) < 5 * math.sqrt(plain.var() / len(plain) + smooth.var() / RUNS)
    assert smooth.var() < plain.var() / 2
    assert np.allclose(SecondLayerSampler(PatchNetwork("erf", 3), x, 1).first()[:, 2], first[:, 0, 1])


def test_gaps_are_differences():
    setting = problem()
    wide = infinite_width(setting)
    gap = {what: float(channel_gap(setting, what).exact({"channels": 10**4})) for what in ("log_evidence", "mean", "train_loss")}
    assert all(0 < abs(value) < 1e-3 for value in gap.values())
    far = channel_gap(setting, "mean").exact({"channels": 4})
    assert far.radius < 1e-6
    assert wide.mean[0] + float(far) != wide.mean[0]
    assert abs(float(channel_gap(setting, "order", (0, 1)).exact({"channels": 10**4}))) < 1e-3
    for what in ("saddle", "one loop", "order"):
        assert abs(float(action_gap(setting, what).exact({"channels": 10**4}))) < 1e-2


def test_growth_at_the_saddle_and_at_the_mean_agree_to_first_order():
    setting = problem()
    one, other = (float(alignment_growth(setting, averaged=each).exact({"channels": 10**4})) for each in (False, True))
    assert one == pytest.approx(other, rel=1e-2)
    assert one != other


def test_names_and_parameters():
    setting = problem()
    assert evidence_ratio(setting, times_channels=True).name == "N_c (Z/Z_inf - 1), cnn, x, P = 4, N_p = 2"
    assert (
        setting.parameters["data"] != PatchRegression(setting.network, 2 * setting.patches, setting.targets, 0.5).parameters["data"]
    )
    assert problem().parameters == setting.parameters


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: evidence_ratio("data"), "problem must be a PatchRegression, got 'data'"),
        (lambda: evidence_ratio(problem()).sampler({"width": 3}), "needs the size 'channels'"),
        (lambda: channel_gap(problem(), "test_loss"), "what must be one of 'log_evidence'"),
        (lambda: channel_gap(PatchRegression(PatchNetwork("x", 4), [[[1.0]]], [1.0], 1), "mean"), "problem must have a new input"),
        (lambda: channel_gap(problem("cnn", "erf"), "mean").exact({"channels": 4}), "problem must have linear units"),
        (lambda: action_gap(problem(), "two loops"), "what must be one of 'saddle'"),
        (lambda: patch_kernel("x", [[[1.0]]]), r"pair must have shape \(2, N_p, m\)"),
        (lambda: patch_kernel("x", PAIR, power=3), "power must be an integer between 1 and 2, got 3"),
        (lambda: second_layer_bias("x", PAIR, 4), "width must be an integer between 1 and 3, got 4"),
    ],
)
def test_refusals(make, message):
    with pytest.raises(QuantityError, match=message):
        make()


def test_equal_patches_leave_one_order_parameter():
    x = np.repeat(np.random.default_rng(6).standard_normal((6, 1, 3)), 3, axis=1)
    for architecture in ("cnn", "lcn", "fc"):
        setting = PatchRegression(PatchNetwork("erf", 4, architecture), x, np.ones(6), 0.5)
        assert float(independent_kernels(setting).exact()) == 1
