"""Evidence of networks against routes that share no code with it: brute force with weight matrices, integrals, a table.

Comparisons are at 4.5 standard errors of the difference (one false alarm in 10^5), and ends are compared one-sidedly.
"""

import math
import pickle

import numpy as np
import pytest
import scipy.integrate
import scipy.stats

from theoryck.montecarlo import block_generator
from theoryck.numerics.annealing.paths import Schedule, log_weights
from theoryck.numerics.annealing.tuning import ladder
from theoryck.numerics.functions.activation import Activation
from theoryck.theory.learning.draws import evidence
from theoryck.theory.learning.draws.network_data import (
    ENOUGH,
    FLOOR,
    MOST,
    InputTerm,
    ScalarMode,
    base_covariance,
    candidates,
    draw_data,
    posterior,
    select,
)
from theoryck.theory.learning.draws.network_target import NetworkTarget, tilt
from theoryck.theory.learning.problem import Problem

TANH, SIN, X = Activation("tanh"), Activation("sin(x)"), Activation("x")


def constants(phi, depth):
    """eta_0 and gamma_0 by a Riemann sum, which for these analytic functions is exact to rounding."""
    z = np.linspace(-12, 12, 4001)
    weight = np.exp(-0.5 * z * z)
    weight /= weight.sum()
    eta, gamma, s = 1.0, 0.0, 1.0
    for _ in range(depth):
        values = phi(math.sqrt(s) * z)
        rho = (weight * z * values).sum() / math.sqrt(s)
        eps = (weight * values**2).sum() - s * rho**2
        eta, gamma, s = eta * rho, gamma * rho**2 + eps, s * rho**2 + eps
    return eta, gamma


def at(phi, widths, n, noise, time=0.0):
    """The problem with the constants of its network."""
    return Problem(widths, n, noise, phi, X, *constants(phi, len(widths) - 1), time)


def rng(number):
    return block_generator(number, "evidence", {}, {}, 0)


def mean_and_error(values):
    return values.mean(axis=0), values.std(axis=0, ddof=1) / math.sqrt(len(values))


def log_evidence_by_brute_force(phi, weights_of, inputs, outputs, noise, generator, draws):
    """log mean over prior weight matrices of N(Y; 0, K_W + Delta), by numpy's solver, one data set."""
    n = len(outputs)
    hidden = inputs
    for shape in weights_of:
        hidden = phi(generator.standard_normal((draws, *shape)) @ hidden) / math.sqrt(shape[0])
    covariance = np.swapaxes(hidden, 1, 2) @ hidden + noise * np.eye(n)
    solved = np.linalg.solve(covariance, np.broadcast_to(outputs[:, None], (draws, n, 1)))[..., 0]
    logs = -0.5 * (solved @ outputs) - 0.5 * np.linalg.slogdet(covariance)[1] - 0.5 * n * math.log(2 * math.pi)
    weights = np.exp(logs - logs.max())
    return math.log(weights.mean()) + logs.max(), weights.std() / weights.mean() / math.sqrt(draws)


CASES = [
    # activation, widths, n, noise, tilted: n <= d_L, n > d_L (Woodbury), three layers of different widths
    (TANH, (4, 4), 4, 0.3, False),
    (TANH, (4, 4), 4, 0.3, True),
    (SIN, (3, 2), 5, 0.5, True),
    (TANH, (3, 5, 4), 3, 0.4, True),
    (TANH, (3, 4, 5, 2), 4, 0.4, False),
]


