"""Equations of online learning: reference trajectories, two ways to the Gaussian means, spectra that mean the same, refusals."""

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from theoryck.numerics.errors import NotConverged
from theoryck.theory.dynamics import (
    OnlineTask,
    OrderParameters,
    deep_covariances,
    from_covariances,
    generator_coefficients,
    limits,
    linear_error,
    one_layer,
    online_means,
    trajectory,
)
from theoryck.theory.projections import prediction_error

DATA = Path(__file__).parents[1] / "data"
T, TEACHER = [[1, 0.3], [0.3, 1.2]], [1, 0.7]
Q, R, V = np.array([[0.6, 0.1], [0.1, 0.8]]), np.array([[0.3, 0.2], [-0.1, 0.5]]), np.array([0.5, -0.4])


def reference(name, student):
    """Task, start and rows of a file: the last axis of its arrays is the bin."""
    begin = json.loads((DATA / f"online_sgd_{name}_init.json").read_text())
    q, r, overlaps = (np.moveaxis(np.array(begin[key]), -1, 0) for key in ("q0", "r0", "tildet"))
    task = OnlineTask(
        begin["T"], begin["A"], begin["lr"], student, eigenvalues=begin["rhos"], overlaps=overlaps, delta=begin["delta"]
    )
    with (DATA / f"online_sgd_{name}_reference.csv").open() as file:
        return task, OrderParameters(q, r, begin["v0"]), list(csv.DictReader(file))


def largest_gap(found, rows):
    """The largest difference from a reference trajectory, over all times and columns."""
    gaps = []
    for place, row in enumerate(rows):
        for column, value in row.items():
            if column != "t":
                letter, *indices = (column, ()) if column == "eg" else (column[0], *map(int, column[1:]))
                entry = getattr(found, letter)[(place, *(() if column == "eg" else indices))]
                gaps.append(abs(float(entry) - float(value)))
    return max(gaps)


@pytest.mark.parametrize(("name", "student"), [("two_layer", "erf_scaled"), ("linear", "x")])
def test_reference_trajectories(name, student):
    """The files are known to about 1e-10, and so are these; 1e-9 is asked for."""
    task, start, rows = reference(name, student)
    found = trajectory(task, start, [float(row["t"]) for row in rows])
    assert len(rows) == 10
    assert largest_gap(found, rows) < 1e-9


def test_another_rate_would_be_seen():
    task, start, rows = reference("two_layer", "erf_scaled")
    other = OnlineTask(task.T, task.v_teacher, task.rate * 1.0001)
    assert largest_gap(trajectory(other, start, [float(row["t"]) for row in rows]), rows) > 1e-6


@pytest.mark.parametrize("step", [0.448, 0.35])
def test_arcsines_and_the_lattice_agree(step):
    """Closed forms against means over a lattice, for the same activation: the lattice has its digits at these steps."""
    task = OnlineTask(T, TEACHER, 0.2)
    both = limits._arcsine_means(task, Q, R, V), limits._lattice_means(task, Q, R, V, step)
    for name in ("h1", "h2", "h4", "h5", "h6", "outputs", "eg"):
        assert np.allclose(getattr(both[0], name), getattr(both[1], name), rtol=0, atol=1e-12), name


def test_a_coarse_lattice_is_told_from_a_fine_one():
    task = OnlineTask(T, TEACHER, 0.2)
    assert limits._gap(limits._arcsine_means(task, Q, R, V), limits._lattice_means(task, Q, R, V, 1.0)) > 1e-6


def test_means_of_polynomials():
    """g = x^3: E g'' g = 6 E u w^3 = 18 C B, E g' g' = 9 (A B + 2 C^2), by Wick's theorem."""
    found = online_means(OnlineTask(T, TEACHER, 0.2, "x**3"), Q, R, V)
    a, b, c = Q[0, 0], Q[1, 1], Q[0, 1]
    assert found.h1[0, 1] == pytest.approx(18 * c * b, rel=1e-10)
    assert found.h2[0, 1] == pytest.approx(9 * (a * b + 2 * c * c), rel=1e-10)


