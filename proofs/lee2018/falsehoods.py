"""Falsified twins (Lee et al. 2018): one term, one power or one derivative changed.  Each must be REFUTED."""

from fractions import Fraction

from hypothesis.strategies import integers, sampled_from
from scipy.stats import norm

import theoryck as tc
from theoryck.quantities import kernel
from theoryck.theory.wide import kernel_deviation, nngp, ntk, output, output_bias, output_cumulant, output_distance, output_kurtosis

from . import JACOT2018, LEE2018
from .recursions import INPUTS, B, W, covariance

activations = sampled_from([tc.activations.tanh, tc.activations.erf, tc.activations.relu])
nonlinear = sampled_from([tc.activations.erf, tc.activations.tanh, tc.activations.sin])


def path(first=16, last=256):
    return tc.ScalingPath(d=tc.doubling(first, last), width="d", input_dim="d")


def both(phi, layers):
    return [which(phi, INPUTS, layers, weight_std=W, bias_std=B) for which in (nngp, ntk)]


# The recursions --------------------------------------------------------------------------------------------------------------


@tc.falsehood("lee2018/ntk-without-nngp", JACOT2018)
@tc.for_all(phi=activations, layers=integers(1, 3))
def ntk_without_nngp(phi, layers):
    """T^(l+1) = W_std^2 E phi'(u) phi'(u') T^l, without K^(l+1): the weights of the last layer do not move"""
    slope = kernel(phi.derivative(), *covariance(phi, layers - 1))
    return tc.Identity(both(phi, layers)[1], W**2 * slope * both(phi, layers - 1)[1])


@tc.falsehood("lee2018/ntk-without-derivative", JACOT2018)
@tc.for_all(phi=activations, layers=integers(1, 3))
def ntk_without_derivative(phi, layers):
    """T^(l+1) = K^(l+1) + W_std^2 E phi(u) phi(u') T^l, with phi in the place of phi'"""
    mean = kernel(phi, *covariance(phi, layers - 1))
    return tc.Identity(both(phi, layers)[1], both(phi, layers)[0] + W**2 * mean * both(phi, layers - 1)[1])


@tc.falsehood("lee2018/ntk-scale", JACOT2018)
@tc.for_all(phi=activations, layers=integers(1, 3))
def ntk_with_one_factor_of_the_scale(phi, layers):
    """T^(l+1) = K^(l+1) + W_std E phi'(u) phi'(u') T^l: W_std enters once"""
    slope = kernel(phi.derivative(), *covariance(phi, layers - 1))
    return tc.Identity(both(phi, layers)[1], both(phi, layers)[0] + W * slope * both(phi, layers - 1)[1])


@tc.falsehood("lee2018/ntk-mean-slopes", JACOT2018)
@tc.for_all(phi=sampled_from([tc.activations.tanh, tc.activations.erf]))
def ntk_with_independent_slopes(phi):
    """T^2 = K^2 + W_std^2 E phi'(u) E phi'(u') T^1: slopes at both inputs taken as independent"""
    first, second, _ = covariance(phi, 0)
    slopes = tc.quantities.gaussian_mean(phi.derivative(), first) * tc.quantities.gaussian_mean(phi.derivative(), second)
    return tc.Identity(both(phi, 1)[1], both(phi, 1)[0] + W**2 * slopes * both(phi, 0)[1])


@tc.falsehood("lee2018/nngp-bias-inside", LEE2018)
@tc.for_all(phi=activations, layers=integers(2, 3))
def nngp_with_bias_at_the_input_only(phi, layers):
    """K^(l+1) = W_std^2 E phi(u) phi(u'): b_std in the first layer only"""
    return tc.Identity(both(phi, layers)[0], W**2 * kernel(phi, *covariance(phi, layers - 1)))


@tc.falsehood("lee2018/nngp-bias-scaled", LEE2018)
@tc.for_all(phi=activations, layers=integers(1, 3))
def nngp_with_bias_under_the_weights(phi, layers):
    """K^(l+1) = W_std^2 (b_std^2 + E phi(u) phi(u'))"""
    return tc.Identity(both(phi, layers)[0], W**2 * (B**2 + kernel(phi, *covariance(phi, layers - 1))))


# The law of the output -------------------------------------------------------------------------------------------------------


@tc.falsehood("lee2018/linear-model-same-kurtosis", LEE2018)
@tc.for_all(phi=nonlinear)
def same_kurtosis(phi):
    """The excess kurtosis of the network has the constant of its linear model, 6 eta_0^4/(sigma_L^2 d)"""
    network = tc.DeepNetwork(phi, depth=1)
    constant = 64 * float(output_kurtosis(network, equivalent=True).exact({"input_dim": 64, "width": 64}))
    return tc.Scaling(output_kurtosis(network), path(64, 1024), exponent=-1, constant=constant, correction=1)


@tc.falsehood("lee2018/kurtosis-second-order", LEE2018)
@tc.for_all(phi=nonlinear, depth=integers(1, 2))
def kurtosis_of_second_order(phi, depth):
    """E f^4 - 3 (E f^2)^2 = O(1/d^2): Gaussian up to the second order"""
    network = tc.DeepNetwork(phi, depth=depth)
    return tc.Bound(output_cumulant(network), rate="d**(-2)", along=path(), correction=1)


@tc.falsehood("lee2018/bias-second-order", LEE2018)
@tc.for_all(phi=nonlinear)
def bias_of_second_order(phi):
    """E f^2 - sigma_L = O(1/d^2)"""
    network = tc.DeepNetwork(phi, depth=1)
    return tc.Scaling(output_bias(network), path(), exponent=-2, correction=1)


@tc.falsehood("lee2018/output-law-rate", LEE2018)
@tc.for_all(depth=integers(2, 3))
def law_of_second_order(depth):
    """f -> N(0, 1) with squared L2 distance O(d^-4), phi(x) = x: distributions that differ by 1/d^2"""
    network = tc.DeepNetwork(tc.activations.identity, depth=depth)
    return tc.Law(output(network), path(4, 32), norm(), rate="d**(-4)", correction=1, amplitude=0.5)


@tc.falsehood("lee2018/output-distance-root", LEE2018)
@tc.for_all(phi=sampled_from([tc.activations.erf, tc.activations.tanh]))
def distance_of_the_root(phi):
    """int (G - F)^2 dF ~ C/d, as if distribution functions differed by 1/sqrt(d)"""
    network = tc.DeepNetwork(phi, depth=1)
    return tc.Scaling(output_distance(network), path(32, 256), exponent=-1, correction=1)


# Kernels of finite networks --------------------------------------------------------------------------------------------------


@tc.falsehood("lee2018/kernel-frozen", JACOT2018)
@tc.for_all(phi=activations, kind=sampled_from(["nngp", "ntk"]))
def kernel_of_second_order(phi, kind):
    """E (k - K)^2 = O(1/d^2): kernels that fluctuate by 1/d"""
    deviation = kernel_deviation(phi, INPUTS, 1, kind=kind, weight_std=W, bias_std=B)
    return tc.Bound(deviation, rate="d**(-2)", along=tc.ScalingPath(d=tc.doubling(8, 128), width="d"), correction=1)


@tc.falsehood("lee2018/deep-kernel-unbiased", LEE2018)
@tc.for_all(phi=sampled_from([tc.activations.tanh, tc.activations.erf]))
def deep_kernel_without_bias(phi):
    """E k = K at every width with two hidden layers, as with one; x = x', four units"""
    same = ((Fraction(1), Fraction(2)),) * 2
    return tc.Identity(kernel_deviation(phi, same, 2, power=1, width=4), 0, tolerance=0.002)
