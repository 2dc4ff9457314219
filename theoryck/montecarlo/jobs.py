"""Several maps at once on one bounded queue, and coroutines that wait for their results, all in one thread.

A job is one map: a function that travels once to every worker that runs it, and items that are taken late and sent in order,
several in one message where that is worth it.  Items of all jobs share the workers; those of the lowest rank go first.  A worker
that is lost costs the item it ran, which is sent again; one that is to blame (:meth:`JobExecutor.blamed`) is an error at its place,
and concerns no other job.

Whoever has several things in work at once writes them as coroutines that await what is :func:`following` in a map.  With an
executor that is no :class:`JobExecutor` they never wait: it has one map under way at a time.
"""

from __future__ import annotations

import bisect
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


@dataclass(frozen=True, slots=True)
class Bundle:
    """Consecutive items of a job, the first of them at ``place``, which travel in one message; ``alone`` is one that has to.

    They are of one ``kind``: they take about as long.
    """

    place: int
    items: Sequence[Any]
    kind: Any = None
    alone: bool = False

    def parted(self) -> Iterator[Bundle]:
        """Yield each item as one that is to go alone."""
        return (Bundle(self.place + i, self.items[i : i + 1], self.kind, alone=True) for i in range(len(self.items)))

    def after(self, count: int) -> Bundle:
        """Return what follows so many items."""
        return Bundle(self.place + count, self.items[count:], self.kind)


class _Items:
    """Items that are taken late: of a sequence several at a time, of anything else one by one.

    A sequence may say by ``kinds(place)`` how many items from a place on are of which kind, in their order.
    """

    def __init__(self, items: Iterable[Any]) -> None:
        self._all = items if isinstance(items, Sequence) else None
        self._each = iter(() if self._all is not None else items)
        self._taken = 0

    def take(self, count: int) -> Sequence[Any]:
        """Return the next ones, at most so many; none where there are no more."""
        if self._all is None:
            return list(itertools.islice(self._each, 1))
        found = self._all[self._taken : self._taken + count]
        self._taken += len(found)
        return found

    @property
    def ended(self) -> bool:
        """Whether there are certainly no more."""
        return self._all is not None and self._taken == len(self._all)

    def left(self, guess: int) -> list[tuple[Any, int]]:
        """Return about how many there are of each kind, in their order: ``guess`` of an iterator that does not say it."""
        if self._all is None:
            return [(None, operator.length_hint(self._each, guess))]
        kinds = getattr(self._all, "kinds", None)
        found: list[tuple[Any, int]] = [(None, len(self._all) - self._taken)] if kinds is None else kinds(self._taken)
        return found


