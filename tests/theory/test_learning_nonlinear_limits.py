"""Limits for one nonlinear layer, against closed kernels on random inputs (no limit formula) and the notes of the derivation."""

import math
from decimal import Decimal

import mpmath
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import chi2

from theoryck.numerics.functions.activation import Activation
from theoryck.theory.learning.limits.linear import deep_linear_error_limit, deep_linear_gap_limit
from theoryck.theory.learning.limits.nonlinear import (
    covariance_gap_limit,
    one_layer_error_limit,
    one_layer_gap_limit,
    one_layer_linear_error_limit,
    one_sample_gap_limit,
    variance_taylor,
)
from theoryck.theory.spectra.limits.marchenko_pastur import overlap_deficit

ERF, SIN, BUMP = "erf(x)", "sin(x)", "x*exp(-x**2/2)"
# phi: kernel h(s, s', c), g(s), rho
LAWS = {
    ERF: (
        lambda a, b, c: 2 / math.pi * np.arcsin(2 * c / np.sqrt((1 + 2 * a) * (1 + 2 * b))),
        lambda s: 2 / math.pi * np.arcsin(2 * s / (1 + 2 * s)),
        2 / math.sqrt(3 * math.pi),
    ),
    SIN: (lambda a, b, c: np.exp(-(a + b) / 2) * np.sinh(c), lambda s: (1 - np.exp(-2 * s)) / 2, math.exp(-0.5)),
    BUMP: (lambda a, b, c: c * ((1 + a) * (1 + b) - c * c) ** -1.5, lambda s: s * (1 + 2 * s) ** -1.5, 2**-1.5),
}


def test_numbers_of_the_derivation():
    for phi, constant in ((ERF, -0.0275053), (SIN, -0.0778466), (BUMP, -0.0300276)):
        assert abs(one_sample_gap_limit(phi, 0.5) - constant) < 5.1e-8
    assert [round(one_sample_gap_limit(ERF, noise), 4) for noise in (0.2, 0.3)] == [0.0108, -0.0091]
    assert round(covariance_gap_limit(ERF, 1, 0.5), 4) == -0.0606
    assert round(one_layer_gap_limit(ERF, 1, 0.5), 4) == -0.0695
    assert round(covariance_gap_limit(SIN, 1, 0.5) - one_layer_gap_limit(SIN, 1, 0.5), 4) == 0.0081
    assert abs(one_layer_linear_error_limit(ERF, 1, 0.5) + 0.213) < 0.005  # found by simulation, with about that error
    assert round(one_layer_linear_error_limit(ERF, 1, 0.5) - one_layer_error_limit(ERF, 1, 0.5), 4) == 0.0113


def test_numbers_from_closed_forms_at_one():
    """g and r of sin(x): (1 - e^-2s)/2 and e^-s/2."""
    taylor = variance_taylor(Activation(SIN), 30)
    e = math.exp(-2)
    for value, expected in zip((taylor.g, taylor.g1, taylor.g2, taylor.r), ((1 - e) / 2, e, -2 * e, math.exp(-0.5))):
        assert float(value) == pytest.approx(expected, rel=1e-15)
        assert value.radius < Decimal("1e-30")
    # E sin(Z) He_k(Z) = E sin^(k)(Z): -e^-1/2 and e^-1/2 for k = 3, 5.
    assert float(taylor.he3) == pytest.approx(-math.exp(-0.5), rel=1e-15)
    assert float(taylor.he5) == pytest.approx(math.exp(-0.5), rel=1e-15)


@pytest.mark.parametrize("phi", LAWS)
def test_one_sample_by_quadrature(phi):
    """(1/2) E log[(g(S) + Delta)/(rho^2 S + eps + Delta)] over S ~ chi^2_d/d: corrections O(1/d) to d times it."""
    _, g, rho = LAWS[phi]
    noise, eps = 0.5, g(1.0) - rho**2
    found = []
    for d in (1000, 4000):
        reach = 12 * math.sqrt(2 / d)

        def integrand(s, d=d):
            return math.log((g(s) + noise) / (rho**2 * s + eps + noise)) / 2 * chi2.pdf(d * s, d) * d

        found.append(d * quad(integrand, 1 - reach, 1 + reach, epsabs=1e-12, limit=200)[0])
    limit = one_sample_gap_limit(phi, noise)
    assert abs(found[1] - limit) < 1e-3 * abs(limit) + 1e-5
    assert abs(found[1] - limit) < abs(found[0] - limit)


