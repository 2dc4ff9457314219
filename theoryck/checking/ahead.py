"""Several claims of a session in work at once, so that the looks of one leave no worker idle.

Each claim is a coroutine that waits where its results are not there yet; the earliest claim that can go on does, in this thread.
Items of earlier claims go first.  What a claim finds does not depend on the others, so results are the same bits whatever is in
work beside it; an executor that makes who asks wait (one process, or one of the user's) has one claim in work, in its turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Generic, Self, TypeVar

from theoryck.checking.session import Session, Standing
from theoryck.montecarlo.jobs import Account, JobExecutor, Waiting, Work

Task = TypeVar("Task")
Value = TypeVar("Value")

EACH, MORE = 2, 2  # claims in work, per worker and beyond: an early look has few blocks, and some wait for one long item


@dataclass(eq=False)
class _InWork(Generic[Value]):
    """A task that was begun: what it waits for, and how it ended."""

    work: Work[Value]
    standing: Standing
    waiting: Waiting | None = None
    ended: bool = False
    value: Value | None = None
    error: BaseException | None = None

    def go_on(self) -> None:
        try:
            self.waiting = self.work.send(None)
        except StopIteration as end:
            self.ended, self.value = True, end.value
        except (Exception, SystemExit) as error:
            self.ended, self.error = True, error


class Ahead(Generic[Task, Value]):
    """Tasks in their order, of which some are in work while an earlier one is waited for; use it as a context manager.

    ``begin`` makes the coroutine of a task.  An exception comes where its task is taken; KeyboardInterrupt comes at once.
    """

    def __init__(self, session: Session, tasks: Iterable[Task], begin: Callable[[Task], Work[Value]]) -> None:
        self.session, self.tasks, self._begin = session, list(tasks), begin
        self._next = 0
        self._begun: dict[int, _InWork[Value]] = {}
        executor = session.executor
        self._executor = executor if isinstance(executor, JobExecutor) and executor.workers > 1 else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Leave what is in work, and begin nothing more."""
        self._leave(range(len(self.tasks)))
        self._next = len(self.tasks)

    def __iter__(self) -> Iterator[tuple[Task, Value]]:
        """Yield each task with what it gave, in their order."""
        for index, task in enumerate(self.tasks):
            yield task, self.take(index)

    def finished(self) -> list[Value]:
        """Return what was not taken and has ended well, in order."""
        ended = [each for _, each in sorted(self._begun.items()) if each.ended and each.error is None]
        return [each.value for each in ended]  # type: ignore[misc]  # it has ended

    def take(self, index: int) -> Value:
        """Return what the task of this place gave, when it has; those before it that nobody took are left."""
        self._leave(range(index))
        self._next = max(self._next, index)
        if index not in self._begun:
            self._start(index)
        wanted = self._begun[index]
        self.session.show(wanted.standing)
        while not wanted.ended:
            self._start_more()
            self._go_on()
        del self._begun[index]
        if wanted.error is not None:
            raise wanted.error
        return wanted.value  # type: ignore[return-value]  # it has ended

    def _leave(self, places: range) -> None:
        for index in [index for index in self._begun if index in places]:
            self._begun.pop(index).work.close()

    def _start(self, index: int) -> None:
        standing = Standing(silent=True, account=Account(rank=index))
        self._begun[index] = _InWork(self._begin(self.tasks[index]), standing)
        self._next = max(self._next, index + 1)

    def _start_more(self) -> None:
        """Begin tasks while there is room for more; with no executor to share, one is enough."""
        if self._executor is None:
            return
        most = EACH * self._executor.workers + MORE
        while self._next < len(self.tasks) and sum(not each.ended for each in self._begun.values()) < most:
            self._start(self._next)

    def _go_on(self) -> None:
        """Let each task that can go on do so, the earliest first; where none can, wait for what happens next."""
        self._poll()
        went, going = False, [(index, each) for index, each in sorted(self._begun.items()) if not each.ended]
        for index, each in going:
            if each.waiting is None or each.waiting.ready:
                try:
                    with self.session.turn_of(each.standing):
                        each.go_on()
                except BaseException:  # an interruption, of whatever was going on: who takes it begins it again
                    del self._begun[index]
                    raise
                went = True
                self._poll()  # judging takes longer than a short message
        if not went:
            waiting = going[0][1].waiting
            assert waiting is not None  # else it could go on
            waiting.wait()

    def _poll(self) -> None:
        if self._executor is not None:
            self._executor.poll()
