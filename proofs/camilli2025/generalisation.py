"""The Bayes-optimal errors of the network and of its linear model agree (Camilli et al. 2025).

Setting.   E^(L) = E (Y_new - E[Y_new | D, x_new])^2: an expectation of a squared difference, noise included (the slides print the
           square without its expectation).
Claim.     |E^(L) - E^(0)| -> 0 at n ~ d, without a rate.
Truth.     Of order 1/d.  For linear readout E^(L) - E^(0) = (E_lin - E^(0)) - E (m_L - m_lin)^2: the best linear predictor against
           the linear model, less what the Bayes predictor m_L gains over it.  For linear phi the first part vanishes and
           d (E^(L) - E^(0)) -> -2 Delta^2 mu sum_l (d/d_l) x/(1+x): the network's student learns the common scale of the labels.
"""

from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.theory.learning import deep_linear_error_limit, one_layer_linear_error_limit

from . import CAMILLI2025

activations = sampled_from([tc.activations.erf, tc.activations.sin])
depths = sampled_from([1, 3])


def setting(phi, depth=1, noise="1/2"):
    network = tc.DeepNetwork(phi, depth=depth, widths=(1,) * (depth + 1) * tc.size("d"))
    return tc.TeacherStudent(network, samples="n", noise=noise)


def path(*sizes):
    return tc.ScalingPath(d=sizes or tc.doubling(16, 128), n="d")


@tc.theorem("camilli2025/generalisation-linear", CAMILLI2025)
@tc.for_all(depth=depths)
def generalisation_linear(depth):
    """E^(L) - E^(0) -> 0 at n = d, at rate 1/d, linear phi"""
    gap = tc.learning.generalisation_gap(setting("x", depth))
    return tc.Bound(gap, rate="1/d", along=path(), rivals=["d**(-3/2)"], correction=1, amplitude=0.25)


@tc.conjecture("camilli2025/generalisation-linear-constant", CAMILLI2025)
@tc.for_all(depth=depths)
def generalisation_linear_constant(depth):
    """d (E^(L) - E^(0)) -> -2 Delta^2 mu L x/(1+x) at n = d, linear phi"""
    gap = tc.learning.generalisation_gap(setting("x", depth))
    limit = deep_linear_error_limit(1, "1/2", (1,) * (depth + 1))
    return tc.Scaling(gap, path(), exponent=-1, constant=limit, rivals=["-1/2", "-3/2"], correction=1, amplitude=0.25)


@tc.theorem("camilli2025/generalisation", CAMILLI2025)
@tc.for_all(phi=activations)
def generalisation(phi):
    """E^(1) - E^(0) -> 0 at n = d, at rate 1/d, one nonlinear layer"""
    gap = tc.learning.generalisation_gap(setting(phi))
    return tc.Bound(gap, rate="1/d", along=path(4, 8, 16), rivals=["d**(-2)"], correction=1, amplitude=0.3, within=0.3)


@tc.conjecture("camilli2025/linear-predictor", CAMILLI2025)
@tc.for_all(phi=activations)
def linear_predictor(phi):
    """d (E_lin - E^(0)) -> its closed form at n = d: the best linear predictor, which knows the kernel but not the scale"""
    gap = tc.learning.linear_predictor_gap(setting(phi))
    limit = one_layer_linear_error_limit(phi, 1, "1/2")
    return tc.Scaling(gap, path(), exponent=-1, constant=limit, rivals=["-1/2", "-3/2"], correction=1, amplitude=0.25)
