"""Fixed points of the Gaussian covariate model: reference values, the printed equations in mpmath, exact limits, refusals."""

import csv
import json
import math
from pathlib import Path

import mpmath
import numpy as np
import pytest

from theoryck.numerics.errors import NotConverged
from theoryck.theory.covariates import limits
from theoryck.theory.covariates.limits import covariate_limit, error_variance_limit, separability_threshold
from theoryck.theory.covariates.model import CovariateModel, marchenko_pastur_nodes
from theoryck.theory.learning.limits.linear import linear_error

DATA = Path(__file__).parents[1] / "data"
MODELS = {
    name: CovariateModel(entry["spec_Omega"], entry["diagonal_term"], entry["rho"], entry["gamma"])
    for name, entry in json.loads((DATA / "gcm_models.json").read_text()).items()
}
with (DATA / "gcm_fixed_points.csv").open() as file:
    ROWS = list(csv.DictReader(file))
TASKS = {"ridge_regression": "ridge", "l2_classification": "classification", "logistic_regression": "logistic"}
COLUMNS = ("V", "q", "m", "test_error", "train_loss")
COARSE = ("iso", "logistic_regression", "4.0", "0.01")
ISO, GENERIC = MODELS["iso"], MODELS["generic_p40_gamma0.5"]


def key(row):
    return row["model"], row["task"], row["alpha"], row["lambda"]


def solve(row, **options):
    return covariate_limit(MODELS[row["model"]], float(row["alpha"]), float(row["lambda"]), TASKS[row["task"]], **options)


def largest_gap(point, row):
    return max(abs(getattr(point, name) / float(row[name]) - 1) for name in COLUMNS)


# Reference values ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", TASKS)
def test_reference_values(task):
    """Square losses to 1e-12 (25 digits in the file); logistic to 1e-8, what 200 Gauss-Hermite nodes give in all rows but one."""
    rows = [row for row in ROWS if row["task"] == task and key(row) != COARSE]
    assert len(rows) == {"ridge_regression": 32, "l2_classification": 32, "logistic_regression": 23}[task]
    worst = max(largest_gap(solve(row), row) for row in rows)
    assert worst < (1e-8 if task == "logistic_regression" else 1e-12)


def test_a_wrong_value_would_be_seen():
    row = dict(ROWS[0], q=str(float(ROWS[0]["q"]) * (1 + 1e-11)))
    assert largest_gap(solve(row), row) > 5e-12


def printed_logistic(model, alpha, penalty, V, q, m, mean):
    """One iteration of the equations as printed in the paper, both labels and Z_+- by erfc; ``mean`` integrates over N(0, 1)."""
    rho, star = model.rho, model.rho - m * m / q

    def prox(omega, y):
        x = mpmath.mpf(0)
        for _ in range(200):
            f = 1 / (1 + mpmath.exp(y * x))
            step = (x - y * V * f - omega) / (1 + V * f * (1 - f))
            x -= step
            if abs(step) < mpmath.mpf(10) ** -17 * (1 + abs(x)):
                return x
        raise AssertionError("the proximal point was not found")

    def terms(xi):
        omega, centre = mpmath.sqrt(q) * xi, m * xi / mpmath.sqrt(q)
        slope = mpmath.exp(-(centre**2) / (2 * star)) / mpmath.sqrt(2 * mpmath.pi * star)
        found = [mpmath.mpf(0)] * 4
        for y in (1, -1):
            share, x = mpmath.erfc(-y * centre / mpmath.sqrt(2 * star)) / 2, prox(omega, y)
            f, curvature = (x - omega) / V, 1 / (2 + 2 * mpmath.cosh(x))
            parts = share * curvature / (1 + V * curvature), share * f * f, y * slope * f, share * mpmath.log1p(mpmath.exp(-y * x))
            found = [a + b for a, b in zip(found, parts)]
        return found

    v_hat, q_hat, m_hat, loss = mean(terms)
    v_hat, q_hat, m_hat = alpha * v_hat, alpha * q_hat, alpha * m_hat / math.sqrt(model.gamma)
    bins = [(w, t, 1 / (penalty + v_hat * w)) for w, t in zip(model.omega, model.diagonal)]
    count = len(bins)
    return (
        sum(w * r for w, _, r in bins) / count,
        sum((q_hat * w + m_hat**2 * t) * w * r * r for w, t, r in bins) / count,
        m_hat / math.sqrt(model.gamma) * sum(t * r for _, t, r in bins) / count,
        mpmath.acos(m / mpmath.sqrt(rho * q)) / mpmath.pi,
        loss,
    )


