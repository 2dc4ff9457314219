"""The exponents of the Gaussian equivalence, of the Hermite overlaps and of the minimax rate, each fitted with its interval.

Monte Carlo exponents are to lie within 0.05 of what is claimed at level 95%, exact ones within 0.01.  The corrections that are
declared are the known next orders: 1/d for the test errors of ridge regression and for sphere moments, bins/n for the regressogram,
d^(-2/3) for operator norms with rows on the sphere (the mean of the largest eigenvalue is that far from its edge).

With Gaussian rows the norm follows the largest of the d deviations | |w_i|^2 - 1 |, whose mean is d^(-1/2) sqrt(log d) to 0.1%.
A row of deviation delta has the diagonal entry k delta, k = g'(1) - mu_1^2, and off the diagonal a delta <w_i, w_j>, a = rho(1)
rho'(1), so that its eigenvalue is (|k| + sqrt(k^2 + 4 a^2))/2 |delta| = 0.301 |delta| for erf, up to 1/log d from the other rows:
an exponent fitted to d = 64..1024 sees that logarithm.

Run with ``OPENBLAS_NUM_THREADS=1 python tests/benchmarks/bench_equivalence.py [name ...]``: about three minutes.
"""

from __future__ import annotations

import math
import sys
import time
from fractions import Fraction

import numpy as np
from scipy.stats import chi2

from theoryck.fitting import fit_rate
from theoryck.theory.equivalence.model import RandomFeatures
from theoryck.theory.equivalence.quantities import feature_covariance_gap, ridge_gap, sign_readout_gain
from theoryck.theory.hermite.quantities import hermite_overlap
from theoryck.theory.regressogram.quantities import bump_bayes_risk, regressogram_risk


def drawn(quantity, draws, name="d", correction=None, divide=None, extra=lambda size: {}):
    """Print the fitted exponent of the mean of ``draws[size]`` draws, of the values over ``divide(size)``."""
    start, sizes, means, errors = time.process_time(), [], [], []
    for size, count in draws.items():
        values = quantity.draw(np.random.default_rng((11, size)), count, {name: size, **extra(size)})
        scale = divide(size) if divide else 1.0
        sizes.append(size)
        means.append(float(values.mean()) / scale)
        errors.append(float(values.std(ddof=1)) / math.sqrt(count) / abs(scale))
    report(quantity.name, sizes, means, errors, correction, time.process_time() - start)


def evaluated(quantity, points, name, correction=None):
    """Print the fitted exponent of exact values at ``points``, mappings of sizes."""
    start = time.process_time()
    means = [float(quantity.exact(point, 20)) for point in points]
    sizes = [point[name] for point in points]
    report(quantity.name, sizes, means, [1e-15 * mean for mean in means], correction, time.process_time() - start)


def report(name, sizes, means, errors, correction, seconds):
    sign = math.copysign(1.0, means[-1])
    fit = fit_rate(sizes, [sign * mean for mean in means], errors, correction=correction)
    exponent = fit.exponent
    shown = f"{exponent.estimate:+.4f} [{exponent.low:+.4f}, {exponent.high:+.4f}]"
    print(f"{shown}  {name}  {sizes[0]}..{sizes[-1]}  {seconds:.0f} s")
    print("    values " + " ".join(f"{mean:.5g}({error:.1g})" for mean, error in zip(means, errors)))


def covariance_sphere():
    drawn(feature_covariance_gap(RandomFeatures("erf")), {64: 4000, 128: 1500, 256: 400, 512: 100, 1024: 25}, correction=2 / 3)


def covariance_gaussian():
    quantity = feature_covariance_gap(RandomFeatures("erf", rows="gaussian"))
    draws = {64: 4000, 128: 1500, 256: 600, 512: 200, 1024: 60}
    drawn(quantity, draws, divide=lambda d: math.sqrt(math.log(d)))
    drawn(quantity, draws, divide=largest_deviation)
    sizes = [2**j for j in range(10, 21)]
    means = [largest_deviation(d) / math.sqrt(math.log(d)) for d in sizes]
    report("E max | |w_i|^2 - 1 | / sqrt(log d)", sizes, means, [1e-6 * mean for mean in means], None, 0)


def largest_deviation(d):
    """E max over d rows of | |w|^2 - 1 |, |w|^2 ~ chi2_d/d, as the integral of 1 - F^d."""
    t = np.linspace(0, 60 / math.sqrt(d), 200_001)
    within = chi2.cdf(d * (1 + t), d) - chi2.cdf(np.maximum(d * (1 - t), 0), d)
    return float(np.trapezoid(1 - within**d, t))


def ridge():
    draws = {4: 800_000, 8: 600_000, 16: 320_000, 32: 120_000, 64: 32_000}
    drawn(ridge_gap(RandomFeatures("erf"), penalty=2.0), draws, correction=1)


def ridge_small_penalty():
    drawn(ridge_gap(RandomFeatures("erf"), penalty=0.1), {8: 200_000, 16: 80_000, 32: 40_000}, correction=1, divide=lambda d: 1 / d)


def hermite():
    for k in (1, 2, 3, 4):
        points = [{"d": 2**j} for j in range(6, 13)]
        evaluated(hermite_overlap(k), points, "d", correction=1)
        drawn(hermite_overlap(k), {2**j: 100_000 for j in range(5, 9)}, correction=1)


def minimax():
    for alpha, powers in ((Fraction(1), range(3, 7)), (Fraction(1, 2), range(4, 10))):
        step = int(2 * alpha + 1)
        points = [{"n": 2 ** (step * j), "bins": 2**j} for j in powers]
        correction = float(2 * alpha / (2 * alpha + 1))
        evaluated(regressogram_risk(alpha), points, "n", correction=correction)
        bins = {point["n"]: {"bins": point["bins"]} for point in points}
        draws = {n: max(4_000_000 // n, 40) for n in list(bins)[:4]}
        drawn(regressogram_risk(alpha), draws, "n", correction, extra=bins.__getitem__)
        drawn(bump_bayes_risk(alpha), dict.fromkeys(list(bins)[:3], 40_000), "n", 1, extra=bins.__getitem__)


def readout():
    quantity = sign_readout_gain(RandomFeatures("erf"), normalisation="mean")
    drawn(quantity, {32: 20_000, 64: 10_000, 128: 4000, 256: 1500, 512: 300}, correction=0.5)
    literal = sign_readout_gain(RandomFeatures("erf"), scale=0.7)
    values = literal.draw(np.random.default_rng(0), 400, {"d": 256})
    print(f"    risk of the sign readout at p = d = 256: {1 - values.mean():.4f} +/- {values.std() / 20:.4f}")


PARTS = (hermite, minimax, readout, ridge, ridge_small_penalty, covariance_sphere, covariance_gaussian)

if __name__ == "__main__":
    for part in PARTS:
        if len(sys.argv) == 1 or part.__name__ in sys.argv[1:]:
            print(part.__name__)
            part()
