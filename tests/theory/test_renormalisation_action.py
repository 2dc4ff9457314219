"""The effective action of Bayesian networks: reference values, other ways to the same numbers, several minima, refusals."""

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq

from theoryck.numerics.functions import Activation
from theoryck.numerics.gaussian.kernels import LayerKernel
from theoryck.theory.renormalisation import bayesian_network, scale_mixture

DATA = Path(__file__).parents[1] / "data"
ACTIVATIONS = {"erf": "erf(x)", "id": "x"}


def rows(name):
    with (DATA / name).open() as file:
        return list(csv.DictReader(file))


def data(name):
    return json.loads((DATA / name).read_text())


def close(found, expected, rel=2e-13):
    """The file has 25 digits; an eigendecomposition in float64 of a kernel of condition 1e4 leaves about 13."""
    assert found == pytest.approx(float(expected), rel=rel)


@pytest.mark.parametrize("row", rows("kernel_renormalisation.csv"), ids=lambda row: "-".join(list(row.values())[:6]))
def test_saddle_and_losses(row):
    """Prior precisions of every layer count, and that of the readout."""
    given, depth = data("kernel_renormalisation_data.json"), int(row["L"])
    found = bayesian_network(
        ACTIVATIONS[row["act"]],
        given["y"],
        given["X"],
        widths=[int(row["N1"])] * depth,
        temperature=float(row["T"]),
        precisions=[float(row["l0"])] + [float(row["l1"])] * depth,
        new_inputs=given["Xtest"],
        new_labels=given["ytest"],
    )
    for order in found.orders:
        close(order, row["Q_mpmath"])
    close(found.test_loss, row["loss_mpmath"])
    close(found.bias2, row["bias2_mpmath"])
    close(found.test_variance, row["var_mpmath"])
    assert found.unique
    assert found.reached


@pytest.mark.parametrize("row", rows("renorm_fc_linear_exact.csv"), ids=lambda row: row["widths"])
def test_saddle_of_linear_networks(row):
    given = data("renorm_fc_data.json")
    widths = [math.inf if width == "inf" else int(width) for width in row["widths"].split("x")]
    found = bayesian_network("x", given["y"], given["X"], widths=widths, temperature=given["T"], new_inputs=given["Xtest"])
    close(found.scale, row["t_saddle"])
    close(found.log_evidence, row["logZ_saddle"])
    close(found.one_loop, row["logZ_one_loop"])
    close(found.train_loss, row["train_saddle"])
    for k in (0, 1):
        close(found.mean[k], row[f"mean{k + 1}_saddle"], 1e-12)
        close(found.variance[k], row[f"var{k + 1}_saddle"])


# Other ways to the same numbers ----------------------------------------------------------------------------------------------


def problem(seed=0, count=12, dim=5):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((count + 2, dim))
    return x[:count], np.sin(2 * x[:count, 0]) + x[:count, 1], x[count:]


def test_stationary_where_the_derivative_of_the_action_vanishes():
    """S of widths (7, 11), tanh, from its formula: no slope in either order parameter, by differences of error 1e-9."""
    x, y, _ = problem()
    found = bayesian_network("tanh", y, x, widths=(7, 11), temperature=0.2, precisions=(0.5, 2, 3))
    layer = LayerKernel(Activation("tanh"))
    kernel = layer(layer(x @ x.T / (5 * 0.5)) / 2) / 3

    def action(one, two):
        whole = 0.2 * np.eye(12) + one * two * kernel
        return 7 * (one - math.log(one)) + 11 * (two - math.log(two)) + y @ np.linalg.solve(whole, y) + np.linalg.slogdet(whole)[1]

    one, two = found.orders
    assert found.action == pytest.approx(action(one, two), rel=1e-12)
    step = 1e-4
    assert abs(action(one + step, two) - action(one - step, two)) / (2 * step) < 1e-6
    assert abs(action(one, two + step) - action(one, two - step)) / (2 * step) < 1e-6


