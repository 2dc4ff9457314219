"""Falsified twins (Camilli et al. 2025): results with one hypothesis dropped or one constant changed.  Each must be REFUTED.

Some are invisible at depth 1 (sigma_0 = 1 hides a missing sigma_{l-1}), so they are tested from depth 2 on.
"""

from hypothesis.strategies import integers, sampled_from

import theoryck as tc
from theoryck.quantities import gaussian_mean
from theoryck.theory.networks import epsilon, gamma0, rho, sigma

from . import CAMILLI2025

nonlinear = sampled_from([phi for phi in tc.activations.smooth_odd if not phi.properties.linear.value])
smooth_odd = sampled_from(tc.activations.smooth_odd)


# With d_0 kept, what d_0 alone leaves must exceed what the other layers add at the sizes of the path: phi close to linear.
gentle = sampled_from([tc.activations.identity, tc.activations.asinh, tc.activations.arctan, tc.activations.x_over_sqrt])


def path(last=1024):
    return tc.ScalingPath(d=tc.doubling(16, last), width="d", input_dim="d")


# The constants ---------------------------------------------------------------------------------------------------------------


@tc.falsehood("camilli2025/epsilon-without-square", CAMILLI2025)
@tc.for_all(phi=nonlinear, layer=integers(1, 4))
def epsilon_without_square(phi, layer):
    """epsilon_l = sigma_l - sigma_{l-1} rho_l"""
    return tc.Identity(epsilon(phi, layer), sigma(phi, layer) - sigma(phi, layer - 1) * rho(phi, layer))


@tc.falsehood("camilli2025/epsilon-without-sigma", CAMILLI2025)
@tc.for_all(phi=nonlinear, layer=integers(2, 4))
def epsilon_without_sigma(phi, layer):
    """epsilon_l = sigma_l - rho_l^2 (from layer 2 on: sigma_0 = 1 hides it at layer 1)"""
    return tc.Identity(epsilon(phi, layer), sigma(phi, layer) - rho(phi, layer) ** 2)


@tc.falsehood("camilli2025/rho-at-unit-variance", CAMILLI2025)
@tc.for_all(phi=nonlinear, layer=integers(2, 4))
def rho_at_unit_variance(phi, layer):
    """rho_l = E phi'(Z) at every layer (from layer 2 on)"""
    return tc.Identity(rho(phi, layer), gaussian_mean(phi.derivative(), 1))


@tc.falsehood("camilli2025/gamma-with-own-rho", CAMILLI2025)
@tc.for_all(phi=nonlinear, depth=integers(2, 4))
def gamma_with_own_rho(phi, depth):
    """gamma_0 = sum_j epsilon_j prod_{i>=j} rho_i^2"""
    total = 0
    for j in range(1, depth + 1):
        term = epsilon(phi, j)
        for i in range(j, depth + 1):
            term = term * rho(phi, i) ** 2
        total = term + total
    return tc.Identity(gamma0(phi, depth), total)


@tc.falsehood("camilli2025/epsilon-always-zero", CAMILLI2025)
@tc.for_all(phi=nonlinear, layer=integers(1, 4))
def epsilon_always_zero(phi, layer):
    """epsilon_l = 0 for a phi that is not linear"""
    return tc.Identity(epsilon(phi, layer), 0)


# Norm concentration ----------------------------------------------------------------------------------------------------------


@tc.falsehood("camilli2025/moment-control-power", CAMILLI2025)
@tc.for_all(phi=smooth_odd, depth=integers(1, 3), k=integers(1, 4))
def moment_control_one_power_too_many(phi, depth, k):
    """E | |x_l|^2 - sigma_l |^k = O(d^(-(k+1)/2))"""
    network = tc.DeepNetwork(phi, depth=depth)
    return tc.Bound(tc.norm_deviation(network, power=k), rate="d**(-(k+1)/2)", along=path(), correction=1, amplitude=2)


