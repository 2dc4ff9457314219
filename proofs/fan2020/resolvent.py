"""Resolvent traces of conjugate kernels tend to the limit of the recursion (Fan, Wang 2020).

Setting.   K_l as in the folder's docstring, gamma > 0;  m_l(-gamma) = lim (1/n) tr (K_l + gamma)^-1.
Claim.     (1/n) tr (K_l + gamma)^-1 -> m_l(-gamma), where with c = c_l, v < 0 the root of  v (1 - c - c v h(v)) = -gamma:
           m_l(-gamma) = h(v)/(1 - c - c v h(v)),  h(v) = m_{l-1}((v - epsilon_l)/rho_l^2)/rho_l^2.
Truth.     The bias is of order 1/n and not smaller.
"""

from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.theory.spectra import conjugate_kernel, resolvent_trace

from . import FAN2020

activations = sampled_from([tc.activations.erf, tc.activations.sin])
GAMMA = "1/10"
LAYERS = {1: (("n", "n"), (1, 1)), 2: (("n", "2*n", "n"), (1, 0.5, 1))}


def setting(phi, depth):
    widths, ratios = LAYERS[depth]
    return tc.DeepNetwork(phi, depth=depth, widths=widths), conjugate_kernel(phi, ratios)


@tc.theorem("fan2020/resolvent", FAN2020)
@tc.for_all(phi=activations, depth=sampled_from([1, 2]))
def resolvent(phi, depth):
    """E (1/n) tr (K_l + gamma)^-1 -> m_l(-gamma) of the recursion, gamma = 1/10, l = 1, 2"""
    network, kernel = setting(phi, depth)
    limit = kernel.resolvent(GAMMA)
    along = tc.ScalingPath(n=(8, 16, 32))
    rivals = [0.9 * limit, 1.1 * limit]
    trace = resolvent_trace(network, shift=GAMMA)
    return tc.Limit(trace, along, value=limit, tolerance=0.03 * limit, rivals=rivals, correction=1)


@tc.conjecture("fan2020/bias", FAN2020)
def bias():
    """E (1/n) tr (K_1 + gamma)^-1 - m_1(-gamma) is of order 1/n, phi = erf, c = (1, 1), gamma = 1/30"""
    network, kernel = setting(tc.activations.erf, 1)
    difference = resolvent_trace(network, shift="1/30", against=kernel.resolvent("1/30"))
    along = tc.ScalingPath(n=(8, 16, 32, 64))
    return tc.Scaling(difference, along, exponent=-1, rivals=["-1/2", -2], correction=1)
