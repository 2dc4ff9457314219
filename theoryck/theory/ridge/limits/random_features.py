"""Ridge regression with random features of any spectrum: the deterministic equivalent of its errors.

The estimator is f^(x) = p^(-1/2) sum_j a_j phi(x, w_j) with a = argmin_a sum_i (y_i - f^(x_i))^2 + lambda |a|^2 (no 1/n here).
Sigma is the operator of the kernel E_w phi(x, w) phi(x', w), with eigenvalues eta_k, and beta the target in its eigenbasis.  With
T1 = Tr Sigma (Sigma + nu_2)^{-1}, T2 = Tr Sigma^2 (Sigma + nu_2)^{-2},
    n - lambda/nu_1 = T1,      p - p nu_1/nu_2 = T1,
    Upsilon = (p/n) [(1 - nu_1/nu_2)^2 + (nu_1/nu_2)^2 T2/(p - T2)],      chi = Tr Sigma (Sigma + nu_2)^{-2} / (p - T2),
    bias = nu_2^2/(1 - Upsilon) [<beta, (Sigma + nu_2)^{-2} beta> + chi <beta, Sigma (Sigma + nu_2)^{-2} beta>],
    variance = s^2 Upsilon/(1 - Upsilon).
For p -> infinity nu_1 = nu_2 = kappa of kernel ridge regression with ridge lambda/n.

No small number is computed as a difference, as for n = p and a small lambda most of them are small.  Of n - T1 and p - T1 the
smaller one is the root d > 0 of d (d + |p - n|) = lambda p/nu_2, the other d + |p - n|.  With A = nu_2 Tr Sigma (Sigma + nu_2)^{-2}
= T1 - T2 one has p - T2 = (p - T1) + A and n (1 - Upsilon) = (n - T1) + (p - T1) A/(p - T2).

Source: Defilippis, Loureiro, Misiakiewicz (2024), arXiv:2405.15699.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from theoryck.theory.ridge.limits.kernel_ridge import increasing_zero, log_sum
from theoryck.theory.ridge.model import (
    Spectrum,
    check_digits,
    check_spectrum,
    in_range,
    kernel_share,
    log_trace,
    nonnegative,
    positive,
    remainder,
    signal_share,
)


@dataclass(frozen=True, slots=True)
class RandomFeaturesRidge:
    """What :func:`random_features_equivalent` returns, in floats.

    ``nu1`` and ``nu2`` are the effective ridges, ``upsilon`` is the share of the samples that fits noise, ``chi`` the weight of
    the
    noise of the features, ``bias`` and ``variance`` are the two parts of the ``excess_risk``, ``test_error`` includes the noise
    of a
    new label.

    >>> from theoryck.theory.ridge import PowerLaw
    >>> found = random_features_equivalent(PowerLaw(2, 0.5), n=100, p=50, ridge=1.0, noise=0.1)
    >>> round(found.excess_risk, 4), round(found.test_error - found.excess_risk, 12)
    (0.0205, 0.1)
    """

    nu1: float
    nu2: float
    upsilon: float
    chi: float
    bias: float
    variance: float
    excess_risk: float
    test_error: float


def random_features_equivalent(spectrum: Spectrum, n: float, p: float, ridge: float, noise: float = 0.0) -> RandomFeaturesRidge:
    """Return the equivalent of random-features ridge regression with n samples, p features, lambda = ``ridge`` > 0 and labels of
    noise variance ``noise``.

    Here lambda belongs to the sum, sum_i (y_i - f)^2 + lambda |a|^2, as in the source; :func:`kernel_ridge_equivalent` and the
    quantities ``features_risk`` and ``sphere_features_risk`` divide the sum by n: their lambda is this ``ridge`` divided by n.
    Raises ValueError for bad arguments and :class:`~theoryck.numerics.errors.NotConverged` where nu_2 was not found.

    Source: Defilippis, Loureiro, Misiakiewicz (2024), arXiv:2405.15699.

    >>> from theoryck.theory.ridge import FiniteSpectrum, kernel_ridge_equivalent
    >>> spectrum = FiniteSpectrum([1.0, 0.1], [1.0, 0.5], [3, 40])
    >>> wide = random_features_equivalent(spectrum, n=30, p=1e12, ridge=3.0, noise=0.1)  # infinitely many features: the kernel
    >>> abs(wide.excess_risk / kernel_ridge_equivalent(spectrum, n=30, ridge=0.1, noise=0.1).excess_risk - 1) < 1e-9
    True
    """
    check_spectrum(spectrum)
    n, p, ridge, noise = positive(n, "n"), positive(p, "p"), positive(ridge, "ridge"), nonnegative(noise, "noise")
    nu2 = _outer_ridge(spectrum, n, p, ridge)
    least, apart = _least_left(n, p, ridge, nu2), abs(p - n)
    left_n, left_p = (least, least + apart) if p >= n else (least + apart, least)  # n - T1 and p - T1
    t1, t2, between = (kernel_share(spectrum, nu2, a, b) for a, b in ((1, 0), (2, 0), (1, 1)))
    free, ratio = left_p + between, left_p / p  # p - T2 and nu1/nu2
    upsilon = (t1 * (t1 / p) + ratio * (left_p / free) * t2) / n
    complement = (left_n + left_p * (between / free)) / n
    missed = signal_share(spectrum, nu2, 0, 2) + between / free * signal_share(spectrum, nu2, 1, 1)
    bias, variance = missed / complement, noise * (upsilon / complement)
    test, chi = in_range(bias + variance + noise, "the risk"), in_range(between / free / nu2, "chi")
    return RandomFeaturesRidge(nu2 * ratio, nu2, upsilon, chi, bias, variance, bias + variance, test)


def _least_left(n: float, p: float, ridge: float, nu2: float) -> float:
    """min(n, p) - T1 by the equations: d > 0 of d (d + |p - n|) = lambda p/nu_2."""
    root, apart = 2 * math.sqrt(ridge) * math.sqrt(p) / math.sqrt(nu2), abs(p - n)
    return root if math.isinf(root) else root / 2 * (root / (apart + math.hypot(apart, root)))


def _outer_ridge(spectrum: Spectrum, n: float, p: float, ridge: float) -> float:
    """nu_2, from min(n, p) - T1 = d(nu_2): the left side increases with nu_2, the right one decreases."""
    smaller, apart = min(n, p), abs(p - n)

    def excess(log_nu: float) -> tuple[float, float]:
        nu = math.exp(log_nu)
        least = _least_left(n, p, ridge, nu)
        slope = least * ((least + apart) / (2 * least + apart)) if math.isfinite(least) else math.inf
        return remainder(spectrum, smaller, nu) - least, kernel_share(spectrum, nu, 1, 1) + slope

    # T1 < trace/nu: at nu = 2 trace/min(n, p) + 4 lambda/n T1 and d are both at most half of min(n, p).
    top = log_sum(math.log(2) + log_trace(spectrum) - math.log(smaller), math.log(4) + math.log(ridge) - math.log(n))
    log_nu = increasing_zero(excess, top, "nu_2")
    check_digits(spectrum, smaller, excess(log_nu)[1])
    return math.exp(log_nu)
