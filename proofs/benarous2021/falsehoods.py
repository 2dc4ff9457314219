"""Falsified twins (Ben Arous et al. 2021): too few samples for the information exponent l, and the slide on correlational queries.

Setting.   y = h_l(<w*, x>), x ~ N(0, I_d), neuron s = h_l, one-pass SGD with the correlation loss on the unit sphere, |m| ~
           d^(-1/2) at first; medians of the number n of samples until |m| >= 1/2.  Each must be REFUTED.
"""

import theoryck as tc
from theoryck.theory.one_pass import OnePass, hitting_time, mean_gradient

from . import BENAROUS2021
from .hitting import SECOND, THIRD
from .smoothing import SMOOTHED


@tc.falsehood("benarous2021/second-at-d", BENAROUS2021)
def second_with_d_samples():
    """l = 2: n = O(d)"""
    along = tc.ScalingPath(d=(32, 64, 128, 256, 512))
    return tc.Bound(
        hitting_time(SECOND, "5*d*log(d)"), rate="d", along=along, within=0.05, correction=0.5, amplitude=0.1, share=0.5
    )


@tc.falsehood("benarous2021/third-at-d-log-d", BENAROUS2021)
def third_with_d_log_d_samples():
    """l = 3: n = O(d log d)"""
    along = tc.ScalingPath(d=(12, 16, 22, 32, 45))
    quantity = hitting_time(THIRD, "2.9*d**2")
    return tc.Bound(quantity, rate="d*log(d)", along=along, correction=0.5, amplitude=0.2, share=0.1)


@tc.falsehood("benarous2021/correlational-bound", BENAROUS2021)
def correlational_lower_bound():
    """n >= C d^(l-1) for whatever asks correlational queries, as printed: a smoothed loss at l = 3 would need n ~ d^2"""
    along = tc.ScalingPath(d=(32, 64, 128, 256))
    quantity = hitting_time(SMOOTHED, "1.05*d**(3/2)")
    return tc.Scaling(quantity, along, exponent=2, within=0.1, correction=0.5, amplitude=0.2, share=0.3)


@tc.falsehood("benarous2021/gradient-without-normalisation", BENAROUS2021)
@tc.example(m=0.5)
@tc.example(m=-0.6)
def gradient_without_normalisation(m):
    """the mean step on the sphere is phi'(m), without 1 - m^2"""
    quantity = mean_gradient(OnePass("(z**2 - 1)/sqrt(2)", "sqrt(2)*z", "1/d"), (m,))
    return tc.Identity(quantity, 2 * m, tolerance=1e-6)
