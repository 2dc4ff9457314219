"""The floor of a table without noise: where values stop falling, because the arithmetic or a solver's tolerance holds them up.

Errors of a numerical method fall by their law until they meet the rounding of the arithmetic, or the tolerance to which equations
were solved, and stay there.  A floor of height f is an error of +-f in every value, so that rows on it weigh nothing and those near
it little; no row is dropped.  A floor at the rounding of double precision is taken for what it is.  One above it looks exactly like
a limit that is not 0, which would refute the claim: it is named, and nothing is supported unless the floor is declared.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from theoryck.auditing.directions import Direction, as_path, positions
from theoryck.auditing.points import Gathered
from theoryck.auditing.tables import Measurements
from theoryck.fitting.data import MIN_SIZES, STANDS_OUT
from theoryck.fitting.fit import NOT_ASYMPTOTIC, SCATTERED
from theoryck.fitting.scatter import MIN_SCATTER_SIZES
from theoryck.judging.case import Claimed
from theoryck.records import Judgement, Kind, Point, Prediction, Toward, Verdict
from theoryck.records.values import size_text

ROUNDING_UNIT = 2.0**-52
ARITHMETIC = 4 * ROUNDING_UNIT  # of differences of numbers of order 1: what a handful of roundings leaves of them
MOST_ROUNDING = 1e4 * ROUNDING_UNIT  # to which the roundings of a long computation add up
AMPLIFIED = 2.0**-26  # to which quotients such as 1/h let roundings grow: no method's own error grows where sizes are refined
LEAST_FALL = 10.0  # before the floor: a law that hardly falls does not show where it stops
PREDICTED_FALL = 4.0  # which the law before the floor would make while the values stay within SAME
SAME = 2.0
FLAT, LEAST_FLAT = 0.05, 3  # of values, and how many of them: a plateau before which no law is seen
ABRUPT = 4.0  # by how much a smooth approach to the plateau would go on to move, in units of how much the values do
LEAST_SHRINKING = 64.0  # of the step before a plateau, where there is but one
ALTERNATING = 7  # changes of slope, each of the sign that the one before has not: noise at 9 sizes does so in 1 case of 10


@dataclass(frozen=True, slots=True)
class Floor:
    """A floor of ``height`` from the row ``first`` on; ``rounding`` says that it is that of double precision."""

    height: float
    first: int
    rounding: bool


def find_floor(x: Sequence[float], values: Sequence[float], log_rates: Sequence[float] | None = None) -> Floor | None:
    """Return where values stop falling, if they do; ``x`` are logarithms of sizes, ``log_rates`` those of a claimed rate.

    Rows go from coarse to fine.  The law before the floor is the median of the slopes of at least two pairs, over which the values
    fall at least tenfold.  The floor begins where a pair falls by less than half of it, for good, and lies at the rounding of
    numbers of order 1 (or of the largest value), or rises from size to size, as roundings do that a small step divides; or else
    where at least two rows stay within a factor 2 while the law would fall by 4, and so would the rate.  Where no law is seen, as
    few rows come before it or they fall little, it is a :func:`_plateau`.

    >>> errors = [1e-4, 6e-6, 4e-7, 2.5e-8, 1.6e-9, 1e-10, 6e-12, 4e-13, 3e-13, 6e-13]
    >>> find_floor(range(10), errors)  # of sizes exp(0), exp(1), ...
    Floor(height=6e-13, first=8, rounding=True)
    >>> find_floor([0, 1, 2, 3, 5], [0.1, 0.025, 0.006, 0.005, 0.005])
    Floor(height=0.005, first=3, rounding=False)
    >>> find_floor(range(7), [1e-2, 1e-4, 1e-6, 1e-8, 2e-10, 5e-10, 1e-9])  # 1e-16/h
    Floor(height=1e-09, first=5, rounding=True)
    >>> find_floor([0, 1, 2, 3], [0.1, 0.05, 0.025, 0.0125]) is None
    True
    >>> find_floor(range(5), [0.1, 0.025, 0.01, 0.01, 0.01], [-2.0 * k for k in range(5)])
    Floor(height=0.01, first=2, rounding=False)
    >>> find_floor(range(6), [1 + 4.0**-k for k in range(6)], [-2.0 * k for k in range(6)]) is None  # a limit that is approached
    True
    """
    size = [abs(value) for value in values]
    if len(set(x)) < len(x):
        return None
    for first in range(MIN_SIZES, len(size)):
        before = size[:first]
        if min(before) == 0:
            return None
        slopes = [-math.log(before[i] / before[i - 1]) / abs(x[i] - x[i - 1]) for i in range(1, first)]
        law = statistics.median(slopes[-3:])
        if not (law > 0 and before[0] >= LEAST_FALL * before[-1]):
            continue
        tail, last = size[first:], before[-1]
        gaps = [abs(there - x[first - 1]) for there in x[first:]]
        if any(value > 0 and math.log(last / value) > law / 2 * gap for value, gap in zip(tail, gaps)):
            continue
        height = max(*tail, ROUNDING_UNIT * max(size))
        scale = max(1.0, max(size))
        if height <= MOST_ROUNDING * scale or (height <= AMPLIFIED * scale and min(tail[-1], tail[len(tail) // 2]) > SAME * last):
            return Floor(height, first, True)
        flat = len(tail) > 1 and height <= SAME * min(tail)
        falls = math.exp(law * abs(x[-1] - x[first])) >= PREDICTED_FALL
        claimed = log_rates is None or log_rates[first] - log_rates[-1] >= math.log(PREDICTED_FALL)
        if flat and falls and claimed:
            return Floor(height, first, False)
    return _plateau(size, log_rates)


def _plateau(size: Sequence[float], log_rates: Sequence[float] | None) -> Floor | None:
    """Return where values stop abruptly: at least three, the last, that differ by 5% at most while the claimed rate falls by 4.

    A smooth approach to a limit goes on to move: by the last step times the ratio of the last two, if its steps shrink
    geometrically.  Values that move by less than a quarter of that did not come to a limit of their own.
    """
    for first in range(1, len(size) - LEAST_FLAT + 1):
        tail, moves = size[first:], max(size[first:]) - min(size[first:])
        if min(tail) == 0 or moves > FLAT * min(tail) or size[first - 1] < (1 + FLAT) * max(tail):
            continue
        if log_rates is None or log_rates[first] - log_rates[-1] < math.log(PREDICTED_FALL):
            continue
        last = size[first - 1] - tail[0]
        before = size[first - 2] - size[first - 1] if first > 1 else LEAST_SHRINKING * last
        if 0 < last < before and last * last / before > ABRUPT * moves:
            return Floor(max(tail), first, False)
    return None


def on_floor(points: Sequence[Point], height: float) -> tuple[Point, ...]:
    """Return the points with errors that allow for a floor of this height."""
    found = []
    for point in points:
        assert point.estimate is not None
        found.append(replace(point, estimate=replace(point.estimate, stderr=math.hypot(point.estimate.stderr, height))))
    return tuple(found)


@dataclass(frozen=True)
class Floors:
    """The floors of a table: one that was declared, one that was seen, and the rounding of the arithmetic that made it."""

    path: Direction | None
    declared: float = 0.0
    seen: Floor | None = None
    least: float = 0.0
    ordered: bool = False

    @classmethod
    def of(
        cls,
        measured: Measurements,
        gathered: Gathered,
        template: Prediction,
        toward: Mapping[str, Toward],
        declared: float | None,
        *,
        ordered: bool,
    ) -> Floors:
        """Look for a floor where the values have no noise that could hide one, or be taken for one."""
        path = as_path(gathered.points, toward)
        if declared is not None:
            return cls(path, declared, ordered=ordered)
        exact = measured.stderr is not None and not measured.stderr.any()
        sizes = np.abs(measured.values)
        scale = max(1.0, float(sizes.max()))
        # Where all values are that small, their unit is not that of numbers of order 1.
        low = float(sizes[sizes > 0].min(initial=math.inf)) < MOST_ROUNDING * scale
        held = (ordered or (exact and low)) and sizes.max() > MOST_ROUNDING * scale
        found = cls(path, least=ARITHMETIC * scale if held else 0.0, ordered=ordered)
        by_size = template.constant is not None and template.kind is Kind.BOUND
        if path is None or by_size or not (exact or gathered.without_errors):
            return found
        rate = Claimed.of(template).rate
        values = [point.estimate.value for point in path.points if point.estimate is not None]
        logs = None if rate is None else [rate.log_value(point.sizes) for point in path.points]
        return replace(found, seen=find_floor(positions(path.points, path.base, rate), values, logs))

    @property
    def height(self) -> float:
        """The error of every value that comes from floors."""
        return max(self.declared, self.least, 0.0 if self.seen is None else self.seen.height)

    @property
    def _above(self) -> int:
        """How many values of a path stand clear of the floor that was declared."""
        values = [] if self.path is None else [each.estimate.value for each in self.path.points if each.estimate is not None]
        return sum(abs(value) > STANDS_OUT * self.declared for value in values) if values else MIN_SIZES

    @property
    def flags(self) -> tuple[str, ...]:
        """What has to be said."""
        if self.declared:
            return (f"floor declared: no value is known better than to {self.declared:.2g}",)
        if self.seen is None:
            return ()
        what = "rounding holds the values up" if self.seen.rounding else "the values stop falling"
        rest = "the exponent is that of the rows before" if self.seen.first >= MIN_SIZES else "too few rows before show an exponent"
        return (f"{what} from {self._start} on, at {self.seen.height:.2g}: {rest}",)

    @property
    def _start(self) -> str:
        assert self.seen is not None
        assert self.path is not None
        return f"{self.path.base} = {size_text(self.path.points[self.seen.first].sizes[self.path.base])}"

    def above(self, points: tuple[Point, ...]) -> tuple[Point, ...]:
        """Return the points whose scatter is noise: to which a floor adds less than 1%, or where those are few, all before it."""
        if self.seen is None:
            return points
        least = 100 * self.seen.height
        high = tuple(point for point in points if point.estimate is not None and abs(point.estimate.value) > least)
        return high if len(high) >= MIN_SCATTER_SIZES else points[: self.seen.first]

    def weighed(self, found: Judgement) -> Judgement:
        """Support nothing that a floor of unknown origin contradicts: it may as well be a limit that is not 0."""
        if self.declared and found.verdict is Verdict.INCONCLUSIVE and self._above < MIN_SIZES:
            level = (
                f"; a floor is an error of every value, on either side of 0, and {self._above or 'none'} of these exceed "
                f"{STANDS_OUT:g} times {self.declared:g}: a level that values tend to is a limit (--limit {self.declared:g})"
            )
            return replace(found, reason=found.reason + level)
        if self.seen is None and self.ordered and found.verdict is Verdict.INCONCLUSIVE:
            return replace(found, reason=found.reason + self._hint(found))
        if self.seen is None or self.seen.rounding or found.verdict not in (Verdict.SUPPORTED, Verdict.INCONCLUSIVE):
            return found
        reason = (
            f"the values stop falling from {self._start} on, at {self.seen.height:.2g}: if that is the tolerance of a solver, "
            f"declare it (floor {self.seen.height:.2g}), else the claim does not hold there; before it, "
        )
        few = f"{self.seen.first} row{'s' * (self.seen.first > 1)} cannot show an exponent: measure coarser sizes"
        reason += few if self.seen.first < MIN_SIZES else found.reason
        return replace(found, verdict=Verdict.INCONCLUSIVE, reason=reason, tightness=None)

    def _hint(self, found: Judgement) -> str:
        """Say what else than corrections keeps values from a law: rounding that may hold the last up, or sizes that alternate."""
        sizes = [] if self.path is None else [abs(each.estimate.value) for each in self.path.points if each.estimate is not None]
        if self.declared or len(sizes) <= MIN_SIZES or min(sizes) == 0:
            return ""
        if any(flag.startswith((NOT_ASYMPTOTIC, SCATTERED)) for flag in found.flags) and sizes[-1] < AMPLIFIED * max(1.0, *sizes):
            return (
                f"; the last values are near the rounding of the arithmetic: if that holds them up, declare a floor "
                f"(floor {sizes[-1]:.2g})"
            )
        steps = np.sign(np.diff(np.log(sizes), n=2))
        if len(steps) >= ALTERNATING and bool((steps[1:] == -steps[:-1]).all()):
            return "; the values alternate from size to size, as where odd and even sizes differ: audit every other row by itself"
        return ""
