"""The slides' statements (Loureiro 2025) as literally printed, and falsified twins of the true ones.  Each must be REFUTED."""

from fractions import Fraction

import sympy
from hypothesis.strategies import integers, sampled_from

import theoryck as tc
from theoryck.numerics.functions import x
from theoryck.quantities import gaussian_mean
from theoryck.theory.equivalence import (
    GaussianFeatures,
    RandomFeatures,
    feature_covariance_gap,
    gaussian_equivalent,
    ridge_gap,
    sign_readout_gain,
)
from theoryck.theory.hermite import (
    correlation_series,
    feature_slope,
    gradient_at_start,
    hermite_entry,
    hermite_polynomial,
    pair_mean,
)
from theoryck.theory.regressogram import regressogram_precision

from . import LOUREIRO2025

correlations = sampled_from([Fraction(1, 4), Fraction(1, 2), Fraction(-3, 5)])
targets = sampled_from(["x", "x**2", "x**3 - 3*x", "1 + x + x**3"])
features = sampled_from(["erf(x + 1/2)", "sin(x + 1)", "exp(x/2)"])
odd = sampled_from([tc.activations.erf, tc.activations.tanh])


# The minimax rate ------------------------------------------------------------------------------------------------------------


@tc.falsehood("loureiro2025/minimax-literal", LOUREIRO2025)
@tc.for_all(alpha=sampled_from([Fraction(1), Fraction(1, 2)]))
def minimax_literal(alpha):
    """inf sup E (f^ - f)^2 >= C n^(-alpha/(2 alpha + 1)), as printed

    Then 1/B = O(n^(alpha/(2 alpha + 1))) for every bound B of the regressogram's risk on F_alpha, and it grows faster.
    """
    step = 2 * alpha + 1
    along = tc.ScalingPath(n=tuple(2 ** int(step * j) for j in range(3, 7)), bins=f"n**({1 / step})")
    return tc.Bound(regressogram_precision(alpha), rate="n**(alpha/(2*alpha + 1))", along=along)


# The Hermite expansion and the gradient --------------------------------------------------------------------------------------


@tc.falsehood("loureiro2025/hermite-entries", LOUREIRO2025)
@tc.for_all(k=integers(1, 3))
def entries_of_the_expansion(k):
    """The k-th term of Phi is O(d^(-k/2)): the mean square of its entries is 1, at any d"""
    return tc.Bound(hermite_entry(k), rate="d**(-k)", along=tc.ScalingPath(d=tc.doubling(8, 128)))


@tc.falsehood("loureiro2025/gradient-without-curvature", LOUREIRO2025)
@tc.for_all(g=targets, s=features, m=correlations)
def gradient_without_curvature(g, s, m):
    """E g(z*) s'(z) z* = E g'(z*) s'(z), as printed: m E g(z*) s''(z) is missing"""
    target, feature = expressions(g, s)
    slope = sympy.diff(feature, x)
    return tc.Identity(pair_mean([(x * target, slope)], m), pair_mean([(sympy.diff(target, x), slope)], m).sum_of_coefficients())


@tc.falsehood("loureiro2025/gradient-literal-series", LOUREIRO2025)
@tc.for_all(g=targets, s=features, m=correlations)
def gradient_literal_series(g, s, m):
    """E g'(z*) s'(z) = sum_{k>=1} s_k g_k m^k, as printed: that is phi(m) - s_0 g_0, not phi'(m)"""
    target, feature = expressions(g, s)
    slopes = pair_mean([(sympy.diff(target, x), sympy.diff(feature, x))], m)
    return tc.Identity(slopes, correlation_series(g, s, m, least=1))


@tc.falsehood("loureiro2025/information-exponent-zero", LOUREIRO2025)
@tc.for_all(k=integers(2, 4))
def information_exponent_from_zero(k):
    """l = min{k: g_k != 0} with k = 0, as printed: l = 0 for g = 1 + h_k, and at m = d^(-1/2) the gradient grows as m^(-1)"""
    along = tc.ScalingPath(d=tuple(4**j for j in range(4, 8)))
    return tc.Scaling(gradient_at_start(1 + hermite_polynomial(k), "exp(x/2)"), along, exponent="1/2", correction=1)


# The lower bound -------------------------------------------------------------------------------------------------------------


