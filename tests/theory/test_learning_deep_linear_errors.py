"""Generalisation of deep linear networks and mismatched students: against weight matrices, closed forms and known numbers."""

import math
import pickle

import numpy as np
import pytest

from theoryck.theory.learning.draws.deep_linear import FreeEntropy
from theoryck.theory.learning.draws.deep_linear_errors import (
    GeneralisationError,
    GeneralisationGap,
    NishimoriDefect,
    StudentError,
    StudentFreeEntropy,
)
from theoryck.theory.learning.draws.deep_linear_model import LinearModel

TEACHER = LinearModel((3, 2, 2), n=4, noise=0.5)
STUDENT = LinearModel((3, 2), n=4, noise=0.9, eta2=2.0)


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


def brute_force(teacher, student, sets=1500, particles=4000, seed=5):
    """Per data set: log Z/n, the defect, the errors of the posterior mean and of a sample, by weighting networks from the prior.

    Every figure is integrated over the new input, and so is a posterior sample; the bias of the weights is O(1/particles).
    """
    rng, rows = generator(seed), []
    for _ in range(sets):
        theta = directions(rng, teacher, 1)[0]
        inputs = rng.standard_normal((teacher.widths[0], teacher.n)) / math.sqrt(teacher.widths[0])
        outputs = theta @ inputs + math.sqrt(teacher.noise) * rng.standard_normal(teacher.n)
        prior = directions(rng, student, particles)
        logs = -0.5 * ((outputs - prior @ inputs) ** 2).sum(axis=1) / student.noise
        weights = np.exp(logs - logs.max())
        bias = weights.var() / (2 * particles * weights.mean() ** 2)
        evidence = logs.max() + math.log(weights.mean()) + bias - 0.5 * teacher.n * math.log(2 * math.pi * student.noise)
        weights /= weights.sum()
        mean = weights @ prior
        bayes, gibbs = ((theta - mean) ** 2).sum(), weights @ ((theta - prior) ** 2).sum(axis=1)
        rows.append(
            (evidence / teacher.n, mean @ (theta - mean) / teacher.widths[0], bayes / teacher.widths[0], gibbs / teacher.widths[0])
        )
    columns = np.array(rows)
    columns[:, 2:] += teacher.noise
    return [mean_and_error(column) for column in columns.T]


@pytest.mark.parametrize("student", [TEACHER, STUDENT, TEACHER.linear], ids=["matched", "mismatched", "linear"])
def test_against_weight_matrices(student):
    expected = brute_force(TEACHER, student, sets=1000, particles=3000)
    samplers = [
        StudentFreeEntropy(TEACHER, student),
        NishimoriDefect(TEACHER, student),
        StudentError(TEACHER, student, "mean"),
        StudentError(TEACHER, student, "sample"),
    ]
    for sampler, (mean, error) in zip(samplers, expected, strict=True):
        assert_mean(sampler(generator(), 4000), mean, 5 * error)
    if student == TEACHER:
        assert_mean(GeneralisationError(TEACHER)(generator(), 4000), expected[2][0], 5 * expected[2][1])


def test_mismatch_is_seen():
    matched, wrong = (NishimoriDefect(TEACHER, student)(generator(1), 4000) for student in (TEACHER, STUDENT))
    assert_mean(matched, 0.0)
    mean, error = mean_and_error(wrong)
    assert abs(mean) > 20 * error
    # Only the best linear predictor is needed for this identity: the linear student of the same covariance satisfies it too.
    assert_mean(NishimoriDefect(TEACHER, TEACHER.linear)(generator(2), 4000), 0.0)


def test_bayes_is_best_and_gibbs_is_twice_as_far():
    bayes, error = mean_and_error(GeneralisationError(TEACHER)(generator(1), 4000))
    assert_mean(StudentError(TEACHER, TEACHER)(generator(2), 4000), bayes, 5 * error)
    gibbs = StudentError(TEACHER, TEACHER, "sample")(generator(3), 4000)
    assert_mean(gibbs - TEACHER.noise, 2 * (bayes - TEACHER.noise), 10 * error)
    wrong, spread = mean_and_error(StudentError(TEACHER, STUDENT)(generator(4), 12_000))
    assert wrong - bayes > 5 * math.hypot(spread, error)


def test_the_true_model_has_the_larger_evidence():
    truth, error = mean_and_error(StudentFreeEntropy(TEACHER, TEACHER)(generator(1), 4000))
    assert_mean(FreeEntropy(TEACHER)(generator(2), 4000), truth, 5 * error)
    for student in (STUDENT, TEACHER.linear):
        other, spread = mean_and_error(StudentFreeEntropy(TEACHER, student)(generator(3), 4000))
        assert other < truth - 5 * math.hypot(error, spread)


def test_linear_student_of_linear_teacher_in_closed_form():
    # One sample, one input dimension: S = x^2, Y ~ N(0, S + 0.5), evaluated with noise 0.8 and eta2 1.4, by quadrature over x.
    teacher, student = LinearModel((1,), 1, 0.5), LinearModel((1,), 1, 0.8, eta2=1.4)
    x = np.linspace(-10, 10, 20_001)
    law = np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi) * (x[1] - x[0])
    assumed, truth = 1.4 * x**2 + 0.8, x**2 + 0.5
    expected = float(law @ (-0.5 * np.log(2 * np.pi * assumed) - 0.5 * truth / assumed))
    assert_mean(StudentFreeEntropy(teacher, student)(generator(), 20_000), expected)
    assert_mean(GeneralisationError(teacher)(generator(), 20_000), 0.5 + float(law @ (0.5 / truth)))
    gain = 1.4 * x / assumed
    expected = 0.5 + float(law @ ((1 - gain * x) ** 2 + 0.5 * gain**2))
    assert_mean(StudentError(teacher, student)(generator(), 20_000), expected)


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
    deep, error = mean_and_error(StudentError(model, model)(generator(1), 20_000))
    linear, spread = mean_and_error(GeneralisationError(model.linear)(generator(2), 200_000))
    gap, rest = mean_and_error(GeneralisationGap(model)(generator(3), 2000))
    assert abs(deep - linear - gap) < 5 * math.hypot(error, math.hypot(spread, rest))
    assert gap < -10 * rest
    assert not GeneralisationGap(model.linear)(generator(), 3).any()


SAMPLERS = [
    GeneralisationError(TEACHER),
    GeneralisationError(TEACHER.linear),
    GeneralisationGap(LinearModel((3, 2), 2, 0.5, tau=0.5)),
    StudentFreeEntropy(TEACHER, STUDENT),
    NishimoriDefect(TEACHER, STUDENT),
    StudentError(TEACHER, STUDENT, "sample"),
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


def test_wrong_pairs_are_refused():
    with pytest.raises(ValueError, match="same input dimension and n"):
        StudentFreeEntropy(TEACHER, LinearModel((3, 2), n=5, noise=0.5))
    with pytest.raises(ValueError, match="same input dimension and n"):
        NishimoriDefect(TEACHER, LinearModel((4, 2), n=4, noise=0.5))
    with pytest.raises(ValueError, match="predictor must be"):
        StudentError(TEACHER, STUDENT, "median")
