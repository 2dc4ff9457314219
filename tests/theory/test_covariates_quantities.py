"""Finite-size errors of the Gaussian covariate model: fits, traces, exact means, and the two routes against each other."""

import json
import math
import pickle
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import chi2

from theoryck.quantities import QuantityError
from theoryck.theory.covariates import draws as drawing
from theoryck.theory.covariates.draws import ErfFeatures, GaussianSource, conditional_moments, fit_logistic, fit_square
from theoryck.theory.covariates.limits import covariate_limit, error_variance_limit
from theoryck.theory.covariates.model import CovariateModel
from theoryck.theory.covariates.proved import isotropic_ridge, resolvent_traces
from theoryck.theory.covariates.quantities import covariate_error, covariate_variance, erf_features_error

ISO = CovariateModel([1.0], [1.0], rho=1, gamma=1)
FOUR = CovariateModel([0.2, 0.8, 1.4, 2.0], [0.02, 0.2, 0.3, 0.2], rho=1, gamma=0.5)
SIGMAS = 5.0
"""Two-sided false alarms at 6e-7 a comparison: a few dozen comparisons in this file."""


def drawn(quantity, draws, seed=0, **sizes):
    values = quantity.draw(np.random.default_rng(seed), draws, sizes)
    return values.mean(), values.std(ddof=1) / math.sqrt(draws)


def agree(first, second):
    return abs(first[0] - second[0]) < SIGMAS * math.hypot(first[1], second[1])


# Fits ------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "p"), [(9, 4), (4, 9), (5, 5)])
def test_square_fit_is_least_squares_on_augmented_data(n, p):
    rng = np.random.default_rng(1)
    inputs, labels = rng.standard_normal((3, n, p)), rng.standard_normal((3, n))
    for z, y, w in zip(inputs, labels, fit_square(inputs, labels, 0.3)):
        rows, targets = np.vstack([z, math.sqrt(0.3) * np.eye(p)]), np.append(y, np.zeros(p))
        assert w == pytest.approx(np.linalg.lstsq(rows, targets, rcond=None)[0], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("n", "p"), [(9, 4), (4, 9), (5, 5)])
@pytest.mark.parametrize("penalty", [1e-3, 1.0])
def test_logistic_fit_has_no_gradient(n, p, penalty):
    """Strong convexity: the distance to the minimum is at most |gradient|/penalty."""
    rng = np.random.default_rng(2)
    inputs, labels = 5 * rng.standard_normal((3, n, p)), np.sign(rng.standard_normal((3, n)))
    weights = fit_logistic(inputs, labels, penalty)
    margins = labels * np.einsum("bnp,bp->bn", inputs, weights)
    gradient = penalty * weights - np.einsum("bnp,bn->bp", inputs, labels * expit(-margins))
    assert abs(gradient).max() < 1e-9
    shifted = weights * (1 + 1e-6)
    margins = labels * np.einsum("bnp,bp->bn", inputs, shifted)
    assert abs(penalty * shifted - np.einsum("bnp,bn->bp", inputs, labels * expit(-margins))).max() > 1e-9


def test_a_logistic_fit_that_does_not_arrive_is_an_error(monkeypatch):
    monkeypatch.setattr(drawing, "MAX_STEPS", 2)
    with pytest.raises(QuantityError, match=r"not solved in 2 Newton steps at penalty = 0\.001"):
        fit_logistic(np.ones((1, 2, 1)), np.ones((1, 2)), 1e-3)


# Exact means -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [1, 2, 5])
@pytest.mark.parametrize("mu", [0.5, 10])
def test_traces_of_one_sample(p, mu):
    """One eigenvalue is chi^2_p/p, the others are 0."""
    first, second = resolvent_traces(1, p, Fraction(mu), 20)
    for power, trace in ((1, first), (2, second)):
        mean = quad(lambda x, k=power: chi2.pdf(x, p) / (1 + mu * x / p) ** k, 0, np.inf, epsabs=1e-13, epsrel=1e-11)[0]
        assert float(trace) == pytest.approx((p - 1 + mean) / p, rel=1e-9)
        assert trace.rigorous
        assert float(trace.radius / abs(trace.midpoint)) < 1e-17


