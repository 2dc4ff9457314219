"""The mean step of one-pass SGD on the sphere, one index (Ben Arous et al. 2021).

Setting.   y = g(z*), neuron s, (z*, z) standard Gaussian of correlation m;  phi(m) = E g(z*) s(z) = sum_k g_k s_k m^k.
Claim.     E g(z*) s'(z) (z* - m z) = (1 - m^2) phi'(m) = l g_l s_l m^(l-1) + ...
"""

import math

from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.theory.one_pass import OnePass, mean_gradient

from . import BENAROUS2021

CASES = {
    "l = 1": ("z", "1", lambda m: 1),
    "l = 2": ("(z**2 - 1)/sqrt(2)", "sqrt(2)*z", lambda m: 2 * m),
    "l = 3": ("(z**3 - 3*z)/sqrt(6)", "(3*z**2 - 3)/sqrt(6)", lambda m: 3 * m**2),
    "l = 1, with a square": ("z + z**2", "1 + 2*z", lambda m: 1 + 4 * m),
}


@tc.theorem("benarous2021/gradient", BENAROUS2021)
@tc.for_all(case=sampled_from(sorted(CASES)), m=sampled_from([0.25, 0.5, -0.6]))
def gradient(case, m):
    """E g(z*) s'(z) (z* - m z) = (1 - m^2) phi'(m)"""
    target, slope, derivative = CASES[case]
    value = (1 - m * m) * derivative(m)
    quantity = mean_gradient(OnePass(target, slope, "1/d"), (m,))
    return tc.Identity(quantity, value, tolerance=1e-9, rivals=[derivative(m), value / math.sqrt(1 - m * m)])
