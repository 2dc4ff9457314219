"""Run a sampler in numbered blocks, check every block, and merge the moments in the order of the blocks.

A sampler is a callable ``(rng, draws) -> array (draws,)`` and is known as nothing else.  Every block has its own generator
(:mod:`theoryck.montecarlo.seeds`), blocks are merged left to right, and so a result has the same bits for any number of workers and
whether or not it was interrupted and resumed after a whole block.
"""

from __future__ import annotations

import bisect
import hashlib
import itertools
import math
import os
import random
import reprlib
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theoryck.montecarlo.blocks import Block, BlockStore, Stream
from theoryck.montecarlo.columns import BlockColumns, Drawn, Total
from theoryck.montecarlo.executors import WORKER_VARIABLE, Executor, SerialExecutor
from theoryck.montecarlo.jobs import THREAD_NAME, WorkerDied, mapped, run, several, start
from theoryck.montecarlo.moments import Moments
from theoryck.montecarlo.seeds import Key
from theoryck.montecarlo.statistics import MEAN, Statistic
from theoryck.montecarlo.timing import Timed
from theoryck.montecarlo.two_sided import COLUMNS, TwoSidedMoments
from theoryck.records.arguments import integer, text_of

Sampler = Callable[[np.random.Generator, int], Any]
Progress = Callable[[int, int], None]

_HEAD = 64
_PROBE_DRAWS = 16
_PILOT_DRAWS = 1024
_PROBE_SHARE = 64  # a sampler is probed only when three probes cost less than 3/64 of the first block
_CHANCE = -12.0  # log10 of the probability below which equal blocks are not put down to chance


class SamplerError(RuntimeError):
    """A sampler broke its contract; the message says how, where, which generator repeats it, and what to do.

    ``partial`` holds the moments of all blocks before, ``next_block`` the number of the first block that is missing.

    >>> sample(lambda rng, draws: rng.random((draws, 2)), Key(0, "example"), draws=100, block_draws=50)
    Traceback (most recent call last):
        ...
    theoryck.montecarlo.sampling.SamplerError: the sampler must return an array of shape (50,), got shape (50, 2) in block
    0; return one number per draw: average over every axis but the draws
    """

    partial: Moments | TwoSidedMoments | None = None
    next_block: int | None = None


