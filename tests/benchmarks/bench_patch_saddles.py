"""Saddles over matrices of order parameters: the descent against the plain fixed-point loop; prints, never asserts a time.

Run ``python tests/benchmarks/bench_patch_saddles.py`` or ``python -m pytest tests/benchmarks/bench_patch_saddles.py -s``.

Random patches of nine entries, labels the sign of a product, noise 0.1, erf units, one core, processor time; the kernels are made
before, and what they take is printed.  The baseline is what the saddle's equation says, Q <- (I + G(Q)/N_c)^(-1) from Q = I, with
half of the old Q kept, until a step is below 1e-12; it stops after 2000 steps, or where Q is no longer positive definite.  With
fewer channels than inputs the descent starts twice or more, and the loop may not get anywhere.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from theoryck.theory.convolutions import PatchNetwork, PatchRegression, saddle_point
from theoryck.theory.convolutions.regression import KernelRegression

CASES = [(20, 4, 32), (20, 4, 8), (100, 9, 128), (300, 16, 512), (300, 16, 64)]
MOST = 2000


def problem(inputs: int, patches: int, channels: int) -> PatchRegression:
    x = np.random.default_rng(0).standard_normal((inputs, patches, 9))
    return PatchRegression(PatchNetwork("erf", channels), x, np.sign(np.sum(x[:, :, 0] * x[:, :, 1], axis=1)), 0.1)


def best(function: Callable[[], Any], repeats: int = 3) -> tuple[float, Any]:
    """Return the shortest of several processor times in seconds, and the result."""
    shortest, result = math.inf, None
    for _ in range(repeats):
        start = time.process_time()
        result = function()
        shortest = min(shortest, time.process_time() - start)
    return shortest, result


def iterated(setting: PatchRegression) -> tuple[np.ndarray, int]:
    """Return Q where the damped loop ends, and the number of its steps."""
    regression, patches = KernelRegression.of(setting), setting.shape[1]
    rows, columns = np.triu_indices(patches)
    q = np.eye(patches)
    for step in range(1, MOST + 1):
        inverse = np.linalg.inv(regression.matrix(q[rows, columns]))
        alpha = inverse @ regression.targets
        slope = np.tensordot(regression.train, inverse - np.outer(alpha, alpha), 2)
        g = np.zeros((patches, patches))
        g[rows, columns] = np.where(rows == columns, slope, slope / 2)
        g[columns, rows] = g[rows, columns]
        new = (q + np.linalg.inv(np.eye(patches) + g / setting.network.channels)) / 2
        if np.linalg.eigvalsh(new)[0] <= 0:
            return new, step
        moved, q = float(np.max(np.abs(new - q))), new
        if moved < 1e-12:
            break
    return q, step


def compare(inputs: int, patches: int, channels: int) -> str:
    """Return one line: milliseconds of both, and their ratio."""
    setting = problem(inputs, patches, channels)
    start = time.process_time()
    assert len(setting.kernels.train)
    kernels = time.process_time() - start
    repeats = 3 if inputs < 200 else 1
    seconds, found = best(lambda: saddle_point(setting), repeats)
    duration, (q, steps) = best(lambda: iterated(setting), 1)
    apart = float(np.max(np.abs(q - found.matrix)))
    return (
        f"P = {inputs}, N_p = {patches}, N_c = {channels}: {1e3 * seconds:.1f} ms in {found.iterations} steps (residual "
        f"{found.residual:.0e}, unique: {found.unique}, kernels {1e3 * kernels:.0f} ms); loop {1e3 * duration:.1f} ms, "
        f"{steps} steps, {apart:.0e} away; ratio {duration / seconds:.1f}"
    )


def test_both_agree_where_there_are_channels_enough() -> None:
    for case in CASES[:3]:
        print(compare(*case))
        setting = problem(*case)
        found = saddle_point(setting)
        assert found.reached
        if found.unique:
            assert np.allclose(iterated(setting)[0], found.matrix, atol=1e-9)


if __name__ == "__main__":
    for each in CASES:
        print(compare(*each))
