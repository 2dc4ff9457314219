"""Statistics of many blocks as columns: one message, and one merge with the bits that merging block by block has.

Blocks are merged left to right (:mod:`theoryck.montecarlo.moments`), since sums of floating-point numbers depend on their order.
Of Pebay's recurrences only that of the mean has to be stepped through: with the differences D of each block from the mean before
it known, the sums of |values| and M2, M3, M4 are sums of given numbers, of M3 those with M2 before each block, of M4 those with
M3, too.  numpy's ``accumulate`` adds one number after the other, so each number is rounded as in :meth:`Moments.merge`, whose
terms are written here in the same order.  Where the largest |value| grows the scale changes, exactly: such runs of blocks are
taken one by one.

Integer factors such as ab(a-b)/n^2 are quotients of integers that are rounded once there.  For blocks of b = 2^p draws after
a = kb others they are b times k/(k+1), k(k-1)/(k+1)^2 and k(k^2-k+1)/(k+1)^3, whose numerators and denominators are doubles
without error for k^3 < 2^53: the same quotients rounded once.  Others are worked out as integers.

The largest |values| are trimmed when the pool is too long.  As long as the number that is kept grows with the draws that is done
where :meth:`Moments.merge` does it.  Once it is constant, W say, trims can wait: the W largest of the W largest of some and of
others are those of all, and the largest that was dropped is the largest of all that are not among them.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self, overload

import numpy as np
from numpy.typing import NDArray

from theoryck.montecarlo.blocks import Block, groups_of, with_groups
from theoryck.montecarlo.histogram import Histogram
from theoryck.montecarlo.moments import KEPT, MOST_KEPT, Moments, factors, keep_largest, raised
from theoryck.montecarlo.ranks import Ranks

Drawn = tuple[float, Block]  # the seconds that a block took, and the block
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

FEW = 4  # blocks below which columns cost more than they save
BUFFERED = 64  # blocks that wait to be merged together
_EXACT = 2**17  # k below which k^3 and (k + 1)^3 are at most 2^51


@dataclass(frozen=True, slots=True)
class MomentColumns:
    """Moments of blocks: ``numbers`` (8, blocks) are mean, m2, m3, m4, absolute, low, high, floor; ``kept`` how many are largest.

    ``counts`` (blocks, bins) are those of histograms between ``edges``.
    """

    draws: Integers
    exponents: Integers
    numbers: Floats
    kept: Integers
    largest: Floats
    edges: tuple[float, ...] | None = None
    counts: NDArray[Any] | None = None

    @classmethod
    def of(cls, groups: Sequence[Moments]) -> Self:
        """Return the columns of moments whose histograms have the same edges, or that have none."""
        rows = [(one.mean, one.m2, one.m3, one.m4, one.absolute, one.low, one.high, one.floor) for one in groups]
        edges = None if groups[0].histogram is None else groups[0].histogram.edges
        counts = None
        if edges is not None:
            counts = np.array([one.histogram.counts for one in groups])  # type: ignore[union-attr]  # all have one
            counts = counts.astype(np.min_scalar_type(int(counts.max())))  # most are small, and travel
        return cls(
            np.array([one.count for one in groups], dtype=np.int64),
            np.array([one.exponent for one in groups], dtype=np.int64),
            np.ascontiguousarray(np.array(rows, dtype=np.float64).T),
            np.array([len(one.largest) for one in groups], dtype=np.int64),
            np.concatenate([one.largest for one in groups]),
            edges,
            counts,
        )

    def cut(self, begin: int, end: int) -> MomentColumns:
        """Return the columns of some of the blocks."""
        ends = np.cumsum(self.kept)
        first, last = (int(ends[place - 1]) if place else 0 for place in (begin, end))
        where = slice(begin, end)
        counts = None if self.counts is None else self.counts[where]
        columns = (self.draws[where], self.exponents[where], self.numbers[:, where], self.kept[where], self.largest[first:last])
        return MomentColumns(*columns, self.edges, counts)

    def __getitem__(self, place: int) -> Moments:
        """Return the moments of one block."""
        one = self.cut(place, place + 1)
        mean, m2, m3, m4, absolute, low, high, floor = one.numbers[:, 0].tolist()
        counts = None if one.counts is None else tuple(one.counts[0].tolist())
        histogram = None if self.edges is None or counts is None else Histogram(self.edges, counts)
        numbers = (mean, m2, m3, m4, absolute, low, high)
        return Moments(int(one.draws[0]), int(one.exponents[0]), *numbers, one.largest.copy(), floor, histogram)


@dataclass(frozen=True, slots=True)
class BlockColumns(Sequence[Drawn]):
    """What was drawn of several blocks that are kept as moments, as columns; one entry a block, (seconds, block).

    >>> blocks = [Block(Moments.of([float(i), 1.0]), bytes([i] * 16), -1.0) for i in range(5)]
    >>> columns = BlockColumns.of([(0.5, block) for block in blocks])
    >>> len(columns), len(columns[2:]), columns[3][1] == blocks[3]
    (5, 3, True)
    """

    seconds: Floats
    fingerprints: NDArray[np.uint64]  # (blocks, 2)
    coincidences: Floats
    kind: type
    centres: Floats
    groups: tuple[MomentColumns, ...]

    @classmethod
    def of(cls, drawn: Sequence[Drawn]) -> Sequence[Drawn]:
        """Return the columns of blocks, or the blocks themselves where columns save nothing."""
        blocks = [block for _, block in drawn]
        if len(blocks) < FEW or any(isinstance(block.moments, Ranks) for block in blocks):
            return drawn
        return cls(
            np.array([seconds for seconds, _ in drawn]),
            np.frombuffer(b"".join(block.fingerprint for block in blocks), np.uint64).reshape(-1, 2),
            np.array([block.coincidence for block in blocks]),
            type(blocks[0].moments),
            np.array([getattr(block.moments, "centre", 0.0) for block in blocks]),
            tuple(MomentColumns.of(groups) for groups in zip(*(groups_of(block.moments) for block in blocks), strict=True)),
        )

    def __len__(self) -> int:
        return len(self.seconds)

    @overload
    def __getitem__(self, place: int) -> Drawn: ...
    @overload
    def __getitem__(self, place: slice) -> BlockColumns: ...
    def __getitem__(self, place: int | slice) -> Drawn | BlockColumns:
        if isinstance(place, slice):
            begin, end, _ = place.indices(len(self))
            if (begin, end) == (0, len(self)):
                return self
            groups = tuple(group.cut(begin, end) for group in self.groups)
            where = slice(begin, end)
            columns = (self.seconds[where], self.fingerprints[where], self.coincidences[where])
            return BlockColumns(*columns, self.kind, self.centres[where], groups)
        kept = with_groups(self.kind, [group[place] for group in self.groups], float(self.centres[place]))
        return float(self.seconds[place]), Block(kept, self.fingerprints[place].tobytes(), float(self.coincidences[place]))

    def __iter__(self) -> Iterator[Drawn]:
        return (self[place] for place in range(len(self)))

    def equal_to(self, block: Block) -> list[int]:
        """Return the places of blocks that have the draws of another."""
        return np.flatnonzero((self.fingerprints == np.frombuffer(block.fingerprint, np.uint64)).all(axis=1)).tolist()


class Total:
    """What the blocks of one sampler come to, merged left to right in bulk: the bits are those of one merge after the other.

    >>> total, one_by_one = Total(None), Moments()
    >>> blocks = [Block(Moments.of(np.random.default_rng(i).random(64)), bytes(16), 0.0) for i in range(200)]
    >>> for block in blocks:
    ...     total.add([(0.0, block)])
    ...     one_by_one = one_by_one.merge(block.moments)
    >>> total.result() == one_by_one
    True
    """

    def __init__(self, initial: Any) -> None:
        self._state = _State(initial)

    @property
    def blocks(self) -> int:
        """How many were added."""
        return self._state.blocks

    def add(self, drawn: Sequence[Drawn]) -> None:
        """Merge blocks that come next; all of them or, where Ctrl-C comes in between, none."""
        state = self._state
        if isinstance(drawn, BlockColumns):
            state = state.with_columns(drawn)
        elif len(waiting := (*state.waiting, *drawn)) < BUFFERED:
            state = replace(state, waiting=waiting)
        else:
            state = replace(state, waiting=waiting).settled()
        self._state = replace(state, blocks=self.blocks + len(drawn))

    def result(self) -> Any:
        """Return what all blocks come to, None where there was none."""
        self._state = self._state.settled().whole()
        return self._state.total


@dataclass(frozen=True, slots=True)
class _State:
    """What was merged: ``total``, to which the ``sums`` of its groups belong while there are some, and what waits to be."""

    total: Any
    sums: tuple[_Sum, ...] = ()
    waiting: tuple[Drawn, ...] = ()
    blocks: int = 0

    def settled(self) -> _State:
        """Return the state with what waits merged."""
        if not self.waiting:
            return self
        waiting, state = BlockColumns.of(self.waiting), replace(self, waiting=())
        if isinstance(waiting, BlockColumns):
            return state.with_columns(waiting)
        first, kept = state.whole().total, [block.moments for _, block in waiting]
        first, *others = kept if first is None else [first, *kept]
        total = first.merge(*others) if isinstance(first, Ranks) else functools.reduce(_merged_two, others, first)
        return replace(state, total=total, sums=())

    def whole(self) -> _State:
        """Return the state with its groups put together."""
        if not self.sums:
            return self
        groups = [one.result() for one in self.sums]
        return replace(self, total=with_groups(type(self.total), groups, getattr(self.total, "centre", 0.0)), sums=())

    def with_columns(self, columns: BlockColumns) -> _State:
        """Return the state after what waits and, then, more blocks."""
        state = self.settled()
        total = columns[0][1].moments if state.total is None else state.total
        if state.total is None:
            columns = columns[1:]
        centre = getattr(total, "centre", 0.0)
        if (columns.centres != centre).any():
            raise ValueError(f"blocks to be merged must have one centre, got {columns.centres.tolist()} and {centre}")
        sums = state.sums or [_Sum(group, _Pool.of(group)) for group in groups_of(total)]
        added = tuple(one.plus(group) for one, group in zip(sums, columns.groups, strict=True))
        return replace(state, total=total, sums=added)


def _merged_two(first: Any, second: Any) -> Any:
    return first.merge(second)


@dataclass(frozen=True, slots=True)
class _Sum:
    """Moments to which those of blocks are added in bulk; the largest |values| are in the ``pool``."""

    total: Moments
    pool: _Pool

    def plus(self, blocks: MomentColumns) -> _Sum:
        """Return the moments of both, those of the blocks after the others."""
        total, pool = self.total, self.pool
        if not total.count and len(blocks.draws):
            total, blocks = blocks[0], blocks.cut(1, len(blocks.draws))
            pool = _Pool.of(total)
        if not len(blocks.draws):
            return _Sum(total, pool)
        histogram = total.histogram
        if blocks.edges != (None if histogram is None else histogram.edges):
            raise ValueError("moments with other edges of a histogram, or with none, cannot be merged: give the same bins to all")
        if histogram is not None and blocks.counts is not None:
            counts = np.array(histogram.counts, dtype=np.int64) + blocks.counts.sum(axis=0, dtype=np.int64)
            histogram = Histogram(histogram.edges, tuple(counts.tolist()))
        n = total.count + np.cumsum(blocks.draws)
        exponents = np.maximum(np.maximum.accumulate(blocks.exponents), total.exponent)
        # mean, m2, m3, m4 and the sum of |values|, in units of 2^exponent to the power 1, 2, 3, 4, 1
        state, exponent = [total.mean, total.m2, total.m3, total.m4, total.absolute], total.exponent
        for begin, end in _runs(exponents):
            scale = int(exponents[begin])
            state = [float(np.ldexp(each, power * (exponent - scale))) for each, power in zip(state, _POWERS, strict=True)]
            shift = blocks.exponents[begin:end] - scale
            numbers = [np.ldexp(row[begin:end], power * shift) for row, power in zip(blocks.numbers, _POWERS, strict=False)]
            state, exponent = _merged(state, numbers, n[begin:end], blocks.draws[begin:end]), scale
        mean, m2, m3, m4, absolute = state
        lows, highs = blocks.numbers[5], blocks.numbers[6]
        low, high = min(total.low, float(lows[lows.argmin()])), max(total.high, float(highs[highs.argmax()]))  # the first of equals
        numbers_of = (mean, m2, m3, m4, absolute, low, high)
        return _Sum(Moments(int(n[-1]), exponent, *numbers_of, histogram=histogram), pool.plus(blocks, n))

    def result(self) -> Moments:
        """Return the moments."""
        largest, floor = self.pool.result()
        return replace(self.total, largest=largest, floor=floor)


_POWERS = (1, 2, 3, 4, 1)


def _runs(values: Integers) -> Iterator[tuple[int, int]]:
    """Yield the ends of runs of equal values."""
    cuts = [0, *(np.flatnonzero(np.diff(values)) + 1).tolist(), len(values)]
    return itertools.pairwise(cuts)


def _merged(state: list[float], blocks: list[Floats], n: Integers, b: Integers) -> list[float]:
    """Return mean, m2, m3, m4 and absolute after blocks of ``b`` draws, ``n`` in all with each, in the same units."""
    a = n - b
    mean, before = state[0], []
    for each, weight in zip(blocks[0].tolist(), (b / n).tolist(), strict=True):
        delta = each - mean
        before.append(delta)
        mean += delta * weight
    delta = np.array(before)
    second, third, fourth = _factors(a, b)
    _, s2, s3, s4, absolute = blocks
    d2 = delta * delta
    m2 = _added(state[1], s2, d2 * second)
    of_m2 = a * s2 - b * m2[:-1]
    m3 = _added(state[2], s3, d2 * delta * third, 3.0 * delta * of_m2 / n)
    both = 6.0 * d2 * (a * (a / n) * s2 + b * (b / n) * m2[:-1]) / n + 4.0 * delta * (a * s3 - b * m3[:-1]) / n
    m4 = _added(state[3], s4, d2 * d2 * fourth, both)
    return [mean, float(m2[-1]), float(m3[-1]), float(m4[-1]), float(_added(state[4], absolute)[-1])]


def _added(start: float, *terms: Floats) -> Floats:
    """Return the sum before each block and, last, after all: of each block one term is added after the other."""
    each = np.empty(1 + len(terms) * len(terms[0]))
    each[0] = start
    for place, term in enumerate(terms, 1):
        each[place :: len(terms)] = term
    return np.add.accumulate(each)[:: len(terms)]


def _factors(a: Integers, b: Integers) -> tuple[Floats, ...]:
    """Return the :func:`~theoryck.montecarlo.moments.factors` of each block and those before it (see the module)."""
    k = a // b
    fine = (a == k * b) & (b & (b - 1) == 0) & (k < _EXACT)
    k, size = np.where(fine, k, 0), b.astype(np.float64)
    found = size * (k / (k + 1)), size * (k * (k - 1) / (k + 1) ** 2), size * (k * (k * k - k + 1) / (k + 1) ** 3)
    for place in np.flatnonzero(~fine).tolist():
        for column, number in zip(found, factors(int(a[place]), int(b[place])), strict=True):
            column[place] = number
    return found


@dataclass(slots=True)
class _Pool:
    """The largest |values| of moments to which blocks are added, and the largest that was dropped.

    ``length`` is that of the pool where every trim is made in its turn. Of the values in ``late`` MOST_KEPT are to be kept;
    ``dropped`` is the largest that was dropped of them.
    """

    fresh: list[Floats]
    length: int
    floor: float
    late: list[Floats] = field(default_factory=list)
    dropped: float = -1.0

    @classmethod
    def of(cls, total: Moments) -> _Pool:
        """Return that of moments."""
        return cls([total.largest], len(total.largest), total.floor)

    def plus(self, blocks: MomentColumns, n: Integers) -> _Pool:
        """Return the pool with those of blocks, with ``n`` draws in all after each."""
        keep = np.minimum(raised(n), MOST_KEPT)
        limits, ends = np.minimum(2 * keep, KEPT), np.cumsum(blocks.kept)
        floor = max(self.floor, float(blocks.numbers[7].max()))
        pool = _Pool([*self.fresh], self.length, floor, [*self.late], self.dropped)
        first, place, last = 0, 0, len(n)  # the first value and block that are not in the pool
        while place < last:
            over = pool.length - first + ends[place:] > limits[place:]
            at = place + int(over.argmax()) if over.any() else last - 1
            pool.fresh.append(blocks.largest[first : int(ends[at])])
            pool.length, first = pool.length + int(ends[at]) - first, int(ends[at])
            if pool.length > limits[at]:
                pool._trim(int(keep[at]), int(limits[at]))
            place = at + 1
        if sum(map(len, pool.late)) > 2 * KEPT:
            pool._trim_late()
        return pool

    def result(self) -> tuple[Floats, float]:
        """Return them and the largest that was dropped."""
        pool = _Pool([*self.fresh], self.length, self.floor, [*self.late], self.dropped)
        pool._trim_late()
        return np.concatenate([*pool.late, *pool.fresh]), pool.floor

    def _trim(self, keep: int, limit: int) -> None:
        if keep < MOST_KEPT:
            pool, self.floor = keep_largest(np.concatenate(self.fresh), self.floor, keep, limit)
            self.fresh = [pool]
        else:
            # Those that were dropped late leave as many behind as are kept, none of them smaller.
            self.late += [values[values > self.dropped] for values in self.fresh]
            self.fresh = []
        self.length = keep

    def _trim_late(self) -> None:
        if sum(map(len, self.late)) > MOST_KEPT:
            kept, self.dropped = keep_largest(np.concatenate(self.late), self.dropped, MOST_KEPT, MOST_KEPT)
            self.late, self.floor = [kept], max(self.floor, self.dropped)
