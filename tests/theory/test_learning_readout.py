"""Samplers for readouts that are not linear, against closed forms, quadrature, brute force and each other.

Statistical comparisons allow 4.5 standard errors: a false alarm has probability 7e-6 each.
"""

import pickle

import numpy as np
import pytest
from scipy.special import erf

from theoryck.numerics.annealing.paths import Schedule, log_weights
from theoryck.numerics.functions.activation import Activation
from theoryck.theory.learning.draws.deep_linear import FreeEntropy as LinearFreeEntropy
from theoryck.theory.learning.draws.deep_linear import GeneralisationError as LinearError
from theoryck.theory.learning.draws.deep_linear import InformationGap as LinearGap
from theoryck.theory.learning.draws.deep_linear_model import LinearModel
from theoryck.theory.learning.draws.readout import (
    Chains,
    FreeEntropy,
    FreeEntropyVariance,
    GeneralisationError,
    GeneralisationGap,
    InformationGap,
    MutualInformation,
    rough_gaps,
)
from theoryck.theory.learning.draws.readout_data import Posterior, draw_normals, draw_teacher, posterior
from theoryck.theory.learning.draws.readout_target import NetworkTarget
from theoryck.theory.learning.problem import Problem
from theoryck.theory.learning.quantities import constants

X, TANH, ERF, SIN = Activation("x"), Activation("tanh(2*x)"), Activation("erf(x/sqrt(2))"), Activation("sin(x)")
ETA, GAMMA = constants(ERF, 1)
ETA2, GAMMA2 = constants(ERF, 2)
NETWORK = Problem((4, 5), 3, 0.2, ERF, TANH, ETA, GAMMA)
DEEP = Problem((3, 4, 2), 4, 0.2, ERF, SIN, ETA2, GAMMA2)
ALLOWED = 4.5


def generator(seed):
    return np.random.Generator(np.random.SFC64(seed))


def one(model, rng, sets):
    teacher = draw_teacher(model, draw_normals(model, rng, sets), rng)
    return teacher, posterior(model, teacher, rng)


def within(values, expected, extra=0.0):
    """Compare the mean of draws with a number that has the standard error ``extra``."""
    stderr = np.hypot(values.std(ddof=1) / len(values) ** 0.5, extra)
    assert abs(values.mean() - expected) < ALLOWED * stderr, (values.mean(), expected, stderr)


# Targets -----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [NETWORK, NETWORK.at(0.4), NETWORK.linear, DEEP, DEEP.at(0.7), Problem((3,), 5, 0.1, X, TANH)])
def test_gradients_and_teachers(model):
    rng = generator(1)
    teacher, data = one(model, rng, 2)
    target = data.target
    # The teacher's state must stand for the preactivations that made the data, also where n exceeds the width.
    assert np.allclose(target.preactivations(data.teachers[:, None])[:, 0], teacher.z, atol=1e-8)
    states = rng.standard_normal((2, 3, target.dim))
    values, gradient = target.log_ratio_and_gradient(states)
    assert np.allclose(values, target.log_ratio(states), rtol=1e-12)
    step = 1e-5
    for index in range(target.dim):
        up, down = states.copy(), states.copy()
        up[..., index] += step
        down[..., index] -= step
        # Error of the central difference: step^2 times a third derivative, and rounding 1e-16/step times |l|.
        assert np.allclose((target.log_ratio(up) - target.log_ratio(down)) / (2 * step), gradient[..., index], rtol=1e-5, atol=1e-6)


