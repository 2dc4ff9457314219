"""The ledger as samplers and sessions use it: a shelf for each quantity, on which blocks are put and found."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from theoryck.ledger.contents import Entry, Pruned, entries, prune
from theoryck.ledger.file import REPLACE, LedgerError, checksum, open_whole, speaking
from theoryck.montecarlo.blocks import Block, BlockFormatError, Stream, pack, unpack
from theoryck.montecarlo.seeds import Key, canonical

if TYPE_CHECKING:
    from theoryck.quantities import Quantity


def written(value: Any) -> str:
    """Return canonical JSON."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


class Ledger:
    """A SQLite file of block statistics (see :mod:`theoryck.ledger`); ``reused`` and ``stored`` count draws of this process.

    ``path`` is made where there is none or where it is empty.  Raises LedgerError for a file that is foreign, damaged, of another
    schema, or cannot be opened; it is left as it is.  With ``read_only`` nothing is written and the file must exist.

    >>> import tempfile, theoryck as tc
    >>> from theoryck.checking.check import check_claims
    >>> @tc.quantity(cost=1)
    ... def inverse(rng, draws, *, d):
    ...     return (1 + rng.standard_normal(draws) / 10) / d
    >>> @tc.conjecture("example/inverse")
    ... def claim():
    ...     "Q = O(1/d)"
    ...     return tc.Bound(inverse, rate="1/d", along=tc.ScalingPath(d=tc.doubling(8, 64)))
    >>> with tempfile.TemporaryDirectory() as folder, Ledger(f"{folder}/draws.ledger") as ledger:
    ...     first = check_claims(claim, workers=1, draws=1000, ledger=ledger).results[0]
    ...     again = check_claims(claim, workers=1, draws=1000, ledger=ledger).results[0]
    ...     print(ledger.stored, ledger.reused, first.points == again.points)
    4000 4000 True
    """

    def __init__(self, path: str | os.PathLike[str], *, read_only: bool = False) -> None:
        self.path = Path(path)
        self.read_only = read_only
        self.reused = self.stored = 0
        self.refusals: list[str] = []
        self._db: sqlite3.Connection | None = open_whole(self.path, read_only)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; closing twice is no error."""
        if self._db is not None:
            self._db.close()
            self._db = None

    @property
    def db(self) -> sqlite3.Connection:
        """The connection; LedgerError once the ledger is closed."""
        if self._db is None:
            raise LedgerError(f"the ledger {self.path} is closed: open it again with Ledger(path)")
        return self._db

    def shelf(self, quantity: Quantity) -> Shelf:
        """Return where the blocks of a quantity are kept; its ``refusal`` says why they are not, where its code cannot be told."""
        try:
            fingerprint = quantity.fingerprint()
            parameters = canonical(quantity.parameters, "parameters")
        except TypeError as error:
            refusal = f"{quantity.name}: {error}; give that value as plain data, or make it inside the sampler"
            if refusal not in self.refusals:
                self.refusals.append(refusal)
            return Shelf(self, {}, "", refusal)
        drawn = {"quantity": quantity.name, "parameters": parameters, "code": fingerprint.code}
        return Shelf(self, drawn, written(dict(fingerprint.files)))

    def summary(self) -> str:
        """Say how many draws were reused and kept so far, and what is not kept and why."""
        first = f"ledger {self.path}: {self.reused} draws reused, {self.stored} drawn and kept"
        return "\n".join([first, *(f"  not kept: {refusal}" for refusal in self.refusals)])

    def entries(self) -> list[Entry]:
        """Return what the ledger holds, one entry for each claim, quantity, instance, seed and code."""
        with speaking(self.path):
            return entries(self.db)

    def prune(
        self, *, stale: bool = False, claim: str | None = None, older_than: float | None = None, dry_run: bool = False
    ) -> Pruned:
        """Delete what meets all conditions given (everything if none is) and shrink the file; see :class:`Pruned`.

        ``stale``: drawn by code that is no more; ``claim``: an id or a pattern of ids; ``older_than``: days since the last block.
        """
        with speaking(self.path):
            return prune(self.db, self.path, stale, claim, older_than, dry_run)

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction: all of it or nothing, whatever interrupts it."""
        db = self.db
        with speaking(self.path):
            try:
                db.execute("BEGIN IMMEDIATE")
                yield db
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise


