"""Prediction error from second moments of fields: reference values, quadrature of another kind, closed forms, bad input."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import mpmath
import numpy as np
import pytest

from theoryck.numerics.errors import NotConverged
from theoryck.numerics.functions.activation import Activation
from theoryck.theory.projections.limits import gaussian_kernel, prediction_error

DATA = Path(__file__).parent.parent / "data"
T = [[1.0, 0.3], [0.3, 1.2]]


def rows(name: str) -> list[dict[str, float]]:
    with (DATA / name).open() as file:
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]


def of_row(row: dict[str, float], **options: object) -> float:
    q = [[row["Q00"], row["Q01"]], [row["Q01"], row["Q11"]]]
    r = [[row["R00"], row["R01"]], [row["R10"], row["R11"]]]
    return prediction_error(q, r, T, [row["v0"], row["v1"]], [1, 1], **options)  # type: ignore[arg-type]


def test_two_layer_reference() -> None:
    for row in rows("online_sgd_two_layer_reference.csv"):
        assert of_row(row, half=True) == pytest.approx(row["eg"], abs=1e-13)
        assert of_row(row) == pytest.approx(2 * row["eg"], abs=2e-13)


def test_linear_reference_by_quadrature() -> None:
    for row in rows("online_sgd_linear_reference.csv"):
        value = prediction_error(row["Q00"], row["R00"], 1, row["v0"], 1, student="x", half=True)
        assert value == pytest.approx(row["eg"], abs=1e-12)


def test_wrong_overlap_is_seen() -> None:
    row = rows("online_sgd_two_layer_reference.csv")[3]
    assert abs(of_row({**row, "R00": row["R11"], "R11": row["R00"]}, half=True) - row["eg"]) > 1e-3


def test_quadrature_agrees_with_arcsine() -> None:
    """The general route on a text that is erf(x/sqrt 2) in other words."""
    row = rows("online_sgd_two_layer_reference.csv")[-1]
    other = Activation("1 - erfc(x/sqrt(2))")
    assert other != Activation("erf_scaled")
    assert of_row(row, student=other, half=True) == pytest.approx(row["eg"], abs=1e-13)


@pytest.mark.parametrize("moments", [(1, 0.5, 1), (2, -1.3, 1.5), (1, 0.9999, 1), (1, 1 - 1e-8, 1), (1, 1, 1), (0.3, 0.2, 4)])
def test_relu_kernel_is_the_arc_cosine_kernel(moments: tuple[float, float, float]) -> None:
    a, c, b = moments
    rho = c / math.sqrt(a * b)
    expected = math.sqrt(a * b) * (math.sqrt(1 - rho**2) + rho * (math.pi - math.acos(rho))) / (2 * math.pi)
    relu = Activation("relu")
    assert gaussian_kernel(relu, relu, a, c, b)[0] == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize("c", [-0.7, 0.0, 0.4])
def test_smooth_pair_against_gauss_hermite(c: float) -> None:
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    weights = weights / weights.sum()
    a, b = 0.8, 1.3
    u = math.sqrt(a) * nodes[:, None]
    w = c / math.sqrt(a) * nodes[:, None] + math.sqrt(b - c * c / a) * nodes
    expected = weights @ (np.sin(2 * u) * np.exp(-(w**2) / 2) * w) @ weights
    assert gaussian_kernel(Activation("sin(2*x)"), Activation("x*exp(-x**2/2)"), a, c, b)[0] == pytest.approx(expected, abs=1e-12)


def test_step_and_relu() -> None:
    """E relu(u) sign(w) = c/sqrt(2 pi b): a kink and a jump; by Stein's identity E u sign(w) is twice that."""
    value = gaussian_kernel(Activation("relu"), Activation("sign(x)"), 1.0, 0.6, 2.0)[0]
    assert value == pytest.approx(0.6 / math.sqrt(2 * math.pi * 2), abs=1e-12)


def test_a_field_that_is_zero() -> None:
    cos = Activation("cos(x)")
    assert gaussian_kernel(cos, cos, 0.0, 0.0, 1.0)[0] == pytest.approx(math.exp(-0.5), abs=1e-14)
    assert gaussian_kernel(cos, cos, 1.0, 0.0, 0.0)[0] == pytest.approx(math.exp(-0.5), abs=1e-14)
    assert prediction_error([[0.0]], [[0.0]], [[1.0]], [1], [1]) == pytest.approx(1 / 3, abs=1e-15)


