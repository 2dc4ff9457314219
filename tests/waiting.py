"""Waiting for an event, never for a length of time: what a slow or busy machine does late is not late.

Anything that may never come has one limit, which says that a test hangs and nothing about speed.
"""

import time

HANG = 900  # seconds; the slowest event waited for takes some seconds of one core


# For programs that are started on a file which a test changes: one written twice in a second is loaded from its first bytes.
NO_BYTECODE = {"PYTHONDONTWRITEBYTECODE": "1"}


def until(holds, *, pause=time.sleep):
    """Wait until ``holds()`` is true; ``pause(seconds)`` lets time pass between two looks."""
    end = time.monotonic() + HANG
    while not holds():
        assert time.monotonic() < end, f"hangs: nothing for {HANG} seconds"
        pause(0.01)