def brute_force(model, inputs, outputs, rng, draws):
    """log Z and its standard error by averaging over weights of the prior, all as matrices, v and xi one by one."""
    total = []
    for _ in range(10):
        count = draws // 10
        z = np.zeros((count, model.n))
        if model.has_network:
            hidden = np.broadcast_to(inputs, (count, *inputs.shape))
            for rows, columns in zip(model.widths[1:], model.widths):
                hidden = model.activation(rng.standard_normal((count, rows, columns)) @ hidden) / rows**0.5
            z += (1 - model.time) ** 0.5 * np.einsum("ci,cin->cn", rng.standard_normal((count, model.widths[-1])), hidden)
        if model.has_gaussian:
            eta, gamma = model.slope_and_rest
            part = eta * rng.standard_normal((count, model.widths[0])) @ inputs + gamma**0.5 * rng.standard_normal(z.shape)
            z += (model.time if model.depth else 1.0) ** 0.5 * part
        rest = outputs - model.readout(z)
        total.append(np.exp(-0.5 * (rest**2).sum(axis=1) / model.noise))
    weights = np.concatenate(total)
    constant = -0.5 * model.n * np.log(2 * np.pi * model.noise)
    return np.log(weights.mean()) + constant, weights.std() / weights.mean() / len(weights) ** 0.5


@pytest.mark.parametrize("model", [NETWORK, NETWORK.at(0.5), NETWORK.linear, DEEP, Problem((2,), 4, 0.3, X, SIN)])
@pytest.mark.parametrize("schedule", [Schedule(4001), Schedule(401, (0.3, 1.0), leaps=2)])
def test_forward_weights_average_to_the_evidence(model, schedule):
    rng = generator(2)
    teacher, data = one(model, rng, 1)
    expected, error = brute_force(model, teacher.inputs[0], teacher.outputs[0], rng, 200_000)
    weights = np.exp(log_weights(data.target, data.teachers, schedule, rng).log[0, 1:] - expected)
    within(weights, 1.0, error)


def test_evidence_of_a_linear_readout_is_known_path_by_path():
    model = Problem((4, 5), 6, 0.3, ERF, X, ETA, GAMMA, time=1.0)
    rng = generator(3)
    teacher, data = one(model, rng, 5)
    covariance = model.covariance(teacher.inputs) + 0.3 * np.eye(6)
    square = np.einsum("si,sij,sj->s", teacher.outputs, np.linalg.inv(covariance), teacher.outputs)
    expected = -0.5 * (square + np.linalg.slogdet(2 * np.pi * covariance)[1])
    weights = log_weights(data.target, data.teachers, Schedule(8), rng)
    # The sites are then the likelihoods themselves, up to the damping of ten rounds: 0.3^10 = 6e-6 of the precision.
    assert np.allclose(weights.log, expected[:, None], atol=2e-3)
    within(np.exp(weights.log - expected[:, None]).ravel(), 1.0, 1e-9)


def exact_pairs(model, teacher):
    """log Z of the linear model with two samples, by a sum over a grid in the plane."""
    grid = np.linspace(-8, 8, 161)
    a, b = (axis.ravel() for axis in np.meshgrid(grid, grid))
    prior = -0.5 * (a**2 + b**2)
    found = []
    for covariance, outputs in zip(model.covariance(teacher.inputs), teacher.outputs):
        root = np.linalg.cholesky(covariance)
        z = root @ np.stack([a, b])
        terms = prior - 0.5 * ((outputs[:, None] - model.readout(z)) ** 2).sum(axis=0) / model.noise
        found.append(np.log(np.exp(terms).sum() * (grid[1] - grid[0]) ** 2 / (2 * np.pi)))
    return np.array(found) - np.log(2 * np.pi * model.noise)


def test_backward_paths_need_the_teacher():
    """E exp(-high) = 1/Z and E low <= log Z <= E high for the teacher's state, and not for another one."""
    model = Problem((3, 3), 2, 0.05, ERF, TANH, 1.0, 0.1, time=1.0)
    sets, rng = 1200, generator(4)
    teacher, data = one(model, rng, sets)
    exact = exact_pairs(model, teacher)
    schedule = Schedule(2)
    right = log_weights(data.target, data.teachers, schedule, rng)
    within(np.exp(exact - right.high), 1.0)
    within(np.exp(right.low - exact), 1.0)
    assert (right.low - exact).mean() < 0 < (right.high - exact).mean()
    # A state from where the paths start, close to the posterior but no sample of it: the "upper" end falls below log Z.
    broken = log_weights(data.target, rng.standard_normal((sets, 2)), schedule, rng)
    wrong = broken.high - exact
    assert wrong.mean() < -ALLOWED * wrong.std() / sets**0.5
    inverse = np.exp(exact - broken.high)
    assert inverse.mean() - 1.0 > ALLOWED * np.exp(exact - right.high).std() / sets**0.5


