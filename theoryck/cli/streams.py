"""Standard input, output and error of the program: closed ones, those of another encoding, and what the system refuses."""

from __future__ import annotations

import codecs
import errno
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

BROKEN_PIPE = 141  # as a shell reports a program whose reader has left
ESCAPED = "theoryck.escaped"


def prepare() -> None:
    """Open what the caller closed, and let nothing that a stream cannot encode stop the program."""
    codecs.register_error(ESCAPED, _escaped)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # its number is free: the next file that is opened would be written into
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123 (until the program ends)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors=ESCAPED)


@contextmanager
def escaping(errors: str) -> Iterator[None]:
    """Write what standard output cannot encode in another way: in a page, as references to characters."""
    reconfigure = getattr(sys.stdout, "reconfigure", lambda errors: None)
    reconfigure(errors=errors)
    try:
        yield
    finally:
        reconfigure(errors=ESCAPED)


def _escaped(error: UnicodeError) -> tuple[str, int]:
    r"""Write what cannot be encoded as JSON does (\u03b1), which is clear in any other text too.

    >>> "a \u03b1 \U0001d53c".encode("ascii", ESCAPED) if codecs.register_error(ESCAPED, _escaped) is None else None
    b'a \\u03b1 \\ud835\\udd3c'
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[place : place + 4]}" for place in range(0, len(units), 4)), error.end


def discard_output() -> None:
    """Throw away what cannot be written to standard output, so that the end of the program does not try again."""
    with suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def refusal(error: OSError) -> str:
    """Return what the system refused, where, and what to do; nobody handled it closer to the cause."""
    from theoryck.report.targets import reason

    try:
        Path.cwd()
    except OSError:
        return "the current folder no longer exists: go to one that does (cd FOLDER)"
    if error.filename is None and error.errno in (errno.ENOSPC, errno.EIO, errno.EBADF, errno.EFBIG):
        discard_output()
        return f"standard output cannot be written: {reason(error)}; send it to a place that takes it"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "theoryck" in Path(frame.filename).parts]
    where = f" (in {Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"a file or the system refused: {reason(error)}{where}; name another file or folder, or make room for it"
