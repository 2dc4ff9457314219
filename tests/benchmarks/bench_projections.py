"""Exponents of projections of generated data by Monte Carlo alone, and by the exact route at large N, with their intervals.

Run with ``OPENBLAS_NUM_THREADS=1 python tests/benchmarks/bench_projections.py [seconds per case]``; asserts nothing.  Each line has
the exponent that is claimed, what draws at N = D = 8..64 give (a 95% interval that includes the next term of relative size 2/N),
and what exact values at N = D = 128..8192 give.
"""

from __future__ import annotations

import math
import sys
import time

from theoryck.montecarlo import block_generator
from theoryck.quantities import (
    Quantity,
    joint_kurtosis,
    joint_skewness,
    projection_kurtosis,
    projection_skewness,
    projection_squared_skewness,
    signs_error_gap,
    squared_joint_skewness,
    student_error_gap,
)
from theoryck.rates import RateFit, fit_rate

DRAWN = (8, 12, 16, 24, 32, 48, 64)
EXACT = tuple(2**k for k in range(7, 14))
CASES: tuple[tuple[float, Quantity], ...] = (
    (-1.0, projection_kurtosis("erf", "signs")),
    (-1.0, projection_kurtosis("tanh", "aligned")),
    (-0.5, projection_skewness("relu")),
    (-0.5, projection_skewness("he2")),
    (-2.0, projection_squared_skewness("he2")),
    (-1.0, joint_kurtosis("erf", "signs")),
    (-0.5, joint_skewness("relu")),
    (-2.0, squared_joint_skewness("relu")),
    (-1.0, signs_error_gap("2*erf(x)")),
    (-1.0, student_error_gap("2*erf(x)", "informed")),
)


def drawn(quantity: Quantity, seconds: float) -> RateFit:
    """Fit means of draws whose numbers are inverse to the square root of their cost, in blocks of 64."""
    costs = [float(quantity.cost({"N": n, "D": n}) or 1.0) for n in DRAWN]
    scale = seconds * 7e7 / sum(math.sqrt(cost) for cost in costs)
    values, stderrs = [], []
    for n, cost in zip(DRAWN, costs, strict=True):
        sampler = quantity.sampler({"N": n, "D": n})
        rng = block_generator(0, "bench_projections", quantity.parameters, {"N": n}, 0)
        draws = sampler(rng, max(int(scale / math.sqrt(cost)), 64))
        values.append(float(draws.mean()))
        stderrs.append(float(draws.std(ddof=1)) / math.sqrt(len(draws)))
    sign = -1 if values[0] < 0 else 1
    return fit_rate(DRAWN, [sign * value for value in values], stderrs, correction=1)


def exact(quantity: Quantity) -> RateFit:
    """Fit exact values."""
    values = [float(quantity.exact({"N": n, "D": n})) for n in EXACT]  # type: ignore[arg-type]
    sign = -1 if values[0] < 0 else 1
    return fit_rate(EXACT, [sign * value for value in values], [0.0] * len(EXACT), correction=1)


def main(seconds: float) -> None:
    """Print a line per case."""
    for claimed, quantity in CASES:
        start = time.process_time()
        fit = drawn(quantity, seconds).exponent
        text = f"{quantity.name:50s} claimed {claimed:5.2f}  drawn {fit.estimate:7.4f} [{fit.low:7.4f}, {fit.high:7.4f}]"
        if quantity.can_exact:
            line = exact(quantity).exponent
            text += f"  exact {line.estimate:9.6f} [{line.low:9.6f}, {line.high:9.6f}]"
        print(f"{text}  {time.process_time() - start:5.1f} s", flush=True)


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 20.0)