@tc.falsehood("loureiro2025/lower-bound-literal", LOUREIRO2025)
@tc.for_all(phi=odd)
def lower_bound_literal(phi):
    """E (f* - f)^2 >= Var f* - o(1) for any |a|_inf = Theta(1) with nothing learnt, p = d and f = p^(-1/2) sum_j a_j phi(<w_j, x>)

    a_j = 0.7 sign(<w_j, theta>) fits more than a third of a linear target: its risk tends to 0.63 for erf.
    """
    gain = sign_readout_gain(RandomFeatures(phi), scale=0.7)
    along = tc.ScalingPath(d=tc.doubling(16, 256))
    return tc.Bound(gain, rate="d**(-1/2)", along=along, correction=1)


# The Gaussian equivalent -----------------------------------------------------------------------------------------------------


def ridge(phi, gaussian, **options):
    return tc.Bound(
        ridge_gap(RandomFeatures(phi, **options.pop("features", {})), gaussian=gaussian, **options),
        rate="1/d",
        along=tc.ScalingPath(d=(4, 8, 16, 32)),
        correction=1,
    )


@tc.falsehood("loureiro2025/equivalence-without-noise", LOUREIRO2025)
@tc.for_all(phi=odd)
def equivalence_without_noise(phi):
    """R(a) - R(a^G) = O(1/d) with mu_* = 0"""
    equivalent = gaussian_equivalent(phi)
    return ridge(phi, GaussianFeatures(equivalent.mean, equivalent.slope, 0.0))


@tc.falsehood("loureiro2025/equivalence-noise-twice", LOUREIRO2025)
@tc.for_all(phi=odd)
def equivalence_noise_counted_twice(phi):
    """R(a) - R(a^G) = O(1/d) with mu_*^2 = E phi(Z)^2"""
    equivalent = gaussian_equivalent(phi)
    return ridge(phi, GaussianFeatures(equivalent.mean, equivalent.slope, second_moment(phi)))


@tc.falsehood("loureiro2025/equivalence-wrong-slope", LOUREIRO2025)
@tc.for_all(phi=odd)
def equivalence_with_wrong_slope(phi):
    """R(a) - R(a^G) = O(1/d) with mu_1 = E phi(Z)^2"""
    equivalent = gaussian_equivalent(phi)
    return ridge(phi, GaussianFeatures(equivalent.mean, second_moment(phi), equivalent.noise))


@tc.falsehood("loureiro2025/equivalence-with-mean", LOUREIRO2025)
@tc.for_all(phi=sampled_from([tc.activations.relu, tc.activations.erf_shifted]))
def equivalence_with_uncorrected_mean(phi):
    """R(a) - R(a^G) = O(1/d) for a phi of non-zero mean with mu_0 = 0 and mu_*^2 = E phi(Z)^2 - mu_1^2"""
    slope = float(feature_slope(phi).exact({}, 20))
    return ridge(phi, GaussianFeatures(0.0, slope, second_moment(phi) - slope**2))


@tc.falsehood("loureiro2025/equivalence-quadratic", LOUREIRO2025)
def equivalence_beyond_proportional():
    """R(a) - R(a^G) = O(1/d) at n = p = d^2/2 for a target of degree 2: the features learn it, their Gaussian equivalent cannot"""
    gap = ridge_gap(RandomFeatures(tc.activations.relu, features="d**2/2"), samples="d**2/2", degree=2)
    return tc.Bound(gap, rate="1/d", along=tc.ScalingPath(d=(4, 6, 8, 12)), correction=1)


@tc.falsehood("loureiro2025/covariance-not-odd", LOUREIRO2025)
@tc.for_all(phi=sampled_from([tc.activations.relu, tc.activations.erf_shifted]))
def covariance_of_features_that_are_not_odd(phi):
    """|| E_x phi phi^T - (mu_0^2 1 1^T + mu_1^2 W W^T + mu_*^2 I) ||_op = O(1/d) for c_2 != 0: c_2^2 1 1^T/d is left"""
    gap = feature_covariance_gap(RandomFeatures(phi))
    return tc.Bound(gap, rate="1/d", along=tc.ScalingPath(d=tc.doubling(16, 128)), correction=1)


@tc.falsehood("loureiro2025/covariance-gaussian-rows", LOUREIRO2025)
@tc.for_all(phi=odd)
def covariance_with_gaussian_rows(phi):
    """|| E_x phi phi^T - (mu_1^2 W W^T + mu_*^2 I) ||_op = O(1/d) with rows N(0, I/d)"""
    gap = feature_covariance_gap(RandomFeatures(phi, rows="gaussian"))
    return tc.Bound(gap, rate="1/d", along=tc.ScalingPath(d=tc.doubling(32, 256)), correction=1)


def expressions(g, s):
    return tc.Activation(g).expression, tc.Activation(s).expression


def second_moment(phi):
    return float(gaussian_mean(phi.expression**2).exact({}, 20))
