"""Square loss on signs: error rate and training loss tend to the replica fixed point (Loureiro et al. 2021).

Claim.     P(sign(w.v) != y) -> arccos(m/sqrt(rho q))/pi  and  (1/n) sum_mu (y_mu - w.v_mu/sqrt(p))^2/4 -> its fixed point, which is
           that of ridge with E = 1 + q - 2 sqrt(2/(pi rho)) m and m_hat multiplied by sqrt(2/(pi rho)): the same V.
"""

from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.theory.covariates import covariate_error, covariate_limit

from . import LOUREIRO2021
from .models import isotropic, spread


@tc.theorem("loureiro2021/classification", LOUREIRO2021)
@tc.for_all(
    model=sampled_from(["isotropic", "spread"]), alpha=sampled_from([0.5, 2]), what=sampled_from(["test_error", "train_loss"])
)
def classification(model, alpha, what):
    """Error rate and training loss of square-loss classification -> the fixed point"""
    law = isotropic if model == "isotropic" else spread
    limit = getattr(covariate_limit(law, alpha, 0.1, "classification"), what)
    measured = covariate_error(law, 0.1, "classification", what=what)
    along = tc.ScalingPath(p=(8, 16, 32, 64), n=f"{alpha:g}*p")
    rivals = [0.94 * limit, 1.06 * limit]
    return tc.Limit(measured, along, value=limit, tolerance=0.03 * limit, rivals=rivals, correction=1)
