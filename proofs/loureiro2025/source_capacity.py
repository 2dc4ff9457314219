"""Source and capacity conditions: the exponents of the excess risk (Loureiro 2025).

Setting.   eta_k = k^(-alpha), f*_k = k^(-alpha r - 1/2) in the eigenbasis, k = 1, 2, ...; lambda = n^(-l) in the objective
           (1/n) sum (y - f)^2 + lambda |f|_H^2; noise of variance s^2; random features: p = n^q.
Claim.     E |f - f*|^2 ~ n^(-gamma).  Kernel: without noise gamma = 2 min(l, alpha) min(r, 1); with noise the smaller of that and
           1 - l/alpha for l < alpha, and a plateau for l > alpha.  The best l is alpha/(1 + 2 alpha min(r, 1)).
           Features: with m = min(l/alpha, q, 1) the bias has min{2 alpha m min(r, 1), (2 alpha min(r, 1/2) - 1) m + q}, the
           variance 1 - m.
Shown on the deterministic equivalents at n = 2^20 .. 2^40, where local slopes are the exponents to 0.01, and on drawn designs at
moderate n.  Cases stay away from l = l* and l = alpha, where two terms cross and slopes are reached slowly, and from r = 1 (for
features also r = 1/2), where the sum over k is a logarithm.
"""

from fractions import Fraction

from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.theory.ridge import (
    bias_exponent,
    drawn_ridge_risk,
    feature_exponents,
    features_risk,
    optimal_ridge_exponent,
    optimal_ridge_risk,
    optimal_ridge_size,
    ridge_risk,
    risk_exponent,
    variance_exponent,
)

from . import CUI2021, DEFILIPPIS2024, LOUREIRO2025

WITHIN = 0.01


def large(*exponents, **sizes):
    return tc.ScalingPath(n=tuple(2**e for e in exponents or (20, 24, 28, 32, 36, 40)), **sizes)


# Kernel ridge regression: four regimes ----------------------------------------------------------------------------------------


@tc.theorem("loureiro2025/noiseless-regularised", CUI2021)
@tc.for_all(case=sampled_from([("3/2", "1/3", "1/2"), ("2", "1/2", "1"), ("3", "1/4", "3/2"), ("5/4", "3/4", "1/2")]))
def noiseless_regularised(case):
    """gamma = 2 l r for s = 0, l < alpha, r < 1"""
    alpha, r, ell = map(Fraction, case)
    rivals = [-ell * r, -2 * alpha * r, -2 * ell]
    return tc.Scaling(ridge_risk(alpha, r, ell), large(), exponent=-bias_exponent(alpha, r, ell), rivals=rivals, within=WITHIN)


@tc.theorem("loureiro2025/noiseless-unregularised", CUI2021)
@tc.for_all(case=sampled_from([("3/2", "1/3", "3"), ("2", "1/2", "4"), ("3", "1/4", "5"), ("5/4", "3/4", "2")]))
def noiseless_unregularised(case):
    """gamma = 2 alpha r for s = 0, l > alpha, r < 1"""
    alpha, r, ell = map(Fraction, case)
    rivals = [-alpha * r, -2 * ell * r, -2 * alpha]
    return tc.Scaling(ridge_risk(alpha, r, ell), large(), exponent=-bias_exponent(alpha, r, ell), rivals=rivals, within=WITHIN)


@tc.theorem("loureiro2025/saturation", CUI2021)
@tc.for_all(case=sampled_from([("3/2", "3/2", "1/2"), ("2", "2", "1"), ("3/2", "2", "3"), ("5/4", "3", "2")]))
def saturation(case):
    """gamma = 2 min(l, alpha) for s = 0 and r > 1: a smoother target is not learnt faster"""
    alpha, r, ell = map(Fraction, case)
    rivals = [-2 * min(ell, alpha) * r, -min(ell, alpha)]
    return tc.Scaling(ridge_risk(alpha, r, ell), large(), exponent=-bias_exponent(alpha, r, ell), rivals=rivals, within=WITHIN)


@tc.theorem("loureiro2025/noisy-regularised", CUI2021)
@tc.for_all(case=sampled_from([("3/2", "1/2", "1"), ("2", "2", "3/2"), ("3", "1/2", "2"), ("3/2", "3/2", "3/4")]))
def noisy_regularised(case):
    """gamma = 1 - l/alpha for s = 1, l* < l < alpha: the noise of the labels is fitted"""
    alpha, r, ell = map(Fraction, case)
    rivals = [-bias_exponent(alpha, r, ell), 0, -1]
    exponent = -risk_exponent(alpha, r, ell, noisy=True)
    return tc.Scaling(ridge_risk(alpha, r, ell, 1.0), large(), exponent=exponent, rivals=rivals, within=WITHIN)


@tc.theorem("loureiro2025/noisy-overregularised", CUI2021)
@tc.for_all(case=sampled_from([("3/2", "1/2", "2/5"), ("2", "1/4", "1/2"), ("3", "1/2", "1/2"), ("5/2", "1/4", "3/4")]))
def noisy_overregularised(case):
    """gamma = 2 l min(r, 1) for s = 1, l < l*: the noise is not seen"""
    alpha, r, ell = map(Fraction, case)
    rivals = [-variance_exponent(alpha, ell), -ell * min(r, 1)]
    exponent = -risk_exponent(alpha, r, ell, noisy=True)
    return tc.Scaling(ridge_risk(alpha, r, ell, 1.0), large(), exponent=exponent, rivals=rivals, within=WITHIN)


