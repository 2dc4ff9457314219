"""Fits of several sizes at once: coverage of each exponent in closed form and by simulation."""

from __future__ import annotations

import itertools
import math
from statistics import NormalDist

import numpy as np
import pytest

from theoryck.fitting.joint import fit_rate_jointly
from theoryck.fitting.linear import response

Z95 = 1.959963984540054
COEFFICIENTS = (-2.0, -0.5, 0.0, 0.5, 2.0)


def grid(d: list[int], n: list[int]) -> tuple[np.ndarray, np.ndarray]:
    pairs = np.array(list(itertools.product(d, n)), dtype=float)
    return pairs[:, 0], pairs[:, 1]


GRIDS = {
    "4x4": grid([16, 32, 64, 128], [16, 32, 64, 128]),
    "5x5": grid([16, 32, 64, 128, 256], [16, 32, 64, 128, 256]),
    "7x3": grid([16, 32, 64, 128, 256, 512, 1024], [16, 64, 256]),
    "4x4 from 64": grid([64, 128, 256, 512], [64, 128, 256, 512]),
}


def brackets(d: np.ndarray, n: np.ndarray, powers: tuple[float, ...]) -> list[np.ndarray]:
    """``1 + B u + B' v`` and ``(1 + B u)(1 + B' v)`` that stay above a fifth."""
    made = [
        1 + b * d**-w + c * n**-w + product * b * c * (d * n) ** -w
        for w, b, c, product in itertools.product(powers, COEFFICIENTS, COEFFICIENTS, (0, 1))
    ]
    return [bracket for bracket in made if bracket.min() > 0.2]


@pytest.mark.parametrize("correction", [None, 0.5, 1.0])
@pytest.mark.parametrize("noise", [0.03, 0.01, 0.003, 0.001])
@pytest.mark.parametrize("name", GRIDS)
def test_coverage_of_every_corner(name: str, noise: float, correction: float | None) -> None:
    """At least 93% for both exponents; the estimate is linear in log Q, with the design of the fit itself."""
    d, n = GRIDS[name]
    fit = fit_rate_jointly({"d": d, "n": n}, np.zeros(len(d)), np.full(len(d), noise), correction=correction, log_values=True)
    design = fit.attempts[0].design
    truths = np.log(brackets(d, n, (0.5, 1.0) if correction is None else (correction,)))
    normal = NormalDist()
    for index, variable in enumerate(("d", "n"), 1):
        g, stderr = response(design, np.full(len(d), 1 / noise), 3, index), fit.stderrs[variable]
        scatter = noise * float(np.linalg.norm(g))
        covered = [
            normal.cdf((Z95 * stderr - b) / scatter) - normal.cdf((-Z95 * stderr - b) / scatter) for b in map(float, truths @ g)
        ]
        assert min(covered) >= 0.93


def test_coverage_by_simulation() -> None:
    """d^-1/2 n (1 + 2 d^-1/2 - n^-1/2), 3% noise on the values: 60 repeats, P(Binomial(60, .93) < 47) = 2e-5."""
    d, n = GRIDS["5x5"]
    truth = d**-0.5 * n * (1 + 2 * d**-0.5 - n**-0.5)
    rng, hits = np.random.default_rng(3), {"d": 0, "n": 0}
    for _ in range(60):
        fit = fit_rate_jointly({"d": d, "n": n}, truth * (1 + 0.03 * rng.standard_normal(25)), 0.03 * truth)
        hits["d"] += fit.exponents["d"].contains(-0.5)
        hits["n"] += fit.exponents["n"].contains(1.0)
    assert min(hits.values()) >= 47


def test_least_squares_without_corrections_fails_the_same_check() -> None:
    """The textbook plane through log Q: at 1% noise it misses -1/2 always for the truth above."""
    d, n = GRIDS["5x5"]
    plane = np.stack([np.ones(25), np.log(d), np.log(n)], axis=1)
    inverse = np.linalg.inv(plane.T @ plane)
    slope = (inverse @ plane.T @ np.log(d**-0.5 * (1 + 2 * d**-0.5 - n**-0.5)))[1]
    assert abs(slope + 0.5) > 5 * Z95 * 0.01 * math.sqrt(inverse[1, 1])
