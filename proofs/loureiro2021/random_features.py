"""Random features: erf(F x) learns as its Gaussian equivalent does (Loureiro et al. 2021).

Setting.   v = erf(F x), x ~ N(0, I_d), F (p, d) with entries N(0, 1/d), nu = theta.x/sqrt(d), gamma = d/p.
Claim.     The errors tend to the fixed point of Omega = kappa_1^2 F F^T + kappa_*^2 I, Phi = kappa_1 F^T, with kappa_1 = E z erf(z)
           and kappa_*^2 = E erf(z)^2 - kappa_1^2, whose spectrum is a Marchenko-Pastur law.
"""

import math

from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.theory.covariates import CovariateModel, covariate_limit, erf_features_error

from . import LOUREIRO2021

KAPPA_1 = 2 / math.sqrt(3 * math.pi)
KAPPA_STAR = math.sqrt(2 / math.pi * math.asin(2 / 3) - KAPPA_1**2)


@tc.theorem("loureiro2021/random-features", LOUREIRO2021)
@tc.for_all(task=sampled_from(["ridge", "classification", "logistic"]))
def random_features(task):
    """Test errors of erf features at n = 2 p = 2 d -> the fixed point of their Gaussian equivalent"""
    limit = covariate_limit(CovariateModel.random_features(KAPPA_1, KAPPA_STAR, gamma=1), 2, 0.1, task).test_error
    without = covariate_limit(CovariateModel.random_features(KAPPA_1, 1e-3, gamma=1), 2, 0.1, task).test_error
    along = tc.ScalingPath(p=(8, 16, 32, 64), n="2*p", d="p")
    rivals = [without, 2 * limit - without]
    tolerance = abs(limit - without) / 2
    return tc.Limit(erf_features_error(0.1, task), along, value=limit, tolerance=tolerance, rivals=rivals, correction=1)


@tc.theorem("loureiro2021/random-features-wide", LOUREIRO2021)
@tc.for_all(what=sampled_from(["test_error", "train_loss"]))
def more_features_than_inputs(what):
    """Errors of ridge regression on erf features at p = 2 d = 2 n -> the fixed point of their Gaussian equivalent"""
    limit = getattr(covariate_limit(CovariateModel.random_features(KAPPA_1, KAPPA_STAR, gamma=0.5), 0.5, 0.1), what)
    along = tc.ScalingPath(p=(8, 16, 32, 64), n="p/2", d="p/2")
    measured = erf_features_error(0.1, what=what)
    return tc.Limit(measured, along, value=limit, tolerance=0.05 * limit, rivals=[0.9 * limit, 1.1 * limit], correction=1)
