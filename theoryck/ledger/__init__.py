"""The ledger: a SQLite file of everything that was drawn, block by block, so that no draw is made twice.

A block is found again by what was drawn: seed, claim, instance and sizes (they make the random numbers), the quantity with its
parameters and the fingerprint of its code (:mod:`theoryck.quantities.fingerprints`), the number of the block and its draws, the
edges of a histogram.  Profile and budget are no part of it, so a larger profile reuses what a smaller one drew.  Blocks are
merged in their order whoever drew them, so a run with a ledger has the bits of a run without.

    contents  what a ledger holds, what of it is stale, and how it is pruned
    file      opening a ledger's file: what it must be, how it is made, and what is said when it cannot be used
    store     the ledger as samplers and sessions use it: a shelf for each quantity

Each block is a transaction of its own, committed as it arrives (WAL, ``synchronous=NORMAL``): ``kill -9`` loses the blocks in
flight and nothing else; a power cut may lose the last seconds, too.  Several processes may read and write at once, on a local
disk (WAL needs shared memory, which a network disk does not give).  Every row has a checksum, and every row is checked when the
file is opened: one that is damaged, foreign or of another schema is refused with LedgerError and left as it is.

Layout (``application_id`` "thkL", ``user_version`` 1):
        streams  stream = SHA-256 of ``described`` (canonical JSON: what was drawn), files (JSON: sources and digests), checksum
        blocks   (stream, block, draws) -> body (:mod:`theoryck.montecarlo.blocks`), made (Unix time), checksum
        timings  stream -> body (seconds a draw takes at each size, as hex floats), made, checksum: where the clock sets a budget,
                 so that a restart plans the same blocks
        checksum = BLAKE2b (16 bytes) of stream, block and draws (i8 little-endian), made (f8 little-endian; 0 where a
                 table has none), and of body or files
"""

from theoryck.ledger.contents import Entry, Pruned
from theoryck.ledger.file import LedgerError
from theoryck.ledger.store import Ledger, Shelf

__all__ = ["Entry", "Ledger", "LedgerError", "Pruned", "Shelf"]
