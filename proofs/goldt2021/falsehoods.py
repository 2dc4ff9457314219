"""Falsified twins (Goldt et al. 2021, equivalence theorem): an hypothesis dropped, odd taken for even, a rate or a norm changed.

Setting.   lambda = w . x/sqrt(N) less its mean, x_i = sigma(a_i . c), c ~ N(0, I_D), a_i uniform on the unit sphere; nu a teacher's
           field on c.  Weights: random signs, aligned (1, ..., 1), or localised, sqrt(N) e_1.  Each must be REFUTED.
"""

import math

import numpy as np
from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.quantities import gaussian_mean
from theoryck.theory.projections import (
    joint_skewness,
    prediction_error,
    projection_kurtosis,
    projection_kurtosis_limit,
    projection_skewness,
    projection_squared_skewness,
    student_error,
    student_error_gap,
)

from . import GOLDT2021

odd = sampled_from(["erf(x)", "tanh(x)", "2*sin(x)"])
not_odd = sampled_from(["relu(x)", "(x**2 - 1)/sqrt(2)", "cos(x)"])


def path(*sizes, D="N"):
    return tc.ScalingPath(N=sizes or (8, 16, 32), D=D)


def wide():
    return tc.ScalingPath(N=tc.doubling(16, 256), D="N")


def large(D="N"):
    return tc.ScalingPath(N=tc.doubling(2**7, 2**12), D=D)


# Rates ----------------------------------------------------------------------------------------------------------------------


@tc.falsehood("goldt2021/aligned-skewness-as-odd", GOLDT2021)
@tc.for_all(sigma=not_odd)
def skewness_of_aligned_weights_like_odd(sigma):
    """E kappa_3(lambda)/(E kappa_2)^(3/2) = O(1/N) for aligned weights without sigma odd"""
    return tc.Bound(projection_skewness(sigma, exact_only=True), rate="1/N", along=large(), correction=1)


@tc.falsehood("goldt2021/aligned-kurtosis-limit", GOLDT2021)
@tc.for_all(sigma=sampled_from(["relu(x)", "(x**2 - 1)/sqrt(2)"]))
def kurtosis_of_signs_for_aligned(sigma):
    """N E kappa_4(lambda)/(E kappa_2)^2 has the limit of random signs for aligned weights without sigma odd"""
    kurtosis, constant = projection_kurtosis(sigma, "aligned", exact_only=True), projection_kurtosis_limit(sigma)
    return tc.Scaling(kurtosis, large(), exponent=-1, constant=constant, correction=1)


@tc.falsehood("goldt2021/odd-kurtosis-power", GOLDT2021)
@tc.for_all(sigma=odd, rate=sampled_from(["N**(-2)", "N**(-3/2)"]))
def kurtosis_one_power_too_many(sigma, rate):
    """E kappa_4(lambda)/(E kappa_2)^2 = O(N^-2), or O(N^(-3/2)), for odd sigma"""
    return tc.Bound(projection_kurtosis(sigma, exact_only=True), rate=rate, along=large(), correction=1)


@tc.falsehood("goldt2021/odd-kurtosis-independent", GOLDT2021)
@tc.for_all(sigma=odd)
def coordinates_as_if_independent(sigma):
    """N E kappa_4(lambda)/(E kappa_2)^2 -> kappa_4(sigma)/Var(sigma)^2 at D = N, as for independent coordinates"""
    alone = float(projection_kurtosis(sigma, "localised").exact({"N": 8, "D": 8}))
    return tc.Scaling(projection_kurtosis(sigma, exact_only=True), large(), exponent=-1, constant=alone, correction=1)


@tc.falsehood("goldt2021/odd-kurtosis-any-latent", GOLDT2021)
@tc.for_all(sigma=odd)
def any_number_of_latent_variables(sigma):
    """E kappa_4(lambda)/(E kappa_2)^2 = O(1/N) at D = N^(1/2), odd sigma: few latent variables tie the coordinates together"""
    return tc.Bound(projection_kurtosis(sigma, exact_only=True), rate="1/N", along=large(D="N**(1/2)"))


@tc.falsehood("goldt2021/signs-skewness-power", GOLDT2021)
@tc.for_all(sigma=not_odd)
def skewness_of_signs_one_power_too_many(sigma):
    """E kappa_3(lambda)^2/Var(sigma)^3 = O(N^-3), that is skewness O(N^(-3/2)), for random signs"""
    return tc.Bound(projection_squared_skewness(sigma, exact_only=True), rate="N**(-3)", along=large(), correction=1)