# One sample --------------------------------------------------------------------------------------------------------------------

SLOPES = np.linspace(-9, 9, 1201)
SLOPE_WEIGHTS = np.exp(-0.5 * SLOPES**2) / np.exp(-0.5 * SLOPES**2).sum()
PRE = np.linspace(-12, 12, 961)


def output_information(densities, f, noise):
    """I(z; f(z) + noise) for densities of z on PRE (cases, 961)."""
    y = np.linspace(-1 - 8 * noise**0.5, 1 + 8 * noise**0.5, 801)
    kernel = np.exp(-((y[:, None] - f(PRE)) ** 2) / (2 * noise)) / (2 * np.pi * noise) ** 0.5
    p = densities @ kernel.T * (PRE[1] - PRE[0])
    return -(p * np.log(np.maximum(p, 1e-300))).sum(axis=1) * (y[1] - y[0]) - 0.5 * np.log(2 * np.pi * np.e * noise)


def one_sample_informations(d, phi, eta, gamma, f, noise):
    """I_1 of the network (d, d) and of the linear model, the readout vector and W integrated by characteristic functions."""
    u = np.linspace(-80 / d - 3, np.log1p(80 / d + 4 * (10 / d) ** 0.5) + 0.5, 121)
    weights = np.exp(0.5 * d * (u - np.exp(u)))
    weights /= weights.sum()
    u, weights = u[weights > 1e-8], weights[weights > 1e-8]
    omega = np.linspace(0, 40, 1001)
    measure = np.full(len(omega), omega[1])
    measure[0] /= 2
    waves = np.cos(np.outer(omega, PRE)) / np.pi
    network, linear = [], []
    for s in np.exp(u):
        squares = phi(s**0.5 * SLOPES) ** 2
        characteristic = (np.exp(-np.outer(omega**2 / (2 * d), squares)) @ SLOPE_WEIGHTS) ** d
        network.append((characteristic * measure) @ waves)
        variance = eta**2 * s + gamma
        linear.append(np.exp(-(PRE**2) / (2 * variance)) / (2 * np.pi * variance) ** 0.5)
    return tuple(float(weights @ output_information(np.array(z), f, noise) / weights.sum()) for z in (network, linear))


@pytest.fixture(scope="module")
def one_sample():
    return one_sample_informations(4, lambda z: erf(z / 2**0.5), ETA, GAMMA, lambda z: np.tanh(2 * z), 0.2)


def test_one_sample_against_quadrature(one_sample):
    model = Problem((4, 4), 1, 0.2, ERF, TANH, ETA, GAMMA)
    # 4.5 standard errors as above; the quadrature itself is good to 1e-6 (halving its steps).
    for which, expected in zip((model, model.linear), one_sample):
        values = MutualInformation(which)(generator(5), 1200)
        within(values[:, 2], expected)
        assert values[:, 0].mean() <= expected + ALLOWED * values[:, 0].std() / 1200**0.5
        assert values[:, 1].mean() >= expected - ALLOWED * values[:, 1].std() / 1200**0.5
    values = InformationGap(model)(generator(6), 1000)
    within(values[:, 2], one_sample[0] - one_sample[1])


# Samplers ----------------------------------------------------------------------------------------------------------------------


def test_linear_readout_agrees_with_the_quadrature_over_the_scale():
    model = Problem((8, 8), 8, 0.5, X, X)
    theirs = LinearModel((8, 8), 8, 0.5)
    reference = LinearFreeEntropy(theirs)(generator(7), 20_000)
    within(FreeEntropy(model)(generator(8), 250)[:, 2], reference.mean(), reference.std() / 20_000**0.5)
    reference = LinearGap(theirs)(generator(9), 4000)
    values = InformationGap(model)(generator(10), 200)
    within(values[:, 2], reference.mean(), reference.std() / 4000**0.5)
    # Depth takes information away: about -.02 here; the draws are precise enough to see that it is not large.
    assert values[:, 2].std() / 200**0.5 < 0.03


