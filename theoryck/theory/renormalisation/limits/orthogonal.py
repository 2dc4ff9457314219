"""Orthogonal inputs, P = alpha N: what the effective action misses of log Z as N grows, in closed form.

|x|^2 = lambda_0 N_0 and x.x' = 0: the preactivations of a unit are P independent N(0, 1).  Given the readout a the outputs are
independent, f_mu = N^(-1/2) sum_i a_i phi(z_i), of variance Q sigma, Q = |a|^2/N, and fourth cumulant kappa_4 sum a_i^4/N^2 -> 3
kappa_4 Q^2/N for phi odd, kappa_4 that of phi(z), sigma = E phi^2.  P = alpha N Edgeworth corrections of order 1/N add up to
    log Z - log E_Q N(y; 0, T + Q sigma) -> alpha kappa_4 Q^2/(8 V^2) mean He_4(y/V^(1/2)),   V = T + Q sigma,
Q the saddle of the action.  So the action is right to leading order, N, and wrong at order 1, unless labels are such that the mean
of He_4 vanishes, as those of the network itself are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scipy.optimize import brentq

from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.gaussian.means import enclosed
from theoryck.records.arguments import LARGEST, positive


@dataclass(frozen=True, slots=True)
class OrthogonalLimit:
    """``gap``: the limit of log Z less that of the action's integral; ``order`` Q, ``sigma`` E phi^2, ``kappa4`` of phi(z).

    >>> round(orthogonal_limit("erf", alpha=1, temperature=0.1, labels=[1.5]).order, 10)
    2.0389129453
    """

    gap: float
    order: float
    sigma: float
    kappa4: float


def orthogonal_limit(
    activation: Activation | str,
    *,
    alpha: float,
    temperature: float,
    labels: Sequence[float],
    fractions: Sequence[float] | None = None,
) -> OrthogonalLimit:
    """Return the limit of log Z - log E_Q N(y; 0, T + Q sigma) on P = alpha N orthogonal inputs, phi odd, readout of precision 1.

    ``labels`` are the magnitudes |y_mu| that occur, in ``fractions`` (alike if not given).  Raises ValueError for an activation
    that is not odd (outputs are not independent given a then, or third cumulants count) and numbers that are not positive.

    >>> round(orthogonal_limit("erf", alpha=1, temperature=0.1, labels=[1.5]).gap, 7)
    0.7769204
    """
    phi = activation if isinstance(activation, Activation) else Activation(activation)
    if not phi.properties.odd.value:
        raise ValueError(f"activation must be odd for this limit, got {phi}: take its odd part")
    if not len(labels) or not all(abs(float(y)) <= LARGEST for y in labels):
        raise ValueError(f"labels must be at least one number of size at most {LARGEST:g}, got {labels!r}")
    parts = [1 / len(labels)] * len(labels) if fractions is None else [positive(part, "fractions") for part in fractions]
    if len(parts) != len(labels) or abs(sum(parts) - 1) > 1e-9:
        raise ValueError(f"fractions must sum to 1, one for each of the {len(labels)} labels, got {fractions!r}")
    sigma = float(enclosed(phi.expression**2, 1, "phi^2"))
    kappa4 = float(enclosed(phi.expression**4, 1, "phi^4")) - 3 * sigma**2
    return limit_of(
        sigma, kappa4, positive(alpha, "alpha"), positive(temperature, "temperature"), [float(y) for y in labels], parts
    )


def limit_of(
    sigma: float, kappa4: float, alpha: float, temperature: float, labels: Sequence[float], fractions: Sequence[float]
) -> OrthogonalLimit:
    """Return the same from the two moments of phi."""
    square = sum(part * y * y for y, part in zip(labels, fractions))

    def slope(u: float) -> float:
        q = math.exp(u)
        v = temperature + q * sigma
        return q - 1 - alpha * (square * q * sigma / v**2 - q * sigma / v)

    low, high = -1.0, 1.0
    while slope(low) > 0:
        low *= 2
    while slope(high) < 0:
        high *= 2
    order = math.exp(float(brentq(slope, low, high, xtol=1e-15, rtol=1e-15)))
    v = temperature + order * sigma
    mean = sum(part * (y**4 / v**2 - 6 * y * y / v + 3) for y, part in zip(labels, fractions))
    return OrthogonalLimit(alpha * kappa4 * order**2 / (8 * v**2) * mean, order, sigma, kappa4)
