"""The seconds that a function takes where it runs: neither the start of a worker process nor the way to it counts.

They are those of the processor, which do not grow when other work is done beside.  What waits, for a program or a file, takes time
too: at least a quarter of the time on the wall counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

WAITING = 0.25


def stopwatch(clock: Callable[[], float] = time.process_time) -> Callable[[], float]:
    """Return what tells the seconds since now; ``clock`` counts those of the processor.

    >>> used = iter([0.0, 3600.0])
    >>> spent = stopwatch(lambda: next(used))
    >>> spent()
    3600.0
    """
    wall, used = time.perf_counter(), clock()
    return lambda: max(clock() - used, WAITING * (time.perf_counter() - wall))


@dataclass(frozen=True, slots=True)
class Timed:
    """A function that also says how many seconds it took.

    >>> seconds, value = Timed(abs)(-1)
    >>> value, seconds > 0
    (1, True)
    """

    function: Callable[[Any], Any]

    def __call__(self, item: Any) -> tuple[float, Any]:
        """Return the seconds and the value."""
        spent = stopwatch()
        value = self.function(item)
        return spent(), value

    def together(self, values: Sequence[Any]) -> Sequence[Any]:
        """Return values of consecutive items as they travel: as the function has it, or as they are."""
        together: Callable[[Sequence[Any]], Sequence[Any]] = getattr(self.function, "together", lambda each: each)
        return together(values)
