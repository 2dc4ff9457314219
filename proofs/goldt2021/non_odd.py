"""sigma that is not odd: the theorem's 1/sqrt(N) is attained, by weights that are aligned (Goldt et al. 2021).

Setting.   lambda = w . x/sqrt(N) less its mean, x_i = sigma(a_i . c).  With aligned weights |c| moves all coordinates together.
Claim.     The distance of lambda from a Gaussian is O(1/sqrt(N)).
Truth.     Tight for aligned weights: sqrt(N) E kappa_3/(E kappa_2)^(3/2) tends to a number.  He_2 in closed form: sqrt(8)
           tr(rho^3)/tr(rho^2)^(3/2) for rho = A A^T.  With random signs the sign of the skewness is random too; its square has
           mean c/N^2: the typical skewness is of order 1/N, and so is the excess kurtosis.
"""

from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.theory.projections import (
    projection_kurtosis,
    projection_kurtosis_limit,
    projection_skewness,
    projection_skewness_limit,
    projection_squared_skewness,
)

from . import GOLDT2021

not_odd = sampled_from(["relu(x)", "(x**2 - 1)/sqrt(2)", "cos(x)", "log(1 + exp(x))"])


def path(*sizes):
    return tc.ScalingPath(N=sizes or (8, 16, 32, 64), D="N")


def large():
    return tc.ScalingPath(N=tc.doubling(2**7, 2**14), D="N")


@tc.theorem("goldt2021/aligned-skewness", GOLDT2021)
@tc.for_all(sigma=sampled_from(["relu(x)", "(x**2 - 1)/sqrt(2)"]))
def aligned_skewness(sigma):
    """E kappa_3(lambda)/(E kappa_2)^(3/2) = O(1/sqrt(N)) for aligned weights: tight; drawn and by conditioning on |c|"""
    return tc.Bound(projection_skewness(sigma), rate="N**(-1/2)", along=path(), rivals=["1/N"], correction=1)


@tc.conjecture("goldt2021/aligned-skewness-limit", GOLDT2021)
@tc.for_all(sigma=not_odd)
def aligned_skewness_limit(sigma):
    """sqrt(N) E kappa_3(lambda)/(E kappa_2)^(3/2) -> its closed form for aligned weights"""
    skewness, constant = projection_skewness(sigma, exact_only=True), projection_skewness_limit(sigma)
    return tc.Scaling(
        skewness, large(), exponent="-1/2", constant=constant, tolerance=0.01, rivals=["-1", "0"], correction=1, within=0.01
    )


@tc.theorem("goldt2021/he2-skewness", GOLDT2021)
@tc.for_all(n=sampled_from([16, 64, 1024]))
def he2_skewness(n):
    """E kappa_3(lambda)/(E kappa_2)^(3/2) = sqrt(8) E tr(rho^3)/(E tr(rho^2))^(3/2), rho = A A^T, for He_2 and aligned weights"""
    third = 1 + 3 * (n - 1) / n + (n - 1) * (n - 2) / n**2  # E tr(rho^3)/N: E m^2 = E m_12 m_23 m_31 * D = 1/D
    second = 1 + (n - 1) / n
    value = 8**0.5 * third / (n**0.5 * second**1.5)
    without_triples = 8**0.5 * (1 + 3 * (n - 1) / n) / (n**0.5 * second**1.5)
    skewness = tc.quantities.formula(
        lambda: float(projection_skewness("he2").exact({"N": n, "D": n})), name="skewness of He_2", sizes=(), relative_error=1e-9
    )
    return tc.Identity(skewness, value, tolerance=1e-7, rivals=[without_triples, value * 2**1.5])


@tc.theorem("goldt2021/signs-skewness", GOLDT2021)
@tc.for_all(sigma=sampled_from(["relu(x)", "(x**2 - 1)/sqrt(2)"]))
def signs_skewness(sigma):
    """E kappa_3(lambda)^2/Var(sigma)^3 = O(1/N), that is skewness O(1/sqrt(N)), for random signs: loose"""
    return tc.Bound(projection_squared_skewness(sigma), rate="1/N", along=path(8, 16, 32), rivals=["N**(-3)"], correction=1)


@tc.conjecture("goldt2021/signs-skewness-rate", GOLDT2021)
@tc.for_all(sigma=not_odd)
def signs_skewness_rate(sigma):
    """E kappa_3(lambda)^2/Var(sigma)^3 ~ N^-2, that is skewness ~ 1/N, for random signs"""
    squared = projection_squared_skewness(sigma, exact_only=True)
    return tc.Scaling(squared, large(), exponent=-2, rivals=["-1", "-3"], correction=1, within=0.01)


@tc.conjecture("goldt2021/signs-kurtosis-rate", GOLDT2021)
@tc.for_all(sigma=not_odd)
def signs_kurtosis_rate(sigma):
    """N E kappa_4(lambda)/(E kappa_2)^2 -> its closed form for random signs"""
    kurtosis, constant = projection_kurtosis(sigma, exact_only=True), projection_kurtosis_limit(sigma)
    return tc.Scaling(
        kurtosis, large(), exponent=-1, constant=constant, tolerance=0.01, rivals=["-1/2", "-3/2"], correction=1, within=0.01
    )
