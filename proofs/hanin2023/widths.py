"""Wide and deep limits of linear networks, from exact values (Hanin, Zlokapa 2023).

Setting.   X (3, 3), y and T = 1/10 below; L hidden layers of width N.
Claim.     Depth over width is what counts: L/N for the prior (Hanin, Zlokapa 2023).
Truth.     log Z - log Z_GP ~ (L/N) (l'^2 + l''), l(t) = log N(y; 0, T + t K) at t = 1; log Z of (N, N) less that of N/2 ~ N^-2;
           with L = N the limit is E N(y; 0, T + e^u K), u ~ N(-1, 2).
"""

import math

import numpy as np
from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.quantities import formula
from theoryck.theory.renormalisation import linear_posterior

from . import HANIN2023

INPUTS, LABELS, HEAT = [[1, 0.5, 0], [0.25, -1, 1], [-0.5, 0.25, 2]], [1, -2, 0.5], "1/10"
SPECTRUM, VECTORS = np.linalg.eigh(np.array(INPUTS) @ np.array(INPUTS).T / 3)
WIDTHS = tc.ScalingPath(N=(64, 128, 256, 512, 1024))
SQUARES = (VECTORS.T @ np.array(LABELS)) ** 2


def log_evidence(widths, less=None):
    """log Z, less that of other widths before it is rounded."""
    found, *other = (
        linear_posterior(INPUTS, LABELS, widths=each, temperature=HEAT, digits=20).log_evidence.midpoint
        for each in ([widths] if less is None else [widths, less])
    )
    return float(found - sum(other))


def first_order():
    """l'^2 + l''."""
    whole = 0.1 + SPECTRUM
    one, two = SQUARES * SPECTRUM / whole**2, SPECTRUM / whole
    slope = (one - two).sum() / 2
    return float(slope**2 - (one * two).sum() + (two**2).sum() / 2)


@tc.theorem("hanin2023/wide", HANIN2023)
@tc.for_all(depth=sampled_from([1, 2, 4]))
def wide(depth):
    """log Z - log Z_GP ~ L (l'^2 + l'')/N: the Gaussian process at 1/N"""
    measured = formula(
        lambda N: log_evidence([N] * depth, less=[math.inf]),
        name=f"log Z - log Z_GP, L = {depth}",
        sizes=("N",),
        relative_error=1e-10,
    )
    value = depth * first_order()
    return tc.Scaling(
        measured,
        WIDTHS,
        exponent=-1,
        constant=value,
        tolerance=abs(value) / 50,
        rivals=["-1/2", -2],
        correction=1,
        within=0.01,
    )


@tc.theorem("hanin2023/series", HANIN2023)
@tc.for_all(layers=sampled_from([2, 4]))
def in_series(layers):
    """log Z of L layers of width N less that of one of width N/L ~ N^-2: widths add as conductors in series"""
    measured = formula(
        lambda N: log_evidence([N] * layers, less=[N // layers]),
        name=f"log Z, {layers} layers of N less one of N/{layers}",
        sizes=("N",),
        relative_error=1e-8,
    )
    # corrections of one layer of N/L are in powers of L/N: at N = 16384 and below they leave .02 of the exponent open for L = 4
    return tc.Scaling(
        measured, tc.ScalingPath(N=(4096, 8192, 16384, 32768, 65536)), exponent=-2, rivals=[-1, -3], correction=1, within=0.01
    )


def lognormal(variance=2.0, mean=-1.0):
    """log E N(y; 0, T + e^u K), u ~ N(mean, variance), by the trapezoidal rule."""
    z = np.linspace(-10, 10, 401)
    whole = 0.1 + np.exp(mean + math.sqrt(variance) * z)[:, None] * SPECTRUM
    level = -(SQUARES / whole + np.log(2 * math.pi * whole)).sum(axis=1) / 2
    weights = np.exp(-z * z / 2)
    return float(np.log((weights * np.exp(level)).sum() / weights.sum()))


def deep():
    """log Z of N layers of width N."""
    return formula(lambda N: log_evidence([N] * N), name="log Z, N layers of width N", sizes=("N",), relative_error=1e-12)


@tc.theorem("hanin2023/deep", HANIN2023)
def deep_and_wide():
    """log Z of N layers of width N -> log E N(y; 0, T + e^u K), u ~ N(-1, 2), with a difference O(1/N)"""
    rivals = [log_evidence([math.inf]), lognormal(1.0, -0.5), lognormal(2.0, 0.0)]
    return tc.Limit(
        deep(), tc.ScalingPath(N=(4, 8, 16, 32, 64)), value=lognormal(), rate="1/N", rivals=rivals, tolerance=0.005, correction=1
    )
