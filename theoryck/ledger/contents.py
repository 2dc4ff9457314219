"""What a ledger holds, and how it is pruned."""

from __future__ import annotations

import fnmatch
import hashlib
import json
import platform
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from theoryck.quantities.fingerprints import library, version_of

CURRENT, STALE, UNKNOWN = "current", "stale", "unknown"
_CONFIRMATION = "#confirmation"
_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Entry:
    """What one claim drew of one quantity at one instance with one seed and one code; ``state`` says whether that code is there.

    "current": the next run reuses it; "stale": theoryck, numpy, scipy, Python or the sampler has changed; "unknown": a source
    file of the sampler is not where it was, and no newer code has drawn the same (then it is stale).
    ``last`` is the Unix time of the last block.

    >>> import tempfile, theoryck as tc
    >>> from theoryck.ledger import Ledger
    >>> @tc.quantity(cost=1)
    ... def inverse(rng, draws, *, d):
    ...     return (1 + rng.standard_normal(draws) / 10) / d
    >>> @tc.conjecture("example/inverse")
    ... def claim():
    ...     "Q = O(1/d)"
    ...     return tc.Bound(inverse, rate="1/d", along=tc.ScalingPath(d=tc.doubling(8, 64)))
    >>> with tempfile.TemporaryDirectory() as folder, Ledger(f"{folder}/draws.ledger") as ledger:
    ...     report = tc.check_claims(claim, draws=1000, ledger=ledger)
    ...     entry = ledger.entries()[0]
    ...     print(entry.claim, entry.quantity, entry.sizes, entry.draws, entry.to_json()["seed"])
    example/inverse inverse 4 4000 0
    """

    claim: str
    quantity: str
    instance: Mapping[str, Any]
    seed: int
    theoryck: str
    state: str
    why: str
    sizes: int
    blocks: int
    draws: int
    size: int
    last: float
    streams: tuple[bytes, ...]

    def to_json(self) -> dict[str, Any]:
        """Return JSON data."""
        names = ("claim", "quantity", "instance", "seed", "theoryck", "state", "why", "sizes", "blocks", "draws", "size", "last")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True)
class Pruned:
    """What was deleted (or, with ``dry_run``, would be), and the size of the file before and after.

    >>> import tempfile, theoryck as tc
    >>> from theoryck.ledger import Ledger
    >>> @tc.quantity(cost=1)
    ... def inverse(rng, draws, *, d):
    ...     return (1 + rng.standard_normal(draws) / 10) / d
    >>> @tc.conjecture("example/inverse")
    ... def claim():
    ...     "Q = O(1/d)"
    ...     return tc.Bound(inverse, rate="1/d", along=tc.ScalingPath(d=tc.doubling(8, 64)))
    >>> with tempfile.TemporaryDirectory() as folder, Ledger(f"{folder}/draws.ledger") as ledger:
    ...     report = tc.check_claims(claim, draws=1000, ledger=ledger)
    ...     found = ledger.prune(claim="example/*", dry_run=True)
    ...     print(found.draws, found.blocks == ledger.entries()[0].blocks)
    ...     print(ledger.prune(stale=True).draws, ledger.prune().draws, ledger.entries())
    4000 True
    0 4000 []
    """

    entries: tuple[Entry, ...]
    before: int
    after: int

    @property
    def blocks(self) -> int:
        """The number of blocks."""
        return sum(entry.blocks for entry in self.entries)

    @property
    def draws(self) -> int:
        """The number of draws."""
        return sum(entry.draws for entry in self.entries)


def entries(db: sqlite3.Connection) -> list[Entry]:
    """Return the entries of a ledger, by claim and then by age."""
    question = (
        "SELECT streams.stream, described, files, count(block), total(draws), total(length(body)), max(made) "
        "FROM streams LEFT JOIN blocks ON streams.stream = blocks.stream GROUP BY streams.stream"
    )
    timed = dict(db.execute("SELECT stream, made FROM timings"))
    groups: dict[str, list[tuple[Any, ...]]] = {}
    for stream, text, *row in db.execute(question):
        drawn = json.loads(text)
        drawn["claim"] = drawn["claim"].removesuffix(_CONFIRMATION)
        label = {name: drawn[name] for name in ("claim", "quantity", "parameters", "instance", "seed", "code")}
        groups.setdefault(json.dumps(label, sort_keys=True), []).append((stream, drawn, *row, timed.get(stream, 0.0)))
    made = [_entry(rows) for rows in groups.values()]
    return sorted(_superseded(made), key=lambda entry: (entry.claim, entry.quantity, json.dumps(entry.instance), entry.last))


