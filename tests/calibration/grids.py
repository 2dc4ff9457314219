"""Audits of grids of two sizes: errors that hold or are stated too small, and rates of two terms with constants of their own."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from tests.calibration.tallies import Tally
from theoryck.auditing import audit
from theoryck.records import Verdict

COUNTS = (4, 5)  # sizes a line
FACTORS = (1.0, 3.0, 10.0)  # by which the scatter is larger than stated
STATED = 0.01
CORRECTIONS = ((0.0, 0.5), (2.0, 0.5), (-1.0, 0.5), (2.0, 1.0), (-2.0, 1.0))  # B and w of B d^-w, along either size
CONSTANTS = ((1.0, 1.0), (1.0, 3.0), (3.0, 1.0), (1.0, 10.0))
RATES = {"true": "d**(-1/2)/n", "wrong": "d**(-3/4)/n"}
SUMS = {"true": "1/d + 1/n", "wrong": "d**(-3/2) + 1/n"}


@dataclass
class Found:
    """How often each claim got each verdict, and by how much stated errors were enlarged."""

    verdicts: Counter[tuple[str, Verdict]] = field(default_factory=Counter)
    tables: int = 0

    def share(self, claim: str, verdict: Verdict) -> Tally:
        """How often a claim got a verdict."""
        return Tally(self.verdicts[claim, verdict], self.tables)


def grid(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the two sizes of ``count * count`` points, from 16 on."""
    sizes = 16 * 2.0 ** np.arange(count)
    d, n = np.meshgrid(sizes, sizes)
    return d.ravel(), n.ravel()


def _note(found: Found, count: int, values: np.ndarray, rates: dict[str, str], factor: float, rng: np.random.Generator) -> None:
    d, n = grid(count)
    noisy, found.tables = values * (1 + factor * STATED * rng.standard_normal(len(values))), found.tables + 1
    for name, rate in rates.items():
        found.verdicts[name, audit({"d": d, "n": n}, noisy, STATED * np.abs(noisy), rate=rate).verdict] += 1


def powers(count: int, factor: float, repeats: int, seed: int = 0) -> Found:
    """Judge ``d^-1/2 n^-1``, with corrections along either size, by itself and by a rate wrong by 1/4."""
    rng, found = np.random.default_rng([seed, count, round(factor)]), Found()
    d, n = grid(count)
    for index in range(repeats):
        (b, w), (c, v) = CORRECTIONS[index % len(CORRECTIONS)], CORRECTIONS[index // 2 % len(CORRECTIONS)]
        values = d**-0.5 / n * (1 + b * d**-w) * (1 + c * n**-v)
        _note(found, count, values, RATES, factor, rng)
    return found


def sums(count: int, constants: tuple[float, float], repeats: int, seed: int = 0) -> Found:
    """Judge ``a/d + b/n`` by ``1/d + 1/n``, and by a rate with a term that is too fast."""
    rng, found = np.random.default_rng([seed, count, *(round(each) for each in constants)]), Found()
    d, n = grid(count)
    for _ in range(repeats):
        _note(found, count, constants[0] / d + constants[1] / n, SUMS, 1.0, rng)
    return found
