"""Falsified twins (Defilippis et al. 2025): overlaps of the spectral method on either side of its threshold, and at it.

Setting.   y = z^2, z = <w, x>, x ~ N(0, I_d), n = alpha d; cos^2 of w and the top eigenvector of (1/n) sum_i T(y_i) x_i x_i^T, T =
           1 - 1/y; alpha_c = 1/2.  Each must be REFUTED.
"""

import theoryck as tc
from theoryck.theory.weak_recovery import spectral_cos2, spectral_limit

from . import DEFILIPPIS2025


@tc.falsehood("defilippis2025/overlap-below", DEFILIPPIS2025)
def overlap_below_the_threshold():
    """cos^2 does not decay at alpha = 1/4"""
    along = tc.ScalingPath(d=(32, 64, 128, 256))
    return tc.Scaling(spectral_cos2("z**2", 0.25), along, exponent=0, within=0.1)


@tc.falsehood("defilippis2025/overlap-is-fixed-point", DEFILIPPIS2025)
def overlap_is_the_fixed_point():
    """the limit of cos^2 at alpha = 1 is that of message passing, 0.476: they agree only in their slope at alpha_c"""
    return tc.Identity(spectral_limit("z**2", 1.0), 0.476263585498, tolerance=1e-6)


@tc.falsehood("defilippis2025/window", DEFILIPPIS2025)
def window_of_the_mean():
    """cos^2 ~ d^(-1) at alpha_c, as for a direction that has nothing to do with the signal"""
    along = tc.ScalingPath(d=(32, 64, 128, 256))
    return tc.Scaling(spectral_cos2("z**2", 0.5), along, exponent=-1, within=0.1)
