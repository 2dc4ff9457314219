"""Odd sigma: the projections are closer to Gaussian than the theorem says (Goldt et al. 2021).

Setting.   lambda = w . x/sqrt(N),  x_i = sigma(a_i . c), sigma odd: every odd cumulant of lambda vanishes, as c -> -c shows, and
           aligned weights are as good as random signs, as a_i -> -a_i shows.
Claim.     The distance of lambda from a Gaussian is O(1/sqrt(N)).
Truth.     Loose.  E kappa_4/(E kappa_2)^2 = N^-1 [kappa_4(sigma) + 3 (N-1) E (Cov(x_i^2, x_j^2) - 2 Cov(x_i, x_j)^2)]/
           Var(sigma)^2, which is c/N at D ~ N and of order 1/N + 1/D in general.
"""

from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.theory.projections import projection_kurtosis, projection_kurtosis_limit

from . import GOLDT2021

odd = sampled_from(["erf(x)", "tanh(x)", "2*sin(x)", "sin(3*x)"])
weights = sampled_from(["aligned", "signs"])


def path(*sizes, D="N"):
    return tc.ScalingPath(N=sizes or (8, 16, 32), D=D)


@tc.theorem("goldt2021/odd-kurtosis", GOLDT2021)
@tc.for_all(sigma=sampled_from(["erf(x)", "tanh(x)"]), weights=weights)
def odd_kurtosis(sigma, weights):
    """E kappa_4(lambda)/(E kappa_2)^2 = O(1/sqrt(N)) at D = N, odd sigma: drawn and by Mehler's formula"""
    return tc.Bound(
        projection_kurtosis(sigma, weights), rate="N**(-1/2)", along=path(), rivals=["N**(-3/2)", "N**(-2)"], correction=1
    )


@tc.conjecture("goldt2021/odd-kurtosis-rate", GOLDT2021)
@tc.for_all(sigma=odd, ratio=sampled_from([1, 2, 4]))
def odd_kurtosis_rate(sigma, ratio):
    """N E kappa_4(lambda)/(E kappa_2)^2 -> its closed form at N = ratio * D, odd sigma"""
    kurtosis = projection_kurtosis(sigma, exact_only=True)
    along = tc.ScalingPath(D=tc.doubling(128, 2**16), N=f"{ratio}*D")
    # N = ratio * D, so that the constant in powers of D is that of N over ratio.
    constant = projection_kurtosis_limit(sigma, ratio) / ratio
    return tc.Scaling(
        kurtosis, along, exponent=-1, constant=constant, tolerance=0.01, rivals=["-1/2", "-3/2"], correction=1, within=0.01
    )


@tc.conjecture("goldt2021/odd-kurtosis-latent", GOLDT2021)
@tc.for_all(sigma=sampled_from(["erf(x)", "tanh(x)", "2*sin(x)"]), latent=sampled_from(["N**(1/2)", "N**(3/4)", "N", "N**(3/2)"]))
def few_latent_variables(sigma, latent):
    """E kappa_4(lambda)/(E kappa_2)^2 = O(1/N + 1/D) for any D, odd sigma"""
    along = tc.ScalingPath(N=tc.doubling(2**8, 2**16), D=latent)
    return tc.Bound(projection_kurtosis(sigma, exact_only=True), rate="1/N + 1/D", along=along, rivals=["1/(N*D)"])
