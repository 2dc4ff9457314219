"""Means of piecewise linear networks: panels for one unit each, conditional integrals for four fields, equal weights, refusals."""

import math

import numpy as np
import pytest
from scipy.special import ndtr

from theoryck.numerics.functions import Activation
from theoryck.theory.dynamics import OnlineTask, OrderParameters, limits, online_means, trajectory
from theoryck.theory.dynamics.linear_pieces import linear_pieces

T, TEACHER = np.array([[1, 0.3], [0.3, 1.2]]), np.array([1, 0.7])
Q, R, V = np.array([[0.6, 0.1], [0.1, 0.8]]), np.array([[0.3, 0.2], [-0.1, 0.5]]), np.array([0.5, -0.4])
HARD_TANH = "max(-1, min(1, x))"
NAMES = ("h1", "h2", "h4", "h5", "h6", "outputs", "eg")


@pytest.mark.parametrize("student", ["relu", "abs(x)", "max(x, x/5)", HARD_TANH, "max(x - 0.3, 0)"])
def test_one_unit_each_by_panels(student):
    """The same means by quadrature over panels that end at kinks."""
    task, q, r, v = OnlineTask(1.2, 0.8, 0.2, student), np.array([[0.6]]), np.array([[0.3]]), np.array([0.7])
    found = online_means(task, q, r, v)
    assert limits._gap(limits._panel_means(task, q, r, v), found) < 1e-13


def shifted(student, mean, deviation):
    """E f(m + s z) and E f'(m + s z) of hard tanh or relu."""
    kinks, jumps, base = ((-1.0, 1.0), (1.0, -1.0), -1.0) if student == HARD_TANH else ((0.0,), (1.0,), 0.0)
    value, slope = np.full_like(mean, base), np.zeros_like(mean)
    for kink, jump in zip(kinks, jumps):
        z = (mean - kink) / deviation
        value += jump * ((mean - kink) * ndtr(z) + deviation * np.exp(-z * z / 2) / math.sqrt(2 * math.pi))
        slope += jump * ndtr(z)
    return value, slope, kinks, jumps


def by_conditioning(student, whole):
    """E g'(a) g'(b) g(c) g(d): Gauss over (a, b), where g' = 1, and E g g = E g E g + S E g' E g' + int_0^S (S - s) E_s g'' g'' ds
    given these (Price's theorem twice), S = Cov(c, d given a, b)."""
    z, w = np.polynomial.legendre.leggauss(160)
    low, high = (-1.0, 1.0) if student == HARD_TANH else (0.0, 9.0)
    a, weights = low + (high - low) * (1 + z) / 2, (high - low) / 2 * w
    first, second = np.meshgrid(a, a, indexing="ij")
    pair = whole[:2, :2]
    inverse, given = np.linalg.inv(pair), whole[2:, :2] @ np.linalg.inv(pair)
    density = np.exp(-(inverse[0, 0] * first**2 + 2 * inverse[0, 1] * first * second + inverse[1, 1] * second**2) / 2)
    density *= math.sqrt(np.linalg.det(inverse)) / (2 * math.pi)
    left = whole[2:, 2:] - given @ whole[:2, 2:]
    means = [given[k, 0] * first + given[k, 1] * second for k in range(2)]
    (f, f1, kinks, jumps), (g, g1, _, _) = (shifted(student, means[k], math.sqrt(left[k, k])) for k in range(2))
    total = f * g + left[0, 1] * f1 * g1
    for node, weight in zip((1 + z) / 2, w / 2):
        s = node * left[0, 1]
        det = left[0, 0] * left[1, 1] - s * s
        for kink, jump in zip(kinks, jumps):
            for other, leap in zip(kinks, jumps):
                x, y = kink - means[0], other - means[1]
                form = (left[1, 1] * x * x - 2 * s * x * y + left[0, 0] * y * y) / det
                total += weight * left[0, 1] * (left[0, 1] - s) * jump * leap * np.exp(-form / 2) / (2 * math.pi * math.sqrt(det))
    return float(weights @ (density * total) @ weights)


@pytest.mark.parametrize("student", ["relu", HARD_TANH])
@pytest.mark.parametrize("closeness", [0.0, 0.9])
def test_four_fields_by_conditioning(student, closeness):
    """E g'(1) g'(2) g(nu^1) g(nu^2) from h6 at three second layers of the teacher, against integrals that share no code."""
    # On the way from (Q, R) to the teacher itself
    q, r = (1 - closeness) * Q + closeness * T, (1 - closeness) * R + closeness * T
    whole = np.block([[q, r], [r.T, T]])

    def noise(first, second):
        return online_means(OnlineTask(T, [first, second], 1, student), q, r, [1e-30, 1e-30]).h6[0, 1]

    value = (noise(1, 1) - noise(1, -1)) / 4
    assert value == pytest.approx(by_conditioning(student, whole), abs=2e-11)
    assert abs(value) > 1e-3


