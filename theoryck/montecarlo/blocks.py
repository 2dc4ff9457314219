"""What is kept of one block, how it is written as bytes, and the store in which it may be found again.

Format of the bytes, version 1 (u1, u4, u8, i4, i8 are little-endian integers of so many bytes, f8 little-endian doubles):
    version u1 = 1, kind u1 (1 one-sided, 2 two-sided, 3 spread, 4 ranks), fingerprint (16 bytes), coincidence f8,
    of a spread or ranks the centre f8,
    of ranks b u4, then b bins i8, b counts i8, b lows f8 and b highs f8,
    else one group of moments, of a spread two (draws, squares) or, two-sided, four (low, high, middle, gap), each of them
        count u8, exponent i4, mean, m2, m3, m4, absolute, low, high, floor (f8 each),
        n u4 and n f8: the largest |values| in their order,
        e u4 and e i8: the counts of the histogram (its edges belong to the stream, not to the block).
Doubles are written as they are, so that what is read has the same bits; nothing in these bytes is ever run.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from theoryck.montecarlo.histogram import Histogram
from theoryck.montecarlo.moments import Moments
from theoryck.montecarlo.ranks import Ranks
from theoryck.montecarlo.seeds import Key
from theoryck.montecarlo.spread import Spread
from theoryck.montecarlo.two_sided import TwoSidedMoments

_VERSION = 1
_HEAD = struct.Struct("<BB16sd")
_GROUP = struct.Struct("<Qi8dI")
_LENGTH = struct.Struct("<I")
_CENTRE = struct.Struct("<d")
_COLUMNS = ("<i8", "<i8", "<f8", "<f8")  # of ranks: bins, counts, lows, highs


@dataclass(frozen=True, slots=True)
class Block:
    """What a worker sends back: what is kept of the draws, a fingerprint of them, log10 of the chance that another block equals it.

    >>> block = Block(Moments.of([1.0, 2.0, 6.0]), fingerprint=bytes(16), coincidence=-1.0)
    >>> block.moments.estimate().value, block.moments.count
    (3.0, 3)
    """

    moments: Moments | TwoSidedMoments | Spread | Ranks
    fingerprint: bytes
    coincidence: float


@dataclass(frozen=True, slots=True)
class Stream:
    """The blocks of one sampler that can be merged: the random key, the edges of the histogram, one number a draw or three.

    ``summary`` is what is kept of draws ("moments", "spread", "ranks"), about ``centre``.

    >>> Stream(Key(0, "example/claim", {"k": 2}, {"d": 16})) == Stream(Key(0, "example/claim", {"k": 2}, {"d": 32}))
    False
    """

    key: Key
    bins: tuple[float, ...] | None = None
    two_sided: bool = False
    summary: str = "moments"
    centre: float | None = None


def groups_of(kept: Any) -> tuple[Moments, ...]:
    """Return the moments that something which is kept of draws consists of."""
    match kept:
        case TwoSidedMoments(low, high, middle, gap):
            return low, high, middle, gap
        case Spread(_, draws, squares):
            return draws, squares
        case _:
            return (kept,)


def with_groups(kind: type, groups: Sequence[Any], centre: float) -> Any:
    """Inverse of :func:`groups_of`, for what is kept as ``kind``."""
    if kind is Spread:
        return Spread(centre, *groups)
    return TwoSidedMoments(*groups) if kind is TwoSidedMoments else groups[0]


class BlockStore(Protocol):
    """Where the blocks of one sampler are kept; who makes it answers for the sampler being the one that drew them.

    A block is named by its stream, its number and its draws.  ``held`` says which of the numbers from ``first`` to ``last`` are
    there, as pairs (number, draws); ``load`` gives one of them, or None when it has gone since; ``save`` keeps one.

    >>> from theoryck.montecarlo import sample
    >>> class Memory(dict):
    ...     def held(self, stream, first, last):
    ...         return [(number, draws) for name, number, draws in self if name == repr(stream) and first <= number <= last]
    ...     def load(self, stream, number, draws):
    ...         return self.get((repr(stream), number, draws))
    ...     def save(self, stream, number, draws, block):
    ...         self[repr(stream), number, draws] = block
    >>> store = Memory()
    >>> first = sample(lambda rng, draws: rng.random(draws), Key(0, "example"), draws=400, block_draws=100, store=store)
    >>> again = sample(lambda rng, draws: 1 / 0, Key(0, "example"), draws=400, block_draws=100, store=store)  # nothing is drawn
    >>> len(store), round(first.estimate().value, 4), round(again.estimate().value, 4)
    (4, 0.5077, 0.5077)
    """

    def held(self, stream: Stream, first: int, last: int) -> Iterable[tuple[int, int]]:
        """Return the pairs (number, draws) of the blocks that are there."""
        ...

    def load(self, stream: Stream, number: int, draws: int) -> Block | None:
        """Return a block, or None when it is not there."""
        ...

    def save(self, stream: Stream, number: int, draws: int, block: Block) -> None:
        """Keep a block."""
        ...


class BlockFormatError(ValueError):
    """Bytes that are no block.

    >>> unpack(b"no block")
    Traceback (most recent call last):
        ...
    theoryck.montecarlo.blocks.BlockFormatError: a block of 8 bytes is too short, it has 26 at least: draw it again
    """


def pack(block: Block) -> bytes:
    """Return the bytes of a block in the format of the module's docstring.

    >>> found = unpack(pack(Block(Moments.of([1.0, 2.0]), bytes(16), -1.0)))
    >>> found.moments.count, found.moments.estimate().value, found.coincidence
    (2, 1.5, -1.0)
    """
    match block.moments:
        case Moments() as moments:
            kind, parts = 1, [_pack_group(moments)]
        case TwoSidedMoments() as moments:
            kind, parts = 2, [_pack_group(group) for group in groups_of(moments)]
        case Spread(centre) as moments:
            kind, parts = 3, [_CENTRE.pack(centre), *(_pack_group(group) for group in groups_of(moments))]
        case Ranks() as ranks:
            columns = zip(_COLUMNS, (ranks.bins, ranks.counts, ranks.lows, ranks.highs), strict=True)
            parts = [
                _CENTRE.pack(ranks.centre),
                _LENGTH.pack(len(ranks.bins)),
                *(column.astype(form).tobytes() for form, column in columns),
            ]
            kind = 4
    return b"".join([_HEAD.pack(_VERSION, kind, block.fingerprint, block.coincidence), *parts])


def _pack_group(moments: Moments) -> bytes:
    numbers = (moments.mean, moments.m2, moments.m3, moments.m4, moments.absolute, moments.low, moments.high, moments.floor)
    counts = moments.histogram.counts if moments.histogram is not None else ()
    return b"".join(
        [
            _GROUP.pack(moments.count, moments.exponent, *numbers, len(moments.largest)),
            moments.largest.astype("<f8").tobytes(),
            _LENGTH.pack(len(counts)),
            np.array(counts, dtype="<i8").tobytes(),
        ]
    )


def unpack(data: bytes, bins: Sequence[float] | None = None) -> Block:
    """Return the block that :func:`pack` wrote, with the edges ``bins`` of its histogram; BlockFormatError for anything else.

    >>> unpack(b"no block")
    Traceback (most recent call last):
    theoryck.montecarlo.blocks.BlockFormatError: a block of 8 bytes is too short, it has 26 at least: draw it again
    """
    if len(data) < _HEAD.size:
        raise BlockFormatError(f"a block of {len(data)} bytes is too short, it has {_HEAD.size} at least: draw it again")
    version, kind, fingerprint, coincidence = _HEAD.unpack_from(data)
    if version != _VERSION or kind not in (1, 2, 3, 4):
        raise BlockFormatError(f"a block of version {version}, kind {kind}: this theoryck reads version {_VERSION}, kinds 1 to 4")
    place = _HEAD.size
    try:
        centre = _CENTRE.unpack_from(data, place)[0] if kind > 2 else 0.0
        place += _CENTRE.size if kind > 2 else 0
        if kind == 4:
            ranks, place = _unpack_ranks(data, place, centre)
            groups: list[Any] = [ranks]
        else:
            groups = []
            for _ in range((1, 4, 2)[kind - 1]):
                group, place = _unpack_group(data, place, None if bins is None else tuple(bins))
                groups.append(group)
    except BlockFormatError:
        raise
    except (struct.error, ValueError) as error:
        raise BlockFormatError(f"a block of {len(data)} bytes is cut off: {error}") from error
    if place != len(data):
        raise BlockFormatError(f"a block of {len(data)} bytes ends after {place}")
    return Block(with_groups((Moments, TwoSidedMoments, Spread, Ranks)[kind - 1], groups, centre), fingerprint, coincidence)


def _unpack_ranks(data: bytes, place: int, centre: float) -> tuple[Ranks, int]:
    (size,) = _LENGTH.unpack_from(data, place)
    place += _LENGTH.size
    columns = [np.frombuffer(data, kind, size, place + 8 * size * i).astype(kind[1:]) for i, kind in enumerate(_COLUMNS)]
    return Ranks(centre, *columns), place + 8 * size * len(_COLUMNS)


def _unpack_group(data: bytes, place: int, bins: tuple[float, ...] | None) -> tuple[Moments, int]:
    count, exponent, *numbers, size = _GROUP.unpack_from(data, place)
    place += _GROUP.size
    largest = np.frombuffer(data, "<f8", size, place).astype(np.float64)
    place += 8 * size
    (cells,) = _LENGTH.unpack_from(data, place)
    place += _LENGTH.size
    counts = tuple(np.frombuffer(data, "<i8", cells, place).tolist())
    place += 8 * cells
    if cells != (0 if bins is None else len(bins) + 1):
        raise BlockFormatError(f"a block whose histogram has {cells} counts, for {0 if bins is None else len(bins)} edges")
    mean, m2, m3, m4, absolute, low, high, floor = numbers
    histogram = None if bins is None else Histogram(bins, counts)
    return Moments(count, exponent, mean, m2, m3, m4, absolute, low, high, largest, floor, histogram), place
