"""How many samples one-pass SGD takes for one index: n ~ d, d log d, d^2 for information exponents 1, 2, 3 (Ben Arous et al. 2021).

Setting.   y = h_l(z*), neuron s = h_l, |m| = |N(0, 1)|/sqrt d at first, until |m| >= 1/2;  medians of the number n of samples.
Claim.     l = 1, step .2/d: n ~ d.  l = 2, step .05/d: n ~ d log d.  l = 3, step .15 d^(-3/2): n ~ d^2.
"""

import theoryck as tc
from theoryck.theory.one_pass import OnePass, hitting_time

from . import BENAROUS2021

FIRST = OnePass("z", "1", "0.2/d", level=0.5, start="positive")
SECOND = OnePass("(z**2 - 1)/sqrt(2)", "sqrt(2)*z", "0.05/d", level=0.5, start="positive")
THIRD = OnePass("(z**3 - 3*z)/sqrt(6)", "(3*z**2 - 3)/sqrt(6)", "0.15*d**(-3/2)", level=0.5, start="positive")


@tc.theorem("benarous2021/first", BENAROUS2021)
def first():
    """l = 1: the median of n is of order d"""
    along = tc.ScalingPath(d=(64, 128, 256, 512, 1024))
    rivals = ["d**(1/2)", "d*log(d)", "d**(3/2)"]
    return tc.Scaling(
        hitting_time(FIRST, "2.8*d"), along, rate="d", rivals=rivals, within=0.07, correction=0.5, amplitude=0.1, share=0.3
    )


@tc.theorem("benarous2021/second", BENAROUS2021)
def second():
    """l = 2: the median of n is of order d log d"""
    along = tc.ScalingPath(d=(64, 128, 256, 512, 1024))
    rivals = ["d", "d**(3/2)", "d**2"]
    quantity = hitting_time(SECOND, "5*d*log(d)")
    return tc.Scaling(quantity, along, rate="d*log(d)", rivals=rivals, within=0.07, correction=0.5, amplitude=0.1)


@tc.theorem("benarous2021/third", BENAROUS2021)
def third():
    """l = 3: the median of n is of order d^2"""
    along = tc.ScalingPath(d=(24, 36, 54, 81, 121))
    rivals = ["d*log(d)", "d**(3/2)", "d**3"]
    quantity = hitting_time(THIRD, "2.9*d**2", runs=1024)
    return tc.Scaling(quantity, along, rate="d**2", rivals=rivals, within=0.15, correction=0.5, amplitude=0.1, share=2.5)
