"""The Gaussian equivalence principle: phi(W x) acts like mu_0 + mu_1 W x + mu_* xi (Loureiro 2025).

Setting.   x ~ N(0, I_d), W of shape (p, d), xi ~ N(0, I_p) fresh for every x; mu_0 = E phi(Z), mu_1 = E Z phi(Z),
           mu_*^2 = E phi(Z)^2 - mu_0^2 - mu_1^2; n, p = Theta(d).
           Ridge: min_a sum_i (y_i - a . phi_i/sqrt(p))^2 + lambda |a|^2, linear target of variance 1, no noise.
Claim.     |R(a) - R(a^G)| -> 0 for the test errors of ridge regression on the two kinds of features.
Truth.     The slides give no rate.  For odd phi the difference of the test errors is of order 1/d, as is the distance in operator
           norm of the two second-moment matrices of the features when the rows have length 1; with Gaussian rows, whose lengths
           fluctuate, that distance is of order sqrt(log d / d).
Words changed.
           (Phi^T Phi + lambda)^(-1) Phi^T y belongs to the objective above, not to (1/2n) sum + lambda |a|^2.

Test errors are exact in the test input and in the target, and covariances in x (kernels): only W, X and xi are drawn.
"""

from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.theory.equivalence import RandomFeatures, feature_covariance_gap, ridge_gap

from . import LOUREIRO2025

odd = sampled_from([tc.activations.erf, tc.activations.tanh])


@tc.theorem("loureiro2025/equivalent-covariance", LOUREIRO2025)
@tc.for_all(phi=odd)
def covariance_on_the_sphere(phi):
    """|| E_x phi phi^T - (mu_1^2 W W^T + mu_*^2 I) ||_op = O(1/d) for odd phi and rows of length 1, p = d

    It is the largest eigenvalue of a random matrix, whose mean is off the edge of the spectrum by a factor 1 + O(d^(-2/3)).
    """
    gap = feature_covariance_gap(RandomFeatures(phi))
    along = tc.ScalingPath(d=tc.doubling(32, 256))
    return tc.Bound(gap, rate="1/d", along=along, rivals=["d**(-3/2)"], correction=2 / 3)


@tc.theorem("loureiro2025/equivalent-covariance-gaussian", LOUREIRO2025)
def covariance_with_gaussian_rows():
    """|| E_x phi phi^T - (mu_1^2 W W^T + mu_*^2 I) ||_op = O(sqrt(log d / d)) for phi = erf and rows N(0, I/d), p = d"""
    gap = feature_covariance_gap(RandomFeatures(tc.activations.erf, rows="gaussian"))
    along = tc.ScalingPath(d=tc.doubling(32, 256))
    return tc.Bound(gap, rate="sqrt(log(d)) * d**(-1/2)", along=along, rivals=["1/d"])


@tc.theorem("loureiro2025/gaussian-equivalence", LOUREIRO2025)
@tc.for_all(phi=odd)
def ridge_test_error(phi):
    """|R(a) - R(a^G)| -> 0 at n = p = d and lambda = 2, at least as fast as d^(-1/2)"""
    gap = ridge_gap(RandomFeatures(phi), penalty=2.0)
    along = tc.ScalingPath(d=tc.doubling(4, 32))
    return tc.Bound(gap, rate="d**(-1/2)", along=along, rivals=["d**(-3/2)"], correction=1)


@tc.conjecture("loureiro2025/gaussian-equivalence-rate", LOUREIRO2025)
def ridge_test_error_rate():
    """R(a) - R(a^G) = O(1/d) at n = p = d and lambda = 2 for phi = erf, and not faster

    The constant depends on the ratios and on lambda, and may vanish: at p = n = 2 d and lambda = 0.1 it is about -0.01.
    """
    gap = ridge_gap(RandomFeatures(tc.activations.erf), penalty=2.0)
    along = tc.ScalingPath(d=tc.doubling(4, 32))
    return tc.Bound(gap, rate="1/d", along=along, rivals=["d**(-3/2)"], correction=1)
