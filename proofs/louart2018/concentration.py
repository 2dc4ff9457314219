"""The trace of the resolvent concentrates (Louart et al. 2018).

Claim.     (1/n) tr Q - E (1/n) tr Q = O(n^(-1/2)).
Truth.     Its standard deviation is of order 1/n, as for linear statistics of any sample covariance matrix.

The variance has an unbiased estimate without a mean: half the squared difference of two independent draws.
"""

from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.theory.spectra import resolvent_variance

from . import LOUART2018

activations = sampled_from([tc.activations.erf, tc.activations.tanh])
SIZES = (8, 16, 32, 48)


def variance(phi):
    return resolvent_variance(tc.DeepNetwork(phi, depth=1, widths=("n", "2*n")), shift="1/4")


@tc.theorem("louart2018/concentration", LOUART2018)
@tc.for_all(phi=activations)
def concentration(phi):
    """Var (1/n) tr Q = O(1/n)"""
    return tc.Bound(variance(phi), rate="1/n", along=tc.ScalingPath(n=SIZES), rivals=["n**(-3)"], correction=1)


@tc.conjecture("louart2018/fluctuations", LOUART2018)
def fluctuations():
    """Var (1/n) tr Q is of order 1/n^2 for tanh: fluctuations of order 1/n"""
    return tc.Scaling(variance(tc.activations.tanh), tc.ScalingPath(n=SIZES), exponent=-2, rivals=[-1, -3], correction=1)
