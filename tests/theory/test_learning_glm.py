"""The replica formula of the generalised linear model, against 30-digit references, closed forms and message passing on samples."""

import csv
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq

from theoryck.numerics.errors import NotConverged
from theoryck.numerics.functions.activation import Activation
from theoryck.theory.learning.limits.channels import GaussianChannel, Integrals, SignChannel
from theoryck.theory.learning.limits.glm import glm_limit, replica_limit, teacher_limit
from theoryck.theory.learning.limits.linear import linear_error, linear_information, ridge_error
from theoryck.theory.learning.model import TeacherStudent
from theoryck.theory.networks.model import DeepNetwork
from theoryck.theory.networks.proved.constants import network_constants
from theoryck.theory.spectra.limits.marchenko_pastur import overlap_deficit

ROWS = list(csv.DictReader((Path(__file__).parents[1] / "data" / "deep_bayes_optimal.csv").read_text().splitlines()))
ETA, GAMMA = 0.5292612, 0.0397916  # erf, two layers


def close(value, reference, digits=12):
    return abs(value - float(reference)) <= 10.0**-digits * max(1.0, abs(float(reference)))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['activation']}-{row['L']}-{row['alpha']}")
def test_deep_bayes_optimal_references(row):
    phi = {"tanh2x": "tanh(2*x)", "erf": "erf(x)"}[row["activation"]]
    constants = network_constants(Activation(phi), int(row["L"]), digits=25)
    eta, gamma = float(constants.eta0), float(constants.gamma0)
    assert close(eta**2, row["kappa2_product"], 14)
    assert close(gamma, row["eps_residual"], 14)
    assert close(gamma / eta**2, row["lambda_opt"], 14)
    real = glm_limit(row["alpha"], 0, "x", constants.eta0, constants.gamma0)
    assert close(real.overlap, row["q_reg"])
    assert close(real.error, row["eg_bo_reg"])
    sign = glm_limit(row["alpha"], 0, "x", eta, gamma, labels="sign")
    assert close(sign.overlap, row["q_cls"])
    assert close(sign.misclassification, row["eg_bo_cls"])
    assert close(ridge_error(row["alpha"], gamma / eta**2, 0, eta, gamma), row["eg_ridge_lam_opt"])
    assert close(ridge_error(row["alpha"], "0.1", 0, constants.eta0, constants.gamma0), row["eg_ridge_lam0.1"])


def test_other_normalisations_of_r_miss_the_references():
    """r = 2 alpha Psi' = alpha E g^2: with half or twice that the overlap is another one."""
    row = ROWS[1]
    eta, gamma = math.sqrt(float(row["kappa2_product"])), float(row["eps_residual"])
    channel = SignChannel(0.0, eta, gamma)
    q = float(row["q_cls"])
    r = q / (1 - q)
    assert close(channel.at(r, 2.0).fisher * float(row["alpha"]), r)
    slope = (channel.at(r * 1.001, 2.0).psi - channel.at(r * 0.999, 2.0).psi) / (
        r * 1.001 / (1 + r * 1.001) - r * 0.999 / (1 + r * 0.999)
    )
    assert abs(2 * slope - channel.at(r, 2.0).fisher) < 1e-5 * slope  # a central difference of step 1e-3
    for factor in (0.5, 2.0):
        scale = factor * float(row["alpha"])
        wrong = brentq(lambda x, scale=scale: scale * channel.at(x, 2.0).fisher - x, 1e-6, 50.0)
        assert abs(wrong / (1 + wrong) - q) > 0.05


@pytest.mark.parametrize(("alpha", "noise", "eta", "gamma"), [(0.5, 0.3, 1.0, 0.0), (2, 0.05, 0.6, 0.1), (5, 0.5, 2.0, 0.3)])
def test_linear_readout_through_the_replica_formula(alpha, noise, eta, gamma):
    """The integrals know nothing of Marchenko and Pastur."""
    numeric = replica_limit(alpha, GaussianChannel(Activation("x"), noise, eta, gamma))
    assert close(numeric.deficit, overlap_deficit(alpha, eta**2 / (gamma + noise)))
    assert close(numeric.error, linear_error(alpha, noise, eta, gamma))
    assert close(numeric.mutual_information, linear_information(alpha, noise, eta, gamma))
    closed = glm_limit(alpha, noise, "x", eta, gamma)
    assert close(closed.free_entropy, numeric.free_entropy)