def test_the_optimal_penalty_gives_the_bayes_error():
    """At lambda = noise the test error is noise + T_1: the two traces of the formula combine to one."""
    first, _ = resolvent_traces(6, 4, Fraction(2), 20)
    error = isotropic_ridge("test_error", 6, 4, Fraction(1), Fraction(1), Fraction(1, 2), Fraction(1, 2), 20)
    assert float(error) == pytest.approx(0.5 + float(first), rel=1e-15)


@pytest.mark.parametrize("what", ["test_error", "train_loss"])
@pytest.mark.parametrize(("n", "p"), [(12, 6), (6, 12)])
def test_exact_and_drawn_ridge(what, n, p):
    """An isotropic model with a residual, in other units: two samplers and the exact value agree; a wrong noise would not."""
    model = CovariateModel([2.0], [1.5], rho=1.25, gamma=0.75)
    quantity = covariate_error(model, 0.3, noise=0.2, what=what)
    exact = float(quantity.exact({"n": n, "p": p}))
    for teacher in ("drawn", "given features"):
        mean = drawn(covariate_error(model, 0.3, noise=0.2, what=what, teacher=teacher), 20000, n=n, p=p)
        assert agree(mean, (exact, 0.0))
    other = float(covariate_error(model, 0.3, noise=0.25, what=what).exact({"n": n, "p": p}))
    assert not agree(mean, (other, 0.0))


def test_exact_values_tend_to_the_fixed_point_like_one_over_p():
    quantity = covariate_error(ISO, 0.1, noise=0.25)
    limit = covariate_limit(ISO, 2, 0.1, noise=0.25).test_error
    gaps = [float(quantity.exact({"n": 2 * p, "p": p})) - limit for p in (16, 32, 64)]
    ratios = [a / b for a, b in pairwise(gaps)]
    # gap = c/p (1 + O(1/p)): the ratios tend to 2 with a distance that halves.
    assert ratios == pytest.approx([2, 2], abs=0.05)
    assert abs(ratios[1] - 2) < 0.6 * abs(ratios[0] - 2)


def test_where_there_is_no_exact_value():
    assert covariate_error(ISO, 0.1).exact({"n": 500, "p": 500}) is None
    for quantity in (covariate_error(FOUR, 0.1), covariate_error(ISO, 0.1, "logistic"), covariate_variance(ISO, 0.1)):
        assert not quantity.can_exact
        assert quantity.exact({"n": 4, "p": 4}) is None


# Given the features ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "p"), [(5, 3), (3, 5)])
def test_conditional_moments_from_their_definition(n, p):
    """Errors as quadratic forms in (b, e), written out: A from the estimator w = (Z^T Z + lambda)^-1 Z^T (Z b + e)."""
    rng = np.random.default_rng(4)
    z, omega, spread, residual, penalty = rng.standard_normal((n, p)), rng.uniform(0.5, 2, p), rng.uniform(0, 1, p), 0.7, 0.3
    labels = np.hstack([z, np.eye(n)])
    weights = np.linalg.solve(z.T @ z + penalty * np.eye(p), z.T @ labels)
    miss = weights - np.hstack([np.eye(p), np.zeros((p, n))])
    fitted = labels - z @ weights
    law = np.diag(np.append(spread, np.full(n, residual)))
    forms = {"test_error": (miss.T @ (omega[:, None] * miss) / p, residual), "train_loss": (fitted.T @ fitted / n, 0.0)}
    for what, (form, rest) in forms.items():
        found = conditional_moments(what, z[None], omega, spread, residual, penalty)[0]
        product = form @ law
        assert found == pytest.approx([np.trace(product) + rest, 2 * np.trace(product @ product)], rel=1e-10)


