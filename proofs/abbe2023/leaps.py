"""How many samples one-pass SGD takes for several indices: n ~ d, d log d, d^2 for leaps 1, 2, 3 (Abbe et al. 2023).

Setting.   A neuron on the sphere, uniform start, until min_k |m_k| >= 0.35;  medians of the number n of samples.
Claim.     z1 + z1 z2, s' = 1/2 + sqrt 2 z, step .2/d: leap 1, n ~ d.  z1 z2, s = h_2, step .2/d, and z1 + z1 z2 z3, s' = 1/2 +
           h_3', step .04/d: leap 2, n ~ d log d.  z1 z2 z3 and sign(z1 z2 z3), s = h_3, step .3 d^(-3/2): leap 3, n ~ d^2.
Limits.    With a step c/d distances d^(-1/2) from a fixed point grow like exp(rho n/d); with c d^(-3/2), mu = sqrt d m and t =
           n/d^2, d mu = c grad phi(mu) dt - (c^2/2) E y^2 E s'^2 mu dt + noise, mu(0) ~ N(0, I), which blows up.
Level.     Late in the run the overlaps are alike, and a level l is reached (1/l - sqrt 3 artanh(sqrt 3 l))/(c sqrt 6 kappa sqrt d)
           before the blow-up in n/d^2, kappa the tensor's entry and artanh from the factor 1 - 3 m^2 of the sphere.  That is 16% of
           the limit at l = .35 and d = 24 for the sign, 7% at l = .42, a part of which other terms of order d^(-1/2) make up for:
           there n/d^2 is 5% below its limit at d = 16, 4% at d = 24.
Note.      With steps of another order there is no such n: the normalisation costs (step^2 d/2) E y^2 s'^2 m a step, and from a
           step on that is too large nothing grows (.142/d for z1 + z1 z2 z3).
"""

from dataclasses import replace

import theoryck as tc
from theoryck.theory.one_pass import OnePass, growth_rate, hitting_time

from . import ABBE2023

THIRD = "(3*z**2 - 3)/sqrt(6)"
LEAP_1 = OnePass("z1 + z1*z2", "1/2 + sqrt(2)*z", "0.2/d")
LEAP_2 = OnePass("z1*z2", "sqrt(2)*z", "0.2/d")
STAIRCASE = OnePass("z1 + z1*z2*z3", f"1/2 + {THIRD}", "0.04/d")
LEAP_3 = OnePass("z1*z2*z3", THIRD, "0.3*d**(-3/2)")
SIGN = OnePass("sign(z1*z2*z3)", THIRD, "0.3*d**(-3/2)")


@tc.theorem("abbe2023/leap-1", ABBE2023)
def leap_1():
    """z1 + z1 z2: the median of n is of order d"""
    along = tc.ScalingPath(d=(64, 128, 256, 512, 1024))
    rivals = ["d**(1/2)", "d*log(d)", "d**(3/2)"]
    return tc.Scaling(
        hitting_time(LEAP_1, "7*d"), along, rate="d", rivals=rivals, within=0.07, correction=0.5, amplitude=0.1, share=1.2
    )


@tc.theorem("abbe2023/leap-2", ABBE2023)
def leap_2():
    """z1 z2: the median of n is of order d log d, with the constant 1/(2 rho) = 2.0589, rho = sqrt 2 c - c^2 at c = .2"""
    along = tc.ScalingPath(d=(64, 181, 512, 1448, 4096))  # log d doubles, by which d is told
    options = {"rivals": ["d", "d**(3/2)", "d**2"], "within": 0.07, "correction": 0.5, "amplitude": 0.1, "share": 2.2}
    constant = 1 / (2 * growth_rate(LEAP_2))
    return tc.Scaling(hitting_time(LEAP_2, "2*d*log(d)"), along, rate="d*log(d)", constant=constant, tolerance=0.2, **options)


@tc.theorem("abbe2023/leap-2-staircase", ABBE2023)
def leap_2_of_a_staircase():
    """z1 + z1 z2 z3: the median of n is of order d log d, for a degree of 3"""
    along = tc.ScalingPath(d=(24, 48, 96, 192, 384))
    rivals = ["d**(1/2)", "d**(3/2)", "d**2"]
    quantity = hitting_time(STAIRCASE, "22*d*log(d)", runs=512)
    return tc.Scaling(quantity, along, rate="d*log(d)", rivals=rivals, correction=0.5, amplitude=0.15, share=2.5)


@tc.theorem("abbe2023/leap-3", ABBE2023)
def leap_3():
    """z1 z2 z3: the median of n is of order d^2, with the median 2.320(2) of the time of blow-up as its constant"""
    along = tc.ScalingPath(d=(16, 24, 36, 54, 81))
    options = {"rivals": ["d*log(d)", "d**(3/2)", "d**3"], "within": 0.15, "correction": 0.5, "amplitude": 0.15, "share": 2.5}
    return tc.Scaling(hitting_time(LEAP_3, "2.4*d**2", runs=1024), along, rate="d**2", constant=2.32, tolerance=0.4, **options)


@tc.theorem("abbe2023/leap-3-sign", ABBE2023)
def leap_3_of_a_sign():
    """sign(z1 z2 z3), until min_k |m_k| >= .42: the median of n is of order d^2, with the median 5.760(4) of the time of blow-up as
    its constant"""
    along = tc.ScalingPath(d=(16, 24, 36, 54, 81))
    options = {"rivals": ["d*log(d)", "d**(3/2)", "d**3"], "within": 0.15, "correction": 0.5, "amplitude": 0.1, "share": 2.5}
    sgd = replace(SIGN, level=0.42)
    return tc.Scaling(hitting_time(sgd, "5.6*d**2", runs=1024), along, rate="d**2", constant=5.76, tolerance=0.3, **options)
