"""One giant step, the reuse of a batch and spiked random features: reference values, other ways to the same numbers, refusals."""

import csv
import math
from pathlib import Path

import mpmath
import numpy as np
import pytest

from theoryck.numerics.errors import NotConverged
from theoryck.quantities import QuantityError
from theoryck.theory.covariates import CovariateModel, covariate_limit
from theoryck.theory.dynamics import generator_coefficients
from theoryck.theory.giant_step import (
    SpikedFeatures,
    after_one_step,
    batch_reuse_limit,
    giant_step_error,
    hard_link_limit,
    neuron_gradient,
    one_step_correction,
    one_step_limit,
    one_step_norm,
    spiked_limit,
    staircase_limits,
)
from theoryck.theory.giant_step.limits.spiked import _at, _orders, _spectrum
from theoryck.theory.giant_step.model import read_link
from theoryck.theory.giant_step.proved import mean_squared_cosine

DATA = Path(__file__).parents[1] / "data"
LINKS = {
    "tanh": "tanh(x)",
    "sign": "sign(x)",
    "linear": "x",
    "z+(z^2-1)/sqrt2": "x + (x**2 - 1)/sqrt(2)",
    "(z^3-3z)/sqrt6": "(x**3 - 3*x)/sqrt(6)",
    "sin2z-2exp(-1.5)sin z": "sin(2*x) - 2*exp(-3/2)*sin(x)",
}
COLUMNS = {"V1": "V1", "V2": "V2", "q1": "q1", "q2": "q2", "zeta": "theta", "psi": "psi", "m": "m", "test_error": "mse"}


def rows(name):
    with (DATA / name).open() as file:
        return list(csv.DictReader(file))


# One step --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", rows("weak_one_step_cos2.csv"), ids=lambda row: f"{row['link']}-{row['d']}-{row['n']}")
def test_mean_squared_cosines(row):
    """The file has 10 digits or more: half a unit of the eleventh decimal is allowed."""
    found = mean_squared_cosine(read_link(LINKS[row["link"]]), int(row["d"]), int(row["n"]))
    assert float(found) == pytest.approx(float(row["E cos^2(X^T y, w*)"]), abs=6e-12)


def test_two_samples_of_the_sign():
    """n = 2, d = 3: (|z_1| + |z_2|)^2/2 = X (1 + sin 2 t), X exponential, t uniform on (0, pi/2), chi^2_2 = 2 Y, Y exponential; and
    E k X/(k X + Y) = k/(k - 1) - k log(k)/(k - 1)^2 for such a pair."""

    def given(angle):
        k = (1 + mpmath.sin(2 * angle)) / 2
        return k / (k - 1) - k * mpmath.log(k) / (k - 1) ** 2

    with mpmath.workdps(40):
        value = mpmath.quad(given, [0, mpmath.pi / 8, mpmath.pi / 4], method="gauss-legendre") * 4 / mpmath.pi
    assert float(mean_squared_cosine(read_link("sign(x)"), 3, 2)) == pytest.approx(float(value), abs=1e-10)


def test_links_whose_mean_is_not_known():
    assert mean_squared_cosine(read_link("tanh"), 5, 4) is None
    assert mean_squared_cosine(read_link("x + 1"), 5, 4) is None
    assert float(mean_squared_cosine(read_link("tanh"), 5, 1)) == 0.2
    assert mean_squared_cosine(read_link("relu"), 5, 1) is None  # half of the labels are 0


@pytest.mark.parametrize("row", rows("weak_one_step_c1.csv"), ids=lambda row: f"{row['link']}-{row['alpha']}")
def test_limits_and_corrections(row):
    """Ten digits of the limit, eight of c_1."""
    link, alpha = LINKS[row["link"]], float(row["alpha"])
    assert one_step_limit(link, alpha) == pytest.approx(float(row["limit"]), abs=6e-11)
    assert one_step_correction(link, alpha) == pytest.approx(float(row["c1 (E cos^2 = limit + c1/d + ...)"]), abs=6e-9)


