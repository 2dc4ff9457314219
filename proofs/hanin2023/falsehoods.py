"""Falsified twins of exact deep linear networks (Hanin, Zlokapa 2023).  Each must be REFUTED."""

import math

import theoryck as tc
from theoryck.quantities import formula

from . import HANIN2023
from .exact import interpolating, meijer
from .widths import WIDTHS, deep, first_order, log_evidence


@tc.falsehood("hanin2023/meijer-shifted", HANIN2023)
def shifted_parameters():
    """log Z at T = 0 is the Meijer function with parameters (N_l - P + 1)/2"""
    return tc.Identity(interpolating((5, 4)), meijer((5, 4), 1), tolerance=1e-6)


@tc.falsehood("hanin2023/depth-does-not-count", HANIN2023)
def depth_does_not_count():
    """N (log Z - log Z_GP) -> l'^2 + l'' for two layers: the first order in 1/N does not see depth"""
    base = log_evidence([math.inf])
    measured = formula(
        lambda N: N * (log_evidence([N] * 2) - base), name="N (log Z - log Z_GP), L = 2", sizes=("N",), relative_error=1e-9
    )
    value = first_order()
    return tc.Limit(measured, WIDTHS, value=value, rate="1/N", tolerance=abs(value) / 20, correction=1)


@tc.falsehood("hanin2023/series-of-means", HANIN2023)
def one_layer_of_the_same_width():
    """log Z of (N, N) less that of N = O(N^-2): two layers act as one of the same width"""
    measured = formula(
        lambda N: log_evidence([N] * 2) - log_evidence([N]),
        name="log Z, two layers of N less one",
        sizes=("N",),
        relative_error=1e-9,
    )
    return tc.Bound(measured, rate="N**(-2)", along=WIDTHS, correction=1)


@tc.falsehood("hanin2023/deep-gaussian-process", HANIN2023)
def deep_gaussian_process():
    """log Z of N layers of width N -> that of the Gaussian process"""
    value = log_evidence([math.inf])
    return tc.Limit(deep(), tc.ScalingPath(N=(4, 8, 16, 32)), value=value, rate="1/N", tolerance=0.05, correction=1)
