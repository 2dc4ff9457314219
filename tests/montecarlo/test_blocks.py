"""Blocks as bytes, and sampling through a store: same bits whoever has drawn what."""

import math
import struct
from dataclasses import fields

import numpy as np
import pytest

from theoryck.montecarlo import (
    Block,
    BlockFormatError,
    Key,
    Moments,
    ProcessExecutor,
    Request,
    SamplerError,
    SerialExecutor,
    Stream,
    TwoSidedMoments,
    pack,
    sample,
    sample_jointly,
    sample_two_sided,
    unpack,
)

KEY = Key(5, "store", {"k": 2}, {"d": 8})
EDGES = (-1.0, 0.0, 0.25)
PROBE = 2  # draws of a first try, for blocks of 128


def bits(moments):
    """Every bit of the moments: doubles by their bytes, so that -0.0 is not 0.0."""
    if isinstance(moments, TwoSidedMoments):
        return tuple(bits(getattr(moments, part)) for part in ("low", "high", "middle", "gap"))
    told = []
    for field in fields(moments):
        value = getattr(moments, field.name)
        told.append(struct.pack("<d", value) if isinstance(value, float) else value)
    largest = told[9]
    return (*told[:9], largest.dtype, largest.tobytes(), *told[10:])


class Shelf:
    """A store in memory that counts and keeps bytes only."""

    def __init__(self):
        self.blocks, self.loaded = {}, []

    def held(self, stream, first, last):
        return [(number, draws) for name, number, draws in self.blocks if name == repr(stream) and first <= number <= last]

    def load(self, stream, number, draws):
        self.loaded.append(number)
        body = self.blocks.get((repr(stream), number, draws))
        return None if body is None else unpack(body, stream.bins)

    def save(self, stream, number, draws, block):
        self.blocks[repr(stream), number, draws] = pack(block)


class Counted:
    """A Gaussian sampler that counts its calls with whole blocks (a probe asks for less)."""

    def __init__(self):
        self.calls = 0

    def __call__(self, rng, draws):
        self.calls += draws > PROBE
        return rng.standard_normal(draws)


def normal(rng, draws):
    return rng.standard_normal(draws)


def ends(rng, draws):
    middle = rng.standard_normal(draws)
    return np.column_stack([middle - 0.5, middle + 0.25, middle])


# -- bytes ------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "values",
    [
        [0.5],
        [-0.0, -0.0],
        [5e-324, -5e-324, 1e-310],
        [1e300, -1.7e308, 3.0],
        np.random.default_rng(0).standard_cauchy(70_000),
    ],
    ids=["one", "minus-zero", "subnormal", "huge", "many"],
)
@pytest.mark.parametrize("bins", [None, EDGES])
def test_what_is_unpacked_has_the_same_bits(values, bins):
    block = Block(Moments.of(values, bins), bytes(range(16)), -math.pi)
    again = unpack(pack(block), bins)
    assert bits(again.moments) == bits(block.moments)
    assert (again.fingerprint, again.coincidence) == (block.fingerprint, block.coincidence)


def test_two_sided_moments_too():
    block = Block(TwoSidedMoments.of(ends(np.random.default_rng(1), 5000)), bytes(16), -0.0)
    assert bits(unpack(pack(block)).moments) == bits(block.moments)


def test_the_layout_is_the_one_described():
    data = pack(Block(Moments.of([1.0, 3.0], (2.0,)), b"f" * 16, -1.5))
    head = struct.pack("<BB16sd", 1, 1, b"f" * 16, -1.5)
    # Values are in units of 2^2: mean 2/4, deviations +-1/4, so m2 = 2/16, m3 = 0, m4 = 2/256, the sum of |values| is 4/4.
    group = struct.pack("<Qi8dI2dI2q", 2, 2, 0.5, 0.125, 0.0, 2 / 256, 1.0, 1.0, 3.0, -1.0, 2, 1.0, 3.0, 2, 1, 1)
    assert data == head + group


@pytest.mark.parametrize("cut", [0, 10, 26, 60, -8, -1])
def test_bytes_that_were_cut_are_refused(cut):
    data = pack(Block(Moments.of([1.0, 2.0]), bytes(16), 0.0))
    with pytest.raises(BlockFormatError, match="a block of"):
        unpack(data[:cut] if cut else b"")
    with pytest.raises(BlockFormatError, match="ends after"):
        unpack(data + b"\0")


def test_another_version_and_other_edges_are_refused():
    data = pack(Block(Moments.of([1.0, 2.0]), bytes(16), 0.0))
    with pytest.raises(BlockFormatError, match="version 2, kind 1"):
        unpack(b"\2" + data[1:])
    with pytest.raises(BlockFormatError, match="0 counts, for 3 edges"):
        unpack(data, EDGES)