def regressed(values, controls):
    """Mean and standard error of ``values`` after regression on ``controls`` of mean 0."""
    design = np.column_stack([np.ones(len(values)), *controls])
    coefficients, residual, _, _ = np.linalg.lstsq(design, values, rcond=None)
    return coefficients[0], math.sqrt(residual[0] / (len(values) - design.shape[1]) / len(values))


def kernels(rng, phi, n, d, noise):
    """Covariances C_1 and C_0 of the labels at n random inputs, and two controls: tr G - n and tr G^2 less its mean."""
    kernel, g, rho = LAWS[phi]
    x = rng.standard_normal((n, d)) / math.sqrt(d)
    gram = x @ x.T
    s = np.diag(gram)
    one, zero = kernel(s[:, None], s, gram), rho**2 * gram + (g(1.0) - rho**2) * np.eye(n)
    controls = s.sum() - n, (gram * gram).sum() - n * (1 + 2 / d) - n * (n - 1) / d
    return one + noise * np.eye(n), zero + noise * np.eye(n), controls


CASES = [(phi, alpha, noise) for phi in LAWS for alpha, noise in ((1, 0.5), (2, 0.2), (0.5, 0.1))]


@pytest.mark.parametrize(("phi", "alpha", "noise"), CASES)
def test_covariance_gap_by_determinants(phi, alpha, noise):
    """d = 64, 200 draws: 4 standard errors, and 4/d of the value for what finite d adds (at most 3.2/d was seen at these sizes)."""
    d, draws, rng = 64, 200, np.random.default_rng(3)
    values, controls = [], []
    for _ in range(draws):
        one, zero, control = kernels(rng, phi, int(alpha * d), d, noise)
        values.append((np.linalg.slogdet(one)[1] - np.linalg.slogdet(zero)[1]) / 2)
        controls.append(control)
    mean, stderr = regressed(np.array(values), np.array(controls).T)
    limit = covariance_gap_limit(phi, alpha, noise)
    assert abs(mean - limit) < 4 * stderr + 4 / d * abs(limit)
    # The part of the cubic term is needed: without it, or with twice that, the same check fails where it is large.
    m = variance_taylor(Activation(phi))
    g, rho = float(m.g), float(m.r)
    c = g - rho**2 + noise
    lam = rho**2 / c
    tau = overlap_deficit(alpha, lam)
    cubic = alpha**2 * float(m.he3) ** 2 / 4 * lam * tau / c / (1 + lam * tau) ** 2
    if (alpha, noise) == (2, 0.2):
        for wrong in (limit + cubic, limit - cubic):
            assert abs(mean - wrong) > 4 * stderr + 4 / d * abs(wrong)


@pytest.mark.parametrize(("phi", "alpha", "noise"), CASES)
def test_linear_predictor_by_leaving_one_out(phi, alpha, noise):
    """1/[C^-1]_ii is the variance of label i given n others.  d = 64, 120 draws: 4 standard errors, and 4/d of the value."""
    d, draws, rng = 64, 120, np.random.default_rng(4)
    values, controls = [], []
    for _ in range(draws):
        one, zero, control = kernels(rng, phi, int(alpha * d) + 1, d, noise)
        values.append(d * np.mean(1 / np.diag(np.linalg.inv(one)) - 1 / np.diag(np.linalg.inv(zero))))
        controls.append(control)
    mean, stderr = regressed(np.array(values), np.array(controls).T)
    limit = one_layer_linear_error_limit(phi, alpha, noise)
    assert abs(mean - limit) < 4 * stderr + 4 / d * abs(limit)
    assert abs(mean - limit / 2) > 4 * stderr + 4 / d * abs(limit)


