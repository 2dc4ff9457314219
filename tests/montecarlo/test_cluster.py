"""A real Dask cluster of two processes on this machine: bits are those of one process, and what a sampler does is seen."""

import functools
import json
import os
import random
import signal
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import theoryck as tc
from theoryck.checking.profiles import Profile
from theoryck.claims.collecting import collect
from theoryck.montecarlo import DaskExecutor, Key, SamplerError, WorkerDied, sample

distributed = pytest.importorskip("distributed")

KEY = Key(0, "test", {}, {"d": 8})
SMALL = Profile("quick", instances=2, random_numbers=4e6, seconds=1.0, within=0.15)
OFFSET = 3.0


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def executor(client):
    with DaskExecutor(client) as executor:
        yield executor


def sampler(rng, draws):
    return (rng.standard_normal((draws, 8)) @ np.ones((8, 8)) + OFFSET).sum(axis=1)


def test_the_bits_are_those_of_one_process(executor):
    run = functools.partial(sample, sampler, KEY, draws=2050, block_draws=100)
    assert run(executor=executor) == run()
    assert executor.workers == 2


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

    def disturb(seconds):
        def move():
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                random.random()
                time.sleep(1e-4)

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

    list(executor.map(disturb, [30.0] * 4))
    good = functools.partial(sample, sampler, draws=2050, block_draws=100)
    assert good(key=KEY, executor=executor) == good(key=KEY)
    for bad in (with_numpy, with_random, with_a_seed, with_scipy):
        for block_draws in (100, 4):  # a few draws a block, too, are probed
            with pytest.raises(SamplerError, match="draws from the global random state"):
                sample(bad, KEY, draws=200, block_draws=block_draws, executor=executor)


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
