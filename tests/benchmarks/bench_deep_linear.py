"""How fast the information gap of deep linear networks decays, against the closed form, and what that costs.

Run with ``OPENBLAS_NUM_THREADS=1 python tests/benchmarks/bench_deep_linear.py [seconds per point]``; asserts nothing.  The closed
form KL = [x - log(1 + x)]/2, x = tr[(K (K + noise)^-1)^2] sum_l 1/d_l, is the leading order in 1/d.  The expected exponents are for
the widths d = 32..512 and noise 1/2: those of n = 1 by two-dimensional quadrature, the others from an independent prototype.
"""

from __future__ import annotations

import math
import sys
import time

import numpy as np

from theoryck.montecarlo import block_generator
from theoryck.theory.learning.draws.deep_linear import InformationGap
from theoryck.theory.learning.draws.deep_linear_model import LinearModel

WIDTHS = (32, 64, 128, 256, 512)
NOISE = 0.5
CASES = (
    ("n=1", 0.0, (-1.970, -1.954)),
    ("n=d", 1.0, (-0.998, -1.009)),
    ("n=d^1.5", 1.5, (-1.41, -1.44)),
    ("n=d^2", 2.0, (-1.97, -1.99)),
)


def closed_form(model: LinearModel, rng: np.random.Generator) -> float:
    """Return the leading order of KL at large widths, with its own correction at n = 1."""
    kernel = model.eta2 * model.spectra(rng, max(4096 // model.modes**2, 4))
    share = kernel / (kernel + model.noise)
    spread = sum(1 / width for width in model.widths[1:])
    if model.n == 1:
        return 0.75 * spread**2 * float(np.mean(share**4))
    x = float(np.mean(np.sum(share**2, axis=1))) * spread
    return 0.5 * (x - math.log1p(x))


def measure(model: LinearModel, rng: np.random.Generator, seconds: float) -> tuple[float, float, float]:
    """Return mean and standard error of -(I^(L) - I^(0)), and the processor time that was spent."""
    sampler = InformationGap(model)
    draws = max(int(seconds * 7e7 / sampler.cost), 16)
    start, values = time.process_time(), -sampler(rng, draws)
    return float(values.mean()), float(values.std(ddof=1)) / math.sqrt(draws), time.process_time() - start


def slope(sizes: np.ndarray, values: np.ndarray, errors: np.ndarray) -> tuple[float, float]:
    """Return the least-squares slope of log(values) against log(sizes), unweighted, and its standard error."""
    x = np.log(sizes) - np.log(sizes).mean()
    weights = x / (x @ x)
    return float(weights @ np.log(values)), float(np.linalg.norm(weights * errors / values))


def main(seconds: float) -> None:
    """Print a line per case: the exponent, the gap at every width with its ratio to the closed form, the time."""
    for name, power, expected in CASES:
        for depth, reference in zip((1, 3), expected, strict=True):
            rng = block_generator(0, "bench_deep_linear", {"n": name, "depth": depth}, {}, 0)
            models = [LinearModel((d,) * (depth + 1), round(d**power), NOISE) for d in WIDTHS]
            points = [measure(model, rng, seconds) for model in models]
            totals, errors, times = (np.array(column) for column in zip(*points, strict=True))
            samples = np.array([model.n for model in models])
            fitted, stderr = slope(np.array(WIDTHS), totals / samples, errors / samples)
            theory = [closed_form(model, rng) for model in models]
            print(f"{name:8s} L={depth}  exponent {fitted:.4f} +- {stderr:.4f}  (expected {reference})  {sum(times):.1f} s")
            for d, total, error, value in zip(WIDTHS, totals, errors, theory, strict=True):
                ratio = f"{total / value:.3f} +- {error / value:.3f}"
                print(f"    d={d:4d}  KL={total:.5g} +- {error:.1g}  closed form {value:.5g}  ratio {ratio}")


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 1.0)
