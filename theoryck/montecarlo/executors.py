"""Where blocks run: here, in worker processes, or on a Dask cluster; results come in order and have the same bits everywhere.

An executor is anything with ``map(function, items)``: it yields ``function(item)`` in the order of ``items``, holds a bounded
number of results at a time, and raises what ``function`` raised at the place of that item.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stdout
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar, runtime_checkable

from theoryck.montecarlo.payload import encode, run_encoded

Item = TypeVar("Item")
Value = TypeVar("Value")

WORKER_VARIABLE = "THEORYCK_WORKER"
"""Set in the environment of worker processes: executors made there run serially."""


@runtime_checkable
class Executor(Protocol):
    """Anything that maps a function over items in order; ``workers`` says how many run at a time.

    >>> isinstance(SerialExecutor(), Executor), isinstance(map, Executor)
    (True, False)
    """

    workers: int

    def map(self, function: Callable[[Item], Value], items: Iterable[Item]) -> Iterator[Value]:
        """Yield ``function(item)`` for every item, in order."""
        ...

    def close(self) -> None:
        """Let go of processes; the executor may be used again."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None: ...


class _Closing:
    """Context manager: closes the executor at the end of the block."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Let go of processes; the executor may be used again."""


class SerialExecutor(_Closing):
    """Runs everything in this process, one item after another.

    BLAS is held to one thread while an item runs, as in every worker: the last bits of a matrix product depend on the number of
    threads, and a result must not depend on the executor.  What an item prints goes to standard error, as in every worker: it
    must not mix with JSON on standard output.

    >>> list(SerialExecutor().map(abs, [-1, 2]))
    [1, 2]
    """

    workers = 1

    def map(self, function: Callable[[Item], Value], items: Iterable[Item]) -> Iterator[Value]:
        """Yield ``function(item)`` for every item, in order."""
        from threadpoolctl import ThreadpoolController

        controller = ThreadpoolController()
        for item in items:
            with controller.limit(limits=1, user_api="blas"), redirect_stdout(sys.stderr):
                value = function(item)
            yield value


class DaskExecutor(_Closing):
    """Runs items on a Dask cluster through a ``distributed.Client`` (the optional extra ``theoryck[dask]``).

    theoryck must be installed on the cluster.  At most ``ahead`` items per worker are in flight.
    Raises what ``function`` raised, and what Dask raises for a lost cluster.  Dask starts its workers with one BLAS thread unless
    told otherwise; leave it so, or the last bits of matrix products may differ.

    >>> DaskExecutor("tcp://127.0.0.1:8786")
    Traceback (most recent call last):
        ...
    TypeError: client must be a distributed.Client, got 'tcp://127.0.0.1:8786' of type str
    """

    def __init__(self, client: Any, ahead: int = 3) -> None:
        if not hasattr(client, "submit"):
            raise TypeError(f"client must be a distributed.Client, got {client!r} of type {type(client).__name__}")
        self.client = client
        self.ahead = ahead

    @property
    def workers(self) -> int:
        """Number of threads of the cluster."""
        return max(1, sum(self.client.nthreads().values()))

    def map(self, function: Callable[[Item], Value], items: Iterable[Item]) -> Iterator[Value]:
        """Yield ``function(item)`` for every item, in order."""
        payload = encode(function)
        limit = self.ahead * self.workers
        flying: deque[Any] = deque()
        try:
            for item in items:
                # pure=False: equal arguments must not be taken for a result that is already known.
                flying.append(self.client.submit(run_encoded, payload, item, pure=False))
                if len(flying) >= limit:
                    yield flying[0].result()
                    flying.popleft()
            while flying:
                yield flying[0].result()
                flying.popleft()
        finally:
            for future in flying:
                future.cancel()