@dataclass(frozen=True, slots=True)
class _BlockTask:
    """Draws one block and checks it; the callable that travels to the workers."""

    sampler: Sampler
    key: Key
    bins: tuple[float, ...] | None
    probe: int | None
    two_sided: bool = False
    statistic: Statistic = MEAN
    centre: float | None = None

    @property
    def stream(self) -> Stream:
        """What this task's blocks are kept under in a store."""
        return Stream(self.key, self.bins, self.two_sided, self.statistic.summary, self.centre)

    def __call__(self, item: tuple[int, int]) -> Block:
        block, draws = item
        values = self._draw(self.key.generator(block), draws, f"block {block}", self.key.repeat(block))
        if self.probe == block:
            # Where others draw beside, moved states prove nothing: then every sampler is probed, a slow one by a single draw.
            self._probe(max(min(_PROBE_DRAWS, draws // _PROBE_SHARE), 0 if _nobody_else_draws() else 1))
        fingerprint = hashlib.blake2b(values.data, digest_size=16).digest()
        kept = TwoSidedMoments.of(values, self.bins) if self.two_sided else self.statistic.collect(values, self.centre, self.bins)
        return Block(kept, fingerprint, _coincidence(values))

    def pilot(self, draws: int) -> float:
        """Return about where the statistic lies, from draws that belong to no block: the same for any number of workers."""
        return self.statistic.centre(self._draw(self.key.probe_generator(2), draws, "a pilot", f"{self.key!r}.probe_generator(2)"))

    def _draw(self, rng: np.random.Generator, draws: int, where: str, repeat: str) -> NDArray[np.float64]:
        before = _global_states()
        try:
            values = self.sampler(rng, draws)
        except SamplerError:
            raise
        except (Exception, SystemExit, GeneratorExit) as error:
            raise SamplerError(_raised(error, where, repeat)) from error
        if before != _global_states() and _nobody_else_draws():
            raise _draws_globally(where)
        return check_block(values, draws, where, repeat, self.two_sided, self.statistic)

    def _probe(self, draws: int) -> None:
        """Try a few draws twice with one generator and once with another: same, same, different.

        The two tries start from different global random states: a sampler that takes numbers from one of them gives different
        draws, and one that seeds it leaves the same state behind.
        """
        if draws < 1:
            return
        repeat, where = f"{self.key!r}.probe_generator(0)", "a first try"

        def tried(seed: int) -> tuple[NDArray[np.float64], tuple[Any, ...]]:
            random.seed(seed)
            np.random.seed(seed)  # noqa: NPY002 (a state that no sampler may use)
            return self._draw(self.key.probe_generator(0), draws, where, repeat), _global_states()

        with _global_states_kept():
            first, left = tried(1)
            again, left_again = tried(2)
            same_start = again if np.array_equal(first, again) else tried(2)[0]
        if any(one == other for one, other in zip(left, left_again, strict=True)):
            raise _draws_globally(where)
        if not np.array_equal(first, again):
            if np.array_equal(again, same_start):
                raise _draws_globally(where)
            or_globally = "" if _nobody_else_draws() else "draws from the global random state, "
            raise SamplerError(
                f"the sampler gives different draws for the same rng: it {or_globally}keeps state between calls or makes its own "
                f"generator; take every random number from the argument rng (compare two calls with {repeat})"
            )
        other = self._draw(self.key.probe_generator(1), draws, where, repeat)
        if np.array_equal(first, other) and _coincidence(first) < _CHANCE:
            raise _ignores_rng("two tries with different generators gave the same draws")


def _raised(error: BaseException, where: str, repeat: str) -> str:
    hint = "; a sampler must return its draws, not end the program" if isinstance(error, SystemExit) else ""
    # The first frame is the call in this module, which tells nobody anything.
    trace = error.__traceback__.tb_next if error.__traceback__ is not None else None
    text = "".join(traceback.format_exception(type(error), error, trace)).rstrip()
    return f"the sampler raised {type(error).__name__} in {where}: {text_of(error)}{hint}\nrepeat with {repeat}\n{text}"


def _global_states() -> tuple[Any, ...]:
    """Return the global random states; a sampler that moves one of them does not take its numbers from rng."""
    state: Any = np.random.get_state(legacy=True)  # noqa: NPY002 (watched, not used)
    return random.getstate(), (bytes(state[1]), *state[2:])


def _nobody_else_draws() -> bool:
    """Whether the global random states of this process can be moved by the sampler only."""
    others = (thread for thread in threading.enumerate() if thread is not threading.current_thread())
    return bool(os.environ.get(WORKER_VARIABLE)) or not any(thread.name != THREAD_NAME for thread in others)


_probing = threading.Lock()


@contextmanager
def _global_states_kept() -> Iterator[None]:
    """Put the global random states back at the end; other threads were promised none, but only one may do so at a time."""
    with _probing:
        kept = random.getstate(), np.random.get_state()  # noqa: NPY002 (kept, not used)
        try:
            yield
        finally:
            random.setstate(kept[0])
            np.random.set_state(kept[1])  # noqa: NPY002 (put back, not used)


def _draws_globally(where: str) -> SamplerError:
    return SamplerError(
        f"the sampler draws from the global random state of numpy or of `random` (seen in {where}), so its draws depend on "
        "what ran before: take every random number from the argument rng"
    )


def _ignores_rng(seen: str) -> SamplerError:
    return SamplerError(
        f"the sampler ignores rng: {seen}; take every random number from the argument rng "
        "(rng.standard_normal(...), rng.random(...)), and set no seed inside the sampler"
    )


def _coincidence(values: NDArray[np.float64]) -> float:
    """Return log10 of a rough chance that independent draws of the same law repeat this array: c^m over its first m <= 64 draws.

    c = sum of squared frequencies estimates the chance that two draws are equal.  All equal gives 0: that says nothing.
    """
    head = values[:_HEAD] if values.ndim == 1 else values[:_HEAD, -1]
    counts = np.unique(head, return_counts=True)[1]
    return len(head) * math.log10(float(np.square(counts).sum()) / len(head) ** 2)


def check_block(
    values: Any, draws: int, where: str, repeat: str, two_sided: bool = False, statistic: Statistic = MEAN
) -> NDArray[np.float64]:
    """Return what a sampler gave as float64 (draws,), or raise SamplerError saying what is wrong and what to do.

    A ``two_sided`` sampler gives (draws, 3): low, high, estimate.  Draws must be finite, but infinite ones have a quantile, and
    those of a probability must be 0 or 1.

    Arrays and sequences of real numbers are taken, lists too; masked arrays are not, because their mask would be dropped.

    >>> check_block([1, 2], 2, "block 0", "...")
    array([1., 2.])
    """
    array = _as_array(values, where)
    if array.dtype.kind not in "fiub":
        what = f"an array of dtype {array.dtype}" if isinstance(values, np.ndarray) else _described(values)
        if array.dtype.kind == "O" and array.size and array.ndim:
            what += f", whose first element is {_described(array.flat[0])},"
        raise SamplerError(
            f"the sampler must return real numbers, got {what} in {where}; "
            f"return for example values.real or values.astype(float) (repeat with {repeat})"
        )
    wanted = (draws, COLUMNS) if two_sided else (draws,)
    if array.shape != wanted:
        hint = "one number per draw: average over every axis but the draws" if array.ndim != 1 else "use the argument draws"
        if two_sided:
            hint = "low, high and estimate for each draw"
        raise SamplerError(f"the sampler must return an array of shape {wanted}, got shape {array.shape} in {where}; return {hint}")
    array = np.ascontiguousarray(array, dtype=np.float64)
    fault = statistic.fault(array)
    if fault is not None:
        (mask, lacking, why), what = fault, "numbers" if two_sided else "draws"
        wrong = np.flatnonzero(mask)
        raise SamplerError(
            f"the sampler returned {len(wrong)} of {array.size} {what} that are not {lacking} in {where}: the first is "
            f"{array.flat[wrong[0]]} at position {wrong[0]}; repeat with rng = {repeat} and draws = {draws}; {why}"
        )
    return array


def _as_array(values: Any, where: str) -> NDArray[Any]:
    """Return the values as an array of whatever they are; SamplerError for what can be no array of draws."""
    if values is None:
        raise SamplerError(f"the sampler returned None in {where}: is a return missing at its end?")
    if isinstance(values, np.ma.MaskedArray):
        raise SamplerError(
            f"the sampler returned a masked array in {where}, whose mask would be dropped: a mean needs every draw; return "
            "values.filled(number), or values.data if nothing is masked"
        )
    try:
        return np.asarray(values)
    except (ValueError, TypeError) as error:
        raise SamplerError(
            f"the sampler must return one real number per draw, got {_described(values)} in {where}, which is no array: {error}"
        ) from error


def _described(value: Any) -> str:
    return f"{type(value).__name__} {reprlib.repr(value)}"


class _Repeats:
    """Notices blocks that equal the first one more often than chance allows."""

    def __init__(self) -> None:
        self.first: Block | None = None
        self.chance = 0.0

    def before_one(self, drawn: Sequence[Drawn]) -> int:
        """Return how many blocks come before one that is a repetition too many: all, where there is none."""
        begin = 0
        if self.first is None:
            self.first, begin = drawn[0][1], 1
        if isinstance(drawn, BlockColumns):
            equal = drawn.equal_to(self.first)
        else:
            equal = [place for place, (_, block) in enumerate(drawn) if block.fingerprint == self.first.fingerprint]
        for place in equal:
            if place >= begin:
                self.chance += drawn[place][1].coincidence
                if self.chance < _CHANCE:
                    return place
        return len(drawn)


def _plan(which: int, draws: int, block_draws: int, first_block: int) -> list[_Run]:
    for name, value, least in (("draws", draws, 1), ("block_draws", block_draws, 1), ("first_block", first_block, 0)):
        integer(value, name, least)
    whole, rest = divmod(int(draws), int(block_draws))
    runs = [_Run(which, int(first_block), whole, int(block_draws)), _Run(which, int(first_block) + whole, 1, rest)]
    return [run for run in runs if run.count and run.size]


def sample(
    sampler: Sampler,
    key: Key,
    *,
    draws: int,
    block_draws: int,
    executor: Executor | None = None,
    first_block: int = 0,
    initial: Moments | None = None,
    bins: Sequence[float] | None = None,
    progress: Progress | None = None,
    store: BlockStore | None = None,
    statistic: Statistic = MEAN,
) -> Any:
    """Return the moments of ``draws`` new draws, in blocks first_block, first_block + 1, ... of ``block_draws``, after ``initial``.

    Only the last block may be shorter.  To resume, pass the moments so far as ``initial`` and the number of blocks they hold as
    ``first_block``: when those were whole blocks the result has the bits of one uninterrupted run.  ``bins`` are edges of a
    histogram; ``progress(done, draws)`` is called after each block, or those that came together.  Blocks that ``store`` holds are
    not drawn again, others are saved there one by one; the result has the same bits.  With a ``statistic`` other than the mean,
    what its ``estimate`` takes is returned, kept about a centre that a pilot finds.  Raises SamplerError when the sampler breaks
    its contract (shape, dtype, NaN, ignoring rng); any exception that leaves here, also KeyboardInterrupt, carries ``.partial``
    (the moments of all blocks before, None if there are none) and ``.next_block``.

    >>> m = sample(lambda rng, draws: rng.random(draws), Key(0, "demo"), draws=1000, block_draws=300)
    >>> m.count, round(m.estimate().value, 2), round(m.estimate().stderr, 3)  # 1/sqrt(12 * 1000) = 0.009
    (1000, 0.5, 0.009)
    >>> median = Statistic.parse("median")
    >>> ranks = sample(lambda rng, draws: rng.random(draws), Key(0, "demo"), draws=1000, block_draws=300, statistic=median)
    >>> round(median.estimate(ranks).value, 2), round(median.estimate(ranks).stderr, 3)  # 1/sqrt(4 * 1000) = 0.016
    (0.5, 0.017)
    """
    request = Request(sampler, key, draws, block_draws, first_block, initial, bins, store=store, statistic=statistic)
    return _run(run(_tasks([request], executor))[0], draws, block_draws, executor, first_block, initial, progress, store)


def sample_two_sided(
    sampler: Sampler,
    key: Key,
    *,
    draws: int,
    block_draws: int,
    executor: Executor | None = None,
    first_block: int = 0,
    initial: TwoSidedMoments | None = None,
    progress: Progress | None = None,
    store: BlockStore | None = None,
) -> TwoSidedMoments:
    """Return the moments of ``draws`` new draws (low, high, estimate) of a two-sided sampler; all else as in :func:`sample`.

    >>> m = sample_two_sided(lambda rng, draws: rng.random((draws, 1)) + [-1, 1, 0], Key(0, "demo"), draws=1000, block_draws=300)
    >>> round(m.bracket().low, 2), round(m.bracket().high, 2)
    (-0.5, 1.5)
    """
    task = _BlockTask(sampler, key, None, _probed(first_block), two_sided=True)
    moments: TwoSidedMoments = _run(task, draws, block_draws, executor, first_block, initial, progress, store)
    return moments


def _probed(first_block: int) -> int | None:
    return 0 if first_block == 0 else None


def _run(
    task: _BlockTask,
    draws: int,
    block_draws: int,
    executor: Executor | None,
    first_block: int,
    initial: Any,
    progress: Progress | None,
    store: BlockStore | None,
) -> Any:
    plan = _plan(0, draws, block_draws, first_block)
    try:
        return run(_run_blocks([task], [plan], [initial], executor, progress, [store]))[0]
    except BaseException as error:
        error.partial, error.next_block = error.partial[0], error.next_block[0]  # type: ignore[attr-defined]
        raise


@dataclass(frozen=True, slots=True)
class _Tasks:
    """Several tasks; an item says which of them and which block."""

    tasks: tuple[_BlockTask, ...]

    def __call__(self, item: tuple[int, int, int]) -> Block:
        which, number, size = item
        return self.tasks[which]((number, size))

    def together(self, drawn: Sequence[Drawn]) -> Sequence[Drawn]:
        """Return blocks as they travel."""
        return BlockColumns.of(drawn)


@dataclass(frozen=True, slots=True)
class _Run:
    """Consecutive blocks of one task, all of ``size`` draws; ``held`` in its store, or to be drawn."""

    which: int
    first: int
    count: int
    size: int
    held: bool = False


class _Items(Sequence[tuple[int, int, int]]):
    """The blocks of runs as items (which, number, size), of which there may be millions."""

    def __init__(self, runs: Sequence[_Run]) -> None:
        self.runs = runs
        self._ends = list(itertools.accumulate(run.count for run in runs))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def __getitem__(self, place: Any) -> Any:
        begin, end, _ = place.indices(len(self)) if isinstance(place, slice) else (place, place + 1, 1)
        found = []
        while begin < end:
            at = bisect.bisect_right(self._ends, begin)
            run, skipped = self.runs[at], begin - (self._ends[at] - self.runs[at].count)
            count = min(end, self._ends[at]) - begin
            found.append(replace(run, first=run.first + skipped, count=count))
            begin += count
        return _Items(found) if isinstance(place, slice) else next(iter(_Items(found)))

    def kinds(self, place: int) -> list[tuple[int, int]]:
        """Return how many blocks from a place on are of which task, in their order."""
        found: list[tuple[int, int]] = []
        for end, each in zip(self._ends, self.runs, strict=True):
            count = min(end - place, each.count)
            if count > 0 and found and found[-1][0] == each.which:
                found[-1] = (each.which, found[-1][1] + count)
            elif count > 0:
                found.append((each.which, count))
        return found

    def __iter__(self) -> Iterator[tuple[int, int, int]]:
        return ((run.which, run.first + i, run.size) for run in self.runs for i in range(run.count))


async def _run_blocks(
    tasks: Sequence[_BlockTask],
    plans: Sequence[Sequence[_Run]],
    initial: Sequence[Any],
    executor: Executor | None,
    progress: Progress | None = None,
    stores: Sequence[BlockStore | None] | None = None,
    seconds: list[float] | None = None,
) -> list[Any]:
    """Return the moments of every task after its blocks, merged in order; the last task's blocks go first.

    Blocks that a task's store holds are read, not drawn, at their place in that order: whoever finds what, the bits are the same.
    Where ``seconds`` are given what each task takes is added to them.  An exception that leaves here carries ``partial`` and
    ``next_block``, one entry a task.
    """
    totals = [Total(each) for each in initial]
    repeats, done, draws = [_Repeats() for _ in tasks], 0, sum(run.count * run.size for plan in plans for run in plan)
    shelves = [_Shelf(task, plan, store) for task, plan, store in zip(tasks, plans, stores or [None] * len(tasks))]
    runs = [run for shelf in reversed(shelves) for run in shelf.runs]
    results = start(executor, Timed(_Tasks(tuple(tasks))), _Items([run for run in runs if not run.held]))
    arriving = _Arriving(results)
    try:
        for run in runs:
            which, shelf, begin, end = run.which, shelves[run.which], plans[run.which][0].first, run.first + run.count
            while (number := begin + totals[which].blocks) < end:
                drawn = await shelf.take(number, end - number, run, arriving)
                if seconds is not None:
                    seconds[which] += sum(
                        drawn.seconds.tolist() if isinstance(drawn, BlockColumns) else [each for each, _ in drawn]
                    )
                fine = repeats[which].before_one(drawn)
                shelf.keep(number, run, drawn[:fine])
                totals[which].add(drawn[:fine])
                done += fine * run.size
                if fine < len(drawn):
                    raise _ignores_rng(f"block {number + fine} has exactly the draws of an earlier block")
                if progress is not None:
                    progress(done, draws)
    except BaseException as error:
        error.partial = tuple(total.result() for total in totals)  # type: ignore[attr-defined]
        error.next_block = tuple(plan[0].first + total.blocks for plan, total in zip(plans, totals))  # type: ignore[attr-defined]
        raise
    finally:
        results.close()
    return [total.result() for total in totals]


class _Arriving:
    """Blocks that come from workers, several at a time, of one task or more."""

    def __init__(self, results: Any) -> None:
        self._results = results
        self._here: Sequence[Drawn] = ()

    async def take(self, most: int) -> Sequence[Drawn]:
        """Return blocks that come next, at most so many."""
        if not self._here:
            self._here = await several(self._results)
        found, self._here = self._here[:most], self._here[most:]
        return found


@dataclass(frozen=True, slots=True)
class Request:
    """What :func:`~theoryck.montecarlo.sample` takes, for one of several samplers; ``two_sided`` as in ``sample_two_sided``.

    >>> request = Request(lambda rng, draws: rng.random(draws), Key(0, "example"), draws=1000, block_draws=250)
    >>> [moments.count for moments in sample_jointly([request])]
    [1000]
    """

    sampler: Sampler
    key: Key
    draws: int
    block_draws: int
    first_block: int = 0
    initial: Any = None
    bins: Sequence[float] | None = None
    two_sided: bool = False
    store: BlockStore | None = None
    statistic: Statistic = MEAN


async def _centres(requests: Sequence[Request], executor: Executor | None) -> list[float | None]:
    """Return about where each statistic lies, as far as what is kept of draws needs it and they do not say it.

    A pilot of at most 1024 draws, and no more than a block, finds it, with random numbers of its own: a centre changes how finely
    bins tell draws apart and no expectation.
    """
    found = [getattr(request.initial, "centre", None) for request in requests]
    missing = [i for i, request in enumerate(requests) if request.statistic.summary != "moments" and found[i] is None]
    task = _Pilots(tuple(_BlockTask(request.sampler, request.key, None, None, False, request.statistic) for request in requests))
    items = [(i, min(_PILOT_DRAWS, requests[i].block_draws)) for i in missing]
    for i, centre in zip(missing, await mapped(executor, task, items) if items else (), strict=True):
        found[i] = centre
    return found


@dataclass(frozen=True, slots=True)
class _Pilots:
    """Several tasks; an item says which of them and how many draws its pilot has."""

    tasks: tuple[_BlockTask, ...]

    def __call__(self, item: tuple[int, int]) -> float:
        return self.tasks[item[0]].pilot(item[1])


async def _tasks(requests: Sequence[Request], executor: Executor | None) -> list[_BlockTask]:
    return [
        _BlockTask(
            request.sampler,
            request.key,
            None if request.bins is None else tuple(float(edge) for edge in request.bins),
            _probed(request.first_block),
            request.two_sided,
            request.statistic,
            centre,
        )
        for request, centre in zip(requests, await _centres(requests, executor), strict=True)
    ]


def sample_jointly(requests: Sequence[Request], executor: Executor | None = None, progress: Progress | None = None) -> list[Any]:
    """Return the moments of every request, with the bits that one call of ``sample`` each would give.

    Blocks of the last requests go first: they are usually the largest sizes, and short blocks fill the gaps at the end.
    ``progress(done, draws)`` is called after each block, or those that came together, with the draws of all requests.  Raises
    SamplerError as ``sample`` does; what leaves here carries ``partial`` and ``next_block``, one entry a request.

    >>> def uniform(rng, draws):
    ...     return rng.random(draws)
    >>> requests = [Request(uniform, Key(0, name), 1000, 300) for name in ("one", "two")]
    >>> both = sample_jointly(requests)
    >>> alone = sample(uniform, Key(0, "two"), draws=1000, block_draws=300)
    >>> round(both[1].estimate().value, 3), round(alone.estimate().value, 3)
    (0.51, 0.51)
    """
    return run(drawing_jointly(requests, executor, progress))


async def drawing_jointly(
    requests: Sequence[Request],
    executor: Executor | None = None,
    progress: Progress | None = None,
    seconds: list[float] | None = None,
) -> list[Any]:
    """Return what :func:`sample_jointly` does; the coroutine waits where a block is not there yet, and others may go on.

    Where ``seconds`` are given, one entry a request, what each takes is added to them.
    """
    if not requests:
        return []
    plans = [_plan(i, request.draws, request.block_draws, request.first_block) for i, request in enumerate(requests)]
    tasks, initial = await _tasks(requests, executor), [request.initial for request in requests]
    return await _run_blocks(tasks, plans, initial, executor, progress, [request.store for request in requests], seconds)


class _Shelf:
    """One task's part of a store: which of the planned blocks it held at the start is settled once, so that all agree."""

    def __init__(self, task: _BlockTask, plan: Sequence[_Run], store: BlockStore | None) -> None:
        self.task, self.store, self.runs = task, store, plan
        if store is not None:
            held = {*store.held(task.stream, plan[0].first, plan[-1].first + plan[-1].count - 1)}
            self.runs = [part for run in plan for part in _cut(run, held)]

    async def take(self, number: int, most: int, run: _Run, arriving: _Arriving) -> Sequence[Drawn]:
        """Return a block from the store, or the next ones that were drawn, with the seconds it took to draw them."""
        if not run.held or self.store is None:
            try:
                return await arriving.take(most)
            except WorkerDied as error:
                key = self.task.key
                where = f"block {number} of claim {key.claim!r} at {dict(key.instance)}, {dict(key.sizes)}"
                raise WorkerDied(f"{where}: {error}") from error
        found = self.store.load(self.task.stream, number, run.size)
        if found is not None:
            return [(0.0, found)]
        drawn = next(SerialExecutor().map(Timed(self.task), [(number, run.size)]))  # somebody deleted it a moment ago
        self.store.save(self.task.stream, number, run.size, drawn[1])
        return [drawn]

    def keep(self, number: int, run: _Run, drawn: Sequence[Drawn]) -> None:
        """Keep blocks that were drawn."""
        if self.store is not None and not run.held:
            for place, (_, block) in enumerate(drawn, number):
                self.store.save(self.task.stream, place, run.size, block)


def _cut(run: _Run, held: set[tuple[int, int]]) -> list[_Run]:
    """Return the parts of a run that a store holds, by numbers and draws, and those that it does not."""
    numbers = range(run.first, run.first + run.count)
    parts = [(there, [*part]) for there, part in itertools.groupby(numbers, lambda number: (number, run.size) in held)]
    return [_Run(run.which, part[0], len(part), run.size, there) for there, part in parts]
