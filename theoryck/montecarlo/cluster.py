"""Blocks on a Dask cluster, through a ``distributed.Client``.

The scheduler's messages carry functions and statistics of blocks, never draws.  One process asks for blocks and merges them, so
that a ledger has one owner.
"""

from __future__ import annotations

import logging
import platform
import queue
import time
from pathlib import Path
from typing import Any

from theoryck.montecarlo.jobs import Job, JobExecutor, WorkerDied
from theoryck.montecarlo.payload import read_once
from theoryck.montecarlo.worker import answer

COUNT_EVERY = 5.0  # seconds between two looks at how many workers there are
LARGE = 2**15  # bytes of a function that is given to the cluster once, rather than with every item

PATIENCE = 30.0  # seconds to wait for a scheduler and its first worker


class ClusterError(RuntimeError):
    """A cluster that cannot be used; the message says why and what to do.

    >>> connect("local:none")
    Traceback (most recent call last):
        ...
    theoryck.montecarlo.cluster.ClusterError: local:N needs a number of worker processes >= 1, such as local:4, got 'local:none'
    """


class ClusterLost(KeyboardInterrupt):
    """The scheduler is gone in the middle of a run, which ends as it does by Ctrl-C: what was judged stays."""


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
        self._own: list[Any] = []

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
        """Cancel what is under way; a client and a cluster that :func:`connect` made are closed, others stay."""
        self._end_jobs()
        while self._own:
            self._own.pop().close()

    def _gone(self) -> ClusterLost:
        self._end_jobs()
        self.lost = "the scheduler of the cluster is gone; what was judged until then stays"
        return ClusterLost(self.lost)

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
                if self.client.status not in ("running", "connecting"):
                    raise self._gone() from None
        if future.cancelled() and (ticket, place) in self._flying:
            raise self._gone()
        job, _ = self._flying.pop((ticket, place), (None, None))
        if job is not None:
            fine, value, seconds = _outcome(future)
            self.took(job, seconds)
            job.arrived[place] = (fine, value)
        return True


def connect(where: str, any_versions: bool = False) -> DaskExecutor:
    """Return an executor on a cluster: a scheduler's address, a scheduler file, or ``local:N`` for N processes started here.

    Closing it closes the client, and the processes that were started.  Unless ``any_versions``, the versions of what decides the
    bits of a draw must be the same on all workers as here.  Raises ClusterError for a cluster that cannot be reached or used.

    >>> connect("local:0")
    Traceback (most recent call last):
        ...
    theoryck.montecarlo.cluster.ClusterError: local:N needs a number of worker processes >= 1, such as local:4, got 'local:0'
    """
    try:
        import distributed
    except ImportError as error:
        raise ClusterError("a cluster needs the package distributed: pip install 'theoryck[cluster]'") from error
    kind, _, number = where.partition(":")
    if kind == "local" and not (number.isascii() and number.isdigit() and int(number)):
        raise ClusterError(f"local:N needs a number of worker processes >= 1, such as local:4, got {where!r}")
    own: list[Any] = []
    try:
        if kind == "local":
            options = {"threads_per_worker": 1, "dashboard_address": None, "silence_logs": logging.CRITICAL}
            own.append(distributed.LocalCluster(n_workers=int(number), **options))
            address = {"address": own[0]}
        else:
            address = {"scheduler_file": where} if Path(where).is_file() else {"address": where}
        own.append(distributed.Client(**address, timeout=PATIENCE, set_as_default=False))
        own[-1].wait_for_workers(1, timeout=PATIENCE)
        executor = DaskExecutor(own[-1])
        if not any_versions:
            _compare_versions(executor.client)
    except (OSError, ValueError, TimeoutError, ClusterError) as error:
        while own:
            own.pop().close()
        if isinstance(error, ClusterError):
            raise
        raise ClusterError(
            f"the cluster {where!r} cannot be reached ({error}): give the address of a scheduler that runs and has workers, such "
            "as tcp://host:8786, its scheduler file, or local:N"
        ) from error
    executor._own = own
    return executor


def versions() -> dict[str, str]:
    """Return the versions of what decides the bits of a draw.

    >>> sorted(versions())
    ['numpy', 'python', 'scipy', 'theoryck']
    """
    from importlib.metadata import version

    from theoryck import __version__

    python = ".".join(platform.python_version_tuple()[:2])
    return {"theoryck": __version__, "python": python, **{name: version(name) for name in ("numpy", "scipy")}}


def _compare_versions(client: Any) -> None:
    here = versions()
    try:
        found: dict[str, dict[str, str]] = client.run(versions)
    except Exception as error:  # whatever the workers raise: theoryck that is not there cannot be asked
        raise ClusterError(f"the workers of the cluster cannot import theoryck ({error}): install it there, as here") from error
    for worker, there in found.items():
        other = [f"{name} {there.get(name, 'missing')} there, {here[name]} here" for name in here if there.get(name) != here[name]]
        if other:
            raise ClusterError(
                f"the worker {worker} has other versions ({'; '.join(other)}), so that bits may differ: install the same there, or "
                "accept that with --any-versions"
            )


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
