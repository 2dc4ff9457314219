"""The maximum of two indices: what is left once their sum is known.

y = max(z1, z2) = (z_+ + |z_-|)/sqrt 2, z_± = (z1 ± z2)/sqrt 2.  The direction of z_+ is trivial; of it z_+ = omega + sqrt V u is
known up to V, so that D = sqrt 2 y - omega = sqrt V u + |z_-| is what a label tells of z_-: |z_-| given D is N(mu, s^2) on the
positive half-line, mu = D/(1 + V), s^2 = V/(1 + V).  State evolution of z_+ is (1/V - 1) = alpha E (D - E[|z_-| | D])^2/V^2, and
the other direction is found from alpha E (E[z_-^2 | D] - 1)^2 = 1 on.
"""

from __future__ import annotations

import numpy as np
import sympy
from scipy.optimize import brentq
from scipy.special import log_ndtr

from theoryck.theory.weak_recovery.model import Link


def is_maximum(link: Link) -> bool:
    """Whether the link is the maximum (or minimum) of its two indices.

    >>> is_maximum(Link("max(z1, z2)")), is_maximum(Link("max(z1, 0)*z2"))
    (True, False)
    """
    e = link.expression
    return isinstance(e, sympy.Max | sympy.Min) and set(e.args) == set(link.symbols) and len(e.args) == 2 and not link.noise


def _means(variance: float) -> tuple[float, float]:
    """Return E (E[z_-^2 | D] - 1)^2 and E (D - E[|z_-| | D])^2 at V."""
    step = min(variance**0.5, 1.0) / 24
    d = np.arange(-9 * variance**0.5, 9 * (1 + variance) ** 0.5, step)
    mean, scale = d / (1 + variance), (variance / (1 + variance)) ** 0.5
    a = mean / scale
    log_tail = log_ndtr(a)
    density = 2 * np.exp(-(d**2) / (2 * (1 + variance)) + log_tail) / np.sqrt(2 * np.pi * (1 + variance))
    hazard = np.exp(-(a**2) / 2 - log_tail) / np.sqrt(2 * np.pi)
    first = mean + scale * hazard
    second = mean**2 + scale**2 + mean * scale * hazard
    return float(density @ (second - 1) ** 2) * step, float(density @ (d - first) ** 2) * step


def second_threshold() -> tuple[float, float]:
    """Return alpha from which on (1, -1)/sqrt 2 is found of max(z1, z2), and V there.

    >>> alpha, variance = second_threshold()
    >>> round(alpha, 11), round(variance, 8)
    (0.99715931701, 0.43262247)
    """

    def excess(variance: float) -> float:
        gain, noise = _means(variance)
        return (1 / variance - 1) * gain - noise / variance**2

    variance = float(brentq(excess, 0.2, 0.7, xtol=1e-15, rtol=1e-14))
    return 1 / _means(variance)[0], variance


def blind_threshold() -> float:
    """Return 1/E (E[z_-^2 | y] - 1)^2, which forgets that z_+ is known by then.

    >>> round(blind_threshold(), 7)
    1.7620599
    """
    return 1 / _means(1.0)[0]
