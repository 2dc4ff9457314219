"""Information and errors in deep linear networks: against weight matrices, one-dimensional integrals and known numbers."""

import math
import pickle

import mpmath
import numpy as np
import pytest
from scipy.stats import gamma

from theoryck.theory.learning.draws import deep_linear as dl
from theoryck.theory.learning.draws.deep_linear_model import (
    LinearModel,
    batches,
    bidiagonal,
    eigenvalues,
    explained,
    log_density,
    log_likelihoods,
    logdet,
    posterior,
    scale_grid,
    second_order,
)

SMALL = LinearModel((3, 2, 2), n=2, noise=0.5)


def generator(seed=0):
    return np.random.Generator(np.random.SFC64(seed))


def mean_and_error(values):
    return float(values.mean()), float(values.std(ddof=1) / math.sqrt(len(values)))


def assert_mean(values, expected, slack=0.0):
    """A correct mean misses by more than 5 standard errors once in 2e6; ``slack`` is the error of the expected value."""
    mean, error = mean_and_error(values)
    assert abs(mean - expected) < 5 * error + slack, (mean, error, expected)


# The law of the scale


def test_density_of_one_layer_is_the_gamma_law():
    for width in (1, 3, 40, 400, 10**5):
        a = width / 2
        points = np.log(scale_grid((width,), 1).nodes[::7])
        with mpmath.workdps(30):
            law = [a * (mpmath.mpf(u) - mpmath.exp(mpmath.mpf(u))) + a * mpmath.log(a) - mpmath.loggamma(a) for u in points]
        # The far left tail, of total mass 1e-16, has fewer digits: there the contour keeps away from the pole.
        np.testing.assert_allclose(log_density(np.array([a]), points), np.array(law, dtype=float), atol=1e-10)


def test_density_of_two_layers_is_the_bessel_law():
    a, b = 2.5, 2.0
    c, points = a * b, np.linspace(-8, 3, 12)
    bessel = [2 * c * (c * t) ** ((a + b) / 2 - 1) * mpmath.besselk(a - b, 2 * mpmath.sqrt(c * t)) for t in np.exp(points)]
    expected = [
        float(mpmath.log(value * t / mpmath.gamma(a) / mpmath.gamma(b))) for value, t in zip(bessel, np.exp(points), strict=True)
    ]
    np.testing.assert_allclose(log_density(np.array([a, b]), points), expected, atol=1e-11)


@pytest.mark.parametrize(
    ("widths", "modes"),
    [((1,), 1), ((1, 1, 1), 1), ((4,), 512), ((512, 512, 512), 512), ((2, 300), 8), ((10**6,), 1), ((7,) * 6, 3)],
)
def test_weights_have_the_moments_of_the_product(widths, modes):
    grid = scale_grid(widths, modes)
    weights, logs = np.exp(grid.log_weights), np.log(grid.nodes)
    assert abs(grid.defect) < 1e-12
    assert weights @ grid.nodes == pytest.approx(1.0, rel=1e-12)
    assert weights @ grid.nodes**2 == pytest.approx(math.prod(1 + 2 / width for width in widths), rel=1e-10)
    expected = sum(float(mpmath.digamma(width / 2) - mpmath.log(width / 2)) for width in widths)
    assert weights @ logs == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    "model",
    [
        LinearModel((64, 64), 64, 0.5),
        LinearModel((64, 8, 8), 64, 0.5),
        LinearModel((1, 1), 1, 0.5),
        LinearModel((3, 2, 1), 2, 0.1),
        LinearModel((100, 1), 200, 0.01),
        LinearModel((16, 3, 5), 40, 0.3, eta2=2.0, tau=0.3),
        LinearModel((300, 300, 300), 3, 1e-3),
    ],
)
def test_doubling_the_nodes_changes_nothing(model):
    coarse, fine = model.grid(), model.grid(refinement=2)
    batch = next(batches(model, generator(), 50, 16, len(fine.nodes)))
    ratios = [posterior(model, grid, batch).log_ratio for grid in (coarse, fine)]
    # log r is the logarithm of the integral, so this is the relative error of the integral.
    assert np.max(np.abs(ratios[0] - ratios[1])) < 1e-10
    # The same comparison sees a grid that is too coarse.
    rough = type(coarse)(coarse.nodes[::6], coarse.log_weights[::6] + math.log(6), 0.0)
    assert np.max(np.abs(posterior(model, rough, batch).log_ratio - ratios[1])) > 1e-10


