"""Order statistics of streams: counts in bins that are fine around a centre, and quantiles with an error free of any law.

Bins.  A draw x belongs to the bin of the floating-point number x - c cut to ``BITS`` bits after the first: 64 bins for every power
of two of the distance from the centre c, on either side, so that they grow finer without end towards c.  A bin keeps its count and
its smallest and largest draw.  Counts add up and extremes are compared, so that the same draws give the same bits in any order of
blocks; draws that are infinite have a bin of their own.

Error of the bins.  x - c is rounded monotonically, so the bins are in the order of the draws: the k-th smallest draw lies between
the smallest and the largest one of the bin in which the cumulative count reaches k, which are at most 1/64 of their distance from
c apart.  Between the two it is interpolated by its rank.  With c the quantile of a pilot of m draws that distance is about the
error of the pilot, so that a bin is sqrt(n/m)/64 standard errors wide after n draws, and linear interpolation in it is off by the
square of that times the change of the density over one standard error.  Bins that hold one number, such as whole numbers up to 64
from a whole c, have no error.

Standard error.  The number of draws below the p-quantile is binomial, whatever their law, with standard deviation
s = sqrt(n p (1-p)): the order statistics of ranks (n+1) p +- z s enclose it with the probability of a Gaussian's +- z, and
    stderr = (x_((n+1)p + 2 s) - x_((n+1)p - 2 s)) / 4 sqrt(1 + 1/sqrt(s)).
No density is estimated.  The last factor is as for a mean (:mod:`theoryck.montecarlo.moments`): the 4 s gaps between the two have a
sum of relative deviation 1/sqrt(4 s), its square twice that, by which it is increased, since far out an error bar that is too small
by chance refutes: of medians of 1000 exponential draws 9 in 100,000 lie beyond 4.5 errors without it and 2 with it.

Where draws have a gap or ties, an interval of +- 2 s says nothing of what lies beyond: a gap that begins z s away from the
estimate, z <= 5, and is wider than chance makes one, has to be reached by z standard errors (by one, for z < 1).  So a fair coin,
whose median is 0 or 1 by chance, has an error of 1, and one of 60% has none once 5 s < n/10.  What is infinite within 5 s makes the
error infinite.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theoryck.montecarlo.moments import FEW_DRAWS
from theoryck.records import Estimate

BITS = 6
"""Bits of the distance from the centre that tell bins apart, after the first."""

REACH = 2.0
"""Standard deviations of ranks from the estimate to the order statistics that make the error: 95% of a Gaussian."""

GUARD = 5.0
"""The same to the last gap that is looked at; 6e-7 of a Gaussian lie beyond."""

_MAGNITUDE = np.int64(2**63 - 1)


def _bins(values: NDArray[np.float64], centre: float) -> NDArray[np.int64]:
    """Return the number of the bin of each value, which never falls where values rise."""
    with np.errstate(over="ignore"):  # beyond the range of doubles a distance is infinite: still in order
        bits = np.subtract(values, centre).view(np.int64)
    cut = (bits & _MAGNITUDE) >> np.int64(52 - BITS)
    return np.where(bits < 0, -cut, cut)


@dataclass(frozen=True, slots=True, eq=False)
class Ranks:
    """Counts, smallest and largest draws of the bins around ``centre`` that have draws, in ascending order (see the module).

    >>> ranks = Ranks.of([3.0, 1.0, 2.0], 2.0).merge(Ranks.of([5.0, 4.0], 2.0))
    >>> ranks.count, ranks.order_statistics([1.0, 2.5, 5.0]).tolist()
    (5, [1.0, 2.5, 5.0])
    """

    centre: float
    bins: NDArray[np.int64]
    counts: NDArray[np.int64]
    lows: NDArray[np.float64]
    highs: NDArray[np.float64]

    @classmethod
    def of(cls, values: Sequence[float] | NDArray[np.float64], centre: float) -> Ranks:
        """Return the counts of an array (draws,) without NaN, around a finite centre; ValueError for anything else."""
        array = np.sort(np.asarray(values, dtype=np.float64))
        if array.ndim != 1 or (array.size and math.isnan(array[-1])):
            raise ValueError(f"values must have shape (draws,) and no NaN, got shape {array.shape}")
        if not math.isfinite(centre):
            raise ValueError(f"centre must be finite, got {centre}")
        bins = _bins(array, centre)
        starts = _starts(bins)
        ends = np.append(starts[1:], array.size)
        return cls(centre, bins[starts], ends - starts, array[starts], array[ends - 1])

    @property
    def count(self) -> int:
        """The number of draws."""
        return int(self.counts.sum())

    def merge(self, *others: Ranks) -> Ranks:
        """Return the counts of all groups, the same bits in any order; ValueError where their centres differ."""
        for other in others:
            if self.centre != other.centre:
                raise ValueError(f"ranks to be merged must have one centre, got {self.centre} and {other.centre}")
        groups = (self, *others)
        bins = np.concatenate([each.bins for each in groups])
        order = np.argsort(bins, kind="stable")
        starts = _starts(bins[order])
        if not len(starts):
            return self
        counts = np.add.reduceat(np.concatenate([each.counts for each in groups])[order], starts)
        lows = np.minimum.reduceat(np.concatenate([each.lows for each in groups])[order], starts)
        highs = np.maximum.reduceat(np.concatenate([each.highs for each in groups])[order], starts)
        return Ranks(self.centre, bins[order][starts], counts, lows, highs)

    def order_statistics(self, ranks: Sequence[float]) -> NDArray[np.float64]:
        """Return the draws of the given ranks, 1 the smallest, interpolated between whole ranks and within bins.

        A rank below 1 is -inf, one above the count inf: nothing is known of what lies beyond the draws.
        """
        upto = np.cumsum(self.counts)
        wanted = np.asarray(ranks, dtype=np.float64)
        # Whole ranks first: the k-th of a bin's m draws is (k - 1)/(m - 1) of the way from its lowest to its highest.
        below, above = (self._at(whole, upto) for whole in (np.floor(wanted), np.ceil(wanted)))
        part = wanted - np.floor(wanted)
        between = np.where(part > 0, _between(below, above, part), below)
        return np.where(wanted < 1, -math.inf, np.where(wanted > upto[-1], math.inf, between))

    def _at(self, whole: NDArray[np.float64], upto: NDArray[np.int64]) -> NDArray[np.float64]:
        index = np.minimum(np.searchsorted(upto, whole), len(upto) - 1)
        size = self.counts[index]
        part = np.where(size > 1, (whole - 1 - (upto[index] - size)) / np.maximum(size - 1, 1), 0.0)
        return _between(self.lows[index], self.highs[index], np.clip(part, 0.0, 1.0))

    def quantile(self, level: float) -> Estimate:
        """Return the quantile of a level in (0, 1) with its standard error (see the module).

        Flags: "constant" (all draws equal), "few-draws" (fewer than 30 expected on one side).  An error is infinite where draws
        are too few to have one; the value, too, is infinite where that of its rank is.  Raises ValueError when there are no draws.

        >>> middle = Ranks.of(np.random.default_rng(0).standard_cauchy(10_000), 0.0).quantile(0.5)
        >>> round(middle.value, 3), round(middle.stderr, 3)  # pi/2 over the root of the draws is 0.016
        (-0.016, 0.019)
        """
        n = self.count
        if n == 0:
            raise ValueError("an estimate needs at least one draw, got none: sample first")
        flags: tuple[str, ...] = ("few-draws",) if n * min(level, 1 - level) < FEW_DRAWS else ()
        place, deviation = (n + 1) * level, math.sqrt(n * level * (1 - level))
        value = float(self.order_statistics([min(max(place, 1.0), float(n))])[0])
        low, high = self.order_statistics([place - REACH * deviation, place + REACH * deviation]).tolist()
        if not (math.isfinite(value) and math.isfinite(low) and math.isfinite(high)):
            return Estimate(value, math.inf, n, flags)
        if self.lows[0] == self.highs[-1]:
            flags = ("constant", *flags)
        inflation = math.sqrt(1 + 2 / math.sqrt(2 * REACH * deviation))
        stderr = self._across_gaps(value, place, deviation, (high - low) / (2 * REACH) * inflation)
        return Estimate(value, stderr, n, flags)

    def _across_gaps(self, value: float, place: float, deviation: float, stderr: float) -> float:
        """Return the error that reaches, from ``value``, across every gap between draws that is wider than chance.

        In a smooth law neighbouring draws are apart as exponential numbers are, about the average of the 2 s gaps around: of the
        10 s gaps in reach one exceeds log(200 s) times that with probability 1/20.  An only gap is 2 s times the average, hence s
        at most.  Half a standard error is always allowed.
        """
        before = np.cumsum(self.counts)[:-1]
        up = (before + 1 - place) / deviation  # from the estimate to the first draw after the gap, in deviations of ranks
        down = (place - before) / deviation
        lower, upper = self.highs[:-1], self.lows[1:]
        near = np.minimum(np.abs(up), np.abs(down)) <= GUARD
        lower, upper, up, down = lower[near], upper[near], up[near], down[near]
        around = [np.clip(before[near] + side, 1, self.count) for side in (deviation, 1 - deviation)]
        chance = min(math.log(200 * max(deviation, 1.0)), deviation) / (2 * deviation)
        with np.errstate(invalid="ignore"):
            local = self.order_statistics(around[0]) - self.order_statistics(around[1])
            widths = upper - lower
            gaps = np.isinf(widths) | (widths > np.maximum(0.5 * stderr, chance * local))
        above, below = gaps & (upper > value), gaps & (lower < value)
        reaches = [(upper - value)[above] / np.maximum(up[above], 1.0), (value - lower)[below] / np.maximum(down[below], 1.0)]
        return float(np.concatenate([[stderr], *reaches]).max())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ranks):
            return NotImplemented
        return self._parts() == other._parts()

    __hash__ = None  # type: ignore[assignment]

    def _parts(self) -> tuple[Any, ...]:
        return self.centre, *(column.tolist() for column in (self.bins, self.counts, self.lows, self.highs))


def _starts(bins: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return where a new number begins in an ascending array."""
    return np.flatnonzero(np.diff(bins, prepend=bins[:1] - 1)) if len(bins) else np.empty(0, dtype=np.intp)


def _between(low: NDArray[np.float64], high: NDArray[np.float64], part: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return low + part (high - low), also where both are the same infinity."""
    with np.errstate(invalid="ignore"):
        return np.where((low == high) | (part == 0), low, np.where(part == 1, high, low + part * (high - low)))
