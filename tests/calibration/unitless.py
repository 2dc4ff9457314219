"""Audits over sizes whose unit means nothing: step sizes that go to 0, tokens and operations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tests.calibration.tallies import Tally
from theoryck.judging import judge
from theoryck.records import Contract, Estimate, Judgement, Kind, Point, Prediction, Toward, Verdict

CONTRACT = Contract(1e-2, 0.025, 0.05)  # those of an audit
NOISES = (0.001, 0.01, 0.05)


@dataclass(frozen=True)
class Window:
    """Sizes from the coarsest on, the exponent of the values there, and how large the two corrections are at the coarsest."""

    name: str
    sizes: tuple[float, ...]
    exponent: float
    corrections: tuple[tuple[float, float, float], ...]  # w, B, B2

    @property
    def toward(self) -> Toward:
        return Toward.ZERO if self.sizes[-1] < self.sizes[0] else Toward.INFINITY

    def curve(self, correction: tuple[float, float, float]) -> np.ndarray:
        sizes = np.array(self.sizes)
        power, first, second = correction
        u = (sizes / sizes[0]) ** (power if self.toward is Toward.ZERO else -power)
        return (sizes / sizes[0]) ** self.exponent * (1 + first * u + second * u * u)

    def rate(self, excess: float) -> str:
        """The rate of which the values exceed the claim by an exponent of ``excess`` in the large parameter."""
        power = self.exponent + (excess if self.toward is Toward.ZERO else -excess)
        return f"x**({power:.12g})"


def steps(first: float, count: int) -> tuple[float, ...]:
    return tuple(first / 2**k for k in range(count))


def in_h(first: float) -> tuple[tuple[float, float, float], ...]:
    """Errors h**s (1 + B h**w), |B| <= 2, as far as the bracket stays a correction."""
    return tuple((w, b * first**w, 0.0) for w in (0.5, 1.0, 2.0) for b in (-2.0, 2.0))


RELATIVE = tuple((w, b, c) for w in (0.5, 1.0, 2.0) for b, c in ((0.0, 0.0), (0.6, -0.36), (-0.6, 0.36), (0.6, 0.36)))
WINDOWS = (
    Window("h = 2^-3..2^-10", steps(1 / 8, 8), 2.0, (*in_h(1 / 8), (1.0, 0.0, 0.0))),
    Window("h = 2^-3..2^-7", steps(1 / 8, 5), 1.0, (*in_h(1 / 8), (1.0, 0.0, 0.0))),
    Window("dx = 8..1/16", steps(8.0, 8), 1.0, RELATIVE),
    Window("tokens = 1e8..1e11", tuple(1e8 * 10 ** (k / 2) for k in range(7)), -0.28, RELATIVE),
    Window("operations = 1e15..1e24", tuple(1e15 * 10.0**k for k in range(10)), -0.05, RELATIVE),
)


@dataclass
class Found:
    """How often each verdict was found, and how many of the intervals cover the truth."""

    verdicts: Counter[tuple[str, Verdict]] = field(default_factory=Counter)
    tables: int = 0
    covered: Tally = field(default_factory=lambda: Tally(0, 0))

    def share(self, claim: str, verdict: Verdict) -> Tally:
        return Tally(self.verdicts[claim, verdict], self.tables)


CLAIMS = {"true": 0.0, "edge": 0.06, "wrong": 0.25}


def judgement(window: Window, values: Sequence[float], relative: float, excess: float, unit: float = 1.0) -> Judgement:
    points = [
        Point({"x": unit * size}, Estimate(float(value), relative * abs(float(value)), 1))
        for size, value in zip(window.sizes, values)
    ]
    prediction = Prediction(Kind.BOUND, "Q", base="x", rate=window.rate(excess), toward=window.toward)
    return judge(prediction, points, CONTRACT, final=False, drawn=False, stated=True)


def judged(window: Window, relative: float, repeats: int, seed: int = 0) -> Found:
    """Judge ``repeats`` tables of every truth."""
    found, rng = Found(), np.random.default_rng([seed, len(window.name), len(window.sizes), round(1e4 * relative)])
    for correction in window.corrections:
        curve = window.curve(correction)
        for _ in range(repeats):
            values = curve * (1 + relative * rng.standard_normal(len(curve)))
            found.tables += 1
            for name, excess in CLAIMS.items():
                judgment = judgement(window, values, relative, excess)
                found.verdicts[name, judgment.verdict] += 1
                if name == "true" and judgment.exponent is not None:
                    found.covered += Tally(int(judgment.exponent.contains(window.exponent)), 1)
    return found
