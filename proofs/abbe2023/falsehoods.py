"""Falsified twins (Abbe et al. 2023): another leap than the true one, and a gradient with a term dropped.

Setting.   y = f(<w_1, x>, ..., <w_r, x>), x ~ N(0, I_d), a neuron s, one-pass SGD with the correlation loss on the unit sphere,
           uniform start; medians of the number n of samples until min_k |m_k| >= 0.35.  Each must be REFUTED.
"""

import math

import theoryck as tc
from theoryck.theory.one_pass import OnePass, hitting_time, mean_gradient

from . import ABBE2023
from .leaps import LEAP_1, LEAP_2, LEAP_3, SIGN, STAIRCASE


@tc.falsehood("abbe2023/product-of-three-at-d-log-d", ABBE2023)
@tc.example(sign=False)
@tc.example(sign=True)
def product_of_three_at_d_log_d(sign):
    """z1 z2 z3, or its sign: n = O(d log d), as for an exponent of 2"""
    along = tc.ScalingPath(d=(12, 16, 22, 32, 45))
    quantity = hitting_time(SIGN, "5.4*d**2") if sign else hitting_time(LEAP_3, "2.4*d**2")
    return tc.Bound(quantity, rate="d*log(d)", along=along, correction=0.5, amplitude=0.2, share=0.1)


@tc.falsehood("abbe2023/product-at-d", ABBE2023)
def product_at_d():
    """z1 z2: n = O(d)"""
    along = tc.ScalingPath(d=(32, 64, 128, 256, 512))
    return tc.Bound(
        hitting_time(LEAP_2, "2*d*log(d)"), rate="d", along=along, within=0.05, correction=0.5, amplitude=0.1, share=0.3
    )


@tc.falsehood("abbe2023/leap-1-at-d-log-d", ABBE2023)
def leap_1_at_d_log_d():
    """z1 + z1 z2: n ~ d log d, from both sides"""
    along = tc.ScalingPath(d=(32, 64, 128, 256, 512))
    return tc.Scaling(hitting_time(LEAP_1, "7*d"), along, rate="d*log(d)", within=0.05, correction=0.5, amplitude=0.1, share=0.3)


@tc.falsehood("abbe2023/degree-decides", ABBE2023)
def degree_decides():
    """z1 + z1 z2 z3 is of degree 3, hence n ~ d^2"""
    along = tc.ScalingPath(d=(16, 24, 36, 54, 81))
    return tc.Scaling(hitting_time(STAIRCASE, "22*d*log(d)"), along, exponent=2, correction=0.5, amplitude=0.2, share=0.1)


@tc.falsehood("abbe2023/euclidean-gradient", ABBE2023)
def euclidean_gradient():
    """E y s'(z) Z_1 = d phi/d m_1: m_1 E y s''(z) is missing, 0 for z1 z2 but not for z1^2 z2"""
    m = (0.5, 0.4)
    sgd = OnePass("z1**2*z2", "(3*z**2 - 3)/sqrt(6)", "1/d")
    return tc.Identity(mean_gradient(sgd, m, 1, spherical=False), math.sqrt(6) * 2 * m[0] * m[1], tolerance=1e-3)


@tc.falsehood("abbe2023/sign-sees-nothing", ABBE2023)
def sign_sees_nothing():
    """the exponent of sign(z1 z2 z3) is infinite: the mean step of s = h_3 vanishes"""
    sgd = OnePass("sign(z1*z2*z3)", "(3*z**2 - 3)/sqrt(6)", "1/d")
    return tc.Identity(mean_gradient(sgd, (0.5, 0.4, 0.6), 1), 0, tolerance=1e-3)
