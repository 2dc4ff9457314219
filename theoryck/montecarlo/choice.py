"""Which executor a number of workers asks for."""

from __future__ import annotations

import os

from theoryck.montecarlo.executors import WORKER_VARIABLE, Executor, SerialExecutor
from theoryck.montecarlo.processes import ProcessExecutor


def available_workers() -> int:
    """Return the number of CPUs this process may use (its affinity where the system tells).

    >>> 1 <= available_workers() <= os.cpu_count()
    True
    """
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


def make_executor(workers: int | None = None) -> Executor:
    """Return an executor with ``workers`` processes: None for all available CPUs, 1 for this process; no process starts before use.

    Raises ValueError unless ``workers`` is None or an integer >= 1.

    >>> make_executor(1).workers
    1
    """
    if workers is None:
        workers = available_workers()
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise ValueError(f"workers must be an integer >= 1, or None for all CPUs this process may use, got {workers!r}")
    if workers == 1 or os.environ.get(WORKER_VARIABLE):
        return SerialExecutor()
    return ProcessExecutor(workers)
