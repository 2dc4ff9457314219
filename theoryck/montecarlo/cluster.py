"""Blocks on a Dask cluster, through a ``distributed.Client``."""

from __future__ import annotations

import queue
import time
from typing import Any

from theoryck.montecarlo.jobs import Job, JobExecutor, WorkerDied
from theoryck.montecarlo.payload import read_once
from theoryck.montecarlo.worker import answer

COUNT_EVERY = 5.0  # seconds between two looks at how many workers there are
LARGE = 2**15  # bytes of a function that is given to the cluster once, rather than with every item


class DaskExecutor(JobExecutor):
    """Runs items on a Dask cluster through a ``distributed.Client`` (the optional extra ``theoryck[cluster]``).

    theoryck must be installed on the cluster; the user's own modules travel.  At most ``ahead`` items a thread are in flight.
    Raises what ``function`` raised, WorkerDied for an item that several workers died of, and what Dask raises for a lost cluster.
    Dask starts its workers with one BLAS thread unless told otherwise; leave it so, or the last bits of matrix products may differ.

    >>> DaskExecutor("tcp://127.0.0.1:8786")
    Traceback (most recent call last):
        ...
    TypeError: client must be a distributed.Client, got 'tcp://127.0.0.1:8786' of type str
    """

    def __init__(self, client: Any, ahead: int = 4) -> None:
        if not hasattr(client, "submit"):
            raise TypeError(f"client must be a distributed.Client, got {client!r} of type {type(client).__name__}")
        super().__init__()
        self.client = client
        self.ahead = ahead
        self._outbox: queue.SimpleQueue[tuple[int, int, Any]] = queue.SimpleQueue()
        self._flying: dict[tuple[int, int], tuple[Job, Any]] = {}
        self._sent: dict[int, Any] = {}
        self._counted, self._threads = -COUNT_EVERY, 1

    @property
    def workers(self) -> int:  # type: ignore[override]
        """Number of threads of the cluster, which may grow and shrink."""
        if time.monotonic() - self._counted >= COUNT_EVERY:
            self._threads = max(1, sum(self.client.nthreads().values()))
            self._counted = time.monotonic()
        return self._threads

    def end(self, job: Job) -> None:
        """Forget a job, and cancel what was sent of it."""
        super().end(job)
        for key in [key for key in self._flying if key[0] == job.ticket]:
            self._flying.pop(key)[1].cancel()
        self._sent.pop(job.ticket, None)

    def close(self) -> None:
        """Cancel what is under way; the client and its cluster stay."""
        self._end_jobs()

    def _room(self) -> bool:
        return len(self._flying) < self.ahead * self.workers

    def _busy(self) -> bool:
        return bool(self._flying)

    def _send(self, job: Job, place: int, item: Any) -> None:
        payload: Any = job.payload
        if len(payload) > LARGE:
            if job.ticket not in self._sent:
                self._sent[job.ticket] = self.client.scatter(payload, hash=False)
            payload = self._sent[job.ticket]
        # pure=False: equal arguments must not be taken for a result that is already known.
        future = self.client.submit(_answer, payload, item, pure=False, priority=-job.account.rank)
        self._flying[job.ticket, place] = job, future
        future.add_done_callback(lambda done: self._outbox.put((job.ticket, place, done)))

    def _receive(self, block: bool) -> bool:
        while True:
            try:
                # A finite wait lets Ctrl-C through on systems where a blocked lock does not.
                ticket, place, future = self._outbox.get(timeout=1.0) if block else self._outbox.get_nowait()
                break
            except queue.Empty:
                if not block:
                    return False
        job, _ = self._flying.pop((ticket, place), (None, None))
        if job is not None:
            fine, value, seconds = _outcome(future)
            self.took(job, seconds)
            job.arrived[place] = (fine, value)
        return True


def _answer(payload: bytes, item: Any) -> tuple[bool, Any, float]:
    """What runs on the cluster, beside other threads of the same process."""
    return answer(lambda each: read_once(payload)(each), item, time.thread_time)


def _outcome(future: Any) -> tuple[bool, Any, float]:
    try:
        found: tuple[bool, Any, float] = future.result()
        return found
    except Exception as error:
        if type(error).__name__ == "KilledWorker":
            error = WorkerDied(
                f"several workers of the cluster died in the middle of the same block ({error}): lower the draws per block, or "
                "give workers more memory"
            )
        return False, (error, ""), 0.0
