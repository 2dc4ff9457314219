"""Ctrl-C and SIGTERM: an interruption is one KeyboardInterrupt, however often it comes, and none tears what is being written."""

from __future__ import annotations

import atexit
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

DOUBLE_TAP = 1.0  # seconds within which a second signal is the first one again
_UNTOUCHED = (signal.default_int_handler, signal.SIG_DFL)


def came_from_ctrl_c(error: BaseException) -> bool:
    """Whether Ctrl-C is behind an error: a compiled callback turns KeyboardInterrupt into SystemError.

    >>> came_from_ctrl_c(KeyboardInterrupt()), came_from_ctrl_c(SystemError("a callback failed"))
    (True, False)
    """
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, KeyboardInterrupt):
        cause = cause.__cause__
    return cause is not None


@contextmanager
def once() -> Iterator[None]:
    """Make KeyboardInterrupt of SIGTERM (a time limit, a shutdown) too, and one only of signals that come within a second.

    A signal that is ignored, or that somebody else handles, is left as it is.
    """
    with _handled(_one_of_several(), _UNTOUCHED):
        yield


def once_for_good() -> Callable[[], None]:
    """Do what :func:`once` does until the process ends, so that a second Ctrl-C does not meet it on its way out.

    Returns what undoes it, where the process goes on with something else.
    """
    before = _handle(_one_of_several(), _UNTOUCHED)

    def ignore() -> None:  # the interpreter takes handlers away when it ends, but leaves signals ignored
        for number in before:
            signal.signal(number, signal.SIG_IGN)

    def undo() -> None:
        atexit.unregister(ignore)
        _restore(before)

    atexit.register(ignore)
    return undo


def _one_of_several() -> Callable[[int, Any], None]:
    last = -DOUBLE_TAP

    def interrupt(number: int, frame: object) -> None:
        nonlocal last
        if time.monotonic() - last >= DOUBLE_TAP:
            last = time.monotonic()
            if not _gate.holding:
                raise KeyboardInterrupt
            _gate.waiting = True

    return interrupt


@dataclass
class _Gate:
    """Whether interruptions are held back, by how many, and whether one is waiting."""

    holding: int = 0
    waiting: bool = False


_gate = _Gate()


@contextmanager
def held() -> Iterator[None]:
    """Hold back an interruption that :func:`once` hears: it comes at the end of what must not be torn.

    >>> with once():
    ...     try:
    ...         with held():
    ...             signal.raise_signal(signal.SIGTERM)
    ...             print("whole")
    ...     except KeyboardInterrupt:
    ...         print("then interrupted")
    whole
    then interrupted
    """
    _gate.holding += 1
    try:
        yield
    finally:
        _gate.holding -= 1
        if _gate.waiting and not _gate.holding:
            _gate.waiting = False
            raise KeyboardInterrupt


@contextmanager
def finishing(say: Callable[[str], None]) -> Iterator[None]:
    """Let neither Ctrl-C nor SIGTERM stop the last steps of a program; ``say`` is told once that they are going on."""
    told = False

    def go_on(number: int, frame: object) -> None:
        nonlocal told
        if not told:
            told = True
            say("what was judged is being written; this takes a moment")

    with _handled(go_on, None):
        yield


@contextmanager
def _handled(handler: Callable[[int, Any], None], instead_of: tuple[Any, ...] | None) -> Iterator[None]:
    """Handle both signals as :func:`_handle` does, and undo it."""
    before = _handle(handler, instead_of)
    try:
        yield
    finally:
        _restore(before)


def _handle(handler: Callable[[int, Any], None], instead_of: tuple[Any, ...] | None) -> dict[signal.Signals, Any]:
    """Handle both signals, where their handlers are among ``instead_of`` (any but ignored ones if None); return what was there."""
    before: dict[signal.Signals, Any] = {}
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            known = signal.getsignal(number)
            if known in instead_of if instead_of is not None else known not in (signal.SIG_IGN, None):
                before[number] = signal.signal(number, handler)
    return before


def _restore(before: Mapping[signal.Signals, Any]) -> None:
    for number, known in before.items():
        signal.signal(number, known)
