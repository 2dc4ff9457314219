"""The law of a wide network's output: against chi-square sums, quadrature over the exact law of S, and known limits."""

import math
from decimal import Decimal

import numpy as np
import pytest
from scipy import integrate, special, stats

from theoryck.numerics.errors import NotConverged
from theoryck.theory.learning.proved.one_sample import norm_transform
from theoryck.theory.wide.proved.output_law import (
    norm_bias,
    norm_bias_limit,
    output_cumulant,
    output_distance,
    output_distance_limit,
    output_kurtosis,
    output_kurtosis_limit,
)


def test_the_bias_of_one_sine_layer_in_closed_form() -> None:
    # E sin^2(sqrt(S) Z) = (1 - e^(-2 S))/2 and E e^(-2 S_0) = (1 + 4/d)^(-d/2).
    for d in (32, 256):
        wanted = (math.exp(-2) - (1 + 4 / d) ** (-d / 2)) / 2
        found = norm_bias("sin", (d, d))
        assert float(found) == pytest.approx(wanted, abs=2 * float(found.radius) + 1e-16)
        assert float(found.radius) < 1e-9


def test_limits_of_bias_and_kurtosis() -> None:
    assert float(norm_bias_limit("erf", (1, 1, 1, 1))) == pytest.approx(-0.135852, abs=1e-6)
    # sin, one layer: g'' = -2 e^(-2) and v_0 = 2.
    assert float(norm_bias_limit("sin", (1, 1))) == pytest.approx(-2 * math.exp(-2), rel=1e-15)
    # A wide input layer has no fluctuations to be curved; half as many inputs have twice the variance.
    assert float(norm_bias_limit("sin", (2, 1))) == pytest.approx(-math.exp(-2), rel=1e-15)
    assert float(norm_bias_limit("sin", (1, 3))) == pytest.approx(-2 * math.exp(-2), rel=1e-15)
    assert float(norm_bias_limit("relu", (1, 1, 1))) == 0
    assert float(output_kurtosis_limit("x", (1, 1, 1))) == 18
    assert float(output_kurtosis_limit("erf", (1, 1))) == pytest.approx(2.68, abs=0.005)


@pytest.mark.parametrize(("name", "shape"), [("erf", (1, 1)), ("tanh", (1, 2, 1)), ("relu", (1, 1, 1))])
def test_finite_widths_tend_to_the_limits(name: str, shape: tuple[int, ...]) -> None:
    for finite, limit in ((norm_bias, norm_bias_limit), (output_kurtosis, output_kurtosis_limit)):
        far, farther = (d * float(finite(name, tuple(r * d for r in shape))) for d in (2048, 4096))
        # One Richardson step leaves a term of order 1/d^2, at most 20 times the limit (4 times for relu of two layers).
        wanted = float(limit(name, shape))
        assert 2 * farther - far == pytest.approx(wanted, abs=20 * max(abs(wanted), 1) / (2048 * 4096))


def test_the_fourth_cumulant_of_linear_networks() -> None:
    # S_L is a product of L + 1 chi-squares over their degrees.
    found = output_cumulant("x", (8, 4, 6))
    product = math.prod(1 + 2 / d for d in (8, 4, 6))
    assert float(found) == pytest.approx(3 * (product - 1), rel=1e-15)
    assert found.rigorous
    assert output_kurtosis("relu", (8, 8)).rigorous


def test_the_transform_of_the_norm() -> None:
    rates = np.array([0.1, 1.0, 10.0])
    assert norm_transform("x", (6,), rates) == pytest.approx((1 + 2 * rates / 6) ** -3, rel=1e-13)
    # Two linear layers: E (1 + 2 rate S_0/d_1)^(-d_1/2) over a chi-square.
    node = stats.gamma(3, scale=1 / 3)
    wanted = [integrate.quad(lambda s, q=q: (1 + 2 * q * s / 8) ** -4 * node.pdf(s), 0, 30, epsabs=1e-13)[0] for q in rates]
    assert norm_transform("x", (6, 8), rates) == pytest.approx(wanted, rel=1e-9)


def brute_distance(d: int) -> float:
    """int (G - F)^2 dF for x_0 alone: G(y) = E Phi(y/sqrt(S_0)) over the chi-square law of S_0."""
    s, weight = np.polynomial.legendre.leggauss(400)
    s = 1.5 * (s + 1) + 1e-9
    density = stats.gamma(d / 2, scale=2 / d).pdf(s) * weight * 1.5
    y, step = np.linspace(-9, 9, 361, retstep=True)
    gap = special.ndtr(y[:, None] / np.sqrt(s)) @ density - special.ndtr(y)
    return float(step * np.sum(gap**2 * np.exp(-y * y / 2)) / math.sqrt(2 * math.pi))


def test_the_distance_against_quadrature_over_the_norm() -> None:
    found = output_distance("x", (64,))
    assert float(found) == pytest.approx(brute_distance(64), rel=1e-7)
    assert not found.rigorous
    assert found.radius < Decimal("1e-7") * found.midpoint


@pytest.mark.parametrize("name", ["erf", "tanh", "x"])
def test_the_distance_tends_to_its_limit(name: str) -> None:
    far, farther = (d * d * float(output_distance(name, (d, d))) for d in (512, 1024))
    assert 2 * farther - far == pytest.approx(float(output_distance_limit(name, (1, 1))), rel=1e-4)
    # The constant of one layer more would be seen.
    assert farther != pytest.approx(float(output_distance_limit(name, (1, 1, 1))), rel=0.2)


def test_an_atom_at_zero_is_refused() -> None:
    # All 8 relus are dead with probability 2^-8.
    with pytest.raises(NotConverged, match="decays too slowly"):
        output_distance("relu", (8, 8))


@pytest.mark.parametrize("widths", [(64, 64), (64, 64, 64)])
def test_what_grows_too_fast_for_the_series_is_refused_at_once(widths: tuple[int, ...]) -> None:
    for moment in (norm_bias, output_cumulant, output_kurtosis):
        with pytest.raises(NotConverged, match="grows too fast for their series"):
            moment("exp(x)", widths)
    # exp(x/2) does not: E exp(S_0/2) = (1 - 1/d)^(-d/2) for S_0 = chi^2_d/d.
    bias = float(norm_bias("exp(x/2)", (64, 64)))
    assert bias == pytest.approx((1 - 1 / 64) ** -32 - math.exp(0.5), rel=1e-9)
