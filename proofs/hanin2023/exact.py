"""Evidences of deep linear networks by routes that share no code (Hanin, Zlokapa 2023).

Setting.   As in the folder; X (2, 3) and y given below.
Claim.     E t^(-P/2) e^(-A/2t) = c^(P/2)/prod_l Gamma(N_l/2) G^{L+1,0}_{0,L+1}(c A/2 | 0, (N_l - P)/2), c = prod N_l/2 (Hanin,
           Zlokapa 2023, in this normalisation).
Truth.     The integral over t in balls, the Meijer function of mpmath, and draws of chi-squares agree.
"""

import math

import mpmath
from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.quantities import formula
from theoryck.theory.renormalisation import NetworkTask, evidence_ratio, linear_posterior

from . import HANIN2023

INPUTS, LABELS = [[1, 0.5, 0], [0.25, -1, 1]], [1, -2]


def meijer(widths, power=0):
    """log Z of the Meijer function with parameters (N_l - P + ``power``)/2."""
    with mpmath.workdps(30):
        gram = mpmath.matrix([[sum(mpmath.mpf(a) * b for a, b in zip(one, two)) / 3 for two in INPUTS] for one in INPUTS])
        y = mpmath.matrix(LABELS)
        square = (y.T * mpmath.lu_solve(gram, y))[0]
        c = math.prod(mpmath.mpf(width) / 2 for width in widths)
        indices = [0] + [mpmath.mpf(width - 2 + power) / 2 for width in widths]
        mean = c / math.prod(mpmath.gamma(mpmath.mpf(width) / 2) for width in widths)
        mean *= mpmath.meijerg([[], []], [indices, []], c * square / 2)
        return float(mpmath.log(mean) - mpmath.log(mpmath.det(gram)) / 2 - mpmath.log(2 * mpmath.pi))


def interpolating(widths):
    """log Z at T = 0, by the integral over t."""
    found = linear_posterior(INPUTS, LABELS, widths=list(widths), temperature=0).log_evidence
    return formula(lambda: float(found), name=f"log Z, widths {widths}, T = 0", sizes=(), relative_error=1e-14)


@tc.theorem("hanin2023/meijer", HANIN2023)
@tc.for_all(widths=sampled_from([(5,), (5, 4), (6, 5, 4), (2, 3)]))
def evidence_is_a_meijer_function(widths):
    """log Z at T = 0 is that of the Meijer function"""
    rivals = [meijer(widths, 1), float(linear_posterior(INPUTS, LABELS, widths=math.inf, temperature=0).log_evidence)]
    return tc.Identity(interpolating(widths), meijer(widths), tolerance=1e-12, rivals=rivals)


@tc.theorem("hanin2023/drawn", HANIN2023)
@tc.for_all(depth=sampled_from([1, 2, 4]), width=sampled_from([3, 8]))
def evidence_drawn(depth, width):
    """Z/Z_GP at T = 1/2: a mean over products of chi-squares, and the integral over t"""
    ratio = evidence_ratio(NetworkTask("x", LABELS, INPUTS, temperature=0.5, depth=depth))
    value = float(ratio.exact({"N": width}))

    @tc.quantity(cost=60, name=f"Z/Z_GP, L = {depth}, N = {width}")
    def drawn(rng, draws):
        return ratio.draw(rng, draws, {"N": width})

    # depth counts: twice the layers, and none
    other = float(evidence_ratio(NetworkTask("x", LABELS, INPUTS, temperature=0.5, depth=2 * depth)).exact({"N": width}))
    return tc.Identity(drawn, value, rivals=[other, 1], tolerance=abs(value - other) / 3)
