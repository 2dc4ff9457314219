"""The Gaussian covariate model: errors of ridge, square-loss and logistic regression.

Source: Loureiro, Gerbelot, Cui, Goldt, Krzakala, Mezard, Zdeborova (2021), arXiv:2102.08127.

draws       Draws of the Gaussian covariate model and of the random features it stands for: data in stacks, estimators, their errors
limits      The Gaussian covariate model in the limit: errors of ridge, square-loss and logistic regression for any spectra
model       The Gaussian covariate model as data: two covariances and a teacher, down to a spectrum
proved      Isotropic ridge regression at finite size, exactly: errors from traces of the resolvent of a Wishart matrix
quantities  Errors of empirical risk minimisation in the Gaussian covariate model at finite n and p, and how much they fluctuate
"""

from theoryck._lazy import lazily

__all__, __getattr__, __dir__ = lazily(
    __name__,
    {
        "limits": ("CovariateLimit", "covariate_limit", "error_variance_limit", "separability_threshold"),
        "model": ("CovariateModel",),
        "quantities": ("covariate_error", "covariate_variance", "erf_features_error"),
    },
)