def test_linear_activations_have_their_own_limits():
    for width_ratio in (1, 2, "1/3"):
        ratios = (1, 1 / float(width_ratio) if isinstance(width_ratio, int) else 3)
        assert one_layer_gap_limit("x", 2, 0.3, width_ratio) == pytest.approx(deep_linear_gap_limit(2, 0.3, ratios), rel=1e-14)
        assert one_layer_error_limit("x", 2, 0.3, width_ratio) == pytest.approx(deep_linear_error_limit(2, 0.3, ratios), rel=1e-14)
    # phi = 2x with noise 4 Delta is phi = x with noise Delta.
    assert one_layer_gap_limit("2*x", 2, 1.2) == pytest.approx(deep_linear_gap_limit(2, 0.3), rel=1e-14)
    assert one_layer_error_limit("2*x", 2, 1.2) == pytest.approx(4 * deep_linear_error_limit(2, 0.3), rel=1e-14)
    assert covariance_gap_limit("x", 2, 0.3) == one_layer_linear_error_limit("x", 2, 0.3) == 0


def test_almost_linear_activations_tend_to_the_linear_limit():
    """sin(e x)/e = x + O(e^2): the difference falls by 100 when e falls by 10, up to terms of relative size e^2 = 1%."""
    limits = [one_layer_gap_limit(f"{k}*sin(x/{k})", 1, 0.5) - deep_linear_gap_limit(1, 0.5) for k in (10, 100)]
    assert limits[0] / limits[1] == pytest.approx(100, rel=0.05)
    errors = [one_layer_error_limit(f"{k}*sin(x/{k})", 1, 0.5) - deep_linear_error_limit(1, 0.5) for k in (10, 100)]
    assert errors[0] / errors[1] == pytest.approx(100, rel=0.05)


def test_width_enters_through_the_scale_only():
    wide, narrow = one_layer_gap_limit(ERF, 1, 0.5, "1e-9"), one_layer_gap_limit(ERF, 1, 0.5, 3)
    assert wide == pytest.approx(covariance_gap_limit(ERF, 1, 0.5), rel=1e-12)
    assert narrow < one_layer_gap_limit(ERF, 1, 0.5) < wide


def test_enclosures_contain_a_closed_form_of_mpmath():
    """sin: g = (1 - e^-2)/2, g' = e^-2, g'' = -2 e^-2, rho^4 = e^-2, at 60 digits."""
    with mpmath.workdps(60):
        e, total = mpmath.exp(-2), (1 - mpmath.exp(-2)) / 2 + mpmath.mpf(1) / 2
        expected = (-2 * e / total + (e - e * e) / total**2) / 2
        value = one_sample_gap_limit(SIN, "1/2", digits=40)
        assert abs(mpmath.mpf(str(value.midpoint)) - expected) <= mpmath.mpf(str(value.radius)) < mpmath.mpf("1e-41")


def test_enclosures():
    for limit in (one_layer_gap_limit, one_layer_error_limit, covariance_gap_limit):
        value = limit("tanh", 1, "1/2", digits=30)
        assert value.rigorous
        assert value.radius <= abs(value.midpoint) * Decimal("1e-30")
        assert float(value) == pytest.approx(limit("tanh", 1, 0.5), rel=1e-15)


@pytest.mark.parametrize("limit", [one_layer_gap_limit, one_layer_error_limit, covariance_gap_limit, one_layer_linear_error_limit])
def test_refusals(limit):
    with pytest.raises(ValueError, match=r"activation must be odd for these limits, got relu\(x\)"):
        limit("relu", 1, 0.5)
    with pytest.raises(ValueError, match="alpha must be a number > 0"):
        limit(SIN, -1, 0.5)
    with pytest.raises(ValueError, match="noise must be a number > 0"):
        limit(SIN, 1, 0)
    with pytest.raises(ValueError, match="activation must be odd"):
        one_sample_gap_limit("x + x**2", 1)
