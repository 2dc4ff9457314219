"""Files that are no sound ledger: refused with a message that says what to do, and left as they were, byte for byte."""

import os
import random
import sqlite3
import struct
import subprocess
import sys
import time
from collections import Counter

import pytest

import theoryck as tc
from theoryck.ledger import Ledger, LedgerError
from theoryck.ledger.file import APPLICATION_ID
from theoryck.montecarlo import Block, Key, Moments, Stream

QUANTITY = tc.norm_deviation(tc.DeepNetwork("tanh", depth=1), power=2)
STREAM = Stream(Key(0, "file/test", {}, {"d": 8}))
BLOCKS = {number: Block(Moments.of([1.0, float(number)]), bytes([number]) * 16, -1.0) for number in range(6)}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "draws.ledger"


@pytest.fixture
def ledger(path):
    with Ledger(path) as ledger:
        shelf = ledger.shelf(QUANTITY)
        for number, block in BLOCKS.items():
            shelf.save(STREAM, number, 2, block)
        shelf.keep_timings([STREAM.key], [0.25])
    return path


def everything(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def refused(path, message):
    """A file is refused for writing and for reading, and nothing in its folder has changed."""
    before = everything(path.parent)
    said = set()
    for read_only in (False, True):
        with pytest.raises(LedgerError, match=message) as caught:
            Ledger(path, read_only=read_only)
        said.add(str(caught.value))
        assert str(path) in str(caught.value)
    assert everything(path.parent) == before
    return said


# -- foreign ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content", [b"d,value\n8,0.5\n", b"x", b"\0" * 5000, b"SQLite format 3\0", b"SQLite format 3\0" + b"\0" * 84]
)
def test_another_file_is_refused(path, content):
    path.write_bytes(content)
    refused(path, "it was left as it is; name another file")


def test_another_database_is_refused(path):
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE streams (stream)")
    db.close()
    assert refused(path, r"is a SQLite file, but no ledger of theoryck \(application_id 0x0\)")


def test_another_database_with_a_log_is_refused(path):
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("CREATE TABLE mine (x)")
    refused(path, "is a SQLite file, but no ledger of theoryck")
    assert db.execute("SELECT count(*) FROM mine").fetchone() == (0,)
    db.close()


def test_another_schema_is_refused(ledger):
    with sqlite3.connect(ledger) as db:
        db.execute("PRAGMA user_version=2")
    db.close()
    refused(ledger, "has schema 2, this theoryck reads 1: use the theoryck that wrote it, or move the file away")


def test_tables_that_are_not_those_of_a_ledger(path):
    with sqlite3.connect(path) as db:
        db.execute(f"PRAGMA application_id={APPLICATION_ID}")
        db.execute("PRAGMA user_version=1")
        db.execute("CREATE TABLE blocks (x)")
    db.close()
    refused(path, "is damaged \\(its tables are not those of schema 1\\): move the file away and a new one is made")


# -- damaged ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("keep", [0.01, 0.3, 0.6, 0.99])
def test_a_file_that_was_cut_is_refused(ledger, keep):
    whole = ledger.read_bytes()
    ledger.write_bytes(whole[: int(keep * len(whole))])
    refused(ledger, "damaged")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("UPDATE blocks SET body = zeroblob(length(body)) WHERE block = 3", "block 3 does not have its checksum"),
        ("UPDATE blocks SET draws = 3 WHERE block = 2", "block 2 does not have its checksum"),
        ("UPDATE blocks SET block = 9 WHERE block = 4", "block 9 does not have its checksum"),
        ("UPDATE blocks SET made = 0 WHERE block = 4", "block 4 does not have its checksum"),
        ("UPDATE blocks SET draws = 'x' WHERE block = 4", "block 4 does not have its checksum"),
        ("UPDATE streams SET described = replace(described, '\"seed\":0', '\"seed\":1')", "row 0 of streams"),
        ("UPDATE streams SET files = 'x'", "row 0 of streams"),
        ("UPDATE timings SET body = CAST('0x1p-3' AS BLOB)", "a row of timings"),
    ],
)
def test_a_row_that_was_changed_is_refused(ledger, change, message):
    with sqlite3.connect(ledger) as db:
        assert db.execute(change).rowcount >= 1
        db.commit()
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    refused(ledger, message)


def outcome(path):
    """Open a ledger and read its blocks; a wrong one is an error here."""
    try:
        with Ledger(path, read_only=True) as opened:
            found = [opened.shelf(QUANTITY).load(STREAM, number, 2) for number in BLOCKS]
    except LedgerError as error:
        return "refused" if str(path) in str(error) else f"unclear: {error}"
    assert all(block is None or block == BLOCKS[number] for number, block in enumerate(found))
    return "harmless"


def test_whatever_byte_is_flipped_no_wrong_block_is_given(ledger):
    """Every flip is refused, or harmless: it hit bytes that are not used, or an index (a block that is not found is drawn)."""
    whole, rng, outcomes = ledger.read_bytes(), random.Random(0), Counter()
    used = [place for place, byte in enumerate(whole) if byte]
    for place in rng.sample(used, 150) + rng.sample(range(len(whole)), 50):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << rng.randrange(8)
        ledger.write_bytes(damaged)
        outcomes[outcome(ledger)] += 1
        assert ledger.read_bytes() == damaged
        assert [file.name for file in ledger.parent.iterdir()] == [ledger.name]
    assert {*outcomes} == {"refused", "harmless"}
    assert outcomes["refused"] > 100


