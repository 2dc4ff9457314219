"""What is not Gaussian, however large N and D (Goldt et al. 2021): the theorem's bound is not small there, nor is anything else.

Setting.   lambda = w . x/sqrt(N), x_i = sigma(a_i . c), c ~ N(0, I_D).  Weights localised, w = sqrt(N) e_1: then lambda =
           sigma(a_1 . c) is one coordinate of the data.  Or a functional that sees more of one coordinate than its covariance with
           c.
Truth.     Cumulants, joint cumulants with nu = a_1 . c, third Hermite coefficients and the prediction error keep their distance.
"""

from hypothesis.strategies import sampled_from
from sympy import Rational, pi, sqrt

import theoryck as tc
from theoryck.numerics.functions import x
from theoryck.quantities import closed_form, gaussian_mean
from theoryck.theory.projections import joint_skewness, localised_error_gap, projection_kurtosis, student_error_gap

from . import GOLDT2021

odd = sampled_from(["erf(x)", "tanh(x)", "sin(3*x)"])


def path():
    return tc.ScalingPath(N=tc.doubling(16, 256), D="N")


@tc.theorem("goldt2021/single-coordinate", GOLDT2021)
@tc.for_all(sigma=odd)
def single_coordinate(sigma):
    """E kappa_4(lambda)/(E kappa_2)^2 = E sigma^4/(E sigma^2)^2 - 3 for one coordinate, odd sigma: -1.4402 for erf, not 0"""
    phi = tc.Activation(sigma).expression
    square = float(gaussian_mean(phi**2, 1).exact({}, 20))
    value = float(gaussian_mean(phi**4, 1).exact({}, 20)) / square**2 - 3
    return tc.Limit(
        projection_kurtosis(sigma, "localised"), path(), value=value, tolerance=0.02, rivals=[0, value / 2], correction=1
    )


@tc.theorem("goldt2021/third-hermite", GOLDT2021)
def third_hermite_coefficient():
    """E sigma(Z) He_3(Z)/sqrt(6) = -(2/sqrt(pi)) 2/(3 sqrt(3) sqrt(6)) = -.1773 for erf; a Gaussian field of any slope gives 0"""
    coefficient = gaussian_mean(tc.activations.erf.expression * (x**3 - 3 * x) / sqrt(6), 1)
    return tc.Identity(coefficient, closed_form(-Rational(4, 3) / sqrt(18 * pi)), rivals=[0])


@tc.theorem("goldt2021/localised-joint", GOLDT2021)
def localised_joint_skewness():
    """E kappa(lambda, lambda, nu)/E kappa_2 = E (sigma - E sigma)^2 Z/Var(sigma) for nu = a_1 . c and relu: 1.1705, not 0"""
    phi = tc.activations.relu.expression
    mean, square, third = (float(gaussian_mean(e, 1).exact({}, 20)) for e in (phi, phi**2, phi**2 * x))
    # E (sigma - mean)^2 Z = E sigma^2 Z - 2 mean E sigma Z, and E relu(Z) Z = 1/2
    value = (third - mean) / (square - mean**2)
    return tc.Limit(joint_skewness("relu", "localised"), path(), value=value, tolerance=0.02, rivals=[0, value / 2], correction=1)


@tc.theorem("goldt2021/localised-error", GOLDT2021)
@tc.for_all(sigma=sampled_from(["2*erf(x)", "3*tanh(x)"]))
def localised_error(sigma):
    """E [pmse(a) - formula(Q(a), R(a), T)] -> E g(sigma(Z))^2 - E g(sqrt(Q) Z)^2 for a localised student: not 0"""
    value = localised_error_gap(sigma, "erf_scaled")
    gap = student_error_gap(sigma, "localised")
    return tc.Limit(gap, path(), value=value, tolerance=value / 20, rivals=[0, value / 2], correction=1)
