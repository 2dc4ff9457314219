"""Generalisation of nonlinear networks: limits, brute force, both sides of the Bayes gap, Nishimori identities."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

from theoryck.numerics.annealing.paths import Schedule
from theoryck.numerics.functions.activation import Activation
from theoryck.theory.learning.draws import regression
from theoryck.theory.learning.draws.chains import NishimoriDefect, Statistic, nishimori_defect
from theoryck.theory.learning.draws.regression import (
    BayesGap,
    LinearTerm,
    bayes_gap,
    generalisation_error,
    generalisation_gap,
    gibbs_error,
    linear_gap,
)
from theoryck.theory.learning.limits.linear import deep_linear_error_limit
from theoryck.theory.learning.limits.nonlinear import one_layer_linear_error_limit
from theoryck.theory.learning.problem import Problem
from theoryck.theory.learning.quantities import constants

SIGMAS = 4.5
"""A correct mean misses by more once in 150,000 comparisons; there are about forty here."""


def problem(name: str, widths: tuple[int, ...], n: int, noise: float = 0.5) -> Problem:
    phi = Activation(name)
    return Problem(widths, n, noise, phi, Activation("x"), *constants(phi, len(widths) - 1))


def square(name: str, d: int, n: int, depth: int = 1) -> Problem:
    return problem(name, (d,) * (depth + 1), n)


def linear_error(chosen: Problem) -> LinearTerm:
    return LinearTerm(chosen, chosen.n, False)


def mean(values: np.ndarray) -> tuple[float, float]:
    return float(values.mean()), float(values.std(ddof=1) / math.sqrt(len(values)))


@pytest.mark.parametrize("name", ["erf", "sin", "tanh"])
def test_linear_gap_tends_to_its_limit(name: str) -> None:
    # n = d: the limit is a closed form of another room; d * gap - limit falls as 1/d, so that 2 f(2d) - f(d) misses it by O(1/d^2).
    values = {d: linear_gap(square(name, d, d))(np.random.default_rng(d), 1500) * d for d in (12, 24)}
    (one, error1), (two, error2) = mean(values[12]), mean(values[24])
    limit = float(one_layer_linear_error_limit(name, 1, Fraction(1, 2)))
    assert abs(two - one) < 0.15 * abs(limit)
    # (two - one)^2 / limit is the size of the next order of a series in 1/d whose first ratio is (two - one)/limit.
    assert 2 * two - one == pytest.approx(limit, abs=SIGMAS * math.hypot(2 * error2, error1) + 4 * (two - one) ** 2 / abs(limit))


def test_control_variates_do_not_move_the_mean() -> None:
    sampler = linear_gap(square("erf", 6, 9))
    rng = np.random.default_rng(5)
    values, controls = regression.linear_terms(sampler.problem, regression.draw_points(sampler.problem, rng, 6000, 9), rng, True)
    for column in controls.T:
        centre, error = mean(column)
        assert abs(centre) < SIGMAS * error
    plain, error = mean(values)
    better, small = mean(sampler(np.random.default_rng(6), 3000))
    assert better == pytest.approx(plain, abs=SIGMAS * math.hypot(error, small))
    assert small < error


@pytest.mark.parametrize(("name", "depth"), [("tanh", 1), ("tanh", 2), ("relu", 2)])
def test_base_error_by_brute_force(name: str, depth: int) -> None:
    # The same predictor, applied to outputs of weight matrices and a readout that are drawn.
    rng = np.random.default_rng(7)
    setting = square(name, 5, 4, depth)
    phi, widths, noise = setting.activation, setting.widths, setting.noise
    points = regression.draw_points(setting, rng, 20000, 1)
    base = regression.base_predictor(setting, points)
    x = np.concatenate([points.inputs, points.new], axis=2)
    for rows in widths[1:]:
        x = phi(rng.standard_normal((len(x), rows, x.shape[1])) @ x) / math.sqrt(rows)
    y = np.einsum("pi,pim->pm", rng.standard_normal((len(x), widths[-1])), x) + math.sqrt(noise) * rng.standard_normal((len(x), 5))
    brute, error = mean((y[:, 4] - np.einsum("pi,pi->p", base.weights[:, :, 0], y[:, :4])) ** 2)
    value, small = mean(linear_error(setting)(np.random.default_rng(8), 2000))
    assert value == pytest.approx(brute, abs=SIGMAS * math.hypot(error, small))


def test_one_sample_in_one_dimension() -> None:
    # d = 1, one sample: C and k are scalars, and the mean over x and x_new is a double integral.
    phi = Activation("sin(x)")
    eta0, gamma0 = constants(phi, 1)
    node, weight = np.polynomial.hermite_e.hermegauss(60)
    weight = weight / weight.sum()
    x, y = node[:, None], node[None, :]
    h = np.exp(-((x - y) ** 2) / 2) / 2 - np.exp(-((x + y) ** 2) / 2) / 2
    g = (1 - np.exp(-2 * node**2)) / 2
    linear = 0.5 + g[None, :] - h**2 / (g[:, None] + 0.5)
    glm = 0.5 + gamma0 + eta0**2 * y**2 - (eta0**2 * x * y) ** 2 / (eta0**2 * x**2 + gamma0 + 0.5)
    wanted = float(weight @ (linear - glm) @ weight)
    value, error = mean(linear_gap(problem("sin(x)", (1, 3), 1))(np.random.default_rng(9), 20000))
    assert value == pytest.approx(wanted, abs=SIGMAS * error)


def test_bayes_gap_of_a_linear_network() -> None:
    # phi(x) = x: m_B is the equivalent model's own predictor and d E|m_L - m_B|^2 -> -lim d (E^(L) - E^(0)) at n = d.
    limit = -float(deep_linear_error_limit(1, Fraction(1, 2)))
    values = 16 * bayes_gap(square("x", 16, 16), 512)(np.random.default_rng(10), 120)
    value, error = mean(values[:, 2])
    # At d = 16 the next order is about 1/d of the limit; a tenth of it is granted.
    assert value == pytest.approx(limit, abs=SIGMAS * error + 0.1 * limit)
    assert linear_gap(square("x", 16, 16))(np.random.default_rng(0), 20) == pytest.approx(np.zeros(20), abs=1e-12)


def test_bayes_gap_from_both_sides() -> None:
    few, many = (bayes_gap(square("erf", 6, 6), prior_draws)(np.random.default_rng(11), 120) for prior_draws in (64, 1024))
    (low, low_error), (high, high_error) = (mean(many[:, column]) for column in (0, 1))
    best, error = mean(many[:, 2])
    assert -SIGMAS * low_error < low < high
    # Same data sets within a row: the differences have small errors.
    for column, sign in ((0, 1), (1, -1)):
        apart, spread = mean(sign * (many[:, 2] - many[:, column]))
        assert apart > -SIGMAS * spread
    # With few prior draws the ends move apart and the best value stays: its bias is of second order.
    assert few[:, 1].mean() - few[:, 0].mean() > 4 * (high - low)
    crude, crude_error = mean(few[:, 2])
    assert crude == pytest.approx(best, abs=SIGMAS * math.hypot(error, crude_error))
    assert high_error > 0


def test_bayes_gap_of_one_sample_by_quadrature() -> None:
    # One sample, one input, one hidden unit: K_W = phi(w x)^2, so that m_L is a ratio of integrals over w and y.
    phi = Activation("tanh")
    node, weight = np.polynomial.hermite_e.hermegauss(80)
    weight = weight / weight.sum()
    y, step = np.linspace(-6, 6, 241, retstep=True)
    features = phi(np.outer(node, node))  # (w, x)
    kernel = np.einsum("w,wx,wz->xz", weight, features, features)
    gap = 0.0
    for index, share in enumerate(weight):
        if share < 1e-12:
            continue
        variance = features[:, index] ** 2 + 0.5
        density = weight[:, None] * np.exp(-(y**2) / (2 * variance[:, None])) / np.sqrt(2 * math.pi * variance[:, None])
        slope = np.einsum("wy,wz->yz", density, features * (features[:, index] / variance)[:, None]) / density.sum(axis=0)[:, None]
        away = (slope - kernel[index] / (kernel[index, index] + 0.5)) * y[:, None]
        gap += share * float(density.sum(axis=0) @ away**2 @ weight) * step
    values = BayesGap(problem("tanh", (1, 1), 1), 4, 1.0, 32, 256)(np.random.default_rng(12), 700)
    best, error = mean(values[:, 2])
    assert best == pytest.approx(gap, abs=SIGMAS * error)
    assert mean(values[:, 1])[0] > gap - SIGMAS * mean(values[:, 1])[1]
    assert mean(values[:, 0])[0] < gap + SIGMAS * mean(values[:, 0])[1]


def test_errors_are_ordered() -> None:
    given = square("tanh", 6, 6)
    bayes = generalisation_error(given, 256)(np.random.default_rng(13), 40)
    gibbs = gibbs_error(given, 256)(np.random.default_rng(13), 40)
    assert gibbs == pytest.approx(2 * bayes - 0.5, abs=1e-12)
    linear, small = mean(linear_error(given)(np.random.default_rng(14), 2000))
    best, error = mean(bayes[:, 2])
    assert 0.5 < best < linear + SIGMAS * math.hypot(error, small)
    assert linear < gibbs[:, 2].mean() - SIGMAS * 2 * error
    assert bayes[:, 0].mean() <= bayes[:, 1].mean()
    gap, spread = mean(bayes_gap(given, 256)(np.random.default_rng(17), 60)[:, 2])
    whole, error = mean(generalisation_gap(given, 256)(np.random.default_rng(15), 60)[:, 2])
    part, small = mean(linear_gap(given)(np.random.default_rng(16), 2000))
    assert whole == pytest.approx(part - gap, abs=SIGMAS * math.hypot(error, spread, small))


@pytest.mark.parametrize("statistic", ["residual", "alignment", "power"])
def test_readout_is_averaged_by_its_exact_law(statistic: str) -> None:
    # Without a move W is the teacher's, and only the average over the readout is tested.
    value, error = mean(nishimori_defect(square("erf", 5, 7), statistic=statistic, moves=0)(np.random.default_rng(18), 4000))
    assert abs(value) < SIGMAS * error


@pytest.mark.parametrize("statistic", ["likelihood", "residual", "alignment", "power"])
def test_nishimori_identities(statistic: str) -> None:
    given = square("tanh", 6, 6)
    value, error = mean(nishimori_defect(given, statistic=statistic)(np.random.default_rng(19), 4000))
    assert abs(value) < SIGMAS * error
    # A student who believes in half the noise breaks every one of them.
    value, error = mean(nishimori_defect(given, statistic=statistic, student_noise=0.25)(np.random.default_rng(20), 4000))
    assert abs(value) > 8 * error


def test_an_inexact_chain_is_noticed() -> None:
    setting = square("tanh", 6, 6)
    values = {}
    for metropolis in (True, False):
        schedule = Schedule(2, (1.0,), 1.4, 3, metropolis)
        sampler = NishimoriDefect(setting, Statistic.LIKELIHOOD, 16, setting.noise, schedule)
        values[metropolis] = mean(sampler(np.random.default_rng(21), 8000))
    assert abs(values[True][0]) < SIGMAS * values[True][1]
    assert abs(values[False][0]) > SIGMAS * values[False][1]


def test_samplers_are_data() -> None:
    given = square("tanh", 5, 4)
    samplers = [linear_gap(given), linear_error(given), nishimori_defect(given)]
    samplers += [bayes_gap(given, 64), generalisation_gap(given, 64)]
    for sampler in samplers:
        twin = pickle.loads(pickle.dumps(sampler))
        one, two = sampler(np.random.default_rng(22), 3), twin(np.random.default_rng(22), 3)
        assert np.array_equal(one, two)
        assert np.isfinite(one).all()
        assert one.shape == ((3,) if isinstance(sampler, LinearTerm | NishimoriDefect) else (3, 3))
        assert sampler.cost > 0
        assert sampler.version == 1


def test_extreme_weights_stay_finite() -> None:
    # Hardly any noise: the teacher outweighs the pool by hundreds of nats.
    values = BayesGap(problem("tanh", (3, 3), 40, 1e-6), 5, 1.0, 4, 16)(np.random.default_rng(23), 3)
    assert np.isfinite(values).all()


def test_refusals() -> None:
    given = square("tanh", 4, 4)
    with pytest.raises(ValueError, match="moves must be at least 1 for the likelihood"):
        nishimori_defect(given, statistic="likelihood", moves=0)
    with pytest.raises(ValueError, match="student_noise is a variance"):
        nishimori_defect(given, student_noise=0.0)
    with pytest.raises(ValueError, match="prior_draws must be at least 4"):
        bayes_gap(given, 2)
    assert regression.PRIOR_DRAWS >= 4