@pytest.mark.parametrize("alpha", [0.5, 2.0])
def test_the_correction_is_that_of_exact_values(alpha):
    """d (E cos^2 - limit) at d = 2000 and 4000, extrapolated: c_1 with an error of order 1/d^2."""
    for link in ("x", "sign(x)"):
        limit, phi = one_step_limit(link, alpha), read_link(link)
        coarse, fine = (d * (float(mean_squared_cosine(phi, d, int(alpha * d))) - limit) for d in (1000, 2000))
        assert 2 * fine - coarse == pytest.approx(one_step_correction(link, alpha), abs=1e-5)


def test_hard_links_by_hand():
    """E (z^2 - 1)^2 z^2 = 15 - 6 + 1 = 10 and E (z^2 - 1)^2 = 2."""
    assert hard_link_limit("x**2 - 1") == 5.0
    with pytest.raises(QuantityError, match="link must have E y z = 0"):
        hard_link_limit("tanh")
    with pytest.raises(QuantityError, match="link must have E y z != 0"):
        one_step_correction("x**2 - 1", 1)


def test_staircase_by_the_general_formula():
    """M_k = E y s'(z) z_k and |g|^2 = |M|^2 + E [y s' e]^2 + E y^2 s'^2/alpha, s' = m z_1 + (1 - m^2)^(1/2) e: by counting moments.

    E (z_1 + z_1 z_2)(m z_1 + ..) z_2 = m; along z_1 and e: 0; E y^2 s'^2 = m^2 E z_1^4 (1 + z_2)^2 + (1 - m^2) E z_1^2 (1 + z_2)^2.
    """
    alpha = 3.0
    square, second, after = staircase_limits(alpha)
    assert (square, second) == (pytest.approx(0.6), pytest.approx(0.8))
    noise = square * 3 * 2 + (1 - square) * 2
    assert after == pytest.approx(square / (square + noise / alpha))


# Reuse -----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", rows("weak_batch_reuse.csv"), ids=lambda row: f"{row['link']}-{row['alpha']}-{row['eta']}")
def test_batch_reuse(row):
    found = batch_reuse_limit(LINKS[row["link"]], float(row["alpha"]), float(row["eta"]))
    for value, column in ((found.gradient, "cos(g1,w*) limit"), (found.weights, "cos(w2,w*) limit"), (found.M, "M")):
        assert value == pytest.approx(float(row[column]), abs=1e-9)


@pytest.mark.parametrize("row", rows("weak_batch_reuse.csv")[:4], ids=lambda row: f"{row['link']}-{row['alpha']}-{row['eta']}")
def test_reuse_by_tables(row):
    """The same slope in other letters has no closed form here: means over zeta by tables, against the closed form."""
    same = "exp(-x**2/2)*(cos(x)**2 + sin(x)**2 + 1)/2"
    found = batch_reuse_limit(LINKS[row["link"]], float(row["alpha"]), float(row["eta"]), slope=same)
    closed = batch_reuse_limit(LINKS[row["link"]], float(row["alpha"]), float(row["eta"]))
    assert found.gradient == pytest.approx(closed.gradient, abs=1e-10)
    assert found.weights == pytest.approx(closed.weights, abs=1e-10)


