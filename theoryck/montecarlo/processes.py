"""Worker processes for blocks: started on first use, kept for the whole session, gone without a trace when it ends.

A worker is a fresh interpreter (never a fork, so no lock or thread of the parent is copied) that imports only numpy and this room.
Unlike ``multiprocessing``'s spawn it does not import the caller's main module again, its environment is its own (one BLAS
thread, set before numpy loads), and it lives in a session of its own, so that Ctrl-C never reaches it and no worker can print a
traceback of it.  A worker leaves when its standard input closes, which also happens when the parent is killed.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from theoryck.montecarlo.executors import WORKER_VARIABLE, SerialExecutor
from theoryck.montecarlo.jobs import DEPTH, MOST_HELD, THREAD_NAME, Bundle, Job, JobExecutor
from theoryck.montecarlo.worker import packed, read_frame, write_packed
from theoryck.records.arguments import integer

Item = TypeVar("Item")
Value = TypeVar("Value")

_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)
_START = "import json, sys; sys.path[:] = json.loads(sys.argv.pop()); from theoryck.montecarlo.worker import main; main()"
_PATIENCE = 2.0  # seconds a worker gets to leave before it is killed


@dataclass(frozen=True, slots=True)
class _Held:
    """An item that a worker holds, and about how many seconds it takes."""

    job: Job
    bundle: Bundle
    seconds: float


class _Worker:
    """One process, the items it holds in their order, and the thread that reads its replies into ``outbox``."""

    def __init__(self, outbox: queue.SimpleQueue[Any]) -> None:
        environment = dict(os.environ) | dict.fromkeys(_THREAD_VARIABLES, "1") | {WORKER_VARIABLE: "1"}
        path = [entry or os.getcwd() for entry in sys.path]  # noqa: PTH109 (sys.path holds strings)
        self.process = subprocess.Popen(
            [sys.executable, "-c", _START, json.dumps(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            start_new_session=True,
        )
        self.held: deque[_Held] = deque()
        self.tickets: set[int] = set()
        reading = (self.process, weakref.ref(self), outbox)
        threading.Thread(target=_read_replies, args=reading, name=THREAD_NAME, daemon=True).start()

    @property
    def load(self) -> float:
        """About how many seconds what it holds takes."""
        return sum(each.seconds for each in self.held)

    @property
    def room(self) -> bool:
        """Whether it may be given one more item."""
        return not self.held or (len(self.held) < MOST_HELD and self.load < DEPTH)

    def send(self, held: _Held, over: set[int]) -> None:
        """Give the worker one more item, with the function when it is new; it forgets the functions of jobs that are ``over``."""
        assert self.process.stdin is not None
        ticket = held.job.ticket
        payload = None if ticket in self.tickets else held.job.payload
        # What cannot be pickled is an error before a byte is written.
        body = packed((tuple(over), ticket, payload, held.bundle.items[0]))
        self.tickets = self.tickets - over | {ticket}
        self.held.append(held)
        write_packed(self.process.stdin, body)

    def ending(self) -> str:
        """Say in words how the process ended."""
        code = self.process.wait()
        if code >= 0:
            return f"exit status {code}"
        with suppress(ValueError):
            return f"signal {signal.Signals(-code).name}"
        return f"signal {-code}"


def _read_replies(process: subprocess.Popen[bytes], worker: weakref.ref[_Worker], outbox: queue.SimpleQueue[Any]) -> None:
    assert process.stdout is not None
    with process.stdout as stream:
        try:
            while True:
                outbox.put((worker, read_frame(stream)))
        except (EOFError, OSError, ValueError):
            outbox.put((worker, None))


def _stop(workers: list[_Worker], patience: float) -> None:
    """End these processes: ask by closing their input, then kill."""
    for worker in workers:
        if patience <= 0:
            worker.process.kill()
        with suppress(OSError, ValueError):
            worker.process.stdin.close()  # type: ignore[union-attr]
    for worker in workers:
        try:
            worker.process.wait(timeout=max(patience, 0.01))
        except subprocess.TimeoutExpired:
            worker.process.kill()
            worker.process.wait()
    workers.clear()


class ProcessExecutor(JobExecutor):
    """Runs items in ``workers`` processes, reusable for a session, closed by ``close()`` or at exit (see the module's docstring).

    Functions travel by cloudpickle.  Several maps may be under way at once, in one thread; inside a worker a map runs serially.
    Raises ValueError unless ``workers`` is an integer >= 1, WorkerDied when three processes (more, where others end too) end in the
    middle of the same item, PayloadError for what cannot be sent.

    >>> with ProcessExecutor(2) as executor:  # processes start when they are first used
    ...     print(executor.workers)
    2
    """

    def __init__(self, workers: int) -> None:
        super().__init__()
        self.workers = integer(workers, "workers", 1)
        self._pool: list[_Worker] = []
        self._outbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._finalizer = weakref.finalize(self, _stop, self._pool, _PATIENCE)

    def map(self, function: Callable[[Item], Value], items: Iterable[Item]) -> Iterator[Value]:
        """Yield ``function(item)`` for every item, in order; leaving early forgets what is still running."""
        if os.environ.get(WORKER_VARIABLE):
            return SerialExecutor().map(function, items)
        return super().map(function, items)

    def close(self) -> None:
        """End the worker processes, and the maps that are under way; the next ``map`` starts new ones."""
        self._end(_PATIENCE)

    def _end(self, patience: float) -> None:
        self._end_jobs()
        _stop(self._pool, patience)

    def _room(self) -> bool:
        return len(self._pool) < self.workers or any(worker.room for worker in self._pool)

    def _busy(self) -> bool:
        return any(worker.held for worker in self._pool)

    def _send(self, job: Job, bundle: Bundle) -> None:
        """Give the one item (a message on a pipe costs too little for more) to the least busy worker, or to a new one."""
        worker = min(self._pool, key=lambda one: (bool(one.held), one.load), default=None)
        if worker is None or (worker.held and len(self._pool) < self.workers):
            worker = _Worker(self._outbox)
            self._pool.append(worker)
        try:
            worker.send(_Held(job, bundle, self.typical(job, bundle.kind)), worker.tickets - self.jobs.keys())
        except OSError:
            pass  # it is gone, which is said after its last replies: only then is it known which item it had begun
        except Exception as error:  # an item that cannot be pickled
            job.fail(bundle.place, error)

    def _receive(self, block: bool) -> bool:
        while True:
            try:
                # A finite wait lets Ctrl-C through on systems where a blocked lock does not.
                source, message = self._outbox.get(timeout=1.0) if block else self._outbox.get_nowait()
                break
            except queue.Empty:
                if not block:
                    return False
            except (KeyboardInterrupt, SystemExit):
                self._end(0.0)
                raise
        worker = source()
        if worker is None or worker not in self._pool:
            return True
        if message is None:
            self._lost(worker)
            return True
        held = worker.held.popleft()
        fine, value, seconds = message
        self.took(held.job, seconds, kind=held.bundle.kind)
        if fine:
            held.job.arrive(held.bundle.place, [value])
        else:
            held.job.fail(held.bundle.place, *value)
        return True

    def _lost(self, worker: _Worker) -> None:
        """Send again what a worker held: the first item may be what ended it, the others it had not begun."""
        self._pool.remove(worker)
        with suppress(OSError, ValueError):
            worker.process.stdin.close()  # type: ignore[union-attr]
        how = (
            f"a worker process (pid {worker.process.pid}) ended with {worker.ending()} in the middle of a block, as others "
            "had before; SIGKILL usually means that memory ran out: lower the draws per block or the number of workers; to "
            "see an error of the sampler itself run with one worker"
        )
        for number, held in enumerate(worker.held):
            if held.job.over:
                continue
            if number == 0:
                held.job.lost(held.bundle, how)
            else:
                held.job.send_again(held.bundle)