@tc.falsehood("goldt2021/joint-skewness-any-teacher", GOLDT2021)
def teacher_of_the_generator_like_any():
    """E kappa(lambda, lambda, nu)/E kappa_2 = O(1/N) for w~ along A^T w as for a fixed teacher: relu, aligned weights"""
    return tc.Bound(joint_skewness("relu(x)"), rate="1/N", along=path(8, 16, 32, 64), correction=1)


# Weights --------------------------------------------------------------------------------------------------------------------


@tc.falsehood("goldt2021/localised-kurtosis", GOLDT2021)
@tc.for_all(sigma=odd)
def localised_student_is_gaussian(sigma):
    """E kappa_4(lambda)/(E kappa_2)^2 = O(1/sqrt(N)) for localised weights"""
    return tc.Bound(projection_kurtosis(sigma, "localised"), rate="N**(-1/2)", along=wide(), correction=1)


@tc.falsehood("goldt2021/localised-joint-skewness", GOLDT2021)
def localised_pair_is_gaussian():
    """E kappa(lambda, lambda, nu)/E kappa_2 = O(1/sqrt(N)) for localised weights, nu = a_1 . c and relu"""
    return tc.Bound(joint_skewness("relu(x)", "localised"), rate="N**(-1/2)", along=wide(), correction=1)


@tc.falsehood("goldt2021/localised-error-gap", GOLDT2021)
@tc.for_all(sigma=sampled_from(["2*erf(x)", "3*tanh(x)"]))
def localised_student_follows_the_formula(sigma):
    """E [pmse(a) - formula(Q(a), R(a), T)] = O(1/sqrt(N)) for a localised student"""
    return tc.Bound(student_error_gap(sigma, "localised"), rate="N**(-1/2)", along=wide(), correction=1)


# Prediction error -----------------------------------------------------------------------------------------------------------


@tc.falsehood("goldt2021/error-gap-power", GOLDT2021)
def error_gap_one_power_too_many():
    """E [pmse(a) - formula(Q(a), R(a), T)] = O(N^-2) for sigma = 2 erf(x) and random signs"""
    return tc.Bound(student_error_gap("2*erf(x)", "signs"), rate="N**(-2)", along=path(8, 12, 16, 24, 32), correction=1)


@tc.falsehood("goldt2021/error-half", GOLDT2021)
@tc.for_all(sigma=sampled_from(["2*erf(x)", "sin(x)"]))
def half_the_error(sigma):
    """E pmse -> half the formula, as online learning counts, for random signs: the slides' pmse has no 1/2"""
    q = float(gaussian_mean(tc.Activation(sigma).expression ** 2, 1).exact({}, 20))
    value = prediction_error(q, 0, 1, 1, 1, half=True)
    return tc.Limit(student_error(sigma, "signs"), path(), value=value, tolerance=value / 10, correction=1)


@tc.falsehood("goldt2021/error-without-overlaps", GOLDT2021)
def informed_student_of_independent_coordinates():
    """E pmse -> formula(Var(sigma), R, 1) for the informed student: the inputs' correlations left out of Q"""
    phi = tc.Activation("2*erf(x)")
    variance, slope = (float(gaussian_mean(e, 1).exact({}, 20)) for e in (phi.expression**2, phi.derivative().expression))
    value = prediction_error(variance, math.sqrt(2 / math.pi) * slope, 1, 1, 1)
    return tc.Limit(student_error(phi, "informed"), path(), value=value, tolerance=value / 40, correction=1)


@tc.falsehood("goldt2021/field-without-root", GOLDT2021)
def field_without_its_normalisation():
    """E lambda^2 = O(1) for lambda = sum_i w_i x_i as printed, |w|^2 = N, without 1/sqrt(N): sigma = erf, random signs"""

    @tc.quantity(cost=lambda sizes: sizes["N"] * (sizes["D"] + 1) + sizes["D"])
    def squared_field(rng, draws, *, N, D):
        generators = rng.standard_normal((draws, N, D))
        generators /= np.linalg.norm(generators, axis=2, keepdims=True)
        inputs = tc.activations.erf(np.einsum("ind,id->in", generators, rng.standard_normal((draws, D))))
        return (inputs * rng.choice([-1.0, 1.0], (draws, N))).sum(axis=1) ** 2

    return tc.Bound(squared_field, rate="1", along=path(8, 16, 32, 64), correction=1)