@tc.falsehood("camilli2025/moment-control-double", CAMILLI2025)
@tc.for_all(phi=smooth_odd, depth=integers(1, 3), k=integers(1, 4))
def moment_control_twice_the_rate(phi, depth, k):
    """E | |x_l|^2 - sigma_l |^k = O(d^(-k))"""
    network = tc.DeepNetwork(phi, depth=depth)
    return tc.Bound(tc.norm_deviation(network, power=k), rate="d**(-k)", along=path(), correction=1, amplitude=2)


@tc.falsehood("camilli2025/moment-control-sigma", CAMILLI2025)
@tc.for_all(phi=nonlinear, depth=integers(2, 3), k=integers(1, 4))
def moment_control_unit_variance(phi, depth, k):
    """E | |x_l|^2 - E phi(Z)^2 |^k = O(d^(-k/2)): sigma_l built at unit variance in every layer (from depth 2 on)"""
    network = tc.DeepNetwork(phi, depth=depth)
    centre = sigma(phi, 1)
    return tc.Bound(tc.norm_deviation(network, power=k, centre=centre), rate="d**(-k/2)", along=path(), correction=1, amplitude=2)


@tc.falsehood("camilli2025/moment-control-d-max", CAMILLI2025)
@tc.for_all(phi=gentle, depth=integers(1, 2), k=integers(1, 4))
def moment_control_largest_width(phi, depth, k):
    """E | |x_l|^2 - sigma_l |^k = O(d_max^(-k/2)), with d_0 = 16 kept fixed"""
    network = tc.DeepNetwork(phi, depth=depth)
    along = tc.ScalingPath(d_max=tc.doubling(16, 1024), width="d_max", input_dim=16)
    return tc.Bound(tc.norm_deviation(network, power=k), rate="d_max**(-k/2)", along=along, correction=1, amplitude=2)


@tc.falsehood("camilli2025/normalisation-d-in", CAMILLI2025)
@tc.for_all(phi=smooth_odd, ratio=sampled_from([2, 3]), k=integers(1, 4))
def normalisation_by_input_width(phi, ratio, k):
    """E | |x_1|^2 - sigma_1 |^k = O(d_min^(-k/2)) with x_1 = phi(W x_0) / sqrt(d_0), as printed, and d_1 = ratio * d_0"""
    sigma_1 = float(sigma(phi, 1).exact({}, 20))

    @tc.quantity(cost=lambda sizes: (ratio + 1) * sizes["d"])
    def deviation(rng, draws, *, d):
        norm = rng.chisquare(d, size=draws) / d
        hidden = phi(rng.standard_normal((draws, ratio * d)) * norm[:, None] ** 0.5)
        return abs((hidden**2).sum(axis=1) / d - sigma_1) ** k

    return tc.Bound(deviation, rate="d**(-k/2)", along=tc.ScalingPath(d=tc.doubling(16, 512)), correction=1, amplitude=2)


# Constants, which `theoryck prove` refuses with the size that breaks them ---------------------------------------------------------


@tc.falsehood("camilli2025/moment-control-constant", CAMILLI2025)
@tc.for_all(phi=sampled_from(tc.activations.smooth_odd), depth=integers(1, 2), k=sampled_from([2, 4]))
def moment_control_constant_too_small(phi, depth, k):
    """E | |x_l|^2 - sigma_l |^k <= 0.99 C d^(-k/2), where C is the limit of d^(k/2) times the left side"""
    moment = tc.norm_deviation(tc.DeepNetwork(phi, depth=depth), power=k)
    return tc.Bound(moment, rate="d**(-k/2)", along=path(), constant=0.99 * moment.limiting_constant([1] * (depth + 1)))


