"""Training and generalisation error concentrate, at the rate n^(-1/2) and no faster (Loureiro et al. 2021, theorem 1).

Claim.     P(|error - limit| >= epsilon) <= (C/epsilon) e^(-c n epsilon^2).  Integrated against k epsilon^(k-1), with the
           probability at most 1, this is  E |error - limit|^k = O((log(n)/n)^(k/2)).
Truth.     n Var(error) tends to a positive number, so the power of n in the exponent cannot be raised.  It comes from the teacher
           and the noise: averaged over both given the features, errors are linear statistics of the spectrum of the features, whose
           fluctuations are of order 1/n.
"""

from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.theory.covariates import covariate_error, covariate_limit, covariate_variance, error_variance_limit

from . import LOUREIRO2021
from .models import isotropic, spread

errors = sampled_from(["test_error", "train_loss"])


def deviation(task, what, power, alpha=2, penalty=0.5):
    """|error - limit|^power of one data set, about the fixed point itself."""
    limit = getattr(covariate_limit(spread, alpha, penalty, task, noise=0.1), what)
    drawn = covariate_error(spread, penalty, task, noise=0.1, what=what)

    @tc.quantity(cost=lambda sizes: drawn.cost(sizes))
    def deviation_from_limit(rng, draws, *, n, p):
        return abs(drawn.sampler({"n": n, "p": p})(rng, draws) - limit) ** power

    return deviation_from_limit


@tc.theorem("loureiro2021/concentration", LOUREIRO2021)
@tc.for_all(task=sampled_from(["ridge", "classification", "logistic"]), what=errors, k=sampled_from([1, 2]))
def concentration(task, what, k):
    """E |error - limit|^k = O((log(n)/n)^(k/2)), which the theorem's tail implies"""
    along = tc.ScalingPath(n=tc.doubling(8, 64), p="n/2")
    return tc.Bound(deviation(task, what, k), rate="log(n)**(k/2) * n**(-k/2)", along=along, rivals=[f"n**(-{k})"], correction=1)


@tc.conjecture("loureiro2021/variance-rate", LOUREIRO2021)
@tc.for_all(task=sampled_from(["classification", "logistic"]))
def variance_rate(task):
    """Var(error rate) ~ 1/n without a logarithm, from data sets with their own teachers"""
    along = tc.ScalingPath(n=tc.doubling(8, 64), p="n/2")
    variance = covariate_variance(spread, 0.5, task)
    return tc.Scaling(variance, along, exponent=-1, rivals=[-2], correction=1)


@tc.conjecture("loureiro2021/variance-constant", LOUREIRO2021)
@tc.for_all(alpha=sampled_from([1, 2]), what=errors)
def variance_constant(alpha, what):
    """n Var(error) -> its closed form for isotropic ridge regression"""
    constant = error_variance_limit(isotropic, alpha, 0.5, noise=0.25, what=what)
    variance = covariate_variance(isotropic, 0.5, noise=0.25, what=what, teacher="given features")
    along = tc.ScalingPath(n=tc.doubling(16, 128), p=f"n/{alpha}")
    return tc.Scaling(variance, along, exponent=-1, constant=constant, rivals=[-2, "-1/2"], correction=1)


@tc.conjecture("loureiro2021/averaged-teacher", LOUREIRO2021)
@tc.for_all(what=errors)
def averaged_teacher(what):
    """Var(E[error | features]) ~ 1/n^2: averaged over teacher and noise, ridge errors fluctuate by 1/n"""
    variance = covariate_variance(spread, 0.5, noise=0.25, what=what, teacher="averaged")
    along = tc.ScalingPath(n=tc.doubling(8, 64), p="n/2")
    return tc.Scaling(variance, along, exponent=-2, rivals=[-1, "-3/2"], correction=1)
