"""Ridge regression with random features of any spectrum: the deterministic equivalent of its errors.

The estimator is f^(x) = p^(-1/2) sum_j a_j phi(x, w_j) with a = argmin_a sum_i (y_i - f^(x_i))^2 + lambda |a|^2 (no 1/n here).
Sigma is the operator of the kernel E_w phi(x, w) phi(x', w), with eigenvalues eta_k, and beta the target in its eigenbasis.  With
T1 = Tr Sigma (Sigma + nu_2)^{-1}, T2 = Tr Sigma^2 (Sigma + nu_2)^{-2},
    n - lambda/nu_1 = T1,      p - p nu_1/nu_2 = T1,
    Upsilon = (p/n) [(1 - nu_1/nu_2)^2 + (nu_1/nu_2)^2 T2/(p - T2)],      chi = Tr Sigma (Sigma + nu_2)^{-2} / (p - T2),
    bias = nu_2^2/(1 - Upsilon) [<beta, (Sigma + nu_2)^{-2} beta> + chi <beta, Sigma (Sigma + nu_2)^{-2} beta>],
    variance = s^2 Upsilon/(1 - Upsilon).
For p -> infinity nu_1 = nu_2 = kappa of kernel ridge regression with ridge lambda/n.

Source: Defilippis, Loureiro, Misiakiewicz (2024), arXiv:2405.15699.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from theoryck.asymptotics.kernel_ridge import Spectrum, increasing_zero, nonnegative, positive


@dataclass(frozen=True, slots=True)
class RandomFeaturesRidge:
    """The deterministic equivalent: ``nu1``, ``nu2`` the effective ridges, ``upsilon`` the share of the samples that fits
    noise, ``chi`` the weight of the noise of the features, ``bias`` and ``variance`` the two parts of the ``excess_risk``,
    ``test_error`` with the noise of a new label.
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
    """Return the equivalent of random-features ridge regression with n samples, p features, lambda = ``ridge`` > 0 (of
    sum_i (y_i - f)^2 + lambda |a|^2) and labels of noise variance ``noise``.

    Raises ValueError for bad arguments and :class:`~theoryck.asymptotics.numbers.NotConverged` where nu_2 was not found.

    Source: Defilippis, Loureiro, Misiakiewicz (2024), arXiv:2405.15699.

    >>> from theoryck.asymptotics.kernel_ridge import FiniteSpectrum, kernel_ridge_equivalent
    >>> spectrum = FiniteSpectrum([1.0, 0.1], [1.0, 0.5], [3, 40])
    >>> wide = random_features_equivalent(spectrum, n=30, p=1e12, ridge=3.0, noise=0.1)  # infinitely many features: the kernel
    >>> abs(wide.excess_risk / kernel_ridge_equivalent(spectrum, n=30, ridge=0.1, noise=0.1).excess_risk - 1) < 1e-9
    True
    """
    n, p, ridge, noise = positive(n, "n"), positive(p, "p"), positive(ridge, "ridge"), nonnegative(noise, "noise")
    nu2 = _outer_ridge(spectrum, n, p, ridge)
    t1, t2 = spectrum.kernel_sum(nu2, 1, 1), spectrum.kernel_sum(nu2, 2, 2)
    # Of the two equations take the one whose difference is not small: T1 tends to the smaller of n and p where lambda is small.
    nu1 = nu2 * (1 - t1 / p) if p >= n else ridge / (n - t1)
    ratio = nu1 / nu2
    upsilon = p / n * ((1 - ratio) ** 2 + ratio**2 * t2 / (p - t2))
    chi = spectrum.kernel_sum(nu2, 1, 2) / (p - t2)
    missed = nu2**2 * (spectrum.signal_sum(nu2, 0, 2) + chi * spectrum.signal_sum(nu2, 1, 2))
    bias, variance = missed / (1 - upsilon), noise * upsilon / (1 - upsilon)
    return RandomFeaturesRidge(nu1, nu2, upsilon, chi, bias, variance, bias + variance, bias + variance + noise)


def _outer_ridge(spectrum: Spectrum, n: float, p: float, ridge: float) -> float:
    """nu_2, from nu_2 (n - T1)(1 - T1/p) = lambda: nu_1 is eliminated, and each factor increases with nu_2."""

    def excess(log_nu: float) -> tuple[float, float]:
        nu = math.exp(log_nu)
        t1 = spectrum.kernel_sum(nu, 1, 1)
        if t1 >= min(n, p):
            return -math.inf, math.inf
        decrease = nu * spectrum.kernel_sum(nu, 1, 2)  # -d T1/d log nu
        value = log_nu + math.log(n - t1) + math.log1p(-t1 / p) - math.log(ridge)
        return value, 1 + decrease / (n - t1) + decrease / (p - t1)

    # T1 < trace/nu: at nu = 2 trace/min(n, p) + 4 lambda/n both factors are at least half of their largest values.
    top = 2 * spectrum.kernel_sum(1.0, 1, 0) / min(n, p) + 4 * ridge / n
    return math.exp(increasing_zero(excess, math.log(top), "nu_2"))
