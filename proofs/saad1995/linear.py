"""A linear student, solved at every size (Saad, Solla 1995).

Setting.   g = x, the second layer v fixed, v~ too; beta = sum_k v^k w^k - sum_m v~^m w~^m, so that Delta = beta . x/sqrt(N).
Truth.     beta <- beta - (a/N) (beta . x) x with a = eta |v|^2, x ~ N(0, I_N):  E |beta|^2 shrinks by 1 - 2 a/N + a^2 (N + 2)/N^2 a
           step, and tends to e^(-(2 a - a^2) t) of its start: it decays for a < 2 and is fastest at a = 1.
Source.    The equations of Saad and Solla (1995) with g = x.
"""

import math

from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.theory.dynamics import linear_error, online_order

from . import SAAD1995
from .tasks import START, task

sizes = tc.ScalingPath(N=(8, 16, 32, 64))
A = 0.5**2 + 0.4**2  # |v|^2 at the start


def error(rate, time):
    return online_order(task(rate, second_layer=False, student="x"), START, [time])


def begin():
    return float(error(1, 0).exact({"N": 8}))


@tc.theorem("saad1995/linear-error", SAAD1995)
@tc.for_all(rate=sampled_from([1.0, 2.0]), time=sampled_from([1, 2]))
def linear(rate, time):
    """eg(t) -> eg(0) e^(-(2 a - a^2) t), a = eta |v|^2, with a difference O(1/N): runs, and the recursion"""
    value = linear_error(A * rate, time, begin())
    flow = begin() * math.exp(-2 * A * rate * time)  # without the term in a^2
    return tc.Limit(
        error(rate, time), sizes, value=value, rate="1/N", rivals=[flow, begin()], tolerance=value / 50, correction=1, within=0.2
    )


@tc.theorem("saad1995/linear-fastest", SAAD1995)
def fastest():
    """At a = 2 the error does not move in the limit: eg(t) -> eg(0)"""
    value = begin()
    return tc.Limit(
        error(2 / A, 1),
        tc.ScalingPath(N=tc.doubling(64, 512)),
        value=value,
        rivals=[0, value / 2],
        tolerance=value / 20,
        correction=1,
    )
