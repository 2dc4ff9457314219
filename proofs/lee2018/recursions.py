"""The recursions of the NNGP and the neural tangent kernel, between two inputs (Lee et al. 2018).

Both sides are enclosures.  The left side runs the recursion from the inputs, by closed forms where there are any; the right side
takes the last layer alone, as an expectation over two Gaussians by the general routes.
"""

from fractions import Fraction

from hypothesis.strategies import integers, sampled_from
from sympy import Rational, atan, pi, sqrt

import theoryck as tc
from theoryck.quantities import closed_form, gaussian_mean, kernel
from theoryck.theory.wide import kernel_deviation, nngp, ntk

from . import JACOT2018, LEE2018

INPUTS = ((Fraction(1), Fraction(1, 2), Fraction(-1)), (Fraction(1, 2), Fraction(2), Fraction(1, 2)))
W, B = Fraction(5, 4), Fraction(1, 2)
named = ["tanh", "erf", "sin", "relu", "gelu", "abs", "hardtanh", "x_gauss", "arctan", "identity"]
activations = sampled_from([tc.Activation(name) for name in [*named, "tanh(x) + x/3", "max(x/10, x)"]])


def covariance(phi, layers):
    """K^(layers + 1)(x, x), K^(layers + 1)(x', x'), K^(layers + 1)(x, x')"""
    first, second = INPUTS
    pairs = ((first, first), (second, second), (first, second))
    return [nngp(phi, pair, layers, weight_std=W, bias_std=B) for pair in pairs]


@tc.theorem("lee2018/nngp-recursion", LEE2018)
@tc.for_all(phi=activations, layers=integers(1, 3))
def nngp_recursion(phi, layers):
    """K^(l+1) = b_std^2 + W_std^2 E phi(u) phi(u'), (u, u') ~ N(0, K^l)"""
    mean = kernel(phi, *covariance(phi, layers - 1))
    value = nngp(phi, INPUTS, layers, weight_std=W, bias_std=B)
    return tc.Identity(value, B**2 + W**2 * mean, rivals=[W**2 * mean, B**2 + W * mean])


@tc.theorem("lee2018/nngp-variance", LEE2018)
@tc.for_all(phi=activations, layers=integers(1, 3))
def nngp_variance(phi, layers):
    """K^(l+1)(x, x) = b_std^2 + W_std^2 E phi(u)^2, u ~ N(0, K^l(x, x))"""
    below = covariance(phi, layers - 1)[0]
    mean = gaussian_mean(phi.expression**2, below)
    return tc.Identity(covariance(phi, layers)[0], B**2 + W**2 * mean, rivals=[W**2 * mean, B**2 + W * mean])


@tc.theorem("lee2018/ntk-recursion", JACOT2018)
@tc.for_all(phi=activations, layers=integers(1, 3))
def ntk_recursion(phi, layers):
    """T^(l+1) = K^(l+1) + W_std^2 E phi'(u) phi'(u') T^l"""
    slope = kernel(phi.derivative(), *covariance(phi, layers - 1))
    below = ntk(phi, INPUTS, layers - 1, weight_std=W, bias_std=B)
    value, last = (which(phi, INPUTS, layers, weight_std=W, bias_std=B) for which in (ntk, nngp))
    return tc.Identity(value, last + W**2 * slope * below, rivals=[W**2 * slope * below, last + W * slope * below])


@tc.theorem("lee2018/arc-cosine", JACOT2018)
@tc.for_all(c=sampled_from([Fraction(-3, 5), Fraction(7, 25), Fraction(3, 5)]))
def arc_cosine(c):
    """relu, one hidden layer, |x|^2 = |x'|^2 = d_0, x.x' = c d_0: T = (sqrt(1 - c^2) + 2 c (pi - acos c))/(2 pi)"""
    # Both inputs have norm sqrt(d_0) = sqrt(2): (1, 1), and (1, 1) turned by a rational rotation.
    sine = Fraction(4, 5) if abs(c) == Fraction(3, 5) else Fraction(24, 25)
    turned = (c - sine, c + sine)

    def closed(share):  # acos c = pi/2 - atan(c/sqrt(1 - c^2))
        return closed_form((Rational(sine) + share * Rational(c) * (pi / 2 + atan(Rational(c / sine)))) / (2 * pi))

    return tc.Identity(ntk("relu", ((1, 1), turned)), closed(2), rivals=[closed(1)])


@tc.theorem("lee2018/arc-sine", LEE2018)
def arc_sine():
    """erf, one hidden layer: K = b_std^2 + W_std^2 (2/pi) asin(2 K^1(x,x')/sqrt((1 + 2 K^1(x,x)) (1 + 2 K^1(x',x'))))"""
    dots = [sum(p * q for p, q in zip(*pair)) for pair in ((INPUTS[0],) * 2, (INPUTS[1],) * 2, INPUTS)]
    s, t, k = (B**2 + W**2 * dot / 3 for dot in dots)

    def closed(two):
        sine = Rational(two * k) / sqrt(Rational((1 + two * s) * (1 + two * t)))
        return B**2 + W**2 * closed_form(2 / pi * atan(sine / sqrt(1 - sine**2)))

    value = nngp(tc.activations.erf, INPUTS, 1, weight_std=W, bias_std=B)
    return tc.Identity(value, closed(2), rivals=[closed(1)])


@tc.theorem("lee2018/linear-layers", JACOT2018)
@tc.for_all(layers=integers(0, 6))
def linear_layers(layers):
    """T = (L + 1) x.x'/d_0 for phi(x) = x, W_std = 1, b_std = 0: every layer of weights contributes K"""
    one = nngp("x", INPUTS, layers)
    return tc.Identity(ntk("x", INPUTS, layers), (layers + 1) * one, rivals=[(layers + 2) * one, layers * one])


@tc.theorem("lee2018/relu-kept", LEE2018)
@tc.for_all(layers=integers(1, 6))
def relu_keeps_its_variance(layers):
    """T(x, x) = 2^(-L) (L + 1) |x|^2/d_0 for relu, W_std = 1, b_std = 0: with W_std^2 = 2 every layer would keep |x|^2/d_0"""
    pair = (INPUTS[0], INPUTS[0])
    norm = sum(entry**2 for entry in INPUTS[0]) / 3
    return tc.Identity(2**layers * ntk("relu", pair, layers), (layers + 1) * norm, rivals=[norm, (layers + 2) * norm])


@tc.theorem("lee2018/one-hidden-layer", JACOT2018)
@tc.for_all(phi=sampled_from([tc.activations.tanh, tc.activations.relu]), kind=sampled_from(["nngp", "ntk"]))
def one_hidden_layer(phi, kind):
    """E k = K and E t = T at every width with one hidden layer; here four units, drawn and exactly"""
    deviation = kernel_deviation(phi, INPUTS, 1, kind=kind, power=1, width=4, weight_std=W, bias_std=B)
    return tc.Identity(deviation, 0, rivals=[Fraction(1, 10), Fraction(-1, 10)], tolerance=0.02)
