"""The deterministic equivalent of the resolvent, at finite size and at the same inputs (Louart et al. 2018).

Claim.     |E_W Q - Qbar| = O(n^(-1/2 + eps)).
Truth.     For traces the difference is of order 1/n, both for the exact kernel Phi and for its surrogate rho^2 X^T X + epsilon; the
           constant of the exact kernel is the smaller one.

The difference of the traces is of order 1/n, like the fluctuation of tr Q over W, so both traces share X, and what is linear and
quadratic in K - Phi, whose mean given X is known, is taken off:
1/16 of the variance is left at gamma = 1 for erf, 1/40 at gamma = 2.
"""

from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.theory.networks import epsilon, rho
from theoryck.theory.spectra import equivalent_gap

from . import LOUART2018

activations = sampled_from([tc.activations.erf, tc.Activation("sin(2*x)")])
SIZES = (8, 16, 32, 48)


def linear_model(phi):
    return tuple(float(constant(phi, 1).exact({}, 20)) for constant in (rho, epsilon))


@tc.theorem("louart2018/equivalent", LOUART2018)
@tc.for_all(phi=activations)
def equivalent(phi):
    """|E (1/n) tr Q - (1/n) tr Qbar| = O(n^(-1/2)) with the exact kernel, n = d_0/2 = d_1, gamma = 2"""
    gap = equivalent_gap(tc.DeepNetwork(phi, depth=1, widths=("2*n", "n")), shift=2)
    return tc.Bound(gap, rate="n**(-1/2)", along=tc.ScalingPath(n=SIZES), rivals=["n**(-2)"], correction=1)


@tc.conjecture("louart2018/equivalent-inverse-width", LOUART2018)
def equivalent_inverse_width():
    """E (1/n) tr Q - (1/n) tr Qbar is of order 1/n with the exact kernel, phi = sin(2x), n = d_0/2 = d_1, gamma = 2"""
    gap = equivalent_gap(tc.DeepNetwork("sin(2*x)", depth=1, widths=("2*n", "n")), shift=2)
    return tc.Scaling(gap, tc.ScalingPath(n=SIZES), exponent=-1, rivals=["-1/2", -2], correction=1)


@tc.conjecture("louart2018/surrogate-inverse-width", LOUART2018)
def surrogate_inverse_width():
    """E (1/n) tr Q - (1/n) tr Qbar is of order 1/n with rho^2 X^T X + epsilon for the kernel, phi = sin(3x/2), d_1 = 4n"""
    phi = tc.Activation("sin(3*x/2)")
    gap = equivalent_gap(tc.DeepNetwork(phi, depth=1, widths=("n", "4*n")), shift=1, surrogate=linear_model(phi))
    return tc.Scaling(gap, tc.ScalingPath(n=SIZES), exponent=-1, rivals=["-1/2", -2], correction=1)
