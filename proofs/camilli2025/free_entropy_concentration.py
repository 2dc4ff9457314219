"""The free entropy concentrates (Camilli et al. 2025).

Claim.     Var((1/n) log Z)  <=  C (1/n + 1/d_min).
Truth.     Tight in both terms: with linear readout n Var -> 1/2 + (m_1^2/2) sum_l n/d_l, m_1 the learned share.  A narrow layer
           shows the second term alone; the linear model keeps 1/(2 n).
"""

from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.theory.learning import free_entropy_variance_limit

from . import CAMILLI2025

BOUND = "1/n + 1/d"


def setting(phi, depth, noise="1/2"):
    network = tc.DeepNetwork(phi, depth=depth, widths=(1,) * (depth + 1) * tc.size("d"))
    return tc.TeacherStudent(network, samples="n", noise=noise)


@tc.theorem("camilli2025/concentration-few-samples", CAMILLI2025)
@tc.for_all(depth=sampled_from([1, 3]))
def few_samples(depth):
    """Var((1/n) log Z) = O(1/n + 1/d) at n = d^(1/2), where the first term rules: linear phi"""
    variance = tc.learning.free_entropy_variance(setting("x", depth))
    along = tc.ScalingPath(d=(16, 36, 64, 144, 256), n="d**(1/2)")
    return tc.Bound(variance, rate=BOUND, along=along, rivals=["1/d"], correction=0.5, amplitude=0.25)


@tc.theorem("camilli2025/concentration-proportional", CAMILLI2025)
@tc.for_all(depth=sampled_from([1, 3]))
def proportional(depth):
    """Var((1/n) log Z) = O(1/n + 1/d) at n = d: linear phi"""
    variance = tc.learning.free_entropy_variance(setting("x", depth))
    along = tc.ScalingPath(d=tc.doubling(8, 128), n="d")
    return tc.Bound(variance, rate=BOUND, along=along, rivals=["d**(-3/2)"], correction=1, amplitude=0.5)


@tc.theorem("camilli2025/concentration-narrow-layer", CAMILLI2025)
def narrow_layer():
    """Var((1/n) log Z) = O(1/n + 1/d_min) at n = d_0 = d_min^2, where the second term rules: linear phi"""
    network = tc.DeepNetwork("x", depth=1, widths=("d**2", "d"))
    variance = tc.learning.free_entropy_variance(tc.TeacherStudent(network, samples="n"))
    along = tc.ScalingPath(d=(8, 12, 16, 24, 32), n="d**2")
    return tc.Bound(variance, rate=BOUND, along=along, rivals=["1/n"], correction=1, amplitude=0.4, within=0.25)


@tc.theorem("camilli2025/concentration-network", CAMILLI2025)
@tc.for_all(phi=sampled_from([tc.activations.erf, tc.activations.tanh]))
def network(phi):
    """Var((1/n) log Z) = O(1/n + 1/d) at n = d: one nonlinear layer"""
    variance = tc.learning.free_entropy_variance(setting(phi, 1), target_width=0.3)
    along = tc.ScalingPath(d=(4, 8, 16, 32), n="d")
    # An annealed data set costs 5 ms: three shares tell the rival also where some hundred claims share the error rate.
    return tc.Bound(variance, rate=BOUND, along=along, rivals=["d**(-2)"], correction=1, amplitude=0.5, within=0.3, share=3)


@tc.conjecture("camilli2025/concentration-constant", CAMILLI2025)
@tc.for_all(depth=sampled_from([1, 3]))
def constant(depth):
    """d Var((1/n) log Z) -> 1/2 + (m_1^2/2) L at n = d: linear phi"""
    variance = tc.learning.free_entropy_variance(setting("x", depth))
    limit = free_entropy_variance_limit(1, "1/2", (1,) * (depth + 1))
    along = tc.ScalingPath(d=tc.doubling(8, 128), n="d")
    return tc.Scaling(variance, along, exponent=-1, constant=limit, rivals=["-3/2", "-1/2"], correction=1, amplitude=0.25)


@tc.conjecture("camilli2025/concentration-linear-model", CAMILLI2025)
@tc.for_all(phi=sampled_from([tc.activations.erf, tc.activations.identity]))
def linear_model(phi):
    """Var((1/n) log Z^(0)) = O(1/n) at n = d^(3/2): the linear model has no term 1/d"""
    variance = tc.learning.free_entropy_variance(setting(phi, 1), equivalent=True)
    along = tc.ScalingPath(d=(4, 9, 16, 36, 64), n="d**(3/2)")
    return tc.Bound(variance, rate="1/n", along=along, rivals=["n**(-3/2)"], correction=0.5, amplitude=0.25)
