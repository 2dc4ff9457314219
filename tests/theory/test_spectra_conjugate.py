"""Limits of conjugate kernels: closed forms, the damped fixed point, dense simulation, moments, and roots that must be refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.integrate

from theoryck.numerics.errors import NotConverged
from theoryck.theory.spectra.limits.conjugate import ConjugateKernel, SpectralLaw, conjugate_kernel
from theoryck.theory.spectra.limits.conjugate_map import Chain, continued
from theoryck.theory.spectra.limits.marchenko_pastur import marchenko_pastur, mean_resolvent
from theoryck.theory.spectra.limits.quartic import pennington_worah, quartic_roots, quartic_transform

ERF = (0.651470015870560,), (0.0401458728192,)
POINTS = np.array([-0.1, -0.5, 0.3 + 0.2j, 1 - 0.4j, 0.05 + 0.01j])


def damped(z: complex, ratios: tuple[float, ...], rho: tuple[float, ...], epsilon: tuple[float, ...]) -> complex:
    """m_L(z) by the fixed point of MATH H2, which shares nothing with the rational map; level 0 by the quadratic."""
    if len(ratios) == 1:
        c = ratios[0]
        roots = np.roots([c * z, z + c - 1, 1])
        return max(roots, key=lambda root: root.imag * np.sign(z.imag))
    c, slope, rest = ratios[-1], rho[-1] ** 2, epsilon[-1]
    companion = -1 / z
    for _ in range(4000):
        a, b = 1 + companion * rest, companion * slope
        first = damped(-a / b, ratios[:-1], rho[:-1], epsilon[:-1]) / b
        new = -1 / (z - c * (1 - first) / companion)
        if abs(new - companion) < 1e-14 * abs(new):
            break
        companion = (companion + new) / 2
    return -first / z


# Marchenko-Pastur ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ratio", [0.3, 1, 2.5])
def test_marchenko_pastur_agrees_with_quadrature_of_its_density(ratio: float) -> None:
    law = marchenko_pastur(ratio, "1/2")
    low, high = law.support
    for x in (low + 0.1, (low + high) / 2, high - 0.01):
        # The density is 1/sqrt at a hard edge: quad needs to be told.
        value = scipy.integrate.quad(lambda t: law.pdf(low + t * t) * 2 * t, 0, math.sqrt(x - low), limit=200)[0]
        assert law.cdf(x) == pytest.approx(law.atom + value, abs=1e-9)
    assert law.cdf(-1e-9) == 0
    assert law.cdf(high + 1) == pytest.approx(1, abs=1e-15)
    probabilities = np.linspace(law.atom + 1e-6, 1 - 1e-6, 41)
    assert np.abs(law.cdf(law.ppf(probabilities)) - probabilities).max() < 1e-14
    assert np.isnan(law.cdf(math.nan))
    assert np.isnan(law.pdf(math.nan))


@pytest.mark.parametrize("ratio", [1e-6, 1e-9, 1e-12])
def test_at_small_ratios_marchenko_pastur_is_a_narrow_semicircle(ratio: float) -> None:
    # x = 1 + 2 r u, r = sqrt(c): mass 1/2 + (u sqrt(1 - u^2) + asin u)/pi + O(r), and x is known to 1.1e-16 of 2 r.
    law, r = marchenko_pastur(ratio), ratio**0.5
    u = np.linspace(-1, 1, 2001)
    semicircle = 0.5 + (u * np.sqrt(1 - u**2) + np.arcsin(u)) / math.pi
    assert np.abs(law.cdf(1 + 2 * r * u) - semicircle).max() < r
    assert np.all(np.diff(law.cdf(1 + 2 * r * u)) >= 0)
    probabilities = np.linspace(0.01, 0.99, 99)
    assert np.abs(law.cdf(law.ppf(probabilities)) - probabilities).max() < 1e-16 / r
    # The mean of Bai and Silverstein to first order in c: the difference of 1/sqrt(x) over 4 r is 1/2 (1 + gamma)^(-3/2).
    assert law.resolvent_bias(1) == pytest.approx(ratio / 8, rel=10 * r)


def test_marchenko_pastur_at_any_scale_and_in_any_kind_of_number() -> None:
    for scale in (1e25, 1e-25):
        law = marchenko_pastur(0.5, scale)
        assert law.stieltjes(-scale) == pytest.approx(marchenko_pastur(0.5).stieltjes(-1) / scale, rel=1e-15)
        assert law.stieltjes(1e3j * scale) == pytest.approx(marchenko_pastur(0.5).stieltjes(1e3j) / scale, rel=1e-15)
    assert marchenko_pastur(1e-30).stieltjes(-1) == pytest.approx(0.5, rel=1e-15)
    assert marchenko_pastur(np.float32(0.5)) == marchenko_pastur("1/2") == marchenko_pastur(0.5)


@pytest.mark.parametrize("ratio", [0.3, 1, 2.5])
def test_the_transform_of_marchenko_pastur_solves_its_quadratic_with_the_right_root(ratio: float) -> None:
    law = marchenko_pastur(ratio)
    m = law.stieltjes(POINTS)
    assert np.abs(ratio * POINTS * m**2 + (POINTS + ratio - 1) * m + 1).max() < 1e-13
    assert np.all(m.imag * POINTS.imag >= 0)
    assert law.stieltjes(-0.25) == pytest.approx(mean_resolvent(ratio, 0.25), rel=1e-14)
    assert law.stieltjes(-1e9) == pytest.approx(1e-9, rel=1e-8)


def test_bias_and_variance_of_the_resolvent_agree_with_the_mean_and_covariance_integrals() -> None:
    law, shift = marchenko_pastur(0.6), 0.3
    low, high = law.support
    middle, half = (low + high) / 2, (high - low) / 2
    theta = (np.arange(400) + 0.5) * math.pi / 400
    f = 1 / (middle + half * np.cos(theta) + shift)
    # int dx/sqrt((x - a)(b - x)) is the uniform law of theta; the a_k are discrete cosine coefficients.
    assert law.resolvent_bias(shift) == pytest.approx((1 / (low + shift) + 1 / (high + shift)) / 4 - f.mean() / 2, rel=1e-12)
    k = np.arange(1, 80)
    a = 2 * np.cos(np.outer(k, theta)) @ f / 400
    assert law.resolvent_variance(shift) == pytest.approx(float(k @ a**2) / 2, rel=1e-12)


def test_the_law_of_eigenvalues_that_are_not_zero() -> None:
    law = marchenko_pastur(4, "1/2")
    assert law.atom == 0.75
    assert law.nonzero() == marchenko_pastur("1/4", 2)
    assert law.nonzero().cdf(3.0) == pytest.approx((law.cdf(3.0) - 0.75) / 0.25, abs=1e-14)


# The recursion ---------------------------------------------------------------------------------------------------------------


def test_the_reference_point_and_its_twins() -> None:
    kernel = ConjugateKernel((1, 0.8), *ERF)
    rho, sigma = ERF[0][0], ERF[0][0] ** 2 + ERF[1][0]
    assert kernel.resolvent(0.1) == pytest.approx(4.2044, abs=5e-5)
    assert replace(kernel, epsilon=(0.0,)).resolvent(0.1) == pytest.approx(4.675, abs=5e-4)
    assert replace(kernel, rho=(rho**0.5,)).resolvent(0.1) == pytest.approx(3.749, abs=6e-4)
    assert replace(kernel, epsilon=(rho - sigma,)).resolvent(0.1) == pytest.approx(3.271, abs=5e-4)
    assert replace(kernel, ratios=(0.8, 1)).resolvent(0.1) == pytest.approx(4.350, abs=5e-4)


@pytest.mark.parametrize("ratios", [(1.0, 0.8), (2.0, 0.5), (0.4, 3.0)])
@pytest.mark.parametrize("activation", ["erf(x)", "sin(2*x)"])
def test_one_layer_is_the_damped_fixed_point_and_the_quartic(activation: str, ratios: tuple[float, float]) -> None:
    kernel = conjugate_kernel(activation, ratios)
    zeta, c = kernel.rho[0] ** 2, ratios[1]
    found = kernel.stieltjes(POINTS)
    for z, m in zip(POINTS, found, strict=True):
        g = pennington_worah(z / c, 1 / ratios[0], c / ratios[0], zeta + kernel.epsilon[0], zeta)
        assert abs((-g / c + (1 - c) / z) / c - m) <= 1e-12 * abs(m)
        if z.imag > 0:
            assert abs(damped(complex(z), kernel.ratios, kernel.rho, kernel.epsilon) - m) < 1e-11 * abs(m)


def test_two_layers_are_the_damped_fixed_point() -> None:
    kernel = conjugate_kernel("tanh(x)", (1, 0.7, 1.5))
    for z in (0.3 + 0.4j, -0.5 + 0.2j):
        assert abs(damped(z, kernel.ratios, kernel.rho, kernel.epsilon) - kernel.stieltjes(z)) < 1e-10


@pytest.mark.parametrize("ratio", [5.0, 2.0, 1.0, 0.3])
@pytest.mark.parametrize("z", [-1e-30, -1e-16, -1e-12, -1e20, -1e30, 1e-30j, 1e-20 + 1e-20j, 1e9j, 1e30j, -1e29 + 1j])
def test_the_transform_near_a_point_mass_and_far_away_is_the_closed_form(ratio: float, z: complex) -> None:
    exact = marchenko_pastur(ratio).stieltjes(z)
    assert abs(ConjugateKernel((ratio,)).stieltjes(z) - exact) <= 1e-15 * abs(exact)


def test_resolvents_at_small_shifts() -> None:
    # Above a gap: the integral over the law, which is found along the real axis.
    kernel = ConjugateKernel((2.0, 0.7), (0.8,), (0.1,))
    for shift in (1e-5, 1e-6, 1e-30):
        value = averages(kernel.law())(lambda x, shift=shift: 1 / (x + shift)).real
        assert kernel.resolvent(shift) == pytest.approx(value, rel=1e-9)
    # A product of two square matrices: s^2 m^3 + s m = 1 (Fuss, Catalan); point masses of a linear network: 1 - 1/5.
    m = ConjugateKernel((1, 1), (1,), (0,)).resolvent(1e-30)
    assert 1e-60 * m**3 + 1e-30 * m == pytest.approx(1, rel=1e-14)
    assert ConjugateKernel((5, 0.5), (1,), (0,)).resolvent(1e-30) == pytest.approx(0.8e30, rel=1e-14)
    assert ConjugateKernel((5, 0.5), (1,), (0,)).stieltjes(1e-30j) == pytest.approx(0.8e30j, rel=1e-14)
    assert ConjugateKernel((1e30, 1), (1,), (1,)).stieltjes(1j) == pytest.approx(marchenko_pastur(1).stieltjes(1j), rel=1e-14)


@pytest.mark.parametrize("rho", [1e-4, 1e-6, 1e-8, 1e-20, 1e-30])
@pytest.mark.parametrize("ratios", [(1, 1), (5, 0.01), (0.5, 3)])
def test_a_slope_that_is_small_leaves_what_independent_entries_have(ratios: tuple[float, float], rho: float) -> None:
    law, plain = ConjugateKernel(ratios, (rho,), (1,)).law(), marchenko_pastur(ratios[1])
    # Population eigenvalues within rho^2 (1 + sqrt(c))^2 of 1 move eigenvalues by as much, relative.
    x = np.linspace(0.05, 0.95, 19) * (plain.support[1] - plain.support[0]) + plain.support[0]
    assert np.abs(law.cdf(x) - plain.cdf(x)).max() < 1e-13 + 100 * rho**2
    assert np.array(law.support[0]) == pytest.approx(plain.support, rel=1e-13 + 100 * rho**2, abs=1e-13)
    assert ConjugateKernel(ratios, (rho,), (1,)).resolvent(0.1) == pytest.approx(plain.stieltjes(-0.1), rel=1e-15 + 100 * rho**2)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_dense_networks_have_that_resolvent(depth: int) -> None:
    rng, n, draws = np.random.default_rng(depth), 96, 24
    widths = (96, 128, 64, 96)[: depth + 1]
    traces = []
    for _ in range(draws):
        x = rng.standard_normal((96, n)) / 96**0.5
        for width in widths[1:]:
            x = np.sin(2 * rng.standard_normal((width, len(x))) @ x) / width**0.5
        traces.append(np.trace(np.linalg.inv(x.T @ x + 0.5 * np.eye(n))) / n)
    limit = conjugate_kernel("sin(2*x)", tuple(n / width for width in widths)).resolvent("1/2")
    # Bias about 1/n of the value and a standard error of about 1/(n sqrt(24)): five of these are 2%.
    assert np.mean(traces) == pytest.approx(limit, rel=0.02)


LAWS = [
    ("x", (1, 1)),
    ("x", (2, 2, 1)),
    ("x", (1.0001, 1)),
    ("sin(8*x)", (1, 1)),
    ("erf(x)", (2, 0.8)),
    ("erf(x)", (1, 0.8)),
    ("tanh(x)", (2, 3, 0.5)),
    ("sin(x)", (5, 0.05, 0.01)),
    ("x", (2, 1.5)),
    ("x", (4, 0.1)),
]


def averages(law: SpectralLaw) -> Callable[[Callable[[np.ndarray], np.ndarray]], complex]:
    """Return E f(eigenvalue) as a function of f: Gauss's rule on the panels of theta."""
    nodes, weights = np.polynomial.legendre.leggauss(40)

    def average(f: Callable[[np.ndarray], np.ndarray]) -> complex:
        total = law.atom * f(np.zeros(1))[0]
        for part in law.pieces:
            for left, right in pairwise(part.cuts):
                theta = (left + right) / 2 + (right - left) / 2 * nodes
                total += (right - left) / 2 * weights @ (part.weight(theta) * f(part.place(theta)))
        return complex(total)

    return average


