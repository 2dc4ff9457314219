"""Falsified twins of local kernel renormalisation (Aiudi et al. 2025): other actions, counts and rates.  Each must be REFUTED."""

from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.quantities import formula
from theoryck.theory.convolutions import (
    action_gap,
    alignment_growth,
    alignment_slope,
    channel_corrections,
    evidence_ratio,
    independent_kernels,
    infinite_width,
)

from . import AIUDI2025
from .action import path, together
from .features import relative_growth
from .tasks import average, one_patch, shared_filter, turned_patches, turned_planes

wide = tc.ScalingPath(channels=tc.doubling(64, 1024))


def shortfall(name, value):
    """log Z of a CNN with P = N_c less what ``value`` gives for it."""

    def gap(channels):
        return average("cnn", channels).log_evidence - value(channels)

    return formula(gap, name=f"log Z of a CNN less {name}, P = N_c", sizes=("channels",), relative_error=1e-5)


# The action ------------------------------------------------------------------------------------------------------------------


@tc.falsehood("aiudi2025/diagonal-order-parameters", AIUDI2025)
def diagonal_order_parameters():
    """log Z of a CNN is that of a diagonal Q, to O(1), for P = N_c: it misses a part of order N_c"""
    gap = shortfall("that of a diagonal Q", lambda channels: average("lcn", channels).log_evidence)
    return tc.Bound(gap, rate="1", along=together, correction=1)


@tc.falsehood("aiudi2025/infinite-width", AIUDI2025)
def infinite_width_at_proportional_size():
    """log Z of a CNN is that of infinite width, to O(1), for P = N_c"""
    gap = shortfall("that of infinite width", lambda channels: infinite_width(turned_planes("cnn", channels)).log_evidence)
    return tc.Bound(gap, rate="1", along=together, correction=1)


@tc.falsehood("aiudi2025/diagonal-at-fixed-p", AIUDI2025)
def diagonal_at_fixed_size():
    """N_c (Z/Z_inf - 1) of a CNN tends to the sum over the diagonal of Q alone"""
    value = channel_corrections(shared_filter("lcn")).log_evidence
    ratio = evidence_ratio(shared_filter("cnn"), times_channels=True)
    return tc.Limit(ratio, wide, value=value, rate="1/channels", tolerance=0.2, correction=1, amplitude=1)


@tc.falsehood("aiudi2025/saddle-exact-at-fixed-p", AIUDI2025)
@tc.for_all(network=sampled_from(["cnn", "lcn"]))
def saddle_at_fixed_size(network):
    """log Z_S - log Z = O(N_c^(-2)) at fixed P, as if the saddle had the whole term in 1/N_c"""
    gap = action_gap(shared_filter(network), "saddle")
    return tc.Bound(gap, rate="channels**(-2)", along=path, correction=1, amplitude=1)


@tc.falsehood("aiudi2025/nonlinear-correction", AIUDI2025)
def nonlinear_correction():
    """N_c (Z/Z_inf - 1) of erf units at fixed P tends to the coefficient that the average over Q has, as for linear units"""
    problem = shared_filter("cnn", "erf(2*x)", count=4)
    value = channel_corrections(problem).log_evidence
    ratio = evidence_ratio(problem, times_channels=True)
    along = tc.ScalingPath(channels=(16, 32, 64))
    return tc.Limit(ratio, along, value=value, rate="1/channels", tolerance=abs(value) / 10, correction=1, amplitude=1)


# Counts ----------------------------------------------------------------------------------------------------------------------


@tc.falsehood("aiudi2025/count-of-turned-patches", AIUDI2025)
def count_of_turned_patches():
    """an LCN always has N_p order parameters: two patches with the same kernel have one"""
    return tc.Identity(independent_kernels(turned_patches("lcn", "erf(x)")), 2, tolerance=0.1)


@tc.falsehood("aiudi2025/count-without-corners", AIUDI2025)
def count_without_the_off_diagonal_part():
    """a CNN has N_p order parameters"""
    return tc.Identity(independent_kernels(shared_filter("cnn", "erf(x)")), 2, tolerance=0.1)


# Features --------------------------------------------------------------------------------------------------------------------


@tc.falsehood("aiudi2025/growth-rate", AIUDI2025)
@tc.for_all(exponent=sampled_from(["-1/2", -2]))
def other_rates(exponent):
    """CNN: the growth of alignment ~ N_c^(-1/2), or N_c^(-2), at fixed P"""
    growth = alignment_growth(shared_filter("cnn", "erf(x)"))
    return tc.Scaling(growth, wide, exponent=exponent, correction=1, amplitude=1)


@tc.falsehood("aiudi2025/lcn-learns-nothing", AIUDI2025)
@tc.for_all(phi=sampled_from(["x", "erf(x)"]))
def lcn_learns_nothing(phi):
    """LCN: the alignment does not change to first order where one patch matters: its growth is O(N_c^(-2))"""
    growth = alignment_growth(one_patch("lcn", phi))
    return tc.Bound(growth, rate="channels**(-2)", along=wide, correction=1, amplitude=1)


@tc.falsehood("aiudi2025/all-off-diagonal", AIUDI2025)
def all_of_it_is_off_diagonal():
    """CNN: what the alignment gains where one patch matters is off-diagonal: the part that an LCN lacks"""
    problem = one_patch("cnn")
    value = alignment_slope(problem) - alignment_slope(one_patch("lcn"))
    return tc.Scaling(alignment_growth(problem), wide, exponent=-1, constant=value, tolerance=0.1, correction=1, amplitude=1)


@tc.falsehood("aiudi2025/proportional-growth-vanishes", AIUDI2025)
def growth_vanishes():
    """CNN, P = N_c: the growth of alignment vanishes, as at fixed P"""
    return tc.Limit(relative_growth("cnn"), together, value=0, rate="1/channels", tolerance=0.005, correction=1)
