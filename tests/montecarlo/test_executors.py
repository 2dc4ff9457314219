"""Executors: order, equal bits for any number of workers, errors from afar, Ctrl-C, and no process left behind."""

import functools
import os
import signal
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

from tests.waiting import HANG, until
from theoryck.montecarlo import (
    Executor,
    Key,
    PayloadError,
    ProcessExecutor,
    SamplerError,
    SerialExecutor,
    WorkerDied,
    WorkerError,
    make_executor,
    sample,
)
from theoryck.montecarlo.jobs import Account
from theoryck.montecarlo.timing import stopwatch

KEY = Key(0, "test", {}, {"d": 8})
OFFSET = 3.0


def helper(values):
    return values @ np.ones((8, 8)) + OFFSET


def sampler(rng, draws):
    # A matrix product, so that the number of BLAS threads could show.
    return helper(rng.standard_normal((draws, 8))).sum(axis=1)


@pytest.fixture(scope="module")
def pool():
    with ProcessExecutor(2) as executor:
        yield executor


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_results_have_equal_bits_for_any_number_of_workers(pool) -> None:
    run = functools.partial(sample, sampler, KEY, draws=2050, block_draws=100)
    alone = run(executor=SerialExecutor())
    assert run(executor=pool) == alone
    with ProcessExecutor(1) as one, ProcessExecutor(3) as three:
        assert run(executor=one) == alone
        assert run(executor=three) == alone
    first = run(draws=1000, executor=pool)
    assert run(draws=1050, first_block=10, initial=first, executor=pool) == alone


def test_results_come_in_order_whatever_takes_longest(pool) -> None:
    def slow_first(item):
        time.sleep(0.1 if item == 0 else 0.0)
        return item * item

    assert list(pool.map(slow_first, range(12))) == [item * item for item in range(12)]


def test_few_results_are_held_and_items_are_taken_late(pool) -> None:
    taken = []

    def items():
        for item in range(100):
            taken.append(item)
            yield item

    results = pool.map(abs, items())
    assert next(results) == 0
    # Four results per worker may wait for an earlier one.
    assert len(taken) <= 1 + 4 * 2
    results.close()
    assert list(pool.map(abs, [-5])) == [5]


def test_a_map_that_was_left_does_not_block_the_next(pool) -> None:
    # Both workers still hold two slow items of the first map when the second one starts.
    slow = pool.map(lambda item: time.sleep(0.1 if item else 0.0), range(8))
    next(slow)
    slow.close()
    assert list(pool.map(abs, [-1, -2])) == [1, 2]


def test_an_error_comes_at_its_place_with_its_traceback(pool) -> None:
    def third(item):
        if item == 2:
            raise LookupError("item two")
        return item

    results = pool.map(third, range(5))
    assert [next(results), next(results)] == [0, 1]
    with pytest.raises(LookupError, match="item two") as caught:
        next(results)
    assert "in third" in str(caught.value.__cause__)
    assert list(pool.map(third, [3])) == [3]


def test_sampler_errors_from_a_worker_keep_finished_blocks(pool) -> None:
    def broken(rng, draws):
        values = rng.standard_normal(draws)
        if rng.bit_generator.state["state"]["state"][0] % 4 == 0:
            values[0] = np.nan
        return values

    outcomes = []
    for executor in (SerialExecutor(), pool):
        with pytest.raises(SamplerError, match="not finite") as caught:
            sample(broken, KEY, draws=6400, block_draws=100, executor=executor)
        outcomes.append((str(caught.value), caught.value.partial, caught.value.next_block))
    assert outcomes[0] == outcomes[1]


def test_a_sampler_that_calls_exit_in_a_worker_does_not_end_the_run(pool) -> None:
    def leaving(rng, draws):
        sys.exit(0)

    with pytest.raises(SamplerError, match="raised SystemExit in block 0: 0"):
        sample(leaving, KEY, draws=200, block_draws=100, executor=pool)
    with pytest.raises(WorkerError, match="SystemExit: 7"):
        list(pool.map(lambda item: sys.exit(7), [1]))
    assert list(pool.map(abs, [-1])) == [1]


def test_tracebacks_from_a_worker_show_the_users_file_and_line(pool) -> None:
    def divided(rng, draws):
        def inner():
            return 1 // 0

        return inner()

    with pytest.raises(SamplerError, match="raised ZeroDivisionError") as caught:
        sample(divided, KEY, draws=200, block_draws=100, executor=pool)
    line = divided.__code__.co_firstlineno + 2
    assert f'File "{__file__}", line {line}, in inner\n    return 1 // 0' in str(caught.value)
    assert "dynamic-code" not in str(caught.value)