def test_gap_bracket_is_closed_at_eight():
    model = Problem((8, 8), 8, 0.2, ERF, TANH, ETA, GAMMA)
    values = InformationGap(model)(generator(11), 150)
    width = values[:, 1] - values[:, 0]
    assert -ALLOWED * width.std() / 150**0.5 <= width.mean() < 0.1
    assert np.allclose(values[:, 2], 0.5 * (values[:, 0] + values[:, 1]))
    # Shared inputs, normals and noise and the function g of the data: without them a draw has a standard deviation of about 2.5.
    assert values[:, 2].std() < 0.5


def test_rough_gaps_vanish_for_equal_models():
    # A deep linear network of one very wide layer and f linear is the linear model itself up to O(1/width).
    wide = Problem((3, 600), 3, 0.5, X, X)
    values = rough_gaps(wide, generator(12), 40, 8)
    within(values, 0.0, 0.01)


def test_interpolation_meets_both_ends():
    model = Problem((4, 4), 2, 0.2, ERF, TANH, ETA, GAMMA)
    values = [FreeEntropy(model.at(t))(generator(13), 400) for t in (0.0, 1e-9, 1 - 1e-9, 1.0)]
    for one_end, other in ((values[0], values[1]), (values[3], values[2])):
        within(one_end[:, 2], other[:, 2].mean(), other[:, 2].std() / 400**0.5)


def test_variance_of_a_linear_model():
    # log Z = -(1/2) (chi^2_n + log det C) + const, the chi-square independent of X: Var(chi^2_4 / 2) = 2.
    model = Problem((3,), 4, 0.5, X, X)
    rng = generator(14)
    inputs = rng.standard_normal((50_000, 3, 4)) / 3**0.5
    covariance = np.swapaxes(inputs, 1, 2) @ inputs + 0.5 * np.eye(4)
    expected = (2.0 + (0.5 * np.linalg.slogdet(covariance)[1]).var()) / 16
    within(FreeEntropyVariance(model)(generator(15), 400), expected)


def test_noise_of_the_estimates_does_not_add_to_the_variance():
    model = Problem((3, 3), 2, 0.05, ERF, TANH, 1.0, 0.1, time=1.0)
    rng = generator(16)
    exact = exact_pairs(model, draw_teacher(model, draw_normals(model, rng, 2000), rng))
    squares = (exact - exact.mean()) ** 2 / 4
    # Few and bad paths: their noise is of the order of what is measured.
    noisy = Schedule(2, (0.5, 1.0), angle=0.01)
    within(FreeEntropyVariance(model, noisy)(generator(17), 300), squares.mean(), squares.std() / 2000**0.5)


# Errors ------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "theirs"),
    [
        (Problem((6,), 8, 0.3, X, X), LinearModel((6,), 8, 0.3)),
        (Problem((6, 5), 4, 0.3, X, X, 0.8, 0.1, time=1.0), LinearModel((6,), 4, 0.4, eta2=0.64)),
        (Problem((4, 3), 5, 0.3, X, X), LinearModel((4, 3), 5, 0.3)),
    ],
)
def test_errors_of_linear_models(model, theirs):
    reference = LinearError(theirs)(generator(18), 4000)
    values = GeneralisationError(model)(generator(19), 150)
    for column in range(3):
        within(values[:, column], reference.mean(), reference.std() / 4000**0.5)


def test_error_of_one_sample_by_quadrature():
    # Y = tanh(2 v x) + noise from one sample, d_0 = 1: E[Y_new | D] is a ratio of one-dimensional sums over v.
    model = Problem((1,), 1, 0.1, X, TANH)
    rng = generator(20)
    v = np.linspace(-8, 8, 321)
    x, new, truth, noise = rng.standard_normal((4, 20_000))
    y = np.tanh(2 * truth * x) + 0.1**0.5 * noise
    mean = []
    for part in range(0, 20_000, 1000):
        cut = slice(part, part + 1000)
        weight = np.exp(-0.5 * v**2 - 0.5 * (y[cut, None] - np.tanh(2 * x[cut, None] * v)) ** 2 / 0.1)
        mean.append((weight * np.tanh(2 * new[cut, None] * v)).sum(axis=1) / weight.sum(axis=1))
    squares = (np.tanh(2 * truth * new) - np.concatenate(mean)) ** 2
    values = GeneralisationError(model)(generator(21), 800)
    within(values[:, 2], 0.1 + squares.mean(), squares.std() / 20_000**0.5)
    assert values[:, 0].mean() <= values[:, 1].mean() + ALLOWED * (values[:, 1] - values[:, 0]).std() / 800**0.5


