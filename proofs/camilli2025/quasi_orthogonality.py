"""Two independent inputs stay nearly orthogonal through a deep random network (Camilli et al. 2025).

Setting.   x_mu, x_nu iid N(0, I/d_0) pushed through the same weights,  x_l = phi(W_l x_{l-1}) / sqrt(d_l),  W_l iid N(0, 1);
           phi odd, twice continuously differentiable, with bounded first and second derivatives.
Claim.     E | x_mu . x_nu |^k  <=  C_k / d_min^(k/2)   for every k.

The Gram matrix of the pair is a Markov chain (rows of the pre-activations are Gaussian given the layer below).  Oddness is
sufficient and not necessary: what matters is that phi has mean zero at the variances sigma_0, ..., sigma_{L-1}.
"""

from hypothesis.strategies import integers, sampled_from

import theoryck as tc

from . import CAMILLI2025

powers = integers(1, 8)
smooth_odd = sampled_from(tc.activations.smooth_odd)


def path(first=16):
    return tc.ScalingPath(d=tc.doubling(first, 4096), width="d", input_dim="d")


def within(k):
    """The relative variance of |N|^k grows like 2^k: high powers may miss their exponent by 0.1 on the same budget."""
    return None if k <= 4 else 0.15


@tc.theorem("camilli2025/input-overlap", CAMILLI2025)
@tc.for_all(k=powers)
def input_overlap(k):
    """E | x_mu . x_nu |^k = O(d_0^(-k/2)) for the inputs themselves"""
    network = tc.DeepNetwork(tc.activations.identity, depth=0)
    return tc.Bound(
        tc.overlap_moment(network, power=k),
        rate="d**(-k/2)",
        along=tc.ScalingPath(d=tc.doubling(16, 4096), input_dim="d"),
        rivals=["d**(-(k+1)/2)"],
        correction=1,
        amplitude=2,
        within=within(k),
    )


@tc.theorem("camilli2025/quasi-orthogonality", CAMILLI2025)
@tc.for_all(phi=smooth_odd, depth=integers(1, 4), k=powers)
def quasi_orthogonality(phi, depth, k):
    """E | x_mu . x_nu |^k = O(d^(-k/2)), equal widths"""
    network = tc.DeepNetwork(phi, depth=depth)
    return tc.Bound(
        tc.overlap_moment(network, power=k),
        rate="d**(-k/2)",
        along=path(),
        rivals=["d**(-(k+1)/2)"],
        correction=1,
        amplitude=2,
        within=within(k),
    )


@tc.theorem("camilli2025/quasi-orthogonal-widths", CAMILLI2025)
@tc.for_all(phi=smooth_odd, pattern=sampled_from([(1, 2, 1, 3), (2, 1), (1, 3), (3, 1, 2)]), k=integers(1, 4))
def quasi_orthogonality_unequal_widths(phi, pattern, k):
    """E | x_mu . x_nu |^k = O(d_min^(-k/2)), widths pattern * d"""
    network = tc.DeepNetwork(phi, depth=len(pattern) - 1, widths=pattern * tc.size("d"))
    return tc.Bound(
        tc.overlap_moment(network, power=k),
        rate="d_min**(-k/2)",
        along=tc.ScalingPath(d=tc.doubling(16, 2048), d_min=f"{min(pattern)}*d"),
        rivals=["d_min**(-(k+1)/2)"],
        correction=1,
        amplitude=2,
    )


@tc.theorem("camilli2025/even-phi", CAMILLI2025)
@tc.for_all(depth=integers(1, 2), k=integers(1, 2))
def oddness_not_necessary(depth, k):
    """E | x_mu . x_nu |^k = O(d^(-k/2)) for the even phi = He_2 / sqrt(2), whose mean vanishes at its fixed point sigma = 1

    Two layers make a polynomial of degree 4 in Gaussians: below d = 128 rare events dominate and no power law is seen.
    """
    network = tc.DeepNetwork(tc.activations.he2, depth=depth)
    return tc.Bound(
        tc.overlap_moment(network, power=k),
        rate="d**(-k/2)",
        along=path(first=128),
        rivals=["d**(-(k+1)/2)"],
        correction=1,
        amplitude=2,
    )


@tc.theorem("camilli2025/even-phi-bounded", CAMILLI2025)
@tc.for_all(k=integers(1, 6))
def oddness_not_necessary_bounded(k):
    """E | x_mu . x_nu |^k = O(d^(-k/2)) at depth 1 for the bounded even phi(x) = cos(x) - exp(-1/2)"""
    network = tc.DeepNetwork(tc.Activation("cos(x) - exp(-1/2)"), depth=1)
    return tc.Bound(
        tc.overlap_moment(network, power=k),
        rate="d**(-k/2)",
        along=path(),
        rivals=["d**(-(k+1)/2)"],
        correction=1,
        amplitude=2,
        within=within(k),
    )
