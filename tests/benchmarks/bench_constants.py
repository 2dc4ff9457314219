"""How much faster the certified constants are than mpmath.quad at the same precision; prints, never asserts a time.

Run ``python tests/benchmarks/bench_constants.py`` or ``python -m pytest tests/benchmarks/bench_constants.py -s``.

Both sides compute sigma_l, rho_l and eps_l for l = 1..depth to 50 digits, one core, in processor time (other programs do not
count).  mpmath is given its best chance: the line is cut at +-16 (the weight beyond is below 1e-55), even integrands are integrated
over half of it, and two subdivisions and both of its rules are tried, of which the fastest that is right to 48 digits is taken.
theoryck is timed with its numerical caches emptied (strips, majorants, nodes) and again when warm.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import Any

import mpmath
import sympy

from theoryck.numerics.proved import trapezoid
from theoryck.theory.networks.proved.constants import network_constants

DIGITS = 50
DEPTH = 4
REPEATS = 7

x = sympy.Symbol("x", real=True)
Function = Callable[[Any], Any]

ACTIVATIONS: dict[str, tuple[Any, Function, Function]] = {
    "tanh": (sympy.tanh(x), mpmath.tanh, lambda u: 1 - mpmath.tanh(u) ** 2),
    "erf": (sympy.erf(x), mpmath.erf, lambda u: 2 / mpmath.sqrt(mpmath.pi) * mpmath.exp(-u * u)),
}


def best(function: Callable[[], Any], repeats: int = REPEATS) -> tuple[float, Any]:
    """Return the shortest of several processor times in seconds, and the result."""
    shortest, result = float("inf"), None
    for _ in range(repeats):
        start = time.process_time()
        result = function()
        shortest = min(shortest, time.process_time() - start)
    return shortest, result


def by_mpmath(phi: Function, slope: Function, edges: list[int], method: str, maxdegree: int) -> list[tuple[Any, Any, Any]]:
    """Return (sigma_l, rho_l, eps_l) by mpmath.quad over half the line."""
    with mpmath.workdps(DIGITS):
        rows, before = [], mpmath.mpf(1)
        for _ in range(DEPTH):
            root = mpmath.sqrt(before)

            def mean(f: Function, root: Any = root) -> Any:
                return 2 * mpmath.quad(lambda z: f(root * z) * mpmath.npdf(z), edges, method=method, maxdegree=maxdegree)

            sigma, rho = mean(lambda u: phi(u) ** 2), mean(slope)
            rows.append((sigma, rho, sigma - before * rho**2))
            before = sigma
        return rows


def forget() -> None:
    """Empty the caches of strips, majorants and nodes."""
    trapezoid._best_strip.cache_clear()
    trapezoid._nodes.cache_clear()
    trapezoid._line_majorant.cache_clear()


def scratch(activation: Any) -> Any:
    """Compute with empty caches."""
    forget()
    return network_constants(activation, DEPTH, DIGITS)


def largest_gap(rows: list[tuple[Any, Any, Any]], constants: Any) -> Any:
    """Return the largest distance between the two results."""
    with mpmath.workdps(DIGITS + 10):
        exact = zip(constants.sigma[1:], constants.rho, constants.epsilon)
        return max(abs(value - mpmath.mpf(str(e.midpoint))) for row, triple in zip(rows, exact) for value, e in zip(row, triple))


def compare(name: str) -> str:
    """Return one line: times of both sides and their ratio."""
    activation, phi, slope = ACTIVATIONS[name]
    warm, constants = best(lambda: network_constants(activation, DEPTH, DIGITS))
    cold, _ = best(lambda: scratch(activation))
    rivals = []
    for edges, method, degree in itertools.product(([0, 16], [0, 4, 16]), ("tanh-sinh", "gauss-legendre"), (5, 6, 7, 8)):
        seconds, rows = best(lambda e=edges, m=method, d=degree: by_mpmath(phi, slope, e, m, d), 2)  # type: ignore[misc]
        gap = largest_gap(rows, constants)
        if gap < mpmath.mpf(10) ** -48:
            rivals.append((seconds, f"{method}, {len(edges) - 1} piece(s), degree {degree}"))
    plain, _ = best(lambda: by_mpmath(phi, slope, [0, mpmath.inf], "tanh-sinh", 10), 2)
    seconds, how = min(rivals)
    return (
        f"{name:5} depth {DEPTH}, {DIGITS} digits: theoryck {1e3 * warm:.2f} ms ({1e3 * cold:.2f} ms with empty caches); "
        f"mpmath.quad {1e3 * seconds:.1f} ms ({how}), {1e3 * plain:.1f} ms on [0, inf); "
        f"ratio {seconds / warm:.1f} ({seconds / cold:.1f} with empty caches), {plain / warm:.1f} against [0, inf)"
    )


def test_constants_against_mpmath_quad():
    """Print the comparison; what is asserted is only that both sides ran and agree (inside :func:`compare`)."""
    for name in ACTIVATIONS:
        line = compare(name)
        print("\n" + line)
        assert name in line


if __name__ == "__main__":
    for each in ACTIVATIONS:
        print(compare(each), flush=True)
