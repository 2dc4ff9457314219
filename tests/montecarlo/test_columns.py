"""Blocks merged in bulk have the bits of merging one after the other, whatever their scale, their law and how they come."""

import functools

import numpy as np
import pytest

from theoryck.montecarlo import Block, Moments, Ranks, columns, moments
from theoryck.montecarlo.blocks import groups_of
from theoryck.montecarlo.columns import FEW, BlockColumns, Total
from theoryck.montecarlo.spread import Spread
from theoryck.montecarlo.two_sided import TwoSidedMoments

LAWS = {
    "normal": lambda rng, size: rng.standard_normal(size) + 0.3,
    "cauchy": lambda rng, size: rng.standard_cauchy(size).clip(-1e7, 1e7),
    "signs": lambda rng, size: rng.integers(-1, 2, size).astype(float),
    "zeros": lambda rng, size: rng.standard_normal(size) * (rng.random() < 0.5),
}
SIZES = {
    "powers of two": [64] * 200,
    "single draws": [1] * 100,
    "others": [100] * 100 + [37],
    "changing": [(7 * i) % 90 + 1 for i in range(100)],
}


def bits(group):
    numbers = (group.mean, group.m2, group.m3, group.m4, group.absolute, group.low, group.high, group.floor)
    return group.count, group.exponent, [number.hex() for number in numbers], sorted(group.largest.tolist()), group.histogram


def in_bulk(kept, rng, initial=None):
    """Merge what is kept of blocks that come as columns and one by one, several at a time."""
    drawn = [(0.1, Block(each, rng.bytes(16), -1.0)) for each in kept]
    total, place = Total(initial), 0
    while place < len(drawn):
        part = drawn[place : place + int(rng.integers(1, 90))]
        total.add(BlockColumns.of(part) if rng.random() < 0.7 else part)
        place += len(part)
    assert total.blocks == len(kept)
    return total.result()


def assert_same_bits(kept, rng, initial=None):
    one_by_one = functools.reduce(lambda first, second: first.merge(second), kept if initial is None else [initial, *kept])
    found = in_bulk(kept, rng, initial)
    assert type(found) is type(one_by_one)
    for group, wanted in zip(groups_of(found), groups_of(one_by_one), strict=True):
        assert bits(group) == bits(wanted)


@pytest.mark.parametrize("scale", [1.0, 3e-310, 1e300])
@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("law", LAWS)
def test_moments(law, sizes, scale):
    rng = np.random.default_rng(0)
    assert_same_bits([Moments.of(LAWS[law](rng, size) * scale) for size in SIZES[sizes]], rng)


@pytest.mark.parametrize("kept", [300, 2000])
def test_trims_that_wait_keep_the_same_values(kept, monkeypatch):
    """With few values kept, as after 1e8 draws, and with blocks whose values are all larger than those of others."""
    for module in (moments, columns):
        monkeypatch.setattr(module, "KEPT", kept)
        monkeypatch.setattr(module, "MOST_KEPT", kept - kept // 16)
    rng = np.random.default_rng(1)
    assert_same_bits([Moments.of(rng.standard_normal(4096) * (1 + 100 * (rng.random() < 0.05))) for _ in range(700)], rng)
    assert_same_bits([Moments.of(rng.integers(0, 50, 4096).astype(float)) for _ in range(300)], rng)


def test_what_else_is_kept():
    rng = np.random.default_rng(2)
    assert_same_bits([Moments.of(rng.standard_normal(64), [-1.0, 0.0, 1.0]) for _ in range(150)], rng)
    assert_same_bits([TwoSidedMoments.of(rng.standard_normal((16, 3))) for _ in range(150)], rng)
    assert_same_bits([Spread.of(rng.standard_normal(16), 0.2) for _ in range(150)], rng)
    first = Moments.of(rng.standard_normal(640))
    assert_same_bits([Moments.of(rng.standard_normal(64)) for _ in range(150)], rng, initial=first)
    assert_same_bits([Moments.of(rng.standard_normal(64)) for _ in range(150)], rng, initial=Moments())
    ranks = [Ranks.of(rng.standard_normal(64), 0.0) for _ in range(150)]
    found, wanted = in_bulk(ranks, rng), functools.reduce(lambda first, second: first.merge(second), ranks)
    for column in ("bins", "counts", "lows", "highs"):
        assert np.array_equal(getattr(found, column), getattr(wanted, column))


def test_columns_give_the_blocks_back():
    rng = np.random.default_rng(3)
    drawn = [(0.1 * i, Block(Moments.of(rng.standard_normal(70 * (i + 1)), [0.0]), rng.bytes(16), -float(i))) for i in range(9)]
    found = BlockColumns.of(drawn)
    assert isinstance(found, BlockColumns)
    assert list(found) == drawn
    assert list(found[2:5]) == drawn[2:5]
    assert found.equal_to(drawn[4][1]) == [4]
    assert BlockColumns.of(drawn[: FEW - 1]) == drawn[: FEW - 1]


def test_blocks_with_other_bins_or_centres_are_refused():
    rng = np.random.default_rng(4)
    plain, binned = ([(0.0, Block(Moments.of(rng.random(8), bins), bytes(16), 0.0)) for _ in range(8)] for bins in (None, [0.5]))
    total = Total(None)
    total.add(BlockColumns.of(plain))
    with pytest.raises(ValueError, match="give the same bins to all"):
        total.add(BlockColumns.of(binned))
    assert total.blocks == 8
    assert total.result().count == 64
    other = [(0.0, Block(Spread.of(rng.random(8), centre), bytes(16), 0.0)) for centre in (0.0, 0.0, 0.0, 1.0)]
    with pytest.raises(ValueError, match="one centre"):
        Total(None).add(BlockColumns.of(other))