def test_published_numbers():
    limit = glm_limit(1.5, 0.05, "tanh(2*x)", ETA, GAMMA)
    assert round(limit.overlap, 4) == 0.6915
    assert round(limit.error, 5) == 0.23886
    # The Bayes perceptron: error rate 0.4417.../alpha for many samples (Opper, Haussler 1991).
    assert abs(300 * glm_limit(300, 0, labels="sign").misclassification - 0.4417) < 5e-4


@pytest.mark.parametrize("readout", ["tanh(2*x)", "sin(x)", "x + x**3/3", "relu(x)", "erf(x) + x**2/4"])
def test_free_entropy_is_stationary(readout):
    """d/d alpha of sup_q [(q + log(1 - q))/2 + alpha Psi(q)] is Psi at the maximum only if q is stationary."""
    low, middle, high = (glm_limit(alpha, 0.2, readout, 0.8, 0.1) for alpha in (1.49, 1.5, 1.51))
    slope = (high.alpha * high.free_entropy - low.alpha * low.free_entropy) / 0.02
    q = middle.overlap
    psi = middle.free_entropy - (q + math.log(middle.deficit)) / (2 * 1.5)
    assert abs(slope - psi) < 1e-4  # the third derivative in alpha times 0.01^2/6
    assert middle.accuracy < 5e-13


def test_few_samples_give_the_information_of_the_scalar_channel():
    """As alpha goes to 0 a sample tells what Y says of T ~ N(0, eta_0^2 + gamma_0): a plain sum over a fine grid of (y, t)."""
    noise, power = 0.2, 0.8**2 + 0.1
    t, y = np.linspace(-8, 8, 1201), np.linspace(-5.5, 5.5, 1001)
    prior = np.exp(-t * t / (2 * power)) / math.sqrt(2 * math.pi * power) * (t[1] - t[0])
    p = np.exp(-((y[:, None] - np.tanh(2 * t)) ** 2) / (2 * noise)) @ prior / math.sqrt(2 * math.pi * noise)
    entropy = -float(p @ np.log(p)) * (y[1] - y[0])
    expected = entropy - math.log(2 * math.pi * math.e * noise) / 2
    assert abs(glm_limit(1e-9, noise, "tanh(2*x)", 0.8, 0.1).mutual_information - expected) < 1e-8  # alpha itself is 1e-9


def test_even_readouts_have_q_0_and_the_larger_potential_wins():
    few, many = glm_limit(0.5, 0.05, "x**2", ETA, GAMMA), glm_limit(5, 0.05, "x**2", ETA, GAMMA)
    assert few.fixed_points == (0.0,)
    assert few.overlap == 0
    assert many.fixed_points == (0.0, many.overlap)
    channel = GaussianChannel(Activation("x**2"), 0.05, ETA, GAMMA)
    r = many.overlap / many.deficit
    gain = (many.overlap + math.log(many.deficit)) / 2 + 5 * (channel.at(r, 2.0).psi - channel.at(0.0, 2.0).psi)
    assert gain > 0.1


def test_first_order_transition_between_stable_overlaps():
    class Staircase:
        """A made-up convex Psi that makes two overlaps stable: Psi' = Fisher/2 has a step at q = 0.8."""

        signal_power, noise_power, conditional_entropy, fisher_limit = 1.0, 0.0, 0.0, 20.0

        def at(self, r, level):
            q = r / (1 + r)
            width, height = 0.02, 8.0
            fisher = 0.5 + height / (1 + math.exp(-(q - 0.8) / width))
            psi = (0.5 * q + height * width * math.log1p(math.exp((q - 0.8) / width))) / 2
            return Integrals(psi, fisher, q)

    below, above = replica_limit(0.95, Staircase()), replica_limit(2.0, Staircase())
    assert len(below.fixed_points) == len(above.fixed_points) == 3
    assert below.overlap == below.fixed_points[0]
    assert above.overlap == above.fixed_points[2]