class Shelf:
    """The blocks of one quantity in a ledger: what :class:`~theoryck.montecarlo.BlockStore` asks for, and timings.

    >>> import tempfile
    >>> from theoryck.montecarlo import sample
    >>> from theoryck.theory.networks import norm_deviation
    >>> from theoryck.theory.networks import DeepNetwork
    >>> quantity, sizes = norm_deviation(DeepNetwork("x", depth=0)), {"input_dim": 8}
    >>> with tempfile.TemporaryDirectory() as folder, Ledger(f"{folder}/draws.ledger") as ledger:
    ...     for _ in range(2):
    ...         shelf = ledger.shelf(quantity)
    ...         found = sample(quantity.sampler(sizes), Key(0, "example"), draws=600, block_draws=300, store=shelf)
    ...         print(ledger.stored, ledger.reused, found.count)
    600 0 600
    600 600 600
    """

    def __init__(self, ledger: Ledger, drawn: Mapping[str, Any], files: str, refusal: str = "") -> None:
        self.ledger = ledger
        self.refusal = refusal
        self._drawn = drawn
        self._files = files

    def _name(self, stream: Stream) -> tuple[bytes, str]:
        bins = None
        if stream.bins is not None:
            bins = [len(stream.bins), hashlib.sha256(" ".join(edge.hex() for edge in stream.bins).encode()).hexdigest()]
        other = {} if stream.summary == "moments" else {"summary": stream.summary, "centre": stream.centre}
        return self._described({**_random(stream.key), "bins": bins, "two_sided": stream.two_sided, **other})

    def _described(self, what: Mapping[str, Any]) -> tuple[bytes, str]:
        text = written({**self._drawn, **what})
        return hashlib.sha256(text.encode()).digest(), text

    def held(self, stream: Stream, first: int, last: int) -> list[tuple[int, int]]:
        """Return the pairs (number, draws) that are there."""
        if self.refusal:
            return []
        with speaking(self.ledger.path):
            question = "SELECT block, draws FROM blocks WHERE stream = ? AND block BETWEEN ? AND ?"
            return self.ledger.db.execute(question, (self._name(stream)[0], first, last)).fetchall()

    def load(self, stream: Stream, number: int, draws: int) -> Block | None:
        """Return a block, or None when it is not there; LedgerError when it does not have its checksum."""
        if self.refusal:
            return None
        name = self._name(stream)[0]
        with speaking(self.ledger.path):
            question = "SELECT made, body, checksum FROM blocks WHERE stream = ? AND block = ? AND draws = ?"
            row = self.ledger.db.execute(question, (name, number, draws)).fetchone()
        if row is None:
            return None
        made, body, check = row
        if checksum(name, number, draws, made, body) != check:
            raise LedgerError(f"the ledger {self.ledger.path} is damaged (block {number} does not have its checksum): {REPLACE}")
        try:
            block = unpack(body, stream.bins)
        except BlockFormatError as error:
            raise LedgerError(f"the ledger {self.ledger.path} is damaged ({error}): {REPLACE}") from error
        self.ledger.reused += draws
        return block

    def save(self, stream: Stream, number: int, draws: int, block: Block) -> None:
        """Keep a block; one that is there already, by another process, is left."""
        if self.refusal:
            return
        name, text = self._name(stream)
        made, body = time.time(), pack(block)
        with self.ledger.writing() as db:
            # Both in one transaction: a block never lacks its description, whatever another process deletes.
            self._describe(db, name, text)
            row = (name, number, draws, made, body, checksum(name, number, draws, made, body))
            db.execute("INSERT OR IGNORE INTO blocks VALUES (?, ?, ?, ?, ?, ?)", row)
        self.ledger.stored += draws

    def _describe(self, db: sqlite3.Connection, name: bytes, text: str) -> None:
        row = (name, text, self._files, checksum(name, 0, 0, 0.0, self._files.encode()))
        db.execute("INSERT OR IGNORE INTO streams VALUES (?, ?, ?, ?)", row)

    def fresh(self) -> Shelf:
        """Return the same shelf for blocks that must be drawn, such as those that are timed: it gives none and keeps all."""
        return _FreshShelf(self.ledger, self._drawn, self._files, self.refusal)

    def timings(self, keys: Sequence[Key]) -> list[float] | None:
        """Return the seconds a draw takes at each of the keys, as they were measured the first time; None if they were not."""
        if self.refusal:
            return None
        with speaking(self.ledger.path):
            row = self.ledger.db.execute(_TIMING, (self._timed(keys)[0],)).fetchone()
        return None if row is None else _seconds(row)

    def keep_timings(self, keys: Sequence[Key], seconds: Sequence[float]) -> list[float]:
        """Keep the seconds a draw takes at each of the keys; return those that another process kept first, where one did."""
        if self.refusal:
            return list(seconds)
        name, text = self._timed(keys)
        made, body = time.time(), " ".join(float(second).hex() for second in seconds).encode()
        with self.ledger.writing() as db:
            self._describe(db, name, text)
            db.execute("INSERT OR IGNORE INTO timings VALUES (?, ?, ?, ?)", (name, made, body, checksum(name, 0, 0, made, body)))
            return _seconds(db.execute(_TIMING, (name,)).fetchone())

    def _timed(self, keys: Sequence[Key]) -> tuple[bytes, str]:
        return self._described({**_random(keys[0]), "sizes": [dict(key.sizes) for key in keys], "timings": True})


_TIMING = "SELECT body FROM timings WHERE stream = ?"


def _seconds(row: tuple[bytes]) -> list[float]:
    return [float.fromhex(entry) for entry in row[0].decode().split()]


class _FreshShelf(Shelf):
    def held(self, stream: Stream, first: int, last: int) -> list[tuple[int, int]]:
        return []


def _random(key: Key) -> dict[str, Any]:
    """Return what the random numbers are made from."""
    return {"seed": key.seed, "claim": key.claim, "instance": key.instance, "sizes": key.sizes}
