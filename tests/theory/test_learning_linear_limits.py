"""Limits for the linear readout, against eigenvalues of random matrices, simulated deep linear networks and published numbers."""

import math
from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from theoryck.numerics.errors import NotConverged
from theoryck.numerics.proved.formulas import evaluate
from theoryck.records import Enclosure
from theoryck.records.arguments import exact_number
from theoryck.theory.learning.limits.linear import (
    deep_linear_error_limit,
    deep_linear_gap_limit,
    free_entropy_variance_limit,
    learned_share,
    linear_error,
    linear_information,
    ridge_error,
    scalar_mode_divergence,
)
from theoryck.theory.spectra.limits.marchenko_pastur import mean_resolvent, overlap_deficit

# Traces of one random matrix fluctuate by O(1/d) around their mean, and the mean is O(1/d) from the limit: relative to the values
# below, 6/d covers both with a constant seen in no case above 2.
D, SLACK = 600, 6 / 600


@pytest.mark.parametrize(("alpha", "eta", "gamma", "noise"), [(0.5, 1.0, 0.0, 0.5), (1, 0.65, 0.04, 0.5), (3, 0.5, 0.1, 0.05)])
def test_against_eigenvalues(alpha, eta, gamma, noise):
    rng = np.random.default_rng(1)
    n, c = int(alpha * D), gamma + noise
    x = rng.standard_normal((n, D)) / math.sqrt(D)
    lam = np.linalg.eigvalsh(x.T @ x)
    gram = np.linalg.eigvalsh(eta**2 * x @ x.T) + gamma
    near = lambda value, reference: abs(value - reference) < SLACK * (abs(reference) + 0.1)  # noqa: E731
    tau = overlap_deficit(alpha, eta**2 / c)
    assert near(tau, np.mean(1 / (1 + eta**2 / c * lam)))
    assert near(mean_resolvent(alpha, c, eta**2), np.mean(1 / (gram + noise)))
    assert near(learned_share(alpha, noise, eta, gamma, power=1), np.mean(gram / (gram + noise)))
    assert near(learned_share(alpha, noise, eta, gamma), np.mean((gram / (gram + noise)) ** 2))
    assert near(linear_information(alpha, noise, eta, gamma), np.mean(np.log1p(gram / noise)) / 2)
    assert near(linear_error(alpha, noise, eta, gamma), c + eta**2 * tau)
    ridge = eta**2 * 0.01 * np.mean(1 / (lam + 0.1) ** 2) + c * np.mean(lam / (lam + 0.1) ** 2) + c
    assert near(ridge_error(alpha, 0.1, noise, eta, gamma), ridge)
    assert ridge_error(alpha, 0.1, noise, eta, gamma) > linear_error(alpha, noise, eta, gamma)
    # The same check refutes near misses: rho for rho^2, eps dropped, the trace over d instead of n.
    assert not near(mean_resolvent(alpha, c, eta), np.mean(1 / (gram + noise))) or eta == 1
    assert alpha == 1 or not near(overlap_deficit(1 / alpha, eta**2 / c), np.mean(1 / (1 + eta**2 / c * lam)))


def test_published_numbers():
    """Notes of the derivation: KL .0229 and .1534, d (E^(L) - E^(0)) -.0371 and -.2219 at d = 256, KL_t on the path."""
    assert round(deep_linear_gap_limit(1, 0.5), 4) == -0.0228
    assert deep_linear_gap_limit(10**6, 0.5) == pytest.approx(-(1 - math.log(2)) / 2, abs=1e-5)  # 1/n
    assert round(deep_linear_gap_limit(10**9, 0.5, (1, 1, 1, 1)), 4) == -0.8069
    assert deep_linear_error_limit(1, 0.5) == pytest.approx(-1 / 27, rel=1e-15)
    assert deep_linear_error_limit(1, 0.5, (2, 2, 2, 2)) == pytest.approx(-2 / 9, rel=1e-15)
    path = [scalar_mode_divergence("1/3", t) for t in (0, 0.25, 0.5, 0.75, 1)]
    assert [round(value, 4) for value in path] == [0.0228, 0.0078, 0.0016, 0.0001, 0]


def deep_linear_draws(rng, alpha, noise, d, ratios, draws):
    """Y of a deep linear network and (log p(Y|X), log N(Y; 0, K + Delta)), by a sum over 4000 drawn scales."""
    n = int(alpha * d)
    scales = np.ones(4000)
    for ratio in ratios[1:]:
        width = int(d * ratio / ratios[0])
        scales = scales * rng.chisquare(width, 4000) / width
    out = np.empty((draws, 2))
    for i in range(draws):
        lam = np.linalg.svd(rng.standard_normal((n, d)) / math.sqrt(d), compute_uv=False) ** 2
        variances = scales[:, None] * lam + noise
        square = rng.standard_normal(len(lam)) ** 2 * variances[rng.integers(4000)]
        logs = -(square / variances + np.log(2 * np.pi * variances)).sum(axis=1) / 2
        base = lam + noise
        # Directions of the labels that no eigenvector of X reaches hold noise only, in both laws.
        rest = -rng.chisquare(max(n - d, 0)) / 2 if n > d else 0.0
        out[i] = np.logaddexp.reduce(logs) - math.log(4000) + rest, rest - (square / base + np.log(2 * np.pi * base)).sum() / 2
    return out


