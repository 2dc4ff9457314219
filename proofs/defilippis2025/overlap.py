"""The overlap of the optimal spectral method above its threshold (Defilippis et al. 2025).

Setting.   n = alpha d samples of y = f(z), the top eigenvector of (1/n) sum_i T(y_i) x_i x_i^T, T = G/(1 + G), G = E[z_v^2 - 1 |
           y].
Claim.     cos^2 with the direction v -> (1/alpha - E[G^2/W^2])/(1/alpha + E[G^3/W^2]), W = lambda + (lambda - 1) G, E[G^2/W] =
           1/alpha.
"""

from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.theory.weak_recovery import spectral_cos2, spectral_limit

from . import DEFILIPPIS2025


@tc.theorem("defilippis2025/overlap-value", DEFILIPPIS2025)
@tc.for_all(
    case=sampled_from(
        [
            ("z**2", "0.75", "0.111203594528"),
            ("z**2", "1.5", "0.457076489055"),
            ("z1*z2", "1", "0.138805158713"),
            ("z1*z2", "2", "0.432538632809"),
            ("z1*z2*z3", "6", "0.461339688903"),
        ]
    )
)
def overlap_value(case):
    """the limit of cos^2, as an independent program has it"""
    link, alpha, value = case
    return tc.Identity(spectral_limit(link, float(alpha)), value, tolerance=1e-10, rivals=[0, 1])


@tc.theorem("defilippis2025/overlap", DEFILIPPIS2025)
@tc.for_all(case=sampled_from([("z**2", 1.0), ("z**2", 2.0), ("z1*z2", 1.5), ("z1*z2", 2.0)]))
def overlap(case):
    """cos^2 in d dimensions tends to its limit"""
    link, alpha = case
    value = float(spectral_limit(link, alpha).exact())
    along = tc.ScalingPath(d=(32, 64, 96, 128, 192))
    return tc.Limit(spectral_cos2(link, alpha), along, value=value, tolerance=0.05, rivals=[0, 2 * value], correction=1)