def _entry(rows: list[tuple[Any, ...]]) -> Entry:
    _, drawn, files, *_ = rows[0]
    state, why = _state(drawn["code"], json.loads(files))
    return Entry(
        claim=drawn["claim"],
        quantity=drawn["quantity"],
        instance=drawn["instance"],
        seed=drawn["seed"],
        theoryck=drawn["code"]["library"]["theoryck"],
        state=state,
        why=why,
        sizes=len({json.dumps(row[1]["sizes"]) for row in rows if "timings" not in row[1]}),
        blocks=sum(row[3] for row in rows),
        draws=sum(int(row[4]) for row in rows),
        size=sum(int(row[5]) for row in rows),
        last=max(max(row[6] or 0.0, row[7]) for row in rows),
        streams=tuple(row[0] for row in rows),
    )


def _state(code: Mapping[str, Any], files: Mapping[str, str]) -> tuple[str, str]:
    """Say whether the code that drew is the code that would draw now."""
    now = library()
    changed = [name for name in now if code["library"].get(name) != now[name]]
    if changed:
        return STALE, f"another {', '.join('source of theoryck' if name == 'source' else name for name in changed)}"
    if "sampler" not in code:
        return CURRENT, ""
    if code["sampler"]["python"] != platform.python_version():
        return STALE, "another Python"
    for package, version in code["sampler"]["packages"].items():
        if version_of(package) != version:
            return STALE, f"another {package}"
    for path, digest in files.items():
        try:
            same = hashlib.sha256(Path(path).read_bytes()).hexdigest() == digest
        except OSError:
            return UNKNOWN, f"{path} cannot be read"
        if not same:
            return STALE, f"{path} has changed"
    return (CURRENT, "") if files else (UNKNOWN, "the sampler has no source file")


def _superseded(found: Iterable[Entry]) -> Iterable[Entry]:
    """Call stale what is unknown where other code has drawn the same later."""
    ordered = sorted(found, key=lambda entry: entry.last)
    newest = {_same(entry): entry for entry in ordered}
    for entry in ordered:
        superseded = entry.state == UNKNOWN and newest[_same(entry)] is not entry
        yield replace(entry, state=STALE, why="other code has drawn this since") if superseded else entry


def _same(entry: Entry) -> str:
    return json.dumps([entry.claim, entry.quantity, entry.instance, entry.seed], sort_keys=True)


def prune(db: sqlite3.Connection, path: Path, stale: bool, claim: str | None, older_than: float | None, dry_run: bool) -> Pruned:
    """Delete the entries that meet all conditions, and give the space back to the disk."""
    conditions: list[Callable[[Entry], bool]] = []
    if stale:
        conditions.append(lambda entry: entry.state == STALE)
    if claim is not None:
        conditions.append(lambda entry: fnmatch.fnmatchcase(entry.claim, claim))
    if older_than is not None:
        oldest = time.time() - _DAY * older_than
        conditions.append(lambda entry: entry.last < oldest)
    chosen = tuple(entry for entry in entries(db) if all(condition(entry) for condition in conditions))
    before = size_of(path)
    if dry_run or not chosen:
        return Pruned(chosen, before, before)
    db.execute("BEGIN IMMEDIATE")
    try:
        for stream in (stream for entry in chosen for stream in entry.streams):
            for table in ("blocks", "timings", "streams"):
                db.execute(f"DELETE FROM {table} WHERE stream = ?", (stream,))
        db.execute("COMMIT")
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("VACUUM")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return Pruned(chosen, before, size_of(path))


def size_of(path: Path) -> int:
    """Return the bytes of a ledger on the disk, its log included."""
    files = (path, path.with_name(path.name + "-wal"))
    return sum(file.stat().st_size for file in files if file.exists())