@pytest.mark.parametrize(("phi", "widths", "n", "noise", "tilted"), CASES)
@pytest.mark.parametrize("schedule", [Schedule(4000), Schedule(200, ladder(8), 0.5)])
def test_one_data_set_against_brute_force(phi, widths, n, noise, tilted, schedule):
    problem = at(phi, widths, n, noise)
    drawn = posterior(problem, rng(1), 1, tilted)
    found = log_weights(drawn.target, drawn.teachers, schedule, rng(2))
    inputs = drawn.target.inputs[0]
    if tilted:
        inputs = np.linalg.solve(drawn.target.proposal.factor[0].T, inputs)
    shapes = list(zip(widths[1:], widths[:-1]))
    value, error = log_evidence_by_brute_force(phi, shapes, inputs, drawn.outputs[0], noise, rng(3), 20000)
    own_error = np.exp(found.log[0] - found.high[0]).std() / math.sqrt(schedule.paths)
    assert abs(drawn.log_base[0] + found.low[0] - value) < 4.5 * math.hypot(error, own_error)
    # The teacher is one path of many: it shifts the high end by its own share at most.
    assert abs(found.high[0] - found.low[0]) < 4.5 * own_error


@pytest.mark.parametrize(("phi", "widths", "n", "noise", "tilted"), CASES)
@pytest.mark.parametrize("tau", [0.0, 0.4])
def test_gradient_against_differences(phi, widths, n, noise, tilted, tau):
    problem = at(phi, widths, n, noise, tau)
    target = posterior(problem, rng(4), 2, tilted).target
    states = rng(5).standard_normal((2, 3, target.dim))
    direction = rng(6).standard_normal(states.shape)
    step = 1e-5
    difference = (target.log_ratio(states + step * direction) - target.log_ratio(states - step * direction)) / (2 * step)
    values, gradient = target.log_ratio_and_gradient(states)
    assert np.allclose(values, target.log_ratio(states), rtol=1e-10, atol=1e-10)
    # Central differences: error of order step^2 from the third derivative, 1e-16/step from rounding.
    assert np.allclose((gradient * direction).sum(axis=-1), difference, rtol=1e-6, atol=1e-6)


