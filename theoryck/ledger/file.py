"""Opening a ledger's file: what it must be, how it is made, and what is said when it cannot be used."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import struct
import time
import urllib.parse
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

APPLICATION_ID = int.from_bytes(b"thkL", "big")
SCHEMA = 1
PATIENCE = 60.0  # seconds to wait for another process that holds the lock
_MAGIC = b"SQLite format 3\x00"
_HEADER = 100
_TABLES = {
    "streams": "CREATE TABLE streams (stream BLOB PRIMARY KEY, described TEXT NOT NULL, files TEXT NOT NULL, "
    "checksum BLOB NOT NULL)",
    "blocks": "CREATE TABLE blocks (stream BLOB NOT NULL, block INTEGER NOT NULL, draws INTEGER NOT NULL, made REAL NOT NULL, "
    "body BLOB NOT NULL, checksum BLOB NOT NULL, PRIMARY KEY (stream, block, draws))",
    "timings": "CREATE TABLE timings (stream BLOB PRIMARY KEY, made REAL NOT NULL, body BLOB NOT NULL, checksum BLOB NOT NULL)",
}
_WHERE = struct.Struct("<qqd")
REPLACE = "move the file away and a new one is made; what it held is drawn again"


class LedgerError(RuntimeError):
    """A ledger that cannot be used; the message names the file, says what is wrong with it and what to do.

    >>> from theoryck.ledger import Ledger
    >>> Ledger("nowhere/draws.ledger")
    Traceback (most recent call last):
        ...
    theoryck.ledger.file.LedgerError: the ledger nowhere/draws.ledger cannot be made, there is no folder nowhere: make it
    first
    """


def checksum(stream: bytes, block: int, draws: int, made: float, body: bytes) -> bytes:
    """Return the checksum of a row: of its place as much as of its body."""
    return hashlib.blake2b(stream + _WHERE.pack(block, draws, made) + body, digest_size=16).digest()


@contextmanager
def speaking(path: Path) -> Iterator[None]:
    """Turn what SQLite raises into a LedgerError that says what to do."""
    try:
        yield
    except UnicodeDecodeError as error:  # a message of SQLite that quotes damaged text
        raise LedgerError(f"the ledger {path} is damaged: {REPLACE}") from error
    except sqlite3.Error as error:
        raise LedgerError(f"the ledger {path} {_in_words(path, error)}") from error


def _in_words(path: Path, error: sqlite3.Error) -> str:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return f"has been locked by another process for {PATIENCE:.0f} seconds: wait for it to end, then start again"
    if code == sqlite3.SQLITE_FULL:
        return "cannot grow, the disk is full: make room or prune it; nothing that was written is lost"
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
        return f"cannot be written: make the file and its folder {path.parent} writable, or name another file"
    if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR):
        return f"cannot be read or written ({error}): see whether the disk is there, writable and not full"
    return f"is damaged ({error}): {REPLACE}"


def check_path(path: Path, read_only: bool) -> None:
    """Raise LedgerError where there can be no ledger, before anything is touched."""
    if path.is_dir():
        raise LedgerError(f"the ledger {path} is a folder: name a file in it, such as {path / 'draws.ledger'}")
    if not path.parent.is_dir():
        raise LedgerError(f"the ledger {path} cannot be made, there is no folder {path.parent}: make it first")
    if not path.exists():
        if read_only:
            raise LedgerError(f"the ledger {path} does not exist: theoryck check PATH --ledger {path} makes it")
        if not os.access(path.parent, os.W_OK):
            raise LedgerError(f"the ledger {path} cannot be made in {path.parent}: permission denied")
        return
    if not path.is_file():
        raise LedgerError(f"the ledger {path} is no ordinary file: name another one")
    if not os.access(path, os.R_OK) or not (read_only or (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))):
        needed = "readable" if read_only else "readable and writable, and so must its folder"
        raise LedgerError(f"the ledger {path} cannot be opened: permission denied; it must be {needed}")


def check_header(path: Path) -> bool:
    """Raise LedgerError unless the first bytes are those of a ledger; False for a file that is not there or empty: a new ledger."""
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise LedgerError(f"the ledger {path} cannot be read: {error.strerror or error}") from error
    if not header:
        return False
    if not header.startswith(_MAGIC) or len(header) < _HEADER:
        raise LedgerError(f"{path} is no ledger of theoryck but another file, or damaged: it was left as it is; name another file")
    (schema,), (application,) = struct.unpack_from(">i", header, 60), struct.unpack_from(">I", header, 68)
    if application != APPLICATION_ID:
        raise LedgerError(
            f"{path} is a SQLite file, but no ledger of theoryck (application_id {application:#x}): "
            "it was left as it is; name another file"
        )
    if schema != SCHEMA:
        raise LedgerError(
            f"the ledger {path} has schema {schema}, this theoryck reads {SCHEMA}: use the theoryck that wrote it, or {REPLACE}"
        )
    return True


def connect(path: Path, how: str) -> sqlite3.Connection:
    """Return a connection that commits at once; ``how`` is rwc, rw, ro, or still (read a file that nobody writes)."""
    query = "mode=ro&immutable=1" if how == "still" else f"mode={how}"
    address = f"file:{urllib.parse.quote(str(path.absolute()))}?{query}"
    return sqlite3.connect(address, uri=True, timeout=PATIENCE, isolation_level=None, check_same_thread=False)


def beside(path: Path, ending: str) -> Path:
    """Return the file that SQLite keeps beside a database: ``-wal``, ``-shm`` or ``-journal``."""
    return path.with_name(path.name + ending)


def reader(path: Path) -> sqlite3.Connection:
    """Return a connection that reads; where no process has the file open it makes no file beside it."""
    return connect(path, "ro" if beside(path, "-wal").exists() else "still")


def open_whole(path: Path, read_only: bool) -> sqlite3.Connection:
    """Return a connection to a ledger that was checked from end to end, made first where there is none; LedgerError otherwise."""
    check_path(path, read_only)
    with speaking(path):
        if check_header(path):
            _roll_back_a_creation(path)
            verify(path)
        db = reader(path) if read_only else connect(path, "rwc")
        try:
            if not read_only:
                _make(path, db)
            elif _is_empty(db):
                raise LedgerError(f"the ledger {path} is empty: theoryck check PATH --ledger {path} fills it")
        except BaseException:
            db.close()
            raise
        return db


def _is_empty(db: sqlite3.Connection) -> bool:
    count: int = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    return count == 0


def _roll_back_a_creation(path: Path) -> None:
    # Only while it is made has a ledger a rollback journal: the process that made it was killed, and SQLite undoes what it began.
    if beside(path, "-journal").exists():
        with closing(connect(path, "rw")) as db:
            _is_empty(db)


def _make(path: Path, db: sqlite3.Connection) -> None:
    """Make the tables where there are none, in one transaction, and use a write-ahead log."""
    db.execute("PRAGMA synchronous=NORMAL")
    db.execute("BEGIN IMMEDIATE")
    try:
        if _is_empty(db):
            db.execute(f"PRAGMA application_id={APPLICATION_ID}")
            db.execute(f"PRAGMA user_version={SCHEMA}")
            for statement in _TABLES.values():
                db.execute(statement)
        db.execute("COMMIT")
    except BaseException:
        db.execute("ROLLBACK")
        raise
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            if db.execute("PRAGMA journal_mode=WAL").fetchone() == ("wal",):
                return
        except sqlite3.OperationalError:
            # SQLite does not wait for readers here.
            if time.monotonic() > deadline:
                raise
        if time.monotonic() > deadline:
            raise LedgerError(f"the ledger {path} is where SQLite can keep no write-ahead log: name a file on a local disk")
        time.sleep(0.01)


def verify(path: Path) -> None:
    """Read the whole ledger: LedgerError unless it is sound and every row has its checksum.  Nothing is written."""
    with suppress(LedgerError, sqlite3.DatabaseError, UnicodeDecodeError):
        with closing(reader(path)) as db:
            _verify(path, db)
        return
    # Another process may have opened the file meanwhile: once more, now as one who reads beside it.
    with speaking(path), closing(reader(path)) as db:
        _verify(path, db)


def _verify(path: Path, db: sqlite3.Connection) -> None:
    db.text_factory = bytes  # damaged text need not be UTF-8
    db.execute("BEGIN")
    found = [line for (line,) in db.execute("PRAGMA quick_check(1)")]
    if found != [b"ok"]:
        problem = b" ".join(found).decode(errors="replace")
        raise LedgerError(f"the ledger {path} is damaged ({problem}): {REPLACE}")
    tables = dict(db.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"))
    if tables and tables != {name.encode(): text.encode() for name, text in _TABLES.items()}:
        raise LedgerError(f"the ledger {path} is damaged (its tables are not those of schema {SCHEMA}): {REPLACE}")
    for place in _wrong_rows(db) if tables else ():
        raise LedgerError(f"the ledger {path} is damaged ({place} does not have its checksum): {REPLACE}")


def _wrong_rows(db: sqlite3.Connection) -> Iterator[str]:
    for row, (stream, described, files, check) in enumerate(db.execute("SELECT * FROM streams")):
        named = isinstance(described, bytes) and hashlib.sha256(described).digest() == stream
        if not (named and _fits(stream, 0, 0, 0.0, files, check)):
            yield f"row {row} of streams"
    for stream, block, draws, made, body, check in db.execute("SELECT stream, block, draws, made, body, checksum FROM blocks"):
        if not _fits(stream, block, draws, made, body, check):
            yield f"block {block}"
    for stream, made, body, check in db.execute("SELECT stream, made, body, checksum FROM timings"):
        if not _fits(stream, 0, 0, made, body, check):
            yield "a row of timings"


def _fits(stream: object, block: object, draws: object, made: object, body: object, check: object) -> bool:
    """Whether a row has its checksum; damage may have changed the kind of a value."""
    if not (isinstance(stream, bytes) and isinstance(body, bytes) and isinstance(block, int) and isinstance(draws, int)):
        return False
    return isinstance(made, float) and checksum(stream, block, draws, made, body) == check
