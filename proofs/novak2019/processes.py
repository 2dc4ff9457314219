"""Regression with finitely many channels against regression with the Gaussian process (Novak et al. 2019).

Setting.   P inputs of N_p patches, labels y, noise T; Z the evidence of y.  l(Q) = log N(y; 0, T + sum_ij Q_ij K_ij/N_p).
Claim.     The posterior tends to that of the process (Novak et al. 2019), whether filters are shared or not.
Truth.     For linear units N_c (log Z - log Z_inf) -> sum_ab C_ab (l_a l_b + l_ab)/2, over the entries Q_ij, i <= j, with C_ab =
N_c
           Cov(Q_a, Q_b) of Wishart matrices: off-diagonal entries count where filters are shared, and only there.
"""

import numpy as np
from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.quantities import formula
from theoryck.theory.convolutions import (
    PatchNetwork,
    PatchRegression,
    channel_corrections,
    channel_gap,
    evidence_ratio,
    wishart_average,
)

from . import NOVAK2019

# Six inputs of two patches of two entries, labels that a shared filter explains, and an input that is new.
INPUTS = np.array(
    [
        [[1.3, -0.2], [0.4, 0.9]],
        [[-0.7, 0.6], [-1.1, 0.3]],
        [[0.2, 1.5], [0.8, -0.6]],
        [[-1.2, -0.9], [0.1, -1.4]],
        [[0.5, 0.3], [-0.4, 1.0]],
        [[0.9, -1.1], [1.2, 0.2]],
    ]
)
LABELS = np.array([2.1, -1.8, 0.7, -1.3, 0.2, 2.0])
NEW = np.array([[[0.6, 0.1], [-0.3, 0.8]]])
path = tc.ScalingPath(channels=tc.doubling(16, 512))
networks = sampled_from(["cnn", "lcn"])


def problem(network, phi="x"):
    return PatchRegression(PatchNetwork(phi, 16, network), INPUTS, LABELS, 0.5, NEW)


@tc.theorem("novak2019/evidence", NOVAK2019)
@tc.for_all(network=networks)
def evidence(network):
    """log Z - log Z_inf ~ c/N_c for linear units, c in closed form: exact values"""
    value = channel_corrections(problem(network)).log_evidence
    gap = channel_gap(problem(network), "log_evidence")
    return tc.Scaling(
        gap, path, exponent=-1, constant=value, tolerance=0.02, rivals=["-1/2", -2], correction=1, amplitude=1, within=0.05
    )


@tc.theorem("novak2019/posterior", NOVAK2019)
@tc.for_all(network=networks, what=sampled_from(["mean", "variance", "train_loss"]))
def posterior(network, what):
    """the mean and the variance of the predictor and the training loss differ from those of the process by O(1/N_c), not faster"""
    return tc.Bound(
        channel_gap(problem(network), what), rate="1/channels", along=path, rivals=["channels**(-2)"], correction=1, amplitude=1
    )


def difference(channels):
    one, other = (wishart_average(problem(each).with_network(channels=channels)).log_evidence for each in ("cnn", "lcn"))
    return one - other


between = formula(difference, name="log Z of a CNN less that of an LCN", sizes=("channels",), relative_error=1e-7)


@tc.theorem("novak2019/same-process", NOVAK2019)
def same_process():
    """log Z of a CNN less that of an LCN is O(1/N_c): the same process, and not faster"""
    return tc.Bound(between, rate="1/channels", along=path, rivals=["channels**(-3/2)"], correction=1, amplitude=1)


@tc.theorem("novak2019/evidence-drawn", NOVAK2019)
@tc.for_all(phi=sampled_from(["x", "erf(x)"]), network=networks)
def evidence_drawn(phi, network):
    """Z/Z_inf - 1 = O(1/N_c) for any units: drawn over filters (and exact over Q for linear units: the two routes agree)"""
    ratio, along = evidence_ratio(problem(network, phi)), tc.ScalingPath(channels=(4, 8, 16, 32, 64))
    amplitude = 1 if phi == "x" else None  # exact values resolve the next term, draws do not
    return tc.Bound(ratio, rate="1/channels", along=along, rivals=["channels**(-2)"], correction=1, amplitude=amplitude)
