"""The mean step of one-pass SGD on the sphere, several indices (Abbe et al. 2023).

Setting.   y = f(z_1, ..., z_r), neuron s, overlaps m;  phi(m) = E f(Z) s(z) = sum_k (s_k/sqrt k!) <E f H_k, m^k>.
Claim.     E y s'(z) (Z - m z) = (I - m m^T) grad phi(m).  For z1 z2 and s = h_2, phi = sqrt 2 m_1 m_2; for z1 z2 z3 and s = h_3,
           phi = sqrt 6 m_1 m_2 m_3.
"""

import math

from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.theory.one_pass import OnePass, mean_gradient

from . import ABBE2023

CASES = {
    "z1*z2": ("sqrt(2)*z", (0.3, 0.5), lambda a, b: (math.sqrt(2) * b, math.sqrt(2) * a)),
    "z1 + z1*z2": ("1/2 + sqrt(2)*z", (0.4, -0.3), lambda a, b: (0.5 + math.sqrt(2) * b, math.sqrt(2) * a)),
    "z1*z2*z3": (
        "(3*z**2 - 3)/sqrt(6)",
        (0.5, 0.4, 0.6),
        lambda a, b, c: tuple(math.sqrt(6) * each for each in (b * c, a * c, a * b)),
    ),
}


@tc.theorem("abbe2023/gradient-of-a-sign", ABBE2023)
def gradient_of_a_sign():
    """sign(z1 z2 z3): phi = (2/pi)^(3/2) sqrt 6 m_1 m_2 m_3 for s = h_3, the exponent is 3"""
    a, b, c = m = (0.5, 0.4, 0.6)
    size = (2 / math.pi) ** 1.5 * math.sqrt(6)
    value = size * (b * c - 3 * a * a * b * c)
    quantity = mean_gradient(OnePass("sign(z1*z2*z3)", "(3*z**2 - 3)/sqrt(6)", "1/d"), m, 1)
    return tc.Identity(quantity, value, tolerance=1e-8, rivals=[0, value * math.pi / 2])


@tc.theorem("abbe2023/gradient", ABBE2023)
@tc.for_all(target=sampled_from(sorted(CASES)), k=sampled_from([1, 2]))
def gradient(target, k):
    """E y s'(z) (Z - m z) = (I - m m^T) grad phi(m)"""
    slope, m, derivative = CASES[target]
    ascent = derivative(*m)
    value = ascent[k - 1] - m[k - 1] * sum(a * b for a, b in zip(m, ascent))
    quantity = mean_gradient(OnePass(target, slope, "1/d"), m, k)
    return tc.Identity(quantity, value, tolerance=1e-9, rivals=[ascent[k - 1], (1 - m[k - 1] ** 2) * ascent[k - 1]])
