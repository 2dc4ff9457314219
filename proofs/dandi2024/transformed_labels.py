"""One step on transformed labels sees what one step on the labels does not (Dandi et al. 2024).

Setting.   y = z^3 - 3 z, z = <w*, x>, x ~ N(0, I_d): information exponent 3.  v = X^T T(y)/n with T(y) = E[z given y], the first
           step of the best algorithm; n = alpha d samples.
Claim.     cos^2(v, w*) -> alpha lambda_1/(1 + alpha lambda_1), lambda_1 = E T(y)^2: every alpha > 0 is enough, since E[z given y]
           is not 0; that is why a second step on the same batch, which sees a transform of y, learns it (Dandi, Troiani, Arnaboldi,
           Pesce, Zdeborova, Krzakala 2024).
Truth.     The exact law is that of one step with T(y) in the place of y: A = B = lambda_1.  With T(y) = y it is 7/d.
"""

import math

import numpy as np
from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.theory.giant_step import one_step_overlap

from . import DANDI2024


def transform(z):
    """E[z given y] at y = z^3 - 3 z: the roots of the cubic equation, weighted by density over slope."""
    y = z**3 - 3 * z
    # |y| < 2: three roots 2 cos of thirds of an angle; else z, the only one, and what is clipped here is not used.
    angle = np.arccos(np.clip(y / 2, -1, 1)) / 3
    roots = np.stack([2 * np.cos(angle + 2 * np.pi * k / 3) for k in range(3)])
    weights = np.exp(-(roots**2) / 2) / np.maximum(np.abs(3 * roots**2 - 3), 1e-300)
    return np.where(np.abs(y) < 2, (roots * weights).sum(axis=0) / weights.sum(axis=0), z)


def explained():
    """lambda_1 = E T(y)^2: T has weak singularities at z = +-1 and +-2, where |y| = 2, so that panels end there."""
    nodes, weights = np.polynomial.legendre.leggauss(200)
    # z = end + length s^2 towards a singular end makes the square root at it smooth
    total = 0.0
    for low, high in ((0, 1), (1, 2), (2, 12)):
        middle = (low + high) / 2
        for end, length in ((low, middle - low), (high, middle - high)):
            s = (1 + nodes) / 2
            z = end + length * s**2
            total += float(weights / 2 @ (2 * abs(length) * s * transform(z) ** 2 * np.exp(-z * z / 2)))
    return 2 * total / math.sqrt(2 * math.pi)


def overlap(seen, name):
    """cos^2(X^T seen(z), w*) by its exact law."""

    @tc.quantity(cost=lambda sizes: 12 * sizes["n"] + 20, name=name)
    def drawn(rng, draws, *, d, n):
        z = rng.standard_normal((draws, n))
        t = seen(z)
        along, square = (t * z).sum(axis=1) ** 2, (t * t).sum(axis=1)
        return along / (along + square * rng.chisquare(d - 1, draws))

    return drawn


@tc.theorem("dandi2024/transformed-labels", DANDI2024)
@tc.for_all(alpha=sampled_from([0.5, 1, 2]))
def transformed(alpha):
    """E cos^2(X^T T(y), w*) -> alpha lambda_1/(1 + alpha lambda_1) for y = z^3 - 3 z, T(y) = E[z given y]"""
    value = alpha * explained() / (1 + alpha * explained())
    measured = overlap(transform, "cos^2(X^T T(y), w*), y = z^3 - 3 z")
    along = tc.ScalingPath(d=(16, 32, 64, 128), n=f"{alpha}*d")
    # y itself tells nothing; z itself would tell alpha/(1 + alpha)
    return tc.Limit(measured, along, value=value, rivals=[0, alpha / (1 + alpha)], tolerance=0.02, correction=1)


@tc.falsehood("dandi2024/labels-as-they-are", DANDI2024)
def labels_as_they_are():
    """cos^2(X^T y, w*) does not vanish for y = z^3 - 3 z at n = d: its limit is that with T(y)"""
    value = explained() / (1 + explained())
    along = tc.ScalingPath(d=(16, 32, 64, 128), n="d")
    return tc.Limit(one_step_overlap("x**3 - 3*x"), along, value=value, tolerance=0.02, correction=1)
