"""Exponents of the fluctuations of errors with n, with their intervals; prints, asserts that they are what the proofs claim.

Run ``python tests/benchmarks/bench_concentration.py`` or ``python -m pytest tests/benchmarks/bench_concentration.py -s``.

n Var(error) at n = 2 p for ridge regression (four eigenvalues, a misspecified teacher, noise) by traces given the features, for the
two classifications by data sets with their own teachers, and the variance of ridge errors that are averaged over the teacher.
The exponent of the variance is -1 (standard deviation n^(-1/2)), or -2 for averaged errors; 95% intervals, corrections in 1/n.
"""

from __future__ import annotations

import math

import numpy as np

from theoryck.fitting import fit_rate
from theoryck.theory.covariates.model import CovariateModel
from theoryck.theory.covariates.quantities import covariate_variance

EIGENVALUES = [0.2, 0.8, 1.4, 2.0]
MODEL = CovariateModel(EIGENVALUES, [0.5 * w**1.5 * math.exp(-w) for w in EIGENVALUES], rho=1, gamma=0.5)
CASES = [
    ("ridge", "given features", -1, (16, 32, 64, 128, 256), 1.0),
    ("ridge", "averaged", -2, (16, 32, 64, 128), 8.0),
    ("classification", "drawn", -1, (16, 32, 64, 128), 8.0),
    ("logistic", "drawn", -1, (16, 32, 64, 128), 24.0),
]
"""Task, teacher, exponent, sizes n, and roughly the seconds to spend on each error."""


def measured(
    task: str, teacher: str, what: str, sizes: tuple[int, ...], seconds: float
) -> tuple[list[float], list[float], list[int]]:
    """Return means, standard errors and draws: the same time at every size."""
    rng, values, errors, counts = np.random.default_rng(2021), [], [], []
    for n in sizes:
        sampler = covariate_variance(MODEL, 0.5, task, noise=0.25, what=what, teacher=teacher).sampler({"n": n, "p": n // 2})
        draws = max(int(seconds / len(sizes) * 7e7 / sampler.cost), 20)
        found = sampler(rng, draws)
        values.append(float(found.mean()))
        errors.append(float(found.std(ddof=1)) / math.sqrt(draws))
        counts.append(draws)
    return values, errors, counts


def exponent(task: str, teacher: str, claimed: int, sizes: tuple[int, ...], seconds: float, what: str) -> str:
    """Return one line with the fitted exponent, after asserting that it is near the one claimed."""
    values, errors, counts = measured(task, teacher, what, sizes, seconds)
    interval = fit_rate(sizes, values, errors, correction=1).interval(0.95)
    scaled = ", ".join(f"{value * n**-claimed:.4g}" for n, value in zip(sizes, values))
    assert interval.low < claimed + 0.05
    assert interval.high > claimed - 0.05
    return (
        f"{task:14} {what:10} {teacher:14}: exponent {interval.estimate:.3f} in [{interval.low:.3f}, {interval.high:.3f}], "
        f"claimed {claimed}; n^{-claimed} Var = {scaled} at n = {sizes[0]}..{sizes[-1]} ({min(counts)} to {max(counts)} draws)"
    )


def test_exponents_of_fluctuations():
    """Print all exponents."""
    for task, teacher, claimed, sizes, seconds in CASES:
        for what in ("test_error", "train_loss"):
            print("\n" + exponent(task, teacher, claimed, sizes, seconds, what), flush=True)


if __name__ == "__main__":
    test_exponents_of_fluctuations()
