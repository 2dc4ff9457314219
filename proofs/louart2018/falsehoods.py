"""Falsified twins (Louart et al. 2018) of the equivalent and of concentration, each to be REFUTED.

Setting.   phi = erf, n = d_0 = d_1; gamma = 1 unless said.
"""

import theoryck as tc
from theoryck.theory.spectra import equivalent_gap, resolvent_variance

from . import LOUART2018
from .equivalent import linear_model

NETWORK = tc.DeepNetwork(tc.activations.erf, depth=1, widths=("n", "n"))
RHO, EPSILON = linear_model(tc.activations.erf)


def surrogate(slope, noise):
    gap = equivalent_gap(NETWORK, shift=1, surrogate=(slope, noise))
    return tc.Bound(gap, rate="n**(-1/2)", along=tc.ScalingPath(n=(8, 16, 32, 64)), correction=1)


@tc.falsehood("louart2018/surrogate-without-epsilon", LOUART2018)
def no_noise():
    """The equivalent with rho^2 X^T X alone, epsilon = 0: difference O(n^(-1/2))"""
    return surrogate(RHO, 0.0)


@tc.falsehood("louart2018/surrogate-rho-not-squared", LOUART2018)
def slope_not_squared():
    """The equivalent with rho X^T X + epsilon: difference O(n^(-1/2))"""
    return surrogate(RHO**0.5, EPSILON)


@tc.falsehood("louart2018/surrogate-epsilon-sigma", LOUART2018)
def linear_part_counted_twice():
    """The equivalent with rho^2 X^T X + sigma, the linear part counted twice: difference O(n^(-1/2))"""
    return surrogate(RHO, RHO**2 + EPSILON)


@tc.falsehood("louart2018/equivalent-inverse-square", LOUART2018)
def equivalent_of_higher_order():
    """E (1/n) tr Q - (1/n) tr Qbar = O(n^-2) with the exact kernel, gamma = 2"""
    gap = equivalent_gap(NETWORK, shift=2)
    return tc.Bound(gap, rate="n**(-2)", along=tc.ScalingPath(n=(8, 12, 16)), correction=1)


@tc.falsehood("louart2018/variance-inverse-cube", LOUART2018)
def variance_of_higher_order():
    """Var (1/n) tr Q = O(n^-3), gamma = 1/4"""
    variance = resolvent_variance(NETWORK, shift="1/4")
    return tc.Bound(variance, rate="n**(-3)", along=tc.ScalingPath(n=(6, 12, 24)), correction=1)
