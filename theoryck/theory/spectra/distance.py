"""How far the mean spectrum of a Wishart matrix is from the Marchenko-Pastur law, without draws.

The mean density of the eigenvalues at finite size is a sum of polynomials with rational coefficients times weights
(:mod:`theoryck.theory.spectra.proved`); for a matrix of odd order these are elementary.  On
x = a + (b - a) sin(theta/2)^2, [a, b] the support of the limit, the density times dx/dtheta is analytic in theta and integrated as
a Chebyshev series; beyond the edges Gauss's rule is enough.

Distribution functions differ by Delta(x)/d + o(1/d), where Delta = 1/4 - phi/(2 pi) at x = (a + b)/2 - (b - a)/2 cos(phi) is the
mean of Bai and Silverstein (2004): half a point at each of the edges less the arcsine law, halved.
"""

from __future__ import annotations

import functools
import math

import numpy as np
import scipy.fft
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from theoryck.numerics.gaussian.means import gauss_legendre
from theoryck.quantities.base import QuantityError
from theoryck.quantities.formulas import formula
from theoryck.theory.spectra.limits.conjugate import marchenko_pastur

Array = NDArray[np.float64]

TAIL = 40.0
"""The edges are blurred by d^(-2/3) and the last e^(-d x/2) falls in 2/d: the mass beyond 40 of these is below 1e-16."""

TAIL_NODES = 80

DISTANCE_ERROR = 1e-8
"""Distribution functions are right to 1e-14 and differ by 0.1/d."""


def spectral_distance(ratio: int) -> formula:
    """Return int (F_d - F)^2 dF as a quantity of d, which must be odd.

    F_d is the mean distribution function of the eigenvalues that are not 0 of X^T X, X of d x n independent N(0, 1/d) with
    n = ``ratio`` d; F is that of the Marchenko-Pastur law.  Raises QuantityError unless ratio is an integer >= 1 and d
    is odd.

    >>> distance = spectral_distance(1)
    >>> round(float(distance.exact({"d": 1})), 6), round(129**2 * float(distance.exact({"d": 129})), 4)
    (0.003059, 0.0199)
    """
    if isinstance(ratio, bool) or not isinstance(ratio, int) or ratio < 1:
        raise QuantityError(f"ratio must be an integer >= 1, got {ratio!r}")
    return formula(
        functools.partial(_distance, ratio),
        name=f"spectral_distance(ratio={ratio})",
        sizes=("d",),
        relative_error=DISTANCE_ERROR,
        parameters={"ratio": ratio},
    )


def _distance(ratio: int, d: int) -> float:
    if d % 2 == 0:
        raise QuantityError(f"d must be odd, got {d}: the density of even orders needs an incomplete gamma function")
    law = marchenko_pastur(ratio).nonzero()
    low, high = law.support
    far = TAIL * (d ** (-2 / 3) + 2 / d)
    # x = end -+ t^2: the density is 1/sqrt(x) at 0.
    beyond = _tail(d, ratio, max(low - far, 0.0), low), _tail(d, ratio, high, high + far)
    count = 6 * d + 60  # a density of d waves, and its edges
    nodes = np.cos(math.pi * (np.arange(count) + 0.5) / count)
    series = scipy.fft.dct(_density(d, ratio, _place(low, high, nodes)) * _speed(low, high, nodes)) / count
    series[0] /= 2
    whole = chebyshev.chebint(series, lbnd=-1)
    mass = sum(beyond) + float(chebyshev.chebval(1.0, whole))
    if not abs(mass - 1) < 1e-12:
        raise QuantityError(f"the mean density at d = {d} has the mass {mass!r}: take a smaller d")
    nodes, weights = gauss_legendre(count)
    x = _place(low, high, nodes)
    gap = beyond[0] + chebyshev.chebval(nodes, whole) - law.cdf(x)
    return float(weights @ (gap**2 * law.pdf(x) * _speed(low, high, nodes)))


def _place(low: float, high: float, t: Array) -> Array:
    return low + (high - low) * np.sin(math.pi / 4 * (1 + t)) ** 2


def _speed(low: float, high: float, t: Array) -> Array:
    return (high - low) * math.pi / 4 * np.cos(math.pi / 2 * t)


def _tail(d: int, ratio: int, low: float, high: float) -> float:
    if high <= low:
        return 0.0
    nodes, weights = gauss_legendre(TAIL_NODES)
    t = (nodes + 1) / 2
    return float(weights / 2 @ (_density(d, ratio, low + (high - low) * t**2) * 2 * t * (high - low)))


def _density(d: int, ratio: int, x: Array) -> Array:
    """Return the mean density at x of the eigenvalues of X X^T."""
    from theoryck.theory.spectra.wishart_values import density_values

    return np.array(density_values(d, (ratio - 1) * d, (d * x).tolist()))
