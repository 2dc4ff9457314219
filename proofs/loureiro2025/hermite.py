"""The Hermite expansion of a feature, and what one gradient step on the sphere sees of a target (Loureiro 2025).

Setting.   x ~ N(0, I_d), unit vectors w, w' with m = <w, w'>; h_k are the normalised Hermite polynomials, c_k = E phi(Z) h_k(Z),
           phi(<w, x>) = sum_k c_k h_k(<w, x>).
Claim.     E_x h_k(<w, x>) h_k(<w', x>) = m^k, which is of size d^(-k/2) for independent w and w'.
           With z* = <w*, x>, z = <w, x> of correlation m and phi(m) = E g(z*) s(z) = sum_k g_k s_k m^k:
           E g'(z*) s'(z) = phi'(m), and the gradient along the sphere is E g(z*) s'(z) (z* - m z) = (1 - m^2) phi'(m) =
           l g_l s_l m^(l-1) + ...,  l = min{k >= 1: g_k s_k != 0}, the information exponent.
Words changed.
           The slides write O(d^(-k/2)) under the terms of the expansion itself: an entry of the k-th term has mean square c_k^2.
           They drop the part m E g(z*) s''(z) of the Euclidean gradient; it is the spherical gradient that has the form they give,
           up to the factor 1 - m^2.  Their series for E g'(z*) s'(z) is that of phi, not that of phi'.  Their l starts at k = 0.
"""

from fractions import Fraction

import sympy
from hypothesis import assume
from hypothesis.strategies import integers, sampled_from

import theoryck as tc
from theoryck.numerics.functions import x
from theoryck.quantities import gaussian_mean
from theoryck.theory.hermite import (
    correlation_derivative,
    feature_noise,
    gradient_at_start,
    gradient_series,
    hermite_coefficient,
    hermite_overlap,
    hermite_polynomial,
    hermite_rms,
    pair_mean,
    spherical_gradient,
)

from . import LOUREIRO2025

correlations = sampled_from([Fraction(1, 4), Fraction(1, 2), Fraction(-3, 5)])
targets = sampled_from(["x", "x**2", "x**3 - 3*x", "1 + x + x**3"])
features = sampled_from(["erf(x + 1/2)", "sin(x + 1)", "exp(x/2)"])


@tc.theorem("loureiro2025/hermite-correlation", LOUREIRO2025)
@tc.for_all(k=integers(1, 6), m=correlations)
def hermite_correlation(k, m):
    """E_x h_k(<w, x>) h_k(<w', x>) = m^k"""
    h = hermite_polynomial(k)
    return tc.Identity(pair_mean([(h, h)], m), m**k, rivals=[m ** (k + 1), m**k * (k + 1)])


@tc.theorem("loureiro2025/hermite-degrees-apart", LOUREIRO2025)
@tc.for_all(j=integers(1, 4), k=integers(1, 4), m=correlations)
def degrees_do_not_mix(j, k, m):
    """E_x h_j(<w, x>) h_k(<w', x>) = 0 for j != k"""
    assume(j != k)
    lhs = pair_mean([(hermite_polynomial(j), hermite_polynomial(k))], m)
    return tc.Identity(lhs, 0, rivals=[m ** max(j, k)])


@tc.theorem("loureiro2025/hermite-overlap", LOUREIRO2025)
@tc.for_all(k=integers(1, 5))
def correlation_of_random_directions(k):
    """E_{w, w'} |E_x h_k(<w, x>) h_k(<w', x>)| = O(d^(-k/2))

    E |m|^k = Gamma(d/2) Gamma((k + 1)/2)/(sqrt(pi) Gamma((d + k)/2)) = C d^(-k/2) (1 - k (k - 2)/(4 d) + ...).
    """
    return tc.Bound(
        hermite_overlap(k),
        rate="d**(-k/2)",
        along=tc.ScalingPath(d=tc.doubling(16, 256)),
        rivals=["d**(-(k+1)/2)"],
        correction=1,
        amplitude=max(2, k * k / 4) / 16,
    )


