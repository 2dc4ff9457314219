"""Orthants: values that are known, limits of correlations that tend to 1, moments by symmetry, and the rule against a finer one."""

import math

import numpy as np
import pytest

from theoryck.numerics.gaussian import orthants as module
from theoryck.numerics.gaussian.orthants import orthant_moments, orthants


def correlations(rng, count, m, near):
    """Random correlations, of the first and the last and of the two in the middle 1 - O(near)."""
    a = rng.standard_normal((count, m, m + 1))
    if near < 1:
        a[:, -1] = a[:, 0] + math.sqrt(near) * rng.standard_normal((count, m + 1))
        a[:, m // 2] = a[:, m // 2 - 1] + math.sqrt(near) * rng.standard_normal((count, m + 1))
    a /= np.sqrt((a**2).sum(axis=2, keepdims=True))
    return a @ np.swapaxes(a, 1, 2)


@pytest.mark.parametrize("m", [2, 3, 4])
def test_the_least_of_equals(m):
    """x_i = (y_i - y_0)/sqrt 2: all are positive where y_0 is the least of m + 1; shifted, y_0 < the others by h: one integral."""
    c = (np.ones((m, m)) + np.eye(m))[None] / 2
    assert orthants(np.zeros((1, m)), c)[0] == pytest.approx(1 / (m + 1), abs=1e-14)
    z, weights = np.polynomial.legendre.leggauss(200)
    y, h = 9 * z, 0.7
    survival = np.array([math.erfc((value + math.sqrt(2) * h) / math.sqrt(2)) / 2 for value in y])
    value = float((9 * weights * np.exp(-y * y / 2)) @ survival**m) / math.sqrt(2 * math.pi)
    assert orthants(np.full((1, m), h), c)[0] == pytest.approx(value, abs=1e-13)


@pytest.mark.parametrize("m", [2, 3, 4])
def test_equal_variables_are_one(m):
    """Correlation 1: P(x > max h); -1: P(h_1 < x < -h_2)."""
    h = np.array([[0.3, -0.2, 0.1, 0.25][:m]])
    assert orthants(h, np.ones((1, m, m)))[0] == pytest.approx(math.erfc(0.3 / math.sqrt(2)) / 2, abs=1e-9)
    c = np.ones((1, m, m))
    c[:, 0, 1:] = c[:, 1:, 0] = -1
    below = -0.3
    above = max(h[0, 1:])  # x_2 = ... = x_m = -x_1 between the largest threshold and -0.3
    between = (math.erfc(above / math.sqrt(2)) - math.erfc(below / math.sqrt(2))) / 2
    assert orthants(h, c)[0] == pytest.approx(max(between, 0.0), abs=1e-9)
    assert orthants(-h - 0.5, c)[0] > 0.1


@pytest.mark.parametrize(("near", "error"), [(1, 1e-12), (1e-2, 1e-10), (1e-6, 5e-9), (1e-10, 5e-9), (1e-13, 5e-9)])
def test_the_rule_has_converged(near, error, monkeypatch):
    """48 nodes against 200, thresholds of either sign and 0."""
    rng = np.random.default_rng(0)
    cases = [(rng.choice([-1.0, 0.0, 0.5, 2.0], (50, m)), correlations(rng, 50, m, near)) for m in (3, 4)]
    few = [orthants(*case) for case in cases]
    monkeypatch.setattr(module, "NODES", 200)
    module._rule.cache_clear()
    many = [orthants(*case) for case in cases]
    module._rule.cache_clear()
    for a, b in zip(few, many):
        assert np.abs(a - b).max() < error


@pytest.mark.parametrize("m", [0, 1, 2, 3, 4])
def test_orthants_of_all_signs_add_up(m):
    """Moments over the 2^m orthants of given thresholds sum to 1, 0 and C."""
    rng = np.random.default_rng(1)
    c = correlations(rng, 1, 4, 1) * np.outer([1, 2, 0.5, 3], [1, 2, 0.5, 3])
    h = np.array([[0.4, -0.7, 0.0, 1.1][:m]])
    totals = [0.0, 0.0, 0.0]
    for index in range(2**m):
        signs = np.array([1 - 2 * (index >> k & 1) if k < m else 1 for k in range(4)])
        p, first, second = orthant_moments(signs[:m] * h, c * np.outer(signs, signs))
        for place, part in enumerate((p, first * signs, second * np.outer(signs, signs))):
            totals[place] = totals[place] + part[0]
    assert totals[0] == pytest.approx(1, abs=1e-12)
    assert np.allclose(totals[1], 0, atol=1e-12)
    assert np.allclose(totals[2], c[0], atol=1e-11)


def test_moments_against_draws():
    """Four standard errors of 400,000 draws, and the sign of a correlation would be seen."""
    rng = np.random.default_rng(2)
    c, h = correlations(rng, 1, 4, 1), np.array([[0.3, -0.4, 0.2]])
    x = rng.multivariate_normal(np.zeros(4), c[0], 400_000)
    inside = (x[:, :3] > h).all(axis=1).astype(float)
    p, first, second = orthant_moments(h, c)
    for value, drawn in [(p[0], inside), (first[0, 3], inside * x[:, 3]), (second[0, 0, 3], inside * x[:, 0] * x[:, 3])]:
        assert abs(drawn.mean() - value) < 4 * drawn.std() / math.sqrt(len(x))
        assert abs(drawn.mean() + value) > 10 * drawn.std() / math.sqrt(len(x))


@pytest.mark.parametrize("small", [1e-6, 1e-10, 1e-13])
def test_differences_vanish_with_the_distance(small):
    """E (relu(x) - relu(y))^2 <= E (x - y)^2 = 2 small: nothing of the size of its root is left by rounding."""
    r = 1 - small
    _, _, cross = orthant_moments(np.zeros((1, 2)), np.array([[[1.0, r], [r, 1.0]]]))
    assert -1e-15 < 1 - 2 * float(cross[0, 0, 1]) <= 2 * small + 1e-15
