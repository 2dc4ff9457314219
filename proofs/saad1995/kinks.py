"""Piecewise linear units: kinks are point masses of g'' (Saad, Solla 1995, for relu, |x|, leaky and hard tanh).

Setting.   Two units against two, both layers trained; g' is piecewise constant, g'' = sum_i (jump of g' at c_i) delta(x - c_i).
Claim.     The equations hold with Gaussian means over orthants of up to four fields: means of drawn fields, and order parameters of
           runs, which scatter around the equations by N^(-1/2).
Truth.     The source has smooth units.  Where two units are equal the right-hand side has a root of 1 - correlation in it.
"""

import numpy as np
from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.theory.dynamics import OnlineTask, online_means, online_order, online_variance, trajectory

from . import SAAD1995
from .means import TEACHER, Q, R, T, V, drawn
from .tasks import START, task

HARD_TANH = "max(-1, min(1, x))"
students = sampled_from(["relu", "abs(x)", "max(x, x/5)", HARD_TANH])
sizes = tc.ScalingPath(N=(16, 32, 64))


@tc.theorem("saad1995/kinked-noise-term", SAAD1995)
@tc.for_all(student=students)
def noise_term(student):
    """E g'(lambda^1) g'(lambda^2) Delta^2 of piecewise linear g, by orthants of four fields, against drawn fields"""
    measured = drawn(student, lambda g, slope, fields, delta: slope(fields[0]) * slope(fields[1]) * delta**2)
    value = online_means(OnlineTask(T, TEACHER, 1, student), Q, R, V).h6[0, 1]
    apart = online_means(OnlineTask(T, TEACHER, 1, student), np.diag(np.diagonal(Q)), np.zeros((2, 2)), V).h6[0, 1]
    return tc.Identity(measured, value, rivals=[apart, 1.1 * value], tolerance=abs(value) / 50)


def teacher_field(student, entry):
    """E g'(lambda^k) Delta nu^m of drawn fields, by Stein's identity, and without the masses at kinks."""
    k, m = entry
    measured = drawn(student, lambda g, slope, fields, delta: slope(fields[k]) * delta * fields[2 + m])
    found, r = online_means(OnlineTask(T, TEACHER, 1, student), Q, R, V), np.array(R)
    flat = V @ (r[:, m] * found.h2[k]) - TEACHER @ (np.array(T)[:, m] * found.h5[k])
    return measured, float(flat + r[k, m] * (V @ found.h1[k] - TEACHER @ found.h4[k])), float(flat)


@tc.theorem("saad1995/kinked-teacher-term", SAAD1995)
@tc.for_all(student=students, entry=sampled_from([(0, 0), (1, 1)]))
def teacher_term(student, entry):
    """E g'(lambda^k) Delta nu^m of piecewise linear g, the masses of g'' included, against drawn fields"""
    measured, value, flat = teacher_field(student, entry)
    return tc.Identity(measured, value, rivals=[flat], tolerance=abs(value - flat) / 4)


@tc.theorem("saad1995/kinked-order-parameters", SAAD1995)
@tc.for_all(student=sampled_from(["relu", HARD_TANH]), read=sampled_from([("R", (0, 0)), ("Q", (1, 1))]))
def order_parameters(student, read):
    """Q and R at t = 2 -> the equations for piecewise linear g, K = M = 2, eta = 0.5, both layers trained"""
    what, entry = read
    learnt = task(0.5, student=student)
    found = trajectory(learnt, START, [1, 2])
    value, before = (float(getattr(found, what)[(time, *entry)]) for time in (1, 0))
    measured = online_order(learnt, START, [2], what, entry)
    return tc.Limit(measured, sizes, value=value, rivals=[before], tolerance=abs(value - before) / 4, correction=1)


@tc.conjecture("saad1995/kinked-scatter", SAAD1995)
@tc.for_all(student=sampled_from(["relu", HARD_TANH]))
def scatter(student):
    """E (R^{11} of a run - equations)^2 ~ 1/N at t = 1 for piecewise linear g, K = M = 2: by N^(-1/2)"""
    measured = online_variance(task(0.5, student=student), START, [1], "R", (0, 0))
    return tc.Scaling(measured, tc.ScalingPath(N=tc.doubling(8, 128)), exponent=-1, rivals=["-1/2", -2], correction=1)
