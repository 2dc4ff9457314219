"""One layer and its linear model carry the same information (Camilli et al. 2025).

Setting.   Y = f(a . x_1) + sqrt(Delta) Z, n samples; the linear model Y = f(rho v . x_0 + sqrt(epsilon) xi) + sqrt(Delta) Z shares
           the inputs.  I_n is the mutual information of all weights (of v and xi for the linear model) and the data.
Claim.     |I^(1) - I^(0)| / n  =  O((1 + sqrt(n/d) + n/d) / sqrt(d)).
Truth.     The bound holds and is loose by sqrt(d) at n ~ d: n times the difference per sample tends to a number that is not 0.  For
           linear readout I^(1) - I^(0) = T_1 - KL, T_1 the part of the covariances, KL >= 0 the non-Gaussianity of the data.

The evidence of a network is known from two sides only, so these quantities are intervals, and both ends are judged.
"""

from hypothesis import assume
from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.theory.learning import covariance_gap_limit, one_layer_gap_limit, one_sample_gap_limit

from . import CAMILLI2025

REDUCTION = "(1 + sqrt(n/d) + n/d) / sqrt(d)"
activations = sampled_from([tc.activations.erf, tc.activations.sin, tc.activations.tanh])


def setting(phi, noise="1/2", readout="x"):
    network = tc.DeepNetwork(phi, depth=1, widths=("d", "d"))
    return tc.TeacherStudent(network, samples="n", noise=noise, readout=readout)


@tc.theorem("camilli2025/one-layer-reduction", CAMILLI2025)
@tc.for_all(phi=activations)
def one_layer_reduction(phi):
    """|I^(1) - I^(0)|/n = O((1 + sqrt(n/d) + n/d)/sqrt(d)) at n = d, linear readout"""
    gap = tc.learning.mutual_information_gap(setting(phi), per_sample=True)
    along = tc.ScalingPath(d=(4, 8, 16, 32), n="d")
    # n times the gap moves by less than half on its way from d = 4 to its limit: the declared scale of the 1/d correction.
    return tc.Bound(gap, rate=REDUCTION, along=along, rivals=["d**(-2)"], correction=1, amplitude=0.5)


@tc.conjecture("camilli2025/one-layer-limit", CAMILLI2025)
@tc.for_all(phi=activations)
def one_layer_limit(phi):
    """I^(1) - I^(0) -> T_1 - KL in closed form, not 0: the difference per sample is of order 1/d at n = d, not 1/sqrt(d)"""
    limit = one_layer_gap_limit(phi, 1, "1/2")
    gap = tc.learning.mutual_information_gap(setting(phi))
    along = tc.ScalingPath(d=(4, 8, 16, 32), n="d")
    return tc.Limit(gap, along, value=limit, tolerance=abs(limit) / 4, rivals=[0, 1.5 * limit], correction=1, amplitude=0.5)


@tc.conjecture("camilli2025/covariance-part", CAMILLI2025)
@tc.for_all(phi=activations, ratio=sampled_from([1, 2]))
def covariance_part(phi, ratio):
    """T_1 -> its closed form at n = ratio * d, with the next term of order 1/d"""
    limit = covariance_gap_limit(phi, ratio, "1/2")
    part = tc.learning.covariance_gap(setting(phi))
    along = tc.ScalingPath(d=tc.doubling(16, 128), n=f"{ratio}*d")
    return tc.Limit(part, along, value=limit, tolerance=abs(limit) / 10, rivals=[0, 1.3 * limit], correction=1, amplitude=0.5)


@tc.theorem("camilli2025/one-sample-reduction", CAMILLI2025)
@tc.for_all(phi=activations, readout=sampled_from(["x", "tanh(2*x)"]))
def one_sample_reduction(phi, readout):
    """|I^(1) - I^(0)| = O(1/sqrt(d)) at n = 1, any readout: by quadrature over characteristic functions, no draw"""
    # With sin and this readout the difference changes sign near d = 32, where no exponent can be read off.
    assume(readout == "x" or phi != tc.activations.sin)
    noise = "1/2" if readout == "x" else "1/5"
    gap = tc.learning.mutual_information_gap(setting(phi, readout=readout, noise=noise), exact_only=True)
    along = tc.ScalingPath(d=(8, 16, 32, 64, 128), n=1)
    return tc.Bound(gap, rate="d**(-1/2)", along=along, rivals=["d**(-2)"], correction=1, amplitude=1)


@tc.conjecture("camilli2025/one-sample-limit", CAMILLI2025)
@tc.for_all(phi=activations)
def one_sample_limit(phi):
    """I^(1) - I^(0) ~ c/d at n = 1, c in closed form"""
    constant = one_sample_gap_limit(phi, "1/2")
    gap = tc.learning.mutual_information_gap(setting(phi), exact_only=True)
    along = tc.ScalingPath(d=(8, 16, 32, 64, 128), n=1)
    return tc.Scaling(gap, along, exponent=-1, constant=constant, rivals=["-1/2", -2], correction=1, amplitude=1)
