"""The spectrum of K_1 and K_2, as the law of one eigenvalue that is chosen at random (Fan, Wang 2020).

Claim.     The law tends to mu_l.
Truth.     Distribution functions differ by O(1/n), as at level 0: the squared distance, whose exponent is shown, is of order 1/n^2.

mu_l has an exact parametrisation: z and the transform are rational functions of one complex variable, so density, distribution
function and quantiles are computed to 1e-10.  Ratios below 1 keep the smallest eigenvalue away from 0.
"""

from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.theory.spectra import conjugate_kernel, eigenvalue

from . import FAN2020

SIZES = (4, 6, 8, 12)


@tc.theorem("fan2020/law", FAN2020)
@tc.for_all(phi=sampled_from([tc.activations.erf, tc.activations.tanh]))
def law(phi):
    """An eigenvalue of K_1 at random tends in law to mu_1, c = (1, 1/2)"""
    network = tc.DeepNetwork(phi, depth=1, widths=("n", "2*n"))
    limit = conjugate_kernel(phi, (1, 0.5)).law()
    return tc.Law(eigenvalue(network), tc.ScalingPath(n=SIZES), limit, rivals=["n**(-4)"], correction=1)


@tc.theorem("fan2020/law-of-two-layers", FAN2020)
@tc.for_all(phi=sampled_from([tc.activations.tanh, tc.activations.sin]))
def law_of_two_layers(phi):
    """An eigenvalue of K_2 at random tends in law to mu_2, c = (1/2, 1, 1/2)"""
    network = tc.DeepNetwork(phi, depth=2, widths=("2*n", "n", "2*n"))
    limit = conjugate_kernel(phi, (0.5, 1, 0.5)).law()
    return tc.Law(eigenvalue(network), tc.ScalingPath(n=SIZES), limit, rivals=["n**(-4)"], correction=1)
