"""One index beyond the threshold (Troiani et al. 2024): where the best algorithm stops, and message passing in d dimensions.

Setting.   y = z^2, z = <w, x>, n = alpha d;  q_t the overlap of the estimate, V = 1 - q, mmse(q) = E Var(z | y, omega), omega ~
           N(0, q).
Claim.     q <- q^/(1 + q^), q^ = alpha (V - mmse)/V^2, so that fixed points lie on alpha(q) = q (1 - q)/((1 - q) - mmse(q)).  From
           nothing the algorithm reaches the first of them, and all of w from alpha = max_q alpha(q) on.
"""

from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.theory.weak_recovery import fixed_point, full_recovery_threshold, gamp_overlap, state_evolution

from . import MONDELLI2018, TROIANI2024

SQUARE = "z**2"


@tc.theorem("troiani2024/square-overlap", TROIANI2024)
@tc.for_all(
    case=sampled_from([("0.6", "0.051820272089"), ("0.8", "0.216227490296"), ("1", "0.476263585498"), ("1.1", "0.690788776880")])
)
def square_overlap(case):
    """q*(alpha) for z^2, an overlap that is not 0 above 1/2 and not 1 below 1.1284714"""
    alpha, value = case
    return tc.Identity(fixed_point(SQUARE, float(alpha)), value, tolerance=1e-9, rivals=[0, 1])


@tc.theorem("troiani2024/square-full", TROIANI2024)
def square_full_recovery():
    """z^2: everything is found from alpha = 1.128471406672 on"""
    return tc.Identity(full_recovery_threshold(SQUARE), "1.128471406672", tolerance=1e-10, rivals=[0.5, 1, 1.13])


@tc.theorem("troiani2024/message-passing", MONDELLI2018)
@tc.for_all(case=sampled_from([(0.9, 0.1, 1), (0.9, 0.1, 3), (0.4, 0.3, 2)]))
def message_passing(case):
    """message passing for z^2 from an estimate of overlap q_0 has the overlap q_t of state evolution as d grows"""
    alpha, start, steps = case
    path = state_evolution(SQUARE, alpha, start=start, steps=steps)
    rivals = [path[steps] - 0.1, path[steps] + 0.1]
    along = tc.ScalingPath(d=(64, 128, 256, 512))
    quantity = gamp_overlap(alpha, start=start, steps=steps)
    return tc.Limit(quantity, along, value=float(path[steps]), tolerance=0.04, rivals=rivals, correction=1)