def test_a_student_that_is_the_teacher_makes_no_error():
    """Correlations 1: everything that has Delta in it is 0 to rounding."""
    for student in ("relu", HARD_TANH):
        found = online_means(OnlineTask(T, TEACHER, 1, student), T, T, TEACHER)
        assert abs(found.eg) < 1e-14
        assert np.abs(found.h6).max() < 1e-12
        assert np.abs(found.outputs).max() < 1e-14


def test_units_split_in_two():
    """One student of weight v as two equal ones of v/2: means of the sum are the same, correlation 1, which rounding gives to
    1e-16; the product of two slopes has the root of what is missing, 1e-8, times sums of about 4."""
    one = online_means(OnlineTask(T, TEACHER, 1, "abs(x)"), Q[:1, :1], R[:1], [0.6])
    two = online_means(OnlineTask(T, TEACHER, 1, "abs(x)"), np.full((2, 2), Q[0, 0]), np.tile(R[:1], (2, 1)), [0.3, 0.3])
    assert two.h6 == pytest.approx(np.full((2, 2), one.h6[0, 0]), abs=1e-7)
    assert two.outputs == pytest.approx(np.full(2, one.outputs[0]), rel=1e-12)
    assert two.eg == pytest.approx(one.eg, rel=1e-12)


def test_a_leaky_relu_of_slope_one_is_linear():
    """max(x, a x) with a = 1 is x: a student near it has the means of a linear one."""
    leaky = online_means(OnlineTask(T, TEACHER, 1, "max(x, 999999*x/1000000)"), Q, R, V)
    line = online_means(OnlineTask(T, TEACHER, 1, "x"), Q, R, V)
    for name in NAMES:
        assert np.allclose(getattr(leaky, name), getattr(line, name), rtol=0, atol=1e-5), name


def test_trajectories_are_what_the_means_say():
    """The derivative at t = 0 by a difference of order 4, and v along: dv/dt = -eta E Delta g."""
    start = OrderParameters(Q, R, V)
    task, step = OnlineTask(T, TEACHER, 0.3, HARD_TANH), 0.01
    found = trajectory(task, start, [step * k for k in range(5)])
    slope = (-25 * found.v[0] + 48 * found.v[1] - 36 * found.v[2] + 16 * found.v[3] - 3 * found.v[4]) / (12 * step)
    assert slope == pytest.approx(-0.3 * online_means(task, Q, R, V).outputs, abs=1e-6)


def test_scales_do_not_matter():
    """relu(s u) = s relu(u): fields and second layers that are scaled against each other give the same error at all times."""
    s, rate = 2.0, 0.3
    start = OrderParameters(Q, R, V)
    one = trajectory(OnlineTask(T, TEACHER, rate, "relu", readout_rate=0), start, [2, 5])
    # w -> s w, v -> v/s: the gradient in w is 1/s as large, so that w/s moves by rate/s^2
    other = OnlineTask(T * s * s, TEACHER / s, rate * s * s, "relu", readout_rate=0)
    two = trajectory(other, OrderParameters(Q * s * s, R * s * s, V / s), [2, 5])
    assert two.eg == pytest.approx(one.eg, abs=2e-8)


@pytest.mark.parametrize("readout", [0.0, 0.8])
def test_equal_units_are_one(readout):
    """sum_k v g(lambda) = (n v) g(lambda), and a step of n v moves w as much at the rate eta/n, that of n v is n times as large."""
    task = OnlineTask(np.eye(2), [1, 1], 0.8, "relu", readout_rate=readout)
    two = trajectory(task, OrderParameters(np.full((2, 2), 0.5), np.full((2, 2), 0.1), [1, 1]), [1, 10])
    merged = OnlineTask(np.eye(2), [1, 1], 0.4, "relu", readout_rate=2 * readout)
    one = trajectory(merged, OrderParameters(0.5, [[0.1, 0.1]], [2]), [1, 10])
    assert np.array_equal(two.Q, np.broadcast_to(two.Q[:, :1, :1], two.Q.shape))
    assert two.Q[:, 0, 0] == pytest.approx(one.Q[:, 0, 0], abs=2e-8)  # each to 1e-8
    assert two.R[:, 1] == pytest.approx(one.R[:, 0], abs=2e-8)
    assert two.v == pytest.approx(np.tile(one.v / 2, 2), abs=2e-8)
    assert two.eg == pytest.approx(one.eg, abs=2e-8)


