"""Falsified twins of many channels (Novak et al. 2019): other rates and kernels, sharing remembered.  Each must be REFUTED."""

from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.theory.convolutions import channel_corrections, channel_gap, patch_kernel, second_layer_bias

from . import NOVAK2019
from .kernels import PAIR
from .kernels import path as few
from .processes import between, path, problem


@tc.falsehood("novak2019/kernel-of-all-pairs", NOVAK2019)
@tc.for_all(phi=sampled_from(["x", "erf(x)", "relu(x)"]))
def all_pairs(phi):
    """E k of a dense readout is the mean over all pairs of patches, as after pooling"""
    dense = patch_kernel(phi, PAIR, "cnn", power=1, about=0.0)

    @tc.quantity(cost=lambda sizes: 60, name=f"k at three channels, cnn, {phi}")
    def drawn(rng, draws):
        return dense.draw(rng, draws, {"channels": 3})

    value = patch_kernel(phi, PAIR, "pooled").limit
    return tc.Identity(drawn, value, tolerance=abs(value - dense.limit) / 10)


@tc.falsehood("novak2019/kernel-fluctuations-rate", NOVAK2019)
@tc.for_all(phi=sampled_from(["x", "erf(x)"]))
def faster_fluctuations(phi):
    """E (k - K)^2 = O(N_c^(-2))"""
    return tc.Bound(patch_kernel(phi, PAIR), rate="channels**(-2)", along=few, correction=1)


@tc.falsehood("novak2019/kernel-fluctuations-unshared", NOVAK2019)
def unshared_fluctuations():
    """E (k - K)^2 ~ V/N_c for a CNN with the V of independent patches"""
    value = float(patch_kernel("x", PAIR, "lcn").exact({"channels": 1}))
    return tc.Scaling(patch_kernel("x", PAIR, "cnn"), few, exponent=-1, constant=value, tolerance=0.05, correction=1)


@tc.falsehood("novak2019/two-layers-no-bias", NOVAK2019)
def no_bias():
    """E k - K = O(N_c^(-2)) with two layers, as if h could be taken at the mean"""
    along = tc.ScalingPath(channels=(4, 8, 16, 32))
    return tc.Bound(second_layer_bias("erf(x)", PAIR, 2), rate="channels**(-2)", along=along, correction=1)


@tc.falsehood("novak2019/evidence-rate", NOVAK2019)
@tc.for_all(network=sampled_from(["cnn", "lcn"]), exponent=sampled_from(["-1/2", -2]))
def other_rates(network, exponent):
    """log Z - log Z_inf ~ N_c^(-1/2), or N_c^(-2)"""
    gap = channel_gap(problem(network), "log_evidence")
    return tc.Scaling(gap, path, exponent=exponent, correction=1, amplitude=1)


@tc.falsehood("novak2019/evidence-of-the-other", NOVAK2019)
def constant_of_the_other():
    """log Z - log Z_inf of a CNN ~ c/N_c with the c of an LCN: that the diagonal of Q is all that counts"""
    value = channel_corrections(problem("lcn")).log_evidence
    gap = channel_gap(problem("cnn"), "log_evidence")
    return tc.Scaling(gap, path, exponent=-1, constant=value, tolerance=0.05, correction=1, amplitude=1)


@tc.falsehood("novak2019/another-process", NOVAK2019)
def another_process():
    """log Z of a CNN less that of an LCN does not vanish"""
    return tc.Scaling(between, path, exponent=0, correction=1, amplitude=1)
