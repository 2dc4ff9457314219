"""Bayesian networks of finite width with nonlinear units: reference values, other ways to the same numbers, refusals."""

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest

from theoryck.numerics.errors import ExactError, NotConverged
from theoryck.quantities import QuantityError
from theoryck.theory.renormalisation import (
    NetworkTask,
    action_divergence,
    bayesian_network,
    evidence_ratio,
    few_points_posterior,
    first_order,
    linear_posterior,
    missing_part,
    orthogonal_limit,
    orthogonal_ratio,
    scale_mixture,
)
from theoryck.theory.renormalisation.cumulant import contraction, gaussian_contraction
from theoryck.theory.renormalisation.limits.orthogonal import limit_of

DATA = Path(__file__).parents[1] / "data"
ACTIVATIONS = {"erf": "erf(x)", "sin": "sin(x)", "sign": "sign(x)"}


def rows(name):
    with (DATA / name).open() as file:
        return list(csv.DictReader(file))


POINTS = json.loads((DATA / "renorm_fc_nonlinear_two_points.json").read_text())
X, Y, HEAT = POINTS["X"], POINTS["y"], POINTS["T"]
TWO = rows("renorm_fc_nonlinear_two_points.csv")
ORTHOGONAL = rows("renorm_fc_nonlinear_orthogonal.csv")


def width(row):
    return math.inf if row["N"] == "inf" else int(row["N"])


# Reference values ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", [row for row in TWO if row["N"] != "inf"], ids=lambda row: f"{row['act']}-{row['N']}")
def test_two_points(row):
    """The file has 13 decimals, and says how far its two grids differ: 3e-10 and 8e-12 at N = 4, where three times that is
    allowed."""
    found = few_points_posterior(ACTIVATIONS[row["act"]], Y, X[:2], width=int(row["N"]), temperature=HEAT, new_inputs=X[2:])
    allowed = max(3 * float(row["two_grids_differ_by"]), 5e-13)
    pairs = {"logZ_exact": found.log_evidence, "mean_exact": found.mean[0], "var_exact": found.variance[0]}
    for name, value in (pairs | {"readout_norm_exact": found.readout_norm}).items():
        assert abs(float(value) - float(row[name])) <= allowed
        assert abs(float(value) - float(row[name])) <= float(value.radius) + allowed


@pytest.mark.parametrize("row", TWO, ids=lambda row: f"{row['act']}-{row['N']}")
def test_integral_over_the_order_parameter(row):
    """13 decimals; log Z of large widths loses 1e-13 to cancellation in the prior's density."""
    found = scale_mixture(ACTIVATIONS[row["act"]], Y, X[:2], widths=width(row), temperature=HEAT, new_inputs=X[2:])
    assert found.log_evidence == pytest.approx(float(row["logZ_scalar"]), abs=6e-13)
    assert found.mean[0] == pytest.approx(float(row["mean_scalar"]), abs=2e-13)
    assert found.variance[0] == pytest.approx(float(row["var_scalar"]), abs=2e-13)
    assert found.scale == pytest.approx(float(row["Q_scalar"]), abs=2e-13)


@pytest.mark.parametrize("row", [row for row in TWO if row["N"] == "inf"], ids=lambda row: row["act"])
def test_first_order(row):
    """Ten decimals."""
    whole, scalar = first_order(ACTIVATIONS[row["act"]], Y, X[:2], temperature=HEAT)
    assert whole == pytest.approx(float(row["limit_N_logZ_minus_NNGP"]), abs=6e-11)
    assert scalar == pytest.approx(float(row["scalar_part_of_it"]), abs=6e-11)


def numbers(text):
    return [float(part) for part in text.split(";")]


