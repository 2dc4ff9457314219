"""How fast the chains are: against weight matrices, and against numpy drawing the same normals and applying the same phi.

Run with ``OPENBLAS_NUM_THREADS=1 python tests/benchmarks/bench_chains.py``; prints ratios and asserts nothing about time.
The aims: at least 50 times faster than weight matrices at width 1024, depth 3, two inputs; at least 60% of the speed of bare numpy.
"""

from __future__ import annotations

import functools
import itertools
import time

import numpy as np

from theoryck.montecarlo import block_generator
from theoryck.numerics.functions.activation import Activation
from theoryck.theory.networks.draws import PIECE, Layers, norm_chain, overlap_chain, slope


def best(function, repeats: int = 3) -> float:
    """Return the shortest processor time (other programs do not count) of ``repeats`` calls, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)


def rng() -> np.random.Generator:
    return block_generator(0, "benchmark", {}, {}, 0)


def timed(chain, layers: Layers, draws: int) -> None:
    """Run a chain with the benchmark's generator."""
    chain(layers, rng(), draws)


def matrices(phi: Activation, widths: tuple[int, ...], draws: int) -> None:
    """Draw whole networks: two inputs through fresh weight matrices."""
    generator = rng()
    for _ in range(draws):
        x = generator.standard_normal((widths[0], 2)) / np.sqrt(widths[0])
        for below, above in itertools.pairwise(widths):
            x = generator.standard_normal((above, below)) @ x
            phi.into(x)
            x /= np.sqrt(above)
        float(x[:, 0] @ x[:, 1])


def bare(phi: Activation, numbers: int) -> None:
    """Draw ``numbers`` normals and apply phi in pieces of the size that is fastest for numpy: nothing else."""
    generator, buffer = rng(), np.empty(PIECE)
    for start in range(0, numbers, PIECE):
        view = buffer[: min(PIECE, numbers - start)]
        generator.standard_normal(out=view)
        phi.into(view)


def against_matrices() -> None:
    widths = (1024, 1024, 1024, 1024)
    for name in ("tanh(x)", "erf(x)"):
        phi = Activation(name)
        layers = Layers(phi, slope(phi), widths)
        slow = best(functools.partial(matrices, phi, widths, 4), 2) / 4
        fast = best(functools.partial(timed, overlap_chain, layers, 1024)) / 1024
        print(
            f"{name:12} two inputs, width 1024, depth 3: matrices {slow * 1e3:8.2f} ms/draw, chain {fast * 1e6:8.2f} us/draw, "
            f"ratio {slow / fast:8.0f} (aim 50)"
        )


def against_numpy() -> None:
    print(f"{'phi':18}{'width':>7}{'normals/s norm':>17}{'share':>7}{'normals/s overlap':>20}{'share':>7}   (aim 0.60)")
    for name in ("tanh(x)", "erf(x)", "atan(x)", "sin(x)", "x*exp(-x**2/2)", "relu(x)"):
        phi = Activation(name)
        for width in (8, 48, 64, 1024, 20000):
            layers = Layers(phi, slope(phi), (width, width, width, width))
            draws = max(4_000_000 // (3 * width), 2)
            numbers = 3 * width * draws
            floor = best(functools.partial(bare, phi, numbers))
            one = best(functools.partial(timed, norm_chain, layers, draws))
            two = best(functools.partial(timed, overlap_chain, layers, draws // 2)) * draws / (draws // 2)
            # Two inputs take twice the normals.
            print(f"{name:18}{width:7}{numbers / one:17.3g}{floor / one:7.2f}{2 * numbers / two:20.3g}{2 * floor / two:7.2f}")


def closed_laws() -> None:
    phi = Activation("x")
    for width in (16, 4096):
        layers = Layers(phi, slope(phi), (width,) * 4)
        seconds = best(functools.partial(timed, overlap_chain, layers, 65536)) / 65536
        print(f"linear, depth 3, width {width:5}: {seconds * 1e9:6.0f} ns/draw (independent of the width)")


if __name__ == "__main__":
    against_matrices()
    closed_laws()
    against_numpy()
