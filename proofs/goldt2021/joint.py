"""Student and teacher together: the pair (lambda, nu), of which nu alone is exactly Gaussian (Goldt et al. 2021).

Setting.   nu = w~ . c/sqrt(D) with w~ fixed, or w~ = sqrt(D/N) A^T w, the teacher that reads the same combination of the
           generator's directions as the student: the theorem's third term |W~ A^T|^2/(D sqrt(N)) is there for it.
Claim.     The distance of the pair from a Gaussian pair is O(1/sqrt(N)).
Truth.     Fixed teacher: kappa(lambda, lambda, nu, nu) has mean (E sigma^2 He_2 - 2 (E sigma Z)^2)/D, exactly, for random signs
           and for odd sigma; kappa(lambda, lambda, nu) vanishes for odd sigma and is typically of order 1/N otherwise: 1/sqrt(N)
           is loose.
           Teacher along A^T w, aligned weights, sigma neither odd nor even: E kappa(lambda, lambda, nu) ~ 1/sqrt(N), tight.
"""

from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.theory.projections import joint_kurtosis, joint_skewness, squared_joint_skewness

from . import GOLDT2021


def path(*sizes):
    return tc.ScalingPath(N=sizes or (8, 16, 32), D="N")


def large():
    return tc.ScalingPath(N=tc.doubling(2**7, 2**14), D="N")


@tc.theorem("goldt2021/joint-kurtosis", GOLDT2021)
@tc.for_all(case=sampled_from([("erf(x)", "aligned"), ("erf(x)", "signs"), ("(x**2 - 1)/sqrt(2)", "signs")]))
def fixed_teacher(case):
    """E kappa(lambda, lambda, nu, nu)/E kappa_2 = O(1/sqrt(N)) at D = N: loose"""
    return tc.Bound(joint_kurtosis(*case), rate="N**(-1/2)", along=path(), rivals=["N**(-2)"], correction=1)


@tc.conjecture("goldt2021/joint-kurtosis-latent", GOLDT2021)
@tc.for_all(case=sampled_from([("erf(x)", "aligned"), ("relu(x)", "signs"), ("relu(x)", "aligned")]))
def fixed_teacher_rate(case):
    """E kappa(lambda, lambda, nu, nu)/E kappa_2 ~ 1/D: the latent dimension, not N = D^(1/2), D or 2 D, sets it"""
    paths = [tc.ScalingPath(D=tc.doubling(2**7, 2**14), N=n) for n in ("D**(1/2)", "D", "2*D")]
    return tc.Scaling(joint_kurtosis(*case, exact_only=True), paths, exponent=-1, rivals=["-1/2", "-2"], within=0.01)


@tc.theorem("goldt2021/joint-skewness", GOLDT2021)
def teacher_of_the_generator():
    """E kappa(lambda, lambda, nu)/E kappa_2 = O(1/sqrt(N)) for w~ along A^T w, relu and aligned weights: tight"""
    return tc.Bound(joint_skewness("relu(x)"), rate="N**(-1/2)", along=path(8, 16, 32, 64), rivals=["1/N"], correction=1)


@tc.conjecture("goldt2021/joint-skewness-rate", GOLDT2021)
@tc.for_all(sigma=sampled_from(["relu(x)", "log(1 + exp(x))", "erf(x + 1/2)"]))
def teacher_of_the_generator_rate(sigma):
    """E kappa(lambda, lambda, nu)/E kappa_2 ~ 1/sqrt(N) for w~ along A^T w, sigma neither odd nor even, aligned weights"""
    skewness = joint_skewness(sigma, exact_only=True)
    return tc.Scaling(skewness, large(), exponent="-1/2", rivals=["-1", "0"], correction=1, within=0.01)


@tc.conjecture("goldt2021/joint-skewness-typical", GOLDT2021)
def fixed_teacher_skewness():
    """E kappa(lambda, lambda, nu)^2/Var(sigma)^2 ~ N^-2 for a fixed teacher, relu and random signs, by both routes"""
    squared = squared_joint_skewness("relu(x)")
    return tc.Scaling(squared, path(8, 16, 32), exponent=-2, rivals=["-1", "-3"], correction=1)