def test_a_worker_that_dies_is_reported_and_replaced(pool) -> None:
    def die(item):
        os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(WorkerDied, match="SIGKILL usually means that memory ran out"):
        list(pool.map(die, range(3)))
    assert list(pool.map(abs, [-1])) == [1]


def test_what_cannot_travel_is_an_error_that_says_so(pool) -> None:
    lock = threading.Lock()
    with pytest.raises(PayloadError, match=r"cannot be sent to another process.*open files, locks"):
        list(pool.map(lambda item: lock.locked(), [1]))


def test_workers_have_one_blas_thread_ignore_ctrl_c_and_print_to_stderr(pool) -> None:
    def look(item):
        print("a sampler may print")
        return os.environ["OPENBLAS_NUM_THREADS"], signal.getsignal(signal.SIGINT) == signal.SIG_IGN, os.getsid(0) == os.getpid()

    assert list(pool.map(look, [0])) == [("1", True, True)]


def test_workers_import_only_what_they_need() -> None:
    def modules(item):
        import sys

        return sorted(
            {name.partition(".")[0] for name in sys.modules} & {"sympy", "scipy", "flint", "hypothesis", "pytest", "mpmath"}
        )

    with ProcessExecutor(1) as executor:
        assert list(executor.map(modules, [0])) == [[]]


def test_no_process_before_use_or_after_close() -> None:
    executor = ProcessExecutor(2)
    assert executor._pool == []
    with executor:
        pids = set(executor.map(lambda item: os.getpid(), range(4)))
        workers = [worker.process for worker in executor._pool]
        assert pids <= {process.pid for process in workers}
    assert all(process.poll() is not None for process in workers)
    assert list(executor.map(abs, [-2])) == [2]
    executor.close()


def test_nested_use_is_serial(pool) -> None:
    def nested(item):
        from theoryck.montecarlo import make_executor

        return type(make_executor(4)).__name__, list(ProcessExecutor(2).map(abs, [item]))

    assert list(pool.map(nested, [-3])) == [("SerialExecutor", [3])]


def test_several_maps_at_once_each_in_its_order(pool) -> None:
    first, second = pool.map(abs, range(0, -20, -1)), pool.map(str, range(20))
    mixed = [(next(first), next(second)) for _ in range(15)]
    assert mixed == [(item, str(item)) for item in range(15)]
    second.close()
    assert list(first) == list(range(15, 20))


def test_items_of_the_lowest_rank_go_first() -> None:
    with ProcessExecutor(1) as executor:
        list(executor.map(time.sleep, [0.0] * 8))  # how long an item takes is known: a worker is given several
        executor.account = Account(rank=1)
        late = executor.start(lambda item: ("late", time.monotonic()), range(4))
        executor.account = Account(rank=0)
        early = executor.start(lambda item: ("early", time.monotonic()), range(4))
        finished = sorted([*late, *early], key=lambda each: each[1])
    assert [name for name, _ in finished] == ["early"] * 4 + ["late"] * 4


def test_seconds_are_those_of_the_worker_and_go_to_the_account_of_the_map(pool) -> None:
    def busy(item):
        end = time.process_time() + item
        while time.process_time() < end:
            pass

    accounts, walls = [], []
    for seconds in (0.1, 0.3):
        accounts.append(Account())
        pool.account, began = accounts[-1], time.monotonic()
        list(pool.map(busy, [seconds] * 2))
        walls.append(time.monotonic() - began)
    for account, wall, least in zip(accounts, walls, (0.2, 0.6), strict=True):
        assert least <= account.seconds <= 2 * wall  # of two workers


def test_one_that_sleeps_takes_a_quarter_of_its_time_at_least(monkeypatch) -> None:
    wall, used = 100.0, 7.0
    monkeypatch.setattr("theoryck.montecarlo.timing.time", SimpleNamespace(perf_counter=lambda: wall))
    spent = stopwatch(lambda: used)
    wall, used = 100.5, 7.03125
    assert spent() == 0.125
    used = 7.25
    assert spent() == 0.25


def test_an_error_of_one_map_is_none_of_another(pool) -> None:
    def items():
        yield 1
        raise LookupError("no second item")

    broken, fine = pool.map(abs, items()), pool.map(abs, range(6))
    unsent = pool.map(abs, [1, threading.Lock()])
    assert [next(fine), next(broken), next(unsent)] == [0, 1, 1]
    for results, error in ((broken, LookupError), (unsent, TypeError)):
        with pytest.raises(error, match=r"no second item|cannot pickle"):
            next(results)
    assert list(fine) == [1, 2, 3, 4, 5]