@pytest.mark.parametrize(("activation", "ratios"), LAWS)
def test_laws_have_the_mean_and_the_transform_of_their_kernel(activation: str, ratios: tuple[float, ...]) -> None:
    kernel = conjugate_kernel(activation, ratios)
    law = kernel.law()
    probabilities = np.linspace(law.atom + 1e-3, 1 - 1e-3, 41)
    assert np.abs(law.cdf(law.ppf(probabilities)) - probabilities).max() < 1e-13
    average = averages(law)
    for z in (-0.5, 1 + 1j):
        assert abs(average(lambda x, z=z: 1 / (x - z)) - kernel.stieltjes(z)) < 1e-9 * abs(kernel.stieltjes(z))
    mean = 1.0
    for slope, rest in zip(kernel.rho, kernel.epsilon, strict=True):
        mean = slope**2 * mean + rest
    assert average(lambda x: x) == pytest.approx(mean, rel=1e-9)


def test_products_of_square_matrices_have_the_moments_of_fuss_and_catalan() -> None:
    for depth in (1, 2, 5):
        law = ConjugateKernel((1,) * (depth + 1), (1,) * depth, (0,) * depth).law()
        p = depth + 1
        assert law.support == ((0.0, pytest.approx((p + 1) ** (p + 1) / p**p, rel=1e-12)),)
        for k in range(1, 5):
            # Binomial(p k + k, k)/(p k + 1).
            assert averages(law)(lambda x, k=k: x**k).real == pytest.approx(math.comb(p * k + k, k) / (p * k + 1), rel=1e-9)