@pytest.mark.parametrize("slope", ["1 + x", "(3*x**2 - 3)/sqrt(6)"])
@pytest.mark.parametrize(("alpha", "eta"), [(2.0, 1.0), (0.5, 0.3)])
def test_reuse_of_polynomial_slopes(slope, alpha, eta):
    """Polynomials in z, z*, zeta: Gauss-Hermite in three dimensions is exact."""
    node, weight = np.polynomial.hermite_e.hermegauss(24)
    z, star, zeta = np.meshgrid(node, node, node, indexing="ij")
    mass = weight[:, None, None] * weight[:, None] * weight / (2 * math.pi) ** 1.5

    def mean(values):
        return float((mass * values).sum())

    s = {"1 + x": lambda x: 1 + x, "(3*x**2 - 3)/sqrt(6)": lambda x: (3 * x**2 - 3) / math.sqrt(6)}[slope]
    y = star**2 + star
    u = y * s(z)
    v = y * s(z + eta * (z * mean(u * z) + star * mean(u * star) + u / alpha + math.sqrt(mean(u * u) / alpha) * zeta))
    signal, own = mean(v * star), mean(v * z)
    new = mean(u * v) / math.sqrt(alpha * mean(u * u)) + mean(v * zeta)
    rest = (mean(v * v) - mean(u * v) ** 2 / mean(u * u)) / alpha
    found = batch_reuse_limit("x**2 + x", alpha, eta, slope)
    assert abs(found.M - signal) < 1e-10 * abs(signal)
    assert found.gradient == pytest.approx(signal / math.sqrt(signal**2 + own**2 + new**2 + rest), abs=1e-11)


@pytest.mark.parametrize(
    ("link", "slope"),
    [
        ("tanh", "exp(-x)"),
        ("tanh", "exp(x)"),
        ("tanh", "cosh(x)"),
        ("tanh", "exp(x**2/5)"),
        ("exp(x)", "exp(x/4)"),
        ("exp(x)", "exp(x/2)"),
        ("exp(x**2/5) + x", "1 + x"),
        ("exp(x**2/8)", "1 + x"),
        ("-exp(x**2/5)", "-log(1 + exp(x))"),  # grows on one side alone
    ],
)
def test_second_steps_without_mean_square_are_refused(link, slope):
    """v = y s'(h), h = eta y s'(z)/alpha + ...: exponentials of exponentials, and E y^4 of 1 + x, e^(x^2/2) against e^(-x^2/2)."""
    with pytest.raises(QuantityError, match=r"slope must leave v = y s'\(h\) .* a finite mean square.*: E v\^2 is infinite"):
        batch_reuse_limit(link, 1, 0.01, slope)


def test_slopes_that_grow_where_nothing_goes():
    """y < 0 and s' = e^x > 0: u < 0, so that e^h is small where u is large and E v^2 is finite; no slope grows for the other link
    but y^4, e^(4 x^2/9), has a mean."""
    found = batch_reuse_limit("-exp(-(x - 1)**2)", 1, 0.5, "exp(x)")
    assert 0 < abs(found.gradient) < 1
    assert 0 < batch_reuse_limit("exp(x**2/9) + x", 1, 1, "1 + x").gradient < 1


def test_second_steps_that_no_quadrature_resolves():
    """Where the growth has no known sign the reason is said as well: values of the slope, or of z*, that are too rare."""
    with pytest.raises(NotConverged, match=r"slope .* is too large for the quadrature"):
        batch_reuse_limit("x", 1, 0.1, "exp(sin(x) + x)")
    with pytest.raises(NotConverged, match=r"means of e\^\(0.4762 z\*\^2\), carried by values of z\* too rare"):
        batch_reuse_limit("exp(x**2/4.2) + x", 1, 1)


def test_reuse_of_links_with_heavy_squares():
    """y^2 ~ e^(2 x^2/5): means over z* by a sum up to 28, where e^(-28^2/10) is 1e-34; up to 12 it is wrong by 3e-9."""
    star, z = np.arange(-28, 28.01, 0.02), np.arange(-9, 9.01, 0.05)
    w_star, w = (np.exp(-t * t / 2) * (t[1] - t[0]) / math.sqrt(2 * math.pi) for t in (star, z))
    y, bump = np.exp(star * star / 5) + star, np.exp(-z * z / 2)
    # alpha = eta = 1; E u z = 0, as the slope is even
    toward, square = (w_star @ (y * star)) * (w @ bump), (w_star @ y**2) * (w @ bump**2)
    signal = 0.0
    for point, weight, own in zip(z, w, bump):
        middle = point + star * toward + own * y
        signal += weight * (w_star @ (y * star * np.exp(-(middle**2) / (2 + 2 * square)))) / math.sqrt(1 + square)
    found = batch_reuse_limit("exp(x**2/5) + x", 1, 1)
    assert abs(found.M - signal) < 1e-12


