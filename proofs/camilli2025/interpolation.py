"""The path from the network to its linear model (Camilli et al. 2025).

Setting.   Y_t = f(sqrt(1-t) a . x_L + sqrt(t) (eta_0 v . x_0 + sqrt(gamma_0) xi)) + sqrt(Delta) Z: the network at t = 0, the linear
           model at t = 1; a, W, v and xi are all unknown to the student: all of them are averaged inside Z_t.
Claim.     |f_t - f_1|  =  O((1 + sqrt(n/d) + n/d) / sqrt(d)) for every t in [0, 1].
Truth.     For a linear network n (f_t - f_1) -> (x_t - log(1 + x_t)) / 2 with x_t = (1 - t)^2 x, which falls like (1 - t)^4.
"""

from fractions import Fraction

from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.theory.learning import scalar_mode_divergence

from . import CAMILLI2025

times = sampled_from([Fraction(0), Fraction(1, 4), Fraction(1, 2)])


def setting(phi, noise="1/2"):
    return tc.TeacherStudent(tc.DeepNetwork(phi, depth=1, widths=("d", "d")), samples="n", noise=noise)


@tc.theorem("camilli2025/interpolation-linear", CAMILLI2025)
@tc.for_all(t=times)
def path_of_a_linear_network(t):
    """|f_t - f_1| = O((1 + sqrt(n/d) + n/d)/sqrt(d)) at n = d, linear phi"""
    divergence = tc.learning.interpolation(setting("x"), t, divergence=True)
    along = tc.ScalingPath(d=tc.doubling(16, 128), n="d")
    rate = "n * (1 + sqrt(n/d) + n/d) / sqrt(d)"  # of n (f_t - f_1)
    return tc.Bound(divergence, rate=rate, along=along, rivals=["1/d"], correction=1, amplitude=0.5)


@tc.conjecture("camilli2025/interpolation-scalar-mode", CAMILLI2025)
@tc.for_all(t=times)
def scalar_mode_along_the_path(t):
    """n (f_t - f_1) -> (x_t - log(1 + x_t))/2, x_t = (1 - t)^2/3, at n = d and Delta = 1/2: linear phi"""
    value = scalar_mode_divergence("1/3", t)
    divergence = tc.learning.interpolation(setting("x"), t, divergence=True)
    along = tc.ScalingPath(d=tc.doubling(16, 128), n="d")
    wrong = scalar_mode_divergence("1/3", 1 - (1 - t) ** 2)  # (1 - t)^4 x, as if the scale entered squared once more
    rivals = [0, 2 * value] if t == 0 else [0, wrong]
    return tc.Limit(divergence, along, value=value, tolerance=0.15 * value, rivals=rivals, correction=1, amplitude=1)


@tc.theorem("camilli2025/interpolation-network", CAMILLI2025)
@tc.for_all(phi=sampled_from([tc.activations.erf, tc.activations.tanh]))
def path_of_a_network(phi):
    """|f_t - f_1| = O((1 + sqrt(n/d) + n/d)/sqrt(d)) at n = d, t = 1/4: one nonlinear layer"""
    divergence = tc.learning.interpolation(setting(phi), "1/4", divergence=True)
    along = tc.ScalingPath(d=(4, 8, 16, 32), n="d")
    rate = "n * (1 + sqrt(n/d) + n/d) / sqrt(d)"
    return tc.Bound(divergence, rate=rate, along=along, rivals=["1/d"], correction=1, amplitude=0.5)
