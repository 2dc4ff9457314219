"""Spectra of conjugate kernels: samplers against dense weights, the exact route, the gap to the deterministic equivalent."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
import scipy.integrate
import scipy.stats

from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.gaussian.kernels import layer_kernel
from theoryck.quantities.base import QuantityError
from theoryck.theory.networks.model import DeepNetwork
from theoryck.theory.spectra.draws import input_factor, trace_of_inverse, tridiagonal_eigenvalue, tridiagonal_trace
from theoryck.theory.spectra.limits.marchenko_pastur import marchenko_pastur, mean_resolvent
from theoryck.theory.spectra.model import resolvent_equivalent, surrogate_covariance
from theoryck.theory.spectra.quantities import eigenvalue, equivalent_gap, resolvent_trace, resolvent_variance, spectral_distance

PHI = Activation("tanh(2*x)")
DRAWS = 20_000
SHAPES = [((4,), 6), ((6,), 4), ((4, 5), 6), ((6, 5), 4), ((5, 9, 4), 6), ((3, 4, 7), 5)]


def dense(widths: tuple[int, ...], n: int, rng: np.random.Generator) -> np.ndarray:
    """K_L with every weight drawn."""
    x = rng.standard_normal((DRAWS, widths[0], n)) / widths[0] ** 0.5
    for width in widths[1:]:
        x = np.tanh(2 * rng.standard_normal((DRAWS, width, x.shape[1])) @ x) / width**0.5
    return np.swapaxes(x, 1, 2) @ x


def deviation(one: np.ndarray, two: np.ndarray) -> float:
    """Difference of two means in standard errors of it."""
    return abs(one.mean() - two.mean()) / math.hypot(one.std() / len(one) ** 0.5, two.std() / len(two) ** 0.5)


@pytest.mark.parametrize(("widths", "n"), SHAPES)
def test_traces_variances_and_eigenvalues_have_the_law_of_dense_networks(widths: tuple[int, ...], n: int) -> None:
    rng = np.random.default_rng(len(widths) * 100 + n)
    network, gram = DeepNetwork(PHI, depth=len(widths) - 1, widths=widths), dense(widths, n, rng)
    values = np.linalg.eigvalsh(gram)
    traces = np.mean(1 / (values + 0.3), axis=1)
    # Four comparisons on each of six shapes: 4.5 standard errors are passed by chance once in 6000 runs.
    assert deviation(resolvent_trace(network, n, shift=0.3).draw(rng, DRAWS, {}), traces) < 4.5
    pairs = (traces[: DRAWS // 2] - traces[DRAWS // 2 :]) ** 2 / 2
    assert deviation(resolvent_variance(network, n, shift=0.3).draw(rng, DRAWS, {}), pairs) < 4.5
    nonzero = values[:, -min(n, widths[-1]) :]
    picked = nonzero[np.arange(DRAWS), rng.integers(nonzero.shape[1], size=DRAWS)]
    drawn = eigenvalue(network, n).draw(rng, DRAWS, {})
    assert deviation(drawn, picked) < 4.5
    assert deviation(drawn**2, picked**2) < 4.5


@pytest.mark.parametrize(("d", "ratio"), [(1, 1), (3, 2), (8, 1)])
def test_the_exact_trace_is_that_of_wishart_matrices(d: int, ratio: int) -> None:
    trace = resolvent_trace(DeepNetwork("x", depth=0, widths=("d",)), f"{ratio}*d", shift="1/4")
    exact = trace.exact({"d": d}, 15)
    assert exact is not None
    assert exact.rigorous
    drawn = trace.draw(np.random.default_rng(d), DRAWS, {"d": d})
    assert abs(drawn.mean() - float(exact)) < 4.5 * drawn.std() / DRAWS**0.5


def test_the_exact_bias_has_its_closed_limit_to_ten_digits_of_precision() -> None:
    network = DeepNetwork("x", depth=0, widths=("d",))
    bias = resolvent_trace(network, "d", shift=1, against=mean_resolvent(1, 1, digits=30))
    first, second = (n * float(bias.exact({"d": n}, 20)) for n in (64, 128))
    # Richardson: the next term is of relative order 1/n, the one after it 1/n^2.
    assert 2 * second - first == pytest.approx(marchenko_pastur(1).resolvent_bias(1), rel=1e-3)
    assert resolvent_trace(DeepNetwork("tanh", depth=1, widths=("d", "d")), "d", shift=1).exact({"d": 4}) is None


@pytest.mark.parametrize("ratio", [1, 2])
def test_the_distance_of_the_mean_spectrum(ratio: int) -> None:
    law, distance = marchenko_pastur(ratio).nonzero(), spectral_distance(ratio)
    low, high = law.support

    def gap(cdf: Callable[[float], float]) -> float:
        """x = a + (b - a) t^2."""

        def weighted(t: float) -> float:
            x = low + (high - low) * t * t
            return float((cdf(x) - law.cdf(x)) ** 2 * law.pdf(x) * 2 * t * (high - low))

        return float(scipy.integrate.quad(weighted, 0, 1, limit=200)[0])

    # At d = 1 the eigenvalue is chi-square with n degrees of freedom.
    assert float(distance.exact({"d": 1})) == pytest.approx(gap(scipy.stats.chi2(ratio).cdf), rel=1e-8)
    # At d = 5 drawn eigenvalues: the distribution function has a standard error below 1/(2 sqrt(200,000)) everywhere.
    drawn = np.sort(
        eigenvalue(DeepNetwork("x", depth=0, widths=("d",)), f"{ratio}*d").draw(np.random.default_rng(0), 200_000, {"d": 5})
    )
    probabilities = (np.arange(2000) + 0.5) / 2000
    empirical = np.searchsorted(drawn, law.ppf(probabilities), side="right") / len(drawn)
    value = float(distance.exact({"d": 5}))
    assert np.mean((empirical - probabilities) ** 2) == pytest.approx(value, abs=4.5 * value**0.5 / 200_000**0.5)
    # The limit of d^2 times it: Bai and Silverstein's mean 1/4 - phi/(2 pi), here by quadrature.
    phi = (np.arange(4000) + 0.5) * math.pi / 4000
    density = 2 / math.pi * np.sin(phi) ** 2 / (1 + 1 / ratio - 2 * np.cos(phi) / ratio**0.5)
    limit = float(np.mean(density * (0.25 - phi / (2 * math.pi)) ** 2) * math.pi)
    assert 0.95 * limit < 129**2 * float(distance.exact({"d": 129})) < limit
    with pytest.raises(QuantityError, match="d must be odd, got 4"):
        distance.exact({"d": 4})
    with pytest.raises(QuantityError, match="ratio must be an integer >= 1, got 0"):
        spectral_distance(0)


def test_bartletts_factor_and_the_tridiagonal_form() -> None:
    rng = np.random.default_rng(3)
    factor = input_factor(rng, DRAWS, 7, 3)
    gram = np.swapaxes(factor, 1, 2) @ factor
    # E G = 1; E G_12^2 = 1/d; Var G_11 = 2/d.
    for found, value in ((gram[:, 2, 2], 1.0), (gram[:, 0, 2] ** 2, 1 / 7), ((gram[:, 1, 1] - 1) ** 2, 2 / 7)):
        assert abs(found.mean() - value) < 4.5 * found.std() / DRAWS**0.5
    diagonal, beside = rng.random((6, 5)) + 2, rng.random((5, 5))
    for draw in range(5):
        matrix = np.diag(diagonal[:, draw]) + np.diag(beside[:, draw], 1) + np.diag(beside[:, draw], -1)
        values = np.linalg.eigvalsh(matrix)
        assert tridiagonal_trace(diagonal, beside**2, 0.5)[draw] == pytest.approx(np.sum(1 / (values + 0.5)), rel=1e-13)
        for index in range(6):
            found = tridiagonal_eigenvalue(diagonal, beside**2, np.full(5, index))[draw]
            assert found == pytest.approx(values[index], abs=1e-12)
    assert trace_of_inverse(np.diag([1.0, 3.0])[None], 1.0)[0] == pytest.approx(0.75)


# The equivalent --------------------------------------------------------------------------------------------------------------


def test_the_equivalent_solves_its_equation_and_tends_to_the_mean_for_gaussian_features() -> None:
    rng = np.random.default_rng(1)
    x = rng.standard_normal((12, 9))
    covariance = np.stack([x.T @ x / 12, np.diag(np.arange(9.0))])
    found = resolvent_equivalent(covariance, 15, 0.2)
    for phi, delta, trace in zip(covariance, found.delta, found.trace, strict=True):
        equivalent = np.linalg.inv(phi / (1 + delta) + 0.2 * np.eye(9))
        assert np.trace(phi @ equivalent) / 15 == pytest.approx(delta, rel=1e-12)
        assert np.trace(equivalent) / 9 == pytest.approx(trace, rel=1e-12)
    # Phi = 1: the Marchenko-Pastur law of ratio n/d.
    assert resolvent_equivalent(np.eye(30), 40, 0.5).trace == pytest.approx(mean_resolvent(0.75, 0.5), rel=1e-13)


@pytest.mark.parametrize(("n", "width"), [(3, 3), (3, 4), (4, 3), (3, 300), (300, 3)])
def test_the_equivalent_of_the_identity_is_marchenko_pastur_at_every_scale(n: int, width: int) -> None:
    for shift in (1e30, 1e-3, 1e-20, 1e-30):
        exact = mean_resolvent(Fraction(n, width), shift)
        assert resolvent_equivalent(np.eye(n), width, shift).trace == pytest.approx(exact, rel=1e-13)
    assert resolvent_equivalent(np.eye(n) * 1e30, width, 1e30).delta == pytest.approx(
        resolvent_equivalent(np.eye(n), width, 1).delta, rel=1e-13
    )


@pytest.mark.parametrize("surrogate", [None, (0.6514700158705599, 0.0401458728191524)])
def test_the_gap_is_the_plain_difference_of_the_traces_in_the_mean(surrogate: tuple[float, float] | None) -> None:
    rng, n, draws, shift = np.random.default_rng(2), 6, 40_000, 0.5
    x = rng.standard_normal((draws, 5, n)) / 5**0.5
    features = Activation("erf(x)")(rng.standard_normal((draws, 8, 5)) @ x) / 8**0.5
    trace = trace_of_inverse(np.swapaxes(features, 1, 2) @ features, shift) / n
    below = np.swapaxes(x, 1, 2) @ x
    if surrogate is None:
        plain = trace - resolvent_equivalent(layer_kernel("erf(x)")(below), 8, shift).trace
    else:
        plain = trace - resolvent_equivalent(surrogate_covariance(below, *surrogate), 8, shift).trace
    gap = equivalent_gap(DeepNetwork("erf(x)", depth=1, widths=(5, 8)), n, shift=shift, surrogate=surrogate)
    drawn = gap.draw(rng, 10_000, {})
    assert deviation(drawn, plain) < 4.5
    assert drawn.std() < 0.8 * plain.std()


def test_what_is_taken_off_the_gap_leaves_a_small_part_of_its_variance() -> None:
    rng = np.random.default_rng(4)
    drawn = 16 * equivalent_gap(DeepNetwork("erf(x)", depth=1, widths=("n", "n")), shift=1).draw(rng, 2000, {"n": 16})
    # n times the gap: -.0158 +- .0003 and standard deviation .137 without, from 20,000 draws of another program.
    assert drawn.std() < 0.137 / 3
    assert drawn.mean() == pytest.approx(-0.0158, abs=5 * drawn.std() / 2000**0.5)


def test_samplers_travel_and_costs_grow() -> None:
    network = DeepNetwork("erf(x)", depth=1, widths=("n", "2*n"))
    for made in (resolvent_trace(network, shift=1), eigenvalue(network), equivalent_gap(network, shift=1)):
        sampler = made.sampler({"n": 5})
        again = pickle.loads(pickle.dumps(sampler))
        one, two = (s(np.random.default_rng(0), 7) for s in (sampler, again))
        assert np.array_equal(one, two)
        assert made.cost({"n": 32}) > 4 * made.cost({"n": 8})
    assert (
        resolvent_trace(network, shift=0.1, against=2).name == "resolvent_trace(erf(x), depth=1, samples=n, shift=1/10, against=2)"
    )


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda n: resolvent_trace("tanh", shift=1), "network must be a theoryck.DeepNetwork, got 'tanh'"),
        (lambda n: resolvent_trace(n, shift=0), "shift must be a number > 0, got 0"),
        (lambda n: resolvent_trace(n, 0, shift=1), "samples must be an integer >= 1"),
        (lambda n: resolvent_trace(n, shift=1, against="a"), "against must be a number"),
        (lambda n: equivalent_gap(DeepNetwork("x", depth=0), shift=1), "network must have a layer of random weights"),
        (lambda n: equivalent_gap(n, shift=1, surrogate=(1,)), r"surrogate must be the pair \(rho, epsilon\)"),
        (lambda n: equivalent_gap(n, shift=1, surrogate=(1, -1)), "surrogate needs a finite rho and epsilon >= 0"),
    ],
)
def test_bad_arguments_are_named(build: object, words: str) -> None:
    with pytest.raises(QuantityError, match=words):
        build(DeepNetwork("tanh", depth=1, widths=("n", "n")))  # type: ignore[operator]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((np.ones(3), 3, 1), r"covariance must have shape \(..., n, n\), got \(3,\)"),
        ((np.array([[1.0, 2], [0, 1]]), 3, 1), "covariance must be symmetric"),
        ((-np.eye(2), 3, 1), "covariance must be non-negative, got the eigenvalue -1"),
        ((np.eye(2) * math.nan, 3, 1), "covariance must hold finite numbers"),
        ((np.eye(2) * 1j, 3, 1), "covariance must hold real numbers"),
        ((np.eye(2), 0, 1), "width must be an integer >= 1, got 0"),
        ((np.eye(2), 3, -1), "shift must be a number > 0"),
        ((np.zeros((0, 0)), 3, 1), r"covariance must have n >= 1 rows, got the shape \(0, 0\)"),
        ((np.eye(2), 3, 1e-300), "shift must lie between 1e-30 and 1e.30, got 1e-300"),
        ((np.ones((3, 3)) + np.eye(3) * 1e-17, 3, 1e-14), "shift must be above the rounding of the smallest eigenvalues"),
    ],
)
def test_bad_covariances_are_named(arguments: tuple[object, ...], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        resolvent_equivalent(*arguments)  # type: ignore[arg-type]


def test_an_activation_with_a_mean_has_no_equivalent_here() -> None:
    gap = equivalent_gap(DeepNetwork("relu", depth=1, widths=("n", "n")), shift=1)
    with pytest.raises(QuantityError, match="activation must have mean 0 at the variance 1"):
        gap.draw(np.random.default_rng(0), 2, {"n": 4})


def test_a_surrogate_needs_a_matrix() -> None:
    with pytest.raises(ValueError, match=r"gram must have shape \(..., n, n\), got \(\)"):
        surrogate_covariance(1.0, 0.5, 1)
    with pytest.raises(ValueError, match=r"rho must lie between 1e-30 and 1e.30 in size, got 1e.200"):
        surrogate_covariance(np.eye(2), 1e200, 1)
