"""Limits of projections: closed forms, and the finite sizes they are limits of."""

from __future__ import annotations

import math

import numpy as np
import pytest

from theoryck.numerics.errors import NotConverged
from theoryck.numerics.functions.activation import Activation
from theoryck.theory.projections.limits import (
    error_gap_limit,
    localised_error_gap,
    projection_kurtosis_limit,
    projection_skewness_limit,
)
from theoryck.theory.projections.model import coordinate, covariance_kernel, panels, read_activation
from theoryck.theory.projections.quantities import projection_kurtosis, projection_skewness


def test_single_coordinates() -> None:
    """erf: c_1^2 = 4/(3 pi), Var = (2/pi) asin(2/3), c_3 = -.1773, excess kurtosis -1.4402; relu by hand."""
    erf = coordinate(Activation("erf"))
    assert erf.linear[1] == pytest.approx(2 / math.sqrt(3 * math.pi), rel=1e-13)
    assert erf.variance == pytest.approx(2 / math.pi * math.asin(2 / 3), rel=1e-13)
    assert erf.linear[3] == pytest.approx(-4 / (3 * math.sqrt(18 * math.pi)), rel=1e-12)
    assert erf.fourth / erf.variance**2 == pytest.approx(-1.4402, abs=5e-5)
    relu = coordinate(Activation("relu"))
    mean, square, cube = 1 / math.sqrt(2 * math.pi), 0.5, 2 / math.sqrt(2 * math.pi)
    assert relu.mean == pytest.approx(mean, rel=1e-13)
    assert relu.third == pytest.approx(cube - 3 * square * mean + 2 * mean**3, rel=1e-12)
    assert relu.left == pytest.approx(relu.variance - float((relu.linear**2).sum()), rel=1e-9)


def test_kernels() -> None:
    m = np.array([-0.9, 0.0, 0.3, 0.8])
    erf = covariance_kernel(coordinate(Activation("erf")), m)
    np.testing.assert_allclose(erf, 2 / math.pi * np.arcsin(2 * m / 3), atol=1e-10)
    sine = covariance_kernel(coordinate(Activation("sin(3*x)")), m)
    np.testing.assert_allclose(sine, math.exp(-9) * np.sinh(9 * m), atol=1e-12)


def test_limits_in_closed_form() -> None:
    """He_2: Marchenko-Pastur moments of ratio r; a linear generator is Gaussian; sin 3x has nearly independent coordinates."""
    for ratio in (0.5, 1, 2):
        third, second = 1 + 3 * ratio + ratio**2, 1 + ratio
        assert projection_skewness_limit("he2", ratio) == pytest.approx(math.sqrt(8) * third / second**1.5, rel=1e-12)
    assert projection_kurtosis_limit("x") == pytest.approx(0, abs=1e-13)
    assert projection_kurtosis_limit("sin(3*x)") == pytest.approx(-1.5, abs=1e-4)
    # cos x - exp(-1/2): moments are exponentials.
    d = math.exp(-2) / 2 * -4 - 2 * math.exp(-1) * -1  # E (cos^2 - 2 mean cos) He_2 with E cos(k Z) He_2 = -k^2 exp(-k^2/2)
    cos = coordinate(Activation("cos"))
    assert math.sqrt(2) * cos.square[2] == pytest.approx(d, rel=1e-11)


