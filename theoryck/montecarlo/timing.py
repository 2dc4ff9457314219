"""The seconds that a function takes where it runs: neither the start of a worker process nor the way to it counts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from theoryck.montecarlo.executors import Executor, SerialExecutor, _Closing


@dataclass(frozen=True, slots=True)
class _Timed:
    """What travels to the workers: a function that also says how long it took."""

    function: Callable[[Any], Any]

    def __call__(self, item: Any) -> tuple[float, Any]:
        start = time.perf_counter()
        value = self.function(item)
        return time.perf_counter() - start, value


@dataclass
class Stopwatch(_Closing):
    """Runs items as another executor does (None: here), one map at a time, and adds up the seconds that they took.

    >>> watch = Stopwatch(SerialExecutor())
    >>> list(watch.map(abs, [-1, 2])), 0 < watch.seconds < 1
    ([1, 2], True)
    """

    executor: Executor | None = None
    seconds: float = field(default=0.0, init=False)
    workers: int = field(default=1, init=False)

    def __post_init__(self) -> None:
        self.workers = 1 if self.executor is None else self.executor.workers

    def map(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        """Yield ``function(item)`` for every item, in order."""
        results = (self.executor or SerialExecutor()).map(_Timed(function), items)
        try:
            for seconds, value in results:
                self.seconds += seconds
                yield value
        finally:
            close = getattr(results, "close", None)
            if close is not None:
                close()