def test_a_law_of_many_layers_and_one_at_a_large_scale() -> None:
    law = ConjugateKernel((1,) * 13, (1,) * 12, (0.1,) * 12).law()
    assert averages(law)(lambda x: x).real == pytest.approx(2.2, rel=1e-9)
    small, large = ConjugateKernel((1, 0.5), (0.6,), (0.1,)).law(), ConjugateKernel((1, 0.5), (0.6e10,), (0.1e20,)).law()
    assert large.ppf(0.3) == pytest.approx(small.ppf(0.3) * 1e20, rel=1e-12)
    assert np.isnan(small.cdf([math.nan, 1.0])).tolist() == [True, False]
    assert np.isnan(small.pdf(math.nan))
    assert repr(small).startswith("SpectralLaw(atom=0.0, pieces=(Piece(low=")


def test_a_law_at_level_zero_is_marchenko_pastur_and_twice_differentiable_inside() -> None:
    for ratio in (0.3, 1.0, 2.5):
        exact, law = marchenko_pastur(ratio), ConjugateKernel((ratio,)).law()
        x = np.linspace(-0.5, 9, 96)
        assert np.abs(law.cdf(x) - exact.cdf(x)).max() < 1e-13
        assert np.abs(law.pdf(x) - exact.pdf(x)).max() < 1e-9
        assert law.atom == pytest.approx(exact.atom, abs=1e-15)
        assert np.array(law.support[0]) == pytest.approx(exact.support, abs=1e-13)


