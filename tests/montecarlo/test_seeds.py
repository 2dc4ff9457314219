"""Random numbers are a function of the key: equal keys equal bits, different keys unrelated streams."""

import hashlib
import json
import subprocess
import sys

import numpy as np
import pytest

from theoryck.montecarlo import Key, block_generator
from theoryck.montecarlo.seeds import canonical


def numbers(key: Key, block: int = 0) -> list[int]:
    return key.generator(block).integers(2**63, size=4).tolist()


def test_the_construction_is_the_documented_one() -> None:
    # Written out by hand: canonical JSON, SHA-256, SeedSequence with the block as spawn key, SFC64.
    data = {"seed": 7, "claim": "c", "instance": {"k": 2}, "sizes": {"d": 8}, "purpose": "draws"}
    digest = hashlib.sha256(json.dumps(data, sort_keys=True, separators=(",", ":")).encode()).digest()
    sequence = np.random.SeedSequence(int.from_bytes(digest, "big"), spawn_key=(3,), pool_size=8)
    expected = np.random.Generator(np.random.SFC64(sequence)).random(5)
    assert block_generator(7, "c", {"k": 2}, {"d": 8}, 3).random(5).tolist() == expected.tolist()


def test_order_of_names_and_number_types_do_not_matter() -> None:
    first = Key(0, "c", {"a": 1, "b": (1, 2)}, {"d": 8, "n": 4})
    second = Key(0, "c", {"b": [1, 2], "a": np.int64(1)}, {"n": np.int32(4), "d": 8})
    assert numbers(first) == numbers(second)


@pytest.mark.parametrize(
    "other",
    [
        Key(1, "c", {"a": 1}, {"d": 8}),
        Key(0, "e", {"a": 1}, {"d": 8}),
        Key(0, "c", {"a": 2}, {"d": 8}),
        Key(0, "c", {"a": "1"}, {"d": 8}),
        Key(0, "c", {"b": 1}, {"d": 8}),
        Key(0, "c", {"a": 1}, {"d": 16}),
        Key(0, "c", {}, {"a": 1, "d": 8}),
    ],
)
def test_every_part_of_the_key_matters(other: Key) -> None:
    key = Key(0, "c", {"a": 1}, {"d": 8})
    # Equal by chance: 2^-252.
    assert numbers(key) != numbers(other)


def test_blocks_and_tries_have_their_own_streams_whatever_ran_before() -> None:
    key = Key(0, "c")
    late = numbers(key, 5)
    streams = [numbers(key, block) for block in range(5)] + [late, key.probe_generator(0).integers(2**63, size=4).tolist()]
    assert numbers(key, 5) == late
    assert len({tuple(stream) for stream in streams}) == len(streams)


def test_another_process_gets_the_same_bits() -> None:
    code = (
        "from theoryck.montecarlo import Key; print(Key(0, 'c', {'a': 1}, {'d': 8}).generator(2).integers(2**63, size=4).tolist())"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == str(numbers(Key(0, "c", {"a": 1}, {"d": 8}), 2))


def test_streams_of_blocks_are_uncorrelated() -> None:
    # 64 blocks of 4096 normals: the sum over pairs of squared correlations times 4096 is chi-square with 2016 degrees, whose
    # mean is 2016 and standard deviation sqrt(2 * 2016) = 63.5; five of them happen by chance with probability below 1e-6.
    key = Key(0, "independence")
    table = np.array([key.generator(block).standard_normal(4096) for block in range(64)])
    correlation = np.corrcoef(table)[np.triu_indices(64, 1)]
    assert abs(4096 * np.square(correlation).sum() - 2016) < 5 * 63.5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-1, "c"), "seed must be an integer >= 0, got -1"),
        ((True, "c"), "seed must be an integer >= 0, got True"),
        ((0, 3), "claim must be the claim's id"),
        ((0, "c", 5), "instance must be a mapping"),
        ((0, "c", {"a": {1, 2}}), r"instance\['a'\] must be JSON data"),
        ((0, "c", {"a": [1, float("nan")]}), r"instance\['a'\]\[1\] must be finite"),
        ((0, "c", {1: 2}), "must have strings as names"),
    ],
)
def test_what_cannot_be_a_key_is_named(arguments: tuple, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        Key(*arguments)


def test_a_negative_block_is_an_error() -> None:
    with pytest.raises(ValueError, match="block must be an integer >= 0, got -1"):
        Key(0, "c").generator(-1)


def test_canonical_gives_plain_data() -> None:
    assert canonical({"a": np.float64(0.5), "b": (True, None)}) == {"a": 0.5, "b": [True, None]}
