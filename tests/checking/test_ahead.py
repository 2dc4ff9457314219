"""Several claims in work at once: the same results in the same order, each error at its own place, and nobody waits for nothing."""

import itertools
import json
import time

import numpy as np
import pytest
from hypothesis.strategies import integers

import theoryck as tc
from tests.waiting import until
from theoryck.checking.ahead import Ahead
from theoryck.checking.check import check_claim, checking
from theoryck.checking.profiles import Profile
from theoryck.checking.session import Session
from theoryck.montecarlo import ProcessExecutor, SamplerError, SerialExecutor
from theoryck.montecarlo.jobs import mapped
from theoryck.records import Verdict

SMALL = Profile("quick", instances=3, random_numbers=2e6, seconds=1.0, within=0.15)
PATH = tc.ScalingPath(d=tc.doubling(16, 256))


@pytest.fixture(scope="module")
def pool():
    with ProcessExecutor(2) as executor:
        yield executor


@tc.quantity(cost=1)
def inverse(rng, draws, *, d):
    return (1 + rng.standard_normal(draws)) / d


@tc.quantity(cost=1)
def broken(rng, draws, *, d):
    return np.full(draws, np.nan)


def claim_of(name, quantity=inverse, rate="1/d", status=tc.conjecture):
    @status(f"ahead/{name}")
    @tc.for_all(k=integers(1, 3))
    def claim(k):
        return tc.Bound(quantity, rate=rate, along=PATH)

    return claim


def several():
    many = [claim_of(f"open{index}") for index in range(4)]
    return [*many, claim_of("broken", broken), claim_of("fallen", rate="d**-3", status=tc.falsehood), claim_of("last")]


def told(report):
    data = report.to_json()
    for result in data["results"]:
        del result["seconds"]
    return json.dumps(data)


def test_the_report_is_that_of_one_process(pool):
    alone = tc.check_claims(several(), profile=SMALL, workers=1)
    assert {result.verdict for result in alone.results} >= {Verdict.REFUTED, Verdict.VACUOUS, Verdict.SUPPORTED}
    assert told(tc.check_claims(several(), profile=SMALL, executor=pool)) == told(alone)


def test_a_later_task_works_while_an_earlier_one_waits(pool, tmp_path):
    """The first task ends when a later one, back from its worker, has left a mark; it hangs where that was not in work."""
    session = Session(SMALL, executor=pool, claims=9)
    mark = tmp_path / "mark"

    async def work(number):
        await mapped(pool, (lambda mark: until(mark.exists)) if number == 0 else str, [mark])
        if number == 3:
            mark.touch()
        return number

    with Ahead(session, range(9), work) as ahead:
        assert ahead.take(0) == 0
        assert ahead.finished()[:3] == [1, 2, 3]
        assert [value for _, value in itertools.islice(ahead, 1, 9)] == list(range(1, 9))


def test_only_so_many_tasks_are_in_work(pool):
    session, begun = Session(SMALL, executor=pool, claims=20), []

    async def work(number):
        begun.append(number)
        await mapped(pool, time.sleep, [0.0])
        seen.append((number, len(begun)))

    seen = []
    with Ahead(session, range(20), work) as ahead:
        for _ in ahead:
            pass
    assert begun == list(range(20))
    assert all(count - ended <= 6 for ended, (_, count) in enumerate(seen))


def test_an_error_comes_at_its_own_place(pool):
    session = Session(SMALL, executor=pool, claims=7)
    claims = several()
    with checking(claims, session) as ahead:
        for place in range(4):
            assert {result.verdict for result in ahead.take(place)} == {Verdict.SUPPORTED}
        with pytest.raises(SamplerError, match="not finite"):
            ahead.take(4)
        assert {result.verdict for result in ahead.take(5)} == {Verdict.REFUTED}


def test_tasks_that_nobody_takes_are_left_and_one_may_be_taken_again(pool):
    session = Session(SMALL, executor=pool, claims=7)
    left = []

    async def work(number):
        try:
            await mapped(pool, time.sleep, [0.01] * 4)
        except GeneratorExit:
            left.append(number)
            raise
        return number

    with Ahead(session, range(7), work) as ahead:
        assert ahead.take(0) == 0
        assert ahead.take(5) == 5
        assert ahead.take(5) == 5
        assert ahead.take(2) == 2
    assert set(left) <= {1, 2, 3, 4, 6}
    assert not pool.jobs  # what was left is not waited for


def test_ctrl_c_keeps_what_has_ended(pool):
    """It comes with a look of the second claim; what ended before it, of whatever claim, is in the report, in order."""
    alone = tc.check_claims(several(), profile=SMALL, workers=1)

    def interrupt(event):
        if event["event"] == "look" and event["claim"] == "ahead/open1":
            raise KeyboardInterrupt

    report = tc.check_claims(several(), profile=SMALL, executor=pool, progress=interrupt)
    assert report.interrupted
    known = {(result.claim, json.dumps(result.instance)): result for result in alone.results}
    assert report.results[0].claim == "ahead/open0"
    places = [list(known).index((result.claim, json.dumps(result.instance))) for result in report.results]
    assert places == sorted(places)
    for result in report.results:
        assert result.points == known[result.claim, json.dumps(result.instance)].points
    assert list(pool.map(abs, [-1])) == [1]


def test_progress_tells_of_one_claim_after_the_other(pool):
    events = []
    claims = several()
    tc.check_claims(claims, profile=SMALL, executor=pool, progress=events.append)
    seen = [event["claim"].removesuffix("#confirmation") for event in events]
    order = [claim.id for claim in claims]
    assert [name for name, _ in itertools.groupby(seen)] == order
    assert [event["claim"] for event in events if event["event"] == "claim"] == order


def test_an_executor_of_ones_own_has_one_map_under_way(pool):
    class Own(SerialExecutor):
        workers, active, maps = 4, 0, 0

        def map(self, function, items):
            assert self.active == 0
            self.active, self.maps = 1, self.maps + 1
            try:
                yield from super().map(function, items)
            finally:
                self.active = 0

    executor = Own()
    assert told(tc.check_claims(several(), profile=SMALL, executor=executor)) == told(
        tc.check_claims(several(), profile=SMALL, workers=1)
    )
    assert executor.maps > 20


def test_the_seconds_of_a_result_are_those_that_were_worked_for_it(pool):
    @tc.quantity(cost=1)
    def slow(rng, draws, *, d):
        from types import SimpleNamespace

        from theoryck.montecarlo import timing

        before = timing.time.perf_counter
        timing.time = SimpleNamespace(perf_counter=lambda: before() + 4000.0)  # of which a quarter counts
        return rng.standard_normal(draws)

    @tc.conjecture("ahead/slow")
    def claim():
        return tc.Bound(slow, rate="1/d", along=PATH)

    report = tc.check_claims([claim, claim_of("quick")], profile=SMALL, draws=1000, executor=pool)
    # Five sizes, one block each, and nothing of it on the account of the other claim.
    assert all(result.seconds >= 5 * 1000 for result in report.results if result.claim == "ahead/slow")
    assert all(result.seconds < 1000 for result in report.results if result.claim == "ahead/quick")


def test_one_claim_alone():
    with Session(SMALL, workers=1) as session:
        results = check_claim(claim_of("alone"), session)
    assert [result.verdict for result in results] == [Verdict.SUPPORTED] * 3