@pytest.mark.parametrize(
    ("student", "a", "c"), [("relu", 2, 2), ("abs(x)", -1, 1), ("abs(x)", -2, 2), (HARD_TANH, -1, -1), ("max(x, x/5)", 0.5, 0.5)]
)
def test_multiples_stay_multiples(student, a, c):
    """Runs of the algorithm itself: w^2 = a w^1, v^2 = c v^1 after every step, so that Q, R and v are those of multiples; and dv/dt
    at 0 is what the means of both units say."""
    rng, n, rate = np.random.default_rng(0), 50, 0.3
    first = rng.standard_normal(n)
    w, v, phi = np.array([first, a * first]), np.array([0.4, 0.4 * c]), Activation(student)
    for _ in range(200):
        point = rng.standard_normal(n)
        fields = w @ point / math.sqrt(n)
        delta = v @ phi(fields) - phi(point.sum() / math.sqrt(n))
        w, v = w - rate / math.sqrt(n) * delta * np.outer(v * phi.derivative()(fields), point), v - rate / n * delta * phi(fields)
    assert np.allclose(w[1], a * w[0], rtol=0, atol=1e-12)
    assert v[1] == pytest.approx(c * v[0], abs=1e-13)
    scale, step = np.array([1, a]), 0.01
    q, r, v = 0.5 * np.outer(scale, scale), np.outer(scale, [0.1, 0.2]), np.array([0.4, 0.4 * c])
    task = OnlineTask(np.eye(2), [1, 1], rate, student)
    found = trajectory(task, OrderParameters(q, r, v), [step * k for k in range(5)])
    assert found.Q[:, 1, 1] == pytest.approx(a * a * found.Q[:, 0, 0], rel=1e-14)
    assert found.Q[:, 0, 1] == pytest.approx(a * found.Q[:, 0, 0], rel=1e-14)
    assert found.R[:, 1] == pytest.approx(a * found.R[:, 0], rel=1e-14)
    slope = (-25 * found.v[0] + 48 * found.v[1] - 36 * found.v[2] + 16 * found.v[3] - 3 * found.v[4]) / (12 * step)
    assert slope == pytest.approx(-rate * online_means(task, q, r, v).outputs, abs=1e-6)


def test_equal_weights_of_different_readouts_part():
    """|w^1 - w^2|^2/N grows by eta^2 (v^1 - v^2)^2 h_6: the equations tell what becomes of these."""
    task, step = OnlineTask(np.eye(2), [1, 1], 0.3, "relu"), 1e-3
    found = trajectory(task, OrderParameters(np.full((2, 2), 0.5), np.full((2, 2), 0.1), [1, 0.5]), [0, step])
    gap = found.Q[1, 0, 0] + found.Q[1, 1, 1] - 2 * found.Q[1, 0, 1]
    h6 = online_means(task, np.full((2, 2), 0.5), np.full((2, 2), 0.1), [1, 0.5]).h6[0, 0]
    assert gap == pytest.approx(0.09 * 0.25 * h6 * step, rel=0.1)  # to the root of the gap, sqrt(1e-5), and to the step


def test_opposite_units_whose_outputs_are_not_opposite():
    """1 + hard tanh: with v as it is, w and -w stay opposite in every step, but 1 + g(-x) is not -(1 + g(x))."""
    start = OrderParameters([[0.5, -0.5], [-0.5, 0.5]], np.zeros((2, 2)), [1, -1])
    task = OnlineTask(np.eye(2), [1, 1], 0.3, f"1 + {HARD_TANH}", readout_rate=0)
    with pytest.raises(ValueError, match="must be generic, got units 0 and 1"):
        trajectory(task, start, [1])


@pytest.mark.parametrize("q", [np.zeros((2, 2)), np.diag([0.5, 0.0])])
def test_fields_of_no_width_at_a_kink(q):
    """E g''(lambda) f of a field of no width is the slope of a step: refused at once, not integrated until time is up."""
    task, none = OnlineTask(np.eye(2), [1, 1], 0.3, "relu"), np.zeros((2, 2))
    with pytest.raises(ValueError, match="q must give every field of the student a width"):
        trajectory(task, OrderParameters(q, none, [1, 1]), [1])
    with pytest.raises(ValueError, match="q must give every field of the student a width"):
        online_means(task, q, none, [1, 1])
    with pytest.raises(ValueError, match="q must give every field of the student a width"):
        trajectory(OnlineTask(1, 1, 0.3, "relu", eigenvalues=[0.0]), OrderParameters(1, 0, 1), [1])
    # Without kinks there is nothing to divide by: E g'(k) g'(a) = 1, eg = E (nu^1 + nu^2)^2/2.
    line = online_means(OnlineTask(np.eye(2), [1, 1], 0.3, "x"), none, none, [1, 1])
    assert line.h2.tolist() == [[1, 1], [1, 1]]
    assert line.eg == 1


def test_what_is_piecewise_linear():
    assert linear_pieces(Activation("relu")).lines == ((0.0, 0.0), (0.0, 1.0))
    assert linear_pieces(Activation("abs(x)")).jumps.tolist() == [2.0]
    assert linear_pieces(Activation("x")).kinks == ()
    for text in ("tanh(x)", "max(x, 0)**2", "max(x, tanh(x))", "abs(sin(x))"):
        assert linear_pieces(Activation(text)) is None


def test_other_kinks_are_refused():
    with pytest.raises(ValueError, match="must be smooth, or both must be piecewise linear"):
        trajectory(OnlineTask(T, TEACHER, 0.1, "max(x, tanh(x))"), OrderParameters(Q, R, V), [1])
    with pytest.raises(ValueError, match="must be smooth, or both must be piecewise linear"):
        trajectory(OnlineTask(T, TEACHER, 0.1, "relu", "tanh(x)"), OrderParameters(Q, R, V), [1])
