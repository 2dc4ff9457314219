"""The exact linear model: against matrices, direct integrals, a Markov chain of pivots, moments, limits; and bad arguments."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import arb, fmpq

from theoryck.numerics.balls import precision
from theoryck.numerics.errors import ExactError
from theoryck.numerics.functions.activation import Activation
from theoryck.records import Enclosure
from theoryck.theory.learning.proved.linear_model import glm_error, glm_information, wishart_log_determinant, wishart_resolvent
from theoryck.theory.networks.proved.constants import network_constants
from theoryck.theory.spectra.proved import density, laguerre

DRAWS = 20_000


@pytest.mark.parametrize("d", [1, 2, 5, 64])
@pytest.mark.parametrize("lam", [Fraction(1, 10), 3])
def test_one_sample_is_an_integral_over_chi_square(d, lam):
    with mpmath.workdps(30):
        a = mpmath.mpf(d) / 2
        rate = mpmath.mpf(lam.numerator) / lam.denominator

        def mean(g):
            # t = log s, where the density of chi2_d/d has no singularity.
            def integrand(t):
                return g(mpmath.exp(t)) * mpmath.exp(a * mpmath.log(a) + a * t - a * mpmath.exp(t) - mpmath.loggamma(a))

            return mpmath.quad(integrand, [-160, -80, -40, -20, -10, -5, -2, -1, 0, 1, 2, 3, 5])

        j = mean(lambda s: mpmath.log1p(rate * s) / 2)
        t = (d - 1 + mean(lambda s: 1 / (1 + rate * s))) / d
        # By n = 1 and, X^T X and X X^T having the same spectrum, by input_dim = 1 at lam/d.
        for value, expected in (
            (wishart_log_determinant(1, d, lam), j),
            (wishart_resolvent(1, d, lam), t),
            (wishart_log_determinant(d, 1, Fraction(lam) / d), j),
        ):
            assert value.rigorous
            assert abs(mpmath.mpf(str(value.midpoint)) - expected) < mpmath.mpf("1e-19") * max(1, abs(expected))


@pytest.mark.parametrize(("n", "d"), [(2, 2), (2, 3), (2, 4), (3, 3), (4, 3), (5, 3), (4, 7), (6, 6), (9, 8), (8, 12)])
def test_against_matrices(n, d):
    rng = np.random.default_rng(n * 100 + d)
    x = rng.standard_normal((DRAWS, d, n)) / math.sqrt(d)
    spectrum = np.linalg.eigvalsh(x.transpose(0, 2, 1) @ x) if n <= d else np.linalg.eigvalsh(x @ x.transpose(0, 2, 1))
    for lam in (0.25, 4.0):
        j = np.log1p(lam * spectrum).sum(1) / 2
        t = (d - spectrum.shape[1] + (1 / (1 + lam * spectrum)).sum(1)) / d
        for sample, exact in ((j, wishart_log_determinant(n, d, lam)), (t, wishart_resolvent(n, d, lam))):
            # 40 tests: five standard errors are passed by a true value with probability 1 - 2e-5.
            assert abs(sample.mean() - float(exact)) < 5 * sample.std() / math.sqrt(DRAWS)


def test_a_wrong_size_would_be_seen_by_the_matrices():
    assert abs(float(wishart_log_determinant(8, 12, 4)) - float(wishart_log_determinant(8, 13, 4))) > 0.02


@pytest.mark.parametrize(("n", "d", "lam"), [(5, 6, 2.0), (12, 9, 0.7), (24, 24, 2.0)])
def test_against_the_markov_chain_of_pivots(n, d, lam):
    # Bidiagonal form (Householder) of X, n >= d say: diagonals a_i^2 = chi2_(n-i+1)/d, off-diagonals b_i^2 = chi2_(d-i)/d.  The
    # pivots of I + lam B B^T are delta_i = 1 + lam a_i^2 + c_i with c_(i+1) = lam b_i^2 (1 + c_i)/(1 + c_i + lam a_i^2).
    rng = np.random.default_rng(7)
    long, short, draws = max(n, d), min(n, d), 100_000
    c, total = np.zeros(draws), np.zeros(draws)
    for i in range(short):
        a = lam * rng.chisquare(long - i, draws) / d
        total += np.log1p(c + a) / 2
        if i < short - 1:
            c = lam * rng.chisquare(short - 1 - i, draws) / d * (1 + c) / (1 + c + a)
    assert abs(total.mean() - float(wishart_log_determinant(n, d, lam))) < 5 * total.std() / math.sqrt(draws)


@pytest.mark.parametrize(("order", "excess"), [(1, 0), (2, 0), (2, 1), (3, 0), (3, 2), (4, 1), (5, 0), (6, 4), (7, 3)])
def test_the_density_has_the_moments_of_a_wishart_matrix(order, excess):
    # int rho = N, E tr W = N M, E tr W^2 = N M (N + M + 1); gamma(x) on the even-N part by mpmath.
    shape, size = density(order, excess), order + excess
    s = mpmath.mpf(0 if excess % 2 else -1) / 2
    lift = excess // 2

    def rho(x):
        value = _at(shape.full, x) * mpmath.exp(-x)
        w = x ** (lift + s) * mpmath.exp(-x / 2)
        whole = mpmath.gammainc(lift + s + 1, 0, mpmath.inf) * 2 ** (lift + s + 1)
        leading = w * _at(shape.leading, x)
        if order % 2:
            return value + leading / (whole * mpmath.mpf(int(shape.norm.p)) / int(shape.norm.q))
        part = mpmath.gammainc(lift + s + 1, 0, x / 2) * 2 ** (lift + s + 1)
        return value + mpmath.mpf(int(shape.twist.p)) / int(shape.twist.q) * leading * (part - whole / 2)

    for k, expected in ((0, order), (1, order * size), (2, order * size * (order + size + 1))):
        found = mpmath.quad(lambda y, k=k: 2 * y * y ** (2 * k) * rho(y * y), [0, 1, 2, 4, 6, 9, 13])
        assert abs(found - expected) < 1e-9 * expected


def _at(polynomial, x):
    return mpmath.fsum(mpmath.mpf(int(c.p)) / int(c.q) * x**j for j, c in enumerate(fmpq(c) for c in polynomial.coeffs()))


def test_laguerre_polynomials():
    assert laguerre(2, 0).coeffs() == [1, -2, fmpq(1, 2)]


@pytest.mark.parametrize(("n", "d", "lam"), [(4, 4, 2), (5, 7, Fraction(1, 2)), (6, 5, 1), (7, 7, 3), (6, 8, 1)])
def test_the_resolvent_is_the_derivative_of_the_log_determinant(n, d, lam):
    # dJ/dlam = (n - E tr (I_n + lam X^T X)^-1)/(2 lam), and tr over n and over d_0 differ by n - d_0.
    h = Fraction(1, 10**10)
    up, down = (wishart_log_determinant(n, d, lam + sign * h, digits=40) for sign in (1, -1))
    slope = (up.midpoint - down.midpoint) / (2 * Decimal(h.numerator) / Decimal(h.denominator))
    trace = d * float(wishart_resolvent(n, d, lam)) + n - d
    # The central difference errs by h^2 J'''/6, about 1e-20; floats are the limit.
    assert float(slope) == pytest.approx((n - trace) / (2 * float(lam)), rel=1e-13)


def _limit(alpha, lam):
    b = 1 + lam * (alpha - 1)
    tau = (math.sqrt(b * b + 4 * lam) - b) / (2 * lam)
    return (-math.log(tau) + alpha * math.log1p(lam * tau) - (1 - tau)) / (2 * alpha), tau


@pytest.mark.parametrize("alpha", [Fraction(1, 2), 1, 2])
def test_the_limit_is_approached_at_rate_one_over_d(alpha):
    per_sample, tau = _limit(float(alpha), 2.0)
    biases = []
    for d in (16, 32, 64):
        n = int(alpha * d)
        biases.append((float(wishart_log_determinant(n, d, 2)) - n * per_sample, d * (float(wishart_resolvent(n, d, 2)) - tau)))
    for column in zip(*biases):
        # The O(1) biases settle, with corrections that fall at least like 1/d.
        assert abs(column[2] - column[1]) < 0.6 * abs(column[1] - column[0]) + 1e-6
        assert abs(column[2]) > 0.01


def test_large_and_lopsided_sizes():
    # At n = d = 256 the bias of J is that of n = d = 128 to about 1e-4; extreme shapes are nearly deterministic.
    per_sample, _ = _limit(1.0, 1.0)
    assert float(wishart_log_determinant(256, 256, 1)) - 256 * per_sample == pytest.approx(-0.03933, abs=1e-4)
    assert float(wishart_log_determinant(3, 3000, 1)) == pytest.approx(1.5 * math.log(2), abs=3e-3)
    assert wishart_log_determinant(64, 64, Fraction(1, 10), 30).radius < Decimal("1e-29")


def test_tiny_lam_is_refused_with_a_way_out_and_zero_is_exact():
    with pytest.raises(ExactError, match="larger lam"):
        wishart_log_determinant(64, 64, 1e-7)
    assert wishart_log_determinant(3, 4, 0).exact
    assert wishart_resolvent(3, 4, 0).midpoint == 1


def test_a_radius_of_lam_is_carried():
    wide = Enclosure(Decimal(2), Decimal("1e-6"))
    value = wishart_log_determinant(20, 20, wide)
    assert value.rigorous
    assert Decimal("9e-6") < value.radius < Decimal("1.1e-5")
    for lam in (Decimal("2.000001"), Decimal("1.999999")):
        assert value.overlaps(wishart_log_determinant(20, 20, lam))
    assert not wishart_log_determinant(2, 2, Enclosure(Decimal(2), Decimal("1e-6"), rigorous=False)).rigorous


def test_the_linear_model_of_a_network():
    constants = network_constants(Activation("erf(x)"), 2)
    noise = Fraction(1, 2)
    value = glm_information(constants.eta0, constants.gamma0, noise, 8, 8)
    assert value.rigorous
    assert value.radius < Decimal("1e-18")
    # n = 8, d_0 = 8 by weight: 20 000 input matrices, five standard errors.
    rng = np.random.default_rng(0)
    x = rng.standard_normal((DRAWS, 8, 8)) / math.sqrt(8)
    eta, gamma = float(constants.eta0), float(constants.gamma0)
    spectrum = np.linalg.eigvalsh(x.transpose(0, 2, 1) @ x)
    sample = np.log1p((eta**2 * spectrum + gamma) / 0.5).sum(1) / 2
    assert abs(sample.mean() - float(value)) < 5 * sample.std() / math.sqrt(DRAWS)
    error = 0.5 + gamma + eta**2 * (1 / (1 + eta**2 / (gamma + 0.5) * spectrum)).mean(1)
    assert abs(error.mean() - float(glm_error(constants.eta0, constants.gamma0, noise, 8, 8))) < 5 * error.std() / math.sqrt(DRAWS)


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: wishart_log_determinant(0, 3, 1), "n must be"),
        (lambda: wishart_log_determinant(3, 2.5, 1), "input_dim must be"),
        (lambda: wishart_log_determinant(3, 3, -1), "lam must be"),
        (lambda: wishart_log_determinant(3, 3, 1, digits=0), "digits"),
        (lambda: glm_information(1, 0, 0, 3, 3), r"gamma0 \+ noise"),
        (lambda: glm_information(1, 1, 0, 3, 3), "noise"),
        (lambda: glm_error(1, -1, 3, 3, 3), "gamma0"),
    ],
)
def test_bad_arguments(call, word):
    with pytest.raises(ExactError, match=word):
        call()


def test_precision_is_left_as_it_was():
    with precision(77):
        before = arb(1) / 3
        wishart_log_determinant(6, 6, 2)
        assert (arb(1) / 3).rad() == before.rad()
