"""Several maps at once on one bounded queue, and coroutines that wait for their results, all in one thread.

A job is one map: a function that travels once to every worker that runs it, and items that are taken late and sent in order.
Items of all jobs share the workers; those of the lowest rank go first.  A worker that is lost costs the item it ran, which is sent
again; one that is to blame (:meth:`JobExecutor.blamed`) is an error at its place, and concerns no other job.

Whoever has several things in work at once writes them as coroutines that await what is :func:`following` in a map.  With an
executor that is no :class:`JobExecutor` they never wait: it has one map under way at a time.
"""

from __future__ import annotations

import functools
import itertools
import operator
import os
import types
from collections import deque
from collections.abc import Callable, Coroutine, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from theoryck.montecarlo.executors import WORKER_VARIABLE, Executor, SerialExecutor, _Closing
from theoryck.montecarlo.payload import PayloadError, encode
from theoryck.montecarlo.timing import Timed

Item = TypeVar("Item")
Value = TypeVar("Value")

AHEAD = 4  # messages of results of a job, per worker, that may wait for an earlier one: bounds the memory of the parent
DEPTH = 0.5  # seconds of work that a worker holds, so that it does not wait while the parent judges
MOST_HELD = 16  # items that a worker holds
TRIES, MOST_TRIES = 3, 12  # workers that an item may cost: where no other item has cost one, and at most
THREAD_NAME = "theoryck-replies"  # of the threads that read what workers say


class WorkerDied(RuntimeError):
    """Worker processes ended in the middle of an item; the message says how and what to do."""


class WorkerError(RuntimeError):
    """An exception in a worker that could not be sent as it was; the message is its traceback."""


class Closed(RuntimeError):
    """The executor was closed while a map was under way."""


class RemoteTraceback(Exception):
    """The traceback of an exception in a worker, as the cause of that exception."""

    def __init__(self, text: str) -> None:
        super().__init__(text)

    def __str__(self) -> str:
        return f"\n--- in a worker process ---\n{self.args[0]}"


@dataclass
class Account:
    """On whose account jobs run: their ``rank`` (lowest first), and the ``seconds`` that they have taken in workers so far.

    ``lengths`` are about how many seconds one item takes, by the kind of function.
    """

    rank: int = 0
    seconds: float = 0.0
    lengths: dict[Any, float] = field(default_factory=dict)


@dataclass(eq=False)
class Job(Iterator[Any]):
    """One map that is under way: the next value when it is ``ready``, or after waiting for it."""

    executor: JobExecutor
    function: Callable[[Any], Any]
    items: Iterator[Any]
    ticket: int
    account: Account
    more: bool = True
    sent: int = 0
    given: int = 0
    again: deque[tuple[int, Any]] = field(default_factory=deque)
    alone: set[int] = field(default_factory=set)
    longest: int = 1
    arrived: dict[int, tuple[bool, Any]] = field(default_factory=dict)
    over: bool = False
    why: str = ""

    @functools.cached_property
    def payload(self) -> bytes:
        """The function as it travels; raises PayloadError for one that cannot."""
        return encode(self.function)

    @property
    def ready(self) -> bool:
        """Whether the next value, the end or an error is there."""
        return self.over or self.given in self.arrived or (self.given == self.sent and not self.more)

    def __next__(self) -> Any:
        self.executor.feed()
        while not self.ready:
            self.executor.wait()
        if self.given not in self.arrived:
            self.close()
            if self.why:
                raise Closed(self.why)
            raise StopIteration
        fine, value = self.arrived.pop(self.given)
        self.given += 1
        if not fine:
            self.close()
            _raise_remote(*value)
        return value

    def wait(self) -> None:
        """Let something arrive, for this job or another."""
        self.executor.wait()

    def close(self, why: str = "") -> None:
        """Forget what is still running; ``why`` is what the next call for a value is told."""
        if not self.over:
            self.over, self.why, self.more = True, why, False
            self.arrived.clear()
            self.again.clear()
            self.executor.end(self)

    def next_item(self, ahead: int) -> tuple[int, Any] | None:
        """Return the next item to send and its place, unless so many results would wait for an earlier one."""
        if self.again:
            return self.again.popleft()
        if not self.more or self.sent - self.given >= ahead:
            return None
        try:
            item = next(self.items)
        except StopIteration:
            self.more = False
            return None
        except Exception as error:  # it belongs to the place of the item that is not there
            self.more = False
            self.fail(self.sent, error)
            self.sent += 1
            return None
        self.sent += 1
        return self.sent - 1, item

    def next_items(self, ahead: int, count: int) -> list[tuple[int, Any]]:
        """Return up to ``count`` items for one message, each with its place; one that is to go alone does.

        As many results as ``ahead`` messages hold may wait for an earlier one.
        """
        found: list[tuple[int, Any]] = []
        # Messages get shorter at the end, while results wait for a long one: the longest says how many may.
        self.longest = max(self.longest, count)
        ahead *= self.longest
        while len(found) < count and not (found and self.again and self.again[0][0] in self.alone):
            one = self.next_item(ahead)
            if one is None:
                break
            found.append(one)
            if one[0] in self.alone:
                break
        return found

    @property
    def left(self) -> int:
        """About how many items are not sent; of an iterator that does not say it, as many as results may wait."""
        known = operator.length_hint(self.items, AHEAD * self.executor.workers) if self.more else 0
        return len(self.again) + known

    def part(self, bundle: Iterable[tuple[int, Any]]) -> None:
        """Send items of one message again, each alone: one of them may have cost the worker."""
        for place, item in bundle:
            self.alone.add(place)
            self.again.append((place, item))

    def fail(self, place: int, error: BaseException) -> None:
        """Let an error come at its place."""
        self.arrived[place] = (False, (error, ""))

    def lost(self, place: int, item: Any, how: str) -> None:
        """Send an item again whose worker was lost while running it, unless it is to blame."""
        if self.executor.blamed(self, place):
            self.fail(place, WorkerDied(how))
        else:
            self.part([(place, item)])


