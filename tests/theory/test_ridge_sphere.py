"""Dot-product kernels on the sphere: eigenvalues against quadrature, residuals against the reference table and their own limit."""

import math

import numpy as np
import pytest
from scipy.special import eval_gegenbauer, roots_gegenbauer

from theoryck.theory.ridge.limits import kernel_ridge_equivalent, threshold_limit
from theoryck.theory.ridge.model import EXPONENTIAL, gegenbauer, multiplicity, sphere_eigenvalues, sphere_spectrum


def degree_residual(coefficients, d, n, degree, ridge=0.0):
    """What n samples leave of a target of unit power in one degree, without noise: errors of several degrees add up."""
    return kernel_ridge_equivalent(sphere_spectrum(coefficients, d, [0.0] * degree + [1.0]), n, ridge).excess_risk


@pytest.mark.parametrize("d", [3, 5, 16, 60])
def test_eigenvalues_against_quadrature(d):
    """E h(t) P_k(t) by Gauss's rule for the weight (1 - t^2)^((d-3)/2), with scipy's polynomials."""
    nodes, weights = roots_gegenbauer(60, (d - 2) / 2) if d > 3 else np.polynomial.legendre.leggauss(60)
    weights = weights / weights.sum()
    found = sphere_eigenvalues(EXPONENTIAL, d)
    for k, values in zip(range(8), gegenbauer(d, 7, nodes), strict=True):
        polynomial = eval_gegenbauer(k, (d - 2) / 2, nodes) / eval_gegenbauer(k, (d - 2) / 2, 1.0)
        np.testing.assert_allclose(values, polynomial, rtol=1e-9, atol=1e-12)
        # Rounding of the quadrature: 60 terms of at most e, of opposite signs.
        assert weights @ (np.exp(nodes) * polynomial) == pytest.approx(found[k], rel=1e-9, abs=1e-14)
        assert weights @ polynomial**2 == pytest.approx(1 / multiplicity(d, k), rel=1e-9)


@pytest.mark.parametrize("d", [2, 3, 16, 1000, 2**20])
def test_the_trace_is_the_kernel_at_one(d):
    sizes = [float(multiplicity(d, k)) for k in range(len(EXPONENTIAL))]
    assert sphere_eigenvalues(EXPONENTIAL, d) @ sizes == pytest.approx(math.e, rel=1e-13)


def test_multiplicities():
    """2 in the plane, 2k + 1 in space, and the dimension of all polynomials of degree <= k on the sphere."""
    assert [multiplicity(2, k) for k in range(4)] == [1, 2, 2, 2]
    assert [multiplicity(3, k) for k in range(5)] == [1, 3, 5, 7, 9]
    for d, k in ((4, 3), (16, 5), (100, 4)):
        assert sum(multiplicity(d, j) for j in range(k + 1)) == math.comb(d + k - 1, k) + math.comb(d + k - 2, k - 1)
    assert multiplicity(1000, 3) / (1000**3 / 6) == pytest.approx(1, rel=0.01)


@pytest.mark.parametrize(("n", "value", "digits"), [(40, 2.61, 2), (136, 1.87, 2), (400, 1.01, 2), (2500, 0.016, 3)])
def test_the_reference_table(n, value, digits):
    """d = 16, h = exp, lambda = 1e-6, a target with parts of unit power in the degrees 1, 2 and 3."""
    total = kernel_ridge_equivalent(sphere_spectrum(EXPONENTIAL, 16, [0, 1, 1, 1]), n, 1e-6).excess_risk
    assert round(total, digits) == value
    parts = [degree_residual(EXPONENTIAL, 16, n, k, 1e-6) for k in (1, 2, 3)]
    assert sum(parts) == pytest.approx(total, rel=1e-12)
    assert parts[0] < parts[1] < parts[2]


def test_degrees_are_learnt_at_their_multiplicities_not_at_powers_of_d():
    """At d = 16, n = 800 = B(16, 3) = d^2.41 a large part of degree 3 is learnt already; with n = d^2 nearly nothing of it."""
    assert degree_residual(EXPONENTIAL, 16, 800, 3) < 0.5
    assert degree_residual(EXPONENTIAL, 16, 16**2, 3) > 0.85
    assert degree_residual(EXPONENTIAL, 16, 16**3, 3) < 0.01


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("samples", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_the_threshold_is_the_limit_of_large_dimensions(k, samples, ridge):
    d = 2**14
    n = samples * multiplicity(d, k)
    limit = threshold_limit(EXPONENTIAL, k, samples, ridge)
    # The next order is 1/d, with constants like k^2.
    assert degree_residual(EXPONENTIAL, d, n, k, ridge / n) == pytest.approx(limit.residual, rel=40 / d)
    assert degree_residual(EXPONENTIAL, d, n, k + 2, ridge / n) == pytest.approx(limit.inflation, rel=40 / d)
    assert degree_residual(EXPONENTIAL, d, n, k - 1, ridge / n) < 40 / d
    assert threshold_limit(EXPONENTIAL, k, samples * math.factorial(k + 1), ridge).residual < 0.9 * limit.residual


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: multiplicity(1, 2), "d must be an integer >= 2, got 1"),
        (lambda: multiplicity(10**6, 10**6), "degree must be smaller"),
        (lambda: multiplicity(4, -1), "degree must be an integer >= 0, got -1"),
        (lambda: sphere_eigenvalues([1, -1], 4), "coefficients must be"),
        (lambda: sphere_eigenvalues([0.0], 4), "the kernel is zero"),
        (lambda: sphere_spectrum([1, 1], 4, [-1]), "target must be"),
        (lambda: threshold_limit([0, 1], 1, 1.0), "degree 1 needs"),
        (lambda: threshold_limit([0, 1, 1], 0, 1.0), "degree 0 needs"),
        (lambda: threshold_limit([0, 1, 1], 1, 0.0), "samples must be a number > 0"),
    ],
)
def test_bad_arguments_are_named(call, word):
    with pytest.raises(ValueError, match=word):
        call()