@pytest.mark.parametrize("row", [row for row in ORTHOGONAL if row["N"] == "16"], ids=lambda row: f"{row['act']}-{row['alpha']}")
def test_orthogonal_limit(row):
    """Twelve decimals; the rows of sign are those of sigma = .99601 (see tests/data), true sign has 1."""
    alpha, heat = float(row["alpha"]), float(row["T"])
    labels, fractions = numbers(row["label_magnitudes"]), numbers(row["fractions"])
    found = limit_of(float(row["sigma"]), float(row["kappa4"]), alpha, heat, labels, fractions)
    assert found.gap == pytest.approx(float(row["limit"]), abs=2e-12)
    assert found.order == pytest.approx(float(row["Q_limit"]), abs=2e-12)
    own = orthogonal_limit(ACTIVATIONS[row["act"]], alpha=alpha, temperature=heat, labels=labels, fractions=fractions)
    if row["act"] == "sign":
        assert (own.sigma, own.kappa4) == (1, -2)
    else:
        assert own.gap == pytest.approx(float(row["limit"]), abs=2e-12)


@pytest.mark.parametrize(
    "row", [row for row in ORTHOGONAL if row["act"] == "erf" and int(row["N"]) <= 64], ids=lambda row: row["N"]
)
def test_orthogonal_draws(row):
    """log of the mean ratio within five standard errors of both."""
    ratio = orthogonal_ratio("erf", alpha=float(row["alpha"]), temperature=0.1, label=1.5)
    values = ratio.draw(np.random.default_rng(11), 3000, {"N": int(row["N"])})
    error = math.hypot(values.std() / values.mean() / math.sqrt(3000), float(row["se"]))
    assert abs(math.log(values.mean()) - float(row["logZ_minus_logZ_scalar"])) < 5 * error


# Other ways to the same numbers ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2])
def test_linear_units_by_quadrature(count):
    """The quadrature for nonlinear units at phi(x) = x, against the proved integral over t: within its radius."""
    settings = {"temperature": 0.2, "precisions": (2, 0.5), "new_inputs": X[2:], "new_labels": [0.3]}
    few = few_points_posterior("x", Y[:count], X[:count], width=8, **settings)
    proved = linear_posterior(X[:count], Y[:count], widths=8, **settings)
    for name in ("log_evidence", "train_loss", "bias2", "test_loss"):
        one, two = getattr(few, name), getattr(proved, name)
        assert abs(float(one) - float(two)) <= float(one.radius)
        assert one.radius < 1e-8
    assert abs(float(few.mean[0]) - float(proved.mean[0])) <= float(few.mean[0].radius)
    assert abs(float(few.variance[0]) - float(proved.variance[0])) <= float(few.variance[0].radius)


def test_mixture_is_the_exact_law_of_linear_units():
    """Three layers, P > N_0, in float64 against balls."""
    inputs, labels = [[1.0, 0.5], [0.25, -1.0], [-0.5, 2.0]], [1.0, -2.0, 0.5]
    settings = {"temperature": 0.3, "new_inputs": [[0.5, 0.75]], "new_labels": [0.25]}
    one = scale_mixture("x", labels, inputs, widths=(3, 1, 7), **settings)
    two = linear_posterior(inputs, labels, widths=(3, 1, 7), **settings)
    assert one.log_evidence == pytest.approx(float(two.log_evidence), abs=1e-12)
    assert one.test_loss == pytest.approx(float(two.test_loss), rel=1e-12)
    assert one.train_loss == pytest.approx(float(two.train_loss), rel=1e-12)
    assert one.scale == pytest.approx(float(two.scale), rel=1e-12)