@pytest.mark.parametrize("link", ["x**2 - 1", "cos(2*x)", "x**4 - 6*x**2 + 3"])
def test_even_links_are_not_learnt_by_reuse(link):
    assert abs(batch_reuse_limit(link, 2, 2).gradient) < 1e-12


# Spiked features -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", rows("one_step_spiked_features.csv"), ids=lambda row: f"{row['alpha0']}-{row['alpha']}")
def test_spiked_features(row):
    """The fixed points of the file are known to 1e-13; r, c and gamma follow from the batch and the rate."""
    features = after_one_step(row["student"], row["teacher"], float(row["alpha0"]), float(row["eta"]))
    assert features.spike == pytest.approx(float(row["spike_r"]), rel=1e-13)
    assert features.bulk == pytest.approx(float(row["bulk_c"]), rel=1e-13)
    assert features.gamma == pytest.approx(float(row["alignment_gamma"]), rel=1e-13)
    found = spiked_limit(features, float(row["alpha"]), float(row["lambda"]))
    for name, column in COLUMNS.items():
        assert getattr(found, name) == pytest.approx(float(row[column]), rel=1e-10, abs=1e-14), name


def test_another_penalty_would_be_seen():
    row = rows("one_step_spiked_features.csv")[0]
    features = after_one_step(row["student"], row["teacher"], float(row["alpha0"]), float(row["eta"]))
    assert abs(spiked_limit(features, 0.2, 0.01 * (1 + 1e-8)).V1 / float(row["V1"]) - 1) > 1e-9


@pytest.mark.parametrize("student", ["tanh", "x"])
@pytest.mark.parametrize("penalty", [1e-6, 0.1])
def test_without_a_spike_they_are_random_features(student, penalty):
    """r = 0: the covariate model with kappa_1 and kappa_*, the nonlinear part of the target as noise; beta = 1/2, alpha = 2."""
    _, slope, noise = generator_coefficients(student)
    _, signal, rest = generator_coefficients("tanh")
    found = spiked_limit(SpikedFeatures(student, "tanh", beta=0.5, spike=0.0, gamma=0.3), 2, penalty)
    model = CovariateModel.random_features(slope, max(noise, 1e-9), gamma=2.0)
    limit = covariate_limit(model, 4, penalty, "ridge", noise=(rest / signal) ** 2)
    assert found.test_error == pytest.approx(signal**2 * limit.test_error, rel=1e-7)
    assert found.train_error == pytest.approx(signal**2 * limit.train_loss, rel=1e-7)


@pytest.mark.parametrize("beta", [0.4, 1.0, 3.0])
@pytest.mark.parametrize("penalty", [1e-8, 0.3])
def test_means_over_the_spectrum(beta, penalty):
    """Closed forms against the law of Marchenko and Pastur in its angle, 20000 nodes."""
    first, second, bulk = 0.7, 0.2, 1.3
    angle = (np.arange(20000) + 0.5) * math.pi / 20000
    rho = 1 + beta + 2 * math.sqrt(beta) * np.cos(angle)
    weights = 2 / math.pi * np.sin(angle) ** 2 / rho * math.pi / 20000
    rho, weights = np.append(bulk**2 * rho, 0.0), np.append(weights, max(1 - 1 / beta, 0.0))
    R = 1 / (penalty + first * rho + second)
    found = _spectrum(penalty, first, second, beta, bulk)
    for name, values in (("r", R), ("rho_r", rho * R), ("rr", R**2), ("rho_rr", rho * R**2), ("rho2_rr", rho**2 * R**2)):
        assert getattr(found, name) == pytest.approx(float(weights @ values), rel=1e-7), name


