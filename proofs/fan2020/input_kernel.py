"""Level 0: the Gram matrix of Gaussian inputs is a Wishart matrix, and everything about it is known.

Setting.   K_0 = X^T X, X of d x n independent N(0, 1/d), n = c d.  At finite size E (1/n) tr (K_0 + gamma)^-1 is an exact integral
           over the mean density of the eigenvalues; beside it the tridiagonal form of Wishart matrices is drawn.
Claim.     (1/n) tr (K_0 + gamma)^-1 -> m(-gamma),  c gamma m^2 + (gamma + 1 - c) m = 1.
Truth.     The bias is b/n with b = [(a + gamma)^(-1/2) - (a' + gamma)^(-1/2)]^2 / 4, the variance v/n^2 with
           v = 2 c / [(a + gamma)(a' + gamma)]^2, where a, a' = (1 -+ sqrt(c))^2 (Bai, Silverstein 2004).

The mean density is its limit plus terms of relative order 1/n, so distribution functions differ by O(1/n), and their squared
distance, whose exponent is shown, is of order 1/n^2.
"""

from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.asymptotics import marchenko_pastur, mean_resolvent
from theoryck.quantities import eigenvalue, resolvent_trace, resolvent_variance

from . import FAN2020

ratios = sampled_from([1, 2])
shifts = sampled_from(["1/10", "1"])
inputs = tc.DeepNetwork(tc.activations.identity, depth=0, widths=("d",))


@tc.theorem("fan2020/input-resolvent", FAN2020)
@tc.for_all(ratio=ratios, gamma=shifts)
def input_resolvent(ratio, gamma):
    """E (1/n) tr (K_0 + gamma)^-1 -> m(-gamma) of the Marchenko-Pastur law, n = ratio * d"""
    trace = resolvent_trace(inputs, f"{ratio}*d", shift=gamma)
    limit = mean_resolvent(ratio, gamma)
    along = tc.ScalingPath(d=(8, 16, 32, 64))
    return tc.Limit(trace, along, value=limit, rate="1/d", tolerance=0.01 * limit, rivals=[1.05 * limit], correction=1)


@tc.conjecture("fan2020/input-bias", FAN2020)
@tc.for_all(ratio=ratios, gamma=shifts)
def input_bias(ratio, gamma):
    """n [E (1/n) tr (K_0 + gamma)^-1 - m(-gamma)] -> b in closed form, n = ratio * d"""
    bias = resolvent_trace(inputs, f"{ratio}*d", shift=gamma, against=mean_resolvent(ratio, gamma, digits=30))
    constant = marchenko_pastur(ratio).resolvent_bias(gamma) / ratio
    along = tc.ScalingPath(d=tc.doubling(8, 128))
    return tc.Scaling(bias, along, exponent=-1, constant=constant, rivals=["-1/2", -2], correction=1, within=0.01)


@tc.conjecture("fan2020/input-variance", FAN2020)
@tc.for_all(ratio=ratios, gamma=shifts)
def input_variance(ratio, gamma):
    """n^2 Var (1/n) tr (K_0 + gamma)^-1 -> v in closed form, n = ratio * d: the trace concentrates at rate 1/n"""
    variance = resolvent_variance(inputs, f"{ratio}*d", shift=gamma)
    constant = marchenko_pastur(ratio).resolvent_variance(gamma) / ratio**2
    along = tc.ScalingPath(d=tc.doubling(8, 64))
    return tc.Scaling(variance, along, exponent=-2, constant=constant, rivals=[-1, -3], correction=1)


@tc.theorem("fan2020/input-law", FAN2020)
@tc.for_all(ratio=ratios)
def input_law(ratio):
    """An eigenvalue of K_0 that is not 0, at random, tends in law to the Marchenko-Pastur law, n = ratio * d"""
    law = marchenko_pastur(ratio).nonzero()
    along = tc.ScalingPath(d=(4, 6, 8, 12, 16))
    return tc.Law(eigenvalue(inputs, f"{ratio}*d"), along, law, rivals=["d**(-4)"], correction=1)
