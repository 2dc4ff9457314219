"""Trajectories of online learning against forward Euler with 5,000 steps; prints, never asserts a time.

Run ``python tests/benchmarks/bench_online.py`` or ``python -m pytest tests/benchmarks/bench_online.py -s``.

Two units against two, g = erf(x/sqrt 2), both layers trained, times 0.5 to 50, one core, in processor time.  The baseline has the
same right-hand side, written out with numpy for one eigenvalue, in 5,000 equal steps; its error is printed, that of theoryck is
measured against a run with a hundredth of the tolerance.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from theoryck.theory.dynamics import OnlineTask, OrderParameters, limits, trajectory

TASK = OnlineTask([[1, 0.3], [0.3, 1.2]], [1, 1], 0.2)
START = OrderParameters([[[0.2, 0.02], [0.02, 0.25]]], [[[0.1, -0.05], [0.03, 0.08]]], [0.5, -0.4])
TIMES = (0.5, 1, 2, 5, 10, 20, 30, 40, 50)
STEPS = 5000


def best(function: Callable[[], Any], repeats: int = 3) -> tuple[float, Any]:
    """Return the shortest of several processor times in seconds, and the result."""
    shortest, result = math.inf, None
    for _ in range(repeats):
        start = time.process_time()
        result = function()
        shortest = min(shortest, time.process_time() - start)
    return shortest, result


def euler() -> np.ndarray:
    """Return Q at the times by forward Euler."""
    q, r, v = START.q[0].copy(), START.r[0].copy(), START.v.copy()
    step, seen = TIMES[-1] / STEPS, []
    for k in range(1, STEPS + 1):
        h = limits._arcsine_means(TASK, q, r, v)
        decay, mixing, pull = h.h1 @ v - h.h4 @ TASK.v_teacher, h.h2 * v, h.h5 * TASK.v_teacher
        scaled = TASK.rate * v[:, None]
        half = -scaled * (decay[:, None] * q + mixing @ q - pull @ r.T)
        dr = -scaled * (decay[:, None] * r + mixing @ r - pull @ TASK.T)
        dq = half + half.T + TASK.rate**2 * np.outer(v, v) * h.h6
        q, r, v = q + step * dq, r + step * dr, v - step * TASK.rate * h.outputs
        if any(abs(k * step - t) < step / 2 for t in TIMES):
            seen.append(q)
    return np.stack(seen)


def lines() -> list[str]:
    """Return the line of the comparison."""
    seconds, found = best(lambda: trajectory(TASK, START, TIMES))
    tolerance, limits.TOLERANCE = limits.TOLERANCE, limits.TOLERANCE / 100
    finer = trajectory(TASK, START, TIMES)
    limits.TOLERANCE = tolerance
    duration, steps = best(euler, 1)
    gap, coarse = (float(np.abs(q - finer.Q).max()) for q in (found.Q, steps))
    assert gap < 1e-8
    return [
        f"online learning, K = M = 2, to t = 50: {1e3 * seconds:.0f} ms (off by {gap:.0e}); forward Euler, {STEPS} steps: "
        f"{1e3 * duration:.0f} ms (off by {coarse:.0e}); ratio {duration / seconds:.1f}"
    ]


def test_trajectories_against_euler():
    """Print the comparison; what is asserted is the error."""
    for line in lines():
        print("\n" + line)


if __name__ == "__main__":
    print("\n".join(lines()))
