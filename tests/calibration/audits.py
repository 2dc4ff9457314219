"""Audits of simulated tables: with standard errors, without any, and with replicates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tests.calibration.claims import Curve
from tests.calibration.draws import NOISES, STD, Array, bank, deviations
from tests.calibration.simulator import SIZES, Truth
from tests.calibration.tallies import Tally
from theoryck.auditing import audit
from theoryck.records import Result, Verdict

D = [int(size) for size in SIZES]


@dataclass(frozen=True)
class Table:
    """How a table is made: ``replicates`` rows a size, or one row a size with its stderr, or without."""

    stderr: bool
    replicates: int = 1

    def __str__(self) -> str:
        if self.replicates > 1:
            return f"{self.replicates} replicates a size"
        return "with stderr" if self.stderr else "without stderr"


TABLES = (Table(True), Table(False), Table(False, 5), Table(False, 20), Table(False, 100))


def audited(table: Table, truth: Truth | Curve, noise: str, relative: float, rng: np.random.Generator, **options: object) -> Result:
    """Audit one table: ``relative`` is the relative standard deviation of one row."""
    curve: Array = truth(SIZES)
    if table.stderr:
        draws = round((STD[noise] / relative) ** 2)
        found = bank(noise).means(rng, (len(D),), draws)
        return audit({"d": D}, curve * found.values, curve * found.stderrs, **options)  # type: ignore[arg-type]
    shape = (table.replicates, len(D))
    scale = relative / STD[noise]
    rows = curve * (1 + scale * deviations(rng, noise, shape))
    return audit({"d": D * table.replicates}, rows.ravel(), **options)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Audited:
    """Coverage of the exponent's interval, its median width, and how many tables had none."""

    covered: Tally
    width: float
    without: int


def coverage(
    table: Table, truth: Truth, noise: str, relative: float, repeats: int, seed: int = 0, correction: float | None = None
) -> Audited:
    """Repeat an audit that measures the exponent; tables without an interval are counted apart."""
    key = [seed, table.stderr, table.replicates, NOISES.index(noise), round(1e6 * relative)]
    rng = np.random.default_rng(key)
    intervals = [audited(table, truth, noise, relative, rng, correction=correction).exponent for _ in range(repeats)]
    found = [interval for interval in intervals if interval is not None]
    hits = sum(interval.contains(truth.exponent) for interval in found)
    width = float(np.median([interval.high - interval.low for interval in found])) if found else float("inf")
    return Audited(Tally(hits, len(found)), width, repeats - len(found))


def supported(
    table: Table, truth: Truth | Curve, noise: str, relative: float, repeats: int, seed: int = 0, **options: object
) -> Tally:
    """Count how often ``audit`` supports the rate d**(-1/2)."""
    rng = np.random.default_rng([seed, 7, NOISES.index(noise), round(1e6 * relative)])
    results = [audited(table, truth, noise, relative, rng, rate="d**(-1/2)", **options).verdict for _ in range(repeats)]
    return Tally(sum(verdict is Verdict.SUPPORTED for verdict in results), repeats)
