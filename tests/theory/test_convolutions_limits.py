"""The effective action of networks on patches and the average over Wishart matrices: reference values, other ways, refusals."""

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import integrate, optimize

from theoryck.numerics.errors import NotConverged
from theoryck.numerics.gaussian.kernels import LayerKernel
from theoryck.quantities import QuantityError
from theoryck.theory.convolutions import (
    PatchNetwork,
    PatchRegression,
    alignment,
    alignment_gain,
    alignment_slope,
    channel_corrections,
    cut_patches,
    infinite_width,
    patch_kernel,
    patch_kernels,
    saddle_point,
    wishart_average,
)
from theoryck.theory.convolutions.limits import Prior
from theoryck.theory.convolutions.proved import GaussianOrder
from theoryck.theory.convolutions.regression import KernelRegression

DATA = Path(__file__).parents[1] / "data"
SETS = json.loads((DATA / "renorm_cnn_data.json").read_text())
with (DATA / "renorm_cnn_linear_exact.csv").open() as file:
    ROWS = list(csv.DictReader(file))
FINITE = [row for row in ROWS if row["Nc"] != "inf"]
NO_SADDLE = ("C", "6")


def label(row):
    return f"{row['data']}-{row['network']}-{row['Nc']}"


def reference(row, **changes):
    data, channels = SETS[row["data"]], math.inf if row["Nc"] == "inf" else int(row["Nc"])
    network = PatchNetwork(**({"activation": "x", "channels": channels, "architecture": row["network"].lower()} | changes))
    return PatchRegression(network, data["X"], data["y"], data["T"], data["Xtest"])


def random_problem(
    activation="erf", channels=12, architecture="cnn", inputs=7, patches=3, entries=2, temperature=0.3, seed=0, **more
):
    rng = np.random.default_rng(seed)
    x, new = rng.standard_normal((inputs, patches, entries)), rng.standard_normal((3, patches, entries))
    y = np.sum(x @ rng.standard_normal(entries), axis=1) + 0.1 * rng.standard_normal(inputs)
    return PatchRegression(PatchNetwork(activation, channels, architecture, **more), x, y, temperature, new)


