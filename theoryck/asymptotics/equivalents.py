"""The deterministic equivalent of the resolvent of a random feature Gram matrix, at finite sizes (Louart, Liao, Couillet 2018).

K = phi(W X)^T phi(W X)/d_1 with X fixed has independent rows of covariance Phi = h(X^T X), the exact kernel of phi, and
    E_W (K + gamma)^-1 ~ Qbar = (Phi/(1 + delta) + gamma)^-1,    delta = (1/d_1) tr Phi Qbar.
Only the eigenvalues of Phi matter for the trace, so any population covariance may stand in for the kernel: rho^2 X^T X + eps is the
surrogate of the linear model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theoryck.asymptotics.conjugate import float_number
from theoryck.asymptotics.numbers import NotConverged, Number

if TYPE_CHECKING:
    from theoryck.models import Activation

Array = NDArray[np.float64]

NEWTON_STEPS = 100
SETTLED = 4e-15
"""Relative change of 1 + delta at which Newton's method has done all that float64 allows."""


@dataclass(frozen=True)
class ResolventEquivalent:
    """delta and (1/n) tr Qbar for a stack of covariances of shape (..., n, n): two arrays of shape (...)."""

    delta: Array
    trace: Array


def resolvent_equivalent(covariance: ArrayLike, width: int, shift: Number) -> ResolventEquivalent:
    """Return delta and (1/n) tr (Phi/(1 + delta) + gamma)^-1; Phi = ``covariance`` (..., n, n), d_1 = ``width``, gamma = ``shift``.

    g = 1 + delta solves g = 1 + (1/d_1) sum_i phi_i g/(phi_i + gamma g), whose right side is concave: the root is unique and
    Newton's method comes down to it from 1 + tr Phi/(d_1 gamma).  Raises ValueError for a covariance that is not symmetric and
    non-negative, a width that is no integer >= 1 and a shift that is not > 0, NotConverged where Newton's method does not settle.
    Source: Louart, Liao, Couillet (2018), arXiv:1702.05419, theorem 1.

    >>> found = resolvent_equivalent(np.eye(4), 4, 1)
    >>> round(float(found.delta), 12) == round((5**0.5 - 1) / 2, 12) == round(float(found.trace), 12)
    True
    """
    gamma = float_number(shift, "shift", strict=True)
    if isinstance(width, bool) or not hasattr(width, "__index__") or width.__index__() < 1:
        raise ValueError(f"width must be an integer >= 1, got {width!r}")
    values = _spectrum(np.asarray(covariance, dtype=np.float64))
    g = _fixed_point(values, int(width), gamma)
    return ResolventEquivalent((g - 1)[()], np.mean(g[..., None] / (values + gamma * g[..., None]), axis=-1)[()])


def kernel_equivalent(gram: ArrayLike, activation: Activation | str, width: int, shift: Number) -> ResolventEquivalent:
    """Return the equivalent with the exact kernel Phi = E_w phi(X^T w) phi(w^T X), given the Gram matrix X^T X (..., n, n).

    Arguments and errors as for :func:`resolvent_equivalent`.

    >>> gram = np.array([[1.0, 0.2], [0.2, 0.9]])
    >>> linear = kernel_equivalent(gram, "x", 5, 1)
    >>> float(linear.trace) == float(resolvent_equivalent(gram, 5, 1).trace)
    True
    """
    from theoryck.asymptotics.kernels import layer_kernel

    return resolvent_equivalent(layer_kernel(activation)(np.asarray(gram, dtype=np.float64)), width, shift)


def _spectrum(covariance: Array) -> Array:
    if covariance.ndim < 2 or covariance.shape[-1] != covariance.shape[-2]:
        raise ValueError(f"covariance must have shape (..., n, n), got {covariance.shape}")
    if not np.all(np.isfinite(covariance)):
        raise ValueError("covariance must hold finite numbers, got nan or infinity")
    size = np.max(np.abs(covariance), initial=0.0)
    if np.max(np.abs(covariance - np.swapaxes(covariance, -1, -2)), initial=0.0) > 1e-12 * size:
        raise ValueError("covariance must be symmetric: pass the kernel of all inputs with all inputs")
    values = np.linalg.eigvalsh(covariance)
    if np.min(values, initial=0.0) < -1e-12 * covariance.shape[-1] * size:
        raise ValueError(f"covariance must be non-negative, got the eigenvalue {float(np.min(values))!r}")
    return np.asarray(np.maximum(values, 0.0))  # what is below 0 is rounding, as just checked


def _fixed_point(values: Array, width: int, gamma: float) -> Array:
    g = 1 + np.sum(values, axis=-1) / (width * gamma)
    for _ in range(NEWTON_STEPS):
        below = values + gamma * g[..., None]
        excess = g - 1 - np.sum(values * g[..., None] / below, axis=-1) / width
        slope = 1 - np.sum((values / below) ** 2, axis=-1) / width
        step = excess / slope
        g = g - step
        if np.all(np.abs(step) <= SETTLED * g):
            return np.asarray(g)
    raise NotConverged(f"1 + delta moved by {float(np.max(np.abs(step))):.3g} at {float(np.max(g)):.6g} after {NEWTON_STEPS} steps")


def surrogate_covariance(gram: ArrayLike, rho: Any, epsilon: Any) -> Array:
    """Return rho^2 X^T X + eps, the covariance of the linear model of a layer, for a Gram matrix (..., n, n).

    >>> surrogate_covariance(np.eye(2), 0.5, 1).tolist()
    [[1.25, 0.0], [0.0, 1.25]]
    """
    values = np.asarray(gram, dtype=np.float64)
    slope, rest = float_number(rho, "rho", strict=None), float_number(epsilon, "epsilon", strict=False)
    return slope**2 * values + rest * np.eye(values.shape[-1])
