"""Falsified twins (Fan, Wang 2020): one constant of the recursion changed, or the ratios swapped.  Each must be REFUTED.

All at phi = erf, gamma = 1/10, c = (1, 4/5), where the limit of (1/n) tr (K_1 + gamma)^-1 is 4.2044.
"""

from dataclasses import replace

import theoryck as tc
from theoryck.theory.spectra import conjugate_kernel, eigenvalue, marchenko_pastur, resolvent_trace

from . import FAN2020

NETWORK = tc.DeepNetwork(tc.activations.erf, depth=1, widths=("n", "5*n/4"))
KERNEL = conjugate_kernel(tc.activations.erf, (1, 0.8))
RHO, EPSILON = KERNEL.rho[0], KERNEL.epsilon[0]
SIGMA = RHO**2 + EPSILON


def limit(kernel):
    trace = resolvent_trace(NETWORK, shift="1/10")
    return tc.Limit(trace, tc.ScalingPath(n=(8, 16, 32)), value=kernel.resolvent("1/10"), tolerance=0.04, correction=1)


@tc.falsehood("fan2020/resolvent-without-epsilon", FAN2020)
def no_noise():
    """(1/n) tr (K_1 + gamma)^-1 -> the limit with epsilon = 0: 4.675"""
    return limit(replace(KERNEL, epsilon=(0.0,)))


@tc.falsehood("fan2020/resolvent-rho-not-squared", FAN2020)
def slope_not_squared():
    """(1/n) tr (K_1 + gamma)^-1 -> the limit with rho in the place of rho^2: 3.749"""
    return limit(replace(KERNEL, rho=(RHO**0.5,)))


@tc.falsehood("fan2020/resolvent-epsilon-not-squared", FAN2020)
def noise_with_slope_not_squared():
    """(1/n) tr (K_1 + gamma)^-1 -> the limit with epsilon = |sigma - rho|: 3.271"""
    return limit(replace(KERNEL, epsilon=(abs(SIGMA - RHO),)))


@tc.falsehood("fan2020/resolvent-swapped-ratios", FAN2020)
def swapped_ratios():
    """(1/n) tr (K_1 + gamma)^-1 -> the limit with n/d_0 and n/d_1 swapped: 4.350"""
    return limit(replace(KERNEL, ratios=(0.8, 1)))


# With n = 2 d_0 the linear part of K_1 has rank n/2: what epsilon adds is seen at once.
WIDE = tc.DeepNetwork(tc.activations.erf, depth=1, widths=("n/2", "2*n"))


def spectrum(law):
    # The distribution functions differ by a constant plus O(1/n), so the squared distance has a relative correction of order 1/n.
    return tc.Law(eigenvalue(WIDE), tc.ScalingPath(n=(4, 8, 16, 32)), law, rate="1/n", correction=1)


@tc.falsehood("fan2020/law-without-epsilon", FAN2020)
def law_without_noise():
    """An eigenvalue of K_1 at random tends to the law with epsilon = 0 and the same mean, of the half that is not 0 at n = 2 d_0"""
    linear = replace(KERNEL, ratios=(2, 0.5), rho=((SIGMA / 2) ** 0.5,), epsilon=(0.0,))
    return spectrum(linear.law().nonzero())


@tc.falsehood("fan2020/law-of-independent-entries", FAN2020)
def law_of_independent_entries():
    """An eigenvalue of K_1 at random tends to the Marchenko-Pastur law of scale sigma_1, as if phi(W x) had independent entries"""
    return spectrum(marchenko_pastur(0.5, SIGMA))


@tc.falsehood("fan2020/bias-inverse-square", FAN2020)
def bias_of_higher_order():
    """E (1/n) tr (K_1 + gamma)^-1 - m_1(-gamma) = O(n^-2)"""
    network = tc.DeepNetwork(tc.activations.erf, depth=1, widths=("n", "n"))
    difference = resolvent_trace(network, shift="1/10", against=conjugate_kernel(tc.activations.erf, (1, 1)).resolvent("1/10"))
    return tc.Bound(difference, rate="n**(-2)", along=tc.ScalingPath(n=(8, 16, 32)), correction=1)
