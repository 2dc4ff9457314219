"""Cumulants of projections: two exact routes against each other, against generators with exact cumulants, and against draws."""

from __future__ import annotations

import itertools
import math
import pickle
from collections.abc import Callable

import numpy as np
import pytest

from theoryck.numerics.functions.activation import Activation
from theoryck.quantities import QuantityError
from theoryck.theory.projections import draws as draws_of
from theoryck.theory.projections import proved
from theoryck.theory.projections.model import coordinate
from theoryck.theory.projections.quantities import (
    Projection,
    joint_kurtosis,
    joint_skewness,
    projection_kurtosis,
    projection_skewness,
    projection_squared_skewness,
    squared_joint_skewness,
)

SIZES = {"N": 12, "D": 10}


def value(quantity: Projection, n: int = 12, dimension: int = 10) -> float:
    return float(quantity.exact({"N": n, "D": dimension}))


# He_2 makes lambda = c^T M c, M = A^T diag(w) A/sqrt(2 N), less its mean: kappa_r = 2^(r-1) (r-1)! tr M^r given the generator.


def quadratic_forms(rng: np.random.Generator, signs: bool, count: int = 20_000, n: int = 12, dimension: int = 10) -> np.ndarray:
    rows = draws_of.unit_rows(rng, (count, n, dimension))
    weights = rng.choice([-1.0, 1.0], (count, n)) if signs else np.ones((count, n))
    return np.einsum("kid,ki,kie->kde", rows, weights, rows) / math.sqrt(2 * n)


def trace(matrices: np.ndarray, power: int) -> np.ndarray:
    return np.einsum("kdd->k", np.linalg.matrix_power(matrices, power))


def agrees(samples: np.ndarray, expected: float) -> None:
    stderr = samples.std() / math.sqrt(len(samples))
    assert abs(samples.mean() - expected) < 4.5 * stderr
    assert stderr < abs(expected) / 10  # else it would agree with anything


def test_he2_with_random_signs() -> None:
    matrices = quadratic_forms(np.random.default_rng(1), signs=True)
    agrees(48 * trace(matrices, 4), value(projection_kurtosis("he2")))
    agrees((8 * trace(matrices, 3)) ** 2, value(projection_squared_skewness("he2")))
    agrees(8 * (matrices @ matrices)[:, 0, 0], value(joint_kurtosis("he2")))


def test_he2_with_aligned_weights() -> None:
    matrices = quadratic_forms(np.random.default_rng(2), signs=False)
    n, dimension = 12, 10
    second = 1 + (n - 1) / dimension
    third = 1 + 3 * (n - 1) / dimension + (n - 1) * (n - 2) / dimension**2
    assert value(projection_skewness("he2")) == pytest.approx(math.sqrt(8 / n) * third / second**1.5, rel=1e-12)
    agrees(48 * trace(matrices, 4) / second**2, value(projection_kurtosis("he2", "aligned")))
    agrees(8 * (matrices @ matrices)[:, 0, 0] / second, value(joint_kurtosis("he2", "aligned")))


def test_known_numbers() -> None:
    """Single units of tanh and erf; sqrt(N) skewness of He_2 is 5 (1 - .45/N), of relu near 2.7, for aligned weights."""
    assert value(projection_kurtosis("tanh", "localised")) == pytest.approx(-1.3727, abs=5e-5)
    assert value(projection_kurtosis("erf", "localised")) == pytest.approx(-1.4402, abs=5e-5)
    assert math.sqrt(64) * value(projection_skewness("he2"), 64, 64) == pytest.approx(5 * (1 - 0.45 / 64), abs=1e-3)
    assert 2.6 < 8 * value(projection_skewness("relu"), 64, 64) < 2.8


@pytest.mark.parametrize("sigma", ["relu", "cos", "softplus", "max(-1/2, min(2, x))"])
def test_radial_and_series_routes_agree(sigma: str) -> None:
    """Second and third cumulants of aligned weights, and the joint kurtosis of signs, from |c| and from Hermite coefficients."""
    n = dimension = 64
    phi, table = Activation(sigma), proved.radial(Activation(sigma), dimension)
    one = coordinate(phi)
    assert proved.second(table, n) == pytest.approx(
        one.variance + (n - 1) * proved.covariance_mean(one, dimension).value, rel=1e-10
    )
    pairs = proved.pair_mean(one.linear * one.square, 0.0, dimension).value
    moments = proved.triangle_moments(dimension, proved.TRIPLE_ORDERS)
    triples = [
        float((proved.triple_tensor(coordinate(phi, 2), k) * moments[:k, :k, :k]).sum())
        for k in (proved.TRIPLE_ORDERS, proved.TRIPLE_ORDERS - 2)
    ]
    expected = (one.third + 3 * (n - 1) * pairs + (n - 1) * (n - 2) * triples[0]) / math.sqrt(n)
    error = math.sqrt(n) * n * (abs(triples[0] - triples[1]) + 1e-12)
    assert abs(proved.third(table, n) - expected) < error
    assert error < abs(expected) / 1000
    without_radius = float(table.weights @ (table.powers[2] * table.excess)) - 2 * float(one.linear[1]) ** 2 / dimension
    assert proved.joint_kurtosis(phi, dimension).value == pytest.approx(without_radius / one.variance, rel=1e-9)