def test_the_atom_of_a_linear_network_is_that_of_its_narrowest_layer_and_noise_moves_it() -> None:
    assert ConjugateKernel((2, 1.5), (1,), (0,)).law().atom == 0.5
    assert ConjugateKernel((1.5, 2), (1,), (0,)).law().atom == 0.5
    assert ConjugateKernel((2, 1.5), (1,), (0.1,)).law().atom == pytest.approx(1 / 3)
    assert ConjugateKernel((4, 0.5), (1,), (0.1,)).law().atom == 0


def test_a_layer_without_slope_forgets_what_is_below() -> None:
    kernel = conjugate_kernel("x*exp(-x**2/2) - x/sqrt(8)", (3, 0.5))
    assert kernel.rho == (0.0,)
    assert kernel.stieltjes(-0.1) == pytest.approx(marchenko_pastur(0.5, kernel.epsilon[0]).stieltjes(-0.1), rel=1e-14)


# The quartic -----------------------------------------------------------------------------------------------------------------


def test_all_four_roots_solve_the_equation_and_two_have_the_sign_of_a_transform() -> None:
    phi, psi, eta, zeta, z = 1.0, 0.8, 0.46, 0.42, 0.375 + 0.25j
    t = 1 / (z * psi)
    roots = quartic_roots(z, phi, psi, eta, zeta)
    for p in roots:
        a = (1 + (p - 1) * phi) * (1 + (p - 1) * psi)
        assert abs(1 + (eta - zeta) * t * a + t * zeta * a / (1 - t * zeta * a) - p) < 1e-11 * abs(p) ** 2
    right = [root for root in roots if quartic_transform(root, z, psi).imag < 0]
    assert len(right) == 2  # the sign alone does not choose
    assert min(abs(quartic_transform(root, z, psi) - pennington_worah(z, phi, psi, eta, zeta)) for root in right) < 1e-13


