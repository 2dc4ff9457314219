"""Which random numbers a block gets: a function of (seed, claim, instance, sizes, block) and of nothing else.

The key is written as canonical JSON, hashed with SHA-256, and the digest is the entropy of a ``numpy`` ``SeedSequence`` whose
spawn key is the block number; the bit generator is SFC64.  ``SeedSequence.spawn`` is not used: it counts how often it was called,
so its children would depend on what ran before.  Two keys that differ anywhere give unrelated streams, and the same key gives the
same bits on any machine, in any process, in any order.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from theoryck.records import Size
from theoryck.records.arguments import integer


def canonical(value: Any, name: str = "value") -> Any:
    """Return ``value`` as plain JSON data (dict, list, str, int, float, bool, None), or raise TypeError naming where it is not.

    >>> canonical({"b": (1, 2), "a": np.int64(3)})
    {'b': [1, 2], 'a': 3}
    """
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.generic):
        return canonical(value.item(), name)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise TypeError(f"{name} must be finite to be part of a random key, got {value!r}")
        return value
    if isinstance(value, Mapping):
        wrong = [key for key in value if not isinstance(key, str)]
        if wrong:
            raise TypeError(f"{name} must have strings as names to be part of a random key, got the name {wrong[0]!r}")
        return {key: canonical(entry, f"{name}[{key!r}]") for key, entry in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return [canonical(entry, f"{name}[{position}]") for position, entry in enumerate(value)]
    raise TypeError(
        f"{name} must be JSON data (numbers, strings, lists, mappings) to be part of a random key, "
        f"got {value!r} of type {type(value).__name__}; give its canonical text instead, for example str(...)"
    )


@dataclass(frozen=True, slots=True)
class Key:
    """What the random numbers of a measurement depend on; ``generator(block)`` gives those of one block.

    ``seed`` is an int >= 0, ``claim`` the claim's id, ``instance`` JSON-able parameters, ``sizes`` numbers.  Raises TypeError or
    ValueError that names the part that is wrong.

    >>> key = Key(0, "demo", {"power": 2}, {"d": 8})
    >>> bool(key.generator(3).random() == block_generator(0, "demo", {"power": 2}, {"d": 8}, 3).random())
    True
    """

    seed: int
    claim: str
    instance: Mapping[str, Any] = field(default_factory=dict)
    sizes: Mapping[str, Size] = field(default_factory=dict)

    def __post_init__(self) -> None:
        seed = integer(self.seed, "seed")
        if not isinstance(self.claim, str):
            raise TypeError(f"claim must be the claim's id (a string), got {self.claim!r}")
        for name in ("instance", "sizes"):
            if not isinstance(getattr(self, name), Mapping):
                raise TypeError(f"{name} must be a mapping of names to values, got {getattr(self, name)!r}")
        object.__setattr__(self, "seed", seed)
        object.__setattr__(self, "instance", canonical(self.instance, "instance"))
        object.__setattr__(self, "sizes", canonical(self.sizes, "sizes"))

    def generator(self, block: int) -> np.random.Generator:
        """Return the SFC64 generator of block number ``block`` (>= 0).

        Raises ValueError unless ``block`` is an integer >= 0.
        """
        return _generator(self._entropy("draws"), integer(block, "block"))

    def probe_generator(self, number: int) -> np.random.Generator:
        """Return a generator unrelated to every block, for trying a sampler without spending the draws of a block."""
        return _generator(self._entropy("probe"), number)

    def _entropy(self, purpose: str) -> int:
        text = json.dumps(
            {"seed": self.seed, "claim": self.claim, "instance": self.instance, "sizes": self.sizes, "purpose": purpose},
            sort_keys=True,
            separators=(",", ":"),
            ensure_ascii=True,
            allow_nan=False,
        )
        return int.from_bytes(hashlib.sha256(text.encode("ascii")).digest(), "big")

    def repeat(self, block: int) -> str:
        """Return the Python expression that gives the generator of ``block`` again."""
        return f"block_generator({self.seed}, {self.claim!r}, {self.instance!r}, {self.sizes!r}, {block})"


def _generator(entropy: int, number: int) -> np.random.Generator:
    # pool_size 8 holds all 256 bits of the digest; the default of 4 would mix them down to 128.
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(entropy, spawn_key=(number,), pool_size=8)))


def block_generator(
    seed: int, claim: str, instance: Mapping[str, Any], sizes: Mapping[str, Size], block: int
) -> np.random.Generator:
    """Return the SFC64 generator of one block: a function of the five arguments only (see the module's docstring).

    >>> block_generator(0, "demo", {}, {"d": 8}, 0).integers(1000, size=3).tolist()
    [652, 571, 71]
    """
    return Key(seed, claim, instance, sizes).generator(block)
