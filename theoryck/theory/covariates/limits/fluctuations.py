"""How much the errors of isotropic ridge regression fluctuate from data set to data set: the limit of n Var, teacher drawn.

Given the features the errors are quadratic forms of Gaussians (teacher and noise), whose variances are traces; the means given the
features fluctuate by O(1/n) only, so the limit is that of the traces alone, an integral over the Marchenko-Pastur law.
"""

from __future__ import annotations

import math

from theoryck.numerics.errors import NotConverged
from theoryck.theory.covariates.model import CovariateModel, marchenko_pastur_nodes, point_in_units


def error_variance_limit(
    model: CovariateModel, alpha: float, penalty: float, *, noise: float = 0.0, what: str = "test_error"
) -> float:
    """Return lim n Var of the "test_error" or "train_loss" of ridge regression with one eigenvalue omega, teacher and noise drawn.

    With x the eigenvalues of V^T V/p for the n x p features V, <> their mean, s = t/(gamma omega^2), r the residual variance
    with the noise, lambda the penalty:
        test    2 alpha omega^2 <(lambda^2 s + r x)^2/(x + lambda)^4>
        train   2 lambda^4 <(s x + r)^2/(x + lambda)^4>  over the eigenvalues of V V^T/p.
    Raises ValueError for a model of several eigenvalues and for bad arguments.

    >>> isotropic = CovariateModel(omega=[1.0], diagonal=[1.0], rho=1, gamma=1)
    >>> round(error_variance_limit(isotropic, 1e-6, 1.0, what="test_error") / 2e-6, 4)  # w = 0: the error is |theta|^2/p
    1.0
    """
    at = point_in_units(model, alpha, penalty, noise, zero=False)
    if len({*zip(model.omega, model.diagonal)}) != 1:
        raise ValueError(f"model must be isotropic, one eigenvalue, got {len(model.omega)}: draw the variance instead")
    if not isinstance(what, str) or what not in ("test_error", "train_loss"):
        raise ValueError(f"what must be 'test_error' or 'train_loss', got {what!r}")
    model, alpha, penalty = at.model, at.alpha, at.penalty
    omega, residual = model.omega[0], model.residual + at.noise
    signal = model.diagonal[0] / (model.gamma * omega**2)
    test = what == "test_error"
    # V^T V/(p alpha omega) has the law of F F^T with p/d = 1/alpha, V V^T/(p omega) that with alpha; both hold their zeros.
    scale = alpha * omega if test else omega
    points, weights = marchenko_pastur_nodes(1 / alpha if test else alpha, penalty / scale)
    x = scale * points
    factor = omega * (signal + residual / penalty * (x / penalty)) if test else signal * x + residual
    value = 2 * (alpha if test else 1) * float(weights @ (factor / (1 + x / penalty) ** 2) ** 2) * at.unit * at.unit
    if not 0 < value < math.inf:
        raise NotConverged(f"the variance is {'larger' if value else 'smaller'} than floats can be: take another unit of rho")
    return value