def test_without_slope_the_quartic_is_marchenko_pastur() -> None:
    # zeta = 0: M = Y Y^T/m with independent entries of variance eta, ratio n_1/m = phi/psi.
    z, phi, psi, eta = 0.4 + 0.3j, 0.5, 0.8, 0.7
    assert abs(pennington_worah(z, phi, psi, eta, 0) + marchenko_pastur(phi / psi, eta).stieltjes(z)) < 1e-13


@pytest.mark.parametrize("z", [-1e-2, -1e-5, -1e-6, -3e-7, -1e-12, -1e-30, 1e-6j])
@pytest.mark.parametrize("values", [(2, 200, 0.74, 0.64), (1, 0.8, 0.46, 0.42), (3, 0.5, 0.7, 0.1), (0.5, 3, 0.7, 0.7)])
def test_the_quartic_near_zero_solves_its_equation_in_many_digits(z: complex, values: tuple[float, ...]) -> None:
    with mpmath.workdps(400):
        place, phi, psi, eta, zeta = (mpmath.mpmathify(value) for value in (z, *values))

        def equation(g: Any) -> Any:
            p, t = 1 + (place * g - 1) / psi, 1 / (place * psi)
            a = (1 + (p - 1) * phi) * (1 + (p - 1) * psi)
            return (p - 1 - (eta - zeta) * t * a) * (1 - t * zeta * a) - t * zeta * a

        found = mpmath.mpmathify(pennington_worah(z, *values))
        exact = found
        for _ in range(4):
            h = abs(exact) * mpmath.mpf(10) ** -150
            exact -= 2 * h * equation(exact) / (equation(exact + h) - equation(exact - h))
        assert abs(found - exact) < 1e-14 * abs(exact)


def test_the_quartic_at_zero_and_far_away() -> None:
    # The limit -1.3701 as z -> 0, and the resolvent of K_1 as in one of the theorems.
    assert pennington_worah(-1e-30, 2, 200, 0.74, 0.64).real == pytest.approx(-1.37012255943, rel=1e-10)
    for z in (-1e-3, -1e-5):
        m = ConjugateKernel((2.0, 0.7), (0.8,), (0.1,)).stieltjes(z)
        g = pennington_worah(z / 0.7, 0.5, 0.35, 0.74, 0.64)
        assert ((-g / 0.7 + 0.3 / z) / 0.7).real == pytest.approx(m, rel=1e-9)
    assert pennington_worah(-1e30, 1, 1, 0.5, 0.4) == pytest.approx(-1e-30, rel=1e-15)


