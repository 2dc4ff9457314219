"""A transition, said by three statements: at both sides of the threshold and at the threshold itself (Defilippis et al. 2025).

Setting.   cos^2 of the optimal spectral method for y = z^2, n = alpha d, alpha_c = 1/2.
Claim.     Above alpha_c it tends to a number that is not 0; at alpha_c it is of order d^(-1/3), the size of the window |alpha -
           alpha_c| in which both are alike; below alpha_c it falls at least like d^(-1/2) (like a few logarithms over d, as it
           seems).
"""

import theoryck as tc
from theoryck.theory.weak_recovery import spectral_cos2, spectral_limit

from . import DEFILIPPIS2025

CRITICAL = 0.5


@tc.theorem("defilippis2025/above", DEFILIPPIS2025)
def above_the_threshold():
    """cos^2 does not decay at alpha = 1: its limit is 0.2306970"""
    along = tc.ScalingPath(d=(32, 64, 96, 128, 192))
    value = float(spectral_limit("z**2", 1.0).exact())
    return tc.Limit(spectral_cos2("z**2", 1.0), along, value=value, tolerance=0.05, rivals=[0, value / 2], correction=1)


@tc.conjecture("defilippis2025/at", DEFILIPPIS2025)
def at_the_threshold():
    """cos^2 ~ d^(-1/3) at alpha = 1/2"""
    along = tc.ScalingPath(d=(32, 64, 128, 256, 512))
    rivals = [0, "-2/3", "-1"]
    return tc.Scaling(spectral_cos2("z**2", CRITICAL), along, exponent="-1/3", rivals=rivals, correction=2 / 3, within=0.15)


@tc.conjecture("defilippis2025/below", DEFILIPPIS2025)
def below_the_threshold():
    """cos^2 = O(d^(-1/2)) at alpha = 1/4"""
    along = tc.ScalingPath(d=(32, 64, 128, 256))
    return tc.Bound(spectral_cos2("z**2", 0.25), rate="d**(-1/2)", along=along, rivals=["d**(-3/2)"], share=0.5)
