"""One leap: what the median of n/d tends to (Abbe et al. 2023).

Setting.   z1 + z1 z2, s' = 1/2 + sqrt 2 z, a step .2/d on the sphere, uniform start, until min_k |m_k| >= 0.35;  t = n/d.
Claim.     As d grows, dm/dt = c (I - m m^T) grad phi - (c^2/2) m E y^2 s'(z)^2, c = .2, m(0) = 0, which arrives at t = 7.12508399.
"""

import theoryck as tc
from theoryck.theory.one_pass import hitting_time, limiting_time

from . import ABBE2023
from .leaps import LEAP_1


@tc.theorem("abbe2023/leap-1-time", ABBE2023)
def time_of_leap_1():
    """z1 + z1 z2: the median of n/d -> 7.12508399"""
    along = tc.ScalingPath(d=(64, 128, 256, 512, 1024))
    value = limiting_time(LEAP_1)
    quantity = hitting_time(LEAP_1, "7*d", unit="d")
    return tc.Limit(quantity, along, value=value, tolerance=0.4, rivals=[6, 8.3], correction=0.5, share=0.9)
