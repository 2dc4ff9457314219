"""Worker processes for blocks: started on first use, kept for the whole session, gone without a trace when it ends.

A worker is a fresh interpreter (never a fork, so no lock or thread of the parent is copied) that imports only numpy and this room.
Unlike ``multiprocessing``'s spawn it does not import the caller's main module again, its environment is its own (one BLAS
thread, set before numpy loads), and it lives in a session of its own, so that Ctrl-C never reaches it and no worker can print a
traceback of it.  A worker leaves when its standard input closes, which also happens when the parent is killed.
"""

from __future__ import annotations

import itertools
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any, TypeVar

from theoryck.montecarlo.executors import WORKER_VARIABLE, SerialExecutor, _Closing
from theoryck.montecarlo.payload import encode
from theoryck.montecarlo.worker import read_frame, write_frame
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
_QUEUED = 2  # items a worker holds: the one it runs and the next, so that it never waits for the parent
_AHEAD = 4  # results per worker that may wait for an earlier one: bounds the memory of the parent
_PATIENCE = 2.0  # seconds a worker gets to leave before it is killed


class WorkerDied(RuntimeError):
    """A worker process ended in the middle of an item; the message says how and what to do."""


class WorkerError(RuntimeError):
    """An exception in a worker that could not be sent as it was; the message is its traceback."""


class _RemoteTraceback(Exception):
    def __init__(self, text: str) -> None:
        super().__init__(text)

    def __str__(self) -> str:
        return f"\n--- in a worker process ---\n{self.args[0]}"


class _Worker:
    """One process and the thread that reads its replies into ``outbox``."""

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
        self.busy = 0
        self.ticket = -1
        threading.Thread(target=_read_replies, args=(self.process, weakref.ref(self), outbox), daemon=True).start()

    def send(self, ticket: int, index: int, payload: bytes, item: Any) -> None:
        """Give the worker one more item, with the function when it is new."""
        assert self.process.stdin is not None
        write_frame(self.process.stdin, (ticket, index, None if self.ticket == ticket else payload, item))
        self.ticket = ticket
        self.busy += 1

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


class ProcessExecutor(_Closing):
    """Runs items in ``workers`` processes, reusable for a session, closed by ``close()`` or at exit (see the module's docstring).

    Functions travel by cloudpickle.  One ``map`` runs at a time; inside a worker it runs serially.  Raises ValueError unless
    ``workers`` is an integer >= 1, WorkerDied when a process ends in the middle of an item, PayloadError for what cannot be sent.

    >>> with ProcessExecutor(2) as executor:  # processes start when they are first used
    ...     print(executor.workers)
    2
    """

    def __init__(self, workers: int) -> None:
        self.workers = integer(workers, "workers", 1)
        self._pool: list[_Worker] = []
        self._outbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._tickets = itertools.count()
        self._active = False
        self._finalizer = weakref.finalize(self, _stop, self._pool, _PATIENCE)

    def map(self, function: Callable[[Item], Value], items: Iterable[Item]) -> Iterator[Value]:
        """Yield ``function(item)`` for every item, in order; leaving early forgets what is still running.

        Raises RuntimeError while another map is running.
        """
        if os.environ.get(WORKER_VARIABLE):
            yield from SerialExecutor().map(function, items)
            return
        if self._active:
            raise RuntimeError("this executor is already mapping: finish or close the first map, or use another executor")
        self._active = True
        try:
            yield from self._run(encode(function), iter(items))
        except (KeyboardInterrupt, SystemExit, WorkerDied):
            _stop(self._pool, 0.0)
            raise
        finally:
            self._active = False

    def _run(self, payload: bytes, items: Iterator[Any]) -> Iterator[Any]:
        ticket = next(self._tickets)
        ready: dict[int, tuple[bool, Any]] = {}
        sent = given = 0
        more = True
        while True:
            while more and sent - given < _AHEAD * self.workers and (worker := self._free()) is not None:
                try:
                    item = next(items)
                except StopIteration:
                    more = False
                    break
                self._send(worker, ticket, sent, payload, item)
                sent += 1
            if given not in ready:
                if given == sent and not more:
                    return
                # One message at a time: it may be of an earlier map that was left, and frees a worker for this one.
                self._receive(ticket, ready)
                continue
            fine, value = ready.pop(given)
            given += 1
            if not fine:
                _raise_remote(*value)
            yield value

    def _free(self) -> _Worker | None:
        """Return the least busy worker that can take an item, starting another process while there are fewer than wanted."""
        worker = min(self._pool, key=lambda one: one.busy, default=None)
        if (worker is None or worker.busy) and len(self._pool) < self.workers:
            worker = _Worker(self._outbox)
            self._pool.append(worker)
        return worker if worker is not None and worker.busy < _QUEUED else None

    def _send(self, worker: _Worker, ticket: int, index: int, payload: bytes, item: Any) -> None:
        try:
            worker.send(ticket, index, payload, item)
        except OSError:
            self._died(worker)

    def _receive(self, ticket: int, ready: dict[int, tuple[bool, Any]]) -> None:
        while True:
            try:
                # A finite wait lets Ctrl-C through on systems where a blocked lock does not.
                source, message = self._outbox.get(timeout=1.0)
                break
            except queue.Empty:
                continue
        worker = source()
        if worker is None or worker not in self._pool:
            return
        if message is None:
            self._died(worker)
        worker.busy -= 1
        if message[0] == ticket:
            ready[message[1]] = (message[2], message[3])

    def _died(self, worker: _Worker) -> None:
        raise WorkerDied(
            f"a worker process (pid {worker.process.pid}) ended with {worker.ending()} in the middle of a block; SIGKILL usually "
            "means that memory ran out: lower the draws per block or the number of workers; to see an error of the sampler itself "
            "run with one worker"
        )

    def close(self) -> None:
        """End the worker processes; the next ``map`` starts new ones."""
        _stop(self._pool, _PATIENCE)


def _raise_remote(error: BaseException | None, text: str) -> None:
    """Raise here what was raised there, but for what would end this process: a function that calls sys.exit ends no run."""
    if error is None or isinstance(error, SystemExit | GeneratorExit):
        raise WorkerError(text)
    raise error from _RemoteTraceback(text)
