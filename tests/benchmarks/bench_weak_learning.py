"""How fast weak learning is simulated and its thresholds are found, against numpy drawing the same random numbers.

Run with ``OPENBLAS_NUM_THREADS=1 python tests/benchmarks/bench_weak_learning.py``; prints processor times and ratios.
The aims: 200 runs of the leap-2 chain at d = 1600 under 5 s; a threshold of two indices under 1 s.
"""

from __future__ import annotations

import time

import numpy as np

from theoryck.theory.one_pass import OnePass
from theoryck.theory.one_pass.draws import BLOCK, HittingSampler
from theoryck.theory.weak_recovery import StateEvolution, spectral_overlap, weak_recovery_threshold
from theoryck.theory.weak_recovery.limits.several import binned_posterior
from theoryck.theory.weak_recovery.model import Link


def seconds(function) -> float:
    """Return the processor time of a call: other programs do not count."""
    start = time.process_time()
    function()
    return time.process_time() - start


def chain() -> None:
    d, runs = 1600, 200
    sampler = HittingSampler(OnePass("z1*z2", "sqrt(2)*z", "0.2/d"), d, float(d), 10**6)
    times = np.empty(0)

    def run() -> None:
        nonlocal times
        times = sampler(np.random.default_rng(0), runs)

    took = seconds(run)
    steps = int(np.max(times[np.isfinite(times)]) * d)

    def bare() -> None:
        rng = np.random.default_rng(0)
        for _ in range(steps // BLOCK):
            rng.standard_normal((BLOCK, 3, runs))
            rng.standard_gamma((d - 3) / 2, (BLOCK, runs))

    numbers = seconds(bare)
    print(f"leap 2, d = {d}, {runs} runs, {steps} steps, median n/d {np.median(times):.2f}: {took:.2f} s (aim 5), ", end="")
    print(f"{took / numbers:.1f} times its random numbers alone, {took / steps * 1e6:.0f} us a step")


def thresholds() -> None:
    weak_recovery_threshold("z1*z2*z3")  # what is imported on first use
    for link in ("z1*z2", "sign(z1)*z2", "abs(z1) + 2*abs(z2)", "z1**2 - z1*z2", "z1*z2 + z1**3*z2"):
        print(f"threshold of {link:20}: {seconds(lambda link=link: weak_recovery_threshold(link)):.3f} s (aim 1)")
    print(f"bins for three indices       : {seconds(lambda: binned_posterior(Link('abs(z1) + abs(z2)*z3'))):.3f} s")
    print(f"noisy square                 : {seconds(lambda: weak_recovery_threshold('z**2', noise=0.3)):.3f} s")
    print(f"spectral overlap             : {seconds(lambda: spectral_overlap('z1*z2', 1.7)):.3f} s")
    print(f"full recovery of z^2         : {seconds(StateEvolution(Link('z**2')).full_recovery):.3f} s")


if __name__ == "__main__":
    chain()
    thresholds()
