"""Falsified twins (Saad, Solla 1995): online learning in soft committee machines with a term, a layer or a rate changed.

Setting.   A student sum_k v^k g(w^k . x/sqrt N) of a teacher of the same form, x ~ N(0, I_N), a fresh sample a step, rate eta; time
           t = steps/N, eg = E Delta^2/2.  Each must come out REFUTED.
"""

import math

from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.theory.dynamics import OnlineTask, online_means, online_order, online_variance, trajectory

from . import SAAD1995
from .kinks import HARD_TANH, teacher_field
from .linear import A, begin
from .linear import error as linear_error_of_runs
from .means import TEACHER, Q, R, T, V, drawn
from .tasks import START, task

sizes = tc.ScalingPath(N=(16, 32, 64))
TIMES = (1, 3, 6)


@tc.falsehood("saad1995/gradient-flow", SAAD1995)
@tc.for_all(rate=sampled_from([1.0, 1.5]))
def gradient_flow(rate):
    """eg at time t is that of a small rate at the same eta t: the term in eta^2 left out"""
    value = float(trajectory(task(rate / 20), START, [20 * t for t in TIMES]).eg.mean())
    return tc.Limit(online_order(task(rate), START, TIMES), sizes, value=value, tolerance=value / 50, correction=1)


@tc.falsehood("saad1995/linear-gradient-flow", SAAD1995)
def linear_gradient_flow():
    """eg(t) -> eg(0) e^(-2 a t) for linear students, without a^2"""
    value = begin() * math.exp(-2 * A)
    return tc.Limit(linear_error_of_runs(1.0, 1), sizes, value=value, tolerance=value / 50, correction=1)


@tc.falsehood("saad1995/linear-any-rate", SAAD1995)
def decays_at_any_rate():
    """eg(1) <= eg(0) in the limit at a = 5/2: the error of a linear student decays at any rate"""
    measured = linear_error_of_runs(2.5 / A, 1)
    return tc.Bound(measured, rate="1", along=tc.ScalingPath(N=tc.doubling(64, 512)), constant=begin())


@tc.falsehood("saad1995/whole-error", SAAD1995)
def whole_error():
    """eg is the whole of E Delta^2, not half of it"""
    value = 2 * float(trajectory(task(1.0), START, TIMES).eg.mean())
    return tc.Limit(online_order(task(1.0), START, TIMES), sizes, value=value, tolerance=value / 50, correction=1)


@tc.falsehood("saad1995/second-layer-fixed", SAAD1995)
def second_layer_fixed():
    """Training the second layer changes nothing at t = 1, 3, 6"""
    value = float(trajectory(task(1.0, second_layer=False), START, TIMES).eg.mean())
    return tc.Limit(online_order(task(1.0), START, TIMES), sizes, value=value, tolerance=value / 50, correction=1)


@tc.falsehood("saad1995/scatter-faster", SAAD1995)
@tc.for_all(what=sampled_from([("Q", (0, 0)), ("R", (1, 1))]))
def scatter_faster(what):
    """E (order parameter of a run - equations)^2 = O(N^-2): runs scatter by 1/N"""
    return tc.Bound(online_variance(task(1.0), START, (1, 3), *what), rate="N**(-2)", along=sizes, correction=1)


@tc.falsehood("saad1995/fields-independent", SAAD1995)
def independent_fields():
    """E g'(lambda^2)^2 Delta^2 = E g'(lambda^2)^2 E Delta^2"""
    found = online_means(OnlineTask(T, TEACHER, 1), Q, R, V)
    measured = drawn("erf_scaled", lambda g, slope, fields, delta: slope(fields[1]) ** 2 * delta**2)
    value = 2 * found.eg * found.h2[1, 1]
    return tc.Identity(measured, value, tolerance=value / 50)


@tc.falsehood("saad1995/kinks-are-flat", SAAD1995)
@tc.for_all(student=sampled_from(["relu", "abs(x)", HARD_TANH]))
def flat_kinks(student):
    """E g'(lambda^1) Delta nu^1 with g'' = 0, as it is almost everywhere for piecewise linear g"""
    measured, value, flat = teacher_field(student, (0, 0))
    return tc.Identity(measured, flat, tolerance=abs(value - flat) / 4)