@tc.theorem("loureiro2025/hermite-rms", LOUREIRO2025)
@tc.for_all(k=integers(1, 6))
def root_mean_square(k):
    """sqrt(E m^(2k)) ~ sqrt((2k - 1)!!) d^(-k/2), from E m^(2k) = prod_{j<k} (2j + 1)/(d + 2j)"""
    constant = float(sympy.sqrt(sympy.factorial2(2 * k - 1)))
    along = tc.ScalingPath(d=tc.doubling(256, 65536))
    rivals = ["-(k+1)/2", *(["-k"] if k > 1 else [])]  # at k = 1 they are one
    return tc.Scaling(
        hermite_rms(k), along, exponent="-k/2", constant=constant, rivals=rivals, correction=1, amplitude=max(2, k * k / 2) / 256
    )


@tc.theorem("loureiro2025/hermite-parseval", LOUREIRO2025)
@tc.for_all(phi=sampled_from(["x**3 - 3*x + 1", "x**2 + x", "x**4"]))
def parseval(phi):
    """mu_*^2 = E phi^2 - mu_0^2 - mu_1^2 = sum_{k >= 2} c_k^2, a finite sum for a polynomial"""
    tail = sum((hermite_coefficient(phi, k) ** 2 for k in range(2, 5)), start=hermite_coefficient(phi, 5))
    return tc.Identity(feature_noise(phi), tail, rivals=[gaussian_mean(tc.Activation(phi).expression ** 2)])


@tc.theorem("loureiro2025/spherical-gradient", LOUREIRO2025)
@tc.for_all(g=targets, s=features, m=correlations)
def gradient_on_the_sphere(g, s, m):
    """E g(z*) s'(z) (z* - m z) = (1 - m^2) sum_{k>=1} k g_k s_k m^(k-1)"""
    return tc.Identity(spherical_gradient(g, s, m), gradient_series(g, s, m), rivals=[correlation_derivative(g, s, m)])


@tc.theorem("loureiro2025/stein-pair", LOUREIRO2025)
@tc.for_all(g=targets, s=features, m=correlations)
def derivative_of_the_correlation(g, s, m):
    """E g'(z*) s'(z) = phi'(m) = sum_{k>=1} k g_k s_k m^(k-1)"""
    slopes = pair_mean([derivatives(g, s)], m)
    return tc.Identity(slopes, correlation_derivative(g, s, m), rivals=[gradient_series(g, s, m)])


@tc.theorem("loureiro2025/euclidean-gradient", LOUREIRO2025)
@tc.for_all(g=targets, s=features, m=correlations)
def euclidean_gradient(g, s, m):
    """E g(z*) s'(z) z* = E g'(z*) s'(z) + m E g(z*) s''(z): Stein's identity, with the part that the slides drop"""
    target, feature = tc.Activation(g).expression, tc.Activation(s).expression
    lhs = pair_mean([(x * target, sympy.diff(feature, x))], m)
    curvature = pair_mean([(target, sympy.diff(feature, x, 2))], m).sum_of_coefficients()
    slopes = pair_mean([derivatives(g, s)], m).sum_of_coefficients()
    return tc.Identity(lhs, slopes + m * curvature, rivals=[slopes])


@tc.theorem("loureiro2025/information-exponent", LOUREIRO2025)
@tc.for_all(l=integers(1, 4), constant=sampled_from([0, 1]))
def information_exponent(l, constant):  # noqa: E741 - the letter of the source
    """The spherical gradient at m = d^(-1/2) ~ m^(l-1), l = min{k >= 1: g_k != 0}, for g = h_l + constant and s = exp(z/2)"""
    along = tc.ScalingPath(d=tuple(4**j for j in range(4, 9)))
    quantity = gradient_at_start(hermite_polynomial(l) + constant, "exp(x/2)")
    return tc.Scaling(quantity, along, exponent="-(l-1)/2", rivals=["-l/2", "-(l-2)/2"], correction=1)


def derivatives(g, s):
    return tuple(sympy.diff(tc.Activation(text).expression, x) for text in (g, s))
