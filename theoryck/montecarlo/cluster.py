"""Blocks on a Dask cluster, through a ``distributed.Client``.

The scheduler's messages carry functions and statistics of blocks, never draws.  One process asks for blocks and merges them, so
that a ledger has one owner.
"""

from __future__ import annotations

import asyncio
import functools
import itertools
import json
import logging
import math
import platform
import queue
import threading
import time
import uuid
import weakref
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from theoryck.montecarlo.jobs import THREAD_NAME, Bundle, Job, JobExecutor, WorkerDied
from theoryck.montecarlo.notices import Notices, forwarding_quietly, listen, warnings_taken
from theoryck.montecarlo.payload import read_once
from theoryck.montecarlo.worker import answer

COUNT_EVERY = 5.0  # seconds between two looks at how many workers there are
SPAN = 0.5  # seconds of work in a message, where there are few workers
MESSAGE = 0.001  # seconds of the client's processor that a message costs, and as many of the scheduler's
SHORTEST = 0.001  # seconds that an item takes at least, with what it costs beside its run
LARGE = 2**15  # bytes of a function that is given to the cluster once, rather than with every item

LINGER = 0.01  # of the longest time that a message takes: so long is waited for others that can be fetched with it
FIRST = 2  # items whose length is not known that are sent for each worker that a job may have

PATIENCE = 30.0  # seconds to wait for a scheduler and its first worker
DIED = (
    "several workers of the cluster died in the middle of the same block: lower the draws per block, or give workers more memory; "
    "to see an error of the sampler itself run with one worker"
)