@pytest.mark.parametrize("what", ["test_error", "train_loss"])
def test_variances_by_two_routes_and_their_limit(what):
    """Data sets with their own teachers against traces given the features; n Var near its limit; averaged ones are far smaller."""
    sizes = {"n": 16, "p": 8}
    pairs = drawn(covariate_variance(FOUR, 0.5, noise=0.25, what=what), 3000, **sizes)
    traces = drawn(covariate_variance(FOUR, 0.5, noise=0.25, what=what, teacher="given features"), 1000, **sizes)
    averaged = drawn(covariate_variance(FOUR, 0.5, noise=0.25, what=what, teacher="averaged"), 1000, **sizes)
    assert agree(pairs, traces)
    assert not agree(averaged, traces)
    limit = error_variance_limit(ISO, 2, 0.5, noise=0.25, what=what)
    found = drawn(covariate_variance(ISO, 0.5, noise=0.25, what=what, teacher="given features"), 100, n=128, p=64)[0]
    assert 128 * found == pytest.approx(limit, rel=0.05)  # corrections of order 1/n with constants of order 1 (2% and less here)


# Simulation against the fixed point ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", ["classification", "logistic"])
@pytest.mark.parametrize("what", ["test_error", "train_loss"])
def test_simulated_classifiers_are_near_the_fixed_point(task, what):
    """Within 5 standard errors and a correction of 1/p relative, at p = 32; a penalty ten times as large is told apart."""
    mean, stderr = drawn(covariate_error(FOUR, 0.1, task, what=what), 400, n=64, p=32)
    limit = getattr(covariate_limit(FOUR, 2, 0.1, task), what)
    assert abs(mean - limit) < SIGMAS * stderr + limit / 32
    if what == "train_loss":
        other = getattr(covariate_limit(FOUR, 2, 1.0, task), what)
        assert abs(mean - other) > SIGMAS * stderr + limit / 32


def test_erf_features_have_the_covariances_they_say():
    """Population covariances of one F against a million inputs: entries are bounded by 1, so 5/sqrt(10^6) bounds the noise."""
    source = ErfFeatures(0.0, 200_000, 3, 2)
    stack = source(np.random.default_rng(5), 1)
    v, nu = stack.inputs[0] * math.sqrt(3), stack.field[0]
    assert v.T @ v / len(v) == pytest.approx(stack.covariance[0], abs=SIGMAS / math.sqrt(len(v)))
    scale = nu.std()
    assert v.T @ nu / len(v) == pytest.approx(stack.cross[0], abs=SIGMAS * scale / math.sqrt(len(v)))
    assert (nu @ nu / len(v)) == pytest.approx(stack.variance[0], rel=SIGMAS * math.sqrt(2 / len(v)))


def test_gaussian_source_has_the_covariances_it_says():
    source = GaussianSource(FOUR, 0.1, 100_000, 4)
    stack = source(np.random.default_rng(6), 1)
    v, nu = stack.inputs[0] * 2, stack.field[0]
    assert v.T @ v / len(v) == pytest.approx(np.diag(stack.covariance), abs=SIGMAS * 3 / math.sqrt(len(v)))
    assert v.T @ nu / len(v) == pytest.approx(stack.cross[0], abs=SIGMAS * 2 * nu.std() / math.sqrt(len(v)))
    many = GaussianSource(FOUR, 0.1, 1, 4)(np.random.default_rng(7), 50_000)
    assert many.variance.mean() == pytest.approx(FOUR.rho + 0.1, abs=SIGMAS * many.variance.std() / math.sqrt(50_000))
    # E c_i^2 is t_i, over p for this normalisation of v and k = gamma p.
    squares = (many.cross**2).mean(axis=0) * 4
    assert squares == pytest.approx(np.array(FOUR.diagonal) / FOUR.gamma, rel=SIGMAS * math.sqrt(2 / 50_000))


# The quantity ----------------------------------------------------------------------------------------------------------------


def test_it_is_data_that_travels():
    for quantity in (covariate_variance(FOUR, 0.1, "logistic"), erf_features_error(0.1), covariate_error(ISO, 0.1)):
        sizes = dict.fromkeys(quantity.size_names, 4)
        copy = pickle.loads(pickle.dumps(quantity))
        first, second = (q.draw(np.random.default_rng(3), 5, sizes) for q in (quantity, copy))
        assert first.tolist() == second.tolist()
        assert json.loads(json.dumps(quantity.parameters)) == quantity.parameters
        assert quantity.cost(sizes) > 0
        assert str(quantity)


