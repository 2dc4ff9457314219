"""Audits whose errors are not what they are stated to be: the values scatter ``factor`` times as much."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from tests.calibration.simulator import Truth
from tests.calibration.tallies import Tally
from theoryck.judging import judge
from theoryck.records import Contract, Estimate, Judgement, Kind, Point, Prediction, Verdict

FACTORS = (0.1, 0.2, 1 / 3, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0)
STATED = (0.01, 0.05)
COUNTS = (5, 7, 9)
CONTRACT = Contract(1e-2, 0.025, 0.05)  # those of an audit
TRUTHS = tuple(
    Truth(-0.5, b, c, w)
    for w, b, c in ((1.0, 0, 0), (0.5, 2, 0), (0.5, -1, 0), (0.5, 2, -2), (0.5, -2, -2), (1.0, 2, 0), (1.0, -2, 2))
)
CLAIMS = {
    "true": ("d**(-1/2)", -0.5),
    "loose": ("d**(-1/4)", None),
    "edge": ("d**(-14/25)", None),  # wrong by 0.06, where 0.05 is tolerated
    "wrong": ("d**(-3/4)", -0.75),
    "other": (None, -0.25),
}


@dataclass
class Found:
    """How often each verdict was found, by claim, kind and verdict; how many tables were judged, and what their intervals did."""

    verdicts: Counter[tuple[str, Kind, Verdict]] = field(default_factory=Counter)
    tables: int = 0
    shown: Tally = field(default_factory=lambda: Tally(0, 0))  # intervals that cover, of those shown
    decided: Tally = field(
        default_factory=lambda: Tally(0, 0)
    )  # tables with a verdict on any claim: those whose intervals all cover

    def share(self, claim: str, kind: Kind, verdict: Verdict) -> Tally:
        """How often a claim got a verdict."""
        return Tally(self.verdicts[claim, kind, verdict], self.tables)


def predictions() -> dict[tuple[str, Kind], Prediction]:
    """What is claimed of each table."""
    found = {}
    for name, (rate, exponent) in CLAIMS.items():
        if rate is not None:
            found[name, Kind.BOUND] = Prediction(Kind.BOUND, "Q", base="d", rate=rate)
        if exponent is not None:
            found[name, Kind.SCALING] = Prediction(Kind.SCALING, "Q", base="d", exponent=exponent)
    return found


def judged(count: int, stated: float, factor: float, repeats: int, seed: int = 0) -> Found:
    """Judge ``repeats`` tables of each truth, of ``count`` sizes from 16 on."""
    sizes, found = 16 * 2.0 ** np.arange(count), Found()
    rng = np.random.default_rng([seed, count, round(1e4 * stated), round(100 * factor)])
    for truth in TRUTHS:
        curve = truth(sizes)
        for _ in range(repeats):
            values = curve * (1 + stated * factor * rng.standard_normal(count))
            points = [Point({"d": int(d)}, Estimate(float(v), stated * abs(float(v)), 1)) for d, v in zip(sizes, values)]
            found.tables += 1
            claims = {
                claim: judge(prediction, points, CONTRACT, final=False, drawn=False, stated=True)
                for claim, prediction in predictions().items()
            }
            for (name, kind), judgement in claims.items():
                found.verdicts[name, kind, judgement.verdict] += 1
            _note(found, claims, truth)
    return found


def _note(found: Found, claims: Mapping[tuple[str, Kind], Judgement], truth: Truth) -> None:
    """Count the intervals of a table: they are much the same for all of its claims, which are no independent trials."""
    covers = {claim: each.exponent.contains(truth.exponent) for claim, each in claims.items() if each.exponent is not None}
    if ("true", Kind.BOUND) in covers:
        found.shown += Tally(int(covers["true", Kind.BOUND]), 1)
    decided = [covers[claim] for claim in covers if claims[claim].verdict is not Verdict.INCONCLUSIVE]
    if decided:
        found.decided += Tally(int(all(decided)), 1)
