"""sign(z1 z2 z3): no number of samples of order d suffices, d^(3/2) does (Troiani et al. 2024).

Setting.   y = sign(z_1 ... z_r), r >= 3, n = alpha d.  Given y the signs of any two indices are independent: G = E[z z^T - I | y]
           = 0 and E[z | y] = 0, so that nothing known stays nothing known at every alpha.
Claim.     alpha_c is infinite.  For r = 3 the third Hermite tensor of the samples, unfolded without its diagonal,
           U = X^T (K o y y^T) X/n^2, K_ij = (x_i . x_j)^2 - |x_i|^2 - |x_j|^2 + d + 4 (i != j), finds the directions with n = C
           d^(3/2): seen at moderate d, and this is the power of the generative exponent k* = 3 (Damian et al. 2024).
"""

from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.theory.weak_recovery import recovery_eigenvalue, unfolding_error

from . import DAMIAN2024, TROIANI2024


@tc.theorem("troiani2024/parity", TROIANI2024)
@tc.for_all(r=sampled_from([3, 4, 5]))
def parity(r):
    """1/alpha_c = 0 for sign(z_1 ... z_r), r >= 3"""
    return tc.Identity(recovery_eigenvalue(f"sign({'*'.join(f'z{j}' for j in range(1, r + 1))})"), 0, rivals=[0.4])


@tc.conjecture("troiani2024/unfolding", DAMIAN2024)
def unfolding():
    """the error of tensor unfolding for sign(z1 z2 z3) decays with n = 8 d^(3/2), at least like d^(-1/8)"""
    along = tc.ScalingPath(d=(8, 12, 16, 24, 32), n="8*d**(3/2)")
    return tc.Bound(unfolding_error(), rate="d**(-1/8)", along=along, rivals=["d**(-2)"])
