"""The Gaussian covariate model: errors of ridge, square-loss and logistic regression.

draws       Draws of covariates
limits      Limits of covariates
model       The Gaussian covariate model as data: what the fixed points of :mod:`theoryck.theory.covariates.limits.errors`
            depend on
proved      Isotropic ridge regression at finite size, exactly: errors from traces of the resolvent of a Wishart matrix
quantities  Errors of empirical risk minimisation in the Gaussian covariate model at finite n and p, and how much they fluctuate
"""

from theoryck._lazy import lazily

__all__, __getattr__, __dir__ = lazily(
    __name__,
    {
        "limits.errors": (
            "CovariateLimit",
            "covariate_limit",
            "covariate_path",
        ),
        "limits.fluctuations": ("error_variance_limit",),
        "limits.logistic": ("separability_threshold",),
        "model": ("CovariateModel",),
        "quantities": (
            "covariate_error",
            "covariate_variance",
            "erf_features_error",
        ),
    },
)