def by_trapezoid(step):
    def mean(terms):
        nodes = [step * k for k in range(-round(9 / step), round(9 / step) + 1)]
        values = [(mpmath.npdf(xi) * step, terms(xi)) for xi in nodes]
        return [mpmath.fsum(w * v[i] for w, v in values) for i in range(4)]

    return mean


def by_gauss_hermite(terms):
    nodes, weights = np.polynomial.hermite_e.hermegauss(200)
    values = [(w / math.sqrt(2 * math.pi), terms(mpmath.mpf(xi))) for xi, w in zip(nodes.tolist(), weights.tolist())]
    return [mpmath.fsum(w * v[i] for w, v in values) for i in range(4)]


def drift(model, alpha, penalty, values, mean):
    with mpmath.workdps(20):
        new = printed_logistic(model, alpha, penalty, *(mpmath.mpf(value) for value in values[:3]), mean)
    return max(abs(float(a / b) - 1) for a, b in zip(new, values))


@pytest.mark.parametrize(("model", "alpha", "penalty"), [(ISO, 4.0, 0.01), (GENERIC, 2.0, 0.1)])
def test_logistic_solves_the_printed_equations(model, alpha, penalty):
    """One more iteration in multiple precision changes V, q, m by rounding only: 1e-12 leaves a factor of 100 to it."""
    point = covariate_limit(model, alpha, penalty, "logistic")
    values = [getattr(point, name) for name in COLUMNS]
    assert drift(model, alpha, penalty, values, by_trapezoid(0.05)) < 1e-12
    values[1] *= 1 + 1e-6
    assert drift(model, alpha, penalty, values, by_trapezoid(0.05)) > 1e-7


def test_the_coarse_reference_row_is_a_fixed_point_of_its_quadrature_only():
    """The row left out above solves the equations with 200 Gauss-Hermite nodes and misses the true ones by more than 1e-7."""
    row = next(row for row in ROWS if key(row) == COARSE)
    values = [float(row[name]) for name in COLUMNS]
    assert drift(ISO, 4.0, 0.01, values, by_gauss_hermite) < 1e-10
    assert drift(ISO, 4.0, 0.01, values, by_trapezoid(0.05)) > 1e-7
    assert 1e-6 < largest_gap(solve(row), row) < 1e-5


def test_ridge_solves_the_printed_equations():
    """Plain iteration of the three equations on another spectrum, with label noise; the noise is part of the error."""
    rng = np.random.default_rng(3)
    omega, diagonal = rng.uniform(0.1, 3, 7), rng.uniform(0, 0.3, 7)
    model, alpha, penalty, noise = CovariateModel(omega, diagonal, 4.0, 0.7), 1.3, 0.05, 0.2
    V, q, m = 1.0, 1.0, 0.1
    for _ in range(3000):
        error = model.rho + noise + q - 2 * m
        v_hat, q_hat, m_hat = alpha / (1 + V), alpha * error / (1 + V) ** 2, alpha / math.sqrt(model.gamma) / (1 + V)
        resolvent = 1 / (penalty + v_hat * omega)
        V, q = (omega * resolvent).mean(), ((q_hat * omega + m_hat**2 * diagonal) * omega * resolvent**2).mean()
        m = m_hat / math.sqrt(model.gamma) * (diagonal * resolvent).mean()
    point = covariate_limit(model, alpha, penalty, noise=noise)
    # The plain iteration ends at its rounding, the closed form before it.
    assert (point.V, point.q, point.m) == pytest.approx((V, q, m), rel=1e-12)
    assert (point.test_error, point.train_loss) == pytest.approx((error, error / (1 + V) ** 2), rel=1e-12)


