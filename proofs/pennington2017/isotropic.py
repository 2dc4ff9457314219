"""Two cases in which the quartic factors (Pennington, Worah 2017).

Claim.     zeta = 0: the spectrum of M is Marchenko-Pastur, as if f(W X) had independent entries: f keeps the data isotropic.
           zeta = eta: the spectrum is that of the linear network, a product of two Wishart matrices.
"""

import theoryck as tc
from theoryck.theory.networks import rho, sigma
from theoryck.theory.spectra import conjugate_kernel, eigenvalue, marchenko_pastur

from . import PENNINGTON2017

# x exp(-x^2/2) - x/sqrt(8) has E f'(Z) = 2^(-3/2) - 2^(-3/2) = 0, and is odd.
FLAT = tc.Activation("x*exp(-x**2/2) - x/sqrt(8)")
SIZES = (4, 6, 8, 12)


@tc.theorem("pennington2017/no-slope", PENNINGTON2017)
def no_slope():
    """E f'(Z) = 0 for f(x) = x exp(-x^2/2) - x/sqrt(8)"""
    return tc.Identity(rho(FLAT, 1), 0, rivals=[0.001])


@tc.theorem("pennington2017/isotropic-law", PENNINGTON2017)
def isotropic_law():
    """zeta = 0: an eigenvalue of K_1 at random tends in law to Marchenko-Pastur of ratio c_1 = 1/2 and scale eta"""
    network = tc.DeepNetwork(FLAT, depth=1, widths=("2*n", "2*n"))
    law = marchenko_pastur(0.5, float(sigma(FLAT, 1).exact({}, 20)))
    return tc.Law(eigenvalue(network), tc.ScalingPath(n=SIZES), law, rivals=["n**(-4)"], correction=1)


@tc.theorem("pennington2017/linear-law", PENNINGTON2017)
def linear_law():
    """zeta = eta: an eigenvalue of K_1 at random tends in law to that of a product of two Wishart matrices, c = (1/2, 1/2)"""
    network = tc.DeepNetwork(tc.activations.identity, depth=1, widths=("2*n", "2*n"))
    law = conjugate_kernel(tc.activations.identity, (0.5, 0.5)).law()
    return tc.Law(eigenvalue(network), tc.ScalingPath(n=SIZES), law, rivals=["n**(-4)"], correction=1)
