"""A real Dask cluster of two processes on this machine: bits are those of one process, and what a sampler does is seen."""

import functools
import gc
import json
import math
import os
import random
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
from contextlib import suppress
from types import SimpleNamespace

import numpy as np
import pytest

import theoryck as tc
from tests.waiting import HANG, until
from theoryck.checking.profiles import Profile
from theoryck.claims.collecting import collect
from theoryck.ledger import Ledger, LedgerError
from theoryck.montecarlo import ClusterError, DaskExecutor, Key, SamplerError, WorkerDied, cluster, connect, sample
from theoryck.montecarlo.notices import LOST
from theoryck.montecarlo.payload import encode

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

KEY = Key(0, "test", {}, {"d": 8})
SMALL = Profile("quick", instances=2, random_numbers=4e6, seconds=1.0, within=0.15)
OFFSET = 3.0


PATIENT = {"comm.timeouts.connect": f"{HANG}s", "comm.timeouts.tcp": f"{HANG}s", "scheduler.worker-ttl": None}


@pytest.fixture(scope="module")
def client():
    with (
        dask.config.set({f"distributed.{name}": value for name, value in PATIENT.items()}),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def executor(client):
    with DaskExecutor(client) as executor:
        yield executor


def sampler(rng, draws):
    return (rng.standard_normal((draws, 8)) @ np.ones((8, 8)) + OFFSET).sum(axis=1)


def test_the_bits_are_those_of_one_process(executor, monkeypatch):
    monkeypatch.setattr(cluster, "SPAN", HANG)  # so long may a message take: as short as a block is on any machine
    monkeypatch.setattr(cluster, "LINGER", 0.0)  # a share of that
    run = functools.partial(sample, sampler, KEY, draws=2050, block_draws=100)
    assert run(executor=executor) == run()
    assert executor.workers == 2
    assert next(executor._numbers) < 21  # messages, of which some hold several blocks


def test_what_is_left_is_cancelled_and_several_maps_are_under_way(executor):
    first, second = executor.map(abs, range(100)), executor.map(str, range(5))
    assert [next(first), next(second), next(first)] == [0, "0", 1]
    first.close()
    assert list(second) == ["1", "2", "3", "4"]
    assert not executor._flying


def test_errors_travel_and_concern_no_other_map(executor):
    def divided(rng, draws):
        return rng.random(draws) / 0

    beside = executor.map(abs, range(8))
    with pytest.raises(SamplerError, match="raised ZeroDivisionError in block 0") as caught:
        sample(lambda rng, draws: 1 // 0, KEY, draws=200, block_draws=100, executor=executor)
    assert "in <lambda>" in str(caught.value)
    assert list(beside) == list(range(8))


def test_who_takes_global_randomness_is_found_beside_threads_that_do(executor):
    """Threads of the worker itself move the state of ``random`` all the time; what a sampler does is seen all the same."""

    def disturb():
        def move():
            while not threading.over.wait(1e-4):
                random.random()

        threading.over = threading.Event()
        threading.Thread(target=move, daemon=True).start()

    def with_numpy(rng, draws):
        return rng.random(draws) + np.random.standard_normal(draws)  # noqa: NPY002

    def with_random(rng, draws):
        return [rng.random() + random.random() for _ in range(draws)]

    def with_a_seed(rng, draws):
        np.random.seed(0)  # noqa: NPY002
        return rng.random(draws) + np.random.standard_normal(draws)  # noqa: NPY002

    def with_scipy(rng, draws):
        import scipy.stats

        return rng.random(draws) + scipy.stats.norm.rvs(size=draws)

    executor.client.run(disturb)
    try:
        good = functools.partial(sample, sampler, draws=2050, block_draws=100)
        assert good(key=KEY, executor=executor) == good(key=KEY)
        for bad in (with_numpy, with_random, with_a_seed, with_scipy):
            for block_draws in (100, 4):  # a few draws a block, too, are probed
                with pytest.raises(SamplerError, match="draws from the global random state"):
                    sample(bad, KEY, draws=200, block_draws=block_draws, executor=executor)
    finally:
        executor.client.run(lambda: threading.over.set())


def told(report):
    data = report.to_json()
    for result in data["results"]:
        del result["seconds"]
    return json.dumps(data)


def test_claims_of_proofs_are_checked_as_in_one_process(executor, pytestconfig):
    ids = ["pennington2017/*quartic*", "goldt2021/*", "louart2018/*"]
    claims = collect([pytestconfig.rootpath / "proofs" / name.partition("/")[0] for name in ids], only=ids)[::9][:3]
    assert len(claims) == 3
    alone = tc.check_claims(claims, profile=SMALL, workers=1)
    assert told(tc.check_claims(claims, profile=SMALL, executor=executor)) == told(alone)


def test_a_users_module_that_only_the_client_has(executor, tmp_path, monkeypatch):
    (tmp_path / "of_the_user.py").write_text("SHIFT = 2.0\n\n\ndef shifted(values):\n    return values + SHIFT\n")
    file = tmp_path / "proofs" / "mine.py"
    file.parent.mkdir()
    file.write_text(
        textwrap.dedent(
            '''
            """A claim of a user's."""
            import of_the_user
            import theoryck as tc

            @tc.quantity(cost=1)
            def value(rng, draws, *, d):
                return of_the_user.shifted(0.1 * rng.standard_normal(draws)) / d

            @tc.conjecture("mine/value")
            def claim():
                """Q = O(1/d)"""
                return tc.Bound(value, rate="1/d", along=tc.ScalingPath(d=tc.doubling(16, 256)), rivals=["d**-2"])
            '''
        )
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    claims = collect([file])
    assert "of_the_user" in sys.modules
    try:
        alone = tc.check_claims(claims, profile=SMALL, workers=1)
        assert alone.exit_code == 0
        assert told(tc.check_claims(claims, profile=SMALL, executor=executor)) == told(alone)
    finally:
        del sys.modules["of_the_user"]


def test_a_worker_that_dies_costs_its_block_only(executor, tmp_path):
    def dies_once(rng, draws):
        mark = tmp_path / "died"
        if not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return rng.standard_normal(draws)

    found = sample(dies_once, KEY, draws=2000, block_draws=200, executor=executor)
    assert (tmp_path / "died").exists()
    assert found == sample(lambda rng, draws: rng.standard_normal(draws), KEY, draws=2000, block_draws=200)


def test_a_block_that_workers_die_of_is_named(executor):
    def deadly(rng, draws):
        os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(WorkerDied, match=r"block 0 of claim 'test' at \{\}, \{'d': 8\}: several workers of the cluster died"):
        sample(deadly, KEY, draws=200, block_draws=200, executor=executor)
    assert list(executor.map(abs, [-1])) == [1]


def test_a_client_is_needed():
    with pytest.raises(TypeError, match=r"distributed\.Client"):
        DaskExecutor("tcp://localhost")


class Future:
    """What a client gives for what it was sent; it comes back when it is told to."""

    status = "pending"

    def __init__(self, arguments):
        self.arguments, self.is_cancelled = arguments, False

    def add_done_callback(self, call):
        self.call = call

    def cancel(self):
        self.is_cancelled = True

    def cancelled(self):
        return self.is_cancelled

    def come(self, found):
        self.result = lambda: found
        self.call(self)


class Client:
    """A client of one worker that takes in what it is sent, and runs nothing by itself."""

    status = "running"

    def __init__(self):
        self.sent = []

    def nthreads(self):
        return {"one": 1}

    def subscribe_topic(self, topic, heard):
        self.heard = heard

    def submit(self, function, payload, items, most, *, key, priority):
        future = Future((payload, items, most))
        future.key, future.items = key, items
        self.sent.append(future)
        return future

    def lose(self, *futures):
        keys = [future.key for future in futures]
        self.heard((0.0, {"action": "remove-worker", "worker": "one", "expected": False, "processing-tasks": keys}))


@pytest.fixture
def begun():
    """A client, its executor with short messages in flight one by one, and a job whose items are known to take 10 ms."""
    client = Client()
    executor = DaskExecutor(client, ahead=1)
    executor._fetching = "at once"  # by no other thread
    executor._done = SimpleNamespace(put=lambda done: done and executor._outbox.put((*done[1:], done[2].result())))
    job = executor.start(abs, list(range(60)))
    executor.feed()
    assert client.sent[0].items == [0]  # it might have been a long one
    client.sent[0].come([(True, 0, 0.01)])
    executor.poll()
    return client, executor, job


def test_short_items_share_messages_that_get_shorter_at_the_end(begun):
    client, executor, job = begun
    for number in range(1, 60):
        if len(client.sent) == number:
            break
        client.sent[number].come([(True, item, 0.01) for item in client.sent[number].items])
        executor.poll()
    assert list(job) == list(range(60))
    counts = [len(future.items) for future in client.sent]
    assert sum(counts) == 60
    assert counts[1] == 29  # half of what one worker has to do
    assert counts[1:] == sorted(counts[1:], reverse=True)
    assert counts[-1] <= math.sqrt(2 * cluster.MESSAGE / 0.01) + 1


def test_a_message_ends_when_its_time_is_over_and_the_rest_is_sent_again(begun, monkeypatch):
    client, executor, job = begun
    clock = iter([0.0, 0.01, 0.06])  # at the beginning, and after each of two items
    with monkeypatch.context() as patched:
        patched.setattr(cluster, "time", SimpleNamespace(perf_counter=lambda: next(clock), thread_time=time.thread_time))
        assert [value for _, value, _ in cluster._answer(encode(abs), [0, -1, -2, -3], 0.04)] == [0, 1]
    first = client.sent[1]
    first.come([(True, item, 1.0) for item in first.items[:3]])
    executor.poll()
    assert client.sent[2].items == first.items[3 : 3 + len(client.sent[2].items)]
    assert len(client.sent[2].items) < len(first.items)  # they take longer than was thought
    assert [next(job) for _ in range(4)] == [0, 1, 2, 3]


def test_a_message_of_several_items_that_lost_its_worker_blames_none_and_goes_item_by_item(begun):
    client, executor, job = begun
    lost = client.sent[1]
    client.lose(lost)
    executor.poll()
    assert lost.is_cancelled
    assert not executor._cost
    assert client.sent[2].items == [1]
    for _ in range(2):  # Dask itself sends one item again
        client.lose(client.sent[2])
        executor.poll()
    client.lose(client.sent[2])
    executor.poll()
    assert client.sent[2].is_cancelled
    assert [next(job), client.sent[3].items] == [0, [2]]
    with pytest.raises(WorkerDied):
        next(job)


def test_nothing_is_kept_of_blocks_that_were_merged(client, executor, monkeypatch):
    """Counts, not bytes: futures, tasks and messages that are known after 200 blocks, which go alone, after 2000 and at the end."""
    monkeypatch.setattr(DaskExecutor, "_together", lambda self, job: 1)
    scheduler, seen = client.cluster.scheduler, {}

    def count(done, draws):
        if done in (200 * 4, 2000 * 4):
            values = len(executor._flying) + executor._outbox.qsize() + executor._done.qsize()
            kept = (len(client.futures), len(scheduler.tasks), len(scheduler.task_groups), values)
            seen[done] = (*kept, sum(len(job.arrived) for job in executor.jobs.values()))

    sample(lambda rng, draws: rng.random(draws), KEY, draws=2000 * 4, block_draws=4, executor=executor, progress=count)
    most = 2 * executor.ahead * executor.workers  # what is in flight, and what of it is not forgotten yet
    early, late = seen[200 * 4], seen[2000 * 4]
    assert all(after <= max(before, most) for before, after in zip(early, late, strict=True)), seen
    until(lambda: not (client.futures or scheduler.tasks))


def test_an_executor_that_was_closed_may_be_used_again(client):
    again = DaskExecutor(client)
    again.close()
    for _ in range(2):
        results = again.start(abs, [-1, -2])
        until(lambda job=results: again.poll() or job.ready)
        assert list(results) == [1, 2]
        again.close()
        again.close()


def test_what_cannot_be_sent_back_concerns_its_item_only(executor):
    def locked(item):
        return threading.Lock() if item == 150 else item

    found = executor.map(locked, range(200))
    assert [next(found) for _ in range(150)] == list(range(150))
    with pytest.raises(TypeError, match="pickle"):
        next(found)


def test_versions_that_differ_are_named_and_refused_unless_that_is_accepted(client, monkeypatch):
    address = client.scheduler.address
    with connect(address) as executor:
        assert list(executor.map(abs, [-1])) == [1]
    monkeypatch.setattr(cluster, "versions", lambda: {"theoryck": tc.__version__, "numpy": "0.1"})
    monkeypatch.setattr(
        distributed.Client, "run", lambda self, function: {"tcp://there": {"theoryck": tc.__version__, "numpy": "2.0"}}
    )
    with pytest.raises(ClusterError, match=r"the worker tcp://there has other versions \(numpy 2.0 there, 0.1 here\)"):
        connect(address)
    with connect(address, any_versions=True) as executor:
        assert list(executor.map(abs, [-1])) == [1]
    assert client.status == "running"  # it is another's, and stays


def test_a_cluster_that_is_not_there_is_said(monkeypatch, tmp_path):
    monkeypatch.setattr(cluster, "PATIENCE", 0.5)
    with pytest.raises(ClusterError, match=r"cannot be reached .*: give the address of a scheduler that runs"):
        connect("tcp://127.0.0.1:1")
    with pytest.raises(ClusterError, match=r"there is no file 'nosuch.json': a scheduler writes it .* tcp://host:8786"):
        connect("nosuch.json")
    for text in ("", "[]", '{"type": "Scheduler"}'):
        (tmp_path / "scheduler.json").write_text(text)
        with pytest.raises(ClusterError, match=r"scheduler.json' is none that a Dask scheduler wrote"):
            connect(str(tmp_path / "scheduler.json"))
    ignored = []
    monkeypatch.setattr(sys, "unraisablehook", ignored.append)
    gc.collect()  # clients that could not be made are forgotten, and say nothing
    assert not ignored
    with pytest.raises(ClusterError, match="needs a number of worker processes >= 1, such as local:4, got 'local:0'"):
        connect("local:0")


TOY = """
"A toy whose blocks take a while, and say that they are under way."
import os, pathlib, time
import theoryck as tc

PATH, FOLDER = tc.ScalingPath(d=tc.doubling(16, 256)), pathlib.Path({folder!r})

@tc.quantity(cost=1024)
def value(rng, draws, *, d):
    {block}
    return (1 + 0.1 * rng.standard_normal(draws)) / d

@tc.theorem("toy/supported")
def supported():
    "Q = O(1/d)"
    return tc.Bound(value, rate="1/d", along=PATH, rivals=["d**-2"])

@tc.falsehood("toy/fallen")
def fallen():
    "Q = O(d^-2)"
    return tc.Bound(value, rate="d**-2", along=PATH)
"""


def toy(tmp_path, block):
    """Write a file of claims; ``block`` is what a block does before it draws, with ``FOLDER`` for ``tmp_path``."""
    file = tmp_path / "proofs" / "toy.py"
    file.parent.mkdir()
    file.write_text(TOY.format(folder=str(tmp_path), block=textwrap.indent(textwrap.dedent(block), "    ").strip()))
    return file


@pytest.fixture
def file(tmp_path):
    """Blocks are counted; with a file ``hold`` the twentieth and those after it last until that is gone."""
    block = """
        with (FOLDER / "begun").open("ab") as begun:
            begun.write(b".")
            while begun.tell() > 20 and (FOLDER / "hold").exists():
                time.sleep(0.05)
    """
    return toy(tmp_path, block)


def told_by(*arguments):
    ended = subprocess.run([sys.executable, "-m", *arguments], capture_output=True, text=True, timeout=HANG, check=False)
    return ended.returncode, ended.stdout, ended.stderr


def results(path):
    found = json.loads(path.read_text())["results"]
    for result in found:
        del result["seconds"]
    return found


def check(file, path, *arguments):
    return told_by("theoryck", "check", str(file), "--draws", "8192", "--json", str(path), *arguments)


def test_the_commands_draw_on_a_cluster(client, file, tmp_path):
    """The address of a scheduler and its file, from the shell and from pytest: the report is that of one process."""
    address, described = client.scheduler.address, tmp_path / "scheduler.json"
    described.write_text(json.dumps({"address": address}))
    wheres = (["--workers", "1"], ["--cluster", address], ["--cluster", str(described)])
    for number, where in enumerate(wheres):
        status, _, err = check(file, tmp_path / f"{number}.json", *where)
        assert (status, err) == (0, "")
    under_pytest = ["--theoryck-draws", "8192", "--theoryck-cluster", address, "--theoryck-json", str(tmp_path / "3.json")]
    status, out, _ = told_by("pytest", "-q", str(file), *under_pytest)
    assert status == 0, out
    assert results(tmp_path / "0.json") == results(tmp_path / "1.json") == results(tmp_path / "2.json")
    assert [result["points"] for result in results(tmp_path / "3.json")] == [r["points"] for r in results(tmp_path / "0.json")]
    assert check(file, tmp_path / "4.json", "--cluster", "local:2", "--workers", "2")[0] == 2


def started(*arguments, folder):
    return subprocess.Popen(
        [sys.executable, "-m", *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def wait_for(path, *processes):
    until(lambda: path.exists() or any(process.poll() is not None for process in processes))
    assert path.exists(), "one of the processes has ended"


def kept(path):
    """Whether a ledger that another process fills holds a block."""
    with suppress(LedgerError), Ledger(path, read_only=True) as ledger:
        return bool(ledger.entries())


def test_a_scheduler_that_is_killed_ends_the_run_as_ctrl_c_does(file, tmp_path):
    """What was judged stays, the command that goes on is told, and from the ledger it goes on with the same bits."""
    described, ledger = tmp_path / "scheduler.json", str(tmp_path / "draws.ledger")
    options = ("--scheduler-file", str(described), "--no-dashboard")
    scheduler = started("distributed.cli.dask_scheduler", "--port", "0", *options, folder=tmp_path)
    worker = started("distributed.cli.dask_worker", "--nthreads", "1", *options, folder=tmp_path)
    command = ("theoryck", "check", str(file), "--draws", "8192", "--ledger", ledger, "--cluster", str(described))
    (tmp_path / "hold").touch()
    try:
        wait_for(described, scheduler)
        with distributed.Client(scheduler_file=str(described), timeout=HANG, set_as_default=False) as asking:
            asking.wait_for_workers(1, timeout=HANG)
        run = started(*command, folder=tmp_path)
        wait_for(tmp_path / "begun", scheduler, run)
        until(lambda: run.poll() is not None or kept(ledger))
        scheduler.kill()
        _, err = run.communicate(timeout=HANG)
        assert run.returncode == 130, err
        assert "theoryck: the scheduler of the cluster is gone; what was judged until then stays" in err
        assert "To check them:" in err
    finally:
        for process in (scheduler, worker):
            process.kill()
            process.communicate()
    (tmp_path / "hold").unlink()
    status, _, err = check(file, tmp_path / "resumed.json", "--workers", "4", "--ledger", ledger)
    assert status == 0, err
    assert " 0 draws reused" not in err
    assert check(file, tmp_path / "undisturbed.json", "--workers", "4")[0] == 0
    assert results(tmp_path / "resumed.json") == results(tmp_path / "undisturbed.json")


CHAOS = """
import json, os, pathlib, signal, sys, threading
import theoryck as tc
from tests.waiting import HANG, until
from theoryck.checking.profiles import Profile
from theoryck.claims.collecting import collect
from theoryck.montecarlo import cluster

cluster.PATIENCE = 900.0

def told(report):
    data = report.to_json()
    for result in data["results"]:
        del result["seconds"]
    return data

def kill(client, folder, killed, over):
    "Kill processes in the middle of the blocks that wait for it; one that is not yet known to have started is left alone."
    while not over.wait(0.02):
        started = {nanny.pid for nanny in list(client.cluster.workers.values()) if nanny.status.name == "running"}
        for one in [file for file in folder.iterdir() if int(file.name) in started]:
            os.kill(int(one.name), signal.SIGKILL)
            killed.append(one.name)
            one.unlink()

def main(file, out, folder):
    claims, options = collect([file]), {"profile": Profile("quick", 2, 1e12, 1e9, 0.15), "draws": 2**16}
    alone = told(tc.check_claims(claims, workers=2, **options))
    pathlib.Path(folder).mkdir()
    with cluster.connect("local:2") as executor:
        killed, over = [], threading.Event()
        killer = threading.Thread(target=kill, args=(executor.client, pathlib.Path(folder), killed, over))
        killer.start()
        disturbed = told(tc.check_claims(claims, executor=executor, **options))
        over.set()
        killer.join()
    pathlib.Path(out).write_text(json.dumps([alone, disturbed, len(killed)]))

if __name__ == "__main__":
    main(*sys.argv[1:])
"""


KILLS = 12


def test_workers_killed_again_and_again_change_no_bit(tmp_path):
    """After every 25th block or so one waits for its worker to be killed; none waits twice, so that none is to blame."""
    script, out, waiting = tmp_path / "chaos.py", tmp_path / "out.json", tmp_path / "waiting"
    (tmp_path / "kills").mkdir()
    block = f"""
        waiting, kills, begun = FOLDER / "waiting", FOLDER / "kills", FOLDER / "begun"
        if draws > 16 and waiting.exists():
            with begun.open("ab") as file:
                file.write(b".")
                file.flush()
                tries = file.tell()
            mark, number = kills / f"of {{hash(str(rng.bit_generator.state))}}", len(list(kills.glob("kill *")))
            if number < {KILLS} and tries >= 25 * (number + 1) and not mark.exists():
                try:
                    (kills / f"kill {{number}}").touch(exist_ok=False)
                except FileExistsError:
                    pass  # the other worker waits for this one
                else:
                    mark.touch()
                    (waiting / str(os.getpid())).touch()
                    while True:
                        time.sleep(60)
    """
    file = toy(tmp_path, block)
    script.write_text(CHAOS)
    ended = subprocess.run(
        [sys.executable, str(script), str(file), str(out), str(waiting)],
        env=os.environ | {"PYTHONHASHSEED": "0", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=HANG,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    alone, disturbed, kills = json.loads(out.read_text())
    assert disturbed == alone
    assert [result["verdict"] for result in alone["results"]] == ["SUPPORTED", "REFUTED"]
    assert KILLS - 2 <= kills <= KILLS  # what waits when all is decided, at most one for each worker, need not be killed
    lines = ended.stderr.splitlines()
    assert lines[0] == f"theoryck: {LOST}"
    assert re.fullmatch(r"theoryck: \d+ workers of the cluster were lost; .*", lines[-1])
    assert len(lines) == 2, ended.stderr