@pytest.mark.parametrize("phi", ["tanh", "relu", "gelu"])
def test_nonlinear_evidence_and_predictor_from_both_sides(phi):
    """Importance sampling over 200000 networks of the prior, eight units, two points: log Z, predictor and training loss within
    five standard errors of the quadrature, which the action misses by more."""
    rng, n, draws = np.random.default_rng(7), 8, 200_000
    x = np.array(X)
    features = NetworkTask(phi, Y, X[:2], temperature=HEAT).activation(rng.standard_normal((draws, n, 4)) @ x.T / 2)
    kernels = np.swapaxes(features, 1, 2) @ features / n
    whole = kernels[:, :2, :2] + HEAT * np.eye(2)
    solved = np.linalg.solve(whole, np.broadcast_to(np.array(Y)[:, None], (draws, 2, 1)))[..., 0]
    weights = np.exp(-(solved @ np.array(Y)) / 2) / (2 * math.pi * np.sqrt(np.linalg.det(whole)))
    found = few_points_posterior(phi, Y, X[:2], width=n, temperature=HEAT, new_inputs=X[2:])
    action = scale_mixture(phi, Y, X[:2], widths=n, temperature=HEAT, new_inputs=X[2:])
    relative = weights.std() / weights.mean() / math.sqrt(draws)
    assert abs(math.log(weights.mean()) - float(found.log_evidence)) < 5 * relative
    assert abs(action.log_evidence - float(found.log_evidence)) > 5 * relative
    means = (kernels[:, 2:, :2] @ solved[..., None])[:, 0, 0]
    inverse = np.linalg.inv(whole)
    losses = HEAT**2 * (solved**2).sum(axis=1) + HEAT * (2 - HEAT * np.trace(inverse, axis1=1, axis2=2))
    for values, expected in ((means, float(found.mean[0])), (losses / 2, float(found.train_loss))):
        mean = (weights * values).mean() / weights.mean()
        error = (weights * (values - mean)).std() / weights.mean() / math.sqrt(draws)
        assert abs(mean - expected) < 5 * error


def test_first_order_is_the_limit():
    """N (log Z - log Z_GP) at N = 4096 for an activation with a kink and a mean: 1/N is left, with a factor of order 10."""
    settings = {"temperature": 0.5, "precisions": (1, 2)}
    whole, scalar = first_order("relu", Y, X[:2], **settings)
    base = bayesian_network("relu", Y, X[:2], widths=math.inf, **settings).log_evidence
    found = float(few_points_posterior("relu", Y, X[:2], width=4096, **settings).log_evidence)
    assert 4096 * (found - base) == pytest.approx(whole, abs=10 / 4096)
    assert abs(whole - scalar) > 0.05


def test_contraction_of_gaussian_features():
    """E H = 3 W: a mean over 400000 features, five standard errors."""
    rng = np.random.default_rng(5)
    root = rng.standard_normal((3, 3))
    kernel, y = root @ root.T, np.array([1.0, -0.5, 2.0])
    values = contraction(kernel, y, 0.7, rng.standard_normal((400_000, 3)) @ root.T)
    assert abs(values.mean() - 3 * gaussian_contraction(kernel, y, 0.7)) < 5 * values.std() / math.sqrt(400_000)


@pytest.mark.parametrize(("phi", "depth"), [("erf", 1), ("relu", 1), ("x", 1), ("x", 3)])
def test_evidence_ratio_has_two_routes(phi, depth):
    ratio = evidence_ratio(NetworkTask(phi, Y, X[:2], temperature=0.3, depth=depth, precisions=[1, 2] + [1] * (depth - 1)))
    values = ratio.draw(np.random.default_rng(2), 40_000, {"N": 5})
    assert abs(values.mean() - float(ratio.exact({"N": 5}))) < 5 * values.std() / 200


def test_evidence_ratio_of_a_deep_nonlinear_network():
    """Two layers of relu drawn layer by layer through Gram matrices, and with all weights: five standard errors."""
    task = NetworkTask("relu", Y, X[:2], temperature=0.3, depth=2)
    assert not evidence_ratio(task).can_exact
    values = evidence_ratio(task).draw(np.random.default_rng(2), 40_000, {"N": 3})
    rng, x = np.random.default_rng(3), np.array(X[:2]).T / 2
    hidden = np.maximum(rng.standard_normal((40_000, 3, 4)) @ x, 0)
    hidden = np.maximum(rng.standard_normal((40_000, 3, 3)) @ hidden / math.sqrt(3), 0)
    whole = np.swapaxes(hidden, 1, 2) @ hidden / 3 + 0.3 * np.eye(2)
    process = task.kernel + 0.3 * np.eye(2)
    y = np.array(Y)
    forms = np.einsum("i,kij,j->k", y, np.linalg.inv(whole), y) - y @ np.linalg.solve(process, y)
    other = np.exp(-forms / 2) * np.sqrt(np.linalg.det(process) / np.linalg.det(whole))
    assert abs(values.mean() - other.mean()) < 5 * math.hypot(values.std(), other.std()) / 200