def entries_of(row, matrix, suffix=""):
    """Pairs (ours, the file's): its columns hold Q_ij, i <= j, row by row, the first three for two patches."""
    columns = [f"Q{i}{j}{suffix}" for i, j in ((1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (3, 3))]
    return list(zip(matrix[np.triu_indices(len(matrix))], (float(row[column]) for column in columns if row[column])))


# Reference values ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", [row for row in ROWS if row["Nc"] == "inf"], ids=label)
def test_infinitely_many_channels(row):
    """Thirteen digits are printed: half a unit of the last is 5e-12 for numbers of size 10 to 100."""
    found = infinite_width(reference(row))
    for value, column in (
        (found.log_evidence, "logZ"),
        (found.mean[0], "mean"),
        (found.variance[0], "var"),
        (found.train_loss, "train"),
    ):
        assert value == pytest.approx(float(row[column]), abs=6e-12), column


@pytest.mark.parametrize("row", [row for row in FINITE if (row["data"], row["Nc"]) != NO_SADDLE], ids=label)
def test_saddles(row):
    found = saddle_point(reference(row))
    assert found.reached
    assert found.residual < 1e-13
    for value, column in (
        (found.log_evidence, "logZ"),
        (found.mean[0], "mean"),
        (found.variance[0], "var"),
        (found.train_loss, "train"),
    ):
        assert value == pytest.approx(float(row[f"{column}_saddle"]), abs=6e-12), column
    for value, expected in entries_of(row, found.matrix, "_saddle"):
        assert value == pytest.approx(expected, abs=6e-12)


@pytest.mark.parametrize("row", [row for row in FINITE if (row["data"], row["Nc"]) == NO_SADDLE], ids=label)
def test_what_the_file_has_there_is_no_saddle(row):
    """The action written out here: its slope in the first entry is 0.3 at the file's Q and 0 at ours, where it is lower."""
    data, shared = SETS[row["data"]], row["network"] == "CNN"
    x, y = np.array(data["X"]), np.array(data["y"])
    kernels = np.einsum("pim,qjm->ijpq", x, x) / 9

    def action(q):
        a = data["T"] * np.eye(len(y)) + np.tensordot(q, kernels, 2)
        return np.trace(q) - np.linalg.slogdet(q)[1] + (y @ np.linalg.solve(a, y) + np.linalg.slogdet(a)[1]) / 6

    def slope(q):
        unit = 1e-5 * np.diag([1.0, 0.0, 0.0])
        return (action(q + unit) - action(q - unit)) / 2e-5

    names = [[f"Q{min(i, j)}{max(i, j)}_saddle" for j in (1, 2, 3)] for i in (1, 2, 3)]
    theirs = np.array([[float(row[name]) for name in each] for each in names])
    found = saddle_point(reference(row))
    assert slope(theirs) > 0.29
    assert abs(slope(found.matrix)) < 1e-8
    assert found.action == pytest.approx(action(found.matrix), abs=1e-12)
    assert found.action < action(theirs) - 0.01
    assert np.count_nonzero(found.matrix) == (9 if shared else 3)


@pytest.mark.parametrize(
    "row", [row for row in FINITE if row["route"] == "quadrature" and row["Nc"] in ("4", "6", "12", "512")], ids=label
)
def test_exact_averages_by_quadrature(row):
    """The file's own error, and half a unit of the last of 13 printed digits."""
    found, allowed = wishart_average(reference(row)), float(row["error"]) + 6e-12
    assert found.route == "two grids"
    assert found.error < 1e-11
    for value, column in (
        (found.log_evidence, "logZ"),
        (found.mean[0], "mean"),
        (found.variance[0], "var"),
        (found.train_loss, "train"),
    ):
        assert value == pytest.approx(float(row[column]), abs=allowed), column
    for value, expected in entries_of(row, found.matrix):
        assert value == pytest.approx(expected, abs=allowed)


@pytest.mark.parametrize(
    "row", [row for row in FINITE if row["route"] != "quadrature" and row["Nc"] in ("6", "24", "96")], ids=label
)
def test_exact_averages_by_quasi_monte_carlo(row):
    """Standard errors of the file: 4 of them, beside our own error.  (The rows of data B lie 2 to 3 of them away.)"""
    found = wishart_average(reference(row))
    assert found.log_evidence == pytest.approx(float(row["logZ"]), abs=4 * float(row["error"]) + found.error)
    # One-loop and next order: the relative error of the others is of the size of that of Z.
    for value, column in ((found.mean[0], "mean"), (found.variance[0], "var"), (found.train_loss, "train")):
        assert value == pytest.approx(float(row[column]), abs=4 * float(row["error"]) + max(found.errors.values())), column


def test_exact_averages_do_not_depend_on_the_order_of_patches():
    """Another order of the patches is another integrand of Bartlett's variables with the same integral: N_p = 3, six dimensions."""
    row = next(row for row in FINITE if label(row) == "B-CNN-96")
    problem = reference(row)
    turned = PatchRegression(problem.network, problem.patches[:, ::-1], problem.targets, problem.temperature, problem.test[:, ::-1])
    one, other = wishart_average(problem), wishart_average(turned)
    assert one.route == "two orders"
    assert one.error < 2e-8
    assert one.log_evidence == pytest.approx(other.log_evidence, abs=1e-7)
    assert np.allclose(one.matrix, other.matrix[::-1, ::-1], atol=1e-6)


def test_another_average_would_be_seen():
    """The diagonal of Q alone (no off-diagonal part) misses log Z of the CNN by 0.7 to 0.001, far beyond the errors."""
    for row in FINITE:
        if row["data"] == "A" and row["network"] == "CNN" and row["Nc"] in ("4", "512"):
            found = wishart_average(reference(row, architecture="lcn"))
            assert abs(found.log_evidence - float(row["logZ"])) > 1e-3


# Other ways ------------------------------------------------------------------------------------------------------------------


def test_one_number_by_an_integral():
    """fc: Q = chi^2_N/N; scipy's adaptive quadrature of the density, N = 5."""
    problem = random_problem("x", 5, "fc")
    kernel, y = problem.kernels.train[0], problem.targets
    values, vectors = np.linalg.eigh(kernel)
    seen = (vectors.T @ y) ** 2

    def density(q):
        a = problem.temperature + q * values
        prior = 1.5 * math.log(q) - 2.5 * q + 2.5 * math.log(2.5) - math.lgamma(2.5)
        return math.exp(prior - float(np.sum(seen / a + np.log(2 * math.pi * a))) / 2)

    total = integrate.quad(density, 0, 1)[0] + integrate.quad(density, 1, 40, epsabs=0, epsrel=1e-11)[0]
    assert wishart_average(problem).log_evidence == pytest.approx(math.log(total), abs=1e-8)
    assert integrate.quad(lambda q: math.exp(1.5 * math.log(q) - 2.5 * q + 2.5 * math.log(2.5) - math.lgamma(2.5)), 0, 40)[
        0
    ] == pytest.approx(1)


@pytest.mark.parametrize("architecture", ["cnn", "lcn", "fc", "pooled"])
@pytest.mark.parametrize("channels", [1, 2, 5])
def test_plain_wishart_draws(architecture, channels):
    """Q = a^T a/N_c, fewer channels than patches included: Z within 5 standard errors of 40000 draws (probability 6e-7)."""
    problem, rng = random_problem("x", channels, architecture, inputs=4, temperature=1.0), np.random.default_rng(5)
    a = rng.standard_normal((40_000, channels, 3))
    if architecture in ("fc", "pooled"):
        q = (a[:, :, :1] ** 2).mean(axis=1)[:, :, None] * (np.eye(3) if architecture == "fc" else np.ones((3, 3)))
    else:
        q = np.einsum("bci,bcj->bij", a, a) / channels
        q = q * np.eye(3) if architecture == "lcn" else q
    x, y = problem.patches, problem.targets
    covariance = np.einsum("bij,pim,qjm->bpq", q, x, x) / 6 + np.eye(4)
    z = np.exp(-(np.einsum("p,bpq,q->b", y, np.linalg.inv(covariance), y) + np.linalg.slogdet(2 * math.pi * covariance)[1]) / 2)
    found = wishart_average(problem, points=30_000)
    assert abs(z.mean() - math.exp(found.log_evidence)) < 5 * z.std() / 200 + math.exp(found.log_evidence) * found.error


@pytest.mark.parametrize("architecture", ["cnn", "lcn", "fc", "pooled"])
def test_saddles_are_minima_that_another_program_finds(architecture):
    """BFGS without derivatives of ours on Q = exp(X): the same action to 1e-8."""
    problem = random_problem("erf", 9, architecture)
    regression, prior, network = KernelRegression.of(problem), Prior(architecture, 3), problem.network

    def order(free):
        if architecture != "cnn":
            return np.exp(free)
        lower = np.zeros((3, 3))
        lower[np.tril_indices(3)] = free
        lower[np.diag_indices(3)] = np.exp(np.diag(lower))
        return (lower @ lower.T)[np.triu_indices(3)]

    other = optimize.minimize(
        lambda free: prior.value(order(free)) + regression.value(order(free)) / 9, np.zeros(network.order_parameters(3))
    )
    found = saddle_point(problem)
    assert found.action == pytest.approx(other.fun, abs=1e-8)
    assert found.reached
    assert found.unique
    assert np.allclose(found.order, order(other.x), atol=1e-4)


def test_derivatives_by_differences():
    problem = random_problem("erf", 9)
    regression, prior = KernelRegression.of(problem), Prior("cnn", 3)
    theta = np.array([1.2, 0.3, -0.1, 0.9, 0.2, 1.5])
    for function, slopes in (
        (regression.value, (regression.slopes(theta).gradient, regression.slopes(theta).convex - regression.slopes(theta).concave)),
        (prior.value, prior.slopes(theta)),
    ):
        unit = 1e-4 * np.eye(6)
        gradient = [(function(theta + step) - function(theta - step)) / 2e-4 for step in unit]
        hessian = [
            [sum(a * b * function(theta + a * one + b * two) for a in (1, -1) for b in (1, -1)) / 4e-8 for two in unit]
            for one in unit
        ]
        assert np.allclose(gradient, slopes[0], atol=1e-6)
        assert np.allclose(hessian, slopes[1], atol=1e-5)


def test_directions_that_no_kernel_reaches_are_noise():
    """P = 40 inputs of 2 patches of 2 entries: the linear kernels have rank 4; the whole matrix gives the same numbers."""
    problem = random_problem("x", 50, inputs=40, patches=2)
    reduced = KernelRegression.of(problem)
    assert len(reduced.targets) == 4
    whole = KernelRegression(problem.kernels.train, problem.targets, problem.kernels.cross, problem.kernels.test, 0.3, 40, 0.0)
    theta = np.array([[1.3, 0.4, 0.8], [1.0, 0.0, 1.0]])
    for one, other in zip(reduced.values(theta), whole.values(theta)):
        assert np.allclose(one, other, rtol=1e-10)
    assert reduced.value(theta[0]) + reduced.constant() == pytest.approx(whole.value(theta[0]) + whole.constant(), rel=1e-12)


def test_two_minima_are_two():
    """One channel, one patch, eleven inputs on axes: ten of large variance without labels, one of small with a large label.

    -Q S'(Q) = 1 + sum [(Y_i/T) u_i (1 - u_i) - u_i] - Q, u = Q k/(T + Q k), T = 1, changes sign three times.
    """
    scales, y = np.array([1000.0] * 10 + [10.0]), np.array([0.0] * 10 + [10.0])
    q = np.geomspace(1e-6, 1e3, 4001)
    u = q[:, None] * scales / (1 + q[:, None] * scales)
    f = 1 + np.sum(y**2 * u * (1 - u) - u, axis=1) - q
    assert np.count_nonzero(np.diff(np.sign(f))) == 3
    inputs = np.diag(np.sqrt(11 * scales))[:, None, :]
    found = saddle_point(PatchRegression(PatchNetwork("x", 1, "fc"), inputs, y, 1.0))
    assert found.reached
    assert found.unique is False
    assert len(found.others) == 1
    assert found.others[0] > found.action
    many = saddle_point(PatchRegression(PatchNetwork("x", 11, "fc"), inputs, y, 1.0))
    assert many.unique is True
    assert many.others == ()


def test_too_few_steps_are_said():
    found = saddle_point(random_problem("erf", 9), iterations=1)
    assert not found.reached
    assert found.unique is None


@pytest.mark.parametrize("architecture", ["cnn", "lcn"])
def test_no_channel_is_worth_less(architecture):
    """One loop has an error O(1/N_c^2): N_c^2 times it is the same at 256 and 512 channels to 10%; the saddle's own O(1/N_c)."""
    rows = {int(row["Nc"]): row for row in FINITE if row["data"] == "A" and row["network"].lower() == architecture}
    one_loop = {n: n * n * (saddle_point(reference(rows[n])).one_loop - float(rows[n]["logZ"])) for n in (256, 512)}
    assert one_loop[512] == pytest.approx(one_loop[256], rel=0.1)
    saddle = {n: n * (saddle_point(reference(rows[n])).log_evidence - float(rows[n]["logZ"])) for n in (256, 512)}
    assert saddle[512] == pytest.approx(saddle[256], rel=0.1)


@pytest.mark.parametrize("architecture", ["cnn", "lcn"])
def test_coefficients_of_one_over_the_channels(architecture):
    """Richardson of N_c (log Z - log Z_inf), N_c (E Q - I) at 256 and 512 channels: what is left is O(1/N_c^2)."""
    rows = {row["Nc"]: row for row in ROWS if row["data"] == "A" and row["network"].lower() == architecture}
    found = channel_corrections(reference(rows["512"]))

    def extrapolated(column, limit):
        near, far = (n * (float(rows[str(n)][column]) - limit) for n in (512, 256))
        return 2 * near - far

    assert extrapolated("logZ", float(rows["inf"]["logZ"])) == pytest.approx(found.log_evidence, abs=2e-3)
    assert extrapolated("logZ_saddle", float(rows["inf"]["logZ"])) == pytest.approx(found.saddle_log_evidence, abs=2e-3)
    assert extrapolated("Q11", 1.0) == pytest.approx(found.order[0, 0], abs=2e-3)
    assert extrapolated("Q12", 0.0) == pytest.approx(found.order[0, 1], abs=2e-3)


@pytest.mark.parametrize("architecture", ["cnn", "lcn", "fc", "pooled"])
def test_channels_that_are_nearly_infinitely_many(architecture):
    """log Z less that of infinite width is the saddle's coefficient over N_c, 4e-10 at N_c = 1e9 and nothing at 1e15."""
    problem = random_problem(architecture=architecture)
    wide, slope = infinite_width(problem).log_evidence, channel_corrections(problem).saddle_log_evidence
    for channels in (10**9, 10**15):
        found = saddle_point(problem.with_network(channels=channels)).log_evidence
        assert found - wide == pytest.approx(slope / channels, abs=1e-12 * abs(wide))


def test_labels_out_of_the_range_of_an_average():
    data = np.random.default_rng(0).standard_normal((6, 2, 3))
    far = PatchRegression(PatchNetwork("x", 4), data, 1e6 * data.sum(axis=(1, 2)), 0.1)
    with pytest.raises(NotConverged, match="the integral over Q is out of the range of float64"):
        wishart_average(far)


def test_bartlett_variables_have_the_moments_of_wishart_matrices():
    """E Q = I and N_c Cov(Q_ij, Q_kl) = delta_ik delta_jl + delta_il delta_jk, by 2^16 draws: 5 standard errors."""
    order = GaussianOrder(PatchNetwork("x", 4), 3)
    g = np.random.default_rng(0).standard_normal((2**16, order.size))
    theta = order(g)
    i, j = np.triu_indices(3)
    assert np.all(np.abs(theta.mean(axis=0) - (i == j)) < 5 * theta.std(axis=0) / 2**8)
    square = 4 * (theta - (i == j)) ** 2
    assert np.all(np.abs(square.mean(axis=0) - np.where(i == j, 2, 1)) < 5 * square.std(axis=0) / 2**8)


# Kernels ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("activation", ["erf", "relu", "tanh(2*x) + x/3"])
def test_kernels_are_those_of_all_patches_at_once(activation):
    """One Gram matrix of all patches of all inputs, (P + M) N_p square, and its sums; with both precisions."""
    problem = random_problem(activation, 8, inputs=4, input_precision=2.0, readout_precision=0.5)
    whole = np.concatenate([problem.patches, problem.test])
    flat = whole.reshape(-1, 2)
    kernel = LayerKernel(problem.network.activation)(flat @ flat.T / (2 * 2.0)).reshape(7, 3, 7, 3) / (0.5 * 3)
    found = problem.kernels
    for place, (i, j) in enumerate(zip(*np.triu_indices(3))):
        expected = kernel[:, i, :, j] + (kernel[:, j, :, i] if i != j else 0)
        assert np.allclose(found.train[place], expected[:4, :4], atol=1e-12)
        assert np.allclose(found.cross[place], expected[:4, 4:], atol=1e-12)
        assert np.allclose(found.test[place], np.diag(expected)[4:], atol=1e-12)
    without = PatchRegression(problem.network, problem.patches, problem.targets, 0.3).kernels
    assert np.array_equal(without.train, found.train)
    assert without.cross.shape == (6, 4, 0)
    for architecture, pattern in (("lcn", None), ("fc", np.eye(3)), ("pooled", np.ones((3, 3)))):
        if (activation, architecture) == ("relu", "fc"):
            continue  # means of units count there, see below
        other = problem.with_network(architecture=architecture).kernels
        if pattern is None:
            assert np.allclose(other.train, found.train[[0, 3, 5]])
        else:
            weights = pattern[np.triu_indices(3)]
            assert np.allclose(other.train[0], np.tensordot(weights, found.train, 1))
            assert np.allclose(other.cross[0], np.tensordot(weights, found.cross, 1))
            assert np.allclose(other.test[0], weights @ found.test)


def test_means_of_the_patches_of_a_unit_count():
    """fc, relu: E phi = (s/(2 pi))^(1/2), so that patches i != j of one unit add (s_i s_j)^(1/2)/(2 pi); |x|: four times that."""
    problem = random_problem("relu", 8, "fc", inputs=4, input_precision=2.0, readout_precision=0.5)
    rest = random_problem("relu", 8, "lcn", inputs=4, input_precision=2.0, readout_precision=0.5)
    whole = np.concatenate([problem.patches, problem.test])
    roots = np.sqrt(np.einsum("pim,pim->pi", whole, whole) / (2 * 2.0 * 2 * math.pi))
    extra = (np.einsum("pi,qj->pq", roots, roots) - roots @ roots.T) / (0.5 * 3)
    found, alone = problem.kernels, rest.kernels
    assert np.allclose(found.train[0], alone.train.sum(axis=0) + extra[:4, :4], rtol=0, atol=1e-12)
    assert np.allclose(found.cross[0], alone.cross.sum(axis=0) + extra[:4, 4:], rtol=0, atol=1e-12)
    assert np.allclose(found.test[0], alone.test.sum(axis=0) + np.diag(extra)[4:], rtol=0, atol=1e-12)
    for phi, factor in (("abs(x)", 4.0), ("-abs(x)", 4.0), ("erf", 0.0), ("x**2 - x", None)):
        one, other = (
            random_problem(phi, 8, each, inputs=4, input_precision=2.0, readout_precision=0.5).kernels.train.sum(axis=0)
            for each in ("fc", "lcn")
        )
        # E (z^2 - z) = s
        means = 2 * math.pi * roots**2 if factor is None else math.sqrt(factor) * roots
        expected = (np.einsum("pi,qj->pq", means, means) - means @ means.T)[:4, :4] / (0.5 * 3)
        assert np.allclose(one, other + expected, rtol=0, atol=1e-10)


def test_networks_whose_patches_have_means_are_drawn_around_their_kernel():
    """fc, relu, two patches: E k = K at three channels, five standard errors; without the means K is a quarter less."""
    pair = (((1, 0.5), (-0.5, 1)), ((0.5, 1), (-1, 0.75)))
    bias = patch_kernel("relu(x)", pair, "fc", power=1)
    values = bias.draw(np.random.default_rng(1), 20_000, {"channels": 3})
    assert abs(values.mean()) < 5 * values.std() / math.sqrt(20_000)
    assert patch_kernel("relu(x)", pair, "lcn").limit < 0.8 * bias.limit


def test_the_relu_kernel_has_its_diagonal():
    """E relu(w.x)^2 = |x|^2/(2 m lambda_0), and the same from a patch to an equal one elsewhere, and 0 for a patch of zeros."""
    data = np.array([[[1.0, 2.0], [1.0, 2.0], [0.0, 0.0]], [[0.5, 0.5], [0.5, 0.5], [0.0, 0.0]]])
    found = patch_kernels(PatchNetwork("relu", 4, input_precision=4.0), data).train * 3
    assert np.allclose(np.diag(found[0]), [5 / 16, 0.5 / 16])
    assert np.allclose(np.diag(found[1]), [10 / 16, 1 / 16])
    assert np.all(found[[2, 4, 5]] == 0)


@pytest.mark.parametrize("activation", ["erf", "relu", "x"])
def test_precisions_are_not_ignored(activation):
    problem = random_problem(activation)
    scores = {
        saddle_point(random_problem(activation, input_precision=a, readout_precision=b)).log_evidence
        for a, b in ((1, 1), (2, 1), (1, 2))
    }
    assert len(scores) == (3 if activation == "erf" else 2)  # linear and relu kernels scale with either
    assert saddle_point(problem).log_evidence in scores


def test_one_patch_is_a_fully_connected_layer():
    for function in (lambda p: saddle_point(p).log_evidence, lambda p: wishart_average(p).log_evidence):
        values = [function(random_problem("erf", 9, architecture, patches=1)) for architecture in ("cnn", "lcn", "fc", "pooled")]
        assert np.ptp(values) < 1e-11


def test_patches_of_images():
    images = np.arange(36.0).reshape(1, 6, 6)
    assert cut_patches(images, 4, 2).shape == (1, 4, 16)
    assert cut_patches(images, 4, 2)[0, 3, 0] == images[0, 2, 2]
    assert cut_patches(np.stack([images] * 3, axis=-1), 3).shape == (1, 4, 27)


# Alignment -------------------------------------------------------------------------------------------------------------------


def test_alignment_by_hand():
    assert alignment([[2.0, 0.0], [0.0, 0.0]], [1.0, 0.0]) == 1.0
    assert alignment([[1.0, 0.0], [0.0, 1.0]], [3.0, -1.0]) == pytest.approx(0.5**0.5)


@pytest.mark.parametrize("architecture", ["cnn", "lcn"])
def test_gains_have_the_slope(architecture):
    """N_c times the gain at the saddle of 10^4 and 2 10^4 channels, extrapolated; fc: nothing."""
    problem = random_problem("erf", 10, architecture)
    gains = []
    for channels in (10_000, 20_000):
        other = problem.with_network(channels=channels)
        gains.append(channels * alignment_gain(other, saddle_point(other).order))
    assert 2 * gains[1] - gains[0] == pytest.approx(alignment_slope(problem), rel=1e-4)
    none = problem.with_network(architecture="fc")
    assert abs(alignment_gain(none, saddle_point(none).order)) < 1e-14


# Refusals --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PatchNetwork("tan(", 4), "activation must be a function of x"),
        (lambda: PatchNetwork("x", 0), "channels must be an integer between 1 and 1000000000000000, got 0"),
        (lambda: PatchNetwork("x", 4, "rnn"), "architecture must be one of 'cnn', 'lcn', 'fc', 'pooled', got 'rnn'"),
        (lambda: PatchNetwork("x", 4, input_precision=0), "input_precision must be a number > 0"),
        (lambda: random_problem(temperature=0), "temperature must be a number > 0"),
        (lambda: PatchRegression("x", [[[1.0]]], [1.0], 1), "network must be a PatchNetwork, got 'x'"),
        (lambda: PatchRegression(PatchNetwork("x", 4), [[1.0]], [1.0], 1), "patches must have shape"),
        (lambda: PatchRegression(PatchNetwork("x", 4), [[[math.nan]]], [1.0], 1), "patches must hold finite numbers, got nan"),
        (lambda: PatchRegression(PatchNetwork("x", 4), [[[1.0]]], [1.0, 2.0], 1), "targets must be 1 finite numbers"),
        (lambda: PatchRegression(PatchNetwork("x", 4), [[[1.0]]], [1.0], 1, [[[1.0, 2.0]]]), "test must have patches of shape"),
        (lambda: saddle_point(random_problem(channels=math.inf)), "channels must be finite for a saddle, got inf"),
        (lambda: wishart_average(random_problem(channels=math.inf)), "channels must be finite for an average over Q, got inf"),
        (
            lambda: wishart_average(random_problem(patches=9)),
            "patches must be such that Q takes at most 40 normal variables, got 45",
        ),
        (lambda: wishart_average(random_problem(), points=10), "points must be an integer >= 1024, got 10"),
        (lambda: cut_patches(np.zeros((2, 5, 5)), 2), "size must be such that patches"),
        (lambda: cut_patches(np.zeros(5), 2), "images must have shape"),
        (lambda: alignment(np.eye(2), [1.0]), r"kernel must be \(P, P\) for targets \(P,\)"),
        (lambda: alignment(np.zeros((1, 1)), [1.0]), "kernel must have an entry other than 0"),
        (lambda: alignment(np.full((1, 1), math.nan), [1.0]), "kernel must hold numbers of size at most 1e.30, got nan"),
        (lambda: alignment(np.eye(1), [1e200]), "targets must hold numbers of size at most 1e.30, got 1e.200"),
        (lambda: alignment_gain(random_problem(), [1.0]), "order must be 6 order parameters"),
        (lambda: alignment_gain(random_problem(), [math.nan] * 6), "order must be 6 order parameters, finite numbers"),
    ],
)
def test_refusals(make, message):
    with pytest.raises(QuantityError, match=message):
        make()