def test_damage_while_it_is_open_is_noticed_when_the_block_is_read(ledger):
    with Ledger(ledger) as opened:
        opened.db.execute("UPDATE blocks SET body = x'00' WHERE block = 1")
        with pytest.raises(LedgerError, match=r"is damaged \(block 1 does not have its checksum\): move the file away"):
            opened.shelf(QUANTITY).load(STREAM, 1, 2)


# -- places that cannot be used ---------------------------------------------------------------------------------------------------


def test_places_without_a_ledger(tmp_path):
    with pytest.raises(LedgerError, match=r"is a folder: name a file in it, such as .*draws\.ledger"):
        Ledger(tmp_path)
    with pytest.raises(LedgerError, match=r"there is no folder .*missing: make it first"):
        Ledger(tmp_path / "missing" / "draws.ledger")
    with pytest.raises(LedgerError, match=r"does not exist: theoryck check PATH --ledger .* makes it"):
        Ledger(tmp_path / "none.ledger", read_only=True)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(LedgerError, match="is no ordinary file: name another one"):
        Ledger(tmp_path / "pipe")
    assert [file.name for file in tmp_path.iterdir()] == ["pipe"]


@pytest.mark.parametrize("exists", [True, False])
def test_permission_denied(ledger, monkeypatch, exists):
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)  # root may write everywhere
    path = ledger if exists else ledger.with_name("new.ledger")
    with pytest.raises(LedgerError, match="permission denied"):
        Ledger(path)
    with Ledger(ledger, read_only=True) as opened:  # to look into a ledger needs no right to write
        assert opened.entries()[0].blocks == len(BLOCKS)
    assert [file.name for file in ledger.parent.iterdir()] == [ledger.name]


def test_a_lock_that_lasts_is_said(ledger, monkeypatch):
    monkeypatch.setattr("theoryck.ledger.file.PATIENCE", 0.05)
    holder = sqlite3.connect(ledger, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(LedgerError, match="has been locked by another process for 0 seconds: wait for it to end"):
        Ledger(ledger)
    holder.execute("ROLLBACK")
    holder.close()
    Ledger(ledger).close()


# -- new files --------------------------------------------------------------------------------------------------------------------


def test_an_empty_file_becomes_a_ledger(path):
    path.touch()
    with pytest.raises(LedgerError, match=r"is empty: theoryck check PATH --ledger .* fills it"):
        Ledger(path, read_only=True)
    assert everything(path.parent) == {path.name: b""}
    with Ledger(path) as ledger:
        assert ledger.entries() == []
    header = path.read_bytes()[:100]
    assert struct.unpack_from(">I", header, 68) == (APPLICATION_ID,)
    assert header[68:72] == b"thkL"
    assert struct.unpack_from(">I", header, 60) == (1,)


@pytest.mark.parametrize("name", ["with space.ledger", "a?b#c%41.ledger", "ünicode.ledger"])
def test_any_name_will_do(tmp_path, name):
    Ledger(tmp_path / name).close()
    assert [file.name for file in tmp_path.iterdir()] == [name]
    Ledger(tmp_path / name, read_only=True).close()


def test_one_that_was_killed_while_it_was_made_is_made_again(path):
    """A process that dies while it writes its first transaction leaves a first page and the journal that undoes it."""
    Ledger(path).close()
    page = bytearray(path.read_bytes()[:4096])
    page[18:20] = b"\1\1"  # as before the write-ahead log
    path.write_bytes(page)
    journal = struct.pack(">8sIIIII", bytes.fromhex("d9d505f920a163d7"), 0, 1, 0, 512, 4096)  # no page to restore, 0 pages before
    path.with_name("draws.ledger-journal").write_bytes(journal.ljust(512, b"\0"))
    with Ledger(path) as ledger:
        assert ledger.entries() == []


MAKER = """
import sys
from theoryck.ledger import Ledger
for number in range(10**6):
    Ledger(f"{sys.argv[1]}/{number}.ledger").close()
    print("made", flush=True)
"""


def test_kills_while_ledgers_are_made_spoil_none(tmp_path):
    rng = random.Random(0)
    for turn in range(3):
        folder = tmp_path / str(turn)
        folder.mkdir()
        maker = subprocess.Popen([sys.executable, "-c", MAKER, str(folder)], stdout=subprocess.PIPE, text=True)
        for _ in range(rng.randrange(1, 20)):
            assert maker.stdout.readline() == "made\n"
        time.sleep(rng.uniform(0.0, 0.02))  # so that a kill falls anywhere
        maker.kill()
        maker.communicate()
        made = [*folder.glob("*.ledger")]
        for path in made:
            with Ledger(path) as ledger:
                assert ledger.entries() == []
        assert len([*folder.iterdir()]) == len(made) > 0


def test_a_reader_beside_a_writer_sees_what_is_committed(path):
    with Ledger(path) as writer:
        writer.shelf(QUANTITY).save(STREAM, 0, 2, BLOCKS[0])
        with Ledger(path, read_only=True) as reader:
            assert reader.entries()[0].blocks == 1
            with pytest.raises(LedgerError, match="cannot be written"):
                reader.shelf(QUANTITY).save(STREAM, 1, 2, BLOCKS[1])
