"""Falsified twins (Pennington, Worah 2017) of the quartic.  Each must be REFUTED.

Setting.   phi = erf, c = (1, 4/5), gamma = 1/10: the limit is 4.2044.
"""

import theoryck as tc
from theoryck.theory.spectra import (
    eigenvalue,
    marchenko_pastur,
    pennington_worah,
    quartic_roots,
    quartic_transform,
    resolvent_trace,
)

from . import PENNINGTON2017
from .quartic import constants, from_companion

NETWORK = tc.DeepNetwork(tc.activations.erf, depth=1, widths=("n", "5*n/4"))
ETA, ZETA = constants(tc.activations.erf)
Z, RATIO = -0.1, 0.8


def limit(transform):
    value = from_companion(transform, Z, RATIO).real
    trace = resolvent_trace(NETWORK, shift="1/10")
    return tc.Limit(trace, tc.ScalingPath(n=(8, 16, 32)), value=value, tolerance=0.04, correction=1)


@tc.falsehood("pennington2017/other-real-root", PENNINGTON2017)
def other_real_root():
    """(1/n) tr (K_1 + gamma)^-1 -> m_1 from the other real root of the quartic"""
    place = Z / RATIO
    chosen = pennington_worah(place, 1, RATIO, ETA, ZETA)
    roots = [quartic_transform(root, place, RATIO) for root in quartic_roots(place, 1, RATIO, ETA, ZETA) if abs(root.imag) < 1e-9]
    return limit(max(roots, key=lambda root: abs(root - chosen)))


@tc.falsehood("pennington2017/linear-network", PENNINGTON2017)
def linear_network():
    """(1/n) tr (K_1 + gamma)^-1 -> m_1 with zeta = eta: the linear network of the same eta"""
    return limit(pennington_worah(Z / RATIO, 1, RATIO, ETA, ETA))


@tc.falsehood("pennington2017/no-linear-part", PENNINGTON2017)
def no_linear_part():
    """(1/n) tr (K_1 + gamma)^-1 -> m_1 with zeta = 0: independent entries of the same eta"""
    return limit(pennington_worah(Z / RATIO, 1, RATIO, ETA, 0))


@tc.falsehood("pennington2017/swapped-ratios", PENNINGTON2017)
def swapped_ratios():
    """(1/n) tr (K_1 + gamma)^-1 -> m_1 with n_0/m and n_0/n_1 swapped"""
    return limit(pennington_worah(Z / RATIO, RATIO, 1, ETA, ZETA))


@tc.falsehood("pennington2017/isotropic-even-if-sloped", PENNINGTON2017)
def isotropic_even_if_sloped():
    """zeta > 0: an eigenvalue of K_1 at random tends to Marchenko-Pastur of ratio c_1 and scale eta, at rate 1/sqrt(n)"""
    wide = tc.DeepNetwork(tc.activations.erf, depth=1, widths=("n/2", "2*n"))
    law = marchenko_pastur(0.5, ETA)
    return tc.Law(eigenvalue(wide), tc.ScalingPath(n=(4, 8, 16, 32)), law, rate="1/n", correction=1)
