"""Falsified twins (Loureiro 2025) of kernel_ridge, staircase, source_capacity: a factor or an hypothesis changed.  Each REFUTED."""

import math
from fractions import Fraction

from hypothesis.strategies import integers, sampled_from

import theoryck as tc
from theoryck.theory.ridge import (
    EXPONENTIAL,
    bias_exponent,
    drawn_ridge_risk,
    drawn_sphere_risk,
    features_risk,
    optimal_ridge_risk,
    ridge_risk,
    sphere_features_risk,
    sphere_risk,
    threshold_limit,
)

from . import CUI2021, DEFILIPPIS2024, LOUREIRO2025, MEI2022
from .kernel_ridge import gradient_squared
from .source_capacity import WITHIN, large
from .staircase import POWERS, degree, dimensions

# Kernel ridge ----------------------------------------------------------------------------------------------------------------


@tc.falsehood("loureiro2025/minimiser-literal", LOUREIRO2025)
@tc.for_all(n=integers(2, 6), p=integers(1, 4), half=sampled_from([1, 2]))
def minimiser_as_printed(n, p, half):
    """(Phi^T Phi + lambda)^(-1) Phi^T y minimises (1/(half n)) sum (y - Phi a)^2 + lambda |a|^2, half = 1 or 2, as printed"""
    return tc.Identity(gradient_squared(n, p, 1, half * n), 0)


@tc.falsehood("loureiro2025/minimiser-other-slide", LOUREIRO2025)
@tc.for_all(n=integers(2, 6), p=integers(1, 4), half=sampled_from([1, 2]))
def minimiser_of_the_other_slide(n, p, half):
    """the minimisers of (1/2n) sum + lambda |a|^2 and of (1/n) sum + lambda |a|^2 are one: n lambda and 2 n lambda mixed up"""
    return tc.Identity(gradient_squared(n, p, (3 - half) * n, half * n), 0)


# Source and capacity ---------------------------------------------------------------------------------------------------------


@tc.falsehood("loureiro2025/rate-without-two", CUI2021)
@tc.for_all(case=sampled_from([("3/2", "1/3", "3"), ("2", "1/2", "4"), ("3", "1/4", "5")]))
def rate_without_two(case):
    """gamma = alpha r for s = 0, l > alpha: the factor 2 missing"""
    alpha, r, ell = map(Fraction, case)
    return tc.Scaling(ridge_risk(alpha, r, ell), large(), exponent=-alpha * r, within=WITHIN)


@tc.falsehood("loureiro2025/rate-without-two-drawn", CUI2021)
def rate_without_two_drawn():
    """gamma = alpha r on Gaussian designs, alpha = 3/2, r = 1/2, l = 3, s = 0"""
    along = tc.ScalingPath(n=(16, 32, 64, 128), modes="4*n")
    return tc.Scaling(drawn_ridge_risk("3/2", "1/2", 3), along, exponent="-3/4")


@tc.falsehood("loureiro2025/no-saturation", CUI2021)
@tc.for_all(case=sampled_from([("3/2", "3/2", "1/2"), ("2", "2", "1"), ("5/4", "3", "2")]))
def no_saturation(case):
    """gamma = 2 min(l, alpha) r also for r > 1"""
    alpha, r, ell = map(Fraction, case)
    return tc.Scaling(ridge_risk(alpha, r, ell), large(), exponent=-2 * min(ell, alpha) * r, within=WITHIN)


@tc.falsehood("loureiro2025/no-plateau", CUI2021)
@tc.for_all(case=sampled_from([("3/2", "1/2"), ("2", "1/4"), ("3", "2")]))
def no_plateau(case):
    """gamma = 2 alpha min(r, 1) for l > alpha with noise s = 1, as without noise"""
    alpha, r = map(Fraction, case)
    exponent = -bias_exponent(alpha, r, 2 * alpha)
    return tc.Scaling(ridge_risk(alpha, r, 2 * alpha, 1.0), large(), exponent=exponent, within=WITHIN)