@pytest.mark.parametrize("student", ["x", "tanh", "relu", "x**2 - 1", "sign(x)"])
@pytest.mark.parametrize("penalty", [1e-10, 1e-3, 10.0])
def test_extreme_settings_have_numbers(student, penalty):
    """Linear features, no linear part, jumps; far from and near interpolation: solved, with a positive error at least train's."""
    for alpha in (0.3, 1.5, 5.0):
        found = spiked_limit(SpikedFeatures(student, "sign(x)", beta=1.5, spike=0.8, gamma=0.6), alpha, penalty)
        assert found.residual < 1e-11
        assert 0 < found.train_error < found.test_error < math.inf


def test_a_discontinuous_target_is_resolved():
    """sign against steeper and steeper tanh: errors converge to that of the sign, from y = tanh(k z) by O(1/k)."""
    values = [
        spiked_limit(SpikedFeatures("tanh", target, beta=1.0, spike=1.0, gamma=0.6), 2.0, 0.1).test_error
        for target in ("sign(x)", "tanh(400*x)", "tanh(1600*x)")
    ]
    gaps = [abs(value - values[0]) for value in values[1:]]
    assert gaps[1] < gaps[0] / 3 < 0.002


@pytest.mark.parametrize(("link", "gradient"), [("sin(30*x)", 0.0), ("tanh(50*x)", 0.2712700054926)])
def test_reuse_of_links_that_vary_fast(link, gradient):
    """E y z* = 30 e^-450 of sin(30 x), by which nothing is learnt; M by the midpoint rule, exponentially exact for both."""
    alpha, eta = 0.8, 2.5
    found = batch_reuse_limit(link, alpha, eta)
    star, z = (np.arange(count) * reach / count - reach / 2 + reach / count / 2 for count, reach in ((20_000, 18.0), (800, 16.0)))
    w_star, w = (np.exp(-t * t / 2) * (t[1] - t[0]) / math.sqrt(2 * math.pi) for t in (star, z))
    y, slope = read_link(link)(star), np.exp(-z * z / 2)
    toward, square = (w_star @ (y * star)) * (w @ slope), (w_star @ y**2) * (w @ slope**2)
    spread = eta**2 * square / alpha
    signal = 0.0
    for point, weight, own in zip(z, w, slope):  # E u z = 0: y is odd
        middle = point + eta * (star * toward + own * y / alpha)
        signal += weight * (w_star @ (y * star * np.exp(-(middle**2) / (2 + 2 * spread)))) / math.sqrt(1 + spread)
    assert abs(found.M - signal) < 1e-12
    assert found.gradient == pytest.approx(gradient, abs=1e-12)


@pytest.mark.parametrize("link", ["exp(x**2/4)", "x*exp(x**2/3)", "exp(x**2)"])
def test_labels_without_mean_square_are_refused(link):
    """E y^2 is infinite: every limit of labels says so in the same words, and draws of what has no mean are refused."""
    for ask in (
        lambda: one_step_limit(link, 0.8),
        lambda: one_step_correction(link, 0.8),
        lambda: hard_link_limit(link),
        lambda: batch_reuse_limit(link, 0.8, 2.5),
        lambda: SpikedFeatures("tanh", link, beta=1, spike=1, gamma=0.5),
        lambda: after_one_step("tanh", link, 1, 1),
        lambda: one_step_norm(link),
        lambda: neuron_gradient(link, "tanh"),
    ):
        with pytest.raises(QuantityError, match=r"(link|target) must have a finite mean square, got '.*': E g\(z\)\^2 is infinite"):
            ask()


