"""Logistic regression: error rate and training loss tend to the replica fixed point (Loureiro et al. 2021).

Claim.     With x the proximal point of V log(1 + e^-x) at omega ~ N(0, q), f = (x - omega)/V and s = m/sqrt(rho q - m^2):
           q_hat = alpha E[2 Phi(s omega/sqrt(q)) f^2],  V_hat = alpha E[2 Phi(s omega/sqrt(q)) f(1-f)/(1 + V f(1-f))],
           m_hat = (alpha/sqrt(gamma)) sqrt(2/(pi rho)) E f at omega ~ N(0, q - m^2/rho);
           the error rate is arccos(m/sqrt(rho q))/pi, the training loss E[2 Phi(s omega/sqrt(q)) log(1 + e^-x)].
"""

from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.theory.covariates import covariate_error, covariate_limit

from . import LOUREIRO2021
from .models import isotropic, spread


@tc.theorem("loureiro2021/logistic", LOUREIRO2021)
@tc.for_all(
    model=sampled_from(["isotropic", "spread"]), alpha=sampled_from([0.5, 2]), what=sampled_from(["test_error", "train_loss"])
)
def logistic(model, alpha, what):
    """Error rate and training loss of logistic regression -> the fixed point"""
    law = isotropic if model == "isotropic" else spread
    limit = getattr(covariate_limit(law, alpha, 0.1, "logistic"), what)
    measured = covariate_error(law, 0.1, "logistic", what=what)
    along = tc.ScalingPath(p=(8, 16, 32, 64), n=f"{alpha:g}*p")
    rivals = [0.94 * limit, 1.06 * limit]
    return tc.Limit(measured, along, value=limit, tolerance=0.03 * limit, rivals=rivals, correction=1)
