"""Medians, quantiles, variances and probabilities of real draws: what their intervals cover, and claims judged by them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.stats

from tests.calibration.draws import Array
from tests.calibration.simulator import SIZES, Truth
from tests.calibration.tallies import Tally
from theoryck.judging import judge
from theoryck.judging.evidence import CARRIED
from theoryck.montecarlo import Statistic
from theoryck.records import Contract, Estimate, Kind, Point, Prediction, Verdict

Draw = Callable[[np.random.Generator, int, float], Array]


ROOT = Truth(-0.5, 0.5, 0.0, 0.5)


@dataclass(frozen=True)
class Source:
    """Draws whose ``statistic`` is a given number; ``truth`` is how that may depend on d."""

    name: str
    statistic: str
    draw: Draw
    truth: Truth = ROOT

    def estimate(self, rng: np.random.Generator, draws: int, value: float) -> Estimate:
        """Return what the draws say; the centre is off by a pilot's error, as it is in ``check``."""
        statistic = Statistic.parse(self.statistic)
        made = self.draw(rng, draws, value).astype(float)
        return statistic.estimate(statistic.collect(made, statistic.centre(self.draw(rng, min(draws, 1024), value).astype(float))))


def _scaled(law: str, *shape: float, level: float = 0.5) -> Draw:
    """Draws of a positive law, scaled so that their quantile is the value."""
    found = getattr(scipy.stats, law)(*shape)
    unit = float(found.ppf(level))
    return lambda rng, draws, value: value * found.rvs(size=draws, random_state=rng) / unit


def _spread(law: str, *shape: float) -> Draw:
    """Draws of which the value is the variance."""
    found = getattr(scipy.stats, law)(*shape)
    return lambda rng, draws, value: 3 + math.sqrt(value / float(found.var())) * found.rvs(size=draws, random_state=rng)


def _cauchy(rng: np.random.Generator, draws: int, value: float) -> Array:
    return value * (1 + 0.5 * rng.standard_cauchy(draws))


def _steps(rng: np.random.Generator, draws: int, value: float) -> Array:
    """Whole numbers of steps of median ceil(value), of which a fifth never ends."""
    waiting = np.ceil(value * rng.exponential(size=draws) / -math.log(1 - 0.5 / 0.8))
    return np.where(rng.random(draws) < 0.2, np.inf, waiting)


def _coin(rng: np.random.Generator, draws: int, value: float) -> Array:
    return rng.random(draws) < value


SMALL = Truth(-0.5, 0.5, 0.0, 0.5, amplitude=0.5)
SOURCES = (
    Source("lognormal", "median", _scaled("lognorm", 1.0)),
    Source("exponential", "median", _scaled("expon")),
    Source("Cauchy", "median", _cauchy),
    Source("steps", "median", _steps, Truth(2.0, 0.5, 0.0, 1.0)),
    Source("exponential", "quantile(0.9)", _scaled("expon", level=0.9)),
    Source("Pareto of index 1.5", "quantile(0.9)", _scaled("pareto", 1.5, level=0.9)),
    Source("normal", "variance", _spread("norm")),
    Source("exponential", "variance", _spread("expon")),
    Source("Student t(5)", "variance", _spread("t", 5)),
    Source("normal", "std", _spread("norm"), SMALL),
    Source("coin", "probability", _coin, SMALL),
    Source("rare coin", "probability", _coin, Truth(-1.0, 0.5, 0.0, 1.0)),
)


@dataclass(frozen=True)
class Covered:
    """How often 95% intervals contain the value: all of them, and those that the judge would trust."""

    every: Tally
    trusted: Tally


def coverage(source: Source, draws: int, repeats: int, seed: int, value: float = 0.25) -> Covered:
    """Count intervals that contain ``value``; of whole steps its ceiling."""
    rng = np.random.default_rng([seed, draws])
    value = 100.0 if source.name == "steps" else value
    goal = value**0.5 if source.statistic == "std" else value
    every, trusted = [], []
    for _ in range(repeats):
        found = source.estimate(rng, draws, value)
        inside = found.interval(0.95).contains(goal)
        every.append(inside)
        if found.skewness**2 <= CARRIED * found.draws and math.isfinite(found.stderr):
            trusted.append(inside)
    return Covered(Tally(sum(every), len(every)), Tally(sum(trusted), len(trusted)))


def judged(
    source: Source, excess: float, draws: int, repeats: int, contract: Contract, seed: int, sizes: Sequence[float] = tuple(SIZES)
) -> dict[Verdict, Tally]:
    """Judge two-sided claims about an exponent that is off by ``excess`` (one look), from ``draws`` at every size."""
    rng = np.random.default_rng([seed, draws])
    half = source.statistic == "std"  # of the variance, which is what has the truth
    values = source.truth(np.array(sizes)) ** (2 if half else 1)
    claimed = Prediction(Kind.SCALING, source.name, base="d", exponent=source.truth.exponent - excess, statistic=source.statistic)
    counts = dict.fromkeys(Verdict, 0)
    for _ in range(repeats):
        found = [source.estimate(rng, draws, float(value)) for value in values]
        points = [Point({"d": int(d)}, estimate) for d, estimate in zip(sizes, found, strict=True)]
        counts[judge(claimed, points, contract).verdict] += 1
    return {verdict: Tally(hits, repeats) for verdict, hits in counts.items()}