# What must hold for any model ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", TASKS.values())
def test_units_of_the_features_and_multiplicities(task):
    """v -> 2 v with lambda -> 4 lambda changes no prediction; an eigenvalue may be written twice, or with a weight."""
    plain = covariate_limit(GENERIC, 1.5, 0.1, task, noise=0.1)
    omega, diagonal = np.array(GENERIC.omega), np.array(GENERIC.diagonal)
    scaled = covariate_limit(CovariateModel(4 * omega, 4 * diagonal, 1, 0.5), 1.5, 0.4, task, noise=0.1)
    doubled = covariate_limit(CovariateModel(np.tile(omega, 2), np.tile(diagonal, 2), 1, 0.5), 1.5, 0.1, task, noise=0.1)
    weighted = covariate_limit(CovariateModel(omega, diagonal, 1, 0.5, [3] * 40), 1.5, 0.1, task, noise=0.1)
    for other in (scaled, doubled, weighted):
        assert (other.test_error, other.train_loss) == pytest.approx((plain.test_error, plain.train_loss), rel=1e-12)


@pytest.mark.parametrize("task", ["classification", "logistic"])
def test_noise_is_variance_that_no_feature_explains(task):
    noisy = covariate_limit(GENERIC, 1.5, 0.1, task, noise=0.3)
    model = CovariateModel(GENERIC.omega, GENERIC.diagonal, 1.3, 0.5)
    assert covariate_limit(model, 1.5, 0.1, task).test_error == pytest.approx(noisy.test_error, rel=1e-13)
    assert noisy.test_error > covariate_limit(GENERIC, 1.5, 0.1, task).test_error


@pytest.mark.parametrize("alpha", [0.3, 1, 4])
def test_matched_ridge_at_the_optimal_penalty_is_bayes_optimal(alpha):
    assert covariate_limit(ISO, alpha, 0.5, noise=0.5).test_error == pytest.approx(linear_error(alpha, 0.5), rel=1e-13)


def test_random_features_from_matrices_and_in_the_limit():
    """Drawn F of 300 rows has errors of the limiting spectrum to 1/p."""
    features = np.random.default_rng(0).standard_normal((300, 150)) / math.sqrt(150)
    matrices = CovariateModel.from_matrices(np.eye(150), 0.65 * features.T, 0.65**2 * features @ features.T + 0.04 * np.eye(300))
    limit = CovariateModel.random_features(0.65, 0.2, 0.5)
    for task in TASKS.values():
        one, three = (covariate_limit(model, 1.2, 0.05, task).test_error for model in (matrices, limit))
        assert three == pytest.approx(one, rel=0.01)
        assert covariate_limit(CovariateModel.random_features(0.65, 0.3, 0.5), 1.2, 0.05, task).test_error > 1.01 * three


@pytest.mark.parametrize("ratio", [0.3, 1.0, 2.5])
def test_marchenko_pastur_moments(ratio):
    """1, 1 + r, 1 + 3 r + r^2 are the first three moments, for ratios on both sides of the hard edge."""
    points, weights = marchenko_pastur_nodes(ratio, 1.0)
    moments = [weights @ points**k for k in (0, 1, 2, 3)]
    assert moments == pytest.approx([1, 1, 1 + ratio, 1 + 3 * ratio + ratio**2], rel=1e-12)


# Ends of the ranges ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", ["ridge", "classification"])
def test_no_penalty_below_interpolation(task):
    limit, near = covariate_limit(GENERIC, 0.5, 0, task), covariate_limit(GENERIC, 0.5, 1e-10, task)
    assert (limit.V, limit.train_loss) == (math.inf, 0)
    assert limit.test_error == pytest.approx(near.test_error, rel=1e-9)
    assert near.train_loss < 1e-18