Answer = tuple[bool, Any, float]  # what :func:`~theoryck.montecarlo.worker.answer` returns
Together = tuple[Sequence[Any], float]  # values as they travel together, and the seconds that they took


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

    theoryck must be installed on the cluster; the user's own modules travel.  At most ``ahead`` messages a thread are in flight;
    one holds items of one job, about ``SPAN`` seconds of them (:func:`bundled`).
    Raises what ``function`` raised, WorkerDied for an item that several workers died of, and ClusterLost with the scheduler.
    A message of several items that lost a worker blames none: its items are sent again one by one.
    Dask counts every item that a lost worker held, begun or not, and gives one up after three; here only those that it may have
    begun count, and one that Dask gave up is sent again unless it is to blame.
    Dask starts its workers with one BLAS thread unless told otherwise; leave it so, or the last bits of matrix products may differ.

    >>> DaskExecutor("tcp://127.0.0.1:8786")
    Traceback (most recent call last):
        ...
    TypeError: client must be a distributed.Client, got 'tcp://127.0.0.1:8786' of type str
    """

    def __init__(self, client: Any, ahead: int = 4, notices: Notices | None = None) -> None:
        if not hasattr(client, "submit"):
            raise TypeError(f"client must be a distributed.Client, got {client!r} of type {type(client).__name__}")
        super().__init__()
        self.client = client
        self.ahead = ahead
        self.notices = notices or Notices()
        self._name = f"theoryck-{uuid.uuid4().hex[:8]}"
        self._numbers = itertools.count()
        self._outbox: queue.SimpleQueue[tuple[Any, ...]] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[tuple[float, Any, Any] | None] = queue.SimpleQueue()
        self._fetching: threading.Thread | None = None
        self._flying: dict[tuple[int, int], _Flying] = {}
        self._sent: dict[int, Any] = {}
        self._each = 0.0  # about how many seconds of work a message holds
        self._counted, self._threads, self._of_worker, self._heard = -COUNT_EVERY, 1, {}, time.monotonic()  # type: ignore[var-annotated]
        self._own: list[Callable[[], Any]] = []
        self._processes = 0  # of a cluster that was started here
        _listen_for_losses(client).add(self)

    @property
    def workers(self) -> int:  # type: ignore[override]
        """Number of threads of the cluster, which may grow and shrink."""
        if time.monotonic() - self._counted >= COUNT_EVERY:
            with suppress(OSError):  # a scheduler that is gone is told from the state of the client
                self._of_worker = self.client.nthreads()
            self._threads = max(1, sum(self._of_worker.values()))
            self._counted = time.monotonic()
            if self._processes > len(self._of_worker):
                # Dask gives up for good a worker process that is killed before it has said that it started; this replaces it.
                self.client.cluster.scale(self._processes)
        return self._threads

    def end(self, job: Job) -> None:
        """Forget a job, and cancel what was sent of it."""
        super().end(job)
        for key in [key for key in self._flying if key[0] == job.ticket]:
            self._flying.pop(key).future.cancel()
        self._sent.pop(job.ticket, None)

    def close(self) -> None:
        """Cancel what is under way; a client and a cluster that :func:`connect` made are closed, others stay."""
        self._end_jobs()
        self.notices.end()
        if self._fetching is not None:  # a None that nobody takes would end the next one at once
            self._done.put(None)
            self._fetching = None
        while self._own:
            self._own.pop()()

    def _gone(self) -> ClusterLost:
        self._end_jobs()
        self.lost = "the scheduler of the cluster is gone; what was judged until then stays"
        return ClusterLost(self.lost)

    def _room(self) -> bool:
        return len(self._flying) < self.ahead * self.workers

    def _together(self, job: Job) -> int:
        left = job.left
        length = self.known(job, left[0][0] if left else None)
        if length is None:
            # They may be long: the first ones tell, one by one, as many as a job's share of the workers takes.
            return int(job.sent * len(self.jobs) < FIRST * self.workers or bool(job.again))
        return bundled(length, self.waiting, len(self._flying) * self._each, self.workers)

    def _busy(self) -> bool:
        return bool(self._flying)

    def _send(self, job: Job, bundle: Bundle) -> None:
        payload: Any = job.payload
        if len(payload) > LARGE:
            if job.ticket not in self._sent:
                # A task, not scattered data: when the only worker that holds it is lost, the scheduler makes it again.
                with warnings_taken(self.notices):
                    name = (self._name, job.ticket, next(self._numbers))
                    self._sent[job.ticket] = self.client.submit(_itself, payload, key=name)
            payload = self._sent[job.ticket]
        number = next(self._numbers)
        rank, key, most = job.account.rank, (job.ticket, number), 2 * span(self.workers)
        future = self.client.submit(_answer, payload, bundle.items, most, key=(self._name, *key), priority=-rank)
        self._flying[key] = _Flying(job, bundle, future, (rank, number))
        if self._fetching is None:
            self._fetching = threading.Thread(target=_fetch, args=(self._done, self._outbox), name=THREAD_NAME, daemon=True)
            self._fetching.start()
        future.add_done_callback(functools.partial(_is_done, self._done, key, most * LINGER))

    def _receive(self, block: bool) -> bool:
        while True:
            try:
                # A finite wait lets Ctrl-C through on systems where a blocked lock does not.
                message = self._outbox.get(timeout=1.0) if block else self._outbox.get_nowait()
                break
            except queue.Empty:
                if not block:
                    return False
                if self.client.status not in ("running", "connecting"):
                    raise self._gone() from None
                if self.workers and not self._of_worker and time.monotonic() - self._heard > PATIENCE:
                    self.notices.say(
                        "the cluster has no workers now: waiting for some (Ctrl-C ends the run, what was judged stays)"
                    )
        self._heard = time.monotonic()
        if message[0] is _LOST:
            self._lost(*message[1:])
            return True
        key, future, found = message
        flying = self._flying.get(key)
        if flying is None or flying.future is not future:
            return True  # of a job that has ended, or of a try that is over
        if future.cancelled():
            raise self._gone()
        del self._flying[key]
        if found is None:
            self._again(flying)
            return True
        job, bundle = flying.job, flying.bundle
        if isinstance(found, Exception):
            if len(bundle.items) > 1:
                job.part(bundle)
                return True
            found = [(False, (found, ""), 0.0)]
        if isinstance(found, tuple):
            values, seconds = found
            job.arrive(bundle.place, values)
        else:
            values, seconds = found, sum(seconds for *_, seconds in found)
            for place, (fine, value, _) in enumerate(found, bundle.place):
                if fine:
                    job.arrive(place, [value])
                else:
                    job.fail(place, *value)
        self.took(job, seconds, len(values), bundle.kind)
        self._each += (seconds - self._each) / 8
        job.send_again(bundle.after(len(values)))
        return True

    def _again(self, flying: _Flying) -> None:
        """Send again what Dask gave up."""
        sent = self._sent.get(flying.job.ticket)
        if sent is not None and sent.status == "error":
            del self._sent[flying.job.ticket]
        if len(flying.bundle.items) > 1:
            flying.job.part(flying.bundle)
        else:
            flying.job.lost(flying.bundle, DIED)

    def _lost(self, worker: str, keys: list[Any]) -> None:
        """Take in that a worker was lost: as many messages as it had threads may have been begun, those that were to go first."""
        self.notices.lost()
        held = [key[1:] for key in map(tuple, keys) if key[0] == self._name and key[1:] in self._flying]
        held.sort(key=lambda each: self._flying[each].turn)
        for key in held[: self._of_worker.get(worker, 1)]:
            flying = self._flying[key]
            if len(flying.bundle.items) > 1:
                flying.job.part(flying.bundle)
            elif self.blamed(flying.job, flying.bundle.place):
                flying.job.fail(flying.bundle.place, WorkerDied(DIED))
            else:
                continue  # Dask sends it again
            del self._flying[key]
            flying.future.cancel()


@dataclass(frozen=True, slots=True)
class _Flying:
    """Items that the cluster has, each with its place, the future of their values, and when their turn is among others."""

    job: Job
    bundle: Bundle
    future: Any
    turn: tuple[int, int]


_LOST = object()  # the first entry of a message which says that a worker was lost
_listening: weakref.WeakKeyDictionary[Any, weakref.WeakSet[DaskExecutor]] = weakref.WeakKeyDictionary()


def _listen_for_losses(client: Any) -> weakref.WeakSet[DaskExecutor]:
    """Return the executors of a client that are told of every worker that is lost; one subscription serves them all."""
    if client not in _listening:
        executors = _listening[client] = weakref.WeakSet()

        def heard(event: tuple[float, Any]) -> None:
            _, message = event
            if isinstance(message, dict) and message.get("action") == "remove-worker" and not message.get("expected"):
                for executor in list(executors):
                    executor._outbox.put((_LOST, message["worker"], list(message["processing-tasks"])))

        client.subscribe_topic("all", heard)
    return _listening[client]


def span(workers: int) -> float:
    """Return the seconds of work that a message holds at most: ``SPAN``, and enough that one client can feed all workers.

    They send ``workers / span`` messages a second, which cost the client and the scheduler ``MESSAGE`` seconds each: a quarter of
    their time at most.

    >>> span(2), span(1000)
    (0.5, 4.0)
    """
    return max(SPAN, 4 * MESSAGE * workers)


def bundled(length: float, waiting: float, flying: float, workers: int) -> int:
    """Return how many items of ``length`` seconds go in one message: ``waiting`` seconds of work are not sent, ``flying`` not back.

    As many as take :func:`span` seconds, but no more than half a worker's share of what waits, so that the last messages are short
    and no worker is without one.  Where that is little, cutting it finer takes longer than it saves: k messages of W seconds of
    work, what flies included, are over after about ``k MESSAGE + W / k``, which is least at ``W / k = sqrt(W MESSAGE)``.

    >>> bundled(0.007, 100.0, 2.0, 2), bundled(0.007, 2.0, 0.0, 2), bundled(0.007, 2.0, 0.0, 1000), bundled(1.0, 100.0, 2.0, 2)
    (71, 71, 6, 1)
    """
    least = math.sqrt((waiting + flying) * MESSAGE)
    seconds = min(span(workers), max(waiting / (2 * workers), least))
    return max(1, int(seconds / max(length, SHORTEST)))


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
    file = kind != "local" and "://" not in where and not (number.isascii() and number.isdigit())
    described = _scheduler_of(where) if file or Path(where).is_file() else where
    notices = Notices()
    own = [listen(notices)]
    try:
        if kind == "local":
            options = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": logging.CRITICAL}
            with warnings_taken(notices):
                cluster = distributed.LocalCluster(n_workers=int(number), **options)
            own.append(cluster.close)
            described = cluster
        with warnings_taken(notices):
            client = _client(described)
        own.append(client.close)
        client.wait_for_workers(1, timeout=PATIENCE)
        if not any_versions:
            _compare_versions(client)
        if kind == "local":
            client.register_plugin(forwarding_quietly())
        client.forward_logging("distributed", logging.WARNING)
        executor = DaskExecutor(client, notices=notices)
    except (OSError, ValueError, TimeoutError, ClusterError) as error:
        while own:
            own.pop()()
        if isinstance(error, ClusterError):
            raise
        raise ClusterError(
            f"the cluster {where!r} cannot be reached ({error}): give the address of a scheduler that runs and has workers, such "
            "as tcp://host:8786, its scheduler file, or local:N"
        ) from error
    executor._own = own
    executor._processes = int(number) if kind == "local" else 0
    return executor


def _scheduler_of(file: str) -> str:
    """Return the address that a scheduler wrote into its file."""
    try:
        address: str = json.loads(Path(file).read_text())["address"]
    except FileNotFoundError:
        raise ClusterError(
            f"there is no file {file!r}: a scheduler writes it (dask scheduler --scheduler-file {file}); an address is written as "
            "tcp://host:8786"
        ) from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ClusterError(f"the file {file!r} is none that a Dask scheduler wrote ({type(error).__name__}: {error})") from error
    return address


def _client(scheduler: Any) -> Any:
    """Return a client of a scheduler; one that could not be made is not left to wait for its end where it is forgotten."""
    import distributed

    for attempts_left in (2, 1, 0):
        client = object.__new__(distributed.Client)
        try:
            client.__init__(scheduler, timeout=PATIENCE, set_as_default=False)
            return client
        except BaseException as error:
            with suppress(Exception):
                client.close(timeout=1.0)
            client.status = "closed"  # else it is closed again when it is forgotten, which may take a minute
            # Dask asserts that nothing comes before the scheduler's answer: what other clients do may.
            if not (isinstance(error, AssertionError) and attempts_left):
                raise
    raise AssertionError("the last attempt returns or raises")


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


def _itself(payload: bytes) -> bytes:
    return payload


def _answer(payload: bytes, items: Iterable[Any], most: float) -> list[Answer] | Together:
    """What runs on the cluster, beside other threads there: items until ``most`` seconds have passed, at least one."""
    began, found = time.perf_counter(), []
    for item in items:
        found.append(answer(lambda each: read_once(payload)(each), item, time.thread_time))
        if time.perf_counter() - began > most:
            break
    together = getattr(read_once(payload), "together", None) if all(fine for fine, *_ in found) else None
    if together is None:
        return found
    return together([value for _, value, _ in found]), sum(seconds for *_, seconds in found)


def _is_done(done: queue.SimpleQueue[Any], key: tuple[int, int], linger: float, future: Any) -> None:
    done.put((linger, key, future))


def _fetch(done: queue.SimpleQueue[Any], outbox: queue.SimpleQueue[Any]) -> None:
    """Fetch what is done, until None comes; between two of them nothing is held that Dask would keep for it."""
    while _fetch_some(done, outbox):
        pass


def _fetch_some(done: queue.SimpleQueue[Any], outbox: queue.SimpleQueue[Any]) -> bool:
    """Fetch what is done next, together with what is soon after it, since that costs little more than one; False at None.

    Fetching waits where the worker that had a value is lost by now: here, not in the thread of the run.
    """
    first = done.get()
    if first is None:
        return False
    time.sleep(first[0])
    fetched = [first]
    with suppress(queue.Empty):
        while (each := done.get_nowait()) is not None:
            fetched.append(each)
        done.put(None)
    for (_, key, future), found in zip(fetched, _outcomes([future for *_, future in fetched]), strict=True):
        outbox.put((key, future, found))
    return True


def _outcomes(futures: list[Any]) -> list[Any]:
    """Return for each future what :func:`_outcome` does."""
    if len(futures) > 1 and all(future.status == "finished" for future in futures):
        with suppress(Exception):  # each says for itself what is wrong with it
            found: list[Any] = futures[0].client.gather(futures)
            return found
    return [_outcome(future) for future in futures]


def _outcome(future: Any) -> list[Answer] | Together | Exception | None:
    """Return what :func:`_answer` gave, why it gave nothing, or None for what Dask gave up or was cancelled."""
    try:
        found: list[Answer] | Together = future.result()
        return found
    except asyncio.CancelledError:
        return None
    except Exception as error:
        return None if type(error).__name__ == "KilledWorker" else error
