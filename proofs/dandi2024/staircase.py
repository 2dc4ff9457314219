"""Two steps on fresh batches climb a staircase: y = z_1 + z_1 z_2 (Dandi et al. 2023).

Setting.   z_k = <w_k, x>, x ~ N(0, I_d), n = alpha d fresh samples a step.  v = X^T y/n is the first step; from v/|v| a quadratic
           neuron (s'(z) = z) makes the second, g = X'^T (y' <v, x'>/|v|)/n.
Claim.     One step learns w_1, of which y has a linear part, and not w_2; the second learns w_2, since z_1 z_2 is linear in z_2 for
           who knows z_1 (Dandi, Krzakala, Loureiro, Pesce, Stephan 2023; "hierarchical learning" in the talk).
Truth.     cos^2(v, w_1) -> m^2 = alpha/(alpha + 2),  d cos^2(v, w_2) -> 4/(alpha + 2),
           cos^2(g, w_2) -> m^2/(m^2 + (2 + 4 m^2)/alpha).
"""

from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.theory.giant_step import staircase_limits, staircase_overlap

from . import DANDI2023

ratios = sampled_from([2, 6])


def path(alpha):
    return tc.ScalingPath(d=(16, 32, 64, 128), n=f"{alpha}*d")


def claimed(what, place, alpha, rivals, part=25):
    value = staircase_limits(alpha)[place]
    return tc.Limit(staircase_overlap(what), path(alpha), value=value, rivals=rivals, tolerance=value / part, correction=1)


@tc.theorem("dandi2024/staircase-first", DANDI2023)
@tc.for_all(alpha=ratios)
def first(alpha):
    """cos^2(v, w_1) -> alpha/(alpha + 2)"""
    return claimed("first", 0, alpha, [alpha / (alpha + 1), 0])  # B = 1 without the part z_1 z_2


@tc.theorem("dandi2024/staircase-second", DANDI2023)
@tc.for_all(alpha=ratios)
def second(alpha):
    """d cos^2(v, w_2) -> 4/(alpha + 2): the first step has not learnt w_2"""
    return claimed("second", 1, alpha, [2 / (alpha + 2), 0], part=5)


@tc.theorem("dandi2024/staircase-after", DANDI2023)
@tc.for_all(alpha=ratios)
def after(alpha):
    """cos^2(g, w_2) -> m^2/(m^2 + (2 + 4 m^2)/alpha): the second step has"""
    return claimed("after", 2, alpha, [0, staircase_limits(alpha)[0]])
