"""Norm concentration in deep random networks (Camilli et al. 2025).

Setting.   x_0 ~ N(0, I/d_0),  x_l = phi(W_l x_{l-1}) / sqrt(d_l),  entries of W_l iid N(0, 1),  d_min the smallest width;
           phi odd, twice continuously differentiable, with bounded first and second derivatives.
Claim.     E | |x_l|^2 - sigma_l |^k  <=  C_k / d_min^(k/2)   for every k.

The squared norms form a Markov chain, S_l = (1/d_l) sum_i phi(sqrt(S_{l-1}) Z_i)^2, so no weight matrix is drawn.  The next term of
the moment is smaller by a factor 1/d, which the claims declare (``correction=1``).
"""

from hypothesis.strategies import integers, sampled_from

import theoryck as tc

from . import CAMILLI2025

powers = integers(1, 8)
smooth_odd = sampled_from(tc.activations.smooth_odd)


def path():
    return tc.ScalingPath(d=tc.doubling(16, 4096), width="d", input_dim="d")


def within(k):
    """The relative variance of |N|^k grows like 2^k: high powers may miss their exponent by 0.1 on the same budget."""
    return None if k <= 4 else 0.15


@tc.theorem("camilli2025/input-norm", CAMILLI2025)
@tc.for_all(k=powers)
def input_norm(k):
    """E | |x_0|^2 - 1 |^k = O(d_0^(-k/2))"""
    network = tc.DeepNetwork(tc.activations.identity, depth=0)
    return tc.Bound(
        tc.norm_deviation(network, power=k),
        rate="d**(-k/2)",
        along=tc.ScalingPath(d=tc.doubling(16, 4096), input_dim="d"),
        rivals=["d**(-(k+1)/2)"],
        correction=1,
        amplitude=2,
        within=within(k),
    )


@tc.theorem("camilli2025/moment-control", CAMILLI2025)
@tc.for_all(phi=smooth_odd, depth=integers(1, 4), k=powers)
def moment_control(phi, depth, k):
    """E | |x_l|^2 - sigma_l |^k = O(d^(-k/2)), equal widths"""
    network = tc.DeepNetwork(phi, depth=depth)
    return tc.Bound(
        tc.norm_deviation(network, power=k),
        rate="d**(-k/2)",
        along=path(),
        rivals=["d**(-(k+1)/2)"],
        correction=1,
        amplitude=2,
        within=within(k),
    )


@tc.theorem("camilli2025/moment-control-widths", CAMILLI2025)
@tc.for_all(phi=smooth_odd, pattern=sampled_from([(1, 2, 1, 3), (2, 1), (1, 3), (3, 1, 2)]), k=integers(1, 4))
def moment_control_unequal_widths(phi, pattern, k):
    """E | |x_l|^2 - sigma_l |^k = O(d_min^(-k/2)), widths pattern * d"""
    network = tc.DeepNetwork(phi, depth=len(pattern) - 1, widths=pattern * tc.size("d"))
    return tc.Bound(
        tc.norm_deviation(network, power=k),
        rate="d_min**(-k/2)",
        along=tc.ScalingPath(d=tc.doubling(16, 2048), d_min=f"{min(pattern)}*d"),
        rivals=["d_min**(-(k+1)/2)"],
        correction=1,
        amplitude=2,
    )


@tc.theorem("camilli2025/moment-control-any-phi", CAMILLI2025)
@tc.for_all(phi=tc.strategies.smooth_odd_activations(), depth=integers(1, 3), k=sampled_from([2, 4]))
def moment_control_generated_activations(phi, depth, k):
    """E | |x_l|^2 - sigma_l |^k = O(d^(-k/2)) for any odd smooth phi with bounded derivatives"""
    network = tc.DeepNetwork(phi, depth=depth)
    return tc.Bound(
        tc.norm_deviation(network, power=k),
        rate="d**(-k/2)",
        along=path(),
        rivals=["d**(-(k+1)/2)"],
        correction=1,
        amplitude=2,
    )
