"""Saddles of Bayesian networks against a plain fixed-point loop; prints, never asserts a time.

Run ``OPENBLAS_NUM_THREADS=1 python tests/benchmarks/bench_renormalisation.py`` or ``python -m pytest ... -s``; processor time.

The baseline is what a first script does: Q <- 1 + c/N, half of the old Q kept, c by solving with T + Q K at every step, until a
step is below 1e-10.  Both are asserted to agree.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theoryck.theory.renormalisation import bayesian_network

Array = NDArray[np.float64]


def best(function: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """Return the shortest of several processor times in seconds, and the result."""
    shortest, result = math.inf, None
    for _ in range(repeats):
        start = time.process_time()
        result = function()
        shortest = min(shortest, time.process_time() - start)
    return shortest, result


def loop(kernel: Array, labels: Array, width: int, heat: float) -> tuple[float, int]:
    """Return Q and the number of steps."""
    order, eye = 1.0, heat * np.eye(len(labels))
    for step in range(1, 1000):
        inverse = np.linalg.inv(eye + order * kernel)
        explained = inverse @ labels
        slope = order * (explained @ kernel @ explained - np.sum(inverse * kernel))
        new = (order + 1 + slope / width) / 2
        if abs(new - order) < 1e-10:
            return new, step
        order = new
    raise ArithmeticError("the loop has not arrived in 1000 steps")


def compare(count: int, repeats: int) -> str:
    """Return one line: milliseconds of both, their ratio, and how far apart they are."""
    rng = np.random.default_rng(count)
    x = rng.standard_normal((count, count // 2))
    labels, kernel = np.tanh(x[:, 0]) + 0.1 * rng.standard_normal(count), 2 / math.pi * np.arcsin(gram(x))
    seconds, found = best(lambda: bayesian_network(kernel, labels, widths=count, temperature=0.1), repeats)
    duration, (order, steps) = best(lambda: loop(kernel, labels, count, 0.1), 1)
    assert found.reached
    assert abs(found.orders[0] / order - 1) < 1e-8
    return (
        f"P = {count}: {1e3 * seconds:.2f} ms; plain loop {1e3 * duration:.1f} ms, {steps} steps, ratio {duration / seconds:.1f}, "
        f"apart by {abs(found.orders[0] / order - 1):.0e}"
    )


def gram(x: Array) -> Array:
    """Return 2 c/((1 + 2 s1)(1 + 2 s2))^(1/2), of which erf's kernel is the arc sine."""
    inner = x @ x.T / x.shape[1]
    scale = 1 + 2 * np.diag(inner)
    return np.asarray(2 * inner / np.sqrt(np.outer(scale, scale)))


def lines() -> list[str]:
    """Return all lines."""
    return [compare(20, 20), compare(200, 5), compare(1000, 1)]


def test_saddles_against_a_plain_loop() -> None:
    """Print the comparison; what is asserted is that both sides arrive and agree."""
    for line in lines():
        print("\n" + line)


if __name__ == "__main__":
    print("\n".join(lines()))
