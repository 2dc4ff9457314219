"""What a worker process does: read functions once, then run them on items until its standard input ends.

Frames on both pipes are an 8-byte length and a pickle.  A worker is started with its own session, so that Ctrl-C in a terminal
does not reach it, and ignores SIGINT besides.  It leaves at once, even in the middle of an item, when its parent is gone or
closes the pipe.
"""

from __future__ import annotations

import functools
import os
import pickle
import queue
import signal
import struct
import threading
import time
import traceback
from collections.abc import Callable
from typing import IO, Any

from theoryck.montecarlo.payload import decode
from theoryck.montecarlo.timing import stopwatch

HEADER = struct.Struct("<Q")


def packed(message: Any) -> bytes:
    """Return the bytes of one message."""
    return pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)


def write_packed(stream: IO[bytes], body: bytes) -> None:
    """Write one message and flush."""
    stream.write(HEADER.pack(len(body)))
    stream.write(body)
    stream.flush()


def read_frame(stream: IO[bytes]) -> Any:
    """Return the next message; EOFError when the other side is gone."""
    header = stream.read(HEADER.size)
    if len(header) < HEADER.size:
        raise EOFError
    (size,) = HEADER.unpack(header)
    body = stream.read(size)
    if len(body) < size:
        raise EOFError
    return pickle.loads(body)


def portable_error(error: BaseException) -> tuple[BaseException | None, str]:
    """Return the exception if it survives a round trip (else None), and its traceback as text."""
    text = "".join(traceback.format_exception(error)).rstrip()
    bare = error
    bare.__cause__ = bare.__context__ = None
    try:
        return (error if isinstance(pickle.loads(pickle.dumps(bare)), type(error)) else None), text
    except Exception:
        # An exception whose constructor takes other arguments than its message cannot be rebuilt: its text is sent alone.
        return None, text


def _listen(stream: IO[bytes], inbox: queue.SimpleQueue[Any]) -> None:
    while True:
        try:
            inbox.put(read_frame(stream))
        except (EOFError, OSError):
            os._exit(0)


def main() -> None:
    """Serve the parent process over standard input and output."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests = os.fdopen(os.dup(0), "rb")
    replies = os.fdopen(os.dup(1), "wb")
    # What a sampler prints must not mix with the replies: it goes to standard error.
    os.dup2(2, 1)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    inbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(requests, inbox), daemon=True).start()
    functions: dict[int, Callable[[Any], Any]] = {}
    while True:
        over, ticket, payload, item = inbox.get()
        for each in over:
            functions.pop(each, None)
        if payload is not None:
            functions[ticket] = functools.partial(_first_call, functions, ticket, payload)
        message = answer(functions[ticket], item)
        try:
            body = packed(message)
        except Exception as error:
            body = packed((False, (None, f"the result cannot be sent back: {error}"), message[2]))
        try:
            write_packed(replies, body)
        except OSError:
            os._exit(0)


def _first_call(functions: dict[int, Callable[[Any], Any]], ticket: int, payload: bytes, item: Any) -> Any:
    """Read a function, keep it for the next items, and run it."""
    functions[ticket] = decode(payload)
    return functions[ticket](item)


def answer(function: Callable[[Any], Any], item: Any, clock: Callable[[], float] = time.process_time) -> tuple[bool, Any, float]:
    """Return whether a function gave a value, the value or the error that can be sent, and the seconds it took."""
    spent = stopwatch(clock)
    try:
        return True, function(item), spent()
    except BaseException as error:
        return False, portable_error(error), spent()
