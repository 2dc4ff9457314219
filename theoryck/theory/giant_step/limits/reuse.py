"""Two full-batch steps on the same batch, n = alpha d.

w_0 is a unit vector orthogonal to w*; g_0 = X^T u/n, u = y s'(X w_0); w_1 = w_0 + eta g_0; g_1 = X^T v/n, v = y s'(X w_1); w_2 =
w_1 + eta g_1; s'(x) = e^(-x^2/2), the slope of an erf.  With z, z*, zeta independent N(0, 1), y = g(z*), u = y s'(z), v = y s'(h),
    h = z + eta [z E u z + z* E u z* + u/alpha + (E u^2/alpha)^(1/2) zeta],
the components of g_1 along w*, w_0 and what is new in g_0 tend to M = E v z*, A_0 = E v z, A_t = E u v/(alpha E u^2)^(1/2) + E v
zeta, and the square of the rest to (E v^2 - (E u v)^2/E u^2)/alpha.  The term u/alpha, the memory of the batch, is what makes M !=
0 for links of information exponent 3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from theoryck.numerics.gaussian.means import kinks_of, nodes_of, panel_edges
from theoryck.quantities.arguments import positive
from theoryck.theory.giant_step.model import read_link

REACH, PANEL = 12.0, 0.75
"""Panels of 24 nodes: e^(-72) times a polynomial is nothing, and links vary on a scale of 1 or more."""


@dataclass(frozen=True)
class ReuseLimit:
    """Limits of cos(g_1, w*) and cos(w_2, w*), and M = lim <g_1, w*>."""

    gradient: float
    weights: float
    M: float


def batch_reuse_limit(link: Any, alpha: float, rate: float) -> ReuseLimit:
    """Return what two steps of size ``rate`` on the same n = ``alpha`` d samples learn of w*, d -> infinity.

    zeta is integrated analytically, z and z* by quadrature.  Raises QuantityError for a bad argument.

    >>> found = batch_reuse_limit("sin(2*x) - 2*exp(-3/2)*sin(x)", alpha=2, rate=4)  # information exponent 3
    >>> round(found.gradient, 9), round(found.weights, 9)
    (0.140817235, 0.05379436)
    """
    g, alpha, eta = read_link(link), positive(alpha, "alpha"), positive(rate, "rate")
    grid = [nodes_of(panel_edges(breaks, -REACH, REACH, PANEL)) for breaks in ([0.0], kinks_of(g))]
    (z, z_weights), (star, star_weights) = grid
    density = np.exp(-z * z / 2) * z_weights / math.sqrt(2 * math.pi)
    star_density = np.exp(-star * star / 2) * star_weights / math.sqrt(2 * math.pi)
    y = g(star)
    slope = np.exp(-z * z / 2)

    def mean(values: Any) -> float:
        """E over z (rows) and z* (columns)."""
        return float(density @ values @ star_density)

    mean_y, square_y, tilt = float(y @ star_density), float(y * y @ star_density), float(y * star @ star_density)
    along, toward = mean_y * float(density @ (slope * z)), tilt * float(density @ slope)  # E u z, E u z*
    square = square_y * float(density @ slope**2)  # E u^2
    u = slope[:, None] * y
    middle = z[:, None] * (1 + eta * along) + eta * (star * toward + u / alpha)
    spread = eta**2 * square / alpha
    # E over zeta of e^(-h^2/2), of zeta e^(-h^2/2) and of e^(-h^2), h = middle + sqrt(spread) zeta
    bump = np.exp(-(middle**2) / (2 * (1 + spread))) / math.sqrt(1 + spread)
    tilted = -math.sqrt(spread) / (1 + spread) * middle * bump
    squared = np.exp(-(middle**2) / (1 + 2 * spread)) / math.sqrt(1 + 2 * spread)
    signal, own, mixed = mean(bump * y * star), mean(bump * y * z[:, None]), mean(bump * y * u)
    new = mixed / math.sqrt(alpha * square) + mean(tilted * y)
    rest = max(mean(squared * y * y) - mixed**2 / square, 0.0) / alpha
    gradient = signal / math.sqrt(signal**2 + own**2 + new**2 + rest)
    moved = np.array([eta * (toward + signal), 1 + eta * (along + own), eta * (math.sqrt(square / alpha) + new)])
    weights = moved[0] / math.sqrt(float(moved @ moved) + eta**2 * rest)
    return ReuseLimit(float(gradient), float(weights), signal)