@pytest.mark.parametrize("quantity", [covariate_error(FOUR, 0.1), covariate_variance(FOUR, 0.1, teacher="averaged")])
def test_draws_come_in_stacks_and_are_all_different(monkeypatch, quantity):
    monkeypatch.setattr(drawing, "WORKING", 3 * 8 * 4 * 8)
    values = quantity.sampler({"n": 8, "p": 4})(np.random.default_rng(0), 8)
    assert len(set(values.tolist())) == 8


@pytest.mark.parametrize("penalty", [1e-4, 1e-10])
def test_interpolated_data_have_a_training_loss_of_penalty_squared(penalty):
    """Fewer samples than features, no signal: (1/n) lambda^2 tr Q^2, here of the one sample (1, 1, 1) with Q = 1/(3 + lambda)."""
    inputs = np.ones((1, 1, 3))
    mean, variance = conditional_moments("train_loss", inputs, np.ones(3), np.zeros(3), 5.0, penalty)[0]
    expected = (penalty / (3 + penalty)) ** 2
    assert mean == pytest.approx(5 * expected, rel=1e-12)
    assert variance == pytest.approx(50 * expected**2, rel=1e-12)


@pytest.mark.parametrize("task", ["ridge", "classification", "logistic"])
def test_features_without_variance_change_nothing(task):
    """Four features of which two are silent are two features at twice the penalty: w.v/sqrt(p) has another p."""
    silent = covariate_error(CovariateModel([1.0, 0.0], [0.5, 0.0], 1, 1), 0.1, task)
    plain = covariate_error(CovariateModel([1.0], [0.25], 1, 1), 0.2, task)
    assert agree(drawn(silent, 4000, n=3, p=4), drawn(plain, 4000, seed=1, n=3, p=2))


def test_features_that_floats_cannot_tell_apart():
    model = CovariateModel([1.0, 1e-40], [0.5, 0.0], 1, 1)
    with pytest.raises(QuantityError, match=r"the features span too few directions in floats at penalty = 0\.1"):
        covariate_error(model, 0.1, "logistic").draw(np.random.default_rng(0), 2, {"n": 8, "p": 10})


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: covariate_error(ISO, 0), "penalty must be a number > 0, got 0"),
        (lambda: covariate_error(ISO, 1, noise=-1), "noise must be a number >= 0, got -1"),
        (
            lambda: covariate_error(ISO, 1e-20),
            "penalty must lie between 1e-12 and 1e.12 times the largest variance of a feature, 1",
        ),
        (lambda: covariate_error(ISO, 1e300), "penalty must lie between"),
        (lambda: covariate_error(ISO, 1, ["ridge"]), "task must be one of"),
        (lambda: covariate_error("iso", 1), "model must be a theoryck.theory.covariates.CovariateModel, got 'iso'"),
        (lambda: covariate_error(ISO, 1, "hinge"), "task must be one of 'ridge', 'classification', 'logistic', got 'hinge'"),
        (lambda: covariate_error(ISO, 1, what="loss"), "what must be one of 'test_error', 'train_loss', got 'loss'"),
        (lambda: covariate_error(ISO, 1, teacher="averaged"), "teacher must be one of 'drawn', 'given features', got"),
        (lambda: covariate_variance(ISO, 1, "logistic", teacher="averaged"), "teacher must be 'drawn' for logistic"),
        (lambda: erf_features_error(1, moment="mode"), "moment must be one of 'mean', 'variance', got 'mode'"),
        (lambda: covariate_error(FOUR, 1).sampler({"n": 4, "p": 6}), "p = 6 features cannot have the model's spectrum of 4"),
        (lambda: covariate_error(FOUR, 1).sampler({"n": 4}), "needs the size 'p'"),
    ],
)
def test_refusals(build, message):
    with pytest.raises(QuantityError, match=message):
        build()
