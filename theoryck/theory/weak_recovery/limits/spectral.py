"""The optimal spectral method: the top eigenvector of (1/n) sum_i T(y_i) x_i x_i^T.

T = 1 - 1/E[z_v^2 | y] = G/(1 + G), G(y) = E[z_v^2 - 1 | y], z_v the index along the direction v that is sought.  With W = lambda +
(lambda - 1) G the outlier solves E[G^2/W] = 1/alpha, lambda > 1, and its eigenvector has
    cos^2 = (1/alpha - E[G^2/W^2])/(1/alpha + E[G^3/W^2])    above alpha_c = 1/E G^2;   cos^2 = 0 below.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from theoryck.quantities.arguments import positive, real_array
from theoryck.quantities.base import QuantityError
from theoryck.theory.weak_recovery.limits.posteriors import posterior
from theoryck.theory.weak_recovery.limits.thresholds import best_direction
from theoryck.theory.weak_recovery.model import Link, as_link

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Spectral:
    """What :func:`spectral_overlap` returns: cos^2 with v, lambda of its outlier (1 below the threshold), alpha_c of v.

    >>> found = spectral_overlap("z**2", 1.5)
    >>> round(float(found), 6), round(found.outlier, 6), round(found.threshold, 6)
    (0.457076, 1.84188, 0.5)
    """

    overlap: float
    outlier: float
    threshold: float

    def __float__(self) -> float:
        return self.overlap


def spectral_overlap(link: Link | str, alpha: float, *, noise: float = 0.0, direction: Any = None) -> Spectral:
    """Return cos^2 between the top eigenvector of the optimal spectral method and the direction that it seeks, n = alpha d.

    ``direction`` (r,) is v in the space of the indices; by default one along which the method has the threshold of
    :func:`weak_recovery_threshold`.  Raises QuantityError where there is none, or where E[z_v | y] != 0.

    >>> [round(spectral_overlap("z**2", alpha).overlap, 12) for alpha in (0.5, 1, 2)]
    [0.0, 0.230697043751, 0.638881278113]
    >>> round(spectral_overlap("z1*z2", 1).overlap, 12)  # of (1, 1)/sqrt 2
    0.138805158713
    """
    alpha = positive(alpha, "alpha")
    of = as_link(link, noise=noise)
    found = posterior(of)
    v = best_direction(found) if direction is None else real_array(direction, "direction", (of.indices,))
    if v is None:
        raise QuantityError(f"no direction attains the threshold of {of}: give direction=, a vector of {of.indices} numbers")
    if not np.linalg.norm(v) > 0:
        raise QuantityError(f"direction must be a vector that is not 0, got {direction!r}")
    v = v / np.linalg.norm(v)
    g, weights = found.along(v), found.weights
    if weights @ (found.means @ v) ** 2 > found.floor:
        raise QuantityError(f"E[z_v | y] is not 0 for {of}: the direction is found at every alpha by sum_i E[z_v | y_i] x_i")
    strength = float(weights @ g**2)
    if strength <= found.floor and found.floor:
        raise QuantityError(f"E (E[z_v^2 | y] - 1)^2 is below {found.floor:.0e} for {of}, not told from 0: no overlap is known")
    if alpha * strength <= 1:
        return Spectral(0.0, 1.0, 1 / strength if strength > 0 else float("inf"))

    def excess(gap: float) -> float:
        return float(weights @ (g**2 / (1 + gap * (1 + g)))) - 1 / alpha

    high = 1.0
    while excess(high) > 0:
        high *= 4
    gap = float(brentq(excess, 0.0, high, xtol=1e-16, rtol=1e-15))
    w = 1 + gap * (1 + g)
    square = (1 / alpha - weights @ (g / w) ** 2) / (1 / alpha + weights @ (g**3 / w**2))
    return Spectral(float(square), 1 + gap, 1 / strength)
