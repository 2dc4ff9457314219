"""Erf students on generated data err as on Gaussian fields with the same second moments (Goldt et al. 2021, prediction error).

Setting.   Student sum_k erf(lambda^k/sqrt 2), teacher sum_m erf(nu^m/sqrt 2), as many units; pmse(a) is the error at a given
           generator a.  Q = E lambda lambda^T, R = E lambda nu^T, T = E nu nu^T at that generator.  Students have random signs for
           weights, or are informed: w^k_i = sign(a_i . w~^k), so that R is not 0.
Formula.   pmse = (2/pi) [sum v v asin(Q/sqrt((1 + Q_kk)(1 + Q_ll))) + sum v~ v~ asin(T ...) - 2 sum v v~ asin(R ...)] for Gaussian
           fields.
Claim.     pmse(a) differs from the formula at Q(a), R(a), T by O(1/sqrt(N)).
Truth.     Loose for odd sigma: by c/N, with c = E g(sqrt(Q) Z)^2 He_4(Z)/(24 Q^2) N E kappa_4 for one unit and random signs.
"""

import math

import numpy as np
from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.quantities import gaussian_mean
from theoryck.theory.projections import error_gap_limit, prediction_error, signs_error_gap, student_error, student_error_gap

from . import GOLDT2021

students = sampled_from([("informed", 1), ("informed", 2)])

Q = ((1.0, 0.3), (0.3, 0.5))
R = ((0.8, -0.1, 0.2), (0.2, 0.5, 0.1))
T = ((1.0, 0.0, 0.2), (0.0, 1.0, 0.0), (0.2, 0.0, 2.0))
V, V_TEACHER = (1.0, 0.5), (0.8, 1.0, 0.3)


def path(*sizes):
    return tc.ScalingPath(N=sizes or (8, 12, 16, 24, 32), D="N")


@tc.theorem("goldt2021/error-of-gaussian-fields", GOLDT2021)
@tc.for_all(pair=sampled_from([("erf_scaled", "erf_scaled"), ("relu", "relu"), ("tanh", "relu"), ("sin2", "tanh")]))
def error_of_gaussian_fields(pair):
    """pmse = v^T I(Q) v + v~^T I(T) v~ - 2 v^T I(R) v~ for K = 2, M = 3: drawn fields against arcsines or quadrature"""
    student, teacher = (tc.Activation(text) for text in pair)
    value = prediction_error(Q, R, T, V, V_TEACHER, student, teacher)
    root = np.linalg.cholesky(np.block([[np.array(Q), np.array(R)], [np.array(R).T, np.array(T)]]))

    @tc.quantity(cost=15)
    def drawn(rng, draws):
        fields = root @ rng.standard_normal((5, draws))
        return (V @ student(fields[:2]) - V_TEACHER @ teacher(fields[2:])) ** 2

    without_overlap = prediction_error(Q, np.zeros((2, 3)), T, V, V_TEACHER, student, teacher)
    return tc.Identity(drawn, value, rivals=[value / 2, without_overlap], tolerance=value / 50)


@tc.theorem("goldt2021/error-gap", GOLDT2021)
@tc.for_all(student=students)
def error_gap(student):
    """E [pmse(a) - formula(Q(a), R(a), T)] = O(1/sqrt(N)) for sigma = 2 erf(x)"""
    gap = student_error_gap("2*erf(x)", *student)
    return tc.Bound(gap, rate="N**(-1/2)", along=path(), rivals=["N**(-2)"], correction=1)


@tc.conjecture("goldt2021/error-gap-rate", GOLDT2021)
@tc.for_all(sigma=sampled_from(["2*erf(x)", "3*tanh(x)", "relu(x)"]))
def error_gap_rate(sigma):
    """N E [pmse(a) - formula(Q(a), R(a), T)] -> N E kappa_4 E g^2 He_4/(24 Q^2) for random signs and one unit, sigma odd or not"""
    gap, constant = signs_error_gap(sigma), error_gap_limit(sigma, "erf_scaled")
    along = path(8, 16, 32, 64, 128)
    return tc.Scaling(gap, along, exponent=-1, constant=constant, tolerance=0.1, rivals=["-1/2", "-3/2"], correction=1, within=0.1)


@tc.theorem("goldt2021/error-limit", GOLDT2021)
@tc.for_all(sigma=sampled_from(["2*erf(x)", "sin(x)"]))
def error_limit(sigma):
    """E pmse -> formula(Q, R, 1), Q = Var(sigma) + (2/pi) c_1^2, R = sqrt(2/pi) c_1, c_1 = E sigma Z, for the informed student"""
    phi = tc.Activation(sigma)
    variance, slope = (float(gaussian_mean(e, 1).exact({}, 20)) for e in (phi.expression**2, phi.derivative().expression))
    q, r = variance + 2 / math.pi * slope**2, math.sqrt(2 / math.pi) * slope
    value = prediction_error(q, r, 1, 1, 1)
    # Q of independent coordinates; a student that knows nothing; the half of online learning
    rivals = [prediction_error(variance, r, 1, 1, 1), prediction_error(q, 0, 1, 1, 1), value / 2]
    error = student_error(sigma, "informed")
    return tc.Limit(error, path(), value=value, tolerance=value / 10, rivals=rivals, correction=1)
