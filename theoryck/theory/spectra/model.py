"""The deterministic equivalent of the resolvent of a random feature Gram matrix, given the inputs.

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

from theoryck.numerics.errors import NotConverged
from theoryck.numerics.proved.formulas import Number, real_array
from theoryck.quantities.arguments import positive, real
from theoryck.records.arguments import integer

if TYPE_CHECKING:
    pass

Array = NDArray[np.float64]

ROUNDING = 2.3e-16
"""Of an eigenvalue, relative to the norm."""

LOST = 1e-7
"""Relative error of a term of the trace from there that is refused."""

NEWTON_STEPS = 2000
SETTLED = 4e-15
"""Relative change of 1 + delta at which Newton's method has done all that float64 allows."""


@dataclass(frozen=True)
class ResolventEquivalent:
    """delta and (1/n) tr Qbar for a stack of covariances of shape (..., n, n): two arrays of shape (...).

    >>> found = resolvent_equivalent(np.stack([np.eye(4), 2 * np.eye(4)]), width=4, shift=1)
    >>> found.delta.shape, bool(found.trace[0] > found.trace[1])
    ((2,), True)
    """

    delta: Array
    trace: Array


def resolvent_equivalent(covariance: ArrayLike, width: int, shift: Number) -> ResolventEquivalent:
    """Return delta and (1/n) tr (Phi/(1 + delta) + gamma)^-1; Phi = ``covariance`` (..., n, n), d_1 = ``width``, gamma = ``shift``.

    g = 1 + delta solves g = 1 + (1/d_1) sum_i phi_i g/(phi_i + gamma g), whose right side is concave: the root is unique and
    Newton's method comes down to it from 1 + tr Phi/(d_1 gamma).  Raises ValueError for a covariance that is empty or not symmetric
    and non-negative, a width that is no integer >= 1 and a shift that is not > 0 or below the rounding of eigenvalues near 0;
    NotConverged where Newton's method does not settle.

    >>> found = resolvent_equivalent(np.eye(4), 4, 1)
    >>> round(float(found.delta), 12) == round((5**0.5 - 1) / 2, 12) == round(float(found.trace), 12)
    True
    """
    gamma = positive(shift, "shift")
    width = integer(width, "width", 1)
    values, size = _spectrum(real_array(covariance, "covariance"))
    ratios = values * (size / gamma)  # phi_i/gamma
    g = _fixed_point(ratios, width)
    trace = np.mean(g[..., None] / (ratios + g[..., None]), axis=-1) / gamma
    noise = ROUNDING * values.shape[-1] * (size / gamma)  # of an eigenvalue, over gamma
    if np.any(noise > LOST * (np.min(ratios, axis=-1, initial=np.inf) + g)):
        raise ValueError(f"shift must be above the rounding of the smallest eigenvalues of the covariance, got {shift!r}")
    return ResolventEquivalent((g - 1)[()], trace[()])


def _spectrum(covariance: Array) -> tuple[Array, float]:
    """Return the eigenvalues in units of the largest entry, and that."""
    if covariance.ndim < 2 or covariance.shape[-1] != covariance.shape[-2]:
        raise ValueError(f"covariance must have shape (..., n, n), got {covariance.shape}")
    if not covariance.shape[-1]:
        raise ValueError(f"covariance must have n >= 1 rows, got the shape {covariance.shape}")
    if not np.all(np.isfinite(covariance)):
        raise ValueError("covariance must hold finite numbers, got nan or infinity")
    size = float(np.max(np.abs(covariance), initial=0.0)) or 1.0
    scaled = covariance / size
    gap = float(np.max(np.abs(scaled - np.swapaxes(scaled, -1, -2)), initial=0.0))
    if gap > 1e-12:
        raise ValueError(
            f"covariance must be symmetric, but an entry differs from its mirror image by {gap:.3g} of the largest entry: pass the "
            "kernel of all inputs with all inputs"
        )
    values = np.linalg.eigvalsh(scaled)
    if np.min(values, initial=0.0) < -1e-12 * covariance.shape[-1]:
        raise ValueError(f"covariance must be non-negative, got the eigenvalue {float(np.min(values)) * size!r}")
    return np.asarray(np.maximum(values, 0.0)), size  # what is below 0 is rounding, as just checked


def _fixed_point(ratios: Array, width: int) -> Array:
    """Return g; with p_i = phi_i/gamma, s_i = g/(p_i + g) and k of the p_i not 0 the equation is g - 1 - (1/d) sum p_i s_i = 0.

    For k <= d it is taken as g (1 - k/d + (1/d) sum s_i) - 1 = 0, where nothing cancels at k = d.
    """
    some = ratios > 0
    count = np.sum(some, axis=-1)
    rest = (width - count) / width
    g = 1 + np.sum(ratios / width, axis=-1)
    for _ in range(NEWTON_STEPS):
        share = some * g[..., None] / (ratios + g[..., None])
        part = ratios / (ratios + g[..., None])
        total = np.sum(share, axis=-1) / width
        excess = np.where(count <= width, g * (rest + total) - 1, g * (1 - np.sum(part, axis=-1) / width) - 1)
        few, many = rest + np.sum(share * (2 - share), axis=-1) / width, 1 - np.sum(part**2, axis=-1) / width
        step = excess / np.where(count <= width, few, many)
        g = g - step
        if np.all(np.abs(step) <= SETTLED * g):
            return np.asarray(g)
    raise NotConverged(
        f"1 + delta moved by {float(np.max(np.abs(step))):.3g} at {float(np.max(g)):.6g} "
        f"after {NEWTON_STEPS} steps: take a larger shift"
    )


def surrogate_covariance(gram: ArrayLike, rho: Any, epsilon: Any) -> Array:
    """Return rho^2 X^T X + eps, the covariance of the linear model of a layer, for a Gram matrix (..., n, n).

    Raises ValueError for another shape.

    >>> surrogate_covariance(np.eye(2), 0.5, 1).tolist()
    [[1.25, 0.0], [0.0, 1.25]]
    """
    values = real_array(gram, "gram")
    if values.ndim < 2 or values.shape[-1] != values.shape[-2]:
        raise ValueError(f"gram must have shape (..., n, n), got {values.shape}")
    slope, rest = real(rho, "rho"), positive(epsilon, "epsilon", zero=True)
    return slope * slope * values + rest * np.eye(values.shape[-1])