# Errors ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: marchenko_pastur(0), "ratio must be a number > 0, got 0"),
        (lambda: marchenko_pastur(1, -2), "scale must be a number > 0"),
        (lambda: marchenko_pastur(1).stieltjes(2.0), r"z must be off \[0, 4\]"),
        (lambda: marchenko_pastur(1).ppf(1.5), "probability must lie between 0 and 1, got 1.5"),
        (lambda: ConjugateKernel((1, 1), (0.5,), (-0.1,)), r"epsilon\[0\] must be a number >= 0"),
        (lambda: ConjugateKernel((1, -1), (0.5,), (0.1,)), r"ratios\[1\] must be a number > 0"),
        (lambda: ConjugateKernel((1, 1), (), (0.1,)), "rho must hold 1 numbers"),
        (lambda: ConjugateKernel((1, 1), (0.0,), (0.0,)), "layer 1 are both 0"),
        (lambda: ConjugateKernel("11", (1,), (1,)), "ratios must be a tuple"),
        (lambda: conjugate_kernel("relu(x)", (1, 1)), "activation must have mean 0 at the variance 1"),
        (lambda: conjugate_kernel("tanh(x)", 3), "ratios must be a tuple"),
        (lambda: ConjugateKernel((1,)).stieltjes(0.5), r"z must not lie on \[0, oo\)"),
        (lambda: ConjugateKernel((1,)).law().ppf(-1), "probability must lie between 0 and 1"),
        (lambda: ConjugateKernel((1,)).resolvent(0), "shift must be a number > 0"),
        (lambda: pennington_worah(1.0, 1, 1, 1, 0.5), r"z must not lie on \[0, oo\)"),
        (lambda: pennington_worah("a", 1, 1, 1, 0.5), "z must be one complex number"),
        (lambda: quartic_roots(1j, 1, 1, 0.5, 0.6), "zeta .* must be at most eta"),
        (lambda: quartic_roots(1e-305, 1, 1, 0.5, 0.4), "z must lie between 1e-30 and"),
        (lambda: marchenko_pastur(1).cdf(1j), "x must hold real numbers, got 1j"),
        (lambda: marchenko_pastur(1).pdf(None), "x must hold real numbers, got None"),
        (lambda: marchenko_pastur(1).stieltjes("a"), "z must hold complex numbers, got 'a'"),
        (lambda: ConjugateKernel((1,)).law().cdf("1"), "x must hold real numbers, got '1'"),
        (lambda: quartic_transform(1, 0, 1), "z must not be 0"),
        (lambda: pennington_worah(-5e-324, 1, 1, 1, 0.5), "z must lie between 1e-30 and"),
        (lambda: marchenko_pastur(1e200), "ratio must lie between 1e-30 and 1e.30, got 1e.200"),
        (lambda: marchenko_pastur(1).resolvent_variance(1e-300), "shift must lie between 1e-30 and 1e.30, got 1e-300"),
        (lambda: ConjugateKernel((1, 1), (1e20,), (1,)), "the mean eigenvalue that rho and epsilon give layer 1 must lie between"),
        (lambda: ConjugateKernel((1, 1), (1e-20,), (0,)), "the mean eigenvalue that rho and epsilon give layer 1 must lie"),
        (lambda: ConjugateKernel((1e30,) * 6, (1,) * 5, (0,) * 5), "ratios must have a product of"),
        (lambda: ConjugateKernel((2,)).stieltjes(-5e-324), "z must lie between 1e-30 and 1e.30 in size, got .-?5e-324"),
    ],
)
def test_bad_arguments_are_named(build: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        build()  # type: ignore[operator]


def test_what_is_not_reached_is_an_error_that_says_where() -> None:
    # Between the two intervals of this spectrum there is no density: no solution with a positive imaginary part exists there.
    chain = Chain((4.0, 0.1), (0.42,), (0.04,))
    with pytest.raises(NotConverged, match=r"layer 1 was followed to z = .* and not on to 0.2"):
        continued(chain, np.array([0.2]))
    with pytest.raises(NotConverged, match=r"the law could not be told from rounding: .* take ratios and constants less extreme"):
        ConjugateKernel((1e-20,)).law()


def test_the_closed_distribution_function_to_many_digits() -> None:
    # int_0^1 of the density at c = 1, sqrt((4 - x)/x)/(2 pi): sqrt(3)/(2 pi) + 1/3.
    with mpmath.workdps(30):
        exact = mpmath.quad(lambda t: mpmath.sqrt(4 - t**2) / mpmath.pi, [0, 1])
    assert marchenko_pastur(1).cdf(1.0) == pytest.approx(float(exact), rel=1e-15)
