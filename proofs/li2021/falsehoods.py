"""Falsified twins of the renormalisation of deep linear networks (Li, Sompolinsky 2021).  Each must be REFUTED."""

import math

import theoryck as tc
from theoryck.quantities import formula

from . import LI2021
from .renormalisation import gap, interpolating, mean_order, order, path


@tc.falsehood("li2021/one-layer-for-three", LI2021)
def one_layer_for_three():
    """E t -> u with 1 - u = alpha (1 - r/u) for three layers: depth does not count"""
    return tc.Limit(mean_order(3, 2), path(), value=order(1, 2.0), rate="1/N", tolerance=0.005, correction=1)


@tc.falsehood("li2021/order-of-a-layer", LI2021)
def order_of_a_layer():
    """E t -> u for two layers, with the paper's u of two layers: one factor a network, not one a layer"""
    return tc.Limit(mean_order(2, 2), path(), value=order(2, 2.0), rate="1/N", tolerance=0.005, correction=1)


@tc.falsehood("li2021/plus-log", LI2021)
def plus_log():
    """E t -> the root of 1 + u = alpha (r/u - 1), the saddle of an action with + log Q"""
    return tc.Limit(mean_order(1, 2), path(), value=order(1, 2.0, sign=-1), rate="1/N", tolerance=0.005, correction=1)


@tc.falsehood("li2021/gaussian-process", LI2021)
def gaussian_process():
    """E t -> 1 at P = N/2: the network is a Gaussian process"""
    return tc.Limit(mean_order(1, 2), path(), value=1, rate="1/N", tolerance=0.005, correction=1)


@tc.falsehood("li2021/saddle-to-second-order", LI2021)
def saddle_to_second_order():
    """E t - u = O(N^-2) for one layer"""
    return tc.Bound(gap(1, 2), rate="N**(-2)", along=path(), correction=1)


@tc.falsehood("li2021/mean-renormalised", LI2021)
def mean_renormalised():
    """E f(x) = E t k^T K^-1 y at T = 0, widths (4, 4): the mean is renormalised as the variance is"""
    process, found = interpolating(math.inf).mean[0], interpolating([4, 4])
    measured = formula(lambda: float(found.mean[0]), name="E f, widths (4, 4)", sizes=(), relative_error=1e-15)
    return tc.Identity(measured, float(found.scale) * float(process), tolerance=1e-6)