# Spectra


def test_bidiagonal_functionals_are_those_of_the_matrix():
    small, large, scale = 5, 9, 0.3
    diagonals, subdiagonals = bidiagonal(generator(3), small, large, 1)
    matrix = np.diag(np.sqrt(diagonals[:, 0])) + np.diag(np.sqrt(subdiagonals[:, 0]), -1)
    square = matrix @ matrix.T
    np.testing.assert_allclose(eigenvalues(generator(3), small, large, 1)[0], np.linalg.eigvalsh(square), rtol=1e-11)
    inner = np.eye(small) + scale * square
    assert logdet(generator(3), small, large, scale, 1)[0] == pytest.approx(np.linalg.slogdet(inner)[1], rel=1e-13)
    expected = small - np.trace(np.linalg.inv(inner))
    assert explained(generator(3), small, large, scale, 1)[0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("small", [1, 5, 17])
def test_elimination_gives_the_gaussian_density(small):
    noise, true, scales = 0.4, 1.7, np.array([0.2, 1.0, 3.0])
    rng = generator(3)
    diagonals, subdiagonals = bidiagonal(rng, small, 20, 1)
    matrix = np.diag(np.sqrt(diagonals[:, 0])) + np.diag(np.sqrt(subdiagonals[:, 0]), -1)
    signal, white = rng.standard_normal(small), rng.standard_normal(small)
    data = math.sqrt(true) * matrix @ signal + math.sqrt(noise) * white
    covariances = scales[:, None, None] * (matrix @ matrix.T) + noise * np.eye(small)
    forms = np.array([data @ np.linalg.solve(covariance, data) for covariance in covariances])
    expected = -0.5 * (np.linalg.slogdet(2 * np.pi * covariances)[1] + forms)
    found = log_likelihoods(generator(3), small, 20, (np.array([true]), noise), (scales, noise))
    np.testing.assert_allclose(found[0], expected, rtol=1e-11)


@pytest.mark.parametrize(("small", "large"), [(1, 4), (3, 7), (5, 5)])
def test_spectra_have_the_law_of_gaussian_matrices(small, large):
    draws, rng = 20_000, generator(1)
    matrices = rng.standard_normal((draws, small, large))
    direct = np.linalg.slogdet(np.eye(small) + 0.3 * matrices @ matrices.transpose(0, 2, 1))[1]
    mean, error = mean_and_error(direct)
    for values in (logdet(rng, small, large, 0.3, draws), np.log1p(0.3 * eigenvalues(rng, small, large, draws)).sum(axis=1)):
        assert_mean(values, mean, 5 * error)
        assert values.std() == pytest.approx(direct.std(), rel=0.05)


# Against weight matrices


def networks(rng, model, draws):
    """Readout directions theta (draws, d_0) of networks with all their weight matrices."""
    vectors = rng.standard_normal((draws, 1, model.widths[-1]))
    for below, above in zip(model.widths[-2::-1], model.widths[:0:-1], strict=True):
        vectors = vectors @ rng.standard_normal((draws, above, below)) / math.sqrt(above)
    return math.sqrt(model.eta2) * vectors[:, 0, :]


def data_sets(rng, model, draws):
    inputs = rng.standard_normal((draws, model.widths[0], model.n)) / math.sqrt(model.widths[0])
    outputs = np.einsum("si,sin->sn", networks(rng, model, draws), inputs)
    return inputs, outputs + math.sqrt(model.noise) * rng.standard_normal(outputs.shape)


def brute_force_log_evidence(rng, model, inputs, outputs, networks_per_set):
    """log Z by averaging the likelihood over networks from the prior, with the bias of the logarithm removed to first order."""
    result = np.empty(len(inputs))
    for index, (x, y) in enumerate(zip(inputs, outputs, strict=True)):
        residual = y - networks(rng, model, networks_per_set) @ x
        logs = -0.5 * (residual**2).sum(axis=1) / model.noise
        weights = np.exp(logs - logs.max())
        bias = weights.var() / (2 * networks_per_set * weights.mean() ** 2)
        result[index] = logs.max() + math.log(weights.mean()) + bias
    return result - 0.5 * model.n * math.log(2 * math.pi * model.noise)


def test_one_data_set_by_prior_average_and_by_bessel_integral():
    model = LinearModel((6, 5, 4), n=3, noise=0.5)
    rng = generator(11)
    inputs, outputs = data_sets(rng, model, 1)
    kernel = inputs[0].T @ inputs[0]
    a, b = 2.5, 2.0

    def integrand(t):
        covariance = float(t) * kernel + model.noise * np.eye(3)
        form = outputs[0] @ np.linalg.solve(covariance, outputs[0]) + np.linalg.slogdet(2 * np.pi * covariance)[1]
        law = 2 * a * b * (a * b * t) ** ((a + b) / 2 - 1) * mpmath.besselk(a - b, 2 * mpmath.sqrt(a * b * t))
        return law / mpmath.gamma(a) / mpmath.gamma(b) * mpmath.exp(-0.5 * form)

    integral = float(mpmath.log(mpmath.quad(integrand, [0, 0.1, 1, 4, 12, 40, 120])))
    values, vectors = np.linalg.eigh(kernel)
    batch = next(batches(model, rng, 1, 1, 1))
    squares = (vectors.T @ outputs[0])[None, :, None] ** 2
    fixed = type(batch)(slice(0, 1), values[None], np.ones((1, 1)), squares)
    gaussian = -0.5 * (np.log(2 * np.pi * (values + model.noise)) + squares[0, :, 0] / (values + model.noise)).sum()
    assert gaussian + posterior(model, model.grid(), fixed).log_ratio[0, 0] == pytest.approx(integral, abs=1e-8)
    brute = brute_force_log_evidence(rng, model, inputs, outputs, 400_000)[0]
    assert brute == pytest.approx(integral, abs=0.03)


def test_free_entropy_is_that_of_real_networks():
    rng = generator(2)
    inputs, outputs = data_sets(rng, SMALL, 1500)
    brute = brute_force_log_evidence(rng, SMALL, inputs, outputs, 4000) / SMALL.n
    mean, error = mean_and_error(brute)
    assert_mean(dl.FreeEntropy(SMALL)(generator(), 3000), mean, 5 * error)
    assert_mean(dl.log_evidences(SMALL, generator(), 20_000) / SMALL.n, mean, 5 * error)
    # A network with another slope is told apart.
    other, spread = mean_and_error(dl.FreeEntropy(LinearModel((3, 2, 2), 2, 0.5, eta2=2.0))(generator(), 3000))
    assert abs(other - mean) > 5 * (spread + error)


@pytest.mark.parametrize(
    "model",
    [
        LinearModel((4, 3), 9, 0.2),
        LinearModel((9, 3, 3), 4, 0.7, eta2=1.5),
        LinearModel((20,), 30, 0.5),
        LinearModel((5, 2), 5, 1.0, tau=0.4),
    ],
)
def test_elimination_and_spectra_agree(model):
    mean, error = mean_and_error(dl.log_evidences(model, generator(5), 20_000) / model.n)
    assert_mean(dl.FreeEntropy(model)(generator(6), 2000), mean, 5 * error)


# Known numbers


def one_sample_divergence(width, depth, noise):
    """KL of one sample, by quadrature over the input norm, the scale (iterated convolutions) and the output."""
    step = 0.3 / math.sqrt(width / 2)
    logs = np.arange(-14 * math.sqrt(2 / width), 10 * math.sqrt(2 / width), step)
    law = gamma.pdf(np.exp(logs) * width / 2, width / 2) * width / 2 * np.exp(logs)
    scale_law, start = law, logs[0]
    for _ in range(depth - 1):
        scale_law, start = np.convolve(scale_law, law) * step, start + logs[0]
    scales = np.exp(start + step * np.arange(len(scale_law)))
    outputs = np.arange(-14, 14, 0.02)
    normal = np.exp(-(outputs**2) / 2) / math.sqrt(2 * math.pi) * 0.02
    total = 0.0
    for norm, weight in zip(np.exp(logs), law * step, strict=True):
        shift = (scales - 1)[:, None] * norm / (norm + noise)
        excess = scale_law @ np.expm1(-0.5 * np.log1p(shift) + 0.5 * outputs**2 * shift / (1 + shift)) * step
        total += weight * float(normal @ np.where(np.abs(excess) < 1e-3, 0.5 * excess**2 - excess**3 / 6 + excess**4 / 12, 0.0))
        large = np.abs(excess) >= 1e-3
        total += weight * float(normal[large] @ ((1 + excess[large]) * np.log1p(excess[large]) - excess[large]))
    return total


@pytest.mark.parametrize(("width", "depth"), [(8, 1), (32, 1), (32, 3)])
def test_gap_of_one_sample(width, depth):
    model = LinearModel((width,) * (depth + 1), n=1, noise=0.5)
    assert_mean(-dl.InformationGap(model)(generator(), 20_000), one_sample_divergence(width, depth, 0.5))


@pytest.mark.parametrize(("tau", "expected"), [(0.0, 0.02265), (0.25, 0.00775), (0.5, 0.00175), (0.75, 0.00010)])
def test_divergence_along_the_path(tau, expected):
    # Known to 2% from a prototype (0.00010 to its last digit).
    values = dl.PathDivergence(LinearModel((64, 64), 64, 0.5, tau=tau))(generator(), 1500)
    assert_mean(values, expected, 0.03 * expected + 5e-6 + (1e-5 if tau == 0.75 else 0))


def test_path_ends_at_the_linear_model():
    model = LinearModel((64, 64), 64, 0.5, tau=1.0)
    assert not dl.PathDivergence(model)(generator(), 5).any()
    assert not dl.InformationGap(model.linear)(generator(), 5).any()


def closed_form(model, rng):
    kernel = model.eta2 * model.spectra(rng, 20)
    x = float(np.mean(np.sum((kernel / (kernel + model.noise)) ** 2, axis=1))) * sum(1 / width for width in model.widths[1:])
    return 0.5 * (x - math.log1p(x))


@pytest.mark.parametrize("widths", [(128, 128), (64, 128, 96, 128)])
@pytest.mark.parametrize("n", [128, 128**2])
def test_gap_at_large_width(widths, n):
    model = LinearModel(widths, n=n, noise=0.5)
    # Leading order: corrections are of relative size O(1/d); 3/d covers all of d = 32..512.
    expected = closed_form(model, generator(9))
    assert_mean(-dl.InformationGap(model)(generator(), 200), expected, expected * 3 / 64)


@pytest.mark.parametrize(("depth", "expected"), [(1, 0.1534), (3, 0.8069)])
def test_gap_saturates_when_there_are_many_samples(depth, expected):
    model = LinearModel((48,) * (depth + 1), n=10**6, noise=0.5)
    assert_mean(-dl.InformationGap(model)(generator(), 1000), expected, expected * 2 / 48)


@pytest.mark.parametrize(("n", "exponents"), [("d", (-0.998, -1.009)), ("d^2", (-1.97, -1.99))])
def test_exponents(n, exponents):
    for depth, expected in zip((1, 3), exponents, strict=True):
        models = [LinearModel((d,) * (depth + 1), d if n == "d" else d * d, 0.5) for d in (32, 128)]
        means, errors = zip(*(mean_and_error(-dl.InformationGap(m)(generator(7), 600) / m.n) for m in models), strict=True)
        slope = math.log(means[1] / means[0]) / math.log(4)
        error = math.hypot(errors[0] / means[0], errors[1] / means[1]) / math.log(4)
        # 0.03: scatter of the reference and of the window (32, 128) against 32..512.
        assert abs(slope - expected) < 0.03 + 4 * error
        # The stated bound n/d / sqrt(d) would be half a power slower: it is excluded at this precision.
        assert abs(slope - (expected + 0.5)) > 0.03 + 4 * error


@pytest.mark.parametrize(
    "model",
    [
        LinearModel((48,), 48, 0.5),
        LinearModel((32, 32), 32, 0.5),
        LinearModel((24, 24, 24), 240, 0.5),
        LinearModel((40, 20), 10, 0.2),
    ],
)
def test_variance_of_the_free_entropy(model):
    kernel = model.eta2 * model.spectra(generator(4), 50)
    captured = float(np.mean(np.sum(kernel / (kernel + model.noise), axis=1))) / model.n
    expected = 1 / (2 * model.n) + 0.5 * captured**2 * sum(1 / width for width in model.widths[1:])
    # Leading order, within 6% for such sizes.
    assert_mean(dl.FreeEntropyVariance(model)(generator(), 1500), expected, 0.06 * expected)


def test_variance_is_unbiased():
    model = LinearModel((3, 3), 4, 0.5)
    values = dl.log_evidences(model, generator(8), 100_000) / model.n
    spread = float(((values - values.mean()) ** 2).std() / math.sqrt(len(values)))
    assert_mean(dl.FreeEntropyVariance(model)(generator(), 10_000), float(values.var()), 5 * spread)


def test_mutual_information_of_the_linear_model():
    # Limit per sample at n = d_0: tau = 1/2, lambda = 2 (Tulino-Verdu form), corrections O(1/d).
    d, lam = 200, 2.0
    tau = (-1 + math.sqrt(1 + 4 * lam)) / (2 * lam)
    expected = 0.5 * (-math.log(tau) + math.log1p(lam * tau) - (1 - tau))
    values = dl.MutualInformation(LinearModel((d,), d, 0.5))(generator(), 2000)
    assert_mean(values / d, expected, 1 / d)
    # gamma_0 = 0.2 counts as signal when only 0.3 is the channel's noise.
    shifted = dl.MutualInformation(LinearModel((d,), d, 0.5), channel_noise=0.3)(generator(), 2000)
    np.testing.assert_allclose(shifted - values, 0.5 * d * math.log(0.5 / 0.3), rtol=1e-11)


def test_information_and_entropy_and_gap_fit_together():
    model = LinearModel((8, 8), 12, 0.3, eta2=0.7)
    information, error = mean_and_error(dl.MutualInformation(model)(generator(1), 4000))
    entropy = -model.n * dl.FreeEntropy(model)(generator(2), 4000) - 0.5 * model.n * math.log(2 * math.pi * math.e * model.noise)
    assert_mean(entropy, information, 5 * error)
    linear, spread = mean_and_error(dl.MutualInformation(model.linear)(generator(3), 40_000))
    assert_mean(dl.InformationGap(model)(generator(4), 4000), information - linear, 5 * math.hypot(error, spread))


# Errors

SMALL_TEACHER = LinearModel((3, 2, 2), n=4, noise=0.5)


def test_error_against_weight_matrices():
    """The error of the posterior mean, by weighting networks from the prior; the bias of the weights is O(1/particles)."""
    rng, sets, particles, errors = generator(5), 1000, 3000, []
    for _ in range(sets):
        theta = networks(rng, SMALL_TEACHER, 1)[0]
        inputs = rng.standard_normal((SMALL_TEACHER.widths[0], SMALL_TEACHER.n)) / math.sqrt(SMALL_TEACHER.widths[0])
        outputs = theta @ inputs + math.sqrt(SMALL_TEACHER.noise) * rng.standard_normal(SMALL_TEACHER.n)
        prior = networks(rng, SMALL_TEACHER, particles)
        logs = -0.5 * ((outputs - prior @ inputs) ** 2).sum(axis=1) / SMALL_TEACHER.noise
        weights = np.exp(logs - logs.max())
        mean = weights @ prior / weights.sum()
        # Integrated over the new input.
        errors.append(SMALL_TEACHER.noise + ((theta - mean) ** 2).sum() / SMALL_TEACHER.widths[0])
    expected, error = mean_and_error(np.array(errors))
    assert_mean(dl.GeneralisationError(SMALL_TEACHER)(generator(), 4000), expected, 5 * error)


def test_error_of_one_sample_in_closed_form():
    # One sample, one input dimension: Y ~ N(0, x^2 + 0.5), by quadrature over x.
    x = np.linspace(-10, 10, 20_001)
    law = np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi) * (x[1] - x[0])
    expected = 0.5 + float(law @ (0.5 / (x**2 + 0.5)))
    assert_mean(dl.GeneralisationError(LinearModel((1,), 1, 0.5))(generator(), 20_000), expected)