def test_means_of_uneven_activations():
    """g = e^x on the student, 1 + x on the teacher: E e^u = e^(A/2), E e^u w = C e^(A/2)."""
    found = online_means(OnlineTask(1, 1, 0.1, "exp(x)", "1 + x"), 0.5, 0.2, 1)
    assert found.h4[0, 0] == pytest.approx(math.exp(0.25) * (1 + 0.2), rel=1e-9)
    assert found.h2[0, 0] == pytest.approx(math.exp(1.0), rel=1e-9)


def test_means_of_relu():
    """E relu' relu' = 1/4 + asin(rho)/(2 pi), E relu'' relu(w) = 0 at u = 0 where w = 0, E relu^2 = Q/2; and E relu'' (x) of the
    teacher by its kink: E delta(u) relu(w) = (2 pi Q)^(-1/2) (Var(w given u)/(2 pi))^(1/2)."""
    q, r, t = 0.6, 0.3, 1.2
    found = online_means(OnlineTask(t, 1, 0.1, "relu"), q, r, 0.7)
    assert found.h5[0, 0] == pytest.approx(0.25 + math.asin(r / math.sqrt(q * t)) / (2 * math.pi), abs=1e-12)
    assert found.h2[0, 0] == pytest.approx(0.5, abs=1e-12)
    assert found.h1[0, 0] == pytest.approx(0.0, abs=1e-12)
    assert found.h4[0, 0] == pytest.approx(math.sqrt((t - r * r / q) / q) / (2 * math.pi), abs=1e-12)


@pytest.mark.parametrize("student", ["tanh", "sin"])
def test_panels_and_the_lattice_agree(student):
    """One unit against one, a smooth activation: both ways to the means, in all of them."""
    task, q, r, v = OnlineTask(1.2, 0.8, 0.2, student), np.array([[0.6]]), np.array([[0.3]]), np.array([0.7])
    assert limits._gap(limits._panel_means(task, q, r, v), limits._lattice_means(task, q, r, v, 0.1)) < 1e-11


@pytest.mark.parametrize("student", ["erf_scaled", "tanh"])
def test_the_error_is_that_of_the_prediction_formula(student):
    found = online_means(OnlineTask(T, TEACHER, 0.2, student), Q, R, V).eg
    assert found == pytest.approx(prediction_error(Q, R, T, V, TEACHER, student, half=True), rel=1e-8)


def test_equal_eigenvalues_are_one():
    """Bins with the same eigenvalue and different starts: Q, R and v are those of one bin with the mean start."""
    q = np.array([[[0.1, 0.0], [0.0, 0.3]], [[0.3, 0.04], [0.04, 0.2]]])
    r = np.array([[[0.2, 0.0], [0.0, 0.0]], [[0.0, -0.1], [0.06, 0.16]]])
    many = trajectory(OnlineTask(T, TEACHER, 0.4, eigenvalues=[1, 1]), OrderParameters(q, r, V), [1, 4])
    one = trajectory(OnlineTask(T, TEACHER, 0.4), OrderParameters(q.mean(axis=0), r.mean(axis=0), V), [1, 4])
    for name in ("Q", "R", "v", "eg"):
        assert np.allclose(getattr(many, name), getattr(one, name), rtol=0, atol=1e-10)


def test_units_of_inputs_do_not_matter():
    """x -> s x, w -> w/s, eta -> eta/s^2: the same fields at all times, with rho s^2 for rho."""
    s, overlaps = 2.0, np.array([[[0.5]], [[1.5]]])
    start = np.array([[[0.3]], [[0.5]]]), np.array([[[0.1]], [[0.2]]])
    one = OnlineTask(1, 1, 0.4, eigenvalues=[0.5, 1.5], overlaps=overlaps, readout_rate=0)
    two = OnlineTask(1, 1, 0.4 / s**2, eigenvalues=[2.0, 6.0], overlaps=overlaps * s**2, readout_rate=0)
    first = trajectory(one, OrderParameters(*start, [1]), [2, 5])
    # q -> q/s^2, r -> r (Gamma -> Gamma/s, W -> W s)
    second = trajectory(two, OrderParameters(start[0] / s**2, start[1], [1]), [2, 5])
    assert np.allclose(first.eg, second.eg, rtol=0, atol=1e-10)