@tc.theorem("loureiro2025/noisy-plateau", CUI2021)
@tc.for_all(alpha=sampled_from(["3/2", "2", "5/2", "3"]))
def noisy_plateau(alpha):
    """excess risk -> s^2 (alpha - 1) for l > alpha: sum eta/(eta + kappa) = n and gamma = 1 - 1/alpha, by the integral over k"""
    value = Fraction(alpha) - 1
    quantity = ridge_risk(alpha, "1/2", 2 * Fraction(alpha), 1.0)
    return tc.Limit(quantity, large(), value=value, tolerance=value / 1000, rivals=[0, value + 1, 1 / Fraction(alpha)])


# The best ridge ---------------------------------------------------------------------------------------------------------------

optima = sampled_from([("3/2", "1/2"), ("2", "1/4"), ("3", "3/4"), ("2", "2")])


@tc.theorem("loureiro2025/optimal-risk", CUI2021)
@tc.for_all(case=optima)
def optimal_risk(case):
    """gamma = 2 alpha min(r, 1)/(1 + 2 alpha min(r, 1)) at the best lambda (Caponnetto, De Vito)"""
    alpha, r = map(Fraction, case)
    power = 2 * alpha * min(r, 1)
    rivals = [-power, -alpha * min(r, 1) / (1 + alpha * min(r, 1)), -1]
    quantity = optimal_ridge_risk(alpha, r)
    return tc.Scaling(quantity, large(24, 29, 34, 40), exponent=-power / (1 + power), rivals=rivals, within=WITHIN)


@tc.theorem("loureiro2025/optimal-ridge", CUI2021)
@tc.for_all(case=optima)
def optimal_ridge(case):
    """the best lambda ~ n^(-l*), l* = alpha/(1 + 2 alpha min(r, 1))"""
    alpha, r = map(Fraction, case)
    rivals = [-alpha / (1 + alpha * min(r, 1)), -alpha, -1 / (1 + 2 * alpha * min(r, 1))]
    quantity = optimal_ridge_size(alpha, r)
    return tc.Scaling(quantity, large(24, 29, 34, 40), exponent=-optimal_ridge_exponent(alpha, r), rivals=rivals, within=WITHIN)


# Random features: p = n^q -----------------------------------------------------------------------------------------------------

few_features = [
    ("3/2", "1/4", "3", "1/2"),
    ("5/2", "3/4", "3", "1/2"),
    ("3/2", "3/4", "3", "5/4"),
    ("2", "3/2", "1", "3/4"),
    ("2", "1/4", "3", "3/2"),
    ("2", "3/2", "3", "3/2"),
]


@tc.theorem("loureiro2025/features-bias", DEFILIPPIS2024)
@tc.for_all(case=sampled_from(few_features))
def features_bias(case):
    """gamma of the bias = min{2 alpha m min(r, 1), (2 alpha min(r, 1/2) - 1) m + q},  m = min(l/alpha, q, 1),  p = n^q"""
    alpha, r, ell, q = map(Fraction, case)
    exponent = -feature_exponents(alpha, r, ell, q)[0]
    rivals = [rival for rival in (exponent / 2, exponent - Fraction(1, 4)) if rival != exponent]
    quantity = features_risk(alpha, r, ell, part="bias")
    return tc.Scaling(quantity, large(p=f"n**({q})"), exponent=exponent, rivals=rivals, within=WITHIN)


@tc.theorem("loureiro2025/features-variance", DEFILIPPIS2024)
@tc.for_all(case=sampled_from(few_features[:4]))
def features_variance(case):
    """gamma of the variance = 1 - min(l/alpha, q, 1),  p = n^q"""
    alpha, r, ell, q = map(Fraction, case)
    exponent = -feature_exponents(alpha, r, ell, q)[1]
    quantity = features_risk(alpha, r, ell, 1.0, part="variance")
    return tc.Scaling(
        quantity,
        large(p=f"n**({q})"),
        exponent=exponent,
        rivals=[exponent - Fraction(1, 8), exponent + Fraction(1, 8)],
        within=WITHIN,
    )


# Drawn designs ----------------------------------------------------------------------------------------------------------------


@tc.theorem("loureiro2025/noiseless-drawn", LOUREIRO2025)
def noiseless_drawn():
    """gamma = 2 alpha r on Gaussian designs: alpha = 3/2, r = 1/2, l = 3, s = 0, the first 4 n eigenvalues; 1/n is next"""
    along = tc.ScalingPath(n=(16, 32, 64, 128), modes="4*n")
    return tc.Scaling(drawn_ridge_risk("3/2", "1/2", 3), along, exponent="-3/2", rivals=["-3/4", -1, -3], correction=1)


@tc.theorem("loureiro2025/noisy-drawn", LOUREIRO2025)
def noisy_drawn():
    """gamma = 1 - l/alpha on Gaussian designs: alpha = 2, r = 2, l = 1, s = 5, the first 4 n eigenvalues"""
    along = tc.ScalingPath(n=(16, 32, 64, 128), modes="4*n")
    return tc.Scaling(drawn_ridge_risk(2, 2, 1, 25.0), along, exponent="-1/2", rivals=[-1, 0, -2])