@pytest.mark.parametrize(("alpha", "ratios"), [(1, (1, 1)), (1, (1, 1, 2, 1)), (3, (2, 1))])
def test_simulated_deep_linear_networks(alpha, ratios):
    """I^(L) - I^(0) = -E log(p/N); as E N/p = 1, log(p/N) + N/p - 1 has the same mean and little variance.  600 data sets."""
    noise, d, draws = 0.5, 64, 600
    logs = deep_linear_draws(np.random.default_rng(2), alpha, noise, d, ratios, draws)
    ratio = logs[:, 0] - logs[:, 1]
    values = ratio + np.exp(-ratio) - 1
    limit, error = -deep_linear_gap_limit(alpha, noise, ratios), 4 * values.std() / math.sqrt(draws)
    # The next order is O(1/d) relative with widths as small as d/2: 6/d of the value.
    assert abs(values.mean() - limit) < error + 6 / d * limit
    assert abs(values.mean() - 2 * limit) > error + 6 / d * limit
    # The variance of log p: relative standard error sqrt(2/draws), and O(1/d) from the limit.
    n = alpha * d
    variance = free_entropy_variance_limit(alpha, noise, ratios)
    assert abs(logs[:, 0].var() / n - variance) < (4 * math.sqrt(2 / draws) + 6 / d) * variance
    assert variance > 0.5


def test_enclosures_contain_values_of_another_program():
    """log 2 - 1/4 and 1 at alpha = 1, lam = 2 (tau = 1/2); -1/27; and mpmath at 60 digits."""
    with mpmath.workdps(60):
        x = mpmath.mpf(1) / 3
        cases = [
            (linear_information(1, "1/2", digits=45), mpmath.log(2) - mpmath.mpf(1) / 4),
            (deep_linear_gap_limit(1, "1/2", digits=45), -(x - mpmath.log(1 + x)) / 2),
            (deep_linear_error_limit(1, "1/2", digits=45), -mpmath.mpf(1) / 27),
            (overlap_deficit(1, "1/3", digits=45), (mpmath.sqrt(1 + 4 * x) - 1) / (2 * x)),
        ]
        for value, expected in cases:
            assert abs(mpmath.mpf(str(value.midpoint)) - expected) <= mpmath.mpf(str(value.radius)) + mpmath.mpf("1e-58")
            assert value.radius < abs(value.midpoint) * Decimal("1e-45")
    wide = linear_error(1, Enclosure(Decimal("0.3"), Decimal("1e-3")), digits=20)
    for noise in ("0.2991", "0.3009"):
        assert wide.low < linear_error(1, noise, digits=30).midpoint < wide.high
    assert wide.high - wide.low < Decimal("0.01")


def test_enclosures_contain_the_floats_and_have_the_digits():
    for digits in (5, 30, 100):
        for value, number in (
            (linear_information(2, "1/3", "1/2", "0.1", digits=digits), linear_information(2, "1/3", "1/2", "0.1")),
            (deep_linear_error_limit("1/2", "0.01", (1, 2), digits=digits), deep_linear_error_limit("1/2", "0.01", (1, 2))),
        ):
            assert value.rigorous
            assert value.radius <= abs(value.midpoint) * Decimal(10) ** -digits
            assert abs(float(value) - number) <= abs(number) * 10.0 ** -min(digits, 15)
    half = Enclosure(Decimal("0.5"), Decimal("1e-9"))
    assert linear_error(1, half, digits=30).low <= 1 <= linear_error(1, half, digits=30).high
    with pytest.raises(NotConverged, match="was not narrowed"):
        linear_error(1, half)


def test_no_digits_are_lost_where_terms_cancel():
    """x - log(1 + x) = x^2/2 - x^3/3 for small x, and tau = 1/(1 + lam) - ... where everything is learnt or nothing is."""
    assert scalar_mode_divergence("1e-20") == pytest.approx(2.5e-41, rel=1e-15)
    assert overlap_deficit(1, "1e40") == pytest.approx(1e-20, rel=1e-15)
    assert overlap_deficit("1e-30", 1) == pytest.approx(1.0, rel=1e-15)
    assert 1 - float(overlap_deficit("1e-30", 1, digits=60).midpoint) == 0
    assert float(1 - overlap_deficit("1e-30", 1, digits=60).high) == pytest.approx(0.5e-30, rel=1e-9)


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: linear_information(0, 1), "alpha must be a number > 0, got 0"),
        (lambda: linear_information(1, "one"), "noise must be a number > 0, got 'one'"),
        (lambda: linear_error(1, 0), "cannot both be 0"),
        (lambda: ridge_error(1, 0), "penalty must be"),
        (lambda: learned_share(1, 1, power=3), "power must be 1 or 2"),
        (lambda: learned_share(1, 1, rho=0), "rho must not be 0"),
        (lambda: scalar_mode_divergence(1, 2), "time must be"),
        (lambda: deep_linear_gap_limit(1, 1, (1, 0)), r"ratios\[1\] must be"),
        (lambda: deep_linear_gap_limit(1, 1, "11"), "ratios must be a sequence"),
        (lambda: deep_linear_gap_limit(1, 1, digits=0), "digits must be"),
        (lambda: overlap_deficit(True, 1), "alpha must be"),
        (lambda: overlap_deficit(float("nan"), 1), "alpha must be"),
    ],
)
def test_refusals(call, word):
    with pytest.raises(ValueError, match=word):
        call()


def test_numbers_are_read_as_they_are_written():
    assert exact_number(0.1, "x") == Fraction(1, 10)
    assert evaluate(lambda iv, x: x * 0, (Fraction(1, 3),)) == 0.0
    assert evaluate(lambda iv, x: x, (Fraction(1, 4),), 10).radius <= Decimal("1e-11")
