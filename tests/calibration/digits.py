"""Audits of tables without noise, printed to a few digits: orders of methods, and scalings whose stderr is said to be 0.

Orders: ``C n**-p (1 + B u + B2 u**2)``, ``u = n_first/n``, ``|B|, |B2| <= 1`` and no bracket below a fifth, which is what the kind
declares; some that wobble from mesh to mesh, as on unstructured meshes, and some that meet the rounding of the arithmetic.
Scalings: the truths of the default family on d = 16..1024.  What is random is the truth and, with the constant, where
the digits are cut; a share is one over tables.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from tests.calibration.simulator import SIZES, TEN
from tests.calibration.tallies import Tally
from theoryck.auditing import audit_rows
from theoryck.auditing.cells import significant
from theoryck.auditing.orders import ORDER
from theoryck.auditing.tables import Measurements
from theoryck.records import Contract, Verdict

DIGITS = (3, 4, 5, 16)
ORDERS = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0)
BOX = (-1.0, -0.5, 0.0, 0.5, 1.0)
SMALLEST_BRACKET = 0.2


@dataclass(frozen=True)
class Table:
    """Errors of a method: its order, and values at ``sizes`` as printed to ``digits`` digits."""

    order: float
    digits: int
    sizes: tuple[int, ...]
    values: tuple[float, ...]

    @property
    def measured(self) -> Measurements:
        values = np.array(self.values)
        rounding = significant(values, self.digits)
        return Measurements({"n": np.array(self.sizes, dtype=float)}, values, np.zeros(len(values)), "error", (), rounding)


def printed(values: np.ndarray, digits: int) -> tuple[float, ...]:
    return tuple(values.tolist()) if digits >= 16 else tuple(float(f"{value:.{digits - 1}e}") for value in values)


def orders(digits: int, count: int, repeats: int, seed: int) -> Iterator[Table]:
    """Tables of ``count`` sizes, doubled, over the corners and the inside of the declared corrections."""
    rng = np.random.default_rng([seed, digits, count])
    for _ in range(repeats):
        order, first = float(rng.choice(ORDERS)), int(rng.choice([2, 5, 8, 10, 64]))
        n = np.array([first * 2**i for i in range(count)])
        while True:
            b, b2 = rng.choice(BOX, 2) if rng.random() < 0.5 else rng.uniform(-1, 1, 2)
            bracket = 1 + b * (first / n) + b2 * (first / n) ** 2
            if bracket.min() >= SMALLEST_BRACKET:
                break
        values = 10.0 ** rng.uniform(-2, 1) * (n / first) ** -order * bracket
        yield Table(order, digits, tuple(n.tolist()), printed(values, digits))


def scalings(digits: int, repeats: int, seed: int) -> Iterator[Table]:
    """Tables on d = 16..1024 of the truths of the default family."""
    rng = np.random.default_rng([seed, digits, 99])
    for i in range(repeats):
        truth = replace(TEN[i % len(TEN)], exponent=-float(rng.choice([0.5, 1.0, 2.0])))
        values = 10.0 ** rng.uniform(-2, 1) * truth(SIZES)
        yield Table(-truth.exponent, digits, tuple(int(d) for d in SIZES), printed(values, digits))


def wobbling(wobble: float, count: int, repeats: int, seed: int) -> Iterator[Table]:
    """Second-order errors of ``count`` meshes that scatter by up to ``wobble`` on either side, every other one with corrections."""
    rng = np.random.default_rng([seed, count, round(1e4 * wobble)])
    n = 5 * 2 ** np.arange(count)
    for index in range(repeats):
        bracket = 1 + (index % 2) * rng.uniform(-0.7, 0.7) * n[0] / n
        values = 0.06 * (n / n[0]) ** -2.0 * bracket * (1 + wobble * rng.uniform(-1, 1, count))
        yield Table(2.0, 4, tuple(n.tolist()), printed(values, 4))


def rounded_off(count: int, repeats: int, seed: int) -> Iterator[Table]:
    """Errors ``n**-p`` of the orders 1, 2 and 4 to which the arithmetic adds ``1e-16 n``, up to a factor 3 and of either sign."""
    rng = np.random.default_rng([seed, count])
    n = 10 * 2 ** np.arange(count)
    for index in range(repeats):
        order = (1.0, 2.0, 4.0)[index % 3]
        noise = 1e-16 * n * rng.uniform(0.3, 3, count) * rng.choice([-1, 1], count)
        yield Table(order, 16, tuple(n.tolist()), tuple(np.abs(1.5 * n**-order * (1 + 3 / n) + noise).tolist()))


@dataclass(frozen=True)
class Found:
    """Shares of tables: true claims refuted and supported, claims wrong by ``offset`` supported, intervals that cover.

    Those that cover are counted beside a verdict and, as ``shown``, wherever one is given.
    """

    refuted: Tally
    supported: Tally
    covered: Tally
    shown: Tally


def judged(tables: Iterator[Table], kind: str, offset: float = 0.0, within: float | None = None) -> Found:
    """Audit every table against its exponent, or one that is wrong by ``offset``."""
    verdicts, covered, shown = [], [], []
    for table in tables:
        contract = Contract(1e-2, 0.025, within or (0.25 if kind == ORDER else 0.05))
        found = audit_rows(table.measured, f"n**({-(table.order + offset)})", kind, contract=contract)
        verdicts.append(found.verdict)
        if found.exponent is not None:
            shown.append(found.exponent.contains(-table.order))
            covered += shown[-1:] if found.verdict is not Verdict.INCONCLUSIVE else []

    def share(verdict: Verdict) -> Tally:
        return Tally(sum(each is verdict for each in verdicts), len(verdicts))

    both = (Tally(sum(each), len(each)) for each in (covered, shown))
    return Found(share(Verdict.REFUTED), share(Verdict.SUPPORTED), *both)
