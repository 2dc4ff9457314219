"""One-pass SGD on a smoothed loss: information exponent 3 at d^(3/2), which is less than d^2 (Damian et al. 2023).

Setting.   y = h_3(z*), s = h_3; the loss -y s(<w, x>) is averaged over (w + lambda u)/sqrt(1 + lambda^2), u uniform on the unit
           sphere orthogonal to w, lambda = d^(1/4), step .6 d^(-1/2); |m| = |N(0, 1)|/sqrt d at first, until |m| >= 1/2.
Claim.     The median of n is of order d^(3/2) = d^(l/2), the lower bound of correlational queries.
Words changed.  The talk has d^(l-1) for that bound.
"""

import theoryck as tc
from theoryck.theory.one_pass import OnePass, hitting_time

from . import DAMIAN2023

SMOOTHED = OnePass(
    "(z**3 - 3*z)/sqrt(6)", "(3*z**2 - 3)/sqrt(6)", "0.6*d**(-1/2)", level=0.5, start="positive", smoothing="d**(1/4)"
)


@tc.theorem("benarous2021/smoothed", DAMIAN2023)
def smoothed():
    """l = 3 with a smoothed loss: the median of n is of order d^(3/2)"""
    along = tc.ScalingPath(d=(32, 64, 128, 256, 512))
    rivals = ["d", "d*log(d)", "d**2"]
    quantity = hitting_time(SMOOTHED, "1.05*d**(3/2)")
    return tc.Scaling(quantity, along, rate="d**(3/2)", rivals=rivals, correction=0.5, amplitude=0.2, share=0.3)
