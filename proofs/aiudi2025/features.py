"""Alignment of the renormalised kernel with the labels (Aiudi et al. 2025).

Setting.   a(K) = y.K y/(|y|^2 |K|_F), which factors of K do not change; growth: a(K) of the kernel at the saddle Q* (or at E Q)
           less a of the kernel of infinite width.
Claim.     Features are learnt in CNNs, but neither in FC nor in LCN (Pacelli's thesis; Aiudi et al. 2025).
Truth.     FC: no growth, at every N_c.  CNN: c/N_c at fixed P, and of order 1 for P ~ N_c.  LCN: c_d/N_c at fixed P with c_d that
           part of a CNN's c which the diagonal of Q has, exactly; it is not 0 unless the K_ii have the same direction.  Where all
           patches have the same kernel an LCN gains nothing and a CNN does.
"""

import numpy as np
from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.quantities import formula
from theoryck.theory.convolutions import (
    alignment,
    alignment_gain,
    alignment_growth,
    alignment_slope,
    channel_corrections,
    saddle_point,
)

from . import AIUDI2025
from .tasks import average, one_patch, shared_filter, turned_patches, turned_planes

path = tc.ScalingPath(channels=tc.doubling(64, 4096))
units = sampled_from(["x", "erf(x)", "relu(x)"])
tasks = sampled_from(["shared filter", "one patch"])
TASKS = {"shared filter": shared_filter, "one patch": one_patch, "turned patches": turned_patches}


def grows(problem):
    value = alignment_slope(problem)
    growth = alignment_growth(problem)
    return tc.Scaling(
        growth, path, exponent=-1, constant=value, tolerance=0.03, rivals=["-1/2", -2], correction=1, amplitude=1, within=0.05
    )


@tc.theorem("aiudi2025/cnn-learns", AIUDI2025)
@tc.for_all(phi=units, task=tasks)
def cnn_learns(phi, task):
    """CNN: the growth of alignment ~ c/N_c at fixed P, c in closed form"""
    return grows(TASKS[task]("cnn", phi))


@tc.theorem("aiudi2025/lcn-selects", AIUDI2025)
@tc.for_all(phi=units)
def lcn_selects(phi):
    """LCN: the growth of alignment ~ c_d/N_c too where one patch matters: it selects patches"""
    return grows(one_patch("lcn", phi))


@tc.theorem("aiudi2025/exact-growth", AIUDI2025)
@tc.for_all(network=sampled_from(["cnn", "lcn"]))
def exact_growth(network):
    """the same at E Q, the exact posterior mean of linear units"""
    problem = shared_filter(network)
    value = alignment_slope(problem)
    along, growth = tc.ScalingPath(channels=tc.doubling(32, 1024)), alignment_growth(problem, averaged=True)
    return tc.Scaling(
        growth, along, exponent=-1, constant=value, tolerance=0.03, rivals=["-1/2", -2], correction=1, amplitude=1, within=0.05
    )


@tc.theorem("aiudi2025/fc-does-not", AIUDI2025)
@tc.for_all(phi=units, task=tasks, channels=sampled_from([2, 8, 1000]))
def fc_does_not(phi, task, channels):
    """FC: no growth of alignment at any N_c, fewer than inputs included, though the kernel changes"""
    problem = TASKS[task]("fc", phi).with_network(channels=channels)
    slope = alignment_slope(TASKS[task]("cnn", phi))
    growth = formula(
        lambda: 1 + alignment_gain(problem, saddle_point(problem).order),
        name=f"1 + growth of alignment, fc, {phi}, {task}, N_c = {channels}",
        sizes=(),
        relative_error=1e-14,
    )
    return tc.Identity(growth, 1, tolerance=1e-12, rivals=[1 + slope / channels])


@tc.theorem("aiudi2025/off-diagonal-part", AIUDI2025)
@tc.for_all(phi=units, task=tasks)
def off_diagonal_part(phi, task):
    """c of a CNN less c_d of an LCN is the derivative of the alignment along the off-diagonal part of E Q - I alone"""
    cnn, lcn = (TASKS[task](each, phi) for each in ("cnn", "lcn"))
    order = channel_corrections(cnn).order
    step = (order - np.diag(np.diag(order)))[np.triu_indices(len(order))]
    kernel, change = cnn.infinite_kernel, np.tensordot(step, cnn.kernels.train, 1)

    def derivative():
        # a is smooth in the kernel: central differences have an error of order h^2, at this h 1e-7 of the derivative and below
        ends = [alignment(kernel + h * change, cnn.targets) for h in (1e-4, -1e-4)]
        return (ends[0] - ends[1]) / 2e-4

    off = formula(derivative, name=f"off-diagonal part of the growth, {phi}, {task}", sizes=(), relative_error=1e-6)
    value = alignment_slope(cnn) - alignment_slope(lcn)
    return tc.Identity(off, value, tolerance=2e-6 * abs(value), rivals=[alignment_slope(cnn), 0])


@tc.theorem("aiudi2025/equal-kernels", AIUDI2025)
@tc.for_all(phi=units)
def equal_kernels(phi):
    """CNN with patches that are turned against each other: the growth ~ c/N_c; that of an LCN is 0, as all K_ii are one kernel"""
    return grows(turned_patches("cnn", phi))


@tc.theorem("aiudi2025/equal-kernels-lcn", AIUDI2025)
@tc.for_all(phi=units, channels=sampled_from([2, 8, 1000]))
def equal_kernels_lcn(phi, channels):
    """LCN with patches that are turned against each other: no growth at any N_c, that of a CNN is not 0"""
    problem = turned_patches("lcn", phi).with_network(channels=channels)
    slope = alignment_slope(turned_patches("cnn", phi))
    growth = formula(
        lambda: 1 + alignment_gain(problem, saddle_point(problem).order),
        name=f"1 + growth of alignment, lcn, turned patches, {phi}, N_c = {channels}",
        sizes=(),
        relative_error=1e-12,
    )
    return tc.Identity(growth, 1, tolerance=1e-10, rivals=[1 + slope / channels])


def relative_growth(network):
    """a at E Q over a of infinite width, less 1, for turned_planes with P = N_c: exact averages."""

    def value(channels):
        problem = turned_planes(network, channels)
        matrix = average(network, channels).matrix
        order = matrix[np.triu_indices(2)] if network == "cnn" else np.diag(matrix)
        return alignment_gain(problem, order) / alignment(problem.infinite_kernel, problem.targets)

    return formula(value, name=f"relative growth of alignment, P = N_c, {network}", sizes=("channels",), relative_error=1e-6)


@tc.theorem("aiudi2025/proportional-growth", AIUDI2025)
def proportional_growth():
    """CNN, P = N_c: the relative growth of alignment at E Q tends to that at the saddle, the same at every N_c"""
    problem = turned_planes("cnn", 16)
    value = alignment_gain(problem, saddle_point(problem).order) / alignment(problem.infinite_kernel, problem.targets)
    along = tc.ScalingPath(channels=(8, 16, 32, 64))
    return tc.Limit(relative_growth("cnn"), along, value=value, rate="1/channels", rivals=[0], tolerance=value / 10, correction=1)