def test_linear_student_on_a_spectrum():
    """g = x, K = M = 1, v = 1: dr = eta rho (t~/rho - r), dq = 2 eta (r - rho q) + eta^2 rho 2 eg, integrated apart."""
    rho, overlaps, eta = np.array([0.5, 2.0]), np.array([0.7, 1.3]), 0.3
    task = OnlineTask(2.0, 1, eta, "x", eigenvalues=rho, overlaps=overlaps[:, None, None], readout_rate=0)

    def slope(_, y):
        q, r = y[:2], y[2:]
        error = (rho * q).mean() - 2 * r.mean() + 2.0
        return np.concatenate([2 * eta * (r - rho * q) + eta**2 * rho * error, eta * (overlaps - rho * r)])

    start = np.array([0.4, 0.6, 0.1, -0.2])
    solved = solve_ivp(slope, (0, 5), start, method="LSODA", rtol=1e-12, atol=1e-14).y[:, -1]
    found = trajectory(task, OrderParameters(start[:2, None, None], start[2:, None, None], [1]), [5])
    assert np.allclose([*found.q.ravel(), *found.r.ravel()], solved, rtol=0, atol=1e-9)


def test_linear_students_diverge_above_two():
    assert linear_error(2.5, 1.0) > 1 > linear_error(1.5, 1.0)
    task = OnlineTask(1, 1, 10.0, "x", readout_rate=0)
    with pytest.raises(NotConverged, match="diverges before t = 20 at the rate 10"):
        trajectory(task, OrderParameters(0.3, 0.1, 1), [20])


# Generators ------------------------------------------------------------------------------------------------------------------


def test_matrices_and_the_limiting_law_agree():
    """One layer at N = D = 200, its own matrices and weights, against the law of Marchenko and Pastur: apart by about N^(-1/2)."""
    rng, n = np.random.default_rng(0), 200
    omega, phi = deep_covariances(rng, "erf", [n, n])
    _, b, _ = generator_coefficients("erf")
    teacher = rng.standard_normal((1, n))
    weights = 0.5 * rng.standard_normal((1, n)) + 0.5 * teacher @ phi.T / b
    drawn = trajectory(*from_covariances(omega, phi, weights, teacher, v=[1], v_teacher=[1], rate=0.3, readout_rate=0), [1, 4])
    limit = trajectory(*one_layer("erf", 1.0, 0.3, spread=0.5, aligned=[0.5]), [1, 4])
    assert np.abs(drawn.eg / limit.eg - 1).max() < 5 / math.sqrt(n)


def test_second_moments_of_matrices():
    """Q = W Omega W^T/N and R = W Phi W~^T/sqrt(N D), whatever the eigenbasis."""
    rng = np.random.default_rng(1)
    omega, phi = deep_covariances(rng, "3*tanh(x)", [5, 7, 4])
    weights, teacher = rng.standard_normal((2, 4)), rng.standard_normal((3, 5))
    task, start = from_covariances(omega, phi, weights, teacher, v=[1, 1], v_teacher=[1, 1, 1], rate=0.1)
    q, r = task.summed(start.q, start.r)
    assert np.allclose(q, weights @ omega @ weights.T / 4)
    assert np.allclose(r, weights @ phi @ teacher.T / math.sqrt(20))
    assert np.allclose(task.T, teacher @ teacher.T / 5)


def test_coefficients_of_a_layer():
    """relu: E = 1/sqrt(2 pi), E sigma' = 1/2, E sigma^2 = 1/2; at another variance they scale."""
    a, b, c = generator_coefficients("relu", 4.0)
    assert a == pytest.approx(2 / math.sqrt(2 * math.pi), rel=1e-15)
    assert b == pytest.approx(0.5, rel=1e-15)
    assert c == pytest.approx(math.sqrt(2 - 4 / (2 * math.pi) - 1), rel=1e-14)