def test_different_numbers_of_units() -> None:
    """K = 3 students equal to M = 1 teacher: pmse = (sum v - v~)^2/3 at unit variance."""
    ones = np.ones((3, 3))
    assert prediction_error(ones, np.ones((3, 1)), 1, [0.5, 0.25, 0.75], [1]) == pytest.approx(0.25 / 3, abs=1e-15)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, 2, 1, 1, 1), r"positive semidefinite, its least eigenvalue is -1"),
        (([[1, 0.5], [0.4, 1]], [[0], [0]], 1, [1, 1], [1]), r"Q must be symmetric"),
        (([[1, 0, 0], [0, 1, 0]], [[0], [0]], 1, [1, 1], [1]), r"Q must be a square matrix"),
        ((1, [0, 0], 1, 1, 1), r"R must hold 1 x 1 numbers"),
        ((1, 0, 1, [1, 2], 1), r"v must hold 1 numbers"),
        ((1, 0, 1, 1, [1, 2]), r"v_teacher must hold 1 numbers"),
        ((float("nan"), 0, 1, 1, 1), r"Q must be a square matrix of numbers of size at most 1e"),
    ],
)
def test_bad_arguments(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        prediction_error(*arguments)  # type: ignore[arg-type]


def test_bad_activation_is_named() -> None:
    with pytest.raises(ValueError, match="teacher must be an activation"):
        prediction_error(1, 0, 1, 1, 1, teacher="no_such(x)")


def test_singular_covariances_are_taken() -> None:
    """A student that is its teacher, and rank one fields: least eigenvalues of zero come out at rounding."""
    assert prediction_error(2, 2, 2, 1, 1, student="tanh") == pytest.approx(0, abs=1e-14)
    direction = np.array([1.0, 1 / 3, -0.7])
    whole = np.outer(direction, direction)
    assert prediction_error(whole[:2, :2], whole[:2, 2:], whole[2:, 2:], [1, 1], [1]) > 0


@pytest.mark.parametrize("steepness", [1, 20, 50, 1000])
def test_steep_outputs(steepness: int) -> None:
    """erf(k x): the arcsine formula at variances 2 k^2, by a text that goes through quadrature."""
    k = 2 * steepness**2
    expected = 4 / math.pi * (math.asin(k / (1 + k)) - math.asin(k / 2 / (1 + k)))
    assert prediction_error(1, 0.5, 1, 1, 1, f"erf({steepness}*x)") == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("variance", [1, 10, 20, 50, 200])
def test_exponential_outputs(variance: float) -> None:
    """E e^u e^w = exp((Q + 2R + T)/2): the window of the integrand is far from 0."""
    expected = 2 * math.exp(2 * variance) - 2 * math.exp(1.5 * variance)
    assert prediction_error(variance, variance / 2, variance, 1, 1, "exp(x)") == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("rate", [0.2, 2 / 9])
def test_outputs_with_heavy_tails(rate: float) -> None:
    """E exp(a (u^2 + w^2)) = det(1 - 2 a Sigma)^(-1/2), as long as it is finite."""
    text = f"exp({'1/5' if rate == 0.2 else '2/9'}*x**2)"
    expected = 2 / math.sqrt(1 - 4 * rate) - 2 / math.sqrt((1 - 2 * rate) ** 2 - rate**2)
    assert prediction_error(1, 0.5, 1, 1, 1, text) == pytest.approx(expected, rel=1e-12)


def test_infinite_errors_are_named() -> None:
    for text in ("exp(x**2)", "exp(x**2/4)"):
        with pytest.raises(ValueError, match=r"E activation\(field\)\^2, .* is infinite"):
            prediction_error(1, 0.5, 1, 1, 1, text)
    with pytest.raises(NotConverged, match="too heavy tails"):
        prediction_error(1, 0.5, 1, 1, 1, "exp(x**2/4.1)")  # finite, but out of reach
    with pytest.raises(NotConverged, match="vary too fast"):
        prediction_error(1, 0.5, 1, 1, 1, "sin(300*x)")
    with pytest.raises(ValueError, match=r"v must hold 1 numbers of size at most 1e\+30, one for every row of Q, got 1e\+200"):
        prediction_error(1, 0.5, 1, 1e200, 1)


@pytest.mark.parametrize("distance", [1e-4, 1e-8, 1e-12, 2.3e-16])
def test_nearly_equal_fields(distance: float) -> None:
    """R -> Q = T = 1: arcsines in 60 digits, arc cosines for a sign and relu, by routes that do not know them."""
    overlap = 1 - distance
    with mpmath.workdps(60):
        rho = mpmath.mpf(overlap)
        erf = float(4 / mpmath.pi * (mpmath.asin(mpmath.mpf(1) / 2) - mpmath.asin(rho / 2)))
        sign = float(4 / mpmath.pi * mpmath.acos(rho))
        relu = float(1 - (mpmath.sqrt(1 - rho**2) + rho * (mpmath.pi - mpmath.acos(rho))) / mpmath.pi)
    assert prediction_error(1, overlap, 1, 1, 1) == pytest.approx(erf, rel=1e-14)
    for text, expected in (("1 - erfc(x/sqrt(2))", erf), ("sign(x)", sign), ("relu", relu), ("x", 2 * (1 - overlap))):
        assert prediction_error(1, overlap, 1, 1, 1, text) == pytest.approx(expected, rel=1e-9)


def test_nearly_equal_units() -> None:
    """Orthogonal pairs are errors of their own; what cancels among correlated ones is not returned as a number."""
    identity, overlaps = np.eye(2), (1 - 1e-9) * np.eye(2)
    one = prediction_error(1, 1 - 1e-9, 1, 1, 1)
    for text in ("erf_scaled", "1 - erfc(x/sqrt(2))"):
        assert prediction_error(identity, overlaps, identity, [1, 2], [1, 2], text) == pytest.approx(5 * one, rel=1e-9)
        assert prediction_error(identity, identity, identity, [1, 2], [1, 2], text) == 0
    moments = np.array([[1, 0.5], [0.5, 1]])
    with pytest.raises(NotConverged, match="cancel"):
        prediction_error(moments, moments - 1e-14 * np.eye(2), moments, [1, 2], [1, 2], "1 - erfc(x/sqrt(2))")


def test_fields_of_any_size() -> None:
    for variance in (1e10, 1e30):
        assert prediction_error(variance, variance / 2, variance, 1, 1) == pytest.approx(4 / 3, rel=1e-4)
    assert prediction_error(1e10, 5e9, 1e10, 1, 1, "tanh(x)") == pytest.approx(4 / 3, rel=1e-4)
    assert prediction_error(1, 0.5, 1, 1e30, 1e30, "x") == pytest.approx(1e60, rel=1e-12)
    # Rounded moments of two fields that are one.
    assert prediction_error(1, 1 + 1e-13, 1, 1, 1) == prediction_error(1, 1 + 1e-13, 1, 1, 1, "tanh(x)") == 0


def test_a_spike_is_seen() -> None:
    """exp(-k (x-1)^2), narrower than any panel; the two fields are almost never in it together."""
    k = 10**6
    square = math.exp(-2 * k / (1 + 4 * k)) / math.sqrt(1 + 4 * k)
    both = 1 / (2 * k * math.sqrt(0.75)) * math.exp(-2 / 3)  # density of (1, 1) times the area pi/k
    assert prediction_error(1, 0.5, 1, 1, 1, f"exp(-{k}*(x - 1)**2)") == pytest.approx(2 * (square - both), rel=1e-8)


def test_exact_numbers_are_taken() -> None:
    assert prediction_error("1", "1/2", 1, np.int64(1), "1") == prediction_error(1, 0.5, 1, 1, 1)
    with pytest.raises(ValueError, match="an entry of R must be a number, got 'half'"):
        prediction_error(1, "half", 1, 1, 1)
    with pytest.raises(ValueError, match="rows of equally many numbers"):
        prediction_error([[1, 2], [3]], 0, 1, 1, 1)
