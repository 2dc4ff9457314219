"""What cannot be learnt when the first layer has learnt the subspace U only (Loureiro 2025).

Setting.   f* of unit variance, x ~ N(0, I_d), rows w_j of length 1 that know U and nothing else of f*; readouts a with
           |a|_inf = Theta(1).
Claim.     E (f* - f)^2  >=  E Var(f* | P_U z) - o(1)   for p = O(1) rows, or for f = (1/p) sum_j a_j phi(<w_j, x>).
Words changed.
           The slide has Var(f* | P_U z), a random variable, for its mean.  And it gives no normalisation: with p = d rows and
           f = p^(-1/2) sum_j a_j phi(<w_j, x>) a linear target in a direction of which nothing was learnt is partly fitted (see
           falsehoods).
Truth.     What a readout gains is of order d^(-l) for p = O(1), l the lowest degree of the unlearnt part of f*, and of order
           d^(-1/2) for the mean over p = d rows.
"""

from fractions import Fraction

from hypothesis.strategies import integers, sampled_from

import theoryck as tc
from theoryck.theory.equivalence import RandomFeatures, best_product_gain, best_readout_gain, sign_readout_gain

from . import LOUREIRO2025

activations = sampled_from([tc.activations.relu, tc.activations.erf_shifted])


@tc.theorem("loureiro2025/lower-bound-one-row", LOUREIRO2025)
@tc.for_all(phi=activations, l=integers(1, 2))
def one_row(phi, l):  # noqa: E741 - the letter of the source
    """Var f* - E (f* - f)^2 = O(d^(-l)) for f* = h_l(<theta, x>), p = 1 and the best readout

    It is c_l^2 E m^(2l)/E phi^2, and prod_{j<l} (2j + 1)/(d + 2j) = (2l - 1)!! d^(-l) (1 - l (l - 1)/d + ...).
    """
    gain = best_readout_gain(RandomFeatures(phi, features=1), degree=l)
    along = tc.ScalingPath(d=tc.doubling(16, 256))
    return tc.Bound(gain, rate="d**(-l)", along=along, rivals=["d**(-l - 1/2)"], correction=1)


@tc.theorem("loureiro2025/lower-bound-rows", LOUREIRO2025)
@tc.for_all(phi=activations)
def several_rows(phi):
    """Var f* - E (f* - f)^2 = O(1/d) for f* = <theta, x>, p = 4 and the best readout"""
    gain = best_readout_gain(RandomFeatures(phi, features=4))
    along = tc.ScalingPath(d=tc.doubling(16, 256))
    return tc.Bound(gain, rate="1/d", along=along, rivals=["d**(-3/2)"], correction=1)


@tc.theorem("loureiro2025/lower-bound-learnt", LOUREIRO2025)
@tc.for_all(share=sampled_from([Fraction(1, 4), Fraction(1, 2)]))
def one_direction_learnt(share):
    """E Var(f* | z_1) - E (f* - f)^2 = O(1/d) for f* = z_1 z_2, two rows of which a share has turned to theta_1, best readout"""
    gain = best_product_gain(RandomFeatures(tc.activations.relu, features=2), learned=share)
    along = tc.ScalingPath(d=tc.doubling(16, 256))
    return tc.Bound(gain, rate="1/d", along=along, rivals=["d**(-3/2)"], correction=1)


@tc.theorem("loureiro2025/lower-bound-mean", LOUREIRO2025)
@tc.for_all(phi=sampled_from([tc.activations.erf, tc.activations.tanh]))
def mean_over_rows(phi):
    """Var f* - E (f* - f)^2 = O(d^(-1/2)) for f* = <theta, x>, p = d and f = (1/p) sum_j sign(<w_j, theta>) phi(<w_j, x>)

    It is 2 mu_1 sqrt(2/(pi d)) (1 + 1/(4 d) + ...) less (E phi^2 + 2 mu_1^2/pi)/d: at d = 16 less by 18% for erf, 16% for tanh.
    """
    gain = sign_readout_gain(RandomFeatures(phi), normalisation="mean")
    along = tc.ScalingPath(d=tc.doubling(16, 256))
    return tc.Bound(gain, rate="d**(-1/2)", along=along, rivals=["1/d"], correction=0.5, amplitude=0.2)
