"""The Gaussian covariate model in the limit: errors of ridge, square-loss and logistic regression for any spectra.

Setting.   n = alpha p samples, labels of nu = theta.x'/sqrt(k), features v in R^p, all jointly Gaussian
           (:class:`~theoryck.theory.covariates.model.CovariateModel`); w minimises  sum_mu loss(y_mu, w.v_mu/sqrt(p)) +
           (penalty/2) |w|^2,  with the losses
               "ridge"           (y - z)^2/2,       y = nu + noise
               "classification"  (y - z)^2/2,       y = sign(nu + noise)
               "logistic"        log(1 + e^-yz),    y = sign(nu + noise)
Order      V = <omega/(lambda + V_hat omega)>,  q = <(q_hat omega + m_hat^2 t) omega/(lambda + V_hat omega)^2>,
parameters m = (m_hat/sqrt(gamma)) <t/(lambda + V_hat omega)>: q = w.Omega.w/p is the second moment of the prediction, m its
           correlation with nu.
Source.    Loureiro, Gerbelot, Cui, Goldt, Krzakala, Mezard, Zdeborova (2021), arXiv:2102.08127.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from theoryck.theory.covariates.limits.logistic import moments, solve_logistic
from theoryck.theory.covariates.limits.square import solve_square
from theoryck.theory.covariates.model import CovariateModel, Point, point_in_units

TASKS = ("ridge", "classification", "logistic")


@dataclass(frozen=True, slots=True)
class CovariateLimit:
    """The limit at one point.

    ``test_error`` is the mean-square error E (y - z)^2 of a new label for ridge, label noise included, and the error rate
    P(sign(z) != y) = arccos(m/sqrt(rho q))/pi for the two classifications.  ``train_loss`` is the mean over the samples, without
    the penalty: of (y - z)^2 for ridge (no 1/2), of (y - z)^2/4 for square-loss classification, of log(1 + e^-yz) for logistic.
    ``residual`` is the largest relative change of V, q, m under one more iteration of the fixed-point equations.

    >>> limit = covariate_limit(CovariateModel(omega=[1.0], diagonal=[1.0], rho=1, gamma=1), alpha=0.5, penalty=0.1)
    >>> limit.task, round(limit.test_error, 6), limit.residual < 1e-12
    ('ridge', 0.517261, True)
    """

    task: str
    alpha: float
    penalty: float
    V: float
    q: float
    m: float
    V_hat: float
    q_hat: float
    m_hat: float
    test_error: float
    train_loss: float
    iterations: int
    residual: float


def covariate_limit(
    model: CovariateModel,
    alpha: float,
    penalty: float,
    task: str = "ridge",
    *,
    noise: float = 0.0,
    start: CovariateLimit | None = None,
) -> CovariateLimit:
    """Return errors and order parameters at n = ``alpha`` p with ``penalty`` lambda, for one of the three tasks.

    What is minimised is sum_mu loss(y_mu, w.v_mu/sqrt(p)) + (lambda/2) |w|^2: (y - z)^2/2 for y = nu + noise ("ridge") or y =
    sign(nu + noise) ("classification"), log(1 + e^(-y z)) for y = sign(nu + noise) ("logistic").
    ``noise`` is the variance of Gaussian noise added to nu before the label is made.  ``start`` is a solution nearby, from which
    the iteration begins.  For the square losses penalty 0 is the limit of small penalties (V is then infinite for alpha below the
    rank of Omega over p, where the data are interpolated).  Raises ValueError for bad arguments and
    :class:`~theoryck.numerics.errors.NotConverged` (a ValueError), saying where it stopped, where there is no finite
    solution: square loss without penalty at alpha equal to that rank, logistic loss without penalty where the data are separable
    (:func:`~theoryck.theory.covariates.limits.logistic.separability_threshold`).

    >>> isotropic = CovariateModel(omega=[1.0], diagonal=[1.0], rho=1, gamma=1)
    >>> round(covariate_limit(isotropic, 0.5, 0.1).test_error, 12)
    0.517261241912
    >>> round(covariate_limit(isotropic, 2.0, 0.1, "logistic").test_error, 4)
    0.1797
    """
    at = point_in_units(model, alpha, penalty, noise)
    if not isinstance(task, str) or task not in TASKS:
        raise ValueError(f"task must be one of {', '.join(TASKS)}, got {task!r}")
    if start is not None and (not isinstance(start, CovariateLimit) or start.task != task):
        raise ValueError(f"start must be a CovariateLimit of the task {task!r}, got {start!r}")
    found = _logistic(at, start) if task == "logistic" else _square(at, task, start)
    return found if at.scale == at.unit == 1 else _in_given_units(found, at)


def covariate_path(
    model: CovariateModel,
    alpha: float | Sequence[float],
    penalty: float | Sequence[float],
    task: str = "ridge",
    *,
    noise: float = 0.0,
) -> list[CovariateLimit]:
    """Return the limits along a sequence of ``alpha`` or of ``penalty``, each from the last; errors as in :func:`covariate_limit`.

    Raises ValueError unless exactly one of the two is a list.

    >>> isotropic = CovariateModel(omega=[1.0], diagonal=[1.0], rho=1, gamma=1)
    >>> [round(point.test_error, 4) for point in covariate_path(isotropic, [0.5, 1, 2], 0.1, "logistic")]
    [0.3228, 0.2559, 0.1797]
    """
    # A text is a number, and a set has no order.
    several = [
        values.ndim > 0 if isinstance(values, np.ndarray) else isinstance(values, Sequence) and not isinstance(values, (str, bytes))
        for values in (alpha, penalty)
    ]
    if sum(several) != 1:
        given = "both" if all(several) else "none"
        raise ValueError(
            f"exactly one of alpha and penalty must be a list, got {given}: a path has one parameter; covariate_limit takes numbers"
        )
    found: list[CovariateLimit] = []
    for value in alpha if several[0] else penalty:  # type: ignore[union-attr]
        one, other = (value, penalty) if several[0] else (alpha, value)
        start = found[-1] if found else None
        found.append(covariate_limit(model, one, other, task, noise=noise, start=start))  # type: ignore[arg-type]
    return found


def _in_given_units(found: CovariateLimit, at: Point) -> CovariateLimit:
    """Undo the units of nu: ridge is linear in nu, the estimates of its sign do not see them."""
    unit, root = at.unit, math.sqrt(at.unit)
    if found.task == "ridge":
        changed = {name: getattr(found, name) * unit for name in ("q", "m", "q_hat", "test_error", "train_loss")}
    else:
        changed = {"m": found.m * root, "m_hat": found.m_hat / root}
    return replace(found, penalty=found.penalty * at.scale, **changed)


def _square(at: Point, task: str, start: CovariateLimit | None) -> CovariateLimit:
    model, alpha, penalty, noise = at.model, at.alpha, at.penalty, at.noise
    signs = task == "classification"
    kappa = start.penalty / start.V_hat / at.scale if start is not None and start.V_hat > 0 else None
    found = solve_square(model, alpha, penalty, noise, signs, kappa)
    train = found.error * found.shrink**2
    residual = 0.0
    if penalty > 0:
        V_hat = alpha / (1 + found.V)
        hats = (V_hat, alpha * found.error / (1 + found.V) ** 2, found.m_hat * V_hat / found.V_hat)
        again = moments(model, penalty, hats, model.residual + noise)
        pairs = ((again.V, found.V), (again.q, found.q), (again.m, found.m))
        residual = max(abs(new - old) / old if old else abs(new) for new, old in pairs)
    return CovariateLimit(
        task=task,
        alpha=alpha,
        penalty=penalty,
        V=found.V,
        q=found.q,
        m=found.m,
        V_hat=found.V_hat,
        q_hat=found.q_hat,
        m_hat=found.m_hat,
        test_error=_angle(found.m, found.gap) if signs else found.error,
        train_loss=train / 4 if signs else train,
        iterations=found.steps,
        residual=residual,
    )


def _logistic(at: Point, start: CovariateLimit | None) -> CovariateLimit:
    alpha, penalty = at.alpha, at.penalty
    hats = (start.V_hat, start.q_hat, start.m_hat * math.sqrt(at.unit)) if start is not None else None
    found = solve_logistic(at.model, alpha, penalty, at.noise, hats)
    V_hat, q_hat, m_hat = found.hats
    return CovariateLimit(
        task="logistic",
        alpha=alpha,
        penalty=penalty,
        V=found.orders.V,
        q=found.orders.q,
        m=found.orders.m,
        V_hat=V_hat,
        q_hat=q_hat,
        m_hat=m_hat,
        test_error=_angle(found.orders.m, found.orders.gap),
        train_loss=found.train_loss,
        iterations=found.steps,
        residual=found.residual,
    )


def _angle(m: float, gap: float) -> float:
    """arccos(m/sqrt(rho q))/pi with gap = rho q - m^2, to all digits also where it is small."""
    return math.atan2(math.sqrt(gap), m) / math.pi
