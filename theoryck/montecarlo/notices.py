"""What Dask logs and warns of during a run, each kind once and in our words; none of it changes a bit of a result."""

from __future__ import annotations

import logging
import re
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

LOGGERS = ("distributed", "tornado.application")

LOST = "a worker of the cluster was lost: what it had begun is drawn again, with the same bits (further losses are counted)"

KINDS: tuple[tuple[str, str], ...] = (
    (
        r"exceeded .* memory budget",
        "a worker of the cluster ran out of memory and is started again: lower the draws per block, or give workers more memory",
    ),
    (
        r"memory usage\. (Paus|Resum)ing|Unmanaged memory",
        "a worker of the cluster is short of memory and takes no new blocks until it has some: give workers more, or start fewer",
    ),
    (
        r"Event loop was unresponsive|inactive for|Missing heartbeat",
        "a process of the cluster did not answer for a while: its machine is busy, or a block holds Python's lock; results are the "
        "same",
    ),
    (
        r"Mismatched versions",
        "client, scheduler and workers have other versions of the packages that they talk with: what decides bits was compared and "
        "is the same, unless --any-versions was given",
    ),
    # What else Dask says of a worker that is lost.
    (
        r"[Rr]estart(ing|ed)? worker|Removing worker|workers died|[Ww]orker process|Scheduler was unaware|unregistered worker"
        r"|terminate|close gracefully|Failed to (start|restart)|Nanny",
        LOST,
    ),
)

BROKEN = (
    r"Connection to|Lost connection|while reading|broadcast|Timed out|TimeoutError|CommClosed|Couldn't gather|CancelledError"
    r"|Closed comm|Failed to communicate"
)
"""Of connections: what Dask says before and after a worker is lost, and of a network that is slow."""

SLOW = "connections within the cluster were slow or broke off, and were tried again; results are the same"


class Notices(logging.Handler):
    """Takes in what Dask logs, and calls ``tell`` with one sentence for each kind of message; threads may share it.

    >>> notices = Notices(print)
    >>> for seconds in (3, 4):
    ...     notices.take("distributed.core", f"Event loop was unresponsive in Worker for {seconds}s.")
    a process of the cluster did not answer for a while: its machine is busy, or a block holds Python's lock; results are the same
    >>> notices.take("distributed.worker", "a thing that nobody foresaw")
    Dask says (distributed.worker): a thing that nobody foresaw
    """

    def __init__(self, tell: Callable[[str], None] | None = None) -> None:
        super().__init__(logging.WARNING)
        self.tell = tell or on_standard_error
        self.losses, self.broken, self.over = 0, False, False
        self._told: set[str] = set()
        self._telling = threading.Lock()

    def emit(self, record: logging.LogRecord) -> None:
        """Take in one record."""
        try:
            self.take(record.name, record.getMessage(), str(record.msg))
        except Exception:  # the habit of logging: what cannot be said ends no program
            self.handleError(record)

    def take(self, source: str, message: str, kind: str = "") -> None:
        """Take in a message; ``kind`` is the same for those of which one is enough, where they are none that we have words for."""
        for pattern, sentence in KINDS:
            if re.search(pattern, message):
                self.say(sentence)
                return
        if re.search(BROKEN, message):
            self.broken = True
            return
        self.say(f"Dask says ({source}): {message.splitlines()[0] if message else kind}", kind or message)

    def say(self, sentence: str, kind: str = "") -> None:
        """Tell a sentence, once for each ``kind`` (the sentence itself unless it is given)."""
        with self._telling:
            if self.over or (kind or sentence) in self._told:
                return
            self._told.add(kind or sentence)
        self.tell(sentence)

    def lost(self) -> None:
        """Take in that a worker was lost without being asked to leave."""
        self.losses += 1
        self.say(LOST)

    def end(self) -> None:
        """Say how many were lost, where that was not said, and nothing more: Dask logs much while its parts close.

        Connections that broke off are told of now, where no worker that was lost explains them.
        """
        if self.broken and LOST not in self._told:
            self.say(SLOW)
        self.over = True
        if self.losses > 1:
            self.tell(f"{self.losses} workers of the cluster were lost; what they had begun was drawn again, with the same bits")
        self.losses = 0


def on_standard_error(sentence: str) -> None:
    """Print a sentence of this program's on standard error."""
    print(f"theoryck: {sentence}", file=sys.stderr, flush=True)


def listen(notices: Notices) -> Callable[[], None]:
    """Let notices take what Dask logs in this process instead of its own handlers; call what is returned to end that."""
    before = []
    for name in LOGGERS:
        logger = logging.getLogger(name)
        before.append((logger, logger.handlers[:], logger.propagate, logger.level))
        logger.handlers[:], logger.propagate = [notices], False
        logger.setLevel(logging.WARNING)

    def end() -> None:
        for logger, handlers, propagate, level in before:
            logger.handlers[:], logger.propagate = handlers, propagate
            logger.setLevel(level)

    return end


@contextmanager
def warnings_taken(notices: Notices) -> Iterator[None]:
    """Let notices take what Dask warns of meanwhile."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        yield
    for warning in seen:
        notices.take(warning.category.__name__, str(warning.message))


def forwarding_quietly() -> Any:
    """Return what makes workers that were started here send their warnings, rather than print them (a plugin of Dask's)."""
    from distributed import WorkerPlugin

    class Quiet(WorkerPlugin):
        name = "theoryck-quiet"

        def setup(self, worker: Any) -> None:
            import logging

            logger = logging.getLogger("distributed")
            for handler in logger.handlers:
                if type(handler) is logging.StreamHandler:
                    handler.setLevel(logging.CRITICAL)
            logger.setLevel(logging.WARNING)

    return Quiet()