class JobExecutor(_Closing):
    """What executors share whose workers are elsewhere; ``account`` is that of the jobs which start next.

    A subclass has ``workers`` and says how items are sent (``_send``), how many in one message (``_together``), where there is room
    (``_room``), and how messages come in (``_receive``).

    >>> from theoryck.montecarlo import ProcessExecutor, SerialExecutor
    >>> isinstance(ProcessExecutor(2), JobExecutor), isinstance(SerialExecutor(), JobExecutor)
    (True, False)
    """

    workers: int
    lost: str = ""
    """What is to be said where the workers are gone for good."""

    def __init__(self) -> None:
        self.jobs: dict[int, Job] = {}
        self.account = Account()
        self._tickets = itertools.count()
        self._typical: dict[Any, float] = {}
        self._cost: dict[tuple[int, int], int] = {}

    def start(self, function: Callable[[Item], Value], items: Iterable[Item]) -> Job:
        """Begin a map beside those that are under way; close it to leave early."""
        job = Job(self, function, iter(items), next(self._tickets), self.account)
        self.jobs[job.ticket] = job
        return job

    def map(self, function: Callable[[Item], Value], items: Iterable[Item]) -> Iterator[Value]:
        """Yield ``function(item)`` for every item, in order; leaving early forgets what is still running."""
        job = self.start(function, items)
        try:
            yield from job
        finally:
            job.close()

    def typical(self, job: Job) -> float:
        """Return about how many seconds an item of the job takes, by those of its kind, on its account where there were any."""
        kind = kind_of(job.function)
        return job.account.lengths.get(kind, self._typical.get(kind, DEPTH))

    def took(self, job: Job, seconds: float) -> None:
        """Take in how long an item took."""
        job.account.seconds += seconds
        kind = kind_of(job.function)
        for lengths in (self._typical, job.account.lengths):
            known = lengths.get(kind)
            lengths[kind] = seconds if known is None else known + (seconds - known) / 8

    def blamed(self, job: Job, place: int) -> bool:
        """Take in that a worker was lost while it ran an item, and return whether the item is to blame.

        It is when it has cost ``TRIES`` workers and nothing else has cost any.  Where workers are lost on other items too, by
        preemption say, three losses prove nothing: if each try is lost with probability q, some of N items loses k workers in a
        row with probability at most N q^k.  So every further item that has cost a worker allows ``TRIES`` more, up to
        ``MOST_TRIES``: for blocks of 0.05 s and a worker killed every second q = 0.05 and q^12 < 1e-15, while a block that always
        kills is named after twelve.
        """
        key = job.ticket, place
        self._cost[key] = self._cost.get(key, 0) + 1
        guilty = self._cost[key] >= min(MOST_TRIES, TRIES * len(self._cost))
        if guilty:
            del self._cost[key]  # it tells nothing of the others
        return guilty

    def feed(self) -> None:
        """Send items to workers that have room, those of the lowest rank first."""
        for job in sorted(self.jobs.values(), key=lambda job: (job.account.rank, job.ticket)):
            while self._room():
                count = self._together(job)
                found = job.next_items(AHEAD * self.workers, count)
                if not found:
                    break
                try:
                    job.payload  # noqa: B018 (made now, so that what cannot travel is an error of this job)
                except PayloadError as error:
                    job.fail(found[0][0], error)
                    break
                self._send(job, found)

    def wait(self) -> None:
        """Feed the workers and take in one message at least, unless nothing is under way."""
        self.feed()
        if self._busy():
            self._receive(block=True)
            self.poll()

    def poll(self) -> None:
        """Take in what has arrived, without waiting, and feed the workers."""
        while self._receive(block=False):
            pass
        self.feed()

    def end(self, job: Job) -> None:
        """Forget a job; what was sent of it is not waited for."""
        self.jobs.pop(job.ticket, None)

    def _end_jobs(self) -> None:
        for job in list(self.jobs.values()):
            job.close("the executor was closed while this map was under way: map again")

    def _room(self) -> bool:
        raise NotImplementedError

    def _busy(self) -> bool:
        raise NotImplementedError

    def _together(self, job: Job) -> int:
        """Return how many items of a job the next message may hold."""
        return 1

    def _send(self, job: Job, bundle: list[tuple[int, Any]]) -> None:
        raise NotImplementedError

    def _receive(self, block: bool) -> bool:
        raise NotImplementedError


