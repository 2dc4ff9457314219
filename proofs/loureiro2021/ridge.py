"""Ridge regression: test and training error tend to the replica fixed point (Loureiro et al. 2021).

Claim.     E (y - w.v/sqrt(p))^2 -> rho + q - 2 m  and  (1/n) sum_mu (y_mu - w.v_mu/sqrt(p))^2 -> (rho + q - 2 m)/(1 + V)^2.
Truth.     With a difference of order 1/p.  The isotropic case is known exactly at every size, through the law of a Wishart matrix.
"""

from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.theory.covariates import covariate_error, covariate_limit

from . import LOUREIRO2021
from .models import isotropic, spread

ratios = sampled_from([0.5, 2])
errors = sampled_from(["test_error", "train_loss"])


@tc.conjecture("loureiro2021/ridge-isotropic", LOUREIRO2021)
@tc.for_all(alpha=ratios, penalty=sampled_from([0.1, 1]), what=errors)
def isotropic_ridge(alpha, penalty, what):
    """Errors of isotropic ridge regression, label noise 1/4, -> the fixed point with a difference O(1/p): exact at every size"""
    limit = getattr(covariate_limit(isotropic, alpha, penalty, noise=0.25), what)
    measured = covariate_error(isotropic, penalty, noise=0.25, what=what, teacher="given features")
    along = tc.ScalingPath(p=(8, 16, 32, 64), n=f"{alpha:g}*p")
    rivals = [0.98 * limit, 1.02 * limit]
    return tc.Limit(measured, along, value=limit, rate="1/p", tolerance=0.01 * limit, rivals=rivals, correction=1)


@tc.theorem("loureiro2021/ridge-spectrum", LOUREIRO2021)
@tc.for_all(alpha=ratios, what=errors)
def ridge(alpha, what):
    """Errors of ridge regression with four eigenvalues and a misspecified teacher -> the fixed point"""
    limit = getattr(covariate_limit(spread, alpha, 0.1, noise=0.1), what)
    measured = covariate_error(spread, 0.1, noise=0.1, what=what, teacher="given features")
    along = tc.ScalingPath(p=(8, 16, 32, 64), n=f"{alpha:g}*p")
    rivals = [0.96 * limit, 1.04 * limit]
    return tc.Limit(measured, along, value=limit, tolerance=0.02 * limit, rivals=rivals, correction=1)


@tc.conjecture("loureiro2021/ridge-spectrum-rate", LOUREIRO2021)
def ridge_rate():
    """The test error of ridge regression with four eigenvalues differs from the fixed point by O(1/p)"""
    limit = covariate_limit(spread, 2, 0.01, noise=0.1).test_error
    measured = covariate_error(spread, 0.01, noise=0.1, teacher="given features")
    along = tc.ScalingPath(p=(8, 16, 32, 64), n="2*p")
    rivals = [0.98 * limit, 1.02 * limit]
    return tc.Limit(measured, along, value=limit, rate="1/p", tolerance=0.01 * limit, rivals=rivals, correction=1)
