"""Kernels of finite networks at initialisation: how far they are from their limits (Lee et al. 2018).

Setting.   Two fixed inputs, L hidden layers of width d; k is the covariance of the output given the hidden layers, t the tangent
           kernel of the drawn weights; K and T are their limits.
Truth.     One hidden layer: k and t are means of d independent terms with means K and T, so that E (k - K)^2 = v/d exactly.
           More layers: E (k - K)^2 ~ v/d and E (t - T)^2 ~ v/d, and the means are off by order 1/d.
"""

from fractions import Fraction

from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.theory.wide import kernel_deviation

from . import JACOT2018, LEE2018

INPUTS = ((Fraction(1), Fraction(2)), (Fraction(2), Fraction(1, 2)))
SAME = (INPUTS[0], INPUTS[0])
B = Fraction(1, 2)
activations = sampled_from([tc.activations.tanh, tc.activations.erf, tc.activations.relu])


def path(first=8, last=128):
    return tc.ScalingPath(d=tc.doubling(first, last), width="d")


@tc.theorem("lee2018/nngp-variance-one-layer", LEE2018)
@tc.for_all(phi=activations)
def nngp_variance_one_layer(phi):
    """E (k - K)^2 = W_std^4 Var(phi(u) phi(u'))/d at one hidden layer"""
    deviation = kernel_deviation(phi, INPUTS, 1, bias_std=B)
    constant = deviation.exact({"width": 1})
    return tc.Scaling(deviation, path(), exponent=-1, constant=constant, rivals=["-1/2", -2], correction=1)


@tc.theorem("lee2018/ntk-variance-one-layer", JACOT2018)
@tc.for_all(phi=activations)
def ntk_variance_one_layer(phi):
    """E (t - T)^2 = W_std^4 Var(phi(u) phi(u') + a^2 K^1 phi'(u) phi'(u'))/d at one hidden layer, a ~ N(0, 1)"""
    deviation = kernel_deviation(phi, INPUTS, 1, kind="ntk", bias_std=B)
    constant = deviation.exact({"width": 1})
    return tc.Scaling(deviation, path(), exponent=-1, constant=constant, rivals=["-1/2", -2], correction=1)


@tc.conjecture("lee2018/nngp-variance-deep", LEE2018)
@tc.for_all(phi=activations)
def nngp_variance_deep(phi):
    """E (k - K)^2 ~ v/d at three hidden layers"""
    deviation = kernel_deviation(phi, INPUTS, 3, bias_std=B)
    return tc.Scaling(deviation, path(), exponent=-1, rivals=["-1/2", -2], correction=1)


@tc.conjecture("lee2018/nngp-bias", LEE2018)
@tc.for_all(phi=sampled_from([tc.activations.tanh, tc.activations.erf]))
def nngp_bias(phi):
    """E k - K ~ b/d at two hidden layers, x = x': the curvature of s -> E phi(sqrt(s) Z)^2 times the variance of the first layer"""
    deviation = kernel_deviation(phi, SAME, 2, power=1)
    return tc.Scaling(deviation, path(8, 128), exponent=-1, rivals=["-1/2", -2], correction=1)


@tc.conjecture("lee2018/ntk-variance-deep", JACOT2018)
@tc.for_all(phi=activations)
def ntk_variance_deep(phi):
    """E (t - T)^2 ~ v/d at two hidden layers"""
    deviation = kernel_deviation(phi, INPUTS, 2, kind="ntk", bias_std=B)
    return tc.Scaling(deviation, path(8, 64), exponent=-1, rivals=["-1/2", -2], correction=1)