def test_short_chains_open_the_bracket_of_an_error():
    """Chains that have not forgotten where they started must show as a bracket, low < truth <= high."""
    model = Problem((6,), 8, 0.3, X, X)
    reference = LinearError(LinearModel((6,), 8, 0.3))(generator(22), 4000)
    # For f linear the paths start in the posterior, so that the upper end is right; chains from the teacher have gone nowhere.
    short = Chains(warm=2, records=1, angle=0.02, leaps=1)
    values = GeneralisationError(model, short)(generator(23), 300)
    assert values[:, 0].mean() < reference.mean() - 0.1
    assert values[:, 1].mean() > reference.mean() - ALLOWED * values[:, 1].std() / 300**0.5


def test_gap_of_errors_is_the_difference():
    model = Problem((4, 4), 4, 0.2, ERF, TANH, ETA, GAMMA)
    gap = GeneralisationGap(model)(generator(24), 80)[:, 2]
    parts = [GeneralisationError(which)(generator(25), 80)[:, 2] for which in (model, model.linear)]
    stderr = np.sqrt(sum(part.var() for part in parts) / 80)
    within(gap, parts[0].mean() - parts[1].mean(), stderr)


# Contract ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sampler",
    [
        FreeEntropy(NETWORK),
        FreeEntropy(NETWORK.at(0.5)),
        MutualInformation(NETWORK.linear),
        InformationGap(NETWORK),
        FreeEntropyVariance(NETWORK),
        GeneralisationError(NETWORK),
        GeneralisationGap(NETWORK),
    ],
)
def test_samplers_are_picklable_and_reproducible(sampler):
    again = pickle.loads(pickle.dumps(sampler))
    assert again == sampler
    values = sampler(generator(26), 3)
    assert np.array_equal(values, again(generator(26), 3))
    assert values.shape == ((3,) if isinstance(sampler, FreeEntropyVariance) else (3, 3))
    assert np.isfinite(values).all()
    assert sampler.cost > 0
    assert sampler.version == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"noise": 0.0}, "noise must be > 0"),
        ({"noise": float("nan")}, "noise must be > 0"),
        ({"widths": ()}, "widths must be"),
        ({"n": 0}, "n >= 1"),
        ({"time": 1.5}, "time must be between 0"),
        ({"gamma0": -0.1}, "gamma0 is a variance"),
        ({"eta0": float("inf")}, "eta0 must be a finite"),
        ({"eta0": 0.0}, "eta0 and gamma0 are both 0"),
    ],
)
def test_bad_models_are_named(change, message):
    plain = {"widths": (4, 4), "n": 3, "noise": 0.2, "activation": ERF, "readout": TANH}
    with pytest.raises(ValueError, match=message):
        Problem(**{**plain, **change})


def test_an_error_needs_an_end_of_the_path():
    with pytest.raises(ValueError, match="time must be 0"):
        GeneralisationError(NETWORK.at(0.5))
    with pytest.raises(ValueError, match="even number"):
        Chains(warm=3)


def test_the_tilt_changes_no_mean():
    rng = generator(27)
    teacher = draw_teacher(NETWORK, draw_normals(NETWORK, rng, 1), rng)
    means = []
    for tilted in (False, True):
        data = posterior(NETWORK, teacher, rng, tilted)
        assert isinstance(data, Posterior)
        assert isinstance(data.target, NetworkTarget)
        weights = np.exp(log_weights(data.target, data.teachers, Schedule(20_001), rng).log[0, 1:])
        means.append((weights.mean(), weights.std() / 20_000**0.5))
    (a, ea), (b, eb) = means
    assert abs(a - b) < ALLOWED * np.hypot(ea, eb)
