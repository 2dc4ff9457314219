"""Prediction error from second moments of fields: reference values, quadrature of another kind, closed forms, bad input."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pytest

from theoryck.asymptotics import prediction_error
from theoryck.asymptotics.prediction_errors import gaussian_kernel
from theoryck.models import Activation

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
    assert gaussian_kernel(relu, relu, a, c, b) == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize("c", [-0.7, 0.0, 0.4])
def test_smooth_pair_against_gauss_hermite(c: float) -> None:
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    weights = weights / weights.sum()
    a, b = 0.8, 1.3
    u = math.sqrt(a) * nodes[:, None]
    w = c / math.sqrt(a) * nodes[:, None] + math.sqrt(b - c * c / a) * nodes
    expected = weights @ (np.sin(2 * u) * np.exp(-(w**2) / 2) * w) @ weights
    assert gaussian_kernel(Activation("sin(2*x)"), Activation("x*exp(-x**2/2)"), a, c, b) == pytest.approx(expected, abs=1e-12)


def test_step_and_relu() -> None:
    """E relu(u) sign(w) = c/sqrt(2 pi b): a kink and a jump; by Stein's identity E u sign(w) is twice that."""
    value = gaussian_kernel(Activation("relu"), Activation("sign(x)"), 1.0, 0.6, 2.0)
    assert value == pytest.approx(0.6 / math.sqrt(2 * math.pi * 2), abs=1e-12)


def test_a_field_that_is_zero() -> None:
    cos = Activation("cos(x)")
    assert gaussian_kernel(cos, cos, 0.0, 0.0, 1.0) == pytest.approx(math.exp(-0.5), abs=1e-14)
    assert gaussian_kernel(cos, cos, 1.0, 0.0, 0.0) == pytest.approx(math.exp(-0.5), abs=1e-14)
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
        ((1, [0, 0], 1, 1, 1), r"R must hold 1 x 1 finite numbers"),
        ((1, 0, 1, [1, 2], 1), r"v must hold 1 finite numbers"),
        ((1, 0, 1, 1, [1, 2]), r"v_teacher must hold 1 finite numbers"),
        ((float("nan"), 0, 1, 1, 1), r"Q must be a square matrix of finite numbers"),
    ],
)
def test_bad_arguments(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        prediction_error(*arguments)  # type: ignore[arg-type]


def test_bad_activation_is_named() -> None:
    with pytest.raises(ValueError, match="teacher must be an activation"):
        prediction_error(1, 0, 1, 1, 1, teacher="no_such(x)")
    with pytest.raises(ValueError, match=r"c\^2 <= a b"):
        gaussian_kernel(Activation("x"), Activation("x"), 1, 2, 1)


def test_singular_covariances_are_taken() -> None:
    """A student that is its teacher, and rank one fields: least eigenvalues of zero come out at rounding."""
    assert prediction_error(2, 2, 2, 1, 1, student="tanh") == pytest.approx(0, abs=1e-14)
    direction = np.array([1.0, 1 / 3, -0.7])
    whole = np.outer(direction, direction)
    assert prediction_error(whole[:2, :2], whole[:2, 2:], whole[2:, 2:], [1, 1], [1]) > 0
