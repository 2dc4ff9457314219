"""What an executor is, and the one that runs blocks in this process; results have the same bits whatever runs them.

An executor is anything with ``map(function, items)``: it yields ``function(item)`` in the order of ``items``, holds a bounded
number of results at a time, and raises what ``function`` raised at the place of that item.  One of your own is asked for one map
after another, never for a second while the first is under way, and always in the same thread; those of theoryck that have
processes elsewhere (:mod:`theoryck.montecarlo.jobs`) have several under way, so that several claims share the workers.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stdout
from types import TracebackType
from typing import Protocol, Self, TypeVar, runtime_checkable

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