@tc.falsehood("camilli2025/overlap-constant", CAMILLI2025)
@tc.for_all(phi=sampled_from([tc.activations.tanh, tc.activations.erf, tc.activations.sin]))
def overlap_constant_too_small(phi):
    """E | x_mu . x_nu |^2 <= 0.99 C/d, where C is the limit of d times the left side"""
    moment = tc.overlap_moment(tc.DeepNetwork(phi, depth=1), power=2)
    return tc.Bound(moment, rate="1/d", along=path(), constant=0.99 * moment.limiting_constant([1, 1]))


@tc.falsehood("camilli2025/moment-control-unbounded", CAMILLI2025)
@tc.for_all(phi=sampled_from(["x**3", "x**3 - 3*x", "x + x**3/2"]))
def moment_control_unbounded_variance(phi):
    """E (|x_1|^2 - sigma_1)^2 <= 1.01 C/d, C its limit, as for tanh, for polynomials: Var phi(sqrt(s) Z)^2 is not bounded in s"""
    moment = tc.norm_deviation(tc.DeepNetwork(phi, depth=1), power=2)
    return tc.Bound(moment, rate="1/d", along=path(), constant=1.01 * moment.limiting_constant([1, 1]))


@tc.falsehood("camilli2025/overlap-atoms", CAMILLI2025)
@tc.for_all(depth=integers(1, 2))
def overlap_of_atoms(depth):
    """E | x_mu . x_nu |^2 <= 1/d for relu, which is 0 on half of the line: phi(sqrt(s) Z) has an atom, and a mean"""
    return tc.Bound(
        tc.overlap_moment(tc.DeepNetwork(tc.activations.relu, depth=depth), power=2), rate="1/d", along=path(), constant=1
    )


# Quasi-orthogonality ---------------------------------------------------------------------------------------------------------


@tc.falsehood("camilli2025/overlap-power", CAMILLI2025)
@tc.for_all(phi=smooth_odd, depth=integers(1, 3), k=integers(1, 4))
def overlap_one_power_too_many(phi, depth, k):
    """E | x_mu . x_nu |^k = O(d^(-(k+1)/2))"""
    network = tc.DeepNetwork(phi, depth=depth)
    return tc.Bound(tc.overlap_moment(network, power=k), rate="d**(-(k+1)/2)", along=path(), correction=1, amplitude=2)


@tc.falsehood("camilli2025/overlap-d-max", CAMILLI2025)
@tc.for_all(phi=gentle, depth=integers(1, 2), k=integers(1, 4))
def overlap_largest_width(phi, depth, k):
    """E | x_mu . x_nu |^k = O(d_max^(-k/2)), with d_0 = 16 kept fixed"""
    network = tc.DeepNetwork(phi, depth=depth)
    along = tc.ScalingPath(d_max=tc.doubling(16, 1024), width="d_max", input_dim=16)
    return tc.Bound(tc.overlap_moment(network, power=k), rate="d_max**(-k/2)", along=along, correction=1, amplitude=2)


@tc.falsehood("camilli2025/overlap-with-mean", CAMILLI2025)
@tc.for_all(phi=sampled_from([tc.activations.relu, tc.activations.erf_shifted]), depth=integers(1, 2), k=integers(1, 4))
def overlap_with_mean(phi, depth, k):
    """E | x_mu . x_nu |^k = O(d^(-k/2)) for relu or erf(x + 1/2), whose Gaussian mean is not zero"""
    network = tc.DeepNetwork(phi, depth=depth)
    return tc.Bound(tc.overlap_moment(network, power=k), rate="d**(-k/2)", along=path(), correction=1, amplitude=2)


@tc.falsehood("camilli2025/overlap-even", CAMILLI2025)
@tc.for_all(k=integers(1, 2))
def overlap_even(k):
    """E | x_mu . x_nu |^k = O(d^(-k/2)) at depth 2 for phi(x) = x^2 - 1, whose mean is zero at variance 1 but not at sigma_1 = 2"""
    network = tc.DeepNetwork(tc.Activation("x**2 - 1"), depth=2)
    return tc.Bound(tc.overlap_moment(network, power=k), rate="d**(-k/2)", along=path(), correction=1, amplitude=2)
