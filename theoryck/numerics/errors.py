"""What has no number: every error of the rooms that compute, all of them ValueErrors."""

from __future__ import annotations


class ExactError(ValueError):
    """A value that cannot be enclosed; the message says what stands in the way.

    >>> from theoryck.theory.networks import norm_moment
    >>> norm_moment("tanh", (4, 0), 2)
    Traceback (most recent call last):
        ...
    theoryck.numerics.errors.ExactError: widths[1] must be a positive integer, got 0
    """


class NotConverged(ExactError):
    """A value that was not reached: the message says where the computation stopped, and no number is returned.

    >>> from theoryck.theory.covariates import CovariateModel, covariate_limit
    >>> model = CovariateModel(omega=[1.0], diagonal=[1.0], rho=1, gamma=1)
    >>> covariate_limit(model, alpha=0.5, penalty=0, task="logistic")
    Traceback (most recent call last):
        ...
    theoryck.numerics.errors.NotConverged: logistic regression without penalty has no minimum at alpha = 0.5: up to
    alpha = inf the data are separable and the weights grow without bound; take penalty > 0
    """


class NotIntegrable(ExactError):
    """An expectation that is infinite, or whose two evaluations disagree completely.

    >>> from theoryck.numerics.proved import gaussian_expectation
    >>> gaussian_expectation("exp(x**2)")
    Traceback (most recent call last):
        ...
    theoryck.numerics.errors.NotIntegrable: E of exp(x**2) does not converge: weighted, it is 2.8777e+48 in the
    tail; take a smaller variance or one that grows more slowly
    """
