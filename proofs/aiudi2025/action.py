"""The effective action against the exact average over Q, for linear units (Aiudi et al. 2025).

Setting.   Z = int dQ |Q|^(-(N_p + 1)/2) e^(-N_c S(Q)/2); log Z_S = -N_c (S(Q*) - S_0)/2 - (P/2) log 2 pi at its saddle Q*.
Claim.     log Z ~ log Z_S for P ~ N_c (Aiudi et al. 2025).
Truth.     At fixed P log Z_S - log Z ~ c/N_c, and c does not vanish: it is the part C_ab l_ab/2 of the coefficient of 1/N_c.  With
           the determinant of the fluctuations the error is O(1/N_c^2), and that of Q* as E Q is O(1/N_c^2).  With P = alpha N_c:
           log Z_S - log Z = O(1), where log Z is O(N_c), and O(1/N_c) with the determinant.
"""

from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.quantities import formula
from theoryck.theory.convolutions import action_gap, channel_corrections, saddle_point

from . import AIUDI2025
from .tasks import average, shared_filter, turned_planes

path = tc.ScalingPath(channels=tc.doubling(32, 1024))
together = tc.ScalingPath(channels=(8, 16, 32, 64))
networks = sampled_from(["cnn", "lcn"])


def missed(network, part):
    """What the action of turned_planes, P = N_c, gives for log Z less the exact value."""

    def gap(channels):
        problem = turned_planes(network, channels)
        return getattr(saddle_point(problem), part) - average(network, channels).log_evidence

    name = {"log_evidence": "saddle", "one_loop": "one loop"}[part]
    return formula(gap, name=f"log Z, {name} less exact, P = N_c, {network}", sizes=("channels",), relative_error=1e-5)


@tc.theorem("aiudi2025/saddle", AIUDI2025)
@tc.for_all(network=networks)
def saddle(network):
    """log Z_S - log Z ~ c/N_c at fixed P, c = -C_ab l_ab/2"""
    found = channel_corrections(shared_filter(network))
    value = found.saddle_log_evidence - found.log_evidence
    gap = action_gap(shared_filter(network), "saddle")
    return tc.Scaling(
        gap, path, exponent=-1, constant=value, tolerance=0.02, rivals=["-1/2", -2], correction=1, amplitude=1, within=0.05
    )


@tc.theorem("aiudi2025/one-loop", AIUDI2025)
@tc.for_all(network=networks)
def one_loop(network):
    """log Z_S - log det(S''/S_0'')/2 - log Z = O(N_c^(-2)) at fixed P, and not faster"""
    gap = action_gap(shared_filter(network), "one loop")
    return tc.Bound(gap, rate="channels**(-2)", along=path, rivals=["channels**(-3)"], correction=1, amplitude=1)


@tc.theorem("aiudi2025/order-parameter", AIUDI2025)
@tc.for_all(network=networks)
def order_parameter(network):
    """Q* - E Q = O(N_c^(-2)) at fixed P: both are I + N_c^(-1) C dl to first order"""
    gap = action_gap(shared_filter(network), "order")
    return tc.Bound(gap, rate="channels**(-2)", along=path, rivals=["channels**(-3)"], correction=1, amplitude=1)


@tc.theorem("aiudi2025/proportional", AIUDI2025)
@tc.for_all(network=networks)
def proportional(network):
    """log Z_S - log Z = O(1) for P = N_c, where log Z is of order N_c: the action is its leading order"""
    return tc.Bound(missed(network, "log_evidence"), rate="1", along=together, rivals=["channels**(-1/2)"], correction=1)


@tc.theorem("aiudi2025/proportional-one-loop", AIUDI2025)
@tc.for_all(network=networks)
def proportional_one_loop(network):
    """log Z_S - log det(S''/S_0'')/2 - log Z = O(1/N_c) for P = N_c, and not faster"""
    return tc.Bound(missed(network, "one_loop"), rate="1/channels", along=together, rivals=["channels**(-2)"], correction=1)
