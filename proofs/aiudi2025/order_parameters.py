"""How many order parameters there are, and how many log Z sees (Aiudi et al. 2025).

Setting.   The kernel is sum_a theta_a S_a; theta: the entries Q_ij, i <= j (CNN), Q_ii (LCN), or one number (FC).
Claim.     N_p (N_p + 1)/2, N_p, 1 numbers (Pacelli's thesis: "many more free parameters are allowed to be fine-tuned").
Truth.     The S_a are independent for patches in general position, and only then: equal patches leave one.  Each number is seen by
           log Z: its coefficient of 1/N_c is a sum over them.
"""

import numpy as np
from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.theory.convolutions import PatchRegression, channel_corrections, evidence_ratio, independent_kernels

from . import AIUDI2025
from .tasks import shared_filter

COUNTS = {"cnn": lambda n: n * (n + 1) // 2, "lcn": lambda n: n, "fc": lambda n: 1}


@tc.theorem("aiudi2025/count", AIUDI2025)
@tc.for_all(
    network=sampled_from(["cnn", "lcn", "fc"]), patches=sampled_from([2, 3, 4]), phi=sampled_from(["x", "erf(x)", "relu(x)"])
)
def count(network, patches, phi):
    """the rank of theta -> sum_a theta_a S_a is N_p (N_p + 1)/2 for a CNN, N_p for an LCN, 1 for FC"""
    value = COUNTS[network](patches)
    rivals = [COUNTS[each](patches) for each in COUNTS if each != network]
    # In two dimensions the ten kernels x_i . x'_j of four patches are combinations of fewer: five entries and twenty inputs.
    problem = general_position(network, phi, patches)
    return tc.Identity(independent_kernels(problem), value, tolerance=0.1, rivals=rivals)


def general_position(network, phi, patches):
    few = shared_filter(network, phi, 20, 2)
    x = np.sqrt(np.arange(2, 2 + 20 * patches * 5)) % 1 - 0.5
    return PatchRegression(few.network, 3 * x.reshape(20, patches, 5), few.targets, few.temperature)


@tc.theorem("aiudi2025/seen-by-log-z", AIUDI2025)
@tc.for_all(network=sampled_from(["cnn", "lcn", "fc"]))
def seen(network):
    """N_c (Z/Z_inf - 1) -> the sum over the network's own order parameters, not that over another's: linear units, exact values"""
    values = {each: channel_corrections(shared_filter(each)).log_evidence for each in COUNTS}
    rivals = [value for each, value in values.items() if each != network]
    ratio = evidence_ratio(shared_filter(network), times_channels=True)
    along = tc.ScalingPath(channels=tc.doubling(32, 1024))
    tolerance = min(abs(values[network] - rival) for rival in rivals) / 4
    return tc.Limit(
        ratio, along, value=values[network], rate="1/channels", rivals=rivals, tolerance=tolerance, correction=1, amplitude=1
    )