def test_noise_and_sign_of_eta():
    noisy, clean = glm_limit(3, 0.5, labels="sign"), glm_limit(3, 0, labels="sign")
    assert noisy.overlap < clean.overlap
    assert close(clean.error, 1 - 2 / math.pi * math.asin(clean.overlap))
    assert glm_limit(1.5, 0.05, "tanh(2*x)", -ETA, GAMMA).overlap == glm_limit(1.5, 0.05, "tanh(2*x)", ETA, GAMMA).overlap
    assert glm_limit(2, 0, "x", 1, "1/2").mutual_information == math.inf


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"alpha": 0, "noise": 1}, "alpha must be a number > 0, got 0"),
        ({"alpha": 1, "noise": -1}, "noise must be a number >= 0"),
        ({"alpha": 1, "noise": 0, "readout": "tanh(x)"}, "noise must be > 0"),
        ({"alpha": 1, "noise": 1, "eta0": 0}, "eta0 must not be 0"),
        ({"alpha": 1, "noise": 1, "labels": "ordinal"}, "labels must be"),
        ({"alpha": 1, "noise": 1, "labels": "sign", "readout": "tanh(x)"}, "readout must be 'x'"),
        ({"alpha": 1, "noise": 0}, "cannot both be 0"),
    ],
)
def test_refusals(arguments, word):
    with pytest.raises(ValueError, match=word.replace("(", r"\(")):
        glm_limit(**arguments)


def test_what_cannot_be_resolved_is_an_error():
    with pytest.raises(NotConverged, match="points was needed"):
        glm_limit(1, 1e-8, "sin(x)")


def message_passing(rng, d, alpha, noise, readout, eta, gamma):
    """Bayes-optimal generalised approximate message passing on one data set: overlap of its estimate, and error on new samples."""
    n = int(alpha * d)
    x, v = rng.standard_normal((n, d)) / math.sqrt(d), rng.standard_normal(d)

    def labels(inputs):
        hidden = eta * (inputs @ v) + math.sqrt(gamma) * rng.standard_normal(len(inputs))
        return readout(hidden) + math.sqrt(noise) * rng.standard_normal(len(inputs))

    y = labels(x)
    u = np.linspace(-5.5, 5.5, 91)
    weight = np.exp(-u * u / 2)
    weight /= weight.sum()
    estimate, variance, g = np.zeros(d), 1.0, np.zeros(n)
    for _ in range(20):
        omega = x @ estimate - variance * g
        spread = math.sqrt(eta**2 * variance + gamma)
        terms = weight * np.exp(-((y[:, None] - readout(eta * omega[:, None] + spread * u)) ** 2) / (2 * noise))
        g = eta / spread * (terms @ u) / terms.sum(axis=1)
        r = alpha * float(g @ g) / n
        estimate = (r * estimate + x.T @ g) / (1 + r)
        variance = 1 / (1 + r)
    new = rng.standard_normal((2000, d)) / math.sqrt(d)
    mean = readout(eta * (new @ estimate)[:, None] + spread * u) @ weight
    return float(estimate @ v) / d, float(np.mean((labels(new) - mean) ** 2))


def test_message_passing_reaches_the_limit():
    """Independent of every integral above: d = 1000, 10 data sets, 3.5 standard errors (and 1/d for what finite d adds)."""
    runs = np.array(
        [message_passing(np.random.default_rng(seed), 1000, 1.5, 0.05, lambda z: np.tanh(2 * z), ETA, GAMMA) for seed in range(10)]
    )
    limit = glm_limit(1.5, 0.05, "tanh(2*x)", ETA, GAMMA)
    mean, stderr = runs.mean(axis=0), runs.std(axis=0, ddof=1) / math.sqrt(len(runs))
    assert abs(mean[0] - limit.overlap) < 3.5 * stderr[0] + 1e-3
    assert abs(mean[1] - limit.error) < 3.5 * stderr[1] + 1e-3
    # The check has power: the model without gamma_0 lies outside.
    other = glm_limit(1.5, 0.05, "tanh(2*x)", ETA, 0)
    assert abs(mean[0] - other.overlap) > 10 * stderr[0]


def test_equivalent_model_of_a_setting():
    limit = teacher_limit(TeacherStudent(DeepNetwork("erf", depth=2), noise="1/20", readout="tanh(2*x)"), 1.5)
    assert close(limit.overlap, glm_limit(1.5, 0.05, "tanh(2*x)", math.sqrt(0.280117450366990357), 0.0397915593136402667).overlap)
    assert teacher_limit(TeacherStudent(DeepNetwork("erf", depth=0)), 2) == glm_limit(2, "1/2")
    assert teacher_limit(TeacherStudent(DeepNetwork("erf", depth=1), noise=0), 2, labels="sign").misclassification < 0.25
    with pytest.raises(ValueError, match="setting must be"):
        teacher_limit("erf", 1)