def test_limits_are_reached() -> None:
    n = 2**13
    for sigma in ("relu", "cos", "softplus"):
        scaled = math.sqrt(n) * float(projection_skewness(sigma).exact({"N": n, "D": n}))
        assert scaled == pytest.approx(projection_skewness_limit(sigma), rel=20 / n)
    for ratio in (1, 2):
        scaled = n * float(projection_kurtosis("tanh").exact({"N": n, "D": n // ratio}))
        assert scaled == pytest.approx(projection_kurtosis_limit("tanh", ratio), rel=20 / n)


def test_error_gaps() -> None:
    """Without curvature there is no gap; for g = x^2 the gap is the cumulant itself."""
    assert error_gap_limit("2*erf(x)", "x") == pytest.approx(0, abs=1e-12)
    variance = coordinate(Activation("erf")).variance
    assert error_gap_limit("erf", "x**2") == pytest.approx(projection_kurtosis_limit("erf") * variance**2, rel=1e-11)
    assert localised_error_gap("erf", "x**2") == pytest.approx(coordinate(Activation("erf")).fourth, rel=1e-11)
    # g(x) = erf(x/sqrt 2) on a sign: erf(1/sqrt 2)^2 against 2/pi asin(1/2)
    expected = math.erf(math.sqrt(0.5)) ** 2 - 1 / 3
    assert localised_error_gap("sign(x)", "erf_scaled") == pytest.approx(expected, rel=1e-11)


def test_panels_end_at_kinks() -> None:
    nodes, weights = panels([0.3], -1.0, 1.0, 5.0)
    assert float(weights @ np.abs(nodes - 0.3)) == pytest.approx((1.3**2 + 0.7**2) / 2, rel=1e-14)
    without, other = panels([], -1.0, 1.0, 5.0)
    assert abs(float(other @ np.abs(without - 0.3)) - (1.3**2 + 0.7**2) / 2) > 1e-5


@pytest.mark.parametrize("ratio", [0, -1, float("inf"), True, "one", 1e13])
def test_bad_ratio(ratio: object) -> None:
    with pytest.raises(ValueError, match="ratio must be"):
        projection_kurtosis_limit("erf", ratio)


def test_constants_are_refused() -> None:
    with pytest.raises(ValueError, match="activation must depend on x"):
        read_activation("1/2 + x - x")


@pytest.mark.parametrize(("text", "a"), [("exp(x**2/9)", 1 / 9), ("exp(x**2/8.5)", 2 / 17), ("exp(x**2/8.01)", 1 / 8.01)])
def test_heavy_tails(text: str, a: float) -> None:
    """E exp(k a Z^2) = (1 - 2 k a)^(-1/2), and E exp(k a Z^2) (Z^2 - 1) = (1 - 2 k a)^(-3/2) 2 k a."""
    m = [1, *((1 - 2 * k * a) ** -0.5 for k in (1, 2, 3, 4))]
    slope = [0, *((1 - 2 * k * a) ** -1.5 * 2 * k * a for k in (1, 2))]
    variance, third = m[2] - m[1] ** 2, m[3] - 3 * m[1] * m[2] + 2 * m[1] ** 3
    raw4 = m[4] - 4 * m[1] * m[3] + 6 * m[1] ** 2 * m[2] - 3 * m[1] ** 4
    square = slope[2] - 2 * m[1] * slope[1]
    kurtosis = (raw4 - 3 * variance**2 + 1.5 * square**2) / variance**2
    assert projection_kurtosis_limit(text) == pytest.approx(kurtosis, rel=1e-10)
    he4 = (1 - 2 * a) ** -2.5 * 3 * (2 * a) ** 2  # E exp(a Z^2) He_4
    triples = slope[1] ** 3 + 0.75 * slope[1] ** 2 * he4
    skewness = (third + 1.5 * slope[1] * square + triples) / (variance + slope[1] ** 2 / 2) ** 1.5
    assert projection_skewness_limit(text) == pytest.approx(skewness, rel=1e-9)
    if a < 0.12:
        one = coordinate(Activation(text))
        assert one.fourth == pytest.approx(raw4 - 3 * variance**2, rel=1e-9)
        assert one.third == pytest.approx(third, rel=1e-9)


def test_infinite_means_are_named() -> None:
    for text in ("exp(x**2/7)", "exp(x**2/8)", "exp(x**2)"):
        with pytest.raises(ValueError, match=r"E sigma\(Z\)\^[24], .* is infinite"):
            projection_kurtosis_limit(text)
        with pytest.raises(ValueError, match=r"E sigma\(Z\)\^[24], .* is infinite"):
            coordinate(Activation(text))
    with pytest.raises(ValueError, match="infinite"):
        projection_skewness_limit("exp(x**2)")
    with pytest.raises(ValueError, match=r"E g\(sqrt\(Q\) Z\)\^2 He_4\(Z\), .* infinite"):
        error_gap_limit("x", "exp(x**2/3)")
    with pytest.raises(ValueError, match=r"E g\(sigma - E sigma\)\(field\)\^2, .* infinite"):
        localised_error_gap("x", "exp(x**2/3)")
    # What needs fewer moments is there.
    assert coordinate(Activation("exp(x**2/7)"), 3).variance == pytest.approx((1 - 4 / 7) ** -0.5 - 7 / 5, rel=1e-12)
    assert coordinate(Activation("exp(x**2/5)"), 2).variance == pytest.approx(5**0.5 - 5 / 3, rel=1e-12)


def test_steep_and_narrow_activations() -> None:
    """tanh(k x) is a sign but within 1/k of 0, where 1 - tanh^2 and 1 - tanh^4 have known integrals; a spike in closed form."""
    for k in (100, 10_000):
        one = coordinate(Activation(f"tanh({k}*x)"))
        density = 2 / k / math.sqrt(2 * math.pi)  # integral of 1 - tanh^2 is 2/k, of 1 - tanh^4 is 8/(3 k)
        assert one.variance == pytest.approx(1 - density, abs=2 / k**3)
        assert one.fourth + 3 * one.variance**2 == pytest.approx(1 - 4 / 3 * density, abs=4 / k**3)
    assert projection_kurtosis_limit("tanh(100*x)") == pytest.approx(-4.465136862, abs=1e-9)
    spike = coordinate(Activation("exp(-1000000*(x - 1)**2)"))
    assert spike.mean == pytest.approx(math.exp(-(10**6) / (1 + 2 * 10**6)) / math.sqrt(1 + 2 * 10**6), rel=1e-10)


def test_quadrature_agrees_with_enclosures() -> None:
    """The limits come from enclosures, coordinates from quadrature: the same numbers."""
    for text in ("relu", "softplus", "exp(x/2)", "tanh(5*x)", "x*exp(-x**2)", "max(-1/2, min(2, x))"):
        one = coordinate(Activation(text))
        pairs = float(one.square[2] ** 2 - 2 * one.linear[1] ** 4)
        assert projection_kurtosis_limit(text, 2) == pytest.approx((one.fourth + 6 * pairs) / one.variance**2, rel=1e-9, abs=1e-11)


def test_what_is_out_of_reach_is_said() -> None:
    with pytest.raises(NotConverged, match="too heavy tails"):
        coordinate(Activation("exp(x**2/8.01)"))
    with pytest.raises(NotConverged, match="range of floating-point numbers"):
        projection_kurtosis_limit("exp(30*x)")
    # No enclosure of ten digits, or none at all of the higher moments: by quadrature.
    softplus = projection_kurtosis_limit("log(1 + exp(20*x))")
    assert softplus == pytest.approx(projection_kurtosis_limit("relu"), rel=0.01)
    with pytest.raises(ValueError, match="rescale sigma"):
        coordinate(Activation("relu(x - 30)"))
    assert projection_kurtosis_limit("x + 1000000") == projection_skewness_limit("x + 1000000") == 0


def test_ratios_are_exact_numbers() -> None:
    assert projection_kurtosis_limit("tanh", "1/2") == projection_kurtosis_limit("tanh", 0.5)
    assert projection_skewness_limit("relu", np.float64(2)) == projection_skewness_limit("relu", "2")
    assert error_gap_limit("2*erf(x)", "erf_scaled", "1/2") == error_gap_limit("2*erf(x)", "erf_scaled", 0.5)