@pytest.mark.parametrize(("n", "tau"), [(128, 0.5), (384, (-5 + math.sqrt(33)) / 4)])
def test_error_of_the_linear_model_in_the_limit(n, tau):
    # E^(0) = noise + tau(alpha, 2), tau = [-(1 + 2 (alpha - 1)) + sqrt((1 + 2 (alpha - 1))^2 + 8)]/4, up to O(1/d).
    assert_mean(dl.GeneralisationError(LinearModel((128,), n, 0.5))(generator(), 4000), 0.5 + tau, 1 / 128)


@pytest.mark.parametrize(("depth", "expected"), [(1, -0.0368), (3, -0.221)])
def test_error_gap_times_width(depth, expected):
    values = 128 * dl.GeneralisationGap(LinearModel((128,) * (depth + 1), 128, 0.5))(generator(), 300)
    assert np.all(values <= 0)
    # Known for widths up to 256 to 1%; corrections O(1/d).
    assert_mean(values, expected, 0.03 * abs(expected))


def test_error_gap_is_the_difference():
    model = LinearModel((4, 3, 3), 6, 0.3, eta2=1.3)
    deep, error = mean_and_error(dl.GeneralisationError(model)(generator(1), 20_000))
    linear, spread = mean_and_error(dl.GeneralisationError(model.linear)(generator(2), 200_000))
    gap, rest = mean_and_error(dl.GeneralisationGap(model)(generator(3), 2000))
    assert abs(deep - linear - gap) < 5 * math.hypot(error, math.hypot(spread, rest))
    assert gap < -10 * rest
    assert not dl.GeneralisationGap(model.linear)(generator(), 3).any()