@pytest.mark.parametrize("student", ["sign(x)", "heaviside(x)", "x*sign(x - 1)", "sign(cos(x) - x)"])
def test_students_whose_slope_is_no_function_are_refused(student):
    """A step would not see the jump, and the theory would."""
    for ask in (
        lambda: after_one_step(student, "tanh", batch=1.0, rate=3.0),
        lambda: giant_step_error("test_error", 0.1, student, "tanh", rate=3.0),
        lambda: neuron_gradient("tanh", student),
    ):
        with pytest.raises(QuantityError, match=r"student must be continuous, got .* which jumps at"):
            ask()
    assert after_one_step("relu", "sign(x)", batch=1.0, rate=3.0).spike > 0


@pytest.mark.parametrize(
    ("setting", "error"),
    [
        ({"spike": 10.0, "gamma": 0.5, "target": "tanh"}, 0.318611981103),
        ({"spike": 30.0, "gamma": 0.5, "target": "tanh"}, 0.329452881753),
        ({"spike": 1.0, "gamma": 0.999, "target": "sign(x)"}, 0.378788634686),
    ],
)
def test_large_spikes_are_resolved(setting, error):
    """Means given <v, x> vary over bulk/spike and (1 - gamma^2)^(1/2)/gamma: a lattice of step 1/80 has these numbers, one of 1/10
    is off by 1e-5, 1e-3 and 2e-4."""
    target = setting.pop("target")
    features = SpikedFeatures("tanh", target, beta=1.0, **setting)
    assert spiked_limit(features, 2.0, 0.1).test_error == pytest.approx(error, rel=1e-11)
    parts = (features.student, features.target, features.spike, features.bulk, features.gamma)
    assert abs(_at(_orders(*parts, 0), features, 2.0, 0.1, None).test_error / error - 1) > 1e-6
    assert _at(_orders(*parts, 5), features, 2.0, 0.1, None).test_error == pytest.approx(error, rel=1e-11)


def test_scales_far_from_one():
    """tanh(1e6 u) is sign(u) up to 1e-6 of its mass; what has no bulk left is refused at once."""
    steep = spiked_limit(SpikedFeatures("tanh", "tanh", beta=1.0, spike=1e6, bulk=1e6, gamma=0.5), 2.0, 0.1).test_error
    sign = spiked_limit(SpikedFeatures("sign(x)", "tanh", beta=1.0, spike=1.0, bulk=1.0, gamma=0.5), 2.0, 0.1).test_error
    assert steep == pytest.approx(sign, abs=1e-5)
    for spike, bulk in ((1e6, 1.0), (1.0, 1e-6)):
        with pytest.raises(NotConverged, match=r"must vary over 1/2000 of it at least, got spike/bulk = 1e\+06"):
            spiked_limit(SpikedFeatures("tanh", "tanh", beta=1.0, spike=spike, bulk=bulk, gamma=0.5), 2.0, 0.1)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SpikedFeatures("tanh", "tanh", beta=1, spike=1, gamma=1), r"gamma must lie in \[0, 1\)"),
        (lambda: SpikedFeatures("tanh", "3", beta=1, spike=1, gamma=0), "target must depend on x"),
        (lambda: SpikedFeatures("tanh", "tanh", beta=0, spike=1, gamma=0), "beta must be a number > 0"),
        (lambda: spiked_limit(SpikedFeatures("tanh", "tanh", beta=1, spike=1, gamma=0.5), 1, 0), "penalty must be a number > 0"),
        (lambda: one_step_limit("tan(", 1), "link must be a function of x"),
        (lambda: batch_reuse_limit("tanh", -1, 1), "alpha must be a number > 0"),
        (lambda: batch_reuse_limit("tanh", 1, 1, slope="heaviside(x)"), "slope must be smooth"),
        (lambda: batch_reuse_limit("tanh", 1, 1, slope="exp(x**2)"), "slope must have a finite mean square"),
    ],
)
def test_refusals(make, message):
    with pytest.raises(QuantityError, match=message):
        make()