def test_odd_sigma_does_not_see_the_signs() -> None:
    for quantity in (projection_kurtosis, joint_kurtosis):
        assert value(quantity("erf", "aligned")) == value(quantity("erf", "signs"))
        assert value(quantity("relu", "aligned")) != value(quantity("relu", "signs"))
    assert abs(value(projection_skewness("erf"))) < 1e-14
    assert value(joint_kurtosis("x")) == pytest.approx(0, abs=1e-14)


def test_odd_kurtosis_by_the_radial_route() -> None:
    """E lambda^4 from |c|, and (E lambda^2)^2 from the arcsine kernel integrated over the density of a_i . a_j."""
    n, dimension = 40, 30
    m, weights = np.polynomial.legendre.leggauss(400)
    weights = weights * (1 - m * m) ** ((dimension - 3) / 2)
    weights /= weights.sum()
    kernel = 2 / math.pi * np.arcsin(2 * m / 3)
    variance = 2 / math.pi * math.asin(2 / 3)
    squared = variance**2 + 2 * (n - 1) / n * float(weights @ kernel**2)
    fourth = proved.fourth_moment(proved.radial(Activation("erf"), dimension), n)
    # With signs: only pairs are left of E lambda^4, which for odd sigma is what the aligned weights have.
    assert (fourth - 3 * squared) / variance**2 == pytest.approx(value(projection_kurtosis("erf"), n, dimension), rel=1e-9)


def test_moments_of_overlaps() -> None:
    rng = np.random.default_rng(3)
    rows = draws_of.unit_rows(rng, (200_000, 3, 5))
    m12, m13, m23 = (np.einsum("kd,kd->k", rows[:, i], rows[:, j]) for i, j in ((0, 1), (0, 2), (1, 2)))
    table = proved.triangle_moments(5, 5)
    for p, q, s in ((2, 0, 0), (1, 1, 1), (2, 2, 2), (3, 1, 1), (4, 2, 0), (1, 3, 3)):
        agrees(m12**p * m13**q * m23**s, float(table[p, q, s]))
    assert table[1, 1, 0] == table[2, 1, 0] == table[1, 0, 0] == 0


CASES: list[Callable[[], Projection]] = [
    lambda: projection_kurtosis("erf", "signs"),
    lambda: projection_kurtosis("relu", "aligned"),
    lambda: projection_kurtosis("tanh", "localised"),
    lambda: projection_skewness("relu", "aligned"),
    lambda: projection_squared_skewness("relu"),
    lambda: joint_kurtosis("erf", "aligned"),
    lambda: joint_kurtosis("he2", "aligned"),
    lambda: joint_skewness("relu", "aligned"),
    lambda: joint_skewness("relu", "localised"),
    lambda: squared_joint_skewness("relu"),
]


@pytest.mark.parametrize("make", CASES)
def test_draws_agree_with_exact_values(make: Callable[[], Projection]) -> None:
    quantity = make()
    samples = quantity.draw(np.random.default_rng(5), 1500, SIZES)
    exact = float(quantity.exact(SIZES))
    stderr = samples.std() / math.sqrt(len(samples))
    assert abs(samples.mean() - exact) < 4.5 * stderr
    # A check that could fail: the value of four times as many coordinates is told from it, where it is another.
    other = float(quantity.exact({"N": 48, "D": 40}))
    if abs(other - exact) > 1e-9:
        assert abs(samples.mean() - other) > 4.5 * stderr


def test_estimators_are_unbiased_for_one_law() -> None:
    """An exponential law: cumulants 1, 2, 6; pairs with a Gaussian: none."""
    rng = np.random.default_rng(6)
    values, latent = rng.exponential(size=(40_000, 16)) - 1, rng.standard_normal((40_000, 16))
    agrees(draws_of.third_cumulant(values, latent), 2.0)
    agrees(draws_of.fourth_cumulant(values, latent), 6.0)
    agrees(draws_of.squared_third_cumulant(values, latent), 4.0)
    both = latent**2 - 1 + latent  # E x^2 nu = 2 E nu^2 (nu^2 - 1) = 4; kappa(x, x, nu, nu) = 8 from its quadratic part
    agrees(draws_of.latent_skewness(both, latent), 4.0)
    agrees(draws_of.squared_latent_skewness(both, latent), 16.0)
    agrees(draws_of.latent_kurtosis(both, latent), 8.0)


def test_samplers_travel_and_repeat() -> None:
    sampler = pickle.loads(pickle.dumps(projection_kurtosis("erf").sampler(SIZES)))
    first = sampler(np.random.default_rng(7), 20)
    np.testing.assert_array_equal(first, projection_kurtosis("erf").draw(np.random.default_rng(7), 20, SIZES))
    assert sampler.cost > 0