@tc.falsehood("loureiro2025/optimum-without-two", CUI2021)
@tc.for_all(case=sampled_from([("3/2", "1/2"), ("2", "1/4")]))
def optimum_without_two(case):
    """gamma = alpha r/(1 + alpha r) at the best lambda"""
    alpha, r = map(Fraction, case)
    exponent = -alpha * r / (1 + alpha * r)
    return tc.Scaling(optimal_ridge_risk(alpha, r), large(24, 29, 34, 40), exponent=exponent, within=WITHIN)


@tc.falsehood("loureiro2025/features-ignored", DEFILIPPIS2024)
@tc.for_all(case=sampled_from([("3/2", "1/4", "3", "1/2"), ("5/2", "3/4", "3", "1/2"), ("3/2", "3/4", "3", "5/4")]))
def number_of_features_ignored(case):
    """the bias of p = n^q features decays like that of the kernel, q ignored"""
    alpha, r, ell, q = map(Fraction, case)
    quantity = features_risk(alpha, r, ell, part="bias")
    return tc.Scaling(quantity, large(p=f"n**({q})"), exponent=-bias_exponent(alpha, r, ell), within=WITHIN)


@tc.falsehood("loureiro2025/features-fit-all-noise", DEFILIPPIS2024)
@tc.for_all(q=sampled_from(["1/4", "1/2", "3/4"]))
def features_fit_all_noise(q):
    """a plateau of the variance for l > alpha also with p = n^q features, q < 1"""
    quantity = features_risk("3/2", "1/2", 3, 1.0, part="variance")
    return tc.Scaling(quantity, large(p=f"n**({q})"), exponent=0, within=WITHIN)


# Staircase -------------------------------------------------------------------------------------------------------------------


@tc.falsehood("loureiro2025/one-degree-more", MEI2022)
@tc.for_all(kappa=sampled_from(["3/2", "5/2"]))
def one_degree_more(kappa):
    """n = d^kappa learns degree floor(kappa) + 1"""
    left = sum(POWERS[math.floor(Fraction(kappa)) + 2 :])
    along = dimensions(12, 14, 16, 18, 20, n=f"d**({kappa})")
    return tc.Limit(sphere_risk(EXPONENTIAL, POWERS), along, value=left, tolerance=0.01)


@tc.falsehood("loureiro2025/threshold-without-factorial", MEI2022)
@tc.for_all(k=sampled_from([2, 3]))
def threshold_without_factorial(k):
    """n = d^k is n = B(d, k): what is left of degree k there"""
    value = threshold_limit(EXPONENTIAL, k, 1.0).residual
    along = dimensions(8, 10, 12, 14, 16, n=f"d**{k}")
    return tc.Limit(sphere_risk(EXPONENTIAL, degree(k)), along, value=value, tolerance=1e-3)


@tc.falsehood("loureiro2025/larger-decides", MEI2022)
@tc.for_all(powers=sampled_from([("5/2", "3/2"), ("3/2", "5/2")]))
def larger_decides(powers):
    """the larger of n and p sets the degree that random features learn"""
    n, p = powers
    left = sum(POWERS[math.floor(max(map(Fraction, powers))) + 1 :])
    along = dimensions(8, 10, 12, 14, 16, n=f"d**({n})", p=f"d**({p})")
    return tc.Limit(sphere_features_risk(EXPONENTIAL, POWERS, ridge=1e-15), along, value=left, tolerance=0.02)


@tc.falsehood("loureiro2025/adaptivity", LOUREIRO2025)
def adaptivity():
    """kernels learn He_2(z_1) with n = 5 d, as it has one direction: excess risk -> 0, drawn"""
    along = tc.ScalingPath(d=(8, 12, 16, 24, 32), n="5*d")
    return tc.Limit(drawn_sphere_risk(EXPONENTIAL, degree(2), ridge=0.0), along, value=0, tolerance=0.1, correction=1, amplitude=2)
