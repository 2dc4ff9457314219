"""Generalisation of deep linear networks: against weight matrices, closed forms and known numbers."""

import math
import pickle

import numpy as np
import pytest

from theoryck.theory.learning.draws.deep_linear import GeneralisationError, GeneralisationGap
from theoryck.theory.learning.draws.deep_linear_model import LinearModel

TEACHER = LinearModel((3, 2, 2), n=4, noise=0.5)


def generator(seed=0):
    return np.random.Generator(np.random.SFC64(seed))


def mean_and_error(values):
    return float(values.mean()), float(values.std(ddof=1) / math.sqrt(len(values)))


def assert_mean(values, expected, slack=0.0):
    """A correct mean misses by more than 5 standard errors once in 2e6; ``slack`` is the error of the expected value."""
    mean, error = mean_and_error(values)
    assert abs(mean - expected) < 5 * error + slack, (mean, error, expected)


def directions(rng, model, draws):
    """theta (draws, d_0) of networks with all their weight matrices."""
    vectors = rng.standard_normal((draws, 1, model.widths[-1]))
    for below, above in zip(model.widths[-2::-1], model.widths[:0:-1], strict=True):
        vectors = vectors @ rng.standard_normal((draws, above, below)) / math.sqrt(above)
    return math.sqrt(model.eta2) * vectors[:, 0, :]


def test_against_weight_matrices():
    """The error of the posterior mean, by weighting networks from the prior; the bias of the weights is O(1/particles)."""
    rng, sets, particles, errors = generator(5), 1000, 3000, []
    for _ in range(sets):
        theta = directions(rng, TEACHER, 1)[0]
        inputs = rng.standard_normal((TEACHER.widths[0], TEACHER.n)) / math.sqrt(TEACHER.widths[0])
        outputs = theta @ inputs + math.sqrt(TEACHER.noise) * rng.standard_normal(TEACHER.n)
        prior = directions(rng, TEACHER, particles)
        logs = -0.5 * ((outputs - prior @ inputs) ** 2).sum(axis=1) / TEACHER.noise
        weights = np.exp(logs - logs.max())
        mean = weights @ prior / weights.sum()
        # Integrated over the new input.
        errors.append(TEACHER.noise + ((theta - mean) ** 2).sum() / TEACHER.widths[0])
    expected, error = mean_and_error(np.array(errors))
    assert_mean(GeneralisationError(TEACHER)(generator(), 4000), expected, 5 * error)


def test_one_sample_in_closed_form():
    # One sample, one input dimension: Y ~ N(0, x^2 + 0.5), by quadrature over x.
    x = np.linspace(-10, 10, 20_001)
    law = np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi) * (x[1] - x[0])
    expected = 0.5 + float(law @ (0.5 / (x**2 + 0.5)))
    assert_mean(GeneralisationError(LinearModel((1,), 1, 0.5))(generator(), 20_000), expected)


@pytest.mark.parametrize(("n", "tau"), [(128, 0.5), (384, (-5 + math.sqrt(33)) / 4)])
def test_error_of_the_linear_model_in_the_limit(n, tau):
    # E^(0) = noise + tau(alpha, 2), tau = [-(1 + 2 (alpha - 1)) + sqrt((1 + 2 (alpha - 1))^2 + 8)]/4, up to O(1/d).
    assert_mean(GeneralisationError(LinearModel((128,), n, 0.5))(generator(), 4000), 0.5 + tau, 1 / 128)


@pytest.mark.parametrize(("depth", "expected"), [(1, -0.0368), (3, -0.221)])
def test_gap_times_width(depth, expected):
    values = 128 * GeneralisationGap(LinearModel((128,) * (depth + 1), 128, 0.5))(generator(), 300)
    assert np.all(values <= 0)
    # Known for widths up to 256 to 1%; corrections O(1/d).
    assert_mean(values, expected, 0.03 * abs(expected))


def test_gap_is_the_difference():
    model = LinearModel((4, 3, 3), 6, 0.3, eta2=1.3)
    deep, error = mean_and_error(GeneralisationError(model)(generator(1), 20_000))
    linear, spread = mean_and_error(GeneralisationError(model.linear)(generator(2), 200_000))
    gap, rest = mean_and_error(GeneralisationGap(model)(generator(3), 2000))
    assert abs(deep - linear - gap) < 5 * math.hypot(error, math.hypot(spread, rest))
    assert gap < -10 * rest
    assert not GeneralisationGap(model.linear)(generator(), 3).any()


SAMPLERS = [
    GeneralisationError(TEACHER),
    GeneralisationError(TEACHER.linear),
    GeneralisationGap(LinearModel((3, 2), 2, 0.5, tau=0.5)),
]


@pytest.mark.parametrize("sampler", SAMPLERS, ids=lambda sampler: type(sampler).__name__)
def test_samplers_travel_and_repeat(sampler):
    values = sampler(generator(), 7)
    assert (values.shape, values.dtype) == ((7,), np.float64)
    assert np.isfinite(values).all()
    again = pickle.loads(pickle.dumps(sampler))
    assert again == sampler
    np.testing.assert_array_equal(again(generator(), 7), values)
    assert sampler.cost >= 1
    assert sampler.version == 1
    assert sampler(generator(), 0).shape == (0,)
