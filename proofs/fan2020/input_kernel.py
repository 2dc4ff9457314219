"""Level 0: the Gram matrix of Gaussian inputs is a Wishart matrix, and everything about it is known (Fan, Wang 2020).

Setting.   K_0 = X^T X, X of d x n independent N(0, 1/d), n = c d.  At finite size E (1/n) tr (K_0 + gamma)^-1 is an exact integral
           over the mean density of the eigenvalues; beside it the tridiagonal form of Wishart matrices is drawn.
Claim.     (1/n) tr (K_0 + gamma)^-1 -> m(-gamma),  c gamma m^2 + (gamma + 1 - c) m = 1.
Truth.     The bias is b/n with b = [(a + gamma)^(-1/2) - (a' + gamma)^(-1/2)]^2 / 4, the variance v/n^2 with
           v = 2 c / [(a + gamma)(a' + gamma)]^2, where a, a' = (1 -+ sqrt(c))^2 (Bai, Silverstein 2004).

Distribution functions differ by Delta/d, Delta = 1/4 - phi/(2 pi) the mean of Bai and Silverstein at x = (a + a')/2 - (a' - a)/2
cos(phi), so their squared distance is of order 1/d^2.  It is computed without draws at odd d, and its power is seen to 0.01.
"""

from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.theory.spectra import (
    eigenvalue,
    marchenko_pastur,
    mean_resolvent,
    resolvent_trace,
    resolvent_variance,
    spectral_distance,
)

from . import FAN2020

ratios = sampled_from([1, 2])
shifts = sampled_from(["1/10", "1"])
inputs = tc.DeepNetwork(tc.activations.identity, depth=0, widths=("d",))
# int (1/4 - phi/(2 pi))^2 dF over [0, pi], dF = (2/pi) sin^2(phi) dphi/(1 + c - 2 sqrt(c) cos(phi)), c = 1/ratio.
DISTANCES = {1: 1 / 48, 2: 0.013459170920}


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


@tc.conjecture("fan2020/input-distance", FAN2020)
@tc.for_all(ratio=ratios)
def input_distance(ratio):
    """d^2 int (F_d - F)^2 dF -> int (1/4 - phi/(2 pi))^2 dF, F_d the mean distribution function of eigenvalues of K_0 not 0"""
    # The next term is of relative order log(d)/d, no power: none is declared, and half octaves take its place.
    along = tc.ScalingPath(d=(17, 25, 33, 49, 65, 97, 129, 193, 257))
    distance = spectral_distance(ratio)
    return tc.Scaling(distance, along, exponent=-2, constant=DISTANCES[ratio], rivals=["-3/2", -3], within=0.01)
