"""Exponents of projections of generated data by Monte Carlo alone, and by the exact route at large N, with their intervals.

Run with ``OPENBLAS_NUM_THREADS=1 python tests/benchmarks/bench_projections.py [seconds per case [part of a name]]``; asserts
nothing.  Each line has the exponent that is claimed, what draws at N = D = 8..64 give (a 95% interval that includes a next term of
relative size 2/N), and what exact values at N = D = 128..8192 give.
"""

from __future__ import annotations

import math
import sys
import time

from theoryck.fitting import RateFit, fit_rate
from theoryck.montecarlo import block_generator
from theoryck.quantities import Quantity
from theoryck.theory.projections.quantities import (
    joint_kurtosis,
    joint_skewness,
    projection_kurtosis,
    projection_skewness,
    projection_squared_skewness,
    signs_error_gap,
    squared_joint_skewness,
    student_error_gap,
)

DRAWN = (8, 12, 24, 48, 64)
PILOT = 256
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
    """Fit means of draws; more where a pilot finds the noise large relative to the mean and a draw cheap."""
    samplers = [quantity.sampler({"N": n, "D": n}) for n in DRAWN]
    streams = [block_generator(0, "bench_projections", quantity.parameters, {"N": n}, 0) for n in DRAWN]
    shares = []
    for sampler, rng in zip(samplers, streams, strict=True):
        start = time.process_time()
        pilot = sampler(rng, PILOT)
        shares.append((pilot.std() / abs(pilot.mean()), (time.process_time() - start) / PILOT))
    scale = seconds / sum(noise * math.sqrt(cost) for noise, cost in shares)
    values, stderrs = [], []
    for sampler, rng, (noise, cost) in zip(samplers, streams, shares, strict=True):
        draws = sampler(rng, max(int(scale * noise / math.sqrt(cost)), PILOT))
        values.append(float(draws.mean()))
        stderrs.append(float(draws.std(ddof=1)) / math.sqrt(len(draws)))
    sign = -1 if values[0] < 0 else 1
    return fit_rate(DRAWN, [sign * value for value in values], stderrs, correction=1)


def exact(quantity: Quantity) -> RateFit:
    """Fit exact values."""
    values = [float(quantity.exact({"N": n, "D": n})) for n in EXACT]  # type: ignore[arg-type]
    sign = -1 if values[0] < 0 else 1
    return fit_rate(EXACT, [sign * value for value in values], [0.0] * len(EXACT), correction=1)


def main(seconds: float, part: str = "") -> None:
    """Print a line per case whose name has the part."""
    for claimed, quantity in CASES:
        if part not in quantity.name:
            continue
        start = time.process_time()
        fit = drawn(quantity, seconds).exponent
        text = f"{quantity.name:50s} claimed {claimed:5.2f}  drawn {fit.estimate:7.4f} [{fit.low:7.4f}, {fit.high:7.4f}]"
        if quantity.can_exact:
            line = exact(quantity).exponent
            text += f"  exact {line.estimate:9.6f} [{line.low:9.6f}, {line.high:9.6f}]"
        print(f"{text}  {time.process_time() - start:5.1f} s", flush=True)


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 20.0, *sys.argv[2:3])