def test_recursion_is_the_product_for_homogeneous_activations():
    """h(c K) = c h(K) for relu: both actions are one; tanh tells them apart."""
    x, y, new = problem()
    settings = {"widths": (6, 9, 12), "temperature": 0.1, "precisions": (1, 2, 1, 3), "new_inputs": new}
    product, recursion = (bayesian_network("relu", y, x, recursion=flag, **settings) for flag in (False, True))
    assert recursion.reached
    assert recursion.orders == pytest.approx(product.orders, rel=1e-7)
    assert recursion.mean == pytest.approx(product.mean, rel=1e-6)
    assert recursion.action == pytest.approx(product.action, rel=1e-12)
    product, recursion = (bayesian_network("tanh", y, x, recursion=flag, **settings) for flag in (False, True))
    assert recursion.reached
    assert abs(recursion.orders[0] / product.orders[0] - 1) > 0.01


@pytest.mark.parametrize("widths", [(math.inf, 4), (math.inf, math.inf)])
def test_recursion_of_infinite_layers_below_is_that_of_the_last(widths):
    x, y, _ = problem()
    one, other = (bayesian_network("tanh", y, x, widths=widths, temperature=0.1, recursion=each) for each in (True, False))
    assert one.orders == other.orders
    assert one.one_loop == other.one_loop


def test_recursion_is_stationary():
    x, y, _ = problem()
    found = bayesian_network("tanh", y, x, widths=(5, 8), temperature=0.1, recursion=True)
    layer = LayerKernel(Activation("tanh"))

    def action(one, two):
        whole = 0.1 * np.eye(12) + two * layer(one * layer(x @ x.T / 5))
        return 5 * (one - math.log(one)) + 8 * (two - math.log(two)) + y @ np.linalg.solve(whole, y) + np.linalg.slogdet(whole)[1]

    one, two = found.orders
    assert found.action == pytest.approx(action(one, two), rel=1e-12)
    assert abs(action(one + 1e-4, two) - action(one - 1e-4, two)) < 2e-4 * 1e-6
    assert abs(action(one, two + 1e-4) - action(one, two - 1e-4)) < 2e-4 * 1e-6


def test_relu_kernel_has_its_diagonal():
    """E relu(u)^2 = s/2: with one input the whole action is known, Q - 1 = c/N, K = s/2."""
    found = bayesian_network("relu", [2.0], [[1.0, 2.0]], widths=3, temperature=0.5, precisions=(2, 4))
    kernel = (5 / (2 * 2)) / 2 / 4

    def slope(q):
        whole = 0.5 + q * kernel
        return 3 * (q - 1) - q * kernel * (4 / whole**2 - 1 / whole)

    assert found.orders[0] == pytest.approx(brentq(slope, 0.1, 10, xtol=1e-15), rel=1e-13)


def test_infinite_width_is_a_gaussian_process():
    x, y, new = problem()
    found = bayesian_network("erf", y, x, widths=(math.inf, math.inf), temperature=0.3, new_inputs=new)
    layer = LayerKernel(Activation("erf"))
    whole = np.vstack([x, new])
    kernel = layer(layer(whole @ whole.T / 5))
    inverse = np.linalg.inv(kernel[:12, :12] + 0.3 * np.eye(12))
    assert found.orders == (1, 1)
    assert found.unique
    assert found.mean == pytest.approx(kernel[12:, :12] @ inverse @ y, rel=1e-11)
    assert found.variance == pytest.approx(np.diag(kernel[12:, 12:] - kernel[12:, :12] @ inverse @ kernel[:12, 12:]), rel=1e-11)
    assert found.one_loop == found.log_evidence
    expected = -(y @ inverse @ y - np.linalg.slogdet(inverse)[1] + 12 * math.log(2 * math.pi)) / 2
    assert found.log_evidence == pytest.approx(expected, rel=1e-12)


