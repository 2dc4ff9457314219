"""How much the errors of isotropic ridge regression fluctuate from data set to data set: the limit of n Var, teacher drawn.

Given the features the errors are quadratic forms of Gaussians (teacher and noise), whose variances are traces; the means given the
features fluctuate by O(1/n) only, so the limit is that of the traces alone, an integral over the Marchenko-Pastur law.
"""

from __future__ import annotations

import numpy as np

from theoryck.asymptotics.covariate_model import CovariateModel, marchenko_pastur_nodes, positive

NODES = 2048


def error_variance_limit(
    model: CovariateModel, alpha: float, penalty: float, *, noise: float = 0.0, what: str = "test_error"
) -> float:
    """Return lim n Var of the "test_error" or "train_loss" of ridge regression with one eigenvalue omega, teacher and noise drawn.

    With x the eigenvalues of V^T V/p for the n x p features V, <> their mean, s = t/(gamma omega^2), r the residual variance
    with the noise, lambda the penalty:
        test    2 alpha omega^2 <(lambda^2 s + r x)^2/(x + lambda)^4>
        train   2 lambda^4 [<(s x + r)^2/(x + lambda)^4>/alpha + (1 - 1/alpha) r^2/lambda^4].
    Raises ValueError for a model of several eigenvalues and for bad arguments.

    >>> isotropic = CovariateModel(omega=[1.0], diagonal=[1.0], rho=1, gamma=1)
    >>> round(error_variance_limit(isotropic, 1e-6, 1.0, what="test_error") / 2e-6, 4)  # w = 0: the error is |theta|^2/p
    1.0
    """
    if len({*zip(model.omega, model.diagonal)}) != 1:
        raise ValueError(f"model must be isotropic, one eigenvalue, got {len(model.omega)}: draw the variance instead")
    if what not in ("test_error", "train_loss"):
        raise ValueError(f"what must be 'test_error' or 'train_loss', got {what!r}")
    alpha, penalty, noise = positive(alpha, "alpha"), positive(penalty, "penalty"), positive(noise, "noise", zero=True)
    omega, residual = model.omega[0], model.residual + noise
    signal = model.diagonal[0] / (model.gamma * omega**2)
    points, weights = marchenko_pastur_nodes(1 / alpha, NODES)
    # V^T V/(p alpha omega) has the law of F F^T; where n < p the share 1 - alpha of eigenvalues 0 is among the points.
    x = alpha * omega * points
    if what == "test_error":
        integrand = omega**2 * (penalty**2 * signal + residual * x) ** 2 / (x + penalty) ** 4
        return float(2 * alpha * (weights @ integrand))
    shares = penalty**4 * (signal * x + residual) ** 2 / (x + penalty) ** 4
    return float(2 * (np.dot(weights, shares) + (alpha - 1) * residual**2) / alpha)