# What the samplers promise


def test_second_order_integrand():
    x = np.array([-2.0, -1e-3, -1.01e-4, -0.99e-4, -1e-6, 0.0, 1e-9, 0.99e-4, 1.01e-4, 0.5])
    with mpmath.workdps(40):
        expected = [float(mpmath.mpf(v) + mpmath.expm1(-mpmath.mpf(v))) for v in x]
    np.testing.assert_allclose(second_order(x), expected, rtol=1e-11)


def test_it_beats_the_plain_logarithm():
    model = LinearModel((64, 64), 64, 0.5)
    batch = next(batches(model, generator(), 40, 64, 50))
    ratio = posterior(model, model.grid(), batch).log_ratio
    assert second_order(ratio).std() < 0.3 * ratio.std()
    assert abs(second_order(ratio).mean() - ratio.mean()) < 5 * ratio.std() / math.sqrt(40)


SAMPLERS = [
    dl.InformationGap(SMALL),
    dl.PathDivergence(LinearModel((3, 2), 2, 0.5, tau=0.5)),
    dl.FreeEntropy(SMALL),
    dl.FreeEntropyVariance(SMALL),
    dl.MutualInformation(SMALL.linear, channel_noise=0.4),
    dl.GeneralisationError(SMALL),
    dl.GeneralisationError(SMALL.linear),
    dl.GeneralisationGap(LinearModel((3, 2), 2, 0.5, tau=0.5)),
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


def test_n_of_the_order_of_d_squared_needs_no_large_array():
    model = LinearModel((512, 512), 512**2, 0.5)
    assert dl.FreeEntropy(model)(generator(), 1).shape == (1,)
    assert dl.FreeEntropyVariance(model)(generator(), 1)[0] < 1e-4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"widths": ()}, "widths must be"),
        ({"widths": (3, 0)}, "widths must be"),
        ({"n": 0}, "n must be an integer >= 1"),
        ({"n": 2.5}, "n must be an integer >= 1"),
        ({"noise": 0.0}, "noise must be a positive number"),
        ({"noise": math.nan}, "noise must be a positive number"),
        ({"eta2": -1.0}, "eta2 must be a positive number"),
        ({"tau": 1.5}, "tau must lie between 0"),
    ],
)
def test_wrong_numbers_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        LinearModel(**({"widths": (3, 3), "n": 2, "noise": 0.5} | arguments))


def test_channel_noise_is_part_of_the_noise():
    with pytest.raises(ValueError, match="channel_noise"):
        dl.MutualInformation(SMALL, channel_noise=0.6)