# Refusals --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: OnlineTask([[1, 0.3], [0.2, 1]], [1, 1], 0.1), "T must be symmetric"),
        (lambda: OnlineTask([[1, 0.3j], [-0.3j, 1]], [1, 1], 0.1), "T must be an array of real numbers"),
        (lambda: OnlineTask(1, 1, 0), "rate must be a number > 0"),
        (lambda: OnlineTask(1, 1, 0.1, eigenvalues=[-1, 1]), "eigenvalues must be >= 0"),
        (lambda: OnlineTask(1, 1, 0.1, eigenvalues=[1, 2], weights=[1, 1]), "weights must be >= 0 and have the sum 1"),
        (lambda: OnlineTask(0.5, 1, 0.1, eigenvalues=[0.5, 1.5], overlaps=[[[1]], [[1]]]), "T must be at least"),
        (lambda: OnlineTask(1, 1, 0.1, overlaps=-1), "overlaps must be positive semidefinite"),
        (lambda: OnlineTask(1, 1, 0.1, eigenvalues=[0, 1], overlaps=[[[1]], [[1]]]), "overlaps must be 0 where the eigenvalue is"),
        (lambda: OnlineTask(1, 1, 0.1, delta=1.7), "overlaps must be given where delta is not 1, got delta = 1.7"),
        (lambda: OnlineTask(0, 1, 0.1), "T must have a diagonal > 0"),
        (lambda: OnlineTask(1, [], 0.1), "v_teacher must hold at least one number"),
        (lambda: OnlineTask(1, 1, 0.1, 3), "student must be an activation"),
        (
            lambda: from_covariances(np.eye(2), 5 * np.eye(2), [[1, 0]], [[1, 1]], v=[1], v_teacher=[1], rate=0.1),
            "T must be at least",
        ),
        (
            lambda: trajectory(
                OnlineTask(1, 1, 0.1, eigenvalues=[0.5, 1.5]), OrderParameters([[[0.01]], [[0.6]]], [[[0.5]], [[0]]], 1), [1]
            ),
            "in bin 0: no weights have these products",
        ),
        (lambda: OnlineTask(1, 1, 0.1, "sign(x)"), "student must be continuous, got 'sign"),
        (lambda: OnlineTask(1, [1, 1], 0.1), r"T must have the shape \(2, 2\)"),
        (lambda: OrderParameters(0.3, 0.1, [1, 1]), r"q must have the shape \(any, 2, 2\)"),
        (lambda: OrderParameters(math.nan, 0.1, 1), "q must hold finite numbers"),
        (lambda: trajectory(OnlineTask(1, 1, 0.1), OrderParameters(0.3, 2, 1), [1]), "positive semidefinite"),
        (lambda: trajectory(OnlineTask(1, 1, 0.1), OrderParameters(0.3, 0.1, 1), [2, 1]), "times must increase"),
        (
            lambda: trajectory(OnlineTask(1, 1, 0.1, eigenvalues=[1, 2]), OrderParameters(0.3, 0.1, 1), [1]),
            "must have 2 bins",
        ),
        (
            lambda: trajectory(OnlineTask(np.eye(2), [1, 1], 0.1, "max(x, 0)**2"), OrderParameters(0.3, [[[0.1, 0]]], 1), [1]),
            "must be smooth",
        ),
        (
            lambda: trajectory(OnlineTask(1, 1, 0.1, "x", "sign(x)"), OrderParameters(0.3, 0.1, 1), [1]),
            "teacher must be continuous",
        ),
        (lambda: trajectory(OnlineTask(1, 1, 0.1, "tanh(90*x)"), OrderParameters(0.3, 0.1, 1), [1]), "not resolved by lattices"),
        (lambda: one_layer("cos(x)", 1.0, 0.1), "activation must have E sigma' != 0"),
        (lambda: deep_covariances(np.random.default_rng(0), "erf", [3]), "widths must be"),
    ],
)
def test_refusals(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_equations_that_take_too_long_are_given_up(monkeypatch):
    assert limits.EFFORT == 10  # seconds
    monkeypatch.setattr(limits, "EFFORT", 0.5)
    with pytest.raises(ValueError, match=r"take more than about 0\.5 s, and are given up at t = "):
        trajectory(OnlineTask(1, 1, 1e6), OrderParameters(0.3, 0.1, 1), [1])