def test_training_loss_is_that_of_the_gaussian_posterior():
    """E |y - f|^2/P by the posterior's own mean and covariance at the training inputs."""
    x, y, _ = problem()
    kernel = LayerKernel(Activation("sin"))(x @ x.T / 5)
    found = bayesian_network(kernel, y, widths=4, temperature=0.2)
    scaled = found.orders[0] * kernel
    gain = scaled @ np.linalg.inv(scaled + 0.2 * np.eye(12))
    expected = (np.sum((y - gain @ y) ** 2) + np.trace(scaled - gain @ scaled)) / 12
    assert found.train_loss == pytest.approx(expected, rel=1e-11)


def test_an_array_and_its_activation_agree():
    x, y, new = problem()
    whole = np.vstack([x, new])
    kernel = LayerKernel(Activation("erf"))(whole @ whole.T / (5 * 2))
    one = bayesian_network("erf", y, x, widths=6, temperature=0.1, precisions=(2, 3), new_inputs=new)
    two = bayesian_network(kernel, y, widths=6, temperature=0.1, precisions=3)
    assert one.orders == two.orders
    assert np.array_equal(one.mean, two.mean)


def test_zero_temperature_of_linear_units():
    """Li, Sompolinsky: 1 - u = alpha (1 - r u^-L), alpha = P/N, r = y^T K^-1 y/P."""
    x, y, _ = problem(count=4)
    for depth in (1, 2, 3):
        found = bayesian_network("x", y, x, widths=[8] * depth, temperature=0)
        r = y @ np.linalg.solve(x @ x.T / 5, y) / 4
        u = brentq(lambda u: 1 - u - 0.5 * (1 - r * u**-depth), 1e-3, 50, xtol=1e-15)  # noqa: B023
        assert found.orders == pytest.approx([u] * depth, rel=1e-11)
        assert found.train_loss == 0


# Several minima --------------------------------------------------------------------------------------------------------------


def test_two_minima_of_one_hidden_layer():
    """N = 10, twenty inputs of kernel 1 without labels and one of kernel .01 with y = 1, T = .01: c(t) = N (t - 1) near t = .01
    where twenty modes shrink, and near t = 1 where the last is explained; slopes by the formula alone."""
    kernel, y = np.diag([1.0] * 20 + [0.01]), np.array([0.0] * 20 + [1.0])
    found = bayesian_network(kernel, y, widths=10, temperature=0.01)
    assert not found.unique
    assert len(found.minima) == 2
    assert "2 minima" in str(found)
    assert found.minima[0].one_loop > found.minima[1].one_loop

    def slope(t):
        share = 0.01 * t / (0.01 + 0.01 * t)
        return 10 * (t - 1) - (share / (0.01 + 0.01 * t) - share - 20 * t / (0.01 + t))

    grid = np.geomspace(1e-4, 1e2, 20001)
    signs = np.sign([slope(t) for t in grid])
    roots = [brentq(slope, a, b) for a, b, s, e in zip(grid, grid[1:], signs, signs[1:]) if s < 0 < e]
    assert sorted(each.scale for each in found.minima) == pytest.approx(roots, rel=1e-9)


