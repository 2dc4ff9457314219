"""Deterministic equivalents of ridge regression with kernels and with random features (Loureiro 2025).

Setting.   Kernel: (1/n) sum (y - f)^2 + lambda |f|_H^2.  Features: f = p^(-1/2) sum_j a_j phi(x, w_j) and
           (1/n) sum (y - f)^2 + lambda |a|^2.  On a Gaussian design the eigenfunctions are independent normal variables.
Claim.     The excess risk is that of a deterministic equivalent up to a factor that tends to 1: for kernels with
           kappa = lambda + (kappa/n) sum eta_k/(eta_k + kappa), for features with two such equations.
Drawn.     eta_k = k^-alpha, f*_k = k^(-alpha r - 1/2) for k <= 4 n and lambda = n^-l with l > alpha: what is left at finite n is
           then a multiple of 1/n (``correction=1``), as traces of Gaussian resolvents are series in 1/n and kappa ~ n^-alpha.
Words changed.  The slides' (Phi^T Phi + lambda)^(-1) Phi^T y minimises neither of their objectives: (1/2n) sum + lambda |a|^2 has
           2 n lambda, (1/n) sum + lambda |f|^2 has n lambda in the place of lambda.
"""

import sympy
from hypothesis.strategies import integers, sampled_from

import theoryck as tc
from theoryck.quantities import closed_form
from theoryck.theory.ridge import PowerLaw, drawn_features_risk, drawn_ridge_risk, features_risk, kernel_ridge_equivalent

from . import CUI2021, DEFILIPPIS2024, LOUREIRO2025


def gradient_squared(n, p, shift, samples):
    """|grad|^2 of (1/(samples)) sum (y - Phi a)^2 + lambda |a|^2 at a = (Phi^T Phi + shift lambda)^(-1) Phi^T y, lambda = 1/3."""
    phi = sympy.Matrix(n, p, lambda i, j: (i + 1) ** j + (i == j))
    y = sympy.Matrix(n, 1, lambda i, _: i + 2)
    ridge = sympy.Rational(1, 3)
    a = (phi.T * phi + shift * ridge * sympy.eye(p)).LUsolve(phi.T * y)
    gradient = 2 * phi.T * (phi * a - y) / samples + 2 * ridge * a
    return closed_form((gradient.T * gradient)[0])


@tc.theorem("loureiro2025/minimiser", LOUREIRO2025)
@tc.for_all(n=integers(2, 6), p=integers(1, 4), half=sampled_from([1, 2]))
def minimiser(n, p, half):
    """(Phi^T Phi + half n lambda)^(-1) Phi^T y minimises (1/(half n)) sum (y - Phi a)^2 + lambda |a|^2, half = 1 or 2"""
    literal = gradient_squared(n, p, 1, half * n)
    return tc.Identity(gradient_squared(n, p, half * n, half * n), 0, rivals=[literal])


@tc.theorem("loureiro2025/kernel-equivalent", CUI2021)
@tc.for_all(case=sampled_from([("3/2", "1/2", "3", 0.0), ("3/2", "1/2", "3", 0.1), ("2", "1/4", "4", 0.0)]))
def kernel_equivalent(case):
    """drawn excess risk / its equivalent -> 1"""
    *law, noise = case
    ratio = drawn_ridge_risk(*law, noise, relative=True)
    along = tc.ScalingPath(n=(8, 16, 32, 64), modes="4*n")
    return tc.Limit(ratio, along, value=1, tolerance=0.04, rivals=[0.9, 1.1], correction=1)


@tc.theorem("loureiro2025/features-equivalent", DEFILIPPIS2024)
@tc.for_all(case=sampled_from([("3/2", "1/2", "3", 0.0), ("3/2", "1/2", "3", 0.1)]))
def features_equivalent(case):
    """drawn excess risk of random features / its equivalent -> 1"""
    *law, noise = case
    ratio = drawn_features_risk(*law, noise, relative=True)
    along = tc.ScalingPath(n=(8, 16, 32, 64), p="2*n", modes="4*n")
    return tc.Limit(ratio, along, value=1, tolerance=0.04, rivals=[0.9, 1.1], correction=1)


@tc.theorem("loureiro2025/many-features", DEFILIPPIS2024)
@tc.for_all(case=sampled_from([("3/2", "1/2", "1"), ("2", "1/4", "3/2"), ("2", "2", "1")]))
def many_features(case):
    """the equivalent of p features tends to that of their kernel, with a difference O(1/p): n = 1024, s = 1/10"""
    n, (alpha, r, ell) = 1024, case
    whole = 1 if ell == "1" else 1.5
    limit = kernel_ridge_equivalent(PowerLaw(alpha, r), n, n**-whole, 0.01).excess_risk
    along = tc.ScalingPath(p=tuple(2**e for e in (14, 17, 20, 23, 26)), n=n)
    quantity = features_risk(alpha, r, ell, 0.01)
    return tc.Limit(
        quantity, along, value=limit, rate="1/p", tolerance=limit / 1000, rivals=[1.01 * limit, 0.99 * limit], correction=1
    )
