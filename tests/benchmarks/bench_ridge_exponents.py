"""Exponents of ridge risks under source and capacity conditions: claimed, fitted with their intervals, and the time of a solve.

Run with ``OPENBLAS_NUM_THREADS=1 python tests/benchmarks/bench_ridge_exponents.py [seconds per drawn exponent]``; asserts nothing.
The deterministic equivalents are fitted on n = 2^20 .. 2^40 as claims fit them; drawn designs on n = 32 .. 256.
"""

from __future__ import annotations

import functools
import sys
import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from theoryck.fitting import fit_rate
from theoryck.theory.ridge.limits import (
    bias_exponent,
    feature_exponents,
    kernel_ridge_equivalent,
    optimal_ridge,
    optimal_ridge_exponent,
    random_features_equivalent,
    risk_exponent,
)
from theoryck.theory.ridge.model import PowerLaw
from theoryck.theory.ridge.quantities import drawn_ridge_risk

SIZES = [2.0**e for e in (20, 24, 28, 32, 36, 40)]

REGIMES = (
    ("noiseless, l < alpha", ("3/2", "1/3", "1/2"), False),
    ("noiseless, l < alpha", ("3", "1/4", "3/2"), False),
    ("noiseless, l > alpha", ("3/2", "1/3", "3"), False),
    ("noiseless, l > alpha", ("5/4", "3/4", "2"), False),
    ("saturated, r > 1", ("3/2", "3/2", "1/2"), False),
    ("saturated, r > 1", ("5/4", "3", "2"), False),
    ("noisy, l* < l < alpha", ("3/2", "1/2", "1"), True),
    ("noisy, l* < l < alpha", ("2", "2", "3/2"), True),
    ("noisy, l < l*", ("3/2", "1/2", "2/5"), True),
    ("noisy, l > alpha", ("3/2", "1/2", "3"), True),
)
FEATURES = (
    ("3/2", "1/4", "3", "1/2"),
    ("5/2", "3/4", "3", "1/2"),
    ("3/2", "3/4", "3", "5/4"),
    ("2", "3/2", "1", "3/4"),
    ("2", "1/4", "3", "3/2"),
    ("2", "3/2", "3", "3/2"),
)
OPTIMA = (("3/2", "1/2"), ("2", "1/4"), ("3", "3/4"), ("2", "2"))
DRAWN = (("3/2", "1/2", "3", 0.0, "-3/2"), ("3/2", "1/2", "3/4", 0.0, "-3/4"), ("2", "2", "1", 25.0, "-1/2"))


def line(label: str, claimed: Fraction, function: Callable[[float], float]) -> None:
    """Print the claimed exponent of n, the fitted one with its interval, and the difference."""
    fit = fit_rate(SIZES, [function(n) for n in SIZES], [0.0] * len(SIZES))
    low, high = fit.exponent.low, fit.exponent.high
    found = f"{fit.exponent.estimate:9.5f} [{low:9.5f}, {high:9.5f}]"
    print(f"{label:46s} {-claimed!s:>8s} = {-float(claimed):8.5f}  {found}  off by {fit.exponent.estimate + float(claimed):+.5f}")


def kernel_risk(spectrum: PowerLaw, power: float, noise: float, n: float) -> float:
    """Return the equivalent risk of kernel ridge regression at lambda = n^-power."""
    return kernel_ridge_equivalent(spectrum, n, n**-power, noise).excess_risk


def features_part(spectrum: PowerLaw, power: float, features: float, part: str, n: float) -> float:
    """Return bias or variance of n^features random features at lambda = n^-power, noise 1."""
    return float(getattr(random_features_equivalent(spectrum, n, n**features, n ** (1 - power), 1.0), part))


def deterministic() -> None:
    """Print a line per regime of kernels, optimum, and number of random features."""
    for label, (alpha, r, ell), noisy in REGIMES:
        power, spectrum = float(Fraction(ell)), PowerLaw(alpha, r)
        risk = functools.partial(kernel_risk, spectrum, power, float(noisy))
        line(f"{label}: alpha {alpha}, r {r}, l {ell}", risk_exponent(alpha, r, ell, noisy), risk)
    for alpha, r in OPTIMA:
        spectrum, ell = PowerLaw(alpha, r), optimal_ridge_exponent(alpha, r)
        best = {n: optimal_ridge(spectrum, n, 1.0) for n in SIZES}
        line(f"best risk: alpha {alpha}, r {r}", bias_exponent(alpha, r, ell), lambda n, b=best: b[n][1].excess_risk)
        line(f"best ridge: alpha {alpha}, r {r}", ell, lambda n, b=best: b[n][0])
    for alpha, r, ell, q in FEATURES:
        spectrum, power, features = PowerLaw(alpha, r), float(Fraction(ell)), float(Fraction(q))
        for part, exponent in zip(("bias", "variance"), feature_exponents(alpha, r, ell, q), strict=True):
            line(
                f"features, {part}: {alpha}, {r}, l {ell}, q {q}",
                exponent,
                functools.partial(features_part, spectrum, power, features, part),
            )


def drawn(seconds: float) -> None:
    """Print the exponents of drawn designs; equal time at each of n = 32 .. 256."""
    sizes = (32, 64, 128, 256)
    for alpha, r, ell, noise, claimed in DRAWN:
        quantity, rng = drawn_ridge_risk(alpha, r, ell, noise), np.random.default_rng(1)
        values, errors = [], []
        for n in sizes:
            where = {"n": n, "modes": 4 * n}
            draws = max(int(seconds / len(sizes) * 7e7 / quantity.cost(where)), 8)
            found = quantity.draw(rng, draws, where)
            values.append(found.mean())
            errors.append(found.std(ddof=1) / draws**0.5)
        fit = fit_rate(sizes, values, errors)
        interval = f"[{fit.exponent.low:.4f}, {fit.exponent.high:.4f}]"
        print(f"drawn: alpha {alpha}, r {r}, l {ell}, s^2 {noise}: {claimed} fitted {fit.exponent.estimate:.4f} {interval}")


def solving() -> None:
    """Print the time of a solve from a cold start."""
    spectrum = PowerLaw("3/2", "1/2")
    for label, solve in (
        ("kernel", lambda n: kernel_ridge_equivalent(spectrum, n, n**-0.5, 1.0)),
        ("features", lambda n: random_features_equivalent(spectrum, n, n**0.5, n**0.5, 1.0)),
    ):
        start = time.perf_counter()
        for n in SIZES * 5:
            solve(n)
        print(f"{label}: {(time.perf_counter() - start) / (5 * len(SIZES)) * 1e3:.2f} ms a point")


if __name__ == "__main__":
    solving()
    deterministic()
    drawn(float(sys.argv[1]) if len(sys.argv) > 1 else 10.0)
