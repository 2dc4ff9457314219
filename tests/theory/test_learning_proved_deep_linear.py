"""log Z of deep linear networks: against Bessel and Meijer functions, matrices drawn from the prior, and bad arguments."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from theoryck.numerics.errors import ExactError
from theoryck.records import Enclosure
from theoryck.theory.learning.proved.deep_linear import deep_linear_log_evidence

# One data set, d = (6, 5, 4) and n = 3, written down by hand.
INPUTS = np.array([[2, -1, 0], [1, 1, -3], [0, 2, 1], [-2, 1, 1], [1, 0, 2], [-1, -2, 1]]) / 4
LABELS = np.array([2.25, -1.5, 0.75])
SPECTRUM, BASIS = np.linalg.eigh(INPUTS.T @ INPUTS)
PROJECTIONS = BASIS.T @ LABELS
NOISE = 0.5


def number(enclosure):
    return mpmath.mpf(str(enclosure.midpoint))


def gaussian(t, noise):
    pairs = [(mpmath.mpf(float(e)), mpmath.mpf(float(y))) for e, y in zip(SPECTRUM, PROJECTIONS)]
    return mpmath.fprod(mpmath.npdf(y, 0, mpmath.sqrt(t * e + noise)) for e, y in pairs)


@pytest.mark.parametrize("widths", [(5,), (5, 4), (4, 1)])
def test_against_the_density_of_the_scale(widths):
    with mpmath.workdps(30):
        a = mpmath.mpf(widths[0]) / 2

        def density(t):
            if len(widths) == 1:
                return a**a * t ** (a - 1) * mpmath.exp(-a * t) / mpmath.gamma(a)
            b = mpmath.mpf(widths[1]) / 2
            c = a * b
            bessel = mpmath.besselk(a - b, 2 * mpmath.sqrt(c * t))
            return 2 * c * (c * t) ** ((a + b) / 2 - 1) * bessel / (mpmath.gamma(a) * mpmath.gamma(b))

        points = [-150, -80, -40, -20, -10, -5, -2, 0, 1, 2, 4, 6, 8]

        def integrand(u):
            return gaussian(mpmath.exp(u), NOISE) * density(mpmath.exp(u)) * mpmath.exp(u)

        expected = mpmath.log(mpmath.quad(integrand, points))
        found = deep_linear_log_evidence(SPECTRUM, PROJECTIONS, widths, NOISE)
        assert found.rigorous
        assert abs(number(found) - expected) < mpmath.mpf("1e-18")
        # Another width is another number: the comparison can fail.
        assert abs(number(deep_linear_log_evidence(SPECTRUM, PROJECTIONS, (6, *widths[1:]), NOISE)) - expected) > 1e-3


def test_against_networks_drawn_from_the_prior():
    rng = np.random.default_rng(1)
    draws = 60_000
    hidden = rng.standard_normal((draws, 5, 6)) @ INPUTS / math.sqrt(5)
    hidden = rng.standard_normal((draws, 4, 5)) @ hidden / 2
    outputs = (rng.standard_normal((draws, 1, 4)) @ hidden)[:, 0]
    weights = np.exp(-0.5 * ((LABELS - outputs) ** 2).sum(1) / NOISE) / (2 * math.pi * NOISE) ** 1.5
    exact = float(deep_linear_log_evidence(SPECTRUM, PROJECTIONS, (5, 4), NOISE))
    # Five standard errors of a mean of bounded weights.
    assert abs(weights.mean() - math.exp(exact)) < 5 * weights.std() / math.sqrt(draws)


@pytest.mark.parametrize("widths", [(5,), (5, 4), (5, 4, 7), (3, 2, 2, 9)])
def test_without_noise_it_is_a_meijer_function(widths):
    # E t^(-n/2) e^(-A/2t) = c^(n/2)/prod Gamma(d_l/2) G(cA/2 | -; 0, (d_l - n)/2), c = prod d_l/2, A = sum y_i^2/lambda_i.
    with mpmath.workdps(30):
        n = 3
        energy = mpmath.fsum(mpmath.mpf(float(y)) ** 2 / mpmath.mpf(float(e)) for e, y in zip(SPECTRUM, PROJECTIONS))
        c = mpmath.fprod(mpmath.mpf(d) / 2 for d in widths)
        shifts = [0, *(mpmath.mpf(d - n) / 2 for d in widths)]
        value = c ** (mpmath.mpf(n) / 2) * mpmath.meijerg([[], []], [shifts, []], c * energy / 2)
        for d in widths:
            value /= mpmath.gamma(mpmath.mpf(d) / 2)
        for e in SPECTRUM:
            value /= mpmath.sqrt(2 * mpmath.pi * mpmath.mpf(float(e)))
        found = deep_linear_log_evidence(SPECTRUM, PROJECTIONS, widths, 0)
        # mpmath perturbs coinciding parameters and loses digits there; twelve remain.
        assert abs(number(found) - mpmath.log(value)) < mpmath.mpf("1e-12")


def test_depth_zero_is_gaussian_and_order_does_not_matter():
    found = deep_linear_log_evidence([2, 0], [Fraction(1, 2), 1], (), Fraction(1, 2))
    expected = -0.5 * (math.log(2 * math.pi * 2.5) + 0.25 / 2.5 + math.log(math.pi) + 2)
    assert float(found) == pytest.approx(expected, rel=1e-15)
    one, other = (deep_linear_log_evidence(SPECTRUM, PROJECTIONS, widths, NOISE) for widths in ((2, 7, 3), (3, 2, 7)))
    assert one.overlaps(other)


def test_wide_layers_give_the_linear_model_and_its_first_correction():
    # log Z = log F(1) + (l'' + l'^2) var(t)/2, var t = 2/d: halving 1/d halves what is left.
    linear = deep_linear_log_evidence(SPECTRUM, PROJECTIONS, (), NOISE).midpoint
    gaps = [deep_linear_log_evidence(SPECTRUM, PROJECTIONS, (d,), NOISE).midpoint - linear for d in (500, 1000)]
    assert float(gaps[0] / gaps[1]) == pytest.approx(2, abs=2e-2)


def test_many_samples_and_digits():
    rng = np.random.default_rng(3)
    x = rng.standard_normal((32, 128)) / math.sqrt(32)
    spectrum = [*np.linalg.eigvalsh(x @ x.T), *[0] * 96]
    labels = [math.sqrt(e + 0.5) * z for e, z in zip(spectrum, rng.standard_normal(128))]
    few, many = (deep_linear_log_evidence(spectrum, labels, (32, 16, 8), 0.5, digits) for digits in (10, 50))
    assert few.overlaps(many)
    assert many.radius < Decimal("1e-49") * abs(many.midpoint)


def test_enclosures_in_are_carried():
    wide = Enclosure(Decimal("0.5"), Decimal("1e-14"), rigorous=False)
    found = deep_linear_log_evidence([1, 2], [1, 1], (3,), wide, digits=10)
    assert not found.rigorous
    assert found.overlaps(deep_linear_log_evidence([1, 2], [1, 1], (3,), 0.5))
    with pytest.raises(ExactError, match="more digits"):
        deep_linear_log_evidence([1, 2], [1, 1], (3,), wide, digits=20)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (([1], [1, 2], (3,), 1), "same length"),
        (([], [], (3,), 1), "eigenvalues must be"),
        (([-1], [1], (3,), 1), r"eigenvalues\[0\] must be >= 0"),
        (([0], [1], (3,), 0), r"eigenvalues\[0\] must be > 0"),
        (([1], [0], (3,), 0), "projections"),
        (([1], [1], (0,), 1), r"hidden_widths\[0\]"),
        (([1], [1], (3,), -1), "noise"),
        (([1], [1], "34", 1), "hidden_widths"),
    ],
)
def test_bad_arguments(arguments, word):
    with pytest.raises(ExactError, match=word):
        deep_linear_log_evidence(*arguments)