def test_large_matrices_take_the_other_inverse():
    problem = at(TANH, (16, 16), 16, 0.3)
    target = posterior(problem, rng(7), 1, True).target
    states, step = rng(8).standard_normal((1, 2, target.dim)), 1e-5
    direction = rng(9).standard_normal(states.shape)
    difference = (target.log_ratio(states + step * direction) - target.log_ratio(states - step * direction)) / (2 * step)
    values, gradient = target.log_ratio_and_gradient(states)
    assert np.allclose(values, target.log_ratio(states), rtol=1e-10, atol=1e-10)
    assert np.allclose((gradient * direction).sum(axis=-1), difference, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("n", [3, 9])
def test_linear_network_against_the_integral_over_its_scale(n):
    """phi = x, depth 1: Y ~ N(0, t K + Delta), t ~ chi^2_d1 / d1 (Hanin, Zlokapa; MATH E5)."""
    d0, d1, noise = 4, 3, 0.5
    drawn = posterior(Problem((d0, d1), n, noise, X, X), rng(10), 1, False)
    found = log_weights(drawn.target, drawn.teachers, Schedule(40000), rng(11))
    gram = drawn.target.inputs[0].T @ drawn.target.inputs[0]

    def density(t):
        normal = scipy.stats.multivariate_normal(np.zeros(n), t * gram + noise * np.eye(n))
        return normal.pdf(drawn.outputs[0]) * d1 * scipy.stats.chi2(d1).pdf(d1 * t)

    value = math.log(scipy.integrate.quad(density, 0, 30, limit=200)[0])
    error = np.exp(found.log[0] - found.high[0]).std() / math.sqrt(40000)
    assert abs(drawn.log_base[0] + found.low[0] - value) < 4.5 * error


def test_gap_against_brute_force_over_data_sets():
    """tanh, n = d = 4, Delta = .3: -log Z - n/2 - (1/2) log det C_0 with weight matrices, another route in every part."""
    problem = at(TANH, (4, 4), 4, 0.3)
    n, noise, eta, gamma = 4, 0.3, problem.eta0, problem.gamma0
    generator, brute = rng(12), []
    for _ in range(500):
        inputs = generator.standard_normal((4, 4)) / 2
        features = np.tanh(generator.standard_normal((4, 4)) @ inputs) / 2
        outputs = features.T @ generator.standard_normal(4) + math.sqrt(noise) * generator.standard_normal(4)
        value, _ = log_evidence_by_brute_force(np.tanh, [(4, 4)], inputs, outputs, noise, generator, 1000)
        linear = eta**2 * inputs.T @ inputs + (gamma + noise) * np.eye(n)
        # Given X the linear model has -log Z = (1/2) log det 2 pi C_0 + (1/2) Y^T C_0^(-1) Y, with mean n/2 for its own Y.
        brute.append(-value - 0.5 * np.linalg.slogdet(2 * math.pi * linear)[1] - 0.5 * n)
    found = evidence.information_gap(problem, 0.005)(rng(13), 1000)
    (low, high, value), (_, _, error) = mean_and_error(found)
    expected, brute_error = mean_and_error(np.array(brute))
    assert abs(value - expected) < 4.5 * math.hypot(error, brute_error)
    # The control variates are worth it: 30 times less variance per data set, and half a nat would be seen at once.
    assert found[:, 2].std() < np.std(brute) / 5
    assert 0 < high - low < 0.005


def test_table_of_another_program():
    """tanh, n = d, Delta = .3: -.064(5), -.078(5), -.087(9) at d = 4, 8, 16 by bidirectional annealing without control variates."""
    for d, expected, other in ((4, -0.064, 0.005), (8, -0.078, 0.005), (16, -0.087, 0.009)):
        found = evidence.information_gap(at(TANH, (d, d), d, 0.3))(rng(14), 200)
        (low, high, value), (_, _, error) = mean_and_error(found)
        assert low <= high < low + 0.02
        assert abs(value - expected) < 4.5 * math.hypot(error, other)


def test_bracket_is_narrow_at_width_32():
    """tanh, n = d = 32, Delta = .3, the standard errors being those of paired differences."""
    found = evidence.information_gap(at(TANH, (32, 32), 32, 0.3))(rng(15), 40)
    width, error = mean_and_error(found[:, 1] - found[:, 0])
    assert 0 < width < 0.02
    assert error < 0.01


@pytest.mark.parametrize(("phi", "widths", "n"), [(TANH, (4, 4), 4), (SIN, (4, 3, 4), 3)])
def test_quantities_are_those_of_each_other(phi, widths, n):
    problem = at(phi, widths, n, 0.4)
    eta, gamma = problem.eta0, problem.gamma0
    draws = 400
    (_, _, gap), (_, _, gap_error) = mean_and_error(evidence.information_gap(problem)(rng(16), draws))
    (low, high, total), (_, _, total_error) = mean_and_error(evidence.mutual_information(problem)(rng(17), draws))
    (f_low, f_high, free), (_, _, free_error) = mean_and_error(evidence.free_entropy(problem)(rng(18), draws))
    assert low < high
    assert f_low < f_high
    generator = rng(19)
    inputs = generator.standard_normal((20000, widths[0], n)) / math.sqrt(widths[0])
    grams = np.swapaxes(inputs, 1, 2) @ inputs
    linear, error = mean_and_error(0.5 * np.linalg.slogdet(np.eye(n) + (eta**2 * grams + gamma * np.eye(n)) / 0.4)[1])
    assert abs(total - gap - linear) < 4.5 * math.sqrt(gap_error**2 + total_error**2 + error**2)
    assert abs(free + total / n + 0.5 * math.log(2 * math.pi * math.e * 0.4)) < 4.5 * math.hypot(free_error, total_error / n)


def test_path_from_the_network_to_the_linear_model():
    problem = at(TANH, (4, 4), 4, 0.3)
    (_, _, start), (_, _, error) = mean_and_error(evidence.path_divergence(problem.at(0.0))(rng(20), 300))
    (_, _, gap), (_, _, other) = mean_and_error(evidence.information_gap(problem)(rng(21), 300))
    assert abs(start + gap) < 4.5 * math.hypot(error, other)
    (_, _, middle), (_, _, middle_error) = mean_and_error(evidence.path_divergence(problem.at(0.5))(rng(22), 300))
    assert 4.5 * middle_error < middle < start - 4.5 * math.hypot(error, middle_error)
    end = evidence.path_divergence(problem.at(1.0))(rng(23), 20)
    assert np.abs(end).max() < 1e-9


def test_variance_of_the_free_entropy():
    """n = 2, d = 2: the variance of log Z over data sets by brute force, whose own noise adds less than 1% of it."""
    problem = at(SIN, (2, 2), 2, 0.5)
    found = evidence.free_entropy_variance(problem)(rng(24), 400)
    generator, logs = rng(25), []
    for _ in range(1500):
        inputs = generator.standard_normal((2, 2)) / math.sqrt(2)
        features = np.sin(generator.standard_normal((2, 2)) @ inputs) / math.sqrt(2)
        outputs = features.T @ generator.standard_normal(2) + math.sqrt(0.5) * generator.standard_normal(2)
        logs.append(log_evidence_by_brute_force(np.sin, [(2, 2)], inputs, outputs, 0.5, generator, 300)[0] / 2)
    squares = np.square(np.array(logs) - np.mean(logs))
    value, error = mean_and_error(found)
    expected, brute_error = mean_and_error(squares)
    assert found.shape == (400,)
    assert abs(value - expected) < 4.5 * math.hypot(error, brute_error)


def test_controls_of_the_input_term_have_mean_zero():
    for problem in (
        at(TANH, (5, 4), 4, 0.3),
        at(SIN, (4, 3, 5, 4), 3, 0.5, 0.3),
    ):
        for against_noise in (False, True):
            _, controls = InputTerm(problem, against_noise).values(rng(26), 2000)
            mean, error = mean_and_error(controls)
            assert (np.abs(mean) < 4.5 * error).all()


def test_trace_term_at_depth_two_against_weight_matrices():
    """(1/2) tr C_B^(-1) (E K_W - h(h(X))): at depth 2 the recursed kernel is not the mean of K_W."""
    problem = at(TANH, (3, 3, 3), 3, 0.3)
    inputs = problem.inputs(rng(27), 1)
    grams = np.repeat(np.swapaxes(inputs, 1, 2) @ inputs, 4000, axis=0)
    base = base_covariance(problem, grams)
    own, _ = InputTerm(problem, False)._trace(rng(28), grams, base)
    root = np.linalg.cholesky(grams[0])
    generator = rng(29)
    hidden = np.tanh(generator.standard_normal((40000, 3, 3)) @ root.T) / math.sqrt(3)
    last = np.tanh(generator.standard_normal((40000, 3, 3)) @ hidden) / math.sqrt(3)
    kernel = np.swapaxes(last, 1, 2) @ last
    brute = 0.5 * np.einsum("ij,sij->s", np.linalg.inv(base[0]), kernel + 0.3 * np.eye(3) - base[0])
    (value, error), (expected, brute_error) = mean_and_error(own), mean_and_error(brute)
    assert abs(value - expected) < 4.5 * math.hypot(error, brute_error)
    assert abs(expected) > 4.5 * brute_error


def test_scalar_mode_is_a_normalised_mixture():
    """E_N q = 1, with Gaussian vectors drawn here."""
    kernel = np.array([[[0.6, 0.2], [0.2, 0.5]]])
    mode = ScalarMode(kernel, np.eye(2)[None] / math.sqrt(0.4), (5, 6))
    factor = np.linalg.cholesky(kernel[0] + 0.4 * np.eye(2))
    outputs = rng(30).standard_normal((20000, 2)) @ factor.T
    logs = np.array([mode.log_ratio(outputs[None, i])[0] for i in range(len(outputs))])
    mean, error = mean_and_error(np.exp(logs))
    assert abs(mean - 1) < 4.5 * error


@pytest.mark.parametrize("tau", [0.0, 0.4, 1.0])
def test_selection_leaves_means_as_they_are(tau):
    """E w = 1, and E w F = E F for F of outputs, inputs and the teacher's weights, against data of every teacher."""
    problem = at(TANH, (3, 2), 3, 0.3, tau)

    def statistics(data):
        first = data.weights[0]
        hidden = np.tanh(first @ data.inputs)
        explained = np.square(np.einsum("shn,sn->s", hidden, data.outputs))
        return np.stack([np.square(data.outputs).sum(axis=1), explained, np.square(first).sum(axis=(1, 2))], axis=1)

    plain_mean, plain_error = mean_and_error(statistics(draw_data(problem, rng(36), 10000)))
    chosen, weights = select(problem, rng(37), 2000, 32)
    mean, error = mean_and_error(weights[:, None] * (statistics(chosen) - plain_mean))
    assert (np.abs(mean) < 4.5 * np.hypot(error, plain_error)).all()
    assert abs(weights.mean() - 1) < 4.5 * weights.std() / math.sqrt(2000)
    assert weights.max() <= 1 / FLOOR
    assert weights.std() > 0.1
    # Without the weights the means are others: large outputs are preferred.
    unweighted, error = mean_and_error(statistics(chosen)[:, 0])
    assert unweighted - plain_mean[0] > 4.5 * math.hypot(error, plain_error[0])


def test_fewer_candidates_where_they_are_dear():
    eta, gamma = constants(TANH, 1)
    sizes = ((4, 4, 1e5), (32, 32, 1e5), (32, 32, 1e9), (8, 512, 1e5), (8, 4096, 1e9))
    counts = [candidates(Problem((d, d), n, 0.3, TANH, X, eta, gamma), nanoseconds) for d, n, nanoseconds in sizes]
    assert counts == [31, ENOUGH, MOST, 1, 1]


def test_the_gap_has_no_long_tail():
    """erf, n = d = 4, where one data set without selection has skewness 28 and standard deviation 0.037."""
    problem = Problem((4, 4), 4, 0.5, Activation("erf"), X, 0.6514700158705602, 0.0401458728)
    found = evidence.information_gap(problem)(rng(38), 2000)[:, 2]
    centred = found - found.mean()
    assert found.std() < 0.02
    assert abs((centred**3).mean() / centred.std() ** 3) < 10


def test_tilt_is_a_proposal_only():
    """Whatever Sigma is, the tilted prior has the same evidence; a tilt of the wrong density has not."""
    problem = at(TANH, (4, 4), 4, 0.3)
    drawn = posterior(problem, rng(32), 1, False)
    target = drawn.target
    other = tilt(target.inputs, 3 * drawn.outputs, np.eye(4), 2.0, 4)
    tilted = NetworkTarget(TANH, (4, 4), target.inputs, drawn.outputs, 0.3, drawn.log_base, other)
    plain_weights = log_weights(target, drawn.teachers, Schedule(20000), rng(33))
    others = log_weights(tilted, tilted.coordinates([drawn.teachers.reshape(1, 4, 4)]), Schedule(20000), rng(34))
    errors = [np.exp(w.log[0] - w.high[0]).std() / math.sqrt(20000) for w in (plain_weights, others)]
    assert abs(plain_weights.low[0] - others.low[0]) < 4.5 * math.hypot(*errors)
    other.log_determinant = other.log_determinant + 0.1
    wrong = NetworkTarget(TANH, (4, 4), target.inputs, drawn.outputs, 0.3, drawn.log_base, other)
    shifted = log_weights(wrong, drawn.teachers, Schedule(20000), rng(34))
    assert abs(plain_weights.low[0] - shifted.low[0]) > 4.5 * math.hypot(*errors)


def test_same_bits_also_after_pickling_and_in_a_new_plan():
    problem = at(TANH, (4, 4), 4, 0.3)
    sampler = evidence.information_gap(problem)
    first = sampler(rng(35), 40)
    assert np.array_equal(first, pickle.loads(pickle.dumps(sampler))(rng(35), 40))
    evidence.plan.forget()
    evidence.input_plan.forget()
    again = evidence.information_gap(problem)
    assert again == sampler
    assert np.array_equal(first, again(rng(35), 40))
    assert sampler.cost > 0
    assert sampler.version == 2