def test_no_penalty_above_interpolation_is_least_squares():
    """alpha/(alpha - 1) times what is not explained, for any spectrum of full rank (Gaussian residuals)."""
    for alpha in (1.01, 2, 50):
        point = covariate_limit(GENERIC, alpha, 0, noise=0.1)
        assert point.test_error == pytest.approx((GENERIC.residual + 0.1) * alpha / (alpha - 1), rel=1e-12)
        assert point.train_loss == pytest.approx((GENERIC.residual + 0.1) * (alpha - 1) / alpha, rel=1e-12)


def test_directions_without_variance_do_not_count():
    """Half of Omega is zero: alpha = 1/2 is then the threshold of interpolation, and its divergence is an error."""
    model = CovariateModel([1, 0], [0.5, 0], 1, 1)
    assert covariate_limit(model, 0.75, 0).test_error == pytest.approx(0.75 * 0.75 / 0.25)
    with pytest.raises(NotConverged, match=r"infinite at alpha = 0\.5"):
        covariate_limit(model, 0.5, 0)


@pytest.mark.parametrize("task", TASKS.values())
def test_few_samples_and_strong_penalties_know_nothing(task):
    guess = 1 if task == "ridge" else 0.5
    few, strong = covariate_limit(GENERIC, 1e-7, 0.1, task), covariate_limit(GENERIC, 1, 1e9, task)
    # What few samples explain is of order alpha, and the angle moves by its root; a strong penalty shrinks w, not its angle.
    assert few.test_error == pytest.approx(guess, abs=1e-3)
    assert max(few.q, strong.q) < 1e-5
    if task == "ridge":
        assert strong.test_error == pytest.approx(1, abs=1e-8)
    else:
        assert strong.test_error < 0.49
    many = covariate_limit(GENERIC, 1e6, 0.1, task).test_error
    best = GENERIC.residual if task == "ridge" else math.acos(math.sqrt(GENERIC.explained)) / math.pi
    assert many == pytest.approx(best, rel=1e-5)


@pytest.mark.parametrize("task", TASKS.values())
def test_features_that_know_nothing_of_the_teacher(task):
    point = covariate_limit(CovariateModel([1.0, 2.0], [0.0, 0.0], 1, 1), 1.5, 0.1, task)
    assert point.m == 0
    assert point.test_error == (pytest.approx(1 + point.q, rel=1e-13) if task == "ridge" else 0.5)
    assert point.residual < 1e-12


def test_logistic_over_twelve_decades():
    """Residuals stay at rounding from penalty 1e-8 to 1e4 and alpha 1e-2 to 1e2, with tails and weights of all sizes."""
    for model in (GENERIC, ISO):
        for alpha in (1e-2, 1, 1e2):
            for penalty in (1e-6, 1e-3, 1, 1e4):
                assert covariate_limit(model, alpha, penalty, "logistic").residual < 1e-12


def test_separable_data_are_refused_without_penalty():
    """Labels at random are separable up to alpha = 2 (Cover); with a signal longer; the estimate exists just above."""
    noise_only = CovariateModel([1.0], [0.0], 1, 1)
    assert separability_threshold(noise_only) == pytest.approx(2, rel=1e-9)
    assert separability_threshold(ISO) == math.inf
    threshold = separability_threshold(GENERIC)
    assert threshold > 2.3
    with pytest.raises(NotConverged, match=rf"no minimum at alpha = {0.99 * threshold:.6g}: up to alpha = {threshold:.6g}"):
        covariate_limit(GENERIC, 0.99 * threshold, 0, "logistic")
    near, nearer = (covariate_limit(GENERIC, threshold * (1 + gap), 0, "logistic") for gap in (1e-2, 1e-3))
    assert nearer.q > 10 * near.q  # the weights grow without bound as the threshold is approached
    assert nearer.residual < 1e-12