def test_errors_say_what_to_do() -> None:
    with pytest.raises(QuantityError, match="take projection_squared_skewness"):
        projection_skewness("relu", "signs")
    with pytest.raises(QuantityError, match="weights must be one of 'aligned', 'signs', 'localised', got 'random'"):
        projection_kurtosis("relu", "random")
    with pytest.raises(QuantityError, match="activation must not be odd"):
        projection_squared_skewness("tanh")
    with pytest.raises(QuantityError, match="activation: activation must depend on x"):
        projection_kurtosis("1/2")
    with pytest.raises(QuantityError, match=r"'D' of .* must be at least 8, got 4"):
        projection_kurtosis("erf").exact({"N": 8, "D": 4})
    with pytest.raises(QuantityError, match="needs the size 'D'"):
        projection_kurtosis("erf").exact({"N": 8})
    with pytest.raises(QuantityError, match="exact_only=True: leave it out to draw"):
        projection_kurtosis("erf", exact_only=True).sampler(SIZES)


def test_radii_of_growing_activations() -> None:
    """E_r of moments given |c| are moments of one coordinate: at D = 8 those of exp(x^2/9)^4 come from |c| up to 30."""
    for text in ("exp(x**2/9)", "exp(x)", "relu"):
        one = coordinate(Activation(text))
        for dimension in (8, 100, 10**5):
            table = proved.radial(Activation(text), dimension)
            assert float(table.weights @ table.powers[4]) == pytest.approx(one.fourth + 3 * one.variance**2, rel=1e-10)
            assert float(table.weights @ table.powers[3]) == pytest.approx(one.third, rel=1e-10)


def test_aligned_kurtosis_of_a_growing_activation() -> None:
    """exp(g^2/9), D = 8: E prod_i exp(g_i^2/9) = det(1 - (2/9) G)^(-1/2), G the Gram matrix of a generator, N = 4 of them."""
    rows = draws_of.unit_rows(np.random.default_rng(8), (100_000, 4, 8))
    n, grams = 4, rows @ np.swapaxes(rows, 1, 2)
    moments: dict[object, np.ndarray] = {}
    # E (sum_i sigma(g_i) - mean)^k, k <= 4, from all products of at most four coordinates, each of them centred.
    mean = (1 - 2 / 9) ** -0.5
    fourth, second = np.zeros(len(rows)), np.zeros(len(rows))
    for picked in itertools.product(range(n), repeat=4):
        fourth = fourth + _centred_product(grams, picked, mean, moments) / n**2
    for picked in itertools.product(range(n), repeat=2):
        second = second + _centred_product(grams, picked, mean, moments) / n
    scale = float(np.mean(second))
    agrees((fourth - 3 * second**2) / scale**2, value(projection_kurtosis("exp(x**2/9)", "aligned"), n, 8))


def _centred_product(grams: np.ndarray, picked: tuple[int, ...], mean: float, known: dict[object, np.ndarray]) -> np.ndarray:
    """E prod_i (exp(g_i^2/9) - mean) given the generator, by inclusion and exclusion."""
    total = np.zeros(len(grams))
    for kept in itertools.product((0, 1), repeat=len(picked)):
        powers = np.bincount([i for i, k in zip(picked, kept) if k], minlength=grams.shape[1])
        key = tuple(powers)
        if key not in known:
            root = np.sqrt(powers)
            known[key] = np.linalg.det(np.eye(len(powers)) - 2 / 9 * root[:, None] * grams * root) ** -0.5
        total += (-mean) ** (len(picked) - sum(kept)) * known[key]
    return total


def test_rounding_is_counted() -> None:
    """Means that are zero by a symmetry are zero; what cancels is known as far as the radius says."""
    for text in ("tanh(100*x)", "erf"):
        assert value(projection_skewness(text), 8, 10**5) == value(joint_skewness(text), 8, 10**5) == 0
    assert value(joint_skewness("exp(x**2/9)"), 8, 10**5) == 0
    for text in ("tanh(100*(x - 1))", "relu"):
        known = projection_kurtosis(text, "aligned").exact({"N": 10**5, "D": 10**5})
        assert float(known.radius) < 1e-4 * abs(float(known.midpoint))
    assert float(projection_kurtosis("relu", "aligned").exact({"N": 10**5, "D": 8}).radius) < 1e-5


def test_draws_without_a_variance_are_refused() -> None:
    with pytest.raises(QuantityError, match=r"E sigma\(Z\)\^8 is infinite.*exact_only=True"):
        projection_kurtosis("exp(x**2/9)").sampler(SIZES)
    with pytest.raises(QuantityError, match=r"E sigma\(Z\)\^4, .* is infinite"):
        projection_kurtosis("exp(x**2/7)", exact_only=True).exact(SIZES)
    assert value(joint_kurtosis("exp(x**2/7)")) > 0  # needs E sigma^2 Z^2 only
    # Heavier tails of one coordinate need more draws; bounded ones the least.
    assert projection_kurtosis("tanh").draws_to_compare(SIZES) < 65
    assert projection_kurtosis("exp(x)").draws_to_compare(SIZES) > 1e12
    assert projection_skewness("exp(x**2/20)").draws_to_compare(SIZES) == math.inf
