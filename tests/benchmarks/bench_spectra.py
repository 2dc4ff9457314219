"""Exponents of resolvent traces of conjugate kernels, of their laws, and what the limits cost.

Run with ``OPENBLAS_NUM_THREADS=1 python tests/benchmarks/bench_spectra.py [seconds per point]``; asserts nothing.  Expected: the
bias of a trace n^-1, its variance n^-2, the gap to the equivalent n^-1, the squared distance of the law of an eigenvalue n^-2.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np

from theoryck.fitting import fit_rate
from theoryck.montecarlo import block_generator
from theoryck.montecarlo.distances import quantile_edges, squared_distance
from theoryck.montecarlo.histogram import Histogram
from theoryck.quantities.base import Quantity
from theoryck.theory.networks.model import DeepNetwork
from theoryck.theory.spectra.limits.conjugate import conjugate_kernel
from theoryck.theory.spectra.limits.marchenko_pastur import marchenko_pastur
from theoryck.theory.spectra.quantities import eigenvalue, equivalent_gap, resolvent_trace, resolvent_variance

Found = tuple[float, float]


def mean(values: np.ndarray) -> Found:
    return float(values.mean()), float(values.std(ddof=1)) / len(values) ** 0.5


def distance(law: object) -> Callable[[np.ndarray], Found]:
    def measure(values: np.ndarray) -> Found:
        found = squared_distance(Histogram.of(values, quantile_edges(law.ppf)), law.cdf)  # type: ignore[attr-defined]
        return found.value, found.stderr

    return measure


def exponent(
    name: str, quantity: Quantity, sizes: tuple[int, ...], seconds: float, measure: Callable[[np.ndarray], Found] = mean
) -> None:
    """Print the exponent of a quantity with its 95% interval, corrections of relative order 1/n allowed for."""
    rows, start = [], time.process_time()
    for n in sizes:
        rng = block_generator(0, name, {}, {"n": n}, 0)
        draws = max(int(seconds * 7e7 / quantity.cost({"n": n})), 64)  # type: ignore[operator]
        rows.append(measure(quantity.draw(rng, draws, {"n": n})))
    values, errors = (np.array(column) for column in zip(*rows, strict=True))
    sign = float(np.sign(values[0]))
    interval = fit_rate(np.array(sizes, dtype=float), sign * values, errors, correction=1).exponent
    spent = time.process_time() - start
    print(f"{name:44s} n^{(interval.low + interval.high) / 2:+.3f} [{interval.low:+.3f}, {interval.high:+.3f}]  {spent:5.1f} s")


def limits() -> None:
    """Print the time of a transform and of a law."""
    kernel = conjugate_kernel("tanh(x)", (1, 0.7, 1.3))
    for name, call in (("transform at 100 points", lambda: kernel.stieltjes(np.linspace(-2, -0.01, 100))), ("law", kernel.law)):
        start = time.process_time()
        call()
        print(f"depth 2, {name:35s} {1e3 * (time.process_time() - start):.0f} ms")


def main(seconds: float) -> None:
    """Print everything."""
    limits()
    inputs = DeepNetwork("x", depth=0, widths=("n",))
    one = DeepNetwork("erf(x)", depth=1, widths=("n", "n"))
    limit = conjugate_kernel("erf(x)", (1, 1)).resolvent("1/30")
    sizes = (8, 16, 32, 64)
    bias = resolvent_trace(one, shift="1/30", against=limit)
    exponent("bias of the trace, level 1, c = (1, 1)", bias, (*sizes, 128), 12 * seconds)
    exponent("variance of the trace, level 0", resolvent_variance(inputs, shift="1/4"), (*sizes, 128), seconds)
    exponent("variance of the trace, level 1", resolvent_variance(one, shift="1/4"), (*sizes, 96), seconds)
    exponent("gap to the equivalent, level 1", equivalent_gap(one, shift=2), sizes, 4 * seconds)
    exponent(
        "squared distance of the law, level 0",
        eigenvalue(inputs),
        (6, 8, 12, 16, 24, 32),
        2 * seconds,
        distance(marchenko_pastur(1)),
    )


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 4.0)
