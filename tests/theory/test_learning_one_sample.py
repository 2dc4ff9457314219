"""The information of one sample: limits in 1/d, an independent quadrature, chains of norms, symmetries; and bad arguments."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from theoryck.numerics.errors import ExactError, NotConverged
from theoryck.numerics.functions.activation import Activation
from theoryck.theory.learning.draws.deep_linear_model import scale_grid
from theoryck.theory.learning.proved.one_sample import (
    _input_norms,
    _laplace,
    _Setting,
    one_sample_gap,
    one_sample_glm_information,
    one_sample_information,
)
from theoryck.theory.networks.proved.constants import network_constants

# Limits of d_0 times the gap for one layer, f(x) = x, Delta = 1/2: from g(s) = E phi(sqrt(s) Z)^2 in closed form,
# (1/2)[g''/(sigma + Delta) + (rho^4 - g'^2)/(sigma + Delta)^2] at s = 1.
LIMITS = {"erf": -0.0275053, "sin": -0.0778466, "x*exp(-x**2/2)": -0.0300276}


@pytest.mark.parametrize("phi", LIMITS)
def test_the_gap_times_d_tends_to_its_limit(phi):
    first, second = (d * float(one_sample_gap(phi, (d, d), Fraction(1, 2))) for d in (128, 256))
    # One Richardson step removes the 1/d term; what is left is of order (1/128)^2 times a few units.
    assert 2 * second - first == pytest.approx(LIMITS[phi], abs=3e-5)


def test_the_sign_changes_with_the_noise():
    values = {noise: 256 * float(one_sample_gap("erf", (256, 256), noise)) for noise in (Decimal("0.2"), Decimal("0.3"))}
    # Limits +.0108 and -.0091; corrections of relative size 10/d.
    assert values[Decimal("0.2")] == pytest.approx(0.0108, abs=1e-3)
    assert values[Decimal("0.3")] == pytest.approx(-0.0091, abs=1e-3)


@pytest.mark.parametrize(("phi", "limit"), [("erf", 0.036), ("sin", 0.007)])
def test_a_nonlinear_readout(phi, limit):
    gap = one_sample_gap(phi, (128, 128), Decimal("0.2"), "tanh(2*x)")
    assert 128 * float(gap) == pytest.approx(limit, abs=1e-3)
    assert gap.radius < Decimal("1e-11")
    assert not gap.rigorous


def test_a_linear_network_is_equivalent_to_second_order():
    scaled = [d * d * float(one_sample_gap("x", (d, d), 0.5)) for d in (64, 256)]
    # -(3/4) (2/3)^4 = -.148 with corrections of relative size 3/d.
    assert scaled[0] == pytest.approx(-0.148, abs=0.012)
    assert scaled[1] == pytest.approx(-0.148, abs=0.003)


def test_a_deep_linear_network_by_another_route():
    # Given S_0 and the common scale t of the layers Y is N(0, t S_0 + noise): three integrals by plain sums.
    noise, widths = 0.5, (128, 6, 4)
    t = np.arange(-6, 6) * 0.12
    weights = np.exp(64 * (t - np.expm1(t)))
    weights /= weights.sum()
    outputs = np.arange(0, 34) * 0.5
    grid, total = scale_grid(widths[1:], 1), 0.0
    for s, weight in zip(np.exp(t), weights):
        if weight > 1e-7:
            variances = grid.nodes * s + noise
            normal = np.exp(-(outputs[:, None] ** 2) / (2 * variances)) / np.sqrt(2 * math.pi * variances)
            density = normal @ np.exp(grid.log_weights)
            terms = -density * np.log(density)
            total += weight * 0.5 * (2 * terms.sum() - terms[0])
    found = one_sample_information("x", widths, noise)
    # Weights below 1e-7, of which there are less than ten, and the tail beyond y = 17 are left out here.
    assert float(found) == pytest.approx(total - math.log(2 * math.pi * math.e * noise) / 2, abs=2e-6)


def test_the_chain_of_norms_against_draws():
    widths, phi = (6, 5, 3, 4), Activation("sin")
    setting = _Setting(phi, Activation("x"), widths, 0.5, 1.0, 0.0)
    norms, rates, draws = np.array([0.3, 1.0, 2.5]), np.array([0.1, 1.0, 8.0, 50.0]), 100_000
    found = _laplace(setting, norms, np.full(3, 1 / 3), rates, 1.0)
    rng = np.random.default_rng(5)
    for row, s in zip(found, norms):
        chain = np.full(draws, s)
        for d in widths[1:]:
            chain = (phi(np.sqrt(chain)[:, None] * rng.standard_normal((draws, d))) ** 2).mean(1)
        for value, rate in zip(row, rates):
            sample = np.exp(-rate * chain)
            # Twelve comparisons at five standard errors.
            assert abs(sample.mean() - value) < 5 * sample.std() / math.sqrt(draws)
            # The norm of the layer below would be seen.
    assert abs(found[1, 1] - math.exp(-1.0)) > 0.1


def test_the_input_norm_has_its_mean_and_variance():
    for d in (1, 3, 40, 5000):
        s, w = _input_norms(d, 1.0)
        assert float(w @ s) == pytest.approx(1, abs=1e-12)
        assert float(w @ (s - 1) ** 2) == pytest.approx(2 / d, rel=1e-9)


def test_the_linear_model_is_proved_and_agrees_with_its_formula():
    value = one_sample_glm_information("erf", (16, 16, 16), Fraction(1, 2))
    assert value.rigorous
    constants = network_constants(Activation("erf"), 2)
    s, w = _input_norms(16, 1.0)
    variance = float(constants.eta0) ** 2 * s + float(constants.gamma0)
    assert float(value) == pytest.approx(float(w @ np.log1p(variance / 0.5)) / 2, abs=1e-12)


def test_depth_zero_has_no_gap_and_rescaled_readouts_agree():
    assert abs(float(one_sample_gap("tanh", (5,), 0.5))) < 1e-12
    # f(x) = 2x with noise 4 Delta is f(x) = x with Delta, by the other construction of the density.
    one, other = one_sample_information("tanh", (9, 7), 0.5), one_sample_information("tanh", (9, 7), 2.0, "2*x")
    assert one.overlaps(other)
    assert abs(one.midpoint - other.midpoint) < Decimal("1e-11")
    # The odd readout's sign is a symmetry; its scale is not.
    assert one_sample_information("tanh", (9, 7), 0.5, "-x").overlaps(one)
    assert not one_sample_information("tanh", (9, 7), 0.5, "2*x").overlaps(one)


def test_deeper_networks_and_kinks():
    gap = one_sample_gap("relu", (40, 40, 40), 0.5)
    assert gap.radius < Decimal("1e-10")
    # A kink of the readout leaves few digits, and the radius says so: the same at twice the noise of half the readout is inside.
    rough = one_sample_information("erf", (8, 8), 0.5, "relu")
    assert Decimal("1e-8") < rough.radius < Decimal("1e-2")
    assert rough.overlaps(one_sample_information("erf", (8, 8), 2.0, "2*relu(x)"))


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("erf", (4, 4), 0), "noise"),
        (("erf", (4, 4), "much"), "noise"),
        (("erf", (4, 0), 1), r"widths\[1\]"),
        (("erf", (), 1), "widths"),
        (("erff", (4, 4), 1), "erf"),
    ],
)
def test_bad_arguments(arguments, word):
    with pytest.raises(ValueError, match=word):
        one_sample_information(*arguments)


def test_grids_that_do_not_fit_are_refused():
    with pytest.raises(NotConverged, match="more noise"):
        one_sample_information("x", (1, 1), 1e-6)
    assert issubclass(NotConverged, ExactError)
