"""The Gaussian means on the right-hand sides of the equations of online learning (Saad, Solla 1995).

Setting.   Fields (lambda^1, lambda^2, nu^1, nu^2) ~ N(0, [[Q, R], [R^T, T]]); Delta = sum v g(lambda) - sum v~ g(nu).
Claim.     For g = erf(x/sqrt 2) E g'(lambda^k) g'(lambda^l) Delta^2 is a sum of arcsines and E g'(lambda^k) g'(nu^m) algebraic
           (Saad and Solla 1995); for other g they are computed on a lattice.  Drawn fields give the same.
"""

import numpy as np
from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.theory.dynamics import OnlineTask, online_means

from . import SAAD1995
from .tasks import T

Q, R, V, TEACHER = ((0.6, 0.1), (0.1, 0.8)), ((0.3, 0.2), (-0.1, 0.5)), (0.5, -0.4), (1.0, 0.7)
ROOT = np.linalg.cholesky(np.block([[np.array(Q), np.array(R)], [np.array(R).T, np.array(T)]]))
students = sampled_from(["erf_scaled", "tanh", "sin"])


def drawn(student, integrand):
    """The mean of the integrand of (g, g', fields, Delta) over drawn fields."""
    g = tc.Activation(student)
    slope = g.derivative()

    @tc.quantity(cost=20)
    def mean(rng, draws):
        fields = ROOT @ rng.standard_normal((4, draws))
        return integrand(g, slope, fields, V @ g(fields[:2]) - TEACHER @ g(fields[2:]))

    return mean


@tc.theorem("saad1995/noise-term", SAAD1995)
@tc.for_all(student=students, entry=sampled_from([(0, 0), (0, 1)]))
def noise_term(student, entry):
    """E g'(lambda^k) g'(lambda^l) Delta^2 by arcsines for erf, by a lattice for other g, against drawn fields"""
    k, l = entry  # noqa: E741 - the letter of the source
    measured = drawn(student, lambda g, slope, fields, delta: slope(fields[k]) * slope(fields[l]) * delta**2)
    value = online_means(OnlineTask(T, TEACHER, 1, student), Q, R, V).h6[entry]
    # as if fields were independent of each other; the slopes 1
    apart = online_means(OnlineTask(T, TEACHER, 1, student), Q, np.zeros((2, 2)), V).h6[entry]
    return tc.Identity(measured, value, rivals=[apart, 1.1 * value], tolerance=abs(value) / 50)


@tc.theorem("saad1995/teacher-term", SAAD1995)
@tc.for_all(student=students, entry=sampled_from([(1, 0), (1, 1)]))
def teacher_term(student, entry):
    """E g'(lambda^k) Delta nu^m = sum_j v^j (R^{km} h1 + R^{jm} h2) - sum_n v~^n (R^{km} h4 + T^{nm} h5), Stein's identity"""
    k, m = entry
    measured = drawn(student, lambda g, slope, fields, delta: slope(fields[k]) * delta * fields[2 + m])
    found, r = online_means(OnlineTask(T, TEACHER, 1, student), Q, R, V), np.array(R)
    own = V @ (r[k, m] * found.h1[k] + r[:, m] * found.h2[k])
    value = own - TEACHER @ (r[k, m] * found.h4[k] + np.array(T)[:, m] * found.h5[k])
    without_curvature = V @ (r[:, m] * found.h2[k]) - TEACHER @ (np.array(T)[:, m] * found.h5[k])
    return tc.Identity(measured, value, rivals=[without_curvature, own], tolerance=abs(value) / 100)