def test_two_minima_of_two_layers():
    """N = 1, L = 2, y^2/T = 200, T/K = 1000: t^(1/2) - 1 = c(t) at t near 1 and near T/K."""
    found = bayesian_network([[0.001]], [math.sqrt(200)], widths=(1, 1), temperature=1)
    assert len(found.minima) == 2
    for each in found.minima:
        t = each.scale
        slope = 200 * 0.001 * t / (1 + 0.001 * t) ** 2 - 0.001 * t / (1 + 0.001 * t)
        assert math.sqrt(t) - 1 == pytest.approx(slope, rel=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_every_minimum_is_seen(seed):
    """Random spectra over eight decades, two or three layers: as many rising roots as a scan of 40000 points sees."""
    rng = np.random.default_rng(seed)
    values, powers = 10 ** rng.uniform(-6, 2, 6), 10 ** rng.uniform(-3, 3, 6)
    widths = tuple(rng.integers(1, 12, rng.integers(1, 4)).tolist())
    found = bayesian_network(np.diag(values), np.sqrt(powers), widths=widths, temperature=0.3)
    u = np.linspace(-40, 60, 40001)
    share = np.exp(u)[:, None] * values / (0.3 + np.exp(u)[:, None] * values)
    c = (powers * share * (1 - share) / 0.3 - share).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        level = u - sum(np.log(np.maximum(1 + c / width, 1e-300)) for width in widths)
    level = np.where(c > -min(widths), level, np.inf)
    assert len(found.minima) == np.count_nonzero((level[:-1] < 0) & (level[1:] >= 0))


def test_what_is_printed_is_said():
    """The saddle's log Z and the one with fluctuations are two numbers; a recursion has the first alone."""
    x, y, _ = problem()
    one = str(bayesian_network("erf", y, x, widths=5, temperature=0.1))
    found = bayesian_network("erf", y, x, widths=5, temperature=0.1)
    assert f"log Z = {found.log_evidence:.6g} at the saddle, {found.one_loop:.6g} with its fluctuations" in one
    two = str(bayesian_network("erf", y, x, widths=(5, 5), temperature=0.1, recursion=True))
    assert "nan" not in two
    assert "at the saddle;" in two


@pytest.mark.parametrize("seed", range(4))
def test_recursions_are_reached(seed):
    """Homogeneous units: both actions are one, and the saddles agree as far as both are reached."""
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal((7, 5)), rng.standard_normal(7)
    settings = {"widths": (4, 6, 8), "temperature": 0.3, "precisions": (0.7, 1.6, 1.35, 1.1)}
    one, other = (bayesian_network("relu", y, x, **settings, recursion=each) for each in (True, False))
    assert one.reached
    assert one.orders == pytest.approx(other.orders, rel=1e-9)


@pytest.mark.parametrize("size", [1e-20, 1e8, 1e15, 1e29])
def test_reached_has_a_scale(size):
    """N (Q - 1) - c is rounding in units of N Q."""
    x, y, _ = problem()
    assert bayesian_network("erf", size * y, x, widths=5, temperature=0.1).reached


def test_eigenvalues_that_are_rounding():
    """K = 1 1^T, T = 1e-12: 4 (t - 1) = 4/t - 1, t = (3 + 73^(1/2))/8, whatever rounding makes of the two eigenvalues 0."""
    found = bayesian_network(np.ones((3, 3)), [1, 2, 3], widths=4, temperature=1e-12)
    assert found.orders[0] == pytest.approx((3 + math.sqrt(73)) / 8, rel=1e-10)
    assert found.reached


def test_widths_that_are_nearly_infinite():
    """log Z less that of the Gaussian process is c^2/(4 N) < 1e-12 at N = 1e15."""
    x, y, _ = problem()
    wide = bayesian_network("erf", y, x, widths=math.inf, temperature=0.1).log_evidence
    found = bayesian_network("erf", y, x, widths=10**15, temperature=0.1)
    assert found.log_evidence == pytest.approx(wide, abs=1e-12)
    assert found.reached
    assert scale_mixture("erf", y, x, widths=10**15, temperature=0.1).log_evidence == pytest.approx(wide, abs=1e-9)


def test_small_order_parameters_keep_their_digits():
    """K = I, y = 0, P = 6, N = 4: Q^2 + (T + 1/2) Q - T = 0, of which 1 + c/N has lost all digits at T = 1e-12."""
    found = bayesian_network(np.eye(6), np.zeros(6), widths=4, temperature=1e-12)
    half = (1e-12 + 0.5) / 2
    assert found.orders[0] == pytest.approx(1e-12 / (half + math.sqrt(half**2 + 1e-12)), rel=1e-12)
    assert found.reached


def test_no_training_input_is_seen():
    """A kernel of 0 at the training inputs alone: N(1; 0, T), Q = 1."""
    found = bayesian_network([[0.0, 0.0], [0.0, 1.0]], [1.0], widths=4, temperature=0.1)
    assert found.orders == (1.0,)
    assert found.log_evidence == pytest.approx(-(1 / 0.1 + math.log(2 * math.pi * 0.1)) / 2, rel=1e-14)


def test_labels_of_zero_and_extreme_temperatures():
    x, y, _ = problem()
    assert bayesian_network("erf", 0 * y, x, widths=5, temperature=0.1).orders[0] < 1
    for heat in (1e-12, 1e12):
        found = bayesian_network("erf", y, x, widths=5, temperature=heat)
        assert found.reached
        assert math.isfinite(found.log_evidence)


# Refusals --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"temperature": -1}, "temperature must be a number >= 0, got -1"),
        ({"temperature": 1e40}, "temperature must be 0 or lie between 1e-30 and 1e"),
        ({"widths": 0}, "widths must be an integer between 1 and 1000000000000000, got 0"),
        ({"widths": ()}, r"widths must be a width or a sequence \(N_1, ..., N_L\)"),
        ({"widths": 2.5}, "widths must be an integer between 1 and 1000000000000000, got 2.5"),
        ({"precisions": (1, 2, 3)}, "precisions must be one number, or lambda_0 .*2 for 1 hidden layers.*got 3"),
        ({"precisions": -2}, "precisions must be a positive number.*got -2"),
        ({"precisions": (1, 0)}, r"precisions\[1\] must be a positive number.*got 0"),
        ({"inputs": None}, "inputs are needed with kernel = 'erf'"),
        ({"inputs": [[1.0, 2.0]]}, r"inputs must be an array \(3, N_0\), an input a row, got the shape \(1, 2\)"),
        ({"new_inputs": [[1.0]]}, r"new_inputs must be an array \(m, 2\)"),
        ({"new_labels": [1.0]}, "new_labels go with new inputs: give new_inputs"),
        ({"labels": [1.0, math.nan, 0.0]}, "labels must hold numbers.*got nan"),
        ({"labels": []}, r"labels must be an array \(P,\)"),
        ({"kernel": np.eye(3)}, "inputs and new_inputs go with an activation"),
        ({"kernel": np.eye(2), "inputs": None}, r"kernel must be an activation or an array \(P \+ m, P \+ m\).*P = 3"),
        ({"kernel": np.zeros((3, 3)), "inputs": None}, "kernel is 0"),
        (
            {"kernel": [[1, 2, 0], [2, 1, 0], [0, 0, 1]], "inputs": None},
            r"semidefinite, but .K_ij. .* at i, j = 0, 1: 2 beside 1 and 1",
        ),
        ({"kernel": [[1, 2, 0], [0, 5, 0], [0, 0, 1]], "inputs": None}, "kernel must be symmetric.*by 2"),
        ({"kernel": np.ones((3, 3)), "inputs": None, "temperature": 0}, "temperature = 0 needs a kernel of full rank"),
        # Of three inputs no two contradict, but all do.
        ({"kernel": 1.9 * np.eye(3) - 0.9, "inputs": None}, "positive semidefinite: its least eigenvalue is -0.8"),
        ({"kernel": np.tanh, "inputs": None}, r"kernel must be an activation as a formula in x, such as 'tanh\(x\)'"),
        (
            {"kernel": np.eye(3), "labels": np.zeros(3), "inputs": None, "widths": 3, "temperature": 0},
            "labels are 0 at temperature = 0, where a layer of 3 <= P = 3 units has an infinite density",
        ),
        (
            {"kernel": np.eye(3), "inputs": None, "widths": (2, 2), "recursion": True},
            "recursion needs an activation",
        ),
    ],
    ids=lambda part: str(part)[:40] if isinstance(part, str) else "",
)
def test_refusals(changes, message):
    settings = {"kernel": "erf", "labels": [1.0, 0.5, 0.0], "inputs": [[1.0, 0.0], [0.5, 1.0], [0.0, 2.0]]}
    settings |= {"widths": 4, "temperature": 0.1} | changes
    with pytest.raises(ValueError, match=message):
        bayesian_network(settings.pop("kernel"), settings.pop("labels"), **settings)