def _raise_remote(error: BaseException | None, text: str) -> None:
    """Raise here what was raised there, but for what would end this process: a function that calls sys.exit ends no run."""
    if error is None or isinstance(error, SystemExit | GeneratorExit):
        raise WorkerError(text)
    if text:
        raise error from RemoteTraceback(text)
    raise error


def kind_of(function: Any) -> Any:
    """Return what functions have in common whose items take about as long."""
    return type(function.function if isinstance(function, Timed) else function)


class Waiting(Protocol):
    """What a coroutine waits for: it goes on when this is ``ready``; ``wait`` lets something happen that may make it so."""

    @property
    def ready(self) -> bool:
        """Whether the coroutine can go on."""

    def wait(self) -> None:
        """Wait for whatever happens next."""


Work = Coroutine[Waiting, None, Value]


@types.coroutine
def until(condition: Waiting) -> Generator[Waiting, None, None]:
    """Let a coroutine wait until a condition is ready."""
    while not condition.ready:
        yield condition


class _AtOnce(Iterator[Any]):
    """The map of an executor that makes who asks wait."""

    ready = True

    def __init__(self, results: Iterator[Any]) -> None:
        self._results = results

    def __next__(self) -> Any:
        return next(self._results)

    def wait(self) -> None:
        """Return: every value is as good as there."""

    def close(self) -> None:
        """Leave the map."""
        close = getattr(self._results, "close", None)
        if close is not None:
            close()


def start(executor: Executor | None, function: Callable[[Any], Any], items: Iterable[Any]) -> Job | _AtOnce:
    """Begin a map; a coroutine takes its values with :func:`following`, and closes it."""
    if isinstance(executor, JobExecutor) and not os.environ.get(WORKER_VARIABLE):
        return executor.start(function, items)
    return _AtOnce((executor or SerialExecutor()).map(function, items))


async def following(results: Job | _AtOnce) -> Any:
    """Return the next of the values that are known to come; the coroutine waits where it is not there yet."""
    await until(results)
    return next(results)


async def mapped(executor: Executor | None, function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
    """Return the values of all items; the coroutine waits for them."""
    results = start(executor, function, items)
    try:
        return [await following(results) for _ in items]
    finally:
        results.close()


def run(work: Work[Value]) -> Value:
    """Return what a coroutine returns, waiting for whatever it waits for.

    >>> run(mapped(None, abs, [-1, 2]))
    [1, 2]
    """
    try:
        waiting = work.send(None)
        while True:
            try:
                waiting.wait()
            except BaseException as error:  # it comes where the coroutine waits
                waiting = work.throw(error)
            else:
                waiting = work.send(None)
    except StopIteration as end:
        value: Value = end.value
        return value