def test_where_it_stopped_is_told(monkeypatch):
    monkeypatch.setattr(limits, "MAX_STEPS", 2)
    with pytest.raises(NotConverged, match=r"stopped at V = [\d.]+, q = [\d.]+, m = [\d.]+, where step 2 was .* long"):
        covariate_limit(GENERIC, 2, 0.01, "logistic")
    monkeypatch.setattr(limits, "KAPPA_STEPS", 2)
    with pytest.raises(NotConverged, match=r"not reached in 2 steps: it stopped at [\d.]+ with a residual"):
        covariate_limit(GENERIC, 0.5, 0.01)
    monkeypatch.undo()
    monkeypatch.setattr(limits, "MOST_NODES", 10)
    with pytest.raises(NotConverged, match="nodes of quadrature were needed"):
        covariate_limit(GENERIC, 2, 0.01, "logistic")


def test_variance_limit_of_a_teacher_without_samples_and_its_refusals():
    """n Var of |theta|^2/p over chi-square draws is 2 alpha; of the training error with w = 0 it is 2 rho^2."""
    assert error_variance_limit(ISO, 1e-6, 1e6) == pytest.approx(2e-6, rel=1e-4)
    assert error_variance_limit(ISO, 1, 1e9, what="train_loss") == pytest.approx(2 * (1 + 1), rel=1e-6)  # E (x + 0)^2 = 2
    with pytest.raises(ValueError, match="isotropic"):
        error_variance_limit(GENERIC, 1, 1)


# Refusals --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 2], [1], 1, 1), "diagonal must have 2 entries, as many as there are eigenvalues, got 1"),
        (([1, -2], [1, 1], 1, 1), "omega must be a sequence of numbers between 0 and 1e.30, got -2.0 at 1"),
        (([1], [math.nan], 1, 1), "diagonal must be .* got nan at 0"),
        (([0.0], [0.0], 1, 1), "a student that sees nothing"),
        (([1, 0], [1, 1], 9, 1), "diagonal must be 0 where omega is 0"),
        (([1], [1], 0.5, 1), r"rho = 0.5 is less than the 1 = \(1/gamma\)"),
        (([1], [1], 1, 0), "gamma must be a number > 0, got 0"),
        (([[1]], [1], 1, 1), r"omega must be .* got \[1\] at 0"),
        (([1], [1], 1, 1, [0]), "a student that sees nothing"),
    ],
)
def test_models_that_are_none(arguments, message):
    with pytest.raises(ValueError, match=message):
        CovariateModel(*arguments)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((ISO, 0, 1), {}, "alpha must be a number > 0, got 0"),
        ((ISO, 1, -1), {}, "penalty must be a number >= 0, got -1"),
        ((ISO, 1, 1, "hinge"), {}, "task must be one of ridge, classification, logistic, got 'hinge'"),
        ((ISO, 1, 1), {"noise": "a"}, "noise must be a number >= 0, got 'a'"),
        (({}, 1, 1), {}, "model must be a CovariateModel"),
    ],
)
def test_points_that_are_none(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        covariate_limit(*arguments, **options)


def test_matrices_that_are_none():
    with pytest.raises(ValueError, match=r"shapes \(k, k\), \(k, p\), \(p, p\), got"):
        CovariateModel.from_matrices(np.eye(2), np.eye(3), np.eye(3))
    with pytest.raises(ValueError, match="omega must be symmetric"):
        CovariateModel.from_matrices(np.eye(2), np.eye(2), [[1, 1], [0, 1]])
    with pytest.raises(ValueError, match="omega must be positive semi-definite"):
        CovariateModel.from_matrices(np.eye(2), np.eye(2), [[1, 2], [2, 1]])
    with pytest.raises(ValueError, match="phi must vanish where omega does"):
        CovariateModel.from_matrices(np.eye(1), [[0, 1]], [[1, 0], [0, 0]])
