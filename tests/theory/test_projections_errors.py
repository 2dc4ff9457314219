"""Prediction errors on generated data: two ways to the same gap, Gaussian generators, brute force over one generator."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

from theoryck.numerics.functions.activation import Activation
from theoryck.quantities import QuantityError
from theoryck.theory.projections.limits import error_gap_limit, localised_error_gap, prediction_error
from theoryck.theory.projections.proved import mean_square_output
from theoryck.theory.projections.quantities import signs_error_gap, student_error, student_error_gap

SIZES = {"N": 12, "D": 10}


def mean(quantity: object, count: int, sizes: dict[str, int] = SIZES, seed: int = 0) -> tuple[float, float]:
    values = quantity.draw(np.random.default_rng(seed), count, sizes)  # type: ignore[attr-defined]
    return float(values.mean()), float(values.std() / math.sqrt(count))


@pytest.mark.parametrize("sigma", ["2*erf(x)", "relu"])
def test_two_ways_to_the_gap_of_random_signs(sigma: str) -> None:
    direct, error = mean(student_error_gap(sigma, "signs"), 3000)
    nearly_exact, small = mean(signs_error_gap(sigma), 3000, seed=1)
    assert abs(direct - nearly_exact) < 4.5 * math.hypot(error, small)
    assert abs(nearly_exact) > 6 * error  # the gap is seen


@pytest.mark.parametrize("student", ["signs", "informed"])
def test_a_linear_generator_has_no_gap(student: str) -> None:
    gap, error = mean(student_error_gap("x", student, units=2), 1000)
    assert abs(gap) < 4.5 * error + 1e-12
    assert error < 1e-3


def test_a_linear_generator_has_no_gap_by_the_other_way() -> None:
    gap, error = mean(signs_error_gap("x"), 4000)
    assert abs(gap) < 4.5 * error


def test_mean_square_output_by_brute_force() -> None:
    """E erf(lambda/sqrt 2)^2 over generators and latent vectors, drawn without any of the formulas."""
    rng = np.random.default_rng(2)
    rows = rng.standard_normal((40_000, 12, 10))
    rows /= np.linalg.norm(rows, axis=2, keepdims=True)
    inputs = np.tanh(3 * np.einsum("kid,kd->ki", rows, rng.standard_normal((40_000, 10))))
    fields = (inputs * rng.choice([-1.0, 1.0], inputs.shape)).sum(axis=1) / math.sqrt(12)
    squares = Activation("erf_scaled")(fields) ** 2
    expected = mean_square_output(Activation("tanh(3*x)"), 12, 10)
    assert abs(squares.mean() - expected) < 4.5 * squares.std() / 200


def test_gap_tends_to_its_limit() -> None:
    n = 96
    gap, error = mean(signs_error_gap("2*erf(x)"), 1000, {"N": n, "D": n})
    limit = error_gap_limit("2*erf(x)", "erf_scaled")
    # Measured at N = 8: the next term is about -1/N of it.
    assert abs(n * gap - limit) < 4.5 * n * error + 2 * limit / n
    assert n * error < limit / 50


def test_localised_students_keep_their_gap() -> None:
    gap, error = mean(student_error_gap("2*erf(x)", "localised"), 2000, {"N": 96, "D": 96})
    assert abs(gap - localised_error_gap("2*erf(x)", "erf_scaled")) < 4.5 * error
    assert error < 2e-3


def test_error_of_an_informed_student() -> None:
    """At N = D = 64 the mean error is that of Gaussian fields with Q = Var + (2/pi) c_1^2, R = sqrt(2/pi) c_1, up to O(1/N)."""
    value, error = mean(student_error("erf", "informed"), 400, {"N": 64, "D": 64})
    slope, variance = 2 / math.sqrt(3 * math.pi), 2 / math.pi * math.asin(2 / 3)
    expected = prediction_error(variance + 2 / math.pi * slope**2, math.sqrt(2 / math.pi) * slope, 1, 1, 1)
    assert abs(value - expected) < 4.5 * error + 1 / 64
    assert abs(value - prediction_error(variance, 0, 1, 1, 1)) > 0.1


def test_control_variates_change_no_mean() -> None:
    sampler = student_error_gap("2*erf(x)", "informed").sampler(SIZES)
    values, controls = sampler.values(np.random.default_rng(3), 3000)
    stderrs = controls.std(axis=0) / math.sqrt(3000)
    assert (np.abs(controls.mean(axis=0)) < 4.5 * stderrs + 1e-12).all()
    assert (values - controls @ np.array(sampler.coefficients)).std() < values.std() / 2


def test_samplers_travel() -> None:
    for quantity in (student_error("erf"), signs_error_gap("relu")):
        sampler = quantity.sampler(SIZES)
        again = pickle.loads(pickle.dumps(sampler))
        np.testing.assert_array_equal(sampler(np.random.default_rng(4), 5), again(np.random.default_rng(4), 5))
        assert quantity.cost(SIZES) == sampler.cost


def test_errors_say_what_to_do() -> None:
    with pytest.raises(QuantityError, match="student must be one of 'signs', 'informed', 'localised', got 'aligned'"):
        student_error("erf", "aligned")
    with pytest.raises(QuantityError, match="units must be an integer between 1 and 8"):
        student_error_gap("erf", units=0)
    with pytest.raises(QuantityError, match="must be at least 8, got N=4 and D=10"):
        student_error("erf").sampler({"N": 4, "D": 10})
    with pytest.raises(QuantityError, match="activation must depend on x"):
        signs_error_gap("2")
    with pytest.raises(QuantityError, match="must be at least 8"):
        signs_error_gap("erf").sampler({"N": 4, "D": 10})


def test_steep_and_growing_generators() -> None:
    """Panels follow sigma: the integral of the nearly exact way against draws, where fixed panels missed the step or the growth."""
    for sigma in ("tanh(100*(x - 1))", "exp(x)"):
        direct, error = mean(student_error_gap(sigma, "signs"), 3000)
        nearly_exact, small = mean(signs_error_gap(sigma), 3000, seed=1)
        assert abs(direct - nearly_exact) < 4.5 * math.hypot(error, small)
    with pytest.raises(QuantityError, match="infinite"):
        signs_error_gap("exp(x**2/3)").sampler(SIZES)
    with pytest.raises(QuantityError, match="infinite"):
        student_error("exp(x**2/3)").sampler(SIZES)