def test_bracket_of_the_divergence():
    """Linear units: the action's integral is their law, so that 0 lies between the ends, and the ends come together."""
    task = NetworkTask("x", [0.0] * 3, [[1.0, 0.2], [0.3, 1.0], [0.5, -1.0]], temperature=0.2)
    few, many = (action_divergence(task, 2, others=count).draw(np.random.default_rng(1), 2000, {}) for count in (20, 500))
    for values in (few, many):
        low, high, _ = values.mean(axis=0)
        error = 5 * values.std(axis=0).max() / math.sqrt(2000)
        assert low - error < 0 < high + error
    assert np.ptp(many.mean(axis=0)) < np.ptp(few.mean(axis=0)) / 4


def test_missing_part_at_orthogonal_inputs():
    """N_0 = 4096, P = 2: -3 P kappa_4/(8 (T + sigma)^2), five standard errors; 1/N_0 is left, below them."""
    part = missing_part("tanh", temperature=0.5, label=0)
    values = part.draw(np.random.default_rng(4), 100, {"P": 2, "N0": 4096})
    limit = orthogonal_limit("tanh", alpha=1, temperature=0.5, labels=[1.0])
    expected = 3 * 2 * limit.kappa4 / (8 * (0.5 + limit.sigma) ** 2)
    assert abs(values.mean() - expected) < 5 * values.std() / 10


# Refusals --------------------------------------------------------------------------------------------------------------------


def test_refusals_of_the_quadrature():
    settings = {"width": 4, "temperature": 0.1}
    with pytest.raises(ExactError, match="one or two training inputs, T > 0 and one finite width, got P = 3"):
        few_points_posterior("erf", [1, 2, 3], X, **settings)
    with pytest.raises(ExactError, match="T = 0"):
        few_points_posterior("erf", Y, X[:2], **settings | {"temperature": 0})
    with pytest.raises(ExactError, match="must not be parallel"):
        few_points_posterior("erf", Y, [[1.0, 2.0], [2.0, 4.0]], **settings)
    with pytest.raises(NotConverged, match=r"the quadrature takes .* frequencies times .* nodes: take a larger width or T"):
        few_points_posterior("exp(x)", [1.0, 0.5], [[1.0, 2.0], [0.0, 1.0]], **settings)
    with pytest.raises(ExactError, match="one or two training inputs, got 3"):
        first_order("erf", [1, 2, 3], X, temperature=0.1)


def test_refusals_of_limits_and_quantities():
    with pytest.raises(ValueError, match="activation must be odd for this limit, got relu"):
        orthogonal_limit("relu", alpha=1, temperature=0.1, labels=[1.0])
    with pytest.raises(ValueError, match="fractions must sum to 1"):
        orthogonal_limit("erf", alpha=1, temperature=0.1, labels=[1.0, 2.0], fractions=[0.5, 0.6])
    with pytest.raises(ValueError, match="labels must be at least one number"):
        orthogonal_limit("erf", alpha=1, temperature=0.1, labels=[])
    with pytest.raises(ValueError, match=r"labels must be at least one number of size at most 1e.30, got .nan."):
        orthogonal_limit("erf", alpha=1, temperature=0.1, labels=[math.nan])
    with pytest.raises(ValueError, match=r"need .* nodes of log t for 4 units"):
        scale_mixture([[1.0]], [1e15], widths=4, temperature=0.1)
    with pytest.raises(QuantityError, match="activation must be odd"):
        orthogonal_ratio("relu", alpha=1, temperature=0.1, label=1.5)
    with pytest.raises(QuantityError, match=r"task must be a theoryck.renormalisation.NetworkTask, got 'erf'"):
        evidence_ratio("erf")
    with pytest.raises(QuantityError, match="task must have one hidden layer"):
        action_divergence(NetworkTask("erf", Y, X[:2], temperature=0.1, depth=2), 4)
    with pytest.raises(ValueError, match=r"temperature must be a positive number of at most 1e.30, got 0"):
        NetworkTask("erf", Y, X[:2], temperature=0)
    with pytest.raises(ValueError, match="depth must be an integer >= 1, got 0"):
        NetworkTask("erf", Y, X[:2], temperature=0.1, depth=0)
