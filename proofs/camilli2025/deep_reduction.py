"""Deep networks and their linear models carry the same information (Camilli et al. 2025).

Setting.   As in one_layer_reduction, with L layers: Y = f(a . x_L) + sqrt(Delta) Z against f(eta_0 v . x_0 + sqrt(gamma_0) xi).
Claim.     |I^(L) - I^(0)| / n  =  O((1 + sqrt(n/d_min) + n/d_min) / sqrt(d_min)),  by L one-layer reductions.
Truth.     Holds and is loose: the total difference stays bounded at n ~ d for every L measured.
"""

from hypothesis.strategies import sampled_from

import theoryck as tc

from . import CAMILLI2025

REDUCTION = "(1 + sqrt(n/d_min) + n/d_min) / sqrt(d_min)"
patterns = sampled_from([(1, 1), (1, 2, 1), (2, 1, 3), (1, 1, 1, 1)])


def setting(phi, pattern, noise="1/2"):
    network = tc.DeepNetwork(phi, depth=len(pattern) - 1, widths=pattern * tc.size("d"))
    return tc.TeacherStudent(network, samples="n", noise=noise)


def path(pattern, sizes):
    return tc.ScalingPath(d=sizes, n="d", d_min=f"{min(pattern)}*d")


@tc.theorem("camilli2025/deep-reduction-linear", CAMILLI2025)
@tc.for_all(pattern=patterns)
def deep_reduction_linear(pattern):
    """|I^(L) - I^(0)|/n = O((1 + sqrt(n/d_min) + n/d_min)/sqrt(d_min)), linear phi, widths pattern * d"""
    gap = tc.learning.mutual_information_gap(setting("x", pattern), per_sample=True)
    along = path(pattern, tc.doubling(16, 128))
    return tc.Bound(gap, rate=REDUCTION, along=along, rivals=["d_min**(-2)"], correction=1, amplitude=0.5)


@tc.theorem("camilli2025/deep-reduction", CAMILLI2025)
@tc.for_all(network=sampled_from([("erf(x)", (1, 1, 1)), ("sin(x)", (1, 2, 1)), ("sin(x)", (1, 1, 1, 1))]))
def deep_reduction(network):
    """|I^(L) - I^(0)|/n = O((1 + sqrt(n/d_min) + n/d_min)/sqrt(d_min)), L = 2 and 3, widths pattern * d"""
    phi, pattern = network
    gap = tc.learning.mutual_information_gap(setting(phi, pattern), per_sample=True)
    along = path(pattern, (4, 8, 16, 32))
    # A data set at depth 3 and d = 32 takes 0.3 s: a single share leaves too few to know their scatter.
    return tc.Bound(gap, rate=REDUCTION, along=along, rivals=["d_min**(-2)"], correction=1, amplitude=0.5, share=4)