# -- a store ----------------------------------------------------------------------------------------------------------------------


def test_nothing_is_drawn_twice_and_the_bits_are_the_same():
    plain = sample(normal, KEY, draws=1000, block_draws=128)
    store, sampler = Shelf(), Counted()
    first = sample(sampler, KEY, draws=1000, block_draws=128, store=store)
    assert sampler.calls == len(store.blocks) == 8
    again = sample(sampler, KEY, draws=1000, block_draws=128, store=store)
    assert sampler.calls == 8
    assert store.loaded == [*range(8)]
    assert bits(first) == bits(again) == bits(plain)


@pytest.mark.parametrize("held", [[0], [7], [1, 3, 5], [0, 1, 2, 3, 4, 5, 6]], ids=str)
@pytest.mark.parametrize("make", [SerialExecutor, lambda: ProcessExecutor(2)], ids=["serial", "processes"])
def test_holes_are_filled_in_their_place(held, make):
    plain, full = sample(normal, KEY, draws=1000, block_draws=128, bins=EDGES), Shelf()
    sample(normal, KEY, draws=1000, block_draws=128, bins=EDGES, store=full)
    store = Shelf()
    store.blocks = {name: body for name, body in full.blocks.items() if name[1] in held}
    with make() as executor:
        got = sample(normal, KEY, draws=1000, block_draws=128, bins=EDGES, store=store, executor=executor)
    assert bits(got) == bits(plain)
    assert store.loaded == held
    assert store.blocks == full.blocks


def test_two_sided_and_joint_requests_go_through_their_stores():
    store = Shelf()
    requests = [
        Request(normal, KEY, 700, 128, store=store),
        Request(ends, KEY, 500, 128, two_sided=True, store=store),
        Request(normal, KEY, 300, 128, bins=EDGES, store=store),
    ]
    first = sample_jointly(requests)
    assert len(store.blocks) == 6 + 4 + 3
    assert not store.loaded
    again = sample_jointly(requests)
    assert len(store.loaded) == 13
    assert [bits(one) for one in first] == [bits(one) for one in again]
    assert bits(first[1]) == bits(sample_two_sided(ends, KEY, draws=500, block_draws=128))


def test_a_shorter_last_block_is_another_block():
    store, sampler = Shelf(), Counted()
    sample(sampler, KEY, draws=300, block_draws=128, store=store)
    got = sample(sampler, KEY, draws=384, block_draws=128, store=store)
    assert sampler.calls == 4  # of the third block, 44 draws were there and 128 are wanted
    assert bits(got) == bits(sample(normal, KEY, draws=384, block_draws=128))


def test_a_block_that_somebody_deletes_meanwhile_is_drawn():
    class Forgetful(Shelf):
        def load(self, stream, number, draws):
            if number == 2:
                self.blocks.pop((repr(stream), number, draws), None)
            return super().load(stream, number, draws)

    store = Forgetful()
    plain = sample(normal, KEY, draws=640, block_draws=128, store=store)
    with ProcessExecutor(2) as executor:
        sample(normal, Key(0, "other"), draws=1, block_draws=1, executor=executor)
        assert bits(sample(normal, KEY, draws=640, block_draws=128, store=store, executor=executor)) == bits(plain)
    assert (repr(Stream(KEY)), 2, 128) in store.blocks


def test_what_was_finished_is_kept_when_a_later_block_fails():
    def fails_late(rng, draws):
        values = rng.standard_normal(draws)
        if PROBE < draws < 128:
            values[0] = np.nan
        return values

    store = Shelf()
    with pytest.raises(SamplerError, match="not finite"):
        sample(fails_late, KEY, draws=300, block_draws=128, store=store)
    assert sorted(number for _, number, _ in store.blocks) == [0, 1]


def test_a_sampler_that_ignores_rng_is_found_out_by_blocks_from_a_store():
    fixed = np.random.default_rng(3).standard_normal(16)  # too few draws for a first try: only blocks can be compared
    store = Shelf()
    sample(lambda rng, draws: fixed[:draws], KEY, draws=16, block_draws=16, store=store)
    with pytest.raises(SamplerError, match="block 1 has exactly the draws of an earlier block"):
        sample(lambda rng, draws: fixed[:draws], KEY, draws=32, block_draws=16, store=store)
    assert store.loaded == [0]
    assert [number for _, number, _ in store.blocks] == [0]  # the block that gave it away is not kept