def test_a_lost_worker_costs_the_item_it_ran_which_is_run_again(pool, tmp_path) -> None:
    def lost_at_first(item):
        mark = tmp_path / str(item)
        if item % 3 == 1 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return item

    list(pool.map(abs, range(20)))  # short items: a worker holds several when it dies
    beside = pool.map(abs, range(12))
    assert list(pool.map(lost_at_first, range(12))) == list(range(12))
    assert list(beside) == list(range(12))
    assert len(list(tmp_path.iterdir())) == 4


def test_an_item_that_costs_three_workers_is_the_error_of_its_map_only(tmp_path) -> None:
    def die(item):
        if item == 2:
            (tmp_path / str(time.monotonic_ns())).touch()
            os._exit(3)
        return item

    with ProcessExecutor(2) as pool:
        beside, results = pool.map(abs, range(12)), pool.map(die, range(4))
        assert [next(beside), next(results), next(results)] == [0, 0, 1]
        with pytest.raises(WorkerDied, match="exit status 3 in the middle of a block, as others had before"):
            next(results)
        assert len(list(tmp_path.iterdir())) == 3
        assert list(beside) == list(range(1, 12))


def test_an_item_is_blamed_later_where_others_cost_workers_too() -> None:
    with ProcessExecutor(1) as pool:
        job = pool.start(abs, range(9))
        assert [pool.blamed(job, 0) for _ in range(3)] == [False, False, True]
        assert [pool.blamed(job, place) for place in (1, 2, 1, 1)] == [False] * 4
        assert [pool.blamed(job, 1) for _ in range(3)] == [False, False, True]  # 6 = 3 * 2 losses
        assert not any(pool.blamed(job, place) for place in range(3, 9))
        assert [pool.blamed(job, 3) for _ in range(11)] == [False] * 10 + [True]  # 12 at most, however many others


def test_the_block_that_workers_die_of_is_named(pool) -> None:
    def deadly(rng, draws):
        os._exit(3)

    with pytest.raises(WorkerDied, match=r"block 0 of claim 'test' at \{\}, \{'d': 8\}: a worker process"):
        sample(deadly, KEY, draws=200, block_draws=100, executor=pool)


def test_a_map_that_is_under_way_ends_with_its_executor() -> None:
    executor = ProcessExecutor(1)
    results = executor.map(abs, range(9))
    next(results)
    executor.close()
    with pytest.raises(RuntimeError, match="closed while this map was under way"):
        next(results)
    assert list(executor.map(abs, [-1])) == [1]
    executor.close()


@pytest.mark.parametrize("workers", [0, -1, 1.5, True, "2"])
def test_wrong_numbers_of_workers(workers) -> None:
    with pytest.raises(ValueError, match="workers must be an integer >= 1"):
        make_executor(workers)
    with pytest.raises(ValueError, match="workers must be an integer >= 1"):
        ProcessExecutor(workers)


def test_make_executor() -> None:
    assert isinstance(make_executor(1), SerialExecutor)
    assert make_executor(3).workers == 3
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    assert make_executor().workers == available
    assert all(isinstance(executor, Executor) for executor in (make_executor(1), make_executor(2)))


SCRIPT = """
import os, signal, sys, time
# Whoever runs the tests in the background of a shell has SIGINT ignored, and so would this process.
signal.signal(signal.SIGINT, signal.default_int_handler)
from theoryck.montecarlo import Key, ProcessExecutor, sample
def slow(rng, draws):
    time.sleep(0.05)
    return rng.standard_normal(draws)
executor = ProcessExecutor(2)
list(executor.map(abs, range(4)))
print(*(worker.process.pid for worker in executor._pool), flush=True)
try:
    show = lambda done, wanted: print("block", flush=True)
    sample(slow, Key(0, "c"), draws=10**6, block_draws=100, executor=executor, progress=show)
except KeyboardInterrupt as error:
    # On a line of its own: Ctrl-C may have cut the last "block" before its end.
    print("\\nkept", error.partial.count == 100 * error.next_block, error.next_block > 0)
"""


def start_script() -> tuple[subprocess.Popen, list[int]]:
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    pids = [int(pid) for pid in process.stdout.readline().split()]
    assert process.stdout.readline() == "block\n"
    return process, pids


def wait_gone(pids: list[int]) -> None:
    until(lambda: not any(map(alive, pids)))


def test_ctrl_c_keeps_blocks_leaves_no_process_and_prints_nothing() -> None:
    process, pids = start_script()
    os.killpg(process.pid, signal.SIGINT)  # what a terminal does: the signal goes to the whole foreground group
    out, err = process.communicate(timeout=HANG)
    assert out.splitlines()[-1] == "kept True True"
    assert err == ""
    assert process.returncode == 0
    wait_gone(pids)


def test_workers_leave_when_the_parent_is_killed() -> None:
    process, pids = start_script()
    process.kill()
    process.communicate(timeout=HANG)
    wait_gone(pids)