@dataclass(eq=False)
class Job(Iterator[Any]):
    """One map that is under way: the next value when it is ``ready``, or after waiting for it."""

    executor: JobExecutor
    function: Callable[[Any], Any]
    items: _Items
    ticket: int
    account: Account
    more: bool = True
    sent: int = 0
    given: int = 0
    again: deque[Bundle] = field(default_factory=deque)
    longest: int = 1
    arrived: dict[int, tuple[bool, Any]] = field(default_factory=dict)
    over: bool = False
    why: str = ""
    weight: float = 0.0
    _rest: deque[Any] = field(default_factory=deque)

    @property
    def turn(self) -> tuple[int, int]:
        """Its place among those that want to send something."""
        return self.account.rank, self.ticket

    @functools.cached_property
    def payload(self) -> bytes:
        """The function as it travels; raises PayloadError for one that cannot."""
        return encode(self.function)

    @property
    def ready(self) -> bool:
        """Whether the next value, the end or an error is there."""
        return bool(self._rest) or self.over or self.given in self.arrived or (self.given == self.sent and not self.more)

    def __next__(self) -> Any:
        if not self._rest:
            self._rest.extend(self.several())
        return self._rest.popleft()

    def several(self) -> Sequence[Any]:
        """Return the values that come next, as many as came in one message."""
        self.executor.feed()
        while not self.ready:
            self.executor.wait()
        if self.given not in self.arrived:
            self.close()
            if self.why:
                raise Closed(self.why)
            raise StopIteration
        fine, found = self.arrived.pop(self.given)
        if not fine:
            self.given += 1
            self.close()
            _raise_remote(*found)
        self.given += len(found)
        values: Sequence[Any] = found
        return values

    def wait(self) -> None:
        """Let something arrive, for this job or another."""
        self.executor.wait()

    def close(self, why: str = "") -> None:
        """Forget what is still running; ``why`` is what the next call for a value is told."""
        if not self.over:
            self.over, self.why, self.more = True, why, False
            for kept in (self.arrived, self.again, self._rest):
                kept.clear()
            self.executor.end(self)

    def next_bundle(self, ahead: int, count: int) -> Bundle | None:
        """Return up to ``count`` items for one message; None while as many results as ``ahead`` messages hold wait for another."""
        if self.again:
            bundle = self.again.popleft()
            if bundle.alone or len(bundle.items) <= count:
                return bundle
            self.again.appendleft(bundle.after(count))
            return Bundle(bundle.place, bundle.items[:count], bundle.kind)
        # Messages get shorter at the end, while results wait for a long one: the longest says how many may.
        self.longest = max(self.longest, count)
        if not self.more or self.sent - self.given >= ahead * self.longest:
            return None
        try:
            kind, alike = next(iter(self.items.left(count)), (None, count))
            items = self.items.take(min(count, alike))
        except Exception as error:  # it belongs to the place of the item that is not there
            self.more = False
            self.fail(self.sent, error)
            self.sent += 1
            return None
        self.more = bool(items) and not self.items.ended
        self.sent += len(items)
        return Bundle(self.sent - len(items), items, kind) if items else None

    @property
    def left(self) -> list[tuple[Any, int]]:
        """About how many items of each kind are not sent, the next first; of an iterator that does not say it, as may wait."""
        known = self.items.left(AHEAD * self.executor.workers) if self.more else []
        return [(bundle.kind, len(bundle.items)) for bundle in self.again] + known

    def send_again(self, bundle: Bundle) -> None:
        """Send items again that were not run."""
        if bundle.items:
            self.again.append(bundle)
            self.executor.weigh(self)

    def part(self, bundle: Bundle) -> None:
        """Send items of one message again, each alone: one of them may have cost the worker."""
        self.again.extend(bundle.parted())
        self.executor.weigh(self)

    def arrive(self, place: int, values: Sequence[Any]) -> None:
        """Take in the values of consecutive items, of which this is the place of the first."""
        if not self.over:
            self.arrived[place] = (True, values)

    def fail(self, place: int, error: BaseException | None, text: str = "") -> None:
        """Let an error come at its place; ``text`` is its traceback elsewhere."""
        if not self.over:
            self.arrived[place] = (False, (error, text))

    def lost(self, bundle: Bundle, how: str) -> None:
        """Send a single item again whose worker was lost while running it, unless it is to blame."""
        if self.executor.blamed(self, bundle.place):
            self.fail(bundle.place, WorkerDied(how))
        else:
            self.part(bundle)


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
        self.waiting = 0.0
        self._queue: list[Job] = []  # the same jobs, those first whose turn is first
        self._tickets = itertools.count()
        self._typical: dict[Any, float] = {}
        self._cost: dict[tuple[int, int], int] = {}

    def start(self, function: Callable[[Item], Value], items: Iterable[Item]) -> Job:
        """Begin a map beside those that are under way; close it to leave early."""
        job = Job(self, function, _Items(items), next(self._tickets), self.account)
        self.jobs[job.ticket] = job
        bisect.insort(self._queue, job, key=lambda each: each.turn)
        self.weigh(job)
        return job

    def map(self, function: Callable[[Item], Value], items: Iterable[Item]) -> Iterator[Value]:
        """Yield ``function(item)`` for every item, in order; leaving early forgets what is still running."""
        job = self.start(function, items)
        try:
            yield from job
        finally:
            job.close()

    def known(self, job: Job, kind: Any) -> float | None:
        """Return about how many seconds an item of this kind takes, or any of the job's, by what was seen on its account."""
        function, lengths = kind_of(job.function), job.account.lengths
        return lengths.get((function, kind), lengths.get(function))

    def typical(self, job: Job, kind: Any = None) -> float:
        """Return the same, or what items of such jobs take on other accounts where there were none on this."""
        return self.known(job, kind) or self._typical.get(kind_of(job.function), DEPTH)

    def took(self, job: Job, seconds: float, items: int = 1, kind: Any = None) -> None:
        """Take in how long items of one kind took together."""
        job.account.seconds += seconds
        function, each, part = kind_of(job.function), seconds / items, min(items / 8, 1.0)
        mine = job.account.lengths
        for lengths, key in ((self._typical, function), (mine, function), (mine, (function, kind))):
            known = lengths.get(key)
            lengths[key] = each if known is None else known + (each - known) * part
        self.weigh(job)

    def weigh(self, job: Job) -> None:
        """Keep ``waiting``, about how many seconds of work are not sent, up to date with what one job has."""
        weight = 0.0 if job.over else sum(count * self.typical(job, kind) for kind, count in job.left)
        self.waiting, job.weight = max(0.0, self.waiting + weight - job.weight) if self.jobs else 0.0, weight

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
        if not self._room():
            return
        for job in self._queue[:]:
            while (job.more or job.again) and self._room():
                count = self._together(job)
                bundle = job.next_bundle(AHEAD * self.workers, count) if count else None
                if bundle is None:
                    break
                self.weigh(job)
                try:
                    job.payload  # noqa: B018 (made now, so that what cannot travel is an error of this job)
                except PayloadError as error:
                    job.fail(bundle.place, error)
                    break
                self._send(job, bundle)

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
        if self.jobs.pop(job.ticket, None) is not None:
            self._queue.remove(job)
        self.weigh(job)

    def _end_jobs(self) -> None:
        for job in list(self.jobs.values()):
            job.close("the executor was closed while this map was under way: map again")

    def _room(self) -> bool:
        raise NotImplementedError

    def _busy(self) -> bool:
        raise NotImplementedError

    def _together(self, job: Job) -> int:
        """Return how many items of a job the next message may hold, 0 where there is to be none now."""
        return 1

    def _send(self, job: Job, bundle: Bundle) -> None:
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

    def several(self) -> Sequence[Any]:
        """Return the next value."""
        return [next(self._results)]

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


async def several(results: Job | _AtOnce) -> Sequence[Any]:
    """Return those of the values that are known to come which came in one message; the coroutine waits for them."""
    await until(results)
    return results.several()


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
